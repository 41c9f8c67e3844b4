/* See record.h. */
#include "record/record.h"

#include "base/float.h"
#include "base/plain.h"
#include "base/require.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void facet_record_init(struct facet_record *r, bool json)
{
    memset(r, 0, sizeof *r);
    facet_strbuf_init(&r->text);
    r->json = json;
}

void facet_record_free(struct facet_record *r)
{
    facet_strbuf_free(&r->text);
}

static bool in_list(const struct facet_record *r)
{
    return r->depth != 0 && (r->lists >> (r->depth - 1) & 1) != 0;
}

/* ---- text ---- */

static void end_line(struct facet_record *r)
{
    if (!r->json && r->begun) {
        if (r->rule != NULL) {
            facet_strbuf_printf(&r->text, "  (%s)", r->rule);
        }
        facet_strbuf_putc(&r->text, '\n');
    }
    r->rule = NULL;
    r->begun = false;
}

static void begin_line(struct facet_record *r)
{
    end_line(r);
    facet_strbuf_printf(&r->text, "%*s", (int)r->indent + 2 * __builtin_popcount(r->headed), "");
    r->begun = true;
    r->blank = true;
}

/* The next words of a line: a new one if need be, else after `blanks` blanks. */
static void next_words(struct facet_record *r, int blanks)
{
    if (!r->begun) {
        begin_line(r);
    }
    facet_strbuf_printf(&r->text, "%*s", r->blank ? 0 : blanks, "");
    r->blank = false;
}

/* Words of anybody, on a line of text or in a JSON string. What base/plain.h spells (\u001b) is
 * JSON's own spelling, but for a byte that is no UTF-8 (\x9b). */
static void put_words(struct facet_record *r, const char *words, size_t length)
{
    while (length != 0) {
        char shown[FACET_PLAIN_MOST];
        size_t used, count = facet_plain_char(words, length, shown, &used);

        if (r->json && (*words == '"' || *words == '\\' || (count > 1 && shown[1] == 'x'))) {
            facet_strbuf_putc(&r->text, '\\');
        }
        facet_strbuf_add(&r->text, shown, count);
        words += used;
        length -= used;
    }
}

/* ---- JSON ---- */

/* The key of the innermost list around what comes now, "" for none. */
static const char *list_around(const struct facet_record *r)
{
    for (unsigned d = r->depth; d-- > 0;) {
        if (r->list[d] != NULL) {
            return r->list[d];
        }
    }
    return "";
}

static void note_rule(struct facet_record *r, const char *key)
{
    struct facet_record_rules *rules = r->rules;
    const char *list;

    if (rules == NULL || r->rule == NULL || key == NULL) {
        return;
    }
    list = list_around(r);
    for (unsigned i = 0; i < rules->count; i++) {
        if (strcmp(rules->rule[i].key, key) == 0 && strcmp(rules->rule[i].list, list) == 0) {
            return;
        }
    }
    if (rules->count < sizeof rules->rule / sizeof rules->rule[0]) {
        rules->rule[rules->count++] = (struct facet_record_rule){list, key, r->rule};
    }
}

static void new_line(struct facet_record *r)
{
    if (r->depth != 0) {
        facet_strbuf_printf(&r->text, "\n%*s", 2 * (int)r->depth, "");
    }
}

/* Lists of plain values stay on one line. */
static void begin_member(struct facet_record *r, const char *key, bool object)
{
    FACET_REQUIRE((key == NULL) == (r->depth == 0 || in_list(r)));
    if (r->begun) {
        facet_strbuf_putc(&r->text, ',');
    }
    if (!in_list(r) || object) {
        new_line(r);
    } else if (r->begun) {
        facet_strbuf_putc(&r->text, ' ');
    }
    if (key != NULL) {
        facet_strbuf_printf(&r->text, "\"%s\": ", key);
    }
    note_rule(r, key);
    r->begun = true;
    r->nested = object;
}

/* ---- structure ---- */

