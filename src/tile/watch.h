/* Telling the machine's listener what an instruction did. Private to src/tile. */
#ifndef FACET_TILE_WATCH_H
#define FACET_TILE_WATCH_H

#include "tile/core.h"

/* One instruction of the core with its events: memory as it happens, then the registers and CSRs
 * that changed, then the retirement. */
void facet_tile_watched_step(struct facet_tile_core *c);
/* The trap event of the core's fault. */
void facet_tile_tell_fault(const struct facet_tile_core *c);
/* An access of a core, 1 to 16 bytes. */
void facet_tile_tell_memory(const struct facet_tile_core *c,
                            uint32_t address,
                            const void *bytes,
                            uint32_t size,
                            bool write);

static inline bool facet_tile_watched(const struct facet_tile_core *c)
{
    return __builtin_expect(c->m->watched, 0);
}

#endif
