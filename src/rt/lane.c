/* One lane of RT.BBOX or RT.TRI from its elements (rt-semantics.md 7, 8). */
#include "rt/steps.h"

void facet_rt_box_lane_steps(const struct facet_rt_numbers *n,
                             const struct facet_rt_box_options *options,
                             const uint32_t *ray,
                             const uint32_t box[FACET_RT_BOX_ELEMENTS],
                             struct facet_rt_box_lane_steps *steps,
                             unsigned *flags)
{
    const struct facet_rt_slab *slab = &steps->test.slab;
    enum facet_rt_w w = FACET_RT_W_OTHER;
    bool nan;

    *steps = (struct facet_rt_box_lane_steps){.rule = 2, .lane = facet_rt_no_lane(2)};
    if (options->w_guard) {
        w = facet_rt_w_widen(n, ray[FACET_RT_RAY_ELEMENTS], flags);
    }
    if (w == FACET_RT_W_ZERO) {
        return;
    }
    nan = facet_rt_ray_widen(n, ray, &steps->ray, flags);
    nan |= facet_rt_box_widen(n, box, &steps->box, flags);
    if (nan || w == FACET_RT_W_NAN) {
        steps->rule = 3;
        steps->lane.outcome = FACET_RT_NAN;
        return;
    }
    facet_rt_box_steps(n, &steps->ray, &steps->box, &steps->test, flags);
    steps->rule = steps->test.rule;
    steps->lane.outcome = slab->outcome;
    steps->lane.value[0] = options->t_clamp ? slab->cnear : slab->near;
    steps->lane.value[1] = options->t_clamp ? slab->cfar : slab->far;
}

struct facet_rt_lane facet_rt_box_lane(const struct facet_rt_numbers *n,
                                       const struct facet_rt_box_options *options,
                                       const uint32_t *ray,
                                       const uint32_t box[FACET_RT_BOX_ELEMENTS],
                                       unsigned *flags)
{
    struct facet_rt_box_lane_steps steps;

    facet_rt_box_lane_steps(n, options, ray, box, &steps, flags);
    return steps.lane;
}

void facet_rt_triangle_lane_steps(const struct facet_rt_numbers *n,
                                  const struct facet_rt_options *options,
                                  const uint32_t ray[FACET_RT_RAY_ELEMENTS],
                                  const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                                  struct facet_rt_triangle_lane_steps *steps,
                                  unsigned *flags)
{
    const struct facet_rt_facet *hit = &steps->test.facet;
    bool nan;

    *steps = (struct facet_rt_triangle_lane_steps){.rule = 2, .lane = facet_rt_no_lane(3)};
    nan = facet_rt_ray_widen(n, ray, &steps->ray, flags);
    nan |= facet_rt_triangle_widen(n, vertices, &steps->triangle, flags);
    if (nan) {
        steps->lane.outcome = FACET_RT_NAN;
        return;
    }
    facet_rt_triangle_steps(n, &steps->ray, &steps->triangle, options, &steps->test, flags);
    steps->rule = steps->test.rule;
    steps->lane.outcome = hit->outcome;
    steps->lane.value[0] = hit->t;
    steps->lane.value[1] = hit->u;
    steps->lane.value[2] = hit->v;
}

struct facet_rt_lane facet_rt_triangle_lane(const struct facet_rt_numbers *n,
                                            const struct facet_rt_options *options,
                                            const uint32_t ray[FACET_RT_RAY_ELEMENTS],
                                            const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                                            unsigned *flags)
{
    struct facet_rt_triangle_lane_steps steps;

    facet_rt_triangle_lane_steps(n, options, ray, vertices, &steps, flags);
    return steps.lane;
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
