/* Samples and gathers in bulk, on the host's floating point: the same bits and the same flags as
 * facet_gfx_sample_* and facet_gfx_gather_*, for accumulators of FP32 that round to nearest even.
 *
 * What nearly every program does has a kernel of its own (span_kernel.h): bilinear samples of
 * UNORM8 RGBA, interleaved and without swizzle, with FP32 elements and with or without the sRGB
 * step. Every intermediate is an ordinary number or zero there, and the only flag is NX. A texel
 * that counts raises it unless its codes are 0 and 255; between such texels the filter does when
 * the result needs more than 24 bits. Everything else goes through block.h. Samples that are not
 * ordinary (NaN, far away), and some before the first NX, take the general way one by one.
 *
 * The host rounds to nearest even, as C promises to code that does not touch its environment. */
#ifndef FACET_GFX_SPAN_H
#define FACET_GFX_SPAN_H

#include "gfx/sample.h"

/* Can facet_gfx_span_sample do this? The flags are of all samples together: a caller that traps on
 * a flag, or needs to know whose it was, takes the general way when the flag comes back. */
bool facet_gfx_span_fits(const struct facet_gfx_numbers *n,
                         const struct facet_gfx_texture *texture,
                         const struct facet_gfx_sampling *sampling);

/* Bytes from texture.base that samples without tensor indices may touch. Not for null textures. */
uint64_t facet_gfx_span_bytes(const struct facet_gfx_texture *texture);

/* `texels` is the host memory of those bytes. u, v: FP32 bits of `count` samples; out[c][k] is
 * component c of sample k. out may not overlap the inputs. */
void facet_gfx_span_sample(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint8_t *texels,
                           const uint32_t *u,
                           const uint32_t *v,
                           unsigned count,
                           uint32_t *const out[4],
                           unsigned *flags);

/* Gathers of `taps` taps (at least 1) at the offsets of one table for all: the elements that
 * facet_gfx_gather_plan reads, weighted (p) or not, offsets signed (s) or not. false: nothing was
 * done, because the table holds something unusual. */
bool facet_gfx_span_gather(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint8_t *texels,
                           const uint32_t *table,
                           unsigned taps,
                           bool weighted,
                           bool is_signed,
                           const uint32_t *u,
                           const uint32_t *v,
                           unsigned count,
                           uint32_t *const out[4],
                           unsigned *flags);

#endif
