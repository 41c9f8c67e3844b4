/* The csr* instructions, and the debugger's way to the same registers: who may, which register is
 * meant, and who is notified. What a register holds is csr_file.h's matter. */
#include "xphmg/hart/csr_file.h"
#include "xphmg/told.h"
#include "xphmg/units/vendor.h"

static struct facet_csr_ask
ask_for(const struct facet_hart *h, const struct facet_csr_row *row, unsigned number)
{
    return (struct facet_csr_ask){
        h, &h->units, h->xmem, row, number == row->alias ? row->number : number};
}

/* Registers of the base hart that no feature of misa decides about. */
static bool number_exists(const struct facet_cap_config *config, unsigned number)
{
    const struct facet_hart_choices *hart = &config->hart;

    if (number >= 0x3A0 && number < 0x3F0) {
        return hart->pmp != FACET_PMP_ABSENT;
    }
    if (number >= 0xC00 && number < 0xC20) {
        return !facet_xphmg_lacks(config, number < 0xC03 ? FACET_EXT_ZICNTR : FACET_EXT_ZIHPM);
    }
    return true;
}

/* Whether the machine has the unit that a register belongs to. */
static bool is_there(const struct facet_hart *h, const struct facet_csr_entry *e, unsigned number)
{
    const struct facet_cap_config *config = h->units.config;

    return (e->base ? number_exists(config, number) : h->xmem != NULL) &&
           (e->unit_bits == 0 || (config->word[e->unit] & e->unit_bits) != 0);
}

bool facet_hart_csr_exists(const struct facet_cap_config *config, const struct facet_csr_row *row)
{
    const struct facet_csr_entry *e = facet_hart_csr_entry_of(row);

    return e->base && number_exists(config, row->number) &&
           (e->unit_bits == 0 || (config->word[e->unit] & e->unit_bits) != 0);
}

/* What a write to a register of the base hart has beyond its row. */
static void settle(struct facet_hart *h, unsigned number)
{
    if (number == FACET_CSR_MEPC && facet_xphmg_lacks(h->units.config, FACET_EXT_C)) {
        h->mepc &= ~UINT64_C(3);
    } else if (number == FACET_CSR_MSTATUS && facet_hart_has_pmp(h)) {
        facet_hart_guard(h);
    }
}

uint64_t facet_hart_csr_peek(const struct facet_hart *h, unsigned number)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, number);
    uint64_t value = 0;

    if (row != NULL && is_there(h, facet_hart_csr_entry_of(row), number)) {
        struct facet_csr_ask ask = ask_for(h, row, number);

        (void)facet_hart_csr_read(&ask, &value);
    }
    return value;
}

/* Numbers 0xC00..0xC1F below M-mode need their bit in mcounteren. */
static bool counter_closed(const struct facet_hart *h, unsigned number)
{
    return h->priv != FACET_PRIV_M && number >= 0xC00 && number < 0xC20 &&
           (h->mcounteren >> (number & 31) & 1) == 0;
}

enum facet_csr_op facet_insn_csr_op(const struct facet_insn *in)
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

/* What the instruction has read, where the host knows better; what it writes is not affected. */
static void give_told(struct facet_hart *h, unsigned number, uint64_t *read)
{
    if (h->told != NULL && h->told->count != 0 && h->csr_index != NULL) {
        (void)facet_told_csr(h->told, h->csr_index[number], read);
    }
}

struct facet_trap facet_hart_csr_access(
    struct facet_hart *h, const struct facet_insn *in, uint64_t operand, bool write, uint64_t *old)
{
    unsigned number = (unsigned)in->imm;
    const struct facet_csr_row *row =
        in->csr != FACET_INSN_NO_CSR ? &facet_csr_rows[in->csr] : NULL; /* found when decoded */
    const struct facet_csr_entry *e;
    bool float_off = number <= FACET_CSR_FCSR && h->fs == FACET_FS_OFF, there;

    if (row == NULL || ((number >> 8) & 3) > h->priv || (write && number >> 10 == 3) || float_off ||
        counter_closed(h, number)) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    e = &facet_csr_entries[in->csr];
    there = is_there(h, e, number);
    if (e->base && !there) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    if (e->one_word && there) { /* nearly all; csr_file.c would do the same */
        char *state = e->base ? (char *)h : (char *)&h->units;
        uint64_t *slot = (uint64_t *)(void *)(state + e->offset);

        *old = *slot;
        if (write) {
            uint64_t value = facet_hart_csr_combine(facet_insn_csr_op(in), *old, operand);

            *slot = facet_hart_csr_keep(row, h->units.config, *old, value);
        }
    } else if (!e->base) {
        enum facet_csr_answer answer =
            write ? facet_vendor_csr_access(h, row, number, facet_insn_csr_op(in), operand, old)
                  : facet_vendor_csr_read(h, number, old);

        if (answer == FACET_CSR_ABSENT) {
            return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
        }
    } else {
        const struct facet_csr_ask ask = ask_for(h, row, number);

        (void)facet_hart_csr_read(&ask, old);
        if (write) {
            facet_hart_csr_write(h, &ask, *old, facet_insn_csr_op(in), operand);
        }
    }
    if (!write) {
        give_told(h, number, old);
        return FACET_RETIRED;
    }
    if (e->base) {
        settle(h, number);
    }
    if (facet_hart_listens(h)) {
        h->retired++; /* a counter is reported as the next instruction reads it: the value written
                       */
        facet_hart_tell_csr(h, number, *old, facet_hart_csr_peek(h, number));
        h->retired--;
    }
    give_told(h, number, old);
    return FACET_RETIRED;
}

void facet_hart_csr_poke(struct facet_hart *h, unsigned number, uint64_t value)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, number);
    uint64_t retired = h->retired;
    struct facet_port *port = h->port;
    struct facet_csr_ask ask;

    if (row == NULL || !is_there(h, facet_hart_csr_entry_of(row), number)) {
        return;
    }
    if (!facet_hart_csr_entry_of(row)->base) {
        if (h->xmem != NULL) {
            (void)facet_vendor_csr_write(h, number, FACET_CSRRW, value);
        }
        return;
    }
    ask = ask_for(h, row, number);
    h->retired--; /* a counter's write counts the writing instruction; here there is none */
    h->port = NULL;
    facet_hart_csr_write(h, &ask, 0, FACET_CSRRW, value);
    settle(h, number);
    h->retired = retired;
    h->port = port;
}
