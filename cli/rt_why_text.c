/* `facet rt why` as text. Values are printed as bits and number. */
#include "cli/rt_why.h"

#include "num/f32.h"

#include <inttypes.h>
#include <stdio.h>

static const char axis_name[] = "xyz";

static void put(const char *name, uint32_t bits)
{
    printf("  %s %08" PRIX32 " (%.9g)", name, bits, (double)f32_from(bits));
}

static void put3(const char *indent, const char *name, const uint32_t bits[3])
{
    printf("%s%-9s", indent, name);
    put("x", bits[0]);
    put("y", bits[1]);
    put("z", bits[2]);
    printf("\n");
}

/* Stored codes, when they are not the FP32 numbers themselves. */
static void put_elements(const struct rt_why *why, const uint32_t *elements, unsigned count)
{
    enum facet_format format = why->query.view->eff.elem;
    int digits = (int)(facet_format_width(format) + 3) / 4;

    if (format == FACET_FMT_FP32) {
        return;
    }
    printf("      %-9s", "elements");
    for (unsigned i = 0; i < count; i++) {
        printf(" %0*" PRIX32, digits, elements[i]);
    }
    printf("  (%s)\n", facet_format_name(format));
}

static void put_flags(unsigned flags)
{
    char text[80];

    if (flags != 0) {
        printf("; raises %s", rt_why_flags(flags, text));
    }
    printf("\n");
}

static void put_verdict(const struct rt_why_verdict *v, unsigned flags)
{
    printf("      %s: %s (%s, %s)", v->outcome, v->reason, v->rule, v->rows);
    put_flags(flags);
}

/* ---- boxes ---- */

static void put_axis(unsigned a, const struct facet_rt_axis_steps *s)
{
    printf("      axis %c   ", axis_name[a]);
    put("inv", s->inv);
    if (s->parallel) {
        printf("  o is %s the planes", s->inside ? "between" : "outside");
    } else {
        put("near", s->near);
        put("near-o", s->near_o);
    }
    put("tn", s->tn);
    if (!s->parallel) {
        put("far", s->far);
        put("far-o", s->far_o);
    }
    put("tf", s->tf);
    printf("  (B5, %s)\n", s->parallel ? "RT-148" : "RT-147");
}

static void put_box(const struct facet_rt_box *box, const struct facet_rt_box_steps *s)
{
    put3("      ", "min", box->min);
    put3("      ", "max", box->max);
    if (s->rule == 4) {
        return;
    }
    for (unsigned a = 0; a < 3; a++) {
        put_axis(a, &s->axis[a]);
    }
    if (s->rule >= 6) {
        printf("      interval ");
        put("tn", s->slab.near);
        put("tf", s->slab.far);
        put("cn", s->slab.cnear);
        put("cf", s->slab.cfar);
        printf("  (B6)\n");
    }
}

/* ---- triangles ---- */

static void put_vertices(const struct facet_rt_triangle_steps *s)
{
    for (unsigned j = 0; j < 3; j++) {
        const struct facet_rt_vertex_steps *v = &s->vertex[j];
        char name[8];

        (void)snprintf(name, sizeof name, "v%u-o", j);
        put3("      ", name, v->p);
        printf("      %-9s", "");
        put("X", v->x);
        put("Y", v->y);
        put("Q", v->p[s->kz]);
        printf("  (T5)\n");
    }
}

static void put_triangle(const struct rt_why *why,
                         const struct facet_rt_triangle *t,
                         const struct facet_rt_triangle_steps *s)
{
    put3("      ", "v0", t->v[0]);
    put3("      ", "v1", t->v[1]);
    put3("      ", "v2", t->v[2]);
    if (s->rule == 3) {
        return;
    }
    printf("      %-9s  kx %c  ky %c  kz %c",
           "shear",
           axis_name[s->kx],
           axis_name[s->ky],
           axis_name[s->kz]);
    put("Sx", s->sx);
    put("Sy", s->sy);
    put("Sz", s->sz);
    printf("  (T4)\n");
    put_vertices(s);
    printf("      %-9s", "edges");
    put("U", s->facet.edge[0]);
    put("V", s->facet.edge[1]);
    put("W", s->facet.edge[2]);
    printf("  (T6, RT-240)\n");
    if (s->rule >= 8) {
        printf("      %-9s", "det");
        put("U+V", s->uv);
        put("det", s->det);
        put("eps", facet_rt_epsilon(why->query.eps));
        printf("  (T8)\n");
    }
    if (s->rule >= 9) {
        printf("      %-9s", "distance");
        put("Z0", s->vertex[0].z);
        put("Z1", s->vertex[1].z);
        put("Z2", s->vertex[2].z);
        put("W*Z2", s->wz);
        put("V*Z1+", s->vz);
        put("T", s->T);
        put("t", s->facet.t);
        printf("  (T9)\n");
    }
    if (s->rule == 11 && !why->query.pred_only) {
        printf("      %-9s", "weights");
        put("u", s->facet.u);
        put("v", s->facet.v);
        printf("  %s face  (T11)\n", s->facet.front ? "front" : "back");
    }
}

