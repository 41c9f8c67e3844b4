/* See ply.h. */
#include "base/float.h"
#include "scene/ply.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The item that is being read, for messages. */
struct item {
    const struct ply_element *element;
    uint64_t number; /* from 0 */
};

static size_t offset(const struct ply *p)
{
    return (size_t)(p->text.at - (const char *)p->reader->data);
}

static size_t left(const struct ply *p)
{
    return (size_t)(p->text.end - p->text.at);
}

static enum facet_status ended(struct ply *p, const struct item *item, uint64_t more)
{
    char bytes[48] = "";

    if (p->form != PLY_ASCII) {
        (void)snprintf(bytes,
                       sizeof bytes,
                       "%llu more byte%s of ",
                       (unsigned long long)more,
                       more == 1 ? "" : "s");
    }
    return facet_fail(p->err,
                      FACET_ERR_INPUT,
                      p->reader->size,
                      "truncated: the PLY file ends at offset %zu, expected %s%s %llu of %llu",
                      p->reader->size,
                      bytes,
                      item->element->name,
                      (unsigned long long)item->number + 1,
                      (unsigned long long)item->element->items);
}

static enum facet_status
bad_item(struct ply *p, const struct item *item, size_t at, const char *expected)
{
    return facet_fail(p->err,
                      FACET_ERR_INPUT,
                      at,
                      "offset %zu: %s %llu: expected %s",
                      at,
                      item->element->name,
                      (unsigned long long)item->number + 1,
                      expected);
}

static enum facet_status
bad_word(struct ply *p, const struct item *item, const char *expected, struct facet_span found)
{
    return facet_fail(p->err,
                      FACET_ERR_INPUT,
                      p->text.line,
                      "line %u: %s %llu: expected %s, found \"%.*s\"",
                      p->text.line,
                      item->element->name,
                      (unsigned long long)item->number + 1,
                      expected,
                      FACET_SPAN_ARGS(found, (size_t)40));
}

/* A number of the body as a float and, where its type is whole, exactly. Text may write any number
 * for a whole type. */
struct value {
    float number;
    int64_t whole;
    bool is_whole;
    struct facet_span word; /* of a text */
};

static void load(struct ply *p, const struct ply_type *type, struct value *out)
{
    const uint8_t *from = (const uint8_t *)p->text.at;
    uint64_t bits = 0;

    for (unsigned i = 0; i < type->bytes; i++) {
        bits |= (uint64_t)from[p->form == PLY_BIG ? type->bytes - 1U - i : i] << 8 * i;
    }
    p->text.at += type->bytes;
    if (type->kind != 'f') {
        const unsigned unused = 64 - 8U * type->bytes;

        out->whole = type->kind == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
        out->number = (float)out->whole;
        out->is_whole = true;
    } else if (type->bytes == 4) {
        const uint32_t half = (uint32_t)bits;

        memcpy(&out->number, &half, sizeof half);
    } else {
        double wide = facet_double_of(bits);

        out->number = fabs(wide) <= 3.4028234663852886e38 ? (float)wide : INFINITY;
    }
}

static bool read_whole(struct facet_span word, int64_t *out)
{
    const bool negative = word.size != 0 && word.at[0] == '-';
    int64_t value = 0;

    for (size_t i = negative; i < word.size; i++) {
        if (word.at[i] < '0' || word.at[i] > '9' || value > UINT32_MAX) {
            return false;
        }
        value = 10 * value + (word.at[i] - '0');
    }
    *out = negative ? -value : value;
    return word.size > negative;
}

static enum facet_status
read_value(struct ply *p, const struct item *item, const struct ply_type *type, struct value *out)
{
    struct facet_span word;

    if (p->form != PLY_ASCII) {
        if (left(p) < type->bytes) {
            return ended(p, item, type->bytes - left(p));
        }
        load(p, type, out);
        return FACET_OK;
    }
    if (!facet_text_word_anywhere(&p->text, &word)) {
        return ended(p, item, 0);
    }
    out->word = word;
    out->is_whole = type->kind != 'f' && read_whole(word, &out->whole);
    if (out->is_whole) {
        out->number = (float)out->whole;
        return FACET_OK;
    }
    return facet_span_float(word, &out->number) ? FACET_OK : bad_word(p, item, "a number", word);
}

static enum facet_status
read_length(struct ply *p, const struct item *item, const struct ply_type *type, uint64_t *out)
{
    const size_t at = offset(p);
    struct facet_span word = {"", 0};
    struct value length = {.whole = -1};

    if (p->form == PLY_ASCII) {
        if (!facet_text_word_anywhere(&p->text, &word)) {
            return ended(p, item, 0);
        }
        (void)read_whole(word, &length.whole);
    } else {
        enum facet_status status = read_value(p, item, type, &length);

        if (status != FACET_OK) {
            return status;
        }
    }
    *out = (uint64_t)length.whole;
    return length.whole >= 0
               ? FACET_OK
               : bad_item(
                     p, item, word.size != 0 ? offset(p) - word.size : at, "the length of a list");
}

static bool push(struct facet_array *array, uint32_t value)
{
    uint32_t *place = facet_array_add(array, 1, sizeof *place);

    if (place != NULL) {
        *place = value;
    }
    return place != NULL;
}

