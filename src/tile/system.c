/* CSRs, faults and the system instructions (tile-semantics.md 12, tile.csr.tsv). */
#include "tile/system.h"

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

/* ---- CSRs ---- */

uint32_t facet_tile_machine_hwinfo(const struct facet_tile_machine *m)
{
    return m->config.regs | FACET_TILE_CORES << FACET_HWINFO_NCORES_LSB |
           (uint32_t)(FACET_HWINFO_HAS_APPROX | FACET_HWINFO_HAS_BILINEAR |
                      FACET_HWINFO_HAS_SCRATCH | FACET_HWINFO_HAS_ROP) |
           (m->config.strong ? 0 : (uint32_t)FACET_HWINFO_MEM_WEAK);
}

static bool is_sampler(uint32_t number)
{
    return number >= FACET_CSR_SAMPLER_N__BASE && number < FACET_CSR_SAMPLER_N__BASE + 256;
}

bool facet_tile_csr_peek(const struct facet_tile_core *c, uint32_t number, uint32_t *value)
{
    const struct facet_tile_machine *m = c->m;

    switch (number) {
    case FACET_CSR_STATUS:
        *value = c->r.status;
        break;
    case FACET_CSR_FSTATUS:
        *value = c->r.fflags | (c->r.config & 7) << FACET_FSTATUS_RM_LSB;
        break;
    case FACET_CSR_VSTATUS:
        *value = c->r.vstatus;
        break;
    case FACET_CSR_CONFIG:
        *value = c->r.config;
        break;
    case FACET_CSR_VSTRIDE:
        *value = c->r.vstride;
        break;
    case FACET_CSR_INT_MASK:
        *value = c->r.int_mask;
        break;
    case FACET_CSR_INT_STATUS:
        *value = c->r.int_status;
        break;
    case FACET_CSR_GERROR:
        *value = c->r.gerror;
        break;
    case FACET_CSR_CORE_ID:
        *value = c->id;
        break;
    case FACET_CSR_TILE_OFFSET:
        *value = c->tile_offset;
        break;
    case FACET_CSR_ARG_BASE:
        *value = m->packet.arg_base;
        break;
    case FACET_CSR_ARG_SIZE:
        *value = m->packet.arg_size;
        break;
    case FACET_CSR_SM_BASE:
        *value = FACET_TILE_SCRATCH_BASE;
        break;
    case FACET_CSR_SM_SIZE:
        *value = m->packet.shared_size;
        break;
    case FACET_CSR_CONST_BASE:
        *value = m->packet.const_base;
        break;
    case FACET_CSR_CONST_SIZE:
        *value = m->packet.const_size;
        break;
    case FACET_CSR_TIME_LO:
        *value = (uint32_t)m->time;
        break;
    case FACET_CSR_TIME_HI:
        *value = (uint32_t)(m->time >> 32);
        break;
    case FACET_CSR_HWINFO:
        *value = facet_tile_machine_hwinfo(m);
        break;
    case FACET_CSR_INSTRET_LO:
        *value = (uint32_t)c->instret;
        break;
    case FACET_CSR_INSTRET_HI:
        *value = (uint32_t)(c->instret >> 32);
        break;
    case FACET_CSR_PERF_LOAD:
    case FACET_CSR_PERF_STORE:
    case FACET_CSR_PERF_ATOMIC:
    case FACET_CSR_PERF_TEX:
    case FACET_CSR_PERF_GFX:
    case FACET_CSR_PERF_BRANCH:
        *value = c->perf[number - FACET_CSR_PERF_LOAD];
        break;
    case FACET_CSR_FAULT_CAUSE:
        *value = c->fault_cause;
        break;
    case FACET_CSR_FAULT_PC:
        *value = c->fault_pc;
        break;
    case FACET_CSR_FAULT_ADDR:
        *value = c->fault_addr;
        break;
    case FACET_CSR_GFX_TOKEN:
        *value = c->gfx.token;
        break;
    default:
        *value = is_sampler(number)
                     ? facet_load_le32(m->sampler + 4 * (number - FACET_CSR_SAMPLER_N__BASE))
                     : 0;
        return is_sampler(number);
    }
    return true;
}

bool facet_tile_csr_poke(struct facet_tile_core *c, uint32_t number, uint32_t value)
{
    switch (number) {
    case FACET_CSR_STATUS:
        c->r.status = value & (uint32_t)FACET_STATUS_WRITABLE;
        return true;
    case FACET_CSR_FSTATUS:
        c->r.fflags = value & FACET_FLAGS_IEEE;
        facet_tile_set_config(c,
                              (c->r.config & ~UINT32_C(7)) | (value >> FACET_FSTATUS_RM_LSB & 7));
        return true;
    case FACET_CSR_VSTATUS:
        c->r.vstatus = value & (uint32_t)FACET_VSTATUS_WRITABLE;
        return true;
    case FACET_CSR_CONFIG:
        facet_tile_set_config(c, value & (uint32_t)FACET_CONFIG_WRITABLE);
        return true;
    case FACET_CSR_VSTRIDE:
        c->r.vstride = value;
        return true;
    case FACET_CSR_INT_MASK:
        c->r.int_mask = value & (uint32_t)FACET_INT_MASK_WRITABLE;
        return true;
    case FACET_CSR_INT_STATUS: /* write one to clear */
        c->r.int_status &= ~value;
        return true;
    case FACET_CSR_GERROR: /* any value clears */
        c->r.gerror = 0;
        return true;
    default:
        break;
    }
    if (is_sampler(number)) {
        uint8_t bytes[4];

        facet_store_le32(bytes, value);
        (void)facet_mem_poke(c->m->mem,
                             FACET_TILE_SAMPLER_BASE + 4 * (number - FACET_CSR_SAMPLER_N__BASE),
                             bytes,
                             sizeof bytes);
        return true;
    }
    return false;
}

/* ---- instructions ---- */

static const struct facet_tile_insn *
csr_access(struct facet_tile_core *c, const struct facet_tile_insn *op, bool set)
{
    uint32_t number = (uint32_t)op->imm, source = c->r.s[op->rs1], old;
    bool writes = !set || op->rs1 != 0;
    bool fine = facet_tile_csr_peek(c, number, &old);

    if (writes) {
        /* Write-one-to-clear registers take the source itself. */
        uint32_t value = set && number != FACET_CSR_INT_STATUS ? old | source : source;

        fine = facet_tile_csr_poke(c, number, value) && fine;
    }
    if (!fine) {
        c->r.status |= FACET_STATUS_CSRERR;
    }
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
