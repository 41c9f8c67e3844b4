/* GFX.INTERP, GFX.SHADE, GFX.LUT1D and GFX.LUT3D on the machine: operations, options, tables,
 * number policy, and random states against the primitives of numeric.md. */
#include "xphmg/gfx/gfx_test.h"

#include "num/accum.h"
#include "num/eff.h"

#include <stdio.h>

enum { NX = FACET_NX, DOWN = FACET_DOWN };

/* SHADE on r0 and r4 (x16, x20); the result in x16. */
static uint64_t shade(struct guest *g, const char *options, uint32_t a, uint32_t b)
{
    g->hart->x[16] = a;
    g->hart->x[20] = b;
    guest_ok(g, "GFX.SHADE x16, x8, %s\n", options);
    return g->hart->x[16];
}

/* ---- INTERP ----------------------------------------------------------------------------------
 */

static uint64_t interp(struct guest *g, const char *options, uint32_t u, uint32_t v)
{
    g->hart->x[10] = u;
    g->hart->x[11] = v;
    guest_ok(g, "GFX.INTERP x16, x8, %s\n", options);
    return g->hart->x[20];
}

TEST(corners_return_the_taps, "GFX-160")
{
    struct guest *g = gfx_make();

    for (unsigned i = 0; i < 4; i++) {
        for (unsigned k = 0; k < 4; k++) {
            g->hart->x[16 + k] = fr(1.1 * (k + 1));
        }
        CHECK_EQ(interp(g, "M=0", (i & 1) != 0 ? ONE_F : 0, (i & 2) != 0 ? ONE_F : 0),
                 fr(1.1 * (i + 1)));
        CHECK_EQ(raised(g), 0);
    }
    guest_free(g);
}

TEST(bias_is_added_last, "GFX-159")
{
    struct guest *g = gfx_make();
    static const uint32_t taps[4] = {0x3F800000, 0x40000000, 0x40800000, 0x41100000};
    static const uint32_t rcpw[4] = {0x3F800000, 0x3F000000, 0x3E800000, 0x3E4CCCCD};
    struct facet_conv fp32 = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    unsigned flags = 0;
    uint64_t plain;

    for (unsigned k = 0; k < 4; k++) {
        g->hart->x[16 + k] = taps[k];
        g->hart->x[12 + k] = rcpw[k];
    }
    plain = interp(g, "M=1", 0x3E800000, 0x3F19999A);
    /* A is x8.., B follows its twelve rows: x20, so R moves away */
    for (unsigned k = 0; k < 4; k++) {
        g->hart->x[24 + k] = taps[k];
    }
    g->hart->x[20] = 0x3E000000;
    guest_ok(g, "GFX.INTERP x24, x8, M=1, B=1\n");
    CHECK_EQ(g->hart->x[28], facet_acc_add(&fp32, (uint32_t)plain, 0x3E000000, &flags));
    CHECK_EQ(g->hart->x[28], 0x40198B0C);
    guest_free(g);
}

