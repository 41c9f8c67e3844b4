/* The command `facet profile show`. */
#ifndef FACET_PROFILE_SHOW_H
#define FACET_PROFILE_SHOW_H

#include "command/command.h"

/* The operand is a file of --profile-out. Gives the exit code. */
int profile_show(const struct cli_args *args);

#endif
