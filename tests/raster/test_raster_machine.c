/* Graphics and texture instructions as kernels execute them: encodings, rd and CSRs, error reports,
 * which memory they see and when a core sees theirs (tile-semantics.md 8, 11.1, 14), and a vertex
 * kernel that feeds GDRAW (15.8). */
#include "base/float.h"
#include "tile/kernel.h"

#include <stdio.h>

enum { SIDE = 16 };
/* config */
enum { TEX_NORM = 1 << 7, TEX_PTR = 1 << 8 };

/* Descriptors and buffers, from DATA on. */
#define RSTATE_AT (DATA + 0x000)
#define GSTATE_AT (DATA + 0x040)
#define GPARAM_AT (DATA + 0x0C0)
#define SETUP_AT (DATA + 0x100)
#define RDRAW_AT (DATA + 0x160)
#define RRECT_AT (DATA + 0x170)
#define GDRAW_AT (DATA + 0x180)
#define SAMPLER_AT (DATA + 0x1A0)
#define ARGS_AT (DATA + 0x1C0)
#define MVP_AT (DATA + 0x200)
#define VERTICES_AT (DATA + 0x400)
#define OUT_AT (DATA + 0x800)
#define TEXTURE_AT (DATA + 0xC00)
#define COLOR_AT (DATA + 0x1000)

static struct kernel k;

static void words(uint32_t at, const uint32_t *value, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        kernel_put(&k, at + 4 * i, value[i]);
    }
}

static uint32_t pixel(unsigned x, unsigned y)
{
    return kernel_get(&k, COLOR_AT + 4 * (SIDE * y + x));
}

/* Lower left half of the picture, as a block for RDRAW and as vertices for GDRAW. */
static void scene(void)
{
    static const float corner[3][2] = {{0, 0}, {SIDE, SIDE}, {0, SIDE}};
    const uint32_t rstate[4] = {COLOR_AT, 4 * SIDE, 1, SIDE | SIDE << 16};
    const uint32_t gstate[4] = {VERTICES_AT, 20 | 1 << 19, 0, 0};
    const uint32_t draw[6] = {0, 0, 3, 0, 0xFFFFFFFF, 0};
    const uint32_t rdraw[2] = {0xFFFF, 0},
                   rrect[4] = {0x1FFFF, 2 | 1 << 16, 3 | 2 << 16, 0x77777777};

    words(RSTATE_AT, rstate, 4);
    words(GSTATE_AT, gstate, 4);
    words(GDRAW_AT, draw, 6);
    words(RDRAW_AT, rdraw, 2);
    words(RRECT_AT, rrect, 4);
    for (unsigned i = 0; i < 4; i++) {
        kernel_put(&k, GSTATE_AT + 16 + 20 * i, facet_float_bits(1));
    }
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t block = SETUP_AT + 32 * i, vertex = VERTICES_AT + 20 * i;

        kernel_put(&k, block, facet_float_bits(corner[i][0]));
        kernel_put(&k, block + 4, facet_float_bits(corner[i][1]));
        kernel_put(&k, block + 12, facet_float_bits(1));
        kernel_put(&k, block + 24, 0xFF00AA00);
        kernel_put(&k, vertex, facet_float_bits(corner[i][0] / (SIDE / 2) - 1));
        kernel_put(&k, vertex + 4, facet_float_bits(1 - corner[i][1] / (SIDE / 2)));
        kernel_put(&k, vertex + 12, facet_float_bits(1));
        kernel_put(&k, vertex + 16, 0xFF0000BB);
    }
    memset(k.s, 0, sizeof k.s);
    k.s[1] = DATA;
    k.s[2] = GDRAW_AT;
}

