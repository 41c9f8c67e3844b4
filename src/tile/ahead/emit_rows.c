/* Instructions as code of the host: see emit.c. */
#include "contract/tile_csrs.h"
#include "isa/isa_rows.h"
#include "tile/core.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include "tile/ahead/emit.h"

/* ---- results, and calls of the handler ---- */

/* eax, and xmm0, become the result of the instruction. */
static void put_s(struct emitter *e)
{
    bool found;

    if (e->op->rd != FACET_TILE_NO_REG) {
        facet_x86_op(&e->x, 4, 0x8B, s_slot(e, e->op->rd, &found), facet_x86_in(FACET_RAX));
        facet_x86_op(&e->x, 4, 0x89, FACET_RAX, s_at(e->op->rd));
    }
}

static void put_v(struct emitter *e)
{
    bool found;

    if (e->op->rd != FACET_TILE_NO_REG) {
        facet_x86_vector(&e->x, 0x0F28, v_slot(e, e->op->rd, &found), 0, facet_x86_in(0));
        facet_x86_vector(&e->x, 0x0F29, 0, 0, v_at(e->op->rd));
    }
}

/* To the handler of the instruction, and back behind it. */
static struct call *new_call(struct emitter *e, unsigned counted)
{
    struct call *call = &e->calls[e->call_count++];

    *call = (struct call){0};
    call->index = (uint8_t)e->index;
    call->counted = (uint8_t)counted;
    return call;
}

static void call_if(struct emitter *e, struct call *call, unsigned condition)
{
    call->sites[call->site_count++] = facet_x86_jump_if(&e->x, condition);
}

static void end_call(struct emitter *e, struct call *call)
{
    call->back = e->x.used;
    call->map = e->map;
}

/* ---- memory ---- */

/* The forms of an address (tile-semantics.md 7), in the order of the rows. */
enum form { SHORT, INDEXED, AT_PC, BASE, LONG, AT_PC_LONG };

/* eax = offset into VRAM; the handler is called when it is outside or not aligned. */
static void
find_address(struct emitter *e, struct call *call, enum form form, uint32_t size, bool stride)
{
    const struct facet_tile_insn *op = e->op;
    const uint32_t pc = e->page->base + 4 * (uint32_t)(op - e->page->ops);

    if (form == AT_PC || form == AT_PC_LONG) {
        facet_x86_constant(&e->x, FACET_RAX, pc + (uint32_t)op->imm - FACET_VRAM_BASE);
    } else {
        const unsigned base = use_s(e, op->rs1);
        const unsigned index = form == INDEXED ? use_s(e, op->rs2) : FACET_RSP;
        const uint32_t offset = form == SHORT || form == LONG ? (uint32_t)op->imm : 0;

        facet_x86_op(&e->x,
                     4,
                     0x8D,
                     FACET_RAX,
                     facet_x86_indexed(base, index, 0, (int32_t)(offset - FACET_VRAM_BASE)));
        if (stride && (form == SHORT || form == LONG)) {
            facet_x86_op(&e->x, 4, 0x03, FACET_RAX, CORE_AT(r.vstride));
        }
    }
    facet_x86_immediate(&e->x, 4, FACET_CMP, facet_x86_in(FACET_RAX), (int32_t)e->m->vram_size);
    call_if(e, call, FACET_IF_NOT_BELOW);
    if (size > 1) {
        facet_x86_byte(&e->x, 0xA8); /* test al */
        facet_x86_byte(&e->x, size - 1);
        call_if(e, call, FACET_IF_NOT_EQUAL);
    }
}

/* edx = line of eax, ecx = eax. */
static void find_line(struct emitter *e)
{
    facet_x86_op(&e->x, 4, 0x8B, FACET_RDX, facet_x86_in(FACET_RAX));
    facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, facet_x86_in(FACET_RAX));
    facet_x86_op(&e->x, 4, 0xC1, 5, facet_x86_in(FACET_RDX));
    facet_x86_byte(&e->x, 6);
}

/* A load whose bytes are all valid in D. `opcode` loads from there. */
static void load(struct emitter *e, enum form form, uint32_t size, uint32_t opcode)
{
    struct call *call = new_call(e, FACET_TILE_CLASS_LOAD);

    find_address(e, call, form, size, size == 16);
    find_line(e);
    facet_x86_load(&e->x, FACET_RDX, facet_x86_indexed(VALID, FACET_RDX, 3, 0));
    facet_x86_op(&e->x, 8, 0xD3, 5, facet_x86_in(FACET_RDX)); /* shr rdx, cl */
    facet_x86_op(&e->x, 4, 0xF7, 2, facet_x86_in(FACET_RDX)); /* not */
    facet_x86_op(&e->x, 4, 0xF7, 0, facet_x86_in(FACET_RDX)); /* test */
    facet_x86_word(&e->x, (UINT32_C(1) << size) - 1);
    call_if(e, call, FACET_IF_NOT_EQUAL);
    if (size == 16) {
        facet_x86_vector(&e->x, 0x0F28, 0, 0, facet_x86_indexed(DATA, FACET_RAX, 0, 0));
        put_v(e);
    } else {
        facet_x86_op(&e->x, 4, opcode, FACET_RAX, facet_x86_indexed(DATA, FACET_RAX, 0, 0));
        put_s(e);
    }
    e->perf[FACET_TILE_CLASS_LOAD]++;
    end_call(e, call);
}

