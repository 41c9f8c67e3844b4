/* See radv_capture.h. */
#include "gfx12/drivers/radv_capture.h"

#include "base/bits.h"
#include "gfx12/image/node.h"

#define NODE FACET_GFX12_NODE_BYTES
#define HEADER 128     /* and the root behind it */
#define ROOT_NUMBER 1u /* of the root among nodes that count from the header */
#define COUNT_AT 79    /* of an instance: its number of boxes, in the upper half */
#define BOX_AT(i) (80 + 12 * (i))
#define CHILD_AT(i) (32 + 12 * (i))

/* All four boxes name the root by its number; those that are not there can never be hit. */
static void translate_instance(uint8_t *node)
{
    const unsigned boxes = (node[COUNT_AT] >> 4 & 3u) + 1;

    for (unsigned i = 0; i < 4; i++) {
        uint8_t *box = node + BOX_AT(i);

        if (i >= boxes) {
            facet_store_le32(box, 0x00FFFFFF);
            facet_store_le32(box + 4, 0xFF000FFF);
            facet_store_le32(box + 8, 0);
        }
        box[11] = ROOT_NUMBER;
    }
    node[COUNT_AT] |= 0x30;
}

static void translate_box(uint8_t *nodes, uint64_t bytes, uint8_t *box)
{
    const unsigned children = (box[27] >> 4) + 1u;
    uint64_t leaf = facet_gfx12_id_offset(facet_load_le32(box + 4));

    for (unsigned i = 0; i < children && i < 8; i++) {
        uint8_t *child = box + CHILD_AT(i) + 11;
        const unsigned type = *child & 15;

        if (type == FACET_GFX12_TYPE_BOX) {
            continue;
        }
        if (*child >> 4 > 1) {
            *child = (uint8_t)(1u << 4 | type);
        }
        if (type == FACET_GFX12_TYPE_INSTANCE && leaf <= bytes && bytes - leaf >= NODE &&
            (nodes[leaf + BOX_AT(0) + 11] & 15) == FACET_GFX12_TYPE_BOX) {
            translate_instance(nodes + leaf);
        }
        leaf += (uint64_t)(*child >> 4) * NODE;
    }
}

void facet_gfx12_radv_capture_translate(uint8_t *bytes, const struct facet_gfx12_piece *piece)
{
    uint8_t *nodes = bytes + piece->at;
    const uint64_t room = piece->bytes > HEADER ? (piece->bytes - HEADER) / NODE : 0;
    const uint64_t boxes = piece->structure.boxes < room ? piece->structure.boxes : room;

    for (uint64_t i = 0; i < boxes; i++) {
        translate_box(nodes, piece->bytes, nodes + HEADER + i * NODE);
    }
}
