/* A ray and a triangle in binary64: what decides whether a difference between two ray tracers is
 * one of rounding. Shared by the suites that compare with Embree. */
#ifndef FACET_TESTS_EXACT_RAY_H
#define FACET_TESTS_EXACT_RAY_H

#include "gfx12/tracer.h"

#include <math.h>
#include <stdbool.h>

struct exact {
    bool valid; /* not parallel */
    double t;
    double edge;  /* distance of the point to the nearest edge, negative outside, over the scale */
    double scale; /* the largest number that takes part: binary32 knows the point to 1e-7 of it */
    double slant; /* cosine between the ray and the normal */
};

static inline double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double length3(const double a[3])
{
    return sqrt(dot3(a, a));
}

/* Where the line meets the plane of the triangle, and how far inside the triangle that is. */
struct exact intersect_exact(const struct facet_gfx12_batch_ray *ray, double corner[3][3]);

#endif