TEST(interp_number_policy, "GFX-163 GFX-334 GFX-270")
{
    struct guest *g = gfx_make();
    static const uint32_t nan[3] = {0x7FC00000, 0, 0x7F800000};

    for (unsigned rm = 0; rm < 5; rm++) {
        set_mode(g, MODE_FP32 | MODE_RM(rm));
        g->hart->x[16] = ONE_F;
        g->hart->x[17] = 0x3F800001;
        CHECK_EQ(interp(g, "M=0", HALF_F, 0), rm == 3 || rm == 4 ? 0x3F800001 : ONE_F);
        CHECK_EQ(raised(g), NX);
    }
    for (unsigned pol = 0; pol < 3; pol++) {
        set_mode(g, MODE_FP32 | MODE_NAN_POL(pol));
        g->hart->x[16] = NAN_F;
        CHECK_EQ(interp(g, "M=0", HALF_F, 0), nan[pol]);
    }
    /* 1/w all zero: num/0 */
    set_mode(g, MODE_FP32);
    for (unsigned k = 0; k < 4; k++) {
        g->hart->x[16 + k] = ONE_F;
        g->hart->x[12 + k] = k == 0 ? ONE_F : 0xBF800000;
    }
    CHECK_EQ(interp(g, "M=1", HALF_F, 0), NAN_F); /* 0/0 */
    CHECK_EQ(raised(g) & FACET_NV, FACET_NV);
    set_mode(g, MODE_FP32);
    g->hart->x[16] = 0x40000000;
    CHECK_EQ(interp(g, "M=1", HALF_F, 0), INF_F);
    CHECK_EQ(raised(g) & FACET_DZ, FACET_DZ);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_DZ);
    g->hart->x[20] = 77;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "GFX.INTERP x16, x8, M=1\n"), FACET_DZ);
    CHECK_EQ(g->hart->x[20], 77);
    guest_free(g);
}

TEST(premultiplied_alpha_from_window_a, "GFX-158")
{
    struct guest *g = gfx_make();

    /* two channels: taps r0..r7, alpha in a8..a11 (f8+..), output r8, r9 */
    set_cfg(g, EN | FREG);
    for (unsigned j = 0; j < 4; j++) {
        g->hart->f[20 + 2 * j] = fr(j + 1.0);
        g->hart->f[21 + 2 * j] = fr(10.0 * (j + 1));
        g->hart->f[0 + 8 + j] = fr(j == 3 ? 0.5 : 0.25);
    }
    g->hart->f[2] = g->hart->f[3] = ONE_F; /* tap 3 */
    guest_ok(g, "GFX.INTERP f20, f0, P=1, nc=1\n");
    CHECK_EQ(g->hart->f[28], UINT64_C(0xFFFFFFFF00000000) | fr(2));
    CHECK_EQ(g->hart->f[29], UINT64_C(0xFFFFFFFF00000000) | fr(20));
    guest_free(g);
}

/* ---- SHADE -----------------------------------------------------------------------------------
 */

TEST(shade_operations, "")
{
    struct guest *g = gfx_make();

    CHECK_ID("GFX-165", shade(g, "OO=0, nc=1", fr(1.5), fr(2.25)) == fr(3.75));
    CHECK_ID("GFX-166", shade(g, "OO=1, nc=1", fr(1.5), fr(2.25)) == fr(-0.75));
    CHECK_ID("GFX-167", shade(g, "OO=2, nc=1", fr(1.5), fr(2.0)) == fr(3.0));
    CHECK_EQ(shade(g, "OO=3, nc=1", fr(1.5), fr(2.0)), fr(3.0));
    CHECK_EQ(raised(g), 0);
    harness_row("GFX-169");
    /* light from behind: the scaled operand is zero, without a flag */
    for (unsigned k = 0; k < 3; k++) {
        g->hart->x[8 + k] = k == 2 ? ONE_F : 0;
        g->hart->x[12 + k] = k == 2 ? fr(-0.5) : 0;
    }
    CHECK_EQ(shade(g, "OO=0, L=1, nc=1", fr(1.5), fr(2.25)), fr(1.5));
    g->hart->x[14] = fr(0.5);
    CHECK_EQ(shade(g, "OO=0, L=1, nc=1", fr(1.5), fr(2.25)), fr(2.625));
    g->hart->x[14] = NAN_F;
    CHECK_EQ(shade(g, "OO=0, L=1, nc=1", fr(1.5), fr(2.25)), NAN_F);
    (void)clear_flags(g);
    harness_row("GFX-170"); /* the zero vector stays zero */
    g->hart->x[17] = g->hart->x[21] = g->hart->x[18] = g->hart->x[22] = 0;
    CHECK_EQ(shade(g, "OO=1, N=1, nc=3", fr(1.5), fr(1.5)), 0);
    CHECK_EQ(raised(g), 0);
    CHECK_EQ(shade(g, "OO=2, N=1, nc=1", 0x80000000, ONE_F), 0); /* +0, not -0 */
    CHECK_EQ(shade(g, "OO=2, N=1, nc=1", fr(-1e-30), ONE_F), 0); /* its square is zero */
    (void)clear_flags(g);
    harness_row("GFX-169"); /* alpha is not lit */
    for (unsigned k = 0; k < 4; k++) {
        g->hart->x[16 + k] = ONE_F;
        g->hart->x[20 + k] = ONE_F;
    }
    g->hart->x[14] = fr(0.25);
    guest_ok(g, "GFX.SHADE x16, x8, OO=2, L=1, nc=0\n");
    CHECK_EQ(g->hart->x[18], fr(0.25));
    CHECK_EQ(g->hart->x[19], ONE_F);
    guest_free(g);
}

