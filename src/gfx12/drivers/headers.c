/* See headers.h. */
#include "gfx12/drivers/headers.h"

#include "base/bits.h"

#include <math.h>
#include <string.h>

#define NODE FACET_GFX12_NODE_BYTES
#define RADV_AABB 8

bool facet_gfx12_header_is_writable(const struct facet_gfx12_structure *structure)
{
    return structure->driver == FACET_GFX12_DRIVER_RADV;
}

static double element(const uint8_t *matrix, unsigned row, unsigned column)
{
    uint32_t word = facet_load_le32(matrix + 16 * row + 4 * column);
    float value;

    memcpy(&value, &word, sizeof value);
    return (double)value;
}

bool facet_gfx12_are_inverse(const uint8_t *to_object, const uint8_t *to_world)
{
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 4; k++) {
            double sum = k == 3 ? element(to_object, i, 3) : 0;
            double size = fabs(sum);
            const double wanted = i == k ? 1 : 0;

            for (unsigned m = 0; m < 3; m++) {
                const double product = element(to_object, i, m) * element(to_world, m, k);

                sum += product;
                size += fabs(product);
            }
            if (!(fabs(sum - wanted) <= 1e-5 * (size + 1))) {
                return false;
            }
        }
    }
    return true;
}

static void store_float(uint8_t *to, double value)
{
    const float rounded = (float)value;
    uint32_t word;

    memcpy(&word, &rounded, sizeof word);
    facet_store_le32(to, word);
}

/* By cofactors; a matrix without an inverse leaves what is there. */
static void store_inverse(const uint8_t *from, uint8_t *to)
{
    double cofactor[3][3], det = 0;

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 3; k++) {
            const unsigned a = (k + 1) % 3, b = (k + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

            cofactor[i][k] = element(from, a, c) * element(from, b, d) -
                             element(from, a, d) * element(from, b, c);
        }
        det += element(from, 0, i) * cofactor[i][0];
    }
    if (det == 0 || !isfinite(1 / det)) {
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        double moved = 0;

        for (unsigned k = 0; k < 3; k++) {
            store_float(to + 16 * i + 4 * k, cofactor[i][k] / det);
            moved -= cofactor[i][k] / det * element(from, k, 3);
        }
        store_float(to + 16 * i + 12, moved);
    }
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
        store_float(to + 12 + 4 * k, (double)reach[k]);
    }
}

void facet_gfx12_headers_refit(const struct facet_gfx12_walk *walk,
                               const struct facet_gfx12_piece *pieces,
                               uint32_t count,
                               uint8_t *bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct facet_gfx12_structure *s = &pieces[i].structure;
        uint8_t *piece = bytes + pieces[i].at;

        if (s->driver == FACET_GFX12_DRIVER_RADV) {
            store_bounds(piece + s->base, piece + s->header + RADV_AABB);
        }
    }
    for (uint32_t i = 0; i < walk->reached; i++) {
        const struct facet_gfx12_walk_node *n = &walk->nodes[walk->order[i]];
        const struct facet_gfx12_piece *own =
            n->kind == FACET_GFX12_KIND_INSTANCE
                ? facet_gfx12_piece_with_base(pieces, count, n->level_base)
                : NULL;
        const uint64_t at = facet_gfx12_node_offset(walk->order[i]);

        if (own != NULL && own->structure.driver == FACET_GFX12_DRIVER_RADV &&
            facet_gfx12_piece_has(own, at, 2 * NODE) &&
            !facet_gfx12_are_inverse(bytes + at, bytes + at + NODE)) {
            store_inverse(bytes + at, bytes + at + NODE);
        }
    }
}