TEST(graphics_instructions, "")
{
    static const struct {
        const char *text;
        uint32_t word;
        const char *ids;
    } rows[] = {
        {"RSTATE s1, 0(s3)", 0x00018094, "TILE-356 TILE-360"},
        {"RSETUP s1, 0(s3)", 0x00019094, "TILE-361"},
        {"RDRAW s1, 0(s3)", 0x0001A094, "TILE-362"},
        {"RRECT s1, 0(s3)", 0x0001B094, "TILE-364"},
        {"GSTATE s1, 0(s3)", 0x0001C094, "TILE-398 TILE-414"},
        {"GPARAM s1, 0(s3)", 0x0001D094, "TILE-398 TILE-416"},
        {"GDRAW s1, 16(s3)", 0x0101E094, "TILE-398 TILE-417"},
        {"AADD s1, s2, (s3), rlx", 0x80218094, ""},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        harness_row(rows[i].ids);
        CHECK_EQ(kernel_word(rows[i].text), rows[i].word);
        /* One opcode for graphics and atomics. */
        CHECK_ID("TILE-355", (kernel_word(rows[i].text) & 0x7F) == 0x14);
    }
    kernel_open(&k, NULL);
    scene();
    k.s[3] = SETUP_AT;
    kernel_exec(&k,
                "RSTATE s10, 0(s1)\nRSTATE s11, 0(s1)\nRSETUP s12, 0(s3)\nADDI s4, s1, 0x160\n"
                "RDRAW s13, 0(s4)\nRRECT s14, 16(s4)\nADDI s4, s1, 0x40\nGSTATE s15, 0(s4)\n"
                "ADDI s4, s1, 0xC0\nGPARAM s16, 0(s4)\nCSRR s17, 0xC23");
    harness_row("TILE-358");
    CHECK_EQ(k.s[10], 0);
    CHECK_EQ(k.s[11], 1);
    CHECK_EQ(k.s[12], 1); /* tokens: RSETUP, RDRAW, RRECT */
    CHECK_EQ(k.s[13], 2);
    CHECK_EQ(k.s[14], 3);
    CHECK_ID("TILE-415", k.s[15] == 0);
    CHECK_ID("TILE-543", (kernel_csr(&k, 0, "hwinfo") >> 15 & 1) == 1);
    CHECK_EQ(k.s[16], 0);
    CHECK_EQ(k.s[17], 3); /* gfx_token */
    CHECK_EQ(k.status, 0);
    CHECK_ID("TILE-361 TILE-362 TILE-574", pixel(0, 12) == 0xFF00AA00);
    CHECK_EQ(pixel(12, 0), 0);
    CHECK_ID("TILE-360 TILE-364", pixel(4, 2) == 0x77777777);
    CHECK_ID("TILE-364", pixel(5, 2) == 0);
    kernel_exec(&k,
                "RSTATE s0, 0(s1)\nADDI s4, s1, 0x40\nGSTATE s0, 0(s4)\nGDRAW s13, 0(s2)\n"
                "CSRR s17, 0xC23");
    CHECK_EQ(k.s[13], 1); /* the context was reset with the tile */
    CHECK_EQ(k.s[17], 1);
    CHECK_ID("TILE-414 TILE-417", pixel(0, 12) == 0xFF0000BB);
    kernel_close(&k);
}

TEST(graphics_errors, "")
{
    kernel_open(&k, NULL);
    scene();
    k.s[3] = 0x20;
    /* BAD_STATE first, then BAD_MEM and BAD_ALIGN: the first code stays, the count goes on */
    kernel_exec(&k,
                "ADDI s4, s1, 0x160\nRDRAW s10, 0(s4)\nRSTATE s11, 0(s3)\nRSTATE s12, 4(s1)\n"
                "CSRR s13, 0x00A\nCSRR s14, 0xC23\nCSRR s15, int_status");
    CHECK_EQ(k.s[10], 0xFFFFFFFF);
    CHECK_EQ(k.s[11], 0xFFFFFFFF);
    CHECK_EQ(k.s[12], 0xFFFFFFFF);
    CHECK_EQ(k.s[13], 3 << 8 | 3);
    CHECK_EQ(k.s[14], 0);
    CHECK(k.s[15] != 0);
    CHECK_EQ(k.status, ST_GERR);
    CHECK_EQ(k.cause, 0);
    kernel_close(&k);
}

/* ---- what the unit sees, and when it is seen ---- */

