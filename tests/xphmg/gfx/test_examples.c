/* The worked examples 1 to 38 of gfx-semantics.md 18 on the machine, each in x registers, f
 * registers and memory windows, scalar and under RSV (gfx_test.h); the table of wrap modes; the
 * table of encodings. */
#include "xphmg/gfx/gfx_test.h"

#include "assembler/assemble.h"
#include "assembler/disassemble.h"
#include "isa/isa.h"
#include "object/object.h"

#include <stdlib.h>

enum { NX = FACET_NX, DOWN = FACET_DOWN };

#define LIST(...) ((const uint32_t[]){__VA_ARGS__})

/* SAMPLE: u and v in A, four results. */
static void sample(struct guest *g,
                   const char *what,
                   const char *text,
                   unsigned size,
                   bool sign,
                   uint32_t u,
                   uint32_t v,
                   const uint32_t *out,
                   unsigned flags)
{
    check_op(g,
             what,
             &(struct op){.text = text,
                          .size = size,
                          .sign = sign,
                          .ra = 10,
                          .rr = 16,
                          .a = LIST(u, v),
                          .na = 2,
                          .out = out,
                          .nout = 4,
                          .flags = flags});
}

TEST(examples_1_to_4_sample, "")
{
    struct guest *g = gfx_make();

    texture_t2(g);
    harness_row("GFX-016 GFX-119 GFX-125 GFX-306");
    sample(g,
           "1",
           "GFX.SAMPLE x%u, x%u",
           4,
           false,
           0x3F400000,
           0x3E800000,
           LIST(0x3F800000, 0, 0, 0x3F008081),
           NX);
    harness_row("GFX-010 GFX-120");
    sample(g,
           "2",
           "GFX.SAMPLE x%u, x%u, m=1",
           4,
           false,
           0x3F000000,
           0x3ECCCCCD,
           LIST(0x3F0268C9, 0x3E83691D, 0x3EB534A9, 0x3F10371D),
           NX);
    set_mode(g, MODE_FP16);
    harness_row("GFX-097 GFX-271 GFX-328");
    sample(g,
           "3",
           "GFX.SAMPLE x%u, x%u, m=1",
           2,
           false,
           0x3800,
           0x3866,
           LIST(0x3827, 0x3634, 0x374F, 0x3604),
           DOWN | NX);
    set_mode(g, MODE_FP16 | ACC_FP16);
    harness_row("GFX-097 GFX-271");
    sample(g,
           "4",
           "GFX.SAMPLE x%u, x%u, m=1",
           2,
           false,
           0x3800,
           0x3866,
           LIST(0x3826, 0x3633, 0x374E, 0x3604),
           NX);
    guest_free(g);
}

TEST(examples_5_to_7_srgb, "GFX-018 GFX-122 GFX-134 GFX-283")
{
    struct guest *g = gfx_make();

    set_cfg(g, EN | CONVERT | SRGB);
    texture_t2(g);
    sample(g,
           "5",
           "GFX.SAMPLE x%u, x%u, f=1",
           4,
           false,
           QUARTER_F,
           QUARTER_F,
           LIST(0, 0x3D51FFEE, 0x3E5D0A8B, 0x3F800000),
           NX);
    sample(g,
           "6",
           "GFX.SAMPLE x%u, x%u, m=1, f=1",
           4,
           false,
           HALF_F,
           QUARTER_F,
           LIST(0x3E5B2D9A, 0x3C6CA5E0, 0x3D51FFEE, 0x3F404040),
           NX);
    set_mode(g, MODE_FP16 | ACC_FP16);
    sample(g,
           "7",
           "GFX.SAMPLE x%u, x%u, f=1",
           2,
           false,
           0x3400,
           0x3400,
           LIST(0, 0x2A90, 0x32E8, 0x3C00),
           NX);
    set_mode(g, MODE_FP16 | ACC_FP16 | MODE_RM(3));
    sample(g,
           "46",
           "GFX.SAMPLE x%u, x%u, f=1",
           2,
           false,
           0x3400,
           0x3400,
           LIST(0, 0x2A94, 0x32EC, 0x3C00),
           NX);
    guest_free(g);
}

TEST(example_45_srgb_under_every_mode, "GFX-360")
{
    static const uint32_t want[4][2] = {{0x3D51FFEE, 0x3E5D0A8B},
                                        {0x3D51FFEA, 0x3E5D0A87},
                                        {0x3D51FFEA, 0x3E5D0A87},
                                        {0x3D51FFEF, 0x3E5D0A8B}};
    struct guest *g = gfx_make();

    set_cfg(g, EN | CONVERT | SRGB);
    texture_t2(g);
    for (unsigned rm = 0; rm < 4; rm++) {
        set_mode(g, MODE_FP32 | MODE_RM(rm));
        sample(g,
               "45",
               "GFX.SAMPLE x%u, x%u, f=1",
               4,
               false,
               QUARTER_F,
               QUARTER_F,
               LIST(0, want[rm][0], want[rm][1], 0x3F800000),
               NX);
    }
    guest_free(g);
}

