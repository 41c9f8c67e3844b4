/* GFX.INTERP and GFX.SHADE of one lane: element bits in, element bits out.
 *
 * Spec: gfx-semantics.md 9, 10; R-GFX-37 to R-GFX-39, R-GFX-63. */
#ifndef FACET_GFX_SHADE_H
#define FACET_GFX_SHADE_H

#include "gfx/primitive.h"

struct facet_gfx_interp {
    uint8_t channels;                    /* NCH, 1..4 */
    bool perspective, premultiply, bias; /* M, P, B */
};

/* Slots of window A that take part. */
enum {
    FACET_GFX_INTERP_FRAC = 2,
    FACET_GFX_INTERP_RCPW = 4,
    FACET_GFX_INTERP_ALPHA = 8,
    FACET_GFX_INTERP_END = 12,
};

/* taps[j * NCH + c], a as window A numbers its slots (those not used are not looked at), b the bias
 * of each channel (with B), out NCH results. */
void facet_gfx_interp(const struct facet_gfx_numbers *n,
                      const struct facet_gfx_interp *op,
                      const uint32_t *taps,
                      const uint32_t a[FACET_GFX_INTERP_END],
                      const uint32_t *b,
                      uint32_t *out,
                      unsigned *flags);

enum facet_gfx_shade_op { FACET_GFX_ADD, FACET_GFX_SUB, FACET_GFX_MUL, FACET_GFX_DOT };

struct facet_gfx_shade {
    uint8_t op;            /* enum facet_gfx_shade_op */
    uint8_t channels;      /* NCH, 1..4 */
    bool light, normalize; /* L, N */
};

static inline unsigned facet_gfx_shade_results(const struct facet_gfx_shade *op)
{
    return op->op == FACET_GFX_DOT ? 1 : op->channels;
}

/* Normal and light are looked at only with L. */
void facet_gfx_shade(const struct facet_gfx_numbers *n,
                     const struct facet_gfx_shade *op,
                     const uint32_t a[4],
                     const uint32_t b[4],
                     const uint32_t normal[3],
                     const uint32_t light[3],
                     uint32_t *out,
                     unsigned *flags);

#endif