TEST(inputs_are_published_memory, "TILE-393 TILE-394 TILE-460")
{
    for (unsigned membar = 0; membar < 2; membar++) {
        for (unsigned strong = 0; strong < 2; strong++) {
            const struct facet_tile_config config = {.strong = strong};
            const uint32_t seen = membar || strong ? 0xFF123456 : 0xFF0000BB;

            kernel_open(&k, &config);
            scene();
            /* The kernel recolours all three vertices; GDRAW reads memory as published. */
            k.s[5] = 0xFF123456;
            k.s[6] = VERTICES_AT;
            kernel_exec(&k,
                        membar ? "SW s5, 16(s6)\nSW s5, 36(s6)\nSW s5, 56(s6)\nMEMBAR\n"
                                 "RSTATE s0, 0(s1)\nADDI s4, s1, 0x40\nGSTATE s0, 0(s4)\n"
                                 "GDRAW s13, 0(s2)"
                               : "SW s5, 16(s6)\nSW s5, 36(s6)\nSW s5, 56(s6)\n"
                                 "RSTATE s0, 0(s1)\nADDI s4, s1, 0x40\nGSTATE s0, 0(s4)\n"
                                 "GDRAW s13, 0(s2)");
            CHECK_EQ(k.s[13], 1);
            CHECK_EQ(pixel(0, 12), seen);
            kernel_close(&k);
        }
    }
}

TEST(outputs_are_seen_after_membar, "TILE-393 TILE-395 TILE-462")
{
    for (unsigned strong = 0; strong < 2; strong++) {
        const struct facet_tile_config config = {.strong = strong};

        kernel_open(&k, &config);
        scene();
        k.s[7] = COLOR_AT + 4 * (SIDE * 12);
        kernel_exec(&k,
                    "LW s20, 0(s7)\nRSTATE s0, 0(s1)\nADDI s4, s1, 0x40\nGSTATE s0, 0(s4)\n"
                    "GDRAW s13, 0(s2)\nLW s21, 0(s7)\nMEMBAR\nLW s22, 0(s7)");
        CHECK_EQ(k.s[20], 0);
        CHECK_EQ(k.s[21], strong ? 0xFF0000BB : 0); /* its line was cached before the draw */
        CHECK_EQ(k.s[22], 0xFF0000BB);
        CHECK_EQ(pixel(0, 12), 0xFF0000BB);
        kernel_close(&k);
    }
}

/* COUNT stays at its largest value. */
TEST(errors_are_counted_to_the_end, "")
{
    kernel_open(&k, NULL);
    scene();
    kernel_put(&k, GSTATE_AT, 0x10000000); /* no vertex is there */
    kernel_put(&k, GDRAW_AT + 8, 0xFFFFFFFF);
    kernel_put(&k, GDRAW_AT + 12, 1);
    kernel_exec(&k,
                "RSTATE s0, 0(s1)\nADDI s4, s1, 0x40\nGSTATE s0, 0(s4)\nGDRAW s13, 0(s2)\n"
                "CSRR s10, gerror\nGDRAW s14, 0(s2)\nCSRR s16, gerror\nRSTATE s15, 4(s1)\nCSRR "
                "s11, gerror\n"
                "CSRW gerror, s1\nCSRR s12, gerror");
    CHECK_EQ(k.s[13], 1); /* dropped triangles do not make a draw fail */
    CHECK_EQ(k.s[14], 2);
    CHECK_EQ(k.s[15], 0xFFFFFFFF);
    CHECK_EQ(k.s[10], 0xFFFFFF06);
    CHECK_EQ(k.s[16], 0xFFFFFF06);
    CHECK_EQ(k.s[11], 0xFFFFFF06);
    CHECK_EQ(k.s[12], 0);
    kernel_close(&k);
}

/* Instructions are fetched from memory as it is now: what an atomic, a draw or a vector atomic has
 * put there runs, also where another instruction has run before. */
