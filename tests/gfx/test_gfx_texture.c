/* The texture rows of gfx-semantics.md 18 (1 to 15 and the wrap table), the sRGB table of 19, and
 * one case for each statement about texture state, formats, taps and gathers. */
#include "base/float.h"
#include "gfx/sample.h"
#include "harness.h"
#include "num/srgb.h"
#include "oracle.h"
#include "subject.h"

/* ---- a small desk: bytes at address 0x1000, CSR mode, FP32, everything else off ---- */

enum { BASE = 0x1000, HALF = 0x3F000000, ONE = 0x3F800000 };

struct desk {
    const uint8_t *bytes;
    size_t size;
};

static uint8_t desk_byte(const void *context, uint64_t address)
{
    const struct desk *d = context;

    return address - BASE < d->size ? d->bytes[address - BASE] : 0xEE;
}

static struct desk desk;

static struct gfx_case
on_desk(const void *bytes, size_t size, unsigned fmt, uint32_t w, uint32_t h, uint32_t pitch)
{
    struct gfx_case c = {
        .csrs = {.cfg = 0, .base = BASE, .pitch = pitch, .wh = (uint64_t)h << 32 | w, .fmt = fmt},
        .convert = true,
        .memory = desk_byte,
        .context = &desk,
    };

    desk = (struct desk){bytes, size};
    for (unsigned k = 0; k < 4; k++) {
        c.conv[k] = (struct facet_conv){.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    }
    return c;
}

enum { NORM = 1 << 6, SRGB_EN = 1 << 3 };

static void formats(struct gfx_case *c, enum facet_format elem, enum facet_format acc)
{
    for (unsigned k = 0; k < 4; k++) {
        c->conv[k].elem = (uint8_t)elem;
        c->conv[k].acc = (uint8_t)acc;
    }
}

static struct gfx_answer run(struct gfx_case *c, uint32_t u, uint32_t v)
{
    struct gfx_answer got;

    c->slot[0] = u;
    c->slot[1] = v;
    gfx_compare(c);
    gfx_subject(c, &got);
    return got;
}

static void
expect(const struct gfx_answer *a, uint32_t r, uint32_t g, uint32_t b, uint32_t x, unsigned flags)
{
    CHECK_EQ(a->out[0], r);
    CHECK_EQ(a->out[1], g);
    CHECK_EQ(a->out[2], b);
    CHECK_EQ(a->out[3], x);
    CHECK_EQ(a->flags, flags);
}

static const uint8_t T2[16] = {
    0x00, 0x40, 0x80, 0xFF, 0xFF, 0x00, 0x00, 0x80, 0x10, 0x20, 0x30, 0x40, 0xFF, 0xFF, 0xFF, 0x00};

static struct gfx_case t2(void)
{
    struct gfx_case c = on_desk(T2, sizeof T2, 0x30, 2, 2, 8);

    c.csrs.cfg = NORM;
    return c;
}

/* ---- section 18 ---- */

TEST(example_1_nearest, "GFX-119 GFX-125")
{
    struct gfx_case c = t2();
    struct gfx_answer a = run(&c, 0x3F400000, 0x3E800000);

    expect(&a, 0x3F800000, 0, 0, 0x3F008081, FACET_NX);
    CHECK_EQ(a.accesses, 4);
    CHECK_EQ(a.address[0], BASE + 4);
}

TEST(example_2_bilinear, "GFX-120 GFX-130")
{
    struct gfx_case c = t2();
    struct gfx_answer a;

    c.m = true;
    a = run(&c, 0x3F000000, 0x3ECCCCCD);
    expect(&a, 0x3F0268C9, 0x3E83691D, 0x3EB534A9, 0x3F10371D, FACET_NX);
    CHECK_EQ(a.accesses, 16);
}

TEST(examples_3_and_4_accumulator_width, "GFX-271 GFX-328 GFX-357")
{
    struct gfx_case c = t2();
    struct gfx_answer a;

    c.m = true;
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP32);
    a = run(&c, 0x3800, 0x3866);
    expect(&a, 0x3827, 0x3634, 0x374F, 0x3604, FACET_DOWN | FACET_NX);
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP16);
    a = run(&c, 0x3800, 0x3866);
    expect(&a, 0x3826, 0x3633, 0x374E, 0x3604, FACET_NX);
}

