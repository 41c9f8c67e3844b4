/* Sessions: a second machine stands for the design, with interrupts at its own time, another clock,
 * a device, units that write when they like, and mistakes that must be found. */
#include "harness.h"
#include "tile/kernel.h"

#include "assembler/assemble.h"
#include "base/bits.h"
#include "base/failing_alloc.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/cosim.h>
#include <facet/xphmg.h>
#include <stdlib.h>

#define INTERRUPT FACET_XPHMG_INTERRUPT
#define CHANGES 4096

static uint8_t *assemble(const char *text, size_t *size)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint8_t *elf = NULL;

    CHECK_MSG(
        facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK, "%s", err.message);
    CHECK_EQ(facet_elf_write(result.object, &elf, size, &err), FACET_OK);
    facet_asm_result_free(&result);
    return elf;
}

static facet_machine *make(struct facet_xphmg_config config, const uint8_t *elf, size_t size)
{
    struct facet_error err = {0};
    facet_machine *machine = NULL;

    config.ram_bytes = 1 << 20;
    CHECK_EQ(facet_xphmg_create(&config, &machine, &err), FACET_OK);
    CHECK_MSG(facet_xphmg_load_elf(machine, elf, size, &err) == FACET_OK, "%s", err.message);
    return machine;
}

/* A session over a program, and a machine that runs it as the design. */
struct pair {
    facet_cosim *cosim;
    facet_machine *design;
    struct facet_change changes[CHANGES];
    size_t count;
    struct facet_stop stop;
};

static struct pair *
make_pair(const char *text, struct facet_xphmg_config reference, struct facet_xphmg_config design)
{
    struct facet_cosim_config config = {.window = 4, .snapshot_every = 100};
    struct pair *p = calloc(1, sizeof *p);
    struct facet_error err = {0};
    size_t size = 0;
    uint8_t *elf = assemble(text, &size);

    if (p == NULL) {
        abort();
    }
    p->design = make(design, elf, size);
    CHECK_EQ(facet_xphmg_wait_for_told(p->design, true, NULL), FACET_OK); /* WFI does not wait */
    CHECK_EQ(facet_cosim_create(make(reference, elf, size), &config, &p->cosim, &err), FACET_OK);
    CHECK_EQ(facet_cosim_symbols(p->cosim, elf, size, &err), FACET_OK);
    free(elf);
    return p;
}

static void free_pair(struct pair *p)
{
    facet_cosim_destroy(p->cosim);
    facet_machine_destroy(p->design);
    free(p);
}

/* One step of the design, and what the session says. */
static void step_design(struct pair *p)
{
    CHECK_EQ(facet_machine_step_changes(p->design, p->changes, CHANGES, &p->count, &p->stop, NULL),
             FACET_OK);
    CHECK(p->count <= CHANGES);
}

static enum facet_cosim_result check_step(struct pair *p)
{
    enum facet_cosim_result result = FACET_COSIM_DIFFERENT;
    struct facet_error err = {0};

    for (size_t i = 0; i < p->count; i++) { /* a design knows no old values */
        p->changes[i].old_value = (struct facet_value){0, 0};
        if (p->changes[i].kind == FACET_CHANGE_REG || p->changes[i].kind == FACET_CHANGE_CSR) {
            p->changes[i].size = 0;
        }
    }
    CHECK_MSG(facet_cosim_step(p->cosim, p->changes, p->count, &result, &err) == FACET_OK,
              "%s",
              err.message);
    return result;
}

static enum facet_cosim_result step(struct pair *p)
{
    step_design(p);
    return check_step(p);
}

static void ignore(struct pair *p, const char *what)
{
    struct facet_error err = {0};

    CHECK_MSG(facet_lockstep_filter_ignore(facet_cosim_filter(p->cosim), what, &err) == FACET_OK,
              "%s",
              err.message);
}

static bool reports(const struct pair *p, const char *text)
{
    return CHECK_MSG(strstr(facet_cosim_report(p->cosim), text) != NULL,
                     "no '%s' in\n%s",
                     text,
                     facet_cosim_report(p->cosim));
}

static const struct facet_xphmg_config plain = {.plain = true};
static const struct facet_xphmg_config cached = {0};

#define COUNTING                                                                                   \
    "_start: la t0, handler\n  csrw mtvec, t0\n  li t0, 0x888\n  csrw mie, t0\n"                   \
    "  csrsi mstatus, 8\n  la s4, cell\n"                                                          \
    "loop: addi s0, s0, 1\n  sd s0, 0(s4)\n  lw t1, 0(s4)\n  mul t2, t1, s0\n  wfi\n  j loop\n"    \
    ".align 2\nhandler: csrr t3, mcause\n  csrr t4, mip\n  addi s2, s2, 1\n  mret\n"               \
    "  .align 3\ncell: .dword 0\n"

/* ---- interrupts ---- */

