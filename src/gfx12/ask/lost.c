/* See lost.h. */
#include "gfx12/ask/lost.h"

#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 1024 }; /* rays that one thread counts at a time */

const char *facet_gfx12_loss_name(enum facet_gfx12_loss loss, bool plural)
{
    static const char *const names[FACET_GFX12_LOSSES][2] = {
        {"fetch outside the image", "fetches outside the image"},
        {"type that names no node", "types that name no node"},
        {"range that does not end", "ranges that do not end"},
    };

    return names[loss][plural];
}

uint64_t facet_gfx12_lost_total(const struct facet_gfx12_lost *lost)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < FACET_GFX12_LOSSES; i++) {
        total += lost->loss[i].count;
    }
    return total;
}

static void add(struct facet_gfx12_lost *lost,
                enum facet_gfx12_loss loss,
                const struct facet_gfx12_steps *s,
                uint64_t ray)
{
    if (lost->loss[loss].count++ == 0) {
        lost->loss[loss].ray = ray;
        lost->loss[loss].base = facet_gfx12_base_address(s->base);
        lost->loss[loss].node = s->node;
        lost->loss[loss].address =
            (lost->loss[loss].base + facet_gfx12_id_offset(s->node)) & facet_bits_mask(48);
    }
}

void facet_gfx12_lost_turn(struct facet_gfx12_lost *lost,
                           const struct facet_gfx12_unit *unit,
                           const struct facet_gfx12_turn *turn,
                           uint64_t ray)
{
    const struct facet_gfx12_steps *s = &turn->steps;
    const bool went_on = lost->in_range && !turn->popped;
    const bool outside =
        s->no_node != NULL &&
        facet_gfx12_unit_fetch(
            unit, s->base, facet_gfx12_id_offset(s->node), FACET_GFX12_NODE_BYTES) == NULL;

    if (s->no_node != NULL && went_on) {
        add(lost, FACET_GFX12_LOST_RANGE, s, ray);
    } else if (s->no_node != NULL && facet_gfx12_id_kind(s->node) == FACET_GFX12_KIND_NONE) {
        add(lost, FACET_GFX12_LOST_TYPE, s, ray);
    } else if (outside) {
        add(lost, FACET_GFX12_LOST_OUTSIDE, s, ray);
    }
    lost->in_range =
        s->kind == FACET_GFX12_KIND_PRIMITIVE && turn->next != FACET_GFX12_INVALID && !turn->stop;
}

/* ---- batches ---- */

struct counting {
    const struct facet_gfx12_unit *unit;
    const struct facet_gfx12_query *common;
    const struct facet_gfx12_batch_ray *rays;
    struct facet_gfx12_lost *chunks;
};

struct counted_ray {
    const struct facet_gfx12_unit *unit;
    struct facet_gfx12_lost *lost;
    uint64_t ray;
};

static void on_turn(void *context, const struct facet_gfx12_turn *turn)
{
    const struct counted_ray *c = context;

    facet_gfx12_lost_turn(c->lost, c->unit, turn, c->ray);
}

static void count_chunk(void *context, size_t begin, size_t end)
{
    const struct counting *c = context;
    struct facet_gfx12_query query = *c->common;
    struct facet_gfx12_lost lost = {0};

    for (size_t i = begin; i < end; i++) {
        struct counted_ray one = {c->unit, &lost, i};
        struct facet_gfx12_hit hit;

        memcpy(query.origin, c->rays[i].origin, sizeof query.origin);
        memcpy(query.direction, c->rays[i].direction, sizeof query.direction);
        query.t_min = c->rays[i].t_min;
        query.t_max = c->rays[i].t_max;
        lost.in_range = false;
        (void)facet_gfx12_trace_watched(c->unit, &query, on_turn, &one, &hit, NULL, NULL);
    }
    c->chunks[begin / GRAIN] = lost;
}

enum facet_status facet_gfx12_lost_rays(const struct facet_gfx12_unit *unit,
                                        const struct facet_gfx12_query *common,
                                        const struct facet_gfx12_batch_ray *rays,
                                        size_t count,
                                        facet_pool *pool,
                                        struct facet_gfx12_lost *lost,
                                        struct facet_error *err)
{
    struct counting c = {unit, common, rays, calloc(count / GRAIN + 1, sizeof *c.chunks)};

    *lost = (struct facet_gfx12_lost){0};
    if (c.chunks == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to count what is lost");
    }
    facet_pool_for(pool, count, GRAIN, count_chunk, &c);
    for (size_t i = 0; i < count / GRAIN + 1; i++) {
        for (unsigned k = 0; k < FACET_GFX12_LOSSES; k++) {
            const uint64_t before = lost->loss[k].count;

            if (before == 0) {
                lost->loss[k] = c.chunks[i].loss[k];
            } else {
                lost->loss[k].count = before + c.chunks[i].loss[k].count;
            }
        }
    }
    free(c.chunks);
    return FACET_OK;
}
