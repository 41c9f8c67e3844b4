/* The AVX2 tests of src/rt/fast.h against the pure functions of src/rt/rt.h: the same hits, the
 * same bits, the same flags but NX, wherever they say that they are done; and they must be done
 * wherever nothing but NX was raised and no NaN takes part. */
#include "harness.h"

#include "base/bits.h"
#include "base/float.h"
#include "rt/fast.h"
#include "rt/fp32.h"
#include "rt/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct facet_rt_numbers fp32(void)
{
    const struct facet_eff eff = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32, .ew = 2};

    return facet_rt_numbers_of(&eff, NULL);
}

/* ---- numbers ---- */

/* Some are drawn again and again within one case: equal planes, origins on a plane, touched edges.
 */
struct pool {
    uint32_t value[4];
};

enum kind { PLAIN, GRID, DYADIC, WILD, KINDS };

static const uint32_t special[] = {
    0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0xFF812345,
    0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x00FFFFFF, 0x01000000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x7E800000, 0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x3F800001, 0x20000000, 0x5F000000,
    0x0D000000, 0x72000000, 0x33800000, 0x4B800001, 0x46C2C200, 0x44284000};

static uint32_t below(uint32_t n)
{
    return (uint32_t)(harness_random() % n);
}

static uint32_t draw(enum kind kind, const struct pool *pool)
{
    uint64_t r = harness_random();

    if (pool != NULL && r % 8 == 0) {
        return pool->value[(r >> 8) % 4] ^ ((uint32_t)(r >> 16) % 4 == 0 ? FACET_RT_SIGN : 0);
    }
    switch (kind) {
    case PLAIN: /* any number around 1 */
        return facet_float_bits((float)((double)(int64_t)r * 0x1p-62));
    case GRID: /* exact: edges and corners are met exactly */
        return facet_float_bits((float)((int)((r >> 20) % 9) - 4));
    case DYADIC: /* 13 digits: products and their sums lie halfway between two numbers */
        return facet_float_bits((float)((int)((r >> 20) % 16384) - 8192) * 0x1p-10f);
    default:
        return (r >> 20) % 3 == 0 ? (uint32_t)(r >> 32)
                                  : special[(r >> 24) % (sizeof special / sizeof special[0])];
    }
}

/* Mostly of one kind; sometimes with one or two wild ones. */
static void fill(enum kind kind, uint32_t *out, unsigned count)
{
    struct pool pool;

    for (unsigned i = 0; i < 4; i++) {
        pool.value[i] = draw(kind, NULL);
    }
    for (unsigned i = 0; i < count; i++) {
        out[i] = draw(kind, &pool);
    }
    if (below(8) == 0) {
        out[below(count)] = draw(WILD, NULL);
    }
}

static enum kind random_kind(void)
{
    unsigned r = below(16);

    return r < 6 ? PLAIN : r < 10 ? GRID : r < 14 ? DYADIC : WILD;
}

static bool some_nan(const uint32_t *value, unsigned count)
{
    bool nan = false;

    for (unsigned i = 0; i < count; i++) {
        nan |= facet_rt_is_nan(value[i]);
    }
    return nan;
}

static void random_ray(enum kind kind, uint32_t e[FACET_RT_RAY_ELEMENTS])
{
    fill(kind, e, 6);
    if (below(8) == 0) { /* along an axis, or in a plane */
        e[3 + below(3)] = below(2) == 0 ? 0 : FACET_RT_SIGN;
        if (below(2) == 0) {
            e[3 + below(3)] = 0;
        }
    }
    e[6] = below(2) == 0 ? 0 : draw(kind, NULL) & (below(8) == 0 ? ~0u : ~FACET_RT_SIGN);
    e[7] = below(2) == 0 ? FACET_RT_INF : draw(kind, NULL);
}

/* What only the pure functions do: not a ray of fast.h. */
static bool ray_is_for_us(const uint32_t e[FACET_RT_RAY_ELEMENTS])
{
    bool finite = true, tmin = e[6] <= FACET_RT_INF || e[6] == FACET_RT_SIGN;

    for (unsigned i = 0; i < 6; i++) {
        finite &= facet_rt_magnitude(e[i]) < FACET_RT_INF;
    }
    return finite && tmin && !facet_rt_is_nan(e[7]) &&
           facet_rt_magnitude(e[3] | e[4] | e[5]) >= 0x00200000; /* 1/d is finite for the largest */
}

