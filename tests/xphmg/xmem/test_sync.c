/* Fences, barriers, tokens, tickets and jobs: what stalls, what passes, what a machine reports when
 * nothing can go on, and how XPHMG_MEMCTL of a job is read. The jobs multiply one vector by hand
 * arithmetic; machines with two harts run litmus programs. */
#include "xphmg/xmem/xmem_test.h"

#include "assembler/assemble.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>

enum { D = GUEST_DATA };

static uint64_t token(struct guest *g, unsigned n)
{
    return guest_indirect_read(g, FACET_CSR_XTOK0 + n);
}

/* ---- fences and barriers -----------------------------------------------------------------------
 */

TEST(scopes_are_zero_to_four, "XM-005 XM-087")
{
    struct guest *g = guest_make("full");
    static struct log log;

    for (unsigned scope = 0; scope < 32; scope++) {
        struct facet_trap trap;

        log_start(&log, g);
        trap = guest_run(g, "xlds.bar %u\n", scope);
        guest_observe(g, NULL);
        CHECK_EQ(trap.taken, scope > 4);
        if (scope > 4) {
            CHECK_EQ(trap.cause, FACET_CAUSE_ILLEGAL);
        } else if (CHECK(log_find(&log, "lds.bar") != NULL)) {
            CHECK_EQ(log_find(&log, "lds.bar")->values[0], scope);
        }
    }
    guest_ok(g, "xlds.bar THREAD\n xlds.bar WARP\n xlds.bar WG\n xlds.bar CLUSTER\n");
    guest_free(g);
}

TEST(pipe_fences_take_three_domains_and_five_scopes, "XM-124 XM-128")
{
    struct guest *g = guest_make("full");
    static struct log log;

    for (unsigned dom = 0; dom < 32; dom++) {
        for (unsigned scope = 0; scope < 8; scope++) {
            bool legal = (dom == 2 || dom == 3 || dom == 15) && scope <= 4;
            struct facet_trap trap;

            log_start(&log, g);
            trap = guest_run(g, "xfence.pipe %u, %u, %u\n", dom, scope, scope & 1);
            guest_observe(g, NULL);
            CHECK_EQ(trap.taken, !legal);
            if (!legal) {
                CHECK_EQ(trap.cause, FACET_CAUSE_ILLEGAL);
                CHECK_EQ(trap.tval, guest_load(g, GUEST_CODE, 4));
            } else if (CHECK(log_find(&log, "fence") != NULL)) {
                CHECK_EQ(log_find(&log, "fence")->values[0], dom);
                CHECK_EQ(log_find(&log, "fence")->values[1], scope);
                CHECK_EQ(log_find(&log, "fence")->values[2], scope & 1);
            }
        }
    }
    /* an asynchronous copy is complete behind a fence with ff */
    guest_store(g, D, 8, 321);
    g->hart->x[10] = LDS;
    g->hart->x[11] = D;
    g->hart->x[12] = 8;
    guest_ok(g, "xlds.cpy a0, a1, a2, async=1\n xfence.pipe ALL, 4, 1\n ld a3, 0(a0)\n");
    CHECK_EQ(g->hart->x[13], 321);
    guest_free(g);
}

/* ---- tokens and tickets ------------------------------------------------------------------------
 */

TEST(tokens_count_signals, "XM-125")
{
    struct guest *g = guest_make("full");

    CHECK_EQ(token(g, 1), 0);
    guest_ok(g, "xfence.signal 1\n");
    CHECK_EQ(token(g, 1), 1);
    guest_ok(g, "xfence.waiti 1\n");
    CHECK_EQ(token(g, 1), 0);
    guest_ok(g, "xfence.signal 31\n xfence.signal 31\n xfence.wait 31\n");
    CHECK_EQ(token(g, 31), 1);
    for (unsigned n = 0; n < 31; n++) {
        CHECK_EQ(token(g, n), 0);
    }
    g->xmem->tokens[4] = UINT32_MAX - 1;
    guest_ok(g, "xfence.signal 4\n xfence.signal 4\n");
    CHECK_EQ(token(g, 4), UINT32_MAX); /* it does not wrap */
    guest_free(g);
}

