/* Compute primitives on accumulators (numeric.md 10): the exact result rounded once to the
 * accumulator format of `conv`, floating point or integer. Accumulators have the form of element.h.
 *
 * The MIXED step of numeric.md 9 follows every primitive that returns an accumulator when
 * conv->mixed_step is set; a caller that builds one primitive out of several clears the field and
 * calls facet_num_mixed() itself. SAT never acts here (R-CAP-21); with DENORM_FTZ tiny results are
 * flushed.
 *
 * Integer accumulators hold units of 2^s, s = conv->scale. Results outside the width wrap and
 * raise OF. */
#ifndef FACET_NUM_ACCUM_H
#define FACET_NUM_ACCUM_H

#include "num/element.h"
#include "num/wide.h"

uint32_t facet_acc_add(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
uint32_t facet_acc_sub(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
/* integer: a * b * 2^s */
uint32_t facet_acc_mul(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
/* integer: a * b * 2^s + c */
uint32_t
facet_acc_fma(const struct facet_conv *conv, uint32_t a, uint32_t b, uint32_t c, unsigned *flags);
/* integer: a / b * 2^-s; x/0: DZ and the range end of the sign of x; 0/0: NV and 0 */
uint32_t facet_acc_div(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
/* integer: sqrt(a * 2^-s); negative: NV and 0 */
uint32_t facet_acc_sqrt(const struct facet_conv *conv, uint32_t a, unsigned *flags);
uint32_t facet_acc_min(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
uint32_t facet_acc_max(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
/* Sign bit only, no flag, a NaN becomes canonical; integer: 0 - a, wraps with OF. */
uint32_t facet_acc_neg(const struct facet_conv *conv, uint32_t a, unsigned *flags);
uint32_t facet_acc_abs(const struct facet_conv *conv, uint32_t a, unsigned *flags);
/* The exact a * b - c * d (rt-semantics.md 4); floating-point accumulators only. */
uint32_t facet_acc_dp2(
    const struct facet_conv *conv, uint32_t a, uint32_t b, uint32_t c, uint32_t d, unsigned *flags);

/* eq raises nothing for the quiet NaNs that accumulators hold; lt and le raise NV for any NaN. */
bool facet_acc_eq(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
bool facet_acc_lt(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
bool facet_acc_le(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);

/* The exact num / den (den > 0) rounded once: integer filters, means and constants; for FP
 * accumulators |num| < 2^63 and den < 2^64. No MIXED step. */
uint32_t
facet_acc_ratio(const struct facet_conv *conv, facet_i128 num, facet_u128 den, unsigned *flags);

#endif
