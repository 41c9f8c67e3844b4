/* Worked examples 1 to 17 of gfx12-semantics.md, every number of their tables. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "base/float.h"
#include "gfx12/image/node.h"
#include "gfx12/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "gfx12/record.h"

static uint8_t *image;

static struct facet_gfx12_unit unit_new(void)
{
    struct facet_gfx12_unit unit;
    if (image == NULL) {
        image = examples_new();
    }
    facet_gfx12_unit_init(&unit, image, EXAMPLES_SIZE);
    return unit;
}

static uint64_t with_flags(unsigned flags)
{
    return (uint64_t)flags << 54;
}

/* Runs intersect8 and compares all ten registers. */
static bool expect(const char *what,
                   const struct facet_gfx12_unit *unit,
                   uint64_t base,
                   uint32_t node,
                   struct facet_gfx12_ray ray,
                   const uint32_t want[10])
{
    uint32_t v[10];
    facet_gfx12_intersect8(unit, base, node, &ray, v);
    return check_words(what, v, want, 10);
}

/* The common case of a box node: the first slots, the rest INVALID. */
static bool expect_ids(const char *what,
                       const struct facet_gfx12_unit *unit,
                       uint64_t base,
                       uint32_t node,
                       struct facet_gfx12_ray ray,
                       const uint32_t *ids,
                       unsigned count)
{
    uint32_t want[10] = {INV, INV, INV, INV, INV, INV, INV, INV, INV, INV};
    memcpy(want, ids, count * sizeof ids[0]);
    return expect(what, unit, base, node, ray, want);
}
#define IDS(...)                                                                                   \
    (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

/* ---- example 1 ---- */

/* The row of a descriptor field. */
static const char *row_of_field(const char *name)
{
    static const char *const fields[][2] = {{"sort_triangles_first", "G12-169"},
                                            {"box_sorting_heuristic", "G12-170"},
                                            {"box_grow_value", "G12-171"},
                                            {"box_sort_en", "G12-172"},
                                            {"compressed_format_en", "G12-173"},
                                            {"wide_sort_en", "G12-174"},
                                            {"instance_en", "G12-175"},
                                            {"pointer_flags", "G12-176"},
                                            {"type", "G12-177"},
                                            {"base_address", "G12-178"},
                                            {"size", "G12-178"}};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i][0], name) == 0) {
            return fields[i][1];
        }
    }
    return "";
}

