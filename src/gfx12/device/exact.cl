/* The numbers of section 1 of gfx12-semantics.md on a device. A device rounds sums, products and
 * fma correctly and keeps subnormals: IEEE 754 asks for it, OpenCL lets a device say whether it
 * does, and the self-test (check.c) does not take its word. What OpenCL leaves open is written out
 * here: division, minimum and maximum, bits of a NaN. */

#define F32_NAN_BITS 0x7FC00000u
#define F32_NAN_DIVISION_BITS 0xFFC00000u
#define F32_INF_BITS 0x7F800000u
#define F32_SIGN_BIT 0x80000000u

INLINE int is_nan(float f)
{
    return (as_uint(f) & 0x7FFFFFFFu) > F32_INF_BITS;
}

INLINE float canonical(float f)
{
    return is_nan(f) ? as_float(F32_NAN_BITS) : f;
}

INLINE float max_num(float a, float b)
{
    return is_nan(b) || a > b ? a : b;
}

INLINE float min_num(float a, float b)
{
    return is_nan(b) || a < b ? a : b;
}

/* 1 / m, correctly rounded, for m in [1, 2). The first guess is off by less than an eighth of
 * itself; every turn squares that error, and the fourth leaves only the rounding of its last fma.
 * That this rounding is the right one for each of the 2^23 numbers m but the one that is named has
 * been counted, not argued: the test gfx12_device counts again on the host, facet_opencl's
 * self-test on the device. */
INLINE float reciprocal(float m)
{
    float r = as_float(0x7EF311C7u - as_uint(m));
    for (int turn = 0; turn < 4; turn++) {
        r = fma(fma(-m, r, 1.0f), r, r);
    }
    return as_uint(m) == 0x3FFFFFFFu ? as_float(0x3F000001u) : r;
}

/* A float that is neither 0 nor infinite nor NaN as m * 2^exponent with m in [1, 2). */
INLINE float mantissa_of(device_u32 magnitude, int *exponent)
{
    if (magnitude < 0x00800000u) {
        int up = (int)clz(magnitude) - 8;
        magnitude <<= up;
        *exponent = -126 - up;
    } else {
        *exponent = (int)(magnitude >> 23) - 127;
    }
    return as_float(0x3F800000u | (magnitude & 0x007FFFFFu));
}

/* What the divisions by one number share. */
struct divisor {
    device_u32 bits;
    int exponent;
    float m, inverse;
};

INLINE struct divisor divisor_of(float b)
{
    struct divisor d;
    d.bits = as_uint(b);
    d.exponent = 0;
    d.m = d.inverse = 1.0f;
    if ((d.bits & 0x7FFFFFFFu) != 0 && (d.bits & 0x7FFFFFFFu) < F32_INF_BITS) {
        d.m = mantissa_of(d.bits & 0x7FFFFFFFu, &d.exponent);
        d.inverse = reciprocal(d.m);
    }
    return d;
}

/* a / b, rounded once, with the NaN of f32_div.
 *
 * x and y are the mantissas, r = RN(1/y) the reciprocal. q0 = RN(x*r) is less than two units in the
 * last place (ulp) from x/y: the error of r contributes x * 2^-25 < one ulp, the rounding half of
 * one. One correction by the remainder x - y*q makes that less than one ulp, q1. For such a q1 the
 * remainder is a binary32 number, so fma computes it without an error, and Markstein's theorem
 * ("Computation of elementary functions on the IBM RISC System/6000 processor", theorem 2) says
 * that RN(q1 + r * remainder) = RN(x/y) where r = RN(1/y). All numbers are near 1: nothing
 * overflows or underflows on the way.
 *
 * A quotient below 2^-126 has fewer bits and must be rounded from x/y itself, not from its
 * rounding: the sign of the last remainder says on which side of q x/y lies. In fourths of a
 * unit of q, q is a multiple of 4, and so is every point half-way between two subnormals; one
 * fourth more or less therefore stands for any distance below half a unit. */