TEST(interrupts_at_random_steps_stay_in_step, "")
{
    static const uint32_t numbers[] = {3, 7, 11};
    struct pair *p = make_pair(COUNTING, cached, plain);
    unsigned taken = 0;
    uint64_t seen;

    CHECK_EQ(facet_xphmg_wait_for_told(p->design, false, NULL), FACET_OK); /* by itself */
    for (int i = 0; i < 20000 && !harness_failed(); i++) {
        if (harness_random() % 23 == 0) {
            uint32_t number = numbers[harness_random() % 3];
            enum facet_xphmg_level level =
                harness_random() % 2 == 0 ? FACET_XPHMG_LEVEL_HIGH : FACET_XPHMG_LEVEL_OWN;

            CHECK_EQ(facet_xphmg_set_line(p->design, 0, number, level, NULL), FACET_OK);
            CHECK_EQ(facet_xphmg_set_line(facet_cosim_machine(p->cosim), 0, number, level, NULL),
                     FACET_OK);
        }
        if (facet_machine_next_core(p->design) == FACET_NONE) { /* WFI */
            CHECK_EQ(facet_xphmg_set_line(p->design, 0, 3, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
            CHECK_EQ(facet_xphmg_set_line(
                         facet_cosim_machine(p->cosim), 0, 3, FACET_XPHMG_LEVEL_HIGH, NULL),
                     FACET_OK);
        }
        step_design(p);
        taken += p->count != 0 && p->changes[0].kind == FACET_CHANGE_TRAP;
        CHECK_MSG(check_step(p) == FACET_COSIM_SAME, "%s", facet_cosim_report(p->cosim));
    }
    CHECK(taken > 100);
    CHECK_EQ(facet_machine_get(facet_cosim_machine(p->cosim), 0, "s2", &seen), FACET_OK);
    CHECK(seen > 100 && seen <= taken);
    CHECK_EQ(facet_cosim_steps(p->cosim), 20000);
    free_pair(p);
}

TEST(a_design_may_take_an_interrupt_later, "")
{
    struct pair *p = make_pair(COUNTING, cached, plain);
    int delay = 0;

    for (int i = 0; i < 5000 && !harness_failed(); i++) {
        uint64_t ready = 0, enabled = 0;

        if (delay == 0 && harness_random() % 50 == 0) {
            CHECK_EQ(facet_xphmg_set_line(p->design, 0, 11, FACET_XPHMG_LEVEL_HIGH, NULL),
                     FACET_OK);
            CHECK_EQ(facet_xphmg_set_line(
                         facet_cosim_machine(p->cosim), 0, 11, FACET_XPHMG_LEVEL_HIGH, NULL),
                     FACET_OK);
            delay = (int)(harness_random() % 40);
        }
        CHECK_EQ(facet_machine_get(p->design, 0, "mip", &ready), FACET_OK);
        CHECK_EQ(facet_machine_get(p->design, 0, "mstatus.MIE", &enabled), FACET_OK);
        if (ready != 0 && enabled != 0 && i > 10 && --delay <= 0) {
            CHECK_EQ(facet_xphmg_take(p->design, 0, INTERRUPT | 11, 0, false, NULL), FACET_OK);
            CHECK_MSG(step(p) == FACET_COSIM_SAME, "%s", facet_cosim_report(p->cosim));
            CHECK_EQ(facet_xphmg_set_line(p->design, 0, 11, FACET_XPHMG_LEVEL_OWN, NULL), FACET_OK);
            CHECK_EQ(facet_xphmg_set_line(
                         facet_cosim_machine(p->cosim), 0, 11, FACET_XPHMG_LEVEL_OWN, NULL),
                     FACET_OK);
            delay = 0;
        } else {
            CHECK_MSG(step(p) == FACET_COSIM_SAME, "%s", facet_cosim_report(p->cosim));
        }
    }
    free_pair(p);
}

TEST(an_interrupt_that_nobody_may_take_is_a_difference, "")
{
    struct pair *p = make_pair(COUNTING, cached, plain);

    for (int i = 0; i < 20; i++) {
        CHECK_EQ(step(p), FACET_COSIM_SAME);
    }
    CHECK_EQ(facet_xphmg_take(p->design, 0, INTERRUPT | 7, 0, true, NULL), FACET_OK);
    CHECK_EQ(step(p), FACET_COSIM_DIFFERENT);
    reports(p, "the reference cannot do this: hart0: the timer interrupt is not pending");
    reports(p, "design     hart0: trap at 0x8000");
    CHECK_EQ(step(p), FACET_COSIM_DIFFERENT); /* the first one stays */
    reports(p, "step 20 differs");
    free_pair(p);
}

/* ---- another clock, a device ---- */

static bool device_read(void *context, uint64_t offset, uint32_t size, uint64_t *value)
{
    (void)size;
    *value = ++*(uint64_t *)context * 3 + offset;
    return true;
}

TEST(loads_follow_the_design, "")
{
    static const char text[] = "  li s4, 0x30000000\n  li s5, 0x200bff8\n"
                               "loop: lw t0, 4(s4)\n  ld t1, 0(s5)\n  csrr t2, time\n"
                               "  csrr t3, mcycle\n  add s6, t0, t1\n  add s6, s6, t2\n"
                               "  andi t4, t0, 1\n  beqz t4, loop\n  addi s7, s7, 1\n  j loop\n";
    struct facet_xphmg_config slow = {.plain = true, .instructions_per_tick = 3};
    struct pair *p = make_pair(text, cached, slow);
    uint64_t reads = 0, word = 0;
    struct facet_device device = {&reads, device_read, NULL};

    CHECK_EQ(facet_machine_add_device(p->design, "dev", 0x30000000, 16, &device, NULL), FACET_OK);
    for (int i = 0; i < 5000 && !harness_failed(); i++) {
        facet_machine *m = facet_cosim_machine(p->cosim);
        uint64_t value;

        step_design(p);
        CHECK(p->changes[0].kind == FACET_CHANGE_RETIRE);
        word = p->changes[0].new_value.lo;
        value = p->count > 1 ? p->changes[1].new_value.lo : 0;
        if ((word & 0x7F) == 3) { /* what a load gave is what it wrote */
            CHECK_EQ(facet_xphmg_next_load(m, 0, 0, UINT64_MAX, value, NULL), FACET_OK);
        } else if ((word & 0x7F) == 0x73) {
            CHECK_EQ(facet_xphmg_next_csr(m, 0, (uint32_t)word >> 20, value, NULL), FACET_OK);
        }
        CHECK_MSG(check_step(p) == FACET_COSIM_SAME, "%s", facet_cosim_report(p->cosim));
    }
    CHECK(reads > 400);
    free_pair(p);
}

/* ---- the report ---- */

TEST(the_first_difference_is_explained, "")
{
    struct pair *p = make_pair(COUNTING, cached, plain);
    struct facet_cosim_difference d;
    struct facet_blob replay = {0};
    struct facet_error err = {0};
    facet_machine *again;
    uint64_t at = 0, s0 = 0;
    int steps = 0;

    CHECK_EQ(facet_cosim_get_difference(p->cosim, &d, &err), FACET_ERR_USAGE);
    CHECK_STR(facet_cosim_report(p->cosim), "");
    for (; steps < 317; steps++) {
        CHECK_EQ(step(p), FACET_COSIM_SAME);
    }
    do { /* flip a bit of what the next `lw` writes */
        step_design(p);
        if (p->count == 2 && p->changes[0].new_value.lo == 0x000A2303) {
            p->changes[1].new_value.lo ^= 0x100;
            break;
        }
        CHECK_EQ(check_step(p), FACET_COSIM_SAME);
        steps++;
    } while (steps < 1000);
    CHECK_EQ(check_step(p), FACET_COSIM_DIFFERENT);
    CHECK_EQ(facet_cosim_get_difference(p->cosim, &d, &err), FACET_OK);
    CHECK_EQ(d.step, (uint64_t)steps);
    CHECK(d.has_reference && d.has_design);
    CHECK_EQ(d.reference.new_value.lo ^ 0x100, d.design.new_value.lo);
    CHECK_STR(d.why, "both did something else");
    reports(p, " <loop+0x");
    reports(p, ": lw x6, 0(x20)\n");
    reports(p, "  reference  hart0: x6 0x");
    reports(p, "  design     hart0: x6 -> 0x");
    reports(p, "  x20 = 0x80000");
    reports(p, "  x20 = 0x80000050  written in step 8 at 0x80000020 <_start+0x20>\n");
    reports(p, "(4 bytes) = 0x");
    reports(p, "sd x8, 0(x20)");
    reports(p, "the last 4 steps of the reference\n");
    reports(p, "replay from step 200\n");
    CHECK_EQ(facet_cosim_replay(p->cosim, &replay, &at, &err), FACET_OK);
    CHECK_EQ(at, 200);
    {
        size_t size = 0;
        uint8_t *elf = assemble(COUNTING, &size);

        again = make(cached, elf, size);
        free(elf);
    }
    CHECK_EQ(facet_machine_restore(again, replay.data, replay.size, &err), FACET_OK);
    CHECK_EQ(facet_machine_steps(again), 200);
    CHECK_EQ(facet_machine_get(again, 0, "s0", &s0), FACET_OK);
    CHECK(s0 > 20);
    facet_blob_free(&replay);
    facet_machine_destroy(again);
    free_pair(p);
}

/* A line, a load and an interrupt from outside before the difference: from the state that was asked
 * for, one step gives what the reference did, with the value that it was told for it. */
TEST(a_state_that_was_asked_for_has_what_was_told, "")
{
    uint64_t asked = 0, value = 0, s0 = 0;

    for (int run = 0; run < 2; run++) {
        struct pair *p = make_pair(COUNTING, cached, plain);
        struct facet_cosim_difference d;
        struct facet_error err = {0};
        enum facet_cosim_result result = FACET_COSIM_SAME;

        if (run == 1) {
            facet_cosim_snapshot_at(p->cosim, asked);
        }
        for (int steps = 0; steps < 1000 && result == FACET_COSIM_SAME; steps++) {
            step_design(p);
            if (p->count == 2 && p->changes[0].new_value.lo == 0x000A2303) { /* lw x6, 0(x20) */
                CHECK_EQ(facet_xphmg_next_load(facet_cosim_machine(p->cosim),
                                               0,
                                               0,
                                               UINT64_MAX,
                                               p->changes[1].new_value.lo + (steps > 300),
                                               &err),
                         FACET_OK);
            }
            result = check_step(p);
        }
        CHECK_EQ(result, FACET_COSIM_DIFFERENT);
        CHECK_EQ(facet_cosim_get_difference(p->cosim, &d, &err), FACET_OK);
        if (run == 0) {
            asked = d.step;
            value = d.reference.new_value.lo;
        } else {
            struct facet_blob replay = {0};
            struct facet_stop stop;
            facet_machine *again;
            size_t size = 0;
            uint8_t *elf = assemble(COUNTING, &size);

            CHECK_EQ(facet_cosim_replay(p->cosim, &replay, &asked, &err), FACET_OK);
            CHECK_EQ(asked, d.step);
            again = make(plain, elf, size);
            CHECK_EQ(facet_machine_restore(again, replay.data, replay.size, &err), FACET_OK);
            CHECK_EQ(facet_machine_steps(again), d.step);
            facet_machine_run(again, &(struct facet_run){.budget = 1}, &stop);
            CHECK_EQ(facet_machine_get(again, 0, "x6", &s0), FACET_OK);
            CHECK_EQ(s0, value);
            CHECK_EQ(s0 - 1, d.design.new_value.lo);
            facet_blob_free(&replay);
            facet_machine_destroy(again);
            free(elf);
        }
        free_pair(p);
    }
}

TEST(a_wrong_branch_store_or_csr_is_found, "")
{
    static const struct {
        uint32_t word; /* of the instruction that goes wrong */
        uint32_t mask;
        enum facet_change_kind kind;
        const char *says;
    } cases[] = {
        {0x008A3023, UINT32_MAX, FACET_CHANGE_RETIRE, "  design     hart0: retired 0x"},
        {0x008A3023, UINT32_MAX, FACET_CHANGE_MEMORY, "another byte in memory"},
        {0x30529073, UINT32_MAX, FACET_CHANGE_CSR, "  reference  hart0: mtvec 0x0 -> 0x"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int missing = 0; missing < 2; missing++) {
            struct pair *p = make_pair(COUNTING, cached, plain);
            bool found = false;

            for (int n = 0; n < 100 && !found; n++) {
                step_design(p);
                for (size_t c = 0; c < p->count && !found; c++) {
                    if (p->changes[0].new_value.lo == cases[i].word &&
                        p->changes[c].kind == cases[i].kind) {
                        found = true;
                        if (missing != 0 && c != 0) {
                            p->changes[c] = p->changes[--p->count];
                        } else if (c == 0) {
                            p->changes[c].address += 4;
                        } else {
                            p->changes[c].new_value.lo ^= 0x80;
                        }
                    }
                }
                CHECK_EQ(check_step(p), found ? FACET_COSIM_DIFFERENT : FACET_COSIM_SAME);
            }
            CHECK(found);
            reports(p,
                    missing != 0 && i == 1   ? "the design did not write this byte"
                    : missing != 0 && i == 2 ? "the design did not do this"
                                             : cases[i].says);
            free_pair(p);
        }
    }
}

/* ---- filters ---- */

TEST(what_is_ignored_does_not_differ, "")
{
    static const struct {
        const char *rule;
        enum facet_change_kind kind;
        const char *name; /* of a register or CSR, or NULL */
    } cases[] = {
        {"x6", FACET_CHANGE_REG, "x6"},
        {"t1", FACET_CHANGE_REG, "x6"},
        {"x", FACET_CHANGE_REG, "x8"},
        {"reg", FACET_CHANGE_REG, "x8"},
        {"mtvec", FACET_CHANGE_CSR, "mtvec"},
        {"csr", FACET_CHANGE_CSR, "mtvec"},
        {"memory", FACET_CHANGE_MEMORY, NULL},
        {"main:0x80000000..0x800fffff", FACET_CHANGE_MEMORY, NULL},
        {"2147483648..2148532223", FACET_CHANGE_MEMORY, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int ignored = 0; ignored < 2; ignored++) {
            struct pair *p = make_pair(COUNTING, cached, plain);
            const struct facet_core_desc *desc = facet_machine_core(p->design, 0);
            bool differs = false;

            if (ignored != 0) {
                ignore(p, cases[i].rule);
            } else { /* compared again: the last rule counts */
                ignore(p, cases[i].rule);
                CHECK_EQ(facet_lockstep_filter_compare(
                             facet_cosim_filter(p->cosim), cases[i].rule, NULL),
                         FACET_OK);
            }
            for (int n = 0; n < 60 && !differs; n++) {
                step_design(p);
                for (size_t c = 0; c < p->count; c++) {
                    struct facet_change *change = &p->changes[c];
                    const char *name =
                        change->kind == FACET_CHANGE_REG   ? desc->regs[change->index].name
                        : change->kind == FACET_CHANGE_CSR ? desc->csrs[change->index].name
                                                           : NULL;

                    if (change->kind == cases[i].kind &&
                        (cases[i].name == NULL || strcmp(name, cases[i].name) == 0)) {
                        change->new_value.lo ^= 0x40;
                    }
                }
                differs = check_step(p) == FACET_COSIM_DIFFERENT;
            }
            CHECK_MSG(differs == (ignored == 0), "%s", cases[i].rule);
            free_pair(p);
        }
    }
}

TEST(fields_words_and_trap_values_can_be_ignored, "")
{
    /* fmv makes FS dirty; the design reports no FS at all, and no mstatus when only FS changes. */
    static const char text[] = "  li t0, 0x2000\n  csrs mstatus, t0\n  fmv.w.x ft0, t0\n"
                               "  csrsi mstatus, 8\n  .word 0\n";

    for (int ignored = 0; ignored < 2; ignored++) {
        struct pair *p = make_pair(text, cached, plain);
        enum facet_cosim_result last = FACET_COSIM_SAME;

        if (ignored != 0) {
            ignore(p, "mstatus.FS");
            ignore(p, "MSTATUS.sd");
            ignore(p, "word");
            ignore(p, "trap.value");
        }
        for (int n = 0; n < 5 && last == FACET_COSIM_SAME; n++) {
            size_t kept = 0;

            step_design(p);
            for (size_t c = 0; c < p->count; c++) {
                struct facet_change change = p->changes[c];
                uint32_t mstatus = facet_machine_find_csr(p->design, 0, "mstatus");

                if (change.kind == FACET_CHANGE_CSR && change.index == mstatus) {
                    change.new_value.lo &= ~UINT64_C(0x8000000000006000);
                    change.old_value.lo &= ~UINT64_C(0x8000000000006000);
                    if (change.new_value.lo == change.old_value.lo && n != 1) {
                        continue; /* n = 1: written, with the old value in what is compared */
                    }
                }
                if (change.kind == FACET_CHANGE_RETIRE) {
                    change.new_value.lo ^= 0x100000;
                } else if (change.kind == FACET_CHANGE_TRAP) {
                    change.new_value.hi = 77;
                }
                p->changes[kept++] = change;
            }
            p->count = kept;
            last = check_step(p);
        }
        CHECK_EQ(facet_cosim_steps(p->cosim), ignored != 0 ? 5 : 0);
        free_pair(p);
    }
}

TEST(bad_rules_are_refused, "")
{
    static const char *const bad[] = {
        "",
        "x32",
        "mstatus.NO",
        "0x10",
        "0x10..",
        "..0x10",
        "0x20..0x10",
        "0x1..0x2x",
        "nowhere:0..1",
        "0x10..0x",
        "0x1..0x11112222333344445",
    };
    struct pair *p = make_pair("  nop\n", cached, plain);
    facet_lockstep_filter *f = facet_cosim_filter(p->cosim);
    struct facet_error err = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_MSG(facet_lockstep_filter_ignore(f, bad[i], &err) == FACET_ERR_USAGE, "%s", bad[i]);
    }
    CHECK_EQ(facet_lockstep_filter_ignore(f, "x32", &err), FACET_ERR_USAGE);
    CHECK_STR(err.message,
              "'x32': expected retire, trap, reg, csr, memory, word, trap.value, counters, a "
              "register or group, a CSR or CSR.FIELD, or FIRST..LAST");
    for (int i = 0; i < 256; i++) {
        CHECK_EQ(facet_lockstep_filter_ignore(f, "1..2", &err), FACET_OK);
    }
    CHECK_EQ(facet_lockstep_filter_ignore(f, "1..2", &err), FACET_ERR_LIMIT);
    free_pair(p);
}

TEST(two_machines_with_a_filter, "")
{
    static const char text[] = "loop: csrr t0, mcycle\n  addi s0, s0, 1\n  j loop\n";
    size_t size = 0;
    uint8_t *elf = assemble(text, &size);
    facet_machine *a = make(cached, elf, size), *b = make(plain, elf, size);
    facet_lockstep_filter *filter = NULL;
    struct facet_divergence d;

    CHECK_EQ(facet_lockstep_filter_create(a, &filter, NULL), FACET_OK);
    CHECK_EQ(facet_machine_set(b, 0, "mcycle", 1000), FACET_OK);
    CHECK_EQ(facet_lockstep_filter_ignore(filter, "t0", NULL), FACET_OK);
    CHECK_EQ(facet_lockstep_filter_ignore(filter, "counters", NULL), FACET_OK);
    CHECK_EQ(facet_lockstep_run_filtered(a, b, filter, 1000, &d, NULL), FACET_OK);
    CHECK(!d.found);
    CHECK_EQ(d.step, 1000);
    CHECK_EQ(facet_lockstep_run(a, b, 1000, &d, NULL), FACET_OK);
    CHECK(d.found && d.step < 3);
    facet_lockstep_filter_destroy(filter);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
    free(elf);
}

/* The rule is about CSRs that count by themselves, and no other. */
TEST(counters_and_nothing_else, "")
{
    static const struct {
        const char *name;
        bool counts;
    } each[] = {{"mcycle", true},
                {"minstret", true},
                {"mscratch", false},
                {"mepc", false},
                {"mtvec", false},
                {"fflags", false}};

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        for (unsigned ignored = 0; ignored < 2; ignored++) {
            char text[60];
            size_t size = 0;
            uint8_t *elf;
            facet_machine *a, *b;
            facet_lockstep_filter *filter = NULL;
            struct facet_divergence d;

            (void)snprintf(text, sizeof text, "csrw %s, s0\nloop: j loop\n", each[i].name);
            elf = assemble(text, &size);
            a = make(cached, elf, size);
            b = make(plain, elf, size);
            CHECK_EQ(facet_machine_set(a, 0, "mstatus", 0x2000), FACET_OK);
            CHECK_EQ(facet_machine_set(b, 0, "mstatus", 0x2000), FACET_OK);
            CHECK_EQ(facet_machine_set(b, 0, "s0", 8), FACET_OK);
            CHECK_EQ(facet_lockstep_filter_create(a, &filter, NULL), FACET_OK);
            CHECK_EQ(facet_lockstep_filter_ignore(filter, "s0", NULL), FACET_OK);
            if (ignored != 0) {
                CHECK_EQ(facet_lockstep_filter_ignore(filter, "counters", NULL), FACET_OK);
            }
            CHECK_EQ(facet_lockstep_run_filtered(a, b, filter, 10, &d, NULL), FACET_OK);
            CHECK_MSG(d.found == (ignored == 0 || !each[i].counts), "%s", each[i].name);
            facet_lockstep_filter_destroy(filter);
            facet_machine_destroy(a);
            facet_machine_destroy(b);
            free(elf);
        }
    }
}

