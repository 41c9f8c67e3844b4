/* GFX.ZTEST, GFX.ZWRITE, GFX.HZ.BUILD and GFX.FENCE on the machine: comparisons, addresses, masks,
 * order of lanes, pyramids; random buffers against a second evaluation. */
#include "xphmg/gfx/gfx_test.h"

#include "xphmg/rsv/pmask.h"

#include <stdio.h>

static void depth_buffer(struct guest *g, unsigned w, unsigned h, unsigned pitch)
{
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, pitch);
    guest_csrw(g, FACET_CSR_GFXZWH, (uint64_t)h << 32 | w);
}

/* ZTEST of one pixel (0,0) against a stored value; the survivor bit. */
static uint64_t test_z(struct guest *g, const char *options, uint32_t z, uint32_t stored)
{
    guest_store(g, DEPTH, 4, stored);
    g->hart->x[10] = z;
    g->hart->x[11] = 0;
    guest_ok(g, "GFX.ZTEST x5, x10, %s\n", options);
    return g->hart->x[5];
}

TEST(eight_comparisons_and_reverse, "")
{
    /* bit 0: z = 0.25, bit 1: 0.5, bit 2: 0.75, against 0.5; bit 3: NaN */
    static const unsigned pass[8] = {1, 3, 4, 6, 2, 5 | 8, 15, 0};
    static const unsigned turned[8] = {4, 6, 1, 3, 2, 5 | 8, 15, 0};
    static const uint32_t z[4] = {QUARTER_F, HALF_F, 0x3F400000, NAN_F};
    struct guest *g = gfx_make();

    depth_buffer(g, 1, 1, 4);
    for (unsigned cmp = 0; cmp < 8; cmp++) {
        for (unsigned reverse = 0; reverse < 2; reverse++) {
            static const char *const ids[] = {"GFX-070 GFX-116 GFX-183",
                                              "GFX-071 GFX-116 GFX-183",
                                              "GFX-072 GFX-116 GFX-183",
                                              "GFX-073 GFX-116 GFX-183",
                                              "GFX-074 GFX-116 GFX-183",
                                              "GFX-075 GFX-116 GFX-183",
                                              "GFX-076 GFX-116 GFX-183",
                                              "GFX-077 GFX-116 GFX-183"};

            harness_row(reverse != 0 ? "GFX-080 GFX-116" : ids[cmp]);
            guest_csrw(g, FACET_CSR_GFXZCFG, cmp | reverse << 5);
            for (unsigned i = 0; i < 4; i++) {
                unsigned flags;

                CHECK_MSG(test_z(g, "w=0", z[i], HALF_F) ==
                              ((reverse != 0 ? turned : pass)[cmp] >> i & 1),
                          "CMP %u reverse %u z %u",
                          cmp,
                          reverse,
                          i);
                flags = clear_flags(g); /* ordered comparisons with NaN are invalid */
                CHECK_EQ(flags, i < 3 ? 0 : FACET_QNAN | (cmp < 4 ? FACET_NV : 0));
            }
        }
    }
    harness_row(""); /* integers as UNS says */
    for (unsigned uns = 0; uns < 2; uns++) {
        static const uint64_t modes[3] = {MODE_INT8, MODE_INT16, MODE_INT32};
        static const uint32_t high[3] = {0x80, 0x8000, 0x80000000};

        for (unsigned i = 0; i < 3; i++) {
            set_mode(g, modes[i] | MODE_Q | (uns != 0 ? MODE_UNS : 0));
            guest_csrw(g, FACET_CSR_GFXZCFG, 0);
            CHECK_EQ(test_z(g, "w=0", high[i], 1), uns == 0);
            CHECK_EQ(test_z(g, "w=0", 1, high[i]), uns == 1);
        }
    }
    harness_row("GFX-187"); /* neighbours that FP32 cannot tell apart */
    set_mode(g, MODE_INT32);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(test_z(g, "w=0", 16777216 + i, 16777217 - i), i == 0);
        CHECK_EQ(clear_flags(g), 0);
    }
    harness_row("");
    set_mode(g, MODE_FP32);
    /* -0 equals +0 */
    guest_csrw(g, FACET_CSR_GFXZCFG, 4);
    CHECK_EQ(test_z(g, "w=0", 0x80000000, 0), 1);
    guest_free(g);
}

