/* The members of the GFX12 nodes as lists: F(name, member, first bit, width). Places come from
 * spec/gfx12.layout.tsv; a list says which member of the structs in <facet/gfx12.h> holds each. The
 * codecs, the dump and the round-trip tests use the same lists, and the compiler checks that each
 * covers its node exactly. C bit-fields were rejected: their order is the compiler's choice.
 * Sections 3, 4, 7.1, 7.4 and 8. */
#ifndef FACET_GFX12_IMAGE_NODE_H
#define FACET_GFX12_IMAGE_NODE_H

#include <facet/gfx12.h>

#include "base/bits.h"
#include "contract/gfx12_layouts.h"

#define FACET_GFX12_CALL(F, ...) F(__VA_ARGS__)
#define FACET_GFX12_AT(F, structure, name, NAME, member)                                           \
    FACET_GFX12_CALL(F,                                                                            \
                     name,                                                                         \
                     member,                                                                       \
                     8 * (int)FACET_GFX12_##structure##_##NAME##_AT +                              \
                         FACET_GFX12_##structure##_##NAME##_LSB,                                   \
                     FACET_GFX12_##structure##_##NAME##_BITS)

/* clang-format off */

/* A box on the 12-bit grid of its node. Minima round down and maxima round up, so that a quantized
 * box never loses a hit; max is stored minus one, since 4096 does not fit 12 bits. */
#define FACET_GFX12_CHILD_FIELDS(F)                                                                \
    FACET_GFX12_AT(F, BOX_CHILD, min_x, MIN_X, min[0])                                             \
    FACET_GFX12_AT(F, BOX_CHILD, min_y, MIN_Y, min[1])                                             \
    FACET_GFX12_AT(F, BOX_CHILD, cull_flags, CULL_FLAGS, cull_flags)                               \
    FACET_GFX12_AT(F, BOX_CHILD, unused, UNUSED, unused)                                           \
    FACET_GFX12_AT(F, BOX_CHILD, min_z, MIN_Z, min[2])                                             \
    FACET_GFX12_AT(F, BOX_CHILD, max_x, MAX_X, max[0])                                             \
    FACET_GFX12_AT(F, BOX_CHILD, cull_mask, CULL_MASK, cull_mask)                                  \
    FACET_GFX12_AT(F, BOX_CHILD, max_y, MAX_Y, max[1])                                             \
    FACET_GFX12_AT(F, BOX_CHILD, max_z, MAX_Z, max[2])                                             \
    FACET_GFX12_AT(F, BOX_CHILD, node_type, NODE_TYPE, node_type)                                  \
    FACET_GFX12_AT(F, BOX_CHILD, node_size, NODE_SIZE, node_size)

/* The 256 bits before the children of a box node. */
#define FACET_GFX12_BOX_FIELDS(F)                                                                  \
    FACET_GFX12_AT(F, BOX_NODE, internal_child_offset, INTERNAL_CHILD_OFFSET, internal_child_offset)\
    FACET_GFX12_AT(F, BOX_NODE, primitive_child_offset, PRIMITIVE_CHILD_OFFSET, primitive_child_offset)\
    FACET_GFX12_AT(F, BOX_NODE, parent, PARENT, parent)                                            \
    FACET_GFX12_AT(F, BOX_NODE, origin_x, ORIGIN_X, origin[0])                                     \
    FACET_GFX12_AT(F, BOX_NODE, origin_y, ORIGIN_Y, origin[1])                                     \
    FACET_GFX12_AT(F, BOX_NODE, origin_z, ORIGIN_Z, origin[2])                                     \
    FACET_GFX12_AT(F, BOX_NODE, exponent_x, EXPONENT_X, exponent[0])                               \
    FACET_GFX12_AT(F, BOX_NODE, exponent_y, EXPONENT_Y, exponent[1])                               \
    FACET_GFX12_AT(F, BOX_NODE, exponent_z, EXPONENT_Z, exponent[2])                               \
    FACET_GFX12_AT(F, BOX_NODE, unused, UNUSED, unused)                                            \
    FACET_GFX12_AT(F, BOX_NODE, child_count_minus_one, CHILD_COUNT_MINUS_ONE, child_count_minus_one)\
    FACET_GFX12_AT(F, BOX_NODE, obb_matrix_index, OBB_MATRIX_INDEX, obb_matrix_index)

/* The 640 bits before the children of an instance node. */
#define FACET_GFX12_INSTANCE_FIELDS(F)                                                             \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_00, WORLD_TO_OBJECT_00, world_to_object[0])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_01, WORLD_TO_OBJECT_01, world_to_object[1])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_02, WORLD_TO_OBJECT_02, world_to_object[2])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_03, WORLD_TO_OBJECT_03, world_to_object[3])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_10, WORLD_TO_OBJECT_10, world_to_object[4])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_11, WORLD_TO_OBJECT_11, world_to_object[5])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_12, WORLD_TO_OBJECT_12, world_to_object[6])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_13, WORLD_TO_OBJECT_13, world_to_object[7])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_20, WORLD_TO_OBJECT_20, world_to_object[8])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_21, WORLD_TO_OBJECT_21, world_to_object[9])   \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_22, WORLD_TO_OBJECT_22, world_to_object[10])  \
    FACET_GFX12_AT(F, INSTANCE_NODE, world_to_object_23, WORLD_TO_OBJECT_23, world_to_object[11])  \
    FACET_GFX12_AT(F, INSTANCE_NODE, bvh_addr, BVH_ADDR, pointer)                                  \
    FACET_GFX12_AT(F, INSTANCE_NODE, parent, PARENT, parent)                                       \
    FACET_GFX12_AT(F, INSTANCE_NODE, user_data, USER_DATA, user_data)                              \
    FACET_GFX12_AT(F, INSTANCE_NODE, cull_mask, CULL_MASK, cull_mask)                              \
    FACET_GFX12_AT(F, INSTANCE_NODE, origin_x, ORIGIN_X, origin[0])                                \
    FACET_GFX12_AT(F, INSTANCE_NODE, origin_y, ORIGIN_Y, origin[1])                                \
    FACET_GFX12_AT(F, INSTANCE_NODE, origin_z, ORIGIN_Z, origin[2])                                \
    FACET_GFX12_AT(F, INSTANCE_NODE, exponent_x, EXPONENT_X, exponent[0])                          \
    FACET_GFX12_AT(F, INSTANCE_NODE, exponent_y, EXPONENT_Y, exponent[1])                          \
    FACET_GFX12_AT(F, INSTANCE_NODE, exponent_z, EXPONENT_Z, exponent[2])                          \
    FACET_GFX12_AT(F, INSTANCE_NODE, unused, UNUSED, unused)                                       \
    FACET_GFX12_AT(F, INSTANCE_NODE, child_count_minus_one, CHILD_COUNT_MINUS_ONE, child_count_minus_one)

/* The first 52 bits of a primitive node. */
#define FACET_GFX12_PRIM_HEADER_FIELDS(F)                                                          \
    FACET_GFX12_AT(F, PRIMITIVE_NODE, x_vertex_bits_minus_one, X_VERTEX_BITS_MINUS_ONE, vertex_bits_minus_one[0])\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, y_vertex_bits_minus_one, Y_VERTEX_BITS_MINUS_ONE, vertex_bits_minus_one[1])\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, z_vertex_bits_minus_one, Z_VERTEX_BITS_MINUS_ONE, vertex_bits_minus_one[2])\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, trailing_zero_bits, TRAILING_ZERO_BITS, trailing_zero_bits)  \
    FACET_GFX12_AT(F, PRIMITIVE_NODE, geometry_index_base_bits_div_2, GEOMETRY_INDEX_BASE_BITS_DIV_2, geometry_index_base_bits_div_2)\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, geometry_index_bits_div_2, GEOMETRY_INDEX_BITS_DIV_2, geometry_index_bits_div_2)\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, triangle_pair_count_minus_one, TRIANGLE_PAIR_COUNT_MINUS_ONE, triangle_pair_count_minus_one)\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, vertex_type, VERTEX_TYPE, vertex_type)                       \
    FACET_GFX12_AT(F, PRIMITIVE_NODE, primitive_index_base_bits, PRIMITIVE_INDEX_BASE_BITS, primitive_index_base_bits)\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, primitive_index_bits, PRIMITIVE_INDEX_BITS, primitive_index_bits)\
    FACET_GFX12_AT(F, PRIMITIVE_NODE, indices_midpoint, INDICES_MIDPOINT, indices_midpoint)

