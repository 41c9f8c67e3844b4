/* The machine gfx12: builds an image for the scene and sends rays through the traversal loop of
 * gfx12-semantics.md section 11 around image_bvh8_intersect_ray. */
#include "gfx12/tracer.h"
#include "render/bvh_input.h"
#include "render/device/paths.h"
#include "render/pixel.h"
#include "render/wave.h"
#include "render/world.h"
#include "shade/surface.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct gfx12_state {
    struct facet_gfx12_image image;
    facet_gfx12_tracer *tracer; /* refers to the image */
    struct facet_gfx12_unit unit;
    struct facet_render_waves *waves; /* NULL: rays are traced here */
    struct facet_render_paths *paths; /* NULL: shading is done here */
    uint32_t flat_instances;
};

/* Whether the processor may go on after `status`; notes why it does. */
static bool
falls_back(struct facet_render_device *d, enum facet_status status, const struct facet_error *err)
{
    if (!d->fallback || status != FACET_ERR_IO) {
        return false;
    }
    if (!atomic_exchange(&d->failed, true)) { /* the first of the threads */
        d->failure = *err;
    }
    return true;
}

static enum facet_status open_device(const struct facet_render *render,
                                     struct facet_render_device *d,
                                     struct facet_error *err)
{
    struct gfx12_state *state = render->state;
    enum facet_status status = facet_gfx12_device_image(d->device, &state->unit, err);

    if (status == FACET_OK) {
        status = facet_render_waves_new(d->device, state->tracer, &state->waves, err);
    }
    if (status == FACET_OK) {
        status = facet_render_paths_new(render, d->device, state->tracer, &state->paths, err);
    }
    return falls_back(d, status, err) ? FACET_OK : status;
}

static enum facet_status open_gfx12(struct facet_render *render,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_error *err)
{
    const struct facet_gfx12_build_options options = {.quality = render->options.quality};
    struct gfx12_state *state = calloc(1, sizeof *state);
    struct facet_gfx12_build_report report;
    struct facet_render_bvh_input input;
    struct facet_gfx12_tracer_options how = {
        .path = render->options.plain ? FACET_GFX12_PATH_REFERENCE : FACET_GFX12_PATH_AUTO};
    enum facet_status status;

    if (state == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the machine");
    }
    render->state = state;
    status = facet_render_bvh_input_make(render->scene, NULL, 0, NULL, true, &input, err);
    if (status != FACET_OK) {
        return status;
    }
    state->flat_instances = input.flat_instances;
    status = facet_gfx12_build(&input.scene, &options, pool, progress, &state->image, &report, err);
    facet_render_bvh_input_free(&input);
    if (status == FACET_OK) {
        facet_gfx12_unit_init(&state->unit, state->image.bytes, state->image.size);
        state->unit.profile = render->options.profile;
        how.address = state->unit.image_address;
        status = facet_gfx12_tracer_create(&state->unit, &how, &state->tracer, err);
    }
    if (status == FACET_OK && render->options.device != NULL) {
        status = open_device(render, render->options.device, err);
    }
    return status;
}

static void close_gfx12(struct facet_render *render)
{
    struct gfx12_state *state = render->state;

    if (state != NULL) {
        facet_render_paths_free(state->paths);
        facet_render_waves_free(state->waves);
        facet_gfx12_tracer_destroy(state->tracer);
        free(state->image.bytes);
        free(state);
    }
    render->state = NULL;
}

const struct facet_gfx12_image *facet_render_bvh(const struct facet_render *render)
{
    const struct gfx12_state *state = render->state;

    return render->options.machine == &facet_render_gfx12 ? &state->image : NULL;
}

uint32_t facet_render_flat_instances(const struct facet_render *render)
{
    const struct gfx12_state *state = render->state;

    return render->options.machine == &facet_render_gfx12 ? state->flat_instances : 0;
}

/* ---- rays ---- */

enum facet_gfx12_verdict facet_render_any_hit(void *context,
                                              const struct facet_gfx12_hit *candidate)
{
    return facet_shade_surface_stops(context,
                                     candidate->instance_user_data,
                                     candidate->primitive_index,
                                     candidate->t,
                                     candidate->u,
                                     candidate->v)
               ? FACET_GFX12_ACCEPT
               : FACET_GFX12_IGNORE;
}

/* The back of a one-sided triangle is not there: neither for the eye nor for the light, which looks
 * along a shadow ray from its far end. Whatever its side, a triangle keeps the sky away. */
static unsigned flags_of(enum facet_ray_kind kind)
{
    switch (kind) {
    case FACET_RAY_PRIMARY:
    case FACET_RAY_BOUNCE:
        return FACET_GFX12_CULL_BACK_FACING;
    case FACET_RAY_SHADOW:
        return FACET_GFX12_CULL_FRONT_FACING | FACET_GFX12_API_TERMINATE_ON_FIRST_HIT;
    default:
        return FACET_GFX12_API_TERMINATE_ON_FIRST_HIT;
    }
}

static void make_query(const struct facet_render *render,
                       enum facet_ray_kind kind,
                       const struct facet_shade_ray *ray,
                       struct facet_gfx12_query *query)
{
    facet_gfx12_query_init(query, ray->origin, ray->direction);
    query->t_min = ray->t_min;
    query->t_max = ray->t_max;
    query->api_flags = flags_of(kind);
    query->callbacks.context = (void *)render->scene;
    query->callbacks.any_hit = facet_render_any_hit;
}

