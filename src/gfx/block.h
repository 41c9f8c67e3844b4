/* Samples and gathers of any format on the host's floating point, up to 64 at once: what the spans
 * of RGBA8 (span_kernel.h) are too special for.
 *
 * The accumulator is FP32 and rounds to nearest even. Texels are decoded into floats, channel by
 * channel, which is one conversion per format in place of one per texel and field; the filter, the
 * weighted sum and the mean are then the operations of the contract, in their order. Numbers that
 * count are zero or from 2^-30 to 2^60, weights of gathers zero or from 2^-16 to 2^16: then nothing
 * overflows or becomes subnormal, since every exact result is a multiple of 2^-124, and NX is the
 * only flag. Samples that see other numbers (NaN, infinities, far away) are left to the general
 * way. */
#ifndef FACET_GFX_BLOCK_H
#define FACET_GFX_BLOCK_H

#include "gfx/sample.h"

enum { FACET_GFX_BLOCK = 64 };

struct facet_gfx_block_job {
    const struct facet_gfx_texture *texture;
    const uint8_t *texels;
    bool bilinear, srgb, ftz;
    uint8_t wrap;            /* enum facet_gfx_wrap */
    bool border_fits;        /* false: samples that see the border are left */
    float border[4];         /* in output order */
    double scale_u, scale_v; /* coordinate to 1/65536 texel: exact in binary64 */
    unsigned taps;           /* of a gather; 0: single samples */
    bool weighted;
    int64_t du[FACET_GFX_TAPS_MAX], dv[FACET_GFX_TAPS_MAX]; /* below FACET_GFX_SPAN_FAR */
    float weight[FACET_GFX_TAPS_MAX];
};

/* Is it zero, or as large as numbers that count may be? */
static inline bool facet_gfx_block_ordinary(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFF;

    return magnitude == 0 || magnitude - (UINT32_C(97) << 23) <= UINT32_C(90) << 23;
}

/* u and v: the exact coordinates of `count` samples, NaN for those that are to be left. out[o][k]:
 * accumulators. Returns which samples are left; sees: which of them look at the border. */
typedef uint64_t facet_gfx_block_kernel(const struct facet_gfx_block_job *job,
                                        const double *u,
                                        const double *v,
                                        unsigned count,
                                        uint32_t *const out[4],
                                        uint64_t *sees,
                                        unsigned *flags);

facet_gfx_block_kernel facet_gfx_block_portable;
#if defined(__x86_64__)
facet_gfx_block_kernel facet_gfx_block_avx2; /* needs AVX2 and FMA */
#endif

#endif
