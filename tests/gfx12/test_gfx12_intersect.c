/* image_bvh8_intersect_ray and image_bvh_dual_intersect_ray: the rules that the worked examples do
 * not pin down alone, the published cases, and instruction words. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "base/file.h"
#include "base/float.h"
#include "documents/gfx12_vectors.h"
#include "gfx12/pack.h"
#include "gfx12/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "gfx12/record.h"

#define NODES 64

static uint8_t image[NODES * 128];

static struct facet_gfx12_unit unit_new(void)
{
    struct facet_gfx12_unit unit;
    uint8_t *examples = examples_new();
    memcpy(image, examples, sizeof image);
    free(examples);
    facet_gfx12_unit_init(&unit, image, sizeof image);
    return unit;
}

static void put(uint32_t offset, unsigned dword, uint32_t value)
{
    facet_store_le32(image + offset + (size_t)4 * dword, value);
}

static uint32_t get(uint32_t offset, unsigned dword)
{
    return facet_load_le32(image + offset + (size_t)4 * dword);
}

struct result {
    uint32_t v[10];
    struct facet_gfx12_ray ray;
};

static struct result run_at(const struct facet_gfx12_unit *unit,
                            uint64_t base,
                            uint32_t node,
                            struct facet_gfx12_ray ray)
{
    struct result r = {.ray = ray};
    facet_gfx12_intersect8(unit, base, node, &r.ray, r.v);
    return r;
}

static bool same(const struct result *a, const struct result *b)
{
    return memcmp(a->v, b->v, sizeof a->v) == 0 && memcmp(&a->ray, &b->ray, sizeof a->ray) == 0;
}

static bool all_invalid(const struct result *r, const struct facet_gfx12_ray *before)
{
    for (unsigned i = 0; i < 10; i++) {
        if (r->v[i] != INV) {
            return false;
        }
    }
    return memcmp(&r->ray, before, sizeof *before) == 0;
}

static struct facet_gfx12_ray ray_a(void)
{
    return ray_make(-1, 0.5f, 0.5f, 1, 0, 0);
}

/* ---- published cases ---- */

static const struct facet_doc_gfx12_vectors *published(void)
{
    static struct facet_doc_gfx12_vectors vectors;
    struct facet_bytes bytes;
    struct facet_error err = {0};
    if (vectors.cases == NULL &&
        CHECK(facet_file_read(SPEC_DIR "/gfx12-silicon.json", 1 << 20, &bytes, &err) == FACET_OK)) {
        CHECK_MSG(facet_doc_gfx12_vectors_parse(
                      "gfx12-silicon.json", bytes.data, bytes.size, &vectors, &err) == FACET_OK,
                  "%s",
                  err.message);
        free(bytes.data);
    }
    return &vectors;
}

static void check_published(const char *name)
{
    const struct facet_doc_gfx12_vectors *vectors = published();
    bool found = false;
    for (size_t i = 0; i < vectors->count; i++) {
        if (strcmp(vectors->cases[i].name, name) == 0) {
            struct facet_doc_gfx12_vector_result r;
            found = true;
            facet_doc_gfx12_vector_run(&vectors->cases[i], FACET_GFX12_SILICON, &r);
            check_words(name, r.dword, vectors->cases[i].expected, 10);
            CHECK(r.pass);
        }
    }
    CHECK_MSG(found, "there is no case %s", name);
}

