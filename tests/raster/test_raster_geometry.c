/* GDRAW beside the second formulation (reference.h): every byte of memory and every report, for
 * random vertex layouts, matrices, lights, clip planes, index lists, strips and restarts. */
#include "base/float.h"
#include "random_draw.h"
#include "reference.h"

#include <stdlib.h>

#include <math.h>

enum { VERTICES = 24, NORMAL_AT = 0x400, PLANE_AT = 0x480 };

static void floats_at(struct rig *r, uint32_t at, unsigned count, float lo, float hi, uint32_t odds)
{
    for (unsigned i = 0; i < count; i++) {
        rig_float(r, at + 4 * i, random_wild(lo, hi, odds));
    }
}

static void random_vertices(struct rig *r, uint32_t format, uint32_t odds)
{
    for (unsigned i = 0; i < VERTICES; i++) {
        uint32_t at = RIG_VERTICES + i * (format & 0xFFFF);

        floats_at(r, at, 3, -1.5f, 1.5f, odds);
        rig_float(r, at + 12, random_below(3) == 0 ? 1.0f : random_wild(-.2f, 2.5f, odds));
        at += 16;
        if (format & 1 << 16) {
            floats_at(r, at, 3, -1, 1, odds);
            if (random_below(2) == 0) {
                rig_word(r, at + 4, rig_read(r, at));
            }
            at += 12;
        }
        if ((format & 1 << 17) != 0 && (format & 1 << 18) != 0) {
            rig_word(r, at, (uint32_t)harness_random());
            at += 4;
        } else if (format & 1 << 17) {
            floats_at(r, at, 2, -10, 90, odds);
            at += 8;
        }
        if (format & 1 << 19) {
            rig_word(r, at, (uint32_t)harness_random());
        }
    }
}

static void random_gstate(struct rig *r, uint32_t g[32], uint32_t odds)
{
    const uint32_t format = (40 + 4 * random_below(4)) | random_below(16) << 16;
    static const float guards[] = {0, 1, 1.25f, 4, 100, 65536, 70000, -2};

    rig_gstate(g, format);
    g[3] = random_below(256) | (random_below(2) == 0 ? 96 : 0);
    if (random_below(2) == 0) {
        for (unsigned i = 0; i < 16; i++) {
            g[4 + i] = facet_float_bits(random_wild(-1, 1, odds));
        }
        g[4 + 15] = facet_float_bits(1.5f);
    }
    if (random_below(2) == 0) {
        g[20] = rig_at(NORMAL_AT);
        floats_at(r, NORMAL_AT, 9, -1, 1, odds);
    }
    for (unsigned i = 0; i < 3; i++) {
        g[21 + i] = facet_float_bits(random_wild(-1, 1, odds));
    }
    if (random_below(3) == 0) {
        /* Almost at a right angle to (1, 1, z): what rounding leaves over decides the colour. */
        const float s = random_float(1e6f, 1e7f);

        g[21] = facet_float_bits(s);
        g[22] = facet_float_bits(-s);
        g[23] = facet_float_bits(random_float(-1, 1));
    }
    g[24] = (uint32_t)harness_random();
    g[25] = (uint32_t)harness_random();
    g[26] = rig_at(PLANE_AT);
    floats_at(r, PLANE_AT, 4, -1, 1, odds);
    g[27] = facet_float_bits(guards[random_below(8)]);
    if (random_below(2) == 0) {
        g[28] = (random_below(60) - 20) % 65536 | (random_below(40) - 10) << 16;
        g[29] = (1 + random_below(120)) | random_below(80) << 16;
    }
    g[30] = (random_below(60) - 20) % 65536 | (random_below(40) - 10) << 16;
    g[31] = random_below(120) | random_below(80) << 16;
    random_vertices(r, format, odds);
}

static void random_gparam(uint32_t p[16], uint32_t odds)
{
    for (unsigned i = 0; i < 12; i++) {
        p[i] = facet_float_bits(random_wild(-1, 1, odds) + (i % 5 == 0 ? 1.0f : 0.0f));
    }
    p[12] = (uint32_t)harness_random();
    p[13] = (uint32_t)harness_random() << 8 | random_below(random_below(4) == 0 ? 256 : 4);
    p[14] = (uint32_t)harness_random();
    p[15] = random_below(4);
}

static void random_indices(struct rig *r, bool wide)
{
    for (unsigned i = 0; i < 64; i++) {
        uint32_t n = random_below(VERTICES);

        switch (random_below(24)) {
        case 0:
            n = 0xFFFFFFFF;
            break;
        case 1:
            n = 0xFFF0; /* outside VRAM with every stride */
            break;
        }
        if (wide) {
            rig_word(r, RIG_INDICES + 4 * i, n);
        } else {
            r->vram[RIG_INDICES + 2 * i] = (uint8_t)n;
            r->vram[RIG_INDICES + 2 * i + 1] = (uint8_t)(n >> 8);
        }
    }
}

