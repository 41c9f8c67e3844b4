/* --dump-state: the registers and CSRs of a core when a run is over. */
#ifndef FACET_SESSION_STATE_DUMP_H
#define FACET_SESSION_STATE_DUMP_H

#include <facet/machine.h>
#include <jansson.h>

/* On standard error: x, f, pc and privilege four in a line; predicates, matrices and CSRs that are
 * not zero. */
void session_state_print(const facet_machine *machine, uint32_t core);
/* {"name", "registers", "csrs"}, all of them. */
json_t *session_state_json(const facet_machine *machine, uint32_t core);

#endif