TEST(examples_8_and_9_formats, "GFX-046")
{
    struct guest *g = gfx_make();

    texture(g, 0x40, 1, 1, 4);
    guest_store(g, TEXTURE, 2, 0xF81F);
    sample(g,
           "8",
           "GFX.SAMPLE x%u, x%u",
           4,
           false,
           0,
           0,
           LIST(0x3F800000, 0, 0x3F800000, 0x3F800000),
           0);
    texture(g, 0x31 | 5u << 8 | 3u << 14 | 2u << 17, 1, 1, 4);
    guest_store(g, TEXTURE, 4, 0x407F8180);
    sample(g,
           "9",
           "GFX.SAMPLE x%u, x%u",
           4,
           false,
           0,
           0,
           LIST(0x3F800000, 0xBF800000, 0xBF800000, 0x3F800000),
           0);
    guest_free(g);
}

TEST(examples_10_and_11_integers, "GFX-099")
{
    struct guest *g = gfx_make();

    texture_t2(g);
    set_cfg(g, EN | CONVERT);
    set_mode(g, MODE_INT16 | ACC_INT32 | MODE_Q | MODE_SCALE(-8));
    sample(g,
           "10",
           "GFX.SAMPLE x%u, x%u, m=1",
           2,
           true,
           0x0100,
           0x00C0,
           LIST(0x0082, 0x003C, 0x0056, 0x0098),
           DOWN | NX);
    /* one unit of the scale more: codes halve */
    set_mode(g, MODE_INT16 | ACC_INT32 | MODE_Q | MODE_SCALE(-7));
    sample(g,
           "10 with SCALE_SH -7",
           "GFX.SAMPLE x%u, x%u, m=1",
           2,
           true,
           0x0100,
           0x00C0,
           LIST(0x0041, 0x001E, 0x002B, 0x004C),
           DOWN | NX);
    set_mode(g, MODE_INT8 | MODE_Q | MODE_UNS | MODE_SAT | MODE_SCALE(-8));
    sample(g,
           "11",
           "GFX.SAMPLE x%u, x%u",
           1,
           false,
           4,
           4,
           LIST(0, 0x40, 0x81, 0xFF),
           DOWN | NX | FACET_SAT);
    guest_free(g);
}

/* 4x4 texture of numbers 10y + x, FP32 R; the table of five taps at TABLE. */
static void gather_scene(struct guest *g)
{
    static const uint32_t numbers[16] = {0x00000000,
                                         0x3F800000,
                                         0x40000000,
                                         0x40400000,
                                         0x41200000,
                                         0x41300000,
                                         0x41400000,
                                         0x41500000,
                                         0x41A00000,
                                         0x41A80000,
                                         0x41B00000,
                                         0x41B80000,
                                         0x41F00000,
                                         0x41F80000,
                                         0x42000000,
                                         0x42040000};
    static const uint32_t table[15] = {0,
                                       0,
                                       HALF_F,
                                       0xBF800000,
                                       0,
                                       0x3E000000,
                                       ONE_F,
                                       0,
                                       0x3E000000,
                                       0,
                                       0xBF800000,
                                       0x3E000000,
                                       0,
                                       ONE_F,
                                       0x3DCCCCCD};

    texture(g, 0x0A, 4, 4, 16);
    put_elements(g, TEXTURE, 4, numbers, 16);
    put_elements(g, TABLE, 4, table, 15);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
}

TEST(examples_12_to_15_gather, "GFX-139 GFX-140 GFX-141 GFX-143 GFX-151")
{
    struct guest *g = gfx_make();
    uint8_t bytes[16];

    gather_scene(g);
    sample(g,
           "12",
           "GFX.SAMPLE.GATH x%u, x%u, n=5, p=1, s=1",
           4,
           false,
           0x3FC00000,
           0x40200000,
           LIST(0x41A1CCCD, 0, 0, 0x3F79999A),
           NX);
    sample(g,
           "13",
           "GFX.SAMPLE.GATH x%u, x%u, n=5, p=0, s=1",
           4,
           false,
           0x3FC00000,
           0x40200000,
           LIST(0x41A80000, 0, 0, 0x3F800000),
           0);
    sample(g,
           "14",
           "GFX.SAMPLE.GATH x%u, x%u, n=5, p=0, s=0",
           4,
           false,
           0x3FC00000,
           0x40200000,
           LIST(0x41CB3333, 0, 0, 0x3F800000),
           NX);
    for (unsigned i = 0; i < 16; i++) {
        bytes[i] = (uint8_t)(10 * (i / 4) + i % 4);
    }
    put_bytes(g, TEXTURE, bytes, 16);
    texture(g, 0x02, 4, 4, 4);
    put_elements(g, TABLE, 2, LIST(0, 0, 0x80, 0xFF00, 0, 0x40, 0x100, 0, 0x41), 9);
    set_mode(g, MODE_INT16 | ACC_INT32);
    sample(g,
           "15",
           "GFX.SAMPLE.GATH x%u, x%u, n=3, p=1, s=1",
           2,
           true,
           0x0180,
           0x0280,
           LIST(0x15, 0, 0, 1),
           DOWN | NX);
    guest_free(g);
}

