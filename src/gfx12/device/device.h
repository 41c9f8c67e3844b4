/* Rays of a tracer on a device of OpenCL: same hits, same bits, same statistics, same failures. The
 * device runs the loops of fast.cl and walk.cl, a ray for each work item. What it
 * declines is traced by the tracer of the host: rays whose stack gets deeper than DEVICE_STACK,
 * those that meet an instance below another one, and those that need a callback (all but
 * facet_gfx12_procedural_box). */
#ifndef FACET_GFX12_DEVICE_DEVICE_H
#define FACET_GFX12_DEVICE_DEVICE_H

#include "gfx12/tracer.h"
#include "opencl/opencl.h"

/* Threads may share one; they take turns. */
typedef struct facet_gfx12_device facet_gfx12_device;

/* Kernels of others in the same program. `texts` are OpenCL C and come before the loop: they may
 * define ANY_HIT_STOPS (walk.cl), which then has to answer what `any_hit` answers on the host. */
struct facet_gfx12_device_addition {
    const char *const *texts;
    unsigned text_count;
    enum facet_gfx12_verdict (*any_hit)(void *context, const struct facet_gfx12_hit *candidate);
    /* FACET_ERR_USAGE when the device computes something else than the host. */
    enum facet_status (*check)(facet_opencl *cl, struct facet_error *err);
};

struct facet_gfx12_device_options {
    size_t number; /* of the device, as facet_opencl_devices counts */
    /* Of the device's memory; 0: half of what it has. An image larger than half of that is streamed
     * in pages, rays in batches. */
    uint64_t max_bytes;
    /* May be NULL. Where the device refuses it, it is open without. */
    const struct facet_gfx12_device_addition *addition;
};

/* Opens a device and tests it (check.h): FACET_ERR_USAGE when it cannot give the bits. */
enum facet_status facet_gfx12_device_open(const struct facet_gfx12_device_options *options,
                                          facet_gfx12_device **out,
                                          struct facet_error *err);
void facet_gfx12_device_close(facet_gfx12_device *device); /* NULL is allowed */
const struct facet_opencl_device *facet_gfx12_device_about(const facet_gfx12_device *device);

/* Why the addition is not there; NULL: it is. */
const char *facet_gfx12_device_without(const facet_gfx12_device *device);

/* Brings an image there; a second one takes the place of the first. The unit must live until then,
 * and like the segments and the bytes stay as it is. */
enum facet_status facet_gfx12_device_image(facet_gfx12_device *device,
                                           const struct facet_gfx12_unit *unit,
                                           struct facet_error *err);

/* What a device did, all batches together. */
struct facet_gfx12_device_figures {
    uint64_t rays;
    uint64_t declined;    /* rays that are left to the host */
    uint64_t launches;    /* of the kernel */
    uint64_t pages;       /* of the image that were brought, 0 when all of it is there */
    uint64_t nanoseconds; /* that kernels took */
    uint64_t sorted;      /* rays that were traced in another order (order.h) */
};
struct facet_gfx12_device_figures facet_gfx12_device_figures(const facet_gfx12_device *device);

/* In which order rays of the host are traced; it changes no result. At first a device decides: a
 * GPU sorts those that go everywhere. */
enum facet_gfx12_device_order {
    FACET_GFX12_DEVICE_DECIDES,
    FACET_GFX12_DEVICE_SORTS,
    FACET_GFX12_DEVICE_KEEPS,
};
void facet_gfx12_device_order(facet_gfx12_device *device, enum facet_gfx12_device_order order);

struct facet_gfx12_device_batch {
    const facet_gfx12_tracer *host; /* of the same unit, for what is declined */
    const struct facet_gfx12_query *common;
    const struct facet_gfx12_batch_ray *rays;
    size_t count;
    struct facet_gfx12_hit *hits;
    struct facet_gfx12_stats *each; /* of each ray; may be NULL */
    struct facet_gfx12_stats *sum;  /* may be NULL */
    /* May be NULL; of every `lost_rays` rays (0: of all) whether one of them, or of a few thousand
     * neighbours, may have met a node that is not there. */
    bool *lost;
    size_t lost_rays;
    /* Called before the host traces ray number `ray`, with the context of the callbacks; may be
     * NULL. The host traces in order, on the calling thread. */
    void (*before)(void *context, size_t ray);
};

/* As facet_gfx12_tracer_batch. FACET_ERR_USAGE for a query with a `visit` callback and for an image
 * whose nodes do not lie on multiples of 64 bytes; FACET_ERR_IO when the device fails. */
enum facet_status facet_gfx12_device_trace(facet_gfx12_device *device,
                                           const struct facet_gfx12_device_batch *batch,
                                           struct facet_error *err);

/* ---- rays that are there ----
 *
 * For kernels of an addition that make rays and take in results (struct device_ray, struct
 * device_result). One thread at a time. */

facet_opencl *facet_gfx12_device_opencl(facet_gfx12_device *device);
/* Bytes that the image leaves of its half of the memory. */
uint64_t facet_gfx12_device_room(const facet_gfx12_device *device);
/* Makes room for *count rays, or as many as fit when each has `more_bytes` besides, in whole groups
 * (FACET_OPENCL_GROUP). */
enum facet_status facet_gfx12_device_reserve(facet_gfx12_device *device,
                                             size_t more_bytes,
                                             size_t *count,
                                             struct facet_error *err);
facet_opencl_memory *facet_gfx12_device_rays(const facet_gfx12_device *device);
facet_opencl_memory *facet_gfx12_device_results(const facet_gfx12_device *device);
/* What ANY_HIT_STOPS looks into for queries with the addition's any_hit; NULL: it is not asked. */
void facet_gfx12_device_ask(facet_gfx12_device *device,
                            const facet_opencl_memory *asked,
                            uint64_t bytes);
/* As facet_gfx12_device_trace for the first `count` of these rays. */
enum facet_status facet_gfx12_device_trace_there(facet_gfx12_device *device,
                                                 const facet_gfx12_tracer *host,
                                                 const struct facet_gfx12_query *common,
                                                 size_t count,
                                                 struct facet_error *err);

#endif