INLINE float divide_by(float a, struct divisor b)
{
    const device_u32 sign = (as_uint(a) ^ b.bits) & F32_SIGN_BIT;
    const device_u32 ua = as_uint(a) & 0x7FFFFFFFu, ub = b.bits & 0x7FFFFFFFu;
    int exponent;
    float x, q, rest;
    device_u32 fourths, low, half_way;

    if (ua > F32_INF_BITS || ub > F32_INF_BITS) {
        return as_float(F32_NAN_BITS);
    }
    if (ua == ub && (ua == 0 || ua == F32_INF_BITS)) {
        return as_float(F32_NAN_DIVISION_BITS);
    }
    if (ua == F32_INF_BITS || ub == 0) {
        return as_float(sign | F32_INF_BITS);
    }
    if (ua == 0 || ub == F32_INF_BITS) {
        return as_float(sign);
    }
    x = mantissa_of(ua, &exponent);
    exponent -= b.exponent;
    q = x * b.inverse;
    q = fma(fma(-b.m, q, x), b.inverse, q);
    q = fma(fma(-b.m, q, x), b.inverse, q);
    exponent += (int)(as_uint(q) >> 23);
    if (exponent >= 255) {
        return as_float(sign | F32_INF_BITS);
    }
    if (exponent >= 1) {
        return as_float(sign | (device_u32)exponent << 23 | (as_uint(q) & 0x007FFFFFu));
    }
    if (exponent < -24) {
        return as_float(sign);
    }
    rest = fma(-b.m, q, x);
    fourths = ((as_uint(q) & 0x007FFFFFu) | 0x00800000u) << 2;
    fourths += rest > 0.0f ? 1u : rest < 0.0f ? 0xFFFFFFFFu : 0u;
    half_way = 1u << (2 - exponent);
    low = fourths & (2u * half_way - 1u);
    fourths >>= 3 - exponent;
    fourths += low > half_way || (low == half_way && (fourths & 1u) != 0) ? 1u : 0u;
    return as_float(sign | fourths);
}

INLINE float divide(float a, float b)
{
    return divide_by(a, divisor_of(b));
}

/* 1 / b where it is not an ordinary number. Apart, as it is rare. */
static NOINLINE float inverse_of_odd(float b)
{
    return divide(1.0f, b);
}

/* 1 / b, rounded once. */
INLINE float inverse_of(float b)
{
    const device_u32 u = as_uint(b) & 0x7FFFFFFFu;
    float r;

    /* From 2^-126 below 2^125: b and its inverse are normal. */
    if (u - 0x00800000u >= 0x7D800000u) {
        return inverse_of_odd(b);
    }
    r = reciprocal(as_float(0x3F800000u | (u & 0x007FFFFFu)));
    return as_float((as_uint(b) & F32_SIGN_BIT) |
                    (as_uint(r) - ((u & 0x7F800000u) - 0x3F800000u)));
}

/* From 2^-60 to 2^60. */
INLINE int is_ordinary(float a)
{
    return (as_uint(a) & 0x7FFFFFFFu) - 0x21800000u < 0x3C000000u;
}

/* a / b for ordinary numbers: the steps of divide_by with the numbers themselves in place of their
 * mantissas. All that comes up on the way is normal, and the remainders are multiples of 2^-107. */
INLINE float divide_ordinary(float a, float b, float inverse)
{
    float q = a * inverse;

    q = fma(fma(-b, q, a), inverse, q);
    return fma(fma(-b, q, a), inverse, q);
}

/* ---- the tests of src/gfx12/test.h ---- */

struct slab_ray {
    float origin[3];
    float inverse[3];
    float extent, grow;
};

struct slab {
    float enter, leave, min_t, max_t;
    int hit;
};

INLINE struct slab_ray
slab_ray_of(const float origin[3], const float direction[3], float extent, device_u32 grow)
{
    struct slab_ray r;
    for (int k = 0; k < 3; k++) {
        r.origin[k] = origin[k];
        r.inverse[k] = inverse_of(direction[k]);
    }
    r.extent = extent;
    r.grow = 1.0f + (float)grow * 0x1p-24f;
    return r;
}

