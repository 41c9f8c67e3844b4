/* AMD GFX12 ray tracing: the 128-byte BVH8 nodes, the two intersect instructions, the LDS stack
 * instructions and the traversal loop, bit for bit as spec/gfx12-semantics.md says; and, at the
 * end, the machine that executes the instructions one by one.
 *
 * Everything before the machine is a pure function over the caller's structs: no allocation, no
 * global state, no failure path for any bit pattern of a node or a ray (section 9.8). Floats that
 * are stored in nodes appear as their 32 bits, so that decoding and encoding never change a NaN.
 * Section numbers refer to spec/gfx12-semantics.md. */
#ifndef FACET_GFX12_H
#define FACET_GFX12_H

#include <facet/error.h>
#include <facet/machine.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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

/* The low three bits of the ID of a node that is no primitive node. */
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

/* Descriptor of a pair. */
struct facet_gfx12_pair_desc {
    uint8_t prim_range_stop;
    struct facet_gfx12_pair_tri tri[2];
};

/* The first 52 bits of a primitive node. */
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
    uint32_t aabb[6];       /* of a procedural primitive. Bits 52..243, stored where pair 0 tri 0
                               is procedural and its third index is not 15; where that is 15, bits
                               160..351 if GPURT built it (R-G12-21), and only decoded */
    uint32_t free_bits[32]; /* the image with every stored field cleared */
    uint8_t vertex_count;   /* vertices stored: 1 + the highest number that a triangle names */
};

/* A primitive node from its bytes, and back. */
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

/* An instance node from its bytes, and back. */
void facet_gfx12_instance_decode(const uint8_t node[128], struct facet_gfx12_instance *out);
void facet_gfx12_instance_encode(const struct facet_gfx12_instance *in, uint8_t node[128]);

/* ---- Four-wide nodes of the earlier generation, read by the dual instruction (section 10) ---- */

struct facet_gfx12_box4 { /* FP32: 128 bytes; FP16: 64 bytes */
    uint32_t child[4];    /* IDs */
    uint32_t lo[4][3];    /* float bits; a binary16 box is converted exactly */
    uint32_t hi[4][3];
    uint8_t flags[4];   /* as cull_flags; a binary16 box has none */
    uint32_t unused[3]; /* dwords 29..31 */
};
struct facet_gfx12_tri4 {  /* 64 bytes */
    uint32_t vertex[4][3]; /* float bits */
    uint32_t primitive_index[2];
    uint32_t geometry_index;
    uint32_t triangle_id; /* one byte per triangle */
};
void facet_gfx12_box4_decode(const uint8_t node[128], struct facet_gfx12_box4 *out);
void facet_gfx12_box4_encode(const struct facet_gfx12_box4 *in, uint8_t node[128]);
void facet_gfx12_box4_decode_half(const uint8_t node[64], struct facet_gfx12_box4 *out);
/* Bounds must be binary16 values; others lose their low bits. */
void facet_gfx12_box4_encode_half(const struct facet_gfx12_box4 *in, uint8_t node[64]);
void facet_gfx12_tri4_decode(const uint8_t node[64], struct facet_gfx12_tri4 *out);
void facet_gfx12_tri4_encode(const struct facet_gfx12_tri4 *in, uint8_t node[64]);

/* ---- The instructions (sections 9 and 10) ---- */

enum facet_gfx12_profile {
    FACET_GFX12_SILICON, /* as the published cases of a gfx1200 card */
    FACET_GFX12_GPURT,   /* as AMD's emulation */
};
enum facet_gfx12_opaque_sense {
    FACET_GFX12_SENSE_HW,   /* bit 31 of v2 and v6: 1 = not opaque */
    FACET_GFX12_SENSE_SEED, /* bit 31 of v2 and v6: 1 = opaque */
};

