/* What the completion scripts of the three shells share. */
#ifndef FACET_COMMAND_COMPLETION_H
#define FACET_COMMAND_COMPLETION_H

#include "command/frame.h"

/* What a shell can offer for the argument of an option or for an operand. */
enum cli_completion_kind {
    CLI_COMPLETE_NOTHING,
    CLI_COMPLETE_WORDS,
    CLI_COMPLETE_COMMANDS,
    CLI_COMPLETE_FOLDERS,
    CLI_COMPLETE_FILES
};

enum { CLI_COMPLETION_WORDS = 256 };

/* `words` receives the choices of CLI_COMPLETE_WORDS with spaces between them, else "". */
enum cli_completion_kind
cli_completion_of(const char *argument, size_t length, char words[CLI_COMPLETION_WORDS]);

void cli_completion_zsh(void);
void cli_completion_fish(void);

#endif