TEST(example_1_descriptor, "")
{
    struct facet_gfx12_resource r;
    uint32_t d[4];
    facet_gfx12_resource_default(&r);
    facet_gfx12_resource_pack(&r, d);
    check_words("default", d, (const uint32_t[]){0, 0x80100000, 0xFFFFFFFF, 0x81E803FF}, 4);
    r.box_sorting_heuristic = 1;
    r.box_grow_value = 6;
    facet_gfx12_resource_pack(&r, d);
    check_words("largest", d, (const uint32_t[]){0, 0x83300000, 0xFFFFFFFF, 0x81E803FF}, 4);
    facet_gfx12_resource_default(&r);
    r.compressed_format_en = 0;
    facet_gfx12_resource_pack(&r, d);
    check_words("dual", d, (const uint32_t[]){0, 0x80100000, 0xFFFFFFFF, 0x81E003FF}, 4);

    facet_gfx12_resource_unpack((const uint32_t[]){0, 0x83300000, 0xFFFFFFFF, 0x81E803FF}, &r);
    CHECK_ID("G12-178", r.base_address == 0);
    CHECK_ID("G12-169", r.sort_triangles_first == 1);
    CHECK_ID("G12-170", r.box_sorting_heuristic == 1);
    CHECK_ID("G12-171", r.box_grow_value == 6);
    CHECK_ID("G12-172", r.box_sort_en == 1);
    CHECK_ID("G12-178", r.size == (UINT64_C(1) << 42) - 1);
    CHECK_ID("G12-173", r.compressed_format_en == 1);
    CHECK_EQ(r.box_node_64B, 0);
    CHECK_ID("G12-174", r.wide_sort_en == 1);
    CHECK_ID("G12-175", r.instance_en == 1);
    CHECK_ID("G12-176", r.pointer_flags == 1);
    CHECK_EQ(r.triangle_return_mode, 1);
    CHECK_ID("G12-177", r.type == 8);
    /* One field after the other, at its own bits and nowhere else. */
#define ONE(name, member, at, width)                                                               \
    {                                                                                              \
        struct facet_gfx12_resource one;                                                           \
        uint32_t ones[4];                                                                          \
        memset(&one, 0, sizeof one);                                                               \
        harness_row(row_of_field(#name));                                                          \
        one.member = facet_bits_mask(width);                                                       \
        facet_gfx12_resource_pack(&one, ones);                                                     \
        for (int bit = 0; bit < 128; bit++) {                                                      \
            bool inside = bit >= (at) && bit < (at) + (width);                                     \
            CHECK_MSG((ones[bit / 32] >> (bit % 32) & 1) == inside, #name " bit %d", bit);         \
        }                                                                                          \
    }
    FACET_GFX12_RESOURCE_FIELDS(ONE)
#undef ONE
    harness_row("");
    for (unsigned n = 0; n < 10000; n++) {
        uint32_t in[4] = {random_bits(), random_bits(), random_bits(), random_bits()};
        facet_gfx12_resource_unpack(in, &r);
        facet_gfx12_resource_pack(&r, d);
        if (!check_words("round trip", d, in, 4)) {
            break;
        }
    }
}

/* ---- examples 2 and 3 ---- */

static struct facet_gfx12_ray ray_a(void)
{
    return ray_make(-1, 0.5f, 0.5f, 1, 0, 0);
}

static struct facet_gfx12_ray ray_b(void)
{
    return ray_make(1.25f, 4, -0.5f, 0.125f, -1, 0.25f);
}

static struct facet_gfx12_ray ray_c(void)
{
    return ray_make(1, 4, -0.5f, 0, -1, 0.25f);
}

/* The slab values of child i of the node of example 2. */
static struct facet_gfx12_slab slab_of(uint32_t offset, unsigned i, struct facet_gfx12_ray ray)
{
    struct facet_gfx12_box box;
    struct facet_gfx12_slab_ray sr;
    struct facet_gfx12_slab_box sb;
    uint32_t lo[3], hi[3];
    facet_gfx12_box_decode(image + offset, &box);
    facet_gfx12_child_bounds(&box.child[i], box.origin, box.exponent, lo, hi);
    memcpy(sb.lo, lo, sizeof lo);
    memcpy(sb.hi, hi, sizeof hi);
    facet_gfx12_slab_ray_init(&sr, ray.origin, ray.direction, ray.extent, 0);
    return facet_gfx12_slab_test(&sr, &sb);
}

static void check_slab(const char *what,
                       unsigned child,
                       struct facet_gfx12_ray ray,
                       uint32_t min_t,
                       uint32_t max_t,
                       bool hit)
{
    struct facet_gfx12_slab s = slab_of(0, child, ray);
    CHECK_MSG(facet_float_bits(s.min_t) == min_t && facet_float_bits(s.max_t) == max_t &&
                  s.hit == hit,
              "%s child %u: %08" PRIX32 " %08" PRIX32 " %d",
              what,
              child,
              facet_float_bits(s.min_t),
              facet_float_bits(s.max_t),
              s.hit);
}

TEST(example_2_quantized_boxes, "")
{
    (void)unit_new();
    static const float lo[3][3] = {{0, 0, 0}, {2, 0, 0}, {0.5f, 2, -1}};
    static const float hi[3][3] = {{1, 1, 1}, {3, 1.5f, 1}, {2.5f, 3, 0.25f}};
    static const uint16_t qmin[3][3] = {{0, 0, 2048}, {2048, 0, 2048}, {512, 2048, 0}};
    static const uint16_t qmax[3][3] = {{1023, 1023, 4095}, {3071, 1535, 4095}, {2559, 3071, 2559}};
    static const float node_lo[3] = {0, 0, -1}, node_hi[3] = {3, 3, 1};
    static const uint8_t flags[3] = {5, 6, 5}, mask[3] = {0xFF, 0xFF, 0x0F}, type[3] = {5, 5, 0};
    struct facet_gfx12_box box, made;
    uint8_t bytes[128];
    facet_gfx12_box_decode(image, &box);
    CHECK_ID("G12-004", box.internal_child_offset == 0x40);
    CHECK_ID("G12-006", box.primitive_child_offset == 0x80);
    CHECK_ID("G12-010", box.origin[0] == 0 && box.origin[2] == facet_float_bits(-1.0f));

    /* The same node made from its geometry. */
    memset(&made, 0, sizeof made);
    made.internal_child_offset = 0x40;
    made.primitive_child_offset = 0x80;
    made.parent = INV;
    made.obb_matrix_index = 0x7F;
    made.child_count_minus_one = 2;
    for (unsigned k = 0; k < 3; k++) {
        made.origin[k] = facet_float_bits(node_lo[k]);
        CHECK_ID("G12-187",
                 facet_gfx12_quantize_exponent(facet_float_bits(node_lo[k]),
                                               facet_float_bits(node_hi[k]),
                                               &made.exponent[k]) &&
                     made.exponent[k] == box.exponent[k]);
    }
    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&made.child[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        uint32_t l[3], h[3], dl[3], dh[3];
        made.child[i] = (struct facet_gfx12_child){
            .cull_flags = flags[i], .cull_mask = mask[i], .node_type = type[i], .node_size = 1};
        for (unsigned k = 0; k < 3; k++) {
            l[k] = facet_float_bits(lo[i][k]);
            h[k] = facet_float_bits(hi[i][k]);
        }
        facet_gfx12_quantize_child(l, h, made.origin, made.exponent, &made.child[i]);
        facet_gfx12_child_bounds(&box.child[i], box.origin, box.exponent, dl, dh);
        for (unsigned k = 0; k < 3; k++) {
            CHECK_ID("G12-040 G12-041", made.child[i].min[k] == qmin[i][k]);
            CHECK_ID("G12-040 G12-042", made.child[i].max[k] == qmax[i][k]);
            CHECK_ID("G12-043", dl[k] == l[k]);
            CHECK_ID("G12-044", dh[k] == h[k]);
        }
    }
    facet_gfx12_box_encode(&made, bytes);
    CHECK(memcmp(bytes, image, 128) == 0);

    uint32_t ids[3];
    facet_gfx12_child_ids(box.child, 3, 0x40, 0x80, ids);
    check_words("pointers", ids, (const uint32_t[]){0x45, 0x55, 0x80}, 3);
}

TEST(example_2_rays, "G12-001 G12-047 G12-195 G12-197 G12-210")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_ray ray = ray_a();
    uint32_t v[10];
    struct facet_gfx12_slab_ray sr;
    facet_gfx12_slab_ray_init(&sr, ray.origin, ray.direction, ray.extent, 0);
    CHECK_EQ(facet_float_bits(sr.inverse[0]), 0x3F800000);
    CHECK_EQ(facet_float_bits(sr.inverse[1]), 0x7F800000);
    CHECK_EQ(facet_float_bits(sr.inverse[2]), 0x7F800000);
    check_slab("A", 0, ray, 0x3F800000, 0x40000000, true);
    check_slab("A", 1, ray, 0x40400000, 0x40800000, true);
    check_slab("A", 2, ray, 0x7F800000, 0xFF800000, false);
    expect_ids("ray A", &unit, 0, 5, ray, IDS(0x45, 0x55));
    facet_gfx12_intersect8(&unit, 0, 5, &ray, v);
    check_ray(
        "ray A", &ray, (const uint32_t[]){0xBF800000, 0x3F000000, 0x3F000000, 0x3F800000, 0, 0});

    check_slab("B", 0, ray_b(), 0x40400000, 0xC0000000, false);
    check_slab("B", 1, ray_b(), 0x40C00000, 0x40800000, false);
    check_slab("B", 2, ray_b(), 0x3F800000, 0x40000000, true);
    expect_ids("ray B", &unit, 0, 5, ray_b(), IDS(0x80));

    check_slab("C", 0, ray_c(), 0x40400000, 0x40800000, true);
    check_slab("C", 1, ray_c(), 0x7F800000, 0x40800000, false);
    check_slab("C", 2, ray_c(), 0x3F800000, 0x40000000, true);
    expect_ids("ray C", &unit, 0, 5, ray_c(), IDS(0x80, 0x45));
}

TEST(example_3_early_culling, "")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_ray b = ray_b();
    b.instance_mask = 0xF0;
    harness_row("G12-185");
    expect_ids("mask 0xF0", &unit, 0, 5, b, IDS(INV));
    b.instance_mask = 0x08;
    expect_ids("mask 0x08", &unit, 0, 5, b, IDS(0x80));
    harness_row("G12-163 G12-180");
    expect_ids("CULL_OPAQUE", &unit, UINT64_C(0x1000000000000000), 5, ray_a(), IDS(0x55));
    expect_ids("CULL_OPAQUE on child 2", &unit, UINT64_C(0x1000000000000000), 5, ray_b(), IDS(INV));
    harness_row("G12-164 G12-181");
    expect_ids("CULL_NON_OPAQUE", &unit, UINT64_C(0x2000000000000000), 5, ray_a(), IDS(0x45));
    harness_row("G12-157 G12-184");
    expect_ids("force opaque", &unit, UINT64_C(0x1040000000000000), 5, ray_a(), IDS(INV));
    harness_row("G12-158 G12-184");
    expect_ids(
        "force non-opaque", &unit, UINT64_C(0x1080000000000000), 5, ray_a(), IDS(0x45, 0x55));
    harness_row("G12-165 G12-182");
    expect_ids("SKIP_TRIANGLES", &unit, UINT64_C(0x4000000000000000), 5, ray_a(), IDS(INV));
    harness_row("G12-166");
    expect_ids("SKIP_PROCEDURAL", &unit, UINT64_C(0x8000000000000000), 5, ray_a(), IDS(0x45, 0x55));
    harness_row("");
    CHECK_EQ(with_flags(0x041), UINT64_C(0x1040000000000000));
}

/* ---- example 4 ---- */

TEST(example_4_sorting, "")
{
    static const struct {
        const char *mode;
        uint8_t heuristic, sort, first, wide;
        enum facet_gfx12_profile profile;
        uint32_t v[8];
        const char *ids;
    } rows[] = {
        {"closest",
         0,
         1,
         1,
         1,
         FACET_GFX12_SILICON,
         {0x212, 0x201, 0x200, 0x135, 0x115, 0x125, 0x226, 0x105},
         "G12-048 G12-202 G12-206"},
        {"largest",
         1,
         1,
         1,
         1,
         FACET_GFX12_SILICON,
         {0x212, 0x201, 0x200, 0x115, 0x135, 0x105, 0x125, 0x226},
         "G12-170 G12-203"},
        {"midpoint",
         2,
         1,
         1,
         1,
         FACET_GFX12_SILICON,
         {0x212, 0x201, 0x200, 0x135, 0x125, 0x115, 0x226, 0x105},
         "G12-170 G12-204"},
        {"heuristic 3",
         3,
         1,
         1,
         1,
         FACET_GFX12_SILICON,
         {0x105, 0x115, 0x125, 0x135, 0x200, 0x201, 0x212, 0x226},
         "G12-205"},
        {"box_sort_en 0",
         0,
         0,
         1,
         1,
         FACET_GFX12_SILICON,
         {0x105, 0x115, 0x125, 0x135, 0x200, 0x201, 0x212, 0x226},
         "G12-172 G12-205"},
        {"triangles first 0",
         0,
         1,
         0,
         1,
         FACET_GFX12_SILICON,
         {0x135, 0x115, 0x212, 0x125, 0x226, 0x201, 0x105, 0x200},
         "G12-169 G12-206"},
        {"wide 0",
         0,
         1,
         1,
         0,
         FACET_GFX12_SILICON,
         {0x135, 0x115, 0x125, 0x105, 0x212, 0x201, 0x200, 0x226},
         "G12-174 G12-209"},
        {"midpoint, wide 0, stf 0",
         2,
         1,
         0,
         0,
         FACET_GFX12_SILICON,
         {0x135, 0x125, 0x115, 0x105, 0x212, 0x226, 0x201, 0x200},
         "G12-204 G12-209"},
        {"gpurt",
         0,
         1,
         1,
         1,
         FACET_GFX12_GPURT,
         {0x201, 0x212, 0x200, 0x135, 0x115, 0x125, 0x226, 0x105},
         "G12-207"},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct facet_gfx12_unit unit = unit_new();
        struct facet_gfx12_ray ray = ray_make(0, 0.5f, 0.5f, 1, 0, 0);
        ray.extent = 8.25f;
        unit.profile = rows[n].profile;
        unit.resource.box_sorting_heuristic = rows[n].heuristic;
        unit.resource.box_sort_en = rows[n].sort;
        unit.resource.sort_triangles_first = rows[n].first;
        unit.resource.wide_sort_en = rows[n].wide;
        harness_row(rows[n].ids);
        expect_ids(rows[n].mode, &unit, 0, 0x25, ray, rows[n].v, 8);
    }
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_ray ray = ray_make(0, 0.5f, 0.5f, 1, 0, 0);
    ray.extent = 7.5f;
    harness_row("G12-199");
    expect_ids(
        "extent 7.5", &unit, 0, 0x25, ray, IDS(0x212, 0x201, 0x135, 0x115, 0x125, 0x226, 0x105));
}

/* ---- example 5 ---- */

TEST(example_5_child_reuse, "G12-039 G12-200 G12-201")
{
    struct facet_gfx12_unit unit = unit_new();
    expect_ids(
        "first", &unit, 0, 0x35, ray_make(-1, 0.5f, 0.5f, 1, 0, 0), IDS(0x306, 0x306, 0x316));
    expect_ids("second", &unit, 0, 0x35, ray_make(2.5f, -1, 0.5f, 0, 1, 0), IDS(0x306));
    expect_ids("third", &unit, 0, 0x35, ray_make(-1, 0, 0.5f, 1, 0.75f, 0), IDS(0x306));
    expect_ids("last", &unit, 0, 0x35, ray_make(0.5f, 4, 0.5f, 0, -1, 0), IDS(0x306));
    /* Which slots are hit. */
    static const bool hits[4][4] = {{1, 0, 1, 1}, {0, 0, 1, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}};
    const struct facet_gfx12_ray rays[4] = {ray_make(-1, 0.5f, 0.5f, 1, 0, 0),
                                            ray_make(2.5f, -1, 0.5f, 0, 1, 0),
                                            ray_make(-1, 0, 0.5f, 1, 0.75f, 0),
                                            ray_make(0.5f, 4, 0.5f, 0, -1, 0)};
    for (unsigned r = 0; r < 4; r++) {
        for (unsigned i = 0; i < 4; i++) {
            CHECK_MSG(slab_of(0x180, i, rays[r]).hit == hits[r][i], "ray %u slot %u", r, i);
        }
    }
}

/* ---- example 6 ---- */

TEST(example_6_oriented_box, "G12-023 G12-024 G12-025 G12-026 G12-193")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_box box;
    uint32_t m[9], v[10];
    facet_gfx12_box_decode(image + 0x200, &box);
    CHECK_EQ(box.obb_matrix_index, 0x12);
    CHECK(facet_gfx12_obb_matrix(0x12, m));
    check_words(
        "matrix 0x12",
        m,
        (const uint32_t[]){0x3F3504F3, 0xBF3504F3, 0, 0x3F3504F3, 0x3F3504F3, 0, 0, 0, 0x3F800000},
        9);
    struct facet_gfx12_ray ray = ray_make(-3, 2, 0, 1, 0, 0);
    const uint32_t rows[12] = {m[0], m[1], m[2], 0, m[3], m[4], m[5], 0, m[6], m[7], m[8], 0};
    struct facet_gfx12_ray turned = ray;
    facet_gfx12_transform(rows, turned.origin, turned.direction);
    check_ray("turned",
              &turned,
              (const uint32_t[]){0xC0624630, 0xBF3504F3, 0, 0x3F3504F3, 0x3F3504F3, 0});
    struct facet_gfx12_slab s = slab_of(0x200, 0, turned);
    CHECK_EQ(facet_float_bits(s.min_t), 0x40657D86);
    CHECK_EQ(facet_float_bits(s.max_t), 0x3F96A09E);
    expect_ids("miss", &unit, 0, 0x45, ray, IDS(INV));

    ray = ray_make(-3, 0.5f, 0, 1, 0, 0);
    turned = ray;
    facet_gfx12_transform(rows, turned.origin, turned.direction);
    s = slab_of(0x200, 0, turned);
    CHECK(s.min_t == (float)2.323223352432251 && s.max_t == (float)2.676776647567749);
    expect_ids("OBB", &unit, 0, 0x45, ray, IDS(0x405));
    expect_ids("AABB", &unit, 0, 0x55, ray, IDS(INV));
    expect_ids("garbage above the index", &unit, 0, 0x65, ray, IDS(0x405));
    facet_gfx12_intersect8(&unit, 0, 0x45, &ray, v);
    check_ray("ray is not changed",
              &ray,
              (const uint32_t[]){0xC0400000, 0x3F000000, 0, 0x3F800000, 0, 0});
}

