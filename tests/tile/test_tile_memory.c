/* Loads and stores: addresses, sizes, alignment, regions, faults and their priority
 * (tile-semantics.md 6, 7, 12). */
#include "kernel.h"

#include "assembler/assemble.h"
#include "object/elf.h"

#include <stdio.h>
#include <stdlib.h>

static struct kernel k;

#define OPEN()                                                                                     \
    kernel_open(&k, NULL);                                                                         \
    k.packet.shared_size = 4096
#define CLOSE() kernel_close(&k)

static uint32_t loaded(const char *line)
{
    k.s[1] = 0;
    kernel_exec(&k, line);
    CHECK_EQ(k.cause, 0);
    return k.s[1];
}

/* The addressing mode in funct7, the size in funct3; LBU and LHU share funct3 3 (R-TILE-15). */
static void check_mode(const char *line, uint32_t opcode, uint32_t mode, uint32_t size)
{
    uint32_t word = kernel_word(line);

    CHECK_EQ(word & 0x7F, opcode);
    if (size < 3) {
        CHECK_EQ(word >> 12 & 7, size);
        CHECK_EQ(word >> 25, mode);
    }
}

TEST(scalar_loads, "")
{
    static const struct {
        const char *name;
        uint32_t value;
        const char *imm, *reg, *base; /* rows of the three encodings */
    } row[] = {
        {"LB", 0xFFFFFF80, "TILE-171 TILE-206", "TILE-171 TILE-207", "TILE-171 TILE-209"},
        {"LH", 0xFFFFA080, "TILE-172 TILE-210", "TILE-172 TILE-211", "TILE-172 TILE-213"},
        {"LW", 0x89ABA080, "TILE-173 TILE-214 TILE-531", "TILE-173 TILE-215", "TILE-173 TILE-217"},
        {"LBU", 0x80, "TILE-174", "TILE-174", "TILE-174"},
        {"LHU", 0xA080, "TILE-175", "TILE-175", "TILE-175"}};

    OPEN();
    kernel_put(&k, DATA + 64, 0x89ABA080);
    for (unsigned i = 0; i < 5; i++) {
        char line[64];

        k.s[2] = DATA + 56;
        k.s[3] = 8;
        k.s[4] = DATA + 64;
        k.s[5] = 0xFFFFFFF8;
        k.s[6] = DATA + 72;
        harness_row(row[i].imm);
        (void)sprintf(line, "%s s1, 8(s2)", row[i].name);
        CHECK_EQ(loaded(line), row[i].value);
        check_mode(line, 0x0C, 0, i);
        CHECK_ID("TILE-017 TILE-166", loaded(line) == row[i].value);
        (void)sprintf(line, "%s s1, -8(s6)", row[i].name); /* becomes .L */
        CHECK_ID("TILE-017", loaded(line) == row[i].value);
        harness_row(row[i].reg);
        (void)sprintf(line, "%s.R s1, s3(s2)", row[i].name);
        CHECK_EQ(loaded(line), row[i].value);
        check_mode(line, 0x0C, 1, i);
        CHECK_ID("TILE-018 TILE-167", loaded(line) == row[i].value);
        (void)sprintf(line, "%s.R s1, s5(s6)", row[i].name); /* wraps */
        CHECK_ID("TILE-018 TILE-167", loaded(line) == row[i].value);
        harness_row(row[i].base);
        (void)sprintf(line, "%s.B s1, (s4)", row[i].name);
        CHECK_EQ(loaded(line), row[i].value);
        check_mode(line, 0x0C, 3, i);
        CHECK_ID("TILE-016 TILE-169", loaded(line) == row[i].value);
        harness_row("");
        CHECK_EQ(kernel_csr(&k, 0, "perf_load"), 1);
        CHECK_EQ(k.status, 0);
    }
    CLOSE();
}

