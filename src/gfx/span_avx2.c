/* Bilinear RGBA8 with AVX2 and FMA: eight samples side by side. Every operation is the one of the
 * contract, in its order and rounded by itself; see span_portable.c for the same in plain C. */
#include "gfx/span_kernel.h"

#if defined(__x86_64__)

#include "base/float.h"
#include "gfx/sample.h"
#include "num/format.h"

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

/* i mod size for |i| < 2^22: the quotient by binary32 is at most one off. */
INLINE __m256i modulo(__m256i i, int32_t size)
{
    const __m256i n = _mm256_set1_epi32(size);
    __m256i m;
    __m256 q;

    if ((size & (size - 1)) == 0) {
        return _mm256_and_si256(i, _mm256_set1_epi32(size - 1));
    }
    q = _mm256_mul_ps(_mm256_cvtepi32_ps(i), _mm256_set1_ps(1.0f / (float)size));
    m = _mm256_cvttps_epi32(_mm256_floor_ps(q));
    m = _mm256_sub_epi32(i, _mm256_mullo_epi32(m, n));
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

/* Positions of any ordinary size: eight coordinates in two quarters. */
TARGET static __m256i locate_far(__m256 values, double scale, __m256i *weight, __m256i *left)
{
    const __m256d scales = _mm256_set1_pd(scale);
    __m256d far_low, far_high;
    __m128i weight_low, weight_high;
    __m128i low = quarter(_mm256_castps256_ps128(values), scales, &weight_low, &far_low);
    __m128i high = quarter(_mm256_extractf128_ps(values, 1), scales, &weight_high, &far_high);
    __m256 far = _mm256_shuffle_ps(
        _mm256_castpd_ps(far_low), _mm256_castpd_ps(far_high), _MM_SHUFFLE(2, 0, 2, 0));

    *left = _mm256_permute4x64_epi64(_mm256_castps_si256(far), _MM_SHUFFLE(3, 1, 2, 0));
    *weight = _mm256_andnot_si256(*left, joined(weight_low, weight_high));
    return _mm256_andnot_si256(*left, joined(low, high));
}

/* The same for positions below 2^30 (1/65536 texel), as nearly all are. The product with a power of
 * two is exact. Of others the rounded product and what rounding left are both floats: where the
 * product is no whole number, its floor is that of the exact one; else the rest decides. */
INLINE __m256i locate(__m256 values, double scale, __m256i *weight, __m256i *left)
{
    const __m256 scales = _mm256_set1_ps((float)scale);
    __m256 x = _mm256_mul_ps(values, scales), whole = _mm256_floor_ps(x);
    __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
    __m256i at = _mm256_cvttps_epi32(whole);

    if (_mm256_movemask_ps(_mm256_cmp_ps(size, _mm256_set1_ps(0x1p30f), _CMP_LT_OQ)) != 0xFF) {
        return locate_far(values, scale, weight, left);
    }
    if ((facet_double_bits(scale) & ((UINT64_C(1) << 52) - 1)) != 0) {
        __m256 rest = _mm256_floor_ps(_mm256_fmsub_ps(values, scales, x));
        __m256 decides = _mm256_cmp_ps(x, whole, _CMP_EQ_OQ);

        at = _mm256_add_epi32(at, _mm256_cvttps_epi32(_mm256_and_ps(rest, decides)));
    }
    at = _mm256_sub_epi32(at, _mm256_set1_epi32(32768)); /* half a texel */
    *weight = _mm256_and_si256(at, _mm256_set1_epi32(65535));
    *left = _mm256_setzero_si256();
    return _mm256_srai_epi32(at, 16);
}

INLINE struct axis place(const uint32_t *c, double scale, int32_t size, const unsigned wrap)
{
    const __m256i one = _mm256_set1_epi32(1), n = _mm256_set1_epi32(size);
    const __m256i last = _mm256_sub_epi32(n, one);
    struct axis axis;
    __m256i i = locate(_mm256_loadu_ps((const float *)c), scale, &axis.weight, &axis.left), m;

    if (wrap == FACET_GFX_REPEAT) {
        axis.near = modulo(i, size);
        axis.far = successor(axis.near, n);
    } else if (wrap == FACET_GFX_MIRROR) {
        const __m256i two = _mm256_add_epi32(n, n), last_of_two = _mm256_sub_epi32(two, one);

        m = modulo(i, 2 * size);
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

/* Texels are filtered in units of 2^-24, which changes no rounding: the scale of results. */
#define UNIT 0x1p-24f

/* n / 255 rounded to nearest even, in these units: three bytes n are n (2^24 - 1) / 255, exactly,
 * and a 2^24th more of that leaves an error of 2^-48. */
INLINE __m256 unorm(__m256i bytes)
{
    __m256 n = _mm256_cvtepi32_ps(bytes);

    return _mm256_fmadd_ps(n, _mm256_set1_ps(0x1p-24f), n);
}

INLINE __m256 lerp(__m256 p, __m256 q, __m256 weight)
{
    return _mm256_fmadd_ps(weight, _mm256_sub_ps(q, p), p);
}

/* ---- texels ---- */

/* A block of samples after its coordinates are placed. */
struct plan {
    uint32_t at[4][FACET_GFX_SPAN_BLOCK]; /* bytes from the first texel to the four that count */
    float a[FACET_GFX_SPAN_BLOCK], b[FACET_GFX_SPAN_BLOCK]; /* weights */
    uint64_t left;                                          /* for the general way */
    uint64_t apart; /* the two texels of a row do not lie side by side */
};

/* Has a texel that counts a code other than 0 and 255? */
TARGET static bool inexact(const __m256i t[4], __m256 a, __m256 b, __m256i left)
{
    const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi32(-1);
    __m256i skip_x = _mm256_cmpeq_epi32(_mm256_castps_si256(a), zero);
    __m256i skip_y = _mm256_cmpeq_epi32(_mm256_castps_si256(b), zero);
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
TARGET static bool rounds(const __m256i t[4], const float a[8], const float b[8], __m256i left)
{
    __m256i alike =
        _mm256_and_si256(_mm256_cmpeq_epi32(t[0], t[1]), _mm256_cmpeq_epi32(t[2], t[3]));
    uint32_t texel[4][8];
    unsigned open;

    alike = _mm256_and_si256(alike, _mm256_cmpeq_epi32(t[0], t[2]));
    open = ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(alike, left))) & 0xFF;
    for (unsigned k = 0; open != 0 && k < 4; k++) {
        _mm256_storeu_si256((__m256i *)texel[k], t[k]);
    }
    for (; open != 0; open &= open - 1) {
        unsigned k = (unsigned)__builtin_ctz(open);
        const uint32_t taps[4] = {texel[0][k], texel[1][k], texel[2][k], texel[3][k]};

        if (!facet_gfx_span_exact(taps, (uint32_t)(a[k] * 65536), (uint32_t)(b[k] * 65536))) {
            return true;
        }
    }
    return false;
}

/* Does one of the eight samples from k on raise NX? */
TARGET static bool raises(const struct facet_gfx_span_job *job, const struct plan *plan, unsigned k)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i mask = _mm256_set1_epi32((int)(plan->left >> k & 0xFF));
    const __m256i left = _mm256_cmpeq_epi32(_mm256_and_si256(mask, bit), bit);
    __m256i t[4];

    for (unsigned i = 0; i < 4; i++) {
        t[i] = _mm256_i32gather_epi32((const int *)(const void *)job->texels,
                                      _mm256_loadu_si256((const __m256i *)&plan->at[i][k]),
                                      1);
    }
    return inexact(t, _mm256_loadu_ps(plan->a + k), _mm256_loadu_ps(plan->b + k), left) ||
           rounds(t, plan->a + k, plan->b + k, left);
}

/* Two texels of a row: one word where they lie side by side. */
INLINE __m256i row_of(const uint8_t *near, const uint8_t *far, const bool apart)
{
    uint32_t first, second;
    uint64_t both;

    if (!apart) {
        memcpy(&both, near, sizeof both);
    } else {
        memcpy(&first, near, sizeof first);
        memcpy(&second, far, sizeof second);
        both = first | (uint64_t)second << 32;
    }
    return _mm256_set1_epi64x((int64_t)both);
}

/* For a shuffle of bytes: byte k three times, below a zero. */
#define THRICE(k) (INT32_MIN | (k)*0x010101)

/* Samples k and k + 4 on one row, filtered along it: components of one, then of the other. */
INLINE __m256 along_row(const uint8_t *texels,
                        const uint32_t *near,
                        const uint32_t *far,
                        unsigned k,
                        const bool apart,
                        __m256 weight)
{
    const __m256i low = _mm256_setr_epi32(
        THRICE(0), THRICE(1), THRICE(2), THRICE(3), THRICE(0), THRICE(1), THRICE(2), THRICE(3));
    const __m256i high = _mm256_add_epi32(low, _mm256_set1_epi32(4 * 0x010101));
    __m256i rows = _mm256_blend_epi32(row_of(texels + near[k], texels + far[k], apart),
                                      row_of(texels + near[k + 4], texels + far[k + 4], apart),
                                      0xF0);

    return lerp(
        unorm(_mm256_shuffle_epi8(rows, low)), unorm(_mm256_shuffle_epi8(rows, high)), weight);
}

/* Four numbers of either half, each filling it: those in place k. */
#define SPREAD(v, k) _mm256_permute_ps(v, (k)*0x55)

INLINE void put(uint32_t *to, __m256 values)
{
    _mm256_storeu_ps((float *)(void *)to, _mm256_mul_ps(values, _mm256_set1_ps(UNIT)));
}

/* The eight samples from k on. */
INLINE void filter(const struct facet_gfx_span_job *job,
                   const struct plan *plan,
                   unsigned k,
                   const bool apart,
                   uint32_t *const out[4])
{
    const uint8_t *texels = job->texels;
    const uint32_t *t00 = plan->at[0] + k, *t01 = plan->at[1] + k, *t10 = plan->at[2] + k,
                   *t11 = plan->at[3] + k;
    __m256 a = _mm256_loadu_ps(plan->a + k), b = _mm256_loadu_ps(plan->b + k), pair[4];

#define PAIR(k)                                                                                    \
    pair[k] = lerp(along_row(texels, t00, t01, k, apart, SPREAD(a, k)),                            \
                   along_row(texels, t10, t11, k, apart, SPREAD(a, k)),                            \
                   SPREAD(b, k))
    PAIR(0);
    PAIR(1);
    PAIR(2);
    PAIR(3);
#undef PAIR
    /* from components of samples to samples of components */
    a = _mm256_unpacklo_ps(pair[0], pair[1]);
    b = _mm256_unpacklo_ps(pair[2], pair[3]);
    put(out[0] + k, _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 1, 0)));
    put(out[1] + k, _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 2, 3, 2)));
    a = _mm256_unpackhi_ps(pair[0], pair[1]);
    b = _mm256_unpackhi_ps(pair[2], pair[3]);
    put(out[2] + k, _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 1, 0)));
    put(out[3] + k, _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 2, 3, 2)));
}

