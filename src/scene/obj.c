/* Reader of Wavefront OBJ: polygons with normals, texture coordinates and colours of vertices, and
 * the materials of mtl.h. Points, lines and free-form curves and surfaces are noted.
 *
 * A face may refer to vertices that follow it, so the file is read once into plain arrays, and the
 * meshes are made from these: one for each run of faces of one group and one material, in the order
 * of the file. */
#include "base/array.h"
#include "scene/mtl.h"
#include "scene/polygon.h"
#include "scene/reader.h"
#include "scene/text.h"
#include "scene/weld.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

enum { POSITION, UV, NORMAL, KINDS };

struct corner {
    uint32_t at[KINDS]; /* numbers from 0; NONE: the corner has none */
};

struct run {
    struct facet_span name;
    struct facet_mtl_material *material;
    size_t corner, polygon; /* its first ones; it ends where the next begins */
};

struct obj {
    struct facet_text text;
    struct facet_scene *scene;
    struct facet_error *err;
    struct facet_mtl mtl;
    struct facet_array data[KINDS]; /* of float[3], float[2], float[3] */
    struct facet_array colors;      /* of float[3], for every position once one has a colour */
    struct facet_array corners, polygons; /* the latter: numbers of corners */
    struct facet_array runs;
    bool new_run; /* the name or the material has changed */
    struct facet_span name;
    struct facet_mtl_material *material;
    struct {
        uint32_t number, line; /* the largest number that a face refers to, and where */
    } most[KINDS];
    uint32_t smooth; /* statements that turn smoothing on */
};

static const char *const kind_names[KINDS] = {"v", "vt", "vn"};
static const unsigned components[KINDS] = {3, 2, 3};

static enum facet_status out_of_memory(struct obj *o)
{
    return facet_fail(
        o->err, FACET_ERR_MEMORY, o->text.line, "line %u: out of memory", o->text.line);
}

static enum facet_status
leave_out(struct obj *o, unsigned effect, uint32_t count, const char *what, const char *why)
{
    char first[32];

    (void)snprintf(first, sizeof first, "line %u", o->text.line);
    return facet_scene_leave_out(o->scene, effect, count, what, first, why, o->err);
}

static enum facet_status
wrong(struct obj *o, const char *statement, const char *expected, struct facet_span found)
{
    return facet_fail(o->err,
                      FACET_ERR_INPUT,
                      o->text.line,
                      "line %u: %s: expected %s, found %s%.*s%s",
                      o->text.line,
                      statement,
                      expected,
                      found.size != 0 ? "\"" : "the end of the line",
                      FACET_SPAN_ARGS(found, (size_t)40),
                      found.size != 0 ? "\"" : "");
}

/* ---- vertices ---- */

/* The numbers of a line, at least `least`; what follows the `most`th is an error. */
static enum facet_status read_numbers(struct obj *o,
                                      const char *statement,
                                      const char *expected,
                                      unsigned least,
                                      unsigned most,
                                      float *out,
                                      unsigned *count)
{
    struct facet_span word;

    *count = 0;
    while (facet_text_word(&o->text, &word) && word.at[0] != '#') {
        if (*count == most || !facet_span_float(word, &out[*count])) {
            return wrong(o, statement, expected, word);
        }
        ++*count;
    }
    return *count >= least ? FACET_OK : wrong(o, statement, expected, word);
}

/* Colours are rare: the array starts with the first of them, and those before are white. */
static enum facet_status add_color(struct obj *o, const float color[3])
{
    const size_t vertices = o->data[POSITION].count;
    const size_t missing = vertices - o->colors.count;
    float *place;

    if (color == NULL && o->colors.count == 0) {
        return FACET_OK;
    }
    place = facet_array_add(&o->colors, missing, 3 * sizeof *place);
    if (place == NULL) {
        return out_of_memory(o);
    }
    for (size_t i = 0; i < 3 * missing; i++) {
        place[i] = color != NULL && i >= 3 * missing - 3 ? color[i % 3] : 1.0F;
    }
    return FACET_OK;
}

