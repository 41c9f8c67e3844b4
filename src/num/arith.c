/* See arith.h: the operations of ops.h selected by a format number, and the rare ones. */
#include "num/arith.h"

#include "num/ops.h"

uint64_t facet_num_add(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    return facet_num_do_add(&facet_fp_formats[format], a, b, false, policy, flags);
}

uint64_t facet_num_sub(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    return facet_num_do_add(&facet_fp_formats[format], a, b, true, policy, flags);
}

uint64_t facet_num_mul(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    return facet_num_do_mul(&facet_fp_formats[format], a, b, policy, flags);
}

uint64_t facet_num_div(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    return facet_num_do_div(&facet_fp_formats[format], a, b, policy, flags);
}

uint64_t facet_num_sqrt(enum facet_format format,
                        uint64_t a,
                        const struct facet_num_policy *policy,
                        unsigned *flags)
{
    return facet_num_do_sqrt(&facet_fp_formats[format], a, policy, flags);
}

uint64_t facet_num_fma(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       uint64_t c,
                       bool negate_product,
                       bool negate_addend,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    return facet_num_do_fma(
        &facet_fp_formats[format], a, b, c, negate_product, negate_addend, policy, flags);
}

uint64_t facet_num_dp2(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       uint64_t c,
                       uint64_t d,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];
    const uint64_t bits[4] = {a, b, c, d};
    struct facet_num_value v[4];
    unsigned ab, cd;
    bool invalid;

    for (unsigned i = 0; i < 4; i++) {
        v[i] = facet_num_unpack(f, bits[i], policy->flush_operand, flags);
    }
    ab = v[0].cls | v[1].cls;
    cd = v[2].cls | v[3].cls;
    invalid =
        ab == (FACET_CLASS_INF | FACET_CLASS_ZERO) || cd == (FACET_CLASS_INF | FACET_CLASS_ZERO);
    if (invalid) {
        *flags |= FACET_NV;
    }
    if (((ab | cd) & FACET_CLASS_NAN) != 0) {
        return facet_num_nan_of(f, bits, v, 4, policy, flags);
    }
    if (invalid) {
        return f->nan;
    }
    v[0] = facet_num_mul_values(f, v[0], v[1]);
    v[2] = facet_num_mul_values(f, v[2], v[3]);
    v[2].sign = !v[2].sign;
    return facet_num_add_values(f, v[0], v[2], policy, flags);
}

/* 1/0 and 1/sqrt(0). */
static uint64_t reciprocal_of_zero(const struct facet_fp_format *f,
                                   bool sign,
                                   const struct facet_num_policy *policy,
                                   unsigned *flags)
{
    *flags |= FACET_DZ;
    if (policy->saturate == FACET_SATURATE_FLAGGED) {
        return facet_num_signed(f, sign, f->max_finite);
    }
    return facet_num_signed(f, sign, f->has_inf ? f->infinity : f->nan);
}

uint64_t facet_num_rcp(enum facet_format format,
                       uint64_t a,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];
    struct facet_num_value v = facet_num_unpack(f, a, policy->flush_operand, flags);
    struct facet_num_value one = facet_num_of_u64(1, false);

    if ((v.cls & FACET_CLASS_NAN) != 0) {
        return facet_num_nan_of(f, &a, &v, 1, policy, flags);
    }
    if (v.cls == FACET_CLASS_ZERO) {
        return reciprocal_of_zero(f, v.sign, policy, flags);
    }
    if (v.cls == FACET_CLASS_INF) {
        return facet_num_signed(f, v.sign, 0);
    }
    return facet_num_round(f, facet_num_quotient(f, one, v), policy, flags);
}

/* 1/sqrt of a positive number with p <= 24: x = n * 2^scale with an even scale and n < 2^26, so
 * floor(sqrt(2^126 / n)) has at least 50 bits. It is exact only when neither the division nor the
 * root left anything; a tie is impossible, since the square of a midpoint is no 1/x. */
static struct facet_num_value reciprocal_root(struct facet_num_value x)
{
    const facet_u128 one = (facet_u128)1 << 126;
    int odd = x.exp & 1, scale = x.exp - 24 - odd, zeros;
    uint64_t n = x.sig >> (39 - odd);
    bool exact;

    x.sig = facet_num_isqrt128(one / n, &exact);
    exact = exact && one % n == 0;
    zeros = facet_clz64(x.sig);
    x.sig = x.sig << zeros | !exact;
    x.exp = -scale / 2 - zeros;
    return x;
}

uint64_t facet_num_rsqrt(enum facet_format format,
                         uint64_t a,
                         const struct facet_num_policy *policy,
                         unsigned *flags)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];
    struct facet_num_value v = facet_num_unpack(f, a, policy->flush_operand, flags);

    if ((v.cls & FACET_CLASS_NAN) != 0) {
        return facet_num_nan_of(f, &a, &v, 1, policy, flags);
    }
    if (v.cls == FACET_CLASS_ZERO) {
        return reciprocal_of_zero(f, v.sign, policy, flags);
    }
    if (v.sign) {
        return facet_num_invalid(f, flags);
    }
    if (v.cls == FACET_CLASS_INF) {
        return 0;
    }
    return facet_num_round(f, reciprocal_root(v), policy, flags);
}

