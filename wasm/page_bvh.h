/* An image as the page holds it: bytes of its own, where they lie, and what was found out. */
#ifndef FACET_WASM_PAGE_BVH_H
#define FACET_WASM_PAGE_BVH_H

#include "gfx12/drivers/structures.h"
#include "gfx12/image/walk.h"
#include "rt_image/check.h"
#include "scene/scene.h"
#include "wasm/page.h"

#include <facet/bvh.h>

/* The places of an image of XPHMG_RT and the nodes of its tree. */
struct page_rt_places {
    struct facet_rtbvh_place *sorted; /* by address */
    uint32_t *number;                 /* of the node, by place; FACET_NONE for none */
    uint32_t sorted_count;
    uint32_t *place; /* of `sorted`, by number of the node */
    uint32_t count;
};

struct page_bvh {
    facet_bvh *bvh; /* checks, prints and traces images in one piece */
    enum facet_bvh_format format;
    struct facet_gfx12_view view; /* GFX12: what everything about places goes by */
    struct facet_gfx12_segment *segments;
    struct facet_gfx12_structures structures; /* of a driver or a capture; count 0: none */
    bool walked;
    struct facet_gfx12_walk walk; /* once walked; order has parents after children */
    struct page_rt_places rt;     /* XPHMG_RT, once the tree was made */
    uint32_t *number; /* of the tree, by unit of 64 bytes: FACET_NONE where no node is */
};

/* ---- page_structures.c ---- */

/* How the page was told to open an image. */
struct page_bvh_place {
    const char *driver; /* as for --driver; "": no header is looked for */
    int64_t structure;  /* of a capture or a driver; negative: where the program would start */
    uint64_t base;
    uint32_t root;            /* 0: that of the structure, or the usual one */
    const uint64_t *segments; /* address, offset and size of each piece */
    size_t segment_count;
};

/* Sets view, segments and structures. *own becomes what the image holds where that is not `image`
 * itself: the view points at one of them. */
enum facet_status page_bvh_place(struct page_bvh *b,
                                 const struct page_bvh_place *place,
                                 const uint8_t *image,
                                 size_t size,
                                 struct facet_blob *own,
                                 struct facet_error *err);
/* Members of an open object: what `facet bvh info --json` says about structures. */
void page_bvh_put_structures(const struct page_bvh *b, struct facet_record *r);

/* ---- page_rt_tree.c: answers for images of XPHMG_RT ---- */

int page_rt_tree(struct page_bvh *b);
void page_rt_forget(struct page_bvh *b);
int page_rt_triangles(const struct page_bvh *b, uint32_t first, uint32_t count);
/* Once the tree was made. */
int page_rt_node(const struct page_bvh *b, uint32_t i);
int page_rt_figures(const struct page_bvh *b);
/* The number of the node or TriRange that has the byte, once the tree was made; else FACET_NONE. */
uint32_t
page_rt_node_at(const struct page_bvh *b, const struct facet_rtbvh_view *view, uint64_t offset);

/* ---- page_bvh.c ---- */

/* Walks the image unless that was done: nodes are then numbered, parents before children. */
enum facet_status page_bvh_walk(struct page_bvh *b, struct facet_error *err);
/* The unit of 64 bytes at which node i of the tree begins. */
static inline uint32_t page_bvh_unit(const struct page_bvh *b, uint32_t i)
{
    return b->walk.order[b->walk.reached - 1 - i];
}
/* The number of the node that has the byte, FACET_NONE when none does. */
uint32_t page_bvh_node_at(const struct page_bvh *b, uint64_t offset);
/* FACET_ERR_USAGE for images of XPHMG_RT. */
enum facet_status page_bvh_needs_gfx12(const struct page_bvh *b, struct facet_error *err);
/* Moves a camera to where the page has it: ten numbers, eye, target, up and the angle in degrees;
 * none leave it alone. */
enum facet_status page_camera_move(const double *numbers,
                                   size_t bytes,
                                   struct facet_scene_camera *camera,
                                   struct facet_error *err);
struct facet_shade_ray;
/* An answer of eight floats. */
int page_give_ray(const struct facet_shade_ray *ray);
/* A ray of eight floats: origin, direction, t_min, t_max. */
struct facet_gfx12_query
page_bvh_query(const struct page_bvh *b, const float *ray, uint32_t flags, uint32_t mask);

#endif
