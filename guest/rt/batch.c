/* Rays by descriptor: a ray queue and a hit queue in memory, XSUBMIT.RT, XFENCE.WAIT
 * (rt-semantics.md 5.4, 11). Misses are not recorded: a ray without a hit entry missed. */
#include "rt.h"

#include <string.h>
#include <xphmg.h>

/* One slot of a queue stays empty, so that head == tail means empty. */
size_t rt_batch_bytes(uint32_t capacity)
{
    return ((size_t)capacity + 1) *
           (sizeof(struct xphmg_ray_entry_32) + sizeof(struct xphmg_hit_entry_32));
}

void rt_batch_make(struct rt_batch *batch, void *memory, uint32_t capacity)
{
    batch->rays = memory;
    batch->hits = (struct xphmg_hit_entry_32 *)(batch->rays + capacity + 1);
    batch->capacity = capacity;
}

static bool run(const struct rt_batch *batch, const struct rt_bvh *bvh, uint32_t count, bool any)
{
    struct xphmg_queue rays = {0, count, batch->capacity + 1, 0, (uint64_t)batch->rays};
    struct xphmg_queue hits = {0, 0, batch->capacity + 1, 0, (uint64_t)batch->hits};
    struct xphmg_rt_desc job = {
        .bvh_base = (uint64_t)bvh->heap,
        .rayq_desc = (uint64_t)&rays,
        .hitq_desc = (uint64_t)&hits,
        .tri_buf = (uint64_t)bvh->triangles,
        .opts = (any ? XPHMG_RT_DESC_OPTS_ANY_HIT : 0) |
                (bvh->children == 8 ? XPHMG_RT_DESC_OPTS_NODE8 : 0),
    };

    __asm__ volatile("" ::"r"(&rays), "r"(&hits), "r"(&job) : "memory");
    xphmg_xfence_wait(xphmg_xsubmit_rt(&job));
    return *(volatile uint32_t *)&rays.head == count; /* an error leaves its ray in the queue */
}

/* The same without jobs; the nearest hit serves for any. */
static enum rt_status trace_each(const struct rt_bvh *bvh,
                                 const struct xphmg_ray_record_32 *rays,
                                 uint32_t count,
                                 bool *found,
                                 struct rt_hit *hits)
{
    for (uint32_t i = 0; i < count; i++) {
        enum rt_status status = rt_closest(bvh, &rays[i], &hits[i]);

        if (status < 0) {
            return status;
        }
        found[i] = status == RT_HIT;
    }
    return RT_OK;
}

enum rt_status rt_batch_trace(struct rt_batch *batch,
                              const struct rt_bvh *bvh,
                              const struct xphmg_ray_record_32 *rays,
                              uint32_t count,
                              bool any,
                              bool *found,
                              struct rt_hit *hits)
{
    if (!bvh->jobs) {
        return trace_each(bvh, rays, count, found, hits);
    }
    for (uint32_t first = 0; first < count; first += batch->capacity) {
        uint32_t now = count - first < batch->capacity ? count - first : batch->capacity;

        for (uint32_t i = 0; i < now; i++) {
            batch->rays[i].ray = rays[first + i];
            batch->rays[i].tag = first + i;
            batch->hits[i].tag = UINT64_MAX; /* no ray has this number */
            found[first + i] = false;
        }
        if (!run(batch, bvh, now, any)) {
            return RT_JOB_FAILED;
        }
        for (uint32_t i = 0; i < now && batch->hits[i].tag != UINT64_MAX; i++) {
            const struct xphmg_hit_entry_32 *e = &batch->hits[i];

            found[e->tag] = true;
            hits[e->tag] = (struct rt_hit){e->t,
                                           e->u,
                                           e->v,
                                           e->triangle,
                                           e->leaf,
                                           (e->flags & XPHMG_HIT_ENTRY_FLAGS_FRONT) != 0};
        }
    }
    return RT_OK;
}
