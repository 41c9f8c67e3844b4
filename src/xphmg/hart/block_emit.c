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
#include "xphmg/hart/block_emit.h"

#include <string.h>

/* For the guest's registers, best first: C functions keep the first six. */
static const uint8_t homes[] = {
    FACET_RBX, FACET_RBP, FACET_R12, FACET_R13, FACET_R14, FACET_R15, FACET_R10, FACET_R11};
enum { HOMES = sizeof homes, KEPT_HOMES = 6 };

/* What an operation does with registers x. */
enum { READS_A = 1, READS_B = 2, WRITES_D = 4 };
/* By the column of fp.def. */
enum { TO_F = 0, TO_X = WRITES_D, FROM_F = 0, FROM_X = READS_A };

static const uint8_t uses_of[K_SINGLE] = {
#define ALU_RR(row, value) [K_##row] = READS_A | READS_B | WRITES_D,
#define ALU_RI(row, value) [K_##row] = READS_A | WRITES_D,
#define ALU_R(row, value) [K_##row] = READS_A | WRITES_D,
#include "xphmg/hart/alu.def"
#define LOAD(row, size, value)                                                                     \
    [K_##row] = READS_A | WRITES_D, [K_WIDE_##row] = READS_A | WRITES_D,                           \
    [K_STRICT_##row] = READS_A | WRITES_D,
#define STORE(row, size)                                                                           \
    [K_##row] = READS_A | READS_B, [K_WIDE_##row] = READS_A | READS_B,                             \
    [K_STRICT_##row] = READS_A | READS_B,
#define LOAD_F(row, size) [K_##row] = READS_A, [K_WIDE_##row] = READS_A, [K_STRICT_##row] = READS_A,
#define STORE_F(row, size)                                                                         \
    [K_##row] = READS_A, [K_WIDE_##row] = READS_A, [K_STRICT_##row] = READS_A,
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
    [K_UNIT_CSRW] = READS_A,
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
        [K_PREFIX] = true,
    };

    return known[kind] || uses_of[kind] != 0;
}

/* ---- registers of the guest -------------------------------------------------------------------
 */

static void store_all(struct emitter *e, uint64_t registers)
{
    for (unsigned r = 0; r < GUEST; r++) {
        if ((registers & bit(r)) != 0) {
            facet_x86_store(&e->x, in_memory(r), e->home[r]);
        }
    }
}

static void load_those(struct emitter *e, uint64_t registers)
{
    for (unsigned r = 0; r < GUEST; r++) {
        if ((registers & bit(r)) != 0) {
            load_home(e, r);
        }
    }
}

static bool is_store(unsigned kind)
{
    static const bool stores[K_SINGLE] = {
#define STORE(row, size) [K_##row] = true, [K_WIDE_##row] = true, [K_STRICT_##row] = true,
#define STORE_F(row, size) [K_##row] = true, [K_WIDE_##row] = true, [K_STRICT_##row] = true,
#include "xphmg/hart/block_rows.def"
    };

    return stores[kind];
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
        count[LINES] += is_store(e->t->kinds[i]);
        count[PAGES] += is_store(e->t->kinds[i]);
    }
    memset(e->home, NO_HOME, sizeof e->home);
    for (unsigned n = 0; n < HOMES; n++) {
        unsigned best = 0;

        for (unsigned r = 1; r < GUEST; r++) {
            if (r != DEAD && count[r] > (best == 0 ? 1 : count[best])) {
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

/* For the profile: the block is left at the operation of the arena. Uses RCX. */
static void emit_tally(struct emitter *e, const struct op *own, size_t way)
{
    const size_t at = (size_t)(own - e->cache->ops) * sizeof(struct facet_block_tally) + way;

    if (e->cache->counts != NULL) {
        facet_x86_load(&e->x, FACET_RCX, IN_HART(tally));
        facet_x86_op(&e->x, 8, 0xFF, 0, facet_x86_at(FACET_RCX, (int32_t)at)); /* inc */
    }
}

#define TALLY(own, way) emit_tally(e, own, offsetof(struct facet_block_tally, way))

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
    const struct op *own = e->own[op];
    const uint8_t *code = linked_code(e, own->link);

    load_address(e, FACET_RDI, &own->link);
    facet_x86_load(&e->x, FACET_RDI, facet_x86_at(FACET_RDI, 0));
    TALLY(own, out);
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
    TALLY(e->own[op], out);
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
    const struct op *own = e->own[op];

    if (e->cache->sites[own - e->cache->ops].index == site->index) {
        TALLY(own, before);
    } else {
        TALLY(own, middle);
    }
    facet_x86_constant(&e->x, FACET_RAX, site->pc);
    if (site->index != 0) {
        count_instructions(e, site->index);
    }
    e->to_leave[e->leave_count++] = facet_x86_jump(&e->x);
}

/* To the operation of block_exec.c, with one behind it that is the code from here on. */
static void enter_operation(struct emitter *e, unsigned i)
{
    const size_t at = e->cache->used;
    struct op *copy = &e->cache->ops[at];
    struct site *site = &e->cache->sites[at];

    e->cache->used += 2;
    copy[0] = e->t->ops[i];
    copy[0].code = facet_block_codes[e->t->kinds[i]];
    copy[1] = (struct op){0};
    site[0] = site[1] = e->t->sites[i];
    load_address(e, FACET_RDI, copy);
    jump_to_operation(e);
    facet_block_host_op(&copy[1], e->x.bytes + e->x.used);
}

/* Registers whose homes have something else in them after the operation. */
static uint64_t lost(const struct emitter *e, unsigned i)
{
    const unsigned kind = e->t->kinds[i];
    uint64_t all = (uses_of[kind] & WRITES_D) != 0 ? bit(e->t->ops[i].d1) : 0;

    for (unsigned r = 0; r < GUEST; r++) {
        if (e->home[r] == FACET_R10 || e->home[r] == FACET_R11) {
            all |= bit(r);
        }
    }
    return is_known(kind) && facet_block_jumps ? all : ~UINT64_C(0);
}

/* The store is not aligned; RAX is its offset. One that crosses a line needs the second one, too,
 * to be unknown to the cache, and may reach a second page. */
static void emit_across(struct emitter *e, const struct stub *stub)
{
    const int32_t last = FACET_CODE_LINE_BYTES - (int32_t)stub->bytes;
    const struct facet_x86_operand offset = facet_x86_in(FACET_RCX);
    size_t known;

    facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, facet_x86_in(FACET_RAX));
    facet_x86_immediate(&e->x, 4, FACET_AND, offset, FACET_CODE_LINE_BYTES - 1);
    facet_x86_immediate(&e->x, 4, FACET_CMP, offset, last);
    facet_x86_land(&e->x, facet_x86_jump_if(&e->x, FACET_IF_ABOVE ^ 1), stub->back);
    facet_x86_move(&e->x, FACET_RCX, FACET_RAX);
    facet_x86_op(&e->x, 8, 0xC1, DIGIT_SHR, offset);
    facet_x86_byte(&e->x, FACET_CODE_LINE_BITS);
    facet_x86_load(&e->x, FACET_RDI, in_memory(LINES));
    facet_x86_op(&e->x, 4, 0x80, FACET_CMP, facet_x86_indexed(FACET_RDI, FACET_RCX, 0, 1));
    facet_x86_byte(&e->x, 0);
    known = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
    facet_x86_op(&e->x, 8, 0x8D, FACET_RCX, facet_x86_at(FACET_RAX, (int32_t)stub->bytes - 1));
    facet_x86_op(&e->x, 8, 0xC1, DIGIT_SHR, offset);
    facet_x86_byte(&e->x, FACET_MEM_PAGE_BITS);
    facet_x86_load(&e->x, FACET_RDI, in_memory(PAGES));
    facet_x86_op(&e->x, 4, 0xC6, 0, facet_x86_indexed(FACET_RDI, FACET_RCX, 0, 0));
    facet_x86_byte(&e->x, FACET_MEM_DIRTY_ALL);
    facet_x86_land(&e->x, facet_x86_jump(&e->x), stub->back);
    facet_x86_land(&e->x, known, e->x.used);
    store_all(e, stub->dirty);
    leave_before(e, stub->op);
}

static void emit_stub(struct emitter *e, struct stub *stub)
{
    land_here(e, stub);
    switch (stub->what) {
    case LINE:
        emit_across(e, stub);
        break;
    case LEAVE:
        store_all(e, stub->dirty);
        leave_before(e, stub->op);
        break;
    case LINK:
        store_all(e, stub->dirty);
        leave_by_link(e, stub->op);
        break;
    case INDIRECT:
        store_all(e, stub->dirty);
        leave_indirect(e, stub->op);
        break;
    case OPERATION:
        store_all(e, stub->dirty);
        enter_operation(e, stub->op);
        e->loaded = stub->loaded & ~lost(e, stub->op);
        if ((uses_of[e->t->kinds[stub->op]] & WRITES_D) != 0) {
            load_home(e, e->t->ops[stub->op].d1);
        }
        load_those(e, stub->loaded);
        facet_block_float_reload(e, &stub->copies);
        facet_x86_land(&e->x, facet_x86_jump(&e->x), stub->back);
        break;
    case ZERO:
        stub[1].jumps[stub[1].jump_count++] = facet_block_emit_zero(e, stub);
        break;
    case REST:
    default:
        store_all(e, stub->dirty);
        load_address(e, FACET_RDI, e->own[stub->op]);
        jump_to_operation(e);
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

/* ---- from block to block ----------------------------------------------------------------------
 */

/* Back to the beginning, if the chunk lasts. */
static void emit_loop(struct emitter *e, unsigned i)
{
    load_those(e, e->housed);
    TALLY(e->own[i], out);
    count_instructions(e, e->t->ops[i].done);
    facet_x86_land(&e->x, facet_x86_jump_if(&e->x, FACET_IF_NOT_NEGATIVE), e->top);
    store_all(e, e->dirty);
    load_address(e, FACET_RDI, &e->own[i]->link);
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

static void emit_jump(struct emitter *e, unsigned i)
{
    const struct op *op = &e->t->ops[i];

    facet_x86_op(&e->x, 8, 0x8D, FACET_RAX, facet_x86_at(get(e, op->a1, FACET_RAX), op->imm1));
    facet_x86_immediate(&e->x, 8, FACET_AND, facet_x86_in(FACET_RAX), -2);
    if (e->t->kinds[i] == K_JALR) {
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

static void emit_operation(struct emitter *e, unsigned i)
{
    const unsigned kind = e->t->kinds[i];

    store_all(e, e->dirty);
    e->dirty = 0;
    enter_operation(e, i);
    facet_block_float_forget(e);
    e->loaded &= ~lost(e, i);
    if (is_known(kind)) {
        e->floats.singles &= ~(UINT32_C(1) << (e->t->ops[i].d1 & 31));
    } else {
        memset(&e->floats, 0, sizeof e->floats);
    }
}

/* Branches, jumps and ends. */
static bool emit_way(struct emitter *e, unsigned i)
{
    static const uint8_t conditions[K_SINGLE] = {
        [K_BEQ] = FACET_IF_EQUAL,
        [K_BNE] = FACET_IF_NOT_EQUAL,
        [K_BLT] = FACET_IF_LESS,
        [K_BGE] = FACET_IF_NOT_LESS,
        [K_BLTU] = FACET_IF_BELOW,
        [K_BGEU] = FACET_IF_NOT_BELOW,
        [K_BEQZ] = FACET_IF_EQUAL,
        [K_BNEZ] = FACET_IF_NOT_EQUAL,
        [K_BLTZ] = FACET_IF_LESS,
        [K_BGEZ] = FACET_IF_NOT_LESS,
        [K_BGTZ] = FACET_IF_GREATER,
        [K_BLEZ] = FACET_IF_NOT_GREATER,
    };
    const unsigned kind = e->t->kinds[i];
    const struct op *op = &e->t->ops[i];

    if (conditions[kind] != 0) {
        if ((uses_of[kind] & READS_B) != 0) {
            facet_x86_op(&e->x, 8, 0x3B, get(e, op->a1, FACET_RAX), value_of(e, op->b1));
        } else {
            facet_x86_immediate(&e->x, 8, FACET_CMP, value_of(e, op->a1), 0);
        }
        emit_branch(e, i, conditions[kind]);
        return true;
    }
    switch (kind) {
    case K_JR:
    case K_JALR:
        emit_jump(e, i);
        return true;
    case K_RETURN:
        emit_return(e, i);
        return true;
    case K_GOTO:
        emit_go_on(e, i);
        return true;
    case K_STOP:
        store_all(e, e->dirty);
        leave_before(e, i);
        return true;
    default:
        return false;
    }
}

/* The operations of the arena with those of the trace: fewer, each for one instruction or two. */
static void find_own(struct emitter *e, struct op *first)
{
    struct op *own = first + 1;

    for (unsigned i = 0; i < e->t->n; i++) {
        while (e->cache->sites[own - e->cache->ops].next <= e->t->sites[i].index) {
            own++;
        }
        e->own[i] = own;
        e->loops |= e->t->linked[i] && e->t->targets[i] == e->t->start;
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

    find_own(e, first);
    facet_block_float_forget(e);
    choose_homes(e);
    if (e->loops) {
        load_those(e, e->housed);
        e->dirty = written(e);
        e->top = e->x.used;
    }
    for (unsigned i = 0; i < t->n; i++) {
        unsigned stub = e->stub_count;

        if (!facet_block_emit_computation(e, i) && !facet_block_emit_memory(e, i) &&
            !facet_block_emit_float(e, i) && !emit_way(e, i)) {
            emit_operation(e, i);
        }
        for (; stub < e->stub_count; stub++) {
            e->stubs[stub].copies = e->copies;
        }
    }
    for (unsigned i = 0; i < e->stub_count; i++) {
        if (e->stubs[i].jump_count != 0) {
            emit_stub(e, &e->stubs[i]);
        }
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