static void run(uint32_t odds, unsigned count)
{
    static const uint32_t default_gparam[16] = {0};
    uint8_t *expected = malloc(RIG_SIZE);
    struct rig r;
    struct ref_card card;

    ref_open();
    rig_open(&r);
    random_memory(&r);
    card = (struct ref_card){expected, RIG_SIZE, (const uint32_t(*)[8])r.samplers};
    for (unsigned i = 0; i < count && !harness_failed(); i++) {
        uint32_t g[32], p[16], words[6];
        const uint32_t *param = default_gparam;
        struct facet_raster_result got;
        struct ref_reports want;

        facet_raster_reset(&r.context);
        r.unit.plain = i % 2 == 0;
        random_sampler(&r);
        random_rstate(&r, true);
        random_gstate(&r, g, odds);
        CHECK_EQ(rig_load_gstate(&r, g), 0);
        if (random_below(4) != 0) {
            random_gparam(p, odds);
            CHECK_EQ(rig_load_gparam(&r, p), 0);
            param = p;
        }
        random_indices(&r, (g[3] & 1) != 0);
        words[0] = random_below(3);
        words[1] = random_below(4);
        words[2] = random_below(19);
        words[3] = random_below(2);
        words[4] = 0xFFFFFFFF;
        words[5] = random_below(512) & ~(random_below(2) == 0 ? 4u : 0);
        for (unsigned k = 0; k < 6; k++) {
            rig_word(&r, RIG_DESC + 4 * k, words[k]);
        }
        memcpy(expected, r.vram, RIG_SIZE);
        got = facet_raster_gdraw(&r.unit, &r.context, rig_at(RIG_DESC));
        want = ref_gdraw(&card, r.context.rstate[0], g, param, words);
        CHECK_EQ(got.rd, 1);
        CHECK_EQ(got.code, want.code);
        CHECK_EQ(got.count, want.count);
        for (uint32_t k = 0; k < RIG_SIZE; k++) {
            if (r.vram[k] != expected[k]) {
                CHECK_MSG(false, "byte 0x%x is 0x%02x, not 0x%02x", k, r.vram[k], expected[k]);
                break;
            }
        }
        if (harness_failed()) {
            CHECK_MSG(false, "draw %u, flags 0x%x, gstate flags 0x%x", i, words[5], g[3]);
        }
    }
    rig_close(&r);
    ref_close();
    free(expected);
}

TEST(geometry_equals_second_formulation, "TILE-399 TILE-407 TILE-408 TILE-409 TILE-410 TILE-412")
{
    run(1u << 30, harness_long() ? 40000 : 700);
}

TEST(geometry_equals_second_formulation_wild_numbers,
     "TILE-399 TILE-407 TILE-408 TILE-409 TILE-410 TILE-412")
{
    run(12, harness_long() ? 40000 : 700);
}

/* 2^32 elements that lie outside VRAM are counted, not walked. */
static void endless_draws(facet_pool *pool)
{
    struct rig r;
    uint32_t s[16], g[32];
    struct facet_raster_result got;

    rig_open(&r);
    r.unit.pool = pool;
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    rig_gstate(g, 40);
    g[0] = 0x10000000; /* all outside until the address wraps */
    rig_load_gstate(&r, g);
    got = rig_gdraw(&r, 3000000, 0, 0);
    CHECK_EQ(got.code, FACET_RASTER_BAD_INDEX);
    CHECK_EQ(got.count, 1000000);
    got = rig_gdraw(&r, 1000002, 1, 0);
    CHECK_EQ(got.count, 1000000);
    got = rig_gdraw(&r, 0xFFFFFFFF, 1, 0);
    CHECK_EQ(got.count, 0xFFFFFF);
    got = rig_gdraw(&r, 0xFFFFFFFF, 0, 0);
    CHECK_EQ(got.count, 0xFFFFFF);
    g[2] = 0x10000000;
    rig_load_gstate(&r, g);
    got = rig_gdraw(&r, 3000002, 0, 1);
    CHECK_EQ(got.code, FACET_RASTER_BAD_INDEX);
    CHECK_EQ(got.count, 1000000);
    g[0] = rig_at(RIG_VERTICES);
    g[1] = 0; /* stride 0: one vertex, and every triangle is a point */
    rig_load_gstate(&r, g);
    for (unsigned i = 0; i < 3; i++) {
        rig_float(&r, RIG_VERTICES + 4 * i, i == 0 ? 1e9f : 0);
    }
    rig_float(&r, RIG_VERTICES + 12, 1);
    got = rig_gdraw(&r, 0xFFFFFFFF, 0, 0);
    CHECK_EQ(got.code, FACET_RASTER_RANGE);
    CHECK_EQ(got.count, 0xFFFFFF);
    got = rig_gdraw(&r, 30, 0, 0);
    CHECK_EQ(got.count, 10);
    rig_close(&r);
}

