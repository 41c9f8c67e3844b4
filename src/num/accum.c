/* See accum.h. The integer column of numeric.md 10 works on floor and fraction: an exact result is
 * an integer plus a fraction class, which one function rounds. 128 bits are enough because a scale
 * beyond the width of the operands leaves nothing but a sign and a fraction class. */
#include "num/accum.h"

#include "num/arith.h"
#include "num/convert.h"
#include "num/fast.h"

/* Composed where it is needed and no sooner: the short way below does without. */
#define POLICY(conv)                                                                               \
    (&(const struct facet_num_policy){                                                             \
        .rm = (conv)->rm,                                                                          \
        .flush = (conv)->ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE,                                \
    })

/* FP32 is what nearly every kernel accumulates in: the short way of fast.h is compiled for it. */
#define FAST(conv, function, ...)                                                                  \
    ((conv)->acc == FACET_FMT_FP32 && !(conv)->plain &&                                            \
     function(&facet_fp_formats[FACET_FMT_FP32], __VA_ARGS__, (conv)->rm, &fast, flags))

static bool is_int(const struct facet_conv *conv)
{
    return facet_format_is_int(conv->acc);
}

/* An exact integer result into the accumulator. */
static uint32_t store(const struct facet_conv *conv, facet_i128 exact, unsigned *flags)
{
    bool wrapped = false;
    int64_t acc = facet_num_int_fit(exact, facet_format_width(conv->acc), false, &wrapped);

    if (wrapped) {
        *flags |= FACET_OF;
    }
    return (uint32_t)acc;
}

/* The fraction class of the low `bits` bits of x (1..127). */
static enum facet_fraction fraction_of(facet_u128 x, unsigned bits)
{
    facet_u128 rest = x << (128 - bits), half = (facet_u128)1 << 127;

    return rest == 0     ? FACET_FRACTION_ZERO
           : rest < half ? FACET_FRACTION_LOW
           : rest > half ? FACET_FRACTION_HIGH
                         : FACET_FRACTION_HALF;
}

/* a * b * 2^s + c. The product has at most 63 bits. Shifted left by 63 or more it adds nothing to
 * the low 32 bits and is out of range unless zero; shifted right by 65 or more it is a fraction
 * below one half of either sign. So s is cut to -65..63 and 128 bits hold everything. */
static uint32_t
int_fma(const struct facet_conv *conv, int64_t a, int64_t b, int64_t c, unsigned *flags)
{
    facet_i128 product = (facet_i128)a * b;
    enum facet_fraction fraction = FACET_FRACTION_ZERO;
    int s = conv->scale;

    if (s >= 0) {
        product *= (facet_i128)1 << (s > 63 ? 63 : s);
    } else {
        unsigned n = s < -65 ? 65 : (unsigned)-s;
        fraction = fraction_of((facet_u128)product, n);
        product >>= n;
    }
    return store(conv, facet_num_round_floor(product + c, fraction, conv->rm, flags), flags);
}

/* Rounds (-1)^sign * (whole + fraction). */
static facet_i128 round_magnitude(const struct facet_conv *conv,
                                  bool sign,
                                  facet_i128 whole,
                                  enum facet_fraction fraction,
                                  unsigned *flags)
{
    if (sign) {
        whole = -whole;
        if (fraction != FACET_FRACTION_ZERO) { /* floor and its fraction from the other side */
            whole--;
            fraction = FACET_FRACTION_LOW + FACET_FRACTION_HIGH - fraction;
        }
    }
    return facet_num_round_floor(whole, fraction, conv->rm, flags);
}

/* Long quotients: only the low 64 bits matter for the wrap, and whether there is more above. */
static facet_u128 fold(facet_u128 x)
{
    return x >> 64 == 0 ? x : (facet_u128)1 << 64 | (uint64_t)x;
}

/* Where `rest` lies between 0 and `whole`. */
static enum facet_fraction fraction_between(facet_u128 rest, facet_u128 whole)
{
    facet_u128 twice = rest * 2;

    return rest == 0       ? FACET_FRACTION_ZERO
           : twice < whole ? FACET_FRACTION_LOW
           : twice > whole ? FACET_FRACTION_HIGH
                           : FACET_FRACTION_HALF;
}

