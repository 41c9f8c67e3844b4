/* The vertex code for x86 with FMA: the same operations, fmaf as one instruction. */
#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define VERTEX facet_geo_vertex_fma
#include "raster/vertex.inc"
#endif