TEST(endless_draws_end, "TILE-578")
{
    facet_pool *pool = NULL;

    CHECK_EQ(facet_pool_create(2, &pool, NULL), FACET_OK);
    endless_draws(NULL);
    endless_draws(pool);
    facet_pool_destroy(pool);
}

/* A triangle that covers an 8x8 picture, position and colour, at `at`. */
static void big_triangle(struct rig *r, uint32_t at, float size)
{
    for (unsigned i = 0; i < 3; i++) {
        rig_float(r, at + 20 * i, i == 1 ? 3 * size : -size);
        rig_float(r, at + 20 * i + 4, i == 2 ? 3 * size : -size);
        rig_float(r, at + 20 * i + 8, 0.5f);
        rig_float(r, at + 20 * i + 12, 1);
        rig_word(r, at + 20 * i + 16, 0xFF00FF00);
    }
}

/* Every byte of the last vertex must be in memory, the colour behind the position too. */
TEST(vertex_at_the_end_of_memory, "")
{
    struct rig r;
    uint32_t s[16], g[32];

    for (uint32_t missing = 0; missing < 3; missing++) {
        const uint32_t at = RIG_SIZE - 60 + 4 * missing;
        struct facet_raster_result got;

        rig_open(&r);
        rig_rstate(s, 8, 8);
        rig_load_rstate(&r, s);
        rig_gstate(g, 20 | 1 << 19);
        g[0] = rig_at(at);
        rig_load_gstate(&r, g);
        if (missing == 0) {
            big_triangle(&r, at, 1);
        }
        got = rig_gdraw(&r, 3, 0, 0);
        CHECK_EQ(got.code, missing == 0 ? 0 : FACET_RASTER_BAD_INDEX);
        CHECK_EQ(got.count, missing != 0);
        CHECK_EQ(rig_pixel(&r, 8, 4, 4), missing == 0 ? 0xFF00FF00 : 0);
        rig_close(&r);
    }
}

/* Rows of a buffer that are not in memory are left out, at both ends, one report for all. */
TEST(rows_outside_memory, "")
{
    struct rig r;
    uint32_t s[16], g[32];

    for (unsigned which = 0; which < 8; which++) {
        const bool depth = (which & 1) != 0, upwards = (which & 2) != 0;
        const uint32_t stride = upwards ? (uint32_t)-32 : 32;
        const uint32_t at = upwards ? rig_at(2 * 32) : rig_at(RIG_SIZE - 3 * 32);
        struct facet_raster_result got;

        rig_open(&r);
        r.unit.plain = (which & 4) != 0;
        rig_rstate(s, 8, 8);
        s[4] = rig_at(RIG_COLOR + 0x400);
        s[5] = 32;
        s[6] = 2 | 7 << 8; /* D32F, always */
        s[12] = 1 << 2;
        s[depth ? 4 : 0] = at;
        s[depth ? 5 : 1] = stride;
        rig_load_rstate(&r, s);
        rig_gstate(g, 20 | 1 << 19);
        rig_load_gstate(&r, g);
        big_triangle(&r, RIG_VERTICES, 1);
        got = rig_gdraw(&r, 3, 0, 0);
        CHECK_EQ(got.code, FACET_RASTER_BAD_MEM);
        CHECK_EQ(got.count, 1);
        for (uint32_t y = 0; y < 8; y++) {
            const uint32_t color = s[0] + y * s[1] + 16 - rig_at(0);
            const uint32_t z = s[4] + y * s[5] + 16 - rig_at(0);

            if (y < 3) {
                CHECK_EQ(rig_read(&r, color), 0xFF00FF00);
                CHECK_EQ(rig_read(&r, z), 0x3F000000); /* the 0.5 of the vertices */
            } else {
                CHECK_EQ(rig_read(&r, depth ? color : z), 0);
            }
        }
        rig_close(&r);
    }
}

/* Vertices that one draw has transformed are nothing to the next one: the memory has changed. */
TEST(a_draw_remembers_no_vertices_of_the_last, "")
{
    struct rig r;
    uint32_t s[16], g[32];

    rig_open(&r);
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    rig_gstate(g, 20 | 1 << 19);
    g[3] = 8 | 1;
    rig_load_gstate(&r, g);
    for (uint32_t first = 0; first < 130; first++) {
        big_triangle(&r, RIG_VERTICES + 20 * first, 1);
        for (unsigned i = 0; i < 3; i++) {
            rig_word(&r, RIG_INDICES + 4 * i, first + i);
        }
        for (uint32_t color = 1; color < 3; color++) {
            for (unsigned i = 0; i < 3; i++) {
                rig_word(&r, RIG_VERTICES + 20 * (first + i) + 16, color);
            }
            CHECK_EQ(rig_gdraw(&r, 3, 0, 1).code, 0);
            CHECK_EQ(rig_pixel(&r, 8, 4, 4), color);
        }
    }
    rig_close(&r);
}

