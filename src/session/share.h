/* Options of commands whose work is shared (share/share.h): parts for `facet join`, a journal, and
 * the processes of one mpirun. */
#ifndef FACET_SESSION_SHARE_H
#define FACET_SESSION_SHARE_H

#include "command/command.h"
#include "share/share.h"

#define SESSION_SHARE_OPTIONS(output)                                                              \
    {"part",                                                                                       \
     0,                                                                                            \
     "K/N",                                                                                        \
     CLI_GROUP("Sharing") "compute part K of N only, and write it to the file of " output          \
                          ": facet join makes the result of all parts"},                           \
    {                                                                                              \
        "resume", 0, "FILE",                                                                       \
            "remember there what is done, and go on from it; processes may share it"               \
    }

struct session_share {
    struct facet_share share;
    bool wanted; /* false: all is done by this process, and nothing is remembered */
    unsigned rank;
    char journal[4096];
};

/* Reads --part and --resume, and what mpirun says about this process. The complaint is printed when
 * it returns false. `out` must not move. */
bool session_share_read(const struct cli_args *args, struct session_share *out);
/* With --part, options that concern the result have nothing to do: says so and returns false. */
bool session_share_fits(const struct session_share *s,
                        const struct cli_args *args,
                        const char *const *of_result);
/* What the work is. `aside`: options that change no result, or name what `inputs` has the hashes
 * of, besides those that all commands have; ends with NULL. Takes inputs and frame. */
void session_share_describe(struct session_share *s,
                            const struct cli_args *args,
                            const char *const *aside,
                            json_t *inputs,
                            json_t *frame);
/* For facet_share_run: NULL when nothing is shared. */
struct facet_share *session_share_work(struct session_share *s);
/* Whether this process has no result to show: what it did is then told, and *code set. */
bool session_share_ends(const struct session_share *s, const struct cli_args *args, int *code);
/* Only one process of a job shows progress. */
bool session_share_quiet(const struct session_share *s, const struct cli_args *args);

#endif
