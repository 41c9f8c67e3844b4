/* Between span.c and its kernels. A kernel does up to 64 samples and returns the set of those that
 * it left to the general way: NaN, farther than 2^21 texels away, or with a tap on the border; with
 * sRGB also those of which it does not know whether they raise NX, while nothing else has, and
 * those whose linear value it cannot round for sure. */
#ifndef FACET_GFX_SPAN_KERNEL_H
#define FACET_GFX_SPAN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { FACET_GFX_SPAN_BLOCK = 64 };

struct facet_gfx_span_job {
    const uint8_t *texels;
    uint32_t pitch;
    int32_t width, height;
    unsigned wrap;           /* enum facet_gfx_wrap */
    bool srgb;               /* the step of 6.6 */
    bool wide;               /* the host has AVX-512 F, VL and DQ */
    double scale_u, scale_v; /* coordinate to 1/65536 texel: exact in binary64 */
};

/* Positions below this in 1/65536 texel give indices within the precision of floats. */
#define FACET_GFX_SPAN_FAR 0x1p37

/* Is the filter of these four texels (t00 t01 t10 t11, all codes 0 or 255) exact? Weights are in
 * 1/65536, those that are 0 leave their texels out. */
bool facet_gfx_span_exact(const uint32_t texel[4], uint32_t fu, uint32_t fv);

typedef uint64_t facet_gfx_span_kernel(const struct facet_gfx_span_job *job,
                                       const uint32_t *u,
                                       const uint32_t *v,
                                       unsigned count,
                                       uint32_t *const out[4],
                                       unsigned *flags);

facet_gfx_span_kernel facet_gfx_span_portable;
#if defined(__x86_64__)
/* Needs AVX2 and FMA, and textures below 2^31 bytes. */
facet_gfx_span_kernel facet_gfx_span_avx2;

/* Of `count` colours, a multiple of eight, the first three components, from 0 to 1, as
 * facet_srgb_float makes them linear. */
typedef void facet_gfx_linear(uint32_t *const out[4], unsigned count);

facet_gfx_linear facet_gfx_linear_avx2;   /* needs AVX2 and FMA */
facet_gfx_linear facet_gfx_linear_avx512; /* needs AVX-512 F, VL and DQ too */
#endif

#endif
