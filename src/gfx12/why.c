/* See why.h. facet_gfx12_trace drives: its visit callback names each node with its registers, and a
 * shadow of the loop's ray, base and stack says how it got there. A shadow that strays from the
 * loop shows as `agrees` false, never as a wrong explanation taken for a right one. */
#include "gfx12/why.h"

#include "base/error.h"
#include "num/f32.h"

#include <stdlib.h>

const char *facet_gfx12_why_cull_name(enum facet_gfx12_why_cull cull)
{
    static const char *const names[] = {"visible",
                                        "mask",
                                        "CULL_OPAQUE",
                                        "CULL_NON_OPAQUE",
                                        "SKIP_TRIANGLES",
                                        "SKIP_PROCEDURAL",
                                        "CULL_FRONT_FACING",
                                        "CULL_BACK_FACING"};
    return names[cull];
}

/* ---- children (9.2) ---- */

/* Which flag rule of 9.2 step 2 culls: the one that decides alone, in the order of the rules. */
static enum facet_gfx12_why_cull flag_rule(unsigned cull_flags, unsigned flags)
{
    static const struct {
        unsigned bit;
        enum facet_gfx12_why_cull cull;
    } rules[] = {
        {FACET_GFX12_CULL_OPAQUE, FACET_GFX12_WHY_OPAQUE},
        {FACET_GFX12_CULL_NON_OPAQUE, FACET_GFX12_WHY_NON_OPAQUE},
        {FACET_GFX12_SKIP_TRIANGLES, FACET_GFX12_WHY_SKIP_TRIANGLES},
        {FACET_GFX12_SKIP_PROCEDURAL, FACET_GFX12_WHY_SKIP_PROCEDURAL},
    };
    const unsigned force = FACET_GFX12_FORCE_OPAQUE | FACET_GFX12_FORCE_NON_OPAQUE;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (facet_gfx12_flags_cull(cull_flags, flags & (force | rules[i].bit))) {
            return rules[i].cull;
        }
    }
    return FACET_GFX12_WHY_VISIBLE;
}

/* The bits of a NaN on the way to a result differ between hosts as long as nobody looks; here
 * everybody does (section 1 rule 3). None of these is the quotient of two numbers. */
static void show(float value[3])
{
    for (unsigned k = 0; k < 3; k++) {
        value[k] = f32_canonical(value[k]);
    }
}

static void show_vec(struct facet_gfx12_vec *v)
{
    float value[3] = {v->x, v->y, v->z};
    show(value);
    *v = (struct facet_gfx12_vec){value[0], value[1], value[2]};
}

static void show_terms(struct facet_gfx12_slab_terms *t)
{
    show(t->lo_o);
    show(t->hi_o);
    show(t->near);
    show(t->far);
}

static void show_edges(struct facet_gfx12_tri_edges *e)
{
    show_vec(&e->e1);
    show_vec(&e->e2);
    show_vec(&e->e3);
    show_vec(&e->s1);
    show_vec(&e->s2);
}

