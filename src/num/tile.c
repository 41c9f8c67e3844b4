/* See tile.h. */
#include "num/tile.h"

#include "num/fast.h"

struct facet_num_policy facet_num_tile_policy(struct facet_num_tile_env env)
{
    return (struct facet_num_policy){
        .rm = env.rm,
        .flush = env.ftz ? FACET_FLUSH_SUBNORMAL : FACET_FLUSH_NONE,
        .saturate = env.fsat ? FACET_SATURATE_FLAGGED : FACET_SATURATE_NONE,
        .nan = FACET_NAN_FIRST,
        .flush_operand = env.ftz,
    };
}

/* Runs one operation under the tile's policy and keeps the flags that fstatus has. */
#define RUN(type, call)                                                                            \
    do {                                                                                           \
        const struct facet_num_policy policy = facet_num_tile_policy(env);                         \
        unsigned raised = 0;                                                                       \
        type result = (type)(call);                                                                \
        *flags |= raised & FACET_FLAGS_IEEE;                                                       \
        return result;                                                                             \
    } while (0)

/* fast.h for the two IEEE formats; its flags are IEEE flags already. */
#define FAST(function, ...)                                                                        \
    do {                                                                                           \
        uint64_t fast;                                                                             \
        if (env.plain) {                                                                           \
            break;                                                                                 \
        }                                                                                          \
        if (format == FACET_FMT_FP32                                                               \
                ? function(&facet_fp_formats[FACET_FMT_FP32], __VA_ARGS__, env.rm, &fast, flags)   \
                : format == FACET_FMT_FP16 &&                                                      \
                      function(                                                                    \
                          &facet_fp_formats[FACET_FMT_FP16], __VA_ARGS__, env.rm, &fast, flags)) { \
            return (uint32_t)fast;                                                                 \
        }                                                                                          \
    } while (0)

uint32_t facet_num_tile_add(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags)
{
    FAST(facet_num_fast_add, a, b, false);
    RUN(uint32_t, facet_num_add(format, a, b, &policy, &raised));
}

uint32_t facet_num_tile_sub(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags)
{
    FAST(facet_num_fast_add, a, b, true);
    RUN(uint32_t, facet_num_sub(format, a, b, &policy, &raised));
}

uint32_t facet_num_tile_mul(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags)
{
    FAST(facet_num_fast_mul, a, b);
    RUN(uint32_t, facet_num_mul(format, a, b, &policy, &raised));
}

uint32_t facet_num_tile_fma(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            uint32_t c,
                            bool negate_product,
                            bool negate_addend,
                            struct facet_num_tile_env env,
                            unsigned *flags)
{
    FAST(facet_num_fast_fma, a, b, c, negate_product, negate_addend);
    RUN(uint32_t, facet_num_fma(format, a, b, c, negate_product, negate_addend, &policy, &raised));
}

uint32_t facet_num_tile_rcp(enum facet_format format,
                            uint32_t a,
                            struct facet_num_tile_env env,
                            unsigned *flags)
{
    RUN(uint32_t, facet_num_rcp(format, a, &policy, &raised));
}

uint32_t facet_num_tile_rsqrt(enum facet_format format,
                              uint32_t a,
                              struct facet_num_tile_env env,
                              unsigned *flags)
{
    RUN(uint32_t, facet_num_rsqrt(format, a, &policy, &raised));
}

uint32_t facet_num_tile_min(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags)
{
    RUN(uint32_t, facet_num_min(format, a, b, &policy, &raised));
}

uint32_t facet_num_tile_max(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags)
{
    RUN(uint32_t, facet_num_max(format, a, b, &policy, &raised));
}

bool facet_num_tile_eq(enum facet_format format,
                       uint32_t a,
                       uint32_t b,
                       struct facet_num_tile_env env,
                       unsigned *flags)
{
    RUN(bool, facet_num_eq(format, a, b, &policy, &raised));
}

bool facet_num_tile_lt(enum facet_format format,
                       uint32_t a,
                       uint32_t b,
                       struct facet_num_tile_env env,
                       unsigned *flags)
{
    RUN(bool, facet_num_lt(format, a, b, &policy, &raised));
}

bool facet_num_tile_le(enum facet_format format,
                       uint32_t a,
                       uint32_t b,
                       struct facet_num_tile_env env,
                       unsigned *flags)
{
    RUN(bool, facet_num_le(format, a, b, &policy, &raised));
}

/* tile-semantics.md 5.5: between FP16 and FP32 the upper payload bits move along. */
static uint32_t convert_nan(const struct facet_fp_format *to,
                            const struct facet_fp_format *from,
                            uint32_t a,
                            bool sign)
{
    uint64_t fraction = a & ((UINT64_C(1) << (from->p - 1)) - 1);

    if (!to->has_signaling || !from->has_signaling) {
        return (uint32_t)facet_num_signed(to, sign, to->nan);
    }
    fraction <<= 53 - from->p; /* left-aligned in 52 bits */
    return (uint32_t)facet_num_signed(
        to, sign, to->infinity | facet_num_quiet_bit(to) | fraction >> (53 - to->p));
}

uint32_t facet_num_tile_convert(enum facet_format to,
                                enum facet_format from,
                                uint32_t a,
                                struct facet_num_tile_env env,
                                unsigned *flags)
{
    const struct facet_fp_format *t = &facet_fp_formats[to], *f = &facet_fp_formats[from];
    const struct facet_num_policy policy = facet_num_tile_policy(env);
    unsigned raised = 0;
    struct facet_num_value v = facet_num_unpack(f, a, env.ftz, &raised);
    uint64_t result;

    if ((v.cls & FACET_CLASS_NAN) != 0) {
        *flags |= v.cls == FACET_CLASS_SNAN ? FACET_NV : 0;
        return convert_nan(t, f, a, v.sign);
    }
    if (v.cls == FACET_CLASS_NUMBER) {
        result = facet_num_round(t, v, &policy, &raised);
    } else if (v.cls == FACET_CLASS_ZERO) {
        result = facet_num_signed(t, v.sign, 0);
    } else if (t->has_inf) {
        result = facet_num_signed(t, v.sign, t->infinity);
    } else {
        raised |= FACET_OF | FACET_NX;
        result = facet_num_signed(t, v.sign, env.fsat ? t->max_finite : t->nan);
    }
    *flags |= raised & FACET_FLAGS_IEEE;
    return (uint32_t)result;
}

int32_t facet_num_tile_to_int(enum facet_format from,
                              uint32_t a,
                              unsigned width,
                              struct facet_num_tile_env env,
                              unsigned *flags)
{
    RUN(int32_t, facet_num_to_int(from, a, width, true, &policy, &raised));
}

uint32_t facet_num_tile_from_int(enum facet_format to,
                                 int32_t n,
                                 struct facet_num_tile_env env,
                                 unsigned *flags)
{
    RUN(uint32_t, facet_num_from_i64(to, n, &policy, &raised));
}
