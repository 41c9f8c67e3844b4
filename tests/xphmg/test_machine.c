/* The xphmg machine behind its face: the same program, cut into any pieces, with the block cache,
 * without it, and with a listener, must leave the same snapshot, bit for bit. */
#include "harness.h"
#include "machine/whole_state.h"

#include "assembler/assemble.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/lockstep.h>
#include <facet/observer.h>
#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>

enum { RAM_BYTES = 1 << 20 };

struct output {
    char text[4096];
    size_t size;
};

static void
keep_output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    struct output *out = context;

    (void)stream;
    if (out->size + size < sizeof out->text) {
        memcpy(out->text + out->size, data, size);
        out->size += size;
        out->text[out->size] = '\0';
    }
}

static uint8_t *assemble(const char *text, size_t *size)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint8_t *elf = NULL;

    if (CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                  "%s",
                  err.message)) {
        CHECK_EQ(facet_elf_write(result.object, &elf, size, &err), FACET_OK);
    }
    facet_asm_result_free(&result);
    return elf;
}

static bool wants_input(const facet_machine *machine)
{
    bool wants = false;

    CHECK(facet_xphmg_wants_input(machine, &wants, NULL) == FACET_OK);
    return wants;
}

static facet_machine *make(struct facet_xphmg_config config, const char *text, struct output *out)
{
    struct facet_error err = {0};
    facet_machine *machine = NULL;
    size_t size = 0;
    uint8_t *elf = assemble(text, &size);

    config.ram_bytes = RAM_BYTES;
    if (out != NULL) {
        config.host.context = out;
        config.host.output = keep_output;
    }
    CHECK_EQ(facet_xphmg_create(&config, &machine, &err), FACET_OK);
    CHECK_MSG(facet_xphmg_load_elf(machine, elf, size, &err) == FACET_OK, "%s", err.message);
    free(elf);
    return machine;
}

static struct facet_stop run(facet_machine *machine, uint64_t budget)
{
    struct facet_run how = {.budget = budget};
    struct facet_stop stop;

    facet_machine_run(machine, &how, &stop);
    return stop;
}

