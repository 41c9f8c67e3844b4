/* The control and status registers of the base hart (spec/rv64.csr.tsv). Numbers and fields come
 * from the table; what a write keeps is decided here, once per register. */
#include "xphmg/hart.h"
#include "xphmg/vendor.h"

static uint64_t mcycle(const struct facet_hart *h)
{
    return (h->mcountinhibit & FACET_MCOUNTINHIBIT_CY) != 0 ? h->mcycle_held
                                                            : h->retired + h->mcycle_offset;
}

static uint64_t minstret(const struct facet_hart *h)
{
    return (h->mcountinhibit & FACET_MCOUNTINHIBIT_IR) != 0 ? h->minstret_held
                                                            : h->retired + h->minstret_offset;
}

/* The value that the next instruction reads: the writing instruction's own count comes before. */
static void set_counter(struct facet_hart *h, uint64_t value, uint64_t *offset, uint64_t *held)
{
    *offset = value - (h->retired + 1);
    *held = value;
}

static uint64_t reset_value(const struct facet_csr_row *row)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        value |= row->fields[i].reset << row->fields[i].lo;
    }
    return value;
}

/* Bits that a write may change. */
static uint64_t writable(const struct facet_csr_row *row)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        const struct facet_csr_field *field = &row->fields[i];

        if (field->access == FACET_CSR_RW || field->access == FACET_CSR_WARL) {
            mask |= facet_bits_mask(field->hi - field->lo + 1u) << field->lo;
        }
    }
    return mask;
}

static bool is_pmpaddr(unsigned number)
{
    return number >= FACET_CSR_PMPADDR0 && number < FACET_CSR_PMPADDR0 + 16;
}

/* Of a register whose value never changes, or the constant part of one. */
static uint64_t constant(unsigned number)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, number);

    return row != NULL ? reset_value(row) : 0;
}

uint64_t facet_hart_csr_peek(const struct facet_hart *h, unsigned number)
{
    switch (number) {
    case FACET_CSR_FFLAGS:
        return h->fflags;
    case FACET_CSR_FRM:
        return h->frm;
    case FACET_CSR_FCSR:
        return (uint64_t)h->frm << 5 | h->fflags;
    case FACET_CSR_MSTATUS:
        return h->mstatus | constant(number) | (uint64_t)h->fs << FACET_MSTATUS_FS_LSB |
               (h->fs == FACET_FS_DIRTY ? FACET_MSTATUS_SD : 0);
    case FACET_CSR_MIE:
        return h->mie;
    case FACET_CSR_MTVEC:
        return h->mtvec;
    case FACET_CSR_MCOUNTEREN:
        return h->mcounteren;
    case FACET_CSR_MENVCFG:
        return h->menvcfg;
    case FACET_CSR_MCOUNTINHIBIT:
        return h->mcountinhibit;
    case FACET_CSR_MSCRATCH:
        return h->mscratch;
    case FACET_CSR_MEPC:
        return h->mepc;
    case FACET_CSR_MCAUSE:
        return h->mcause;
    case FACET_CSR_MTVAL:
        return h->mtval;
    case FACET_CSR_MIP:
        return h->mip;
    case FACET_CSR_MCYCLE:
    case FACET_CSR_CYCLE:
        return mcycle(h);
    case FACET_CSR_MINSTRET:
    case FACET_CSR_INSTRET:
        return minstret(h);
    case FACET_CSR_TIME:
        return h->mtime != NULL ? *h->mtime : h->retired;
    case FACET_CSR_MHARTID:
        return h->hartid;
    default:
        if (is_pmpaddr(number)) {
            return h->pmpaddr[number - FACET_CSR_PMPADDR0];
        }
        if (facet_csr_is_vendor(number) && h->xmem != NULL) {
            uint64_t value = 0;

            (void)facet_units_csr(&h->units, h->xmem, number, &value);
            return value;
        }
        return constant(number);
    }
}

static void write_mstatus(struct facet_hart *h, uint64_t value)
{
    uint64_t keep = FACET_MSTATUS_MIE | FACET_MSTATUS_MPIE | FACET_MSTATUS_MPRV | FACET_MSTATUS_TW;
    unsigned mpp = (value >> FACET_MSTATUS_MPP_LSB) & 3;

    if (mpp == FACET_PRIV_U || mpp == FACET_PRIV_M) {
        keep |= FACET_MSTATUS_MPP;
    }
    h->mstatus = (h->mstatus & ~keep) | (value & keep);
    h->fs = (value >> FACET_MSTATUS_FS_LSB) & 3;
}

static void write_inhibit(struct facet_hart *h, uint64_t value)
{
    uint64_t cycles = mcycle(h) + 1, instructions = minstret(h) + 1;
    bool cy_held = (h->mcountinhibit & FACET_MCOUNTINHIBIT_CY) != 0,
         ir_held = (h->mcountinhibit & FACET_MCOUNTINHIBIT_IR) != 0;

    set_counter(h, cy_held ? h->mcycle_held : cycles, &h->mcycle_offset, &h->mcycle_held);
    set_counter(
        h, ir_held ? h->minstret_held : instructions, &h->minstret_offset, &h->minstret_held);
    h->mcountinhibit = value;
}

