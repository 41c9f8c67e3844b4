/* Bilinear RGBA8 with AVX2 and FMA: eight samples side by side. Every operation is the one of the
 * contract, in its order and rounded by itself; see span_portable.c for the same in plain C. */
#include "gfx/span_kernel.h"

#if defined(__x86_64__)

#include "gfx/sample.h"
#include "num/format.h"
#include "num/srgb.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

struct axis {
    __m256i near, far; /* texels after wrap */
    __m256i weight;    /* of far, in 1/65536 */
    __m256i left;      /* all ones: left to the general way */
};

/* Half a texel before c * scale, in 1/65536 texel, as index and weight; four coordinates, and which
 * of them are out of reach. All of it is exact in binary64. */
INLINE __m128i quarter(__m128 c, __m256d scale, __m128i *weight, __m256d *far)
{
    const __m256d limit = _mm256_set1_pd(FACET_GFX_SPAN_FAR);
    __m256d x = _mm256_mul_pd(_mm256_cvtps_pd(c), scale);
    __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x), i;

    *far = _mm256_cmp_pd(size, limit, _CMP_NLT_UQ);
    x = _mm256_sub_pd(_mm256_floor_pd(x), _mm256_set1_pd(32768));
    i = _mm256_floor_pd(_mm256_mul_pd(x, _mm256_set1_pd(0x1p-16)));
    *weight = _mm256_cvttpd_epi32(_mm256_fnmadd_pd(i, _mm256_set1_pd(65536), x));
    return _mm256_cvttpd_epi32(i);
}

INLINE __m256i joined(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* i mod n for |i| < 2^22: the quotient by binary32 is at most one off. */
INLINE __m256i modulo(__m256i i, __m256i n, __m256 inverse)
{
    __m256 q = _mm256_floor_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(i), inverse));
    __m256i m = _mm256_sub_epi32(i, _mm256_mullo_epi32(_mm256_cvttps_epi32(q), n));

    m = _mm256_add_epi32(m, _mm256_and_si256(_mm256_srai_epi32(m, 31), n));
    return _mm256_sub_epi32(m, _mm256_andnot_si256(_mm256_cmpgt_epi32(n, m), n));
}

/* The next index of a wrap around n. */
INLINE __m256i successor(__m256i m, __m256i n)
{
    m = _mm256_add_epi32(m, _mm256_set1_epi32(1));
    return _mm256_andnot_si256(_mm256_cmpeq_epi32(m, n), m);
}

INLINE __m256i clamp(__m256i i, __m256i last)
{
    return _mm256_min_epi32(_mm256_max_epi32(i, _mm256_setzero_si256()), last);
}

INLINE __m256i reflect(__m256i m, __m256i last_of_two)
{
    return _mm256_min_epi32(m, _mm256_sub_epi32(last_of_two, m));
}

