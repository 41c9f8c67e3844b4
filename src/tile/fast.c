/* Handlers with host SIMD for the rows that kernels spend their time in. Each gives the results and
 * flags of its plain twin; what it cannot prove it leaves to the twin.
 *
 * FP32 (tile-semantics.md 5): with RM = 0 and FTZ = 0 the host's operation is the exact result
 * rounded to nearest even, subnormals kept. An operand that is not finite makes the result not
 * finite, so one look at the result finds overflow and all special operands. A sum that is
 * subnormal is exact; a product or fused result is certainly not tiny when it lies above the
 * smallest normal number, or when the product is an exact zero. NX matters only while fstatus.NX is
 * clear: then the result must be shown to be exact. Nothing here looks at the host's FP
 * environment. */
#include "tile/exec_vec.h"

#if (defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))) || defined(__wasm_simd128__)

#include <immintrin.h> /* of WebAssembly: wasm/include */

#ifdef __x86_64__
#define TARGET(name) __attribute__((target(name)))
#define HOST_HAS(name) __builtin_cpu_supports(name)
#else
#define TARGET(name)
#define HOST_HAS(name) true
#endif

#define LOAD_I(v) _mm_load_si128((const __m128i *)(const void *)&(v))
#define LOAD_F(v) _mm_castsi128_ps(LOAD_I(v))
#define STORE_I(v, x) _mm_store_si128((__m128i *)(void *)&(v), x)
#define STORE_F(v, x) STORE_I(v, _mm_castps_si128(x))

#define FAST(name)                                                                                 \
    static const struct facet_tile_insn *fast_##name(struct facet_tile_core *c,                    \
                                                     const struct facet_tile_insn *op)
#define FAST_FMA(name) TARGET("fma") FAST(name)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- FP32: what can be shown ---- */

/* RM = 0, FTZ = 0. */
static inline bool simple(const struct facet_tile_core *c)
{
    return (c->r.config & (FACET_CONFIG_RM | FACET_CONFIG_FTZ)) == 0;
}

static inline bool has_nx(const struct facet_tile_core *c)
{
    return (c->r.fflags & FACET_NX) != 0;
}

static inline __m128i magnitude(__m128 x)
{
    return _mm_and_si128(_mm_castps_si128(x), _mm_set1_epi32(0x7FFFFFFF));
}

static inline __m128i not_finite(__m128 x)
{
    return _mm_cmpgt_epi32(magnitude(x), _mm_set1_epi32(0x7F7FFFFF));
}

static inline bool any(__m128i mask)
{
    return _mm_movemask_epi8(mask) != 0;
}

static inline __m128i is_zero(__m128 x)
{
    return _mm_castps_si128(_mm_cmpeq_ps(x, _mm_setzero_ps()));
}

/* Whether nothing is certain about some lane of a product or fused result: it is not above the
 * smallest normal number, or not finite. One comparison does both by moving the range to the bottom
 * of the signed numbers. */
static inline bool doubtful(__m128 result, __m128 a, __m128 b)
{
    const __m128i first = _mm_set1_epi32(0x00800001),
                  count = _mm_set1_epi32(0x7F7FFFFF - 0x00800001);
    const __m128i sign = _mm_set1_epi32(INT32_MIN);
    __m128i m = magnitude(result);
    __m128i outside =
        _mm_cmpgt_epi32(_mm_add_epi32(_mm_sub_epi32(m, first), sign), _mm_add_epi32(count, sign));

    if (__builtin_expect(!any(outside), 1)) {
        return false;
    }
    outside = _mm_andnot_si128(_mm_or_si128(is_zero(a), is_zero(b)), outside);
    return any(_mm_or_si128(outside, not_finite(result)));
}

static inline __m128d low(__m128 x)
{
    return _mm_cvtps_pd(x);
}

static inline __m128d high(__m128 x)
{
    return _mm_cvtps_pd(_mm_movehl_ps(x, x));
}

static inline bool all_equal(__m128d a, __m128d b)
{
    return _mm_movemask_pd(_mm_cmpeq_pd(a, b)) == 3;
}

