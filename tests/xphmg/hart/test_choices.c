/* The choices of a core as keys of the configuration: extensions, modes, misaligned accesses, the
 * platform. Every program runs in all ways of the machine, which must leave the same snapshot. */
#include "harness.h"

#include "xphmg/hart/machines.h"

#include <stdio.h>
#include <stdlib.h>

/* Traps are written to a log: mcause, mtval, mepc. The handler goes on behind the instruction, at
 * s10 after a trap of the fetch; where mepc cannot hold that, two bytes later. */
#define WITH_LOG                                                                                   \
    "la t0, handler\n csrw mtvec, t0\n la s11, log\n j main\n"                                     \
    ".balign 4\n handler:\n csrr t6, mcause\n sd t6, 0(s11)\n csrr t5, mtval\n sd t5, 8(s11)\n"    \
    "csrr t5, mepc\n sd t5, 16(s11)\n addi s11, s11, 24\n"                                         \
    "mv t4, t5\n lhu t3, 0(t4)\n andi t3, t3, 3\n addi t3, t3, -3\n"                               \
    "addi t5, t5, 2\n bnez t3, short\n addi t5, t5, 2\n short:\n"                                  \
    "addi t6, t6, -1\n blez t6, back\n csrw mepc, t5\n csrr t3, mepc\n"                            \
    "beq t3, t5, out\n addi t5, t5, 2\n csrw mepc, t5\n out: mret\n"                               \
    "back: csrw mepc, s10\n mret\n"                                                                \
    ".balign 8\n log: .zero 4096\n .balign 16\n data: .zero 64\n main:\n"
/* The program runs three times, so that all of it becomes host code; the last log counts. */
#define AGAIN "addi s9, s9, 1\n li t6, 3\n la s11, log\n blt s9, t6, main\n"
#define END "li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n j .\n"

