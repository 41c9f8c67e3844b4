/* See export.h: what the writers share, and the two that write text. */
#include "report/export.h"

#include "base/float.h"
#include "base/strbuf.h"
#include "gfx12/ask/bounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POINTS (UINT64_C(1) << 26)
#define MAX_VISITS (UINT64_C(1) << 24) /* of instances */

const uint8_t report_box_edges[12][2] = {
    {0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};

/* ---- parts of the lists ---- */

#define DEFINE_PART(function, list, list_count)                                                    \
    void function(                                                                                 \
        const struct facet_gfx12_gathered *g, uint32_t level, uint64_t *first, uint64_t *count)    \
    {                                                                                              \
        uint64_t lo = 0, hi = g->list_count, end;                                                  \
                                                                                                   \
        while (lo < hi) {                                                                          \
            uint64_t middle = lo + (hi - lo) / 2;                                                  \
                                                                                                   \
            if (g->list[middle].level < level) {                                                   \
                lo = middle + 1;                                                                   \
            } else {                                                                               \
                hi = middle;                                                                       \
            }                                                                                      \
        }                                                                                          \
        for (end = lo; end < g->list_count && g->list[end].level == level; end++) {                \
        }                                                                                          \
        *first = lo;                                                                               \
        *count = end - lo;                                                                         \
    }

DEFINE_PART(report_boxes_of, boxes, box_count)
DEFINE_PART(report_triangles_of, triangles, triangle_count)
DEFINE_PART(report_instances_of, instances, instance_count)

/* ---- places ---- */

static void move_point(double m[3][4], const float from[3], float to[3])
{
    for (unsigned r = 0; r < 3; r++) {
        to[r] = (float)(m[r][0] * (double)from[0] + m[r][1] * (double)from[1] +
                        m[r][2] * (double)from[2] + m[r][3]);
    }
}

static bool matrix_of(const struct facet_gfx12_gathered_instance *instance, double m[3][4])
{
    float to_object[3][4];

    memcpy(to_object, instance->stored.world_to_object, sizeof to_object);
    return facet_gfx12_object_to_world((const float(*)[4])to_object, m);
}

bool report_instance_box(const struct facet_gfx12_gathered_instance *instance, float corner[8][3])
{
    const struct facet_gfx12_instance *node = &instance->stored;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double m[3][4];

    for (unsigned i = 0; i <= (node->child_count_minus_one & 3u); i++) {
        uint32_t lo[3], hi[3];

        facet_gfx12_child_bounds(&node->child[i], node->origin, node->exponent, lo, hi);
        for (unsigned k = 0; k < 3; k++) {
            low[k] = fminf(low[k], facet_float_of(lo[k]));
            high[k] = fmaxf(high[k], facet_float_of(hi[k]));
        }
    }
    if (!(low[0] <= high[0]) || !matrix_of(instance, m)) {
        return false;
    }
    for (unsigned i = 0; i < 8; i++) {
        const float point[3] = {(i & 1) != 0 ? high[0] : low[0],
                                (i & 2) != 0 ? high[1] : low[1],
                                (i & 4) != 0 ? high[2] : low[2]};

        move_point(m, point, corner[i]);
    }
    return true;
}

static enum facet_status
hand_over(struct facet_strbuf *text, struct facet_bytes *out, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    if (!text->failed) {
        out->size = text->length;
        out->data = malloc(text->length + 1);
    }
    if (text->failed || out->data == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the file");
    } else {
        memcpy(out->data, facet_strbuf_text(text), text->length);
    }
    facet_strbuf_free(text);
    return status;
}

/* ---- Wavefront OBJ ---- */

struct obj {
    const struct facet_gfx12_gathered *g;
    const struct report_parts *what;
    struct facet_strbuf text;
    uint64_t points, visits;
    bool too_much, too_deep;
};

static void put_points(struct obj *o, double m[3][4], const float (*points)[3], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        float p[3];

        memcpy(p, points[i], sizeof p);
        if (m != NULL) {
            move_point(m, points[i], p);
        }
        facet_strbuf_printf(
            &o->text, "v %.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
    }
    o->points += count;
    o->too_much = o->too_much || o->points > MAX_POINTS;
}

static void put_box(struct obj *o, double m[3][4], const float corner[8][3])
{
    put_points(o, m, corner, 8);
    facet_progress_add(o->what->progress, 1);
    for (unsigned i = 0; i < 12; i++) {
        facet_strbuf_printf(&o->text,
                            "l %" PRIu64 " %" PRIu64 "\n",
                            o->points - 7 + report_box_edges[i][0],
                            o->points - 7 + report_box_edges[i][1]);
    }
}

static void put_level_triangles(struct obj *o, uint32_t level, double m[3][4], const char *place)
{
    uint64_t first, count;

    report_triangles_of(o->g, level, &first, &count);
    for (uint64_t i = 0; i < count && !o->too_much; i++) {
        const struct facet_gfx12_gathered_triangle *t = &o->g->triangles[first + i];

        if (i == 0 || t->geometry != t[-1].geometry) {
            facet_strbuf_printf(&o->text, "g %s_geometry_%" PRIu32 "\n", place, t->geometry);
        }
        put_points(o, m, t->corner, 3);
        facet_progress_add(o->what->progress, 1);
        facet_strbuf_printf(&o->text,
                            "f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                            o->points - 2,
                            o->points - 1,
                            o->points);
    }
}

static void put_level_boxes(struct obj *o, uint32_t level, double m[3][4], const char *place)
{
    uint64_t first, count;

    report_boxes_of(o->g, level, &first, &count);
    for (uint64_t i = 0; i < count && !o->too_much; i++) {
        const struct facet_gfx12_gathered_box *b = &o->g->boxes[first + i];

        if (i == 0 || b->depth != b[-1].depth) {
            facet_strbuf_printf(&o->text, "g %s_depth_%" PRIu32 "\n", place, b->depth);
        }
        put_box(o, m, b->corner);
    }
}

static void compose(double a[3][4], double b[3][4], double out[3][4])
{
    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 4; c++) {
            out[r][c] = c == 3 ? a[r][3] : 0.0;
            for (unsigned k = 0; k < 3; k++) {
                out[r][c] += a[r][k] * b[k][c];
            }
        }
    }
}

