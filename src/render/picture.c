/* The ray-traced picture. Work is cut into tiles; inside a tile each sample goes through in waves:
 * all primary rays, then all rays towards one light after the other, then ambient rays. A wave is
 * one batch for the machine, which may trace it in any way it likes. A tile writes only its own
 * pixels and every random number is a function of (pixel, sample), so nothing depends on who draws
 * which tile when. */
#include "render/light.h"
#include "render/surface.h"
#include "render/world.h"

#include "scene/sample.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 32, TILE_PIXELS = TILE * TILE };
/* A scene with more lights than this has that many of them drawn per sample. */
enum { LIGHTS_PER_SAMPLE = 8 };
/* Sample dimensions; pairs are stratified together (scene/sample.h). */
enum { DIM_PIXEL = 0, DIM_AMBIENT = 2, DIM_REACH = 4, DIM_LIGHT = 6 };

struct job {
    const struct facet_render *render;
    facet_render_trace_fn *trace;
    struct facet_progress *progress;
    struct facet_image_f *image;
    struct facet_render_lens lens;
    float sky_level;
    float ao_distance;
    uint32_t columns;
    /* What tiles report, under the lock; sums of integers, so the order does not matter. */
    pthread_mutex_t lock;
    struct facet_render_cost cost[FACET_RAY_KIND_COUNT];
    enum facet_status status;
    uint32_t failed_tile;
    struct facet_error error;
};

/* A sample on its way: what is known about each pixel of the tile. */
struct tile {
    const struct job *job;
    uint32_t x, y, width, height; /* pixels of the picture */
    uint32_t sample;
    struct facet_render_cost cost[FACET_RAY_KIND_COUNT];
    double sum[TILE_PIXELS][3];
    struct facet_vec3 light[TILE_PIXELS];
    struct facet_surface surface[TILE_PIXELS]; /* of the pixels in `lit` */
    uint32_t unoccluded[TILE_PIXELS];
    uint32_t lit[TILE_PIXELS]; /* pixels whose primary ray hit something that light changes */
    uint32_t lit_count;
    /* The wave: rays, whose they are, what they bring when nothing is in their way. */
    struct facet_render_ray rays[TILE_PIXELS];
    struct facet_render_hit hits[TILE_PIXELS];
    struct facet_vec3 brings[TILE_PIXELS];
    uint32_t owner[TILE_PIXELS];
    size_t ray_count;
};

uint32_t facet_render_tiles(const struct facet_render_options *options)
{
    return ((options->width + TILE - 1) / TILE) * ((options->height + TILE - 1) / TILE);
}

static float random_number(const struct tile *t, uint32_t pixel, uint32_t sample, uint32_t dim)
{
    return facet_sample(t->job->render->options.seed,
                        t->x + pixel % t->width,
                        t->y + pixel / t->width,
                        sample,
                        dim);
}

static enum facet_status
trace_wave(struct tile *t, enum facet_ray_kind kind, struct facet_error *err)
{
    return t->job->trace(t->job->render, kind, t->rays, t->ray_count, t->hits, &t->cost[kind], err);
}

/* ---- primary rays ---- */

/* Spread over two pixels with a tent's weight: a soft edge without a weighted sum. */
static double tent(float a)
{
    return a < 0.5F ? (double)(sqrtf(2.0F * a) - 1.0F) : (double)(1.0F - sqrtf(2.0F - 2.0F * a));
}

static void primary_ray(struct tile *t, uint32_t pixel)
{
    double x = t->x + pixel % t->width + 0.5, y = t->y + pixel / t->width + 0.5;

    if (t->job->render->options.spp > 1) {
        x += tent(random_number(t, pixel, t->sample, DIM_PIXEL));
        y += tent(random_number(t, pixel, t->sample, DIM_PIXEL + 1));
    }
    facet_render_lens_ray(&t->job->lens, x, y, &t->rays[pixel]);
}

static void see(struct tile *t, uint32_t pixel)
{
    const struct facet_render_hit *hit = &t->hits[pixel];
    struct facet_surface *surface = &t->surface[pixel];

    if (hit->instance == FACET_SCENE_NONE) {
        t->light[pixel] =
            vec3_scale(facet_sky(vec3_load(t->rays[pixel].direction)), t->job->sky_level);
        return;
    }
    facet_surface_find(t->job->render->scene, hit, surface);
    if (surface->unlit) {
        /* As bright as a white surface under the default sun, in the scene's own units. */
        t->light[pixel] = vec3_scale(surface->color, t->job->sky_level);
        return;
    }
    t->light[pixel] = surface->emitted;
    t->unoccluded[pixel] = 0;
    t->lit[t->lit_count++] = pixel;
}

static enum facet_status primary_wave(struct tile *t, struct facet_error *err)
{
    enum facet_status status;

    t->ray_count = (size_t)t->width * t->height;
    t->lit_count = 0;
    for (uint32_t pixel = 0; pixel < t->ray_count; pixel++) {
        primary_ray(t, pixel);
    }
    status = trace_wave(t, FACET_RAY_PRIMARY, err);
    return status;
}

/* ---- lights ---- */

