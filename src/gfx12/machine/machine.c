/* The gfx12 machine's life, its face (machine/ops.h) and the verbs at the end of facet/gfx12.h. */
#include "gfx12/machine/machine.h"

#include "base/sized.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LDS is read and written as dwords of the host. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the host must be little-endian");

#define ADDRESS_END (UINT64_C(1) << 48)

/* ---- life ---- */

static void gfx12_destroy(void *self)
{
    struct facet_gfx12_machine *m = self;

    facet_mem_destroy(m->mem);
    free(m->draft);
    free(m);
}

/* Lanes that were started begin again; the others know the descriptor and nothing else. */
static void gfx12_reset(void *self)
{
    struct facet_gfx12_machine *m = self;

    memset(&m->fault, 0, sizeof m->fault);
    for (uint32_t i = 0; i < m->config.lanes; i++) {
        struct facet_gfx12_core *c = &m->core[i];

        if (c->state != FACET_GFX12_LANE_IDLE) {
            facet_gfx12_begin(m, i);
            continue;
        }
        *c = (struct facet_gfx12_core){.pc = FACET_GFX12_CODE_BASE};
        memcpy(&c->s[FACET_GFX12_S_RESOURCE], m->config.resource, sizeof m->config.resource);
    }
    facet_gfx12_settle(m, 0);
}

static enum facet_status check_config(struct facet_gfx12_config *c, struct facet_error *err)
{
    static const uint32_t zero[4] = {0};
    struct facet_gfx12_resource resource;

    c->lanes = c->lanes != 0 ? c->lanes : 1;
    c->stack_entries = c->stack_entries != 0 ? c->stack_entries : FACET_GFX12_STACK_ENTRIES;
    c->image_bytes = c->image_bytes != 0 ? c->image_bytes : FACET_GFX12_IMAGE_BYTES;
    if (memcmp(c->resource, zero, sizeof zero) == 0) {
        facet_gfx12_resource_default(&resource);
        facet_gfx12_resource_pack(&resource, c->resource);
    }
    if ((unsigned)c->profile > FACET_GFX12_GPURT ||
        (unsigned)c->opaque_sense > FACET_GFX12_SENSE_SEED) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "an unknown profile or sense of opaque");
    }
    if (c->lanes > FACET_GFX12_LANES) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          c->lanes,
                          "%" PRIu32 " lanes, expected 1 to %u",
                          c->lanes,
                          FACET_GFX12_LANES);
    }
    if (c->stack_entries < 8 || c->stack_entries > 31) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          c->stack_entries,
                          "stack of %" PRIu32 " entries, expected 8 to 31",
                          c->stack_entries);
    }
    if (c->image_base % 64 != 0 || c->image_base >= ADDRESS_END ||
        c->image_bytes > ADDRESS_END - c->image_base) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          c->image_base,
                          "BVH memory of 0x%" PRIx64 " bytes at 0x%" PRIx64
                          ", expected a multiple of 64 and an end up to 2^48",
                          c->image_bytes,
                          c->image_base);
    }
    return FACET_OK;
}

/* The image's reads, in the pieces of which an event has room. */
static void tell_fetch(void *context, uint64_t address, const uint8_t *data, uint64_t bytes)
{
    const struct facet_gfx12_machine *m = context;

    for (uint64_t at = 0; facet_port_listens(m->port) && at < bytes; at += 16) {
        uint32_t size = bytes - at < 16 ? (uint32_t)(bytes - at) : 16;
        uint8_t piece[16] = {0};

        memcpy(piece, data + at, size);
        facet_port_memory(m->port,
                          m->fetching,
                          0,
                          address + at,
                          size,
                          false,
                          facet_value128(facet_load_le64(piece), facet_load_le64(piece + 8)));
    }
}

static enum facet_status make_memory(struct facet_gfx12_machine *m, struct facet_error *err)
{
    enum facet_status status = facet_mem_create(&m->mem, err);

