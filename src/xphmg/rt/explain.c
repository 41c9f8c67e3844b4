/* See explain.h. Steps are named as in rt-semantics.md: B1 to B7, T1 to T11. */
#include "xphmg/rt/explain.h"

#include "base/float.h"
#include "num/f32.h"
#include "num/flags.h"
#include "xphmg/units/units.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const axis_name[] = {"x", "y", "z"};

/* ---- words ---- */

/* The outcome of a test: the step of the contract, its requirement rows, and the reason in words.
 */
struct verdict {
    enum facet_rt_outcome outcome;
    char letter; /* B or T */
    unsigned rule;
    const char *rows, *reason;
};

static struct verdict box_verdict(unsigned rule, enum facet_rt_outcome outcome)
{
    static const struct {
        const char *rows, *reason;
    } rules[8] = {
        [1] = {"RT-097", "the child is empty"},
        [2] = {"RT-139", "W_GUARD and w is 0"},
        [3] = {"RT-243", "an element is NaN"},
        [4] = {"RT-149", "min > max on an axis"},
        [5] = {"RT-243", "a tn or tf is NaN"},
        [6] = {"RT-147", "cn is not <= cf"},
        [7] = {"RT-147", "cn <= cf"},
    };

    return (struct verdict){outcome, 'B', rule, rules[rule & 7].rows, rules[rule & 7].reason};
}

static struct verdict triangle_verdict(const struct facet_xphmg_rt_why_query *q,
                                       unsigned rule,
                                       const struct facet_rt_triangle_steps *s,
                                       uint32_t tmax)
{
    const bool nan = s->facet.outcome == FACET_RT_NAN;
    struct verdict v = {s->facet.outcome, 'T', rule, "RT-243", "an element is NaN"};

    switch (rule) {
    case 3:
        v.rows = "RT-209", v.reason = "the direction is zero";
        break;
    case 6:
        v.reason = "U, V or W is NaN";
        break;
    case 7:
        v.rows = q->cull_back ? "RT-155" : "RT-164";
        v.reason =
            q->cull_back ? "U, V or W is below 0 (CULL_BACK)" : "U, V and W have different signs";
        break;
    case 8:
        v.rows = nan ? v.rows : (s->det & ~F32_SIGN) == 0 ? "RT-165" : "RT-183";
        v.reason = nan ? "det is NaN" : "|det| <= eps";
        break;
    case 9:
        v.reason = "t is NaN";
        break;
    case 10:
        v.rows = "RT-166";
        v.reason = facet_float_of(s->facet.t) > facet_float_of(tmax) ? "t > tmax" : "t < tmin";
        break;
    case 11:
        v.rows = "RT-163 RT-166", v.reason = "tmin <= t <= tmax";
        break;
    default:
        v.outcome = FACET_RT_NAN;
        break;
    }
    return v;
}

static const char *choice_words(enum facet_xphmg_rt_choice choice)
{
    static const char *const words[] = {
        [FACET_XPHMG_RT_CHOICE_MISSED] = "no hit",
        [FACET_XPHMG_RT_CHOICE_FIRST] = "the first hit of the ray",
        [FACET_XPHMG_RT_CHOICE_CLOSER] = "closer than the best hit",
        [FACET_XPHMG_RT_CHOICE_LOWER] = "t of the best hit and a lower triangle or leaf index",
        [FACET_XPHMG_RT_CHOICE_REFUSED] =
            "refused: t of the best hit and no lower triangle or leaf index",
    };

    return words[choice];
}

static const char *error_words(unsigned error)
{
    static const char *const names[] = {"none",
                                        "EC_ILLEGAL",
                                        "EC_UNSUPPORTED",
                                        "EC_DESC_FAULT",
                                        "EC_QUEUE",
                                        "EC_QFULL",
                                        "EC_BVH: stack overflow or step limit (RT-128)",
                                        "EC_NUMERIC"};

    return error < sizeof names / sizeof names[0] ? names[error] : "unknown";
}

