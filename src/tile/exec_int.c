/* Scalar integer instructions, branches and jumps (tile-semantics.md 4). */
#include "contract/tile_csrs.h"
#include "tile/system.h"

#define RS1 (c->r.s[op->rs1])
#define RS2 (c->r.s[op->rs2])
#define IMM ((uint32_t)op->imm)

/* rd = EXPR. */
#define SCALAR(name, expr)                                                                         \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        c->r.s[op->rd] = (expr);                                                                   \
        return op + 1;                                                                             \
    }

/* satS of the exact result. */
static uint32_t saturate(struct facet_tile_core *c, facet_i128 exact)
{
    bool sat = (c->r.config & FACET_CONFIG_SAT) != 0, outside = false;
    uint32_t result = (uint32_t)facet_num_int_fit(exact, 32, sat, &outside);

    c->r.status |= sat && outside ? (uint32_t)FACET_STATUS_ISAT : 0;
    return result;
}

/* The exact result matters only when config.SAT is set. */
#define SATURATING(name, wrapped, exact)                                                           \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        c->r.s[op->rd] = __builtin_expect((c->r.config & FACET_CONFIG_SAT) == 0, 1)                \
                             ? (uint32_t)(wrapped)                                                 \
                             : saturate(c, exact);                                                 \
        return op + 1;                                                                             \
    }

static int64_t sx(uint32_t value)
{
    return (int32_t)value;
}

static uint32_t asr(uint32_t value, unsigned count)
{
    return (uint32_t)(sx(value) >> count);
}

static uint32_t min_signed(uint32_t a, uint32_t b)
{
    return (int32_t)a < (int32_t)b ? a : b;
}

static uint32_t max_signed(uint32_t a, uint32_t b)
{
    return (int32_t)a > (int32_t)b ? a : b;
}

static uint32_t magnitude(uint32_t a)
{
    return (int32_t)a < 0 ? -a : a;
}

SATURATING(ADD, RS1 + RS2, sx(RS1) + sx(RS2))
SATURATING(ADDI, RS1 + IMM, sx(RS1) + op->imm)
SATURATING(SUB, RS1 - RS2, sx(RS1) - sx(RS2))
SATURATING(MUL, RS1 *RS2, sx(RS1) * sx(RS2))
SATURATING(MAC, c->r.s[op->rs3] + RS1 * RS2, (facet_i128)sx(RS1) * sx(RS2) + sx(c->r.s[op->rs3]))
SATURATING(ABS, magnitude(RS1), sx(RS1) < 0 ? -sx(RS1) : sx(RS1))

SCALAR(SHL, RS1 << (RS2 & 31))
SCALAR(LSR, RS1 >> (RS2 & 31))
SCALAR(ASR, asr(RS1, RS2 & 31))
SCALAR(SHLI, RS1 << (IMM & 31))
SCALAR(LSRI, RS1 >> (IMM & 31))
SCALAR(ASRI, asr(RS1, IMM & 31))
SCALAR(MIN, min_signed(RS1, RS2))
SCALAR(MAX, max_signed(RS1, RS2))
SCALAR(MINI, min_signed(RS1, IMM))
SCALAR(MAXI, max_signed(RS1, IMM))
SCALAR(XOR, RS1 ^ RS2)
SCALAR(OR, RS1 | RS2)
SCALAR(AND, RS1 &RS2)
SCALAR(XORI, RS1 ^ IMM)
SCALAR(ORI, RS1 | IMM)
SCALAR(ANDI, RS1 &IMM)
SCALAR(LUI, IMM << 12)
SCALAR(MULH, (uint32_t)((uint64_t)(sx(RS1) * sx(RS2)) >> 32))
SCALAR(MULHU, (uint32_t)((uint64_t)RS1 *RS2 >> 32))
SCALAR(CLZ, facet_clz32(RS1))
SCALAR(CTZ, facet_ctz32(RS1))

/* N, Z, C, V of a - b. */
static void set_flags(struct facet_tile_core *c, uint32_t a, uint32_t b)
{
    uint32_t d = a - b;
    uint32_t flags = (d >> 31) << FACET_STATUS_N_LSB | (uint32_t)(d == 0) << FACET_STATUS_Z_LSB |
                     (uint32_t)(a >= b) << FACET_STATUS_C_LSB |
                     (((a ^ b) & (a ^ d)) >> 31) << FACET_STATUS_V_LSB;

    c->r.status = (c->r.status & 0x0FFFFFFF) | flags;
}

#define COMPARE(name, relation)                                                                    \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        uint32_t a = RS1, b = RS2;                                                                 \
                                                                                                   \
        set_flags(c, a, b);                                                                        \
        c->r.s[op->rd] = relation;                                                                 \
        return op + 1;                                                                             \
    }

COMPARE(CMP, (int32_t)a < (int32_t)b)
COMPARE(CMPU, a < b)
COMPARE(CMPEQ, a == b)

/* ---- control flow ---- */

/* A taken branch or jump; `link` of a plain branch is FACET_TILE_NO_REG. */
static const struct facet_tile_insn *
jump(struct facet_tile_core *c, const struct facet_tile_insn *op, uint32_t target, unsigned link)
{
    uint32_t pc = facet_tile_pc(c, op);

    if ((target & 3) != 0) {
        return facet_tile_stop(c, op, 2, target);
    }
    c->r.s[link] = pc + 4;
    c->perf[FACET_TILE_CLASS_BRANCH]++;
    return facet_tile_at(c, target);
}

static inline const struct facet_tile_insn *branch(struct facet_tile_core *c,
                                                   const struct facet_tile_insn *op)
{
    if (__builtin_expect(op->near, 1)) {
        c->perf[FACET_TILE_CLASS_BRANCH]++;
        return op + op->imm / 4;
    }
    return jump(c, op, facet_tile_pc(c, op) + IMM, FACET_TILE_NO_REG);
}

#define BRANCH(name, condition)                                                                    \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        uint32_t a = RS1, b = RS2;                                                                 \
                                                                                                   \
        return condition ? branch(c, op) : op + 1;                                                 \
    }

BRANCH(BEQ, a == b)
BRANCH(BNE, a != b)
BRANCH(BLT, (int32_t)a < (int32_t)b)
BRANCH(BGE, (int32_t)a >= (int32_t)b)
BRANCH(BLTU, a < b)
BRANCH(BGEU, a >= b)

FACET_TILE_OP(JALR)
{
    return jump(c, op, (RS1 + IMM) & ~UINT32_C(1), op->rd);
}

FACET_TILE_OP(JAL)
{
    return jump(c, op, facet_tile_pc(c, op) + IMM, op->rd);
}

FACET_TILE_OP(JAL_S)
{
    return jump(c, op, facet_tile_pc(c, op) + IMM, op->rd);
}
