/* Building GFX12 images: one memory image that holds a top-level structure at offset 0 and the
 * bottom-level structures after it (R-G12-55).
 *
 * Quality `contract` is gfx12-semantics.md section 12 to the byte. The other two pair neighbouring
 * triangles first, collapse optimally and fill primitive nodes across box nodes (R-G12-61), which
 * nearly halves the image; `high` also improves the binary tree by reinsertion. All are pure
 * functions of the input; the pool only decides how long they take. */
#ifndef FACET_GFX12_BUILD_BUILD_H
#define FACET_GFX12_BUILD_BUILD_H

#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "bvh/input.h"
#include "gfx12/image/walk.h"

struct facet_gfx12_build_options {
    enum facet_bvh_quality quality;
    bool obb;            /* oriented boxes, section 12.7 */
    bool allow_update;   /* primitive nodes with room for any motion (R-G12-94, refit.h) */
    uint32_t prim_range; /* most triangles of a leaf, 1..16; 0 = 2 for `contract`, else 8 */
    uint64_t base;       /* address of the image, a multiple of 64 below 2^48 */
};

/* What was left out or shared; the rest can be counted in the image (stats.h). */
struct facet_gfx12_build_report {
    uint64_t triangles;  /* encoded, over all bottom-level structures */
    uint64_t aabbs;      /* encoded */
    uint64_t inactive;   /* dropped: NaN in x of a corner */
    uint64_t degenerate; /* dropped: two equal vertices; kept where they may move apart */
};

/* The whole image. `progress` counts primitives (twice with `obb`: the oriented boxes are a second
 * pass) and instances. */
enum facet_status facet_gfx12_build(const struct facet_bvh_scene_input *scene,
                                    const struct facet_gfx12_build_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_gfx12_image *out,
                                    struct facet_gfx12_build_report *report,
                                    struct facet_error *err);

/* One bottom-level structure by itself, its root at offset 0: what example 12 shows. */
enum facet_status facet_gfx12_build_blas(const struct facet_bvh_blas_input *input,
                                         const struct facet_gfx12_build_options *options,
                                         facet_pool *pool,
                                         struct facet_progress *progress,
                                         struct facet_gfx12_image *out,
                                         struct facet_gfx12_build_report *report,
                                         struct facet_error *err);

#endif