#define PUBLISHED(case_name, name, ids)                                                            \
    TEST(published_##case_name, ids)                                                               \
    {                                                                                              \
        check_published(name);                                                                     \
    }
PUBLISHED(all_hit, "box8-all-hit", "G12-229")
PUBLISHED(extent_clips, "box8-extent-clips", "G12-230 G12-199")
PUBLISHED(range_two, "box8-range-two", "G12-231 G12-039")
PUBLISHED(tri_first_hit, "tri-first-hit", "G12-232 G12-214")
PUBLISHED(tri_last_pair_single, "tri-last-pair-single", "G12-233 G12-217 G12-227")
PUBLISHED(triangles_first, "box8-triangles-first", "G12-234 G12-206")
PUBLISHED(mask_none, "box8-mask-none", "G12-292")
PUBLISHED(mask_every_other, "box8-mask-every-other", "G12-292")
PUBLISHED(tri_back_side, "tri-back-side", "G12-292 G12-213 G12-214")
PUBLISHED(tri_second_hit, "tri-second-hit", "G12-292 G12-213 G12-214")
PUBLISHED(tri_both_missed, "tri-both-missed", "G12-292 G12-213 G12-214")
PUBLISHED(far_to_near_unsorted, "box8-far-to-near-unsorted", "G12-292")
PUBLISHED(far_to_near, "box8-far-to-near", "G12-292")

TEST(published_file_has_13_cases, "")
{
    CHECK_EQ(published()->count, 13);
}

/* ---- box nodes ---- */

TEST(ids_fetch_the_right_bytes, "G12-003 G12-005 G12-007 G12-152")
{
    struct facet_gfx12_unit unit = unit_new();
    /* Box children of example 2 start at 0x200, primitives at 0x400. */
    memcpy(image + 0x200, image, 128);
    put(0x200, 0, 0x700);
    memcpy(image + 0x280, image, 128); /* the next node lies 128 bytes further */
    put(0x280, 0, 0x900);
    struct result r = run_at(&unit, 0, 5, ray_a());
    CHECK_EQ(r.v[0], 0x45);
    CHECK_EQ(run_at(&unit, 0, r.v[0], ray_a()).v[0], 0x705);
    CHECK_EQ(r.v[1], 0x55);
    CHECK_EQ(run_at(&unit, 0, r.v[1], ray_a()).v[0], 0x905);
    /* Example 7 lies at byte 0x400 = ID 0x80. */
    r = run_at(&unit, 0, 5, ray_make(1.25f, 4, -0.5f, 0.125f, -1, 0.25f));
    CHECK_EQ(r.v[0], 0x80);
    CHECK_EQ(run_at(&unit, 0, r.v[0], ray_make(0.25f, 0.5f, 2, 0, 0, -1)).v[0], 0x40000000);
}

/* Results must not depend on bits that the instruction does not read. */
static void check_ignored(uint32_t offset,
                          unsigned dword,
                          uint32_t mask,
                          uint32_t node,
                          struct facet_gfx12_ray ray,
                          const char *what)
{
    struct facet_gfx12_unit unit = unit_new();
    struct result want = run_at(&unit, 0, node, ray);
    uint32_t old = get(offset, dword);
    for (unsigned n = 0; n < 64; n++) {
        uint32_t noise = n == 0 ? 0 : n == 1 ? INV : n < 18 ? (n - 2) * 0x11111111u : random_bits();
        put(offset, dword, (old & ~mask) | (noise & mask));
        struct result got = run_at(&unit, 0, node, ray);
        CHECK_MSG(same(&want, &got), "%s, noise %08" PRIX32, what, noise);
    }
    put(offset, dword, old);
}

TEST(unused_bits_do_not_matter, "")
{
    const struct facet_gfx12_ray world = ray_make(4, -0.5f, 3, 0.25f, 0.125f, -1);
    harness_row("G12-008");
    check_ignored(0, 2, INV, 5, ray_a(), "box dword 2");
    harness_row("G12-020");
    check_ignored(0, 6, 0x0F000000, 5, ray_a(), "box dword 6 bits 27..24");
    harness_row("G12-031");
    for (unsigned i = 0; i < 3; i++) {
        check_ignored(0, 8 + 3 * i, 0xF0000000, 5, ray_a(), "child dword 0 bits 31..28");
    }
    harness_row("G12-130");
    check_ignored(0x600, 14, INV, 0xC6, world, "instance dword 14");
    harness_row("G12-140");
    check_ignored(0x600, 19, 0x0F000000, 0xC6, world, "instance dword 19 bits 27..24");
    harness_row("G12-193");
    check_ignored(0x200, 7, 0xFFFFFF80, 0x45, ray_make(-3, 0.5f, 0, 1, 0, 0), "obb bits 31..7");
}

TEST(origin_moves_every_child_box, "")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_ray rays[3] = {
        ray_a(), ray_make(0.75f, -2, 0.5f, 0, 1, 0), ray_make(0.75f, 0.5f, -4, 0, 0, 1)};
    static const char *const offsets[] = {"G12-011", "G12-013", "G12-015"};
    static const char *const places[] = {"G12-010", "G12-012", "G12-014"};
    for (unsigned k = 0; k < 3; k++) {
        harness_row(offsets[k]);
        for (unsigned r = 0; r < 3; r++) {
            struct result want = run_at(&unit, 0, 5, rays[r]);
            CHECK(want.v[0] != INV);
            struct facet_gfx12_ray moved = rays[r];
            float old = facet_float_of(get(0, 3 + k));
            moved.origin[k] += 8;
            put(0, 3 + k, facet_float_bits(old + 8));
            struct result got = run_at(&unit, 0, 5, moved);
            CHECK(memcmp(want.v, got.v, sizeof want.v) == 0);
            got = run_at(&unit, 0, 5, rays[r]); /* and the old ray only hits along the axis */
            CHECK_MSG((got.v[0] != INV) == (k == r), "axis %u ray %u", k, r);
            put(0, 3 + k, facet_float_bits(old));
        }
    }
    struct facet_gfx12_box a, b;
    for (unsigned k = 0; k < 3; k++) {
        harness_row(places[k]);
        facet_gfx12_box_decode(image, &a);
        put(0, 3 + k, facet_float_bits(facet_float_of(a.origin[k]) + 1));
        facet_gfx12_box_decode(image, &b);
        for (unsigned i = 0; i < 3; i++) {
            uint32_t lo[2][3], hi[2][3];
            facet_gfx12_child_bounds(&a.child[i], a.origin, a.exponent, lo[0], hi[0]);
            facet_gfx12_child_bounds(&b.child[i], b.origin, b.exponent, lo[1], hi[1]);
            for (unsigned j = 0; j < 3; j++) {
                float by = j == k ? 1 : 0;
                CHECK(facet_float_of(lo[1][j]) == facet_float_of(lo[0][j]) + by);
                CHECK(facet_float_of(hi[1][j]) == facet_float_of(hi[0][j]) + by);
            }
        }
        put(0, 3 + k, a.origin[k]);
    }
}

TEST(children_beyond_the_count_are_not_returned, "G12-021 G12-022 G12-261")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_ray along = ray_make(0, 0.5f, 0.5f, 1, 0, 0);
    uint32_t header = get(0, 6) & 0x0FFFFFFF;
    put(0, 6, header);
    struct result r = run_at(&unit, 0, 5, ray_a());
    check_words("count 1", r.v, (const uint32_t[]){0x45, INV, INV}, 3);
    /* Example 4 has eight children: the field counts modulo 8. */
    header = get(0x100, 6) & 0x0FFFFFFF;
    unit.resource.box_sort_en = 0;
    for (uint32_t field = 0; field < 16; field++) {
        static const uint32_t ids[8] = {0x105, 0x115, 0x125, 0x135, 0x200, 0x201, 0x212, 0x226};
        struct facet_gfx12_box box;
        put(0x100, 6, header | field << 28);
        r = run_at(&unit, 0, 0x25, along);
        for (uint32_t i = 0; i < 8; i++) {
            CHECK_EQ(r.v[i], i <= (field & 7) ? ids[i] : INV);
        }
        facet_gfx12_box_decode(image + 0x100, &box);
        CHECK_EQ(box.child_count_minus_one, field);
    }
}

TEST(procedural_promise_culls, "G12-183 G12-166")
{
    struct facet_gfx12_unit unit = unit_new();
    put(0, 8, (get(0, 8) & ~0x0F000000u) | 0x08000000u); /* child 0: ONLY_PROCEDURAL */
    uint64_t skip = (uint64_t)FACET_GFX12_SKIP_PROCEDURAL << 54;
    check_words("skip", run_at(&unit, skip, 5, ray_a()).v, (const uint32_t[]){0x55, INV}, 2);
    check_words("none", run_at(&unit, 0, 5, ray_a()).v, (const uint32_t[]){0x45, 0x55}, 2);
    uint64_t other = (uint64_t)FACET_GFX12_SKIP_TRIANGLES << 54;
    check_words("tri", run_at(&unit, other, 5, ray_a()).v, (const uint32_t[]){0x45, INV}, 2);
}

