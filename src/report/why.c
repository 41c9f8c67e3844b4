/* See why.h. */
#include "report/why.h"
#include "command/streams.h"

#include "gfx12/ask/brute.h"
#include "json/json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRUTE_LIMIT (UINT64_C(1) << 27) /* pairs: about half a minute */

/* ---- the option ---- */

bool report_expect_read(const struct cli_args *args,
                        const char *text,
                        struct facet_gfx12_expect *expect)
{
    uint64_t numbers[3] = {0};
    const char *at = text;
    unsigned count = 0;

    while (count < 3 && isdigit((unsigned char)*at)) {
        char *end;

        errno = 0;
        numbers[count] = strtoull(at, &end, 0);
        if (errno != 0 || numbers[count] > UINT32_MAX || (*end != '\0' && *end != ',')) {
            break;
        }
        count++;
        at = end;
        if (*end == '\0') {
            *expect = (struct facet_gfx12_expect){.primitive = (uint32_t)numbers[0],
                                                  .has_geometry = count > 1,
                                                  .geometry = (uint32_t)numbers[1],
                                                  .has_instance = count > 2,
                                                  .instance = (uint32_t)numbers[2]};
            return true;
        }
        at++;
    }
    (void)cli_bad(args,
                  "--expect is '%s'; expected PRIM, PRIM,GEOM or PRIM,GEOM,INST: numbers of the "
                  "primitive, its geometry and the user data of its instance",
                  text);
    return false;
}

/* ---- words ---- */

static const char axis_names[] = "xyz";

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value)
                           : json_string(isnan(value) ? "nan"
                                         : value > 0  ? "inf"
                                                      : "-inf");
}

static void label(const char *text)
{
    (void)cli_set_style(stdout, CLI_HEADLINE);
    printf("%-10s", text);
    (void)cli_set_style(stdout, CLI_NORMAL);
}

static void put_place(const struct facet_gfx12_why_step *step)
{
    printf("%s 0x%08" PRIx32 " at 0x%" PRIx64,
           facet_gfx12_kind_name(step->kind),
           step->id,
           step->offset);
    if (step->address != step->offset) {
        printf(" (address 0x%" PRIx64 ")", step->address);
    }
}

static void put_way_on(const struct facet_gfx12_why_step *step)
{
    if (step->kind == FACET_GFX12_KIND_PRIMITIVE) {
        printf(" pair %u triangle %u", facet_gfx12_id_pair(step->id), step->slot);
    } else {
        printf(" child %u", step->slot);
    }
}

static void put_hit(const struct facet_gfx12_hit *hit)
{
    if (!hit->found) {
        printf("nothing");
        return;
    }
    printf("primitive %" PRIu32 ", geometry %" PRIu32, hit->primitive_index, hit->geometry_index);
    if (hit->instance != FACET_GFX12_INVALID) {
        printf(", instance %" PRIu32, hit->instance_user_data);
    }
    printf(" at t %.9g", (double)hit->t);
}

static json_t *hit_json(const struct facet_gfx12_hit *hit)
{
    if (!hit->found) {
        return json_null();
    }
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:b, s:o}",
                     "primitive",
                     (json_int_t)hit->primitive_index,
                     "geometry",
                     (json_int_t)hit->geometry_index,
                     "instance",
                     hit->instance != FACET_GFX12_INVALID
                         ? json_integer((json_int_t)hit->instance_user_data)
                         : json_null(),
                     "t",
                     real((double)hit->t),
                     "u",
                     real((double)hit->u),
                     "v",
                     real((double)hit->v),
                     "backface",
                     (int)hit->backface,
                     "node",
                     facet_json_hex(hit->node));
}

/* ---- all triangles one by one ---- */

struct cross_check {
    bool done, agrees;
    uint64_t tested;
    struct facet_gfx12_hit hit;
};

/* Equal distances, not equal numbers: at an edge two triangles are hit at once. A search that ends
 * with the first hit has to find something. */
