/* Floating point of the fast executor: the host's own instruction where it provably gives the bits
 * and flags of src/num, which does everything else.
 *
 * The host rounds to nearest even, as IEEE 754 says. When the rounding mode is the same, the
 * inexact flag is up already and the result is an ordinary number well inside the normal range,
 * then
 *   - no operand was a NaN or an infinity (the result would be one too, or a zero), no division was
 *     by zero: neither NV nor DZ;
 *   - nothing overflowed or was tiny: neither OF nor UF;
 *   - NX changes nothing, whether raised or not.
 * So the flags stay as they are and the bits are those of the one correctly rounded result. */
#ifndef FACET_XPHMG_BLOCK_FP_H
#define FACET_XPHMG_BLOCK_FP_H

#include "num/hart.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FP_SIGN64 (UINT64_C(1) << 63)

#if FLT_EVAL_METHOD == 0 && FLT_RADIX == 2 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53

static inline double host_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float host_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint32_t bits_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A finite number of at least twice the smallest normal one: not even its neighbours are tiny. */
static inline bool ordinary_double(uint64_t bits)
{
    return ((bits >> 52) & 0x7FF) - 2 <= UINT64_C(0x7FE) - 2;
}

static inline bool ordinary_float(uint32_t bits)
{
    return ((bits >> 23) & 0xFF) - 2 <= 0xFEu - 2;
}

/* The operations of one format: HOST(name, parameters, arguments, host expression over x, y, z). */
#define HOST(format, type, real, name, parameters, arguments, expression)                          \
    static inline type host_##format##_##name parameters                                           \
    {                                                                                              \
        if (rm == FACET_RNE && (*fl & FACET_NX) != 0) {                                            \
            const type bits = bits_##real(expression);                                             \
            if (__builtin_expect(ordinary_##real(bits), 1)) {                                      \
                return bits;                                                                       \
            }                                                                                      \
        }                                                                                          \
        return facet_##format##_##name arguments;                                                  \
    }
#define HOST_1(format, type, real, name, expression)                                               \
    HOST(format, type, real, name, (type a, unsigned rm, unsigned *fl), (a, rm, fl), expression)
#define HOST_2(format, type, real, name, expression)                                               \
    HOST(format,                                                                                   \
         type,                                                                                     \
         real,                                                                                     \
         name,                                                                                     \
         (type a, type b, unsigned rm, unsigned *fl),                                              \
         (a, b, rm, fl),                                                                           \
         expression)
#define HOST_3(format, type, real, name, expression)                                               \
    HOST(format,                                                                                   \
         type,                                                                                     \
         real,                                                                                     \
         name,                                                                                     \
         (type a, type b, type c, unsigned rm, unsigned *fl),                                      \
         (a, b, c, rm, fl),                                                                        \
         expression)
/* Comparisons of numbers raise nothing; conversions of small integers are exact. */
#define HOST_TEST(format, type, real, name, operator)                                              \
    static inline bool host_##format##_##name(type a, type b, unsigned *fl)                        \
    {                                                                                              \
        const real x = host_##real(a), y = host_##real(b);                                         \
        if (__builtin_expect(isunordered(x, y), 0)) {                                              \
            return facet_##format##_##name(a, b, fl);                                              \
        }                                                                                          \
        return x operator y;                                                                       \
    }
#define HOST_FORMAT(format, type, real, root, fused, digits)                                       \
    HOST_2(format, type, real, add, host_##real(a) + host_##real(b))                               \
    HOST_2(format, type, real, sub, host_##real(a) - host_##real(b))                               \
    HOST_2(format, type, real, mul, host_##real(a) * host_##real(b))                               \
    HOST_2(format, type, real, div, host_##real(a) / host_##real(b))                               \
    HOST_1(format, type, real, sqrt, root(host_##real(a)))                                         \
    HOST_3(format, type, real, fmadd, fused(host_##real(a), host_##real(b), host_##real(c)))       \
    HOST_3(format, type, real, fmsub, fused(host_##real(a), host_##real(b), -host_##real(c)))      \
    HOST_3(format, type, real, fnmsub, fused(-host_##real(a), host_##real(b), host_##real(c)))     \
    HOST_3(format, type, real, fnmadd, fused(-host_##real(a), host_##real(b), -host_##real(c)))    \
    HOST_TEST(format, type, real, eq, ==)                                                          \
    HOST_TEST(format, type, real, lt, <)                                                           \
    HOST_TEST(format, type, real, le, <=)                                                          \
    static inline type host_##format##_from_i64(int64_t n, unsigned rm, unsigned *fl)              \
    {                                                                                              \
        if (n >= -(INT64_C(1) << (digits)) && n <= INT64_C(1) << (digits)) {                       \
            return bits_##real((real)n);                                                           \
        }                                                                                          \
        return facet_##format##_from_i64(n, rm, fl);                                               \
    }

HOST_FORMAT(f32, uint32_t, float, sqrtf, fmaf, FLT_MANT_DIG)
HOST_FORMAT(f64, uint64_t, double, sqrt, fma, DBL_MANT_DIG)

static inline uint64_t host_f32_to_f64(uint32_t a, unsigned *fl)
{
    return ordinary_float(a) ? bits_double((double)host_float(a)) : facet_f32_to_f64(a, fl);
}

HOST(f64,
     uint32_t,
     float,
     to_f32,
     (uint64_t a, unsigned rm, unsigned *fl),
     (a, rm, fl),
     (float)host_double(a))

/* fp.def, expanded behind this header, finds the host's twins under the names of src/num. */
#define facet_f32_add host_f32_add
#define facet_f32_sub host_f32_sub
#define facet_f32_mul host_f32_mul
#define facet_f32_div host_f32_div
#define facet_f32_sqrt host_f32_sqrt
#define facet_f32_fmadd host_f32_fmadd
#define facet_f32_fmsub host_f32_fmsub
#define facet_f32_fnmsub host_f32_fnmsub
#define facet_f32_fnmadd host_f32_fnmadd
#define facet_f32_eq host_f32_eq
#define facet_f32_lt host_f32_lt
#define facet_f32_le host_f32_le
#define facet_f32_from_i64 host_f32_from_i64
#define facet_f32_to_f64 host_f32_to_f64
#define facet_f64_add host_f64_add
#define facet_f64_sub host_f64_sub
#define facet_f64_mul host_f64_mul
#define facet_f64_div host_f64_div
#define facet_f64_sqrt host_f64_sqrt
#define facet_f64_fmadd host_f64_fmadd
#define facet_f64_fmsub host_f64_fmsub
#define facet_f64_fnmsub host_f64_fnmsub
#define facet_f64_fnmadd host_f64_fnmadd
#define facet_f64_eq host_f64_eq
#define facet_f64_lt host_f64_lt
#define facet_f64_le host_f64_le
#define facet_f64_from_i64 host_f64_from_i64
#define facet_f64_to_f32 host_f64_to_f32

#endif
#endif
