/* The tests of fast.h with AVX2 and FMA, eight children and four triangles at a time. Between the
 * files of this folder.
 *
 * Every operation is the one of the contract, in its order and rounded by itself; FMA
 * stands only where the contract says fma or dp2.
 *
 * Flags: the host collects exceptions in MXCSR with the rules of IEEE 754, tininess after rounding
 * like the machine. Lanes that the contract would not look at any more may raise one in vain: the
 * ray is then done again, slowly and rightly. What must not happen is an operation that is left
 * out, so whatever could raise something is used by what follows.
 *
 * dp2 is computed in binary64, where both products are exact, and rounded to binary32. Rounding
 * twice differs from rounding once only when the first result lies exactly between two binary32
 * numbers, and then in the last digit, never in the sign: `settle` looks at such sums when digits
 * count. A tiny sum, whose inexactness the second rounding might not see, is left to rt.h.
 *
 * Near and far planes are distinguished by the sign of the direction: rounding is monotonic, so
 * with min <= max the product of the nearer plane is never larger. When they are equal their zeros
 * may differ in sign, which no comparison sees. */
#ifndef FACET_RT_FAST_TESTS_H
#define FACET_RT_FAST_TESTS_H

#include "base/float.h"
#include "num/accum.h"
#include "rt/decoded.h"
#include "rt/fast.h"
#include "rt/fp32.h"

#include <immintrin.h>
#include <string.h>

#ifndef TARGET
#define TARGET __attribute__((target("avx2,fma,bmi,popcnt")))
#endif
#define INLINE TARGET static inline __attribute__((always_inline))
#define APART TARGET static __attribute__((noinline, unused))
#define RARELY(condition) __builtin_expect(condition, 0)

enum {
    CSR_FLAGS = 0x3F,
    CSR_TOLD = 0x1D,         /* invalid, divide by zero, overflow, underflow */
    TAME_LEAST = 0x21800000, /* 2^-60 and 2^60: */
    TAME_MOST = 0x5D800000,  /* no quotient of numbers between raises anything but NX */
};

/* Numbers are broadcast where they are used, which costs no more than loading them. */
struct ray {
    float o[4], inverse[4]; /* by axis; 1 for an axis that the ray does not move along */
    float tmin, tmax;
    float sx, sy, sz; /* shear */
    float ox, oy, oz; /* origin by kx, ky, kz */
    uint8_t kx, ky, kz;
    bool backward; /* along kz: x and y would change places, which turns the sign of every edge */
    uint8_t negative; /* bit a: the direction along an axis, -0 included */
    uint8_t parallel; /* bit a: 1/d[a] is infinite */
    uint8_t box_flags, triangle_flags;
};

/* ---- the ray -----------------------------------------------------------------------------------
 */

static inline uint8_t quotient_flags(const struct facet_rt_numbers *n, uint32_t a, uint32_t b)
{
    unsigned flags = 0;

    (void)facet_acc_div(&n->channel[0], a, b, &flags);
    return (uint8_t)(flags & ~(unsigned)FACET_NX);
}

/* For a direction whose quotients may raise something: what belongs to every box test, and what to
 * every triangle test. */
APART void tell_flags(const struct facet_rt_numbers *n, const uint32_t d[3], struct ray *ray)
{
    for (unsigned a = 0; a < 3; a++) {
        ray->box_flags |= quotient_flags(n, FACET_RT_ONE, d[a]);
        ray->triangle_flags |= quotient_flags(n, a == ray->kz ? FACET_RT_ONE : d[a], d[ray->kz]);
        if (facet_rt_magnitude(facet_float_bits(ray->inverse[a])) == FACET_RT_INF) {
            ray->parallel |= (uint8_t)(1u << a);
            ray->inverse[a] = 1;
        }
    }
}

/* false: not a ray for this file. */
INLINE bool ray_make(const struct facet_rt_numbers *n,
                     const uint8_t entry[FACET_RT_FAST_RAY_BYTES],
                     struct ray *ray)
{
    const __m128i magnitude = _mm_set1_epi32(INT32_MAX), inf = _mm_set1_epi32((int)FACET_RT_INF);
    const __m128 one = _mm_set1_ps(1);
    const __m128 o = _mm_loadu_ps((const float *)entry); /* and d.x */
    const __m128 d = _mm_blend_ps(
        _mm_loadu_ps((const float *)(entry + FACET_XPHMG_RAY_RECORD_DIRECTION_AT(4))), one, 8);
    const __m128i size = _mm_and_si128(_mm_castps_si128(d), magnitude);
    const __m128i finite_o = _mm_cmpgt_epi32(inf, _mm_and_si128(_mm_castps_si128(o), magnitude));
    const __m128i finite_d = _mm_cmpgt_epi32(inf, size);
    const __m128i tame = _mm_and_si128(_mm_cmpgt_epi32(size, _mm_set1_epi32(TAME_LEAST)),
                                       _mm_cmpgt_epi32(_mm_set1_epi32(TAME_MOST), size));
    const bool wild = _mm_movemask_ps(_mm_castsi128_ps(tame)) != 15;
    _Alignas(16) uint32_t sizes[4];
    _Alignas(16) float shear[4];
    uint32_t e[FACET_RT_RAY_ELEMENTS], tmin;
    unsigned csr = 0, kz;