TEST(code_that_changes, "")
{
    static const char *const how[] = {
        "AXCHG s0, s8, (s7)", "RRECT s0, 0(s4)", "VATOM.XCHG v0, v3, 0(s7)"};

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned strong = 0; strong < 2; strong++) {
            const struct facet_tile_config config = {.strong = strong};
            const uint32_t word = kernel_word("ADDI s6, s6, 16");
            const uint32_t rrect[4] = {0x1FFFF, 1, 1 | 1 << 16, word};
            char text[200];

            kernel_open(&k, &config);
            scene();
            kernel_put(&k, RSTATE_AT, VRAM); /* the picture lies over the kernel */
            words(RRECT_AT, rrect, 4);
            k.s[4] = RRECT_AT;
            k.s[8] = word;
            k.s[7] = VRAM + 4;
            k.v[3] = (union vec){.w = {word,
                                       kernel_word("BNE s5, s0, 16"),
                                       kernel_word("ADDI s5, s0, 1"),
                                       kernel_word(how[i])}};
            (void)snprintf(text,
                           sizeof text,
                           "RSTATE s0, 0(s1)\nagain: ADDI s6, s6, 1\nBNE s5, s0, done\n"
                           "ADDI s5, s0, 1\n%s\nJ again\ndone: NOP",
                           how[i]);
            kernel_exec(&k, text);
            CHECK_EQ(k.cause, 0);
            CHECK_EQ(kernel_get(&k, VRAM + 4), word);
            CHECK_EQ(k.s[6], 17);
            kernel_close(&k);
        }
    }
}

/* ---- textures ---- */

static void texture(void)
{
    const uint32_t descriptor[8] = {TEXTURE_AT, 64, 16, 1, 1, 0, 0, 0};

    words(SAMPLER_AT, descriptor, 8);
    words(SAMPLER + 32 * 7, descriptor, 8);
    for (uint32_t i = 0; i < 16; i++) {
        kernel_put(&k, TEXTURE_AT + 4 * i, 0x10203000 + i);
    }
    memset(k.s, 0, sizeof k.s);
    k.v[1] = (union vec){.w = {5, 0, 0x99, 0x99}}; /* lanes 2 and 3 do not matter */
    k.v[2] = (union vec){.w = {1, 1, 1, 1}};
}

TEST(texture_instructions, "")
{
    harness_row("TILE-025 TILE-317");
    CHECK_EQ(kernel_word("TEX2D.N.F32 v3, v1, s2"), 0x16208193);
    CHECK_EQ(kernel_word("TEX2D.N.I32 v3, v1, s2"), 0x02208193);
    CHECK_EQ(kernel_word("TEX2D.B.I32 v3, v1, s2"), 0x02209193);
    kernel_open(&k, NULL);
    texture();
    k.s[2] = 7;
    k.s[3] = SAMPLER_AT;
    k.s[5] = 32;
    /* index mode, used at once; then pointer mode */
    kernel_exec(&k,
                "TEX2D.N.I32 v3, v1, s2\nVADD.I32 v4, v3, v2\nTEX2D.N.I8 v5, v1, s2\n"
                "TEX2D.N.I32 v6, v1, s5\nCSRR s10, status\n");
    harness_row("TILE-318 TILE-319 TILE-351");
    CHECK(k.v[3].w[0] == 0x20 && k.v[3].w[1] == 0x30 && k.v[3].w[2] == 5 && k.v[3].w[3] == 0x10);
    CHECK_ID("TILE-327 TILE-350", k.v[4].w[0] == 0x21 && k.v[4].w[2] == 6);
    CHECK_ID("TILE-326", k.v[5].w[0] == 0x10203005 && k.v[5].d[1] == 0);
    harness_row("TILE-319");
    CHECK(k.v[6].d[0] == 0 && k.v[6].d[1] == 0); /* no sampler 32 */
    CHECK_EQ(k.s[10], ST_TEXERR);
    CHECK_EQ(k.cause, 0);
    kernel_close(&k);
}

