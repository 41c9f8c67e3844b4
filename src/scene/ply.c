/* Reader of PLY, text and binary. The header is lines of words that describe elements (vertices,
 * faces) and their properties; the body is the items in the order of their elements. */
#include "scene/ply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ply_type types[] = {
    {" char int8 ", 1, 'i', 127.0F},
    {" uchar uint8 ", 1, 'u', 255.0F},
    {" short int16 ", 2, 'i', 32767.0F},
    {" ushort uint16 ", 2, 'u', 65535.0F},
    {" int int32 ", 4, 'i', 2147483647.0F},
    {" uint uint32 ", 4, 'u', 4294967295.0F},
    {" float float32 ", 4, 'f', 1.0F},
    {" double float64 ", 8, 'f', 1.0F},
};

static const char *const value_names[PLY_VALUES] = {
    " x ",
    " y ",
    " z ",
    " nx ",
    " ny ",
    " nz ",
    " red r diffuse_red ",
    " green g diffuse_green ",
    " blue b diffuse_blue ",
    " alpha diffuse_alpha ",
    " u s tx texture_u ",
    " v t ty texture_v ",
};

enum facet_status facet_ply_out_of_memory(struct ply *p)
{
    return facet_fail(p->err, FACET_ERR_MEMORY, 0, "out of memory");
}

static enum facet_status wrong(struct ply *p, const char *expected, struct facet_span found)
{
    return facet_fail(p->err,
                      FACET_ERR_INPUT,
                      p->text.line,
                      "line %u: expected %s, found \"%.*s\"",
                      p->text.line,
                      expected,
                      FACET_SPAN_ARGS(found, (size_t)40));
}

static const struct ply_type *find_type(struct facet_span name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (facet_span_in(name, types[i].names)) {
            return &types[i];
        }
    }
    return NULL;
}

static enum ply_role role_of(const char *element, struct facet_span name, bool list, bool whole)
{
    const bool vertex = strcmp(element, "vertex") == 0;

    for (unsigned i = 0; vertex && !list && i < PLY_VALUES; i++) {
        if (facet_span_in(name, value_names[i])) {
            return (enum ply_role)i;
        }
    }
    if (strcmp(element, "face") == 0) {
        return list && whole && facet_span_in(name, " vertex_index vertex_indices ") ? PLY_CORNERS
               : list && facet_span_in(name, " texcoord texcoords ") ? PLY_CORNER_UVS
               : facet_span_is(name, "texnumber")                    ? PLY_NOTHING
                                                                     : PLY_UNUSED;
    }
    if (strcmp(element, "tristrips") == 0) {
        return list && whole && facet_span_in(name, " vertex_index vertex_indices ") ? PLY_STRIP
                                                                                     : PLY_UNUSED;
    }
    return vertex ? PLY_UNUSED : PLY_NOTHING; /* of elements that are noted themselves */
}

static enum facet_status note_property(struct ply *p, const char *element, struct facet_span name)
{
    char what[96];

    (void)snprintf(what,
                   sizeof what,
                   "PLY property %.*s of element %.30s",
                   FACET_SPAN_ARGS(name, (size_t)30),
                   element);
    return facet_scene_leave_out(p->scene,
                                 strcmp(element, "vertex") == 0 ? 0 : FACET_LOSS_LOOK,
                                 1,
                                 what,
                                 "the header",
                                 "Facet does not use it",
                                 p->err);
}

static enum facet_status read_property(struct ply *p)
{
    struct ply_property property = {.count = NULL};
    struct facet_span word = {"", 0};
    struct ply_element *element;

    if (p->elements == 0) {
        return wrong(p, "an element before its properties", word);
    }
    element = &p->element[p->elements - 1];
    (void)facet_text_word(&p->text, &word);
    if (facet_span_is(word, "list")) {
        (void)facet_text_word(&p->text, &word);
        property.count = find_type(word);
        if (property.count == NULL || property.count->kind == 'f') {
            return wrong(p, "the type of a list's length, such as uchar", word);
        }
        (void)facet_text_word(&p->text, &word);
    }
    property.value = find_type(word);
    if (property.value == NULL) {
        return wrong(p, "list or the type of a property, such as float", word);
    }
    if (p->properties == PLY_PROPERTIES) {
        return facet_fail(
            p->err, FACET_ERR_LIMIT, p->text.line, "more than %u properties", PLY_PROPERTIES);
    }
    if (!facet_text_word(&p->text, &word)) {
        return wrong(p, "the name of a property", word);
    }
    property.role =
        role_of(element->name, word, property.count != NULL, property.value->kind != 'f');
    if (property.role < PLY_VALUES) {
        p->has[property.role] = true;
    }
    p->has_corner_uvs = p->has_corner_uvs || property.role == PLY_CORNER_UVS;
    p->property[p->properties++] = property;
    element->end = p->properties;
    return property.role == PLY_UNUSED ? note_property(p, element->name, word) : FACET_OK;
}

static enum facet_status read_element(struct ply *p)
{
    struct ply_element element = {.first = p->properties, .end = p->properties};
    struct facet_span name, count;
    char what[64];

