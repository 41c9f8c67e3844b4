/* The answer to `facet bvh why --expect` as JSON. */
#include "report/why_parts.h"

#include "json/json.h"

static const char axis_names[] = "xyz";

static json_t *triple(const float value[3])
{
    return json_pack("[o, o, o]",
                     report_why_real((double)value[0]),
                     report_why_real((double)value[1]),
                     report_why_real((double)value[2]));
}

static json_t *axis(unsigned k)
{
    return json_stringn(&axis_names[k], 1);
}

static const char *reject_name(unsigned reject)
{
    static const char *const names[] = {
        "passed", "box", "cull", "range", "triangle", "interval", "shader"};

    return names[reject];
}

static json_t *step_json(const struct facet_gfx12_why_step *s)
{
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:s, s:s}",
                               "kind",
                               facet_gfx12_kind_name(s->kind),
                               "id",
                               facet_json_hex(s->id),
                               "offset",
                               facet_json_hex(s->offset),
                               "address",
                               facet_json_hex(s->address),
                               "verdict",
                               reject_name(s->reject),
                               "cull",
                               facet_gfx12_cull_name(s->cull));

    if (s->kind == FACET_GFX12_KIND_PRIMITIVE) {
        (void)json_object_set_new(
            object, "pair", json_integer((json_int_t)facet_gfx12_id_pair(s->id)));
        (void)json_object_set_new(object, "triangle", json_integer((json_int_t)s->slot));
        return object;
    }
    (void)json_object_update_new(object,
                                 json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                                           "child",
                                           (int)s->slot,
                                           "lo",
                                           triple(s->lo),
                                           "hi",
                                           triple(s->hi),
                                           "enter_t",
                                           report_why_real((double)s->slab.min_t),
                                           "enter_axis",
                                           axis(s->near),
                                           "leave_t",
                                           report_why_real((double)s->slab.max_t),
                                           "leave_axis",
                                           axis(s->far),
                                           "cull_mask",
                                           facet_json_hex(s->cull_mask),
                                           "cull_flags",
                                           facet_json_hex(s->cull_flags)));
    return object;
}

static json_t *excess_json(const struct facet_gfx12_excess *e)
{
    if (!e->known) {
        return json_null();
    }
    return json_pack("{s:i, s:o, s:s, s:o, s:o, s:o}",
                     "step",
                     (int)e->at,
                     "axis",
                     axis(e->axis),
                     "side",
                     e->below ? "below" : "above",
                     "amount",
                     report_why_real(e->amount),
                     "grid_steps",
                     report_why_real(e->steps),
                     "ulps",
                     report_why_real(e->ulps));
}

static json_t *triangle_json(const struct facet_gfx12_why *why)
{
    return json_pack("{s:I, s:I, s:b, s:b, s:o, s:o, s:o, s:o, s:s?, s:s, s:b}",
                     "primitive",
                     (json_int_t)why->primitive,
                     "geometry",
                     (json_int_t)why->geometry,
                     "procedural",
                     (int)why->procedural,
                     "hit_by_itself",
                     (int)why->met,
                     "t",
                     report_why_real((double)why->t),
                     "u",
                     report_why_real((double)why->u),
                     "v",
                     report_why_real((double)why->v),
                     "outside",
                     report_why_real(why->outside),
                     "miss",
                     why->miss,
                     "cull",
                     facet_gfx12_cull_name(why->cull),
                     "front",
                     (int)why->front);
}

static json_t *inventory_json(const struct facet_gfx12_why *why)
{
    return json_pack("{s:I, s:I, s:I, s:[I, I], s:[I, I], s:[I, I], s:I}",
                     "triangles",
                     (json_int_t)why->triangles,
                     "boxes",
                     (json_int_t)why->boxes,
                     "instances",
                     (json_int_t)why->instances,
                     "primitives",
                     (json_int_t)why->primitive_range[0],
                     (json_int_t)why->primitive_range[1],
                     "geometries",
                     (json_int_t)why->geometry_range[0],
                     (json_int_t)why->geometry_range[1],
                     "user_data",
                     (json_int_t)why->instance_range[0],
                     (json_int_t)why->instance_range[1],
                     "broken_links",
                     (json_int_t)why->broken);
}

json_t *report_why_json(const struct facet_gfx12_why *why,
                        const struct facet_gfx12_expect *e,
                        const struct report_cross_check *check)
{
    const bool stopped = why->found && why->rejected < why->count;
    const struct facet_gfx12_why_step *at = stopped ? &why->path[why->rejected] : NULL;
    json_t *path = json_array();
    json_t *object = json_pack(
        "{s:{s:I, s:o, s:o}, s:b, s:b, s:s, s:o}",
        "expect",
        "primitive",
        (json_int_t)e->primitive,
        "geometry",
        e->has_geometry ? json_integer((json_int_t)e->geometry) : json_null(),
        "instance",
        e->has_instance ? json_integer((json_int_t)e->instance) : json_null(),
        "as_expected",
        (int)facet_gfx12_is_expected(&why->hit, e),
        "present",
        (int)why->found,
        "fault",
        why->found || why->fault == FACET_GFX12_FAULT_LOST ? facet_gfx12_fault_name(why->fault)
                                                           : "absent",
        "blame",
        why->fault == FACET_GFX12_FAULT_FLAGS || why->fault == FACET_GFX12_FAULT_MASK
            ? json_string(why->own_flags ? "image" : "ray")
            : json_null());

    for (unsigned i = 0; i < why->count; i++) {
        (void)json_array_append_new(path, step_json(&why->path[i]));
    }
    (void)json_object_update_new(
        object,
        json_pack(
            "{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
            "paths",
            (json_int_t)why->paths,
            "path",
            path,
            "rejected",
            stopped ? json_pack("{s:i, s:s, s:o}",
                                "step",
                                (int)why->rejected,
                                "by",
                                reject_name(at->reject),
                                "gap_t",
                                at->reject == FACET_GFX12_REJECT_BOX ? report_why_real(why->gap_t)
                                                                     : json_null())
                    : json_null(),
            "hit_point_outside",
            excess_json(&why->hit_point),
            "triangle_outside",
            excess_json(&why->corner),
            "lost_at",
            why->fault == FACET_GFX12_FAULT_LOST ? facet_json_hex(why->lost_offset) : json_null(),
            "triangle",
            why->found ? triangle_json(why) : json_null(),
            "hit",
            report_why_hit_json(&why->hit),
            "brute",
            report_cross_check_json(check),
            "image",
            inventory_json(why)));
    return object;
}