TEST(pc_relative, "")
{
    OPEN();
    harness_row("TILE-019 TILE-216");
    kernel_exec(&k, "ADDI s9, s0, 1\nLW.P s1, 8\nEXIT\n.word 0x01FE8380");
    CHECK_EQ(k.s[1], 0x01FE8380);
    check_mode("LW.P s1, 8", 0x0C, 2, 2);
    harness_row("TILE-019 TILE-208");
    kernel_exec(&k, "LB.P s2, 8\nEXIT\n.word 0x01FE8380");
    CHECK_EQ(k.s[2], 0xFFFFFF80);
    check_mode("LB.P s2, 8", 0x0C, 2, 0);
    harness_row("TILE-019 TILE-212");
    kernel_exec(&k, "LW.PL s1, 12\nLH.P s2, 8\nEXIT\n.word 0x01FE8380");
    CHECK_EQ(k.s[1], 0x01FE8380);
    CHECK_EQ(k.s[2], 0xFFFF8380);
    check_mode("LH.P s2, 8", 0x0C, 2, 1);
    harness_row("TILE-019");
    k.s[3] = 0x12345678;
    kernel_exec(&k, "ADDI s9, s0, 1\nSW.P s3, 28\nSB.P s3, 28\nSH.PL s3, 0x20");
    harness_row("TILE-019 TILE-230");
    CHECK_EQ(kernel_get(&k, VRAM + 32), 0x12345678);
    check_mode("SW.P s3, 28", 0x0D, 2, 2);
    harness_row("TILE-019 TILE-222");
    CHECK_EQ(kernel_get(&k, VRAM + 36) & 0xFF, 0x78);
    check_mode("SB.P s3, 28", 0x0D, 2, 0);
    harness_row("TILE-019 TILE-226");
    CHECK_EQ(kernel_get(&k, VRAM + 44) & 0xFFFF, 0x5678);
    kernel_exec(&k, "SH.P s3, 28");
    CHECK_EQ(kernel_get(&k, VRAM + 28) & 0xFFFF, 0x5678);
    check_mode("SH.P s3, 28", 0x0D, 2, 1);
    CHECK_ID("TILE-170", (kernel_word("LW.P s1, 8") >> 15 & 31) == 0);
    harness_row("TILE-168"); /* the rs1 field is ignored */
    k.s[7] = 0x1000;
    kernel_put(&k, VRAM + 8, 0xCAFEF00D);
    kernel_put(&k, VRAM + 0, kernel_word("LW.P s1, 8") | 7 << 15);
    kernel_exec_word(&k, kernel_word("LW.P s1, 8") | 7 << 15);
    CHECK_EQ(k.s[1], 0xCAFEF00D);
    harness_row("TILE-286");
    k.v[2] = (union vec){.w = {1, 2, 3, 4}};
    kernel_exec(&k, "VST.V.PL v2, 64\nVLD.V.PL v3, 60\nVLD.V.P v4, 24");
    CHECK_EQ(kernel_get(&k, VRAM + 64 + 12), 4);
    CHECK(memcmp(&k.v[3], &k.v[2], 16) == 0);
    CLOSE();
}

TEST(scalar_stores, "")
{
    static const struct {
        const char *name;
        uint32_t value;
        const char *ids[4];
    } row[] = {{"SB",
                0x111111DD,
                {"TILE-176 TILE-220", "TILE-176 TILE-221", "TILE-176 TILE-223", "TILE-176"}},
               {"SH",
                0x1111CCDD,
                {"TILE-177 TILE-224", "TILE-177 TILE-225", "TILE-177 TILE-227", "TILE-177"}},
               {"SW",
                0xAABBCCDD,
                {"TILE-178 TILE-228", "TILE-178 TILE-229", "TILE-178 TILE-231", "TILE-178"}}};

    OPEN();
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned form = 0; form < 4; form++) {
            static const char *const forms[] = {
                "%s s1, 8(s2)", "%s.R s1, s3(s2)", "%s.B s1, (s4)", "%s s1, -8(s6)"};
            char line[64];

            kernel_put(&k, DATA + 64, 0x11111111);
            kernel_put(&k, DATA + 68, 0x22222222);
            k.s[1] = 0xAABBCCDD;
            k.s[2] = DATA + 56;
            k.s[3] = 8;
            k.s[4] = DATA + 64;
            k.s[6] = DATA + 72;
            (void)sprintf(line, forms[form], row[i].name);
            kernel_exec(&k, line);
            harness_row(row[i].ids[form]);
            if (form < 3) {
                check_mode(line, 0x0D, form == 2 ? 3 : form, i);
            }
            CHECK_EQ(kernel_get(&k, DATA + 64), row[i].value);
            CHECK_EQ(kernel_get(&k, DATA + 68), 0x22222222);
            CHECK_EQ(kernel_csr(&k, 0, "perf_store"), 1);
        }
    }
    CLOSE();
}

