/* Node layouts: every field at its bits, codecs inverse to each other, quantization against exact
 * arithmetic, the OBB table, node IDs and base pointers. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "base/float.h"
#include "base/hash.h"
#include "gfx12/image/node.h"
#include "gfx12/pack.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

enum { MILLION = 1000000 };

static void put(uint8_t node[128], unsigned dword, uint32_t value)
{
    facet_store_le32(node + (size_t)4 * dword, value);
}

static void fill(uint8_t node[128], uint8_t value)
{
    memset(node, value, 128);
}

static void randomize(uint8_t node[128])
{
    for (unsigned i = 0; i < 16; i++) {
        facet_store_le64(node + (size_t)8 * i, harness_random());
    }
}

/* ---- box nodes ---- */

TEST(box_header_fields, "")
{
    uint8_t node[128];
    struct facet_gfx12_box b;
    fill(node, 0);
    put(node, 0, 0x12345670);
    put(node, 1, 0x89ABCDE0);
    put(node, 2, 0xCAFE0005);
    put(node, 3, 0x3F800000);
    put(node, 4, 0x40000000);
    put(node, 5, 0x40400000);
    put(node, 6, 0x2A838281);
    put(node, 7, 0xDEADBE12);
    facet_gfx12_box_decode(node, &b);
    CHECK_ID("G12-004", b.internal_child_offset == 0x12345670);
    CHECK_ID("G12-006", b.primitive_child_offset == 0x89ABCDE0);
    CHECK_EQ(b.parent, 0xCAFE0005);
    CHECK_ID("G12-010", b.origin[0] == 0x3F800000);
    CHECK_ID("G12-012", b.origin[1] == 0x40000000);
    CHECK_ID("G12-014", b.origin[2] == 0x40400000);
    CHECK_ID("G12-016", b.exponent[0] == 0x81);
    CHECK_ID("G12-017", b.exponent[1] == 0x82);
    CHECK_ID("G12-018", b.exponent[2] == 0x83);
    CHECK_EQ(b.unused, 0xA);
    CHECK_ID("G12-021", b.child_count_minus_one == 2);
    CHECK_ID("G12-023", b.obb_matrix_index == 0xDEADBE12);
}

TEST(box_child_fields, "")
{
    static const struct {
        unsigned dword;
        uint32_t value;
        struct facet_gfx12_child child;
        const char *ids;
    } rows[] = {
        {0, 0x00000ABC, {.min = {0xABC, 0, 0}}, "G12-028"},
        {0, 0x00ABC000, {.min = {0, 0xABC, 0}}, "G12-029"},
        {0, 0x05000000, {.cull_flags = 5}, "G12-030"},
        {0, 0x90000000, {.unused = 9}, "G12-031"},
        {1, 0x00000ABC, {.min = {0, 0, 0xABC}}, "G12-032"},
        {1, 0x00ABC000, {.max = {0xABC, 0, 0}}, "G12-033"},
        {1, 0x0F000000, {.cull_mask = 0x0F}, "G12-034"},
        {2, 0x00000ABC, {.max = {0, 0xABC, 0}}, "G12-035"},
        {2, 0x00ABC000, {.max = {0, 0, 0xABC}}, "G12-036"},
        {2, 0x06000000, {.node_type = 6}, "G12-037"},
        {2, 0x20000000, {.node_size = 2}, "G12-038"},
    };
    uint8_t node[128];
    struct facet_gfx12_box b;
    memset(&b, 0, sizeof b); /* padding */
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        harness_row(rows[n].ids);
        for (unsigned i = 0; i < 8; i++) {
            fill(node, 0);
            put(node, 8 + 3 * i + rows[n].dword, rows[n].value);
            facet_gfx12_box_decode(node, &b);
            CHECK_MSG(memcmp(&b.child[i], &rows[n].child, sizeof b.child[i]) == 0,
                      "row %zu child %u",
                      n,
                      i);
            memset(&b.child[i], 0, sizeof b.child[i]);
            static const struct facet_gfx12_box empty;
            CHECK(memcmp(&b, &empty, sizeof b) == 0);
        }
    }
    harness_row("G12-027");
    for (unsigned i = 0; i < 8; i++) { /* stride 12 from byte 32 */
        facet_store_le16(node + 32 + (size_t)12 * i, (uint16_t)(0x100 + i));
    }
    facet_gfx12_box_decode(node, &b);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(b.child[i].min[0], 0x100 + i);
    }
}

TEST(unused_child_slot, "G12-186")
{
    uint8_t node[128];
    struct facet_gfx12_box b;
    memset(&b, 0, sizeof b);
    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&b.child[i]);
    }
    facet_gfx12_box_encode(&b, node);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(facet_load_le32(node + 32 + (size_t)12 * i), 0xFFFFFFFF);
        CHECK_EQ(facet_load_le32(node + 36 + (size_t)12 * i), 0x00000FFF);
        CHECK_EQ(facet_load_le32(node + 40 + (size_t)12 * i), 0x00000000);
    }
}

