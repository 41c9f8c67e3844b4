/* One instruction at a time: the plain executor. Every architectural write passes the doors of
 * hart.h, so traces, lockstep and debuggers see it. The RSV lane loop and the vendor units hang off
 * facet_hart_execute. */
#include "machine/counts.h"
#include "xphmg/hart/alu.h"
#include "xphmg/hart/hart.h"
#include "xphmg/hart/memory.h"
#include "xphmg/units/part.h"
#include "xphmg/units/vendor.h"

#include "num/hart.h"

#include <string.h>

#define FP_SIGN64 (UINT64_C(1) << 63)
#define W(v) facet_hart_w(v)

static struct facet_trap illegal(const struct facet_insn *in)
{
    return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
}

static struct facet_trap
load(struct facet_hart *h, const struct facet_insn *in, unsigned size, bool sign)
{
    const uint64_t address = h->x[in->rs1] + (uint64_t)in->imm;
    uint64_t value;
    struct facet_trap trap = facet_hart_check(h, address, size, false);

    if (!trap.taken) {
        trap = facet_hart_load_data(h, address, size, &value);
    }
    if (!trap.taken) {
        facet_hart_set_x(h, in->rd, sign ? (uint64_t)facet_bits_sign(value, 8 * size) : value);
    }
    return trap;
}

static struct facet_trap
checked_store(struct facet_hart *h, uint64_t address, unsigned size, uint64_t value)
{
    struct facet_trap trap = facet_hart_check(h, address, size, true);

    return trap.taken ? trap : facet_hart_store(h, address, size, value);
}

static struct facet_trap store(struct facet_hart *h, const struct facet_insn *in, unsigned size)
{
    return checked_store(h, h->x[in->rs1] + (uint64_t)in->imm, size, h->x[in->rs2]);
}

static struct facet_trap load_f(struct facet_hart *h, const struct facet_insn *in, unsigned size)
{
    const uint64_t address = h->x[in->rs1] + (uint64_t)in->imm;
    uint64_t value;
    struct facet_trap trap;

    if (h->fs == FACET_FS_OFF) {
        return illegal(in);
    }
    trap = facet_hart_check(h, address, size, false);
    if (!trap.taken) {
        trap = facet_hart_load_data(h, address, size, &value);
    }
    if (!trap.taken) {
        facet_hart_set_f(h, in->rd, value | ~facet_bits_mask(8 * size)); /* NaN-boxed */
    }
    return trap;
}

static struct facet_trap store_f(struct facet_hart *h, const struct facet_insn *in, unsigned size)
{
    if (h->fs == FACET_FS_OFF) {
        return illegal(in);
    }
    return checked_store(h, h->x[in->rs1] + (uint64_t)in->imm, size, h->f[in->rs2]);
}

/* Sets the target of a jump; bit 0 is never set here (JALR clears it, offsets are even). */
static struct facet_trap jump(struct facet_hart *h, uint64_t target)
{
    struct facet_trap trap = facet_hart_target(h, target);

    if (!trap.taken) {
        h->next_pc = target;
    }
    return trap;
}

static struct facet_trap branch(struct facet_hart *h, const struct facet_insn *in, bool taken)
{
    return taken ? jump(h, h->pc + (uint64_t)in->imm) : FACET_RETIRED;
}

/* A jump that keeps the return address. */
static struct facet_trap call(struct facet_hart *h, unsigned rd, uint64_t target)
{
    const uint64_t back = h->next_pc;
    struct facet_trap trap = jump(h, target);

    if (!trap.taken) {
        facet_hart_set_x(h, rd, back);
    }
    return trap;
}

uint64_t facet_hart_amo_result(unsigned row, uint64_t old, uint64_t b, unsigned size)
{
    int64_t so = facet_bits_sign(old, 8 * size), sb = facet_bits_sign(b, 8 * size);
    uint64_t uo = old & facet_bits_mask(8 * size), ub = b & facet_bits_mask(8 * size);

    switch (row) {
    case FACET_XPHMG_AMOSWAP_W:
    case FACET_XPHMG_AMOSWAP_D:
        return b;
    case FACET_XPHMG_AMOADD_W:
    case FACET_XPHMG_AMOADD_D:
        return old + b;
    case FACET_XPHMG_AMOXOR_W:
    case FACET_XPHMG_AMOXOR_D:
        return old ^ b;
    case FACET_XPHMG_AMOAND_W:
    case FACET_XPHMG_AMOAND_D:
        return old & b;
    case FACET_XPHMG_AMOOR_W:
    case FACET_XPHMG_AMOOR_D:
        return old | b;
    case FACET_XPHMG_AMOMIN_W:
    case FACET_XPHMG_AMOMIN_D:
        return so < sb ? old : b;
    case FACET_XPHMG_AMOMAX_W:
    case FACET_XPHMG_AMOMAX_D:
        return so > sb ? old : b;
    case FACET_XPHMG_AMOMINU_W:
    case FACET_XPHMG_AMOMINU_D:
        return uo < ub ? old : b;
    default: /* AMOMAXU */
        return uo > ub ? old : b;
    }
}

