/* Where things lie in BVH tiles, TriRanges, queues and their entries (rt-semantics.md 5). */
#ifndef FACET_RT_LAYOUT_H
#define FACET_RT_LAYOUT_H

#include "num/container.h"

enum {
    FACET_RT_TILE_ALIGN = 64,
    FACET_RT_TILE_CHILDREN = 4,
    FACET_RT_META_BYTES = 16,
    FACET_RT_RANGE_BYTES = 16,
    FACET_RT_QUEUE_BYTES = 24,
    FACET_RT_MISS_BYTES = 16,
};

enum facet_rt_child { FACET_RT_EMPTY, FACET_RT_NODE, FACET_RT_LEAF };

/* TS: bytes of a BVHNode4 tile. */
static inline uint64_t facet_rt_tile_bytes(const struct facet_container *c)
{
    uint64_t boxes = facet_container_array_bytes(c, UINT64_C(6) * FACET_RT_TILE_CHILDREN);

    return (boxes + FACET_RT_META_BYTES + FACET_RT_TILE_ALIGN - 1) / FACET_RT_TILE_ALIGN *
           FACET_RT_TILE_ALIGN;
}

/* Offset of the index of child 0, 1 or 2, and of child_flags (slot 3). */
static inline uint64_t facet_rt_tile_word(const struct facet_container *c, unsigned slot)
{
    return facet_rt_tile_bytes(c) - FACET_RT_META_BYTES + UINT64_C(4) * slot;
}

/* Type of the child in a slot 0..3; the reserved code reads as empty (R-RT-04). */
static inline enum facet_rt_child facet_rt_child_type(uint32_t flags, unsigned slot)
{
    unsigned code = flags >> (2 * slot) & 3;

    return code == 1 ? FACET_RT_NODE : code == 2 ? FACET_RT_LEAF : FACET_RT_EMPTY;
}

/* Index of child 3. */
static inline uint32_t facet_rt_child3_index(uint32_t flags)
{
    return flags >> 8;
}

struct facet_rt_range {
    uint32_t first, count;
    uint64_t base;
};

/* Bytes of a ray and of a hit entry; both by the container alone. */
static inline uint64_t facet_rt_ray_entry_bytes(const struct facet_container *c)
{
    return c->bytes <= 2 ? 32 : UINT64_C(16) * c->bytes;
}

static inline unsigned facet_rt_hit_entry_bytes(const struct facet_container *c)
{
    return c->bytes == 8 ? 64 : 32;
}

#endif