static uint64_t reg(facet_machine *machine, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_reg_read(
                 machine, core, facet_machine_find_reg(machine, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

static uint64_t csr(facet_machine *machine, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_csr_read(
                 machine, core, facet_machine_find_csr(machine, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

/* ---- the host looks and writes ----------------------------------------------------------------
 */

TEST(text_of_instructions_in_memory, "")
{
    facet_machine *m = make(
        (struct facet_xphmg_config){0}, "_start: addi a0, a0, -1\nc.nop\nlui a1, 0xFEDCB\n", NULL);
    char text[80];
    uint32_t length = 0;

    CHECK(facet_machine_disassemble(m, 0, 0x80000000, text, sizeof text, &length) > 0);
    CHECK_EQ(length, 4);
    CHECK_STR(text, "addi x10, x10, -1");
    CHECK(facet_machine_disassemble(m, 0, 0x80000004, text, sizeof text, &length) > 0);
    CHECK_EQ(length, 2);
    CHECK_STR(text, "c.nop");
    CHECK(facet_machine_disassemble(m, 0, 0x80000006, text, sizeof text, &length) > 0);
    CHECK_EQ(length, 4);
    CHECK_STR(text, "lui x11, 0xfedcb");
    facet_machine_destroy(m);
}

/* Code that has run, and hot enough to be kept, is replaced by both kinds of writes. */
TEST(writes_of_the_host_reach_code_that_ran, "")
{
    facet_machine *m = make(
        (struct facet_xphmg_config){0}, "_start: addi a0, x0, 1\nadd a1, a1, a0\nj _start\n", NULL);
    static const uint8_t two[] = {0x13, 0x05, 0x20, 0x00}, three[] = {0x13, 0x05, 0x30, 0x00};

    (void)run(m, 3000);
    CHECK_EQ(reg(m, 0, "x10"), 1);
    CHECK_EQ(facet_machine_bus_write(m, 0, 0x80000000, two, 4, NULL), FACET_OK);
    (void)run(m, 3000);
    CHECK_EQ(reg(m, 0, "x10"), 2);
    CHECK_EQ(facet_machine_write(m, 0, 0x80000000, three, 4, NULL), FACET_OK);
    (void)run(m, 3000);
    CHECK_EQ(reg(m, 0, "x10"), 3);
    CHECK_EQ(reg(m, 0, "x11"), 6000);
    facet_machine_destroy(m);
}

/* The handles of the console can be closed, any number of times; others that are not open cannot.
 */
TEST(closing_handles_by_semihosting, "")
{
    static const int64_t expected[] = {-1, 0, 0, 0, -1, -1};

    for (unsigned handle = 0; handle < 6; handle++) {
        char text[300];
        facet_machine *m;

        (void)snprintf(text,
                       sizeof text,
                       "_start: li a0, 2\nla a1, block\n.option norvc\n.balign 16\n"
                       "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\nend: j end\n"
                       ".balign 8\nblock: .dword %u\n",
                       handle);
        m = make((struct facet_xphmg_config){0}, text, NULL);
        (void)run(m, 100);
        CHECK_EQ((int64_t)reg(m, 0, "x10"), expected[handle]);
        facet_machine_destroy(m);
    }
}

/* ---- the same bits in every way of running ----------------------------------------------------
 */

/* A timer handler that counts and re-arms, and a loop with loads, stores, atomics and floats that
 * takes its decisions from the counters it reads: any difference in time shows. */
static const char timer_program[] = "la t0, handler\n"
                                    "csrw mtvec, t0\n"
                                    "li t0, 0x2000\n"
                                    "csrs mstatus, t0\n"
                                    "csrr s11, mhartid\n"
                                    "slli s10, s11, 3\n"
                                    "li s8, 0x2004000\n"
                                    "add s8, s8, s10\n"
                                    "li s9, 0x200bff8\n"
                                    "li t0, 40\n"
                                    "sd t0, 0(s9)\n"
                                    "li t0, 43\n"
                                    "sd t0, 0(s8)\n"
                                    "li t0, 0x88\n"
                                    "csrw mie, t0\n"
                                    "csrsi mstatus, 8\n"
                                    "la s0, data\n"
                                    "slli t0, s11, 8\n"
                                    "add s1, s0, t0\n"
                                    "loop: addi s2, s2, 1\n"
                                    "ld t1, 16(s1)\n"
                                    "add t1, t1, s2\n"
                                    "sd t1, 16(s1)\n"
                                    "fcvt.d.l ft0, t1\n"
                                    "fadd.d ft1, ft1, ft0\n"
                                    "fsd ft1, 24(s1)\n"
                                    "1: lr.w t2, (s0)\n"
                                    "addi t2, t2, 1\n"
                                    "sc.w t3, t2, (s0)\n"
                                    "bnez t3, 1b\n"
                                    "andi t4, s2, 63\n"
                                    "bnez t4, loop\n"
                                    "rdtime t5\n"
                                    "xor s3, s3, t5\n"
                                    "csrr t5, minstret\n"
                                    "add s3, s3, t5\n"
                                    "andi t4, s2, 127\n"
                                    "bnez t4, loop\n"
                                    "wfi\n"
                                    "j loop\n"
                                    ".align 2\n"
                                    "handler: csrw mscratch, t0\n"
                                    "addi s4, s4, 1\n"
                                    "ld t0, 0(s9)\n"
                                    "add s5, s5, t0\n"
                                    "addi t0, t0, 5\n"
                                    "sd t0, 0(s8)\n"
                                    "csrr t0, mepc\n"
                                    "xor s6, s6, t0\n"
                                    "csrr t0, mscratch\n"
                                    "mret\n"
                                    ".data\n"
                                    ".align 3\n"
                                    "data: .zero 2048\n";

static void nothing(void *context, const struct facet_retire_event *event)
{
    (void)event;
    ++*(uint64_t *)context;
}

static struct facet_blob snapshot(const facet_machine *machine)
{
    struct facet_blob blob;

    CHECK_EQ(facet_machine_snapshot(machine, &blob, NULL), FACET_OK);
    return blob;
}

static bool same(const struct facet_blob *a, const struct facet_blob *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void pieces(facet_machine *machine, uint64_t total, uint64_t seed)
{
    while (total > 0) {
        uint64_t n =
            seed != 0 ? (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 53 : total;
        struct facet_stop stop = run(machine, n < total ? n : total);

        if (!CHECK_MSG(stop.reason == FACET_STOP_BUDGET, "%s", facet_stop_name(stop.reason))) {
            return;
        }
        total -= stop.steps;
    }
}

static void compare_ways(uint32_t harts)
{
    enum { STEPS = 100000 };
    struct facet_xphmg_config cached = {.harts = harts}, plain = {.harts = harts, .plain = true};
    uint64_t heard = 0;
    struct facet_observer observer = {.context = &heard, .retire = nothing};
    facet_machine *machines[5] = {make(cached, timer_program, NULL),
                                  make(cached, timer_program, NULL),
                                  make(plain, timer_program, NULL),
                                  make(plain, timer_program, NULL),
                                  make(cached, timer_program, NULL)};
    struct facet_blob first;

    facet_machine_observe(machines[4], &observer);
    pieces(machines[0], STEPS, 0);
    first = snapshot(machines[0]);
    CHECK(reg(machines[0], harts - 1, "s4") > 10); /* interrupts came */
    for (int i = 1; i < 5; i++) {
        struct facet_blob blob;

        pieces(machines[i], STEPS, i % 2 == 0 && i != 4 ? 0 : 77u + (unsigned)i);
        blob = snapshot(machines[i]);
        CHECK_MSG(same(&first, &blob), "%u harts, way %d differs", harts, i);
        facet_blob_free(&blob);
    }
    CHECK(heard > STEPS / 2);
    facet_blob_free(&first);
    for (int i = 0; i < 5; i++) {
        facet_machine_destroy(machines[i]);
    }
}

TEST(pieces_and_executors_leave_the_same_bits, "")
{
    compare_ways(1);
    compare_ways(2);
    compare_ways(5);
}

TEST(a_snapshot_continues_on_another_machine, "")
{
    struct facet_xphmg_config config = {.harts = 3};
    facet_machine *a = make(config, timer_program, NULL), *b = NULL;
    struct facet_blob middle, end, again;

    config.ram_bytes = RAM_BYTES;
    CHECK_EQ(facet_xphmg_create(&config, &b, NULL), FACET_OK);
    pieces(a, 34567, 5);
    middle = snapshot(a);
    pieces(a, 50000, 6);
    end = snapshot(a);
    CHECK_EQ(facet_machine_restore(b, middle.data, middle.size, NULL), FACET_OK);
    pieces(b, 50000, 0);
    again = snapshot(b);
    CHECK(same(&end, &again));
    /* back on the machine whose future is already cached */
    CHECK_EQ(facet_machine_restore(a, middle.data, middle.size, NULL), FACET_OK);
    pieces(a, 50000, 9);
    facet_blob_free(&again);
    again = snapshot(a);
    CHECK(same(&end, &again));
    facet_blob_free(&middle);
    facet_blob_free(&end);
    facet_blob_free(&again);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(a_snapshot_holds_every_register, "")
{
    facet_machine *m = make((struct facet_xphmg_config){.harts = 3}, timer_program, NULL);

    pieces(m, 12345, 5);
    for (unsigned i = 0; i < 10 && !harness_failed(); i++) {
        check_whole_state(m);
    }
    facet_machine_destroy(m);
}

/* Decoded code is no part of a snapshot: after a restore the program of the snapshot runs. */
TEST(a_restored_program_replaces_the_one_that_ran, "")
{
    facet_machine *m =
        make((struct facet_xphmg_config){.harts = 1}, "loop: addi a0, a0, 1\nj loop\n", NULL);
    const uint32_t other = 0x06450513; /* addi a0, a0, 100 */
    struct facet_blob saved = snapshot(m);
    uint64_t a0 = 0;

    pieces(m, 20, 1);
    CHECK(facet_machine_get(m, 0, "a0", &a0) == FACET_OK && a0 == 10);
    CHECK_EQ(facet_machine_write(m, 0, 0x80000000, &other, 4, NULL), FACET_OK);
    pieces(m, 20, 1);
    CHECK(facet_machine_get(m, 0, "a0", &a0) == FACET_OK && a0 == 1010);
    CHECK_EQ(facet_machine_restore(m, saved.data, saved.size, NULL), FACET_OK);
    pieces(m, 20, 1);
    CHECK(facet_machine_get(m, 0, "a0", &a0) == FACET_OK && a0 == 10);
    facet_blob_free(&saved);
    facet_machine_destroy(m);
}

/* Who ended the run, and how, is state as well. */
TEST(an_ended_machine_stays_ended_in_a_snapshot, "")
{
    struct facet_xphmg_config config = {.harts = 3};
    facet_machine *a = make(config,
                            "csrr t0, mhartid\nli t1, 2\nbeq t0, t1, bad\nhere: j here\n"
                            "bad: li t2, 8\nlw t3, 0(t2)\n",
                            NULL);
    facet_machine *b = NULL;
    struct facet_stop first = run(a, 100000), second;
    struct facet_blob end = snapshot(a);

    config.ram_bytes = RAM_BYTES;
    CHECK_EQ(facet_xphmg_create(&config, &b, NULL), FACET_OK);
    CHECK_EQ(facet_machine_restore(b, end.data, end.size, NULL), FACET_OK);
    second = run(b, 1000);
    CHECK_EQ(first.reason, FACET_STOP_FAULT);
    CHECK_EQ(first.core, 2);
    CHECK_EQ(second.reason, first.reason);
    CHECK_EQ(second.core, first.core);
    CHECK_EQ(second.code, first.code);
    CHECK_EQ(second.address, first.address);
    CHECK_EQ(second.steps, 0);
    facet_blob_free(&end);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(a_snapshot_of_another_configuration_is_refused, "")
{
    struct facet_xphmg_config one = {.harts = 1}, two = {.harts = 2};
    facet_machine *a = make(one, "nop\n", NULL), *b = make(two, "nop\n", NULL);
    struct facet_blob blob = snapshot(a), before = snapshot(b), after;
    struct facet_error err = {0};

    CHECK_EQ(facet_machine_restore(b, blob.data, blob.size, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "number of harts") != NULL);
    after = snapshot(b);
    CHECK(same(&before, &after));
    facet_blob_free(&blob);
    facet_blob_free(&before);
    facet_blob_free(&after);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(the_tables_name_what_the_specification_names, "")
{
    struct facet_xphmg_config config = {.harts = 2};
    facet_machine *m = make(config, "nop\n", NULL);
    const struct facet_core_desc *core = facet_machine_core(m, 1);
    struct facet_value stored;
    uint32_t at = facet_machine_find_csr(m, 0, "mstatus"), field;

    CHECK_STR(core->name, "hart1");
    CHECK(facet_machine_core(m, 2) == NULL);
    CHECK_STR(core->regs[facet_machine_find_reg(m, 1, "fa0")].name, "f10");
    CHECK_EQ(core->csrs[at].number, 0x300);
    CHECK(facet_machine_find_field(m, 0, "mstatus.MPP", &at, &field));
    /* MPP = 2 is not legal and keeps the old value; FS is plain */
    CHECK_EQ(
        facet_machine_csr_write(m, 0, at, (struct facet_value){0x1000 | 0x6000, 0}, &stored, NULL),
        FACET_OK);
    CHECK_EQ(stored.lo, UINT64_C(0x8000000200006000));
    CHECK_EQ(csr(m, 1, "mhartid"), 1);
    CHECK(facet_machine_find_csr(m, 0, "mhpmcounter31") != FACET_NONE);
    CHECK(facet_machine_find_csr(m, 0, "CAP.PREC.MODE") != FACET_NONE);
    CHECK_EQ(facet_machine_reg_write(m, 0, 0, (struct facet_value){1, 0}, NULL), FACET_ERR_USAGE);
    CHECK_EQ(reg(m, 1, "a0"), 1);
    facet_machine_destroy(m);
}

/* ---- the platform -----------------------------------------------------------------------------
 */

/* Runs to the end with and without the cache; both must print and end alike. */
static struct facet_stop
run_both(struct facet_xphmg_config config, const char *text, struct output *out)
{
    struct facet_stop stops[2];
    struct output outputs[2] = {{{0}, 0}, {{0}, 0}};
    struct facet_blob blobs[2];

    for (int i = 0; i < 2; i++) {
        facet_machine *m;

        config.plain = i == 1;
        m = make(config, text, &outputs[i]);
        stops[i] = run(m, 1000000);
        blobs[i] = snapshot(m);
        facet_machine_destroy(m);
    }
    CHECK(same(&blobs[0], &blobs[1]));
    CHECK_STR(outputs[0].text, outputs[1].text);
    CHECK_EQ(stops[0].reason, stops[1].reason);
    CHECK_EQ(stops[0].steps, stops[1].steps);
    facet_blob_free(&blobs[0]);
    facet_blob_free(&blobs[1]);
    if (out != NULL) {
        *out = outputs[0];
    }
    return stops[0];
}

TEST(htif_writes_answers_and_ends, "")
{
    static const char text[] = "la s0, tohost\n"
                               "la s1, fromhost\n"
                               "li t0, 0x0101000000000041\n" /* console: A */
                               "sd t0, 0(s0)\n"
                               "1: ld t1, 0(s0)\n"
                               "bnez t1, 1b\n"
                               "la s2, call\n"
                               "sd s2, 0(s0)\n"
                               "2: ld t1, 0(s1)\n"
                               "beqz t1, 2b\n"
                               "sd zero, 0(s1)\n"
                               "ld s3, 0(s2)\n" /* bytes written */
                               "li t0, 63\n"    /* read: not served */
                               "sd t0, 0(s2)\n"
                               "sd s2, 0(s0)\n"
                               "3: ld t1, 0(s1)\n"
                               "beqz t1, 3b\n"
                               "ld s4, 0(s2)\n"
                               "addi s4, s4, 38\n"
                               "slli s3, s3, 1\n"
                               "add s3, s3, s4\n"
                               "ori s3, s3, 1\n"
                               "sd s3, 0(s0)\n"
                               "4: j 4b\n"
                               ".data\n"
                               ".align 6\n"
                               "tohost: .dword 0\n"
                               "fromhost: .dword 0\n"
                               "call: .dword 64, 1, text, 5, 0, 0, 0, 0\n"
                               "text: .string \"bcde\\n\"\n";
    struct output out;
    struct facet_stop stop = run_both((struct facet_xphmg_config){0}, text, &out);

    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(stop.code, 5);
    CHECK_STR(out.text, "Abcde\n");
    CHECK(stop.steps < 60); /* seen at the very store */
}

TEST(uart_and_finisher_are_those_of_virt, "")
{
    static const char text[] = "li s0, 0x10000000\n"
                               "la s1, text\n"
                               "1: lbu t0, 0(s1)\n"
                               "beqz t0, 3f\n"
                               "2: lbu t1, 5(s0)\n"
                               "andi t1, t1, 0x20\n"
                               "beqz t1, 2b\n"
                               "sb t0, 0(s0)\n"
                               "addi s1, s1, 1\n"
                               "j 1b\n"
                               "3: li t0, 0x100000\n"
                               "li t1, 0x2a3333\n"
                               "sw t1, 0(t0)\n"
                               "4: j 4b\n"
                               ".data\n"
                               "text: .string \"serial\"\n";
    struct output out;
    struct facet_stop stop = run_both((struct facet_xphmg_config){0}, text, &out);

    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(stop.code, 0x2a);
    CHECK_STR(out.text, "serial");
}

/* The UART takes bytes alone, the finisher reads as 0, and nobody gets input that nobody asked for.
 */
TEST(devices_refuse_wide_stores_and_answer_no_one_else, "")
{
    static const char text[] = "la t0, 1f\n"
                               "csrw mtvec, t0\n"
                               "li t0, 0x10000000\n"
                               "sh zero, 0(t0)\n"
                               ".align 2\n"
                               "1: csrr s0, mcause\n"
                               "la t0, 2f\n"
                               "csrw mtvec, t0\n"
                               "li s3, 0x100000\n"
                               "li s1, 9\n"
                               "lw s1, 0(s3)\n"
                               ".align 2\n"
                               "2: la t0, tohost\n"
                               "li t1, 0x0101000000000041\n" /* console: A */
                               "sd t1, 0(t0)\n"
                               "3: ld t1, 0(t0)\n"
                               "bnez t1, 3b\n"
                               "ld s2, 8(t0)\n"
                               "li t1, 0x5555\n"
                               "sw t1, 0(s3)\n"
                               "4: j 4b\n"
                               ".data\n"
                               ".align 6\n"
                               "tohost: .dword 0\n"
                               "fromhost: .dword 0\n";
    struct output out = {0};
    facet_machine *m = make((struct facet_xphmg_config){0}, text, &out);

    CHECK_EQ(facet_xphmg_input(m, "z", 1, NULL), FACET_OK);
    CHECK_EQ(run(m, 1000).reason, FACET_STOP_EXIT);
    CHECK_EQ(reg(m, 0, "s0"), 7); /* store access fault */
    CHECK_EQ(reg(m, 0, "s1"), 0);
    CHECK_EQ(reg(m, 0, "s2"), 0);
    CHECK_STR(out.text, "A");
    facet_machine_destroy(m);
}

TEST(framebuffer_registers_keep_what_is_legal, "")
{
    static const char text[] = "li s0, 0x11000000\n"
                               "lw s1, 0(s0)\n"
                               "sw s0, 0(s0)\n" /* ID is read-only */
                               "li t0, 640\n"
                               "sw t0, 8(s0)\n"
                               "li t0, 16385\n"
                               "sw t0, 8(s0)\n"
                               "sw t0, 12(s0)\n"
                               "li t0, 2\n"
                               "sw t0, 16(s0)\n"
                               "li t0, 3\n"
                               "sw t0, 16(s0)\n"
                               "li t0, 0x123456789ABCDEF1\n"
                               "sd t0, 0x18(s0)\n"
                               "lw s2, 0x1C(s0)\n"
                               "ld s3, 8(s0)\n"
                               "ld s4, 0x20(s0)\n"
                               "la t0, trapped\n"
                               "csrw mtvec, t0\n"
                               "lb t0, 8(s0)\n"
                               "trapped: csrr s5, mcause\n"
                               "csrr s6, mtval\n"
                               "li t0, 480\n"
                               "sw t0, 12(s0)\n"
                               "1: j 1b\n";
    struct facet_xphmg_framebuffer fb = {0};
    facet_machine *m = make((struct facet_xphmg_config){0}, text, NULL), *other;
    struct facet_blob blob;

    CHECK(facet_xphmg_get_framebuffer(m, &fb, NULL) != FACET_OK);
    (void)run(m, 200);
    CHECK_EQ(reg(m, 0, "s1"), 0x46554246);
    CHECK_EQ(reg(m, 0, "s2"), 0x12345678);
    CHECK_EQ(reg(m, 0, "s3"), 640);
    CHECK_EQ(reg(m, 0, "s4"), 0);
    CHECK_EQ(reg(m, 0, "s5"), 5);
    CHECK_EQ(reg(m, 0, "s6"), 0x11000008);
    CHECK(facet_xphmg_get_framebuffer(m, &fb, NULL) == FACET_OK);
    CHECK_EQ(fb.width, 640);
    CHECK_EQ(fb.height, 480);
    CHECK_EQ(fb.format, FACET_XPHMG_FRAME_RGBF32);
    CHECK_EQ(fb.stride, 640 * 12);
    CHECK_EQ(fb.base, 0x123456789ABCDEF1);

    blob = snapshot(m);
    other = make((struct facet_xphmg_config){0}, "nop\n", NULL);
    CHECK(facet_xphmg_get_framebuffer(other, &fb, NULL) != FACET_OK);
    CHECK_EQ(facet_machine_restore(other, blob.data, blob.size, NULL), FACET_OK);
    memset(&fb, 0, sizeof fb);
    CHECK(facet_xphmg_get_framebuffer(other, &fb, NULL) == FACET_OK);
    CHECK_EQ(fb.base, 0x123456789ABCDEF1);
    CHECK_EQ(fb.height, 480);
    facet_machine_reset(m);
    CHECK(facet_xphmg_get_framebuffer(m, &fb, NULL) != FACET_OK);
    facet_blob_free(&blob);
    facet_machine_destroy(m);
    facet_machine_destroy(other);
}

#define SEMIHOST_CALL                                                                              \
    ".align 4\n"                                                                                   \
    "semihost: .word 0x01f01013, 0x00100073, 0x40705013\n"                                         \
    "ret\n"

/* A return loses bit 0 of its address, also where the call that it ends is part of the same block.
 */
TEST(odd_return_addresses_are_even, "")
{
    struct output out;
    struct facet_stop stop = run_both((struct facet_xphmg_config){0},
                                      "call f\n"
                                      "li t0, 0x100000\n"
                                      "li t1, 0x5555\n"
                                      "sw t1, 0(t0)\n"
                                      "1: j 1b\n"
                                      "f: addi ra, ra, 1\n"
                                      "ret\n",
                                      &out);

    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(stop.code, 0);
}

TEST(a_single_byte_is_written, "")
{
    struct output out = {0};
    facet_machine *m = make((struct facet_xphmg_config){0},
                            "la a1, block\n"
                            "li a0, 5\n" /* SYS_WRITE */
                            "call semihost\n"
                            "mv s0, a0\n"
                            "1: j 1b\n" SEMIHOST_CALL ".data\n"
                            ".align 3\n"
                            "block: .dword 2, text, 1\n" /* what is written to the console */
                            "text: .byte 'x'\n",
                            &out);

    (void)run(m, 100);
    CHECK_EQ(reg(m, 0, "s0"), 0); /* none is left */
    CHECK_STR(out.text, "x");
    facet_machine_destroy(m);
}

TEST(input_that_is_not_there_stops_the_machine, "")
{
    static const char text[] = "li a0, 7\n" /* SYS_READC */
                               "call semihost\n"
                               "mv s0, a0\n"
                               "la a1, block\n"
                               "li a0, 6\n" /* SYS_READ */
                               "call semihost\n"
                               "mv s1, a0\n"
                               "la a1, block\n"
                               "li a0, 6\n"
                               "call semihost\n"
                               "mv s2, a0\n"
                               "li a0, 7\n"
                               "call semihost\n"
                               "mv s3, a0\n"
                               "li a0, 7\n"
                               "call semihost\n" SEMIHOST_CALL ".data\n"
                               ".align 3\n"
                               "block: .dword 1, buffer, 16\n"
                               "buffer: .zero 16\n";
    facet_machine *m = make((struct facet_xphmg_config){0}, text, NULL);
    struct facet_stop stop = run(m, 1000);
    uint64_t pc = stop.pc;
    char bytes[4];

    CHECK_EQ(stop.reason, FACET_STOP_IDLE);
    CHECK(wants_input(m));
    stop = run(m, 1000);
    CHECK_EQ(stop.steps, 0);
    CHECK_EQ(stop.pc, pc);
    CHECK_EQ(facet_xphmg_input(m, "xab\ncd", 6, NULL), FACET_OK);
    CHECK(!wants_input(m));
    stop = run(m, 1000);
    CHECK_EQ(reg(m, 0, "s0"), 'x');
    CHECK_EQ(reg(m, 0, "s1"), 16 - 3); /* one line */
    CHECK_EQ(reg(m, 0, "s2"), 16 - 2);
    CHECK_EQ(stop.reason, FACET_STOP_IDLE);
    CHECK_EQ(facet_machine_read(m, 0, 0x80000000 + 0, bytes, 4, NULL), FACET_OK);
    (void)facet_xphmg_input_end(m, NULL);
    stop = run(m, 1000);
    CHECK_EQ(reg(m, 0, "s3"), UINT64_MAX); /* told once, then no more */
    CHECK_EQ(stop.reason, FACET_STOP_IDLE);
    CHECK(wants_input(m));
    facet_machine_destroy(m);
}

TEST(semihosting_tells_only_the_machines_own_time_and_refuses_the_host, "")
{
    static const char text[] = "la a1, block\n"
                               "li a0, 1\n" /* SYS_OPEN of a file: nothing is granted */
                               "call semihost\n"
                               "mv s0, a0\n"
                               "li a0, 0x13\n"
                               "call semihost\n"
                               "mv s1, a0\n" /* ENOENT */
                               "la a1, command\n"
                               "li a0, 0x12\n" /* SYS_SYSTEM */
                               "call semihost\n"
                               "mv s2, a0\n"
                               "li a0, 0x11\n" /* SYS_TIME */
                               "call semihost\n"
                               "mv s3, a0\n"
                               "la a1, where\n"
                               "li a0, 0x15\n" /* SYS_GET_CMDLINE */
                               "call semihost\n"
                               "la a1, buffer\n"
                               "li a0, 4\n"
                               "call semihost\n"
                               "la a1, console\n"
                               "li a0, 1\n"
                               "call semihost\n"
                               "mv s4, a0\n"
                               "la a1, ending\n"
                               "li a0, 0x18\n"
                               "call semihost\n" SEMIHOST_CALL ".data\n"
                               ".align 3\n"
                               "block: .dword name, 0, 11\n"
                               "command: .dword name, 11\n"
                               "where: .dword buffer, 64\n"
                               "console: .dword tt, 4, 3\n"
                               "ending: .dword 0x20026, 9\n"
                               "name: .string \"/etc/passwd\"\n"
                               "tt: .string \":tt\"\n"
                               "buffer: .zero 64\n";
    struct facet_xphmg_config config = {.command_line = "prog one two"};
    struct output out = {{0}, 0};
    facet_machine *m = make(config, text, &out);
    struct facet_stop stop = run(m, 1000);

    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    CHECK_EQ(stop.code, 9);
    CHECK_EQ(reg(m, 0, "s0"), UINT64_MAX);
    CHECK_EQ(reg(m, 0, "s1"), 2);
    CHECK_EQ(reg(m, 0, "s2"), UINT64_MAX);
    CHECK_EQ(reg(m, 0, "s3"), 0);
    CHECK_EQ(reg(m, 0, "s4"), 2);
    CHECK_STR(out.text, "prog one two");
    facet_machine_destroy(m);
    (void)run_both(config, text, &out);
    config.no_semihosting = true;
    CHECK_EQ(run_both(config, text, NULL).reason, FACET_STOP_FAULT);
}

/* ---- traps, waiting, several harts ------------------------------------------------------------
 */

TEST(a_trap_without_handler_is_a_fault_with_its_cause, "")
{
    facet_machine *m =
        make((struct facet_xphmg_config){0}, "nop\nli t0, 0x40\nld t1, 0(t0)\n", NULL);
    struct facet_xphmg_fault fault = {0};
    struct facet_stop stop = run(m, 1000);

    CHECK_EQ(stop.reason, FACET_STOP_FAULT);
    CHECK_EQ(stop.code, 5);
    CHECK_EQ(stop.address, 0x40);
    CHECK(facet_xphmg_get_fault(m, &fault, NULL) == FACET_OK);
    CHECK_EQ(fault.pc, FACET_XPHMG_RAM_BASE + 8);
    CHECK_EQ(fault.handler, 0);
    CHECK_STR(facet_xphmg_cause_name(fault.cause), "load access fault");
    CHECK_EQ(run(m, 1000).steps, 0); /* for ever */
    facet_machine_reset(m);
    CHECK(facet_xphmg_get_fault(m, &fault, NULL) != FACET_OK);
    facet_machine_destroy(m);
}

TEST(waiting_skips_to_the_timer_or_is_idle, "CAP-531")
{
    static const char text[] = "la t0, handler\n"
                               "csrw mtvec, t0\n"
                               "li t0, 0x80\n"
                               "csrw mie, t0\n"
                               "li t0, 0x2004000\n"
                               "li t1, 1000000000\n"
                               "sd t1, 0(t0)\n"
                               "wfi\n" /* MIE is off: goes on behind */
                               "rdtime s0\n"
                               "csrsi mstatus, 8\n"
                               "nop\n"
                               "csrw mie, zero\n"
                               "wfi\n"
                               "nop\n"
                               ".align 2\n"
                               "handler: addi s1, s1, 1\n"
                               "li t1, -1\n"
                               "sd t1, 0(t0)\n"
                               "csrr s2, mcause\n"
                               "mret\n";
    facet_machine *m = make((struct facet_xphmg_config){0}, text, NULL);
    struct facet_stop stop = run(m, 1000);

    CHECK_EQ(stop.reason, FACET_STOP_IDLE);
    CHECK(!wants_input(m));
    CHECK_EQ(reg(m, 0, "s0"), 1000000000);
    CHECK_EQ(reg(m, 0, "s1"), 1);
    CHECK_EQ(reg(m, 0, "s2"), UINT64_C(0x8000000000000007));
    CHECK_EQ(facet_machine_next_core(m), FACET_NONE);
    facet_machine_destroy(m);
    CHECK_EQ(run_both((struct facet_xphmg_config){0}, text, NULL).reason, FACET_STOP_IDLE);
}

TEST(pending_interrupts_and_time_are_what_was_written, "CAP-531")
{
    static const char text[] = "csrr s0, mip\n" /* nothing is pending, no other bit is set */
                               "li t0, 0x200bff8\n"
                               "li t1, 0x123456789000\n"
                               "sd t1, 0(t0)\n"
                               "ld s1, 0(t0)\n"
                               "rdtime s2\n"
                               "li t2, 0x77\n"
                               "sw t2, 4(t0)\n" /* the upper half alone */
                               "ld s3, 0(t0)\n"
                               "li t0, 0x2000000\n"
                               "li t1, 1\n"
                               "sw t1, 0(t0)\n"
                               "nop\n"
                               "csrr s4, mip\n"
                               "wfi\n";
    facet_machine *m = make((struct facet_xphmg_config){0}, text, NULL);

    (void)run(m, 1000);
    CHECK_EQ(reg(m, 0, "s0"), 0);
    CHECK_EQ(reg(m, 0, "s1") >> 12, UINT64_C(0x123456789));
    CHECK_EQ(reg(m, 0, "s2") >> 12, UINT64_C(0x123456789));
    CHECK_EQ(reg(m, 0, "s3") >> 12, UINT64_C(0x7756789));
    CHECK_EQ(reg(m, 0, "s4"), 8);
    facet_machine_destroy(m);
}

/* Hart 0 waits; hart 1 works, then wakes it by msip; both add to one counter with LR/SC. */
TEST(harts_wake_one_another, "")
{
    static const char text[] = "la s0, counter\n"
                               "li s1, 0x2000000\n"
                               "csrwi mie, 8\n"
                               "bnez a0, second\n"
                               "wfi\n"
                               "sw zero, 0(s1)\n"
                               "call work\n"
                               "1: lw t0, 0(s0)\n"
                               "li t1, 6000\n"
                               "bne t0, t1, 1b\n"
                               "li t0, 0x100000\n"
                               "li t1, 0x5555\n"
                               "sw t1, 0(t0)\n"
                               "second: li t0, 1\n"
                               "sw t0, 0(s1)\n"
                               "call work\n"
                               "2: wfi\n"
                               "j 2b\n"
                               "work: li t0, 3000\n"
                               "3: lr.w t1, (s0)\n"
                               "addi t1, t1, 1\n"
                               "sc.w t2, t1, (s0)\n"
                               "bnez t2, 3b\n"
                               "addi t0, t0, -1\n"
                               "bnez t0, 3b\n"
                               "ret\n"
                               ".data\n"
                               ".align 3\n"
                               "counter: .dword 0\n";
    struct facet_xphmg_config config = {.harts = 2};
    struct facet_stop stop = run_both(config, text, NULL);

    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    config.quantum = 64;
    stop = run_both(config, text, NULL);
    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
}

/* Hart 0 spins in a loop that hart 1 rewrites: the cache of blocks must see it. */
TEST(one_hart_rewrites_the_code_of_another, "")
{
    static const char format[] = "la s0, patch\n"
                                 "bnez a0, second\n"
                                 "1: addi s1, s1, 1\n"
                                 "patch: j 1b\n"
                                 "li t0, 0x100000\n"
                                 "li t1, 0x5555\n"
                                 "sw t1, 0(t0)\n"
                                 "second: li t0, %d\n"
                                 "2: addi t0, t0, -1\n"
                                 "bnez t0, 2b\n"
                                 "li t1, 0x13\n" /* nop */
                                 "%s"
                                 "3: j 3b\n";
    /* a store of the block executor; of the plain one, at an odd and an even place */
    static const char *const stores[] = {
        "sw t1, 0(s0)\n", "amoswap.w zero, t1, (s0)\n", "nop\namoswap.w zero, t1, (s0)\n"};
    struct facet_xphmg_config config = {.harts = 2, .quantum = 64};

    for (int i = 0; i < 3; i++) {
        for (int delay = 40; delay < 73; delay++) { /* somewhere the store ends a turn */
            char text[512];

            (void)snprintf(text, sizeof text, format, delay, stores[i]);
            CHECK_EQ(run_both(config, text, NULL).reason, FACET_STOP_EXIT);
        }
    }
}

/* ---- stopping and listening -------------------------------------------------------------------
 */

TEST(breakpoints_and_watchpoints_stop_where_they_stand, "")
{
    static const char text[] = "la s0, data\n"
                               "li t0, 10\n"
                               "loop: sd t0, 0(s0)\n"
                               "addi t0, t0, -1\n"
                               "bnez t0, loop\n"
                               "j .\n"
                               ".data\n"
                               ".align 3\n"
                               "data: .dword 0\n";
    facet_machine *m = make((struct facet_xphmg_config){0}, text, NULL);
    struct facet_watch watch = {.core = FACET_ANY_CORE, .size = 8, .on_write = true};
    uint64_t pc = FACET_XPHMG_RAM_BASE + 12;
    uint32_t id, watch_id;
    struct facet_stop stop;

    CHECK_EQ(facet_machine_break_add(m, FACET_ANY_CORE, pc, &id, NULL), FACET_OK);
    for (uint64_t i = 10; i > 7; i--) {
        stop = run(m, 1000);
        CHECK_EQ(stop.reason, FACET_STOP_BREAKPOINT);
        CHECK_EQ(stop.point, id);
        CHECK_EQ(stop.pc, pc);
        CHECK_EQ(reg(m, 0, "t0"), i);
    }
    CHECK_EQ(facet_machine_point_remove(m, id, NULL), FACET_OK);
    watch.address = reg(m, 0, "s0");
    CHECK_EQ(facet_machine_watch_add(m, &watch, &watch_id, NULL), FACET_OK);
    stop = run(m, 1000);
    CHECK_EQ(stop.reason, FACET_STOP_WATCHPOINT);
    CHECK_EQ(stop.address, watch.address);
    CHECK_EQ(stop.pc, pc + 4);
    facet_machine_destroy(m);
}

TEST(a_step_tells_every_change_with_old_and_new_value, "")
{
    static const char text[] = "li t0, 0x6000\n" /* two instructions: lui, addi(w) or lui alone */
                               "csrs mstatus, t0\n"
                               "fcvt.d.l ft1, t0\n"
                               "fdiv.d ft2, ft1, ft0\n"
                               "la t1, data\n"
                               "sw t0, 4(t1)\n"
                               "ecall\n"
                               ".data\n"
                               ".align 3\n"
                               "data: .dword 0x1122334455667788\n";
    facet_machine *m = make((struct facet_xphmg_config){0}, text, NULL);
    struct facet_change changes[32];
    size_t count = 0;
    struct facet_stop stop;
    bool saw_flags = false, saw_store = false, saw_trap = false;

    for (int i = 0; i < 20 && !saw_trap; i++) {
        CHECK_EQ(facet_machine_step_changes(m, changes, 32, &count, &stop, NULL), FACET_OK);
        for (size_t k = 0; k < count; k++) {
            const struct facet_change *c = &changes[k];

            if (c->kind == FACET_CHANGE_CSR && c->index == facet_machine_find_csr(m, 0, "fflags")) {
                saw_flags = c->old_value.lo == 0 && c->new_value.lo == 8; /* DZ */
            }
            if (c->kind == FACET_CHANGE_MEMORY) {
                saw_store =
                    c->size == 4 && c->old_value.lo == 0x11223344 && c->new_value.lo == 0x6000;
            }
            saw_trap = saw_trap || (c->kind == FACET_CHANGE_TRAP && c->new_value.lo == 11);
        }
    }
    CHECK(saw_flags);
    CHECK(saw_store);
    CHECK(saw_trap);
    facet_machine_destroy(m);
}

/* Lockstep compares with hardware that tells what it stored, not what it will count to. */
TEST(a_step_tells_a_written_counter_as_it_is_stored, "")
{
    facet_machine *machine =
        make((struct facet_xphmg_config){0}, "csrwi minstret, 0\n csrwi mcycle, 9\n", NULL);
    const uint64_t stored[] = {0, 9};

    for (unsigned i = 0; i < 2; i++) {
        struct facet_change changes[8];
        struct facet_error err = {0};
        struct facet_stop stop;
        size_t count = 0, told = 0;

        CHECK_EQ(facet_machine_step_changes(machine, changes, 8, &count, &stop, &err), FACET_OK);
        for (size_t k = 0; k < count; k++) {
            if (changes[k].kind == FACET_CHANGE_CSR) {
                CHECK_EQ(changes[k].new_value.lo, stored[i]);
                told++;
            }
        }
        CHECK_EQ(told, 1);
    }
    facet_machine_destroy(machine);
}

/* The first write of a float register makes mstatus dirty: FS and SD, told as they are read. */
TEST(a_step_tells_that_floats_are_dirty, "")
{
    facet_machine *m = make((struct facet_xphmg_config){0},
                            "li t0, 0x6000\ncsrc mstatus, t0\nli t0, 0x2000\ncsrs mstatus, t0\n"
                            "fmv.w.x ft0, zero\n1: j 1b\n",
                            NULL);
    const uint32_t mstatus = facet_machine_find_csr(m, 0, "mstatus");
    struct facet_change changes[8];
    struct facet_stop stop;
    unsigned told = 0;

    for (unsigned i = 0; i < 8; i++) {
        size_t count = 0;
        struct facet_value value;

        CHECK(facet_machine_step_changes(m, changes, 8, &count, &stop, NULL) == FACET_OK);
        CHECK(facet_machine_csr_read(m, 0, mstatus, &value, NULL) == FACET_OK);
        for (size_t k = 0; k < count && k < 8; k++) {
            if (changes[k].kind == FACET_CHANGE_CSR && changes[k].index == mstatus) {
                CHECK_EQ(changes[k].new_value.lo, value.lo);
                told += (value.lo >> 13 & 3) == 3 && value.lo >> 63 == 1;
            }
        }
    }
    CHECK_EQ(told, 1);
    facet_machine_destroy(m);
}

TEST(bad_configurations_and_files_are_refused, "")
{
    struct facet_xphmg_config config = {.harts = 65};
    struct facet_error err = {0};
    facet_machine *m = NULL;

    CHECK_EQ(facet_xphmg_create(&config, &m, &err), FACET_ERR_USAGE);
    config = (struct facet_xphmg_config){.quantum = 3};
    CHECK_EQ(facet_xphmg_create(&config, &m, &err), FACET_ERR_USAGE);
    config = (struct facet_xphmg_config){.ram_bytes = 5000};
    CHECK_EQ(facet_xphmg_create(&config, &m, &err), FACET_ERR_USAGE);
    CHECK(m == NULL);
    m = make((struct facet_xphmg_config){0}, "nop\n", NULL);
    CHECK_EQ(facet_xphmg_load_elf(m, "hello", 5, &err), FACET_ERR_INPUT);
    {
        size_t size = 0;
        uint8_t *elf = assemble(".section .text\n.address 0x1000\nnop\n", &size);

        CHECK_EQ(facet_xphmg_load_elf(m, elf, size, &err), FACET_ERR_INPUT);
        CHECK(strstr(err.message, "RAM is 0x80000000") != NULL);
        free(elf);
    }
    facet_machine_destroy(m);
}

/* Breakpoints come and go on code that is already cached; both executors stop in the same places
 * after the same steps. */
TEST(breakpoints_stop_both_executors_alike, "")
{
    struct facet_xphmg_config cached = {.harts = 2}, plain = {.harts = 2, .plain = true};
    facet_machine *a = make(cached, timer_program, NULL), *b = make(plain, timer_program, NULL);
    uint32_t ids[4] = {0}, hits = 0;

    for (unsigned round = 0; round < 400 && !harness_failed(); round++) {
        struct facet_run run = {.budget = 1 + harness_random() % 3000};
        unsigned slot = harness_random() % 4;
        uint64_t pc = FACET_XPHMG_RAM_BASE + 4 * (harness_random() % 40);
        uint32_t core = harness_random() % 3 == 0 ? harness_random() % 2 : FACET_ANY_CORE;
        struct facet_stop at, bt;

        if (ids[slot] != 0) {
            CHECK_EQ(facet_machine_point_remove(a, ids[slot], NULL), FACET_OK);
            CHECK_EQ(facet_machine_point_remove(b, ids[slot], NULL), FACET_OK);
            ids[slot] = 0;
        } else {
            CHECK_EQ(facet_machine_break_add(a, core, pc, &ids[slot], NULL), FACET_OK);
            CHECK_EQ(facet_machine_break_add(b, core, pc, &ids[slot], NULL), FACET_OK);
        }
        facet_machine_run(a, &run, &at);
        facet_machine_run(b, &run, &bt);
        CHECK_EQ(at.reason, bt.reason);
        CHECK_EQ(at.steps, bt.steps);
        CHECK_EQ(at.pc, bt.pc);
        CHECK_EQ(at.core, bt.core);
        hits += at.reason == FACET_STOP_BREAKPOINT;
    }
    CHECK(hits > 50);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

/* ---- profiles --------------------------------------------------------------------------------
 */

TEST(the_host_switches_profiles_between_instructions, "CAP-120")
{
    struct facet_xphmg_config config = {.harts = 2, .configuration = "prof"};
    facet_machine *machine;
    struct facet_value value;
    uint32_t wave;

    CHECK_EQ(facet_xphmg_create(&config, &machine, NULL), FACET_OK);
    wave = facet_machine_find_csr(machine, 0, "CAP.TIER.WAVE");
    CHECK_EQ(facet_xphmg_set_profile(machine, 1, 2, NULL), FACET_OK);
    CHECK_EQ(facet_machine_csr_read(machine, 1, wave, &value, NULL), FACET_OK);
    CHECK_EQ(value.lo, 3);
    CHECK_EQ(facet_machine_csr_read(machine, 0, wave, &value, NULL), FACET_OK);
    CHECK_EQ(value.lo, 0);
    CHECK_EQ(facet_xphmg_set_profile(machine, 1, 3, NULL), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_set_profile(machine, 2, 0, NULL), FACET_ERR_USAGE);
    facet_machine_destroy(machine);
}
