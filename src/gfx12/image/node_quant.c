/* Quantization of GFX12 child boxes: section 5 of gfx12-semantics.md. Encoding rounds outwards at
 * every step, so that a decoded box contains the box it was made from; decoding is exact up to one
 * rounded addition.
 *
 * Directed rounding is computed from exact sums in binary64 and never touches the rounding mode of
 * the host. */
#include "base/avx2.h"
#include "base/float.h"
#include "gfx12/image/node.h"
#include "num/f32.h"

/* The neighbour of a finite or infinite float towards +inf (up) or -inf. */
static float step(float f, bool up)
{
    uint32_t bits = facet_float_bits(f);
    bool away; /* away from zero */

    if ((bits & 0x7FFFFFFF) == 0) {
        return facet_float_of(up ? 0x00000001 : 0x80000001);
    }
    away = (bits >> 31 == 0) == up;
    return facet_float_of(away ? bits + 1 : bits - 1);
}

/* a - b rounded towards +inf (up) or -inf. The rounded binary64 difference s and its error e give
 * the exact result s + e (binary64 sums of floats neither overflow nor underflow); a float on the
 * wrong side of it moves by one. */
static float sub_directed(float a, float b, bool up)
{
    double x = a;
    double y = -(double)b;
    double s = x + y;
    double t = s - x;
    double e = (x - (s - t)) + (y - t);
    float f = (float)s;
    double g = f;
    bool above = g > s || (g == s && e < 0);
    bool below = g < s || (g == s && e > 0);
    if (up ? below : above) {
        return step(f, up);
    }
    return f;
}

/* 2^(139-e): grid steps per unit of an axis with exponent e; none with exponent 0. */
static double grid_scale(uint8_t exponent)
{
    return exponent == 0 ? 0.0 : facet_double_of((uint64_t)(1023 + 139 - exponent) << 52);
}

bool facet_gfx12_quantize_exponent(uint32_t lo, uint32_t hi, uint8_t *exponent)
{
    float extent = sub_directed(facet_float_of(hi), facet_float_of(lo), true);
    uint32_t e;

    *exponent = 0;
    if (!(extent >= 0)) {
        return false;
    }
    e = (facet_float_bits(extent) + 0x007FFFFF) >> 23 & 0xFF;
    if (e > 254) { /* above 2^127, or infinite */
        return false;
    }
    *exponent = (uint8_t)(e != 0 && e < 13 ? 13 : e);
    return true;
}

/* bound - origin in steps of the grid: the exact value is the product of scale and sum + error, and
 * error matters only where the sum is a whole number of steps. */
struct steps {
    double sum, error;
};

static inline struct steps grid_steps(float bound, float origin, double scale)
{
    const double x = (double)bound, y = -(double)origin;
    const double s = x + y, t = s - x;

    return (struct steps){s * scale, (x - (s - t)) + (y - t)};
}

/* The roundings of 5.1 to binary32, outwards, are left out: every whole number of steps that is
 * asked for is a binary32 number, so none lies between the exact value and the rounded one, and
 * floor and ceil are the same for both. The comparisons are written so that a NaN bound clamps too,
 * and nothing depends on a jump: floor and ceil follow no pattern. */
static inline int32_t floor_plane(struct steps q)
{
    const double above = q.sum > 0 ? q.sum : 0;
    const double at = above < 4095.5 ? above : 4095.5;
    const int32_t whole = (int32_t)at;

    return whole - ((at == whole) & (q.error < 0) & (whole > 0));
}

/* ceil - 1 */
static inline int32_t ceil_plane(struct steps q)
{
    const double above = q.sum >= 1 ? q.sum : 0.5;
    const double at = above < 4095.5 ? above : 4095.5;
    const int32_t whole = (int32_t)at;

    return whole - !((at > whole) | (q.error > 0));
}

uint16_t facet_gfx12_quantize_min(uint32_t bound, uint32_t origin, uint8_t exponent)
{
    return (uint16_t)floor_plane(
        grid_steps(facet_float_of(bound), facet_float_of(origin), grid_scale(exponent)));
}

uint16_t facet_gfx12_quantize_max(uint32_t bound, uint32_t origin, uint8_t exponent)
{
    return (uint16_t)ceil_plane(
        grid_steps(facet_float_of(bound), facet_float_of(origin), grid_scale(exponent)));
}

static void quantize_child(const uint32_t lo[3],
                           const uint32_t hi[3],
                           const uint32_t origin[3],
                           const uint8_t exponent[3],
                           struct facet_gfx12_child *child)
{
    struct steps low[3], high[3];

    for (unsigned k = 0; k < 3; k++) {
        const double scale = grid_scale(exponent[k]);

        low[k] = grid_steps(facet_float_of(lo[k]), facet_float_of(origin[k]), scale);
        high[k] = grid_steps(facet_float_of(hi[k]), facet_float_of(origin[k]), scale);
    }
    for (unsigned k = 0; k < 3; k++) {
        child->min[k] = (uint16_t)floor_plane(low[k]);
        child->max[k] = (uint16_t)ceil_plane(high[k]);
    }
}

FACET_AVX2 static void quantize_child_avx2(const uint32_t lo[3],
                                           const uint32_t hi[3],
                                           const uint32_t origin[3],
                                           const uint8_t exponent[3],
                                           struct facet_gfx12_child *child)
{
    quantize_child(lo, hi, origin, exponent, child);
}

void facet_gfx12_quantize_child(const uint32_t lo[3],
                                const uint32_t hi[3],
                                const uint32_t origin[3],
                                const uint8_t exponent[3],
                                struct facet_gfx12_child *child)
{
    if (facet_float_of(lo[0]) > facet_float_of(hi[0])) { /* inverted: holds nothing */
        for (unsigned k = 0; k < 3; k++) {
            child->min[k] = 4095;
            child->max[k] = 0;
        }
        child->cull_mask = 0;
        return;
    }
    (FACET_HAS_AVX2() ? quantize_child_avx2 : quantize_child)(lo, hi, origin, exponent, child);
}

uint32_t facet_gfx12_dequantize(uint32_t origin, uint8_t exponent, unsigned plane)
{
    uint32_t offset = 0;
    float sum;

    plane = plane > 4096 ? 4096 : plane;
    if (plane != 0) {
        int s = 19 - (int)facet_clz32(plane); /* floor(log2(plane)) - 12 */
        int x = s + exponent;
        if (x > 0) { /* an offset below 2^-126 becomes 0 */
            offset = (uint32_t)x << 23 | (plane << (11 - s) & 0x007FFFFF);
        }
    }
    sum = facet_float_of(offset) + facet_float_of(origin);
    return facet_float_bits(f32_canonical(sum));
}

void facet_gfx12_child_bounds(const struct facet_gfx12_child *child,
                              const uint32_t origin[3],
                              const uint8_t exponent[3],
                              uint32_t lo[3],
                              uint32_t hi[3])
{
    for (unsigned k = 0; k < 3; k++) {
        lo[k] = facet_gfx12_dequantize(origin[k], exponent[k], child->min[k]);
        hi[k] = facet_gfx12_dequantize(origin[k], exponent[k], child->max[k] + 1u);
    }
}