/* A piece of an image whose pieces lie apart from each other. */
struct facet_gfx12_segment {
    uint64_t address; /* 48 bits, a multiple of 64 */
    uint64_t offset;  /* of its first byte in the bytes of all pieces, a multiple of 64 */
    uint64_t size;
    const char *name;     /* of the file it came from, for messages; may be NULL */
    uint64_t file_offset; /* of its first byte there */
};

/* What the instructions see besides their registers: memory, descriptor and model options. The
 * image occupies guest bytes [image_address, image_address + image_size), or those of its segments,
 * and must outlive the unit; a node outside it, or outside what the descriptor allows, reads as "no
 * node". */
struct facet_gfx12_unit {
    const uint8_t *image;
    uint64_t image_address;
    uint64_t image_size;
    struct facet_gfx12_resource resource;
    enum facet_gfx12_profile profile;
    enum facet_gfx12_opaque_sense opaque_sense;
    /* Called for every read of the image, in order; may be NULL. The tracers over decoded nodes
     * do not read the image. */
    void (*fetched)(void *context, uint64_t address, const uint8_t *data, uint64_t bytes);
    void *fetched_context;
    /* The pieces of the image in the order of their addresses, none overlapping. Without them it is
     * in one piece at image_address. */
    const struct facet_gfx12_segment *segments;
    uint64_t segment_count;
};

/* An image at address 0 with the descriptor of example 1 and the default options. */
void facet_gfx12_unit_init(struct facet_gfx12_unit *unit, const uint8_t *image, uint64_t size);
/* `bytes` bytes at `offset` from the BVH base; NULL when out of range (section 3). */
const uint8_t *facet_gfx12_unit_fetch(const struct facet_gfx12_unit *unit,
                                      uint64_t bvh_base,
                                      uint64_t offset,
                                      uint64_t bytes);

struct facet_gfx12_ray {
    float origin[3];
    float direction[3];
    float extent;
    uint32_t instance_mask; /* bits 7..0 */
};

/* image_bvh8_intersect_ray: fills v0..v9; changes ray->origin and ray->direction only for a visible
 * instance node. */
void facet_gfx12_intersect8(const struct facet_gfx12_unit *unit,
                            uint64_t bvh_base,
                            uint32_t node,
                            struct facet_gfx12_ray *ray,
                            uint32_t v[10]);
/* image_bvh_dual_intersect_ray. */
void facet_gfx12_intersect_dual(const struct facet_gfx12_unit *unit,
                                uint64_t bvh_base,
                                uint32_t node0,
                                uint32_t node1,
                                struct facet_gfx12_ray *ray,
                                uint32_t v[10]);

/* ---- Instruction words (9.1, section 10, 11.3 and 11.5) ---- */

struct facet_gfx12_vimage {
    bool dual;        /* image_bvh_dual_intersect_ray */
    uint8_t vdata;    /* first of ten result registers */
    uint8_t vaddr[5]; /* first registers: base (2), extent and mask (2), origin (3), direction (3),
                         node (1, dual 2) */
    uint8_t rsrc;     /* first of four scalar registers, a multiple of 4 */
};
void facet_gfx12_vimage_encode(const struct facet_gfx12_vimage *in, uint32_t words[3]);
/* false when the words are neither instruction or set a bit that must be 0. */
bool facet_gfx12_vimage_decode(const uint32_t words[3], struct facet_gfx12_vimage *out);
/* "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]"; spaces and
 * case do not matter. */
enum facet_status
facet_gfx12_vimage_parse(const char *text, struct facet_gfx12_vimage *out, struct facet_error *err);
/* Like snprintf: returns the length, never writes past text[size - 1]. */
size_t facet_gfx12_vimage_print(const struct facet_gfx12_vimage *in, char *text, size_t size);

