/* The table of lint rules names rows that the contract has, a linter leaves no trace, jobs keep
 * their bytes. The rules themselves: test_lint_rules.py. */
#include "harness.h"

#include "base/bits.h"
#include "isa/isa.h"
#include "lint/jobs.h"
#include "lint/lint.h"

#include <facet/tile.h>
#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

static bool is_row(const char *id)
{
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        if (strcmp(facet_requirement_rows[i].id, id) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < facet_resolution_row_count; i++) {
        if (strcmp(facet_resolution_rows[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

TEST(every_rule_names_rows_of_the_contract, "")
{
    for (int i = 0; i < FACET_LINT_COUNT; i++) {
        int count = 0;

        for (int m = 0; m < FACET_LINT_MACHINES; m++) {
            char rows[64] = "";

            CHECK(strlen(facet_lint_rules[i].rows[m]) < sizeof rows);
            (void)strncpy(rows, facet_lint_rules[i].rows[m], sizeof rows - 1);
            for (char *id = strtok(rows, " "); id != NULL; id = strtok(NULL, " ")) {
                CHECK_MSG(is_row(id), "%s names %s", facet_lint_rules[i].name, id);
                count++;
            }
        }
        CHECK_MSG(count > 0, "%s names no row", facet_lint_rules[i].name);
    }
}

TEST(names_of_rules_are_unique, "")
{
    for (int i = 0; i < FACET_LINT_COUNT; i++) {
        for (int k = 0; k < i; k++) {
            CHECK(strcmp(facet_lint_rules[i].name, facet_lint_rules[k].name) != 0);
        }
    }
}

/* Listening must leave the machine as it was. */
TEST(a_linter_comes_and_goes, "")
{
    struct facet_tile_config config = {.vram = 1 << 16, .threads = 2};
    facet_machine *machine = NULL;
    facet_lint *lint = NULL;

    CHECK_EQ(facet_tile_create(&config, &machine, NULL), FACET_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(facet_lint_create(machine, &lint, NULL), FACET_OK);
        facet_machine_observe(machine, facet_lint_observer(lint));
        facet_lint_finish(lint);
        CHECK_EQ(facet_lint_count(lint), 0);
        CHECK(!facet_lint_failed(lint));
        facet_machine_observe(machine, NULL);
        facet_lint_destroy(lint);
    }
    facet_machine_destroy(machine);
    facet_lint_destroy(NULL);
}

/* Bytes of jobs, on both sides of pages and over more pages than the table starts with. */
TEST(a_job_keeps_its_bytes, "")
{
    enum { PAGES = 100, PAGE = 4096 };
    struct lint_jobs jobs = {0};

    facet_lint_jobs_begin(&jobs, (struct lint_submission){0, 0x1000, FACET_QUEUE_RT, false});
    for (uint64_t i = 0; i < PAGES; i++) {
        facet_lint_jobs_note(&jobs, i * PAGE + PAGE - 2, 4, true);
    }
    facet_lint_jobs_note(&jobs, UINT64_MAX, 1, false);
    CHECK(facet_lint_jobs_disturbed(&jobs, PAGE - 2, 1, false, LINT_NO_QUEUE) ==
          NULL); /* not submitted */
    facet_lint_jobs_submitted(&jobs, 7);
    for (uint64_t i = 0; i < PAGES; i++) {
        CHECK(facet_lint_jobs_disturbed(&jobs, i * PAGE + PAGE + 1, 1, false, LINT_NO_QUEUE) !=
              NULL);
        CHECK(facet_lint_jobs_disturbed(&jobs, i * PAGE + PAGE - 3, 1, true, LINT_NO_QUEUE) ==
              NULL);
        CHECK(facet_lint_jobs_disturbed(&jobs, i * PAGE + PAGE - 3, 2, true, LINT_NO_QUEUE) !=
              NULL);
        CHECK(facet_lint_jobs_disturbed(&jobs, i * PAGE + PAGE + 2, 8, true, LINT_NO_QUEUE) ==
              NULL);
    }
    CHECK(facet_lint_jobs_disturbed(&jobs, UINT64_MAX, 1, false, LINT_NO_QUEUE) == NULL);
    CHECK(facet_lint_jobs_disturbed(&jobs, UINT64_MAX, 1, true, LINT_NO_QUEUE) != NULL);
    CHECK(facet_lint_jobs_disturbed(&jobs, PAGE, 1, false, FACET_QUEUE_RT) == NULL);
    CHECK(facet_lint_jobs_disturbed(&jobs, PAGE, 1, false, FACET_QUEUE_MTX) != NULL);
    facet_lint_jobs_wait(&jobs, FACET_QUEUE_MTX, UINT64_MAX);
    facet_lint_jobs_wait(&jobs, FACET_QUEUE_RT, 6);
    CHECK_EQ(jobs.count, 1);
    facet_lint_jobs_wait(&jobs, FACET_QUEUE_RT, 7);
    CHECK_EQ(jobs.count, 0);
    facet_lint_jobs_begin(&jobs, (struct lint_submission){0, 0x1000, FACET_QUEUE_RT, false});
    facet_lint_jobs_refused(&jobs);
    CHECK_EQ(jobs.count, 0);
    CHECK(!jobs.failed);
    for (uint64_t i = 0; i < 1000; i++) { /* a program that never waits */
        facet_lint_jobs_begin(&jobs, (struct lint_submission){0, i, FACET_QUEUE_MTX, false});
        facet_lint_jobs_submitted(&jobs, i);
    }
    CHECK(jobs.count < 1000);
    facet_lint_jobs_free(&jobs);
}

/* A fence ends the jobs of its hart, and what went into the same queue before them. */
TEST(a_fence_ends_jobs_of_its_hart, "XM-153 XM-157")
{
    static const struct lint_submission by[] = {
        {1, 0, FACET_QUEUE_MTX, false},
        {0, 1, FACET_QUEUE_COPY, false},
        {0, 2, FACET_QUEUE_MTX, false},
        {0, 3, FACET_QUEUE_COPY, true},
        {1, 4, FACET_QUEUE_MTX, false},
        {0, 5, FACET_QUEUE_RT, false},
        {0, 6, FACET_QUEUE_COPY, false},
    };
    static const struct {
        uint32_t hart;
        uint64_t sets, left; /* left: a bit for each of by[] */
    } fences[] = {
        {0, 0, 0x7F},
        {0, FACET_JOBS_MTX, 0x7A},
        {1, FACET_JOBS_MTX, 0x6A},
        {1, FACET_JOBS_RT | FACET_JOBS_COPY | FACET_JOBS_LDS, 0x7F},
        {0, FACET_JOBS_LDS, 0x75},
        {0, FACET_JOBS_COPY, 0x35},
        {0, FACET_JOBS_RT | FACET_JOBS_MTX | FACET_JOBS_COPY, 0x10},
    };

    for (size_t f = 0; f < sizeof fences / sizeof fences[0]; f++) {
        struct lint_jobs jobs = {0};
        uint64_t left = 0;

        for (size_t i = 0; i < sizeof by / sizeof by[0]; i++) {
            facet_lint_jobs_begin(&jobs, by[i]);
            facet_lint_jobs_submitted(&jobs, i);
        }
        facet_lint_jobs_fence(&jobs, fences[f].hart, fences[f].sets);
        for (size_t i = 0; i < jobs.count; i++) {
            left |= UINT64_C(1) << jobs.job[i].by.pc;
        }
        CHECK_EQ(left, fences[f].left);
        facet_lint_jobs_free(&jobs);
    }
}

/* Instructions of all rows with random operands. */
static void random_code(enum facet_isa isa, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 4) {
        const struct facet_insn_row *row =
            &facet_isa_rows[isa][harness_random() % facet_isa_row_count[isa]];

        facet_store_le32(bytes + i, row->match | ((uint32_t)harness_random() & ~row->mask));
    }
}

/* What a linter sees of a program that makes no sense changes nothing and breaks nothing. */
static void run_watched(facet_machine *machine, facet_machine *alone, uint64_t steps)
{
    const struct facet_run run = {.budget = steps};
    struct facet_stop stop, other;
    facet_lint *lint = NULL;

    CHECK_EQ(facet_lint_create(machine, &lint, NULL), FACET_OK);
    facet_machine_observe(machine, facet_lint_observer(lint));
    facet_machine_run(machine, &run, &stop);
    facet_machine_run(alone, &run, &other);
    facet_lint_finish(lint);
    CHECK_EQ(stop.reason, other.reason);
    CHECK_EQ(stop.steps, other.steps);
    CHECK_EQ(stop.pc, other.pc);
    CHECK(!facet_lint_failed(lint));
    for (size_t i = 1; i < facet_lint_count(lint); i++) {
        const struct facet_lint_finding *a = facet_lint_at(lint, i - 1),
                                        *b = facet_lint_at(lint, i);

        CHECK(a->pc < b->pc || (a->pc == b->pc && a->rule < b->rule));
    }
    facet_machine_observe(machine, NULL);
    facet_lint_destroy(lint);
}

/* Registers that point into memory, so that accesses do something. */
static void set_registers(facet_machine *machine, uint64_t base, uint64_t seed)
{
    for (uint32_t core = 0; core < facet_machine_core_count(machine); core++) {
        for (uint32_t reg = 1; reg < 32; reg++) {
            struct facet_value value = {base + (seed >> 40) % 0x8000 / 64 * 64, 0};

            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            CHECK_EQ(facet_machine_reg_write(machine, core, reg, value, NULL), FACET_OK);
        }
    }
}

enum { BASE = 0x80000000, BYTES = 1 << 14, STEPS = 3000 };
static uint8_t code[BYTES];

static facet_machine *make_hart(uint64_t seed)
{
    const struct facet_xphmg_config config = {
        .harts = 2, .ram_bytes = 1 << 20, .no_semihosting = true};
    struct facet_value vector = {BASE + seed % BYTES / 4 * 4, 0};
    facet_machine *machine = NULL;

    CHECK_EQ(facet_xphmg_create(&config, &machine, NULL), FACET_OK);
    CHECK_EQ(facet_machine_write(machine, 0, BASE, code, BYTES, NULL), FACET_OK);
    set_registers(machine, BASE + BYTES, seed);
    for (uint32_t core = 0; core < 2; core++) {
        uint32_t mtvec = facet_machine_find_csr(machine, core, "mtvec");

        CHECK_EQ(facet_machine_reg_write(machine,
                                         core,
                                         facet_machine_core(machine, core)->pc,
                                         (struct facet_value){BASE, 0},
                                         NULL),
                 FACET_OK);
        CHECK_EQ(facet_machine_csr_write(machine, core, mtvec, vector, NULL, NULL), FACET_OK);
    }
    return machine;
}

static facet_machine *make_tile(uint64_t seed)
{
    const struct facet_tile_config config = {.vram = 1 << 20};
    const struct facet_tile_packet packet = {.pc = BASE,
                                             .columns = 4,
                                             .rows = 2,
                                             .arg_base = BASE + BYTES,
                                             .arg_size = 16,
                                             .shared_size = 256};
    facet_machine *machine = NULL;

    CHECK_EQ(facet_tile_create(&config, &machine, NULL), FACET_OK);
    CHECK_EQ(facet_machine_write(machine, 0, BASE, code, BYTES, NULL), FACET_OK);
    CHECK_EQ(facet_tile_dispatch(machine, &packet, NULL), FACET_OK);
    set_registers(machine, BASE + BYTES, seed);
    return machine;
}

static void run_random(enum facet_isa isa, facet_machine *(*make)(uint64_t seed))
{
    for (int i = 0; i < (harness_long() ? 3000 : 100); i++) {
        uint64_t seed = harness_random();
        facet_machine *machine, *alone;

        random_code(isa, code, sizeof code);
        machine = make(seed);
        alone = make(seed);
        run_watched(machine, alone, STEPS);
        facet_machine_destroy(machine);
        facet_machine_destroy(alone);
    }
}

TEST(random_programs_of_the_hart, "")
{
    run_random(FACET_ISA_XPHMG, make_hart);
}

TEST(random_kernels, "")
{
    run_random(FACET_ISA_TILE, make_tile);
}
