/* A binary BVH over boxes, built by binned surface-area splits: the tree of gfx12-semantics.md
 * section 12.2, for triangles, procedural boxes and instances alike.
 *
 * The tree is a pure function of the items: every rounding is fixed, partitions are stable, and
 * node numbers follow from item ranges, so neither the number of threads nor their timing shows. */
#ifndef FACET_BVH_BVH2_H
#define FACET_BVH_BVH2_H

#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"

#include <stdbool.h>
#include <stdint.h>

/* One thing to be sorted into the tree; finite, lo <= hi. 32 bytes, aligned for vector loads. */
struct facet_bvh_item {
    _Alignas(16) float lo[3];
    uint32_t id; /* the caller's */
    float hi[3];
    uint32_t weight; /* for the optimal collapse (collapse.h) */
};

/* Inner node: child[0], child[1] are node numbers. Leaf: child[0] = FACET_BVH2_LEAF | first item,
 * child[1] = number of items (of the reordered item array). A slot that no node uses has
 * child[0] = FACET_BVH2_UNUSED; the slots behind a leaf of several items have their boxes. */
struct facet_bvh2_node {
    _Alignas(16) float lo[3];
    uint32_t child0;
    float hi[3];
    uint32_t child1;
};

#define FACET_BVH2_LEAF UINT32_C(0x80000000)
#define FACET_BVH2_UNUSED UINT32_C(0xFFFFFFFF)
#define FACET_BVH_MAX_ITEMS (UINT32_C(1) << 30)

struct facet_bvh2 {
    struct facet_bvh2_node *nodes; /* node 0 is the root; a child's number exceeds its parent's */
    uint32_t node_slots;           /* length of nodes, unused slots included */
};

static inline bool facet_bvh2_is_leaf(const struct facet_bvh2_node *node)
{
    return (node->child0 & FACET_BVH2_LEAF) != 0;
}

static inline uint32_t facet_bvh2_first(const struct facet_bvh2_node *node)
{
    return node->child0 & ~FACET_BVH2_LEAF;
}

/* Half the surface in binary64, in the order of section 12.2. */
static inline double facet_bvh_box_area(const float lo[3], const float hi[3])
{
    double dx = (double)hi[0] - (double)lo[0];
    double dy = (double)hi[1] - (double)lo[1];
    double dz = (double)hi[2] - (double)lo[2];

    return (dx * dy + dy * dz) + dz * dx;
}

/* Reorders `items` (1 .. FACET_BVH_MAX_ITEMS) so that every leaf is a contiguous run of at most
 * `max_leaf` (1 .. 16) of them. `scratch` has room for as many items and is left undefined, or is
 * NULL. Counts `count` units of `progress`. Free with facet_bvh2_free. */
enum facet_status facet_bvh2_build(struct facet_bvh_item *items,
                                   uint32_t count,
                                   uint32_t max_leaf,
                                   struct facet_bvh_item *scratch,
                                   facet_pool *pool,
                                   struct facet_progress *progress,
                                   struct facet_bvh2 *out,
                                   struct facet_error *err);
void facet_bvh2_free(struct facet_bvh2 *tree);

#endif