TEST(shade_as_drawn_is_rgba, "GFX-391")
{
    static const char *const texts[] = {"GFX.SHADE x16, x8, OO=2\n",
                                        "GFX.SHADE x16, x8, OO=2, nc=1\n",
                                        "GFX.SHADE x16, x8, OO=2, nc=2\n",
                                        "GFX.SHADE x16, x8, OO=2, nc=3\n",
                                        ".word 0xf004482b\n"}; /* ppp=111, OO=10, the rest zero */
    static const unsigned channels[] = {4, 1, 2, 3, 4};
    struct guest *g = gfx_make();

    for (unsigned i = 0; i < 5; i++) {
        for (unsigned k = 0; k < 4; k++) {
            g->hart->x[16 + k] = fr(k + 1.0);
            g->hart->x[20 + k] = fr(8);
        }
        guest_ok(g, "%s", texts[i]);
        for (unsigned k = 0; k < 4; k++) {
            CHECK_EQ(g->hart->x[16 + k], fr((k + 1.0) * (k < channels[i] ? 8 : 1)));
        }
    }
    guest_free(g);
}

TEST(shade_number_policy, "")
{
    static const uint32_t sum[5] = {0x3F800000, 0x3F800000, 0x3F800000, 0x3F800001, 0x3F800000};
    static const uint32_t nan[3] = {0x7FC00000, 0, 0x7F800000};
    struct guest *g = gfx_make();

    for (unsigned rm = 0; rm < 5; rm++) { /* 1 + 2^-25 */
        set_mode(g, MODE_FP32 | MODE_RM(rm));
        CHECK_ID("GFX-172 GFX-266", shade(g, "OO=0, nc=1", ONE_F, 0x33000000) == sum[rm]);
        CHECK_ID("GFX-279 GFX-337", guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST) == NX);
    }
    harness_row("GFX-172 GFX-266");
    set_mode(g, MODE_FP32 | MODE_RM(4)); /* 1 + 2^-24: a tie */
    CHECK_EQ(shade(g, "OO=0, nc=1", ONE_F, 0x33800000), 0x3F800001);
    for (unsigned pol = 0; pol < 3; pol++) { /* inf - inf */
        set_mode(g, MODE_FP32 | MODE_NAN_POL(pol));
        CHECK_ID("GFX-269", shade(g, "OO=1, nc=1", INF_F, INF_F) == nan[pol]);
        CHECK_ID("GFX-333", raised(g) == (FACET_NV | FACET_QNAN));
    }
    set_mode(g, MODE_FP32);
    (void)shade(g, "OO=0, nc=1", 0x7F800001, 0);
    CHECK_ID("GFX-338", raised(g) == (FACET_NV | FACET_SNAN | FACET_QNAN));
    set_mode(g, MODE_FP32);
    (void)shade(g, "OO=0, nc=1", 0x7FC00001, 0);
    CHECK_ID("GFX-339", raised(g) == FACET_QNAN);
    harness_row("GFX-341");
    set_mode(g, MODE_FP32 | MODE_FTZ);
    CHECK_EQ(shade(g, "OO=0, nc=1", 0x80000001, 0x80000000), 0x80000000);
    CHECK_EQ(raised(g), FACET_FTZ);
    set_mode(g, MODE_FP32); /* 2^-70 * 2^-70 (1 + 2^-20) */
    (void)shade(g, "OO=2, nc=1", 0x1C800000, 0x1C800008);
    CHECK_ID("GFX-336", raised(g) == (FACET_UF | NX));
    harness_row("GFX-342 GFX-369");
    /* FP16 elements: 65504 + 65504, 2^-24 / 2, 0.1 * 0.1, a quiet NaN */
    set_mode(g, MODE_FP16);
    (void)shade(g, "OO=0, nc=1", 0x7BFF, 0x7BFF);
    CHECK_EQ(raised(g), FACET_OF | NX | DOWN);
    set_mode(g, MODE_FP16);
    (void)shade(g, "OO=2, nc=1", 0x0001, 0x3800);
    CHECK_EQ(raised(g), FACET_UF | NX | DOWN);
    set_mode(g, MODE_FP16);
    (void)shade(g, "OO=2, nc=1", 0x2E66, 0x2E66);
    CHECK_ID("GFX-329 GFX-369", raised(g) == (NX | DOWN));
    set_mode(g, MODE_FP16);
    (void)shade(g, "OO=2, nc=1", 0x7E01, 0x2E66);
    CHECK_EQ(raised(g), FACET_QNAN | DOWN);
    harness_row("GFX-280 GFX-375");
    set_mode(g, MODE_FP16 | MODE_SAT);
    CHECK_EQ(shade(g, "OO=0, nc=1", 0x7BFF, 0x7BFF), 0x7BFF);
    CHECK_EQ(guest_csrr(g, 0x7D2) >> 13 & 1, 1); /* SAT_HIT */
    harness_row("GFX-272");
    /* E = FP32 with an FP16 accumulator has FP16 accuracy */
    set_mode(g, MODE_FP32 | ACC_FP16);
    CHECK_EQ(shade(g, "OO=0, nc=1", ONE_F, 0x38800000), 0x3F800000);
    harness_row("GFX-171"); /* ppp on the same numbers */
    set_mode(g, MODE_FP32);
    CHECK_EQ(shade(g, "OO=0, ppp=0, nc=1", 0x3C00, 0x1000), 0x3C00);
    CHECK_EQ(shade(g, "OO=0, ppp=1, nc=1", 0x3F800000, 0x3A000000), 0x3F801000);
    harness_row("GFX-174"); /* INT8: the zero point goes out and in once */
    set_mode(g, MODE_INT8 | ACC_INT32 | MODE_Q | 1 << 14 | 10 << 6);
    CHECK_EQ(shade(g, "OO=0, nc=1", 13, 17), 20);
    guest_free(g);
}