TEST(write_and_early_bits, "")
{
    struct guest *g = gfx_make();
    struct watch w;

    depth_buffer(g, 2, 2, 8);
    for (unsigned i = 0; i < 4; i++) {
        guest_csrw(g, FACET_CSR_GFXZCFG, (i & 1) << 3);
        CHECK_EQ(test_z(g, (i & 2) != 0 ? "w=1" : "w=0", QUARTER_F, HALF_F), 1);
        CHECK_ID(i == 3   ? "GFX-078 GFX-184"
                 : i == 1 ? "GFX-176"
                          : "GFX-078",
                 guest_load(g, DEPTH, 4) == (i == 3 ? QUARTER_F : HALF_F));
    }
    harness_row("GFX-184");
    CHECK_EQ(test_z(g, "w=1", 0x3F400000, HALF_F), 0); /* failed: not written */
    CHECK_EQ(guest_load(g, DEPTH, 4), HALF_F);
    /* early: e=1 with EARLY_EN=0 passes without a look, also outside and on bad memory */
    harness_row("GFX-079 GFX-178");
    guest_csrw(g, FACET_CSR_GFXZCFG, 0x18);
    CHECK_EQ(test_z(g, "e=1, w=1", 0x3F400000, HALF_F), 0);
    guest_csrw(g, FACET_CSR_GFXZCFG, 0x08);
    CHECK_EQ(test_z(g, "e=0", 0x3F400000, HALF_F), 0);
    guest_csrw(g, FACET_CSR_GFXZBASE, BAD);
    set_cfg(g, EN | AMEM);
    g->hart->x[10] = BAD;
    CHECK(!watch_run(g, &w, "GFX.ZTEST x5, x10, e=1, w=1\n").taken);
    CHECK_EQ(g->hart->x[5], 1);
    CHECK_EQ(w.reads + w.writes, 0);
    CHECK_EQ(raised(g), 0);
    set_cfg(g, EN);
    harness_row("GFX-196"); /* ZWRITE obeys WRITE_EN and nothing else */
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    for (unsigned cmp = 0; cmp < 8; cmp++) {
        guest_csrw(g, FACET_CSR_GFXZCFG, cmp | 8);
        g->hart->x[10] = fr(cmp);
        g->hart->x[11] = 0;
        guest_ok(g, "GFX.ZWRITE x10\n");
        CHECK_EQ(guest_load(g, DEPTH, 4), fr(cmp));
    }
    harness_row("GFX-376");
    guest_csrw(g, FACET_CSR_GFXZCFG, 0);
    set_cfg(g, EN | AMEM);
    g->hart->x[10] = BAD;
    CHECK(!watch_run(g, &w, "GFX.ZWRITE x10\n").taken);
    CHECK_EQ(w.reads + w.writes, 0);
    guest_free(g);
}

TEST(pixels_and_addresses, "")
{
    static const struct {
        uint64_t mode;
        unsigned size, step;
        uint32_t z;
    } formats[] = {{MODE_FP32, 4, 4, 0x3F400000},
                   {MODE_FP16, 2, 2, 0x3A00},
                   {MODE_BF16, 2, 2, 0x3F40},
                   {MODE_INT16, 2, 2, 0x7123},
                   {MODE_INT8, 1, 1, 0x71},
                   {MODE_INT32, 4, 4, 0x71234567},
                   {2 << 19, 2, 4, 0x3A00}}; /* FP16 in containers of 32 bits */
    struct guest *g = gfx_make();

    guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 6);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        unsigned step = formats[i].step;

        set_mode(g, formats[i].mode);
        depth_buffer(g, 4, 3, 64);
        for (unsigned k = 0; k < 256; k += 8) {
            guest_store(g, DEPTH + k, 8, 0);
        }
        g->hart->x[10] = formats[i].z | UINT64_C(0xFFFF) << 40;
        g->hart->x[11] = 0;
        guest_ok(g, "GFX.ZWRITE x10\n");
        harness_row("GFX-115 GFX-187 GFX-195 GFX-358");
        CHECK_EQ(guest_load(g, DEPTH, formats[i].size), formats[i].z);
        CHECK_ID("GFX-053", guest_load(g, DEPTH, formats[i].size) == formats[i].z);
        g->hart->x[11] = 1 << 16;
        guest_ok(g, "GFX.ZWRITE x10\n");
        CHECK_ID("GFX-055", guest_load(g, DEPTH + 64, formats[i].size) == formats[i].z);
        g->hart->x[11] = 2 << 16 | 1 | UINT64_C(0xABCD) << 32; /* upper bits do not count */
        guest_ok(g, "GFX.ZWRITE x10\n");
        CHECK_ID("GFX-096 GFX-194",
                 guest_load(g, DEPTH + 128 + step, formats[i].size) == formats[i].z);
        CHECK_EQ(guest_load(g, DEPTH + 128 + 2 * step, 1), 0);
        CHECK_EQ(raised(g), 0);
    }
    harness_row("GFX-057"); /* outside: no access, no survivor */
    set_mode(g, MODE_FP32);
    for (unsigned i = 0; i < 4; i++) {
        static const uint32_t pixel[4] = {4, 3 << 16, 0xFFFF, 0xFFFF0000};
        struct watch w;

        g->hart->x[10] = NAN_F;
        g->hart->x[11] = pixel[i];
        CHECK(!watch_run(g, &w, "GFX.ZTEST x5, x10, w=1\n GFX.ZWRITE x10\n").taken);
        CHECK_EQ(g->hart->x[5], 0);
        CHECK_EQ(w.reads + w.writes, 0);
    }
    harness_row("GFX-193"); /* three lanes, three pixels */
    for (unsigned i = 0; i < 3; i++) {
        g->hart->x[10 + i] = fr(i + 1);
        g->hart->x[13 + i] = i << 16 | i;
    }
    guest_csrw(g, FACET_CSR_SVSTATE, 2 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
    guest_ok(g, "GFX.ZWRITE x10\n");
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(guest_load(g, DEPTH + 68 * i, 4), fr(i + 1));
    }
    harness_row("GFX-057");
    /* sizes above 65536 act as 65536: pixel 65535 of row 0 is inside */
    guest_csrw(g, FACET_CSR_GFXZWH, UINT64_MAX);
    g->hart->x[11] = 0x7FFF;
    guest_ok(g, "GFX.ZWRITE x10\n");
    CHECK_EQ(guest_load(g, DEPTH + 4 * 0x7FFF, 4), fr(1));
    guest_free(g);
}

