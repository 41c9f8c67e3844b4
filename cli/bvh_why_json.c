/* `facet bvh why` as JSON. A failed allocation leaves members out or gives NULL, which
 * cli_print_json reports. */
#include "cli/bvh_why.h"

#include "gfx12/image/walk.h"
#include "num/f32.h"
#include "json/json.h"

#include <math.h>

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void set_number(json_t *object, const char *key, uint64_t value)
{
    set(object, key, json_integer((json_int_t)value));
}

static void set_hex(json_t *object, const char *key, uint64_t value)
{
    set(object, key, facet_json_hex(value));
}

static void set_text(json_t *object, const char *key, const char *value)
{
    set(object, key, value != NULL ? json_string(value) : json_null());
}

json_t *bvh_why_json_float(float value)
{
    json_t *object = json_object();

    set_hex(object, "bits", f32_bits(value));
    set(object,
        "value",
        isfinite(value)     ? json_real((double)value)
        : f32_is_nan(value) ? json_string("nan")
                            : json_string(value > 0 ? "inf" : "-inf"));
    return object;
}

static void set_float(json_t *object, const char *key, float value)
{
    set(object, key, bvh_why_json_float(value));
}

static json_t *floats(const float *value, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, bvh_why_json_float(value[i]));
    }
    return array;
}

static json_t *float_bits(const uint32_t *bits, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, bvh_why_json_float(f32_from(bits[i])));
    }
    return array;
}

static json_t *vec(struct facet_gfx12_vec v)
{
    const float value[3] = {v.x, v.y, v.z};

    return floats(value, 3);
}

static json_t *planes(const uint16_t q[3])
{
    return json_pack("[i, i, i]", q[0], q[1], q[2]);
}

static json_t *ray_json(const struct facet_gfx12_ray *ray)
{
    json_t *object = json_object();

    set(object, "origin", floats(ray->origin, 3));
    set(object, "direction", floats(ray->direction, 3));
    set_float(object, "extent", ray->extent);
    set_hex(object, "mask", ray->instance_mask);
    return object;
}

static json_t *child_json(const struct facet_gfx12_why_child *c)
{
    json_t *object = json_object();

    set_hex(object, "id", c->id);
    set_number(object, "type", c->stored.node_type);
    set_number(object, "size", c->stored.node_size);
    set_hex(object, "cull_mask", c->stored.cull_mask);
    set_hex(object, "cull_flags", c->stored.cull_flags);
    set(object, "q_min", planes(c->stored.min));
    set(object, "q_max", planes(c->stored.max));
    set(object, "lo", float_bits(c->lo, 3));
    set(object, "hi", float_bits(c->hi, 3));
    set_text(object, "cull", facet_gfx12_why_cull_name(c->cull));
    set(object, "lo_minus_o", floats(c->terms.lo_o, 3));
    set(object, "hi_minus_o", floats(c->terms.hi_o, 3));
    set(object, "near", floats(c->terms.near, 3));
    set(object, "far", floats(c->terms.far, 3));
    set_float(object, "A", c->slab.enter);
    set_float(object, "B", c->slab.leave);
    set_float(object, "min_t", c->slab.min_t);
    set_float(object, "max_t", c->slab.max_t);
    set_float(object, "max_t_grown", c->limit);
    set(object, "hit", json_boolean(c->slab.hit));
    set(object, "duplicate", json_boolean(c->duplicate));
    set_hex(object, "slot", c->slot.id);
    set_number(object, "ext", c->slot.ext);
    set_float(object, "key", c->slot.key);
    set_number(object, "place", c->place);
    return object;
}

static void set_children(json_t *object, const struct facet_gfx12_why *w)
{
    json_t *list = json_array();

    set(object, "grid_origin", float_bits(w->origin, 3));
    set(object,
        "grid_exponent",
        json_pack("[i, i, i]", w->exponent[0], w->exponent[1], w->exponent[2]));
    set(object, "obb", w->obb != FACET_GFX12_OBB_NONE ? json_integer(w->obb) : json_null());
    set(object, "slab_origin", floats(w->slab_ray.origin, 3));
    set(object, "slab_direction", floats(w->slab_direction, 3));
    set(object, "inverse", floats(w->slab_ray.inverse, 3));
    set_float(object, "grow", w->slab_ray.grow);
    for (unsigned i = 0; i < w->count; i++) {
        (void)json_array_append_new(list, child_json(&w->child[i]));
    }
    set(object, "children", list);
}

static void set_instance(json_t *object, const struct facet_gfx12_why *w)
{
    set(object, "world_to_object", float_bits(w->instance.world_to_object, 12));
    set_hex(object, "pointer", w->instance.pointer);
    set_hex(object, "user_data", w->instance.user_data);
    set_hex(object, "cull_mask", w->instance.cull_mask);
    set_text(object, "cull", facet_gfx12_why_cull_name(w->instance_cull));
    set_hex(object, "merged_base", w->new_base);
    set_hex(object, "merged_flags", facet_gfx12_base_flags(w->new_base));
    set(object, "ray_after", ray_json(&w->after));
    if (w->instance_cull == FACET_GFX12_WHY_VISIBLE) {
        set_children(object, w);
    }
}