/* Sequences of primitives made here with src/num; elements and states at random. */
TEST(random_shades_are_the_primitives, "GFX-326 GFX-327 GFX-011")
{
    struct guest *g = gfx_make();

    for (unsigned round = 0; round < 4000 && !harness_failed(); round++) {
        uint64_t mode = (harness_random() & UINT64_C(0xFFFF00077F060030)) & ~UINT64_C(0x04060000);
        unsigned pet = (unsigned)(harness_random() % 6), channels = 1 + round % 4;
        static const unsigned ew[6] = {1, 2, 1, 0, 1, 2};
        struct facet_eff eff;
        uint32_t a[4], b[4];
        unsigned flags = 0, op = (unsigned)(harness_random() % 3);
        unsigned size = 1u << ew[pet];

        mode = (mode & ~UINT64_C(0xF80000)) | pet << 21 | ew[pet] << 19;
        mode &= ~(UINT64_C(0xF8) << 40); /* scale 0..7 */
        if ((mode >> 27 & 3) != 0) {
            mode &= ~(UINT64_C(1) << 32);
        }
        set_mode(g, mode);
        eff = facet_prec_eff(&g->hart->units.cap.prec);
        for (unsigned k = 0; k < channels; k++) {
            a[k] = (uint32_t)(harness_random() & ((UINT64_C(1) << 8 * size) - 1));
            b[k] = (uint32_t)(harness_random() & ((UINT64_C(1) << 8 * size) - 1));
            g->hart->x[16 + k] = a[k];
            g->hart->x[20 + k] = b[k];
        }
        guest_ok(g, "GFX.SHADE x16, x8, OO=%u, nc=%u\n", op, channels % 4);
        for (unsigned k = 0; k < channels; k++) {
            struct facet_conv conv = facet_eff_conv(&eff, NULL, k);
            uint32_t x = facet_widen(&conv, a[k], &flags), y = facet_widen(&conv, b[k], &flags);
            uint32_t r = op == 0   ? facet_acc_add(&conv, x, y, &flags)
                         : op == 1 ? facet_acc_sub(&conv, x, y, &flags)
                                   : facet_acc_mul(&conv, x, y, &flags);

            r = facet_narrow(&conv, r, &flags);
            CHECK_MSG((g->hart->x[16 + k] & ((UINT64_C(1) << 8 * size) - 1)) == r,
                      "mode 0x%llx op %u: %x, %x",
                      (unsigned long long)mode,
                      op,
                      a[k],
                      b[k]);
        }
        CHECK_EQ(raised(g), flags);
    }
    guest_free(g);
}

