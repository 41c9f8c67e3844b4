/* GFX.SAMPLE and GFX.SAMPLE.GATH on the machine: texture state from CSRs and from descriptors,
 * coordinates, filters, formats, gather tables, what is fetched and in which order. Random textures
 * against an exact evaluation are in tests/gfx. */
#include "xphmg/gfx/gfx_test.h"

#include <stdio.h>

enum { NX = FACET_NX, DOWN = FACET_DOWN };

/* Samples at (u, v) with an instruction; r0..r3 in x16..x19. */
static void sample_at(struct guest *g, const char *text, uint32_t u, uint32_t v)
{
    g->hart->x[10] = u;
    g->hart->x[11] = v;
    guest_ok(g, "%s\n", text);
}

static uint64_t red(struct guest *g, const char *text, uint32_t u, uint32_t v)
{
    sample_at(g, text, u, v);
    return g->hart->x[16];
}

/* A row of four UINT8 texels 10 20 30 40, one channel, texel space. */
static void row_of_four(struct guest *g)
{
    texture(g, 0x02, 4, 1, 4);
    put_bytes(g, TEXTURE, (const uint8_t[]){10, 20, 30, 40}, 4);
}

/* binary32 of a small integer. */
static uint32_t f(int n)
{
    union {
        float value;
        uint32_t bits;
    } u = {.value = (float)n};

    return u.bits;
}

/* ---- what the instruction is -----------------------------------------------------------------
 */

TEST(a_sample_changes_its_window_and_stickies_only, "GFX-001")
{
    struct guest *g = gfx_make();
    struct facet_units before, after;
    uint64_t x[33], fregs[32];
    uint8_t ram[0x20000], later[0x20000];

    texture_t2(g);
    for (unsigned i = 1; i < 32; i++) {
        g->hart->x[i] = harness_random();
        g->hart->f[i] = harness_random();
    }
    g->hart->x[10] = HALF_F;
    g->hart->x[11] = 0x3ECCCCCD;
    memcpy(x, g->hart->x, sizeof x);
    memcpy(fregs, g->hart->f, sizeof fregs);
    before = g->hart->units;
    (void)facet_mem_peek(g->mem, GUEST_DATA, ram, sizeof ram);
    guest_ok(g, "GFX.SAMPLE x16, x10, m=1\n");
    (void)facet_mem_peek(g->mem, GUEST_DATA, later, sizeof later);
    CHECK_EQ(memcmp(ram, later, sizeof ram), 0);
    CHECK_EQ(memcmp(fregs, g->hart->f, sizeof fregs), 0);
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(g->hart->x[i] == x[i], i < 16 || i > 19);
    }
    after = g->hart->units;
    CHECK_EQ(after.cap.prec.exc_st, NX);
    after.cap.prec.exc_st = before.cap.prec.exc_st;
    CHECK_EQ(memcmp(&before, &after, sizeof before), 0);
    guest_free(g);
}

TEST(number_state_comes_from_cap_at_apply, "")
{
    struct guest *g = gfx_make();

    texture_t2(g);
    set_mode(g, MODE_FP16);
    harness_row("GFX-105");
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, ppp=1", 0x3F400000, QUARTER_F), 0x3F800000);
    CHECK_EQ(g->hart->x[19], 0x3F008081);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x3A00, 0x3400), 0x3C00); /* FP16 again */
    CHECK_EQ(g->hart->x[19], 0x3804);
    harness_row("GFX-003 GFX-009 GFX-095 GFX-265 GFX-363");
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, MODE_FP32); /* staged only */
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x3A00, 0x3400), 0x3C00);
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, MODE_FP32 | FACET_CAP_PREC_MODE_APPLY0);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x3F400000, QUARTER_F), 0x3F800000);
    harness_row("GFX-104");
    set_mode(g, MODE_BF16);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x3F40, 0x3E80), 0x3F80);
    CHECK_EQ(g->hart->x[19], 0x3F01);
    harness_row("GFX-118");
    /* every code of ppp on the same texel (1, 0, 0, 128/255) */
    set_mode(g, MODE_FP32);
    set_cfg(g, EN | CONVERT);
    {
        static const struct {
            unsigned ppp;
            uint32_t u, one, alpha;
        } codes[] = {
            {0, 0x3E00, 0x3C00, 0x3804}, /* 1.5 in each format; fixed point 4.4, 8.8, 16.16 */
            {1, 0x3FC00000, 0x3F800000, 0x3F008081},
            {2, 0x3FC0, 0x3F80, 0x3F01},
            {3, 0x18, 1, 1},
            {4, 0x180, 1, 1},
            {5, 0x18000, 1, 1},
            {7, 0x3FC00000, 0x3F800000, 0x3F008081}};

        for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
            char text[64];

            (void)snprintf(text, sizeof text, "GFX.SAMPLE x16, x10, ppp=%u", codes[i].ppp);
            sample_at(g, text, codes[i].u, 0);
            CHECK_EQ(g->hart->x[16], codes[i].one);
            CHECK_EQ(g->hart->x[19], codes[i].alpha);
        }
    }
    guest_free(g);
}