/* ---- boxes ---- */

static void random_tile(enum kind kind, const uint32_t *ray, uint8_t *tile, uint32_t *flags)
{
    *flags = (uint32_t)harness_random();
    if (below(4) != 0) { /* mostly full */
        *flags = (*flags & 0xFFFFFF00) | (below(2) == 0 ? 0x55 : 0xA5);
    }
    for (unsigned c = 0; c < 4; c++) {
        uint32_t box[6];

        fill(kind, box, 6);
        for (unsigned a = 0; a < 3; a++) {
            if (below(16) == 0) { /* a face through the origin */
                box[a + 3 * below(2)] = ray[a];
            }
            if (below(16) != 0 && facet_float_of(box[a]) > facet_float_of(box[3 + a])) {
                uint32_t other = box[a];

                box[a] = box[3 + a];
                box[3 + a] = other;
            }
        }
        for (unsigned k = 0; k < 6; k++) {
            facet_store_le32(tile + 24 * c + 4 * k, box[k]);
        }
        facet_store_le32(tile + 112 + 4 * c, c == 3 ? *flags : (uint32_t)harness_random() >> 1);
    }
}

struct boxes_tally {
    uint64_t tests, hits, done, wanted, refused;
};

static void compare_node(const struct facet_rt_numbers *n,
                         const uint32_t elements[FACET_RT_RAY_ELEMENTS],
                         const uint8_t *tiles,
                         bool node8,
                         struct boxes_tally *tally)
{
    unsigned flags = 0, hits = 0, used = 0, none = 0, leaves = 0;
    uint32_t near[8] = {0}, index[8] = {0};
    bool nan = false;
    struct facet_rt_fast_boxes fast;
    struct facet_rt_ray ray;

    if (facet_rt_ray_widen(n, elements, &ray, &none)) {
        return;
    }
    for (unsigned c = 0; c < (node8 ? 8u : 4u); c++) {
        const uint8_t *tile = tiles + c / 4 * 128;
        uint32_t types = facet_load_le32(tile + 124), box[6];
        struct facet_rt_box wide;
        struct facet_rt_slab slab;

        if (facet_rt_child_type(types, c % 4) == FACET_RT_EMPTY) {
            continue;
        }
        used |= 1u << c;
        for (unsigned k = 0; k < 6; k++) {
            box[k] = facet_load_le32(tile + c % 4 * 24 + 4 * k);
        }
        index[c] = c % 4 == 3 ? types >> 8 : facet_load_le32(tile + 112 + c % 4 * 4);
        leaves |= (unsigned)(facet_rt_child_type(types, c % 4) == FACET_RT_LEAF) << c;
        if (facet_rt_box_widen(n, box, &wide, &flags)) {
            nan = true;
            continue;
        }
        slab = facet_rt_test_box(n, &ray, &wide, &flags);
        hits |= (unsigned)(slab.outcome == FACET_RT_HIT) << c;
        nan |= slab.outcome == FACET_RT_NAN;
        near[c] = slab.cnear;
    }
    facet_rt_fast_children(n, &ray, tiles, node8, &fast);
    tally->tests += (unsigned)__builtin_popcount(used);
    tally->hits += (unsigned)__builtin_popcount(hits);
    if (!fast.done) {
        bool expected =
            ray_is_for_us(elements) && !nan && (flags & (FACET_NV | FACET_OF | FACET_UF)) == 0;

        tally->wanted += expected;
        tally->refused += expected;
        return;
    }
    tally->wanted++;
    tally->done++;
    CHECK(!nan);
    CHECK_EQ(fast.used, used);
    if (!CHECK_MSG(fast.hit == hits, "hits %x, expected %x", fast.hit, hits)) {
        return;
    }
    CHECK_EQ(fast.flags, flags & ~(unsigned)FACET_NX);
    CHECK_EQ(fast.leaf, leaves & hits);
    for (unsigned c = 0; c < 8; c++) {
        if ((hits >> c & 1) != 0) {
            CHECK_MSG(fast.near[c] == facet_float_of(near[c]) && !signbit(fast.near[c]),
                      "child %u: near %08x, expected %08x",
                      c,
                      facet_float_bits(fast.near[c]),
                      near[c]);
            CHECK_EQ(fast.index[c], index[c]);
        }
    }
}

