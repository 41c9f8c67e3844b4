/* Numbers of the contract one by one: what bits stand for, what a number becomes in every rounding
 * mode, what lies beside it, conversions and operations with the flags that they raise. */
#include "wasm/page.h"

#include "num/decimal.h"
#include "num/flags.h"
#include "num/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXACT_DIGITS = 767, /* that a binary64 number has at most */
    EXACT_TEXT = EXACT_DIGITS + 16,
    PLAIN_DIGITS = 24, /* before or after the point, where no exponent is written */
};

static const char *const modes[FACET_RM_COUNT] = {"RNE", "RTZ", "RDN", "RUP", "RMM"};

/* ---- a value ---- */

/* Digits as people write them: 0.0015 and 1500 where that is short, else 1.5e-45. */
static void place_point(char *out, size_t size, const char *digits, int exponent, bool negative)
{
    static const char zeros[] = "000000000000000000000000";
    const int count = (int)strlen(digits);
    const char *sign = negative ? "-" : "";

    if (exponent > PLAIN_DIGITS || exponent < -PLAIN_DIGITS) {
        const char *point = count > 1 ? "." : "";

        (void)snprintf(out, size, "%s%c%s%se%d", sign, *digits, point, digits + 1, exponent);
    } else if (exponent < 0) {
        (void)snprintf(out, size, "%s0.%.*s%s", sign, -exponent - 1, zeros, digits);
    } else if (count <= exponent + 1) {
        (void)snprintf(out, size, "%s%s%.*s", sign, digits, exponent + 1 - count, zeros);
    } else {
        (void)snprintf(out, size, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
    }
}

/* All decimal digits of a finite number. */
static void exact_text(double value, char out[EXACT_TEXT])
{
    char text[EXACT_TEXT], digits[EXACT_TEXT];
    char *e;
    size_t n = 0;

    if (value == 0) {
        (void)snprintf(out, EXACT_TEXT, "%s0", signbit(value) ? "-" : "");
        return;
    }
    (void)snprintf(text, sizeof text, "%.*e", EXACT_DIGITS - 1, fabs(value));
    e = strchr(text, 'e');
    for (const char *p = text; p < e; p++) {
        if (*p != '.') {
            digits[n++] = *p;
        }
    }
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    digits[n] = '\0';
    place_point(out, EXACT_TEXT, digits, (int)strtol(e + 1, NULL, 10), value < 0);
}

static const char *class_name(enum facet_format format, uint64_t bits)
{
    static const char *const names[] = {"-infinity",
                                        "-normal",
                                        "-subnormal",
                                        "-0",
                                        "+0",
                                        "+subnormal",
                                        "+normal",
                                        "+infinity",
                                        "signaling NaN",
                                        "quiet NaN"};
    unsigned one = facet_num_fclass(format, bits), k = 0;

    while (k < 9 && (one >> k & 1) == 0) {
        k++;
    }
    return names[k];
}

static uint64_t signed_code(enum facet_format format, uint64_t bits)
{
    const unsigned width = facet_format_width(format);

    return (bits ^ UINT64_C(1) << (width - 1)) - (UINT64_C(1) << (width - 1));
}

static void put_flags(struct facet_record *r, unsigned flags)
{
    char text[FACET_FLAG_NAMES];

    facet_record_words(r, "flags", facet_num_flag_names(flags, text));
}

/* The members of a number in the open object. */
static void put_number(struct facet_record *r, enum facet_format format, uint64_t bits)
{
    const unsigned width = facet_format_width(format);
    double value;
    char text[EXACT_TEXT];

    (void)snprintf(text, sizeof text, "0x%0*" PRIx64, (int)(width + 3) / 4, bits);
    facet_record_word(r, "bits", text);
    if (facet_format_is_int(format)) {
        value = (double)(int64_t)signed_code(format, bits);
        facet_record_word(r, "class", value < 0 ? "negative" : value > 0 ? "positive" : "0");
    } else {
        value = facet_num_to_double(format, bits);
        facet_record_word(r, "class", class_name(format, bits));
    }
    facet_record_real(r, "value", value);
    if (isfinite(value)) {
        exact_text(value, text);
        facet_record_word(r, "exact", text);
        (void)snprintf(text, sizeof text, "%a", value);
        facet_record_word(r, "hex", text);
    } else {
        facet_record_word(r, "exact", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        facet_record_word(r, "hex", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    }
}

static void put_object(struct facet_record *r,
                       const char *key,
                       enum facet_format format,
                       uint64_t bits,
                       unsigned flags)
{
    facet_record_open(r, key, NULL);
    put_number(r, format, bits);
    put_flags(r, flags);
    facet_record_close(r);
}

/* ---- what lies beside ---- */

/* The number above in the order of values, for up = true, or below. False at the ends and for NaN.
 * Both zeros have the same neighbours. */
static bool neighbour(enum facet_format format, uint64_t bits, bool up, uint64_t *out)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];
    const uint64_t top = UINT64_C(1) << (f->width - 1), step = f->lite ? 8 : 1;
    const uint64_t least = f->has_subnormals ? 1 : f->lite ? 65 << 7 : UINT64_C(1) << (f->p - 1);
    uint64_t magnitude = bits & (top - 1);
    bool negative = (bits & top) != 0;

    if (facet_num_is_nan(format, bits)) {
        return false;
    }
    if (facet_num_to_double(format, bits) == 0) {
        *out = (up ? 0 : top) | least;
        return true;
    }
    magnitude &= ~(step - 1);
    if (up != negative) { /* away from zero */
        if (magnitude == (f->has_inf ? f->infinity : f->max_finite)) {
            return false;
        }
        magnitude = magnitude == f->max_finite ? f->infinity : magnitude + step;
    } else {
        magnitude = f->has_inf && magnitude == f->infinity ? f->max_finite
                    : magnitude == least                   ? 0
                                                           : magnitude - step;
    }
    *out = (negative ? top : 0) | magnitude;
    return true;
}

static void put_neighbours(struct facet_record *r, enum facet_format format, uint64_t bits)
{
    static const char *const names[] = {"below", "above"};

    for (unsigned up = 0; up < 2; up++) {
        uint64_t other = 0;

        if (!facet_format_is_int(format) && neighbour(format, bits, up, &other)) {
            put_object(r, names[up], format, other, 0);
        } else {
            facet_record_word(r, names[up], NULL);
        }
    }
}

/* ---- exports ---- */

static int bad_format(const char *what, unsigned format)
{
    struct facet_error err = {0};

    (void)facet_fail(&err, FACET_ERR_USAGE, format, "format %u: expected %s", format, what);
    return page_fail(&err);
}

static bool is_float(unsigned format)
{
    return format < FACET_FMT_FP_COUNT;
}

/* {"formats": [{"name", "bits", "floating", "exponent", "fraction", "unused"}]}, in the order of
 * enum facet_format; the parts from the highest bit down behind the sign. */
int PAGE_EXPORT(page_num_formats)(void)
{
    struct facet_record *r = page_begin();

    facet_record_list(r, "formats");
    for (unsigned k = 0; k < FACET_FMT_COUNT; k++) {
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", facet_format_name((enum facet_format)k));
        facet_record_number(r, "bits", facet_format_bits((enum facet_format)k));
        facet_record_bool(r, "floating", is_float(k));
        if (is_float(k)) {
            const struct facet_fp_format *f = &facet_fp_formats[k];
            const int unused = f->lite ? 3 : 0;

            facet_record_number(r, "exponent", f->width - f->p - unused);
            facet_record_number(r, "fraction", f->p - 1);
            facet_record_number(r, "unused", unused);
        }
        facet_record_close(r);
    }
    facet_record_close(r);
    return page_end();
}

/* What bits stand for: {"value": {...}, "below": {...} or null, "above": ...}. */
int PAGE_EXPORT(page_num_bits)(unsigned format, uint64_t bits)
{
    struct facet_record *r;

    if (format >= FACET_FMT_COUNT) {
        return bad_format("a format", format);
    }
    r = page_begin();
    bits &= ~UINT64_C(0) >> (64 - facet_format_width((enum facet_format)format));
    put_object(r, "value", (enum facet_format)format, bits, 0);
    put_neighbours(r, (enum facet_format)format, bits);
    return page_end();
}

/* A number as it is written, in every mode: {"text", "modes": {"RNE": {...}, ...}, "saturated":
 * {...}, "below", "above"}: the numbers of the format on both sides of what was written, equal to
 * it where it is one. */
int PAGE_EXPORT(page_num_round)(unsigned format, const char *text)
{
    static const char *const names[] = {"modes", "saturated"};
    struct facet_record *r;
    struct facet_error err = {0};
    unsigned none = 0;
    size_t length = 0;

    if (!is_float(format)) {
        return bad_format("a floating-point one", format);
    }
    (void)facet_num_from_text((enum facet_format)format, text, &length, &none);
    if (length == 0 || text[length] != '\0') {
        (void)facet_fail(&err,
                         FACET_ERR_INPUT,
                         length + 1,
                         "\"%.40s\", character %zu: expected a number such as -0.1, 1e-7, 0x1.8p3, "
                         "inf or nan",
                         text,
                         length + 1);
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_word(r, "text", text);
    for (unsigned saturated = 0; saturated < 2; saturated++) {
        facet_record_open(r, names[saturated], NULL);
        for (unsigned rm = 0; rm < FACET_RM_COUNT; rm++) {
            const struct facet_num_policy policy = {
                .rm = (uint8_t)rm,
                .saturate = saturated ? FACET_SATURATE_QUIET : FACET_SATURATE_NONE,
                .nan = FACET_NAN_FIRST,
            };
            unsigned flags = 0;
            uint64_t bits =
                facet_num_from_text_by((enum facet_format)format, text, &length, &policy, &flags);

            put_object(r, modes[rm], (enum facet_format)format, bits, flags);
        }
        facet_record_close(r);
    }
    for (unsigned up = 0; up < 2; up++) {
        const struct facet_num_policy policy = {.rm = up ? FACET_RUP : FACET_RDN,
                                                .nan = FACET_NAN_FIRST};
        unsigned flags = 0;

        put_object(
            r,
            up ? "above" : "below",
            (enum facet_format)format,
            facet_num_from_text_by((enum facet_format)format, text, &length, &policy, &flags),
            0);
    }
    return page_end();
}

/* rm | flush << 4 | saturate << 8 | nan << 12 | flush_operand << 16, each as its enum has it. */
static struct facet_num_policy policy_of(unsigned packed)
{
    return (struct facet_num_policy){
        .rm = (uint8_t)((packed & 7) % FACET_RM_COUNT),
        .flush = (uint8_t)((packed >> 4 & 3) % (FACET_FLUSH_SUBNORMAL + 1)),
        .saturate = (uint8_t)((packed >> 8 & 3) % (FACET_SATURATE_FLAGGED + 1)),
        .nan = (uint8_t)(packed >> 12 & 1),
        .flush_operand = (packed >> 16 & 1) != 0,
    };
}

/* {"result": {...}} */
static int give(unsigned format, uint64_t bits, unsigned flags)
{
    put_object(page_begin(), "result", (enum facet_format)format, bits, flags);
    return page_end();
}

int PAGE_EXPORT(page_num_convert)(unsigned to, unsigned from, uint64_t bits, unsigned packed)
{
    const struct facet_num_policy policy = policy_of(packed);
    unsigned flags = 0;

    if (!is_float(to) || !is_float(from)) {
        return bad_format("floating-point ones", is_float(to) ? from : to);
    }
    bits = facet_num_convert((enum facet_format)to, (enum facet_format)from, bits, &policy, &flags);
    return give(to, bits, flags);
}

typedef uint64_t
binary(enum facet_format, uint64_t, uint64_t, const struct facet_num_policy *, unsigned *);
typedef uint64_t unary(enum facet_format, uint64_t, const struct facet_num_policy *, unsigned *);

/* add, sub, mul, div, min, max, sqrt, rcp, rsqrt, fma by their names. */
int PAGE_EXPORT(page_num_calculate)(
    const char *operation, unsigned format, uint64_t a, uint64_t b, uint64_t c, unsigned packed)
{
    static const struct {
        const char *name;
        binary *two;
        unary *one;
    } operations[] = {
        {"add", facet_num_add, NULL},
        {"sub", facet_num_sub, NULL},
        {"mul", facet_num_mul, NULL},
        {"div", facet_num_div, NULL},
        {"min", facet_num_min, NULL},
        {"max", facet_num_max, NULL},
        {"sqrt", NULL, facet_num_sqrt},
        {"rcp", NULL, facet_num_rcp},
        {"rsqrt", NULL, facet_num_rsqrt},
    };
    const struct facet_num_policy policy = policy_of(packed);
    const enum facet_format f = (enum facet_format)format;
    struct facet_error err = {0};
    unsigned flags = 0;

    if (!is_float(format)) {
        return bad_format("a floating-point one", format);
    }
    if (strcmp(operation, "fma") == 0) {
        uint64_t bits = facet_num_fma(f, a, b, c, false, false, &policy, &flags);

        return give(format, bits, flags);
    }
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
        if (strcmp(operations[k].name, operation) == 0) {
            uint64_t bits;

            if (operations[k].one != NULL && k > 6 && facet_fp_formats[format].p > 24) {
                (void)facet_fail(&err,
                                 FACET_ERR_USAGE,
                                 0,
                                 "%s: no machine has it for %s",
                                 operation,
                                 facet_format_name(f));
                return page_fail(&err);
            }
            bits = operations[k].one != NULL ? operations[k].one(f, a, &policy, &flags)
                                             : operations[k].two(f, a, b, &policy, &flags);
            return give(format, bits, flags);
        }
    }
    (void)facet_fail(&err, FACET_ERR_USAGE, 0, "%s: expected an operation", operation);
    return page_fail(&err);
}

/* Elements of CAP.PREC. options: rm | nan_pol << 4 | ftz << 8 | sat << 9 | sat_mode << 10 |
 * uns << 11. `narrow`: an accumulator becomes an element, else the other way round. */
int PAGE_EXPORT(page_num_element)(unsigned elem,
                                  unsigned acc,
                                  unsigned options,
                                  int scale,
                                  int zp,
                                  unsigned narrow,
                                  unsigned bits)
{
    const struct facet_conv conv = {
        .elem = (uint8_t)elem,
        .acc = (uint8_t)acc,
        .rm = (uint8_t)((options & 7) % FACET_RM_COUNT),
        .nan_pol = (uint8_t)((options >> 4 & 3) % (FACET_NAN_POL_INF + 1)),
        .ftz = (options >> 8 & 1) != 0,
        .sat = (options >> 9 & 1) != 0,
        .sat_mode = (options >> 10 & 1) != 0,
        .uns = (options >> 11 & 1) != 0,
        .scale = (int16_t)scale,
        .zp = (int16_t)zp,
    };
    const unsigned to = narrow ? elem : acc;
    unsigned flags = 0, made;

    if (elem >= FACET_FMT_COUNT || elem == FACET_FMT_FP64) {
        return bad_format("that of an element", elem);
    }
    if (acc != FACET_FMT_FP32 && acc != FACET_FMT_FP16 && acc != FACET_FMT_INT32 &&
        acc != FACET_FMT_INT16) {
        return bad_format("FP32, FP16, INT32 or INT16", acc);
    }
    if (scale < -128 || scale > 127 || zp < -256 || zp > 383) {
        struct facet_error err = {0};

        (void)facet_fail(&err,
                         FACET_ERR_USAGE,
                         0,
                         "scale %d, zero point %d: expected -128..127 and -256..383",
                         scale,
                         zp);
        return page_fail(&err);
    }
    made = narrow ? facet_narrow(&conv, bits, &flags) : facet_widen(&conv, bits, &flags);
    made &= (unsigned)(~UINT64_C(0) >> (64 - facet_format_width((enum facet_format)to)));
    return give(to, made, flags);
}
