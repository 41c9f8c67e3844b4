/* The tests of rt.h with every intermediate value, to explain them (`facet rt why`). These
 * are the tests: those of rt.h call them and throw the steps away, so that an explanation cannot
 * differ from the result.
 *
 * Values are FP32 bits, named as in the contract. A step after the one that decides is not
 * executed, and its values are 0.
 *
 * Spec: rt-semantics.md 7, 8. */
#ifndef FACET_RT_STEPS_H
#define FACET_RT_STEPS_H

#include "rt/rt.h"

void facet_rt_box_steps(const struct facet_rt_numbers *n,
                        const struct facet_rt_ray *ray,
                        const struct facet_rt_box *box,
                        struct facet_rt_box_steps *steps,
                        unsigned *flags);

void facet_rt_triangle_steps(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_triangle *triangle,
                             const struct facet_rt_options *options,
                             struct facet_rt_triangle_steps *steps,
                             unsigned *flags);

/* ---- one lane: the same from the elements ------------------------------------------------------
 */

void facet_rt_box_lane_steps(const struct facet_rt_numbers *n,
                             const struct facet_rt_box_options *options,
                             const uint32_t *ray,
                             const uint32_t box[FACET_RT_BOX_ELEMENTS],
                             struct facet_rt_box_lane_steps *steps,
                             unsigned *flags);

void facet_rt_triangle_lane_steps(const struct facet_rt_numbers *n,
                                  const struct facet_rt_options *options,
                                  const uint32_t ray[FACET_RT_RAY_ELEMENTS],
                                  const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                                  struct facet_rt_triangle_lane_steps *steps,
                                  unsigned *flags);

#endif
