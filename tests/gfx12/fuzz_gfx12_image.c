/* BVH images: any bytes can be decoded, encoded back without loss and traced. The first 48 bytes
 * are descriptor, flags, options and ray, the rest the image. */
#include "base/bits.h"
#include "fuzz/fuzz.h"

#include <facet/gfx12.h>
#include <stdlib.h>

static void check_codecs(const uint8_t *node)
{
    uint8_t out[128];
    struct facet_gfx12_box box;
    struct facet_gfx12_prim prim;
    struct facet_gfx12_instance instance;
    facet_gfx12_box_decode(node, &box);
    facet_gfx12_box_encode(&box, out);
    if (memcmp(node, out, 128) != 0) {
        abort();
    }
    facet_gfx12_prim_decode(node, &prim);
    facet_gfx12_prim_encode(&prim, out);
    if (memcmp(node, out, 128) != 0) {
        abort();
    }
    facet_gfx12_instance_decode(node, &instance);
    facet_gfx12_instance_encode(&instance, out);
    if (memcmp(node, out, 128) != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 48) {
        return 0;
    }
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query query;
    struct facet_gfx12_hit hit;
    float ray[6];
    uint32_t resource[4];
    for (unsigned i = 0; i < 4; i++) {
        resource[i] = facet_load_le32(data + (size_t)4 * i);
    }
    memcpy(ray, data + 24, sizeof ray);
    facet_gfx12_unit_init(&unit, data + 48, size - 48);
    facet_gfx12_resource_unpack(resource, &unit.resource);
    unit.resource.base_address &= 1;
    unit.profile = (data[16] & 1) != 0 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
    unit.opaque_sense = (data[16] & 2) != 0 ? FACET_GFX12_SENSE_SEED : FACET_GFX12_SENSE_HW;
    facet_gfx12_query_init(&query, ray, ray + 3);
    query.root = facet_load_le32(data + 20);
    query.api_flags = facet_load_le16(data + 18);
    query.max_steps = 500;
    (void)facet_gfx12_trace(&unit, &query, &hit, NULL, NULL);
    (void)facet_gfx12_trace_lds(&unit, &query, 8 + data[17] % 24, &hit, NULL, NULL);
    for (size_t at = 48; at + 128 <= size; at += 128) {
        check_codecs(data + at);
    }
    return 0;
}
