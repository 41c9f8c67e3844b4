/* The traversal loop that a shader runs around image_bvh8_intersect_ray: section 11 of
 * gfx12-semantics.md. Here are the reference loop with a stack as deep as needed (11.1) and what
 * it shares with the loop on the LDS stack instruction (loop.c): both handle hits in one place, so
 * that they can differ only in the order of visits. */
#include "gfx12/trace_state.h"

#include "base/array.h"
#include "base/bits.h"
#include "base/error.h"
#include "base/float.h"
#include "gfx12/image/node.h"
#include "num/f32.h"

#include <stdlib.h>

void facet_gfx12_query_init(struct facet_gfx12_query *query,
                            const float origin[3],
                            const float direction[3])
{
    memset(query, 0, sizeof *query);
    memcpy(query->origin, origin, sizeof query->origin);
    memcpy(query->direction, direction, sizeof query->direction);
    query->t_max = facet_float_of(F32_INF);
    query->instance_mask = 0xFF;
    query->root = FACET_GFX12_ROOT;
}

void facet_gfx12_trace_enter_tlas(struct facet_gfx12_trace_state *t)
{
    memcpy(t->ray.origin, t->query->origin, sizeof t->ray.origin);
    memcpy(t->ray.direction, t->query->direction, sizeof t->ray.direction);
    t->base = t->tlas_base;
    t->instance = FACET_GFX12_INVALID;
    t->user_data = 0;
}

void facet_gfx12_trace_enter_instance(struct facet_gfx12_trace_state *t,
                                      uint32_t node,
                                      const uint32_t v[10])
{
    t->base = (uint64_t)v[3] << 32 | v[2];
    t->instance = node;
    t->user_data = v[6];
}

void facet_gfx12_trace_init(struct facet_gfx12_trace_state *t,
                            const struct facet_gfx12_unit *unit,
                            const struct facet_gfx12_query *query,
                            struct facet_gfx12_hit *hit,
                            struct facet_gfx12_stats *stats)
{
    memset(hit, 0, sizeof *hit);
    hit->t = query->t_max;
    hit->instance = FACET_GFX12_INVALID;
    memset(stats, 0, sizeof *stats);
    *t = (struct facet_gfx12_trace_state){
        .unit = unit,
        .query = query,
        .hit = hit,
        .stats = stats,
        .steps_left = query->max_steps != 0 ? query->max_steps : FACET_GFX12_DEFAULT_STEPS,
        .ray = {.instance_mask = query->instance_mask},
        .tlas_base = facet_gfx12_base_make(query->address, facet_gfx12_api_flags(query->api_flags)),
        .t_cur = query->t_max,
    };
    facet_gfx12_trace_enter_tlas(t);
}

enum facet_status facet_gfx12_trace_out_of_steps(const struct facet_gfx12_trace_state *t,
                                                 struct facet_error *err)
{
    return facet_fail(err,
                      FACET_ERR_LIMIT,
                      t->stats->steps,
                      "traversal stopped after %llu nodes: the image has a cycle, or max_steps is "
                      "too small",
                      (unsigned long long)t->stats->steps);
}

enum facet_gfx12_kind
facet_gfx12_trace_count(struct facet_gfx12_trace_state *t, uint32_t node, const uint32_t v[10])
{
    enum facet_gfx12_kind kind = facet_gfx12_id_kind(node);
    t->steps_left--;
    t->stats->steps++;
    /* Bits 2..0 of v2 are 0 for an instance, and v1 of a primitive is never all ones. */
    if (kind != FACET_GFX12_KIND_BOX && v[1] == FACET_GFX12_INVALID &&
        v[2] == FACET_GFX12_INVALID) {
        kind = FACET_GFX12_KIND_NONE;
    }
    t->stats->boxes += kind == FACET_GFX12_KIND_BOX;
    t->stats->primitives += kind == FACET_GFX12_KIND_PRIMITIVE;
    t->stats->instances += kind == FACET_GFX12_KIND_INSTANCE;
    return kind;
}