static const char *type_name(enum facet_rt_child type)
{
    return type == FACET_RT_NODE ? "node" : type == FACET_RT_LEAF ? "leaf" : "empty";
}

/* ---- pieces ---- */

static void put_flags(struct facet_record *r, unsigned flags)
{
    char text[FACET_FLAG_NAMES];

    facet_record_words(r, "flags", facet_num_flag_names(flags, text));
}

static void put_verdict(struct facet_record *r, const struct verdict *v, unsigned flags)
{
    const char *outcome = v->outcome == FACET_RT_HIT   ? "hit"
                          : v->outcome == FACET_RT_NAN ? "NaN"
                                                       : "miss";
    char rule[8];

    (void)snprintf(rule, sizeof rule, "%c%u", v->letter, v->rule % 100);
    facet_record_line(r, NULL, NULL);
    facet_record_say(r, "%s: %s (%s, %s)", outcome, v->reason, rule, v->rows);
    if (r->json) {
        facet_record_word(r, "outcome", outcome);
        facet_record_word(r, "rule", rule);
        facet_record_words(r, "requirements", v->rows);
        facet_record_word(r, "reason", v->reason);
    }
    put_flags(r, flags);
}

/* Stored codes; FP32 elements are the numbers that follow, which the text does not say twice. */
static void put_elements(struct facet_record *r,
                         const struct facet_xphmg_rt_why_query *q,
                         const uint32_t *elements,
                         unsigned count)
{
    const enum facet_format format = q->view->eff.elem;

    if (r->json || format != FACET_FMT_FP32) {
        facet_record_line(r, NULL, facet_format_name(format));
        facet_record_hexes(r, "elements", elements, count, (facet_format_width(format) + 3) / 4);
    }
}

static void put_axis(struct facet_record *r, unsigned a, const struct facet_rt_axis_steps *s)
{
    facet_record_open(r, NULL, "axis %s     ", axis_name[a]);
    facet_record_f32(r, "inv", s->inv);
    facet_record_bool(r, "parallel", s->parallel);
    if (s->parallel) {
        facet_record_say(r, ": o is %s the planes", s->inside ? "between" : "outside");
        if (r->json) {
            facet_record_bool(r, "inside", s->inside);
        }
    } else {
        facet_record_f32(r, "near", s->near);
        facet_record_f32(r, "near_minus_o", s->near_o);
        facet_record_f32(r, "far", s->far);
        facet_record_f32(r, "far_minus_o", s->far_o);
    }
    facet_record_f32(r, "tn", s->tn);
    facet_record_f32(r, "tf", s->tf);
    facet_record_say(r, "  (B5, %s)", s->parallel ? "RT-148" : "RT-147");
    facet_record_close(r);
}

static void
put_box(struct facet_record *r, const struct facet_rt_box *box, const struct facet_rt_box_steps *s)
{
    facet_record_vector(r, "min", NULL, box->min, 3);
    facet_record_vector(r, "max", NULL, box->max, 3);
    if (s->rule >= 5) {
        facet_record_list(r, "axes");
        for (unsigned a = 0; a < 3; a++) {
            put_axis(r, a, &s->axis[a]);
        }
        facet_record_close(r);
    }
    if (s->rule >= 6) {
        facet_record_line(r, "interval", "B6");
        facet_record_f32(r, "tn", s->slab.near);
        facet_record_f32(r, "tf", s->slab.far);
        facet_record_f32(r, "cn", s->slab.cnear);
        facet_record_f32(r, "cf", s->slab.cfar);
    }
}

