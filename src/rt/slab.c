/* A ray against a box (rt-semantics.md 7). Two roundings per plane, no padding; conservative boxes
 * are the builder's business (R-RT-50). */
#include "rt/rt.h"

#include "num/accum.h"
#include "rt/fp32.h"

struct interval {
    uint32_t near, far;
};

/* Where the line is between the two planes of an axis. */
static struct interval axis(const struct facet_conv *c,
                            const struct facet_rt_ray *ray,
                            unsigned a,
                            uint32_t min,
                            uint32_t max,
                            unsigned *flags)
{
    uint32_t o = ray->o[a], d = ray->d[a];
    uint32_t inverse = facet_acc_div(c, FACET_RT_ONE, d, flags);
    bool backward = (d & FACET_RT_SIGN) != 0;
    uint32_t near = backward ? max : min, far = backward ? min : max;

    if ((inverse & ~FACET_RT_SIGN) == FACET_RT_INF) { /* parallel: everywhere or nowhere */
        bool inside = facet_acc_le(c, min, o, flags) && facet_acc_le(c, o, max, flags);

        return inside ? (struct interval){FACET_RT_INF | FACET_RT_SIGN, FACET_RT_INF}
                      : (struct interval){FACET_RT_INF, FACET_RT_INF | FACET_RT_SIGN};
    }
    return (struct interval){
        facet_acc_mul(c, facet_acc_sub(c, near, o, flags), inverse, flags),
        facet_acc_mul(c, facet_acc_sub(c, far, o, flags), inverse, flags),
    };
}

struct facet_rt_slab facet_rt_test_box(const struct facet_rt_numbers *n,
                                       const struct facet_rt_ray *ray,
                                       const struct facet_rt_box *box,
                                       unsigned *flags)
{
    const struct facet_conv *c = &n->channel[0]; /* of which only mode and FTZ act here */
    struct facet_rt_slab slab = {.outcome = FACET_RT_MISS};
    struct interval t[3];
    bool nan = false;

    for (unsigned a = 0; a < 3; a++) {
        if (facet_acc_lt(c, box->max[a], box->min[a], flags)) {
            return slab;
        }
    }
    for (unsigned a = 0; a < 3; a++) {
        t[a] = axis(c, ray, a, box->min[a], box->max[a], flags);
        nan |= facet_rt_is_nan(t[a].near) || facet_rt_is_nan(t[a].far);
    }
    if (nan) {
        slab.outcome = FACET_RT_NAN;
        return slab;
    }
    slab.near = facet_acc_max(c, facet_acc_max(c, t[0].near, t[1].near, flags), t[2].near, flags);
    slab.far = facet_acc_min(c, facet_acc_min(c, t[0].far, t[1].far, flags), t[2].far, flags);
    slab.cnear = facet_acc_max(c, slab.near, ray->tmin, flags);
    slab.cfar = facet_acc_min(c, slab.far, ray->tmax, flags);
    if (facet_acc_le(c, slab.cnear, slab.cfar, flags)) {
        slab.outcome = FACET_RT_HIT;
    }
    return slab;
}
