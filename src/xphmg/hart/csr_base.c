/* Registers of the base hart that are more than storage (place `code` in spec/rv64.csr.tsv): flags
 * that make FS dirty, mstatus, the counters and what holds them still. */
#include "xphmg/hart/csr_code.h"

static uint64_t counter(const struct facet_hart *h, uint64_t hold, uint64_t held, uint64_t offset)
{
    return (h->mcountinhibit & hold) != 0 ? held : h->retired + offset;
}

/* The value that the next instruction reads: the writing instruction's own count comes before. */
static void set_counter(struct facet_hart *h, uint64_t value, uint64_t *offset, uint64_t *held)
{
    *offset = value - (h->retired + 1);
    *held = value;
}

uint64_t facet_hart_csr_read_FFLAGS(const struct facet_csr_ask *ask)
{
    return ask->hart->fflags;
}

void facet_hart_csr_write_FFLAGS(struct facet_hart *h, const struct facet_csr_set *set)
{
    h->fflags = set->value & FACET_FFLAGS_WRITABLE;
    facet_hart_dirty(h);
}

uint64_t facet_hart_csr_read_FRM(const struct facet_csr_ask *ask)
{
    return ask->hart->frm;
}

void facet_hart_csr_write_FRM(struct facet_hart *h, const struct facet_csr_set *set)
{
    h->frm = set->value & FACET_FRM_WRITABLE;
    facet_hart_dirty(h);
}

uint64_t facet_hart_csr_read_FCSR(const struct facet_csr_ask *ask)
{
    return FACET_PUT((uint64_t)ask->hart->fflags, FCSR_FRM, ask->hart->frm);
}

void facet_hart_csr_write_FCSR(struct facet_hart *h, const struct facet_csr_set *set)
{
    h->fflags = set->value & FACET_FFLAGS_WRITABLE;
    h->frm = (uint8_t)FACET_GET(set->value, FCSR_FRM);
    facet_hart_dirty(h);
}

uint64_t facet_hart_csr_read_MSTATUS(const struct facet_csr_ask *ask)
{
    const struct facet_hart *h = ask->hart;

    return FACET_PUT((h->mstatus | ask->row->reset) &
                         facet_hart_csr_visible(h->units.config, ask->row),
                     MSTATUS_FS,
                     h->fs) |
           (h->fs == FACET_FS_DIRTY ? FACET_MSTATUS_SD : 0);
}

void facet_hart_csr_write_MSTATUS(struct facet_hart *h, const struct facet_csr_set *set)
{
    uint64_t value = facet_hart_csr_legal(h->units.config, set->row, h->mstatus, set->value);

    h->mstatus = FACET_PUT(value, MSTATUS_FS, 0);
    if (h->units.config->hart.machine_only) {
        h->mstatus |= FACET_MSTATUS_MPP;
    }
    h->fs = (uint8_t)FACET_GET(value, MSTATUS_FS);
}

uint64_t facet_hart_csr_read_MCYCLE(const struct facet_csr_ask *ask)
{
    const struct facet_hart *h = ask->hart;

    return counter(h, FACET_MCOUNTINHIBIT_CY, h->mcycle_held, h->mcycle_offset);
}

void facet_hart_csr_write_MCYCLE(struct facet_hart *h, const struct facet_csr_set *set)
{
    set_counter(h, set->value, &h->mcycle_offset, &h->mcycle_held);
}

uint64_t facet_hart_csr_read_MINSTRET(const struct facet_csr_ask *ask)
{
    const struct facet_hart *h = ask->hart;

    return counter(h, FACET_MCOUNTINHIBIT_IR, h->minstret_held, h->minstret_offset);
}

void facet_hart_csr_write_MINSTRET(struct facet_hart *h, const struct facet_csr_set *set)
{
    set_counter(h, set->value, &h->minstret_offset, &h->minstret_held);
}

uint64_t facet_hart_csr_read_MCOUNTINHIBIT(const struct facet_csr_ask *ask)
{
    return ask->hart->mcountinhibit;
}

void facet_hart_csr_write_MCOUNTINHIBIT(struct facet_hart *h, const struct facet_csr_set *set)
{
    const struct facet_csr_ask ask = {.hart = h};
    bool cy_held = (h->mcountinhibit & FACET_MCOUNTINHIBIT_CY) != 0,
         ir_held = (h->mcountinhibit & FACET_MCOUNTINHIBIT_IR) != 0;
    uint64_t cycles = facet_hart_csr_read_MCYCLE(&ask),
             instructions = facet_hart_csr_read_MINSTRET(&ask);

    set_counter(h, cy_held ? cycles : cycles + 1, &h->mcycle_offset, &h->mcycle_held);
    set_counter(
        h, ir_held ? instructions : instructions + 1, &h->minstret_offset, &h->minstret_held);
    h->mcountinhibit = set->value & set->row->writable;
}

uint64_t facet_hart_csr_read_MHARTID(const struct facet_csr_ask *ask)
{
    return ask->hart->units.config->hart.first_hart + ask->hart->hartid;
}

uint64_t facet_hart_csr_read_TIME(const struct facet_csr_ask *ask)
{
    return ask->hart->mtime != NULL ? *ask->hart->mtime : ask->hart->retired;
}
