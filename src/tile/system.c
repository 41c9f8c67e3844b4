/* Faults and the system instructions (tile-semantics.md 12). */
#include "tile/system.h"
#include "tile/told.h"

#include "contract/tile_csrs.h"

#include <string.h>

enum { FAULT_ILLEGAL = 1, FAULT_ATOMIC_MISALIGNED = 8 };

const struct facet_tile_insn *facet_tile_stop(struct facet_tile_core *c,
                                              const struct facet_tile_insn *op,
                                              uint32_t cause,
                                              uint32_t address)
{
    c->fault_cause = cause;
    c->fault_pc = facet_tile_pc(c, op);
    c->fault_addr = address;
    if (cause == FAULT_ILLEGAL) {
        c->r.status |= FACET_STATUS_ILL;
    } else if (cause <= FAULT_ATOMIC_MISALIGNED) {
        c->r.status |= FACET_STATUS_MEMF;
    }
    c->m->event = FACET_TILE_EVENT_FAULT;
    c->m->event_core = (uint8_t)c->id;
    c->instret--; /* it does not retire */
    return op;
}

const char *facet_tile_cause_name(uint32_t cause)
{
    static const char *const names[] = {"none",
                                        "illegal instruction",
                                        "misaligned jump target",
                                        "fetch fault",
                                        "load fault",
                                        "store fault",
                                        "write into the constant region",
                                        "misaligned access",
                                        "misaligned atomic",
                                        "watchdog",
                                        "abort"};

    return cause < sizeof names / sizeof names[0] ? names[cause] : "unknown";
}

/* ---- instructions ---- */

static const struct facet_tile_insn *
csr_access(struct facet_tile_core *c, const struct facet_tile_insn *op, bool set)
{
    uint32_t number = (uint32_t)op->imm, source = c->r.s[op->rs1], old;
    bool writes = !set || op->rs1 != 0;
    bool fine = facet_tile_csr_peek(c, number, &old);

    if (writes) {
        uint32_t value = set ? facet_tile_csr_set(number, old, source) : source;

        fine = facet_tile_csr_poke(c, number, value) && fine;
    }
    if (!fine) {
        c->r.status |= FACET_STATUS_CSRERR;
    }
    facet_tile_told_csr(c, number, &old);
    c->r.s[op->rd] = old;
    return op + 1;
}

FACET_TILE_OP(CSRRW)
{
    return csr_access(c, op, false);
}

FACET_TILE_OP(CSRRS)
{
    return csr_access(c, op, true);
}

FACET_TILE_OP(SETMISC)
{
    uint32_t enable = (uint32_t)op->imm & 0x3F, value = (uint32_t)op->imm >> 8 & 0x3F;
    uint32_t old = c->r.config;

    facet_tile_set_config(c, (old & ~enable) | (value & enable));
    c->r.s[op->rd] = old;
    return op + 1;
}

FACET_TILE_OP(MEMBAR)
{
    facet_tile_membar(c);
    return op + 1;
}

/* Everything earlier is complete: an instruction ends inside its slot. */
FACET_TILE_OP(BARR_SYNC)
{
    (void)c;
    return op + 1;
}

FACET_TILE_OP(EXIT)
{
    facet_tile_membar(c);
    c->m->event = FACET_TILE_EVENT_EXIT;
    c->m->event_core = (uint8_t)c->id;
    return op + 1;
}

FACET_TILE_OP(WFI)
{
    if (c->r.int_mask == 0) {
        return facet_tile_x_EXIT(c, op);
    }
    c->m->event = FACET_TILE_EVENT_PARK;
    c->m->event_core = (uint8_t)c->id;
    return op + 1;
}
