/* TEX2D (tile-semantics.md 11): decode, wraps, Q0.16, swizzle, bilinear and result types beside
 * plain formulas; FP results beside exact comparisons with c / 255. */
#include "base/float.h"
#include "random_draw.h"

#include <math.h>

enum { I32, I16, I8, F16, F8, F32 };

struct fixture {
    struct rig r;
    struct facet_texel_source source;
};

static void open(struct fixture *f)
{
    rig_open(&f->r);
    random_memory(&f->r);
    f->source = (struct facet_texel_source){facet_raster_texel_from_vram, &f->r.unit};
}

static void
describe(uint32_t d[8], uint32_t at, uint32_t stride, uint32_t w, uint32_t h, uint32_t format)
{
    const uint32_t words[8] = {rig_at(at), stride, w, h, format, 0, 0, rig_at(RIG_PALETTE)};

    memcpy(d, words, sizeof words);
}

/* ---- the oracle ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    const int64_t q = a / b;

    return q - (a % b < 0);
}

static uint32_t bytes_at(const struct rig *r, uint32_t address, unsigned count, bool *bad)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < count; i++) {
        const uint32_t a = address + i;

        if (a < 0x80000000u || a >= 0x80000000u + RIG_SIZE) {
            *bad = true;
        } else {
            value |= (uint32_t)r->vram[a - 0x80000000u] << 8 * i;
        }
    }
    return value;
}

static int64_t place(int64_t i, int64_t size, unsigned mode)
{
    return mode == 1 ? i - size * floor_div(i, size) : i < 0 ? 0 : i >= size ? size - 1 : i;
}

static void expected_texel(
    const struct rig *r, const uint32_t d[8], int64_t u, int64_t v, uint32_t c[4], bool *bad)
{
    const uint32_t x = (uint32_t)place(u, d[2] & 0xFFFF, d[5] & 3);
    const uint32_t y = (uint32_t)place(v, d[3] & 0xFFFF, d[5] >> 2 & 3);
    const uint32_t line = d[0] + y * d[1];
    uint32_t t;

    if ((d[4] & 3) == 0) {
        t = bytes_at(r, line + 2 * x, 2, bad);
        c[0] = (t >> 11) << 3 | t >> 13;
        c[1] = (t >> 5 & 63) << 2 | (t >> 9 & 3);
        c[2] = (t & 31) << 3 | (t >> 2 & 7);
        c[3] = 255;
    } else {
        t = (d[4] & 3) == 1
                ? bytes_at(r, line + 4 * x, 4, bad)
                : bytes_at(
                      r, d[7] + 1024 * (d[4] >> 2 & 3) + 4 * bytes_at(r, line + x, 1, bad), 4, bad);
        for (int k = 0; k < 4; k++) {
            c[k] = t >> (k == 3 ? 24 : 16 - 8 * k) & 255;
        }
    }
    const uint32_t s = d[4] >> 4 & 3, red = c[0], blue = c[2];

    c[0] = s == 1 ? blue : red;
    c[1] = s == 3 ? red : c[1];
    c[2] = s == 1 || s == 3 ? red : blue;
    c[3] = s >= 2 ? 255 : c[3];
}

static void expected_filtered(
    const struct rig *r, const uint32_t d[8], int64_t x, int64_t y, uint32_t c[4], bool *bad)
{
    const int64_t i = floor_div(x - 128, 256), j = floor_div(y - 128, 256);
    const int64_t fx = x - 128 - 256 * i, fy = y - 128 - 256 * j;
    uint32_t t[4][4];

    for (int k = 0; k < 4; k++) {
        expected_texel(r, d, i + (k & 1), j + (k >> 1), t[k], bad);
    }
    for (int k = 0; k < 4; k++) {
        c[k] = (uint32_t)(((t[0][k] * (256 - fx) + t[1][k] * fx) * (256 - fy) +
                           (t[2][k] * (256 - fx) + t[3][k] * fx) * fy + 32768) /
                          65536);
    }
}

static void random_descriptor(uint32_t d[8])
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 8, 17, 64};

    describe(d,
             RIG_TEXTURE + random_below(8),
             random_below(400),
             sizes[random_below(7)] | (uint32_t)harness_random() << 16,
             sizes[random_below(7)] | (uint32_t)harness_random() << 16,
             random_below(3) | random_below(64) << 2 | (uint32_t)harness_random() << 8);
    d[5] = (uint32_t)harness_random();
    d[6] = (uint32_t)harness_random();
    if (random_below(8) == 0) {
        d[0] = rig_at(RIG_SIZE - random_below(2000)); /* leaves VRAM */
    }
    if (random_below(16) == 0) {
        d[7] = rig_at(RIG_SIZE - random_below(2000));
    }
}