    if (status != FACET_OK ||
        (status = facet_mem_add_ram(
             m->mem, "bvh", FACET_MEM_ROM, m->config.image_base, m->config.image_bytes, err)) !=
            FACET_OK ||
        (status = facet_mem_add_ram(
             m->mem, "lds", FACET_MEM_RAM, FACET_GFX12_LDS_BASE, FACET_GFX12_LDS_BYTES, err)) !=
            FACET_OK ||
        (status = facet_mem_add_ram(
             m->mem, "code", FACET_MEM_ROM, FACET_GFX12_CODE_BASE, FACET_GFX12_CODE_BYTES, err)) !=
            FACET_OK) {
        return status;
    }
    m->lds = facet_mem_window(m->mem, FACET_GFX12_LDS_BASE);
    m->code = facet_mem_window(m->mem, FACET_GFX12_CODE_BASE);
    m->unit = (struct facet_gfx12_unit){
        .image = facet_mem_window(m->mem, m->config.image_base).bytes,
        .image_address = m->config.image_base,
        .image_size = m->config.image_bytes,
        .profile = m->config.profile,
        .opaque_sense = m->config.opaque_sense,
        .fetched = tell_fetch,
        .fetched_context = m,
    };
    return FACET_OK;
}

static void put_program(struct facet_gfx12_machine *m, const uint32_t *words, size_t count)
{
    uint8_t bytes[4];

    for (size_t i = 0; i < count; i++) {
        facet_store_le32(bytes, words[i]);
        (void)facet_mem_poke(m->mem, FACET_GFX12_CODE_BASE + 4 * i, bytes, sizeof bytes);
    }
    m->code_bytes = (uint32_t)(4 * count);
}

/* The two instructions of 11.4 on the registers of facet/gfx12.h. */
static void put_built_in_program(struct facet_gfx12_machine *m)
{
    const struct facet_gfx12_vimage intersect = {.vdata = FACET_GFX12_V_RESULT,
                                                 .vaddr = {FACET_GFX12_V_BASE,
                                                           FACET_GFX12_V_EXTENT,
                                                           FACET_GFX12_V_ORIGIN,
                                                           FACET_GFX12_V_DIRECTION,
                                                           FACET_GFX12_V_NODE},
                                                 .rsrc = FACET_GFX12_S_RESOURCE};
    const struct facet_gfx12_ds stack = {.vdst = FACET_GFX12_V_NODE,
                                         .addr = FACET_GFX12_V_STACK,
                                         .data0 = FACET_GFX12_V_LAST,
                                         .data1 = FACET_GFX12_V_RESULT,
                                         .offset0 = (uint8_t)m->config.stack_entries,
                                         .offset1 = 2};
    uint32_t words[5];

    facet_gfx12_vimage_encode(&intersect, words);
    facet_gfx12_ds_encode(&stack, words + 3);
    put_program(m, words, 5);
    m->loop = true;
}

static enum facet_status
gfx12_create(const void *config, struct facet_port *port, void **self, struct facet_error *err)
{
    static const char *const names[FACET_GFX12_LANES] = {
        "lane0",  "lane1",  "lane2",  "lane3",  "lane4",  "lane5",  "lane6",  "lane7",
        "lane8",  "lane9",  "lane10", "lane11", "lane12", "lane13", "lane14", "lane15",
        "lane16", "lane17", "lane18", "lane19", "lane20", "lane21", "lane22", "lane23",
        "lane24", "lane25", "lane26", "lane27", "lane28", "lane29", "lane30", "lane31"};
    struct facet_gfx12_machine *m = calloc(1, sizeof *m);
    enum facet_status status;

    if (m == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a machine");
    }
    if (config != NULL) {
        m->config = *(const struct facet_gfx12_config *)config;
    }
    m->port = port;
    status = check_config(&m->config, err);
    if (status != FACET_OK || (status = make_memory(m, err)) != FACET_OK) {
        gfx12_destroy(m);
        return status;
    }
    for (uint32_t i = 0; i < m->config.lanes; i++) {
        m->desc[i] = (struct facet_core_desc){.name = names[i],
                                              .regs = facet_gfx12_registers(),
                                              .reg_count = FACET_GFX12_REG_COUNT,
                                              .pc = FACET_GFX12_REG_PC};
    }
    put_built_in_program(m);
    gfx12_reset(m);
    *self = m;
    return FACET_OK;
}

/* ---- tables, registers, memory ---- */

static const struct facet_core_desc *gfx12_core(const void *self, uint32_t core)
{
    const struct facet_gfx12_machine *m = self;

    return core < m->config.lanes ? &m->desc[core] : NULL;
}

