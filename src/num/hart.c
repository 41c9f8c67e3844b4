/* See hart.h: fast.h first, ops.h for the rest, the format fixed at compile time. The full way is
 * kept out of line so that the short one stays small. */
#include "num/hart.h"

#include "num/fast.h"

#define FULL __attribute__((noinline))
#define FORMAT(format) (&facet_fp_formats[format])
#define IEEE(mode) (&(const struct facet_num_policy){.rm = (uint8_t)((mode) & ~FACET_RM_PLAIN)})

FACET_NUM_INLINE bool either_nan(const struct facet_fp_format *f, uint64_t a, uint64_t b)
{
    return facet_num_bits_nan(f, a) || facet_num_bits_nan(f, b);
}

FACET_NUM_INLINE bool either_snan(const struct facet_fp_format *f, uint64_t a, uint64_t b)
{
    return facet_num_bits_snan(f, a) || facet_num_bits_snan(f, b);
}

/* FMIN and FMAX on codes; -0 < +0 because equal keys are distinguished by the sign bit. */
FACET_NUM_INLINE uint64_t
extreme(const struct facet_fp_format *f, uint64_t a, uint64_t b, bool minimum, unsigned *flags)
{
    int64_t x = facet_num_key(f, a), y = facet_num_key(f, b);
    bool a_less = x < y || (x == y && (a & facet_num_sign_bit(f)) != 0);

    if (FACET_UNLIKELY(either_nan(f, a, b))) {
        *flags |= either_snan(f, a, b) ? FACET_NV : 0;
        return !facet_num_bits_nan(f, a) ? a : !facet_num_bits_nan(f, b) ? b : f->nan;
    }
    return a_less == minimum ? a : b;
}

#define HART_FORMAT(prefix, type, format)                                                          \
    static FULL type prefix##_add_full(type a, type b, bool sub, unsigned rm, unsigned *flags)     \
    {                                                                                              \
        return (type)facet_num_do_add(FORMAT(format), a, b, sub, IEEE(rm), flags);                 \
    }                                                                                              \
    static FULL type prefix##_mul_full(type a, type b, unsigned rm, unsigned *flags)               \
    {                                                                                              \
        return (type)facet_num_do_mul(FORMAT(format), a, b, IEEE(rm), flags);                      \
    }                                                                                              \
    static FULL type prefix##_div_full(type a, type b, unsigned rm, unsigned *flags)               \
    {                                                                                              \
        return (type)facet_num_do_div(FORMAT(format), a, b, IEEE(rm), flags);                      \
    }                                                                                              \
    static FULL type prefix##_fma_full(                                                            \
        type a, type b, type c, bool product, bool addend, unsigned rm, unsigned *flags)           \
    {                                                                                              \
        return (type)facet_num_do_fma(FORMAT(format), a, b, c, product, addend, IEEE(rm), flags);  \
    }                                                                                              \
    type prefix##_add(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_add(FORMAT(format), a, b, false, rm, &r, flags)                      \
                   ? (type)r                                                                       \
                   : prefix##_add_full(a, b, false, rm, flags);                                    \
    }                                                                                              \
    type prefix##_sub(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_add(FORMAT(format), a, b, true, rm, &r, flags)                       \
                   ? (type)r                                                                       \
                   : prefix##_add_full(a, b, true, rm, flags);                                     \
    }                                                                                              \
    type prefix##_mul(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_mul(FORMAT(format), a, b, rm, &r, flags)                             \
                   ? (type)r                                                                       \
                   : prefix##_mul_full(a, b, rm, flags);                                           \
    }                                                                                              \
    type prefix##_div(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_div(FORMAT(format), a, b, rm, &r, flags)                             \
                   ? (type)r                                                                       \
                   : prefix##_div_full(a, b, rm, flags);                                           \
    }                                                                                              \
    type prefix##_sqrt(type a, unsigned rm, unsigned *flags)                                       \
    {                                                                                              \
        return (type)facet_num_do_sqrt(FORMAT(format), a, IEEE(rm), flags);                        \
    }                                                                                              \
    type prefix##_fmadd(type a, type b, type c, unsigned rm, unsigned *flags)                      \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_fma(FORMAT(format), a, b, c, false, false, rm, &r, flags)            \
                   ? (type)r                                                                       \
                   : prefix##_fma_full(a, b, c, false, false, rm, flags);                          \
    }                                                                                              \
    type prefix##_fmsub(type a, type b, type c, unsigned rm, unsigned *flags)                      \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_fma(FORMAT(format), a, b, c, false, true, rm, &r, flags)             \
                   ? (type)r                                                                       \
                   : prefix##_fma_full(a, b, c, false, true, rm, flags);                           \
    }                                                                                              \
    type prefix##_fnmsub(type a, type b, type c, unsigned rm, unsigned *flags)                     \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_fma(FORMAT(format), a, b, c, true, false, rm, &r, flags)             \
                   ? (type)r                                                                       \
                   : prefix##_fma_full(a, b, c, true, false, rm, flags);                           \
    }                                                                                              \
    type prefix##_fnmadd(type a, type b, type c, unsigned rm, unsigned *flags)                     \
    {                                                                                              \
        uint64_t r;                                                                                \
        return facet_num_fast_fma(FORMAT(format), a, b, c, true, true, rm, &r, flags)              \
                   ? (type)r                                                                       \
                   : prefix##_fma_full(a, b, c, true, true, rm, flags);                            \
    }                                                                                              \
    type prefix##_min(type a, type b, unsigned *flags)                                             \
    {                                                                                              \
        return (type)extreme(FORMAT(format), a, b, true, flags);                                   \
    }                                                                                              \
    type prefix##_max(type a, type b, unsigned *flags)                                             \
    {                                                                                              \
        return (type)extreme(FORMAT(format), a, b, false, flags);                                  \
    }                                                                                              \
    bool prefix##_eq(type a, type b, unsigned *flags)                                              \
    {                                                                                              \
        if (FACET_UNLIKELY(either_nan(FORMAT(format), a, b))) {                                    \
            *flags |= either_snan(FORMAT(format), a, b) ? FACET_NV : 0;                            \
            return false;                                                                          \
        }                                                                                          \
        return facet_num_key(FORMAT(format), a) == facet_num_key(FORMAT(format), b);               \
    }                                                                                              \
    bool prefix##_lt(type a, type b, unsigned *flags)                                              \
    {                                                                                              \
        if (FACET_UNLIKELY(either_nan(FORMAT(format), a, b))) {                                    \
            *flags |= FACET_NV;                                                                    \
            return false;                                                                          \
        }                                                                                          \
        return facet_num_key(FORMAT(format), a) < facet_num_key(FORMAT(format), b);                \
    }                                                                                              \
    bool prefix##_le(type a, type b, unsigned *flags)                                              \
    {                                                                                              \
        if (FACET_UNLIKELY(either_nan(FORMAT(format), a, b))) {                                    \
            *flags |= FACET_NV;                                                                    \
            return false;                                                                          \
        }                                                                                          \
        return facet_num_key(FORMAT(format), a) <= facet_num_key(FORMAT(format), b);               \
    }                                                                                              \
    unsigned prefix##_class(type a)                                                                \
    {                                                                                              \
        return facet_num_fclass(format, a);                                                        \
    }                                                                                              \
    int32_t prefix##_to_i32(type a, unsigned rm, unsigned *flags)                                  \
    {                                                                                              \
        return (int32_t)facet_num_do_to_int(FORMAT(format), a, 32, true, IEEE(rm), flags);         \
    }                                                                                              \
    int32_t prefix##_to_u32(type a, unsigned rm, unsigned *flags)                                  \
    {                                                                                              \
        return (int32_t)facet_num_do_to_int(FORMAT(format), a, 32, false, IEEE(rm), flags);        \
    }                                                                                              \
    int64_t prefix##_to_i64(type a, unsigned rm, unsigned *flags)                                  \
    {                                                                                              \
        return (int64_t)facet_num_do_to_int(FORMAT(format), a, 64, true, IEEE(rm), flags);         \
    }                                                                                              \
    uint64_t prefix##_to_u64(type a, unsigned rm, unsigned *flags)                                 \
    {                                                                                              \
        return facet_num_do_to_int(FORMAT(format), a, 64, false, IEEE(rm), flags);                 \
    }                                                                                              \
    type prefix##_from_i64(int64_t n, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        return (type)facet_num_do_from_int(                                                        \
            FORMAT(format), n < 0 ? 0 - (uint64_t)n : (uint64_t)n, n < 0, IEEE(rm), flags);        \
    }                                                                                              \
    type prefix##_from_u64(uint64_t n, unsigned rm, unsigned *flags)                               \
    {                                                                                              \
        return (type)facet_num_do_from_int(FORMAT(format), n, false, IEEE(rm), flags);             \
    }