TEST(misaligned, "")
{
    OPEN();
    for (unsigned i = 0; i < 64; i++) {
        uint8_t byte = (uint8_t)(0x80 + i);

        CHECK(facet_machine_write(k.machine, 0, DATA + 32 + i, &byte, 1, NULL) == FACET_OK);
    }
    for (unsigned offset = 0; offset < 40; offset++) { /* across a line of the cache as well */
        uint32_t b = 0x80 + offset;

        k.s[2] = DATA + 32 + offset;
        kernel_exec(&k, "LW s1, 0(s2)\nLHU s3, 0(s2)\nVLD.V v1, 0(s2)\nADDI s5, s0, 1");
        harness_row("TILE-179 TILE-493");
        CHECK_EQ(k.s[1], b | (b + 1) << 8 | (b + 2) << 16 | (b + 3) << 24);
        CHECK_EQ(k.s[3], b | (b + 1) << 8);
        CHECK_ID("TILE-493", k.v[1].b[15] == b + 15);
        CHECK_ID("TILE-180 TILE-494", k.status == (offset % 16 != 0 ? ST_MISAL : 0));
        CHECK_ID("TILE-495", k.s[5] == 1);
    }
    harness_row("TILE-180");
    k.s[2] = DATA + 2;
    k.s[1] = 5;
    k.config = 0x200; /* ALIGN_TRAP */
    kernel_exec(&k, "LW s1, 0(s2)");
    CHECK_EQ(k.cause, 7);
    CHECK_EQ(k.fault_addr, DATA + 2);
    CHECK_EQ(k.s[1], 5);
    CHECK_EQ(k.status, ST_MEMF);
    kernel_exec(&k, "LH s1, 0(s2)");
    CHECK_EQ(k.cause, 0);
    kernel_exec(&k, "VST.V v1, 0(s2)");
    CHECK_EQ(k.cause, 7);
    k.s[3] = 2; /* lane 1 is the first that is not aligned */
    k.s[2] = DATA;
    kernel_exec(&k, "VLD.S v1, (s2), s3");
    CHECK_EQ(k.cause, 7);
    CHECK_EQ(k.fault_addr, DATA + 2);
    kernel_exec(&k, "VLD.S16 v1, (s2), s3");
    CHECK_EQ(k.cause, 0);
    k.config = 0;
    k.s[2] = DATA + 1;
    kernel_exec(&k, "SW s1, 0(s2)\nCSRR s4, status\nCSRRW s0, status, s0\nCSRR s5, status");
    CHECK_ID("TILE-494", k.s[4] == ST_MISAL);
    CHECK_ID("TILE-494", k.s[5] == 0);
    CLOSE();
}

TEST(unit_stride_vectors, "")
{
    OPEN();
    for (unsigned i = 1; i < 32; i++) {
        char line[128];

        k.v[i] = (union vec){.w = {i, i << 8, i << 16, i << 24}};
        k.s[2] = DATA;
        (void)sprintf(line, "VST.V v%u, 16(s2)\nVLD.V v%u, 16(s2)", i, 32 - i);
        kernel_exec(&k, line);
        for (unsigned lane = 0; lane < 4; lane++) {
            CHECK_ID("TILE-277 TILE-287 TILE-295",
                     kernel_get(&k, DATA + 16 + 4 * lane) == i << 8 * lane);
            CHECK_ID("TILE-004 TILE-277 TILE-287 TILE-288", k.v[32 - i].w[lane] == i << 8 * lane);
        }
    }
    CHECK_ID("TILE-282 TILE-546", (kernel_word("VLD.V v3, 16(s1)") >> 20 & 31) == 16);
    CHECK_ID("TILE-288", (kernel_word("VLD.V v3, 16(s1)") & 0xFE00707F) == 0x11);
    CHECK_ID("TILE-295", (kernel_word("VST.V v3, 16(s1)") & 0xFE00707F) == 0x12);
    harness_row("TILE-269");
    kernel_exec(&k, "VADD.I32 v0, v1, v2\nVST.V v0, 0(s2)");
    for (unsigned i = 0; i < 16; i += 4) {
        CHECK_EQ(kernel_get(&k, DATA + i), 0);
    }
    harness_row("");
    k.v[1] = (union vec){.w = {9, 8, 7, 6}};
    k.v[3] = (union vec){.d = {0, 0}};
    k.s[3] = 32;
    k.vstride = 4096;
    kernel_exec(&k,
                "VST.V v1, 0(s2)\nVST.V.L v1, -16(s2)\nVST.V.R v1, s3(s2)\nVST.V.B v1, (s2)\n"
                "VLD.V v3, 0(s2)");
    CHECK_ID("TILE-572", kernel_get(&k, DATA + 4096) == 9 && kernel_get(&k, DATA + 4108) == 6);
    CHECK_ID("TILE-572", kernel_get(&k, DATA + 4096 - 16) == 9);
    CHECK_ID("TILE-283 TILE-548", kernel_get(&k, DATA + 32) == 9);
    CHECK_ID("TILE-548", kernel_get(&k, DATA) == 9);
    CHECK_ID("TILE-546 TILE-547", k.v[3].w[3] == 6);
    CHECK_EQ(kernel_csr(&k, 0, "perf_store"), 4);
    kernel_put(&k, DATA + 32, 77); /* the dynamic row pointer knows no vstride */
    kernel_exec(&k, "VLD.V.R v3, s3(s2)");
    CHECK_ID("TILE-283 TILE-548", k.v[3].w[0] == 77);
    CLOSE();
}

