/* What an instance node shows of its BLAS: boxes around the root's children. Facet and RADV use
 * one, HIPRT and GPURT up to four before one and the same root. */
#ifndef FACET_GFX12_IMAGE_SHOWN_H
#define FACET_GFX12_IMAGE_SHOWN_H

#include <facet/gfx12.h>

struct facet_gfx12_bounds {
    float lo[3], hi[3];
};

/* Joins two at a time, those whose common box has the smallest surface, until `most` >= 1 are left;
 * returns how many. */
unsigned
facet_gfx12_bounds_join(struct facet_gfx12_bounds bounds[8], unsigned count, unsigned most);

/* Writes grid and boxes of the slots that a ray could hit before, around count >= 1 bounds, which
 * it changes; a node without such a slot stays. False when they are too wide. */
bool facet_gfx12_instance_show(struct facet_gfx12_instance *node,
                               struct facet_gfx12_bounds bounds[8],
                               unsigned count);

#endif
