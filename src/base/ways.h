/* The fast ways of the program (docs/architecture.md, "The plain way and the fast way"), so that a
 * test can see which of them ran: none may, where the plain way was asked for. Each fast function
 * says FACET_FAST_WAY(name) when it does its work. Builds with FACET_ASSERTS (require.h) remember
 * it, for the whole process and all of its threads; a release build compiles to nothing. */
#ifndef FACET_BASE_WAYS_H
#define FACET_BASE_WAYS_H

#define FACET_FAST_WAYS(WAY)                                                                       \
    WAY(HART_BLOCKS)                                                                               \
    WAY(HART_HOST_CODE)                                                                            \
    WAY(HART_HOST_FLOAT)                                                                           \
    WAY(HART_MEMO)                                                                                 \
    WAY(MEM_WINDOW)                                                                                \
    WAY(NUM_SHORT)                                                                                 \
    WAY(NUM_STAYS)                                                                                 \
    WAY(NUM_HOST)                                                                                  \
    WAY(RT_HOST)                                                                                   \
    WAY(RT_DECODED)                                                                                \
    WAY(RT_LANES)                                                                                  \
    WAY(GFX_SPAN)                                                                                  \
    WAY(GFX_BLOCK)                                                                                 \
    WAY(GFX_LANES)                                                                                 \
    WAY(GFX12_DECODED)                                                                             \
    WAY(TILE_SIMD)                                                                                 \
    WAY(TILE_AHEAD)                                                                                \
    WAY(TILE_HOST_CODE)                                                                            \
    WAY(RASTER_SPAN)                                                                               \
    WAY(RASTER_VERTEX)                                                                             \
    WAY(RASTER_CLEAR)

enum facet_fast_way {
#define FACET_WAY_NUMBER(name) FACET_WAY_##name,
    FACET_FAST_WAYS(FACET_WAY_NUMBER) FACET_FAST_WAY_COUNT
#undef FACET_WAY_NUMBER
};

#ifdef FACET_ASSERTS
#include <stdatomic.h>
#include <stdbool.h>

/* Set by whoever takes the way; a test clears it. */
extern _Atomic bool facet_fast_way_taken[FACET_FAST_WAY_COUNT];
extern const char *const facet_fast_way_names[FACET_FAST_WAY_COUNT];

#define FACET_FAST_WAY(name)                                                                       \
    atomic_store_explicit(&facet_fast_way_taken[FACET_WAY_##name], true, memory_order_relaxed)
#else
#define FACET_FAST_WAY(name) ((void)FACET_WAY_##name)
#endif

#endif