TEST(children_give_the_same_bits, "")
{
    const uint64_t tests = harness_long() ? 12000000 : 400000;
    const struct facet_rt_numbers n = fp32();
    struct boxes_tally tally = {0};

    if (!facet_rt_fast_available()) {
        harness_skip("this host has no AVX2 and FMA");
        return;
    }
    while (tally.tests < tests && !harness_failed()) {
        uint32_t ray[FACET_RT_RAY_ELEMENTS], flags[2];
        _Alignas(64) uint8_t tiles[256] = {0};
        enum kind kind = random_kind();

        random_ray(kind, ray);
        random_tile(kind, ray, tiles, &flags[0]);
        random_tile(kind, ray, tiles + 128, &flags[1]);
        compare_node(&n, ray, tiles, true, &tally);
        compare_node(&n, ray, tiles, false, &tally);
    }
    CHECK_MSG(tally.done > tally.tests / 16, "%llu nodes done", (unsigned long long)tally.done);
    CHECK_MSG(tally.hits > tally.tests / 64, "%llu hits", (unsigned long long)tally.hits);
    CHECK_MSG(tally.refused == 0,
              "%llu nodes of %llu refused without need",
              (unsigned long long)tally.refused,
              (unsigned long long)tally.wanted);
    if (getenv("FACET_TEST_VERBOSE") != NULL) {
        fprintf(stderr,
                "%llu boxes, %llu hits, %llu nodes done, %llu refused without need\n",
                (unsigned long long)tally.tests,
                (unsigned long long)tally.hits,
                (unsigned long long)tally.done,
                (unsigned long long)tally.refused);
    }
}

/* ---- triangles ---- */

/* Towards a point that is a corner, on an edge, or inside. */
static void aim(const uint8_t *triangle, uint32_t ray[FACET_RT_RAY_ELEMENTS])
{
    static const float weight[][3] = {
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5f, 0.5f, 0}, {0, 0.25f, 0.75f}, {0.5f, 0.25f, 0.25f}};
    const float *w = weight[below(6)];

    for (unsigned a = 0; a < 3; a++) {
        float at = 0;

        for (unsigned c = 0; c < 3; c++) {
            at += w[c] * facet_float_of(facet_load_le32(triangle + 12 * c + 4 * a));
        }
        ray[3 + a] = facet_float_bits(at - facet_float_of(ray[a]));
    }
}

/* Numbers whose double-width sum is a tie that only its last digits decide: 2^24 + 1 is
 * 24929 * 673, and a product of tiny numbers stands beside it. */
static void hard_tie(uint8_t *triangle, uint32_t ray[FACET_RT_RAY_ELEMENTS])
{
    const float tiny = (below(2) == 0 ? 1.0f : -1.0f) * ldexpf(1, -(int)below(40));
    const float corner[3][3] = {{ldexpf(1, -20), 3, 5}, {tiny, 673, 7}, {24929, tiny, 9}};

    for (unsigned k = 0; k < 9; k++) {
        facet_store_le32(triangle + 4 * k, facet_float_bits(corner[k / 3][k % 3]));
    }
    memset(ray, 0, 6 * sizeof *ray);
    ray[5] = facet_float_bits(1.0f);
}

struct facets_tally {
    uint64_t tests, hits, done, wanted, refused;
};

static void compare_triangles(const struct facet_rt_numbers *n,
                              const uint32_t elements[FACET_RT_RAY_ELEMENTS],
                              const struct facet_rt_options *options,
                              const uint8_t *bytes,
                              unsigned count,
                              struct facets_tally *tally)
{
    struct facet_rt_facet facet[4];
    struct facet_rt_fast_facet fast;
    unsigned flags = 0, hits = 0, none = 0;
    bool nan = false, hard = false;
    struct facet_rt_ray ray;

