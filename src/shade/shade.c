/* Shading. Inside a bucket each sample goes through in waves: all primary rays, then all rays
 * towards one light after the other, then ambient rays, or for paths all rays to the next surface
 * and again towards the lights. A wave is one batch for the machine, which may trace it in any way
 * it likes. A bucket writes only its own pixels and every random number is a function of (pixel,
 * sample), so nothing depends on who draws which bucket when. */
#include "shade/picture.h"

#include "scene/sample.h"

#include <string.h>

uint32_t facet_shade_bucket_count(uint32_t width, uint32_t height)
{
    return ((width + FACET_BUCKET - 1) / FACET_BUCKET) *
           ((height + FACET_BUCKET - 1) / FACET_BUCKET);
}

static void make_noise(struct facet_bucket *t)
{
    struct facet_path *path = t->paths;

    for (uint32_t y = t->y; y < t->y + t->height; y++) {
        for (uint32_t x = t->x; x < t->x + t->width; x++) {
            (path++)->noise = facet_sample_pixel(t->picture->seed, x, y);
        }
    }
}

static enum facet_status
trace_wave(struct facet_bucket *t, enum facet_ray_kind kind, struct facet_error *err)
{
    return t->trace(t->machine, kind, t->rays, t->ray_count, t->hits, &t->cost[kind], err);
}

/* The ray at the end of the wave is of this pixel. */
static void add_ray(struct facet_bucket *t, uint32_t pixel)
{
    t->owner[t->ray_count++] = pixel;
}

/* ---- waves ---- */

static void see_all(struct facet_bucket *t)
{
    t->lit_count = 0;
    for (size_t i = 0; i < t->ray_count; i++) {
        uint32_t pixel = t->owner[i];

        if (facet_shade_path_see(&t->paths[pixel], t->picture, &t->hits[i])) {
            t->lit[t->lit_count++] = pixel;
        }
    }
}

static enum facet_status
primary_wave(struct facet_bucket *t, uint32_t sample, struct facet_error *err)
{
    t->ray_count = 0;
    for (uint32_t pixel = 0; pixel < t->width * t->height; pixel++) {
        facet_shade_path_begin(&t->paths[pixel],
                               t->picture,
                               &t->lens,
                               t->x + pixel % t->width,
                               t->y + pixel / t->width,
                               sample,
                               &t->rays[pixel]);
        add_ray(t, pixel);
    }
    return trace_wave(t, FACET_RAY_PRIMARY, err);
}

/* What the rays of the wave bring, unless something is in their way. */
static enum facet_status bring_light(struct facet_bucket *t, struct facet_error *err)
{
    bool shadows = t->picture->shadows;
    enum facet_status status = shadows ? trace_wave(t, FACET_RAY_SHADOW, err) : FACET_OK;

    for (size_t i = 0; i < t->ray_count && status == FACET_OK; i++) {
        if (!shadows || t->hits[i].instance == FACET_SCENE_NONE) {
            facet_shade_path_bring(&t->paths[t->owner[i]], t->picture, t->brings[i]);
        }
    }
    return status;
}

static enum facet_status light_wave(struct facet_bucket *t, uint32_t k, struct facet_error *err)
{
    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        const size_t ray = t->ray_count;

        if (facet_shade_path_light_ray(
                &t->paths[t->lit[i]], t->picture, k, &t->rays[ray], &t->brings[ray])) {
            add_ray(t, t->lit[i]);
        }
    }
    return bring_light(t, err);
}

static enum facet_status lamp_wave(struct facet_bucket *t, struct facet_error *err)
{
    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        const size_t ray = t->ray_count;

        if (facet_shade_path_lamp_ray(
                &t->paths[t->lit[i]], t->picture, &t->rays[ray], &t->brings[ray])) {
            add_ray(t, t->lit[i]);
        }
    }
    return bring_light(t, err);
}

static enum facet_status light_waves(struct facet_bucket *t, struct facet_error *err)
{
    const uint32_t lights = facet_shade_path_lights(t->picture);
    enum facet_status status = FACET_OK;

    for (uint32_t k = 0; k < lights && status == FACET_OK; k++) {
        status = light_wave(t, k, err);
    }
    if (status == FACET_OK && t->picture->lamp_count != 0) {
        status = lamp_wave(t, err);
    }
    return status;
}

static enum facet_status ambient_wave(struct facet_bucket *t, uint32_t k, struct facet_error *err)
{
    enum facet_status status;

    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        if (facet_shade_path_ambient_ray(
                &t->paths[t->lit[i]], t->picture, k, &t->rays[t->ray_count])) {
            add_ray(t, t->lit[i]);
        }
    }
    status = trace_wave(t, FACET_RAY_AMBIENT, err);
    for (size_t i = 0; i < t->ray_count && status == FACET_OK; i++) {
        t->paths[t->owner[i]].unoccluded += t->hits[i].instance == FACET_SCENE_NONE;
    }
    return status;
}

