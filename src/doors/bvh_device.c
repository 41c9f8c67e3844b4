/* Rays of facet/bvh.h on a device of OpenCL. */
#include "doors/bvh.h"

#include "base/error.h"
#include "gfx12/device/device.h"

#include <stdlib.h>

/* Rays that are copied, traced and copied back at a time: enough for a GPU, in 80 MiB. */
enum { PIECE = 1 << 20 };

/* Kept with the image, for the calls to come. */
struct facet_door_device {
    unsigned number; /* as facet_bvh_trace_config has it */
    facet_gfx12_device *device;
    struct facet_gfx12_unit unit;
};

struct room {
    struct facet_gfx12_batch_ray *rays;
    struct facet_gfx12_hit *hits;
};

void facet_door_device_destroy(struct facet_door_device *device)
{
    if (device != NULL) {
        facet_gfx12_device_close(device->device);
        free(device);
    }
}

static enum facet_status open_device(facet_bvh *bvh, unsigned number, struct facet_error *err)
{
    struct facet_gfx12_device_options options = {.number = number - 1};
    struct facet_door_device *d;
    enum facet_status status = FACET_OK;

    if (bvh->device != NULL && bvh->device->number == number) {
        return FACET_OK;
    }
    if (number == FACET_BVH_FIRST_GPU) {
        status = facet_opencl_first_gpu(&options.number, err);
    }
    facet_door_device_destroy(bvh->device);
    bvh->device = NULL;
    if (status != FACET_OK) {
        return status;
    }
    d = calloc(1, sizeof *d);
    if (d == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    d->number = number;
    facet_gfx12_unit_init(&d->unit, bvh->bytes, bvh->size);
    status = facet_gfx12_device_open(&options, &d->device, err);
    if (status == FACET_OK) {
        status = facet_gfx12_device_image(d->device, &d->unit, err);
    }
    if (status != FACET_OK) {
        facet_door_device_destroy(d);
        return status;
    }
    bvh->device = d;
    return FACET_OK;
}

static enum facet_status trace_piece(facet_bvh *bvh,
                                     const facet_gfx12_tracer *host,
                                     const struct facet_gfx12_query *query,
                                     const struct facet_bvh_rays *rays,
                                     size_t first,
                                     size_t count,
                                     const struct room *room,
                                     struct facet_error *err)
{
    for (size_t i = 0; i < count; i++) {
        facet_door_batch_ray(rays, first + i, &room->rays[i]);
    }
    return facet_gfx12_device_trace(
        bvh->device->device,
        &(struct facet_gfx12_device_batch){
            .host = host, .common = query, .rays = room->rays, .count = count, .hits = room->hits},
        err);
}

enum facet_status facet_door_device_trace(facet_bvh *bvh,
                                          unsigned number,
                                          const facet_gfx12_tracer *host,
                                          const struct facet_gfx12_query *query,
                                          const struct facet_bvh_rays *rays,
                                          char *hits,
                                          size_t hit_stride,
                                          struct facet_error *err)
{
    const size_t most = rays->count < PIECE ? rays->count : PIECE;
    const struct room room = {malloc((most + 1) * sizeof *room.rays),
                              malloc((most + 1) * sizeof *room.hits)};
    enum facet_status status = open_device(bvh, number, err);

    if (status == FACET_OK && (room.rays == NULL || room.hits == NULL)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for rays");
    }
    for (size_t first = 0; first < rays->count && status == FACET_OK; first += PIECE) {
        const size_t left = rays->count - first, count = left < PIECE ? left : PIECE;

        status = trace_piece(bvh, host, query, rays, first, count, &room, err);
        if (status == FACET_ERR_LIMIT && err != NULL) {
            err->where += first;
        }
        for (size_t i = 0; i < count && status == FACET_OK; i++) {
            const struct facet_bvh_hit hit = facet_door_hit(&room.hits[i]);

            memcpy(hits + (first + i) * hit_stride, &hit, sizeof hit);
        }
    }
    free(room.rays);
    free(room.hits);
    return status;
}