INLINE struct slab slab_test(const struct slab_ray *ray, const float lo[3], const float hi[3])
{
    struct slab s;
    float near[3], far[3];
    int none;

    for (int k = 0; k < 3; k++) {
        float a = (lo[k] - ray->origin[k]) * ray->inverse[k];
        float b = (hi[k] - ray->origin[k]) * ray->inverse[k];
        int forward = ray->inverse[k] >= 0.0f;
        near[k] = forward ? a : b;
        far[k] = forward ? b : a;
    }
    s.enter = max_num(max_num(near[0], near[1]), near[2]);
    s.leave = min_num(min_num(far[0], far[1]), far[2]);
    none = is_nan(s.enter) || is_nan(s.leave);
    s.min_t = none ? as_float(F32_INF_BITS) : max_num(s.enter, 0.0f);
    s.max_t = none ? -as_float(F32_INF_BITS) : min_num(s.leave, ray->extent);
    s.enter = is_nan(s.enter) ? 0.0f : s.enter;
    s.leave = is_nan(s.leave) ? as_float(F32_INF_BITS) : s.leave;
    s.hit = s.min_t <= s.max_t * ray->grow;
    return s;
}

struct tri_terms {
    float t, u, v, det;
};

INLINE void cross_of(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

INLINE float dot_of(const float a[3], const float b[3])
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

/* What is divided: t, u and v by the determinant. */
struct tri_parts {
    float det, t, u, v;
};

/* With the edges from the first corner to the second, to the third, and to the origin. */
INLINE struct tri_parts
tri_parts_of(const float e1[3], const float e2[3], const float e3[3], const float direction[3])
{
    struct tri_parts p;
    float s1[3], s2[3];

    cross_of(direction, e2, s1);
    cross_of(e3, e1, s2);
    p.det = dot_of(s1, e1);
    p.t = dot_of(e2, s2);
    p.u = dot_of(e3, s1);
    p.v = dot_of(direction, s2);
    return p;
}

/* The terms of parts that are not all ordinary. Apart, as it is rare. */
static NOINLINE struct tri_terms odd_terms(float det, float t, float u, float v)
{
    struct tri_terms r;
    struct divisor by;

    r.det = canonical(det);
    by = divisor_of(r.det);
    r.t = divide_by(canonical(t), by);
    r.u = divide_by(canonical(u), by);
    r.v = divide_by(canonical(v), by);
    return r;
}

INLINE struct tri_terms tri_terms_of(const struct tri_parts *p)
{
    struct tri_terms r;
    float inverse;

    if (!is_ordinary(p->det) || !is_ordinary(p->t) || !is_ordinary(p->u) || !is_ordinary(p->v)) {
        return odd_terms(p->det, p->t, p->u, p->v);
    }
    inverse = inverse_of(p->det);
    r.det = p->det;
    r.t = divide_ordinary(p->t, p->det, inverse);
    r.u = divide_ordinary(p->u, p->det, inverse);
    r.v = divide_ordinary(p->v, p->det, inverse);
    return r;
}

INLINE struct tri_terms
tri_test(const device_u32 vertex[9], const float origin[3], const float direction[3])
{
    struct tri_parts parts;
    float e1[3], e2[3], e3[3];

    for (int k = 0; k < 3; k++) {
        float v0 = as_float(vertex[k]);
        e1[k] = as_float(vertex[3 + k]) - v0;
        e2[k] = as_float(vertex[6 + k]) - v0;
        e3[k] = origin[k] - v0;
    }
    parts = tri_parts_of(e1, e2, e3, direction);
    return tri_terms_of(&parts);
}

/* Rows of four: (m0, m1, m2, translation), float bits. In place. */
INLINE void transform(const device_u32 rows[12], float origin[3], float direction[3])
{
    float o[3], d[3];
    for (int k = 0; k < 3; k++) {
        o[k] = origin[k];
        d[k] = direction[k];
    }
    for (int r = 0; r < 3; r++) {
        float m0 = as_float(rows[4 * r]), m1 = as_float(rows[4 * r + 1]);
        float m2 = as_float(rows[4 * r + 2]);
        origin[r] = fma(o[0], m0, fma(o[1], m1, fma(o[2], m2, as_float(rows[4 * r + 3]))));
        direction[r] = fma(d[0], m0, fma(d[1], m1, d[2] * m2));
    }
}

/* A plane of the grid of a box node (5.2), 0..4096. */
INLINE float plane_at(device_u32 origin, device_u32 exponent, device_u32 plane)
{
    device_u32 offset = 0;
    if (plane != 0) {
        int s = 19 - (int)clz(plane);
        int x = s + (int)exponent;
        if (x > 0) {
            offset = (device_u32)x << 23 | (plane << (11 - s) & 0x007FFFFFu);
        }
    }
    return as_float(offset) + as_float(origin);
}