static enum facet_status ambient_waves(struct facet_bucket *t, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t k = 0; k < t->picture->ao_rays && status == FACET_OK; k++) {
        status = ambient_wave(t, k, err);
    }
    for (uint32_t i = 0; i < t->lit_count; i++) {
        facet_shade_path_add_sky_light(&t->paths[t->lit[i]], t->picture);
    }
    return status;
}

static enum facet_status bounce_wave(struct facet_bucket *t, struct facet_error *err)
{
    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        if (facet_shade_path_bounce_ray(&t->paths[t->lit[i]], &t->rays[t->ray_count])) {
            add_ray(t, t->lit[i]);
        }
    }
    return trace_wave(t, FACET_RAY_BOUNCE, err);
}

static enum facet_status follow_paths(struct facet_bucket *t, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < t->picture->bounces && status == FACET_OK; i++) {
        status = bounce_wave(t, err);
        if (status == FACET_OK) {
            see_all(t);
            status = light_waves(t, err);
        }
    }
    return status;
}

/* ---- a sample, a bucket ---- */

static void add_counts(struct facet_bucket *t)
{
    bool nodes = t->picture->view == FACET_SHADE_NODES;

    for (size_t pixel = 0; pixel < t->ray_count; pixel++) {
        t->sum[pixel][0] += nodes ? t->hits[pixel].nodes : t->hits[pixel].pairs;
    }
}

static void add_light(struct facet_bucket *t)
{
    for (uint32_t pixel = 0; pixel < t->width * t->height; pixel++) {
        t->sum[pixel][0] += (double)t->paths[pixel].light.x;
        t->sum[pixel][1] += (double)t->paths[pixel].light.y;
        t->sum[pixel][2] += (double)t->paths[pixel].light.z;
    }
}

static enum facet_status
draw_sample(struct facet_bucket *t, uint32_t sample, struct facet_error *err)
{
    enum facet_status status = primary_wave(t, sample, err);

    if (status != FACET_OK) {
        return status;
    }
    if (t->picture->view != FACET_SHADE_PICTURE) {
        add_counts(t);
        return FACET_OK;
    }
    see_all(t);
    status = light_waves(t, err);
    if (status == FACET_OK) {
        status = t->picture->bounces != 0 ? follow_paths(t, err) : ambient_waves(t, err);
    }
    add_light(t);
    return status;
}

enum facet_status facet_shade_bucket_draw(struct facet_bucket *t,
                                          const struct facet_picture *picture,
                                          uint32_t number,
                                          facet_shade_trace_fn *trace,
                                          const void *machine,
                                          struct facet_error *err)
{
    uint32_t columns = (picture->width + FACET_BUCKET - 1) / FACET_BUCKET;
    enum facet_status status = FACET_OK;

    t->picture = picture;
    t->trace = trace;
    t->machine = machine;
    facet_shade_lens_make(&picture->camera, picture->width, picture->height, &t->lens);
    t->x = number % columns * FACET_BUCKET;
    t->y = number / columns * FACET_BUCKET;
    t->width = picture->width - t->x < FACET_BUCKET ? picture->width - t->x : FACET_BUCKET;
    t->height = picture->height - t->y < FACET_BUCKET ? picture->height - t->y : FACET_BUCKET;
    make_noise(t);
    memset(t->cost, 0, sizeof t->cost);
    memset(t->sum, 0, sizeof t->sum);
    for (uint32_t sample = 0; sample < picture->spp && status == FACET_OK; sample++) {
        status = draw_sample(t, sample, err);
    }
    return status;
}

/* Files need finite numbers; absurd scenes can produce others. */
static float storable(double value)
{
    return value >= 0.0 ? (float)(value < 1e30 ? value : 1e30) : 0.0F;
}

void facet_shade_pixel_store(const struct facet_picture *picture, const double sum[3], float rgb[3])
{
    double scale = 1.0 / picture->spp;
    bool counts = picture->view != FACET_SHADE_PICTURE;

    for (unsigned c = 0; c < 3; c++) {
        rgb[c] = storable(sum[counts ? 0 : c] * scale);
    }
}

void facet_shade_bucket_store(const struct facet_bucket *t, float *rgb, size_t stride)
{
    for (uint32_t pixel = 0; pixel < t->width * t->height; pixel++) {
        facet_shade_pixel_store(
            t->picture, t->sum[pixel], rgb + 3 * (pixel / t->width * stride + pixel % t->width));
    }
}
