/* The option --cover of commands that run a machine, and the files of `facet cover`. */
#ifndef FACET_SESSION_COVER_H
#define FACET_SESSION_COVER_H

#include "command/command.h"

#include "base/file.h"
#include "cover/cover.h"
#include "debug/tee.h"

/* clang-format off */
#define SESSION_COVER_OPTION                                                                       \
    {"cover", 0, "FILE", CLI_GROUP("Coverage")                                                     \
     "count instructions, flags, traps and CSRs of the run, for facet cover"}
/* clang-format on */

/* All zero: no --cover. */
struct session_cover {
    const struct cli_args *args;
    const char *path;
    facet_machine *machine;
    cover_collector *collector;
    struct facet_tee both;
    char *text; /* of the file, when the run is over */
    struct facet_file_part part;
};

/* Makes the collector when the option asks for one; false after a complaint. */
bool session_cover_start(struct session_cover *cover,
                         const struct cli_args *args,
                         facet_machine *machine,
                         enum facet_isa isa);
void session_cover_free(struct session_cover *cover);
/* The collector's and another one's; either may be NULL. Lives as long as the cover. */
const struct facet_observer *session_cover_observer(struct session_cover *cover,
                                                    const struct facet_observer *other);
/* After the run: makes the text of the file; false after a complaint. */
bool session_cover_finish(struct session_cover *cover);
/* The file, to be written together with others; NULL without --cover. */
const struct facet_file_part *session_cover_part(const struct session_cover *cover);

/* The commands: the operands are files of --cover. */
int session_cover_merge(const struct cli_args *args);
int session_cover_report(const struct cli_args *args);

#endif