static uint32_t index_of(const struct value *value)
{
    return value->whole >= 0 && value->whole < UINT32_MAX ? (uint32_t)value->whole : UINT32_MAX;
}

/* Every corner but the first two of a strip ends a triangle; every other one turns the other way.
 * -1 begins a new strip. */
struct strip {
    uint32_t before[2];
    uint32_t length;
};

static bool add_to_strip(struct ply *p, struct strip *strip, const struct value *value)
{
    const uint32_t corner = index_of(value);
    const bool odd = strip->length % 2 != 0;
    bool ok = true;

    if (value->whole == -1) {
        strip->length = 0;
        return true;
    }
    if (strip->length >= 2) {
        ok = push(&p->corners, strip->before[odd]) && push(&p->corners, strip->before[!odd]) &&
             push(&p->corners, corner) && push(&p->polygons, 3);
    }
    strip->before[0] = strip->before[1];
    strip->before[1] = corner;
    strip->length++;
    return ok;
}

static bool add_uv(struct ply *p, float value)
{
    float *place = facet_array_add(&p->uvs, 1, sizeof *place);

    if (place != NULL) {
        *place = value;
    }
    return place != NULL;
}

static enum facet_status
read_list(struct ply *p, const struct item *item, const struct ply_property *property)
{
    struct strip strip = {.length = 0};
    enum facet_status status;
    uint64_t length = 0;
    bool ok = true;

    status = read_length(p, item, property->count, &length);
    if (status == FACET_OK && p->form != PLY_ASCII && length * property->value->bytes > left(p)) {
        status = ended(p, item, length * property->value->bytes - left(p));
    }
    for (uint64_t i = 0; status == FACET_OK && ok && i < length; i++) {
        struct value value = {0};

        status = read_value(p, item, property->value, &value);
        if (status == FACET_OK && !value.is_whole &&
            (property->role == PLY_CORNERS || property->role == PLY_STRIP)) {
            status = bad_word(p, item, "the number of a vertex", value.word);
        }
        if (status == FACET_OK && property->role == PLY_CORNERS) {
            ok = push(&p->corners, index_of(&value));
        } else if (status == FACET_OK && property->role == PLY_STRIP) {
            ok = add_to_strip(p, &strip, &value);
        } else if (status == FACET_OK && property->role == PLY_CORNER_UVS) {
            ok = add_uv(p, value.number);
        }
    }
    if (status == FACET_OK && ok && property->role == PLY_CORNERS) {
        ok = push(&p->polygons, (uint32_t)length);
    }
    return status == FACET_OK && !ok ? facet_ply_out_of_memory(p) : status;
}

/* Every corner has coordinates when any has. */
static enum facet_status even_uvs(struct ply *p, const struct item *item, size_t before)
{
    const size_t got = p->uvs.count - before, wanted = 2 * p->corners.count - before;

    if (got != 0 && got != wanted) {
        return facet_fail(p->err,
                          FACET_ERR_INPUT,
                          offset(p),
                          "offset %zu: face %llu: expected %zu texture coordinates, two for each "
                          "corner, found %zu",
                          offset(p),
                          (unsigned long long)item->number + 1,
                          wanted,
                          got);
    }
    while (p->uvs.count < 2 * p->corners.count) {
        if (!add_uv(p, 0.0F)) {
            return facet_ply_out_of_memory(p);
        }
    }
    return FACET_OK;
}

static enum facet_status
read_item(struct ply *p, const struct item *item, struct ply_vertex *vertex)
{
    const size_t uvs_before = p->uvs.count;
    enum facet_status status = FACET_OK;

    for (unsigned i = item->element->first; status == FACET_OK && i < item->element->end; i++) {
        const struct ply_property *property = &p->property[i];
        struct value value;

        if (property->count != NULL) {
            status = read_list(p, item, property);
            continue;
        }
        status = read_value(p, item, property->value, &value);
        if (status == FACET_OK && property->role < PLY_VALUES) {
            vertex->value[property->role] = property->role >= PLY_RED && property->role <= PLY_ALPHA
                                                ? value.number / property->value->greatest
                                                : value.number;
        }
    }
    return status == FACET_OK && p->has_corner_uvs ? even_uvs(p, item, uvs_before) : status;
}

static enum facet_status read_items(struct ply *p, const struct ply_element *element)
{
    const bool vertices = strcmp(element->name, "vertex") == 0;
    struct item item = {.element = element};
    struct ply_vertex unused;
    enum facet_status status = FACET_OK;

    if (element->first == element->end) {
        return FACET_OK; /* items of nothing */
    }
    for (; status == FACET_OK && item.number < element->items; item.number++) {
        struct ply_vertex *vertex =
            vertices ? facet_array_add(&p->vertices, 1, sizeof *vertex) : &unused;

        if (vertex == NULL) {
            return facet_ply_out_of_memory(p);
        }
        if (vertices) {
            *vertex = (struct ply_vertex){.value = {[PLY_ALPHA] = 1.0F}};
        }
        status = read_item(p, &item, vertex);
    }
    return status;
}

enum facet_status facet_ply_read_body(struct ply *p)
{
    enum facet_status status = FACET_OK;

    for (unsigned i = 0; status == FACET_OK && i < p->elements; i++) {
        status = read_items(p, &p->element[i]);
    }
    return status;
}