TEST(examples_16_to_19_interp, "GFX-156 GFX-157 GFX-158 GFX-162 GFX-161 GFX-307")
{
    struct guest *g = gfx_make();
    const struct op plain = {.text = "GFX.INTERP x%u, x%u",
                             .size = 4,
                             .ra = 8,
                             .rr = 24,
                             .rows = 12,
                             .a = LIST(1, 1, 0x3E800000, 0x3F19999A),
                             .na = 4,
                             .r = LIST(0x3F800000, 0x40000000, 0x40800000, 0x41100000),
                             .nr = 4,
                             .out = LIST(0x4069999A),
                             .first = 4,
                             .nout = 1};
    struct op op = plain;

    check_op(g, "16", &op);
    op.text = "GFX.INTERP x%u, x%u, M=1, B=1";
    op.a = LIST(1, 1, 0x3E800000, 0x3F19999A, 0x3F800000, 0x3F000000, 0x3E800000, 0x3E4CCCCD);
    op.na = 8;
    op.b = LIST(0x3E000000);
    op.nb = 1;
    op.out = LIST(0x40198B0C);
    op.flags = NX;
    check_op(g, "18", &op);
    set_mode(g, MODE_FP16 | ACC_FP16);
    op = plain;
    op.size = 2;
    op.a = LIST(1, 1, 0x34CD, 0x38CD);
    op.r = LIST(0x3C00, 0x4000, 0x4400, 0x4880);
    op.out = LIST(0x43A4);
    op.flags = NX;
    check_op(g, "17", &op);
    set_mode(g, MODE_FP32);
    op = (struct op){.text = "GFX.INTERP x%u, x%u, P=1, nc=3",
                     .size = 4,
                     .ra = 28,
                     .rr = 8,
                     .rows = 12,
                     .a = LIST(1, 1, HALF_F, HALF_F),
                     .na = 4,
                     .r = LIST(ONE_F,
                               HALF_F,
                               0,
                               HALF_F,
                               0,
                               ONE_F,
                               QUARTER_F,
                               ONE_F,
                               0x3E4CCCCD,
                               0x3ECCCCCD,
                               0x3F19999A,
                               0x3F4CCCCD,
                               ONE_F,
                               ONE_F,
                               ONE_F,
                               0),
                     .nr = 16,
                     .out = LIST(0x3E28F5C3, 0x3EC8F5C3, 0x3E3AE148, 0x3F133333),
                     .first = 16,
                     .nout = 4,
                     .flags = NX};
    check_op(g, "19", &op);
    guest_free(g);
}

TEST(examples_20_to_23_shade, "")
{
    struct guest *g = gfx_make();
    struct op op = {.text = "GFX.SHADE x%u, x%u, OO=2, L=1, nc=0",
                    .size = 4,
                    .ra = 1,
                    .rr = 16,
                    .rows = 4,
                    .a = LIST(0, 0x3F19999A, 0x3F4CCCCD),
                    .na = 3,
                    .b = LIST(0, 0x3F3504F3, 0x3F3504F3),
                    .nb = 3,
                    .r = LIST(0x3F4CCCCD,
                              0x3F19999A,
                              0x3ECCCCCD,
                              0x3F800000,
                              0x3F800000,
                              0x3F666666,
                              0x3F333333,
                              0x3F800000),
                    .nr = 8,
                    .out = LIST(0x3F4ABDDE, 0x3F08D9C3, 0x3E8DEB4F, 0x3F800000),
                    .nout = 4,
                    .flags = NX};

    harness_row("GFX-169 GFX-308");
    check_op(g, "20", &op);
    op.text = "GFX.SHADE x%u, x%u, OO=1, N=1, nc=3";
    op.na = op.nb = 0;
    op.r = LIST(0x40400000, 0x3F800000, 0x40000000, 77, 0x3F800000, 0x3F800000, 0xBF000000, 88);
    op.out = LIST(0x3F1FEC04, 0, 0x3F47E705);
    op.nout = 3;
    harness_row("GFX-170");
    check_op(g, "21", &op);
    set_mode(g, MODE_FP16 | ACC_FP16);
    op.text = "GFX.SHADE x%u, x%u, OO=3, nc=0";
    op.size = 2;
    op.r = LIST(0x2E66, 0x3266, 0x34CD, 0x3666, 0x3C00, 0x4000, 0x4200, 0x4400);
    op.out = LIST(0x4200);
    op.nout = 1;
    harness_row("GFX-168");
    check_op(g, "22", &op);
    op.text = "GFX.SHADE x%u, x%u, OO=2, nc=1";
    op.r = LIST(0x7B53, 0, 0, 0, 0x4000);
    op.nr = 5;
    set_mode(g, MODE_FP16 | MODE_SAT);
    op.out = LIST(0x7BFF);
    op.flags = DOWN | FACET_SAT;
    harness_row("GFX-098 GFX-173 GFX-340");
    check_op(g, "23 with SAT", &op);
    set_mode(g, MODE_FP16);
    op.out = LIST(0x7C00);
    op.flags = DOWN | NX | FACET_OF;
    harness_row("GFX-098 GFX-173 GFX-335");
    check_op(g, "23 without SAT", &op);
    guest_free(g);
}