/* ---- example 7 ---- */

struct tri_row {
    const char *what;
    float ray[6];
    unsigned flags;
    enum facet_gfx12_profile profile;
    enum facet_gfx12_opaque_sense sense;
    uint8_t pointer_flags;
    uint32_t v[8];
    const char *ids; /* of v0..v3 */
};

#define FRONT                                                                                      \
    {                                                                                              \
        0.25f, 0.5f, 2, 0, 0, -1                                                                   \
    }
#define BACK                                                                                       \
    {                                                                                              \
        0.25f, 0.5f, -2, 0, 0, 1                                                                   \
    }
#define FAR                                                                                        \
    {                                                                                              \
        2, 2, 2, 0, 0, -1                                                                          \
    }
#define LEFT                                                                                       \
    {                                                                                              \
        -2, 2, 2, 0, 0, -1                                                                         \
    }
#define PLANE                                                                                      \
    {                                                                                              \
        -1, 0.25f, 0, 1, 0, 0                                                                      \
    }
#define HW FACET_GFX12_SILICON, FACET_GFX12_SENSE_HW, 1
#define RAW FACET_GFX12_SILICON, FACET_GFX12_SENSE_HW, 0
#define EMU FACET_GFX12_GPURT, FACET_GFX12_SENSE_HW, 1
#define ABSENT 0x7F800000, 0x7FC00000, 0xFFC00000, 0x12
#define ABSENT_FLIP 0x7F800000, 0x7FC00000, 0xFFC00000, 0x13
#define ABSENT_CULL 0x7F800000, 0x00000000, 0x80000000, 0x12
#define ABSENT_RAW 0x7F800000, 0xFFC00000, 0xFFC00000, 0x12
#define ABSENT_EMU 0x7F800000, 0x3F800000, 0x3F800000, 0
#define CULLED 0x7F800000, 0, 0, 0x12

