/* Floating-point vector instructions and conversions (tile-semantics.md 5, 10). */
#include "tile/exec_vec.h"

/* ---- lane by lane ---- */

/* EXPR of patterns a, b, d with `fmt`, `env`, `flags`. */
#define LANES(name, type, expr)                                                                    \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        enum { WIDTH = FACET_WIDTH_##type };                                                       \
        const enum facet_format fmt = FACET_FORMAT_##type;                                         \
        struct facet_num_tile_env env = c->env;                                                    \
        unsigned flags = 0;                                                                        \
        union facet_tile_vec result;                                                               \
                                                                                                   \
        for (unsigned i = 0; i < 128 / WIDTH; i++) {                                               \
            uint32_t a = facet_tile_lane(&VS1, WIDTH, i), b = facet_tile_lane(&VS2, WIDTH, i);     \
            uint32_t d = facet_tile_lane(&OLD_VD, WIDTH, i);                                       \
                                                                                                   \
            (void)b, (void)d;                                                                      \
            facet_tile_set_lane(&result, WIDTH, i, expr);                                          \
        }                                                                                          \
        facet_tile_vector_flags(c, flags);                                                         \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }
#define THREE(MAKE, name, expr)                                                                    \
    MAKE(name##_F16, F16, expr) MAKE(name##_F8, F8, expr) MAKE(name##_F32, F32, expr)

THREE(LANES, VADD, facet_num_tile_add(fmt, a, b, env, &flags))
THREE(LANES, VSUB, facet_num_tile_sub(fmt, a, b, env, &flags))
THREE(LANES, VMUL, facet_num_tile_mul(fmt, a, b, env, &flags))
THREE(LANES, VFMA, facet_num_tile_fma(fmt, a, b, d, false, false, env, &flags))
THREE(LANES, VMIN, facet_num_tile_min(fmt, a, b, env, &flags))
THREE(LANES, VMAX, facet_num_tile_max(fmt, a, b, env, &flags))
THREE(LANES, VRCP, facet_num_tile_rcp(fmt, a, env, &flags))
THREE(LANES, VRSQRT, facet_num_tile_rsqrt(fmt, a, env, &flags))
THREE(LANES, VCMPV_EQ, facet_num_tile_eq(fmt, a, b, env, &flags) ? UINT32_MAX : 0)
THREE(LANES, VCMPV_LT, facet_num_tile_lt(fmt, a, b, env, &flags) ? UINT32_MAX : 0)
THREE(LANES, VCMPV_GT, facet_num_tile_gt(fmt, a, b, env, &flags) ? UINT32_MAX : 0)

#define ABS(name, type, unused)                                                                    \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        union facet_tile_vec result;                                                               \
                                                                                                   \
        for (unsigned i = 0; i < 128 / FACET_WIDTH_##type; i++) {                                  \
            facet_tile_set_lane(&result,                                                           \
                                FACET_WIDTH_##type,                                                \
                                i,                                                                 \
                                facet_tile_lane(&VS1, FACET_WIDTH_##type, i) &                     \
                                    ((UINT32_C(1) << (FACET_WIDTH_##type - 1)) - 1));              \
        }                                                                                          \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }

THREE(ABS, VABS, 0)

#define MASK(name, type, relation)                                                                 \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        enum { WIDTH = FACET_WIDTH_##type };                                                       \
        unsigned flags = 0;                                                                        \
        uint32_t mask = 0;                                                                         \
                                                                                                   \
        for (unsigned i = 0; i < 128 / WIDTH; i++) {                                               \
            mask |= (uint32_t)relation(FACET_FORMAT_##type,                                        \
                                       facet_tile_lane(&VS1, WIDTH, i),                            \
                                       facet_tile_lane(&VS2, WIDTH, i),                            \
                                       c->env,                                                     \
                                       &flags)                                                     \
                    << i;                                                                          \
        }                                                                                          \
        facet_tile_vector_flags(c, flags);                                                         \
        c->r.s[op->rd] = mask;                                                                     \
        return op + 1;                                                                             \
    }

THREE(MASK, VCMP_EQ, facet_num_tile_eq)
THREE(MASK, VCMP_LT, facet_num_tile_lt)
THREE(MASK, VCMP_GT, facet_num_tile_gt)

/* ---- across lanes: FP32 inside ---- */

/* A lane in FP32 by the VCVT rule; an FP32 lane is taken as it is (its first operation looks at
 * FTZ and NaNs). */
static uint32_t widen(struct facet_tile_core *c,
                      enum facet_format format,
                      unsigned width,
                      const union facet_tile_vec *v,
                      unsigned i,
                      unsigned *flags)
{
    uint32_t lane = facet_tile_lane(v, width, i);

    return format == FACET_FMT_FP32
               ? lane
               : facet_num_tile_convert(FACET_FMT_FP32, format, lane, c->env, flags);
}

#define DOT(name, type, unused)                                                                    \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        enum { WIDTH = FACET_WIDTH_##type };                                                       \
        unsigned flags = 0;                                                                        \
        uint32_t sum = 0;                                                                          \
                                                                                                   \
        for (unsigned i = 0; i < 128 / WIDTH; i++) {                                               \
            uint32_t a = widen(c, FACET_FORMAT_##type, WIDTH, &VS1, i, &flags);                    \
            uint32_t b = widen(c, FACET_FORMAT_##type, WIDTH, &VS2, i, &flags);                    \
                                                                                                   \
            sum =                                                                                  \
                i == 0                                                                             \
                    ? facet_num_tile_mul(FACET_FMT_FP32, a, b, c->env, &flags)                     \
                    : facet_num_tile_fma(FACET_FMT_FP32, a, b, sum, false, false, c->env, &flags); \
        }                                                                                          \
        facet_tile_vector_flags(c, flags);                                                         \
        c->r.s[op->rd] = sum;                                                                      \
        return op + 1;                                                                             \
    }

THREE(DOT, VDOT, 0)

#define CROSS(name, type, unused)                                                                  \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        enum { WIDTH = FACET_WIDTH_##type };                                                       \
        const enum facet_format fmt = FACET_FORMAT_##type;                                         \
        unsigned flags = 0;                                                                        \
        uint32_t a[3], b[3];                                                                       \
        union facet_tile_vec result = {.d = {0, 0}};                                               \
                                                                                                   \
        for (unsigned i = 0; i < 3; i++) {                                                         \
            a[i] = widen(c, fmt, WIDTH, &VS1, i, &flags);                                          \
            b[i] = widen(c, fmt, WIDTH, &VS2, i, &flags);                                          \
        }                                                                                          \
        for (unsigned i = 0; i < 3; i++) {                                                         \
            unsigned j = (i + 1) % 3, k = (i + 2) % 3;                                             \
            uint32_t t = facet_num_tile_mul(FACET_FMT_FP32, a[k], b[j], c->env, &flags);           \
            uint32_t x =                                                                           \
                facet_num_tile_fma(FACET_FMT_FP32, a[j], b[k], t, false, true, c->env, &flags);    \
                                                                                                   \
            if (fmt != FACET_FMT_FP32) {                                                           \
                x = facet_num_tile_convert(fmt, FACET_FMT_FP32, x, c->env, &flags);                \
            }                                                                                      \
            facet_tile_set_lane(&result, WIDTH, i, x);                                             \
        }                                                                                          \
        facet_tile_vector_flags(c, flags);                                                         \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }

THREE(CROSS, VCROSS, 0)

/* ---- conversions ---- */

/* EXPR of the lane `a` for the lanes that both types have; the others are 0. */
#define CONVERT(to, from, expr)                                                                    \
    FACET_TILE_OP(VCVT_##to##_##from)                                                              \
    {                                                                                              \
        enum { TO = FACET_WIDTH_##to, FROM = FACET_WIDTH_##from };                                 \
        bool saturates = facet_tile_saturates(c), outside = false;                                 \
        unsigned flags = 0;                                                                        \
        union facet_tile_vec result = {.d = {0, 0}};                                               \
                                                                                                   \
        for (unsigned i = 0; i < 128u / (TO > FROM ? TO : FROM); i++) {                            \
            uint32_t a = facet_tile_lane(&VS1, FROM, i);                                           \
            int32_t n = facet_tile_lane_int(&VS1, FROM, i);                                        \
                                                                                                   \
            (void)a, (void)n;                                                                      \
            facet_tile_set_lane(&result, TO, i, (uint32_t)(expr));                                 \
        }                                                                                          \
        facet_tile_vector_flags(c, flags);                                                         \
        if (outside) {                                                                             \
            facet_tile_outside(c, saturates);                                                      \
        }                                                                                          \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }
#define INT_TO_INT(to, from) CONVERT(to, from, facet_num_int_fit(n, TO, saturates, &outside))
#define FP_TO_INT(to, from)                                                                        \
    CONVERT(to, from, facet_num_tile_to_int(FACET_FORMAT_##from, a, TO, c->env, &flags))
#define INT_TO_FP(to, from)                                                                        \
    CONVERT(to, from, facet_num_tile_from_int(FACET_FORMAT_##to, n, c->env, &flags))
#define FP_TO_FP(to, from)                                                                         \
    CONVERT(to,                                                                                    \
            from,                                                                                  \
            facet_num_tile_convert(FACET_FORMAT_##to, FACET_FORMAT_##from, a, c->env, &flags))

INT_TO_INT(I32, I16)
INT_TO_INT(I32, I8)
INT_TO_INT(I16, I32)
INT_TO_INT(I16, I8)
INT_TO_INT(I8, I32)
INT_TO_INT(I8, I16)
FP_TO_INT(I32, F16)
FP_TO_INT(I32, F8)
FP_TO_INT(I32, F32)
FP_TO_INT(I16, F16)
FP_TO_INT(I16, F8)
FP_TO_INT(I16, F32)
FP_TO_INT(I8, F16)
FP_TO_INT(I8, F8)
FP_TO_INT(I8, F32)
INT_TO_FP(F16, I32)
INT_TO_FP(F16, I16)
INT_TO_FP(F16, I8)
INT_TO_FP(F8, I32)
INT_TO_FP(F8, I16)
INT_TO_FP(F8, I8)
INT_TO_FP(F32, I32)
INT_TO_FP(F32, I16)
INT_TO_FP(F32, I8)
FP_TO_FP(F16, F8)
FP_TO_FP(F16, F32)
FP_TO_FP(F8, F16)
FP_TO_FP(F8, F32)
FP_TO_FP(F32, F16)
FP_TO_FP(F32, F8)
