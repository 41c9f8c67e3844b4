/* What the GFX12 suites share: the worked examples of gfx12-semantics.md as one image, and checks
 * on result registers. */
#ifndef FACET_TESTS_GFX12_COMMON_H
#define FACET_TESTS_GFX12_COMMON_H

#include "harness.h"

#include <facet/gfx12.h>

#define EXAMPLES_SIZE 0x40100u
#define INV 0xFFFFFFFFu

/* The nodes of examples 2 to 17 at the offsets that their IDs name; free with free(). */
uint8_t *examples_new(void);

/* Extent +inf, mask 0xFF. */
struct facet_gfx12_ray ray_make(float ox, float oy, float oz, float dx, float dy, float dz);

bool check_words(const char *what, const uint32_t *got, const uint32_t *want, unsigned count);
bool check_ray(const char *what, const struct facet_gfx12_ray *ray, const uint32_t want[6]);

uint32_t random_bits(void);
/* A finite number with an exponent of at most `spread`. */
uint32_t random_float_bits(unsigned spread);
/* Mostly ordinary numbers, now and then zeros, infinities, NaN, subnormals or raw bits. */
uint32_t random_any_float(void);

#endif