static const struct tri_row example_7[] = {
    {"front", FRONT, 0, HW, {0x40000000, 0x3E800000, 0x3F000000, 0x12, ABSENT}, "G12-212 G12-220"},
    {"back", BACK, 0, HW, {0x40000000, 0x3E800000, 0x3F000000, 0x13, ABSENT}, "G12-220"},
    {"FLIP",
     FRONT,
     0x008,
     HW,
     {0x40000000, 0x3E800000, 0x3F000000, 0x13, ABSENT_FLIP},
     "G12-160 G12-220"},
    {"CULL_FRONT", FRONT, 0x020, HW, {CULLED, ABSENT_CULL}, "G12-162 G12-216"},
    {"CULL_FRONT + DISABLE",
     FRONT,
     0x024,
     HW,
     {0x40000000, 0x3E800000, 0x3F000000, 0x12, ABSENT},
     "G12-159 G12-222"},
    {"CULL_BACK", BACK, 0x010, HW, {CULLED, ABSENT}, "G12-161 G12-216"},
    {"FORCE_NON_OPAQUE",
     FRONT,
     0x002,
     HW,
     {0x40000000, 0x3E800000, 0xBF000000, 0x12, ABSENT},
     "G12-158 G12-224"},
    {"CULL_OPAQUE", FRONT, 0x040, HW, {CULLED, ABSENT}, "G12-163 G12-225"},
    {"SKIP_TRIANGLES", FRONT, 0x100, HW, {CULLED, ABSENT_CULL}, "G12-165"},
    {"miss", FAR, 0, HW, {0x7F800000, 0x40000000, 0x40000000, 0x12, ABSENT}, "G12-213"},
    {"miss, FLIP",
     FAR,
     0x008,
     HW,
     {0x7F800000, 0x40000000, 0x40000000, 0x13, ABSENT_FLIP},
     "G12-160 G12-213"},
    {"behind",
     {0.25f, 0.5f, -1, 0, 0, -1},
     0,
     HW,
     {0x7F800000, 0x3E800000, 0x3F000000, 0x12, ABSENT},
     "G12-213"},
    {"parallel", PLANE, 0, HW, {0x7F800000, 0x7FC00000, 0x7FC00000, 0x12, ABSENT}, "G12-226"},
    {"seed sense",
     FRONT,
     0,
     FACET_GFX12_SILICON,
     FACET_GFX12_SENSE_SEED,
     1,
     {0x40000000, 0x3E800000, 0xBF000000, 0x12, 0x7F800000, 0x7FC00000, 0x7FC00000, 0x12},
     "G12-108"},
    {"FORCE_NON_OPAQUE, pointer_flags 0",
     FRONT,
     0x002,
     RAW,
     {0x40000000, 0x3E800000, 0x3F000000, 0x12, ABSENT_RAW},
     "G12-176 G12-179 G12-228"},
    {"left", LEFT, 0, HW, {0x7F800000, 0x40000000, 0x40000000, 0x12, ABSENT}, "G12-106 G12-213"},
    {"left, pointer_flags 0",
     LEFT,
     0,
     RAW,
     {0x7F800000, 0xC0000000, 0x40000000, 0x12, ABSENT_RAW},
     "G12-214 G12-228"},
    {"miss, gpurt", FAR, 0, EMU, {0x7F800000, 0x40000000, 0x40000000, 0x12, ABSENT_EMU}, ""},
    {"parallel, gpurt",
     PLANE,
     0,
     EMU,
     {0xFFC00000, 0x7FC00000, 0x7FC00000, 0x12, ABSENT_EMU},
     "G12-226"},
    /* Beyond the table of the example, from its rules. */
    {"FLIP, pointer_flags 0",
     FRONT,
     0x008,
     RAW,
     {0x40000000, 0x3E800000, 0x3F000000, 0x12, ABSENT_RAW},
     "G12-179"},
    {"FLIP + CULL_BACK",
     FRONT,
     0x018,
     HW,
     {CULLED, 0x7F800000, 0x00000000, 0x80000000, 0x12},
     "G12-221"},
    {"both force bits: opaque",
     FRONT,
     0x003,
     HW,
     {0x40000000, 0x3E800000, 0x3F000000, 0x12, 0x7F800000, 0x7FC00000, 0x7FC00000, 0x12},
     "G12-224"},
    {"back-facing miss",
     {2, 2, -2, 0, 0, 1},
     0,
     HW,
     {0x7F800000, 0x40000000, 0x40000000, 0x13, ABSENT},
     "G12-214"},
    {"back-facing miss, gpurt: numerators",
     {2, 2, -2, 0, 0, 1},
     0,
     EMU,
     {0x7F800000, 0x40000000, 0x40000000, 0x12, ABSENT_EMU},
     "G12-215"},
    {"miss with FLIP, gpurt",
     FAR,
     0x008,
     EMU,
     {0x7F800000, 0x40000000, 0x40000000, 0x13, ABSENT_EMU},
     "G12-215"},
    /* det = 2: numerators and quotients differ. */
    {"undivided numerators, gpurt",
     {2, 2, 2, 0, 0, -2},
     0,
     EMU,
     {0x7F800000, 0x40800000, 0x40800000, 0x12, ABSENT_EMU},
     "G12-215"},
    {"quotients, silicon",
     {2, 2, 2, 0, 0, -2},
     0,
     HW,
     {0x7F800000, 0x40000000, 0x40000000, 0x12, ABSENT},
     "G12-214"},
};

TEST(example_7_triangle, "")
{
    for (size_t n = 0; n < sizeof example_7 / sizeof example_7[0]; n++) {
        const struct tri_row *row = &example_7[n];
        struct facet_gfx12_unit unit = unit_new();
        struct facet_gfx12_ray ray =
            ray_make(row->ray[0], row->ray[1], row->ray[2], row->ray[3], row->ray[4], row->ray[5]);
        uint32_t want[10], v[10];
        unit.profile = row->profile;
        unit.opaque_sense = row->sense;
        unit.resource.pointer_flags = row->pointer_flags;
        memcpy(want, row->v, sizeof row->v);
        want[8] = want[9] = 0x17;
        facet_gfx12_intersect8(&unit, with_flags(row->flags), 0x80, &ray, v);
        harness_row(row->ids);
        check_words(row->what, v, want, 4);
        harness_row(row->profile == FACET_GFX12_GPURT ? "G12-218"
                    : row->pointer_flags == 0         ? "G12-217 G12-227"
                                                      : "G12-217");
        check_words(row->what, v + 4, want + 4, 4); /* the second triangle is absent */
        harness_row("");
        check_words(row->what, v + 8, want + 8, 2);
        CHECK_ID("G12-104", v[0] == want[0]);
        CHECK_ID("G12-105", v[1] << 1 == want[1] << 1);
        CHECK_ID("G12-106", v[1] >> 31 == want[1] >> 31);
        CHECK_ID("G12-107", v[2] << 1 == want[2] << 1);
        CHECK_ID("G12-108", v[2] >> 31 == want[2] >> 31);
        CHECK_ID("G12-109", v[3] == want[3]);
        harness_row("G12-235");
        ray.extent = 1.0f;
        expect("extent 1.0", &unit, with_flags(row->flags), 0x80, ray, want);
    }
}

TEST(example_7_layout, "G12-090 G12-097 G12-219")
{
    (void)unit_new();
    struct facet_gfx12_prim p;
    facet_gfx12_prim_decode(image + 0x400, &p);
    CHECK_EQ(p.header.trailing_zero_bits, 23);
    CHECK_EQ(facet_gfx12_prim_prefix_bits(&p.header, 0), 2);
    CHECK_EQ(facet_gfx12_prim_prefix_bits(&p.header, 1), 2);
    CHECK_EQ(facet_gfx12_prim_prefix_bits(&p.header, 2), 8);
    CHECK_EQ(p.header.vertex_bits_minus_one[0], 6);
    CHECK_EQ(p.header.vertex_bits_minus_one[1], 6);
    CHECK_EQ(p.header.vertex_bits_minus_one[2], 0);
    CHECK_EQ(p.vertex_count, 3);
    CHECK_EQ(p.header.geometry_index_base_bits_div_2, 2);
    CHECK_EQ(p.header.geometry_index_bits_div_2, 0);
    CHECK_EQ(p.header.primitive_index_base_bits, 4);
    CHECK_EQ(p.header.primitive_index_bits, 0);
    CHECK_EQ(p.header.indices_midpoint, 991);
    CHECK_EQ(facet_gfx12_prim_bits(&p.header, p.vertex_count), 146);
    CHECK_EQ(p.pair[0].prim_range_stop, 1);
    CHECK_EQ(p.pair[0].tri[0].opaque, 1);
    CHECK(facet_gfx12_tri_absent(&p.pair[0].tri[1]));
    CHECK_EQ(p.geometry_base, 5);
    CHECK_EQ(p.primitive_base, 9);
    static const float corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t xyz[3];
        facet_gfx12_prim_vertex(&p, i, xyz);
        for (unsigned k = 0; k < 3; k++) {
            CHECK_EQ(xyz[k], facet_float_bits(corner[i][k]));
        }
    }
    struct facet_gfx12_words words;
    facet_gfx12_words_load(&words, image + 0x400);
    CHECK_EQ(facet_gfx12_bits_get(&words, 995, 29), 0x04210001);
}

