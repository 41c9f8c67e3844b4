/* Scalar integer, branch and FP16 instructions against the observables of the requirement rows and
 * a second formulation of the integer rules. FP16 values themselves are proved in tests/num. */
#include "kernel.h"

#include <stdio.h>

static struct kernel k;

/* Two operands in s1, s2 and the result in s3. */
static uint32_t binary(const char *line, uint32_t a, uint32_t b)
{
    k.s[1] = a;
    k.s[2] = b;
    k.s[3] = 10;
    kernel_exec(&k, line);
    CHECK_EQ(k.cause, 0);
    return k.s[3];
}

#define OPEN() kernel_open(&k, NULL)
#define CLOSE() kernel_close(&k)

TEST(registers_and_s0, "")
{
    char text[2048] = "ADDI s0, s0, 5\n";

    OPEN();
    for (unsigned i = 1; i < 32; i++) {
        (void)sprintf(text + strlen(text), "ADDI s%u, s0, %u\n", i, i * 3);
    }
    for (unsigned i = 0; i < 32; i++) {
        (void)sprintf(text + strlen(text), "FMV.S2F f%u, s%u\n", i, 31 - i);
    }
    kernel_exec(&k, text);
    for (unsigned i = 0; i < 32; i++) {
        CHECK_ID(i == 0 ? "TILE-001 TILE-002" : "TILE-001 TILE-007", k.s[i] == i * 3);
        CHECK_ID("TILE-003 TILE-007", k.f[i] == (31 - i) * 3);
        CHECK_ID("TILE-012", (k.v[i].d[0] | k.v[i].d[1]) == 0); /* other files are untouched */
    }
    kernel_exec(&k, "LUI s4, 0x80010\nSW s0, 0(s4)\nFADD f7, f7, f7\nVADD.I32 v7, v7, v7");
    CHECK_ID("TILE-002", kernel_get(&k, DATA) == 0);
    CHECK_ID("TILE-012", k.s[7] == 21);
    CHECK_ID("TILE-007", (kernel_csr(&k, 0, "hwinfo") & 0xFF) == 32);
    for (uint32_t i = 0; i < 32; i++) { /* one field at a time, and no bit beside it */
        (void)sprintf(text, "ADD s%u, s1, s2", i);
        CHECK_ID("TILE-010", kernel_word(text) == (kernel_word("ADD s0, s1, s2") | i << 7));
        (void)sprintf(text, "ADD s1, s%u, s2", i);
        CHECK_ID("TILE-010", kernel_word(text) == (kernel_word("ADD s1, s0, s2") | i << 15));
        (void)sprintf(text, "ADD s1, s2, s%u", i);
        CHECK_ID("TILE-010", kernel_word(text) == (kernel_word("ADD s1, s2, s0") | i << 20));
    }
    CLOSE();
}

TEST(immediates, "")
{
    OPEN();
    harness_row("TILE-013 TILE-056");
    CHECK_EQ(binary("ADDI s3, s0, -2048", 0, 0), 0xFFFFF800);
    CHECK_EQ(binary("ADDI s3, s0, 2047", 0, 0), 0x7FF);
    CHECK_EQ(binary("ADDI s3, s0, -1", 0, 0), 0xFFFFFFFF);
    harness_row("TILE-059");
    CHECK_EQ(binary("ANDI s3, s1, -16", 0x12345678, 0), 0x12345670);
    harness_row("TILE-061");
    CHECK_EQ(binary("ORI s3, s0, -1", 0, 0), 0xFFFFFFFF);
    harness_row("TILE-063");
    CHECK_EQ(binary("XORI s3, s1, -1", 0x0F0F0F0F, 0), 0xF0F0F0F0);
    harness_row("TILE-015 TILE-084");
    CHECK_EQ(binary("LUI s3, 0xABCDE", 0, 0), 0xABCDE000);
    CHECK_EQ(binary("LUI s3, 1", 0, 0), 0x1000);
    harness_row("TILE-128");
    CHECK_EQ(binary("MOVI s3, 0x12345FFF", 0, 0), 0x12345FFF);
    CHECK_EQ(k.retired, 3);
    harness_row("");
    CHECK_EQ(binary("MINI s3, s1, -3", 5, 0), (uint32_t)-3);
    CHECK_EQ(binary("MAXI s3, s1, -3", 5, 0), 5);
    for (unsigned n = 0; n < 32; n++) {
        char line[64];

        harness_row("TILE-068");
        (void)sprintf(line, "SHLI s3, s1, %u", n);
        CHECK_EQ(binary(line, 0x80000001, 0), 0x80000001u << n);
        (void)sprintf(line, "LSRI s3, s1, %u", n);
        CHECK_EQ(binary(line, 0x80000001, 0), 0x80000001u >> n);
        (void)sprintf(line, "ASRI s3, s1, %u", n);
        CHECK_EQ(binary(line, 0x80000001, 0), (uint32_t)((int64_t)(int32_t)0x80000001 >> n));
    }
    CLOSE();
}

