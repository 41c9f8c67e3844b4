/* The tile machine's life, its face (machine/ops.h) and the verbs of tile.h. */
#include "base/sized.h"
#include "contract/tile_csrs.h"
#include "isa/isa.h"
#include "tile/system.h"
#include "tile/tally/tally.h"
#include "tile/watch.h"

#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static void tile_destroy(void *self)
{
    struct facet_tile_machine *m = self;

    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        facet_tile_cache_free(&m->core[i].cache);
        facet_mem_destroy(m->core[i].scratch_mem);
    }
    facet_mem_destroy(m->mem);
    facet_tile_code_free(m);
    facet_csr_table_free(&m->csrs);
    facet_pool_destroy(m->own_pool);
    facet_raster_scratch_destroy(m->unit.scratch);
    free(m->draft);
    free(m->tally);
    free(m);
}

static void tile_reset(void *self)
{
    struct facet_tile_machine *m = self;
    struct facet_tile_packet packet = m->packet;

    facet_tile_idle(m);
    facet_tile_queue_reset(&m->queue);
    if (m->has_packet) { /* the program starts again, as after power-on */
        (void)facet_tile_start(m, &packet, NULL);
        facet_tile_settle(m);
    }
}

static enum facet_status check_config(struct facet_tile_config *c, struct facet_error *err)
{
    c->vram = c->vram != 0 ? c->vram : FACET_TILE_VRAM_DEFAULT;
    c->quantum = c->quantum != 0 && !c->random ? c->quantum : 1;
    c->regs = c->regs != 0 ? c->regs : 32;
    c->watchdog = c->watchdog != 0 ? c->watchdog : FACET_TILE_WATCHDOG;
    c->host_code = c->host_code != 0 ? c->host_code : FACET_TILE_HOST_CODE;
    if (c->vram % FACET_MEM_PAGE_BYTES != 0 || c->vram > FACET_TILE_VRAM_MAX) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          c->vram,
                          "VRAM of %u bytes, expected a multiple of 4096 up to 256 MiB",
                          (unsigned)c->vram);
    }
    if (c->regs != 16 && c->regs != 32) {
        return facet_fail(
            err, FACET_ERR_USAGE, c->regs, "%u registers, expected 16 or 32", (unsigned)c->regs);
    }
    if (c->host_code > 255 && c->host_code != FACET_TILE_NO_HOST_CODE) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          c->host_code,
                          "host code after %u jumps, expected at most 255",
                          (unsigned)c->host_code);
    }
    return FACET_OK;
}

static bool ask_port(void *context, uint64_t nanoseconds)
{
    return facet_port_work(context, nanoseconds);
}

static enum facet_status make_memory(struct facet_tile_machine *m, struct facet_error *err)
{
    enum facet_status status = facet_mem_create(&m->mem, err);

    if (status != FACET_OK ||
        (status = facet_mem_add_ram(m->mem,
                                    "sampler",
                                    FACET_MEM_RAM,
                                    FACET_TILE_SAMPLER_BASE,
                                    FACET_TILE_SAMPLER_BYTES,
                                    err)) != FACET_OK ||
        (status = facet_mem_add_ram(
             m->mem, "imem", FACET_MEM_ROM, FACET_TILE_IMEM_BASE, FACET_TILE_IMEM_BYTES, err)) !=
            FACET_OK ||
        (status = facet_mem_add_ram(
             m->mem, "vram", FACET_MEM_RAM, FACET_VRAM_BASE, m->vram_size, err)) != FACET_OK) {
        return status;
    }
    m->vram = facet_mem_window(m->mem, FACET_VRAM_BASE).bytes;
    m->vram_pages = facet_mem_window(m->mem, FACET_VRAM_BASE).pages;
    m->imem = facet_mem_window(m->mem, FACET_TILE_IMEM_BASE).bytes;
    m->sampler = facet_mem_window(m->mem, FACET_TILE_SAMPLER_BASE).bytes;
    m->unit = (struct facet_raster_unit){
        .vram = m->vram,
        .vram_size = m->vram_size,
        .samplers = (const uint32_t(*)[FACET_TILE_SAMPLER_WORDS])(
                        const void *)m->sampler, /* little-endian: core.h */
        .pool = m->own_pool,
        .plain = m->config.plain,
        .stop = &m->draw,
        .scratch = facet_raster_scratch_create(),
    };
    m->draw = (struct facet_raster_stop){.asks = ask_port, .context = m->port};
    return FACET_OK;
}