TEST(example_5_srgb, "GFX-018 GFX-122 GFX-133")
{
    struct gfx_case c = t2();
    struct gfx_answer a;

    for (unsigned k = 0; k < 4; k++) { /* f and SRGB_EN: only both convert */
        c.f = (k & 1) != 0;
        c.csrs.cfg = NORM | ((k & 2) != 0 ? SRGB_EN : 0);
        a = run(&c, 0x3E800000, 0x3E800000);
        if (k == 3) {
            expect(&a, 0, 0x3D51FFEE, 0x3E5D0A8B, 0x3F800000, FACET_NX);
        } else {
            expect(&a, 0, 0x3E808081, 0x3F008081, 0x3F800000, FACET_NX);
        }
    }
}

TEST(example_6_filter_before_curve, "GFX-134 GFX-283")
{
    struct gfx_case c = t2();
    struct gfx_answer a;

    c.m = c.f = true;
    c.csrs.cfg = NORM | SRGB_EN;
    a = run(&c, 0x3F000000, 0x3E800000);
    expect(&a, 0x3E5B2D9A, 0x3C6CA5E0, 0x3D51FFEE, 0x3F404040, FACET_NX);
}

TEST(example_7_curve_with_a_short_accumulator, "")
{
    struct gfx_case c = t2();
    struct gfx_answer a;

    c.f = true;
    c.csrs.cfg = NORM | SRGB_EN;
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP16);
    a = run(&c, 0x3400, 0x3400);
    expect(&a, 0, 0x2A90, 0x32E8, 0x3C00, FACET_NX);
}

TEST(example_8_packed_word, "")
{
    static const uint8_t word[2] = {0x1F, 0xF8};
    struct gfx_case c = on_desk(word, 2, 0x40, 1, 1, 2);
    struct gfx_answer a = run(&c, 0, 0);

    expect(&a, ONE, 0, ONE, ONE, 0);
    CHECK_EQ(a.accesses, 1);
    CHECK_EQ(a.bytes[0], 2);
}

TEST(example_9_swizzle, "GFX-046")
{
    static const uint8_t texel[4] = {0x80, 0x81, 0x7F, 0x40};
    struct gfx_case c = on_desk(texel, 4, 0x31 | 5 << 8 | 3 << 14 | 2 << 17, 1, 1, 4);
    struct gfx_answer a = run(&c, 0, 0);

    expect(&a, 0x3F800000, 0xBF800000, 0xBF800000, 0x3F800000, 0);
    CHECK_EQ(a.accesses, 4); /* A is read although nobody uses it */
    c.csrs.fmt = 0x30 | 5 << 8 | 3 << 14;
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], 0x3EFEFEFF);
    CHECK_EQ(a.out[2], 0x3F008081);
}

TEST(example_10_integer_accumulator, "")
{
    struct gfx_case c = t2();
    struct gfx_answer a;

    c.m = true;
    c.csrs.cfg = 0;
    formats(&c, FACET_FMT_INT16, FACET_FMT_INT32);
    for (unsigned k = 0; k < 4; k++) {
        c.conv[k].scale = -8;
    }
    a = run(&c, 0x0100, 0x00C0);
    expect(&a, 0x0082, 0x003C, 0x0056, 0x0098, FACET_DOWN | FACET_NX);
}

TEST(example_11_saturation, "")
{
    struct gfx_case c = t2();
    struct gfx_answer a;

    c.csrs.cfg = 0;
    formats(&c, FACET_FMT_INT8, FACET_FMT_FP32);
    for (unsigned k = 0; k < 4; k++) {
        c.conv[k].scale = -8;
        c.conv[k].uns = c.conv[k].sat = true;
    }
    a = run(&c, 0x04, 0x04);
    expect(&a, 0x00, 0x40, 0x81, 0xFF, FACET_DOWN | FACET_NX | FACET_SAT);
}

/* 4x4, texel (x, y) = 10 y + x. */
static struct gfx_case tens(void)
{
    static float texels[16];
    struct gfx_case c;

    for (unsigned k = 0; k < 16; k++) {
        texels[k] = (float)(k / 4 * 10 + k % 4);
    }
    c = on_desk(texels, sizeof texels, 0x0A, 4, 4, 16);
    c.gather = true;
    c.n = 5;
    return c;
}

static const uint32_t cross[15] = {0,
                                   0,
                                   0x3F000000,
                                   0xBF800000,
                                   0,
                                   0x3E000000,
                                   0x3F800000,
                                   0,
                                   0x3E000000,
                                   0,
                                   0xBF800000,
                                   0x3E000000,
                                   0,
                                   0x3F800000,
                                   0x3DCCCCCD};