static uint64_t log_word(facet_machine *m, unsigned entry, unsigned word)
{
    const uint64_t ram = machines_region(m, "ram").base;
    uint8_t bytes[8] = {0};
    uint64_t at = ram + machines_symbol("log") - machines_base() + 24 * entry + 8 * word;

    CHECK(facet_machine_read(m, 0, at, bytes, sizeof bytes, NULL) == FACET_OK);
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

/* ---- isa --------------------------------------------------------------------------------------
 */

/* One instruction of each extension, and those at borders. */
static const struct {
    const char *text;
    const char *needs; /* letters of the table below */
} samples[] = {
    {"add t1, t1, t1", ""},
    {"mul t1, t1, t1", "m"},
    {"remuw t1, t1, t1", "m"},
    {"amoadd.w t1, t1, (s8)", "a"},
    {"lr.d t1, (s8)", "a"},
    {"flw ft0, 0(s8)", "f"},
    {"fadd.s ft0, ft0, ft0", "f"},
    {"fmv.x.w t1, ft0", "f"},
    {"fcvt.l.s t1, ft0", "f"},
    {"fld ft0, 0(s8)", "fd"},
    {"fadd.d ft0, ft0, ft0", "fd"},
    {"fcvt.s.d ft0, ft0", "fd"},
    {"flh ft0, 0(s8)", "fh"},
    {"fadd.h ft0, ft0, ft0", "fh"},
    {"fcvt.s.h ft0, ft0", "fh"},
    {"fcvt.h.d ft0, ft0", "fhd"},
    {"fcvt.d.h ft0, ft0", "fhd"},
    {"c.addi t1, 1", "c"},
    {"c.nop", "c"},
    {"c.fld fa0, 0(s0)", "cfd"},
    {"c.fsdsp fa0, 0(sp)", "cfd"},
    {"c.ld a0, 0(s0)", "c"},
    {"fence.i", "i"},
    {"fence", ""},
    {"sh1add t1, t1, t1", "1"},
    {"add.uw t1, t1, t1", "1"},
    {"clz t1, t1", "2"},
    {"rev8 t1, t1", "2"},
    {"bset t1, t1, t1", "3"},
    {"bexti t1, t1, 4", "3"},
    {"csrr t1, mscratch", ""},
    {"csrr t1, cycle", "n"},
    {"csrr t1, time", "n"},
    {"csrr t1, hpmcounter7", "p"},
    {"csrr t1, mhpmcounter7", ""},
    {"csrr t1, fcsr", "f"},
    {"csrr t1, frm", "f"},
    {"csrwi fflags, 1", "f"},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static const struct {
    const char *isa;
    const char *has;
    uint64_t misa; /* the letters alone */
} isas[] = {
    {"rv64i", "", 0x100},
    {"rv64im", "m", 0x1100},
    {"rv64imac", "mac", 0x1105},
    {"RV64IMAC_Zicsr_Zifencei", "maci", 0x1105},
    {"rv64g", "mafdi", 0x1129},
    {"rv64gc", "mafdci", 0x112D},
    {"rv64if", "f", 0x120},
    {"rv64ifc", "fc", 0x124},
    {"rv64ifzfh", "fh", 0x120},
    {"rv64ifd_zfh_c", "fdhc", 0x12C},
    {"rv64ib", "123", 0x102},
    {"rv64i_zba", "1", 0x100},
    {"rv64izbb_zbs", "23", 0x100},
    {"rv64i_zba_zbb_zbs", "123", 0x102},
    {"rv64i2p1_m2p0_zicntr2p0_zihpm2p0", "mnp", 0x1100},
    {"rv64imafdcb_zfh_zifencei_zicntr_zihpm", "mafdcihnp123", 0x112F},
};

static bool covers(const char *has, const char *needs)
{
    while (*needs != '\0' && strchr(has, *needs) != NULL) {
        needs++;
    }
    return *needs == '\0';
}

TEST(an_instruction_exists_as_its_extension_does, "")
{
    for (size_t k = 0; k < sizeof isas / sizeof isas[0]; k++) {
        char text[8192], config[128];
        unsigned traps = 0;
        facet_machine *m;

        (void)snprintf(
            text,
            sizeof text,
            "%s la s8, data\n mv s0, s8\n mv sp, s8\n li t1, 0x2000\n csrs mstatus, t1\n",
            WITH_LOG);
        for (unsigned i = 0; i < SAMPLES; i++) {
            /* padded: what comes after a short one stays aligned */
            (void)snprintf(text + strlen(text),
                           sizeof text - strlen(text),
                           "%s\n .balign 4\n",
                           strncmp(samples[i].text, "c.", 2) == 0 ? "1:" : "");
            (void)snprintf(text + strlen(text),
                           sizeof text - strlen(text),
                           "%s\n%s",
                           samples[i].text,
                           strncmp(samples[i].text, "c.", 2) == 0 ? ".half 1\n" : "");
        }
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", AGAIN, END);
        (void)snprintf(config, sizeof config, "rv64,isa=%s", isas[k].isa);
        m = machines_run(config, text, 1);
        CHECK_EQ(machines_csr(m, 0, "misa") & 0x3FFFFFF, isas[k].misa | 0x100000);
        for (unsigned i = 0; i < SAMPLES; i++) {
            const bool compressed = strncmp(samples[i].text, "c.", 2) == 0;
            const bool good = covers(isas[k].has, samples[i].needs);

            if (!good) {
                CHECK_MSG(
                    log_word(m, traps, 0) == 2, "%s: %s is illegal", isas[k].isa, samples[i].text);
                CHECK_MSG(((log_word(m, traps, 1) & 3) != 3) == compressed &&
                              log_word(m, traps, 1) >> (compressed ? 16 : 32) == 0,
                          "%s: %s: mtval is the word",
                          isas[k].isa,
                          samples[i].text);
                traps++;
            }
        }
        CHECK_MSG(log_word(m, traps, 0) == 0, "%s: no more traps than %u", isas[k].isa, traps);
        CHECK_EQ(machines_csr(m, 0, "mstatus") >> 13 & 3, covers(isas[k].has, "f") ? 3 : 0);
        CHECK_EQ(facet_machine_find_csr(m, 0, "fcsr") != FACET_NONE, covers(isas[k].has, "f"));
        CHECK_EQ(facet_machine_find_csr(m, 0, "instret") != FACET_NONE, covers(isas[k].has, "n"));
        facet_machine_destroy(m);
    }
}

TEST(without_c_jumps_to_half_words_trap, "CAP-532")
{
    static const char text[] =
        WITH_LOG "la s8, target\n la s10, r0\n"
                 "j0: jal s7, j0 + 0x42\n r0:\n la s10, r1\n"
                 "j1: jalr s7, 2(s8)\n r1:\n la s10, r2\n"
                 "j2: jalr s7, 3(s8)\n r2:\n la s10, r3\n"
                 "j3: beq zero, zero, j3 - 6\n r3:\n la s10, r4\n"
                 "j4: bne zero, zero, j4 - 6\n r4:\n"
                 "jalr s6, 1(s8)\n"
                 "li t1, -1\n csrw mepc, t1\n csrr s5, mepc\n" AGAIN END "target: jr s6\n";
    static const uint64_t wild[] = {0x42, 0, 0, (uint64_t)-6};
    facet_machine *m = machines_run("rv64,isa=rv64im", text, 1);

    for (unsigned i = 0; i < 4; i++) {
        char name[3] = {'j', (char)('0' + i), '\0'};
        const uint64_t at = machines_symbol(name);

        CHECK_EQ(log_word(m, i, 0), 0);
        CHECK_EQ(log_word(m, i, 1),
                 i == 1 || i == 2 ? machines_symbol("target") + 2 : at + wild[i]);
        CHECK_EQ(log_word(m, i, 2), at);
    }
    CHECK_EQ(log_word(m, 4, 2), 0);
    CHECK_EQ(machines_reg(m, 0, "s7"), 0); /* no return address was written */
    CHECK_EQ(machines_reg(m, 0, "s5"), (uint64_t)-4);
    facet_machine_destroy(m);
    m = machines_run("rv64,isa=rv64imc", "li t1, -1\n csrw mepc, t1\n csrr s5, mepc\n" END, 1);
    CHECK_EQ(machines_reg(m, 0, "s5"), (uint64_t)-2);
    facet_machine_destroy(m);
}

TEST(without_u_there_is_one_mode, "")
{
    static const char text[] = WITH_LOG "li t1, -1\n csrw mstatus, t1\n csrr s2, mstatus\n"
                                        "csrw mstatus, zero\n csrr s3, mstatus\n"
                                        "la t1, on\n csrw mepc, t1\n mret\n on: csrr s4, mstatus\n"
                                        "csrr s5, mcounteren\n csrr s6, menvcfg\n ecall\n" END;
    facet_machine *m = machines_run("modes=m", text, 1);

    CHECK_EQ(machines_reg(m, 0, "s2"), UINT64_C(0x8000000000007888));
    CHECK_EQ(machines_reg(m, 0, "s3"), 0x1800);
    CHECK_EQ(machines_reg(m, 0, "s4"), 0x1880);
    CHECK_EQ(machines_csr(m, 0, "misa") >> 20 & 1, 0);
    CHECK_EQ(log_word(m, 0, 0), 2);
    CHECK_EQ(log_word(m, 1, 0), 2);
    CHECK_EQ(log_word(m, 2, 0), 11);
    CHECK_EQ(log_word(m, 3, 0), 0);
    facet_machine_destroy(m);
}

TEST(rv64_has_no_vendor_extension, "")
{
    static const char text[] = WITH_LOG "csrr t1, 0x7C0\n csrr t1, 0x7D0\n .word 0x0045658B\n"
                                        "li t1, 0x40000000\n lw t1, 0(t1)\n" AGAIN END;
    facet_machine *m = machines_run("rv64", text, 1);

    CHECK_EQ(machines_csr(m, 0, "misa") >> 23 & 1, 0);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(log_word(m, i, 0), 2);
    }
    CHECK_EQ(log_word(m, 3, 0), 5); /* no LDS */
    CHECK(facet_machine_find_csr(m, 0, "CAP.VERS") == FACET_NONE);
    CHECK(facet_machine_find_reg(m, 0, "p0") == FACET_NONE);
    facet_machine_destroy(m);
}

/* ---- misaligned accesses ----------------------------------------------------------------------
 */

static const struct {
    const char *text; /* s0 is the address */
    unsigned size;
    bool store, atomic;
} accesses[] = {
    {"lb t1, 0(s0)", 1, false, false},        {"lbu t1, 0(s0)", 1, false, false},
    {"lh t1, 0(s0)", 2, false, false},        {"lhu t1, 0(s0)", 2, false, false},
    {"lw t1, 0(s0)", 4, false, false},        {"lwu t1, 0(s0)", 4, false, false},
    {"ld t1, 0(s0)", 8, false, false},        {"sb t1, 0(s0)", 1, true, false},
    {"sh t1, 0(s0)", 2, true, false},         {"sw t1, 0(s0)", 4, true, false},
    {"sd t1, 0(s0)", 8, true, false},         {"flh ft0, 0(s0)", 2, false, false},
    {"flw ft0, 0(s0)", 4, false, false},      {"fld ft0, 0(s0)", 8, false, false},
    {"fsh ft0, 0(s0)", 2, true, false},       {"fsw ft0, 0(s0)", 4, true, false},
    {"fsd ft0, 0(s0)", 8, true, false},       {"c.lw a0, 0(s0)", 4, false, false},
    {"c.ld a0, 0(s0)", 8, false, false},      {"c.sw a0, 0(s0)", 4, true, false},
    {"c.sd a0, 0(s0)", 8, true, false},       {"c.fld fa0, 0(s0)", 8, false, false},
    {"c.fsd fa0, 0(s0)", 8, true, false},     {"lr.w t1, (s0)", 4, false, true},
    {"amoadd.d t1, t1, (s0)", 8, true, true}, {"sc.w t1, t1, (s0)", 4, true, true},
};
enum { ACCESSES = sizeof accesses / sizeof accesses[0] };

static void check_misaligned(const char *config, bool trap, uint64_t base)
{
    char *text = calloc(1, 1 << 16);
    unsigned traps = 0;
    facet_machine *m;

    (void)snprintf(text, 1 << 16, "%s li t1, 0x2000\n csrs mstatus, t1\n", WITH_LOG);
    for (unsigned offset = 0; offset < 8; offset++) {
        (void)snprintf(text + strlen(text), 4096, "la s0, data\n addi s0, s0, %u\n", offset);
        for (unsigned i = 0; i < ACCESSES; i++) {
            (void)snprintf(text + strlen(text), 4096, "%s\n", accesses[i].text);
        }
    }
    (void)snprintf(text + strlen(text), 4096, ".balign 4\n %s%s", AGAIN, END);
    m = machines_run_at(config, text, 1, base);
    for (unsigned offset = 0; offset < 8; offset++) {
        for (unsigned i = 0; i < ACCESSES; i++) {
            if (offset % accesses[i].size != 0 && (trap || accesses[i].atomic)) {
                CHECK_MSG(log_word(m, traps, 0) == (accesses[i].store ? 6 : 4) &&
                              log_word(m, traps, 1) == machines_symbol("data") + offset,
                          "%s: %s at %u",
                          config,
                          accesses[i].text,
                          offset);
                traps++;
            }
        }
    }
    CHECK_EQ(log_word(m, traps, 2), 0);
    facet_machine_destroy(m);
    free(text);
}

TEST(misaligned_loads_and_stores_trap_where_asked, "CAP-532")
{
    check_misaligned("misaligned=ok", false, 0x80000000);
    check_misaligned("misaligned=trap", true, 0x80000000);
    check_misaligned("rv64,misaligned=trap,ram=0x20000000000+1M", true, 0x20000000000);
    check_misaligned("rv64,misaligned=trap,ram=0x20000+512k", true, 0x20000);
    check_misaligned("rv64,misaligned=ok,ram=0x20000+512k", false, 0x20000);
}

TEST(misaligned_comes_before_missing_memory, "")
{
    static const char text[] =
        WITH_LOG "li s0, 0x7000001\n lw t1, 0(s0)\n sw t1, 0(s0)\n lw t1, 3(s0)\n" AGAIN END;
    facet_machine *m = machines_run("misaligned=trap", text, 1);

    CHECK_EQ(log_word(m, 0, 0), 4);
    CHECK_EQ(log_word(m, 1, 0), 6);
    CHECK_EQ(log_word(m, 2, 0), 5);
    facet_machine_destroy(m);
}

/* A lane of RSV is an access like any other; nothing is written. */
TEST(lanes_of_rsv_must_be_aligned_too, "")
{
    static const char text[] = WITH_LOG
        "la x10, data\n addi x11, x10, 6\n addi x12, x10, 8\n svsetvl x0, 3\n svon.one\n"
        "lw x20, 0(x10)\n svon.one\n sh x20, 1(x10)\n svon.one\n lh x20, 0(x10)\n" AGAIN END;
    facet_machine *m = machines_run("misaligned=trap", text, 1);

    CHECK_EQ(log_word(m, 0, 0), 4);
    CHECK_EQ(log_word(m, 0, 1), machines_symbol("data") + 6);
    CHECK_EQ(log_word(m, 1, 0), 6);
    CHECK_EQ(log_word(m, 1, 1), machines_symbol("data") + 1);
    CHECK_EQ(log_word(m, 2, 2), 0);
    facet_machine_destroy(m);
}

/* ---- the platform -----------------------------------------------------------------------------
 */

TEST(ram_can_be_anywhere, "")
{
    static const struct {
        const char *config;
        uint64_t base;
    } places[] = {
        {"rv64,ram=0x0+64k,finisher=0x100000", 0},
        {"full,ram=0x10000+256k", 0x10000},
        {"full,ram=0x20000000+1M", 0x20000000},
        {"full,ram=0xfff00000+2M", 0xFFF00000},
        {"full,ram=0x8000000000+1M", UINT64_C(0x8000000000)},
        {"rv64,ram=0x40000000+1M", 0x40000000},
    };
    static const char text[] =
        "la s0, data\n li s2, 0\n li s3, 200\n loop: sd s2, 0(s0)\n ld t1, 0(s0)\n add s4, s4, t1\n"
        "sb s2, 9(s0)\n lbu t2, 9(s0)\n add s4, s4, t2\n call add\n addi s2, s2, 1\n"
        "blt s2, s3, loop\n" END "add: addi s5, s5, 3\n ret\n .balign 8\n data: .zero 64\n";

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        facet_machine *m = machines_run_at(places[i].config, text, 1, places[i].base);

        CHECK_EQ(machines_reg(m, 0, "s4"), 2 * (199 * 200 / 2));
        CHECK_EQ(machines_reg(m, 0, "s5"), 600);
        CHECK_EQ(machines_region(m, "ram").base, places[i].base);
        facet_machine_destroy(m);
    }
}

