/* The hierarchy that facet/bvh.h hides. */
#ifndef FACET_DOORS_BVH_H
#define FACET_DOORS_BVH_H

#include "doors/doors.h"
#include "gfx12/tracer.h"
#include "rt_image/image.h"

#include <facet/bvh.h>

struct facet_door_rt; /* a machine that traces an RT image */

struct facet_bvh {
    enum facet_bvh_format format;
    uint8_t *bytes;
    uint64_t size;
    facet_gfx12_tracer *tracer[2]; /* GFX12, the fast and the plain one: made when first needed */
    struct facet_door_rt *rt;      /* XPHMG: likewise */
    struct facet_door_device *device; /* GFX12: that of the last trace that asked for one */
};

static inline const float *facet_door_stride_at(const float *first, size_t stride, size_t i)
{
    return (const float *)(const void *)((const char *)first + i * stride);
}

/* Ray i: origin, direction, t_min, t_max. */
static inline void facet_door_ray_at(const struct facet_bvh_rays *rays, size_t i, float out[8])
{
    memcpy(out, facet_door_stride_at(rays->origin, rays->origin_stride, i), 3 * sizeof *out);
    memcpy(
        out + 3, facet_door_stride_at(rays->direction, rays->direction_stride, i), 3 * sizeof *out);
    out[6] = rays->t_min != NULL ? *facet_door_stride_at(rays->t_min, rays->t_min_stride, i) : 0.0F;
    out[7] = rays->t_max != NULL ? *facet_door_stride_at(rays->t_max, rays->t_max_stride, i)
                                 : __builtin_inff();
}

static inline void
facet_door_batch_ray(const struct facet_bvh_rays *rays, size_t i, struct facet_gfx12_batch_ray *out)
{
    float ray[8];

    facet_door_ray_at(rays, i, ray);
    memcpy(out->origin, ray, sizeof out->origin);
    memcpy(out->direction, ray + 3, sizeof out->direction);
    out->t_min = ray[6];
    out->t_max = ray[7];
}

static inline struct facet_bvh_hit facet_door_miss(void)
{
    return (struct facet_bvh_hit){.t = __builtin_inff(),
                                  .primitive = UINT32_MAX,
                                  .geometry = UINT32_MAX,
                                  .instance = UINT32_MAX,
                                  .node = UINT32_MAX};
}

static inline struct facet_bvh_hit facet_door_hit(const struct facet_gfx12_hit *from)
{
    return from->found
               ? (struct facet_bvh_hit){.t = from->t,
                                        .u = from->u,
                                        .v = from->v,
                                        .flags = FACET_BVH_HIT |
                                                 (from->backface ? (uint32_t)FACET_BVH_BACK : 0),
                                        .primitive = from->primitive_index,
                                        .geometry = from->geometry_index,
                                        .instance = from->instance != FACET_GFX12_INVALID
                                                        ? from->instance_user_data
                                                        : UINT32_MAX,
                                        .node = from->node}
               : facet_door_miss();
}

/* The ray: origin, direction, t_min, t_max. */
static inline struct facet_gfx12_query facet_door_query(const struct facet_bvh_trace_config *config,
                                                        const float ray[8])
{
    struct facet_gfx12_query query;

    facet_gfx12_query_init(&query, ray, ray + 3);
    query.t_min = ray[6];
    query.t_max = ray[7];
    query.instance_mask = config->mask != 0 ? config->mask & 0xFF : 0xFF;
    query.api_flags = (config->any_hit ? FACET_GFX12_API_TERMINATE_ON_FIRST_HIT : 0) |
                      (config->cull_back ? (uint32_t)FACET_GFX12_CULL_BACK_FACING : 0);
    return query;
}

/* Rays through an RT image: jobs of XSUBMIT.RT. Hits are packed with the stride. */
enum facet_status facet_door_rt_trace(facet_bvh *bvh,
                                      const struct facet_bvh_trace_config *config,
                                      const struct facet_bvh_rays *rays,
                                      struct facet_bvh_hit *hits,
                                      size_t hit_stride,
                                      struct facet_error *err);
/* Rays through a GFX12 image on device `number` of the configuration, not 0. */
enum facet_status facet_door_device_trace(facet_bvh *bvh,
                                          unsigned number,
                                          const facet_gfx12_tracer *host,
                                          const struct facet_gfx12_query *query,
                                          const struct facet_bvh_rays *rays,
                                          char *hits,
                                          size_t hit_stride,
                                          struct facet_error *err);
void facet_door_device_destroy(struct facet_door_device *device); /* NULL is allowed */
void facet_door_rt_destroy(struct facet_door_rt *rt);             /* NULL is allowed */

#endif
