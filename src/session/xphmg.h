/* Options and first steps that the commands with an xphmg machine share: a program with a
 * configuration, or a snapshot that carries both. */
#ifndef FACET_SESSION_XPHMG_H
#define FACET_SESSION_XPHMG_H

#include "session/guest_files.h"

#include "base/file.h"

#include <facet/xphmg.h>

/* clang-format off */
#define SESSION_XPHMG_OPTIONS                                                                      \
    {"resume", 0, "FILE", CLI_GROUP("xphmg machine")                                               \
     "continue from a snapshot of facet snapshot; without PROGRAM"},                                  \
    {"harts", 0, "N", "number of harts, 1 to 64 (default 1)"},                                     \
    {"ram", 0, "SIZE", "size of RAM: bytes, or with k, M, G (default 128M)"},                      \
    {"config", 0, "LIST|FILE", "full (default), min, prof or rv64, then KEY=VALUE pairs: "            \
                               "rv64,isa=rv64imac,pmp=0; or a .toml or .json file of them"},       \
    {"jobs", 0, "now|late[:SEED]", "jobs and asynchronous copies complete at once (default), or later: "\
                                   "as late as allowed, or after steps drawn from a seed"},        \
    {"profile", 0, "N", "begin in profile PN (--config prof has P0, P1 and P2; default P0)"},      \
    {"no-semihosting", 0, NULL, "EBREAK always traps"},                                            \
    {"job-threads", 0, "N", "host threads that share the rays of a job of XSUBMIT.RT (default 1, 0: "\
                            "all processors)"},                                                    \
    {"host-code", 0, "N", "code of the guest that is entered N times becomes code of the host (default 50, "\
                          "0: never)"},                                                            \
    {"no-cache", 0, NULL, "the same as --plain"},                                                  \
    SESSION_FILES_OPTIONS
/* clang-format on */

struct session_xphmg {
    facet_machine *machine;
    struct facet_xphmg_config config; /* that it was made with */
    struct facet_bytes program;       /* its file; no data after --resume */
    char *command_line;               /* texts of the configuration */
    char *configuration;
};

/* The machine of the options above (the files of the guest are the caller's business):
 * positional[0] loaded, which sees all positional words as its command line, or the snapshot of
 * --resume. Prints the complaint and returns false otherwise. End in every case. */
bool session_xphmg_start(struct session_xphmg *setup,
                         const struct cli_args *args,
                         struct facet_xphmg_host host);
void session_xphmg_end(struct session_xphmg *setup);

/* --config help: prints the keys; the exit code of the command. */
int session_xphmg_keys(void);

#endif
