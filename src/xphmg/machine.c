/* The xphmg machine's life and its face (machine/ops.h). */
#include "xphmg/machine.h"
#include "base/array.h"
#include "base/sized.h"
#include "xphmg/gfx/again.h"
#include "xphmg/mtx/mtx.h"
#include "xphmg/rt/batch.h"
#include "xphmg/rt/quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------
 */

static void xphmg_destroy(void *self)
{
    struct facet_xphmg *m = self;

    if (m->cache != NULL) {
        (void)facet_block_cache_count(m->cache, m->harts, m->hart_count, NULL, NULL);
    }
    facet_block_cache_destroy(m->cache);
    facet_pool_destroy(m->pool);
    facet_xphmg_rt_kept_destroy(m->rt_kept);
    facet_part_drop(&m->part);
    free(m->files.handles);
    free(m->jobs);
    facet_mem_destroy(m->mem);
    facet_csr_table_free(&m->csrs);
    free(m->harts);
    free(m->mtimecmp);
    free(m->told);
    free(m->last_trap);
    free(m->cores);
    free(m->core_names);
    free(m->command_line);
    free(m->memo);
    free(m->mtx_results);
    free(m->rt_quick);
    free(m->gfx_kept);
    free(m->console.bytes);
    free(m);
}

static void xphmg_reset(void *self)
{
    struct facet_xphmg *m = self;

    for (uint32_t i = 0; i < m->hart_count; i++) {
        struct facet_hart *h = &m->harts[i];
        const bool code_written = h->code_written;

        facet_hart_reset(h, m->entry);
        h->code_written = code_written; /* memory stays, and so does what was decoded from it */
        h->x[10] = m->cap.hart.first_hart + i;
        m->mtimecmp[i] = UINT64_MAX;
        facet_told_reset(&m->told[i]);
    }
    facet_xmem_reset(&m->xmem);
    facet_part_drop(&m->part);
    if (m->jobs != NULL) {
        facet_jobs_reset(m->jobs);
    }
    memset(m->last_trap, 0, m->hart_count * sizeof *m->last_trap);
    memset(&m->uart, 0, sizeof m->uart);
    memset(&m->framebuffer, 0, sizeof m->framebuffer);
    m->htif.response = 0;
    m->htif.reading = m->htif.writing = false;
    m->clock = m->mtime = m->mtime_offset = m->msip = 0;
    m->current = 0;
    m->turn_left = m->quantum;
    m->idle = m->console.starved = m->console.told = false;
    m->semihost_errno = 0;
    m->end = 0;
    m->end_core = 0;
    m->end_code = m->end_address = 0;
    if (m->cache != NULL) {
        facet_xphmg_watch_htif(m);
    }
}

static enum facet_status check_config(const struct facet_xphmg_config *c,
                                      const struct facet_xphmg *m,
                                      struct facet_error *err)
{
    if (m->hart_count > FACET_XPHMG_MAX_HARTS) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          m->hart_count,
                          "%u harts, expected 1..%u",
                          m->hart_count,
                          FACET_XPHMG_MAX_HARTS);
    }
    if (m->quantum < 64) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          m->quantum,
                          "a quantum of %u steps, expected 64 or more",
                          m->quantum);
    }
    if ((unsigned)c->jobs > FACET_XPHMG_JOBS_LATE) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          c->jobs,
                          "job timing %u, expected FACET_XPHMG_JOBS_NOW or FACET_XPHMG_JOBS_LATE",
                          (unsigned)c->jobs);
    }
    if (c->ram_bytes % FACET_MEM_PAGE_BYTES != 0 || c->ram_bytes > FACET_XPHMG_RAM_MAX) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          c->ram_bytes,
                          "RAM of %llu bytes, expected a multiple of 4096 up to 64 GiB",
                          (unsigned long long)c->ram_bytes);
    }
    return FACET_OK;
}

