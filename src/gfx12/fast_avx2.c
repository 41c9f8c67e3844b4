/* The traversal over decoded nodes with AVX2 and FMA: eight children of a box per instruction, both
 * triangles of a pair side by side. Every operation is the one of the contract, in its order and
 * rounded by itself; FMA is used only where 9.6 says fma. The host's rounding mode must be the
 * default (nearest, subnormals kept), as everywhere in Facet. */
#include "gfx12/fast.h"

#if defined(__x86_64__)

#include "base/float.h"
#include "num/f32.h"

#include <immintrin.h>
#include <stdlib.h>

#define TARGET __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define ONE facet_gfx12_fast_one_avx2
#define MANY facet_gfx12_fast_many_avx2
#define LEAN 1

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

/* Without NaN the order of max and min does not matter: two deep instead of three. A NaN extent
 * gives the second operand: minNum. Of two zeros the second operand is taken: no -0 in min_t. */
TARGET static inline unsigned slabs_test(const struct fast_box *box,
                                         const struct lanes *lanes,
                                         float extent,
                                         float grow,
                                         struct slabs *s)
{
    const __m256 nx = slab_plane(box, lanes, 0, 0), fx = slab_plane(box, lanes, 0, 32);
    const __m256 ny = slab_plane(box, lanes, 1, 0), fy = slab_plane(box, lanes, 1, 32);
    const __m256 nz = slab_plane(box, lanes, 2, 0), fz = slab_plane(box, lanes, 2, 32);

    s->min_t = s->enter =
        _mm256_max_ps(_mm256_max_ps(nx, ny), _mm256_max_ps(nz, _mm256_setzero_ps()));
    s->max_t = s->leave =
        _mm256_min_ps(_mm256_min_ps(fx, fy), _mm256_min_ps(_mm256_set1_ps(extent), fz));
    return slabs_hit(s, grow);
}

/* (plane - origin) * inverse, where a 0 is never -0. `minus` is -origin: added, the plane can be
 * read by the addition. */
TARGET static inline __attribute__((always_inline)) __m256i
ray_plane(const struct fast_box *box, size_t at, __m256 minus, __m256 inverse, __m256 zero)
{
    const __m256 plane = _mm256_load_ps((const float *)((const char *)box->plane + at));

    return _mm256_castps_si256(_mm256_fmadd_ps(_mm256_add_ps(minus, plane), inverse, zero));
}

TARGET static inline __m256i max4(__m256i a, __m256i b, __m256i c, __m256i d)
{
    return _mm256_max_epi32(_mm256_max_epi32(a, b), _mm256_max_epi32(c, d));
}

TARGET static inline __m256i min4(__m256i a, __m256i b, __m256i c, __m256i d)
{
    return _mm256_min_epi32(_mm256_min_epi32(a, b), _mm256_min_epi32(c, d));
}

/* maxps and minps give their second operand when one is NaN: starting from the neutral infinity
 * drops NaNs. Where all three are NaN, so are A or B, and nothing is hit. */
TARGET static unsigned slabs_test_careful(const struct fast_box *box,
                                          const struct lanes *lanes,
                                          float extent,
                                          float grow,
                                          struct slabs *s)
{
    __m256 enter = _mm256_set1_ps(facet_float_of(F32_INF | F32_SIGN));
    __m256 leave = _mm256_set1_ps(facet_float_of(F32_INF));
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
    __m256i low, high;

    if (heuristic != 0) { /* negative numbers: to unsigned integers of the same order */
        __m256i i = _mm256_castps_si256(_mm256_add_ps(key, _mm256_setzero_ps())); /* no -0 */
        __m256i flip = _mm256_or_si256(_mm256_srai_epi32(i, 31), _mm256_set1_epi32(INT32_MIN));

        ordered = ((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(key, key, _CMP_UNORD_Q)) & mask) == 0;
        key = _mm256_castsi256_ps(_mm256_xor_si256(i, flip));
    }
    low = _mm256_unpacklo_epi32(link, _mm256_castps_si256(key));
    high = _mm256_unpackhi_epi32(link, _mm256_castps_si256(key));
    _mm_store_si128((__m128i *)(element + 0), _mm256_castsi256_si128(low));
    _mm_store_si128((__m128i *)(element + 2), _mm256_castsi256_si128(high));
    _mm_store_si128((__m128i *)(element + 4), _mm256_extracti128_si256(low, 1));
    _mm_store_si128((__m128i *)(element + 6), _mm256_extracti128_si256(high, 1));
    return ordered;
}