TEST(textures_lie_in_dram_or_lds, "GFX-006 GFX-028 GFX-030 GFX-126")
{
    static const uint64_t bases[] = {TEXTURE, TEXTURE + 64, LDS, LDS + 0x1000};
    struct guest *g = gfx_make();

    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        for (unsigned pitch = 8; pitch <= 64; pitch *= 8) {
            texture_t2(g);
            for (unsigned k = 0; k < 4; k++) { /* row by row to its place */
                static const uint32_t texels[4] = {0xFF804000, 0x800000FF, 0x40302010, 0x00FFFFFF};

                guest_store(g, bases[i] + k / 2 * pitch + k % 2 * 4, 4, texels[k]);
            }
            guest_csrw(g, FACET_CSR_GFXTEXBASE, bases[i]);
            guest_csrw(g, FACET_CSR_GFXTEXPITCH, pitch);
            sample_at(g, "GFX.SAMPLE x16, x10, m=1", HALF_F, 0x3ECCCCCD);
            CHECK_EQ(g->hart->x[16], 0x3F0268C9);
            CHECK_EQ(g->hart->x[19], 0x3F10371D);
        }
    }
    guest_free(g);
}

TEST(enable_conversion_and_filter_bits, "GFX-015 GFX-016 GFX-017 GFX-018 GFX-121 GFX-133 GFX-020")
{
    struct guest *g = gfx_make();
    static const uint32_t zeros[3] = {0};

    texture(g, 0x00, 1, 1, 1);
    guest_store(g, TEXTURE, 1, 0x80);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0, 0), 0x3F008081);
    set_cfg(g, EN);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0, 0), 0x80); /* raw */
    set_cfg(g, CONVERT);
    g->hart->x[16] = 77;
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0, 0), 77);
    /* f and SRGB_EN: only both convert */
    for (unsigned i = 0; i < 4; i++) {
        set_cfg(g, EN | CONVERT | ((i & 1) != 0 ? SRGB : 0));
        CHECK_EQ(red(g, (i & 2) != 0 ? "GFX.SAMPLE x16, x10, f=1" : "GFX.SAMPLE x16, x10", 0, 0),
                 i == 3 ? 0x3E5D0A8B : 0x3F008081);
    }
    /* GATH: one tap at a corner of four texels */
    texture_t2(g);
    put_elements(g, TABLE, 4, zeros, 3);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
    set_cfg(g, EN | CONVERT);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=1", ONE_F, ONE_F), 0x3F800000);
    set_cfg(g, EN | CONVERT | FILTER);
    sample_at(g, "GFX.SAMPLE.GATH x16, x10, n=1", ONE_F, ONE_F);
    CHECK_EQ(g->hart->x[17], fr(0.34411764)); /* (64 + 0 + 32 + 255) / 4 / 255 */
    /* the hint is storage */
    for (unsigned i = 0; i < 256; i += 17) {
        set_cfg(g, EN | CONVERT | FILTER | i << 8);
        CHECK_EQ(guest_csr(g, FACET_CSR_GFXCFG) >> 8 & 0xFF, i);
        sample_at(g, "GFX.SAMPLE.GATH x16, x10, n=1", ONE_F, ONE_F);
        CHECK_EQ(g->hart->x[17], fr(0.34411764));
        CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0, 0), 0);
    }
    guest_free(g);
}

/* ---- coordinates -----------------------------------------------------------------------------
 */

TEST(normalized_and_texel_space, "")
{
    struct guest *g = gfx_make();

    row_of_four(g);
    set_cfg(g, EN | CONVERT | NORM);
    CHECK_ID("GFX-021", red(g, "GFX.SAMPLE x16, x10", HALF_F, 0) == f(30));
    harness_row("GFX-128");
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x3F200000, 0), f(30)); /* 0.625 */
    harness_row("GFX-284");
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, w=1, wrap=1", ONE_F, 0), f(10)); /* out of range */
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", ONE_F, 0), f(40));
    set_cfg(g, EN | CONVERT);
    CHECK_ID("GFX-021", red(g, "GFX.SAMPLE x16, x10", HALF_F, 0) == f(10));
    harness_row("GFX-129");
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x40200000, 0), f(30)); /* 2.5 */
    harness_row("GFX-040");
    guest_csrw(g, FACET_CSR_GFXTEXWH, UINT64_C(1) << 32 | 2);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x40400000, 0), f(20)); /* 3 clamps to the width */
    guest_csrw(g, FACET_CSR_GFXTEXWH, UINT64_C(1) << 32 | 4);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0x40400000, 0), f(40));
    guest_csrw(g, FACET_CSR_GFXTEXWH, 4); /* a null texture gives zero without a fetch */
    guest_csrw(g, FACET_CSR_GFXTEXBASE, BAD);
    sample_at(g, "GFX.SAMPLE x16, x10", 0, 0);
    CHECK_EQ(g->hart->x[16] | g->hart->x[19], 0);
    guest_free(g);
}

TEST(bilinear_weights, "GFX-130 GFX-285 GFX-286 GFX-287")
{
    struct guest *g = gfx_make();
    struct watch w;

    texture(g, 0x0A, 2, 1, 8);
    put_elements(g, TEXTURE, 4, (const uint32_t[]){0, f(256)}, 2);
    for (unsigned i = 0; i <= 256; i++) { /* one step of 1/256 texel moves the weight by 1/256 */
        CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, m=1", fr(0.5 + i / 256.0), HALF_F), f((int)i));
    }
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, m=1", fr(0.75), HALF_F), f(64));
    /* texel centres: one column, one row */
    g->hart->x[10] = fr(1.5);
    g->hart->x[11] = HALF_F;
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10, m=1\n").taken);
    CHECK_EQ(w.reads, 1);
    CHECK_EQ(w.read_at[0], TEXTURE + 4);
    CHECK_EQ(g->hart->x[16], f(256));
    g->hart->x[10] = ONE_F;
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10, m=1\n").taken);
    CHECK_EQ(w.reads, 2);
    /* across the edge the border takes part, without a fetch */
    guest_csrw(g, FACET_CSR_GFXBORDERC, f(512));
    g->hart->x[10] = fr(2.0);
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10, m=1, w=1, wrap=3\n").taken);
    CHECK_EQ(w.reads, 1);
    CHECK_EQ(g->hart->x[16], f(384));
    guest_free(g);
}

