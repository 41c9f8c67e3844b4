/* See text.h. */
#include "scene/text.h"
#include "base/float.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct facet_text facet_text_of(const void *data, size_t size)
{
    const char *at = data;
    const size_t mark = size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    return (struct facet_text){.at = at + mark, .end = at + size, .line = 1};
}

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* The bytes of the line end at `at`: 0 when there is none. */
static size_t line_end(const struct facet_text *text, const char *at)
{
    if (at >= text->end || !ends_line(*at)) {
        return 0;
    }
    return *at == '\r' && at + 1 < text->end && at[1] == '\n' ? 2 : 1;
}

/* The bytes of a backslash and the line end after it: 0 when there is no such joint at `at`. */
static size_t joint(const struct facet_text *text, const char *at)
{
    size_t bytes = text->continues && *at == '\\' ? line_end(text, at + 1) : 0;

    return bytes != 0 ? bytes + 1 : 0;
}

static void skip_blanks(struct facet_text *text)
{
    size_t bytes;

    while (text->at < text->end) {
        if (is_blank(*text->at)) {
            text->at++;
        } else if ((bytes = joint(text, text->at)) != 0) {
            text->at += bytes;
            text->line++;
        } else {
            break;
        }
    }
}

/* Most bytes of a word are neither a backslash nor at most as large as a blank. */
static bool ends_word(const struct facet_text *text, const char *at)
{
    const uint8_t c = (uint8_t)*at;

    return c <= ' ' ? is_blank(*at) || ends_line(*at) : c == '\\' && joint(text, at) != 0;
}

bool facet_text_word(struct facet_text *text, struct facet_span *word)
{
    const char *at;

    skip_blanks(text);
    at = text->at;
    while (at < text->end && !ends_word(text, at)) {
        at++;
    }
    *word = (struct facet_span){text->at, (size_t)(at - text->at)};
    text->at = at;
    return word->size != 0;
}

static struct facet_span trimmed(struct facet_span span)
{
    while (span.size != 0 && is_blank(span.at[span.size - 1])) {
        span.size--;
    }
    return span;
}

struct facet_span facet_text_rest(struct facet_text *text)
{
    struct facet_span rest;

    skip_blanks(text);
    rest = (struct facet_span){text->at, 0};
    while (text->at < text->end && !ends_line(*text->at) && joint(text, text->at) == 0) {
        text->at++;
    }
    rest.size = (size_t)(text->at - rest.at);
    return trimmed(rest);
}

struct facet_span facet_text_name(struct facet_text *text)
{
    struct facet_span name = facet_text_rest(text);

    for (size_t i = 0; i < name.size; i++) {
        /* "Tile #3" is a name, "Tile # the third" ends in a comment. */
        if (name.at[i] == '#' && (i == 0 || is_blank(name.at[i - 1])) &&
            (i + 1 == name.size || is_blank(name.at[i + 1]))) {
            name.size = i;
        }
    }
    return trimmed(name);
}

bool facet_text_goes_on(struct facet_text *text)
{
    const size_t bytes = text->at < text->end ? joint(text, text->at) : 0;

    text->at += bytes;
    text->line += bytes != 0;
    return bytes != 0;
}

bool facet_text_next_line(struct facet_text *text)
{
    size_t bytes;

    while (text->at < text->end && !ends_line(*text->at)) {
        bytes = joint(text, text->at);
        text->at += bytes != 0 ? bytes : 1;
        text->line += bytes != 0;
    }
    bytes = line_end(text, text->at);
    text->at += bytes;
    text->line += bytes != 0;
    return text->at < text->end;
}

bool facet_text_word_anywhere(struct facet_text *text, struct facet_span *word)
{
    while (!facet_text_word(text, word)) {
        if (!facet_text_next_line(text)) {
            return false;
        }
    }
    return true;
}

bool facet_span_is(struct facet_span span, const char *word)
{
    return strlen(word) == span.size && memcmp(span.at, word, span.size) == 0;
}

