/* See why.h: --brief. */
#include "report/why.h"
#include "report/why_parts.h"

#include "gfx12/steps.h"
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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
    report_why_label("missed");
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
                             report_why_real(n->outside));
    }
    if (n->box) {
        box = json_pack("{s:o, s:i, s:o}",
                        "node",
                        facet_json_hex(n->node),
                        "child",
                        (int)n->slot,
                        "gap_t",
                        report_why_real(n->gap));
    }
    return json_pack("{s:o, s:o}", "triangle", triangle, "box", box);
}

static void print_brief(const struct facet_gfx12_query *q,
                        const struct facet_gfx12_hit *hit,
                        const struct facet_gfx12_stats *stats)
{
    report_why_label("ray");
    printf("from %.9g %.9g %.9g along %.9g %.9g %.9g, t from %.9g to %.9g\n",
           (double)q->origin[0],
           (double)q->origin[1],
           (double)q->origin[2],
           (double)q->direction[0],
           (double)q->direction[1],
           (double)q->direction[2],
           (double)q->t_min,
           (double)q->t_max);
    report_why_label("hit");
    report_why_put_hit(hit);
    printf("\n");
    report_why_label("nodes");
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
                          const struct report_cross_check *check)
{
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
                     "hit",
                     report_why_hit_json(hit),
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
                     report_cross_check_json(check));
}

int report_why_brief(const struct cli_args *args,
                     const struct facet_gfx12_unit *unit,
                     const struct facet_gfx12_view *view,
                     const struct facet_gfx12_query *query)
{
    struct near_misses near = {0};
    struct report_cross_check check = {0};
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
        status = report_cross_check(unit, view, &walk, query, &hit, &check, &err);
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
    report_cross_check_print(&check);
    return check.done && !check.agrees ? CLI_NO : CLI_OK;
}