    if (facet_rt_ray_widen(n, elements, &ray, &none)) {
        return;
    }
    for (unsigned k = 0; k < count; k++) {
        uint32_t element[FACET_RT_TRIANGLE_ELEMENTS];
        struct facet_rt_triangle triangle;

        for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
            element[i] = facet_load_le32(bytes + 36 * k + 4 * i);
        }
        if (facet_rt_triangle_widen(n, element, &triangle, &flags)) {
            nan = true;
            facet[k].outcome = FACET_RT_NAN;
            continue;
        }
        facet[k] = facet_rt_test_triangle(n, &ray, &triangle, options, &flags);
        hits |= (unsigned)(facet[k].outcome == FACET_RT_HIT) << k;
        nan |= facet[k].outcome == FACET_RT_NAN;
        for (unsigned i = 0; i < 3; i++) { /* tiny edges are refused on purpose */
            hard |= facet[k].edges && facet_rt_magnitude(facet[k].edge[i]) < 0x01000000;
        }
    }
    facet_rt_fast_triangles(n, &ray, options, bytes, count, &fast);
    tally->tests += count;
    tally->hits += (unsigned)__builtin_popcount(hits);
    if (!fast.done) {
        bool expected = ray_is_for_us(elements) && !nan && !hard &&
                        (flags & (FACET_NV | FACET_DZ | FACET_OF | FACET_UF)) == 0;

        tally->wanted += expected;
        tally->refused += expected;
        return;
    }
    tally->wanted++;
    tally->done++;
    CHECK(!nan);
    if (!CHECK_MSG(fast.hit == hits, "hits %x, expected %x", fast.hit, hits)) {
        return;
    }
    CHECK_EQ(fast.flags, flags & ~(unsigned)FACET_NX);
    for (unsigned k = 0; k < count; k++) {
        if ((hits >> k & 1) != 0) {
            CHECK_EQ(fast.t[k], facet[k].t);
            CHECK_EQ(fast.u[k], facet[k].u);
            CHECK_EQ(fast.v[k], facet[k].v);
            CHECK_EQ(fast.front >> k & 1, facet[k].front);
        }
    }
}

TEST(triangles_give_the_same_bits, "")
{
    const uint64_t tests = harness_long() ? 12000000 : 250000;
    const struct facet_rt_numbers n = fp32();
    struct facets_tally tally = {0};

    if (!facet_rt_fast_available()) {
        harness_skip("this host has no AVX2 and FMA");
        return;
    }
    while (tally.tests < tests && !harness_failed()) {
        const struct facet_rt_options options = {
            .eps = facet_rt_epsilon(below(4) == 0 ? below(256) : 0), .cull_back = below(4) == 0};
        uint32_t ray[FACET_RT_RAY_ELEMENTS];
        _Alignas(16) uint8_t bytes[4 * 36];
        unsigned count = 1 + below(4);
        enum kind kind = random_kind();

        random_ray(kind, ray);
        for (unsigned k = 0; k < 4; k++) {
            uint32_t element[FACET_RT_TRIANGLE_ELEMENTS];

            fill(kind, element, FACET_RT_TRIANGLE_ELEMENTS);
            for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
                facet_store_le32(bytes + 36 * k + 4 * i, element[i]);
            }
        }
        if (below(2) == 0) {
            aim(bytes + 36 * below(count), ray);
        } else if (below(16) == 0) {
            hard_tie(bytes + 36 * below(count), ray);
        }
        if (some_nan(ray, 8) && below(4) != 0) {
            continue;
        }
        compare_triangles(&n, ray, &options, bytes, count, &tally);
    }
    CHECK_MSG(tally.done > tally.tests / 8, "%llu groups done", (unsigned long long)tally.done);
    CHECK_MSG(tally.hits > tally.tests / 64, "%llu hits", (unsigned long long)tally.hits);
    CHECK_MSG(tally.refused < tally.wanted / 256,
              "%llu groups of %llu refused without need",
              (unsigned long long)tally.refused,
              (unsigned long long)tally.wanted);
    if (getenv("FACET_TEST_VERBOSE") != NULL) {
        fprintf(stderr,
                "%llu triangles, %llu hits, %llu groups done, %llu refused without need\n",
                (unsigned long long)tally.tests,
                (unsigned long long)tally.hits,
                (unsigned long long)tally.done,
                (unsigned long long)tally.refused);
    }
}

