/* glTF 2.0, binary: a mesh for each level (a primitive of triangles for each geometry, one of lines
 * for each depth of boxes), a node for each instance. */
#include "report/export.h"

#include "base/array.h"
#include "base/bits.h"
#include "gfx12/ask/bounds.h"
#include "json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 1 << 22, FLOATS = 5126, UINTS = 5125, LINES = 1, TRIANGLES = 4 };
#define MAX_BYTES UINT32_C(0xFFFFF000) /* lengths in the file have 32 bits */

struct writer {
    const struct facet_gfx12_gathered *g;
    const struct report_parts *what;
    uint8_t *data;
    size_t size, room;
    json_t *views, *accessors, *materials, *meshes, *nodes;
    int *mesh_of; /* per level; -1: none */
    bool failed, too_much, too_deep;
};

/* ---- numbers in the binary part ---- */

static uint8_t *take(struct writer *w, size_t bytes)
{
    uint8_t *at;

    if (w->size + bytes > MAX_BYTES) {
        w->too_much = true;
        return NULL;
    }
    if (!facet_array_fit(&w->data, &w->room, w->size + bytes, 1)) {
        w->failed = true;
        return NULL;
    }
    at = w->data + w->size;
    w->size += bytes;
    return at;
}

static int add_view(struct writer *w, size_t offset, size_t bytes, int target)
{
    (void)json_array_append_new(w->views,
                                json_pack("{s:i, s:I, s:I, s:i}",
                                          "buffer",
                                          0,
                                          "byteOffset",
                                          (json_int_t)offset,
                                          "byteLength",
                                          (json_int_t)bytes,
                                          "target",
                                          target));
    return (int)json_array_size(w->views) - 1;
}

/* `count` points; the format wants their bounds. */
static int add_points(struct writer *w, const float (*points)[3], size_t count)
{
    const size_t offset = w->size;
    uint8_t *to = take(w, count * 12);
    float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};

    if (to == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < 3; k++) {
            uint32_t bits;

            memcpy(&bits, &points[i][k], sizeof bits);
            facet_store_le32(to + 12 * i + 4 * k, bits);
            lo[k] = fminf(lo[k], points[i][k]);
            hi[k] = fmaxf(hi[k], points[i][k]);
        }
    }
    (void)json_array_append_new(w->accessors,
                                json_pack("{s:i, s:i, s:I, s:s, s:[f, f, f], s:[f, f, f]}",
                                          "bufferView",
                                          add_view(w, offset, count * 12, 34962),
                                          "componentType",
                                          FLOATS,
                                          "count",
                                          (json_int_t)count,
                                          "type",
                                          "VEC3",
                                          "min",
                                          (double)lo[0],
                                          (double)lo[1],
                                          (double)lo[2],
                                          "max",
                                          (double)hi[0],
                                          (double)hi[1],
                                          (double)hi[2]));
    return (int)json_array_size(w->accessors) - 1;
}

/* The edges of `count` boxes whose corners follow each other. */
static int add_edges(struct writer *w, size_t count)
{
    const size_t offset = w->size;
    uint8_t *to = take(w, count * 96);

    if (to == NULL) {
        return -1;
    }
    for (size_t i = 0; i < 24 * count; i++) {
        facet_store_le32(to + 4 * i,
                         (uint32_t)(8 * (i / 24)) + report_box_edges[i % 24 / 2][i % 2]);
    }
    (void)json_array_append_new(w->accessors,
                                json_pack("{s:i, s:i, s:I, s:s}",
                                          "bufferView",
                                          add_view(w, offset, count * 96, 34963),
                                          "componentType",
                                          UINTS,
                                          "count",
                                          (json_int_t)(24 * count),
                                          "type",
                                          "SCALAR"));
    return (int)json_array_size(w->accessors) - 1;
}

/* ---- materials ---- */