/* ---- example 8 ---- */

TEST(example_8_bit_table, "")
{
    (void)unit_new();
    struct facet_gfx12_words words;
    struct facet_gfx12_prim p;
    facet_gfx12_words_load(&words, image + 0x480);
    facet_gfx12_prim_decode(image + 0x480, &p);
    harness_row("G12-051");
    CHECK_EQ(p.header.vertex_bits_minus_one[0], 2);
    CHECK_EQ(p.header.vertex_bits_minus_one[1], 1);
    CHECK_EQ(p.header.vertex_bits_minus_one[2], 3);
    CHECK_EQ(p.header.trailing_zero_bits, 20);
    CHECK_EQ(p.header.geometry_index_base_bits_div_2, 1);
    CHECK_EQ(p.header.geometry_index_bits_div_2, 1);
    CHECK_EQ(p.header.triangle_pair_count_minus_one, 2);
    CHECK_EQ(p.header.vertex_type, 0);
    CHECK_ID("G12-067", p.header.primitive_index_base_bits == 10);
    CHECK_ID("G12-068", p.header.primitive_index_bits == 3);
    CHECK_ID("G12-069", p.header.indices_midpoint == 912);
    CHECK_EQ(facet_gfx12_prim_bits(&p.header, 7), 266);
    CHECK_EQ(p.vertex_count, 7);
    harness_row("G12-052 G12-075");
    CHECK_EQ(facet_gfx12_prim_prefix_bits(&p.header, 0), 9);
    CHECK_EQ(facet_gfx12_prim_prefix_bits(&p.header, 1), 10);
    CHECK_EQ(facet_gfx12_prim_prefix_bits(&p.header, 2), 8);
    CHECK_EQ(p.prefix[0], 0x7F);
    CHECK_EQ(p.prefix[1], 0x100);
    CHECK_EQ(p.prefix[2], 0x3F);
    static const struct {
        int at;
        unsigned width;
        uint32_t value;
        const char *ids;
    } raw[] = {
        {0, 5, 2, "G12-051 G12-060"},
        {5, 5, 1, "G12-051 G12-060"},
        {10, 5, 3, "G12-051 G12-060"},
        {15, 5, 20, "G12-051"},
        {20, 4, 1, "G12-051 G12-062"},
        {24, 4, 1, "G12-051 G12-064"},
        {28, 3, 2, "G12-051"},
        {31, 1, 0, "G12-051"},
        {32, 5, 10, "G12-067"},
        {37, 5, 3, "G12-068"},
        {42, 10, 912, "G12-069 G12-070"},
        {52, 9, 0x7F, "G12-051 G12-052 G12-075"},
        {61, 10, 0x100, "G12-052 G12-075"},
        {71, 8, 0x3F, "G12-052 G12-075"},
        {900, 2, 0, "G12-079"},
        {902, 2, 3, "G12-079"},
        {904, 2, 2, "G12-079"},
        {906, 2, 3, "G12-079"},
        {908, 2, 3, "G12-079"},
        {910, 2, 3, "G12-070 G12-078"},
        {912, 10, 1000, "G12-070 G12-083"},
        {922, 3, 1, "G12-084"},
        {925, 3, 6, "G12-084"},
        {928, 3, 7, "G12-084"},
        {931, 3, 3, "G12-084"},
        {934, 3, 0, "G12-084"},
        {937, 29, 0x0C478000, "G12-054 G12-055"},
        {966, 29, 0x0A831289, "G12-054 G12-055"},
        {995, 29, 0x04211904, "G12-054 G12-055"},
    };
    for (size_t n = 0; n < sizeof raw / sizeof raw[0]; n++) {
        harness_row(raw[n].ids);
        CHECK_MSG(facet_gfx12_bits_get(&words, raw[n].at, raw[n].width) == raw[n].value,
                  "bits at %d",
                  raw[n].at);
    }
    harness_row("G12-077"); /* vertices end at 141, geometry indices begin at 900 */
    for (int bit = 142; bit < 900; bit++) {
        CHECK_EQ(facet_gfx12_bits_get(&words, bit, 1), 0);
    }
    static const uint32_t payload[7][3] = {
        {0, 0, 0}, {2, 0, 0}, {2, 1, 4}, {0, 1, 4}, {4, 0, 2}, {4, 1, 4}, {1, 2, 8}};
    static const float vertex[7][3] = {{1, 2, 0.5f},
                                       {1.25f, 2, 0.5f},
                                       {1.25f, 2.25f, 0.75f},
                                       {1, 2.25f, 0.75f},
                                       {1.5f, 2, 0.625f},
                                       {1.5f, 2.25f, 0.75f},
                                       {1.125f, 2.5f, 1}};
    for (unsigned i = 0; i < 7; i++) {
        uint32_t xyz[3];
        int at = 79 + 9 * (int)i;
        facet_gfx12_prim_vertex(&p, i, xyz);
        for (unsigned k = 0; k < 3; k++) {
            static const unsigned width[3] = {3, 2, 4};
            static const char *const axis[3] = {"G12-072", "G12-073", "G12-074"};
            CHECK_ID("G12-053 G12-060 G12-077",
                     facet_gfx12_bits_get(&words, at, width[k]) == payload[i][k]);
            at += (int)width[k];
            CHECK_ID("G12-053 G12-071", p.payload[i][k] == payload[i][k]);
            CHECK_ID(axis[k], xyz[k] == facet_float_bits(vertex[i][k]));
        }
    }
    static const uint32_t geometry[6] = {3, 3, 3, 2, 3, 0};
    static const uint32_t primitive[6] = {1000, 1001, 1006, 1007, 1003, 1000};
    for (unsigned t = 0; t < 6; t++) {
        CHECK_ID("G12-062 G12-064 G12-078 G12-079 G12-081",
                 facet_gfx12_prim_geometry(&p, t) == geometry[t]);
        CHECK_ID(t == 0 ? "G12-083" : "G12-084 G12-087",
                 facet_gfx12_prim_primitive(&p, t) == primitive[t]);
    }
    harness_row("G12-054 G12-055");
    static const bool stop[3] = {0, 1, 0};
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(p.pair[i].prim_range_stop, stop[i]);
    }
    CHECK_EQ(p.pair[2].tri[0].double_sided, 1);
    CHECK(facet_gfx12_tri_absent(&p.pair[2].tri[1]));
    harness_row("G12-101"); /* of the second triangle of pair 0: 0, 2, 3 */
    CHECK_EQ(p.pair[0].tri[1].index[0], 0);
    CHECK_EQ(p.pair[0].tri[1].index[1], 2);
    CHECK_EQ(p.pair[0].tri[1].index[2], 3);
}