static struct facet_trap atomic(struct facet_hart *h, const struct facet_insn *in, unsigned size)
{
    uint64_t address = h->x[in->rs1], b = h->x[in->rs2], old;
    struct facet_trap trap;

    if ((address & (size - 1)) != 0) {
        return facet_hart_trap_make(FACET_CAUSE_STORE_MISALIGNED, address);
    }
    trap = facet_hart_check(h, address, size, true); /* what can be written can be read */
    if (!trap.taken) {
        trap = facet_hart_load_data(h, address, size, &old);
    }
    if (trap.taken) { /* an AMO reports the store side */
        return facet_hart_trap_make(FACET_CAUSE_STORE_FAULT, trap.tval);
    }
    trap = facet_hart_store(h, address, size, facet_hart_amo_result(in->row, old, b, size));
    if (!trap.taken) {
        facet_hart_set_x(h, in->rd, (uint64_t)facet_bits_sign(old, 8 * size));
    }
    return trap;
}

static struct facet_trap
load_reserved(struct facet_hart *h, const struct facet_insn *in, unsigned size)
{
    uint64_t address = h->x[in->rs1], value;
    struct facet_trap trap;

    if ((address & (size - 1)) != 0) {
        return facet_hart_trap_make(FACET_CAUSE_LOAD_MISALIGNED, address);
    }
    trap = facet_hart_check(h, address, size, false);
    if (!trap.taken) {
        trap = facet_hart_load_data(h, address, size, &value);
    }
    if (!trap.taken) {
        h->reserved = true;
        h->reservation = address;
        facet_hart_set_x(h, in->rd, (uint64_t)facet_bits_sign(value, 8 * size));
    }
    return trap;
}

static struct facet_trap
store_conditional(struct facet_hart *h, const struct facet_insn *in, unsigned size)
{
    uint64_t address = h->x[in->rs1];
    bool success = h->reserved && h->reservation == address;

    if ((address & (size - 1)) != 0) {
        return facet_hart_trap_make(FACET_CAUSE_STORE_MISALIGNED, address);
    }
    h->reserved = false;
    if (success) {
        struct facet_trap trap = checked_store(h, address, size, h->x[in->rs2]);

        if (trap.taken) {
            return trap;
        }
    }
    facet_hart_set_x(h, in->rd, !success);
    return FACET_RETIRED;
}

static struct facet_trap csr(struct facet_hart *h, const struct facet_insn *in)
{
    bool immediate = in->row >= FACET_XPHMG_CSRRWI && in->row <= FACET_XPHMG_CSRRCI;
    bool swap = in->row == FACET_XPHMG_CSRRW || in->row == FACET_XPHMG_CSRRWI;
    uint64_t operand = immediate ? in->rs1 : h->x[in->rs1];
    uint64_t old = 0;
    struct facet_trap trap = facet_hart_csr_access(h, in, operand, swap || in->rs1 != 0, &old);

    if (!trap.taken) {
        facet_hart_set_x(h, in->rd, old);
    }
    return trap;
}

static struct facet_trap mret(struct facet_hart *h, const struct facet_insn *in)
{
    if (h->priv != FACET_PRIV_M) {
        return illegal(in);
    }
    facet_hart_return(h);
    return FACET_RETIRED;
}

static struct facet_trap wfi(struct facet_hart *h, const struct facet_insn *in)
{
    if (h->priv == FACET_PRIV_U && (h->mstatus & FACET_MSTATUS_TW) != 0) {
        return illegal(in);
    }
    h->wait = FACET_WAIT_INTERRUPT;
    h->waiting = (h->mie & h->mip) == 0 && (h->told == NULL || !h->told->waits);
    h->wait = FACET_WAIT_INTERRUPT;
    return FACET_RETIRED;
}

