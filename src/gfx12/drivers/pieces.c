/* See pieces.h. */
#include "gfx12/drivers/pieces.h"

#include "base/bits.h"

#define NODE FACET_GFX12_NODE_BYTES

/* The last piece that does not begin behind the address; the pieces are in order. */
static const struct facet_gfx12_piece *
piece_before(const struct facet_gfx12_piece *pieces, uint32_t count, uint64_t address)
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
    const struct facet_gfx12_piece *piece = piece_before(pieces, count, base);

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

/* ---- HIPRT ---- */

#define TYPE_INSTANCE 6
#define VERTEX_COUNT (UINT32_C(15) << 20)

/* How many nodes of `wanted` lie in the piece from `from` on. */
static uint64_t nodes_there(const struct facet_gfx12_piece *piece, uint64_t from, uint64_t wanted)
{
    uint64_t room = from < piece->bytes ? (piece->bytes - from) / NODE : 0;

    return wanted < room ? wanted : room;
}

static void change(uint8_t *word, uint32_t value)
{
    facet_store_le32(word, value);
}

/* The pointer of an instance leads to a header; the hardware's to the nodes behind it. */
static uint64_t
pointer_to_nodes(uint64_t header, const struct facet_gfx12_piece *pieces, uint32_t count)
{
    const struct facet_gfx12_piece *piece = piece_before(pieces, count, header);

    if (piece != NULL && piece->structure.driver == FACET_GFX12_DRIVER_HIPRT &&
        piece->address == (header & facet_bits_mask(48))) {
        header = facet_gfx12_piece_base(piece);
    }
    return facet_gfx12_base_make(header & facet_bits_mask(48), 0);
}

/* An instance keeps its ray mask where the hardware keeps the parent, and three bits of its own
 * beside the number of children. */
static void translate_instance(uint8_t *node,
                               uint32_t parent,
                               const struct facet_gfx12_piece *pieces,
                               uint32_t count)
{
    const uint32_t mask = facet_load_le32(node + 56) & 0xff;

    facet_store_le64(node + 48, pointer_to_nodes(facet_load_le64(node + 48), pieces, count));
    change(node + 56, parent);
    change(node + 60, (facet_load_le32(node + 60) & 0xffffff) | mask << 24);
    change(node + 76, facet_load_le32(node + 76) & ~UINT32_C(0x0f000000));
}

/* The parents of the instances below a box: its children that are no boxes stand one after another.
 */
static void translate_instances_of(uint8_t *piece_bytes,
                                   const struct facet_gfx12_piece *piece,
                                   const uint8_t *box,
                                   uint32_t parent,
                                   uint64_t first,
                                   const struct facet_gfx12_piece *pieces,
                                   uint32_t count)
{
    const unsigned children = (box[27] >> 4) + 1u;
    uint64_t at = first;

    for (unsigned i = 0; i < children && i < 8; i++) {
        const uint8_t kind = box[32 + 12 * i + 11];

        if ((kind & 15) == TYPE_INSTANCE && at <= piece->bytes && piece->bytes - at >= NODE) {
            translate_instance(piece_bytes + at, parent, pieces, count);
        }
        if ((kind & 15) != 5) {
            at += (uint64_t)(kind >> 4) * NODE;
        }
    }
}

static void translate(uint8_t *bytes,
                      const struct facet_gfx12_piece *piece,
                      const struct facet_gfx12_piece *pieces,
                      uint32_t count)
{
    const struct facet_gfx12_structure *s = &piece->structure;
    const uint64_t apart = s->leaf_nodes - s->base;
    uint8_t *first = bytes + piece->at;
    const uint64_t boxes = nodes_there(piece, s->base, s->boxes);

    for (uint64_t i = 0; i < boxes; i++) {
        uint8_t *box = first + s->base + i * NODE;
        const uint32_t prims = facet_load_le32(box + 4), parent = facet_load_le32(box + 8);

        change(box + 4, prims + (uint32_t)(apart >> 3));
        change(box + 8, parent == UINT32_MAX ? parent : parent << 4 | FACET_GFX12_ROOT);
        /* Unnamed bits of its structs, which hold what the memory held before. */
        change(box + 24, facet_load_le32(box + 24) & ~UINT32_C(0x0f000000));
        change(box + 28, facet_load_le32(box + 28) & 0x7f);
        if (s->top) {
            translate_instances_of(first,
                                   piece,
                                   box,
                                   (uint32_t)i << 4 | FACET_GFX12_ROOT,
                                   s->leaf_nodes + facet_gfx12_id_offset(prims),
                                   pieces,
                                   count);
        }
    }
    if (!s->top && !s->procedural) {
        const uint64_t leaves = nodes_there(piece, s->leaf_nodes, s->leaves);

        for (uint64_t i = 0; i < leaves; i++) {
            uint8_t *leaf = first + s->leaf_nodes + i * NODE;

            change(leaf, facet_load_le32(leaf) & ~VERTEX_COUNT);
        }
    }
}

void facet_gfx12_hiprt_translate(uint8_t *bytes,
                                 const struct facet_gfx12_piece *pieces,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (pieces[i].structure.driver == FACET_GFX12_DRIVER_HIPRT) {
            translate(bytes, &pieces[i], pieces, count);
        }
    }
}
