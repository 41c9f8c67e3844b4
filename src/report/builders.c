/* See builders.h. */
#include "report/builders.h"

#include "gfx12/ask/bounds.h"
#include "session/device/option.h"
#include "session/ray_file.h"
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLE_RAYS = 20000 };

/* ---- the rows of the table ---- */

struct figure {
    const char *key, *words;
    double value[2];
    int digits; /* after the point */
};

#define MOST_FIGURES 24

static double per(double a, double b)
{
    return b > 0.0 ? a / b : 0.0;
}

static void add(struct figure *list,
                unsigned *count,
                const char *key,
                const char *words,
                int digits,
                double a,
                double b)
{
    list[(*count)++] = (struct figure){key, words, {a, b}, digits};
}

static unsigned figures_of(const struct facet_gfx12_comparison *c, struct figure *list)
{
    const struct facet_gfx12_side *a = &c->side[0], *b = &c->side[1];
    const struct facet_gfx12_bvh_stats *x = &a->stats, *y = &b->stats;
    const double rays = (double)c->rays;
    unsigned n = 0;

#define ADD(key, words, digits, of_x, of_y)                                                        \
    add(list, &n, key, words, digits, (double)(of_x), (double)(of_y))
    ADD("bytes", "bytes", 0, x->bytes, y->bytes);
    ADD("reached_bytes", "bytes that are reached", 0, a->reached_bytes, b->reached_bytes);
    ADD("box_nodes", "box nodes", 0, x->box_nodes, y->box_nodes);
    ADD("primitive_nodes", "primitive nodes", 0, x->primitive_nodes, y->primitive_nodes);
    ADD("instance_nodes", "instance nodes", 0, x->instance_nodes, y->instance_nodes);
    ADD("bottom_levels", "bottom levels", 0, x->bottom_levels, y->bottom_levels);
    ADD("triangles", "triangles", 0, x->triangles, y->triangles);
    ADD("boxes", "procedural boxes", 0, x->boxes, y->boxes);
    ADD("max_depth", "depth", 0, x->max_depth, y->max_depth);
    ADD("sah_cost", "SAH cost", 2, x->sah, y->sah);
    ADD("overlap", "overlap of siblings", 4, a->overlap, b->overlap);
    ADD("children_per_box_node",
        "children per box node",
        2,
        per((double)x->child_boxes, (double)x->box_nodes),
        per((double)y->child_boxes, (double)y->box_nodes));
    ADD("pairs_per_leaf",
        "pairs per leaf",
        2,
        per((double)x->pairs, (double)x->ranges),
        per((double)y->pairs, (double)y->ranges));
    ADD("triangles_per_primitive_node",
        "triangles per primitive node",
        2,
        per((double)x->triangles, (double)x->primitive_nodes),
        per((double)y->triangles, (double)y->primitive_nodes));
    ADD("leaf_fill",
        "bits used in primitive nodes",
        3,
        per((double)x->used_bits, 1024.0 * (double)x->primitive_nodes),
        per((double)y->used_bits, 1024.0 * (double)y->primitive_nodes));
    ADD("hits", "rays that hit", 0, a->hits, b->hits);
    ADD("nodes_per_ray",
        "instructions per ray",
        3,
        per((double)a->cost.steps, rays),
        per((double)b->cost.steps, rays));
    ADD("boxes_per_ray",
        "box nodes per ray",
        3,
        per((double)a->cost.boxes, rays),
        per((double)b->cost.boxes, rays));
    ADD("pairs_per_ray",
        "pairs per ray",
        3,
        per((double)a->cost.primitives, rays),
        per((double)b->cost.primitives, rays));
    ADD("instances_per_ray",
        "instances per ray",
        3,
        per((double)a->cost.instances, rays),
        per((double)b->cost.instances, rays));
#undef ADD
    return n;
}

/* ---- text ---- */

static void print_figure(const struct figure *f)
{
    printf("%-30s %14.*f %14.*f", f->words, f->digits, f->value[0], f->digits, f->value[1]);
    if (f->value[0] > 0.0) {
        printf(" %8.3f", f->value[1] / f->value[0]);
    }
    printf("\n");
}

static void print_histogram(const char *title, const uint64_t *a, const uint64_t *b, unsigned bins)
{
    printf("%s\n", title);
    for (unsigned i = 0; i < bins; i++) {
        if (a[i] != 0 || b[i] != 0) {
            printf("  %-28u %14" PRIu64 " %14" PRIu64 "\n", i, a[i], b[i]);
        }
    }
}

static bool same_contents(const struct facet_gfx12_comparison *c)
{
    return c->only[0] == 0 && c->only[1] == 0 && c->other_flags == 0 && c->moved == 0 &&
           c->instances[0] == c->instances[1];
}

