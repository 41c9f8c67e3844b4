/* AMD GFX12 ray tracing: the 128-byte BVH8 nodes, the two intersect instructions, the LDS stack
 * instructions and the traversal loop, bit for bit as spec/gfx12-semantics.md says.
 *
 * Everything here is a pure function over the caller's structs: no allocation, no global state, no
 * failure path for any bit pattern of a node or a ray (section 9.8). Floats that are stored in
 * nodes appear as their 32 bits, so that decoding and encoding never change a NaN. Section numbers
 * refer to spec/gfx12-semantics.md. */
#ifndef FACET_GFX12_H
#define FACET_GFX12_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Node IDs and base pointers (section 2) ---- */

#define FACET_GFX12_NODE_BYTES 128u

#define FACET_GFX12_INVALID UINT32_C(0xFFFFFFFF)  /* no node */
#define FACET_GFX12_TERMINAL UINT32_C(0xFFFFFFFE) /* the stack is empty */
#define FACET_GFX12_SKIP_0_3 UINT32_C(0xFFFFFFFD)
#define FACET_GFX12_SKIP_4_7 UINT32_C(0xFFFFFFFB)
#define FACET_GFX12_SKIP_0_7 UINT32_C(0xFFFFFFF9)
#define FACET_GFX12_RANGE UINT32_C(0xFFFFFFF8)          /* | navigation bits, 11.3 */
#define FACET_GFX12_FIRST_SENTINEL UINT32_C(0xFFFFFFF8) /* this and above is never fetched */
#define FACET_GFX12_ROOT UINT32_C(0x00000005)           /* box node at byte offset 0 */

enum facet_gfx12_type {
    FACET_GFX12_TYPE_BOX = 5,
    FACET_GFX12_TYPE_INSTANCE = 6,
};

enum facet_gfx12_kind {
    FACET_GFX12_KIND_NONE, /* types 4, 7, 12..15 and sentinels */
    FACET_GFX12_KIND_PRIMITIVE,
    FACET_GFX12_KIND_BOX,
    FACET_GFX12_KIND_INSTANCE,
};

/* Pointer flags, bits 63..54 of a base pointer as a ten-bit number (2.2). The API ray flags have
 * the same numbers, with bits 2 and 3 taken by the two that the hardware does not know. */
enum facet_gfx12_flags {
    FACET_GFX12_FORCE_OPAQUE = 1 << 0,
    FACET_GFX12_FORCE_NON_OPAQUE = 1 << 1,
    FACET_GFX12_DISABLE_TRIANGLE_CULL = 1 << 2,
    FACET_GFX12_FLIP_FACEDNESS = 1 << 3,
    FACET_GFX12_CULL_BACK_FACING = 1 << 4,
    FACET_GFX12_CULL_FRONT_FACING = 1 << 5,
    FACET_GFX12_CULL_OPAQUE = 1 << 6,
    FACET_GFX12_CULL_NON_OPAQUE = 1 << 7,
    FACET_GFX12_SKIP_TRIANGLES = 1 << 8,
    FACET_GFX12_SKIP_PROCEDURAL = 1 << 9,
};
#define FACET_GFX12_API_TERMINATE_ON_FIRST_HIT 0x4u
#define FACET_GFX12_API_SKIP_CLOSEST_HIT 0x8u

/* cull_flags of a box child: promises about its whole subtree (section 4). */
enum facet_gfx12_only {
    FACET_GFX12_ONLY_OPAQUE = 1 << 0,
    FACET_GFX12_ONLY_NON_OPAQUE = 1 << 1,
    FACET_GFX12_ONLY_TRIANGLES = 1 << 2,
    FACET_GFX12_ONLY_PROCEDURAL = 1 << 3,
};

enum facet_gfx12_kind facet_gfx12_id_kind(uint32_t id);
uint64_t facet_gfx12_id_offset(uint32_t id);    /* byte offset from the BVH base */
unsigned facet_gfx12_id_pair(uint32_t id);      /* pair index 0..7 of a primitive ID */
unsigned facet_gfx12_pair_type(unsigned pair);  /* type of the ID of pair 0..7 */
uint32_t facet_gfx12_id_next_pair(uint32_t id); /* 11.1: type 3 becomes 8 */
uint32_t facet_gfx12_id_make(uint64_t byte_offset, unsigned type);

uint64_t facet_gfx12_base_make(uint64_t byte_address, unsigned flags);
uint64_t facet_gfx12_base_address(uint64_t base); /* 48-bit byte address */
unsigned facet_gfx12_base_flags(uint64_t base);   /* ten bits */
unsigned facet_gfx12_api_flags(unsigned api);     /* api & 0x3F3 */
/* Base pointer of the BLAS below an instance: its pointer with the flags of the ray merged (2.3).
 */
