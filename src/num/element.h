/* Elements and accumulators: *widen*, *narrow* and the MIXED step of numeric.md 9.
 *
 * struct facet_conv is what a conversion needs to know, already reduced: quantization that is off
 * (Q = 0) is a scale and a zero point of 0. facet_eff_conv() in eff.h makes one from an EFF
 * snapshot; an instruction with a fixed internal format (RT: FP32) or a fixed element format (RSV)
 * replaces `acc` or `elem`.
 *
 * An accumulator is 32 bits: FP32 bits, FP16 or BF16 bits zero-extended, INT32, or INT16
 * sign-extended; so the register image of numeric.md 5 is a zero- or sign-extension of it. */
#ifndef FACET_NUM_ELEMENT_H
#define FACET_NUM_ELEMENT_H

#include "num/flags.h"
#include "num/format.h"

enum facet_nan_pol {
    FACET_NAN_POL_PROPAGATE,
    FACET_NAN_POL_ZERO,
    FACET_NAN_POL_INF,
};

struct facet_conv {
    uint8_t elem;    /* enum facet_format */
    uint8_t acc;     /* enum facet_format: FP32, FP16, INT32, INT16 (RSV also BF16) */
    uint8_t rm;      /* enum facet_rm */
    uint8_t nan_pol; /* enum facet_nan_pol */
    bool ftz;        /* DENORM_FTZ */
    bool sat;
    bool sat_mode;
    bool uns;        /* unsigned integer elements: Q = 1 and UNS = 1 */
    bool mixed_step; /* EFF_ALT_EN = 1 and MIXED = 0: primitives end in narrow and widen */
    int16_t scale;   /* s: SCALE_SH (-128..127), 0 while Q = 0 */
    int16_t zp;      /* zero point of the element's channel, 0 while inactive */
};

/* Element bits (the low bits of `element`, higher ones ignored) to accumulator. */
uint32_t facet_widen(const struct facet_conv *conv, uint32_t element, unsigned *flags);

/* Accumulator to element bits, zero-extended. */
uint32_t facet_narrow(const struct facet_conv *conv, uint32_t acc, unsigned *flags);

/* widen(narrow(acc)) when the conversion asks for it, else acc. */
static inline uint32_t facet_mixed(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    return conv->mixed_step ? facet_widen(conv, facet_narrow(conv, acc, flags), flags) : acc;
}

#endif