static void enter(struct facet_record *r, bool list, bool headed)
{
    FACET_REQUIRE(r->depth < 32);
    r->lists = (r->lists & ~(UINT32_C(1) << r->depth)) | (uint32_t)list << r->depth;
    r->headed = (r->headed & ~(UINT32_C(1) << r->depth)) | (uint32_t)headed << r->depth;
    r->list[r->depth] = NULL;
    r->depth++;
}

void facet_record_open(struct facet_record *r, const char *key, const char *heading, ...)
{
    if (r->json) {
        begin_member(r, key, true);
        facet_strbuf_putc(&r->text, '{');
        r->begun = false;
        r->rule = NULL;
    } else if (heading != NULL) {
        va_list args;

        begin_line(r);
        next_words(r, 0);
        va_start(args, heading);
        facet_strbuf_vprintf(&r->text, heading, args);
        va_end(args);
    }
    enter(r, false, heading != NULL);
}

void facet_record_list(struct facet_record *r, const char *key)
{
    if (r->json) {
        begin_member(r, key, false);
        facet_strbuf_putc(&r->text, '[');
        r->begun = false;
        r->nested = false;
    }
    enter(r, true, false);
    r->list[r->depth - 1] = key;
}

void facet_record_close(struct facet_record *r)
{
    const bool list = in_list(r);

    FACET_REQUIRE(r->depth != 0);
    r->depth--;
    r->headed &= ~(UINT32_C(1) << r->depth);
    if (r->json) {
        if (r->begun && (!list || r->nested)) {
            facet_strbuf_printf(&r->text, "\n%*s", 2 * (int)r->depth, "");
        }
        facet_strbuf_putc(&r->text, list ? ']' : '}');
        r->rule = list ? r->rule : NULL;
        r->begun = true;
        r->nested = !list;
    }
}

void facet_record_end(struct facet_record *r)
{
    if (r->json) {
        facet_strbuf_putc(&r->text, '\n');
    } else {
        end_line(r);
    }
}

void facet_record_line(struct facet_record *r, const char *label, const char *rule)
{
    if (!r->json) {
        begin_line(r);
        if (label != NULL) {
            next_words(r, 0);
            facet_strbuf_printf(&r->text, "%-11s", label);
        }
    }
    r->rule = rule;
}

void facet_record_say(struct facet_record *r, const char *format, ...)
{
    if (!r->json) {
        va_list args;

        next_words(r, 0);
        va_start(args, format);
        facet_strbuf_vprintf(&r->text, format, args);
        va_end(args);
    }
}

/* ---- values ---- */

/* The key; the value comes next. */
static void begin_value(struct facet_record *r, const char *key)
{
    if (r->json) {
        begin_member(r, key, false);
        return;
    }
    next_words(r, key != NULL ? 2 : 1);
    if (key != NULL) {
        facet_strbuf_printf(&r->text, "%s ", key);
    }
}

void facet_record_number(struct facet_record *r, const char *key, int64_t value)
{
    begin_value(r, key);
    facet_strbuf_printf(&r->text, "%" PRId64, value);
}

void facet_record_hex(struct facet_record *r, const char *key, uint64_t value, unsigned digits)
{
    begin_value(r, key);
    if (r->json) {
        facet_strbuf_printf(&r->text, "\"0x%" PRIx64 "\"", value);
    } else {
        facet_strbuf_printf(
            &r->text, digits != 0 ? "%0*" PRIX64 : "0x%*" PRIx64, (int)digits, value);
    }
}

void facet_record_bool(struct facet_record *r, const char *key, bool value)
{
    if (r->json) {
        begin_value(r, key);
        facet_strbuf_puts(&r->text, value ? "true" : "false");
    } else if (value) {
        next_words(r, 2);
        facet_strbuf_puts(&r->text, key);
    }
}

static void put_word(struct facet_record *r, const char *key, const char *word, size_t length)
{
    const char *quote = r->json ? "\"" : "";

    begin_value(r, key);
    facet_strbuf_puts(&r->text, quote);
    put_words(r, word, length);
    facet_strbuf_puts(&r->text, quote);
}

