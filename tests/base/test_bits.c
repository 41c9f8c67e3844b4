/* bits.h, hash.h and random.h against one-bit-at-a-time models and fixed values. */
#include "base/bits.h"
#include "base/random.h"
#include "harness.h"

static bool bit(uint64_t value, unsigned at)
{
    return at < 64 && ((value >> at) & 1) != 0;
}

TEST(fields_match_a_bitwise_model, "")
{
    for (int round = 0; round < 20000 && !harness_failed(); round++) {
        uint64_t value = harness_random(), field = harness_random();
        unsigned lo = (unsigned)(harness_random() % 64);
        unsigned width = (unsigned)(harness_random() % (65 - lo));
        uint64_t got = facet_bits_get(value, lo, width);
        uint64_t set = facet_bits_set(value, lo, width, field);

        for (unsigned i = 0; i < 64; i++) {
            CHECK_EQ(bit(got, i), i < width && bit(value, lo + i));
            CHECK_EQ(bit(set, i), i >= lo && i < lo + width ? bit(field, i - lo) : bit(value, i));
        }
    }
}

TEST(sign_extension, "")
{
    CHECK_EQ(facet_bits_sign(0x800, 12), -2048);
    CHECK_EQ(facet_bits_sign(0xFFFFF7FF, 12), 2047);
    CHECK_EQ(facet_bits_sign(1, 1), -1);
    CHECK_EQ(facet_bits_sign(UINT64_MAX, 64), -1);
    CHECK_EQ(facet_bits_sign(INT64_MIN, 64), INT64_MIN);
    CHECK_EQ(facet_bits_sign(123, 0), 0);
    for (int round = 0; round < 10000; round++) {
        uint64_t value = harness_random();
        unsigned width = (unsigned)(1 + harness_random() % 63);
        int64_t weight = (int64_t)1 << (width - 1);
        int64_t rest = (int64_t)(value & ((uint64_t)weight - 1));

        CHECK_EQ(facet_bits_sign(value, width), bit(value, width - 1) ? rest - weight : rest);
    }
}

TEST(counts_include_zero, "")
{
    CHECK_EQ(facet_clz64(0), 64);
    CHECK_EQ(facet_ctz64(0), 64);
    CHECK_EQ(facet_clz32(0), 32);
    CHECK_EQ(facet_ctz32(0), 32);
    CHECK_EQ(facet_popcount64(0), 0);
    for (unsigned i = 0; i < 64; i++) {
        uint64_t low = UINT64_C(1) << i;

        CHECK_EQ(facet_clz64(low | (low - 1)), 63 - i);
        CHECK_EQ(facet_ctz64(low | (UINT64_C(1) << 63)), i);
        CHECK_EQ(facet_popcount64(low - 1), i);
        CHECK_EQ(facet_rotl64(1, i), low);
        CHECK_EQ(facet_rotl64(low, 64 - i), 1);
    }
    for (unsigned i = 0; i < 32; i++) {
        uint32_t low = UINT32_C(1) << i;

        CHECK_EQ(facet_clz32(low), 31 - i);
        CHECK_EQ(facet_ctz32(low), i);
        CHECK_EQ(facet_popcount32(low - 1), i);
        CHECK_EQ(facet_rotl32(1, i), low);
        CHECK_EQ(facet_rotl32(low, 32 - i), 1);
    }
}

TEST(little_endian_at_any_alignment, "")
{
    static const unsigned sizes[] = {1, 2, 4, 8};
    uint8_t bytes[32];

    for (unsigned s = 0; s < 4; s++) {
        for (unsigned at = 0; at < 16; at++) {
            uint64_t value = harness_random(), expect = 0;
            unsigned size = sizes[s];

            memset(bytes, 0xA5, sizeof bytes);
            facet_store_le(bytes + at, size, value);
            for (unsigned i = 0; i < sizeof bytes; i++) {
                bool inside = i >= at && i < at + size;

                CHECK_EQ(bytes[i], inside ? (uint8_t)(value >> (8 * (i - at))) : 0xA5);
                expect |= inside ? (uint64_t)bytes[i] << (8 * (i - at)) : 0;
            }
            CHECK_EQ(facet_load_le(bytes + at, size), expect);
        }
    }
}

TEST(alignment, "")
{
    CHECK_EQ(facet_align_up(0, 8), 0);
    CHECK_EQ(facet_align_up(1, 8), 8);
    CHECK_EQ(facet_align_up(8, 8), 8);
    CHECK_EQ(facet_align_up(UINT64_MAX, 4096), 0);
    CHECK_EQ(facet_align_down(4097, 4096), 4096);
    CHECK(facet_is_power_of_two(1) && facet_is_power_of_two(UINT64_C(1) << 63));
    CHECK(!facet_is_power_of_two(0) && !facet_is_power_of_two(12));
}

/* The values are part of our file formats (snapshot checksums): they may never change. */
TEST(hash_is_frozen_and_sees_every_bit, "")
{
    uint8_t data[40];
    uint64_t whole;

    CHECK_EQ(facet_hash_string(""), UINT64_C(0xBF537D1A9630542C));
    CHECK_EQ(facet_hash_string("facet"), UINT64_C(0x2D7B42575A107DA9));
    CHECK_EQ(facet_hash_bytes("0123456789abcdef", 16, 7), UINT64_C(0x5E5B32DB340D5A51));
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)harness_random();
    }
    whole = facet_hash_bytes(data, sizeof data, 0);
    for (size_t i = 0; i < sizeof data * 8; i++) {
        data[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK(facet_hash_bytes(data, sizeof data, 0) != whole);
        data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    /* A trailing zero is not lost in the padding of the last word. */
    CHECK(facet_hash_bytes("a\0", 2, 0) != facet_hash_bytes("a", 1, 0));
}

TEST(random_is_a_frozen_function_of_seed_and_index, "")
{
    unsigned ones[64] = {0};
    double sum = 0;

    CHECK_EQ(facet_random(0, 0), UINT64_C(0x8657229D0B5F148D));
    CHECK_EQ(facet_random(1, 2), UINT64_C(0xBBE7CFB0CEB27091));
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t value = facet_random(42, i);
        float f = facet_random_float(43, i);

        for (unsigned b = 0; b < 64; b++) {
            ones[b] += bit(value, b);
        }
        CHECK(f >= 0 && f < 1);
        CHECK(facet_random_below(44, i, 10) < 10);
        sum += (double)f;
    }
    for (unsigned b = 0; b < 64; b++) {
        CHECK_MSG(ones[b] > 49000 && ones[b] < 51000, "bit %u is set %u times of 1e5", b, ones[b]);
    }
    CHECK(sum > 49500 && sum < 50500);
    CHECK_EQ(facet_random_below(1, 1, 0), 0);
    CHECK(facet_random(1, 5) != facet_random(2, 4)); /* neighbouring seeds are not shifted copies */
}