static enum facet_status add_vertex(struct obj *o, unsigned kind, const float *values)
{
    const size_t size = components[kind] * sizeof *values;
    float *place = facet_array_add(&o->data[kind], 1, size);

    if (place == NULL) {
        return out_of_memory(o);
    }
    memcpy(place, values, size);
    return FACET_OK;
}

static enum facet_status read_position(struct obj *o)
{
    static const char expected[] = "3 numbers, 4 with a weight, or 6 with a colour";
    float values[6];
    unsigned count;
    enum facet_status status = read_numbers(o, "v", expected, 3, 6, values, &count);

    if (status == FACET_OK && count == 5) {
        return wrong(o, "v", expected, (struct facet_span){"", 0});
    }
    if (status == FACET_OK && count == 4 && values[3] != 1.0F) {
        status = leave_out(o,
                           FACET_LOSS_SHAPE,
                           1,
                           "weights of vertices",
                           "they are those of rational curves and surfaces");
    }
    if (status == FACET_OK) {
        status = add_vertex(o, POSITION, values);
    }
    return status == FACET_OK ? add_color(o, count == 6 ? values + 3 : NULL) : status;
}

/* In OBJ v goes up; here it goes down. A third coordinate is for textures with a volume. */
static enum facet_status read_uv(struct obj *o)
{
    float values[3] = {0.0F, 0.0F, 0.0F};
    unsigned count;
    enum facet_status status = read_numbers(o, "vt", "1 to 3 numbers", 1, 3, values, &count);

    values[1] = 1.0F - values[1];
    return status == FACET_OK ? add_vertex(o, UV, values) : status;
}

static enum facet_status read_normal(struct obj *o)
{
    float values[3];
    unsigned count;
    enum facet_status status = read_numbers(o, "vn", "3 numbers", 3, 3, values, &count);

    return status == FACET_OK ? add_vertex(o, NORMAL, values) : status;
}

/* ---- faces ---- */

/* One number of "1/2/3", which may be missing; false when it is none. Counting is from 1, or
 * backwards from the last vertex so far: -1. */
static bool
read_index(struct obj *o, const char **at, const char *end, unsigned kind, uint32_t *out)
{
    const bool backwards = *at < end && **at == '-';
    const char *first = *at + backwards;
    uint64_t value = 0;

    *out = NONE;
    for (*at = first; *at < end && **at >= '0' && **at <= '9' && value < NONE; ++*at) {
        value = 10 * value + (uint64_t)(**at - '0');
    }
    if (*at == first) {
        return !backwards && kind != POSITION;
    }
    if (value == 0 || value >= NONE || (backwards && value > o->data[kind].count)) {
        return false;
    }
    *out = backwards ? (uint32_t)(o->data[kind].count - value) : (uint32_t)(value - 1);
    if (*out >= o->most[kind].number) {
        o->most[kind].number = *out + 1;
        o->most[kind].line = o->text.line;
    }
    return true;
}

static bool read_corner(struct obj *o, struct facet_span word, struct corner *corner)
{
    const char *at = word.at, *end = word.at + word.size;

    for (unsigned kind = 0; kind < KINDS; kind++) {
        corner->at[kind] = NONE;
        if (kind != 0 && at < end && *at++ != '/') {
            return false;
        }
        if ((kind == 0 || at < end) && !read_index(o, &at, end, kind, &corner->at[kind])) {
            return false;
        }
    }
    return at == end;
}

static enum facet_status begin_run(struct obj *o)
{
    struct run *run;

    if (!o->new_run) {
        return FACET_OK;
    }
    o->new_run = false;
    if (o->material == NULL) {
        o->material = facet_mtl_find(&o->mtl, (struct facet_span){"", 0});
    }
    run = o->material != NULL ? facet_array_add(&o->runs, 1, sizeof *run) : NULL;
    if (run == NULL) {
        return out_of_memory(o);
    }
    *run = (struct run){o->name, o->material, o->corners.count, o->polygons.count};
    return FACET_OK;
}

