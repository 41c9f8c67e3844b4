/* SAMPLE and SAMPLE.GATH of one lane written down a second time, from the prose of
 * gfx-semantics.md 4 to 8: coordinates, taps, weights and integer filters as GMP rationals, each
 * rounding by the MPFR judge of tests/num. Shares no code with src/gfx or src/num. */
#ifndef FACET_TESTS_GFX_REFERENCE_H
#define FACET_TESTS_GFX_REFERENCE_H

#include "gfx/texture.h" /* only struct facet_gfx_texture_csrs and sizes */
#include "num/element.h"

enum { GFX_REF_ACCESSES = 256 };

/* One byte of texture memory: a function of its address, so that nothing has to be allocated. */
typedef uint8_t gfx_memory(const void *context, uint64_t address);

struct gfx_case {
    struct facet_conv conv[4];
    bool desc;
    struct facet_gfx_texture_csrs csrs;
    uint8_t bytes[FACET_XPHMG_TEXTURE_DESC_SIZE];
    bool m, f, w, t; /* immediate bits of SAMPLE */
    unsigned wrap;
    bool convert; /* GFXCFG.CONVERT_EN */
    bool filter;  /* GFXCFG.FILTER_DFLT */
    bool gather, p, s;
    unsigned n;
    uint32_t slot[4];   /* u, v, n1, n2 */
    uint32_t table[48]; /* du, dv, weight */
    gfx_memory *memory;
    const void *context;
};

struct gfx_answer {
    bool reserved; /* format */
    uint32_t out[4];
    unsigned flags;
    unsigned accesses;
    uint64_t address[GFX_REF_ACCESSES];
    uint8_t bytes[GFX_REF_ACCESSES];
};

void gfx_reference(const struct gfx_case *c, struct gfx_answer *answer);

/* The step of 6.6 on one accumulator, by MPFR. */
uint32_t gfx_reference_srgb(const struct facet_conv *conv, uint32_t acc, unsigned *flags);

#endif