static enum facet_status
make_core(struct facet_tile_machine *m, uint32_t id, struct facet_error *err)
{
    static const char *const names[] = {"core0", "core1", "core2", "core3"};
    struct facet_tile_core *c = &m->core[id];
    enum facet_status status =
        facet_tile_cache_make(&c->cache, m->vram_size, FACET_TILE_SCRATCH_BYTES, err);

    c->id = id;
    c->m = m;
    m->desc[id] = (struct facet_core_desc){.name = names[id],
                                           .regs = facet_tile_regs,
                                           .reg_count = FACET_TILE_REG_COUNT,
                                           .pc = FACET_TILE_REG_PC,
                                           .csrs = m->csrs.csrs,
                                           .csr_count = m->csrs.count};
    if (status != FACET_OK || (status = facet_mem_create(&c->scratch_mem, err)) != FACET_OK ||
        (status = facet_mem_add_ram(c->scratch_mem,
                                    "scratch",
                                    FACET_MEM_RAM,
                                    FACET_TILE_SCRATCH_BASE,
                                    FACET_TILE_SCRATCH_BYTES,
                                    err)) != FACET_OK) {
        return status;
    }
    c->scratch = facet_mem_window(c->scratch_mem, FACET_TILE_SCRATCH_BASE);
    c->cache.scratch = c->scratch.bytes;
    c->cache.event = &m->event;
    facet_tile_emit_constants(c);
    return FACET_OK;
}

static enum facet_status
tile_create(const void *config, struct facet_port *port, void **self, struct facet_error *err)
{
    struct facet_tile_machine *m = calloc(1, sizeof *m);
    enum facet_status status;

    if (m == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a machine");
    }
    if (config != NULL) {
        m->config = *(const struct facet_tile_config *)config;
    }
    m->port = port;
    m->stepping = FACET_NONE;
    status = check_config(&m->config, err);
    m->vram_size = m->config.vram;
    if (status == FACET_OK && m->config.threads > 1) {
        status = facet_pool_create(m->config.threads, &m->own_pool, err);
    }
    if (status != FACET_OK || (status = make_memory(m, err)) != FACET_OK ||
        (status = facet_tile_code_make(m, err)) != FACET_OK ||
        (status = facet_tile_tables_make(&m->csrs, err)) != FACET_OK) {
        tile_destroy(m);
        return status;
    }
    for (uint32_t i = 0; i < FACET_TILE_CORES && status == FACET_OK; i++) {
        status = make_core(m, i, err);
    }
    if (status != FACET_OK) {
        tile_destroy(m);
        return status;
    }
    facet_tile_idle(m);
    facet_tile_queue_reset(&m->queue);
    *self = m;
    return FACET_OK;
}

/* ---- tables, registers, memory ---- */

static const struct facet_core_desc *tile_core(const void *self, uint32_t core)
{
    const struct facet_tile_machine *m = self;

    return core < FACET_TILE_CORES ? &m->desc[core] : NULL;
}

static facet_mem *tile_space(const void *self, uint32_t space, const char **name)
{
    static const char *const names[] = {"main", "scratch0", "scratch1", "scratch2", "scratch3"};
    const struct facet_tile_machine *m = self;

    if (space > FACET_TILE_CORES) {
        return NULL;
    }
    *name = names[space];
    return space == 0 ? m->mem : m->core[space - 1].scratch_mem;
}

static struct facet_value tile_reg_read(const void *self, uint32_t core, uint32_t reg)
{
    const struct facet_tile_core *c = &((const struct facet_tile_machine *)self)->core[core];

    if (reg < FACET_TILE_REG_F) {
        return facet_value64(c->r.s[reg]);
    }
    if (reg < FACET_TILE_REG_V) {
        return facet_value64(c->r.f[reg - FACET_TILE_REG_F]);
    }
    if (reg < FACET_TILE_REG_PC) {
        const union facet_tile_vec *v = &c->r.v[reg - FACET_TILE_REG_V];

        return facet_value128(v->d[0], v->d[1]);
    }
    return facet_value64(facet_tile_pc(c, c->ip));
}

static void tile_reg_write(void *self, uint32_t core, uint32_t reg, struct facet_value value)
{
    struct facet_tile_core *c = &((struct facet_tile_machine *)self)->core[core];

    if (reg > 0 && reg < FACET_TILE_REG_F) {
        c->r.s[reg] = (uint32_t)value.lo;
    } else if (reg >= FACET_TILE_REG_F && reg < FACET_TILE_REG_V) {
        c->r.f[reg - FACET_TILE_REG_F] = (uint16_t)value.lo;
    } else if (reg > FACET_TILE_REG_V && reg < FACET_TILE_REG_PC) {
        c->r.v[reg - FACET_TILE_REG_V].d[0] = value.lo;
        c->r.v[reg - FACET_TILE_REG_V].d[1] = value.hi;
    } else if (reg == FACET_TILE_REG_PC) {
        facet_tile_drop_draw(c->m, core);
        facet_tile_set_pc(c, (uint32_t)value.lo);
    }
}

