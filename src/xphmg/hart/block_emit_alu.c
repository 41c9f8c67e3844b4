/* See block_emit.h: computations on the registers x. */
#include "xphmg/hart/block_emit.h"

/* How a kind becomes host code. */
enum how {
    NOT_HERE,
    BINARY,
    BINARY_IMM,
    SHIFT,
    SHIFT_IMM,
    COMPARE,
    COMPARE_IMM,
    SCALED,   /* `code`: shift */
    INVERTED, /* the second operand first */
    PICK,     /* one of two, by the condition `code` */
    BIT,
    BIT_IMM,
    BIT_TEST,
    BIT_TEST_IMM,
    WIDEN,
    HIGH, /* of a product */
    SWAP,
    COUNT, /* of bits; `code` */
};

/* Last byte of the opcode. */
enum { COUNT_ONES = 0xB8, COUNT_TRAILING = 0xBC };

struct recipe {
    uint8_t how;
    uint8_t size;  /* of the host's operation; 4: the result is extended to 64 bits */
    uint16_t code; /* opcode, digit of a group, or condition */
    bool either;   /* the operands may change places */
    bool word;     /* the first operand is the low 32 bits, unsigned */
};

static const struct recipe recipes[K_SINGLE] = {
    [K_ADD] = {BINARY, 8, 0x03, .either = true},
    [K_SUB] = {BINARY, 8, .code = 0x2B},
    [K_XOR] = {BINARY, 8, 0x33, .either = true},
    [K_OR] = {BINARY, 8, 0x0B, .either = true},
    [K_AND] = {BINARY, 8, 0x23, .either = true},
    [K_MUL] = {BINARY, 8, 0x0FAF, .either = true},
    [K_ADDW] = {BINARY, 4, 0x03, .either = true},
    [K_SUBW] = {BINARY, 4, .code = 0x2B},
    [K_MULW] = {BINARY, 4, 0x0FAF, .either = true},
    [K_ADD_UW] = {BINARY, 8, 0x03, .word = true},
    [K_ADDI] = {BINARY_IMM, 8, .code = FACET_ADD},
    [K_XORI] = {BINARY_IMM, 8, .code = FACET_XOR},
    [K_ORI] = {BINARY_IMM, 8, .code = FACET_OR},
    [K_ANDI] = {BINARY_IMM, 8, .code = FACET_AND},
    [K_ADDIW] = {BINARY_IMM, 4, .code = FACET_ADD},
    [K_SLL] = {SHIFT, 8, .code = DIGIT_SHL},
    [K_SRL] = {SHIFT, 8, .code = DIGIT_SHR},
    [K_SRA] = {SHIFT, 8, .code = DIGIT_SAR},
    [K_ROL] = {SHIFT, 8, .code = DIGIT_ROL},
    [K_ROR] = {SHIFT, 8, .code = DIGIT_ROR},
    [K_SLLW] = {SHIFT, 4, .code = DIGIT_SHL},
    [K_SRLW] = {SHIFT, 4, .code = DIGIT_SHR},
    [K_SRAW] = {SHIFT, 4, .code = DIGIT_SAR},
    [K_ROLW] = {SHIFT, 4, .code = DIGIT_ROL},
    [K_RORW] = {SHIFT, 4, .code = DIGIT_ROR},
    [K_SLLI] = {SHIFT_IMM, 8, .code = DIGIT_SHL},
    [K_SRLI] = {SHIFT_IMM, 8, .code = DIGIT_SHR},
    [K_SRAI] = {SHIFT_IMM, 8, .code = DIGIT_SAR},
    [K_RORI] = {SHIFT_IMM, 8, .code = DIGIT_ROR},
    [K_SLLIW] = {SHIFT_IMM, 4, .code = DIGIT_SHL},
    [K_SRLIW] = {SHIFT_IMM, 4, .code = DIGIT_SHR},
    [K_SRAIW] = {SHIFT_IMM, 4, .code = DIGIT_SAR},
    [K_RORIW] = {SHIFT_IMM, 4, .code = DIGIT_ROR},
    [K_SLLI_UW] = {SHIFT_IMM, 8, DIGIT_SHL, .word = true},
    [K_SLT] = {COMPARE, 8, .code = FACET_IF_LESS},
    [K_SLTU] = {COMPARE, 8, .code = FACET_IF_BELOW},
    [K_SLTI] = {COMPARE_IMM, 8, .code = FACET_IF_LESS},
    [K_SLTIU] = {COMPARE_IMM, 8, .code = FACET_IF_BELOW},
    [K_SH1ADD] = {SCALED, 8, .code = 1},
    [K_SH2ADD] = {SCALED, 8, .code = 2},
    [K_SH3ADD] = {SCALED, 8, .code = 3},
    [K_SH1ADD_UW] = {SCALED, 8, 1, .word = true},
    [K_SH2ADD_UW] = {SCALED, 8, 2, .word = true},
    [K_SH3ADD_UW] = {SCALED, 8, 3, .word = true},
    [K_ANDN] = {INVERTED, 8, .code = 0x23},
    [K_ORN] = {INVERTED, 8, .code = 0x0B},
    [K_XNOR] = {INVERTED, 8, .code = 0x33},
    [K_MAX] = {PICK, 8, .code = FACET_IF_LESS},
    [K_MAXU] = {PICK, 8, .code = FACET_IF_BELOW},
    [K_MIN] = {PICK, 8, .code = FACET_IF_GREATER},
    [K_MINU] = {PICK, 8, .code = FACET_IF_ABOVE},
    [K_BCLR] = {BIT, 8, .code = 0x0FB3},
    [K_BINV] = {BIT, 8, .code = 0x0FBB},
    [K_BSET] = {BIT, 8, .code = 0x0FAB},
    [K_BEXT] = {BIT_TEST, 8, .code = 0x0FA3},
    [K_BCLRI] = {BIT_IMM, 8, .code = 6},
    [K_BINVI] = {BIT_IMM, 8, .code = 7},
    [K_BSETI] = {BIT_IMM, 8, .code = 5},
    [K_BEXTI] = {BIT_TEST_IMM, 8, .code = 0},
    [K_SEXT_B] = {WIDEN, 8, .code = 0x0FBE},
    [K_SEXT_H] = {WIDEN, 8, .code = 0x0FBF},
    [K_ZEXT_H] = {WIDEN, 8, .code = 0x0FB7},
    [K_MULH] = {HIGH, 8, .code = 5},
    [K_MULHU] = {HIGH, 8, .code = 4},
    [K_REV8] = {SWAP, 8, .code = 0},
    [K_CTZ] = {COUNT, 8, .code = COUNT_TRAILING},
    [K_CTZW] = {COUNT, 4, .code = COUNT_TRAILING},
    [K_CPOP] = {COUNT, 8, .code = COUNT_ONES},
    [K_CPOPW] = {COUNT, 4, .code = COUNT_ONES},
};