static bool same_answer(const struct facet_gfx12_query *query,
                        const struct facet_gfx12_hit *a,
                        const struct facet_gfx12_hit *b)
{
    bool any = (query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0;

    return a->found == b->found && (!a->found || any || a->t == b->t);
}

static enum facet_status cross_check(const struct facet_gfx12_unit *unit,
                                     const struct facet_gfx12_view *view,
                                     const struct facet_gfx12_walk *walk,
                                     const struct facet_gfx12_query *query,
                                     const struct facet_gfx12_hit *hit,
                                     struct cross_check *out,
                                     struct facet_error *err)
{
    struct facet_gfx12_brute brute;
    enum facet_status status = facet_gfx12_brute_make(view, walk, &brute, err);

    if (status == FACET_OK) {
        out->done =
            facet_gfx12_brute_trace(&brute, unit, query, BRUTE_LIMIT, &out->tested, &out->hit);
        out->agrees = out->done && same_answer(query, hit, &out->hit);
        facet_gfx12_brute_free(&brute);
    }
    return status;
}

static void print_cross_check(const struct cross_check *c)
{
    label("brute");
    if (!c->done) {
        printf("left out: more than %" PRIu64 " pairs and instances to test one by one\n",
               BRUTE_LIMIT);
        return;
    }
    printf("all %" PRIu64 " pairs and instances one by one: ", c->tested);
    put_hit(&c->hit);
    (void)cli_set_style(stdout, c->agrees ? CLI_NORMAL : CLI_ERROR);
    printf(": %s\n", c->agrees ? "agrees with the traversal" : "DISAGREES with the traversal");
    (void)cli_set_style(stdout, CLI_NORMAL);
}

static json_t *cross_check_json(const struct cross_check *c)
{
    if (!c->done) {
        return json_null();
    }
    return json_pack("{s:I, s:b, s:o}",
                     "tested",
                     (json_int_t)c->tested,
                     "agrees",
                     (int)c->agrees,
                     "hit",
                     hit_json(&c->hit));
}

/* ---- the path ---- */

static void print_path(const struct facet_gfx12_why *why)
{
    label("path");
    for (unsigned i = 0; i < why->count; i++) {
        printf("%s", i != 0 ? " > " : "");
        put_place(&why->path[i]);
        put_way_on(&why->path[i]);
    }
    if (why->paths > 1) {
        printf("; the best of %" PRIu64 " paths", why->paths);
    }
    printf("%s\n", why->cut ? "; more are left out" : "");
}

static void print_slab(const struct facet_gfx12_why_step *s)
{
    printf("%c: enters at t %.9g, %s at t %.9g (%c)",
           axis_names[s->near],
           (double)s->slab.min_t,
           s->slab.hit ? "leaves" : "has left",
           (double)s->slab.max_t,
           axis_names[s->far]);
}

static void print_verdict(const struct facet_gfx12_why *why, unsigned i)
{
    const struct facet_gfx12_why_step *s = &why->path[i];

    switch ((enum facet_gfx12_reject)s->reject) {
    case FACET_GFX12_PASSED:
        if (s->kind != FACET_GFX12_KIND_PRIMITIVE) {
            print_slab(s);
        } else {
            printf("hit at t %.9g", (double)why->t);
        }
        break;
    case FACET_GFX12_REJECT_BOX:
        print_slab(s);
        printf(", %.6g too late", (double)s->slab.min_t - (double)s->slab.limit);
        break;
    case FACET_GFX12_REJECT_CULL:
        if (s->kind == FACET_GFX12_KIND_PRIMITIVE) {
            printf("culled by %s: %s face, %s%s",
                   facet_gfx12_cull_name(s->cull),
                   why->front ? "front" : "back",
                   why->opaque ? "opaque" : "not opaque",
                   why->double_sided ? ", double-sided" : "");
        } else {
            printf("culled by %s: %s mask 0x%02x, flags 0x%x",
                   facet_gfx12_cull_name(s->cull),
                   s->whole ? "instance" : "child",
                   s->cull_mask,
                   s->cull_flags);
        }
        break;
    case FACET_GFX12_REJECT_RANGE:
        printf("not in the range: it stops at pair %u of the node at 0x%" PRIx64,
               why->stop_pair,
               why->stop_offset);
        break;
    case FACET_GFX12_REJECT_TRIANGLE:
        printf("triangle test: %s (t %.9g, u %.9g, v %.9g)",
               why->miss,
               (double)why->t,
               (double)why->u,
               (double)why->v);
        if (why->outside > 0.0) {
            printf(", outside by %.6g", why->outside);
        }
        break;
    case FACET_GFX12_REJECT_INTERVAL:
        printf("hit at t %.9g, outside the interval of the ray", (double)why->t);
        break;
    case FACET_GFX12_REJECT_SHADER:
        printf("procedural: %s", why->miss);
        break;
    }
}

/* The path as a tree, one node per line. */
static void print_tree(const struct facet_gfx12_why *why)
{
    for (unsigned i = 0; i < why->count; i++) {
        bool bad = why->path[i].reject != FACET_GFX12_PASSED;

        printf("%*s", (int)(2 * i), "");
        put_place(&why->path[i]);
        put_way_on(&why->path[i]);
        (void)cli_set_style(stdout, bad ? CLI_ERROR : CLI_NORMAL);
        printf("  %s  ", bad ? "REJECTED" : "passed");
        (void)cli_set_style(stdout, CLI_NORMAL);
        print_verdict(why, i);
        printf("\n");
    }
}

static void put_excess(const struct facet_gfx12_excess *e)
{
    printf("%.4g steps of the grid (%.6g, %.4g ulp) %s on %c",
           e->steps,
           e->amount,
           e->ulps,
           e->below ? "below it" : "above it",
           axis_names[e->axis]);
}

static void print_rejection(const struct facet_gfx12_why *why)
{
    label("rejected");
    if (why->rejected == why->count) {
        printf("nowhere: every test of the path is passed\n");
        return;
    }
    printf("by ");
    put_place(&why->path[why->rejected]);
    put_way_on(&why->path[why->rejected]);
    printf(": ");
    print_verdict(why, why->rejected);
    printf("\n");
}

/* ---- the verdict ---- */

static void print_reason(const struct facet_gfx12_why *why, const struct facet_gfx12_query *query)
{
    switch (why->fault) {
    case FACET_GFX12_FAULT_NONE:
        printf("hit as expected at t %.9g", (double)why->hit.t);
        break;
    case FACET_GFX12_FAULT_NEARER:
        printf("%s; the triangle itself would be hit at t %.9g",
               (query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0
                   ? "another hit ended the search (TERMINATE_ON_FIRST_HIT)"
                   : "another triangle is hit before it",
               (double)why->t);
        break;
    case FACET_GFX12_FAULT_BOX:
        printf("the triangle itself is hit at t %.9g (u %.9g, v %.9g), a point outside the box: ",
               (double)why->t,
               (double)why->u,
               (double)why->v);
        put_excess(&why->hit_point);
        break;
    case FACET_GFX12_FAULT_ROUNDING:
        printf("the triangle itself is hit at t %.9g, a point in the box: the slab test rounds "
               "the ray out of it (box_grow_value of the descriptor)",
               (double)why->t);
        break;
    case FACET_GFX12_FAULT_RAY:
        if (why->miss != NULL) {
            printf("the ray misses the triangle itself: %s", why->miss);
        } else {
            printf("the triangle is hit at t %.9g, not between %.9g and %.9g",
                   (double)why->t,
                   (double)query->t_min,
                   (double)query->t_max);
        }
        break;
    case FACET_GFX12_FAULT_FLAGS:
        printf("%s",
               why->own_flags ? "the box promises what its triangle is not (cull_flags)"
                              : "the flags of the ray leave this triangle out");
        break;
    case FACET_GFX12_FAULT_MASK:
        if (why->own_flags) {
            printf("the mask of the box leaves out what is below it");
        } else {
            printf("the mask of the instance and the mask of the ray (0x%02" PRIx32
                   ") have no bit in common",
                   query->instance_mask);
        }
        break;
    case FACET_GFX12_FAULT_TRANSFORM:
        printf("the matrix of the instance puts the triangle outside the box above it, child %u of "
               "the node at 0x%" PRIx64 ": ",
               why->path[why->corner.at].slot,
               why->path[why->corner.at].offset);
        put_excess(&why->corner);
        break;
    case FACET_GFX12_FAULT_RANGE:
        printf("a stop bit ends the range early; the triangle itself is %s",
               why->met ? "hit" : "not hit either");
        break;
    default:
        break;
    }
}

static void print_fault(const struct facet_gfx12_why *why, const struct facet_gfx12_query *query)
{
    label("fault");
    (void)cli_set_style(stdout, why->fault != FACET_GFX12_FAULT_NONE ? CLI_ERROR : CLI_NORMAL);
    printf("%s", facet_gfx12_fault_name(why->fault));
    (void)cli_set_style(stdout, CLI_NORMAL);
    printf(": ");
    print_reason(why, query);
    if (why->corner.known && why->fault != FACET_GFX12_FAULT_TRANSFORM) {
        printf("; the triangle leaves child %u of the node at 0x%" PRIx64 ": ",
               why->path[why->corner.at].slot,
               why->path[why->corner.at].offset);
        put_excess(&why->corner);
    }
    printf("\n");
}

static void print_range(const char *name, const char *names, const uint32_t range[2])
{
    if (range[0] == range[1]) {
        printf(", %s %" PRIu32, name, range[0]);
    } else {
        printf(", %s %" PRIu32 " to %" PRIu32, names, range[0], range[1]);
    }
}

/* What there is instead of a triangle that is not there. */
static void print_absent(const struct facet_gfx12_why *why, const struct facet_gfx12_expect *e)
{
    label("path");
    printf("none: no path leads to primitive %" PRIu32, e->primitive);
    if (e->has_geometry) {
        printf(" of geometry %" PRIu32, e->geometry);
    }
    if (e->has_instance) {
        printf(" in an instance with user data %" PRIu32, e->instance);
    }
    printf("\n");
    label("fault");
    if (why->fault == FACET_GFX12_FAULT_LOST) {
        printf("lost: the block at 0x%" PRIx64
               ", which no node names, reads as a primitive node that has it in pair %u\n",
               why->lost_offset,
               why->lost_pair);
    } else {
        printf("absent: the image does not have it\n");
    }
    label("image");
    printf("%" PRIu64 " triangle%s, %" PRIu64 " procedural box%s",
           why->triangles,
           cli_s(why->triangles),
           why->boxes,
           why->boxes == 1 ? "" : "es");
    if (why->triangles + why->boxes != 0) {
        print_range("primitive", "primitives", why->primitive_range);
        print_range("geometry", "geometries", why->geometry_range);
    }
    if (why->instances != 0) {
        print_range("instance", "instances", why->instance_range);
    }
    if (why->broken != 0) {
        printf("; %" PRIu32 " broken or shared link%s, see `facet bvh check`",
               why->broken,
               cli_s(why->broken));
    }
    printf("\n");
}

/* ---- JSON ---- */

static json_t *triple(const float value[3])
{
    return json_pack(
        "[o, o, o]", real((double)value[0]), real((double)value[1]), real((double)value[2]));
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
                                           real((double)s->slab.min_t),
                                           "enter_axis",
                                           axis(s->near),
                                           "leave_t",
                                           real((double)s->slab.max_t),
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
                     real(e->amount),
                     "grid_steps",
                     real(e->steps),
                     "ulps",
                     real(e->ulps));
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
                     real((double)why->t),
                     "u",
                     real((double)why->u),
                     "v",
                     real((double)why->v),
                     "outside",
                     real(why->outside),
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

static json_t *answer_json(const struct facet_gfx12_why *why,
                           const struct facet_gfx12_expect *e,
                           const struct cross_check *check)
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
            stopped
                ? json_pack("{s:i, s:s, s:o}",
                            "step",
                            (int)why->rejected,
                            "by",
                            reject_name(at->reject),
                            "gap_t",
                            at->reject == FACET_GFX12_REJECT_BOX ? real(why->gap_t) : json_null())
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
            hit_json(&why->hit),
            "brute",
            cross_check_json(check),
            "image",
            inventory_json(why)));
    return object;
}