TEST(examples_24_to_26_lut, "GFX-208 GFX-209 GFX-207")
{
    struct guest *g = gfx_make();
    static const uint32_t curve[5] = {0, 0x3DCCCCCD, 0x3ECCCCCD, 0x3F666666, 0x3F800000};
    static const uint32_t cube[24] = {0,          0,          0,          0x3F000000, 0,
                                      0x3F800000, 0,          0x3F800000, 0x3F800000, 0x3F000000,
                                      0x3F800000, 0x40000000, 0x3E800000, 0,          0x3F800000,
                                      0x3F400000, 0,          0x40000000, 0x3E800000, 0x3F800000,
                                      0x40000000, 0x3F400000, 0x3F800000, 0x40400000};
    struct op op = {.text = "GFX.LUT1D x%u, x%u, i=1",
                    .size = 4,
                    .ra = 10,
                    .rr = 16,
                    .a = LIST(0x3E99999A, 0xBF800000, 0x3F7D70A4),
                    .na = 3,
                    .out = LIST(0x3E23D70B, 0, 0x3F7EF9DB),
                    .nout = 3,
                    .flags = NX};

    for (unsigned i = 0; i < 3; i++) {
        put_elements(g, TABLE + 20 * i, 4, curve, 5);
    }
    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x222C); /* NORM_IDX, SIZE_P1, 5 entries */
    check_op(g, "24", &op);
    op.text = "GFX.LUT1D x%u, x%u";
    op.a = LIST(0x3E99999A, 0xBF800000, 0x3EC00000);
    op.out = LIST(0x3DCCCCCD, 0, 0x3ECCCCCD);
    op.flags = 0;
    check_op(g, "25", &op);
    put_elements(g, TABLE, 4, cube, 24);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x1115);
    op.text = "GFX.LUT3D x%u, x%u, i=1";
    op.a = LIST(0x3E4CCCCD, 0x3F000000, 0x3F333333);
    op.out = LIST(0x3E8CCCCD, 0x3F000000, 0x3FB33333);
    op.flags = NX;
    check_op(g, "26", &op);
    guest_free(g);
}

/* ---- depth -----------------------------------------------------------------------------------
 */

static void depth_buffer(struct guest *g, unsigned w, unsigned h, unsigned pitch)
{
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, pitch);
    guest_csrw(g, FACET_CSR_GFXZWH, (uint64_t)h << 32 | w);
}