/* ---- the span ---- */

INLINE void place_all(const struct facet_gfx_span_job *job,
                      const uint32_t *u,
                      const uint32_t *v,
                      unsigned count,
                      const unsigned wrap,
                      struct plan *plan)
{
    const __m256i one = _mm256_set1_epi32(1), pitch = _mm256_set1_epi32((int)job->pitch);
    const __m256 step = _mm256_set1_ps(0x1p-16f);
    uint64_t all_left = 0, all_beside = 0;

    for (unsigned k = 0; k < count; k += 8) {
        struct axis x = place(u + k, job->scale_u, job->width, wrap);
        struct axis y = place(v + k, job->scale_v, job->height, wrap);
        __m256i beside = _mm256_cmpeq_epi32(_mm256_sub_epi32(x.far, x.near), one);
        __m256i left = _mm256_or_si256(x.left, y.left);

        x.near = _mm256_slli_epi32(x.near, 2);
        x.far = _mm256_slli_epi32(x.far, 2);
        y.near = _mm256_mullo_epi32(y.near, pitch);
        y.far = _mm256_mullo_epi32(y.far, pitch);
        _mm256_storeu_si256((__m256i *)&plan->at[0][k], _mm256_add_epi32(y.near, x.near));
        _mm256_storeu_si256((__m256i *)&plan->at[1][k], _mm256_add_epi32(y.near, x.far));
        _mm256_storeu_si256((__m256i *)&plan->at[2][k], _mm256_add_epi32(y.far, x.near));
        _mm256_storeu_si256((__m256i *)&plan->at[3][k], _mm256_add_epi32(y.far, x.far));
        _mm256_storeu_ps(plan->a + k, _mm256_mul_ps(_mm256_cvtepi32_ps(x.weight), step));
        _mm256_storeu_ps(plan->b + k, _mm256_mul_ps(_mm256_cvtepi32_ps(y.weight), step));
        all_left |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(left)) << k;
        all_beside |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(beside)) << k;
    }
    plan->left = all_left;
    plan->apart = ~all_beside;
}

