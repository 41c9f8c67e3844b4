/* Shading. Inside a bucket each sample goes through in waves: all primary rays, then all rays
 * towards one light after the other, then ambient rays, or for paths all rays to the next surface
 * and again towards the lights. A wave is one batch for the machine, which may trace it in any way
 * it likes. A bucket writes only its own pixels and every random number is a function of (pixel,
 * sample), so nothing depends on who draws which bucket when. */
#include "shade/picture.h"

#include "scene/sample.h"
#include "shade/light.h"

#include <string.h>

/* A scene with more lights than this has that many of them drawn per sample. */
enum { LIGHTS_PER_SAMPLE = 8 };
#define MOST_OF_A_PATH 1.0F
/* Sample dimensions; pairs are stratified together (scene/sample.h). Each bounce has its own set.
 */
enum {
    DIM_PIXEL = 0,
    DIM_AMBIENT = 2,
    DIM_REACH = 4,
    DIM_LIGHT = 6,
    DIM_LAMP = 22,
    DIM_COUNT = 26
};

uint32_t facet_shade_bucket_count(uint32_t width, uint32_t height)
{
    return ((width + FACET_BUCKET - 1) / FACET_BUCKET) *
           ((height + FACET_BUCKET - 1) / FACET_BUCKET);
}

static float
random_number(const struct facet_bucket *t, uint32_t pixel, uint32_t sample, uint32_t dim)
{
    return facet_sample_of(t->noise[pixel], sample, dim + t->bounce * DIM_COUNT);
}

static void random_pair(
    const struct facet_bucket *t, uint32_t pixel, uint32_t sample, uint32_t dim, float out[2])
{
    facet_sample_pair(t->noise[pixel], sample, dim + t->bounce * DIM_COUNT, out);
}

static void make_noise(struct facet_bucket *t)
{
    uint32_t *noise = t->noise;

    for (uint32_t y = t->y; y < t->y + t->height; y++) {
        for (uint32_t x = t->x; x < t->x + t->width; x++) {
            *noise++ = facet_sample_pixel(t->picture->seed, x, y);
        }
    }
}

static enum facet_status
trace_wave(struct facet_bucket *t, enum facet_ray_kind kind, struct facet_error *err)
{
    return t->trace(t->machine, kind, t->rays, t->ray_count, t->hits, &t->cost[kind], err);
}

/* ---- primary rays ---- */

/* Spread over two pixels with a tent's weight: a soft edge without a weighted sum. */
static double tent(float a)
{
    return a < 0.5F ? (double)(sqrtf(2.0F * a) - 1.0F) : (double)(1.0F - sqrtf(2.0F - 2.0F * a));
}

static void primary_ray(struct facet_bucket *t, uint32_t pixel)
{
    double x = t->x + pixel % t->width + 0.5, y = t->y + pixel / t->width + 0.5;

    if (t->picture->spp > 1) {
        float random[2];

        random_pair(t, pixel, t->sample, DIM_PIXEL, random);
        x += tent(random[0]);
        y += tent(random[1]);
    }
    facet_shade_lens_ray(&t->lens, x, y, &t->rays[pixel]);
    t->owner[pixel] = pixel;
    t->light[pixel] = vec3(0.0F, 0.0F, 0.0F);
    t->share[pixel] = vec3(1.0F, 1.0F, 1.0F);
    t->glows[pixel] = true;
}

/* Light that leaves the place where the pixel's path is now. */
static void add(struct facet_bucket *t, uint32_t pixel, struct facet_vec3 light)
{
    t->light[pixel] = vec3_add(t->light[pixel], vec3_mul(t->share[pixel], light));
}

/* What the ray of the wave has met. */
static void see(struct facet_bucket *t, size_t ray)
{
    const struct facet_shade_hit *hit = &t->hits[ray];
    struct facet_vec3 direction = vec3_load(t->rays[ray].direction);
    uint32_t pixel = t->owner[ray];
    struct facet_surface *surface = &t->surface[pixel];

    if (hit->instance == FACET_SCENE_NONE) {
        add(t, pixel, vec3_scale(facet_shade_sky(direction), t->picture->sky_level));
        return;
    }
    facet_shade_surface_find(t->picture->scene, hit, surface);
    if (surface->unlit) {
        /* As bright as a white surface under the default sun, in the scene's own units. */
        add(t, pixel, vec3_scale(surface->color, t->picture->sky_level));
        return;
    }
    if (t->glows[pixel]) {
        add(t, pixel, surface->emitted);
    }
    t->unoccluded[pixel] = 0;
    t->incoming[pixel] = direction;
    t->lit[t->lit_count++] = pixel;
}

static void see_all(struct facet_bucket *t)
{
    t->lit_count = 0;
    for (size_t i = 0; i < t->ray_count; i++) {
        see(t, i);
    }
}