TEST(child_ids_advance_per_class, "G12-005 G12-007 G12-039 G12-049 G12-050")
{
    const struct facet_gfx12_child mixed[4] = {{.node_type = 5, .node_size = 1},
                                               {.node_type = 0, .node_size = 1},
                                               {.node_type = 5, .node_size = 1},
                                               {.node_type = 3, .node_size = 1}};
    uint32_t ids[4];
    facet_gfx12_child_ids(mixed, 4, 0x40, 0x80, ids);
    check_words("mixed", ids, (const uint32_t[]){0x45, 0x80, 0x55, 0x93}, 4);
    const struct facet_gfx12_child sizes[2] = {{.node_type = 6, .node_size = 2},
                                               {.node_type = 6, .node_size = 1}};
    facet_gfx12_child_ids(sizes, 2, 0x900, 0x300, ids);
    check_words("sizes", ids, (const uint32_t[]){0x306, 0x326}, 2);
    const struct facet_gfx12_child wrap[2] = {{.node_type = 5, .node_size = 15},
                                              {.node_type = 5, .node_size = 1}};
    facet_gfx12_child_ids(wrap, 2, 0xFFFFFFF0, 0, ids); /* 32-bit arithmetic */
    check_words("wrap", ids, (const uint32_t[]){0xFFFFFFF5, 0x000000E5}, 2);
}

/* ---- round trips ---- */

TEST(million_nodes_round_trip, "G12-003")
{
    uint8_t a[128], b[128];
    struct facet_gfx12_box box, box2;
    struct facet_gfx12_instance instance, instance2;
    struct facet_gfx12_prim prim;
    for (unsigned n = 0; n < MILLION && !harness_failed(); n++) {
        randomize(a);
        memset(&box2, 0, sizeof box2); /* padding */
        memset(&box, 0, sizeof box);
        facet_gfx12_box_decode(a, &box);
        facet_gfx12_box_encode(&box, b);
        CHECK(memcmp(a, b, 128) == 0);
        facet_gfx12_box_decode(b, &box2);
        CHECK(memcmp(&box, &box2, sizeof box) == 0);

        memset(&instance, 0, sizeof instance);
        memset(&instance2, 0, sizeof instance2);
        facet_gfx12_instance_decode(a, &instance);
        facet_gfx12_instance_encode(&instance, b);
        CHECK(memcmp(a, b, 128) == 0);
        facet_gfx12_instance_decode(b, &instance2);
        CHECK(memcmp(&instance, &instance2, sizeof instance) == 0);

        facet_gfx12_prim_decode(a, &prim); /* also with overlapping sections */
        facet_gfx12_prim_encode(&prim, b);
        CHECK(memcmp(a, b, 128) == 0);
    }
}

/* A triangle near a random place, with coordinates of few or many bits. */
static struct pack_tri random_tri(unsigned style)
{
    struct pack_tri t;
    uint32_t keep = style == 0 ? 0xFFFFFFFF : 0xFFFFFFFF << (8 + random_bits() % 12);
    for (unsigned i = 0; i < 9; i++) {
        t.v[i / 3][i % 3] = facet_float_of(random_float_bits(style == 2 ? 0 : 4) & keep);
    }
    t.geometry = random_bits() >> (2 + random_bits() % 30);
    t.primitive = random_bits() >> (1 + random_bits() % 31);
    t.opaque = random_bits() & 1;
    t.double_sided = random_bits() & 1;
    return t;
}

TEST(million_valid_primitive_nodes_round_trip, "G12-003 G12-066")
{
    struct pack_tri tris[16];
    unsigned fitted = 0, pairs_seen[9] = {0};
    while (fitted < MILLION && !harness_failed()) {
        struct pack_pair pairs[8];
        struct facet_gfx12_prim p, q;
        struct facet_gfx12_pair pair;
        uint8_t a[128], b[128];
        unsigned count = 1 + random_bits() % 8, style = random_bits() % 3;
        /* Later triangles share corners and high index bits with the first, so that many fit. */
        for (unsigned i = 0; i < 2 * count; i++) {
            tris[i] = random_tri(style);
            for (unsigned c = 0; i > 0 && c < 3; c++) {
                if (random_bits() % 4 != 0) {
                    memcpy(tris[i].v[c], tris[random_bits() % i].v[random_bits() % 3], 12);
                }
            }
            if (i > 0 && random_bits() % 8 != 0) {
                tris[i].geometry = tris[0].geometry ^ random_bits() % 2;
                tris[i].primitive = tris[0].primitive ^ random_bits() % 8;
            }
        }
        for (unsigned i = 0; i < count; i++) {
            pairs[i] = (struct pack_pair){
                .tri = {&tris[2 * i], random_bits() % 4 != 0 ? &tris[2 * i + 1] : NULL},
                .stop = random_bits() & 1};
        }
        if (!pack_node(pairs, count, &p)) {
            continue;
        }
        fitted++;
        pairs_seen[count]++;
        facet_gfx12_prim_encode(&p, a);
        CHECK_EQ(a[3] >> 7, 0); /* vertex_type */
        facet_gfx12_prim_decode(a, &q);
        facet_gfx12_prim_encode(&q, b);
        CHECK(memcmp(a, b, 128) == 0);
        CHECK(memcmp(&p.header, &q.header, sizeof p.header) == 0);
        CHECK(memcmp(p.pair, q.pair, count * sizeof p.pair[0]) == 0);
        CHECK(q.vertex_count <= p.vertex_count);
        for (unsigned t = 0; t < 2 * count; t++) {
            const struct pack_tri *tri = pairs[t / 2].tri[t % 2];
            facet_gfx12_pair_decode(a, t / 2, &pair);
            if (tri == NULL) {
                CHECK(facet_gfx12_tri_absent(&pair.desc.tri[t % 2]));
                continue;
            }
            CHECK(memcmp(pair.vertex[t % 2], tri->v, sizeof tri->v) == 0);
            CHECK_EQ(pair.geometry_index[t % 2], tri->geometry);
            CHECK_EQ(pair.primitive_index[t % 2], tri->primitive);
            CHECK_EQ(pair.desc.tri[t % 2].opaque, tri->opaque);
            CHECK_EQ(pair.desc.tri[t % 2].double_sided, tri->double_sided);
            CHECK_EQ(pair.desc.prim_range_stop, pairs[t / 2].stop);
            CHECK_EQ(pair.navigation, pairs[t / 2].stop ? 3 : t / 2 + 1 == count ? 1 : 0);
            CHECK_EQ(facet_gfx12_prim_geometry(&q, t), tri->geometry);
            CHECK_EQ(facet_gfx12_prim_primitive(&q, t), tri->primitive);
            for (unsigned c = 0; c < 3; c++) {
                uint32_t xyz[3];
                facet_gfx12_prim_vertex(&q, q.pair[t / 2].tri[t % 2].index[c], xyz);
                CHECK(memcmp(xyz, tri->v[c], sizeof xyz) == 0);
            }
        }
    }
    for (unsigned i = 1; i <= 7; i++) {
        CHECK_MSG(pairs_seen[i] > 1000, "only %u nodes with %u pairs", pairs_seen[i], i);
    }
}