TEST(z_from_registers_and_from_lmem, "GFX-181 GFX-182 GFX-309")
{
    struct guest *g = gfx_make();

    guest_csrw(g, FACET_CSR_GFXZCFG, 0);
    depth_buffer(g, 4, 1, 16);
    put_elements(g, DEPTH, 4, (const uint32_t[]){HALF_F, HALF_F, HALF_F, HALF_F}, 4);
    for (unsigned freg = 0; freg < 2; freg++) {
        set_cfg(g, EN | (freg != 0 ? FREG : 0));
        for (unsigned i = 0; i < 4; i++) {
            (freg != 0 ? g->hart->f : g->hart->x)[10 + i] = i % 2 != 0 ? ONE_F : QUARTER_F;
            g->hart->x[14 + i] = 3 - i;
        }
        guest_csrw(g, FACET_CSR_SVSTATE, 3 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
        guest_ok(g, "GFX.ZTEST x5, x10\n");
        CHECK_EQ(g->hart->x[5], 5);
    }
    /* a memory window in LDS: z, then at the next multiple of 8 the pixels */
    set_cfg(g, EN | AMEM);
    for (unsigned i = 0; i < 3; i++) {
        guest_store(g, LDS + 4 * i, 4, i == 1 ? ONE_F : QUARTER_F);
        guest_store(g, LDS + 16 + 8 * i, 8, i);
    }
    g->hart->x[10] = LDS;
    guest_csrw(g, FACET_CSR_SVSTATE, 2 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
    guest_ok(g, "GFX.ZTEST x5, x10\n");
    CHECK_EQ(g->hart->x[5], 5);
    guest_free(g);
}

TEST(tiled_pixels_have_one_origin, "GFX-082")
{
    struct guest *g = gfx_make();
    struct watch w;

    depth_buffer(g, 16, 16, 64);
    guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 6);
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 2); /* rows of four */
    set_cfg(g, EN | AMEM);
    for (unsigned i = 0; i < 8; i++) {
        guest_store(g, MEM_A + 4 * i, 4, fr(i + 1));
    }
    guest_store(g, MEM_A + 32, 8, 3 << 16 | 5);
    g->hart->x[10] = MEM_A;
    g->hart->units.pmask.bank[1] = 0xFE; /* lane 0 is masked, its pixel word counts all the same */
    guest_csrw(
        g, FACET_CSR_SVSTATE, 7 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10);
    CHECK(!watch_run(g, &w, "GFX.ZWRITE x10, t=1\n").taken);
    CHECK_EQ(w.reads, 8); /* seven z, one word */
    CHECK_EQ(w.read_at[0], MEM_A + 4);
    CHECK_EQ(w.read_at[1], MEM_A + 32);
    CHECK_EQ(w.writes, 7);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(guest_load(g, DEPTH + 64 * (3 + i / 4) + 4 * (5 + i % 4), 4),
                 i == 0 ? 0 : fr(i + 1));
    }
    guest_free(g);
}