TEST(devices_move_and_go, "")
{
    static const char moved[] = "li t0, 0x54000000\n li t1, 'x'\n sb t1, 0(t0)\n"
                                "la t0, on\n csrw mtvec, t0\n li t0, 8\n csrw mie, t0\n"
                                "csrsi mstatus, 8\n li t0, 0x3000000\n li t1, 1\n sw t1, 0(t0)\n"
                                "1: j 1b\n .balign 4\n on: csrr s2, mcause\n csrr s3, mhartid\n"
                                "li t5, 0x700000\n li t6, 0x93333\n sw t6, 0(t5)\n j .\n";
    static const char gone[] =
        WITH_LOG "li t0, 0x2000000\n lw t1, 0(t0)\n li t0, 0x10000000\n lb t1, 5(t0)\n"
                 "li t0, 0x100000\n sw t1, 0(t0)\n li t0, 0x11000000\n lw t1, 0(t0)\n"
                 "li s2, 1\n j .\n";
    facet_machine *m =
        machines_run("uart=0x54000000,clint=0x3000000,finisher=0x700000,hartid=0x11", moved, 1);

    CHECK_EQ(machines_reg(m, 0, "s2"), UINT64_C(1) << 63 | 3);
    CHECK_EQ(machines_reg(m, 0, "s3"), 0x11);
    CHECK_EQ(machines_stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(machines_stop.code, 9);
    CHECK(strcmp(machines_output, "x") == 0);
    facet_machine_destroy(m);
    m = machines_run("uart=none,clint=none,finisher=none,framebuffer=none", gone, 1);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(log_word(m, i, 0), i == 2 ? 7 : 5);
    }
    CHECK_EQ(machines_reg(m, 0, "s2"), 1);
    facet_machine_destroy(m);
}