static int
add_material(struct writer *w, const char *name, const double rgb[3], bool two_sided, bool cut_out)
{
    json_t *material = json_pack("{s:s, s:{s:[f, f, f, f], s:f}, s:b}",
                                 "name",
                                 name,
                                 "pbrMetallicRoughness",
                                 "baseColorFactor",
                                 rgb[0],
                                 rgb[1],
                                 rgb[2],
                                 1.0,
                                 "metallicFactor",
                                 0.0,
                                 "doubleSided",
                                 (int)two_sided);

    if (cut_out) {
        (void)json_object_set_new(material, "alphaMode", json_string("MASK"));
    }
    (void)json_array_append_new(w->materials, material);
    return (int)json_array_size(w->materials) - 1;
}

/* Round the colours in steps of the golden ratio, so that neighbouring depths look different. */
static int depth_material(struct writer *w, uint32_t depth)
{
    const double hue = 6.0 * (0.618034 * depth - floor(0.618034 * depth));
    double rgb[3];
    char name[32];

    for (unsigned k = 0; k < 3; k++) {
        const double away = fabs(fmod(hue + 6.0 - 2.0 * k, 6.0) - 3.0) - 1.0;

        rgb[k] = 0.1 + 0.9 * fmin(1.0, fmax(0.0, away));
    }
    (void)snprintf(name, sizeof name, "depth %u", (unsigned)depth);
    return add_material(w, name, rgb, true, false);
}

/* ---- meshes ---- */

static void add_primitive(json_t *list, int points, int edges, int material, int mode)
{
    json_t *primitive = json_pack("{s:{s:i}, s:i, s:i}",
                                  "attributes",
                                  "POSITION",
                                  points,
                                  "material",
                                  material,
                                  "mode",
                                  mode);

    if (edges >= 0) {
        (void)json_object_set_new(primitive, "indices", json_integer(edges));
    }
    (void)json_array_append_new(list, primitive);
}

static void
add_boxes(struct writer *w, const float (*corners)[3], size_t count, int material, json_t *list)
{
    const int points = add_points(w, corners, 8 * count);

    add_primitive(list, points, add_edges(w, count), material, LINES);
}

static void level_boxes(struct writer *w, uint32_t level, json_t *list)
{
    uint64_t first, count;

    report_boxes_of(w->g, level, &first, &count);
    for (uint64_t i = 0, end; i < count && !w->failed && !w->too_much; i = end) {
        const struct facet_gfx12_gathered_box *box = &w->g->boxes[first + i];
        float(*corners)[3];

        for (end = i; end < count && w->g->boxes[first + end].depth == box->depth; end++) {
        }
        corners = malloc((end - i) * sizeof box->corner);
        if (corners == NULL) {
            w->failed = true;
            return;
        }
        for (uint64_t k = i; k < end; k++) {
            memcpy(corners + 8 * (k - i), w->g->boxes[first + k].corner, sizeof box->corner);
        }
        add_boxes(w, (const float(*)[3])corners, end - i, depth_material(w, box->depth), list);
        facet_progress_add(w->what->progress, end - i);
        free(corners);
    }
}

static void level_triangles(struct writer *w, uint32_t level, json_t *list)
{
    uint64_t first, count;

    report_triangles_of(w->g, level, &first, &count);
    for (uint64_t i = 0, end; i < count && !w->failed && !w->too_much; i = end) {
        const struct facet_gfx12_gathered_triangle *t = &w->g->triangles[first + i];
        const double grey[3] = {0.7, 0.7, 0.7};
        bool two_sided = true, opaque = false;
        float(*corners)[3];
        char name[32];

        for (end = i; end < count && w->g->triangles[first + end].geometry == t->geometry; end++) {
            two_sided = two_sided && w->g->triangles[first + end].double_sided;
            opaque = opaque || w->g->triangles[first + end].opaque;
        }
        corners = malloc((end - i) * sizeof t->corner);
        if (corners == NULL) {
            w->failed = true;
            return;
        }
        for (uint64_t k = i; k < end; k++) {
            memcpy(corners + 3 * (k - i), w->g->triangles[first + k].corner, sizeof t->corner);
        }
        (void)snprintf(name, sizeof name, "geometry %u", (unsigned)t->geometry);
        add_primitive(list,
                      add_points(w, (const float(*)[3])corners, 3 * (end - i)),
                      -1,
                      add_material(w, name, grey, two_sided, !opaque),
                      TRIANGLES);
        facet_progress_add(w->what->progress, end - i);
        free(corners);
    }
}

