/* See brute.h. Nodes are grouped by level, and a level is gone through once for every instance of
 * it. */
#include "gfx12/ask/brute.h"

#include "base/float.h"
#include "gfx12/steps.h"
#include "num/f32.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 8 }; /* instances below instances; real images have one */

static int by_level_and_id(const void *a, const void *b)
{
    const struct facet_gfx12_brute_node *x = a, *y = b;

    return x->level != y->level ? (x->level < y->level ? -1 : 1)
                                : (x->id > y->id) - (x->id < y->id);
}

enum facet_status facet_gfx12_brute_make(const struct facet_gfx12_view *view,
                                         const struct facet_gfx12_walk *walk,
                                         struct facet_gfx12_brute *out,
                                         struct facet_error *err)
{
    *out = (struct facet_gfx12_brute){malloc(((size_t)walk->reached + 1) * sizeof *out->nodes), 0};
    if (out->nodes == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the triangles of the image");
    }
    for (uint32_t i = 0; i < walk->reached; i++) {
        const uint32_t node = walk->order[i];
        const uint8_t kind = walk->nodes[node].kind;
        struct facet_gfx12_brute_node *to = &out->nodes[out->count];

        if (kind != FACET_GFX12_KIND_BOX) {
            *to = (struct facet_gfx12_brute_node){
                .level = walk->nodes[node].level_base,
                .id = facet_gfx12_walk_id(view, walk, node),
                .kind = kind,
                .pairs = kind == FACET_GFX12_KIND_PRIMITIVE
                             ? (uint8_t)facet_gfx12_stored_pairs(facet_gfx12_node_bytes(view, node))
                             : 0,
            };
            out->count++;
        }
    }
    qsort(out->nodes, out->count, sizeof *out->nodes, by_level_and_id);
    return FACET_OK;
}

void facet_gfx12_brute_free(struct facet_gfx12_brute *brute)
{
    free(brute->nodes);
    *brute = (struct facet_gfx12_brute){0};
}

struct search {
    const struct facet_gfx12_brute *brute;
    const struct facet_gfx12_unit *unit;
    const struct facet_gfx12_query *query;
    struct facet_gfx12_hit *hit;
    uint64_t tested, most;
    struct facet_gfx12_steps steps;
};

/* Where a ray is: in a level, below an instance. */
struct stay {
    uint64_t base;
    struct facet_gfx12_ray ray;
    uint32_t instance, user_data;
    unsigned nesting;
};

static bool meets(const struct search *s,
                  const struct stay *stay,
                  unsigned k,
                  struct facet_gfx12_hit *candidate)
{
    const struct facet_gfx12_callbacks *cb = &s->query->callbacks;
    const uint32_t *w = s->steps.v + (size_t)4 * k;

    candidate->t = facet_float_of(w[0]);
    if (s->steps.tri[k].procedural) {
        const uint8_t *bytes = facet_gfx12_unit_fetch(
            s->unit, stay->base, facet_gfx12_id_offset(s->steps.node), FACET_GFX12_NODE_BYTES);
        struct facet_gfx12_ray ray = stay->ray;

        ray.extent = s->hit->t;
        candidate->t = s->query->t_min;
        candidate->procedural = true;
        if (w[0] == F32_INF || cb->procedural == NULL || bytes == NULL ||
            !cb->procedural(cb->context, &ray, bytes, candidate)) {
            return false;
        }
    }
    return s->query->t_min < candidate->t && candidate->t < s->hit->t;
}

static void test_pair(struct search *s, const struct stay *stay, uint32_t id)
{
    const struct facet_gfx12_steps *steps = &s->steps;

    facet_gfx12_intersect8_steps(s->unit, stay->base, id, &stay->ray, &s->steps);
    for (unsigned k = 0; k < 2 && steps->kind == FACET_GFX12_KIND_PRIMITIVE; k++) {
        const uint32_t *w = steps->v + (size_t)4 * k;
        struct facet_gfx12_hit candidate = {
            .found = true,
            .opaque = steps->tri[k].opaque,
            .backface = (w[3] & 1) != 0,
            .u = facet_float_of(w[1] & ~F32_SIGN),
            .v = facet_float_of(w[2] & ~F32_SIGN),
            .primitive_index = w[3] >> 1,
            .geometry_index = steps->v[8 + k] >> 2,
            .node = id,
            .base = stay->base,
            .instance = stay->instance,
            .instance_user_data = stay->user_data,
        };

        if (meets(s, stay, k, &candidate)) {
            *s->hit = candidate;
        }
    }
}

static void test_level(struct search *s, const struct stay *stay);

static void test_instance(struct search *s, const struct stay *stay, uint32_t id)
{
    struct stay below = {.instance = id, .nesting = stay->nesting + 1};

    facet_gfx12_intersect8_steps(s->unit, stay->base, id, &stay->ray, &s->steps);
    if (s->steps.kind != FACET_GFX12_KIND_INSTANCE || s->steps.instance_cull != 0 ||
        stay->nesting >= MAX_NESTING) {
        return;
    }
    below.base = s->steps.new_base;
    below.ray = s->steps.after;
    below.user_data = s->steps.instance.user_data;
    test_level(s, &below);
}

/* The first node of a level, or where it would be. */
static uint64_t first_of(const struct facet_gfx12_brute *brute, uint64_t level)
{
    uint64_t lo = 0, hi = brute->count;

    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;

        if (brute->nodes[middle].level < level) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

static void test_level(struct search *s, const struct stay *stay)
{
    const struct facet_gfx12_brute *brute = s->brute;
    const uint64_t level = facet_gfx12_base_address(stay->base);

    for (uint64_t i = first_of(brute, level); i < brute->count && s->tested <= s->most; i++) {
        const struct facet_gfx12_brute_node *node = &brute->nodes[i];

        if (node->level != level) {
            break;
        }
        if (node->kind == FACET_GFX12_KIND_INSTANCE) {
            s->tested++;
            test_instance(s, stay, node->id);
            continue;
        }
        for (unsigned pair = 0; pair < node->pairs; pair++) {
            s->tested++;
            test_pair(s, stay, (node->id & ~UINT32_C(0xF)) | facet_gfx12_pair_type(pair));
        }
    }
}

bool facet_gfx12_brute_trace(const struct facet_gfx12_brute *brute,
                             const struct facet_gfx12_unit *unit,
                             const struct facet_gfx12_query *query,
                             uint64_t most,
                             uint64_t *tested,
                             struct facet_gfx12_hit *hit)
{
    struct search s = {.brute = brute, .unit = unit, .query = query, .hit = hit, .most = most};
    struct stay top = {
        .base = facet_gfx12_base_make(query->address, facet_gfx12_api_flags(query->api_flags)),
        .ray = {.extent = query->t_max, .instance_mask = query->instance_mask},
        .instance = FACET_GFX12_INVALID,
    };

    memcpy(top.ray.origin, query->origin, sizeof top.ray.origin);
    memcpy(top.ray.direction, query->direction, sizeof top.ray.direction);
    *hit = (struct facet_gfx12_hit){.t = query->t_max, .instance = FACET_GFX12_INVALID};
    test_level(&s, &top);
    *tested = s.tested;
    return s.tested <= most;
}