static bool allocate(struct facet_xphmg *m, const struct facet_xphmg_config *c)
{
    const char *command_line = c->command_line != NULL ? c->command_line : "";

    m->harts = calloc(m->hart_count, sizeof *m->harts);
    m->mtimecmp = calloc(m->hart_count, sizeof *m->mtimecmp);
    m->last_trap = calloc(m->hart_count, sizeof *m->last_trap);
    m->told = calloc(m->hart_count, sizeof *m->told);
    m->cores = calloc(m->hart_count, sizeof *m->cores);
    m->core_names = calloc(m->hart_count, sizeof *m->core_names);
    m->command_line = malloc(strlen(command_line) + 1);
    m->memo = calloc(FACET_MEMO_SIZE, sizeof *m->memo);
    m->mtx_results = malloc(sizeof *m->mtx_results);
    m->rt_kept = facet_xphmg_rt_kept_create();
    m->rt_quick = calloc(1, sizeof *m->rt_quick);
    m->gfx_kept = calloc(1, sizeof *m->gfx_kept);
    if (m->harts == NULL || m->mtimecmp == NULL || m->last_trap == NULL || m->told == NULL ||
        m->cores == NULL || m->core_names == NULL || m->command_line == NULL || m->memo == NULL ||
        m->mtx_results == NULL || m->rt_kept == NULL || m->rt_quick == NULL ||
        m->gfx_kept == NULL) {
        return false;
    }
    memcpy(m->command_line, command_line, strlen(command_line) + 1);
    if (c->jobs == FACET_XPHMG_JOBS_LATE) {
        m->jobs = calloc(1, sizeof *m->jobs);
        if (m->jobs == NULL) {
            return false;
        }
        m->jobs->seed = c->jobs_seed;
        m->jobs->clock = &m->clock;
    }
    return true;
}

static void wire_harts(struct facet_xphmg *m, bool plain)
{
    for (uint32_t i = 0; i < m->hart_count; i++) {
        struct facet_hart *h = &m->harts[i];

        h->hartid = i;
        h->mem = m->mem;
        h->ram = facet_mem_window(m->mem, m->cap.platform.ram_base);
        h->plain = plain;
        if (plain) { /* every access by the careful door */
            h->ram.span = h->ram.store_span = 0;
        }
        h->port = m->port;
        h->csr_index = m->csrs.index;
        h->host = &m->hart_host;
        h->mtime = &m->mtime;
        h->told = &m->told[i];
        h->pool = m->pool;
        h->rt_kept = m->rt_kept;
        h->rt_quick = plain ? NULL : m->rt_quick;
        h->gfx_kept = plain ? NULL : m->gfx_kept;
        h->memo = plain ? NULL : m->memo;
        h->mtx_results = m->mtx_results;
        h->xmem = m->cap.hart.bare ? NULL : &m->xmem;
        h->jobs = m->jobs;
        h->part = &m->part;
        h->units.config = &m->cap;
        (void)snprintf(m->core_names[i], sizeof m->core_names[i], "hart%u", (unsigned)i % 1000);
        m->cores[i] = (struct facet_core_desc){.name = m->core_names[i],
                                               .regs = facet_xphmg_regs,
                                               .reg_count = m->cap.hart.bare ? FACET_HART_REG_P0
                                                                             : FACET_HART_REG_COUNT,
                                               .pc = FACET_HART_REG_PC,
                                               .csrs = m->csrs.csrs,
                                               .csr_count = m->csrs.count};
    }
}

/* Harts run one after the other, so one cache serves all, and a hart's store into another's code is
 * seen at once. */
static enum facet_status make_cache(struct facet_xphmg *m, uint64_t heat, struct facet_error *err)
{
    enum facet_status status = facet_block_cache_create(&m->harts[0], &m->cache, err);

    for (uint32_t i = 1; i < m->hart_count && status == FACET_OK; i++) {
        m->harts[i].code_lines = m->harts[0].code_lines;
    }
    if (status == FACET_OK && heat < FACET_XPHMG_NO_HOST_CODE) {
        facet_block_cache_host_code(m->cache, heat != 0 ? (uint32_t)heat : FACET_XPHMG_HOST_CODE);
    }
    return status;
}

