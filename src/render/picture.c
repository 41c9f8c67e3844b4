/* A picture on the host: its buckets on the thread pool, each drawn by whatever the machine brings.
 */
#include "base/bits.h"
#include "base/float.h"
#include "render/pixel.h"
#include "render/world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

uint32_t facet_render_buckets(const struct facet_render_options *options)
{
    return facet_shade_bucket_count(options->width, options->height);
}

uint32_t facet_render_grain(const struct facet_render_options *options)
{
    return options->machine->one_unit ? facet_render_buckets(options) : 1;
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

void facet_render_picture(const struct facet_render *render, struct facet_picture *out)
{
    const struct facet_render_options *o = &render->options;

    *out = (struct facet_picture){
        .scene = render->scene,
        .camera = o->camera,
        .width = o->width,
        .height = o->height,
        .spp = o->spp,
        .seed = o->seed,
        .view = o->view,
        .shadows = o->shadows,
        .ao_rays = o->ao_rays,
        .ao_distance =
            o->ao_distance > 0.0F ? o->ao_distance : default_ao_distance(&render->scene->bounds),
        .bounces = o->bounces,
        .lamps = render->lamps,
        .lamp_count = render->lamp_count,
        .sky_level = facet_shade_light_level(render->scene) / 3.0F,
    };
}

/* ---- buckets as units ---- */

enum { NUMBERS = 6 * FACET_RAY_KIND_COUNT + 3 }; /* of a report, besides its buckets */

/* Who draws: buckets, or many of them at a time where `together` is not 0. */
struct drawing {
    facet_draw_tile_fn *draw;
    enum facet_status (*draw_many)(void *context,
                                   const uint32_t *buckets,
                                   size_t count,
                                   facet_pool *pool,
                                   struct facet_image_f *out,
                                   struct facet_render_report *took,
                                   struct facet_error *err);
    uint32_t together;
    void *context;
};

struct job {
    const struct drawing *by;
    struct facet_image_f *image;
    struct facet_render_report *took; /* by each bucket; by the first where one unit has all */
};

/* The pixels of a unit: its bucket, or all of them. */
struct area {
    uint32_t x, y, width, height;
};

static struct area area_of(const struct job *job, uint64_t begin, uint64_t end)
{
    const uint32_t width = job->image->width, height = job->image->height;
    const uint32_t columns = (width + FACET_BUCKET - 1) / FACET_BUCKET;
    struct area a = {0, 0, width, height};

    if (end - begin == 1) { /* a picture of one bucket comes to the same */
        a.x = (uint32_t)begin % columns * FACET_BUCKET;
        a.y = (uint32_t)begin / columns * FACET_BUCKET;
        a.width = width - a.x < FACET_BUCKET ? width - a.x : FACET_BUCKET;
        a.height = height - a.y < FACET_BUCKET ? height - a.y : FACET_BUCKET;
    }
    return a;
}

static enum facet_status
draw_unit(void *context, uint64_t begin, uint64_t end, facet_pool *pool, struct facet_error *err)
{
    const struct job *job = context;

    (void)end;
    (void)pool;
    return job->by->draw(job->by->context, (uint32_t)begin, job->image, &job->took[begin], err);
}

static enum facet_status draw_units(
    void *context, const uint64_t *begins, size_t count, facet_pool *pool, struct facet_error *err)
{
    const struct job *job = context;
    uint32_t *buckets = malloc(count * sizeof *buckets);
    enum facet_status status;

    if (buckets == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu buckets", count);
    }
    for (size_t i = 0; i < count; i++) {
        buckets[i] = (uint32_t)begins[i];
    }
    status = job->by->draw_many(job->by->context, buckets, count, pool, job->image, job->took, err);
    free(buckets);
    return status;
}

/* All numbers of a report in one row, and back. */
static void each_number(struct facet_render_report *report, uint64_t *number[NUMBERS])
{
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        struct facet_shade_cost *c = &report->cost[k];
        uint64_t *const own[6] = {
            &c->rays, &c->hits, &c->nodes, &c->box_nodes, &c->instance_nodes, &c->primitive_nodes};

        memcpy(number + 6 * k, own, sizeof own);
    }
    number[NUMBERS - 3] = &report->instructions;
    number[NUMBERS - 2] = &report->commands;
    number[NUMBERS - 1] = &report->triangles;
}