/* ---- LUT -------------------------------------------------------------------------------------
 */

/* Entry i of the table is i as an FP32 number. */
static void numbered_table(struct guest *g, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        guest_store(g, TABLE + 4 * i, 4, fr(i));
    }
    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
}

static void lut(struct guest *g, const char *text, double r, double gr, double b)
{
    g->hart->x[10] = fr(r);
    g->hart->x[11] = fr(gr);
    g->hart->x[12] = fr(b);
    guest_ok(g, "%s\n", text);
}

TEST(lut_sizes_and_places, "")
{
    struct guest *g = gfx_make();
    struct watch w;

    numbered_table(g, 200);
    /* R 4, G 8, B 2 entries */
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 1 << 12 | 3 << 8 | 2 << 4);
    lut(g, "GFX.LUT1D x16, x10", 9, 9, 9); /* clamped to the last of each curve */
    CHECK_ID("GFX-089", g->hart->x[16] == fr(3));
    CHECK_ID("GFX-090", g->hart->x[17] == fr(4 + 7));
    CHECK_ID("GFX-091", g->hart->x[18] == fr(12 + 1));
    lut(g, "GFX.LUT1D x16, x10", 0, 0, 0);
    CHECK_EQ(g->hart->x[16], fr(0));
    CHECK_ID("GFX-090", g->hart->x[17] == fr(4));
    CHECK_ID("GFX-091", g->hart->x[18] == fr(12));
    harness_row("GFX-212");
    g->hart->x[10] = g->hart->x[11] = g->hart->x[12] = fr(1.5);
    CHECK(!watch_run(g, &w, "GFX.LUT1D x16, x10, i=1\n").taken);
    CHECK_EQ(w.reads, 5); /* the B curve ends at entry 1 */
    CHECK_EQ(w.read_at[0], TABLE + 4);
    CHECK_EQ(w.read_at[1], TABLE + 8);
    CHECK_EQ(w.read_at[2], TABLE + 4 * 5);
    CHECK_EQ(w.read_at[4], TABLE + 4 * 13);
    CHECK_EQ(g->hart->x[16], fr(1.5));
    /* the A curve is as long as R's and lies behind B */
    g->hart->x[13] = fr(2);
    lut(g, "GFX.LUT1D x16, x10, c=1", 0, 0, 0);
    CHECK_EQ(g->hart->x[19], fr(14 + 2));
    harness_row("GFX-060"); /* table and base move together */
    for (unsigned i = 0; i < 20; i++) {
        guest_store(g, LDS + 4 * i, 4, fr(i));
    }
    guest_csrw(g, FACET_CSR_GFXLUTBASE, LDS);
    lut(g, "GFX.LUT1D x16, x10", 9, 9, 9);
    CHECK_EQ(g->hart->x[17], fr(11));
    harness_row("GFX-088 GFX-213");
    /* five entries: indices and normalized inputs, nearest rounds half up */
    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x2228);
    lut(g, "GFX.LUT1D x16, x10", 0.5, 2.0, 0.49);
    CHECK_EQ(g->hart->x[16], fr(1));
    CHECK_EQ(g->hart->x[17], fr(5 + 2));
    CHECK_EQ(g->hart->x[18], fr(10));
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x222C);
    lut(g, "GFX.LUT1D x16, x10", 0.5, 2.0, -1e30);
    CHECK_EQ(g->hart->x[16], fr(2));
    CHECK_EQ(g->hart->x[17], fr(5 + 4));
    CHECK_EQ(g->hart->x[18], fr(10));
    harness_row("GFX-212");
    /* 3D: r fastest, then g, then b; NC channels each */
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 1 << 12 | 2 << 8 | 1 << 4 | 1); /* 2 x 4 x 2 */
    lut(g, "GFX.LUT3D x16, x10", 1, 3, 1);
    for (unsigned k = 0; k < 3; k++) {
        CHECK_EQ(g->hart->x[16 + k], fr(((1 * 4 + 3) * 2 + 1) * 3 + k));
    }
    lut(g, "GFX.LUT3D x16, x10, c=1", 1, 2, 1);
    for (unsigned k = 0; k < 4; k++) {
        CHECK_EQ(g->hart->x[16 + k], fr(((1 * 4 + 2) * 2 + 1) * 4 + k));
    }
    guest_free(g);
}