/* RAM, and LDS where there is XMEM. */
static enum facet_status
add_memory(struct facet_xphmg *m, const struct facet_xphmg_config *c, struct facet_error *err)
{
    const struct facet_platform *platform = &m->cap.platform;
    uint64_t bytes = platform->ram_bytes != 0 ? platform->ram_bytes
                     : c->ram_bytes != 0      ? c->ram_bytes
                                              : FACET_XPHMG_RAM_BYTES;
    enum facet_status status =
        m->cap.hart.bare
            ? FACET_OK
            : facet_mem_add_ram(
                  m->mem, "lds", FACET_MEM_RAM, FACET_XLDSBASE_RESET, FACET_XLDSSIZE_RESET, err);

    m->entry = m->cap.hart.resets_there ? m->cap.hart.reset_pc : platform->ram_base;
    return status == FACET_OK
               ? facet_mem_add_ram(m->mem, "ram", FACET_MEM_RAM, platform->ram_base, bytes, err)
               : status;
}

static enum facet_status
xphmg_create(const void *config, struct facet_port *port, void **self, struct facet_error *err)
{
    static const struct facet_xphmg_config defaults;
    const struct facet_xphmg_config *c = config != NULL ? config : &defaults;
    struct facet_xphmg *m = calloc(1, sizeof *m);
    enum facet_status status;

    if (m == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a machine");
    }
    m->port = port;
    m->hart_count = c->harts != 0 ? c->harts : 1;
    m->quantum = c->quantum != 0 ? c->quantum : FACET_XPHMG_QUANTUM;
    m->steps_per_tick =
        (uint64_t)(c->instructions_per_tick != 0 ? c->instructions_per_tick
                                                 : FACET_XPHMG_INSTRUCTIONS_PER_TICK) *
        m->hart_count;
    m->poll_input = c->poll_input;
    m->host = c->host;
    m->hart_host.context = m;
    m->hart_host.ebreak = c->no_semihosting ? NULL : facet_xphmg_semihost;
    m->hart_host.catch_up = facet_xphmg_catch_up;
    status = check_config(c, m, err);
    if (status == FACET_OK && !allocate(m, c)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for %u harts", m->hart_count);
    }
    if (status != FACET_OK ||
        (status = facet_cap_config_parse(c->configuration, &m->cap, err)) != FACET_OK ||
        (status = facet_xphmg_tables_make(&m->csrs, &m->cap, err)) != FACET_OK ||
        (status = facet_mem_create(&m->mem, err)) != FACET_OK ||
        (status = facet_xphmg_add_devices(m, err)) != FACET_OK ||
        (status = add_memory(m, c, err)) != FACET_OK ||
        (c->job_threads > 1 &&
         (status = facet_pool_create(c->job_threads, &m->pool, err)) != FACET_OK)) {
        xphmg_destroy(m);
        return status;
    }
    wire_harts(m, c->plain);
    if (!c->plain && (status = make_cache(m, c->host_code, err)) != FACET_OK) {
        xphmg_destroy(m);
        return status;
    }
    xphmg_reset(m);
    *self = m;
    return FACET_OK;
}

/* ---- tables, registers, memory ----------------------------------------------------------------
 */

static const struct facet_core_desc *xphmg_core(const void *self, uint32_t core)
{
    const struct facet_xphmg *m = self;

    return core < m->hart_count ? &m->cores[core] : NULL;
}

static facet_mem *xphmg_space(const void *self, uint32_t space, const char **name)
{
    *name = "main";
    return space == 0 ? ((const struct facet_xphmg *)self)->mem : NULL;
}

static struct facet_value xphmg_reg_read(const void *self, uint32_t core, uint32_t reg)
{
    const struct facet_hart *h = &((const struct facet_xphmg *)self)->harts[core];

