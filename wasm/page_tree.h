/* The nodes of an image as columns of numbers, for views that show millions of them. Between
 * page_bvh_tree.c and page_rt_tree.c, which fill them in. */
#ifndef FACET_WASM_PAGE_TREE_H
#define FACET_WASM_PAGE_TREE_H

#include "wasm/page_bvh.h"

#include <math.h>

enum { PAGE_TREE_HEAD = 16 };
enum { PAGE_TRIANGLE_WORDS = 12 }; /* nine floats, then node, geometry, primitive */

struct page_tree {
    uint32_t count, level_count, instance_count;
    uint32_t slots;         /* of a box node */
    double *offset;         /* per node, in bytes */
    double *level_base;     /* per level */
    uint32_t *id;           /* per node, from here on */
    int32_t *parent;        /* -1: the root */
    uint32_t *level;        /* number */
    uint32_t *triangles;    /* in or below it */
    uint32_t *depth;        /* from the root of everything */
    float *box;             /* six each: lo, hi */
    float *area, *overlap;  /* see types.ts */
    float *cost;            /* its part, with all below it, of the SAH cost of its level */
    uint32_t *level_root;   /* per level: a node */
    uint32_t *instance;     /* per instance: its node */
    int32_t *instance_goes; /* per instance: the level it shows, -1: none */
    float *to_world;        /* per instance: twelve */
    uint8_t *kind, *slot, *children;
};

/* The bytes of an answer with room for the counts of `t`, into which its columns then point; NULL
 * when memory is short. */
uint8_t *page_tree_make(struct page_tree *t, size_t *size);

/* ---- boxes of six floats: lo, hi ---- */

static inline void page_box_empty(float box[6])
{
    for (unsigned k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
    }
}

static inline void page_box_widen(float box[6], const float lo[3], const float hi[3])
{
    for (unsigned k = 0; k < 3; k++) {
        box[k] = fminf(box[k], lo[k]);
        box[3 + k] = fmaxf(box[3 + k], hi[k]);
    }
}

/* Half of it. */
float page_box_surface(const float box[6]);
/* The surface of what two boxes share, summed over all pairs but those with one ID, relative to the
 * surface of all. */
float page_box_overlap(const float (*boxes)[6], const uint32_t *id, unsigned count);

#endif