uint64_t facet_gfx12_base_enter(uint64_t instance_pointer, uint64_t ray_base);

/* ---- Resource descriptor T# (section 3) ---- */

struct facet_gfx12_resource {
    uint64_t base_address; /* 40 bits, units of 256 bytes */
    uint64_t size;         /* 42 bits, last valid 64-byte index */
    uint16_t reserved_40;  /* bits 51..40; reserved fields are kept so that packing loses nothing */
    uint16_t reserved_106; /* bits 114..106 */
    uint8_t reserved_121;  /* bits 123..121 */
    uint8_t sort_triangles_first;
    uint8_t box_sorting_heuristic; /* 0 closest, 1 largest, 2 midpoint, 3 none */
    uint8_t box_grow_value;
    uint8_t box_sort_en;
    uint8_t compressed_format_en;
    uint8_t box_node_64B;
    uint8_t wide_sort_en;
    uint8_t instance_en;
    uint8_t pointer_flags;
    uint8_t triangle_return_mode;
    uint8_t type;
};

void facet_gfx12_resource_unpack(const uint32_t dwords[4], struct facet_gfx12_resource *out);
void facet_gfx12_resource_pack(const struct facet_gfx12_resource *in, uint32_t dwords[4]);
/* The descriptor of example 1: closest-first, triangles first, no growth, the whole address space.
 */
void facet_gfx12_resource_default(struct facet_gfx12_resource *out);

/* ---- Box node (section 4) ---- */

struct facet_gfx12_child {
    uint16_t min[3]; /* planes 0..4095 on the grid of the node */
    uint16_t max[3]; /* plane minus one */
    uint8_t cull_flags;
    uint8_t cull_mask;
    uint8_t node_type;
    uint8_t node_size; /* distance to the next child of the class, in nodes */
    uint8_t unused;    /* dword 0 bits 31..28 */
};

struct facet_gfx12_box {
    uint32_t internal_child_offset;  /* byte offset / 8 */
    uint32_t primitive_child_offset; /* byte offset / 8 */
    uint32_t parent;                 /* dword 2: unused by the instruction */
    uint32_t origin[3];              /* float bits */
    uint32_t obb_matrix_index;
    uint8_t exponent[3];
    uint8_t unused; /* dword 6 bits 27..24 */
    uint8_t child_count_minus_one;
    struct facet_gfx12_child child[8];
};

void facet_gfx12_box_decode(const uint8_t node[128], struct facet_gfx12_box *out);
void facet_gfx12_box_encode(const struct facet_gfx12_box *in, uint8_t node[128]);
/* The pattern of a slot that holds no child: FFFFFFFF 00000FFF 00000000. */
void facet_gfx12_child_unused(struct facet_gfx12_child *out);
/* IDs of `count` children (4.1); both offsets are 0 for an instance node. */
void facet_gfx12_child_ids(const struct facet_gfx12_child *child,
                           unsigned count,
                           uint32_t internal_offset,
                           uint32_t primitive_offset,
                           uint32_t *ids);

/* ---- Quantization (section 5), float bits in and out ---- */

/* Exponent of an axis with bounds lo <= hi; false when the extent is not finite or too large. */
bool facet_gfx12_quantize_exponent(uint32_t lo, uint32_t hi, uint8_t *exponent);
/* Planes of a child bound on an axis whose exponent is 0 or 13..254. */
uint16_t facet_gfx12_quantize_min(uint32_t bound, uint32_t origin, uint8_t exponent);
uint16_t facet_gfx12_quantize_max(uint32_t bound, uint32_t origin, uint8_t exponent);
/* Quantizes a child box, the inverted box included (min.x > max.x: planes 4095..0 and mask 0). Sets
 * min, max and, for an inverted box, cull_mask; the other fields are kept. */
void facet_gfx12_quantize_child(const uint32_t lo[3],
                                const uint32_t hi[3],
                                const uint32_t origin[3],
                                const uint8_t exponent[3],
                                struct facet_gfx12_child *child);
/* plane 0..4096 to float bits; larger planes are taken as 4096. */
uint32_t facet_gfx12_dequantize(uint32_t origin, uint8_t exponent, unsigned plane);
/* Decoded box of a child: planes min and max + 1 on each axis. */
void facet_gfx12_child_bounds(const struct facet_gfx12_child *child,
                              const uint32_t origin[3],
                              const uint8_t exponent[3],
                              uint32_t lo[3],
                              uint32_t hi[3]);

/* ---- Oriented boxes (section 6) ---- */

#define FACET_GFX12_OBB_COUNT 104u
#define FACET_GFX12_OBB_NONE 0x7Fu
/* Rotation matrix `index` as float bits, row major; false for an index above 103. */
bool facet_gfx12_obb_matrix(unsigned index, uint32_t rows[9]);