static struct facet_trap ebreak(struct facet_hart *h)
{
    enum facet_host_answer answer = h->host != NULL && h->host->ebreak != NULL
                                        ? h->host->ebreak(h->host->context, h)
                                        : FACET_HOST_NOT_MINE;

    h->stalled = answer == FACET_HOST_WAIT;
    return answer == FACET_HOST_DONE ? FACET_RETIRED
                                     : facet_hart_trap_make(FACET_CAUSE_BREAKPOINT, h->pc);
}

/* The rounding mode of a computation, or false when the instruction is illegal. */
static bool rounding(const struct facet_hart *h, const struct facet_insn *in, unsigned *rm)
{
    const unsigned mode = in->rm == 7 ? h->frm : in->rm;

    *rm = h->plain ? mode | FACET_RM_PLAIN : mode;
    return h->fs != FACET_FS_OFF && mode <= 4;
}

struct facet_trap facet_hart_execute(struct facet_hart *h, const struct facet_insn *in)
{
    const uint64_t *x = h->x;
    unsigned rm, raised = 0, *fl = &raised;

    switch ((enum facet_xphmg_op)in->row) {
#define ALU_RR(row, value)                                                                         \
    case FACET_XPHMG_##row: {                                                                      \
        uint64_t a = x[in->rs1], b = x[in->rs2];                                                   \
        facet_hart_set_x(h, in->rd, (value));                                                      \
        return FACET_RETIRED;                                                                      \
    }
#define ALU_RI(row, value)                                                                         \
    case FACET_XPHMG_##row: {                                                                      \
        uint64_t a = x[in->rs1], imm = (uint64_t)in->imm;                                          \
        facet_hart_set_x(h, in->rd, (value));                                                      \
        return FACET_RETIRED;                                                                      \
    }
#define ALU_R(row, value)                                                                          \
    case FACET_XPHMG_##row: {                                                                      \
        uint64_t a = x[in->rs1];                                                                   \
        facet_hart_set_x(h, in->rd, (value));                                                      \
        return FACET_RETIRED;                                                                      \
    }
#include "xphmg/hart/alu.def"

#define READ_F(r) h->f[r]
#define READ_X(r) h->x[r]
#define WRITE_F facet_hart_set_f
#define WRITE_X facet_hart_set_x
#define FP(row, dst, src, value)                                                                   \
    case FACET_XPHMG_##row: {                                                                      \
        uint64_t a = READ_##src(in->rs1), b = h->f[in->rs2], c = h->f[in->rs3];                    \
        if (!rounding(h, in, &rm)) {                                                               \
            return illegal(in);                                                                    \
        }                                                                                          \
        (void)a, (void)b, (void)c;                                                                 \
        WRITE_##dst(h, in->rd, (value));                                                           \
        facet_hart_raise(h, raised);                                                               \
        return FACET_RETIRED;                                                                      \
    }
