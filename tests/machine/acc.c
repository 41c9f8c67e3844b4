/* See acc.h. */
#include "acc.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct core {
    uint64_t pc, retired, wide[2], big[2];
    uint32_t acc, ctrl, vector, cause;
    bool halted;
};

struct acc {
    struct facet_port *port;
    facet_mem *ram, *local;
    uint32_t device_reads; /* state of the device */
    struct core cores[2];
    uint32_t next;
    uint8_t end; /* 0, FACET_STOP_EXIT or FACET_STOP_FAULT */
    uint32_t end_core;
    uint64_t end_code, end_address;
};

static const struct facet_reg_desc regs[] = {
    {"pc", NULL, "control", 64, FACET_REG_CODE, false},
    {"acc", "a", "main", 32, FACET_REG_INTEGER, false},
    {"wide", NULL, "main", 128, FACET_REG_VECTOR, false},
    {"id", NULL, "control", 8, FACET_REG_INTEGER, true},
};

static const struct facet_field_desc ctrl_fields[] = {
    {"EN", 0, 0, FACET_FIELD_RW, "enable"},
    {"MODE", 2, 1, FACET_FIELD_WARL, "0..2"},
    {"SEEN", 4, 4, FACET_FIELD_W1C, "a load was seen"},
    {"ID", 31, 24, FACET_FIELD_RO, NULL},
};
static const struct facet_field_desc big_fields[] = {
    {"TOP", 127, 120, FACET_FIELD_RW, NULL},
    {"MID", 67, 60, FACET_FIELD_RW, NULL},
};
static const struct facet_csr_desc csrs[] = {
    {"acc.ctrl", 0x10, 32, 4, ctrl_fields},
    {"acc.vector", 0x11, 32, 0, NULL},
    {"acc.cause", 0x12, 32, 0, NULL},
    {"acc.big", 0x13, 128, 2, big_fields},
};
static const struct facet_core_desc cores[2] = {
    {"core0", regs, 4, ACC_REG_PC, csrs, 4},
    {"core1", regs, 4, ACC_REG_PC, csrs, 4},
};

/* ---- life -------------------------------------------------------------------------------------
 */

static bool device_read(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    struct acc *m = context;

    (void)size;
    *value = offset == 0 ? ++m->device_reads : 0;
    return offset < 8;
}

static void acc_reset(void *self)
{
    struct acc *m = self;

    memset(m->cores, 0, sizeof m->cores);
    m->cores[0].ctrl = m->cores[1].ctrl = UINT32_C(0xAC000000);
    m->cores[1].pc = ACC_CODE1;
    m->next = m->end_core = m->device_reads = 0;
    m->end = 0;
    m->end_code = m->end_address = 0;
}

static void acc_destroy(void *self)
{
    struct acc *m = self;

    facet_mem_destroy(m->ram);
    facet_mem_destroy(m->local);
    free(m);
}

static enum facet_status
acc_create(const void *config, struct facet_port *port, void **self, struct facet_error *err)
{
    const struct acc_config *c = config;
    struct acc *m = calloc(1, sizeof *m);
    struct facet_mem_device device = {device_read, NULL, m};
    enum facet_status status;

    if (m == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for acc");
    }
    m->port = port;
    if ((status = facet_mem_create(&m->ram, err)) != FACET_OK ||
        (status = facet_mem_create(&m->local, err)) != FACET_OK ||
        (status = facet_mem_add_ram(
             m->ram, "ram", FACET_MEM_RAM, 0, c != NULL ? c->ram_bytes : ACC_RAM_BYTES, err)) !=
            FACET_OK ||
        (status = facet_mem_add_device(m->ram, "dev", ACC_DEVICE, 16, &device, err)) != FACET_OK ||
        (status = facet_mem_add_ram(m->ram, "rom", FACET_MEM_ROM, ACC_ROM, 64, err)) != FACET_OK ||
        (status = facet_mem_add_ram(m->local, "local", FACET_MEM_RAM, 0, 256, err)) != FACET_OK) {
        acc_destroy(m);
        return status;
    }
    acc_reset(m);
    *self = m;
    return FACET_OK;
}

