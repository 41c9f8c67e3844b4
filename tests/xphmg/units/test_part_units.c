/* Steps that are left half-way and taken up again (part_test.h): jobs and instructions of the units
 * but RT, calls of the host; by a debugger. */
#include "xphmg/units/part_test.h"

#include "base/failing_alloc.h"
#include "contract/xphmg_csrs.h"
#include "contract/xphmg_layouts.h"

/* ---- units ---- */

/* 1000 vectors over their own matrix and instruction. */
static void put_vectors(facet_machine *machine, const struct part_case *c)
{
    uint64_t seed = 11;

    (void)c;
    poke(machine, DATA + MTX_DESC + 8, 8, DATA + 0x8000);
    poke(machine, DATA + MTX_DESC + 16, 8, DATA + 0x100);
    poke(machine, DATA + MTX_DESC + 32, 4, 1000);
    for (unsigned i = 0; i < 2000; i++) {
        const float value = next_number(&seed);

        poke_floats(machine, DATA + 0x8000 + 4 * i, &value, 1);
    }
}

TEST(a_job_of_vectors_is_left_anywhere, "")
{
    for (unsigned late = 0; late < 2; late++) {
        struct part_case c = {
            .text = PREAMBLE "xsubmit.mtx a1, a0\n xfence.wait a1\n" EXIT,
            .prepare = put_vectors,
            .config = {.jobs = late != 0 ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW}};

        check_case("mtx", &c, 6);
    }
}

/* 32 vectors of two numbers with the lowest bit set: software interrupts for 64 harts. */
static void put_interrupts(facet_machine *machine, const struct part_case *c)
{
    const float one[2] = {0x1.000002p0f, 0x1.000002p0f}, unit[4] = {1, 0, 0, 1};

    (void)c;
    poke(machine, DATA + MTX_DESC + 8, 8, DATA + 0x8000);
    poke(machine, DATA + MTX_DESC + 16, 8, 0x2000000);
    poke(machine, DATA + MTX_DESC + 32, 4, 32);
    poke_floats(machine, peek(machine, DATA + MTX_DESC, 8), unit, 4);
    for (unsigned i = 0; i < 32; i++) {
        poke_floats(machine, DATA + 0x8000 + 8 * i, one, 2);
    }
}

/* A job that wakes harts in its first half changes nobody's turn before its end. */
TEST(nobody_has_a_turn_inside_a_job, "")
{
    static const struct part_case c = {
        .text = PREAMBLE "csrr t0, mhartid\n bnez t0, 1f\n xsubmit.mtx a1, a0\n xfence.wait a1\n"
                         "li t0, 100\n 2: addi t0, t0, -1\n bnez t0, 2b\n" EXIT
                         "1: li t0, 8\n csrw mie, t0\n wfi\n 3: j 3b\n",
        .prepare = put_interrupts,
        .config = {.harts = 64, .jobs = FACET_XPHMG_JOBS_LATE}};

    check_case("interrupts", &c, 4);
}

static void put_bytes(facet_machine *machine, const struct part_case *c)
{
    static uint8_t bytes[0x8000];
    uint64_t seed = 5;

    (void)c;
    for (unsigned i = 0; i < sizeof bytes; i += 8) {
        const uint64_t word = next_word(&seed);

        facet_store_le64(bytes + i, word & (word << 8 | word >> 40));
    }
    CHECK_EQ(facet_machine_write(machine, 0, DATA + 0x8000, bytes, sizeof bytes, NULL), FACET_OK);
}

