/* Headers after a refit of the nodes behind them. */
#ifndef FACET_GFX12_DRIVERS_HEADERS_H
#define FACET_GFX12_DRIVERS_HEADERS_H

#include "gfx12/drivers/pieces.h"
#include "gfx12/image/walk.h"

/* Whether bvh update can write such structures: its instances are RADV's and Facet's. */
bool facet_gfx12_header_is_writable(const struct facet_gfx12_structure *structure);

/* Writes what changed with the nodes into the headers of RADV's structures and beside their
 * instances: bounds, and object to world where it is no longer the inverse. `bytes` are those of
 * the view that was walked. */
void facet_gfx12_headers_refit(const struct facet_gfx12_walk *walk,
                               const struct facet_gfx12_piece *pieces,
                               uint32_t count,
                               uint8_t *bytes);

/* Whether two matrices of three rows undo each other, as far as the rounding of their products
 * reaches. */
bool facet_gfx12_are_inverse(const uint8_t *to_object, const uint8_t *to_world);

#endif
