/* GFX.INTERP (shade.h). */
#include "gfx/shade.h"

/* Alpha of tap j: its own channel 3, or a slot of window A when the taps have none. */
static uint32_t alpha_of(const struct facet_gfx_numbers *n,
                         const struct facet_gfx_interp *op,
                         const uint32_t *taps,
                         const uint32_t *a,
                         unsigned j,
                         unsigned *flags)
{
    uint32_t bits = op->channels == 4 ? taps[j * 4 + 3] : a[FACET_GFX_INTERP_ALPHA + j];

    return facet_num_widen(&n->channel[3], bits, flags);
}

static uint32_t channel(const struct facet_gfx_numbers *n,
                        const struct facet_gfx_interp *op,
                        const uint32_t *taps,
                        const uint32_t *a,
                        const struct facet_gfx_real frac[2],
                        unsigned c,
                        unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[c];
    uint32_t t[4], q[4], result;

    for (unsigned j = 0; j < 4; j++) {
        t[j] = facet_num_widen(conv, taps[j * op->channels + c], flags);
        if (op->premultiply && c < 3) {
            t[j] = facet_acc_mul(conv, t[j], alpha_of(n, op, taps, a, j, flags), flags);
        }
        if (op->perspective) {
            q[j] = facet_num_widen(&n->channel[0], a[FACET_GFX_INTERP_RCPW + j], flags);
            t[j] = facet_acc_mul(conv, t[j], q[j], flags);
        }
    }
    result = facet_gfx_bilerp(conv, t, &frac[0], &frac[1], NULL, flags);
    if (op->perspective) {
        uint32_t den = facet_gfx_bilerp(conv, q, &frac[0], &frac[1], NULL, flags);

        result = facet_acc_div(conv, result, den, flags);
    }
    return result;
}

void facet_gfx_interp(const struct facet_gfx_numbers *n,
                      const struct facet_gfx_interp *op,
                      const uint32_t *taps,
                      const uint32_t a[FACET_GFX_INTERP_END],
                      const uint32_t *b,
                      uint32_t *out,
                      unsigned *flags)
{
    struct facet_gfx_real frac[2];

    for (unsigned axis = 0; axis < 2; axis++) {
        frac[axis] = facet_gfx_coordinate(n, a[FACET_GFX_INTERP_FRAC + axis], flags);
    }
    for (unsigned c = 0; c < op->channels; c++) {
        uint32_t result = channel(n, op, taps, a, frac, c, flags);

        if (op->bias) {
            result = facet_acc_add(
                &n->channel[c], result, facet_num_widen(&n->channel[c], b[c], flags), flags);
        }
        out[c] = facet_num_narrow(&n->channel[c], result, flags);
    }
}
