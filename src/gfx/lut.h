/* GFX.LUT1D and GFX.LUT3D of one lane in three parts, as sample.h: plan the table entries, fetch
 * them through the caller, finish.
 *
 * Spec: gfx-semantics.md 11; R-GFX-40, R-GFX-63. */
#ifndef FACET_GFX_LUT_H
#define FACET_GFX_LUT_H

#include "gfx/primitive.h"

struct facet_gfx_lut {
    bool three;       /* 3D */
    bool linear;      /* i */
    bool alpha;       /* c: four outputs */
    bool normalized;  /* NORM_IDX */
    uint32_t size[3]; /* SR, SG, SB */
};

/* From GFXLUTFMT. */
struct facet_gfx_lut facet_gfx_lut_of(uint64_t lutfmt, bool three, bool linear, bool alpha);

static inline unsigned facet_gfx_lut_outputs(const struct facet_gfx_lut *lut)
{
    return lut->alpha ? 4 : 3;
}
static inline unsigned facet_gfx_lut_inputs(const struct facet_gfx_lut *lut)
{
    return lut->three || !lut->alpha ? 3 : 4;
}

struct facet_gfx_lut_axis {
    bool nan;
    uint32_t index;             /* of the entry below */
    struct facet_gfx_real frac; /* 0: the entry below alone */
};

/* entry[o][k]: bits for output o of corner k; bit 0 of k is R (1D: the entry above), bit 1 G,
 * bit 2 B. Only corners with a weight are fetched. */
struct facet_gfx_lut_plan {
    struct facet_gfx_lut_axis axis[4];
    uint32_t entry[4][8];
};

/* in: facet_gfx_lut_inputs() elements. */
void facet_gfx_lut_plan(const struct facet_gfx_numbers *n,
                        const struct facet_gfx_lut *lut,
                        const uint32_t *in,
                        struct facet_gfx_lut_plan *plan,
                        unsigned *flags);

/* Loads element `index` of the table; false stops the fetch. */
typedef bool facet_gfx_load_element(void *context, uint64_t index, uint32_t *bits);
/* In rising order of elements. */
bool facet_gfx_lut_fetch(const struct facet_gfx_lut *lut,
                         struct facet_gfx_lut_plan *plan,
                         facet_gfx_load_element *load,
                         void *context);

/* out: facet_gfx_lut_outputs() elements. */
void facet_gfx_lut_finish(const struct facet_gfx_numbers *n,
                          const struct facet_gfx_lut *lut,
                          const struct facet_gfx_lut_plan *plan,
                          uint32_t *out,
                          unsigned *flags);

#endif
