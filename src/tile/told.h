/* What a design under test tells the machine that it is compared with: whose turn it is, and what
 * the next loads and CSR reads of a core give. facet/tile.h has the verbs, R-TILE-132 the rules.
 * Private to src/tile. */
#ifndef FACET_TILE_TOLD_H
#define FACET_TILE_TOLD_H

#include "tile/core.h"

/* Whether any core still has values that were given. */
bool facet_tile_told_any(const struct facet_tile_machine *m);
void facet_tile_told_take_load(struct facet_tile_core *c,
                               uint32_t address,
                               void *out,
                               uint32_t size);
void facet_tile_told_take_csr(struct facet_tile_core *c, uint32_t number, uint32_t *value);

/* What a load or CSR read gives instead of what it has read: the oldest value for its place, which
 * is gone from the queue then. */
static inline void
facet_tile_told_load(struct facet_tile_core *c, uint32_t address, void *out, uint32_t size)
{
    if (__builtin_expect(c->told.count != 0, 0)) {
        facet_tile_told_take_load(c, address, out, size);
    }
}

static inline void facet_tile_told_csr(struct facet_tile_core *c, uint32_t number, uint32_t *value)
{
    if (__builtin_expect(c->told.count != 0, 0)) {
        facet_tile_told_take_csr(c, number, value);
    }
}

void facet_tile_told_visit(struct facet_tile_told *told, struct facet_state_io *io);

#endif