/* What statistics read is what a full decode gives, for any bytes. */
TEST(outlines_agree_with_decoded_nodes, "")
{
    for (unsigned i = 0; i < 20000; i++) {
        struct facet_gfx12_prim whole, outline;
        uint8_t node[128];

        randomize(node);
        facet_gfx12_prim_decode(node, &whole);
        facet_gfx12_prim_outline(node, &outline);
        CHECK(memcmp(&outline.header, &whole.header, sizeof whole.header) == 0);
        CHECK(memcmp(outline.pair, whole.pair, sizeof whole.pair) == 0);
        CHECK_EQ(outline.vertex_count, whole.vertex_count);
        CHECK_EQ(outline.primitive_base, 0);
    }
}

/* ---- the bit reader ---- */

TEST(bits_outside_the_node_read_as_zero, "G12-070")
{
    struct facet_gfx12_words w;
    for (unsigned i = 0; i < 32; i++) {
        w.w[i] = random_bits();
    }
    for (unsigned n = 0; n < 200000 && !harness_failed(); n++) {
        int at = (int)(random_bits() % 1200) - 100;
        unsigned width = random_bits() % 65;
        uint64_t want = 0;
        for (unsigned i = 0; i < width; i++) {
            int bit = at + (int)i;
            if (bit >= 0 && bit < 1024) {
                want |= (uint64_t)(w.w[bit / 32] >> (bit % 32) & 1) << i;
            }
        }
        CHECK_EQ(facet_gfx12_bits_get(&w, at, width), want);
        struct facet_gfx12_words x = w;
        uint64_t value = harness_random();
        facet_gfx12_bits_set(&x, at, width, value);
        for (int bit = 0; bit < 1024; bit++) {
            bool inside = bit >= at && bit < at + (int)width;
            uint32_t old = w.w[bit / 32] >> (bit % 32) & 1;
            uint32_t now = x.w[bit / 32] >> (bit % 32) & 1;
            if (now != (inside ? (uint32_t)(value >> (bit - at) & 1) : old)) {
                CHECK_MSG(false, "set at %d width %u: bit %d", at, width, bit);
                break;
            }
        }
        w = x;
    }
}

/* ---- primitive nodes ---- */

TEST(primitive_header_fields, "")
{
    struct facet_gfx12_words w = {{0}};
    uint8_t node[128];
    struct facet_gfx12_prim p;
    static const struct facet_gfx12_prim_header zero;
#define FIELD(ids, at, width, value, member, want)                                                 \
    harness_row(ids);                                                                              \
    memset(&w, 0, sizeof w);                                                                       \
    facet_gfx12_bits_set(&w, at, width, value);                                                    \
    facet_gfx12_words_store(&w, node);                                                             \
    facet_gfx12_prim_decode(node, &p);                                                             \
    CHECK_EQ(p.header.member, want);                                                               \
    p.header.member = 0;                                                                           \
    CHECK(memcmp(&p.header, &zero, sizeof zero) == 0);
    FIELD("G12-056", 0, 5, 0x15, vertex_bits_minus_one[0], 0x15)
    FIELD("G12-057", 5, 5, 0x15, vertex_bits_minus_one[1], 0x15)
    FIELD("G12-058", 10, 5, 0x15, vertex_bits_minus_one[2], 0x15)
    FIELD("G12-059", 15, 5, 0x15, trailing_zero_bits, 0x15)
    FIELD("G12-061", 20, 4, 0xF, geometry_index_base_bits_div_2, 0xF)
    FIELD("G12-063", 24, 4, 0xE, geometry_index_bits_div_2, 0xE)
    FIELD("G12-065", 28, 3, 7, triangle_pair_count_minus_one, 7)
    FIELD("G12-066", 31, 1, 1, vertex_type, 1)
    FIELD("G12-067", 32, 5, 0x15, primitive_index_base_bits, 0x15)
    FIELD("G12-068", 37, 5, 0x15, primitive_index_bits, 0x15)
    FIELD("G12-069", 42, 10, 0x2AA, indices_midpoint, 0x2AA)
#undef FIELD
    /* Widths that follow from the fields. */
    struct facet_gfx12_prim_header h = {.vertex_bits_minus_one = {0x15, 0, 31},
                                        .trailing_zero_bits = 3,
                                        .triangle_pair_count_minus_one = 7};
    CHECK_ID("G12-056", facet_gfx12_prim_prefix_bits(&h, 0) == 32 - 3 - 22);
    CHECK_ID("G12-057", facet_gfx12_prim_prefix_bits(&h, 1) == 32 - 3 - 1);
    CHECK_ID("G12-058", facet_gfx12_prim_prefix_bits(&h, 2) == 0); /* negative counts as 0 */
    CHECK_ID("G12-065", facet_gfx12_prim_pairs(&h) == 8);
    harness_row("G12-061 G12-063");
    /* Index widths are twice the fields: 30 base bits and 28 payload bits around bit 500. */
    memset(&w, 0, sizeof w);
    facet_gfx12_bits_set(&w, 20, 4, 0xF);
    facet_gfx12_bits_set(&w, 24, 4, 0xE);
    facet_gfx12_bits_set(&w, 42, 10, 500);
    facet_gfx12_bits_set(&w, 470, 30, 0x2AAAAAAA);
    facet_gfx12_bits_set(&w, 442, 28, 0x5555555);
    facet_gfx12_words_store(&w, node);
    facet_gfx12_prim_decode(node, &p);
    CHECK_EQ(facet_gfx12_prim_geometry(&p, 0), 0x2AAAAAAA);
    CHECK_EQ(facet_gfx12_prim_geometry(&p, 1), 0x25555555); /* high bits of the base */
}