/* Every combination of promises and flags against the sentences of 9.2 step 2. */
TEST(flag_culling_by_the_letter, "G12-180 G12-181 G12-182 G12-183 G12-184 G12-179")
{
    struct facet_gfx12_unit unit = unit_new();
    for (uint32_t promises = 0; promises < 16; promises++) {
        put(0, 8, (get(0, 8) & ~0x0F000000u) | promises << 24);
        put(0, 11, 0xFFFFFFFF); /* child 1 out of the way */
        for (unsigned flags = 0; flags < 1024; flags++) {
            bool fo = flags & 1, fn = flags & 2;
            bool oo = ((promises & 1) || fo) && !fn, on = ((promises & 2) || fn) && !fo;
            bool culled = (oo && (flags & 0x40)) || (on && (flags & 0x80)) ||
                          ((promises & 4) && (flags & 0x100)) ||
                          ((promises & 8) && (flags & 0x200));
            unit.resource.pointer_flags = 1;
            uint32_t got = run_at(&unit, (uint64_t)flags << 54, 5, ray_a()).v[0];
            CHECK_MSG(got == (culled ? INV : 0x45u), "promises %X flags %03X", promises, flags);
            unit.resource.pointer_flags = 0;
            CHECK_EQ(run_at(&unit, (uint64_t)flags << 54, 5, ray_a()).v[0], 0x45);
        }
    }
}

TEST(reserved_obb_indices_are_none, "G12-194")
{
    struct facet_gfx12_unit unit = unit_new();
    const struct facet_gfx12_ray rays[2] = {ray_make(-3, 0.5f, 0, 1, 0, 0),
                                            ray_make(-3, 0, 0, 1, 0, 0)};
    for (unsigned r = 0; r < 2; r++) {
        struct result want = run_at(&unit, 0, 0x55, rays[r]);
        for (uint32_t index = 104; index < 128; index++) {
            put(0x200, 7, index);
            struct result got = run_at(&unit, 0, 0x45, rays[r]);
            CHECK(same(&want, &got));
        }
        put(0x200, 7, 103);
    }
    CHECK_EQ(run_at(&unit, 0, 0x55, rays[1]).v[0], 0x405);
}

TEST(nan_boxes_and_rays_miss, "G12-197")
{
    struct facet_gfx12_unit unit = unit_new();
    for (unsigned k = 0; k < 3; k++) {
        put(0, 3 + k, 0x7FC00000);
    }
    CHECK_EQ(run_at(&unit, 0, 5, ray_a()).v[0], INV);
    put(0, 3, 0); /* one axis is a number again: the others drop out of min and max */
    check_words("axes", run_at(&unit, 0, 5, ray_a()).v, (const uint32_t[]){0x80, 0x45, 0x55}, 3);
    unit = unit_new();
    struct facet_gfx12_ray ray = ray_a();
    ray.extent = facet_float_of(0x7FC00000); /* minNum: a NaN extent does not clip */
    CHECK_EQ(run_at(&unit, 0, 5, ray).v[0], 0x45);
    for (unsigned k = 0; k < 3; k++) {
        ray.origin[k] = facet_float_of(0xFFC12345);
    }
    CHECK_EQ(run_at(&unit, 0, 5, ray).v[0], INV);
}

TEST(equal_keys_keep_the_order_of_the_network, "G12-208")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_box box;
    facet_gfx12_box_decode(image, &box);
    for (unsigned i = 0; i < 8; i++) {
        box.child[i] = box.child[0];
    }
    box.child_count_minus_one = 7;
    facet_gfx12_box_encode(&box, image);
    for (uint8_t heuristic = 0; heuristic < 4; heuristic++) {
        unit.resource.box_sorting_heuristic = heuristic;
        struct result r = run_at(&unit, 0, 5, ray_a());
        for (uint32_t i = 0; i < 8; i++) {
            CHECK_EQ(r.v[i], 0x45 + 0x10 * i);
        }
    }
    /* A network is not stable: equal keys behind a nearer child change places. Children 0..3 and
     * 4..7 with distances 2 2 2 1 2 2 2 2; followed by hand through the stages of 9.3. */
    unit = unit_new();
    facet_gfx12_box_decode(image, &box);
    struct facet_gfx12_child near = box.child[0], far = box.child[0];
    far.min[0] = 512;
    for (unsigned i = 0; i < 8; i++) {
        box.child[i] = i == 3 ? near : far;
    }
    box.child_count_minus_one = 7;
    facet_gfx12_box_encode(&box, image);
    /* (1,3): 0 3 2 1; (0,1): 3 0 2 1; (1,2): equal keys stay. */
    static const uint32_t order[8] = {3, 0, 2, 1, 4, 5, 6, 7};
    struct result r = run_at(&unit, 0, 5, ray_a());
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(r.v[i], 0x45 + 0x10 * order[i]);
    }
}

TEST(inverse_is_correctly_rounded, "G12-196")
{
    static const struct {
        uint32_t d, inverse;
    } rows[] = {{0x40400000, 0x3EAAAAAB},
                {0, 0x7F800000},
                {0x80000000, 0xFF800000},
                {0x7F800000, 0},
                {0xFF800000, 0x80000000},
                {0x7F7FFFFF, 0x00200000},
                {0x00200000, 0x7F800000},
                {0x00400000, 0x7F000000},
                {0x40A00000, 0x3E4CCCCD}};
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        const float zero[3] = {0, 0, 0};
        const float d[3] = {facet_float_of(rows[n].d), 1, 1};
        struct facet_gfx12_slab_ray ray;
        facet_gfx12_slab_ray_init(&ray, zero, d, 1, 0);
        CHECK_EQ(facet_float_bits(ray.inverse[0]), rows[n].inverse);
    }
}

/* ---- dispatch and memory ---- */

TEST(types_that_are_not_nodes, "G12-154 G12-155 G12-156 G12-175")
{
    struct facet_gfx12_unit unit = unit_new();
    const struct facet_gfx12_ray ray = ray_make(4, -0.5f, 3, 0.25f, 0.125f, -1);
    for (uint32_t type = 0; type < 16; type++) {
        struct result r = run_at(&unit, 0, 0xC0 | type, ray);
        bool none = type == 4 || type == 7 || type >= 12;
        if (type != 5) { /* as a box these bytes are missed */
            CHECK_EQ(all_invalid(&r, &ray), none);
        }
    }
    CHECK_EQ(run_at(&unit, 0, 5, ray_a()).v[0], 0x45);
    struct facet_gfx12_unit empty;
    facet_gfx12_unit_init(&empty, NULL, 0); /* nothing is mapped */
    for (uint32_t id = 0xFFFFFFF8; id != 0; id++) {
        struct result r = run_at(&empty, 0, id, ray);
        CHECK(all_invalid(&r, &ray));
        r = run_at(&unit, UINT64_C(0xF0000040), id, ray);
        CHECK(all_invalid(&r, &ray));
    }
    struct result r = run_at(&unit, 0, 0xC6, ray);
    CHECK_EQ(r.v[7], 0xFFFFFF05);
    unit.resource.instance_en = 0;
    r = run_at(&unit, 0, 0xC6, ray);
    CHECK(all_invalid(&r, &ray));
}