/* The low half of the result, extended. */
static void extend(struct emitter *e, const struct recipe *how, unsigned reg)
{
    if (how->size == 4) {
        facet_x86_op(&e->x, 8, 0x63, reg, facet_x86_in(reg));
    }
}

/* `reg` = the guest's register; as much of it as the recipe wants. */
static void fetch(struct emitter *e, const struct recipe *how, unsigned reg, unsigned guest)
{
    const struct facet_x86_operand from = value_of(e, guest);

    if (from.memory || from.base != reg || how->word) {
        facet_x86_op(&e->x, how->word || how->size == 4 ? 4 : 8, 0x8B, reg, from);
    }
}

static void emit_binary(struct emitter *e, const struct op *op, const struct recipe *how)
{
    unsigned a = op->a1, b = op->b1, to = target(e, op->d1, FACET_RAX);

    if (op->d1 == b && a != b) {
        if (how->either) {
            b = a;
            a = op->b1;
        } else {
            to = FACET_RAX;
        }
    } else if (a == b && how->word) {
        to = FACET_RAX; /* the whole of it is needed too */
    }
    fetch(e, how, to, a);
    facet_x86_op(&e->x, how->size, how->code, to, value_of(e, b));
    extend(e, how, to);
    put(e, op->d1, to);
}