static void put_vertex(struct facet_record *r,
                       unsigned j,
                       const uint32_t corner[3],
                       const struct facet_rt_triangle_steps *s)
{
    const struct facet_rt_vertex_steps *v = &s->vertex[j];

    facet_record_open(r, NULL, "v%u", j);
    facet_record_vector(r, "corner", NULL, corner, 3);
    if (s->rule >= 6) {
        facet_record_vector(r, "minus_o", NULL, v->p, 3);
        facet_record_line(r, "sheared", s->rule >= 9 ? "T5, T9" : "T5");
        facet_record_f32(r, "X", v->x);
        facet_record_f32(r, "Y", v->y);
        facet_record_f32(r, "Q", v->p[s->kz]);
    }
    if (s->rule >= 9) {
        facet_record_f32(r, "Z", v->z);
    }
    facet_record_close(r);
}

static void put_triangle(struct facet_record *r,
                         const struct facet_xphmg_rt_why_query *q,
                         const struct facet_rt_triangle *t,
                         const struct facet_rt_triangle_steps *s)
{
    facet_record_list(r, "vertices");
    for (unsigned j = 0; j < 3; j++) {
        put_vertex(r, j, t->v[j], s);
    }
    facet_record_close(r);
    if (s->rule >= 6) {
        char axes[8];

        (void)snprintf(
            axes, sizeof axes, "%s %s %s", axis_name[s->kx], axis_name[s->ky], axis_name[s->kz]);
        facet_record_line(r, "shear", "T4");
        facet_record_words(r, "axes", axes);
        facet_record_f32(r, "Sx", s->sx);
        facet_record_f32(r, "Sy", s->sy);
        facet_record_f32(r, "Sz", s->sz);
        facet_record_line(r, "edges", "T6, RT-240");
        facet_record_f32(r, "U", s->facet.edge[0]);
        facet_record_f32(r, "V", s->facet.edge[1]);
        facet_record_f32(r, "W", s->facet.edge[2]);
    }
    if (s->rule >= 8) {
        facet_record_line(r, "det", "T8");
        facet_record_f32(r, "U_plus_V", s->uv);
        facet_record_f32(r, "det", s->det);
        facet_record_f32(r, "eps", facet_rt_epsilon(q->eps));
    }
    if (s->rule >= 9) {
        facet_record_line(r, "distance", "T9");
        facet_record_f32(r, "W_times_Z2", s->wz);
        facet_record_f32(r, "plus_V_times_Z1", s->vz);
        facet_record_f32(r, "T", s->T);
        facet_record_f32(r, "t", s->facet.t);
        if (r->json) {
            facet_record_bool(r, "front", s->facet.front);
        }
    }
    if (s->rule == 11) {
        facet_record_line(r, s->facet.front ? "front face" : "back face", "T11");
        if (!q->pred_only) {
            facet_record_f32(r, "u", s->facet.u);
            facet_record_f32(r, "v", s->facet.v);
        }
    }
}

/* Where a triangle comes from. */
static void
put_origin(struct facet_record *r, const struct facet_xphmg_rt_why_query *q, uint32_t triangle)
{
    if (triangle < q->view->header.triangle_count) {
        facet_record_number(r, "instance", facet_rtbvh_origin(q->view, triangle, 0));
        facet_record_number(r, "primitive", facet_rtbvh_origin(q->view, triangle, 1));
    }
}

/* ---- the job ---- */

void facet_xphmg_rt_record_ray(struct facet_record *r,
                               const char *key,
                               const struct facet_xphmg_rt_why_query *q)
{
    static const char *const modes[] = {"RNE", "RTZ", "RDN", "RUP", "RMM"};
    const struct facet_eff *eff = &q->view->eff;
    struct facet_rt_ray ray;
    unsigned flags = 0;

    (void)facet_rt_ray_widen(&q->view->numbers, q->ray, &ray, &flags);
    facet_record_open(r,
                      key,
                      "ray, elements %s, rounding %s%s (RT-184)",
                      facet_format_name(eff->elem),
                      eff->rm < 5 ? modes[eff->rm] : "?",
                      eff->ftz ? ", subnormals flushed (RT-175)" : "");
    if (r->json) {
        facet_record_word(r, "element", facet_format_name(eff->elem));
        facet_record_hex(r, "mode", q->view->header.mode, 0);
        facet_record_hex(r, "alt", q->view->header.alt, 0);
    }
    put_elements(r, q, q->ray, FACET_RT_RAY_ELEMENTS + (q->w_guard ? 1u : 0u));
    facet_record_vector(r, "o", NULL, ray.o, 3);
    facet_record_vector(r, "d", NULL, ray.d, 3);
    facet_record_line(r, "interval", NULL);
    facet_record_f32(r, "tmin", ray.tmin);
    facet_record_f32(r, "tmax", ray.tmax);
    facet_record_close(r);
}