/* ---- Primitive node (section 7) ---- */

struct facet_gfx12_pair_tri {
    uint8_t index[3]; /* vertex numbers 0..15 */
    uint8_t opaque;
    uint8_t double_sided;
};

struct facet_gfx12_pair_desc {
    uint8_t prim_range_stop;
    struct facet_gfx12_pair_tri tri[2];
};

struct facet_gfx12_prim_header {
    uint8_t vertex_bits_minus_one[3];
    uint8_t trailing_zero_bits;
    uint8_t geometry_index_base_bits_div_2;
    uint8_t geometry_index_bits_div_2;
    uint8_t triangle_pair_count_minus_one;
    uint8_t vertex_type;
    uint8_t primitive_index_base_bits;
    uint8_t primitive_index_bits;
    uint16_t indices_midpoint;
};

/* The whole node. Vertices, payload slots and descriptors beyond those that exist are decoded too
 * (the instruction can name them) but not encoded. The fields may overlap in a malformed node;
 * decoding and encoding still give back the same 1024 bits, since bits that no field covers are
 * kept in `free_bits`. */
struct facet_gfx12_prim {
    struct facet_gfx12_prim_header header;
    uint32_t prefix[3];
    uint32_t payload[16][3];
    uint32_t geometry_base;
    uint32_t geometry_payload[16]; /* per triangle number; [0] is not stored */
    uint32_t primitive_base;
    uint32_t primitive_payload[16]; /* per triangle number; [0] is not stored */
    struct facet_gfx12_pair_desc pair[8];
    uint32_t aabb[6];       /* bits 52..243; stored if pair 0 tri 0 is procedural */
    uint32_t free_bits[32]; /* the image with every stored field cleared */
    uint8_t vertex_count;   /* vertices stored: 1 + the highest number that a triangle names */
};

void facet_gfx12_prim_decode(const uint8_t node[128], struct facet_gfx12_prim *out);
void facet_gfx12_prim_encode(const struct facet_gfx12_prim *in, uint8_t node[128]);

bool facet_gfx12_tri_absent(const struct facet_gfx12_pair_tri *tri);     /* indices 0,0,0 */
bool facet_gfx12_tri_procedural(const struct facet_gfx12_pair_tri *tri); /* v0 = v1 = 15 */
unsigned facet_gfx12_prim_pairs(const struct facet_gfx12_prim_header *header);
/* Width of the prefix of an axis: 32 - tz - vb, 0 where that is negative. */
unsigned facet_gfx12_prim_prefix_bits(const struct facet_gfx12_prim_header *header, unsigned axis);
/* Decompressed vertex 0..15 as float bits (7.2). */
void facet_gfx12_prim_vertex(const struct facet_gfx12_prim *prim, unsigned vertex, uint32_t xyz[3]);
/* Indices of triangle t = 2*pair + k, 0..15 (7.3). */
uint32_t facet_gfx12_prim_geometry(const struct facet_gfx12_prim *prim, unsigned t);
uint32_t facet_gfx12_prim_primitive(const struct facet_gfx12_prim *prim, unsigned t);
/* Bits that the node needs (7.5); it fits when the result is at most 1024. */
unsigned facet_gfx12_prim_bits(const struct facet_gfx12_prim_header *header, unsigned vertex_count);

/* One pair with everything the triangle test needs: what the instruction reads of a node. */
struct facet_gfx12_pair {
    uint32_t vertex[2][3][3]; /* triangle, corner, axis; float bits */
    uint32_t geometry_index[2];
    uint32_t primitive_index[2];
    struct facet_gfx12_pair_desc desc;
    uint8_t navigation; /* 3 stop, 1 last pair of the node, else 0 */
};
void facet_gfx12_pair_decode(const uint8_t node[128], unsigned pair, struct facet_gfx12_pair *out);

/* ---- Instance node (section 8) ---- */

struct facet_gfx12_instance {
    uint32_t world_to_object[12]; /* float bits, three rows (m0, m1, m2, translation) */
    uint64_t pointer;             /* base pointer of the BLAS; bit 62 is `aabbs` */
    uint32_t parent;              /* dword 14: unused by the instruction */
    uint32_t user_data;           /* 24 bits */
    uint8_t cull_mask;
    uint8_t exponent[3];
    uint32_t origin[3]; /* float bits */
    uint8_t unused;     /* dword 19 bits 27..24 */
    uint8_t child_count_minus_one;
    struct facet_gfx12_child child[4];
};

void facet_gfx12_instance_decode(const uint8_t node[128], struct facet_gfx12_instance *out);
void facet_gfx12_instance_encode(const struct facet_gfx12_instance *in, uint8_t node[128]);

#ifdef __cplusplus
}
#endif
#endif
