/* See order.h. */
#include "gfx12/device/order.h"

#include "gfx12/device/shared.h"

#include <math.h>

enum { WINDOWS = 64, WINDOW = 32, FEW_RAYS = 1 << 16, FEW_OCTANTS = 2 };

uint64_t facet_gfx12_order_bytes(void)
{
    return (DEVICE_ORDER_KEYS + DEVICE_ORDER_KEYS / DEVICE_GROUP) * sizeof(uint32_t);
}

/* Into how many of the eight octants neighbours go. */
static unsigned octants(const struct facet_gfx12_batch_ray rays[WINDOW])
{
    unsigned seen = 0;

    for (unsigned i = 0; i < WINDOW; i++) {
        const float *d = rays[i].direction;

        seen |= 1U << ((signbit(d[0]) ? 1 : 0) | (signbit(d[1]) ? 2 : 0) | (signbit(d[2]) ? 4 : 0));
    }
    return (unsigned)__builtin_popcount(seen);
}

bool facet_gfx12_order_helps(const struct facet_gfx12_batch_ray *rays, size_t count)
{
    unsigned sum = 0;

    for (size_t i = 0; i < WINDOWS && count >= FEW_RAYS; i++) {
        sum += octants(rays + i * (count - WINDOW) / (WINDOWS - 1));
    }
    return sum > FEW_OCTANTS * WINDOWS;
}

enum facet_status facet_gfx12_order_rays(const struct facet_gfx12_order *s, struct facet_error *err)
{
    const struct facet_opencl_argument with_rays[] = {{s->common, 0},
                                                      {s->boxes, 0},
                                                      {s->rays, 0},
                                                      {NULL, (uint32_t)s->count},
                                                      {s->key_of_ray, 0},
                                                      {s->keys, 0},
                                                      {s->list, 0}};
    const struct facet_opencl_argument *count = &with_rays[3], *keys = &with_rays[5];
    const struct {
        const char *kernel;
        const struct facet_opencl_argument *arguments;
        unsigned argument_count;
        size_t items;
    } runs[] = {{"facet_order_count", with_rays, 6, s->count},
                {"facet_order_keys", keys, 1, DEVICE_ORDER_KEYS},
                {"facet_order_groups", keys, 1, DEVICE_GROUP},
                {"facet_order_list", count, 4, s->count}};
    enum facet_status status =
        facet_opencl_clear(s->cl, s->keys, 0, facet_gfx12_order_bytes(), err);

    for (size_t i = 0; i < sizeof runs / sizeof runs[0] && status == FACET_OK; i++) {
        status = facet_opencl_run(s->cl,
                                  runs[i].kernel,
                                  runs[i].arguments,
                                  runs[i].argument_count,
                                  runs[i].items,
                                  s->nanoseconds,
                                  err);
    }
    return status;
}
