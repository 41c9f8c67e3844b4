/* Trap entry and return, interrupts, reset (RISC-V privileged manual, M and U mode). */
#include "xphmg/hart.h"

#include <string.h>

void facet_hart_reset(struct facet_hart *h, uint64_t pc)
{
    struct facet_hart fresh = {.pc = pc, .priv = FACET_PRIV_M};

    fresh.hartid = h->hartid;
    fresh.mem = h->mem;
    fresh.ram = h->ram;
    fresh.observer = h->observer;
    fresh.mtime = h->mtime;
    fresh.code_lines = h->code_lines;
    fresh.code_written = true;
    *h = fresh;
}

void facet_hart_trap(struct facet_hart *h, uint64_t cause, uint64_t tval)
{
    bool interrupt = cause >> 63 != 0;
    uint64_t base = h->mtvec & ~UINT64_C(3);
    bool was_enabled = (h->mstatus & FACET_MSTATUS_MIE) != 0;

    if (h->observer != NULL && h->observer->trap != NULL) {
        h->observer->trap(h->observer->context, cause, tval, h->pc);
    }
    h->mepc = h->pc;
    h->mcause = cause;
    h->mtval = tval;
    h->mstatus &= ~(uint64_t)(FACET_MSTATUS_MIE | FACET_MSTATUS_MPIE | FACET_MSTATUS_MPP);
    h->mstatus |= (was_enabled ? FACET_MSTATUS_MPIE : 0) | (uint64_t)h->priv
                                                               << FACET_MSTATUS_MPP_SHIFT;
    h->priv = FACET_PRIV_M;
    h->reserved = false;
    h->pc = base + (interrupt && (h->mtvec & 1) != 0 ? 4 * (cause & 0x3F) : 0);
}

void facet_hart_return(struct facet_hart *h)
{
    unsigned mpp = (h->mstatus >> FACET_MSTATUS_MPP_SHIFT) & 3;
    uint64_t mie = (h->mstatus & FACET_MSTATUS_MPIE) != 0 ? FACET_MSTATUS_MIE : 0;

    h->priv = (uint8_t)mpp;
    h->mstatus &= ~(uint64_t)(FACET_MSTATUS_MIE | FACET_MSTATUS_MPP);
    h->mstatus |= mie | FACET_MSTATUS_MPIE;
    if (mpp != FACET_PRIV_M) {
        h->mstatus &= ~(uint64_t)FACET_MSTATUS_MPRV;
    }
    h->reserved = false;
    h->next_pc = h->mepc;
}

int facet_hart_pending(const struct facet_hart *h)
{
    static const uint8_t order[] = {FACET_IRQ_EXTERNAL, FACET_IRQ_SOFTWARE, FACET_IRQ_TIMER};
    uint64_t ready = h->mip & h->mie;

    if (ready == 0 || (h->priv == FACET_PRIV_M && (h->mstatus & FACET_MSTATUS_MIE) == 0)) {
        return -1;
    }
    for (size_t i = 0; i < sizeof order; i++) {
        if ((ready >> order[i] & 1) != 0) {
            return order[i];
        }
    }
    return -1;
}