TEST(arithmetic, "")
{
    OPEN();
    harness_row("TILE-055 TILE-505");
    CHECK_EQ(binary("ADD s3, s1, s2", 0xFFFFFFFF, 2), 1);
    CHECK_EQ(binary("ADD s3, s1, s2", 0x7FFFFFFF, 1), 0x80000000);
    CHECK_EQ(k.status, 0);
    harness_row("TILE-057");
    CHECK_EQ(binary("SUB s3, s1, s2", 3, 5), 0xFFFFFFFE);
    harness_row("TILE-058");
    CHECK_EQ(binary("AND s3, s1, s2", 0xF0F0, 0xFF00), 0xF000);
    harness_row("TILE-060");
    CHECK_EQ(binary("OR s3, s1, s2", 0xF0, 0x0F), 0xFF);
    harness_row("TILE-062");
    CHECK_EQ(binary("XOR s3, s1, s2", 0xFF, 0x0F), 0xF0);
    harness_row("TILE-064 TILE-067");
    CHECK_EQ(binary("SHL s3, s1, s2", 1, 31), 0x80000000);
    CHECK_EQ(binary("SHL s3, s1, s2", 3, 33), 6);
    harness_row("TILE-065 TILE-067");
    CHECK_EQ(binary("LSR s3, s1, s2", 0x80000000, 31), 1);
    CHECK_EQ(binary("LSR s3, s1, s2", 0x80000000, 63), 1);
    harness_row("TILE-066 TILE-067");
    CHECK_EQ(binary("ASR s3, s1, s2", 0x80000000, 31), 0xFFFFFFFF);
    CHECK_EQ(binary("ASR s3, s1, s2", 0x80000000, 32), 0x80000000);
    harness_row("TILE-069");
    CHECK_EQ(binary("MIN s3, s1, s2", 0xFFFFFFFF, 1), 0xFFFFFFFF);
    harness_row("TILE-070");
    CHECK_EQ(binary("MAX s3, s1, s2", 0xFFFFFFFF, 1), 1);
    harness_row("TILE-071 TILE-072");
    CHECK_EQ(binary("ABS s3, s1", (uint32_t)-5, 0), 5);
    CHECK_EQ(binary("ABS s3, s1", 0x80000000, 0), 0x80000000);
    CHECK_EQ(k.status, 0);
    harness_row("TILE-074");
    CHECK_EQ(binary("CLZ s3, s1", 1, 0), 31);
    CHECK_EQ(binary("CLZ s3, s1", 0, 0), 32);
    harness_row("TILE-075");
    CHECK_EQ(binary("CTZ s3, s1", 8, 0), 3);
    CHECK_EQ(binary("CTZ s3, s1", 0, 0), 32);
    harness_row("TILE-076");
    CHECK_EQ(binary("MUL s3, s1, s2", 0x10000, 0x10000), 0);
    harness_row("TILE-077");
    CHECK_EQ(binary("MULH s3, s1, s2", 0xFFFFFFFF, 0xFFFFFFFF), 0);
    CHECK_EQ(binary("MULH s3, s1, s2", 0x80000000, 2), 0xFFFFFFFF);
    harness_row("TILE-078");
    CHECK_EQ(binary("MULHU s3, s1, s2", 0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFE);
    harness_row("TILE-079");
    CHECK_EQ(binary("MAC s3, s1, s2", 3, 4), 22);
    CLOSE();
}

/* Every constant in every mode: all bits of config that kernels may set. */
TEST(constants, "TILE-583")
{
    static const uint32_t values[] = {
        0,          1,          0x7FF,      0x800,      0xFFF,      0x1000,     0x7FFFEFFF,
        0x7FFFF000, 0x7FFFF7FF, 0x7FFFF800, 0x7FFFF801, 0x7FFFFFF0, 0x7FFFFFFF, 0x80000000,
        0x80000001, 0x800007FF, 0x80000800, 0xFFFFF7FF, 0xFFFFF800, 0xFFFFFFFF, 0x12345FFF};

    OPEN();
    for (uint32_t config = 0; config < 0x100; config += 8) {
        for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
            char text[160];
            unsigned v = (unsigned)values[i];

            (void)sprintf(text,
                          "MOVI s1, 0x%X\nLI s2, 0x%X\nLA s3, 0x%X\n"
                          "MOVI s4, K\nLI s5, K+1-1\nLA s6, K\n.equ K, 0x%X",
                          v,
                          v,
                          v,
                          v);
            k.config = config;
            kernel_exec(&k, text);
            for (unsigned r = 1; r <= 6; r++) {
                CHECK_EQ(k.s[r], values[i]);
            }
            CHECK_EQ(k.status, 0);
        }
    }
    CLOSE();
}

