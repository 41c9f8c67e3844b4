/* Packing the triangles of one box node's leaves into primitive nodes (gfx12-semantics.md 12.4 and
 * 12.5): which ranges share a 128-byte node, in which order, and the bits of the node.
 *
 * A packer works through the box nodes of one chunk and appends nodes to its own buffer. In the
 * plain mode a node never serves two box nodes, as section 12.4 says. In the shared mode the last
 * node of a box stays open for the next one: child offsets may point at the same node as long as
 * the pairs differ, and the image gets smaller by a third.
 *
 * Nodes of an updatable image hold whatever positions their triangles move to: corners are neither
 * shared nor compressed (R-G12-94). */
#ifndef FACET_GFX12_BUILD_PACK_H
#define FACET_GFX12_BUILD_PACK_H

#include "bvh/input.h"

#include <stddef.h>

#define FACET_PACK_MAX_RANGES 8
#define FACET_PACK_MAX_RANGE_TRIANGLES 16
#define FACET_PACK_MAX_TRIANGLES (FACET_PACK_MAX_RANGES * FACET_PACK_MAX_RANGE_TRIANGLES)

typedef struct facet_packer facet_packer;

/* One leaf child: its triangles, in pair order. */
struct facet_pack_range {
    const struct facet_bvh_triangle *triangle[FACET_PACK_MAX_RANGE_TRIANGLES];
    uint32_t count; /* 1 .. FACET_PACK_MAX_RANGE_TRIANGLES */
};

/* Where a range went. */
struct facet_pack_place {
    uint32_t node; /* number in the packer's buffer */
    uint8_t pair;
    uint8_t range; /* which of the ranges */
};

facet_packer *facet_gfx12_packer_create(bool shared, bool updatable);
void facet_gfx12_packer_destroy(facet_packer *packer);

/* Packs the ranges of one box node; place[] is in the order in which they were appended. Returns
 * false when memory is short. */
bool facet_gfx12_packer_add(facet_packer *packer,
                            const struct facet_pack_range *ranges,
                            unsigned count,
                            struct facet_pack_place *place);
/* Closes the last node and hands over all of them (free); nothing can be added any more. */
bool facet_gfx12_packer_finish(facet_packer *packer, uint8_t **nodes, uint32_t *node_count);
/* Nodes so far, the open one included. */
uint32_t facet_gfx12_packer_nodes(const facet_packer *packer);

#endif