static void emit_binary_imm(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned to = target(e, op->d1, FACET_RAX);

    if (how->size == 8 && how->code == FACET_ADD && op->a1 != op->d1) {
        facet_x86_op(&e->x, 8, 0x8D, to, facet_x86_at(get(e, op->a1, FACET_RAX), op->imm1));
    } else {
        fetch(e, how, to, op->a1);
        facet_x86_immediate(
            &e->x, how->size, (enum facet_x86_digit)how->code, facet_x86_in(to), op->imm1);
        extend(e, how, to);
    }
    put(e, op->d1, to);
}

static void emit_shift(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned to = target(e, op->d1, FACET_RAX);

    facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, value_of(e, op->b1)); /* first: it may be the target */
    fetch(e, how, to, op->a1);
    facet_x86_op(&e->x, how->size, 0xD3, how->code, facet_x86_in(to));
    extend(e, how, to);
    put(e, op->d1, to);
}

static void emit_shift_imm(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned to = target(e, op->d1, FACET_RAX);

    fetch(e, how, to, op->a1);
    facet_x86_op(&e->x, how->size, 0xC1, how->code, facet_x86_in(to));
    facet_x86_byte(&e->x, (unsigned)op->imm1 & (8u * how->size - 1));
    extend(e, how, to);
    put(e, op->d1, to);
}

/* The condition as 0 or 1. */
static void write_condition(struct emitter *e, unsigned guest, unsigned condition)
{
    const unsigned to = target(e, guest, FACET_RAX);

    facet_x86_op(&e->x, 1, 0x0F90 | condition, 0, facet_x86_in(FACET_RAX));
    facet_x86_op(&e->x, 4, 0x0FB6, to, facet_x86_in(FACET_RAX));
    put(e, guest, to);
}

static void emit_compare(struct emitter *e, const struct op *op, const struct recipe *how)
{
    facet_x86_op(&e->x, 8, 0x3B, get(e, op->a1, FACET_RAX), value_of(e, op->b1));
    write_condition(e, op->d1, how->code);
}

static void emit_compare_imm(struct emitter *e, const struct op *op, const struct recipe *how)
{
    facet_x86_immediate(&e->x, 8, FACET_CMP, value_of(e, op->a1), op->imm1);
    write_condition(e, op->d1, how->code);
}

static void emit_scaled(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned to = target(e, op->d1, FACET_RAX);
    unsigned a = FACET_RAX, b;

    if (how->word) {
        facet_x86_op(&e->x, 4, 0x8B, a, value_of(e, op->a1));
    } else {
        a = get(e, op->a1, FACET_RAX);
    }
    b = get(e, op->b1, FACET_RCX);
    facet_x86_op(&e->x, 8, 0x8D, to, facet_x86_indexed(b, a, how->code, 0));
    put(e, op->d1, to);
}

static void emit_inverted(struct emitter *e, const struct op *op, const struct recipe *how)
{
    facet_x86_load(&e->x, FACET_RAX, value_of(e, op->b1));
    facet_x86_op(&e->x, 8, 0xF7, 2, facet_x86_in(FACET_RAX));
    facet_x86_op(&e->x, 8, how->code, FACET_RAX, value_of(e, op->a1));
    put(e, op->d1, FACET_RAX);
}

static void emit_pick(struct emitter *e, const struct op *op, const struct recipe *how)
{
    facet_x86_load(&e->x, FACET_RAX, value_of(e, op->a1));
    facet_x86_op(&e->x, 8, 0x3B, FACET_RAX, value_of(e, op->b1));
    facet_x86_op(&e->x, 8, 0x0F40u | how->code, FACET_RAX, value_of(e, op->b1));
    put(e, op->d1, FACET_RAX);
}

static void emit_bit(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned b = get(e, op->b1, FACET_RCX);

    facet_x86_load(&e->x, FACET_RAX, value_of(e, op->a1));
    facet_x86_op(&e->x, 8, how->code, b, facet_x86_in(FACET_RAX));
    if (how->how == BIT_TEST) {
        write_condition(e, op->d1, FACET_IF_BELOW); /* the carry */
    } else {
        put(e, op->d1, FACET_RAX);
    }
}