static const struct facet_core_desc *acc_core(const void *self, uint32_t core)
{
    (void)self;
    return core < 2 ? &cores[core] : NULL;
}

static facet_mem *acc_space(const void *self, uint32_t space, const char **name)
{
    const struct acc *m = self;

    *name = space == 0 ? "main" : "local";
    return space == 0 ? m->ram : space == 1 ? m->local : NULL;
}

/* ---- registers --------------------------------------------------------------------------------
 */

static struct facet_value acc_reg_read(const void *self, uint32_t core, uint32_t reg)
{
    const struct core *c = &((const struct acc *)self)->cores[core];

    switch (reg) {
    case ACC_REG_PC:
        return facet_value64(c->pc);
    case ACC_REG_ACC:
        return facet_value64(c->acc);
    case ACC_REG_WIDE:
        return facet_value128(c->wide[0], c->wide[1]);
    default:
        return facet_value64(core);
    }
}

static void acc_reg_write(void *self, uint32_t core, uint32_t reg, struct facet_value value)
{
    struct core *c = &((struct acc *)self)->cores[core];

    switch (reg) {
    case ACC_REG_PC:
        c->pc = value.lo;
        break;
    case ACC_REG_ACC:
        c->acc = (uint32_t)value.lo;
        break;
    default:
        c->wide[0] = value.lo;
        c->wide[1] = value.hi;
        break;
    }
}

static struct facet_value acc_csr_read(const void *self, uint32_t core, uint32_t csr)
{
    const struct core *c = &((const struct acc *)self)->cores[core];

    switch (csr) {
    case ACC_CSR_CTRL:
        return facet_value64(c->ctrl);
    case ACC_CSR_VECTOR:
        return facet_value64(c->vector);
    case ACC_CSR_CAUSE:
        return facet_value64(c->cause);
    default:
        return facet_value128(c->big[0], c->big[1]);
    }
}

static uint32_t legal_ctrl(uint32_t old, uint32_t written)
{
    uint32_t mode = (written >> 1 & 3) == 3 ? 0 : written >> 1 & 3;
    uint32_t seen = old & ~written & 0x10;

    return (old & 0xFF000000) | (written & 1) | mode << 1 | seen;
}

static struct facet_value
acc_csr_write(void *self, uint32_t core, uint32_t csr, struct facet_value value)
{
    struct core *c = &((struct acc *)self)->cores[core];

    switch (csr) {
    case ACC_CSR_CTRL:
        c->ctrl = legal_ctrl(c->ctrl, (uint32_t)value.lo);
        break;
    case ACC_CSR_VECTOR:
        c->vector = (uint32_t)value.lo;
        break;
    case ACC_CSR_BIG:
        c->big[0] = value.lo;
        c->big[1] = value.hi;
        break;
    default:
        break;
    }
    return acc_csr_read(self, core, csr);
}

/* ---- execution --------------------------------------------------------------------------------
 */

static uint32_t acc_next_core(const void *self)
{
    const struct acc *m = self;

    if (m->end != 0) {
        return FACET_NONE;
    }
    if (!m->cores[m->next].halted) {
        return m->next;
    }
    return m->cores[m->next ^ 1].halted ? FACET_NONE : m->next ^ 1;
}

static void set_acc(struct acc *m, uint32_t n, uint32_t value)
{
    facet_port_reg(m->port, n, ACC_REG_ACC, facet_value64(m->cores[n].acc), facet_value64(value));
    m->cores[n].acc = value;
}

static void set_csr(struct acc *m, uint32_t n, uint32_t csr, uint32_t value)
{
    struct facet_value old = acc_csr_read(m, n, csr);

    facet_port_csr(m->port, n, csr, old, acc_csr_write(m, n, csr, facet_value64(value)));
}

static void trap(struct acc *m, uint32_t n, uint64_t cause, uint64_t value)
{
    struct core *c = &m->cores[n];
    struct facet_trap_event event = {n, false, c->pc, c->vector, cause, value};

    if (c->vector == 0) {
        m->end = FACET_STOP_FAULT;
        m->end_core = n;
        m->end_code = cause;
        m->end_address = value;
        return;
    }
    facet_port_csr(m->port, n, ACC_CSR_CAUSE, facet_value64(c->cause), facet_value64(cause));
    c->cause = (uint32_t)cause;
    c->pc = c->vector;
    facet_port_trap(m->port, &event);
}