/* "event", and the heading; what the event is about follows. */
static void
open_event(struct facet_record *r, const char *event, const struct facet_xphmg_rt_entry *entry)
{
    facet_record_open(r, NULL, "%s", event);
    if (r->json) {
        facet_record_word(r, "event", event);
    }
    if (entry != NULL && r->json) {
        facet_record_word(r, "type", type_name(entry->type));
        facet_record_number(r, "index", entry->index);
    } else if (entry != NULL) {
        facet_record_say(r, " %s %" PRIu32, type_name(entry->type), entry->index);
    }
}

/* A child of a tile, up to its box: the same in a job and for RT.BBOX. */
static void
open_child(struct facet_record *r, unsigned number, const struct facet_xphmg_rt_entry *entry)
{
    facet_record_open(r, NULL, "child %u  %s", number, type_name(entry->type));
    if (r->json) {
        facet_record_word(r, "event", "child");
        facet_record_word(r, "type", type_name(entry->type));
        facet_record_number(r, "index", entry->index);
        facet_record_number(r, "child", number);
    } else if (entry->type != FACET_RT_EMPTY) {
        facet_record_say(r, " %" PRIu32, entry->index);
    }
}

static void put_child(struct facet_record *r,
                      const struct facet_xphmg_rt_why_query *q,
                      const struct facet_xphmg_rt_event *e)
{
    const unsigned rule = e->box == NULL ? 1 : e->nan ? 3 : e->box->rule;
    const struct verdict v = box_verdict(rule,
                                         e->box == NULL ? FACET_RT_MISS
                                         : e->nan       ? FACET_RT_NAN
                                                        : e->box->slab.outcome);

    open_child(r, e->entry.child, &e->entry);
    if (e->box != NULL) {
        put_elements(r, q, e->elements, FACET_RT_BOX_ELEMENTS);
    }
    if (rule >= 4) {
        put_box(r, e->wide_box, e->box);
    }
    put_verdict(r, &v, e->flags);
}

static void put_test(struct facet_record *r,
                     const struct facet_xphmg_rt_why_query *q,
                     const struct facet_xphmg_rt_event *e,
                     uint64_t offset)
{
    const struct verdict v =
        triangle_verdict(q, e->nan ? 2 : e->triangle->rule, e->triangle, e->tmax);

    open_event(r, "triangle", NULL);
    if (r->json) {
        facet_record_number(r, "triangle", e->number);
    } else {
        facet_record_say(r, " %" PRIu32, e->number);
    }
    facet_record_hex(r, "offset", offset, 0);
    facet_record_f32(r, "tmax", e->tmax);
    put_elements(r, q, e->elements, FACET_RT_TRIANGLE_ELEMENTS);
    if (!e->nan) {
        put_triangle(r, q, e->wide_triangle, e->triangle);
    }
    put_verdict(r, &v, e->flags);
    if (r->json) {
        facet_record_word(r, "choice", choice_words(e->choice));
    } else if (e->choice != FACET_XPHMG_RT_CHOICE_MISSED) {
        facet_record_line(r, choice_words(e->choice), "RT-275");
        facet_record_say(r, "%s", q->any_hit ? "; ANY_HIT: the ray ends here (RT-276)" : "");
    }
}