/* The boxes of the instances that lie in the level. */
static void level_instances(struct writer *w, uint32_t level, json_t *list)
{
    const double white[3] = {1, 1, 1};
    uint64_t first, count, used = 0;
    float(*corners)[3];

    report_instances_of(w->g, level, &first, &count);
    corners = malloc((8 * count + 1) * sizeof *corners);
    if (corners == NULL) {
        w->failed = true;
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        used += report_instance_box(&w->g->instances[first + i], corners + 8 * used);
    }
    if (used != 0) {
        add_boxes(w,
                  (const float(*)[3])corners,
                  used,
                  add_material(w, "instances", white, true, false),
                  list);
    }
    free(corners);
}

static void make_mesh(struct writer *w, uint32_t level)
{
    json_t *list = json_array();
    char name[48];

    if (w->what->triangles) {
        level_triangles(w, level, list);
    }
    if (w->what->boxes) {
        level_boxes(w, level, list);
    }
    if (w->what->instances) {
        level_instances(w, level, list);
    }
    w->mesh_of[level] = -1;
    if (json_array_size(list) == 0) {
        json_decref(list);
        return;
    }
    (void)snprintf(name, sizeof name, "level at 0x%llx", (unsigned long long)w->g->levels[level]);
    w->mesh_of[level] = (int)json_array_size(w->meshes);
    (void)json_array_append_new(w->meshes,
                                json_pack("{s:s, s:o}", "name", name, "primitives", list));
}

/* ---- nodes ---- */

static json_t *matrix_json(double m[3][4])
{
    json_t *list = json_array();

    for (unsigned c = 0; c < 4; c++) { /* column by column */
        for (unsigned r = 0; r < 4; r++) {
            (void)json_array_append_new(list, json_real(r < 3 ? m[r][c] : c == 3 ? 1.0 : 0.0));
        }
    }
    return list;
}

/* A node for a level, with nodes for its instances below; its number, or -1. */
static int make_node(struct writer *w,
                     uint32_t level,
                     const struct facet_gfx12_gathered_instance *of,
                     unsigned nesting)
{
    json_t *node = json_object(), *children = json_array();
    uint64_t first, count;
    double m[3][4];

    report_instances_of(w->g, level, &first, &count);
    w->too_much = w->too_much || json_array_size(w->nodes) >= MAX_NODES;
    w->too_deep = w->too_deep || (nesting >= REPORT_MAX_NESTING && count != 0);
    for (uint64_t i = 0; i < count && !w->too_much && !w->too_deep && !w->failed; i++) {
        const struct facet_gfx12_gathered_instance *in = &w->g->instances[first + i];

        if (in->below != FACET_GFX12_NO_NODE && in->below != level) {
            const int child = make_node(w, in->below, in, nesting + 1);

            if (child >= 0) {
                (void)json_array_append_new(children, json_integer(child));
            }
        }
    }
    if (of != NULL) {
        float to_object[3][4];
        char name[32];

        memcpy(to_object, of->stored.world_to_object, sizeof to_object);
        (void)snprintf(name, sizeof name, "instance %u", (unsigned)of->stored.user_data);
        (void)json_object_set_new(node, "name", json_string(name));
        if (!facet_gfx12_object_to_world((const float(*)[4])to_object, m)) {
            json_decref(node);
            json_decref(children);
            return -1; /* flat: nothing of it can be hit */
        }
        (void)json_object_set_new(node, "matrix", matrix_json(m));
    }
    if (w->mesh_of[level] >= 0) {
        (void)json_object_set_new(node, "mesh", json_integer(w->mesh_of[level]));
    }
    if (json_array_size(children) != 0) {
        (void)json_object_set_new(node, "children", children);
    } else {
        json_decref(children);
    }
    (void)json_array_append_new(w->nodes, node);
    return (int)json_array_size(w->nodes) - 1;
}