TEST(a_hart_stalls_at_an_empty_token, "XM-126")
{
    struct guest *g = guest_make("full");
    struct facet_hart *h = g->hart;
    uint64_t retired;

    guest_ok(g, "xfence.signal 2\n xfence.waiti 2\n li a0, 5\n"); /* the code stays in memory */
    h->pc = GUEST_CODE + 4;
    h->x[10] = 0;
    retired = h->retired;
    for (unsigned i = 0; i < 3; i++) {
        CHECK(!facet_hart_step(h).taken);
        CHECK_EQ(h->pc, GUEST_CODE + 4);
        CHECK_EQ(h->retired, retired);
        CHECK(h->stalled && h->waiting);
        CHECK_EQ(h->wait, FACET_WAIT_TOKEN);
        CHECK_EQ(h->wait_on, 2);
    }
    /* an interrupt is taken at the instruction */
    h->mie = h->mip = 8;
    h->mstatus |= FACET_MSTATUS_MIE;
    CHECK(facet_hart_step(h).taken);
    CHECK_EQ(h->mepc, GUEST_CODE + 4);
    CHECK(!h->waiting && !h->stalled);
    h->mip = 0;
    h->pc = GUEST_CODE + 4;
    CHECK(!facet_hart_step(h).taken);
    CHECK(h->stalled);
    /* somebody signals: the wait ends and takes the signal */
    g->xmem->tokens[2] = 1;
    CHECK(!facet_hart_step(h).taken);
    CHECK(!h->stalled && !h->waiting);
    CHECK_EQ(h->pc, GUEST_CODE + 8);
    CHECK_EQ(h->retired, retired + 1);
    CHECK_EQ(g->xmem->tokens[2], 0);
    guest_free(g);
}

static facet_machine *machine_make(const char *text, uint32_t harts)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_xphmg_config config = {.harts = harts, .ram_bytes = 1 << 20, .quantum = 64};
    struct facet_asm_result result;
    struct facet_error err = {0};
    facet_machine *machine = NULL;
    uint8_t *elf = NULL;
    size_t size = 0;

    CHECK_MSG(
        facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK, "%s", err.message);
    CHECK_EQ(facet_elf_write(result.object, &elf, &size, &err), FACET_OK);
    facet_asm_result_free(&result);
    CHECK_EQ(facet_xphmg_create(&config, &machine, &err), FACET_OK);
    CHECK_EQ(facet_xphmg_load_elf(machine, elf, size, &err), FACET_OK);
    free(elf);
    return machine;
}

static struct facet_stop machine_run(facet_machine *machine)
{
    struct facet_run how = {.budget = 100000};
    struct facet_stop stop;

    facet_machine_run(machine, &how, &stop);
    return stop;
}