/* A store beside the constant region, into a line that has its stamp. */
static void store(struct emitter *e, enum form form, uint32_t size)
{
    struct call *call = new_call(e, FACET_TILE_CLASS_STORE);
    const unsigned data = size == 16 || form == INDEXED ? e->op->rs3 : e->op->rs2;
    const struct facet_x86_operand to = facet_x86_indexed(DATA, FACET_RAX, 0, 0);

    find_address(e, call, form, size, size == 16);
    facet_x86_op(
        &e->x, 4, 0x8D, FACET_RDX, facet_x86_at(FACET_RAX, (int32_t)(FACET_VRAM_BASE + size - 1)));
    facet_x86_op(&e->x, 4, 0x2B, FACET_RDX, MACHINE_AT(packet.const_base));
    facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, MACHINE_AT(packet.const_size));
    facet_x86_immediate(&e->x, 4, FACET_ADD, facet_x86_in(FACET_RCX), (int32_t)(size - 1));
    facet_x86_op(&e->x, 4, 0x3B, FACET_RDX, facet_x86_in(FACET_RCX));
    call_if(e, call, FACET_IF_BELOW);
    find_line(e);
    facet_x86_op(&e->x, 4, 0x8B, FACET_RDI, facet_x86_indexed(STAMPS, FACET_RDX, 2, 0));
    facet_x86_op(&e->x, 4, 0x3B, FACET_RDI, CORE_AT(cache.now));
    call_if(e, call, FACET_IF_NOT_EQUAL);
    if (size == 16) {
        facet_x86_vector(&e->x, 0x0F29, use_v(e, data), 0, to);
    } else {
        facet_x86_op(&e->x, size, size == 1 ? 0x88 : 0x89, use_s(e, data), to);
    }
    facet_x86_constant(&e->x, FACET_RDI, (UINT32_C(1) << size) - 1);
    facet_x86_op(&e->x, 8, 0xD3, 4, facet_x86_in(FACET_RDI)); /* shl rdi, cl */
    facet_x86_op(&e->x, 8, 0x09, FACET_RDI, facet_x86_indexed(VALID, FACET_RDX, 3, 0));
    facet_x86_load(&e->x, FACET_RCX, CORE_AT(cache.dirty));
    facet_x86_op(&e->x, 8, 0x09, FACET_RDI, facet_x86_indexed(FACET_RCX, FACET_RDX, 3, 0));
    e->perf[FACET_TILE_CLASS_STORE]++;
    end_call(e, call);
}

static bool memory_row(struct emitter *e, unsigned row)
{
    static const struct {
        uint16_t row;
        uint8_t size;
        bool stores;
        uint16_t opcode;
    } kinds[] = {{FACET_TILE_LB, 1, false, 0x0FBE},
                 {FACET_TILE_LH, 2, false, 0x0FBF},
                 {FACET_TILE_LW, 4, false, 0x8B},
                 {FACET_TILE_LBU, 1, false, 0x0FB6},
                 {FACET_TILE_LHU, 2, false, 0x0FB7},
                 {FACET_TILE_SB, 1, true, 0},
                 {FACET_TILE_SH, 2, true, 0},
                 {FACET_TILE_SW, 4, true, 0},
                 {FACET_TILE_VLD_V, 16, false, 0},
                 {FACET_TILE_VST_V, 16, true, 0}};

    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (row - kinds[i].row <= AT_PC_LONG) {
            const enum form form = (enum form)(row - kinds[i].row);

            if (kinds[i].stores) {
                store(e, form, kinds[i].size);
            } else {
                load(e, form, kinds[i].size, kinds[i].opcode);
            }
            return true;
        }
    }
    return false;
}

/* ---- scalar ---- */

static void alu(struct emitter *e, uint32_t opcode)
{
    const unsigned a = use_s(e, e->op->rs1), b = use_s(e, e->op->rs2);

    facet_x86_op(&e->x, 4, 0x8B, FACET_RAX, facet_x86_in(a));
    facet_x86_op(&e->x, 4, opcode, FACET_RAX, facet_x86_in(b));
    put_s(e);
}

