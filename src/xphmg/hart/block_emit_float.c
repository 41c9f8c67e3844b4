/* See block_emit.h: floating point by the host's own, when its bits and flags are provably those of
 * src/num (block_fp.h says when). What has to hold for the whole block (floating point is on, frm,
 * NX, operands that are boxed) is asked once; where it does not, the operations do the rest of the
 * block. A result that is not ordinary is left to the operation alone. Every result is stored in
 * the hart at once; the copies in registers of the host only spare the way back. */
#include "xphmg/hart/block_emit.h"

#include "num/hart.h"
#include "xphmg/hart/block_fp.h"

#include <string.h>

enum what {
    NOT_HERE,
    ROUNDED, /* two operands */
    ROOT,
    FUSED,
    TEST,
    TEST_SWAPPED, /* the second operand first */
    LEAST,        /* FMIN, FMAX */
    SIGN,
    NARROW, /* to the other format */
    FROM_INTEGER,
    TO_INTEGER, /* towards zero */
    MOVE_TO_X,
    MOVE_TO_F,
};

enum sign { SIGN_OF, SIGN_NOT, SIGN_XOR };
enum { LEAST_IS_LESS = 0x5D, LEAST_IS_MORE = 0x5F };

struct recipe {
    uint8_t what;
    bool single;   /* the format of the operands, or of the result of integers */
    uint8_t code;  /* last byte of the opcode, or condition, or enum sign */
    uint8_t bytes; /* of the integer */
    bool natural;  /* it has no sign */
    bool exact;    /* results that are not ordinary, but finite, are exact */
    bool zeros;    /* so are zeros from a first operand, or of products any operand, that is zero */
};