TEST(example_8_rays, "")
{
    struct facet_gfx12_unit unit = unit_new();
    static const struct {
        uint32_t node;
        float x, y;
        uint32_t v[10];
    } rows[] = {
        {0x90,
         1.1875f,
         2.0625f,
         {0x405C0000,
          0x3F000000,
          0x3E800000,
          0x7D0,
          0x7F800000,
          0x3F400000,
          0x3F000000,
          0x7D2,
          0xC,
          0xC}},
        {0x90,
         1.0625f,
         2.125f,
         {0x7F800000,
          0x3E800000,
          0x3F000000,
          0x7D0,
          0x40580000,
          0x3E800000,
          0x3E800000,
          0x7D2,
          0xC,
          0xC}},
        {0x91,
         1.4375f,
         2.0625f,
         {0x40580000,
          0x3F000000,
          0x3E800000,
          0x7DC,
          0x7F800000,
          0x3F400000,
          0xBF000000,
          0x7DE,
          0xF,
          0xB}},
        {0x92,
         1.125f,
         2.375f,
         {0x40480000,
          0x3E800000,
          0x3F000000,
          0x7D6,
          0x7F800000,
          0x7FC00000,
          0xFFC00000,
          0x7D0,
          0xD,
          0x1}},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct facet_gfx12_ray ray = ray_make(rows[n].x, rows[n].y, 4, 0, 0, -1);
        uint32_t v[10];
        facet_gfx12_intersect8(&unit, 0, rows[n].node, &ray, v);
        harness_row("");
        check_words("example 8", v, rows[n].v, 10);
        CHECK_ID("G12-110", v[4] == rows[n].v[4]);
        CHECK_ID("G12-111", v[5] << 1 == rows[n].v[5] << 1);
        CHECK_ID("G12-113", v[6] << 1 == rows[n].v[6] << 1);
        CHECK_ID("G12-114", v[6] >> 31 == rows[n].v[6] >> 31);
        CHECK_ID("G12-115", v[7] == rows[n].v[7]);
        CHECK_ID("G12-116", v[8] == rows[n].v[8]);
        CHECK_ID("G12-117", v[9] == rows[n].v[9]);
        CHECK_ID(rows[n].node == 0x90   ? "G12-121"
                 : rows[n].node == 0x91 ? "G12-123"
                                        : "G12-122",
                 (v[8] & 3) == (rows[n].v[8] & 3) && (v[9] & 3) == (rows[n].v[9] & 3));
        if (rows[n].node == 0x90) {
            CHECK_ID("G12-080", v[8] >> 2 == 3);
            CHECK_ID("G12-085", v[3] >> 1 == 1000);
        }
        if (n == 1) { /* inside 0, 2, 3 and no other triangle */
            CHECK_ID("G12-101", v[4] == 0x40580000);
        }
    }
    harness_row("G12-223"); /* pair 2 is double sided: face culling leaves it alone */
    uint32_t v[10];
    struct facet_gfx12_ray ray = ray_make(1.125f, 2.375f, 4, 0, 0, -1);
    facet_gfx12_intersect8(&unit,
                           with_flags(FACET_GFX12_CULL_FRONT_FACING | FACET_GFX12_CULL_BACK_FACING),
                           0x92,
                           &ray,
                           v);
    CHECK_EQ(v[0], 0x40480000);
    ray = ray_make(1.1875f, 2.0625f, 4, 0, 0, -1);
    facet_gfx12_intersect8(&unit, with_flags(FACET_GFX12_CULL_FRONT_FACING), 0x90, &ray, v);
    CHECK_EQ(v[0], 0x7F800000);
}

/* ---- examples 9 and 10 ---- */

TEST(example_9_radv_layout, "G12-070 G12-076")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_words words;
    facet_gfx12_words_load(&words, image + 0x500);
    CHECK_EQ(facet_gfx12_bits_get(&words, 148, 32), 0x3F800000); /* vertex 1 x */
    CHECK_EQ(facet_gfx12_bits_get(&words, 42, 10), 384);
    expect("front ray",
           &unit,
           0,
           0xA0,
           ray_make(0.25f, 0.5f, 2, 0, 0, -1),
           (const uint32_t[]){0x40000000,
                              0x3E800000,
                              0x3F000000,
                              0x12,
                              0x7F800000,
                              0x7FC00000,
                              0xFFC00000,
                              0,
                              0x17,
                              3});
}

TEST(example_10_procedural, "")
{
    struct facet_gfx12_unit unit = unit_new();
    static const struct {
        const char *what;
        unsigned flags;
        uint32_t v[10];
        const char *ids;
    } rows[] = {
        {"none",
         0,
         {0, 0xBF800000, 0xBF800000, 0x9A4, 0x7F800000, 0x7FC00000, 0xFFC00000, 0x9A4, 0x1B, 0x1B},
         "G12-102 G12-236"},
        {"SKIP_PROCEDURAL",
         0x200,
         {0x7F800000,
          0xBF800000,
          0xBF800000,
          0x9A4,
          0x7F800000,
          0x7FC00000,
          0xFFC00000,
          0x9A4,
          0x1B,
          0x1B},
         "G12-166 G12-237"},
        {"CULL_NON_OPAQUE",
         0x080,
         {0x7F800000, 0xBF800000, 0xBF800000, 0x9A4, 0x7F800000, 0, 0x80000000, 0x9A4, 0x1B, 0x1B},
         "G12-164 G12-225 G12-237"},
        {"FORCE_OPAQUE",
         0x001,
         {0, 0xBF800000, 0x3F800000, 0x9A4, 0x7F800000, 0x7FC00000, 0x7FC00000, 0x9A4, 0x1B, 0x1B},
         "G12-157"},
        {"SKIP_TRIANGLES",
         0x100,
         {0, 0xBF800000, 0xBF800000, 0x9A4, 0x7F800000, 0, 0x80000000, 0x9A4, 0x1B, 0x1B},
         "G12-165"},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct facet_gfx12_ray ray = ray_a();
        uint32_t v[10];
        facet_gfx12_intersect8(&unit, with_flags(rows[n].flags), 0xB0, &ray, v);
        harness_row(rows[n].ids);
        check_words(rows[n].what, v, rows[n].v, 3);
        harness_row("");
        check_words(rows[n].what, v, rows[n].v, 10);
        CHECK_ID("G12-106", v[1] >> 31 == 1);
        CHECK_ID("G12-118", v[3] == 0x9A4);
        CHECK_ID("G12-119", v[8] == 0x1B);
        CHECK_ID("G12-120", v[9] == 0x1B);
    }
    struct facet_gfx12_prim p;
    static const float aabb[6] = {-1, -2, -3, 1, 2, 3};
    facet_gfx12_prim_decode(image + 0x580, &p);
    CHECK_ID("G12-102", facet_gfx12_tri_procedural(&p.pair[0].tri[0]));
    harness_row("G12-238");
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(p.aabb[i], facet_float_bits(aabb[i]));
    }
    harness_row("");
    CHECK_EQ(facet_gfx12_prim_geometry(&p, 0), 6);
    CHECK_EQ(facet_gfx12_prim_primitive(&p, 0), 1234);
}

/* ---- example 11 ---- */

