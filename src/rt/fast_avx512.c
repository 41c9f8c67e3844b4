/* Rays through a decoded BVH with AVX-512: see fast_x86.inc. */
#include "rt/fast.h"

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma,bmi,popcnt,avx512f,avx512vl")))
#define RAYS facet_rt_fast_rays_avx512
#define WIDE 1

#include "rt/fast_x86.inc"

#endif
