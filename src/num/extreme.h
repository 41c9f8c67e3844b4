/* The largest or smallest entry of a scan over elements, kept as its bits: hierarchical depth and
 * matrix reductions (gfx-semantics.md 13, 16.5; R-GFX-59, R-MTX-17).
 *
 * Floating point is compared by value with -0 < +0, a NaN loses against every number; integers are
 * compared as q - zp. The first of equal entries stays. A subnormal that is flushed when read is
 * written as zero of its sign. No accumulator takes part. */
#ifndef FACET_NUM_EXTREME_H
#define FACET_NUM_EXTREME_H

#include "num/element.h"

struct facet_extreme {
    bool found; /* an entry that is not NaN */
    int64_t value;
    uint32_t bits;
};

/* The conversion that reads FP elements exactly, with the NaN flags and FTZ_HIT of widen and
 * nothing else: to binary32 without scale. */
struct facet_conv facet_num_exact_conv(const struct facet_conv *conv);
/* The NaN that narrow writes for elements of this format, without DOWNCAST_TAKEN. */
uint32_t facet_num_exact_nan(const struct facet_conv *conv, unsigned *flags);

/* Looks at the next entry; `conv` has the zero point of its channel. */
void facet_num_extreme_look(struct facet_extreme *extreme,
                            const struct facet_conv *conv,
                            bool max,
                            uint32_t bits,
                            unsigned *flags);
/* The chosen bits; NaN as narrow writes it when every entry was one. */
uint32_t facet_num_extreme_bits(const struct facet_extreme *extreme,
                                const struct facet_conv *conv,
                                unsigned *flags);

#endif