/* Steps 4-8 on children whose `stored`, `id` and `cull` are set; result[] are the sorted IDs. */
static void
explain_children(const struct facet_gfx12_unit *unit, struct facet_gfx12_why *w, uint32_t result[8])
{
    struct facet_gfx12_slot sorted[8];
    uint32_t ids[8];
    uint32_t previous = FACET_GFX12_INVALID;
    show(w->slab_ray.inverse);
    for (unsigned i = 0; i < 8; i++) {
        struct facet_gfx12_why_child *c = &w->child[i];
        uint32_t id = FACET_GFX12_INVALID;
        if (i < w->count) {
            struct facet_gfx12_slab_box box;
            facet_gfx12_child_bounds(&c->stored, w->origin, w->exponent, c->lo, c->hi);
            for (unsigned k = 0; k < 3; k++) {
                box.lo[k] = f32_from(c->lo[k]);
                box.hi[k] = f32_from(c->hi[k]);
            }
            c->terms = facet_gfx12_slab_terms(&w->slab_ray, &box);
            show_terms(&c->terms);
            c->slab = facet_gfx12_slab_test(&w->slab_ray, &box);
            id = c->slab.hit && c->cull == FACET_GFX12_WHY_VISIBLE ? c->id : FACET_GFX12_INVALID;
        } else {
            c->id = FACET_GFX12_INVALID;
            c->slab = facet_gfx12_slab_empty();
        }
        c->limit = f32_canonical(c->slab.max_t * w->slab_ray.grow);
        if (i > 0 && id == previous) {
            c->duplicate = id != FACET_GFX12_INVALID;
            id = FACET_GFX12_INVALID;
        } else {
            previous = id;
        }
        ids[i] = id;
        c->slot = facet_gfx12_slot_make(unit, id, &c->slab);
        c->slot.key = f32_canonical(c->slot.key);
        sorted[i] = c->slot;
        sorted[i].id = i; /* the network looks at ext and key only, so the ID can carry the slot */
    }
    facet_gfx12_sort(unit, sorted, unit->resource.wide_sort_en != 0);
    for (unsigned i = 0; i < 8; i++) {
        w->child[sorted[i].id].place = i;
        result[i] = ids[sorted[i].id];
    }
}

static void set_children(struct facet_gfx12_why *w,
                         const struct facet_gfx12_child *child,
                         const uint32_t *ids,
                         const uint32_t origin[3],
                         const uint8_t exponent[3])
{
    memcpy(w->origin, origin, sizeof w->origin);
    memcpy(w->exponent, exponent, sizeof w->exponent);
    for (unsigned i = 0; i < w->count; i++) {
        w->child[i].stored = child[i];
        w->child[i].id = ids[i];
    }
}

static void
explain_box(const struct facet_gfx12_unit *unit, const uint8_t *bytes, struct facet_gfx12_why *w)
{
    struct facet_gfx12_box box;
    uint32_t ids[8], matrix[9], result[8];
    float origin[3];
    facet_gfx12_box_decode(bytes, &box);
    w->count = (box.child_count_minus_one & 7u) + 1;
    facet_gfx12_child_ids(
        box.child, w->count, box.internal_child_offset, box.primitive_child_offset, ids);
    set_children(w, box.child, ids, box.origin, box.exponent);
    for (unsigned i = 0; i < w->count; i++) {
        w->child[i].cull = (box.child[i].cull_mask & w->ray.instance_mask) == 0
                               ? FACET_GFX12_WHY_MASK
                               : flag_rule(box.child[i].cull_flags, w->flags);
    }
    memcpy(origin, w->ray.origin, sizeof origin);
    memcpy(w->slab_direction, w->ray.direction, sizeof w->slab_direction);
    w->obb = FACET_GFX12_OBB_NONE;
    if (facet_gfx12_obb_matrix(box.obb_matrix_index & 0x7F, matrix)) {
        uint32_t rows[12] = {0};
        for (unsigned i = 0; i < 9; i++) {
            rows[i / 3 * 4 + i % 3] = matrix[i];
        }
        w->obb = box.obb_matrix_index & 0x7F;
        facet_gfx12_transform(rows, origin, w->slab_direction);
    }
    facet_gfx12_slab_ray_init(
        &w->slab_ray, origin, w->slab_direction, w->ray.extent, unit->resource.box_grow_value);
    explain_children(unit, w, result);
    w->agrees = memcmp(result, w->v, sizeof result) == 0;
}

/* ---- instances (9.6) ---- */

