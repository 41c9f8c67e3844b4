/* Comparing two GFX12 images by structure: matching nodes are those at the same place of the tree,
 * so a node that merely moved differs only in the offsets that name it. */
#ifndef FACET_GFX12_IMAGE_DIFF_H
#define FACET_GFX12_IMAGE_DIFF_H

#include "gfx12/image/walk.h"

struct facet_gfx12_difference {
    uint32_t node_a, node_b; /* node numbers; FACET_GFX12_NO_NODE: not there */
    char field[48];          /* "child 3 max_x", "pair 0 tri1_opaque", "kind" */
    uint64_t a, b;           /* values of the field */
};

/* Called for every difference, in breadth-first order; false stops the comparison. */
typedef bool facet_gfx12_diff_fn(void *context, const struct facet_gfx12_difference *difference);

/* Returns in *count how many differences were reported. */
enum facet_status facet_gfx12_diff(const struct facet_gfx12_view *a,
                                   const struct facet_gfx12_view *b,
                                   facet_gfx12_diff_fn *fn,
                                   void *context,
                                   uint64_t *count,
                                   struct facet_error *err);

#endif