/* Both return false after raising the trap. */
static bool load(struct acc *m, uint32_t n, uint32_t operand, uint32_t *value)
{
    uint32_t space = (operand & ACC_LOCAL) != 0, address = operand & ~ACC_LOCAL;
    uint64_t loaded;

    if (facet_mem_read(space == 0 ? m->ram : m->local, address, 4, &loaded).fault != 0) {
        trap(m, n, ACC_CAUSE_LOAD, address);
        return false;
    }
    facet_port_csr(m->port,
                   n,
                   ACC_CSR_CTRL,
                   facet_value64(m->cores[n].ctrl),
                   facet_value64(m->cores[n].ctrl | 0x10));
    m->cores[n].ctrl |= 0x10;
    facet_port_memory(m->port, n, space, address, 4, false, facet_value64(loaded));
    *value = (uint32_t)loaded;
    return true;
}

static bool store(struct acc *m, uint32_t n, uint32_t operand, uint32_t value)
{
    uint32_t space = (operand & ACC_LOCAL) != 0, address = operand & ~ACC_LOCAL;

    if (facet_mem_write(space == 0 ? m->ram : m->local, address, 4, value).fault != 0) {
        trap(m, n, ACC_CAUSE_STORE, address);
        return false;
    }
    facet_port_memory(m->port, n, space, address, 4, true, facet_value64(value));
    return true;
}

static void add(struct acc *m, uint32_t n, uint32_t value)
{
    struct core *c = &m->cores[n];
    struct facet_value old = {c->wide[0], c->wide[1]};
    struct facet_unit_event event = {n, "adder", "add", 2, {c->acc, value}};

    facet_port_unit(m->port, &event);
    set_acc(m, n, c->acc + value);
    c->wide[0] += c->acc;
    c->wide[1] ^= c->wide[0];
    facet_port_reg(m->port, n, ACC_REG_WIDE, old, facet_value128(c->wide[0], c->wide[1]));
}

static void execute(struct acc *m, uint32_t n)
{
    struct core *c = &m->cores[n];
    uint64_t word, pc = c->pc, next = pc + 4;
    uint32_t operand, value = 0;

    m->next = n ^ 1;
    if (facet_mem_read(m->ram, pc, 4, &word).fault != 0) {
        trap(m, n, ACC_CAUSE_FETCH, pc);
        return;
    }
    operand = (uint32_t)word & 0x0FFFFFFF;
    switch (word >> 28) {
    case 1:
        set_acc(m, n, operand);
        break;
    case 2:
        if (!load(m, n, operand, &value)) {
            return;
        }
        set_acc(m, n, value);
        break;
    case 3:
        if (!store(m, n, operand, c->acc)) {
            return;
        }
        break;
    case 4:
        if (!load(m, n, operand, &value)) {
            return;
        }
        add(m, n, value);
        break;
    case 5:
        next = c->acc != 0 ? operand : next;
        break;
    case 6:
        set_csr(m, n, operand & 3, c->acc);
        break;
    case 7:
        c->halted = true;
        break;
    case 8:
        m->end = FACET_STOP_EXIT;
        m->end_core = n;
        m->end_code = c->acc;
        break;
    default:
        trap(m, n, ACC_CAUSE_ILLEGAL, word);
        return;
    }
    c->pc = next;
    c->retired++;
    facet_port_retire(m->port, n, pc, next, (uint32_t)word, 4);
}

static void run(struct acc *m, uint64_t budget, struct facet_stop *stop, bool asks)
{
    while (stop->steps < budget && m->end == 0) {
        uint32_t n = acc_next_core(m);

        if (n == FACET_NONE) {
            stop->reason = FACET_STOP_IDLE;
            return;
        }
        if (asks && m->port->break_count != 0 && facet_port_break(m->port, n, m->cores[n].pc)) {
            stop->reason = FACET_STOP_BREAKPOINT;
            stop->core = n;
            return;
        }
        execute(m, n);
        stop->steps++;
        if (m->port->stop) {
            return;
        }
    }
    if (m->end != 0) {
        stop->reason = (enum facet_stop_reason)m->end;
        stop->core = m->end_core;
        stop->code = m->end_code;
        stop->address = m->end_address;
    }
}

