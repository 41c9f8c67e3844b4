/* See fast.h. Every operation is the one of the contract, in its order and rounded by itself; FMA
 * stands only where the contract says fma or dp2.
 *
 * Flags: the host collects exceptions in MXCSR with the rules of IEEE 754, tininess after rounding
 * like the machine. Lanes that the contract would not look at any more may raise one in vain: the
 * ray is then done again, slowly and rightly. What must not happen is an operation that is left
 * out, so whatever could raise something is used by what follows.
 *
 * dp2 is computed in binary64, where both products are exact, and rounded to binary32. Rounding
 * twice differs from rounding once only when the sum lies exactly between two binary32 numbers;
 * such a sum is left to rt.h. So is a tiny one, whose inexactness the second rounding might not
 * see.
 *
 * Near and far planes are told apart by min and max: rounding is monotonic, so with min <= max the
 * product of the nearer plane is never larger. When they are equal their zeros may differ in sign,
 * which no comparison sees. */
#include "rt/fast.h"

#if defined(__x86_64__)

#include "num/accum.h"
#include "rt/fp32.h"
#include "rt/layout.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma,bmi,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

enum {
    TILE = 128,
    TRIANGLE = 4 * FACET_RT_TRIANGLE_ELEMENTS,
    MAX_STACK = 256,
    CSR_FLAGS = 0x3F,
    CSR_TOLD = 0x1D, /* invalid, divide by zero, overflow, underflow */
};

struct ray {
    __m256 o[3], inverse[3]; /* 1 for an axis that the ray does not move along */
    __m256 tmin;
    __m256 pair[4]; /* origins beside the corners of four triangles, see corners */
    __m128 oz, sx, sy, sz;
    float tmin1, tmax;
    unsigned kx, ky, kz;
    bool backward; /* along kz: x and y would change places, which turns the sign of every edge */
    uint8_t parallel; /* bit a: 1/d[a] is infinite */
    unsigned box_flags, triangle_flags;
};

