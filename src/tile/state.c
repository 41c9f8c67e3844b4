/* Saving and loading the machine: all state beside the memory spaces (machine/state.h). Caches are
 * saved line by line in rising order, without lines that hold nothing, so that equal states give
 * equal bytes. */
#include "tile/system.h"
#include "tile/told.h"

#include <stdlib.h>
#include <string.h>

/* ---- one core ---- */

static void visit_regs(struct facet_tile_regs *r, struct facet_state_io *io)
{
    facet_state_u32s(io, r->s + 1, 31);
    facet_state_u16s(io, r->f, 32);
    facet_state_u64s(io, (uint64_t *)&r->v[1], 2 * 31);
    facet_state_u32(io, &r->status);
    facet_state_u32(io, &r->vstatus);
    facet_state_u32(io, &r->config);
    facet_state_require(io, r->config <= 0x3FF && (r->config & 7) <= 4, "config");
    facet_state_u32(io, &r->vstride);
    facet_state_u32(io, &r->fflags);
    facet_state_require(io, r->fflags <= 0x1F, "fstatus");
    facet_state_u32(io, &r->int_mask);
    facet_state_u32(io, &r->int_status);
    facet_state_require(io, r->int_mask <= 7 && r->int_status <= 7, "interrupt bits");
    facet_state_u32(io, &r->gerror);
}

/* What is saved of a core; `pc` stands for ip and page. */
static void visit_core(struct facet_tile_core *c, uint32_t *pc, struct facet_state_io *io)
{
    facet_state_tag(io, "core");
    visit_regs(&c->r, io);
    facet_state_u32(io, pc);
    facet_state_require(io, *pc % 4 == 0, "pc");
    facet_state_u64(io, &c->instret);
    facet_state_u32s(io, c->perf, FACET_TILE_CLASS_OTHER);
    facet_state_u32(io, &c->fault_cause);
    facet_state_u32(io, &c->fault_pc);
    facet_state_u32(io, &c->fault_addr);
    facet_state_u32(io, &c->tile_offset);
    facet_state_u8(io, &c->state);
    facet_state_require(io, c->state <= FACET_TILE_CORE_EXITED, "state of a core");
    facet_state_u64(io, &c->next_tile);
    facet_state_u32(io, &c->tiles);
    facet_tile_told_visit(&c->told, io);
}

/* Slots that were never loaded hold zeros, which are not saved: there are 16 of each kind, and most
 * kernels use none. */
static void
visit_slots(uint32_t *slots, size_t words_of_one, uint16_t loaded, struct facet_state_io *io)
{
    for (unsigned i = 0; i < FACET_RASTER_SLOTS; i++) {
        if ((loaded >> i & 1) != 0) {
            facet_state_u32s(io, slots + i * words_of_one, words_of_one);
        }
    }
}

static void visit_context(struct facet_raster_context *g, struct facet_state_io *io)
{
    if (io->loading) {
        facet_raster_reset(g);
    }
    facet_state_tag(io, "loaded gfx");
    for (unsigned i = 0; i < FACET_RASTER_KINDS; i++) {
        facet_state_u16(io, &g->valid[i]);
        facet_state_u8(io, &g->current[i]);
        facet_state_u8(io, &g->next[i]);
    }
    visit_slots(g->rstate[0], FACET_TILE_RSTATE_WORDS, g->valid[FACET_RASTER_RSTATE], io);
    visit_slots(g->gstate[0], FACET_TILE_GSTATE_WORDS, g->valid[FACET_RASTER_GSTATE], io);
    visit_slots(g->normal[0], FACET_TILE_NORMAL_MATRIX_WORDS, g->valid[FACET_RASTER_GSTATE], io);
    visit_slots(g->plane[0], FACET_TILE_PLANE_WORDS, g->valid[FACET_RASTER_GSTATE], io);
    visit_slots(g->gparam[0], FACET_TILE_GPARAM_WORDS, g->valid[FACET_RASTER_GPARAM], io);
    facet_state_u32s(io, g->setup, sizeof g->setup / 4);
    facet_state_u32(io, &g->token);
    facet_state_u8(io, &g->has_setup);
    facet_state_require(io, facet_raster_context_valid(g), "graphics context");
}

