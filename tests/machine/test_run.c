/* Stepping, stop reasons, breakpoints, watchpoints; all with a machine that asks for breakpoints by
 * itself and with one that leaves them to the face. */
#include "acc_test.h"
#include "base/failing_alloc.h"

#include <pthread.h>
#include <time.h>

static const struct facet_machine_ops *const both[] = {&acc_ops, &acc_plain_ops};

TEST(running_in_pieces_is_running_at_once, "")
{
    for (int round = 0; round < 100; round++) {
        facet_machine *whole = make_counters(&acc_ops), *pieces = make_counters(both[round % 2]);
        uint64_t total = harness_random() % 3000;
        struct facet_stop stop;

        CHECK_EQ(run_for(whole, total).steps, total);
        while (facet_machine_steps(pieces) < total) {
            uint64_t left = total - facet_machine_steps(pieces);

            if (harness_random() % 3 == 0) {
                facet_machine_step(pieces, &stop);
                CHECK_EQ(stop.steps, 1);
            } else {
                (void)run_for(pieces, 1 + harness_random() % left);
            }
        }
        CHECK_EQ(facet_machine_steps(whole), total);
        CHECK(same_state(whole, pieces));
        facet_machine_destroy(whole);
        facet_machine_destroy(pieces);
    }
}

TEST(the_budget_counts_steps, "")
{
    facet_machine *m = make_counters(&acc_ops);
    struct facet_stop stop = run_for(m, 0);

    CHECK(stop.reason == FACET_STOP_BUDGET && stop.steps == 0 && stop.core == 0);
    stop = run_for(m, 200001); /* more than one slice */
    CHECK(stop.reason == FACET_STOP_BUDGET && stop.steps == 200001 && stop.core == 1);
    CHECK_EQ(stop.pc, reg(m, 1, ACC_REG_PC));
    CHECK_EQ(facet_machine_retired(m, 0), 100001);
    CHECK_EQ(facet_machine_retired(m, 1), 100000);
    CHECK_EQ(facet_machine_retired(m, 2), 0);
    CHECK_EQ(facet_machine_next_core(m), 1);
    CHECK_STR(facet_stop_name(stop.reason), "budget");
    CHECK_STR(facet_stop_name(FACET_STOP_REQUEST), "request");
    CHECK_STR(facet_stop_name((enum facet_stop_reason)99), "unknown stop");
    facet_machine_destroy(m);
}

TEST(stepping_one_core_passes_the_other, "")
{
    facet_machine *m = make_counters(&acc_ops);
    struct facet_stop stop;

    facet_machine_step_core(m, 1, 100, &stop);
    CHECK_EQ(stop.steps, 2);
    CHECK_EQ(facet_machine_retired(m, 1), 1);
    facet_machine_step_core(m, 0, 100, &stop);
    CHECK_EQ(stop.steps, 1);
    facet_machine_step_core(m, 0, 1, &stop); /* core 1 is next: the limit ends it */
    CHECK_EQ(stop.steps, 1);
    CHECK_EQ(facet_machine_retired(m, 1), 2);
    facet_machine_step_core(m, 7, 10, &stop); /* no such core */
    CHECK_EQ(stop.steps, 10);
    facet_machine_destroy(m);
}

TEST(exit_and_fault_are_for_ever, "")
{
    static const uint32_t exits[] = {ACC_LDI(42), ACC_EXIT};
    static const uint32_t loads_nothing[] = {ACC_LD(0x7000000)};
    facet_machine *m = make(&acc_ops);
    struct facet_stop stop;

    put_words(m, 0, exits, 2);
    put_words(m, ACC_CODE1, exits, 1);
    for (int i = 0; i < 3; i++) {
        stop = run_for(m, 100);
        CHECK(stop.reason == FACET_STOP_EXIT && stop.code == 42 && stop.core == 0);
        CHECK_EQ(stop.steps, i == 0 ? 3 : 0);
    }
    CHECK_EQ(facet_machine_next_core(m), FACET_NONE);
    facet_machine_step(m, &stop);
    CHECK(stop.reason == FACET_STOP_EXIT && stop.steps == 0);
    facet_machine_reset(m);
    put_words(m, ACC_CODE1, loads_nothing, 1);
    for (int i = 0; i < 2; i++) {
        stop = run_for(m, 100);
        CHECK(stop.reason == FACET_STOP_FAULT && stop.code == ACC_CAUSE_LOAD && stop.core == 1);
        CHECK_EQ(stop.address, 0x7000000);
        CHECK_EQ(stop.pc, ACC_CODE1);
    }
    facet_machine_destroy(m);
}

