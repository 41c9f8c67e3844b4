/* Reader of STL, binary and text. An STL has nothing but triangles, each with corners of its own
 * and a normal that repeats what they say. The corners are joined where they are equal, and the
 * triangles are flat: a normal that says something else is noted. */
#include "base/bits.h"
#include "scene/matrix.h"
#include "scene/reader.h"
#include "scene/text.h"
#include "scene/weld.h"

#include <stdio.h>
#include <string.h>

#define HEADER 84U
#define FACET 50U

struct facet_data {
    float normal[3], corner[9];
};

struct stl {
    struct facet_scene *scene;
    struct facet_error *err;
    struct facet_corners corners; /* of the solid that is read */
    struct facet_span name;
    uint32_t solids;      /* read, with and without triangles */
    uint32_t odd_normals; /* that are not at right angles to their triangle */
};

bool facet_stl_is_binary(const uint8_t *data, size_t size)
{
    return size >= HEADER && size == HEADER + FACET * (uint64_t)facet_load_le32(data + HEADER - 4);
}

static enum facet_status out_of_memory(struct stl *s)
{
    return facet_fail(s->err, FACET_ERR_MEMORY, 0, "out of memory");
}

/* Writers leave the normal zero or round it coarsely; one that is off by more than 8 degrees was
 * meant to be another. */
static bool is_odd(const struct facet_data *facet)
{
    double a[3], b[3], across[3], given[3], cosine = 0.0;

    for (unsigned i = 0; i < 3; i++) {
        a[i] = (double)facet->corner[3 + i] - (double)facet->corner[i];
        b[i] = (double)facet->corner[6 + i] - (double)facet->corner[i];
        given[i] = (double)facet->normal[i];
    }
    facet_scene_cross(a, b, across);
    if (!facet_scene_normalize(across) || !facet_scene_normalize(given)) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        cosine += across[i] * given[i];
    }
    return !(cosine > 0.99);
}

static enum facet_status add_facet(struct stl *s, const struct facet_data *facet)
{
    for (unsigned i = 0; i < 3; i++) {
        if (!facet_corners_add(&s->corners, facet->corner + 3 * (size_t)i)) {
            return out_of_memory(s);
        }
    }
    s->odd_normals += is_odd(facet);
    return FACET_OK;
}

static enum facet_status add_material(struct stl *s)
{
    struct facet_scene_material material;

    facet_scene_material_plain(&material);
    return s->scene->material_count == 0
               ? facet_scene_add_material(s->scene, &material, NULL, s->err)
               : FACET_OK;
}

/* The corners so far become a mesh. */
static enum facet_status end_solid(struct stl *s)
{
    struct facet_scene_mesh mesh = {.positions = s->corners.points.items,
                                    .indices = s->corners.indices.items,
                                    .vertex_count = (uint32_t)s->corners.points.count,
                                    .triangle_count = (uint32_t)(s->corners.indices.count / 3)};
    enum facet_status status = add_material(s);

    if (s->name.size != 0) {
        facet_scene_set_name(mesh.name, s->name.at, s->name.size);
    } else {
        (void)snprintf(mesh.name, sizeof mesh.name, "mesh %u", s->solids);
    }
    s->solids++;
    if (status != FACET_OK || mesh.triangle_count == 0) {
        return status;
    }
    s->corners.points = s->corners.indices = (struct facet_array){NULL, 0, 0};
    facet_corners_free(&s->corners);
    status = facet_scene_add_placed_mesh(s->scene, &mesh, s->err);
    if (status != FACET_OK) {
        facet_scene_mesh_free(&mesh);
    }
    return status;
}

/* ---- binary ---- */

/* In some programs' files the header holds "COLOR=", and the two bytes after a triangle are a
 * colour; in others' these are one when their upper bit is set. */
static bool header_has_color(const uint8_t *data)
{
    for (unsigned i = 0; i + 6 <= HEADER - 4; i++) {
        if (memcmp(data + i, "COLOR=", 6) == 0) {
            return true;
        }
    }
    return false;
}

static enum facet_status read_binary(struct stl *s, const uint8_t *data, size_t size)
{
    const uint32_t count = size >= HEADER ? facet_load_le32(data + HEADER - 4) : 0;
    const uint64_t wanted = HEADER + FACET * (uint64_t)count;
    enum facet_status status = FACET_OK;
    uint32_t colors = 0;
    uint8_t color_bits;

    if (size < wanted) {
        return facet_fail(s->err,
                          FACET_ERR_INPUT,
                          size,
                          "truncated: the STL file ends at offset %zu, expected %llu bytes (84 and "
                          "50 for each of %u triangles)",
                          size,
                          (unsigned long long)wanted,
                          count);
    }
    color_bits = header_has_color(data) ? 0xFF : 0x80;
    for (uint32_t i = 0; status == FACET_OK && i < count; i++) {
        const uint8_t *at = data + HEADER + FACET * (size_t)i;
        struct facet_data facet;

        for (unsigned k = 0; k < 12; k++) {
            const uint32_t bits = facet_load_le32(at + 4 * (size_t)k);

            memcpy(k < 3 ? &facet.normal[k] : &facet.corner[k - 3], &bits, sizeof bits);
        }
        status = add_facet(s, &facet);
        colors += (at[FACET - 1] & color_bits) != 0;
    }
    if (status == FACET_OK) {
        status = facet_scene_leave_out(s->scene,
                                       FACET_LOSS_LOOK,
                                       colors,
                                       "colours of STL triangles",
                                       "",
                                       "programs disagree about their bits; all are drawn white",
                                       s->err);
    }
    if (status == FACET_OK) {
        status = facet_scene_leave_out(s->scene,
                                       0,
                                       size > wanted,
                                       "bytes after the last triangle",
                                       "",
                                       "the file's count does not include them",
                                       s->err);
    }
    return status == FACET_OK ? end_solid(s) : status;
}

