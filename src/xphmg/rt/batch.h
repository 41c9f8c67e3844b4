/* Many rays of a job at once (rt/fast.h), on the threads of the hart's pool. Results do not depend
 * on that: rays read only memory that the job never writes, and their outcome is taken into
 * account one by one, in order, by job.c.
 *
 * A ray that needs more than that is not done here; job.c does it alone. */
#ifndef FACET_XPHMG_RT_BATCH_H
#define FACET_XPHMG_RT_BATCH_H

#include "rt/fast.h"
#include "xphmg/rt/rt.h"

/* A range of guest addresses; size 0 for none. */
struct facet_xphmg_rt_stretch {
    uint64_t address, size;
};

enum {
    FACET_XPHMG_RT_STRETCHES = 5,
    /* Of one ray: who needs more is rare, or lost in a malformed tree. A batch takes some
     * milliseconds at most with it. */
    FACET_XPHMG_RT_BATCH_STEPS = 1 << 13,
};

/* What jobs leave to the next: the BVH of the last one, decoded. Belongs to a machine; its harts
 * run one after the other. */
struct facet_xphmg_rt_kept;

struct facet_xphmg_rt_kept *facet_xphmg_rt_kept_create(void);       /* NULL when memory is short */
void facet_xphmg_rt_kept_destroy(struct facet_xphmg_rt_kept *kept); /* NULL is allowed */

struct facet_xphmg_rt_batch {
    uint32_t nodes_before, leaves_before; /* of the decoded BVH */
    struct facet_rt_fast_scene scene;
    const uint8_t *entries; /* slot 0 of the ray queue */
    struct facet_rt_fast_result *results;
    size_t room; /* of results */
};

/* Whether the rays of a job can be traced ahead: the hart has a place to keep its BVH, its numbers
 * are those of the host, its memory is plain RAM that is not watched, and nothing of `rays` (the
 * slots of the ray queue) is among what the job writes. Then *batch is ready; end with
 * facet_xphmg_rt_batch_end. */
bool facet_xphmg_rt_batch_begin(
    const struct facet_xphmg_rt_scene *scene,
    struct facet_xphmg_rt_stretch rays,
    const struct facet_xphmg_rt_stretch writes[FACET_XPHMG_RT_STRETCHES],
    struct facet_xphmg_rt_batch *batch);
void facet_xphmg_rt_batch_end(const struct facet_hart *h,
                              struct facet_xphmg_rt_batch *batch,
                              struct facet_xphmg_rt_counts *counts);

/* Traces slots first .. first + count - 1, count <= batch->room, into batch->results. After a
 * request to stop, the remaining rays are not done. */
void facet_xphmg_rt_batch_trace(const struct facet_hart *h,
                                struct facet_xphmg_rt_batch *batch,
                                uint32_t first,
                                size_t count);

static inline bool facet_xphmg_rt_overlap(struct facet_xphmg_rt_stretch a,
                                          struct facet_xphmg_rt_stretch b)
{
    return a.size != 0 && b.size != 0 &&
           (a.address - b.address < b.size || b.address - a.address < a.size);
}

#endif