/* With config.SAT: clamped by comparing in 64 bits, a different way than the machine's. */
static uint32_t clamped(int64_t exact, bool *outside)
{
    *outside = exact != (int32_t)exact;
    return exact > INT32_MAX ? 0x7FFFFFFFu : exact < INT32_MIN ? 0x80000000u : (uint32_t)exact;
}

TEST(saturation, "TILE-073 TILE-483 TILE-506 TILE-562")
{
    static const uint32_t edge[] = {0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 46341};

    OPEN();
    k.config = 0x10;
    CHECK_EQ(binary("ABS s3, s1", 0x80000000, 0), 0x7FFFFFFF);
    CHECK_EQ(k.status, ST_ISAT);
    for (unsigned i = 0; i < 7 * 7; i++) {
        uint32_t a = edge[i % 7], b = edge[i / 7];
        int64_t x = (int32_t)a, y = (int32_t)b;
        bool outside;

        CHECK_EQ(binary("ADD s3, s1, s2", a, b), clamped(x + y, &outside));
        CHECK_EQ(k.status, outside ? ST_ISAT : 0);
        CHECK_EQ(binary("SUB s3, s1, s2", a, b), clamped(x - y, &outside));
        CHECK_EQ(k.status, outside ? ST_ISAT : 0);
        CHECK_EQ(binary("MUL s3, s1, s2", a, b), clamped(x * y, &outside));
        CHECK_EQ(k.status, outside ? ST_ISAT : 0);
        CHECK_EQ(binary("MAC s3, s1, s2", a, b), clamped(x * y + 10, &outside));
        CHECK_EQ(k.status, outside ? ST_ISAT : 0);
        CHECK_EQ(binary("ADDI s3, s1, -5", a, b), clamped(x - 5, &outside));
        CHECK_EQ(k.status, outside ? ST_ISAT : 0);
        (void)binary("MULH s3, s1, s2\nSHL s4, s1, s2\nMIN s5, s1, s2", a, b);
        CHECK_EQ(k.status, 0);
        k.vstatus = 0x100; /* VSAT is for vectors alone */
        k.config = 0;
        CHECK_EQ(binary("ADD s3, s1, s2", a, b), a + b);
        CHECK_EQ(k.status, 0);
        k.vstatus = 0;
        k.config = 0x10;
    }
    CLOSE();
}