void facet_render_query(const struct facet_render *render,
                        enum facet_ray_kind kind,
                        const struct facet_shade_ray *ray,
                        struct facet_gfx12_unit *unit,
                        struct facet_gfx12_query *query)
{
    const struct gfx12_state *state = render->state;

    *unit = state->unit;
    make_query(render, kind, ray, query);
    query->address = unit->image_address;
    query->root = FACET_GFX12_ROOT;
}

static void take_hit(const struct facet_gfx12_hit *from,
                     const struct facet_gfx12_stats *stats,
                     struct facet_shade_hit *to,
                     struct facet_shade_cost *cost)
{
    *to = (struct facet_shade_hit){.t = from->t,
                                   .u = from->u,
                                   .v = from->v,
                                   .instance =
                                       from->found ? from->instance_user_data : FACET_SCENE_NONE,
                                   .triangle = from->primitive_index,
                                   .back = from->backface,
                                   .nodes = (uint32_t)stats->steps,
                                   .pairs = (uint32_t)stats->primitives};
    cost->rays++;
    cost->hits += from->found;
    cost->nodes += stats->steps;
    cost->box_nodes += stats->boxes;
    cost->instance_nodes += stats->instances;
    cost->primitive_nodes += stats->primitives;
}

static enum facet_status trace_here(const struct facet_render *render,
                                    enum facet_ray_kind kind,
                                    const struct facet_shade_ray *rays,
                                    size_t count,
                                    struct facet_shade_hit *hits,
                                    struct facet_shade_cost *cost,
                                    struct facet_error *err)
{
    const struct gfx12_state *state = render->state;
    enum facet_status status = FACET_OK;

    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        struct facet_gfx12_query query;
        struct facet_gfx12_stats stats;
        struct facet_gfx12_hit hit;

        make_query(render, kind, &rays[i], &query);
        status = facet_gfx12_tracer_trace(state->tracer, &query, &hit, &stats, err);
        take_hit(&hit, &stats, &hits[i], cost);
    }
    return status;
}

/* What comes back of the rays of a bucket, and room for what goes there. */
struct there {
    struct facet_gfx12_batch_ray rays[FACET_BUCKET_PIXELS];
    struct facet_gfx12_hit hits[FACET_BUCKET_PIXELS];
    struct facet_gfx12_stats stats[FACET_BUCKET_PIXELS];
};

static enum facet_status trace_there(const struct facet_render *render,
                                     enum facet_ray_kind kind,
                                     const struct facet_shade_ray *rays,
                                     size_t count,
                                     struct facet_shade_hit *hits,
                                     struct facet_shade_cost *cost,
                                     struct facet_error *err)
{
    const struct gfx12_state *state = render->state;
    struct there *there = malloc(sizeof *there);
    struct facet_gfx12_query common;
    enum facet_status status;

    if (there == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the rays of a bucket");
    }
    make_query(render, kind, &rays[0], &common);
    for (size_t i = 0; i < count; i++) {
        memcpy(there->rays[i].origin, rays[i].origin, sizeof rays[i].origin);
        memcpy(there->rays[i].direction, rays[i].direction, sizeof rays[i].direction);
        there->rays[i].t_min = rays[i].t_min;
        there->rays[i].t_max = rays[i].t_max;
    }
    status = facet_render_waves_trace(
        state->waves, &common, there->rays, count, there->hits, there->stats, err);
    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        take_hit(&there->hits[i], &there->stats[i], &hits[i], cost);
    }
    free(there);
    return status;
}

static enum facet_status trace_gfx12(const void *machine,
                                     enum facet_ray_kind kind,
                                     const struct facet_shade_ray *rays,
                                     size_t count,
                                     struct facet_shade_hit *hits,
                                     struct facet_shade_cost *cost,
                                     struct facet_error *err)
{
    const struct facet_render *render = machine;
    const struct gfx12_state *state = render->state;
    struct facet_render_device *device = render->options.device;

    if (state->waves != NULL && count > 0 && !atomic_load(&device->failed)) {
        enum facet_status status = trace_there(render, kind, rays, count, hits, cost, err);

        if (status == FACET_OK || !falls_back(device, status, err)) {
            return status;
        }
    }
    return trace_here(render, kind, rays, count, hits, cost, err);
}

static enum facet_status draw_there(const struct facet_render *render,
                                    const uint32_t *buckets,
                                    size_t count,
                                    struct facet_image_f *out,
                                    struct facet_render_report *took,
                                    bool *done,
                                    struct facet_error *err)
{
    const struct gfx12_state *state = render->state;
    struct facet_render_device *device = render->options.device;
    enum facet_status status;

    *done = !atomic_load(&device->failed);
    if (!*done) {
        return FACET_OK;
    }
    status = facet_render_paths_draw(state->paths, buckets, count, out, took, err);
    *done = status == FACET_OK || !falls_back(device, status, err);
    return *done ? status : FACET_OK;
}

static enum facet_status draw_gfx12(const struct facet_render *render,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err)
{
    const struct gfx12_state *state = render->state;
    struct facet_render_many many = {.draw = draw_there};

    if (state->paths != NULL) {
        many.most = facet_render_paths_together(state->paths);
    }
    return facet_render_rays(
        render, trace_gfx12, many.most != 0 ? &many : NULL, pool, progress, out, report, err);
}

const struct facet_render_machine facet_render_gfx12 = {
    .name = "gfx12",
    .summary = "rays through GFX12 BVH8 nodes and image_bvh8_intersect_ray",
    .open = open_gfx12,
    .draw = draw_gfx12,
    .close = close_gfx12,
};