INLINE struct axis place(const uint32_t *c, double scale, int32_t size, const unsigned wrap)
{
    const __m256 values = _mm256_loadu_ps((const float *)c);
    const __m256i one = _mm256_set1_epi32(1), n = _mm256_set1_epi32(size);
    const __m256i last = _mm256_sub_epi32(n, one);
    const __m256d scales = _mm256_set1_pd(scale);
    __m256d far_low, far_high;
    __m128i weight_low, weight_high;
    __m128i low = quarter(_mm256_castps256_ps128(values), scales, &weight_low, &far_low);
    __m128i high = quarter(_mm256_extractf128_ps(values, 1), scales, &weight_high, &far_high);
    __m256i i, m;
    __m256 far = _mm256_shuffle_ps(
        _mm256_castpd_ps(far_low), _mm256_castpd_ps(far_high), _MM_SHUFFLE(2, 0, 2, 0));
    struct axis axis;

    axis.left = _mm256_permute4x64_epi64(_mm256_castps_si256(far), _MM_SHUFFLE(3, 1, 2, 0));
    i = _mm256_andnot_si256(axis.left, joined(low, high));
    axis.weight = _mm256_andnot_si256(axis.left, joined(weight_low, weight_high));
    if (wrap == FACET_GFX_REPEAT) {
        axis.near = modulo(i, n, _mm256_set1_ps(1.0f / (float)size));
        axis.far = successor(axis.near, n);
    } else if (wrap == FACET_GFX_MIRROR) {
        const __m256i two = _mm256_add_epi32(n, n), last_of_two = _mm256_sub_epi32(two, one);

        m = modulo(i, two, _mm256_set1_ps(0.5f / (float)size));
        axis.near = reflect(m, last_of_two);
        axis.far = reflect(successor(m, two), last_of_two);
    } else {
        axis.near = clamp(i, last);
        axis.far = clamp(_mm256_add_epi32(i, one), last);
    }
    if (wrap == FACET_GFX_BORDER) { /* clamped for the loads, but a tap that counts was outside */
        __m256i zero = _mm256_cmpeq_epi32(axis.weight, _mm256_setzero_si256());
        __m256i next = _mm256_add_epi32(i, one);
        __m256i near_out =
            _mm256_xor_si256(_mm256_cmpeq_epi32(i, axis.near), _mm256_set1_epi32(-1));
        __m256i far_in = _mm256_or_si256(zero, _mm256_cmpeq_epi32(next, axis.far));

        axis.left = _mm256_or_si256(axis.left, near_out);
        axis.left = _mm256_or_si256(axis.left, _mm256_xor_si256(far_in, _mm256_set1_epi32(-1)));
    }
    return axis;
}

/* n / 255 rounded to nearest even: 1/255 as the sum of two floats; exact for all 256 codes. */
INLINE __m256 unorm(__m256i code)
{
    const __m256 high = _mm256_set1_ps(0x1.010102p-8f), low = _mm256_set1_ps(-0x1.fdfdfep-33f);
    __m256 n = _mm256_cvtepi32_ps(code);

    return _mm256_fmadd_ps(n, high, _mm256_mul_ps(n, low));
}

INLINE __m256 lerp(__m256 p, __m256 q, __m256 weight)
{
    return _mm256_fmadd_ps(weight, _mm256_sub_ps(q, p), p);
}

/* Component c of the four taps, filtered. */
INLINE __m256 component(const __m256i t[4], unsigned c, __m256 a, __m256 b)
{
    const __m256i byte = _mm256_set1_epi32(255);
    __m256 f[4];

    for (unsigned k = 0; k < 4; k++) {
        __m256i code = c == 0   ? _mm256_and_si256(t[k], byte)
                       : c == 3 ? _mm256_srli_epi32(t[k], 24)
                                : _mm256_and_si256(_mm256_srli_epi32(t[k], (int)(8 * c)), byte);

        f[k] = unorm(code);
    }
    return lerp(lerp(f[0], f[1], a), lerp(f[2], f[3], a), b);
}

/* facet_srgb_float for four numbers from 0 to 1; doubt: which of them are too near to a tie. */
INLINE __m128 four_linear(__m128 x, __m128 *doubt)
{
    static const double a[6] = FACET_SRGB_SERIES;
    const __m256d one = _mm256_set1_pd(1), error = _mm256_set1_pd(FACET_SRGB_ERROR);
    __m256d wide = _mm256_cvtps_pd(x);
    __m256d on_line = _mm256_cmp_pd(wide, _mm256_set1_pd(0.04045), _CMP_LE_OQ);
    __m256d line = _mm256_mul_pd(wide, _mm256_set1_pd(25.0 / 323));
    __m256d w = _mm256_blendv_pd(_mm256_add_pd(wide, _mm256_set1_pd(0.055)), one, on_line);
    __m256i at = _mm256_srli_epi64(_mm256_castpd_si256(w), 48);
    __m256i middle =
        _mm256_or_si256(_mm256_slli_epi64(at, 48), _mm256_set1_epi64x(INT64_C(1) << 47));
    __m256d c = _mm256_castsi256_pd(middle), p = _mm256_set1_pd(a[5]), t, z, off;
    __m128 low;

    t = _mm256_div_pd(_mm256_sub_pd(w, c), c);
    at = _mm256_sub_epi64(at, _mm256_set1_epi64x(1019 << 4));
    c = _mm256_i64gather_pd(facet_srgb_power, at, 8);
    for (unsigned k = 5; k-- > 0;) {
        p = _mm256_fmadd_pd(p, t, _mm256_set1_pd(a[k]));
    }
    z = _mm256_fmadd_pd(_mm256_mul_pd(c, t), p, c);
    z = _mm256_blendv_pd(z, line, on_line);
    off = _mm256_andnot_pd(on_line, _mm256_mul_pd(z, error));
    low = _mm256_cvtpd_ps(_mm256_sub_pd(z, off));
    *doubt = _mm_cmpneq_ps(low, _mm256_cvtpd_ps(_mm256_add_pd(z, off)));
    return low;
}

