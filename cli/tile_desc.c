/* See tile_desc.h. */
#include "cli/tile_desc.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

enum field_type {
    FIELD_UINT,    /* [lo, lo + width) of the word */
    FIELD_ADDRESS, /* a whole word */
    FIELD_COLOR,
    FIELD_FLOAT,
    FIELD_FLOATS, /* `width` of them */
    FIELD_PAIR,   /* two 16-bit halves, each -32768..65535 */
    FIELD_ENUM,
    FIELD_FLAGS, /* a list of names; bit lo + n for name n, "" for bits that are none */
};

struct field {
    const char *name;
    enum field_type type;
    uint8_t word, lo, width;
    const char *choices; /* ENUM, FLAGS: parted by spaces */
};

#define END                                                                                        \
    {                                                                                              \
        NULL, FIELD_UINT, 0, 0, 0, NULL                                                            \
    }
#define DRAW_FLAGS "- TEXTURED DEPTH - - FLAT"

/* clang-format off */
static const struct field rstate[] = {
    {"fb_base", FIELD_ADDRESS, 0, 0, 32, NULL},
    {"fb_stride", FIELD_UINT, 1, 0, 32, NULL},
    {"fb_format", FIELD_ENUM, 2, 0, 8, "RGB565 ARGB8888"},
    {"fb_wh", FIELD_PAIR, 3, 0, 32, NULL},
    {"depth_base", FIELD_ADDRESS, 4, 0, 32, NULL},
    {"depth_stride", FIELD_UINT, 5, 0, 32, NULL},
    {"depth_format", FIELD_ENUM, 6, 0, 8, "none D16 D32F"},
    {"depth_function", FIELD_ENUM, 6, 8, 3, "never less equal lequal greater notequal gequal always"},
    {"blend", FIELD_ENUM, 7, 0, 8, "opaque alpha additive"},
    {"const_color", FIELD_COLOR, 8, 0, 32, NULL},
    {"sampler", FIELD_UINT, 9, 0, 5, NULL},
    {"scissor_xy", FIELD_PAIR, 10, 0, 32, NULL},
    {"scissor_wh", FIELD_PAIR, 11, 0, 32, NULL},
    {"flags", FIELD_FLAGS, 12, 0, 32, "SCISSOR TEXTURE DEPTH ZWRITE_OFF TEX_NORM"},
    {"viewport_xy", FIELD_PAIR, 13, 0, 32, NULL},
    {"viewport_wh", FIELD_PAIR, 14, 0, 32, NULL},
    {"rect_z", FIELD_FLOAT, 15, 0, 32, NULL},
    END};
static const struct field vertex[] = {
    {"x", FIELD_FLOAT, 0, 0, 32, NULL},
    {"y", FIELD_FLOAT, 1, 0, 32, NULL},
    {"z", FIELD_FLOAT, 2, 0, 32, NULL},
    {"w", FIELD_FLOAT, 3, 0, 32, NULL},
    {"u", FIELD_FLOAT, 4, 0, 32, NULL},
    {"v", FIELD_FLOAT, 5, 0, 32, NULL},
    {"color", FIELD_COLOR, 6, 0, 32, NULL},
    END};
static const struct field rdraw[] = {
    {"state_id", FIELD_UINT, 0, 0, 16, NULL},
    {"flags", FIELD_FLAGS, 0, 16, 16, DRAW_FLAGS " AFFINE STATE_COLOR"},
    {"blend", FIELD_ENUM, 0, 19, 2, "state opaque alpha additive"},
    {"vtx_ptr", FIELD_ADDRESS, 1, 0, 32, NULL},
    END};
static const struct field rrect[] = {
    {"state_id", FIELD_UINT, 0, 0, 16, NULL},
    {"flags", FIELD_FLAGS, 0, 16, 16, DRAW_FLAGS " STRETCH STATE_COLOR"},
    {"blend", FIELD_ENUM, 0, 19, 2, "state opaque alpha additive"},
    {"xy", FIELD_PAIR, 1, 0, 32, NULL},
    {"wh", FIELD_PAIR, 2, 0, 32, NULL},
    {"color", FIELD_COLOR, 3, 0, 32, NULL},
    {"uv", FIELD_PAIR, 3, 0, 32, NULL},
    END};