TEST(idle_when_all_cores_wait, "")
{
    static const uint32_t halts[] = {ACC_LDI(1), ACC_HALT};
    facet_machine *m = make(&acc_ops);
    struct facet_stop stop;

    put_words(m, 0, halts, 2);
    put_words(m, ACC_CODE1, halts + 1, 1);
    stop = run_for(m, UINT64_MAX);
    CHECK(stop.reason == FACET_STOP_IDLE && stop.steps == 3);
    stop = run_for(m, UINT64_MAX);
    CHECK(stop.reason == FACET_STOP_IDLE && stop.steps == 0);
    facet_machine_step(m, &stop);
    CHECK_EQ(stop.reason, FACET_STOP_IDLE);
    facet_machine_destroy(m);
}

TEST(traps_stop_only_when_asked, "")
{
    /* 0x40 is the handler: it goes back to the illegal word for ever. */
    static const uint32_t code[] = {ACC_LDI(0x40), ACC_CSRW(1), 0xF0000123};
    static const uint32_t handler[] = {ACC_LDI(8), ACC_JNZ(8)};
    static const uint32_t halt[] = {ACC_HALT};
    struct facet_run run = {1000, true};
    struct facet_stop stop;
    facet_machine *m = make(&acc_ops);

    put_words(m, 0, code, 3);
    put_words(m, 0x40, handler, 2);
    put_words(m, ACC_CODE1, halt, 1);
    facet_machine_run(m, &run, &stop);
    CHECK(stop.reason == FACET_STOP_TRAP && stop.core == 0 && stop.code == ACC_CAUSE_ILLEGAL);
    CHECK_EQ(stop.steps, 4);
    CHECK_EQ(stop.address, 0xF0000123);
    CHECK_EQ(stop.pc, 0x40);
    facet_machine_run(m, &run, &stop);
    CHECK(stop.reason == FACET_STOP_TRAP && stop.steps == 3);
    for (int i = 0; i < 6; i++) { /* the wish does not outlive its run */
        facet_machine_step(m, &stop);
        CHECK_EQ(stop.reason, FACET_STOP_BUDGET);
    }
    CHECK_EQ(run_for(m, 100).reason, FACET_STOP_BUDGET);
    facet_machine_destroy(m);
}

/* Where two runs to a breakpoint end must be where counting steps by hand says. */
TEST(breakpoints_hold_before_the_instruction, "")
{
    for (size_t k = 0; k < COUNT(both); k++) {
        facet_machine *m = make_counters(both[k]), *twin = make_counters(&acc_ops);
        struct facet_stop stop;
        uint32_t first = 0, second = 0;

        CHECK(facet_machine_break_add(m, FACET_ANY_CORE, 0, &first, NULL) == FACET_OK);
        stop = run_for(m, 1000);
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.steps == 0); /* at the entry */
        CHECK(stop.pc == 0 && stop.core == 0 && stop.point == first);
        stop = run_for(m, 1000); /* passes it, comes round the loop of four instructions */
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.steps == 8);
        CHECK(facet_machine_break_add(m, 1, ACC_CODE1 + 12, &second, NULL) == FACET_OK);
        CHECK(second != first);
        stop = run_for(m, 1000); /* core 1 did 4 of its 5: one more round of it, minus one */
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.core == 0 && stop.steps == 8);
        CHECK(facet_machine_point_remove(m, first, NULL) == FACET_OK);
        stop = run_for(m, 1000);
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.core == 1 && stop.point == second);
        CHECK_EQ(stop.pc, ACC_CODE1 + 12);
        CHECK_EQ(facet_machine_steps(m), 16 + stop.steps);
        /* A twin that only steps finds core 1 in front of that instruction at the same count. */
        while (facet_machine_steps(twin) < facet_machine_steps(m)) {
            struct facet_stop s;

            facet_machine_step(twin, &s);
        }
        CHECK(same_state(m, twin));
        facet_machine_step(m, &stop); /* a single step is not held */
        CHECK(stop.reason == FACET_STOP_BUDGET && stop.steps == 1);
        CHECK(facet_machine_point_remove(m, second, NULL) == FACET_OK);
        CHECK_EQ(run_for(m, 1000).steps, 1000);
        facet_machine_destroy(m);
        facet_machine_destroy(twin);
    }
}

