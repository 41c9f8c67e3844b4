/* Images in pieces: addresses and offsets against a map of every byte, and an image whose parts
 * were moved apart to multiples of 64 against the same image in one piece. */
#include "base/bits.h"
#include "gfx12/build/build.h"
#include "gfx12/check/check.h"
#include "gfx12/image/stats.h"
#include "gfx12/tracer.h"
#include "gfx12/unit.h"
#include "harness.h"
#include "meshes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- addresses ---- */

enum { MAP_BYTES = 4096, NOWHERE = -1 };

/* A random list of segments between MAP_AT and MAP_AT + MAP_BYTES, and where each byte of that
 * range lies in the compact bytes. */
static uint32_t
random_segments(uint64_t at, struct facet_gfx12_segment *out, int *map, uint64_t *size)
{
    uint32_t count = 0;
    uint64_t from = 64 * (harness_random() % 4);

    *size = 0;
    for (int i = 0; i < MAP_BYTES; i++) {
        map[i] = NOWHERE;
    }
    while (count < 12) {
        uint64_t bytes = 1 + harness_random() % 400;

        if (from + bytes > MAP_BYTES) {
            break;
        }
        *size = (*size + 63) / 64 * 64;
        out[count++] = (struct facet_gfx12_segment){at + from, *size, bytes, "piece", 7};
        for (uint64_t i = 0; i < bytes; i++) {
            map[from + i] = (int)(*size + i);
        }
        *size += bytes;
        from = (from + bytes + 63) / 64 * 64 + 64 * (harness_random() % 3);
    }
    return count;
}

TEST(segments_map_addresses_to_offsets_and_back, "")
{
    static int map[MAP_BYTES];

    for (int round = 0; round < 200; round++) {
        const uint64_t at = round % 2 == 0 ? UINT64_C(0xFFFFFFFFE000) : UINT64_C(0x7F0000000040);
        struct facet_gfx12_segment segments[12];
        struct facet_gfx12_view view = {.segments = segments};

        view.segment_count = random_segments(at, segments, map, &view.size);
        for (int i = 0; i < MAP_BYTES; i++) {
            const uint64_t bytes = 1 + harness_random() % 128;
            uint64_t offset = 0;
            bool whole = true;

            for (uint64_t k = 0; k < bytes; k++) { /* all in one piece */
                whole = whole && i + k < MAP_BYTES && map[i] != NOWHERE &&
                        map[i + k] == map[i] + (int)k;
            }
            for (uint32_t s = 1; s < view.segment_count; s++) { /* adjacent ones stay two pieces */
                whole = whole && !(at + (uint64_t)i < segments[s].address &&
                                   at + (uint64_t)i + bytes > segments[s].address);
            }
            CHECK_EQ(facet_gfx12_view_offset(&view, at + (uint64_t)i, bytes, &offset), whole);
            if (whole) {
                CHECK_EQ(offset, map[i]);
                CHECK_EQ(facet_gfx12_view_address(&view, offset), at + (uint64_t)i);
                /* the top 16 bits of a canonical address do not count */
                CHECK(facet_gfx12_view_offset(
                    &view, (at + (uint64_t)i) | UINT64_C(0xFFFF) << 48, bytes, &offset));
            }
        }
    }
}

TEST(an_image_in_one_piece_wraps_at_48_bits, "")
{
    struct facet_gfx12_view view = {.size = 512, .base = UINT64_C(0xFFFFFFFFFF00)};
    uint64_t offset;

    CHECK(facet_gfx12_view_offset(&view, UINT64_C(0xFFFFFFFFFFC0), 128, &offset) && offset == 192);
    CHECK(facet_gfx12_view_offset(&view, 0x40, 128, &offset) && offset == 320);
    CHECK(!facet_gfx12_view_offset(&view, 0xC0, 128, &offset));
    CHECK_EQ(facet_gfx12_view_address(&view, 320), 0x40);
    view.size = 64;
    CHECK(!facet_gfx12_view_offset(&view, view.base, 128, &offset));
}

TEST(places_name_file_and_address, "")
{
    const struct facet_gfx12_segment segments[2] = {
        {0x10000, 0, 256, NULL, 0}, {UINT64_C(0x7F1234000100), 256, 64, "dumps/blas.bin", 0x40}};
    struct facet_gfx12_view view = {.size = 320, .segments = segments, .segment_count = 2};
    struct facet_gfx12_view whole = {.size = 320, .base = 0};
    char text[FACET_GFX12_PLACE];

    CHECK_STR(facet_gfx12_view_place(&view, UINT64_C(0x7F1234000110), text),
              "blas.bin+0x50 (address 0x7f1234000110)");
    CHECK_STR(facet_gfx12_view_place(&view, 0x10080, text), "0x80 (address 0x10080)");
    CHECK_STR(facet_gfx12_view_place(&view, 0x10100, text), "address 0x10100");
    CHECK_STR(facet_gfx12_view_place(&view, UINT64_C(0xFFFF800000000000), text),
              "address 0x800000000000");
    CHECK_STR(facet_gfx12_view_place(&whole, 0x40, text), "0x40");
}