/* ---- the commands ---- */

static void print_answer(const struct cli_args *args,
                         const struct facet_gfx12_query *query,
                         const struct facet_gfx12_why *why,
                         const struct facet_gfx12_expect *expect,
                         const struct cross_check *check)
{
    if (!why->found) {
        print_absent(why, expect);
    } else if (cli_given(args, "tree")) {
        print_tree(why);
        print_fault(why, query);
    } else {
        print_path(why);
        print_rejection(why);
        print_fault(why, query);
    }
    label("hit");
    put_hit(&why->hit);
    printf("\n");
    print_cross_check(check);
}

int report_why_expect(const struct cli_args *args,
                      const struct facet_gfx12_unit *unit,
                      const struct facet_gfx12_view *view,
                      const struct facet_gfx12_query *query,
                      const struct facet_gfx12_expect *expect)
{
    struct cross_check check = {0};
    struct facet_gfx12_walk walk;
    struct facet_gfx12_why why = {0};
    struct facet_error err = {0};
    enum facet_status status = facet_gfx12_walk(view, &walk, &err);
    int code = CLI_BAD;

    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    status = facet_gfx12_why(unit, view, &walk, query, expect, &why, &err);
    if (status == FACET_OK) {
        status = cross_check(unit, view, &walk, query, &why.hit, &check, &err);
    }
    if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else {
        code = facet_gfx12_is_expected(&why.hit, expect) ? CLI_OK : CLI_NO;
        if (!args->json) {
            print_answer(args, query, &why, expect, &check);
        } else if (cli_print_json(args, answer_json(&why, expect, &check)) != CLI_OK) {
            code = CLI_BAD;
        }
    }
    facet_gfx12_why_free(&why);
    facet_gfx12_walk_free(&walk);
    return code;
}

