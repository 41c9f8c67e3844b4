/* See block_emit.h: loads and stores. */
#include "xphmg/hart/block_emit.h"

struct recipe {
    enum { NOT_HERE, LOAD_X, STORE_X, LOAD_FLOAT, STORE_FLOAT } how;
    uint8_t size;  /* bytes in memory, or 8 and 4 for the host's operation of a load */
    uint32_t code; /* opcode */
    uint8_t align; /* where misaligned accesses trap: bytes, else 0 */
};

static const struct recipe recipes[K_SINGLE] = {
#define MEMORY(how, row, size, code, bytes)                                                        \
    [K_##row] = {how, size, code, 0}, [K_WIDE_##row] = {how, size, code, 0},                       \
    [K_STRICT_##row] = {how, size, code, bytes}
    MEMORY(LOAD_X, LB, 8, 0x0FBE, 1),
    MEMORY(LOAD_X, LH, 8, 0x0FBF, 2),
    MEMORY(LOAD_X, LW, 8, 0x63, 4),
    MEMORY(LOAD_X, LD, 8, 0x8B, 8),
    MEMORY(LOAD_X, LBU, 4, 0x0FB6, 1),
    MEMORY(LOAD_X, LHU, 4, 0x0FB7, 2),
    MEMORY(LOAD_X, LWU, 4, 0x8B, 4),
    MEMORY(STORE_X, SB, 1, 0x88, 1),
    MEMORY(STORE_X, SH, 2, 0x89, 2),
    MEMORY(STORE_X, SW, 4, 0x89, 4),
    MEMORY(STORE_X, SD, 8, 0x89, 8),
    MEMORY(LOAD_FLOAT, FLW, 4, 0xF30F10, 4),
    MEMORY(LOAD_FLOAT, FLD, 8, 0xF20F10, 8),
    MEMORY(STORE_FLOAT, FSW, 4, 0xF30F11, 4),
    MEMORY(STORE_FLOAT, FSD, 8, 0xF20F11, 8),
#undef MEMORY
};

static bool is_wide(unsigned kind)
{
    static const bool wide[K_SINGLE] = {
#define LOAD(row, size, value) [K_WIDE_##row] = true, [K_STRICT_##row] = true,
#define STORE(row, size) [K_WIDE_##row] = true, [K_STRICT_##row] = true,
#define LOAD_F(row, size) [K_WIDE_##row] = true, [K_STRICT_##row] = true,
#define STORE_F(row, size) [K_WIDE_##row] = true, [K_STRICT_##row] = true,
#include "xphmg/hart/block_rows.def"
    };

    return wide[kind];
}

/* Whether RAX is a multiple of `bytes`. */
static void test_low_bits(struct emitter *e, unsigned bytes)
{
    facet_x86_byte(&e->x, 0xA8); /* test al */
    facet_x86_byte(&e->x, bytes - 1u);
}

/* RAX = the offset of the access in the RAM window; to the stub when it is outside, or not aligned
 * as it must be. */
static void emit_offset(struct emitter *e, unsigned i, struct stub *outside, unsigned align)
{
    const struct op *op = &e->t->ops[i];
    const uint64_t back = is_wide(e->t->kinds[i]) ? op->imm64 : (uint32_t)op->imm1;
    const int64_t add = (int64_t)(0 - back), half = (int64_t)(0 - back + (UINT64_C(1) << 31));
    const unsigned base = get(e, op->a1, FACET_RAX);

    if (add == (int32_t)add) {
        facet_x86_op(&e->x, 8, 0x8D, FACET_RAX, facet_x86_at(base, (int32_t)add));
    } else if (half == (int32_t)half) {
        facet_x86_op(&e->x, 8, 0x8D, FACET_RAX, facet_x86_at(base, (int32_t)half));
        facet_x86_immediate(&e->x, 8, FACET_ADD, facet_x86_in(FACET_RAX), INT32_MIN);
    } else {
        facet_x86_constant(&e->x, FACET_RCX, (uint64_t)add);
        facet_x86_op(&e->x, 8, 0x8D, FACET_RAX, facet_x86_indexed(base, FACET_RCX, 0, 0));
    }
    facet_x86_op(&e->x, 8, 0x3B, FACET_RAX, facet_x86_in(SPAN));
    jump_to(e, outside, FACET_IF_NOT_BELOW);
    if (align > 1) {
        test_low_bits(e, align);
        jump_to(e, outside, FACET_IF_NOT_EQUAL);
    }
}

static struct facet_x86_operand in_ram(void)
{
    return facet_x86_indexed(BYTES, FACET_RAX, 0, 0);
}

static void emit_load(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    struct stub *stub = add_stub(e, LEAVE, i);
    unsigned to;

    if (how->how == LOAD_FLOAT) {
        facet_block_check_floats(e, stub);
    }
    emit_offset(e, i, stub, how->align);
    if (how->how == LOAD_X) {
        to = target(e, op->d1, FACET_RAX);
        facet_x86_op(&e->x, how->size, how->code, to, in_ram());
        put(e, op->d1, to);
        return;
    }
    to = facet_block_float_place(e, op->d1, XMM0, XMM0);
    facet_x86_op(&e->x, 4, how->code, to, in_ram());
    facet_block_float_keep(e, how->size == 4, op->d1, to);
}

/* Stores neither cross a line nor reach one that the cache knows (block_exec.c). */
static void emit_store(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    struct stub *stub = add_stub(e, LEAVE, i), *line;
    unsigned value;

    if (how->how == STORE_FLOAT) {
        facet_block_check_floats(e, stub);
    }
    emit_offset(e, i, stub, how->align);
    if (how->size > 1 && how->align == 0) { /* what is aligned crosses nothing */
        line = add_stub(e, LINE, i);
        line->bytes = how->size;
        test_low_bits(e, how->size);
        jump_to(e, line, FACET_IF_NOT_EQUAL);
        line->back = e->x.used;
    }
    facet_x86_move(&e->x, FACET_RCX, FACET_RAX);
    facet_x86_op(&e->x, 8, 0xC1, DIGIT_SHR, facet_x86_in(FACET_RCX));
    facet_x86_byte(&e->x, FACET_CODE_LINE_BITS);
    facet_x86_op(
        &e->x, 4, 0x80, FACET_CMP, facet_x86_indexed(get(e, LINES, FACET_RDI), FACET_RCX, 0, 0));
    facet_x86_byte(&e->x, 0);
    jump_to(e, stub, FACET_IF_NOT_EQUAL);
    facet_x86_op(&e->x, 8, 0xC1, DIGIT_SHR, facet_x86_in(FACET_RCX));
    facet_x86_byte(&e->x, FACET_MEM_PAGE_BITS - FACET_CODE_LINE_BITS);
    facet_x86_op(&e->x, 4, 0xC6, 0, facet_x86_indexed(get(e, PAGES, FACET_RDI), FACET_RCX, 0, 0));
    facet_x86_byte(&e->x, FACET_MEM_DIRTY_ALL);
    if (how->how == STORE_X) {
        facet_x86_op(&e->x, how->size, how->code, get(e, op->b1, FACET_RCX), in_ram());
        return;
    }
    value = facet_block_float_copy(e, how->size == 4, op->b1);
    if (value == NO_FLOAT) { /* of a single that is none, these are the bits all the same */
        value = XMM0;
        facet_x86_op(&e->x, 4, how->code - 1, value, float_at(op->b1));
    }
    facet_x86_op(&e->x, 4, how->code, value, in_ram());
}

bool facet_block_emit_memory(struct emitter *e, unsigned i)
{
    const struct recipe *how = &recipes[e->t->kinds[i]];

    switch (how->how) {
    case LOAD_X:
    case LOAD_FLOAT:
        emit_load(e, i, how);
        return true;
    case STORE_X:
    case STORE_FLOAT:
        emit_store(e, i, how);
        return true;
    case NOT_HERE:
    default:
        return false;
    }
}
