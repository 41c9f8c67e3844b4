/* See block_impl.h: from guest words to operations. */
#include "xphmg/hart/block_impl.h"

#include "xphmg/hart/block_fp.h"
#include "xphmg/hart/csr_file.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/vendor.h"

#include <string.h>

/* How the operands of a row are taken; NO_FORM stops the block. */
enum form {
    NO_FORM,
    FORM_RR,
    FORM_RI,
    FORM_R,
    FORM_LOAD,
    FORM_STORE,
    FORM_LOAD_F,
    FORM_STORE_F,
    FORM_BRANCH,
    FORM_FP_F, /* result in f */
    FORM_FP_X, /* result in x */
    FORM_CONSTANT,
    FORM_JAL,
    FORM_JALR,
    FORM_NOTHING,
    FORM_VENDOR,
};

static const struct {
    uint16_t kind;
    uint8_t form;
    /* Of loads and stores: the kinds for an immediate of 64 bits, the second one where misaligned
     * accesses trap. */
    uint16_t wide, strict;
} rows[FACET_XPHMG_OP_COUNT + 1] = {
#define ALU_RR(row, value) [FACET_XPHMG_##row] = {K_##row, FORM_RR, 0, 0},
#define ALU_RI(row, value) [FACET_XPHMG_##row] = {K_##row, FORM_RI, 0, 0},
#define ALU_R(row, value) [FACET_XPHMG_##row] = {K_##row, FORM_R, 0, 0},
#include "xphmg/hart/alu.def"
#define LOAD(row, size, value)                                                                     \
    [FACET_XPHMG_##row] = {K_##row, FORM_LOAD, K_WIDE_##row, K_STRICT_##row},
#define STORE(row, size) [FACET_XPHMG_##row] = {K_##row, FORM_STORE, K_WIDE_##row, K_STRICT_##row},
#define LOAD_F(row, size)                                                                          \
    [FACET_XPHMG_##row] = {K_##row, FORM_LOAD_F, K_WIDE_##row, K_STRICT_##row},
#define STORE_F(row, size)                                                                         \
    [FACET_XPHMG_##row] = {K_##row, FORM_STORE_F, K_WIDE_##row, K_STRICT_##row},
#define BRANCH(row, condition) [FACET_XPHMG_##row] = {K_##row, FORM_BRANCH, 0, 0},
#include "xphmg/hart/block_rows.def"
#define FP(row, dst, src, value) [FACET_XPHMG_##row] = {K_##row, FORM_FP_##dst, 0, 0},
#include "xphmg/hart/fp.def"
    [FACET_XPHMG_LUI] = {K_LI, FORM_CONSTANT, 0, 0},
    [FACET_XPHMG_AUIPC] = {K_LI, FORM_CONSTANT, 0, 0},
    [FACET_XPHMG_JAL] = {K_GOTO, FORM_JAL, 0, 0},
    [FACET_XPHMG_JALR] = {K_JALR, FORM_JALR, 0, 0},
    [FACET_XPHMG_FENCE] = {K_GOTO, FORM_NOTHING, 0, 0},
};

/* Kinds by form name, for the pairs. */
#define KIND_RR(row) K_##row
#define KIND_RR_A(row) K_##row##_A
#define KIND_RR_B(row) K_##row##_B
#define KIND_RI(row) K_##row
#define KIND_RI_A(row) K_##row##_A
#define KIND_R(row) K_##row
#define KIND_R_A(row) K_##row##_A
#define KIND_LOAD(row) K_##row
#define KIND_LOAD_A(row) K_##row##_A
#define KIND_STORE(row) K_##row
#define KIND_STORE_A(row) K_##row##_A
#define KIND_STORE_B(row) K_##row##_B
#define KIND_BR(row) K_##row
#define KIND_BR_A(row) K_##row##_A
#define KIND_BR_B(row) K_##row##_B
#define KIND_BZ(row) K_##row
#define KIND_BZ_A(row) K_##row##_A
#define KIND_LI(row) K_##row
#define KIND_MV(row) K_##row
#define KIND_MV_A(row) K_##row##_A

/* The code of both as one operation, K_COUNT when there is none. block_pairs.def lists the pairs as
 * a matrix. */
static unsigned pair_of(unsigned first, unsigned second)
{
    enum {
#define FIRST(form, row) FIRST_##row##_##form,
#include "xphmg/hart/block_pairs.def"
        FIRSTS
    };
    enum {
#define SECOND(form, row) SECOND_##row##_##form,
#include "xphmg/hart/block_pairs.def"
        SECONDS
    };
    /* One more than the place in the list; 0: not there. */
    static const uint8_t places[K_SINGLE][2] = {
#define FIRST(form, row) [KIND_##form(row)][0] = FIRST_##row##_##form + 1,
#define SECOND(form, row) [KIND_##form(row)][1] = SECOND_##row##_##form + 1,
#include "xphmg/hart/block_pairs.def"
    };
    unsigned i, j;

    _Static_assert(FIRSTS * SECONDS == K_COUNT - K_SINGLE, "the pairs are the whole matrix");
    if (first >= K_SINGLE || second >= K_SINGLE) {
        return K_COUNT;
    }
    i = places[first][0];
    j = places[second][1];
    return i == 0 || j == 0 ? K_COUNT : K_SINGLE + (i - 1) * SECONDS + (j - 1);
}

static void set_registers(struct op *op, unsigned a, unsigned b, unsigned d)
{
    op->a1 = (uint8_t)a;
    op->b1 = (uint8_t)b;
    op->d1 = (uint8_t)d;
}

static bool adjacent(const struct trace *t)
{
    return t->n > 0 && t->sites[t->n - 1].next_pc == t->pc && t->sites[t->n - 1].next == t->index;
}

/* Appends the instruction as one more operation. */
static struct op *add(struct trace *t, unsigned kind, unsigned plain)
{
    struct op *op = &t->ops[t->n];
    unsigned next = t->index + 1;

    memset(op, 0, sizeof *op);
    op->done = (uint8_t)next;
    t->kinds[t->n] = (uint16_t)kind;
    t->plain[t->n] = (uint16_t)plain;
    t->linked[t->n] = false;
    t->paired[t->n] = false;
    t->sites[t->n] = (struct site){.pc = t->pc,
                                   .second_pc = t->next_pc,
                                   .next_pc = t->next_pc,
                                   .index = (uint8_t)t->index,
                                   .second = (uint8_t)next,
                                   .next = (uint8_t)next,
                                   .words = t->words};
    t->n++;
    return op;
}

/* Makes one of the last two operations where there is code for both. */
static void join(struct trace *t)
{
    unsigned last = t->n - 1, before = last - 1, both;
    struct op *p, *q;

    if (last == 0 || t->apart || t->paired[before] || (t->linked[before] && t->linked[last]) ||
        t->sites[before].next_pc != t->sites[last].pc ||
        t->sites[before].next != t->sites[last].index) {
        return;
    }
    both = pair_of(t->kinds[before], t->kinds[last]);
    if (both == K_COUNT) {
        both = pair_of(t->plain[before], t->kinds[last]);
    }
    if (both == K_COUNT) {
        both = pair_of(t->plain[before], t->plain[last]);
    }
    if (both == K_COUNT) {
        return;
    }
    p = &t->ops[before];
    q = &t->ops[last];
    p->a2 = q->a1;
    p->b2 = q->b1;
    p->d2 = q->d1;
    p->imm2 = q->imm1;
    if (t->linked[last]) {
        p->done = q->done;
        t->linked[before] = true;
        t->targets[before] = t->targets[last];
    }
    t->sites[before].next_pc = t->sites[last].next_pc;
    t->sites[before].next = t->sites[last].next;
    t->kinds[before] = t->plain[before] = (uint16_t)both;
    t->paired[before] = true;
    t->n--;
}

/* The kind with the accumulator where it holds an operand; `forms` counts the kinds of the row. */
static unsigned
with_acc(const struct trace *t, unsigned kind, unsigned a, unsigned b, unsigned forms)
{
    if (t->acc == 0 || t->apart) {
        return kind;
    }
    if (forms >= 2 && a == t->acc) {
        return kind + 1;
    }
    return forms == 3 && b == t->acc ? kind + 2 : kind;
}

static struct op *
add_operands(struct trace *t, unsigned kind, const struct facet_insn *in, unsigned forms)
{
    struct op *op = add(t, with_acc(t, kind, in->rs1, in->rs2, forms), kind);

    set_registers(op, in->rs1, in->rs2, in->rd != 0 ? in->rd : DEAD);
    op->imm1 = (int32_t)in->imm;
    return op;
}

static void add_constant(struct trace *t, unsigned rd, uint64_t value)
{
    bool small = value == (uint64_t)(int64_t)(int32_t)value;
    struct op *op = add(t, small ? K_LI : K_LI_LONG, small ? K_LI : K_LI_LONG);

    set_registers(op, 0, 0, rd);
    if (small) {
        op->imm1 = (int32_t)value;
    } else {
        op->imm64 = value;
    }
    t->acc = rd;
    join(t);
}

/* A load or store: the immediate becomes what has to be subtracted from the register for an offset
 * in the RAM window. */
static void add_memory(struct trace *t, const struct facet_insn *in, unsigned forms)
{
    uint64_t back = t->base - (uint64_t)in->imm;
    bool fits = back == (uint32_t)back && !t->strict;
    unsigned wide = t->strict ? rows[in->row].strict : rows[in->row].wide;
    struct op *op =
        fits ? add_operands(t, rows[in->row].kind, in, forms) : add_operands(t, wide, in, 0);

    if (fits) {
        op->imm1 = (int32_t)(uint32_t)back;
    } else {
        op->imm64 = back;
    }
}

/* LUI or AUIPC and the addition after it in the same register are one constant. */
static bool fold_constant(struct trace *t, const struct facet_insn *in)
{
    unsigned last = t->n - 1;
    uint64_t value;
    struct site from;

    if (!adjacent(t) || in->rd != in->rs1 || t->ops[last].d1 != in->rd ||
        (t->kinds[last] != K_LI && t->kinds[last] != K_LI_LONG)) {
        return false;
    }
    value = t->kinds[last] == K_LI ? (uint64_t)(int64_t)t->ops[last].imm1 : t->ops[last].imm64;
    value += (uint64_t)in->imm;
    if (in->row == FACET_XPHMG_ADDIW) {
        value = (uint64_t)(int64_t)(int32_t)value;
    }
    from = t->sites[last];
    t->n--;
    add_constant(t, in->rd, value);
    last = t->n - 1; /* the constant came alone: what stood before it was no partner then either */
    t->sites[last].pc = from.pc;
    t->sites[last].index = from.index;
    return true;
}

static void add_compute(struct trace *t, const struct facet_insn *in, unsigned kind, unsigned form)
{
    if (in->rd == 0) {
        return;
    }
    if (in->row == FACET_XPHMG_ADDI && in->rs1 == 0) {
        add_constant(t, in->rd, (uint64_t)in->imm);
        return;
    }
    if ((in->row == FACET_XPHMG_ADDI || in->row == FACET_XPHMG_ADDIW) && fold_constant(t, in)) {
        return;
    }
    if ((in->row == FACET_XPHMG_ADDI && in->imm == 0) ||
        (in->row == FACET_XPHMG_ADD && (in->rs1 == 0 || in->rs2 == 0))) {
        unsigned from = in->rs1 != 0 ? in->rs1 : in->rs2;
        struct op *op = add(t, with_acc(t, K_MV, from, 0, 2), K_MV);

        set_registers(op, from, 0, in->rd);
    } else {
        (void)add_operands(t, kind, in, form == FORM_RR ? 3 : 2);
    }
    t->acc = in->rd;
    join(t);
}

static void add_branch(struct trace *t, const struct facet_insn *in, unsigned kind)
{
    static const struct {
        uint16_t row;
        bool swapped; /* x0 is the first operand */
        uint16_t kind;
    } zero[] = {
        {FACET_XPHMG_BEQ, false, K_BEQZ},
        {FACET_XPHMG_BNE, false, K_BNEZ},
        {FACET_XPHMG_BLT, false, K_BLTZ},
        {FACET_XPHMG_BGE, false, K_BGEZ},
        {FACET_XPHMG_BLT, true, K_BGTZ},
        {FACET_XPHMG_BGE, true, K_BLEZ},
    };
    struct facet_insn plain = *in;
    unsigned forms = 3;

    for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++) {
        if (in->row == zero[i].row && (zero[i].swapped ? in->rs1 : in->rs2) == 0) {
            kind = zero[i].kind;
            forms = 2;
            plain.rs1 = zero[i].swapped ? in->rs2 : in->rs1;
            plain.rs2 = 0;
            break;
        }
    }
    (void)add_operands(t, kind, &plain, forms);
    t->linked[t->n - 1] = true;
    t->targets[t->n - 1] = t->pc + (uint64_t)in->imm;
    join(t);
}

/* A jump that the trace follows: only the return address is left to write. */
static uint64_t follow(struct trace *t, const struct facet_insn *in)
{
    if (in->rd != 0) {
        add_constant(t, in->rd, t->next_pc);
        if (in->rd == 1 && t->depth < sizeof t->returns / sizeof t->returns[0]) {
            t->returns[t->depth++] = t->next_pc;
        }
    }
    return t->pc + (uint64_t)in->imm;
}

/* JALR: true when the trace continues, after the call that it followed. */
static bool add_indirect(struct trace *t, const struct facet_insn *in, uint64_t *next)
{
    bool expected = in->rd == 0 && in->rs1 == 1 && in->imm == 0 && t->depth > 0;
    struct op *op;

    if (expected) {
        *next = t->returns[--t->depth];
        op = add(t, K_RETURN, K_RETURN);
        op->imm64 = *next;
        return true;
    }
    op = in->rd != 0 ? add(t, K_JALR, K_JALR) : add(t, K_JR, K_JR);
    set_registers(op, in->rs1, 0, in->rd);
    op->imm1 = (int32_t)in->imm;
    return false;
}

/* The host computes with static or dynamic rounding to nearest; FEQ, FLT and FLE have no mode. */
static unsigned floating_kind(const struct facet_insn *in)
{
    static const uint16_t host[FACET_XPHMG_OP_COUNT + 1] = {
#define HOST(row, real, value) [FACET_XPHMG_##row] = K_HOST_##row,
#define HOST_TEST(row, real, value) [FACET_XPHMG_##row] = K_HOST_##row,
#include "xphmg/hart/block_host.def"
    };
    bool possible = HOST_IS_EXACT && host[in->row] != 0 && (in->rm == FACET_RNE || in->rm == 7);

    return possible ? host[in->row] : rows[in->row].kind;
}

/* Base rows by the table; those of the units have one way for all. */
static enum form form_of(const struct facet_insn *in)
{
    return facet_vendor_prompt(in) ? FORM_VENDOR : (enum form)rows[in->row].form;
}

/* Whether the instruction may have left lanes for the next one (SVSTATE.EN). */
static bool is_vendor(unsigned kind)
{
    return kind == K_VENDOR || kind == K_PREFIX || kind == K_RT;
}

/* A csrw that every privilege level may execute, of a register without a function of its own. */
static bool is_unit_csrw(const struct facet_insn *in)
{
    const unsigned number = (unsigned)in->imm;

    return in->row == FACET_XPHMG_CSRRW && in->rd == 0 && in->csr != FACET_INSN_NO_CSR &&
           facet_csr_entries[in->csr].one_word && !facet_csr_entries[in->csr].base &&
           (number >> 8 & 3) == 0 && number >> 10 != 3;
}

static unsigned vendor_kind(const struct facet_insn *in)
{
    return is_unit_csrw(in)                                                  ? K_UNIT_CSRW
           : in->row == FACET_XPHMG_SVP_ONE_VLSTEP                           ? K_PREFIX
           : in->row == FACET_XPHMG_RT_BBOX || in->row == FACET_XPHMG_RT_TRI ? K_RT
                                                                             : K_VENDOR;
}

static void add_vendor(struct trace *t, facet_block_cache *cache, const struct facet_insn *in)
{
    struct facet_insn *kept = &cache->insns[cache->insns_used++];
    const unsigned kind = vendor_kind(in);
    struct op *op;

    if (adjacent(t) && is_vendor(t->kinds[t->n - 1]) && is_vendor(kind)) {
        t->ops[t->n - 1].b2 = 1;
    }
    op = add(t, kind, kind);
    *kept = *in;
    op->insn = kept;
    if (kind == K_UNIT_CSRW) {
        set_registers(op, in->rs1, 0, DEAD);
    } else if (kind == K_PREFIX) {
        op->imm64 = facet_rsv_prefix(in->word);
    }
    t->acc = 0;
}

/* One instruction; false when the trace ends. */
static bool take(struct trace *t, facet_block_cache *cache, const struct facet_insn *in)
{
    const unsigned kind = rows[in->row].kind;
    const enum form form = form_of(in);
    uint64_t next = t->next_pc;
    bool open = true;
    struct op *op;

    switch (form) {
    case FORM_RR:
    case FORM_RI:
    case FORM_R:
        add_compute(t, in, kind, form);
        break;
    case FORM_LOAD:
        add_memory(t, in, 2);
        t->acc = in->rd;
        join(t);
        break;
    case FORM_STORE:
        add_memory(t, in, 3);
        join(t);
        break;
    case FORM_LOAD_F:
    case FORM_STORE_F:
        add_memory(t, in, 2);
        /* f0 is a register like any other */
        set_registers(&t->ops[t->n - 1], in->rs1, in->rs2, in->rd);
        break;
    case FORM_BRANCH:
        add_branch(t, in, kind);
        break;
    case FORM_FP_F:
    case FORM_FP_X:
        op = add(t, floating_kind(in), kind);
        set_registers(op, in->rs1, in->rs2, form == FORM_FP_X && in->rd == 0 ? DEAD : in->rd);
        op->a2 = in->rs3;
        op->b2 = in->rm;
        t->acc = 0;
        break;
    case FORM_CONSTANT:
        if (in->rd != 0) {
            add_constant(t, in->rd, (uint64_t)in->imm + (in->row == FACET_XPHMG_AUIPC ? t->pc : 0));
        }
        break;
    case FORM_JAL:
        next = follow(t, in);
        break;
    case FORM_JALR:
        open = add_indirect(t, in, &next);
        break;
    case FORM_VENDOR:
        add_vendor(t, cache, in);
        break;
    case FORM_NOTHING:
    default:
        break;
    }
    t->index++;
    t->pc = next;
    return open;
}

/* Gives every operation its code and every link an exit after the block. */
static void finish(struct trace *t)
{
    unsigned n = t->n;

    for (unsigned i = 0; i < n; i++) {
        t->ops[i].code = facet_block_codes[t->kinds[i]];
        if (t->linked[i]) {
            struct op *out = &t->ops[t->n++];

            memset(out, 0, sizeof *out);
            out->code = facet_block_codes[K_EXIT];
            out->imm64 = t->targets[i];
            out->link = &t->ops[i];
            t->ops[i].link = out;
        }
    }
    t->sites[0].count = (uint8_t)t->index;
    t->sites[0].start = t->start;
}

/* The line of RAM has cached code. */
static void mark(facet_block_cache *cache, uint64_t offset)
{
    size_t line = (size_t)(offset >> FACET_CODE_LINE_BITS);

    if ((cache->code_lines[line] & FACET_LINE_CODE) == 0) {
        cache->code_lines[line] |= FACET_LINE_CODE;
        cache->marked[cache->marked_count++] = (uint32_t)line;
    }
}

/* Without C, step.c does the jumps that may trap: to an address that is no multiple of four. */
static bool may_trap(const struct facet_hart *h, const struct facet_insn *in)
{
    const unsigned form = rows[in->row].form;

    return facet_xphmg_lacks(h->units.config, FACET_EXT_C) &&
           (form == FORM_JALR || ((form == FORM_JAL || form == FORM_BRANCH) && (in->imm & 2) != 0));
}

static bool is_store(unsigned row)
{
    return rows[row].form == FORM_STORE || rows[row].form == FORM_STORE_F;
}

void facet_block_decode(facet_block_cache *cache, const struct facet_hart *h, struct trace *t)
{
    const bool breaks = h->port != NULL && h->port->break_count != 0;
    bool open = true;

    t->pc = t->start;
    t->base = h->ram.base;
    t->strict = h->units.config->hart.misaligned_traps;
    while (open && t->index < BLOCK_MAX) {
        struct facet_insn in;
        uint64_t word;

        if ((breaks && facet_port_has_break(h->port, t->pc)) ||
            !facet_window_load(&h->ram, t->pc, 4, &word)) {
            break;
        }
        mark(cache, t->pc - h->ram.base);
        mark(cache, t->pc + 3 - h->ram.base);
        in = facet_hart_decode(h, (uint32_t)word);
        if (form_of(&in) == NO_FORM || may_trap(h, &in) ||
            (is_store(in.row) && h->ram.store_span != h->ram.span)) {
            break;
        }
        t->next_pc = t->pc + in.length;
        if (t->keeps) {
            cache->words[t->words + t->index] = (struct word){.pc = t->pc, .word = in.word};
        }
        open = take(t, cache, &in);
        if (open && t->pc == t->start) { /* a loop: host code keeps its registers */
            break;
        }
    }
    if (open) { /* the length or a loop ended the block, or step.c has to continue */
        bool on = t->index == BLOCK_MAX || (t->index > 0 && t->pc == t->start);
        struct op *op = add(t, on ? K_GOTO : K_STOP, on ? K_GOTO : K_STOP);

        op->done = (uint8_t)t->index;
        t->linked[t->n - 1] = on;
        t->targets[t->n - 1] = t->pc;
    }
}

/* The operation in front of a block that counts; of its site, only what describes the block. */
static void add_heat(const facet_block_cache *cache, struct op *op, struct site *site)
{
    *op = (struct op){.code = facet_block_codes[K_HEAT], .imm64 = cache->heat};
    *site = site[1];
}

struct op *facet_block_translate(facet_block_cache *cache, const struct facet_hart *h, uint64_t pc)
{
    struct op *first = cache->ops + cache->used;
    const unsigned counts = cache->host != NULL;
    struct trace t = {
        .ops = first + counts,
        .sites = cache->sites + cache->used + counts,
        .start = pc,
        .words = (uint32_t)cache->words_used,
        .keeps = cache->counts != NULL,
    };
    struct entry *entry = facet_block_entry(cache, pc);

    facet_block_decode(cache, h, &t);
    finish(&t);
    if (t.keeps && t.index > 0) {
        cache->words_used += t.index;
        cache->words[cache->words_used - 1].last = true;
    }
    if (counts) {
        add_heat(cache, first, t.sites - 1);
    }
    cache->used += t.n + counts;
    if (entry->first == NULL) {
        cache->taken[cache->taken_count++] = (uint16_t)(entry - cache->table);
    }
    *entry = (struct entry){pc, first};
    return first;
}