enum facet_gfx12_kind facet_gfx12_trace_visit(struct facet_gfx12_trace_state *t,
                                              uint32_t node,
                                              float extent,
                                              struct facet_gfx12_steps *s)
{
    t->ray.extent = extent;
    facet_gfx12_intersect8_steps(t->unit, t->base, node, &t->ray, s);
    t->ray = s->after;
    if (t->query->callbacks.visit != NULL) {
        t->query->callbacks.visit(t->query->callbacks.context, t->base, node, s->v);
    }
    return facet_gfx12_trace_count(t, node, s->v);
}

/* ---- hits ---- */

/* Opacity of a result. Without pointer flags the unit returns none (9.5): all count as opaque
 * (R-G12-64). */
static bool result_opaque(const struct facet_gfx12_trace_state *t, uint32_t w2)
{
    bool merged = t->unit->resource.pointer_flags != 0 || t->unit->profile == FACET_GFX12_GPURT;
    bool one_is_opaque = t->unit->opaque_sense == FACET_GFX12_SENSE_SEED;
    return !merged || (w2 >> 31 != 0) == one_is_opaque;
}

static void commit(struct facet_gfx12_trace_state *t, const struct facet_gfx12_hit *candidate)
{
    *t->hit = *candidate;
    t->hit->found = true;
    t->t_cur = candidate->t;
    if ((t->query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0) {
        t->stop = true;
    }
}

static bool
run_procedural(struct facet_gfx12_trace_state *t, uint32_t node, struct facet_gfx12_hit *candidate)
{
    const struct facet_gfx12_callbacks *cb = &t->query->callbacks;
    const uint8_t *bytes = facet_gfx12_unit_fetch(
        t->unit, t->base, facet_gfx12_id_offset(node), FACET_GFX12_NODE_BYTES);
    t->ray.extent = t->t_cur;
    candidate->t = t->query->t_min;
    return cb->procedural != NULL && bytes != NULL &&
           cb->procedural(cb->context, &t->ray, bytes, candidate);
}

static void note(struct facet_gfx12_trace_state *t, unsigned k, bool committed, const char *reason)
{
    if (t->turn != NULL) {
        unsigned i = t->turn->candidates++;
        t->turn->candidate[i].tri = k;
        t->turn->candidate[i].committed = committed;
        t->turn->candidate[i].reason = reason;
    }
}

/* Result k (0 or 1) of a primitive node. A procedural result is recognised by its whole v1, which
 * no triangle can return with a finite t, also without pointer flags (R-G12-64). */
static void
process(struct facet_gfx12_trace_state *t, uint32_t node, const uint32_t v[10], unsigned k)
{
    const struct facet_gfx12_callbacks *cb = &t->query->callbacks;
    const uint32_t *w = v + (size_t)4 * k;
    struct facet_gfx12_hit candidate = {
        .procedural = w[1] == (F32_ONE | F32_SIGN),
        .opaque = result_opaque(t, w[2]),
        .backface = (w[3] & 1) != 0,
        .t = facet_float_of(w[0]),
        .u = facet_float_of(w[1] & ~F32_SIGN),
        .v = facet_float_of(w[2] & ~F32_SIGN),
        .primitive_index = w[3] >> 1,
        .geometry_index = v[8 + k] >> 2,
        .node = node,
        .base = t->base,
        .instance = t->instance,
        .instance_user_data = t->user_data,
    };
    enum facet_gfx12_verdict verdict = FACET_GFX12_ACCEPT;

    if (candidate.procedural && (w[0] == F32_INF || !run_procedural(t, node, &candidate))) {
        note(t,
             k,
             false,
             cb->procedural == NULL ? "procedural: needs an intersection shader, none is run"
                                    : "procedural: the intersection shader finds no hit");
        return;
    }
    if (!(t->query->t_min < candidate.t)) {
        note(t, k, false, "not t_min < t");
        return;
    }
    if (!(candidate.t < t->t_cur)) {
        note(t, k, false, "not t < t_cur");
        return;
    }
    if (!candidate.opaque && cb->any_hit != NULL) {
        verdict = cb->any_hit(cb->context, &candidate);
    }
    if (verdict == FACET_GFX12_IGNORE) {
        note(t, k, false, "ignored by the any-hit shader");
        return;
    }
    note(t, k, true, "t_min < t < t_cur");
    commit(t, &candidate);
    t->stop = t->stop || verdict == FACET_GFX12_ACCEPT_AND_STOP;
}

void facet_gfx12_trace_pair(struct facet_gfx12_trace_state *t, uint32_t node, const uint32_t v[10])
{
    unsigned first = facet_float_of(v[0]) <= facet_float_of(v[4]) ? 0 : 1;
    process(t, node, v, first);
    if (t->stop) {
        note(t, 1 - first, false, "not tested: the first hit ended the search");
    } else {
        process(t, node, v, 1 - first);
    }
}

/* ---- reference loop ---- */

/* Where an instance was met that lies below another one, to return to. */
struct level {
    struct facet_gfx12_ray ray;
    uint64_t base;
    uint32_t instance, user_data;
};

struct stack {
    uint64_t *items;
    size_t count, capacity;
    uint64_t pushed;
    bool failed;
    struct facet_gfx12_turn turn;
    uint64_t local[64];
    /* A RETURN leads to the last of these; without any, to the TLAS. */
    struct level *levels;
    size_t level_count, level_capacity;
};

static void stack_push(struct stack *s, uint64_t item)
{
    if (s->count == s->capacity) {
        bool first = s->items == s->local;
        uint64_t *grown = realloc(first ? NULL : s->items, 2 * s->capacity * sizeof s->items[0]);
        if (grown == NULL) {
            s->failed = true;
            return;
        }
        if (first) {
            memcpy(grown, s->local, sizeof s->local);
        }
        s->items = grown;
        s->capacity *= 2;
    }
    s->items[s->count++] = item;
    s->pushed++;
    s->turn.push[s->turn.pushes++] = item;
}

/* A return to the TLAS needs no notes: the query has them. */
static void push_return(const struct facet_gfx12_trace_state *t,
                        struct stack *s,
                        const struct facet_gfx12_ray *before)
{
    stack_push(s, FACET_GFX12_RETURN);
    if (t->instance == FACET_GFX12_INVALID) {
        return;
    }
    if (!facet_array_fit(&s->levels, &s->level_capacity, s->level_count + 1, sizeof s->levels[0])) {
        s->failed = true;
        return;
    }
    s->levels[s->level_count++] = (struct level){*before, t->base, t->instance, t->user_data};
}

static void leave_instance(struct facet_gfx12_trace_state *t, struct stack *s)
{
    const struct level *level;

    if (s->level_count == 0) {
        facet_gfx12_trace_enter_tlas(t);
        return;
    }
    level = &s->levels[--s->level_count];
    t->ray = level->ray;
    t->base = level->base;
    t->instance = level->instance;
    t->user_data = level->user_data;
}

/* Pushes what is below an instance; returns the node to continue with. */
static uint64_t descend_instance(struct facet_gfx12_trace_state *t,
                                 struct stack *s,
                                 const struct facet_gfx12_ray *before,
                                 uint32_t node,
                                 const uint32_t v[10])
{
    uint32_t child[4];
    unsigned count = 0;
    if (facet_gfx12_instance_numbered(&s->turn.steps.instance, t->query->root, &child[0])) {
        count = v[7] != FACET_GFX12_INVALID; /* whichever box is hit */
    } else {
        for (unsigned i = 0; i < 4; i++) {
            uint32_t id = v[7] >> (8 * i) & 0xFF;
            if (id != 0xFF) {
                child[count++] = id;
            }
        }
    }
    if (count == 0) {
        t->ray = *before; /* the unit transforms the ray also when every child is missed */
        return FACET_GFX12_INVALID;
    }
    push_return(t, s, before);
    facet_gfx12_trace_enter_instance(t, node, v);
    for (unsigned i = count; i-- > 1;) {
        stack_push(s, child[i]);
    }
    return child[0];
}

static uint32_t after_pair(uint32_t node, uint32_t navigation)
{
    switch (navigation & 3) {
    case 0:
        return facet_gfx12_id_next_pair(node);
    case 1:
        return (node & ~UINT32_C(0xF)) + 0x10;
    default:
        return FACET_GFX12_INVALID;
    }
}

/* The next node of the stack; leaves instances on the way. False: the traversal is over. */
static bool pop(struct facet_gfx12_trace_state *t, struct stack *s, uint64_t *cur)
{
    while (*cur == FACET_GFX12_INVALID || *cur == FACET_GFX12_RETURN) {
        if (*cur == FACET_GFX12_RETURN) {
            leave_instance(t, s);
            s->turn.returns++;
        }
        if (s->count == 0) {
            return false;
        }
        *cur = s->items[--s->count];
        s->turn.popped = true;
    }
    return true;
}

/* Visits a node; returns the one to continue with, INVALID to pop. */
static uint64_t take_turn(struct facet_gfx12_trace_state *t, struct stack *s, uint32_t node)
{
    const struct facet_gfx12_ray before = t->ray;
    const uint32_t *v = s->turn.steps.v;
    switch (facet_gfx12_trace_visit(t, node, t->t_cur, &s->turn.steps)) {
    case FACET_GFX12_KIND_BOX:
        for (unsigned i = 7; i > 0; i--) {
            if (v[i] != FACET_GFX12_INVALID) {
                stack_push(s, v[i]);
            }
        }
        return v[0];
    case FACET_GFX12_KIND_INSTANCE:
        return descend_instance(t, s, &before, node, v);
    case FACET_GFX12_KIND_PRIMITIVE:
        facet_gfx12_trace_pair(t, node, v);
        return after_pair(node, v[8]);
    default:
        return FACET_GFX12_INVALID;
    }
}

static enum facet_status reference_loop(struct facet_gfx12_trace_state *t,
                                        struct stack *s,
                                        facet_gfx12_watch *watch,
                                        void *context,
                                        struct facet_error *err)
{
    struct facet_gfx12_turn *turn = t->turn = &s->turn;
    uint64_t cur = t->query->root;
    while (!t->stop) {
        turn->popped = false;
        turn->returns = turn->candidates = turn->pushes = 0;
        if (!pop(t, s, &cur)) {
            break;
        }
        if (t->steps_left == 0) {
            return facet_gfx12_trace_out_of_steps(t, err);
        }
        turn->number = t->stats->steps;
        turn->t_before = t->t_cur;
        cur = turn->next = take_turn(t, s, (uint32_t)cur);
        turn->t_after = t->t_cur;
        turn->depth = s->count;
        turn->stop = t->stop;
        if (watch != NULL) {
            watch(context, turn);
        }
        if (s->failed) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the traversal stack");
        }
        if (s->count > FACET_GFX12_MAX_DEPTH) {
            return facet_fail(err,
                              FACET_ERR_LIMIT,
                              t->stats->steps,
                              "traversal stack deeper than %d entries: the image has a cycle",
                              FACET_GFX12_MAX_DEPTH);
        }
        if (s->count > t->stats->max_depth) {
            t->stats->max_depth = (uint32_t)s->count;
        }
    }
    return FACET_OK;
}

