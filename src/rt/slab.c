/* A ray against a box (rt-semantics.md 7). Two roundings per plane, no padding; conservative boxes
 * are the builder's business (R-RT-50). */
#include "rt/steps.h"

#include "num/accum.h"
#include "rt/fp32.h"

/* Where the line is between the two planes of an axis. */
static struct facet_rt_axis_steps axis(const struct facet_conv *c,
                                       const struct facet_rt_ray *ray,
                                       unsigned a,
                                       uint32_t min,
                                       uint32_t max,
                                       unsigned *flags)
{
    uint32_t o = ray->o[a], d = ray->d[a];
    bool backward = (d & FACET_RT_SIGN) != 0;
    struct facet_rt_axis_steps s = {.near = backward ? max : min, .far = backward ? min : max};

    s.inv = facet_acc_div(c, FACET_RT_ONE, d, flags);
    s.parallel = facet_rt_magnitude(s.inv) == FACET_RT_INF;
    if (s.parallel) { /* everywhere or nowhere */
        s.inside = facet_acc_le(c, min, o, flags) && facet_acc_le(c, o, max, flags);
        s.tn = s.inside ? FACET_RT_INF | FACET_RT_SIGN : FACET_RT_INF;
        s.tf = s.tn ^ FACET_RT_SIGN;
        return s;
    }
    s.near_o = facet_acc_sub(c, s.near, o, flags);
    s.tn = facet_acc_mul(c, s.near_o, s.inv, flags);
    s.far_o = facet_acc_sub(c, s.far, o, flags);
    s.tf = facet_acc_mul(c, s.far_o, s.inv, flags);
    return s;
}

void facet_rt_box_steps(const struct facet_rt_numbers *n,
                        const struct facet_rt_ray *ray,
                        const struct facet_rt_box *box,
                        struct facet_rt_box_steps *steps,
                        unsigned *flags)
{
    const struct facet_conv *c = &n->channel[0]; /* of which only mode and FTZ act here */
    struct facet_rt_slab *slab = &steps->slab;
    struct facet_rt_axis_steps *t = steps->axis;
    bool nan = false;

    *steps = (struct facet_rt_box_steps){.rule = 4, .slab.outcome = FACET_RT_MISS};
    for (unsigned a = 0; a < 3; a++) {
        if (facet_acc_lt(c, box->max[a], box->min[a], flags)) {
            steps->inverted = a;
            return;
        }
    }
    steps->rule = 5;
    for (unsigned a = 0; a < 3; a++) {
        t[a] = axis(c, ray, a, box->min[a], box->max[a], flags);
        nan |= facet_rt_is_nan(t[a].tn) || facet_rt_is_nan(t[a].tf);
    }
    if (nan) {
        slab->outcome = FACET_RT_NAN;
        return;
    }
    steps->rule = 6;
    slab->near = facet_acc_max(c, facet_acc_max(c, t[0].tn, t[1].tn, flags), t[2].tn, flags);
    slab->far = facet_acc_min(c, facet_acc_min(c, t[0].tf, t[1].tf, flags), t[2].tf, flags);
    slab->cnear = facet_acc_max(c, slab->near, ray->tmin, flags);
    slab->cfar = facet_acc_min(c, slab->far, ray->tmax, flags);
    if (facet_acc_le(c, slab->cnear, slab->cfar, flags)) {
        steps->rule = 7;
        slab->outcome = FACET_RT_HIT;
    }
}

struct facet_rt_slab facet_rt_test_box(const struct facet_rt_numbers *n,
                                       const struct facet_rt_ray *ray,
                                       const struct facet_rt_box *box,
                                       unsigned *flags)
{
    struct facet_rt_box_steps steps;

    facet_rt_box_steps(n, ray, box, &steps, flags);
    return steps.slab;
}