#include "xphmg/hart/fp.def"

    case FACET_XPHMG_LUI:
        facet_hart_set_x(h, in->rd, (uint64_t)in->imm);
        return FACET_RETIRED;
    case FACET_XPHMG_AUIPC:
        facet_hart_set_x(h, in->rd, h->pc + (uint64_t)in->imm);
        return FACET_RETIRED;
    case FACET_XPHMG_JAL:
        return call(h, in->rd, h->pc + (uint64_t)in->imm);
    case FACET_XPHMG_JALR:
        return call(h, in->rd, (x[in->rs1] + (uint64_t)in->imm) & ~UINT64_C(1));
    case FACET_XPHMG_BEQ:
        return branch(h, in, x[in->rs1] == x[in->rs2]);
    case FACET_XPHMG_BNE:
        return branch(h, in, x[in->rs1] != x[in->rs2]);
    case FACET_XPHMG_BLT:
        return branch(h, in, (int64_t)x[in->rs1] < (int64_t)x[in->rs2]);
    case FACET_XPHMG_BGE:
        return branch(h, in, (int64_t)x[in->rs1] >= (int64_t)x[in->rs2]);
    case FACET_XPHMG_BLTU:
        return branch(h, in, x[in->rs1] < x[in->rs2]);
    case FACET_XPHMG_BGEU:
        return branch(h, in, x[in->rs1] >= x[in->rs2]);
    case FACET_XPHMG_LB:
        return load(h, in, 1, true);
    case FACET_XPHMG_LH:
        return load(h, in, 2, true);
    case FACET_XPHMG_LW:
        return load(h, in, 4, true);
    case FACET_XPHMG_LD:
        return load(h, in, 8, false);
    case FACET_XPHMG_LBU:
        return load(h, in, 1, false);
    case FACET_XPHMG_LHU:
        return load(h, in, 2, false);
    case FACET_XPHMG_LWU:
        return load(h, in, 4, false);
    case FACET_XPHMG_SB:
        return store(h, in, 1);
    case FACET_XPHMG_SH:
        return store(h, in, 2);
    case FACET_XPHMG_SW:
        return store(h, in, 4);
    case FACET_XPHMG_SD:
        return store(h, in, 8);
    case FACET_XPHMG_FLH:
        return load_f(h, in, 2);
    case FACET_XPHMG_FLW:
        return load_f(h, in, 4);
    case FACET_XPHMG_FLD:
        return load_f(h, in, 8);
    case FACET_XPHMG_FSH:
        return store_f(h, in, 2);
    case FACET_XPHMG_FSW:
        return store_f(h, in, 4);
    case FACET_XPHMG_FSD:
        return store_f(h, in, 8);
    case FACET_XPHMG_LR_W:
        return load_reserved(h, in, 4);
    case FACET_XPHMG_LR_D:
        return load_reserved(h, in, 8);
    case FACET_XPHMG_SC_W:
        return store_conditional(h, in, 4);
    case FACET_XPHMG_SC_D:
        return store_conditional(h, in, 8);
    case FACET_XPHMG_AMOSWAP_W:
    case FACET_XPHMG_AMOADD_W:
    case FACET_XPHMG_AMOXOR_W:
    case FACET_XPHMG_AMOAND_W:
    case FACET_XPHMG_AMOOR_W:
    case FACET_XPHMG_AMOMIN_W:
    case FACET_XPHMG_AMOMAX_W:
    case FACET_XPHMG_AMOMINU_W:
    case FACET_XPHMG_AMOMAXU_W:
        return atomic(h, in, 4);
    case FACET_XPHMG_AMOSWAP_D:
    case FACET_XPHMG_AMOADD_D:
    case FACET_XPHMG_AMOXOR_D:
    case FACET_XPHMG_AMOAND_D:
    case FACET_XPHMG_AMOOR_D:
    case FACET_XPHMG_AMOMIN_D:
    case FACET_XPHMG_AMOMAX_D:
    case FACET_XPHMG_AMOMINU_D:
    case FACET_XPHMG_AMOMAXU_D:
        return atomic(h, in, 8);
    case FACET_XPHMG_FENCE: /* one hart at a time, in program order: nothing to wait for */
        return FACET_RETIRED;
    case FACET_XPHMG_FENCE_I:
        h->code_written = true;
        return FACET_RETIRED;
    case FACET_XPHMG_CSRRW:
    case FACET_XPHMG_CSRRS:
    case FACET_XPHMG_CSRRC:
    case FACET_XPHMG_CSRRWI:
    case FACET_XPHMG_CSRRSI:
    case FACET_XPHMG_CSRRCI:
        return csr(h, in);
    case FACET_XPHMG_ECALL:
        return facet_hart_trap_make(
            h->priv == FACET_PRIV_M ? FACET_CAUSE_ECALL_M : FACET_CAUSE_ECALL_U, 0);
    case FACET_XPHMG_EBREAK:
        return ebreak(h);
    case FACET_XPHMG_MRET:
        return mret(h, in);
    case FACET_XPHMG_WFI:
        return wfi(h, in);
        /* No default: the compiler finds a base row without code. */
        FACET_XPHMG_ROWS_COMPRESSED(FACET_XPHMG_CASE) /* decoded as the rows that they stand for */
        FACET_XPHMG_ROWS_VENDOR(FACET_XPHMG_CASE)
    case FACET_XPHMG_OP_COUNT:
        break;
    }
    return facet_vendor_execute(h, in);
}

/* What the configuration leaves out is an illegal word. */
static struct facet_insn decode_present(const struct facet_hart *h, uint32_t word)
{
    struct facet_insn in = facet_insn_decode(word);

    if (h->units.config->hart.absent != 0 && !facet_insn_exists(&in, h->units.config)) {
        in.row = FACET_XPHMG_OP_COUNT;
    }
    return in;
}