static facet_mem *gfx12_space(const void *self, uint32_t space, const char **name)
{
    *name = "main";
    return space == 0 ? ((const struct facet_gfx12_machine *)self)->mem : NULL;
}

static struct facet_value gfx12_reg_read(const void *self, uint32_t core, uint32_t reg)
{
    return facet_gfx12_reg_get(&((const struct facet_gfx12_machine *)self)->core[core], reg);
}

static void gfx12_reg_write(void *self, uint32_t core, uint32_t reg, struct facet_value value)
{
    facet_gfx12_reg_put(&((struct facet_gfx12_machine *)self)->core[core], reg, value);
}

/* There are no CSRs: the face never asks. */
static struct facet_value gfx12_csr_read(const void *self, uint32_t core, uint32_t csr)
{
    (void)self, (void)core, (void)csr;
    return facet_value64(0);
}

static struct facet_value
gfx12_csr_write(void *self, uint32_t core, uint32_t csr, struct facet_value value)
{
    (void)value;
    return gfx12_csr_read(self, core, csr);
}

static uint64_t gfx12_retired(const void *self, uint32_t core)
{
    return ((const struct facet_gfx12_machine *)self)->core[core].retired;
}

static size_t gfx12_disassemble(
    const void *self, uint32_t core, uint64_t address, char *buf, size_t size, uint32_t *length)
{
    const struct facet_gfx12_machine *m = self;
    struct facet_gfx12_insn in;
    uint32_t words[3];
    uint8_t bytes[12];
    unsigned count = 0;
    int needed;

    (void)core;
    while (count < 3 &&
           facet_mem_peek(m->mem, address + 4u * count, bytes, 4).fault == FACET_MEM_OK) {
        words[count++] = facet_load_le32(bytes);
    }
    if (count == 0) {
        return 0;
    }
    *length = 4 * facet_gfx12_insn_decode(words, count, &in);
    if (*length != 0) {
        return facet_gfx12_insn_print(&in, buf, size);
    }
    *length = 4;
    needed = snprintf(buf, size, ".long 0x%08" PRIx32, words[0]);
    return needed < 0 ? 0 : (size_t)needed;
}

/* ---- running ---- */

static uint32_t gfx12_next_core(const void *self)
{
    const struct facet_gfx12_machine *m = self;

    return m->fault.cause != 0 ? FACET_NONE : m->next;
}

static bool any_started(const struct facet_gfx12_machine *m)
{
    for (uint32_t i = 0; i < m->config.lanes; i++) {
        if (m->core[i].state != FACET_GFX12_LANE_IDLE) {
            return true;
        }
    }
    return false;
}

static void gfx12_run(void *self, uint64_t budget, struct facet_stop *stop)
{
    struct facet_gfx12_machine *m = self;
    struct facet_port *port = m->port;
    bool more = true;

    while (more && stop->steps < budget && gfx12_next_core(m) != FACET_NONE) {
        uint32_t lane = m->next;

        if (port->break_count != 0 && facet_port_break(port, lane, m->core[lane].pc)) {
            stop->reason = FACET_STOP_BREAKPOINT;
            stop->core = lane;
            return;
        }
        facet_gfx12_step(m, lane);
        facet_gfx12_settle(m, lane + 1);
        stop->steps++;
        more = !port->stop && !facet_port_asked(port);
    }
    if (m->fault.cause != 0) {
        stop->reason = FACET_STOP_FAULT;
        stop->core = m->fault.core;
        stop->code = m->fault.cause;
        stop->address = m->fault.value;
    } else if (m->next == FACET_NONE) {
        stop->reason = any_started(m) ? FACET_STOP_EXIT : FACET_STOP_IDLE;
    }
}

/* ---- snapshots ---- */

/* Configuration: a snapshot fits a machine that was made alike. */
static void visit_config(const struct facet_gfx12_machine *m, struct facet_state_io *io)
{
    struct facet_gfx12_config c = m->config;
    uint8_t profile = (uint8_t)c.profile, sense = (uint8_t)c.opaque_sense;

    facet_state_tag(io, "gfx12");
    facet_state_u32(io, &c.lanes);
    facet_state_u64(io, &c.image_base);
    facet_state_u64(io, &c.image_bytes);
    facet_state_u8(io, &profile);
    facet_state_u8(io, &sense);
    facet_state_require(io, c.lanes == m->config.lanes, "a different number of lanes");
    facet_state_require(io,
                        c.image_base == m->config.image_base &&
                            c.image_bytes == m->config.image_bytes,
                        "a different address or size of BVH memory");
    facet_state_require(io,
                        profile == (uint8_t)m->config.profile &&
                            sense == (uint8_t)m->config.opaque_sense,
                        "a different profile");
}

