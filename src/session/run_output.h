/* The files that `facet run` makes of memory when the program has stopped: --signature and
 * --dump-memory. Checked before the run, read and written after it, whatever ended it. */
#ifndef FACET_SESSION_RUN_OUTPUT_H
#define FACET_SESSION_RUN_OUTPUT_H

#include "command/command.h"

#include "base/file.h"
#include "object/object.h"

#include <facet/machine.h>

/* clang-format off */
#define SESSION_RUN_OUTPUT_OPTIONS                                                                 \
    {"signature", 0, "FILE", CLI_GROUP("Memory at the end")                                        \
     "write what lies from begin_signature to end_signature, as Spike and riscof do"},             \
    {"signature-granularity", 0, "4|8|16", "bytes in a line of it (default 4)"},                   \
    {"dump-memory", 0, "A..B=FILE",                                                                \
     "write the bytes from address or symbol A up to B; as words in text when FILE ends in "       \
     ".hex or .txt; repeatable"}
/* clang-format on */

struct session_run_output {
    const char *path;
    uint64_t first, size; /* bytes of memory */
    unsigned line;        /* bytes in a line of text; 0: no text */
};

struct session_run_outputs {
    struct session_run_output list[CLI_MAX_VALUES];
    int count;
};

/* Whether --trace and --framebuffer name neither the program, the snapshot nor each other; false
 * after a complaint. */
bool session_run_paths_differ(const struct cli_args *args);

/* The file that an option of reports names, --cover or --profile-out, can be written, and is none
 * that the run reads nor its trace; false after a complaint. */
bool session_run_report_check(const struct cli_args *args, const char *option);

/* Reads the options: memory that exists, places that can be written to, and no file that the
 * command reads or writes otherwise. false after a complaint. */
bool session_run_outputs_plan(struct session_run_outputs *outputs,
                              const struct cli_args *args,
                              const struct facet_object *program,
                              const facet_machine *machine);
/* Reports that are written together with the memory; those that are NULL are not there. */
enum { SESSION_RUN_REPORTS = 2 };
/* All together or none. false after a complaint. */
bool session_run_outputs_write(const struct session_run_outputs *outputs,
                               const struct cli_args *args,
                               const facet_machine *machine,
                               const struct facet_file_part *const reports[SESSION_RUN_REPORTS]);

#endif
