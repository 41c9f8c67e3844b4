/* What a flight of rays leaves on a device, brought into the arrays of the host: what the device
 * found, and what the host finds for the rays that the device declined. */
#ifndef FACET_GFX12_DEVICE_HITS_H
#define FACET_GFX12_DEVICE_HITS_H

#include "gfx12/device/device.h"

struct facet_gfx12_landed {
    facet_opencl *cl;
    facet_opencl_memory *results, *fate;
    facet_opencl_memory *states; /* are overwritten */
    facet_opencl_memory *declined;
    size_t count; /* of rays ... */
    size_t declined_count;
    size_t first;          /* ... from this one of the batch on */
    uint64_t *nanoseconds; /* that kernels take; lives as facet_opencl_run asks for */
};

/* Into the arrays of the batch; adds to *sum and *lost. */
enum facet_status facet_gfx12_hits_bring(const struct facet_gfx12_landed *l,
                                         const struct facet_gfx12_device_batch *b,
                                         struct facet_error *err);
/* The numbers of rays that the device declined, in order; free them, also after a failure. */
enum facet_status facet_gfx12_hits_declined(const struct facet_gfx12_landed *l,
                                            uint32_t **list,
                                            struct facet_error *err);
/* Ray `i` of the batch on the host. */
enum facet_status facet_gfx12_hits_trace(const struct facet_gfx12_device_batch *b,
                                         size_t i,
                                         struct facet_gfx12_stats *stats,
                                         struct facet_error *err);

#endif
