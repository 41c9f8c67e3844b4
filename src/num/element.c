/* See element.h. The order of tests follows numeric.md 9; appendix A is the normative twin against
 * which tests/num compares every format pair and state. */
#include "num/element.h"

#include "num/convert.h"
#include "num/ops.h"

static struct facet_num_policy policy_of(const struct facet_conv *conv, bool saturate)
{
    return (struct facet_num_policy){
        .rm = conv->rm,
        .flush = conv->ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE,
        .saturate = saturate ? FACET_SATURATE_QUIET : FACET_SATURATE_NONE,
    };
}

static int64_t int_element(const struct facet_conv *conv, uint32_t element)
{
    unsigned unused = 64 - facet_format_width(conv->elem);
    uint64_t top = (uint64_t)element << unused;

    return conv->uns ? (int64_t)(top >> unused) : (int64_t)top >> unused;
}

static uint32_t widen_int(const struct facet_conv *conv, uint32_t element, unsigned *flags)
{
    int64_t value = int_element(conv, element) - conv->zp;
    bool wrapped = false;
    int64_t acc;

    if (!facet_format_is_int(conv->acc)) {
        struct facet_num_policy policy = policy_of(conv, false);
        struct facet_num_value v;

        if (value == 0) {
            return 0;
        }
        v = facet_num_of_u64((uint64_t)(value < 0 ? -value : value), value < 0);
        v.exp += conv->scale;
        return (uint32_t)facet_num_round(&facet_fp_formats[conv->acc], v, &policy, flags);
    }
    acc = facet_num_int_fit(value, facet_format_width(conv->acc), false, &wrapped);
    if (wrapped) {
        *flags |= FACET_OF;
    }
    return (uint32_t)acc;
}

static uint32_t widen_fp(const struct facet_conv *conv, uint32_t element, unsigned *flags)
{
    struct facet_num_policy policy = policy_of(conv, false);
    struct facet_num_value v =
        facet_num_unpack(&facet_fp_formats[conv->elem], element, conv->ftz, flags);
    const struct facet_fp_format *to;

    if (v.cls == FACET_CLASS_SNAN) {
        *flags |= FACET_SNAN | FACET_NV;
    } else if (v.cls == FACET_CLASS_QNAN) {
        *flags |= FACET_QNAN;
    }
    if (facet_format_is_int(conv->acc)) {
        /* already read once with its flags: the second reading raises only the conversion's own */
        policy.flush_operand = conv->ftz;
        return (uint32_t)facet_num_to_int(
            conv->elem, element, facet_format_width(conv->acc), true, &policy, flags);
    }
    to = &facet_fp_formats[conv->acc];
    switch (v.cls) {
    case FACET_CLASS_NUMBER:
        v.exp += conv->scale;
        return (uint32_t)facet_num_round(to, v, &policy, flags);
    case FACET_CLASS_ZERO:
        return (uint32_t)facet_num_signed(to, v.sign, 0);
    case FACET_CLASS_INF:
        return (uint32_t)facet_num_signed(to, v.sign, to->infinity);
    default:
        return (uint32_t)to->nan;
    }
}

uint32_t facet_widen(const struct facet_conv *conv, uint32_t element, unsigned *flags)
{
    if (facet_num_stays(conv, element)) {
        return element;
    }
    if (!facet_format_contains(conv->acc, conv->elem)) {
        *flags |= FACET_DOWN;
    }
    return facet_format_is_int(conv->elem) ? widen_int(conv, element, flags)
                                           : widen_fp(conv, element, flags);
}

/* The range of the integer element format: full, and as SAT_MODE narrows it for clamping. */
struct range {
    int64_t low, high;
    int64_t sat_low;
};

static struct range range_of(const struct facet_conv *conv)
{
    unsigned width = facet_format_width(conv->elem);
    struct range r;

