/* PMASK: the predicate bit P0, the predicate banks, and the instructions over them.
 *
 * P0 is a bit of its own: only the instructions that say so copy bit 0 of a bank into it. Bank 0 is
 * virtual; whatever would write it has no effect at all, P0 included. None of these instructions is
 * repeated by RSV.
 *
 * Spec: spec/pmask-xmem.insn.tsv, R-PM-01 to R-PM-19. */
#include "xphmg/rsv/pmask.h"
#include "xphmg/units/vendor.h"

enum level { LEVEL_M1 = 1, LEVEL_M2 = 2 };

static enum level level_of(unsigned row)
{
    switch (row) {
    case FACET_XPHMG_PMCLR:
    case FACET_XPHMG_PMSET:
    case FACET_XPHMG_PMMOV_P0:
    case FACET_XPHMG_PMMOV_TO_P0:
    case FACET_XPHMG_PMANY:
    case FACET_XPHMG_PMNONE:
    case FACET_XPHMG_PSEL:
    case FACET_XPHMG_BP_T:
    case FACET_XPHMG_BP_F:
        return LEVEL_M1;
    default:
        return LEVEL_M2;
    }
}

void facet_pmask_write(struct facet_hart *h, unsigned bank, uint64_t value)
{
    uint64_t *stored = &h->units.pmask.bank[bank];

    if (bank != 0) {
        facet_hart_note_reg(h, FACET_HART_REG_P0 + bank, *stored, value);
        *stored = value;
    }
}

void facet_pmask_write_p0(struct facet_hart *h, bool value)
{
    facet_hart_note_reg(h, FACET_HART_REG_P0, h->units.pmask.p0, value);
    h->units.pmask.p0 = value;
}

static struct facet_trap write_rd(struct facet_hart *h, const struct facet_insn *in, uint64_t value)
{
    facet_hart_set_x(h, in->rd, value);
    return FACET_RETIRED;
}

static struct facet_trap write_p0(struct facet_hart *h, bool value)
{
    facet_pmask_write_p0(h, value);
    return FACET_RETIRED;
}

/* pmclr, pmset and the algebra: the bank, then P0 from its bit 0. */
static struct facet_trap write_bank(struct facet_hart *h, unsigned bank, uint64_t value)
{
    if (bank != 0) {
        facet_pmask_write(h, bank, value);
        facet_pmask_write_p0(h, (value & 1) != 0);
    }
    return FACET_RETIRED;
}

/* pmlow.wr and pmhigh.wr: P0 stays. */
static struct facet_trap
write_half(struct facet_hart *h, unsigned bank, unsigned low_bit, uint64_t value)
{
    facet_pmask_write(h, bank, facet_bits_set(h->units.pmask.bank[bank], low_bit, 32, value));
    return FACET_RETIRED;
}

static struct facet_trap branch(struct facet_hart *h, const struct facet_insn *in, bool taken)
{
    struct facet_trap trap =
        taken ? facet_hart_target(h, h->pc + (uint64_t)in->imm) : FACET_RETIRED;

    if (taken && !trap.taken) {
        h->next_pc = h->pc + (uint64_t)in->imm;
    }
    return trap;
}

/* Rows without a bank. false: the row has one. */
static bool
scalar(struct facet_hart *h, const struct facet_insn *in, bool p0, struct facet_trap *trap)
{
    uint64_t a = h->x[in->rs1], b = h->x[in->rs2];
    int64_t sa = (int64_t)a, sb = (int64_t)b;

    switch (in->row) {
    case FACET_XPHMG_PMMOV_P0:
        *trap = write_rd(h, in, p0);
        return true;
    case FACET_XPHMG_PMMOV_TO_P0:
        *trap = write_p0(h, a != 0);
        return true;
    case FACET_XPHMG_PCMP_EQ_U:
    case FACET_XPHMG_PCMP_EQ_S:
        *trap = write_p0(h, a == b);
        return true;
    case FACET_XPHMG_PCMP_NE_U:
    case FACET_XPHMG_PCMP_NE_S:
        *trap = write_p0(h, a != b);
        return true;
    case FACET_XPHMG_PCMP_LT_U:
        *trap = write_p0(h, a < b);
        return true;
    case FACET_XPHMG_PCMP_LT_S:
        *trap = write_p0(h, sa < sb);
        return true;
    case FACET_XPHMG_PCMP_LE_U:
        *trap = write_p0(h, a <= b);
        return true;
    case FACET_XPHMG_PCMP_LE_S:
        *trap = write_p0(h, sa <= sb);
        return true;
    case FACET_XPHMG_PCMP_GT_U:
        *trap = write_p0(h, a > b);
        return true;
    case FACET_XPHMG_PCMP_GT_S:
        *trap = write_p0(h, sa > sb);
        return true;
    case FACET_XPHMG_PCMP_GE_U:
        *trap = write_p0(h, a >= b);
        return true;
    case FACET_XPHMG_PCMP_GE_S:
        *trap = write_p0(h, sa >= sb);
        return true;
    case FACET_XPHMG_PTESTNZ:
        *trap = write_p0(h, (a & b) != 0);
        return true;
    case FACET_XPHMG_PSEL:
        *trap = write_rd(h, in, p0 ? a : b);
        return true;
    case FACET_XPHMG_BP_T:
        *trap = branch(h, in, p0);
        return true;
    case FACET_XPHMG_BP_F:
        *trap = branch(h, in, !p0);
        return true;
    default:
        return false;
    }
}