TEST(examples_12_to_14_gather, "")
{
    struct gfx_case c = tens();
    struct gfx_answer a;

    memcpy(c.table, cross, sizeof cross);
    c.p = c.s = true;
    a = run(&c, 0x3FC00000, 0x40200000);
    harness_row("GFX-140");
    expect(&a, 0x41A1CCCD, 0, 0, 0x3F79999A, FACET_NX);
    harness_row("GFX-142 GFX-151");
    CHECK_EQ(a.accesses, 5);
    CHECK_EQ(a.address[0], BASE + 2 * 16 + 1 * 4);
    CHECK_EQ(a.address[1], BASE + 2 * 16 + 0 * 4);
    CHECK_EQ(a.address[4], BASE + 3 * 16 + 1 * 4);
    c.p = false;
    a = run(&c, 0x3FC00000, 0x40200000);
    harness_row("GFX-139 GFX-141");
    expect(&a, 0x41A80000, 0, 0, 0x3F800000, 0);
    harness_row("GFX-141");
    c.s = false;
    a = run(&c, 0x3FC00000, 0x40200000);
    expect(&a, 0x41CB3333, 0, 0, 0x3F800000, FACET_NX);
}

TEST(example_15_integer_gather, "GFX-150")
{
    static const uint32_t table[9] = {0, 0, 0x80, 0xFF00, 0, 0x40, 0x100, 0, 0x41};
    uint8_t texels[16];
    struct gfx_case c;
    struct gfx_answer a;

    for (unsigned k = 0; k < 16; k++) {
        texels[k] = (uint8_t)(k / 4 * 10 + k % 4);
    }
    c = on_desk(texels, sizeof texels, 0x02, 4, 4, 4);
    formats(&c, FACET_FMT_INT16, FACET_FMT_INT32);
    c.gather = c.p = c.s = true;
    c.n = 3;
    memcpy(c.table, table, sizeof table);
    a = run(&c, 0x0180, 0x0280);
    expect(&a, 0x0015, 0, 0, 0x0001, FACET_DOWN | FACET_NX);
    CHECK_EQ(a.address[1], BASE + 8); /* du = -1 texel */
    c.s = false;                      /* zero-extended: 255 texels, clamped */
    a = run(&c, 0x0180, 0x0280);
    CHECK_EQ(a.address[1], BASE + 11);
}

TEST(wrap_table, "GFX-023 GFX-024 GFX-025 GFX-026 GFX-131 GFX-132")
{
    static const uint32_t rows[][5] = {
        {0xBFA00000, 0x41200000, 0x41F00000, 0x41A00000, 0x42C60000},
        {0xBE800000, 0x41200000, 0x42200000, 0x41200000, 0x42C60000},
        {0x00000000, 0x41200000, 0x41200000, 0x41200000, 0x41200000},
        {0x407FEF9E, 0x42200000, 0x42200000, 0x42200000, 0x42200000},
        {0x40900000, 0x42200000, 0x41200000, 0x42200000, 0x42C60000},
        {0x41100000, 0x42200000, 0x41A00000, 0x41A00000, 0x42C60000},
        {0x7F800000, 0x42200000, 0x42200000, 0x41200000, 0x42C60000},
        {0xFF800000, 0x41200000, 0x41200000, 0x41200000, 0x42C60000},
        {0x7FC00001, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000},
    };
    static const uint8_t texels[4] = {10, 20, 30, 40};
    struct gfx_case c = on_desk(texels, 4, 0x02, 4, 1, 4);

    c.csrs.border[0] = 0x42C60000;
    for (unsigned k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        for (unsigned mode = 0; mode < 4; mode++) {
            struct gfx_answer a;

            c.csrs.wrap = mode;
            a = run(&c, rows[k][0], 0);
            CHECK_EQ(a.out[0], rows[k][1 + mode]);
            CHECK_EQ(a.accesses, k == 8 || a.out[0] == 0x42C60000 ? 0 : 1);
            CHECK_EQ(a.flags, k == 8 ? FACET_QNAN : 0);
        }
    }
}

/* Far positions keep their wrap: compared with the reference, bilinear included. */
TEST(extreme_coordinates_in_every_mode_and_format, "GFX-023 GFX-024 GFX-025 GFX-026")
{
    static const uint32_t fp32[] = {0x7F800000,
                                    0xFF800000,
                                    0x7F7FFFFF,
                                    0xFF7FFFFF,
                                    0x7FC00000,
                                    0x7F800001,
                                    0x4F000000,
                                    0xCF000000,
                                    0x4EFFFFFF,
                                    0xCEFFFFFF,
                                    0x00000001,
                                    0x80000001,
                                    0x80000000,
                                    0x4F7FFFFF,
                                    0x47800000};
    static const uint8_t texels[15] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 1, 2, 3, 4, 5, 6};
    struct gfx_case c = on_desk(texels, sizeof texels, 0x02, 5, 3, 5);

    for (unsigned k = 0; k < 15 * 15; k++) {
        for (unsigned mode = 0; mode < 16; mode++) {
            c.csrs.wrap = mode & 3;
            c.m = (mode & 4) != 0;
            c.csrs.cfg = (mode & 8) != 0 ? NORM : 0;
            run(&c, fp32[k / 15], fp32[k % 15]);
        }
    }
}

