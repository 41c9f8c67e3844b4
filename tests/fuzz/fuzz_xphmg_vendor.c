/* Programs of valid instructions over valid descriptors, mostly of the vendor's extensions: the
 * block cache, and the plain executor or three threads for a job with the run left at any place
 * that allows it, end in the same state, bit for bit.
 *
 * The input: options, what registers start with, instructions (which row of the tables, or which
 * CSR to write, and bits for the fields), then structures of spec/xphmg.layout.tsv. What traps is
 * skipped by a handler; the program repeats until its steps are used up. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"
#include "fuzz/structures.h"

#include "base/bits.h"
#include "isa/table.h"

#include <facet/xphmg.h>
#include <stdio.h>
#include <string.h>

enum {
    RAM_BYTES = 3 << 12,
    CODE = 64,
    MAX_WORDS = 96,
    DATA = 0x1000, /* slots with structures, then plain elements */
    SLOT = 128,
    SLOTS = 32,
    ELEMENTS = DATA + SLOTS * SLOT,
    STEPS = 100, /* the first turn of one hart and the beginning of the other's */
    HARTS = 2,
};

enum way { CACHED, PLAIN, PIECES, WAYS };

static facet_machine *make(enum way way, bool late)
{
    const struct facet_xphmg_config config = {
        .harts = HARTS,
        .ram_bytes = RAM_BYTES,
        .quantum = 64,
        .plain = way == PLAIN,
        .job_threads = way == PIECES ? 3 : 1,
        .jobs = late ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW,
        .jobs_seed = late ? 7 : 0,
        .host_code = way == PIECES ? 1 : FACET_XPHMG_NO_HOST_CODE,
    };
    facet_machine *machine;

    fuzz_require(facet_xphmg_create(&config, &machine, NULL) == FACET_OK);
    return machine;
}

/* Three of four instructions are the vendor's. */
static const struct facet_insn_row *row_of(unsigned choice)
{
    static const struct facet_insn_row *rows[2][512];
    static size_t count[2];
    const bool collected = count[0] != 0;
    const unsigned vendor = choice % 4 != 0;

    for (size_t i = 0; !collected && i < facet_isa_row_count[FACET_ISA_XPHMG]; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_XPHMG][i];
        const unsigned kind = strcmp(row->file, "rv64.insn.tsv") != 0;

        if (row->length == 4) {
            fuzz_require(count[kind] < 512);
            rows[kind][count[kind]++] = row;
        }
    }
    return rows[vendor][choice / 4 % count[vendor]];
}

static uint32_t csr_instruction(uint32_t choice, uint32_t bits)
{
    static const uint32_t function[] = {1, 2, 3, 5, 6, 7};
    const struct facet_csr_row *row = &facet_csr_rows[choice % facet_csr_row_count];
    uint32_t number;

    while (row->isa != FACET_ISA_XPHMG) {
        row = row != facet_csr_rows ? row - 1 : &facet_csr_rows[facet_csr_row_count - 1];
    }
    number = row->number > 0xFFF && row->alias != 0 ? row->alias : row->number;
    return (number & 0xFFF) << 20 | (bits & 0xF8F80) | function[(bits >> 24) % 6] << 12 | 0x73;
}

static uint32_t instruction(struct fuzz_bytes *in)
{
    const uint32_t choice = (uint32_t)fuzz_take(in, 2), bits = (uint32_t)fuzz_take(in, 4);
    const struct facet_insn_row *row;

    if (choice % 8 == 7) {
        return csr_instruction(choice / 8, bits);
    }
    row = row_of(choice);
    return row->match | (bits & ~row->mask);
}

static void program(struct fuzz_bytes *in, uint8_t *ram)
{
    const uint32_t count = (uint32_t)fuzz_take(in, 1) % MAX_WORDS;

    for (uint32_t i = 0; i < count; i++) {
        facet_store_le32(ram + CODE + 4 * i, instruction(in));
    }
    /* jal x0, back to the first one */
    facet_store_le32(ram + CODE + 4 * count,
                     0x6F | (count == 0
                                 ? 0
                                 : 0x80000000u | 0xFF000u | ((0u - 4 * count) >> 1 & 0x3FF) << 21 |
                                       ((0u - 4 * count) >> 11 & 1) << 20));
}

static void data(struct fuzz_bytes *in, uint8_t *ram)
{
    const struct facet_fuzz_place place = {FACET_XPHMG_RAM_BASE + DATA, SLOTS * SLOT};
    const unsigned element = 1u << fuzz_take(in, 1) % 4;

    for (unsigned i = 0; i < SLOTS; i++) {
        if (in->left > 0) {
            facet_fuzz_structure(in, "xphmg", element, &place, ram + DATA + i * SLOT, SLOT);
        }
    }
}

