/* See convert.h. */
#include "num/convert.h"

#include "num/ops.h"

uint64_t facet_num_convert(enum facet_format to,
                           enum facet_format from,
                           uint64_t a,
                           const struct facet_num_policy *policy,
                           unsigned *flags)
{
    return facet_num_do_convert(&facet_fp_formats[to], &facet_fp_formats[from], a, policy, flags);
}

uint64_t facet_num_to_int(enum facet_format from,
                          uint64_t a,
                          unsigned width,
                          bool is_signed,
                          const struct facet_num_policy *policy,
                          unsigned *flags)
{
    return facet_num_do_to_int(&facet_fp_formats[from], a, width, is_signed, policy, flags);
}

uint64_t facet_num_from_u64(enum facet_format to,
                            uint64_t n,
                            const struct facet_num_policy *policy,
                            unsigned *flags)
{
    return facet_num_do_from_int(&facet_fp_formats[to], n, false, policy, flags);
}

uint64_t facet_num_from_i64(enum facet_format to,
                            int64_t n,
                            const struct facet_num_policy *policy,
                            unsigned *flags)
{
    uint64_t magnitude = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    return facet_num_do_from_int(&facet_fp_formats[to], magnitude, n < 0, policy, flags);
}

uint64_t facet_num_from_ratio(enum facet_format to,
                              int64_t num,
                              uint64_t den,
                              int exponent,
                              const struct facet_num_policy *policy,
                              unsigned *flags)
{
    const struct facet_fp_format *f = &facet_fp_formats[to];
    struct facet_num_value v;

    FACET_REQUIRE(den != 0);
    if (num == 0) {
        return 0;
    }
    v = facet_num_of_u64(num < 0 ? 0 - (uint64_t)num : (uint64_t)num, num < 0);
    if (den != 1) {
        struct facet_num_value d = facet_num_of_u64(den, false);
        bool is_short = f->p <= 24 && ((v.sig | d.sig) & ((UINT64_C(1) << 40) - 1)) == 0;

        /* 24-bit operands take the short division of FP32; the 64-bit quotient of FP64 is good for
         * every format */
        v = is_short ? facet_num_quotient(&facet_fp_formats[FACET_FMT_FP32], v, d)
                     : facet_num_quotient(&facet_fp_formats[FACET_FMT_FP64], v, d);
    }
    v.exp += exponent;
    return facet_num_round(f, v, policy, flags);
}

facet_i128
facet_num_round_floor(facet_i128 floor, enum facet_fraction fraction, unsigned rm, unsigned *flags)
{
    bool up;

    if (fraction == FACET_FRACTION_ZERO) {
        return floor;
    }
    *flags |= FACET_NX;
    switch (rm) {
    case FACET_RTZ:
        up = floor < 0;
        break;
    case FACET_RDN:
        up = false;
        break;
    case FACET_RUP:
        up = true;
        break;
    case FACET_RMM: /* a negative tie moves away from zero, that is down */
        up = fraction == FACET_FRACTION_HIGH || (fraction == FACET_FRACTION_HALF && floor >= 0);
        break;
    default:
        up = fraction == FACET_FRACTION_HIGH ||
             (fraction == FACET_FRACTION_HALF && (floor & 1) != 0);
        break;
    }
    return floor + up;
}

facet_i128 facet_num_round_ratio(facet_i128 num, facet_u128 den, unsigned rm, unsigned *flags)
{
    facet_u128 magnitude = num < 0 ? 0 - (facet_u128)num : (facet_u128)num;
    facet_u128 quotient = magnitude / den, rest = magnitude % den;
    facet_i128 floor = (facet_i128)quotient;
    enum facet_fraction fraction = FACET_FRACTION_ZERO;

    FACET_REQUIRE(den > 0);
    if (num < 0) {
        floor = -floor;
        if (rest != 0) { /* floor, not truncation */
            floor--;
            rest = den - rest;
        }
    }
    if (rest != 0) {
        facet_u128 other = den - rest;
        fraction = rest < other    ? FACET_FRACTION_LOW
                   : rest == other ? FACET_FRACTION_HALF
                                   : FACET_FRACTION_HIGH;
    }
    return facet_num_round_floor(floor, fraction, rm, flags);
}

int64_t facet_num_int_fit(facet_i128 x, unsigned width, bool saturate, bool *outside)
{
    facet_i128 high = ((facet_i128)1 << (width - 1)) - 1, low = -high - 1;
    uint64_t wrapped;

    FACET_REQUIRE(width >= 1 && width <= 64);
    if (x >= low && x <= high) {
        return (int64_t)x;
    }
    *outside = true;
    if (saturate) {
        return (int64_t)(x > high ? high : low);
    }
    wrapped = (uint64_t)x << (64 - width);
    return (int64_t)wrapped >> (64 - width);
}