static float number(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE unsigned take_exceptions(void)
{
    unsigned csr = _mm_getcsr();

    if ((csr & CSR_TOLD) != 0) {
        _mm_setcsr(csr & ~(unsigned)CSR_FLAGS);
    }
    return csr & CSR_TOLD;
}

/* ---- the ray -----------------------------------------------------------------------------------
 */

static unsigned quotient_flags(const struct facet_rt_numbers *n, uint32_t a, uint32_t b)
{
    unsigned flags = 0;

    (void)facet_acc_div(&n->channel[0], a, b, &flags);
    return flags & ~(unsigned)FACET_NX;
}

/* Divisions raised something: what belongs to every box test, and what to every triangle test. */
static void tell_flags(const struct facet_rt_numbers *n, const uint32_t d[3], struct ray *ray)
{
    for (unsigned a = 0; a < 3; a++) {
        ray->box_flags |= quotient_flags(n, FACET_RT_ONE, d[a]);
        ray->triangle_flags |= quotient_flags(n, a == ray->kz ? FACET_RT_ONE : d[a], d[ray->kz]);
    }
}

/* false: not a ray for this file. */
INLINE bool
ray_make(const struct facet_rt_numbers *n, const uint32_t e[FACET_RT_RAY_ELEMENTS], struct ray *ray)
{
    const uint32_t *d = e + 3, tmin = e[6] == FACET_RT_SIGN ? 0 : e[6];
    const __m128i magnitude = _mm_set1_epi32(INT32_MAX), inf = _mm_set1_epi32((int)FACET_RT_INF);
    const __m128i low = _mm_loadu_si128((const __m128i *)e);
    const __m128i high = _mm_loadu_si128((const __m128i *)(e + 2)); /* o.z d */
    const __m128i finite = _mm_and_si128(_mm_cmpgt_epi32(inf, _mm_and_si128(low, magnitude)),
                                         _mm_cmpgt_epi32(inf, _mm_and_si128(high, magnitude)));
    const __m128 one = _mm_set1_ps(1);
    __m128 direction, inverse, shear;
    unsigned kz = 0;

    if (_mm_movemask_ps(_mm_castsi128_ps(finite)) != 15 || tmin > FACET_RT_INF ||
        facet_rt_is_nan(e[7])) {
        return false;
    }
    kz = facet_rt_magnitude(d[1]) > facet_rt_magnitude(d[0]) ? 1 : 0;
    kz = facet_rt_magnitude(d[2]) > facet_rt_magnitude(d[kz]) ? 2 : kz;
    if (facet_rt_magnitude(d[kz]) == 0) {
        return false;
    }
    direction = _mm_setr_ps(number(d[0]), number(d[1]), number(d[2]), 1);
    inverse = _mm_div_ps(one, direction);
    shear = _mm_div_ps(direction, _mm_set1_ps(number(d[kz])));
    __asm__ volatile("" : "+x"(inverse), "+x"(shear)); /* before the flags are asked for */
    ray->kx = (kz + 1) % 3;
    ray->ky = (kz + 2) % 3;
    ray->kz = kz;
    ray->backward = (d[kz] & FACET_RT_SIGN) != 0;
    ray->box_flags = ray->triangle_flags = 0;
    ray->parallel = 0;
    if (__builtin_expect(take_exceptions() != 0, 0)) {
        const __m128 infinite = _mm_castsi128_ps(
            _mm_cmpeq_epi32(_mm_and_si128(_mm_castps_si128(inverse), magnitude), inf));

        tell_flags(n, d, ray);
        ray->parallel = (uint8_t)_mm_movemask_ps(infinite);
        inverse = _mm_blendv_ps(inverse, one, infinite);
    }
    const __m128 sz = _mm_permute_ps(shear, 0xFF);
    if (facet_rt_magnitude(bits_of(_mm_cvtss_f32(sz))) >= FACET_RT_INF) {
        return false;
    }
    const __m128 x = _mm_set1_ps(number(e[0])), y = _mm_set1_ps(number(e[1]));
    const __m128 z = _mm_set1_ps(number(e[2]));
    ray->o[0] = _mm256_set_m128(x, x);
    ray->o[1] = _mm256_set_m128(y, y);
    ray->o[2] = _mm256_set_m128(z, z);
    ray->pair[0] = ray->pair[3] = _mm256_set_m128(y, x);
    ray->pair[1] = _mm256_set_m128(z, y);
    ray->pair[2] = _mm256_set_m128(x, z);
    ray->oz = z;
    ray->inverse[0] = _mm256_broadcastss_ps(inverse);
    ray->inverse[1] = _mm256_broadcastss_ps(_mm_permute_ps(inverse, 0x55));
    ray->inverse[2] = _mm256_broadcastss_ps(_mm_permute_ps(inverse, 0xAA));
    ray->sx = _mm_set1_ps(((const float *)&shear)[ray->kx]);
    ray->sy = _mm_set1_ps(((const float *)&shear)[ray->ky]);
    ray->sz = sz;
    ray->tmin1 = number(tmin);
    ray->tmin = _mm256_set1_ps(ray->tmin1);
    ray->tmax = number(e[7]);
    return true;
}

/* ---- boxes -------------------------------------------------------------------------------------
 */

struct children {
    __m256 near;
    __m256i reference; /* index << 1 | leaf */
    unsigned used;     /* not empty */
    unsigned hit;
    unsigned tested; /* not inverted: the ray was divided by its direction */
    bool odd;        /* a NaN, or an index that does not fit */
};

/* One axis: where the line enters and leaves. */
INLINE void slab(const struct ray *ray,
                 unsigned a,
                 __m256 min,
                 __m256 max,
                 const bool parallel,
                 __m256 *near,
                 __m256 *far)
{
    const __m256 o = ray->o[a];
    const __m256 t0 = _mm256_mul_ps(_mm256_sub_ps(min, o), ray->inverse[a]);
    const __m256 t1 = _mm256_mul_ps(_mm256_sub_ps(max, o), ray->inverse[a]);

    *near = _mm256_min_ps(t0, t1);
    *far = _mm256_max_ps(t0, t1);
    if (parallel && (ray->parallel >> a & 1) != 0) {
        const __m256 inf = _mm256_set1_ps(__builtin_inff());
        const __m256 inside =
            _mm256_and_ps(_mm256_cmp_ps(min, o, _CMP_LE_OQ), _mm256_cmp_ps(o, max, _CMP_LE_OQ));

        *far = _mm256_xor_ps(inf, _mm256_andnot_ps(inside, _mm256_set1_ps(-0.0f)));
        *near = _mm256_xor_ps(*far, _mm256_set1_ps(-0.0f));
    }
}

/* Child c of the tile and of the one behind it: 16 bytes from byte `at` on. */
INLINE __m256 two(const uint8_t *lo, const uint8_t *hi, size_t at)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)(lo + at))),
                                _mm_loadu_ps((const float *)(hi + at)),
                                1);
}

