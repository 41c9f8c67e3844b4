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

#include "num/format.h"
#include "num/host.h"

/* FP32 in FP32, and a number that is neither tiny nor infinite: it stays what it is and raises
 * nothing. Most conversions of most programs are of this kind. */
static inline bool facet_num_stays(const struct facet_conv *conv, uint32_t bits)
{
    if (conv->elem == FACET_FMT_FP32 && conv->acc == FACET_FMT_FP32 && conv->scale == 0 &&
        !conv->plain && facet_num_host_stays(bits)) {
        FACET_FAST_WAY(NUM_STAYS);
        return true;
    }
    return false;
}

/* facet_widen and facet_narrow, without a call where nothing changes. */
static inline uint32_t
facet_num_widen(const struct facet_conv *conv, uint32_t element, unsigned *flags)
{
    return facet_num_stays(conv, element) ? element : facet_widen(conv, element, flags);
}

static inline uint32_t
facet_num_narrow(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    return facet_num_stays(conv, acc) ? acc : facet_narrow(conv, acc, flags);
}

/* widen(narrow(acc)) when the conversion asks for it, else acc. */
static inline uint32_t facet_num_mixed(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    return conv->mixed_step ? facet_widen(conv, facet_narrow(conv, acc, flags), flags) : acc;
}

#endif