INLINE __m256 to_linear(__m256 x, __m256i *left)
{
    __m128 doubt_low, doubt_high;
    __m128 low = four_linear(_mm256_castps256_ps128(x), &doubt_low);
    __m128 high = four_linear(_mm256_extractf128_ps(x, 1), &doubt_high);

    *left =
        _mm256_or_si256(*left, joined(_mm_castps_si128(doubt_low), _mm_castps_si128(doubt_high)));
    return _mm256_castsi256_ps(joined(_mm_castps_si128(low), _mm_castps_si128(high)));
}

/* Has a texel that counts a code other than 0 and 255? */
TARGET static bool
inexact(const __m256i t[4], const struct axis *x, const struct axis *y, __m256i left)
{
    const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi32(-1);
    __m256i skip_x = _mm256_cmpeq_epi32(x->weight, zero);
    __m256i skip_y = _mm256_cmpeq_epi32(y->weight, zero);
    __m256i any = zero;

    for (unsigned k = 0; k < 4; k++) {
        __m256i ends =
            _mm256_or_si256(_mm256_cmpeq_epi8(t[k], zero), _mm256_cmpeq_epi8(t[k], ones));
        __m256i skip = left;

        skip = (k & 1) != 0 ? _mm256_or_si256(skip, skip_x) : skip;
        skip = (k & 2) != 0 ? _mm256_or_si256(skip, skip_y) : skip;
        any = _mm256_or_si256(any, _mm256_andnot_si256(_mm256_or_si256(ends, skip), ones));
    }
    return _mm256_testz_si256(any, any) == 0;
}

/* Texels of 0 and 255 only: does one of eight filters round? Where the four texels are alike, and
 * so in most textures of one colour, none does. */
TARGET static bool
rounds(const __m256i t[4], const struct axis *x, const struct axis *y, __m256i left)
{
    __m256i alike =
        _mm256_and_si256(_mm256_cmpeq_epi32(t[0], t[1]), _mm256_cmpeq_epi32(t[2], t[3]));
    uint32_t texel[4][8], fu[8], fv[8];
    unsigned open;

    alike = _mm256_and_si256(alike, _mm256_cmpeq_epi32(t[0], t[2]));
    open = ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(alike, left))) & 0xFF;
    if (open == 0) {
        return false;
    }
    for (unsigned k = 0; k < 4; k++) {
        _mm256_storeu_si256((__m256i *)texel[k], t[k]);
    }
    _mm256_storeu_si256((__m256i *)fu, x->weight);
    _mm256_storeu_si256((__m256i *)fv, y->weight);
    for (; open != 0; open &= open - 1) {
        unsigned k = (unsigned)__builtin_ctz(open);
        const uint32_t taps[4] = {texel[0][k], texel[1][k], texel[2][k], texel[3][k]};

        if (!facet_gfx_span_exact(taps, fu[k], fv[k])) {
            return true;
        }
    }
    return false;
}