static void pack_unit(void *context, uint64_t begin, uint64_t end, struct facet_strbuf *out)
{
    const struct job *job = context;
    const struct area a = area_of(job, begin, end);
    uint64_t *number[NUMBERS];
    uint8_t bytes[8];

    each_number(&job->took[begin], number);
    for (unsigned i = 0; i < NUMBERS; i++) {
        facet_store_le64(bytes, *number[i]);
        facet_strbuf_add(out, (const char *)bytes, 8);
    }
    for (uint32_t y = a.y; y < a.y + a.height; y++) {
        const float *row = job->image->rgb + 3 * ((size_t)y * job->image->width + a.x);

        for (uint32_t i = 0; i < 3 * a.width; i++) {
            facet_store_le32(bytes, facet_float_bits(row[i]));
            facet_strbuf_add(out, (const char *)bytes, 4);
        }
    }
}

static enum facet_status unpack_unit(void *context,
                                     uint64_t begin,
                                     uint64_t end,
                                     const uint8_t *bytes,
                                     size_t size,
                                     struct facet_error *err)
{
    const struct job *job = context;
    const struct area a = area_of(job, begin, end);
    uint64_t *number[NUMBERS];

    if (size != 8 * NUMBERS + 12 * (size_t)a.width * a.height) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "bucket %zu has another size", (size_t)begin);
    }
    each_number(&job->took[begin], number);
    for (unsigned i = 0; i < NUMBERS; i++, bytes += 8) {
        *number[i] = facet_load_le64(bytes);
    }
    for (uint32_t y = a.y; y < a.y + a.height; y++) {
        float *row = job->image->rgb + 3 * ((size_t)y * job->image->width + a.x);

        for (uint32_t i = 0; i < 3 * a.width; i++, bytes += 4) {
            row[i] = facet_float_of(facet_load_le32(bytes));
        }
    }
    return FACET_OK;
}

/* The units that begin in the buckets that are asked for. */
static enum facet_status draw_some(const struct facet_render_options *options,
                                   struct job *job,
                                   facet_pool *pool,
                                   struct facet_error *err)
{
    const uint32_t buckets = facet_render_buckets(options), grain = facet_render_grain(options);
    const struct facet_render_some *some = options->some;
    enum facet_status status = FACET_OK;

    for (uint32_t i = some->first; i < buckets && i - some->first < some->count; i++) {
        if (i % grain == 0 && status == FACET_OK) {
            status = draw_unit(job, i, i + grain, pool, err);
        }
    }
    return status;
}

/* A new picture, and its units in any of the ways that there are: drawn `by` someone, or out of
 * parts. */
static enum facet_status fill(const struct facet_render_options *options,
                              const struct drawing *by,
                              facet_pool *pool,
                              struct facet_progress *progress,
                              const struct facet_share_set *set,
                              struct facet_image_f *out,
                              struct facet_render_report *report,
                              struct facet_error *err)
{
    const uint32_t buckets = facet_render_buckets(options);
    struct job job = {.by = by, .image = out};
    const struct facet_units units = {.items = buckets,
                                      .grain = facet_render_grain(options),
                                      .context = &job,
                                      .compute = draw_unit,
                                      .compute_many =
                                          by != NULL && by->together != 0 ? draw_units : NULL,
                                      .together = by != NULL ? by->together : 0,
                                      .pack = pack_unit,
                                      .unpack = unpack_unit};
    enum facet_status status =
        options->some != NULL ? FACET_OK
                              : facet_image_f_create(out, options->width, options->height, err);

    if (status != FACET_OK) {
        return status;
    }
    *report = (struct facet_render_report){.buckets = buckets};
    job.took = calloc(buckets, sizeof *job.took);
    if (job.took == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the buckets");
    } else if (options->pixel != NULL) { /* the bucket that has it */
        const uint64_t first =
            options->machine->one_unit ? 0 : facet_render_pixel_bucket(options->pixel, options);

        status = draw_unit(&job, first, first + 1, pool, err);
    } else if (options->some != NULL) {
        status = draw_some(options, &job, pool, err);
    } else if (set != NULL) {
        status = facet_share_set_unpack(set, &units, err);
    } else {
        status = facet_share_run(options->share, &units, pool, progress, err);
    }
    for (uint32_t i = 0; status == FACET_OK && i < buckets; i++) {
        uint64_t *sum[NUMBERS], *more[NUMBERS];

        each_number(report, sum);
        each_number(&job.took[i], more);
        for (unsigned k = 0; k < NUMBERS; k++) {
            *sum[k] += *more[k];
        }
    }
    free(job.took);
    if (status != FACET_OK && options->some == NULL) {
        facet_image_f_free(out);
    }
    return status;
}

enum facet_status facet_render_each_bucket(const struct facet_render *render,
                                           facet_draw_tile_fn *draw,
                                           void *context,
                                           facet_pool *pool,
                                           struct facet_progress *progress,
                                           struct facet_image_f *out,
                                           struct facet_render_report *report,
                                           struct facet_error *err)
{
    const struct drawing by = {.draw = draw, .context = context};

    return fill(&render->options, &by, pool, progress, NULL, out, report, err);
}

