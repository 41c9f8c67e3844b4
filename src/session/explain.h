/* Why a run stopped where it did, for the commands that run a machine: place, source line,
 * instruction, the registers that it reads and who wrote them, words of status. The run itself is
 * not watched: what led to the stop is looked at when the same steps are made a second time. */
#ifndef FACET_SESSION_EXPLAIN_H
#define FACET_SESSION_EXPLAIN_H

#include "command/command.h"

#include "debug/explain.h"

#include <jansson.h>
#include <stdio.h>

/* All zero: nothing. */
struct session_explain {
    facet_machine *machine;
    struct facet_blob start; /* the state before the run; data NULL: it cannot be repeated */
    uint64_t first;          /* its steps */
    struct facet_symbols symbols;
    facet_writes *writes;
    struct facet_explain how;
};

/* Before the run. `program` may be NULL: no names then. `repeats`: the machine asks nothing of the
 * host, so that its steps can be made again. false after a complaint. */
bool session_explain_start(struct session_explain *e,
                           const struct cli_args *args,
                           facet_machine *machine,
                           enum facet_isa isa,
                           struct facet_object *program,
                           bool repeats);
void session_explain_free(struct session_explain *e);
/* After the run, when everything else of the machine has been written: makes the last steps again
 * and leaves the machine where it was, also when it could not continue there (`ended`). */
void session_explain_look(struct session_explain *e, bool ended);
/* The same for a machine that is at its first step again: on to the last one. */
void session_explain_watch(struct session_explain *e, uint64_t last);
/* Whether so many steps are made a second time. */
bool session_explain_short(uint64_t first, uint64_t last);
/* "0x80000004 <loop+4> kernel.s:7", valid until the next call. */
const char *session_explain_place(const struct session_explain *e, uint64_t pc);
/* The registers and words of status, a line each. */
void session_explain_print(const struct session_explain *e, FILE *out, uint32_t core, uint64_t pc);
/* The same and the place as an object; NULL without memory. */
json_t *session_explain_json(const struct session_explain *e, uint32_t core, uint64_t pc);

#endif