static enum facet_status read_face(struct obj *o)
{
    enum facet_status status = begin_run(o);
    const size_t first = o->corners.count;
    struct facet_span word;
    uint32_t *polygon;

    while (status == FACET_OK && facet_text_word(&o->text, &word) && word.at[0] != '#') {
        struct corner *corner = facet_array_add(&o->corners, 1, sizeof *corner);

        if (corner == NULL) {
            return out_of_memory(o);
        }
        if (!read_corner(o, word, corner)) {
            return wrong(o,
                         "f",
                         "corners such as 1, 1/2, 1//3 or 1/2/3, counted from 1, or from -1 "
                         "backwards over the vertices so far",
                         word);
        }
    }
    if (status == FACET_OK && o->corners.count - first < 3) {
        o->corners.count = first;
        return leave_out(
            o, FACET_LOSS_SHAPE, 1, "faces of fewer than three corners", "only polygons are read");
    }
    polygon = status == FACET_OK ? facet_array_add(&o->polygons, 1, sizeof *polygon) : NULL;
    if (polygon == NULL) {
        return status == FACET_OK ? out_of_memory(o) : status;
    }
    *polygon = (uint32_t)(o->corners.count - first);
    return FACET_OK;
}

/* ---- the other statements ---- */

static uint32_t count_words(struct obj *o)
{
    struct facet_span word;
    uint32_t count = 0;

    while (facet_text_word(&o->text, &word) && word.at[0] != '#') {
        count++;
    }
    return count;
}

/* The rest of the line; a name does not continue on the next one. */
static enum facet_status read_name(struct obj *o, const char *statement, struct facet_span *name)
{
    *name = facet_text_name(&o->text);
    return facet_text_goes_on(&o->text) ? wrong(o, statement, "a name on one line", *name)
                                        : FACET_OK;
}

static enum facet_status use_material(struct obj *o)
{
    struct facet_span name;
    struct facet_mtl_material *material;
    enum facet_status status = read_name(o, "usemtl", &name);

    if (status != FACET_OK) {
        return status;
    }
    material = facet_mtl_find(&o->mtl, name);
    if (material == NULL) {
        return out_of_memory(o);
    }
    o->new_run = o->new_run || material != o->material;
    o->material = material;
    return FACET_OK;
}

static enum facet_status read_libraries(struct obj *o)
{
    enum facet_status status;

    do {
        status = facet_mtl_read(&o->mtl, facet_text_name(&o->text));
    } while (status == FACET_OK && facet_text_goes_on(&o->text));
    return status;
}

static void read_smoothing(struct obj *o)
{
    struct facet_span word;

    (void)facet_text_word(&o->text, &word);
    o->smooth += word.size != 0 && !facet_span_in(word, " off 0 ");
}

static enum facet_status note_statement(struct obj *o, struct facet_span keyword)
{
    const bool look =
        facet_span_in(keyword, " bevel c_interp d_interp lod maplib usemap shadow_obj trace_obj ");
    char what[64];

    (void)snprintf(what, sizeof what, "OBJ statement %.*s", FACET_SPAN_ARGS(keyword, (size_t)36));
    return leave_out(
        o, look ? FACET_LOSS_LOOK : FACET_LOSS_SHAPE, 1, what, "only polygons are read");
}

static enum facet_status read_statement(struct obj *o, struct facet_span keyword)
{
    uint32_t words;

    if (facet_span_is(keyword, "v")) {
        return read_position(o);
    }
    if (facet_span_is(keyword, "f")) {
        return read_face(o);
    }
    if (facet_span_is(keyword, "vt")) {
        return read_uv(o);
    }
    if (facet_span_is(keyword, "vn")) {
        return read_normal(o);
    }
    if (facet_span_in(keyword, " g o ")) {
        o->new_run = true;
        return read_name(o, "a group or object", &o->name);
    }
    if (facet_span_is(keyword, "usemtl")) {
        return use_material(o);
    }
    if (facet_span_is(keyword, "mtllib")) {
        return read_libraries(o);
    }
    if (facet_span_is(keyword, "s")) {
        read_smoothing(o);
        return FACET_OK;
    }
    if (facet_span_in(keyword, " p l ")) {
        words = count_words(o);
        return keyword.at[0] == 'p'
                   ? leave_out(o, FACET_LOSS_SHAPE, words, "points", "only polygons are read")
                   : leave_out(o,
                               FACET_LOSS_SHAPE,
                               words - (words != 0),
                               "lines",
                               "only polygons are read");
    }
    /* A merging group joins free-form surfaces, which are named where they are defined. */
    return facet_span_is(keyword, "mg") ? FACET_OK : note_statement(o, keyword);
}

