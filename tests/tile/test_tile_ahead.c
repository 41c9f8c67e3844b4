/* Cores that run ahead of each other (src/tile/ahead/ahead.c) against one instruction of each in
 * turn, and against the plain way: random loops over all instructions but draws, stopped after any
 * number of steps. All state is compared, bit for bit, by snapshots. */
#include "kernel.h"

#include "base/bits.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "isa/table.h"
#include "tile/core.h"

#include <stdio.h>

enum { BODY = 48, VRAM_BYTES = 1 << 17, CODE_BYTES = 1 << 13 };

/* Registers: results go to s1..s12, v1..v15, f0..f31; the others are prepared. */
enum { INDEX = 13, POINTER = 16, CODE_POINTER = 28, CODE_WORD = 29, COUNTER = 30 };
enum { LAST_RESULT_S = 12, LAST_RESULT_V = 15 };

static uint32_t below(uint32_t count)
{
    return (uint32_t)(harness_random() % count);
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- instructions ---- */

static bool is_one_of(const char *name, const char *const list[])
{
    for (unsigned i = 0; list[i] != NULL; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Jumps and ends are put by hand; draws may take long. */
static bool by_hand(const struct facet_insn_row *row)
{
    static const char *const names[] = {
        "JAL", "JAL.S", "JALR", "EXIT", "WFI", "RDRAW", "RRECT", "GDRAW", NULL};

    return is_one_of(row->mnemonic, names);
}

static bool uses_memory(const struct facet_insn_row *row)
{
    static const char *const scalar[] = {"LB", "LH", "LW", "LBU", "LHU", "SB", "SH", "SW", NULL};
    const char *dot = strchr(row->mnemonic, '.');
    char name[16] = "";

    (void)snprintf(
        name, sizeof name, "%.*s", (int)(dot != NULL ? dot - row->mnemonic : 15), row->mnemonic);
    return is_one_of(name, scalar) || starts(name, "VLD") || starts(name, "VST") ||
           starts(name, "VATOM") || starts(name, "VCAS") ||
           (name[0] == 'A' && row->id >= FACET_TILE_AADD && row->id <= FACET_TILE_AXOR_L);
}

static bool in_turn_only(const struct facet_insn_row *row)
{
    static const char *const names[] = {
        "MEMBAR", "RSTATE", "RSETUP", "GSTATE", "GPARAM", "CSRRW", "CSRRS", NULL};

    return is_one_of(row->mnemonic, names) || starts(row->mnemonic, "VATOM") ||
           starts(row->mnemonic, "VCAS") ||
           (row->id >= FACET_TILE_AADD && row->id <= FACET_TILE_AXOR_L);
}

static int64_t any_csr(void)
{
    static const uint16_t numbers[] = {0,
                                       1,
                                       2,
                                       8,
                                       10,
                                       0x403,
                                       0x4FF,
                                       0x500,
                                       0xC00,
                                       0xC08,
                                       0xC09,
                                       0xC10,
                                       0xC12,
                                       0xC17,
                                       0xC23,
                                       0x7FF};

    return numbers[below(sizeof numbers / sizeof numbers[0])];
}

static int64_t register_for(const struct facet_operand *operand, bool memory)
{
    const char *name = operand->name;
    const bool result = name[1] == 'd';

    switch (operand->kind) {
    case FACET_OPERAND_SREG:
        return result                     ? below(LAST_RESULT_S + 1)
               : memory && name[2] == '1' ? POINTER + below(below(64) == 0 ? 12 : 8)
               : memory && name[2] == '2' ? INDEX + below(3)
                                          : below(32);
    case FACET_OPERAND_VREG:
        return result                     ? below(LAST_RESULT_V + 1)
               : memory && name[2] == '2' ? 16 + below(4)
                                          : below(32);
    default:
        return below(32);
    }
}

static uint32_t word_of(const struct facet_insn_row *row)
{
    const bool memory = uses_memory(row), csr = starts(row->mnemonic, "CSRR");
    uint32_t word = row->match;

    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *operand = &row->operands[i];
        int64_t value = (int64_t)below(1 << 12);

        if (starts(row->mnemonic, "VLD.C") && operand->kind == FACET_OPERAND_SREG) {
            value = INDEX + below(3);
        } else if (facet_tile_is_register(operand)) {
            value = register_for(operand, memory);
        } else if (csr) {
            value = any_csr();
        } else if (operand->kind == FACET_OPERAND_PCREL) {
            value = 8; /* over the next one */
        } else if (memory) {
            value = below(8) == 0 ? value : value & 0x10;
        }
        while (!facet_operand_fits(operand, value) || !facet_operand_legal(operand, value)) {
            value = value > 0 ? value / 2 : below(2);
        }
        word = facet_operand_set(operand, word, value);
    }
    return word;
}

/* Into the code, which does not last long then. */
static bool stores_at_pc(const struct facet_insn_row *row)
{
    const char *dot = strchr(row->mnemonic, '.');

    return (row->mnemonic[0] == 'S' || starts(row->mnemonic, "VST")) && dot != NULL &&
           strstr(dot, ".P") != NULL;
}

static uint32_t any_word(uint32_t in_turn)
{
    for (;;) {
        const struct facet_insn_row *row =
            &facet_isa_rows[FACET_ISA_TILE][below((uint32_t)facet_isa_row_count[FACET_ISA_TILE])];

        if (!by_hand(row) && (!stores_at_pc(row) || below(16) == 0) &&
            (!in_turn_only(row) || below(100) < in_turn)) {
            return word_of(row);
        }
    }
}

/* ---- machines ---- */

enum { HOST_CODE, AHEAD, IN_TURN, PLAIN, MACHINES };

static facet_machine *machine[MACHINES];

static void open_all(struct facet_tile_config config)
{
    config.vram = VRAM_BYTES;
    for (unsigned i = 0; i < MACHINES; i++) {
        config.plain = i == PLAIN;
        config.host_code = i == HOST_CODE ? 1 + below(8) : FACET_TILE_NO_HOST_CODE;
        CHECK(facet_tile_create(&config, &machine[i], NULL) == FACET_OK);
        facet_tile_let_run_ahead(machine[i], i == AHEAD || i == HOST_CODE);
    }
}

static void close_all(void)
{
    for (unsigned i = 0; i < MACHINES; i++) {
        facet_machine_destroy(machine[i]);
    }
}

static void write_all(uint32_t address, const void *data, size_t size)
{
    for (unsigned i = 0; i < MACHINES; i++) {
        CHECK(facet_machine_write(machine[i], 0, address, data, size, NULL) == FACET_OK);
    }
}

static void set_all(uint32_t core, const char *file, unsigned n, struct facet_value value)
{
    char name[8];

    (void)snprintf(name, sizeof name, "%s%u", file, n);
    for (unsigned i = 0; i < MACHINES; i++) {
        CHECK(facet_machine_reg_write(
                  machine[i], core, facet_machine_find_reg(machine[i], core, name), value, NULL) ==
              FACET_OK);
    }
}

/* Ordinary numbers and the ends of every format. */
static uint32_t any_number(void)
{
    static const uint32_t edges[] = {0,
                                     0x80000000,
                                     0x3F800000,
                                     0x7F800000,
                                     0xFF800000,
                                     0x7FC00000,
                                     0x7F800001,
                                     0x00000001,
                                     0x807FFFFF,
                                     0x00800000,
                                     0x7F7FFFFF,
                                     0xFFFFFFFF,
                                     0x7FFFFFFF,
                                     0x3C003C00,
                                     0x7C00FC00};

    switch (below(8)) {
    case 0:
        return edges[below(sizeof edges / sizeof edges[0])];
    case 1:
        return (uint32_t)harness_random();
    default:
        return 0x3F000000 + below(0x02000000);
    }
}

/* Where a core reads and writes: its own memory, memory of all, its scratch memory, rarely the
 * sampler table, IMEM or nothing. */
static uint32_t any_place(uint32_t core, unsigned n)
{
    const uint32_t own = VRAM + CODE_BYTES + 0x4000 * (core + 1);
    const uint32_t shared = VRAM + CODE_BYTES + 0x1000;

    return n < 4    ? own + 64 * below(64)
           : n < 6  ? shared + 16 * below(32)
           : n < 8  ? SCRATCH + 16 * below(32)
           : n < 10 ? SAMPLER + 32 * below(16)
           : n < 11 ? IMEM + 16 * below(64)
                    : own + 3;
}

static void fill(uint32_t core)
{
    for (unsigned i = 1; i < 32; i++) {
        const uint32_t number = any_number();
        const uint32_t s = i < INDEX           ? number
                           : i < POINTER       ? 16 * below(16)
                           : i < CODE_POINTER  ? any_place(core, i - POINTER)
                           : i == CODE_POINTER ? VRAM + 4 * below(BODY)
                           : i == CODE_WORD    ? any_word(20)
                                               : 1 + below(below(4) == 0 ? 100 : 20);
        struct facet_value v = {any_number() | (uint64_t)any_number() << 32,
                                any_number() | (uint64_t)any_number() << 32};

        if (i >= 16 && i < 20) {
            v.lo = v.hi = UINT64_C(0x0000000400000010) * i;
        }
        set_all(core, "s", i, (struct facet_value){s, 0});
        set_all(core, "f", i, (struct facet_value){number & 0xFFFF, 0});
        set_all(core, "v", i, v);
    }
}

static void load_program(uint32_t base)
{
    const uint32_t in_turn = below(3) == 0 ? 0 : below(40);
    uint32_t code[BODY + 3], data[0x800];

    for (unsigned i = 0; i < BODY; i++) {
        code[i] = any_word(in_turn);
    }
    if (below(4) == 0) { /* it changes itself, or what the others execute */
        code[below(BODY)] = kernel_word("SW s29, 0(s28)");
    }
    code[BODY] = kernel_word("ADDI s30, s30, -1");
    code[BODY + 1] = kernel_word("here: BNE s30, s0, here - 196");
    code[BODY + 2] = kernel_word("EXIT");
    write_all(base, code, sizeof code);
    for (unsigned i = 0; i < sizeof data / 4; i++) {
        data[i] = any_number();
    }
    write_all(VRAM + CODE_BYTES, data, sizeof data);
}

/* ---- comparing ---- */

static void compare(unsigned round, uint64_t steps)
{
    struct facet_blob blob[MACHINES];

    for (unsigned i = 0; i < MACHINES; i++) {
        CHECK(facet_machine_snapshot(machine[i], &blob[i], NULL) == FACET_OK);
    }
    for (unsigned i = 1; i < MACHINES; i++) {
        CHECK_MSG(blob[i].size == blob[0].size &&
                      memcmp(blob[i].data, blob[0].data, blob[0].size) == 0,
                  "program %u, machine %u after %u steps",
                  round,
                  i,
                  (unsigned)steps);
    }
    for (unsigned i = 0; i < MACHINES; i++) {
        facet_blob_free(&blob[i]);
    }
}

static void run_program(unsigned round)
{
    uint64_t steps = 0;
    bool ended = false;

    while (!ended && !harness_failed()) {
        const struct facet_run run = {.budget = 1 + below(below(16) == 0 ? 100 : 20000)};
        struct facet_stop stop[MACHINES];

        for (unsigned i = 0; i < MACHINES; i++) {
            facet_machine_run(machine[i], &run, &stop[i]);
            CHECK(stop[i].reason == stop[0].reason && stop[i].steps == stop[0].steps &&
                  stop[i].core == stop[0].core && stop[i].address == stop[0].address);
        }
        steps += stop[0].steps;
        compare(round, steps);
        ended = stop[0].reason != FACET_STOP_BUDGET;
    }
}

static void run_random(unsigned round)
{
    const uint32_t base = below(4) == 0 ? IMEM : VRAM;
    const struct facet_tile_packet packet = {.pc = base,
                                             .columns = 1 + below(6),
                                             .rows = 1,
                                             .shared_size = below(8) == 0 ? 64 : 4096,
                                             .core_mask = below(3) == 0 ? below(16) : 0,
                                             .const_base = VRAM + CODE_BYTES,
                                             .const_size = below(8) == 0 ? 64 : 1024};

    load_program(base);
    for (unsigned i = 0; i < MACHINES; i++) {
        CHECK(facet_tile_dispatch(machine[i], &packet, NULL) == FACET_OK);
    }
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        fill(core);
    }
    run_program(round);
}

TEST(random_loops, "")
{
    for (unsigned round = 0; round < 400 && !harness_failed();) {
        static const uint32_t quanta[] = {1, 1, 1, 1, 3, 70};

        open_all((struct facet_tile_config){.quantum = quanta[below(6)],
                                            .watchdog = below(4) == 0 ? 500 : 6000,
                                            .poison = below(4) == 0});
        for (unsigned i = 0; i < 20 && !harness_failed(); i++) {
            run_random(round++);
        }
        close_all();
    }
}

/* What one core makes visible in the middle of the time that another would run ahead through: core
 * 0 looks at once and after 110 instructions, core 1 acts after 90. */
static void look_and_act(const char *prepare, const char *look, const char *act)
{
    char text[1024];

    (void)snprintf(text,
                   sizeof text,
                   "CSRR s20, core_id\nLUI s21, 0x80010\nLUI s22, 0x10002\n%s\n"
                   "ADDI s9, s0, 45\nBNE s20, s0, wait\n%s\nADDI s9, s0, 55\n"
                   "wait: ADDI s9, s9, -1\nBNE s9, s0, wait\n"
                   "BNE s20, s0, act\nADDI s5, s4, 0\nVXOR v5, v4, v0\n%s\nEXIT\n"
                   "act: %s\nADDI s9, s0, 60\nmore: ADDI s9, s9, -1\nBNE s9, s0, more\nEXIT\n",
                   prepare,
                   look,
                   look,
                   act);
    open_all((struct facet_tile_config){0});
    for (unsigned i = 0; i < MACHINES; i++) {
        struct kernel k = {.machine = machine[i]};
        const struct facet_tile_packet packet = {.pc = VRAM, .columns = 2, .rows = 1};

        CHECK(kernel_load(&k, VRAM, text));
        CHECK(facet_tile_dispatch(machine[i], &packet, NULL) == FACET_OK);
    }
    run_program(0);
    close_all();
}

TEST(others_are_seen_in_time, "")
{
    /* published memory; the sampler table by store and by CSR; texels; code; the counters */
    look_and_act("", "LW s4, 0(s21)", "ADDI s1, s0, 7\nSW s1, 0(s21)\nMEMBAR");
    look_and_act("", "MEMBAR\nLW s4, 0(s21)", "ADDI s1, s0, 7\nAADD s0, s1, (s21)");
    look_and_act("", "LW s4, 64(s22)", "SW s20, 64(s22)");
    look_and_act("", "VLD.V v4, 64(s22)", "VBCAST.I32 v1, s20\nVST.V v1, 64(s22)");
    look_and_act("", "LW s4, 64(s22)", "CSRW sampler[2].base, s20");
    look_and_act("", "CSRR s4, sampler[2].base", "SW s20, 64(s22)");
    /* another texel of a 64 x 64 texture each time: the second is not in the texture cache */
    look_and_act(
        "ADDI s1, s0, 256\nADDI s2, s0, 64\nADDI s3, s0, 1\nSW s21, 0(s22)\nSW s1, 4(s22)\n"
        "SW s2, 8(s22)\nSW s2, 12(s22)\nSW s3, 16(s22)\nVBCAST.I32 v7, s0",
        "TEX2D.N.I32 v4, v7, s0\nADDI s7, s0, 32\nVBCAST.I32 v7, s7",
        "LUI s6, 0x80012\nADDI s6, s6, 0x80\nSW s2, 0(s6)\nMEMBAR");
    look_and_act("", "CSRR s4, time_lo", "CSRR s4, time_lo");
    look_and_act("", "CSRR s4, instret_lo", "CSRR s4, instret_lo");
}

/* ---- rows that have host code: edges in a loop that is long enough to become some ---- */

enum { ENTRIES = 150, ENTRY_BYTES = 96, CONSTANT = 0x8000 };

/* Entries are three operands; the results and flags are stored behind them. s12 walks from s13 on,
 * by s14. */
static void run_line(const char *line, uint32_t config, bool clear, uint32_t start, uint32_t step)
{
    static const char *const form =
        "LUI s10, 0x80010\nADDI s11, s0, %u\nMOVI s12, 0x%08x\nADDI s4, s0, %u\nCSRW config, s4\n"
        "again: LW s1, 0(s10)\nLW s2, 16(s10)\nLW s3, 32(s10)\nVLD.V v1, 0(s10)\n"
        "VLD.V v2, 16(s10)\nVLD.V v3, 32(s10)\n%s\n%s\nVST.V v3, 48(s10)\nSW s3, 64(s10)\n"
        "CSRR s5, fstatus\nSW s5, 68(s10)\nCSRR s5, status\nSW s5, 72(s10)\nADDI s12, s12, %u\n"
        "ADDI s10, s10, 48\nADDI s10, s10, 48\nADDI s11, s11, -1\nBNE s11, s0, again\nEXIT\n";
    const struct facet_tile_packet packet = {.pc = VRAM,
                                             .columns = 2,
                                             .rows = 1,
                                             .shared_size = 64,
                                             .const_base = DATA + CONSTANT + 16,
                                             .const_size = 32};
    static uint32_t data[ENTRIES * ENTRY_BYTES / 4];
    char text[2048], before[300] = "";

    if (clear) { /* between two of the line, so that what the first one made sure is gone */
        (void)snprintf(before,
                       sizeof before,
                       "%s\nADDI s7, s0, 0x10\nCSRW fstatus, s7",
                       strchr(line, ':') == NULL ? line : "");
    }
    (void)snprintf(text,
                   sizeof text,
                   form,
                   ENTRIES,
                   (unsigned)start,
                   (unsigned)config,
                   before,
                   line,
                   (unsigned)step);
    for (unsigned i = 0; i < sizeof data / 4; i++) {
        data[i] = any_number();
    }
    for (unsigned i = 0; i < MACHINES; i++) {
        struct kernel k = {.machine = machine[i]};

        CHECK(kernel_load(&k, VRAM, text));
    }
    write_all(DATA, data, sizeof data);
    for (unsigned i = 0; i < MACHINES; i++) {
        CHECK(facet_tile_dispatch(machine[i], &packet, NULL) == FACET_OK);
    }
    run_program(config);
    CHECK_MSG(!harness_failed(), "%s with config 0x%x", line, (unsigned)config);
}

TEST(rows_at_edges, "")
{
    static const char *const lines[] = {
        "ADD s3, s1, s2",
        "SUB s3, s1, s2",
        "MUL s3, s1, s2",
        "ADDI s3, s1, -7",
        "AND s3, s1, s2",
        "OR s3, s1, s2",
        "XOR s3, s1, s3",
        "ANDI s3, s1, 0x7F0",
        "ORI s3, s1, 0x155",
        "XORI s3, s3, -1",
        "MIN s3, s1, s2",
        "MAX s3, s1, s2",
        "SHL s3, s1, s2",
        "LSR s3, s1, s2",
        "ASR s3, s1, s2",
        "SHLI s3, s1, 9",
        "LSRI s3, s1, 9",
        "ASRI s3, s1, 9",
        "LUI s3, 0x12345",
        "MAC s3, s1, s2",
        "CMP s3, s1, s2",
        "VADD.F32 v3, v1, v2",
        "VSUB.F32 v3, v1, v2",
        "VMUL.F32 v3, v1, v2",
        "VFMA.F32 v3, v1, v2",
        "VADD.I32 v3, v1, v2",
        "VSUB.I32 v3, v1, v2",
        "VAND v3, v1, v2",
        "VOR v3, v1, v2",
        "VXOR v3, v1, v3",
        "VSHUF v3, v1, 0x1B",
        "VBCAST.I32 v3, s2",
        "VFMA.F32 v0, v1, v2",
        "ADD s0, s1, s2",
        "VMUL.F32 v3, v3, v3",
        "VMIN.F32 v3, v1, v2",
        "LB s3, 3(s10)",
        "LBU s3, 2(s10)",
        "LH s3, 2(s10)",
        "LHU s3, 18(s10)",
        "LW s3, 6(s10)",
        "VLD.V v3, 8(s10)",
        "SB s1, 82(s10)",
        "SH s1, 82(s10)",
        "SW s1, 83(s10)",
        "VST.V v1, 40(s10)",
        "SW.R s1, s0(s10)",
        "LW.R s3, s0(s10)",
        "LW.PL s3, 12",
        "BEQ s1, s3, end\nADDI s3, s0, 1\nend:",
        "BNE s1, s2, end\nADDI s3, s0, 1\nend:",
        "BLT s1, s2, end\nADDI s3, s0, 1\nend:",
        "BGE s1, s2, end\nADDI s3, s0, 1\nend:",
        "BLTU s1, s2, end\nADDI s3, s0, 1\nend:",
        "BGEU s1, s2, end\nADDI s3, s0, 1\nend:",
        "JAL s3, end\nADDI s3, s0, 1\nend:",
        "JAL s6, over\nover: JALR s3, 8(s6)\nADDI s3, s0, 1\nADDI s3, s3, 1"};
    static const uint32_t configs[] = {0, 0x10, 8, 1, 4, 0x40};

    open_all((struct facet_tile_config){0});
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0] && !harness_failed(); i++) {
        for (unsigned k = 0; k < 6 && !harness_failed(); k++) {
            run_line(lines[i], configs[k], false, DATA, 0);
        }
        run_line(lines[i], 0, true, DATA, 0);
    }
    close_all();
}