static struct facet_value tile_csr_read(const void *self, uint32_t core, uint32_t csr)
{
    const struct facet_tile_machine *m = self;
    uint32_t value;

    (void)facet_tile_csr_peek(&m->core[core], m->desc[core].csrs[csr].number, &value);
    return facet_value64(value);
}

static struct facet_value
tile_csr_write(void *self, uint32_t core, uint32_t csr, struct facet_value value)
{
    struct facet_tile_machine *m = self;

    (void)facet_tile_csr_poke(&m->core[core], m->desc[core].csrs[csr].number, (uint32_t)value.lo);
    if (m->state == FACET_TILE_STATE_WAITING) { /* int_mask may let a parked core continue */
        m->state = FACET_TILE_STATE_RUNNING;
    }
    facet_tile_settle(m);
    facet_tile_queue_settle(m);
    return tile_csr_read(self, core, csr);
}

static uint64_t tile_retired(const void *self, uint32_t core)
{
    return ((const struct facet_tile_machine *)self)->core[core].instret;
}

static void tile_memory_written(void *self, uint32_t space, uint64_t address, uint64_t size)
{
    struct facet_tile_machine *m = self;

    if (space == 0 && address >= FACET_VRAM_BASE && size != 0 && size <= m->vram_size &&
        address - FACET_VRAM_BASE <= m->vram_size - size) {
        facet_tile_code_changed(m, (uint32_t)address - FACET_VRAM_BASE, (uint32_t)size);
    } else if (space == 0) {
        facet_tile_code_flush(m);
    }
}

static size_t tile_disassemble(
    const void *self, uint32_t core, uint64_t address, char *buf, size_t size, uint32_t *length)
{
    const struct facet_tile_machine *m = self;
    uint8_t bytes[4];

    (void)core;
    if (facet_mem_peek(m->mem, address, bytes, sizeof bytes).fault != FACET_MEM_OK) {
        return 0;
    }
    *length = 4;
    return facet_isa_print(FACET_ISA_TILE, facet_load_le32(bytes), address, NULL, buf, size);
}

/* In a draw, of a core or of the queue. */
static enum facet_left tile_left(const void *self)
{
    const struct facet_tile_machine *m = self;

    return m->draw.part.kind == FACET_RASTER_PART_NONE ? FACET_LEFT_NOTHING
           : m->draw_of == FACET_TILE_OF_QUEUE         ? FACET_LEFT_JOB
                                                       : FACET_LEFT_INSTRUCTION;
}

const struct facet_machine_ops facet_tile_ops = {
    .name = "tile",
    .checks_breakpoints = true,
    .create = tile_create,
    .destroy = tile_destroy,
    .reset = tile_reset,
    .core = tile_core,
    .space = tile_space,
    .reg_read = tile_reg_read,
    .reg_write = tile_reg_write,
    .csr_read = tile_csr_read,
    .csr_write = tile_csr_write,
    .next_core = facet_tile_next_core,
    .retired = tile_retired,
    .run = facet_tile_queue_run,
    .save = facet_tile_save,
    .load = facet_tile_restore,
    .memory_written = tile_memory_written,
    .disassemble = tile_disassemble,
    .left = tile_left,
    .count = facet_tile_count,
};

/* ---- tile.h ---- */

struct facet_tile_machine *facet_tile_self(const facet_machine *machine, struct facet_error *err)
{
    return facet_machine_self(machine, &facet_tile_ops, err);
}

enum facet_status facet_tile_create_sized(const struct facet_tile_config *config,
                                          size_t config_size,
                                          facet_machine **out,
                                          struct facet_error *err)
{
    struct facet_tile_config own;
    enum facet_status status =
        facet_sized_in(&own, sizeof own, config, config_size, "facet_tile_config", err);

    *out = NULL;
    return status == FACET_OK ? facet_machine_create(&facet_tile_ops, &own, out, err) : status;
}

enum facet_status facet_tile_clear(facet_machine *machine, struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    m->has_packet = false;
    facet_mem_clear(m->mem);
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        facet_mem_clear(m->core[i].scratch_mem);
    }
    facet_tile_code_flush(m);
    facet_machine_reset(machine);
    return FACET_OK;
}

enum facet_status facet_tile_get_info_sized(const facet_machine *machine,
                                            struct facet_tile_info *info,
                                            size_t info_size,
                                            struct facet_error *err)
{
    const struct facet_tile_machine *m = facet_tile_self(machine, err);
    struct facet_tile_info own = {0};

