/* The structures of a view: which piece holds which. */
#ifndef FACET_GFX12_DRIVERS_PIECES_H
#define FACET_GFX12_DRIVERS_PIECES_H

#include "gfx12/drivers/structure.h"
#include "gfx12/image/walk.h"

/* A structure in the bytes of a view; `at` is the offset there that its own offsets count from. */
struct facet_gfx12_piece {
    struct facet_gfx12_structure structure;
    uint64_t at;
    uint64_t bytes;
    uint64_t address; /* of the byte at `at`, 48 bits */
};

/* The address that the structure's node IDs count from. */
static inline uint64_t facet_gfx12_piece_base(const struct facet_gfx12_piece *piece)
{
    return piece->address + piece->structure.base;
}

/* Whether so many bytes of the view from `at` on are the piece's. */
static inline bool
facet_gfx12_piece_has(const struct facet_gfx12_piece *piece, uint64_t at, uint64_t bytes)
{
    return at >= piece->at && at - piece->at <= piece->bytes &&
           piece->bytes - (at - piece->at) >= bytes;
}

/* The last piece that does not begin behind the address, NULL when there is none. Pieces are in the
 * order of their addresses, here and below. */
const struct facet_gfx12_piece *
facet_gfx12_piece_before(const struct facet_gfx12_piece *pieces, uint32_t count, uint64_t address);
/* The piece whose IDs count from the address, NULL when there is none. */
const struct facet_gfx12_piece *
facet_gfx12_piece_with_base(const struct facet_gfx12_piece *pieces, uint32_t count, uint64_t base);

/* A buffer can hold several structures, of which only the first begins it. Where the instances of
 * the walk point at one that is not in the list, and its header is there, adds it: `room` is that
 * of `pieces`, which needs a place for each instance. Returns the new count; the pieces stay in
 * order, and each ends where the next of its segment begins. For RADV and GPURT, whose instances
 * point at nodes; HIPRT's must be in the list before they can be walked. */
uint32_t facet_gfx12_pieces_follow(const struct facet_gfx12_view *view,
                                   const struct facet_gfx12_walk *walk,
                                   struct facet_gfx12_piece *pieces,
                                   uint32_t count,
                                   uint32_t room);

/* Where the 64 bytes beside the instance node at `node` lie: behind it (RADV), or in a list in the
 * order of the nodes (GPURT). False where there are none. */
bool facet_gfx12_piece_side(const struct facet_gfx12_piece *piece, uint64_t node, uint64_t *side);

#endif