/* ---- sRGB to linear ---- */

static const struct {
    enum facet_format elem, acc;
} srgb_formats[] = {
    {FACET_FMT_FP32, FACET_FMT_FP32},
    {FACET_FMT_FP16, FACET_FMT_FP32},
    {FACET_FMT_FP16, FACET_FMT_FP16},
    {FACET_FMT_FP32, FACET_FMT_FP16},
    {FACET_FMT_INT16, FACET_FMT_INT32},
    {FACET_FMT_INT16, FACET_FMT_INT16},
};

static void srgb_numbers(struct gfx_case *c, unsigned format, unsigned rm, bool ftz)
{
    formats(c, srgb_formats[format].elem, srgb_formats[format].acc);
    for (unsigned o = 0; o < 4; o++) {
        c->conv[o].rm = rm;
        c->conv[o].ftz = ftz;
        c->conv[o].scale = srgb_formats[format].elem == FACET_FMT_INT16 ? -12 : 0;
    }
}

/* Every code of UNORM8 and some of UNORM16 in every mode; the reference judges each (gfx_compare).
 */
TEST(srgb_of_codes_in_every_mode, "GFX-018 GFX-122 GFX-360")
{
    uint16_t texel = 0;
    struct gfx_case c = on_desk((const uint8_t *)&texel, 2, 0x00, 1, 1, 2);
    unsigned differing = 0;

    c.f = true;
    for (unsigned format = 0; format < 6; format++) {
        for (unsigned code = 0; code < 512; code++) {
            uint32_t first = 0;

            c.csrs = on_desk((const uint8_t *)&texel, 2, code < 256 ? 0x00 : 0x04, 1, 1, 2).csrs;
            c.csrs.cfg = SRGB_EN;
            texel = (uint16_t)(code < 256 ? code : harness_random());
            for (unsigned rm = 0; rm < 5 && !harness_failed(); rm++) {
                struct gfx_answer a;

                srgb_numbers(&c, format, rm, (code & 1) != 0);
                a = run(&c, 0, 0);
                first = rm == 0 ? a.out[0] : first;
                differing += a.out[0] != first;
            }
        }
    }
    CHECK(differing > 1000); /* the mode is seen */
}

/* Any accumulator, not only those that filters produce. */
TEST(srgb_step_of_any_accumulator, "GFX-360")
{
    static const uint32_t edges[] = {0x3D25AEE6,
                                     0x3D25AEE7,
                                     0x3F7FFFFF,
                                     0x3F800000,
                                     0x00000001,
                                     0x80000000,
                                     0x7F800000,
                                     0x7FC00000};

    for (unsigned k = 0; k < 40000 && !harness_failed(); k++) {
        struct facet_conv conv = {.elem = FACET_FMT_FP32,
                                  .acc = srgb_formats[k % 6].acc,
                                  .rm = k / 6 % 5,
                                  .ftz = k % 7 == 0};
        uint32_t x = (uint32_t)harness_random();
        unsigned flags = 0, want_flags = 0;
        uint32_t want;

        if (conv.acc == FACET_FMT_FP16) {
            x &= k % 4 == 0 ? 0xFFFF : 0x3FFF;
        } else if (conv.acc == FACET_FMT_FP32) {
            x = k % 64 == 0 ? edges[x % 8] : x & (k % 4 == 0 ? UINT32_MAX : 0x3FFFFFFF);
            x = k % 4 == 1 ? 0x3D000000 + x % 0x2800000 : x; /* where the power is */
        } else {
            x = conv.acc == FACET_FMT_INT16 ? (uint32_t)(int16_t)x : x;
            conv.scale = (int)(harness_random() % 41) - 36;
        }
        want = gfx_reference_srgb(&conv, x, &want_flags);
        CHECK_EQ(facet_gfx_srgb(&conv, x, NULL, &flags), want);
        CHECK_EQ(flags, want_flags);
    }
}