struct facet_insn facet_hart_decode(const struct facet_hart *h, uint32_t word)
{
    struct facet_insn *known;

    if (h->memo == NULL) {
        return decode_present(h, word);
    }
    if (facet_isa_length(FACET_ISA_XPHMG, (uint16_t)word) == 2) {
        word &= 0xFFFF;
    }
    FACET_FAST_WAY(HART_MEMO);
    known = &h->memo[(word * UINT32_C(0x9E3779B1)) >> (32 - FACET_MEMO_BITS)];
    if (known->word != word || known->length == 0) {
        *known = decode_present(h, word);
    }
    return *known;
}

/* Two bytes of an instruction. */
static struct facet_trap fetch_parcel(const struct facet_hart *h, uint64_t address, uint64_t *value)
{
    struct facet_mem_result result;

    if (facet_hart_has_pmp(h) && !facet_hart_pmp_access(h, address, 2, FACET_PMP_X)) {
        return facet_hart_trap_make(FACET_CAUSE_FETCH_FAULT, address);
    }
    result = facet_mem_read(h->mem, address, 2, value);
    return result.fault != FACET_MEM_OK
               ? facet_hart_trap_make(FACET_CAUSE_FETCH_FAULT, result.address)
               : FACET_RETIRED;
}

/* The word at pc: two bytes first, so that a compressed instruction at the end of memory is fine.
 */
static struct facet_trap fetch(struct facet_hart *h, struct facet_insn *in)
{
    uint64_t word;

    if (!facet_window_load(&h->ram, h->pc, 4, &word)) {
        struct facet_trap trap = fetch_parcel(h, h->pc, &word);

        if (!trap.taken && facet_isa_length(FACET_ISA_XPHMG, (uint16_t)word) == 4) {
            uint64_t high = 0;

            trap = fetch_parcel(h, h->pc + 2, &high);
            word |= high << 16;
        }
        if (trap.taken) {
            return trap;
        }
    }
    *in = facet_hart_decode(h, (uint32_t)word);
    return FACET_RETIRED;
}

/* What the units looked like before an instruction that may change them, while an observer listens.
 */
struct before {
    struct facet_units units;
    struct facet_xmem xmem;
    struct facet_hart *hart;
    unsigned told; /* the CSR that the instruction itself names */
};

/* The register that shows a word of matrix storage (hart.h). */
static unsigned mtx_reg(unsigned number)
{
    static const uint8_t first[] = {
        offsetof(struct facet_mtx_bank, mtx2) / 8,
        offsetof(struct facet_mtx_bank, mtx3) / 8,
        offsetof(struct facet_mtx_bank, mtx4) / 8,
        offsetof(struct facet_mtx_bank, bias) / 8,
    };
    unsigned bank = number >> 4 & 15, word = number & 15;

    return FACET_HART_REG_MTX + bank * (unsigned)(sizeof(struct facet_mtx_bank) / 8) +
           first[(number >> 8) - FACET_CSR_MTX2] + word;
}

/* The register that shows half of a 128-bit register of GFX. */
static unsigned gfx_reg(unsigned number)
{
    unsigned csr = number >> 1, wide = csr == FACET_CSR_GFXBORDERC ? 6 : csr - FACET_CSR_GFXPLN0;

    return FACET_HART_REG_GFX + 2 * wide + (number & 1);
}

/* Whether two numbers are one register: those of RT have a second one that fits an instruction. */
static bool same_csr(const struct facet_hart *h, unsigned a, unsigned b)
{
    return a == b || (h->csr_index != NULL && h->csr_index[a] == h->csr_index[b]);
}

static void tell_change(void *context, const struct facet_units_change *change)
{
    const struct before *before = context;

    switch (change->kind) {
    case FACET_CHANGE_CSR:
        if (!same_csr(before->hart, change->number, before->told)) {
            facet_hart_tell_csr(before->hart, change->number, change->old, change->value);
        }
        break;
    case FACET_CHANGE_MTX:
        facet_hart_tell_reg(before->hart, mtx_reg(change->number), change->old, change->value);
        break;
    case FACET_CHANGE_GFX:
        facet_hart_tell_reg(before->hart, gfx_reg(change->number), change->old, change->value);
        break;
    default: /* predicates are reported as they are written */
        break;
    }
}