TEST(compares, "")
{
    static const uint32_t edge[] = {0, 1, 2, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000};

    OPEN();
    harness_row("TILE-080 TILE-482");
    CHECK_EQ(binary("CMP s3, s1, s2", 1, 2), 1);
    CHECK_EQ(k.status >> 28, 8);
    harness_row("TILE-081");
    CHECK_EQ(binary("CMP s3, s1, s2", 0xFFFFFFFF, 1), 1);
    CHECK_EQ(binary("CMPU s3, s1, s2", 0xFFFFFFFF, 1), 0);
    CHECK_EQ(binary("CMPEQ s3, s1, s2", 0xFFFFFFFF, 1), 0);
    for (unsigned i = 0; i < 36; i++) {
        uint32_t a = edge[i % 6], b = edge[i / 6];
        int64_t exact = (int64_t)(int32_t)a - (int32_t)b;
        unsigned n = (uint32_t)exact >> 31, z = a == b, c = a >= b, v = exact != (int32_t)exact;

        harness_row("TILE-080 TILE-082");
        CHECK_EQ(binary("CMPEQ s3, s1, s2", a, b), z);
        CHECK_EQ(k.status >> 28, n << 3 | z << 2 | c << 1 | v);
        CHECK_EQ(binary("CMP s0, s1, s2", a, b), 10);
        CHECK_EQ(k.status >> 28, n << 3 | z << 2 | c << 1 | v);
        CHECK_EQ(binary("CMPU s3, s1, s2\nADD s4, s1, s2\nSUB s5, s1, s2", a, b), a < b);
        CHECK_EQ(k.status >> 28, n << 3 | z << 2 | c << 1 | v);
    }
    harness_row("TILE-482"); /* and of FP: inf - inf */
    k.f[1] = 0x7C00;
    kernel_exec(&k, "FSUB f3, f1, f1");
    CHECK_EQ(k.status & 1, 1);
    CLOSE();
}

/* Whether `BRANCH s1, s2` goes over an instruction that sets s3. */
static bool taken(const char *branch, uint32_t a, uint32_t b)
{
    char text[128];
    uint32_t s3;

    (void)sprintf(text, "%s s1, s2, 8\nADDI s3, s0, 1", branch);
    s3 = binary(text, a, b);
    CHECK_EQ(k.retired, s3 == 1 ? 3 : 2);
    CHECK_EQ(kernel_csr(&k, 0, "perf_branch"), s3 == 1 ? 0 : 1);
    return s3 != 1;
}

TEST(branches, "TILE-014 TILE-050")
{
    OPEN();
    harness_row("TILE-089");
    CHECK(taken("BEQ", 5, 5) && !taken("BEQ", 5, 6));
    harness_row("TILE-090");
    CHECK(taken("BNE", 5, 6) && !taken("BNE", 5, 5));
    harness_row("TILE-091");
    CHECK(taken("BLT", 0xFFFFFFFF, 1) && !taken("BLT", 1, 1) && !taken("BLT", 1, 0xFFFFFFFF));
    harness_row("TILE-092");
    CHECK(taken("BGE", 1, 0xFFFFFFFF) && taken("BGE", 1, 1) && !taken("BGE", 0xFFFFFFFF, 1));
    harness_row("TILE-093");
    CHECK(!taken("BLTU", 0xFFFFFFFF, 1) && taken("BLTU", 1, 0xFFFFFFFF));
    harness_row("TILE-094");
    CHECK(taken("BGEU", 0xFFFFFFFF, 1) && taken("BGEU", 1, 1) && !taken("BGEU", 0, 1));
    CLOSE();
}