INLINE __m256 low_halves(__m256 a, __m256 b)
{
    return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

INLINE __m256 high_halves(__m256 a, __m256 b)
{
    return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

INLINE void test_children(const struct ray *ray,
                          float tmax,
                          const uint8_t *tile,
                          const bool node8,
                          const bool parallel,
                          struct children *out)
{
    /* A node of four children is tested twice at once; the second half is not used. */
    const uint8_t *const hi = node8 ? tile + TILE : tile;
    const __m256 f0 = two(tile, hi, 0), f1 = two(tile, hi, 24), f2 = two(tile, hi, 48),
                 f3 = two(tile, hi, 72); /* min.x min.y min.z max.x */
    const __m256 b0 = two(tile, hi, 8), b1 = two(tile, hi, 32), b2 = two(tile, hi, 56),
                 b3 = two(tile, hi, 80); /* min.z max.x max.y max.z */
    const __m256 x01 = _mm256_unpacklo_ps(f0, f1), x23 = _mm256_unpacklo_ps(f2, f3);
    const __m256 z01 = _mm256_unpackhi_ps(f0, f1), z23 = _mm256_unpackhi_ps(f2, f3);
    const __m256 y01 = _mm256_unpackhi_ps(b0, b1), y23 = _mm256_unpackhi_ps(b2, b3);
    const __m256 min_x = low_halves(x01, x23), min_y = high_halves(x01, x23);
    const __m256 min_z = low_halves(z01, z23), max_x = high_halves(z01, z23);
    const __m256 max_y = low_halves(y01, y23), max_z = high_halves(y01, y23);
    const __m256i meta = _mm256_castps_si256(two(tile, hi, TILE - FACET_RT_META_BYTES));
    const __m256i type =
        _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi32(meta, 0xFF),
                                           _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)),
                         _mm256_set1_epi32(3));
    const __m256i index = _mm256_srlv_epi32(meta, _mm256_setr_epi32(0, 0, 0, 8, 0, 0, 0, 8));
    /* Codes 1 and 2 plus one are 2 and 3. */
    const __m256i used = _mm256_slli_epi32(_mm256_add_epi32(type, _mm256_set1_epi32(1)), 30);
    const __m256 proper = _mm256_and_ps(_mm256_and_ps(_mm256_cmp_ps(min_x, max_x, _CMP_LE_OQ),
                                                      _mm256_cmp_ps(min_y, max_y, _CMP_LE_OQ)),
                                        _mm256_cmp_ps(min_z, max_z, _CMP_LE_OQ));
    __m256 nx, ny, nz, fx, fy, fz, far;

    slab(ray, 0, min_x, max_x, parallel, &nx, &fx);
    slab(ray, 1, min_y, max_y, parallel, &ny, &fy);
    slab(ray, 2, min_z, max_z, parallel, &nz, &fz);
    /* The second operand is taken of two zeros: no -0 ever comes out. */
    out->near = _mm256_max_ps(_mm256_max_ps(nx, ny), _mm256_max_ps(nz, ray->tmin));
    far = _mm256_min_ps(_mm256_min_ps(fx, fy), _mm256_min_ps(fz, _mm256_set1_ps(tmax)));
    out->used = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(used)) & (node8 ? 0xFF : 0x0F);
    out->tested = out->used & (unsigned)_mm256_movemask_ps(proper);
    out->hit =
        out->tested & (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(out->near, far, _CMP_LE_OQ));
    out->reference = _mm256_or_si256(_mm256_add_epi32(index, index), _mm256_srli_epi32(type, 1));
    out->odd = (out->hit & (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(index))) != 0;
    if (__builtin_expect(out->tested != out->used, 0)) {
        const __m256 nan = _mm256_or_ps(_mm256_or_ps(_mm256_cmp_ps(min_x, max_x, _CMP_UNORD_Q),
                                                     _mm256_cmp_ps(min_y, max_y, _CMP_UNORD_Q)),
                                        _mm256_cmp_ps(min_z, max_z, _CMP_UNORD_Q));

        out->odd |= (out->used & (unsigned)_mm256_movemask_ps(nan)) != 0;
    }
}

/* ---- triangles ---------------------------------------------------------------------------------
 */

struct facets {
    __m128 u, v, w, det, t; /* edges; lanes that are not hit hold anything */
    unsigned hit;           /* inside [tmin, tmax] */
    bool odd;               /* a sum that must not be rounded twice, or that is tiny */
};

INLINE float last_of(const uint8_t *triangle)
{
    float value;

    memcpy(&value, triangle + TRIANGLE - sizeof value, sizeof value);
    return value;
}

/* Corners of four triangles minus the origin: p[corner][axis], a triangle in each lane. */
INLINE void corners(const struct ray *ray, const uint8_t *const at[4], __m128 p[3][3])
{
    const __m256 a = _mm256_loadu_ps((const float *)at[0]);
    const __m256 b = _mm256_loadu_ps((const float *)at[1]);
    const __m256 c = _mm256_loadu_ps((const float *)at[2]);
    const __m256 d = _mm256_loadu_ps((const float *)at[3]);
    const __m256 ab0 = _mm256_unpacklo_ps(a, b), cd0 = _mm256_unpacklo_ps(c, d);
    const __m256 ab1 = _mm256_unpackhi_ps(a, b), cd1 = _mm256_unpackhi_ps(c, d);
    const __m256 p0 = _mm256_sub_ps(low_halves(ab0, cd0), ray->pair[0]);  /* v0.x v1.y */
    const __m256 p1 = _mm256_sub_ps(high_halves(ab0, cd0), ray->pair[1]); /* v0.y v1.z */
    const __m256 p2 = _mm256_sub_ps(low_halves(ab1, cd1), ray->pair[2]);  /* v0.z v2.x */
    const __m256 p3 = _mm256_sub_ps(high_halves(ab1, cd1), ray->pair[3]); /* v1.x v2.y */
    const __m128 z =
        _mm_setr_ps(last_of(at[0]), last_of(at[1]), last_of(at[2]), last_of(at[3])); /* v2.z */

    p[0][0] = _mm256_castps256_ps128(p0);
    p[0][1] = _mm256_castps256_ps128(p1);
    p[0][2] = _mm256_castps256_ps128(p2);
    p[1][0] = _mm256_castps256_ps128(p3);
    p[1][1] = _mm256_extractf128_ps(p0, 1);
    p[1][2] = _mm256_extractf128_ps(p1, 1);
    p[2][0] = _mm256_extractf128_ps(p2, 1);
    p[2][1] = _mm256_extractf128_ps(p3, 1);
    p[2][2] = _mm_sub_ps(z, ray->oz);
}

