/* See sample.h. Integer arithmetic only, until the last multiplication by a power of two. */
#include "scene/sample.h"

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7FEB352DU;
    x ^= x >> 15;
    x *= 0x846CA68BU;
    return x ^ (x >> 16);
}

uint32_t facet_sample_hash(uint32_t a, uint32_t b)
{
    return mix(mix(a + 0x9E3779B9U) ^ (b + 0x85EBCA6BU));
}

static uint32_t reverse(uint32_t x)
{
    x = (x & 0x55555555U) << 1 | (x >> 1 & 0x55555555U);
    x = (x & 0x33333333U) << 2 | (x >> 2 & 0x33333333U);
    x = (x & 0x0F0F0F0FU) << 4 | (x >> 4 & 0x0F0F0F0FU);
    x = (x & 0x00FF00FFU) << 8 | (x >> 8 & 0x00FF00FFU);
    return x << 16 | x >> 16;
}

/* A hash in which a bit only ever changes higher bits: on bit-reversed numbers that is Owen's
 * scrambling of a binary tree. */
static uint32_t scramble_reversed(uint32_t x, uint32_t seed)
{
    x += seed;
    x ^= x * 0x6C50B47CU;
    x ^= x * 0xB82F1E52U;
    x ^= x * 0xC7AFE638U;
    x ^= x * 0x8D22F6E6U;
    return x;
}

/* Second Sobol dimension (primitive polynomial x + 1), bit-reversed: the columns of its matrix are
 * the rows of Pascal's triangle modulo 2, and C(k, j) is odd when j has no bit that k lacks. So bit
 * j is the sum of all bits k with k & j == j, which five steps collect. */
static uint32_t sobol_second_reversed(uint32_t index)
{
    index ^= index >> 1 & 0x55555555U;
    index ^= index >> 2 & 0x33333333U;
    index ^= index >> 4 & 0x0F0F0F0FU;
    index ^= index >> 8 & 0x00FF00FFU;
    return index ^ index >> 16;
}

uint32_t facet_sample_bits(
    uint32_t seed, uint32_t pixel_x, uint32_t pixel_y, uint32_t sample, uint32_t dimension)
{
    uint32_t pixel = facet_sample_hash(facet_sample_hash(seed, pixel_x), pixel_y);
    uint32_t pair = facet_sample_hash(pixel, dimension / 2);
    /* Scrambling the order of the samples keeps their sets of 2^k together. */
    uint32_t index = reverse(scramble_reversed(reverse(sample), pair));
    /* The first dimension of a pair is the index with its bits reversed. */
    uint32_t reversed = (dimension & 1U) == 0 ? index : sobol_second_reversed(index);
    uint32_t own = facet_sample_hash(pair, 1 + (dimension & 1U));

    return reverse(scramble_reversed(reversed, own));
}

float facet_sample(
    uint32_t seed, uint32_t pixel_x, uint32_t pixel_y, uint32_t sample, uint32_t dimension)
{
    return (float)(facet_sample_bits(seed, pixel_x, pixel_y, sample, dimension) >> 8) *
           (1.0F / 16777216.0F);
}