static void put_sort(struct facet_record *r, const struct facet_xphmg_rt_event *e)
{
    open_event(r, "sort", NULL);
    facet_record_say(r, " by cn, then by number:%s", e->count == 0 ? " no child is hit" : "");
    facet_record_list(r, "children");
    for (unsigned i = 0; i < e->count; i++) {
        facet_record_say(r, "%s child", i != 0 ? "," : "");
        facet_record_number(r, NULL, e->kept[i].child);
    }
    facet_record_close(r);
    facet_record_say(r, " (11.4, R-RT-35)");
}

static void
put_range(struct facet_record *r, const struct facet_xphmg_rt_why_query *q, uint64_t offset)
{
    const struct facet_rt_range range =
        facet_rtbvh_range(q->view, offset - q->view->header.heap.offset);

    open_event(r, "range", NULL);
    facet_record_hex(r, "offset", offset, 0);
    facet_record_number(r, "first", range.first);
    facet_record_number(r, "count", range.count);
    facet_record_hex(r, "base", range.base, 0);
    facet_record_say(r, "  (RT-100)");
}

void facet_xphmg_rt_record_event(struct facet_record *r,
                                 const struct facet_xphmg_rt_why_query *q,
                                 const struct facet_xphmg_rt_event *e,
                                 uint64_t offset)
{
    static const uint8_t indent[] = {
        [FACET_XPHMG_RT_EVENT_TILE] = 2,
        [FACET_XPHMG_RT_EVENT_CHILD] = 4,
        [FACET_XPHMG_RT_EVENT_SORT] = 2,
        [FACET_XPHMG_RT_EVENT_PUSH] = 2,
        [FACET_XPHMG_RT_EVENT_RANGE] = 2,
        [FACET_XPHMG_RT_EVENT_TEST] = 4,
    };

    if (e->kind == FACET_XPHMG_RT_EVENT_TRIANGLE) {
        return;
    }
    r->indent = indent[e->kind];
    switch (e->kind) {
    case FACET_XPHMG_RT_EVENT_POP:
        open_event(r, "pop", &e->entry);
        facet_record_f32(r, "tn", e->entry.near);
        facet_record_f32(r, "tm", e->tmax);
        facet_record_number(r, "depth", e->depth);
        facet_record_bool(r, "entered", e->entered);
        facet_record_say(r, "%s", e->entered ? "" : ": tn > tm, skipped (11.4, RT-275)");
        break;
    case FACET_XPHMG_RT_EVENT_TILE:
        open_event(r, "tile", NULL);
        facet_record_hex(r, "offset", offset, 0);
        facet_record_say(r, "  (RT-099)");
        break;
    case FACET_XPHMG_RT_EVENT_CHILD:
        put_child(r, q, e);
        break;
    case FACET_XPHMG_RT_EVENT_SORT:
        put_sort(r, e);
        break;
    case FACET_XPHMG_RT_EVENT_PUSH:
        open_event(r, "push", &e->entry);
        facet_record_f32(r, "tn", e->entry.near);
        facet_record_number(r, "depth", e->depth);
        facet_record_say(r, "  (11.4, R-RT-35)");
        break;
    case FACET_XPHMG_RT_EVENT_RANGE:
        put_range(r, q, offset);
        break;
    default:
        put_test(r, q, e, offset);
        break;
    }
    facet_record_close(r);
    r->indent = 0;
}

/* A value of the hit entry: its code, and in the text the number that it stands for. */
static void put_result(struct facet_record *r,
                       const struct facet_xphmg_rt_why_query *q,
                       const char *name,
                       uint32_t code)
{
    struct facet_conv conv = q->view->numbers.channel[3];
    unsigned flags = 0;

    conv.elem = (uint8_t)facet_rt_result_format(&q->view->numbers, q->pack_hint);
    if (r->json) {
        facet_record_hex(r, name, code, 0);
    } else {
        facet_record_value(r,
                           name,
                           code,
                           facet_format_width(conv.elem),
                           (double)facet_float_of(facet_widen(&conv, code, &flags)));
    }
}

