/* `facet rt why` as JSON. A failed allocation leaves members out or gives NULL, which
 * cli_print_json reports. */
#include "cli/rt_why.h"

#include "cli/bvh_why.h"
#include "num/f32.h"
#include "json/json.h"

#include <string.h>

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void set_number(json_t *object, const char *key, uint64_t value)
{
    set(object, key, json_integer((json_int_t)value));
}

static void set_bits(json_t *object, const char *key, uint32_t bits)
{
    set(object, key, bvh_why_json_float(f32_from(bits)));
}

static json_t *triple(const uint32_t bits[3])
{
    return json_pack("[o, o, o]",
                     bvh_why_json_float(f32_from(bits[0])),
                     bvh_why_json_float(f32_from(bits[1])),
                     bvh_why_json_float(f32_from(bits[2])));
}

static json_t *codes(const uint32_t *elements, unsigned count)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < count; i++) {
        (void)json_array_append_new(array, facet_json_hex(elements[i]));
    }
    return array;
}

/* "A B C" as an array. */
static json_t *words(const char *text)
{
    json_t *array = json_array();

    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        (void)json_array_append_new(array, json_stringn(text, length));
        text += length + strspn(text + length, " ");
    }
    return array;
}

static json_t *flags_json(unsigned flags)
{
    char text[80];

    return flags != 0 ? words(rt_why_flags(flags, text)) : json_array();
}

static void set_verdict(json_t *object, const struct rt_why_verdict *v, unsigned flags)
{
    set(object, "outcome", json_string(v->outcome));
    set(object, "rule", json_string(v->rule));
    set(object, "requirements", words(v->rows));
    set(object, "reason", json_string(v->reason));
    set(object, "flags", flags_json(flags));
}

/* ---- boxes ---- */

static json_t *axis_json(const struct facet_rt_axis_steps *s)
{
    json_t *object = json_object();

    set_bits(object, "inv", s->inv);
    set(object, "parallel", json_boolean(s->parallel));
    if (s->parallel) {
        set(object, "inside", json_boolean(s->inside));
    } else {
        set_bits(object, "near", s->near);
        set_bits(object, "near_minus_o", s->near_o);
        set_bits(object, "far", s->far);
        set_bits(object, "far_minus_o", s->far_o);
    }
    set_bits(object, "tn", s->tn);
    set_bits(object, "tf", s->tf);
    return object;
}

static void
set_box(json_t *object, const struct facet_rt_box *box, const struct facet_rt_box_steps *s)
{
    set(object, "min", triple(box->min));
    set(object, "max", triple(box->max));
    if (s->rule >= 5) {
        set(object,
            "axes",
            json_pack("[o, o, o]",
                      axis_json(&s->axis[0]),
                      axis_json(&s->axis[1]),
                      axis_json(&s->axis[2])));
    }
    if (s->rule >= 6) {
        set_bits(object, "tn", s->slab.near);
        set_bits(object, "tf", s->slab.far);
        set_bits(object, "cn", s->slab.cnear);
        set_bits(object, "cf", s->slab.cfar);
    }
}

/* ---- triangles ---- */

static void set_triangle(json_t *object,
                         const struct rt_why *why,
                         const struct facet_rt_triangle *t,
                         const struct facet_rt_triangle_steps *s)
{
    static const char *const axes[] = {"x", "y", "z"};
    json_t *list = json_array();

    for (unsigned j = 0; j < 3; j++) {
        json_t *vertex = json_object();

        set(vertex, "corner", triple(t->v[j]));
        if (s->rule >= 6) {
            set(vertex, "minus_o", triple(s->vertex[j].p));
            set_bits(vertex, "X", s->vertex[j].x);
            set_bits(vertex, "Y", s->vertex[j].y);
            set_bits(vertex, "Q", s->vertex[j].p[s->kz]);
        }
        if (s->rule >= 9) {
            set_bits(vertex, "Z", s->vertex[j].z);
        }
        (void)json_array_append_new(list, vertex);
    }
    set(object, "vertices", list);
    if (s->rule >= 6) {
        set(object, "axes", json_pack("[s, s, s]", axes[s->kx], axes[s->ky], axes[s->kz]));
        set_bits(object, "Sx", s->sx);
        set_bits(object, "Sy", s->sy);
        set_bits(object, "Sz", s->sz);
        set_bits(object, "U", s->facet.edge[0]);
        set_bits(object, "V", s->facet.edge[1]);
        set_bits(object, "W", s->facet.edge[2]);
    }
    if (s->rule >= 8) {
        set_bits(object, "U_plus_V", s->uv);
        set_bits(object, "det", s->det);
        set_bits(object, "eps", facet_rt_epsilon(why->query.eps));
    }
    if (s->rule >= 9) {
        set_bits(object, "W_times_Z2", s->wz);
        set_bits(object, "plus_V_times_Z1", s->vz);
        set_bits(object, "T", s->T);
        set_bits(object, "t", s->facet.t);
        set(object, "front", json_boolean(s->facet.front));
    }
    if (s->rule == 11 && !why->query.pred_only) {
        set_bits(object, "u", s->facet.u);
        set_bits(object, "v", s->facet.v);
    }
}

