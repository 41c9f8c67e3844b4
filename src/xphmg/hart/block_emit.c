/* See block_impl.h: host code of a hot block, for x86-64.
 *
 * The code of a block is an operation like any other: it is entered by a jump with the parameters
 * of FACET_BLOCK_PARAMETERS in their registers, and leaves by jumps to others. Inside, the
 * registers of the guest that the block uses most live in registers of the host. They are loaded
 * where they are first read and stored where the block is left, if they changed. In a block that
 * jumps back to its own beginning they are loaded in front of that loop and stay.
 *
 * What has no host code of its own here is done by its operation in block_exec.c: the operation
 * behind it then has the code that follows. Ways out that are seldom taken lie behind the block. */
#include "xphmg/hart/block_impl.h"

#include "host_code/x86.h"

#include <string.h>

/* The parameters. RAX, RCX and RDI are for passing use. */
enum { HART = FACET_RSI, LEFT = FACET_RDX, BYTES = FACET_R8, SPAN = FACET_R9 };

/* For the guest's registers, best first: C functions keep the first six. */
static const uint8_t homes[] = {
    FACET_RBX, FACET_RBP, FACET_R12, FACET_R13, FACET_R14, FACET_R15, FACET_R10, FACET_R11};
enum { HOMES = sizeof homes, KEPT_HOMES = 6, NO_HOME = 0xFF, GUEST = 33 };

/* What an operation does with registers x. */
enum { READS_A = 1, READS_B = 2, WRITES_D = 4 };
/* By the column of fp.def. */
enum { TO_F = 0, TO_X = WRITES_D, FROM_F = 0, FROM_X = READS_A };

static const uint8_t uses_of[K_SINGLE] = {
#define ALU_RR(row, value) [K_##row] = READS_A | READS_B | WRITES_D,
#define ALU_RI(row, value) [K_##row] = READS_A | WRITES_D,
#define ALU_R(row, value) [K_##row] = READS_A | WRITES_D,
#include "xphmg/hart/alu.def"
#define LOAD(row, size, value) [K_##row] = READS_A | WRITES_D, [K_WIDE_##row] = READS_A | WRITES_D,
#define STORE(row, size) [K_##row] = READS_A | READS_B, [K_WIDE_##row] = READS_A | READS_B,
#define LOAD_F(row, size) [K_##row] = READS_A, [K_WIDE_##row] = READS_A,
#define STORE_F(row, size) [K_##row] = READS_A, [K_WIDE_##row] = READS_A,
#define BRANCH(row, condition) [K_##row] = READS_A | READS_B,
#define BRANCH_Z(name, condition) [K_##name] = READS_A,
#include "xphmg/hart/block_rows.def"
#define FP(row, dst, src, value) [K_##row] = TO_##dst | FROM_##src,
#include "xphmg/hart/fp.def"
#define HOST_TEST(row, real, value) [K_HOST_##row] = WRITES_D,
#include "xphmg/hart/block_host.def"
    [K_LI] = WRITES_D,
    [K_LI_LONG] = WRITES_D,
    [K_MV] = READS_A | WRITES_D,
    [K_JR] = READS_A,
    [K_JALR] = READS_A | WRITES_D,
};

/* Operations that touch no other register x than those above. */
static bool is_known(unsigned kind)
{
    static const bool known[K_SINGLE] = {
#define FP(row, dst, src, value) [K_##row] = true,
#include "xphmg/hart/fp.def"
#define HOST(row, real, value) [K_HOST_##row] = true,
#define HOST_TEST(row, real, value) [K_HOST_##row] = true,
#include "xphmg/hart/block_host.def"
    };

    return known[kind] || uses_of[kind] != 0;
}

/* How a kind becomes host code. */
enum how {
    BY_OPERATION,
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
    CONSTANT,
    LONG_CONSTANT,
    COPY,
    LOAD_X,
    STORE_X,
    LOAD_FLOAT,
    STORE_FLOAT,
    IF,
    IF_ZERO,
    JUMP,
    JUMP_AND_LINK,
    RETURN,
    GO_ON,
    STOP,
};

struct recipe {
    uint8_t how;
    uint8_t size;  /* of the host's operation; 4: the result is extended to 64 bits */
    uint16_t code; /* opcode, digit of a group, or condition */
    bool either;   /* the operands may change places */
    bool word;     /* the first operand is the low 32 bits, unsigned */
};

enum { DIGIT_ROL, DIGIT_ROR, DIGIT_SHL = 4, DIGIT_SHR = 5, DIGIT_SAR = 7 };