#define PLACE_ALL(name, wrap)                                                                      \
    TARGET static void name(const struct facet_gfx_span_job *job,                                  \
                            const uint32_t *u,                                                     \
                            const uint32_t *v,                                                     \
                            unsigned count,                                                        \
                            struct plan *plan)                                                     \
    {                                                                                              \
        place_all(job, u, v, count, wrap, plan);                                                   \
    }
PLACE_ALL(place_clamp, FACET_GFX_CLAMP)
PLACE_ALL(place_repeat, FACET_GFX_REPEAT)
PLACE_ALL(place_mirror, FACET_GFX_MIRROR)
PLACE_ALL(place_border, FACET_GFX_BORDER)

/* The same where an edge of the texture is among them: rare, and kept out of the loop below. */
TARGET __attribute__((noinline)) static void filter_apart(const struct facet_gfx_span_job *job,
                                                          const struct plan *plan,
                                                          unsigned k,
                                                          uint32_t *const out[4])
{
    filter(job, plan, k, true, out);
}

/* `count` is a multiple of eight. */
TARGET static uint64_t eights(const struct facet_gfx_span_job *job,
                              const uint32_t *u,
                              const uint32_t *v,
                              unsigned count,
                              uint32_t *const out[4],
                              unsigned *flags)
{
    static void (*const place_by[4])(const struct facet_gfx_span_job *,
                                     const uint32_t *,
                                     const uint32_t *,
                                     unsigned,
                                     struct plan *) = {
        [FACET_GFX_CLAMP] = place_clamp,
        [FACET_GFX_REPEAT] = place_repeat,
        [FACET_GFX_MIRROR] = place_mirror,
        [FACET_GFX_BORDER] = place_border,
    };
    struct plan plan;
    unsigned k;

    place_by[job->wrap](job, u, v, count, &plan);
    for (k = 0; k < count && (*flags & FACET_NX) == 0; k += 8) {
        if (raises(job, &plan, k)) {
            *flags |= FACET_NX;
        } else if (job->srgb) {
            plan.left |= UINT64_C(0xFF) << k;
        }
    }
    for (k = 0; k < count; k += 8) {
        if ((plan.apart >> k & 0xFF) == 0) {
            filter(job, &plan, k, false, out);
        } else {
            filter_apart(job, &plan, k, out);
        }
    }
    if (job->srgb) {
        (job->wide ? facet_gfx_linear_avx512 : facet_gfx_linear_avx2)(out, count);
    }
    return plan.left;
}

TARGET uint64_t facet_gfx_span_avx2(const struct facet_gfx_span_job *job,
                                    const uint32_t *u,
                                    const uint32_t *v,
                                    unsigned count,
                                    uint32_t *const out[4],
                                    unsigned *flags)
{
    uint32_t uv[2][FACET_GFX_SPAN_BLOCK], result[4][FACET_GFX_SPAN_BLOCK];
    uint32_t *const into[4] = {result[0], result[1], result[2], result[3]};
    const unsigned room = (count + 7) & ~7u;
    uint64_t left;

    if (count == room) {
        return eights(job, u, v, count, out, flags);
    }
    /* copies of the first sample fill the last eight: they change no flag */
    for (unsigned k = 0; k < room; k++) {
        uv[0][k] = u[k < count ? k : 0];
        uv[1][k] = v[k < count ? k : 0];
    }
    left = eights(job, uv[0], uv[1], room, into, flags);
    for (unsigned c = 0; c < 4; c++) {
        memcpy(out[c], result[c], count * sizeof(uint32_t));
    }
    return left & ((UINT64_C(1) << count) - 1);
}

#endif