/* sum = a + b without an error (Knuth's two-sum). */
static inline bool exact_sum(__m128 a, __m128 b, __m128 sum)
{
    __m128 part = _mm_sub_ps(sum, a);
    __m128 error = _mm_add_ps(_mm_sub_ps(a, _mm_sub_ps(sum, part)), _mm_sub_ps(b, part));

    return _mm_movemask_ps(_mm_cmpeq_ps(error, _mm_setzero_ps())) == 15;
}

/* Products of two FP32 numbers are exact in FP64. */
static inline bool exact_product(__m128 a, __m128 b, __m128 product)
{
    return all_equal(_mm_mul_pd(low(a), low(b)), low(product)) &&
           all_equal(_mm_mul_pd(high(a), high(b)), high(product));
}

static inline bool exact_half(__m128d a, __m128d b, __m128d d, __m128d result)
{
    __m128d product = _mm_mul_pd(a, b), sum = _mm_add_pd(product, d);
    __m128d part = _mm_sub_pd(sum, product);
    __m128d error = _mm_add_pd(_mm_sub_pd(product, _mm_sub_pd(sum, part)), _mm_sub_pd(d, part));

    return all_equal(error, _mm_setzero_pd()) && all_equal(sum, result);
}

static inline bool exact_fused(__m128 a, __m128 b, __m128 d, __m128 result)
{
    return exact_half(low(a), low(b), low(d), low(result)) &&
           exact_half(high(a), high(b), high(d), high(result));
}

/* ---- FP32 arithmetic ---- */

FAST(VADD_F32)
{
    __m128 a = LOAD_F(VS1), b = LOAD_F(VS2), r = _mm_add_ps(a, b);

    if (UNLIKELY(!simple(c) || any(not_finite(r)) || (!has_nx(c) && !exact_sum(a, b, r)))) {
        return facet_tile_x_VADD_F32(c, op);
    }
    STORE_F(c->r.v[op->rd], r);
    return op + 1;
}

FAST(VSUB_F32)
{
    __m128 a = LOAD_F(VS1), b = LOAD_F(VS2), r = _mm_sub_ps(a, b);

    if (UNLIKELY(!simple(c) || any(not_finite(r)) ||
                 (!has_nx(c) && !exact_sum(a, _mm_xor_ps(b, _mm_set1_ps(-0.0F)), r)))) {
        return facet_tile_x_VSUB_F32(c, op);
    }
    STORE_F(c->r.v[op->rd], r);
    return op + 1;
}

FAST(VMUL_F32)
{
    __m128 a = LOAD_F(VS1), b = LOAD_F(VS2), r = _mm_mul_ps(a, b);

    if (UNLIKELY(!simple(c) || doubtful(r, a, b) || (!has_nx(c) && !exact_product(a, b, r)))) {
        return facet_tile_x_VMUL_F32(c, op);
    }
    STORE_F(c->r.v[op->rd], r);
    return op + 1;
}

FAST_FMA(VFMA_F32)
{
    __m128 a = LOAD_F(VS1), b = LOAD_F(VS2), d = LOAD_F(OLD_VD), r = _mm_fmadd_ps(a, b, d);

    if (UNLIKELY(!simple(c) || doubtful(r, a, b) || (!has_nx(c) && !exact_fused(a, b, d, r)))) {
        return facet_tile_x_VFMA_F32(c, op);
    }
    STORE_F(c->r.v[op->rd], r);
    return op + 1;
}

/* The four partial sums are looked at together. */
FAST_FMA(VDOT_F32)
{
    __m128 a = LOAD_F(VS1), b = LOAD_F(VS2);
    __m128 a1 = _mm_shuffle_ps(a, a, 1), b1 = _mm_shuffle_ps(b, b, 1);
    __m128 a2 = _mm_movehl_ps(a, a), b2 = _mm_movehl_ps(b, b);
    __m128 a3 = _mm_shuffle_ps(a, a, 3), b3 = _mm_shuffle_ps(b, b, 3);
    __m128 r0 = _mm_mul_ss(a, b), r1 = _mm_fmadd_ss(a1, b1, r0), r2 = _mm_fmadd_ss(a2, b2, r1);
    __m128 r3 = _mm_fmadd_ss(a3, b3, r2);
    __m128 all = _mm_movelh_ps(_mm_unpacklo_ps(r0, r1), _mm_unpacklo_ps(r2, r3));

    if (UNLIKELY(!simple(c) || !has_nx(c) || doubtful(all, a, b))) {
        return facet_tile_x_VDOT_F32(c, op);
    }
    c->r.s[op->rd] = (uint32_t)_mm_cvtsi128_si32(_mm_castps_si128(r3));
    return op + 1;
}

