/* The handler of every row. */
#include "tile/system.h"

facet_tile_fn *const facet_tile_handlers[FACET_TILE_OP_COUNT] = {
#define ENTRY(name) [FACET_TILE_##name] = facet_tile_x_##name,
    FACET_TILE_ROWS(ENTRY)
#undef ENTRY
};