TEST(border_colour_is_in_the_element_format, "GFX-026 GFX-048 GFX-069 GFX-132")
{
    struct guest *g = gfx_make();
    struct watch w;

    row_of_four(g);
    guest_csrw(g, FACET_CSR_GFXWRAP, 3);
    set_cfg(g, guest_csr(g, FACET_CSR_GFXCFG) | HISEL);
    guest_csrw(g, FACET_CSR_GFXBORDERC, UINT64_C(0xC000000040000000));
    set_cfg(g, guest_csr(g, FACET_CSR_GFXCFG) & ~(uint64_t)HISEL);
    guest_csrw(g, FACET_CSR_GFXBORDERC, UINT64_C(0x3F80000040A00000));
    g->hart->x[10] = 0xBE800000;
    g->hart->x[11] = 0;
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10\n").taken);
    CHECK_EQ(w.reads, 0);
    CHECK_EQ(g->hart->x[16], 0x40A00000);
    CHECK_EQ(g->hart->x[17], 0x3F800000);
    CHECK_EQ(g->hart->x[18], 0x40000000);
    CHECK_EQ(g->hart->x[19], 0xC0000000);
    /* 16-bit formats: four elements in the low half; the same bits are other colours */
    guest_csrw(g, FACET_CSR_GFXBORDERC, UINT64_C(0x4400420040003C00));
    set_mode(g, MODE_FP16);
    g->hart->x[10] = 0xBC00;
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10\n GFX.SAMPLE x20, x10, ppp=2\n").taken);
    for (unsigned k = 0; k < 4; k++) {
        CHECK_EQ(g->hart->x[16 + k], 0x3C00 + 0x200 * k + (k == 0 ? 0 : 0x200));
        CHECK_EQ(g->hart->x[20 + k], g->hart->x[16 + k]); /* BF16 passes through as BF16 */
    }
    /* as numbers: FP16 1.0 and BF16 of the same bits, seen in FP32 through a blend */
    set_mode(g, MODE_FP32);
    guest_free(g);
}

TEST(tensor_indices_move_by_strides, "")
{
    struct guest *g = gfx_make();
    struct desc d = {
        .base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2, .stride1 = 64, .stride2 = 1024};

    texture(g, 0x02, 1, 1, 1);
    guest_csrw(g, FACET_CSR_GFXTEXSTRIDE1, 64);
    for (unsigned n2 = 0; n2 < 3; n2++) {
        for (unsigned n1 = 0; n1 < 4; n1++) {
            guest_store(g, TEXTURE + 64 * n1 + 1024 * n2, 1, 1 + n1 + 16 * n2);
        }
    }
    put_desc(g, DESC, &d);
    for (unsigned n1 = 0; n1 < 4; n1++) {
        g->hart->x[12] = f((int)n1);
        g->hart->x[13] = f(2); /* CSR mode has no second stride */
        CHECK_ID("GFX-066", red(g, "GFX.SAMPLE x16, x10, t=1", 0, 0) == f((int)n1 + 1));
        for (unsigned n2 = 0; n2 < 3; n2++) {
            g->hart->x[20] = DESC;
            g->hart->x[21] = g->hart->x[22] = 0;
            g->hart->x[23] = fr(n1 + 0.9); /* floor */
            g->hart->x[24] = f((int)n2);
            guest_ok(g, "GFX.SAMPLE x16, x20, t=1, d=1\n");
            CHECK_ID(n2 == 0 ? "GFX-302 GFX-384" : "GFX-303 GFX-385",
                     g->hart->x[16] == f((int)(1 + n1 + 16 * n2)));
        }
    }
    g->hart->x[12] = 0xBF800000; /* clamped to 0 */
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, t=1", 0, 0), f(1));
    g->hart->x[12] = NAN_F;
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, t=1", 0, 0), f(1));
    guest_free(g);
}

TEST(wrap_override, "GFX-123 GFX-124 GFX-386")
{
    struct guest *g = gfx_make();
    struct desc d = {.base = TEXTURE, .pitch = 4, .w = 4, .h = 1, .fmt = 2};

    row_of_four(g);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, w=0, wrap=3", 0x40900000, 0), f(40)); /* clamp */
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, w=1, wrap=1", 0x40900000, 0), f(10)); /* repeat */
    put_desc(g, DESC, &d);
    g->hart->x[20] = DESC;
    g->hart->x[21] = 0x40900000;
    g->hart->x[22] = 0;
    guest_ok(g, "GFX.SAMPLE x16, x20, d=1, w=1, wrap=1\n");
    CHECK_EQ(g->hart->x[16], f(10));
    guest_ok(g, "GFX.SAMPLE x16, x20, d=1\n");
    CHECK_EQ(g->hart->x[16], f(40));
    guest_free(g);
}

/* ---- formats ---------------------------------------------------------------------------------
 */

