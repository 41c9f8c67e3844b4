/* Add, multiply, fuse, divide, root, compare over core.h values: special cases first, then the
 * exact result, then one rounding. Private to src/num and inline for the reason given in core.h.
 *
 * Each step on numbers keeps at least p + 2 exact bits plus the jammed rest; the comment on each
 * says why nothing that rounding could see is lost.
 *
 * Spec: numeric.md 10, tile-semantics.md 5.3, RISC-V F and D. */
#ifndef FACET_NUM_OPS_H
#define FACET_NUM_OPS_H

#include "num/core.h"

#include <stdlib.h>

/* The result of an operation that has a NaN operand: `bits` are its n operands in the order of
 * tile-semantics.md 5.3 step 2. */
FACET_NUM_INLINE uint64_t facet_num_nan_of(const struct facet_fp_format *f,
                                           const uint64_t *bits,
                                           const struct facet_num_value *v,
                                           unsigned n,
                                           const struct facet_num_policy *policy,
                                           unsigned *flags)
{
    uint64_t result = f->nan;

    for (unsigned i = n; i-- > 0;) {
        if ((v[i].cls & FACET_CLASS_NAN) != 0 && policy->nan == FACET_NAN_FIRST) {
            result = facet_num_quiet(f, bits[i]);
        }
        if (v[i].cls == FACET_CLASS_SNAN) {
            *flags |= FACET_NV;
        }
    }
    return result;
}

FACET_NUM_INLINE uint64_t facet_num_invalid(const struct facet_fp_format *f, unsigned *flags)
{
    *flags |= FACET_NV;
    return f->nan;
}

/* Sum of two numbers whose significands have at least one free low bit. Returns class ZERO, with
 * the sign of an exact zero sum, when they cancel.
 *
 * The smaller one is shifted right and jammed. More than one leading bit can cancel only when the
 * exponents differ by at most one; then nothing was jammed. Signs and order of the operands are
 * random in real programs, so they are handled by selection instead of branches. */
FACET_NUM_INLINE struct facet_num_value
facet_num_sum(struct facet_num_value a, struct facet_num_value b, unsigned rm)
{
    bool swap = (a.exp < b.exp) | ((a.exp == b.exp) & (a.sig < b.sig));
    uint64_t other = (a.sig ^ b.sig) & (0 - (uint64_t)swap); /* a.sig ^ other: the larger one */
    uint64_t large = (a.sig ^ other) >> 1, small = (b.sig ^ other) >> 1;
    uint64_t negative = 0 - (uint64_t)(a.sign != b.sign); /* all ones: subtract */
    unsigned distance = (unsigned)abs(a.exp - b.exp);
    int zeros;

    small = facet_num_shr_jam64(small, distance > 63 ? 63 : distance);
    large += (small ^ negative) - negative;
    a.exp = (a.exp > b.exp ? a.exp : b.exp) + 1;
    a.sign ^= swap & (a.sign != b.sign);
    if (FACET_UNLIKELY(large == 0)) {
        a.cls = FACET_CLASS_ZERO;
        a.sign = rm == FACET_RDN;
        return a;
    }
    zeros = facet_clz64(large);
    a.sig = large << zeros;
    a.exp -= zeros;
    return a;
}

/* a + b for everything but NaNs. */
FACET_NUM_INLINE uint64_t facet_num_add_values(const struct facet_fp_format *f,
                                               struct facet_num_value a,
                                               struct facet_num_value b,
                                               const struct facet_num_policy *policy,
                                               unsigned *flags)
{
    if (FACET_UNLIKELY((a.cls | b.cls) != FACET_CLASS_NUMBER)) {
        if (a.cls == FACET_CLASS_INF && b.cls == FACET_CLASS_INF && a.sign != b.sign) {
            return facet_num_invalid(f, flags);
        }
        if (a.cls == FACET_CLASS_INF) {
            return facet_num_signed(f, a.sign, f->infinity);
        }
        if (b.cls == FACET_CLASS_INF) {
            return facet_num_signed(f, b.sign, f->infinity);
        }
        if (a.cls == FACET_CLASS_ZERO && b.cls == FACET_CLASS_ZERO) {
            return facet_num_signed(f, a.sign == b.sign ? a.sign : policy->rm == FACET_RDN, 0);
        }
        /* number + 0 still passes *Round*: a flush policy may act on it */
        return facet_num_round(f, a.cls == FACET_CLASS_ZERO ? b : a, policy, flags);
    }
    a = facet_num_sum(a, b, policy->rm);
    if (a.cls == FACET_CLASS_ZERO) {
        return facet_num_signed(f, a.sign, 0);
    }
    return facet_num_round(f, a, policy, flags);
}