TEST(pair_descriptor_fields, "")
{
    static const struct facet_gfx12_pair_desc zero;
    struct facet_gfx12_words w;
    uint8_t node[128];
    struct facet_gfx12_prim p;
#define FIELD(ids, at, width, member)                                                              \
    harness_row(ids " G12-055");                                                                   \
    for (int pair = 0; pair < 8; pair++) {                                                         \
        memset(&w, 0, sizeof w);                                                                   \
        facet_gfx12_bits_set(&w, 1024 - 29 * (pair + 1) + (at), width, ~UINT64_C(0));              \
        facet_gfx12_words_store(&w, node);                                                         \
        facet_gfx12_prim_decode(node, &p);                                                         \
        CHECK_EQ(p.pair[pair].member, (1u << (width)) - 1);                                        \
        p.pair[pair].member = 0;                                                                   \
        for (unsigned other = 0; other < 8; other++) {                                             \
            CHECK(memcmp(&p.pair[other], &zero, sizeof zero) == 0);                                \
        }                                                                                          \
    }
    FIELD("G12-090", 0, 1, prim_range_stop)
    FIELD("G12-091", 1, 1, tri[1].double_sided)
    FIELD("G12-092", 2, 1, tri[1].opaque)
    FIELD("G12-093", 3, 4, tri[1].index[0])
    FIELD("G12-094", 7, 4, tri[1].index[1])
    FIELD("G12-095", 11, 4, tri[1].index[2])
    FIELD("G12-096", 15, 1, tri[0].double_sided)
    FIELD("G12-097", 16, 1, tri[0].opaque)
    FIELD("G12-098", 17, 4, tri[0].index[0])
    FIELD("G12-099", 21, 4, tri[0].index[1])
    FIELD("G12-100", 25, 4, tri[0].index[2])
#undef FIELD
}

TEST(one_pair_always_fits, "G12-255")
{
    struct pack_tri t[2];
    for (unsigned i = 0; i < 18; i++) { /* no bit in common */
        t[i / 9].v[i % 9 / 3][i % 3] = facet_float_of(i % 2 != 0 ? 0x3F800000 + i : 0xC0000002 ^ i);
    }
    t[0].geometry = 0x20000000;
    t[1].geometry = 0x1FFFFFFF;
    t[0].primitive = 0x40000000;
    t[1].primitive = 0x3FFFFFFF;
    t[0].opaque = t[1].opaque = t[0].double_sided = t[1].double_sided = false;
    const struct pack_pair pair = {.tri = {&t[0], &t[1]}, .stop = true};
    struct facet_gfx12_prim p;
    CHECK(pack_node(&pair, 1, &p));
    CHECK_EQ(p.vertex_count, 6);
    CHECK_EQ(facet_gfx12_prim_bits(&p.header, 6), 779);
    uint8_t node[128];
    struct facet_gfx12_pair out;
    facet_gfx12_prim_encode(&p, node);
    facet_gfx12_pair_decode(node, 0, &out);
    CHECK(memcmp(out.vertex[0], t[0].v, sizeof t[0].v) == 0);
    CHECK(memcmp(out.vertex[1], t[1].v, sizeof t[1].v) == 0);
    CHECK_EQ(out.geometry_index[1], 0x1FFFFFFF);
    CHECK_EQ(out.primitive_index[1], 0x3FFFFFFF);
}

