/* The kernel's text as C, so that one text has two compilers: everything that OpenCL C has and C
 * has not, and then the text itself. */
#ifndef FACET_TESTS_GFX12_DEVICE_TWIN_H
#define FACET_TESTS_GFX12_DEVICE_TWIN_H

#include "base/bits.h"
#include "base/float.h"
#include "gfx12/device/shared.h"
#include "num/f32.h"

#define __kernel static
#define __global
#define __constant const
#define __local
#define as_uint facet_float_bits
#define as_float facet_float_of
#define clz facet_clz32
#define fma f32_fma
#define get_global_id(dimension) twin_item
#define get_local_id(dimension) 0
/* Groups of one. */
#define get_local_size(dimension) 1
#define get_group_id(dimension) twin_item
#define CLK_LOCAL_MEM_FENCE
#define barrier(fence)
#define LOAD_FOUR(d, from) memcpy(d, from, 16)
#define INLINE static inline
#define NOINLINE __attribute__((noinline))
#define UNROLL
#define IN_GROUPS(size)
#define popcount(x) ((device_u32)__builtin_popcount(x))

static size_t twin_item;

/* clang-format off */
#include "gfx12/device/exact.cl"
#include "gfx12/device/node.cl"
#include "gfx12/device/walk.cl"
#include "gfx12/device/pack.cl"
#include "gfx12/device/fast.cl"
#include "gfx12/device/hits.cl"
#include "gfx12/device/check.cl"
/* clang-format on */

#undef __kernel
#undef __global
#undef __constant
#undef __local
#undef as_uint
#undef as_float
#undef clz
#undef fma
#undef get_global_id
#undef get_local_id
#undef get_local_size
#undef get_group_id
#undef CLK_LOCAL_MEM_FENCE
#undef barrier
#undef LOAD_FOUR
#undef INLINE
#undef NOINLINE
#undef UNROLL
#undef IN_GROUPS
#undef popcount

#endif
