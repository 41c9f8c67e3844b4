/* The traversal over decoded nodes with AVX2 and FMA: eight children of a box per instruction, both
 * triangles of a pair side by side. Every operation is the one of the contract, in its order and
 * rounded by itself; FMA is used only where 9.6 says fma. The host's rounding mode must be the
 * default (nearest, subnormals kept), as everywhere in Facet. */
#include "gfx12/fast.h"

#if defined(__x86_64__)

#include "bvh/gfx12_f32.h"

#include <immintrin.h>
#include <stdlib.h>

#define TARGET __attribute__((target("avx2,fma,bmi,popcnt")))
#define ONE facet_gfx12_fast_one_avx2
#define MANY facet_gfx12_fast_many_avx2

/* What slab tests need of a ray. */
struct lanes {
    __m256 origin[3], inverse[3];
    size_t near[3]; /* byte offsets of the planes that face the ray; far ones: the other bit 5 */
};

struct slabs {
    __m256 min_t, max_t;
    __m256 enter, leave; /* A and B, by the careful test only; NaN where nothing is hit */
};

TARGET static inline void lanes_make(const struct fast_level *level, struct lanes *out)
{
    for (unsigned k = 0; k < 3; k++) {
        unsigned down = level->octant >> k & 1;

        out->origin[k] = _mm256_set1_ps(level->origin[k]);
        out->inverse[k] = _mm256_set1_ps(level->inverse[k]);
        out->near[k] = 64 * (size_t)k + 32 * (size_t)down;
    }
}

TARGET static inline __m256
slab_plane(const struct fast_box *box, const struct lanes *lanes, unsigned k, size_t far)
{
    const float *plane = (const float *)((const char *)box->plane + (lanes->near[k] ^ far));

    return _mm256_mul_ps(_mm256_sub_ps(_mm256_load_ps(plane), lanes->origin[k]), lanes->inverse[k]);
}

TARGET static inline unsigned slabs_hit(const struct slabs *s, float grow)
{
    return (unsigned)_mm256_movemask_ps(
        _mm256_cmp_ps(s->min_t, _mm256_mul_ps(s->max_t, _mm256_set1_ps(grow)), _CMP_LE_OQ));
}

TARGET static inline __m256i max_bits(__m256 a, __m256 b)
{
    return _mm256_max_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
}

TARGET static inline __m256i min_bits(__m256 a, __m256 b)
{
    return _mm256_min_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
}

/* Without NaN the order of max and min does not matter: two deep instead of three. A NaN extent
 * gives the second operand: minNum.
 *
 * Unless boxes grow, the bits are compared as integers, which takes a quarter of the time. That
 * order is the same among numbers from +0 on, and what is below stays below: in min_t it gives way
 * to the 0, and where it is max_t nothing is hit, whichever number it is. Only -0 is different: as
 * an integer it is the lowest of all, so it shows in max_t wherever it occurs, and the test is done
 * again on floats. (A NaN extent must have no sign.) */
TARGET static inline __attribute__((always_inline)) unsigned slabs_test(const struct fast_box *box,
                                                                        const struct lanes *lanes,
                                                                        float extent,
                                                                        float grow,
                                                                        const bool grows,
                                                                        struct slabs *s)
{
    const __m256 nx = slab_plane(box, lanes, 0, 0), fx = slab_plane(box, lanes, 0, 32);
    const __m256 ny = slab_plane(box, lanes, 1, 0), fy = slab_plane(box, lanes, 1, 32);
    const __m256 nz = slab_plane(box, lanes, 2, 0), fz = slab_plane(box, lanes, 2, 32);
    const __m256 zero = _mm256_setzero_ps(), end = _mm256_set1_ps(extent);

