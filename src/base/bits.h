/* Bit fields, bit counting, alignment and little-endian bytes.
 *
 * Every function has a defined result for every argument in its stated range, zero included, so
 * that guest values can be passed in without checks. Guest memory and file formats are
 * little-endian on every host; the loads and stores work at any alignment. */
#ifndef FACET_BASE_BITS_H
#define FACET_BASE_BITS_H

#include "base/require.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The lowest `width` bits set; width 0..64 (more than 64 gives all ones). */
static inline uint64_t facet_bits_mask(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Bits [lo + width - 1 : lo]; bits beyond 63 read as zero. */
static inline uint64_t facet_bits_get(uint64_t value, unsigned lo, unsigned width)
{
    return lo >= 64 ? 0 : (value >> lo) & facet_bits_mask(width);
}

/* `value` with bits [lo + width - 1 : lo] replaced by the low bits of `field`; bits beyond 63 are
 * dropped. */
static inline uint64_t facet_bits_set(uint64_t value, unsigned lo, unsigned width, uint64_t field)
{
    uint64_t mask = lo >= 64 ? 0 : facet_bits_mask(width) << lo;

    return lo >= 64 ? value : (value & ~mask) | ((field << lo) & mask);
}

/* The low `width` bits as a two's complement number; width 0 gives 0. */
static inline int64_t facet_bits_sign(uint64_t value, unsigned width)
{
    uint64_t sign = width == 0 || width >= 64 ? 0 : UINT64_C(1) << (width - 1);

    value &= facet_bits_mask(width);
    return (int64_t)((value ^ sign) - sign);
}

static inline unsigned facet_popcount64(uint64_t value)
{
    return (unsigned)__builtin_popcountll(value);
}

static inline unsigned facet_popcount32(uint32_t value)
{
    return (unsigned)__builtin_popcount(value);
}

/* Zeros above the highest and below the lowest set bit; the width itself for zero. */
static inline unsigned facet_clz64(uint64_t value)
{
    return value == 0 ? 64 : (unsigned)__builtin_clzll(value);
}

static inline unsigned facet_clz32(uint32_t value)
{
    return value == 0 ? 32 : (unsigned)__builtin_clz(value);
}

static inline unsigned facet_ctz64(uint64_t value)
{
    return value == 0 ? 64 : (unsigned)__builtin_ctzll(value);
}

static inline unsigned facet_ctz32(uint32_t value)
{
    return value == 0 ? 32 : (unsigned)__builtin_ctz(value);
}

static inline uint32_t facet_rotl32(uint32_t value, unsigned count)
{
    return (value << (count & 31)) | (value >> (-count & 31));
}

static inline uint64_t facet_rotl64(uint64_t value, unsigned count)
{
    return (value << (count & 63)) | (value >> (-count & 63));
}

static inline bool facet_is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* `align` is a power of two. Rounding up beyond 2^64 - 1 wraps to 0. */
static inline uint64_t facet_align_down(uint64_t value, uint64_t align)
{
    FACET_REQUIRE(facet_is_power_of_two(align));
    return value & ~(align - 1);
}

static inline uint64_t facet_align_up(uint64_t value, uint64_t align)
{
    FACET_REQUIRE(facet_is_power_of_two(align));
    return (value + (align - 1)) & ~(align - 1);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FACET_LE16(v) (v)
#define FACET_LE32(v) (v)
#define FACET_LE64(v) (v)
#else
#define FACET_LE16(v) __builtin_bswap16(v)
#define FACET_LE32(v) __builtin_bswap32(v)
#define FACET_LE64(v) __builtin_bswap64(v)
#endif

static inline uint16_t facet_load_le16(const void *bytes)
{
    uint16_t value;

    memcpy(&value, bytes, sizeof value);
    return FACET_LE16(value);
}

static inline uint32_t facet_load_le32(const void *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof value);
    return FACET_LE32(value);
}

static inline uint64_t facet_load_le64(const void *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof value);
    return FACET_LE64(value);
}

static inline void facet_store_le16(void *bytes, uint16_t value)
{
    value = FACET_LE16(value);
    memcpy(bytes, &value, sizeof value);
}

static inline void facet_store_le32(void *bytes, uint32_t value)
{
    value = FACET_LE32(value);
    memcpy(bytes, &value, sizeof value);
}

static inline void facet_store_le64(void *bytes, uint64_t value)
{
    value = FACET_LE64(value);
    memcpy(bytes, &value, sizeof value);
}

/* The same for a size known at run time: 1, 2, 4 or 8 bytes, zero-extended. */
static inline uint64_t facet_load_le(const void *bytes, unsigned size)
{
    FACET_REQUIRE(size == 1 || size == 2 || size == 4 || size == 8);
    switch (size) {
    case 1:
        return *(const uint8_t *)bytes;
    case 2:
        return facet_load_le16(bytes);
    case 4:
        return facet_load_le32(bytes);
    default:
        return facet_load_le64(bytes);
    }
}

static inline void facet_store_le(void *bytes, unsigned size, uint64_t value)
{
    FACET_REQUIRE(size == 1 || size == 2 || size == 4 || size == 8);
    switch (size) {
    case 1:
        *(uint8_t *)bytes = (uint8_t)value;
        break;
    case 2:
        facet_store_le16(bytes, (uint16_t)value);
        break;
    case 4:
        facet_store_le32(bytes, (uint32_t)value);
        break;
    default:
        facet_store_le64(bytes, value);
        break;
    }
}

#endif
