/* Between span.c and its kernels. A kernel does up to 64 samples and returns the set of those that
 * it left to the general way: NaN, farther than 2^21 texels away, or with a tap on the border; with
 * sRGB also those of which it does not know whether they raise NX, while nothing else has. */
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
    double scale_u, scale_v; /* coordinate to 1/256 texel: exact in binary64 */
};

/* Positions below this in 1/256 texel stay within 32-bit integers and the precision of floats. */
#define FACET_GFX_SPAN_FAR 536870912.0

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
#endif

#endif