/* Bits from the start of the descriptor; descriptor p starts at node bit 1024 - 29*(p+1). */
#define FACET_GFX12_PAIR_DESC_FIELDS(F)                                                            \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, prim_range_stop, PRIM_RANGE_STOP, prim_range_stop)            \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri1_double_sided, TRI1_DOUBLE_SIDED, tri[1].double_sided)    \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri1_opaque, TRI1_OPAQUE, tri[1].opaque)                      \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri1_v0_index, TRI1_V0_INDEX, tri[1].index[0])                \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri1_v1_index, TRI1_V1_INDEX, tri[1].index[1])                \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri1_v2_index, TRI1_V2_INDEX, tri[1].index[2])                \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri0_double_sided, TRI0_DOUBLE_SIDED, tri[0].double_sided)    \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri0_opaque, TRI0_OPAQUE, tri[0].opaque)                      \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri0_v0_index, TRI0_V0_INDEX, tri[0].index[0])                \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri0_v1_index, TRI0_V1_INDEX, tri[0].index[1])                \
    FACET_GFX12_AT(F, TRIANGLE_PAIR, tri0_v2_index, TRI0_V2_INDEX, tri[0].index[2])

#define FACET_GFX12_RESOURCE_FIELDS(F)                                                             \
    FACET_GFX12_AT(F, BVH_RESOURCE, base_address, BASE_ADDRESS, base_address)                      \
    FACET_GFX12_AT(F, BVH_RESOURCE, reserved_40, RESERVED_40, reserved_40)                         \
    FACET_GFX12_AT(F, BVH_RESOURCE, sort_triangles_first, SORT_TRIANGLES_FIRST, sort_triangles_first)\
    FACET_GFX12_AT(F, BVH_RESOURCE, box_sorting_heuristic, BOX_SORTING_HEURISTIC, box_sorting_heuristic)\
    FACET_GFX12_AT(F, BVH_RESOURCE, box_grow_value, BOX_GROW_VALUE, box_grow_value)                \
    FACET_GFX12_AT(F, BVH_RESOURCE, box_sort_en, BOX_SORT_EN, box_sort_en)                         \
    FACET_GFX12_AT(F, BVH_RESOURCE, size, SIZE, size)                                              \
    FACET_GFX12_AT(F, BVH_RESOURCE, reserved_106, RESERVED_106, reserved_106)                      \
    FACET_GFX12_AT(F, BVH_RESOURCE, compressed_format_en, COMPRESSED_FORMAT_EN, compressed_format_en)\
    FACET_GFX12_AT(F, BVH_RESOURCE, box_node_64B, BOX_NODE_64B, box_node_64B)                      \
    FACET_GFX12_AT(F, BVH_RESOURCE, wide_sort_en, WIDE_SORT_EN, wide_sort_en)                      \
    FACET_GFX12_AT(F, BVH_RESOURCE, instance_en, INSTANCE_EN, instance_en)                         \
    FACET_GFX12_AT(F, BVH_RESOURCE, pointer_flags, POINTER_FLAGS, pointer_flags)                   \
    FACET_GFX12_AT(F, BVH_RESOURCE, triangle_return_mode, TRIANGLE_RETURN_MODE, triangle_return_mode)\
    FACET_GFX12_AT(F, BVH_RESOURCE, reserved_121, RESERVED_121, reserved_121)                      \
    FACET_GFX12_AT(F, BVH_RESOURCE, type, TYPE, type)

