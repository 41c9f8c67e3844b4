/* What a machine has under way (facet_machine_work), for people and for programs. */
#ifndef FACET_SESSION_WORK_LIST_H
#define FACET_SESSION_WORK_LIST_H

#include "json/json.h"

#include <facet/machine.h>
#include <stdio.h>

/* A line for each; nothing when there is none. */
void session_work_print(const facet_machine *machine, FILE *out);
/* An array of {hart, unit, id, address, steps_left}. */
json_t *session_work_json(const facet_machine *machine);

#endif
