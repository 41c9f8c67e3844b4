/* facet_num_from_text of facet/num.h. The digits become one big integer, times or divided by a
 * power of ten; its upper 64 bits, with the rest jammed into the lowest, go through the rounding of
 * core.h.
 *
 * 800 digits decide every format: halfway points of binary64 have at most 767, so what follows can
 * only say "and a little more". */
#include "num/decimal.h"

#include "num/core.h"

#include <string.h>

enum {
    DIGITS = 800,
    FAR = 400,          /* decimal exponents beyond are 0 or too large in every format */
    VERY_FAR = 1000000, /* where an exponent that is written stops counting */
    LIMBS = 160,        /* 10^(DIGITS + FAR) and the 64 bits of a quotient */
};

struct big {
    unsigned count;
    uint32_t limb[LIMBS];
};

static void multiply_add(struct big *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;

    for (unsigned i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        b->limb[b->count++] = (uint32_t)carry;
    }
}

static uint32_t divide(struct big *b, uint32_t divisor)
{
    uint64_t rest = 0;

    for (unsigned i = b->count; i-- > 0;) {
        rest = rest << 32 | b->limb[i];
        b->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (b->count > 0 && b->limb[b->count - 1] == 0) {
        b->count--;
    }
    return (uint32_t)rest;
}

static void shift_limbs(struct big *b, unsigned limbs)
{
    memmove(b->limb + limbs, b->limb, b->count * sizeof b->limb[0]);
    memset(b->limb, 0, limbs * sizeof b->limb[0]);
    b->count += limbs;
}

/* b * 2^exponent as a value; `more` says that a part below the last bit is missing. */
static struct facet_num_value to_value(const struct big *b, int exponent, bool more)
{
    uint64_t top = (uint64_t)b->limb[b->count - 1] << 32;
    uint64_t next = b->count > 2 ? (uint64_t)b->limb[b->count - 3] << 32 : 0;
    unsigned zeros;

    top |= b->count > 1 ? b->limb[b->count - 2] : 0;
    for (unsigned i = 0; i + 3 < b->count; i++) {
        more |= b->limb[i] != 0;
    }
    zeros = (unsigned)facet_clz64(top);
    if (zeros != 0) { /* at most 31 */
        top = top << zeros | next >> (64 - zeros);
        next <<= zeros;
    }
    return (struct facet_num_value){top | (next != 0 || more),
                                    exponent + (int)(32 * b->count) - 1 - (int)zeros,
                                    FACET_CLASS_NUMBER,
                                    false};
}

/* What was read of a number: digits of one base, and the exponent that belongs to them. */
struct digits {
    struct big big;
    int used;  /* digits in `big`, leading zeros apart */
    int scale; /* the value is big * base^scale */
    bool any, more;
};

static int digit(char c, unsigned base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 16;

    return value < (int)base ? value : -1;
}

static const char *read_digits(const char *p, unsigned base, struct digits *d)
{
    bool point = false;

    for (;; p++) {
        int value = digit(*p, base);

        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (value < 0) {
            break;
        }
        d->any = true;
        if (d->used == DIGITS) {
            d->more |= value != 0;
            d->scale += !point;
        } else {
            multiply_add(&d->big, base, (uint32_t)value);
            d->used += d->used != 0 || value != 0;
            d->scale -= point;
        }
        if (d->scale > 2 * VERY_FAR || d->scale < -2 * VERY_FAR) {
            d->scale = d->scale < 0 ? -2 * VERY_FAR : 2 * VERY_FAR;
        }
    }
    return p;
}

/* The exponent at p, or nothing when no digit follows the letter. */
static const char *read_exponent(const char *p, char letter, int *exponent)
{
    const char *q = p;
    bool negative;
    int value = 0;

    *exponent = 0;
    if ((*q | 32) != letter) {
        return p;
    }
    negative = *++q == '-';
    q += *q == '-' || *q == '+';
    if (digit(*q, 10) < 0) {
        return p;
    }
    for (; digit(*q, 10) >= 0; q++) {
        value = value < VERY_FAR ? 10 * value + digit(*q, 10) : value;
    }
    *exponent = negative ? -value : value;
    return q;
}

/* Beyond every format: too large, or next to nothing. */
static struct facet_num_value extreme(bool large)
{
    return (struct facet_num_value){
        UINT64_C(1) << 63 | 1, large ? 1 << 20 : -(1 << 20), FACET_CLASS_NUMBER, false};
}

static struct facet_num_value decimal_value(struct digits *d, int exponent)
{
    int scale = d->scale + exponent;
    bool more = d->more;
    unsigned limbs;

    if (d->used + scale > FAR || d->used + scale < -FAR) {
        return extreme(d->used + scale > 0);
    }
    for (; scale > 0; scale--) {
        multiply_add(&d->big, 10, 0);
    }
    /* 10^n has fewer than n/9 + 1 limbs: two more leave a quotient of at least 64 bits. */
    limbs = scale < 0 ? (unsigned)(-scale / 9 + 3) : 0;
    limbs = limbs > d->big.count ? limbs - d->big.count + 3 : 3;
    shift_limbs(&d->big, limbs);
    for (; scale <= -9; scale += 9) {
        more |= divide(&d->big, 1000000000) != 0;
    }
    for (; scale < 0; scale++) {
        more |= divide(&d->big, 10) != 0;
    }
    return to_value(&d->big, -(int)(32 * limbs), more);
}

static struct facet_num_value hex_value(const struct digits *d, int exponent)
{
    struct facet_num_value v = to_value(&d->big, 0, d->more);

    v.exp += 4 * d->scale + exponent;
    return v;
}

static bool starts_with_word(const char *p, const char *word)
{
    while (*word != '\0' && (*p | 32) == *word) {
        p++;
        word++;
    }
    return *word == '\0';
}

/* inf, infinity, nan: the length, 0 for none of them. */
static size_t
read_word(const struct facet_fp_format *f, const char *p, uint64_t *magnitude, unsigned *flags)
{
    if (starts_with_word(p, "nan")) {
        *magnitude = f->nan;
        return 3;
    }
    if (!starts_with_word(p, "inf")) {
        return 0;
    }
    *magnitude = f->has_inf ? f->infinity : f->nan;
    *flags |= f->has_inf ? 0 : FACET_OF;
    return starts_with_word(p, "infinity") ? 8 : 3;
}

uint64_t facet_num_from_text_by(enum facet_format to,
                                const char *text,
                                size_t *length,
                                const struct facet_num_policy *policy,
                                unsigned *flags)
{
    const struct facet_fp_format *f = &facet_fp_formats[to];
    bool negative = *text == '-';
    const char *p = text + (*text == '-' || *text == '+');
    bool hex = p[0] == '0' && (p[1] | 32) == 'x';
    struct digits d = {.any = false};
    struct facet_num_value value;
    uint64_t magnitude = 0;
    int exponent;

    *length = read_word(f, p, &magnitude, flags);
    if (*length != 0) {
        *length += (size_t)(p - text);
        return facet_num_signed(f, negative, magnitude);
    }
    p = read_digits(hex ? p + 2 : p, hex ? 16 : 10, &d);
    if (!d.any) {
        return 0;
    }
    p = read_exponent(p, hex ? 'p' : 'e', &exponent);
    *length = (size_t)(p - text);
    if (d.used == 0) {
        return facet_num_signed(f, negative, 0);
    }
    value = hex ? hex_value(&d, exponent) : decimal_value(&d, exponent);
    value.sign = negative;
    return facet_num_round(f, value, policy, flags);
}

uint64_t
facet_num_from_text(enum facet_format to, const char *text, size_t *length, unsigned *flags)
{
    const struct facet_num_policy nearest = {.rm = FACET_RNE, .nan = FACET_NAN_FIRST};

    return facet_num_from_text_by(to, text, length, &nearest, flags);
}