/* The fast way to the same bits. */
TEST(srgb_float_is_rounded_to_nearest, "GFX-360")
{
    const struct facet_conv conv = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};

    for (unsigned k = 0; k < (harness_long() ? 2000000 : 40000) && !harness_failed(); k++) {
        uint32_t x = (uint32_t)harness_random() % 0x3F800001, got;
        unsigned none = 0;
        float f;

        x = k % 2 != 0 ? 0x3D000000 + x % 0x2800000 : x;
        f = facet_float_of(x);
        f = facet_srgb_float(f);
        memcpy(&got, &f, sizeof got);
        CHECK_EQ(got, gfx_reference_srgb(&conv, x, &none));
    }
}

/* ---- texture state ---- */

TEST(texture_state_of_csrs,
     "GFX-016 GFX-021 GFX-028 GFX-030 GFX-040 GFX-048 GFX-066 GFX-069 GFX-126 GFX-128 GFX-129")
{
    static const uint8_t row[8] = {0x10, 0x20, 0x30, 0x80, 0x50, 0x60, 0x70, 0x90};
    struct gfx_case c = on_desk(row, sizeof row, 0x02, 4, 1, 4);
    struct gfx_answer a = run(&c, HALF, 0);

    CHECK_EQ(a.address[0], BASE); /* texel space */
    c.csrs.cfg = NORM;
    a = run(&c, HALF, 0);
    CHECK_EQ(a.address[0], BASE + 2);
    a = run(&c, 0x3F200000, 0); /* 0.625 */
    CHECK_EQ(a.address[0], BASE + 2);
    c.csrs.cfg = 0;
    a = run(&c, 0x40200000, 0); /* 2.5 */
    CHECK_EQ(a.address[0], BASE + 2);
    c.csrs.wh = UINT64_C(1) << 32 | 2; /* width 2, u = 3: clamped */
    a = run(&c, 0x40400000, 0);
    CHECK_EQ(a.address[0], BASE + 1);
    c.csrs.wh = UINT64_C(2) << 32 | 4;
    a = run(&c, 0, ONE);
    CHECK_EQ(a.address[0], BASE + 4);
    c.csrs.pitch = 64;
    a = run(&c, 0, ONE);
    CHECK_EQ(a.address[0], BASE + 64);
    c.csrs.base += 64;
    a = run(&c, 0, 0);
    CHECK_EQ(a.address[0], BASE + 64);
    c.csrs.base = BASE;
    c.csrs.stride1 = 1000;
    c.t = true;
    c.slot[2] = 0x40000000; /* n1 = 2 */
    c.slot[3] = ONE;        /* stride2 is 0 in CSR mode */
    a = run(&c, 0, 0);
    CHECK_EQ(a.address[0], BASE + 2000);
    c.t = false;
    c.csrs.fmt = 0x00; /* raw and converted */
    a = run(&c, 0x40400000, 0);
    CHECK_EQ(a.out[0], 0x3F008081);
    c.convert = false;
    a = run(&c, 0x40400000, 0);
    CHECK_EQ(a.out[0], 0x80);
    CHECK_EQ(a.flags, 0);
    c.convert = true;
    c.csrs.wrap = 3; /* the border in E, by E */
    c.csrs.border[0] = UINT64_C(0x3C00380034003C00);
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP32);
    a = run(&c, 0xBC00, 0);
    expect(&a, 0x3C00, 0x3400, 0x3800, 0x3C00, FACET_DOWN);
    formats(&c, FACET_FMT_BF16, FACET_FMT_FP32);
    a = run(&c, 0xBF80, 0);
    expect(&a, 0x3C00, 0x3400, 0x3800, 0x3C00, FACET_DOWN);
    formats(&c, FACET_FMT_FP32, FACET_FMT_FP32);
    c.csrs.border[1] = UINT64_C(0x3F80000040000000);
    a = run(&c, 0xBF800000, 0);
    expect(&a, 0x34003C00, 0x3C003800, 0x40000000, 0x3F800000, 0);
}

static void put32(uint8_t *desc, unsigned at, uint32_t value)
{
    for (unsigned b = 0; b < 4; b++) {
        desc[at + b] = (uint8_t)(value >> 8 * b);
    }
}