static uint32_t random_coordinate(void)
{
    static const uint32_t special[] = {0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 127, 128, 0xFFFFFF80};

    switch (random_below(4)) {
    case 0:
        return special[random_below(7)];
    case 1:
        return (uint32_t)harness_random();
    default:
        return random_below(1 << 18) - (1u << 17);
    }
}

TEST(samples_equal_plain_formulas, "")
{
    const unsigned count = harness_long() ? 3000000 : 60000;
    struct fixture f;

    open(&f);
    for (unsigned i = 0; i < count && !harness_failed(); i++) {
        const bool norm = random_below(2), filtered = random_below(2);
        const uint32_t u = random_coordinate(), v = random_coordinate();
        uint32_t d[8], got[4], want[4];
        int64_t x = (int32_t)u, y = (int32_t)v;
        bool bad = false, good;

        random_descriptor(d);
        if (norm) {
            x = floor_div(x * (int64_t)(d[2] & 0xFFFF), filtered ? 256 : 65536);
            y = floor_div(y * (int64_t)(d[3] & 0xFFFF), filtered ? 256 : 65536);
        }
        if (filtered) {
            expected_filtered(&f.r, d, x, y, want, &bad);
        } else {
            expected_texel(&f.r, d, x, y, want, &bad);
        }
        good = facet_raster_tex2d(d, u, v, norm, filtered, I32, &f.source, got);
        CHECK_EQ(good, !bad);
        for (int k = 0; k < 4; k++) {
            CHECK_EQ(got[k], want[k]);
        }
    }
    rig_close(&f.r);
}

/* ---- the descriptor, word by word ---- */

/* Texels tell their place: 0xA0 yy 00 xx. */
static uint32_t place_texel(uint32_t x, uint32_t y)
{
    return 0xA0000000 | y << 16 | x;
}

static uint32_t nearest(struct fixture *f, const uint32_t d[8], int32_t u, int32_t v)
{
    uint32_t got[4];

    CHECK(facet_raster_tex2d(d, (uint32_t)u, (uint32_t)v, false, false, I8, &f->source, got));
    return got[0];
}