TEST(jumps, "")
{
    OPEN();
    harness_row("TILE-014 TILE-086");
    kernel_exec(&k, "JAL s1, 16\nEXIT\nEXIT\nEXIT\nADDI s3, s0, 7");
    CHECK_EQ(k.s[1], VRAM + 4);
    CHECK_EQ(k.s[3], 7);
    k.s[2] = VRAM + 2;
    harness_row("TILE-087");
    kernel_exec(&k, "JALR s1, 3(s2)\nADDI s3, s0, 9");
    CHECK_ID("TILE-096", k.s[1] == VRAM + 4);
    CHECK_EQ(k.s[3], 9);
    harness_row("");
    k.s[2] = VRAM + 0x2000;
    CHECK(kernel_load(&k, VRAM + 0x2000, "JAL.S s4, -2048"));
    CHECK(kernel_load(&k, VRAM + 0x1800, "ADDI s5, s0, 3\nEXIT"));
    kernel_exec(&k, "JALR s0, 0(s2)");
    CHECK_EQ(k.s[4], VRAM + 0x2004);
    CHECK_EQ(k.s[5], 3);
    harness_row("TILE-095");
    /* The ends of the J-type immediate: there, and back. */
    CHECK(kernel_load(&k, VRAM + 0xFFFFC - 0, "EXIT"));
    CHECK(kernel_load(&k, VRAM + 0xFFFF8, "ADDI s6, s0, 5"));
    kernel_exec(&k, "JAL s1, 0xFFFF8");
    CHECK_EQ(k.s[6], 5);
    CLOSE();
}

TEST(jump_targets_are_multiples_of_four, "TILE-014")
{
    OPEN();
    k.s[1] = 77;
    k.s[2] = VRAM + 6;
    kernel_exec(&k, "JALR s1, 0(s2)");
    CHECK_EQ(k.cause, 2);
    CHECK_EQ(k.fault_addr, VRAM + 6);
    CHECK_EQ(k.fault_pc, VRAM);
    CHECK_EQ(k.s[1], 77);
    CHECK_EQ(k.status, ST_MEMF);
    CHECK_EQ(k.retired, 0);
    kernel_exec_word(&k, kernel_word("BEQ s0, s0, 8") ^ 0x100); /* offset 10 */
    CHECK_EQ(k.cause, 2);
    kernel_exec_word(&k, kernel_word("BNE s0, s0, 8") ^ 0x100); /* not taken: no fault */
    CHECK_EQ(k.cause, 0);
    CLOSE();
}

/* ---- FP16 ---- */

static uint16_t fp(const char *line, uint16_t a, uint16_t b)
{
    k.f[1] = a;
    k.f[2] = b;
    kernel_exec(&k, line);
    CHECK_EQ(k.cause, 0);
    return k.f[3];
}

enum { NX = 1, UF = 2, OF = 4, DZ = 8, NV = 16 };

