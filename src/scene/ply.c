/* See ply.h. The header is lines of words; the body is items in the order of their elements, text
 * or binary. */
#include "scene/ply.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADER 65536 /* Assimp would look for the end of a header for ever */
#define MAX_ELEMENTS 32
#define MAX_PROPERTIES 256

struct type {
    const char *name;
    uint8_t bytes;
    char kind; /* i signed, u unsigned, f float */
};

static const struct type types[] = {
    {"char", 1, 'i'},
    {"int8", 1, 'i'},
    {"uchar", 1, 'u'},
    {"uint8", 1, 'u'},
    {"short", 2, 'i'},
    {"int16", 2, 'i'},
    {"ushort", 2, 'u'},
    {"uint16", 2, 'u'},
    {"int", 4, 'i'},
    {"int32", 4, 'i'},
    {"uint", 4, 'u'},
    {"uint32", 4, 'u'},
    {"float", 4, 'f'},
    {"float32", 4, 'f'},
    {"double", 8, 'f'},
    {"float64", 8, 'f'},
};

struct property {
    const struct type *count; /* of a list; NULL for a single value */
    const struct type *value;
};

struct element {
    char name[32];
    uint64_t items;
    unsigned first, end; /* properties */
};

struct ply {
    const uint8_t *data;
    size_t size, at;
    struct element element[MAX_ELEMENTS];
    struct property property[MAX_PROPERTIES];
    unsigned elements, properties;
    enum { UNKNOWN, ASCII, LITTLE, BIG } form;
    bool strange; /* something that this file does not understand */
    struct facet_error *err;
};

/* ---- header ---- */

static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

static void read_property(struct ply *p, const char *line)
{
    char count[16] = "", value[16] = "";
    struct property property = {0};

    if (sscanf(line, "property list %15s %15s", count, value) == 2) {
        property.count = find_type(count);
        property.value = find_type(value);
        p->strange = p->strange || property.count == NULL || property.count->kind == 'f';
    } else if (sscanf(line, "property %15s", value) == 1) {
        property.value = find_type(value);
    }
    if (property.value == NULL || p->elements == 0 || p->properties == MAX_PROPERTIES) {
        p->strange = true;
        return;
    }
    p->property[p->properties++] = property;
    p->element[p->elements - 1].end = p->properties;
}

static void read_element(struct ply *p, const char *line)
{
    struct element element = {.first = p->properties, .end = p->properties};
    char count[24] = "", *end;

    if (p->elements == MAX_ELEMENTS ||
        sscanf(line, "element %31s %23s", element.name, count) != 2 || count[0] == '-') {
        p->strange = true;
        return;
    }
    element.items = strtoull(count, &end, 10);
    p->strange = p->strange || *end != '\0';
    p->element[p->elements++] = element;
}

static void read_format(struct ply *p, const char *line)
{
    char form[32] = "";

    (void)sscanf(line, "format %31s", form);
    p->form = strcmp(form, "ascii") == 0                  ? ASCII
              : strcmp(form, "binary_little_endian") == 0 ? LITTLE
              : strcmp(form, "binary_big_endian") == 0    ? BIG
                                                          : UNKNOWN;
}

/* One line without its end; false when there is none. Lines end as the first one does. */
static bool next_line(struct ply *p, char *line, size_t size)
{
    size_t begin = p->at, length = 0;

    while (p->at < p->size && p->at < MAX_HEADER && p->data[p->at] != '\n' &&
           p->data[p->at] != '\r') {
        p->at++;
    }
    if (p->at >= p->size || p->at >= MAX_HEADER) {
        return false;
    }
    length = p->at - begin < size - 1 ? p->at - begin : size - 1;
    memcpy(line, p->data + begin, length);
    line[length] = '\0';
    p->at +=
        p->data[p->at] == '\r' && p->size > 5 && p->data[3] == '\r' && p->data[4] == '\n' ? 2 : 1;
    return true;
}

static bool read_header(struct ply *p)
{
    char line[256];

    while (next_line(p, line, sizeof line)) {
        if (strncmp(line, "end_header", 10) == 0) {
            return true;
        }
        if (strncmp(line, "format", 6) == 0) {
            read_format(p, line);
        } else if (strncmp(line, "element", 7) == 0) {
            read_element(p, line);
        } else if (strncmp(line, "property", 8) == 0) {
            read_property(p, line);
        }
    }
    return false;
}

/* ---- body ---- */

static bool ended(const struct ply *p, const struct element *e, uint64_t item, uint64_t more)
{
    char bytes[48] = "";

    if (p->form != ASCII) {
        (void)snprintf(bytes,
                       sizeof bytes,
                       "%llu more byte%s of ",
                       (unsigned long long)more,
                       more == 1 ? "" : "s");
    }
    (void)facet_fail(p->err,
                     FACET_ERR_INPUT,
                     p->size,
                     "truncated: the PLY file ends at offset %zu, expected %s%s %llu of %llu",
                     p->size,
                     bytes,
                     e->name,
                     (unsigned long long)item + 1,
                     (unsigned long long)e->items);
    return false;
}

