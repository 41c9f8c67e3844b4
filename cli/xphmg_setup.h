/* Options and first steps that the commands with an xphmg machine share. */
#ifndef FACET_CLI_XPHMG_SETUP_H
#define FACET_CLI_XPHMG_SETUP_H

#include "cli/command.h"

#include <facet/xphmg.h>

/* clang-format off */
#define XPHMG_SETUP_OPTIONS                                                                        \
    {"harts", 0, "N", "number of harts, 1 to 64 (default 1)"},                                     \
    {"ram", 0, "SIZE", "RAM at 0x80000000: bytes, or with k, M, G (default 128M)"},                \
    {"config", 0, "LIST", "full (default), min or prof, then KEY=N pairs: min,pmask_banks=4"},     \
    {"files", 0, "DIR", "let the program open files below DIR by semihosting"},                    \
    {"no-semihosting", 0, NULL, "EBREAK always traps"},                                            \
    {"no-cache", 0, NULL, "plain executor: same results, slower"}
/* clang-format on */

/* Fills in what the options say, the defaults included; prints the complaint and returns false
 * otherwise. `files` is the caller's business. */
bool xphmg_setup_config(const struct cli_args *args, struct facet_xphmg_config *config);
/* A machine with the program positional[first], which sees the words from there on as its command
 * line. */
enum facet_status xphmg_setup_load(const struct cli_args *args,
                                   int first,
                                   struct facet_xphmg_config *config,
                                   facet_machine **machine,
                                   struct facet_error *err);

#endif