/* a * b - c * d; *tie gathers sums that lie between two binary32 numbers. */
INLINE __m128 dp2(__m256d a, __m256d b, __m256d c, __m256d d, __m256i *tie)
{
    const __m256d sum = _mm256_fmsub_pd(a, b, _mm256_mul_pd(c, d));
    const __m256i low = _mm256_and_si256(_mm256_castpd_si256(sum), _mm256_set1_epi64x(0x1FFFFFFF));

    *tie = _mm256_or_si256(*tie, _mm256_cmpeq_epi64(low, _mm256_set1_epi64x(0x10000000)));
    return _mm256_cvtpd_ps(sum);
}

INLINE __m128 magnitude4(__m128 a)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}

/* Some lane that is not zero is tiny. */
TARGET static __attribute__((noinline)) bool some_tiny(__m128 u, __m128 v, __m128 w)
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
                           const uint8_t *const at[4],
                           unsigned mask,
                           struct facets *out)
{
    const unsigned kx = ray->kx, ky = ray->ky, kz = ray->kz;
    const __m128 zero = _mm_setzero_ps();
    __m256i tie = _mm256_setzero_si256();
    __m256d x[3], y[3];
    __m128 p[3][3], u, v, w, below, above, outside, det, keep, t;
    unsigned inside;

    corners(ray, at, p);
    for (unsigned j = 0; j < 3; j++) {
        x[j] = _mm256_cvtps_pd(_mm_fnmadd_ps(ray->sx, p[j][kz], p[j][kx]));
        y[j] = _mm256_cvtps_pd(_mm_fnmadd_ps(ray->sy, p[j][kz], p[j][ky]));
    }
    u = dp2(x[2], y[1], y[2], x[1], &tie);
    v = dp2(x[0], y[2], y[0], x[2], &tie);
    w = dp2(x[1], y[0], y[1], x[0], &tie);
    out->hit = 0;
    out->odd = _mm256_testz_si256(tie, tie) == 0;
    if (__builtin_expect(_mm_movemask_ps(_mm_cmp_ps(
                             _mm_min_ps(_mm_min_ps(magnitude4(u), magnitude4(v)), magnitude4(w)),
                             _mm_set1_ps(0x1p-125f),
                             _CMP_LT_OQ)) != 0,
                         0)) {
        out->odd |= some_tiny(u, v, w);
    }
    below = _mm_cmp_ps(_mm_min_ps(_mm_min_ps(u, v), w), zero, _CMP_LT_OQ);
    above = _mm_cmp_ps(_mm_max_ps(_mm_max_ps(u, v), w), zero, _CMP_GT_OQ);
    outside = options->cull_back ? (ray->backward ? above : below) : _mm_and_ps(below, above);
    inside = mask & ~(unsigned)_mm_movemask_ps(outside);
    if (inside == 0) {
        return;
    }
    det = _mm_andnot_ps(outside, _mm_add_ps(_mm_add_ps(u, v), w));
    keep = _mm_cmp_ps(magnitude4(det), _mm_set1_ps(number(options->eps)), _CMP_GT_OQ);
    inside &= (unsigned)_mm_movemask_ps(keep);
    if (inside == 0) {
        return;
    }
    /* Lanes that are out compute 0 / 1. */
    det = _mm_blendv_ps(_mm_set1_ps(1), det, keep);
    t = _mm_mul_ps(_mm_and_ps(w, keep), _mm_mul_ps(ray->sz, _mm_and_ps(p[2][kz], keep)));
    t = _mm_fmadd_ps(_mm_and_ps(v, keep), _mm_mul_ps(ray->sz, _mm_and_ps(p[1][kz], keep)), t);
    t = _mm_fmadd_ps(_mm_and_ps(u, keep), _mm_mul_ps(ray->sz, _mm_and_ps(p[0][kz], keep)), t);
    t = _mm_add_ps(_mm_div_ps(t, det), zero); /* no -0 */
    out->hit = inside & (unsigned)_mm_movemask_ps(
                            _mm_and_ps(_mm_cmp_ps(t, _mm_set1_ps(ray->tmin1), _CMP_GE_OQ),
                                       _mm_cmp_ps(t, _mm_set1_ps(tmax), _CMP_LE_OQ)));
    out->u = u;
    out->v = v;
    out->w = w;
    out->det = det;
    out->t = t;
}