static bool fits(uint64_t value, unsigned width)
{
    return width >= 64 || value >> width == 0;
}

static void visit_core(struct facet_gfx12_core *c, struct facet_state_io *io)
{
    facet_state_tag(io, "lane");
    facet_state_u8(io, &c->state);
    facet_state_require(io, c->state <= FACET_GFX12_LANE_ENDED, "state of a lane");
    facet_state_u64(io, &c->retired);
    for (uint32_t reg = 0; reg < FACET_GFX12_REG_COUNT; reg++) {
        struct facet_value value = facet_gfx12_reg_get(c, reg);

        facet_state_u64(io, &value.lo);
        facet_state_require(io, fits(value.lo, facet_gfx12_registers()[reg].width), "register");
        facet_gfx12_reg_put(c, reg, value);
    }
    facet_state_u32(io, &c->query.root);
    facet_state_u32(io, &c->query.instance_mask);
    facet_state_u64(io, &c->query.address);
    facet_state_u64(io, &c->query.max_steps);
    facet_state_u64(io, &c->stats.steps);
    facet_state_u64(io, &c->stats.boxes);
    facet_state_u64(io, &c->stats.primitives);
    facet_state_u64(io, &c->stats.instances);
    facet_state_u64(io, &c->stats.walk_backs);
    facet_state_u32(io, &c->stats.lost_walks);
}

static void visit_machine(struct facet_gfx12_machine *m, struct facet_state_io *io)
{
    facet_state_u32(io, &m->code_bytes);
    facet_state_require(
        io, m->code_bytes <= FACET_GFX12_CODE_BYTES && m->code_bytes % 4 == 0, "program size");
    facet_state_bool(io, &m->loop);
    facet_state_u32(io, &m->next);
    facet_state_u32(io, &m->fault.core);
    facet_state_u32(io, &m->fault.cause);
    facet_state_u64(io, &m->fault.value);
    facet_state_require(
        io, m->fault.core < m->config.lanes && m->fault.cause <= FACET_GFX12_ENDLESS, "fault");
}

static void gfx12_save(const void *self, struct facet_state_io *io)
{
    struct facet_gfx12_machine *m = (struct facet_gfx12_machine *)self; /* changes nothing */

    visit_config(m, io);
    visit_machine(m, io);
    for (uint32_t i = 0; i < m->config.lanes; i++) {
        visit_core(&m->core[i], io);
    }
}

/* The turn must belong to a lane that runs, or to none when none does. */
static bool turn_good(const struct facet_gfx12_machine *m, const struct facet_gfx12_core *cores)
{
    if (m->next != FACET_NONE) {
        return m->next < m->config.lanes && cores[m->next].state == FACET_GFX12_LANE_RUNS;
    }
    for (uint32_t i = 0; i < m->config.lanes; i++) {
        if (cores[i].state == FACET_GFX12_LANE_RUNS) {
            return false;
        }
    }
    return true;
}

static void gfx12_load(void *self, struct facet_state_io *io)
{
    struct facet_gfx12_machine *m = self;
    const struct facet_gfx12_fault fault = m->fault;
    const uint32_t code_bytes = m->code_bytes, next = m->next;
    const bool loop = m->loop;
    size_t bytes = m->config.lanes * sizeof m->core[0];

    m->draft = m->draft != NULL ? m->draft : malloc(sizeof m->core);
    facet_state_need(io, m->draft != NULL);
    if (m->draft == NULL) {
        return;
    }
    memset(m->draft, 0, bytes);
    visit_config(m, io);
    visit_machine(m, io);
    for (uint32_t i = 0; i < m->config.lanes; i++) {
        visit_core(&m->draft[i], io);
    }
    facet_state_require(io, io->failed || turn_good(m, m->draft), "the lane that comes next");
    if (facet_state_done(io)) {
        memcpy(m->core, m->draft, bytes);
        return;
    }
    m->fault = fault; /* as before */
    m->code_bytes = code_bytes;
    m->next = next;
    m->loop = loop;
}

