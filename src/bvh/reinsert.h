/* Improving a binary tree after it was built: subtrees are taken out and put where the sum of all
 * surface areas falls most (Meister and Bittner, "Parallel Reinsertion for Bounding Volume
 * Hierarchy Optimization", 2018). */
#ifndef FACET_BVH_REINSERT_H
#define FACET_BVH_REINSERT_H

#include "bvh/bvh2.h"

/* The tree must have one item per leaf. Nodes and items come back in depth-first order, so that the
 * items below every node are a run and children still follow their parents. The result does not
 * depend on the pool. On failure the tree is as before. */
enum facet_status facet_bvh2_improve(struct facet_bvh2 *tree,
                                     struct facet_bvh_item *items,
                                     uint32_t count,
                                     facet_pool *pool,
                                     struct facet_error *err);

#endif
