/* See block_impl.h: from guest words to operations. */
#include "xphmg/block_impl.h"

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
};

static const struct {
    uint16_t kind;
    uint8_t form;
} rows[FACET_XPHMG_OP_COUNT + 1] = {
#define ALU_RR(row, value) [FACET_XPHMG_##row] = {K_##row, FORM_RR},
#define ALU_RI(row, value) [FACET_XPHMG_##row] = {K_##row, FORM_RI},
#define ALU_R(row, value) [FACET_XPHMG_##row] = {K_##row, FORM_R},
#include "xphmg/alu.def"
#define LOAD(row, size, value) [FACET_XPHMG_##row] = {K_##row, FORM_LOAD},
#define STORE(row, size) [FACET_XPHMG_##row] = {K_##row, FORM_STORE},
#define LOAD_F(row, size) [FACET_XPHMG_##row] = {K_##row, FORM_LOAD_F},
#define STORE_F(row, size) [FACET_XPHMG_##row] = {K_##row, FORM_STORE_F},
#define BRANCH(row, condition) [FACET_XPHMG_##row] = {K_##row, FORM_BRANCH},
#include "xphmg/block_rows.def"
#define FP(row, dst, src, value) [FACET_XPHMG_##row] = {K_##row, FORM_FP_##dst},
#include "xphmg/fp.def"
    [FACET_XPHMG_LUI] = {K_LI, FORM_CONSTANT},
    [FACET_XPHMG_AUIPC] = {K_LI, FORM_CONSTANT},
    [FACET_XPHMG_JAL] = {K_GOTO, FORM_JAL},
    [FACET_XPHMG_JALR] = {K_JALR, FORM_JALR},
    [FACET_XPHMG_FENCE] = {K_GOTO, FORM_NOTHING},
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

/* The code of both as one operation, K_COUNT when there is none. */
static enum kind pair_of(unsigned first, unsigned second)
{
    static const struct {
        uint16_t first, second, both;
    } pairs[] = {
#define PAIR(form1, row1, form2, row2)                                                             \
    {KIND_##form1(row1), KIND_##form2(row2), K_##row1##_##form1##_##row2##_##form2},
#include "xphmg/block_pairs.def"
        {K_COUNT, K_COUNT, K_COUNT},
    };
    size_t i = 0;

    while (pairs[i].first != K_COUNT && (pairs[i].first != first || pairs[i].second != second)) {
        i++;
    }
    return pairs[i].both;
}

/* A block in the making. */
struct trace {
    struct op *ops;
    struct site *sites;
    uint16_t kinds[BLOCK_OPS];   /* the kind of each operation */
    uint16_t plain[BLOCK_OPS];   /* the same without the accumulator */
    uint64_t targets[BLOCK_OPS]; /* of those with a link */
    bool linked[BLOCK_OPS];
    bool paired[BLOCK_OPS];
    unsigned n;          /* operations */
    unsigned index;      /* instructions */
    uint64_t pc;         /* of the instruction */
    uint64_t next_pc;    /* behind it */
    unsigned acc;        /* register that the accumulator mirrors, 0 for none */
    uint64_t returns[8]; /* where the calls that the trace followed come back to */
    unsigned depth;
};

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
    op->done = (uint16_t)next;
    t->kinds[t->n] = (uint16_t)kind;
    t->plain[t->n] = (uint16_t)plain;
    t->linked[t->n] = false;
    t->paired[t->n] = false;
    t->sites[t->n] = (struct site){.pc = t->pc,
                                   .second_pc = t->next_pc,
                                   .next_pc = t->next_pc,
                                   .index = (uint8_t)t->index,
                                   .second = (uint8_t)next,
                                   .next = (uint8_t)next};
    t->n++;
    return op;
}

/* Makes one of the last two operations where there is code for both. */
static void join(struct trace *t)
{
    unsigned last = t->n - 1, before = last - 1, both;
    struct op *p, *q;

    if (last == 0 || t->paired[before] || (t->linked[before] && t->linked[last]) ||
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
    p->rd2 = q->rd;
    p->c = q->a;
    p->d = q->b;
    p->imm2 = q->imm;
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
    if (t->acc != 0 && a == t->acc) {
        return kind + 1;
    }
    return t->acc != 0 && forms == 3 && b == t->acc ? kind + 2 : kind;
}

static struct op *
add_operands(struct trace *t, unsigned kind, const struct facet_insn *in, unsigned forms)
{
    struct op *op = add(t, with_acc(t, kind, in->rs1, in->rs2, forms), kind);

    op->rd = in->rd != 0 ? in->rd : DEAD;
    op->a = in->rs1;
    op->b = in->rs2;
    op->imm = (int32_t)in->imm;
    return op;
}

static void add_constant(struct trace *t, unsigned rd, uint64_t value)
{
    bool small = value == (uint64_t)(int64_t)(int32_t)value;
    struct op *op = add(t, small ? K_LI : K_LI_LONG, small ? K_LI : K_LI_LONG);

    op->rd = (uint8_t)rd;
    if (small) {
        op->imm = (int32_t)value;
    } else {
        op->imm64 = value;
    }
    t->acc = rd;
    join(t);
}

/* LUI or AUIPC and the addition behind it in the same register are one constant. */
static bool fold_constant(struct trace *t, const struct facet_insn *in)
{
    unsigned last = t->n - 1;
    uint64_t value;
    struct site from;

    if (!adjacent(t) || in->rd != in->rs1 || t->ops[last].rd != in->rd ||
        (t->kinds[last] != K_LI && t->kinds[last] != K_LI_LONG)) {
        return false;
    }
    value = t->kinds[last] == K_LI ? (uint64_t)(int64_t)t->ops[last].imm : t->ops[last].imm64;
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

        op->rd = in->rd;
        op->a = (uint8_t)from;
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

/* JALR: true when the trace goes on, behind the call that it followed. */
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
    op->rd = in->rd;
    op->a = in->rs1;
    op->imm = (int32_t)in->imm;
    return false;
}

/* One instruction; false when the trace ends. */
static bool take(struct trace *t, const struct facet_insn *in)
{
    const unsigned kind = rows[in->row].kind, form = rows[in->row].form;
    uint64_t next = t->next_pc;
    bool open = true;
    struct op *op;

    switch ((enum form)form) {
    case FORM_RR:
    case FORM_RI:
    case FORM_R:
        add_compute(t, in, kind, form);
        break;
    case FORM_LOAD:
        (void)add_operands(t, kind, in, 2);
        t->acc = in->rd;
        join(t);
        break;
    case FORM_STORE:
        (void)add_operands(t, kind, in, 3);
        join(t);
        break;
    case FORM_LOAD_F:
    case FORM_STORE_F:
        op = add_operands(t, kind, in, 2);
        op->rd = in->rd;
        break;
    case FORM_BRANCH:
        add_branch(t, in, kind);
        break;
    case FORM_FP_F:
    case FORM_FP_X:
        op = add(t, kind, kind);
        op->rd = form == FORM_FP_X && in->rd == 0 ? DEAD : in->rd;
        op->a = in->rs1;
        op->b = in->rs2;
        op->c = in->rs3;
        op->d = in->rm;
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
    case FORM_NOTHING:
    default:
        break;
    }
    t->index++;
    t->pc = next;
    return open;
}

/* Gives every operation its code and every link an exit behind the block. */
static void finish(struct trace *t, const void *const *code)
{
    unsigned n = t->n;

    for (unsigned i = 0; i < n; i++) {
        t->ops[i].code = code[t->kinds[i]];
        if (t->linked[i]) {
            struct op *out = &t->ops[t->n++];

            memset(out, 0, sizeof *out);
            out->code = code[K_EXIT];
            out->imm64 = t->targets[i];
            out->link = &t->ops[i];
            t->ops[i].link = out;
        }
    }
    t->sites[0].count = (uint8_t)t->index;
}

struct op *facet_block_translate(facet_block_cache *cache,
                                 const struct facet_hart *h,
                                 uint64_t pc,
                                 const void *const *code)
{
    struct trace t = {
        .ops = cache->ops + cache->used, .sites = cache->sites + cache->used, .pc = pc};
    struct entry *entry = facet_block_entry(cache, pc);
    bool open = true;

    while (open && t.index < BLOCK_MAX) {
        struct facet_insn in;
        uint64_t word;

        if (!facet_window_load(&h->ram, t.pc, 4, &word)) {
            break;
        }
        cache->code_pages[(t.pc - h->ram.base) >> FACET_MEM_PAGE_BITS] = 1;
        cache->code_pages[(t.pc + 3 - h->ram.base) >> FACET_MEM_PAGE_BITS] = 1;
        in = facet_insn_decode((uint32_t)word);
        if (rows[in.row].form == NO_FORM) {
            break;
        }
        t.next_pc = t.pc + in.length;
        open = take(&t, &in);
    }
    if (open) { /* the length ended the block, or step.c has to go on */
        bool full = t.index == BLOCK_MAX;
        struct op *op = add(&t, full ? K_GOTO : K_STOP, full ? K_GOTO : K_STOP);

        op->done = (uint16_t)t.index;
        t.linked[t.n - 1] = full;
        t.targets[t.n - 1] = t.pc;
    }
    finish(&t, code);
    cache->used += t.n;
    *entry = (struct entry){pc, t.ops};
    return t.ops;
}