TEST(masks_and_banks, "")
{
    struct guest *g = gfx_make();
    struct facet_hart *h = g->hart;

    depth_buffer(g, 1, 1, 4);
    guest_store(g, DEPTH, 4, HALF_F);
    /* m=0 replaces, m=1 is AND */
    for (unsigned old = 0; old < 2; old++) {
        for (unsigned m = 0; m < 2; m++) {
            h->units.pmask.bank[1] = old | 0xF0;
            h->units.pmask.p0 = old == 0;
            h->x[10] = QUARTER_F;
            h->x[11] = 0;
            guest_ok(g, "GFX.ZTEST x5, x10, pd=1, m=%u\n", m);
            CHECK_ID(m == 0 ? "GFX-179" : "GFX-180", h->x[5] == (m == 0 || old == 1));
            harness_row("GFX-186 GFX-310");
            CHECK_EQ(h->units.pmask.bank[1], h->x[5] | 0xF0); /* bits from VL on stay */
            CHECK_EQ(h->units.pmask.p0, h->x[5]);
        }
    }
    /* pd=0: neither a bank nor P0 */
    h->units.pmask.p0 = false;
    h->units.pmask.bank[1] = 0x5A;
    guest_ok(g, "GFX.ZTEST x5, x10, m=1\n");
    CHECK_EQ(h->x[5], 1);
    CHECK_EQ(h->units.pmask.p0, 0);
    CHECK_EQ(h->units.pmask.bank[1], 0x5A);
    /* eight lanes, four inactive: old bits or zeros; memory of inactive lanes is never touched */
    for (unsigned zmode = 0; zmode < 2; zmode++) {
        set_mode(g, MODE_FP32 | (zmode != 0 ? MODE_ZMODE : 0));
        depth_buffer(g, 8, 1, 32);
        guest_csrw(g, FACET_CSR_GFXZCFG, 8);
        for (unsigned i = 0; i < 8; i++) {
            guest_store(g, DEPTH + 4 * i, 4, HALF_F);
            h->x[10 + i] = i % 4 < 2 ? QUARTER_F : ONE_F;
            h->x[18 + i] = i;
        }
        h->units.pmask.bank[1] = 0xFFFFFFFFFFFFFFA5; /* active: 0, 2, 5, 7 */
        h->units.pmask.bank[2] = 0xFF00000000000F0F;
        h->units.pmask.p0 = false;
        h->x[5] = UINT64_C(0xFFFFFFFFFFFFFF0F);
        guest_csrw(g,
                   FACET_CSR_SVSTATE,
                   7 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10);
        guest_ok(g, "GFX.ZTEST x5, x10, w=1, pd=2\n");
        /* survivors among the active: 0 and 5 */
        harness_row("GFX-278 GFX-332");
        CHECK_ID("GFX-185 GFX-332", h->x[5] == (zmode != 0 ? 0x21 : 0x21 | 0x0A));
        CHECK_EQ(h->units.pmask.bank[2],
                 UINT64_C(0xFF00000000000F00) | (zmode != 0 ? 0x21 : 0x21 | 0x0A));
        CHECK_EQ(h->units.pmask.p0, 1);
        for (unsigned i = 0; i < 8; i++) {
            CHECK_EQ(guest_load(g, DEPTH + 4 * i, 4), i == 0 || i == 5 ? QUARTER_F : HALF_F);
        }
        /* lane 0 inactive: P0 stays, whatever ZMODE says */
        for (unsigned p0 = 0; p0 < 2; p0++) {
            h->units.pmask.bank[1] = 2;
            h->units.pmask.p0 = p0 != 0;
            guest_csrw(g,
                       FACET_CSR_SVSTATE,
                       7 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10);
            guest_ok(g, "GFX.ZTEST x5, x10, pd=2\n");
            CHECK_EQ(h->units.pmask.p0, p0);
        }
    }
    guest_free(g);
}

