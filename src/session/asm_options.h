/* What the commands that assemble have in common: -D, -I and the folder beside the source. */
#ifndef FACET_SESSION_ASM_OPTIONS_H
#define FACET_SESSION_ASM_OPTIONS_H

#include "command/command.h"

#include "assembler/assemble.h"

/* clang-format off */
#define SESSION_ASM_OPTIONS                                                                        \
    {"define", 'D', "NAME=VALUE", "define a symbol; without =VALUE it is 1; repeatable"},          \
    {"include", 'I', "DIR", "folder where .include looks, after the source's own; repeatable"}
/* clang-format on */

struct session_asm {
    struct facet_asm_define defines[CLI_MAX_VALUES];
    char *names[CLI_MAX_VALUES];
    const char *folders[CLI_MAX_VALUES + 1];
    char beside[4096]; /* the folder of the source */
};

/* Fills file, defines and include folders of the assembler's options from the command's; `path` is
 * the source, - for standard input, which has no folder. Prints a complaint and returns false for a
 * bad -D. Free in every case. */
bool session_asm_read(struct session_asm *own,
                      const struct cli_args *args,
                      const char *path,
                      struct facet_asm_options *options);
void session_asm_free(struct session_asm *own);

#endif