TEST(texture_descriptor_fields, "GFX-297 GFX-298 GFX-386")
{
    static const uint8_t texels[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x80};
    struct gfx_case c = on_desk(texels, sizeof texels, 0x3F, 0, 0, 0);
    struct gfx_answer a;

    c.desc = true; /* the CSR format is reserved and not looked at */
    put32(c.bytes, 0, BASE);
    put32(c.bytes, 8, 4);
    put32(c.bytes, 12, 4);
    put32(c.bytes, 16, 4);
    put32(c.bytes, 20, 0x02);
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.address[0], BASE + 5);
    put32(c.bytes, 0, BASE + 1);
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.address[0], BASE + 6);
    put32(c.bytes, 4, 1); /* upper half of the base */
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.address[0], UINT64_C(0x100000000) + BASE + 6);
    put32(c.bytes, 4, 0);
    put32(c.bytes, 0, BASE);
    put32(c.bytes, 8, 8);
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.address[0], BASE + 9);
    put32(c.bytes, 8, 4);
    put32(c.bytes, 12, 2);
    a = run(&c, 0x40400000, 0);
    CHECK_EQ(a.address[0], BASE + 1);
    put32(c.bytes, 12, 4);
    put32(c.bytes, 16, 2);
    a = run(&c, 0, 0x40400000);
    CHECK_EQ(a.address[0], BASE + 4);
    put32(c.bytes, 16, 4);
    put32(c.bytes, 20, 0x06); /* UINT16 */
    a = run(&c, ONE, 0);
    CHECK_EQ(a.bytes[0], 2);
    CHECK_EQ(a.address[0], BASE + 2);
    put32(c.bytes, 20, 0x02);
    put32(c.bytes, 24, 0xFFFFFFFD); /* only bits 1:0: repeat */
    a = run(&c, 0x40900000, 0);
    CHECK_EQ(a.address[0], BASE);
    put32(c.bytes, 24, 0);
    c.w = true;
    c.wrap = 1;
    a = run(&c, 0x40900000, 0);
    CHECK_EQ(a.address[0], BASE);
    c.w = false;
    put32(c.bytes, 24, 3);
    for (unsigned k = 0; k < 4; k++) { /* border: one word, one channel */
        for (unsigned j = 0; j < 4; j++) {
            put32(c.bytes, 28 + 4 * j, j == k ? HALF : 0);
        }
        a = run(&c, 0xBF800000, 0);
        for (unsigned j = 0; j < 4; j++) {
            CHECK_EQ(a.out[j], j == k ? HALF : 0);
        }
    }
    put32(c.bytes, 28, HALF);
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP32);
    a = run(&c, 0xBC00, 0);
    CHECK_EQ(a.out[0], 0x3800);
    put32(c.bytes, 28, 0xFE);
    formats(&c, FACET_FMT_INT8, FACET_FMT_INT32);
    a = run(&c, 0xF0, 0);
    CHECK_EQ(a.out[0], 0xFE);
    formats(&c, FACET_FMT_FP32, FACET_FMT_FP32);
    put32(c.bytes, 24, 0);
    put32(c.bytes, 44, 1); /* flags: normalized */
    a = run(&c, HALF, 0);
    CHECK_EQ(a.address[0], BASE + 2);
    put32(c.bytes, 44, 2); /* sRGB */
    put32(c.bytes, 20, 0x00);
    put32(c.bytes, 0, BASE + 16);
    c.f = true;
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], 0x3E5D0A8B);
    c.f = false;
    put32(c.bytes, 0, BASE);
    put32(c.bytes, 20, 0x22); /* UINT8 RGB */
    put32(c.bytes, 44, 4);    /* planar */
    put32(c.bytes, 48, 20);
    a = run(&c, ONE, 0);
    CHECK_EQ(a.address[0], BASE + 1);
    CHECK_EQ(a.address[1], BASE + 21);
    CHECK_EQ(a.address[2], BASE + 41);
    put32(c.bytes, 44, 0);
    put32(c.bytes, 20, 0x02);
    put32(c.bytes, 52, 300);
    c.t = true;
    c.slot[2] = ONE;
    c.slot[3] = 0;
    a = run(&c, 0, 0);
    CHECK_EQ(a.address[0], BASE + 20);
    c.slot[2] = 0;
    c.slot[3] = ONE;
    a = run(&c, 0, 0);
    CHECK_EQ(a.address[0], BASE + 300);
}

TEST(channel_types, "")
{
    static const uint8_t bytes[4] = {0xFF, 0x01, 0x02, 0x80};
    static const uint8_t half[2] = {0x00, 0x38}, brain[2] = {0x00, 0x3F};
    struct gfx_case c = on_desk(bytes, 4, 0x00, 1, 1, 4);
    struct gfx_answer a = run(&c, 0, 0);

    CHECK_ID("GFX-042", a.out[0] == ONE);
    harness_row("GFX-045");
    c.csrs.fmt = 0x33;
    a = run(&c, 0, 0);
    expect(&a, 0xBF800000, 0x3F800000, 0x40000000, 0xC3000000, 0);
    harness_row("GFX-043");
    c = on_desk(half, 2, 0x08, 1, 1, 2);
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], HALF);
    harness_row("GFX-044");
    c = on_desk(brain, 2, 0x09, 1, 1, 2);
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], HALF);
}

