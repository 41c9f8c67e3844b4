/* See host.h. */
#include "rt/host.h"

#include "base/float.h"
#include "base/ways.h"
#include "num/accum.h"
#include "rt/fp32.h"

#include <float.h>
#include <math.h>

enum {
    /* The host computes in the formats themselves, not in wider ones. */
    HOST_IS_EXACT = FLT_EVAL_METHOD == 0 && FLT_RADIX == 2 && FLT_MANT_DIG == 24 &&
                    FLT_MAX_EXP == 128 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024,
};

static bool is_finite(uint32_t bits)
{
    return facet_rt_magnitude(bits) < FACET_RT_INF;
}

/* Finite and at least twice the smallest normal number: not even its neighbours are tiny. */
static bool ordinary(float value)
{
    float magnitude = fabsf(value);

    return magnitude >= 2 * FLT_MIN && magnitude <= FLT_MAX;
}

/* The larger and the smaller of two numbers, -0 < +0. */
static float larger(float a, float b)
{
    return a > b || (a == b && !signbit(a)) ? a : b;
}

static float smaller(float a, float b)
{
    return a < b || (a == b && signbit(a)) ? a : b;
}

bool facet_rt_host_fits(const struct facet_rt_numbers *n)
{
    const struct facet_conv *c = &n->channel[0];

    return HOST_IS_EXACT && !c->plain && c->elem == FACET_FMT_FP32 && c->rm == FACET_RNE &&
           !c->ftz && c->scale == 0;
}

/* a / b. Ordinary numbers with an ordinary quotient raise nothing but NX, which is not asked for.
 */
static uint32_t divide(const struct facet_conv *c, uint32_t a, uint32_t b, unsigned *flags)
{
    float quotient = facet_float_of(a) / facet_float_of(b);

    return ordinary(facet_float_of(a)) && ordinary(facet_float_of(b)) && ordinary(quotient)
               ? facet_float_bits(quotient)
               : facet_acc_div(c, a, b, flags);
}

void facet_rt_host_ray(const struct facet_rt_numbers *n,
                       const struct facet_rt_ray *ray,
                       struct facet_rt_host_ray *host)
{
    const struct facet_conv *c = &n->channel[0];
    const uint32_t *d = ray->d;
    bool finite = true;

    FACET_FAST_WAY(RT_HOST);
    *host = (struct facet_rt_host_ray){.tmin = facet_float_of(ray->tmin),
                                       .tmax = facet_float_of(ray->tmax)};
    for (unsigned a = 0; a < 3; a++) {
        uint32_t inverse = divide(c, FACET_RT_ONE, d[a], &host->box_flags);

        finite &= is_finite(ray->o[a]) && is_finite(d[a]);
        host->o[a] = facet_float_of(ray->o[a]);
        host->inverse[a] = facet_float_of(inverse);
        host->parallel[a] = facet_rt_magnitude(inverse) == FACET_RT_INF;
        host->backward[a] = (d[a] & FACET_RT_SIGN) != 0;
        if (facet_rt_magnitude(d[a]) > facet_rt_magnitude(d[host->kz])) {
            host->kz = (uint8_t)a;
        }
    }
    host->kx = (uint8_t)((host->kz + 1 + host->backward[host->kz]) % 3);
    host->ky = (uint8_t)((host->kz + 2 - host->backward[host->kz]) % 3);
    host->boxes = finite;
    host->triangles = finite && facet_rt_magnitude(d[host->kz]) != 0;
    if (host->triangles) {
        unsigned *flags = &host->triangle_flags;

        host->sx = facet_float_of(divide(c, d[host->kx], d[host->kz], flags));
        host->sy = facet_float_of(divide(c, d[host->ky], d[host->kz], flags));
        host->sz = facet_float_of(divide(c, FACET_RT_ONE, d[host->kz], flags));
        host->triangles = is_finite(facet_float_bits(host->sz));
    }
}

/* (plane - o) * inverse; false when a step may have raised something. */
static bool plane(float at, float o, float inverse, float *t)
{
    float distance = at - o;

    *t = distance * inverse;
    return ordinary(*t) || distance == 0;
}