/* ---- memory as bytes ---- */

TEST(bytes_do_not_know_pieces, "")
{
    facet_lockstep_bytes *a = NULL, *b = NULL;
    struct facet_byte_difference d;
    uint8_t data[3000], value = 0;
    uint32_t space = 0;
    uint64_t address = 0;

    CHECK_EQ(facet_lockstep_bytes_create(&a, NULL), FACET_OK);
    CHECK_EQ(facet_lockstep_bytes_create(&b, NULL), FACET_OK);
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)harness_random();
    }
    CHECK_EQ(facet_lockstep_bytes_add(a, 0, UINT64_MAX - 1500, data, sizeof data, NULL), FACET_OK);
    for (size_t i = sizeof data; i-- > 0;) { /* over the end of the address space, backwards */
        uint8_t wrong = (uint8_t)~data[i];

        CHECK_EQ(facet_lockstep_bytes_add(b, 0, UINT64_MAX - 1500 + i, &wrong, 1, NULL), FACET_OK);
        CHECK(!facet_lockstep_bytes_compare(a, b, &d));
        CHECK_EQ(facet_lockstep_bytes_add(b, 0, UINT64_MAX - 1500 + i, &data[i], 1, NULL),
                 FACET_OK);
    }
    CHECK(facet_lockstep_bytes_compare(a, b, &d));
    CHECK_EQ(facet_lockstep_bytes_count(a), sizeof data);
    CHECK(facet_lockstep_bytes_get(a, 0, 0, false, &value));
    CHECK_EQ(value, data[1501]);
    CHECK(facet_lockstep_bytes_get(a, 0, 0, true, &value));
    CHECK(!facet_lockstep_bytes_get(a, 0, 0, true, &value));
    CHECK(!facet_lockstep_bytes_compare(a, b, &d));
    CHECK(!d.has_a && d.has_b && d.address == 0 && d.b == data[1501]);
    CHECK(!facet_lockstep_bytes_compare(b, a, &d));
    CHECK(d.has_a && !d.has_b && d.address == 0 && d.a == data[1501]);
    CHECK(facet_lockstep_bytes_next(a, &space, &address));
    CHECK_EQ(address, 1);
    CHECK_EQ(facet_lockstep_bytes_add(b, 2, 5, data, 1, NULL), FACET_OK);
    CHECK(!facet_lockstep_bytes_next(a, &(uint32_t){1}, &(uint64_t){0}));
    facet_lockstep_bytes_clear(a);
    CHECK_EQ(facet_lockstep_bytes_count(a), 0);
    facet_lockstep_bytes_destroy(a);
    facet_lockstep_bytes_destroy(b);
}

