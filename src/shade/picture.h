/* A picture as shading sees it: what is to be drawn, rays and hits as plain data, and the buckets
 * that a picture is cut into. Nothing in this folder knows a machine, a thread or a file, so that
 * the same code draws on the host and, compiled for the guest, on the xphmg machine's own hart
 * (guest/meson.build). */
#ifndef FACET_SHADE_PICTURE_H
#define FACET_SHADE_PICTURE_H

#include "base/error.h"
#include "shade/camera.h"
#include "shade/light.h"
#include "shade/path.h"
#include "shade/surface.h"

/* What tracing took. */
struct facet_shade_cost {
    uint64_t rays, hits;
    uint64_t nodes; /* tests or intersect instructions: the sum of the three below */
    uint64_t box_nodes, instance_nodes;
    uint64_t primitive_nodes; /* gfx12: each is a test of a pair of triangles */
};

/* Traces a batch on a machine. Primary and bounce rays report the nearest hit and pass the backs of
 * one-sided triangles. Shadow rays stop at any hit and pass the fronts of one-sided triangles,
 * since these turn their back to the light; ambient rays stop at any hit from either side. */
typedef enum facet_status facet_shade_trace_fn(const void *machine,
                                               enum facet_ray_kind kind,
                                               const struct facet_shade_ray *rays,
                                               size_t count,
                                               struct facet_shade_hit *hits,
                                               struct facet_shade_cost *cost,
                                               struct facet_error *err);

struct facet_picture {
    FACET_WIDE_POINTER(const struct facet_scene, scene);
    struct facet_scene_camera camera;
    uint32_t width, height;
    uint32_t spp, seed;
    enum facet_shade_view view;
    bool shadows;
    uint32_t ao_rays;
    float ao_distance; /* above 0 */
    uint32_t bounces;
    /* For paths: surfaces that glow; none when bounces is 0. */
    FACET_WIDE_POINTER(const struct facet_lamp, lamps);
    uint32_t lamp_count;
    float sky_level; /* brightness of the sky beside the scene's lights (light.h) */
};

/* A camera and a picture's size, ready for rays: half extents of the window at depth 1. */
struct facet_shade_lens {
    FACET_WIDE_POINTER(const struct facet_scene_camera, camera);
    double half_width, half_height;
    uint32_t width, height;
};

enum { FACET_BUCKET = 32, FACET_BUCKET_PIXELS = FACET_BUCKET * FACET_BUCKET };

/* A bucket on its way: what is known about each of its pixels. Large; draw one after the other in
 * the same memory. */
struct facet_bucket {
    const struct facet_picture *picture;
    facet_shade_trace_fn *trace;
    const void *machine;
    struct facet_shade_lens lens;
    uint32_t x, y, width, height; /* pixels of the picture */
    struct facet_shade_cost cost[FACET_RAY_KIND_COUNT];
    struct facet_path paths[FACET_BUCKET_PIXELS]; /* of the sample on its way */
    double sum[FACET_BUCKET_PIXELS][3];
    uint32_t lit[FACET_BUCKET_PIXELS]; /* pixels whose last ray hit something that light changes */
    uint32_t lit_count;
    /* The wave: rays, whose they are, what they bring when nothing is in their way. */
    struct facet_shade_ray rays[FACET_BUCKET_PIXELS];
    struct facet_shade_hit hits[FACET_BUCKET_PIXELS];
    struct facet_vec3 brings[FACET_BUCKET_PIXELS];
    uint32_t owner[FACET_BUCKET_PIXELS];
    size_t ray_count;
};

uint32_t facet_shade_bucket_count(uint32_t width, uint32_t height);
/* Draws bucket `number` of the picture (row by row) with rays through `trace`; the result is in
 * *bucket. */
enum facet_status facet_shade_bucket_draw(struct facet_bucket *bucket,
                                          const struct facet_picture *picture,
                                          uint32_t number,
                                          facet_shade_trace_fn *trace,
                                          const void *machine,
                                          struct facet_error *err);
/* A pixel of the picture from the sum of its samples: finite, as files need it. */
void facet_shade_pixel_store(const struct facet_picture *picture,
                             const double sum[3],
                             float rgb[3]);
/* The pixels as floats, to a place whose rows are `stride` pixels long. */
void facet_shade_bucket_store(const struct facet_bucket *bucket, float *rgb, size_t stride);

#endif
