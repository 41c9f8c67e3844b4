/* Trap entry and return, interrupts, reset (RISC-V privileged manual, M and U mode). */
#include "xphmg/hart/hart.h"
#include "xphmg/told.h"
#include "xphmg/units/lanes.h"

#include <string.h>

void facet_hart_reset(struct facet_hart *h, uint64_t pc)
{
    struct facet_hart fresh = {.pc = pc, .priv = FACET_PRIV_M};

    facet_units_reset(&fresh.units,
                      h->units.config != NULL ? h->units.config : facet_cap_config_named("full"));
    fresh.xmem = h->xmem;
    fresh.jobs = h->jobs;
    fresh.part = h->part;
    fresh.hartid = h->hartid;
    fresh.mem = h->mem;
    fresh.ram = h->ram;
    fresh.ram.span += h->shut_span; /* PMP is off */
    fresh.ram.store_span += h->shut_store_span;
    fresh.plain = h->plain;
    fresh.port = h->port;
    fresh.csr_index = h->csr_index;
    fresh.host = h->host;
    fresh.mtime = h->mtime;
    fresh.told = h->told;
    fresh.pool = h->pool;
    fresh.rt_kept = h->rt_kept;
    fresh.rt_quick = h->rt_quick;
    fresh.gfx_kept = h->gfx_kept;
    fresh.memo = h->memo;
    fresh.mtx_results = h->mtx_results;
    fresh.code_lines = h->code_lines;
    fresh.counts = h->counts;
    fresh.tally = h->tally;
    fresh.code_written = true;
    if (fresh.units.config->hart.machine_only) {
        fresh.mstatus = FACET_PUT(0, MSTATUS_MPP, FACET_PRIV_M);
    }
    *h = fresh;
}

void facet_hart_tell_reg(struct facet_hart *h, unsigned reg, uint64_t old, uint64_t value)
{
    facet_port_reg(h->port, (uint32_t)h->hartid, reg, facet_value64(old), facet_value64(value));
}

void facet_hart_tell_csr(struct facet_hart *h, unsigned csr, uint64_t old, uint64_t value)
{
    /* XIREG is not in the table: the register that it shows is reported instead. */
    if (h->csr_index != NULL && h->csr_index[csr] != UINT16_MAX) {
        facet_port_csr(h->port,
                       (uint32_t)h->hartid,
                       h->csr_index[csr],
                       facet_value64(old),
                       facet_value64(value));
    }
}

void facet_hart_tell_dirty(struct facet_hart *h)
{
    uint64_t old = facet_hart_csr_peek(h, FACET_CSR_MSTATUS);

    facet_hart_tell_csr(h,
                        FACET_CSR_MSTATUS,
                        old,
                        old | (uint64_t)FACET_FS_DIRTY << FACET_MSTATUS_FS_LSB | UINT64_C(1) << 63);
}

/* Trap entry and return change SVSTATE too. */
static void rsv_changes(struct facet_hart *h, void (*change)(struct facet_rsv *))
{
    uint64_t old = h->units.rsv.svstate;

    change(&h->units.rsv);
    if (h->units.rsv.svstate != old && facet_hart_listens(h)) {
        facet_hart_tell_csr(h, FACET_CSR_SVSTATE, old, h->units.rsv.svstate);
    }
}

void facet_hart_trap(struct facet_hart *h, uint64_t cause, uint64_t tval)
{
    static const uint16_t touched[] = {
        FACET_CSR_MSTATUS, FACET_CSR_MEPC, FACET_CSR_MCAUSE, FACET_CSR_MTVAL};
    enum { TOUCHED = sizeof touched / sizeof touched[0] };
    uint64_t old[TOUCHED] = {0};
    bool interrupt = cause >> 63 != 0;
    uint64_t base = h->mtvec & ~UINT64_C(3);
    bool was_enabled = (h->mstatus & FACET_MSTATUS_MIE) != 0;

    for (size_t i = 0; i < TOUCHED && facet_hart_listens(h); i++) {
        old[i] = facet_hart_csr_peek(h, touched[i]);
    }
    h->mepc = h->pc;
    h->mcause = cause;
    h->mtval = tval;
    h->mstatus &= ~(uint64_t)(FACET_MSTATUS_MIE | FACET_MSTATUS_MPIE | FACET_MSTATUS_MPP);
    h->mstatus |= (was_enabled ? FACET_MSTATUS_MPIE : 0) | (uint64_t)h->priv
                                                               << FACET_MSTATUS_MPP_LSB;
    facet_hart_set_priv(h, FACET_PRIV_M);
    h->reserved = false;
    rsv_changes(h, facet_rsv_trap_entry);
    h->pc = base + (interrupt && (h->mtvec & 1) != 0 ? 4 * (cause & 0x3F) : 0);
    if (facet_hart_has_pmp(h)) {
        facet_hart_guard(h);
    }
    for (size_t i = 0; i < TOUCHED && facet_hart_listens(h); i++) {
        facet_hart_tell_csr(h, touched[i], old[i], facet_hart_csr_peek(h, touched[i]));
    }
    if (h->port != NULL) {
        struct facet_trap_event event = {
            (uint32_t)h->hartid, interrupt, h->mepc, h->pc, cause, tval};

        facet_port_trap(h->port, &event);
    }
}

void facet_hart_return(struct facet_hart *h)
{
    uint64_t old = facet_hart_csr_peek(h, FACET_CSR_MSTATUS);
    unsigned mpp = (h->mstatus >> FACET_MSTATUS_MPP_LSB) & 3;
    uint64_t mie = (h->mstatus & FACET_MSTATUS_MPIE) != 0 ? FACET_MSTATUS_MIE : 0;

    facet_hart_set_priv(h, (enum facet_priv)mpp);
    h->mstatus &= ~(uint64_t)(FACET_MSTATUS_MIE | FACET_MSTATUS_MPP);
    h->mstatus |= mie | FACET_MSTATUS_MPIE;
    if (h->units.config->hart.machine_only) {
        h->mstatus |= FACET_MSTATUS_MPP;
    }
    if (mpp != FACET_PRIV_M) {
        h->mstatus &= ~(uint64_t)FACET_MSTATUS_MPRV;
    }
    h->reserved = false;
    h->next_pc = h->mepc;
    rsv_changes(h, facet_rsv_trap_return);
    if (facet_hart_has_pmp(h)) {
        facet_hart_guard(h);
    }
    if (facet_hart_listens(h)) {
        facet_hart_tell_csr(h, FACET_CSR_MSTATUS, old, facet_hart_csr_peek(h, FACET_CSR_MSTATUS));
    }
}

int facet_hart_pending(const struct facet_hart *h)
{
    static const uint8_t order[] = {FACET_IRQ_EXTERNAL, FACET_IRQ_SOFTWARE, FACET_IRQ_TIMER};
    uint64_t ready = h->mip & h->mie;

    if (ready == 0 || (h->told != NULL && h->told->waits) ||
        (h->priv == FACET_PRIV_M && (h->mstatus & FACET_MSTATUS_MIE) == 0)) {
        return -1;
    }
    for (size_t i = 0; i < sizeof order; i++) {
        if ((ready >> order[i] & 1) != 0) {
            return order[i];
        }
    }
    return -1;
}