#define BOTH(row, ...)                                                                             \
    [K_HOST_##row##_S] = {__VA_ARGS__, .single = true}, [K_HOST_##row##_D] = {__VA_ARGS__}
#define EACH(first, last, ...)                                                                     \
    [K_##first##S##last] = {__VA_ARGS__, .single = true}, [K_##first##D##last] = {__VA_ARGS__}
static const struct recipe recipes[K_SINGLE] = {
    BOTH(FADD, ROUNDED, .code = 0x58, .exact = true),
    BOTH(FSUB, ROUNDED, .code = 0x5C, .exact = true),
    BOTH(FMUL, ROUNDED, .code = 0x59, .zeros = true),
    BOTH(FDIV, ROUNDED, .code = 0x5E, .zeros = true),
    BOTH(FSQRT, ROOT, .code = 0x51),
    BOTH(FMADD, FUSED, .code = 0xB9),
    BOTH(FMSUB, FUSED, .code = 0xBB),
    BOTH(FNMSUB, FUSED, .code = 0xBD),
    BOTH(FNMADD, FUSED, .code = 0xBF),
    BOTH(FEQ, TEST, .code = FACET_IF_EQUAL),
    BOTH(FLT, TEST_SWAPPED, .code = FACET_IF_ABOVE),
    BOTH(FLE, TEST_SWAPPED, .code = FACET_IF_NOT_BELOW),
    EACH(FMIN_, , LEAST, .code = LEAST_IS_LESS),
    EACH(FMAX_, , LEAST, .code = LEAST_IS_MORE),
    EACH(FSGNJ_, , SIGN, .code = SIGN_OF),
    EACH(FSGNJN_, , SIGN, .code = SIGN_NOT),
    EACH(FSGNJX_, , SIGN, .code = SIGN_XOR),
    EACH(FCVT_, _W, FROM_INTEGER, .bytes = 4),
    EACH(FCVT_, _WU, FROM_INTEGER, .bytes = 4, .natural = true),
    EACH(FCVT_, _L, FROM_INTEGER, .bytes = 8),
    EACH(FCVT_W_, , TO_INTEGER, .bytes = 4),
    EACH(FCVT_WU_, , TO_INTEGER, .bytes = 4, .natural = true),
    EACH(FCVT_L_, , TO_INTEGER, .bytes = 8),
    [K_FCVT_D_S] = {NARROW, .single = true},
    [K_FCVT_S_D] = {.what = NARROW},
    [K_FMV_X_W] = {MOVE_TO_X, .single = true},
    [K_FMV_X_D] = {.what = MOVE_TO_X},
    [K_FMV_W_X] = {MOVE_TO_F, .single = true},
    [K_FMV_D_X] = {.what = MOVE_TO_F},
};

/* The instruction for singles or for doubles. */
static uint32_t scalar(bool single, unsigned code)
{
    return (single ? 0xF30F00u : 0xF20F00u) | code;
}

static void compare_byte(struct emitter *e, struct facet_x86_operand at, unsigned value)
{
    facet_x86_op(&e->x, 4, 0x80, FACET_CMP, at);
    facet_x86_byte(&e->x, value);
}

void facet_block_check_floats(struct emitter *e, struct stub *off)
{
    if (!e->floats.on) {
        compare_byte(e, IN_HART(fs), FACET_FS_OFF);
        jump_to(e, off, FACET_IF_EQUAL);
        e->floats.on = true;
    }
}

void facet_block_mark_floats(struct emitter *e)
{
    if (!e->floats.dirty) {
        facet_x86_op(&e->x, 4, 0xC6, 0, IN_HART(fs));
        facet_x86_byte(&e->x, FACET_FS_DIRTY);
        e->floats.dirty = true;
    }
}

/* A mode of frm is to nearest; others, and those that trap, are for src/num. */
static void check_mode(struct emitter *e, const struct op *op, struct stub *rest)
{
    if (op->b2 == 7 && !e->floats.nearest) {
        compare_byte(e, IN_HART(frm), FACET_RNE);
        jump_to(e, rest, FACET_IF_NOT_EQUAL);
        e->floats.nearest = true;
    }
}

/* The result may be rounded, and nobody sees whether it was. */
static void check_rounding(struct emitter *e, const struct op *op, struct stub *rest)
{
    check_mode(e, op, rest);
    if (!e->floats.inexact) {
        facet_x86_op(&e->x, 4, 0xF6, 0, IN_HART(fflags)); /* test */
        facet_x86_byte(&e->x, FACET_NX);
        jump_to(e, rest, FACET_IF_EQUAL);
        e->floats.inexact = true;
    }
}

/* A single must be boxed. */
static void check_single(struct emitter *e, bool single, unsigned reg, struct stub *rest)
{
    struct facet_x86_operand high = float_at(reg);

    if (single && (e->floats.singles >> reg & 1) == 0) {
        high.offset += 4;
        facet_x86_immediate(&e->x, 4, FACET_CMP, high, -1);
        jump_to(e, rest, FACET_IF_NOT_EQUAL);
        e->floats.singles |= UINT32_C(1) << reg;
    }
}

/* ---- copies ---- */

unsigned facet_block_float_copy(const struct emitter *e, bool single, unsigned guest)
{
    for (unsigned i = 0; i < XMMS; i++) {
        if (e->copies.guest[i] == guest && (e->copies.singles >> i & 1) == single) {
            return i;
        }
    }
    return NO_FLOAT;
}

/* There is no copy of the register any more. */
static void drop_copy(struct emitter *e, unsigned guest)
{
    for (unsigned i = 0; i < XMMS; i++) {
        if (e->copies.guest[i] == guest) {
            e->copies.guest[i] = NO_FLOAT;
        }
    }
}

unsigned facet_block_float_place(struct emitter *e, unsigned guest, unsigned a, unsigned b)
{
    struct float_copies *copies = &e->copies;

    for (unsigned i = 0; i < XMMS; i++) {
        if (copies->guest[i] == guest && i != a && i != b) {
            return i;
        }
    }
    do {
        copies->next = copies->next >= XMMS - 1 ? XMM1 + 1 : copies->next + 1;
    } while (copies->next == a || copies->next == b);
    copies->guest[copies->next] = NO_FLOAT;
    return copies->next;
}

void facet_block_float_forget(struct emitter *e)
{
    memset(e->copies.guest, NO_FLOAT, sizeof e->copies.guest);
    e->copies.next = XMM1;
}

void facet_block_float_reload(struct emitter *e, const struct float_copies *copies)
{
    for (unsigned i = 0; i < XMMS; i++) {
        if (copies->guest[i] != NO_FLOAT) {
            const bool single = (copies->singles >> i & 1) != 0;

            facet_x86_op(&e->x, 4, scalar(single, 0x10), i, float_at(copies->guest[i]));
        }
    }
}

static void copy_is(struct emitter *e, bool single, unsigned guest, unsigned xmm)
{
    const uint16_t mask = (uint16_t)(1u << xmm);

    drop_copy(e, guest);
    e->copies.guest[xmm] = (uint8_t)guest;
    e->copies.singles = (uint16_t)(single ? e->copies.singles | mask : e->copies.singles & ~mask);
}

/* A register of the host with the value, other than the one given. */
static unsigned load_float(struct emitter *e, bool single, unsigned guest, unsigned other)
{
    unsigned xmm = facet_block_float_copy(e, single, guest);

    if (xmm == NO_FLOAT) {
        xmm = facet_block_float_place(e, guest, other, other);
        facet_x86_op(&e->x, 4, scalar(single, 0x10), xmm, float_at(guest));
        copy_is(e, single, guest, xmm);
    }
    return xmm;
}

static void move_float(struct emitter *e, unsigned to, unsigned from)
{
    if (to != from) {
        facet_x86_op(&e->x, 4, 0x0F28, to, facet_x86_in(from));
    }
}

/* The bits of the result in RAX; those of no ordinary number go to the stub, or only those of no
 * number. What is left of them without the sign is compared at once: the exponent is on top. */
static void
check_result(struct emitter *e, bool single, bool finite, unsigned xmm, struct stub *slow)
{
    const unsigned size = single ? 4 : 8;
    const unsigned top = single ? 24 : 53; /* where the exponent begins then */
    const unsigned most = single ? 0xFF : 0x7FF;

    facet_x86_op(&e->x, size, 0x660F7E, xmm, facet_x86_in(FACET_RAX));
    facet_x86_op(
        &e->x,
        size,
        0x8D,
        FACET_RCX,
        facet_x86_indexed(FACET_RAX, FACET_RAX, 0, single && !finite ? -(int32_t)(2u << top) : 0));
    if (single) {
        facet_x86_immediate(&e->x,
                            4,
                            FACET_CMP,
                            facet_x86_in(FACET_RCX),
                            (int32_t)((finite ? most : most - 2) << top));
        jump_to(e, slow, FACET_IF_NOT_BELOW);
        return;
    }
    facet_x86_op(&e->x, 8, 0xC1, DIGIT_SHR, facet_x86_in(FACET_RCX));
    facet_x86_byte(&e->x, top);
    if (!finite) {
        facet_x86_immediate(&e->x, 4, FACET_SUB, facet_x86_in(FACET_RCX), 2);
    }
    facet_x86_immediate(
        &e->x, 4, FACET_CMP, facet_x86_in(FACET_RCX), (int32_t)(finite ? most : most - 2));
    jump_to(e, slow, FACET_IF_NOT_BELOW);
}

/* FACET_EXACT of products and quotients. */
size_t facet_block_emit_zero(struct emitter *e, const struct stub *stub)
{
    const struct op *op = &e->t->ops[stub->op];
    const unsigned kind = e->t->kinds[stub->op];
    const bool product = kind == K_HOST_FMUL_S || kind == K_HOST_FMUL_D;
    size_t no;

    facet_x86_op(
        &e->x, stub->bytes, 0x8D, FACET_RCX, facet_x86_indexed(FACET_RAX, FACET_RAX, 0, 0));
    facet_x86_op(&e->x, stub->bytes, 0x85, FACET_RCX, facet_x86_in(FACET_RCX)); /* test */
    no = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
    for (unsigned i = 0; i < (product ? 2u : 1u); i++) {
        facet_x86_op(&e->x, stub->bytes, 0x8B, FACET_RCX, float_at(i == 0 ? op->a1 : op->b1));
        facet_x86_op(&e->x, stub->bytes, 0x03, FACET_RCX, facet_x86_in(FACET_RCX)); /* no sign */
        facet_x86_land(&e->x, facet_x86_jump_if(&e->x, FACET_IF_EQUAL), stub->back);
    }
    facet_x86_land(&e->x, no, e->x.used);
    return facet_x86_jump(&e->x);
}

/* The register has a new value: a single is boxed, if the register is not full of ones already. */
static void box(struct emitter *e, bool single, unsigned guest)
{
    const uint32_t mask = UINT32_C(1) << guest;
    struct facet_x86_operand high = float_at(guest);

    if (single && (e->floats.singles & mask) == 0) {
        high.offset += 4;
        facet_x86_op(&e->x, 4, 0xC7, 0, high);
        facet_x86_word(&e->x, UINT32_MAX);
    }
    e->floats.singles = single ? e->floats.singles | mask : e->floats.singles & ~mask;
    facet_block_mark_floats(e);
}

void facet_block_float_keep(struct emitter *e, bool single, unsigned guest, unsigned xmm)
{
    facet_x86_op(&e->x, 4, scalar(single, 0x11), xmm, float_at(guest));
    copy_is(e, single, guest, xmm);
    box(e, single, guest);
}

/* The same for a result in RAX. */
static void keep(struct emitter *e, bool single, unsigned guest)
{
    facet_x86_op(&e->x, single ? 4 : 8, 0x89, FACET_RAX, float_at(guest));
    drop_copy(e, guest);
    box(e, single, guest);
}

static bool has_fma(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* XMM0 = +-(XMM1 * operand) +- XMM0. */
static void multiply_add(struct emitter *e, bool single, unsigned code, unsigned reg)
{
    const int32_t offset = float_at(reg).offset;

    facet_x86_byte(&e->x, 0xC4); /* VEX, whose bits for long registers are inverted */
    facet_x86_byte(&e->x, 0xE2);
    facet_x86_byte(&e->x, (single ? 0x01u : 0x81u) | (~(unsigned)XMM1 & 15) << 3);
    facet_x86_byte(&e->x, code);
    facet_x86_byte(&e->x, 0x80 | XMM0 << 3 | HART);
    facet_x86_word(&e->x, (uint32_t)offset);
}

static void emit_rounded(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    struct stub *rest = add_stub(e, REST, i);
    unsigned to;
    struct stub *zero = how->zeros ? add_stub(e, ZERO, i) : NULL, *slow = add_stub(e, OPERATION, i);

    facet_block_check_floats(e, rest);
    check_rounding(e, op, rest);
    check_single(e, how->single, op->a1, rest);
    if (how->what != ROOT) {
        check_single(e, how->single, op->b1, rest);
    }
    if (how->what == FUSED) {
        check_single(e, how->single, op->a2, rest);
        move_float(e, XMM0, load_float(e, how->single, op->a2, XMM0));
        move_float(e, XMM1, load_float(e, how->single, op->a1, XMM0));
        multiply_add(e, how->single, how->code, op->b1);
        to = XMM0;
    } else if (how->what == ROOT) {
        const unsigned a = load_float(e, how->single, op->a1, XMM0);

        to = facet_block_float_place(e, op->d1, XMM0, XMM0);
        facet_x86_op(&e->x, 4, scalar(how->single, how->code), to, facet_x86_in(a));
    } else {
        const unsigned a = load_float(e, how->single, op->a1, XMM0);
        const unsigned b = load_float(e, how->single, op->b1, a);

        to = op->d1 == op->a1 && a != b ? a : facet_block_float_place(e, op->d1, a, b);
        move_float(e, to, a);
        facet_x86_op(&e->x, 4, scalar(how->single, how->code), to, facet_x86_in(b));
    }
    check_result(e, how->single, how->exact, to, zero != NULL ? zero : slow);
    if (zero != NULL) {
        zero->bytes = how->single ? 4 : 8;
        zero->back = e->x.used;
    }
    if (to == XMM0) {
        to = facet_block_float_place(e, op->d1, XMM0, XMM0);
        move_float(e, to, XMM0);
    }
    facet_block_float_keep(e, how->single, op->d1, to);
    slow->back = e->x.used;
}

/* Compares the first operand with the second; NaNs go to the stub. Returns where the first is. */
static unsigned compare(struct emitter *e, bool single, unsigned a, unsigned b, struct stub *slow)
{
    const unsigned first = load_float(e, single, a, XMM0);
    const unsigned second = load_float(e, single, b, first);

    facet_x86_op(&e->x, 4, single ? 0x0F2E : 0x660F2E, first, facet_x86_in(second));
    jump_to(e, slow, FACET_IF_PARITY);
    return first;
}

static void emit_test(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    const bool swapped = how->what == TEST_SWAPPED;
    struct stub *rest = add_stub(e, REST, i), *slow = add_stub(e, OPERATION, i);
    const unsigned to = target(e, op->d1, FACET_RAX);

    facet_block_check_floats(e, rest);
    check_single(e, how->single, op->a1, rest);
    check_single(e, how->single, op->b1, rest);
    (void)compare(e, how->single, swapped ? op->b1 : op->a1, swapped ? op->a1 : op->b1, slow);
    facet_x86_op(&e->x, 1, 0x0F90u | how->code, 0, facet_x86_in(FACET_RAX));
    facet_x86_op(&e->x, 4, 0x0FB6, to, facet_x86_in(FACET_RAX));
    put(e, op->d1, to);
    slow->back = e->x.used;
}

/* Equal ones may be zeros of both signs: then their bits are joined so that -0 < +0. */
static void emit_least(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    const unsigned size = how->single ? 4 : 8;
    struct stub *rest = add_stub(e, REST, i), *slow = add_stub(e, OPERATION, i);
    size_t differ, on;
    unsigned first;

    facet_block_check_floats(e, rest);
    check_single(e, how->single, op->a1, rest);
    check_single(e, how->single, op->b1, rest);
    first = compare(e, how->single, op->a1, op->b1, slow);
    differ = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
    facet_x86_op(&e->x, size, 0x8B, FACET_RAX, float_at(op->a1));
    facet_x86_op(
        &e->x, size, how->code == LEAST_IS_LESS ? 0x0B : 0x23, FACET_RAX, float_at(op->b1));
    on = facet_x86_jump(&e->x);
    facet_x86_land(&e->x, differ, e->x.used);
    move_float(e, XMM0, first);
    facet_x86_op(&e->x, 4, scalar(how->single, how->code), XMM0, float_at(op->b1));
    facet_x86_op(&e->x, size, 0x660F7E, XMM0, facet_x86_in(FACET_RAX));
    facet_x86_land(&e->x, on, e->x.used);
    keep(e, how->single, op->d1);
    slow->back = e->x.used;
}

static void emit_sign(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    const unsigned size = how->single ? 4 : 8;
    struct stub *rest = add_stub(e, REST, i);

    facet_block_check_floats(e, rest);
    check_single(e, how->single, op->a1, rest);
    check_single(e, how->single, op->b1, rest);
    facet_x86_op(&e->x, size, 0x8B, FACET_RAX, float_at(op->a1));
    if (op->a1 == op->b1) { /* the number itself, its opposite or its magnitude */
        if (how->code != SIGN_OF) {
            facet_x86_op(
                &e->x, size, 0x0FBA, how->code == SIGN_NOT ? 7 : 6, facet_x86_in(FACET_RAX));
            facet_x86_byte(&e->x, 8 * size - 1); /* complement the bit, or clear it */
        }
        keep(e, how->single, op->d1);
        return;
    }
    facet_x86_op(&e->x, size, 0x8B, FACET_RCX, float_at(op->b1));
    if (how->code == SIGN_NOT) {
        facet_x86_op(&e->x, size, 0xF7, 2, facet_x86_in(FACET_RCX));
    }
    if (how->code != SIGN_XOR) {
        facet_x86_op(&e->x, size, 0x33, FACET_RCX, facet_x86_in(FACET_RAX));
    }
    facet_x86_constant(&e->x, FACET_RDI, how->single ? UINT64_C(0x80000000) : UINT64_C(1) << 63);
    facet_x86_op(&e->x, size, 0x23, FACET_RCX, facet_x86_in(FACET_RDI));
    facet_x86_op(&e->x, size, 0x33, FACET_RAX, facet_x86_in(FACET_RCX));
    keep(e, how->single, op->d1);
}

static void emit_narrow(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    struct stub *rest = add_stub(e, REST, i), *slow = add_stub(e, OPERATION, i);
    unsigned to;

    facet_block_check_floats(e, rest);
    if (how->single) {
        check_mode(e, op, rest);
    } else {
        check_rounding(e, op, rest);
    }
    check_single(e, how->single, op->a1, rest);
    to = facet_block_float_place(e, op->d1, XMM0, XMM0);
    facet_x86_op(&e->x, 4, scalar(how->single, 0x5A), to, float_at(op->a1));
    check_result(e, !how->single, false, to, slow);
    facet_block_float_keep(e, !how->single, op->d1, to);
    slow->back = e->x.used;
}

static void emit_from_integer(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    const bool exact = how->bytes == 4 && !how->single;
    struct stub *rest = add_stub(e, REST, i);

    facet_block_check_floats(e, rest);
    if (exact) {
        check_mode(e, op, rest);
    } else {
        check_rounding(e, op, rest);
    }
    facet_x86_op(&e->x, 4, 0x0F57, XMM0, facet_x86_in(XMM0)); /* its old value is no operand */
    if (how->natural) {
        facet_x86_op(&e->x, 4, 0x8B, FACET_RAX, value_of(e, op->a1));
        facet_x86_op(&e->x, 8, scalar(how->single, 0x2A), XMM0, facet_x86_in(FACET_RAX));
    } else {
        facet_x86_op(&e->x, how->bytes, scalar(how->single, 0x2A), XMM0, value_of(e, op->a1));
    }
    facet_x86_op(&e->x, how->single ? 4 : 8, 0x660F7E, XMM0, facet_x86_in(FACET_RAX));
    keep(e, how->single, op->d1);
}

/* The host has one answer for everything that does not fit: the smallest number, whose difference
 * to 1 overflows. */
static void emit_to_integer(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    const unsigned size = how->natural ? 8 : how->bytes;
    struct stub *rest = add_stub(e, REST, i), *slow = add_stub(e, OPERATION, i);

    facet_block_check_floats(e, rest);
    check_rounding(e, op, rest);
    check_single(e, how->single, op->a1, rest);
    if (!e->floats.dirty) { /* an inexact result would make FS Dirty, an exact one would not */
        compare_byte(e, IN_HART(fs), FACET_FS_DIRTY);
        jump_to(e, slow, FACET_IF_NOT_EQUAL);
    }
    facet_x86_op(&e->x, size, scalar(how->single, 0x2C), FACET_RAX, float_at(op->a1));
    if (how->natural) {
        facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, facet_x86_in(FACET_RAX));
        facet_x86_op(&e->x, 8, 0x3B, FACET_RCX, facet_x86_in(FACET_RAX));
        jump_to(e, slow, FACET_IF_NOT_EQUAL);
    } else {
        facet_x86_immediate(&e->x, size, FACET_CMP, facet_x86_in(FACET_RAX), 1);
        jump_to(e, slow, FACET_IF_OVERFLOW);
    }
    if (how->bytes == 4) {
        facet_x86_op(&e->x, 8, 0x63, FACET_RAX, facet_x86_in(FACET_RAX));
    }
    put(e, op->d1, FACET_RAX);
    slow->back = e->x.used;
}

static void emit_move(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];

    facet_block_check_floats(e, add_stub(e, REST, i));
    if (how->what == MOVE_TO_X) {
        const unsigned to = target(e, op->d1, FACET_RAX);

        facet_x86_op(&e->x, 8, how->single ? 0x63 : 0x8B, to, float_at(op->a1));
        put(e, op->d1, to);
    } else {
        facet_x86_op(&e->x, how->single ? 4 : 8, 0x8B, FACET_RAX, value_of(e, op->a1));
        keep(e, how->single, op->d1);
    }
}

bool facet_block_emit_float(struct emitter *e, unsigned i)
{
    const struct recipe *how = &recipes[e->t->kinds[i]];
    const unsigned mode = e->t->ops[i].b2;
    const bool nearest = mode == FACET_RNE || mode == 7;

    if (!HOST_IS_EXACT) {
        return false;
    }
    switch ((enum what)how->what) {
    case FUSED:
        if (!has_fma()) {
            return false;
        }
        emit_rounded(e, i, how);
        return true;
    case ROUNDED:
    case ROOT:
        emit_rounded(e, i, how);
        return true;
    case TEST:
    case TEST_SWAPPED:
        emit_test(e, i, how);
        return true;
    case LEAST:
        emit_least(e, i, how);
        return true;
    case SIGN:
        emit_sign(e, i, how);
        return true;
    case NARROW:
        if (!nearest) {
            return false;
        }
        emit_narrow(e, i, how);
        return true;
    case FROM_INTEGER:
        if (!nearest) {
            return false;
        }
        emit_from_integer(e, i, how);
        return true;
    case TO_INTEGER:
        if (mode != FACET_RTZ) {
            return false;
        }
        emit_to_integer(e, i, how);
        return true;
    case MOVE_TO_X:
    case MOVE_TO_F:
        emit_move(e, i, how);
        return true;
    case NOT_HERE:
    default:
        return false;
    }
}