TEST(format_codes, "GFX-042 GFX-043 GFX-044 GFX-045 GFX-046")
{
    static const struct {
        unsigned fmt, size;
        uint32_t code;
        uint32_t out[4];
    } cases[] = {
        {0x00, 1, 0xFF, {0x3F800000, 0, 0, 0x3F800000}},
        {0x08, 2, 0x3800, {0x3F000000, 0, 0, 0x3F800000}},
        {0x09, 2, 0x3F00, {0x3F000000, 0, 0, 0x3F800000}},
        {0x33, 4, 0x800201FF, {0xBF800000, 0x3F800000, 0x40000000, 0xC3000000}},
        {0x0B, 4, 7, {0x40E00000, 0, 0, 0x3F800000}},
        {0x0C, 4, 0xFFFFFFFF, {0xBF800000, 0, 0, 0x3F800000}},
        {0x0D, 1, 0x38, {0x3F800000, 0, 0, 0x3F800000}},
        {0x0E, 1, 0x3C, {0x3F800000, 0, 0, 0x3F800000}},
        {0x43, 4, 0xC00003FF, {0x3F800000, 0, 0, 0x3F800000}},
        {0x41, 2, 0xF801, {0x3F800000, 0, 0, 0x3F800000}},
        {0x42, 2, 0x0F0F, {0, 0x3F800000, 0, 0x3F800000}},
    };
    struct guest *g = gfx_make();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        texture(g, cases[i].fmt, 1, 1, 16);
        guest_store(g, TEXTURE, cases[i].size, cases[i].code);
        sample_at(g, "GFX.SAMPLE x16, x10", 0, 0);
        for (unsigned k = 0; k < 4; k++) {
            CHECK_EQ(g->hart->x[16 + k], cases[i].out[k]);
        }
    }
    texture(g, 0x30 | 5 << 8 | 3 << 14, 1, 1, 4); /* R and B exchanged */
    guest_store(g, TEXTURE, 4, 0xFF0000FF);
    sample_at(g, "GFX.SAMPLE x16, x10", 0, 0);
    CHECK_EQ(g->hart->x[16], 0);
    CHECK_EQ(g->hart->x[18], 0x3F800000);
    guest_free(g);
}

/* ---- descriptors -----------------------------------------------------------------------------
 */

/* The texture of a lane comes from memory; every field is moved alone. */
TEST(descriptor_fields, "")
{
    const struct desc plain = {.base = TEXTURE, .pitch = 16, .w = 4, .h = 2, .fmt = 2};
    struct guest *g = gfx_make();
    struct desc d;

    /* CSRs hold another texture, unreadable even */
    texture(g, 0x7F, 9, 9, 9);
    guest_csrw(g, FACET_CSR_GFXTEXBASE, BAD);
    for (unsigned i = 0; i < 64; i++) {
        guest_store(g, TEXTURE + i, 1, i);
    }
    guest_store(g, TEXTURE + 0x1000, 1, 200);
#define AT(u, v, want)                                                                             \
    do {                                                                                           \
        put_desc(g, DESC, &d);                                                                     \
        g->hart->x[20] = DESC;                                                                     \
        g->hart->x[21] = (u);                                                                      \
        g->hart->x[22] = (v);                                                                      \
        guest_ok(g, "GFX.SAMPLE x16, x20, d=1, f=1\n");                                            \
        CHECK_EQ(g->hart->x[16], want);                                                            \
    } while (0)

    d = plain;
    harness_row("GFX-127 GFX-288 GFX-289");
    AT(f(1), f(1), f(17));
    harness_row("GFX-291");
    d.base += 0x1000;
    AT(0, 0, f(200));
    harness_row("GFX-292");
    d = plain, d.pitch = 32;
    AT(f(1), f(1), f(33));
    harness_row("GFX-293");
    d = plain, d.w = 2;
    AT(f(3), 0, f(1));
    harness_row("GFX-294");
    d = plain, d.h = 1;
    AT(0, f(1), f(0));
    harness_row("GFX-295");
    d = plain, d.fmt = 0x06; /* UINT16 */
    AT(f(1), 0, f(0x0302));
    d = plain, d.fmt = 2 | 2 << 8 | 0xFFFu << 20; /* swizzle one; bits 31:20 ignored */
    AT(f(1), 0, ONE_F);
    harness_row("GFX-296");
    d = plain, d.wrap = 1 | 0xFFFFFFFCu;
    AT(f(5), 0, f(1));
    d = plain, d.wrap = 2;
    AT(f(4), 0, f(3));
    d = plain, d.wrap = 3, d.border[0] = 0x42C60000;
    AT(0xBF800000, 0, 0x42C60000);
    harness_row("GFX-299 GFX-383");
    d = plain, d.flags = 1; /* normalized */
    AT(HALF_F, 0, f(2));
    harness_row("GFX-008");
    d = plain, d.flags = 0xFFFF00F0; /* reserved bits */
    AT(HALF_F, 0, f(0));
    harness_row("GFX-300");
    d = plain, d.fmt = 0;
    AT(0x42000000, 0, fr(3 / 255.0)); /* clamp: texel 3 */
    d.flags = 2;                      /* sRGB */
    AT(f(3), 0, 0x3A6EB40E);
    harness_row("GFX-301");
    d = plain, d.fmt = 0x12, d.flags = 4, d.stride1 = 32; /* planar RG */
    AT(f(1), 0, f(1));
    CHECK_EQ(g->hart->x[17], f(33));
    d.flags = 0;
    AT(f(1), 0, f(2));
    CHECK_EQ(g->hart->x[17], f(3));
    harness_row("GFX-382"); /* each word of the border is its own channel */
    for (unsigned c = 0; c < 4; c++) {
        d = plain, d.wrap = 3;
        d.border[c] = 0x41200000;
        AT(0xBF800000, 0, c == 0 ? 0x41200000 : 0);
        for (unsigned k = 0; k < 4; k++) {
            CHECK_EQ(g->hart->x[16 + k], k == c ? 0x41200000 : 0);
        }
    }
    harness_row("GFX-304"); /* CSR mode is as it was: reserved format */
    (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "GFX.SAMPLE x16, x10\n");
    guest_free(g);
}