TEST(fetch_address_and_bounds, "G12-178 G12-152")
{
    struct facet_gfx12_unit unit = unit_new();
    const struct facet_gfx12_ray ray = ray_a();
    unit.image_address = 0x10000;
    struct result r = run_at(&unit, 0, 5, ray);
    CHECK(all_invalid(&r, &ray));
    unit.resource.base_address = 0x100;
    CHECK_EQ(run_at(&unit, 0, 5, ray).v[0], 0x45);
    unit.resource.base_address = 0xC0;
    CHECK_EQ(run_at(&unit, 0x4000 / 8, 5, ray).v[0], 0x45); /* base pointer counts 8 bytes */
    unit.resource.base_address = 0;
    CHECK_EQ(run_at(&unit, 0x10000 / 8, 5, ray).v[0], 0x45);
    CHECK_EQ(run_at(&unit, 0, 0x10000 / 8 | 5, ray).v[0], 0x45);
    /* Addresses wrap at 48 bits. */
    unit.resource.base_address = 0xFFFFFFFFFF;
    CHECK_EQ(run_at(&unit, 0x10100 / 8, 5, ray).v[0], 0x45);
    /* size is the last 64-byte index, counted from the base address. */
    unit.resource.base_address = 0x100;
    unit.resource.size = 0x100 / 64 - 1;
    r = run_at(&unit, 0, 0x25, ray);
    CHECK(all_invalid(&r, &ray));
    CHECK_EQ(run_at(&unit, 0, 5, ray).v[0], 0x45);
    unit.resource.size = 0x100 / 64;
    r = run_at(&unit, 0, 0x25, ray);
    CHECK(!all_invalid(&r, &ray));
    /* The end of the image. */
    unit = unit_new();
    unit.image_size = 0x17F;
    r = run_at(&unit, 0, 0x25, ray);
    CHECK(all_invalid(&r, &ray));
    unit.image_size = 0x180;
    r = run_at(&unit, 0, 0x25, ray);
    CHECK(!all_invalid(&r, &ray));
}

TEST(compressed_format_only, "G12-173 G12-260")
{
    struct facet_gfx12_unit unit = unit_new();
    unit.resource.compressed_format_en = 0;
    static const uint32_t nodes[4] = {5, 0x80, 0xB0, 0xC6};
    for (unsigned i = 0; i < 4; i++) {
        struct facet_gfx12_ray ray = ray_a();
        struct result r = run_at(&unit, 0, nodes[i], ray);
        CHECK(all_invalid(&r, &ray));
    }
}

/* ---- primitive nodes ---- */

/* A unit right triangle at (x, 0, 0) in the plane z = 0. */
static struct pack_tri tri_at(float x, uint32_t geometry, uint32_t primitive)
{
    return (struct pack_tri){
        .v = {{x, 0, 0}, {x + 1, 0, 0}, {x, 1, 0}},
        .geometry = geometry,
        .primitive = primitive,
        .opaque = true,
    };
}

static struct facet_gfx12_ray down_at(float x)
{
    return ray_make(x + 0.25f, 0.25f, 2, 0, 0, -1);
}

static void place(const struct facet_gfx12_prim *prim)
{
    facet_gfx12_prim_encode(prim, image + 0x400);
}

TEST(index_payloads, "G12-082 G12-086 G12-088 G12-089")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_prim p;
    struct pack_tri a = tri_at(0, 0x105, 1), b = tri_at(2, 0x106, 9);
    const struct pack_pair pair = {.tri = {&a, &b}, .stop = true};
    CHECK(pack_node(&pair, 1, &p));
    CHECK_EQ(p.header.geometry_index_base_bits_div_2, 5);
    CHECK_EQ(p.header.geometry_index_bits_div_2, 1);
    CHECK_EQ(p.header.primitive_index_base_bits, 1);
    CHECK_EQ(p.header.primitive_index_bits, 4);
    place(&p);
    struct result r = run_at(&unit, 0, 0x80, down_at(0));
    CHECK_EQ(r.v[8], 0x105 << 2 | 3);
    CHECK_EQ(r.v[9], 0x106 << 2 | 3);
    CHECK_EQ(r.v[3], 1 << 1);
    CHECK_EQ(r.v[7], 9 << 1);

    a.geometry = b.geometry = 5;
    CHECK(pack_node(&pair, 1, &p));
    CHECK_EQ(p.header.geometry_index_bits_div_2, 0);
    place(&p);
    r = run_at(&unit, 0, 0x80, down_at(0));
    CHECK_EQ(r.v[8], 5 << 2 | 3);
    CHECK_EQ(r.v[9], 5 << 2 | 3);

    a.geometry = b.geometry = a.primitive = b.primitive = 0;
    CHECK(pack_node(&pair, 1, &p));
    CHECK_EQ(p.header.geometry_index_base_bits_div_2, 0);
    CHECK_EQ(p.header.geometry_index_bits_div_2, 0);
    place(&p);
    r = run_at(&unit, 0, 0x80, down_at(0));
    CHECK_EQ(r.v[8], 3);
    CHECK_EQ(r.v[9], 3);
    CHECK_EQ(r.v[3], 0);
    CHECK_EQ(r.v[7], 0);
}