TEST(copies_are_left_anywhere, "")
{
    static const char *const texts[] = {
        /* up, down over itself, asynchronous; sizes that are no multiple of 8 */
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 20003\n xlds.cpy a0, a1, a2\n",
        "li a0, 0x80048123\n li a1, 0x80048001\n li a2, 20005\n xlds.cpy a0, a1, a2\n",
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 20003\n xlds.cpy a0, a1, a2, async=1\n"
        "xfence.pipe ALL, 4, 1\n",
        /* over the instruction itself */
        "la a0, 1f\n la a1, from\n li a2, 9000\n 1: xlds.cpy a0, a1, a2\n .zero 9000\n"
        ".align 4\n from: .word 0\n",
        /* compression and back, each with its fallback to a plain copy */
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 20003\n"
        "xmem.dstorec (a0), a1, a2, mode=1\n li a3, 0x80060000\n xmem.dloadc a3, (a0), a2, mode=1\n"
        "li a4, 0x80070000\n xmem.dstorec (a4), a1, a2, mode=2\n",
        /* layouts: 100 x 90 of 2 bytes there and back; one that goes out of memory */
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 0x5a00640100\n xswz.tex2ten a0, a1, a2\n"
        "li a3, 0x80060000\n xswz.ten2tex a3, a0, a2\n",
    };

    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (unsigned late = 0; late < 2; late++) {
            char text[1024];
            struct part_case c = {
                .text = text,
                .prepare = put_bytes,
                .config = {.jobs = late != 0 ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW}};

            (void)snprintf(text, sizeof text, PREAMBLE "%s" EXIT, texts[i]);
            check_case(texts[i], &c, 6);
        }
    }
}

/* Over the depth buffer itself, one level out of the one below, then elsewhere. */
#define HIZ_TEXT                                                                                   \
    PREAMBLE "li t0, 0x80048000\n csrw GFXZBASE, t0\n li t0, 320\n csrw GFXZPITCH, t0\n"           \
             "li t0, 0x4b00000050\n csrw GFXZWH, t0\n li t0, 0x512\n csrw GFXHIZCFG, t0\n"         \
             "li a1, 0x8004a000\n gfx.hz.build a2, a1, hh=1, all=1\n"                              \
             "gfx.hz.build a3, a1, hh=0\n"                                                         \
             "li a1, 0x80050000\n gfx.hz.build a4, a1, hh=0, all=1, tt=1\n" EXIT

TEST(a_hierarchy_of_depth_is_left_anywhere, "")
{
    static const struct part_case c = {.text = HIZ_TEXT, .prepare = put_bytes};

    check_case("hz.build", &c, 8);
}

/* Three builds need memory of the host, which it refuses once for each. */
TEST(a_hierarchy_of_depth_waits_for_memory, "")
{
    static const struct part_case c = {.text = HIZ_TEXT, .prepare = put_bytes};

    for (unsigned observed = 0; observed < 2; observed++) {
        static struct record plain, other;
        struct facet_observer observer = observer_of(&other);
        struct facet_blob want, got;
        facet_machine *machine = make_case(&c, &other);
        struct facet_stop stop;
        unsigned refused = 0;

        memset(&plain, 0, sizeof plain);
        memset(&other, 0, sizeof other);
        (void)run_case(&c, observed != 0, 0, false, &plain, &want);
        facet_machine_observe(machine, observed != 0 ? &observer : NULL);
        do {
            failing_alloc_after(0);
            stop = run(machine, 5000000);
            failing_alloc_after(-1);
            if (stop.reason == FACET_STOP_MEMORY) {
                CHECK(facet_machine_in_step(machine));
                facet_machine_step(machine, &stop);
                CHECK(stop.reason == FACET_STOP_BUDGET && stop.steps == 1);
                refused++;
            }
        } while (stop.reason == FACET_STOP_BUDGET && refused < 4);
        CHECK(stop.reason == FACET_STOP_EXIT && refused == 3);
        facet_machine_observe(machine, NULL);
        check_snapshot(machine, &got);
        CHECK(want.size == got.size && memcmp(want.data, got.data, want.size) == 0);
        CHECK(plain.events == other.events && plain.event_count == other.event_count);
        facet_blob_free(&want);
        facet_blob_free(&got);
        facet_machine_destroy(machine);
    }
}

/* ---- calls of the host ---- */

#define CALL(n) "li a0, " #n "\n call semihost\n"
#define SEMIHOST ".align 4\n semihost: .word 0x01f01013, 0x00100073, 0x40705013\n ret\n"