static void explain_instance(const struct facet_gfx12_unit *unit,
                             const uint8_t *bytes,
                             struct facet_gfx12_why *w)
{
    const struct facet_gfx12_instance *node = &w->instance;
    uint32_t ids[4], result[8], packed = 0;
    facet_gfx12_instance_decode(bytes, &w->instance);
    w->obb = FACET_GFX12_OBB_NONE;
    w->new_base = facet_gfx12_base_enter(node->pointer, w->base);
    w->agrees = w->v[2] == (uint32_t)w->new_base && w->v[3] == (uint32_t)(w->new_base >> 32) &&
                w->v[6] == node->user_data;
    if (facet_gfx12_instance_culled(
            node->cull_mask, node->pointer, w->flags, w->ray.instance_mask)) {
        w->instance_cull = (node->cull_mask & w->ray.instance_mask) == 0 ? FACET_GFX12_WHY_MASK
                           : (node->pointer >> 62 & 1) != 0 ? FACET_GFX12_WHY_SKIP_PROCEDURAL
                                                            : FACET_GFX12_WHY_SKIP_TRIANGLES;
        w->agrees = w->agrees && w->v[7] == FACET_GFX12_INVALID;
        return;
    }
    w->count = (node->child_count_minus_one & 3u) + 1;
    facet_gfx12_child_ids(node->child, w->count, 0, 0, ids);
    set_children(w, node->child, ids, node->origin, node->exponent);
    for (unsigned i = 0; i < w->count && unit->profile != FACET_GFX12_GPURT; i++) {
        w->child[i].cull = flag_rule(node->child[i].cull_flags, w->flags);
    }
    memcpy(w->slab_direction, w->after.direction, sizeof w->slab_direction);
    facet_gfx12_slab_ray_init(&w->slab_ray,
                              w->after.origin,
                              w->after.direction,
                              w->ray.extent,
                              unit->resource.box_grow_value);
    explain_children(unit, w, result);
    for (unsigned i = 0; i < 4; i++) {
        packed |= (result[i] & 0xFF) << (8 * i);
    }
    w->agrees = w->agrees && packed == w->v[7];
}

/* ---- primitives (9.4) ---- */

/* The first comparison of the miss rule that fails; NULL when none does. */
static const char *miss_rule(enum facet_gfx12_profile profile,
                             const struct facet_gfx12_tri_terms *r)
{
    float u = r->u, v = r->v;
    if (!facet_gfx12_tri_missed(profile, r)) {
        return NULL;
    }
    if (profile == FACET_GFX12_GPURT) {
        return u < 0       ? "u < 0"
               : u > 1     ? "u > 1"
               : v < 0     ? "v < 0"
               : u + v > 1 ? "u + v > 1"
                           : "t < 0";
    }
    return !(u >= 0)       ? "not u >= 0"
           : !(u <= 1)     ? "not u <= 1"
           : !(v >= 0)     ? "not v >= 0"
           : !(u + v <= 1) ? "not u + v <= 1"
                           : "not t >= 0";
}

static enum facet_gfx12_why_cull
primitive_rule(const struct facet_gfx12_tri_state *state, bool front, unsigned flags)
{
    static const struct {
        unsigned bit;
        enum facet_gfx12_why_cull cull;
    } rules[] = {
        {FACET_GFX12_SKIP_TRIANGLES, FACET_GFX12_WHY_SKIP_TRIANGLES},
        {FACET_GFX12_SKIP_PROCEDURAL, FACET_GFX12_WHY_SKIP_PROCEDURAL},
        {FACET_GFX12_CULL_FRONT_FACING, FACET_GFX12_WHY_FRONT},
        {FACET_GFX12_CULL_BACK_FACING, FACET_GFX12_WHY_BACK},
        {FACET_GFX12_CULL_OPAQUE, FACET_GFX12_WHY_OPAQUE},
        {FACET_GFX12_CULL_NON_OPAQUE, FACET_GFX12_WHY_NON_OPAQUE},
    };
    const unsigned others =
        FACET_GFX12_FORCE_OPAQUE | FACET_GFX12_FORCE_NON_OPAQUE | FACET_GFX12_DISABLE_TRIANGLE_CULL;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (facet_gfx12_primitive_culled(state, front, flags & (others | rules[i].bit))) {
            return rules[i].cull;
        }
    }
    return FACET_GFX12_WHY_VISIBLE;
}

