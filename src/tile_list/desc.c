/* See desc.h. */
#include "tile_list/desc.h"

#include "isa/isa.h"
#include "json/json.h"

#include <facet/tile_layouts.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

const struct facet_layout_row *facet_tile_list_desc_layout(const char *name)
{
    const struct facet_layout_member *member;
    const struct facet_layout_row *layout = facet_layout_find(name, &member);

    assert(layout != NULL && layout->size <= 4 * FACET_TILE_LIST_DESC_MAX_WORDS);
    return layout;
}

/* ---- small values ---- */

bool facet_tile_list_word(const json_t *value, uint32_t *out)
{
    uint64_t number;

    if (json_is_integer(value) && json_integer_value(value) < 0) {
        if (json_integer_value(value) < INT32_MIN) {
            return false;
        }
        *out = (uint32_t)json_integer_value(value);
        return true;
    }
    if (!facet_json_to_u64(value, &number) || number > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

bool facet_tile_list_float(const json_t *value, uint32_t *bits)
{
    float number = (float)json_number_value(value);

    if (!json_is_number(value)) { /* a pattern: infinities, NaNs */
        return json_is_string(value) && facet_tile_list_word(value, bits);
    }
    memcpy(bits, &number, sizeof *bits);
    return true;
}

bool facet_tile_list_color(const json_t *value, uint32_t *out)
{
    const char *text = json_string_value(value);
    size_t length = text != NULL ? strlen(text) : 0;
    uint32_t color = 0;

    if (text == NULL || text[0] != '#') {
        return facet_tile_list_word(value, out);
    }
    if ((length != 7 && length != 9) || strspn(text + 1, "0123456789abcdefABCDEF") != length - 1) {
        return false;
    }
    for (size_t i = 1; i < length; i++) {
        uint32_t digit = (uint32_t)(text[i] <= '9' ? text[i] - '0' : (text[i] | 32) - 'a' + 10);

        color = color << 4 | digit;
    }
    *out = length == 7 ? color | 0xFF000000 : color;
    return true;
}

/* ---- members ---- */

struct reader {
    const struct facet_tile_list_desc_host *host;
    uint32_t *words;
};

static bool
complain(const struct reader *r, const char *where, const char *expected, const char *more)
{
    char text[440];

    (void)snprintf(text, sizeof text, "%s%s", expected, more);
    return r->host->complain(r->host->context, where, text);
}

/* "expected one of: ..." with the names of the member's values. */
static bool complain_names(const struct reader *r,
                           const struct facet_layout_member *m,
                           const char *where,
                           const char *expected)
{
    char names[400] = "";

    for (size_t i = 0; i < m->value_count; i++) {
        size_t at = strlen(names);

        (void)snprintf(
            names + at, sizeof names - at, "%s%s", at != 0 ? " " : "", m->values[i].name);
    }
    return complain(r, where, expected, names);
}

/* The value of that name; false when there is none. */
static bool named(const struct facet_layout_member *m, const json_t *name, uint32_t *out)
{
    const char *text = json_string_value(name);

    for (size_t i = 0; i < m->value_count && text != NULL; i++) {
        if (m->values[i].name != NULL && strcmp(m->values[i].name, text) == 0) {
            *out = (uint32_t)m->values[i].first;
            return true;
        }
    }
    return false;
}

static bool read_uint(const struct reader *r,
                      const struct facet_layout_member *m,
                      const json_t *value,
                      const char *where,
                      uint32_t *out)
{
    uint32_t max = m->width >= 32 ? UINT32_MAX : (UINT32_C(1) << m->width) - 1;
    char text[64];

    if (named(m, value, out)) {
        return true;
    }
    if (!facet_tile_list_word(value, out) || *out > max ||
        (m->width < 32 && json_is_integer(value) && json_integer_value(value) < 0)) {
        (void)snprintf(text, sizeof text, "a number from 0 to %u", (unsigned)max);
        return complain(r, where, text, "");
    }
    return true;
}

static bool read_pair(const struct reader *r, const json_t *value, const char *where, uint32_t *out)
{
    json_int_t half[2];

    for (size_t i = 0; i < 2; i++) {
        const json_t *item = json_array_get(value, i);

        half[i] = json_integer_value(item);
        if (json_array_size(value) != 2 || !json_is_integer(item) || half[i] < -32768 ||
            half[i] > 65535) {
            return complain(r, where, "two numbers from -32768 to 65535", "");
        }
    }
    *out = ((uint32_t)half[0] & 0xFFFF) | (uint32_t)half[1] << 16;
    return true;
}

static bool read_flags(const struct reader *r,
                       const struct facet_layout_member *m,
                       const json_t *value,
                       const char *where,
                       uint32_t *out)
{
    uint32_t bit;

    *out = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (!named(m, json_array_get(value, i), &bit)) {
            return complain_names(r, m, where, "a list of: ");
        }
        *out |= UINT32_C(1) << bit;
    }
    return json_is_array(value) || complain_names(r, m, where, "a list of: ");
}

/* One element of the member as the bits that it stores. */
static bool read_element(const struct reader *r,
                         const struct facet_layout_member *m,
                         const json_t *value,
                         const char *where,
                         uint32_t *out)
{
    switch ((enum facet_layout_type)m->type) {
    case FACET_LAYOUT_UINT:
        return read_uint(r, m, value, where, out);
    case FACET_LAYOUT_ADDRESS:
        return r->host->address(r->host->context, value, where, out);
    case FACET_LAYOUT_COLOR:
        return facet_tile_list_color(value, out) ||
               complain(r, where, "a colour: \"#RRGGBB\", \"#AARRGGBB\" or a number", "");
    case FACET_LAYOUT_FLOAT:
        return facet_tile_list_float(value, out) ||
               complain(r, where, "a number, or a \"0x...\" pattern", "");
    case FACET_LAYOUT_PAIR:
    case FACET_LAYOUT_IPAIR:
        return read_pair(r, value, where, out);
    case FACET_LAYOUT_FLAGS:
        return read_flags(r, m, value, where, out);
    case FACET_LAYOUT_ENUM:
        return named(m, value, out) || complain_names(r, m, where, "one of: ");
    case FACET_LAYOUT_INT: /* none of the structures here has one */
    case FACET_LAYOUT_FIXED:
    case FACET_LAYOUT_ELEMENT:
    case FACET_LAYOUT_STRUCTURE:
        break;
    }
    return complain(r, where, "nothing", "");
}

static bool read_member(const struct reader *r,
                        const struct facet_layout_member *m,
                        const json_t *value,
                        const char *where)
{
    const uint32_t at = 8 * m->offset + m->lo;
    char text[64];
    uint32_t bits;

    if (m->count > 1 && json_array_size(value) != m->count) {
        (void)snprintf(text, sizeof text, "a list of %u numbers", (unsigned)m->count);
        return complain(r, where, text, "");
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const json_t *item = m->count > 1 ? json_array_get(value, i) : value;

        if (!read_element(r, m, item, where, &bits)) {
            return false;
        }
        if (m->type == FACET_LAYOUT_FLAGS) { /* its other bits belong to others */
            bits |= (uint32_t)facet_layout_get32(r->words, at, m->width);
        }
        facet_layout_set32(r->words, at + i * m->width, m->width, bits);
    }
    return true;
}

static bool
unknown(const struct reader *r, const struct facet_layout_row *layout, const char *where)
{
    char names[400] = "";

    for (size_t i = 0; i < layout->member_count; i++) {
        size_t at = strlen(names);

        if (layout->members[i].type != FACET_LAYOUT_FIXED) {
            (void)snprintf(
                names + at, sizeof names - at, "%s%s", at != 0 ? " " : "", layout->members[i].name);
        }
    }
    return complain(r, where, "one of the fields: ", names);
}

bool facet_tile_list_desc_read(const struct facet_tile_list_desc_host *host,
                               const struct facet_layout_row *layout,
                               const json_t *object,
                               const char *where,
                               uint32_t words[FACET_TILE_LIST_DESC_MAX_WORDS])
{
    struct reader r = {host, words};
    const char *key;
    json_t *value;

    memset(words, 0, FACET_TILE_LIST_DESC_MAX_WORDS * sizeof *words);
    for (size_t i = 0; i < layout->member_count; i++) {
        const struct facet_layout_member *m = &layout->members[i];

        if (m->preset != 0) {
            facet_layout_set32(words, 8 * m->offset + m->lo, m->width, m->preset);
        }
    }
    if (!json_is_object(object)) {
        return complain(&r, where, "an object with the descriptor's fields", "");
    }
    json_object_foreach((json_t *)object, key, value)
    {
        const struct facet_layout_member *m = facet_layout_member_find(layout, key);
        char path[200];

        (void)snprintf(path, sizeof path, "%.120s.%.60s", where, key);
        if (m == NULL || m->type == FACET_LAYOUT_FIXED || strcmp(m->name, key) != 0) {
            return unknown(&r, layout, path);
        }
        if (!read_member(&r, m, value, path)) {
            return false;
        }
    }
    return true;
}
