/* Whether another processor shades with the same bits (src/render/device): both compute these
 * numbers from the same random words. */
#ifndef FACET_SHADE_CHECK_H
#define FACET_SHADE_CHECK_H

#include "shade/vec.h"

#define FACET_SHADE_CHECK_IN 6
#define FACET_SHADE_CHECK_OUT 32

void facet_shade_check(const uint32_t in[FACET_SHADE_CHECK_IN],
                       uint32_t out[FACET_SHADE_CHECK_OUT]);

#endif