TEST(strided_and_indexed, "")
{
    OPEN();
    k.vstride = 64; /* ignored by all of these */
    for (unsigned i = 0; i < 64; i++) {
        kernel_put(&k, DATA + 4 * i, 0x01010101u * i);
    }
    k.s[1] = DATA;
    k.s[2] = 12;
    kernel_exec(&k, "VLD.S v1, (s1), s2\nVLD.S16 v2, (s1), s2\nVLD.S8 v3, (s1), s2");
    harness_row("TILE-278 TILE-549 TILE-570");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(k.v[1].w[i], 0x03030303u * i);
        CHECK_EQ(k.v[2].h[i + 4], 0x0303u * (i + 4));
        CHECK_EQ(k.v[3].b[i + 12], 3 * (i + 12));
    }
    CHECK_EQ(kernel_word("VLD.S16 v3, (s1), s2"), 0x08209191);
    harness_row("TILE-284");
    k.s[1] = DATA + 24;
    k.s[2] = (uint32_t)-8;
    kernel_exec(&k, "VLD.S v1, (s1), s2");
    CHECK_EQ(k.v[1].w[3], 0);
    CHECK_EQ(k.v[1].w[0], 0x06060606);
    k.s[2] = 0;
    kernel_exec(&k, "VLD.S v1, (s1), s2");
    CHECK_EQ(k.v[1].w[3], 0x06060606);
    k.s[1] = DATA;
    k.v[4] = (union vec){.w = {0, 64, 4, 60}};
    kernel_exec(&k, "VLDX v1, (s1), v4\nVLDX.L v2, -4(s1), v4");
    harness_row("TILE-279 TILE-285");
    CHECK_EQ(k.cause, 0);
    CHECK_EQ(k.v[1].w[1], 0x10101010);
    CHECK_EQ(k.v[1].w[3], 0x0F0F0F0F);
    harness_row("TILE-285 TILE-550");
    CHECK_EQ(k.v[2].w[2], 0);
    CHECK_EQ(k.v[2].w[1], 0x0F0F0F0F);
    harness_row("TILE-570");
    for (unsigned i = 0; i < 8; i++) {
        k.v[5].h[i] = (uint16_t)(8 * i);
        k.v[6].b[2 * i] = (uint8_t)(0xFC - 4 * i);
        k.v[6].b[2 * i + 1] = (uint8_t)(4 * i);
    }
    kernel_exec(&k, "VLDX16 v1, (s1), v5\nVLDX8 v2, (s1), v6");
    CHECK_EQ(k.v[1].h[7], 0x0E0E);
    k.v[5].h[3] = 0x8004; /* zero-extended, not below s1 */
    kernel_put(&k, DATA + 0x8004, 0x7777CAFE);
    kernel_exec(&k, "VLDX16 v3, (s1), v5");
    CHECK_EQ(k.v[3].h[3], 0xCAFE);
    kernel_put(&k, DATA + 0x8004, 0);
    kernel_exec(&k, "VSTX16 v3, (s1), v5");
    CHECK_EQ(kernel_get(&k, DATA + 0x8004), 0xCAFE);
    CHECK_EQ(k.v[2].b[0], 0x3F); /* zero-extended */
    CHECK_EQ(k.v[2].b[15], 7);
    k.v[7] = (union vec){.w = {0x11, 0x22, 0x33, 0x44}};
    k.v[4] = (union vec){.w = {0, 8, 0, 8}};
    harness_row("TILE-300");
    CHECK_EQ(kernel_word("VSTX v7, (s1), v4") & 0xFE00707F, 0x2012);
    kernel_exec(&k, "VSTX v7, (s1), v4"); /* the higher lane wins */
    CHECK_EQ(kernel_get(&k, DATA), 0x33);
    CHECK_EQ(kernel_get(&k, DATA + 8), 0x44);
    harness_row("TILE-284");
    k.s[2] = 2;
    kernel_exec(&k, "VST.S v7, (s1), s2"); /* overlapping lanes in rising order */
    CHECK_EQ(kernel_get(&k, DATA), 0x00220011);
    CHECK_EQ(kernel_get(&k, DATA + 4), 0x00440033);
    CHECK_EQ(k.status, ST_MISAL);
    harness_row("TILE-285 TILE-550");
    k.v[4] = (union vec){.w = {0, 16, 32, 48}};
    kernel_exec(&k, "VSTX.L v7, 8(s1), v4\nVST.S8 v7, (s1), s2");
    CHECK_EQ(kernel_get(&k, DATA + 56), 0x44);
    CLOSE();
}

