/* Binary32 arithmetic as section 1 of gfx12-semantics.md requires, on host floats. Round to nearest
 * even and subnormals come from the host; what a host is free to choose (NaN bits, min and max of
 * NaN, the rounding of a fused operation) is written out here. */
#ifndef FACET_NUM_F32_H
#define FACET_NUM_F32_H

#include "base/float.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

_Static_assert(FLT_EVAL_METHOD == 0, "float operations must round to binary32");

#define F32_NAN 0x7FC00000u
#define F32_NAN_DIVISION 0xFFC00000u /* 0/0 and inf/inf */
#define F32_INF 0x7F800000u
#define F32_ONE 0x3F800000u
#define F32_SIGN 0x80000000u

static inline bool f32_is_nan(float f)
{
    return f != f;
}

/* Any NaN becomes 7FC00000. Results are only made canonical where their bits can be seen. */
static inline float f32_canonical(float f)
{
    return f32_is_nan(f) ? facet_float_of(F32_NAN) : f;
}

/* The sign bit flips, also that of a NaN or a zero. */
static inline float f32_negate(float f)
{
    return facet_float_of(facet_float_bits(f) ^ F32_SIGN);
}

/* minNum and maxNum: a NaN loses against a number. The sign of a zero result is not specified:
 * results are only compared. */
static inline float f32_max(float a, float b)
{
    return f32_is_nan(b) || a > b ? a : b;
}

static inline float f32_min(float a, float b)
{
    return f32_is_nan(b) || a < b ? a : b;
}

static inline float f32_div(float a, float b)
{
    float q = a / b;
    if (!f32_is_nan(q)) {
        return q;
    }
    return facet_float_of(f32_is_nan(a) || f32_is_nan(b) ? F32_NAN : F32_NAN_DIVISION);
}

/* a*b + c with one rounding. The product of two floats is exact in binary64 (48 bits, exponents
 * within range), and so is the error of the binary64 sum. Rounding the sum to odd keeps that error
 * visible in its last bit, and 53 >= 2*24 + 2 bits make the second rounding the only one that
 * counts (Boldo and Melquiond, "When double rounding is odd"). fmaf is not used: some C libraries
 * round it twice. */
static inline float f32_fma(float a, float b, float c)
{
    double p = (double)a * b;
    double s = p + c;
    double t = s - p;
    double e = (p - (s - t)) + (c - t);
    if (e != 0) { /* inexact; a NaN or an infinity has a NaN here, and stays as it is */
        uint64_t bits = facet_double_bits(s);

        if (e == e && (bits & 1) == 0) {
            bits += (e > 0) == (s > 0) ? 1 : -UINT64_C(1);
            s = facet_double_of(bits);
        }
    }
    return f32_canonical((float)s);
}

#endif
