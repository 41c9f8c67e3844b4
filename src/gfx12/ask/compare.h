/* Two images of the same geometry by different builders: do they hold the same triangles, how good
 * are their trees, what do the same rays cost in them. */
#ifndef FACET_GFX12_ASK_COMPARE_H
#define FACET_GFX12_ASK_COMPARE_H

#include "gfx12/image/stats.h"
#include "gfx12/tracer.h"

struct facet_gfx12_side {
    struct facet_gfx12_bvh_stats stats;
    double overlap; /* mean over box nodes: areas that two children share, over the node's area */
    uint64_t reached_bytes;
    /* over the rays */
    uint64_t hits;
    struct facet_gfx12_stats cost;
};

struct facet_gfx12_stray {
    unsigned side;  /* the image that has it: 0 or 1 */
    uint32_t level; /* number of the bottom level, in the order of its first instance */
    uint32_t geometry, primitive;
};

#define FACET_GFX12_STRAYS 8

struct facet_gfx12_comparison {
    struct facet_gfx12_side side[2];
    /* Primitives by corners, winding and numbers, bottom level by bottom level; a copy of a
     * primitive in the same level (a cut one) counts once. */
    uint64_t primitives[2], copies[2], only[2];
    uint64_t other_flags; /* primitives of both with other opacity or sides */
    /* Several nodes of one instance count once. Moved: other matrix, mask, flags or user data. */
    uint64_t instances[2], moved;
    struct facet_gfx12_stray stray[FACET_GFX12_STRAYS];
    unsigned strays;
    uint64_t rays, other_hits; /* other: hit or miss, or t by more than 10^-5 */
};

/* Whether both trees have the same nodes in the same places, so that a comparison field by field
 * says more. */
bool facet_gfx12_same_shape(const struct facet_gfx12_view *a,
                            const struct facet_gfx12_walk *walk_a,
                            const struct facet_gfx12_view *b,
                            const struct facet_gfx12_walk *walk_b);

/* Traces rays somewhere else than on the pool, as facet_gfx12_tracer_batch does, which may be asked
 * for some of them. */
typedef enum facet_status facet_gfx12_trace_fn(void *context,
                                               const struct facet_gfx12_unit *unit,
                                               const facet_gfx12_tracer *tracer,
                                               const struct facet_gfx12_query *common,
                                               const struct facet_gfx12_batch_ray *rays,
                                               size_t count,
                                               struct facet_gfx12_hit *hits,
                                               struct facet_gfx12_stats *sum,
                                               struct facet_error *err);

/* `elsewhere` may be NULL. */
enum facet_status facet_gfx12_compare(const struct facet_gfx12_view views[2],
                                      const struct facet_gfx12_walk walks[2],
                                      const struct facet_gfx12_batch_ray *rays,
                                      size_t count,
                                      facet_pool *pool,
                                      facet_gfx12_trace_fn *elsewhere,
                                      void *context,
                                      struct facet_gfx12_comparison *out,
                                      struct facet_error *err);

/* `count` rays from around the box to points in it; the same for the same box everywhere. */
void facet_gfx12_sample_rays(const float lo[3],
                             const float hi[3],
                             struct facet_gfx12_batch_ray *rays,
                             size_t count);

#endif