static const struct field gstate[] = {
    {"vbo_base", FIELD_ADDRESS, 0, 0, 32, NULL},
    {"stride", FIELD_UINT, 1, 0, 16, NULL},
    {"attributes", FIELD_FLAGS, 1, 16, 16, "NORMAL UV UV_FP16 COLOR"},
    {"index_base", FIELD_ADDRESS, 2, 0, 32, NULL},
    {"index_type", FIELD_ENUM, 3, 0, 1, "u16 u32"},
    {"cull", FIELD_ENUM, 3, 1, 2, "none CW CCW"},
    {"flags", FIELD_FLAGS, 3, 0, 32, "- - - CLIP USER_PLANE LIGHT SPEC SCISSOR"},
    {"mvp", FIELD_FLOATS, 4, 0, 16, NULL},
    {"normal_ptr", FIELD_ADDRESS, 20, 0, 32, NULL},
    {"light_dir", FIELD_FLOATS, 21, 0, 3, NULL},
    {"light_color", FIELD_COLOR, 24, 0, 32, NULL},
    {"ambient", FIELD_COLOR, 25, 0, 32, NULL},
    {"plane_ptr", FIELD_ADDRESS, 26, 0, 32, NULL},
    {"guard", FIELD_FLOAT, 27, 0, 32, NULL},
    {"viewport_xy", FIELD_PAIR, 28, 0, 32, NULL},
    {"viewport_wh", FIELD_PAIR, 29, 0, 32, NULL},
    {"scissor_xy", FIELD_PAIR, 30, 0, 32, NULL},
    {"scissor_wh", FIELD_PAIR, 31, 0, 32, NULL},
    END};
static const struct field gparam[] = {
    {"model", FIELD_FLOATS, 0, 0, 12, NULL},
    {"material", FIELD_COLOR, 12, 0, 32, NULL},
    {"spec_power", FIELD_UINT, 13, 0, 8, NULL},
    {"spec_color", FIELD_COLOR, 14, 0, 32, NULL},
    {"flags", FIELD_FLAGS, 15, 0, 32, "MODEL MATERIAL"},
    END};
static const struct field gdraw[] = {
    {"vtx_base", FIELD_UINT, 0, 0, 32, NULL},
    {"idx_base", FIELD_UINT, 1, 0, 32, NULL},
    {"count", FIELD_UINT, 2, 0, 32, NULL},
    {"topology", FIELD_ENUM, 3, 0, 32, "list strip"},
    {"gstate", FIELD_UINT, 4, 0, 8, NULL},
    {"rstate", FIELD_UINT, 4, 8, 8, NULL},
    {"gparam", FIELD_UINT, 4, 16, 16, NULL},
    {"flags", FIELD_FLAGS, 5, 0, 32, "INDEXED FLAT CU_ASSIST RESTART - - - - AFFINE"},
    {"cull", FIELD_ENUM, 5, 4, 2, "state CW CCW none"},
    {"clip", FIELD_ENUM, 5, 6, 2, "state on off"},
    END};
static const struct field packet[] = {
    {"pc", FIELD_ADDRESS, 0, 0, 32, NULL},
    {"grid", FIELD_PAIR, 1, 0, 32, NULL},
    {"tile", FIELD_PAIR, 2, 0, 32, NULL},
    {"arg_base", FIELD_ADDRESS, 3, 0, 32, NULL},
    {"arg_size", FIELD_UINT, 4, 0, 32, NULL},
    {"shared_size", FIELD_UINT, 5, 0, 32, NULL},
    {"priority", FIELD_UINT, 6, 0, 8, NULL},
    {"core_mask", FIELD_UINT, 6, 8, 4, NULL},
    {"const_base", FIELD_ADDRESS, 7, 0, 32, NULL},
    {"const_size", FIELD_UINT, 8, 0, 32, NULL},
    {"wdog", FIELD_UINT, 9, 0, 32, NULL},
    END};