struct facet_gfx12_ds {
    bool pop2;       /* ds_bvh_stack_push8_pop2_rtn_b64 */
    uint8_t vdst;    /* the next node; pop2: first of two registers */
    uint8_t addr;    /* state of the stack, in and out */
    uint8_t data0;   /* the last node */
    uint8_t data1;   /* first of eight registers: v0..v7 of the intersect instruction */
    uint8_t offset0; /* bits 4..0: entries of the stack */
    uint8_t offset1; /* bit 1: primitive ranges */
};
void facet_gfx12_ds_encode(const struct facet_gfx12_ds *in, uint32_t words[2]);
/* false when the words are neither instruction or a range of registers passes v255. */
bool facet_gfx12_ds_decode(const uint32_t words[2], struct facet_gfx12_ds *out);
/* "ds_bvh_stack_push8_pop1_rtn_b32 v20, v22, v21, v[0:7], 16, 2"; spaces and case do not matter. */
enum facet_status
facet_gfx12_ds_parse(const char *text, struct facet_gfx12_ds *out, struct facet_error *err);
size_t facet_gfx12_ds_print(const struct facet_gfx12_ds *in, char *text, size_t size);

/* ---- LDS stack instructions (11.3, 11.5) ---- */

/* LDS is `lds_dwords` dwords; accesses beyond it read 0 and write nothing (R-G12-63). stack_size is
 * OFFSET0[4:0]; useful values are 8..31, others keep to the arithmetic. */
struct facet_gfx12_lds {
    uint32_t *dwords;
    uint32_t count;
    uint8_t stack_size;
    bool primitive_range; /* OFFSET1[1] */
};
uint32_t facet_gfx12_stack_init(uint32_t base_dword); /* initial address operand */
/* ds_bvh_stack_push8_pop1_rtn_b32: updates *address, returns the next node. */
uint32_t facet_gfx12_stack_push8_pop1(const struct facet_gfx12_lds *lds,
                                      uint32_t *address,
                                      uint32_t last,
                                      const uint32_t data[8]);
/* ds_bvh_stack_push8_pop2_rtn_b64: the two next nodes; the starred rules of 11.3 do not apply. */
void facet_gfx12_stack_push8_pop2(const struct facet_gfx12_lds *lds,
                                  uint32_t *address,
                                  uint32_t last,
                                  const uint32_t data[8],
                                  uint32_t result[2]);

/* ---- Traversal (section 11) ---- */

/* A candidate or committed hit. */
struct facet_gfx12_hit {
    bool found;
    bool procedural;
    bool opaque;
    bool backface;
    float t, u, v;
    uint32_t primitive_index;
    uint32_t geometry_index;
    uint32_t node;               /* ID of the primitive node and pair, relative to `base` */
    uint64_t base;               /* base pointer that the node was fetched with */
    uint32_t instance;           /* ID of the instance node, INVALID outside instances */
    uint32_t instance_user_data; /* 24 bits, 0 outside instances */
};

/* What a callback says about a hit that is not opaque. */
enum facet_gfx12_verdict {
    FACET_GFX12_IGNORE,
    FACET_GFX12_ACCEPT,
    FACET_GFX12_ACCEPT_AND_STOP,
};

/* Any member may be NULL. */
struct facet_gfx12_callbacks {
    void *context;
    /* Every node that is visited, with its result registers, in order. */
    void (*visit)(void *context, uint64_t base, uint32_t node, const uint32_t v[10]);
    /* A non-opaque candidate inside (t_min, t_cur); without the callback it is accepted. */
    enum facet_gfx12_verdict (*any_hit)(void *context, const struct facet_gfx12_hit *candidate);
    /* A visible procedural primitive: `ray` is in the space of its node, `node` its 128 bytes, and
     * candidate->t is t_min. To report a hit set candidate->t (and u, v) and return true; t must
     * then pass the interval test.
     * Without the callback procedural primitives are not hit. */
    bool (*procedural)(void *context,
                       const struct facet_gfx12_ray *ray,
                       const uint8_t node[128],
                       struct facet_gfx12_hit *candidate);
};

