/* See hart.h: ops.h with the format and every policy field but the rounding mode fixed at compile
 * time. The switch on rm in each operation makes the common RNE code free of mode tests. */
#include "num/hart.h"

#include "num/ops.h"

/* One call site per constant rounding mode lets the compiler fold facet_num_round_up. RNE and RTZ
 * (conversions in C code) are what programs use; the others share one copy. */
#define WITH_MODE(expression)                                                                      \
    do {                                                                                           \
        if (FACET_LIKELY(rm == FACET_RNE)) {                                                       \
            const struct facet_num_policy policy = {.rm = FACET_RNE};                              \
            return (expression);                                                                   \
        } else {                                                                                   \
            const struct facet_num_policy policy = {.rm = (uint8_t)rm};                            \
            return (expression);                                                                   \
        }                                                                                          \
    } while (0)

#define FORMAT(format) (&facet_fp_formats[format])
#define IEEE(format_rm) (&(const struct facet_num_policy){.rm = (uint8_t)(format_rm)})

#define HART_FORMAT(prefix, type, format)                                                          \
    type prefix##_add(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_add(FORMAT(format), a, b, false, &policy, flags));            \
    }                                                                                              \
    type prefix##_sub(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_add(FORMAT(format), a, b, true, &policy, flags));             \
    }                                                                                              \
    type prefix##_mul(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_mul(FORMAT(format), a, b, &policy, flags));                   \
    }                                                                                              \
    type prefix##_div(type a, type b, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_div(FORMAT(format), a, b, &policy, flags));                   \
    }                                                                                              \
    type prefix##_sqrt(type a, unsigned rm, unsigned *flags)                                       \
    {                                                                                              \
        return (type)facet_num_do_sqrt(FORMAT(format), a, IEEE(rm), flags);                        \
    }                                                                                              \
    type prefix##_fmadd(type a, type b, type c, unsigned rm, unsigned *flags)                      \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_fma(FORMAT(format), a, b, c, false, false, &policy, flags));  \
    }                                                                                              \
    type prefix##_fmsub(type a, type b, type c, unsigned rm, unsigned *flags)                      \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_fma(FORMAT(format), a, b, c, false, true, &policy, flags));   \
    }                                                                                              \
    type prefix##_fnmsub(type a, type b, type c, unsigned rm, unsigned *flags)                     \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_fma(FORMAT(format), a, b, c, true, false, &policy, flags));   \
    }                                                                                              \
    type prefix##_fnmadd(type a, type b, type c, unsigned rm, unsigned *flags)                     \
    {                                                                                              \
        WITH_MODE((type)facet_num_do_fma(FORMAT(format), a, b, c, true, true, &policy, flags));    \
    }                                                                                              \
    type prefix##_min(type a, type b, unsigned *flags)                                             \
    {                                                                                              \
        return (type)facet_num_min(format, a, b, IEEE(FACET_RNE), flags);                          \
    }                                                                                              \
    type prefix##_max(type a, type b, unsigned *flags)                                             \
    {                                                                                              \
        return (type)facet_num_max(format, a, b, IEEE(FACET_RNE), flags);                          \
    }                                                                                              \
    bool prefix##_eq(type a, type b, unsigned *flags)                                              \
    {                                                                                              \
        return facet_num_eq(format, a, b, IEEE(FACET_RNE), flags);                                 \
    }                                                                                              \
    bool prefix##_lt(type a, type b, unsigned *flags)                                              \
    {                                                                                              \
        return facet_num_lt(format, a, b, IEEE(FACET_RNE), flags);                                 \
    }                                                                                              \
    bool prefix##_le(type a, type b, unsigned *flags)                                              \
    {                                                                                              \
        return facet_num_le(format, a, b, IEEE(FACET_RNE), flags);                                 \
    }                                                                                              \
    unsigned prefix##_class(type a)                                                                \
    {                                                                                              \
        return facet_num_fclass(format, a);                                                        \
    }                                                                                              \
    int32_t prefix##_to_i32(type a, unsigned rm, unsigned *flags)                                  \
    {                                                                                              \
        return (int32_t)facet_num_to_int(format, a, 32, true, IEEE(rm), flags);                    \
    }                                                                                              \
    int32_t prefix##_to_u32(type a, unsigned rm, unsigned *flags)                                  \
    {                                                                                              \
        return (int32_t)facet_num_to_int(format, a, 32, false, IEEE(rm), flags);                   \
    }                                                                                              \
    int64_t prefix##_to_i64(type a, unsigned rm, unsigned *flags)                                  \
    {                                                                                              \
        return (int64_t)facet_num_to_int(format, a, 64, true, IEEE(rm), flags);                    \
    }                                                                                              \
    uint64_t prefix##_to_u64(type a, unsigned rm, unsigned *flags)                                 \
    {                                                                                              \
        return facet_num_to_int(format, a, 64, false, IEEE(rm), flags);                            \
    }                                                                                              \
    type prefix##_from_i64(int64_t n, unsigned rm, unsigned *flags)                                \
    {                                                                                              \
        return (type)facet_num_from_i64(format, n, IEEE(rm), flags);                               \
    }                                                                                              \
    type prefix##_from_u64(uint64_t n, unsigned rm, unsigned *flags)                               \
    {                                                                                              \
        return (type)facet_num_from_u64(format, n, IEEE(rm), flags);                               \
    }

HART_FORMAT(facet_f16, uint16_t, FACET_FMT_FP16)
HART_FORMAT(facet_f32, uint32_t, FACET_FMT_FP32)
HART_FORMAT(facet_f64, uint64_t, FACET_FMT_FP64)

uint32_t facet_f16_to_f32(uint16_t a, unsigned *flags)
{
    return (uint32_t)facet_num_convert(FACET_FMT_FP32, FACET_FMT_FP16, a, IEEE(FACET_RNE), flags);
}

uint64_t facet_f16_to_f64(uint16_t a, unsigned *flags)
{
    return facet_num_convert(FACET_FMT_FP64, FACET_FMT_FP16, a, IEEE(FACET_RNE), flags);
}

uint64_t facet_f32_to_f64(uint32_t a, unsigned *flags)
{
    return facet_num_convert(FACET_FMT_FP64, FACET_FMT_FP32, a, IEEE(FACET_RNE), flags);
}

uint16_t facet_f32_to_f16(uint32_t a, unsigned rm, unsigned *flags)
{
    return (uint16_t)facet_num_convert(FACET_FMT_FP16, FACET_FMT_FP32, a, IEEE(rm), flags);
}

uint16_t facet_f64_to_f16(uint64_t a, unsigned rm, unsigned *flags)
{
    return (uint16_t)facet_num_convert(FACET_FMT_FP16, FACET_FMT_FP64, a, IEEE(rm), flags);
}

uint32_t facet_f64_to_f32(uint64_t a, unsigned rm, unsigned *flags)
{
    return (uint32_t)facet_num_convert(FACET_FMT_FP32, FACET_FMT_FP64, a, IEEE(rm), flags);
}
