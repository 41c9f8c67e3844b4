/* Physical memory protection (R-CAP-69, R-CAP-70) against another formulation: the table of the
 * privileged manual asked byte by byte. */
#include "base/bits.h"
#include "harness.h"

#include "xphmg/hart/machines.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    RAM = 0x80000000u,
    CODE = RAM, /* one access each: accesses[] */
    MRET = RAM + 0x100,
    WINDOW = RAM + 0x4000, /* 64 bytes that entries are about */
    ENTRIES = 16,
    R = 1,
    W = 2,
    X = 4,
    LOCKED = 0x80,
};
enum mode { MACHINE, AS_USER, USER, MODES }; /* AS_USER: M with MPRV and MPP = U */

static const struct {
    const char *text;
    unsigned size, access;
} accesses[] = {
    {"lb t1, 0(s0)", 1, R},
    {"lh t1, 0(s0)", 2, R},
    {"lw t1, 0(s0)", 4, R},
    {"ld t1, 0(s0)", 8, R},
    {"sb t1, 0(s0)", 1, W},
    {"sh t1, 0(s0)", 2, W},
    {"sw t1, 0(s0)", 4, W},
    {"sd t1, 0(s0)", 8, W},
    {"amoadd.w t1, t1, (s0)", 4, W},
    {"lr.d t1, (s0)", 8, R},
};
enum { ACCESSES = sizeof accesses / sizeof accesses[0] };

struct entries {
    uint8_t cfg[ENTRIES];
    uint64_t addr[ENTRIES];
};

/* ---- what the manual says ---------------------------------------------------------------------
 */

static bool has_byte(const struct entries *e, unsigned i, uint64_t byte)
{
    uint64_t word = byte >> 2, addr = e->addr[i];
    unsigned ones = 0;

    switch (e->cfg[i] >> 3 & 3) {
    case 1:
        return word < addr && (i == 0 || word >= e->addr[i - 1]);
    case 2:
        return word == addr;
    case 3:
        while ((addr >> ones & 1) != 0) {
            ones++;
        }
        return byte >> (ones + 3) == addr >> (ones + 1);
    default:
        return false;
    }
}

/* The entry that decides about a byte; ENTRIES: none. */
static unsigned owner(const struct entries *e, uint64_t byte)
{
    unsigned i = 0;

    while (i < ENTRIES && !has_byte(e, i, byte)) {
        i++;
    }
    return i;
}

static bool
expect(const struct entries *e, uint64_t address, unsigned size, bool user, unsigned access)
{
    unsigned who = owner(e, address), cfg;

    for (unsigned i = 1; i < size; i++) {
        if (owner(e, address + i) != who) {
            return false;
        }
    }
    if (who == ENTRIES) {
        return !user;
    }
    cfg = e->cfg[who];
    if ((cfg & R) == 0) {
        cfg &= ~(unsigned)W; /* reserved: W stays 0 */
    }
    return (!user && (cfg & LOCKED) == 0) || (cfg & access) != 0;
}

/* ---- one access at a time ---------------------------------------------------------------------
 */

static facet_machine *machines[3];

static void make_machines(void)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct facet_xphmg_config config = {
            .ram_bytes = 1 << 20,
            .configuration = "rv64,pmp=16",
            .plain = i == 0,
            .host_code = i == 1 ? FACET_XPHMG_NO_HOST_CODE : 1,
        };
        char text[1024] = "";
        facet_machine *from;

        CHECK_EQ(facet_xphmg_create(&config, &machines[i], NULL), FACET_OK);
        for (unsigned k = 0; k < ACCESSES; k++) {
            (void)snprintf(text + strlen(text), 64, "%s\n", accesses[k].text);
        }
        (void)snprintf(text + strlen(text), 64, ".zero %u\n mret\n", 0x100 - 4 * ACCESSES);
        from = machines_run("rv64", text, 1); /* the assembled bytes */
        for (uint64_t at = 0; at < 0x104; at += 4) {
            uint8_t word[4];

            CHECK_EQ(facet_machine_read(from, 0, CODE + at, word, 4, NULL), FACET_OK);
            CHECK_EQ(facet_machine_write(machines[i], 0, CODE + at, word, 4, NULL), FACET_OK);
        }
        facet_machine_destroy(from);
    }
}