static void
store(struct facet_hart *h, const struct facet_csr_row *row, unsigned number, uint64_t value)
{
    uint64_t mask = writable(row);

    switch (number) {
    case FACET_CSR_FFLAGS:
        h->fflags = value & 0x1F;
        facet_hart_dirty(h);
        break;
    case FACET_CSR_FRM:
        h->frm = value & 7;
        facet_hart_dirty(h);
        break;
    case FACET_CSR_FCSR:
        h->fflags = value & 0x1F;
        h->frm = (value >> 5) & 7;
        facet_hart_dirty(h);
        break;
    case FACET_CSR_MSTATUS:
        write_mstatus(h, value);
        break;
    case FACET_CSR_MIE:
        h->mie = value & mask;
        break;
    case FACET_CSR_MTVEC: /* modes 2 and 3 keep the old mode */
        h->mtvec = (value & ~UINT64_C(3)) | ((value & 2) != 0 ? h->mtvec & 3 : value & 1);
        break;
    case FACET_CSR_MCOUNTEREN:
        h->mcounteren = value & mask;
        break;
    case FACET_CSR_MENVCFG:
        h->menvcfg = value & mask;
        break;
    case FACET_CSR_MCOUNTINHIBIT:
        write_inhibit(h, value & mask);
        break;
    case FACET_CSR_MSCRATCH:
        h->mscratch = value;
        break;
    case FACET_CSR_MEPC:
        h->mepc = value & mask;
        break;
    case FACET_CSR_MCAUSE:
        h->mcause = value;
        break;
    case FACET_CSR_MTVAL:
        h->mtval = value;
        break;
    case FACET_CSR_MCYCLE:
        set_counter(h, value, &h->mcycle_offset, &h->mcycle_held);
        break;
    case FACET_CSR_MINSTRET:
        set_counter(h, value, &h->minstret_offset, &h->minstret_held);
        break;
    default: /* read-only storage takes writes without effect */
        if (is_pmpaddr(number)) {
            h->pmpaddr[number - FACET_CSR_PMPADDR0] = value & mask;
        }
        break;
    }
}

/* Numbers 0xC00..0xC1F below M-mode need their bit in mcounteren. */
static bool counter_closed(const struct facet_hart *h, unsigned number)
{
    return h->priv != FACET_PRIV_M && number >= 0xC00 && number < 0xC20 &&
           (h->mcounteren >> (number & 31) & 1) == 0;
}

static enum facet_csr_op operation(const struct facet_insn *in)
{
    switch (in->row) {
    case FACET_XPHMG_CSRRS:
    case FACET_XPHMG_CSRRSI:
        return FACET_CSRRS;
    case FACET_XPHMG_CSRRC:
    case FACET_XPHMG_CSRRCI:
        return FACET_CSRRC;
    default:
        return FACET_CSRRW;
    }
}

struct facet_trap facet_csr_access(
    struct facet_hart *h, const struct facet_insn *in, uint64_t operand, bool write, uint64_t *old)
{
    unsigned number = (unsigned)in->imm;
    const struct facet_csr_row *row =
        in->csr != FACET_INSN_NO_CSR ? &facet_csr_rows[in->csr] : NULL; /* found when decoded */
    bool float_off = number <= FACET_CSR_FCSR && h->fs == FACET_FS_OFF;

    if (row == NULL || ((number >> 8) & 3) > h->priv || (write && number >> 10 == 3) || float_off ||
        counter_closed(h, number)) {
        return facet_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    if (facet_csr_is_vendor(number)) {
        if (h->xmem == NULL || facet_vendor_csr_read(h, number, old) == FACET_CSR_ABSENT ||
            (write &&
             facet_vendor_csr_write(h, number, operation(in), operand) == FACET_CSR_ABSENT)) {
            return facet_trap_make(FACET_CAUSE_ILLEGAL, in->word);
        }
    } else {
        *old = facet_hart_csr_peek(h, number);
        if (write) {
            store(h, row, number, facet_csr_combine(operation(in), *old, operand));
        }
    }
    if (!write) {
        return FACET_RETIRED;
    }
    if (facet_hart_listens(h)) {
        facet_hart_tell_csr(h, number, *old, facet_hart_csr_peek(h, number));
    }
    return FACET_RETIRED;
}

void facet_hart_csr_poke(struct facet_hart *h, unsigned number, uint64_t value)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, number);
    uint64_t retired = h->retired;
    struct facet_port *port = h->port;

    if (row == NULL) {
        return;
    }
    if (facet_csr_is_vendor(number)) {
        if (h->xmem != NULL) {
            (void)facet_vendor_csr_write(h, number, FACET_CSRRW, value);
        }
        return;
    }
    h->retired--; /* store() counts the writing instruction; here there is none */
    h->port = NULL;
    store(h, row, number, value);
    h->retired = retired;
    h->port = port;
}