/* ---- text ---- */

static enum facet_status
wrong(struct stl *s, const struct facet_text *text, const char *expected, struct facet_span found)
{
    return facet_fail(s->err,
                      FACET_ERR_INPUT,
                      text->line,
                      "line %u: expected %s, found %s%.*s%s",
                      text->line,
                      expected,
                      found.size != 0 ? "\"" : "the end of the file",
                      FACET_SPAN_ARGS(found, (size_t)40),
                      found.size != 0 ? "\"" : "");
}

static enum facet_status expect(struct stl *s, struct facet_text *text, const char *keyword)
{
    struct facet_span word = {"", 0};

    (void)facet_text_word_anywhere(text, &word);
    return facet_span_is_anycase(word, keyword) ? FACET_OK : wrong(s, text, keyword, word);
}

/* Writers that divide by an area of zero leave words such as "-nan" for a normal, which loses
 * nothing: `otherwise` lists those that count as 0. */
static enum facet_status
read_vector(struct stl *s, struct facet_text *text, const char *otherwise, float out[3])
{
    struct facet_span word = {"", 0};

    for (unsigned i = 0; i < 3; i++) {
        out[i] = 0.0F;
        if (!facet_text_word_anywhere(text, &word) ||
            (!facet_span_float(word, &out[i]) && !facet_span_in(word, otherwise))) {
            return wrong(s, text, "a number", word);
        }
    }
    return FACET_OK;
}

/* What follows the word "facet". */
static enum facet_status read_facet(struct stl *s, struct facet_text *text)
{
    struct facet_data facet;
    enum facet_status status = expect(s, text, "normal");

    if (status == FACET_OK) {
        status =
            read_vector(s, text, " nan -nan NaN -NaN nan(ind) -nan(ind) inf -inf ", facet.normal);
    }
    if (status == FACET_OK) {
        status = expect(s, text, "outer");
    }
    if (status == FACET_OK) {
        status = expect(s, text, "loop");
    }
    for (unsigned i = 0; status == FACET_OK && i < 3; i++) {
        status = expect(s, text, "vertex");
        if (status == FACET_OK) {
            status = read_vector(s, text, "", facet.corner + 3 * (size_t)i);
        }
    }
    if (status == FACET_OK) {
        status = expect(s, text, "endloop");
    }
    if (status == FACET_OK) {
        status = expect(s, text, "endfacet");
    }
    return status == FACET_OK ? add_facet(s, &facet) : status;
}

/* What follows the word "solid", to its end. */
static enum facet_status read_solid(struct stl *s, struct facet_text *text)
{
    enum facet_status status = FACET_OK;
    struct facet_span word = {"", 0};

    s->name = facet_text_rest(text);
    while (status == FACET_OK) {
        word.size = 0;
        (void)facet_text_word_anywhere(text, &word);
        if (facet_span_is_anycase(word, "endsolid")) {
            (void)facet_text_rest(text);
            return end_solid(s);
        }
        status = facet_span_is_anycase(word, "facet") ? read_facet(s, text)
                                                      : wrong(s, text, "facet or endsolid", word);
    }
    return status;
}

static enum facet_status read_text(struct stl *s, struct facet_text text)
{
    enum facet_status status = FACET_OK;
    struct facet_span word;

    while (status == FACET_OK && facet_text_word_anywhere(&text, &word)) {
        status = facet_span_is_anycase(word, "solid") ? read_solid(s, &text)
                                                      : wrong(s, &text, "solid", word);
    }
    return status;
}

/* Text begins with "solid", but so do the headers of some binary files: these have the size that
 * their count asks for, or, where bytes are missing or left over, a NUL that text never has. */
static bool is_text(const uint8_t *data, size_t size)
{
    struct facet_text text = facet_text_of(data, size);
    struct facet_span word;

    return facet_text_word_anywhere(&text, &word) && facet_span_is_anycase(word, "solid") &&
           !facet_stl_is_binary(data, size) && memchr(data, '\0', size < 512 ? size : 512) == NULL;
}

enum facet_status facet_stl_read(const struct facet_reader *reader,
                                 struct facet_scene *scene,
                                 struct facet_error *err)
{
    struct stl s = {.scene = scene, .err = err, .name = {"", 0}};
    enum facet_status status;

    if (is_text(reader->data, reader->size)) {
        status = read_text(&s, facet_text_of(reader->data, reader->size));
    } else if (reader->size < HEADER) {
        status = facet_fail(
            err,
            FACET_ERR_INPUT,
            reader->size,
            "neither text, which begins with \"solid\", nor a binary STL: the file ends at offset "
            "%zu, inside the header of 84 bytes",
            reader->size);
    } else {
        status = read_binary(&s, reader->data, reader->size);
    }
    facet_corners_free(&s.corners);
    if (status == FACET_OK) {
        status = facet_scene_leave_out(scene,
                                       FACET_LOSS_LOOK,
                                       s.odd_normals,
                                       "normals that are not those of their triangles",
                                       "",
                                       "triangles are flat",
                                       err);
    }
    return status;
}