TEST(stores_in_other_pieces_compare_equal, "")
{
    struct pair *p = make_pair(COUNTING, cached, plain);

    for (int n = 0; n < 100 && !harness_failed(); n++) {
        size_t count;

        step_design(p);
        count = p->count;
        for (size_t c = 0; c < count; c++) {
            struct facet_change whole = p->changes[c];

            if (whole.kind == FACET_CHANGE_MEMORY && whole.size == 8) {
                for (unsigned i = 0; i < 8; i++) { /* byte by byte, the last one first */
                    struct facet_change *piece = &p->changes[i == 0 ? c : p->count++];

                    *piece = whole;
                    piece->size = 1;
                    piece->address += 7 - i;
                    piece->new_value.lo = whole.new_value.lo >> (8 * (7 - i)) & 0xFF;
                }
            }
        }
        CHECK_MSG(check_step(p) == FACET_COSIM_SAME, "%s", facet_cosim_report(p->cosim));
    }
    free_pair(p);
}

/* ---- jobs ---- */

#define JOB                                                                                        \
    "_start: li t0, 0x8000000000300000\n  csrw CAP.PREC.MODE, t0\n  la a0, job\n"                  \
    "  xsubmit.mtx a1, a0\n  addi s0, s0, 1\n  addi s0, s0, 1\n  addi s0, s0, 1\n"                 \
    "  xfence.wait a1\n  la a2, results\n  lw t1, 0(a2)\n  lw t2, 4(a2)\nend: j end\n  .data\n"    \
    "  .align 3\njob: .dword matrix, vector, results\n  .word 37, 5, 1, 0\n  .zero 24\n"           \
    "matrix: .float 1, 2, 3, 4\nvector: .float 5, 6\nresults: .word 0, 0\n"

