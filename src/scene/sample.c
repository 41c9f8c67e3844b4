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
    return __builtin_bswap32(x);
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

uint32_t facet_sample_pixel(uint32_t seed, uint32_t x, uint32_t y)
{
    return facet_sample_hash(facet_sample_hash(seed, x), y);
}

/* The number of the sample in the pair's own order. Scrambling it keeps sets of 2^k together. */
static uint32_t shuffle(uint32_t pair, uint32_t sample)
{
    return reverse(scramble_reversed(reverse(sample), pair));
}

/* One dimension of a pair. The first one is the index with its bits reversed. */
static uint32_t bits_of(uint32_t pair, uint32_t index, uint32_t second)
{
    uint32_t reversed = second == 0 ? index : sobol_second_reversed(index);

    return reverse(scramble_reversed(reversed, facet_sample_hash(pair, 1 + second)));
}

static float number(uint32_t bits)
{
    return (float)(bits >> 8) * (1.0F / 16777216.0F);
}

uint32_t facet_sample_bits(
    uint32_t seed, uint32_t pixel_x, uint32_t pixel_y, uint32_t sample, uint32_t dimension)
{
    uint32_t pair = facet_sample_hash(facet_sample_pixel(seed, pixel_x, pixel_y), dimension / 2);

    return bits_of(pair, shuffle(pair, sample), dimension & 1U);
}

float facet_sample(
    uint32_t seed, uint32_t pixel_x, uint32_t pixel_y, uint32_t sample, uint32_t dimension)
{
    return number(facet_sample_bits(seed, pixel_x, pixel_y, sample, dimension));
}

float facet_sample_of(uint32_t pixel, uint32_t sample, uint32_t dimension)
{
    uint32_t pair = facet_sample_hash(pixel, dimension / 2);

    return number(bits_of(pair, shuffle(pair, sample), dimension & 1U));
}

void facet_sample_pair(uint32_t pixel, uint32_t sample, uint32_t dimension, float out[2])
{
    uint32_t pair = facet_sample_hash(pixel, dimension / 2), index = shuffle(pair, sample);

    out[0] = number(bits_of(pair, index, 0));
    out[1] = number(bits_of(pair, index, 1));
}