TEST(triangles_of_a_pair_are_alike, "G12-103 G12-110 G12-111 G12-113 G12-115")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_prim p;
    struct pack_tri a = tri_at(0, 3, 17), b = tri_at(0.5f, 6, 30);
    b.opaque = false;
    b.double_sided = true;
    for (unsigned flags = 0; flags < 1024; flags++) {
        uint64_t base = (uint64_t)flags << 54;
        CHECK(pack_node(&(const struct pack_pair){.tri = {&a, &b}, .stop = false}, 1, &p));
        place(&p);
        struct result r = run_at(&unit, base, 0x80, down_at(0.375f));
        CHECK(pack_node(&(const struct pack_pair){.tri = {&b, &a}, .stop = false}, 1, &p));
        place(&p);
        struct result s = run_at(&unit, base, 0x80, down_at(0.375f));
        CHECK(memcmp(r.v, s.v + 4, 16) == 0 && memcmp(r.v + 4, s.v, 16) == 0);
        CHECK(r.v[8] == s.v[9] && r.v[9] == s.v[8]);
    }
}

TEST(procedural_second_triangle, "G12-112 G12-102")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_prim p;
    const struct pack_tri a = tri_at(0, 3, 17), b = tri_at(2, 3, 18);
    CHECK(pack_node(&(const struct pack_pair){.tri = {&a, &b}, .stop = true}, 1, &p));
    place(&p);
    CHECK_EQ(run_at(&unit, 0, 0x80, down_at(0)).v[5] >> 31, 0);
    p.pair[0].tri[1].index[0] = p.pair[0].tri[1].index[1] = 15;
    p.pair[0].tri[1].index[2] = 0;
    place(&p);
    struct result r = run_at(&unit, 0, 0x80, down_at(0));
    check_words("slot 1", r.v + 4, (const uint32_t[]){0, 0xBF800000, 0x3F800000, 18 << 1}, 4);
    unit.resource.pointer_flags = 0; /* still the two constants, no opacity bit */
    p.pair[0].tri[1].opaque = 0;
    place(&p);
    r = run_at(&unit, 0, 0x80, down_at(0));
    check_words("raw", r.v + 4, (const uint32_t[]){0, 0xBF800000, 0x3F800000, 18 << 1}, 4);
    unit.profile = FACET_GFX12_GPURT;
    r = run_at(&unit, 0, 0x80, down_at(0));
    check_words("gpurt", r.v + 4, (const uint32_t[]){0, 0xBF800000, 0xBF800000, 18 << 1}, 4);
}

TEST(absent_second_triangle, "G12-219 G12-218 G12-217")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_prim p;
    const struct pack_tri a = tri_at(0, 3, 17);
    CHECK(pack_node(&(const struct pack_pair){.tri = {&a, NULL}, .stop = true}, 1, &p));
    p.pair[0].tri[1].opaque = 1; /* does not make it present */
    place(&p);
    struct result r = run_at(&unit, 0, 0x80, down_at(0));
    check_words(
        "silicon", r.v + 4, (const uint32_t[]){0x7F800000, 0x7FC00000, 0x7FC00000, 17 << 1}, 4);
    unit.profile = FACET_GFX12_GPURT;
    r = run_at(&unit, 0, 0x80, down_at(0));
    check_words("gpurt", r.v + 4, (const uint32_t[]){0x7F800000, 0x3F800000, 0x3F800000, 0}, 4);
    /* Index 0,1,0 is a degenerate triangle, but present. */
    p.pair[0].tri[1].index[1] = 1;
    place(&p);
    r = run_at(&unit, 0, 0x80, down_at(0));
    CHECK_EQ(r.v[4], 0xFFC00000); /* a NaN is not a miss in this profile */
    CHECK_EQ(r.v[7], 17 << 1);
    /* The first triangle of a pair is never absent. */
    memset(p.pair[0].tri[0].index, 0, sizeof p.pair[0].tri[0].index);
    place(&p);
    r = run_at(&unit, 0, 0x80, down_at(0));
    CHECK(r.v[0] != 0x7F800000 && r.v[3] == 17 << 1);
}

TEST(eight_pairs, "G12-153 G12-121 G12-122 G12-123")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_prim p;
    struct pack_tri t[16];
    struct pack_pair pairs[8];
    static const uint32_t type[8] = {0, 1, 2, 3, 8, 9, 10, 11};
    for (unsigned i = 0; i < 16; i++) {
        t[i] = tri_at((float)(i % 4), 2, 100 + i);
    }
    for (unsigned i = 0; i < 8; i++) {
        pairs[i] = (struct pack_pair){.tri = {&t[2 * i], &t[2 * i + 1]}, .stop = i == 5};
    }
    CHECK(pack_node(pairs, 8, &p));
    place(&p);
    for (unsigned i = 0; i < 8; i++) {
        struct result r = run_at(&unit, 0, 0x80 | type[i], down_at((float)(2 * i % 4)));
        CHECK_EQ(r.v[0], 0x40000000);
        CHECK_EQ(r.v[3] >> 1, 100 + 2 * i);
        CHECK_EQ(r.v[7] >> 1, 101 + 2 * i);
        CHECK_EQ(r.v[8], 2 << 2 | (i == 5 ? 3 : i == 7 ? 1 : 0));
        CHECK_EQ(r.v[9], r.v[8]);
    }
}

TEST(single_index_15_is_a_vertex, "G12-263")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_prim p;
    struct pack_tri t[16];
    struct pack_pair pairs[8];
    for (unsigned i = 0; i < 12; i++) { /* 16 corners on a 4x4 grid, all used in order */
        for (unsigned c = 0; c < 3; c++) {
            unsigned n = (3 * i + c) % 16;
            t[i] = i > 0 || c > 0 ? t[i] : tri_at(0, 0, 0);
            t[i].v[c][0] = (float)(n % 4);
            t[i].v[c][1] = (float)(n / 4);
            t[i].v[c][2] = 0;
            t[i].geometry = t[i].primitive = 0;
            t[i].opaque = true;
            t[i].double_sided = false;
        }
    }
    for (unsigned i = 0; i < 6; i++) {
        pairs[i] = (struct pack_pair){.tri = {&t[2 * i], &t[2 * i + 1]}, .stop = true};
    }
    CHECK(pack_node(pairs, 6, &p));
    CHECK_EQ(p.vertex_count, 16);
    p.pair[0].tri[0].index[0] = 15; /* (3,3) (3,0) (0,1) */
    p.pair[0].tri[0].index[1] = 3;
    p.pair[0].tri[0].index[2] = 4;
    place(&p);
    struct result r = run_at(&unit, 0, 0x80, ray_make(2, 1.5f, 4, 0, 0, -1));
    CHECK_EQ(r.v[0], 0x40800000);
    CHECK_EQ(r.v[1] >> 31, 0);
    p.pair[0].tri[0].index[0] = 3;
    p.pair[0].tri[0].index[1] = 15;
    place(&p);
    r = run_at(&unit, 0, 0x80, ray_make(2, 1.5f, 4, 0, 0, -1));
    CHECK_EQ(r.v[0], 0x40800000);
    CHECK_EQ(r.v[3] & 1, 0); /* the other winding */
}

