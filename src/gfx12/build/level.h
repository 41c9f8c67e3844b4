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
    const struct facet_bvh_blas_input *input; /* of a bottom level */
    const struct facet_bvh_instance *instances;
    const struct facet_level_summary *blas; /* of the instances */
    uint64_t base;                          /* address of the image, for instance pointers */
    struct facet_bvh_item *items;           /* until the tree is made */
    uint32_t item_count;
    struct facet_bvh_item *spare;  /* room for as many items, or NULL */
    uint32_t *ids;                 /* from then on: what the items are, in the order of the tree */
    uint8_t *weights;              /* and what they weigh, until the collapse */
    struct facet_pair_item *pairs; /* an id is an index here; NULL: of the triangles */
    bool shared;                   /* pack across box nodes */
    bool updatable;                /* nodes with room for any motion */
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

/* Makes the box nodes, packs the leaves of level->wide and gives out addresses; level->size is then
 * known. Frees what is needed no more as soon as it is: memory is shortest here. */
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

/* Triangles of what has this id, at most two, as numbers of the input; returns how many. */
static inline uint32_t
facet_gfx12_level_numbers(const struct facet_level *level, uint32_t id, uint32_t out[2])
{
    if (level->pairs == NULL) {
        out[0] = id;
        return 1;
    }
    out[0] = level->pairs[id].triangle[0];
    out[1] = level->pairs[id].triangle[1];
    return out[1] == FACET_NO_TRIANGLE ? 1 : 2;
}

/* The triangles themselves, which may have to be put together in `room`. */
static inline uint32_t facet_gfx12_level_triangles(const struct facet_level *level,
                                                   uint32_t id,
                                                   struct facet_bvh_triangle room[2],
                                                   const struct facet_bvh_triangle *out[2])
{
    uint32_t number[2];
    const uint32_t count = facet_gfx12_level_numbers(level, id, number);

    for (uint32_t i = 0; i < count; i++) {
        out[i] = facet_bvh_triangle_at(level->input, number[i], &room[i]);
    }
    return count;
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

struct facet_gfx12_instance;

/* World bounds of a BLAS seen through an instance; false when the matrix has no inverse. */
bool facet_gfx12_instance_bounds(const struct facet_bvh_instance *in,
                                 const float blas_lo[3],
                                 const float blas_hi[3],
                                 float out_lo[3],
                                 float out_hi[3]);
/* cull_flags that hold for an instance of a BLAS with these promises. */
uint8_t facet_gfx12_instance_promises(const struct facet_bvh_instance *instance,
                                      uint8_t blas_promises);
/* What a node takes from the scene's instance: matrix, flags, mask and user data; `address` is that
 * of its BLAS. */
void facet_gfx12_instance_place(const struct facet_bvh_instance *in,
                                bool procedural,
                                uint64_t address,
                                struct facet_gfx12_instance *node);

#endif
