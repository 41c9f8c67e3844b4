/* The two ray tests in plain C, for machines whose RTCAP lacks them: the steps and roundings of
 * rt-semantics.md 7 and 8 in FP32, round to nearest, so the hits are those of the instructions. */
#ifndef GUEST_RT_SOFTWARE_H
#define GUEST_RT_SOFTWARE_H

#include "rt.h"

/* A box (min x y z, max x y z) against the ray's interval; what T_CLAMP reports. */
bool rt_software_box(const float box[6], const struct rt_ray *ray, float *tnear, float *tfar);

struct rt_software_hit {
    float t, u, v;
    bool front;
};

/* A triangle of nine numbers. */
bool rt_software_triangle(const float corners[9],
                          const struct rt_ray *ray,
                          struct rt_software_hit *hit);

#endif
