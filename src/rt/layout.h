/* Where things lie in BVH tiles, TriRanges, queues and their entries (rt-semantics.md 5). */
#ifndef FACET_RT_LAYOUT_H
#define FACET_RT_LAYOUT_H

#include "base/bits.h"
#include "contract/xphmg_layouts.h"
#include "num/container.h"

enum {
    FACET_RT_TILE_ALIGN = FACET_XPHMG_BVH_NODE4_ALIGN,
    FACET_RT_TILE_CHILDREN = FACET_XPHMG_BVH_NODE4_CHILD_COUNT,
    FACET_RT_RANGE_BYTES = FACET_XPHMG_TRI_RANGE_SIZE,
    FACET_RT_QUEUE_BYTES = FACET_XPHMG_QUEUE_SIZE,
    FACET_RT_MISS_BYTES = FACET_XPHMG_MISS_ENTRY_SIZE,
};

enum facet_rt_child {
    FACET_RT_EMPTY = FACET_XPHMG_BVH_NODE4_TYPE0_EMPTY,
    FACET_RT_NODE = FACET_XPHMG_BVH_NODE4_TYPE0_NODE,
    FACET_RT_LEAF = FACET_XPHMG_BVH_NODE4_TYPE0_LEAF
};

/* The element width that decides the size of a tile; several elements of less than a byte count
 * as one byte, which changes no size. */
static inline unsigned facet_rt_element_bytes(const struct facet_container *c)
{
    unsigned bytes = c->bytes >> c->pack;

    return bytes != 0 ? bytes : 1;
}

/* TS: bytes of a BVHNode4 tile. */
static inline uint64_t facet_rt_tile_bytes(const struct facet_container *c)
{
    return FACET_XPHMG_BVH_NODE4_SIZE(facet_rt_element_bytes(c));
}

/* Offset of the index of child 0, 1 or 2, and of child_flags (slot 3). */
static inline uint64_t facet_rt_tile_word(const struct facet_container *c, unsigned slot)
{
    return FACET_XPHMG_BVH_NODE4_CHILD0_IDX_AT(facet_rt_element_bytes(c)) + UINT64_C(4) * slot;
}

/* Type of the child in a slot 0..3; the reserved code reads as empty (R-RT-04). */
static inline enum facet_rt_child facet_rt_child_type(uint32_t flags, unsigned slot)
{
    unsigned code = flags >> (FACET_XPHMG_BVH_NODE4_TYPE0_BITS * slot) & 3;

    return code == FACET_RT_NODE || code == FACET_RT_LEAF ? (enum facet_rt_child)code
                                                          : FACET_RT_EMPTY;
}

/* Index of child 3. */
static inline uint32_t facet_rt_child3_index(uint32_t flags)
{
    return flags >> FACET_XPHMG_BVH_NODE4_CHILD3_IDX_LSB;
}

struct facet_rt_range {
    uint32_t first, count;
    uint64_t base;
};

/* A TriRange in memory. */
static inline struct facet_rt_range facet_rt_range_load(const uint8_t *at)
{
    return (struct facet_rt_range){facet_load_le32(at + FACET_XPHMG_TRI_RANGE_FIRST_AT),
                                   facet_load_le32(at + FACET_XPHMG_TRI_RANGE_COUNT_AT),
                                   facet_load_le64(at + FACET_XPHMG_TRI_RANGE_BASE_AT)};
}

/* Bytes of a ray and of a hit entry; both by the container alone. */
static inline uint64_t facet_rt_ray_entry_bytes(const struct facet_container *c)
{
    return FACET_XPHMG_RAY_ENTRY_SIZE(c->bytes);
}

static inline unsigned facet_rt_hit_entry_bytes(const struct facet_container *c)
{
    return FACET_XPHMG_HIT_ENTRY_SIZE(c->bytes);
}

#endif
