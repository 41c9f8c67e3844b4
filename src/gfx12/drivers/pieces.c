/* See pieces.h. */
#include "gfx12/drivers/pieces.h"

#include "base/bits.h"

#define NODE FACET_GFX12_NODE_BYTES

const struct facet_gfx12_piece *
facet_gfx12_piece_before(const struct facet_gfx12_piece *pieces, uint32_t count, uint64_t address)
{
    uint32_t low = 0;

    address &= facet_bits_mask(48);
    if (count == 0 || pieces[0].address > address) {
        return NULL;
    }
    while (count > 1) {
        uint32_t half = count / 2;

        if (pieces[low + half].address <= address) {
            low += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return &pieces[low];
}

const struct facet_gfx12_piece *
facet_gfx12_piece_with_base(const struct facet_gfx12_piece *pieces, uint32_t count, uint64_t base)
{
    const struct facet_gfx12_piece *piece = facet_gfx12_piece_before(pieces, count, base);

    return piece != NULL && facet_gfx12_piece_base(piece) == (base & facet_bits_mask(48)) ? piece
                                                                                          : NULL;
}

/* ---- structures that share a buffer ---- */

#define RADV_SIDE_BVH_OFFSET (NODE + 56) /* of the BLAS, beside its instance */

/* Where the header of the BLAS lies that the instance at `at` points at. */
static bool header_address(const struct facet_gfx12_view *view,
                           const struct facet_gfx12_piece *own,
                           uint64_t at,
                           uint64_t target,
                           uint64_t *header)
{
    if (own->structure.driver == FACET_GFX12_DRIVER_GPURT) {
        *header = target;
        return true;
    }
    if (own->structure.driver == FACET_GFX12_DRIVER_RADV &&
        facet_gfx12_piece_has(own, at, 2 * NODE)) {
        *header = target - facet_load_le32(view->bytes + at + RADV_SIDE_BVH_OFFSET);
        return *header < target;
    }
    return false;
}

/* The structure whose header is at the address and whose IDs count from `target`. */
static bool read_piece(const struct facet_gfx12_view *view,
                       enum facet_gfx12_driver driver,
                       uint64_t address,
                       uint64_t target,
                       struct facet_gfx12_piece *out)
{
    char reason[FACET_GFX12_REASON];
    struct facet_gfx12_segment s;
    uint64_t offset;

    if (!facet_gfx12_view_offset(view, address, 1, &offset)) {
        return false;
    }
    s = facet_gfx12_view_segment(view, offset);
    *out = (struct facet_gfx12_piece){
        .at = offset, .bytes = s.size - (offset - s.offset), .address = address};
    return facet_gfx12_header_read(
               driver, view->bytes + offset, out->bytes, &out->structure, reason) >=
               FACET_GFX12_HEADER_MAYBE &&
           facet_gfx12_piece_base(out) == target;
}

/* Puts it behind those before it, of which the last in the same segment ends there. */
static void insert(struct facet_gfx12_piece *pieces, uint32_t count, struct facet_gfx12_piece new)
{
    uint32_t i = count;

    while (i > 0 && pieces[i - 1].address > new.address) {
        pieces[i] = pieces[i - 1];
        i--;
    }
    if (i > 0 && new.at - pieces[i - 1].at < pieces[i - 1].bytes) {
        new.bytes = pieces[i - 1].bytes - (new.at - pieces[i - 1].at);
        pieces[i - 1].bytes = new.at - pieces[i - 1].at;
    }
    pieces[i] = new;
}

uint32_t facet_gfx12_pieces_follow(const struct facet_gfx12_view *view,
                                   const struct facet_gfx12_walk *walk,
                                   struct facet_gfx12_piece *pieces,
                                   uint32_t count,
                                   uint32_t room)
{
    for (uint32_t i = 0; i < walk->reached && count < room; i++) {
        const struct facet_gfx12_walk_node *n = &walk->nodes[walk->order[i]];
        const uint64_t at = facet_gfx12_node_offset(walk->order[i]);
        const struct facet_gfx12_piece *own;
        struct facet_gfx12_instance instance;
        struct facet_gfx12_piece found;
        uint64_t target, header;

        if (n->kind != FACET_GFX12_KIND_INSTANCE) {
            continue;
        }
        own = facet_gfx12_piece_with_base(pieces, count, n->level_base);
        facet_gfx12_instance_decode(view->bytes + at, &instance);
        target = facet_gfx12_base_address(instance.pointer);
        if (own != NULL && facet_gfx12_piece_with_base(pieces, count, target) == NULL &&
            header_address(view, own, at, target, &header) &&
            read_piece(view, own->structure.driver, header, target, &found)) {
            insert(pieces, count++, found);
        }
    }
    return count;
}

/* ---- beside instances ---- */

bool facet_gfx12_piece_side(const struct facet_gfx12_piece *piece, uint64_t node, uint64_t *side)
{
    const struct facet_gfx12_structure *s = &piece->structure;

    if (s->driver == FACET_GFX12_DRIVER_RADV) {
        *side = node + NODE;
    } else if (s->driver == FACET_GFX12_DRIVER_GPURT && s->side != 0 &&
               node >= piece->at + s->leaf_nodes) {
        *side = piece->at + s->side + (node - piece->at - s->leaf_nodes) / NODE * 64;
    } else {
        return false;
    }
    return facet_gfx12_piece_has(piece, *side, 64);
}