/* ---- the job ---- */

void rt_why_text_head(const struct rt_why *why)
{
    static const char *const modes[] = {"RNE", "RTZ", "RDN", "RUP", "RMM"};
    const struct facet_rt_why_query *q = &why->query;
    const struct facet_eff *eff = &q->view->eff;

    printf("ray, elements %s, rounding %s%s (RT-184)\n",
           facet_format_name(eff->elem),
           eff->rm < 5 ? modes[eff->rm] : "?",
           eff->ftz ? ", subnormals flushed (RT-175)" : "");
    put_elements(why, q->ray, FACET_RT_RAY_ELEMENTS + (q->w_guard ? 1u : 0u));
    put3("      ", "o", why->ray.o);
    put3("      ", "d", why->ray.d);
    printf("      %-9s", "interval");
    put("tmin", why->ray.tmin);
    put("tmax", why->ray.tmax);
    printf("\n");
}

static void put_entry(const struct facet_rt_entry *entry)
{
    printf(" %s %" PRIu32, rt_why_type(entry->type), entry->index);
}

static void put_child(const struct rt_why *why, const struct facet_rt_event *e)
{
    struct rt_why_verdict v = rt_why_box_verdict(e->box == NULL ? 1
                                                 : e->nan       ? 3
                                                                : e->box->rule,
                                                 e->box == NULL ? FACET_RT_MISS
                                                 : e->nan       ? FACET_RT_NAN
                                                                : e->box->slab.outcome);

    printf("    child %u ", e->entry.child);
    if (e->box == NULL) {
        printf(" empty (%s, %s)\n", v.rule, v.rows);
        return;
    }
    put_entry(&e->entry);
    printf("\n");
    put_elements(why, e->elements, FACET_RT_BOX_ELEMENTS);
    if (!e->nan) {
        put_box(e->wide_box, e->box);
    }
    put_verdict(&v, e->flags);
}

static void put_test(const struct rt_why *why, const struct facet_rt_event *e, uint64_t offset)
{
    struct rt_why_verdict v =
        rt_why_triangle_verdict(why, e->nan ? 2 : e->triangle->rule, e->triangle, e->tmax);

    printf("    triangle %" PRIu32 " at offset 0x%" PRIx64, e->number, offset);
    put("tmax", e->tmax);
    printf("\n");
    put_elements(why, e->elements, FACET_RT_TRIANGLE_ELEMENTS);
    if (!e->nan) {
        put_triangle(why, e->wide_triangle, e->triangle);
    }
    put_verdict(&v, e->flags);
    if (e->choice != FACET_RT_CHOICE_MISSED) {
        printf("      %s (RT-275)%s\n",
               rt_why_choice(e->choice),
               why->query.any_hit ? "; ANY_HIT: the ray ends here (RT-276)" : "");
    }
}

static void put_sort(const struct facet_rt_event *e)
{
    printf("  sorted by cn, then by number:%s", e->count == 0 ? " no child is hit" : "");
    for (unsigned i = 0; i < e->count; i++) {
        printf("%s child %u", i != 0 ? "," : "", e->kept[i].child);
    }
    printf(" (11.4, R-RT-35)\n");
}

void rt_why_text_event(const struct rt_why *why, const struct facet_rt_event *e, uint64_t offset)
{
    switch (e->kind) {
    case FACET_RT_EVENT_POP:
        printf("pop");
        put_entry(&e->entry);
        put("tn", e->entry.near);
        put("tm", e->tmax);
        printf("  depth %u: %s\n",
               e->depth,
               e->entered ? "entered" : "tn > tm, skipped (11.4, RT-275)");
        break;
    case FACET_RT_EVENT_TILE:
        printf("  tile at offset 0x%" PRIx64 " (RT-099)\n", offset);
        break;
    case FACET_RT_EVENT_CHILD:
        put_child(why, e);
        break;
    case FACET_RT_EVENT_SORT:
        put_sort(e);
        break;
    case FACET_RT_EVENT_PUSH:
        printf("  push");
        put_entry(&e->entry);
        put("tn", e->entry.near);
        printf("  depth %u (11.4, R-RT-35)\n", e->depth);
        break;
    case FACET_RT_EVENT_RANGE: {
        struct facet_rt_range range =
            facet_rtbvh_range(why->query.view, offset - why->query.view->header.heap.offset);

        printf("  TriRange at offset 0x%" PRIx64 ": first %" PRIu32 ", count %" PRIu32
               ", base 0x%" PRIx64 " (RT-100)\n",
               offset,
               range.first,
               range.count,
               range.base);
        break;
    }
    case FACET_RT_EVENT_TEST:
        put_test(why, e, offset);
        break;
    default:
        break;
    }
}

