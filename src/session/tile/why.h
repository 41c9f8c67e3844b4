/* `facet tile why`: what the commands of a list did to one pixel. */
#ifndef FACET_SESSION_TILE_WHY_H
#define FACET_SESSION_TILE_WHY_H

#include "command/command.h"

/* The whole command. */
int session_tile_why(const struct cli_args *args);

#endif