/* addi x0, x6, 1 at every even address. */
static void fill_window(facet_machine *m)
{
    uint8_t bytes[0x60] = {0};

    for (unsigned at = 0; at < sizeof bytes; at += 2) {
        bytes[at] = 0x13;
    }
    CHECK_EQ(facet_machine_write(m, 0, WINDOW - 16, bytes, sizeof bytes, NULL), FACET_OK);
}

static void free_machines(void)
{
    for (unsigned i = 0; i < 3; i++) {
        facet_machine_destroy(machines[i]);
    }
}

static void step(facet_machine *m)
{
    struct facet_stop stop;

    facet_machine_run(m, &(struct facet_run){.budget = 1}, &stop);
}

static void program_entries(facet_machine *m, const struct entries *e)
{
    uint64_t words[2] = {0, 0};

    for (unsigned i = 0; i < ENTRIES; i++) {
        char name[16];

        if (e->cfg[i] != 0 || e->addr[i] != 0) {
            (void)snprintf(name, sizeof name, "pmpaddr%u", i);
            machines_csrw(m, 0, name, e->addr[i]);
        }
        words[i / 8] |= (uint64_t)e->cfg[i] << (i % 8 * 8);
    }
    machines_csrw(m, 0, "pmpcfg2", words[1]);
    machines_csrw(m, 0, "pmpcfg0", words[0]);
}

/* The trap of the instruction at `pc` in this mode, 0x55 when there is none. */
static uint64_t try(facet_machine *m,
                    const struct entries *e,
                    enum mode mode,
                    uint64_t pc,
                    uint64_t address,
                    uint64_t *tval)
{
    facet_machine_reset(m);
    machines_csrw(m, 0, "mtvec", RAM + 0x200);
    machines_csrw(m, 0, "mcause", 0x55);
    machines_regw(m, 0, "s0", address);
    program_entries(m, e);
    if (mode == AS_USER) {
        machines_csrw(m, 0, "mstatus", 1 << 17);
    } else if (mode == USER) {
        machines_csrw(m, 0, "mepc", pc);
        machines_regw(m, 0, "pc", MRET);
        step(m);
        CHECK_EQ(machines_reg(m, 0, "priv"), 0);
    }
    if (mode != USER) {
        machines_regw(m, 0, "pc", pc);
    }
    step(m);
    *tval = machines_csr(m, 0, "mtval");
    return machines_csr(m, 0, "mcause");
}

static void describe(char *text, size_t size, const struct entries *e, enum mode mode)
{
    text[0] = '\0';
    for (unsigned i = 0; i < ENTRIES; i++) {
        if (e->cfg[i] != 0) {
            (void)snprintf(text + strlen(text),
                           size - strlen(text),
                           "entry %u cfg 0x%x addr 0x%" PRIx64 ", ",
                           i,
                           e->cfg[i],
                           e->addr[i] << 2);
        }
    }
    (void)snprintf(text + strlen(text), size - strlen(text), "mode %u", mode);
}