struct facet_gfx12_query {
    float origin[3];
    float direction[3];
    float t_min, t_max;
    uint32_t api_flags; /* ray flags of 2.2; FACET_GFX12_API_TERMINATE_ON_FIRST_HIT is honoured */
    uint32_t instance_mask;
    uint64_t address;   /* byte address of the acceleration structure */
    uint32_t root;      /* usually FACET_GFX12_ROOT */
    uint64_t max_steps; /* nodes visited before giving up; 0 means 2^24 */
    struct facet_gfx12_callbacks callbacks;
};

/* A ray from t_min 0 to +inf with mask 0xFF into the structure at address 0. */
void facet_gfx12_query_init(struct facet_gfx12_query *query,
                            const float origin[3],
                            const float direction[3]);

struct facet_gfx12_stats {
    uint64_t steps; /* intersect instructions */
    uint64_t boxes, primitives, instances;
    uint64_t walk_backs; /* hardware-style loop: parents revisited after a stack overflow */
    uint64_t pushes;     /* reference loop: entries put on the stack */
    uint32_t max_depth;  /* reference loop: deepest stack */
    uint32_t lost_walks; /* hardware-style loop: walks back from a node that names no box as its
                            parent; what was on the stack below is lost */
};

/* The reference loop (11.1), stack as deep as needed. FACET_ERR_LIMIT when max_steps is reached (a
 * cycle in the image), FACET_ERR_MEMORY when the stack cannot grow; *hit is then the best so far.
 * stats and err may be NULL. */
enum facet_status facet_gfx12_trace(const struct facet_gfx12_unit *unit,
                                    const struct facet_gfx12_query *query,
                                    struct facet_gfx12_hit *hit,
                                    struct facet_gfx12_stats *stats,
                                    struct facet_error *err);
/* The hardware-style loop (11.4) with an LDS stack of 8..31 entries. Needs parent IDs in the nodes,
 * one child per instance, sort_triangles_first and heuristic 0 or 2. */
enum facet_status facet_gfx12_trace_lds(const struct facet_gfx12_unit *unit,
                                        const struct facet_gfx12_query *query,
                                        unsigned stack_size,
                                        struct facet_gfx12_hit *hit,
                                        struct facet_gfx12_stats *stats,
                                        struct facet_error *err);

/* ---- The machine (11.6, R-G12-69) ----
 *
 * A wave of up to 32 lanes. A lane is a core: vector registers v0..v255, scalar registers s0..s107
 * (the lane's own copy), pc, and the variables of the traversal loop by name (t_cur, inst, hit_t,
 * ...). One step is one instruction of one lane; lanes take turns. Space 0 holds the BVH image, LDS
 * and the code. An instruction's results are reported to an observer whether they change or not;
 * what it hands back (ray, stack state) and what the loop does, only where it changes. */

#define FACET_GFX12_LANES 32u
#define FACET_GFX12_LDS_BASE (UINT64_C(1) << 48) /* beyond every address that a BVH can have */
#define FACET_GFX12_LDS_BYTES 65536u
#define FACET_GFX12_CODE_BASE (UINT64_C(2) << 48)
#define FACET_GFX12_CODE_BYTES 65536u
#define FACET_GFX12_IMAGE_BYTES (UINT64_C(64) << 20)
#define FACET_GFX12_STACK_ENTRIES 16u

/* Registers in which facet_gfx12_start leaves a ray, and which the built-in program uses. */
enum facet_gfx12_register {
    FACET_GFX12_V_RESULT = 0,     /* v0..v9 of the intersect instruction */
    FACET_GFX12_V_BASE = 10,      /* bvh_base, 2 */
    FACET_GFX12_V_EXTENT = 12,    /* extent, instance mask */
    FACET_GFX12_V_ORIGIN = 14,    /* 3 */
    FACET_GFX12_V_DIRECTION = 17, /* 3 */
    FACET_GFX12_V_NODE = 20,
    FACET_GFX12_V_LAST = 21,  /* INVALID at the start, so v[20:21] suit the dual instruction too */
    FACET_GFX12_V_STACK = 22, /* state of the LDS stack; lane n has the dwords n, n + 32, ... */
    FACET_GFX12_S_RESOURCE = 0, /* s0..s3: the descriptor T# */
};

