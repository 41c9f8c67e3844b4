/* One level (a TLAS or a BLAS) on its way from items to nodes; shared by the files of the builder
 * and for nothing else.
 *
 *   build.c   input checks, items, order of the steps, the image
 *   emit.c    leaves to primitive nodes (pack.h), addresses, box nodes (12.4 - 12.6)
 *   obb.c     oriented boxes (12.7)
 *   high.c    pairs of triangles as items, for the qualities `fast` and `high`
 *   split.c   items with several boxes, for the quality `high` */
#ifndef FACET_GFX12_BUILD_LEVEL_H
#define FACET_GFX12_BUILD_LEVEL_H

#include "bvh/collapse.h"
#include "gfx12/build/build.h"

enum facet_level_kind {
    FACET_LEVEL_TRIANGLES,
    FACET_LEVEL_AABBS,
    FACET_LEVEL_INSTANCES,
};

#define FACET_NO_TRIANGLE UINT32_MAX

/* Quality `high`: an item is up to two triangles. */
struct facet_pair_item {
    uint32_t triangle[2]; /* [1] may be FACET_NO_TRIANGLE */
};

/* Finished bottom level as the top level sees it. */
struct facet_level_summary {
    float lo[3], hi[3]; /* bounds of the root; zero when empty */
    uint8_t cull_flags; /* promises of the whole level */
    bool empty;
    bool procedural;
    uint64_t offset; /* after the top level */
};

struct facet_level {
    enum facet_level_kind kind;
    const struct facet_bvh_triangle *triangles;
    const struct facet_bvh_aabb *aabbs;
    const struct facet_bvh_instance *instances;
    const struct facet_level_summary *blas; /* of the instances */
    uint64_t base;                          /* address of the image, for instance pointers */
    struct facet_bvh_item *items;
    uint32_t item_count;
    struct facet_bvh_item *spare;    /* room for as many items, or NULL */
    struct facet_pair_item *pairs;   /* item.id is an index here; NULL: of the triangles */
    bool shared;                     /* pack across box nodes */
    bool updatable;                  /* nodes with room for any motion */
    struct facet_progress *progress; /* may be NULL */
    struct facet_bvh2 tree;
    struct facet_wide wide;
    struct facet_gfx12_emit *emit; /* of emit.c */
    uint64_t size;                 /* bytes */
};

/* Where the leaves of a wide node went. */
struct facet_leaf_place {
    uint32_t first;   /* primitive node of the first leaf, then of the image */
    uint32_t nodes;   /* nodes begun by this wide node */
    uint8_t order[8]; /* leaf children in output order, as indexes of wide.child */
    uint8_t type[8];
    uint8_t size[8];
};

/* Packs the leaves of level->wide and gives out addresses; level->size is then known, and items and
 * pairs of triangles are needed no more. */
enum facet_status facet_gfx12_level_plan(struct facet_level *level,
                                         bool obb,
                                         facet_pool *pool,
                                         struct facet_level_summary *summary,
                                         struct facet_error *err);
/* Writes the level->size bytes of a planned level. */
enum facet_status facet_gfx12_level_write(const struct facet_level *level,
                                          facet_pool *pool,
                                          uint8_t *image,
                                          struct facet_error *err);
void facet_gfx12_emit_free(struct facet_gfx12_emit *emit); /* NULL is allowed */

/* Triangles of item i, at most two; returns how many. */
static inline uint32_t facet_gfx12_level_item_triangles(const struct facet_level *level,
                                                        uint32_t item,
                                                        const struct facet_bvh_triangle *out[2])
{
    uint32_t id = level->items[item].id;

    if (level->pairs == NULL) {
        out[0] = &level->triangles[id];
        return 1;
    }
    out[0] = &level->triangles[level->pairs[id].triangle[0]];
    if (level->pairs[id].triangle[1] == FACET_NO_TRIANGLE) {
        return 1;
    }
    out[1] = &level->triangles[level->pairs[id].triangle[1]];
    return 2;
}

struct facet_child_box {
    float lo[3], hi[3];
};

/* Chooses a matrix per wide node: index[i] becomes 0..103, or 127 and boxes[8 * i ..] untouched.
 * The boxes of oriented nodes are padded and in the rotated frame, one per child in wide order. */
enum facet_status facet_gfx12_level_obb(const struct facet_level *level,
                                        facet_pool *pool,
                                        uint8_t *index,
                                        struct facet_child_box *boxes,
                                        struct facet_error *err);

/* Pairs neighbouring triangles: the items of `level` are replaced and become its spare ones. */
enum facet_status
facet_gfx12_high_pair(struct facet_level *level, facet_pool *pool, struct facet_error *err);

/* Cuts the boxes of items that waste most area: several items may then have one id. */
enum facet_status
facet_gfx12_level_split(struct facet_level *level, facet_pool *pool, struct facet_error *err);
/* After the collapse: parts of one item in one leaf become one. */
void facet_gfx12_level_join(struct facet_level *level, facet_pool *pool);

/* Pieces of the encoder that a refit needs too. */

struct facet_gfx12_box;

/* World bounds of a BLAS seen through an instance; false when the matrix has no inverse. */
bool facet_gfx12_instance_bounds(const struct facet_bvh_instance *in,
                                 const float blas_lo[3],
                                 const float blas_hi[3],
                                 float out_lo[3],
                                 float out_hi[3]);
/* cull_flags that hold for an instance of a BLAS with these promises. */
uint8_t facet_gfx12_instance_promises(const struct facet_bvh_instance *instance,
                                      uint8_t blas_promises);
/* The node itself; false when the BLAS is too wide. */
bool facet_gfx12_instance_node(const struct facet_bvh_instance *in,
                               const float blas_lo[3],
                               const float blas_hi[3],
                               bool procedural,
                               uint64_t address,
                               uint32_t parent,
                               uint8_t bytes[128]);
/* Origin and exponents for n >= 1 child boxes (float bits); false when they are too wide. */
bool facet_gfx12_box_grid(struct facet_gfx12_box *box,
                          uint32_t lo[8][3],
                          uint32_t hi[8][3],
                          unsigned n);

#endif