/* Every code of every one-byte and two-byte type in every accumulator; all 256 format codes. */
TEST(every_code_of_every_format, "")
{
    static const enum facet_format accs[] = {
        FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT32, FACET_FMT_INT16};
    uint8_t word[4] = {0};
    struct gfx_case c = on_desk(word, 4, 0, 1, 1, 4);
    unsigned known = 0;

    for (unsigned fmt = 0; fmt < 256; fmt++) {
        struct gfx_answer a;

        c.csrs.fmt = fmt;
        a = run(&c, 0, 0);
        known += !a.reserved;
        CHECK(a.reserved == (facet_gfx_format_name(fmt) == NULL));
        CHECK(a.reserved || facet_gfx_format_find(facet_gfx_format_name(fmt)) == (int)fmt);
    }
    CHECK_EQ(known, 15 * 4 + 4);
    CHECK_EQ(facet_gfx_format_find("unorm8_rgba"), 0x30);
    CHECK(facet_gfx_format_find("UNORM9") == -1);
    for (unsigned type = 0; type < 19; type++) {
        c.csrs.fmt = type < 15 ? type : 0x40 + type - 15;
        for (unsigned k = 0; k < 256 && !harness_failed(); k++) {
            uint64_t code = type < 4 || type == 13 || type == 14 ? k : harness_random();

            memcpy(word, &code, 4);
            formats(&c, FACET_FMT_FP32, accs[k % 4]);
            run(&c, 0, 0);
        }
    }
}

/* ---- numbers of a gather ---- */

TEST(gather_filter_count_and_table, "GFX-017 GFX-138 GFX-152 GFX-153 GFX-154")
{
    struct gfx_case c = tens();
    struct gfx_answer a;

    c.n = 1;
    a = run(&c, ONE, ONE); /* a corner */
    CHECK_EQ(a.accesses, 1);
    CHECK_EQ(a.out[0], 0x41300000); /* 11 */
    c.filter = true;
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.accesses, 4);
    CHECK_EQ(a.out[0], 0x40B00000); /* (0 + 1 + 10 + 11) / 4 */
    c.filter = false;
    for (unsigned n = 1; n < 16; n++) {
        c.n = n;
        a = run(&c, ONE, ONE);
        CHECK_EQ(a.accesses, n);
        CHECK_EQ(a.flags & FACET_UNSUP, 0);
    }
    c.n = 0;
    c.csrs.cfg = (uint64_t)9 << 24;
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.accesses, 9);
    c.desc = true;
    put32(c.bytes, 0, BASE);
    put32(c.bytes, 8, 16);
    put32(c.bytes, 12, 4);
    put32(c.bytes, 16, 4);
    put32(c.bytes, 20, 0x0A);
    put32(c.bytes, 44, 7 << 8);
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.accesses, 7);
    put32(c.bytes, 44, 40 << 8);
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.accesses, 16);
    CHECK_EQ(a.flags, FACET_UNSUP);
    put32(c.bytes, 44, 0);
    a = run(&c, ONE, ONE);
    CHECK_EQ(a.accesses, 0);
    expect(&a, 0, 0, 0, 0, 0);
}