    if (!grows) {
        const __m256i min_t = _mm256_max_epi32(max_bits(nx, ny), max_bits(nz, zero));
        const __m256i max_t = _mm256_min_epi32(min_bits(fx, fy), min_bits(fz, end));
        const __m256i behind = _mm256_cmpgt_epi32(min_t, max_t);
        const __m256i odd = _mm256_cmpeq_epi32(max_t, _mm256_set1_epi32(INT32_MIN));

        if (__builtin_expect(_mm256_testz_si256(odd, odd), 1)) {
            s->min_t = s->enter = _mm256_castsi256_ps(min_t);
            s->max_t = s->leave = _mm256_castsi256_ps(max_t);
            return ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(behind)) & 0xFF;
        }
    }
    s->min_t = s->enter = _mm256_max_ps(_mm256_max_ps(nx, ny), _mm256_max_ps(nz, zero));
    s->max_t = s->leave = _mm256_min_ps(_mm256_min_ps(fx, fy), _mm256_min_ps(end, fz));
    return slabs_hit(s, grow);
}

/* maxps and minps give their second operand when one is NaN: starting from the neutral infinity
 * drops NaNs. Where all three are NaN, so are A or B, and nothing is hit. */
TARGET static unsigned slabs_test_careful(const struct fast_box *box,
                                          const struct lanes *lanes,
                                          float extent,
                                          float grow,
                                          struct slabs *s)
{
    __m256 enter = _mm256_set1_ps(f32_from(F32_INF | F32_SIGN));
    __m256 leave = _mm256_set1_ps(f32_from(F32_INF));
    __m256 none_near = _mm256_castsi256_ps(_mm256_set1_epi32(-1)), none_far = none_near;

    for (unsigned k = 0; k < 3; k++) {
        __m256 near = slab_plane(box, lanes, k, 0);
        __m256 far = slab_plane(box, lanes, k, 32);

        enter = _mm256_max_ps(near, enter);
        leave = _mm256_min_ps(far, leave);
        none_near = _mm256_and_ps(none_near, _mm256_cmp_ps(near, near, _CMP_UNORD_Q));
        none_far = _mm256_and_ps(none_far, _mm256_cmp_ps(far, far, _CMP_UNORD_Q));
    }
    s->enter = enter;
    s->leave = leave;
    s->min_t = _mm256_max_ps(enter, _mm256_setzero_ps());
    s->max_t = _mm256_min_ps(_mm256_set1_ps(extent), leave);
    return slabs_hit(s, grow) & ~(unsigned)_mm256_movemask_ps(_mm256_or_ps(none_near, none_far));
}

TARGET static inline __m256 key_of(const struct slabs *s, unsigned heuristic)
{
    switch (heuristic) {
    case 1:
        return _mm256_sub_ps(s->min_t, s->max_t);
    case 2:
        return _mm256_add_ps(s->enter, s->leave);
    default:
        return s->min_t;
    }
}

TARGET static void slabs_keys(const struct slabs *s, unsigned heuristic, float key[8])
{
    _mm256_storeu_ps(key, key_of(s, heuristic));
}

TARGET static inline bool slabs_elements(const struct slabs *s,
                                         unsigned heuristic,
                                         const struct fast_box *box,
                                         unsigned mask,
                                         uint64_t element[8])
{
    __m256i link = _mm256_load_si256((const __m256i *)box->link);
    __m256 key = key_of(s, heuristic);
    bool ordered = true;

    if (heuristic != 0) { /* negative numbers: to unsigned integers of the same order */
        __m256i i = _mm256_castps_si256(_mm256_add_ps(key, _mm256_setzero_ps())); /* no -0 */
        __m256i flip = _mm256_or_si256(_mm256_srai_epi32(i, 31), _mm256_set1_epi32(INT32_MIN));

        ordered = ((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(key, key, _CMP_UNORD_Q)) & mask) == 0;
        key = _mm256_castsi256_ps(_mm256_xor_si256(i, flip));
    }
    __m256i low = _mm256_unpacklo_epi32(link, _mm256_castps_si256(key));
    __m256i high = _mm256_unpackhi_epi32(link, _mm256_castps_si256(key));
    _mm_store_si128((__m128i *)(element + 0), _mm256_castsi256_si128(low));
    _mm_store_si128((__m128i *)(element + 2), _mm256_castsi256_si128(high));
    _mm_store_si128((__m128i *)(element + 4), _mm256_extracti128_si256(low, 1));
    _mm_store_si128((__m128i *)(element + 6), _mm256_extracti128_si256(high, 1));
    return ordered;
}