enum facet_status facet_gfx12_trace_watched(const struct facet_gfx12_unit *unit,
                                            const struct facet_gfx12_query *query,
                                            facet_gfx12_watch *watch,
                                            void *context,
                                            struct facet_gfx12_hit *hit,
                                            struct facet_gfx12_stats *stats,
                                            struct facet_error *err)
{
    struct facet_gfx12_stats unused;
    struct facet_gfx12_trace_state t;
    struct stack s;
    enum facet_status status;

    facet_gfx12_trace_init(&t, unit, query, hit, stats != NULL ? stats : &unused);
    s.items = s.local;
    s.count = 0;
    s.pushed = 0;
    s.capacity = sizeof s.local / sizeof s.local[0];
    s.failed = false;
    s.levels = NULL;
    s.level_count = s.level_capacity = 0;
    status = reference_loop(&t, &s, watch, context, err);
    t.stats->pushes = s.pushed;
    if (s.items != s.local) {
        free(s.items);
    }
    free(s.levels);
    return status;
}

enum facet_status facet_gfx12_trace(const struct facet_gfx12_unit *unit,
                                    const struct facet_gfx12_query *query,
                                    struct facet_gfx12_hit *hit,
                                    struct facet_gfx12_stats *stats,
                                    struct facet_error *err)
{
    return facet_gfx12_trace_watched(unit, query, NULL, NULL, hit, stats, err);
}
