/* Blocks of samples for any host. */
#define TARGET
#define BLOCK facet_gfx_block_portable
#include "gfx/block.inc"