/* a + b, or a - b with `subtract`; the negation leaves a NaN alone. */
FACET_NUM_INLINE uint64_t facet_num_do_add(const struct facet_fp_format *f,
                                           uint64_t a,
                                           uint64_t b,
                                           bool subtract,
                                           const struct facet_num_policy *policy,
                                           unsigned *flags)
{
    struct facet_num_value v[2] = {facet_num_unpack(f, a, policy->flush_operand, flags),
                                   facet_num_unpack(f, b, policy->flush_operand, flags)};

    if (FACET_UNLIKELY(((v[0].cls | v[1].cls) & FACET_CLASS_NAN) != 0)) {
        const uint64_t bits[2] = {a, b};
        return facet_num_nan_of(f, bits, v, 2, policy, flags);
    }
    v[1].sign ^= subtract;
    return facet_num_add_values(f, v[0], v[1], policy, flags);
}

/* Product of two numbers: exact in 64 bits for p <= 32, else the upper half with the lower half
 * jammed. */
FACET_NUM_INLINE struct facet_num_value facet_num_product(const struct facet_fp_format *f,
                                                          struct facet_num_value a,
                                                          struct facet_num_value b)
{
    int top;

    if (f->p <= 32) {
        a.sig = (a.sig >> 32) * (b.sig >> 32);
    } else {
        facet_u128 product = (facet_u128)a.sig * b.sig;
        a.sig = (uint64_t)(product >> 64) | ((uint64_t)product != 0);
    }
    top = (int)(a.sig >> 63); /* the product of two significands is in [1, 4) */
    a.sign ^= b.sign;
    a.exp += b.exp + top;
    a.sig <<= 1 - top;
    return a;
}

/* a * b for everything but NaNs and 0 * inf; the class of the result is one of NUMBER, ZERO, INF.
 */
FACET_NUM_INLINE struct facet_num_value facet_num_mul_values(const struct facet_fp_format *f,
                                                             struct facet_num_value a,
                                                             struct facet_num_value b)
{
    if (FACET_LIKELY((a.cls | b.cls) == FACET_CLASS_NUMBER)) {
        return facet_num_product(f, a, b);
    }
    a.sign ^= b.sign;
    a.cls |= b.cls;
    return a;
}

FACET_NUM_INLINE uint64_t facet_num_do_mul(const struct facet_fp_format *f,
                                           uint64_t a,
                                           uint64_t b,
                                           const struct facet_num_policy *policy,
                                           unsigned *flags)
{
    struct facet_num_value v[2] = {facet_num_unpack(f, a, policy->flush_operand, flags),
                                   facet_num_unpack(f, b, policy->flush_operand, flags)};

    if (FACET_UNLIKELY((v[0].cls | v[1].cls) != FACET_CLASS_NUMBER)) {
        unsigned both = v[0].cls | v[1].cls;
        if ((both & FACET_CLASS_NAN) != 0) {
            const uint64_t bits[2] = {a, b};
            return facet_num_nan_of(f, bits, v, 2, policy, flags);
        }
        if (both == (FACET_CLASS_INF | FACET_CLASS_ZERO)) {
            return facet_num_invalid(f, flags);
        }
        return facet_num_signed(
            f, v[0].sign != v[1].sign, both == FACET_CLASS_ZERO ? 0 : f->infinity);
    }
    return facet_num_round(f, facet_num_product(f, v[0], v[1]), policy, flags);
}

/* a * b + c of three numbers with a product of up to 106 bits: facet_num_sum in 128 bits. The
 * product leaves 22 low bits free, the addend 75, so the same argument holds. */
