/* What the cores of the tile machine have stored and not published, and who reads it: the memory
 * model of tile-semantics.md 8, judged by the dirty and valid bytes of the cores' caches. Under the
 * strong model there is nothing to find.
 *
 * A plain load that reads such bytes is not reported at once: the core may be waiting for them. It
 * is reported when its tile ends, unless the same instruction has read the same place again and
 * found it in order. */
#ifndef FACET_LINT_TILE_H
#define FACET_LINT_TILE_H

#include "lint/internal.h"
#include "tile/core.h"

/* A load that was not in order. */
struct lint_suspect {
    struct lint_place place;
    uint32_t offset;
    uint32_t from; /* core that stored; FACET_NONE: an old copy was read */
    uint32_t store_pc;
};

struct lint_order {
    const struct facet_tile_machine *m;
    struct lint_store *store;
    /* Per core: pages of VRAM, for each word the pc of the last store; NULL where there is none. */
    uint32_t **pages[FACET_TILE_CORES];
    struct lint_suspect *suspects;
    size_t count, room;
    bool failed;
};

struct lint_access {
    struct lint_place place;
    uint32_t offset, size; /* in VRAM */
};

void facet_lint_order_store(struct lint_order *order, const struct lint_access *access);
void facet_lint_order_load(struct lint_order *order, const struct lint_access *access);
/* A graphics instruction reads or draws; a TEX2D has read. */
void facet_lint_order_unit(struct lint_order *order, const struct lint_access *access);
void facet_lint_order_texel(struct lint_order *order, const struct lint_access *access);
/* A tile of the core has ended: what it has not read again is reported. */
void facet_lint_order_settle(struct lint_order *order, uint32_t core);
void facet_lint_order_free(struct lint_order *order);

#endif