/* ---- any ray in short ---- */

/* What the ray came closest to without hitting it, of what the traversal tested. */
struct near_misses {
    bool triangle, box;
    struct facet_gfx12_hit nearest; /* t, u, v and the numbers of the triangle */
    const char *miss;
    double outside; /* of barycentric coordinates */
    double gap;     /* of the box, in t */
    uint32_t node;
    uint64_t base;
    unsigned slot;
};

static void note_triangle(struct near_misses *n, const struct facet_gfx12_steps *s, unsigned k)
{
    const struct facet_gfx12_tri_steps *tri = &s->tri[k];
    const struct facet_gfx12_tri_terms *t = &tri->test.terms;
    double outside = fmax(fmax(-(double)t->u, -(double)t->v), (double)t->u + (double)t->v - 1.0);

    if (tri->procedural || tri->miss == NULL || facet_gfx12_tri_absent(&s->pair.desc.tri[k]) ||
        !isfinite(outside) || outside <= 0.0 || (n->triangle && outside >= n->outside)) {
        return;
    }
    n->triangle = true;
    n->outside = outside;
    n->miss = tri->miss;
    n->nearest = (struct facet_gfx12_hit){.t = t->t,
                                          .primitive_index = s->pair.primitive_index[k],
                                          .geometry_index = s->pair.geometry_index[k]};
}