bool facet_rt_host_box(const struct facet_rt_host_ray *ray,
                       const uint32_t box[FACET_RT_BOX_ELEMENTS],
                       struct facet_rt_slab *slab,
                       unsigned *flags)
{
    float near = -INFINITY, far = INFINITY, cnear, cfar;
    bool sound = ray->boxes;

    for (unsigned i = 0; i < FACET_RT_BOX_ELEMENTS; i++) {
        sound &= is_finite(box[i]);
    }
    if (!sound) {
        return false;
    }
    for (unsigned a = 0; a < 3; a++) {
        if (facet_float_of(box[a]) > facet_float_of(box[3 + a])) {
            *slab = (struct facet_rt_slab){.outcome = FACET_RT_MISS};
            return true;
        }
    }
    for (unsigned a = 0; a < 3; a++) {
        float min = facet_float_of(box[a]), max = facet_float_of(box[3 + a]), o = ray->o[a], tn, tf;

        if (ray->parallel[a]) {
            bool inside = min <= o && o <= max;

            tn = inside ? -INFINITY : INFINITY;
            tf = -tn;
        } else if (!plane(ray->backward[a] ? max : min, o, ray->inverse[a], &tn) ||
                   !plane(ray->backward[a] ? min : max, o, ray->inverse[a], &tf)) {
            return false;
        }
        near = larger(near, tn);
        far = smaller(far, tf);
    }
    cnear = larger(near, ray->tmin);
    cfar = smaller(far, ray->tmax);
    *slab = (struct facet_rt_slab){
        .outcome = cnear <= cfar ? FACET_RT_HIT : FACET_RT_MISS,
        .near = facet_float_bits(near),
        .far = facet_float_bits(far),
        .cnear = facet_float_bits(cnear),
        .cfar = facet_float_bits(cfar),
    };
    *flags |= ray->box_flags;
    return true;
}

/* a + b rounded to odd in double, then once to float: the correctly rounded sum, because double has
 * more than twice the digits. Products of two floats are exact in double. */
static bool sum(double a, double b, float *result)
{
    double s = a + b, part = s - a, error = (a - (s - part)) + (b - part);

    if (error != 0) {
        uint64_t bits = facet_double_bits(s);

        if ((bits & 1) == 0) {
            bits += (error > 0) == (s > 0) ? 1 : UINT64_MAX;
        }
        s = facet_double_of(bits);
    }
    *result = (float)s;
    return ordinary(*result) || s == 0;
}

static bool fused(float a, float b, float c, float *result)
{
    return sum((double)a * (double)b, (double)c, result);
}

static bool difference(float a, float b, float c, float d, float *result)
{
    return sum((double)a * (double)b, -((double)c * (double)d), result);
}

static bool product(float a, float b, float *result)
{
    *result = a * b;
    return ordinary(*result) || a == 0 || b == 0;
}

static bool quotient(float a, float b, float *result)
{
    *result = a / b;
    return ordinary(*result) || a == 0;
}

bool facet_rt_host_triangle(const struct facet_rt_host_ray *ray,
                            const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                            const struct facet_rt_options *options,
                            struct facet_rt_facet *hit,
                            unsigned *flags)
{
    struct facet_rt_facet result = {.outcome = FACET_RT_MISS, .edges = true};
    float x[3], y[3], q[3], edge[3], z[3], det, t, u, v;
    bool sound = ray->triangles;

    for (unsigned j = 0; j < 3; j++) {
        const uint32_t *vertex = vertices + 3 * (uint64_t)j;
        float p[3];

        for (unsigned a = 0; a < 3; a++) { /* tiny differences are exact */
            p[a] = facet_float_of(vertex[a]) - ray->o[a];
            sound &= is_finite(facet_float_bits(p[a]));
        }
        q[j] = p[ray->kz];
        sound &= fused(-ray->sx, q[j], p[ray->kx], &x[j]);
        sound &= fused(-ray->sy, q[j], p[ray->ky], &y[j]);
    }
    sound &= difference(x[2], y[1], y[2], x[1], &edge[0]);
    sound &= difference(x[0], y[2], y[0], x[2], &edge[1]);
    sound &= difference(x[1], y[0], y[1], x[0], &edge[2]);
    if (!sound) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        result.edge[i] = facet_float_bits(edge[i]);
    }
    *hit = result;
    if (edge[0] < 0 || edge[1] < 0 || edge[2] < 0) {
        if (options->cull_back || edge[0] > 0 || edge[1] > 0 || edge[2] > 0) {
            *flags |= ray->triangle_flags;
            return true;
        }
    }
    det = edge[0] + edge[1] + edge[2];
    if (!is_finite(facet_float_bits(det))) {
        return false;
    }
    if (fabsf(det) <= facet_float_of(options->eps)) {
        *flags |= ray->triangle_flags;
        return true;
    }
    result.front = det > 0;
    for (unsigned j = 0; j < 3; j++) {
        sound &= product(ray->sz, q[j], &z[j]);
    }
    sound &= product(edge[2], z[2], &t);
    sound &= fused(edge[1], z[1], t, &t);
    sound &= fused(edge[0], z[0], t, &t);
    sound &= quotient(t, det, &t);
    if (!sound) {
        return false;
    }
    t = t == 0 ? 0.0f : t;
    result.t = facet_float_bits(t);
    *hit = result;
    if (!(t < ray->tmin || t > ray->tmax)) {
        result.outcome = FACET_RT_HIT;
        if (!options->no_uv) {
            if (!quotient(fabsf(edge[1]), fabsf(det), &u) ||
                !quotient(fabsf(edge[2]), fabsf(det), &v)) {
                return false;
            }
            result.u = facet_float_bits(u);
            result.v = facet_float_bits(v);
        }
        *hit = result;
    }
    *flags |= ray->triangle_flags;
    return true;
}