static const struct recipe recipes[K_SINGLE] = {
    [K_ADD] = {BINARY, 8, 0x03, .either = true},
    [K_SUB] = {BINARY, 8, 0x2B},
    [K_XOR] = {BINARY, 8, 0x33, .either = true},
    [K_OR] = {BINARY, 8, 0x0B, .either = true},
    [K_AND] = {BINARY, 8, 0x23, .either = true},
    [K_MUL] = {BINARY, 8, 0x0FAF, .either = true},
    [K_ADDW] = {BINARY, 4, 0x03, .either = true},
    [K_SUBW] = {BINARY, 4, 0x2B},
    [K_MULW] = {BINARY, 4, 0x0FAF, .either = true},
    [K_ADD_UW] = {BINARY, 8, 0x03, .word = true},
    [K_ADDI] = {BINARY_IMM, 8, FACET_ADD},
    [K_XORI] = {BINARY_IMM, 8, FACET_XOR},
    [K_ORI] = {BINARY_IMM, 8, FACET_OR},
    [K_ANDI] = {BINARY_IMM, 8, FACET_AND},
    [K_ADDIW] = {BINARY_IMM, 4, FACET_ADD},
    [K_SLL] = {SHIFT, 8, DIGIT_SHL},
    [K_SRL] = {SHIFT, 8, DIGIT_SHR},
    [K_SRA] = {SHIFT, 8, DIGIT_SAR},
    [K_ROL] = {SHIFT, 8, DIGIT_ROL},
    [K_ROR] = {SHIFT, 8, DIGIT_ROR},
    [K_SLLW] = {SHIFT, 4, DIGIT_SHL},
    [K_SRLW] = {SHIFT, 4, DIGIT_SHR},
    [K_SRAW] = {SHIFT, 4, DIGIT_SAR},
    [K_ROLW] = {SHIFT, 4, DIGIT_ROL},
    [K_RORW] = {SHIFT, 4, DIGIT_ROR},
    [K_SLLI] = {SHIFT_IMM, 8, DIGIT_SHL},
    [K_SRLI] = {SHIFT_IMM, 8, DIGIT_SHR},
    [K_SRAI] = {SHIFT_IMM, 8, DIGIT_SAR},
    [K_RORI] = {SHIFT_IMM, 8, DIGIT_ROR},
    [K_SLLIW] = {SHIFT_IMM, 4, DIGIT_SHL},
    [K_SRLIW] = {SHIFT_IMM, 4, DIGIT_SHR},
    [K_SRAIW] = {SHIFT_IMM, 4, DIGIT_SAR},
    [K_RORIW] = {SHIFT_IMM, 4, DIGIT_ROR},
    [K_SLLI_UW] = {SHIFT_IMM, 8, DIGIT_SHL, .word = true},
    [K_SLT] = {COMPARE, 8, FACET_IF_LESS},
    [K_SLTU] = {COMPARE, 8, FACET_IF_BELOW},
    [K_SLTI] = {COMPARE_IMM, 8, FACET_IF_LESS},
    [K_SLTIU] = {COMPARE_IMM, 8, FACET_IF_BELOW},
    [K_SH1ADD] = {SCALED, 8, 1},
    [K_SH2ADD] = {SCALED, 8, 2},
    [K_SH3ADD] = {SCALED, 8, 3},
    [K_SH1ADD_UW] = {SCALED, 8, 1, .word = true},
    [K_SH2ADD_UW] = {SCALED, 8, 2, .word = true},
    [K_SH3ADD_UW] = {SCALED, 8, 3, .word = true},
    [K_ANDN] = {INVERTED, 8, 0x23},
    [K_ORN] = {INVERTED, 8, 0x0B},
    [K_XNOR] = {INVERTED, 8, 0x33},
    [K_MAX] = {PICK, 8, FACET_IF_LESS},
    [K_MAXU] = {PICK, 8, FACET_IF_BELOW},
    [K_MIN] = {PICK, 8, FACET_IF_GREATER},
    [K_MINU] = {PICK, 8, FACET_IF_ABOVE},
    [K_BCLR] = {BIT, 8, 0x0FB3},
    [K_BINV] = {BIT, 8, 0x0FBB},
    [K_BSET] = {BIT, 8, 0x0FAB},
    [K_BEXT] = {BIT_TEST, 8, 0x0FA3},
    [K_BCLRI] = {BIT_IMM, 8, 6},
    [K_BINVI] = {BIT_IMM, 8, 7},
    [K_BSETI] = {BIT_IMM, 8, 5},
    [K_BEXTI] = {BIT_TEST_IMM, 8, 0},
    [K_SEXT_B] = {WIDEN, 8, 0x0FBE},
    [K_SEXT_H] = {WIDEN, 8, 0x0FBF},
    [K_ZEXT_H] = {WIDEN, 8, 0x0FB7},
    [K_MULH] = {HIGH, 8, 5},
    [K_MULHU] = {HIGH, 8, 4},
    [K_REV8] = {SWAP, 8, 0},
    [K_LI] = {CONSTANT, 8, 0},
    [K_LI_LONG] = {LONG_CONSTANT, 8, 0},
    [K_MV] = {COPY, 8, 0},
#define MEMORY(how, row, size, code)                                                               \
    [K_##row] = {how, size, code}, [K_WIDE_##row] = {how, size, code}
    MEMORY(LOAD_X, LB, 8, 0x0FBE),
    MEMORY(LOAD_X, LH, 8, 0x0FBF),
    MEMORY(LOAD_X, LW, 8, 0x63),
    MEMORY(LOAD_X, LD, 8, 0x8B),
    MEMORY(LOAD_X, LBU, 4, 0x0FB6),
    MEMORY(LOAD_X, LHU, 4, 0x0FB7),
    MEMORY(LOAD_X, LWU, 4, 0x8B),
    MEMORY(STORE_X, SB, 1, 0x88),
    MEMORY(STORE_X, SH, 2, 0x89),
    MEMORY(STORE_X, SW, 4, 0x89),
    MEMORY(STORE_X, SD, 8, 0x89),
    MEMORY(LOAD_FLOAT, FLW, 4, 0x8B),
    MEMORY(LOAD_FLOAT, FLD, 8, 0x8B),
    MEMORY(STORE_FLOAT, FSW, 4, 0x89),
    MEMORY(STORE_FLOAT, FSD, 8, 0x89),
#undef MEMORY
    [K_BEQ] = {IF, 8, FACET_IF_EQUAL},
    [K_BNE] = {IF, 8, FACET_IF_NOT_EQUAL},
    [K_BLT] = {IF, 8, FACET_IF_LESS},
    [K_BGE] = {IF, 8, FACET_IF_NOT_LESS},
    [K_BLTU] = {IF, 8, FACET_IF_BELOW},
    [K_BGEU] = {IF, 8, FACET_IF_NOT_BELOW},
    [K_BEQZ] = {IF_ZERO, 8, FACET_IF_EQUAL},
    [K_BNEZ] = {IF_ZERO, 8, FACET_IF_NOT_EQUAL},
    [K_BLTZ] = {IF_ZERO, 8, FACET_IF_LESS},
    [K_BGEZ] = {IF_ZERO, 8, FACET_IF_NOT_LESS},
    [K_BGTZ] = {IF_ZERO, 8, FACET_IF_GREATER},
    [K_BLEZ] = {IF_ZERO, 8, FACET_IF_NOT_GREATER},
    [K_JR] = {JUMP, 8, 0},
    [K_JALR] = {JUMP_AND_LINK, 8, 0},
    [K_RETURN] = {RETURN, 8, 0},
    [K_GOTO] = {GO_ON, 8, 0},
    [K_STOP] = {STOP, 8, 0},
};

/* A seldom taken way out: up to three jumps lead there. */
struct stub {
    enum { LEAVE, LINE, LINK, INDIRECT } what;
    size_t jumps[3];
    unsigned jump_count;
    size_t back;    /* LINE: where a store continues that crosses none */
    unsigned op;    /* of the trace */
    uint64_t dirty; /* registers to store */
};

struct emitter {
    struct facet_x86 x;
    facet_block_cache *cache;
    const struct trace *t;
    struct op *links[BLOCK_OPS]; /* of each operation of the trace: its own in the arena */
    uint8_t home[GUEST];         /* of each register of the guest, or NO_HOME */
    uint64_t loaded, dirty;      /* registers in their homes; and changed there */
    uint64_t housed;             /* registers with a home */
    bool loops;                  /* some branch goes to the beginning */
    size_t top;                  /* where */
    bool floats_on;              /* FS is not Off from here to the end of the block */
    struct stub stubs[2 * BLOCK_OPS];
    unsigned stub_count;
    /* Jumps to what the ways out have in common. */
    size_t to_leave[2 * BLOCK_OPS], to_tight[BLOCK_OPS], to_find[2 * BLOCK_OPS];
    unsigned leave_count, tight_count, find_count;
};

#define IN_HART(member) facet_x86_at(HART, (int32_t)offsetof(struct facet_hart, member))

static struct facet_x86_operand in_memory(unsigned guest)
{
    return facet_x86_at(HART, (int32_t)(offsetof(struct facet_hart, x) + 8 * guest));
}

static struct facet_x86_operand float_at(unsigned guest)
{
    return facet_x86_at(HART, (int32_t)(offsetof(struct facet_hart, f) + 8 * guest));
}

static uint64_t bit(unsigned guest)
{
    return UINT64_C(1) << guest;
}

/* ---- registers of the guest -------------------------------------------------------------------
 */

static void load_home(struct emitter *e, unsigned guest)
{
    if ((e->housed & ~e->loaded & bit(guest)) != 0) {
        facet_x86_load(&e->x, e->home[guest], in_memory(guest));
        e->loaded |= bit(guest);
    }
}

/* The register as an operand. */
static struct facet_x86_operand value_of(struct emitter *e, unsigned guest)
{
    load_home(e, guest);
    return e->home[guest] != NO_HOME ? facet_x86_in(e->home[guest]) : in_memory(guest);
}

/* A register of the host with its value: its home or the one given. */
static unsigned get(struct emitter *e, unsigned guest, unsigned passing)
{
    load_home(e, guest);
    if (e->home[guest] != NO_HOME) {
        return e->home[guest];
    }
    facet_x86_load(&e->x, passing, in_memory(guest));
    return passing;
}

/* Where a result for the guest's register is best computed. */
static unsigned target(const struct emitter *e, unsigned guest, unsigned passing)
{
    return e->home[guest] != NO_HOME ? e->home[guest] : passing;
}

/* The result for the guest's register is in `reg`. */
static void put(struct emitter *e, unsigned guest, unsigned reg)
{
    if (e->home[guest] == NO_HOME) {
        facet_x86_store(&e->x, in_memory(guest), reg);
        return;
    }
    facet_x86_move(&e->x, e->home[guest], reg);
    e->loaded |= bit(guest);
    e->dirty |= bit(guest);
}

static void store_all(struct emitter *e, uint64_t registers)
{
    for (unsigned r = 0; r < GUEST; r++) {
        if ((registers & bit(r)) != 0) {
            facet_x86_store(&e->x, in_memory(r), e->home[r]);
        }
    }
}

static void load_all(struct emitter *e)
{
    for (unsigned r = 0; r < GUEST; r++) {
        load_home(e, r);
    }
}

/* Gives homes to the registers that the trace names most. */
static void choose_homes(struct emitter *e)
{
    unsigned count[GUEST] = {0};

    for (unsigned i = 0; i < e->t->n; i++) {
        const struct op *op = &e->t->ops[i];
        const unsigned uses = uses_of[e->t->kinds[i]];

        count[op->a1] += (uses & READS_A) != 0;
        count[op->b1] += (uses & READS_B) != 0;
        count[op->d1] += (uses & WRITES_D) != 0;
        count[1] += e->t->kinds[i] == K_RETURN;
    }
    memset(e->home, NO_HOME, sizeof e->home);
    for (unsigned n = 0; n < HOMES; n++) {
        unsigned best = 0;

        for (unsigned r = 1; r < DEAD; r++) {
            if (count[r] > (best == 0 ? 1 : count[best])) {
                best = r;
            }
        }
        if (best == 0) {
            break;
        }
        count[best] = 0;
        e->home[best] = homes[n];
        e->housed |= bit(best);
    }
}

/* Registers that some operation of the trace writes. */
static uint64_t written(const struct emitter *e)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < e->t->n; i++) {
        if ((uses_of[e->t->kinds[i]] & WRITES_D) != 0) {
            all |= bit(e->t->ops[i].d1);
        }
    }
    return all & e->housed;
}

