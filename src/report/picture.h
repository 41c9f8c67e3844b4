/* `facet render IMAGE`: a look at a BVH image. */
#ifndef FACET_REPORT_PICTURE_H
#define FACET_REPORT_PICTURE_H

#include "command/command.h"

/* Whether the operand is no file of a scene, by its name. */
bool report_picture_wanted(const struct cli_args *args);
/* Draws, writes and tells; returns the exit code. */
int report_picture(const struct cli_args *args);

#endif