TEST(node_limits, "")
{
    /* 8 pairs of one strip fit and a ninth does not; 17 vertices do not. */
    struct pack_tri t[18];
    struct pack_pair pairs[9];
    struct facet_gfx12_prim p;
    memset(t, 0, sizeof t);
    for (unsigned i = 0; i < 18; i++) {
        for (unsigned c = 0; c < 3; c++) {
            t[i].v[c][0] = (float)((i + c) % 8);
            t[i].v[c][1] = (float)((i * 3 + c) % 2);
        }
    }
    for (unsigned i = 0; i < 9; i++) {
        pairs[i] = (struct pack_pair){.tri = {&t[2 * i], &t[2 * i + 1]}};
    }
    CHECK(pack_node(pairs, 8, &p));
    CHECK(!pack_node(pairs, 9, &p));
    for (unsigned i = 0; i < 12; i++) {
        for (unsigned c = 0; c < 3; c++) {
            t[i].v[c][0] = (float)(3 * i + c < 16 ? 3 * i + c : 0);
            t[i].v[c][1] = 0;
        }
    }
    CHECK(pack_node(pairs, 6, &p)); /* 16 vertices */
    CHECK_EQ(p.vertex_count, 16);
    t[11].v[2][1] = 1;
    CHECK(!pack_node(pairs, 6, &p)); /* a seventeenth */
    struct facet_gfx12_prim_header h = {.vertex_bits_minus_one = {31, 31, 31}};
    CHECK_EQ(facet_gfx12_prim_bits(&h, 9), 52 + 29 + 9 * 96);
    CHECK(facet_gfx12_prim_bits(&h, 10) > 1024);
}

/* ---- quantization ---- */

/* A bound in one of several styles: near each other, far apart, tiny, huge. */
static float random_bound(unsigned style)
{
    switch (style) {
    case 0:
        return (float)((int)(random_bits() % 2001) - 1000) * 0.001f;
    case 1:
        return facet_float_of(random_float_bits(30));
    case 2:
        return facet_float_of(random_float_bits(2)) + 16777216.0f;
    case 3: /* subnormal and tiny */
        return facet_float_of((random_bits() & 0x80000000) | random_bits() % 0x07000000);
    case 4: /* huge */
        return facet_float_of((random_bits() & 0x80000000) |
                              (0x7C000000 + random_bits() % 0x02000000));
    default:
        return (float)(random_bits() % 4096) * (1.0f / 64);
    }
}

TEST(quantized_boxes_contain_and_are_tight,
     "G12-041 G12-042 G12-045 G12-046 G12-187 G12-188 G12-189")
{
    mpfr_t plane, step, bound, origin; /* 700 bits hold every sum exactly */
    mpfr_inits2(700, plane, step, bound, origin, (mpfr_ptr)0);
    unsigned done = 0, tight = 0;
    while (done < MILLION && !harness_failed()) {
        unsigned style = random_bits() % 6;
        float x[4];
        for (unsigned i = 0; i < 4; i++) {
            x[i] = random_bound(style);
        }
        float lo = x[0], hi = x[0];
        for (unsigned i = 1; i < 4; i++) {
            lo = x[i] < lo ? x[i] : lo;
            hi = x[i] > hi ? x[i] : hi;
        }
        float l = x[2] < x[3] ? x[2] : x[3], h = x[2] < x[3] ? x[3] : x[2];
        uint8_t e;
        if (!facet_gfx12_quantize_exponent(facet_float_bits(lo), facet_float_bits(hi), &e)) {
            CHECK((double)hi - (double)lo > 0x1p127);
            continue;
        }
        done++;
        mpfr_set_flt(origin, lo, MPFR_RNDN);
        /* The smallest power of two that covers the extent, at least 2^-114 (exponent 13). */
        mpfr_set_flt(bound, hi, MPFR_RNDN);
        mpfr_sub(bound, bound, origin, MPFR_RNDN);
        if (e == 0) {
            CHECK(mpfr_zero_p(bound));
            continue;
        }
        CHECK(e >= 13 && e <= 254 && mpfr_cmp_ui_2exp(bound, 1, e - 127) <= 0);
        /* RU of the extent may cross a power of two only if it is above it exactly. */
        CHECK(e == 13 || mpfr_cmp_ui_2exp(bound, 1, e - 128) > 0);

        uint16_t qmin = facet_gfx12_quantize_min(facet_float_bits(l), facet_float_bits(lo), e);
        uint16_t qmax = facet_gfx12_quantize_max(facet_float_bits(h), facet_float_bits(lo), e);
        float dl = facet_float_of(facet_gfx12_dequantize(facet_float_bits(lo), e, qmin));
        float dh = facet_float_of(facet_gfx12_dequantize(facet_float_bits(lo), e, qmax + 1u));
        CHECK_MSG(dl <= l && dh >= h, "style %u: %a..%a decodes to %a..%a", style, l, h, dl, dh);
        /* One plane further in breaks containment, in exact arithmetic. */
        mpfr_set_ui_2exp(step, 1, e - 127 - 12, MPFR_RNDN);
        mpfr_mul_ui(plane, step, qmin + 1u, MPFR_RNDN);
        mpfr_add(plane, plane, origin, MPFR_RNDN);
        mpfr_set_flt(bound, l, MPFR_RNDN);
        CHECK(qmin == 4095 || mpfr_cmp(plane, bound) > 0);
        mpfr_mul_ui(plane, step, qmax, MPFR_RNDN);
        mpfr_add(plane, plane, origin, MPFR_RNDN);
        mpfr_set_flt(bound, h, MPFR_RNDN);
        CHECK(qmax == 0 || mpfr_cmp(plane, bound) < 0);
        tight += qmax != 0;
    }
    CHECK(tight > MILLION / 2);
    mpfr_clears(plane, step, bound, origin, (mpfr_ptr)0);
}

