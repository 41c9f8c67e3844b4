/* Primitive nodes whose vertices are whole floats: 32 bits per axis, no prefixes, no trailing
 * zeros. Updatable images consist of them (R-G12-94), and drivers write them for the same reason:
 * vertex v has a fixed place, bit 52 + 96 v, whatever its position becomes. */
#ifndef FACET_GFX12_BUILD_RAW_NODE_H
#define FACET_GFX12_BUILD_RAW_NODE_H

#include "base/bits.h"
#include "base/float.h"
#include "bvh/lanes.h"

static inline bool facet_gfx12_raw_node(const uint8_t node[128])
{
    return (facet_load_le32(node) & UINT32_C(0x800FFFFF)) == 0x7FFF;
}

/* Bit 52 is bit 4 of byte 6, and a vertex takes whole bytes: the shift is the same for all.
 * Vertices 0 to 9 lie inside the node. */
static inline uint8_t *facet_gfx12_raw_at(uint8_t node[128], unsigned vertex)
{
    return node + 6 + (size_t)12 * vertex;
}

static inline void facet_gfx12_raw_store(uint8_t node[128], unsigned vertex, const uint32_t xyz[3])
{
    uint8_t *at = facet_gfx12_raw_at(node, vertex);

    facet_store_le64(at, (at[0] & 0xFu) | (uint64_t)xyz[0] << 4 | (uint64_t)xyz[1] << 36);
    facet_store_le32(at + 8, xyz[1] >> 28 | xyz[2] << 4);
    at[12] = (uint8_t)((at[12] & 0xF0) | xyz[2] >> 28);
}

static inline void facet_gfx12_raw_words(const uint8_t node[128], unsigned vertex, uint32_t xyz[3])
{
    const uint8_t *at = node + 6 + (size_t)12 * vertex;
    const uint64_t low = facet_load_le64(at), high = facet_load_le64(at + 5);

    xyz[0] = (uint32_t)(low >> 4);
    xyz[1] = (uint32_t)(low >> 36) | (uint32_t)(high >> 24 & 0xF) << 28;
    xyz[2] = (uint32_t)(high >> 28);
}

static inline struct lanes facet_gfx12_raw_load(const uint8_t node[128], unsigned vertex)
{
    uint32_t own[3];

    facet_gfx12_raw_words(node, vertex, own);
    return lanes_set(facet_float_of(own[0]), facet_float_of(own[1]), facet_float_of(own[2]));
}

/* Up to 32 bits that lie inside the node. */
static inline uint32_t facet_gfx12_raw_bits(const uint8_t node[128], unsigned at, unsigned width)
{
    const unsigned byte = at / 8 < 120 ? at / 8 : 120;

    return (uint32_t)(facet_load_le64(node + byte) >> (at - 8 * byte) & facet_bits_mask(width));
}

/* The 29 bits of a pair's descriptor (7.4). */
static inline uint32_t facet_gfx12_raw_pair(const uint8_t node[128], unsigned pair)
{
    return facet_gfx12_raw_bits(node, 1024 - 29 * (pair + 1), 29);
}

static inline void facet_gfx12_raw_set_pair(uint8_t node[128], unsigned pair, uint32_t value)
{
    const unsigned bit = 1024 - 29 * (pair + 1), byte = bit / 8 < 120 ? bit / 8 : 120;
    const unsigned shift = bit - 8 * byte;
    const uint64_t around = facet_load_le64(node + byte) & ~(UINT64_C(0x1FFFFFFF) << shift);

    facet_store_le64(node + byte, around | (uint64_t)value << shift);
}

#endif
