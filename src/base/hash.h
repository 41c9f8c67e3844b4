/* A 64-bit hash for tables and checksums of our own files. Not for secrets.
 *
 * Each step is a bijection of the running state for a given input word, so a change confined to one
 * 8-byte word of the input always changes the result: what a checksum of a snapshot needs. The
 * result is the same on every host and belongs to our file formats: it never changes. */
#ifndef FACET_BASE_HASH_H
#define FACET_BASE_HASH_H

#include "base/bits.h"

/* The finaliser of SplitMix64: a bijection that spreads every input bit over the word. */
static inline uint64_t facet_hash_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline uint64_t facet_hash_step(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

/* Feeding the result of one call as the seed of the next gives a hash over several pieces; it
 * differs from the hash of the joined pieces. */
static inline uint64_t facet_hash_bytes(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *bytes = data;
    uint64_t hash = facet_hash_step(seed, UINT64_C(0xFACE7FACE7FACE70) ^ size);
    uint64_t tail = 0;

    for (; size >= 8; size -= 8, bytes += 8) {
        hash = facet_hash_step(hash, facet_load_le64(bytes));
    }
    for (size_t i = 0; i < size; i++) {
        tail |= (uint64_t)bytes[i] << (8 * i);
    }
    return facet_hash_mix(facet_hash_step(hash, tail));
}

static inline uint64_t facet_hash_string(const char *text)
{
    return facet_hash_bytes(text, strlen(text), 0);
}

#endif