static const struct field sampler[] = {
    {"base", FIELD_ADDRESS, 0, 0, 32, NULL},
    {"stride", FIELD_UINT, 1, 0, 32, NULL},
    {"width", FIELD_UINT, 2, 0, 16, NULL},
    {"height", FIELD_UINT, 3, 0, 16, NULL},
    {"format", FIELD_ENUM, 4, 0, 2, "RGB565 ARGB8888 PAL8"},
    {"palette", FIELD_UINT, 4, 2, 2, NULL},
    {"swizzle", FIELD_ENUM, 4, 4, 2, "RGBA BGRA RGB1 RRR1"},
    {"wrap_u", FIELD_ENUM, 5, 0, 2, "clamp repeat"},
    {"wrap_v", FIELD_ENUM, 5, 2, 2, "clamp repeat"},
    {"filter", FIELD_ENUM, 6, 0, 2, "nearest bilinear"},
    {"palette_base", FIELD_ADDRESS, 7, 0, 32, NULL},
    END};
/* clang-format on */

static const struct {
    const struct field *fields;
    uint8_t words, align;
    uint8_t preset_word; /* a word whose default is not 0 */
    uint32_t preset;
} kinds[TILE_DESC_KINDS] = {
    [TILE_DESC_RSTATE] = {rstate, 16, 32, 0, 0},
    [TILE_DESC_VERTEX] = {vertex, 8, 32, 3, 0x3F800000}, /* w = 1 */
    [TILE_DESC_RDRAW] = {rdraw, 4, 16, 0, 0xFFFF},
    [TILE_DESC_RRECT] = {rrect, 4, 16, 0, 0x1FFFF},
    [TILE_DESC_GSTATE] = {gstate, 32, 64, 0, 0},
    [TILE_DESC_GPARAM] = {gparam, 16, 32, 0, 0},
    [TILE_DESC_GDRAW] = {gdraw, 6, 16, 4, 0xFFFFFFFF},
    [TILE_DESC_PACKET] = {packet, 16, 32, 0, 0},
    [TILE_DESC_SAMPLER] = {sampler, 8, 32, 0, 0},
};

uint32_t tile_desc_words(enum tile_desc_kind kind)
{
    return kinds[kind].words;
}

uint32_t tile_desc_align(enum tile_desc_kind kind)
{
    return kinds[kind].align;
}

/* ---- small values ---- */

bool tile_json_word(const json_t *value, uint32_t *out)
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

bool tile_json_float(const json_t *value, uint32_t *bits)
{
    float number = (float)json_number_value(value);

    if (!json_is_number(value)) { /* a pattern: infinities, NaNs */
        return json_is_string(value) && tile_json_word(value, bits);
    }
    memcpy(bits, &number, sizeof *bits);
    return true;
}

