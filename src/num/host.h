/* FP32 by the host's own floating point, where nobody needs to know whether the result is exact: NX
 * is among the flags already. The host rounds to nearest even, as C promises to code that does not
 * touch its environment. A result that is an ordinary number, well inside the normal range, then
 * has the bits of the one correctly rounded result, and no operation on the way to it can have
 * raised NV, DZ, OF or UF; nor does an exact zero. Everything else is refused. For src/num, and for
 * units that have loops of their own over such numbers. */
#ifndef FACET_NUM_HOST_H
#define FACET_NUM_HOST_H

#include "base/float.h"
#include "base/ways.h"

#include <facet/num.h>
#include <float.h>
#include <stdbool.h>

enum {
    /* The host computes in the formats themselves, not in wider ones. */
    FACET_NUM_HOST_EXACT = FLT_EVAL_METHOD == 0 && FLT_RADIX == 2 && FLT_MANT_DIG == 24 &&
                           FLT_MAX_EXP == 128 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024,
};

/* Flushed operands would not be those of the host; nor does it have a MIXED step. */
static inline bool facet_num_host_fits(const struct facet_conv *conv, unsigned flags)
{
    return FACET_NUM_HOST_EXACT && (flags & FACET_NX) != 0 && conv->acc == FACET_FMT_FP32 &&
           conv->rm == FACET_RNE && !conv->ftz && !conv->plain && !conv->mixed_step;
}

/* At least twice the smallest normal number, so that not even its neighbours are tiny, and finite;
 * or `exact`. */
static inline bool facet_num_host_take(float value, bool exact, uint32_t *result)
{
    *result = facet_float_bits(value);
    if (((*result >> 23) & 0xFF) - 2 <= UINT32_C(0xFE) - 2 || exact) {
        FACET_FAST_WAY(NUM_HOST);
        return true;
    }
    return false;
}

/* An FP32 element that is its own accumulator, and back: neither NaN nor infinite nor tiny. */
static inline bool facet_num_host_stays(uint32_t bits)
{
    const uint32_t magnitude = bits & INT32_MAX;

    return magnitude == 0 || magnitude - 0x00800000 < 0x7F000000;
}

/* Zeros and tiny sums are exact. */
static inline bool facet_num_host_add(uint32_t a, uint32_t b, uint32_t *result)
{
    const float sum = facet_float_of(a) + facet_float_of(b);

    return facet_num_host_take(sum, sum < FLT_MIN && sum > -FLT_MIN, result);
}

static inline bool facet_num_host_mul(uint32_t a, uint32_t b, uint32_t *result)
{
    const float x = facet_float_of(a), y = facet_float_of(b), product = x * y;

    return facet_num_host_take(product, product == 0 && (x == 0 || y == 0), result);
}

static inline bool facet_num_host_div(uint32_t a, uint32_t b, uint32_t *result)
{
    const float x = facet_float_of(a), quotient = x / facet_float_of(b);

    return facet_num_host_take(quotient, quotient == 0 && x == 0, result);
}

/* The product of two floats is a double, exactly. Rounding the sum twice is rounding it once unless
 * the first time ends half-way between two floats. */
static inline bool facet_num_host_fma(uint32_t a, uint32_t b, uint32_t c, uint32_t *result)
{
    const double sum =
        (double)facet_float_of(a) * (double)facet_float_of(b) + (double)facet_float_of(c);
    const bool halfway = (facet_double_bits(sum) & 0x1FFFFFFF) == 0x10000000;

    return !halfway && facet_num_host_take((float)sum, sum == 0, result);
}

#endif
