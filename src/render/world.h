/* What the machines of render.h share inside. */
#ifndef FACET_RENDER_WORLD_H
#define FACET_RENDER_WORLD_H

#include "render/render.h"

struct facet_render {
    const struct facet_scene *scene;
    struct facet_render_options options;
    struct facet_lamp *lamps; /* lamps.c */
    uint32_t lamp_count;
    void *state; /* the machine's own */
};

/* lamps.c: the surfaces that glow, for paths. A scene that brings lights of its own has them where
 * its surfaces glow: there are no lamps then, or their light would count twice. */
enum facet_status facet_render_find_lamps(struct facet_render *render, struct facet_error *err);

/* picture.c: what the options ask for, as shading sees it. */
void facet_render_picture(const struct facet_render *render, struct facet_picture *out);

/* Draws one bucket into its place in the picture; called from several threads. */
typedef enum facet_status facet_draw_tile_fn(void *context,
                                             uint32_t bucket,
                                             struct facet_image_f *out,
                                             struct facet_render_report *took,
                                             struct facet_error *err);
/* picture.c: all buckets of a new picture, on the pool. */
enum facet_status facet_render_each_bucket(const struct facet_render *render,
                                           facet_draw_tile_fn *draw,
                                           void *context,
                                           facet_pool *pool,
                                           struct facet_progress *progress,
                                           struct facet_image_f *out,
                                           struct facet_render_report *report,
                                           struct facet_error *err);

/* A machine that draws many buckets at a time, on one thread; took[b] is that of bucket b. *done is
 * false where they are to be drawn bucket by bucket after all. */
struct facet_render_many {
    enum facet_status (*draw)(const struct facet_render *render,
                              const uint32_t *buckets,
                              size_t count,
                              struct facet_image_f *out,
                              struct facet_render_report *took,
                              bool *done,
                              struct facet_error *err);
    uint32_t most; /* buckets */
};

/* The ray-traced picture (picture.c) for any machine that can trace rays from several threads:
 * `trace` gets `render`. `many` may be NULL. */
enum facet_status facet_render_rays(const struct facet_render *render,
                                    facet_shade_trace_fn *trace,
                                    const struct facet_render_many *many,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err);

extern const struct facet_render_machine facet_render_gfx12;
extern const struct facet_render_machine facet_render_tile;
extern const struct facet_render_machine facet_render_xphmg_rt, facet_render_xphmg_rt_offload;
extern const struct facet_render_machine facet_render_xphmg_gfx, facet_render_xphmg_gfx_portable;

#endif
