/* What the host tells the xphmg machine: interrupt lines, traps, values of loads and CSR reads,
 * turns, and devices of its own; the same from blocks, host code and the plain executor. */
#include "harness.h"

#include "assembler/assemble.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/lockstep.h>
#include <facet/tile.h>
#include <facet/xphmg.h>
#include <stdlib.h>

#define INTERRUPT FACET_XPHMG_INTERRUPT

static facet_machine *make(struct facet_xphmg_config config, const char *text)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    facet_machine *machine = NULL;
    uint8_t *elf = NULL;
    size_t size = 0;

    CHECK_MSG(
        facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK, "%s", err.message);
    CHECK_EQ(facet_elf_write(result.object, &elf, &size, &err), FACET_OK);
    facet_asm_result_free(&result);
    config.ram_bytes = 1 << 20;
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

static uint64_t get(const facet_machine *machine, uint32_t core, const char *name)
{
    uint64_t value = 0;

    CHECK_EQ(facet_machine_get(machine, core, name, &value), FACET_OK);
    return value;
}

/* The three executors. */
static const struct facet_xphmg_config ways[] = {
    {.plain = true},
    {.host_code = FACET_XPHMG_NO_HOST_CODE},
    {.host_code = 1},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Counts in s0; the handler counts causes in s3 (3), s7 (7) and s11 (11) and clears mie of it. */
#define HANDLER                                                                                    \
    "  la t0, handler\n  csrw mtvec, t0\n  li t0, 0x888\n  csrw mie, t0\n  csrsi mstatus, 8\n"
#define HANDLER_TEXT                                                                               \
    ".align 2\nhandler: csrr t1, mcause\n  csrr s1, mip\n  andi t1, t1, 63\n  li t2, 1\n"          \
    "  sll t2, t2, t1\n  csrc mie, t2\n  add s2, s2, t2\n  mret\n"

TEST(lines_hold_until_they_are_given_back, "")
{
    for (unsigned way = 0; way < WAYS; way++) {
        facet_machine *m = make(ways[way], HANDLER "loop: addi s0, s0, 1\n  j loop\n" HANDLER_TEXT);

        CHECK_EQ(run(m, 1000).reason, FACET_STOP_BUDGET);
        CHECK_EQ(get(m, 0, "s2"), 0);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 11, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        CHECK_EQ(get(m, 0, "mip"), 0x800);
        (void)run(m, 1000);
        CHECK_EQ(get(m, 0, "s2"), 0x800);
        CHECK_EQ(get(m, 0, "s1"), 0x800);
        CHECK_EQ(get(m, 0, "mip"), 0x800); /* held */
        CHECK_EQ(get(m, 0, "mie"), 0x088);
        /* Software and timer at once: software first, each once. */
        CHECK_EQ(facet_xphmg_set_line(m, 0, 7, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 3, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        (void)run(m, 5);
        CHECK_EQ(get(m, 0, "mcause"), INTERRUPT | 3);
        (void)run(m, 1000);
        CHECK_EQ(get(m, 0, "mcause"), INTERRUPT | 7);
        CHECK_EQ(get(m, 0, "s2"), 0x888);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 11, FACET_XPHMG_LEVEL_OWN, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 3, FACET_XPHMG_LEVEL_OWN, NULL), FACET_OK);
        CHECK_EQ(get(m, 0, "mip"), 0x080);
        facet_machine_reset(m);
        CHECK_EQ(get(m, 0, "mip"), 0);
        facet_machine_destroy(m);
    }
}

TEST(a_line_held_low_hides_the_clint, "")
{
    /* mtimecmp = 0: the timer is due at once. */
    static const char text[] = "  li t0, 0x2004000\n  sd zero, 0(t0)\n" HANDLER
                               "loop: addi s0, s0, 1\n  j loop\n" HANDLER_TEXT;

    for (unsigned way = 0; way < WAYS; way++) {
        facet_machine *m = make(ways[way], text);

        CHECK_EQ(facet_xphmg_set_line(m, 0, 7, FACET_XPHMG_LEVEL_LOW, NULL), FACET_OK);
        (void)run(m, 1000);
        CHECK_EQ(get(m, 0, "s2"), 0);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 7, FACET_XPHMG_LEVEL_OWN, NULL), FACET_OK);
        (void)run(m, 1000);
        CHECK_EQ(get(m, 0, "s2"), 0x80);
        facet_machine_destroy(m);
    }
}