TEST(breakpoints_of_one_core_ignore_the_other, "")
{
    for (size_t k = 0; k < COUNT(both); k++) {
        facet_machine *m = make_counters(both[k]);
        struct facet_stop stop;

        CHECK(facet_machine_break_add(m, 1, 0, NULL, NULL) ==
              FACET_OK); /* core 1 never gets there */
        stop = run_for(m, 1000);
        CHECK(stop.reason == FACET_STOP_BUDGET && stop.steps == 1000);
        facet_machine_destroy(m);
    }
}

TEST(a_breakpoint_holds_again_after_a_jump_back_from_outside, "")
{
    for (size_t k = 0; k < COUNT(both); k++) {
        facet_machine *m = make_counters(both[k]);
        struct facet_blob start = snapshot(m);
        struct facet_stop stop;

        CHECK(facet_machine_break_add(m, 0, 0, NULL, NULL) == FACET_OK);
        stop = run_for(m, 100);
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.steps == 0);
        CHECK(facet_machine_restore(m, start.data, start.size, NULL) == FACET_OK);
        stop = run_for(m, 100);
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.steps == 0);
        facet_machine_reset(m);
        stop = run_for(m, 100);
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.steps == 0);
        facet_blob_free(&start);
        facet_machine_destroy(m);
    }
}

TEST(many_breakpoints, "")
{
    for (size_t k = 0; k < COUNT(both); k++) {
        facet_machine *m = make_counters(both[k]);
        uint32_t ids[300];
        struct facet_stop stop;

        for (uint32_t i = 0; i < COUNT(ids); i++) {
            CHECK(facet_machine_break_add(m, FACET_ANY_CORE, 0x4000 + i * 4, &ids[i], NULL) ==
                  FACET_OK);
            CHECK_EQ(ids[i], i + 1);
        }
        CHECK_EQ(run_for(m, 500).reason, FACET_STOP_BUDGET);
        for (uint32_t i = 0; i < COUNT(ids); i += 2) {
            CHECK(facet_machine_point_remove(m, ids[i], NULL) == FACET_OK);
        }
        CHECK(facet_machine_point_remove(m, ids[0], NULL) == FACET_ERR_USAGE);
        CHECK(facet_machine_reg_write(m, 0, ACC_REG_PC, facet_value64(0x4000 + 4), NULL) ==
              FACET_OK);
        stop = run_for(m, 500);
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.point == ids[1]);
        facet_machine_destroy(m);
    }
}