TEST(words_of_the_descriptor, "")
{
    /* The texture is 8 x 4 in lines of 64 bytes; one word differs from that. */
    static const struct {
        const char *ids;
        unsigned word;
        uint32_t value;
        int32_t u, v;
        uint32_t x, y;
    } rows[] = {
        {"TILE-351 TILE-544", 4, 1, 2, 1, 2, 1},
        {"TILE-330 TILE-544", 0, 64, 2, 1, 2, 2}, /* one line further */
        {"TILE-331 TILE-544", 1, 128, 2, 1, 2, 2},
        {"TILE-332 TILE-544", 2, 3, 5, 1, 2, 1},
        {"TILE-333 TILE-544", 3, 2, 2, 3, 2, 1},
        {"TILE-337", 4, 0xC1, 2, 1, 2, 1},
        {"TILE-338 TILE-353", 5, 0, -5, 1, 0, 1},
        {"TILE-338 TILE-353", 5, 0, 11, 1, 7, 1},
        {"TILE-338 TILE-354", 5, 1, -1, 1, 7, 1},
        {"TILE-338 TILE-354", 5, 1, 8, 1, 0, 1},
        {"TILE-338", 5, 1, 2, 4, 2, 3},
        {"TILE-339 TILE-353", 5, 0, 2, -1, 2, 0},
        {"TILE-339 TILE-353", 5, 0, 2, 4, 2, 3},
        {"TILE-339 TILE-354", 5, 4, 2, -1, 2, 3},
        {"TILE-339 TILE-354", 5, 4, 2, 4, 2, 0},
        {"TILE-339", 5, 4, 8, 1, 7, 1},
        {"TILE-340", 5, 0xF1, 8, 1, 0, 1},
        {"TILE-340", 5, 0xF4, 8, 1, 7, 1},
        {"TILE-321", 6, 1, 2, 1, 2, 1},
        {"TILE-342", 6, 0xFC, 2, 1, 2, 1},
        {"TILE-342", 6, 0xFD, 2, 1, 2, 1},
    };
    struct fixture f;
    uint32_t d[8];

    open(&f);
    for (uint32_t i = 0; i < 32; i++) {
        rig_word(&f.r, RIG_TEXTURE + 64 * (i / 8) + 4 * (i % 8), place_texel(i % 8, i / 8));
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        describe(d, RIG_TEXTURE, 64, 8, 4, 1);
        d[rows[i].word] = rows[i].word == 0 ? d[0] + rows[i].value : rows[i].value;
        harness_row(rows[i].ids);
        CHECK_MSG(nearest(&f, d, rows[i].u, rows[i].v) == place_texel(rows[i].x, rows[i].y),
                  "word %u = 0x%x at (%d, %d)",
                  rows[i].word,
                  rows[i].value,
                  rows[i].u,
                  rows[i].v);
    }
    rig_close(&f.r);
}

TEST(formats_palettes_and_swizzles, "")
{
    static const uint32_t swizzled[4] = {0x80402010, 0x80102040, 0xFF402010, 0xFF404040};
    struct fixture f;
    uint32_t d[8], got[4];

    open(&f);
    describe(d, RIG_TEXTURE, 4, 1, 1, 0);
    rig_word(&f.r, RIG_TEXTURE, 0xF800);
    harness_row("TILE-323 TILE-334");
    CHECK_EQ(nearest(&f, d, 0, 0), 0xFFFF0000);
    rig_word(&f.r, RIG_TEXTURE, 0x80402010);
    harness_row("TILE-324 TILE-334");
    d[4] = 1;
    CHECK(facet_raster_tex2d(d, 0, 0, false, false, I32, &f.source, got));
    CHECK_EQ(got[0], 0x40);
    CHECK_EQ(got[1], 0x20);
    CHECK_EQ(got[2], 0x10);
    CHECK_EQ(got[3], 0x80);
    harness_row("TILE-336");
    for (uint32_t s = 0; s < 4; s++) {
        d[4] = 1 | s << 4;
        CHECK_EQ(nearest(&f, d, 0, 0), swizzled[s]);
    }
    rig_word(&f.r, RIG_TEXTURE, 7);
    for (uint32_t p = 0; p < 4; p++) {
        rig_word(&f.r, RIG_PALETTE + 1024 * p + 4 * 7, 0x11223344 + p);
        d[4] = 2 | p << 2;
        CHECK_ID("TILE-335", nearest(&f, d, 0, 0) == 0x11223344 + p);
    }
    d[4] = 2;
    CHECK_ID("TILE-325 TILE-334", nearest(&f, d, 0, 0) == 0x11223344);
    d[7] += 1024; /* the handle is an address */
    CHECK_ID("TILE-343", nearest(&f, d, 0, 0) == 0x11223345);
    rig_close(&f.r);
}

/* ---- worked examples ---- */

