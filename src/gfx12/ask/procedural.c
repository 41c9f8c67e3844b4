/* See procedural.h. */
#include "gfx12/ask/procedural.h"

#include "base/array.h"
#include "base/float.h"
#include "gfx12/test.h"
#include "num/f32.h"

bool facet_gfx12_procedural_span(const struct facet_gfx12_ray *ray,
                                 const uint8_t node[128],
                                 float *enter,
                                 float *leave)
{
    struct facet_gfx12_prim prim;
    struct facet_gfx12_slab_ray slab_ray;
    struct facet_gfx12_slab_box box;
    struct facet_gfx12_slab slab;

    facet_gfx12_prim_decode(node, &prim);
    for (unsigned k = 0; k < 3; k++) {
        box.lo[k] = facet_float_of(prim.aabb[k]);
        box.hi[k] = facet_float_of(prim.aabb[3 + k]);
    }
    facet_gfx12_slab_ray_init(&slab_ray, ray->origin, ray->direction, facet_float_of(F32_INF), 0);
    slab = facet_gfx12_slab_test(&slab_ray, &box);
    *enter = slab.enter;
    *leave = slab.leave;
    return slab.min_t <= slab.max_t; /* behind the origin is a miss as well */
}

bool facet_gfx12_procedural_box(void *context,
                                const struct facet_gfx12_ray *ray,
                                const uint8_t node[128],
                                struct facet_gfx12_hit *candidate)
{
    float enter, leave;

    (void)context;
    if (!facet_gfx12_procedural_span(ray, node, &enter, &leave)) {
        return false;
    }
    candidate->t = candidate->t < enter ? enter : leave;
    candidate->u = candidate->v = 0.0f;
    return true;
}

bool facet_gfx12_procedural_note(void *candidates,
                                 const struct facet_gfx12_ray *ray,
                                 const uint8_t node[128],
                                 struct facet_gfx12_hit *candidate)
{
    struct facet_gfx12_candidates *list = candidates;
    struct facet_gfx12_candidate item = {.what = *candidate};

    if (list == NULL) {
        return false;
    }
    item.ray = list->ray;
    (void)facet_gfx12_procedural_span(ray, node, &item.enter, &item.leave);
    if (list->failed ||
        !facet_array_fit(&list->items, &list->room, list->count + 1, sizeof *list->items)) {
        list->failed = true;
    } else {
        list->items[list->count++] = item;
    }
    return false;
}

enum facet_status facet_gfx12_list_candidates(const facet_gfx12_tracer *tracer,
                                              const struct facet_gfx12_query *common,
                                              const struct facet_gfx12_batch_ray *rays,
                                              size_t count,
                                              struct facet_gfx12_hit *hits,
                                              struct facet_gfx12_stats *stats,
                                              struct facet_gfx12_candidates *candidates,
                                              struct facet_error *err)
{
    struct facet_gfx12_query query = *common;
    enum facet_status status = FACET_OK;

    query.callbacks.procedural = facet_gfx12_procedural_note;
    query.callbacks.context = candidates;
    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        struct facet_gfx12_stats cost;

        memcpy(query.origin, rays[i].origin, sizeof query.origin);
        memcpy(query.direction, rays[i].direction, sizeof query.direction);
        query.t_min = rays[i].t_min;
        query.t_max = rays[i].t_max;
        candidates->ray = i;
        status = facet_gfx12_tracer_trace(tracer, &query, &hits[i], &cost, err);
        facet_gfx12_stats_add(stats, &cost);
    }
    return candidates->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the candidates")
                              : status;
}
