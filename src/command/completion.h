/* What the completion scripts of the three shells share. */
#ifndef FACET_COMMAND_COMPLETION_H
#define FACET_COMMAND_COMPLETION_H

#include "command/frame.h"

/* What a shell can offer for the argument of an option or for an operand. */
enum completion_kind {
    COMPLETE_NOTHING,
    COMPLETE_WORDS,
    COMPLETE_COMMANDS,
    COMPLETE_FOLDERS,
    COMPLETE_FILES
};

enum { COMPLETION_WORDS = 256 };

/* `words` receives the choices of COMPLETE_WORDS with spaces between them, else "". */
enum completion_kind
completion_of(const char *argument, size_t length, char words[COMPLETION_WORDS]);

void completion_zsh(void);
void completion_fish(void);

#endif