/* The design's job ends in the step of its submission; its unit writes later, in another order. */
static enum facet_cosim_result run_job(int wrong, struct pair **out)
{
    struct facet_xphmg_config late = {.jobs = FACET_XPHMG_JOBS_LATE};
    struct pair *p = make_pair(JOB, late, plain);
    struct facet_change kept[64];
    size_t kept_count = 0;
    enum facet_cosim_result result = FACET_COSIM_SAME;

    *out = p;
    for (int n = 0; n < 24 && result == FACET_COSIM_SAME; n++) {
        size_t count = 0;
        const char *wait = "xfence.wait";
        char text[100];

        uint64_t pc = 0;

        CHECK_EQ(facet_machine_get(p->design, 0, "pc", &pc), FACET_OK);
        (void)facet_machine_disassemble(p->design, 0, pc, text, sizeof text, NULL);
        if (strncmp(text, wait, strlen(wait)) == 0) { /* now the unit tells, backwards */
            for (size_t c = kept_count; c-- > 0;) {
                if (kept[c].kind == FACET_CHANGE_MEMORY) {
                    for (unsigned i = kept[c].size; i-- > 0;) {
                        uint8_t byte = (uint8_t)(kept[c].new_value.lo >> (8 * i));

                        byte = (uint8_t)(byte ^ (wrong == 1 && c == 0 && i == 3));
                        if (wrong != 2 || i != 0) {
                            CHECK_EQ(facet_cosim_unit_wrote_memory(
                                         p->cosim, 0, kept[c].address + i, &byte, 1, NULL),
                                     FACET_OK);
                        }
                    }
                } else {
                    const char *name = facet_machine_core(p->design, 0)->csrs[kept[c].index].name;

                    CHECK_EQ(facet_cosim_unit_wrote(p->cosim, 0, name, kept[c].new_value.lo, NULL),
                             FACET_OK);
                }
            }
            if (wrong == 3) {
                CHECK_EQ(facet_cosim_unit_wrote_memory(p->cosim, 0, 0x80000F00, "x", 1, NULL),
                         FACET_OK);
            }
            if (wrong == 4) {
                CHECK_EQ(facet_cosim_unit_wrote(p->cosim, 0, "mscratch", 1, NULL), FACET_OK);
            }
            kept_count = 0;
        }
        step_design(p);
        for (size_t c = 0; c < p->count; c++) {
            bool submits = (p->changes[0].new_value.lo & 0x7F) != 0x73 && p->count > 3;

            if (submits && p->changes[c].kind == FACET_CHANGE_MEMORY) {
                kept[kept_count++] = p->changes[c];
            } else {
                p->changes[count++] = p->changes[c];
            }
        }
        p->count = count;
        result = check_step(p);
    }
    return result;
}