static enum facet_status primary_wave(struct facet_bucket *t, struct facet_error *err)
{
    t->ray_count = (size_t)t->width * t->height;
    for (uint32_t pixel = 0; pixel < t->ray_count; pixel++) {
        primary_ray(t, pixel);
    }
    return trace_wave(t, FACET_RAY_PRIMARY, err);
}

/* ---- lights ---- */

static void
add_ray(struct facet_bucket *t, uint32_t pixel, struct facet_vec3 direction, float t_max)
{
    struct facet_shade_ray *ray = &t->rays[t->ray_count];

    vec3_store(t->surface[pixel].start, ray->origin);
    vec3_store(direction, ray->direction);
    ray->t_min = 0.0F;
    ray->t_max = t_max;
    t->owner[t->ray_count++] = pixel;
}

/* The light of slot k for a pixel: slot k itself, or one drawn from the k-th share of them all. */
static uint32_t pick_light(const struct facet_bucket *t, uint32_t pixel, uint32_t k, uint32_t count)
{
    double at;

    if (count <= LIGHTS_PER_SAMPLE) {
        return k;
    }
    at = (double)k + (double)random_number(t, pixel, t->sample, DIM_LIGHT + 2 * k);
    at *= (double)count / LIGHTS_PER_SAMPLE;
    return at < (double)count ? (uint32_t)at : count - 1;
}

/* Mirrors need rays that continue; without them they show as if they scattered light. */
static bool is_mirror(const struct facet_bucket *t, const struct facet_surface *surface)
{
    return surface->mirror && t->picture->bounces != 0;
}

/* Places right beside a light are so bright that the few paths which end there would be white dots
 * in the picture. What a bounce brings is therefore limited to that of a white surface in the
 * sun. */
static struct facet_vec3 limited(const struct facet_bucket *t, struct facet_vec3 light)
{
    float most = MOST_OF_A_PATH * t->picture->sky_level;
    float largest = fmaxf(light.x, fmaxf(light.y, light.z));

    return t->bounce != 0 && largest > most ? vec3_scale(light, most / largest) : light;
}

/* What the rays of the wave bring, unless something is in their way. */
static enum facet_status bring_light(struct facet_bucket *t, struct facet_error *err)
{
    bool shadows = t->picture->shadows;
    enum facet_status status = shadows ? trace_wave(t, FACET_RAY_SHADOW, err) : FACET_OK;

    for (size_t i = 0; i < t->ray_count && status == FACET_OK; i++) {
        if (!shadows || t->hits[i].instance == FACET_SCENE_NONE) {
            add(t, t->owner[i], limited(t, t->brings[i]));
        }
    }
    return status;
}

static enum facet_status light_wave(struct facet_bucket *t, uint32_t k, struct facet_error *err)
{
    const struct facet_scene *scene = t->picture->scene;
    uint32_t count = scene->light_count;
    float weight = count > LIGHTS_PER_SAMPLE ? (float)count / LIGHTS_PER_SAMPLE : 1.0F;

    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        struct facet_incoming in;

        if (is_mirror(t, s)) {
            continue;
        }
        if (!facet_shade_light_incoming(&scene->lights[pick_light(t, pixel, k, count)],
                                        s->start,
                                        s->normal,
                                        s->geometric,
                                        &in)) {
            continue;
        }
        t->brings[t->ray_count] = vec3_scale(vec3_mul(s->color, in.radiance), weight);
        add_ray(t, pixel, in.direction, in.t_max);
    }
    return bring_light(t, err);
}

/* One point of one lamp for each pixel. */
static enum facet_status lamp_wave(struct facet_bucket *t, struct facet_error *err)
{
    const struct facet_picture *p = t->picture;

    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        float random[3];
        struct facet_lamp_point from;
        struct facet_surface lamp;
        struct facet_incoming in;

        for (unsigned k = 0; k < 3; k++) {
            random[k] = random_number(t, pixel, t->sample, DIM_LAMP + k);
        }
        if (s->mirror ||
            !facet_shade_lamp_incoming(
                p->lamps, p->lamp_count, random, s->start, s->normal, s->geometric, &from, &in)) {
            continue;
        }
        facet_shade_surface_find(p->scene,
                                 &(struct facet_shade_hit){.u = from.u,
                                                           .v = from.v,
                                                           .instance = from.lamp->instance,
                                                           .triangle = from.lamp->triangle},
                                 &lamp);
        t->brings[t->ray_count] = vec3_mul(vec3_mul(s->color, in.radiance), lamp.emitted);
        add_ray(t, pixel, in.direction, in.t_max);
    }
    return bring_light(t, err);
}

static enum facet_status light_waves(struct facet_bucket *t, struct facet_error *err)
{
    uint32_t lights = t->picture->scene->light_count;
    enum facet_status status = FACET_OK;

    for (uint32_t k = 0; k < lights && k < LIGHTS_PER_SAMPLE && status == FACET_OK; k++) {
        status = light_wave(t, k, err);
    }
    if (status == FACET_OK && t->picture->lamp_count != 0) {
        status = lamp_wave(t, err);
    }
    return status;
}