static uint64_t machine_reg(facet_machine *machine, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_reg_read(
                 machine, core, facet_machine_find_reg(machine, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

static void
check_deadlock(const char *text, uint32_t harts, uint32_t core, uint64_t pc, uint64_t on)
{
    facet_machine *machine = machine_make(text, harts);
    struct facet_stop stop = machine_run(machine);
    struct facet_xphmg_fault fault = {0};

    CHECK_EQ(stop.reason, FACET_STOP_FAULT);
    CHECK_EQ(stop.code, FACET_XPHMG_DEADLOCK);
    CHECK_EQ(stop.core, core);
    CHECK(facet_xphmg_get_fault(machine, &fault, NULL) == FACET_OK);
    CHECK_EQ(fault.pc, GUEST_CODE + pc);
    CHECK_EQ(fault.value, on);
    facet_machine_destroy(machine);
}

#define EXIT "li t0, 0x100000\n li t1, 0x5555\n sw t1, 0(t0)\n j .\n"

TEST(a_machine_reports_a_deadlock_where_it_is, "XM-126 XM-150")
{
    check_deadlock("nop\n xfence.waiti 2\n" EXIT, 1, 0, 4, 2);
    /* signals for other tokens do not help */
    check_deadlock("xfence.signal 3\n nop\n xfence.waiti 2\n" EXIT, 1, 0, 8, 2);
    /* two harts that wait for each other; one waits for ever in WFI */
    check_deadlock("bnez a0, 1f\n xfence.waiti 1\n xfence.signal 2\n 1: xfence.waiti 2\n"
                   "xfence.signal 1\n" EXIT,
                   2,
                   0,
                   4,
                   1);
    check_deadlock("beqz a0, 1f\n xfence.waiti 1\n 1: wfi\n j 1b\n", 2, 1, 4, 1);
    /* tickets that nobody was given: MTX, RT, and a queue that does not exist */
    check_deadlock("li a0, 0x0200000000000001\n xfence.wait a0\n" EXIT,
                   1,
                   0,
                   12,
                   UINT64_C(0x0200000000000001));
    check_deadlock("li a0, 0x0100000000000001\n xfence.wait a0\n" EXIT,
                   1,
                   0,
                   12,
                   UINT64_C(0x0100000000000001));
    check_deadlock("li a0, 0x0300000000000001\n xfence.wait a0\n" EXIT,
                   1,
                   0,
                   12,
                   UINT64_C(0x0300000000000001));
}

TEST(harts_pass_tokens_and_see_what_was_stored, "XM-125 XM-129 XM-130 XM-077")
{
    /* Hart 0 produces into LDS, barrier, flush, signal; hart 1 consumes and answers; 200 rounds.
     * Store A, fence, store B: an observer of B sees A. */
    static const char text[] = "li s0, 0x40000000\n"
                               "li s1, 200\n"
                               "li s3, 64\n"
                               "bnez a0, consumer\n"
                               "producer: sd s1, 0(s0)\n"
                               "xfence.pipe ALL\n"
                               "sd s1, 64(s0)\n"
                               "xlds.bar CLUSTER\n"
                               "xmem.cctl.flush s0, s3\n"
                               "xfence.signal 1\n"
                               "xfence.waiti 2\n"
                               "addi s1, s1, -1\n"
                               "bnez s1, producer\n" EXIT "consumer: xfence.waiti 1\n"
                               "ld t0, 64(s0)\n"
                               "ld t1, 0(s0)\n"
                               "sub t1, t1, t0\n"
                               "snez t1, t1\n"
                               "add s4, s4, t1\n"
                               "add s5, s5, t0\n"
                               "xfence.signal 2\n"
                               "j consumer\n";
    facet_machine *machine = machine_make(text, 2);
    struct facet_stop stop = machine_run(machine);

    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(machine_reg(machine, 1, "s4"), 0);
    CHECK_EQ(machine_reg(machine, 1, "s5"), 200 * 201 / 2);
    facet_machine_destroy(machine);
}

TEST(a_timer_interrupt_can_end_a_wait, "XM-126")
{
    static const char text[] = "la t0, handler\n"
                               "csrw mtvec, t0\n"
                               "li t0, 0x2004000\n"
                               "li t1, 50\n"
                               "sd t1, 0(t0)\n"
                               "li t1, 0x80\n"
                               "csrw mie, t1\n"
                               "csrsi mstatus, 8\n"
                               "xfence.waiti 9\n"
                               "li s1, 77\n" EXIT ".align 2\n"
                               "handler: li t1, -1\n"
                               "sd t1, 0(t0)\n"
                               "addi s2, s2, 1\n"
                               "xfence.signal 9\n"
                               "mret\n";
    facet_machine *machine = machine_make(text, 1);

    CHECK_EQ(machine_run(machine).reason, FACET_STOP_EXIT);
    CHECK_EQ(machine_reg(machine, 0, "s1"), 77);
    CHECK_EQ(machine_reg(machine, 0, "s2"), 1);
    facet_machine_destroy(machine);
}

/* ---- jobs --------------------------------------------------------------------------------------
 */

enum {
    DESC = D,
    MATRIX = D + 0x1000,
    VIN = D + 0x2000,
    VOUT = D + 0x3000,
    M_DOM = 0,
    M_L1 = 1,
    M_L2 = 2,
    M_LDS = 3,
    M_LINE = 4,
    M_QOS = 6,
    M_PIN = 8,
    M_CLASS = 16,
    M_SPROF = 17,
    M_HYB = 18,
    M_SEC = 19,
    M_TIER = 20,
};

/* FP32: [1 2; 3 4] * [5 6] = [17 39]. */
static void job_setup(struct guest *g, uint64_t vin, uint64_t vout)
{
    static const uint32_t matrix[4] = {0x3F800000, 0x40000000, 0x40400000, 0x40800000};

    set_mode(g, MODE_PET(1) | MODE_EW(2));
    for (unsigned i = 0; i < 4; i++) {
        guest_store(g, MATRIX + 4 * i, 4, matrix[i]);
    }
    guest_store(g, vin, 8, UINT64_C(0x40C0000040A00000));
    guest_store(g, vout, 8, 0);
    guest_store(g, DESC, 8, MATRIX);
    guest_store(g, DESC + 8, 8, vin);
    guest_store(g, DESC + 16, 8, vout);
    guest_store(g, DESC + 24, 4, 5 | 1u << 5);
    guest_store(g, DESC + 28, 4, 5);
    guest_store(g, DESC + 32, 4, 1);
    for (unsigned i = 36; i < 64; i += 4) {
        guest_store(g, DESC + i, 4, 0);
    }
}

static bool job_done(struct guest *g, uint64_t vout)
{
    return guest_load(g, vout, 8) == UINT64_C(0x421C000041880000);
}

/* Runs the job whose MEMCTL has been set, and shows what the unit made of it. */
static struct facet_unit_event submit(struct guest *g)
{
    static struct log log;
    const struct facet_unit_event *event;

    log_start(&log, g);
    g->hart->x[10] = DESC;
    guest_ok(g, "xsubmit.mtx a1, a0\n xfence.wait a1\n");
    guest_observe(g, NULL);
    event = log_find(&log, "job");
    return CHECK(event != NULL) ? *event : (struct facet_unit_event){0};
}

static void memctl(struct guest *g, unsigned offset, unsigned size, uint64_t value)
{
    guest_store(g, DESC + 40 + offset, size, value);
}

enum { J_DOM, J_SEC, J_CLASS, J_SPROF, J_TIER, J_PIN };

TEST(tickets_count_and_complete_in_order, "")
{
    struct guest *g = guest_make("full");

    job_setup(g, VIN, VOUT);
    g->hart->x[10] = DESC;
    guest_ok(g,
             "xfence.wait x0\n" /* ticket 0 never stalls */
             "xsubmit.mtx a1, a0\n xsubmit.mtx a2, a0\n xsubmit.mtx a3, a0\n"
             "xfence.wait a3\n xfence.wait a1\n xfence.wait a2\n xfence.wait a1\n"
             "xfence.pipe MTX\n li t0, 0x%x\n ld a4, 0(t0)\n",
             VOUT);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_ID("XM-147 XM-148", g->hart->x[11 + i] == (UINT64_C(2) << 56 | (i + 1)));
    }
    CHECK_ID("XM-124 XM-127", g->hart->x[14] == UINT64_C(0x421C000041880000));
    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XTICKMTX), UINT64_C(2) << 56 | 3);
    harness_row("XM-149");
    /* sequence 0 of any queue passes, the next one stalls */
    guest_ok(g, "li a0, 0x0100000000000000\n xfence.wait a0\n");
    guest_ok(g, "li a0, 0x0900000000000000\n xfence.wait a0\n");
    g->hart->x[10] = UINT64_C(2) << 56 | 4;
    guest_ok(g, "j 1f\n xfence.wait a0\n 1: nop\n");
    g->hart->pc = GUEST_CODE + 4;
    (void)facet_hart_step(g->hart);
    CHECK(g->hart->stalled);
    CHECK_EQ(g->hart->wait, FACET_WAIT_TICKET);
    guest_free(g);
}