    (void)facet_text_word(&p->text, &name);
    (void)facet_text_word(&p->text, &count);
    for (size_t i = 0; i < count.size; i++) {
        if (count.at[i] < '0' || count.at[i] > '9' || i == 18) {
            return wrong(p, "the number of items", count);
        }
        element.items = 10 * element.items + (uint64_t)(count.at[i] - '0');
    }
    if (count.size == 0) {
        return wrong(p, "the name and the number of an element's items", name);
    }
    if (p->elements == PLY_ELEMENTS) {
        return facet_fail(
            p->err, FACET_ERR_LIMIT, p->text.line, "more than %u elements", PLY_ELEMENTS);
    }
    (void)snprintf(
        element.name, sizeof element.name, "%.*s", FACET_SPAN_ARGS(name, sizeof element.name - 1));
    p->element[p->elements++] = element;
    if (facet_span_in(name, " vertex face tristrips ")) {
        return FACET_OK;
    }
    (void)snprintf(what, sizeof what, "PLY element %s", element.name);
    return facet_scene_leave_out(p->scene,
                                 FACET_LOSS_SHAPE,
                                 element.items != 0,
                                 what,
                                 "the header",
                                 "only vertices and faces are read",
                                 p->err);
}

static enum facet_status read_format(struct ply *p)
{
    struct facet_span form;

    (void)facet_text_word(&p->text, &form);
    p->form = facet_span_is(form, "ascii")                  ? PLY_ASCII
              : facet_span_is(form, "binary_little_endian") ? PLY_LITTLE
              : facet_span_is(form, "binary_big_endian")    ? PLY_BIG
                                                            : PLY_NO_FORM;
    return p->form != PLY_NO_FORM
               ? FACET_OK
               : wrong(p, "ascii, binary_little_endian or binary_big_endian", form);
}

/* Some programs name the picture of the texture coordinates in a comment. */
static enum facet_status read_comment(struct ply *p)
{
    struct facet_span word;

    if (!facet_text_word(&p->text, &word) || !facet_span_is(word, "TextureFile")) {
        return FACET_OK;
    }
    if (p->picture.size == 0) {
        p->picture = facet_text_rest(&p->text);
        return FACET_OK;
    }
    return facet_scene_leave_out(p->scene,
                                 FACET_LOSS_LOOK,
                                 1,
                                 "textures after the first of a PLY",
                                 "the header",
                                 "one is used for all faces",
                                 p->err);
}

static enum facet_status read_header_line(struct ply *p, struct facet_span keyword)
{
    if (facet_span_is(keyword, "element")) {
        return read_element(p);
    }
    if (facet_span_is(keyword, "property")) {
        return read_property(p);
    }
    if (facet_span_is(keyword, "format")) {
        return read_format(p);
    }
    if (facet_span_is(keyword, "comment")) {
        return read_comment(p);
    }
    return keyword.size == 0 || facet_span_in(keyword, " ply obj_info ")
               ? FACET_OK
               : wrong(p, "format, element, property, comment, obj_info or end_header", keyword);
}

static enum facet_status check_header(struct ply *p)
{
    if (p->form == PLY_NO_FORM) {
        return facet_fail(p->err, FACET_ERR_INPUT, 0, "the PLY header: expected a line `format`");
    }
    if (!p->has[PLY_X] || !p->has[PLY_Y] || !p->has[PLY_Z]) {
        return facet_fail(
            p->err, FACET_ERR_INPUT, 0, "the PLY header: expected vertices with x, y and z");
    }
    return FACET_OK;
}

/* To the first byte of the body. Lines end as the first one does, so that a binary body may begin
 * with the byte of a line feed. */
static enum facet_status read_header(struct ply *p)
{
    const char *first = (const char *)p->reader->data + 3;
    const bool pairs = p->reader->size >= 5 && first[0] == '\r' && first[1] == '\n';
    struct facet_span keyword;

    do {
        enum facet_status status = FACET_OK;

        (void)facet_text_word(&p->text, &keyword);
        if (facet_span_is(keyword, "end_header")) {
            const size_t line_end = pairs ? 2 : 1;

            (void)facet_text_rest(&p->text);
            p->text.at =
                (size_t)(p->text.end - p->text.at) > line_end ? p->text.at + line_end : p->text.end;
            p->text.line++;
            return check_header(p);
        }
        status = read_header_line(p, keyword);
        if (status != FACET_OK) {
            return status;
        }
    } while (facet_text_next_line(&p->text));
    return facet_fail(p->err,
                      FACET_ERR_INPUT,
                      p->reader->size,
                      "the PLY header has no end_header: expected it before offset %zu",
                      p->reader->size);
}

enum facet_status facet_ply_read(const struct facet_reader *reader,
                                 struct facet_scene *scene,
                                 struct facet_error *err)
{
    struct ply p = {.reader = reader,
                    .scene = scene,
                    .err = err,
                    .text = facet_text_of(reader->data, reader->size)};
    enum facet_status status = read_header(&p);

    if (status == FACET_OK) {
        status = facet_ply_read_body(&p);
    }
    if (status == FACET_OK) {
        status = facet_ply_add_mesh(&p);
    }
    free(p.vertices.items);
    free(p.corners.items);
    free(p.polygons.items);
    free(p.uvs.items);
    return status;
}
