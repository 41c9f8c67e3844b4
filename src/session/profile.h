/* The option --profile-out of commands that run a machine. */
#ifndef FACET_SESSION_PROFILE_H
#define FACET_SESSION_PROFILE_H

#include "command/command.h"

#include "base/file.h"
#include "debug/tee.h"
#include "profile/calls.h"

/* clang-format off */
#define SESSION_PROFILE_OPTION                                                                     \
    {"profile-out", 0, "FILE", CLI_GROUP("Profile")                                                    \
     "count how often every instruction retires, for facet profile show"}
#define SESSION_PROFILE_CALLS_OPTION                                                               \
    {"profile-calls", 0, NULL,                                                                     \
     "with --profile-out: follow calls, for whole stacks in --folded; slower"}
/* clang-format on */

/* All zero: no --profile-out. */
struct session_profile {
    const struct cli_args *args;
    const char *path;
    facet_machine *machine;
    struct facet_counts counts;
    profile_calls *calls; /* --profile-calls */
    struct facet_tee both;
    char *text; /* of the file, when the run is over */
    struct facet_file_part part;
};

/* Counts from now on when the option asks for it; false after a complaint. `machine` NULL: whoever
 * runs it counts. */
bool session_profile_start(struct session_profile *profile,
                           const struct cli_args *args,
                           facet_machine *machine);
/* The same for a machine whose calls can be followed. */
bool session_profile_start_calls(struct session_profile *profile,
                                 const struct cli_args *args,
                                 facet_machine *machine,
                                 enum facet_isa isa);
/* Who follows the calls, in front of the other one; the other one (may be NULL) where nobody does.
 */
const struct facet_observer *session_profile_observer(struct session_profile *profile,
                                                      const struct facet_observer *other);
/* Right after the run: what the machine does later is not counted. */
void session_profile_stop(struct session_profile *profile);
/* Makes the text of the file; false after a complaint. */
bool session_profile_finish(struct session_profile *profile,
                            enum facet_isa isa,
                            const struct facet_symbols *symbols);
/* The same with the names and lines of a program (NULL: none). */
bool session_profile_finish_program(struct session_profile *profile,
                                    enum facet_isa isa,
                                    struct facet_object *program);
/* The same out of an ELF file (NULL: none). */
bool session_profile_finish_elf(struct session_profile *profile,
                                enum facet_isa isa,
                                const void *elf,
                                size_t size);
/* The file, to be written together with others; NULL without --profile-out. */
const struct facet_file_part *session_profile_part(const struct session_profile *profile);
void session_profile_free(struct session_profile *profile);

#endif