/* ---- the file ---- */

static enum facet_status
put_file(struct writer *w, int root, struct facet_bytes *out, struct facet_error *err)
{
    json_t *document = json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}]}",
                                 "asset",
                                 "version",
                                 "2.0",
                                 "generator",
                                 "facet bvh export",
                                 "scene",
                                 0,
                                 "scenes",
                                 "nodes",
                                 root);
    const size_t binary = (w->size + 3) & ~(size_t)3;
    size_t length, padded;
    char *text;
    enum facet_status status;

    (void)json_object_set(document, "nodes", w->nodes);
    if (json_array_size(w->meshes) != 0) {
        (void)json_object_set(document, "meshes", w->meshes);
        (void)json_object_set(document, "materials", w->materials);
        (void)json_object_set(document, "accessors", w->accessors);
        (void)json_object_set(document, "bufferViews", w->views);
        (void)json_object_set_new(
            document, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)binary));
    }
    status = facet_json_text(document, &text, &length, err);
    json_decref(document);
    if (status != FACET_OK) {
        return status;
    }
    padded = (length + 3) & ~(size_t)3;
    out->size = 12 + 8 + padded + 8 + binary;
    out->data = out->size <= UINT32_MAX ? calloc(out->size, 1) : NULL;
    if (out->data == NULL) {
        free(text);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a file of %zu bytes", out->size);
    }
    facet_store_le32(out->data, 0x46546C67); /* glTF */
    facet_store_le32(out->data + 4, 2);
    facet_store_le32(out->data + 8, (uint32_t)out->size);
    facet_store_le32(out->data + 12, (uint32_t)padded);
    facet_store_le32(out->data + 16, 0x4E4F534A); /* JSON */
    memset(out->data + 20, ' ', padded);
    memcpy(out->data + 20, text, length);
    facet_store_le32(out->data + 20 + padded, (uint32_t)binary);
    facet_store_le32(out->data + 24 + padded, 0x004E4942); /* BIN */
    if (w->size != 0) {
        memcpy(out->data + 28 + padded, w->data, w->size);
    }
    free(text);
    return FACET_OK;
}

enum facet_status report_export_glb(const struct facet_gfx12_gathered *gathered,
                                    const struct report_parts *what,
                                    struct facet_bytes *out,
                                    struct facet_error *err)
{
    struct writer w = {.g = gathered,
                       .what = what,
                       .views = json_array(),
                       .accessors = json_array(),
                       .materials = json_array(),
                       .meshes = json_array(),
                       .nodes = json_array(),
                       .mesh_of = calloc((size_t)gathered->level_count + 1, sizeof(int))};
    enum facet_status status = FACET_OK;
    int root = -1;

    w.failed = w.mesh_of == NULL;
    for (uint32_t i = 0; i < gathered->level_count && !w.failed && !w.too_much; i++) {
        make_mesh(&w, i);
    }
    if (!w.failed && !w.too_much) {
        root = make_node(&w, gathered->root_level, NULL, 0);
    }
    if (w.too_deep) {
        status = report_nested_too_deep(err);
    } else if (w.too_much) {
        status = facet_fail(
            err, FACET_ERR_LIMIT, 0, "more than a .glb file of 4 GiB can hold: choose a --depth");
    } else if (w.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the file");
    } else {
        status = put_file(&w, root, out, err);
    }
    json_decref(w.views);
    json_decref(w.accessors);
    json_decref(w.materials);
    json_decref(w.meshes);
    json_decref(w.nodes);
    free(w.mesh_of);
    free(w.data);
    return status;
}
