/* See why.h: --expect. */
#include "report/why.h"
#include "command/streams.h"
#include "report/why_parts.h"

#include "json/json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- the path ---- */

static void print_path(const struct facet_gfx12_why *why)
{
    report_why_label("path");
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
    report_why_label("rejected");
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
    report_why_label("fault");
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
    report_why_label("path");
    printf("none: no path leads to primitive %" PRIu32, e->primitive);
    if (e->has_geometry) {
        printf(" of geometry %" PRIu32, e->geometry);
    }
    if (e->has_instance) {
        printf(" in an instance with user data %" PRIu32, e->instance);
    }
    printf("\n");
    report_why_label("fault");
    if (why->fault == FACET_GFX12_FAULT_LOST) {
        printf("lost: the block at 0x%" PRIx64
               ", which no node names, reads as a primitive node that has it in pair %u\n",
               why->lost_offset,
               why->lost_pair);
    } else {
        printf("absent: the image does not have it\n");
    }
    report_why_label("image");
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

/* ---- the commands ---- */

static void print_answer(const struct cli_args *args,
                         const struct facet_gfx12_query *query,
                         const struct facet_gfx12_why *why,
                         const struct facet_gfx12_expect *expect,
                         const struct report_cross_check *check)
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
    report_why_label("hit");
    report_why_put_hit(&why->hit);
    printf("\n");
    report_cross_check_print(check);
}

int report_why_expect(const struct cli_args *args,
                      const struct facet_gfx12_unit *unit,
                      const struct facet_gfx12_view *view,
                      const struct facet_gfx12_query *query,
                      const struct facet_gfx12_expect *expect)
{
    struct report_cross_check check = {0};
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
        status = report_cross_check(unit, view, &walk, query, &why.hit, &check, &err);
    }
    if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else {
        code = facet_gfx12_is_expected(&why.hit, expect) ? CLI_OK : CLI_NO;
        if (!args->json) {
            print_answer(args, query, &why, expect, &check);
        } else if (cli_print_json(args, report_why_json(&why, expect, &check)) != CLI_OK) {
            code = CLI_BAD;
        }
    }
    facet_gfx12_why_free(&why);
    facet_gfx12_walk_free(&walk);
    return code;
}