TEST(fp16, "")
{
    OPEN();
    harness_row("TILE-139");
    CHECK_EQ(fp("FADD f3, f1, f2", 0x3E00, 0x4100), 0x4400);
    harness_row("TILE-140");
    CHECK_EQ(fp("FSUB f3, f1, f2", 0x3C00, 0x4200), 0xC000);
    harness_row("TILE-141");
    CHECK_EQ(fp("FMUL f3, f1, f2", 0x4200, 0x3800), 0x3E00);
    CHECK_EQ(k.fstatus, 0);
    k.f[4] = 0xBC00;
    harness_row("TILE-142");
    CHECK_EQ(fp("FMADD f3, f1, f2, f4", 0x3C03, 0x3C03), 0x1E02);
    CHECK_EQ(k.fstatus, NX);
    harness_row("");
    CHECK_EQ(fp("FMSUB f3, f1, f2, f4", 0x4200, 0x3800), 0x4100); /* 1.5 + 1 */
    CHECK_EQ(fp("FNMSUB f3, f1, f2, f4", 0x4200, 0x3800), 0xC100);
    CHECK_EQ(fp("FNMADD f3, f1, f2, f4", 0x4200, 0x3800), 0xB800);
    harness_row("TILE-143");
    CHECK_EQ(fp("FMIN f3, f1, f2", 0x8000, 0), 0x8000);
    CHECK_EQ(fp("FMIN f3, f1, f2", 0x7E00, 0x3C00), 0x3C00);
    harness_row("TILE-144");
    CHECK_EQ(fp("FMAX f3, f1, f2", 0x8000, 0), 0);
    CHECK_EQ(fp("FMAX f3, f1, f2", 0x3C00, 0x7E00), 0x3C00);
    k.s[1] = (uint32_t)-3;
    harness_row("TILE-138 TILE-145");
    CHECK_EQ(fp("FCVT.I2F f3, s1", 0, 0), 0xC200);
    k.s[1] = 65536;
    CHECK_EQ(fp("FCVT.I2F f3, s1", 0, 0), 0x7C00);
    CHECK_EQ(k.fstatus, OF | NX);
    CHECK_EQ(k.status, ST_FPO);
    harness_row("TILE-138 TILE-146");
    (void)fp("FCVT.F2I s3, f1", 0x4100, 0);
    CHECK_EQ(k.s[3], 2);
    (void)fp("FCVT.F2I s3, f1", 0x7C00, 0);
    CHECK_EQ(k.s[3], 0x7FFFFFFF);
    CHECK_EQ(k.fstatus, NV);
    CHECK_EQ(k.status, ST_FPI);
    harness_row("TILE-147");
    CHECK_EQ(fp("FABS f3, f1", 0xBC00, 0), 0x3C00);
    CHECK_EQ(fp("FNEG f3, f1", 0x7D01, 0), 0xFD01);
    CHECK_EQ(k.fstatus, 0);
    harness_row("TILE-148");
    CHECK_EQ(fp("FRECIP f3, f1", 0x4400, 0), 0x3400);
    CHECK_EQ(fp("FRSQRT f3, f1", 0x4400, 0), 0x3800);
    CHECK(kernel_csr(&k, 0, "hwinfo") & 1 << 12);
    k.s[1] = 0xABCD1234;
    harness_row("");
    CHECK_EQ(fp("FMV.S2F f3, s1", 0, 0), 0x1234);
    (void)fp("FMV.F2S s3, f1", 0xFFFF, 0);
    CHECK_EQ(k.s[3], 0xFFFF);
    CLOSE();
}

TEST(fp16_compares, "TILE-137")
{
    static const struct {
        uint16_t a, b;
        unsigned eq, lt, le, eq_flags, lt_flags;
    } row[] = {{0x3C00, 0x3C00, 1, 0, 1, 0, 0},
               {0x8000, 0x0000, 1, 0, 1, 0, 0},
               {0xC000, 0x3C00, 0, 1, 1, 0, 0},
               {0x7E00, 0x3C00, 0, 0, 0, 0, NV},
               {0x3C00, 0x7D00, 0, 0, 0, NV, NV}};

    OPEN();
    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        (void)fp("FCMP.EQ s3, f1, f2", row[i].a, row[i].b);
        CHECK_EQ(k.s[3], row[i].eq);
        CHECK_EQ(k.fstatus, row[i].eq_flags);
        (void)fp("FCMP.LT s3, f1, f2", row[i].a, row[i].b);
        CHECK_EQ(k.s[3], row[i].lt);
        CHECK_EQ(k.fstatus, row[i].lt_flags);
        (void)fp("FCMP.LE s3, f1, f2", row[i].a, row[i].b);
        CHECK_EQ(k.s[3], row[i].le);
        CHECK_EQ(k.status, row[i].lt_flags != 0 ? ST_FPI : 0);
    }
    CLOSE();
}

TEST(fma_takes_its_addend_from_s, "TILE-158 TILE-142")
{
    OPEN();
    k.s[3] = 0xFFFF3C00;
    k.f[3] = 0x3800;
    k.f[2] = 0x4200;
    kernel_exec(&k, "FMA f1, f2, f3");
    CHECK_EQ(k.f[1], 0x4100);
    CLOSE();
}