TEST(example_11_instance, "")
{
    struct facet_gfx12_unit unit = unit_new();
    static const uint32_t moved[6] = {0, 0, 0x40E00000, 0x3E000000, 0x3D800000, 0xC0000000};
    static const uint32_t same[6] = {
        0x40800000, 0xBF000000, 0x40400000, 0x3E800000, 0x3E000000, 0xBF800000};
    static const uint32_t moved_40[6] = {
        0x41900000, 0, 0x40E00000, 0x3E000000, 0x3D800000, 0xC0000000};
    static const struct {
        const char *what;
        float x;
        unsigned flags;
        uint32_t mask, v3, v7;
        const uint32_t *ray;
        const char *ids;
    } rows[] = {
        {"visible", 4, 0, 0xFF, 0x82000000, 0xFFFFFF05, moved, "G12-239 G12-240 G12-242"},
        {"FORCE_OPAQUE|CULL_BACK",
         4,
         0x011,
         0xFF,
         0x86400000,
         0xFFFFFF05,
         moved,
         "G12-145 G12-167"},
        {"mask", 4, 0, 0xC3, 0x82000000, INV, same, "G12-132 G12-241"},
        {"SKIP_TRIANGLES", 4, 0x100, 0xFF, 0xC2000000, INV, same, "G12-128 G12-241"},
        {"child missed", 40, 0, 0xFF, 0x82000000, INV, moved_40, "G12-239 G12-240"},
        {"SKIP_PROCEDURAL does not matter",
         4,
         0x200,
         0xFF,
         0x82000000,
         0xFFFFFF05,
         moved,
         "G12-128"},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        uint32_t v[10];
        uint32_t want[10] = {INV, INV, 0x4000, rows[n].v3, INV, INV, 0xBEEF, rows[n].v7, INV, INV};
        struct facet_gfx12_ray ray = ray_make(rows[n].x, -0.5f, 3, 0.25f, 0.125f, -1);
        ray.instance_mask = rows[n].mask;
        facet_gfx12_intersect8(&unit, with_flags(rows[n].flags), 0xC6, &ray, v);
        harness_row(rows[n].ids);
        CHECK_EQ(v[3], want[3]);
        CHECK_EQ(v[7], want[7]);
        check_ray(rows[n].what, &ray, rows[n].ray);
        CHECK_ID("G12-144", v[2] == 0x4000);
        CHECK_ID("G12-145", v[3] == want[3]);
        CHECK_ID("G12-146", (v[6] & 0xFFFFFF) == 0xBEEF);
        CHECK_ID("G12-151", v[6] >> 24 == 0);
        CHECK_ID("G12-147", (v[7] & 0xFF) == (want[7] & 0xFF));
        harness_row("G12-244");
        for (unsigned i = 0; i < 10; i++) {
            CHECK(want[i] != INV || v[i] == INV);
        }
    }
    struct facet_gfx12_instance node;
    static const float matrix[12] = {0.5f, 0, 0, -2, 0, 0.5f, 0, 0.25f, 0, 0, 2, 1};
    facet_gfx12_instance_decode(image + 0x600, &node);
    harness_row("G12-124");
    for (unsigned i = 0; i < 12; i++) {
        CHECK_EQ(node.world_to_object[i], facet_float_bits(matrix[i]));
    }
    harness_row("G12-125");
    CHECK_EQ(node.pointer, UINT64_C(0x8200000000004000));
    harness_row("G12-126");
    CHECK_EQ(facet_gfx12_base_address(node.pointer), 0x20000);
    harness_row("");
    CHECK_EQ(facet_gfx12_base_flags(node.pointer),
             FACET_GFX12_FLIP_FACEDNESS | FACET_GFX12_SKIP_PROCEDURAL);
    harness_row("G12-131");
    CHECK_EQ(node.user_data, 0xBEEF);
    harness_row("G12-132");
    CHECK_EQ(node.cull_mask, 0x3C);
    for (unsigned k = 0; k < 3; k++) { /* at their bytes, which hold the same numbers */
        static const char *const origins[] = {"G12-133", "G12-134", "G12-135"};
        static const char *const exponents[] = {"G12-137", "G12-138", "G12-139"};
        struct facet_gfx12_instance one;
        uint8_t changed[128];

        CHECK_ID(origins[k], node.origin[k] == 0xBF800000);
        CHECK_ID(exponents[k], node.exponent[k] == 0x80);
        memcpy(changed, image + 0x600, 128);
        changed[64 + 4 * k] ^= 0x55;
        changed[76 + k] ^= 0x55;
        facet_gfx12_instance_decode(changed, &one);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_ID(origins[k], one.origin[i] == (i == k ? 0xBF800055 : 0xBF800000));
            CHECK_ID(exponents[k], one.exponent[i] == (i == k ? 0xD5 : 0x80));
        }
    }
    harness_row("");

    /* Variations: aabbs, bit 63, the origin. */
    uint8_t copy[128], bytes[128];
    memcpy(copy, image + 0x600, 128);
    struct facet_gfx12_instance other = node;
    static const struct {
        bool aabbs, bit63;
        unsigned flags;
        bool culled;
    } skip[] = {
        {1, 1, 0x200, 1},
        {1, 1, 0x100, 0},
        {0, 1, 0x100, 1},
        {0, 0, 0x100, 1},
        {0, 0, 0x200, 0},
        {1, 0, 0x200, 1},
        {1, 0, 0x100, 0},
    };
    for (size_t n = 0; n < sizeof skip / sizeof skip[0]; n++) {
        uint32_t v[10];
        struct facet_gfx12_ray ray = ray_make(4, -0.5f, 3, 0.25f, 0.125f, -1);
        harness_row(skip[n].bit63 == 0 ? "G12-127 G12-128 G12-129" : "G12-127 G12-128");
        other = node;
        other.pointer &= UINT64_MAX >> 2;
        other.pointer |= (uint64_t)skip[n].aabbs << 62 | (uint64_t)skip[n].bit63 << 63;
        facet_gfx12_instance_encode(&other, bytes);
        memcpy(image + 0x600, bytes, 128);
        facet_gfx12_intersect8(&unit, with_flags(skip[n].flags), 0xC6, &ray, v);
        CHECK_MSG((v[7] == INV) == skip[n].culled, "aabbs row %zu: v7 %08" PRIX32, n, v[7]);
    }
    for (unsigned k = 0; k < 3; k++) {
        uint32_t v[10];
        struct facet_gfx12_ray ray = ray_make(4, -0.5f, 3, 0.25f, 0.125f, -1);
        harness_row("G12-136");
        other = node;
        other.origin[k] = facet_float_bits(99.0f);
        facet_gfx12_instance_encode(&other, image + 0x600);
        facet_gfx12_intersect8(&unit, 0, 0xC6, &ray, v);
        CHECK_EQ(v[7], INV);
    }
    memcpy(image + 0x600, copy, 128);
}

/* ---- example 13 ---- */

TEST(example_13_lds_stack, "G12-249 G12-250 G12-251")
{
#define NONE INV, INV, INV, INV, INV, INV, INV, INV
    static const struct {
        uint32_t in, last, data[8], out, result;
    } rows[] = {
        {0x00200000, INV, {0x105, 0x115, 0x125, INV, INV, INV, INV, INV}, 0x00200842, 0x105},
        {0x00200842, INV, {0x206, 0x20C0, INV, INV, INV, INV, INV, INV}, 0x20200C03, 0x206},
        {0x20200C03, INV, {INV, INV, INV, INV, INV, INV, 0xFFFFFFF9, 5}, 0x20200C03, 5},
        {0x20200C03, 0xFFFFFFF8, {1, 2, 3, 4, 5, 6, 7, 0x403}, 0x20200C03, 0x408},
        {0x20200C03, 0xFFFFFFF9, {1, 2, 3, 4, 5, 6, 7, 0x408}, 0x20200C03, 0x410},
        {0x20200C03, 0xFFFFFFFB, {1, 2, 3, 4, 5, 6, 7, 0x410}, 0x80200802, 0x20C0},
        {0x80200802, INV, {NONE}, 0x00200401, 0x115},
        {0x00200401, INV, {NONE}, 0x00200000, 0x125},
        {0x00200000, INV, {NONE}, 0x00200000, 0xFFFFFFFE},
    };
    uint32_t dwords[2048] = {0};
    struct facet_gfx12_lds lds = {dwords, 2048, 16, true};
    uint32_t address = facet_gfx12_stack_init(0x40);
    CHECK_EQ(address, 0x00200000);
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        CHECK_EQ(address, rows[n].in);
        uint32_t result = facet_gfx12_stack_push8_pop1(&lds, &address, rows[n].last, rows[n].data);
        CHECK_MSG(address == rows[n].out && result == rows[n].result,
                  "row %zu: %08" PRIX32 " %08" PRIX32,
                  n,
                  address,
                  result);
    }
}

/* ---- example 14 ---- */

TEST(example_14_dual, "G12-002 G12-245")
{
    struct facet_gfx12_unit unit = unit_new();
    uint32_t v[10];
    unit.resource.compressed_format_en = 0;
    struct facet_gfx12_ray ray = ray_make(-5, 0.5f, 0.5f, 1, 0, 0);
    facet_gfx12_intersect_dual(&unit, 0, 0xE5, 0xF1, &ray, v);
    check_words(
        "first",
        v,
        (const uint32_t[]){
            0x108, 0x11D, 0x105, INV, 0x7F800000, 0x3F800000, 0x3F000000, 0x3F000000, INV, 3},
        10);
    check_ray(
        "first", &ray, (const uint32_t[]){0xC0A00000, 0x3F000000, 0x3F000000, 0x3F800000, 0, 0});
    ray = ray_make(0.75f, 0.5f, 2, 0, 0, -1);
    facet_gfx12_intersect_dual(&unit, 0, 0xE5, 0xF1, &ray, v);
    check_words("second",
                v,
                (const uint32_t[]){
                    0x105, INV, INV, INV, 0x40000000, 0x3F800000, 0x3E800000, 0x3E800000, INV, 3},
                10);
    check_ray(
        "second", &ray, (const uint32_t[]){0x3F400000, 0x3F000000, 0x40000000, 0, 0, 0xBF800000});
}

