/* Lanes for x86 with AVX2 and FMA: eight numbers at once. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define KERNEL __attribute__((target("avx2,fma"))) static
#define INLINE KERNEL inline __attribute__((always_inline))
#define KERNELS facet_gfx_lanes_avx2

typedef __m256 eight;
typedef __m256 truths;

INLINE eight load(const void *from)
{
    return _mm256_loadu_ps(from);
}

INLINE void store(void *to, eight x)
{
    _mm256_storeu_ps(to, x);
}

INLINE eight splat(float x)
{
    return _mm256_set1_ps(x);
}

#define add(x, y) _mm256_add_ps(x, y)
#define sub(x, y) _mm256_sub_ps(x, y)
#define mul(x, y) _mm256_mul_ps(x, y)
#define quotient(x, y) _mm256_div_ps(x, y)
#define fused(x, y, z) _mm256_fmadd_ps(x, y, z)
#define root(x) _mm256_sqrt_ps(x)
/* Number k of four, wherever it belongs to them. */
#define SPREAD(x, k) _mm256_permute_ps(x, (k)*0x55)
#define equal(x, y) _mm256_cmp_ps(x, y, _CMP_EQ_OQ)
#define less(x, y) _mm256_cmp_ps(x, y, _CMP_LT_OQ)
#define not_above(x, y) _mm256_cmp_ps(x, y, _CMP_LE_OQ)
#define where(m, yes, no) _mm256_blendv_ps(no, yes, m)
#define bits_of(m) ((unsigned)_mm256_movemask_ps(m))

/* Of each lane the smallest magnitude but zero, less 1, and the largest. */
typedef struct {
    __m256i factor, term, high;
} watch;

INLINE watch watch_nothing(void)
{
    const __m256i none = _mm256_set1_epi32(-1);

    return (watch){none, none, _mm256_setzero_si256()};
}

#define WATCH(name)                                                                                \
    INLINE eight name(watch *w, eight x)                                                           \
    {                                                                                              \
        const __m256i m = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(INT32_MAX));  \
                                                                                                   \
        w->high = _mm256_max_epu32(w->high, m);                                                    \
        w->name = _mm256_min_epu32(w->name, _mm256_add_epi32(m, _mm256_set1_epi32(-1)));           \
        return x;                                                                                  \
    }
WATCH(factor)
WATCH(term)

INLINE __m256i at_least(__m256i x, uint32_t least)
{
    return _mm256_cmpeq_epi32(_mm256_max_epu32(x, _mm256_set1_epi32((int32_t)least)), x);
}

INLINE unsigned fine(const watch *w, uint32_t least_factor, uint32_t least_term, uint32_t end)
{
    const __m256i good =
        _mm256_and_si256(at_least(w->factor, least_factor - 1), at_least(w->term, least_term - 1));

    return bits_of(_mm256_castsi256_ps(_mm256_andnot_si256(at_least(w->high, end), good)));
}

#include "gfx/lanes.inc"
#endif
