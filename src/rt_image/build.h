/* Building BVH images of XPHMG_RT from triangles (image.h, rt-semantics.md 5).
 *
 * Corners are rounded to the element format first (nearest), because that is all the hardware will
 * see; the tree is built over the rounded triangles. Boxes are grown by 2^-20 of the extent of
 * scene and ray origins (R-RT-50) and then rounded outwards, so that no box is smaller than what it
 * holds. A pure function of the input; the pool only decides how long it takes. */
#ifndef FACET_RT_IMAGE_BUILD_H
#define FACET_RT_IMAGE_BUILD_H

#include "base/pool.h"
#include "base/progress.h"
#include "bvh/input.h"
#include "rt_image/image.h"

struct facet_rtbvh_options {
    unsigned children;  /* 4 or 8 */
    uint8_t element;    /* enum facet_format, not FP64 */
    bool quantized;     /* integers with the scale and zero point that fit the scene best */
    uint32_t leaf_size; /* most triangles of a leaf, 1..255; 0 = 4 */
    double reach;       /* origins of rays lie in [-reach, reach] on every axis; 0 = in the box of
                           the scene grown by its own size on all sides */
    bool plain;         /* numbers without short ways: the same image, slower */
};

struct facet_rtbvh_report {
    uint32_t triangles;  /* encoded */
    uint32_t degenerate; /* left out: two corners are equal once rounded, so no ray meets them */
};

struct facet_rtbvh_image {
    uint8_t *bytes; /* free with free() */
    uint64_t size;
};

/* `geometry` and `primitive` of a triangle become its origin. */
enum facet_status facet_rtbvh_build(const struct facet_bvh_triangle *triangles,
                                    uint32_t count,
                                    const struct facet_rtbvh_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_rtbvh_image *out,
                                    struct facet_rtbvh_report *report,
                                    struct facet_error *err);

#endif
