/* The two ray tests in plain C, for machines whose RTCAP lacks them: the steps and roundings of
 * rt-semantics.md 7 and 8 in FP32, round to nearest, so the hits are those of the instructions. */
#ifndef GUEST_RT_SOFTWARE_H
#define GUEST_RT_SOFTWARE_H

#include "rt.h"

/* A box against the ray's interval; what T_CLAMP reports. */
bool rt_software_box(const struct xphmg_aabb_32 *box,
                     const struct xphmg_ray_record_32 *ray,
                     float *tnear,
                     float *tfar);

struct rt_software_hit {
    float t, u, v;
    bool front;
};

/* A triangle of nine numbers. */
bool rt_software_triangle(const float corners[9],
                          const struct xphmg_ray_record_32 *ray,
                          struct rt_software_hit *hit);

#endif