static void note_turn(void *context, const struct facet_gfx12_turn *turn)
{
    const struct facet_gfx12_steps *s = &turn->steps;
    struct near_misses *n = context;

    if (s->kind == FACET_GFX12_KIND_PRIMITIVE) {
        note_triangle(n, s, 0);
        note_triangle(n, s, 1);
        return;
    }
    for (unsigned i = 0; (s->kind == FACET_GFX12_KIND_BOX ||
                          (s->kind == FACET_GFX12_KIND_INSTANCE && s->instance_cull == 0)) &&
                         i < s->count;
         i++) {
        const struct facet_gfx12_slab *slab = &s->child[i].slab.slab;
        double gap = (double)slab->min_t - (double)slab->limit;

        if (s->child[i].cull == 0 && !slab->hit && isfinite(gap) && (!n->box || gap < n->gap)) {
            n->box = true;
            n->gap = gap;
            n->node = s->node;
            n->base = s->base;
            n->slot = i;
        }
    }
}

static void print_near_misses(const struct near_misses *n)
{
    label("missed");
    if (n->triangle) {
        printf("closest primitive %" PRIu32 ", geometry %" PRIu32 ": %s, outside by %.6g",
               n->nearest.primitive_index,
               n->nearest.geometry_index,
               n->miss,
               n->outside);
    } else {
        printf("no triangle that was tested");
    }
    if (n->box) {
        printf("; closest box: child %u of 0x%08" PRIx32 " at address 0x%" PRIx64 ", by %.6g in t",
               n->slot,
               n->node,
               (facet_gfx12_base_address(n->base) + facet_gfx12_id_offset(n->node)) &
                   ((UINT64_C(1) << 48) - 1),
               n->gap);
    }
    printf("\n");
}

