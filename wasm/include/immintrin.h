/* The vectors of SSE2 that tile/fast.c uses, as those of WebAssembly, with the results of x86 where
 * the two differ: conversions out of range, minima and maxima of zeros and NaN. Fused operations
 * are done lane by lane. */
#ifndef FACET_WASM_IMMINTRIN_H
#define FACET_WASM_IMMINTRIN_H

#include "num/f32.h"

#include <wasm_simd128.h>

typedef v128_t __m128, __m128d, __m128i;

#define FACET_VECTOR static inline __attribute__((always_inline)) v128_t
#define FACET_UNARY(name, operation)                                                               \
    FACET_VECTOR name(v128_t a)                                                                    \
    {                                                                                              \
        return operation;                                                                          \
    }
#define FACET_BINARY(name, operation)                                                              \
    FACET_VECTOR name(v128_t a, v128_t b)                                                          \
    {                                                                                              \
        return operation;                                                                          \
    }
#define FACET_MASK(name, operation)                                                                \
    static inline int name(v128_t a)                                                               \
    {                                                                                              \
        return (int)operation(a);                                                                  \
    }

/* ---- the same thing ---- */

FACET_UNARY(_mm_castps_si128, a)
FACET_UNARY(_mm_castsi128_ps, a)
FACET_UNARY(_mm_cvtps_pd, wasm_f64x2_promote_low_f32x4(a))
FACET_UNARY(_mm_cvtpd_ps, wasm_f32x4_demote_f64x2_zero(a))
FACET_UNARY(_mm_cvtepi32_ps, wasm_f32x4_convert_i32x4(a))
FACET_UNARY(_mm_cvtepu8_epi32, wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(a)))
FACET_UNARY(_mm_sqrt_pd, wasm_f64x2_sqrt(a))
FACET_BINARY(_mm_add_ps, wasm_f32x4_add(a, b))
FACET_BINARY(_mm_sub_ps, wasm_f32x4_sub(a, b))
FACET_BINARY(_mm_mul_ps, wasm_f32x4_mul(a, b))
FACET_BINARY(_mm_div_ps, wasm_f32x4_div(a, b))
FACET_BINARY(_mm_add_pd, wasm_f64x2_add(a, b))
FACET_BINARY(_mm_sub_pd, wasm_f64x2_sub(a, b))
FACET_BINARY(_mm_mul_pd, wasm_f64x2_mul(a, b))
FACET_BINARY(_mm_div_pd, wasm_f64x2_div(a, b))
FACET_BINARY(_mm_add_epi8, wasm_i8x16_add(a, b))
FACET_BINARY(_mm_add_epi16, wasm_i16x8_add(a, b))
FACET_BINARY(_mm_add_epi32, wasm_i32x4_add(a, b))
FACET_BINARY(_mm_sub_epi8, wasm_i8x16_sub(a, b))
FACET_BINARY(_mm_sub_epi16, wasm_i16x8_sub(a, b))
FACET_BINARY(_mm_sub_epi32, wasm_i32x4_sub(a, b))
FACET_BINARY(_mm_mullo_epi16, wasm_i16x8_mul(a, b))
FACET_BINARY(_mm_and_si128, wasm_v128_and(a, b))
FACET_BINARY(_mm_or_si128, wasm_v128_or(a, b))
FACET_BINARY(_mm_xor_si128, wasm_v128_xor(a, b))
FACET_BINARY(_mm_xor_ps, wasm_v128_xor(a, b))
FACET_BINARY(_mm_andnot_si128, wasm_v128_andnot(b, a))
FACET_BINARY(_mm_cmpeq_epi8, wasm_i8x16_eq(a, b))
FACET_BINARY(_mm_cmpeq_epi16, wasm_i16x8_eq(a, b))
FACET_BINARY(_mm_cmpeq_epi32, wasm_i32x4_eq(a, b))
FACET_BINARY(_mm_cmpgt_epi32, wasm_i32x4_gt(a, b))
FACET_BINARY(_mm_cmplt_epi32, wasm_i32x4_lt(a, b))
FACET_BINARY(_mm_cmpeq_ps, wasm_f32x4_eq(a, b))
FACET_BINARY(_mm_cmplt_ps, wasm_f32x4_lt(a, b))
FACET_BINARY(_mm_cmpgt_ps, wasm_f32x4_gt(a, b))
FACET_BINARY(_mm_cmpeq_pd, wasm_f64x2_eq(a, b))
FACET_BINARY(_mm_movehl_ps, wasm_i32x4_shuffle(a, b, 6, 7, 2, 3))
FACET_BINARY(_mm_movelh_ps, wasm_i32x4_shuffle(a, b, 0, 1, 4, 5))
FACET_BINARY(_mm_unpacklo_ps, wasm_i32x4_shuffle(a, b, 0, 4, 1, 5))
FACET_MASK(_mm_movemask_epi8, wasm_i8x16_bitmask)
FACET_MASK(_mm_movemask_ps, wasm_i32x4_bitmask)
FACET_MASK(_mm_movemask_pd, wasm_i64x2_bitmask)

