/* Rays through decoded nodes with AVX2 and FMA: see fast_x86.inc. */
#include "gfx12/fast.h"

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define ONE facet_gfx12_fast_one_avx2
#define MANY facet_gfx12_fast_many_avx2
#define WIDE 0

#include "gfx12/fast_x86.inc"

#endif
