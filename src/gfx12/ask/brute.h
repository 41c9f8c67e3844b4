/* Every triangle of an image, tested by itself: the closest hit without any box. What the boxes of
 * an image hide shows as a difference from the traversal. */
#ifndef FACET_GFX12_ASK_BRUTE_H
#define FACET_GFX12_ASK_BRUTE_H

#include "base/bits.h"
#include "gfx12/image/walk.h"

/* Of a primitive node. */
static inline unsigned facet_gfx12_stored_pairs(const uint8_t node[128])
{
    return (facet_load_le32(node) >> 28 & 7u) + 1;
}

/* A primitive or instance node and the level that its ID is relative to. */
struct facet_gfx12_brute_node {
    uint64_t level; /* address */
    uint32_t id;
    uint8_t kind;
    uint8_t pairs;
};

struct facet_gfx12_brute {
    struct facet_gfx12_brute_node *nodes; /* by level, then by ID */
    uint64_t count;
};

enum facet_status facet_gfx12_brute_make(const struct facet_gfx12_view *view,
                                         const struct facet_gfx12_walk *walk,
                                         struct facet_gfx12_brute *out,
                                         struct facet_error *err);
void facet_gfx12_brute_free(struct facet_gfx12_brute *brute);

/* The closest of all triangles (and, with the callback for them, procedural primitives) that the
 * ray meets between t_min and t_max. Masks and flags count for instances and primitives; those of
 * boxes do not. At equal t the first in the order of addresses wins, so compare t, not numbers.
 * False when more than `most` pairs and instances would have to be tested; *hit is then the best so
 * far. */
bool facet_gfx12_brute_trace(const struct facet_gfx12_brute *brute,
                             const struct facet_gfx12_unit *unit,
                             const struct facet_gfx12_query *query,
                             uint64_t most,
                             uint64_t *tested,
                             struct facet_gfx12_hit *hit);

#endif