TEST(nan_and_subnormal_depth, "GFX-188 GFX-359")
{
    static const uint32_t nan[3] = {0x7FC00000, 0, 0x7F800000};
    struct guest *g = gfx_make();

    depth_buffer(g, 1, 1, 4);
    for (unsigned pol = 0; pol < 3; pol++) {
        set_mode(g, MODE_FP32 | MODE_NAN_POL(pol));
        guest_csrw(g, FACET_CSR_GFXZCFG, 8);
        CHECK_EQ(test_z(g, "w=1", 0xFFC12345, HALF_F), 0); /* fails LESS */
        guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 6);
        CHECK_EQ(test_z(g, "w=1", 0xFFC12345, HALF_F), 1);
        CHECK_EQ(guest_load(g, DEPTH, 4), nan[pol]);
        g->hart->x[10] = 0x7F800001;
        guest_ok(g, "GFX.ZWRITE x10\n");
        CHECK_EQ(guest_load(g, DEPTH, 4), nan[pol]);
        CHECK_EQ(raised(g), FACET_NV | FACET_QNAN | FACET_SNAN);
    }
    /* anything else bit for bit: here a subnormal, without and with FTZ */
    set_mode(g, MODE_FP32);
    (void)test_z(g, "w=1", 0x80000001, HALF_F);
    CHECK_EQ(guest_load(g, DEPTH, 4), 0x80000001);
    CHECK_EQ(raised(g), 0);
    set_mode(g, MODE_FP32 | MODE_FTZ);
    (void)test_z(g, "w=1", 0x80000001, HALF_F);
    CHECK_EQ(guest_load(g, DEPTH, 4), 0x80000000);
    CHECK_EQ(raised(g), FACET_FTZ);
    guest_csrw(g, FACET_CSR_GFXZCFG, 4); /* flushed, it equals zero */
    CHECK_EQ(test_z(g, "w=0", 0x00000001, 0x80000000), 1);
    guest_free(g);
}

/* Random pixels, formats and lanes against a plain evaluation in this test. */
static double value_of(uint64_t mode, uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } u;

    switch (mode >> 21 & 7) {
    case 1:
        u.bits = bits;
        return (double)u.value;
    case 2:
        u.bits = bits << 16;
        return (double)u.value;
    case 3:
        return (int8_t)bits;
    case 4:
        return (int16_t)bits;
    default:
        return (int32_t)bits;
    }
}