static json_t *tri_json(const struct facet_gfx12_why *w, unsigned k)
{
    const struct facet_gfx12_why_tri *t = &w->tri[k];
    const struct facet_gfx12_pair_tri *d = &w->pair.desc.tri[k];
    json_t *object = json_object();

    set(object, "indices", json_pack("[i, i, i]", d->index[0], d->index[1], d->index[2]));
    set(object, "absent", json_boolean(t->absent));
    set(object, "procedural", json_boolean(t->procedural));
    set_number(object, "primitive", w->pair.primitive_index[k]);
    set_number(object, "geometry", w->pair.geometry_index[k]);
    set(object, "opaque", json_boolean(t->opaque));
    set(object, "double_sided", json_boolean(d->double_sided != 0));
    set_text(object, "cull", facet_gfx12_why_cull_name(t->cull));
    if (t->procedural) {
        return object;
    }
    set(object,
        "vertices",
        json_pack("[o, o, o]",
                  float_bits(w->pair.vertex[k][0], 3),
                  float_bits(w->pair.vertex[k][1], 3),
                  float_bits(w->pair.vertex[k][2], 3)));
    set(object, "e1", vec(t->edges.e1));
    set(object, "e2", vec(t->edges.e2));
    set(object, "e3", vec(t->edges.e3));
    set(object, "s1", vec(t->edges.s1));
    set(object, "s2", vec(t->edges.s2));
    set_float(object, "tn", t->terms.tn);
    set_float(object, "det", t->terms.det);
    set_float(object, "un", t->terms.un);
    set_float(object, "vn", t->terms.vn);
    set_float(object, "t", t->terms.t);
    set_float(object, "u", t->terms.u);
    set_float(object, "v", t->terms.v);
    set(object, "hit", json_boolean(t->miss == NULL));
    set_text(object, "miss", t->miss);
    set(object, "front", json_boolean(t->front));
    return object;
}

json_t *bvh_why_json_node(const struct facet_gfx12_why *w)
{
    json_t *object = json_object();
    json_t *registers = json_array();

    set_hex(object, "node", w->node);
    set_text(object, "kind", facet_gfx12_kind_name(w->kind));
    set_hex(object, "offset", facet_gfx12_id_offset(w->node));
    set_hex(object, "base", w->base);
    set_hex(object, "flags", w->flags);
    set(object, "ray", ray_json(&w->ray));
    if (w->no_node != NULL) {
        set_text(object, "no_node", w->no_node);
    } else if (w->kind == FACET_GFX12_KIND_BOX) {
        set_children(object, w);
    } else if (w->kind == FACET_GFX12_KIND_INSTANCE) {
        set_instance(object, w);
    } else {
        set_number(object, "pair", facet_gfx12_id_pair(w->node));
        set_number(object, "navigation", w->pair.navigation);
        set(object, "triangles", json_pack("[o, o]", tri_json(w, 0), tri_json(w, 1)));
    }
    for (unsigned i = 0; i < 10; i++) {
        (void)json_array_append_new(registers, facet_json_hex(w->v[i]));
    }
    set(object, "v", registers);
    set(object, "agrees", json_boolean(w->agrees));
    return object;
}

static json_t *item_json(uint64_t item)
{
    return item == FACET_GFX12_WHY_RETURN ? json_string("RETURN") : facet_json_hex(item);
}

json_t *bvh_why_json_step(const struct facet_gfx12_why_step *step)
{
    json_t *object = bvh_why_json_node(step->why);
    json_t *candidates = json_array();
    json_t *pushes = json_array();

    set_number(object, "step", step->number);
    set(object, "popped", json_boolean(step->popped));
    set_number(object, "returns", step->returns);
    for (unsigned i = 0; i < step->candidates; i++) {
        const struct facet_gfx12_why_candidate *c = &step->candidate[i];

        (void)json_array_append_new(candidates,
                                    json_pack("{s:i, s:b, s:s}",
                                              "triangle",
                                              (int)c->tri,
                                              "committed",
                                              c->committed,
                                              "reason",
                                              c->reason));
    }
    for (unsigned i = 0; i < step->pushes; i++) {
        (void)json_array_append_new(pushes, item_json(step->push[i]));
    }
    set(object, "candidates", candidates);
    set_float(object, "t_before", step->t_before);
    set_float(object, "t_after", step->t_after);
    set(object, "pushes", pushes);
    set_number(object, "depth", step->depth);
    set(object,
        "next",
        step->next == FACET_GFX12_INVALID || step->stop ? json_null() : item_json(step->next));
    set(object, "stop", json_boolean(step->stop));
    return object;
}

json_t *bvh_why_json_result(const struct facet_gfx12_why_result *result)
{
    const struct facet_gfx12_hit *h = &result->hit;
    json_t *object = json_object();

    set_number(object, "nodes", result->stats.steps);
    set_number(object, "boxes", result->stats.boxes);
    set_number(object, "primitives", result->stats.primitives);
    set_number(object, "instances", result->stats.instances);
    set_number(object, "max_depth", result->stats.max_depth);
    set(object, "agrees", json_boolean(result->agrees));
    set(object, "found", json_boolean(h->found));
    if (h->found) {
        set_float(object, "t", h->t);
        set_float(object, "u", h->u);
        set_float(object, "v", h->v);
        set_number(object, "primitive", h->primitive_index);
        set_number(object, "geometry", h->geometry_index);
        set(object, "backface", json_boolean(h->backface));
        set_hex(object, "node", h->node);
        set_hex(object, "base", h->base);
        set(object,
            "instance",
            h->instance != FACET_GFX12_INVALID ? facet_json_hex(h->instance) : json_null());
        set_hex(object, "user_data", h->instance_user_data);
    }
    return object;
}
