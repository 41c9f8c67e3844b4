/* Comparing two RT images by structure: matching nodes, TriRanges and triangles are those at the
 * same place of the tree, so what merely moved differs only in the indices that name it. */
#ifndef FACET_RT_IMAGE_DIFF_H
#define FACET_RT_IMAGE_DIFF_H

#include "rt_image/image.h"

struct facet_rtbvh_difference {
    uint64_t offset_a, offset_b; /* bytes in the files: header, node, TriRange or triangle */
    char field[40];              /* "child 3 max.x", "triangle 1 v2.y", "mode" */
    uint64_t a, b;               /* values of the field */
};

typedef void facet_rtbvh_diff_fn(void *context, const struct facet_rtbvh_difference *difference);

/* Breadth first; *count is how many were reported. Below nodes of different type, and when the
 * images have different formats, nothing is compared. */
enum facet_status facet_rtbvh_diff(const struct facet_rtbvh_view *a,
                                   const struct facet_rtbvh_view *b,
                                   facet_rtbvh_diff_fn *fn,
                                   void *context,
                                   uint64_t *count,
                                   struct facet_error *err);

#endif
