/* What the machines of render.h share inside: the opened scene and rays as plain data. */
#ifndef FACET_RENDER_WORLD_H
#define FACET_RENDER_WORLD_H

#include "render/render.h"

struct facet_render {
    const struct facet_scene *scene;
    struct facet_render_options options;
    void *state; /* the machine's own */
};

struct facet_render_ray {
    float origin[3], direction[3]; /* direction has any length; t counts in it */
    float t_min, t_max;            /* hits strictly between the two */
};

struct facet_render_hit {
    float t, u, v;         /* u, v: weights of the triangle's second and third corner */
    uint32_t instance;     /* number in the scene; FACET_SCENE_NONE: nothing was hit */
    uint32_t triangle;     /* number in the instance's mesh */
    bool back;             /* the triangle's back side */
    uint32_t nodes, pairs; /* what it cost: intersect instructions, triangle pairs among them */
};

/* Traces a batch. Primary rays report the nearest hit and pass the backs of one-sided triangles.
 * Shadow rays stop at any hit and pass the fronts of one-sided triangles, since these turn their
 * back to the light; ambient rays stop at any hit from either side. Called from several threads. */
typedef enum facet_status facet_render_trace_fn(const struct facet_render *render,
                                                enum facet_ray_kind kind,
                                                const struct facet_render_ray *rays,
                                                size_t count,
                                                struct facet_render_hit *hits,
                                                struct facet_render_cost *cost,
                                                struct facet_error *err);

/* The ray-traced picture (picture.c) for any machine that can trace rays. */
enum facet_status facet_render_rays(const struct facet_render *render,
                                    facet_render_trace_fn *trace,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err);

/* ---- camera.c ---- */

/* A camera and a picture's size, ready for rays: half extents of the window at depth 1. */
struct facet_render_lens {
    const struct facet_scene_camera *camera;
    double half_width, half_height;
    uint32_t width, height;
};

void facet_render_lens_make(const struct facet_scene_camera *camera,
                            uint32_t width,
                            uint32_t height,
                            struct facet_render_lens *out);
/* Through (x, y) of the picture, in pixels from its top left corner. The ray's t is the depth along
 * the camera's axis, so that near and far plane are its ends. */
void facet_render_lens_ray(const struct facet_render_lens *lens,
                           double x,
                           double y,
                           struct facet_render_ray *out);

extern const struct facet_render_machine facet_render_gfx12;

#endif
