/* `facet tile why`: what the commands of a list did to one pixel; and the form of such a history
 * for other commands. */
#ifndef FACET_SESSION_TILE_WHY_H
#define FACET_SESSION_TILE_WHY_H

#include "command/command.h"

#include "object/symbols.h"
#include "raster/history.h"

struct session_pixel_names {
    /* Appends the name of a command of the history: "commands[4] GDRAW". */
    void (*name)(const void *context, uint64_t by, struct facet_strbuf *out);
    const void *context;
    const struct facet_symbols *symbols; /* of kernels; NULL: no names */
};

/* The entries as a list of an open object, then the one that made the pixel. */
void session_pixel_record(struct facet_record *r,
                          const struct facet_raster_history *history,
                          const struct session_pixel_names *names,
                          bool full);

/* The whole command. */
int session_tile_why(const struct cli_args *args);

#endif