TEST(harts_have_the_numbers_that_were_asked_for, "")
{
    static const char text[] = "mv s2, a0\n csrr s3, mhartid\n csrr s4, mvendorid\n"
                               "csrr s5, marchid\n csrr s6, mimpid\n li s7, 1\n 1: wfi\n j 1b\n";
    facet_machine *m = machines_run("hartid=40,mvendorid=0xfedcba98,marchid=0x8000000000000003,"
                                    "mimpid=12",
                                    text,
                                    3);

    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(machines_reg(m, i, "s2"), 40 + i);
        CHECK_EQ(machines_reg(m, i, "s3"), 40 + i);
        CHECK_EQ(machines_reg(m, i, "s4"), 0xFEDCBA98);
        CHECK_EQ(machines_reg(m, i, "s5"), UINT64_C(0x8000000000000003));
        CHECK_EQ(machines_reg(m, i, "s6"), 12);
    }
    facet_machine_destroy(m);
}

TEST(harts_start_where_they_reset, "")
{
    static const char text[] = "li s2, 1\n j .\n .balign 4\n .zero 44\n li s3, 1\n j .\n";
    facet_machine *m = machines_run("reset_pc=0x80000034", text, 1);

    CHECK_EQ(machines_reg(m, 0, "s2"), 0);
    CHECK_EQ(machines_reg(m, 0, "s3"), 1);
    facet_machine_reset(m);
    CHECK_EQ(machines_reg(m, 0, "pc"), 0x80000034);
    facet_machine_destroy(m);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

TEST(nonsense_is_refused_by_name, "")
{
    static const struct {
        const char *config, *complaint;
    } bad[] = {
        {"small", "unknown configuration 'small', expected full, min, prof or rv64"},
        {"isa=rv32i", "isa=rv32i: expected rv64i or rv64g"},
        {"isa=rv64", "isa=rv64: expected rv64i or rv64g"},
        {"isa=rv64imv", "extension 'v' is not supported, expected i m a f d c g b zicsr"},
        {"isa=rv64ih", "extension 'h' is not supported"},
        {"isa=rv64i_zve32x", "extension 'zve32x' is not supported"},
        {"isa=rv64i_xfoo", "extension 'xfoo' is not supported"},
        {"isa=rv64i_xfoo", "vendor extensions have keys of their own"},
        {"isa=rv64i_sstc", "extension 'sstc' is not supported"},
        {"isa=rv64i__m", "extension '__m' is not supported"},
        {"isa=rv64i_", "extension '_' is not supported"},
        {"isa=rv64id", "isa=rv64id: d needs f"},
        {"isa=rv64i_zfh", "zfh needs f"},
        {"isa=", "isa=: expected rv64i"},
        {"modes=msu", "modes=msu: expected mu or m"},
        {"misaligned=yes", "misaligned=yes: expected ok or trap"},
        {"pmp=17", "pmp=17: expected ignored, 0 or a number of entries up to 16"},
        {"pmp=-1", "pmp=-1: expected"},
        {"pmp=4x", "pmp=4x: expected"},
        {"ram=0x80000800", "ram=0x80000800: expected BASE or BASE+SIZE"},
        {"ram=0x80000000+", "expected BASE or BASE+SIZE"},
        {"ram=0x80000000+0", "expected BASE or BASE+SIZE"},
        {"ram=0x80000000+1000", "expected BASE or BASE+SIZE"},
        {"ram=0x80000000+65G", "expected BASE or BASE+SIZE"},
        {"ram=0x80000000+99999999999G", "expected BASE or BASE+SIZE"},
        {"ram=0x100000000000000+1M", "expected BASE or BASE+SIZE"},
        {"ram=0x40000000+1M", "region \"ram\" at 0x40000000..0x400fffff overlaps \"lds\""},
        {"uart=0x10000001", "uart=0x10000001: expected none, or an address"},
        {"uart=nowhere", "uart=nowhere: expected none, or an address"},
        {"uart=0x2000000", "region \"uart\" at 0x2000000..0x20000ff overlaps \"clint\""},
        {"clint=0x80000000", "region \"ram\" at 0x80000000..0x800fffff overlaps \"clint\""},
        {"mvendorid=0x100000000", "mvendorid=0x100000000: expected a number up to 0xffffffff"},
        {"marchid=0x10000000000000000", "expected a number up to 0xffffffffffffffff"},
        {"hartid=0x100000000", "hartid=0x100000000: expected a number up to"},
        {"reset_pc=0x80000001", "reset_pc=0x80000001: expected a multiple of 2"},
        {"isa=rv64i,reset_pc=0x80000002", "expected a multiple of 4 without c"},
        {"rv64,rt_node8=0", "configuration rv64 has no vendor extension"},
        {"rv64,colour=3", "configuration rv64 has no vendor extension"},
        {"colour=3", "unknown configuration key colour"},
        {"isa", "unknown configuration 'isa'"},
        {"full,isa", "isa: expected key=value"},
        {"full,", "expected key=value"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct facet_xphmg_config config = {.ram_bytes = 1 << 20,
                                                  .configuration = bad[i].config};
        struct facet_error err = {0};
        facet_machine *m = NULL;

        CHECK_MSG(facet_xphmg_create(&config, &m, &err) == FACET_ERR_USAGE && m == NULL,
                  "%s is refused",
                  bad[i].config);
        CHECK_MSG(strstr(err.message, bad[i].complaint) != NULL,
                  "%s: \"%s\", expected \"%s\"",
                  bad[i].config,
                  err.message,
                  bad[i].complaint);
        facet_machine_destroy(m);
    }
}

/* Without XMEM nothing but WFI can wait, and nobody would look after tokens and tickets. */
TEST(a_bare_hart_waits_for_interrupts_only, "")
{
    static const uint64_t mark = UINT64_C(0x1122334455667788);
    static const size_t past = 8 * (1 + 32 + 16 + 18) + 5; /* from x31 to `waiting` */

    for (uint8_t wait = 0; wait <= 4; wait++) {
        facet_machine *m = machines_run("rv64", "j .\n", 1);
        const uint8_t bytes[3] = {1, wait, 1};
        struct facet_error err = {0};
        struct facet_stop stop;

        machines_regw(m, 0, "x31", mark);
        CHECK_EQ(machines_restore_changed(m, mark, past, bytes, sizeof bytes, &err),
                 wait == 0 ? FACET_OK : FACET_ERR_INPUT);
        CHECK(wait == 0 || strstr(err.message, "wait") != NULL);
        facet_machine_step(m, &stop);
        CHECK_EQ(stop.reason == FACET_STOP_IDLE, wait == 0);
        facet_machine_destroy(m);
    }
}

TEST(another_core_does_not_continue, "")
{
    static const char *const cores[] = {"full",
                                        "min",
                                        "prof",
                                        "full,pmask_banks=2",
                                        "misaligned=trap",
                                        "modes=m",
                                        "isa=rv64imac",
                                        "isa=rv64imac_zicntr",
                                        "pmp=0",
                                        "pmp=8",
                                        "pmp=16",
                                        "hartid=1",
                                        "uart=0x20000000"};
    enum { CORES = sizeof cores / sizeof cores[0] };

    for (size_t i = 0; i < CORES * CORES; i++) {
        struct facet_xphmg_config a = {.ram_bytes = 1 << 16, .configuration = cores[i / CORES]},
                                  b = {.ram_bytes = 1 << 16, .configuration = cores[i % CORES]};
        facet_machine *from = NULL, *to = NULL;
        struct facet_blob blob;
        struct facet_error err = {0};

        CHECK_EQ(facet_xphmg_create(&a, &from, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_create(&b, &to, NULL), FACET_OK);
        CHECK_EQ(facet_machine_snapshot(from, &blob, NULL), FACET_OK);
        CHECK_MSG((facet_machine_restore(to, blob.data, blob.size, &err) == FACET_OK) ==
                      (i / CORES == i % CORES),
                  "%s continued as %s",
                  a.configuration,
                  b.configuration);
        CHECK(i / CORES == i % CORES || strstr(err.message, "a different configuration") != NULL);
        facet_blob_free(&blob);
        facet_machine_destroy(from);
        facet_machine_destroy(to);
    }
}