TEST(random_tests_against_a_second_evaluation, "GFX-183 GFX-189 GFX-187")
{
    static const uint64_t modes[] = {MODE_FP32, MODE_BF16, MODE_INT8, MODE_INT16, MODE_INT32};
    static const unsigned sizes[] = {4, 2, 1, 2, 4};
    struct guest *g = gfx_make();

    for (unsigned round = 0; round < 3000 && !harness_failed(); round++) {
        unsigned which = round % 5, size = sizes[which], vl = 1 + (unsigned)(harness_random() % 10);
        uint64_t mode = modes[which];
        unsigned cmp = (unsigned)(harness_random() % 8), reverse = (unsigned)(harness_random() & 1);
        unsigned write = (unsigned)(harness_random() & 1), early = (unsigned)(harness_random() % 4);
        uint32_t buffer[3][4], z[10];
        unsigned px[10], py[10];
        uint64_t mask = harness_random(), survivors = 0;

        set_mode(g, mode);
        depth_buffer(g, 4, 3, 16);
        guest_csrw(g, FACET_CSR_GFXZCFG, cmp | write << 3 | (early == 1 ? 16 : 0) | reverse << 5);
        for (unsigned i = 0; i < 12; i++) { /* few values, so that equal ones occur */
            uint32_t v =
                (uint32_t)(harness_random() % 5) << (8 * size - 8) >> (harness_random() % 3);

            buffer[i / 4][i % 4] = v;
            guest_store(g, DEPTH + i / 4 * 16 + i % 4 * size, size, v);
        }
        for (unsigned i = 0; i < vl; i++) {
            z[i] = (uint32_t)(harness_random() % 5) << (8 * size - 8) >> (harness_random() % 3);
            px[i] = (unsigned)(harness_random() % 5);
            py[i] = (unsigned)(harness_random() % 4);
            g->hart->x[8 + i] = z[i];
            g->hart->x[8 + vl + i] = py[i] << 16 | px[i];
        }
        for (unsigned i = 0; i < vl; i++) {
            bool pass = px[i] < 4 && py[i] < 3;

            if ((mask >> i & 1) == 0) {
                continue;
            }
            if (early == 2) {
                pass = true; /* e=1 and EARLY_EN=0 */
            } else if (pass) {
                double a = value_of(mode, z[i]), b = value_of(mode, buffer[py[i]][px[i]]);
                unsigned c = reverse != 0 && cmp < 4 ? cmp ^ 2 : cmp;

                pass = c == 0   ? a < b
                       : c == 1 ? a <= b
                       : c == 2 ? a > b
                       : c == 3 ? a >= b
                       : c == 4 ? a == b
                       : c == 5 ? a != b
                                : c == 6;
                if (pass && write != 0) {
                    buffer[py[i]][px[i]] = z[i];
                }
            }
            survivors |= (uint64_t)pass << i;
        }
        g->hart->units.pmask.bank[3] = mask;
        g->hart->x[31] = 0;
        guest_csrw(g,
                   FACET_CSR_SVSTATE,
                   (vl - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(3) << 10);
        guest_ok(g, "GFX.ZTEST x31, x8, w=1, e=%u\n", early == 1 || early == 2);
        CHECK_EQ(g->hart->x[31], survivors);
        for (unsigned i = 0; i < 12; i++) {
            CHECK_EQ(guest_load(g, DEPTH + i / 4 * 16 + i % 4 * size, size), buffer[i / 4][i % 4]);
        }
    }
    guest_free(g);
}

/* ---- pyramids --------------------------------------------------------------------------------
 */

static uint64_t build(struct guest *g, const char *options)
{
    g->hart->x[10] = PYRAMID;
    guest_ok(g, "GFX.HZ.BUILD x5, x10, %s\n", options);
    return g->hart->x[5];
}

TEST(tiles_and_levels, "")
{
    struct guest *g = gfx_make();

    depth_buffer(g, 16, 16, 64);
    for (unsigned i = 0; i < 256; i++) {
        guest_store(g, DEPTH + 4 * i, 4, fr(i));
    }
    for (unsigned tw = 3; tw <= 4; tw++) {
        for (unsigned th = 3; th <= 4; th++) {
            unsigned w = tw == 3 ? 2 : 1, h = th == 3 ? 2 : 1;

            guest_csrw(g, FACET_CSR_GFXHIZCFG, 1 << 8 | th << 4 | tw);
            harness_row(w == h ? "GFX-082 GFX-083" : w < h ? "GFX-082" : "GFX-083");
            CHECK_EQ(build(g, "hh=0"), w * h);
            for (unsigned k = 0; k < w * h; k++) {
                CHECK_EQ(guest_load(g, PYRAMID + 4 * k, 4), fr(k % w * 8 + k / w * 8 * 16));
            }
            harness_row("GFX-199 GFX-203");
            CHECK_EQ(build(g, "hh=0, tt=1"), w * h);
            CHECK_EQ(guest_load(g, PYRAMID + 4 * (w * h - 1), 4), fr(255));
        }
    }
    for (unsigned hh = 1; hh < 4; hh++) {
        char text[32];
        unsigned n = 16u >> hh;

        (void)snprintf(text, sizeof text, "hh=%u, tt=1", hh);
        harness_row("GFX-201");
        CHECK_EQ(build(g, text), n * n);
        CHECK_EQ(guest_load(g, PYRAMID, 4), fr(((1 << hh) - 1) * 17));
    }
    harness_row("GFX-200");
    /* level 1 is made of level 0 as it stands in memory, and alone */
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 2 << 8);
    CHECK_EQ(build(g, "hh=1"), 64);
    guest_store(g, PYRAMID, 4, fr(-5));
    guest_store(g, DEPTH, 4, fr(-9));
    CHECK_EQ(build(g, "hh=1, ll=1"), 16);
    CHECK_EQ(guest_load(g, PYRAMID + 256, 4), fr(-5));
    CHECK_EQ(guest_load(g, PYRAMID, 4), fr(-5));
    harness_row("GFX-084");
    CHECK_EQ(build(g, "hh=1, ll=2"), 0); /* not below LEVELS */
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 1 << 8);
    guest_store(g, PYRAMID + 256, 4, 77);
    CHECK_EQ(build(g, "hh=1, ll=1"), 0);
    CHECK_EQ(guest_load(g, PYRAMID + 256, 4), 77);
    /* all levels in one go, in LDS as in DRAM; the accumulator plays no part */
    for (unsigned way = 0; way < 3; way++) {
        uint64_t at = way == 1 ? LDS : PYRAMID;

        harness_row(way == 2 ? "GFX-204" : "GFX-202");
        set_mode(g, MODE_FP32 | (way == 2 ? ACC_INT16 : 0));
        guest_csrw(g, FACET_CSR_GFXHIZCFG, 5 << 8);
        g->hart->x[10] = at;
        guest_ok(g, "GFX.HZ.BUILD x5, x10, hh=1, all=1\n");
        CHECK_EQ(g->hart->x[5], 64 + 16 + 4 + 1 + 1);
        CHECK_EQ(guest_load(g, at + 256 + 64 + 64, 4), fr(-9));
        CHECK_EQ(guest_load(g, at + 256 + 64 + 64 + 64, 4), fr(-9));
        CHECK_EQ(guest_load(g, at + 4 * 63, 4), fr(14 * 17));
        CHECK_EQ(raised(g), 0);
    }
    guest_free(g);
}

