/* The worked examples 20.1 and 20.10 of tile-semantics.md: every word, its text and its effect on
 * the machine. */
#include "base/float.h"
#include "kernel.h"

static struct kernel k;

static void words(void)
{
    static const struct {
        const char *text;
        uint32_t word;
    } row[] = {{"ADDI s1, s0, -2048", 0x80000097},
               {"SHL s3, s1, s4", 0x0040918B},
               {"ABS s3, s1", 0x0000918B},
               {"CMP s5, s6, s7", 0x0473028B},
               {"BNE s1, s2, -8", 0xFE209C8E},
               {"JAL s1, 2048", 0x001000EF},
               {"LW s1, 4(s2)", 0x0041208C},
               {"LW s1, -4(s2)", 0xFFC1209C},
               {"LW.R s1, s3(s2)", 0x0231208C},
               {"SW.R s1, s3(s2)", 0x0231208D},
               {"LHU s1, 2(s2)", 0x0821308C},
               {"LBU s1, 2(s2)", 0x0021308C},
               {"AADD s1, s2, (s3), rlx", 0x80218094},
               {"RSTATE s1, 0(s3)", 0x00018094},
               {"ACAS s1, s2, (s3), aqrl", 0x8C21C094},
               {"FMA f1, f2, f3", 0x1031308B},
               {"FMADD f1, f2, f3, f4", 0x2631408B},
               {"SETMISC s0, 0x18, 0x08", 0x6080300F},
               {"VADD.I32 v3, v1, v2", 0x022081AF},
               {"VADD.F32 v3, v1, v2", 0x4220D1AF},
               {"VSUB.F8 v3, v1, v2", 0x0620C1AF},
               {"VCMP.LT.I16 s5, v1, v2", 0x662092AF},
               {"VDOT.F32 s5, v1, v2", 0x1220C2AF},
               {"VCROSS.F32 v3, v1, v2", 0x1620D1AF},
               {"VSEL.I32 v3, v1, v2", 0x1A2081AF},
               {"VSHUF v3, v1, 0x1B", 0xFFB081AF},
               {"VINS.I16 v3, s1, 5", 0x12509190},
               {"VLD.S16 v3, (s1), s2", 0x08209191},
               {"VLD.C v3, c5(s0)", 0x00503191},
               {"VATOM.ADD.X v4, v3, (s1), v2", 0x1C208215},
               {"TEX2D.N.F32 v3, v1, s2", 0x16208193},
               {"EXIT", 0x0010700F},
               {"VMOV v3, v1", 0x020081AF},
               {"AADD s1, s2, (s3)", 0x80218094},
               {"GSTATE s1, 0(s3)", 0x0001C094},
               {"GDRAW s1, 0(s3)", 0x0001E094},
               {"TEX2D.B.F32 v3, v1, s2", 0x16209193}};

    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        CHECK_MSG(kernel_word(row[i].text) == row[i].word,
                  "%s is 0x%08x, expected 0x%08x",
                  row[i].text,
                  (unsigned)kernel_word(row[i].text),
                  (unsigned)row[i].word);
    }
}

TEST(words_of_the_examples, "")
{
    words();
    CHECK_ID("TILE-021", kernel_word("ADD s1, s2, s3") == (0x0B | 1 << 7 | 2 << 15 | 3 << 20));
    CHECK_ID("TILE-021", kernel_word("ADDI s1, s2, 5") == (0x17 | 1 << 7 | 2 << 15 | 5 << 20));
    CHECK_ID("TILE-021", kernel_word("BEQ s1, s2, 8") == (0x0E | 4 << 8 | 1 << 15 | 2 << 20));
    CHECK_ID("TILE-021", kernel_word("LUI s1, 0x12345") == (0x37 | 1 << 7 | 0x12345 << 12));
    CHECK_ID("TILE-021", kernel_word("JAL s1, 2048") == 0x001000EF);
    CHECK_ID("TILE-030", kernel_word("VADD.I32 v3, v1, v2") == 0x022081AF);
    CHECK_ID("TILE-030 TILE-232",
             kernel_word("VSUB.F32 v5, v6, v7") ==
                 (0x2F | 5 << 7 | 5 << 12 | 6 << 15 | 7 << 20 | 1 << 25 | 1 << 26));
    CHECK_ID("TILE-232", kernel_word("VMUL.F32 v1, v2, v3") >> 26 == 0x0C);
    CHECK_ID("TILE-201", (kernel_word("AADD s1, s2, (s3)") >> 26 & 3) == 0);
    CHECK_ID("TILE-268", kernel_word("VMOV v3, v1") == kernel_word("VADD.I32 v3, v1, v0"));
    CHECK_ID("TILE-317", (kernel_word("TEX2D.N.F32 v3, v1, s2") & 0x707F) == 0x0013);
    CHECK_ID("TILE-355", (kernel_word("RSTATE s1, 0(s3)") & 0xFE00007F) == 0x14);
    CHECK_ID("TILE-398", (kernel_word("GSTATE s1, 0(s3)") & 0xFE00707F) == 0x4014);
    CHECK_ID("TILE-398", (kernel_word("GPARAM s1, 0(s3)") & 0xFE00707F) == 0x5014);
    CHECK_ID("TILE-398", (kernel_word("GDRAW s1, 0(s3)") & 0xFE00707F) == 0x6014);
    CHECK_ID("TILE-569", (kernel_word("TEX2D.B.F32 v3, v1, s2") & 0x707F) == 0x1013);
    kernel_open(&k, NULL);
    for (unsigned i = 0; i < 4; i++) {
        k.v[1].w[i] = (uint32_t)harness_random();
    }
    kernel_exec(&k, "VMOV v3, v1");
    CHECK_ID("TILE-268", memcmp(&k.v[3], &k.v[1], 16) == 0);
    kernel_close(&k);
}