TEST(descriptor_border_by_element_format, "GFX-297 GFX-298")
{
    struct guest *g = gfx_make();
    struct desc d = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2, .wrap = 3};

    g->hart->x[20] = DESC;
    g->hart->x[22] = 0;
    d.border[0] = HALF_F;
    put_desc(g, DESC, &d);
    set_mode(g, MODE_FP16);
    g->hart->x[21] = 0xBC00;
    guest_ok(g, "GFX.SAMPLE x16, x20, d=1\n");
    CHECK_EQ(g->hart->x[16], 0x3800);
    d.border[0] = 0x000000FE;
    put_desc(g, DESC, &d);
    set_mode(g, MODE_INT8);
    g->hart->x[21] = 0xF0; /* -1.0 */
    guest_ok(g, "GFX.SAMPLE x16, x20, d=1\n");
    CHECK_EQ(g->hart->x[16] & 0xFF, 0xFE);
    guest_free(g);
}

TEST(descriptor_faults, "GFX-290")
{
    struct guest *g = gfx_make();
    struct desc d = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 0x0F};

    put_desc(g, DESC, &d);
    g->hart->x[20] = DESC + 8;
    g->hart->x[16] = 77;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "GFX.SAMPLE x16, x20, d=1\n"), DESC + 8);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS) & FACET_CAP_XMEM_EVENTS_INV_MISS,
             FACET_CAP_XMEM_EVENTS_INV_MISS);
    g->hart->x[20] = BAD;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE x16, x20, d=1\n"), BAD);
    g->hart->x[20] = GUEST_CODE + GUEST_RAM_BYTES - 32; /* half of it */
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE x16, x20, d=1\n"),
             (uint64_t)GUEST_CODE + GUEST_RAM_BYTES);
    CHECK_EQ(raised(g), 0);
    g->hart->x[20] = DESC; /* reserved format */
    CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "GFX.SAMPLE x16, x20, d=1\n"),
             guest_load(g, GUEST_CODE, 4));
    CHECK_EQ(raised(g), FACET_UNSUP);
    CHECK_EQ(g->hart->x[16], 77);
    guest_free(g);
}

/* ---- gather ----------------------------------------------------------------------------------
 */

TEST(gather_reads_its_table_and_taps, "")
{
    struct guest *g = gfx_make();
    struct desc d = {.base = TEXTURE, .pitch = 8, .w = 8, .h = 8, .fmt = 2};
    uint32_t table[48];
    struct watch w;

    texture(g, 0x02, 8, 8, 8);
    for (unsigned i = 0; i < 64; i++) {
        guest_store(g, TEXTURE + i, 1, i);
    }
    for (unsigned k = 0; k < 16; k++) {
        table[3 * k] = f((int)(k % 4));
        table[3 * k + 1] = f((int)(k / 4));
        table[3 * k + 2] = f(1);
    }
    put_elements(g, TABLE, 4, table, 48);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
    for (unsigned n = 0; n <= 16; n++) {
        char text[64];

        /* n in the immediate; n = 0 takes the count of GFXCFG */
        (void)snprintf(text, sizeof text, "GFX.SAMPLE.GATH x16, x10, n=%u, p=1, s=1\n", n % 16);
        set_cfg(g, EN | CONVERT | (uint64_t)(n == 16 ? 16 : 0) << 24);
        g->hart->x[10] = f(1);
        g->hart->x[11] = f(2);
        CHECK(!watch_run(g, &w, text).taken);
        harness_row(n == 0 || n == 16 ? "GFX-138" : n == 8 ? "GFX-137 GFX-152" : "GFX-137");
        CHECK_EQ(w.reads, 4 * n);
        harness_row("GFX-142");
        for (unsigned k = 0; k < 3 * n; k++) {
            CHECK_EQ(w.read_at[k], TABLE + 4 * k); /* 12 bytes an entry, before the texels */
        }
        for (unsigned k = 0; k < n; k++) {
            CHECK_EQ(w.read_at[3 * n + k], TEXTURE + (1 + k % 4) + 8 * (2 + k / 4));
        }
    }
    /* descriptor: flags[15:8], the limit is 16 */
    g->hart->x[20] = DESC;
    g->hart->x[21] = f(1);
    g->hart->x[22] = f(2);
    for (unsigned taps = 0; taps < 256; taps += taps < 20 ? 1 : 47) {
        d.flags = taps << 8;
        put_desc(g, DESC, &d);
        (void)clear_flags(g);
        CHECK(!watch_run(g, &w, "GFX.SAMPLE.GATH x16, x20, d=1, p=1, s=1\n").taken);
        CHECK_ID(taps > 16 ? "GFX-153" : "GFX-138 GFX-354",
                 w.reads == 8 + 4 * (taps > 16 ? 16 : taps));
        CHECK_ID("GFX-154", (raised(g) & FACET_UNSUP) == (taps > 16 ? FACET_UNSUP : 0));
        if (taps == 0) {
            CHECK_EQ(g->hart->x[16] | g->hart->x[19], 0);
        }
    }
    harness_row("GFX-137");
    d.flags = 3 << 8;
    put_desc(g, DESC, &d);
    CHECK(!watch_run(g, &w, "GFX.SAMPLE.GATH x16, x20, d=1, n=2\n").taken); /* n wins */
    CHECK_EQ(w.reads, 8 + 8);
    harness_row("GFX-063 GFX-149"); /* another table, and elements of two bytes */
    put_elements(g, TABLE + 0x100, 2, (const uint32_t[]){0x3C00, 0, 0x3C00}, 3);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE + 0x100);
    set_mode(g, MODE_FP16);
    g->hart->x[10] = 0x3C00;
    g->hart->x[11] = 0x4000;
    CHECK(!watch_run(g, &w, "GFX.SAMPLE.GATH x16, x10, n=1, p=1\n").taken);
    CHECK_EQ(w.read_at[2], TABLE + 0x104);
    CHECK_EQ(w.read_at[3], TEXTURE + 2 + 16);
    CHECK_EQ(g->hart->x[16], 0x4C80); /* 18 */
    harness_row("GFX-136");
    /* precision of the instruction decides the table: ppp=1 reads 12 bytes an entry */
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
    g->hart->x[10] = f(1);
    g->hart->x[11] = f(2);
    CHECK(!watch_run(g, &w, "GFX.SAMPLE.GATH x16, x10, ppp=1, n=2, p=1\n").taken);
    CHECK_EQ(w.read_at[5], TABLE + 20);
    CHECK_EQ(g->hart->x[16], f(17 + 18));
    guest_free(g);
}