TEST(gather_numbers, "")
{
    static float texels[16];
    struct gfx_case c = on_desk(texels, sizeof texels, 0x0A, 4, 1, 16);
    struct gfx_answer a, b;
    const float nan = __builtin_nanf("");

    c.gather = c.s = true;
    c.n = 3;
    c.table[3] = ONE; /* taps at 0, 1, 2 */
    c.table[6] = 0x40000000;
    texels[0] = 2048; /* partial sums beyond 11 bits */
    texels[1] = 1;
    texels[2] = 1;
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP32);
    c.table[3] = 0x3C00;
    c.table[6] = 0x4000;
    a = run(&c, 0, 0);
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP16);
    b = run(&c, 0, 0);
    CHECK_ID("GFX-144", a.out[0] != b.out[0]);
    harness_row("GFX-145");
    texels[0] = texels[1] = texels[2] = 40000;
    for (unsigned k = 0; k < 3; k++) {
        c.table[3 * k + 2] = 0x3C00;
    }
    c.p = true;
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP32);
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], 0x7C00);
    c.conv[0].sat = true;
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], 0x7BFF);
    c.conv[0].sat = false;
    harness_row("GFX-146 GFX-345");
    texels[1] = nan;
    for (unsigned policy = 0; policy < 3; policy++) {
        static const uint32_t want[3] = {0x7E00, 0, 0x7C00};

        c.conv[0].nan_pol = (uint8_t)policy;
        a = run(&c, 0, 0);
        CHECK_EQ(a.out[0], want[policy]);
        CHECK((a.flags & FACET_QNAN) != 0);
    }
    c.conv[0].nan_pol = 0;
    texels[0] = 1;
    texels[1] = texels[2] = 0;
    c.p = false;
    formats(&c, FACET_FMT_FP16, FACET_FMT_FP32);
    c.conv[0].rm = FACET_RDN;
    a = run(&c, 0, 0);
    c.conv[0].rm = FACET_RUP;
    b = run(&c, 0, 0);
    CHECK_ID("GFX-147", b.out[0] == a.out[0] + 1);
    harness_row("GFX-148");
    c.conv[0].rm = FACET_RNE;
    formats(&c, FACET_FMT_INT8, FACET_FMT_INT32); /* 4.4: offsets 1 and 2 */
    c.table[3] = 0x10;
    c.table[6] = 0x20;
    texels[0] = texels[1] = texels[2] = 1.5f;
    c.conv[0].scale = -2;
    c.conv[0].zp = 10;
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], 16); /* 1.5 * 4 + 10 */
}

TEST(samples_have_the_numbers_of_cap, "GFX-268 GFX-272 GFX-360")
{
    static const uint8_t zero[4] = {0, 0, 0, 0};
    static const uint32_t special[4] = {0x7F800001, 0x7FC00000, 0x00000001, 0x3F800001};
    struct gfx_case c = on_desk(zero, 4, 0x30, 1, 1, 4);
    struct gfx_answer a;

    formats(&c, FACET_FMT_INT8, FACET_FMT_FP32);
    c.conv[0].zp = 10;
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[0], 10);
    c = on_desk(special, sizeof special, 0x0A, 4, 1, 16);
    a = run(&c, 0, 0);
    CHECK_EQ(a.flags, FACET_SNAN | FACET_NV | FACET_QNAN); /* narrow meets a quiet one */
    a = run(&c, ONE, 0);
    CHECK_EQ(a.flags, FACET_QNAN);
    a = run(&c, 0x40000000, 0);
    CHECK_EQ(a.flags, 0);
    CHECK_EQ(a.out[0], 1);
    for (unsigned k = 0; k < 4; k++) {
        c.conv[k].ftz = true;
    }
    a = run(&c, 0x40000000, 0);
    CHECK_EQ(a.flags, FACET_FTZ);
    CHECK_EQ(a.out[0], 0);
    formats(&c, FACET_FMT_FP32, FACET_FMT_FP16); /* binary16 precision all the same */
    a = run(&c, 0x40400000, 0);
    CHECK_EQ(a.out[0], ONE);
    CHECK_EQ(a.flags, FACET_NX);
    c = t2(); /* quantized after the curve */
    c.f = true;
    c.csrs.cfg = SRGB_EN;
    formats(&c, FACET_FMT_INT8, FACET_FMT_FP32);
    for (unsigned k = 0; k < 4; k++) {
        c.conv[k].scale = -7;
    }
    a = run(&c, 0, 0);
    CHECK_EQ(a.out[1], 7);  /* 0.0513 * 128 = 6.56 */
    CHECK_EQ(a.out[2], 28); /* 0.2158 * 128 = 27.6 */
}

/* ---- a fault stops the fetch ---- */

struct faulty {
    unsigned left;
    uint64_t last;
};

static bool load_until(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    struct faulty *f = context;

    (void)bytes;
    f->last = address;
    *word = 0;
    return f->left-- != 0;
}

TEST(a_failing_load_ends_the_fetch_at_its_address, "")
{
    struct gfx_case c = t2();
    struct facet_gfx_texture texture;
    struct facet_gfx_sampling sampling = {.bilinear = true};
    struct facet_gfx_numbers n;
    struct facet_gfx_sample sample;
    struct faulty faulty = {6, 0};
    const uint32_t uv[2] = {HALF, HALF};
    unsigned flags = 0;

    memcpy(n.channel, c.conv, sizeof n.channel);
    CHECK(facet_gfx_texture_of_csrs(&c.csrs, FACET_FMT_FP32, &texture));
    facet_gfx_sample_plan(&n, &texture, &sampling, uv, false, &sample, &flags);
    CHECK(!facet_gfx_sample_fetch(&texture, &sample, load_until, &faulty));
    CHECK_EQ(faulty.last, BASE + 6); /* seventh access: t01, channel 2 */
}
