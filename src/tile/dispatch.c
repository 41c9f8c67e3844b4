/* Dispatch packets, tiles and how a dispatch ends (tile-semantics.md 2, 13). */
#include "contract/tile_csrs.h"
#include "tile/system.h"

#include <string.h>

enum { FAULT_WATCHDOG = 9 };

struct facet_tile_packet facet_tile_packet_read(const uint8_t bytes[FACET_TILE_PACKET_SIZE])
{
    uint32_t words[FACET_TILE_PACKET_WORDS];
    struct facet_tile_packet_fields p;

    for (unsigned i = 0; i < FACET_TILE_PACKET_WORDS; i++) {
        words[i] = facet_load_le32(bytes + 4 * i);
    }
    facet_tile_packet_unpack(words, &p);
    return (struct facet_tile_packet){
        .pc = p.pc,
        .columns = p.grid[0],
        .rows = p.grid[1],
        .tile_width = p.tile[0],
        .tile_height = p.tile[1],
        .arg_base = p.arg_base,
        .arg_size = p.arg_size,
        .shared_size = p.shared_size,
        .priority = p.priority,
        .core_mask = p.core_mask,
        .const_base = p.const_base,
        .const_size = p.const_size,
        .watchdog = p.wdog,
    };
}

static uint32_t tile_pixels(uint32_t written)
{
    return written != 0 ? written : 16;
}

static enum facet_status check_grid(const struct facet_tile_packet *p, struct facet_error *err)
{
    uint64_t width = tile_pixels(p->tile_width), height = tile_pixels(p->tile_height);

    if (p->columns > 0xFFFF || p->rows > 0xFFFF || width > 0xFFFF || height > 0xFFFF) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "grid and tile sizes have 16 bits");
    }
    if ((p->columns != 0 && (p->columns - 1) * width > 0xFFFF) ||
        (p->rows != 0 && (p->rows - 1) * height > 0xFFFF)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%u x %u tiles of %u x %u pixels: an origin lies above 65535",
                          (unsigned)p->columns,
                          (unsigned)p->rows,
                          (unsigned)width,
                          (unsigned)height);
    }
    return FACET_OK;
}

enum facet_status facet_tile_check_packet(const struct facet_tile_machine *m,
                                          const struct facet_tile_packet *p,
                                          struct facet_error *err)
{
    if (p->pc % 4 != 0 || (p->pc - FACET_VRAM_BASE >= m->vram_size &&
                           p->pc - FACET_TILE_IMEM_BASE >= FACET_TILE_IMEM_BYTES)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p->pc,
                          "entry 0x%08x, expected a multiple of 4 in VRAM or IMEM",
                          (unsigned)p->pc);
    }
    if (p->shared_size > FACET_TILE_SCRATCH_BYTES) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p->shared_size,
                          "shared_size %u, expected at most 32768",
                          (unsigned)p->shared_size);
    }
    if (p->const_size != 0 &&
        (p->const_base % 16 != 0 || p->const_base - FACET_VRAM_BASE >= m->vram_size ||
         p->const_size > m->vram_size - (p->const_base - FACET_VRAM_BASE))) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p->const_base,
                          "constant region of %u bytes at 0x%08x, expected a multiple of 16 and "
                          "all of it in VRAM",
                          (unsigned)p->const_size,
                          (unsigned)p->const_base);
    }
    return check_grid(p, err);
}

/* ---- tiles ---- */

static void fill_registers(struct facet_tile_core *c, bool poison)
{
    memset(&c->r, 0, offsetof(struct facet_tile_regs, int_status));
    c->r.gerror = 0;
    for (unsigned i = 0; poison && i < 32; i++) {
        c->r.f[i] = (uint16_t)(0x7D00 + i);
        c->r.s[i] = i != 0 ? 0xDEAD0000 + i : 0;
        for (unsigned k = 0; k < 4 && i != 0; k++) {
            c->r.v[i].w[k] = 0x7FA00000 + i;
        }
    }
}

/* Undefined, as the registers are: zero, or with poison a pattern (R-TILE-130). */
static void fill_scratch(struct facet_tile_core *c, bool poison)
{
    enum { PIECE = 4096 };
    uint32_t start[PIECE / 4] = {0};

    for (uint32_t at = 0; at < FACET_TILE_SCRATCH_BYTES; at += PIECE) {
        for (uint32_t i = 0; poison && i < PIECE / 4; i++) {
            start[i] = 0x5CA70000 + at / 4 + i;
        }
        if (memcmp(c->scratch.bytes + at, start, PIECE) != 0) {
            (void)facet_mem_poke(c->scratch_mem, FACET_TILE_SCRATCH_BASE + at, start, PIECE);
        }
    }
}

