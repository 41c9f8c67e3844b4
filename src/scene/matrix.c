/* See matrix.h. */
#include "scene/matrix.h"

#include <math.h>
#include <string.h>

struct facet_affine facet_affine_identity(void)
{
    return (struct facet_affine){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
}

struct facet_affine facet_affine_multiply(const struct facet_affine *a,
                                          const struct facet_affine *b)
{
    struct facet_affine out;

    for (unsigned row = 0; row < 3; row++) {
        const double *r = a->m + 4 * row;

        for (unsigned column = 0; column < 4; column++) {
            out.m[4 * row + column] = r[0] * b->m[column] + r[1] * b->m[4 + column] +
                                      r[2] * b->m[8 + column] + (column == 3 ? r[3] : 0.0);
        }
    }
    return out;
}

struct facet_affine
facet_affine_trs(const double translation[3], const double rotation[4], const double scale[3])
{
    double x = rotation[0], y = rotation[1], z = rotation[2], w = rotation[3];
    double square = x * x + y * y + z * z + w * w;
    /* s = 2 / |q|^2 makes the matrix a rotation whatever the length of the quaternion is. */
    double s = square > 0.0 ? 2.0 / square : 0.0;
    struct facet_affine out = {{
        (1.0 - s * (y * y + z * z)) * scale[0],
        s * (x * y - w * z) * scale[1],
        s * (x * z + w * y) * scale[2],
        translation[0],
        s * (x * y + w * z) * scale[0],
        (1.0 - s * (x * x + z * z)) * scale[1],
        s * (y * z - w * x) * scale[2],
        translation[1],
        s * (x * z - w * y) * scale[0],
        s * (y * z + w * x) * scale[1],
        (1.0 - s * (x * x + y * y)) * scale[2],
        translation[2],
    }};

    return out;
}

double facet_affine_determinant(const struct facet_affine *a)
{
    const double *m = a->m;

    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

bool facet_affine_invert(const struct facet_affine *a, struct facet_affine *out)
{
    const double *m = a->m;
    double determinant = facet_affine_determinant(a);
    struct facet_affine r;
    double s;

    if (determinant == 0.0 || !isfinite(determinant)) {
        return false;
    }
    s = 1.0 / determinant;
    r.m[0] = (m[5] * m[10] - m[6] * m[9]) * s;
    r.m[1] = (m[2] * m[9] - m[1] * m[10]) * s;
    r.m[2] = (m[1] * m[6] - m[2] * m[5]) * s;
    r.m[4] = (m[6] * m[8] - m[4] * m[10]) * s;
    r.m[5] = (m[0] * m[10] - m[2] * m[8]) * s;
    r.m[6] = (m[2] * m[4] - m[0] * m[6]) * s;
    r.m[8] = (m[4] * m[9] - m[5] * m[8]) * s;
    r.m[9] = (m[1] * m[8] - m[0] * m[9]) * s;
    r.m[10] = (m[0] * m[5] - m[1] * m[4]) * s;
    for (unsigned row = 0; row < 3; row++) {
        const double *q = r.m + 4 * row;

        r.m[4 * row + 3] = -(q[0] * m[3] + q[1] * m[7] + q[2] * m[11]);
    }
    if (!facet_affine_finite(&r)) {
        return false;
    }
    *out = r;
    return true;
}

bool facet_affine_finite(const struct facet_affine *a)
{
    for (unsigned i = 0; i < 12; i++) {
        if (!isfinite(a->m[i])) {
            return false;
        }
    }
    return true;
}

void facet_affine_vector(const struct facet_affine *a, const double in[3], double out[3])
{
    for (unsigned row = 0; row < 3; row++) {
        const double *r = a->m + 4 * row;

        out[row] = r[0] * in[0] + r[1] * in[1] + r[2] * in[2];
    }
}

void facet_affine_point(const struct facet_affine *a, const double in[3], double out[3])
{
    facet_affine_vector(a, in, out);
    for (unsigned row = 0; row < 3; row++) {
        out[row] += a->m[4 * row + 3];
    }
}

void facet_affine_to_float(const struct facet_affine *a, float out[12])
{
    for (unsigned i = 0; i < 12; i++) {
        out[i] = (float)a->m[i];
    }
}

struct facet_affine facet_affine_from_float(const float in[12])
{
    struct facet_affine out;

    for (unsigned i = 0; i < 12; i++) {
        out.m[i] = (double)in[i];
    }
    return out;
}

bool facet_scene_normalize(double v[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

    if (!(length > 0.0) || !isfinite(length)) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        v[i] /= length;
    }
    return true;
}

void facet_scene_cross(const double a[3], const double b[3], double out[3])
{
    double r[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};

    memcpy(out, r, sizeof r);
}
