/* See headers.h. */
#include "gfx12/drivers/headers.h"

#include "base/bits.h"
#include "gfx12/drivers/matrix.h"
#include "gfx12/image/node.h"
#include "gfx12/image/shown.h"

#include <math.h>
#include <string.h>

#define NODE FACET_GFX12_NODE_BYTES
#define RADV_AABB 8
#define GPURT_BOUNDS 76
#define GPURT_TEMPLATE 20 /* in the metadata */
#define GPURT_TO_WORLD 16 /* beside an instance */

static void store_float(uint8_t *to, float value)
{
    uint32_t word;

    memcpy(&word, &value, sizeof word);
    facet_store_le32(to, word);
}

/* The origin of the root, and as far as its boxes reach. */
static void store_bounds(const uint8_t *root, uint8_t *to)
{
    float reach[3] = {-INFINITY, -INFINITY, -INFINITY};
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(root, &box);
    for (unsigned i = 0; i < 8 && i <= box.child_count_minus_one; i++) {
        uint32_t low[3], high[3];

        facet_gfx12_child_bounds(&box.child[i], box.origin, box.exponent, low, high);
        for (unsigned k = 0; k < 3; k++) {
            float value;

            memcpy(&value, &high[k], sizeof value);
            reach[k] = value > reach[k] ? value : reach[k];
        }
    }
    if (box.child_count_minus_one > 7) {
        return; /* empty: its bounds are NaN and stay so */
    }
    for (unsigned k = 0; k < 3; k++) {
        facet_store_le32(to + 4 * k, box.origin[k]);
        store_float(to + 12 + 4 * k, reach[k]);
    }
}

/* ---- GPURT ---- */

/* What each child of a box covers by its own planes; returns how many. */
static unsigned planes_of(const struct facet_gfx12_box *box, struct facet_gfx12_bounds out[8])
{
    const unsigned count = box->child_count_minus_one < 8 ? box->child_count_minus_one + 1u : 0;

    for (unsigned i = 0; i < count; i++) {
        uint32_t low[3], high[3];

        facet_gfx12_child_bounds(&box->child[i], box->origin, box->exponent, low, high);
        memcpy(out[i].lo, low, sizeof low);
        memcpy(out[i].hi, high, sizeof high);
    }
    return count;
}

struct unreached {
    const struct facet_gfx12_walk *walk;
    const struct facet_gfx12_piece *piece;
    uint8_t *bytes;
    unsigned left; /* boxes that may still be written: a guard against cycles */
};

/* Rebraided instances name the children of a root, so that no ray visits it and no refit writes it;
 * it is still the root of the structure. Its boxes are joined from those of its children. False
 * where what is there is no such tree. */
static bool refit_unreached(struct unreached *u, uint64_t at, struct facet_gfx12_bounds *out)
{
    struct facet_gfx12_bounds below[8];
    uint32_t ids[8], lo[8][3], hi[8][3];
    struct facet_gfx12_box box;
    unsigned count;

    if (!facet_gfx12_piece_has(u->piece, at, NODE) || u->left-- == 0) {
        return false;
    }
    facet_gfx12_box_decode(u->bytes + at, &box);
    count = planes_of(&box, below);
    if (u->walk->nodes[facet_gfx12_node_at(at)].kind == FACET_GFX12_KIND_NONE) {
        facet_gfx12_child_ids(
            box.child, count, box.internal_child_offset, box.primitive_child_offset, ids);
        for (unsigned i = 0; i < count; i++) {
            if (facet_gfx12_id_kind(ids[i]) != FACET_GFX12_KIND_BOX ||
                !refit_unreached(u,
                                 u->piece->at + u->piece->structure.base +
                                     facet_gfx12_id_offset(ids[i]),
                                 &below[i])) {
                return false;
            }
            memcpy(lo[i], below[i].lo, sizeof lo[i]);
            memcpy(hi[i], below[i].hi, sizeof hi[i]);
        }
        if (count == 0 || !facet_gfx12_box_grid(&box, lo, hi, count)) {
            return false;
        }
        for (unsigned i = 0; i < count; i++) {
            facet_gfx12_quantize_child(lo[i], hi[i], box.origin, box.exponent, &box.child[i]);
        }
        facet_gfx12_box_encode(&box, u->bytes + at);
    }
    if (count != 0) {
        (void)facet_gfx12_bounds_join(below, count, 1);
        *out = below[0];
    }
    return count != 0;
}

