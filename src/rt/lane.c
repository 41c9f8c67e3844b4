/* One lane of RT.BBOX or RT.TRI from its elements (rt-semantics.md 7, 8). */
#include "rt/rt.h"

struct facet_rt_lane facet_rt_box_lane(const struct facet_rt_numbers *n,
                                       const struct facet_rt_box_options *options,
                                       const uint32_t *ray,
                                       const uint32_t box[FACET_RT_BOX_ELEMENTS],
                                       unsigned *flags)
{
    struct facet_rt_lane lane = facet_rt_no_lane(2);
    enum facet_rt_w w = FACET_RT_W_OTHER;
    struct facet_rt_ray wide_ray;
    struct facet_rt_box wide_box;
    struct facet_rt_slab slab;
    bool nan;

    if (options->w_guard) {
        w = facet_rt_w_widen(n, ray[FACET_RT_RAY_ELEMENTS], flags);
    }
    if (w == FACET_RT_W_ZERO) {
        return lane;
    }
    nan = facet_rt_ray_widen(n, ray, &wide_ray, flags);
    nan |= facet_rt_box_widen(n, box, &wide_box, flags);
    if (nan || w == FACET_RT_W_NAN) {
        lane.outcome = FACET_RT_NAN;
        return lane;
    }
    slab = facet_rt_test_box(n, &wide_ray, &wide_box, flags);
    lane.outcome = slab.outcome;
    lane.value[0] = options->t_clamp ? slab.cnear : slab.near;
    lane.value[1] = options->t_clamp ? slab.cfar : slab.far;
    return lane;
}

struct facet_rt_lane facet_rt_triangle_lane(const struct facet_rt_numbers *n,
                                            const struct facet_rt_options *options,
                                            const uint32_t ray[FACET_RT_RAY_ELEMENTS],
                                            const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                                            unsigned *flags)
{
    struct facet_rt_lane lane = facet_rt_no_lane(3);
    struct facet_rt_ray wide_ray;
    struct facet_rt_triangle triangle;
    struct facet_rt_facet hit;
    bool nan = facet_rt_ray_widen(n, ray, &wide_ray, flags);

    nan |= facet_rt_triangle_widen(n, vertices, &triangle, flags);
    if (nan) {
        lane.outcome = FACET_RT_NAN;
        return lane;
    }
    hit = facet_rt_test_triangle(n, &wide_ray, &triangle, options, flags);
    lane.outcome = hit.outcome;
    lane.value[0] = hit.t;
    lane.value[1] = hit.u;
    lane.value[2] = hit.v;
    return lane;
}

void facet_rt_lane_encode(const struct facet_rt_numbers *n,
                          bool packed,
                          const struct facet_rt_lane *lane,
                          uint32_t out[3],
                          unsigned *flags)
{
    for (unsigned i = 0; i < lane->count; i++) {
        enum facet_rt_absent absent = i == 0             ? FACET_RT_HIGH
                                      : lane->count == 2 ? FACET_RT_LOW
                                                         : FACET_RT_ZERO;

        out[i] = facet_rt_encode(n, packed, lane->outcome, lane->value[i], absent, flags);
    }
}
