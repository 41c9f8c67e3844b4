/* A picture on the host: its buckets on the thread pool, each drawn by whatever the machine brings.
 */
#include "render/world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

uint32_t facet_render_buckets(const struct facet_render_options *options)
{
    return facet_shade_bucket_count(options->width, options->height);
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

/* ---- buckets on the pool ---- */

struct job {
    facet_draw_tile_fn *draw;
    void *context;
    struct facet_progress *progress;
    struct facet_image_f *image;
    /* What buckets report, under the lock; sums of integers, so the order does not matter. */
    pthread_mutex_t lock;
    struct facet_render_report report;
    enum facet_status status;
    uint32_t failed_tile;
    struct facet_error error;
};

static void add_cost(struct facet_shade_cost *to, const struct facet_shade_cost *from)
{
    to->rays += from->rays;
    to->hits += from->hits;
    to->nodes += from->nodes;
    to->box_nodes += from->box_nodes;
    to->instance_nodes += from->instance_nodes;
    to->primitive_nodes += from->primitive_nodes;
}

/* The failure of the first bucket is reported, whichever was noticed first. */
static void finish_tile(struct job *job,
                        uint32_t number,
                        const struct facet_render_report *took,
                        enum facet_status status,
                        const struct facet_error *err)
{
    (void)pthread_mutex_lock(&job->lock);
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        add_cost(&job->report.cost[k], &took->cost[k]);
    }
    job->report.instructions += took->instructions;
    if (status != FACET_OK && (job->status == FACET_OK || number < job->failed_tile)) {
        job->status = status;
        job->failed_tile = number;
        job->error = *err;
    }
    (void)pthread_mutex_unlock(&job->lock);
    facet_progress_add(job->progress, 1);
}

static void draw_buckets(void *context, size_t begin, size_t end)
{
    struct job *job = context;

    for (size_t number = begin; number < end; number++) {
        struct facet_render_report took = {0};
        struct facet_error err = {0};
        enum facet_status status =
            job->draw(job->context, (uint32_t)number, job->image, &took, &err);

        finish_tile(job, (uint32_t)number, &took, status, &err);
    }
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
    const struct facet_render_options *options = &render->options;
    struct job job = {.draw = draw, .context = context, .progress = progress, .image = out};
    enum facet_status status = facet_image_f_create(out, options->width, options->height, err);

    if (status != FACET_OK) {
        return status;
    }
    (void)pthread_mutex_init(&job.lock, NULL);
    job.report.buckets = facet_render_buckets(options);
    facet_pool_for(pool, job.report.buckets, 1, draw_buckets, &job);
    (void)pthread_mutex_destroy(&job.lock);
    *report = job.report;
    if (job.status != FACET_OK) {
        facet_image_f_free(out);
        if (err != NULL) {
            *err = job.error;
        }
    }
    return job.status;
}

/* ---- rays of the host ---- */

struct rays {
    const struct facet_render *render;
    facet_shade_trace_fn *trace;
    struct facet_picture picture;
};

static enum facet_status draw_rays(void *context,
                                   uint32_t number,
                                   struct facet_image_f *out,
                                   struct facet_render_report *took,
                                   struct facet_error *err)
{
    const struct rays *r = context;
    struct facet_bucket *t = malloc(sizeof *t);
    enum facet_status status;

    if (t == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a bucket");
    }
    status = facet_shade_bucket_draw(t, &r->picture, number, r->trace, r->render, err);
    facet_shade_bucket_store(t, out->rgb + 3 * ((size_t)t->y * out->width + t->x), out->width);
    memcpy(took->cost, t->cost, sizeof took->cost);
    free(t);
    return status;
}

enum facet_status facet_render_rays(const struct facet_render *render,
                                    facet_shade_trace_fn *trace,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err)
{
    struct rays rays = {.render = render, .trace = trace};

    facet_render_picture(render, &rays.picture);
    return facet_render_each_bucket(render, draw_rays, &rays, pool, progress, out, report, err);
}
