/* See subject.h. */
#include "subject.h"

#include "harness.h"

#include <stdlib.h>

struct ref_result subject_arith(enum ref_op op,
                                enum facet_format format,
                                const uint64_t v[4],
                                const struct facet_num_policy *policy)
{
    struct ref_result r = {0, 0};
    unsigned *fl = &r.flags;

    switch (op) {
    case REF_ADD:
        r.bits = facet_num_add(format, v[0], v[1], policy, fl);
        break;
    case REF_SUB:
        r.bits = facet_num_sub(format, v[0], v[1], policy, fl);
        break;
    case REF_MUL:
        r.bits = facet_num_mul(format, v[0], v[1], policy, fl);
        break;
    case REF_DIV:
        r.bits = facet_num_div(format, v[0], v[1], policy, fl);
        break;
    case REF_SQRT:
        r.bits = facet_num_sqrt(format, v[0], policy, fl);
        break;
    case REF_FMA:
    case REF_FMSUB:
    case REF_FNMSUB:
    case REF_FNMADD:
        r.bits = facet_num_fma(format,
                               v[0],
                               v[1],
                               v[2],
                               op == REF_FNMSUB || op == REF_FNMADD,
                               op == REF_FMSUB || op == REF_FNMADD,
                               policy,
                               fl);
        break;
    case REF_RCP:
        r.bits = facet_num_rcp(format, v[0], policy, fl);
        break;
    case REF_RSQRT:
        r.bits = facet_num_rsqrt(format, v[0], policy, fl);
        break;
    case REF_DP2:
        r.bits = facet_num_dp2(format, v[0], v[1], v[2], v[3], policy, fl);
        break;
    case REF_MIN:
        r.bits = facet_num_min(format, v[0], v[1], policy, fl);
        break;
    case REF_MAX:
        r.bits = facet_num_max(format, v[0], v[1], policy, fl);
        break;
    case REF_EQ:
        r.bits = facet_num_eq(format, v[0], v[1], policy, fl);
        break;
    case REF_LT:
        r.bits = facet_num_lt(format, v[0], v[1], policy, fl);
        break;
    case REF_LE:
        r.bits = facet_num_le(format, v[0], v[1], policy, fl);
        break;
    default:
        abort();
    }
    return r;
}

#define HART(prefix, type)                                                                         \
    static uint64_t run_##prefix(enum ref_op op, const uint64_t *v, unsigned rm, unsigned *fl)     \
    {                                                                                              \
        type a = (type)v[0], b = (type)v[1], c = (type)v[2];                                       \
        switch (op) {                                                                              \
        case REF_ADD:                                                                              \
            return prefix##_add(a, b, rm, fl);                                                     \
        case REF_SUB:                                                                              \
            return prefix##_sub(a, b, rm, fl);                                                     \
        case REF_MUL:                                                                              \
            return prefix##_mul(a, b, rm, fl);                                                     \
        case REF_DIV:                                                                              \
            return prefix##_div(a, b, rm, fl);                                                     \
        case REF_SQRT:                                                                             \
            return prefix##_sqrt(a, rm, fl);                                                       \
        case REF_FMA:                                                                              \
            return prefix##_fmadd(a, b, c, rm, fl);                                                \
        case REF_FMSUB:                                                                            \
            return prefix##_fmsub(a, b, c, rm, fl);                                                \
        case REF_FNMSUB:                                                                           \
            return prefix##_fnmsub(a, b, c, rm, fl);                                               \
        case REF_FNMADD:                                                                           \
            return prefix##_fnmadd(a, b, c, rm, fl);                                               \
        case REF_MIN:                                                                              \
            return prefix##_min(a, b, fl);                                                         \
        case REF_MAX:                                                                              \
            return prefix##_max(a, b, fl);                                                         \
        case REF_EQ:                                                                               \
            return prefix##_eq(a, b, fl);                                                          \
        case REF_LT:                                                                               \
            return prefix##_lt(a, b, fl);                                                          \
        case REF_LE:                                                                               \
            return prefix##_le(a, b, fl);                                                          \
        default:                                                                                   \
            abort();                                                                               \
        }                                                                                          \
    }

HART(facet_f16, uint16_t)
HART(facet_f32, uint32_t)
HART(facet_f64, uint64_t)

struct ref_result
subject_hart(enum ref_op op, enum facet_format format, const uint64_t v[4], unsigned rm)
{
    struct ref_result r = {0, 0};

    r.bits = format == FACET_FMT_FP16   ? run_facet_f16(op, v, rm, &r.flags)
             : format == FACET_FMT_FP32 ? run_facet_f32(op, v, rm, &r.flags)
                                        : run_facet_f64(op, v, rm, &r.flags);
    return r;
}

bool subject_agrees(enum ref_op op,
                    enum facet_format format,
                    const uint64_t v[4],
                    const char *policy_name,
                    const struct facet_num_policy *policy,
                    struct ref_result got,
                    struct ref_result want)
{
    return CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                     "%s %s(%" PRIx64 ", %" PRIx64 ", %" PRIx64 ", %" PRIx64 ") rm %u %s: %" PRIx64
                     " flags %x, expected %" PRIx64 " flags %x",
                     facet_format_name(format),
                     ref_op_names[op],
                     v[0],
                     v[1],
                     v[2],
                     v[3],
                     policy->rm,
                     policy_name,
                     got.bits,
                     got.flags,
                     want.bits,
                     want.flags);
}