    if (reg < FACET_HART_REG_F) {
        return facet_value64(h->x[reg]);
    }
    if (reg < FACET_HART_REG_PC) {
        return facet_value64(h->f[reg - FACET_HART_REG_F]);
    }
    if (reg <= FACET_HART_REG_PRIV) {
        return facet_value64(reg == FACET_HART_REG_PC ? h->pc : h->priv);
    }
    if (reg < FACET_HART_REG_MTX) {
        return facet_value64(reg == FACET_HART_REG_P0
                                 ? h->units.pmask.p0
                                 : h->units.pmask.bank[reg - FACET_HART_REG_P0]);
    }
    return facet_value64(reg < FACET_HART_REG_GFX
                             ? facet_load_le64(facet_hart_mtx_word((struct facet_hart *)h, reg))
                             : *facet_hart_gfx_word((struct facet_hart *)h, reg));
}

static void xphmg_reg_write(void *self, uint32_t core, uint32_t reg, struct facet_value value)
{
    struct facet_xphmg *m = self;
    struct facet_hart *h = &m->harts[core];

    if (reg > 0 && reg < FACET_HART_REG_F) {
        h->x[reg] = value.lo;
    } else if (reg >= FACET_HART_REG_F && reg < FACET_HART_REG_PC) {
        h->f[reg - FACET_HART_REG_F] = value.lo;
    } else if (reg == FACET_HART_REG_PC) {
        h->pc = value.lo & ~(facet_xphmg_lacks(&m->cap, FACET_EXT_C) ? UINT64_C(3) : UINT64_C(1));
        if (m->part.left && m->part.queue == 0 && core == m->current) {
            if (m->part.pin != 0 &&
                (m->part.kind == FACET_PART_RT || m->part.kind == FACET_PART_MTX)) {
                (void)facet_lds_free(h, m->part.pin);
            }
            facet_part_drop(&m->part); /* the instruction is given up where it is */
        }
    } else if (reg == FACET_HART_REG_P0) {
        h->units.pmask.p0 = value.lo != 0;
    } else if (reg > FACET_HART_REG_P0 && reg < FACET_HART_REG_MTX) {
        h->units.pmask.bank[reg - FACET_HART_REG_P0] = value.lo;
    } else if (reg >= FACET_HART_REG_MTX && reg < FACET_HART_REG_GFX) {
        facet_store_le64(facet_hart_mtx_word(h, reg), value.lo);
    } else if (reg >= FACET_HART_REG_GFX &&
               (h->units.config->feat0 & FACET_CAP_FEAT0_GFX_PRESENT) != 0) {
        *facet_hart_gfx_word(h, reg) = value.lo;
    }
}

static struct facet_value xphmg_csr_read(const void *self, uint32_t core, uint32_t csr)
{
    const struct facet_xphmg *m = self;
    uint32_t number = m->csrs.csrs[csr].number;

    if (number == FACET_CSR_MIP || number == FACET_CSR_TIME) { /* as of now, not of the last step */
        const uint64_t now = facet_xphmg_mtime(m);
        struct facet_hart h = m->harts[core];

        h.mip = facet_xphmg_mip(m, now, h.hartid);
        h.mtime = &now;
        return facet_value64(facet_hart_csr_peek(&h, number));
    }
    return facet_value64(facet_hart_csr_peek(&m->harts[core], number));
}

static struct facet_value
xphmg_csr_write(void *self, uint32_t core, uint32_t csr, struct facet_value value)
{
    struct facet_xphmg *m = self;

    facet_hart_csr_poke(&m->harts[core], m->csrs.csrs[csr].number, value.lo);
    facet_xphmg_settle(m); /* mie may wake a waiting hart */
    return xphmg_csr_read(self, core, csr);
}

static uint64_t xphmg_retired(const void *self, uint32_t core)
{
    return ((const struct facet_xphmg *)self)->harts[core].retired;
}