TEST(lut_dimension_must_agree, "GFX-086 GFX-087 GFX-377 GFX-206")
{
    struct guest *g = gfx_make();

    numbered_table(g, 16);
    for (unsigned dim = 0; dim < 4; dim++) {
        guest_csrw(g, FACET_CSR_GFXLUTFMT, dim);
        for (unsigned three = 0; three < 2; three++) {
            const char *text = three != 0 ? "GFX.LUT3D x16, x10\n" : "GFX.LUT1D x16, x10\n";

            if (dim == three) {
                guest_ok(g, "%s", text);
            } else {
                CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "%s", text),
                         three != 0 ? 0xF015482B : 0xE015482B);
            }
        }
    }
    CHECK_EQ(raised(g), 0);
    guest_free(g);
}

TEST(lut_channels_and_place, "GFX-210 GFX-211 GFX-311")
{
    struct guest *g = gfx_make();

    numbered_table(g, 64);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x2220);
    g->hart->x[13] = fr(1);
    g->hart->x[19] = 77;
    lut(g, "GFX.LUT1D x16, x10", 1, 1, 1);
    CHECK_EQ(g->hart->x[19], 77);
    lut(g, "GFX.LUT1D x16, x10, c=1", 1, 1, 1);
    CHECK_EQ(g->hart->x[19], fr(13));
    lut(g, "GFX.LUT1D x10, x10, c=1", 3, 2, 1); /* in place */
    CHECK_EQ(g->hart->x[10], fr(3));
    CHECK_EQ(g->hart->x[11], fr(6));
    CHECK_EQ(g->hart->x[12], fr(9));
    CHECK_EQ(g->hart->x[13], fr(13));
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x1111);
    g->hart->x[13] = 77;
    lut(g, "GFX.LUT3D x10, x10", 1, 0, 1);
    CHECK_EQ(g->hart->x[10], fr(15));
    CHECK_EQ(g->hart->x[13], 77);
    guest_free(g);
}

