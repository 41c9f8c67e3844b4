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
#include "num/host.h"
#include "num/wide.h"

/* The five that kernels consist of. `_any` does what the host cannot (host.h). */
uint32_t facet_acc_add_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
uint32_t facet_acc_sub_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
uint32_t facet_acc_mul_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);
uint32_t facet_acc_fma_any(
    const struct facet_conv *conv, uint32_t a, uint32_t b, uint32_t c, unsigned *flags);
uint32_t facet_acc_div_any(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags);

static inline uint32_t
facet_acc_add(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint32_t r;

    return facet_num_host_fits(conv, *flags) && facet_num_host_add(a, b, &r)
               ? r
               : facet_acc_add_any(conv, a, b, flags);
}

static inline uint32_t
facet_acc_sub(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint32_t r;

    return facet_num_host_fits(conv, *flags) && facet_num_host_add(a, b ^ UINT32_C(1) << 31, &r)
               ? r
               : facet_acc_sub_any(conv, a, b, flags);
}

/* integer: a * b * 2^s */
static inline uint32_t
facet_acc_mul(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint32_t r;

    return facet_num_host_fits(conv, *flags) && facet_num_host_mul(a, b, &r)
               ? r
               : facet_acc_mul_any(conv, a, b, flags);
}

/* integer: a * b * 2^s + c */
static inline uint32_t
facet_acc_fma(const struct facet_conv *conv, uint32_t a, uint32_t b, uint32_t c, unsigned *flags)
{
    uint32_t r;

    return facet_num_host_fits(conv, *flags) && facet_num_host_fma(a, b, c, &r)
               ? r
               : facet_acc_fma_any(conv, a, b, c, flags);
}

/* integer: a / b * 2^-s; x/0: DZ and the range end of the sign of x; 0/0: NV and 0 */
static inline uint32_t
facet_acc_div(const struct facet_conv *conv, uint32_t a, uint32_t b, unsigned *flags)
{
    uint32_t r;

    return facet_num_host_fits(conv, *flags) && facet_num_host_div(a, b, &r)
               ? r
               : facet_acc_div_any(conv, a, b, flags);
}

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
