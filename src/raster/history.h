/* The history of one pixel: every draw that had it on its surface, what its triangles did there,
 * and what else changed its bytes, in the order in which it happened. A draw of a million triangles
 * is one entry: those that do not cover the pixel are counted, and the one that comes closest is
 * kept. */
#ifndef FACET_RASTER_HISTORY_H
#define FACET_RASTER_HISTORY_H

#include "raster/probe.h"
#include "record/record.h"

#include "base/array.h"

#define FACET_RASTER_NO_PC UINT64_MAX

enum facet_raster_entry_kind {
    FACET_RASTER_ENTRY_DRAW,
    FACET_RASTER_ENTRY_STORE, /* of an instruction */
    FACET_RASTER_ENTRY_WRITE, /* by anything else: a command, the publication of stores */
};

struct facet_raster_entry {
    enum facet_raster_entry_kind kind;
    uint64_t by;            /* the owner's number of the command */
    uint32_t core;          /* of a kernel that stores or draws, else UINT32_MAX */
    uint64_t pc;            /* ... or FACET_RASTER_NO_PC */
    uint32_t word;          /* ... the instruction */
    uint32_t before, after; /* the pixel's bytes */
    bool writes;            /* was the pixel written, be it with the same bits? */
    bool replaces;          /* ... without regard to what stood there */
    struct facet_raster_probe_draw draw;
    uint64_t count[FACET_RASTER_FATES];
    struct facet_array facts;         /* of struct facet_raster_fact: those that cover the pixel */
    struct facet_raster_fact closest; /* of those that do not; miss is 0 when there is none */
};

struct facet_raster_history {
    struct facet_raster_probe probe;
    struct facet_array entries; /* of struct facet_raster_entry */
    uint64_t elsewhere;         /* draws on other surfaces */
    uint64_t dropped;           /* facts and entries beyond the limit */
    bool failed;                /* memory ran short: something is missing */
    uint64_t kept;
    /* The owner's number of the command that runs; NULL: 0. */
    uint64_t (*asks)(void *context);
    void *context;
    /* private */
    bool open; /* the last entry is the draw that runs */
};

/* `size` bytes (1 to 4) from `address` on. Give &history->probe to a unit; free in every case. */
void facet_raster_history_start(struct facet_raster_history *history,
                                uint32_t address,
                                uint32_t size);
void facet_raster_history_free(struct facet_raster_history *history);
/* NULL without memory or beyond the limit; valid until the next one. */
struct facet_raster_entry *facet_raster_history_add(struct facet_raster_history *history,
                                                    enum facet_raster_entry_kind kind);

static inline struct facet_raster_entry *
facet_raster_history_at(const struct facet_raster_history *history, size_t i)
{
    return (struct facet_raster_entry *)history->entries.items + i;
}

/* The entry that made the final bits: the last one that wrote. NULL: nothing did. */
const struct facet_raster_entry *
facet_raster_history_last(const struct facet_raster_history *history);
/* The entry after `i` that wrote over what it left; NULL: none. */
const struct facet_raster_entry *
facet_raster_history_over(const struct facet_raster_history *history, size_t i);

const char *facet_raster_fate_name(enum facet_raster_fate fate); /* "depth test", ... */

/* Members of an open object: what the draw is and what became of the pixel. In text one line, or
 * with `full` every value on the way to it. */
void facet_raster_record_draw(struct facet_record *r,
                              const struct facet_raster_entry *entry,
                              bool full);

#endif
