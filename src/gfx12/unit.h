/* Pieces that the two intersect instructions share: flags, culling, primitive results (sections 9.2
 * step 2, 9.4 and 9.6 of gfx12-semantics.md). */
#ifndef FACET_GFX12_UNIT_H
#define FACET_GFX12_UNIT_H

#include "gfx12/image/view.h"
#include "gfx12/test.h"

#include <facet/gfx12.h>

/* A unit whose memory is the view, with the default descriptor and options. */
void facet_gfx12_unit_view(struct facet_gfx12_unit *unit, const struct facet_gfx12_view *view);

/* Pointer flags as the culling rules see them: none when the descriptor turns them off. */
unsigned facet_gfx12_effective_flags(const struct facet_gfx12_unit *unit, uint64_t bvh_base);

/* What removes a child, an instance or a primitive: the flags whose rules apply, 0 when it is
 * visible, and a bit above the flags for cull_mask & instance_mask = 0. */
#define FACET_GFX12_CULL_MASK (1u << 16)
/* "visible", "mask", "CULL_OPAQUE", ...: the first of the rules. */
const char *facet_gfx12_cull_name(unsigned cull);

/* Rules of 9.2 step 2 on the cull_flags of a child. */
unsigned facet_gfx12_flags_cull(unsigned cull_flags, unsigned flags);

/* Culling of an instance as a whole (9.6). */
unsigned facet_gfx12_instance_cull(unsigned cull_mask,
                                   uint64_t pointer,
                                   unsigned flags,
                                   uint32_t instance_mask);

/* Opacity and culling of one primitive (9.4). */
struct facet_gfx12_tri_state {
    bool opaque; /* of the triangle itself */
    bool double_sided;
    bool procedural;
};
bool facet_gfx12_effective_opaque(bool opaque, unsigned flags);
uint32_t facet_gfx12_opacity_bit(const struct facet_gfx12_unit *unit, bool opaque, unsigned flags);
unsigned
facet_gfx12_primitive_cull(const struct facet_gfx12_tri_state *tri, bool front, unsigned flags);
/* The miss rule of a profile (9.4): the comparison that fails first, NULL for a hit. */
const char *facet_gfx12_tri_miss(enum facet_gfx12_profile profile,
                                 const struct facet_gfx12_tri_terms *terms);

#endif