TEST(gather_number_policy, "GFX-144 GFX-145 GFX-146 GFX-147 GFX-148 GFX-150 GFX-337")
{
    struct guest *g = gfx_make();
    static const struct {
        unsigned rm;
        uint32_t third;
    } modes[] = {{2, 0x3555}, {3, 0x3556}, {0, 0x3555}, {1, 0x3555}};

    texture(g, 0x08, 4, 1, 8); /* FP16 texels */
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
    put_elements(
        g, TABLE, 2, (const uint32_t[]){0, 0, 0x3C00, 0x3C00, 0, 0x3C00, 0x4000, 0, 0x3C00}, 9);
    /* 60000 + 60000 */
    put_elements(g, TEXTURE, 2, (const uint32_t[]){0x7B53, 0x7B53, 0, 0}, 4);
    set_mode(g, MODE_FP16 | MODE_SAT);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=2, p=1", 0, 0), 0x7BFF);
    set_mode(g, MODE_FP16);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=2, p=1", 0, 0), 0x7C00);
    /* 2048 + 1 + 1: the FP16 accumulator loses both */
    put_elements(g, TEXTURE, 2, (const uint32_t[]){0x6800, 0x3C00, 0x3C00, 0}, 4);
    set_mode(g, MODE_FP16 | ACC_FP16);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=3, p=1", 0, 0), 0x6800);
    set_mode(g, MODE_FP16);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=3, p=1", 0, 0), 0x6801);
    /* one NaN among the taps */
    put_elements(g, TEXTURE, 2, (const uint32_t[]){0x3C00, 0x7E01, 0, 0}, 4);
    for (unsigned pol = 0; pol < 3; pol++) {
        set_mode(g, MODE_FP16 | MODE_NAN_POL(pol));
        CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=2", 0, 0),
                 pol == 0   ? 0x7E00
                 : pol == 1 ? 0
                            : 0x7C00);
    }
    /* (1 + 0 + 0) / 3 in every mode */
    put_elements(g, TEXTURE, 2, (const uint32_t[]){0x3C00, 0, 0, 0}, 4);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        set_mode(g, MODE_FP16 | MODE_RM(modes[i].rm));
        CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=3", 0, 0), modes[i].third);
        CHECK_EQ(raised(g), NX | DOWN);
    }
    /* INT8, units of 1/16, zero point 10: 1.0 is 16 + 10; offsets in 4.4 */
    put_elements(g, TABLE, 1, (const uint32_t[]){0x10, 0, 0x10}, 3);
    put_elements(g, TEXTURE, 2, (const uint32_t[]){0, 0x3C00, 0, 0}, 4);
    set_mode(g, MODE_INT8 | MODE_Q | 1 << 14 | 10 << 6 | MODE_SCALE(-4));
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=1, p=1, s=1", 0, 0), 26);
    /* INT16: 0x0100 is one texel, 0x0080 half of one */
    put_elements(g, TABLE, 2, (const uint32_t[]){0x0100, 0, 0x0100}, 3);
    set_mode(g, MODE_INT16);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=1, s=1", 0, 0), 1);
    put_elements(g, TABLE, 2, (const uint32_t[]){0x0080, 0, 0x0100}, 3);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=1, s=1", 0, 0), 0);
    CHECK_EQ(red(g, "GFX.SAMPLE.GATH x16, x10, n=1, s=1", 0x0080, 0), 1);
    guest_free(g);
}

/* ---- number policy ---------------------------------------------------------------------------
 */