/* What no input chooses: the handler, and elements behind the slots. */
static void constant_parts(uint8_t *ram)
{
    /* swaps x31 with mscratch, adds 4 to mepc, swaps back, returns */
    static const uint32_t handler[] = {
        0x340F9FF3, 0x34102FF3, 0x004F8F93, 0x341F9073, 0x340F9FF3, 0x30200073};

    for (size_t i = 0; i < sizeof handler / sizeof handler[0]; i++) {
        facet_store_le32(ram + 4 * i, handler[i]);
    }
    for (uint32_t at = ELEMENTS; at < RAM_BYTES; at += 2) {
        facet_store_le16(ram + at, (uint16_t)(0x3800 + at * 7 % 0x900));
    }
}

/* Small numbers, addresses of slots, of the elements behind them, of LDS, powers of two. */
static uint64_t register_value(unsigned choice)
{
    const uint64_t n = choice >> 3;

    switch (choice & 7) {
    case 0:
        return n;
    case 1:
        return UINT64_C(1) << (n & 15);
    case 2:
        return FACET_XPHMG_RAM_BASE + ELEMENTS + 64 * n;
    case 3:
        return 64 * n;
    default:
        return FACET_XPHMG_RAM_BASE + DATA + SLOT * n;
    }
}

static void registers(facet_machine *machine, const uint8_t choice[32])
{
    static uint32_t x[32], pc, mtvec, mstatus;

    if (pc == 0) {
        for (unsigned i = 1; i < 32; i++) {
            char name[8];

            (void)snprintf(name, sizeof name, "x%u", i);
            x[i] = facet_machine_find_reg(machine, 0, name);
        }
        pc = facet_machine_find_reg(machine, 0, "pc");
        mtvec = facet_machine_find_csr(machine, 0, "mtvec");
        mstatus = facet_machine_find_csr(machine, 0, "mstatus");
    }
    for (uint32_t hart = 0; hart < HARTS; hart++) {
        for (unsigned i = 1; i < 32; i++) {
            const struct facet_value value = {register_value(choice[i]), 0};

            fuzz_require(facet_machine_reg_write(machine, hart, x[i], value, NULL) == FACET_OK);
        }
        fuzz_require(
            facet_machine_reg_write(
                machine, hart, pc, (struct facet_value){FACET_XPHMG_RAM_BASE + CODE, 0}, NULL) ==
            FACET_OK);
        fuzz_require(
            facet_machine_csr_write(
                machine, hart, mtvec, (struct facet_value){FACET_XPHMG_RAM_BASE, 0}, NULL, NULL) ==
            FACET_OK);
        fuzz_require(facet_machine_csr_write(
                         machine, hart, mstatus, (struct facet_value){0x6000, 0}, NULL, NULL) ==
                     FACET_OK);
    }
}

/* True at every n-th question. */
struct countdown {
    unsigned every, left;
};

static bool asks_to_stop(void *context)
{
    struct countdown *c = context;

    if (c->left-- > 1) {
        return false;
    }
    c->left = c->every;
    return true;
}

/* The whole budget, going on wherever the run was left. */
static void run(facet_machine *machine, unsigned every)
{
    struct countdown countdown = {every, every};
    struct facet_stop stop;
    uint64_t end = facet_machine_steps(machine) + STEPS;

    if (every != 0) {
        facet_machine_poll(machine, asks_to_stop, &countdown, 0);
    }
    do {
        const uint64_t budget = end - facet_machine_steps(machine);

        facet_machine_run(machine, &(struct facet_run){.budget = budget}, &stop);
    } while (stop.reason == FACET_STOP_REQUEST && facet_machine_steps(machine) < end);
    facet_machine_poll(machine, NULL, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static struct fuzz_machine machines[2][WAYS];
    static uint8_t ram[RAM_BYTES];
    struct fuzz_bytes in = {input, size};
    const unsigned options = (unsigned)fuzz_take(&in, 1), every = 1 + (options >> 1 & 15);
    struct facet_blob end[WAYS] = {0};
    uint8_t choice[32] = {0};

    for (unsigned i = 1; i < 32; i++) {
        choice[i] = (uint8_t)fuzz_take(&in, 1);
    }
    if (ram[0] == 0) {
        constant_parts(ram);
    }
    memset(ram + CODE, 0, ELEMENTS - CODE);
    program(&in, ram);
    data(&in, ram);
    for (unsigned i = 0; i < 2; i++) {
        const enum way way = i == 0 ? CACHED : (options & 32) != 0 ? PLAIN : PIECES;
        struct fuzz_machine *kept = &machines[options & 1][way];
        facet_machine *machine;

        if (kept->machine == NULL) {
            fuzz_keep(kept, make(way, (options & 1) != 0));
        }
        machine = fuzz_rewind(kept);
        fuzz_require(facet_machine_write(machine, 0, FACET_XPHMG_RAM_BASE, ram, sizeof ram, NULL) ==
                     FACET_OK);
        registers(machine, choice);
        run(machine, way == PIECES ? every : 0);
        fuzz_require(facet_machine_snapshot(machine, &end[way], NULL) == FACET_OK);
        fuzz_require_same(&end[CACHED], &end[way]);
    }
    for (enum way way = CACHED; way < WAYS; way++) {
        facet_blob_free(&end[way]);
    }
    return 0;
}
