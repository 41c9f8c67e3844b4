/* GFX.SHADE (shade.h). */
#include "gfx/shade.h"

#include "num/arith.h"

/* Not greater than zero, and not a NaN. */
static bool is_dark(const struct facet_conv *conv, uint32_t d)
{
    uint32_t sign = 1u << (facet_format_width(conv->acc) - 1);

    return facet_format_is_int(conv->acc)
               ? (int32_t)d <= 0
               : !facet_num_is_nan(conv->acc, d) && ((d & sign) != 0 || d == 0);
}

static bool is_zero(const struct facet_conv *conv, uint32_t s)
{
    uint32_t sign = facet_format_is_int(conv->acc) ? 0 : 1u << (facet_format_width(conv->acc) - 1);

    return (s & ~sign) == 0;
}

/* max(0, n.l): what the light does to colours. */
static uint32_t lighting(const struct facet_gfx_numbers *n,
                         const uint32_t normal[3],
                         const uint32_t light[3],
                         unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[0];
    uint32_t a[3], b[3], d;

    for (unsigned k = 0; k < 3; k++) {
        a[k] = facet_num_widen(conv, normal[k], flags);
        b[k] = facet_num_widen(conv, light[k], flags);
    }
    d = facet_gfx_dot(conv, a, b, 3, flags);
    return is_dark(conv, d) ? 0 : d;
}

static void
normalize(const struct facet_gfx_numbers *n, uint32_t *v, unsigned count, unsigned *flags)
{
    uint32_t s = facet_gfx_dot(&n->channel[0], v, v, count, flags);
    bool zero = is_zero(&n->channel[0], s);
    uint32_t k = zero ? 0 : facet_gfx_rsqrt(&n->channel[0], s, flags);

    for (unsigned i = 0; i < count; i++) {
        v[i] = zero ? 0 : facet_acc_mul(&n->channel[i], v[i], k, flags);
    }
}

static uint32_t
combine(const struct facet_conv *conv, unsigned op, uint32_t a, uint32_t b, unsigned *flags)
{
    return op == FACET_GFX_ADD   ? facet_acc_add(conv, a, b, flags)
           : op == FACET_GFX_SUB ? facet_acc_sub(conv, a, b, flags)
                                 : facet_acc_mul(conv, a, b, flags);
}

void facet_gfx_shade(const struct facet_gfx_numbers *n,
                     const struct facet_gfx_shade *op,
                     const uint32_t a[4],
                     const uint32_t b[4],
                     const uint32_t normal[3],
                     const uint32_t light[3],
                     uint32_t *out,
                     unsigned *flags)
{
    uint32_t x[4], y[4], v[4];
    uint32_t d = op->light ? lighting(n, normal, light, flags) : 0;
    unsigned results = facet_gfx_shade_results(op);

    for (unsigned k = 0; k < op->channels; k++) {
        x[k] = facet_num_widen(&n->channel[k], a[k], flags);
        y[k] = facet_num_widen(&n->channel[k], b[k], flags);
        if (op->light && k < 3) {
            y[k] = facet_acc_mul(&n->channel[k], y[k], d, flags);
        }
    }
    if (op->op == FACET_GFX_DOT) {
        v[0] = facet_gfx_dot(&n->channel[0], x, y, op->channels, flags);
    } else {
        for (unsigned k = 0; k < op->channels; k++) {
            v[k] = combine(&n->channel[k], op->op, x[k], y[k], flags);
        }
    }
    if (op->normalize) {
        normalize(n, v, results, flags);
    }
    for (unsigned k = 0; k < results; k++) {
        out[k] = facet_num_narrow(&n->channel[k], v[k], flags);
    }
}
