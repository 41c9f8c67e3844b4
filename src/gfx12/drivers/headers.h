/* Headers after a refit of the nodes behind them. */
#ifndef FACET_GFX12_DRIVERS_HEADERS_H
#define FACET_GFX12_DRIVERS_HEADERS_H

#include "gfx12/drivers/pieces.h"
#include "gfx12/image/walk.h"

/* Writes what changed with the nodes into the headers of RADV's and GPURT's structures and beside
 * their instances: bounds, and object to world where it is no longer the inverse; for GPURT also
 * the roots that no instance names and the boxes for instances in the metadata. HIPRT's headers
 * hold nothing of the kind. `bytes` are those of the view that was walked, `before` what they were;
 * a structure that is still the same stays so. */
void facet_gfx12_headers_refit(const struct facet_gfx12_walk *walk,
                               const struct facet_gfx12_piece *pieces,
                               uint32_t count,
                               const uint8_t *before,
                               uint8_t *bytes);

#endif
