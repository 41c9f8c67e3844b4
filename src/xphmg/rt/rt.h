/* RT on the hart: what the instructions and jobs of src/xphmg/rt share. The tests themselves are
 * in src/rt.
 *
 * Spec: rt-semantics.md 3 to 12, spec/rt.csr.tsv. */
#ifndef FACET_XPHMG_RT_RT_H
#define FACET_XPHMG_RT_RT_H

#include "rt/layout.h"
#include "rt/rt.h"
#include "xphmg/rt/watch.h"
#include "xphmg/units/elements.h"

/* XSUBMIT.RT: checks and submits the job, x[rd] = its ticket (11.2). */
struct facet_trap facet_xphmg_rt_submit(struct facet_hart *h, const struct facet_insn *in);
/* The job of a checked XPHMG_RT_DESC, under the registers that the hart has now (11.3). */
enum facet_xphmg_rt_error facet_xphmg_rt_run(struct facet_hart *h, const uint8_t *descriptor);

/* ---- status ------------------------------------------------------------------------------------
 */

void facet_xphmg_rt_set_error(struct facet_hart *h, enum facet_xphmg_rt_error error);
void facet_xphmg_rt_count_boxes(struct facet_hart *h, uint64_t tests);
void facet_xphmg_rt_count_triangles(struct facet_hart *h, uint64_t tests);
/* CAP 1.0 is there and so are these bits of RTCAP. */
bool facet_xphmg_rt_supports(const struct facet_hart *h, uint64_t rtcap);
/* Sets LAST_EC and makes the trap 25. */
struct facet_trap facet_xphmg_rt_unsupported(struct facet_hart *h, const struct facet_insn *in);

/* ---- memory ------------------------------------------------------------------------------------
 */

/* `size` bytes at an aligned address: 4 or 8. Every fault is an event. */
struct facet_trap facet_xphmg_rt_read(const struct facet_element_port *port,
                                      uint64_t address,
                                      unsigned size,
                                      uint64_t *value);

/* As facet_elements_read. */
struct facet_trap facet_xphmg_rt_read_elements(const struct facet_element_port *port,
                                               uint64_t base,
                                               uint64_t first,
                                               unsigned count,
                                               uint32_t *elements);

/* One child of a tile: its type, and unless it is empty its box (and index). */
struct facet_xphmg_rt_fetched {
    enum facet_rt_child type;
    uint32_t index;
    uint32_t box[FACET_RT_BOX_ELEMENTS];
};

/* child_flags of the tile at `tile`, which must be a multiple of 64. */
struct facet_trap
facet_xphmg_rt_read_flags(const struct facet_element_port *port, uint64_t tile, uint32_t *flags);
/* Slot 0..3 of a tile; `with_index` as jobs do. */
struct facet_trap facet_xphmg_rt_read_child(const struct facet_element_port *port,
                                            uint64_t tile,
                                            uint32_t flags,
                                            unsigned slot,
                                            bool with_index,
                                            struct facet_xphmg_rt_fetched *child);
/* The TriRange at an address that must be a multiple of 16. */
struct facet_trap facet_xphmg_rt_read_range(const struct facet_element_port *port,
                                            uint64_t address,
                                            struct facet_rt_range *range);
struct facet_trap facet_xphmg_rt_read_triangle(const struct facet_element_port *port,
                                               uint64_t base,
                                               uint32_t triangle,
                                               uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS]);

/* ---- traversal ---------------------------------------------------------------------------------
 */

enum { FACET_XPHMG_RT_STACK = 256, FACET_XPHMG_RT_STEPS = 1 << 24 };

/* What the rays of a job did, and the nodes that came and went in the decoded BVH (batch.h). */
struct facet_xphmg_rt_counts {
    uint64_t rays, hits, nodes, boxes, triangles;
    uint64_t quick_nodes; /* of these: read as decoded ones */
    uint64_t new_nodes, new_leaves, dropped_nodes, dropped_leaves, drops;
    uint32_t deepest; /* the most entries of a stack */
};

/* What a job knows for all of its rays. */
struct facet_xphmg_rt_scene {
    struct facet_element_port port;
    struct facet_rt_numbers numbers;
    struct facet_rt_options options;
    uint64_t heap, triangles; /* bvh_base and tri_buf */
    bool any_hit, node8;
    bool host; /* the host's floating point may do tests: NX is not needed (rt/host.h) */
    struct facet_xphmg_rt_counts *counts; /* NULL: nothing is counted */
    const struct facet_xphmg_rt_watch
        *watch; /* NULL, or notified of everything; `host` is false then */
};

struct facet_xphmg_rt_found {
    bool hit, front;
    uint32_t t, u, v; /* FP32 */
    uint32_t triangle, leaf;
};

/* A ray on its way, between two steps. */
struct facet_xphmg_rt_walk {
    struct facet_rt_ray ray; /* tmax: the closest hit so far */
    struct facet_xphmg_rt_found found;
    uint32_t flags;
    uint32_t steps;
    /* The leaf that it is in: triangles from `next` on, up to range.count, are to be tested. */
    uint32_t leaf, next;
    struct facet_rt_range range;
    uint32_t depth;
    struct facet_xphmg_rt_entry stack[FACET_XPHMG_RT_STACK];
};

/* A ray that has raised `flags` so far. */
void facet_xphmg_rt_walk_begin(struct facet_xphmg_rt_walk *walk,
                               const struct facet_rt_ray *ray,
                               unsigned flags);
/* Closest hit, or with any_hit the first accepted one (11.4), into walk->found. Returns the error
 * that ends the job, FACET_XPHMG_RT_EC_NONE without one. Tests are counted in RTSTAT. *left: the
 * ray was left on its way (part.h); call again for the rest. */
enum facet_xphmg_rt_error facet_xphmg_rt_walk_on(const struct facet_xphmg_rt_scene *scene,
                                                 struct facet_xphmg_rt_walk *walk,
                                                 bool *left);

/* ---- a job that was left -----------------------------------------------------------------------
 */

struct facet_xphmg_rt_queue {
    uint64_t address; /* 0: none */
    uint32_t head, tail, cap;
    uint64_t base;
};

enum {
    FACET_XPHMG_RT_QUEUE_RAYS,
    FACET_XPHMG_RT_QUEUE_HITS,
    FACET_XPHMG_RT_QUEUE_MISSES,
    FACET_XPHMG_RT_QUEUES
};

static inline bool facet_xphmg_rt_queue_in_range(const struct facet_xphmg_rt_queue *q)
{
    return q->cap != 0 && q->head < q->cap && q->tail < q->cap;
}

/* Between two rays, or in the one at the head of the queue. */
struct facet_xphmg_rt_part {
    struct facet_xphmg_rt_queue queue[FACET_XPHMG_RT_QUEUES]; /* as the job knows them */
    bool in_ray;
    uint64_t tag;
    struct facet_xphmg_rt_walk walk;
};

#endif