TEST(constant_space, "")
{
    OPEN();
    k.packet.const_base = DATA;
    k.packet.const_size = 32;
    for (unsigned i = 0; i < 12; i++) {
        kernel_put(&k, DATA + 4 * i, 100 + i);
    }
    kernel_exec(&k,
                "VLD.C v1, c1(s0)\nCSRR s5, const_base\nCSRR s6, const_size\nLW s7, 4(s5)\n"
                "VLD.C.L v2, 8(s0)");
    CHECK_ID("TILE-580", k.cause == 0);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_ID("TILE-005 TILE-280 TILE-524", k.v[1].w[i] == 104 + i);
    }
    CHECK_EQ(k.v[2].w[0], 102);
    CHECK_EQ(k.status, ST_MISAL);
    CHECK_ID("TILE-519", k.s[5] == DATA);
    CHECK_ID("TILE-520", k.s[6] == 32);
    CHECK_ID("TILE-535", k.s[7] == 101);
    harness_row("TILE-580");
    kernel_exec(&k, "VLD.C v1, c2(s0)");
    CHECK_EQ(k.cause, 4);
    CHECK_EQ(k.fault_addr, DATA + 32);
    kernel_exec(&k, "VLD.C.L v1, 17(s0)");
    CHECK_EQ(k.cause, 4);
    k.config = 0x200; /* ALIGN_TRAP: cause 7 before cause 4 */
    kernel_exec(&k, "VLD.C.L v1, 17(s0)");
    CHECK_EQ(k.cause, 7);
    CHECK_EQ(k.fault_addr, DATA + 17);
    k.config = 0x200;
    kernel_exec(&k, "VLD.C v1, c2(s0)");
    CHECK_EQ(k.cause, 4);
    k.config = 0;
    k.s[1] = 0xFFFFFFF8; /* the offset wraps in 32 bits, the comparison does not */
    kernel_exec(&k, "VLD.C v1, c0(s1)");
    CHECK_EQ(k.cause, 4);
    CHECK_EQ(k.fault_addr, DATA - 8);
    harness_row("TILE-535 TILE-536");
    k.s[2] = DATA - 2;
    kernel_exec(&k, "SW s1, 0(s2)"); /* its third byte is the first of the region */
    CHECK_EQ(k.cause, 6);
    CHECK_EQ(k.fault_addr, DATA);
    kernel_exec(&k, "SW s1, 2(s2)");
    CHECK_EQ(k.cause, 6);
    CHECK_EQ(k.fault_addr, DATA);
    k.s[2] = DATA + 28;
    kernel_exec(&k, "AADD s1, s0, (s2)");
    CHECK_EQ(k.cause, 6);
    kernel_exec(&k, "SW s0, 4(s2)");
    CHECK_EQ(k.cause, 0);
    CHECK_EQ(kernel_get(&k, DATA + 28), 107);
    CLOSE();
}

