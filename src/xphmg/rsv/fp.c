/* See fp.h. FP32 and FP16 rows go the way of numeric.md 9: widen the sources, compute with one
 * rounding, narrow the result, all in the format that the row encodes. Rows with an FP64 operand,
 * and those that move or inspect bits, are the bodies of fp.def. */
#include "xphmg/rsv/fp.h"

#include "num/hart.h"

enum operation {
    PLAIN, /* the row does as in the base ISA */
    ADD,
    SUB,
    MUL,
    DIV,
    SQRT,
    MADD,
    MSUB,
    NMSUB,
    NMADD,
    MIN,
    MAX,
    EQ,
    LT,
    LE,
    TO_W,
    TO_WU,
    TO_L,
    TO_LU,
    FROM_W,
    FROM_WU,
    FROM_L,
    FROM_LU,
    CONVERT, /* between two formats */
};

struct rule {
    uint8_t operation;
    uint8_t format; /* of the sources, or of the result of FROM_* */
    uint8_t to;     /* of the result of CONVERT */
};

static const struct rule rules[FACET_XPHMG_OP_COUNT] = {
#define FORMAT(T, f)                                                                               \
    [FACET_XPHMG_FADD_##T] = {ADD, f, f}, [FACET_XPHMG_FSUB_##T] = {SUB, f, f},                    \
    [FACET_XPHMG_FMUL_##T] = {MUL, f, f}, [FACET_XPHMG_FDIV_##T] = {DIV, f, f},                    \
    [FACET_XPHMG_FSQRT_##T] = {SQRT, f, f}, [FACET_XPHMG_FMADD_##T] = {MADD, f, f},                \
    [FACET_XPHMG_FMSUB_##T] = {MSUB, f, f}, [FACET_XPHMG_FNMSUB_##T] = {NMSUB, f, f},              \
    [FACET_XPHMG_FNMADD_##T] = {NMADD, f, f}, [FACET_XPHMG_FMIN_##T] = {MIN, f, f},                \
    [FACET_XPHMG_FMAX_##T] = {MAX, f, f}, [FACET_XPHMG_FEQ_##T] = {EQ, f, f},                      \
    [FACET_XPHMG_FLT_##T] = {LT, f, f}, [FACET_XPHMG_FLE_##T] = {LE, f, f},                        \
    [FACET_XPHMG_FCVT_W_##T] = {TO_W, f, f}, [FACET_XPHMG_FCVT_WU_##T] = {TO_WU, f, f},            \
    [FACET_XPHMG_FCVT_L_##T] = {TO_L, f, f}, [FACET_XPHMG_FCVT_LU_##T] = {TO_LU, f, f},            \
    [FACET_XPHMG_FCVT_##T##_W] = {FROM_W, f, f}, [FACET_XPHMG_FCVT_##T##_WU] = {FROM_WU, f, f},    \
    [FACET_XPHMG_FCVT_##T##_L] = {FROM_L, f, f}, [FACET_XPHMG_FCVT_##T##_LU] = {FROM_LU, f, f}
    FORMAT(S, FACET_FMT_FP32),
    FORMAT(H, FACET_FMT_FP16),
#undef FORMAT
    [FACET_XPHMG_FCVT_S_H] = {CONVERT, FACET_FMT_FP16, FACET_FMT_FP32},
    [FACET_XPHMG_FCVT_H_S] = {CONVERT, FACET_FMT_FP32, FACET_FMT_FP16},
};

static uint64_t
plain(const struct facet_insn *in, unsigned rm, uint64_t a, uint64_t b, uint64_t c, unsigned *fl)
{
    switch (in->row) {
#define FP_SIGN64 (UINT64_C(1) << 63)
#define FP(row, dst, src, value)                                                                   \
    case FACET_XPHMG_##row:                                                                        \
        return (value);
#include "xphmg/hart/fp.def"
    default:
        return 0;
    }
}

static uint32_t unbox(unsigned format, uint64_t reg)
{
    return format == FACET_FMT_FP32 ? facet_num_unbox32(reg) : facet_num_unbox16(reg);
}

static uint64_t box(unsigned format, uint32_t bits)
{
    return format == FACET_FMT_FP32 ? facet_num_box32(bits) : facet_num_box16((uint16_t)bits);
}

/* Rows whose sources and result have one format: the accumulator before narrow. */
static uint32_t arithmetic(const struct rule *op,
                           uint32_t a,
                           uint32_t b,
                           uint32_t c,
                           const struct facet_num_policy *policy,
                           unsigned *flags)
{
    switch (op->operation) {
    case ADD:
        return (uint32_t)facet_num_add(op->format, a, b, policy, flags);
    case SUB:
        return (uint32_t)facet_num_sub(op->format, a, b, policy, flags);
    case MUL:
        return (uint32_t)facet_num_mul(op->format, a, b, policy, flags);
    case DIV:
        return (uint32_t)facet_num_div(op->format, a, b, policy, flags);
    case SQRT:
        return (uint32_t)facet_num_sqrt(op->format, a, policy, flags);
    case MIN:
        return (uint32_t)facet_num_min(op->format, a, b, policy, flags);
    case MAX:
        return (uint32_t)facet_num_max(op->format, a, b, policy, flags);
    default:
        return (uint32_t)facet_num_fma(op->format,
                                       a,
                                       b,
                                       c,
                                       op->operation == NMSUB || op->operation == NMADD,
                                       op->operation == MSUB || op->operation == NMADD,
                                       policy,
                                       flags);
    }
}

static uint32_t from_integer(const struct rule *op,
                             uint64_t a,
                             const struct facet_num_policy *policy,
                             unsigned *flags)
{
    switch (op->operation) {
    case FROM_W:
        return (uint32_t)facet_num_from_i64(op->format, (int32_t)a, policy, flags);
    case FROM_WU:
        return (uint32_t)facet_num_from_u64(op->format, (uint32_t)a, policy, flags);
    case FROM_L:
        return (uint32_t)facet_num_from_i64(op->format, (int64_t)a, policy, flags);
    default:
        return (uint32_t)facet_num_from_u64(op->format, a, policy, flags);
    }
}

/* Rows with an integer result: as the base ISA has it, of the widened sources. */
static uint64_t integer(const struct rule *op,
                        uint32_t a,
                        uint32_t b,
                        const struct facet_num_policy *policy,
                        unsigned *flags)
{
    switch (op->operation) {
    case EQ:
        return facet_num_eq(op->format, a, b, policy, flags);
    case LT:
        return facet_num_lt(op->format, a, b, policy, flags);
    case LE:
        return facet_num_le(op->format, a, b, policy, flags);
    case TO_W:
        return facet_num_to_int(op->format, a, 32, true, policy, flags);
    case TO_WU: /* the register holds 32-bit results sign-extended */
        return (uint64_t)(int64_t)(int32_t)facet_num_to_int(
            op->format, a, 32, false, policy, flags);
    case TO_L:
        return facet_num_to_int(op->format, a, 64, true, policy, flags);
    default:
        return facet_num_to_int(op->format, a, 64, false, policy, flags);
    }
}

static unsigned sources(unsigned operation)
{
    switch (operation) {
    case MADD:
    case MSUB:
    case NMSUB:
    case NMADD:
        return 3;
    case SQRT:
    case TO_W:
    case TO_WU:
    case TO_L:
    case TO_LU:
    case CONVERT:
        return 1;
    case FROM_W:
    case FROM_WU:
    case FROM_L:
    case FROM_LU:
        return 0;
    default:
        return 2;
    }
}

uint64_t facet_rsv_fp(const struct facet_insn *in,
                      const struct facet_eff *eff,
                      unsigned rm,
                      uint64_t a,
                      uint64_t b,
                      uint64_t c,
                      unsigned *flags)
{
    const struct rule *op = &rules[in->row];
    struct facet_conv conv = {
        .elem = op->format,
        .acc = op->format,
        .rm = (uint8_t)rm,
        .nan_pol = eff->nan_pol,
        .ftz = eff->ftz,
        .sat = eff->sat,
        .sat_mode = eff->sat_mode,
        .plain = eff->plain,
    };
    struct facet_num_policy policy = {
        .rm = (uint8_t)rm,
        .flush = eff->ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE,
    };
    uint64_t reg[3] = {a, b, c};
    uint32_t v[3] = {0}, result;

    if (op->operation == PLAIN) {
        return plain(in, eff->plain ? rm | FACET_RM_PLAIN : rm, a, b, c, flags);
    }
    for (unsigned i = 0; i < sources(op->operation); i++) {
        v[i] = facet_widen(&conv, unbox(op->format, reg[i]), flags);
    }
    if (op->operation >= EQ && op->operation <= TO_LU) {
        return integer(op, v[0], v[1], &policy, flags);
    }
    conv.elem = op->to;
    result = op->operation == CONVERT  ? v[0]
             : op->operation >= FROM_W ? from_integer(op, a, &policy, flags)
                                       : arithmetic(op, v[0], v[1], v[2], &policy, flags);
    return box(op->to, facet_narrow(&conv, result, flags));
}