/* Walks out of every region, or into the constants, after some turns. */
TEST(addresses_at_edges, "")
{
    static const char *const lines[] = {"SB s1, 0(s12)",
                                        "SH s1, 0(s12)",
                                        "SW s1, 0(s12)",
                                        "VST.V v1, 0(s12)",
                                        "LB s3, 0(s12)",
                                        "LHU s3, 0(s12)",
                                        "LW s3, 0(s12)",
                                        "VLD.V v3, 0(s12)",
                                        "SW.R s1, s0(s12)",
                                        "SW.B s1, 0(s12)"};
    static const uint32_t steps[] = {1, 4, 16};

    open_all((struct facet_tile_config){.watchdog = 100000});
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        for (unsigned k = 0; k < 3 && !harness_failed(); k++) {
            const uint32_t back = 100 * steps[k];

            run_line(lines[i], 0, false, DATA + CONSTANT - back, steps[k]);
            run_line(lines[i], 0, false, DATA + CONSTANT + 64 - 8, steps[k]);
            run_line(lines[i], 0, false, VRAM + VRAM_BYTES - back, steps[k]);
            run_line(lines[i], 0x200, false, DATA + CONSTANT - back, steps[k]);
            run_line(lines[i], 0, false, VRAM - back, steps[k]);
        }
    }
    close_all();
}
