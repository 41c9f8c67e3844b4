/* Sorting of box results: section 9.3 of gfx12-semantics.md. */
#ifndef FACET_GFX12_SORT_H
#define FACET_GFX12_SORT_H

#include "gfx12/test.h"

#include <facet/gfx12.h>

struct facet_gfx12_slot {
    uint32_t id;
    uint32_t ext; /* INVALID last, then primitives first where asked for */
    float key;    /* by the heuristic */
};

/* The slot of a child that gave `slab`; id is INVALID for a missed or culled one. */
struct facet_gfx12_slot facet_gfx12_slot_make(const struct facet_gfx12_unit *unit,
                                              uint32_t id,
                                              const struct facet_gfx12_slab *slab);
/* Runs the compare-exchange network unless the descriptor turns sorting off; `wide` adds the stages
 * that merge the two groups of four. */
void facet_gfx12_sort(const struct facet_gfx12_unit *unit,
                      struct facet_gfx12_slot slot[8],
                      bool wide);

#endif
