/* Vectors and the few functions of shading, in plain floats.
 *
 * Only +, -, *, / and square roots are used, which IEEE 754 fixes to the bit, and the project is
 * compiled without contraction: a picture has the same bytes on every host. Sines come from the
 * polynomials below and never from the host's libm, whose results differ between hosts. */
#ifndef FACET_SHADE_VEC_H
#define FACET_SHADE_VEC_H

#include "scene/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct facet_vec3 {
    float x, y, z;
};

static inline struct facet_vec3 vec3(float x, float y, float z)
{
    return (struct facet_vec3){x, y, z};
}

static inline struct facet_vec3 vec3_load(const float v[3])
{
    return vec3(v[0], v[1], v[2]);
}

static inline struct facet_vec3 vec3_from(const IN_SCENE float v[3])
{
    return vec3(v[0], v[1], v[2]);
}

static inline void vec3_store(struct facet_vec3 v, float out[3])
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static inline struct facet_vec3 vec3_add(struct facet_vec3 a, struct facet_vec3 b)
{
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline struct facet_vec3 vec3_sub(struct facet_vec3 a, struct facet_vec3 b)
{
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline struct facet_vec3 vec3_mul(struct facet_vec3 a, struct facet_vec3 b)
{
    return vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline struct facet_vec3 vec3_scale(struct facet_vec3 a, float s)
{
    return vec3(a.x * s, a.y * s, a.z * s);
}

/* a + b * s */
static inline struct facet_vec3 vec3_along(struct facet_vec3 a, struct facet_vec3 b, float s)
{
    return vec3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}

static inline struct facet_vec3 vec3_lerp(struct facet_vec3 a, struct facet_vec3 b, float t)
{
    return vec3_along(a, vec3_sub(b, a), t);
}

static inline float vec3_dot(struct facet_vec3 a, struct facet_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct facet_vec3 vec3_cross(struct facet_vec3 a, struct facet_vec3 b)
{
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* The three corners' values at barycentric coordinates (u of the second, v of the third). */
static inline struct facet_vec3 vec3_blend(const struct facet_vec3 corner[3], float u, float v)
{
    float w = 1.0F - u - v;

    return vec3(w * corner[0].x + u * corner[1].x + v * corner[2].x,
                w * corner[0].y + u * corner[1].y + v * corner[2].y,
                w * corner[0].z + u * corner[1].z + v * corner[2].z);
}

/* Length 1; false (unchanged) when the vector has no direction. Scaled first, so that neither tiny
 * nor huge vectors leave the range of a float. */
static inline bool vec3_normalize(struct facet_vec3 *v)
{
    float largest = fmaxf(fabsf(v->x), fmaxf(fabsf(v->y), fabsf(v->z)));
    struct facet_vec3 unit;

    if (!(largest > 0.0F && largest < INFINITY)) {
        return false;
    }
    unit = vec3(v->x / largest, v->y / largest, v->z / largest);
    *v = vec3_scale(unit, 1.0F / sqrtf(vec3_dot(unit, unit)));
    return true;
}

/* Sine and cosine of x in [0, pi / 2], in double; the error is below 1e-15. */
static inline void facet_shade_sincos_double(double x, double *sine, double *cosine)
{
    double square = x * x, s = 0.0, c = 0.0;

    for (int n = 22; n > 0; n -= 2) {
        c = (1.0 - c) * square / (double)(n * (n - 1));
        s = (1.0 - s) * square / (double)(n * (n + 1));
    }
    *cosine = 1.0 - c;
    *sine = x * (1.0 - s);
}

/* The same for x in [-pi / 4, pi / 4], in float; the error is below 1e-6. */
static inline void facet_shade_sincos_small(float x, float *sine, float *cosine)
{
    float q = x * x;

    *sine = x * (1.0F - q * (1.0F / 6.0F) * (1.0F - q * (1.0F / 20.0F) * (1.0F - q / 42.0F)));
    *cosine = 1.0F - q * 0.5F * (1.0F - q * (1.0F / 12.0F) * (1.0F - q * (1.0F / 30.0F)));
}

#endif