struct facet_trap facet_pmask_execute(struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_cap_config *config = h->units.config;
    unsigned banks = facet_xphmg_config_banks(config);
    struct facet_trap trap = facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    uint64_t lanes = facet_pmask_lanes(h), value, live, a = h->x[in->rs1];
    unsigned bank;

    if (banks == 0 || level_of(in->row) > FACET_GET(config->feat1, CAP_FEAT1_PMASK_LEVEL) ||
        scalar(h, in, h->units.pmask.p0, &trap)) {
        return trap;
    }
    bank = (unsigned)FACET_GET(in->word, FIELD_PMCLR_PBANK); /* where all rows have it */
    if (bank >= banks) {
        return trap;
    }
    value = facet_pmask_read(h, bank);
    live = value & lanes;
    switch ((enum facet_xphmg_op)in->row) {
    case FACET_XPHMG_PMCLR:
        return write_bank(h, bank, 0);
    case FACET_XPHMG_PMSET:
        return write_bank(h, bank, lanes);
    case FACET_XPHMG_PMLOW_RD:
        return write_rd(h, in, (uint32_t)value);
    case FACET_XPHMG_PMHIGH_RD:
        return write_rd(h, in, value >> 32);
    case FACET_XPHMG_PMLOW_WR:
        return write_half(h, bank, 0, a);
    case FACET_XPHMG_PMHIGH_WR:
        return write_half(h, bank, 32, a);
    case FACET_XPHMG_PMNOT:
        return write_bank(h, bank, ~value);
    case FACET_XPHMG_PMAND:
        return write_bank(h, bank, value & a);
    case FACET_XPHMG_PMOR:
        return write_bank(h, bank, value | a);
    case FACET_XPHMG_PMXOR:
        return write_bank(h, bank, value ^ a);
    case FACET_XPHMG_PMANDN:
        return write_bank(h, bank, value & ~a);
    case FACET_XPHMG_PMANY:
        return write_rd(h, in, live != 0);
    case FACET_XPHMG_PMNONE:
        return write_rd(h, in, live == 0);
    case FACET_XPHMG_PMALL:
        return write_rd(h, in, live == lanes);
    case FACET_XPHMG_PMPOPCNT:
        return write_rd(h, in, facet_popcount64(live));
    case FACET_XPHMG_BP_ANY:
        return branch(h, in, live != 0);
    case FACET_XPHMG_BP_NONE:
        return branch(h, in, live == 0);
    /* No default: the compiler finds a row without code. Those of scalar(): */
    case FACET_XPHMG_PMMOV_P0:
    case FACET_XPHMG_PMMOV_TO_P0:
    case FACET_XPHMG_PCMP_EQ_U:
    case FACET_XPHMG_PCMP_EQ_S:
    case FACET_XPHMG_PCMP_NE_U:
    case FACET_XPHMG_PCMP_NE_S:
    case FACET_XPHMG_PCMP_LT_U:
    case FACET_XPHMG_PCMP_LT_S:
    case FACET_XPHMG_PCMP_LE_U:
    case FACET_XPHMG_PCMP_LE_S:
    case FACET_XPHMG_PCMP_GT_U:
    case FACET_XPHMG_PCMP_GT_S:
    case FACET_XPHMG_PCMP_GE_U:
    case FACET_XPHMG_PCMP_GE_S:
    case FACET_XPHMG_PTESTNZ:
    case FACET_XPHMG_PSEL:
    case FACET_XPHMG_BP_T:
    case FACET_XPHMG_BP_F:
        FACET_XPHMG_ROWS_BUT_PMASK(FACET_XPHMG_CASE)
    case FACET_XPHMG_OP_COUNT:
        break;
    }
    return trap;
}