/* ---- ways out ---------------------------------------------------------------------------------
 */

static struct stub *add_stub(struct emitter *e, unsigned what, unsigned op)
{
    struct stub *stub = &e->stubs[e->stub_count++];

    *stub = (struct stub){.what = what, .op = op, .dirty = e->dirty};
    return stub;
}

static void jump_to(struct emitter *e, struct stub *stub, unsigned condition)
{
    stub->jumps[stub->jump_count++] = facet_x86_jump_if(&e->x, condition);
}

static void land_here(struct emitter *e, const struct stub *stub)
{
    for (unsigned i = 0; i < stub->jump_count; i++) {
        facet_x86_land(&e->x, stub->jumps[i], e->x.used);
    }
}

static void jump_to_c(struct emitter *e, uintptr_t function)
{
    facet_x86_constant(&e->x, FACET_RAX, (uint64_t)function);
    facet_x86_op(&e->x, 4, 0xFF, 4, facet_x86_in(FACET_RAX));
}

/* To the first operation behind RDI. */
static void jump_to_operation(struct emitter *e)
{
    facet_x86_op(&e->x, 4, 0xFF, 4, facet_x86_at(FACET_RDI, offsetof(struct op, code)));
}

static void count_instructions(struct emitter *e, unsigned done)
{
    facet_x86_immediate(&e->x, 8, FACET_SUB, facet_x86_in(LEFT), (int32_t)done);
}