TEST(queues_that_are_not_there_are_unsupported, "XM-151")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "feat0", FACET_CAP_FEAT0_RESET & ~FACET_CAP_FEAT0_RT_PRESENT);
    g->hart->x[10] = DESC;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "xsubmit.rt a1, a0\n"),
             guest_load(g, GUEST_CODE, 4));
    guest_configure(g, "feat0", FACET_CAP_FEAT0_RESET);
    guest_configure(g, "rt_descq", 0);
    g->hart->x[10] = DESC + 1;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "xsubmit.rt a1, a0\n"),
             guest_load(g, GUEST_CODE, 4));
    guest_configure(g, "mtx_descq", 0);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "xsubmit.mtx a1, a0\n"),
             guest_load(g, GUEST_CODE, 4));
    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XTICKRT) & 0xFFFF, 0);
    guest_free(g);
}

TEST(a_job_sees_what_was_stored_before_it, "XM-077 XM-129 XM-131 XM-130")
{
    struct guest *g = guest_make("full");
    uint64_t out = LDS + 512;

    job_setup(g, LDS, out);
    guest_store(g, LDS, 8, 0);
    g->hart->x[10] = DESC;
    g->hart->x[12] = LDS;
    g->hart->x[13] = UINT64_C(0x40C0000040A00000);
    g->hart->x[14] = out;
    g->hart->x[15] = 64;
    /* prefetch the result's line, store the input, barrier, submit, load */
    guest_ok(g,
             "xmem.pref (a4), a5\n sd a3, 0(a2)\n xlds.bar 3\n xmem.cctl.flush a2, a5\n"
             "xsubmit.mtx a1, a0\n xfence.wait a1\n ld a6, 0(a4)\n");
    CHECK_EQ(g->hart->x[16], UINT64_C(0x421C000041880000));
    guest_free(g);
}