TEST(sampling_follows_every_policy, "GFX-100 GFX-268 GFX-345 GFX-357 GFX-360 GFX-106")
{
    struct guest *g = gfx_make();

    texture_t2(g);
    for (unsigned pol = 0; pol < 3; pol++) { /* NaN coordinate: nothing is fetched */
        static const uint32_t want[3] = {0x7FC00000, 0, 0x7F800000};

        set_mode(g, MODE_FP32 | MODE_NAN_POL(pol));
        guest_csrw(g, FACET_CSR_GFXTEXBASE, BAD);
        CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, m=1", NAN_F, HALF_F), want[pol]);
        CHECK_EQ(g->hart->x[19], want[pol]);
        CHECK_EQ(raised(g), FACET_QNAN);
        guest_csrw(g, FACET_CSR_GFXTEXBASE, TEXTURE);
    }
    texture(g, 0x0A, 1, 1, 4); /* NaN texel */
    guest_store(g, TEXTURE, 4, 0x7F800001);
    for (unsigned pol = 0; pol < 3; pol++) {
        static const uint32_t want[3] = {0x7FC00000, 0, 0x7F800000};

        set_mode(g, MODE_FP32 | MODE_NAN_POL(pol));
        CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0, 0), want[pol]);
        CHECK_EQ(raised(g), FACET_QNAN | FACET_SNAN | FACET_NV);
    }
    /* INT8, zero point 10: texel 0.0 is code 10 */
    texture_t2(g);
    set_mode(g, MODE_INT8 | MODE_Q | 1 << 14 | 10 << 6 | MODE_SCALE(-4));
    set_cfg(g, EN | CONVERT);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10", 0, 0), 10);
    /* sRGB, then quantization: 0x80 is 0.2159 in linear light, 27.6 in units of 1/128 */
    set_mode(g, MODE_INT8 | MODE_Q | MODE_SCALE(-7));
    set_cfg(g, EN | CONVERT | SRGB);
    sample_at(g, "GFX.SAMPLE x16, x10, f=1", 0, 0);
    CHECK_EQ(g->hart->x[18], 28);
    CHECK_EQ(g->hart->x[17], 7); /* 0x40: 0.0513 */
    /* 33 / 65535 is a normal binary16 number, its linear value 0.000039 is not */
    texture(g, 0x04, 1, 1, 4);
    guest_store(g, TEXTURE, 2, 33);
    set_mode(g, MODE_FP16 | ACC_FP16);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, f=1", 0, 0), 0x028E);
    CHECK_EQ(clear_flags(g), FACET_NX | FACET_UF);
    set_mode(g, MODE_FP16 | ACC_FP16 | MODE_FTZ);
    CHECK_EQ(red(g, "GFX.SAMPLE x16, x10, f=1", 0, 0), 0);
    CHECK((clear_flags(g) & FACET_FTZ) != 0);
    texture_t2(g);
    /* ppp keeps rounding, saturation, accumulator */
    set_cfg(g, EN | CONVERT | NORM);
    set_mode(g, MODE_FP16 | MODE_RM(3));
    sample_at(g, "GFX.SAMPLE x16, x10, ppp=1", 0x3F400000, QUARTER_F);
    CHECK_EQ(g->hart->x[19], 0x3F008081);
    set_mode(g, MODE_FP16 | MODE_RM(1));
    sample_at(g, "GFX.SAMPLE x16, x10, ppp=1", 0x3F400000, QUARTER_F);
    CHECK_EQ(g->hart->x[19], 0x3F008080);
    set_mode(g, MODE_FP16 | ACC_FP16);
    sample_at(g, "GFX.SAMPLE x16, x10, ppp=1", 0x3F400000, QUARTER_F);
    CHECK_EQ(g->hart->x[19], 0x3F008000); /* binary16 accuracy */
    guest_free(g);
}

