/* The --lint options of `facet run` and of the tile commands: findings as text and as JSON. */
#ifndef FACET_SESSION_LINT_H
#define FACET_SESSION_LINT_H

#include "command/command.h"

#include "lint/lint.h"
#include "object/object.h"

#include <jansson.h>

/* clang-format off */
#define LINT_REPORT_SWITCHES                                                                       \
    {"lint", 0, NULL, "name what runs and is wrong by the contract, on standard error"},           \
    {"lint-error", 0, NULL, "as --lint, and exit code 1 when there is a finding"}
#define LINT_REPORT_OPTIONS                                                                        \
    LINT_REPORT_SWITCHES,                                                                          \
    {"lint-rules", 0, NULL, "print the rules of --lint and the rows that they enforce, and end"}
/* clang-format on */

/* All zero: no --lint. */
struct lint_report {
    const struct cli_args *args;
    facet_machine *machine;
    facet_lint *lint;
    /* The line of positional[0] for an address, 0 where it is not known; NULL: no lines. */
    unsigned (*line_of)(const void *context, uint64_t address);
    const void *lines;
    const char *title; /* in front of each line: which of several programs; may be NULL */
};

/* Makes the linter when an option asks for one; false after a complaint. */
bool lint_report_start(struct lint_report *report,
                       const struct cli_args *args,
                       facet_machine *machine);
void lint_report_free(struct lint_report *report);
/* NULL without --lint. */
const struct facet_observer *lint_report_observer(const struct lint_report *report);

/* After the run. `program` may be NULL: no symbols then. */
void lint_report_print(const struct lint_report *report, const struct facet_object *program);
/* Adds "lint" to the object, if there is a linter. */
void lint_report_json(const struct lint_report *report,
                      const struct facet_object *program,
                      json_t *result);
/* --lint-error was given and there are findings. */
bool lint_report_fails(const struct lint_report *report);

/* --lint-rules: those of one machine. */
int lint_report_rules(const struct cli_args *args, enum facet_lint_machine machine);

#endif