TEST(pair_beyond_the_count_is_still_read, "")
{
    struct facet_gfx12_unit unit = unit_new();
    struct facet_gfx12_prim p;
    const struct pack_tri a = tri_at(0, 0, 9), b = tri_at(2, 0, 9);
    CHECK(pack_node(&(const struct pack_pair){.tri = {&a, &b}, .stop = true}, 1, &p));
    place(&p);
    /* Descriptor 1 is below descriptor 0: write it by hand, vertices 3,4,5 = triangle b. */
    struct facet_gfx12_prim q = p;
    q.header.triangle_pair_count_minus_one = 1;
    q.pair[1] = p.pair[0];
    q.pair[1].tri[0] = p.pair[0].tri[1];
    q.pair[1].prim_range_stop = 0;
    place(&q);
    image[0x403] &= 0x8F; /* back to one pair */
    struct result r = run_at(&unit, 0, 0x81, down_at(2));
    CHECK_EQ(r.v[0], 0x40000000);
    CHECK_EQ(r.v[8] & 3, 0); /* neither stop nor last */
}

/* ---- instances ---- */

TEST(merged_flags_in_v3, "G12-168 G12-145 G12-167")
{
    struct facet_gfx12_unit unit = unit_new();
    const struct facet_gfx12_ray ray = ray_make(4, -0.5f, 3, 0.25f, 0.125f, -1);
    put(0x600, 13, 2u << 22); /* FORCE_NON_OPAQUE */
    struct result r = run_at(&unit, UINT64_C(1) << 54, 0xC6, ray);
    CHECK_EQ(r.v[3], 1u << 22);
    unit.resource.pointer_flags = 0; /* the merge uses the raw bits */
    r = run_at(&unit, UINT64_C(1) << 54, 0xC6, ray);
    CHECK_EQ(r.v[3], 1u << 22);
    r = run_at(&unit, UINT64_C(0x100) << 54, 0xC6, ray); /* and SKIP_TRIANGLES does not cull */
    CHECK_EQ(r.v[7], 0xFFFFFF05);
}

/* ---- the dual instruction ---- */

static struct result run_dual(const struct facet_gfx12_unit *unit,
                              uint64_t base,
                              uint32_t node0,
                              uint32_t node1,
                              struct facet_gfx12_ray ray)
{
    struct result r = {.ray = ray};
    facet_gfx12_intersect_dual(unit, base, node0, node1, &r.ray, r.v);
    return r;
}

TEST(dual_on_compressed_nodes, "G12-002 G12-258 G12-259")
{
    struct facet_gfx12_unit unit = unit_new();
    static const uint32_t nodes[5] = {5, 0x25, 0x80, 0xC6, 0xFFFFFFFF};
    for (unsigned i = 0; i < 5; i++) {
        struct facet_gfx12_ray ray =
            nodes[i] == 0xC6 ? ray_make(4, -0.5f, 3, 0.25f, 0.125f, -1) : ray_a();
        struct result want = run_at(&unit, 0, nodes[i], ray);
        struct result got = run_dual(&unit, 0, nodes[i], INV, ray);
        CHECK(same(&want, &got));
        if (nodes[i] != INV) {
            got = run_dual(&unit, 0, nodes[i], 5, ray);
            CHECK(all_invalid(&got, &ray));
        }
    }
}

/* A BVH4 box with children `ids` at x = at[i] .. at[i] + 0.5. */
static void place_box4(uint32_t offset, const uint32_t ids[4], const float at[4], bool half)
{
    struct facet_gfx12_box4 box;
    memset(&box, 0, sizeof box);
    for (unsigned i = 0; i < 4; i++) {
        box.child[i] = ids[i];
        box.lo[i][0] = facet_float_bits(at[i]);
        box.hi[i][0] = facet_float_bits(at[i] + 0.5f);
        box.hi[i][1] = box.hi[i][2] = 0x3F800000;
    }
    if (half) {
        facet_gfx12_box4_encode_half(&box, image + offset);
    } else {
        facet_gfx12_box4_encode(&box, image + offset);
    }
}

TEST(dual_sorts_two_boxes_together, "G12-246 G12-245")
{
    struct facet_gfx12_unit unit = unit_new();
    unit.resource.compressed_format_en = 0;
    place_box4(
        0x1000, (const uint32_t[]){0x105, 0x115, 0x125, 0x135}, (const float[]){7, 3, 1, 5}, 0);
    place_box4(
        0x1080, (const uint32_t[]){0x205, 0x215, 0x225, 0x235}, (const float[]){2, 8, 6, 4}, 1);
    struct facet_gfx12_ray ray = ray_make(0, 0.5f, 0.5f, 1, 0, 0);
    const uint32_t wide[8] = {0x125, 0x205, 0x115, 0x235, 0x135, 0x225, 0x105, 0x215};
    const uint32_t narrow[8] = {0x125, 0x115, 0x135, 0x105, 0x205, 0x235, 0x225, 0x215};
    struct result r = run_dual(&unit, 0, 0x205, 0x214, ray);
    check_words("wide", r.v, wide, 8);
    CHECK(r.v[8] == INV && r.v[9] == INV);
    unit.resource.wide_sort_en = 0;
    r = run_dual(&unit, 0, 0x205, 0x214, ray);
    check_words("narrow", r.v, narrow, 8);
    unit.resource.wide_sort_en = 1;
    r = run_dual(&unit, 0, 0x205, INV, ray); /* one box: its four slots only */
    check_words("one", r.v, narrow, 4);
    CHECK_EQ(r.v[4], INV);
    r = run_dual(&unit, 0, INV, 0x214, ray);
    CHECK_EQ(r.v[0], INV);
    check_words("other", r.v + 4, narrow + 4, 4);
    ray.extent = 4.25f;
    r = run_dual(&unit, 0, 0x205, 0x214, ray);
    check_words("extent", r.v, (const uint32_t[]){0x125, 0x205, 0x115, 0x235, INV, INV}, 6);
    unit.resource.box_sort_en = 0;
    r = run_dual(&unit, 0, 0x205, 0x214, ray);
    check_words(
        "no sort", r.v, (const uint32_t[]){INV, 0x115, 0x125, INV, 0x205, INV, INV, 0x235}, 8);
}