void facet_xphmg_rt_record_result(struct facet_record *r,
                                  const char *key,
                                  const struct facet_xphmg_rt_why_query *q,
                                  const struct facet_xphmg_rt_why_result *result)
{
    facet_record_open(r, key, NULL);
    facet_record_line(r, "end", NULL);
    facet_record_number(r, "boxes", (int64_t)result->boxes);
    facet_record_number(r, "triangles", (int64_t)result->triangles);
    put_flags(r, result->flags);
    if (r->json) {
        facet_record_number(r, "last_ec", result->error);
        facet_record_bool(r, "agrees", result->agrees);
        facet_record_bool(r, "hit", result->hit);
        facet_record_bool(r, "nan", result->nan);
    } else if (result->error != 0) {
        facet_record_line(r, "the job ends with", NULL);
        facet_record_say(r, " %s", error_words(result->error));
    } else if (!result->hit) {
        facet_record_line(
            r, result->nan ? "miss: an element of the ray is NaN (RT-243)" : "miss", NULL);
    }
    if (result->hit && (r->json || result->error == 0)) {
        facet_record_line(r, "hit", NULL);
        facet_record_number(r, "triangle", result->triangle);
        put_origin(r, q, result->triangle);
        facet_record_number(r, "leaf", result->leaf);
        facet_record_bool(r, "front", result->front);
        facet_record_say(r, "%s", result->front ? "" : "  back");
        put_result(r, q, "t", result->value[0]);
        put_result(r, q, "u", result->value[1]);
        put_result(r, q, "v", result->value[2]);
    }
    facet_record_close(r);
}

/* ---- instructions ---- */

static void put_registers(struct facet_record *r,
                          const struct facet_xphmg_rt_why_registers *registers)
{
    facet_record_line(r, registers->count == 0 ? "no register: PRED_ONLY" : "registers", NULL);
    facet_record_list(r, "registers");
    for (unsigned i = 0; i < registers->count; i++) {
        facet_record_hex(r, NULL, registers->x[i], 16);
    }
    facet_record_close(r);
}

void facet_xphmg_rt_record_child(struct facet_record *r,
                                 const struct facet_xphmg_rt_why_query *q,
                                 unsigned number,
                                 const struct facet_xphmg_rt_why_child *c)
{
    const struct verdict v = box_verdict(c->steps.rule, c->steps.lane.outcome);
    const struct facet_xphmg_rt_entry entry = {
        (uint8_t)c->stored.type, (uint8_t)number, c->stored.index, 0};

    open_child(r, number, &entry);
    if (c->steps.rule >= 2) {
        put_elements(r, q, c->stored.elements, FACET_RT_BOX_ELEMENTS);
    }
    if (c->steps.rule >= 4) {
        put_box(r, &c->steps.box, &c->steps.test);
    }
    put_verdict(r, &v, c->flags);
    if (c->steps.rule == 7) {
        facet_record_line(r, "reported", q->t_clamp ? "B7, RT-135: T_CLAMP" : "B7");
        facet_record_f32(r, "tnear", c->steps.lane.value[0]);
        facet_record_f32(r, "tfar", c->steps.lane.value[1]);
    }
    put_registers(r, &c->registers);
    facet_record_close(r);
}

void facet_xphmg_rt_record_triangle(struct facet_record *r,
                                    const char *key,
                                    const struct facet_xphmg_rt_why_query *q,
                                    uint32_t number,
                                    const struct facet_xphmg_rt_why_triangle *t)
{
    const struct verdict v = triangle_verdict(q, t->steps.rule, &t->steps.test, t->steps.ray.tmax);

    facet_record_open(r, key, "RT.TRI on");
    facet_record_number(r, "triangle", number);
    if (!r->json) {
        put_origin(r, q, number);
    }
    put_elements(r, q, t->elements, FACET_RT_TRIANGLE_ELEMENTS);
    if (t->steps.rule >= 3) {
        put_triangle(r, q, &t->steps.triangle, &t->steps.test);
    }
    put_verdict(r, &v, t->flags);
    put_registers(r, &t->registers);
    facet_record_close(r);
}
