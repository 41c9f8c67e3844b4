/* Samples and gathers against the exact-rational reference: random textures, formats, coordinates,
 * wraps, filters, element formats, accumulators and states; results, flags and every access in
 * order. Quick: 30,000 cases; FACET_TEST_LONG=1: 1,500,000. */
#include "harness.h"
#include "subject.h"

TEST(random_samples_equal_the_exact_rational_evaluation,
     "GFX-119 GFX-120 GFX-128 GFX-129 GFX-130 GFX-131 GFX-134 GFX-139 GFX-140 GFX-141 GFX-150 "
     "GFX-151 GFX-327")
{
    const unsigned count = harness_long() ? 1500000 : 30000;
    struct gfx_case c;

    for (unsigned k = 0; k < count && !harness_failed(); k++) {
        gfx_random_case(&c, harness_random);
        gfx_compare(&c);
    }
}