const struct facet_machine_ops facet_gfx12_ops = {
    .name = "gfx12",
    .checks_breakpoints = true,
    .create = gfx12_create,
    .destroy = gfx12_destroy,
    .reset = gfx12_reset,
    .core = gfx12_core,
    .space = gfx12_space,
    .reg_read = gfx12_reg_read,
    .reg_write = gfx12_reg_write,
    .csr_read = gfx12_csr_read,
    .csr_write = gfx12_csr_write,
    .next_core = gfx12_next_core,
    .retired = gfx12_retired,
    .run = gfx12_run,
    .save = gfx12_save,
    .load = gfx12_load,
    .disassemble = gfx12_disassemble,
};

/* ---- facet/gfx12.h ---- */

enum facet_status facet_gfx12_create_sized(const struct facet_gfx12_config *config,
                                           size_t config_size,
                                           facet_machine **out,
                                           struct facet_error *err)
{
    struct facet_gfx12_config own;
    enum facet_status status =
        facet_sized_in(&own, sizeof own, config, config_size, "facet_gfx12_config", err);

    *out = NULL;
    return status == FACET_OK ? facet_machine_create(&facet_gfx12_ops, &own, out, err) : status;
}

/* The machine, or NULL with an error when it is of another kind or has no such lane. */
static struct facet_gfx12_machine *
self_of(const facet_machine *machine, uint32_t lane, struct facet_error *err)
{
    struct facet_gfx12_machine *m = facet_machine_self(machine, &facet_gfx12_ops, err);

    if (m != NULL && lane >= m->config.lanes) {
        (void)facet_fail(err,
                         FACET_ERR_USAGE,
                         lane,
                         "lane %" PRIu32 ", expected less than %" PRIu32,
                         lane,
                         m->config.lanes);
        m = NULL;
    }
    return m;
}

enum facet_status facet_gfx12_set_program(
    facet_machine *machine, const uint32_t *words, size_t count, bool loop, struct facet_error *err)
{
    struct facet_gfx12_machine *m = self_of(machine, 0, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (count == 0 || count > FACET_GFX12_CODE_BYTES / 4) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          count,
                          "a program of %zu dwords, expected 1 to %u",
                          count,
                          FACET_GFX12_CODE_BYTES / 4);
    }
    put_program(m, words, count);
    m->loop = loop;
    facet_machine_reset(machine);
    return FACET_OK;
}

enum facet_status facet_gfx12_start(facet_machine *machine,
                                    uint32_t lane,
                                    const struct facet_gfx12_query *query,
                                    struct facet_error *err)
{
    struct facet_gfx12_machine *m = self_of(machine, lane, err);
    const struct facet_gfx12_callbacks *cb = &query->callbacks;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (cb->visit != NULL || cb->any_hit != NULL || cb->procedural != NULL) {
        return facet_fail(err, FACET_ERR_USAGE, lane, "a machine has no callbacks");
    }
    m->core[lane].query = *query;
    m->core[lane].query.callbacks.context = NULL;
    facet_gfx12_begin(m, lane);
    facet_gfx12_settle(m, m->next != FACET_NONE ? m->next : lane);
    return FACET_OK;
}

enum facet_status facet_gfx12_read_lane_sized(const facet_machine *machine,
                                              uint32_t lane,
                                              struct facet_gfx12_lane *out,
                                              size_t out_size,
                                              struct facet_error *err)
{
    const struct facet_gfx12_machine *m = self_of(machine, lane, err);
    struct facet_gfx12_lane own = {0};

    if (m != NULL) {
        own = (struct facet_gfx12_lane){(enum facet_gfx12_lane_state)m->core[lane].state,
                                        m->core[lane].hit,
                                        m->core[lane].stats};
    }
    facet_sized_out(out, out_size, &own, sizeof own);
    return m != NULL ? FACET_OK : FACET_ERR_USAGE;
}

const char *facet_gfx12_cause_name(uint64_t cause)
{
    static const char *const names[] = {
        "no fault", "illegal instruction", "no code at pc", "more nodes than max_steps"};

    return cause < sizeof names / sizeof names[0] ? names[cause] : "unknown fault";
}