/* CSR mode and descriptor mode of one texture give the same, also lane by lane. */
TEST(both_modes_agree_on_random_textures, "GFX-127 GFX-263")
{
    struct guest *g = gfx_make();

    for (unsigned round = 0; round < 600 && !harness_failed(); round++) {
        static const unsigned formats[] = {0x30,
                                           0x33,
                                           0x31,
                                           0x38,
                                           0x39,
                                           0x0A,
                                           0x2A,
                                           0x34,
                                           0x43,
                                           0x40,
                                           0x41,
                                           0x42,
                                           0x3D,
                                           0x1E,
                                           0x17,
                                           0x0B,
                                           0x25};
        static const uint64_t modes[] = {MODE_FP32,
                                         MODE_FP16,
                                         MODE_BF16,
                                         MODE_INT16,
                                         MODE_INT8 | MODE_Q | MODE_SCALE(-6) | MODE_SAT,
                                         MODE_FP32 | ACC_FP16,
                                         MODE_FP16 | ACC_INT32,
                                         MODE_INT32 | MODE_Q | MODE_SCALE(-16) | ACC_INT32};
        unsigned fmt = formats[harness_random() % (sizeof formats / sizeof formats[0])];
        unsigned w = 1 + (unsigned)(harness_random() % 6), h = 1 + (unsigned)(harness_random() % 6);
        unsigned wrap = (unsigned)(harness_random() % 3), bits = (unsigned)harness_random();
        unsigned size, lanes = 5;
        uint64_t mode = modes[harness_random() % (sizeof modes / sizeof modes[0])];
        struct desc d = {.base = TEXTURE, .pitch = 128, .w = w, .h = h, .wrap = wrap};
        uint64_t want[5][4];
        unsigned flags = 0, both;
        char text[80];

        d.fmt = fmt | (harness_random() % 2 ? (uint32_t)(harness_random() & 0xFFF) << 8 : 0);
        d.flags = (bits & 1) | (bits & 2);
        for (unsigned i = 0; i < 128; i++) {
            guest_store(g, TEXTURE + 8 * i, 8, harness_random() & UINT64_C(0xBFFFBFBFBFFFBFBF));
        }
        put_desc(g, DESC, &d);
        texture(g, d.fmt, w, h, 128);
        set_cfg(g,
                EN | CONVERT | wrap << 4 | ((d.flags & 1) != 0 ? NORM : 0) |
                    ((d.flags & 2) != 0 ? SRGB : 0));
        set_mode(g, mode);
        size = (mode >> 19 & 3) == 2 ? 4 : (mode >> 19 & 3) == 1 ? 2 : 1;
        for (unsigned i = 0; i < 2 * lanes; i++) {
            uint32_t c = mode == MODE_FP32 || mode == (MODE_FP32 | ACC_FP16)
                             ? fr((double)(harness_random() % 4096) / 300 - 3)
                             : (uint32_t)harness_random();

            guest_store(g, MEM_A + i * size, size, c);
        }
        (void)snprintf(
            text, sizeof text, "m=%u, f=%u", (unsigned)(bits >> 4 & 1), (unsigned)(bits >> 5 & 1));
        for (unsigned i = 0; i < lanes; i++) { /* scalar, CSR mode */
            g->hart->x[10] = guest_load(g, MEM_A + i * size, size);
            g->hart->x[11] = guest_load(g, MEM_A + (lanes + i) * size, size);
            guest_ok(g, "GFX.SAMPLE x16, x10, %s\n", text);
            memcpy(want[i], &g->hart->x[16], sizeof want[i]);
        }
        flags = clear_flags(g);
        /* lanes, descriptor mode, coordinates in memory, results in memory */
        set_cfg(g, EN | CONVERT | BMEM | DMEM);
        for (unsigned i = 0; i < lanes; i++) {
            g->hart->x[20 + i] = DESC;
        }
        g->hart->x[25] = MEM_A;
        g->hart->x[9] = MEM_R;
        guest_csrw(g, FACET_CSR_SVSTATE, (lanes - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
        guest_ok(g, "GFX.SAMPLE x9, x20, d=1, %s\n", text);
        both = raised(g);
        for (unsigned i = 0; i < lanes; i++) {
            for (unsigned k = 0; k < 4; k++) {
                uint64_t mask = size == 4 ? 0xFFFFFFFF : (UINT64_C(1) << 8 * size) - 1;

                CHECK_MSG(guest_load(g, MEM_R + (k * lanes + i) * size, size) ==
                              (want[i][k] & mask),
                          "format 0x%x mode 0x%llx lane %u channel %u",
                          d.fmt,
                          (unsigned long long)mode,
                          i,
                          k);
            }
        }
        CHECK_EQ(both, flags);
    }
    guest_free(g);
}

/* Samples that go through the batch (gfx/span.h) and the same ones while somebody listens, which
 * takes them one by one: same results, same flags; and a trap names the right lane. */
TEST(batches_equal_single_samples, "")
{
    struct guest *g = gfx_make();

    for (unsigned round = 0; round < 400 && !harness_failed(); round++) {
        unsigned vl = 1 + (unsigned)(harness_random() % 60),
                 w = 1 + (unsigned)(harness_random() % 9);
        unsigned h = 1 + (unsigned)(harness_random() % 9), wrap = (unsigned)(harness_random() % 4);
        unsigned where = (unsigned)(harness_random() % 3), flags = 0;
        uint64_t mask = harness_random() | harness_random();
        static uint8_t first[64 * 16];
        struct watch watch;

        texture(g, 0x30, w, h, 64);
        guest_csrw(g, FACET_CSR_GFXTEXBASE, where == 0 ? LDS : TEXTURE);
        set_cfg(g, EN | CONVERT | AMEM | DMEM | wrap << 4 | (round % 2 != 0 ? NORM : 0));
        for (unsigned i = 0; i < 64 * 9; i += 8) { /* codes 0 and 255 are exact */
            uint64_t texels =
                round % 5 == 0 ? (harness_random() & 1) * UINT64_MAX : harness_random();

            guest_store(g, TEXTURE + i, 8, texels);
            guest_store(g, LDS + i, 8, texels);
        }
        for (unsigned i = 0; i < 2 * vl; i++) {
            static const uint32_t odd[] = {NAN_F, INF_F, 0xFF800000, 0x7149F2CA, 0x80000000, 1};

            guest_store(g,
                        MEM_A + 4 * i,
                        4,
                        harness_random() % 40 == 0
                            ? odd[harness_random() % 6]
                            : fr((double)(harness_random() % 4096) / 200 - 5));
        }
        for (unsigned pass = 0; pass < 2; pass++) {
            for (unsigned i = 0; i < 16 * vl; i += 8) {
                guest_store(g, MEM_R + i, 8, 0x5A5A5A5A5A5A5A5A);
            }
            g->hart->x[8] = MEM_A;
            g->hart->x[9] = MEM_R;
            g->hart->units.pmask.bank[1] = mask;
            g->hart->units.rsv.svstate =
                (vl - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10;
            if (pass == 0) {
                guest_ok(g, "GFX.SAMPLE x9, x8, m=1\n");
                flags = clear_flags(g);
                (void)facet_mem_peek(g->mem, MEM_R, first, 16 * vl);
            } else {
                static uint8_t second[64 * 16];

                CHECK(!watch_run(g, &watch, "GFX.SAMPLE x9, x8, m=1\n").taken);
                (void)facet_mem_peek(g->mem, MEM_R, second, 16 * vl);
                CHECK_EQ(memcmp(first, second, 16 * vl), 0);
                CHECK_EQ(clear_flags(g), flags);
            }
        }
    }
    /* lane 2 is the first whose texel is inexact */
    texture(g, 0x30, 4, 1, 16);
    set_cfg(g, EN | CONVERT);
    put_elements(g, TEXTURE, 4, (const uint32_t[]){0xFFFFFFFF, 0, 0x01FFFFFF, 0x02FFFFFF}, 4);
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[8 + i] = fr(i + 0.5);
        g->hart->x[12 + i] = HALF_F;
        g->hart->x[16 + i] = 77;
    }
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NX);
    g->hart->units.rsv.svstate = 3 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "GFX.SAMPLE x16, x8, m=1\n"), FACET_NX | 2u << 8);
    CHECK_EQ(g->hart->x[16], 77);
    guest_free(g);
}