/* Numbers of one lane. */
struct hit {
    float t, u, v;
    bool front;
};

INLINE struct hit hit_of(const struct ray *ray, const struct facets *f, unsigned lane)
{
    _Alignas(16) float t[4], v[4], w[4], det[4];
    struct hit hit;

    _mm_store_ps(t, f->t);
    _mm_store_ps(v, magnitude4(f->v));
    _mm_store_ps(w, magnitude4(f->w));
    _mm_store_ps(det, f->det);
    hit.t = t[lane];
    hit.front = (det[lane] > 0) != ray->backward;
    hit.u = v[lane] / __builtin_fabsf(det[lane]);
    hit.v = w[lane] / __builtin_fabsf(det[lane]);
    __asm__ volatile("" : "+x"(hit.u), "+x"(hit.v)); /* divided, whoever uses them */
    return hit;
}

/* ---- traversal ---------------------------------------------------------------------------------
 *
 * Several rays are on their way at a time. The children of one node depend on a long chain of
 * operations, and the branches behind it are hard to foresee; the tests of the other rays fill the
 * time. The host's exception flags are common to them: when one was raised, no ray that was on its
 * way is done. */

enum { LANES = 2 };

/* The scene as pointers and counts. */
struct plan {
    const struct facet_rt_fast_scene *scene;
    const uint8_t *heap;
    uint64_t nodes, leaves; /* that lie in the area */
    const uint8_t *entries; /* rays that wait: [next, count) */
    struct facet_rt_fast_result *results;
    size_t next, count;
};

/* A ray on its way. */
struct lane {
    struct ray ray;
    struct facet_rt_fast_result found;
    struct facet_rt_fast_result *result; /* where it goes; NULL: no ray */
    float tmax;                          /* the closest hit so far */
    uint32_t reference;                  /* the node to visit: index << 1 */
    uint32_t steps;
    unsigned boxes_tested; /* not 0: some that the ray was divided for */
    bool odd;              /* not to be done here */
    uint64_t *top;
    uint64_t stack[MAX_STACK + 1]; /* push_all writes four where three are */
};

/* false: no node can be read. */
static bool plan_make(const struct facet_rt_fast_scene *scene, struct plan *plan)
{
    const struct facet_rt_area *area = &scene->heap_area;
    uint64_t offset = scene->heap - area->base, node = scene->node8 ? 2 * TILE : TILE, room;

    if (offset > area->size || scene->heap % FACET_RT_TILE_ALIGN != 0) {
        return false;
    }
    room = area->size - offset;
    plan->scene = scene;
    plan->heap = area->bytes + offset;
    plan->nodes = room < node ? 0 : (room - node) / TILE + 1;
    plan->leaves = room / FACET_RT_RANGE_BYTES;
    return plan->nodes != 0;
}

/* The triangles of a range, NULL when they are not to be read here. */
static inline const uint8_t *
find(const struct facet_rt_area *area, uint64_t base, uint32_t first, uint32_t count)
{
    uint64_t offset = base - area->base, skip = (uint64_t)first * TRIANGLE;
    uint64_t size = (uint64_t)count * TRIANGLE;

    return offset <= area->size && skip + size <= area->size - offset ? area->bytes + offset + skip
                                                                      : NULL;
}

static inline const uint8_t *triangles_of(const struct facet_rt_fast_scene *scene,
                                          const struct facet_rt_range *range)
{
    uint64_t base = range->base != 0 ? range->base : scene->triangles;
    const uint8_t *found;

    if (base % 4 != 0 || range->first > UINT32_MAX - range->count) {
        return NULL;
    }
    found = find(&scene->triangle_area, base, range->first, range->count);
    return found != NULL ? found : find(&scene->heap_area, base, range->first, range->count);
}

/* Takes a hit into account; false when the one so far is as good. */
INLINE bool
better(struct lane *l, const struct facets *f, unsigned lane, uint32_t triangle, uint32_t leaf)
{
    const struct hit hit = hit_of(&l->ray, f, lane);
    struct facet_rt_fast_result *const found = &l->found;

    if (hit.t > l->tmax ||
        (found->hit && hit.t == l->tmax &&
         (triangle != found->triangle ? triangle > found->triangle : leaf >= found->leaf))) {
        return false;
    }
    found->hit = true;
    found->front = hit.front;
    found->t = bits_of(hit.t);
    found->u = bits_of(hit.u);
    found->v = bits_of(hit.v);
    found->triangle = triangle;
    found->leaf = leaf;
    l->tmax = hit.t;
    return true;
}

