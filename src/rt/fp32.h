/* FP32 numbers looked at as bits. Between the files of this folder. */
#ifndef FACET_RT_FP32_H
#define FACET_RT_FP32_H

#include <stdbool.h>
#include <stdint.h>

#define FACET_RT_ONE UINT32_C(0x3F800000)
#define FACET_RT_INF UINT32_C(0x7F800000)
#define FACET_RT_NAN_BITS UINT32_C(0x7FC00000)
#define FACET_RT_SIGN UINT32_C(0x80000000)

/* Magnitudes order as numbers do. */
static inline uint32_t facet_rt_magnitude(uint32_t bits)
{
    return bits & ~FACET_RT_SIGN;
}

static inline bool facet_rt_is_nan(uint32_t bits)
{
    return facet_rt_magnitude(bits) > FACET_RT_INF;
}

#endif