/* ---- pairs ---- */

#define YZX _MM_SHUFFLE(3, 0, 2, 1)

/* (cz, cx, cy) first, then turned: each component is the difference of the two products that the
 * contract names, in its order. */
TARGET static inline __m256 cross(__m256 a, __m256 a_yzx, __m256 b)
{
    const __m256 c =
        _mm256_sub_ps(_mm256_mul_ps(a, _mm256_permute_ps(b, YZX)), _mm256_mul_ps(a_yzx, b));
    return _mm256_permute_ps(c, YZX);
}

TARGET static inline unsigned pair_test(const struct fast_pair *pair,
                                        const struct fast_level *level,
                                        float t_min,
                                        float upto,
                                        bool gpurt,
                                        float q[8],
                                        bool *odd)
{
    const __m256 o = _mm256_broadcast_ps((const __m128 *)level->origin);
    const __m256 d = _mm256_broadcast_ps((const __m128 *)level->direction);
    const __m256 e1 = _mm256_load_ps(pair->e1[0]);
    const __m256 e2 = _mm256_load_ps(pair->e2[0]);
    const __m256 e3 = _mm256_sub_ps(o, _mm256_load_ps(pair->v0[0]));
    const __m256 s1 = cross(d, _mm256_permute_ps(d, YZX), e2);
    const __m256 s2 = cross(e3, _mm256_permute_ps(e3, YZX), e1);
    const __m256 tn = _mm256_mul_ps(e2, s2);
    const __m256 det = _mm256_mul_ps(s1, e1);
    const __m256 un = _mm256_mul_ps(e3, s1);
    const __m256 vn = _mm256_mul_ps(d, s2);
    /* Products side by side: the lanes of all are tn, det, un, vn. */
    const __m256 xy_tu = _mm256_unpacklo_ps(tn, un), xy_dv = _mm256_unpacklo_ps(det, vn);
    const __m256 x = _mm256_unpacklo_ps(xy_tu, xy_dv), y = _mm256_unpackhi_ps(xy_tu, xy_dv);
    const __m256 z = _mm256_unpacklo_ps(_mm256_unpackhi_ps(tn, un), _mm256_unpackhi_ps(det, vn));
    const __m256 sum = _mm256_add_ps(_mm256_add_ps(x, y), z);
    const __m256 quotient =
        _mm256_div_ps(sum, _mm256_permute_ps(sum, _MM_SHUFFLE(1, 1, 1, 1))); /* t, -, u, v */
    /* u + v in the lane of u; u <= 1 follows from u + v <= 1 and v >= 0. */
    const __m256 uv = _mm256_add_ps(quotient, _mm256_permute_ps(quotient, _MM_SHUFFLE(3, 3, 1, 0)));
    const float inf = f32_from(F32_INF);
    const __m256 upper = _mm256_blend_ps(
        _mm256_setr_ps(inf, inf, 1, inf, inf, inf, 1, inf), _mm256_set1_ps(upto), 0x11);
    const __m256 lower = _mm256_blend_ps(_mm256_set1_ps(-inf), _mm256_set1_ps(t_min), 0x11);
    const __m256 inside = _mm256_and_ps(
        _mm256_and_ps(_mm256_cmp_ps(_mm256_blend_ps(quotient, uv, 0x44), upper, _CMP_LE_OQ),
                      _mm256_cmp_ps(quotient, lower, _CMP_GT_OQ)),
        _mm256_cmp_ps(quotient, _mm256_setzero_ps(), _CMP_GE_OQ));
    /* Lane 1 decides nothing. */
    unsigned mask = (unsigned)_mm256_movemask_ps(inside) | 0x22;
    unsigned hits = (unsigned)((mask & 0x0F) == 0x0F) | (unsigned)((mask & 0xF0) == 0xF0) << 1;

    if (gpurt) { /* a NaN is not a miss there */
        unsigned nan =
            (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(quotient, quotient, _CMP_UNORD_Q)) & 0xDD;
        *odd = *odd || ((nan & 0x0F) != 0 && (pair->present & 1) != 0) ||
               ((nan & 0xF0) != 0 && (pair->present & 2) != 0);
    }
    /* Lane 1 of the quotients is of no use: the sign of det is. */
    _mm256_store_ps(q, _mm256_blend_ps(quotient, sum, 0x22));
    return hits;
}