/* ---- triangles ---- */

struct group_hits {
    _Alignas(16) float t[4], det[4], u[4], v[4]; /* only where something is hit */
};

/* The n-th bit of the result is the bit of `slots` where `ranges` has its n-th one. */
TARGET static inline unsigned ranges_rank(unsigned slots, unsigned ranges)
{
    return _pext_u32(slots, ranges);
}

struct vec4 {
    __m128 x, y, z;
};

TARGET static inline struct vec4 vec4_load(const float v[3][4])
{
    return (struct vec4){_mm_load_ps(v[0]), _mm_load_ps(v[1]), _mm_load_ps(v[2])};
}

TARGET static inline struct vec4 vec4_all(const float v[3])
{
    return (struct vec4){_mm_set1_ps(v[0]), _mm_set1_ps(v[1]), _mm_set1_ps(v[2])};
}

TARGET static inline struct vec4 vec4_sub(struct vec4 a, struct vec4 b)
{
    return (struct vec4){_mm_sub_ps(a.x, b.x), _mm_sub_ps(a.y, b.y), _mm_sub_ps(a.z, b.z)};
}

TARGET static inline __m128 cross1(__m128 a, __m128 b, __m128 c, __m128 d)
{
    return _mm_sub_ps(_mm_mul_ps(a, b), _mm_mul_ps(c, d));
}

TARGET static inline struct vec4 cross(struct vec4 a, struct vec4 b)
{
    return (struct vec4){
        cross1(a.y, b.z, a.z, b.y), cross1(a.z, b.x, a.x, b.z), cross1(a.x, b.y, a.y, b.x)};
}

TARGET static inline __m128 dot(struct vec4 a, struct vec4 b)
{
    return _mm_add_ps(_mm_add_ps(_mm_mul_ps(a.x, b.x), _mm_mul_ps(a.y, b.y)), _mm_mul_ps(a.z, b.z));
}

TARGET static inline unsigned lanes_of(__m128 mask)
{
    return (unsigned)_mm_movemask_ps(mask);
}

/* u <= 1 follows from u + v <= 1 and v >= 0; where u or v is NaN, so is u + v. */
TARGET static inline unsigned group_test(const struct fast_group *group,
                                         const struct fast_level *level,
                                         float above,
                                         float below,
                                         bool gpurt,
                                         unsigned lanes,
                                         struct group_hits *out,
                                         unsigned *nan)
{
    const struct vec4 d = vec4_all(level->direction), e1 = vec4_load(group->e1);
    const struct vec4 e2 = vec4_load(group->e2);
    const struct vec4 e3 = vec4_sub(vec4_all(level->origin), vec4_load(group->v0));
    const struct vec4 s1 = cross(d, e2), s2 = cross(e3, e1);
    const __m128 det = dot(s1, e1);
    const __m128 u = _mm_div_ps(dot(e3, s1), det), v = _mm_div_ps(dot(d, s2), det);
    unsigned inside =
        lanes & lanes_of(_mm_and_ps(_mm_cmp_ps(_mm_min_ps(u, v), _mm_setzero_ps(), _CMP_GE_OQ),
                                    _mm_cmp_ps(_mm_add_ps(u, v), _mm_set1_ps(1), _CMP_LE_OQ)));
    __m128 t;

    if (inside == 0 && !gpurt) {
        return 0;
    }
    t = _mm_div_ps(dot(e2, s2), det);
    inside &= lanes_of(_mm_and_ps(_mm_cmp_ps(t, _mm_set1_ps(above), _CMP_GT_OQ),
                                  _mm_cmp_ps(t, _mm_set1_ps(below), _CMP_LT_OQ)));
    if (gpurt) { /* a NaN is not a miss there */
        *nan = lanes &
               lanes_of(_mm_or_ps(_mm_cmp_ps(u, v, _CMP_UNORD_Q), _mm_cmp_ps(t, t, _CMP_UNORD_Q)));
    }
    if (inside != 0) {
        _mm_store_ps(out->t, t);
        _mm_store_ps(out->det, det);
        _mm_store_ps(out->u, u);
        _mm_store_ps(out->v, v);
    }
    return inside;
}

/* ---- rays ---- */

