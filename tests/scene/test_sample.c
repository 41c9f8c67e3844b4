/* The sampling function: fixed values, stratification, independence of pixels and dimensions. */
#include "harness.h"

#include "scene/sample.h"

#include <math.h>

/* These values are part of every reference picture: a change here changes them all. */
TEST(sample_values_are_frozen, "")
{
    CHECK_EQ(facet_sample_bits(0, 0, 0, 0, 0), UINT32_C(0x53dfb610));
    CHECK_EQ(facet_sample_bits(1, 2, 3, 4, 5), UINT32_C(0x36d30b0f));
    CHECK_EQ(facet_sample_bits(7, 1919, 1079, 4095, 63), UINT32_C(0xf4cfe38b));
}

TEST(numbers_of_a_pixel_are_the_same_by_either_way, "")
{
    for (uint32_t i = 0; i < 5000; i++) {
        const uint32_t seed = (uint32_t)harness_random(), x = (uint32_t)harness_random() >> i % 32;
        const uint32_t y = (uint32_t)harness_random() >> i % 29, sample = i, even = i % 64 & ~1U;
        const uint32_t pixel = facet_sample_pixel(seed, x, y);
        float pair[2];

        facet_sample_pair(pixel, sample, even, pair);
        CHECK(pair[0] == facet_sample(seed, x, y, sample, even));
        CHECK(pair[1] == facet_sample(seed, x, y, sample, even + 1));
        CHECK(facet_sample_of(pixel, sample, even) == pair[0]);
        CHECK(facet_sample_of(pixel, sample, even + 1) == pair[1]);
    }
}

TEST(samples_lie_in_the_unit_interval, "")
{
    for (unsigned i = 0; i < 100000; i++) {
        float x =
            facet_sample(0, (uint32_t)harness_random(), (uint32_t)harness_random(), i, i % 16);

        CHECK(x >= 0.0F && x < 1.0F);
    }
}

/* Any aligned set of 2^k samples falls one into each of 2^k equal intervals, in every dimension. */
TEST(samples_are_stratified_in_one_dimension, "")
{
    for (unsigned dimension = 0; dimension < 8; dimension++) {
        for (unsigned bits = 0; bits <= 10; bits++) {
            static uint8_t seen[1024];

            memset(seen, 0, sizeof seen);
            for (uint32_t i = 0; i < 1U << bits; i++) {
                uint64_t x = facet_sample_bits(3, 17, 42, (5U << bits) + i, dimension);

                seen[x * (1U << bits) >> 32]++;
            }
            for (uint32_t i = 0; i < 1U << bits; i++) {
                CHECK_EQ(seen[i], 1);
            }
        }
    }
}

/* Each pair of dimensions is a (0, 2)-sequence: 2^k points fall one into each cell of every
 * 2^a x 2^(k - a) grid. */
TEST(samples_are_stratified_in_two_dimensions, "")
{
    const unsigned k = 8;

    for (unsigned pixel = 0; pixel < 4; pixel++) {
        for (unsigned a = 0; a <= k; a++) {
            uint8_t seen[256] = {0};

            for (uint32_t i = 0; i < 256; i++) {
                uint64_t x = facet_sample_bits(0, pixel, 9, i, 2 * pixel);
                uint64_t y = facet_sample_bits(0, pixel, 9, i, 2 * pixel + 1);

                seen[(x >> (32 - a)) << (k - a) | y >> (32 - (k - a))]++;
            }
            for (unsigned i = 0; i < 256; i++) {
                CHECK_EQ(seen[i], 1);
            }
        }
    }
}

/* Neighbouring pixels, dimensions and seeds must not repeat one another. */
TEST(samples_are_uncorrelated, "")
{
    double sums[4] = {0, 0, 0, 0};
    const unsigned count = 4096;

    for (uint32_t i = 0; i < count; i++) {
        double here = (double)facet_sample(0, i % 64, i / 64, 0, 0) - 0.5;

        sums[0] += here * ((double)facet_sample(0, i % 64 + 1, i / 64, 0, 0) - 0.5);
        sums[1] += here * ((double)facet_sample(0, i % 64, i / 64 + 1, 0, 0) - 0.5);
        sums[2] += here * ((double)facet_sample(0, i % 64, i / 64, 0, 2) - 0.5);
        sums[3] += here * ((double)facet_sample(1, i % 64, i / 64, 0, 0) - 0.5);
    }
    for (unsigned i = 0; i < 4; i++) {
        /* Standard deviation of the mean product: 1 / 12 / 64. */
        CHECK_MSG(fabs(sums[i] / count) < 4.0 / 12.0 / 64.0, "correlation %u", i);
    }
}