TEST(quantization_next_to_a_plane, "G12-189")
{
    /* e = 0x7F, origin 0: planes at multiples of 2^-12. */
    for (unsigned p = 1; p < 4095; p++) {
        uint32_t at = facet_float_bits((float)p / 4096);
        CHECK_EQ(facet_gfx12_quantize_min(at, 0, 0x7F), p);
        CHECK_EQ(facet_gfx12_quantize_min(at - 1, 0, 0x7F), p - 1);
        CHECK_EQ(facet_gfx12_quantize_min(at + 1, 0, 0x7F), p);
        CHECK_EQ(facet_gfx12_quantize_max(at, 0, 0x7F), p - 1);
        CHECK_EQ(facet_gfx12_quantize_max(at + 1, 0, 0x7F), p);
        CHECK_EQ(facet_gfx12_quantize_max(at - 1, 0, 0x7F), p - 1);
    }
    CHECK_EQ(facet_gfx12_quantize_min(0xBF800000, 0, 0x7F), 0); /* clamps */
    CHECK_EQ(facet_gfx12_quantize_min(0x40000000, 0, 0x7F), 4095);
    CHECK_EQ(facet_gfx12_quantize_max(0xBF800000, 0, 0x7F), 0);
    CHECK_EQ(facet_gfx12_quantize_max(0x40000000, 0, 0x7F), 4095);
    CHECK_EQ(facet_gfx12_quantize_min(0x3F800000, 0, 0), 0);
    CHECK_EQ(facet_gfx12_quantize_max(0x3F800000, 0, 0), 0);
    /* The directed subtraction matters: 33554432 - (-0.1) is above plane 2^25 by 0.1. */
    CHECK_EQ(facet_gfx12_quantize_max(0x4C000000, 0xBDCCCCCD, 0x99), 2048);
    CHECK_EQ(facet_gfx12_quantize_min(0x4C000000, 0xBDCCCCCD, 0x99), 2048);
    /* A bound just below a plane although the rounded difference lies on it. */
    CHECK_EQ(facet_gfx12_quantize_min(0x4C000000, 0x3DCCCCCD, 0x99), 2047);
    /* Exponents too far apart for binary64: only the error of the sum tells the side. */
    CHECK_EQ(facet_gfx12_quantize_min(0x3F800000, 0x1E3CE508, 0x80), 2047);
    CHECK_EQ(facet_gfx12_quantize_min(0x3F800000, 0x9E3CE508, 0x80), 2048);
    CHECK_EQ(facet_gfx12_quantize_max(0x3F800000, 0x1E3CE508, 0x80), 2047);
    CHECK_EQ(facet_gfx12_quantize_max(0x3F800000, 0x9E3CE508, 0x80), 2048);
    uint8_t e;
    CHECK(facet_gfx12_quantize_exponent(0x9E3CE508, 0x3F800000, &e));
    CHECK_EQ(e, 0x80);
    /* Inverted box. */
    const uint32_t origin[3] = {0, 0, 0};
    const uint8_t exponent[3] = {0x7F, 0x7F, 0x7F};
    struct facet_gfx12_child c = {.cull_flags = 3, .cull_mask = 0xFF, .node_type = 5};
    facet_gfx12_quantize_child((const uint32_t[]){0x3F800000, 0, 0},
                               (const uint32_t[]){0, 0x3F800000, 0x3F800000},
                               origin,
                               exponent,
                               &c);
    for (unsigned k = 0; k < 3; k++) {
        CHECK_EQ(c.min[k], 4095);
        CHECK_EQ(c.max[k], 0);
    }
    CHECK_EQ(c.cull_mask, 0);
    CHECK_EQ(c.cull_flags, 3);
    CHECK_EQ(c.node_type, 5);
}

TEST(every_plane_of_every_exponent, "G12-019 G12-043 G12-044 G12-190")
{
    for (unsigned e = 0; e < 256 && !harness_failed(); e++) {
        for (unsigned p = 0; p <= 4096; p++) {
            double offset = ldexp(p, (int)e - 139);
            float want = offset < 0x1p-126 ? 0 : (float)offset; /* flushed, exact or +inf */
            uint32_t got = facet_gfx12_dequantize(0, (uint8_t)e, p);
            CHECK_MSG(got == facet_float_bits(want), "exponent %u plane %u: %08" PRIX32, e, p, got);
        }
    }
}