static void emit_bit_imm(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned to = target(e, op->d1, FACET_RAX);

    fetch(e, how, to, op->a1);
    facet_x86_op(&e->x,
                 8,
                 how->how == BIT_IMM ? 0x0FBA : 0xC1,
                 how->how == BIT_IMM ? how->code : DIGIT_SHR,
                 facet_x86_in(to));
    facet_x86_byte(&e->x, (unsigned)op->imm1 & 63);
    if (how->how == BIT_TEST_IMM) {
        facet_x86_immediate(&e->x, 4, FACET_AND, facet_x86_in(to), 1);
    }
    put(e, op->d1, to);
}

static void emit_high(struct emitter *e, const struct op *op, const struct recipe *how)
{
    facet_x86_move(&e->x, FACET_RDI, FACET_RDX); /* LEFT */
    facet_x86_load(&e->x, FACET_RAX, value_of(e, op->a1));
    facet_x86_op(&e->x, 8, 0xF7, how->code, value_of(e, op->b1));
    facet_x86_move(&e->x, FACET_RAX, FACET_RDX);
    facet_x86_move(&e->x, FACET_RDX, FACET_RDI);
    put(e, op->d1, FACET_RAX);
}

static void emit_constant(struct emitter *e, unsigned guest, uint64_t value)
{
    const unsigned to = target(e, guest, FACET_RAX);

    facet_x86_constant(&e->x, to, value);
    put(e, guest, to);
}

static void emit_unary(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned to = target(e, op->d1, FACET_RAX);

    if (how->how == SWAP) {
        fetch(e, how, to, op->a1);
        facet_x86_byte(&e->x, 0x48 | to >> 3); /* BSWAP names its register in the opcode */
        facet_x86_byte(&e->x, 0x0F);
        facet_x86_byte(&e->x, 0xC8 | (to & 7));
    } else {
        facet_x86_op(&e->x, 8, how->code, to, value_of(e, op->a1));
    }
    put(e, op->d1, to);
}

static bool can_count(unsigned code)
{
#if defined(__x86_64__)
    return code == COUNT_ONES ? __builtin_cpu_supports("popcnt") : __builtin_cpu_supports("bmi");
#else
    (void)code;
    return false;
#endif
}

static void emit_count(struct emitter *e, const struct op *op, const struct recipe *how)
{
    const unsigned to = target(e, op->d1, FACET_RAX);

    facet_x86_op(&e->x, how->size, 0xF30F00u | how->code, to, value_of(e, op->a1));
    put(e, op->d1, to);
}

bool facet_block_emit_computation(struct emitter *e, unsigned i)
{
    const struct recipe *how = &recipes[e->t->kinds[i]];
    const struct op *op = &e->t->ops[i];

    switch ((enum how)how->how) {
    case BINARY:
        emit_binary(e, op, how);
        return true;
    case BINARY_IMM:
        emit_binary_imm(e, op, how);
        return true;
    case SHIFT:
        emit_shift(e, op, how);
        return true;
    case SHIFT_IMM:
        emit_shift_imm(e, op, how);
        return true;
    case COMPARE:
        emit_compare(e, op, how);
        return true;
    case COMPARE_IMM:
        emit_compare_imm(e, op, how);
        return true;
    case SCALED:
        emit_scaled(e, op, how);
        return true;
    case INVERTED:
        emit_inverted(e, op, how);
        return true;
    case PICK:
        emit_pick(e, op, how);
        return true;
    case BIT:
    case BIT_TEST:
        emit_bit(e, op, how);
        return true;
    case BIT_IMM:
    case BIT_TEST_IMM:
        emit_bit_imm(e, op, how);
        return true;
    case WIDEN:
    case SWAP:
        emit_unary(e, op, how);
        return true;
    case HIGH:
        emit_high(e, op, how);
        return true;
    case COUNT:
        if (!can_count(how->code)) {
            return false;
        }
        emit_count(e, op, how);
        return true;
    case NOT_HERE:
    default:
        break;
    }
    switch (e->t->kinds[i]) {
    case K_LI:
        emit_constant(e, op->d1, (uint64_t)(int64_t)op->imm1);
        return true;
    case K_LI_LONG:
        emit_constant(e, op->d1, op->imm64);
        return true;
    case K_MV:
        put(e, op->d1, get(e, op->a1, FACET_RAX));
        return true;
    default:
        return false;
    }
}
