/* GFX.INTERP, GFX.SHADE, GFX.CULL.* and products with a matrix for many lanes at once, on the
 * host's floats: FP32 elements and accumulators, nearest even, where NX is up already (num/host.h).
 *
 * Every number that goes into a product, quotient or root is zero or between 2^-62 and 2^63, every
 * other one zero or between 2^-100 and 2^63. Then no operation underflows, overflows or meets
 * anything but ordinary numbers: a product of two is at least 2^-124; added to a number of at least
 * 2^-100 it can only leave a multiple of 2^-148, which is exact where it is tiny; and a zero is an
 * exact one. An active lane with another number makes a function return false: nothing was done. */
#ifndef FACET_GFX_LANES_H
#define FACET_GFX_LANES_H

#include "gfx/cull.h"
#include "gfx/shade.h"

enum { FACET_GFX_LANES = 64 };

/* Slot k of lane i is the little-endian word 4 * i bytes from at + k * stride. Lanes of a group of
 * eight that has an active one are read, all of them. */
struct facet_gfx_slots {
    const uint8_t *at;
    size_t stride;
};

struct facet_gfx_lane_kernels {
    /* Windows A and B; out[c][i]: of active lanes. */
    bool (*interp)(const struct facet_gfx_interp *op,
                   const struct facet_gfx_slots *taps,
                   const struct facet_gfx_slots *a,
                   const struct facet_gfx_slots *b,
                   uint64_t active,
                   uint32_t out[4][FACET_GFX_LANES]);
    /* The second colour begins at slot 4 of `colors`. */
    bool (*shade)(const struct facet_gfx_shade *op,
                  const struct facet_gfx_slots *colors,
                  const struct facet_gfx_slots *normal,
                  const struct facet_gfx_slots *light,
                  uint64_t active,
                  uint32_t out[4][FACET_GFX_LANES]);
    /* One plane or six for all lanes, without the reject of w. */
    bool (*points)(const struct facet_gfx_cull *cull,
                   const struct facet_gfx_slots *points,
                   uint64_t active,
                   uint64_t *survivors);
    /* Boxes of two corners. */
    bool (*boxes)(const struct facet_gfx_cull_box *cull,
                  const struct facet_gfx_slots *boxes,
                  uint64_t active,
                  uint64_t *survivors);
    /* Products of a 4x4 matrix, given column by column, with `count` vectors. */
    bool (*product)(const uint32_t columns[16], const uint32_t *in, unsigned count, uint32_t *out);
};

extern const struct facet_gfx_lane_kernels facet_gfx_lanes_portable;
#if defined(__x86_64__)
extern const struct facet_gfx_lane_kernels facet_gfx_lanes_avx2; /* needs AVX2 and FMA */
#endif

/* Those of this host; NULL where words of memory are no words of the host. */
const struct facet_gfx_lane_kernels *facet_gfx_lanes(void);

/* Elements and accumulators are such that the kernels may be asked; `flags`: those that are up. */
bool facet_gfx_lanes_fit(const struct facet_gfx_numbers *n, unsigned flags);

#endif
