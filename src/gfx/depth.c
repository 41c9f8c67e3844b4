/* Depth tests and stores (depth.h). */
#include "gfx/depth.h"

#include "num/accum.h"
#include "num/arith.h"

/* REVERSE_Z swaps the four ordered comparisons in pairs. */
static enum facet_gfx_compare turned(enum facet_gfx_compare compare, bool reverse)
{
    return reverse && compare <= FACET_GFX_GEQUAL ? (enum facet_gfx_compare)(compare ^ 2) : compare;
}

/* Integers are compared as the accumulators that hold them; 32 unsigned bits are moved into the
 * signed range, which keeps their order. */
static uint32_t int_key(const struct facet_conv *conv, uint32_t z)
{
    unsigned unused = 32 - facet_format_width(conv->elem);

    return conv->uns ? z << unused >> unused ^ 0x80000000
                     : (uint32_t)((int32_t)(z << unused) >> unused);
}

bool facet_gfx_depth_passes(const struct facet_conv *conv,
                            enum facet_gfx_compare compare,
                            bool reverse,
                            uint32_t z_in,
                            uint32_t z_buf,
                            unsigned *flags)
{
    struct facet_conv exact = facet_num_exact_conv(conv);

    if (facet_format_is_int(conv->elem)) {
        exact.acc = FACET_FMT_INT32;
        z_in = int_key(conv, z_in);
        z_buf = int_key(conv, z_buf);
    } else {
        z_in = facet_num_widen(&exact, z_in, flags);
        z_buf = facet_num_widen(&exact, z_buf, flags);
    }
    switch (turned(compare, reverse)) {
    case FACET_GFX_LESS:
        return facet_acc_lt(&exact, z_in, z_buf, flags);
    case FACET_GFX_LEQUAL:
        return facet_acc_le(&exact, z_in, z_buf, flags);
    case FACET_GFX_GREATER:
        return facet_acc_lt(&exact, z_buf, z_in, flags);
    case FACET_GFX_GEQUAL:
        return facet_acc_le(&exact, z_buf, z_in, flags);
    case FACET_GFX_EQUAL:
        return facet_acc_eq(&exact, z_in, z_buf, flags);
    case FACET_GFX_NEQUAL:
        return !facet_acc_eq(&exact, z_in, z_buf, flags);
    case FACET_GFX_ALWAYS:
        return true;
    default:
        return false;
    }
}

uint32_t facet_gfx_depth_stored(const struct facet_conv *conv, uint32_t z, unsigned *flags)
{
    struct facet_extreme only = {0};

    facet_num_extreme_look(&only, conv, false, z, flags);
    return facet_num_extreme_bits(&only, conv, flags);
}
