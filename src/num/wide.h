/* 64- and 128-bit integer helpers: counting, jamming shifts, square root. Pure integers.
 *
 * __int128 is the one compiler extension here: gcc and clang have it on every 64-bit target and on
 * WebAssembly, and two-word arithmetic written by hand would be slower and harder to read. */
#ifndef FACET_NUM_WIDE_H
#define FACET_NUM_WIDE_H

#include "base/bits.h"

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 facet_u128;
__extension__ typedef __int128 facet_i128;

static inline int facet_num_clz128(facet_u128 x)
{
    uint64_t high = (uint64_t)(x >> 64);

    return (int)(high != 0 ? facet_clz64(high) : 64 + facet_clz64((uint64_t)x));
}

/* x >> n for any n, with the bits shifted out OR-ed into bit 0. For n < 64 without a branch. */
static inline uint64_t facet_num_shr_jam64(uint64_t x, unsigned n)
{
    if (n > 63) {
        return x != 0;
    }
    return x >> n | ((x & ((UINT64_C(1) << n) - 1)) != 0);
}

static inline facet_u128 facet_num_shr_jam128(facet_u128 x, unsigned n)
{
    if (n > 127) {
        return x != 0;
    }
    return x >> n | ((x & (((facet_u128)1 << n) - 1)) != 0);
}

/* floor(sqrt(x)); *exact: whether the root is exact. */
uint32_t facet_num_isqrt64(uint64_t x, bool *exact);
uint64_t facet_num_isqrt128(facet_u128 x, bool *exact);

#endif