static void alu_immediate(struct emitter *e, enum facet_x86_digit digit)
{
    facet_x86_op(&e->x, 4, 0x8B, FACET_RAX, facet_x86_in(use_s(e, e->op->rs1)));
    facet_x86_immediate(&e->x, 4, digit, facet_x86_in(FACET_RAX), e->op->imm);
    put_s(e);
}

/* The smaller or greater one: b replaces a on the condition. */
static void choose(struct emitter *e, unsigned condition)
{
    const unsigned a = use_s(e, e->op->rs1), b = use_s(e, e->op->rs2);

    facet_x86_op(&e->x, 4, 0x8B, FACET_RAX, facet_x86_in(a));
    facet_x86_op(&e->x, 4, 0x3B, FACET_RAX, facet_x86_in(b));
    facet_x86_op(&e->x, 4, 0x0F40 | condition, FACET_RAX, facet_x86_in(b));
    put_s(e);
}

enum { LEFTWARDS = 4, RIGHTWARDS = 5, WITH_SIGN = 7 };

static void shift(struct emitter *e, unsigned digit)
{
    const unsigned a = use_s(e, e->op->rs1), b = use_s(e, e->op->rs2);

    facet_x86_op(&e->x, 4, 0x8B, FACET_RCX, facet_x86_in(b));
    facet_x86_op(&e->x, 4, 0x8B, FACET_RAX, facet_x86_in(a));
    facet_x86_op(&e->x, 4, 0xD3, digit, facet_x86_in(FACET_RAX));
    put_s(e);
}

static void shift_immediate(struct emitter *e, unsigned digit)
{
    facet_x86_op(&e->x, 4, 0x8B, FACET_RAX, facet_x86_in(use_s(e, e->op->rs1)));
    facet_x86_op(&e->x, 4, 0xC1, digit, facet_x86_in(FACET_RAX));
    facet_x86_byte(&e->x, (unsigned)e->op->imm & 31);
    put_s(e);
}

static bool scalar_row(struct emitter *e, unsigned row)
{
    switch (row) {
    case FACET_TILE_ADD:
        e->needs |= FACET_CONFIG_SAT;
        alu(e, 0x03);
        return true;
    case FACET_TILE_SUB:
        e->needs |= FACET_CONFIG_SAT;
        alu(e, 0x2B);
        return true;
    case FACET_TILE_MUL:
        e->needs |= FACET_CONFIG_SAT;
        alu(e, 0x0FAF);
        return true;
    case FACET_TILE_ADDI:
        e->needs |= FACET_CONFIG_SAT;
        alu_immediate(e, FACET_ADD);
        return true;
    case FACET_TILE_AND:
        alu(e, 0x23);
        return true;
    case FACET_TILE_OR:
        alu(e, 0x0B);
        return true;
    case FACET_TILE_XOR:
        alu(e, 0x33);
        return true;
    case FACET_TILE_ANDI:
        alu_immediate(e, FACET_AND);
        return true;
    case FACET_TILE_ORI:
        alu_immediate(e, FACET_OR);
        return true;
    case FACET_TILE_XORI:
        alu_immediate(e, FACET_XOR);
        return true;
    case FACET_TILE_MIN:
        choose(e, FACET_IF_GREATER);
        return true;
    case FACET_TILE_MAX:
        choose(e, FACET_IF_LESS);
        return true;
    case FACET_TILE_SHL:
        shift(e, LEFTWARDS);
        return true;
    case FACET_TILE_LSR:
        shift(e, RIGHTWARDS);
        return true;
    case FACET_TILE_ASR:
        shift(e, WITH_SIGN);
        return true;
    case FACET_TILE_SHLI:
        shift_immediate(e, LEFTWARDS);
        return true;
    case FACET_TILE_LSRI:
        shift_immediate(e, RIGHTWARDS);
        return true;
    case FACET_TILE_ASRI:
        shift_immediate(e, WITH_SIGN);
        return true;
    case FACET_TILE_LUI:
        facet_x86_constant(&e->x, FACET_RAX, (uint32_t)e->op->imm << 12);
        put_s(e);
        return true;
    default:
        return false;
    }
}

/* ---- vectors ---- */

/* xmm0 is the result of floats with RM = 0 and FTZ = 0; as fast.c says, it is right when NX is set
 * already and every lane is ordinary (of a sum: finite). */