/* clang-format on */

#define FACET_GFX12_CHILD_BITS (8 * (int)FACET_GFX12_BOX_CHILD_SIZE)
#define FACET_GFX12_BOX_CHILDREN_BIT (8 * (int)FACET_GFX12_BOX_NODE_CHILDREN_AT) /* of child 0 */
#define FACET_GFX12_INSTANCE_CHILDREN_BIT (8 * (int)FACET_GFX12_INSTANCE_NODE_CHILDREN_AT)
/* First bit of most AABBs of procedural nodes: right after the header. */
#define FACET_GFX12_AABB_BIT                                                                       \
    (8 * (int)FACET_GFX12_PRIMITIVE_NODE_AABB_MIN_X_AT + FACET_GFX12_PRIMITIVE_NODE_AABB_MIN_X_LSB)
#define FACET_GFX12_PRIM_HEADER_BITS FACET_GFX12_AABB_BIT
#define FACET_GFX12_PAIR_DESC_BITS                                                                 \
    (FACET_GFX12_TRIANGLE_PAIR_TRI0_V2_INDEX_LSB + FACET_GFX12_TRIANGLE_PAIR_TRI0_V2_INDEX_BITS)

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
    uint64_t value = 0;
    unsigned shift;

    shift = first % 32;
    if (at >= 0 && at < 31 * 32 && width <= 32) { /* as nearly always: two words have all bits */
        return (words->w[first / 32] | (uint64_t)words->w[first / 32 + 1] << 32) >> shift &
               facet_bits_mask(width);
    }
    if (width <= below) {
        return 0;
    }
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
        unsigned lo, part;
        uint32_t *w;

        if (bit < 0 || bit > 1023) {
            done++;
            continue;
        }
        lo = (unsigned)bit % 32;
        part = width - done < 32 - lo ? width - done : 32 - lo;
        w = &words->w[bit / 32];
        *w = (uint32_t)facet_bits_set(*w, lo, part, value >> done);
        done += part;
    }
}

/* Whether the children of an instance are four boxes for one node whose number stands in their type
 * field, as GPURT writes them (12.8, R-G12-72); *root is then the ID of that node. `ray_root` is
 * the root that rays start at. */
bool facet_gfx12_instance_numbered(const struct facet_gfx12_instance *node,
                                   uint32_t ray_root,
                                   uint32_t *root);

/* Origin and exponents for n >= 1 child boxes (float bits); false when they are too wide. */
bool facet_gfx12_box_grid(struct facet_gfx12_box *box,
                          uint32_t lo[8][3],
                          uint32_t hi[8][3],
                          unsigned n);

/* First bit of the AABB of a procedural node: 52, or 160 as GPURT builds them (R-G12-21). */
int facet_gfx12_aabb_bit(const uint8_t node[128]);
/* Whether the AABB is a field of its own (bits 52..243) to encode; with index 15 for all three it
 * is part of `prefix` and `free_bits`, whichever place it has. */
bool facet_gfx12_prim_has_aabb(const struct facet_gfx12_prim *prim);

/* Header, descriptors and vertex count of a primitive node; the other members become 0. */
void facet_gfx12_prim_outline(const uint8_t node[128], struct facet_gfx12_prim *out);

#endif