/* ---- an image that was moved apart ---- */

enum { BLASES = 5, INSTANCES = 9 };

struct apart {
    struct facet_gfx12_image whole;
    uint8_t *bytes;
    struct facet_gfx12_segment segments[BLASES + 1];
    struct facet_gfx12_view one, many;
};

static int by_address(const void *a, const void *b)
{
    const struct facet_gfx12_segment *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static struct facet_gfx12_image build_meshes(void)
{
    struct mesh mesh[BLASES];

    for (int i = 0; i < BLASES; i++) {
        mesh[i] = i % 2 == 0 ? mesh_planet(4 + (uint32_t)i, 7) : mesh_soup(40, (uint32_t)i);
    }
    return mesh_image(mesh, BLASES, INSTANCES, 3);
}

/* The starts of TLAS and BLASes in the image, in order: those that instances point to. */
static uint32_t find_starts(const struct facet_gfx12_view *one, uint64_t starts[BLASES + 1])
{
    struct facet_gfx12_walk walk;
    uint32_t count = 1;

    starts[0] = 0;
    CHECK(facet_gfx12_walk(one, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.count; i++) {
        if (walk.nodes[i].kind == FACET_GFX12_KIND_BOX && walk.nodes[i].level_base == 64 * i &&
            i != 0) {
            starts[count++] = 64 * i;
        }
    }
    facet_gfx12_walk_free(&walk);
    return count;
}

/* Each structure goes to a random multiple of 64, far from the others, in random order. */
static void move_apart(struct apart *a)
{
    uint64_t starts[BLASES + 2], address[BLASES + 1], at = 0;
    uint8_t *from;
    uint32_t count;

    a->whole = build_meshes();
    a->one = (struct facet_gfx12_view){
        .bytes = a->whole.bytes, .size = a->whole.size, .root = FACET_GFX12_ROOT};
    count = find_starts(&a->one, starts);
    CHECK_EQ(count, BLASES + 1);
    starts[count] = a->whole.size;
    a->bytes = malloc(a->whole.size);
    memcpy(a->bytes, a->whole.bytes, a->whole.size);
    for (uint32_t i = 0; i < count; i++) {
        address[i] = ((uint64_t)(i * 5 % 7) << 44) + 64 * (uint64_t)(harness_random() % 1000);
        address[i] += i % 2 == 0 ? 64 : 0;
        a->segments[i] = (struct facet_gfx12_segment){
            address[i], starts[i], starts[i + 1] - starts[i], "moved", 0};
    }
    for (uint64_t node = 0; node < starts[1]; node += 128) { /* instances of the TLAS */
        struct facet_gfx12_instance in;
        uint32_t blas = 0;
        struct facet_gfx12_walk walk;
        bool instance;

        CHECK(facet_gfx12_walk(&a->one, &walk, NULL) == FACET_OK);
        instance = walk.nodes[node / 64].kind == FACET_GFX12_KIND_INSTANCE;
        facet_gfx12_walk_free(&walk);
        if (!instance) {
            continue;
        }
        facet_gfx12_instance_decode(a->bytes + node, &in);
        while (starts[blas] != facet_gfx12_base_address(in.pointer)) {
            blas++;
        }
        in.pointer = facet_gfx12_base_make(address[blas], facet_gfx12_base_flags(in.pointer));
        facet_gfx12_instance_encode(&in, a->bytes + node);
    }
    a->many = (struct facet_gfx12_view){.bytes = a->bytes,
                                        .size = a->whole.size,
                                        .base = address[0],
                                        .root = FACET_GFX12_ROOT,
                                        .segments = a->segments,
                                        .segment_count = count};
    qsort(a->segments, count, sizeof a->segments[0], by_address);
    from = a->bytes;
    a->many.bytes = a->bytes = malloc(a->whole.size);
    for (uint32_t i = 0; i < count; i++) { /* the bytes come in the order of the addresses */
        memcpy(a->bytes + at, from + a->segments[i].offset, a->segments[i].size);
        a->segments[i].offset = at;
        at += a->segments[i].size;
    }
    free(from);
}

static void apart_free(struct apart *a)
{
    free(a->whole.bytes);
    free(a->bytes);
}

TEST(parts_that_lie_apart_are_one_image, "G12-269")
{
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_bvh_stats stats[2];
    uint64_t warnings[2];
    struct facet_gfx12_check check;
    struct apart a;

    move_apart(&a);
    for (int i = 0; i < 2; i++) {
        const struct facet_gfx12_view *view = i == 0 ? &a.one : &a.many;
        struct facet_gfx12_walk walk;

        CHECK(facet_gfx12_walk(view, &walk, NULL) == FACET_OK);
        CHECK_EQ(walk.problem_count, 0);
        CHECK(facet_gfx12_bvh_stats(view, &walk, &stats[i], NULL) == FACET_OK);
        facet_gfx12_walk_free(&walk);
        CHECK(facet_gfx12_check(view, &options, &check, NULL) == FACET_OK);
        CHECK_EQ(check.total[FACET_GFX12_ERROR] + check.total[FACET_GFX12_NOTE], 0);
        warnings[i] = check.total[FACET_GFX12_WARNING];
        CHECK_EQ(check.reached, view->size / 128);
        facet_gfx12_check_free(&check);
    }
    CHECK_EQ(warnings[0], warnings[1]);
    CHECK(memcmp(&stats[0], &stats[1], sizeof stats[0]) == 0);
    CHECK_EQ(stats[1].bottom_levels, BLASES);
    apart_free(&a);
}

TEST(rays_through_parts_that_lie_apart, "G12-269")
{
    struct facet_gfx12_unit unit[2];
    struct apart a;
    unsigned hits = 0;

    move_apart(&a);
    facet_gfx12_unit_view(&unit[0], &a.one);
    facet_gfx12_unit_view(&unit[1], &a.many);
    for (int r = 0; r < 2000; r++) {
        float origin[3] = {8 * mesh_uniform(), 8 * mesh_uniform(), 8 * mesh_uniform()};
        float direction[3] = {
            mesh_uniform() - origin[0], mesh_uniform() - origin[1], mesh_uniform() - origin[2]};
        struct facet_gfx12_hit hit[2];

        for (int i = 0; i < 2; i++) {
            struct facet_gfx12_query query;

            facet_gfx12_query_init(&query, origin, direction);
            query.address = i == 0 ? 0 : a.many.base;
            CHECK(facet_gfx12_trace(&unit[i], &query, &hit[i], NULL, NULL) == FACET_OK);
            hit[i].base = 0; /* the addresses are what differs */
        }
        CHECK(same_hits(&hit[0], &hit[1]));
        hits += hit[1].found;
    }
    CHECK(hits > 200);
    apart_free(&a);
}

/* A box whose two children are boxes 64 bytes apart: the second lies over the first. */
TEST(nodes_that_overlap_are_found, "G12-257 G12-003")
{
    uint8_t image[8 * 64] = {0};
    struct facet_gfx12_segment segments[2] = {{0x1000, 0, 256, NULL, 0},
                                              {0x2000, 256, 256, NULL, 0}};
    struct facet_gfx12_view view = {.bytes = image,
                                    .size = sizeof image,
                                    .base = 0x1000,
                                    .root = FACET_GFX12_ROOT,
                                    .segments = segments,
                                    .segment_count = 2};
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_instance in = {0};
    struct facet_gfx12_box box = {.child_count_minus_one = 0, .obb_matrix_index = 0x7F};
    struct facet_gfx12_check check;
    bool found = false;

    for (int i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
    }
    facet_gfx12_box_encode(&box, image + 256);
    box.primitive_child_offset = 16; /* the instance behind the root */
    box.child[0] = (struct facet_gfx12_child){
        .max = {9, 9, 9}, .cull_mask = 0xFF, .node_type = FACET_GFX12_TYPE_INSTANCE};
    facet_gfx12_box_encode(&box, image);
    in.child_count_minus_one = 0;
    in.child[0].node_type = FACET_GFX12_TYPE_BOX;
    in.pointer = facet_gfx12_base_make(0x1040, 0); /* the middle of the root */
    facet_gfx12_instance_encode(&in, image + 128);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    for (uint32_t i = 0; i < check.count; i++) {
        found = found || (check.findings[i].rule == 1 && check.findings[i].offset == 128 + 80 &&
                          strstr(check.findings[i].text, "0x40 (address 0x1040) overlaps") != NULL);
    }
    CHECK(found);
    facet_gfx12_check_free(&check);
    in.pointer = facet_gfx12_base_make(0x20C0, 0); /* 64 of its 128 bytes */
    facet_gfx12_instance_encode(&in, image + 128);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    CHECK_EQ(check.by_rule[2], 1);
    facet_gfx12_check_free(&check);
    in.pointer = facet_gfx12_base_make(0x2000, 0);
    facet_gfx12_instance_encode(&in, image + 128);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    CHECK_EQ(check.by_rule[1] + check.by_rule[2], 0);
    facet_gfx12_check_free(&check);
}