TEST(texture_examples, "TILE-323 TILE-326 TILE-341 TILE-352")
{
    static const uint32_t quad[4] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFFFFFFF};
    struct fixture f;
    uint32_t d[8], got[4];

    open(&f);
    /* E31 */
    describe(d, RIG_TEXTURE, 2, 1, 1, 0);
    rig_word(&f.r, RIG_TEXTURE, 0x8410);
    CHECK(facet_raster_tex2d(d, 0, 0, false, false, F32, &f.source, got));
    CHECK_EQ(got[0], 0x3F048485);
    CHECK_EQ(got[1], 0x3F028283);
    CHECK_EQ(got[2], 0x3F048485);
    CHECK_EQ(got[3], 0x3F800000);
    /* 20.10: fx = fy = 128 is the point (256, 256) / 256 */
    describe(d, RIG_TEXTURE, 8, 2, 2, 1);
    for (unsigned i = 0; i < 4; i++) {
        rig_word(&f.r, RIG_TEXTURE + 4 * i, quad[i]);
    }
    CHECK(facet_raster_tex2d(d, 256, 256, false, true, I8, &f.source, got));
    CHECK_EQ(got[0], 0xFF808080);
    CHECK(facet_raster_tex2d(d, 128 + 64, 128 + 192, false, true, I8, &f.source, got));
    CHECK_EQ(got[0], 0xFF6040BF);
    /* Q.16: 0x8000 of width 5 is texel 2; -0x4000 of width 8 is texel -2 */
    for (unsigned i = 0; i < 8; i++) {
        rig_word(&f.r, RIG_TEXTURE + 4 * i, 100 + i);
    }
    describe(d, RIG_TEXTURE, 32, 5, 1, 1);
    CHECK(facet_raster_tex2d(d, 0x8000, 0, true, false, I8, &f.source, got));
    CHECK_EQ(got[0], 102);
    describe(d, RIG_TEXTURE, 32, 8, 1, 1);
    d[5] = 1;
    CHECK(facet_raster_tex2d(d, (uint32_t)-0x4000, 0, true, false, I8, &f.source, got));
    CHECK_EQ(got[0], 106);
    d[5] = 0;
    CHECK(facet_raster_tex2d(d, (uint32_t)-0x4000, 0, true, false, I8, &f.source, got));
    CHECK_EQ(got[0], 100);
    rig_close(&f.r);
}

/* ---- result types ---- */

/* The finite value of a small positive float, times 2^24: an exact integer for all numbers here. */
static int64_t value24(uint32_t bits, int fraction, int bias)
{
    const int e = (int)(bits >> fraction), m = (int)(bits & ((1u << fraction) - 1));
    const int scale = 24 + (e == 0 ? 1 : e) - bias - fraction;

    return (int64_t)(m + (e == 0 ? 0 : 1 << fraction)) << scale;
}

/* The bits of the format nearest to c / 255: compare 255 * value with c. A tie would need an even
 * denominator, so there is none. */
static uint32_t nearest_bits(uint32_t c, int fraction, int bias, uint32_t count)
{
    const int64_t target = (int64_t)c << 24;
    uint32_t best = 0;
    int64_t best_error = INT64_MAX;

    for (uint32_t bits = 0; bits < count; bits++) {
        const int64_t e = 255 * value24(bits, fraction, bias) - target, error = e < 0 ? -e : e;

        if (error < best_error) {
            best_error = error;
            best = bits;
        }
    }
    return best;
}

static bool nearest_fp32(uint32_t bits, uint32_t c)
{
    const long double x = (long double)facet_float_of(bits) * 255 - c;
    const long double lo = (long double)facet_float_of(bits - 1) * 255 - c;
    const long double hi = (long double)facet_float_of(bits + 1) * 255 - c;

    return c == 0 ? bits == 0 : fabsl(x) < fabsl(lo) && fabsl(x) < fabsl(hi);
}