TEST(fp_flags, "")
{
    static const struct {
        const char *line;
        uint16_t a, b;
        unsigned flags;
        const char *ids;
    } row[] = {{"FSUB f3, f1, f2", 0x7C00, 0x7C00, NV, "TILE-496"},
               {"FRECIP f3, f1", 0, 0, DZ, "TILE-497"},
               {"FADD f3, f1, f2", 0x7BFF, 0x7BFF, OF | NX, "TILE-498"},
               {"FMUL f3, f1, f2", 0x0401, 0x1001, UF | NX, "TILE-499"},
               {"FRECIP f3, f1", 0x4200, 0, NX, "TILE-500"}};
    char text[512];

    OPEN();
    for (unsigned i = 0; i < 5; i++) {
        (void)sprintf(text, "%s\nFADD f4, f0, f0\nADDI s9, s0, %u", row[i].line, i + 1);
        (void)fp(text, row[i].a, row[i].b);
        harness_row(row[i].ids);
        CHECK_EQ(k.fstatus, row[i].flags);
        CHECK_ID("TILE-501", k.s[9] == i + 1); /* no trap */
        CHECK_EQ(k.status,
                 ((row[i].flags & NV) != 0 ? ST_FPI : 0) | ((row[i].flags & OF) != 0 ? ST_FPO : 0));
        (void)sprintf(text, "%s\nCSRRW s5, fstatus, s0\nCSRR s6, fstatus", row[i].line);
        (void)fp(text, row[i].a, row[i].b);
        CHECK_EQ(k.s[5], row[i].flags);
        CHECK_EQ(k.s[6], 0);
    }
    CLOSE();
}

TEST(fp_controls, "TILE-149 TILE-502 TILE-503 TILE-504 TILE-564 TILE-565")
{
    static const uint32_t to_int[2][5] = {{2, 2, 2, 3, 3}, {-2u, -2u, -3u, -2u, -3u}};

    OPEN();
    for (unsigned rm = 0; rm < 5; rm++) {
        k.config = rm;
        (void)fp("FCVT.F2I s3, f1\nFCVT.F2I s4, f2\nCSRR s5, fstatus", 0x4100, 0xC100);
        CHECK_EQ(k.s[3], to_int[0][rm]);
        CHECK_EQ(k.s[4], to_int[1][rm]);
        CHECK_EQ(k.s[5], rm << 5 | NX);
    }
    k.config = 0;
    CHECK_EQ(fp("FMUL f3, f1, f2", 0x0400, 0x3800), 0x0200);
    CHECK_EQ(k.fstatus, 0);
    k.config = 8; /* FTZ */
    CHECK_EQ(fp("FMUL f3, f1, f2", 0x0400, 0x3800), 0);
    CHECK_EQ(k.fstatus, UF | NX);
    CHECK_EQ(fp("FADD f3, f1, f2", 0x0001, 0x3C00), 0x3C00);
    CHECK_EQ(k.fstatus, 0);
    k.config = 0x40; /* FSAT */
    CHECK_EQ(fp("FADD f3, f1, f2", 0x7BFF, 0x7BFF), 0x7BFF);
    CHECK_EQ(k.fstatus, OF | NX);
    CHECK_EQ(fp("FRECIP f3, f1", 0x8000, 0), 0xFBFF);
    k.config = 0;
    CHECK_EQ(fp("FADD f3, f1, f2", 0x7E55, 0x3C00), 0x7E55);
    CHECK_EQ(fp("FADD f3, f1, f2", 0x7D01, 0x3C00), 0x7F01);
    CHECK_EQ(k.fstatus, NV);
    CHECK_EQ(fp("FMIN f3, f1, f2", 0x7D01, 0x4000), 0x4000);
    CHECK_EQ(k.fstatus, NV);
    kernel_exec(&k,
                "ADDI s1, s0, 0x60\nCSRW fstatus, s1\nCSRR s2, config\nADDI s1, s0, 6\n"
                "CSRW config, s1\nCSRR s3, config");
    CHECK_EQ(k.s[2], 3);
    CHECK_EQ(k.s[3], 0);
    CLOSE();
}
