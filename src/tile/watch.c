/* See watch.h. Registers are compared before and after the instruction, so that no handler has to
 * tell; only memory accesses are told where they happen. */
#include "tile/watch.h"

#include "contract/tile_csrs.h"

#include <string.h>

static void tell_registers(const struct facet_tile_core *c, const struct facet_tile_regs *old)
{
    struct facet_port *port = c->m->port;

    for (uint32_t i = 1; i < 32; i++) {
        if (c->r.s[i] != old->s[i]) {
            facet_port_reg(port,
                           c->id,
                           FACET_TILE_REG_S + i,
                           facet_value64(old->s[i]),
                           facet_value64(c->r.s[i]));
        }
    }
    for (uint32_t i = 0; i < 32; i++) {
        if (c->r.f[i] != old->f[i]) {
            facet_port_reg(port,
                           c->id,
                           FACET_TILE_REG_F + i,
                           facet_value64(old->f[i]),
                           facet_value64(c->r.f[i]));
        }
    }
    for (uint32_t i = 1; i < 32; i++) {
        if (memcmp(&c->r.v[i], &old->v[i], sizeof c->r.v[i]) != 0) {
            facet_port_reg(port,
                           c->id,
                           FACET_TILE_REG_V + i,
                           facet_value128(old->v[i].d[0], old->v[i].d[1]),
                           facet_value128(c->r.v[i].d[0], c->r.v[i].d[1]));
        }
    }
}

static void tell_csr(const struct facet_tile_core *c, uint32_t number, uint32_t old, uint32_t now)
{
    if (old != now) {
        facet_port_csr(
            c->m->port, c->id, c->m->csrs.index[number], facet_value64(old), facet_value64(now));
    }
}

static uint32_t fstatus(const struct facet_tile_regs *r)
{
    return r->fflags | (r->config & 7) << FACET_FSTATUS_RM_LSB;
}

static void tell_csrs(const struct facet_tile_core *c, const struct facet_tile_regs *old)
{
    tell_csr(c, FACET_CSR_STATUS, old->status, c->r.status);
    tell_csr(c, FACET_CSR_FSTATUS, fstatus(old), fstatus(&c->r));
    tell_csr(c, FACET_CSR_VSTATUS, old->vstatus, c->r.vstatus);
    tell_csr(c, FACET_CSR_CONFIG, old->config, c->r.config);
    tell_csr(c, FACET_CSR_VSTRIDE, old->vstride, c->r.vstride);
    tell_csr(c, FACET_CSR_INT_MASK, old->int_mask, c->r.int_mask);
    tell_csr(c, FACET_CSR_INT_STATUS, old->int_status, c->r.int_status);
    tell_csr(c, FACET_CSR_GERROR, old->gerror, c->r.gerror);
}

/* The sampler table is memory: its CSR writes show by comparing it. */
static void tell_samplers(const struct facet_tile_core *c, const uint8_t *old)
{
    for (uint32_t i = 0; i < FACET_TILE_SAMPLER_BYTES / 4; i++) {
        tell_csr(c,
                 FACET_CSR_SAMPLER_N__BASE + i,
                 facet_load_le32(old + 4 * i),
                 facet_load_le32(c->m->sampler + 4 * i));
    }
}

void facet_tile_watched_step(struct facet_tile_core *c)
{
    struct facet_tile_regs old = c->r;
    uint8_t samplers[FACET_TILE_SAMPLER_BYTES];
    const struct facet_tile_insn *op = c->ip;
    uint32_t pc = facet_tile_pc(c, op), word = 0;

    memcpy(samplers, c->m->sampler, sizeof samplers);
    (void)facet_mem_peek(c->m->mem, pc, &word, sizeof word);
    c->ip = op->fn(c, op);
    c->instret++;
    tell_registers(c, &old);
    tell_csrs(c, &old);
    if (memcmp(samplers, c->m->sampler, sizeof samplers) != 0) {
        tell_samplers(c, samplers);
    }
    if (c->m->event != FACET_TILE_EVENT_FAULT) {
        facet_port_retire(c->m->port, c->id, pc, facet_tile_pc(c, c->ip), word, 4);
    }
}

void facet_tile_tell_fault(const struct facet_tile_core *c)
{
    struct facet_trap_event event = {.core = c->id,
                                     .pc = c->fault_pc,
                                     .handler = c->fault_pc,
                                     .cause = c->fault_cause,
                                     .value = c->fault_addr};

    facet_port_trap(c->m->port, &event);
}

void facet_tile_tell_memory(
    const struct facet_tile_core *c, uint32_t address, const void *bytes, uint32_t size, bool write)
{
    union facet_tile_vec value = {.d = {0, 0}};
    bool scratch = address - FACET_TILE_SCRATCH_BASE < FACET_TILE_SCRATCH_BYTES;

    memcpy(&value, bytes, size);
    facet_port_memory(c->m->port,
                      c->id,
                      scratch ? 1 + c->id : 0,
                      address,
                      size,
                      write,
                      facet_value128(value.d[0], value.d[1]));
}