static void try_access(const struct entries *given, enum mode mode, unsigned k, uint64_t address)
{
    struct entries e = *given;
    char text[512];
    const uint64_t pc = CODE + UINT64_C(4) * k;
    uint64_t want, at, aligned = address & ~(uint64_t)(accesses[k].size - 1), tval;

    if (k >= 8) { /* atomics are aligned */
        address = aligned;
    }
    if (mode == USER) { /* its code */
        e.cfg[15] = 0x1F;
        e.addr[15] = (RAM >> 2) | 0x3FFFF;
    }
    if (mode == USER && !expect(&e, MRET, 4, false, X)) {
        return; /* locked: there is no way into U mode */
    }
    want = expect(&e, address, accesses[k].size, mode != MACHINE, accesses[k].access)
               ? 0x55
               : (accesses[k].access == R ? 5 : 7);
    at = address;
    if (!expect(&e, pc, 4, mode == USER, X)) { /* entries there are wider than an instruction */
        want = 1;
        at = pc;
    }
    for (unsigned i = 0; i < 3 && !harness_failed(); i++) {
        uint64_t cause = try(machines[i], &e, mode, pc, address, &tval);

        describe(text, sizeof text, &e, mode);
        CHECK_MSG(cause == want && (want == 0x55 || tval == at),
                  "machine %u: %s at 0x%" PRIx64 ": cause %" PRIu64 ", expected %" PRIu64 "; %s",
                  i,
                  accesses[k].text,
                  address,
                  cause,
                  want,
                  text);
    }
}

static void try_fetch(const struct entries *given, enum mode mode, uint64_t pc)
{
    struct entries e = *given;
    char text[512];
    uint64_t want = 0x55, at = 0, tval;

    if (mode == USER && !expect(&e, MRET, 4, false, X)) {
        return;
    }
    for (unsigned parcel = 2; parcel-- > 0;) {
        if (!expect(&e, pc + UINT64_C(2) * parcel, 2, mode == USER, X)) {
            want = 1;
            at = pc + UINT64_C(2) * parcel;
        }
    }
    for (unsigned i = 0; i < 3 && !harness_failed(); i++) {
        uint64_t cause;

        fill_window(machines[i]);
        cause = try(machines[i], &e, mode, pc, 0, &tval);

        describe(text, sizeof text, &e, mode);
        CHECK_MSG(cause == want && (want == 0x55 || tval == at),
                  "machine %u: fetch at 0x%" PRIx64 ": cause %" PRIu64 ", expected %" PRIu64 "; %s",
                  i,
                  pc,
                  cause,
                  want,
                  text);
    }
}

/* ---- cases ------------------------------------------------------------------------------------
 */

/* Every A, R, W, X, L, place in the list and mode, at the borders of the entry. */
TEST(one_entry_in_all_its_forms, "CAP-533")
{
    static const unsigned places[] = {0, 1, 14};
    static const int borders[] = {-8, -4, -2, 0, 4, 8, 14, 16, 30, 32};

    make_machines();
    for (unsigned cfg = 0; cfg < 0x40; cfg++) {
        for (unsigned p = 0; p < 3; p++) {
            struct entries e = {.cfg = {0}};
            const unsigned mode = cfg >> 3 & 3, locked = (cfg & 0x20) != 0 ? LOCKED : 0;

            e.cfg[places[p]] = (uint8_t)((cfg & 0x1F) | locked);
            e.addr[places[p]] = mode == 1   ? (WINDOW + 32) >> 2
                                : mode == 3 ? (WINDOW >> 2) | 3 /* 32 bytes */
                                            : WINDOW >> 2;
            if (places[p] > 0) {
                e.addr[places[p] - 1] = WINDOW >> 2;
            }
            for (unsigned m = 0; m < MODES; m++) {
                for (unsigned b = 0; b < sizeof borders / sizeof borders[0]; b++) {
                    const uint64_t at = (uint64_t)WINDOW + (uint64_t)(int64_t)borders[b];

                    /* one kind of access in turn, all of them in a long run */
                    for (unsigned k = harness_long() ? 0 : (cfg + b) % 3; k < ACCESSES;
                         k += harness_long() ? 1 : 3) {
                        try_access(&e, (enum mode)m, k, at);
                    }
                    if (m != AS_USER) {
                        try_fetch(&e, (enum mode)m, at);
                    }
                }
            }
        }
    }
    free_machines();
}

