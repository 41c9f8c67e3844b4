/* Counting what is in a GFX12 image. Needs a walk of it; malformed parts are simply not counted. */
#ifndef FACET_GFX12_IMAGE_STATS_H
#define FACET_GFX12_IMAGE_STATS_H

#include "gfx12/image/walk.h"

#define FACET_GFX12_DEPTH_BINS 64

struct facet_gfx12_bvh_stats {
    uint64_t bytes;
    uint64_t nodes;                                                 /* of 128 bytes */
    uint64_t box_nodes, primitive_nodes, instance_nodes, raw_nodes; /* raw: not reached */
    uint64_t bottom_levels;                                         /* different BLASes */
    uint64_t triangles, boxes;  /* in primitive nodes: triangles, procedural boxes */
    uint64_t pairs, full_pairs; /* full: two triangles */
    uint64_t ranges;            /* leaf children */
    uint64_t oriented;          /* box nodes with a matrix */
    uint64_t child_boxes;       /* child slots in use, box nodes only */
    uint64_t used_bits;         /* of primitive nodes (7.5) */
    uint64_t vertices;          /* stored */
    uint64_t vertex_bits;       /* payload bits of all stored vertices */
    uint64_t children[9];       /* box nodes by number of children */
    uint64_t pairs_per_node[9]; /* primitive nodes by pairs */
    uint64_t vertices_per_node[17];
    uint64_t range_pairs[17];               /* ranges by pairs; [16] is 16 and more */
    uint64_t axis_bits[33];                 /* axes of triangle nodes by payload width */
    uint64_t depth[FACET_GFX12_DEPTH_BINS]; /* nodes by distance from the root; the last is "and
                                               more" */
    uint32_t max_depth;
    double sah; /* expected number of intersect instructions of a random ray that meets the root */
};

enum facet_status facet_gfx12_bvh_stats(const struct facet_gfx12_view *view,
                                        const struct facet_gfx12_walk *walk,
                                        struct facet_gfx12_bvh_stats *out,
                                        struct facet_error *err);

/* The part of `sah` that each reached node has, with all below it: of the intersect instructions
 * that a random line through the root of the node's level takes. `cost` is by unit, as walk->nodes;
 * the root of a level has all of its level. */
enum facet_status facet_gfx12_bvh_costs(const struct facet_gfx12_view *view,
                                        const struct facet_gfx12_walk *walk,
                                        double *cost,
                                        struct facet_error *err);

#endif