/* false: the ray ends here. */
INLINE bool visit_leaf(const struct plan *plan, struct lane *l, uint32_t index)
{
    const struct facet_rt_fast_scene *const scene = plan->scene;
    struct facet_rt_range range;
    const uint8_t *triangles;

    if (__builtin_expect(index >= plan->leaves, 0)) {
        l->odd = true;
        return false;
    }
    memcpy(&range, plan->heap + (uint64_t)index * FACET_RT_RANGE_BYTES, sizeof range);
    triangles = triangles_of(scene, &range);
    if (__builtin_expect(triangles == NULL || range.count > scene->steps - l->steps, 0)) {
        l->odd |= range.count != 0;
        return range.count == 0;
    }
    for (uint32_t k = 0; k < range.count; k += 4) {
        const uint32_t left = range.count - k;
        const uint8_t *const at = triangles + (uint64_t)k * TRIANGLE;
        const uint8_t *const four[4] = {at,
                                        at + (left > 1 ? TRIANGLE : 0),
                                        at + (left > 2 ? 2 * TRIANGLE : 0),
                                        at + (left > 3 ? 3 * TRIANGLE : 0)};
        const unsigned mask = left > 3 ? 15 : (1u << left) - 1;
        struct facets f;

        test_triangles(&l->ray, &scene->options, l->tmax, four, mask, &f);
        if (__builtin_expect(f.odd, 0)) {
            l->odd = true;
            return false;
        }
        for (; f.hit != 0; f.hit &= f.hit - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(f.hit);

            if (better(l, &f, lane, range.first + k + lane, index) && scene->any_hit) {
                l->found.triangle_tests += k + lane + 1;
                return false;
            }
        }
    }
    l->found.triangle_tests += range.count;
    l->steps += range.count;
    return true;
}

/* Stack entries: bits of the clamped near distance, which is not negative, over the reference. */
INLINE uint64_t entry(uint32_t near, uint32_t reference)
{
    return (uint64_t)near << 32 | reference;
}

/* The larger first. */
INLINE void order(uint64_t *a, uint64_t *b)
{
    const uint64_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;

    *a = high;
    *b = low;
}

/* Puts three or more children on the stack, the nearest on top; the lower child of equals above.
 * Three and four, which are most, are sorted without a branch. */
INLINE uint64_t *
push_all(uint64_t *top, unsigned hit, const uint32_t near[8], const uint32_t reference[8])
{
    const unsigned count = (unsigned)__builtin_popcount(hit);
    uint64_t *const bottom = top;

    if (count <= 4) {
        uint64_t key[4]; /* near, then child */

        for (unsigned i = 0; i < 3; i++, hit &= hit - 1) {
            const unsigned c = (unsigned)__builtin_ctz(hit);

            key[i] = entry(near[c], c);
        }
        key[3] = 0;
        if (count == 4) {
            const unsigned c = (unsigned)__builtin_ctz(hit);

            key[3] = entry(near[c], c);
        }
        order(&key[0], &key[1]);
        order(&key[2], &key[3]);
        order(&key[0], &key[2]);
        order(&key[1], &key[3]);
        order(&key[1], &key[2]);
        for (unsigned i = 0; i < 4; i++) {
            top[i] = entry((uint32_t)(key[i] >> 32), reference[(uint32_t)key[i]]);
        }
        return top + count;
    }
    for (; hit != 0; hit &= hit - 1) {
        const unsigned c = (unsigned)__builtin_ctz(hit);
        uint64_t *at = top++;

        for (; at > bottom && (uint32_t)(at[-1] >> 32) <= near[c]; at--) {
            at[0] = at[-1];
        }
        *at = entry(near[c], reference[c]);
    }
    return top;
}

/* Asks for memory that will be read soon. The addresses are numbers: they may lie anywhere. */
INLINE void expect_node(const struct plan *plan, uint64_t index)
{
    const uintptr_t tile = (uintptr_t)plan->heap + index * TILE;

    for (uintptr_t line = 0; line < (plan->scene->node8 ? 2 : 1) * TILE; line += 64) {
        _mm_prefetch((const char *)(tile + line), _MM_HINT_T0);
    }
}

INLINE void expect_leaf(const struct plan *plan, uint64_t index)
{
    const uintptr_t range = (uintptr_t)plan->heap + index * FACET_RT_RANGE_BYTES;

    _mm_prefetch((const char *)range, _MM_HINT_T0);
}

/* Where the ray goes after the children of a node, leaves included, up to the next node. false: the
 * ray ends. */
