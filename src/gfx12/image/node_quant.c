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

/* floor_plane and ceil_plane of the three axes side by side, with lane 3 along for the ride. */
typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef double double4 __attribute__((vector_size(32)));
typedef int64_t long4 __attribute__((vector_size(32)));

static void quantize_child(const uint32_t lo[3],
                           const uint32_t hi[3],
                           const uint32_t origin[3],
                           const uint8_t exponent[3],
                           struct facet_gfx12_child *child)
{
    const float4 from = {
        facet_float_of(origin[0]), facet_float_of(origin[1]), facet_float_of(origin[2])};
    const double4 y = -__builtin_convertvector(from, double4);
    const double4 scale = {
        grid_scale(exponent[0]), grid_scale(exponent[1]), grid_scale(exponent[2])};
    const double4 most = {4095.5, 4095.5, 4095.5, 4095.5}, half = {0.5, 0.5, 0.5, 0.5};

    for (unsigned side = 0; side < 2; side++) {
        const uint32_t *bound = side == 0 ? lo : hi;
        const float4 at = {
            facet_float_of(bound[0]), facet_float_of(bound[1]), facet_float_of(bound[2])};
        const double4 x = __builtin_convertvector(at, double4);
        const double4 s = x + y, t = s - x;
        const double4 error = (x - (s - t)) + (y - t), sum = s * scale;
        const long4 above = side == 0 ? ((long4)sum & (sum > 0))
                                      : (((long4)sum & (sum >= 1)) | ((long4)half & ~(sum >= 1)));
        const long4 small = (double4)above < most;
        const double4 clamped = (double4)((above & small) | ((long4)most & ~small));
        const int4 whole = __builtin_convertvector(clamped, int4);
        const double4 floor = __builtin_convertvector(whole, double4);
        /* -1 where one is to be taken off */
        const long4 less = side == 0 ? ((clamped == floor) & (error < 0) & (floor > 0))
                                     : ~((clamped > floor) | (error > 0));
        const int4 planes = whole + __builtin_convertvector(less, int4);

        for (unsigned k = 0; k < 3; k++) {
            *(side == 0 ? &child->min[k] : &child->max[k]) = (uint16_t)planes[k];
        }
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

/* Node bounds: the smallest minimum and largest maximum, -0 below +0 (section 1 rule 4). */
bool facet_gfx12_box_grid(struct facet_gfx12_box *box,
                          uint32_t lo[8][3],
                          uint32_t hi[8][3],
                          unsigned n)
{
    for (int k = 0; k < 3; k++) {
        float low, high;

        memcpy(&low, &lo[0][k], sizeof low);
        memcpy(&high, &hi[0][k], sizeof high);
        for (unsigned c = 1; c < n; c++) {
            float l, h;

            memcpy(&l, &lo[c][k], sizeof l);
            memcpy(&h, &hi[c][k], sizeof h);
            low = l < low || (l == low && __builtin_signbit(l)) ? l : low;
            high = h > high ? h : high;
        }
        box->origin[k] = facet_float_bits(low);
        if (!facet_gfx12_quantize_exponent(
                box->origin[k], facet_float_bits(high), &box->exponent[k])) {
            return false;
        }
    }
    return true;
}