static void acc_run(void *self, uint64_t budget, struct facet_stop *stop)
{
    run(self, budget, stop, true);
}

static void acc_run_plain(void *self, uint64_t budget, struct facet_stop *stop)
{
    run(self, budget, stop, false);
}

static void acc_run_stuck(void *self, uint64_t budget, struct facet_stop *stop)
{
    (void)self;
    (void)budget;
    (void)stop;
}

static uint64_t acc_retired(const void *self, uint32_t core)
{
    return ((const struct acc *)self)->cores[core].retired;
}

/* ---- state ------------------------------------------------------------------------------------
 */

static void visit(struct acc *m, struct facet_state_io *io)
{
    facet_state_tag(io, "acc");
    for (int i = 0; i < 2; i++) {
        struct core *c = &m->cores[i];

        facet_state_tag(io, "core");
        facet_state_u64(io, &c->pc);
        facet_state_u64(io, &c->retired);
        facet_state_u64s(io, c->wide, 2);
        facet_state_u64s(io, c->big, 2);
        facet_state_u32(io, &c->acc);
        facet_state_u32(io, &c->ctrl);
        facet_state_u32(io, &c->vector);
        facet_state_u32(io, &c->cause);
        facet_state_bool(io, &c->halted);
    }
    facet_state_u32(io, &m->device_reads);
    facet_state_u32(io, &m->next);
    facet_state_require(io, m->next < 2, "core number, expected 0 or 1");
    facet_state_u8(io, &m->end);
    facet_state_require(
        io, m->end == 0 || m->end == FACET_STOP_EXIT || m->end == FACET_STOP_FAULT, "end reason");
    facet_state_u32(io, &m->end_core);
    facet_state_require(io, m->end_core < 2, "core number, expected 0 or 1");
    facet_state_u64(io, &m->end_code);
    facet_state_u64(io, &m->end_address);
}

static void acc_save(const void *self, struct facet_state_io *io)
{
    struct acc copy = *(const struct acc *)self;

    visit(&copy, io);
}

static void acc_load(void *self, struct facet_state_io *io)
{
    struct acc copy = *(struct acc *)self;

    visit(&copy, io);
    if (facet_state_done(io)) {
        *(struct acc *)self = copy;
    }
}

static size_t acc_disassemble(
    const void *self, uint32_t core, uint64_t address, char *buf, size_t size, uint32_t *length)
{
    static const char *const names[16] = {
        "?", "ldi", "ld", "st", "add", "jnz", "csrw", "halt", "exit"};
    uint64_t word;
    int needed;

    (void)core;
    if (facet_mem_read(((const struct acc *)self)->ram, address, 4, &word).fault != 0) {
        return 0;
    }
    *length = 4;
    needed = snprintf(buf,
                      size,
                      "%s 0x%x",
                      names[word >> 28] != NULL ? names[word >> 28] : "?",
                      (unsigned)(word & 0x0FFFFFFF));
    return (size_t)needed;
}

#define ACC_OPS(kind_name, asks, run_function)                                                     \
    {                                                                                              \
        .name = kind_name, .checks_breakpoints = asks, .create = acc_create,                       \
        .destroy = acc_destroy, .reset = acc_reset, .core = acc_core, .space = acc_space,          \
        .reg_read = acc_reg_read, .reg_write = acc_reg_write, .csr_read = acc_csr_read,            \
        .csr_write = acc_csr_write, .next_core = acc_next_core, .retired = acc_retired,            \
        .run = run_function, .save = acc_save, .load = acc_load, .disassemble = acc_disassemble,   \
    }

const struct facet_machine_ops acc_ops = ACC_OPS("acc", true, acc_run);
const struct facet_machine_ops acc_plain_ops = ACC_OPS("acc", false, acc_run_plain);
const struct facet_machine_ops acc_stuck_ops = ACC_OPS("acc", true, acc_run_stuck);
const struct facet_machine_ops acc_other_ops = ACC_OPS("other", true, acc_run);
