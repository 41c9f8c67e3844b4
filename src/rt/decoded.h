/* A BVH in the host's preferred layout. Tiles hold 24 numbers child by child and point to
 * TriRanges, which point to triangles corner by corner; taking that apart costs more than testing
 * it. So a node or a leaf is decoded when a ray first reaches it, and kept for the next ones.
 *
 * FP32 tiles and triangles only. Threads may decode at the same time. The owner of the memory looks
 * up which pages were read, and makes the BVH forget when one of them was written to. */
#ifndef FACET_RT_DECODED_H
#define FACET_RT_DECODED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FACET_RT_WIDTH = 8, /* children of a decoded node, triangles of ... */
    FACET_RT_QUAD = 4,  /* ... a decoded leaf */
    FACET_RT_PAGE_BITS = 12,
};

/* What a child is.
 *   even: a node, that many times 32 bytes after the first one
 *   1 modulo 4: leaf number r >> 2
 *   3 modulo 4: not decoded so far, or not to be decoded: child r >> 2 & 7 of node number r >> 5
 * All ones is none of these. */
typedef uint32_t facet_rt_reference;

#define FACET_RT_NOWHERE UINT32_MAX

/* Sums over the nodes that a ray visits, in one number: boxes, nodes that have a box which the ray
 * is divided for, and nodes. */
#define FACET_RT_TALLY_BOXES UINT64_C(0xFFFFFF)
#define FACET_RT_TALLY_TESTED (UINT64_C(1) << 24)
#define FACET_RT_TALLY_STEP (UINT64_C(1) << 44)
#define FACET_RT_TALLY_TESTED_MASK (FACET_RT_TALLY_STEP - FACET_RT_TALLY_TESTED)
#define FACET_RT_MAX_STEPS (1 << 18)

/* Box tests read the first four lines of the host's cache. */
struct facet_rt_node {
    /* min x, max x, min y, ...; a child that is empty or inverted is [inf, -inf]: no ray meets it,
     * and no operation on it raises anything. */
    _Alignas(64) float plane[6][FACET_RT_WIDTH];
    _Atomic facet_rt_reference child[FACET_RT_WIDTH];
    uint64_t tally; /* what a visit adds; larger than any limit: rays must not come here */
    uint8_t used;   /* bit c: child c is not empty */
    uint8_t leaves; /* bit c: child c is a leaf */
    _Alignas(64) uint32_t index[FACET_RT_WIDTH]; /* of nodes and leaves, in the heap */
};

/* Up to four triangles; what follows the last one are copies of the first. */
struct facet_rt_leaf {
    _Alignas(64) float corner[3][3][FACET_RT_QUAD]; /* corner, axis, triangle */
    uint32_t first;                                 /* triangle */
    uint32_t count;                                 /* of this leaf and those that continue it */
    uint32_t index;                                 /* of the TriRange */
};

/* What may be read: a heap from node 0 on, and the triangles of TriRanges with base 0. Counts are
 * those of indices that lie inside. */
struct facet_rt_heap {
    const uint8_t *bytes;
    uint64_t nodes, ranges;
    const uint8_t *triangles;
    uint64_t triangle_count;
    bool node8;
};

struct facet_rt_decoded {
    struct facet_rt_node *node;
    struct facet_rt_leaf *leaf;
    uint32_t node_room, leaf_room;
    _Atomic uint32_t nodes, leaves; /* in use */
    _Atomic uint32_t *place;        /* of an index: 1 + number of its node; 0: not decoded */
    uint64_t indices;               /* length of place */
    /* Nothing was decoded from these indices on. */
    _Atomic uint64_t node_end, range_end, triangle_end;
    const uint8_t *memory; /* that everything lies in */
    uint8_t *read;         /* a byte for each of its pages: `mark` when something was read there */
    uint64_t pages;
    uint8_t mark;
    _Atomic uint64_t first, last; /* pages that were read lie between */
};

/* For heaps in `size` bytes of memory. false: the host has no room. */
bool facet_rt_decoded_make(struct facet_rt_decoded *d,
                           const uint8_t *memory,
                           uint64_t size,
                           uint8_t mark);
void facet_rt_decoded_free(struct facet_rt_decoded *d); /* zeroes are allowed */
/* Everything, as after a write to a page that was read. */
void facet_rt_decoded_forget(struct facet_rt_decoded *d);
/* Whether nothing was decoded that a heap, perhaps shorter than before, does not allow. */
bool facet_rt_decoded_fits(const struct facet_rt_decoded *d, const struct facet_rt_heap *heap);

/* The node of an index, which may lie anywhere; FACET_RT_NOWHERE when it cannot be decoded. */
facet_rt_reference
facet_rt_decoded_node(struct facet_rt_decoded *d, const struct facet_rt_heap *heap, uint32_t index);
/* What a reference of 3 modulo 4 stands for, and from now on the parent has it; FACET_RT_NOWHERE
 * when it cannot be decoded. */
facet_rt_reference facet_rt_decoded_child(struct facet_rt_decoded *d,
                                          const struct facet_rt_heap *heap,
                                          facet_rt_reference reference);

/* One node by itself. Its children have references as if it were number `number`. */
void facet_rt_decode_node(const uint8_t *tile,
                          bool node8,
                          uint32_t number,
                          struct facet_rt_node *node);
/* Up to four triangles of 36 bytes. */
void facet_rt_decode_triangles(const uint8_t *triangles,
                               unsigned count,
                               struct facet_rt_leaf *leaf);

#endif