TEST(every_memctl_byte_has_its_place, "")
{
    /* offset and size, value, which member of the resolved policy changes and to what */
    static const struct {
        unsigned offset, size;
        uint64_t value;
        int member; /* -1: none */
        uint64_t expect;
        const char *ids;
    } rows[] = {
        {M_DOM, 1, 2, J_DOM, 2, "XM-035"},
        {M_L1, 1, 0xFF, -1, 0, "XM-036"},
        {M_L2, 1, 0xFF, -1, 0, "XM-037"},
        {M_LDS, 1, 0xFF, -1, 0, "XM-038"},
        {M_LINE, 2, 128, -1, 0, "XM-039"},
        {M_LINE, 2, 0xFFFF, -1, 0, "XM-039"},
        {M_QOS, 2, 0xFFFF, -1, 0, "XM-040"},
        {M_PIN, 8, 100, J_PIN, LDS + T0_BYTES, "XM-041"},
        {M_CLASS, 1, 1, J_CLASS, 1, "XM-042"},
        {M_SPROF, 1, 2, J_SPROF, 2, "XM-043"},
        {M_HYB, 1, 1, -1, 0, "XM-044"},
        {M_SEC, 1, 2, J_SEC, 2, "XM-045"},
        {M_TIER, 4, 1, J_TIER, 1, "XM-010 XM-046"},
        {M_TIER, 4, 4, J_TIER, 4, "XM-010 XM-046"},
        {M_TIER, 4, 5, -1, 0, "XM-010 XM-046"},
        {M_TIER, 4, 7, -1, 0, "XM-010 XM-046"},
        {M_TIER, 4, 0xFFFFFFF8, -1, 0, "XM-010 XM-046"},
        {M_PIN + 7, 1, 1, -1, 0, "XM-041"}, /* far too much: LDS_OOM below */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct guest *g = guest_make("full");
        uint64_t expect[6] = {15, 0, 0, 0, 0, 0};
        struct facet_unit_event event;

        harness_row(rows[i].ids);
        job_setup(g, VIN, VOUT);
        memctl(g, rows[i].offset, rows[i].size, rows[i].value);
        if (rows[i].member >= 0) {
            expect[rows[i].member] = rows[i].expect;
        }
        event = submit(g);
        CHECK_MSG(memcmp(event.values, expect, sizeof expect) == 0, "row %zu", i);
        CHECK(job_done(g, VOUT));
        CHECK_EQ(events(g), rows[i].offset == M_PIN + 7 ? EV_LDS_OOM : 0);
        CHECK_EQ(g->xmem->block_count, 0); /* released at the end */
        guest_free(g);
    }
    { /* 24 bytes at 40 of 64, and not a byte more; 8-byte aligned */
        struct guest *g = guest_make("full");
        uint64_t end = (uint64_t)GUEST_CODE + GUEST_RAM_BYTES;

        harness_row("XM-047");
        job_setup(g, VIN, VOUT);
        for (unsigned k = 0; k < 64; k += 8) {
            guest_store(g, end - 64 + k, 8, guest_load(g, DESC + k, 8));
        }
        g->hart->x[10] = end - 64;
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK(job_done(g, VOUT));
        g->hart->x[10] = end - 56;
        CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "xsubmit.mtx a1, a0\n"), end);
        g->hart->x[10] = DESC + 4;
        (void)guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "xsubmit.mtx a1, a0\n");
        guest_free(g);
    }
}