INLINE unsigned eight(const struct facet_gfx_span_job *job,
                      const uint32_t *u,
                      const uint32_t *v,
                      const unsigned wrap,
                      float *const out[4],
                      unsigned *flags)
{
    const __m256 step = _mm256_set1_ps(0x1p-16f);
    const int *texels = (const int *)(const void *)job->texels;
    struct axis x = place(u, job->scale_u, job->width, wrap);
    struct axis y = place(v, job->scale_v, job->height, wrap);
    __m256i pitch = _mm256_set1_epi32((int)job->pitch);
    __m256i near = _mm256_mullo_epi32(y.near, pitch), far = _mm256_mullo_epi32(y.far, pitch);
    __m256i left = _mm256_or_si256(x.left, y.left), t[4];
    __m256 a = _mm256_mul_ps(_mm256_cvtepi32_ps(x.weight), step);
    __m256 b = _mm256_mul_ps(_mm256_cvtepi32_ps(y.weight), step);

    x.near = _mm256_slli_epi32(x.near, 2);
    x.far = _mm256_slli_epi32(x.far, 2);
    t[0] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(near, x.near), 1);
    t[1] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(near, x.far), 1);
    t[2] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(far, x.near), 1);
    t[3] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(far, x.far), 1);
    if ((*flags & FACET_NX) == 0 && (inexact(t, &x, &y, left) || rounds(t, &x, &y, left))) {
        *flags |= FACET_NX;
    }
    if (job->srgb && (*flags & FACET_NX) == 0) {
        return 0xFF;
    }
    for (unsigned c = 0; c < 4; c++) {
        __m256 result = component(t, c, a, b);

        _mm256_storeu_ps(out[c], job->srgb && c < 3 ? to_linear(result, &left) : result);
    }
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(left));
}

/* The last samples of a span, through room for eight; the copies of the first of them change no
 * flag. */
TARGET static unsigned rest(const struct facet_gfx_span_job *job,
                            const uint32_t *u,
                            const uint32_t *v,
                            unsigned count,
                            const unsigned wrap,
                            uint32_t *const out[4],
                            unsigned at,
                            unsigned *flags)
{
    uint32_t uv[2][8];
    float result[4][8];
    float *const into[4] = {result[0], result[1], result[2], result[3]};
    unsigned left;

    for (unsigned k = 0; k < 8; k++) {
        uv[0][k] = u[k < count ? k : 0];
        uv[1][k] = v[k < count ? k : 0];
    }
    left = eight(job, uv[0], uv[1], wrap, into, flags);
    for (unsigned c = 0; c < 4; c++) {
        memcpy(out[c] + at, result[c], count * sizeof(float));
    }
    return left & ((1u << count) - 1);
}

INLINE uint64_t span(const struct facet_gfx_span_job *job,
                     const uint32_t *u,
                     const uint32_t *v,
                     unsigned count,
                     const unsigned wrap,
                     uint32_t *const out[4],
                     unsigned *flags)
{
    uint64_t left = 0;
    unsigned k = 0;

    for (; k + 8 <= count; k += 8) {
        float *const into[4] = {(float *)(out[0] + k),
                                (float *)(out[1] + k),
                                (float *)(out[2] + k),
                                (float *)(out[3] + k)};

        left |= (uint64_t)eight(job, u + k, v + k, wrap, into, flags) << k;
    }
    if (k < count) {
        left |= (uint64_t)rest(job, u + k, v + k, count - k, wrap, out, k, flags) << k;
    }
    return left;
}

TARGET uint64_t facet_gfx_span_avx2(const struct facet_gfx_span_job *job,
                                    const uint32_t *u,
                                    const uint32_t *v,
                                    unsigned count,
                                    uint32_t *const out[4],
                                    unsigned *flags)
{
    switch (job->wrap) {
    case FACET_GFX_REPEAT:
        return span(job, u, v, count, FACET_GFX_REPEAT, out, flags);
    case FACET_GFX_MIRROR:
        return span(job, u, v, count, FACET_GFX_MIRROR, out, flags);
    case FACET_GFX_BORDER:
        return span(job, u, v, count, FACET_GFX_BORDER, out, flags);
    default:
        return span(job, u, v, count, FACET_GFX_CLAMP, out, flags);
    }
}

#endif
