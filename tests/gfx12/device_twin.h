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
#define as_uint facet_float_bits
#define as_float facet_float_of
#define clz facet_clz32
#define fma f32_fma
#define get_global_id(dimension) twin_item
#define LOAD_NODE(d, node) memcpy(d, node, sizeof(d))

static size_t twin_item;

/* clang-format off */
#include "gfx12/device/exact.cl"
#include "gfx12/device/node.cl"
#include "gfx12/device/walk.cl"
#include "gfx12/device/check.cl"
/* clang-format on */

#undef __kernel
#undef __global
#undef as_uint
#undef as_float
#undef clz
#undef fma
#undef get_global_id
#undef LOAD_NODE

#endif
