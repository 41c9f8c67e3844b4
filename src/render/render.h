/* Pictures of scenes, drawn by a machine.
 *
 * A machine is a row of a table: it prepares its own data from a scene (open), draws one picture
 * (draw) and lets go (close). Everything a machine does not decide - camera, samples, materials,
 * lights, colours - is shared, so that machines can be compared pixel by pixel.
 *
 * Shading is the same few lines for all of them: light = emitted + base colour * (sum over lights
 * of visibility * cosine * irradiance / pi + sky light * unoccluded share of the hemisphere). The
 * result is a pure function of scene and options: the same bits on any number of threads and, since
 * only IEEE basic operations are used (vec.h), on any host. */
#ifndef FACET_RENDER_RENDER_H
#define FACET_RENDER_RENDER_H

#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "bvh/gfx12_build.h"
#include "bvh/gfx12_stats.h"
#include "image/image.h"
#include "scene/scene.h"

#include <facet/gfx12.h>

#define FACET_RENDER_MAX_SPP 65536U
#define FACET_RENDER_MAX_AO_RAYS 256U

enum facet_render_view {
    FACET_RENDER_PICTURE,   /* linear radiance, in the units of the scene's lights */
    FACET_RENDER_NODES,     /* intersect instructions per primary ray, in all three channels */
    FACET_RENDER_TRIANGLES, /* tests of triangle pairs per primary ray, in all three channels */
};

struct facet_render_machine;

struct facet_render_options {
    const struct facet_render_machine *machine;
    struct facet_scene_camera camera;
    uint32_t width, height;
    uint32_t spp;  /* samples per pixel; 1 looks through the middle of each pixel */
    uint32_t seed; /* other numbers give other noise */
    enum facet_render_view view;
    bool shadows;
    uint32_t ao_rays;  /* per sample; 0: no ambient occlusion */
    float ao_distance; /* how far an occluder counts; 0: a quarter of the scene's diagonal */
    enum facet_bvh_quality quality;
    enum facet_gfx12_profile profile;
};

/* 1280 x 720, 16 samples, the first machine, the scene's first camera, everything on. */
void facet_render_options_default(struct facet_render_options *options,
                                  const struct facet_scene *scene);

enum facet_ray_kind {
    FACET_RAY_PRIMARY,
    FACET_RAY_SHADOW,
    FACET_RAY_AMBIENT,
    FACET_RAY_KIND_COUNT,
};
const char *facet_ray_kind_name(enum facet_ray_kind kind);

/* What tracing took. */
struct facet_render_cost {
    uint64_t rays, hits;
    uint64_t nodes; /* intersect instructions: the sum of the three below */
    uint64_t box_nodes, instance_nodes;
    uint64_t primitive_nodes; /* each is a test of a pair of triangles */
};

struct facet_render_report {
    struct facet_render_cost cost[FACET_RAY_KIND_COUNT];
    uint32_t tiles;
};

struct facet_render; /* a scene made ready for a machine */

/* The scene must outlive *out. `progress` counts the scene's triangles, as stored once. */
enum facet_status facet_render_open(const struct facet_scene *scene,
                                    const struct facet_render_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_render **out,
                                    struct facet_error *err);
void facet_render_close(struct facet_render *render); /* NULL is allowed */

/* Tiles that facet_render_draw counts in its progress. */
uint32_t facet_render_tiles(const struct facet_render_options *options);

/* Fills a new picture; empty on failure. */
enum facet_status facet_render_draw(const struct facet_render *render,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err);

/* The acceleration structure; NULL for a machine that has none. */
const struct facet_gfx12_image *facet_render_bvh(const struct facet_render *render);
/* Instances that were left out since their matrix has no inverse. */
uint32_t facet_render_flat_instances(const struct facet_render *render);

/* What brings the picture to the brightness that the default sun gives, whatever units the scene's
 * lights were written in. */
float facet_render_exposure(const struct facet_scene *scene);

/* Light to pixels: `exposure` multiplies it, then, unless `clamp`, what is brighter than 0.6 in a
 * channel bends smoothly towards 1; darker colours stay exact. Alpha becomes 255. */
enum facet_status facet_render_develop(const struct facet_image_f *from,
                                       float exposure,
                                       bool clamp,
                                       struct facet_image *out,
                                       struct facet_error *err);

/* ---- machines ---- */

struct facet_render_machine {
    const char *name;
    const char *summary;
    enum facet_status (*open)(struct facet_render *render,
                              facet_pool *pool,
                              struct facet_progress *progress,
                              struct facet_error *err);
    enum facet_status (*draw)(const struct facet_render *render,
                              facet_pool *pool,
                              struct facet_progress *progress,
                              struct facet_image_f *out,
                              struct facet_render_report *report,
                              struct facet_error *err);
    void (*close)(struct facet_render *render); /* also after a failed open */
};

extern const struct facet_render_machine *const facet_render_machines[];        /* ends with NULL */
const struct facet_render_machine *facet_render_machine_find(const char *name); /* NULL: none */

#endif
