/* What the last test run said about the requirement rows: the result files that tests leave behind
 * (docs/testing.md), lines `suite case pass|fail|skip ids` separated by tabs. */
#ifndef FACET_CARDS_RESULTS_H
#define FACET_CARDS_RESULTS_H

#include "base/error.h"
#include "isa/table.h"

enum facet_outcome {
    FACET_OUTCOME_NONE,
    FACET_OUTCOME_SKIP,
    FACET_OUTCOME_PASS,
    FACET_OUTCOME_FAIL
};
extern const char *const facet_outcome_name[4]; /* "none", "skip", "pass", "fail" */

struct facet_test {
    const char *suite; /* "test_rt" */
    const char *name;  /* of the case; "case[row]" for a row of its table */
    enum facet_outcome outcome;
};

struct facet_results; /* opaque; NULL stands for "no results" in every function below */

/* Reads all files *.tsv of the folder. *out is NULL when there is no such folder, which is not an
 * error. */
enum facet_status
facet_results_read(const char *folder, struct facet_results **out, struct facet_error *err);
void facet_results_free(struct facet_results *results);
/* "test-results" beside the running program, where `make test` writes. */
void facet_results_folder(char *buf, size_t size);

/* The n-th test that names the row, in the order of the files; NULL past the last. */
const struct facet_test *facet_results_test(const struct facet_results *results,
                                            const struct facet_requirement_row *row,
                                            size_t n);
/* FAIL when one of them failed, else PASS when one passed, else SKIP; NONE when there is none. */
enum facet_outcome facet_results_outcome(const struct facet_results *results,
                                         const struct facet_requirement_row *row);
/* Whether a test that passed names the row. */
bool facet_results_prove(const struct facet_results *results,
                         const struct facet_requirement_row *row);
/* IDs that a result names and no row has: the n-th one and the test that names it. */
const char *facet_results_unknown(const struct facet_results *results,
                                  size_t n,
                                  const struct facet_test **test);

#endif