TEST(late_jobs_compare_at_the_fence, "")
{
    static const char *const says[] = {
        "",
        "another byte in memory",
        "the design did not write this byte",
        "a unit of the design wrote this, and no job of the reference is left that would",
        "a unit of the design wrote this, and no job of the reference is left that would",
    };

    for (int wrong = 0; wrong < 5; wrong++) {
        struct pair *p;
        enum facet_cosim_result result = run_job(wrong, &p);

        CHECK_MSG(result == (wrong == 0 ? FACET_COSIM_SAME : FACET_COSIM_DIFFERENT),
                  "%d: %s",
                  wrong,
                  facet_cosim_report(p->cosim));
        reports(p, says[wrong]);
        CHECK_EQ(facet_cosim_finish(p->cosim, &result, NULL), FACET_OK);
        CHECK_EQ(result, wrong == 0 ? FACET_COSIM_ENDED : FACET_COSIM_DIFFERENT);
        free_pair(p);
    }
}

/* ---- ends, misuse ---- */

TEST(ends_and_more_steps, "")
{
    struct pair *p =
        make_pair("  li t0, 0x100000\n  li t1, 0x5555\n  sw t1, 0(t0)\n", cached, plain);
    enum facet_cosim_result result = FACET_COSIM_SAME;
    struct facet_stop stop;

    for (int i = 0; i < 10 && result == FACET_COSIM_SAME; i++) {
        result = step(p);
    }
    CHECK_EQ(result, FACET_COSIM_ENDED);
    facet_cosim_stop(p->cosim, &stop);
    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(facet_cosim_retired(p->cosim, 0, 0x80000010, 0, &result, NULL), FACET_OK);
    CHECK_EQ(result, FACET_COSIM_DIFFERENT);
    reports(p, "the reference does no step: exit, code 0x0");
    free_pair(p);
}

