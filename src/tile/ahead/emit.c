/* Code of the host for kernels, on x86-64 with AVX and FMA (host_code/): a piece for the private
 * instructions (ahead.c) from one that is often jumped to up to the next jump, at most
 * FACET_TILE_BLOCK_OPS of them, all of one page.
 *
 * Registers of the guest stay in registers of the host along a piece, and every result is stored as
 * well: before and after each instruction the state of the core is complete, and any handler can
 * take over. What an instruction cannot do at once (a float that is not ordinary, a line that is
 * not there, an address outside) its handler does, called from the end of the piece, and the piece
 * goes on; so do instructions that have no code of their own here. A piece ends by looking up the
 * code of the next instruction: no piece knows another, and whatever is dropped is not found again.
 *
 * r12 counts the instructions that may still be executed; a piece takes all of its own at once and
 * gives back what it does not do. An event ends the piece: ahead.c goes back to the mark then, so
 * that only the count has to be right. */
#include "base/ways.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "tile/tally/tally.h"

#include <string.h>

void facet_tile_emit_constants(struct facet_tile_core *c)
{
    /* As in fast.c: a product is ordinary above the smallest normal number and below infinity; one
     * comparison shows both after the range was moved to the bottom of the signed numbers. */
    static const uint32_t value[FACET_TILE_LIMITS] = {
        [FACET_TILE_LIMIT_MAGNITUDE] = 0x7FFFFFFF,
        [FACET_TILE_LIMIT_FINITE] = 0x7F7FFFFF,
        [FACET_TILE_LIMIT_BIAS] = 0x80000000 - 0x00800001,
        [FACET_TILE_LIMIT_ORDINARY] = 0x80000000 + (0x7F7FFFFF - 0x00800001),
    };

    for (unsigned i = 0; i < FACET_TILE_LIMITS * 4; i++) {
        c->float_limits[i / 4][i % 4] = value[i / 4];
    }
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include "tile/ahead/emit.h"

enum { MEMORY_BYTES = 4 << 20, PIECE_BYTES = 48 << 10 };

/* ---- registers ---- */

static void forget_registers(struct emitter *e)
{
    memset(&e->map, 0, sizeof e->map);
}

static void load_registers(struct emitter *e, const struct map *map)
{
    for (unsigned i = 0; i < S_SLOTS; i++) {
        if (map->s[i] != 0) {
            facet_x86_op(&e->x, 4, 0x8B, s_host[i], s_at(map->s[i] - 1u));
        }
    }
    for (unsigned i = 0; i < V_SLOTS; i++) {
        if (map->v[i] != 0) {
            facet_x86_vector(&e->x, 0x0F28, FIRST_V + i, 0, v_at(map->v[i] - 1u));
        }
    }
}

/* ---- ways out ---- */

static void count_class(struct emitter *e, unsigned class, int32_t by)
{
    if (by != 0) {
        facet_x86_immediate(
            &e->x,
            4,
            FACET_ADD,
            facet_x86_at(CORE, (int32_t)(offsetof(struct facet_tile_core, perf) + 4 * class)),
            by);
    }
}

/* For a profile: the piece is left after so many of its instructions, which all retired. */
static void note(struct emitter *e, uint32_t instructions)
{
    const struct facet_x86_operand said = CORE_AT(said);
    const uint32_t first = e->page->base + 4 * (uint32_t)(e->ops - e->page->ops);

    if (e->m->tally == NULL) {
        return;
    }
    facet_x86_load(&e->x, FACET_RCX, said);
    facet_x86_op(&e->x, 4, 0xC7, 0, facet_x86_at(FACET_RCX, 0));
    facet_x86_word(&e->x, first);
    facet_x86_op(&e->x, 4, 0xC7, 0, facet_x86_at(FACET_RCX, 4));
    facet_x86_word(&e->x, instructions);
    facet_x86_immediate(&e->x, 8, FACET_ADD, said, sizeof(struct facet_tile_stretch));
}

/* What the piece has counted so far, and `branches`; the piece goes on. */
static void count_up(struct emitter *e, uint32_t branches)
{
    for (unsigned i = 0; i < FACET_TILE_CLASS_OTHER; i++) {
        count_class(e, i, (int32_t)(e->perf[i] + (i == FACET_TILE_CLASS_BRANCH ? branches : 0)));
    }
}

static void leave_at(struct emitter *e, size_t place)
{
    e->leaves[e->leave_count++] = place;
}

/* To the instruction in rax. */
static void go_to_rax(struct emitter *e)
{
    facet_x86_load(
        &e->x, FACET_RCX, facet_x86_at(FACET_RAX, (int32_t)offsetof(struct facet_tile_insn, code)));
    facet_x86_op(&e->x, 8, 0x85, FACET_RCX, facet_x86_in(FACET_RCX));
    leave_at(e, facet_x86_jump_if(&e->x, FACET_IF_EQUAL));
    facet_x86_op(&e->x, 4, 0xFF, 4, facet_x86_in(FACET_RCX));
}

static void go_to(struct emitter *e, const struct facet_tile_insn *op)
{
    if (op == e->ops) {
        facet_x86_land(&e->x, facet_x86_jump(&e->x), 0);
    } else {
        facet_x86_constant(&e->x, FACET_RAX, (uintptr_t)op);
        go_to_rax(e);
    }
}

/* The handler; rax is the instruction that follows, unless there is an event. */
static void call_handler(struct emitter *e, unsigned index)
{
    const struct facet_tile_insn *op = &e->ops[index];

    facet_x86_move(&e->x, FACET_RDI, CORE);
    facet_x86_constant(&e->x, FACET_RSI, (uintptr_t)op);
    facet_x86_constant(&e->x, FACET_RAX, (uintptr_t)op->fn);
    facet_x86_op(&e->x, 4, 0xFF, 2, facet_x86_in(FACET_RAX));
    facet_x86_op(&e->x, 1, 0x80, FACET_CMP, MACHINE_AT(event));
    facet_x86_byte(&e->x, FACET_TILE_EVENT_NONE);
}

/* ---- jumps and calls: what may end a piece ---- */

static bool is_jump(unsigned row)
{
    return (row >= FACET_TILE_BEQ && row <= FACET_TILE_BGEU) || row == FACET_TILE_JALR ||
           row == FACET_TILE_JAL || row == FACET_TILE_JAL_S;
}

/* Changes config, or clears flags: nothing that was true before is sure after it. */
static bool changes_modes(unsigned row)
{
    return row == FACET_TILE_CSRRW || row == FACET_TILE_CSRRS || row == FACET_TILE_SETMISC;
}

static void branch(struct emitter *e, unsigned condition)
{
    const unsigned a = use_s(e, e->op->rs1), b = use_s(e, e->op->rs2);
    size_t not_taken;

    facet_x86_op(&e->x, 4, 0x3B, a, facet_x86_in(b));
    not_taken = facet_x86_jump_if(&e->x, condition ^ 1);
    count_up(e, 1);
    note(e, e->index + 1);
    go_to(e, e->op + e->op->imm / 4);
    facet_x86_land(&e->x, not_taken, e->x.used);
    count_up(e, 0);
    note(e, e->index + 1);
    go_to(e, e->op + 1);
}

static void near_jump(struct emitter *e)
{
    if (e->op->rd != FACET_TILE_NO_REG) {
        facet_x86_op(&e->x, 4, 0xC7, 0, s_at(e->op->rd));
        facet_x86_word(&e->x, e->page->base + 4 * (uint32_t)(e->op - e->page->ops) + 4);
    }
    count_up(e, 1);
    note(e, e->index + 1);
    go_to(e, e->op + e->op->imm / 4);
}

/* An instruction by its handler. A jump goes on where that says. */
static void by_handler(struct emitter *e, bool jumps)
{
    count_up(e, 0);
    memset(e->perf, 0, sizeof e->perf);
    call_handler(e, e->index);
    e->events[e->index] = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
    forget_registers(e);
    if (jumps) {
        note(e, e->index + 1);
        go_to_rax(e);
    }
}

/* The jump at the end of the piece. */
static void jump(struct emitter *e, unsigned row)
{
    static const uint8_t conditions[] = {[FACET_TILE_BEQ - FACET_TILE_BEQ] = FACET_IF_EQUAL,
                                         [FACET_TILE_BNE - FACET_TILE_BEQ] = FACET_IF_NOT_EQUAL,
                                         [FACET_TILE_BLT - FACET_TILE_BEQ] = FACET_IF_LESS,
                                         [FACET_TILE_BGE - FACET_TILE_BEQ] = FACET_IF_NOT_LESS,
                                         [FACET_TILE_BLTU - FACET_TILE_BEQ] = FACET_IF_BELOW,
                                         [FACET_TILE_BGEU - FACET_TILE_BEQ] = FACET_IF_NOT_BELOW};

    if (!e->op->near || row == FACET_TILE_JALR) {
        by_handler(e, true);
    } else if (row == FACET_TILE_JAL || row == FACET_TILE_JAL_S) {
        near_jump(e);
    } else {
        branch(e, conditions[row - FACET_TILE_BEQ]);
    }
}

/* ---- a piece ---- */

/* xmm0 is a product, or fused, and xmm1 says which lanes are not above the smallest normal number
 * or not finite. Lanes with a factor of zero are exact, if they are finite. */
static void look_again(struct emitter *e, const struct call *call)
{
    enum { EQUAL = 0 };

    facet_x86_land(&e->x, call->doubt, e->x.used);
    facet_x86_vector(&e->x, 0x660FEF, 3, 3, facet_x86_in(3));
    facet_x86_vector(&e->x, 0x0FC2, 2, call->a, facet_x86_in(3)); /* vcmpps */
    facet_x86_byte(&e->x, EQUAL);
    facet_x86_vector(&e->x, 0x0FC2, 3, call->b, facet_x86_in(3));
    facet_x86_byte(&e->x, EQUAL);
    facet_x86_vector(&e->x, 0x660FEB, 2, 2, facet_x86_in(3));
    facet_x86_vector(&e->x, 0x660FDF, 1, 2, facet_x86_in(1)); /* vpandn */
    facet_x86_vector(&e->x, 0x0F54, 2, 0, facet_tile_limit_at(FACET_TILE_LIMIT_MAGNITUDE));
    facet_x86_vector(&e->x, 0x660F66, 2, 2, facet_tile_limit_at(FACET_TILE_LIMIT_FINITE));
    facet_x86_vector(&e->x, 0x660FEB, 1, 1, facet_x86_in(2));
    facet_x86_vector(&e->x, 0x660F380E, 1, 0, facet_x86_in(1)); /* vtestps */
    facet_x86_land(&e->x, facet_x86_jump_if(&e->x, FACET_IF_EQUAL), call->sure);
}

static void emit_calls(struct emitter *e)
{
    for (unsigned i = 0; i < e->call_count; i++) {
        const struct call *call = &e->calls[i];

        if (call->doubt != 0) {
            look_again(e, call);
        }
        for (unsigned k = 0; k < call->site_count; k++) {
            facet_x86_land(&e->x, call->sites[k], e->x.used);
        }
        call_handler(e, call->index);
        e->events[call->index] = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
        if (call->counted != FACET_TILE_CLASS_OTHER) {
            count_class(e, call->counted, -1);
        }
        load_registers(e, &call->map);
        facet_x86_land(&e->x, facet_x86_jump(&e->x), call->back);
    }
}

/* Leaves in front of instruction `index`: the rest was not done. */
static void emit_leave(struct emitter *e, unsigned index)
{
    facet_x86_immediate(&e->x, 8, FACET_ADD, facet_x86_in(LEFT), (int32_t)(e->count - index));
    facet_x86_constant(&e->x, FACET_RAX, (uintptr_t)&e->ops[index]);
    leave_at(e, facet_x86_jump(&e->x));
}

static void emit_piece(struct emitter *e, struct facet_tile_core *c)
{
    size_t count_at, needs_at, too_long, not_so;
    bool ended = false;

    facet_x86_op(&e->x, 8, 0x81, FACET_SUB, facet_x86_in(LEFT));
    facet_x86_word(&e->x, 0);
    count_at = e->x.used;
    too_long = facet_x86_jump_if(&e->x, FACET_IF_NEGATIVE);
    facet_x86_op(&e->x, 4, 0xF7, 0, CORE_AT(r.config)); /* test */
    facet_x86_word(&e->x, 0);
    needs_at = e->x.used;
    not_so = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
    while (!ended && e->index < FACET_TILE_BLOCK_OPS) {
        const struct facet_insn_row *row;

        e->op = &e->ops[e->index];
        if (e->op == &e->page->ops[FACET_TILE_PAGE_OPS] || !facet_tile_look(c, e->op)->ahead) {
            break;
        }
        row = facet_isa_decode(FACET_ISA_TILE, e->op->word);
        if (is_jump(row->id)) {
            jump(e, row->id);
            ended = true;
        } else if (!facet_tile_emit_row(e, row->id)) {
            by_handler(e, changes_modes(row->id));
            ended = changes_modes(row->id);
        }
        e->index++;
    }
    e->count = e->index;
    if (!ended) {
        count_up(e, 0);
        note(e, e->count);
        go_to(e, &e->ops[e->count]);
    }
    emit_calls(e);
    if (facet_x86_fits(&e->x)) {
        facet_store_le32(e->x.bytes + count_at - 4, e->count);
        facet_store_le32(e->x.bytes + needs_at - 4, e->needs);
    }
    facet_x86_land(&e->x, too_long, e->x.used);
    facet_x86_land(&e->x, not_so, e->x.used);
    emit_leave(e, 0);
    for (unsigned i = 0; i < e->count; i++) {
        if (e->events[i] != 0) {
            facet_x86_land(&e->x, e->events[i], e->x.used);
            emit_leave(e, i);
        }
    }
    for (unsigned i = 0; i < e->leave_count; i++) {
        facet_x86_land(&e->x, e->leaves[i], (size_t)(e->m->leave - e->x.bytes));
    }
}

/* ---- in and out ---- */

/* Called as a function of (core, left, code); gives struct facet_tile_left. */
static void emit_doors(struct facet_x86 *x, size_t *leave)
{
    static const uint8_t saved[] = {
        FACET_RBX, FACET_RBP, FACET_R12, FACET_R13, FACET_R14, FACET_R15};

    for (unsigned i = 0; i < sizeof saved; i++) {
        facet_x86_op(x, 4, 0xFF, 6, facet_x86_in(saved[i])); /* push */
    }
    facet_x86_immediate(x, 8, FACET_SUB, facet_x86_in(FACET_RSP), 8); /* aligned for calls */
    facet_x86_move(x, CORE, FACET_RDI);
    facet_x86_move(x, LEFT, FACET_RSI);
    facet_x86_load(x, MACHINE, CORE_AT(m));
    facet_x86_load(x, VALID, CORE_AT(cache.valid));
    facet_x86_load(x, DATA, CORE_AT(cache.data));
    facet_x86_load(x, STAMPS, CORE_AT(cache.stamp));
    facet_x86_op(x, 4, 0xFF, 4, facet_x86_in(FACET_RDX)); /* jmp */
    *leave = x->used;
    facet_x86_move(x, FACET_RDX, LEFT);
    facet_x86_immediate(x, 8, FACET_ADD, facet_x86_in(FACET_RSP), 8);
    for (unsigned i = sizeof saved; i-- > 0;) {
        facet_x86_op(x, 4, 0x8F, 0, facet_x86_in(saved[i])); /* pop */
    }
    facet_x86_byte(x, 0xC3);
}

/* Nothing has host code any more, and nothing will. */
static void give_up(struct facet_tile_machine *m)
{
    facet_tile_code_forget_host(m);
    facet_code_memory_destroy(m->host_code);
    m->host_code = NULL;
    m->config.host_code = FACET_TILE_NO_HOST_CODE;
}

/* Memory with the doors in it and room for a piece. */
static bool have_room(struct facet_tile_machine *m)
{
    struct facet_x86 x = {.size = PIECE_BYTES};
    size_t leave;

    if (m->host_code == NULL) {
        m->host_code = __builtin_cpu_supports("avx") && __builtin_cpu_supports("fma")
                           ? facet_code_memory_create(MEMORY_BYTES)
                           : NULL;
    } else if (facet_code_memory_room(m->host_code) >= PIECE_BYTES) {
        return true;
    } else {
        facet_tile_code_forget_host(m);
        facet_code_memory_clear(m->host_code);
    }
    x.bytes = m->host_code != NULL ? facet_code_memory_open(m->host_code, PIECE_BYTES) : NULL;
    if (x.bytes == NULL) {
        return false;
    }
    emit_doors(&x, &leave);
    m->enter = x.bytes;
    m->leave = x.bytes + leave;
    return facet_code_memory_close(m->host_code, x.used);
}

void facet_tile_emit(struct facet_tile_core *c, const struct facet_tile_insn *op)
{
    struct facet_tile_machine *m = c->m;
    struct emitter e = {.m = m, .page = c->page, .ops = op, .x.size = PIECE_BYTES};
    bool fits;

    if (!have_room(m) || (e.x.bytes = facet_code_memory_open(m->host_code, PIECE_BYTES)) == NULL) {
        give_up(m);
        return;
    }
    FACET_FAST_WAY(TILE_HOST_CODE);
    emit_piece(&e, c);
    fits = facet_x86_fits(&e.x) && e.count != 0;
    if (!facet_code_memory_close(m->host_code, fits ? e.x.used : 0)) {
        give_up(m);
    } else if (fits) {
        c->page->ops[op - c->page->ops].code = e.x.bytes;
    }
}

struct facet_tile_left
facet_tile_enter(struct facet_tile_core *c, const struct facet_tile_insn *op, uint64_t left)
{
    typedef struct facet_tile_left enter_fn(struct facet_tile_core *, uint64_t, const void *);

    return ((enter_fn *)(uintptr_t)c->m->enter)(c, left, op->code);
}

#else

void facet_tile_emit(struct facet_tile_core *c, const struct facet_tile_insn *op)
{
    (void)op;
    c->m->config.host_code = FACET_TILE_NO_HOST_CODE;
}

struct facet_tile_left
facet_tile_enter(struct facet_tile_core *c, const struct facet_tile_insn *op, uint64_t left)
{
    (void)c;
    return (struct facet_tile_left){op, left};
}

#endif