/* ---- rays that are given up ---- */

enum { HEAP_BYTES = 1 << 12, LONG_RANGE = 1 << 16 };

/* A heap by itself, the triangles behind it. */
struct small {
    uint8_t *bytes;
    size_t size;
    struct facet_rt_decoded bvh;
    struct facet_rt_fast_scene scene;
};

static bool small_make(struct small *s, size_t triangles, uint32_t steps)
{
    s->size = HEAP_BYTES + 36 * triangles;
    s->bytes = calloc(1, s->size);
    if (!CHECK(s->bytes != NULL) ||
        !CHECK(facet_rt_decoded_make(&s->bvh, s->bytes, s->size, 0x10))) {
        free(s->bytes);
        return false;
    }
    s->scene = (struct facet_rt_fast_scene){.numbers = fp32(),
                                            .heap = 0x1000,
                                            .triangles = 0x1000 + HEAP_BYTES,
                                            .heap_area = {s->bytes, 0x1000, s->size},
                                            .triangle_area = {s->bytes, 0x1000, s->size},
                                            .bvh = &s->bvh,
                                            .stack = 256,
                                            .steps = steps};
    return true;
}

static void small_free(struct small *s)
{
    facet_rt_decoded_free(&s->bvh);
    free(s->bytes);
}

/* A child that every ray meets. */
static void link_child(struct small *s, uint32_t node, unsigned slot, unsigned type, uint32_t index)
{
    uint8_t *const tile = s->bytes + 128 * (size_t)node;
    const uint32_t flags = facet_load_le32(tile + 124) | type << 2 * slot;

    for (unsigned i = 0; i < 6; i++) {
        facet_store_le32(tile + 24 * slot + 4 * i, facet_float_bits(i < 3 ? -100.0f : 100.0f));
    }
    facet_store_le32(tile + 124, slot == 3 ? flags | index << 8 : flags);
    if (slot < 3) {
        facet_store_le32(tile + 112 + 4 * slot, index);
    }
}

static void set_range(struct small *s, uint32_t index, uint32_t count)
{
    facet_store_le32(s->bytes + 16 * (size_t)index + 4, count);
}

static struct facet_rt_fast_result trace_small(const struct small *s)
{
    uint8_t entry[FACET_RT_FAST_RAY_BYTES] = {0};
    struct facet_rt_fast_result result;

    facet_store_le32(entry, facet_float_bits(0.25f));
    facet_store_le32(entry + 12, facet_float_bits(0.125f));
    facet_store_le32(entry + 20, facet_float_bits(1.0f));
    facet_store_le32(entry + 28, FACET_RT_INF);
    facet_rt_fast_rays(&s->scene, entry, 1, &result);
    return result;
}

TEST(circles_are_left_to_others, "")
{
    struct small s;

    if (!facet_rt_fast_available()) {
        harness_skip("this host has no AVX2 and FMA");
        return;
    }
    for (unsigned length = 1; length < 4; length++) {
        if (small_make(&s, 0, 1 << 10)) {
            for (unsigned i = 0; i < length; i++) {
                link_child(&s, i, below(4), 1, (i + 1) % length);
            }
            CHECK(!trace_small(&s).done);
            small_free(&s);
        }
    }
}

/* Leaves one after the other, without a node between: from the root to two nodes, whose leaves wait
 * on the stack together. Triangles at a point raise nothing and are never met. */