TEST(the_streaming_way, "")
{
    struct pair *p = make_pair(
        "  li t0, 5\n  la t1, cell\n  sw t0, 0(t1)\n  .align 3\ncell: .word 0\n", cached, plain);
    enum facet_cosim_result result = FACET_COSIM_SAME;
    struct facet_error err = {0};
    struct facet_change change = {.kind = FACET_CHANGE_REG, .index = 9999};

    CHECK_EQ(facet_cosim_wrote(p->cosim, 0, "t0", 4, NULL), FACET_OK);
    CHECK_EQ(facet_cosim_wrote(p->cosim, 0, "x5", 5, NULL), FACET_OK); /* the last one counts */
    CHECK_EQ(facet_cosim_retired(p->cosim, 0, 0x80000000, 0, &result, NULL), FACET_OK);
    CHECK_EQ(result, FACET_COSIM_SAME);
    for (int i = 0; i < 3 && result == FACET_COSIM_SAME; i++) {
        (void)facet_cosim_wrote(p->cosim, 0, "t1", 0x80000000, NULL);
        CHECK_EQ(facet_cosim_retired(
                     p->cosim, 0, 0x80000004 + 4 * (uint64_t)i, i == 0 ? 1 : 0, &result, NULL),
                 FACET_OK);
    }
    CHECK_EQ(result, FACET_COSIM_DIFFERENT); /* word 1 */
    reports(p, "step 1 differs");
    CHECK_EQ(facet_cosim_wrote(p->cosim, 0, "t9", 4, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "hart0 has no register and no CSR 't9'");
    CHECK_EQ(facet_cosim_wrote(p->cosim, 3, "t0", 4, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "there is no core 3, expected 0..0");
    CHECK_EQ(facet_cosim_unit_wrote_memory(p->cosim, 3, 0, "", 1, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_cosim_wrote_memory(p->cosim, 3, 0, "", 1, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_cosim_trapped(p->cosim, 3, 0, 1, 2, &result, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_cosim_retired(p->cosim, 3, 0, 1, &result, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_cosim_wrote_change(p->cosim, &change, &err), FACET_ERR_USAGE);
    change = (struct facet_change){.kind = FACET_CHANGE_MEMORY, .size = 17};
    CHECK_EQ(facet_cosim_wrote_change(p->cosim, &change, &err), FACET_ERR_USAGE);
    change = (struct facet_change){.kind = (enum facet_change_kind)9};
    CHECK_EQ(facet_cosim_wrote_change(p->cosim, &change, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_cosim_step(p->cosim, &change, 1, &result, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_cosim_symbols(p->cosim, "no ELF", 6, &err), FACET_ERR_INPUT);
    free_pair(p);
}

TEST(bad_configurations, "")
{
    struct facet_cosim_config config = {.window = 5000};
    struct facet_error err = {0};
    facet_machine *m = NULL;
    facet_cosim *cosim = NULL;
    struct facet_blob blob;
    uint64_t at;

    CHECK_EQ(facet_xphmg_create(NULL, &m, &err), FACET_OK);
    CHECK_EQ(facet_cosim_create(m, &config, &cosim, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "a window of 5000 steps, expected 1..4096");
    config = (struct facet_cosim_config){.snapshot_every = FACET_COSIM_NO_SNAPSHOTS};
    CHECK_EQ(facet_cosim_create(m, &config, &cosim, &err), FACET_OK);
    CHECK_EQ(facet_cosim_replay(cosim, &blob, &at, &err), FACET_ERR_USAGE);
    facet_cosim_destroy(cosim);
    facet_cosim_destroy(NULL);
}

/* ---- without memory ---- */

struct attempt {
    uint8_t *elf;
    size_t size;
};

/* A session from its start to a difference: every step either works or says FACET_ERR_MEMORY. */
static void try_session(void *context)
{
    const struct attempt *a = context;
    struct facet_xphmg_config config = {.ram_bytes = 1 << 16, .plain = true};
    struct facet_cosim_config session = {.window = 2, .snapshot_every = 1};
    struct facet_error err = {0};
    enum facet_cosim_result result;
    facet_machine *m = NULL;
    facet_cosim *cosim = NULL;
    enum facet_status status = facet_xphmg_create(&config, &m, &err);

    if (status == FACET_OK) {
        status = facet_xphmg_load_elf(m, a->elf, a->size, &err);
    }
    if (status == FACET_OK) {
        status = facet_cosim_create(m, &session, &cosim, &err);
    }
    if (cosim == NULL) {
        facet_machine_destroy(m);
    } else {
        status = facet_cosim_symbols(cosim, a->elf, a->size, &err);
    }
    if (status == FACET_OK) {
        status = facet_lockstep_filter_ignore(facet_cosim_filter(cosim), "x5", &err);
    }
    if (status == FACET_OK) {
        status = facet_cosim_unit_wrote_memory(cosim, 0, 0x80001000, "x", 1, &err);
    }
    for (int i = 0; i < 3 && status == FACET_OK; i++) {
        status = facet_cosim_wrote_memory(cosim, 0, 0x80001000, "abcdefghij", 10, &err);
        if (status == FACET_OK) {
            status = facet_cosim_retired(cosim, 0, 0x80000000 + 4 * (uint64_t)i, 0, &result, &err);
        }
    }
    CHECK_MSG(status == FACET_OK || status == FACET_ERR_MEMORY, "%s", err.message);
    facet_cosim_destroy(cosim);
}

TEST(sessions_without_memory, "")
{
    struct attempt a;

    a.elf = assemble("  nop\n  li t0, 3\n  nop\n", &a.size);
    CHECK(failing_alloc_each(try_session, &a) > 10);
    free(a.elf);
}

/* ---- two harts ---- */

TEST(harts_in_the_order_of_the_design, "")
{
    static const char text[] = "  la t0, cell\nloop: amoadd.w t1, t2, (t0)\n  lr.w t3, (t0)\n"
                               "  addi t3, t3, 1\n  sc.w t4, t3, (t0)\n  j loop\n"
                               "  .align 3\ncell: .word 0\n";
    struct facet_xphmg_config two = {.harts = 2, .quantum = 64};
    struct pair *p = make_pair(text, two, two);

    for (int i = 0; i < 3000 && !harness_failed(); i++) {
        if (harness_random() % 5 == 0) {
            CHECK_EQ(facet_xphmg_set_turn(p->design, (uint32_t)(harness_random() % 2), NULL),
                     FACET_OK);
        }
        CHECK_MSG(step(p) == FACET_COSIM_SAME || i < 0, "%s", facet_cosim_report(p->cosim));
    }
    free_pair(p);
}

/* ---- tile ---- */

/* One core, or all four; a kernel that leaves a word in memory. */
static void start(struct kernel *k, uint32_t mask)
{
    struct facet_error err = {0};

    kernel_open(k, NULL);
    k->packet.core_mask = mask;
    k->packet.columns = k->packet.rows = 2;
    CHECK(kernel_load(k,
                      k->packet.pc,
                      "ADDI s1, s0, 3\nADDI s1, s0, 3\nLUI s4, 0x80010\n"
                      "loop: ADDI s2, s2, 7\nADDI s1, s1, -1\nSW s2, 0(s4)\n"
                      "BNE s1, s0, loop\nEXIT\n"));
    CHECK_MSG(facet_tile_dispatch(k->machine, &k->packet, &err) == FACET_OK, "%s", err.message);
}

TEST(tile_kernels, "")
{
    for (int wrong = 0; wrong < 3; wrong++) {
        struct kernel a, b;
        facet_cosim *cosim = NULL;
        struct facet_change changes[256];
        struct facet_stop stop;
        size_t count, same = 0;
        enum facet_cosim_result result = FACET_COSIM_SAME;

        start(&a, wrong == 2 ? 15 : 1);
        start(&b, wrong == 2 ? 15 : 1);
        CHECK_EQ(facet_cosim_create(a.machine, NULL, &cosim, NULL), FACET_OK);
        for (int n = 0; n < 1000 && result == FACET_COSIM_SAME; n++) {
            CHECK_EQ(facet_machine_step_changes(b.machine, changes, 256, &count, &stop, NULL),
                     FACET_OK);
            if (stop.steps == 0) {
                break;
            }
            for (size_t c = 0; c < count; c++) {
                /* a write of the value that was there is a change, too */
                same += changes[c].kind == FACET_CHANGE_REG && changes[c].new_value.lo == 3 &&
                        changes[c].old_value.lo == 3;
                if (changes[c].kind == FACET_CHANGE_REG && changes[c].new_value.lo == 14 &&
                    wrong == 1) {
                    changes[c].new_value.lo = 15;
                }
            }
            CHECK_EQ(facet_cosim_step(cosim, changes, count, &result, NULL), FACET_OK);
        }
        CHECK_MSG(
            (result == FACET_COSIM_DIFFERENT) == (wrong == 1), "%s", facet_cosim_report(cosim));
        CHECK(same > 0);
        if (wrong == 1) {
            CHECK_MSG(strstr(facet_cosim_report(cosim), "ADDI s2, s2, 7") != NULL,
                      "%s",
                      facet_cosim_report(cosim));
        }
        facet_cosim_destroy(cosim);
        kernel_close(&b);
    }
}