/* 15.5: a guard band that is no number from 1 to 2^16 is 1. With 1 a triangle far beyond the
 * viewport is cut before it leaves the range of positions; with 2^16 it is dropped (RANGE). */
TEST(guard_factors, "TILE-408")
{
    static const struct {
        float guard;
        bool wide;
    } row[] = {{1, false},
               {0, false},
               {-4, false},
               {0.99f, false},
               {NAN, false},
               {INFINITY, false},
               {-INFINITY, false},
               {0x1.000002p16f, false},
               {0x1p16f, true},
               {60000, true}};
    struct rig r;
    uint32_t s[16], g[32];

    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct facet_raster_result got;

        rig_open(&r);
        rig_rstate(s, 8, 8);
        rig_load_rstate(&r, s);
        rig_gstate(g, 20 | 1 << 19);
        g[3] = 8; /* CLIP */
        g[27] = facet_float_bits(row[i].guard);
        rig_load_gstate(&r, g);
        big_triangle(&r, RIG_VERTICES, 15000); /* up to 45000 half widths, 180000 pixels */
        got = rig_gdraw(&r, 3, 0, 0);
        CHECK_MSG(got.code == (row[i].wide ? FACET_RASTER_RANGE : 0) &&
                      rig_pixel(&r, 8, 4, 4) == (row[i].wide ? 0 : 0xFF00FF00),
                  "guard %g: code %u, pixel 0x%x",
                  (double)row[i].guard,
                  got.code,
                  (unsigned)rig_pixel(&r, 8, 4, 4));
        rig_close(&r);
    }
}

/* The draw writes pixels over its own vertices: those that come later are read after that, also
 * when an earlier triangle used them (R-TILE-112). So a list drawn at once and triangle by triangle
 * leaves the same memory. */
TEST(vertices_under_pixels, "")
{
    enum { COUNT = 60 };
    struct rig a, b;
    facet_pool *pool = NULL;
    unsigned changed = 0;

    CHECK_EQ(facet_pool_create(2, &pool, NULL), FACET_OK);
    for (unsigned round = 0; round < 60 && !harness_failed(); round++) {
        const uint32_t indexed = round % 4 != 0;
        uint32_t s[16], g[32], first;

        rig_open(&a);
        rig_open(&b);
        rig_rstate(s, 64, 64);
        s[0] = rig_at(RIG_VERTICES); /* a row is nine vertices */
        rig_gstate(g, 28 | 1 << 17 | 1 << 19);
        g[3] = 8 | (round & 1);
        random_memory(&a);
        for (unsigned i = 0; i < 400; i++) {
            floats_at(&a, RIG_VERTICES + 28 * i, 7, -1.2f, 1.2f, 1000);
            rig_float(&a, RIG_VERTICES + 28 * i + 12, 1);
            /* colours that are positions, where they land on one */
            rig_float(&a, RIG_VERTICES + 28 * i + 24, random_float(-1, 1));
        }
        random_indices(&a, round & 1);
        first = rig_read(&a, RIG_VERTICES);
        memcpy(b.vram, a.vram, RIG_SIZE);
        b.unit.pool = round % 3 == 0 ? pool : NULL;
        b.unit.plain = round % 2;
        a.unit.plain = true;
        rig_load_rstate(&a, s);
        rig_load_gstate(&a, g);
        rig_load_rstate(&b, s);
        rig_load_gstate(&b, g);
        for (unsigned k = 0; k < COUNT; k += 3) {
            const uint32_t draw[6] = {indexed ? 0 : k, k, 3, 0, 0xFFFFFFFF, indexed | 2};

            for (unsigned n = 0; n < 6; n++) {
                rig_word(&a, RIG_DESC + 4 * n, draw[n]);
            }
            facet_raster_gdraw(&a.unit, &a.context, rig_at(RIG_DESC));
        }
        rig_gdraw(&b, COUNT, 0, indexed | 2);
        changed += rig_read(&a, RIG_VERTICES) != first;
        CHECK(memcmp(a.vram + RIG_VERTICES, b.vram + RIG_VERTICES, RIG_SIZE - RIG_VERTICES) == 0);
        rig_close(&a);
        rig_close(&b);
    }
    CHECK(changed > 0);
    facet_pool_destroy(pool);
}