static void load_address(struct emitter *e, unsigned reg, const void *address)
{
    facet_x86_constant(&e->x, reg, (uint64_t)(uintptr_t)address);
}

/* The host code of the block that the link leads to, or NULL when there is none yet. */
static const uint8_t *linked_code(const struct emitter *e, const struct op *link)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)link->imm64;
    const bool host = facet_block_jumps ? link->code == (facet_block_code *)(uintptr_t)at
                                        : link->code == facet_block_codes[K_ENTER];

    return host && facet_code_memory_has(e->cache->host, at) ? at : NULL;
}

/* Leaves through the link of the operation; everything is stored. */
static void leave_by_link(struct emitter *e, unsigned op)
{
    const struct op *own = e->links[op];
    const uint8_t *code = linked_code(e, own->link);

    load_address(e, FACET_RDI, &own->link);
    facet_x86_load(&e->x, FACET_RDI, facet_x86_at(FACET_RDI, 0));
    count_instructions(e, e->t->ops[op].done);
    e->to_tight[e->tight_count++] = facet_x86_jump_if(&e->x, FACET_IF_NEGATIVE);
    if (code != NULL) {
        const size_t place = facet_x86_jump(&e->x);

        facet_x86_land(&e->x, place, (size_t)(code - e->x.bytes));
    } else {
        jump_to_operation(e);
    }
}