FACET_NUM_INLINE struct facet_num_value facet_num_fuse_wide(struct facet_num_value a,
                                                            struct facet_num_value b,
                                                            struct facet_num_value c,
                                                            unsigned rm)
{
    facet_u128 x = (facet_u128)a.sig * b.sig, y = (facet_u128)c.sig << 64;
    facet_u128 other, large, small, negative;
    struct facet_num_value r = {0, a.exp + b.exp, FACET_CLASS_NUMBER, a.sign != b.sign};
    int top = (int)(x >> 127), zeros;
    unsigned distance;
    bool swap;

    x <<= 1 - top;
    r.exp += top;
    swap = (r.exp < c.exp) | ((r.exp == c.exp) & (x < y));
    other = (x ^ y) & (0 - (facet_u128)swap);
    large = (x ^ other) >> 1;
    small = (y ^ other) >> 1;
    distance = (unsigned)abs(r.exp - c.exp);
    negative = 0 - (facet_u128)(r.sign != c.sign);
    small = facet_num_shr_jam128(small, distance > 127 ? 127 : distance);
    x = large + (small ^ negative) - negative;
    r.exp = (r.exp > c.exp ? r.exp : c.exp) + 1;
    r.sign ^= swap & (r.sign != c.sign);
    if (FACET_UNLIKELY(x == 0)) {
        r.cls = FACET_CLASS_ZERO;
        r.sign = rm == FACET_RDN;
        return r;
    }
    zeros = facet_num_clz128(x);
    x <<= zeros;
    r.exp -= zeros;
    r.sig = (uint64_t)(x >> 64) | ((uint64_t)x != 0);
    return r;
}

/* +-(a * b) +- c with one rounding; the negations leave NaNs alone. */
FACET_NUM_INLINE uint64_t facet_num_do_fma(const struct facet_fp_format *f,
                                           uint64_t a,
                                           uint64_t b,
                                           uint64_t c,
                                           bool negate_product,
                                           bool negate_addend,
                                           const struct facet_num_policy *policy,
                                           unsigned *flags)
{
    struct facet_num_value v[3] = {facet_num_unpack(f, a, policy->flush_operand, flags),
                                   facet_num_unpack(f, b, policy->flush_operand, flags),
                                   facet_num_unpack(f, c, policy->flush_operand, flags)};
    struct facet_num_value r;

    if (FACET_UNLIKELY((v[0].cls | v[1].cls | v[2].cls) != FACET_CLASS_NUMBER)) {
        bool zero_times_inf = (v[0].cls | v[1].cls) == (FACET_CLASS_INF | FACET_CLASS_ZERO);

        if (((v[0].cls | v[1].cls | v[2].cls) & FACET_CLASS_NAN) != 0) {
            const uint64_t bits[3] = {a, b, c};
            if (zero_times_inf) { /* raised even though the addend decides the result */
                *flags |= FACET_NV;
            }
            return facet_num_nan_of(f, bits, v, 3, policy, flags);
        }
        if (zero_times_inf) {
            return facet_num_invalid(f, flags);
        }
        v[0].sign ^= negate_product;
        v[2].sign ^= negate_addend;
        r = facet_num_mul_values(f, v[0], v[1]);
        if (r.cls == FACET_CLASS_NUMBER && v[2].cls == FACET_CLASS_ZERO) {
            return facet_num_round(f, r, policy, flags);
        }
        return facet_num_add_values(f, r, v[2], policy, flags);
    }
    v[0].sign ^= negate_product;
    v[2].sign ^= negate_addend;
    if (f->p <= 24) { /* the product is exact in 48 bits */
        r = facet_num_sum(facet_num_product(f, v[0], v[1]), v[2], policy->rm);
    } else {
        r = facet_num_fuse_wide(v[0], v[1], v[2], policy->rm);
    }
    if (r.cls == FACET_CLASS_ZERO) {
        return facet_num_signed(f, r.sign, 0);
    }
    return facet_num_round(f, r, policy, flags);
}

/* Quotient of two numbers: 38 bits or more for p <= 24, 64 bits otherwise, remainder jammed. */
FACET_NUM_INLINE struct facet_num_value facet_num_quotient(const struct facet_fp_format *f,
                                                           struct facet_num_value a,
                                                           struct facet_num_value b)
{
    int zeros;

    if (f->p <= 24) {
        uint64_t n = (a.sig >> 40) << 38, d = b.sig >> 40;
        a.sig = n / d << 1 | (n % d != 0);
        a.exp += 63 - 39 - b.exp;
    } else {
        /* the numerator is made smaller than the divisor * 2^64, so that the quotient fits */
        int below = a.sig < b.sig;
        facet_u128 n = (facet_u128)a.sig << 63 << below;
        uint64_t q = (uint64_t)(n / b.sig);
        a.exp -= b.exp + below;
        a.sig = q | ((uint64_t)n - q * b.sig != 0);
    }
    a.sign ^= b.sign;
    zeros = facet_clz64(a.sig);
    a.sig <<= zeros;
    a.exp -= f->p <= 24 ? zeros : 0;
    return a;
}