TEST(long_ranges_count_as_steps, "")
{
    static const struct {
        uint32_t length, leaves;
        bool done;
    } cases[] = {{64, 7, true},
                 {65, 7, true},
                 {LONG_RANGE - 4, 1, true}, /* and the nodes */
                 {LONG_RANGE - 3, 1, false},
                 {LONG_RANGE / 8, 7, true},
                 {LONG_RANGE / 7, 7, false},
                 {LONG_RANGE / 2, 2, false},
                 {LONG_RANGE, 1, false}};
    struct small s;

    if (!facet_rt_fast_available()) {
        harness_skip("this host has no AVX2 and FMA");
        return;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (small_make(&s, LONG_RANGE, LONG_RANGE)) {
            struct facet_rt_fast_result result;

            link_child(&s, 0, 0, 1, 1);
            link_child(&s, 1, 0, 1, 2);
            for (unsigned k = 0; k < cases[i].leaves; k++) {
                link_child(&s, k < 3 ? 1 : 2, k < 3 ? 1 + k : k - 3, 2, 200);
            }
            set_range(&s, 200, cases[i].length);
            result = trace_small(&s);
            CHECK_MSG(result.done == cases[i].done,
                      "%u ranges of %u are %sdone",
                      cases[i].leaves,
                      cases[i].length,
                      result.done ? "" : "not ");
            if (result.done) {
                CHECK_EQ(result.triangle_tests, cases[i].leaves * cases[i].length);
            }
            small_free(&s);
        }
    }
}

/* ---- both widths ---- */

enum { WIDE_NODES = 20, WIDE_RANGES = 16, WIDE_TRIANGLES = 64, WIDE_RAYS = 40 };

/* Numbers on a grid: children and triangles at the same distance are many. */
static float grid(void)
{
    return (float)((int)below(9) - 4);
}

static void set_bounds(uint8_t *child)
{
    for (unsigned a = 0; a < 3; a++) {
        const float one = grid(), other = grid();

        facet_store_le32(child + 4 * a, facet_float_bits(one < other ? one : other));
        facet_store_le32(child + 12 + 4 * a, facet_float_bits(one < other ? other : one));
    }
}

/* Nodes that name later ones and leaves. */
static void fill_scene(struct small *s)
{
    const uint32_t first_range = WIDE_NODES * 128 / 16;

    for (uint32_t node = 0; node < WIDE_NODES; node++) {
        for (unsigned slot = 0; slot < 4; slot++) {
            const uint32_t kind = node + 1 < WIDE_NODES ? below(8) : 7;
            const uint32_t next = node + 1 + below(WIDE_NODES - node);

            if (kind != 0) {
                const bool inner = kind < 6 && next < WIDE_NODES;

                link_child(
                    s, node, slot, inner ? 1 : 2, inner ? next : first_range + below(WIDE_RANGES));
                set_bounds(s->bytes + 128 * (size_t)node + 24 * (size_t)slot);
            }
        }
    }
    for (uint32_t i = 0; i < WIDE_RANGES; i++) {
        facet_store_le32(s->bytes + 16 * (size_t)(first_range + i), below(WIDE_TRIANGLES - 8));
        set_range(s, first_range + i, 1 + below(8));
    }
    for (size_t i = 0; i < (size_t)9 * WIDE_TRIANGLES; i++) {
        facet_store_le32(s->bytes + HEAP_BYTES + 4 * i, facet_float_bits(grid()));
    }
}

static bool same_result(const struct facet_rt_fast_result *a, const struct facet_rt_fast_result *b)
{
    if (!a->done || !b->done) {
        return a->done == b->done;
    }
    return a->hit == b->hit && a->flags == b->flags && a->boxes == b->boxes &&
           a->triangle_tests == b->triangle_tests &&
           (!a->hit || (a->front == b->front && a->t == b->t && a->u == b->u && a->v == b->v &&
                        a->triangle == b->triangle && a->leaf == b->leaf));
}

