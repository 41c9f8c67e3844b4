/* Register names of both machines (spec/README.md, tile-semantics.md 2). Any case. */
#include "assembler/internal.h"

static const char *const x_names[32] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static const char *const f_names[32] = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1",  "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4",  "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};

/* The number after a one-letter prefix: 0..31 without leading zeros, or -1. */
static int number(const char *digits, size_t length)
{
    int value;

    if (length < 1 || length > 2 || !facet_lex_is(digits[0], FACET_LEX_DIGIT) ||
        (length == 2 && (digits[0] == '0' || !facet_lex_is(digits[1], FACET_LEX_DIGIT)))) {
        return -1;
    }
    value = digits[0] - '0';
    if (length == 2) {
        value = value * 10 + (digits[1] - '0');
    }
    return value < 32 ? value : -1;
}

static int prefixed(char prefix, const char *name, size_t length)
{
    return facet_lex_lower(name[0]) == prefix ? number(name + 1, length - 1) : -1;
}

/* a0..a7, s0..s11, t0..t6 and the five others, without a search: this runs for every operand. */
static int x_register(const char *name, size_t length)
{
    char c = facet_lex_lower(name[0]);
    int n = number(name + 1, length - 1);

    switch (c) {
    case 'x':
        return n;
    case 'a':
        return n >= 0 && n <= 7 ? 10 + n : -1;
    case 's':
        if (n >= 0) {
            return n <= 1 ? 8 + n : n <= 11 ? 16 + n : -1;
        }
        return length == 2 && facet_lex_lower(name[1]) == 'p' ? 2 : -1;
    case 't':
        if (n >= 0) {
            return n <= 2 ? 5 + n : n <= 6 ? 25 + n : -1;
        }
        return length == 2 && facet_lex_lower(name[1]) == 'p' ? 4 : -1;
    case 'r':
        return length == 2 && facet_lex_lower(name[1]) == 'a' ? 1 : -1;
    case 'g':
        return length == 2 && facet_lex_lower(name[1]) == 'p' ? 3 : -1;
    case 'z':
        return facet_lex_same(name, length, "zero") ? 0 : -1;
    case 'f':
        return length == 2 && facet_lex_lower(name[1]) == 'p' ? 8 : -1;
    default:
        return -1;
    }
}

static int f_register(const char *name, size_t length)
{
    int n;

    if (length < 2 || facet_lex_lower(name[0]) != 'f') {
        return -1;
    }
    if (facet_lex_is(name[1], FACET_LEX_DIGIT)) {
        return number(name + 1, length - 1);
    }
    n = number(name + 2, length - 2);
    switch (facet_lex_lower(name[1])) {
    case 'a':
        return n >= 0 && n <= 7 ? 10 + n : -1;
    case 's':
        return n < 0 ? -1 : n <= 1 ? 8 + n : n <= 11 ? 16 + n : -1;
    case 't':
        return n < 0 ? -1 : n <= 7 ? n : n <= 11 ? 20 + n : -1;
    default:
        return -1;
    }
}

int facet_asm_register(enum facet_operand_kind kind, const char *name, size_t length)
{
    int n;

    if (length < 2 || length > 4) {
        return -1;
    }
    switch (kind) {
    case FACET_OPERAND_XREG:
    case FACET_OPERAND_XREG_C:
        return x_register(name, length);
    case FACET_OPERAND_FREG:
    case FACET_OPERAND_FREG_C:
        return f_register(name, length);
    case FACET_OPERAND_XFREG:
        n = x_register(name, length);
        return n >= 0 ? n : f_register(name, length);
    case FACET_OPERAND_SREG:
        return prefixed('s', name, length);
    case FACET_OPERAND_TFREG:
        return prefixed('f', name, length);
    case FACET_OPERAND_VREG:
        return prefixed('v', name, length);
    case FACET_OPERAND_CREG:
        return prefixed('c', name, length);
    default:
        return -1;
    }
}

bool facet_asm_is_register_kind(enum facet_operand_kind kind)
{
    return kind <= FACET_OPERAND_CREG;
}

const char *facet_asm_register_class(enum facet_operand_kind kind)
{
    switch (kind) {
    case FACET_OPERAND_XREG:
        return "an integer register (x0..x31, zero, ra, sp, a0..a7, s0..s11, t0..t6)";
    case FACET_OPERAND_XREG_C:
        return "a register of x8..x15 (s0, s1, a0..a5)";
    case FACET_OPERAND_FREG:
        return "a floating-point register (f0..f31, fa0..fa7, fs0..fs11, ft0..ft11)";
    case FACET_OPERAND_FREG_C:
        return "a register of f8..f15 (fs0, fs1, fa0..fa5)";
    case FACET_OPERAND_XFREG:
        return "a register (x0..x31 or f0..f31 or an ABI name)";
    case FACET_OPERAND_SREG:
        return "a scalar register s0..s31";
    case FACET_OPERAND_TFREG:
        return "an FP16 register f0..f31";
    case FACET_OPERAND_VREG:
        return "a vector register v0..v31";
    case FACET_OPERAND_CREG:
        return "a constant register c0..c31";
    default:
        return "a register";
    }
}

static const char *const s_numbered[32] = {
    "s0",  "s1",  "s2",  "s3",  "s4",  "s5",  "s6",  "s7",  "s8",  "s9",  "s10",
    "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21",
    "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31",
};

void facet_asm_offer_registers(enum facet_operand_kind kind, struct facet_nearest *search)
{
    bool x =
        kind == FACET_OPERAND_XREG || kind == FACET_OPERAND_XREG_C || kind == FACET_OPERAND_XFREG;
    bool f =
        kind == FACET_OPERAND_FREG || kind == FACET_OPERAND_FREG_C || kind == FACET_OPERAND_XFREG;

    for (unsigned i = 0; i < 32; i++) {
        if (x) {
            facet_nearest_offer(search, x_names[i], strlen(x_names[i]));
        }
        if (f) {
            facet_nearest_offer(search, f_names[i], strlen(f_names[i]));
        }
        if (kind == FACET_OPERAND_SREG) {
            facet_nearest_offer(search, s_numbered[i], strlen(s_numbered[i]));
        }
    }
}

bool facet_asm_is_register_name(enum facet_isa isa, const char *name, size_t length)
{
    static const enum facet_operand_kind hart[] = {FACET_OPERAND_XREG, FACET_OPERAND_FREG};
    static const enum facet_operand_kind tile[] = {
        FACET_OPERAND_SREG, FACET_OPERAND_TFREG, FACET_OPERAND_VREG, FACET_OPERAND_CREG};
    const enum facet_operand_kind *kinds = isa == FACET_ISA_TILE ? tile : hart;
    unsigned count = isa == FACET_ISA_TILE ? 4 : 2;

    for (unsigned i = 0; i < count; i++) {
        if (facet_asm_register(kinds[i], name, length) >= 0) {
            return true;
        }
    }
    return false;
}