TEST(regions, "TILE-047")
{
    static const struct {
        const char *line;
        uint32_t s2, cause, address;
    } row[] = {
        {"LW s1, 0(s2)", 0, 4, 0},
        {"LW s1, 0(s2)", VRAM + (1 << 20), 4, VRAM + (1 << 20)},
        {"LW s1, 0(s2)", VRAM + (1 << 20) - 2, 4, VRAM + (1 << 20)},
        {"LW s1, 0(s2)", VRAM - 1, 4, VRAM - 1},
        {"LW s1, 0(s2)", 0xFFFFFFFE, 4, 0xFFFFFFFE},
        {"SW s1, 0(s2)", VRAM + (1 << 20) - 4, 0, 0},
        {"SW s1, 0(s2)", SCRATCH, 0, 0},
        {"SW s1, 0(s2)", SCRATCH + 4096, 5, SCRATCH + 4096},
        {"SB s1, 0(s2)", SCRATCH + 4095, 0, 0},
        {"SH s1, 0(s2)", SCRATCH + 4095, 5, SCRATCH + 4096},
        {"LB s1, 0(s2)", SCRATCH - 1, 4, SCRATCH - 1},
        {"LW s1, 0(s2)", IMEM + 0xFFFC, 0, 0},
        {"VLD.V v1, 0(s2)", IMEM + 0x1000, 0, 0},
        {"SW s1, 0(s2)", IMEM, 5, IMEM},
        {"AADD s1, s0, (s2)", IMEM, 5, IMEM},
        {"AADD s1, s0, (s2)", SCRATCH, 0, 0},
        {"AADD s1, s0, (s2)", SAMPLER, 5, SAMPLER},
        {"LW s1, 0(s2)", SAMPLER + 4, 0, 0},
        {"LW s1, 0(s2)", SAMPLER + 2, 4, SAMPLER + 2},
        {"LH s1, 0(s2)", SAMPLER, 4, SAMPLER},
        {"SB s1, 0(s2)", SAMPLER, 5, SAMPLER},
        {"VLD.V v1, 0(s2)", SAMPLER + 16, 0, 0},
        {"VLD.V v1, 0(s2)", SAMPLER + 4, 4, SAMPLER + 4},
        {"VST.V v1, 0(s2)", SAMPLER + 0x3F0, 0, 0},
        {"VST.V v1, 0(s2)", SAMPLER + 0x400, 5, SAMPLER + 0x400},
        {"VLD.S v1, (s2), s0", SAMPLER, 4, SAMPLER},
        {"AADD s1, s0, (s2)", VRAM + 2, 8, VRAM + 2},
        {"AADD s1, s0, (s2)", 2, 8, 2},
        {"AADD s1, s0, (s2)", 0, 5, 0},
        {"VATOM.ADD v1, v2, 0(s2)", VRAM + (1 << 20) - 8, 5, VRAM + (1 << 20)},
    };

    OPEN();
    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        k.s[2] = row[i].s2;
        k.s[1] = 0x1234;
        kernel_exec(&k, row[i].line);
        harness_row(row[i].s2 == SCRATCH + 4096        ? "TILE-529 TILE-533"
                    : row[i].s2 >> 12 == SCRATCH >> 12 ? "TILE-533"
                                                       : "");
        CHECK_MSG(k.cause == row[i].cause && k.fault_addr == row[i].address,
                  "%s at 0x%x: cause %u, address 0x%x, expected %u, 0x%x",
                  row[i].line,
                  (unsigned)row[i].s2,
                  (unsigned)k.cause,
                  (unsigned)k.fault_addr,
                  (unsigned)row[i].cause,
                  (unsigned)row[i].address);
        CHECK_EQ(k.fault_pc, row[i].cause != 0 ? VRAM : 0);
        CHECK(row[i].cause == 0 || (k.status & (ST_MEMF | ST_MISAL)) == ST_MEMF);
        CHECK(row[i].cause == 0 || k.s[1] == 0x1234);
        CHECK_EQ(k.retired, row[i].cause == 0 ? 2 : 0);
    }
    kernel_exec(&k,
                "CSRR s1, sm_base\nCSRR s2, sm_size\nSW s2, 4(s1)\nBARR.SYNC\nMEMBAR\n"
                "LW s3, 4(s1)");
    CHECK_ID("TILE-517", k.s[1] == SCRATCH);
    CHECK_ID("TILE-518 TILE-529", k.s[2] == 4096);
    CHECK_ID("TILE-517 TILE-533 TILE-534", k.s[3] == 4096);
    harness_row("");
    kernel_exec(&k, "CSRR s1, sm_base\nLW s3, 4(s1)"); /* zero at every tile start */
    CHECK_EQ(k.s[3], 0);
    CLOSE();
}