/* To the block at the address in RAX; everything is stored. */
static void leave_indirect(struct emitter *e, unsigned op)
{
    const int32_t table = (int32_t)offsetof(struct facet_block_cache, table);

    _Static_assert(sizeof(struct entry) == 16, "eight bytes for each even address");
    count_instructions(e, e->t->ops[op].done);
    e->to_find[e->find_count++] = facet_x86_jump_if(&e->x, FACET_IF_NEGATIVE);
    facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, facet_x86_in(FACET_RAX));
    facet_x86_immediate(&e->x, 4, FACET_AND, facet_x86_in(FACET_RCX), ((1 << TABLE_BITS) - 1) << 1);
    facet_x86_load(&e->x, FACET_RDI, IN_HART(blocks));
    facet_x86_op(&e->x, 8, 0x8D, FACET_RCX, facet_x86_indexed(FACET_RDI, FACET_RCX, 3, table));
    facet_x86_op(&e->x, 8, 0x3B, FACET_RAX, facet_x86_at(FACET_RCX, offsetof(struct entry, pc)));
    e->to_find[e->find_count++] = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
    facet_x86_load(&e->x, FACET_RDI, facet_x86_at(FACET_RCX, offsetof(struct entry, first)));
    jump_to_operation(e);
}

static void leave_before(struct emitter *e, unsigned op)
{
    const struct site *site = &e->t->sites[op];

    facet_x86_constant(&e->x, FACET_RAX, site->pc);
    if (site->index != 0) {
        count_instructions(e, site->index);
    }
    e->to_leave[e->leave_count++] = facet_x86_jump(&e->x);
}

static void emit_stub(struct emitter *e, const struct stub *stub)
{
    land_here(e, stub);
    switch (stub->what) {
    case LINE: { /* the store is not aligned: RAX is its offset */
        const int32_t last = FACET_CODE_LINE_BYTES - recipes[e->t->kinds[stub->op]].size;

        facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, facet_x86_in(FACET_RAX));
        facet_x86_immediate(
            &e->x, 4, FACET_AND, facet_x86_in(FACET_RCX), FACET_CODE_LINE_BYTES - 1);
        facet_x86_immediate(&e->x, 4, FACET_CMP, facet_x86_in(FACET_RCX), last);
        facet_x86_land(&e->x, facet_x86_jump_if(&e->x, FACET_IF_ABOVE ^ 1), stub->back);
        store_all(e, stub->dirty);
        leave_before(e, stub->op);
        break;
    }
    case LEAVE:
        store_all(e, stub->dirty);
        leave_before(e, stub->op);
        break;
    case LINK:
        store_all(e, stub->dirty);
        leave_by_link(e, stub->op);
        break;
    case INDIRECT:
    default:
        store_all(e, stub->dirty);
        leave_indirect(e, stub->op);
        break;
    }
}

/* What the ways out have in common. */
static void emit_tails(struct emitter *e)
{
    for (unsigned i = 0; i < e->leave_count; i++) {
        facet_x86_land(&e->x, e->to_leave[i], e->x.used);
    }
    facet_x86_move(&e->x, FACET_RDI, HART);
    facet_x86_move(&e->x, FACET_RSI, FACET_RAX); /* third parameter: LEFT is in its place */
    facet_x86_constant(&e->x, FACET_RCX, FACET_BLOCK_STEP);
    jump_to_c(e, (uintptr_t)facet_block_leave);
    for (unsigned i = 0; i < e->tight_count; i++) {
        facet_x86_land(&e->x, e->to_tight[i], e->x.used);
    }
    jump_to_c(e, (uintptr_t)facet_block_tight);
    for (unsigned i = 0; i < e->find_count; i++) {
        facet_x86_land(&e->x, e->to_find[i], e->x.used);
    }
    facet_x86_store(&e->x, IN_HART(pc), FACET_RAX);
    jump_to_c(e, (uintptr_t)facet_block_find_next);
}