enum facet_status facet_render_join(const struct facet_render_options *options,
                                    const struct facet_share_set *set,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < set->count; i++) {
        bytes += set->files[i].bytes.size;
    }
    *out = (struct facet_image_f){0};
    if (bytes / 12 < (uint64_t)options->width * options->height) { /* before memory is taken */
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "%s: the parts hold no such picture", set->files[0].name);
    }
    return fill(options, NULL, NULL, NULL, set, out, report, err);
}

/* ---- rays of the host ---- */

struct rays {
    const struct facet_render *render;
    facet_shade_trace_fn *trace;
    const struct facet_render_many *many;
    struct facet_picture picture;
};

/* The same rays for one who asks about a pixel. */
struct watched {
    const struct rays *rays;
    const struct facet_bucket *bucket;
    struct facet_render_pixel *pixel;
};

static enum facet_status trace_watched(const void *machine,
                                       enum facet_ray_kind kind,
                                       const struct facet_shade_ray *rays,
                                       size_t count,
                                       struct facet_shade_hit *hits,
                                       struct facet_shade_cost *cost,
                                       struct facet_error *err)
{
    const struct watched *w = machine;
    const struct facet_bucket *t = w->bucket;
    const uint32_t own = facet_render_pixel_place(w->pixel, t->width);
    enum facet_status status = w->rays->trace(w->rays->render, kind, rays, count, hits, cost, err);

    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        if ((kind == FACET_RAY_PRIMARY ? i : t->owner[i]) == own) {
            facet_render_pixel_ray(w->pixel, kind, &rays[i], &hits[i]);
        }
    }
    return status;
}

static enum facet_status draw_rays(void *context,
                                   uint32_t number,
                                   struct facet_image_f *out,
                                   struct facet_render_report *took,
                                   struct facet_error *err)
{
    const struct rays *r = context;
    struct facet_render_pixel *pixel = r->render->options.pixel;
    struct facet_bucket *t = malloc(sizeof *t);
    struct watched watched = {r, t, pixel};
    enum facet_status status;

    if (t == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a bucket");
    }
    status = pixel != NULL
                 ? facet_shade_bucket_draw(t, &r->picture, number, trace_watched, &watched, err)
                 : facet_shade_bucket_draw(t, &r->picture, number, r->trace, r->render, err);
    facet_shade_bucket_store(t, out->rgb + 3 * ((size_t)t->y * out->width + t->x), out->width);
    memcpy(took->cost, t->cost, sizeof took->cost);
    free(t);
    return status;
}

/* Buckets that are drawn here though they came together. */
struct few {
    struct rays *rays;
    const uint32_t *buckets;
    struct facet_image_f *out;
    struct facet_render_report *took;
    pthread_mutex_t lock; /* of what follows */
    enum facet_status status;
    size_t failed; /* the first of them */
    struct facet_error error;
};

static void draw_few(void *context, size_t begin, size_t end)
{
    struct few *few = context;

    for (size_t i = begin; i < end; i++) {
        struct facet_error err = {0};
        const uint32_t bucket = few->buckets[i];
        enum facet_status status = draw_rays(few->rays, bucket, few->out, &few->took[bucket], &err);

        (void)pthread_mutex_lock(&few->lock);
        if (status != FACET_OK && (few->status == FACET_OK || i < few->failed)) {
            few->status = status;
            few->failed = i;
            few->error = err;
        }
        (void)pthread_mutex_unlock(&few->lock);
    }
}

static enum facet_status draw_many(void *context,
                                   const uint32_t *buckets,
                                   size_t count,
                                   facet_pool *pool,
                                   struct facet_image_f *out,
                                   struct facet_render_report *took,
                                   struct facet_error *err)
{
    struct rays *r = context;
    struct few few = {.rays = r, .buckets = buckets, .out = out, .took = took};
    bool done;
    enum facet_status status = r->many->draw(r->render, buckets, count, out, took, &done, err);

    if (status != FACET_OK || done) {
        return status;
    }
    (void)pthread_mutex_init(&few.lock, NULL);
    facet_pool_for(pool, count, 1, draw_few, &few);
    (void)pthread_mutex_destroy(&few.lock);
    if (few.status != FACET_OK && err != NULL) {
        *err = few.error;
    }
    return few.status;
}

enum facet_status facet_render_rays(const struct facet_render *render,
                                    facet_shade_trace_fn *trace,
                                    const struct facet_render_many *many,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err)
{
    struct rays rays = {.render = render, .trace = trace, .many = many};
    const struct drawing by = {.draw = draw_rays,
                               .draw_many = draw_many,
                               .together = many != NULL ? many->most : 0,
                               .context = &rays};

    facet_render_picture(render, &rays.picture);
    return fill(&render->options, &by, pool, progress, NULL, out, report, err);
}
