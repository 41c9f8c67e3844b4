/* See paths.h. A launch for every step of a sample: all pixels of a piece of the picture take in
 * what their rays met and make the next ones, which the tracer's kernels trace where they lie. */
#include "render/device/paths.h"

#include "render/device/flat.h"
#include "render/device/pixel.h"
#include "render/device/shared.h"
#include "render/pixel.h"
#include "render/world.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = FACET_OPENCL_GROUP, SUM = 3 };

/* On the device for each pixel, besides its ray. */
#define PIXEL_BYTES                                                                                \
    (sizeof(struct device_pixel) + SUM * sizeof(double) +                                          \
     FACET_RAY_KIND_COUNT * sizeof(struct device_cost) / GROUP + 1)

struct facet_render_paths {
    const struct facet_render *render;
    facet_gfx12_device *device;
    const facet_gfx12_tracer *host;
    facet_opencl *cl;
    struct facet_picture picture;
    facet_opencl_memory *flat, *ray_count;
    /* For `room` pixels. */
    size_t room;
    facet_opencl_memory *pixels, *sums, *costs;
};

/* Pixels that are drawn together, and how far they are. */
struct piece {
    struct facet_render_paths *paths;
    facet_opencl_memory *buckets;
    uint32_t first, count; /* places in the list of buckets */
    uint32_t sample;
    uint32_t taken; /* kind of the rays that were traced last; DEVICE_NO_RAYS: none */
};

_Static_assert(FACET_RAY_KIND_COUNT == DEVICE_NO_RAYS, "the kinds and none");
_Static_assert(sizeof(struct device_cost) == DEVICE_COSTS * 8, "no padding");
_Static_assert(sizeof(struct device_picture) == 16 + 32 + 12 * 4, "no padding");
_Static_assert(FACET_BUCKET == 32, "as paths.cl has it");

/* ---- opening ---- */