/* ---- rays ---- */

TARGET static inline __m128 without_nan_bits(__m128 a)
{
    return _mm_blendv_ps(a, _mm_set1_ps(f32_from(F32_NAN)), _mm_cmp_ps(a, a, _CMP_UNORD_Q));
}

TARGET static inline void transform(const float column[][4],
                                    const float translation[4],
                                    const float origin[4],
                                    const float direction[4],
                                    float new_origin[4],
                                    float new_direction[4])
{
    const __m128 c0 = _mm_load_ps(column[0]), c1 = _mm_load_ps(column[1]);
    const __m128 c2 = _mm_load_ps(column[2]);
    const __m128 o = _mm_fmadd_ps(
        _mm_set1_ps(origin[0]),
        c0,
        _mm_fmadd_ps(_mm_set1_ps(origin[1]),
                     c1,
                     _mm_fmadd_ps(_mm_set1_ps(origin[2]), c2, _mm_loadu_ps(translation))));
    const __m128 d = _mm_fmadd_ps(
        _mm_set1_ps(direction[0]),
        c0,
        _mm_fmadd_ps(_mm_set1_ps(direction[1]), c1, _mm_mul_ps(_mm_set1_ps(direction[2]), c2)));

    _mm_store_ps(new_origin, without_nan_bits(o));
    _mm_store_ps(new_direction, without_nan_bits(d));
}

/* One store each: scalar stores would be read back as a vector, which stalls. */
TARGET static inline void
level_set(struct fast_level *level, const float origin[3], const float direction[3])
{
    _mm_store_ps(level->origin, _mm_setr_ps(origin[0], origin[1], origin[2], 0));
    _mm_store_ps(level->direction, _mm_setr_ps(direction[0], direction[1], direction[2], 0));
}

TARGET static inline void level_rays(struct fast_level *level)
{
    const __m128 zero = _mm_setzero_ps();
    const __m128 o = _mm_load_ps(level->origin);
    /* Lane 3 of a direction is 0. */
    const __m128 inverse = _mm_div_ps(_mm_set1_ps(1), _mm_load_ps(level->direction));
    /* x - x is 0 for a finite x and NaN for any other. */
    const __m128 regular =
        _mm_and_ps(_mm_and_ps(_mm_cmp_ps(_mm_sub_ps(inverse, inverse), zero, _CMP_EQ_OQ),
                              _mm_cmp_ps(inverse, zero, _CMP_NEQ_OQ)),
                   _mm_cmp_ps(_mm_sub_ps(o, o), zero, _CMP_EQ_OQ));

    _mm_store_ps(level->inverse, inverse);
    level->regular = (_mm_movemask_ps(regular) & 7) == 7;
    level->irregular = level->regular ? 0 : 8;
    level->octant = (uint8_t)(~_mm_movemask_ps(_mm_cmp_ps(inverse, zero, _CMP_GE_OQ)) & 7);
}

#include "gfx12/fast_loop.h"

#endif