TEST(entries_in_any_order, "CAP-533")
{
    const unsigned rounds = harness_long() ? 40000 : 4000;

    make_machines();
    for (unsigned n = 0; n < rounds && !harness_failed(); n++) {
        struct entries e = {.cfg = {0}};
        const enum mode mode = (enum mode)(harness_random() % MODES);

        for (unsigned i = 0; i < 4; i++) {
            const unsigned at = (unsigned)(harness_random() % 15);
            const uint64_t word = harness_random() % 20;

            e.cfg[at] = (uint8_t)(harness_random() & 0x9F);
            e.addr[at] = (WINDOW >> 2) - 2 + word;
        }
        try_access(
            &e, mode, (unsigned)(harness_random() % ACCESSES), WINDOW - 8 + harness_random() % 64);
        if (mode != AS_USER) {
            try_fetch(&e, mode, (WINDOW - 8 + harness_random() % 64) & ~UINT64_C(1));
        }
    }
    free_machines();
}

TEST(registers_hold_what_they_can, "CAP-533")
{
    static const char text[] =
        "li t0, -1\n csrw pmpaddr0, t0\n csrr s2, pmpaddr0\n csrw pmpaddr4, t0\n"
        "csrr s3, pmpaddr4\n csrw pmpcfg2, t0\n csrr s4, pmpcfg2\n"
        "li t0, 0x1a02051e7f\n csrw pmpcfg0, t0\n csrr s5, pmpcfg0\n" /* W without R */
        "li t0, 0x8900\n csrs pmpcfg0, t0\n csrr s6, pmpcfg0\n"       /* 1: locked, TOR */
        "csrw pmpcfg0, zero\n csrr s7, pmpcfg0\n"
        "li t0, 5\n csrw pmpaddr0, t0\n csrw pmpaddr1, t0\n csrw pmpaddr2, t0\n"
        "csrr s8, pmpaddr0\n csrr s9, pmpaddr1\n csrr s10, pmpaddr2\n"
        "li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n";
    facet_machine *m = machines_run("pmp=4", text, 1);

    CHECK_EQ(machines_reg(m, 0, "s2"), UINT64_C(0x3FFFFFFFFFFFFF));
    CHECK_EQ(machines_reg(m, 0, "s3"), 0);
    CHECK_EQ(machines_reg(m, 0, "s4"), 0);
    CHECK_EQ(machines_reg(m, 0, "s5"), 0x00051C1F);
    CHECK_EQ(machines_reg(m, 0, "s6"), 0x00059D1F);
    CHECK_EQ(machines_reg(m, 0, "s7"), 0x9D00);
    CHECK_EQ(machines_reg(m, 0, "s8"), 5); /* 1 is NAPOT now: the address below is free */
    CHECK_EQ(machines_reg(m, 0, "s9"), 0);
    CHECK_EQ(machines_reg(m, 0, "s10"), 5);
    facet_machine_destroy(m);
}

TEST(a_locked_tor_entry_locks_the_address_below, "CAP-533")
{
    static const char text[] = "li t0, 0x20000000\n csrw pmpaddr1, t0\n li t0, 0x8900\n"
                               "csrw pmpcfg0, t0\n li t0, 7\n csrw pmpaddr0, t0\n"
                               "csrr s2, pmpaddr0\n csrw pmpaddr1, t0\n csrr s3, pmpaddr1\n"
                               "li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n";
    facet_machine *m = machines_run("pmp=16", text, 1);

    CHECK_EQ(machines_reg(m, 0, "s2"), 0);
    CHECK_EQ(machines_reg(m, 0, "s3"), 0x20000000);
    CHECK_EQ(machines_stop.reason, FACET_STOP_FAULT); /* the finisher is below: read-only */
    facet_machine_destroy(m);
}

