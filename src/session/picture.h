/* The picture that a guest program shows in its framebuffer, as a file. */
#ifndef FACET_SESSION_PICTURE_H
#define FACET_SESSION_PICTURE_H

#include "command/command.h"

#include <facet/xphmg.h>

/* Whether the name ends as session_picture_write requires and can be written; reports it otherwise.
 */
bool session_picture_check(const struct cli_args *args, const char *path);
/* Writes .png, .pfm or .exr; complains and returns false when the guest shows nothing, or when its
 * registers point where there is no memory. */
bool session_picture_write(const struct cli_args *args,
                           const facet_machine *machine,
                           const char *path);

#endif