TEST(dual_triangle_rules, "G12-245 G12-160 G12-222")
{
    struct facet_gfx12_unit unit = unit_new();
    unit.resource.compressed_format_en = 0;
    const struct facet_gfx12_ray ray = ray_make(0.75f, 0.5f, 2, 0, 0, -1);
    static const struct {
        const char *what;
        uint32_t byte; /* triangle_id of triangle 1 */
        unsigned flags;
        uint32_t v[4];
    } rows[] = {
        {"opaque", 0x89, 0, {0x40000000, 0x3F800000, 0x3E800000, 0x3E800000}},
        {"sources 0 and 3", 0x8C, 0, {0x40000000, 0x3F800000, 0x3F000000, 0}},
        {"not opaque", 0x09, 0, {0x40000000, 0x3F800000, 0x3E800000, 0xBE800000}},
        {"FORCE_OPAQUE", 0x09, 0x001, {0x40000000, 0x3F800000, 0x3E800000, 0x3E800000}},
        {"FLIP", 0x89, 0x008, {0xC0000000, 0xBF800000, 0x3E800000, 0x3E800000}},
        {"flip winding is ignored", 0xA9, 0, {0x40000000, 0x3F800000, 0x3E800000, 0x3E800000}},
        {"CULL_FRONT", 0x89, 0x020, {0x7F800000, 0x3F800000, 0, 0}},
        {"CULL_FRONT, double sided", 0x99, 0x020, {0x40000000, 0x3F800000, 0x3E800000, 0x3E800000}},
        {"CULL_FRONT + DISABLE", 0x89, 0x024, {0x40000000, 0x3F800000, 0x3E800000, 0x3E800000}},
        {"FLIP + CULL_BACK", 0x09, 0x018, {0x7F800000, 0x3F800000, 0, 0x80000000}},
        {"SKIP_TRIANGLES", 0x89, 0x100, {0x7F800000, 0x3F800000, 0, 0}},
        {"procedural", 0xC9, 0, {0, 0x3F800000, 0xBF800000, 0x3F800000}},
        {"SKIP_PROCEDURAL", 0x49, 0x200, {0x7F800000, 0x3F800000, 0xBF800000, 0xBF800000}},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        put(0x780, 15, rows[n].byte << 8);
        struct result r = run_dual(&unit, (uint64_t)rows[n].flags << 54, 0xF1, INV, ray);
        check_words(rows[n].what, r.v, rows[n].v, 4);
        CHECK_EQ(r.v[8], 3);
        CHECK_EQ(r.v[9], INV);
        unit.profile = FACET_GFX12_GPURT; /* the same in both profiles */
        struct result s = run_dual(&unit, (uint64_t)rows[n].flags << 54, 0xF1, INV, ray);
        CHECK(same(&r, &s));
        unit.profile = FACET_GFX12_SILICON;
    }
    /* Triangle 0 = (v0, v1, v2) at (0.25, 0.25); a miss substitutes tn = inf, det = 1. */
    put(0x780, 15, 0x89);
    struct result r = run_dual(&unit, 0, INV, 0xF0, ray_make(0.25f, 0.5f, 2, 0, 0, -1));
    check_words(
        "tri0", r.v + 4, (const uint32_t[]){0x40000000, 0x3F800000, 0x3E800000, 0x3F000000}, 4);
    r = run_dual(&unit, 0, INV, 0xF0, ray_make(2, 2, 2, 0, 0, -2));
    check_words(
        "miss", r.v + 4, (const uint32_t[]){0x7F800000, 0x3F800000, 0x40800000, 0x40800000}, 4);
    /* A ray in the plane: det = 0 is a front, and the NaNs that it makes are no miss. */
    for (unsigned back = 0; back < 2; back++) {
        r = run_dual(&unit,
                     (uint64_t)(back ? 0x010 : 0x020) << 54,
                     INV,
                     0xF0,
                     ray_make(0.25f, 0.5f, 0, 1, 0, 0));
        CHECK_EQ(r.v[4], back ? 0 : 0x7F800000);
        CHECK_EQ(r.v[5], back ? 0 : 0x3F800000);
    }
    /* Types without a node. */
    for (uint32_t type = 2; type < 8; type++) {
        if (type == 2 || type == 3 || type == 7) {
            struct facet_gfx12_ray same_ray = ray;
            r = run_dual(&unit, 0, 0xF0 | type, 0xE0 | type, ray);
            CHECK(all_invalid(&r, &same_ray));
        }
    }
}

TEST(dual_instances, "G12-247 G12-245")
{
    struct facet_gfx12_unit unit = unit_new();
    unit.resource.compressed_format_en = 0;
    const struct facet_gfx12_ray ray = ray_make(4, -0.5f, 3, 0.25f, 0.125f, -1);
    put(0x600, 14, 0x1235); /* root of the BLAS */
    struct result r = run_dual(&unit, 0, 0xC6, INV, ray);
    check_words(
        "instance",
        r.v,
        (const uint32_t[]){INV, INV, 0x4000, 0x82000000, INV, INV, 0xBEEF, 0x1235, INV, INV},
        10);
    check_ray("instance",
              &r.ray,
              (const uint32_t[]){0, 0, 0x40E00000, 0x3E000000, 0x3D800000, 0xC0000000});
    struct result s = run_dual(&unit, 0, 0xC6, 0xE5, ray); /* (6,5): node 1 is ignored */
    CHECK(same(&r, &s));
    s = run_dual(&unit, 0, 0xC6, 0xC6, ray); /* (6,6) */
    CHECK(all_invalid(&s, &ray));
    s = run_dual(&unit, 0, 0xE5, 0xC6, ray_make(-5, 0.5f, 0.5f, 1, 0, 0)); /* (5,6) */
    check_words("box beside an instance",
                s.v,
                (const uint32_t[]){0x108, 0x11D, 0x105, INV, INV, INV, INV, INV, INV, INV},
                10);
    struct facet_gfx12_ray hidden = ray;
    hidden.instance_mask = 0xC3;
    s = run_dual(&unit, 0, 0xC6, INV, hidden);
    CHECK_EQ(s.v[7], INV);
    CHECK_EQ(s.v[2], 0x4000);
    CHECK(memcmp(&s.ray, &hidden, sizeof hidden) == 0);
    unit.resource.instance_en = 0;
    s = run_dual(&unit, 0, 0xC6, INV, ray);
    CHECK(all_invalid(&s, &ray));
}

