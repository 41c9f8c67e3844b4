/* How triangles become the elements and boxes of an RT image: corners rounded to the nearest
 * element, boxes grown by 2^-20 of the extent of scene and ray origins (R-RT-50) and then rounded
 * outwards. Shared by building and refitting, so that both give the same bytes. */
#ifndef FACET_RT_IMAGE_ROUND_H
#define FACET_RT_IMAGE_ROUND_H

#include "base/error.h"
#include "bvh/input.h"
#include "rt/rt.h"

struct facet_rtbvh_extent {
    double low, high; /* least and greatest coordinate */
    float growth;     /* of boxes */
};

/* `reach`: rays start in [-reach, reach] on every axis; 0: in the box of the scene grown by its own
 * size on all sides. FACET_ERR_INPUT for a coordinate that is not finite. */
enum facet_status facet_rtbvh_measure(const struct facet_bvh_triangle *triangles,
                                      uint32_t count,
                                      double reach,
                                      struct facet_rtbvh_extent *out,
                                      struct facet_error *err);

/* A triangle as elements, and its bounds once rounded. FACET_ERR_LIMIT when a corner or the grown
 * box lies outside the range of the format. */
enum facet_status facet_rtbvh_round_triangle(const struct facet_rt_numbers *numbers,
                                             const struct facet_bvh_triangle *triangle,
                                             float growth,
                                             uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS],
                                             float lo[3],
                                             float hi[3],
                                             struct facet_error *err);
/* Whether two corners are equal, so that no ray meets the triangle. */
bool facet_rtbvh_degenerate(const uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS]);

/* The box of bounds that fit: grown, then rounded outwards. */
void facet_rtbvh_round_box(const struct facet_rt_numbers *numbers,
                           const float lo[3],
                           const float hi[3],
                           float growth,
                           uint32_t elements[FACET_RT_BOX_ELEMENTS]);

/* The element next to x (finite) on the outer side: the largest that is not above it, or with `up`
 * the smallest that is not below it. x must lie inside the finite range of the format. */
uint32_t facet_rtbvh_outward(const struct facet_conv *conv, float x, bool up);

#endif
