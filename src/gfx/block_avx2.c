/* Blocks of samples for x86 with AVX2 and FMA: the same operations, eight at once. */
#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define BLOCK facet_gfx_block_avx2
#include "gfx/block.inc"
#endif