/* A texel may lie in two lines of the cache, or begin in the last byte of one. */
TEST(texels_over_two_lines, "TILE-045 TILE-330")
{
    for (unsigned strong = 0; strong < 2; strong++) {
        for (uint32_t shift = 61; shift < 65; shift++) {
            struct facet_tile_config config = {.strong = strong != 0};
            const uint32_t descriptor[8] = {TEXTURE_AT + shift, 64, 1, 1, 1, 0, 0, 0};

            kernel_open(&k, &config);
            texture();
            words(SAMPLER + 32 * 7, descriptor, 8);
            for (uint32_t i = 0; i < 128; i += 4) { /* byte n is n */
                kernel_put(&k, TEXTURE_AT + i, 0x03020100 + 0x04040404 * (i / 4));
            }
            k.s[2] = 7;
            kernel_exec(&k, "TEX2D.N.I8 v3, v1, s2");
            CHECK_EQ(k.v[3].w[0], shift | (shift + 1) << 8 | (shift + 2) << 16 | (shift + 3) << 24);
            kernel_close(&k);
        }
    }
}

TEST(texture_pointer_mode, "TILE-320 TILE-329 TILE-344 TILE-352 TILE-545")
{
    static const uint32_t descriptor[8] = {TEXTURE_AT, 64, 16, 1, 1, 0, 0, 0};

    kernel_open(&k, NULL);
    texture();
    words(TEXTURE_AT + 0x110, descriptor, 8); /* as good as any, at 32n + 16 */
    k.config = TEX_PTR;
    k.s[3] = SAMPLER_AT;
    k.s[4] = TEXTURE_AT + 0x110;
    k.s[6] = TEXTURE_AT + 32;
    /* The descriptor is read as loads are: the core's own store to it counts at once. */
    kernel_exec(&k,
                "TEX2D.N.I8 v3, v1, s3\nCSRR s10, status\nSW s6, 0(s3)\nTEX2D.N.I8 v4, v1, s3\n"
                "TEX2D.N.I8 v5, v1, s4\nCSRR s11, status\n");
    CHECK_EQ(k.v[3].w[0], 0x10203005);
    CHECK_EQ(k.s[10], 0);
    CHECK_EQ(k.v[4].w[0], 0x1020300D);
    CHECK_EQ(k.v[5].w[0], 0); /* not a multiple of 32 */
    CHECK_EQ(k.s[11], ST_TEXERR);
    CHECK_EQ(k.cause, 0);
    texture();
    k.config = TEX_PTR;
    k.s[3] = 0x20;          /* nothing there */
    k.s[4] = SAMPLER + 224; /* entry 7 of the table has an address too */
    kernel_exec(&k,
                "VMOV v3, v1\nTEX2D.N.I8 v3, v1, s3\nCSRRW s10, status, s0\nTEX2D.N.I8 v4, v1, s4\n"
                "CSRR s11, status\n");
    CHECK(k.v[3].d[0] == 0 && k.v[3].d[1] == 0);
    CHECK_EQ(k.s[10], ST_TEXERR);
    CHECK_EQ(k.cause, 0);
    CHECK_EQ(k.v[4].w[0], 0x10203005);
    CHECK_EQ(k.s[11], 0);
    texture();
    k.config = TEX_PTR | TEX_NORM;
    k.s[3] = SAMPLER_AT;
    k.v[1] = (union vec){.w = {0x8000, 0, 0, 0}}; /* half of 16 texels */
    kernel_exec(&k, "TEX2D.N.I8 v3, v1, s3");
    CHECK_EQ(k.v[3].w[0], 0x10203008);
    kernel_close(&k);
}

