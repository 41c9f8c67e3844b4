/* One primitive node of triangles while it is filled: its vertices, what decides its size, and its
 * bits (gfx12-semantics.md 7 and 12.5). */
#ifndef FACET_GFX12_BUILD_PACK_NODE_H
#define FACET_GFX12_BUILD_PACK_NODE_H

#include "bvh/input.h"

#include <stdbool.h>
#include <string.h>

#define FACET_PACK_NODE_PAIRS 8
#define FACET_PACK_NODE_VERTICES 16

/* Everything that decides widths: for every coordinate and index the OR and the AND of its words.
 * Bits in OR but not in AND are those that differ, which is what section 12.5 derives every width
 * from. */
struct facet_pack_bits {
    uint32_t any[3], all[3]; /* of the vertex words per axis */
    uint32_t geometry_any, geometry_all;
    uint32_t primitive_any, primitive_all;
    uint32_t pairs, vertices;
    bool updatable; /* every corner has 32 bits per axis and a place of its own (R-G12-94) */
};

static inline void facet_gfx12_pack_bits_clear(struct facet_pack_bits *b)
{
    *b = (struct facet_pack_bits){.all = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                  .geometry_all = UINT32_MAX,
                                  .primitive_all = UINT32_MAX};
}

/* Without its pairs and vertices, which the caller counts. */
static inline void facet_gfx12_pack_bits_triangle(struct facet_pack_bits *b,
                                                  const struct facet_bvh_triangle *t)
{
    uint32_t xyz[3][3];

    memcpy(xyz, t->vertex, sizeof xyz);
    for (int k = 0; k < 3; k++) {
        b->any[k] |= xyz[0][k] | xyz[1][k] | xyz[2][k];
        b->all[k] &= xyz[0][k] & xyz[1][k] & xyz[2][k];
    }
    b->geometry_any |= t->geometry;
    b->geometry_all &= t->geometry;
    b->primitive_any |= t->primitive;
    b->primitive_all &= t->primitive;
}

/* The bits of a node with at least one pair, whose first triangle is `first`. */
unsigned facet_gfx12_pack_bits_size(const struct facet_pack_bits *bits,
                                    const struct facet_bvh_triangle *first);
/* Section 7.5. Two corners of a triangle are never the same vertex, so the pattern of a procedural
 * primitive (v0 = v1 = 15) cannot arise. */
bool facet_gfx12_pack_bits_fit(const struct facet_pack_bits *bits, unsigned size);

struct facet_pack_pair {
    const struct facet_bvh_triangle *triangle[2]; /* [1] == NULL: absent */
    uint8_t vertex[2][3];
    bool stop;
};

/* Room behind the last vertex is for a pair that turns out not to fit. */
enum { FACET_PACK_VERTEX_ROOM = FACET_PACK_NODE_VERTICES + 8 };

struct facet_pack_node {
    struct facet_pack_bits bits;
    _Alignas(16) uint32_t xyz[3][FACET_PACK_VERTEX_ROOM]; /* in order of first use */
    _Alignas(16) uint32_t number[FACET_PACK_VERTEX_ROOM]; /* + 1; 0 where there is no vertex */
    struct facet_pack_pair pair[FACET_PACK_NODE_PAIRS];
};

void facet_gfx12_pack_node_clear(struct facet_pack_node *node, bool updatable);
/* Adds one or two triangles as a pair, whether or not the node has room for it; false when it
 * certainly has none. `second` may be NULL. */
bool facet_gfx12_pack_node_pair(struct facet_pack_node *node,
                                const struct facet_bvh_triangle *first,
                                const struct facet_bvh_triangle *second,
                                bool stop);
/* Adds the triangles in pairs, the last with the stop bit if the range ends here; false, and the
 * node is as before, when they do not fit. */
bool facet_gfx12_pack_node_range(struct facet_pack_node *node,
                                 const struct facet_bvh_triangle *const *triangle,
                                 uint32_t count,
                                 bool ends);
/* Also false when a triangle looks procedural, which it can when two of its corners are equal. */
bool facet_gfx12_pack_node_fits(const struct facet_pack_node *node);
void facet_gfx12_pack_node_write(const struct facet_pack_node *node, uint8_t bytes[128]);

/* The node of one procedural primitive (12.5). */
void facet_gfx12_pack_aabb(const struct facet_bvh_aabb *aabb, uint8_t node[128]);

#endif