    memcpy(e, entry, sizeof e);
    tmin = e[6] == FACET_RT_SIGN ? 0 : e[6];
    _mm_store_si128((__m128i *)sizes, size);
    kz = sizes[1] > sizes[0];
    kz = sizes[2] > sizes[kz] ? 2 : kz;
    if (RARELY(_mm_movemask_ps(_mm_castsi128_ps(_mm_and_si128(finite_o, finite_d))) != 15 ||
               tmin > FACET_RT_INF || facet_rt_is_nan(e[7]) || sizes[kz] == 0)) {
        return false;
    }
    if (RARELY(wild)) {
        csr = _mm_getcsr();
    }
    _mm_storeu_ps(ray->o, o);
    _mm_storeu_ps(ray->inverse, _mm_div_ps(one, d));
    _mm_store_ps(shear, _mm_div_ps(d, _mm_set1_ps(facet_float_of(e[3 + kz]))));
    ray->kz = (uint8_t)kz;
    ray->kx = (uint8_t)(kz == 2 ? 0 : kz + 1);
    ray->ky = (uint8_t)(kz == 0 ? 2 : kz - 1);
    ray->sx = shear[ray->kx];
    ray->sy = shear[ray->ky];
    ray->sz = ray->inverse[kz];
    ray->ox = ray->o[ray->kx];
    ray->oy = ray->o[ray->ky];
    ray->oz = ray->o[kz];
    ray->negative = (uint8_t)(_mm_movemask_ps(d) & 7);
    ray->backward = (ray->negative >> kz & 1) != 0;
    ray->parallel = ray->box_flags = ray->triangle_flags = 0;
    ray->tmin = facet_float_of(tmin);
    ray->tmax = facet_float_of(e[7]);
    if (RARELY(wild)) {
        __asm__ volatile("" : : : "memory"); /* divided before the flags go back */
        _mm_setcsr(csr);
        tell_flags(n, e + 3, ray);
        return facet_rt_magnitude(facet_float_bits(ray->sz)) < FACET_RT_INF;
    }
    return true;
}

/* ---- boxes -------------------------------------------------------------------------------------
 */

/* What all visits of a ray have in common. */
struct slabs {
    __m256 minus[3], inverse[3], tmin; /* -o: added, a plane can be read by the addition */
    size_t near[3];                    /* offsets of planes in a node */
};

INLINE void slabs_make(const struct ray *ray, struct slabs *s)
{
    for (unsigned a = 0; a < 3; a++) {
        s->minus[a] = _mm256_set1_ps(-ray->o[a]);
        s->inverse[a] = _mm256_set1_ps(ray->inverse[a]);
        s->near[a] = (2 * a + (ray->negative >> a & 1u)) * sizeof(__m256);
    }
    s->tmin = _mm256_set1_ps(ray->tmin);
}

INLINE __m256 cross(const struct slabs *s, unsigned a, const struct facet_rt_node *node, size_t at)
{
    const __m256 plane = _mm256_load_ps((const float *)((const char *)node->plane + at));

    return _mm256_mul_ps(_mm256_add_ps(s->minus[a], plane), s->inverse[a]);
}

/* Where the line enters and leaves along one axis. */
INLINE void slab(const struct slabs *s,
                 unsigned a,
                 const struct facet_rt_node *node,
                 const unsigned parallel,
                 __m256 *near,
                 __m256 *far)
{
    if ((parallel >> a & 1) == 0) {
        *near = cross(s, a, node, s->near[a]);
        *far = cross(s, a, node, s->near[a] ^ sizeof(__m256));
    } else { /* always inside, or never */
        const __m256 inf = _mm256_set1_ps(__builtin_inff()), sign = _mm256_set1_ps(-0.0f);
        const __m256 min = _mm256_load_ps(node->plane[2 * a]);
        const __m256 max = _mm256_load_ps(node->plane[2 * a + 1]);
        const __m256 o = _mm256_xor_ps(s->minus[a], sign);
        const __m256 inside =
            _mm256_and_ps(_mm256_cmp_ps(min, o, _CMP_LE_OQ), _mm256_cmp_ps(o, max, _CMP_LE_OQ));

        *far = _mm256_xor_ps(inf, _mm256_andnot_ps(inside, sign));
        *near = _mm256_xor_ps(*far, sign);
    }
}