TEST(lut_number_policy, "GFX-214 GFX-357")
{
    struct guest *g = gfx_make();
    struct watch w;

    numbered_table(g, 64);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x2220);
    g->hart->x[10] = NAN_F;
    g->hart->x[11] = INF_F;
    g->hart->x[12] = fr(-1);
    CHECK(!watch_run(g, &w, "GFX.LUT1D x16, x10, i=1\n").taken);
    CHECK_EQ(w.reads, 2); /* nothing for the NaN */
    CHECK_EQ(g->hart->x[16], NAN_F);
    CHECK_EQ(g->hart->x[17], fr(7));
    CHECK_EQ(g->hart->x[18], fr(8));
    CHECK_EQ(raised(g), FACET_QNAN);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x1111);
    CHECK(!watch_run(g, &w, "GFX.LUT3D x16, x10, i=1\n").taken);
    CHECK_EQ(w.reads, 0);
    CHECK_EQ(g->hart->x[18], NAN_F);
    /* FP16 elements, FP32 between them, one narrowing; the table is FP16 too */
    set_mode(g, MODE_FP16);
    put_elements(g, TABLE, 2, (const uint32_t[]){0x3C00, 0x3C01, 0x7BFF, 0x7BFF}, 4);
    put_elements(g, TABLE + 8, 2, (const uint32_t[]){0x3C00, 0x3C01, 0x7BFF, 0x7BFF}, 4);
    put_elements(g, TABLE + 16, 2, (const uint32_t[]){0x3C00, 0x3C01, 0x7C00, 0x7BFF}, 4);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x2220);
    g->hart->x[10] = 0x3800; /* 0.5: halfway between 1 and 1 + 2^-10, a tie to even */
    g->hart->x[11] = 0x3A00;
    g->hart->x[12] = 0x4000;
    guest_ok(g, "GFX.LUT1D x16, x10, i=1\n");
    CHECK_EQ(g->hart->x[16], 0x3C00);
    CHECK_EQ(g->hart->x[17], 0x3C01);
    CHECK_EQ(g->hart->x[18], 0x7C00);
    CHECK_EQ(raised(g), NX | DOWN);
    set_mode(g, MODE_FP16 | MODE_RM(3) | MODE_SAT);
    guest_ok(g, "GFX.LUT1D x16, x10, i=1\n");
    CHECK_EQ(g->hart->x[16], 0x3C01);
    CHECK_EQ(g->hart->x[18], 0x7BFF);
    CHECK_EQ(raised(g), NX | DOWN | FACET_SAT);
    /* integers: the index is exact, 16 fraction bits; 8.8 units of 1/256 */
    set_mode(g, MODE_INT16 | ACC_INT32 | MODE_Q | MODE_SCALE(-8));
    put_elements(g, TABLE, 2, (const uint32_t[]){0, 0x100, 0x300, 0x700}, 4);
    put_elements(g, TABLE + 8, 2, (const uint32_t[]){0, 0x100, 0x300, 0x700}, 4);
    put_elements(g, TABLE + 16, 2, (const uint32_t[]){0, 0x100, 0x300, 0x700}, 4);
    g->hart->x[10] = 0x0180; /* 1.5 */
    g->hart->x[11] = 0x02C0; /* 2.75 */
    g->hart->x[12] = 0x7000;
    guest_ok(g, "GFX.LUT1D x16, x10, i=1\n");
    CHECK_EQ(g->hart->x[16], 0x200);
    CHECK_EQ(g->hart->x[17], 0x600);
    CHECK_EQ(g->hart->x[18], 0x700);
    guest_ok(g, "GFX.LUT1D x16, x10\n"); /* nearest: half up */
    CHECK_EQ(g->hart->x[16], 0x300);
    CHECK_EQ(g->hart->x[17], 0x700);
    guest_free(g);
}
