/* The step from sRGB to linear (gfx-semantics.md 6.6): the curve at the accumulator's value,
 * rounded once to the accumulator as CAP says. */
#include "gfx/sample.h"

#include "num/srgb.h"

static bool at_least_one(const struct facet_gfx_real *x)
{
    return x->cls == FACET_GFX_INF || x->exp >= 0 || (x->exp > -64 && x->num >> -x->exp != 0);
}

uint32_t facet_gfx_srgb(const struct facet_conv *conv,
                        uint32_t acc,
                        enum facet_gfx_srgb_part *part,
                        unsigned *flags)
{
    struct facet_gfx_real x = facet_gfx_real_of_acc(conv, acc), y = x;
    enum facet_gfx_srgb_part which = FACET_GFX_SRGB_END;

    if (x.cls == FACET_GFX_ZERO || (x.negative && x.cls != FACET_GFX_NAN)) {
        y = facet_gfx_real_of(0, 1, 0);
    } else if (x.cls != FACET_GFX_NAN && at_least_one(&x)) {
        y = facet_gfx_real_of(1, 1, 0);
    } else if (x.cls != FACET_GFX_NAN) {
        struct facet_srgb_ratio r = facet_srgb_linear(x.num, x.exp);

        y = facet_gfx_real_of(r.num, r.den, r.exponent);
        which = r.den != 1 ? FACET_GFX_SRGB_LINE : FACET_GFX_SRGB_POWER;
    }
    if (part != NULL) {
        *part = which;
    }
    return facet_gfx_cv(conv, &y, flags);
}