/* The literal formula of 5.1 and 5.2 with MPFR doing every rounding. */
TEST(quantization_by_the_letter, "G12-189 G12-191 G12-019")
{
    mpfr_t a, k, s;
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(-148); /* binary32 with subnormals */
    mpfr_set_emax(128);
    mpfr_inits2(24, a, k, (mpfr_ptr)0);
    mpfr_init2(s, 24);
    for (unsigned n = 0; n < 300000 && !harness_failed(); n++) {
        uint8_t e = (uint8_t)(13 + random_bits() % 242);
        uint32_t x = random_float_bits(60), o = random_float_bits(random_bits() % 2 != 0 ? 60 : 3);
        for (unsigned up = 0; up < 2; up++) {
            mpfr_rnd_t mode = up ? MPFR_RNDU : MPFR_RNDD;
            mpfr_set_flt(a, facet_float_of(x), MPFR_RNDN);
            mpfr_set_flt(s, facet_float_of(o), MPFR_RNDN);
            int inexact = mpfr_sub(a, a, s, mode);
            (void)mpfr_subnormalize(a, inexact, mode);
            mpfr_set_ui_2exp(k, 1, 139 - e, MPFR_RNDN);
            inexact = mpfr_mul(a, a, k, mode);
            (void)mpfr_subnormalize(a, inexact, mode);
            double q = mpfr_get_d(a, MPFR_RNDN);
            if (up) {
                q = q <= 1 ? 1 : q >= 4096 ? 4096 : q > (unsigned)q ? (unsigned)q + 1 : (unsigned)q;
                CHECK_EQ(facet_gfx12_quantize_max(x, o, e), (unsigned)q - 1);
            } else {
                q = q < 0 ? 0 : q >= 4095 ? 4095 : q;
                CHECK_EQ(facet_gfx12_quantize_min(x, o, e), (unsigned)q);
            }
        }
        /* Decoding: exact offset, one rounding to nearest. */
        unsigned plane = random_bits() % 4097;
        mpfr_set_ui_2exp(a, plane, e - 127 - 12, MPFR_RNDN);
        mpfr_set_flt(s, facet_float_of(o), MPFR_RNDN);
        int inexact = mpfr_add(a, a, s, MPFR_RNDN);
        (void)mpfr_subnormalize(a, inexact, MPFR_RNDN);
        CHECK_EQ(facet_gfx12_dequantize(o, e, plane), facet_float_bits(mpfr_get_flt(a, MPFR_RNDN)));
    }
    mpfr_clears(a, k, s, (mpfr_ptr)0);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
}

/* ---- the OBB table ---- */

TEST(obb_table, "G12-192")
{
    uint32_t h32 = 0x811C9DC5;
    uint64_t h64 = UINT64_C(0xCBF29CE484222325);
    uint32_t m[9];
    for (unsigned n = 0; n < 104; n++) {
        CHECK(facet_gfx12_obb_matrix(n, m));
        for (unsigned i = 0; i < 36; i++) {
            uint8_t byte = (uint8_t)(m[i / 4] >> (8 * (i % 4)));
            h32 = (h32 ^ byte) * 16777619;
            h64 = (h64 ^ byte) * UINT64_C(1099511628211);
        }
    }
    CHECK_EQ(h32, 0xFE24D505);
    CHECK_EQ(h64, UINT64_C(0x7EA8C306F0E904E5));
    for (unsigned n = 104; n < 300; n++) {
        CHECK(!facet_gfx12_obb_matrix(n, m));
    }
    CHECK(facet_gfx12_obb_matrix(0, m));
    check_words(
        "n=0",
        m,
        (const uint32_t[]){0x3F800000, 0, 0, 0, 0x3F6C835E, 0xBEC3EF15, 0, 0x3EC3EF15, 0x3F6C835E},
        9);
    CHECK(facet_gfx12_obb_matrix(103, m));
    check_words("n=103",
                m,
                (const uint32_t[]){0x3EAAAAAB,
                                   0x3F692290,
                                   0x3E79DF93,
                                   0xBE79DF93,
                                   0x3EAAAAAB,
                                   0xBF692290,
                                   0xBF692290,
                                   0x3E79DF93,
                                   0x3EAAAAAB},
                9);
}

/* Each entry is the correctly rounded entry of the exact rotation matrix. */
TEST(obb_table_is_correctly_rounded, "G12-192")
{
    static const int axes[13][3] = {{1, 0, 0},
                                    {0, 1, 0},
                                    {0, 0, 1},
                                    {0, 1, 1},
                                    {0, -1, 1},
                                    {1, 0, 1},
                                    {1, 0, -1},
                                    {1, 1, 0},
                                    {-1, 1, 0},
                                    {1, 1, 1},
                                    {-1, 1, 1},
                                    {1, -1, 1},
                                    {-1, -1, 1}};
    mpfr_t angle, c, s, r, x, len;
    mpfr_inits2(200, angle, c, s, r, x, len, (mpfr_ptr)0);
    for (unsigned n = 0; n < 104; n++) {
        const int *g = axes[n / 8];
        uint32_t m[9];
        facet_gfx12_obb_matrix(n, m);
        mpfr_const_pi(angle, MPFR_RNDN);
        mpfr_mul_ui(angle, angle, n % 8 / 2 + 1, MPFR_RNDN);
        mpfr_div_ui(angle, angle, 8, MPFR_RNDN);
        mpfr_sin_cos(s, c, angle, MPFR_RNDN);
        if (n % 8 / 2 == 3) {
            mpfr_set_zero(c, 1);
        }
        if (n % 2 != 0) {
            mpfr_neg(s, s, MPFR_RNDN);
        }
        int squares = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        mpfr_sqrt_ui(len, (unsigned)squares, MPFR_RNDN);
        for (int row = 0; row < 3; row++) {
            for (int col = 0; col < 3; col++) {
                /* g g^T (1 - cos) / |g|^2 + cos I + [g]x sin / |g| */
                mpfr_ui_sub(r, 1, c, MPFR_RNDN);
                mpfr_mul_si(r, r, g[row] * g[col], MPFR_RNDN);
                mpfr_div_ui(r, r, (unsigned)squares, MPFR_RNDN);
                if (row == col) {
                    mpfr_add(r, r, c, MPFR_RNDN);
                } else {
                    int k = 3 - row - col;
                    int sign = (row + 1) % 3 == col ? -1 : 1;
                    mpfr_mul_si(x, s, sign * g[k], MPFR_RNDN);
                    mpfr_div(x, x, len, MPFR_RNDN);
                    mpfr_add(r, r, x, MPFR_RNDN);
                }
                float want = mpfr_get_flt(r, MPFR_RNDN) + 0.0f;
                CHECK_MSG(m[3 * row + col] == facet_float_bits(want),
                          "matrix %u (%d,%d): %08" PRIX32 " %a",
                          n,
                          row,
                          col,
                          m[3 * row + col],
                          want);
            }
        }
    }
    mpfr_clears(angle, c, s, r, x, len, (mpfr_ptr)0);
}