TEST(pyramid_faults_write_nothing, "GFX-372")
{
    struct guest *g = gfx_make();

    depth_buffer(g, 4, 4, 16);
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 3 << 8);
    g->hart->x[5] = 77;
    g->hart->x[10] = PYRAMID + 32;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_MISALIGNED, "GFX.HZ.BUILD x5, x10, hh=1\n"),
             PYRAMID + 32);
    g->hart->x[10] = BAD & ~63;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "GFX.HZ.BUILD x5, x10, hh=1\n"), BAD);
    /* the third level lies behind the end of memory: the first is not written either */
    g->hart->x[10] = GUEST_CODE + GUEST_RAM_BYTES - 128;
    guest_store(g, g->hart->x[10], 4, 77);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "GFX.HZ.BUILD x5, x10, hh=1, all=1\n"),
             (uint64_t)GUEST_CODE + GUEST_RAM_BYTES);
    CHECK_EQ(guest_load(g, g->hart->x[10], 4), 77);
    /* a signaling NaN with NV enabled: nothing written, lane 0 */
    guest_store(g, DEPTH + 60, 4, 0x7F800001);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NV);
    g->hart->x[10] = PYRAMID;
    guest_store(g, PYRAMID, 4, 77);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "GFX.HZ.BUILD x5, x10, hh=1\n"), FACET_NV);
    CHECK_EQ(guest_load(g, PYRAMID, 4), 77);
    CHECK_EQ(g->hart->x[5], 77);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0);
    guest_csrw(g, FACET_CSR_GFXZBASE, BAD);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.HZ.BUILD x5, x10, hh=1\n"), BAD);
    guest_free(g);
}

TEST(extremes_of_special_values, "GFX-198 GFX-199")
{
    struct guest *g = gfx_make();
    static const struct {
        uint32_t z[4];
        uint32_t min, max;
        unsigned flags;
    } cases[] = {
        {{0x80000000, 0, 0, 0x80000000}, 0x80000000, 0, 0},
        {{NAN_F, 0x3F800000, NAN_F, 0xBF800000}, 0xBF800000, 0x3F800000, FACET_QNAN},
        {{NAN_F, 0x7F800001, NAN_F, 0xFFC12345}, NAN_F, NAN_F, FACET_QNAN | FACET_SNAN | FACET_NV},
        {{INF_F, 0xFF800000, 0, 0}, 0xFF800000, INF_F, 0},
    };

    depth_buffer(g, 2, 2, 8);
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 1 << 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_elements(g, DEPTH, 4, cases[i].z, 4);
        (void)build(g, "hh=1");
        CHECK_EQ(guest_load(g, PYRAMID, 4), cases[i].min);
        (void)build(g, "hh=1, tt=1");
        CHECK_EQ(guest_load(g, PYRAMID, 4), cases[i].max);
        CHECK_EQ(clear_flags(g), cases[i].flags);
    }
    guest_free(g);
}

/* ---- fence -----------------------------------------------------------------------------------
 */

TEST(fences_retire_and_tell, "")
{
    struct guest *g = gfx_make();

    depth_buffer(g, 1, 1, 4);
    guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 6);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 4);
    for (unsigned mm = 0; mm < 4; mm++) {
        for (unsigned ff = 0; ff < 4; ff++) {
            struct facet_units before;
            uint64_t x[33];
            struct watch w;
            char text[64];

            static const char *const units[] = {"GFX-220", "GFX-221", "GFX-222", "GFX-223"};
            static const char *const scopes[] = {"GFX-216", "GFX-217", "GFX-218", "GFX-219"};

            g->hart->x[10] = fr(4 * mm + ff);
            g->hart->x[11] = 0;
            g->hart->x[12] = DEPTH;
            (void)snprintf(
                text, sizeof text, "GFX.ZWRITE x10\n GFX.FENCE %u, %u\n lwu x13, 0(x12)\n", mm, ff);
            CHECK(!watch_run(g, &w, text).taken);
            CHECK_ID(ff == 0 ? "GFX-225" : "GFX-190 GFX-224", g->hart->x[13] == fr(4 * mm + ff));
            CHECK_EQ(w.fences, 1);
            CHECK_ID("GFX-231", w.fence[0] == 4); /* the domain */
            CHECK_ID(units[mm], w.fence[1] == mm);
            CHECK_ID(scopes[ff], w.fence[2] == ff);
            before = g->hart->units;
            memcpy(x, g->hart->x, sizeof x);
            guest_ok(g, "GFX.FENCE %u, %u\n", mm, ff);
            CHECK_EQ(memcmp(&before, &g->hart->units, sizeof before), 0);
            CHECK_EQ(memcmp(x, g->hart->x, sizeof x), 0);
        }
    }
    guest_free(g);
}