TEST(fields_of_vector_words, "TILE-023 TILE-024 TILE-028 TILE-232 TILE-281")
{
    CHECK_EQ(kernel_word("VLD.V v1, 0(s1)") & 0x7F, 0x11);
    CHECK_EQ(kernel_word("VLD.S8 v1, (s1), s2") & 0x7F, 0x11);
    CHECK_EQ(kernel_word("VLDX v1, (s1), v2") & 0x7F, 0x11);
    CHECK_EQ(kernel_word("VLD.C v1, c2(s1)") & 0x7F, 0x11);
    CHECK_EQ(kernel_word("VST.V v1, 0(s1)") & 0x7F, 0x12);
    CHECK_EQ(kernel_word("VST.S v1, (s1), s2") & 0x7F, 0x12);
    CHECK_EQ(kernel_word("VSTX16 v1, (s1), v2") & 0x7F, 0x12);
    /* funct6 | 1 | rs2 | rs1 | funct3 | rd | opcode */
    CHECK_EQ(kernel_word("VMUL.F32 v31, v21, v10"),
             0x0Cu << 26 | 1u << 25 | 10u << 20 | 21u << 15 | 5u << 12 | 31u << 7 | 0x2F);
}

TEST(effects_of_scalar_examples, "TILE-013 TILE-083 TILE-067 TILE-073 TILE-080 TILE-158 TILE-142")
{
    kernel_open(&k, NULL);
    kernel_exec(&k, "ADDI s1, s0, -2048\nMOVI s2, 0x12345FFF"); /* E1, E2 */
    CHECK_EQ(k.s[1], 0xFFFFF800);
    CHECK_EQ(k.s[2], 0x12345FFF);
    k.s[4] = 33;
    kernel_exec(&k, "SHL s3, s1, s4"); /* E3 */
    CHECK_EQ(k.s[3], k.s[1] << 1);
    k.s[1] = 0x80000000;
    kernel_exec_word(&k, 0x0000918B); /* E4 */
    CHECK_EQ(k.s[3], 0x80000000);
    k.config = 0x10;
    kernel_exec_word(&k, 0x0000918B);
    CHECK_EQ(k.s[3], 0x7FFFFFFF);
    CHECK_EQ(k.status, ST_ISAT);
    k.config = 0;
    k.s[6] = 1;
    k.s[7] = 2;
    kernel_exec_word(&k, 0x0473028B); /* E5 */
    CHECK_EQ(k.s[5], 1);
    CHECK_EQ(k.status, 0x80000000);
    k.f[2] = 0x4200;
    k.f[3] = 0x3800;
    k.s[3] = 0x3C00;
    kernel_exec_word(&k, 0x1031308B); /* E16 */
    CHECK_EQ(k.f[1], 0x4100);
    k.f[2] = k.f[3] = 0x3C03;
    k.f[4] = 0xBC00;
    kernel_exec_word(&k, 0x2631408B); /* E17 */
    CHECK_EQ(k.f[1], 0x1E02);
    CHECK_EQ(k.fstatus, 1);
    k.config = 0x10;
    kernel_exec_word(&k, 0x6080300F); /* E18 */
    CHECK_EQ(k.config, 0x08);
    kernel_close(&k);
}