struct facet_trap facet_hart_perform(struct facet_hart *h, const struct facet_insn *in)
{
    return (h->units.rsv.svstate & FACET_SVSTATE_EN) != 0 && facet_rsv_affects(in)
               ? facet_rsv_repeat(h, in)
               : facet_hart_execute(h, in);
}

static bool is_vendor(const struct facet_insn *in)
{
    return in->row < FACET_XPHMG_OP_COUNT &&
           strncmp(facet_isa_rows[FACET_ISA_XPHMG][in->row].extension, "XPHMG", 5) == 0;
}

void facet_hart_tell_units(struct facet_hart *h,
                           unsigned told,
                           void (*act)(void *context),
                           void *context)
{
    struct before before; /* large: filled only when needed */
    bool resumed = h->part != NULL && h->part->resumes && h->part->told;

    if (!facet_hart_listens(h)) {
        act(context);
        return;
    }
    before.hart = h;
    before.told = told;
    before.units = resumed ? h->part->units : h->units;
    before.xmem = resumed ? h->part->xmem : *h->xmem;
    act(context);
    if (facet_part_left(h)) { /* reported at the end of the step */
        h->part->told = true;
        h->part->units = before.units;
        h->part->xmem = before.xmem;
        return;
    }
    facet_units_changes(&before.units, &before.xmem, &h->units, h->xmem, tell_change, &before);
}

struct execution {
    struct facet_hart *h;
    const struct facet_insn *in;
    struct facet_trap trap;
};

static void act_instruction(void *context)
{
    struct execution *e = context;

    e->trap = facet_hart_perform(e->h, e->in);
}

/* Vendor rows, csr* and everything under RSV may change the units' registers; the other base rows
 * cannot. */
static struct facet_trap execute_told(struct facet_hart *h, const struct facet_insn *in)
{
    bool csr_row = in->row >= FACET_XPHMG_CSRRW && in->row <= FACET_XPHMG_CSRRCI;
    struct execution e = {.h = h, .in = in};

    if (h->xmem == NULL ||
        (!csr_row && (h->units.rsv.svstate & FACET_SVSTATE_EN) == 0 && !is_vendor(in))) {
        return facet_hart_perform(h, in);
    }
    facet_hart_tell_units(h, csr_row ? (unsigned)in->imm : 0, act_instruction, &e);
    return e.trap;
}

/* The trap that the host has told: an interrupt or an exception before the instruction at pc. */
static struct facet_trap take_told(struct facet_hart *h)
{
    h->told->trap = false;
    h->waiting = false;
    facet_hart_trap(h, h->told->cause, h->told->value);
    return (struct facet_trap){true, (uint8_t)h->told->cause, h->told->value};
}

struct facet_trap facet_hart_step(struct facet_hart *h)
{
    bool resumed = facet_part_begin(h->part);
    int interrupt = resumed ? -1 : facet_hart_pending(h);
    struct facet_insn in = {0};
    struct facet_trap trap = FACET_RETIRED;

    h->stalled = false;
    if (!resumed && h->told != NULL && h->told->trap) {
        return take_told(h);
    }
    if (interrupt >= 0) {
        h->waiting = false;
        facet_hart_trap(h, UINT64_C(1) << 63 | (uint64_t)interrupt, 0);
        return (struct facet_trap){true, (uint8_t)interrupt, 0};
    }
    if (resumed) { /* it may have overwritten itself */
        in = facet_hart_decode(h, h->part->word);
    } else {
        trap = fetch(h, &in);
    }
    if (!trap.taken) {
        h->next_pc = h->pc + in.length;
        trap = facet_hart_listens(h) ? execute_told(h, &in) : facet_hart_perform(h, &in);
    }
    if (facet_part_left(h)) {
        h->part->word = in.word;
    } else if (resumed) {
        facet_part_drop(h->part);
    }
    if (h->stalled) {
        return FACET_RETIRED;
    }
    if (trap.taken) {
        facet_hart_trap(h, trap.cause, trap.tval);
        return trap;
    }
    if (facet_hart_listens(h)) {
        facet_port_retire(h->port, (uint32_t)h->hartid, h->pc, h->next_pc, in.word, in.length);
    }
    if (h->counts != NULL) {
        facet_counts_insn(h->counts, (uint32_t)h->hartid, h->pc, in.word, 1);
    }
    h->pc = h->next_pc;
    h->retired++;
    return trap;
}
