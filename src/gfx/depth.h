/* Depth of one pixel (GFX.ZTEST, GFX.ZWRITE) and the shape of depth pyramids (GFX.HZ.BUILD).
 *
 * Depth is compared and stored as elements, not as accumulators: exact values after the NaN and
 * subnormal rules of widen.
 *
 * Spec: gfx-semantics.md 4.3, 12, 13; R-GFX-41 to R-GFX-47, R-GFX-56, R-GFX-59. */
#ifndef FACET_GFX_DEPTH_H
#define FACET_GFX_DEPTH_H

#include "num/container.h"
#include "num/extreme.h"

enum facet_gfx_compare {
    FACET_GFX_LESS,
    FACET_GFX_LEQUAL,
    FACET_GFX_GREATER,
    FACET_GFX_GEQUAL,
    FACET_GFX_EQUAL,
    FACET_GFX_NEQUAL,
    FACET_GFX_ALWAYS,
    FACET_GFX_NEVER,
};

/* z_in CMP z_buf of GFXZCFG; `conv` is that of channel 0. */
bool facet_gfx_depth_passes(const struct facet_conv *conv,
                            enum facet_gfx_compare compare,
                            bool reverse,
                            uint32_t z_in,
                            uint32_t z_buf,
                            unsigned *flags);
/* The bits that a store of z leaves: NaN as narrow writes it, a flushed subnormal as zero. */
uint32_t facet_gfx_depth_stored(const struct facet_conv *conv, uint32_t z, unsigned *flags);

/* ---- pyramid -----------------------------------------------------------------------------------
 */

struct facet_gfx_level {
    uint32_t width, height;
    uint64_t offset; /* bytes from the start of the pyramid; a multiple of 64 */
};

/* Level 0 of a depth buffer of width x height in tiles of 2^tile_w x 2^tile_h. */
struct facet_gfx_level
facet_gfx_level_first(uint32_t width, uint32_t height, unsigned tile_w, unsigned tile_h);
struct facet_gfx_level facet_gfx_level_next(const struct facet_gfx_level *level,
                                            const struct facet_container *container);

#endif