static void put_strings(facet_machine *machine, const struct part_case *c)
{
    static char text[50000];

    (void)c;
    for (unsigned i = 0; i < sizeof text; i++) {
        text[i] = (char)('A' + i % 57);
    }
    CHECK_EQ(facet_machine_write(machine, 0, 0x80048000, text, sizeof text, NULL), FACET_OK);
}

/* WRITE0 of 50000 bytes, WRITE, OPEN, and READ over its own arguments. */
#define HOST_TEXT                                                                                  \
    "li sp, 0x80040000\n"                                                                          \
    "li a1, 0x80048000\n" CALL(                                                                    \
        4) "li s0, 0x80030000\n li t0, 1\n sd t0, 0(s0)\n li t1, 0x80048001\n sd t1, 8(s0)\n"      \
           "li t2, 40001\n sd t2, 16(s0)\n"                                                        \
           "li t0, 2\n sd t0, 0(s0)\n mv a1, s0\n" CALL(                                           \
               5) "la t0, name\n sd t0, 0(s0)\n sd zero, 8(s0)\n li t0, 1\n sd t0, 16(s0)\n"       \
                  "mv a1, s0\n" CALL(1) "sd a0, 0(s0)\n addi t0, s0, -0x100\n sd t0, 8(s0)\n li "  \
                                        "t0, 30000\n sd t0, 16(s0)\n"                              \
                                        "mv a1, s0\n" CALL(6) EXIT SEMIHOST "name: .asciz \"x\"\n"

TEST(calls_of_the_host_are_left_anywhere, "")
{
    static const struct part_case c = {.text = HOST_TEXT, .prepare = put_strings, .stays = true};

    check_case("semihosting", &c, 8);
}

static const struct part_case long_output = {
    .text = ".globl tohost\n.globl fromhost\n .globl _start\n _start:\n"
            "la s0, words\n li t0, 64\n sd t0, 0(s0)\n li t0, 1\n sd t0, 8(s0)\n"
            "li t0, 0x80048000\n sd t0, 16(s0)\n li t0, 50000\n sd t0, 24(s0)\n"
            "la t1, tohost\n sd s0, 0(t1)\n la t1, fromhost\n 1: ld t2, 0(t1)\n beqz t2, 1b\n"
            "ld a0, 0(s0)\n" EXIT ".align 4\n words: .zero 64\n tohost: .dword 0\n"
            "fromhost: .dword 0\n",
    .prepare = put_strings};

TEST(a_write_of_htif_is_left_anywhere, "")
{
    check_case("htif", &long_output, 6);
}

/* ---- by a debugger ---- */

static const struct part_case long_copy = {.text = PREAMBLE
                                           "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 0x8000\n"
                                           "here: xlds.cpy a0, a1, a2\n" EXIT,
                                           .prepare = put_bytes};

TEST(a_left_step_is_not_counted_and_its_breakpoint_is_passed, "")
{
    static struct record r;
    facet_machine *machine = make_case(&long_copy, &r);
    struct facet_stop stop = run(machine, 1);
    uint64_t before, questions = 1;

    while ((peek(machine, stop.pc, 4) & 0x7F) != 0x0B &&
           (peek(machine, stop.pc, 4) & 0x7F) != 0x2B &&
           (peek(machine, stop.pc, 4) & 0x7F) != 0x5B &&
           (peek(machine, stop.pc, 4) & 0x7F) != 0x7B && stop.steps == 1) {
        stop = run(machine, 1);
    }
    before = facet_machine_steps(machine);
    CHECK_EQ(facet_machine_break_add(machine, FACET_ANY_CORE, stop.pc, NULL, NULL), FACET_OK);
    facet_machine_poll(machine, countdown, &questions, 0);
    facet_machine_step(machine, &stop);
    CHECK_EQ(stop.reason, FACET_STOP_REQUEST);
    CHECK_EQ(stop.steps, 0);
    CHECK_EQ(facet_machine_steps(machine), before);
    facet_machine_poll(machine, NULL, NULL, 0);
    stop = run(machine, 1); /* not the breakpoint: the instruction has begun */
    CHECK_EQ(stop.reason, FACET_STOP_BUDGET);
    CHECK_EQ(facet_machine_steps(machine), before + 1);
    CHECK_EQ(peek(machine, 0x80057FF8, 8), peek(machine, 0x8004FFF8, 8));
    facet_machine_destroy(machine);
}

