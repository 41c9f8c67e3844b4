/* The --lint options of `facet run` and of the tile commands: findings as text and as JSON. */
#ifndef FACET_SESSION_LINT_H
#define FACET_SESSION_LINT_H

#include "command/command.h"

#include "lint/lint.h"
#include "object/symbols.h"

#include <jansson.h>

/* clang-format off */
#define SESSION_LINT_SWITCHES                                                                      \
    {"lint", 0, NULL, CLI_GROUP("Lint")                                                            \
     "report violations of the contract that do not trap, on standard error"},                            \
    {"lint-error", 0, NULL, "as --lint, and exit code 1 when there is a finding"},                 \
    {"check-order", 0, NULL,                                                                       \
     "report races and reads of what is not there yet, with both places; exit code 1 for any"}
#define SESSION_LINT_OPTIONS                                                                       \
    SESSION_LINT_SWITCHES,                                                                         \
    {"lint-rules", 0, NULL, "print the rules of --lint and the rows that they enforce, and exit"}
/* clang-format on */

/* All zero: no --lint. */
struct session_lint {
    const struct cli_args *args;
    facet_machine *machine;
    facet_lint *lint;
    const struct facet_symbols *symbols; /* for the lines; NULL: none */
    const char *title; /* before each line: which of several programs; may be NULL */
};

/* Makes the linter when an option asks for one; false after a complaint. */
bool session_lint_start(struct session_lint *report,
                        const struct cli_args *args,
                        facet_machine *machine);
/* A picture that the run leaves (facet_lint_add_picture), if there is a linter. */
void session_lint_picture(struct session_lint *report, const struct facet_lint_picture *picture);
void session_lint_free(struct session_lint *report);
/* NULL without --lint. */
const struct facet_observer *session_lint_observer(const struct session_lint *report);

/* After the run. `program` may be NULL: no symbols then. */
void session_lint_print(const struct session_lint *report, const struct facet_object *program);
/* Adds "lint" to the object, if there is a linter. */
void session_lint_json(const struct session_lint *report,
                       const struct facet_object *program,
                       json_t *result);
/* --lint-error or --check-order was given and there are findings. */
bool session_lint_fails(const struct session_lint *report);

/* --lint-rules: those of one machine. */
int session_lint_rules(const struct cli_args *args, enum facet_lint_machine machine);

#endif