void facet_record_word(struct facet_record *r, const char *key, const char *word)
{
    if (word != NULL) {
        put_word(r, key, word, strlen(word));
    } else if (r->json) {
        begin_value(r, key);
        facet_strbuf_puts(&r->text, "null");
    }
}

/* A list of values: in the text its key, and the values after it. */
static void begin_values(struct facet_record *r, const char *key)
{
    facet_record_list(r, key);
    if (!r->json) {
        next_words(r, 2);
        facet_strbuf_puts(&r->text, key);
    }
}

void facet_record_words(struct facet_record *r, const char *key, const char *words)
{
    if (!r->json && *words == '\0') {
        return;
    }
    begin_values(r, key);
    while (*words != '\0') {
        size_t length = strcspn(words, " ");

        put_word(r, NULL, words, length);
        words += length;
        words += strspn(words, " ");
    }
    facet_record_close(r);
}

void facet_record_numbers(struct facet_record *r,
                          const char *key,
                          const int64_t *values,
                          unsigned count)
{
    begin_values(r, key);
    for (unsigned i = 0; i < count; i++) {
        facet_record_number(r, NULL, values[i]);
    }
    facet_record_close(r);
}

void facet_record_hexes(struct facet_record *r,
                        const char *key,
                        const uint32_t *values,
                        unsigned count,
                        unsigned digits)
{
    begin_values(r, key);
    for (unsigned i = 0; i < count; i++) {
        facet_record_hex(r, NULL, values[i], digits);
    }
    facet_record_close(r);
}

/* ---- floating point ---- */

static void put_real(struct facet_record *r, double value)
{
    char text[32];

    if (!isfinite(value)) {
        facet_strbuf_printf(&r->text, "\"%s\"", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    (void)snprintf(text, sizeof text, "%.17g", value);
    facet_strbuf_puts(&r->text, text);
    if (strpbrk(text, ".e") == NULL) { /* a real number to every reader */
        facet_strbuf_puts(&r->text, ".0");
    }
}

void facet_record_real(struct facet_record *r, const char *key, double value)
{
    begin_value(r, key);
    if (r->json) {
        put_real(r, value);
    } else {
        facet_strbuf_printf(&r->text, "%.9g", value);
    }
}

void facet_record_value(
    struct facet_record *r, const char *key, uint32_t bits, unsigned width, double value)
{
    const int digits = ((int)width + 3) / 4;

    begin_value(r, key);
    if (r->json) {
        facet_strbuf_printf(&r->text, "{\"bits\": \"0x%0*" PRIx32 "\", \"value\": ", digits, bits);
        put_real(r, value);
        facet_strbuf_putc(&r->text, '}');
    } else if (isnan(value)) { /* no sign: hosts print that of a NaN differently */
        facet_strbuf_printf(&r->text, "%0*" PRIX32 " (nan)", digits, bits);
    } else {
        facet_strbuf_printf(&r->text, "%0*" PRIX32 " (%.9g)", digits, bits, value);
    }
}

void facet_record_float(struct facet_record *r, const char *key, float value)
{
    uint32_t bits = facet_float_bits(value);

    facet_record_value(r, key, bits, 32, (double)value);
}

void facet_record_f32(struct facet_record *r, const char *key, uint32_t bits)
{
    float value = facet_float_of(bits);

    facet_record_value(r, key, bits, 32, (double)value);
}

void facet_record_vector(
    struct facet_record *r, const char *key, const char *rule, const void *values, unsigned count)
{
    static const char *const axis[] = {"x", "y", "z", "w"};
    const unsigned row = count % 4 == 0 ? 4 : 3;

    if (r->json) { /* a line of its own */
        r->rule = rule;
    }
    facet_record_list(r, key);
    for (unsigned i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, (const char *)values + 4 * (size_t)i, sizeof bits);
        if (i % row == 0) {
            facet_record_line(r, i == 0 ? key : "", i == 0 ? rule : NULL);
        }
        facet_record_f32(r, r->json ? NULL : axis[i % row], bits);
    }
    facet_record_close(r);
    r->rule = r->json ? NULL : r->rule;
}
