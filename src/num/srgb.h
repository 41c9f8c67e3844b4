/* The electro-optical curve of sRGB: x / 12.92 up to 0.04045, else ((x + 0.055) / 1.055)^2.4.
 *
 * 2.4 is 12/5, so a number lies below the curve when its fifth power lies below a twelfth power:
 * whole numbers of 525 bits decide every rounding, in any mode, without a trusted pow(). The fast
 * way is a polynomial in binary64 that says how far it may be off.
 *
 * Spec: gfx-semantics.md 6.6; R-GFX-32. */
#ifndef FACET_NUM_SRGB_H
#define FACET_NUM_SRGB_H

#include "base/float.h"

#include <stdint.h>

/* num / den * 2^exponent */
struct facet_srgb_ratio {
    int64_t num;
    uint32_t den;
    int exponent;
};

/* The curve at x = num * 2^exponent, 0 < x < 1, num < 2^32: a fraction that every format of at most
 * 24 significant bits, and every integer of units 2^exponent, rounds as it would the curve's value,
 * exact or not. Above 0.04045 x must be a multiple of 2^-36. */
struct facet_srgb_ratio facet_srgb_linear(uint64_t num, int exponent);

/* The curve at a binary32 number, rounded to nearest even; below 0 it is 0, above 1 it is 1. */
float facet_srgb_float(float x);

/* (c / 1.055)^2.4 in the middles c of 16 intervals for each power of two from 1/16 to 1. */
extern const double facet_srgb_power[80];

/* How far facet_srgb_estimate may be off, relatively. */
#define FACET_SRGB_ERROR 0x1p-42

/* Of (1 + t)^2.4, |t| < 1/32, behind 1. */
#define FACET_SRGB_SERIES                                                                          \
    {                                                                                              \
        2.4, 1.68, 0.224, -0.0336, 0.010752, -0.0046592                                            \
    }

/* ((x + 0.055) / 1.055)^2.4 for 0.04045 < x < 1. */
static inline double facet_srgb_estimate(double x)
{
    static const double a[6] = FACET_SRGB_SERIES;
    double w = x + 0.055, c, t, p;
    uint64_t bits, middle;

    bits = facet_double_bits(w);
    middle = (bits >> 48 << 48) | UINT64_C(1) << 47;
    c = facet_double_of(middle);
    t = (w - c) / c;
    p = t * (a[0] + t * (a[1] + t * (a[2] + t * (a[3] + t * (a[4] + t * a[5])))));
    c = facet_srgb_power[(bits >> 48) - (1019 << 4)];
    return c + c * p;
}

#endif
