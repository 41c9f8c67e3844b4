/* The result of parts, whichever command they are of. */
#ifndef FACET_REPORT_JOIN_H
#define FACET_REPORT_JOIN_H

#include "command/command.h"

/* The operands are the parts. An exit code. */
int report_join(const struct cli_args *args);

#endif