TEST(examples_27_and_28_depth_test, "GFX-177 GFX-184 GFX-185 GFX-189 GFX-080 GFX-191")
{
    static const uint32_t before[4] = {0x3F800000, 0x3F000000, 0x3E800000, 0x3F400000};
    static const uint32_t z[5] = {0x3F000000, 0x3F19999A, 0x3E99999A, 0x7FC00000, 0x3DCCCCCD};
    static const uint32_t at[5] = {0, 1, 0, 0x10000, 5};

    for (unsigned way = 0; way < 8; way++) {
        struct guest *g = gfx_make();
        bool freg = (way & 1) != 0, lds = (way & 2) != 0, reverse = (way & 4) != 0;
        uint64_t buffer = lds ? LDS : DEPTH;

        set_cfg(g, EN | (freg ? FREG : 0));
        depth_buffer(g, 2, 2, 8);
        guest_csrw(g, FACET_CSR_GFXZBASE, buffer);
        guest_csrw(g, FACET_CSR_GFXZCFG, 8 | (reverse ? 32 : 0));
        put_elements(g, buffer, 4, before, 4);
        for (unsigned i = 0; i < 5; i++) {
            if (freg) {
                g->hart->f[10 + i] = z[i];
            } else {
                g->hart->x[10 + i] = z[i];
            }
            g->hart->x[15 + i] = at[i];
        }
        guest_csrw(g, FACET_CSR_SVSTATE, 4 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
        guest_ok(g, reverse ? "GFX.ZTEST x30, x10\n" : "GFX.ZTEST x30, x10, w=1\n");
        CHECK_EQ(g->hart->x[30], reverse ? 2 : 5);
        CHECK_EQ(raised(g), FACET_NV | FACET_QNAN);
        CHECK_EQ(guest_load(g, buffer, 4), reverse ? 0x3F800000 : 0x3E99999A);
        for (unsigned i = 1; i < 4; i++) {
            CHECK_EQ(guest_load(g, buffer + 4 * i, 4), before[i]);
        }
        guest_free(g);
    }
}

TEST(example_29_pyramid, "GFX-198 GFX-203 GFX-205")
{
    static const uint32_t rows[3][5] = {{0x2E66, 0x3266, 0x34CD, 0x3666, 0x3800},
                                        {0x30CD, 0x3400, 0x359A, 0x3733, 0x3866},
                                        {0x3266, 0x34CD, 0x3666, 0x3800, 0x8000}};
    static const uint32_t level0[6] = {0x2E66, 0x34CD, 0x3800, 0x3266, 0x3666, 0x8000};
    struct guest *g = gfx_make();

    set_mode(g, MODE_FP16);
    depth_buffer(g, 5, 3, 16);
    for (unsigned y = 0; y < 3; y++) {
        put_elements(g, DEPTH + 16 * y, 2, rows[y], 5);
    }
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 2 << 8);
    g->hart->x[10] = PYRAMID;
    guest_ok(g, "GFX.HZ.BUILD x5, x10, hh=1, all=1\n");
    CHECK_EQ(g->hart->x[5], 8);
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(guest_load(g, PYRAMID + 2 * i, 2), level0[i]);
    }
    CHECK_EQ(guest_load(g, PYRAMID + 12, 4), 0);
    CHECK_EQ(guest_load(g, PYRAMID + 64, 8), 0x80002E66);
    CHECK_EQ(raised(g), 0);
    guest_free(g);
}

/* ---- culling ---------------------------------------------------------------------------------
 */