/* ---- the job ---- */

json_t *rt_why_json_head(const struct rt_why *why)
{
    const struct facet_rt_why_query *q = &why->query;
    json_t *object = json_object();

    set(object, "element", json_string(facet_format_name(q->view->eff.elem)));
    set(object, "mode", facet_json_hex(q->view->header.mode));
    set(object, "alt", facet_json_hex(q->view->header.alt));
    set(object, "elements", codes(q->ray, FACET_RT_RAY_ELEMENTS + (q->w_guard ? 1u : 0u)));
    set(object, "o", triple(why->ray.o));
    set(object, "d", triple(why->ray.d));
    set_bits(object, "tmin", why->ray.tmin);
    set_bits(object, "tmax", why->ray.tmax);
    return object;
}

static json_t *entry_json(const char *what, const struct facet_rt_entry *entry)
{
    json_t *object = json_pack("{s:s, s:s, s:I}",
                               "event",
                               what,
                               "type",
                               rt_why_type(entry->type),
                               "index",
                               (json_int_t)entry->index);

    return object;
}

static json_t *child_event(const struct facet_rt_event *e)
{
    bool empty = e->box == NULL;
    struct rt_why_verdict v = rt_why_box_verdict(empty    ? 1
                                                 : e->nan ? 3
                                                          : e->box->rule,
                                                 empty ? FACET_RT_MISS : e->box->slab.outcome);
    json_t *object = entry_json("child", &e->entry);

    set_number(object, "child", e->entry.child);
    if (!empty) {
        set(object, "elements", codes(e->elements, FACET_RT_BOX_ELEMENTS));
        if (!e->nan) {
            set_box(object, e->wide_box, e->box);
        }
    }
    set_verdict(object, &v, e->flags);
    return object;
}

static json_t *test_event(const struct rt_why *why, const struct facet_rt_event *e, uint64_t offset)
{
    struct rt_why_verdict v =
        rt_why_triangle_verdict(why, e->nan ? 2 : e->triangle->rule, e->triangle, e->tmax);
    json_t *object = json_object();

    set(object, "event", json_string("triangle"));
    set_number(object, "triangle", e->number);
    set(object, "offset", facet_json_hex(offset));
    set_bits(object, "tmax", e->tmax);
    set(object, "elements", codes(e->elements, FACET_RT_TRIANGLE_ELEMENTS));
    if (!e->nan) {
        set_triangle(object, why, e->wide_triangle, e->triangle);
    }
    set_verdict(object, &v, e->flags);
    set(object, "choice", json_string(rt_why_choice(e->choice)));
    return object;
}

