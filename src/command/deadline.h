/* --max-seconds of every command: when the time is over the program ends, wherever it is, with a
 * message and exit code 124. No file appears that is not complete.
 *
 * Commands that run a machine have an option of that name in their own tables and do better: the
 * machine stops, they say where, and with --save they can continue there (stop.h). Until the
 * machine runs the common way holds for them too. */
#ifndef FACET_COMMAND_DEADLINE_H
#define FACET_COMMAND_DEADLINE_H

#include "command/command.h"

/* False after a complaint. */
bool cli_deadline_start(const struct cli_args *args);
/* Seconds that are left, below 0 after the end; HUGE_VAL without --max-seconds. */
double cli_deadline_left(void);

#endif