/* 1/x is exact for a power of two alone. */
FAST(VRCP_F32)
{
    __m128 a = LOAD_F(VS1), r = _mm_div_ps(_mm_set1_ps(1.0F), a);
    __m128i fraction = _mm_and_si128(_mm_castps_si128(a), _mm_set1_epi32(0x007FFFFF));
    bool exact = _mm_movemask_epi8(_mm_cmpeq_epi32(fraction, _mm_setzero_si128())) == 0xFFFF;

    if (UNLIKELY(!simple(c) || doubtful(r, r, r) || (!has_nx(c) && !exact))) {
        return facet_tile_x_VRCP_F32(c, op);
    }
    STORE_F(c->r.v[op->rd], r);
    return op + 1;
}

/* 1/sqrt in FP64 has an error below 2^-51 of its value; when both ends of that interval round to
 * one FP32 number, that is the correctly rounded one. */
static inline bool round_both(__m128d y, __m128 *r)
{
    const __m128d down = _mm_set1_pd(1 - 0x1p-50), up = _mm_set1_pd(1 + 0x1p-50);
    __m128 a = _mm_cvtpd_ps(_mm_mul_pd(y, down)), b = _mm_cvtpd_ps(_mm_mul_pd(y, up));

    *r = a;
    return (_mm_movemask_ps(_mm_cmpeq_ps(a, b)) & 3) == 3;
}

FAST(VRSQRT_F32)
{
    const __m128d one = _mm_set1_pd(1.0);
    __m128 a = LOAD_F(VS1), r0, r1, r;
    bool sure = round_both(_mm_div_pd(one, _mm_sqrt_pd(low(a))), &r0) &&
                round_both(_mm_div_pd(one, _mm_sqrt_pd(high(a))), &r1);

    if (UNLIKELY(!simple(c) || !has_nx(c) || !sure)) {
        return facet_tile_x_VRSQRT_F32(c, op);
    }
    r = _mm_movelh_ps(r0, r1);
    if (UNLIKELY(doubtful(r, r, r))) { /* a zero or an infinity */
        return facet_tile_x_VRSQRT_F32(c, op);
    }
    STORE_F(c->r.v[op->rd], r);
    return op + 1;
}

/* ---- FP32 compares, minimum, maximum: no NaN, FTZ = 0 ---- */

static inline bool comparable(const struct facet_tile_core *c, __m128 a, __m128 b)
{
    return (c->r.config & FACET_CONFIG_FTZ) == 0 && _mm_movemask_ps(_mm_cmpunord_ps(a, b)) == 0;
}