TEST(effects_of_vector_examples, "")
{
    kernel_open(&k, NULL);
    k.v[1] = (union vec){.w = {facet_float_bits(0.1F),
                               facet_float_bits(1),
                               facet_float_bits(-2.5F),
                               facet_float_bits(1e38F)}};
    k.v[2] = (union vec){.w = {facet_float_bits(0.2F),
                               facet_float_bits(0x1p-25F),
                               facet_float_bits(2.5F),
                               facet_float_bits(3e38F)}};
    harness_row("TILE-004");
    kernel_exec_word(&k, 0x4220D1AF); /* E20 */
    CHECK_EQ(k.v[3].w[0], 0x3E99999A);
    CHECK_EQ(k.v[3].w[1], 0x3F800000);
    CHECK_EQ(k.v[3].w[2], 0);
    CHECK_EQ(k.v[3].w[3], 0x7F800000);
    CHECK_EQ(k.fstatus, 5);
    k.v[1].b[0] = 0x38;
    k.v[2].b[0] = 0x18;
    harness_row("TILE-237");
    kernel_exec_word(&k, 0x0620C1AF); /* E21 */
    CHECK_EQ(k.v[3].b[0], 0x37);
    for (unsigned i = 0; i < 8; i++) {
        k.v[1].h[i] = (uint16_t)i;
        k.v[2].h[i] = 3;
    }
    harness_row("TILE-244");
    kernel_exec_word(&k, 0x662092AF); /* E22 */
    CHECK_EQ(k.s[5], 7);
    k.v[1] = (union vec){
        .w = {facet_float_bits(1), facet_float_bits(2), facet_float_bits(3), facet_float_bits(4)}};
    k.v[2] = (union vec){
        .w = {facet_float_bits(1), facet_float_bits(1), facet_float_bits(1), facet_float_bits(1)}};
    harness_row("TILE-245");
    kernel_exec_word(&k, 0x1220C2AF); /* E23 */
    CHECK_EQ(k.s[5], 0x41200000);
    k.v[1] = (union vec){.w = {facet_float_bits(.1F),
                               facet_float_bits(.2F),
                               facet_float_bits(.3F),
                               facet_float_bits(.4F)}};
    k.v[2] = (union vec){.w = {facet_float_bits(.4F),
                               facet_float_bits(.3F),
                               facet_float_bits(.2F),
                               facet_float_bits(.1F)}};
    kernel_exec_word(&k, 0x1220C2AF);
    CHECK_EQ(k.s[5], 0x3E4CCCCE);
    k.v[1] = (union vec){
        .w = {facet_float_bits(1), facet_float_bits(2), facet_float_bits(3), facet_float_bits(9)}};
    k.v[2] = (union vec){
        .w = {facet_float_bits(4), facet_float_bits(5), facet_float_bits(6), facet_float_bits(9)}};
    harness_row("TILE-246");
    kernel_exec_word(&k, 0x1620D1AF); /* E24 */
    CHECK(k.v[3].w[0] == 0xC0400000 && k.v[3].w[1] == 0x40C00000 && k.v[3].w[2] == 0xC0400000);
    CHECK_EQ(k.v[3].w[3], 0);
    k.s[2] = 5;
    harness_row("TILE-247");
    kernel_exec_word(&k, 0x1A2081AF); /* E25 */
    CHECK(k.v[3].w[0] == k.v[1].w[0] && k.v[3].w[1] == k.v[2].w[1]);
    CHECK(k.v[3].w[2] == k.v[1].w[2] && k.v[3].w[3] == k.v[2].w[3]);
    harness_row("TILE-249");
    kernel_exec_word(&k, 0xFFB081AF); /* E26 */
    CHECK(k.v[3].w[0] == k.v[1].w[3] && k.v[3].w[3] == k.v[1].w[0]);
    k.s[1] = 0xABCD1234;
    harness_row("TILE-272");
    kernel_exec_word(&k, 0x12509190); /* E27 */
    CHECK_EQ(k.v[3].h[5], 0x1234);
    kernel_close(&k);
}