TEST(result_types, "TILE-326")
{
    struct fixture f;
    uint32_t d[8], got[4];

    open(&f);
    describe(d, RIG_TEXTURE, 4, 1, 1, 1);
    for (uint32_t c = 0; c < 256; c++) {
        const uint32_t half = nearest_bits(c, 10, 15, 0x3C01), e4m3 = nearest_bits(c, 3, 7, 0x39);

        rig_word(&f.r, RIG_TEXTURE, c << 16 | 0x5A000000 | (255 - c));
        facet_raster_tex2d(d, 0, 0, false, false, I32, &f.source, got);
        CHECK(got[0] == c && got[1] == 0 && got[2] == 255 - c && got[3] == 0x5A);
        facet_raster_tex2d(d, 0, 0, false, false, I16, &f.source, got);
        CHECK(got[0] == c && got[1] == (0x5A0000 | (255 - c)) && got[2] == 0 && got[3] == 0);
        facet_raster_tex2d(d, 0, 0, false, false, I8, &f.source, got);
        CHECK(got[0] == (c << 16 | 0x5A000000 | (255 - c)) && (got[1] | got[2] | got[3]) == 0);
        facet_raster_tex2d(d, 0, 0, false, false, F32, &f.source, got);
        CHECK(nearest_fp32(got[0], c) && got[1] == 0 && nearest_fp32(got[3], 0x5A));
        facet_raster_tex2d(d, 0, 0, false, false, F16, &f.source, got);
        CHECK_EQ(got[0], half);
        CHECK(got[1] >> 16 == nearest_bits(0x5A, 10, 15, 0x3C01) && (got[2] | got[3]) == 0);
        facet_raster_tex2d(d, 0, 0, false, false, F8, &f.source, got);
        CHECK_EQ(got[0] & 0xFFFF, e4m3);
        CHECK(got[0] >> 24 == nearest_bits(0x5A, 3, 7, 0x39) && (got[1] | got[2] | got[3]) == 0);
    }
    rig_close(&f.r);
}

/* ---- errors and the callback ---- */

TEST(bad_descriptors_give_zeros, "TILE-334")
{
    struct fixture f;
    uint32_t d[8], got[4];

    open(&f);
    for (unsigned i = 0; i < 3; i++) {
        describe(d, RIG_TEXTURE, 64, 4, 4, 1);
        d[i == 0 ? 2 : i == 1 ? 3 : 4] = i == 2 ? 3 : 0x10000;
        memset(got, 0xAA, sizeof got);
        CHECK(!facet_raster_tex2d(d, 1, 1, false, false, F32, &f.source, got));
        CHECK((got[0] | got[1] | got[2] | got[3]) == 0);
    }
    describe(d, RIG_TEXTURE, 64, 4, 4, 1);
    CHECK(!facet_raster_tex2d(d, 1, 1, false, false, 6, &f.source, got));
    rig_close(&f.r);
}

struct log {
    uint32_t address[8];
    unsigned size[8], count;
};

static bool logged(void *context, uint32_t address, unsigned size, uint8_t *bytes)
{
    struct log *l = context;

    l->address[l->count] = address;
    l->size[l->count++] = size;
    memset(bytes, 0x21, size);
    return true;
}

TEST(texels_come_through_the_callback, "TILE-349 TILE-531 TILE-537")
{
    struct log l = {{0}, {0}, 0};
    const struct facet_texel_source source = {logged, &l};
    uint32_t d[8], got[4];

    describe(d, 0x100, 64, 16, 16, 2 | 3 << 2);
    CHECK(facet_raster_tex2d(d, 5, 2, false, false, I8, &source, got));
    CHECK_EQ(l.count, 2);
    CHECK_EQ(l.address[0], rig_at(0x100 + 2 * 64 + 5));
    CHECK_EQ(l.size[0], 1);
    CHECK_EQ(l.address[1], rig_at(RIG_PALETTE) + 3 * 1024 + 4 * 0x21);
    CHECK_EQ(l.size[1], 4);
    CHECK_EQ(got[0], 0x21212121);
}

/* A texel of which only some bytes are there: those are used. */
TEST(texels_at_the_end_of_vram, "")
{
    struct fixture f;
    uint32_t d[8], got[4];

    open(&f);
    f.r.vram[RIG_SIZE - 2] = 0x34;
    f.r.vram[RIG_SIZE - 1] = 0x12;
    describe(d, RIG_SIZE - 2, 4, 1, 1, 1);
    CHECK(!facet_raster_tex2d(d, 0, 0, false, false, I8, &f.source, got));
    CHECK_EQ(got[0], 0x1234);
    rig_close(&f.r);
}
