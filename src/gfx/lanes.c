/* See lanes.h: which kernels, and for what. */
#include "gfx/lanes.h"

const struct facet_gfx_lane_kernels *facet_gfx_lanes(void)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    return NULL;
#elif defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? &facet_gfx_lanes_avx2
               : &facet_gfx_lanes_portable;
#else
    return &facet_gfx_lanes_portable;
#endif
}

bool facet_gfx_lanes_fit(const struct facet_gfx_numbers *n, unsigned flags)
{
    const struct facet_conv *conv = &n->channel[0];

    /* what tells channels apart is the zero point, which floats do not have */
    return facet_num_host_fits(conv, flags) && conv->elem == FACET_FMT_FP32 && conv->scale == 0;
}