TARGET static inline __m128 without_nan_bits(__m128 a)
{
    return _mm_blendv_ps(a, _mm_set1_ps(facet_float_of(F32_NAN)), _mm_cmp_ps(a, a, _CMP_UNORD_Q));
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

/* Where in a box the planes of the axes are: near ones, then far ones. */
#define PLACES(x, y, z)                                                                            \
    {                                                                                              \
        32 * (x), 64 + 32 * (y), 128 + 32 * (z), 0, 32 * !(x), 64 + 32 * !(y), 128 + 32 * !(z), 0  \
    }
static const uint8_t plane_places[8][8] = {PLACES(0, 0, 0),
                                           PLACES(1, 0, 0),
                                           PLACES(0, 1, 0),
                                           PLACES(1, 1, 0),
                                           PLACES(0, 0, 1),
                                           PLACES(1, 0, 1),
                                           PLACES(0, 1, 1),
                                           PLACES(1, 1, 1)};

TARGET static inline bool has_minus_zero(const float v[4])
{
    const __m128i bits = _mm_load_si128((const __m128i *)v);

    return _mm_movemask_epi8(_mm_cmpeq_epi32(bits, _mm_set1_epi32(INT32_MIN))) != 0;
}

/* x - x is 0 for a finite x and NaN for any other. */
TARGET static __attribute__((noinline)) bool is_regular(__m128 o, __m128 inverse)
{
    const __m128 zero = _mm_setzero_ps();
    const __m128 regular =
        _mm_and_ps(_mm_and_ps(_mm_cmp_ps(_mm_sub_ps(inverse, inverse), zero, _CMP_EQ_OQ),
                              _mm_cmp_ps(inverse, zero, _CMP_NEQ_OQ)),
                   _mm_cmp_ps(_mm_sub_ps(o, o), zero, _CMP_EQ_OQ));

    return (_mm_movemask_ps(regular) & 7) == 7;
}

/* In the pieces that level_rays writes: others would have to wait for the stores. */
TARGET static inline void level_copy(const struct fast_level *from, struct fast_level *to)
{
    _mm_store_ps(to->origin, _mm_load_ps(from->origin));
    _mm_store_ps(to->direction, _mm_load_ps(from->direction));
    _mm_store_ps(to->inverse, _mm_load_ps(from->inverse));
    _mm_store_ps(to->minus, _mm_load_ps(from->minus));
    memcpy(to->near, from->near, sizeof to->near);
    memcpy(to->far, from->far, sizeof to->far);
    to->octant = from->octant;
    to->irregular = from->irregular;
    to->regular = from->regular;
    to->tame = from->tame;
}

TARGET static inline void level_rays(struct fast_level *level)
{
    const __m128 zero = _mm_setzero_ps(), sign = _mm_set1_ps(facet_float_of(F32_SIGN));
    const __m128 inf = _mm_set1_ps(facet_float_of(F32_INF));
    const __m128 o = _mm_load_ps(level->origin), size = _mm_andnot_ps(sign, o);
    /* Lane 3 of a direction is 0. */
    const __m128 inverse = _mm_div_ps(_mm_set1_ps(1), _mm_load_ps(level->direction));
    const __m128 slope = _mm_andnot_ps(sign, inverse);
    const __m128 tame =
        _mm_and_ps(_mm_and_ps(_mm_cmp_ps(slope, _mm_set1_ps(FAST_SMALL), _CMP_GE_OQ),
                              _mm_cmp_ps(slope, inf, _CMP_LT_OQ)),
                   _mm_and_ps(_mm_or_ps(_mm_cmp_ps(size, _mm_set1_ps(FAST_TINY), _CMP_GE_OQ),
                                        _mm_cmp_ps(size, zero, _CMP_EQ_OQ)),
                              _mm_cmp_ps(size, inf, _CMP_LT_OQ)));

    _mm_store_ps(level->minus, _mm_xor_ps(o, sign));
    _mm_store_ps(level->inverse, inverse);
    level->octant = (uint8_t)(~_mm_movemask_ps(_mm_cmp_ps(inverse, zero, _CMP_GE_OQ)) & 7);
    memcpy(level->near, plane_places[level->octant], sizeof level->near);
    memcpy(level->far, plane_places[level->octant] + 4, sizeof level->far);
    level->tame = level->regular = true;
    level->irregular = 0;
    if (__builtin_expect((_mm_movemask_ps(tame) & 7) != 7, 0)) {
        level->tame = false;
        level->regular = is_regular(o, inverse);
        level->irregular = level->regular ? 0 : 8;
    }
}

#include "gfx12/fast_loop.inc"

#endif