static bool explain_tri(const struct facet_gfx12_unit *unit, struct facet_gfx12_why *w, unsigned k)
{
    const struct facet_gfx12_pair_tri *tri = &w->pair.desc.tri[k];
    struct facet_gfx12_why_tri *out = &w->tri[k];
    const uint32_t *regs = w->v + (size_t)4 * k;
    const struct facet_gfx12_tri_state state = {
        .opaque = tri->opaque != 0,
        .double_sided = tri->double_sided != 0,
        .procedural = facet_gfx12_tri_procedural(tri),
    };
    /* With CULL_OPAQUE alone a primitive is culled exactly when it counts as opaque. */
    const struct facet_gfx12_tri_state as_box = {.opaque = state.opaque, .procedural = true};
    const unsigned force = FACET_GFX12_FORCE_OPAQUE | FACET_GFX12_FORCE_NON_OPAQUE;
    out->absent = facet_gfx12_tri_absent(tri);
    out->procedural = state.procedural;
    out->opaque =
        facet_gfx12_primitive_culled(&as_box, false, (w->flags & force) | FACET_GFX12_CULL_OPAQUE);
    if (out->procedural) {
        out->cull = primitive_rule(&state, false, w->flags);
        return regs[0] == (out->cull != FACET_GFX12_WHY_VISIBLE ? F32_INF : 0);
    }
    out->edges = facet_gfx12_tri_edges(w->pair.vertex[k], w->ray.origin, w->ray.direction);
    show_edges(&out->edges);
    out->terms = facet_gfx12_tri_test(w->pair.vertex[k], w->ray.origin, w->ray.direction);
    if (out->absent && k == 1 && unit->profile == FACET_GFX12_GPURT) {
        out->miss = "no second triangle";
        return regs[0] == F32_INF;
    }
    out->miss = miss_rule(unit->profile, &out->terms);
    /* A gpurt miss goes on with det = 1. */
    bool replaced = out->miss != NULL && unit->profile == FACET_GFX12_GPURT;
    out->front = replaced || out->terms.det >= 0;
    if ((w->flags & FACET_GFX12_FLIP_FACEDNESS) != 0) {
        out->front = !out->front;
    }
    out->cull = primitive_rule(&state, out->front, w->flags);
    if (out->miss != NULL || out->cull != FACET_GFX12_WHY_VISIBLE) {
        return regs[0] == F32_INF;
    }
    return regs[0] == f32_bits(out->terms.t) &&
           ((regs[1] ^ f32_bits(out->terms.u)) & ~F32_SIGN) == 0 &&
           ((regs[2] ^ f32_bits(out->terms.v)) & ~F32_SIGN) == 0;
}

static void
explain_pair(const struct facet_gfx12_unit *unit, const uint8_t *bytes, struct facet_gfx12_why *w)
{
    facet_gfx12_pair_decode(bytes, facet_gfx12_id_pair(w->node), &w->pair);
    bool first = explain_tri(unit, w, 0);
    bool second = explain_tri(unit, w, 1);
    w->agrees = first && second && (w->v[8] & 3) == w->pair.navigation;
}

/* ---- the instruction ---- */

