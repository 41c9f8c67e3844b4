/* Memory, flags and culling of the ray unit: see unit.h. */
#include "gfx12/unit.h"

#include <string.h>

#define ADDRESS_MASK UINT64_C(0xFFFFFFFFFFFF) /* addresses wrap at 48 bits */

void facet_gfx12_unit_init(struct facet_gfx12_unit *unit, const uint8_t *image, uint64_t size)
{
    memset(unit, 0, sizeof *unit);
    unit->image = image;
    unit->image_size = size;
    facet_gfx12_resource_default(&unit->resource);
}

const uint8_t *facet_gfx12_unit_fetch(const struct facet_gfx12_unit *unit,
                                      uint64_t bvh_base,
                                      uint64_t offset,
                                      uint64_t bytes)
{
    uint64_t relative = (facet_gfx12_base_address(bvh_base) + offset) & ADDRESS_MASK;
    if (relative / 64 > unit->resource.size) {
        return NULL;
    }
    uint64_t address = (unit->resource.base_address * 256 + relative) & ADDRESS_MASK;
    if (address < unit->image_address || unit->image_size < bytes ||
        address - unit->image_address > unit->image_size - bytes) {
        return NULL;
    }
    const uint8_t *data = unit->image + (address - unit->image_address);
    if (unit->fetched != NULL) {
        unit->fetched(unit->fetched_context, address, data, bytes);
    }
    return data;
}

unsigned facet_gfx12_effective_flags(const struct facet_gfx12_unit *unit, uint64_t bvh_base)
{
    return unit->resource.pointer_flags != 0 ? facet_gfx12_base_flags(bvh_base) : 0;
}

bool facet_gfx12_flags_cull(unsigned cull_flags, unsigned flags)
{
    bool force_opaque = (flags & FACET_GFX12_FORCE_OPAQUE) != 0;
    bool force_non_opaque = (flags & FACET_GFX12_FORCE_NON_OPAQUE) != 0;
    bool only_opaque =
        ((cull_flags & FACET_GFX12_ONLY_OPAQUE) != 0 || force_opaque) && !force_non_opaque;
    bool only_non_opaque =
        ((cull_flags & FACET_GFX12_ONLY_NON_OPAQUE) != 0 || force_non_opaque) && !force_opaque;
    return (only_opaque && (flags & FACET_GFX12_CULL_OPAQUE) != 0) ||
           (only_non_opaque && (flags & FACET_GFX12_CULL_NON_OPAQUE) != 0) ||
           ((cull_flags & FACET_GFX12_ONLY_TRIANGLES) != 0 &&
            (flags & FACET_GFX12_SKIP_TRIANGLES) != 0) ||
           ((cull_flags & FACET_GFX12_ONLY_PROCEDURAL) != 0 &&
            (flags & FACET_GFX12_SKIP_PROCEDURAL) != 0);
}

bool facet_gfx12_instance_culled(unsigned cull_mask,
                                 uint64_t pointer,
                                 unsigned flags,
                                 uint32_t instance_mask)
{
    bool aabbs = (pointer >> 62 & 1) != 0;
    unsigned skip = aabbs ? FACET_GFX12_SKIP_PROCEDURAL : FACET_GFX12_SKIP_TRIANGLES;
    return (cull_mask & instance_mask & 0xFF) == 0 || (flags & skip) != 0;
}

static bool effective_opaque(bool opaque, unsigned flags)
{
    return (flags & FACET_GFX12_FORCE_OPAQUE) != 0 ||
           ((flags & FACET_GFX12_FORCE_NON_OPAQUE) == 0 && opaque);
}

uint32_t facet_gfx12_opacity_bit(const struct facet_gfx12_unit *unit, bool opaque, unsigned flags)
{
    bool sense = unit->opaque_sense == FACET_GFX12_SENSE_SEED; /* R-G12-23 */
    return effective_opaque(opaque, flags) == sense ? UINT32_C(0x80000000) : 0;
}

bool facet_gfx12_primitive_culled(const struct facet_gfx12_tri_state *tri,
                                  bool front,
                                  unsigned flags)
{
    unsigned reasons = tri->procedural ? FACET_GFX12_SKIP_PROCEDURAL : FACET_GFX12_SKIP_TRIANGLES;
    reasons |= effective_opaque(tri->opaque, flags) ? FACET_GFX12_CULL_OPAQUE
                                                    : FACET_GFX12_CULL_NON_OPAQUE;
    if (!tri->procedural && !tri->double_sided &&
        (flags & FACET_GFX12_DISABLE_TRIANGLE_CULL) == 0) {
        reasons |= front ? FACET_GFX12_CULL_FRONT_FACING : FACET_GFX12_CULL_BACK_FACING;
    }
    return (flags & reasons) != 0;
}

bool facet_gfx12_tri_missed(enum facet_gfx12_profile profile,
                            const struct facet_gfx12_tri_terms *terms)
{
    float u = terms->u;
    float v = terms->v;
    float t = terms->t;
    if (profile == FACET_GFX12_GPURT) { /* a NaN is not a miss */
        return u < 0 || u > 1 || v < 0 || u + v > 1 || t < 0;
    }
    return !(u >= 0 && u <= 1 && v >= 0 && u + v <= 1 && t >= 0);
}
