/* Rays that go everywhere keep a GPU waiting: neighbours meet other nodes, or one meets many and
 * the others wait. In another order (order.cl) they keep each other company. */
#ifndef FACET_GFX12_DEVICE_ORDER_H
#define FACET_GFX12_DEVICE_ORDER_H

#include "gfx12/tracer.h"
#include "opencl/opencl.h"

struct facet_gfx12_order {
    facet_opencl *cl;
    facet_opencl_memory *keys;       /* of facet_gfx12_order_bytes */
    facet_opencl_memory *key_of_ray; /* a dword for each ray */
    facet_opencl_memory *common, *boxes, *rays;
    facet_opencl_memory *list; /* becomes the numbers of the rays in their order */
    size_t count;
    uint64_t *nanoseconds; /* as facet_opencl_run has it */
};

uint64_t facet_gfx12_order_bytes(void);
/* Whether the rays are many and go everywhere, by a sample. */
bool facet_gfx12_order_helps(const struct facet_gfx12_batch_ray *rays, size_t count);
enum facet_status facet_gfx12_order_rays(const struct facet_gfx12_order *s,
                                         struct facet_error *err);

#endif