static void xphmg_memory_written(void *self, uint32_t space, uint64_t address, uint64_t size)
{
    struct facet_xphmg *m = self;

    (void)space;
    if (m->cache != NULL) {
        facet_block_cache_written(m->cache, address, size);
    }
}

static size_t xphmg_disassemble(
    const void *self, uint32_t core, uint64_t address, char *buf, size_t size, uint32_t *length)
{
    const struct facet_xphmg *m = self;
    uint8_t bytes[4] = {0};

    (void)core;
    if (facet_mem_peek(m->mem, address, bytes, 2).fault != FACET_MEM_OK) {
        return 0;
    }
    *length = facet_isa_length(FACET_ISA_XPHMG, (uint16_t)facet_load_le(bytes, 2));
    if (*length == 4 && facet_mem_peek(m->mem, address + 2, bytes + 2, 2).fault != FACET_MEM_OK) {
        *length = 0;
        return 0;
    }
    return facet_isa_print(
        FACET_ISA_XPHMG, (uint32_t)facet_load_le(bytes, 4), address, NULL, buf, size);
}

static bool xphmg_work(const void *self, uint32_t n, struct facet_work *work)
{
    const struct facet_xphmg *m = self;

    return facet_jobs_describe(m->jobs, &m->xmem, n, work);
}

static enum facet_left xphmg_left(const void *self)
{
    const struct facet_xphmg *m = self;

    if (m->part.left) {
        return m->part.queue == 0 ? FACET_LEFT_INSTRUCTION : FACET_LEFT_JOB;
    }
    return m->htif.writing ? FACET_LEFT_OUTPUT : FACET_LEFT_NOTHING;
}

static enum facet_status
xphmg_count(void *self, struct facet_counts *counts, struct facet_error *err)
{
    struct facet_xphmg *m = self;
    const enum facet_status status =
        m->cache != NULL ? facet_block_cache_count(m->cache, m->harts, m->hart_count, counts, err)
                         : FACET_OK;

    for (uint32_t i = 0; i < m->hart_count; i++) {
        m->harts[i].counts = status == FACET_OK ? counts : NULL;
    }
    return status;
}

const struct facet_machine_ops facet_xphmg_ops = {
    .name = "xphmg",
    .checks_breakpoints = true,
    .takes_devices = true,
    .create = xphmg_create,
    .destroy = xphmg_destroy,
    .reset = xphmg_reset,
    .core = xphmg_core,
    .space = xphmg_space,
    .reg_read = xphmg_reg_read,
    .reg_write = xphmg_reg_write,
    .csr_read = xphmg_csr_read,
    .csr_write = xphmg_csr_write,
    .next_core = facet_xphmg_next_core,
    .retired = xphmg_retired,
    .run = facet_xphmg_run,
    .save = facet_xphmg_save,
    .load = facet_xphmg_load,
    .memory_written = xphmg_memory_written,
    .disassemble = xphmg_disassemble,
    .work = xphmg_work,
    .left = xphmg_left,
    .count = xphmg_count,
};

/* ---- facet/xphmg.h ----------------------------------------------------------------------------
 */

enum facet_status facet_xphmg_create_sized(const struct facet_xphmg_config *config,
                                           size_t config_size,
                                           facet_machine **out,
                                           struct facet_error *err)
{
    struct facet_xphmg_config own;
    enum facet_status status =
        facet_sized_in(&own, sizeof own, config, config_size, "facet_xphmg_config", err);

    *out = NULL;
    return status == FACET_OK ? facet_machine_create(&facet_xphmg_ops, &own, out, err) : status;
}

enum facet_status facet_xphmg_configuration_check(const char *configuration,
                                                  struct facet_error *err)
{
    struct facet_cap_config config;

    return facet_cap_config_parse(configuration, &config, err);
}