static enum facet_status read_file(struct obj *o)
{
    enum facet_status status = FACET_OK;
    struct facet_span keyword;

    do {
        if (facet_text_word(&o->text, &keyword) && keyword.at[0] != '#') {
            status = read_statement(o, keyword);
        }
    } while (status == FACET_OK && facet_text_next_line(&o->text));
    for (unsigned kind = 0; status == FACET_OK && kind < KINDS; kind++) {
        if (o->most[kind].number > o->data[kind].count) {
            status = facet_fail(o->err,
                                FACET_ERR_INPUT,
                                o->most[kind].line,
                                "line %u: f: %s %u is out of range: the file has %zu",
                                o->most[kind].line,
                                kind_names[kind],
                                o->most[kind].number,
                                o->data[kind].count);
        }
    }
    if (status == FACET_OK && o->data[NORMAL].count == 0) {
        status = facet_scene_leave_out(o->scene,
                                       FACET_LOSS_LOOK,
                                       o->smooth,
                                       "smoothing groups",
                                       "",
                                       "without normals (vn) triangles are flat",
                                       o->err);
    }
    return status;
}

/* ---- meshes ---- */

/* The corners of a run as the vertices of a mesh; equal ones are joined afterwards. */
struct part {
    const struct corner *corners;
    const uint32_t *polygons;
    uint32_t corner_count;
    size_t polygon_count;
};

/* One attribute of all corners, zero where one has none. *out stays NULL when no corner has it. */
static bool gather(const struct obj *o, const struct part *part, unsigned kind, float **out)
{
    const unsigned width = components[kind];
    const float *from = o->data[kind].items;
    bool any = false;

    for (uint32_t i = 0; !any && i < part->corner_count; i++) {
        any = part->corners[i].at[kind] != NONE;
    }
    if (!any) {
        return true;
    }
    *out = calloc((size_t)part->corner_count * width, sizeof **out);
    for (uint32_t i = 0; *out != NULL && i < part->corner_count; i++) {
        const uint32_t at = part->corners[i].at[kind];

        if (at != NONE) {
            memcpy(*out + (size_t)i * width, from + (size_t)at * width, width * sizeof **out);
        }
    }
    return *out != NULL;
}

static bool gather_colors(const struct obj *o, const struct part *part, float **out)
{
    const float *from = o->colors.items;

    if (o->colors.count == 0) {
        return true;
    }
    *out = malloc((size_t)part->corner_count * 4 * sizeof **out);
    for (uint32_t i = 0; *out != NULL && i < part->corner_count; i++) {
        memcpy(*out + 4 * (size_t)i,
               from + 3 * (size_t)part->corners[i].at[POSITION],
               3 * sizeof **out);
        (*out)[4 * (size_t)i + 3] = 1.0F;
    }
    return *out != NULL;
}

/* Corners without a normal among others with one are flat. */
static void
fill_normals(const struct part *part, uint32_t first, uint32_t count, struct facet_scene_mesh *mesh)
{
    float normal[3];
    bool known = false;

    for (uint32_t i = first; mesh->normals != NULL && i < first + count; i++) {
        if (part->corners[i].at[NORMAL] == NONE) {
            if (!known) {
                facet_polygon_normal(mesh->positions + 3 * (size_t)first, count, normal);
                known = true;
            }
            memcpy(mesh->normals + 3 * (size_t)i, normal, sizeof normal);
        }
    }
}