#define COMPARE(name, relation)                                                                    \
    FAST(VCMP_##name##_F32)                                                                        \
    {                                                                                              \
        __m128 a = LOAD_F(VS1), b = LOAD_F(VS2);                                                   \
                                                                                                   \
        if (UNLIKELY(!comparable(c, a, b))) {                                                      \
            return facet_tile_x_VCMP_##name##_F32(c, op);                                          \
        }                                                                                          \
        c->r.s[op->rd] = (uint32_t)_mm_movemask_ps(relation(a, b));                                \
        return op + 1;                                                                             \
    }                                                                                              \
    FAST(VCMPV_##name##_F32)                                                                       \
    {                                                                                              \
        __m128 a = LOAD_F(VS1), b = LOAD_F(VS2);                                                   \
                                                                                                   \
        if (UNLIKELY(!comparable(c, a, b))) {                                                      \
            return facet_tile_x_VCMPV_##name##_F32(c, op);                                         \
        }                                                                                          \
        STORE_F(c->r.v[op->rd], relation(a, b));                                                   \
        return op + 1;                                                                             \
    }

COMPARE(EQ, _mm_cmpeq_ps)
COMPARE(LT, _mm_cmplt_ps)
COMPARE(GT, _mm_cmpgt_ps)

/* -0 and +0 are equal to the host: the twin decides. */
#define EXTREME(name, operation)                                                                   \
    FAST(name##_F32)                                                                               \
    {                                                                                              \
        __m128 a = LOAD_F(VS1), b = LOAD_F(VS2);                                                   \
        __m128i zeros = _mm_and_si128(is_zero(a), is_zero(b));                                     \
                                                                                                   \
        if (UNLIKELY(!comparable(c, a, b) || any(zeros))) {                                        \
            return facet_tile_x_##name##_F32(c, op);                                               \
        }                                                                                          \
        STORE_F(c->r.v[op->rd], operation(a, b));                                                  \
        return op + 1;                                                                             \
    }

EXTREME(VMIN, _mm_min_ps)
EXTREME(VMAX, _mm_max_ps)

/* ---- conversions between I32 and F32 ---- */

FAST(VCVT_F32_I32)
{
    __m128i a = LOAD_I(VS1);
    __m128 r = _mm_cvtepi32_ps(a);
    bool exact = _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_cvttps_epi32(r), a)) == 0xFFFF;

    if (UNLIKELY(!simple(c) || (!has_nx(c) && !exact))) {
        return facet_tile_x_VCVT_F32_I32(c, op);
    }
    STORE_F(c->r.v[op->rd], r);
    return op + 1;
}

/* The host answers 0x80000000 when a lane is out of range. */
FAST(VCVT_I32_F32)
{
    __m128 a = LOAD_F(VS1);
    __m128i r = _mm_cvtps_epi32(a);
    bool outside = any(_mm_cmpeq_epi32(r, _mm_set1_epi32(INT32_MIN)));
    bool exact = _mm_movemask_ps(_mm_cmpeq_ps(_mm_cvtepi32_ps(r), a)) == 15;

    if (UNLIKELY(!simple(c) || outside || (!has_nx(c) && !exact))) {
        return facet_tile_x_VCVT_I32_F32(c, op);
    }
    STORE_I(c->r.v[op->rd], r);
    return op + 1;
}

/* ---- integers: wrapping, or nothing out of range ---- */

/* The sign bits of `overflow` say which lanes left their range. */
#define SUM(name, width, operation, overflow)                                                      \
    FAST(name##_I##width)                                                                          \
    {                                                                                              \
        __m128i a = LOAD_I(VS1), b = LOAD_I(VS2), r = operation##width(a, b);                      \
        __m128i out = overflow;                                                                    \
        __m128i sign = _mm_and_si128(out, _mm_set1_epi##width((int##width##_t)SIGN##width));       \
                                                                                                   \
        if (UNLIKELY(_mm_movemask_epi8(_mm_cmpeq_epi8(sign, _mm_setzero_si128())) != 0xFFFF)) {    \
            return facet_tile_x_##name##_I##width(c, op);                                          \
        }                                                                                          \
        STORE_I(c->r.v[op->rd], r);                                                                \
        return op + 1;                                                                             \
    }
#define SIGN32 INT32_MIN
#define SIGN16 INT16_MIN
#define SIGN8 INT8_MIN
#define ADD_OVERFLOW _mm_and_si128(_mm_xor_si128(a, r), _mm_xor_si128(b, r))
#define SUB_OVERFLOW _mm_and_si128(_mm_xor_si128(a, b), _mm_xor_si128(a, r))

SUM(VADD, 32, _mm_add_epi, ADD_OVERFLOW)
SUM(VADD, 16, _mm_add_epi, ADD_OVERFLOW)
SUM(VADD, 8, _mm_add_epi, ADD_OVERFLOW)
SUM(VSUB, 32, _mm_sub_epi, SUB_OVERFLOW)
SUM(VSUB, 16, _mm_sub_epi, SUB_OVERFLOW)
SUM(VSUB, 8, _mm_sub_epi, SUB_OVERFLOW)

FAST(VMUL_I16)
{
    __m128i a = LOAD_I(VS1), b = LOAD_I(VS2);
    __m128i r = _mm_mullo_epi16(a, b), top = _mm_mulhi_epi16(a, b);

    if (UNLIKELY(_mm_movemask_epi8(_mm_cmpeq_epi16(top, _mm_srai_epi16(r, 15))) != 0xFFFF)) {
        return facet_tile_x_VMUL_I16(c, op);
    }
    STORE_I(c->r.v[op->rd], r);
    return op + 1;
}

#define MULTIPLY(name, expression)                                                                 \
    FAST(name)                                                                                     \
    {                                                                                              \
        union facet_tile_vec result;                                                               \
        int64_t out = 0;                                                                           \
                                                                                                   \
        for (unsigned i = 0; i < 4; i++) {                                                         \
            int64_t a = (int32_t)VS1.w[i], b = (int32_t)VS2.w[i], d = (int32_t)OLD_VD.w[i];        \
            int64_t x = expression;                                                                \
                                                                                                   \
            (void)d;                                                                               \
            result.w[i] = (uint32_t)x;                                                             \
            out |= x ^ (int32_t)x;                                                                 \
        }                                                                                          \
        if (UNLIKELY(out != 0)) {                                                                  \
            return facet_tile_x_##name(c, op);                                                     \
        }                                                                                          \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }

MULTIPLY(VMUL_I32, a *b)
MULTIPLY(VMAC_I32, a *b + d)

#define LOGIC(name, operation)                                                                     \
    FAST(name)                                                                                     \
    {                                                                                              \
        STORE_I(c->r.v[op->rd], operation(LOAD_I(VS1), LOAD_I(VS2)));                              \
        return op + 1;                                                                             \
    }

LOGIC(VAND, _mm_and_si128)
LOGIC(VOR, _mm_or_si128)
LOGIC(VXOR, _mm_xor_si128)

#define MASK32(name, relation)                                                                     \
    FAST(VCMP_##name##_I32)                                                                        \
    {                                                                                              \
        __m128i r = relation(LOAD_I(VS1), LOAD_I(VS2));                                            \
                                                                                                   \
        c->r.s[op->rd] = (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(r));                           \
        return op + 1;                                                                             \
    }

MASK32(EQ, _mm_cmpeq_epi32)
MASK32(LT, _mm_cmplt_epi32)
MASK32(GT, _mm_cmpgt_epi32)

/* ---- selects ---- */

static inline void select32(struct facet_tile_core *c,
                            const struct facet_tile_insn *op,
                            const union facet_tile_vec *otherwise)
{
    const __m128i bits = _mm_setr_epi32(1, 2, 4, 8);
    uint32_t invert = (c->r.config & FACET_CONFIG_PINV) != 0 ? UINT32_MAX : 0;
    __m128i mask = _mm_set1_epi32((int32_t)(c->r.s[op->rs2] ^ invert));
    __m128i chosen = _mm_cmpeq_epi32(_mm_and_si128(mask, bits), bits);

    STORE_I(c->r.v[op->rd],
            _mm_or_si128(_mm_and_si128(chosen, LOAD_I(VS1)),
                         _mm_andnot_si128(chosen, LOAD_I(*otherwise))));
}

FAST(VSEL_32)
{
    select32(c, op, &VS2);
    return op + 1;
}

FAST(VSELD_32)
{
    select32(c, op, &OLD_VD);
    return op + 1;
}

/* ---- swizzles of 32-bit lanes ---- */

/* Four 2-bit selectors to four bytes, then to four lanes. */
TARGET("avx")
static inline void
swizzle32(struct facet_tile_core *c, const struct facet_tile_insn *op, uint32_t pattern)
{
    uint32_t x = pattern & 0xFF;

    x = (x | x << 12) & 0x000F000F;
    x = (x | x << 6) & 0x03030303;
    STORE_F(c->r.v[op->rd],
            _mm_permutevar_ps(LOAD_F(VS1), _mm_cvtepu8_epi32(_mm_cvtsi32_si128((int32_t)x))));
}

TARGET("avx") FAST(VSHUF)
{
    swizzle32(c, op, (uint32_t)op->imm);
    return op + 1;
}

TARGET("avx") FAST(VSWIZ_32)
{
    swizzle32(c, op, c->r.s[op->rs2]);
    return op + 1;
}

/* ---- the table ---- */

/* Rows whose handler needs more than every x86-64 has. */
static facet_tile_fn *newer_handler(unsigned row)
{
    const bool fma = HOST_HAS("fma"), avx = HOST_HAS("avx");

    switch (row) {
    case FACET_TILE_VFMA_F32:
        return fma ? fast_VFMA_F32 : NULL;
    case FACET_TILE_VDOT_F32:
        return fma ? fast_VDOT_F32 : NULL;
    case FACET_TILE_VSHUF:
        return avx ? fast_VSHUF : NULL;
    case FACET_TILE_VSWIZ_I32:
    case FACET_TILE_VSWIZ_F32:
        return avx ? fast_VSWIZ_32 : NULL;
    default:
        return NULL;
    }
}

facet_tile_fn *facet_tile_fast_handler(unsigned row)
{
    static facet_tile_fn *const handlers[FACET_TILE_OP_COUNT] = {
        [FACET_TILE_VADD_F32] = fast_VADD_F32,
        [FACET_TILE_VSUB_F32] = fast_VSUB_F32,
        [FACET_TILE_VMUL_F32] = fast_VMUL_F32,
        [FACET_TILE_VRCP_F32] = fast_VRCP_F32,
        [FACET_TILE_VRSQRT_F32] = fast_VRSQRT_F32,
        [FACET_TILE_VCMP_EQ_F32] = fast_VCMP_EQ_F32,
        [FACET_TILE_VCMP_LT_F32] = fast_VCMP_LT_F32,
        [FACET_TILE_VCMP_GT_F32] = fast_VCMP_GT_F32,
        [FACET_TILE_VCMPV_EQ_F32] = fast_VCMPV_EQ_F32,
        [FACET_TILE_VCMPV_LT_F32] = fast_VCMPV_LT_F32,
        [FACET_TILE_VCMPV_GT_F32] = fast_VCMPV_GT_F32,
        [FACET_TILE_VMIN_F32] = fast_VMIN_F32,
        [FACET_TILE_VMAX_F32] = fast_VMAX_F32,
        [FACET_TILE_VCVT_F32_I32] = fast_VCVT_F32_I32,
        [FACET_TILE_VCVT_I32_F32] = fast_VCVT_I32_F32,
        [FACET_TILE_VADD_I32] = fast_VADD_I32,
        [FACET_TILE_VADD_I16] = fast_VADD_I16,
        [FACET_TILE_VADD_I8] = fast_VADD_I8,
        [FACET_TILE_VSUB_I32] = fast_VSUB_I32,
        [FACET_TILE_VSUB_I16] = fast_VSUB_I16,
        [FACET_TILE_VSUB_I8] = fast_VSUB_I8,
        [FACET_TILE_VMUL_I32] = fast_VMUL_I32,
        [FACET_TILE_VMUL_I16] = fast_VMUL_I16,
        [FACET_TILE_VMAC_I32] = fast_VMAC_I32,
        [FACET_TILE_VAND] = fast_VAND,
        [FACET_TILE_VOR] = fast_VOR,
        [FACET_TILE_VXOR] = fast_VXOR,
        [FACET_TILE_VCMP_EQ_I32] = fast_VCMP_EQ_I32,
        [FACET_TILE_VCMP_LT_I32] = fast_VCMP_LT_I32,
        [FACET_TILE_VCMP_GT_I32] = fast_VCMP_GT_I32,
        [FACET_TILE_VSEL_I32] = fast_VSEL_32,
        [FACET_TILE_VSEL_F32] = fast_VSEL_32,
        [FACET_TILE_VSELD_I32] = fast_VSELD_32,
        [FACET_TILE_VSELD_F32] = fast_VSELD_32,
    };

    return handlers[row] != NULL ? handlers[row] : newer_handler(row);
}

#else

facet_tile_fn *facet_tile_fast_handler(unsigned row)
{
    (void)row;
    return NULL;
}

#endif