/* a / b * 2^-s with b != 0. */
static uint32_t int_div(const struct facet_conv *conv, int64_t a, int64_t b, unsigned *flags)
{
    bool sign = (a < 0) != (b < 0);
    uint64_t n = (uint64_t)(a < 0 ? -a : a), d = (uint64_t)(b < 0 ? -b : b);
    enum facet_fraction fraction;
    facet_u128 quotient;

    if (conv->scale > 0) { /* n < 2^32: a divisor beyond 2^64 gives what 2^64 gives */
        facet_u128 divisor = (facet_u128)d << (conv->scale > 64 ? 64 : conv->scale);

        quotient = n / divisor;
        fraction = fraction_between(n % divisor, divisor);
    } else {
        uint64_t rest = n % d;

        quotient = n / d;
        for (int left = -conv->scale; left > 0; left -= 30) {
            int bits = left < 30 ? left : 30;

            quotient = fold(quotient << bits | (rest << bits) / d);
            rest = (rest << bits) % d;
        }
        fraction = fraction_between(rest, d);
    }
    return store(conv, round_magnitude(conv, sign, (facet_i128)quotient, fraction, flags), flags);
}

/* sqrt(a * 2^-s) for 0 <= a < 2^31. The radicand is scaled by 4^guard to an integer of up to 161
 * bits, whose root is found two radicand bits at a time; the last `guard` root bits and the
 * remainder are the fraction. */
static uint32_t int_sqrt(const struct facet_conv *conv, uint64_t a, unsigned *flags)
{
    int guard = conv->scale <= 0 ? 1 : (conv->scale + 1) / 2 + 1;
    int shift = 2 * guard - conv->scale;
    facet_u128 root = 0, rest = 0;

    for (int i = (31 + shift) / 2; i >= 0; i--) {
        int at = 2 * i - shift; /* the two bits a[at+1:at]; below bit 0 there are zeros */
        unsigned pair = (unsigned)(at >= 0 ? a >> at : at == -1 ? a << 1 : 0) & 3;
        facet_u128 trial = root << 2 | 1;

        rest = rest << 2 | pair;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    /* a remainder is less than one unit of the last root bit: one more bit stands for it */
    root = root << 1 | (rest != 0);
    return store(conv,
                 facet_num_round_floor((facet_i128)(root >> (guard + 1)),
                                       fraction_of(root, (unsigned)guard + 1),
                                       conv->rm,
                                       flags),
                 flags);
}

uint32_t facet_acc_add_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint64_t fast;
    uint32_t r;

    if (FAST(conv, facet_num_fast_add, a, b, false)) {
        r = (uint32_t)fast;
    } else if (is_int(conv)) {
        r = store(conv, (facet_i128)(int32_t)a + (int32_t)b, flags);
    } else {
        r = (uint32_t)facet_num_add(conv->acc, a, b, POLICY(conv), flags);
    }
    return facet_num_mixed(conv, r, flags);
}

uint32_t facet_acc_sub_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint64_t fast;
    uint32_t r;

    if (FAST(conv, facet_num_fast_add, a, b, true)) {
        r = (uint32_t)fast;
    } else if (is_int(conv)) {
        r = store(conv, (facet_i128)(int32_t)a - (int32_t)b, flags);
    } else {
        r = (uint32_t)facet_num_sub(conv->acc, a, b, POLICY(conv), flags);
    }
    return facet_num_mixed(conv, r, flags);
}

uint32_t facet_acc_mul_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint64_t fast;
    uint32_t r;

    if (FAST(conv, facet_num_fast_mul, a, b)) {
        r = (uint32_t)fast;
    } else if (is_int(conv)) {
        r = int_fma(conv, (int32_t)a, (int32_t)b, 0, flags);
    } else {
        r = (uint32_t)facet_num_mul(conv->acc, a, b, POLICY(conv), flags);
    }
    return facet_num_mixed(conv, r, flags);
}

uint32_t facet_acc_fma_any(
    const struct facet_conv *conv, uint32_t a, uint32_t b, uint32_t c, unsigned *flags)
{
    uint64_t fast;
    uint32_t r;

    if (FAST(conv, facet_num_fast_fma, a, b, c, false, false)) {
        r = (uint32_t)fast;
    } else if (is_int(conv)) {
        r = int_fma(conv, (int32_t)a, (int32_t)b, (int32_t)c, flags);
    } else {
        r = (uint32_t)facet_num_fma(conv->acc, a, b, c, false, false, POLICY(conv), flags);
    }
    return facet_num_mixed(conv, r, flags);
}