void facet_gfx12_why_node(const struct facet_gfx12_unit *unit,
                          uint64_t base,
                          uint32_t node,
                          const struct facet_gfx12_ray *ray,
                          struct facet_gfx12_why *out)
{
    const uint8_t *bytes;
    memset(out, 0, sizeof *out);
    out->base = base;
    out->node = node;
    out->kind = facet_gfx12_id_kind(node);
    out->flags = facet_gfx12_effective_flags(unit, base);
    out->ray = out->after = *ray;
    facet_gfx12_intersect8(unit, base, node, &out->after, out->v);
    bytes = facet_gfx12_unit_fetch(unit, base, facet_gfx12_id_offset(node), FACET_GFX12_NODE_BYTES);
    if (out->kind == FACET_GFX12_KIND_NONE) {
        out->no_node = "the type of the ID names no node";
    } else if (out->kind == FACET_GFX12_KIND_INSTANCE && unit->resource.instance_en == 0) {
        out->no_node = "instance_en is 0";
    } else if (unit->resource.compressed_format_en == 0) {
        out->no_node = "compressed_format_en is 0";
    } else if (bytes == NULL) {
        out->no_node = "the node lies outside the image";
    }
    if (out->no_node != NULL) {
        out->kind = FACET_GFX12_KIND_NONE;
        out->agrees = out->v[0] == FACET_GFX12_INVALID && out->v[9] == FACET_GFX12_INVALID;
    } else if (out->kind == FACET_GFX12_KIND_BOX) {
        explain_box(unit, bytes, out);
    } else if (out->kind == FACET_GFX12_KIND_INSTANCE) {
        explain_instance(unit, bytes, out);
    } else {
        explain_pair(unit, bytes, out);
    }
}

/* ---- the loop (11.1) ---- */

struct shadow {
    const struct facet_gfx12_unit *unit;
    const struct facet_gfx12_query *query;
    void (*step)(void *context, const struct facet_gfx12_why_step *step);
    void *context;
    struct facet_gfx12_why_result *out;
    struct facet_gfx12_ray ray;
    uint64_t tlas_base, base;
    float t_cur;
    uint64_t next, number;
    uint64_t *stack;
    size_t count, capacity;
    bool failed;
    struct facet_gfx12_why why;
};

static void enter_tlas(struct shadow *s)
{
    memcpy(s->ray.origin, s->query->origin, sizeof s->ray.origin);
    memcpy(s->ray.direction, s->query->direction, sizeof s->ray.direction);
    s->base = s->tlas_base;
}

static void push(struct shadow *s, struct facet_gfx12_why_step *step, uint64_t item)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity != 0 ? 2 * s->capacity : 64;
        uint64_t *grown = realloc(s->stack, capacity * sizeof s->stack[0]);
        if (grown == NULL) {
            s->failed = true;
            return;
        }
        s->stack = grown;
        s->capacity = capacity;
    }
    s->stack[s->count++] = item;
    step->push[step->pushes++] = item;
}

static void after_instance(struct shadow *s, struct facet_gfx12_why_step *step)
{
    const struct facet_gfx12_why *w = &s->why;
    uint64_t child[4];
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t id = w->v[7] >> (8 * i) & 0xFF;
        if (id != 0xFF) {
            child[count++] = id;
        }
    }
    if (count == 0) { /* the loop goes on with the ray it had */
        return;
    }
    push(s, step, FACET_GFX12_WHY_RETURN);
    s->ray = w->after;
    s->base = (uint64_t)w->v[3] << 32 | w->v[2];
    for (unsigned i = count; i-- > 1;) {
        push(s, step, child[i]);
    }
    step->next = child[0];
}

