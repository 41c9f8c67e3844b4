/* Bit layouts of the GFX12 nodes as tables: F(name, member, first bit, width). The codecs, the dump
 * and the round-trip tests use the same lists, and the compiler checks that each covers its node
 * exactly. Names are those of the documents; members are those of the structs in <facet/gfx12.h>.
 * C bit-fields were rejected: their order is the compiler's choice. Sections 3, 4, 7.1, 7.4 and 8.
 */
#ifndef FACET_BVH_GFX12_NODE_H
#define FACET_BVH_GFX12_NODE_H

#include <facet/gfx12.h>

#include "base/bits.h"

/* clang-format off */

/* A box on the 12-bit grid of its node. Minima round down and maxima round up, so that a quantized
 * box never loses a hit; max is stored minus one, since 4096 does not fit 12 bits. */
#define FACET_GFX12_CHILD_FIELDS(F)                                                                \
    F(min_x, min[0], 0, 12)                                                                        \
    F(min_y, min[1], 12, 12)                                                                       \
    F(cull_flags, cull_flags, 24, 4)                                                               \
    F(unused, unused, 28, 4)                                                                       \
    F(min_z, min[2], 32, 12)                                                                       \
    F(max_x, max[0], 44, 12)                                                                       \
    F(cull_mask, cull_mask, 56, 8)                                                                 \
    F(max_y, max[1], 64, 12)                                                                       \
    F(max_z, max[2], 76, 12)                                                                       \
    F(node_type, node_type, 88, 4)                                                                 \
    F(node_size, node_size, 92, 4)

/* The 256 bits before the children of a box node. */
#define FACET_GFX12_BOX_FIELDS(F)                                                                  \
    F(internal_child_offset, internal_child_offset, 0, 32)                                         \
    F(primitive_child_offset, primitive_child_offset, 32, 32)                                      \
    F(parent, parent, 64, 32)                                                                      \
    F(origin_x, origin[0], 96, 32)                                                                 \
    F(origin_y, origin[1], 128, 32)                                                                \
    F(origin_z, origin[2], 160, 32)                                                                \
    F(exponent_x, exponent[0], 192, 8)                                                             \
    F(exponent_y, exponent[1], 200, 8)                                                             \
    F(exponent_z, exponent[2], 208, 8)                                                             \
    F(unused, unused, 216, 4)                                                                      \
    F(child_count_minus_one, child_count_minus_one, 220, 4)                                        \
    F(obb_matrix_index, obb_matrix_index, 224, 32)

/* The 640 bits before the children of an instance node. */
#define FACET_GFX12_INSTANCE_FIELDS(F)                                                             \
    F(world_to_object_00, world_to_object[0], 0, 32)                                               \
    F(world_to_object_01, world_to_object[1], 32, 32)                                              \
    F(world_to_object_02, world_to_object[2], 64, 32)                                              \
    F(world_to_object_03, world_to_object[3], 96, 32)                                              \
    F(world_to_object_10, world_to_object[4], 128, 32)                                             \
    F(world_to_object_11, world_to_object[5], 160, 32)                                             \
    F(world_to_object_12, world_to_object[6], 192, 32)                                             \
    F(world_to_object_13, world_to_object[7], 224, 32)                                             \
    F(world_to_object_20, world_to_object[8], 256, 32)                                             \
    F(world_to_object_21, world_to_object[9], 288, 32)                                             \
    F(world_to_object_22, world_to_object[10], 320, 32)                                            \
    F(world_to_object_23, world_to_object[11], 352, 32)                                            \
    F(bvh_addr, pointer, 384, 64)                                                                  \
    F(parent, parent, 448, 32)                                                                     \
    F(user_data, user_data, 480, 24)                                                               \
    F(cull_mask, cull_mask, 504, 8)                                                                \
    F(origin_x, origin[0], 512, 32)                                                                \
    F(origin_y, origin[1], 544, 32)                                                                \
    F(origin_z, origin[2], 576, 32)                                                                \
    F(exponent_x, exponent[0], 608, 8)                                                             \
    F(exponent_y, exponent[1], 616, 8)                                                             \
    F(exponent_z, exponent[2], 624, 8)                                                             \
    F(unused, unused, 632, 4)                                                                      \
    F(child_count_minus_one, child_count_minus_one, 636, 4)

/* The first 52 bits of a primitive node. */
#define FACET_GFX12_PRIM_HEADER_FIELDS(F)                                                          \
    F(x_vertex_bits_minus_one, vertex_bits_minus_one[0], 0, 5)                                     \
    F(y_vertex_bits_minus_one, vertex_bits_minus_one[1], 5, 5)                                     \
    F(z_vertex_bits_minus_one, vertex_bits_minus_one[2], 10, 5)                                    \
    F(trailing_zero_bits, trailing_zero_bits, 15, 5)                                               \
    F(geometry_index_base_bits_div_2, geometry_index_base_bits_div_2, 20, 4)                       \
    F(geometry_index_bits_div_2, geometry_index_bits_div_2, 24, 4)                                 \
    F(triangle_pair_count_minus_one, triangle_pair_count_minus_one, 28, 3)                         \
    F(vertex_type, vertex_type, 31, 1)                                                             \
    F(primitive_index_base_bits, primitive_index_base_bits, 32, 5)                                 \
    F(primitive_index_bits, primitive_index_bits, 37, 5)                                           \
    F(indices_midpoint, indices_midpoint, 42, 10)