json_t *rt_why_json_event(const struct rt_why *why, const struct facet_rt_event *e, uint64_t offset)
{
    json_t *object = NULL;

    switch (e->kind) {
    case FACET_RT_EVENT_POP:
        object = entry_json("pop", &e->entry);
        set_bits(object, "tn", e->entry.near);
        set_bits(object, "tm", e->tmax);
        set(object, "entered", json_boolean(e->entered));
        set_number(object, "depth", e->depth);
        break;
    case FACET_RT_EVENT_TILE:
        object = json_pack("{s:s, s:o}", "event", "tile", "offset", facet_json_hex(offset));
        break;
    case FACET_RT_EVENT_CHILD:
        object = child_event(e);
        break;
    case FACET_RT_EVENT_SORT: {
        json_t *order = json_array();

        for (unsigned i = 0; i < e->count; i++) {
            (void)json_array_append_new(order, json_integer(e->kept[i].child));
        }
        object = json_pack("{s:s, s:o}", "event", "sort", "children", order);
        break;
    }
    case FACET_RT_EVENT_PUSH:
        object = entry_json("push", &e->entry);
        set_bits(object, "tn", e->entry.near);
        set_number(object, "depth", e->depth);
        break;
    case FACET_RT_EVENT_RANGE: {
        struct facet_rt_range range =
            facet_rtbvh_range(why->query.view, offset - why->query.view->header.heap.offset);

        object = json_pack("{s:s, s:o, s:I, s:I, s:o}",
                           "event",
                           "range",
                           "offset",
                           facet_json_hex(offset),
                           "first",
                           (json_int_t)range.first,
                           "count",
                           (json_int_t)range.count,
                           "base",
                           facet_json_hex(range.base));
        break;
    }
    case FACET_RT_EVENT_TEST:
        object = test_event(why, e, offset);
        break;
    default:
        break;
    }
    return object;
}

json_t *rt_why_json_result(const struct rt_why *why, const struct facet_rt_why_result *r)
{
    const struct facet_rtbvh_view *view = why->query.view;
    json_t *object = json_object();

    set_number(object, "boxes", r->boxes);
    set_number(object, "triangles", r->triangles);
    set(object, "flags", flags_json(r->flags));
    set_number(object, "last_ec", r->error);
    set(object, "agrees", json_boolean(r->agrees));
    set(object, "hit", json_boolean(r->hit));
    set(object, "nan", json_boolean(r->nan));
    if (r->hit) {
        set_number(object, "triangle", r->triangle);
        if (r->triangle < view->header.triangle_count) {
            set_number(object, "instance", facet_rtbvh_origin(view, r->triangle, 0));
            set_number(object, "primitive", facet_rtbvh_origin(view, r->triangle, 1));
        }
        set_number(object, "leaf", r->leaf);
        set(object, "front", json_boolean(r->front));
        set(object, "t", facet_json_hex(r->value[0]));
        set(object, "u", facet_json_hex(r->value[1]));
        set(object, "v", facet_json_hex(r->value[2]));
    }
    return object;
}

/* ---- instructions ---- */

static json_t *registers_json(const struct facet_rt_why_registers *r)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < r->count; i++) {
        (void)json_array_append_new(array, facet_json_hex(r->x[i]));
    }
    return array;
}

json_t *
rt_why_json_child(const struct rt_why *why, unsigned number, const struct facet_rt_why_child *c)
{
    struct rt_why_verdict v = rt_why_box_verdict(c->steps.rule, c->steps.lane.outcome);
    struct facet_rt_entry entry = {(uint8_t)c->stored.type, (uint8_t)number, c->stored.index, 0};
    json_t *object = entry_json("child", &entry);

    (void)why;
    set_number(object, "child", number);
    if (c->steps.rule >= 2) {
        set(object, "elements", codes(c->stored.elements, FACET_RT_BOX_ELEMENTS));
    }
    if (c->steps.rule >= 4) {
        set_box(object, &c->steps.box, &c->steps.test);
    }
    set_verdict(object, &v, c->flags);
    if (c->steps.rule == 7) {
        set_bits(object, "tnear", c->steps.lane.value[0]);
        set_bits(object, "tfar", c->steps.lane.value[1]);
    }
    set(object, "registers", registers_json(&c->registers));
    return object;
}

json_t *rt_why_json_triangle(const struct rt_why *why,
                             uint32_t number,
                             const struct facet_rt_why_triangle *t)
{
    struct rt_why_verdict v =
        rt_why_triangle_verdict(why, t->steps.rule, &t->steps.test, t->steps.ray.tmax);
    json_t *object = json_object();

    set_number(object, "triangle", number);
    set(object, "elements", codes(t->elements, FACET_RT_TRIANGLE_ELEMENTS));
    if (t->steps.rule >= 3) {
        set_triangle(object, why, &t->steps.triangle, &t->steps.test);
    }
    set_verdict(object, &v, t->flags);
    set(object, "registers", registers_json(&t->registers));
    return object;
}