/* ---- example 15 ---- */

TEST(example_15_dequantization, "G12-019 G12-187 G12-188 G12-190 G12-191")
{
    static const struct {
        uint32_t origin;
        uint8_t exponent;
        unsigned plane;
        uint32_t decoded;
    } rows[] = {
        {0, 0x00, 4096, 0},
        {0, 0x0C, 1, 0},
        {0, 0x0C, 2048, 0x05800000},
        {0, 0x0D, 1, 0x00800000},
        {0, 0x0D, 4096, 0x06800000},
        {0, 0x7F, 1, 0x39800000},
        {0, 0x7F, 4095, 0x3F7FF000},
        {0, 0x7F, 4096, 0x3F800000},
        {0x3F800000, 0x7F, 1, 0x3F800800},
        {0x4B800000, 0x7F, 4096, 0x4B800000},
        {0x4B800000, 0x80, 4096, 0x4B800001},
        {0xBDCCCCCD, 0x98, 4096, 0x4C000000},
        {0, 0xFE, 4096, 0x7F000000},
        {0, 0xFF, 4096, 0x7F800000},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        CHECK_EQ(facet_gfx12_dequantize(rows[n].origin, rows[n].exponent, rows[n].plane),
                 rows[n].decoded);
    }
    uint8_t e = 1;
    CHECK(facet_gfx12_quantize_exponent(0xBDCCCCCD, 0x4C000000, &e));
    CHECK_EQ(e, 0x99);
    CHECK(facet_gfx12_quantize_exponent(0, 0x3F800000, &e));
    CHECK_EQ(e, 0x7F);
    CHECK(facet_gfx12_quantize_exponent(0, 0x3F800001, &e));
    CHECK_EQ(e, 0x80);
    CHECK(facet_gfx12_quantize_exponent(0x40A00000, 0x40A00000, &e));
    CHECK_EQ(e, 0);
    for (unsigned p = 0; p <= 4096; p += 64) {
        CHECK_EQ(facet_gfx12_dequantize(0x40A00000, 0, p), 0x40A00000);
    }
    CHECK(facet_gfx12_quantize_exponent(0, 0x03800000, &e)); /* 2^-120 */
    CHECK_EQ(e, 13);
    CHECK(facet_gfx12_quantize_exponent(0, 0x00000001, &e));
    CHECK_EQ(e, 13);
    CHECK(facet_gfx12_quantize_exponent(0, 0x7F000000, &e)); /* 2^127 */
    CHECK_EQ(e, 254);
    CHECK(!facet_gfx12_quantize_exponent(0, 0x7F000001, &e));
    CHECK(!facet_gfx12_quantize_exponent(0xFF7FFFFF, 0x7F7FFFFF, &e));
    CHECK(!facet_gfx12_quantize_exponent(0, 0x7F800000, &e));
    CHECK(!facet_gfx12_quantize_exponent(0x7FC00000, 0, &e));
    CHECK(!facet_gfx12_quantize_exponent(0x3F800000, 0, &e));
}

/* ---- examples 16 and 17 ---- */

TEST(example_16_box_growth, "G12-171 G12-198")
{
    struct facet_gfx12_unit unit = unit_new();
    static const struct {
        uint8_t grow;
        uint32_t factor, v0;
    } rows[] = {{0, 0x3F800000, INV},
                {1, 0x3F800000, INV},
                {2, 0x3F800001, 0x105},
                {3, 0x3F800002, 0x105},
                {6, 0x3F800003, 0x105},
                {255, 0x3F800080, 0x105}};
    const struct facet_gfx12_ray ray = ray_make(0, 0, 0, 1, 1, 0);
    struct facet_gfx12_slab s = slab_of(0x800, 0, ray);
    CHECK_EQ(facet_float_bits(s.min_t), 0x3F800001);
    CHECK_EQ(facet_float_bits(s.max_t), 0x3F800000);
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct facet_gfx12_slab_ray sr;
        facet_gfx12_slab_ray_init(&sr, ray.origin, ray.direction, ray.extent, rows[n].grow);
        CHECK_EQ(facet_float_bits(sr.grow), rows[n].factor);
        unit.resource.box_grow_value = rows[n].grow;
        expect_ids("grow", &unit, 0, 0x105, ray, &rows[n].v0, 1);
    }
}

static uint32_t
instance_v7(const struct facet_gfx12_unit *unit, unsigned flags, struct facet_gfx12_ray ray)
{
    uint32_t v[10];
    facet_gfx12_intersect8(unit, with_flags(flags), 0x116, &ray, v);
    return v[7];
}

TEST(example_17_four_children, "")
{
    struct facet_gfx12_unit unit = unit_new();
    const struct facet_gfx12_ray right = ray_make(-1, 0.5f, 0.5f, 1, 0, 0);
    CHECK_ID("G12-143", instance_v7(&unit, 0, right) == 0x15051800);
    CHECK_ID("G12-148", (instance_v7(&unit, 0, right) >> 8 & 0xFF) == 0x18);
    CHECK_ID("G12-149", (instance_v7(&unit, 0, right) >> 16 & 0xFF) == 0x05);
    CHECK_ID("G12-150", instance_v7(&unit, 0, right) >> 24 == 0x15);
    CHECK_EQ(instance_v7(&unit, 0, ray_make(9, 0.5f, 0.5f, -1, 0, 0)), 0x05150018);
    CHECK_ID("G12-243", instance_v7(&unit, 0x040, right) == 0xFF051800);
    CHECK_EQ(instance_v7(&unit, 0, ray_make(-1, 5, 0.5f, 1, 0, 0)), INV);
    unit.profile = FACET_GFX12_GPURT; /* does not test the flags of the children */
    CHECK_EQ(instance_v7(&unit, 0x040, right), 0x15051800);
    unit.profile = FACET_GFX12_SILICON;

    struct facet_gfx12_instance node;
    uint8_t copy[128];
    memcpy(copy, image + 0x880, 128);
    facet_gfx12_instance_decode(copy, &node);
    CHECK_ID("G12-141", node.child_count_minus_one == 3);
    for (unsigned i = 0; i < 4; i++) { /* one bit of each child's first dword, at byte 80 + 12 i */
        struct facet_gfx12_instance one;
        uint8_t changed[128];
        memcpy(changed, copy, 128);
        changed[80 + 12 * i] ^= 1;
        facet_gfx12_instance_decode(changed, &one);
        for (unsigned k = 0; k < 4; k++) {
            bool same = one.child[k].min[0] == node.child[k].min[0];
            CHECK_ID("G12-142", same == (k != i));
        }
    }
    static const struct {
        uint8_t field;
        uint32_t v7;
    } counts[] = {{0, 0xFFFFFF05},
                  {1, 0xFFFF0500},
                  {3, 0x15051800},
                  {5, 0xFFFF0500},
                  {7, 0x15051800},
                  {15, 0x15051800}};
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        harness_row(counts[n].field < 4 ? "G12-141" : "G12-262");
        node.child_count_minus_one = counts[n].field;
        facet_gfx12_instance_encode(&node, image + 0x880);
        CHECK_EQ(instance_v7(&unit, 0, right), counts[n].v7);
        struct facet_gfx12_instance again;
        facet_gfx12_instance_decode(image + 0x880, &again);
        CHECK_EQ(again.child_count_minus_one, counts[n].field);
    }
    memcpy(image + 0x880, copy, 128);
}