/* The set of children that are hit; a child in each lane of *near. */
INLINE unsigned test_children(const struct slabs *s,
                              const struct facet_rt_node *node,
                              __m256 tmax,
                              const unsigned parallel,
                              __m256 *near)
{
    __m256 nx, ny, nz, fx, fy, fz;

    slab(s, 0, node, parallel, &nx, &fx);
    slab(s, 1, node, parallel, &ny, &fy);
    slab(s, 2, node, parallel, &nz, &fz);
    /* The second operand is taken of two zeros: no -0 ever comes out. */
    *near = _mm256_max_ps(_mm256_max_ps(nx, ny), _mm256_max_ps(nz, s->tmin));
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(
        *near, _mm256_min_ps(_mm256_min_ps(fx, fy), _mm256_min_ps(fz, tmax)), _CMP_LE_OQ));
}

/* ---- triangles ---------------------------------------------------------------------------------
 */

struct facets {
    __m128 t, u, v;    /* lanes that are not hit hold anything */
    unsigned hit;      /* inside [tmin, tmax] */
    unsigned positive; /* lanes with det > 0 */
    bool odd;          /* a sum is tiny */
};

/* a * b - c * d, rounded to binary64. */
INLINE __m256d dp2(__m256d a, __m256d b, __m256d c, __m256d d)
{
    return _mm256_fmsub_pd(a, b, _mm256_mul_pd(c, d));
}

/* Lanes that lie between two binary32 numbers. */
INLINE __m256i ties(__m256d sum)
{
    const __m256i low = _mm256_and_si256(_mm256_castpd_si256(sum), _mm256_set1_epi64x(0x1FFFFFFF));

    return _mm256_cmpeq_epi64(low, _mm256_set1_epi64x(0x10000000));
}

/* The same rounded once, to binary32: a tie that is none, because the first rounding made it one,
 * moves to the side where the exact sum lies. */
APART __m128 settle(__m256d a, __m256d b, __m256d c, __m256d d)
{
    const __m256d p = _mm256_mul_pd(a, b), q = _mm256_mul_pd(c, d); /* exact */
    const __m256d sum = _mm256_sub_pd(p, q), back = _mm256_sub_pd(sum, p);
    const __m256d error = /* exact sum - sum */
        _mm256_sub_pd(_mm256_sub_pd(p, _mm256_sub_pd(sum, back)), _mm256_add_pd(q, back));
    const __m256i away = _mm256_castpd_si256(_mm256_xor_pd(error, sum)); /* sign: towards zero */
    const __m256i step = _mm256_or_si256(_mm256_cmpgt_epi64(_mm256_setzero_si256(), away),
                                         _mm256_set1_epi64x(1)); /* 1 or -1 */
    const __m256i moves = _mm256_andnot_si256(
        _mm256_castpd_si256(_mm256_cmp_pd(error, _mm256_setzero_pd(), _CMP_EQ_OQ)), ties(sum));

    return _mm256_cvtpd_ps(_mm256_castsi256_pd(
        _mm256_add_epi64(_mm256_castpd_si256(sum), _mm256_and_si256(step, moves))));
}

INLINE __m128 magnitude4(__m128 a)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}

/* Some lane that is not zero is tiny. */
APART bool some_tiny(__m128 u, __m128 v, __m128 w)
{
    const __m128 least = _mm_set1_ps(0x1p-125f), zero = _mm_setzero_ps();
    const __m128 e[3] = {magnitude4(u), magnitude4(v), magnitude4(w)};
    __m128 tiny = zero;

    for (unsigned i = 0; i < 3; i++) {
        tiny = _mm_or_ps(
            tiny,
            _mm_and_ps(_mm_cmp_ps(e[i], least, _CMP_LT_OQ), _mm_cmp_ps(e[i], zero, _CMP_NEQ_OQ)));
    }
    return _mm_movemask_ps(tiny) != 0;
}

/* The lanes of `mask`; the others must be copies of one of them. */
INLINE void test_triangles(const struct ray *ray,
                           const struct facet_rt_options *options,
                           float tmax,
                           const struct facet_rt_leaf *leaf,
                           unsigned mask,
                           struct facets *out)
{
    const __m128 zero = _mm_setzero_ps(), one = _mm_set1_ps(1);
    const __m128 sx = _mm_set1_ps(ray->sx), sy = _mm_set1_ps(ray->sy);
    const __m128 ox = _mm_set1_ps(ray->ox), oy = _mm_set1_ps(ray->oy), oz = _mm_set1_ps(ray->oz);
    const unsigned kx = ray->kx, ky = ray->ky, kz = ray->kz;
    __m256d x[3], y[3], sum[3];
    __m128 z[3], u, v, w, below, above, outside, det, keep, t, size;
    unsigned inside;

