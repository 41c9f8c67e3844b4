/* See linear.h. */
#include "gfx/linear.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* Of eight binary64 numbers those with these indices, four by four. Their halves are looked up, and
 * an index of the second and third pair change places because unpacking works on 128 bits. */
INLINE void look_up(const double table[8], __m256i at, __m256d out[2])
{
    const __m256 one = _mm256_loadu_ps((const float *)(const void *)table);
    const __m256 two = _mm256_loadu_ps((const float *)(const void *)(table + 4));
    __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(one, two, _MM_SHUFFLE(2, 0, 2, 0)));
    __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(one, two, _MM_SHUFFLE(3, 1, 3, 1)));

    low = _mm256_permutevar8x32_epi32(_mm256_permute4x64_epi64(low, _MM_SHUFFLE(3, 1, 2, 0)), at);
    high = _mm256_permutevar8x32_epi32(_mm256_permute4x64_epi64(high, _MM_SHUFFLE(3, 1, 2, 0)), at);
    out[0] = _mm256_castsi256_pd(_mm256_unpacklo_epi32(low, high));
    out[1] = _mm256_castsi256_pd(_mm256_unpackhi_epi32(low, high));
}

/* t and v of eight numbers. */
INLINE void split(__m256 x, __m256d t[2], __m256d v[2])
{
    const __m256d one = _mm256_set1_pd(1), shift = _mm256_set1_pd(0.055);
    __m256 w = _mm256_add_ps(x, _mm256_set1_ps(0.055f));
    __m256i at = _mm256_srli_epi32(_mm256_castps_si256(w), 22);
    __m256d r[2];

    at = _mm256_permute4x64_epi64(at, _MM_SHUFFLE(3, 1, 2, 0));
    look_up(facet_gfx_intervals.r, at, r);
    look_up(facet_gfx_intervals.v, at, v);
    t[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    t[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    t[0] = _mm256_fmsub_pd(_mm256_add_pd(t[0], shift), r[0], one);
    t[1] = _mm256_fmsub_pd(_mm256_add_pd(t[1], shift), r[1], one);
}

/* facet_srgb_float for eight numbers from 0 to 1, of which z is the curve. rest: what rounding took
 * away, so that a tie is INT32_MIN; of the numbers 0 1 4 5 2 3 6 7. */
INLINE __m256 to_linear(__m256 x, const __m256d z[2], __m256i *rest)
{
    const __m256 line_high = _mm256_set1_ps(0x1.3d072ap-4f); /* 25 / 323 as two floats */
    const __m256 line_low = _mm256_set1_ps((float)(25.0 / 323 - 0x1.3d072ap-4));
    __m256 on_line = _mm256_cmp_ps(x, _mm256_set1_ps(0x1.4b5dccp-5f), _CMP_LE_OQ);
    __m256 line = _mm256_fmadd_ps(x, line_high, _mm256_mul_ps(x, line_low));
    __m256 curve = _mm256_set_m128(_mm256_cvtpd_ps(z[1]), _mm256_cvtpd_ps(z[0]));

    *rest = _mm256_slli_epi32(_mm256_castps_si256(_mm256_shuffle_ps(_mm256_castpd_ps(z[0]),
                                                                    _mm256_castpd_ps(z[1]),
                                                                    _MM_SHUFFLE(2, 0, 2, 0))),
                              3);
    return _mm256_blendv_ps(curve, line, on_line);
}

/* Kept out of the loop below; `near` is in the order of `rest`. */
TARGET __attribute__((noinline)) static void by_one(float *at, __m256 before, __m256i near)
{
    float x[8];

    near = _mm256_permute4x64_epi64(near, _MM_SHUFFLE(3, 1, 2, 0));
    _mm256_storeu_ps(x, before);
    facet_gfx_linear_by_one(at, x, (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(near)));
}

/* The six polynomials of eight colours
 * go along side by side: one alone is a chain of operations that wait for each other. */
TARGET void facet_gfx_linear_avx2(uint32_t *const out[4], unsigned count)
{
    float *const into[3] = {(float *)out[0], (float *)out[1], (float *)out[2]};
    const __m256i reach = _mm256_set1_epi32(NEAR_TIE / 2);
    const __m256i end = _mm256_set1_epi32((int32_t)(UINT32_C(0x80000000) + NEAR_TIE));

    for (unsigned k = 0; k < count; k += 8) {
        __m256d t[6], v[6], z[6];
        __m256 before[3];
        __m256i rest[3], least;

        for (unsigned c = 0; c < 3; c++) {
            split(_mm256_loadu_ps(into[c] + k), t + (size_t)2 * c, v + (size_t)2 * c);
        }
        z[0] = z[1] = z[2] = z[3] = z[4] = z[5] = _mm256_set1_pd(HIGHEST_POWER);
#define POWER(a)                                                                                   \
    z[0] = _mm256_fmadd_pd(z[0], t[0], _mm256_set1_pd(a));                                         \
    z[1] = _mm256_fmadd_pd(z[1], t[1], _mm256_set1_pd(a));                                         \
    z[2] = _mm256_fmadd_pd(z[2], t[2], _mm256_set1_pd(a));                                         \
    z[3] = _mm256_fmadd_pd(z[3], t[3], _mm256_set1_pd(a));                                         \
    z[4] = _mm256_fmadd_pd(z[4], t[4], _mm256_set1_pd(a));                                         \
    z[5] = _mm256_fmadd_pd(z[5], t[5], _mm256_set1_pd(a));
        POWERS(POWER)
#undef POWER
        for (unsigned c = 0; c < 6; c++) {
            z[c] = _mm256_mul_pd(z[c], v[c]);
        }
        for (unsigned c = 0; c < 3; c++) {
            before[c] = _mm256_loadu_ps(into[c] + k);
            _mm256_storeu_ps(into[c] + k, to_linear(before[c], z + (size_t)2 * c, &rest[c]));
            rest[c] = _mm256_add_epi32(rest[c], reach);
        }
        least = _mm256_min_epi32(_mm256_min_epi32(rest[0], rest[1]), rest[2]);
        if (_mm256_movemask_epi8(_mm256_cmpgt_epi32(end, least)) != 0) {
            for (unsigned c = 0; c < 3; c++) {
                by_one(into[c] + k, before[c], _mm256_cmpgt_epi32(end, rest[c]));
            }
        }
    }
}

#endif
