/* Rays through a decoded BVH with AVX2: see fast_x86.inc. */
#include "rt/fast.h"

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma,bmi,popcnt")))
#define RAYS facet_rt_fast_rays_avx2
#define WIDE 0

#include "rt/fast_x86.inc"

#endif