    for (unsigned j = 0; j < 3; j++) {
        z[j] = _mm_sub_ps(_mm_load_ps(leaf->corner[j][kz]), oz);
        x[j] = _mm256_cvtps_pd(
            _mm_fnmadd_ps(sx, z[j], _mm_sub_ps(_mm_load_ps(leaf->corner[j][kx]), ox)));
        y[j] = _mm256_cvtps_pd(
            _mm_fnmadd_ps(sy, z[j], _mm_sub_ps(_mm_load_ps(leaf->corner[j][ky]), oy)));
    }
    sum[0] = dp2(x[2], y[1], y[2], x[1]);
    sum[1] = dp2(x[0], y[2], y[0], x[2]);
    sum[2] = dp2(x[1], y[0], y[1], x[0]);
    u = _mm256_cvtpd_ps(sum[0]);
    v = _mm256_cvtpd_ps(sum[1]);
    w = _mm256_cvtpd_ps(sum[2]);
    out->hit = 0;
    out->odd = false;
    size = _mm_min_ps(_mm_min_ps(magnitude4(u), magnitude4(v)), magnitude4(w));
    if (RARELY(_mm_movemask_ps(_mm_cmp_ps(size, _mm_set1_ps(0x1p-125f), _CMP_LT_OQ)) != 0)) {
        out->odd = some_tiny(u, v, w);
    }
    below = _mm_cmp_ps(_mm_min_ps(_mm_min_ps(u, v), w), zero, _CMP_LT_OQ);
    above = _mm_cmp_ps(_mm_max_ps(_mm_max_ps(u, v), w), zero, _CMP_GT_OQ);
    outside = options->cull_back ? (ray->backward ? above : below) : _mm_and_ps(below, above);
    inside = mask & ~(unsigned)_mm_movemask_ps(outside);
    if (inside == 0) {
        return;
    }
    {
        const __m256i tie =
            _mm256_or_si256(_mm256_or_si256(ties(sum[0]), ties(sum[1])), ties(sum[2]));

        if (RARELY(_mm256_testz_si256(tie, tie) == 0)) {
            u = settle(x[2], y[1], y[2], x[1]);
            v = settle(x[0], y[2], y[0], x[2]);
            w = settle(x[1], y[0], y[1], x[0]);
        }
    }
    det = _mm_andnot_ps(outside, _mm_add_ps(_mm_add_ps(u, v), w));
    keep = _mm_cmp_ps(magnitude4(det), _mm_set1_ps(facet_float_of(options->eps)), _CMP_GT_OQ);
    inside &= (unsigned)_mm_movemask_ps(keep);
    if (inside == 0) {
        return;
    }
    /* Lanes that are out compute 0 / 1. */
    det = _mm_blendv_ps(one, det, keep);
    u = _mm_and_ps(u, keep);
    v = _mm_and_ps(v, keep);
    w = _mm_and_ps(w, keep);
    for (unsigned j = 0; j < 3; j++) {
        z[j] = _mm_mul_ps(_mm_set1_ps(ray->sz), _mm_and_ps(z[j], keep));
    }
    t = _mm_fmadd_ps(u, z[0], _mm_fmadd_ps(v, z[1], _mm_mul_ps(w, z[2])));
    t = _mm_add_ps(_mm_div_ps(t, det), zero); /* no -0 */
    keep = _mm_and_ps(keep,
                      _mm_and_ps(_mm_cmp_ps(t, _mm_set1_ps(ray->tmin), _CMP_GE_OQ),
                                 _mm_cmp_ps(t, _mm_set1_ps(tmax), _CMP_LE_OQ)));
    out->hit = inside & (unsigned)_mm_movemask_ps(keep);
    if (out->hit == 0) {
        return;
    }
    out->t = t;
    out->positive = (unsigned)_mm_movemask_ps(_mm_cmp_ps(det, zero, _CMP_GT_OQ));
    det = _mm_blendv_ps(one, magnitude4(det), keep);
    out->u = _mm_div_ps(_mm_and_ps(magnitude4(v), keep), det);
    out->v = _mm_div_ps(_mm_and_ps(magnitude4(w), keep), det);
    __asm__ volatile("" : "+x"(out->u), "+x"(out->v)); /* divided in any case */
}

/* ---- the host's exceptions ---------------------------------------------------------------------
 */

static inline void clear_exceptions(void)
{
    _mm_setcsr(_mm_getcsr() & ~(unsigned)CSR_FLAGS);
}

static inline bool some_exception(void)
{
    return (_mm_getcsr() & CSR_TOLD) != 0;
}

#endif