TEST(wfi_waits_for_a_line_from_outside, "")
{
    for (unsigned way = 0; way < WAYS; way++) {
        facet_machine *m = make(ways[way], HANDLER "  wfi\n  addi s0, s0, 1\n" HANDLER_TEXT);

        CHECK_EQ(run(m, 1000).reason, FACET_STOP_IDLE);
        CHECK_EQ(facet_machine_next_core(m), FACET_NONE);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 11, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        CHECK_EQ(facet_machine_next_core(m), 0);
        (void)run(m, 9);
        CHECK_EQ(get(m, 0, "s2"), 0x800);
        CHECK_EQ(get(m, 0, "s0"), 0);
        (void)run(m, 1);
        CHECK_EQ(get(m, 0, "s0"), 1);
        facet_machine_destroy(m);
    }
}

TEST(the_machine_waits_until_it_is_told, "")
{
    for (unsigned way = 0; way < WAYS; way++) {
        facet_machine *m =
            make(ways[way], HANDLER "loop: wfi\n  addi s0, s0, 1\n  j loop\n" HANDLER_TEXT);
        struct facet_error err = {0};
        uint64_t pc;

        CHECK_EQ(facet_xphmg_wait_for_told(m, true, NULL), FACET_OK);
        CHECK_EQ(run(m, 6 + 3 * 100).reason, FACET_STOP_BUDGET); /* WFI does not wait */
        CHECK_EQ(get(m, 0, "s0"), 100);
        CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 7, 0, false, &err), FACET_ERR_USAGE);
        CHECK_STR(err.message, "hart0: the timer interrupt is not pending");
        CHECK_EQ(facet_xphmg_set_line(m, 0, 7, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 11, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        (void)run(m, 300);
        CHECK_EQ(get(m, 0, "s0"), 200); /* pending and not taken */
        CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 7, 0, false, &err), FACET_ERR_USAGE);
        CHECK_STR(err.message, "hart0: the external interrupt comes before the timer interrupt");
        pc = get(m, 0, "pc");
        CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 11, 0, false, &err), FACET_OK);
        (void)run(m, 1);
        CHECK_EQ(get(m, 0, "mepc"), pc);
        CHECK_EQ(get(m, 0, "mcause"), INTERRUPT | 11);
        CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 7, 0, false, &err), FACET_ERR_USAGE);
        CHECK_STR(err.message, "hart0: mstatus.MIE is 0 in machine mode");
        (void)run(m, 8);
        CHECK_EQ(get(m, 0, "s2"), 0x800);
        CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 3, 0, false, &err), FACET_ERR_USAGE);
        CHECK_EQ(facet_xphmg_set_line(m, 0, 3, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        CHECK_EQ(facet_machine_set(m, 0, "mie", 0x80), FACET_OK);
        CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 3, 0, false, &err), FACET_ERR_USAGE);
        CHECK_STR(err.message, "hart0: the software interrupt is not enabled in mie");
        CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 3, 0, true, &err), FACET_OK); /* anyway */
        (void)run(m, 1);
        CHECK_EQ(get(m, 0, "mcause"), INTERRUPT | 3);
        facet_machine_destroy(m);
    }
}