TEST(fields_override_only_when_supported, "")
{
    struct guest *g = guest_make("full");

    job_setup(g, VIN, VOUT);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 4);
    guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, UINT64_C(3) << 24);
    for (unsigned v = 0; v < 256; v++) {
        struct facet_unit_event event;

        memctl(g, M_DOM, 1, v);
        memctl(g, M_CLASS, 1, v);
        memctl(g, M_SPROF, 1, v);
        memctl(g, M_SEC, 1, v);
        event = submit(g);
        harness_row("XM-004 XM-025 XM-144");
        CHECK_EQ(event.values[J_DOM], (v >= 1 && v <= 6) || v == 15 ? v : 4);
        CHECK_EQ(event.values[J_CLASS], v >= 1 && v <= 3 ? v : 3);
        CHECK_EQ(event.values[J_SPROF], v >= 1 && v <= 3 ? v : 0);
        CHECK_ID("XM-049", event.values[J_SPROF] == (v >= 1 && v <= 3 ? v : 0));
        CHECK_EQ(event.values[J_SEC], v == 1 || v == 2 ? v : 0);
        if (v > 16 && v != 255) {
            v += 16;
        }
    }
    harness_row("XM-052");
    /* hints full of ones: nothing happens to the result */
    for (unsigned i = 0; i < 24; i += 8) {
        memctl(g, i, 8, i == 8 ? 0 : UINT64_MAX);
    }
    guest_store(g, VOUT, 8, 0);
    (void)submit(g);
    CHECK(job_done(g, VOUT));
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(the_class_of_a_job, "XM-007 XM-034 XM-048 XM-002")
{
    struct guest *g = guest_make("full");

    job_setup(g, VIN, VOUT);
    for (unsigned mclass = 0; mclass < 5; mclass++) {
        for (unsigned preset = 0; preset < 4; preset++) {
            for (unsigned active = 0; active < 4; active++) {
                unsigned expect = mclass >= 1 && mclass <= 3 ? mclass : preset ? preset : active;

                guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, preset);
                guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, (uint64_t)active << 24);
                memctl(g, M_CLASS, 1, mclass);
                memctl(g, M_PIN, 8, 2048);
                for (unsigned limited = 0; limited < 4; limited++) {
                    guest_csrw(g, FACET_CSR_CAP_XMEM_LDS_BUDGET, UINT64_C(1) << 16 * limited);
                    CHECK_EQ(submit(g).values[J_CLASS], expect);
                    CHECK_EQ(events(g), limited == expect ? EV_BUDGET_OVF : 0);
                }
            }
        }
    }
    /* without classes there is only class 0 */
    guest_configure(g, "xmem_cap", 0x1FFF & ~0x200u);
    set_mode(g, MODE_PET(1) | MODE_EW(2));
    memctl(g, M_CLASS, 1, 2);
    CHECK_EQ(submit(g).values[J_CLASS], 0);
    guest_free(g);
}