/* Everything of a level at a place; `m` is NULL at the top. */
static void
put_level(struct obj *o, uint32_t level, double m[3][4], const char *place, unsigned nesting)
{
    uint64_t first, count;

    if (o->what->triangles) {
        put_level_triangles(o, level, m, place);
    }
    if (o->what->boxes) {
        put_level_boxes(o, level, m, place);
    }
    report_instances_of(o->g, level, &first, &count);
    o->visits += count; /* levels that have nothing to write must end too */
    o->too_much = o->too_much || o->visits > MAX_VISITS;
    o->too_deep = o->too_deep || (nesting >= REPORT_MAX_NESTING && count != 0);
    for (uint64_t i = 0; i < count && !o->too_much && !o->too_deep; i++) {
        const struct facet_gfx12_gathered_instance *in = &o->g->instances[first + i];
        double own[3][4], whole[3][4];
        float corner[8][3];
        char name[64];

        if (o->what->instances && report_instance_box(in, corner)) {
            facet_strbuf_printf(&o->text, "g %s_instances\n", place);
            put_box(o, m, (const float(*)[3])corner);
        }
        if (in->below == FACET_GFX12_NO_NODE || in->below == level || !matrix_of(in, own)) {
            continue;
        }
        if (m != NULL) {
            compose(m, own, whole);
        } else {
            memcpy(whole, own, sizeof whole);
        }
        (void)snprintf(name, sizeof name, "instance_%" PRIu32, in->stored.user_data);
        put_level(o, in->below, whole, name, nesting + 1);
    }
}

enum facet_status report_nested_too_deep(struct facet_error *err)
{
    return facet_fail(
        err,
        FACET_ERR_LIMIT,
        0,
        "instances are nested more than %d deep: a .json file has each level as it is "
        "stored",
        REPORT_MAX_NESTING);
}

enum facet_status report_export_obj(const struct facet_gfx12_gathered *gathered,
                                    const struct report_parts *what,
                                    struct facet_bytes *out,
                                    struct facet_error *err)
{
    struct obj o = {.g = gathered, .what = what};

    facet_strbuf_printf(&o.text, "# facet bvh export\n");
    put_level(&o, gathered->root_level, NULL, "top", 0);
    if (o.too_deep) {
        facet_strbuf_free(&o.text);
        return report_nested_too_deep(err);
    }
    if (o.too_much) {
        facet_strbuf_free(&o.text);
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "more than %" PRIu64 " points or %" PRIu64
                          " instances spelled out: choose "
                          "a --depth, or .glb, which stores a bottom level once",
                          MAX_POINTS,
                          MAX_VISITS);
    }
    return hand_over(&o.text, out, err);
}

/* ---- JSON ---- */