/* 3, 1, 2, 8, 7, 6, 5/4; the lowest lane for which the cause holds. */
TEST(fault_priority, "TILE-536")
{
    OPEN();
    k.packet.const_base = DATA;
    k.packet.const_size = 64;
    k.config = 0x200;
    k.s[1] = 0;
    k.v[4] =
        (union vec){.w = {4, DATA + 4, DATA + 2, 6}}; /* unmapped, constant, misaligned, both */
    kernel_exec(&k, "VSTX v1, (s1), v4");
    CHECK_EQ(k.cause, 7);
    CHECK_EQ(k.fault_addr, DATA + 2);
    k.config = 0;
    kernel_exec(&k, "VSTX v1, (s1), v4");
    CHECK_EQ(k.cause, 6);
    CHECK_EQ(k.fault_addr, DATA + 4);
    kernel_exec(&k, "VLDX v1, (s1), v4");
    CHECK_EQ(k.cause, 4);
    CHECK_EQ(k.fault_addr, 4);
    kernel_exec(&k, "VATOM.ADD.X v1, v2, (s1), v4");
    CHECK_EQ(k.cause, 8);
    CHECK_EQ(k.fault_addr, DATA + 2);
    CHECK_EQ(k.status, ST_MEMF);
    CLOSE();
}

TEST(illegal_words, "")
{
    static const uint32_t words[] = {0,
                                     0xFFFFFFFF,
                                     0x002081AF, /* VADD.I32 with bit 25 clear */
                                     0x00004011 | 1 << 7,
                                     0x00007011,
                                     0x02002013, /* TEX2D with funct3 010 */
                                     0x0E007010, /* VPERM 111 */
                                     0x0000500F,
                                     0x0000600F,
                                     0x0200302F};
    static const char *const ids[] = {"",
                                      "",
                                      "TILE-029",
                                      "TILE-281",
                                      "TILE-281",
                                      "TILE-322",
                                      "TILE-551",
                                      "TILE-552",
                                      "TILE-552",
                                      "TILE-571"};

    OPEN();
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        harness_row(ids[i]);
        kernel_exec_word(&k, words[i]);
        CHECK_EQ(k.cause, 1);
        CHECK_EQ(k.fault_addr, words[i]);
        CHECK_EQ(k.fault_pc, VRAM);
        CHECK_EQ(k.status, ST_ILL);
        CHECK_EQ(k.retired, 0);
    }
    CLOSE();
}

TEST(fetch, "TILE-011 TILE-512 TILE-525")
{
    static const uint8_t bytes[] = {0x97, 0x00, 0x00, 0x80, 0x0F, 0x70, 0x10, 0x00};

    OPEN();
    CHECK(facet_machine_write(k.machine, 0, IMEM + 0x100, bytes, sizeof bytes, NULL) == FACET_OK);
    k.packet.pc = IMEM + 0x100;
    kernel_run(&k);
    CHECK_EQ(k.s[1], 0xFFFFF800);
    k.packet.pc = VRAM;
    kernel_exec(&k, "LUI s2, 0x40000\nJALR s1, 8(s2)");
    CHECK_EQ(k.cause, 3);
    CHECK_EQ(k.fault_pc, 0x40000008);
    CHECK_EQ(k.fault_addr, 0x40000008);
    CHECK_EQ(k.retired, 2); /* the jump retires */
    CHECK_EQ(k.s[1], VRAM + 8);
    /* Off the end of VRAM, one instruction after the other. */
    k.packet.pc = VRAM + (1 << 20) - 4;
    kernel_put(&k, k.packet.pc, kernel_word("ADDI s1, s0, 1"));
    kernel_run(&k);
    CHECK_EQ(k.cause, 3);
    CHECK_EQ(k.fault_pc, VRAM + (1 << 20));
    CHECK_EQ(k.retired, 1);
    /* Over a page boundary. */
    k.packet.pc = VRAM + 0x1FFC;
    CHECK(kernel_load(&k, k.packet.pc, "ADDI s1, s0, 1\nADDI s1, s1, 1\nEXIT"));
    kernel_run(&k);
    CHECK_EQ(k.s[1], 2);
    CHECK_EQ(k.cause, 0);
    CLOSE();
}