TEST(watchpoints_stop_after_the_access, "")
{
    static const struct {
        struct facet_watch watch;
        bool hit;
        uint32_t core;
        uint64_t steps, address;
    } rows[] = {
        {{FACET_ANY_CORE, 0, 0x1000, 4, true, false}, true, 0, 1, 0x1000},
        {{FACET_ANY_CORE, 0, 0x1000, 4, false, true}, true, 0, 5, 0x1000},
        {{1, 0, 0x1000, 4, false, true}, true, 1, 6, 0x1000},
        {{1, 0, 0x1000, 4, true, true}, true, 1, 2, 0x1000},
        {{FACET_ANY_CORE, 0, 0x1003, 1, true, true}, true, 0, 1, 0x1000},
        {{FACET_ANY_CORE, 0, 0x0FFC, 4, true, true}, false, 0, 0, 0},
        {{FACET_ANY_CORE, 0, 0x0FFC, 5, true, true}, true, 0, 1, 0x1000},
        {{FACET_ANY_CORE, 0, 0x1004, 0x800, true, true}, false, 0, 0, 0},
        {{FACET_ANY_CORE, 1, 8, 1, false, true}, true, 1, 8, 8},
        {{0, 1, 8, 1, false, true}, false, 0, 0, 0},
        {{FACET_ANY_CORE, 1, 8, 1, true, false}, false, 0, 0, 0},
        {{FACET_ANY_CORE, 1, 0x1000, 4, true, true}, false, 0, 0, 0},
        {{FACET_ANY_CORE, 0, UINT64_MAX - 15, 0x1011, true, true}, true, 0, 1, 0x1000}, /* wraps */
        {{FACET_ANY_CORE, 0, UINT64_MAX - 15, 0x1010, true, true}, false, 0, 0, 0},
        {{FACET_ANY_CORE, 0, 0, 16, true, true}, false, 0, 0, 0}, /* fetches do not count */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        facet_machine *m = make_counters(both[i % 2]);
        struct facet_stop stop;
        uint32_t id = 0;

        CHECK(facet_machine_watch_add(m, &rows[i].watch, &id, NULL) == FACET_OK);
        stop = run_for(m, 100);
        CHECK_MSG((stop.reason == FACET_STOP_WATCHPOINT) == rows[i].hit,
                  "row %zu: %s",
                  i,
                  facet_stop_name(stop.reason));
        if (rows[i].hit) {
            CHECK_EQ(stop.core, rows[i].core);
            CHECK_EQ(stop.steps, rows[i].steps);
            CHECK_EQ(stop.address, rows[i].address);
            CHECK_EQ(stop.point, id);
            CHECK_EQ(run_for(m, 3).reason == FACET_STOP_FAULT, false);
        }
        CHECK(facet_machine_point_remove(m, id, NULL) == FACET_OK);
        CHECK_EQ(run_for(m, 100).reason, FACET_STOP_BUDGET);
        facet_machine_destroy(m);
    }
}

/* A watchpoint has no pc: it must not be taken for a breakpoint at 0. */
TEST(watchpoints_are_no_breakpoints, "")
{
    struct facet_watch watch = {FACET_ANY_CORE, 0, 0x9000, 4, true, true};
    facet_machine *m = make_counters(&acc_ops);

    CHECK(facet_machine_break_add(m, 1, 0, NULL, NULL) == FACET_OK);
    CHECK(facet_machine_watch_add(m, &watch, NULL, NULL) == FACET_OK);
    CHECK_EQ(run_for(m, 100).reason, FACET_STOP_BUDGET);
    facet_machine_destroy(m);
}

static unsigned run_calls;

static void count_run(void *self, uint64_t budget, struct facet_stop *stop)
{
    run_calls++;
    acc_ops.run(self, budget, stop);
}

/* What asked the machine to stop is forgotten when it goes on: it runs at full speed again. */
TEST(a_stop_does_not_linger, "")
{
    struct facet_machine_ops ops = acc_ops;
    struct facet_watch watch = {FACET_ANY_CORE, 0, 0x1000, 4, true, false};
    facet_machine *m;
    uint32_t id;

    ops.run = count_run;
    m = make_counters(&ops);
    CHECK(facet_machine_watch_add(m, &watch, &id, NULL) == FACET_OK);
    CHECK_EQ(run_for(m, 100).reason, FACET_STOP_WATCHPOINT);
    CHECK(facet_machine_point_remove(m, id, NULL) == FACET_OK);
    run_calls = 0;
    CHECK_EQ(run_for(m, 1000).steps, 1000);
    CHECK_EQ(run_calls, 1);
    facet_machine_destroy(m);
}

TEST(a_watched_exit_is_told_first_as_watchpoint, "")
{
    static const uint32_t code[] = {ACC_ST(0x1000), ACC_LD(0x7000000)};
    struct facet_watch watch = {FACET_ANY_CORE, 0, 0x1000, 4, false, true};
    facet_machine *m = make(&acc_ops);
    struct facet_stop stop;

    put_words(m, 0, code, 2);
    put_words(m, ACC_CODE1, code + 1, 1);
    CHECK(facet_machine_watch_add(m, &watch, NULL, NULL) == FACET_OK);
    facet_machine_step(m, &stop);
    CHECK(stop.reason == FACET_STOP_WATCHPOINT && stop.steps == 1);
    CHECK_EQ(run_for(m, 10).reason, FACET_STOP_FAULT);
    facet_machine_destroy(m);
}