static void candidate(struct shadow *s, struct facet_gfx12_why_step *step, unsigned k)
{
    struct facet_gfx12_why_candidate *c = &step->candidate[step->candidates++];
    const struct facet_gfx12_why_tri *tri = &s->why.tri[k];
    float t = f32_from(s->why.v[4 * k]);
    c->tri = k;
    if (step->stop) {
        c->reason = "not looked at: the first hit ended the search";
    } else if (tri->cull != FACET_GFX12_WHY_VISIBLE) {
        c->reason = "culled";
    } else if (tri->procedural) {
        c->reason = "procedural: needs an intersection shader, none is run";
    } else if (tri->miss != NULL) {
        c->reason = "missed";
    } else if (!(s->query->t_min < t)) {
        c->reason = "not t_min < t";
    } else if (!(t < s->t_cur)) {
        c->reason = "not t < t_cur";
    } else {
        c->reason = "t_min < t < t_cur";
        c->committed = true;
        s->t_cur = t;
        step->stop = (s->query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0;
    }
}

static void after_pair(struct shadow *s, struct facet_gfx12_why_step *step)
{
    const uint32_t *v = s->why.v;
    unsigned first = f32_from(v[0]) <= f32_from(v[4]) ? 0 : 1;
    candidate(s, step, first);
    candidate(s, step, 1 - first);
    if ((v[8] & 3) == 0) {
        step->next = facet_gfx12_id_next_pair(s->why.node);
    } else if ((v[8] & 3) == 1) {
        step->next = (s->why.node & ~UINT32_C(0xF)) + 0x10;
    }
}

/* Takes the next node from the stack where the last step left none. */
static void find_next(struct shadow *s, struct facet_gfx12_why_step *step)
{
    while (s->next == FACET_GFX12_INVALID || s->next == FACET_GFX12_WHY_RETURN) {
        if (s->next == FACET_GFX12_WHY_RETURN) {
            enter_tlas(s);
            step->returns++;
        }
        if (s->count == 0) {
            return;
        }
        s->next = s->stack[--s->count];
        step->popped = true;
    }
}

static void on_visit(void *context, uint64_t base, uint32_t node, const uint32_t v[10])
{
    struct shadow *s = context;
    struct facet_gfx12_why_step step = {.number = s->number++, .next = FACET_GFX12_INVALID};
    if (s->failed) {
        return;
    }
    find_next(s, &step);
    s->ray.extent = s->t_cur;
    facet_gfx12_why_node(s->unit, base, node, &s->ray, &s->why);
    s->out->agrees = s->out->agrees && s->why.agrees && s->next == node && s->base == base &&
                     memcmp(v, s->why.v, sizeof s->why.v) == 0 &&
                     f32_bits(s->out->hit.t) == f32_bits(s->t_cur);
    step.why = &s->why;
    step.t_before = s->t_cur;
    if (s->why.kind == FACET_GFX12_KIND_BOX) {
        for (unsigned i = 7; i > 0; i--) {
            if (v[i] != FACET_GFX12_INVALID) {
                push(s, &step, v[i]);
            }
        }
        step.next = v[0];
    } else if (s->why.kind == FACET_GFX12_KIND_INSTANCE) {
        after_instance(s, &step);
    } else if (s->why.kind == FACET_GFX12_KIND_PRIMITIVE) {
        after_pair(s, &step);
    }
    step.t_after = s->t_cur;
    step.depth = s->count;
    s->next = step.next;
    s->step(s->context, &step);
}

enum facet_status facet_gfx12_why_trace(const struct facet_gfx12_unit *unit,
                                        const struct facet_gfx12_query *query,
                                        void (*step)(void *context,
                                                     const struct facet_gfx12_why_step *step),
                                        void *context,
                                        struct facet_gfx12_why_result *out,
                                        struct facet_error *err)
{
    struct facet_gfx12_query watched = *query;
    struct shadow s = {
        .unit = unit,
        .query = query,
        .step = step,
        .context = context,
        .out = out,
        .ray = {.instance_mask = query->instance_mask},
        .tlas_base = facet_gfx12_base_make(query->address, facet_gfx12_api_flags(query->api_flags)),
        .t_cur = query->t_max,
        .next = query->root,
    };
    memset(out, 0, sizeof *out);
    out->agrees = true;
    enter_tlas(&s);
    watched.callbacks = (struct facet_gfx12_callbacks){.context = &s, .visit = on_visit};
    enum facet_status status = facet_gfx12_trace(unit, &watched, &out->hit, &out->stats, err);
    out->agrees = out->agrees && f32_bits(out->hit.t) == f32_bits(s.t_cur);
    free(s.stack);
    if (s.failed && status == FACET_OK) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the explanation's stack");
    }
    return status;
}