INLINE bool advance(const struct plan *plan, struct lane *l, const struct children *c)
{
    uint64_t *top = l->top;
    uint32_t reference;
    bool go_on;

    l->found.boxes += (unsigned)__builtin_popcount(c->used);
    l->boxes_tested |= c->tested;
    l->steps++;
    if (__builtin_expect(c->odd, 0)) {
        l->odd = true;
        return false;
    }
    if (c->hit != 0) {
        const unsigned first = (unsigned)__builtin_ctz(c->hit), rest = c->hit & (c->hit - 1);
        /* TriRanges of neighbours lie together: the first one stands for all; none: the ninth. */
        const unsigned leaves =
            1u << 8 | (c->hit & (unsigned)_mm256_movemask_ps(
                                    _mm256_castsi256_ps(_mm256_slli_epi32(c->reference, 31))));
        _Alignas(32) uint32_t near[8], references[9];

        references[8] = 0;
        _mm256_store_si256((__m256i *)near, _mm256_castps_si256(c->near));
        _mm256_store_si256((__m256i *)references, c->reference);
        if (__builtin_expect((unsigned)__builtin_popcount(c->hit) + (uint64_t)(top - l->stack) >
                                 plan->scene->stack,
                             0)) {
            l->odd = true;
            return false;
        }
        expect_leaf(plan, references[__builtin_ctz(leaves)] >> 1);
        if (rest == 0) {
            reference = references[first];
        } else if ((rest & (rest - 1)) == 0) {
            const unsigned second = (unsigned)__builtin_ctz(rest);
            const bool swap = near[second] < near[first];

            *top++ = entry(near[swap ? first : second], references[swap ? first : second]);
            reference = references[swap ? second : first];
        } else {
            top = push_all(top, c->hit, near, references) - 1;
            reference = (uint32_t)*top;
        }
        goto visit;
    }
    for (;;) {
        do {
            if (top == l->stack) {
                return false;
            }
            reference = (uint32_t) * --top;
        } while ((uint32_t)(*top >> 32) > bits_of(l->tmax));
    visit:
        if ((reference & 1) == 0) {
            break;
        }
        go_on = visit_leaf(plan, l, reference >> 1);
        if (!go_on) {
            return false;
        }
    }
    l->top = top;
    l->reference = reference;
    if (__builtin_expect(reference >> 1 >= plan->nodes || l->steps >= plan->scene->steps, 0)) {
        l->odd = true;
    }
    expect_node(plan, reference >> 1);
    return !l->odd;
}

/* The ray has ended. */
INLINE void finish(struct lane lanes[LANES], struct lane *l)
{
    if (__builtin_expect(take_exceptions() != 0, 0)) {
        for (unsigned k = 0; k < LANES; k++) {
            lanes[k].odd = true;
        }
    }
    l->found.flags = (l->boxes_tested != 0 ? l->ray.box_flags : 0) |
                     (l->found.triangle_tests != 0 ? l->ray.triangle_flags : 0);
    l->found.done = !l->odd;
    *l->result = l->found;
    l->result = NULL;
}

/* The next ray that waits; false when there is none. */
INLINE bool start(struct plan *plan, struct lane *l)
{
    while (plan->next < plan->count) {
        const size_t i = plan->next++;
        uint32_t elements[FACET_RT_RAY_ELEMENTS];

        memcpy(elements, plan->entries + i * FACET_RT_FAST_RAY_BYTES, sizeof elements);
        if (!ray_make(&plan->scene->numbers, elements, &l->ray)) {
            plan->results[i].done = false;
            continue;
        }
        memset(&l->found, 0, sizeof l->found);
        l->result = &plan->results[i];
        l->tmax = l->ray.tmax;
        l->reference = 0; /* the root */
        l->steps = 0;
        l->boxes_tested = 0;
        l->odd = false;
        l->top = l->stack;
        return true;
    }
    return false;
}

INLINE void
visit_node(const struct plan *plan, const struct lane *l, const bool node8, struct children *c)
{
    const uint8_t *const tile = plan->heap + (uint64_t)(l->reference >> 1) * TILE;

    test_children(&l->ray, l->tmax, tile, node8, false, c);
    if (__builtin_expect(l->ray.parallel != 0, 0)) {
        test_children(&l->ray, l->tmax, tile, node8, true, c);
    }
}

INLINE void travel(struct plan *plan, const bool node8)
{
    struct lane lanes[LANES];
    struct children c[LANES];
    unsigned busy = 0;

    for (unsigned k = 0; k < LANES; k++) {
        lanes[k].result = NULL;
        busy += start(plan, &lanes[k]);
    }
    while (busy == LANES) {
        for (unsigned k = 0; k < LANES; k++) {
            visit_node(plan, &lanes[k], node8, &c[k]);
        }
        for (unsigned k = 0; k < LANES; k++) {
            if (!advance(plan, &lanes[k], &c[k])) {
                finish(lanes, &lanes[k]);
                busy -= !start(plan, &lanes[k]);
            }
        }
    }
    for (unsigned k = 0; k < LANES; k++) { /* the last ones */
        while (lanes[k].result != NULL) {
            visit_node(plan, &lanes[k], node8, &c[0]);
            if (!advance(plan, &lanes[k], &c[0])) {
                finish(lanes, &lanes[k]);
            }
        }
    }
}

/* Apart, so that nothing is moved across the questions for exceptions. */
TARGET static __attribute__((noinline)) void travel4(struct plan *plan)
{
    travel(plan, false);
}

TARGET static __attribute__((noinline)) void travel8(struct plan *plan)
{
    travel(plan, true);
}

bool facet_rt_fast_available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