TEST(writing_pc_or_a_reset_gives_up_what_is_left, "")
{
    static struct record r;

    for (unsigned way = 0; way < 2; way++) {
        facet_machine *machine = in_the_middle(&r, &long_copy, 3);
        uint32_t pc = facet_machine_core(machine, 0)->pc;
        struct facet_value value;

        if (way == 0) { /* over the instruction */
            CHECK_EQ(facet_machine_reg_read(machine, 0, pc, &value, NULL), FACET_OK);
            value.lo += 4;
            CHECK_EQ(facet_machine_reg_write(machine, 0, pc, value, NULL), FACET_OK);
        } else {
            facet_machine_reset(machine);
            value.lo = 0;
        }
        poke(machine, 0x8004FFF8, 8, 77);
        if (way == 0) {
            run_to_exit(machine);
            CHECK(peek(machine, 0x80057FF8, 8) != 77); /* the end was never copied */
        } else {
            run_to_exit(machine);
            CHECK_EQ(peek(machine, 0x80057FF8, 8), 77);
        }
        facet_machine_destroy(machine);
    }
}

/* ---- handles ---- */

TEST(callbacks_see_only_handles_that_open_gave, "")
{
    /* CLOSE, WRITE, READ, SEEK and FLEN; those that are not -1 tell how many bytes were left. */
    static const struct {
        unsigned call;
        int64_t answer;
    } calls[] = {{2, -1}, {5, 3}, {6, 3}, {10, -1}, {12, -1}};
    static const uint64_t handles[] = {0,
                                       8, /* open() gave 5, which is 9 for the guest */
                                       10,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63,
                                       INT64_MAX,
                                       INT64_MAX - 3,
                                       (UINT64_C(1) << 63) + 9};
    static struct record r;

    for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        for (unsigned k = 0; k < sizeof handles / sizeof handles[0]; k++) {
            char text[1024];
            struct part_case c = {.text = text};
            facet_machine *machine;

            (void)snprintf(text,
                           sizeof text,
                           "li sp, 0x80040000\n li s0, 0x80030000\n la t0, name\n sd t0, 0(s0)\n"
                           "li t0, 1\n sd t0, 16(s0)\n mv a1, s0\n li a0, 1\n call semihost\n"
                           "mv s1, a0\n li t0, 0x%llx\n sd t0, 0(s0)\n sd s0, 8(s0)\n li t0, 3\n"
                           "sd t0, 16(s0)\n mv a1, s0\n li a0, %u\n call semihost\n" EXIT SEMIHOST
                           "name: .asciz \"x\"\n",
                           (unsigned long long)handles[k],
                           calls[i].call);
            machine = make_case(&c, &r);
            run_to_exit(machine);
            CHECK_EQ(reg(machine, 0, "s1"), 9);
            CHECK_EQ(reg(machine, 0, "a0"), (uint64_t)calls[i].answer);
            facet_machine_destroy(machine);
        }
    }
}

/* ---- what is left ---- */

TEST(what_is_left_has_a_kind, "")
{
    static struct record r;
    facet_machine *machine = in_the_middle(&r, &long_copy, 3);

    CHECK_EQ(facet_machine_left(machine), FACET_LEFT_INSTRUCTION);
    facet_machine_destroy(machine);
    machine = in_the_middle(&r, &long_output, 3);
    CHECK_EQ(facet_machine_left(machine), FACET_LEFT_OUTPUT);
    facet_machine_destroy(machine);
}

TEST(parts_that_nobody_saved_are_refused_or_do_no_harm, "")
{
    check_spoiled(
        &(struct part_case){.text = PREAMBLE "xsubmit.mtx a1, a0\n" EXIT, .prepare = put_vectors});
    check_spoiled(&(struct part_case){.text = HIZ_TEXT, .prepare = put_bytes});
    check_spoiled(&(struct part_case){.text = HOST_TEXT, .prepare = put_strings});
    check_spoiled(&long_copy);
}