/* Enough digits for a float; what JSON has no number for as a word. */
static void put_number(struct facet_strbuf *b, float value)
{
    if (isfinite(value)) {
        facet_strbuf_printf(b, "%.9g", (double)value);
    } else {
        facet_strbuf_printf(b, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
    }
}

static void put_numbers(struct facet_strbuf *b, const float *values, unsigned count)
{
    facet_strbuf_printf(b, "[");
    for (unsigned i = 0; i < count; i++) {
        facet_strbuf_printf(b, "%s", i != 0 ? ", " : "");
        put_number(b, values[i]);
    }
    facet_strbuf_printf(b, "]");
}

static void put_bits(struct facet_strbuf *b, const uint32_t *bits, unsigned count)
{
    float values[12];

    memcpy(values, bits, count * sizeof *values);
    put_numbers(b, values, count);
}

static void json_boxes(const struct facet_gfx12_gathered *g,
                       struct facet_progress *progress,
                       struct facet_strbuf *b)
{
    for (uint64_t i = 0; i < g->box_count; i++) {
        const struct facet_gfx12_gathered_box *x = &g->boxes[i];

        facet_strbuf_printf(b,
                            "%s\n    {\"level\": %" PRIu32 ", \"depth\": %" PRIu32
                            ", \"node\": \"0x%" PRIx64 "\"",
                            i != 0 ? "," : "",
                            x->level,
                            x->depth,
                            x->node);
        if (x->slot == FACET_GFX12_PROCEDURAL_BOX) {
            facet_strbuf_printf(b, ", \"primitive\": %" PRIu32, x->id);
        } else {
            facet_strbuf_printf(b, ", \"child\": %u, \"id\": \"0x%" PRIx32 "\"", x->slot, x->id);
        }
        if (x->obb != FACET_GFX12_OBB_NONE) {
            facet_strbuf_printf(b, ", \"obb\": %u", x->obb);
        }
        facet_strbuf_printf(b, ", \"lo\": ");
        put_bits(b, x->lo, 3);
        facet_strbuf_printf(b, ", \"hi\": ");
        put_bits(b, x->hi, 3);
        facet_strbuf_printf(b, "}");
        facet_progress_add(progress, 1);
    }
}

static void json_triangles(const struct facet_gfx12_gathered *g,
                           struct facet_progress *progress,
                           struct facet_strbuf *b)
{
    for (uint64_t i = 0; i < g->triangle_count; i++) {
        const struct facet_gfx12_gathered_triangle *t = &g->triangles[i];

        facet_strbuf_printf(b,
                            "%s\n    {\"level\": %" PRIu32 ", \"geometry\": %" PRIu32
                            ", \"primitive\": %" PRIu32 ", \"node\": \"0x%" PRIx64
                            "\", \"opaque\": %s, \"double_sided\": %s, \"vertices\": [",
                            i != 0 ? "," : "",
                            t->level,
                            t->geometry,
                            t->primitive,
                            t->node,
                            t->opaque ? "true" : "false",
                            t->double_sided ? "true" : "false");
        for (unsigned c = 0; c < 3; c++) {
            facet_strbuf_printf(b, "%s", c != 0 ? ", " : "");
            put_numbers(b, t->corner[c], 3);
        }
        facet_strbuf_printf(b, "]}");
        facet_progress_add(progress, 1);
    }
}

static void json_instances(const struct facet_gfx12_gathered *g, struct facet_strbuf *b)
{
    for (uint64_t i = 0; i < g->instance_count; i++) {
        const struct facet_gfx12_gathered_instance *in = &g->instances[i];

        facet_strbuf_printf(b,
                            "%s\n    {\"level\": %" PRIu32 ", \"node\": \"0x%" PRIx64
                            "\", \"depth\": %" PRIu32 ", \"user_data\": %" PRIu32
                            ", \"mask\": %u, \"flags\": %u, \"shows\": ",
                            i != 0 ? "," : "",
                            in->level,
                            in->node,
                            in->depth,
                            in->stored.user_data,
                            in->stored.cull_mask,
                            facet_gfx12_base_flags(in->stored.pointer));
        if (in->below != FACET_GFX12_NO_NODE) {
            facet_strbuf_printf(b, "%" PRIu32, in->below);
        } else {
            facet_strbuf_printf(b, "null");
        }
        facet_strbuf_printf(b, ", \"world_to_object\": ");
        put_bits(b, in->stored.world_to_object, 12);
        facet_strbuf_printf(b, "}");
    }
}

enum facet_status report_export_json(const struct facet_gfx12_gathered *gathered,
                                     const struct report_parts *what,
                                     struct facet_bytes *out,
                                     struct facet_error *err)
{
    struct facet_strbuf b = {0};

    facet_strbuf_printf(&b, "{\n  \"top\": %" PRIu32 ",\n  \"levels\": [", gathered->root_level);
    for (uint32_t i = 0; i < gathered->level_count; i++) {
        facet_strbuf_printf(&b, "%s\"0x%" PRIx64 "\"", i != 0 ? ", " : "", gathered->levels[i]);
    }
    facet_strbuf_printf(&b, "]");
    if (what->boxes) {
        facet_strbuf_printf(&b, ",\n  \"boxes\": [");
        json_boxes(gathered, what->progress, &b);
        facet_strbuf_printf(&b, "]");
    }
    if (what->triangles) {
        facet_strbuf_printf(&b, ",\n  \"triangles\": [");
        json_triangles(gathered, what->progress, &b);
        facet_strbuf_printf(&b, "]");
    }
    if (what->instances) {
        facet_strbuf_printf(&b, ",\n  \"instances\": [");
        json_instances(gathered, &b);
        facet_strbuf_printf(&b, "]");
    }
    facet_strbuf_printf(&b, "\n}\n");
    return hand_over(&b, out, err);
}
