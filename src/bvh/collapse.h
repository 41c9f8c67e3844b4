/* From a binary tree to nodes of up to `width` children (2 to 8).
 *
 * The greedy form is gfx12-semantics.md 12.3. The optimal form chooses, by dynamic programming over
 * the binary tree, which subtrees become nodes, which become leaves and which dissolve into their
 * parent, so that the expected number of visited nodes and tested pairs is smallest (the method of
 * Ylitie, Karras and Laine, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide
 * BVHs", 2017). Neither depends on the pool. */
#ifndef FACET_BVH_COLLAPSE_H
#define FACET_BVH_COLLAPSE_H

#include "bvh/bvh2.h"

struct facet_wide_child {
    uint32_t node;  /* of the binary tree: its box */
    uint32_t first; /* of a leaf: its items, as a run of the item array */
    uint32_t count;
};

struct facet_wide_node {
    struct facet_wide_child child[8]; /* first the inner children, then the leaves */
    uint32_t first_inner;             /* wide node of inner child 0; the others follow it */
    uint32_t parent;                  /* UINT32_MAX for the root */
    uint8_t count, inner;
    uint8_t index_in_parent;
    uint8_t flags[8]; /* cull_flags per child, for the encoder */
};

struct facet_wide {
    struct facet_wide_node *nodes; /* breadth first; node 0 is the root */
    uint32_t count;
    uint32_t *levels; /* the first node of each level, and `count` after the last */
    uint32_t level_count;
};

enum facet_status facet_bvh_collapse_greedy(struct facet_bvh2 *tree,
                                            unsigned width,
                                            facet_pool *pool,
                                            struct facet_wide *out,
                                            struct facet_error *err);

/* What a visit of a leaf costs beside the visit of a node, which costs 1: `leaf`, and `test` for
 * every `units` of the weight of its items, the last ones perhaps fewer. Subtrees of up to
 * max_weight may become leaves. */
struct facet_leaf_cost {
    float leaf, test;
    uint32_t units, max_weight;
    const uint8_t *weights; /* of the items; NULL: each weighs 1 */
};

/* Nodes and items of the tree must be in depth-first order, as the builders leave them. A leaf of
 * several items (`width` at most) may become as many leaves: the slots behind it are then nodes. */
enum facet_status facet_bvh_collapse_optimal(struct facet_bvh2 *tree,
                                             const struct facet_leaf_cost *cost,
                                             unsigned width,
                                             facet_pool *pool,
                                             struct facet_wide *out,
                                             struct facet_error *err);

void facet_bvh_wide_free(struct facet_wide *wide);

#endif