TEST(fp8_and_fp16_lines, "TILE-237 TILE-148 TILE-149")
{
    static const struct {
        uint32_t config;
        uint8_t a, b, sum;
        unsigned flags;
    } fp8[] = {{0, 0x7E, 0x58, 0x7E, 1}, {0, 0x7E, 0x60, 0x7F, 5}, {0x40, 0x7E, 0x60, 0x7E, 5}};

    kernel_open(&k, NULL);
    for (unsigned i = 0; i < 3; i++) {
        k.config = fp8[i].config;
        k.v[1] = k.v[2] = (union vec){.d = {0, 0}};
        k.v[1].b[3] = fp8[i].a;
        k.v[2].b[3] = fp8[i].b;
        kernel_exec(&k, "VADD.F8 v3, v1, v2");
        CHECK_EQ(k.v[3].b[3], fp8[i].sum);
        CHECK_EQ(k.fstatus, fp8[i].flags);
    }
    k.config = 0;
    k.f[1] = 0x4200;
    k.f[2] = 0x4000;
    kernel_exec(&k, "FRECIP f3, f1\nFRSQRT f4, f2");
    CHECK_EQ(k.f[3], 0x3555);
    CHECK_EQ(k.f[4], 0x39A8);
    kernel_close(&k);
}

/* ---- textures through the core ---- */

/* A 2x2 ARGB8888 texture at DATA with the descriptor in sampler n and at DATA + 0x1000. */
static void put_texture(unsigned n)
{
    static const uint32_t texels[] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFFFFFFF};
    const uint32_t words_of[8] = {DATA, 8, 2, 2, 1, 0, 0, 0};

    for (uint32_t i = 0; i < 4; i++) {
        kernel_put(&k, DATA + 4 * i, texels[i]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        kernel_put(&k, SAMPLER + 32 * n + 4 * i, words_of[i]);
        kernel_put(&k, DATA + 0x1000 + 4 * i, words_of[i]);
    }
}

TEST(sampling, "")
{
    kernel_open(&k, NULL);
    put_texture(3);
    k.s[2] = 3;
    k.v[1] = (union vec){.w = {1, 0, 77, 88}}; /* lanes 2 and 3 have no effect */
    k.v[5] = (union vec){.w = {0, 1, 0, 0}};
    kernel_exec(&k,
                "TEX2D.N.I32 v3, v1, s2\nTEX2D.N.I32 v4, v5, s2\nVADD.I32 v6, v3, v4\n"
                "TEX2D.N.I8 v7, v5, s2\nTEX2D.N.F32 v8, v1, s2\nCSRR s9, perf_tex");
    harness_row("TILE-318 TILE-319 TILE-349 TILE-351");
    CHECK(k.v[3].w[0] == 0 && k.v[3].w[1] == 255 && k.v[3].w[2] == 0 && k.v[3].w[3] == 255);
    harness_row("TILE-051 TILE-327 TILE-350");
    CHECK(k.v[6].w[1] == 255 && k.v[6].w[2] == 255 && k.v[6].w[3] == 510);
    harness_row("TILE-326");
    CHECK_EQ(k.v[7].w[0], 0xFF0000FF);
    CHECK_EQ(k.v[8].w[1], 0x3F800000);
    harness_row("");
    CHECK_EQ(k.s[9], 4);
    CHECK_EQ(k.status, 0);
    k.v[1] = (union vec){.w = {256, 256, 0, 0}}; /* the middle: fx = fy = 128 */
    kernel_exec(&k, "TEX2D.B.I32 v3, v1, s2");   /* 20.10 */
    CHECK(k.v[3].w[0] == 128 && k.v[3].w[1] == 128 && k.v[3].w[2] == 128);
    k.v[1] = (union vec){.w = {192, 320, 0, 0}}; /* fx = 64, fy = 192 */
    kernel_exec(&k, "TEX2D.B.I32 v3, v1, s2");
    CHECK(k.v[3].w[0] == 96 && k.v[3].w[1] == 64 && k.v[3].w[2] == 191);
    kernel_close(&k);
}