    if (conv->uns) {
        r.high = (INT64_C(1) << width) - 1;
        r.low = r.sat_low = 0;
    } else {
        r.high = (INT64_C(1) << (width - 1)) - 1;
        r.low = -r.high - 1;
        r.sat_low = conv->sat && conv->sat_mode ? -r.high : r.low;
    }
    return r;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static int64_t narrow_int_to_int(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    struct range r = range_of(conv);
    int64_t k = (int64_t)(int32_t)acc + conv->zp;

    if (k >= r.sat_low && k <= r.high) {
        return k;
    }
    *flags |= conv->sat ? FACET_SAT : FACET_OF;
    return conv->sat ? clamp(k, r.sat_low, r.high) : k; /* SAT = 0: the low bits are kept */
}

static int64_t narrow_fp_to_int(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    struct range r = range_of(conv);
    struct facet_num_value v = facet_num_unpack(&facet_fp_formats[conv->acc], acc, false, flags);
    const int64_t beyond = INT64_C(1) << 62; /* outside every range, room for the zero point */
    bool inexact = false;
    int64_t k = 0;

    if ((v.cls & FACET_CLASS_NAN) != 0) {
        *flags |= FACET_QNAN;
        if (conv->nan_pol == FACET_NAN_POL_ZERO) {
            return clamp(conv->zp, r.sat_low, r.high);
        }
        *flags |= conv->nan_pol == FACET_NAN_POL_PROPAGATE ? FACET_NV : 0;
        return r.high;
    }
    if (v.cls == FACET_CLASS_INF) {
        k = beyond;
    } else if (v.cls == FACET_CLASS_NUMBER) {
        facet_u128 magnitude;
        v.exp -= conv->scale;
        magnitude = facet_num_integer(v, conv->rm, &inexact);
        k = magnitude > (facet_u128)beyond ? beyond : (int64_t)magnitude;
    }
    k = (v.sign ? -k : k) + conv->zp;
    if (k >= r.sat_low && k <= r.high) {
        *flags |= inexact ? FACET_NX : 0;
        return k;
    }
    *flags |= conv->sat ? FACET_SAT : FACET_NV;
    return clamp(k, r.sat_low, r.high);
}

static uint32_t narrow_fp_to_fp(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    const struct facet_fp_format *to = &facet_fp_formats[conv->elem];
    struct facet_num_policy policy = policy_of(conv, conv->sat);
    struct facet_num_value v = facet_num_unpack(&facet_fp_formats[conv->acc], acc, false, flags);

    switch (v.cls) {
    case FACET_CLASS_NUMBER:
        v.exp -= conv->scale;
        return (uint32_t)facet_num_round(to, v, &policy, flags);
    case FACET_CLASS_ZERO:
        return (uint32_t)facet_num_signed(to, v.sign, 0);
    case FACET_CLASS_INF:
        if (conv->sat && !conv->sat_mode) {
            *flags |= FACET_SAT;
            return (uint32_t)facet_num_signed(to, v.sign, to->max_finite);
        }
        if (to->has_inf) {
            return (uint32_t)facet_num_signed(to, v.sign, to->infinity);
        }
        *flags |= FACET_QNAN;
        return (uint32_t)to->nan;
    default:
        *flags |= FACET_QNAN;
        switch (conv->nan_pol) {
        case FACET_NAN_POL_ZERO:
            return 0;
        case FACET_NAN_POL_INF:
            return (uint32_t)(to->has_inf ? to->infinity : to->max_finite);
        default:
            return (uint32_t)to->nan;
        }
    }
}

uint32_t facet_narrow(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    bool from_int = facet_format_is_int(conv->acc);

    if (facet_num_stays(conv, acc)) {
        return acc;
    }
    if (!facet_format_contains(conv->elem, conv->acc)) {
        *flags |= FACET_DOWN;
    }
    if (facet_format_is_int(conv->elem)) {
        uint32_t mask = UINT32_MAX >> (32 - facet_format_width(conv->elem));
        int64_t k =
            from_int ? narrow_int_to_int(conv, acc, flags) : narrow_fp_to_int(conv, acc, flags);
        return (uint32_t)k & mask;
    }
    if (from_int) {
        struct facet_num_policy policy = policy_of(conv, conv->sat);
        return (uint32_t)facet_num_from_i64(conv->elem, (int32_t)acc, &policy, flags);
    }
    return narrow_fp_to_fp(conv, acc, flags);
}
