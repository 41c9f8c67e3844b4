/* Pictures of scenes, drawn by a machine.
 *
 * A machine is a row of a table: it prepares its own data from a scene (open), draws one picture
 * (draw) and lets go (close). Everything a machine does not decide - camera, samples, materials,
 * lights, colours - is shared, so that machines can be compared pixel by pixel.
 *
 * Shading is the same few lines for all of them: light = emitted + base colour * (sum over lights
 * of visibility * cosine * irradiance / pi + sky light * unoccluded share of the hemisphere). The
 * of visibility * cosine * irradiance / pi + sky light * unoccluded share of the hemisphere). With
 * bounces, light that comes over other surfaces takes the place of the last term. The
 * result is a pure function of scene and options: the same bits on any number of threads and, since
 * only IEEE basic operations are used (vec.h), on any host. */
#ifndef FACET_RENDER_RENDER_H
#define FACET_RENDER_RENDER_H

#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "gfx12/build/build.h"
#include "gfx12/device/device.h"
#include "gfx12/image/stats.h"
#include "image/image.h"
#include "shade/light.h"
#include "shade/picture.h"
#include "share/share.h"

#include <facet/gfx12.h>

#define FACET_RENDER_MAX_SPP 65536U
#define FACET_RENDER_MAX_AO_RAYS 256U
#define FACET_RENDER_MAX_BOUNCES 16U

struct facet_render_machine;
struct facet_render_pixel;

/* What a device for render needs in its options to shade too (render/device). */
extern const struct facet_gfx12_device_addition facet_render_device_addition;

/* Machine gfx12: where rays are traced instead of the processor, and shading done where the device
 * was opened with that. */
struct facet_render_device {
    facet_gfx12_device *device;
    bool fallback;       /* the processor goes on where the device fails */
    _Atomic bool failed; /* so it was, first by `failure` */
    struct facet_error failure;
};

/* Buckets that one call of facet_render_draw adds to a picture that is there already, for someone
 * who shows it while it grows. A machine with one_unit draws all of it with the first. */
struct facet_render_some {
    uint32_t first, count;
};

struct facet_render_options {
    const struct facet_render_machine *machine;
    struct facet_scene_camera camera;
    uint32_t width, height;
    uint32_t spp;  /* samples per pixel; 1 looks through the middle of each pixel */
    uint32_t seed; /* other numbers give other noise */
    enum facet_shade_view view;
    bool shadows;
    uint32_t ao_rays;  /* per sample; 0: no ambient occlusion */
    float ao_distance; /* how far an occluder counts; 0: a quarter of the scene's diagonal */
    uint32_t bounces;  /* paths of light that hit up to this many more surfaces, diffuse or mirrors,
                          instead of ambient occlusion; 0: none */
    enum facet_bvh_quality quality;
    enum facet_gfx12_profile profile;
    struct facet_render_device *device; /* NULL: none */
    bool plain;                  /* the machine goes the plain way: the same picture, slower */
    struct facet_counts *counts; /* what the machine's programs and draws do is added; NULL: nothing
                                    is counted */
    struct facet_render_pixel *pixel;     /* NULL, or what is asked about one pixel (pixel.h) */
    const struct facet_render_some *some; /* NULL: all. May change between two draws */
    struct facet_share *share; /* which buckets are drawn here; NULL: all. The picture is whole when
                                  the share ends so */
};

/* 1280 x 720, 16 samples, the first machine, the scene's first camera, everything on. */
void facet_render_options_default(struct facet_render_options *options,
                                  const struct facet_scene *scene);

const char *facet_render_ray_kind_name(enum facet_ray_kind kind);

struct facet_render_report {
    struct facet_shade_cost cost[FACET_RAY_KIND_COUNT];
    uint32_t buckets;
    uint64_t instructions; /* retired by a guest program; 0 where there is none */
    uint64_t commands;     /* of a command queue; 0 where there is none */
    uint64_t triangles;    /* drawn by them */
};

struct facet_render; /* a scene made ready for a machine */

/* The scene must outlive *out. `progress` counts the scene's triangles, as stored once unless the
 * machine says otherwise. */
enum facet_status facet_render_open(const struct facet_scene *scene,
                                    const struct facet_render_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_render **out,
                                    struct facet_error *err);
void facet_render_close(struct facet_render *render); /* NULL is allowed */

/* Buckets that facet_render_draw counts in its progress. */
uint32_t facet_render_buckets(const struct facet_render_options *options);
/* How many of them are a unit of shared work: one, or all on a machine that draws whole pictures.
 */
uint32_t facet_render_grain(const struct facet_render_options *options);

/* Fills a new picture; empty on failure. With options.some, the report has what these buckets took,
 * and the picture, of the right size, stays. */
enum facet_status facet_render_draw(const struct facet_render *render,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err);

/* The same out of parts: size and machine of the options count, a scene is not needed. */
enum facet_status facet_render_join(const struct facet_render_options *options,
                                    const struct facet_share_set *set,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err);

/* The acceleration structure; NULL for a machine that has none. */
const struct facet_gfx12_image *facet_render_bvh(const struct facet_render *render);
/* The RT image of an xphmg machine; NULL for another one. */
const uint8_t *facet_render_rt_image(const struct facet_render *render, uint64_t *size);
/* Instances that were left out since their matrix has no inverse. */
uint32_t facet_render_flat_instances(const struct facet_render *render);

/* Light to pixels: `exposure` multiplies it, then, unless `clamp`, what is brighter than 0.6 in a
 * channel bends smoothly towards 1; darker colours stay exact. Alpha becomes 255. */
void facet_render_develop_pixel(const float in[3], float exposure, bool clamp, uint8_t out[4]);
enum facet_status facet_render_develop(const struct facet_image_f *from,
                                       float exposure,
                                       bool clamp,
                                       struct facet_image *out,
                                       struct facet_error *err);

/* ---- machines ---- */

struct facet_render_machine {
    const char *name;
    const char *summary;
    bool places_instances;        /* opening counts the triangles of every instance */
    bool display;                 /* draws display pixels: no exposure, nothing to bend */
    bool one_unit;                /* a picture cannot be drawn in buckets */
    const unsigned char *program; /* ELF file that runs on the hart; NULL: none does */
    size_t program_bytes;
    const struct facet_render_machine *on_hart; /* C code of the host: the same as a program */
    bool rasterizes; /* without rays: no shadows, ambient occlusion, bounces, heat maps */
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
    /* Notes in the scene what this machine does not draw though others do. NULL: nothing. */
    enum facet_status (*note_left_out)(struct facet_scene *scene, struct facet_error *err);
};

extern const struct facet_render_machine *const facet_render_machines[];        /* ends with NULL */
const struct facet_render_machine *facet_render_machine_find(const char *name); /* NULL: none */

#endif