static void finish_floats(struct emitter *e, struct call *call, bool sum)
{
    facet_x86_vector(&e->x, 0x0F54, 1, 0, facet_tile_limit_at(FACET_TILE_LIMIT_MAGNITUDE));
    if (!sum) {
        facet_x86_vector(&e->x, 0x660FFE, 1, 1, facet_tile_limit_at(FACET_TILE_LIMIT_BIAS));
    }
    facet_x86_vector(
        &e->x,
        0x660F66,
        1,
        1,
        facet_tile_limit_at(sum ? FACET_TILE_LIMIT_FINITE : FACET_TILE_LIMIT_ORDINARY));
    facet_x86_vector(&e->x, 0x660F380E, 1, 0, facet_x86_in(1)); /* vtestps */
    if (sum) {
        call_if(e, call, FACET_IF_NOT_EQUAL);
    } else {
        call->doubt = facet_x86_jump_if(&e->x, FACET_IF_NOT_EQUAL);
        call->sure = e->x.used;
    }
    put_v(e);
    end_call(e, call);
}

static void floats(struct emitter *e, uint32_t opcode, bool sum, bool fused)
{
    struct call *call = new_call(e, FACET_TILE_CLASS_OTHER);
    const unsigned a = use_v(e, e->op->rs1), b = use_v(e, e->op->rs2);

    e->needs |= FACET_CONFIG_RM | FACET_CONFIG_FTZ;
    facet_x86_op(&e->x, 1, 0xF6, 0, CORE_AT(r.fflags)); /* test */
    facet_x86_byte(&e->x, FACET_NX);
    call_if(e, call, FACET_IF_EQUAL);
    if (fused) {
        facet_x86_vector(&e->x, 0x0F28, 0, 0, facet_x86_in(use_v(e, e->op->rs3)));
    }
    facet_x86_vector(&e->x, opcode, 0, a, facet_x86_in(b));
    call->a = (uint8_t)a;
    call->b = (uint8_t)b;
    finish_floats(e, call, sum);
}

/* A lane that wraps is the handler's. The signs of (a ^ r) & (b ^ r), or of (a ^ b) & (a ^ r) for a
 * difference, say which do. */
static void sums(struct emitter *e, uint32_t opcode, bool difference)
{
    struct call *call = new_call(e, FACET_TILE_CLASS_OTHER);
    const unsigned a = use_v(e, e->op->rs1), b = use_v(e, e->op->rs2);

    facet_x86_vector(&e->x, opcode, 0, a, facet_x86_in(b));
    facet_x86_vector(&e->x, 0x660FEF, 1, a, facet_x86_in(0));
    facet_x86_vector(&e->x, 0x660FEF, 2, b, facet_x86_in(difference ? a : 0));
    facet_x86_vector(&e->x, 0x660FDB, 1, 1, facet_x86_in(2));
    facet_x86_vector(&e->x, 0x660F380E, 1, 0, facet_x86_in(1));
    call_if(e, call, FACET_IF_NOT_EQUAL);
    put_v(e);
    end_call(e, call);
}

static void logic(struct emitter *e, uint32_t opcode)
{
    const unsigned a = use_v(e, e->op->rs1), b = use_v(e, e->op->rs2);

    facet_x86_vector(&e->x, opcode, 0, a, facet_x86_in(b));
    put_v(e);
}

static bool vector_row(struct emitter *e, unsigned row)
{
    switch (row) {
    case FACET_TILE_VADD_F32:
        floats(e, 0x0F58, true, false);
        return true;
    case FACET_TILE_VSUB_F32:
        floats(e, 0x0F5C, true, false);
        return true;
    case FACET_TILE_VMUL_F32:
        floats(e, 0x0F59, false, false);
        return true;
    case FACET_TILE_VFMA_F32:
        floats(e, 0x660F38B8, false, true);
        return true;
    case FACET_TILE_VADD_I32:
        sums(e, 0x660FFE, false);
        return true;
    case FACET_TILE_VSUB_I32:
        sums(e, 0x660FFA, true);
        return true;
    case FACET_TILE_VAND:
        logic(e, 0x660FDB);
        return true;
    case FACET_TILE_VOR:
        logic(e, 0x660FEB);
        return true;
    case FACET_TILE_VXOR:
        logic(e, 0x660FEF);
        return true;
    case FACET_TILE_VSHUF:
        facet_x86_vector(&e->x, 0x660F3A04, 0, 0, facet_x86_in(use_v(e, e->op->rs1)));
        facet_x86_byte(&e->x, (unsigned)e->op->imm & 0xFF);
        put_v(e);
        return true;
    case FACET_TILE_VBCAST_I32:
        facet_x86_vector(&e->x, 0x660F6E, 0, 0, facet_x86_in(use_s(e, e->op->rs1)));
        facet_x86_vector(&e->x, 0x660F70, 0, 0, facet_x86_in(0));
        facet_x86_byte(&e->x, 0);
        put_v(e);
        return true;
    default:
        return false;
    }
}

bool facet_tile_emit_row(struct emitter *e, unsigned row)
{
    return scalar_row(e, row) || memory_row(e, row) || vector_row(e, row);
}

#endif
