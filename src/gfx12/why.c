/* See why.h. The values come from the functions of the model itself where there is one (slabs,
 * triangles, transforms, results); only the steps between are written out again here, in the order
 * of gfx12-semantics.md, and the test compares the two. */
#include "gfx12/why.h"

#include "base/json.h"
#include "bvh/gfx12_f32.h"
#include "gfx12/sort.h"
#include "gfx12/trace_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_VISITS = 10000 };

/* ---- values ---- */

static json_t *hex32(uint32_t value)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%08X", value);
    return json_string(text);
}

static json_t *number(float value)
{
    if (isfinite(value)) {
        return json_real((double)value);
    }
    return json_string(isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

/* {"bits": "3F800000", "value": 1.0} */
static json_t *real(float value)
{
    return json_pack("{s:o, s:o}", "bits", hex32(f32_bits(value)), "value", number(value));
}

static void set_real(json_t *object, const char *name, float value)
{
    (void)json_object_set_new(object, name, real(value));
}

static json_t *vector(const float v[3])
{
    return json_pack("[o, o, o]", real(v[0]), real(v[1]), real(v[2]));
}

static void set_vector(json_t *object, const char *name, const float v[3])
{
    (void)json_object_set_new(object, name, vector(v));
}

static void set_hex(json_t *object, const char *name, uint32_t value)
{
    (void)json_object_set_new(object, name, hex32(value));
}

static void set_text(json_t *object, const char *name, const char *text)
{
    (void)json_object_set_new(object, name, json_string(text));
}

static void set_int(json_t *object, const char *name, uint64_t value)
{
    (void)json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void set_bool(json_t *object, const char *name, bool value)
{
    (void)json_object_set_new(object, name, json_boolean(value));
}

static json_t *registers(const uint32_t v[10])
{
    json_t *array = json_array();

    for (unsigned i = 0; i < 10; i++) {
        (void)json_array_append_new(array, hex32(v[i]));
    }
    return array;
}

/* ---- boxes (9.2) ---- */

static const char *cull_reason(const struct facet_gfx12_child *child,
                               unsigned flags,
                               uint32_t mask,
                               bool use_mask,
                               bool use_flags)
{
    if (use_mask && (child->cull_mask & mask) == 0) {
        return "cull_mask";
    }
    return use_flags && facet_gfx12_flags_cull(child->cull_flags, flags) ? "cull_flags" : NULL;
}

static json_t *plane_list(const uint16_t plane[3], unsigned add)
{
    return json_pack("[i, i, i]", plane[0] + add, plane[1] + add, plane[2] + add);
}

/* Differences, products and their choice, axis by axis. */
static json_t *axes(const struct facet_gfx12_slab_ray *ray, const struct facet_gfx12_slab_box *box)
{
    json_t *list = json_array();

    for (unsigned k = 0; k < 3; k++) {
        json_t *axis = json_object();
        float below = box->lo[k] - ray->origin[k], above = box->hi[k] - ray->origin[k];
        float a = below * ray->inverse[k], b = above * ray->inverse[k];
        bool forward = ray->inverse[k] >= 0;

        set_real(axis, "lo_minus_origin", f32_canonical(below));
        set_real(axis, "hi_minus_origin", f32_canonical(above));
        set_real(axis, "a", f32_canonical(a));
        set_real(axis, "b", f32_canonical(b));
        set_text(axis, "near", forward ? "a" : "b");
        (void)json_array_append_new(list, axis);
    }
    return list;
}

struct children {
    const struct facet_gfx12_child *child;
    unsigned count;
    uint32_t id[8];
    const uint32_t *origin;
    const uint8_t *exponent;
    unsigned flags;
    bool use_mask, use_flags;
};

static json_t *explain_children(const struct facet_gfx12_unit *unit,
                                const struct children *c,
                                const struct facet_gfx12_slab_ray *ray,
                                uint32_t mask)
{
    json_t *list = json_array();
    uint32_t previous = FACET_GFX12_INVALID;

    for (unsigned i = 0; i < c->count; i++) {
        const struct facet_gfx12_child *child = &c->child[i];
        const char *culled = cull_reason(child, c->flags, mask, c->use_mask, c->use_flags);
        json_t *slot = json_object();
        uint32_t lo[3], hi[3], id;
        struct facet_gfx12_slab_box box;
        struct facet_gfx12_slab slab;

        facet_gfx12_child_bounds(child, c->origin, c->exponent, lo, hi);
        for (unsigned k = 0; k < 3; k++) {
            box.lo[k] = f32_from(lo[k]);
            box.hi[k] = f32_from(hi[k]);
        }
        slab = facet_gfx12_slab_test(ray, &box);
        id = slab.hit && culled == NULL ? c->id[i] : FACET_GFX12_INVALID;
        bool repeated = i > 0 && id != FACET_GFX12_INVALID && id == previous;
        previous = id;
        set_int(slot, "slot", i);
        set_hex(slot, "id", c->id[i]);
        (void)json_object_set_new(slot, "min_planes", plane_list(child->min, 0));
        (void)json_object_set_new(slot, "max_planes", plane_list(child->max, 1));
        set_vector(slot, "lo", box.lo);
        set_vector(slot, "hi", box.hi);
        set_int(slot, "cull_flags", child->cull_flags);
        set_int(slot, "cull_mask", child->cull_mask);
        (void)json_object_set_new(slot, "axes", axes(ray, &box));
        set_real(slot, "enter", slab.enter);
        set_real(slot, "leave", slab.leave);
        set_real(slot, "min_t", slab.min_t);
        set_real(slot, "max_t", slab.max_t);
        set_real(slot, "max_t_grown", slab.max_t * ray->grow);
        set_bool(slot, "hit", slab.hit);
        set_real(slot, "key", f32_canonical(facet_gfx12_slot_make(unit, c->id[i], &slab).key));
        set_text(slot,
                 "result",
                 !slab.hit        ? "missed"
                 : culled != NULL ? culled
                 : repeated       ? "repeated"
                                  : "returned");
        (void)json_array_append_new(list, slot);
    }
    return list;
}

static void explain_slab_ray(json_t *visit, const struct facet_gfx12_slab_ray *ray)
{
    set_vector(visit, "inverse", ray->inverse);
    set_real(visit, "grow", ray->grow);
}

static void explain_box(const struct facet_gfx12_unit *unit,
                        const uint8_t *bytes,
                        uint64_t base,
                        const struct facet_gfx12_ray *ray,
                        json_t *visit)
{
    struct facet_gfx12_box box;
    struct facet_gfx12_ray turned = *ray;
    struct facet_gfx12_slab_ray slab_ray;
    uint32_t m[9];

    facet_gfx12_box_decode(bytes, &box);
    struct children c = {.child = box.child,
                         .count = (box.child_count_minus_one & 7u) + 1,
                         .origin = box.origin,
                         .exponent = box.exponent,
                         .flags = facet_gfx12_effective_flags(unit, base),
                         .use_mask = true,
                         .use_flags = true};
    facet_gfx12_child_ids(
        box.child, c.count, box.internal_child_offset, box.primitive_child_offset, c.id);
    (void)json_object_set_new(visit,
                              "grid",
                              json_pack("{s:[o, o, o], s:[i, i, i]}",
                                        "origin",
                                        real(f32_from(box.origin[0])),
                                        real(f32_from(box.origin[1])),
                                        real(f32_from(box.origin[2])),
                                        "exponent",
                                        box.exponent[0],
                                        box.exponent[1],
                                        box.exponent[2]));
    if (facet_gfx12_obb_matrix(box.obb_matrix_index & 0x7F, m)) {
        const uint32_t rows[12] = {m[0], m[1], m[2], 0, m[3], m[4], m[5], 0, m[6], m[7], m[8], 0};

        facet_gfx12_transform(rows, turned.origin, turned.direction);
        set_int(visit, "obb_matrix", box.obb_matrix_index & 0x7F);
        set_vector(visit, "turned_origin", turned.origin);
        set_vector(visit, "turned_direction", turned.direction);
    }
    facet_gfx12_slab_ray_init(
        &slab_ray, turned.origin, turned.direction, ray->extent, unit->resource.box_grow_value);
    explain_slab_ray(visit, &slab_ray);
    (void)json_object_set_new(
        visit, "children", explain_children(unit, &c, &slab_ray, ray->instance_mask));
}

static void explain_instance(const struct facet_gfx12_unit *unit,
                             const uint8_t *bytes,
                             uint64_t base,
                             const struct facet_gfx12_ray *ray,
                             json_t *visit)
{
    struct facet_gfx12_instance node;
    struct facet_gfx12_ray inside = *ray;
    struct facet_gfx12_slab_ray slab_ray;
    unsigned flags = facet_gfx12_effective_flags(unit, base);

    facet_gfx12_instance_decode(bytes, &node);
    set_int(visit, "user_data", node.user_data);
    set_int(visit, "cull_mask", node.cull_mask);
    bool culled =
        facet_gfx12_instance_culled(node.cull_mask, node.pointer, flags, ray->instance_mask);
    set_bool(visit, "culled", culled);
    if (culled) {
        return;
    }
    struct children c = {.child = node.child,
                         .count = (node.child_count_minus_one & 3u) + 1,
                         .origin = node.origin,
                         .exponent = node.exponent,
                         .flags = flags,
                         .use_mask = false,
                         .use_flags = unit->profile != FACET_GFX12_GPURT};
    facet_gfx12_child_ids(node.child, c.count, 0, 0, c.id);
    json_t *matrix = json_array();
    for (unsigned i = 0; i < 12; i++) {
        (void)json_array_append_new(matrix, real(f32_from(node.world_to_object[i])));
    }
    (void)json_object_set_new(visit, "world_to_object", matrix);
    facet_gfx12_transform(node.world_to_object, inside.origin, inside.direction);
    set_vector(visit, "object_origin", inside.origin);
    set_vector(visit, "object_direction", inside.direction);
    facet_gfx12_slab_ray_init(
        &slab_ray, inside.origin, inside.direction, ray->extent, unit->resource.box_grow_value);
    explain_slab_ray(visit, &slab_ray);
    (void)json_object_set_new(
        visit, "children", explain_children(unit, &c, &slab_ray, ray->instance_mask));
}

/* ---- primitives (9.4) ---- */

static void sub(const float a[3], const float b[3], float out[3])
{
    for (unsigned k = 0; k < 3; k++) {
        out[k] = f32_canonical(a[k] - b[k]);
    }
}

static void cross(const float a[3], const float b[3], float out[3])
{
    for (unsigned k = 0; k < 3; k++) {
        unsigned i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = f32_canonical(a[i] * b[j] - a[j] * b[i]);
    }
}

static json_t *explain_triangle(const struct facet_gfx12_unit *unit,
                                const struct facet_gfx12_pair *pair,
                                unsigned k,
                                const struct facet_gfx12_ray *ray,
                                const uint32_t w[4])
{
    const struct facet_gfx12_pair_tri *tri = &pair->desc.tri[k];
    json_t *t = json_object();

    set_int(t, "primitive", pair->primitive_index[k]);
    set_int(t, "geometry", pair->geometry_index[k]);
    set_bool(t, "opaque", tri->opaque != 0);
    set_bool(t, "double_sided", tri->double_sided != 0);
    set_bool(t, "absent", facet_gfx12_tri_absent(tri));
    set_bool(t, "procedural", facet_gfx12_tri_procedural(tri));
    if (!facet_gfx12_tri_procedural(tri)) {
        float v[3][3], e1[3], e2[3], e3[3], s1[3], s2[3];
        struct facet_gfx12_tri_terms terms =
            facet_gfx12_tri_test(pair->vertex[k], ray->origin, ray->direction);
        json_t *corners = json_array();

        for (unsigned c = 0; c < 3; c++) {
            for (unsigned a = 0; a < 3; a++) {
                v[c][a] = f32_from(pair->vertex[k][c][a]);
            }
            (void)json_array_append_new(corners, vector(v[c]));
        }
        (void)json_object_set_new(t, "corners", corners);
        sub(v[1], v[0], e1);
        sub(v[2], v[0], e2);
        sub(ray->origin, v[0], e3);
        cross(ray->direction, e2, s1);
        cross(e3, e1, s2);
        set_vector(t, "e1", e1);
        set_vector(t, "e2", e2);
        set_vector(t, "e3", e3);
        set_vector(t, "s1", s1);
        set_vector(t, "s2", s2);
        set_real(t, "tn", terms.tn);
        set_real(t, "det", terms.det);
        set_real(t, "un", terms.un);
        set_real(t, "vn", terms.vn);
        set_real(t, "t", terms.t);
        set_real(t, "u", terms.u);
        set_real(t, "v", terms.v);
        set_real(t, "u_plus_v", f32_canonical(terms.u + terms.v));
        set_bool(t, "missed", facet_gfx12_tri_missed(unit->profile, &terms));
    }
    set_bool(t, "returned_hit", w[0] != F32_INF && !f32_is_nan(f32_from(w[0])));
    return t;
}

static void explain_pair(const struct facet_gfx12_unit *unit,
                         const uint8_t *bytes,
                         uint32_t node,
                         const struct facet_gfx12_ray *ray,
                         const uint32_t v[10],
                         json_t *visit)
{
    struct facet_gfx12_pair pair;

    facet_gfx12_pair_decode(bytes, facet_gfx12_id_pair(node), &pair);
    set_int(visit, "pair", facet_gfx12_id_pair(node));
    set_int(visit, "navigation", pair.navigation);
    (void)json_object_set_new(visit,
                              "triangles",
                              json_pack("[o, o]",
                                        explain_triangle(unit, &pair, 0, ray, v),
                                        explain_triangle(unit, &pair, 1, ray, v + 4)));
}

/* ---- a visit ---- */

static const char *const kind_names[] = {"none", "primitive", "box", "instance"};

/* What the node is for the unit: NONE where nothing is fetched. */
static enum facet_gfx12_kind
kind_of(const struct facet_gfx12_unit *unit, uint64_t base, uint32_t node, const uint8_t **bytes)
{
    enum facet_gfx12_kind kind = facet_gfx12_id_kind(node);

    *bytes = NULL;
    if ((kind == FACET_GFX12_KIND_INSTANCE && unit->resource.instance_en == 0) ||
        unit->resource.compressed_format_en == 0) {
        kind = FACET_GFX12_KIND_NONE;
    }
    if (kind != FACET_GFX12_KIND_NONE) {
        *bytes =
            facet_gfx12_unit_fetch(unit, base, facet_gfx12_id_offset(node), FACET_GFX12_NODE_BYTES);
    }
    return *bytes != NULL ? kind : FACET_GFX12_KIND_NONE;
}

/* `ray` as it goes into the instruction; *after as it comes out. */
static json_t *explain_visit(const struct facet_gfx12_unit *unit,
                             uint64_t base,
                             uint32_t node,
                             const struct facet_gfx12_ray *ray,
                             struct facet_gfx12_ray *after,
                             uint32_t v[10])
{
    const uint8_t *bytes;
    enum facet_gfx12_kind kind = kind_of(unit, base, node, &bytes);
    json_t *visit = json_object();

    *after = *ray;
    facet_gfx12_intersect8(unit, base, node, after, v);
    set_hex(visit, "node", node);
    set_text(visit, "kind", kind_names[kind]);
    (void)json_object_set_new(visit, "base", facet_json_hex(base));
    (void)json_object_set_new(
        visit,
        "address",
        facet_json_hex((facet_gfx12_base_address(base) + facet_gfx12_id_offset(node)) &
                       UINT64_C(0xFFFFFFFFFFFF)));
    set_vector(visit, "origin", ray->origin);
    set_vector(visit, "direction", ray->direction);
    set_real(visit, "extent", ray->extent);
    if (kind == FACET_GFX12_KIND_BOX) {
        explain_box(unit, bytes, base, ray, visit);
    } else if (kind == FACET_GFX12_KIND_INSTANCE) {
        explain_instance(unit, bytes, base, ray, visit);
    } else if (kind == FACET_GFX12_KIND_PRIMITIVE) {
        explain_pair(unit, bytes, node, ray, v, visit);
    }
    (void)json_object_set_new(visit, "v", registers(v));
    return visit;
}

/* ---- the loop (11.1) ---- */

struct entry {
    uint32_t node;
    bool leave; /* RETURN */
};

struct walk {
    const struct facet_gfx12_unit *unit;
    const struct facet_gfx12_why_options *options;
    struct facet_gfx12_trace_state state;
    struct facet_gfx12_stats stats;
    struct entry *stack;
    size_t count, capacity;
    json_t *visits;
    json_t *pushed; /* of the current visit */
    bool failed;
};

static void push(struct walk *w, uint32_t node, bool leave)
{
    if (w->count == w->capacity) {
        size_t capacity = w->capacity != 0 ? 2 * w->capacity : 64;
        struct entry *grown = realloc(w->stack, capacity * sizeof grown[0]);

        if (grown == NULL) {
            w->failed = true;
            return;
        }
        w->stack = grown;
        w->capacity = capacity;
    }
    w->stack[w->count++] = (struct entry){node, leave};
    (void)json_array_append_new(w->pushed, leave ? json_string("RETURN") : hex32(node));
}

static uint32_t after_box(struct walk *w, const uint32_t v[10])
{
    for (unsigned i = 7; i > 0; i--) {
        if (v[i] != FACET_GFX12_INVALID) {
            push(w, v[i], false);
        }
    }
    return v[0];
}

static uint32_t after_instance(struct walk *w,
                               uint32_t node,
                               const struct facet_gfx12_ray *after,
                               const uint32_t v[10])
{
    uint32_t child[4];
    unsigned count = 0;

    for (unsigned i = 0; i < 4; i++) {
        uint32_t id = v[7] >> (8 * i) & 0xFF;
        if (id != 0xFF) {
            child[count++] = id;
        }
    }
    if (count == 0) {
        return FACET_GFX12_INVALID;
    }
    push(w, 0, true);
    memcpy(w->state.ray.origin, after->origin, sizeof after->origin);
    memcpy(w->state.ray.direction, after->direction, sizeof after->direction);
    w->state.base = (uint64_t)v[3] << 32 | v[2];
    w->state.instance = node;
    w->state.user_data = v[6];
    for (unsigned i = count; i-- > 1;) {
        push(w, child[i], false);
    }
    return child[0];
}

static uint32_t after_pair(struct walk *w, uint32_t node, const uint32_t v[10], json_t *visit)
{
    float before = w->state.t_cur;

    facet_gfx12_trace_pair(&w->state, node, v);
    set_bool(visit, "committed", w->state.hit->found && w->state.t_cur != before);
    set_real(visit, "t_cur", w->state.t_cur);
    switch (v[8] & 3) {
    case 0:
        return facet_gfx12_id_next_pair(node);
    case 1:
        return (node & ~UINT32_C(0xF)) + 0x10;
    default:
        return FACET_GFX12_INVALID;
    }
}

/* Back to the TLAS, as the query has it. */
static void leave_instance(struct walk *w)
{
    memcpy(w->state.ray.origin, w->state.query->origin, sizeof w->state.ray.origin);
    memcpy(w->state.ray.direction, w->state.query->direction, sizeof w->state.ray.direction);
    w->state.base = w->state.tlas_base;
    w->state.instance = FACET_GFX12_INVALID;
    w->state.user_data = 0;
}

/* The node after `cur`; notes what is taken from the stack. INVALID at the end. */
static uint32_t next_node(struct walk *w, uint32_t cur, json_t *visit)
{
    json_t *popped = json_array();

    while (cur == FACET_GFX12_INVALID && w->count > 0 && !w->state.stop) {
        struct entry top = w->stack[--w->count];

        (void)json_array_append_new(popped, top.leave ? json_string("RETURN") : hex32(top.node));
        if (top.leave) {
            leave_instance(w);
        } else {
            cur = top.node;
        }
    }
    (void)json_object_set_new(visit, "popped", popped);
    if (cur != FACET_GFX12_INVALID && !w->state.stop) {
        set_hex(visit, "next", cur);
    }
    set_int(visit, "stack_depth", w->count);
    return cur;
}

static const char *run(struct walk *w)
{
    uint32_t cur = w->state.query->root;
    uint64_t steps = 0;

    while (cur != FACET_GFX12_INVALID && !w->state.stop && !w->failed) {
        struct facet_gfx12_ray after;
        uint32_t v[10], node = cur;
        const uint8_t *bytes;
        json_t *visit;

        if (steps == w->state.steps_left) {
            return "max_steps";
        }
        w->state.ray.extent = w->state.t_cur;
        visit = explain_visit(w->unit, w->state.base, node, &w->state.ray, &after, v);
        set_int(visit, "step", ++steps);
        w->pushed = json_array();
        cur = FACET_GFX12_INVALID;
        switch (kind_of(w->unit, w->state.base, node, &bytes)) {
        case FACET_GFX12_KIND_BOX:
            cur = after_box(w, v);
            break;
        case FACET_GFX12_KIND_INSTANCE:
            cur = after_instance(w, node, &after, v);
            break;
        case FACET_GFX12_KIND_PRIMITIVE:
            cur = after_pair(w, node, v, visit);
            break;
        default:
            break;
        }
        (void)json_object_set_new(visit, "pushed", w->pushed);
        cur = next_node(w, cur, visit);
        if (w->options->one_node && w->options->node != node) {
            json_decref(visit);
        } else {
            (void)json_array_append_new(w->visits, visit);
        }
    }
    return w->state.stop ? "first hit" : "stack empty";
}

static json_t *hit_json(const struct facet_gfx12_hit *hit)
{
    json_t *object = json_object();

    set_bool(object, "found", hit->found);
    if (hit->found) {
        set_real(object, "t", hit->t);
        set_real(object, "u", hit->u);
        set_real(object, "v", hit->v);
        set_int(object, "primitive", hit->primitive_index);
        set_int(object, "geometry", hit->geometry_index);
        set_bool(object, "backface", hit->backface);
        set_bool(object, "opaque", hit->opaque);
        set_hex(object, "node", hit->node);
        set_hex(object, "instance", hit->instance);
        set_int(object, "user_data", hit->instance_user_data);
    }
    return object;
}

enum facet_status facet_gfx12_why(const struct facet_gfx12_unit *unit,
                                  const struct facet_gfx12_query *query,
                                  const struct facet_gfx12_why_options *options,
                                  struct json_t **out,
                                  struct facet_error *err)
{
    struct facet_gfx12_query plain = *query;
    struct facet_gfx12_hit hit;
    struct walk w = {.unit = unit, .options = options, .visits = json_array()};
    json_t *root = json_object(), *ray = json_object();
    const char *ended;

    memset(&plain.callbacks, 0, sizeof plain.callbacks);
    plain.max_steps = options->max_steps != 0 ? options->max_steps : DEFAULT_VISITS;
    facet_gfx12_trace_init(&w.state, unit, &plain, &hit, &w.stats);
    set_vector(ray, "origin", plain.origin);
    set_vector(ray, "direction", plain.direction);
    set_real(ray, "t_min", plain.t_min);
    set_real(ray, "t_max", plain.t_max);
    set_int(ray, "flags", plain.api_flags);
    set_int(ray, "mask", plain.instance_mask);
    (void)json_object_set_new(root, "ray", ray);
    ended = run(&w);
    if (options->one_node) {
        bool visited = json_array_size(w.visits) > 0;

        set_bool(root, "visited", visited);
        if (!visited) {
            struct facet_gfx12_ray alone = {.extent = plain.t_max,
                                            .instance_mask = plain.instance_mask};
            struct facet_gfx12_ray after;
            uint32_t v[10];

            memcpy(alone.origin, plain.origin, sizeof alone.origin);
            memcpy(alone.direction, plain.direction, sizeof alone.direction);
            (void)json_array_append_new(
                w.visits, explain_visit(unit, w.state.tlas_base, options->node, &alone, &after, v));
        }
    }
    (void)json_object_set_new(root, "visits", w.visits);
    set_text(root, "ended", ended);
    (void)json_object_set_new(root, "hit", hit_json(&hit));
    free(w.stack);
    if (w.failed) {
        json_decref(root);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    *out = root;
    return FACET_OK;
}