TEST(points_are_checked_when_added, "")
{
    facet_machine *m = make(&acc_ops);
    struct facet_watch watch = {FACET_ANY_CORE, 0, 0x1000, 0, true, true};
    struct facet_error err;
    uint32_t id = 77;

    CHECK(facet_machine_break_add(m, 2, 0, &id, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "no core 2, expected 0..1");
    CHECK(facet_machine_watch_add(m, &watch, &id, &err) == FACET_ERR_USAGE); /* no bytes */
    watch.size = 4;
    watch.on_read = watch.on_write = false;
    CHECK(facet_machine_watch_add(m, &watch, &id, &err) == FACET_ERR_USAGE);
    watch.on_read = true;
    watch.space = 2;
    CHECK(facet_machine_watch_add(m, &watch, &id, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "no address space 2");
    failing_alloc_after(0);
    CHECK(facet_machine_break_add(m, 0, 0, &id, &err) == FACET_ERR_MEMORY);
    failing_alloc_after(-1);
    CHECK_EQ(id, 77);
    CHECK(facet_machine_point_remove(m, 1, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "no breakpoint or watchpoint 1");
    facet_machine_destroy(m);
}

static void *interrupt_later(void *argument)
{
    struct timespec t = {0, 20000000};

    nanosleep(&t, NULL);
    facet_machine_interrupt(argument);
    return NULL;
}

TEST(interruption_from_another_thread, "")
{
    for (size_t k = 0; k < 2 * COUNT(both); k++) {
        facet_machine *m = make_counters(both[k % 2]);
        struct facet_stop stop;
        pthread_t thread;

        if (k >= 2) {
            CHECK(facet_machine_break_add(m, 0, 0x4000, NULL, NULL) == FACET_OK);
        }
        facet_machine_interrupt(m); /* before the run: it returns at once */
        stop = run_for(m, UINT64_MAX);
        CHECK(stop.reason == FACET_STOP_REQUEST && stop.steps == 0);
        CHECK(pthread_create(&thread, NULL, interrupt_later, m) == 0);
        stop = run_for(m, UINT64_MAX);
        CHECK(stop.reason == FACET_STOP_REQUEST && stop.steps > 0);
        pthread_join(thread, NULL);
        facet_machine_destroy(m);
    }
}

/* Says yes when it is asked for the last time of a count. */
static bool countdown(void *context)
{
    int *left = context;

    return --*left == 0;
}

TEST(the_run_asks_whether_to_end, "")
{
    for (size_t k = 0; k < COUNT(both); k++) {
        facet_machine *m = make_counters(both[k]);
        struct facet_stop stop;
        uint64_t first;
        int left = 1;

        facet_machine_poll(m, countdown, &left, 0);
        stop = run_for(m, UINT64_MAX);
        first = stop.steps;
        CHECK(stop.reason == FACET_STOP_REQUEST && first > 0 && left == 0);
        left = 3;
        stop = run_for(m, UINT64_MAX);
        CHECK(stop.reason == FACET_STOP_REQUEST && stop.steps == 3 * first && left == 0);
        left = 2; /* `every` more work than one question stands for */
        facet_machine_poll(m, countdown, &left, UINT64_MAX / 2);
        stop = run_for(m, 5 * first);
        CHECK(stop.reason == FACET_STOP_BUDGET && left == 2);
        facet_machine_poll(m, NULL, NULL, 0);
        stop = run_for(m, 5 * first);
        CHECK(stop.reason == FACET_STOP_BUDGET && stop.steps == 5 * first);
        facet_machine_destroy(m);
    }
}

TEST(a_machine_that_does_nothing_cannot_hang_the_caller, "")
{
    facet_machine *m = make(&acc_stuck_ops);
    struct facet_stop stop = run_for(m, UINT64_MAX);

    CHECK(stop.reason == FACET_STOP_FAULT && stop.steps == 0);
    facet_machine_destroy(m);
}