bool facet_span_is_anycase(struct facet_span span, const char *word)
{
    return facet_span_is(span, word) ||
           (strlen(word) == span.size && strncasecmp(span.at, word, span.size) == 0);
}

bool facet_span_in(struct facet_span span, const char *list)
{
    char wanted[40];

    if (span.size > sizeof wanted - 3 || memchr(span.at, '\0', span.size) != NULL) {
        return false;
    }
    (void)snprintf(wanted, sizeof wanted, " %.*s ", (int)span.size, span.at);
    return strstr(list, wanted) != NULL;
}

/* ---- numbers ---- */

#define MOST_DIGITS 800 /* of a word that is taken for a number; no float needs a sixth of it */

/* A number: the value of its digits, and the power of ten that it is multiplied with. */
struct decimal {
    bool negative;
    uint64_t value; /* of the first 18 digits */
    unsigned count; /* of digits after leading zeros */
    int exponent;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_exponent(const char *at, const char *end, int *out)
{
    const bool negative = at < end && *at == '-';
    int value = 0;

    at += at < end && (*at == '-' || *at == '+');
    if (at == end) {
        return false;
    }
    for (; at < end; at++) {
        if (!is_digit(*at)) {
            return false;
        }
        value = value < 100000 ? 10 * value + (*at - '0') : value;
    }
    *out = negative ? -value : value;
    return true;
}

static bool read_decimal(struct facet_span span, struct decimal *d)
{
    const char *at = span.at, *end = span.at + span.size;
    bool fraction = false, any = false;
    int exponent = 0;

    d->negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && (is_digit(*at) || (*at == '.' && !fraction)); at++) {
        if (*at == '.') {
            fraction = true;
        } else {
            any = true;
            d->exponent -= fraction;
            d->count += d->count != 0 || *at != '0';
            d->value = d->count <= 18 ? 10 * d->value + (uint64_t)(*at - '0') : d->value;
        }
    }
    if (!any || (at < end && *at != 'e' && *at != 'E')) {
        return false;
    }
    if (at < end && !read_exponent(at + 1, end, &exponent)) {
        return false;
    }
    d->exponent += exponent;
    return true;
}

/* Correct for every number: the C library's way, without the decimal point that a locale may write
 * differently. */
static float slow_float(struct facet_span span, const struct decimal *d)
{
    char text[MOST_DIGITS + 32];
    size_t used = 0;

    for (size_t i = 0; i < span.size && span.at[i] != 'e' && span.at[i] != 'E'; i++) {
        if (is_digit(span.at[i])) {
            text[used++] = span.at[i];
        }
    }
    (void)snprintf(text + used, sizeof text - used, "e%d", d->exponent);
    return strtof(text, NULL);
}

/* Digits below 2^53 and a power of ten up to 10^22 are exact doubles, so their product or quotient
 * is rounded once, to 53 bits. Rounding that again, to 24 bits, is right unless it lies exactly
 * half-way between two floats: the first rounding may have moved it there. */
static bool fast_float(const struct decimal *d, float *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value;
    uint64_t bits;

    if (d->count > 18 || d->value >> 53 != 0 || d->exponent < -22 || d->exponent > 15) {
        return false;
    }
    value = d->exponent < 0 ? (double)d->value / powers[-d->exponent]
                            : (double)d->value * powers[d->exponent];
    bits = facet_double_bits(value);
    *out = (float)value;
    return (bits & 0x1FFFFFFFU) != 0x10000000U;
}

bool facet_span_float(struct facet_span span, float *out)
{
    struct decimal d = {.count = 0};

    if (span.size > MOST_DIGITS || !read_decimal(span, &d)) {
        return false;
    }
    if (d.count == 0) {
        *out = 0.0F;
    } else if (!fast_float(&d, out)) {
        *out = slow_float(span, &d);
    }
    *out = d.negative ? -*out : *out;
    return isfinite(*out);
}