    if (m != NULL) {
        own = (struct facet_tile_info){.state = (enum facet_tile_state)m->state,
                                       .queue = (enum facet_tile_queue_state)m->queue.state,
                                       .rounds = m->time,
                                       .commands = m->queue.commands,
                                       .ring_room = facet_tile_queue_room(&m->queue),
                                       .watchdog = m->config.watchdog,
                                       .hwinfo = facet_tile_machine_hwinfo(m),
                                       .vram_bytes = m->vram_size};
    }
    facet_sized_out(info, info_size, &own, sizeof own);
    return m != NULL ? FACET_OK : FACET_ERR_USAGE;
}

enum facet_status facet_tile_dispatch(facet_machine *machine,
                                      const struct facet_tile_packet *packet,
                                      struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);
    enum facet_status status;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (m->state == FACET_TILE_STATE_RUNNING || m->state == FACET_TILE_STATE_WAITING) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "a dispatch is running");
    }
    status = facet_tile_start(m, packet, err);
    if (status == FACET_OK) {
        m->queue.owns = false;
        facet_tile_settle(m);
    }
    return status;
}

enum facet_status
facet_tile_set_watchdog(facet_machine *machine, uint32_t rounds, struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    m->config.watchdog = rounds != 0 ? rounds : FACET_TILE_WATCHDOG;
    return FACET_OK;
}

/* Sets int_status bits and lets a waiting dispatch continue when a core can wake. */
static enum facet_status
interrupt(facet_machine *machine, unsigned mask, uint32_t bits, struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        if ((mask >> i & 1) != 0) {
            m->core[i].r.int_status |= bits;
        }
    }
    if (m->state == FACET_TILE_STATE_WAITING) {
        m->state = FACET_TILE_STATE_RUNNING;
        facet_tile_settle(m);
        facet_tile_queue_settle(m);
    }
    return FACET_OK;
}

enum facet_status
facet_tile_doorbell(facet_machine *machine, uint32_t mask, struct facet_error *err)
{
    return interrupt(machine, mask, FACET_INT_STATUS_DOORBELL, err);
}

void facet_tile_fence(facet_machine *machine)
{
    (void)interrupt(machine, 0xF, FACET_INT_STATUS_FENCE, NULL);
}

enum facet_status facet_tile_abort(facet_machine *machine, struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);

    if (m != NULL &&
        (m->state == FACET_TILE_STATE_RUNNING || m->state == FACET_TILE_STATE_WAITING)) {
        facet_tile_stop_all(m, 10);
        facet_tile_queue_settle(m);
    }
    return m != NULL ? FACET_OK : FACET_ERR_USAGE;
}

enum facet_status facet_tile_get_core_report_sized(const facet_machine *machine,
                                                   uint32_t core,
                                                   struct facet_tile_core_report *report,
                                                   size_t report_size,
                                                   struct facet_error *err)
{
    const struct facet_tile_machine *m = facet_tile_self(machine, err);
    const struct facet_tile_core *c;
    struct facet_tile_core_report own;
    uint64_t counted = 0;

    memset(report, 0, report_size);
    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (core >= FACET_TILE_CORES) {
        return facet_fail(err, FACET_ERR_USAGE, core, "core %u; expected 0 to 3", (unsigned)core);
    }
    c = &m->core[core];
    own = (struct facet_tile_core_report){.retired = c->instret,
                                          .fault_cause = c->fault_cause,
                                          .fault_pc = c->fault_pc,
                                          .fault_addr = c->fault_addr,
                                          .status = c->r.status,
                                          .gerror = c->r.gerror,
                                          .tiles = c->tiles};
    for (unsigned i = 0; i < FACET_TILE_CLASS_OTHER; i++) {
        own.by_class[i] = c->perf[i];
        counted += c->perf[i];
    }
    own.by_class[FACET_TILE_CLASS_OTHER] = c->instret - counted;
    facet_sized_out(report, report_size, &own, sizeof own);
    return FACET_OK;
}

const char *facet_tile_class_name(enum facet_tile_class what)
{
    static const char *const names[FACET_TILE_CLASSES] = {
        "load", "store", "atomic", "texture", "graphics", "branch", "other"};

    return what < FACET_TILE_CLASSES ? names[what] : "unknown";
}

