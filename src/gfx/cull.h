/* Visibility of points and boxes against planes: GFX.CULL.PLANE, FRUSTUM and AABB of one lane.
 *
 * Spec: gfx-semantics.md 15.1 to 15.3; R-GFX-48 to R-GFX-50, R-GFX-63 to R-GFX-65. */
#ifndef FACET_GFX_CULL_H
#define FACET_GFX_CULL_H

#include "gfx/primitive.h"

enum { FACET_GFX_PLANES = 6 };

/* The comparison of a distance d with zero: tt. */
enum facet_gfx_side { FACET_GFX_LE_ZERO, FACET_GFX_LT_ZERO, FACET_GFX_GE_ZERO, FACET_GFX_GT_ZERO };

struct facet_gfx_cull {
    uint8_t side;                        /* enum facet_gfx_side */
    bool keep;                           /* k: the outside survives */
    bool reject;                         /* z: w must be finite and above eps */
    uint32_t eps;                        /* binary32 */
    uint8_t planes;                      /* 1 or 6 */
    uint32_t plane[FACET_GFX_PLANES][4]; /* elements A, B, C, D */
};

/* point: x, y, z, w. */
bool facet_gfx_cull_point(const struct facet_gfx_numbers *n,
                          const struct facet_gfx_cull *cull,
                          const uint32_t point[4],
                          unsigned *flags);

enum facet_gfx_box { FACET_GFX_MIN_MAX, FACET_GFX_CENTRE_HALF, FACET_GFX_MIN_SIZE };

struct facet_gfx_cull_box {
    uint8_t encoding; /* enum facet_gfx_box */
    bool keep;
    bool contain;   /* x: every corner inside every plane */
    bool transform; /* f */
    bool transpose; /* of the matrix */
    uint32_t plane[FACET_GFX_PLANES][4];
    uint32_t matrix[16]; /* elements of MTX4, by rows */
};

bool facet_gfx_cull_box(const struct facet_gfx_numbers *n,
                        const struct facet_gfx_cull_box *cull,
                        const uint32_t box[6],
                        unsigned *flags);

#endif