void facet_tile_start_tile(struct facet_tile_core *c)
{
    const struct facet_tile_packet *p = &c->m->packet;
    uint32_t column = (uint32_t)(c->next_tile % p->columns);
    uint32_t row = (uint32_t)(c->next_tile / p->columns);

    fill_registers(c, c->m->config.poison);
    facet_tile_set_config(c, 0);
    facet_raster_reset(&c->gfx);
    fill_scratch(c, c->m->config.poison);
    facet_tile_membar(c);
    c->tile_offset =
        (row * tile_pixels(p->tile_height)) << 16 | column * tile_pixels(p->tile_width);
    facet_tile_set_pc(c, p->pc);
    c->state = FACET_TILE_CORE_RUNS;
}

/* Clears what lives as long as a dispatch. */
static void start_core(struct facet_tile_core *c)
{
    c->r.int_status = 0;
    c->instret = 0;
    memset(c->perf, 0, sizeof c->perf);
    c->fault_cause = c->fault_pc = c->fault_addr = 0;
    c->tiles = 0;
    c->state = FACET_TILE_CORE_FINISHED;
}

void facet_tile_idle(struct facet_tile_machine *m)
{
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        struct facet_tile_core *c = &m->core[i];

        start_core(c);
        facet_tile_cache_clear(&c->cache);
        memset(&c->r, 0, sizeof c->r);
        facet_tile_set_config(c, 0);
        facet_raster_reset(&c->gfx);
        c->tile_offset = 0;
        c->next_tile = 0;
        c->told.count = 0;
        c->page = NULL;
        facet_tile_set_pc(c, FACET_VRAM_BASE);
    }
    m->state = FACET_TILE_STATE_IDLE;
    m->event = FACET_TILE_EVENT_NONE;
    m->draw.part.kind = FACET_RASTER_PART_NONE;
    m->time = m->limit = m->tile_count = 0;
    m->active_count = m->slot = m->left = 0;
    m->random = 0;
    memset(&m->packet, 0, sizeof m->packet);
}

enum facet_status facet_tile_start(struct facet_tile_machine *m,
                                   const struct facet_tile_packet *packet,
                                   struct facet_error *err)
{
    enum facet_status status = facet_tile_check_packet(m, packet, err);
    unsigned mask = (packet->core_mask & 0xF) != 0 ? packet->core_mask & 0xF : 0xF;

    if (status != FACET_OK) {
        return status;
    }
    m->packet = *packet;
    m->has_packet = true;
    m->event = FACET_TILE_EVENT_NONE;
    m->tile_count = (uint64_t)packet->columns * packet->rows;
    m->time = 0;
    m->limit = packet->watchdog != 0 ? packet->watchdog : m->config.watchdog;
    m->slot = m->left = 0;
    m->random = m->config.seed != 0 ? m->config.seed : 1;
    m->active_count = 0;
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        start_core(&m->core[i]);
        if ((mask >> i & 1) != 0) {
            m->active[m->active_count++] = (uint8_t)i;
        }
    }
    for (uint32_t k = 0; k < m->active_count && k < m->tile_count; k++) {
        m->core[m->active[k]].next_tile = k;
        facet_tile_start_tile(&m->core[m->active[k]]);
    }
    m->state = m->tile_count != 0 ? FACET_TILE_STATE_RUNNING : FACET_TILE_STATE_DONE;
    return FACET_OK;
}

/* ---- ends ---- */

void facet_tile_publish_all(struct facet_tile_machine *m)
{
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        facet_tile_membar(&m->core[i]);
    }
}

void facet_tile_stop_all(struct facet_tile_machine *m, uint32_t cause)
{
    for (uint32_t k = 0; k < m->active_count; k++) {
        struct facet_tile_core *c = &m->core[m->active[k]];

        facet_tile_drop_draw(m, c->id);
        if (c->state != FACET_TILE_CORE_FINISHED) {
            c->fault_cause = cause;
            c->fault_pc = c->fault_addr = facet_tile_pc(c, c->ip);
            c->r.status |= cause == FAULT_WATCHDOG ? (uint32_t)FACET_STATUS_WDT : 0;
            m->event_core = (uint8_t)c->id;
        }
    }
    facet_tile_publish_all(m);
    m->state = FACET_TILE_STATE_FAULTED;
}
