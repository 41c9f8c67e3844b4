/* What the commands that run a machine have in common: breakpoints, --resume, the loop around the
 * machine, and how it ended. */
#ifndef FACET_SESSION_STEPS_H
#define FACET_SESSION_STEPS_H

#include "session/trace.h"

/* Sets the breakpoints of --break. `find` makes an address of each text, and `expected` says what
 * it takes. false after a complaint. */
bool session_breakpoints(const struct cli_args *args,
                         facet_machine *machine,
                         bool (*find)(const void *context, const char *text, uint64_t *address),
                         const void *context,
                         const char *expected);

/* The machine of the options continues where the one of --save stood, whose file has at most so
 * many bytes. false after a complaint. */
bool session_resume(const struct cli_args *args, facet_machine *machine, size_t limit);

/* Writes what session_resume reads. */
enum facet_status
session_save(const facet_machine *machine, const char *path, struct facet_error *err);

/* Runs until the machine stops by itself, --steps or the time are over, a signal comes, or the
 * trace cannot be written. false after a complaint. */
bool session_steps(const struct cli_args *args,
                   facet_machine *machine,
                   struct session_trace *trace,
                   struct facet_stop *stop);

/* How such a run ended, in a word, and as an exit code. */
const char *session_result(const struct facet_stop *stop);
int session_exit_code(const struct facet_stop *stop);

#endif