FACET_NUM_INLINE uint64_t facet_num_do_div(const struct facet_fp_format *f,
                                           uint64_t a,
                                           uint64_t b,
                                           const struct facet_num_policy *policy,
                                           unsigned *flags)
{
    struct facet_num_value v[2] = {facet_num_unpack(f, a, policy->flush_operand, flags),
                                   facet_num_unpack(f, b, policy->flush_operand, flags)};
    bool sign = v[0].sign != v[1].sign;

    if (FACET_UNLIKELY((v[0].cls | v[1].cls) != FACET_CLASS_NUMBER)) {
        if (((v[0].cls | v[1].cls) & FACET_CLASS_NAN) != 0) {
            const uint64_t bits[2] = {a, b};
            return facet_num_nan_of(f, bits, v, 2, policy, flags);
        }
        if (v[0].cls == v[1].cls) { /* 0/0, inf/inf */
            return facet_num_invalid(f, flags);
        }
        if (v[0].cls == FACET_CLASS_ZERO || v[1].cls == FACET_CLASS_INF) {
            return facet_num_signed(f, sign, 0);
        }
        if (v[0].cls == FACET_CLASS_NUMBER) { /* finite / 0 */
            *flags |= FACET_DZ;
            if (!f->has_inf) {
                *flags |= FACET_QNAN;
                return facet_num_signed(f, sign && policy->nan == FACET_NAN_FIRST, f->nan);
            }
        }
        return facet_num_signed(f, sign, f->infinity);
    }
    return facet_num_round(f, facet_num_quotient(f, v[0], v[1]), policy, flags);
}

/* Root of a positive number: 32 bits for p <= 24, 64 bits otherwise, remainder jammed. */
FACET_NUM_INLINE struct facet_num_value facet_num_root(const struct facet_fp_format *f,
                                                       struct facet_num_value x)
{
    int odd = x.exp & 1;
    bool exact;

    if (f->p <= 24) {
        uint64_t root = facet_num_isqrt64(x.sig >> (1 - odd), &exact);
        x.sig = root << 32 | !exact;
    } else {
        x.sig = facet_num_isqrt128((facet_u128)x.sig << (63 + odd), &exact);
        x.sig |= !exact;
    }
    x.exp = (x.exp - odd) / 2;
    return x;
}

FACET_NUM_INLINE uint64_t facet_num_do_sqrt(const struct facet_fp_format *f,
                                            uint64_t a,
                                            const struct facet_num_policy *policy,
                                            unsigned *flags)
{
    struct facet_num_value v = facet_num_unpack(f, a, policy->flush_operand, flags);

    if ((v.cls & FACET_CLASS_NAN) != 0) {
        return facet_num_nan_of(f, &a, &v, 1, policy, flags);
    }
    if (v.cls == FACET_CLASS_ZERO) {
        return facet_num_signed(f, v.sign, 0);
    }
    if (v.sign) {
        return facet_num_invalid(f, flags);
    }
    if (v.cls == FACET_CLASS_INF) {
        return f->infinity;
    }
    return facet_num_round(f, facet_num_root(f, v), policy, flags);
}

/* Magnitude of a number rounded to an integer; anything of 2^65 and more comes back as 2^65. */
FACET_NUM_INLINE facet_u128 facet_num_integer(struct facet_num_value v, unsigned rm, bool *inexact)
{
    uint64_t kept = 0, rest;

    *inexact = false;
    if (v.exp > 64) {
        return (facet_u128)1 << 65;
    }
    if (v.exp >= 63) {
        return (facet_u128)v.sig << (v.exp - 63);
    }
    if (v.exp >= 0) {
        kept = v.sig >> (63 - v.exp);
        rest = v.sig << (v.exp + 1);
    } else { /* below 1: bit 63 of the rest is worth one half */
        rest = facet_num_shr_jam64(v.sig, (unsigned)(-1 - v.exp));
    }
    *inexact = rest != 0;
    return (facet_u128)kept + facet_num_round_up(kept, rest, v.sign, rm);
}