/* ---- computations -----------------------------------------------------------------------------
 */

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

/* ---- memory -----------------------------------------------------------------------------------
 */

static bool is_wide(unsigned kind)
{
    static const bool wide[K_SINGLE] = {
#define LOAD(row, size, value) [K_WIDE_##row] = true,
#define STORE(row, size) [K_WIDE_##row] = true,
#define LOAD_F(row, size) [K_WIDE_##row] = true,
#define STORE_F(row, size) [K_WIDE_##row] = true,
#include "xphmg/hart/block_rows.def"
    };

    return wide[kind];
}

/* RAX = the offset of the access in the RAM window; to the stub when it is outside. */
static void emit_offset(struct emitter *e, unsigned i, struct stub *outside)
{
    const struct op *op = &e->t->ops[i];
    const uint64_t back = is_wide(e->t->kinds[i]) ? op->imm64 : (uint32_t)op->imm1;
    const int64_t add = (int64_t)(0 - back), half = add - INT32_MIN;
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
}

static struct facet_x86_operand in_ram(void)
{
    return facet_x86_indexed(BYTES, FACET_RAX, 0, 0);
}

/* Floating point that is switched off is step.c's. */
static void check_floats(struct emitter *e, struct stub *off)
{
    if (!e->floats_on) {
        _Static_assert(FACET_FS_OFF == 0, "compared with an immediate byte");
        facet_x86_op(&e->x, 4, 0x80, FACET_CMP, IN_HART(fs));
        facet_x86_byte(&e->x, FACET_FS_OFF);
        jump_to(e, off, FACET_IF_EQUAL);
        e->floats_on = true;
    }
}

static void mark_floats(struct emitter *e)
{
    facet_x86_op(&e->x, 4, 0xC6, 0, IN_HART(fs));
    facet_x86_byte(&e->x, FACET_FS_DIRTY);
}

static void emit_load(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    struct stub *stub = add_stub(e, LEAVE, i);
    unsigned to;

    if (how->how == LOAD_FLOAT) {
        check_floats(e, stub);
    }
    emit_offset(e, i, stub);
    if (how->how == LOAD_X) {
        to = target(e, op->d1, FACET_RAX);
        facet_x86_op(&e->x, how->size, how->code, to, in_ram());
        put(e, op->d1, to);
        return;
    }
    facet_x86_op(&e->x, how->size, how->code, FACET_RAX, in_ram());
    if (how->size == 4) {
        facet_x86_constant(&e->x, FACET_RCX, UINT64_C(0xFFFFFFFF00000000));
        facet_x86_op(&e->x, 8, 0x0B, FACET_RAX, facet_x86_in(FACET_RCX));
    }
    facet_x86_store(&e->x, float_at(op->d1), FACET_RAX);
    mark_floats(e);
}

/* Stores neither cross a line nor reach one that the cache knows (block_exec.c). */
static void emit_store(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];
    struct stub *stub = add_stub(e, LEAVE, i), *line;
    unsigned value = FACET_RCX;

    if (how->how == STORE_FLOAT) {
        check_floats(e, stub);
    }
    emit_offset(e, i, stub);
    if (how->size > 1) { /* what is aligned crosses nothing */
        line = add_stub(e, LINE, i);
        facet_x86_byte(&e->x, 0xA8); /* test al */
        facet_x86_byte(&e->x, how->size - 1u);
        jump_to(e, line, FACET_IF_NOT_EQUAL);
        line->back = e->x.used;
    }
    facet_x86_move(&e->x, FACET_RCX, FACET_RAX);
    facet_x86_op(&e->x, 8, 0xC1, DIGIT_SHR, facet_x86_in(FACET_RCX));
    facet_x86_byte(&e->x, FACET_CODE_LINE_BITS);
    facet_x86_load(&e->x, FACET_RDI, IN_HART(code_lines));
    facet_x86_op(&e->x, 4, 0x80, FACET_CMP, facet_x86_indexed(FACET_RDI, FACET_RCX, 0, 0));
    facet_x86_byte(&e->x, 0);
    jump_to(e, stub, FACET_IF_NOT_EQUAL);
    facet_x86_op(&e->x, 8, 0xC1, DIGIT_SHR, facet_x86_in(FACET_RCX));
    facet_x86_byte(&e->x, FACET_MEM_PAGE_BITS - FACET_CODE_LINE_BITS);
    facet_x86_load(&e->x, FACET_RDI, IN_HART(ram.pages));
    facet_x86_op(&e->x, 4, 0xC6, 0, facet_x86_indexed(FACET_RDI, FACET_RCX, 0, 0));
    facet_x86_byte(&e->x, FACET_MEM_DIRTY_ALL);
    if (how->how == STORE_X) {
        value = get(e, op->b1, FACET_RCX);
    } else {
        facet_x86_load(&e->x, FACET_RCX, float_at(op->b1));
    }
    facet_x86_op(&e->x, how->size, how->code, value, in_ram());
}