/* ---- caches ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* A sorted copy of the lines that hold something; NULL when `count` is 0 or memory is short. */
static uint32_t *
sorted_lines(const uint32_t *lines, uint32_t count, const uint64_t *valid, uint32_t *kept)
{
    uint32_t *copy = count != 0 ? malloc((size_t)count * sizeof *copy) : NULL;

    *kept = 0;
    for (uint32_t i = 0; copy != NULL && i < count; i++) {
        if (valid == NULL || valid[lines[i]] != 0) {
            copy[(*kept)++] = lines[i];
        }
    }
    if (copy != NULL) {
        qsort(copy, *kept, sizeof *copy, by_number);
    }
    return copy;
}

static void save_cache(const struct facet_tile_cache *cache, struct facet_state_io *io)
{
    uint32_t lines, texels;
    uint32_t *line = sorted_lines(cache->lines, cache->line_count, cache->valid, &lines);
    uint32_t *texel = sorted_lines(cache->texels, cache->texel_count, NULL, &texels);

    facet_state_tag(io, "cache");
    if ((line == NULL && cache->line_count != 0) || (texel == NULL && cache->texel_count != 0)) {
        io->out->failed = true; /* as any allocation of the saver */
        free(line);
        free(texel);
        return;
    }
    facet_state_u32(io, &lines);
    for (uint32_t i = 0; i < lines; i++) {
        uint8_t bytes[64];

        facet_state_u32(io, &line[i]);
        facet_state_u64(io, &cache->valid[line[i]]);
        facet_state_u64(io, &cache->dirty[line[i]]);
        for (unsigned k = 0; k < 64; k++) {
            bytes[k] =
                (cache->valid[line[i]] >> k & 1) != 0 ? cache->data[(size_t)line[i] * 64 + k] : 0;
        }
        facet_state_bytes(io, bytes, sizeof bytes);
    }
    facet_state_u32(io, &texels);
    for (uint32_t i = 0; i < texels; i++) {
        facet_state_u32(io, &texel[i]);
        facet_state_bytes(io, cache->texture + (size_t)texel[i] * 64, 64);
    }
    free(line);
    free(texel);
}

/* Loaded twice: first to check, without a cache, then into it. */
static void load_cache(struct facet_tile_cache *cache, uint32_t limit, struct facet_state_io *io)
{
    uint32_t count = 0, line = 0, previous = 0;

    facet_state_tag(io, "cache");
    facet_state_u32(io, &count);
    facet_state_require(io, count <= limit, "number of cached lines");
    for (uint32_t i = 0; i < count && !io->failed; i++, previous = line) {
        uint64_t valid = 0, dirty = 0;
        uint8_t bytes[64] = {0};

        facet_state_u32(io, &line);
        facet_state_u64(io, &valid);
        facet_state_u64(io, &dirty);
        facet_state_bytes(io, bytes, sizeof bytes);
        facet_state_require(
            io, line < limit && (i == 0 || line > previous), "cached lines in rising order");
        facet_state_require(io, valid != 0 && (dirty & ~valid) == 0, "masks of a cached line");
        if (cache != NULL && !io->failed) {
            facet_tile_cache_list_store(cache, line);
            memcpy(cache->data + (size_t)line * 64, bytes, sizeof bytes);
            cache->valid[line] = valid;
            cache->dirty[line] = dirty;
        }
    }
    count = 0;
    facet_state_u32(io, &count);
    facet_state_require(io, count <= limit, "number of texture lines");
    for (uint32_t i = 0; i < count && !io->failed; i++, previous = line) {
        uint8_t bytes[64] = {0};

        facet_state_u32(io, &line);
        facet_state_bytes(io, bytes, sizeof bytes);
        facet_state_require(
            io, line < limit && (i == 0 || line > previous), "texture lines in rising order");
        if (cache != NULL && !io->failed) {
            const uint8_t *from = bytes;

            (void)facet_tile_cache_texels(cache, from - (size_t)line * 64, line);
        }
    }
}

