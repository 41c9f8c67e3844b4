/* See watch.h. The row of the word says what the instruction writes, which is reported whatever the
 * value; what changes on the side shows by comparing before and after. So no handler has to report;
 * only memory accesses are reported where they happen. */
#include "tile/watch.h"

#include "base/bits.h"
#include "contract/tile_csr_rules.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"

#include <string.h>

/* The register and the CSR that an instruction names as its destinations; FACET_NONE for none. */
struct written {
    uint32_t reg; /* number on the face */
    uint32_t csr;
};

static bool is_writable(const struct facet_csr_row *row)
{
    return row != NULL && (row->writable | row->w1c | row->wc) != 0;
}

static uint32_t written_register(const struct facet_operand *operand, uint32_t number)
{
    switch (operand->kind) {
    case FACET_OPERAND_SREG:
        return number != 0 ? FACET_TILE_REG_S + number : FACET_NONE;
    case FACET_OPERAND_TFREG:
        return FACET_TILE_REG_F + number;
    default:
        return number != 0 ? FACET_TILE_REG_V + number : FACET_NONE;
    }
}

static struct written destinations(uint32_t word)
{
    const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_TILE, word);
    struct written w = {FACET_NONE, FACET_NONE};
    uint32_t csr = FACET_NONE, source = 0;

    for (uint32_t i = 0; row != NULL && i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];
        uint32_t value = (uint32_t)facet_operand_get(o, word);

        if (facet_tile_is_register(o)) {
            if (o->name[1] == 'd') { /* rd, fd, vd */
                w.reg = written_register(o, value);
            } else if (o->name[2] == '1') {
                source = value;
            }
        } else if (o->kind == FACET_OPERAND_CSR) {
            csr = value;
        } else if (strcmp(o->name, "wen") == 0 && value != 0) {
            w.csr = FACET_CSR_CONFIG;
        }
    }
    /* CSRRS from s0 only reads; a read-only register refuses the write. */
    if (csr != FACET_NONE && is_writable(facet_csr_at(FACET_ISA_TILE, csr)) &&
        (row->id == FACET_TILE_CSRRW || source != 0)) {
        w.csr = csr;
    }
    return w;
}

static void
tell_registers(const struct facet_tile_core *c, const struct facet_tile_regs *old, uint32_t written)
{
    struct facet_port *port = c->m->port;

    for (uint32_t i = 1; i < 32; i++) {
        if (c->r.s[i] != old->s[i] || written == FACET_TILE_REG_S + i) {
            facet_port_reg(port,
                           c->id,
                           FACET_TILE_REG_S + i,
                           facet_value64(old->s[i]),
                           facet_value64(c->r.s[i]));
        }
    }
    for (uint32_t i = 0; i < 32; i++) {
        if (c->r.f[i] != old->f[i] || written == FACET_TILE_REG_F + i) {
            facet_port_reg(port,
                           c->id,
                           FACET_TILE_REG_F + i,
                           facet_value64(old->f[i]),
                           facet_value64(c->r.f[i]));
        }
    }
    for (uint32_t i = 1; i < 32; i++) {
        if (c->r.v[i].d[0] != old->v[i].d[0] || c->r.v[i].d[1] != old->v[i].d[1] ||
            written == FACET_TILE_REG_V + i) {
            facet_port_reg(port,
                           c->id,
                           FACET_TILE_REG_V + i,
                           facet_value128(old->v[i].d[0], old->v[i].d[1]),
                           facet_value128(c->r.v[i].d[0], c->r.v[i].d[1]));
        }
    }
}

/* `number` is reported when its value changed or when the instruction wrote it. */
struct csr_change {
    const struct facet_tile_core *core;
    uint32_t written;
};

static void tell_csr(const struct csr_change *change, uint32_t number, uint32_t old, uint32_t now)
{
    const struct facet_tile_core *c = change->core;

    if (old != now || number == change->written) {
        facet_port_csr(
            c->m->port, c->id, c->m->csrs.index[number], facet_value64(old), facet_value64(now));
    }
}

/* What the registers hold that an instruction can change: every row that is not a family (samplers)
 * and has a field that is not read-only. */
#define ONE(...) +1
enum { TILE_ROWS = 0 FACET_TILE_CSRS(ONE) };
struct csr_values {
    uint32_t count, number[TILE_ROWS], value[TILE_ROWS];
};

static void read_csrs(const struct facet_tile_core *c, struct csr_values *out)
{
    out->count = 0;
    for (size_t i = 0; i < TILE_ROWS; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[FACET_TILE_CSR_FIRST + i];

        if (row->count == 1 && is_writable(row)) {
            out->number[out->count] = row->number;
            out->value[out->count++] = facet_tile_csr_value(c, row, row->number);
        }
    }
}

static void tell_csrs(const struct csr_change *change, const struct csr_values *old)
{
    struct csr_values now;

    read_csrs(change->core, &now);
    for (uint32_t i = 0; i < now.count; i++) {
        tell_csr(change, now.number[i], old->value[i], now.value[i]);
    }
}

/* The sampler table is memory: its CSR writes show by comparing it. */
static void tell_samplers(const struct csr_change *change, const uint8_t *old)
{
    if (change->written == FACET_NONE &&
        memcmp(old, change->core->m->sampler, FACET_TILE_SAMPLER_BYTES) == 0) {
        return;
    }
    for (uint32_t i = 0; i < FACET_TILE_SAMPLER_BYTES / 4; i++) {
        tell_csr(change,
                 FACET_CSR_SAMPLER_N__BASE + i,
                 facet_load_le32(old + 4 * i),
                 facet_load_le32(change->core->m->sampler + 4 * i));
    }
}

void facet_tile_watched_step(struct facet_tile_core *c)
{
    struct facet_tile_regs old = c->r;
    uint8_t samplers[FACET_TILE_SAMPLER_BYTES];
    uint32_t pc = facet_tile_pc(c, c->ip);
    uint32_t word;
    uint8_t code[4] = {0};
    struct written written = {FACET_NONE, FACET_NONE};
    struct csr_change change = {c, FACET_NONE};
    struct csr_values csrs;

    read_csrs(c, &csrs);
    memcpy(samplers, c->m->sampler, sizeof samplers);
    (void)facet_mem_peek(c->m->mem, pc, code, sizeof code);
    word = facet_tile_half_drawn(c->m, c->id) ? c->m->draw_word : facet_load_le32(code);
    c->m->stepping = c->id;
    facet_tile_execute(c);
    c->m->stepping = FACET_NONE;
    c->instret++;
    if (c->m->event == FACET_TILE_EVENT_LEFT) { /* is reported when it is complete */
        return;
    }
    if (c->m->event != FACET_TILE_EVENT_FAULT) { /* a fault writes nothing */
        written = destinations(word);
        change.written = written.csr;
    }
    tell_registers(c, &old, written.reg);
    tell_csrs(&change, &csrs);
    tell_samplers(&change, samplers);
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