static void print_contents(const struct facet_gfx12_comparison *c)
{
    printf("same primitives: %s", c->only[0] == 0 && c->only[1] == 0 ? "yes" : "NO");
    printf(", %" PRIu64 " and %" PRIu64, c->primitives[0], c->primitives[1]);
    if (c->copies[0] != 0 || c->copies[1] != 0) {
        printf(", besides %" PRIu64 " and %" PRIu64 " copies", c->copies[0], c->copies[1]);
    }
    if (c->only[0] != 0 || c->only[1] != 0) {
        printf("; %" PRIu64 " only in A, %" PRIu64 " only in B", c->only[0], c->only[1]);
    }
    if (c->other_flags != 0) {
        printf("; %" PRIu64 " with other opacity or sides", c->other_flags);
    }
    printf("\n");
    for (unsigned i = 0; i < c->strays; i++) {
        const struct facet_gfx12_stray *s = &c->stray[i];

        printf("  only in %c: primitive %" PRIu32 ", geometry %" PRIu32 " of level %" PRIu32 "\n",
               "AB"[s->side],
               s -> primitive,
               s -> geometry,
               s -> level);
    }
    printf("same instances: %s, %" PRIu64 " and %" PRIu64,
           c->moved == 0 && c->instances[0] == c->instances[1] ? "yes" : "NO",
           c->instances[0],
           c->instances[1]);
    if (c->moved != 0) {
        printf("; %" PRIu64 " with another matrix, mask, flags or user data", c->moved);
    }
    printf("\nsame hits: %s, %" PRIu64 " ray%s",
           c->other_hits == 0 ? "yes" : "NO",
           c->rays,
           cli_s(c->rays));
    if (c->other_hits != 0) {
        printf(", %" PRIu64 " differ", c->other_hits);
    }
    printf("\n");
}

static void print_table(const struct facet_gfx12_comparison *c, bool asked)
{
    struct figure figures[MOST_FIGURES];
    const unsigned count = figures_of(c, figures);
    const struct facet_gfx12_bvh_stats *x = &c->side[0].stats, *y = &c->side[1].stats;

    if (!asked) {
        printf("The trees have different shapes: compared as the work of two builders.\n");
    }
    print_contents(c);
    printf("%-30s %14s %14s %8s\n", "", "A", "B", "B / A");
    for (unsigned i = 0; i < count; i++) {
        print_figure(&figures[i]);
    }
    print_histogram("nodes by depth", x->depth, y->depth, FACET_GFX12_DEPTH_BINS);
    print_histogram("box nodes by children", x->children, y->children, 9);
    print_histogram("primitive nodes by pairs", x->pairs_per_node, y->pairs_per_node, 9);
}

/* ---- JSON ---- */

static json_t *bins_json(const uint64_t *bins, unsigned count)
{
    json_t *list = json_array();

    while (count > 0 && bins[count - 1] == 0) {
        count--;
    }
    for (unsigned i = 0; i < count; i++) {
        (void)json_array_append_new(list, json_integer((json_int_t)bins[i]));
    }
    return list;
}

static json_t *side_json(const struct facet_gfx12_comparison *c, unsigned side)
{
    const struct facet_gfx12_bvh_stats *s = &c->side[side].stats;
    struct figure figures[MOST_FIGURES];
    const unsigned count = figures_of(c, figures);
    json_t *object = json_pack("{s:I, s:I, s:I, s:I}",
                               "primitives",
                               (json_int_t)c->primitives[side],
                               "copies",
                               (json_int_t)c->copies[side],
                               "only_here",
                               (json_int_t)c->only[side],
                               "instances",
                               (json_int_t)c->instances[side]);

    for (unsigned i = 0; i < count; i++) {
        const double value = figures[i].value[side];

        (void)json_object_set_new(object,
                                  figures[i].key,
                                  figures[i].digits == 0 ? json_integer((json_int_t)value)
                                  : isfinite(value)      ? json_real(value)
                                                         : json_null());
    }
    (void)json_object_set_new(
        object, "nodes_by_depth", bins_json(s->depth, FACET_GFX12_DEPTH_BINS));
    (void)json_object_set_new(object, "box_nodes_by_children", bins_json(s->children, 9));
    (void)json_object_set_new(object, "primitive_nodes_by_pairs", bins_json(s->pairs_per_node, 9));
    return object;
}