TEST(texels_are_fresh_after_membar, "TILE-045 TILE-046 TILE-328 TILE-537")
{
    for (unsigned strong = 0; strong < 2; strong++) {
        const struct facet_tile_config config = {.strong = strong};

        kernel_open(&k, &config);
        texture();
        k.s[2] = 7;
        k.s[6] = TEXTURE_AT + 20;
        k.s[7] = 0x77665544;
        kernel_exec(&k,
                    "SW s7, 0(s6)\nTEX2D.N.I8 v3, v1, s2\nMEMBAR\nTEX2D.N.I8 v4, v1, s2\n"
                    "LW s8, 0(s6)");
        CHECK_EQ(k.v[3].w[0], strong ? 0x77665544 : 0x10203005);
        CHECK_EQ(k.v[4].w[0], 0x77665544);
        CHECK_EQ(k.s[8], 0x77665544);
        /* A line that was sampled before stays, even when the store is published: a release and an
         * acquire reach the data cache alone. */
        texture();
        k.s[2] = 7;
        k.s[5] = TEXTURE_AT + 0x80;
        k.s[6] = TEXTURE_AT + 20;
        k.s[7] = 0x77665544;
        kernel_exec(&k,
                    "TEX2D.N.I8 v3, v1, s2\nSW s7, 0(s6)\nTEX2D.N.I8 v4, v1, s2\n"
                    "AADD s0, s0, (s5), aqrl\nTEX2D.N.I8 v5, v1, s2\nMEMBAR\n"
                    "TEX2D.N.I8 v6, v1, s2");
        CHECK_EQ(k.v[3].w[0], 0x10203005);
        CHECK_EQ(k.v[4].w[0], strong ? 0x77665544 : 0x10203005);
        CHECK_EQ(k.v[5].w[0], strong ? 0x77665544 : 0x10203005);
        CHECK_EQ(k.v[6].w[0], 0x77665544);
        kernel_close(&k);
    }
}

/* The raster unit may write where stores of cores may not; constants come from memory itself. */
TEST(constants_are_read_behind_the_caches, "TILE-524")
{
    for (unsigned strong = 0; strong < 2; strong++) {
        const struct facet_tile_config config = {.strong = strong};

        kernel_open(&k, &config);
        scene();
        k.packet.const_base = COLOR_AT;
        k.packet.const_size = 128;
        k.s[4] = RRECT_AT;
        k.s[7] = COLOR_AT;
        kernel_exec(&k,
                    "VLD.V.L v3, 64(s7)\nRSTATE s0, 0(s1)\nRRECT s13, 0(s4)\nVLD.V.L v4, 64(s7)\n"
                    "VLD.C v5, c4(s0)");
        CHECK_EQ(k.s[13], 1);
        CHECK_EQ(k.v[3].w[2], 0);
        CHECK_EQ(k.v[4].w[2], strong ? 0x77777777 : 0); /* its line was cached before the draw */
        CHECK_EQ(k.v[5].w[2], 0x77777777);
        CHECK_EQ(k.v[5].w[1], 0);
        kernel_close(&k);
    }
}

/* ---- CU-assist ---- */

/* Positions times mvp, as the geometry unit does it (17 step 3): t = m0*x, then fma with y, z, w.
 * The rest of a vertex, five words here, is copied. */
static const char vertex_kernel[] = "CSRR s5, 0xC02\n" /* arg_base */
                                    "LW s10, 0(s5)\n"  /* in_vbo */
                                    "LW s11, 4(s5)\n"  /* out_vbo */
                                    "LW s12, 8(s5)\n"  /* count */
                                    "LW s13, 12(s5)\n" /* stride, of both */
                                    "LW s14, 16(s5)\n" /* mvp_ptr */
                                    "ADDI s15, s0, 16\n"
                                    "VLD.S v1, (s14), s15\n" /* columns */
                                    "ADDI s14, s14, 4\n"
                                    "VLD.S v2, (s14), s15\n"
                                    "ADDI s14, s14, 4\n"
                                    "VLD.S v3, (s14), s15\n"
                                    "ADDI s14, s14, 4\n"
                                    "VLD.S v4, (s14), s15\n"
                                    "next:\n"
                                    "BEQ s12, s0, done\n"
                                    "VLD.V v5, 0(s10)\n"
                                    "VSHUF v6, v5, 0x00\n"
                                    "VMUL.F32 v7, v1, v6\n"
                                    "VSHUF v6, v5, 0x55\n"
                                    "VFMA.F32 v7, v2, v6\n"
                                    "VSHUF v6, v5, 0xAA\n"
                                    "VFMA.F32 v7, v3, v6\n"
                                    "VSHUF v6, v5, 0xFF\n"
                                    "VFMA.F32 v7, v4, v6\n"
                                    "VST.V v7, 0(s11)\n"
                                    "ADDI s16, s0, 16\n" /* the other words of the vertex */
                                    "copy:\n"
                                    "LW.R s17, s16(s10)\n"
                                    "SW.R s17, s16(s11)\n"
                                    "ADDI s16, s16, 4\n"
                                    "BLT s16, s13, copy\n"
                                    "ADD s10, s10, s13\n"
                                    "ADD s11, s11, s13\n"
                                    "ADDI s12, s12, -1\n"
                                    "J next\n"
                                    "done:\n"
                                    "MEMBAR\n";