/* x/0 and 0/0 of the integer column. */
static uint32_t int_div_by_zero(const struct facet_conv *conv, int32_t a, unsigned *flags)
{
    int64_t high = (INT64_C(1) << (facet_format_width(conv->acc) - 1)) - 1;

    *flags |= a == 0 ? FACET_NV : FACET_DZ;
    return (uint32_t)(a == 0 ? 0 : a > 0 ? high : -high - 1);
}

uint32_t facet_acc_div_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint64_t fast;
    uint32_t r;

    if (FAST(conv, facet_num_fast_div, a, b)) {
        r = (uint32_t)fast;
    } else if (!is_int(conv)) {
        r = (uint32_t)facet_num_div(conv->acc, a, b, POLICY(conv), flags);
    } else if (b == 0) {
        r = int_div_by_zero(conv, (int32_t)a, flags);
    } else {
        r = int_div(conv, (int32_t)a, (int32_t)b, flags);
    }
    return facet_num_mixed(conv, r, flags);
}

uint32_t facet_acc_sqrt(const struct facet_conv *conv, uint32_t a, unsigned *flags)
{
    uint32_t r = 0;

    if (!is_int(conv)) {
        r = (uint32_t)facet_num_sqrt(conv->acc, a, POLICY(conv), flags);
    } else if ((int32_t)a < 0) {
        *flags |= FACET_NV;
    } else {
        r = int_sqrt(conv, a, flags);
    }
    return facet_num_mixed(conv, r, flags);
}

uint32_t facet_acc_min(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint32_t r = is_int(conv) ? ((int32_t)a < (int32_t)b ? a : b)
                              : (uint32_t)facet_num_min(conv->acc, a, b, POLICY(conv), flags);

    return facet_num_mixed(conv, r, flags);
}

uint32_t facet_acc_max(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint32_t r = is_int(conv) ? ((int32_t)a > (int32_t)b ? a : b)
                              : (uint32_t)facet_num_max(conv->acc, a, b, POLICY(conv), flags);

    return facet_num_mixed(conv, r, flags);
}

uint32_t facet_acc_neg(const struct facet_conv *conv, uint32_t a, unsigned *flags)
{
    const struct facet_fp_format *f;

    if (is_int(conv)) {
        return facet_num_mixed(conv, store(conv, -(facet_i128)(int32_t)a, flags), flags);
    }
    f = &facet_fp_formats[conv->acc];
    a = facet_num_is_nan(conv->acc, a) ? (uint32_t)f->nan : a ^ (uint32_t)facet_num_sign_bit(f);
    return facet_num_mixed(conv, a, flags);
}

uint32_t facet_acc_abs(const struct facet_conv *conv, uint32_t a, unsigned *flags)
{
    const struct facet_fp_format *f;

    if (is_int(conv)) {
        return (int32_t)a < 0 ? facet_acc_neg(conv, a, flags) : facet_num_mixed(conv, a, flags);
    }
    f = &facet_fp_formats[conv->acc];
    a = facet_num_is_nan(conv->acc, a) ? (uint32_t)f->nan : (uint32_t)facet_num_magnitude(f, a);
    return facet_num_mixed(conv, a, flags);
}

uint32_t facet_acc_dp2(
    const struct facet_conv *conv, uint32_t a, uint32_t b, uint32_t c, uint32_t d, unsigned *flags)
{
    return facet_num_mixed(
        conv, (uint32_t)facet_num_dp2(conv->acc, a, b, c, d, POLICY(conv), flags), flags);
}

bool facet_acc_eq(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    return is_int(conv) ? a == b : facet_num_eq(conv->acc, a, b, POLICY(conv), flags);
}

bool facet_acc_lt(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    return is_int(conv) ? (int32_t)a < (int32_t)b
                        : facet_num_lt(conv->acc, a, b, POLICY(conv), flags);
}

bool facet_acc_le(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    return is_int(conv) ? (int32_t)a <= (int32_t)b
                        : facet_num_le(conv->acc, a, b, POLICY(conv), flags);
}

uint32_t
facet_acc_ratio(const struct facet_conv *conv, facet_i128 num, facet_u128 den, unsigned *flags)
{
    if (is_int(conv)) {
        return store(conv, facet_num_round_ratio(num, den, conv->rm, flags), flags);
    }
    return (uint32_t)facet_num_from_ratio(
        conv->acc, (int64_t)num, (uint64_t)den, 0, POLICY(conv), flags);
}
