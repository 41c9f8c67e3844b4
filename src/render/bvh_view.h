/* A look at a GFX12 image, without the scene that it was built from: one ray through the middle of
 * each pixel. */
#ifndef FACET_RENDER_BVH_VIEW_H
#define FACET_RENDER_BVH_VIEW_H

#include "base/pool.h"
#include "base/progress.h"
#include "gfx12/device/device.h"
#include "gfx12/image/view.h"
#include "image/image.h"
#include "scene/scene.h"

enum facet_render_aov {
    FACET_AOV_PICTURE,    /* surfaces in grey, lit from the eye; backs of triangles reddish */
    FACET_AOV_NORMAL,     /* of the triangle, towards the eye, from -1..1 to 0..1 */
    FACET_AOV_DEPTH,      /* t; infinite where nothing is hit */
    FACET_AOV_IDS,        /* a colour for each (instance, geometry, primitive) */
    FACET_AOV_NODES,      /* instructions of the ray */
    FACET_AOV_PAIRS,      /* of them those on pairs of triangles */
    FACET_AOV_CANDIDATES, /* procedural primitives that an intersection shader would be asked for */
};

struct facet_render_bvh_look {
    struct facet_scene_camera camera;
    uint32_t width, height;
    enum facet_render_aov aov;
    struct facet_gfx12_query common; /* flags, mask, callbacks, max_steps */
    enum facet_gfx12_profile profile;
    bool plain;
    facet_gfx12_device *device; /* that traces the rays, or NULL */
};

struct facet_render_bvh_seen {
    uint64_t rays, hits, nodes, candidates; /* the last for FACET_AOV_CANDIDATES only */
};

/* A picture that is drawn row by row, for those who show it before it is whole. View and image must
 * stay; `look` is copied. `image` gets a new, black picture. */
typedef struct facet_render_bvh_drawing facet_render_bvh_drawing;
enum facet_status facet_render_bvh_begin(const struct facet_gfx12_view *view,
                                         const struct facet_render_bvh_look *look,
                                         struct facet_image_f *image,
                                         facet_render_bvh_drawing **out,
                                         struct facet_error *err);
/* Rows first .. first + count, each drawn once. */
enum facet_status facet_render_bvh_rows(facet_render_bvh_drawing *drawing,
                                        uint32_t first,
                                        uint32_t count,
                                        facet_pool *pool,
                                        struct facet_progress *progress,
                                        struct facet_render_bvh_seen *seen,
                                        struct facet_error *err);
/* The image stays with the caller. NULL is allowed. */
void facet_render_bvh_end(facet_render_bvh_drawing *drawing);

/* Fills a new picture: colours, or in channel 0 (and the others alike) depths and counts.
 * `progress` counts rows. */
enum facet_status facet_render_bvh_view(const struct facet_gfx12_view *view,
                                        const struct facet_render_bvh_look *look,
                                        facet_pool *pool,
                                        struct facet_progress *progress,
                                        struct facet_image_f *out,
                                        struct facet_render_bvh_seen *seen,
                                        struct facet_error *err);

/* Depths as greys, near ones bright. */
void facet_render_depth_greys(struct facet_image_f *depths);

#endif