/* Value conversion between two formats (convert.h facet_num_convert). */
FACET_NUM_INLINE uint64_t facet_num_do_convert(const struct facet_fp_format *to,
                                               const struct facet_fp_format *from,
                                               uint64_t a,
                                               const struct facet_num_policy *policy,
                                               unsigned *flags)
{
    struct facet_num_value v = facet_num_unpack(from, a, policy->flush_operand, flags);

    if (FACET_LIKELY(v.cls == FACET_CLASS_NUMBER)) {
        return facet_num_round(to, v, policy, flags);
    }
    if (v.cls == FACET_CLASS_ZERO) {
        return facet_num_signed(to, v.sign, 0);
    }
    if (v.cls == FACET_CLASS_INF && to->has_inf) {
        return facet_num_signed(to, v.sign, to->infinity);
    }
    *flags |= v.cls == FACET_CLASS_SNAN ? FACET_NV : v.cls == FACET_CLASS_INF ? FACET_QNAN : 0;
    return to->nan;
}

/* Integer conversion (convert.h facet_num_to_int). */
FACET_NUM_INLINE uint64_t facet_num_do_to_int(const struct facet_fp_format *from,
                                              uint64_t a,
                                              unsigned width,
                                              bool is_signed,
                                              const struct facet_num_policy *policy,
                                              unsigned *flags)
{
    struct facet_num_value v = facet_num_unpack(from, a, policy->flush_operand, flags);
    uint64_t all = UINT64_MAX >> (64 - width);
    uint64_t largest = is_signed ? all >> 1 : all;
    uint64_t smallest = is_signed ? ~(all >> 1) : 0; /* sign-extended */
    facet_u128 limit = v.sign ? (facet_u128)(0 - smallest) : largest, magnitude;
    bool inexact = false;

    FACET_REQUIRE(width >= 1 && width <= 64);

    if (v.cls == FACET_CLASS_ZERO) {
        return 0;
    }
    if ((v.cls & FACET_CLASS_NAN) != 0) {
        *flags |= FACET_NV;
        return largest;
    }
    magnitude =
        v.cls == FACET_CLASS_INF ? (facet_u128)1 << 65 : facet_num_integer(v, policy->rm, &inexact);
    if (magnitude > limit) {
        *flags |= FACET_NV;
        return v.sign ? smallest : largest;
    }
    *flags |= inexact ? FACET_NX : 0;
    return v.sign ? 0 - (uint64_t)magnitude : (uint64_t)magnitude;
}

FACET_NUM_INLINE uint64_t facet_num_do_from_int(const struct facet_fp_format *to,
                                                uint64_t magnitude,
                                                bool sign,
                                                const struct facet_num_policy *policy,
                                                unsigned *flags)
{
    return magnitude == 0 ? 0
                          : facet_num_round(to, facet_num_of_u64(magnitude, sign), policy, flags);
}

/* IEEE formats order like their sign-magnitude codes: comparing these is comparing the values
 * (no NaNs; -0 and +0 give the same key). */
FACET_NUM_INLINE int64_t facet_num_key(const struct facet_fp_format *f, uint64_t bits)
{
    int64_t magnitude = (int64_t)facet_num_magnitude(f, bits);

    return (bits & facet_num_sign_bit(f)) != 0 ? -magnitude : magnitude;
}

FACET_NUM_INLINE bool facet_num_bits_nan(const struct facet_fp_format *f, uint64_t bits)
{
    return facet_num_magnitude(f, bits) > f->infinity;
}

FACET_NUM_INLINE bool facet_num_bits_snan(const struct facet_fp_format *f, uint64_t bits)
{
    return facet_num_bits_nan(f, bits) && (bits & facet_num_quiet_bit(f)) == 0;
}

/* -1, 0, 1 for a < b, a == b, a > b; no NaNs. */
FACET_NUM_INLINE int facet_num_order(struct facet_num_value a, struct facet_num_value b)
{
    int direction = a.sign ? -1 : 1;

    if (a.cls == FACET_CLASS_ZERO && b.cls == FACET_CLASS_ZERO) {
        return 0;
    }
    if (a.cls == FACET_CLASS_ZERO) {
        return b.sign ? 1 : -1;
    }
    if (b.cls == FACET_CLASS_ZERO || a.sign != b.sign) {
        return direction;
    }
    if (a.cls == FACET_CLASS_INF || b.cls == FACET_CLASS_INF) {
        return a.cls == b.cls ? 0 : a.cls == FACET_CLASS_INF ? direction : -direction;
    }
    if (a.exp != b.exp) {
        return a.exp > b.exp ? direction : -direction;
    }
    return a.sig == b.sig ? 0 : a.sig > b.sig ? direction : -direction;
}

#endif