TEST(cu_assist_vertex_kernel, "")
{
    enum { COUNT = 12, STRIDE = 36 };
    const uint32_t args[8] = {VERTICES_AT, OUT_AT, COUNT, STRIDE, MVP_AT, 0, 0, 0};
    uint32_t expected[SIDE * SIDE];
    unsigned drawn = 0;

    kernel_open(&k, NULL);
    scene();
    words(ARGS_AT, args, 8);
    CHECK_ID("TILE-466", ARGS_AT % 16 == 0 && sizeof args == 32);
    for (unsigned i = 0; i < 16; i++) {
        const uint32_t m =
            facet_float_bits((i % 5 == 0 ? 1.0f : 0) + (float)(harness_random() % 64) / 256);

        kernel_put(&k, MVP_AT + 4 * i, m);
        kernel_put(&k, GSTATE_AT + 16 + 4 * i, m);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        const uint32_t at = VERTICES_AT + STRIDE * i;

        for (unsigned n = 0; n < 8; n++) {
            kernel_put(
                &k, at + 4 * n, facet_float_bits((float)(harness_random() % 2048) / 1024 - 1));
        }
        kernel_put(&k, at + 12, facet_float_bits(1));
        kernel_put(&k, at + 32, (uint32_t)harness_random() | 0xFF000000);
    }
    kernel_put(&k, GSTATE_AT + 4, STRIDE | 1 << 16 | 1 << 19); /* normal, colour */
    kernel_put(&k, GSTATE_AT + 12, 8);
    kernel_put(&k, GDRAW_AT + 8, COUNT);
    /* the fixed pipeline first */
    kernel_exec(&k, "RSTATE s0, 0(s1)\nADDI s4, s1, 0x40\nGSTATE s0, 0(s4)\nGDRAW s13, 0(s2)");
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        expected[i] = kernel_get(&k, COLOR_AT + 4 * i);
        kernel_put(&k, COLOR_AT + 4 * i, 0);
        drawn += expected[i] != 0;
    }
    CHECK(drawn > 20);
    /* then the kernel, and GDRAW over what it wrote */
    k.packet.arg_base = ARGS_AT;
    k.packet.arg_size = 32;
    kernel_exec(&k, vertex_kernel);
    CHECK_EQ(k.cause, 0);
    for (unsigned i = 0; i < COUNT; i++) { /* normal and colour of each vertex, at its place */
        for (unsigned n = 16; n < STRIDE; n += 4) {
            CHECK_ID("TILE-464 TILE-467 TILE-468 TILE-470 TILE-476 TILE-477",
                     kernel_get(&k, OUT_AT + STRIDE * i + n) ==
                         kernel_get(&k, VERTICES_AT + STRIDE * i + n));
        }
    }
    CHECK_ID("TILE-469", kernel_get(&k, OUT_AT + STRIDE * COUNT + 32) == 0);
    kernel_put(&k, GSTATE_AT, OUT_AT);
    kernel_put(&k, GDRAW_AT + 20, 4);
    memset(k.s, 0, sizeof k.s);
    k.s[1] = DATA;
    k.s[2] = GDRAW_AT;
    kernel_exec(&k, "RSTATE s0, 0(s1)\nADDI s4, s1, 0x40\nGSTATE s0, 0(s4)\nGDRAW s13, 0(s2)");
    CHECK_EQ(k.s[13], 1);
    harness_row("TILE-413 TILE-420 TILE-441 TILE-461 TILE-465 TILE-471 TILE-478");
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        CHECK_EQ(kernel_get(&k, COLOR_AT + 4 * i), expected[i]);
    }
    kernel_close(&k);
}