/* ---- from block to block ----------------------------------------------------------------------
 */

/* Back to the beginning, if the chunk lasts. */
static void emit_loop(struct emitter *e, unsigned i)
{
    load_all(e);
    count_instructions(e, e->t->ops[i].done);
    facet_x86_land(&e->x, facet_x86_jump_if(&e->x, FACET_IF_NOT_NEGATIVE), e->top);
    store_all(e, e->dirty);
    load_address(e, FACET_RDI, &e->links[i]->link);
    facet_x86_load(&e->x, FACET_RDI, facet_x86_at(FACET_RDI, 0));
    e->to_tight[e->tight_count++] = facet_x86_jump(&e->x);
}

static void emit_branch(struct emitter *e, unsigned i, unsigned condition)
{
    if (e->t->targets[i] == e->t->start) {
        const size_t on = facet_x86_jump_if(&e->x, condition ^ 1);
        const uint64_t loaded = e->loaded;

        emit_loop(e, i);
        e->loaded = loaded; /* where the branch is not taken */
        facet_x86_land(&e->x, on, e->x.used);
    } else {
        jump_to(e, add_stub(e, LINK, i), condition);
    }
}

static void emit_go_on(struct emitter *e, unsigned i)
{
    if (e->t->targets[i] == e->t->start) {
        emit_loop(e, i);
    } else {
        store_all(e, e->dirty);
        leave_by_link(e, i);
    }
}

static void emit_jump(struct emitter *e, unsigned i, const struct recipe *how)
{
    const struct op *op = &e->t->ops[i];

    facet_x86_op(&e->x, 8, 0x8D, FACET_RAX, facet_x86_at(get(e, op->a1, FACET_RAX), op->imm1));
    facet_x86_immediate(&e->x, 8, FACET_AND, facet_x86_in(FACET_RAX), -2);
    if (how->how == JUMP_AND_LINK) {
        const unsigned to = target(e, op->d1, FACET_RCX);

        facet_x86_constant(&e->x, to, e->t->sites[i].next_pc);
        put(e, op->d1, to);
    }
    store_all(e, e->dirty);
    leave_indirect(e, i);
}

static void emit_return(struct emitter *e, unsigned i)
{
    facet_x86_load(&e->x, FACET_RAX, value_of(e, 1));
    facet_x86_immediate(&e->x, 8, FACET_AND, facet_x86_in(FACET_RAX), -2);
    facet_x86_constant(&e->x, FACET_RCX, e->t->ops[i].imm64);
    facet_x86_op(&e->x, 8, 0x3B, FACET_RAX, facet_x86_in(FACET_RCX));
    jump_to(e, add_stub(e, INDIRECT, i), FACET_IF_NOT_EQUAL);
}

/* By the operation of block_exec.c, with an operation behind it that is the code from here on. */
static void emit_operation(struct emitter *e, unsigned i)
{
    const unsigned kind = e->t->kinds[i];
    const size_t at = e->cache->used;
    struct op *copy = &e->cache->ops[at];
    struct site *site = &e->cache->sites[at];

    e->cache->used += 2;
    copy[0] = e->t->ops[i];
    copy[0].code = facet_block_codes[kind];
    copy[1] = (struct op){0};
    site[0] = site[1] = e->t->sites[i];
    store_all(e, e->dirty);
    e->dirty = 0;
    load_address(e, FACET_RDI, copy);
    jump_to_operation(e);
    facet_block_host_op(&copy[1], e->x.bytes + e->x.used);
    if (!is_known(kind) || !facet_block_jumps) {
        e->loaded = 0;
    }
    for (unsigned r = 0; r < GUEST; r++) {
        if (e->home[r] == FACET_R10 || e->home[r] == FACET_R11) {
            e->loaded &= ~bit(r);
        }
    }
    if ((uses_of[kind] & WRITES_D) != 0) {
        e->loaded &= ~bit(e->t->ops[i].d1);
    }
    e->floats_on = e->floats_on && is_known(kind);
}