TEST(handles, "TILE-320 TILE-329 TILE-345 TILE-545 TILE-581 TILE-344")
{
    kernel_open(&k, NULL);
    put_texture(31);
    k.s[2] = 31;
    kernel_exec(&k, "TEX2D.N.I8 v3, v0, s2\nADDI s2, s2, 1\nTEX2D.N.I8 v4, v0, s2");
    CHECK_EQ(k.v[3].w[0], 0xFFFF0000);
    CHECK_EQ(k.v[4].w[0], 0);
    CHECK_EQ(k.status, ST_TEXERR);
    CHECK_EQ(k.retired, 4); /* an error is no fault */
    k.config = 0x100;       /* TEX_PTR */
    k.s[2] = DATA + 0x1000;
    kernel_exec(&k, "TEX2D.N.I8 v3, v0, s2");
    CHECK_EQ(k.v[3].w[0], 0xFFFF0000);
    CHECK_EQ(k.status, 0);
    k.s[2] = DATA + 0x1010;
    k.v[3].w[0] = 7;
    kernel_exec(&k, "TEX2D.N.I8 v3, v0, s2");
    CHECK_EQ(k.v[3].w[0], 0);
    CHECK_EQ(k.status, ST_TEXERR);
    k.s[2] = 0x40000000;
    kernel_exec(&k, "TEX2D.N.I8 v3, v0, s2");
    CHECK_EQ(k.status, ST_TEXERR);
    k.s[2] = SAMPLER + 31 * 32; /* the window can be read by LW forms */
    kernel_exec(&k, "TEX2D.N.I8 v3, v0, s2");
    CHECK_EQ(k.v[3].w[0], 0xFFFF0000);
    /* An own store to the descriptor is seen at once: swizzle BGRA. */
    k.s[2] = DATA + 0x1000;
    k.s[3] = 0x11;
    kernel_exec(&k, "SW s3, 16(s2)\nTEX2D.N.I8 v3, v0, s2");
    CHECK_EQ(k.v[3].w[0], 0xFF0000FF);
    /* Byte 0x11 is part of the format word, not a wrap mode: clamp as before. */
    kernel_put(&k, DATA + 0x1010, 0x0101);
    k.v[1] = (union vec){.w = {2, 0, 0, 0}};
    kernel_exec(&k, "TEX2D.N.I8 v3, v1, s2");
    CHECK_EQ(k.v[3].w[0], 0xFF00FF00);
    kernel_close(&k);
}

TEST(foreign_descriptors_need_membar, "TILE-046 TILE-344")
{
    static const char *const text =
        "CSRR s20, core_id\nADDI s1, s0, 0x100\nCSRW config, s1\nLUI s21, 0x80011\nADDI s22, s0, "
        "1\n"
        "BEQ s20, s0, writer\nBNE s20, s22, end\n"
        "TEX2D.N.I8 v1, v0, s21\nADDI s9, s0, 30\nwait: ADDI s9, s9, -1\nBNE s9, s0, wait\n"
        "TEX2D.N.I8 v2, v0, s21\nMEMBAR\nTEX2D.N.I8 v3, v0, s21\nend: EXIT\n"
        "writer: ADDI s9, s0, 8\ndelay: ADDI s9, s9, -1\nBNE s9, s0, delay\n"
        "ADDI s3, s0, 0x11\nSW s3, 16(s21)\nMEMBAR\nEXIT";
    struct facet_value v;

    kernel_open(&k, NULL);
    put_texture(0);
    k.packet.columns = 2;
    CHECK(kernel_load(&k, VRAM, text));
    kernel_run(&k);
    (void)facet_machine_reg_read(k.machine, 1, 64 + 1, &v, NULL);
    CHECK_EQ(v.lo, 0xFFFF0000);
    (void)facet_machine_reg_read(k.machine, 1, 64 + 2, &v, NULL);
    CHECK_EQ(v.lo, 0xFFFF0000);
    (void)facet_machine_reg_read(k.machine, 1, 64 + 3, &v, NULL);
    CHECK_EQ(v.lo, 0xFF0000FF);
    kernel_close(&k);
}

/* ---- graphics instructions through the core ---- */

enum {
    STATE = 0x80011000,
    RECT = 0x80011100,
    FRAME = 0x80012000,
    GEOMETRY = 0x80013000,
    DRAW = 0x80013100,
    VERTICES = 0x80013200
};

static void put_words(uint32_t address, const uint32_t *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        kernel_put(&k, address + 4 * i, list[i]);
    }
}

static void put_graphics(void)
{
    const uint32_t state[16] = {FRAME, 32, 1, 8 | 8 << 16};
    const uint32_t rect[4] = {0x1FFFF, 1 | 1 << 16, 2 | 2 << 16, 0xFF112233};
    uint32_t geometry[32] = {VERTICES, 16, 0, 0};
    const uint32_t draw[6] = {0, 0, 3, 0, 0xFFFFFFFF, 0};
    const uint32_t vertices[12] = {facet_float_bits(-1),
                                   facet_float_bits(-1),
                                   0,
                                   facet_float_bits(1),
                                   facet_float_bits(-1),
                                   facet_float_bits(1),
                                   0,
                                   facet_float_bits(1),
                                   facet_float_bits(1),
                                   facet_float_bits(1),
                                   0,
                                   facet_float_bits(1)};

    for (unsigned i = 0; i < 4; i++) {
        geometry[4 + 5 * i] = facet_float_bits(1);
    }
    put_words(STATE, state, 16);
    put_words(RECT, rect, 4);
    put_words(GEOMETRY, geometry, 32);
    put_words(DRAW, draw, 6);
    put_words(VERTICES, vertices, 12);
}

