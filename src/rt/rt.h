/* The ray-box and ray-triangle tests of XPHMG_RT as pure functions over element bits: no memory, no
 * machine. Arithmetic is FP32 inside whatever the element format, in the one operation order of the
 * contract; flags of each executed step are OR-ed into *flags.
 *
 * A test of one lane is widen (facet_rt_ray_widen, facet_rt_box_widen, ...), then facet_rt_test_box
 * or facet_rt_test_triangle, then facet_rt_encode for the result in the element format. They are
 * apart because a job widens a ray once and narrows only the closest hit.
 *
 * Spec: rt-semantics.md 4, 7, 8, 9. */
#ifndef FACET_RT_RT_H
#define FACET_RT_RT_H

#include "num/eff.h"

#include <facet/rt.h>

/* How numbers of an instruction behave: the conversion of each channel (x, y, z, and 3 for t, u, v,
 * w), with FP32 inside and without the MIXED step. */
struct facet_rt_numbers {
    struct facet_conv channel[4];
};

struct facet_rt_numbers facet_rt_numbers_of(const struct facet_eff *eff, const uint8_t zptab[256]);

/* These return true when an element is a NaN. */
bool facet_rt_ray_widen(const struct facet_rt_numbers *n,
                        const uint32_t elements[FACET_RT_RAY_ELEMENTS],
                        struct facet_rt_ray *ray,
                        unsigned *flags);
bool facet_rt_box_widen(const struct facet_rt_numbers *n,
                        const uint32_t elements[FACET_RT_BOX_ELEMENTS],
                        struct facet_rt_box *box,
                        unsigned *flags);
bool facet_rt_triangle_widen(const struct facet_rt_numbers *n,
                             const uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS],
                             struct facet_rt_triangle *triangle,
                             unsigned *flags);
/* Element 8 of a ray with W_GUARD. */
enum facet_rt_w { FACET_RT_W_OTHER, FACET_RT_W_ZERO, FACET_RT_W_NAN };
enum facet_rt_w
facet_rt_w_widen(const struct facet_rt_numbers *n, uint32_t element, unsigned *flags);

/* B4 to B6; nothing is NaN. */
struct facet_rt_slab facet_rt_test_box(const struct facet_rt_numbers *n,
                                       const struct facet_rt_ray *ray,
                                       const struct facet_rt_box *box,
                                       unsigned *flags);

/* Epsilon of an 8-bit code: the FP32 number with that exponent field. */
static inline uint32_t facet_rt_epsilon(unsigned code)
{
    return (uint32_t)(code & 0xFF) << 23;
}

/* T3 to T11; nothing is NaN. */
struct facet_rt_facet facet_rt_test_triangle(const struct facet_rt_numbers *n,
                                             const struct facet_rt_ray *ray,
                                             const struct facet_rt_triangle *triangle,
                                             const struct facet_rt_options *options,
                                             unsigned *flags);

/* ---- one lane ----------------------------------------------------------------------------------
 */

/* B2 to B7 before narrow: elements as they were fetched, nine of the ray with w_guard. */
struct facet_rt_lane facet_rt_box_lane(const struct facet_rt_numbers *n,
                                       const struct facet_rt_box_options *options,
                                       const uint32_t *ray,
                                       const uint32_t box[FACET_RT_BOX_ELEMENTS],
                                       unsigned *flags);
/* T2 to T11 before narrow. */
struct facet_rt_lane facet_rt_triangle_lane(const struct facet_rt_numbers *n,
                                            const struct facet_rt_options *options,
                                            const uint32_t ray[FACET_RT_RAY_ELEMENTS],
                                            const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                                            unsigned *flags);
/* A lane that misses without a test: an empty child, a triangle beyond the range. */
static inline struct facet_rt_lane facet_rt_no_lane(unsigned count)
{
    return (struct facet_rt_lane){.outcome = FACET_RT_MISS, .count = (uint8_t)count};
}
/* The values as element bits (packed: as 16-bit slots). */
void facet_rt_lane_encode(const struct facet_rt_numbers *n,
                          bool packed,
                          const struct facet_rt_lane *lane,
                          uint32_t out[3],
                          unsigned *flags);

/* ---- results -----------------------------------------------------------------------------------
 */

/* What a value becomes when nothing was hit. */
enum facet_rt_absent { FACET_RT_HIGH, FACET_RT_LOW, FACET_RT_ZERO };

/* The format of results: the element format, or of 16-bit slots. */
enum facet_format facet_rt_result_format(const struct facet_rt_numbers *n, bool packed);
/* One value of a lane as element bits (packed: the 16 bits of a slot): narrow of `value` for a HIT,
 * of a NaN for NAN, and the constant of `absent` for a MISS. */
uint32_t facet_rt_encode(const struct facet_rt_numbers *n,
                         bool packed,
                         enum facet_rt_outcome outcome,
                         uint32_t value,
                         enum facet_rt_absent absent,
                         unsigned *flags);

#endif