TEST(hybrid_jobs_borrow, "XM-050")
{
    struct guest *g = guest_make("full");

    job_setup(g, VIN, VOUT);
    guest_csrw(g, FACET_CSR_CAP_XMEM_LDS_BUDGET, UINT64_C(1) << 32); /* CL2: 1 KiB */
    memctl(g, M_PIN, 8, 2048);
    memctl(g, M_HYB, 1, 1);
    (void)submit(g);
    CHECK_EQ(events(g), 0);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 8);
    (void)submit(g);
    CHECK_EQ(events(g), EV_HYB_FALLBK);
    memctl(g, M_HYB, 1, 0);
    (void)submit(g);
    CHECK_EQ(events(g), 0);
    memctl(g, M_PIN, 8, 1 << 20);
    guest_store(g, VOUT, 8, 0);
    (void)submit(g);
    CHECK_EQ(events(g), EV_LDS_OOM); /* and the job runs without */
    CHECK(job_done(g, VOUT));
    guest_free(g);
}

TEST(domain_and_security_of_a_job, "XM-002 XM-004 XM-051 XM-132 XM-133 XM-018 XM-019")
{
    struct guest *g = guest_make("full");
    uint64_t mine, secret;

    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    mine = alloc(g, 64, 8, 0); /* Tier-0, owner MTX */
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 2);
    secret = alloc(g, 64, 0, 2);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 0x40);
    job_setup(g, mine, VOUT);
    (void)submit(g); /* domain RT by default: refused */
    CHECK(!job_done(g, VOUT));
    CHECK_EQ(guest_csr(g, FACET_CSR_MTXSTAT) & FACET_MTXSTAT_JOB_ERR,
             UINT64_C(5) << FACET_MTXSTAT_JOB_ERR_LSB);
    CHECK_EQ(events(g), EV_INV_MISS);
    memctl(g, M_DOM, 1, 9); /* no such domain: the default again */
    (void)submit(g);
    CHECK(!job_done(g, VOUT));
    (void)events(g);
    memctl(g, M_DOM, 1, 3);
    (void)submit(g);
    CHECK(job_done(g, VOUT));
    CHECK_EQ(events(g), 0);
    /* security: levels 0 and 1 are below the tag 2 */
    job_setup(g, secret, VOUT);
    for (unsigned level = 0; level < 4; level++) {
        guest_store(g, VOUT, 8, 0);
        memctl(g, M_SEC, 1, level);
        (void)submit(g);
        CHECK_EQ(job_done(g, VOUT), level == 2);
        CHECK_EQ(events(g), level == 2 ? 0 : EV_INV_MISS | EV_SEC_VIOL);
    }
    guest_configure(g, "xmem_cap", 0x1FFF & ~0x800u); /* no SEC_DOM */
    secret = alloc(g, 64, 0, 2);
    job_setup(g, secret, VOUT);
    memctl(g, M_SEC, 1, 2);
    CHECK_EQ(submit(g).values[J_SEC], 0);
    CHECK(job_done(g, VOUT));
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(compression_hints_without_compression, "XM-139 XM-145")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "xmem_cap", 0x1FFF & ~0x100u);
    job_setup(g, VIN, VOUT);
    memctl(g, M_L2, 1, 4);
    (void)submit(g);
    CHECK(job_done(g, VOUT));
    CHECK_EQ(events(g), EV_COMP_ERR);
    memctl(g, M_L2, 1, 0xFB);
    (void)submit(g);
    CHECK_EQ(events(g), 0);
    guest_free(g);
}