TEST(errors_and_tokens, "TILE-356 TILE-357 TILE-358 TILE-448 TILE-460")
{
    kernel_open(&k, NULL);
    put_graphics();
    k.s[1] = STATE;
    k.s[2] = RECT;
    k.s[3] = STATE + 8;
    kernel_exec(&k,
                "RSTATE s5, 0(s1)\nRSTATE s6, 0(s1)\nRRECT s7, 0(s2)\nRRECT s8, 0(s2)\n"
                "CSRR s9, gfx_token\nRSTATE s10, 0(s3)\nCSRR s11, gerror\nCSRR s12, int_status\n"
                "CSRR s13, perf_gfx\nRSTATE s14, 16(s1)\nCSRR s15, gerror\nCSRW gerror, s1\n"
                "CSRR s16, gerror");
    CHECK_EQ(k.cause, 0);
    CHECK(k.s[5] == 0 && k.s[6] == 1 && k.s[7] == 1 && k.s[8] == 2 && k.s[9] == 2);
    CHECK_EQ(k.s[10], 0xFFFFFFFF);
    CHECK_EQ(k.s[11], 1 << 8 | 1); /* BAD_ALIGN, once */
    CHECK_EQ(k.s[12], 4);
    CHECK_EQ(k.s[13], 5);
    CHECK_EQ(k.s[15], 2 << 8 | 1);
    CHECK_EQ(k.s[16], 0);
    CHECK_EQ(k.status, ST_GERR);
    CHECK_EQ(kernel_get(&k, FRAME + 32 + 4), 0xFF112233);
    /* A graphics error wakes a core that waits for it. */
    kernel_exec(&k, "RSTATE s10, 0(s3)\nADDI s4, s0, 4\nCSRW int_mask, s4\nWFI\nADDI s6, s0, 3");
    CHECK_EQ(k.s[6], 3);
    kernel_close(&k);
}

TEST(graphics_reads_published_memory, "TILE-394 TILE-460 TILE-462 TILE-395 TILE-393")
{
    kernel_open(&k, NULL);
    put_graphics();
    k.s[1] = STATE;
    k.s[2] = RECT;
    k.s[3] = 0xFF445566;
    k.s[4] = FRAME;
    /* The new colour is not published: the old one is drawn; the core keeps its old line. */
    kernel_exec(&k,
                "LW s5, 36(s4)\nRSTATE s6, 0(s1)\nSW s3, 12(s2)\nRRECT s6, 0(s2)\nLW s7, 36(s4)\n"
                "MEMBAR\nLW s8, 36(s4)\nRRECT s6, 0(s2)\nMEMBAR\nLW s9, 36(s4)");
    CHECK_EQ(k.s[5], 0);
    CHECK_EQ(k.s[7], 0);
    CHECK_EQ(k.s[8], 0xFF112233);
    CHECK_EQ(k.s[9], 0xFF445566);
    /* The same for vertices and GDRAW: vertex 0 moves away from the corner before it is published.
     */
    put_graphics();
    k.s[10] = GEOMETRY;
    k.s[11] = DRAW;
    k.s[12] = VERTICES;
    k.s[13] = facet_float_bits(1);
    kernel_put(&k, FRAME + 6 * 32, 0);
    kernel_exec(&k,
                "RSTATE s6, 0(s1)\nGSTATE s6, 0(s10)\nLW s5, 192(s4)\nSW s13, 0(s12)\n"
                "GDRAW s6, 0(s11)\nLW s7, 192(s4)\nMEMBAR\nLW s8, 192(s4)\nSW s0, 192(s4)\nMEMBAR\n"
                "GDRAW s6, 0(s11)\nMEMBAR\nLW s9, 192(s4)");
    CHECK_EQ(k.cause, 0);
    CHECK_EQ(k.s[5], 0);
    CHECK_EQ(k.s[7], 0);
    CHECK_EQ(k.s[8], 0xFFFFFFFF); /* drawn with the old vertex */
    CHECK_EQ(k.s[9], 0);          /* and without the corner afterwards */
    kernel_close(&k);
}
