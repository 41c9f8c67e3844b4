/* Bilinear RGBA8 in plain C: the twin of span_avx2.c. */
#include "gfx/span_kernel.h"

#include "base/float.h"
#include "gfx/sample.h"
#include "num/format.h"
#include "num/srgb.h"

#include <math.h>
#include <string.h>

struct axis {
    int32_t near, far; /* texels after wrap */
    uint32_t weight;   /* of far, in 1/65536 */
};

/* false: left to the general way. */
static bool place(uint32_t bits, double scale, int32_t size, unsigned wrap, struct axis *axis)
{
    float c;
    double x;
    int64_t t;
    int32_t i, m;

    c = facet_float_of(bits);
    x = (double)c * scale;
    if (!(x > -FACET_GFX_SPAN_FAR && x < FACET_GFX_SPAN_FAR)) {
        return false;
    }
    t = (int64_t)x;
    t -= (double)t > x; /* floor */
    t -= 32768;
    i = (int32_t)(t >> 16);
    axis->weight = t & 65535;
    switch (wrap) {
    case FACET_GFX_REPEAT:
        m = i % size;
        m += m < 0 ? size : 0;
        axis->near = m;
        axis->far = m + 1 == size ? 0 : m + 1;
        return true;
    case FACET_GFX_MIRROR:
        m = i % (2 * size);
        m += m < 0 ? 2 * size : 0;
        axis->near = m < size ? m : 2 * size - 1 - m;
        m = m + 1 == 2 * size ? 0 : m + 1;
        axis->far = m < size ? m : 2 * size - 1 - m;
        return true;
    case FACET_GFX_BORDER:
        axis->near = i;
        axis->far = axis->weight != 0 ? i + 1 : i;
        return i >= 0 && axis->far < size;
    default:
        axis->near = i < 0 ? 0 : i >= size ? size - 1 : i;
        axis->far = i + 1 < 0 ? 0 : i + 1 >= size ? size - 1 : i + 1;
        return true;
    }
}

static float lerp(float p, float q, float weight)
{
    return fmaf(weight, q - p, p);
}

static bool inexact(const uint8_t *texel)
{
    for (unsigned c = 0; c < 4; c++) {
        if ((uint8_t)(texel[c] + 1) > 1) { /* neither 255 nor 0 */
            return true;
        }
    }
    return false;
}

/* Rows of 0 and 255 have at most 16 bits; the exact result counts in units of 2^-32. */
bool facet_gfx_span_exact(const uint32_t texel[4], uint32_t fu, uint32_t fv)
{
    for (unsigned c = 0; c < 32; c += 8) {
        int64_t t[4], row[2], sum;

        for (unsigned k = 0; k < 4; k++) {
            t[k] = (texel[k] >> c & 255) != 0;
        }
        for (unsigned y = 0; y < 2; y++) {
            row[y] = 65536 * t[2 * y] + fu * (t[2 * y + 1] - t[2 * y]);
        }
        sum = 65536 * row[0] + fv * (row[1] - row[0]);
        if ((int64_t)(float)sum != sum) {
            return false;
        }
    }
    return true;
}

/* Does a sample raise NX? */
static bool raises(const uint8_t *const t[4], const struct axis *x, const struct axis *y)
{
    uint32_t texel[4];

    for (unsigned k = 0; k < 4; k++) {
        bool counts = ((k & 1) == 0 || x->weight != 0) && ((k & 2) == 0 || y->weight != 0);

        if (counts && inexact(t[k])) {
            return true;
        }
        memcpy(&texel[k], t[k], sizeof texel[k]);
    }
    return !facet_gfx_span_exact(texel, x->weight, y->weight);
}

uint64_t facet_gfx_span_portable(const struct facet_gfx_span_job *job,
                                 const uint32_t *u,
                                 const uint32_t *v,
                                 unsigned count,
                                 uint32_t *const out[4],
                                 unsigned *flags)
{
    uint64_t left = 0;

    for (unsigned k = 0; k < count; k++) {
        struct axis x, y;
        const uint8_t *near, *far, *t[4];
        float a, b;

        if (!place(u[k], job->scale_u, job->width, job->wrap, &x) ||
            !place(v[k], job->scale_v, job->height, job->wrap, &y)) {
            left |= UINT64_C(1) << k;
            continue;
        }
        near = job->texels + (uint64_t)(uint32_t)y.near * job->pitch;
        far = job->texels + (uint64_t)(uint32_t)y.far * job->pitch;
        t[0] = near + 4 * (size_t)x.near;
        t[1] = near + 4 * (size_t)x.far;
        t[2] = far + 4 * (size_t)x.near;
        t[3] = far + 4 * (size_t)x.far;
        a = (float)x.weight / 65536;
        b = (float)y.weight / 65536;
        if ((*flags & FACET_NX) == 0 && raises(t, &x, &y)) {
            *flags |= FACET_NX;
        }
        if (job->srgb && (*flags & FACET_NX) == 0) {
            left |= UINT64_C(1) << k;
            continue;
        }
        for (unsigned c = 0; c < 4; c++) {
            float upper = lerp((float)t[0][c] / 255, (float)t[1][c] / 255, a);
            float lower = lerp((float)t[2][c] / 255, (float)t[3][c] / 255, a);
            float result = lerp(upper, lower, b);

            result = job->srgb && c < 3 ? facet_srgb_float(result) : result;
            memcpy(&out[c][k], &result, sizeof result);
        }
    }
    return left;
}