/* ---- IDs and base pointers ---- */

TEST(node_ids, "G12-152 G12-153 G12-154")
{
    CHECK_EQ(facet_gfx12_id_offset(0x45), 0x200);
    CHECK_EQ(facet_gfx12_id_offset(0xFFFFFFF5), UINT64_C(0x7FFFFFF80)); /* 64-bit arithmetic */
    CHECK_EQ(facet_gfx12_id_make(0x200, 5), 0x45);
    static const int pair_of[16] = {0, 1, 2, 3, -1, -1, -1, -1, 4, 5, 6, 7, -1, -1, -1, -1};
    for (uint32_t type = 0; type < 16; type++) {
        enum facet_gfx12_kind kind = facet_gfx12_id_kind(0x1230 | type);
        enum facet_gfx12_kind want = type == 5            ? FACET_GFX12_KIND_BOX
                                     : type == 6          ? FACET_GFX12_KIND_INSTANCE
                                     : pair_of[type] >= 0 ? FACET_GFX12_KIND_PRIMITIVE
                                                          : FACET_GFX12_KIND_NONE;
        CHECK_EQ(kind, want);
        if (pair_of[type] >= 0) {
            CHECK_EQ(facet_gfx12_id_pair(0x1230 | type), pair_of[type]);
            CHECK_EQ(facet_gfx12_pair_type((unsigned)pair_of[type]), type);
        }
    }
    static const uint32_t walk[8] = {0x40, 0x41, 0x42, 0x43, 0x48, 0x49, 0x4A, 0x4B};
    for (unsigned i = 0; i < 7; i++) {
        CHECK_EQ(facet_gfx12_id_next_pair(walk[i]), walk[i + 1]);
    }
    for (uint32_t id = 0xFFFFFFF8; id != 0; id++) {
        CHECK_EQ(facet_gfx12_id_kind(id), FACET_GFX12_KIND_NONE);
    }
}

TEST(base_pointers, "G12-125 G12-126 G12-157 G12-166 G12-167 G12-168")
{
    CHECK_EQ(facet_gfx12_base_make(0x20000, 0x208), UINT64_C(0x8200000000004000));
    CHECK_EQ(facet_gfx12_base_address(UINT64_C(0x8200000000004000)), 0x20000);
    CHECK_EQ(facet_gfx12_base_flags(UINT64_C(0x8200000000004000)), 0x208);
    CHECK_EQ(facet_gfx12_base_address(UINT64_C(0x003FE00000000008)), 0x40); /* 53..45 ignored */
    CHECK_EQ(facet_gfx12_api_flags(0xFFFFFFFF), 0x3F3);
    const uint64_t force_non = UINT64_C(2) << 54, force = UINT64_C(1) << 54;
    uint64_t merged = facet_gfx12_base_enter(0x4000 | force_non, force);
    CHECK_EQ(merged >> 32 & (3u << 22), 1u << 22);
    merged = facet_gfx12_base_enter(0x4000 | force_non, 0);
    CHECK_EQ(merged, 0x4000 | force_non);
    merged = facet_gfx12_base_enter(0x4007 | UINT64_C(0x208) << 54, UINT64_C(0x011) << 54 | 0x999);
    CHECK_EQ(merged, UINT64_C(0x8640000000004000));
}

/* ---- four-wide nodes ---- */

TEST(four_wide_round_trip, "G12-245")
{
    for (unsigned n = 0; n < 100000 && !harness_failed(); n++) {
        uint8_t a[128], b[128];
        struct facet_gfx12_box4 box;
        struct facet_gfx12_tri4 tri;
        randomize(a);
        facet_gfx12_box4_decode(a, &box);
        facet_gfx12_box4_encode(&box, b);
        CHECK(memcmp(a, b, 128) == 0);
        facet_gfx12_box4_decode_half(a, &box);
        facet_gfx12_box4_encode_half(&box, b);
        CHECK(memcmp(a, b, 64) == 0);
        facet_gfx12_tri4_decode(a, &tri);
        facet_gfx12_tri4_encode(&tri, b);
        CHECK(memcmp(a, b, 64) == 0);
    }
    /* Every binary16 against the definition. */
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint8_t node[64] = {0};
        struct facet_gfx12_box4 box;
        facet_store_le16(node + 16, (uint16_t)h);
        facet_gfx12_box4_decode_half(node, &box);
        uint32_t e = h >> 10 & 31, f = h & 0x3FF;
        if (e == 31) {
            CHECK_EQ(box.lo[0][0], (h & 0x8000) << 16 | 0x7F800000 | f << 13);
        } else {
            double x = e == 0 ? f * 0x1p-24 : (1024 + f) * 0x1p-25 * (double)(1u << e);
            CHECK_EQ(box.lo[0][0], facet_float_bits((float)((h & 0x8000) != 0 ? -x : x)));
        }
    }
}
