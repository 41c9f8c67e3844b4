/* Files that commands write: asked before the work whether they can be written and replace nothing
 * that the command reads. */
#ifndef FACET_COMMAND_OUTPUT_H
#define FACET_COMMAND_OUTPUT_H

#include "command/command.h"

/* true for "-": standard input or output. */
bool cli_is_stream(const char *path);
/* Any case. */
bool cli_ends_with(const char *path, const char *ending);

/* Whether a file can appear under this name; the complaint is printed when it returns false. What
 * else may go wrong (a full disk) shows when it is written. NULL (absent) can always be written. */
bool cli_can_write(const struct cli_args *args, const char *path);
/* Whether writing `output` would replace the file `other`, which is `what` ("the input"); the
 * complaint is printed when it returns true. Both may be NULL (absent) or "-" (a stream). */
bool cli_would_replace(const struct cli_args *args,
                       const char *output,
                       const char *other,
                       const char *what);

#endif
