/* A core's view of VRAM under the weak memory model (tile-semantics.md 8.2): data cache D with a
 * valid and a dirty bit per byte, texture cache T, both of 64-byte lines and unbounded.
 *
 * Each is a second image of VRAM, so that a line is found by its number; host memory is used only
 * for the lines that are touched. Nothing here allocates after creation. A line without valid bytes
 * is the same as a line that is not there. */
#ifndef FACET_TILE_CACHE_H
#define FACET_TILE_CACHE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line as it was, for a core that runs ahead (ahead/ahead.c). Scratch memory has the numbers
 * after the last line of VRAM, and no masks. */
struct facet_tile_undo {
    uint64_t valid, dirty;
    uint32_t line;
    uint8_t data[64];
};

/* Lines that a core can log while it runs ahead. One instruction touches at most 32 (16 lanes, each
 * across two lines), so there is always room for the one that finds the log full. */
#define FACET_TILE_UNDO_LINES 1024
#define FACET_TILE_UNDO_SPARE 64

struct facet_tile_cache {
    void *zeroes; /* that valid, dirty, stamp and listed lie in: 0 for a line that is on no list */
    size_t zeroes_size;
    void *memory; /* that the other arrays lie in */
    size_t memory_size;
    uint32_t vram_lines, all_lines; /* all: with those of the scratch memory */
    uint8_t *data;                  /* D */
    uint64_t *valid;                /* per line: a bit per byte */
    uint64_t *dirty;                /* a subset of valid */
    uint8_t *listed;                /* per line: bit 0 in `lines`, 1 in `stores`, 2 in `texels` */
    uint32_t *lines;                /* with anything valid, perhaps */
    uint32_t line_count;
    uint32_t *stores; /* with anything dirty, perhaps */
    uint32_t store_count;
    uint8_t *texture; /* T */
    uint32_t *texels; /* lines in T */
    uint32_t texel_count;
    /* stamp[line] == now: the line is in `lines` and `stores`, and what it was is logged if the
     * core runs ahead. Whatever takes lines off those lists begins a new `now`. */
    uint32_t *stamp;
    uint32_t now;
    bool logs;        /* the core runs ahead */
    uint8_t *scratch; /* of the core */
    uint8_t *event;   /* of the machine: FACET_TILE_EVENT_TURN when the log is full */
    struct facet_tile_undo *undo;
    uint32_t undo_count;
};

struct facet_tile_machine;

enum facet_status facet_tile_cache_make(struct facet_tile_cache *cache,
                                        uint32_t vram_size,
                                        uint32_t scratch_size,
                                        struct facet_error *err);
void facet_tile_cache_free(struct facet_tile_cache *cache);

/* `load byte` without the hit case: brings the line's bytes that are not dirty. */
void facet_tile_cache_fetch(struct facet_tile_cache *cache, const uint8_t *vram, uint32_t line);
/* Before dirty bits of the line are set, unless its stamp says that this was done. */
void facet_tile_cache_list_store(struct facet_tile_cache *cache, uint32_t line);
/* From now on lines are logged before they change, until `keep` or `undo`. */
void facet_tile_cache_log(struct facet_tile_cache *cache);
/* Before these bytes of the scratch memory change. */
void facet_tile_cache_log_scratch(struct facet_tile_cache *cache, uint32_t offset, uint32_t size);
void facet_tile_cache_keep(struct facet_tile_cache *cache);
/* D and T as they were at facet_tile_cache_log, when T had `texels` lines. */
void facet_tile_cache_undo(struct facet_tile_cache *cache, uint32_t texels);
/* `publish`, `line_sync`, `drop_clean` of 8.2, and forgetting everything. */
void facet_tile_cache_publish(struct facet_tile_machine *m, struct facet_tile_cache *cache);
void facet_tile_cache_sync_line(struct facet_tile_machine *m,
                                struct facet_tile_cache *cache,
                                uint32_t line);
void facet_tile_cache_drop_clean(struct facet_tile_cache *cache);
void facet_tile_cache_clear(struct facet_tile_cache *cache);
/* The line in T, brought if it is not there. */
const uint8_t *
facet_tile_cache_texels(struct facet_tile_cache *cache, const uint8_t *vram, uint32_t line);

#endif