static json_t *comparison_json(const struct facet_gfx12_comparison *c)
{
    json_t *strays = json_array();

    for (unsigned i = 0; i < c->strays; i++) {
        const struct facet_gfx12_stray *s = &c->stray[i];

        (void)json_array_append_new(strays,
                                    json_pack("{s:s, s:I, s:I, s:I}",
                                              "only_in",
                                              s->side == 0 ? "a" : "b",
                                              "level",
                                              (json_int_t)s->level,
                                              "geometry",
                                              (json_int_t)s->geometry,
                                              "primitive",
                                              (json_int_t)s->primitive));
    }
    return json_pack("{s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
                     "same_primitives",
                     (int)(c->only[0] == 0 && c->only[1] == 0),
                     "same_instances",
                     (int)(c->moved == 0 && c->instances[0] == c->instances[1]),
                     "same_hits",
                     (int)(c->other_hits == 0),
                     "rays",
                     (json_int_t)c->rays,
                     "other_hits",
                     (json_int_t)c->other_hits,
                     "other_instances",
                     (json_int_t)c->moved,
                     "other_flags",
                     (json_int_t)c->other_flags,
                     "strays",
                     strays,
                     "a",
                     side_json(c, 0),
                     "b",
                     side_json(c, 1));
}

/* ---- the command ---- */

/* Made rays need a box to aim at; without one there are none. */
static enum facet_status make_rays(const struct cli_args *args,
                                   const struct facet_gfx12_view views[2],
                                   struct facet_gfx12_batch_ray **rays,
                                   size_t *count,
                                   struct facet_error *err)
{
    float lo[3], hi[3];

    if (cli_value(args, "rays") != NULL) {
        return session_rays_read(cli_value(args, "rays"), rays, count, err);
    }
    *rays = malloc(SAMPLE_RAYS * sizeof **rays);
    if (*rays == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for rays");
    }
    *count = 0;
    if (facet_gfx12_view_bounds(&views[0], lo, hi) || facet_gfx12_view_bounds(&views[1], lo, hi)) {
        *count = SAMPLE_RAYS;
        facet_gfx12_sample_rays(lo, hi, *rays, *count);
    }
    return FACET_OK;
}

static enum facet_status trace_there(void *device,
                                     const struct facet_gfx12_unit *unit,
                                     const facet_gfx12_tracer *tracer,
                                     const struct facet_gfx12_query *common,
                                     const struct facet_gfx12_batch_ray *rays,
                                     size_t count,
                                     struct facet_gfx12_hit *hits,
                                     struct facet_gfx12_stats *sum,
                                     struct facet_error *err)
{
    const struct facet_gfx12_device_batch batch = {
        .host = tracer, .common = common, .rays = rays, .count = count, .hits = hits, .sum = sum};
    enum facet_status status = facet_gfx12_device_image(device, unit, err);

    return status == FACET_OK ? facet_gfx12_device_trace(device, &batch, err) : status;
}

/* With the rays where --device says. */
static enum facet_status compare(const struct cli_args *args,
                                 const struct facet_gfx12_view views[2],
                                 const struct facet_gfx12_walk walks[2],
                                 const struct session_device *where,
                                 const struct facet_gfx12_batch_ray *rays,
                                 size_t count,
                                 struct facet_gfx12_comparison *out,
                                 struct facet_error *err)
{
    facet_gfx12_device *device = NULL;
    facet_pool *pool = NULL;
    enum facet_status status = facet_pool_create(0, &pool, err);

    if (status == FACET_OK) {
        status = session_device_open(args, where, NULL, &device, err);
    }
    if (status == FACET_OK) {
        status = facet_gfx12_compare(
            views, walks, rays, count, pool, device != NULL ? trace_there : NULL, device, out, err);
    }
    if (status == FACET_ERR_IO && device != NULL && where->fallback) {
        session_device_tell(args, err);
        status = facet_gfx12_compare(views, walks, rays, count, pool, NULL, NULL, out, err);
    }
    facet_gfx12_device_close(device);
    facet_pool_destroy(pool);
    return status;
}

int report_builders(const struct cli_args *args,
                    const struct facet_gfx12_view views[2],
                    const struct facet_gfx12_walk walks[2],
                    bool asked)
{
    struct facet_gfx12_batch_ray *rays = NULL;
    struct facet_gfx12_comparison comparison;
    struct session_device where;
    struct facet_error err = {0};
    size_t count = 0;
    enum facet_status status;
    int code;

    if (!session_device_read(args, &where)) {
        return CLI_BAD;
    }
    status = make_rays(args, views, &rays, &count, &err);
    if (status == FACET_OK) {
        status = compare(args, views, walks, &where, rays, count, &comparison, &err);
    }
    free(rays);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    code = same_contents(&comparison) && comparison.other_hits == 0 ? CLI_OK : CLI_NO;
    if (args->json) {
        return cli_print_json(args, comparison_json(&comparison)) == CLI_OK ? code : CLI_BAD;
    }
    print_table(&comparison, asked);
    return code;
}