/* ---- ambient light ---- */

/* Each ray looks less far than the limit by a random share, so that an occluder counts the less the
 * farther it is, without an edge at the limit. */
static enum facet_status ambient_wave(struct facet_bucket *t, uint32_t k, struct facet_error *err)
{
    uint32_t sample = t->sample * t->picture->ao_rays + k;
    enum facet_status status;

    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        struct facet_vec3 direction;
        float random[2];

        random_pair(t, pixel, sample, DIM_AMBIENT, random);
        direction = facet_shade_cosine_direction(s->normal, random[0], random[1]);
        if (!(vec3_dot(direction, s->geometric) > 0.0F)) {
            continue; /* below the triangle: counts as occluded */
        }
        add_ray(t,
                pixel,
                direction,
                t->picture->ao_distance * (1.0F - random_number(t, pixel, sample, DIM_REACH)));
    }
    status = trace_wave(t, FACET_RAY_AMBIENT, err);
    for (size_t i = 0; i < t->ray_count && status == FACET_OK; i++) {
        t->unoccluded[t->owner[i]] += t->hits[i].instance == FACET_SCENE_NONE;
    }
    return status;
}

static void add_sky_light(struct facet_bucket *t)
{
    uint32_t rays = t->picture->ao_rays;

    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        float share = rays != 0 ? (float)t->unoccluded[pixel] / (float)rays : 1.0F;
        struct facet_vec3 sky =
            vec3_scale(facet_shade_sky_light(s->normal), share * t->picture->sky_level);

        add(t, pixel, vec3_mul(s->color, sky));
    }
}

static enum facet_status ambient_waves(struct facet_bucket *t, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t k = 0; k < t->picture->ao_rays && status == FACET_OK; k++) {
        status = ambient_wave(t, k, err);
    }
    add_sky_light(t);
    return status;
}

/* ---- paths ---- */

/* Where a path continues. Choosing directions by the cosine leaves only the colour as a factor. */
static struct facet_vec3 next_direction(const struct facet_bucket *t, uint32_t pixel)
{
    const struct facet_surface *s = &t->surface[pixel];
    float random[2];

    if (s->mirror) {
        return vec3_along(
            t->incoming[pixel], s->normal, -2.0F * vec3_dot(t->incoming[pixel], s->normal));
    }
    random_pair(t, pixel, t->sample, DIM_AMBIENT, random);
    return facet_shade_cosine_direction(s->normal, random[0], random[1]);
}

/* Surfaces that glow show to the eye and in mirrors; their light on others is that of lamp_wave. */
static enum facet_status bounce_wave(struct facet_bucket *t, struct facet_error *err)
{
    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        struct facet_vec3 direction = next_direction(t, pixel);

        if (vec3_dot(direction, s->geometric) > 0.0F) { /* else below the triangle: dark */
            t->share[pixel] = vec3_mul(t->share[pixel], s->color);
            t->glows[pixel] = t->glows[pixel] && s->mirror;
            add_ray(t, pixel, direction, INFINITY);
        }
    }
    return trace_wave(t, FACET_RAY_BOUNCE, err);
}

static enum facet_status follow_paths(struct facet_bucket *t, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (t->bounce = 1; t->bounce <= t->picture->bounces && status == FACET_OK; t->bounce++) {
        status = bounce_wave(t, err);
        if (status == FACET_OK) {
            see_all(t);
            status = light_waves(t, err);
        }
    }
    t->bounce = 0;
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
        t->sum[pixel][0] += (double)t->light[pixel].x;
        t->sum[pixel][1] += (double)t->light[pixel].y;
        t->sum[pixel][2] += (double)t->light[pixel].z;
    }
}

static enum facet_status draw_sample(struct facet_bucket *t, struct facet_error *err)
{
    enum facet_status status = primary_wave(t, err);

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
    t->bounce = 0;
    make_noise(t);
    memset(t->cost, 0, sizeof t->cost);
    memset(t->sum, 0, sizeof t->sum);
    for (t->sample = 0; t->sample < picture->spp && status == FACET_OK; t->sample++) {
        status = draw_sample(t, err);
    }
    return status;
}

/* Files need finite numbers; absurd scenes can produce others. */
static float storable(double value)
{
    return value >= 0.0 ? (float)(value < 1e30 ? value : 1e30) : 0.0F;
}

void facet_shade_bucket_store(const struct facet_bucket *t, float *rgb, size_t stride)
{
    double scale = 1.0 / t->picture->spp;
    bool counts = t->picture->view != FACET_SHADE_PICTURE;

    for (uint32_t pixel = 0; pixel < t->width * t->height; pixel++) {
        float *to = rgb + 3 * (pixel / t->width * stride + pixel % t->width);

        for (unsigned c = 0; c < 3; c++) {
            to[c] = storable(t->sum[pixel][counts ? 0 : c] * scale);
        }
    }
}
