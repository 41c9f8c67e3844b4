/* See linear.h: the operations of linear_avx2.c, with eight binary64 numbers in a register and the
 * tables looked up by one instruction. */
#include "gfx/linear.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* facet_srgb_float for eight numbers from 0 to 1, of which z is the curve; rest as in
 * linear_avx2.c, in the order of the numbers. */
INLINE __m256 to_linear(__m256 x, __m512d z, __m256i *rest)
{
    const __m256 line_high = _mm256_set1_ps(0x1.3d072ap-4f); /* 25 / 323 as two floats */
    const __m256 line_low = _mm256_set1_ps((float)(25.0 / 323 - 0x1.3d072ap-4));
    __mmask8 on_line = _mm256_cmp_ps_mask(x, _mm256_set1_ps(0x1.4b5dccp-5f), _CMP_LE_OQ);
    __m256 line;

    *rest = _mm256_slli_epi32(_mm512_cvtepi64_epi32(_mm512_castpd_si512(z)), 3);
    line = _mm256_fmadd_ps(x, line_high, _mm256_mul_ps(x, line_low));
    return _mm256_mask_blend_ps(on_line, _mm512_cvtpd_ps(z), line);
}

/* Kept out of the loop below. */
TARGET __attribute__((noinline)) static void by_one(float *at, __m256 before, unsigned open)
{
    float x[8];

    _mm256_storeu_ps(x, before);
    facet_gfx_linear_by_one(at, x, open);
}

TARGET void facet_gfx_linear_avx512(uint32_t *const out[4], unsigned count)
{
    const __m256i reach = _mm256_set1_epi32(NEAR_TIE / 2);
    const __m256i end = _mm256_set1_epi32((int32_t)(UINT32_C(0x80000000) + NEAR_TIE));
    const __m512d r = _mm512_loadu_pd(facet_gfx_intervals.r);
    const __m512d v = _mm512_loadu_pd(facet_gfx_intervals.v);
    float *const into[3] = {(float *)out[0], (float *)out[1], (float *)out[2]};
    const __m512d one = _mm512_set1_pd(1), shift = _mm512_set1_pd(0.055);

    for (unsigned k = 0; k < count; k += 8) {
        __m512d t[3], z[3];
        __m512i at[3];
        __m256 before[3];
        __m256i rest[3], least;

        for (unsigned c = 0; c < 3; c++) {
            __m256 x = _mm256_loadu_ps(into[c] + k);
            __m256 w = _mm256_add_ps(x, _mm256_set1_ps(0.055f));

            before[c] = x;
            at[c] = _mm512_cvtepu32_epi64(_mm256_srli_epi32(_mm256_castps_si256(w), 22));
            t[c] = _mm512_add_pd(_mm512_cvtps_pd(x), shift);
            t[c] = _mm512_fmsub_pd(t[c], _mm512_permutexvar_pd(at[c], r), one);
            z[c] = _mm512_set1_pd(HIGHEST_POWER);
        }
#define POWER(a)                                                                                   \
    z[0] = _mm512_fmadd_pd(z[0], t[0], _mm512_set1_pd(a));                                         \
    z[1] = _mm512_fmadd_pd(z[1], t[1], _mm512_set1_pd(a));                                         \
    z[2] = _mm512_fmadd_pd(z[2], t[2], _mm512_set1_pd(a));
        POWERS(POWER)
#undef POWER
        for (unsigned c = 0; c < 3; c++) {
            z[c] = _mm512_mul_pd(z[c], _mm512_permutexvar_pd(at[c], v));
            _mm256_storeu_ps(into[c] + k, to_linear(before[c], z[c], &rest[c]));
            rest[c] = _mm256_add_epi32(rest[c], reach);
        }
        least = _mm256_min_epi32(_mm256_min_epi32(rest[0], rest[1]), rest[2]);
        if (_mm256_cmpgt_epi32_mask(end, least) != 0) {
            for (unsigned c = 0; c < 3; c++) {
                by_one(into[c] + k, before[c], _mm256_cmpgt_epi32_mask(end, rest[c]));
            }
        }
    }
}

#endif
