/* See extreme.h. */
#include "num/extreme.h"

#include "base/bits.h"
#include "num/arith.h"

struct facet_conv facet_num_exact_conv(const struct facet_conv *conv)
{
    struct facet_conv exact = *conv;

    exact.acc = FACET_FMT_FP32;
    exact.scale = 0;
    exact.mixed_step = false;
    return exact;
}

uint32_t facet_num_exact_nan(const struct facet_conv *conv, unsigned *flags)
{
    struct facet_conv exact = facet_num_exact_conv(conv);
    unsigned raised = 0;
    uint32_t nan = facet_narrow(&exact, 0x7FC00000, &raised);

    *flags |= raised & ~(unsigned)FACET_DOWN;
    return nan;
}

/* Binary32 codes in the order of their values, -0 below +0. */
static int64_t fp_rank(uint32_t code)
{
    return (code >> 31) != 0 ? -1 - (int64_t)(code & 0x7FFFFFFF) : (int64_t)code;
}

/* A binary32 number that is read as it is, whatever the policy: normal or zero. */
static bool is_plain(uint32_t code)
{
    uint32_t magnitude = code & 0x7FFFFFFF;

    return magnitude == 0 || magnitude - 0x00800000 < 0x7F000000;
}

void facet_num_extreme_look(struct facet_extreme *extreme,
                            const struct facet_conv *conv,
                            bool max,
                            uint32_t bits,
                            unsigned *flags)
{
    unsigned width = facet_format_width(conv->elem), raised = 0;
    int64_t value;

    if (facet_format_is_int(conv->elem)) {
        value = (conv->uns ? (int64_t)bits : facet_bits_sign(bits, width)) - conv->zp;
    } else if (conv->elem == FACET_FMT_FP32 && is_plain(bits)) {
        value = fp_rank(bits);
    } else {
        struct facet_conv exact = facet_num_exact_conv(conv);
        uint32_t code = facet_widen(&exact, bits, &raised);

        *flags |= raised;
        if (facet_num_is_nan(FACET_FMT_FP32, code)) {
            return;
        }
        if ((raised & FACET_FTZ) != 0) {
            bits &= 1u << (width - 1);
        }
        value = fp_rank(code);
    }
    if (!extreme->found || (max ? value > extreme->value : value < extreme->value)) {
        *extreme = (struct facet_extreme){true, value, bits};
    }
}

uint32_t facet_num_extreme_bits(const struct facet_extreme *extreme,
                                const struct facet_conv *conv,
                                unsigned *flags)
{
    return extreme->found ? extreme->bits : facet_num_exact_nan(conv, flags);
}