bool facet_tile_core_view(
    const facet_machine *machine, uint32_t core, uint64_t address, uint8_t *out, size_t size)
{
    const struct facet_tile_machine *m = facet_tile_self(machine, NULL);
    const struct facet_tile_cache *cache = core < FACET_TILE_CORES ? &m->core[core].cache : NULL;

    if (cache == NULL || address < FACET_VRAM_BASE || size > m->vram_size ||
        address - FACET_VRAM_BASE > m->vram_size - size) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        uint32_t at = (uint32_t)(address - FACET_VRAM_BASE + i);

        if ((cache->valid[at / 64] >> at % 64 & 1) != 0) {
            out[i] = cache->data[at];
        }
    }
    return true;
}

const struct facet_raster_unit *facet_tile_unit(const facet_machine *machine)
{
    return &facet_tile_self(machine, NULL)->unit;
}

static void touch_both(void *context, enum facet_raster_use use, uint32_t offset, uint32_t size)
{
    const struct facet_tile_watch *w = context;

    w->watch.touch(w->watch.context, use, offset, size);
    if (w->before != NULL) {
        w->before->touch(w->before->context, use, offset, size);
    }
}

static void triangle_both(void *context)
{
    const struct facet_tile_watch *w = context;

    if (w->watch.triangle != NULL) {
        w->watch.triangle(w->watch.context);
    }
    if (w->before != NULL && w->before->triangle != NULL) {
        w->before->triangle(w->before->context);
    }
}

void facet_tile_watch(facet_machine *machine,
                      struct facet_tile_watch *watch,
                      struct facet_raster_watch listener)
{
    struct facet_raster_unit *unit = &facet_tile_self(machine, NULL)->unit;

    *watch = (struct facet_tile_watch){
        listener, {watch, touch_both, triangle_both}, unit->watch, unit->pool, unit->plain};
    unit->watch = &watch->both;
    unit->pool = NULL;
    unit->plain = true;
}

void facet_tile_unwatch(facet_machine *machine, const struct facet_tile_watch *watch)
{
    struct facet_raster_unit *unit = &facet_tile_self(machine, NULL)->unit;

    unit->watch = watch->before;
    unit->pool = watch->pool;
    unit->plain = watch->plain;
}

uint32_t facet_tile_stepping(const facet_machine *machine)
{
    return facet_tile_self(machine, NULL)->stepping;
}

void facet_tile_probe(facet_machine *machine, struct facet_raster_probe *probe)
{
    facet_tile_self(machine, NULL)->unit.probe = probe;
}

void facet_tile_use_pool(facet_machine *machine, facet_pool *pool)
{
    struct facet_tile_machine *m = facet_tile_self(machine, NULL);

    m->unit.pool = pool != NULL ? pool : m->own_pool;
}

void facet_tile_let_run_ahead(facet_machine *machine, bool may)
{
    facet_tile_self(machine, NULL)->in_turn = !may;
}

enum facet_status facet_tile_packet_check(const facet_machine *machine,
                                          const struct facet_tile_packet *packet,
                                          struct facet_error *err)
{
    const struct facet_tile_machine *m = facet_tile_self(machine, err);

    return m != NULL ? facet_tile_check_packet(m, packet, err) : FACET_ERR_USAGE;
}

/* ---- options as text ---- */

bool facet_tile_parse_mem(const char *text, struct facet_tile_config *config)
{
    if (strcmp(text, "weak") != 0 && strcmp(text, "strong") != 0) {
        return false;
    }
    config->strong = text[0] == 's';
    return true;
}

bool facet_tile_parse_sched(const char *text, struct facet_tile_config *config)
{
    bool random = strncmp(text, "rnd:", 4) == 0;
    const char *digits = text + (random ? 4 : 3);
    uint64_t number = 0;

    if ((!random && strncmp(text, "rr:", 3) != 0) || *digits == '\0') {
        return false;
    }
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') && digits[2] != '\0') {
        for (digits += 2; *digits != '\0'; digits++) {
            int digit = *digits >= '0' && *digits <= '9'   ? *digits - '0'
                        : *digits >= 'a' && *digits <= 'f' ? *digits - 'a' + 10
                        : *digits >= 'A' && *digits <= 'F' ? *digits - 'A' + 10
                                                           : -1;

            number = number * 16 + (uint64_t)digit;
            if (digit < 0 || number > UINT32_MAX) {
                return false;
            }
        }
    }
    for (; *digits != '\0'; digits++) {
        number = number * 10 + (uint64_t)(*digits - '0');
        if (*digits < '0' || *digits > '9' || number > UINT32_MAX) {
            return false;
        }
    }
    if (!random && number == 0) {
        return false;
    }
    config->random = random;
    config->seed = random ? (uint32_t)number : 0;
    config->quantum = random ? 1 : (uint32_t)number;
    return true;
}