static void add_ray(struct tile *t, uint32_t pixel, struct facet_vec3 direction, float t_max)
{
    struct facet_render_ray *ray = &t->rays[t->ray_count];

    vec3_store(t->surface[pixel].start, ray->origin);
    vec3_store(direction, ray->direction);
    ray->t_min = 0.0F;
    ray->t_max = t_max;
    t->owner[t->ray_count++] = pixel;
}

/* The light of slot k for a pixel: slot k itself, or one drawn from the k-th share of them all. */
static uint32_t pick_light(const struct tile *t, uint32_t pixel, uint32_t k, uint32_t count)
{
    double at;

    if (count <= LIGHTS_PER_SAMPLE) {
        return k;
    }
    at = (double)k + (double)random_number(t, pixel, t->sample, DIM_LIGHT + 2 * k);
    at *= (double)count / LIGHTS_PER_SAMPLE;
    return at < (double)count ? (uint32_t)at : count - 1;
}

static enum facet_status light_wave(struct tile *t, uint32_t k, struct facet_error *err)
{
    const struct facet_scene *scene = t->job->render->scene;
    uint32_t count = scene->light_count;
    float weight = count > LIGHTS_PER_SAMPLE ? (float)count / LIGHTS_PER_SAMPLE : 1.0F;
    bool shadows = t->job->render->options.shadows;
    enum facet_status status = FACET_OK;

    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        struct facet_incoming in;

        if (!facet_light_incoming(&scene->lights[pick_light(t, pixel, k, count)],
                                  s->start,
                                  s->normal,
                                  s->geometric,
                                  &in)) {
            continue;
        }
        t->brings[t->ray_count] = vec3_scale(vec3_mul(s->color, in.radiance), weight);
        add_ray(t, pixel, in.direction, in.t_max);
    }
    if (shadows) {
        status = trace_wave(t, FACET_RAY_SHADOW, err);
    }
    for (size_t i = 0; i < t->ray_count && status == FACET_OK; i++) {
        if (!shadows || t->hits[i].instance == FACET_SCENE_NONE) {
            t->light[t->owner[i]] = vec3_add(t->light[t->owner[i]], t->brings[i]);
        }
    }
    return status;
}

/* ---- ambient light ---- */

/* Each ray looks less far than the limit by a random share, so that an occluder counts the less the
 * farther it is, without an edge at the limit. */
static enum facet_status ambient_wave(struct tile *t, uint32_t k, struct facet_error *err)
{
    uint32_t sample = t->sample * t->job->render->options.ao_rays + k;
    enum facet_status status;

    t->ray_count = 0;
    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        struct facet_vec3 direction =
            facet_cosine_direction(s->normal,
                                   random_number(t, pixel, sample, DIM_AMBIENT),
                                   random_number(t, pixel, sample, DIM_AMBIENT + 1));

        if (!(vec3_dot(direction, s->geometric) > 0.0F)) {
            continue; /* below the triangle: counts as occluded */
        }
        add_ray(t,
                pixel,
                direction,
                t->job->ao_distance * (1.0F - random_number(t, pixel, sample, DIM_REACH)));
    }
    status = trace_wave(t, FACET_RAY_AMBIENT, err);
    for (size_t i = 0; i < t->ray_count && status == FACET_OK; i++) {
        t->unoccluded[t->owner[i]] += t->hits[i].instance == FACET_SCENE_NONE;
    }
    return status;
}

static void add_sky_light(struct tile *t)
{
    uint32_t rays = t->job->render->options.ao_rays;

    for (uint32_t i = 0; i < t->lit_count; i++) {
        uint32_t pixel = t->lit[i];
        const struct facet_surface *s = &t->surface[pixel];
        float share = rays != 0 ? (float)t->unoccluded[pixel] / (float)rays : 1.0F;
        struct facet_vec3 sky = vec3_scale(facet_sky_light(s->normal), share * t->job->sky_level);

        t->light[pixel] = vec3_add(t->light[pixel], vec3_mul(s->color, sky));
    }
}

/* ---- a sample, a tile ---- */

static void add_counts(struct tile *t)
{
    bool nodes = t->job->render->options.view == FACET_RENDER_NODES;

    for (size_t pixel = 0; pixel < t->ray_count; pixel++) {
        t->sum[pixel][0] += nodes ? t->hits[pixel].nodes : t->hits[pixel].pairs;
    }
}

static void add_light(struct tile *t)
{
    for (uint32_t pixel = 0; pixel < t->width * t->height; pixel++) {
        t->sum[pixel][0] += (double)t->light[pixel].x;
        t->sum[pixel][1] += (double)t->light[pixel].y;
        t->sum[pixel][2] += (double)t->light[pixel].z;
    }
}

static enum facet_status draw_sample(struct tile *t, struct facet_error *err)
{
    const struct facet_render *render = t->job->render;
    uint32_t lights = render->scene->light_count;
    enum facet_status status = primary_wave(t, err);

