/* Pieces that the two intersect instructions share: flags, culling, primitive results (sections 9.2
 * step 2, 9.4 and 9.6 of gfx12-semantics.md). */
#ifndef FACET_GFX12_UNIT_H
#define FACET_GFX12_UNIT_H

#include "gfx12/test.h"

#include <facet/gfx12.h>

/* Pointer flags as the culling rules see them: none when the descriptor turns them off. */
unsigned facet_gfx12_effective_flags(const struct facet_gfx12_unit *unit, uint64_t bvh_base);

/* Rules of 9.2 step 2 on the cull_flags of a child. */
bool facet_gfx12_flags_cull(unsigned cull_flags, unsigned flags);

/* Culling of an instance as a whole (9.6). */
bool facet_gfx12_instance_culled(unsigned cull_mask,
                                 uint64_t pointer,
                                 unsigned flags,
                                 uint32_t instance_mask);

/* Opacity and culling of one primitive (9.4). */
struct facet_gfx12_tri_state {
    bool opaque; /* of the triangle itself */
    bool double_sided;
    bool procedural;
};
uint32_t facet_gfx12_opacity_bit(const struct facet_gfx12_unit *unit, bool opaque, unsigned flags);
bool facet_gfx12_primitive_culled(const struct facet_gfx12_tri_state *tri,
                                  bool front,
                                  unsigned flags);
/* The miss rule of a profile (9.4). */
bool facet_gfx12_tri_missed(enum facet_gfx12_profile profile,
                            const struct facet_gfx12_tri_terms *terms);

/* Results on decoded nodes; intersect8 is fetch, decode, and one of these. */
void facet_gfx12_intersect_box(const struct facet_gfx12_unit *unit,
                               const struct facet_gfx12_box *node,
                               unsigned flags,
                               const struct facet_gfx12_ray *ray,
                               uint32_t v[10]);
void facet_gfx12_intersect_pair(const struct facet_gfx12_unit *unit,
                                const struct facet_gfx12_pair *pair,
                                unsigned flags,
                                const struct facet_gfx12_ray *ray,
                                uint32_t v[10]);
void facet_gfx12_intersect_instance(const struct facet_gfx12_unit *unit,
                                    const struct facet_gfx12_instance *node,
                                    uint64_t bvh_base,
                                    struct facet_gfx12_ray *ray,
                                    uint32_t v[10]);

#endif