/* Zeros are the defaults. Passed with its size, as facet/version.h explains. */
struct facet_gfx12_config {
    uint32_t lanes;         /* 1..32; 0: 1 */
    uint32_t stack_entries; /* of the built-in program, 8..31; 0: 16 */
    uint64_t image_base;    /* of the region "bvh"; a multiple of 64 */
    uint64_t image_bytes;   /* 0: 64 MiB; ends at 2^48 at the latest */
    uint32_t resource[4];   /* T#; four zeros: that of facet_gfx12_resource_default */
    enum facet_gfx12_profile profile;
    enum facet_gfx12_opaque_sense opaque_sense;
};

/* Causes of FACET_STOP_FAULT. */
enum facet_gfx12_cause {
    FACET_GFX12_ILLEGAL = 1, /* not one of the four instructions; value: its first dword */
    FACET_GFX12_NO_CODE = 2, /* pc is not inside the program; value: pc */
    FACET_GFX12_ENDLESS = 3, /* max_steps of the query (R-G12-65); value: the next node */
};

enum facet_gfx12_lane_state {
    FACET_GFX12_LANE_IDLE, /* never started */
    FACET_GFX12_LANE_RUNS,
    FACET_GFX12_LANE_ENDED,
};

/* Passed with its size, as facet/version.h explains; hits and stats keep theirs. */
struct facet_gfx12_lane {
    enum facet_gfx12_lane_state state;
    struct facet_gfx12_hit hit;     /* the best so far */
    struct facet_gfx12_stats stats; /* of the loop */
};

/* The image arrives by facet_machine_write into space 0. The built-in program is the loop of 11.4.
 * config may be NULL. */
enum facet_status facet_gfx12_create_sized(const struct facet_gfx12_config *config,
                                           size_t config_size,
                                           facet_machine **out,
                                           struct facet_error *err);
static inline enum facet_status facet_gfx12_create(const struct facet_gfx12_config *config,
                                                   facet_machine **out,
                                                   struct facet_error *err)
{
    return facet_gfx12_create_sized(config, sizeof *config, out, err);
}
/* Another program, `count` dwords, for all lanes: started ones begin again. `loop`: the rules of
 * 11.4 around the instructions, and back to the first after the last; without it a lane ends after
 * the last instruction, and only the instructions do anything. */
enum facet_status facet_gfx12_set_program(facet_machine *machine,
                                          const uint32_t *words,
                                          size_t count,
                                          bool loop,
                                          struct facet_error *err);
/* Gives a ray to a lane, which runs from then on. A machine has no callbacks: those of the query
 * must be NULL, so non-opaque hits are accepted and procedural primitives are not hit. */
enum facet_status facet_gfx12_start(facet_machine *machine,
                                    uint32_t lane,
                                    const struct facet_gfx12_query *query,
                                    struct facet_error *err);
enum facet_status facet_gfx12_read_lane_sized(const facet_machine *machine,
                                              uint32_t lane,
                                              struct facet_gfx12_lane *out,
                                              size_t out_size,
                                              struct facet_error *err);
static inline enum facet_status facet_gfx12_read_lane(const facet_machine *machine,
                                                      uint32_t lane,
                                                      struct facet_gfx12_lane *out,
                                                      struct facet_error *err)
{
    return facet_gfx12_read_lane_sized(machine, lane, out, sizeof *out, err);
}
/* "illegal instruction", ...; never NULL. */
const char *facet_gfx12_cause_name(uint64_t cause);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