TARGET void facet_rt_fast_rays(const struct facet_rt_fast_scene *scene,
                               const uint8_t *entries,
                               size_t count,
                               struct facet_rt_fast_result *results)
{
    struct plan plan = {.entries = entries, .results = results, .count = count};

    if (!plan_make(scene, &plan)) {
        memset(results, 0, count * sizeof *results);
        return;
    }
    _mm_setcsr(_mm_getcsr() & ~(unsigned)CSR_FLAGS);
    if (scene->node8) {
        travel8(&plan);
    } else {
        travel4(&plan);
    }
}

/* ---- single tests ------------------------------------------------------------------------------
 */

TARGET static __attribute__((noinline)) bool
make_alone(const struct facet_rt_numbers *n, const struct facet_rt_ray *ray, struct ray *out)
{
    const uint32_t elements[FACET_RT_RAY_ELEMENTS] = {
        ray->o[0], ray->o[1], ray->o[2], ray->d[0], ray->d[1], ray->d[2], ray->tmin, ray->tmax};

    _mm_setcsr(_mm_getcsr() & ~(unsigned)CSR_FLAGS);
    return ray_make(n, elements, out);
}

TARGET static __attribute__((noinline)) void
children_alone(const struct ray *ray, const uint8_t *tile, bool node8, struct children *out)
{
    if (ray->parallel != 0) {
        test_children(ray, ray->tmax, tile, node8, true, out);
    } else {
        test_children(ray, ray->tmax, tile, node8, false, out);
    }
}

TARGET void facet_rt_fast_children(const struct facet_rt_numbers *n,
                                   const struct facet_rt_ray *ray,
                                   const uint8_t *tile,
                                   bool node8,
                                   struct facet_rt_fast_boxes *out)
{
    uint32_t references[8];
    struct children c;
    struct ray made;

    memset(out, 0, sizeof *out);
    if (!make_alone(n, ray, &made)) {
        return;
    }
    children_alone(&made, tile, node8, &c);
    out->done = take_exceptions() == 0 && !c.odd;
    out->flags = c.tested != 0 ? made.box_flags : 0;
    out->used = c.used;
    out->hit = c.hit;
    _mm256_storeu_ps(out->near, c.near);
    _mm256_storeu_si256((__m256i *)references, c.reference);
    for (unsigned i = 0; i < 8; i++) {
        out->index[i] = references[i] >> 1;
        out->leaf |= (references[i] & 1 & c.hit >> i) << i;
    }
}

TARGET static __attribute__((noinline)) void triangles_alone(const struct ray *ray,
                                                             const struct facet_rt_options *options,
                                                             const uint8_t *const at[4],
                                                             unsigned mask,
                                                             struct facets *out)
{
    test_triangles(ray, options, ray->tmax, at, mask, out);
}

TARGET static __attribute__((noinline)) void
hits_alone(const struct ray *ray, const struct facets *f, struct facet_rt_fast_facet *out)
{
    for (unsigned left = f->hit; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const struct hit hit = hit_of(ray, f, lane);

        out->front |= (unsigned)hit.front << lane;
        out->t[lane] = bits_of(hit.t);
        out->u[lane] = bits_of(hit.u);
        out->v[lane] = bits_of(hit.v);
    }
}

TARGET void facet_rt_fast_triangles(const struct facet_rt_numbers *n,
                                    const struct facet_rt_ray *ray,
                                    const struct facet_rt_options *options,
                                    const uint8_t *triangles,
                                    unsigned count,
                                    struct facet_rt_fast_facet *out)
{
    const uint8_t *at[4];
    struct facets f;
    struct ray made;

    memset(out, 0, sizeof *out);
    if (!make_alone(n, ray, &made)) {
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        at[i] = triangles + (size_t)TRIANGLE * (i < count ? i : 0);
    }
    triangles_alone(&made, options, at, (1u << count) - 1, &f);
    out->hit = f.hit;
    out->flags = made.triangle_flags;
    hits_alone(&made, &f, out);
    out->done = take_exceptions() == 0 && !f.odd;
}

#else /* nothing is done here */

#include <string.h>

bool facet_rt_fast_available(void)
{
    return false;
}

void facet_rt_fast_rays(const struct facet_rt_fast_scene *scene,
                        const uint8_t *entries,
                        size_t count,
                        struct facet_rt_fast_result *results)
{
    (void)scene;
    (void)entries;
    memset(results, 0, count * sizeof *results);
}

void facet_rt_fast_children(const struct facet_rt_numbers *n,
                            const struct facet_rt_ray *ray,
                            const uint8_t *tile,
                            bool node8,
                            struct facet_rt_fast_boxes *out)
{
    (void)n;
    (void)ray;
    (void)tile;
    (void)node8;
    memset(out, 0, sizeof *out);
}

void facet_rt_fast_triangles(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_options *options,
                             const uint8_t *triangles,
                             unsigned count,
                             struct facet_rt_fast_facet *out)
{
    (void)n;
    (void)ray;
    (void)options;
    (void)triangles;
    (void)count;
    memset(out, 0, sizeof *out);
}

#endif