bool tile_json_color(const json_t *value, uint32_t *out)
{
    const char *text = json_string_value(value);
    size_t length = text != NULL ? strlen(text) : 0;
    uint32_t color = 0;

    if (text == NULL || text[0] != '#') {
        return tile_json_word(value, out);
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

/* ---- fields ---- */

/* The number of the word among `choices`, or -1. */
static int choice(const char *choices, const char *name)
{
    size_t length = strlen(name);

    for (int n = 0; *choices != '\0' && length != 0; n++) {
        size_t end = strcspn(choices, " ");

        if (end == length && strncmp(choices, name, length) == 0 && name[0] != '-') {
            return n;
        }
        choices += end + (choices[end] == ' ');
    }
    return -1;
}

struct reader {
    const struct tile_desc_host *host;
    uint32_t *words;
};

static bool
complain(const struct reader *r, const char *where, const char *expected, const char *more)
{
    char text[440];

    (void)snprintf(text, sizeof text, "%s%s", expected, more != NULL ? more : "");
    return r->host->complain(r->host->context, where, text);
}

static void place(const struct reader *r, const struct field *f, uint32_t value)
{
    uint32_t mask = f->width >= 32 ? UINT32_MAX : ((UINT32_C(1) << f->width) - 1) << f->lo;

    r->words[f->word] = (r->words[f->word] & ~mask) | (value << f->lo & mask);
}

static bool
read_uint(const struct reader *r, const struct field *f, const json_t *value, const char *where)
{
    uint32_t max = f->width >= 32 ? UINT32_MAX : (UINT32_C(1) << f->width) - 1, word;
    char text[64];

    if (!tile_json_word(value, &word) || word > max ||
        (f->width < 32 && json_is_integer(value) && json_integer_value(value) < 0)) {
        (void)snprintf(text, sizeof text, "a number from 0 to %u", (unsigned)max);
        return complain(r, where, text, NULL);
    }
    place(r, f, word);
    return true;
}

static bool
read_pair(const struct reader *r, const struct field *f, const json_t *value, const char *where)
{
    json_int_t half[2];

    for (size_t i = 0; i < 2; i++) {
        const json_t *item = json_array_get(value, i);

        half[i] = json_integer_value(item);
        if (json_array_size(value) != 2 || !json_is_integer(item) || half[i] < -32768 ||
            half[i] > 65535) {
            return complain(r, where, "two numbers from -32768 to 65535", NULL);
        }
    }
    r->words[f->word] = ((uint32_t)half[0] & 0xFFFF) | (uint32_t)half[1] << 16;
    return true;
}

static bool
read_floats(const struct reader *r, const struct field *f, const json_t *value, const char *where)
{
    char text[64];

    for (size_t i = 0; i < f->width; i++) {
        if (json_array_size(value) != f->width ||
            !tile_json_float(json_array_get(value, i), &r->words[f->word + i])) {
            (void)snprintf(text, sizeof text, "a list of %u numbers", (unsigned)f->width);
            return complain(r, where, text, NULL);
        }
    }
    return true;
}

static bool
read_flags(const struct reader *r, const struct field *f, const json_t *value, const char *where)
{
    if (!json_is_array(value)) {
        return complain(r, where, "a list of: ", f->choices);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        int bit = name != NULL ? choice(f->choices, name) : -1;

        if (bit < 0) {
            return complain(r, where, "a list of: ", f->choices);
        }
        r->words[f->word] |= UINT32_C(1) << (f->lo + bit);
    }
    return true;
}

static bool
read_field(const struct reader *r, const struct field *f, const json_t *value, const char *where)
{
    uint32_t word = 0;
    int n;

    switch (f->type) {
    case FIELD_UINT:
        return read_uint(r, f, value, where);
    case FIELD_ADDRESS:
        if (!r->host->address(r->host->context, value, where, &word)) {
            return false;
        }
        break;
    case FIELD_COLOR:
        if (!tile_json_color(value, &word)) {
            return complain(r, where, "a colour: \"#RRGGBB\", \"#AARRGGBB\" or a number", NULL);
        }
        break;
    case FIELD_FLOAT:
        if (!tile_json_float(value, &word)) {
            return complain(r, where, "a number, or a \"0x...\" pattern", NULL);
        }
        break;
    case FIELD_FLOATS:
        return read_floats(r, f, value, where);
    case FIELD_PAIR:
        return read_pair(r, f, value, where);
    case FIELD_FLAGS:
        return read_flags(r, f, value, where);
    case FIELD_ENUM:
        n = json_is_string(value) ? choice(f->choices, json_string_value(value)) : -1;
        if (n < 0) {
            return complain(r, where, "one of: ", f->choices);
        }
        word = (uint32_t)n;
        break;
    }
    place(r, f, word);
    return true;
}

static const struct field *find(enum tile_desc_kind kind, const char *name)
{
    for (const struct field *f = kinds[kind].fields; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0) {
            return f;
        }
    }
    return NULL;
}

static bool unknown(const struct reader *r, enum tile_desc_kind kind, const char *where)
{
    char names[400] = "";

    for (const struct field *f = kinds[kind].fields; f->name != NULL; f++) {
        size_t at = strlen(names);

        (void)snprintf(names + at, sizeof names - at, "%s%s", at != 0 ? " " : "", f->name);
    }
    return complain(r, where, "one of the fields: ", names);
}

bool tile_desc_read(const struct tile_desc_host *host,
                    enum tile_desc_kind kind,
                    const json_t *object,
                    const char *where,
                    uint32_t words[TILE_DESC_MAX_WORDS])
{
    struct reader r = {host, words};
    const char *key;
    json_t *value;

    memset(words, 0, TILE_DESC_MAX_WORDS * sizeof *words);
    words[kinds[kind].preset_word] = kinds[kind].preset;
    if (!json_is_object(object)) {
        return complain(&r, where, "an object with the descriptor's fields", NULL);
    }
    json_object_foreach((json_t *)object, key, value)
    {
        const struct field *f = find(kind, key);
        char path[200];

        (void)snprintf(path, sizeof path, "%.120s.%.60s", where, key);
        if (f == NULL) {
            return unknown(&r, kind, path);
        }
        if (!read_field(&r, f, value, path)) {
            return false;
        }
    }
    return true;
}