#define _mm_set1_ps(x) wasm_f32x4_splat(x)
#define _mm_set1_pd(x) wasm_f64x2_splat(x)
#define _mm_set1_epi8(x) wasm_i8x16_splat(x)
#define _mm_set1_epi16(x) wasm_i16x8_splat(x)
#define _mm_set1_epi32(x) wasm_i32x4_splat(x)
#define _mm_setr_epi32(a, b, c, d) wasm_i32x4_make(a, b, c, d)
#define _mm_setzero_ps() wasm_f32x4_splat(0)
#define _mm_setzero_pd() wasm_f64x2_splat(0)
#define _mm_setzero_si128() wasm_i32x4_splat(0)
#define _mm_load_si128(at) wasm_v128_load(at)
#define _mm_store_si128(at, a) wasm_v128_store(at, a)
#define _mm_cvtsi32_si128(x) wasm_i32x4_make(x, 0, 0, 0)
#define _mm_cvtsi128_si32(a) wasm_i32x4_extract_lane(a, 0)
#define _mm_srai_epi16(a, count) wasm_i16x8_shr(a, count)
/* Lane 0 alone matters to those who use it. */
#define _mm_shuffle_ps(a, b, first) wasm_f32x4_splat(wasm_f32x4_extract_lane(a, first))

/* ---- what is put together ---- */

FACET_BINARY(_mm_cmpunord_ps, wasm_v128_or(wasm_f32x4_ne(a, a), wasm_f32x4_ne(b, b)))
FACET_BINARY(_mm_min_ps, wasm_f32x4_pmin(b, a))
FACET_BINARY(_mm_max_ps, wasm_f32x4_pmax(b, a))
FACET_BINARY(_mm_mulhi_epi16,
             wasm_i16x8_shuffle(wasm_i32x4_extmul_low_i16x8(a, b),
                                wasm_i32x4_extmul_high_i16x8(a, b),
                                1,
                                3,
                                5,
                                7,
                                9,
                                11,
                                13,
                                15))

/* Of lanes: a number from 0 to 3 each. */
FACET_BINARY(_mm_permutevar_ps,
             wasm_i8x16_swizzle(a,
                                wasm_i32x4_add(wasm_i32x4_mul(b, wasm_i32x4_splat(0x04040404)),
                                               wasm_i32x4_splat(0x03020100))))

/* 0x80000000 for what is out of range. */
FACET_UNARY(_mm_cvttps_epi32,
            wasm_v128_bitselect(wasm_i32x4_trunc_sat_f32x4(a),
                                wasm_i32x4_splat(INT32_MIN),
                                wasm_v128_and(wasm_f32x4_lt(a, wasm_f32x4_splat(0x1p31F)),
                                              wasm_f32x4_ge(a, wasm_f32x4_splat(-0x1p31F)))))
FACET_UNARY(_mm_cvtps_epi32, _mm_cvttps_epi32(wasm_f32x4_nearest(a)))

FACET_VECTOR _mm_mul_ss(v128_t a, v128_t b)
{
    return wasm_i32x4_shuffle(wasm_f32x4_mul(a, b), a, 0, 5, 6, 7);
}

#define FACET_FUSED(lane)                                                                          \
    f32_fma(wasm_f32x4_extract_lane(a, lane),                                                      \
            wasm_f32x4_extract_lane(b, lane),                                                      \
            wasm_f32x4_extract_lane(c, lane))

FACET_VECTOR _mm_fmadd_ps(v128_t a, v128_t b, v128_t c)
{
    return wasm_f32x4_make(FACET_FUSED(0), FACET_FUSED(1), FACET_FUSED(2), FACET_FUSED(3));
}

FACET_VECTOR _mm_fmadd_ss(v128_t a, v128_t b, v128_t c)
{
    return wasm_f32x4_replace_lane(a, 0, FACET_FUSED(0));
}

#undef FACET_FUSED
#endif
