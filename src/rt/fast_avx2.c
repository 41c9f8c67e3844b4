/* See fast.h. Every operation is the one of the contract, in its order and rounded by itself; FMA
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
 * Near and far planes are told apart by the sign of the direction: rounding is monotonic, so with
 * min <= max the product of the nearer plane is never larger. When they are equal their zeros may
 * differ in sign, which no comparison sees. */
#include "rt/fast.h"

#if defined(__x86_64__)

#include "base/bits.h"
#include "num/accum.h"
#include "rt/decoded.h"
#include "rt/fp32.h"
#include "rt/layout.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma,bmi,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define APART TARGET static __attribute__((noinline))
#define RARELY(condition) __builtin_expect(condition, 0)

enum {
    TILE = 128,
    TRIANGLE = 4 * FACET_RT_TRIANGLE_ELEMENTS,
    MAX_STACK = 256,
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

/* ---- the ray -----------------------------------------------------------------------------------
 */

static uint8_t quotient_flags(const struct facet_rt_numbers *n, uint32_t a, uint32_t b)
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
        if (facet_rt_magnitude(bits_of(ray->inverse[a])) == FACET_RT_INF) {
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
    const __m128 d = _mm_blend_ps(_mm_loadu_ps((const float *)(entry + 12)), one, 8);
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
    _mm_store_ps(shear, _mm_div_ps(d, _mm_set1_ps(number(e[3 + kz]))));
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
    ray->tmin = number(tmin);
    ray->tmax = number(e[7]);
    if (RARELY(wild)) {
        __asm__ volatile("" : : : "memory"); /* divided before the flags go back */
        _mm_setcsr(csr);
        tell_flags(n, e + 3, ray);
        return facet_rt_magnitude(bits_of(ray->sz)) < FACET_RT_INF;
    }
    return true;
}

/* ---- boxes -------------------------------------------------------------------------------------
 */

/* What all visits of a ray have in common. */
struct slabs {
    __m256 o[3], inverse[3], tmin;
    size_t near[3]; /* offsets of planes in a node */
};

INLINE void slabs_make(const struct ray *ray, struct slabs *s)
{
    for (unsigned a = 0; a < 3; a++) {
        s->o[a] = _mm256_set1_ps(ray->o[a]);
        s->inverse[a] = _mm256_set1_ps(ray->inverse[a]);
        s->near[a] = (2 * a + (ray->negative >> a & 1u)) * sizeof(__m256);
    }
    s->tmin = _mm256_set1_ps(ray->tmin);
}

INLINE __m256 cross(const struct slabs *s, unsigned a, const struct facet_rt_node *node, size_t at)
{
    const __m256 plane = _mm256_load_ps((const float *)((const char *)node->plane + at));

    return _mm256_mul_ps(_mm256_sub_ps(plane, s->o[a]), s->inverse[a]);
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
    } else { /* inside for ever, or never */
        const __m256 inf = _mm256_set1_ps(__builtin_inff()), sign = _mm256_set1_ps(-0.0f);
        const __m256 min = _mm256_load_ps(node->plane[2 * a]);
        const __m256 max = _mm256_load_ps(node->plane[2 * a + 1]);
        const __m256 inside = _mm256_and_ps(_mm256_cmp_ps(min, s->o[a], _CMP_LE_OQ),
                                            _mm256_cmp_ps(s->o[a], max, _CMP_LE_OQ));

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
    keep = _mm_cmp_ps(magnitude4(det), _mm_set1_ps(number(options->eps)), _CMP_GT_OQ);
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
    __asm__ volatile("" : "+x"(out->u), "+x"(out->v)); /* divided, whoever uses them */
}

/* ---- traversal ---------------------------------------------------------------------------------
 */

/* The scene as pointers and counts, and the rays. */
struct plan {
    const struct facet_rt_fast_scene *scene;
    struct facet_rt_decoded *bvh;
    struct facet_rt_heap heap;
    facet_rt_reference root;
    uint64_t limit; /* of the tally */
    const uint8_t *entries;
    struct facet_rt_fast_result *results;
};

/* A ray on its way. */
struct walk {
    struct ray ray;
    struct facet_rt_fast_result *found;
    float tmax; /* the closest hit so far */
    bool odd;   /* not to be done here */
    uint64_t tally;
    uint64_t *top;
    /* Bits of the clamped near distance, which is not negative, over a reference. An end at the
     * bottom; push_all writes four where three are. */
    uint64_t stack[1 + MAX_STACK + 1];
};

/* false: no node can be read. */
static bool plan_make(const struct facet_rt_fast_scene *scene, struct plan *plan)
{
    if (!facet_rt_fast_heap(scene, &plan->heap)) {
        return false;
    }
    plan->scene = scene;
    plan->bvh = scene->bvh;
    plan->limit = scene->steps * FACET_RT_TALLY_STEP;
    plan->root = facet_rt_decoded_node(plan->bvh, &plan->heap, 0);
    return plan->root != FACET_RT_NOWHERE;
}

/* Takes the hits of up to four triangles into account. false: the ray ends with this one. */
INLINE bool take_hits(const struct facet_rt_fast_scene *scene,
                      struct walk *k,
                      const struct facets *f,
                      const struct facet_rt_leaf *leaf)
{
    struct facet_rt_fast_result *const found = k->found;
    _Alignas(16) float t[4];
    _Alignas(16) uint32_t u[4], v[4];

    _mm_store_ps(t, f->t);
    _mm_store_ps((float *)u, f->u);
    _mm_store_ps((float *)v, f->v);
    for (unsigned hit = f->hit; hit != 0; hit &= hit - 1) {
        const unsigned i = (unsigned)__builtin_ctz(hit);
        const uint32_t triangle = leaf->first + i;

        if (t[i] > k->tmax || (found->hit && t[i] == k->tmax &&
                               (triangle != found->triangle ? triangle > found->triangle
                                                            : leaf->index >= found->leaf))) {
            continue;
        }
        found->hit = true;
        found->front = ((f->positive >> i & 1) != 0) != k->ray.backward;
        found->t = bits_of(t[i]);
        found->u = u[i];
        found->v = v[i];
        found->triangle = triangle;
        found->leaf = leaf->index;
        k->tmax = t[i];
        if (scene->any_hit) {
            found->triangle_tests += i + 1;
            return false;
        }
    }
    return true;
}

/* Up to four triangles; false: the ray ends here. */
INLINE bool visit_four(const struct facet_rt_fast_scene *scene,
                       struct walk *k,
                       const struct facet_rt_leaf *leaf)
{
    const unsigned count = leaf->count < FACET_RT_QUAD ? leaf->count : FACET_RT_QUAD;
    struct facets f;

    test_triangles(&k->ray, &scene->options, k->tmax, leaf, (1u << count) - 1, &f);
    if (RARELY(f.odd)) {
        k->odd = true;
        return false;
    }
    if (f.hit != 0 && !take_hits(scene, k, &f, leaf)) {
        return false;
    }
    k->found->triangle_tests += count;
    k->tally += count * FACET_RT_TALLY_STEP;
    return true;
}

APART bool visit_leaf(const struct facet_rt_fast_scene *scene,
                      struct walk *k,
                      const struct facet_rt_leaf *leaf)
{
    bool go_on = visit_four(scene, k, leaf);

    while (RARELY(leaf->count > FACET_RT_QUAD) && go_on) {
        go_on = visit_four(scene, k, ++leaf);
    }
    return go_on;
}

/* The triangles of a range, NULL when they are not to be read here. */
static const uint8_t *
find(const struct facet_rt_area *area, uint64_t base, uint32_t first, uint32_t count)
{
    uint64_t offset = base - area->base, skip = (uint64_t)first * TRIANGLE;
    uint64_t size = (uint64_t)count * TRIANGLE;

    return offset <= area->size && skip + size <= area->size - offset ? area->bytes + offset + skip
                                                                      : NULL;
}

static const uint8_t *triangles_of(const struct facet_rt_fast_scene *scene,
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

/* A leaf that is not decoded: any base, any count. */
APART bool visit_range(const struct plan *plan, struct walk *k, uint32_t index)
{
    const uint8_t *const at = plan->heap.bytes + (uint64_t)index * FACET_RT_RANGE_BYTES;
    struct facet_rt_range range;
    const uint8_t *triangles;
    struct facet_rt_leaf leaf;
    bool go_on = true;

    if (index >= plan->heap.ranges) {
        k->odd = true;
        return false;
    }
    range = (struct facet_rt_range){
        facet_load_le32(at), facet_load_le32(at + 4), facet_load_le64(at + 8)};
    triangles = triangles_of(plan->scene, &range);
    if (range.count != 0 && (triangles == NULL || range.count > plan->scene->steps)) {
        k->odd = true;
        return false;
    }
    leaf.index = index;
    for (uint32_t i = 0; i < range.count && go_on; i += FACET_RT_QUAD) {
        leaf.first = range.first + i;
        leaf.count = range.count - i;
        facet_rt_decode_triangles(triangles + (uint64_t)i * TRIANGLE, leaf.count, &leaf);
        go_on = visit_four(plan->scene, k, &leaf);
    }
    return go_on;
}

INLINE uint64_t entry_of(uint32_t near, facet_rt_reference reference)
{
    return (uint64_t)near << 32 | reference;
}

/* Another thread may decode the child meanwhile; what it was before is as good. */
INLINE facet_rt_reference child_of(const struct facet_rt_node *node, unsigned c)
{
    return atomic_load_explicit(&node->child[c], memory_order_acquire);
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
push_all(uint64_t *top, unsigned hit, const uint32_t near[8], const struct facet_rt_node *node)
{
    const unsigned count = (unsigned)__builtin_popcount(hit);
    uint64_t *const bottom = top;

    if (count <= 4) {
        uint64_t key[4]; /* near, then child */

        for (unsigned i = 0; i < 3; i++, hit &= hit - 1) {
            const unsigned c = (unsigned)__builtin_ctz(hit);

            key[i] = entry_of(near[c], c);
        }
        key[3] = 0;
        if (count == 4) {
            const unsigned c = (unsigned)__builtin_ctz(hit);

            key[3] = entry_of(near[c], c);
        }
        order(&key[0], &key[1]);
        order(&key[2], &key[3]);
        order(&key[0], &key[2]);
        order(&key[1], &key[3]);
        order(&key[1], &key[2]);
        for (unsigned i = 0; i < 4; i++) {
            top[i] = entry_of((uint32_t)(key[i] >> 32), child_of(node, (uint32_t)key[i]));
        }
        return top + count;
    }
    for (; hit != 0; hit &= hit - 1) {
        const unsigned c = (unsigned)__builtin_ctz(hit);
        uint64_t *at = top++;

        for (; at > bottom && (uint32_t)(at[-1] >> 32) <= near[c]; at--) {
            at[0] = at[-1];
        }
        *at = entry_of(near[c], child_of(node, c));
    }
    return top;
}

/* From a node on through all nodes that follow, up to something else: a leaf, something that is not
 * decoded, or FACET_RT_NOWHERE for the end. */
INLINE facet_rt_reference descend(const struct plan *plan,
                                  struct walk *k,
                                  facet_rt_reference reference,
                                  const unsigned parallel)
{
    const char *const nodes = (const char *)plan->bvh->node;
    const uint64_t limit = plan->limit;
    uint64_t *const full = k->stack + 1 + plan->scene->stack;
    const __m256 tmax = _mm256_set1_ps(k->tmax);
    const uint32_t tmax_bits = bits_of(k->tmax);
    uint64_t *top = k->top, tally = k->tally;
    _Alignas(32) uint32_t near[8];
    struct slabs slabs;

    slabs_make(&k->ray, &slabs);
    do {
        const struct facet_rt_node *const node =
            (const struct facet_rt_node *)(nodes + (uint64_t)reference * 32);
        __m256 nears;
        const unsigned hit = test_children(&slabs, node, tmax, parallel, &nears);
        const unsigned rest = hit & (hit - 1);

        tally += node->tally;
        if (RARELY(tally >= limit)) {
            k->odd = true;
            return FACET_RT_NOWHERE;
        }
        if (hit == 0) {
            do {
                top--;
            } while ((uint32_t)(*top >> 32) > tmax_bits);
            reference = (facet_rt_reference)*top;
            continue;
        }
        const unsigned first = (unsigned)__builtin_ctz(hit);

        reference = child_of(node, first);
        if (rest == 0) {
            continue;
        }
        _mm256_store_si256((__m256i *)near, _mm256_castps_si256(nears));
        if (RARELY(top + __builtin_popcount(hit) > full)) {
            k->odd = true;
            return FACET_RT_NOWHERE;
        }
        if ((rest & (rest - 1)) == 0) {
            const unsigned second = (unsigned)__builtin_ctz(rest);
            const uint64_t a = entry_of(near[first], reference);
            const uint64_t b = entry_of(near[second], child_of(node, second));
            /* No branch: nobody could foresee it. */
            const uint64_t swap = (a ^ b) & (0 - (uint64_t)(near[second] < near[first]));

            *top++ = b ^ swap;
            reference = (facet_rt_reference)(a ^ swap);
        } else {
            top = push_all(top, hit, near, node) - 1;
            reference = (facet_rt_reference)*top;
        }
    } while ((reference & 1) == 0);
    k->top = top;
    k->tally = tally;
    return reference;
}

APART facet_rt_reference descend_plain(const struct plan *plan,
                                       struct walk *k,
                                       facet_rt_reference reference)
{
    return descend(plan, k, reference, 0);
}

APART facet_rt_reference descend_parallel(const struct plan *plan,
                                          struct walk *k,
                                          facet_rt_reference reference)
{
    return descend(plan, k, reference, k->ray.parallel);
}

/* What is not decoded. Afterwards *reference is that of a node, or 1 for nothing more to do. false:
 * the ray ends here. */
APART bool visit_new(const struct plan *plan, struct walk *k, facet_rt_reference *reference)
{
    const struct facet_rt_node *const parent = &plan->bvh->node[*reference >> 5];
    const unsigned c = *reference >> 2 & 7;

    *reference = facet_rt_decoded_child(plan->bvh, &plan->heap, *reference);
    if ((*reference & 1) == 0) {
        return true;
    }
    if (*reference != FACET_RT_NOWHERE) {
        return visit_leaf(plan->scene, k, &plan->bvh->leaf[*reference >> 2]);
    }
    if ((parent->leaves >> c & 1) == 0) {
        k->odd = true;
        return false;
    }
    *reference = 1;
    return visit_range(plan, k, parent->index[c]);
}

/* From the root to the end. */
INLINE void travel(const struct plan *plan, struct walk *k)
{
    facet_rt_reference reference = plan->root;

    k->tally = 0;
    k->top = k->stack + 1;
    k->stack[0] = FACET_RT_NOWHERE;
    for (;;) {
        reference = RARELY(k->ray.parallel != 0) ? descend_parallel(plan, k, reference)
                                                 : descend_plain(plan, k, reference);
        while ((reference & 1) != 0) {
            bool go_on;

            if (reference == FACET_RT_NOWHERE) {
                return;
            }
            if (RARELY((reference & 2) != 0)) {
                go_on = visit_new(plan, k, &reference);
            } else {
                go_on = visit_leaf(plan->scene, k, &plan->bvh->leaf[reference >> 2]);
            }
            if (!go_on) {
                return;
            }
            if (RARELY(k->tally >= plan->limit)) { /* also, so that the tally never overflows */
                k->odd = true;
                return;
            }
            if ((reference & 1) != 0) {
                do {
                    k->top--;
                } while ((uint32_t)(*k->top >> 32) > bits_of(k->tmax));
                reference = (facet_rt_reference)*k->top;
            }
        }
    }
}

/* Apart, so that nothing is moved across the questions for exceptions. */
APART void trace(const struct plan *plan, size_t first, size_t count)
{
    struct walk k;

    for (size_t i = first; i < first + count; i++) {
        struct facet_rt_fast_result *const found = &plan->results[i];

        memset(found, 0, sizeof *found);
        if (!ray_make(&plan->scene->numbers, plan->entries + i * FACET_RT_FAST_RAY_BYTES, &k.ray)) {
            continue;
        }
        k.found = found;
        k.tmax = k.ray.tmax;
        k.odd = false;
        travel(plan, &k);
        found->boxes = (uint32_t)(k.tally & FACET_RT_TALLY_BOXES);
        found->flags = ((k.tally & FACET_RT_TALLY_TESTED_MASK) != 0 ? k.ray.box_flags : 0u) |
                       (found->triangle_tests != 0 ? k.ray.triangle_flags : 0u);
        found->done = !k.odd;
    }
}

static void clear_exceptions(void)
{
    _mm_setcsr(_mm_getcsr() & ~(unsigned)CSR_FLAGS);
}

static bool some_exception(void)
{
    return (_mm_getcsr() & CSR_TOLD) != 0;
}

/* The host's flags are common to all rays; when one was raised, halves find out whose it was. */
static void trace_and_tell(const struct plan *plan, size_t first, size_t count)
{
    clear_exceptions();
    trace(plan, first, count);
    if (some_exception()) {
        if (count == 1) {
            plan->results[first].done = false;
        } else {
            trace_and_tell(plan, first, count / 2);
            trace_and_tell(plan, first + count / 2, count - count / 2);
        }
    }
}

bool facet_rt_fast_available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

void facet_rt_fast_rays(const struct facet_rt_fast_scene *scene,
                        const uint8_t *entries,
                        size_t count,
                        struct facet_rt_fast_result *results)
{
    struct plan plan = {.entries = entries, .results = results};

    if (count == 0 || !plan_make(scene, &plan)) {
        memset(results, 0, count * sizeof *results);
        return;
    }
    trace_and_tell(&plan, 0, count);
}

/* ---- single tests ------------------------------------------------------------------------------
 */

APART bool
make_alone(const struct facet_rt_numbers *n, const struct facet_rt_ray *ray, struct ray *out)
{
    const uint32_t elements[FACET_RT_RAY_ELEMENTS] = {
        ray->o[0], ray->o[1], ray->o[2], ray->d[0], ray->d[1], ray->d[2], ray->tmin, ray->tmax};
    uint8_t entry[FACET_RT_FAST_RAY_BYTES] = {0};

    memcpy(entry, elements, sizeof elements);
    return ray_make(n, entry, out);
}

APART unsigned
children_alone(const struct ray *ray, const struct facet_rt_node *node, float near[8])
{
    struct slabs slabs;
    __m256 nears;
    unsigned hit;

    slabs_make(ray, &slabs);
    hit = test_children(&slabs, node, _mm256_set1_ps(ray->tmax), ray->parallel, &nears);
    _mm256_storeu_ps(near, nears);
    return hit;
}

void facet_rt_fast_children(const struct facet_rt_numbers *n,
                            const struct facet_rt_ray *ray,
                            const uint8_t *tile,
                            bool node8,
                            struct facet_rt_fast_boxes *out)
{
    struct facet_rt_node node;
    struct ray made;

    memset(out, 0, sizeof *out);
    facet_rt_decode_node(tile, node8, 0, &node);
    if (!make_alone(n, ray, &made)) {
        return;
    }
    clear_exceptions();
    out->hit = children_alone(&made, &node, out->near);
    out->done = !some_exception() && node.tally < FACET_RT_MAX_STEPS * FACET_RT_TALLY_STEP;
    out->flags = (node.tally & FACET_RT_TALLY_TESTED_MASK) != 0 ? made.box_flags : 0;
    out->used = node.used;
    out->leaf = node.leaves & out->hit;
    memcpy(out->index, node.index, sizeof out->index);
}

APART void triangles_alone(const struct ray *ray,
                           const struct facet_rt_options *options,
                           const struct facet_rt_leaf *leaf,
                           unsigned mask,
                           struct facet_rt_fast_facet *out)
{
    struct facets f;

    test_triangles(ray, options, ray->tmax, leaf, mask, &f);
    out->done = !f.odd;
    out->hit = f.hit;
    if (f.hit != 0) {
        out->front = f.hit & (ray->backward ? ~f.positive : f.positive);
        _mm_storeu_ps((float *)out->t, f.t);
        _mm_storeu_ps((float *)out->u, f.u);
        _mm_storeu_ps((float *)out->v, f.v);
    }
}

void facet_rt_fast_triangles(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_options *options,
                             const uint8_t *triangles,
                             unsigned count,
                             struct facet_rt_fast_facet *out)
{
    struct facet_rt_leaf leaf;
    struct ray made;

    memset(out, 0, sizeof *out);
    facet_rt_decode_triangles(triangles, count, &leaf);
    if (!make_alone(n, ray, &made)) {
        return;
    }
    clear_exceptions();
    triangles_alone(&made, options, &leaf, (1u << count) - 1, out);
    out->flags = made.triangle_flags;
    out->done = out->done && !some_exception();
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