/* ---- the machine ---- */

static void visit_packet(struct facet_tile_packet *p, struct facet_state_io *io)
{
    facet_state_u32(io, &p->pc);
    facet_state_u32(io, &p->columns);
    facet_state_u32(io, &p->rows);
    facet_state_u32(io, &p->tile_width);
    facet_state_u32(io, &p->tile_height);
    facet_state_u32(io, &p->arg_base);
    facet_state_u32(io, &p->arg_size);
    facet_state_u32(io, &p->shared_size);
    facet_state_u32(io, &p->priority);
    facet_state_u32(io, &p->core_mask);
    facet_state_u32(io, &p->const_base);
    facet_state_u32(io, &p->const_size);
    facet_state_u32(io, &p->watchdog);
}

static bool same_config(const struct facet_tile_config *a, const struct facet_tile_config *b)
{
    return a->vram == b->vram && a->strong == b->strong && a->random == b->random &&
           a->quantum == b->quantum && a->seed == b->seed && a->poison == b->poison &&
           a->regs == b->regs;
}

static void visit_config(struct facet_tile_machine *m, struct facet_state_io *io)
{
    struct facet_tile_config c = m->config;

    facet_state_tag(io, "tile");
    facet_state_u32(io, &c.vram);
    facet_state_bool(io, &c.strong);
    facet_state_bool(io, &c.random);
    facet_state_u32(io, &c.seed);
    facet_state_u32(io, &c.quantum);
    facet_state_bool(io, &c.poison);
    facet_state_u32(io, &c.regs);
    facet_state_require(io, same_config(&c, &m->config), "a machine with other options");
    facet_state_u32(io, &m->config.watchdog);
    facet_state_require(io, m->config.watchdog != 0, "watchdog");
}

static void visit_schedule(struct facet_tile_machine *m, struct facet_state_io *io)
{
    facet_state_u8(io, &m->state);
    facet_state_require(io, m->state <= FACET_TILE_STATE_FAULTED, "state of the dispatch");
    facet_state_bool(io, &m->has_packet);
    visit_packet(&m->packet, io);
    facet_state_u64(io, &m->tile_count);
    facet_state_u32(io, &m->active_count);
    facet_state_require(io, m->active_count <= FACET_TILE_CORES, "number of active cores");
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        facet_state_u8(io, &m->active[i]);
        facet_state_require(io,
                            m->active[i] < FACET_TILE_CORES &&
                                (i == 0 || i >= m->active_count || m->active[i] > m->active[i - 1]),
                            "active cores");
    }
    facet_state_u64(io, &m->time);
    facet_state_u64(io, &m->limit);
    facet_state_u32(io, &m->slot);
    facet_state_u32(io, &m->left);
    facet_state_u32(io, &m->random);
    facet_state_u8(io, &m->event_core);
    facet_state_require(io, m->event_core < FACET_TILE_CORES, "core number");
}

/* A draw that was interrupted in the middle. */
static void visit_draw(struct facet_tile_machine *m, struct facet_state_io *io)
{
    struct facet_raster_part *p = &m->draw.part;

    facet_state_tag(io, "draw");
    facet_state_u8(io, &p->kind);
    if (p->kind == FACET_RASTER_PART_NONE) {
        return;
    }
    facet_state_u8(io, &m->draw_of);
    facet_state_u32(io, &m->draw_word);
    facet_state_u8(io, &p->code);
    facet_state_u32(io, &p->count);
    facet_state_u8(io, &p->bad_mem);
    facet_state_u32s(io, p->words, FACET_RASTER_DRAW_WORDS);
    facet_state_u32s(io, p->block, FACET_TILE_VERTEX_BLOCK_WORDS);
    facet_state_u32(io, &p->row);
    facet_state_u8(io, &p->bad_mem_told);
    facet_state_u8(io, &p->half);
    facet_state_u8(io, &p->fan);
    facet_state_u32(io, &p->element);
    facet_state_u64(io, &p->assembled);
    facet_state_u32s(io, p->corner[0], sizeof p->corner / 4);
    facet_state_require(io, facet_raster_part_valid(p), "part of a draw");
}

