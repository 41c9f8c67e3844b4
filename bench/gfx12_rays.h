/* Scenes and rays for measuring and checking GFX12 tracing: a generated scene, its image as
 * `facet bvh build --quality high` writes it, camera rays and the first diffuse bounce. */
#ifndef FACET_BENCH_GFX12_RAYS_H
#define FACET_BENCH_GFX12_RAYS_H

#include "gfx12/build/build.h"
#include "gfx12/tracer.h"
#include "render/bvh_input.h"

struct trace_scene {
    struct facet_scene scene;
    struct facet_render_bvh_input input;
    struct facet_gfx12_image image;
};

/* A recipe of scene/make.h, or `objects`: the field of copies of the recipe `instances`, where each
 * has triangles of its own and all together are one mesh. */
enum facet_status
bench_scene_make(const char *name, uint32_t size, struct facet_scene *out, struct facet_error *err);

/* Such a scene, built. Free it also after a failure. */
enum facet_status trace_scene_make(const char *name,
                                   uint32_t size,
                                   enum facet_bvh_quality quality,
                                   struct trace_scene *out,
                                   struct facet_error *err);
void trace_scene_free(struct trace_scene *s);
/* The descriptor that drivers use: closest first, triangles first, wide sort. */
void trace_scene_unit(const struct trace_scene *s, struct facet_gfx12_unit *unit);

/* One ray per pixel of the scene's first camera, row by row. */
void camera_rays(const struct trace_scene *s,
                 uint32_t width,
                 uint32_t height,
                 struct facet_gfx12_batch_ray *out);

/* One cosine-distributed ray from every hit, on the side that the incoming ray came from; returns
 * how many. Deterministic: sample `sample` of ray i is a pure function of both. */
size_t diffuse_rays(const struct trace_scene *s,
                    const struct facet_gfx12_batch_ray *rays,
                    const struct facet_gfx12_hit *hits,
                    size_t count,
                    uint32_t sample,
                    struct facet_gfx12_batch_ray *out);

/* World-space corners of the triangle that was hit. */
void hit_triangle(const struct trace_scene *s,
                  const struct facet_gfx12_hit *hit,
                  double corner[3][3]);

#endif
