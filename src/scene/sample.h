/* Sample points as a pure function of (pixel, sample, dimension): no state, so a picture has the
 * same bytes at every thread count, tile order and number of machines.
 *
 * Dimensions go in pairs; each pair is the two-dimensional Sobol sequence with its own shuffled
 * order and its own Owen scrambling, both by hashing (the method of "Practical Hash-based Owen
 * Scrambling", Burley 2020). Any 2^k samples of a pixel are stratified in every pair. */
#ifndef FACET_SCENE_SAMPLE_H
#define FACET_SCENE_SAMPLE_H

#include <stdint.h>

/* A 32-bit hash of two words, every input bit reaches every output bit. */
uint32_t facet_sample_hash(uint32_t a, uint32_t b);

/* 32 random-looking bits; `seed` gives independent pictures. */
uint32_t facet_sample_bits(
    uint32_t seed, uint32_t pixel_x, uint32_t pixel_y, uint32_t sample, uint32_t dimension);

/* The same as a multiple of 2^-24 in [0, 1). */
float facet_sample(
    uint32_t seed, uint32_t pixel_x, uint32_t pixel_y, uint32_t sample, uint32_t dimension);

/* The same for a pixel of which many are asked: what all its numbers begin with, then facet_sample
 * of one dimension, or of an even one and the next. */
uint32_t facet_sample_pixel(uint32_t seed, uint32_t x, uint32_t y);
float facet_sample_of(uint32_t pixel, uint32_t sample, uint32_t dimension);
void facet_sample_pair(uint32_t pixel, uint32_t sample, uint32_t dimension, float out[2]);

#endif