/* ---- instruction words ---- */

TEST(instruction_words, "G12-002")
{
    struct facet_gfx12_vimage in, out;
    struct facet_error err = {0};
    uint32_t w[3];
    char text[128];
    const char *bvh8 =
        "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]";
    const char *dual = "image_bvh_dual_intersect_ray v[20:29], [v[0:1], v[11:12], v[3:5], v[6:8], "
                       "v[9:10]], s[4:7]";
    CHECK(facet_gfx12_vimage_parse(bvh8, &in, &err) == FACET_OK);
    facet_gfx12_vimage_encode(&in, w);
    check_words("bvh8", w, (const uint32_t[]){0xD3E04010, 0x09000000, 0x06030B00}, 3);
    CHECK(facet_gfx12_vimage_decode(w, &out));
    facet_gfx12_vimage_print(&out, text, sizeof text);
    CHECK_STR(text, bvh8);
    CHECK(facet_gfx12_vimage_parse(dual, &in, &err) == FACET_OK);
    facet_gfx12_vimage_encode(&in, w);
    check_words("dual", w, (const uint32_t[]){0xD3E00010, 0x09000814, 0x06030B00}, 3);
    CHECK(facet_gfx12_vimage_decode(w, &out));
    facet_gfx12_vimage_print(&out, text, sizeof text);
    CHECK_STR(text, dual);
    CHECK(facet_gfx12_vimage_parse("  IMAGE_BVH8_INTERSECT_RAY V[ 0 : 9 ] ,[v[0:1],v[11:12],"
                                   "v[3:5],v[6:8],v[9:9]],s[0:3] ",
                                   &in,
                                   &err) == FACET_OK);

    static const char *const bad[] = {
        "",
        "image_bvh8_intersect_rays v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]",
        "image_bvh8_intersect_ray v[0:8], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]",
        "image_bvh8_intersect_ray v[247:256], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]",
        "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v[9:10]], s[0:3]",
        "image_bvh_dual_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]",
        "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[2:5]",
        "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], v[0:3]",
        "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3] x",
        "image_bvh8_intersect_ray v[9:0], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]",
        "image_bvh8_intersect_ray v[0:99999999999], [",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&err, 0, sizeof err);
        CHECK_MSG(facet_gfx12_vimage_parse(bad[i], &in, &err) == FACET_ERR_INPUT, "%s", bad[i]);
        CHECK(strstr(err.message, "column") != NULL && strstr(err.message, "expected") != NULL);
    }
    /* Register ranges must end inside the register file, scalar ones start at a multiple of 4. */
    static const struct {
        uint32_t w1, w2;
        bool good;
    } ends[] = {
        {0x090000F6, 0x06030B00, true},
        {0x090000F7, 0x06030B00, false},
        {0x09000000, 0x06030BFE, true},
        {0x09000000, 0x06030BFF, false},
        {0x09000000, 0xFD030B00, true},
        {0x09000000, 0xFE030B00, false},
        {0xFF000000, 0x06030B00, true},
        {0x0900C800, 0x06030B00, true}, /* s[100:103] */
        {0x0900D000, 0x06030B00, false},
        {0x0900D800, 0x06030B00, false},
        {0x09000200, 0x06030B00, false},
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const uint32_t x[3] = {0xD3E04010, ends[i].w1, ends[i].w2};
        CHECK_MSG(facet_gfx12_vimage_decode(x, &out) == ends[i].good, "words %zu", i);
    }
    /* Every single bit flip of a good word is either another good word or refused, and what is
     * accepted encodes to the same words. */
    for (unsigned bit = 0; bit < 96; bit++) {
        uint32_t x[3] = {0xD3E04010, 0x09000000, 0x06030B00}, y[3];
        x[bit / 32] ^= 1u << (bit % 32);
        if (facet_gfx12_vimage_decode(x, &out)) {
            facet_gfx12_vimage_encode(&out, y);
            CHECK(memcmp(x, y, sizeof x) == 0);
            facet_gfx12_vimage_print(&out, text, sizeof text);
            CHECK(facet_gfx12_vimage_parse(text, &in, &err) == FACET_OK);
            CHECK(memcmp(&in, &out, sizeof in) == 0);
            CHECK(bit >= 32 || bit == 14); /* 14: the opcode of the dual form */
        }
    }
}

/* ---- robustness ---- */

TEST(garbage_never_fails, "")
{
    uint8_t garbage[8 * 128] = {0};
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, garbage, sizeof garbage);
    unsigned rounds = harness_long() ? 5000000 : 500000;
    for (unsigned n = 0; n < rounds; n++) {
        struct facet_gfx12_ray ray;
        uint32_t v[10], w[10], resource[4];
        if (n % 8 == 0) {
            for (unsigned i = 0; i < sizeof garbage / 8; i++) {
                facet_store_le64(garbage + (size_t)8 * i, harness_random());
            }
        }
        for (unsigned i = 0; i < 4; i++) {
            resource[i] = random_bits();
        }
        facet_gfx12_resource_unpack(resource, &unit.resource);
        unit.resource.base_address = 0;
        unit.resource.compressed_format_en = n % 4 != 0;
        unit.profile = n & 1 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
        for (unsigned k = 0; k < 3; k++) {
            ray.origin[k] = facet_float_of(random_any_float());
            ray.direction[k] = facet_float_of(random_any_float());
        }
        ray.extent = facet_float_of(random_any_float());
        ray.instance_mask = random_bits();
        uint32_t node = (random_bits() % 8 << 4) | (random_bits() & 15);
        uint64_t base = (uint64_t)(random_bits() & 0x3FF) << 54;
        struct facet_gfx12_ray again = ray;
        facet_gfx12_intersect8(&unit, base, node, &ray, v);
        facet_gfx12_intersect8(&unit, base, node, &again, w);
        CHECK(memcmp(v, w, sizeof v) == 0);
        facet_gfx12_intersect_dual(&unit, base, node, random_bits() & 0x7F, &ray, w);
    }
}