TEST(without_pmp_there_are_no_registers, "")
{
    static const char text[] = "la t0, on\n csrw mtvec, t0\n csrw pmpaddr0, zero\n j .\n"
                               ".balign 4\n on: csrr s2, mcause\n la t0, on2\n csrw mtvec, t0\n"
                               "csrr t1, pmpcfg0\n j .\n .balign 4\n on2: csrr s3, mcause\n"
                               "li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n";
    facet_machine *m = machines_run("pmp=0", text, 1);

    CHECK_EQ(machines_reg(m, 0, "s2"), 2);
    CHECK_EQ(machines_reg(m, 0, "s3"), 2);
    CHECK(facet_machine_find_csr(m, 0, "pmpaddr0") == FACET_NONE);
    facet_machine_destroy(m);
    m = machines_run("full",
                     "li t0, 1\n csrw pmpaddr0, t0\n csrr s2, pmpaddr0\n csrw pmpcfg0, t0\n"
                     "csrr s3, pmpcfg0\n li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n",
                     1);
    CHECK_EQ(machines_reg(m, 0, "s2"), 1);
    CHECK_EQ(machines_reg(m, 0, "s3"), 0);
    facet_machine_destroy(m);
}

/* A kernel that lets U mode have everything for a while, then all but a secret. */
TEST(protection_comes_and_goes_in_a_run, "")
{
    static const char text[] =
        "la t0, handler\n csrw mtvec, t0\n li t0, -1\n csrw pmpaddr3, t0\n li t0, 0x1f000000\n"
        "csrw pmpcfg0, t0\n la t0, user\n csrw mepc, t0\n mret\n"
        ".balign 4\n handler: csrr t0, mcause\n li t1, 8\n beq t0, t1, call\n"
        "add s8, s8, t0\n csrr t0, mtval\n add s9, s9, t0\n csrr t0, mepc\n addi t0, t0, 4\n"
        "csrw mepc, t0\n mret\n"
        "call: csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n bnez a0, close\n"
        "li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n j .\n"
        "close: la t0, secret\n srli t0, t0, 2\n csrw pmpaddr0, t0\n li t0, 0x1f000010\n"
        "csrw pmpcfg0, t0\n mret\n"
        "user: la s0, secret\n li s2, 0\n li s3, 300\n"
        "1: lw t2, 0(s0)\n add s4, s4, t2\n sw s2, 0(s0)\n addi s2, s2, 1\n blt s2, s3, 1b\n"
        "bnez s5, done\n li s5, 1\n li a0, 1\n ecall\n li s2, 0\n j 1b\n"
        "done: li a0, 0\n ecall\n .balign 8\n secret: .zero 8\n";
    facet_machine *m = machines_run("pmp=16", text, 1);
    const uint64_t secret = machines_symbol("secret");

    CHECK_EQ(machines_stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(machines_reg(m, 0, "s8"), 300 * (5 + 7));
    CHECK_EQ(machines_reg(m, 0, "s9"), 600 * secret);
    facet_machine_destroy(m);
}

/* a0 of ecall: 0 ends, 1 gives U mode everything, 2 all but `secret`, 3 all but fetches from `far`.
 */
#define SWITCHES                                                                                   \
    "la t0, handler\n csrw mtvec, t0\n la t0, secret\n srli t0, t0, 2\n csrw pmpaddr0, t0\n"       \
    "la t0, far\n srli t0, t0, 2\n ori t0, t0, 7\n csrw pmpaddr1, t0\n"                            \
    "li t0, -1\n csrw pmpaddr7, t0\n la t0, user\n csrw mepc, t0\n j give\n"                       \
    ".balign 4\n handler: csrr t0, mcause\n li t1, 8\n beq t0, t1, call\n addi s8, s8, 1\n"        \
    "mv s9, t0\n csrr s10, mtval\n csrw mepc, ra\n mret\n"                                         \
    "call: csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n beqz a0, done\n li t1, 2\n"            \
    "beq a0, t1, close\n bgtu a0, t1, shut\n"                                                      \
    "give: li t0, 0x1f00000000000000\n csrw pmpcfg0, t0\n mret\n"                                  \
    "close: li t0, 0x1f00000000000010\n csrw pmpcfg0, t0\n mret\n"                                 \
    "shut: li t0, 0x1f00000000001b00\n csrw pmpcfg0, t0\n mret\n"                                  \
    "done: li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n j .\n"                                 \
    ".balign 64\n far: addi s4, s4, 1\n ret\n .balign 64\n secret: .word 7\n"

/* Code that was decoded while it could be fetched, and code that is written past a closed window.
 */
TEST(decoded_code_is_protected_and_rewritten, "")
{
    static const char text[] = SWITCHES
        "user: call far\n call far\n li a0, 3\n ecall\n call far\n li a0, 1\n ecall\n call far\n"
        "li a0, 2\n ecall\n la t0, far\n li t1, 0x008a0a13\n sw t1, 0(t0)\n" /* addi s4, s4, 8 */
        "li a0, 1\n ecall\n call far\n li a0, 0\n ecall\n";
    facet_machine *m = machines_run("pmp=8", text, 1);

    CHECK_EQ(machines_stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(machines_reg(m, 0, "s4"), 2 + 1 + 8);
    CHECK_EQ(machines_reg(m, 0, "s8"), 1);
    CHECK_EQ(machines_reg(m, 0, "s9"), 1);
    CHECK_EQ(machines_reg(m, 0, "s10"), machines_symbol("far"));
    facet_machine_destroy(m);
}

/* A machine that never was in U mode continues from a snapshot of one that is restricted there. */
TEST(a_snapshot_brings_its_protection, "")
{
    static const char text[] = SWITCHES "user: li a0, 2\n ecall\n la s0, secret\n here: nop\n"
                                        "lw s2, 0(s0)\n lw s3, 0(s0)\n j .\n";
    const struct facet_xphmg_config config = {
        .ram_bytes = 1 << 20, .configuration = "pmp=8", .host_code = 1};
    facet_machine *from = machines_run("pmp=8", text, 1), *to = NULL;
    struct facet_blob blob;

    facet_machine_reset(from);
    for (unsigned i = 0; i < 200 && machines_reg(from, 0, "pc") != machines_symbol("here"); i++) {
        step(from);
    }
    CHECK_EQ(machines_reg(from, 0, "pc"), machines_symbol("here"));
    CHECK_EQ(facet_machine_snapshot(from, &blob, NULL), FACET_OK);
    CHECK_EQ(facet_xphmg_create(&config, &to, NULL), FACET_OK);
    CHECK_EQ(facet_machine_restore(to, blob.data, blob.size, NULL), FACET_OK);
    step(to);
    step(to);
    CHECK_EQ(machines_csr(to, 0, "mcause"), 5);
    CHECK_EQ(machines_reg(to, 0, "s2"), 0);
    facet_blob_free(&blob);
    facet_machine_destroy(from);
    facet_machine_destroy(to);
}

/* Values that no write can leave in the registers: ranges would end past the last address. */
TEST(protection_that_cannot_be_is_not_restored, "")
{
    static const uint64_t mark = UINT64_C(0x123456789ABCD), wide = UINT64_C(1) << 62, one = 1;
    static const size_t cfg = 8 * (16 + 18); /* from pmpaddr0: behind the words of the hart */
    static const struct {
        size_t past;
        uint64_t value;
        unsigned count;
        bool good;
    } cases[] = {{0, 1, 8, true},
                 {0, wide, 8, false},
                 {7 * 8, one, 8, true},
                 {8 * 8, one, 8, false}, /* no such entry */
                 {cfg, 0x8F, 1, true},
                 {cfg, 0x20, 1, false},
                 {cfg + 7, 0x0A, 1, false}, /* W without R */
                 {cfg + 8, 0x0F, 1, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        facet_machine *m = machines_run("pmp=8", "j .\n", 1);
        struct facet_error err = {0};
        enum facet_status status;
        uint8_t bytes[8];

        machines_csrw(m, 0, "pmpaddr0", mark);
        facet_store_le64(bytes, cases[i].value);
        status = machines_restore_changed(m, mark, cases[i].past, bytes, cases[i].count, &err);
        CHECK_MSG(status == (cases[i].good ? FACET_OK : FACET_ERR_INPUT),
                  "case %zu: %d %s",
                  i,
                  (int)status,
                  err.message);
        CHECK(cases[i].good || strstr(err.message, "PMP") != NULL);
        facet_machine_destroy(m);
    }
}

/* ---- the vendor units -------------------------------------------------------------------------
 */

/* M mode closes `page` to U mode, which has the rest, and goes there. The handler counts traps in
 * s8, keeps the last cause in s9 and mtval in s10, and goes on; ecall: a0 = 0 ends, 1 closes
 * `page`, 2 goes on in M mode. */
#define KERNEL                                                                                     \
    "la t0, handler\n csrw mtvec, t0\n la s0, page\n la s1, open\n li t0, 0x1234\n sd t0, 0(s0)\n" \
    "sd t0, 8(s0)\n srli t0, s0, 2\n ori t0, t0, 0x1f\n csrw pmpaddr0, t0\n li t0, -1\n"           \
    "csrw pmpaddr7, t0\n li t0, 0x1f00000000000018\n csrw pmpcfg0, t0\n j main\n"                  \
    ".balign 4\n handler: csrr t0, mcause\n li t1, 8\n beq t0, t1, call\n li t1, 11\n"             \
    "beq t0, t1, call\n addi s8, s8, 1\n"                                                          \
    "mv s9, t0\n csrr s10, mtval\n csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n mret\n"        \
    "call: csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n beqz a0, done\n li t1, 2\n"            \
    "beq a0, t1, stay\n li t0, 0x1f00000000000018\n csrw pmpcfg0, t0\n mret\n"                     \
    "stay: li t0, 0x1800\n csrs mstatus, t0\n mret\n"                                              \
    "done: li t5, 0x100000\n li t6, 0x5555\n sw t6, 0(t5)\n j .\n"                                 \
    ".balign 256\n page: .zero 256\n open: .zero 256\n main:\n"
#define TO_USER "la t0, user\n csrw mepc, t0\n li t0, 0x1800\n csrc mstatus, t0\n mret\n user:\n"

TEST(units_are_the_hart_for_pmp, "")
{
    static const struct {
        const char *text;
        uint64_t cause, past; /* of mtval: bytes behind `page` */
    } cases[] = {
        {"lw a3, 0(s0)\n", 5, 0},
        {"xmem.ldg.w a3, (s0)\n", 5, 0},
        {"xmem.stg.w a3, (s0)\n", 7, 0},
        {"addi a4, s0, 256\n xmem.ldg.d a3, (a4)\n", 0, 0},
        {"li a7, 16\n xlds.cpy s1, s0, a7\n", 5, 0},
        {"li a7, 16\n xlds.cpy s0, s1, a7\n", 7, 0},
        {"li a7, 16\n addi a4, s0, -8\n xlds.cpy s1, a4, a7\n",
         5,
         0}, /* the first forbidden byte */
        {"li a7, 16\n addi a4, s0, 240\n xlds.cpy s1, a4, a7\n", 5, 240},
        {"li a7, 16\n addi a4, s0, 256\n xlds.cpy s1, a4, a7\n", 0, 0},
        {"xsubmit.rt a3, s0\n", 5, 0},
        {"xsubmit.mtx a3, s0\n", 5, 0},
        {"mv x10, s1\n mv x11, s0\n svsetvl x0, 2\n svon.one\n lw x20, 0(x10)\n", 5, 0},
        {"mv x10, s1\n mv x11, s0\n svsetvl x0, 2\n svon.one\n sw x20, 0(x10)\n", 7, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4096];
        facet_machine *m;

        (void)snprintf(
            text, sizeof text, "%s%s%s li a0, 0\n ecall\n", KERNEL, TO_USER, cases[i].text);
        m = machines_run("pmp=8", text, 1);
        CHECK_EQ(machines_stop.reason, FACET_STOP_EXIT);
        CHECK_MSG(machines_reg(m, 0, "s8") == (cases[i].cause != 0) &&
                      machines_reg(m, 0, "s9") == cases[i].cause &&
                      (cases[i].cause == 0 ||
                       machines_reg(m, 0, "s10") == machines_symbol("page") + cases[i].past),
                  "%s: %" PRIu64 " traps, cause %" PRIu64 ", value 0x%" PRIx64,
                  cases[i].text,
                  machines_reg(m, 0, "s8"),
                  machines_reg(m, 0, "s9"),
                  machines_reg(m, 0, "s10"));
        facet_machine_destroy(m);
        /* the same from M mode, which may */
        (void)snprintf(text, sizeof text, "%s%s li a0, 0\n ecall\n", KERNEL, cases[i].text);
        m = machines_run("pmp=8", text, 1);
        CHECK_MSG(strncmp(cases[i].text, "xsubmit", 7) == 0 || machines_reg(m, 0, "s8") == 0,
                  "%s traps in M mode",
                  cases[i].text);
        facet_machine_destroy(m);
    }
}

/* Privilege is that of the submission, entries are those of the completion (R-CAP-70). */
TEST(late_copies_keep_their_privilege, "")
{
    facet_machine *m;

    machines_late = true;
    m = machines_run("pmp=8",
                     KERNEL "li a7, 16\n xlds.cpy s1, s0, a7, async=1\n ld s4, 0(s1)\n" TO_USER
                            "xfence.pipe ALL, 4, 1\n ld s5, 0(s1)\n li a0, 0\n ecall\n",
                     1);
    CHECK_EQ(machines_stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(machines_reg(m, 0, "s4"), 0);
    CHECK_EQ(machines_reg(m, 0, "s5"), 0x1234);
    CHECK_EQ(machines_reg(m, 0, "s8"), 0);
    facet_machine_destroy(m);
    m = machines_run("pmp=8",
                     KERNEL "li t0, 0x1f0000000000001f\n csrw pmpcfg0, t0\n" TO_USER
                            "li a7, 16\n xlds.cpy s1, s0, a7, async=1\n li a0, 1\n ecall\n"
                            "li a0, 2\n ecall\n xfence.pipe ALL, 4, 1\n ld s5, 0(s1)\n"
                            "csrr s6, CAP.XMEM.EVENTS\n ld s7, 0(s0)\n li a0, 0\n ecall\n",
                     1);
    CHECK_EQ(machines_stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(machines_reg(m, 0, "s5"), 0);
    CHECK_EQ(machines_reg(m, 0, "s6") >> 3 & 1, 1); /* DMA_ERR */
    CHECK_EQ(machines_reg(m, 0, "s7"), 0x1234);     /* M mode itself may read it */
    facet_machine_destroy(m);
    machines_late = false;
}

/* The host writes into a program's buffers as a debugger does. */
TEST(semihosting_is_not_protected_from, "")
{
    facet_machine *m =
        machines_run("pmp=8",
                     KERNEL TO_USER "li a0, 0x30\n addi a1, s0, 0\n j semi\n .balign 16\n semi:\n"
                                    ".word 0x01f01013, 0x00100073, 0x40705013\n"
                                    "li a0, 2\n ecall\n ld s5, 0(s0)\n li a0, 0\n ecall\n",
                     1);

    CHECK_EQ(machines_stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(machines_reg(m, 0, "s8"), 0);
    CHECK(machines_reg(m, 0, "s5") != 0x1234); /* SYS_ELAPSED stored the steps */
    facet_machine_destroy(m);
}