size_t facet_xphmg_configuration_help(char *buf, size_t size)
{
    struct facet_strbuf text;
    size_t length;

    facet_strbuf_init(&text);
    facet_cap_config_help(&text);
    length = text.failed ? 0 : text.length;
    if (size != 0) {
        const size_t fits = length < size ? length : size - 1;

        memcpy(buf, text.failed ? "" : text.text, fits);
        buf[fits] = '\0';
    }
    facet_strbuf_free(&text);
    return length;
}

enum facet_status
facet_xphmg_input(facet_machine *machine, const void *data, size_t size, struct facet_error *err)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);
    struct facet_xphmg_console *c;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    c = &m->console;
    if (c->read > 0) { /* what was read is forgotten */
        memmove(c->bytes, c->bytes + c->read, c->size - c->read);
        c->size -= c->read;
        c->read = 0;
    }
    if (size > SIZE_MAX - c->size || !facet_array_fit(&c->bytes, &c->capacity, c->size + size, 1)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for console input");
    }
    if (size > 0) {
        memcpy(c->bytes + c->size, data, size);
        c->size += size;
        c->starved = false;
        m->harts[m->current].stalled = false;
    }
    return FACET_OK;
}

enum facet_status facet_xphmg_input_end(facet_machine *machine, struct facet_error *err)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    m->console.ended = true;
    m->console.starved = false;
    m->harts[m->current].stalled = false;
    return FACET_OK;
}

enum facet_status
facet_xphmg_wants_input(const facet_machine *machine, bool *wants, struct facet_error *err)
{
    const struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);

    *wants = m != NULL && m->console.starved;
    return m != NULL ? FACET_OK : FACET_ERR_USAGE;
}

enum facet_status facet_xphmg_get_fault_sized(const facet_machine *machine,
                                              struct facet_xphmg_fault *fault,
                                              size_t fault_size,
                                              struct facet_error *err)
{
    const struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);

    memset(fault, 0, fault_size);
    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (m->end != FACET_STOP_FAULT) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "the machine has not stopped with a fault");
    }
    facet_sized_out(fault, fault_size, &m->last_trap[m->end_core], sizeof m->last_trap[0]);
    return FACET_OK;
}

enum facet_status facet_xphmg_set_profile(facet_machine *machine,
                                          uint32_t core,
                                          uint32_t profile,
                                          struct facet_error *err)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (core >= m->hart_count) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "there is no hart %u", core);
    }
    return facet_cap_set_profile(&m->harts[core].units, profile, err);
}

const char *facet_xphmg_cause_name(uint64_t cause)
{
    static const char *const names[] = {
        [FACET_CAUSE_FETCH_MISALIGNED] = "misaligned instruction address",
        [FACET_CAUSE_FETCH_FAULT] = "instruction access fault",
        [FACET_CAUSE_ILLEGAL] = "illegal instruction",
        [FACET_CAUSE_BREAKPOINT] = "breakpoint",
        [FACET_CAUSE_LOAD_MISALIGNED] = "misaligned load address",
        [FACET_CAUSE_LOAD_FAULT] = "load access fault",
        [FACET_CAUSE_STORE_MISALIGNED] = "misaligned store address",
        [FACET_CAUSE_STORE_FAULT] = "store access fault",
        [FACET_CAUSE_ECALL_U] = "environment call from U mode",
        [FACET_CAUSE_ECALL_M] = "environment call from M mode",
        [FACET_CAUSE_NUMERIC] = "numeric exception",
        [FACET_CAUSE_UNSUPPORTED] = "unsupported operation",
    };
    uint64_t code = cause & ~(UINT64_C(1) << 63);

    if (cause == FACET_XPHMG_DEADLOCK) {
        return "deadlock: every hart waits, and nothing can end a fence";
    }
    if (cause >> 63 != 0) {
        return code == FACET_IRQ_SOFTWARE ? "software interrupt"
               : code == FACET_IRQ_TIMER  ? "timer interrupt"
                                          : "external interrupt";
    }
    return code < sizeof names / sizeof names[0] && names[code] != NULL ? names[code]
                                                                        : "unknown cause";
}