TEST(exceptions_can_be_told, "")
{
    facet_machine *m = make(ways[1], HANDLER "loop: addi s0, s0, 1\n  j loop\n" HANDLER_TEXT);
    struct facet_error err = {0};

    (void)run(m, 10);
    CHECK_EQ(facet_xphmg_take(m, 0, 5, 0x1234, false, &err), FACET_OK);
    (void)run(m, 1);
    CHECK_EQ(get(m, 0, "mcause"), 5);
    CHECK_EQ(get(m, 0, "mtval"), 0x1234);
    CHECK_EQ(facet_xphmg_take(m, 0, 8, 0, false, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "hart0: an environment call from U mode in the other mode");
    CHECK_EQ(facet_xphmg_take(m, 0, 14, 0, false, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "exception 14: the hart has none");
    CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 9, 0, false, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_take(m, 0, 64, 0, true, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "cause 0x40: expected 0..63, and bit 63 for an interrupt");
    CHECK_EQ(facet_xphmg_take(m, 1, 5, 0, true, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "there is no hart 1, expected 0..0");
    CHECK_EQ(facet_xphmg_take(m, 0, 14, 7, true, &err), FACET_OK);
    (void)run(m, 1);
    CHECK_EQ(get(m, 0, "mcause"), 14);
    facet_machine_destroy(m);
}

TEST(a_told_trap_ends_wfi, "")
{
    facet_machine *m = make(ways[1], HANDLER "  wfi\n  addi s0, s0, 1\n" HANDLER_TEXT);

    CHECK_EQ(run(m, 100).reason, FACET_STOP_IDLE);
    CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 11, 0, true, NULL), FACET_OK);
    CHECK_EQ(run(m, 1).reason, FACET_STOP_BUDGET);
    CHECK_EQ(get(m, 0, "mcause"), INTERRUPT | 11);
    facet_machine_destroy(m);
}

/* ---- values of loads ---- */

TEST(the_next_loads_give_what_was_told, "")
{
    static const char text[] = "  la s0, word\n"
                               "  lw a0, 0(s0)\n"      /* in a range that was not given: memory */
                               "  li s1, 0x60000000\n" /* nothing there */
                               "  lb a1, 3(s1)\n"
                               "  amoadd.w a2, a3, (s0)\n"
                               "  csrr a4, mcycle\n"
                               "  csrr a5, mcycle\n"
                               "  ld a6, 8(s1)\n"
                               "  .align 3\nword: .word 0x1234, 0\n";

    for (unsigned way = 0; way < WAYS; way++) {
        facet_machine *m = make(ways[way], text);
        struct facet_error err = {0};
        struct facet_blob saved = {0};
        uint32_t left = 0;

        CHECK_EQ(facet_xphmg_next_load(m, 0, 0x60000008, 0x6000000F, 0x1122334455667788, NULL),
                 FACET_OK);
        CHECK_EQ(facet_xphmg_next_load(m, 0, 0x60000000, 0x60000007, 0x1FF, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_next_csr(m, 0, 0xB00, 0xABCD, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_given(m, 0, false, &left, NULL), FACET_OK);
        CHECK_EQ(left, 3);
        CHECK_EQ(facet_machine_snapshot(m, &saved, NULL), FACET_OK);
        for (int again = 0; again < 2; again++) { /* the queue is part of a snapshot */
            CHECK_EQ(facet_machine_restore(m, saved.data, saved.size, NULL), FACET_OK);
            (void)run(m, 4);
            CHECK_EQ(get(m, 0, "a0"), 0x1234);
            /* li is one or two instructions: the loads are what counts */
            while (get(m, 0, "a1") == 0) {
                (void)run(m, 1);
            }
            CHECK_EQ(get(m, 0, "a1"), UINT64_MAX);
            CHECK_EQ(facet_xphmg_next_load(m, 0, 0, UINT64_MAX, 0xFFFFFFFF00000007, NULL),
                     FACET_OK);
            (void)run(m, 1); /* the older value is for other addresses */
            CHECK_EQ(get(m, 0, "a2"), 7);
            (void)run(m, 2);
            CHECK_EQ(get(m, 0, "a4"), 0xABCD);
            CHECK(get(m, 0, "a5") < 100);
            (void)run(m, 1);
            CHECK_EQ(get(m, 0, "a6"), 0x1122334455667788);
            CHECK_EQ(facet_xphmg_given(m, 0, false, &left, NULL), FACET_OK);
            CHECK_EQ(left, 0);
        }
        facet_blob_free(&saved);
        for (int i = 0; i < FACET_XPHMG_GIVEN_MAX; i++) {
            CHECK_EQ(facet_xphmg_next_load(m, 0, 0, 1, 0, NULL), FACET_OK);
        }
        CHECK_EQ(facet_xphmg_next_load(m, 0, 0, 1, 0, &err), FACET_ERR_LIMIT);
        CHECK_STR(err.message, "hart0: 64 values wait already for loads and reads");
        CHECK_EQ(facet_xphmg_given(m, 0, true, &left, NULL), FACET_OK);
        CHECK_EQ(left, 64);
        CHECK_EQ(facet_xphmg_next_load(m, 0, 1, 0, 0, &err), FACET_ERR_USAGE);
        CHECK_STR(err.message, "loads from 0x1..0x0: expected rising addresses");
        CHECK_EQ(facet_xphmg_next_csr(m, 0, 0x123, 0, &err), FACET_ERR_USAGE);
        CHECK_STR(err.message, "hart0 has no CSR 0x123");
        facet_machine_destroy(m);
    }
}

/* ---- devices of the host ---- */

struct device {
    facet_machine *machine;
    uint64_t reads, writes, last_offset, last_size, last_value;
    bool refuses;
};

static bool device_read(void *context, uint64_t offset, uint32_t size, uint64_t *value)
{
    struct device *d = context;

    d->last_offset = offset;
    d->last_size = size;
    *value = ++d->reads;
    return !d->refuses;
}

static bool device_write(void *context, uint64_t offset, uint32_t size, uint64_t value)
{
    struct device *d = context;

    d->writes++;
    d->last_offset = offset;
    d->last_size = size;
    d->last_value = value;
    if (d->machine != NULL) { /* raises its interrupt */
        CHECK_EQ(facet_xphmg_set_line(d->machine, 0, 11, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_take(d->machine, 0, 5, 0, true, NULL), FACET_ERR_USAGE);
        CHECK_EQ(facet_xphmg_set_turn(d->machine, 0, NULL), FACET_ERR_USAGE);
    }
    return !d->refuses;
}

TEST(devices_of_the_host, "")
{
    /* 200 rounds, so that the loop becomes host code; then a store that raises an interrupt. */
    static const char text[] = HANDLER "  li s4, 0x30000000\n  li s5, 200\n"
                                       "loop: lw t0, 4(s4)\n  add s6, s6, t0\n  sh t0, 10(s4)\n  "
                                       "addi s5, s5, -1\n  bnez s5, loop\n"
                                       "  lhu t0, 1(s4)\n" /* two bytes, one after the other */
                                       "  amoadd.d t1, s4, (s4)\n"
                                       "  ebreak\n" HANDLER_TEXT;

    for (unsigned way = 0; way < WAYS; way++) {
        struct facet_xphmg_config config = ways[way];
        struct device d = {0};
        struct facet_device device = {&d, device_read, device_write};
        facet_machine *m;
        struct facet_region_desc region;
        struct facet_error err = {0};
        bool found = false;

        config.no_semihosting = true;
        m = make(config, text);
        CHECK_EQ(facet_machine_add_device(m, "mine", 0x30000000, 0x100, &device, &err), FACET_OK);
        for (uint32_t i = 0; facet_machine_region(m, 0, i, &region); i++) {
            found |= strcmp(region.name, "mine") == 0 && region.device && region.base == 0x30000000;
        }
        CHECK(found);
        while (get(m, 0, "mcause") == 0) {
            CHECK_EQ(run(m, 100).reason, FACET_STOP_BUDGET);
        }
        CHECK_EQ(get(m, 0, "mcause"), 3);
        CHECK_EQ(get(m, 0, "s6"), 200 * 201 / 2);
        CHECK_EQ(d.reads, 200 + 2 + 1);
        CHECK_EQ(d.writes, 201);
        CHECK_EQ(get(m, 0, "t0"), 201 | 202 << 8);
        CHECK_EQ(d.last_offset, 0);
        CHECK_EQ(d.last_size, 8);
        CHECK_EQ(d.last_value, 0x30000000 + 203);
        CHECK_EQ(facet_machine_add_device(m, "mine", 0x31000000, 16, &device, &err),
                 FACET_ERR_USAGE);
        CHECK_EQ(facet_machine_add_device(m, "over ram", 0x7FFFFFF0, 0x100, &device, &err),
                 FACET_ERR_USAGE);
        CHECK_STR(err.message, "region \"over ram\" at 0x7ffffff0..0x800000ef overlaps \"ram\"");
        CHECK_EQ(facet_machine_add_device(m, "over clint", 0x2000000, 1, &device, &err),
                 FACET_ERR_USAGE);
        CHECK_EQ(facet_machine_add_device(m, "empty", 0x3000000, 0, &device, &err),
                 FACET_ERR_USAGE);
        facet_machine_destroy(m);
    }
}

TEST(a_device_raises_an_interrupt_or_refuses, "")
{
    static const char text[] = HANDLER "  li s4, 0x30000000\n"
                                       "loop: addi s5, s5, 1\n  li t0, 150\n  bne s5, t0, loop\n"
                                       "  sw s5, 0(s4)\n  addi s6, s6, 1\n"
                                       "  lw t0, 0(s4)\nend: j end\n" HANDLER_TEXT;

    for (unsigned way = 0; way < WAYS; way++) {
        facet_machine *m = make(ways[way], text);
        struct device d = {.machine = m};
        struct facet_device device = {&d, device_read, device_write};

        CHECK_EQ(facet_machine_add_device(m, "mine", 0x30000000, 0x100, &device, NULL), FACET_OK);
        while (d.writes == 0) {
            (void)run(m, 1000000 / 3);
        }
        CHECK_EQ(get(m, 0, "s2"), 0x800);
        facet_machine_reset(m);
        d = (struct device){.refuses = true};
        while (get(m, 0, "mcause") == 0) {
            (void)run(m, 50);
        }
        CHECK_EQ(get(m, 0, "mcause"), 7);
        CHECK_EQ(get(m, 0, "mtval"), 0x30000000);
        CHECK_EQ(get(m, 0, "s6"), 0);
        facet_machine_destroy(m);
    }
}

TEST(other_machines_refuse, "")
{
    struct facet_device device = {0};
    struct facet_error err = {0};
    facet_machine *m = NULL;

    CHECK_EQ(facet_tile_create(NULL, &m, &err), FACET_OK);
    CHECK_EQ(facet_machine_add_device(m, "mine", 0x30000000, 1, &device, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message, "the tile machine has no devices that the host can add");
    CHECK_EQ(facet_xphmg_set_line(m, 0, 11, FACET_XPHMG_LEVEL_HIGH, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_wait_for_told(m, true, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_take(m, 0, 5, 0, true, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_next_load(m, 0, 0, 1, 0, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_set_turn(m, 0, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_break_reservation(m, 0, &err), FACET_ERR_USAGE);
    facet_machine_destroy(m);
}

TEST(lines_are_checked, "")
{
    facet_machine *m = make(ways[0], "loop: j loop\n");
    struct facet_error err = {0};

    CHECK_EQ(facet_xphmg_set_line(m, 0, 5, FACET_XPHMG_LEVEL_HIGH, &err), FACET_ERR_USAGE);
    CHECK_STR(err.message,
              "interrupt 5 with level 2: expected 3 (software), 7 (timer) or 11 (external), and a "
              "level of 0 (the platform's own), 1 (low) or 2 (high)");
    CHECK_EQ(facet_xphmg_set_line(m, 0, 64, FACET_XPHMG_LEVEL_HIGH, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_set_line(m, 0, 3, (enum facet_xphmg_level)3, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_xphmg_set_line(m, 1, 3, FACET_XPHMG_LEVEL_LOW, &err), FACET_ERR_USAGE);
    facet_machine_destroy(m);
}

/* ---- turns ---- */

TEST(turns_keep_reservations, "")
{
    static const char text[] = "  la t0, word\n  csrr t1, mhartid\n  bnez t1, other\n"
                               "  lr.w a0, (t0)\n  li a1, 5\n  sc.w a2, a1, (t0)\n"
                               "other: addi s0, s0, 1\n  bne s0, s1, other\n"
                               "  sw s0, 0(t0)\nend: j end\n  .align 3\nword: .word 3, 0\n";
    struct facet_xphmg_config config = {.harts = 2};

    for (int broken = 0; broken < 3; broken++) {
        facet_machine *m = make(config, text);
        struct facet_stop stop;

        while (get(m, 0, "a0") == 0) {
            facet_machine_step(m, &stop);
        }
        CHECK_EQ(facet_machine_set(m, 1, "s1", 1), FACET_OK);
        CHECK_EQ(facet_xphmg_set_turn(m, 1, NULL), FACET_OK);
        CHECK_EQ(facet_machine_next_core(m), 1);
        (void)run(m, broken == 1 ? 12 : 5); /* 12: with the store */
        CHECK_EQ(facet_xphmg_set_turn(m, 0, NULL), FACET_OK);
        if (broken == 2) {
            CHECK_EQ(facet_xphmg_break_reservation(m, 0, NULL), FACET_OK);
        }
        (void)run(m, 2);
        CHECK_EQ(get(m, 0, "a2"), broken != 0);
        facet_machine_destroy(m);
    }
}

/* Snapshots with everything told continue alike; bytes that cannot be are refused. */
TEST(what_was_told_is_part_of_a_snapshot, "")
{
    facet_machine *m = make(ways[1], HANDLER "loop: addi s0, s0, 1\n  j loop\n" HANDLER_TEXT);
    facet_machine *other = make(ways[0], "loop: j loop\n");
    struct facet_blob saved = {0}, after = {0}, again = {0};

    (void)run(m, 100);
    CHECK_EQ(facet_xphmg_wait_for_told(m, true, NULL), FACET_OK);
    CHECK_EQ(facet_xphmg_set_line(m, 0, 11, FACET_XPHMG_LEVEL_HIGH, NULL), FACET_OK);
    CHECK_EQ(facet_xphmg_take(m, 0, INTERRUPT | 11, 0, false, NULL), FACET_OK);
    CHECK_EQ(facet_machine_snapshot(m, &saved, NULL), FACET_OK);
    (void)run(m, 100);
    CHECK_EQ(facet_machine_snapshot(m, &after, NULL), FACET_OK);
    CHECK_EQ(facet_machine_restore(other, saved.data, saved.size, NULL), FACET_OK);
    (void)run(other, 100);
    CHECK_EQ(facet_machine_snapshot(other, &again, NULL), FACET_OK);
    CHECK_EQ(get(other, 0, "mcause"), INTERRUPT | 11);
    CHECK(after.size == again.size && memcmp(after.data, again.data, after.size) == 0);
    facet_blob_free(&saved);
    facet_blob_free(&after);
    facet_blob_free(&again);
    facet_machine_destroy(m);
    facet_machine_destroy(other);
}
