/* Random numbers as a pure function of (seed, index).
 *
 * No state to pass around or to race on: sample k of work unit u is facet_random(u's seed, k) in
 * any thread, process or order. Streams are made by hashing ids into the seed:
 * facet_random(facet_random(seed, unit), k). */
#ifndef FACET_BASE_RANDOM_H
#define FACET_BASE_RANDOM_H

#include "base/hash.h"

static inline uint64_t facet_random(uint64_t seed, uint64_t index)
{
    /* The key is mixed first, so that neighbouring seeds do not give shifted copies of one stream.
     */
    uint64_t key = facet_hash_mix(seed + UINT64_C(0x9E3779B97F4A7C15));

    return facet_hash_mix(key ^ facet_hash_mix((index + 1) * UINT64_C(0xD1342543DE82EF95)));
}

/* A number in [0, bound); 0 for bound 0. The bias is below bound / 2^64. */
static inline uint64_t facet_random_below(uint64_t seed, uint64_t index, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)facet_random(seed, index) * bound) >> 64);
}

/* A multiple of 2^-24 in [0, 1): exact, the same on every host. */
static inline float facet_random_float(uint64_t seed, uint64_t index)
{
    return (float)(facet_random(seed, index) >> 40) * 0x1p-24f;
}

#endif
