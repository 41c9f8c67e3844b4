/* The files that a guest program may reach through semihosting: those below one folder. */
#ifndef FACET_SESSION_GUEST_FILES_H
#define FACET_SESSION_GUEST_FILES_H

#include "command/command.h"

#include <facet/xphmg.h>

#define SESSION_FILES_MAX 64

/* clang-format off */
#define SESSION_FILES_OPTIONS                                                                      \
    {"files", 0, "DIR", CLI_GROUP("Guest file")                                                    \
     "let the program open files below DIR by semihosting"},                                       \
    {"files-ro", 0, "DIR", "the same, but it may only read them"},                                 \
    {"files-quota", 0, "SIZE[,N]", "files below DIR may grow by SIZE bytes in all (k, M, G; "   \
                                   "default 1G), and N may be created (default 10000)"}
/* clang-format on */

struct session_files {
    int folder;           /* descriptor; -1: nothing granted */
    bool read_only;       /* --files-ro */
    uint64_t bytes_quota; /* --files-quota */
    uint64_t bytes_left;  /* of it: what files may still grow by */
    uint64_t files_left;  /* that may still be made */
    uint64_t refused;     /* calls, for these reasons */
    char first[192];      /* the first of them in words */
    struct guest_file {
        int fd; /* -1: free */
        bool append;
        char name[96]; /* for messages */
    } open[SESSION_FILES_MAX];
};

/* What the options above say; false after a complaint. */
bool session_files_open(struct session_files *files, const struct cli_args *args);
/* Tells in a line what was refused, if anything. */
void session_files_close(struct session_files *files, const struct cli_args *args);

/* For a machine's host, whose context is or begins with a struct session_files. Too large is
 * ENOSPC, read-only EROFS: their numbers mean the same to a guest's C library. */
extern const struct facet_xphmg_files session_files_calls;

/* Whether the program waits for input or has looked for it in vain. */
static inline bool session_wants_input(const facet_machine *machine)
{
    bool wants;

    return facet_xphmg_wants_input(machine, &wants, NULL) == FACET_OK && wants;
}

#endif
