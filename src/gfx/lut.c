/* See lut.h. */
#include "gfx/lut.h"

#include "contract/xphmg_csrs.h"

#include <stddef.h>

enum { FRACTION_BITS = 16 }; /* of an index under an integer accumulator */

struct facet_gfx_lut facet_gfx_lut_of(uint64_t lutfmt, bool three, bool linear, bool alpha)
{
    uint32_t plus = (lutfmt & FACET_GFXLUTFMT_SIZE_P1) != 0;

    return (struct facet_gfx_lut){
        .three = three,
        .linear = linear,
        .alpha = alpha,
        .normalized = (lutfmt & FACET_GFXLUTFMT_NORM_IDX) != 0,
        .size =
            {
                (1u << ((lutfmt & FACET_GFXLUTFMT_SIZE_R) >> FACET_GFXLUTFMT_SIZE_R_LSB)) + plus,
                (1u << ((lutfmt & FACET_GFXLUTFMT_SIZE_G) >> FACET_GFXLUTFMT_SIZE_G_LSB)) + plus,
                (1u << ((lutfmt & FACET_GFXLUTFMT_SIZE_B) >> FACET_GFXLUTFMT_SIZE_B_LSB)) + plus,
            },
    };
}

/* ---- indices -----------------------------------------------------------------------------------
 */

/* x - whole for 0 <= whole = floor(x), x = num * 2^exp: exact. */
static struct facet_gfx_real fraction(const struct facet_gfx_real *x, uint64_t whole)
{
    uint64_t rest = x->num;

    if (x->cls != FACET_GFX_NUMBER || x->exp >= 0) {
        return facet_gfx_real_of(0, 1, 0);
    }
    if (whole != 0) { /* then x has a bit of weight 1 or more, and the shift is below 62 */
        rest -= whole << -x->exp;
    }
    return facet_gfx_real_of((int64_t)rest, 1, x->exp);
}

static struct facet_gfx_lut_axis
fp_axis(const struct facet_gfx_lut *lut, const struct facet_gfx_real *x, uint32_t size)
{
    struct facet_gfx_lut_axis axis = {.nan = x->cls == FACET_GFX_NAN,
                                      .frac = facet_gfx_real_of(0, 1, 0)};
    int64_t last = (int64_t)size - 1;
    /* floor(x), or floor(x + 1/2) = floor((floor(2x) + 1) / 2) */
    int64_t index =
        lut->linear ? facet_gfx_real_floor(x, 0) : (facet_gfx_real_floor(x, 1) + 1) >> 1;

    if (axis.nan || index < 0) {
        return axis;
    }
    axis.index = (uint32_t)(index > last ? last : index);
    if (lut->linear && index < last) {
        axis.frac = fraction(x, (uint64_t)index);
    }
    return axis;
}