/* AVX2 is compared with the plain way on hosts that have no more, AVX-512 on others: here both. */
TEST(rays_are_the_same_with_avx2_and_avx512, "")
{
    struct facet_rt_fast_result narrow[WIDE_RAYS], wide[WIDE_RAYS];
    uint8_t entries[WIDE_RAYS * FACET_RT_FAST_RAY_BYTES];
    unsigned done = 0, hits = 0;

    if (!facet_rt_fast_wide()) {
        harness_skip("this host has no AVX-512");
        return;
    }
    for (unsigned round = 0; round < 400; round++) {
        struct small s;

        if (!small_make(&s, WIDE_TRIANGLES, 1 << 10)) {
            return;
        }
        fill_scene(&s);
        s.scene.any_hit = round % 4 == 3;
        memset(entries, 0, sizeof entries);
        for (unsigned i = 0; i < WIDE_RAYS; i++) {
            uint8_t *const entry = entries + (size_t)i * FACET_RT_FAST_RAY_BYTES;

            for (unsigned k = 0; k < 3; k++) { /* from outside, mostly towards the middle */
                const float o = below(4) == 0 ? grid() : (float)below(1000) / 50.0f - 10.0f;

                facet_store_le32(entry + 4 * k, facet_float_bits(o));
                facet_store_le32(entry + 12 + 4 * k,
                                 facet_float_bits(0.5f * grid() - (below(8) == 0 ? 0 : o)));
            }
            facet_store_le32(entry + 28, below(4) == 0 ? facet_float_bits(2) : FACET_RT_INF);
        }
        facet_rt_fast_rays(&s.scene, entries, WIDE_RAYS, wide);
        s.scene.narrow = true;
        facet_rt_fast_rays(&s.scene, entries, WIDE_RAYS, narrow);
        for (unsigned i = 0; i < WIDE_RAYS; i++) {
            CHECK_MSG(same_result(&narrow[i], &wide[i]), "round %u, ray %u", round, i);
            done += wide[i].done;
            hits += wide[i].done && wide[i].hit;
        }
        small_free(&s);
    }
    CHECK_MSG(done > 400 * WIDE_RAYS / 2, "%u rays were done", done);
    CHECK_MSG(hits > done / 8, "%u of %u rays hit something", hits, done);
}

/* ---- what a decoded BVH was read from ---- */

/* A root whose only child is a leaf; root, TriRange and triangles lie on pages 0, 3 and 6. */
TEST(decoding_marks_every_page_that_it_reads, "")
{
    enum { PAGES = 8, MARK = 0x10, RANGE = 0x3000 / 16, COUNT = 5 };
    static _Alignas(64) uint8_t memory[PAGES << FACET_RT_PAGE_BITS];
    struct facet_rt_heap heap = {.bytes = memory,
                                 .nodes = 2,
                                 .ranges = RANGE + 1,
                                 .triangles = memory + 0x6000,
                                 .triangle_count = COUNT};
    struct facet_rt_decoded d;
    facet_rt_reference root, leaf;

    memset(memory, 0, sizeof memory);
    for (unsigned a = 0; a < 3; a++) { /* the box of child 0 */
        facet_store_le32(memory + 4 * (3 + a), facet_float_bits(1));
    }
    facet_store_le32(memory + 112, RANGE);
    facet_store_le32(memory + 124, FACET_RT_LEAF);
    facet_store_le32(memory + 0x3000 + 4, COUNT);
    if (!CHECK(facet_rt_decoded_make(&d, memory, sizeof memory, MARK))) {
        return;
    }
    root = facet_rt_decoded_node(&d, &heap, 0);
    CHECK_EQ(root, 0);
    CHECK_EQ(d.read[0], MARK);
    CHECK_EQ(d.read[3] | d.read[6], 0);
    leaf = facet_rt_decoded_child(&d, &heap, d.node[0].child[0]);
    CHECK_EQ(leaf & 3, 1);
    CHECK_EQ(d.node[0].child[0], leaf);
    for (unsigned page = 0; page < PAGES; page++) {
        CHECK_EQ(d.read[page], page % 3 == 0 ? MARK : 0);
    }
    /* A heap that ends before what was read does not fit. */
    CHECK(facet_rt_decoded_fits(&d, &heap));
    heap.ranges--;
    CHECK(!facet_rt_decoded_fits(&d, &heap));
    heap.ranges++;
    heap.triangle_count--;
    CHECK(!facet_rt_decoded_fits(&d, &heap));
    facet_rt_decoded_forget(&d);
    CHECK(facet_rt_decoded_fits(&d, &heap));
    CHECK_EQ(d.read[0] | d.read[3] | d.read[6], 0);
    /* Five triangles are not all there: decoded anew, the leaf stays what it was. */
    CHECK_EQ(facet_rt_decoded_node(&d, &heap, 0), 0);
    CHECK_EQ(facet_rt_decoded_child(&d, &heap, d.node[0].child[0]), FACET_RT_NOWHERE);
    CHECK_EQ(d.read[6], 0);
    facet_rt_decoded_free(&d);
}