/* What a program calls .bss is zero after it was loaded, and nothing beside it. */
TEST(programs_bring_their_zeros, "")
{
    struct facet_asm_options options = {.isa = FACET_ISA_TILE, .has_base = true, .base = DATA};
    const char *text = "EXIT\n.data\n.word 7\n.bss\n.zero 5000\n";
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint8_t *elf = NULL;
    size_t size = 0;

    OPEN();
    for (uint32_t at = DATA; at < DATA + 8192; at += 4) {
        kernel_put(&k, at, 0xFFFFFFFF);
    }
    CHECK(facet_assemble(&options, text, strlen(text), &result, NULL) == FACET_OK);
    CHECK(facet_elf_write(result.object, &elf, &size, NULL) == FACET_OK);
    CHECK(facet_tile_load_elf(k.machine, elf, size, NULL, NULL) == FACET_OK);
    for (size_t i = 0; i < result.object->section_count; i++) {
        const struct facet_section *s = &result.object->sections[i];

        if (s->nobits) {
            for (uint32_t at = 0; at < s->size; at += 4) {
                CHECK_EQ(kernel_get(&k, (uint32_t)s->address + at), 0);
            }
            CHECK_EQ(kernel_get(&k, (uint32_t)(s->address + s->size)), 0xFFFFFFFF);
        }
    }
    facet_asm_result_free(&result);
    free(elf);

    options.base = 0x90000000; /* where no memory is */
    CHECK(facet_assemble(&options, "EXIT", 4, &result, NULL) == FACET_OK);
    CHECK(facet_elf_write(result.object, &elf, &size, NULL) == FACET_OK);
    CHECK(facet_tile_load_elf(k.machine, elf, size, NULL, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "needs 0x90000000..0x90000004") != NULL);
    facet_asm_result_free(&result);
    free(elf);
    CLOSE();
}

/* One core loops in a page of code while another runs through more pages than the machine keeps
 * decoded: nobody loses the page that it stands in. */
TEST(more_pages_of_code_than_are_kept, "TILE-011")
{
    enum { PAGES = 200 };

    OPEN();
    CHECK(kernel_load(&k,
                      VRAM,
                      "CSRR s1, core_id\nADDI s2, s0, 1000\nBNE s1, s0, walk\n"
                      "loop: ADDI s3, s3, 1\nCSRR s4, time_lo\nBNE s3, s2, loop\nEXIT\n"
                      "walk: J walk + 4096"));
    for (uint32_t i = 1; i < PAGES; i++) {
        CHECK(kernel_load(&k, VRAM + 28 + 4096 * i, "ADDI s3, s3, 1\nhere: J here + 4092"));
    }
    CHECK(kernel_load(&k, VRAM + 28 + 4096 * PAGES, "EXIT"));
    k.packet.columns = 2;
    kernel_run(&k);
    CHECK_EQ(k.stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(kernel_reg(&k, 0, "s3"), 1000);
    CHECK_EQ(kernel_reg(&k, 1, "s3"), PAGES - 1);
    k.packet.columns = 1;
    CLOSE();
}

TEST(stores_change_code_when_published, "TILE-011 TILE-038")
{
    OPEN();
    /* The patched word runs the old way until MEMBAR: fetch reads published memory. */
    kernel_put(&k, DATA, kernel_word("ADDI s3, s3, 16"));
    kernel_exec(&k,
                "LUI s1, 0x80010\nLW s2, 0(s1)\nLUI s4, 0x80000\nSW s2, 20(s4)\nADDI s5, s0, 2\n"
                "again: ADDI s3, s3, 1\nMEMBAR\nADDI s5, s5, -1\nBNE s5, s0, again");
    CHECK_EQ(k.s[3], 17);
    CLOSE();
}

TEST(reduced_registers, "TILE-006")
{
    static const struct facet_tile_config config = {.regs = 16};
    static const char *const bad[] = {"ADD s16, s1, s1",
                                      "ADD s1, s16, s1",
                                      "ADD s1, s1, s31",
                                      "FADD f16, f1, f1",
                                      "VADD.I32 v1, v2, v16",
                                      "VLD.C v1, c16(s0)",
                                      "SW s17, 0(s1)",
                                      "FMADD f1, f2, f3, f16"};

    kernel_open(&k, &config);
    CHECK_EQ(kernel_csr(&k, 0, "hwinfo") & 0xFF, 16);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kernel_exec(&k, bad[i]);
        CHECK_MSG(k.cause == 1, "%s is legal", bad[i]);
    }
    kernel_exec(&k, "ADD s15, s1, s1\nVADD.I32 v15, v2, v3\nSHLI s1, s2, 20");
    CHECK_EQ(k.cause, 0);
    CLOSE();
}