static enum facet_status
cut_polygons(struct obj *o, const struct part *part, struct facet_scene_mesh *mesh)
{
    uint32_t first = 0, fans = 0;
    uint32_t *to = mesh->indices;

    for (size_t i = 0; i < part->polygon_count; i++) {
        const uint32_t count = part->polygons[i];

        fans += !facet_polygon_cut(mesh->positions + 3 * (size_t)first, count, to);
        for (uint32_t k = 0; k < 3 * (count - 2); k++) {
            *to++ += first;
        }
        fill_normals(part, first, count, mesh);
        first += count;
    }
    return facet_scene_leave_out(o->scene,
                                 FACET_LOSS_SHAPE,
                                 fans,
                                 FACET_POLYGON_TOO_LARGE,
                                 mesh->name,
                                 "they are cut as if they were convex",
                                 o->err);
}

static enum facet_status make_mesh(struct obj *o,
                                   const struct run *run,
                                   const struct part *part,
                                   struct facet_scene_mesh *mesh)
{
    enum facet_status status = facet_mtl_use(&o->mtl, run->material, &mesh->material);

    if (run->name.size != 0) {
        facet_scene_set_name(mesh->name, run->name.at, run->name.size);
    } else {
        (void)snprintf(mesh->name, sizeof mesh->name, "mesh %u", o->scene->mesh_count);
    }
    if (status != FACET_OK) {
        return status;
    }
    mesh->vertex_count = part->corner_count;
    mesh->triangle_count = part->corner_count - 2 * (uint32_t)part->polygon_count;
    mesh->indices = malloc(3 * (size_t)mesh->triangle_count * sizeof *mesh->indices);
    if (mesh->indices == NULL || !gather(o, part, POSITION, &mesh->positions) ||
        !gather(o, part, UV, &mesh->uv[0]) || !gather(o, part, NORMAL, &mesh->normals) ||
        !gather_colors(o, part, &mesh->colors)) {
        return out_of_memory(o);
    }
    status = cut_polygons(o, part, mesh);
    if (status == FACET_OK && !facet_scene_weld(mesh)) {
        status = out_of_memory(o);
    }
    return status;
}

static enum facet_status add_mesh(struct obj *o, const struct run *run, const struct part *part)
{
    struct facet_scene_mesh mesh = {.name = ""};
    enum facet_status status = make_mesh(o, run, part, &mesh);

    if (status == FACET_OK) {
        status = facet_scene_add_placed_mesh(o->scene, &mesh, o->err);
    }
    if (status != FACET_OK) {
        facet_scene_mesh_free(&mesh);
    }
    return status;
}

static enum facet_status make_meshes(struct obj *o)
{
    const struct run *runs = o->runs.items;
    enum facet_status status = FACET_OK;

    for (size_t i = 0; status == FACET_OK && i < o->runs.count; i++) {
        const bool last = i + 1 == o->runs.count;
        const size_t corners = last ? o->corners.count : runs[i + 1].corner;
        const size_t polygons = last ? o->polygons.count : runs[i + 1].polygon;

        if (polygons != runs[i].polygon) {
            const struct part part = {(const struct corner *)o->corners.items + runs[i].corner,
                                      (const uint32_t *)o->polygons.items + runs[i].polygon,
                                      (uint32_t)(corners - runs[i].corner),
                                      polygons - runs[i].polygon};

            status = add_mesh(o, &runs[i], &part);
        }
    }
    return status;
}

enum facet_status facet_obj_read(const struct facet_reader *reader,
                                 struct facet_scene *scene,
                                 struct facet_error *err)
{
    struct obj o = {.text = facet_text_of(reader->data, reader->size),
                    .scene = scene,
                    .err = err,
                    .mtl = {.reader = reader, .scene = scene, .err = err},
                    .name = {"", 0},
                    .new_run = true};
    enum facet_status status;

    o.text.continues = true;
    status = read_file(&o);
    if (status == FACET_OK) {
        status = make_meshes(&o);
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        free(o.data[kind].items);
    }
    free(o.colors.items);
    free(o.corners.items);
    free(o.polygons.items);
    free(o.runs.items);
    facet_mtl_free(&o.mtl);
    return status;
}