/* Accumulator units of 2^s, times size - 1 when normalized, floor to 16 fraction bits. */
static struct facet_gfx_lut_axis
int_axis(const struct facet_gfx_lut *lut, const struct facet_conv *conv, int32_t a, uint32_t size)
{
    struct facet_gfx_lut_axis axis = {.frac = facet_gfx_real_of(0, 1, 0)};
    int64_t end = ((int64_t)size - 1) << FRACTION_BITS;
    int64_t product = (int64_t)a * (lut->normalized ? (int64_t)size - 1 : 1), x;
    int shift = conv->scale + FRACTION_BITS;

    if (product <= 0) {
        return axis;
    }
    if (shift >= 0) { /* from 2^32 on it is beyond every table */
        x = shift >= 32 || product > end >> shift ? end : product << shift;
    } else {
        x = -shift > 62 ? 0 : product >> -shift;
        x = x > end ? end : x;
    }
    if (!lut->linear) {
        axis.index = (uint32_t)((x + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS);
        return axis;
    }
    axis.index = (uint32_t)(x >> FRACTION_BITS);
    axis.frac = facet_gfx_real_of(x & ((1 << FRACTION_BITS) - 1), 1, -FRACTION_BITS);
    return axis;
}

static struct facet_gfx_lut_axis axis_of(const struct facet_gfx_lut *lut,
                                         const struct facet_conv *conv,
                                         uint32_t element,
                                         uint32_t size,
                                         unsigned *flags)
{
    uint32_t acc = facet_num_widen(conv, element, flags);
    struct facet_gfx_real x;

    if (facet_format_is_int(conv->acc)) {
        return int_axis(lut, conv, (int32_t)acc, size);
    }
    if (lut->normalized) {
        struct facet_gfx_real last = facet_gfx_real_of((int64_t)size - 1, 1, 0);

        acc = facet_acc_mul(conv, acc, facet_gfx_cv(conv, &last, flags), flags);
    }
    x = facet_gfx_real_of_acc(conv, acc);
    return fp_axis(lut, &x, size);
}

void facet_gfx_lut_plan(const struct facet_gfx_numbers *n,
                        const struct facet_gfx_lut *lut,
                        const uint32_t *in,
                        struct facet_gfx_lut_plan *plan,
                        unsigned *flags)
{
    for (unsigned i = 0; i < facet_gfx_lut_inputs(lut); i++) { /* the A curve is as long as R's */
        plan->axis[i] = axis_of(lut, &n->channel[i], in[i], lut->size[i % 3], flags);
    }
}

/* ---- table -------------------------------------------------------------------------------------
 */

static bool has_upper(const struct facet_gfx_lut_axis *axis)
{
    return axis->frac.cls != FACET_GFX_ZERO;
}

static bool fetch_curves(const struct facet_gfx_lut *lut,
                         struct facet_gfx_lut_plan *plan,
                         facet_gfx_load_element *load,
                         void *context)
{
    uint64_t start = 0;

    for (unsigned o = 0; o < facet_gfx_lut_outputs(lut); o++) {
        const struct facet_gfx_lut_axis *axis = &plan->axis[o];

        if (!axis->nan &&
            (!load(context, start + axis->index, &plan->entry[o][0]) ||
             (has_upper(axis) && !load(context, start + axis->index + 1, &plan->entry[o][1])))) {
            return false;
        }
        start += lut->size[o % 3];
    }
    return true;
}

static bool any_nan(const struct facet_gfx_lut_plan *plan)
{
    return plan->axis[0].nan || plan->axis[1].nan || plan->axis[2].nan;
}

static bool corner_counts(const struct facet_gfx_lut_plan *plan, unsigned k)
{
    for (unsigned i = 0; i < 3; i++) {
        if ((k >> i & 1) != 0 && !has_upper(&plan->axis[i])) {
            return false;
        }
    }
    return true;
}

static bool fetch_cube(const struct facet_gfx_lut *lut,
                       struct facet_gfx_lut_plan *plan,
                       facet_gfx_load_element *load,
                       void *context)
{
    const struct facet_gfx_lut_axis *axis = plan->axis;
    unsigned outputs = facet_gfx_lut_outputs(lut);

    for (unsigned k = 0; k < 8 && !any_nan(plan); k++) {
        uint64_t r = axis[0].index + (k & 1), g = axis[1].index + (k >> 1 & 1),
                 b = axis[2].index + (k >> 2);

        for (unsigned o = 0; o < outputs && corner_counts(plan, k); o++) {
            uint64_t element = ((b * lut->size[1] + g) * lut->size[0] + r) * outputs + o;

            if (!load(context, element, &plan->entry[o][k])) {
                return false;
            }
        }
    }
    return true;
}

bool facet_gfx_lut_fetch(const struct facet_gfx_lut *lut,
                         struct facet_gfx_lut_plan *plan,
                         facet_gfx_load_element *load,
                         void *context)
{
    return lut->three ? fetch_cube(lut, plan, load, context)
                      : fetch_curves(lut, plan, load, context);
}

/* ---- result ------------------------------------------------------------------------------------
 */

static uint32_t curve(const struct facet_conv *conv,
                      const struct facet_gfx_lut_axis *axis,
                      const uint32_t entry[8],
                      unsigned *flags)
{
    uint32_t p = facet_num_widen(conv, entry[0], flags);

    return has_upper(axis)
               ? facet_gfx_lerp(conv, p, facet_num_widen(conv, entry[1], flags), &axis->frac, flags)
               : p;
}

static uint32_t cube(const struct facet_conv *conv,
                     const struct facet_gfx_lut_plan *plan,
                     const uint32_t entry[8],
                     unsigned *flags)
{
    const struct facet_gfx_real f[3] = {plan->axis[0].frac, plan->axis[1].frac, plan->axis[2].frac};
    uint32_t t[8] = {0};

    for (unsigned k = 0; k < 8; k++) {
        if (corner_counts(plan, k)) {
            t[k] = facet_num_widen(conv, entry[k], flags);
        }
    }
    return facet_gfx_trilerp(conv, t, f, flags);
}

void facet_gfx_lut_finish(const struct facet_gfx_numbers *n,
                          const struct facet_gfx_lut *lut,
                          const struct facet_gfx_lut_plan *plan,
                          uint32_t *out,
                          unsigned *flags)
{
    for (unsigned o = 0; o < facet_gfx_lut_outputs(lut); o++) {
        const struct facet_conv *conv = &n->channel[o];
        bool nan = lut->three ? any_nan(plan) : plan->axis[o].nan;
        uint32_t acc = nan          ? facet_gfx_nan(conv, flags)
                       : lut->three ? cube(conv, plan, plan->entry[o], flags)
                                    : curve(conv, &plan->axis[o], plan->entry[o], flags);

        out[o] = facet_num_narrow(conv, acc, flags);
    }
}
