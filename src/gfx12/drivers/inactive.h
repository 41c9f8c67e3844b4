/* Structures of GPURT in which nothing is active (R-G12-147): behind their headers lies what the
 * memory held before, which instances would lead to. */
#ifndef FACET_GFX12_DRIVERS_INACTIVE_H
#define FACET_GFX12_DRIVERS_INACTIVE_H

#include "gfx12/drivers/pieces.h"

bool facet_gfx12_has_inactive(const struct facet_gfx12_piece *pieces, uint32_t count);

/* Gives each a root that has nothing, where there is room for it, and lets the instances of such a
 * structure name it. `bytes` are those of the view. */
void facet_gfx12_inactive_clear(uint8_t *bytes,
                                const struct facet_gfx12_piece *pieces,
                                uint32_t count);
/* The way back: what was there in `original`. */
void facet_gfx12_inactive_restore(uint8_t *bytes,
                                  const uint8_t *original,
                                  const struct facet_gfx12_piece *pieces,
                                  uint32_t count);

#endif
