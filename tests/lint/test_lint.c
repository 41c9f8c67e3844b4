/* The table of lint rules names rows that the contract has, a linter leaves no trace, jobs keep
 * their bytes. The rules themselves: test_lint_rules.py. */
#include "harness.h"

#include "isa/table.h"
#include "lint/jobs.h"
#include "lint/lint.h"

#include <facet/tile.h>
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

    lint_jobs_begin(&jobs, LINT_QUEUE_RT, 0x1000);
    for (uint64_t i = 0; i < PAGES; i++) {
        lint_jobs_note(&jobs, i * PAGE + PAGE - 2, 4, true);
    }
    lint_jobs_note(&jobs, UINT64_MAX, 1, false);
    CHECK(lint_jobs_disturbed(&jobs, PAGE - 2, 1, false, LINT_QUEUES) == NULL); /* not submitted */
    lint_jobs_submitted(&jobs, 7);
    for (uint64_t i = 0; i < PAGES; i++) {
        CHECK(lint_jobs_disturbed(&jobs, i * PAGE + PAGE + 1, 1, false, LINT_QUEUES) != NULL);
        CHECK(lint_jobs_disturbed(&jobs, i * PAGE + PAGE - 3, 1, true, LINT_QUEUES) == NULL);
        CHECK(lint_jobs_disturbed(&jobs, i * PAGE + PAGE - 3, 2, true, LINT_QUEUES) != NULL);
        CHECK(lint_jobs_disturbed(&jobs, i * PAGE + PAGE + 2, 8, true, LINT_QUEUES) == NULL);
    }
    CHECK(lint_jobs_disturbed(&jobs, UINT64_MAX, 1, false, LINT_QUEUES) == NULL);
    CHECK(lint_jobs_disturbed(&jobs, UINT64_MAX, 1, true, LINT_QUEUES) != NULL);
    CHECK(lint_jobs_disturbed(&jobs, PAGE, 1, false, LINT_QUEUE_RT) == NULL);
    CHECK(lint_jobs_disturbed(&jobs, PAGE, 1, false, LINT_QUEUE_MTX) != NULL);
    lint_jobs_wait(&jobs, LINT_QUEUE_MTX, UINT64_MAX);
    lint_jobs_wait(&jobs, LINT_QUEUE_RT, 6);
    CHECK_EQ(jobs.count, 1);
    lint_jobs_wait(&jobs, LINT_QUEUE_RT, 7);
    CHECK_EQ(jobs.count, 0);
    lint_jobs_begin(&jobs, LINT_QUEUE_RT, 0x1000);
    lint_jobs_refused(&jobs);
    CHECK_EQ(jobs.count, 0);
    CHECK(!jobs.failed);
    for (uint64_t i = 0; i < 1000; i++) { /* a program that never waits */
        lint_jobs_begin(&jobs, LINT_QUEUE_MTX, i);
        lint_jobs_submitted(&jobs, i);
    }
    CHECK(jobs.count < 1000);
    lint_jobs_free(&jobs);
}