/* The boxes that GPURT puts into each instance of a BLAS, which its metadata keeps. */
static void refit_template(const struct facet_gfx12_box *root, uint8_t *boxes)
{
    uint8_t node[NODE] = {0};
    struct facet_gfx12_bounds below[8];
    struct facet_gfx12_instance instance;
    const unsigned count = planes_of(root, below);

    memcpy(node + NODE / 2, boxes, NODE / 2);
    facet_gfx12_instance_decode(node, &instance);
    if (count != 0 && facet_gfx12_instance_show(&instance, below, count)) {
        facet_gfx12_instance_encode(&instance, node);
        memcpy(boxes, node + NODE / 2, NODE / 2);
    }
}

/* RADV keeps the same in its header, without the origin, which is the bounds' lower corner. */
static void refit_radv(const struct facet_gfx12_structure *s, uint8_t *piece)
{
    uint8_t boxes[NODE / 2], *kept = piece + s->instance_boxes;
    struct facet_gfx12_box root;

    store_bounds(piece + s->base, piece + s->header + RADV_AABB);
    if (s->instance_boxes == 0) {
        return;
    }
    facet_gfx12_box_decode(piece + s->base, &root);
    memcpy(boxes, piece + s->header + RADV_AABB, 12);
    memcpy(boxes + 12, kept, sizeof boxes - 12);
    refit_template(&root, boxes);
    memcpy(kept, boxes + 12, sizeof boxes - 12);
}

static void refit_gpurt(const struct facet_gfx12_walk *walk,
                        const struct facet_gfx12_piece *piece,
                        uint8_t *bytes)
{
    const struct facet_gfx12_structure *s = &piece->structure;
    const uint64_t root = piece->at + s->base + facet_gfx12_id_offset(s->root);
    struct unreached unreached = {walk, piece, bytes, 32};
    struct facet_gfx12_bounds whole;
    struct facet_gfx12_box box;

    if (!refit_unreached(&unreached, root, &whole)) {
        return;
    }
    if (s->has_bounds) {
        store_bounds(bytes + root, bytes + piece->at + s->header + GPURT_BOUNDS);
    }
    facet_gfx12_box_decode(bytes + root, &box);
    if (!s->top && s->header >= GPURT_TEMPLATE + NODE / 2) {
        refit_template(&box, bytes + piece->at + GPURT_TEMPLATE);
    }
}

/* ---- all of them ---- */

void facet_gfx12_headers_refit(const struct facet_gfx12_walk *walk,
                               const struct facet_gfx12_piece *pieces,
                               uint32_t count,
                               const uint8_t *before,
                               uint8_t *bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct facet_gfx12_structure *s = &pieces[i].structure;
        uint8_t *piece = bytes + pieces[i].at;

        if (memcmp(piece, before + pieces[i].at, (size_t)pieces[i].bytes) == 0) {
            continue;
        }
        if (s->driver == FACET_GFX12_DRIVER_RADV) {
            refit_radv(s, piece);
        } else if (s->driver == FACET_GFX12_DRIVER_GPURT) {
            refit_gpurt(walk, &pieces[i], bytes);
        }
    }
    for (uint32_t i = 0; i < walk->reached; i++) {
        const struct facet_gfx12_walk_node *n = &walk->nodes[walk->order[i]];
        const struct facet_gfx12_piece *own =
            n->kind == FACET_GFX12_KIND_INSTANCE
                ? facet_gfx12_piece_with_base(pieces, count, n->level_base)
                : NULL;
        const uint64_t at = facet_gfx12_node_offset(walk->order[i]);
        uint64_t side;

        if (own != NULL && facet_gfx12_piece_side(own, at, &side)) {
            side += own->structure.driver == FACET_GFX12_DRIVER_GPURT ? GPURT_TO_WORLD : 0;
            if (!facet_gfx12_are_inverse(bytes + at, bytes + side)) {
                facet_gfx12_store_inverse(bytes + at, bytes + side);
            }
        }
    }
}
