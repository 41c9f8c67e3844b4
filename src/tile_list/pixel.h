/* What the commands of a list did to one pixel, noted while the list is played; and the form of
 * such a history for others who have one. */
#ifndef FACET_TILE_LIST_PIXEL_H
#define FACET_TILE_LIST_PIXEL_H

#include "object/symbols.h"
#include "raster/history.h"
#include "tile_list/play.h"

/* ---- the form ---- */

struct facet_tile_list_names {
    /* Appends the name of a command of the history: "commands[4] GDRAW". */
    void (*name)(const void *context, uint64_t by, struct facet_strbuf *out);
    const void *context;
    const struct facet_symbols *symbols; /* of kernels; NULL: no names */
};

/* The entries as a list of an open object, then the one that made the pixel. */
void facet_tile_list_pixel_record(struct facet_record *r,
                                  const struct facet_raster_history *history,
                                  const struct facet_tile_list_names *names,
                                  bool full);

/* ---- a list ---- */

struct facet_tile_list_pixel {
    const struct facet_tile_play *play;
    struct facet_raster_history history; /* `failed` when memory ran short */
    struct facet_symbols symbols;
    size_t placed;  /* entries whose instruction is known, or that have none */
    uint32_t bytes; /* of the pixel, as the last entry left them */
    uint32_t x, y;
};

/* Listens to a play that has been started, as the machine's one observer, until _end.
 * FACET_ERR_USAGE for a pixel outside the frame. Free in every case. */
enum facet_status facet_tile_list_pixel_start(struct facet_tile_list_pixel *pixel,
                                              const struct facet_tile_play *play,
                                              uint32_t x,
                                              uint32_t y,
                                              struct facet_error *err);
/* After each command that is complete. */
void facet_tile_list_pixel_done(struct facet_tile_list_pixel *pixel,
                                const struct facet_tile_list_step *step);
void facet_tile_list_pixel_end(struct facet_tile_list_pixel *pixel);
void facet_tile_list_pixel_free(struct facet_tile_list_pixel *pixel);
/* Members of an open object: the pixel, its bits, the history. */
void facet_tile_list_pixel_put(const struct facet_tile_list_pixel *pixel,
                               struct facet_record *r,
                               bool full);

#endif