HART_FORMAT(facet_f16, uint16_t, FACET_FMT_FP16)
HART_FORMAT(facet_f32, uint32_t, FACET_FMT_FP32)
HART_FORMAT(facet_f64, uint64_t, FACET_FMT_FP64)

uint32_t facet_f16_to_f32(uint16_t a, unsigned *flags)
{
    return (uint32_t)facet_num_do_convert(
        FORMAT(FACET_FMT_FP32), FORMAT(FACET_FMT_FP16), a, IEEE(FACET_RNE), flags);
}

uint64_t facet_f16_to_f64(uint16_t a, unsigned *flags)
{
    return facet_num_do_convert(
        FORMAT(FACET_FMT_FP64), FORMAT(FACET_FMT_FP16), a, IEEE(FACET_RNE), flags);
}

uint64_t facet_f32_to_f64(uint32_t a, unsigned *flags)
{
    return facet_num_do_convert(
        FORMAT(FACET_FMT_FP64), FORMAT(FACET_FMT_FP32), a, IEEE(FACET_RNE), flags);
}

uint16_t facet_f32_to_f16(uint32_t a, unsigned rm, unsigned *flags)
{
    return (uint16_t)facet_num_do_convert(
        FORMAT(FACET_FMT_FP16), FORMAT(FACET_FMT_FP32), a, IEEE(rm), flags);
}

uint16_t facet_f64_to_f16(uint64_t a, unsigned rm, unsigned *flags)
{
    return (uint16_t)facet_num_do_convert(
        FORMAT(FACET_FMT_FP16), FORMAT(FACET_FMT_FP64), a, IEEE(rm), flags);
}

uint32_t facet_f64_to_f32(uint64_t a, unsigned rm, unsigned *flags)
{
    return (uint32_t)facet_num_do_convert(
        FORMAT(FACET_FMT_FP32), FORMAT(FACET_FMT_FP64), a, IEEE(rm), flags);
}
