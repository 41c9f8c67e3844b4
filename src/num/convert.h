/* Conversions: floating point to floating point, to and from integers, and from exact fractions.
 *
 * These are the RISC-V rules (canonical NaNs, range ends with NV), also those of *widen* step 5 in
 * numeric.md 9 and, by policy, of tile-semantics.md 5.5. Quantized element conversions are in
 * element.h, the payload-keeping conversion of the tile in tile.h. */
#ifndef FACET_NUM_CONVERT_H
#define FACET_NUM_CONVERT_H

#include "num/format.h"
#include "num/wide.h"

/* num / den * 2^exponent, exact and rounded once; num = 0 gives +0, den must not be 0. Serves
 * normalised texel formats (n/255), fixed point and quantized values. */
uint64_t facet_num_from_ratio(enum facet_format to,
                              int64_t num,
                              uint64_t den,
                              int exponent,
                              const struct facet_num_policy *policy,
                              unsigned *flags);

/* A finite value's distance from the integer below it. */
enum facet_fraction {
    FACET_FRACTION_ZERO,
    FACET_FRACTION_LOW, /* below one half */
    FACET_FRACTION_HALF,
    FACET_FRACTION_HIGH, /* above one half */
};

/* floor + fraction rounded to an integer; NX if the fraction is not zero. */
facet_i128
facet_num_round_floor(facet_i128 floor, enum facet_fraction fraction, unsigned rm, unsigned *flags);

/* The exact num / den rounded once to an integer (den > 0): the filters and means of integer
 * accumulators (gfx-semantics.md 4.3). */
facet_i128 facet_num_round_ratio(facet_i128 num, facet_u128 den, unsigned rm, unsigned *flags);

/* An exact integer brought into a signed width of 1..64 bits: unchanged when it fits; else *outside
 * becomes true and it is clamped (saturate) or reduced modulo 2^width. */
int64_t facet_num_int_fit(facet_i128 x, unsigned width, bool saturate, bool *outside);

#endif