TEST(fences_wait_for_copies_and_jobs, "")
{
    struct guest *g = gfx_make();
    uint64_t from = GUEST_DATA + 0x20000, to = GUEST_DATA + 0x21000;

    guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 6);
    depth_buffer(g, 1, 1, 4);
    guest_csrw(g, FACET_CSR_GFXZBASE, LDS + 0x800);
    for (unsigned i = 0; i < 64; i += 8) {
        guest_store(g, from + i, 8, UINT64_C(0x1111111111111111) * (i / 8 + 1));
    }
    /* two copies under way, then a fence of scope DRAM: both are complete */
    g->hart->x[10] = fr(0.5);
    g->hart->x[11] = 0;
    g->hart->x[20] = LDS;
    g->hart->x[21] = from;
    g->hart->x[22] = 32;
    g->hart->x[23] = to;
    g->hart->x[24] = from + 32;
    guest_ok(g,
             "xlds.cpy x20, x21, x22, async=1\n xlds.cpy x23, x24, x22, async=1\n GFX.ZWRITE x10\n"
             "GFX.FENCE 3, 2\n");
    for (unsigned i = 0; i < 32; i += 8) {
        CHECK_ID("GFX-227",
                 guest_load(g, LDS + i, 8) == UINT64_C(0x1111111111111111) * (i / 8 + 1));
        CHECK_ID("GFX-229", guest_load(g, to + i, 8) == UINT64_C(0x1111111111111111) * (i / 8 + 5));
    }
    CHECK_EQ(guest_load(g, LDS + 0x800, 4), fr(0.5));
    harness_row("GFX-226"); /* a copy and a depth in LDS, scope LMEM */
    g->hart->x[10] = fr(0.25);
    g->hart->x[20] = LDS + 0x40;
    guest_ok(g, "xlds.cpy x20, x21, x22\n GFX.ZWRITE x10\n GFX.FENCE 3, 1\n");
    CHECK_EQ(guest_load(g, LDS + 0x40, 8), UINT64_C(0x1111111111111111));
    CHECK_EQ(guest_load(g, LDS + 0x800, 4), fr(0.25));
    /* a job of the matrix queue: ff=2 does not wait for it, behind ff=3 its results are there */
    for (unsigned ff = 2; ff < 4; ff++) {
        uint64_t job = GUEST_DATA + 0x22000;

        for (unsigned i = 0; i < 4; i++) { /* 2x2 identity, vector (2, 3) */
            guest_store(g, job + 0x100 + 4 * i, 4, i == 0 || i == 3 ? ONE_F : 0);
        }
        put_elements(g, job + 0x200, 4, (const uint32_t[]){fr(2), fr(3)}, 2);
        guest_store(g, job + 0x300, 8, 0);
        guest_store(g, job, 8, job + 0x100);
        guest_store(g, job + 8, 8, job + 0x200);
        guest_store(g, job + 16, 8, job + 0x300);
        guest_store(g, job + 24, 8, (uint64_t)5 << 32 | 5 | 1u << 5);
        guest_store(g, job + 32, 8, 1);
        for (unsigned i = 40; i < 64; i += 8) {
            guest_store(g, job + i, 8, 0);
        }
        g->hart->x[20] = job;
        guest_ok(g, "xsubmit.mtx x21, x20\n GFX.FENCE 3, %u\n", ff);
        harness_row(ff == 2 ? "GFX-230" : "GFX-228");
        CHECK(!g->hart->waiting);
        if (ff == 3) {
            CHECK_EQ(guest_load(g, job + 0x300, 8), (uint64_t)fr(3) << 32 | fr(2));
        }
    }
    guest_free(g);
}