/* The bits of an operand after operand flushing. */
static uint64_t
operand_bits(const struct facet_fp_format *f, uint64_t bits, struct facet_num_value v)
{
    return v.cls == FACET_CLASS_ZERO ? facet_num_signed(f, v.sign, 0)
                                     : bits & (facet_num_sign_bit(f) * 2 - 1);
}

/* min for direction -1, max for 1. */
static uint64_t extreme(const struct facet_fp_format *f,
                        uint64_t a,
                        uint64_t b,
                        int direction,
                        const struct facet_num_policy *policy,
                        unsigned *flags)
{
    struct facet_num_value v[2] = {facet_num_unpack(f, a, policy->flush_operand, flags),
                                   facet_num_unpack(f, b, policy->flush_operand, flags)};
    const uint64_t bits[2] = {a, b};
    bool nan_a = (v[0].cls & FACET_CLASS_NAN) != 0, nan_b = (v[1].cls & FACET_CLASS_NAN) != 0;
    int order;

    if (nan_a || nan_b) {
        uint64_t nan = facet_num_nan_of(f, bits, v, 2, policy, flags);
        return nan_a && nan_b ? nan : operand_bits(f, nan_a ? b : a, v[nan_a]);
    }
    order = facet_num_order(v[0], v[1]);
    if (order == 0) { /* -0 < +0 */
        order = (int)v[1].sign - (int)v[0].sign;
    }
    return order * direction >= 0 ? operand_bits(f, a, v[0]) : operand_bits(f, b, v[1]);
}

uint64_t facet_num_min(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    return extreme(&facet_fp_formats[format], a, b, -1, policy, flags);
}

uint64_t facet_num_max(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags)
{
    return extreme(&facet_fp_formats[format], a, b, 1, policy, flags);
}

/* -1, 0, 1, or 2 for unordered; *classes gets the OR of the operand classes. */
static int compare(enum facet_format format,
                   uint64_t a,
                   uint64_t b,
                   const struct facet_num_policy *policy,
                   unsigned *classes,
                   unsigned *flags)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];
    struct facet_num_value x = facet_num_unpack(f, a, policy->flush_operand, flags);
    struct facet_num_value y = facet_num_unpack(f, b, policy->flush_operand, flags);

    *classes = x.cls | y.cls;
    return (*classes & FACET_CLASS_NAN) != 0 ? 2 : facet_num_order(x, y);
}

bool facet_num_eq(enum facet_format format,
                  uint64_t a,
                  uint64_t b,
                  const struct facet_num_policy *policy,
                  unsigned *flags)
{
    unsigned classes;
    int order = compare(format, a, b, policy, &classes, flags);

    if ((classes & FACET_CLASS_SNAN) != 0) {
        *flags |= FACET_NV;
    }
    return order == 0;
}

bool facet_num_lt(enum facet_format format,
                  uint64_t a,
                  uint64_t b,
                  const struct facet_num_policy *policy,
                  unsigned *flags)
{
    unsigned classes;
    int order = compare(format, a, b, policy, &classes, flags);

    if (order == 2) {
        *flags |= FACET_NV;
    }
    return order == -1;
}

bool facet_num_le(enum facet_format format,
                  uint64_t a,
                  uint64_t b,
                  const struct facet_num_policy *policy,
                  unsigned *flags)
{
    unsigned classes;
    int order = compare(format, a, b, policy, &classes, flags);

    if (order == 2) {
        *flags |= FACET_NV;
    }
    return order <= 0;
}

bool facet_num_is_nan(enum facet_format format, uint64_t a)
{
    unsigned unused = 0;

    return (facet_num_unpack(&facet_fp_formats[format], a, false, &unused).cls & FACET_CLASS_NAN) !=
           0;
}

bool facet_num_is_snan(enum facet_format format, uint64_t a)
{
    unsigned unused = 0;

    return facet_num_unpack(&facet_fp_formats[format], a, false, &unused).cls == FACET_CLASS_SNAN;
}

unsigned facet_num_fclass(enum facet_format format, uint64_t a)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];
    unsigned unused = 0;
    struct facet_num_value v = facet_num_unpack(f, a, false, &unused);

    switch (v.cls) {
    case FACET_CLASS_SNAN:
        return 1u << 8;
    case FACET_CLASS_QNAN:
        return 1u << 9;
    case FACET_CLASS_INF:
        return 1u << (v.sign ? 0 : 7);
    case FACET_CLASS_ZERO:
        return 1u << (v.sign ? 3 : 4);
    default:
        return 1u << (v.exp >= f->emin ? (v.sign ? 1 : 6) : (v.sign ? 2 : 5));
    }
}
