/* The option --timing of commands that run a machine, and `facet timing show`. */
#ifndef FACET_SESSION_TIMING_OPTION_H
#define FACET_SESSION_TIMING_OPTION_H

#include "command/command.h"

#include "debug/tee.h"
#include "tile_list/list.h"
#include "timing/report_json.h"

#include <stdio.h>

/* clang-format off */
#define SESSION_TIMING_OPTION                                                                      \
    {"timing", 0, "FILE", CLI_GROUP("Time")                                                        \
     "estimate cycles by a timing model; default: that of facet timing show"}
/* clang-format on */

/* All zero: no --timing. */
struct session_timing {
    const struct cli_args *args;
    facet_machine *machine;
    timing_collector *collector;
    struct facet_tee both;
    size_t *index; /* of the list's commands */
    struct timing_names names;
};

/* Reads the model when the option asks for one; false after a complaint. `plan` is the command list
 * that runs, or NULL. */
bool session_timing_start(struct session_timing *timing,
                          const struct cli_args *args,
                          facet_machine *machine,
                          enum facet_isa isa,
                          const struct facet_tile_list *plan);
/* The collector's and another one's; either may be NULL. Lives as long as the timing. */
const struct facet_observer *session_timing_observer(struct session_timing *timing,
                                                     const struct facet_observer *other);
/* Right after the run; false after a complaint. */
bool session_timing_stop(struct session_timing *timing);
void session_timing_free(struct session_timing *timing);

/* What was found, if --timing asked: the member `timing` of the object, or text, which is false
 * after a complaint. */
void session_timing_json(const struct session_timing *timing, json_t *object);
bool session_timing_print(const struct session_timing *timing, FILE *out);

/* The command: without an operand the default. */
int session_timing_show(const struct cli_args *args);

#endif