    if (status != FACET_OK) {
        return status;
    }
    if (render->options.view != FACET_RENDER_PICTURE) {
        add_counts(t);
        return FACET_OK;
    }
    for (uint32_t pixel = 0; pixel < t->width * t->height; pixel++) {
        see(t, pixel);
    }
    lights = lights < LIGHTS_PER_SAMPLE ? lights : LIGHTS_PER_SAMPLE;
    for (uint32_t k = 0; k < lights && status == FACET_OK; k++) {
        status = light_wave(t, k, err);
    }
    for (uint32_t k = 0; k < render->options.ao_rays && status == FACET_OK; k++) {
        status = ambient_wave(t, k, err);
    }
    if (status == FACET_OK) {
        add_sky_light(t);
        add_light(t);
    }
    return status;
}

/* Files want finite numbers; absurd scenes can bring others. */
static float storable(double value)
{
    return value >= 0.0 ? (float)(value < 1e30 ? value : 1e30) : 0.0F;
}

static void store_tile(const struct tile *t)
{
    struct facet_image_f *image = t->job->image;
    double scale = 1.0 / t->job->render->options.spp;
    bool counts = t->job->render->options.view != FACET_RENDER_PICTURE;

    for (uint32_t pixel = 0; pixel < t->width * t->height; pixel++) {
        uint32_t x = t->x + pixel % t->width, y = t->y + pixel / t->width;
        float *rgb = image->rgb + 3 * ((size_t)y * image->width + x);

        for (unsigned c = 0; c < 3; c++) {
            rgb[c] = storable(t->sum[pixel][counts ? 0 : c] * scale);
        }
    }
}

static void add_cost(struct facet_render_cost *to, const struct facet_render_cost *from)
{
    to->rays += from->rays;
    to->hits += from->hits;
    to->nodes += from->nodes;
    to->box_nodes += from->box_nodes;
    to->instance_nodes += from->instance_nodes;
    to->primitive_nodes += from->primitive_nodes;
}

/* The failure of the first tile is reported, whichever was noticed first. */
static void finish_tile(struct job *job,
                        uint32_t number,
                        const struct tile *t,
                        enum facet_status status,
                        const struct facet_error *err)
{
    (void)pthread_mutex_lock(&job->lock);
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT && t != NULL; k++) {
        add_cost(&job->cost[k], &t->cost[k]);
    }
    if (status != FACET_OK && (job->status == FACET_OK || number < job->failed_tile)) {
        job->status = status;
        job->failed_tile = number;
        job->error = *err;
    }
    (void)pthread_mutex_unlock(&job->lock);
    facet_progress_add(job->progress, 1);
}

static void draw_tile(void *context, size_t begin, size_t end)
{
    struct job *job = context;
    const struct facet_render_options *options = &job->render->options;
    struct tile *t = malloc(sizeof *t);
    struct facet_error err = {0};

    for (size_t number = begin; number < end; number++) {
        enum facet_status status = FACET_OK;

        if (t == NULL) {
            status = facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for a tile");
            finish_tile(job, (uint32_t)number, NULL, status, &err);
            continue;
        }
        memset(t->cost, 0, sizeof t->cost);
        memset(t->sum, 0, sizeof t->sum);
        t->job = job;
        t->x = (uint32_t)number % job->columns * TILE;
        t->y = (uint32_t)number / job->columns * TILE;
        t->width = options->width - t->x < TILE ? options->width - t->x : TILE;
        t->height = options->height - t->y < TILE ? options->height - t->y : TILE;
        for (t->sample = 0; t->sample < options->spp && status == FACET_OK; t->sample++) {
            status = draw_sample(t, &err);
        }
        store_tile(t);
        finish_tile(job, (uint32_t)number, t, status, &err);
    }
    free(t);
}

static float default_ao_distance(const struct facet_bounds *bounds)
{
    float square = 0.0F;

    for (unsigned i = 0; i < 3; i++) {
        float side = (bounds->hi[i] - bounds->lo[i]) * 0.25F;

        square += side * side;
    }
    return sqrtf(square);
}

enum facet_status facet_render_rays(const struct facet_render *render,
                                    facet_render_trace_fn *trace,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err)
{
    const struct facet_render_options *options = &render->options;
    struct job job = {.render = render,
                      .trace = trace,
                      .progress = progress,
                      .image = out,
                      .sky_level = facet_light_level(render->scene) / 3.0F,
                      .ao_distance = options->ao_distance > 0.0F
                                         ? options->ao_distance
                                         : default_ao_distance(&render->scene->bounds),
                      .columns = (options->width + TILE - 1) / TILE};
    enum facet_status status = facet_image_f_create(out, options->width, options->height, err);

    if (status != FACET_OK) {
        return status;
    }
    facet_render_lens_make(&options->camera, options->width, options->height, &job.lens);
    (void)pthread_mutex_init(&job.lock, NULL);
    report->tiles = facet_render_tiles(options);
    facet_pool_for(pool, report->tiles, 1, draw_tile, &job);
    (void)pthread_mutex_destroy(&job.lock);
    memcpy(report->cost, job.cost, sizeof report->cost);
    if (job.status != FACET_OK) {
        facet_image_f_free(out);
        if (err != NULL) {
            *err = job.error;
        }
    }
    return job.status;
}
