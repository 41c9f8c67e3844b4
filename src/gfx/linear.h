/* sRGB to linear for the AVX kernels of spans: three components of many colours at once.
 *
 * (w / 1.055)^2.4, w = x + 0.055, is v (1 + t)^2.4 with t = w r - 1, where r and v belong to one of
 * eight intervals of w: [1, 1.5) and [1.5, 2) times 1/8, 1/4 and 1/2, from 1.5 / 16 to 1/8, and
 * from 1 on. The last three of the bits above the 22nd of w as a float tell them apart. |t| is at
 * most 0.2, and the polynomial is off by less than 2^-38. */
#ifndef FACET_GFX_LINEAR_H
#define FACET_GFX_LINEAR_H

#include "gfx/span_kernel.h"
#include "num/srgb.h"

static const struct {
    double r[8], v[8];
} facet_gfx_intervals = {
    {0x1.999999999999ap+2,
     0x1.2492492492492p+2,
     0x1.999999999999ap+1,
     0x1.2492492492492p+1,
     0x1.999999999999ap+0,
     0x1.2492492492492p+0,
     0x1.999999999999ap-1,
     0x1.2492492492492p+3},
    {0x1.4ed20effdabe0p-7,
     0x1.776551ba12afap-6,
     0x1.b9cc60dd3f72fp-5,
     0x1.ef5673736f555p-4,
     0x1.237a6c077cd80p-2,
     0x1.46cd0ebf0c6d5p-1,
     0x1.809b991d5b81ep+0,
     0x1.1c7f2e4a58f80p-8},
};

/* (1 + t)^2.4, highest power first. */
#define POWERS(POWER)                                                                              \
    POWER(0x1.4477852cc3abcp-9)                                                                    \
    POWER(-0x1.313dbd8d48db7p-8)                                                                   \
    POWER(0x1.603e2d14de770p-7)                                                                    \
    POWER(-0x1.134058298e5d8p-5)                                                                   \
    POWER(0x1.cac086aa524dbp-3)                                                                    \
    POWER(0x1.ae147ae18240ep+0)                                                                    \
    POWER(0x1.3333333306fbfp+1)                                                                    \
    POWER(0x1.0000000000000p+0)
#define HIGHEST_POWER -0x1.76eff3cbfd8f9p-10

/* 2^-38 of a number is at most 2^15 of its last places, of which 29 are rounded away, to either
 * side of a tie; in units of 2^-3 of them. */
enum { NEAR_TIE = 1 << (16 + 3) };

/* Those of eight numbers that are too near to a tie, one by one. `open`: a bit for each. */
static inline void facet_gfx_linear_by_one(float *at, const float before[8], unsigned open)
{
    for (; open != 0; open &= open - 1) {
        const unsigned i = (unsigned)__builtin_ctz(open);

        at[i] = facet_srgb_float(before[i]);
    }
}

#endif