/* The core or queue that left a draw continues with it. */
static bool draw_consistent(const struct facet_tile_machine *m)
{
    if (m->draw.part.kind == FACET_RASTER_PART_NONE) {
        return true;
    }
    if (m->draw_of == FACET_TILE_OF_QUEUE) {
        return m->queue.phase == FACET_TILE_PHASE_DRAWS;
    }
    return m->draw_of < FACET_TILE_CORES && m->state == FACET_TILE_STATE_RUNNING &&
           m->core[m->draw_of].state == FACET_TILE_CORE_RUNS &&
           facet_tile_next_core(m) == m->draw_of && facet_tile_draw_word_good(m);
}

/* What the scheduler takes for granted while a dispatch is under way. */
static bool consistent(const struct facet_tile_machine *m)
{
    if (m->state == FACET_TILE_STATE_IDLE) {
        return true;
    }
    for (uint32_t i = 0; i < m->active_count; i++) {
        const struct facet_tile_core *c = &m->core[m->active[i]];

        if (c->state != FACET_TILE_CORE_FINISHED && c->next_tile >= m->tile_count) {
            return false;
        }
    }
    return m->active_count > 0 && facet_tile_check_packet(m, &m->packet, NULL) == FACET_OK &&
           m->tile_count == (uint64_t)m->packet.columns * m->packet.rows &&
           (m->state != FACET_TILE_STATE_RUNNING ||
            (m->slot < m->active_count && m->left < m->config.quantum && m->time < m->limit &&
             (!m->config.random || m->random != 0) && facet_tile_next_core(m) != FACET_NONE));
}

void facet_tile_save(const void *self, struct facet_state_io *io)
{
    struct facet_tile_machine *m = (struct facet_tile_machine *)self; /* saving changes nothing */

    visit_config(m, io);
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        uint32_t pc = facet_tile_pc(&m->core[i], m->core[i].ip);

        visit_core(&m->core[i], &pc, io);
        visit_context(&m->core[i].gfx, io);
    }
    visit_schedule(m, io);
    facet_tile_queue_visit(&m->queue, io);
    visit_context(&m->queue.gfx, io);
    visit_draw(m, io);
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        save_cache(&m->core[i].cache, io);
    }
}

void facet_tile_restore(void *self, struct facet_state_io *io)
{
    struct facet_tile_machine *m = self, *copy;
    uint32_t pc[FACET_TILE_CORES] = {0};
    struct facet_state_io caches;

    m->draft = m->draft != NULL ? m->draft : malloc(sizeof *m);
    copy = m->draft;
    facet_state_need(io, copy != NULL);
    if (copy == NULL) {
        return;
    }
    *copy = *m;
    copy->draw.part.kind = FACET_RASTER_PART_NONE;
    visit_config(copy, io);
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        visit_core(&copy->core[i], &pc[i], io);
        visit_context(&copy->core[i].gfx, io);
    }
    visit_schedule(copy, io);
    facet_state_require(io, io->failed || consistent(copy), "state of the dispatch");
    facet_tile_queue_visit(&copy->queue, io);
    visit_context(&copy->queue.gfx, io);
    facet_state_require(
        io, io->failed || facet_tile_queue_consistent(copy), "state of the command queue");
    visit_draw(copy, io);
    facet_state_require(io, io->failed || draw_consistent(copy), "owner of an interrupted draw");
    caches = *io;
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        load_cache(NULL, m->vram_size / 64, io);
    }
    if (facet_state_done(io)) {
        *m = *copy;
        for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
            struct facet_tile_core *c = &m->core[i];

            facet_tile_cache_clear(&c->cache);
            load_cache(&c->cache, m->vram_size / 64, &caches);
            facet_tile_set_config(c, c->r.config);
            c->r.s[0] = 0;
            facet_tile_set_pc(c, pc[i]);
        }
        /* Decoded code goes when the face says that all memory may have changed. */
    }
}