TEST(examples_30_to_34_planes, "GFX-233 GFX-234 GFX-236 GFX-038 GFX-378 GFX-031 GFX-037")
{
    static const uint32_t plane[4] = {ONE_F, 0, 0, 0xBF800000};
    static const uint32_t points[4][4] = {{HALF_F, 0, 0, ONE_F},
                                          {0x40000000, 0, 0, ONE_F},
                                          {0xC0400000, 0, 0, 0xBF800000},
                                          {ONE_F, 0, 0, ONE_F}};
    static const unsigned inside[4] = {0x3, 0xC, 0x3, 0x5}; /* bit tt */
    struct guest *g = gfx_make();

    for (unsigned p = 0; p < 6; p++) {
        put_plane(g, p, plane);
    }
    for (unsigned way = 0; way < 2; way++) {
        set_cfg(g, EN | (way != 0 ? FREG : 0));
        for (unsigned p = 0; p < 4; p++) {
            for (unsigned k = 0; k < 4; k++) {
                if (way != 0) {
                    g->hart->f[10 + k] = points[p][k];
                } else {
                    g->hart->x[10 + k] = points[p][k];
                }
            }
            for (unsigned tt = 0; tt < 4; tt++) {
                guest_ok(g,
                         "GFX.CULL.PLANE x5, x10, tt=%u\n GFX.CULL.FRUSTUM x6, x10, tt=%u\n"
                         "GFX.CULL.PLANE x7, x10, tt=%u, k=1\n",
                         tt,
                         tt,
                         tt);
                CHECK_EQ(g->hart->x[5], inside[p] >> tt & 1);
                CHECK_EQ(g->hart->x[6], inside[p] >> tt & 1);
                CHECK_EQ(g->hart->x[7], (~inside[p] >> tt) & 1);
            }
        }
    }
    set_cfg(g, EN);
    for (unsigned z = 0; z < 2; z++) {
        for (unsigned p = 0; p < 4; p++) {
            for (unsigned k = 0; k < 4; k++) {
                g->hart->x[10 + p + 4 * k] = points[p][k];
            }
        }
        guest_csrw(g, FACET_CSR_SVSTATE, 3 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
        guest_ok(g, "GFX.CULL.PLANE x5, x10, z=%u\n", z);
        CHECK_EQ(g->hart->x[5], z == 0 ? 0xD : 0x9);
    }
    CHECK_EQ(raised(g), 0);
    guest_free(g);
}

TEST(examples_35_and_36_boxes, "GFX-241 GFX-242 GFX-244 GFX-245 GFX-005")
{
    static const uint32_t planes[6][4] = {{ONE_F, 0, 0, 0xBF800000},
                                          {0xBF800000, 0, 0, 0xBF800000},
                                          {0, ONE_F, 0, 0xBF800000},
                                          {0, 0xBF800000, 0, 0xBF800000},
                                          {0, 0, ONE_F, 0xBF800000},
                                          {0, 0, 0xBF800000, 0}};
    static const uint32_t matrix[16] = {
        ONE_F, 0, 0, 0x3FC00000, 0, ONE_F, 0, 0, 0, 0, ONE_F, 0, 0, 0, 0, ONE_F};
    static const uint32_t boxes[2][6] = {
        {0xBE800000, 0xBE800000, 0x3E800000, 0x3E800000, 0x3E800000, 0x3F000000},
        {0xBF800000, 0xBE800000, 0x3E800000, 0x3E800000, 0x3E800000, 0x3F000000}};
    static const unsigned survives[2] = {0x3, 0x7}; /* bit 2f + x */
    struct guest *g = gfx_make();

    for (unsigned p = 0; p < 6; p++) {
        put_plane(g, p, planes[p]);
    }
    put_elements(g, TABLE, 4, matrix, 16);
    g->hart->x[8] = TABLE;
    guest_ok(g, "mtx.ld x8, shape=15, rowmajor=1\n");
    for (unsigned b = 0; b < 2; b++) {
        for (unsigned k = 0; k < 6; k++) {
            g->hart->x[10 + k] = boxes[b][k];
        }
        for (unsigned fx = 0; fx < 4; fx++) {
            guest_ok(g,
                     "GFX.CULL.AABB x5, x10, f=%u, x=%u\n GFX.CULL.AABB x6, x10, f=%u, x=%u, k=1\n",
                     fx >> 1,
                     fx & 1,
                     fx >> 1,
                     fx & 1);
            CHECK_EQ(g->hart->x[5], survives[b] >> fx & 1);
            CHECK_EQ(g->hart->x[6], ~survives[b] >> fx & 1);
        }
    }
    CHECK_EQ(raised(g), 0);
    CHECK_EQ(guest_csr(g, FACET_CSR_MTXSTAT) & 0xFFFF, 0); /* the transform is not counted */
    guest_free(g);
}

TEST(example_37_compose, "GFX-247 GFX-248 GFX-249 GFX-250 GFX-251")
{
    static const uint64_t results[8] = {0x51,
                                        0xA2,
                                        0xF7,
                                        UINT64_C(0xFFFFFFFFFFFFFFFB),
                                        0xA6,
                                        UINT64_C(0xFFFFFFFFFFFFFF59),
                                        0x55,
                                        UINT64_C(0xFFFFFFFFFFFFFFAA)};
    struct guest *g = gfx_make();

    for (unsigned i = 0; i < 8; i++) {
        g->hart->units.pmask.bank[1] = 0xF3;
        g->hart->units.pmask.bank[2] = 0x55;
        guest_ok(g, "GFX.CULL.COMPOSE 3, 1, 2, op=%u, inv=%u\n", i / 2, i % 2);
        CHECK_EQ(g->hart->units.pmask.bank[3], results[i]);
        CHECK_EQ(g->hart->units.pmask.p0, results[i] & 1);
        CHECK_EQ(g->hart->units.pmask.bank[1], 0xF3);
        CHECK_EQ(g->hart->units.pmask.bank[2], 0x55);
    }
    guest_free(g);
}

TEST(example_38_compact, "GFX-256 GFX-258 GFX-259 GFX-381 GFX-254 GFX-255")
{
    static const uint64_t words[6] = {0x101, 0x2010, 7, 0x103, 0x2030, 0x15};

    for (unsigned way = 0; way < 4; way++) {
        struct guest *g = gfx_make();
        bool memory = (way & 1) != 0;
        uint64_t stream = (way & 2) != 0 ? LDS + 64 : STREAM;

        set_cfg(g, EN | (memory ? BMEM : 0));
        g->hart->units.pmask.bank[1] = 0xA;
        for (unsigned i = 0; i < 4; i++) {
            const uint64_t slot[7] = {0x100 + i, 0x2000 + 16 * i, 99, 99, 7 * i, 99, 99};

            for (unsigned j = 0; j < 7; j++) {
                if (memory) {
                    guest_store(g, MEM_B + 8 * (4 * j + i), 8, slot[j]);
                } else {
                    g->hart->x[(11 + i + 4 * j) % 32] = slot[j]; /* SVSRCB */
                }
            }
        }
        if (memory) {
            g->hart->x[11] = MEM_B;
        }
        g->hart->x[10] = stream;
        g->hart->x[9] = 77;
        guest_csrw(g, FACET_CSR_SVSRCB, FACET_SVSRCB_V | UINT64_C(1) << 8 | 11);
        guest_csrw(g, FACET_CSR_SVSTATE, 3 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
        guest_ok(g, "GFX.CULL.COMPACT x9, x10, aa=1, rr=1, cc=1, ps=1\n");
        CHECK_EQ(g->hart->x[9], 2);
        for (unsigned i = 0; i < 6; i++) {
            CHECK_EQ(guest_load(g, stream + 8 * i, 8), words[i]);
        }
        CHECK_EQ(guest_load(g, stream + 48, 8), 0);
        guest_free(g);
    }
}

/* ---- tables ----------------------------------------------------------------------------------
 */

TEST(wrap_table, "GFX-023 GFX-024 GFX-025 GFX-026 GFX-131 GFX-132 GFX-022")
{
    static const struct {
        uint32_t u, clamp, repeat, mirror, border;
    } rows[] = {
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
    struct guest *g = gfx_make();

    texture(g, 0x02, 4, 1, 4);
    put_bytes(g, TEXTURE, (const uint8_t[]){10, 20, 30, 40}, 4);
    guest_csrw(g, FACET_CSR_GFXBORDERC, 0x42C60000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t want[4] = {rows[i].clamp, rows[i].repeat, rows[i].mirror, rows[i].border};

        for (unsigned wrap = 0; wrap < 4; wrap++) {
            guest_csrw(g, FACET_CSR_GFXWRAP, wrap);
            g->hart->x[10] = rows[i].u;
            g->hart->x[11] = 0;
            guest_ok(g, "GFX.SAMPLE x16, x10\n");
            CHECK_EQ(g->hart->x[16], want[wrap]);
            guest_csrw(g, FACET_CSR_GFXWRAP, 3 - wrap); /* the instruction's own mode */
            guest_ok(g, "GFX.SAMPLE x20, x10, w=1, wrap=%u\n", wrap);
            CHECK_EQ(g->hart->x[20], want[wrap]);
        }
    }
    guest_free(g);
}

static const struct {
    const char *text;
    uint32_t word;
    const char *ids;
} encodings[] = {
    {"GFX.SAMPLE x16, x10, m=1, f=1", 0xF805282B, "GFX-117"},
    {"GFX.SAMPLE x16, x10, ppp=1, w=1, wrap=2", 0x2485282B, "GFX-117"},
    {"GFX.SAMPLE.GATH x16, x10, n=5, p=1, s=1", 0xEAD5282B, "GFX-135"},
    {"GFX.INTERP x16, x10, M=1, B=1", 0xF405382B, "GFX-155"},
    {"GFX.SHADE x16, x10, OO=2, L=1, nc=3", 0xF4C5482B, "GFX-164"},
    {"GFX.LUT1D x16, x10, i=1", 0xE815482B, "GFX-206"},
    {"GFX.LUT3D x16, x10, i=1, c=1", 0xFC15482B, "GFX-206"},
    {"GFX.ZTEST x5, x10, w=1, e=1, pd=1", 0xF94552AB, "GFX-175"},
    {"GFX.ZWRITE x10", 0x4045502B, "GFX-192"},
    {"GFX.FENCE 3, 2", 0x00E0502B, "GFX-215"},
    {"GFX.HZ.BUILD x5, x10, tt=1, ll=1, hh=3", 0xEB8512AB, "GFX-197"},
    {"GFX.CULL.AABB x5, x10, f=1, pd=1", 0x205512AB, "GFX-240"},
    {"GFX.CULL.PLANE x5, x10, z=1, idx=4, pd=1", 0x0C4562AB, "GFX-232"},
    {"GFX.CULL.FRUSTUM x5, x10, z=1, pd=1", 0x084572AB, "GFX-238"},
    {"GFX.CULL.COMPOSE 1, 1, 2, op=0, inv=1", 0x22C0002B, "GFX-246"},
    {"GFX.CULL.COMPACT x5, x10, aa=1, rr=1, cc=1, ps=1", 0x155502AB, "GFX-252"},
};

static uint32_t assemble_word(const char *text)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "one.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint8_t *bytes = NULL;
    uint64_t base = 0;
    size_t size = 0;
    uint32_t word = 0;

    if (CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                  "%s: %s",
                  text,
                  err.message) &&
        facet_object_flatten(result.object, &bytes, &size, &base, &err) == FACET_OK && size == 4) {
        word = facet_load_le32(bytes);
    }
    free(bytes);
    facet_asm_result_free(&result);
    return word;
}

TEST(encoding_table, "")
{
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_XPHMG, encodings[i].word);
        size_t length = strcspn(encodings[i].text, " ");

        harness_row(encodings[i].ids);
        CHECK_EQ(assemble_word(encodings[i].text), encodings[i].word);
        CHECK_MSG(row != NULL && strlen(row->mnemonic) == length &&
                      strncmp(row->mnemonic, encodings[i].text, length) == 0,
                  "%s",
                  encodings[i].text);
    }
    /* bits that no row has: imm[9] of FRUSTUM, rs1 of FENCE, bits 28:27 of COMPOSE */
    CHECK_ID("GFX-238", facet_isa_decode(FACET_ISA_XPHMG, 0x084572AB | 1u << 29) == NULL);
    CHECK_ID("GFX-215", facet_isa_decode(FACET_ISA_XPHMG, 0x00E0502B | 1u << 15) == NULL);
    CHECK_ID("GFX-246", facet_isa_decode(FACET_ISA_XPHMG, 0x22C0002B | 1u << 27) == NULL);
}