static enum facet_status
bring(struct facet_render_paths *p, const struct facet_render_flat *flat, struct facet_error *err)
{
    enum facet_status status = facet_opencl_memory_new(p->cl, flat->size, &p->flat, err);

    if (status == FACET_OK) {
        status = facet_opencl_write(p->cl, p->flat, 0, flat->bytes, flat->size, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(p->cl, sizeof(uint32_t), &p->ray_count, err);
    }
    return status;
}

enum facet_status facet_render_paths_new(const struct facet_render *render,
                                         facet_gfx12_device *device,
                                         const facet_gfx12_tracer *host,
                                         struct facet_render_paths **out,
                                         struct facet_error *err)
{
    struct facet_render_paths *p;
    struct facet_render_flat flat;
    enum facet_status status;

    *out = NULL;
    if (facet_gfx12_device_without(device) != NULL) {
        return FACET_OK;
    }
    p = calloc(1, sizeof *p);
    if (p == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    *p = (struct facet_render_paths){
        .render = render, .device = device, .host = host, .cl = facet_gfx12_device_opencl(device)};
    facet_render_picture(render, &p->picture);
    status = facet_render_flat_make(&p->picture, &flat, err);
    if (status != FACET_OK || flat.size > facet_gfx12_device_room(device)) {
        if (status == FACET_OK) {
            free(flat.bytes);
        }
        free(p);
        return status;
    }
    status = bring(p, &flat, err);
    free(flat.bytes);
    if (status != FACET_OK) {
        facet_render_paths_free(p);
        return status;
    }
    facet_gfx12_device_ask(device, p->flat, flat.size);
    *out = p;
    return FACET_OK;
}

static void free_pixels(struct facet_render_paths *p)
{
    facet_opencl_memory_free(p->cl, p->pixels);
    facet_opencl_memory_free(p->cl, p->sums);
    facet_opencl_memory_free(p->cl, p->costs);
    p->pixels = p->sums = p->costs = NULL;
    p->room = 0;
}

void facet_render_paths_free(struct facet_render_paths *paths)
{
    if (paths != NULL) {
        facet_gfx12_device_ask(paths->device, NULL, 0);
        free_pixels(paths);
        facet_opencl_memory_free(paths->cl, paths->flat);
        facet_opencl_memory_free(paths->cl, paths->ray_count);
        free(paths);
    }
}

/* A GPU needs many pixels at a time to be busy; whoever waits wants to see progress. */
uint32_t facet_render_paths_together(const struct facet_render_paths *paths)
{
    const bool gpu = facet_opencl_about(paths->cl)->gpu;
    const uint32_t most = gpu ? 2048 : 64, least = gpu ? 256 : 8;
    const uint32_t wish = (gpu ? 1U << 18 : 1U << 10) / paths->picture.spp;

    return wish > most ? most : wish < least ? least : wish;
}

/* Memory for up to *count pixels and their rays; fewer where that is too much. */
static enum facet_status
make_room(struct facet_render_paths *p, size_t *count, struct facet_error *err)
{
    enum facet_status status = facet_gfx12_device_reserve(p->device, PIXEL_BYTES, count, err);

    if (status != FACET_OK || *count <= p->room) {
        return status;
    }
    free_pixels(p);
    status = facet_opencl_memory_new(
        p->cl, DEVICE_PIXELS_APART(*count) * sizeof(struct device_pixel), &p->pixels, err);
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(p->cl, *count * SUM * sizeof(double), &p->sums, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(p->cl,
                                         (*count / GROUP) * FACET_RAY_KIND_COUNT *
                                             sizeof(struct device_cost),
                                         &p->costs,
                                         err);
    }
    p->room = status == FACET_OK ? *count : 0;
    return status;
}

/* ---- steps ---- */

/* Takes in what the last rays met and makes the next; how many. */
static enum facet_status
step(struct piece *s, uint32_t make, uint32_t k, uint32_t *rays, struct facet_error *err)
{
    struct facet_render_paths *p = s->paths;
    const struct facet_opencl_argument arguments[] = {{p->flat, 0},
                                                      {s->buckets, 0},
                                                      {p->pixels, 0},
                                                      {p->sums, 0},
                                                      {facet_gfx12_device_rays(p->device), 0},
                                                      {facet_gfx12_device_results(p->device), 0},
                                                      {p->ray_count, 0},
                                                      {p->costs, 0},
                                                      {NULL, s->taken},
                                                      {NULL, make},
                                                      {NULL, k},
                                                      {NULL, s->sample},
                                                      {NULL, s->first},
                                                      {NULL, s->count}};
    enum facet_status status;

    status = facet_opencl_clear(p->cl, p->ray_count, 0, sizeof *rays, err);
    if (status == FACET_OK) {
        status = facet_opencl_run(p->cl,
                                  "facet_paths",
                                  arguments,
                                  sizeof arguments / sizeof arguments[0],
                                  s->count,
                                  NULL,
                                  err);
    }
    return status == FACET_OK ? facet_opencl_read(p->cl, p->ray_count, 0, rays, sizeof *rays, err)
                              : status;
}

/* A step, and the rays that it makes. */
static enum facet_status
wave(struct piece *s, uint32_t make, uint32_t k, enum facet_ray_kind kind, struct facet_error *err)
{
    const struct facet_shade_ray any = {.direction = {1, 0, 0}}; /* each has its own */
    struct facet_render_paths *p = s->paths;
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query query;
    uint32_t rays;
    enum facet_status status = step(s, make, k, &rays, err);

    s->taken = kind;
    if (status != FACET_OK) {
        return status;
    }
    facet_render_query(p->render, kind, &any, &unit, &query);
    return facet_gfx12_device_trace_there(p->device, p->host, &query, rays, err);
}

static enum facet_status light_waves(struct piece *s, struct facet_error *err)
{
    const struct facet_picture *picture = &s->paths->picture;
    const uint32_t lights = facet_shade_path_lights(picture);
    enum facet_status status = FACET_OK;

    for (uint32_t k = 0; k < lights && status == FACET_OK; k++) {
        status = wave(s, DEVICE_MAKE_LIGHT, k, FACET_RAY_SHADOW, err);
    }
    if (picture->lamp_count != 0 && status == FACET_OK) {
        status = wave(s, DEVICE_MAKE_LAMP, 0, FACET_RAY_SHADOW, err);
    }
    return status;
}

/* The order of shade/shade.c. */
static enum facet_status draw_sample(struct piece *s, struct facet_error *err)
{
    const struct facet_picture *picture = &s->paths->picture;
    enum facet_status status = wave(s, DEVICE_MAKE_PRIMARY, 0, FACET_RAY_PRIMARY, err);

    if (picture->view != FACET_SHADE_PICTURE || status != FACET_OK) {
        return status;
    }
    status = light_waves(s, err);
    for (uint32_t i = 0; i < picture->bounces && status == FACET_OK; i++) {
        status = wave(s, DEVICE_MAKE_BOUNCE, 0, FACET_RAY_BOUNCE, err);
        if (status == FACET_OK) {
            status = light_waves(s, err);
        }
    }
    for (uint32_t k = 0; picture->bounces == 0 && k < picture->ao_rays && status == FACET_OK; k++) {
        status = wave(s, DEVICE_MAKE_AMBIENT, k, FACET_RAY_AMBIENT, err);
    }
    return status;
}

static enum facet_status draw_samples(struct piece *s, struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    uint32_t none;

    s->taken = DEVICE_NO_RAYS;
    for (s->sample = 0; s->sample < s->paths->picture.spp && status == FACET_OK; s->sample++) {
        status = draw_sample(s, err);
    }
    return status == FACET_OK ? step(s, DEVICE_MAKE_NOTHING, 0, &none, err) : status;
}

/* ---- pieces ---- */

/* What comes back of a piece. */
struct landed {
    double (*sums)[SUM];
    struct device_cost (*costs)[FACET_RAY_KIND_COUNT]; /* of each group */
};

static size_t groups_of(const struct piece *s)
{
    return (s->count + GROUP - 1) / GROUP;
}

static enum facet_status land(struct piece *s, struct landed *l, struct facet_error *err)
{
    enum facet_status status = facet_opencl_read(
        s->paths->cl, s->paths->sums, 0, l->sums, s->count * sizeof *l->sums, err);

    return status == FACET_OK ? facet_opencl_read(s->paths->cl,
                                                  s->paths->costs,
                                                  0,
                                                  l->costs,
                                                  groups_of(s) * sizeof *l->costs,
                                                  err)
                              : status;
}

/* Where a pixel of a bucket is, as place_of in paths.cl has it; false: outside the picture. */
static bool place_of(
    const struct facet_picture *picture, uint32_t bucket, uint32_t place, uint32_t *x, uint32_t *y)
{
    const uint32_t columns = (picture->width + FACET_BUCKET - 1) / FACET_BUCKET;
    const uint32_t block = place / GROUP, in = place % GROUP;

    *x = bucket % columns * FACET_BUCKET + block % 4 * 8 + in % 8;
    *y = bucket / columns * FACET_BUCKET + block / 4 * 8 + in / 8;
    return *x < picture->width && *y < picture->height;
}

static void add_costs(const struct device_cost *from, struct facet_shade_cost *to)
{
    to->rays += from->rays;
    to->hits += from->hits;
    to->nodes += from->nodes;
    to->box_nodes += from->box_nodes;
    to->instance_nodes += from->instance_nodes;
    to->primitive_nodes += from->primitive_nodes;
}

static void hand_out(const struct piece *s,
                     const struct landed *l,
                     const uint32_t *buckets,
                     struct facet_image_f *out,
                     struct facet_render_report *took)
{
    const struct facet_picture *picture = &s->paths->picture;

    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t place = s->first + i, bucket = buckets[place / FACET_BUCKET_PIXELS];
        uint32_t x, y;

        if (place_of(picture, bucket, place % FACET_BUCKET_PIXELS, &x, &y)) {
            facet_shade_pixel_store(
                picture, l->sums[i], out->rgb + 3 * ((size_t)y * out->width + x));
        }
        for (unsigned k = 0; i % GROUP == 0 && k < FACET_RAY_KIND_COUNT; k++) {
            add_costs(&l->costs[i / GROUP][k], &took[bucket].cost[k]);
        }
    }
}

static enum facet_status draw_pieces(struct piece *s,
                                     size_t most,
                                     const uint32_t *buckets,
                                     size_t count,
                                     struct facet_image_f *out,
                                     struct facet_render_report *took,
                                     struct facet_error *err)
{
    const size_t pixels = count * FACET_BUCKET_PIXELS;
    struct landed l = {.sums = malloc(most * sizeof *l.sums),
                       .costs = malloc(most / GROUP * sizeof *l.costs)};
    enum facet_status status =
        l.sums != NULL && l.costs != NULL
            ? FACET_OK
            : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu pixels", most);

    for (size_t first = 0; first < pixels && status == FACET_OK; first += most) {
        s->first = (uint32_t)first;
        s->count = (uint32_t)(pixels - first < most ? pixels - first : most);
        status = facet_opencl_clear(
            s->paths->cl, s->paths->costs, 0, groups_of(s) * sizeof *l.costs, err);
        if (status == FACET_OK) {
            status = draw_samples(s, err);
        }
        if (status == FACET_OK) {
            status = land(s, &l, err);
        }
        if (status == FACET_OK) {
            hand_out(s, &l, buckets, out, took);
        }
    }
    free(l.sums);
    free(l.costs);
    return status;
}

enum facet_status facet_render_paths_draw(struct facet_render_paths *paths,
                                          const uint32_t *buckets,
                                          size_t count,
                                          struct facet_image_f *out,
                                          struct facet_render_report *took,
                                          struct facet_error *err)
{
    size_t most = count * FACET_BUCKET_PIXELS;
    struct piece s = {.paths = paths};
    enum facet_status status = make_room(paths, &most, err);

    if (status == FACET_OK) {
        status = facet_opencl_memory_new(paths->cl, count * sizeof *buckets, &s.buckets, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_write(paths->cl, s.buckets, 0, buckets, count * sizeof *buckets, err);
    }
    if (status == FACET_OK) {
        status = draw_pieces(&s, most, buckets, count, out, took, err);
    }
    facet_opencl_memory_free(paths->cl, s.buckets);
    return status;
}