static void put_origin(const struct rt_why *why, uint32_t triangle)
{
    const struct facet_rtbvh_view *view = why->query.view;

    if (triangle < view->header.triangle_count) {
        printf(" (instance %" PRIu32 ", primitive %" PRIu32 ")",
               facet_rtbvh_origin(view, triangle, 0),
               facet_rtbvh_origin(view, triangle, 1));
    }
}

/* A value of the hit entry: its code, and the number that it stands for. */
static void put_result(const struct rt_why *why, const char *name, uint32_t code)
{
    struct facet_conv conv = why->query.view->numbers.channel[3];
    unsigned flags = 0;

    conv.elem = (uint8_t)facet_rt_result_format(&why->query.view->numbers, why->query.pack_hint);
    printf("  %s %0*" PRIX32 " (%.9g)",
           name,
           (int)(facet_format_width(conv.elem) + 3) / 4,
           code,
           (double)f32_from(facet_widen(&conv, code, &flags)));
}

void rt_why_text_result(const struct rt_why *why, const struct facet_rt_why_result *r)
{
    char flags[80];

    printf("end: %" PRIu64 " box tests, %" PRIu64 " triangle tests; flags %s\n",
           r->boxes,
           r->triangles,
           rt_why_flags(r->flags, flags));
    if (r->error != 0) {
        printf("the job ends with %s\n", rt_why_error(r->error));
    } else if (r->hit) {
        printf("hit  triangle %" PRIu32, r->triangle);
        put_origin(why, r->triangle);
        printf("  leaf %" PRIu32 "  %s face", r->leaf, r->front ? "front" : "back");
        put_result(why, "t", r->value[0]);
        put_result(why, "u", r->value[1]);
        put_result(why, "v", r->value[2]);
        printf("\n");
    } else {
        printf("miss%s\n", r->nan ? ": an element of the ray is NaN (RT-243)" : "");
    }
}

/* ---- instructions ---- */

static void put_registers(const struct facet_rt_why_registers *r)
{
    if (r->count == 0) {
        printf("      no register: PRED_ONLY\n");
        return;
    }
    printf("      registers");
    for (unsigned i = 0; i < r->count; i++) {
        printf("  x[rd+%u] %016" PRIX64, i, r->x[i]);
    }
    printf("\n");
}

void rt_why_text_child(const struct rt_why *why,
                       unsigned number,
                       const struct facet_rt_why_child *c)
{
    struct rt_why_verdict v = rt_why_box_verdict(c->steps.rule, c->steps.lane.outcome);

    printf("    child %u  %s", number, rt_why_type(c->stored.type));
    if (c->stored.type != FACET_RT_EMPTY) {
        printf(" %" PRIu32, c->stored.index);
    }
    printf("\n");
    if (c->steps.rule >= 2) {
        put_elements(why, c->stored.elements, FACET_RT_BOX_ELEMENTS);
    }
    if (c->steps.rule >= 4) {
        put_box(&c->steps.box, &c->steps.test);
    }
    put_verdict(&v, c->flags);
    if (c->steps.rule == 7) {
        printf("      reported ");
        put("tnear", c->steps.lane.value[0]);
        put("tfar", c->steps.lane.value[1]);
        printf("  (B7%s)\n", why->query.t_clamp ? ", RT-135: T_CLAMP" : "");
    }
    put_registers(&c->registers);
}

void rt_why_text_triangle(const struct rt_why *why,
                          uint32_t number,
                          const struct facet_rt_why_triangle *t)
{
    struct rt_why_verdict v =
        rt_why_triangle_verdict(why, t->steps.rule, &t->steps.test, t->steps.ray.tmax);

    printf("RT.TRI on triangle %" PRIu32, number);
    put_origin(why, number);
    printf("\n");
    put_elements(why, t->elements, FACET_RT_TRIANGLE_ELEMENTS);
    if (t->steps.rule >= 3) {
        put_triangle(why, &t->steps.triangle, &t->steps.test);
    }
    put_verdict(&v, t->flags);
    put_registers(&t->registers);
}