/* Bits from the start of the descriptor; descriptor p starts at node bit 1024 - 29*(p+1). */
#define FACET_GFX12_PAIR_DESC_FIELDS(F)                                                            \
    F(prim_range_stop, prim_range_stop, 0, 1)                                                      \
    F(tri1_double_sided, tri[1].double_sided, 1, 1)                                                \
    F(tri1_opaque, tri[1].opaque, 2, 1)                                                            \
    F(tri1_v0_index, tri[1].index[0], 3, 4)                                                        \
    F(tri1_v1_index, tri[1].index[1], 7, 4)                                                        \
    F(tri1_v2_index, tri[1].index[2], 11, 4)                                                       \
    F(tri0_double_sided, tri[0].double_sided, 15, 1)                                               \
    F(tri0_opaque, tri[0].opaque, 16, 1)                                                           \
    F(tri0_v0_index, tri[0].index[0], 17, 4)                                                       \
    F(tri0_v1_index, tri[0].index[1], 21, 4)                                                       \
    F(tri0_v2_index, tri[0].index[2], 25, 4)

#define FACET_GFX12_RESOURCE_FIELDS(F)                                                             \
    F(base_address, base_address, 0, 40)                                                           \
    F(reserved_40, reserved_40, 40, 12)                                                            \
    F(sort_triangles_first, sort_triangles_first, 52, 1)                                           \
    F(box_sorting_heuristic, box_sorting_heuristic, 53, 2)                                         \
    F(box_grow_value, box_grow_value, 55, 8)                                                       \
    F(box_sort_en, box_sort_en, 63, 1)                                                             \
    F(size, size, 64, 42)                                                                          \
    F(reserved_106, reserved_106, 106, 9)                                                          \
    F(compressed_format_en, compressed_format_en, 115, 1)                                          \
    F(box_node_64B, box_node_64B, 116, 1)                                                          \
    F(wide_sort_en, wide_sort_en, 117, 1)                                                          \
    F(instance_en, instance_en, 118, 1)                                                            \
    F(pointer_flags, pointer_flags, 119, 1)                                                        \
    F(triangle_return_mode, triangle_return_mode, 120, 1)                                          \
    F(reserved_121, reserved_121, 121, 3)                                                          \
    F(type, type, 124, 4)

/* clang-format on */

#define FACET_GFX12_PRIM_HEADER_BITS 52
#define FACET_GFX12_PAIR_DESC_BITS 29
#define FACET_GFX12_CHILD_BITS 96
#define FACET_GFX12_BOX_CHILDREN_BIT 256      /* first bit of child 0 */
#define FACET_GFX12_INSTANCE_CHILDREN_BIT 640 /* first bit of child 0 */
#define FACET_GFX12_AABB_BIT 52               /* first bit of the AABB of a procedural node */

/* A node as little-endian dwords, for the bit reader and writer of 7.2. */
struct facet_gfx12_words {
    uint32_t w[32];
};

static inline void facet_gfx12_words_load(struct facet_gfx12_words *words, const uint8_t *node)
{
    for (unsigned i = 0; i < 32; i++) {
        words->w[i] = facet_load_le32(node + (size_t)4 * i);
    }
}

static inline void facet_gfx12_words_store(const struct facet_gfx12_words *words, uint8_t *node)
{
    for (unsigned i = 0; i < 32; i++) {
        facet_store_le32(node + (size_t)4 * i, words->w[i]);
    }
}

/* Bits [at, at + width), width 0..64; bits outside 0..1023 read as 0. Inline, since the field
 * tables call it with constants that leave one shift and one mask of it. */
static inline uint64_t
facet_gfx12_bits_get(const struct facet_gfx12_words *words, int at, unsigned width)
{
    unsigned below = at < 0 ? (unsigned)-at : 0; /* bits that lie before the node */
    unsigned first = at < 0 ? 0 : (unsigned)at;
    if (width <= below) {
        return 0;
    }
    uint64_t value = 0;
    unsigned shift = first % 32;
    for (unsigned have = 0, i = first / 32; have < width - below && i < 32; i++) {
        value |= (uint64_t)(words->w[i] >> shift) << have;
        have += 32 - shift;
        shift = 0;
    }
    return value << below & facet_bits_mask(width);
}

/* Bits outside 0..1023 ignore the write. */
static inline void
facet_gfx12_bits_set(struct facet_gfx12_words *words, int at, unsigned width, uint64_t value)
{
    for (unsigned done = 0; done < width;) {
        int bit = at + (int)done;
        if (bit < 0 || bit > 1023) {
            done++;
            continue;
        }
        unsigned lo = (unsigned)bit % 32;
        unsigned part = width - done < 32 - lo ? width - done : 32 - lo;
        uint32_t *w = &words->w[bit / 32];
        *w = (uint32_t)facet_bits_set(*w, lo, part, value >> done);
        done += part;
    }
}

/* Header, descriptors and vertex count of a primitive node; the other members become 0. */
void facet_gfx12_prim_outline(const uint8_t node[128], struct facet_gfx12_prim *out);

#endif