static json_t *near_misses_json(const struct near_misses *n)
{
    json_t *triangle = json_null(), *box = json_null();

    if (n->triangle) {
        triangle = json_pack("{s:I, s:I, s:s, s:o}",
                             "primitive",
                             (json_int_t)n->nearest.primitive_index,
                             "geometry",
                             (json_int_t)n->nearest.geometry_index,
                             "miss",
                             n->miss,
                             "outside",
                             real(n->outside));
    }
    if (n->box) {
        box = json_pack("{s:o, s:i, s:o}",
                        "node",
                        facet_json_hex(n->node),
                        "child",
                        (int)n->slot,
                        "gap_t",
                        real(n->gap));
    }
    return json_pack("{s:o, s:o}", "triangle", triangle, "box", box);
}

static void print_brief(const struct facet_gfx12_query *q,
                        const struct facet_gfx12_hit *hit,
                        const struct facet_gfx12_stats *stats)
{
    label("ray");
    printf("from %.9g %.9g %.9g along %.9g %.9g %.9g, t from %.9g to %.9g\n",
           (double)q->origin[0],
           (double)q->origin[1],
           (double)q->origin[2],
           (double)q->direction[0],
           (double)q->direction[1],
           (double)q->direction[2],
           (double)q->t_min,
           (double)q->t_max);
    label("hit");
    put_hit(hit);
    printf("\n");
    label("nodes");
    printf("%" PRIu64 " instruction%s: %" PRIu64 " box%s, %" PRIu64 " instance%s, %" PRIu64
           " pair%s; %" PRIu32 " deep\n",
           stats->steps,
           cli_s(stats->steps),
           stats->boxes,
           stats->boxes == 1 ? "" : "es",
           stats->instances,
           cli_s(stats->instances),
           stats->primitives,
           cli_s(stats->primitives),
           stats->max_depth);
}

static json_t *brief_json(const struct facet_gfx12_hit *hit,
                          const struct facet_gfx12_stats *stats,
                          const struct near_misses *near,
                          const struct cross_check *check)
{
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
                     "hit",
                     hit_json(hit),
                     "nodes",
                     (json_int_t)stats->steps,
                     "boxes",
                     (json_int_t)stats->boxes,
                     "instances",
                     (json_int_t)stats->instances,
                     "pairs",
                     (json_int_t)stats->primitives,
                     "max_depth",
                     (json_int_t)stats->max_depth,
                     "missed",
                     near_misses_json(near),
                     "brute",
                     cross_check_json(check));
}

int report_why_brief(const struct cli_args *args,
                     const struct facet_gfx12_unit *unit,
                     const struct facet_gfx12_view *view,
                     const struct facet_gfx12_query *query)
{
    struct near_misses near = {0};
    struct cross_check check = {0};
    struct facet_gfx12_stats stats;
    struct facet_gfx12_hit hit;
    struct facet_gfx12_walk walk;
    struct facet_error err = {0};
    enum facet_status status =
        facet_gfx12_trace_watched(unit, query, note_turn, &near, &hit, &stats, &err);

    if (status == FACET_OK) {
        status = facet_gfx12_walk(view, &walk, &err);
    }
    if (status == FACET_OK) {
        status = cross_check(unit, view, &walk, query, &hit, &check, &err);
        facet_gfx12_walk_free(&walk);
    }
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        int code = cli_print_json(args, brief_json(&hit, &stats, &near, &check));

        return code == CLI_OK && check.done && !check.agrees ? CLI_NO : code;
    }
    print_brief(query, &hit, &stats);
    print_near_misses(&near);
    print_cross_check(&check);
    return check.done && !check.agrees ? CLI_NO : CLI_OK;
}
