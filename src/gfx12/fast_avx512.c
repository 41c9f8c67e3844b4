/* Rays through decoded nodes with AVX-512: see fast_x86.inc. */
#include "gfx12/fast.h"

#if defined(__x86_64__)

#define TARGET                                                                                     \
    __attribute__((target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512vl,avx512dq,avx512bw,"           \
                          "avx512cd")))
#define ONE facet_gfx12_fast_one_avx512
#define MANY facet_gfx12_fast_many_avx512
#define WIDE 1

#include "gfx12/fast_x86.inc"

#endif
