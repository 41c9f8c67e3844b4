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

void facet_gfx12_unit_view(struct facet_gfx12_unit *unit, const struct facet_gfx12_view *view)
{
    facet_gfx12_unit_init(unit, view->bytes, view->size);
    unit->image_address = view->base;
    unit->segments = view->segments;
    unit->segment_count = view->segment_count;
}

const uint8_t *facet_gfx12_unit_fetch(const struct facet_gfx12_unit *unit,
                                      uint64_t bvh_base,
                                      uint64_t offset,
                                      uint64_t bytes)
{
    uint64_t relative = (facet_gfx12_base_address(bvh_base) + offset) & ADDRESS_MASK;
    const uint8_t *data;
    uint64_t address, at;

    if (relative / 64 > unit->resource.size) {
        return NULL;
    }
    address = (unit->resource.base_address * 256 + relative) & ADDRESS_MASK;
    at = address - unit->image_address;
    if (unit->segment_count != 0) {
        if (!facet_gfx12_segments_offset(
                unit->segments, unit->segment_count, address, bytes, &at)) {
            return NULL;
        }
    } else if (address < unit->image_address || unit->image_size < bytes ||
               at > unit->image_size - bytes) {
        return NULL;
    }
    data = unit->image + at;
    if (unit->fetched != NULL) {
        unit->fetched(unit->fetched_context, address, data, bytes);
    }
    return data;
}

unsigned facet_gfx12_effective_flags(const struct facet_gfx12_unit *unit, uint64_t bvh_base)
{
    return unit->resource.pointer_flags != 0 ? facet_gfx12_base_flags(bvh_base) : 0;
}

const char *facet_gfx12_cull_name(unsigned cull)
{
    static const struct {
        unsigned bit;
        const char *name;
    } rules[] = {
        {FACET_GFX12_CULL_MASK, "mask"},
        {FACET_GFX12_SKIP_TRIANGLES, "SKIP_TRIANGLES"},
        {FACET_GFX12_SKIP_PROCEDURAL, "SKIP_PROCEDURAL"},
        {FACET_GFX12_CULL_FRONT_FACING, "CULL_FRONT_FACING"},
        {FACET_GFX12_CULL_BACK_FACING, "CULL_BACK_FACING"},
        {FACET_GFX12_CULL_OPAQUE, "CULL_OPAQUE"},
        {FACET_GFX12_CULL_NON_OPAQUE, "CULL_NON_OPAQUE"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if ((cull & rules[i].bit) != 0) {
            return rules[i].name;
        }
    }
    return "visible";
}

unsigned facet_gfx12_flags_cull(unsigned cull_flags, unsigned flags)
{
    bool force_opaque = (flags & FACET_GFX12_FORCE_OPAQUE) != 0;
    bool force_non_opaque = (flags & FACET_GFX12_FORCE_NON_OPAQUE) != 0;
    bool only_opaque =
        ((cull_flags & FACET_GFX12_ONLY_OPAQUE) != 0 || force_opaque) && !force_non_opaque;
    bool only_non_opaque =
        ((cull_flags & FACET_GFX12_ONLY_NON_OPAQUE) != 0 || force_non_opaque) && !force_opaque;
    bool only_triangles = (cull_flags & FACET_GFX12_ONLY_TRIANGLES) != 0;
    bool only_procedural = (cull_flags & FACET_GFX12_ONLY_PROCEDURAL) != 0;
    return flags & ((only_opaque ? FACET_GFX12_CULL_OPAQUE : 0u) |
                    (only_non_opaque ? FACET_GFX12_CULL_NON_OPAQUE : 0u) |
                    (only_triangles ? FACET_GFX12_SKIP_TRIANGLES : 0u) |
                    (only_procedural ? FACET_GFX12_SKIP_PROCEDURAL : 0u));
}

unsigned facet_gfx12_instance_cull(unsigned cull_mask,
                                   uint64_t pointer,
                                   unsigned flags,
                                   uint32_t instance_mask)
{
    bool aabbs = (pointer >> 62 & 1) != 0;
    unsigned skip = aabbs ? FACET_GFX12_SKIP_PROCEDURAL : FACET_GFX12_SKIP_TRIANGLES;
    return (flags & skip) | ((cull_mask & instance_mask & 0xFF) == 0 ? FACET_GFX12_CULL_MASK : 0u);
}

bool facet_gfx12_effective_opaque(bool opaque, unsigned flags)
{
    return (flags & FACET_GFX12_FORCE_OPAQUE) != 0 ||
           ((flags & FACET_GFX12_FORCE_NON_OPAQUE) == 0 && opaque);
}

uint32_t facet_gfx12_opacity_bit(const struct facet_gfx12_unit *unit, bool opaque, unsigned flags)
{
    bool sense = unit->opaque_sense == FACET_GFX12_SENSE_SEED; /* R-G12-23 */
    return facet_gfx12_effective_opaque(opaque, flags) == sense ? UINT32_C(0x80000000) : 0;
}

unsigned
facet_gfx12_primitive_cull(const struct facet_gfx12_tri_state *tri, bool front, unsigned flags)
{
    unsigned reasons = tri->procedural ? FACET_GFX12_SKIP_PROCEDURAL : FACET_GFX12_SKIP_TRIANGLES;
    reasons |= facet_gfx12_effective_opaque(tri->opaque, flags) ? FACET_GFX12_CULL_OPAQUE
                                                                : FACET_GFX12_CULL_NON_OPAQUE;
    if (!tri->procedural && !tri->double_sided &&
        (flags & FACET_GFX12_DISABLE_TRIANGLE_CULL) == 0) {
        reasons |= front ? FACET_GFX12_CULL_FRONT_FACING : FACET_GFX12_CULL_BACK_FACING;
    }
    return flags & reasons;
}

const char *facet_gfx12_tri_miss(enum facet_gfx12_profile profile,
                                 const struct facet_gfx12_tri_terms *terms)
{
    float u = terms->u;
    float v = terms->v;
    float t = terms->t;
    if (profile == FACET_GFX12_GPURT) { /* a NaN is not a miss */
        return u < 0       ? "u < 0"
               : u > 1     ? "u > 1"
               : v < 0     ? "v < 0"
               : u + v > 1 ? "u + v > 1"
               : t < 0     ? "t < 0"
                           : NULL;
    }
    return !(u >= 0)       ? "not u >= 0"
           : !(u <= 1)     ? "not u <= 1"
           : !(v >= 0)     ? "not v >= 0"
           : !(u + v <= 1) ? "not u + v <= 1"
           : !(t >= 0)     ? "not t >= 0"
                           : NULL;
}