TEST(rows_of_the_table, "GFX-002 GFX-093 GFX-094 GFX-366 GFX-367 GFX-114")
{
    static const struct {
        const char *name;
        unsigned funct3;
    } seed[] = {{"GFX.SAMPLE", 2},
                {"GFX.SAMPLE.GATH", 2},
                {"GFX.INTERP", 3},
                {"GFX.SHADE", 4},
                {"GFX.LUT1D", 4},
                {"GFX.LUT3D", 4},
                {"GFX.ZTEST", 5},
                {"GFX.ZWRITE", 5},
                {"GFX.FENCE", 5},
                {"GFX.HZ.BUILD", 1},
                {"GFX.CULL.AABB", 1},
                {"GFX.CULL.PLANE", 6},
                {"GFX.CULL.FRUSTUM", 7},
                {"GFX.CULL.COMPOSE", 0},
                {"GFX.CULL.COMPACT", 0}};
    const struct facet_insn_row *rows[sizeof seed / sizeof seed[0]];
    unsigned count = 0, with_alt = 0;
    bool has_ppp, has_alt;

    for (unsigned i = 0; i < FACET_XPHMG_OP_COUNT; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_XPHMG][i];

        if (strncmp(row->mnemonic, "GFX.", 4) != 0 || !CHECK(count < 15)) {
            continue;
        }
        rows[count++] = row;
        CHECK_EQ(row->match & 0x7F, 0x2B);
        CHECK_EQ(row->mask & 0x7F, 0x7F);
        CHECK(facet_isa_decode(FACET_ISA_XPHMG, row->match) == row);
        for (size_t k = 0; k < sizeof seed / sizeof seed[0]; k++) {
            if (strcmp(seed[k].name, row->mnemonic) == 0) {
                CHECK_EQ(row->match >> 12 & 7, seed[k].funct3);
                CHECK_EQ(row->mask >> 12 & 7, 7);
            }
        }
        has_ppp = strcmp(row->mnemonic, "GFX.CULL.PLANE") == 0 ||
                  strcmp(row->mnemonic, "GFX.CULL.FRUSTUM") == 0 ||
                  strcmp(row->mnemonic, "GFX.CULL.AABB") == 0; /* alt without ppp */
        has_alt = false;
        for (unsigned k = 0; k < row->operand_count; k++) { /* options live in bits 31:20 */
            const struct facet_operand *op = &row->operands[k];
            bool is_register = strcmp(op->name, "rd") == 0 || strcmp(op->name, "rs1") == 0;
            uint32_t one = 0; /* bits of the operand */

            for (unsigned p = 0; p < op->piece_count; p++) {
                one |= ((1u << op->pieces[p].width) - 1) << op->pieces[p].word_lo;
            }
            CHECK_MSG(is_register || (one & 0xFFFFF) == 0, "%s %s", row->mnemonic, op->name);
            CHECK_MSG(strcmp(op->name, "alt") != 0 || one == 1u << 21, "%s", row->mnemonic);
            has_ppp |= strcmp(op->name, "ppp") == 0;
            has_alt |= strcmp(op->name, "alt") == 0;
        }
        CHECK_EQ(has_ppp, has_alt);
        with_alt += has_alt;
    }
    CHECK_EQ(count, 15);
    CHECK_EQ(with_alt, 11);
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = i + 1; k < count; k++) {
            uint32_t both = rows[i]->mask & rows[k]->mask;

            CHECK_MSG((rows[i]->match & both) != (rows[k]->match & both),
                      "%s and %s",
                      rows[i]->mnemonic,
                      rows[k]->mnemonic);
        }
    }
}

/* Nothing of these results hangs on RT, on the optional trailer of descriptors or on hints. */
static void all_examples(void)
{
    test_examples_1_to_4_sample();
    test_examples_5_to_7_srgb();
    test_example_45_srgb_under_every_mode();
    test_examples_8_and_9_formats();
    test_examples_10_and_11_integers();
    test_examples_12_to_15_gather();
    test_examples_16_to_19_interp();
    test_examples_20_to_23_shade();
    test_examples_24_to_26_lut();
    test_examples_27_and_28_depth_test();
    test_example_29_pyramid();
    test_examples_30_to_34_planes();
    test_examples_35_and_36_boxes();
    test_example_37_compose();
    test_example_38_compact();
}

TEST(examples_on_a_machine_without_rt, "GFX-007 GFX-008")
{
    gfx_without = FACET_CAP_FEAT0_RT_PRESENT;
    all_examples();
    gfx_without = 0;
}

TEST(examples_with_every_hint_set, "GFX-320")
{
    gfx_hints = true;
    all_examples();
    gfx_hints = false;
}
