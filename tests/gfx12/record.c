/* See record.h. */
#include "gfx12/record.h"

#include "base/bits.h"
#include "base/float.h"

#undef facet_gfx12_intersect8
#undef facet_gfx12_intersect_dual

enum { NODE_BYTES = 128, DUAL_BYTES = 4096, TYPE_BITS = 15, MOST = 200 };

static void tell_ray(FILE *out, const struct facet_gfx12_ray *ray)
{
    for (unsigned i = 0; i < 3; i++) {
        fprintf(out, " %x", (unsigned)facet_float_bits(ray->origin[i]));
    }
    for (unsigned i = 0; i < 3; i++) {
        fprintf(out, " %x", (unsigned)facet_float_bits(ray->direction[i]));
    }
}

/* Whether the call can be told: its image is in one piece at address 0, and what it reads is there.
 */
static bool tell(const struct facet_gfx12_unit *unit,
                 uint64_t base,
                 uint32_t node0,
                 uint32_t node1,
                 bool dual,
                 const struct facet_gfx12_ray *ray)
{
    FILE *out = harness_record();
    uint64_t at = dual ? 0 : (uint64_t)(node0 & ~(uint32_t)TYPE_BITS) * 8;
    uint64_t size = dual ? (unit->image_size < DUAL_BYTES ? unit->image_size / 64 * 64 : DUAL_BYTES)
                         : NODE_BYTES;
    uint32_t words[4];

    if (out == NULL || unit->segments != NULL || unit->image_address != 0 || size == 0 ||
        at + size > unit->image_size || (base & ((UINT64_C(1) << 54) - 1)) != 0) {
        return false;
    }
    if (harness_record_anew() > MOST) {
        return false;
    }
    facet_gfx12_resource_pack(&unit->resource, words);
    fprintf(out,
            "vector %s %s %s %llx %x %x %x %x %x %x %x %x",
            dual ? "dual" : "bvh8",
            unit->profile == FACET_GFX12_GPURT ? "gpurt" : "silicon",
            unit->opaque_sense == FACET_GFX12_SENSE_SEED ? "seed" : "hw",
            (unsigned long long)base,
            (unsigned)ray->instance_mask,
            (unsigned)words[0],
            (unsigned)words[1],
            (unsigned)words[2],
            (unsigned)words[3],
            (unsigned)(dual ? node0 : node0 & TYPE_BITS),
            (unsigned)node1,
            (unsigned)facet_float_bits(ray->extent));
    tell_ray(out, ray);
    for (uint64_t i = 0; i < size; i += 4) {
        fprintf(out, " %x", (unsigned)facet_load_le32(unit->image + at + i));
    }
    fputc('\n', out);
    return true;
}

static void tell_result(bool told, const struct facet_gfx12_ray *ray, const uint32_t v[10])
{
    if (told) {
        fprintf(harness_record(), "result");
        for (unsigned i = 0; i < 10; i++) {
            fprintf(harness_record(), " %x", (unsigned)v[i]);
        }
        tell_ray(harness_record(), ray);
        fputc('\n', harness_record());
    }
}

void record_intersect8(const struct facet_gfx12_unit *unit,
                       uint64_t base,
                       uint32_t node,
                       struct facet_gfx12_ray *ray,
                       uint32_t v[10])
{
    bool told = tell(unit, base, node, 0, false, ray);

    facet_gfx12_intersect8(unit, base, node, ray, v);
    tell_result(told, ray, v);
}

void record_dual(const struct facet_gfx12_unit *unit,
                 uint64_t base,
                 uint32_t node0,
                 uint32_t node1,
                 struct facet_gfx12_ray *ray,
                 uint32_t v[10])
{
    bool told = tell(unit, base, node0, node1, true, ray);

    facet_gfx12_intersect_dual(unit, base, node0, node1, ray, v);
    tell_result(told, ray, v);
}