static bool bad_length(const struct ply *p, const struct element *e, uint64_t item, size_t at)
{
    (void)facet_fail(p->err,
                     FACET_ERR_INPUT,
                     at,
                     "offset %zu: %s %llu: expected the length of a list",
                     at,
                     e->name,
                     (unsigned long long)item + 1);
    return false;
}

static uint64_t load(const struct ply *p, const struct type *type)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < type->bytes; i++) {
        value |= (uint64_t)p->data[p->at + (p->form == BIG ? type->bytes - 1u - i : i)] << 8 * i;
    }
    return value;
}

/* Skips `bytes` bytes of an item. */
static bool skip(struct ply *p, const struct element *e, uint64_t item, uint64_t bytes)
{
    if (bytes > p->size - p->at) {
        return ended(p, e, item, bytes - (p->size - p->at));
    }
    p->at += (size_t)bytes;
    return true;
}

static bool binary_item(struct ply *p, const struct element *e, uint64_t item)
{
    for (unsigned i = e->first; i < e->end; i++) {
        const struct property *property = &p->property[i];
        const size_t at = p->at;
        uint64_t length = 1;

        if (property->count != NULL) {
            if (property->count->bytes > p->size - p->at) {
                return ended(p, e, item, property->count->bytes - (p->size - p->at));
            }
            length = load(p, property->count);
            p->at += property->count->bytes;
            if (property->count->kind == 'i' && length >> (8 * property->count->bytes - 1) != 0) {
                return bad_length(p, e, item, at);
            }
        }
        if (!skip(p, e, item, length * property->value->bytes)) {
            return false;
        }
    }
    return true;
}

/* The size of every item, or 0 when they differ. */
static uint64_t fixed_size(const struct ply *p, const struct element *e)
{
    uint64_t bytes = 0;

    for (unsigned i = e->first; i < e->end; i++) {
        if (p->property[i].count != NULL) {
            return 0;
        }
        bytes += p->property[i].value->bytes;
    }
    return bytes;
}

static bool is_space(uint8_t ch)
{
    return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

/* The next word, whose length is returned; 0 at the end of the file. */
static size_t next_word(struct ply *p)
{
    size_t begin;

    while (p->at < p->size && is_space(p->data[p->at])) {
        p->at++;
    }
    begin = p->at;
    while (p->at < p->size && !is_space(p->data[p->at])) {
        p->at++;
    }
    return p->at - begin;
}

static bool ascii_item(struct ply *p, const struct element *e, uint64_t item)
{
    for (unsigned i = e->first; i < e->end; i++) {
        uint64_t length = 1;

        if (p->property[i].count != NULL) {
            size_t digits = next_word(p);

            if (digits == 0) {
                return ended(p, e, item, 0);
            }
            length = 0;
            for (size_t d = p->at - digits; d < p->at; d++) {
                if (p->data[d] < '0' || p->data[d] > '9' || length > UINT32_MAX) {
                    return bad_length(p, e, item, p->at - digits);
                }
                length = 10 * length + (p->data[d] - '0');
            }
        }
        for (uint64_t k = 0; k < length; k++) {
            if (next_word(p) == 0) {
                return ended(p, e, item, 0);
            }
        }
    }
    return true;
}

static bool read_body(struct ply *p, const struct element *e)
{
    uint64_t bytes = p->form == ASCII ? 0 : fixed_size(p, e);

    if (e->first == e->end) {
        return true; /* items of nothing */
    }
    if (bytes != 0) {
        uint64_t have = (p->size - p->at) / bytes;

        if (have < e->items) {
            return ended(p, e, have, bytes - (p->size - p->at) % bytes);
        }
        p->at += (size_t)(e->items * bytes);
        return true;
    }
    for (uint64_t item = 0; item < e->items; item++) {
        if (!(p->form == ASCII ? ascii_item(p, e, item) : binary_item(p, e, item))) {
            return false;
        }
    }
    return true;
}

enum facet_status facet_ply_check(const uint8_t *data, size_t size, struct facet_error *err)
{
    struct ply p = {.data = data, .size = size, .err = err};

    if (!read_header(&p)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p.at,
                          "the PLY header has no end_header: expected it before offset %zu",
                          p.at);
    }
    if (p.strange || p.form == UNKNOWN) {
        return FACET_OK;
    }
    for (unsigned i = 0; i < p.elements; i++) {
        if (!read_body(&p, &p.element[i])) {
            return FACET_ERR_INPUT;
        }
    }
    return FACET_OK;
}