static void emit_one(struct emitter *e, unsigned i)
{
    const struct recipe *how = &recipes[e->t->kinds[i]];
    const struct op *op = &e->t->ops[i];

    switch ((enum how)how->how) {
    case BINARY:
        emit_binary(e, op, how);
        break;
    case BINARY_IMM:
        emit_binary_imm(e, op, how);
        break;
    case SHIFT:
        emit_shift(e, op, how);
        break;
    case SHIFT_IMM:
        emit_shift_imm(e, op, how);
        break;
    case COMPARE:
        emit_compare(e, op, how);
        break;
    case COMPARE_IMM:
        emit_compare_imm(e, op, how);
        break;
    case SCALED:
        emit_scaled(e, op, how);
        break;
    case INVERTED:
        emit_inverted(e, op, how);
        break;
    case PICK:
        emit_pick(e, op, how);
        break;
    case BIT:
    case BIT_TEST:
        emit_bit(e, op, how);
        break;
    case BIT_IMM:
    case BIT_TEST_IMM:
        emit_bit_imm(e, op, how);
        break;
    case WIDEN:
    case SWAP:
        emit_unary(e, op, how);
        break;
    case HIGH:
        emit_high(e, op, how);
        break;
    case CONSTANT:
        emit_constant(e, op->d1, (uint64_t)(int64_t)op->imm1);
        break;
    case LONG_CONSTANT:
        emit_constant(e, op->d1, op->imm64);
        break;
    case COPY:
        put(e, op->d1, get(e, op->a1, FACET_RAX));
        break;
    case LOAD_X:
    case LOAD_FLOAT:
        emit_load(e, i, how);
        break;
    case STORE_X:
    case STORE_FLOAT:
        emit_store(e, i, how);
        break;
    case IF:
        facet_x86_op(&e->x, 8, 0x3B, get(e, op->a1, FACET_RAX), value_of(e, op->b1));
        emit_branch(e, i, how->code);
        break;
    case IF_ZERO:
        facet_x86_immediate(&e->x, 8, FACET_CMP, value_of(e, op->a1), 0);
        emit_branch(e, i, how->code);
        break;
    case JUMP:
    case JUMP_AND_LINK:
        emit_jump(e, i, how);
        break;
    case RETURN:
        emit_return(e, i);
        break;
    case GO_ON:
        emit_go_on(e, i);
        break;
    case STOP:
        store_all(e, e->dirty);
        leave_before(e, i);
        break;
    case BY_OPERATION:
    default:
        emit_operation(e, i);
        break;
    }
}

/* The operations of the arena with the links of those of the trace: fewer, each for one instruction
 * or two. */
static void find_links(struct emitter *e, struct op *first)
{
    struct op *own = first + 1;

    for (unsigned i = 0; i < e->t->n; i++) {
        if (e->t->linked[i]) {
            while (e->cache->sites[own - e->cache->ops].next <= e->t->sites[i].index) {
                own++;
            }
            e->links[i] = own;
            e->loops |= e->t->targets[i] == e->t->start;
        }
    }
}

size_t facet_block_emit(
    facet_block_cache *cache, struct op *first, const struct trace *t, uint8_t *bytes, size_t size)
{
    struct emitter made = {
        .x = {.bytes = bytes, .size = size},
        .cache = cache,
        .t = t,
    };
    struct emitter *const e = &made;

    find_links(e, first);
    choose_homes(e);
    if (e->loops) {
        load_all(e);
        e->dirty = written(e);
        e->top = e->x.used;
    }
    for (unsigned i = 0; i < t->n; i++) {
        emit_one(e, i);
    }
    for (unsigned i = 0; i < e->stub_count; i++) {
        emit_stub(e, &e->stubs[i]);
    }
    emit_tails(e);
    return e->x.used;
}

size_t facet_block_emit_enter(uint8_t *bytes, size_t size)
{
    enum {
        PUSHED = 7 * 8,
        ARGUMENT = PUSHED + 8
    }; /* six registers and a gap; the return address */
    struct facet_x86 x = {.bytes = bytes, .size = size};

    for (unsigned i = 0; i < KEPT_HOMES; i++) {
        if (homes[i] >= 8) {
            facet_x86_byte(&x, 0x41);
        }
        facet_x86_byte(&x, 0x50 | (homes[i] & 7)); /* push */
    }
    facet_x86_immediate(&x, 8, FACET_SUB, facet_x86_in(FACET_RSP), 8);
    facet_x86_op(&x, 4, 0xFF, 2, facet_x86_at(FACET_RSP, ARGUMENT)); /* call */
    facet_x86_immediate(&x, 8, FACET_ADD, facet_x86_in(FACET_RSP), 8);
    for (unsigned i = KEPT_HOMES; i-- > 0;) {
        if (homes[i] >= 8) {
            facet_x86_byte(&x, 0x41);
        }
        facet_x86_byte(&x, 0x58 | (homes[i] & 7)); /* pop */
    }
    facet_x86_byte(&x, 0xC3);
    return x.used;
}
