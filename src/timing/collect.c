/* See collect.h. What a step reads of registers, its row says; what it writes, the machine reports
 * before the step retires, and so its accesses to memory. Caches hold tags here, so which access
 * misses does not depend on time. */
#include "timing/collect.h"
#include "timing/cache.h"

#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "tile/tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a row means for a step; made when the row is first met. */
struct decoded {
    bool known, barrier, ends, uncached;
    uint32_t cls;
    uint8_t read_count;
    const struct facet_operand *reads[TIMING_READS];
};

/* An access to memory. */
struct seen {
    uint64_t address;
    uint32_t space, size;
    bool write;
};

enum { SEEN = 64 }; /* more than an instruction of the tile machine makes */

/* What a core did since its last step. */
struct pending {
    struct timing_step step; /* writes, lines, misses, written, fill */
    uint64_t last_line;      /* plus 1; 0: none yet */
    /* The tile machine: kept until it is known whether they go past the caches. */
    struct seen seen[SEEN];
    uint32_t seen_count;
};

struct core_caches {
    struct timing_cache data, texture;
    uint64_t fills; /* lines that were fetched */
};

enum { FILES = 4 }; /* x, f of the hart; s, f, v of the tile machine: at most 32 registers each */

struct timing_collector {
    struct facet_observer observer;
    facet_machine *machine;
    enum facet_isa isa;
    struct timing_model model;
    struct timing_engine engine;
    struct decoded *rows;
    struct pending *pending;
    struct core_caches *caches;
    uint16_t reg[FILES][32];
    bool stepped; /* since the last segment */
    /* The raster unit. */
    bool watched;
    struct facet_tile_watch watch;
    struct timing_cache pixels, texels;
    struct timing_work work;
    bool depth_told; /* the pixel whose depth was touched last is counted */
    uint64_t depth_line;
    /* Results. */
    struct timing_segment *segments;
    size_t count, capacity;
    uint64_t commands;
    bool failed;
};

static uint64_t line_of(const timing_collector *c, uint64_t address)
{
    return address / timing_part(&c->model, c->isa, TIMING_PART_LINE);
}

/* ---- registers ---- */

enum { FILE_X, FILE_F, FILE_S = FILE_X, FILE_V = 2 };

static void find_registers(timing_collector *c)
{
    static const char letters[FACET_ISA_COUNT][FILES] = {
        [FACET_ISA_XPHMG] = "xf", [FACET_ISA_TILE] = "sfv"};

    for (unsigned file = 0; file < FILES; file++) {
        for (unsigned i = 0; i < 32; i++) {
            char name[8] = "";
            uint32_t index;

            (void)snprintf(name, sizeof name, "%c%u", letters[c->isa][file], i);
            index = facet_machine_find_reg(c->machine, 0, name);
            c->reg[file][i] = index < UINT16_MAX ? (uint16_t)index : UINT16_MAX;
        }
    }
}

/* UINT16_MAX for what is not a register that can be waited for. */
static uint16_t
register_of(const timing_collector *c, const struct facet_operand *operand, uint32_t word)
{
    const uint32_t number = (uint32_t)facet_operand_get(operand, word) & 31;

    switch (operand->kind) {
    case FACET_OPERAND_XREG:
    case FACET_OPERAND_XFREG:
        return number != 0 ? c->reg[FILE_X][number] : UINT16_MAX;
    case FACET_OPERAND_SREG:
        return number != 0 ? c->reg[FILE_S][number] : UINT16_MAX;
    case FACET_OPERAND_XREG_C:
        return c->reg[FILE_X][(number + 8) & 31];
    case FACET_OPERAND_SP:
        return c->reg[FILE_X][2];
    case FACET_OPERAND_FREG:
    case FACET_OPERAND_TFREG:
        return c->reg[FILE_F][number];
    case FACET_OPERAND_FREG_C:
        return c->reg[FILE_F][(number + 8) & 31];
    case FACET_OPERAND_VREG:
        return number != 0 ? c->reg[FILE_V][number] : UINT16_MAX;
    default:
        return UINT16_MAX;
    }
}

/* ---- rows ---- */

static bool is_register(const struct facet_operand *operand)
{
    return operand->kind <= FACET_OPERAND_VREG || operand->kind == FACET_OPERAND_SP;
}

static bool is_barrier(const struct facet_insn_row *row)
{
    return strcmp(row->mnemonic, "MEMBAR") == 0 || strcmp(row->mnemonic, "EXIT") == 0 ||
           strcmp(row->mnemonic, "fence") == 0 || strcmp(row->mnemonic, "fence.i") == 0 ||
           strncmp(row->mnemonic, "xfence.", 7) == 0 || strcmp(row->mnemonic, "GFX.FENCE") == 0;
}

static const struct decoded *decode(timing_collector *c, const struct facet_insn_row *row)
{
    struct decoded *d = &c->rows[row->id];

    if (d->known) {
        return d;
    }
    *d = (struct decoded){.known = true,
                          .barrier = is_barrier(row),
                          .ends = c->isa == FACET_ISA_TILE && row->id == FACET_TILE_EXIT,
                          .cls = timing_class_of(c->isa, row->mnemonic, row->extension)};
    d->uncached = d->cls == TIMING_TILE_ATOMIC;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];

        if (is_register(o) && facet_operand_is_read(row, o) && d->read_count < TIMING_READS) {
            d->reads[d->read_count++] = o;
        }
    }
    return d;
}

/* ---- memory ---- */

/* A line of a core's cache is read or written. Nothing is fetched to be written: the machine keeps
 * track of bytes. */
static void use_line(struct core_caches *caches,
                     struct timing_cache *cache,
                     struct pending *p,
                     uint64_t line,
                     bool write)
{
    struct timing_access access;

    if (p->last_line == line + 1 && p->step.lines != 0) { /* goes along with the one before */
        (void)timing_cache_use(cache, line, write);
        return;
    }
    p->last_line = line + 1;
    p->step.lines++;
    access = timing_cache_use(cache, line, write);
    p->step.written += access.written_back;
    if (!access.hit && !write) {
        p->step.misses++;
        access.line->fill = ++caches->fills;
    }
    if (!write && access.line->fill > p->step.fill) {
        p->step.fill = access.line->fill;
    }
}

static void
use_memory(const timing_collector *c, struct core_caches *caches, struct pending *p, struct seen a)
{
    if (a.space != 0) { /* scratch */
        p->step.lines++;
        p->last_line = 0;
        return;
    }
    for (uint64_t line = line_of(c, a.address); line <= line_of(c, a.address + a.size - 1);
         line++) {
        use_line(caches, &caches->data, p, line, a.write);
    }
}

static void hear_memory(void *context, const struct facet_memory_event *event)
{
    timing_collector *c = context;
    const struct seen access = {event->address, event->space, event->size, event->write};
    struct pending *p;

    if (event->core >= c->engine.core_count) {
        return;
    }
    p = &c->pending[event->core];
    if (c->isa == FACET_ISA_TILE && p->seen_count < SEEN) {
        p->seen[p->seen_count++] = access;
    } else {
        use_memory(c, &c->caches[event->core], p, access);
    }
}

/* The accesses of a step whose instruction is known by now. An atomic reads and writes each lane in
 * memory: a line for each that it reads. */
static void settle_memory(const timing_collector *c, struct core_caches *caches, struct pending *p)
{
    for (uint32_t i = 0; i < p->seen_count; i++) {
        if (!p->step.uncached) {
            use_memory(c, caches, p, p->seen[i]);
        } else {
            p->step.lines += !p->seen[i].write;
        }
    }
}

/* ---- the raster unit ---- */

static void
use_unit_line(timing_collector *c, struct timing_cache *cache, uint64_t line, bool read, bool write)
{
    struct timing_access access = timing_cache_use(cache, line, write);

    c->work.lines += access.written_back + (uint64_t)(!access.hit && read);
}

/* A pixel: its depth comes first, then its colour if it passed, and then its depth is written. */
static void use_pixel(timing_collector *c, enum facet_raster_use use, uint64_t address)
{
    if (use == FACET_RASTER_USE_DEPTH) {
        c->depth_line = line_of(c, address);
    } else if (c->depth_told) {
        use_unit_line(c, &c->pixels, c->depth_line, false, true);
    }
    c->work.pixels += use == FACET_RASTER_USE_DEPTH || !c->depth_told;
    c->depth_told = use == FACET_RASTER_USE_DEPTH;
}

static void hear_touch(void *context, enum facet_raster_use use, uint32_t offset, uint32_t size)
{
    timing_collector *c = context;
    const uint64_t address = (uint64_t)FACET_TILE_VRAM_BASE + offset;
    const uint32_t core = facet_tile_stepping(c->machine);
    const bool colour = use == FACET_RASTER_USE_COLOR || use == FACET_RASTER_USE_BLEND;
    const bool pixel = colour || use == FACET_RASTER_USE_DEPTH;

    for (uint64_t line = line_of(c, address); line <= line_of(c, address + size - 1); line++) {
        if (use == FACET_RASTER_USE_SAMPLE && core < c->engine.core_count) {
            use_line(&c->caches[core], &c->caches[core].texture, &c->pending[core], line, false);
        } else {
            use_unit_line(
                c, pixel ? &c->pixels : &c->texels, line, use != FACET_RASTER_USE_COLOR, colour);
        }
    }
    c->work.vertices += use == FACET_RASTER_USE_VERTEX;
    c->work.texels += use == FACET_RASTER_USE_TEXEL;
    if (pixel) {
        use_pixel(c, use, address);
    }
}

static void hear_triangle(void *context)
{
    timing_collector *c = context;

    c->work.triangles++;
}

/* The work since the last time; what was drawn goes to memory. */
static struct timing_work take_work(timing_collector *c)
{
    struct timing_work work = c->work;

    if (work.pixels != 0) {
        work.lines += timing_cache_clear(&c->pixels);
    }
    c->work = (struct timing_work){0};
    c->depth_told = false;
    return work;
}

/* ---- steps ---- */

static void hear_reg(void *context, const struct facet_reg_event *event)
{
    timing_collector *c = context;
    struct timing_step *s;

    if (event->core >= c->engine.core_count) {
        return;
    }
    s = &c->pending[event->core].step;
    if (s->write_count < TIMING_WRITES && event->index < c->engine.reg_count) {
        s->writes[s->write_count++] = (uint16_t)event->index;
    }
}

static void hear_trap(void *context, const struct facet_trap_event *event)
{
    timing_collector *c = context;
    struct pending *p;

    if (event->core < c->engine.core_count) {
        /* The instruction did not retire; lines that it fetched are there all the same. */
        p = &c->pending[event->core];
        p->step = (struct timing_step){.misses = p->step.misses, .written = p->step.written};
        p->last_line = p->seen_count = 0;
    }
}

/* Everything that the core has stored becomes seen, and what it has read is forgotten. */
static uint64_t publish(timing_collector *c, uint32_t core)
{
    (void)timing_cache_clear(&c->caches[core].texture);
    return timing_cache_clear(&c->caches[core].data);
}

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    timing_collector *c = context;
    const struct facet_insn_row *row = facet_isa_decode(c->isa, event->word);
    struct pending *p = &c->pending[event->core];
    struct timing_step *s = &p->step;
    const struct decoded *d;

    if (row == NULL) {
        return;
    }
    d = decode(c, row);
    s->pc = event->pc;
    s->cls = d->cls;
    s->barrier = d->barrier;
    s->ends = d->ends;
    s->uncached = d->uncached;
    s->taken = event->next_pc != event->pc + event->length && !d->ends;
    for (unsigned i = 0; i < d->read_count; i++) {
        const uint16_t reg = register_of(c, d->reads[i], event->word);

        if (reg < c->engine.reg_count) {
            s->reads[s->read_count++] = reg;
        }
    }
    settle_memory(c, &c->caches[event->core], p);
    if (s->barrier && c->isa == FACET_ISA_TILE) {
        s->written += publish(c, event->core);
    }
    if (s->cls == TIMING_TILE_GRAPHICS) {
        const struct timing_work work = take_work(c);

        s->draw = timing_draw_of(&c->model, &work).cycles;
    }
    timing_engine_push(&c->engine, event->core, s);
    c->stepped = true;
    *s = (struct timing_step){0};
    p->last_line = p->seen_count = 0;
}

/* ---- segments ---- */

static struct timing_segment *add_segment(timing_collector *c)
{
    if (c->count == c->capacity) {
        const size_t capacity = c->capacity != 0 ? 2 * c->capacity : 16;
        struct timing_segment *more = realloc(c->segments, capacity * sizeof *more);

        if (more == NULL) {
            c->failed = true;
            return NULL;
        }
        c->segments = more;
        c->capacity = capacity;
    }
    c->segments[c->count] = (struct timing_segment){.name = NULL};
    return &c->segments[c->count++];
}

/* Cores begin anew: caches are empty, nothing is under way. */
static void take_cores(timing_collector *c, struct timing_segment *segment)
{
    segment->cores = calloc(c->engine.core_count, sizeof *segment->cores);
    if (segment->cores != NULL) {
        segment->report = timing_engine_finish(&c->engine, segment->cores);
        segment->cycles += segment->report.cycles;
    } else {
        c->failed = true;
    }
    timing_engine_reset(&c->engine);
    for (uint32_t i = 0; i < c->engine.core_count; i++) {
        (void)publish(c, i);
        c->caches[i].fills = 0;
    }
    c->stepped = false;
}

static void hear_unit(void *context, const struct facet_unit_event *event)
{
    timing_collector *c = context;
    struct timing_segment *segment;

    if (c->isa != FACET_ISA_TILE || event->core != FACET_NONE ||
        strcmp(event->unit, "queue") != 0) {
        return;
    }
    segment = add_segment(c);
    if (segment == NULL) {
        return;
    }
    segment->name = event->what;
    segment->command = c->commands++;
    segment->work = take_work(c);
    segment->draw = timing_draw_of(&c->model, &segment->work);
    segment->cycles = segment->draw.cycles + c->model.value[TIMING_TILE_COMMAND][0];
    if (c->stepped) {
        take_cores(c, segment);
    }
}

/* ---- life ---- */

static bool make_caches(timing_collector *c)
{
    const bool tile = c->isa == FACET_ISA_TILE;
    bool good = true;

    for (uint32_t i = 0; good && i < c->engine.core_count; i++) {
        good = timing_cache_make(&c->caches[i].data,
                                 timing_part(&c->model, c->isa, TIMING_PART_DATA_SETS),
                                 timing_part(&c->model, c->isa, TIMING_PART_DATA_WAYS)) &&
               timing_cache_make(&c->caches[i].texture,
                                 tile ? c->model.value[TIMING_TILE_TEXTURE_SETS][0] : 1,
                                 tile ? c->model.value[TIMING_TILE_TEXTURE_WAYS][0] : 1);
    }
    return good &&
           timing_cache_make(&c->pixels,
                             c->model.value[TIMING_TILE_RASTER_SETS][0],
                             c->model.value[TIMING_TILE_RASTER_WAYS][0]) &&
           timing_cache_make(&c->texels,
                             c->model.value[TIMING_TILE_RASTER_SETS][0],
                             c->model.value[TIMING_TILE_RASTER_WAYS][0]);
}

timing_collector *timing_collector_create(facet_machine *machine,
                                          enum facet_isa isa,
                                          const struct timing_model *model)
{
    const uint32_t cores = facet_machine_core_count(machine);
    timing_collector *c = calloc(1, sizeof *c);

    if (c == NULL) {
        return NULL;
    }
    c->machine = machine;
    c->isa = isa;
    c->model = *model;
    c->rows = calloc(facet_isa_row_count[isa], sizeof *c->rows);
    c->pending = calloc(cores, sizeof *c->pending);
    c->caches = calloc(cores, sizeof *c->caches);
    if (c->rows == NULL || c->pending == NULL || c->caches == NULL ||
        !timing_engine_make(
            &c->engine, &c->model, isa, cores, facet_machine_core(machine, 0)->reg_count) ||
        !make_caches(c)) {
        timing_collector_free(c);
        return NULL;
    }
    find_registers(c);
    c->observer = (struct facet_observer){.context = c,
                                          .retire = hear_retire,
                                          .reg_write = hear_reg,
                                          .memory = hear_memory,
                                          .trap = hear_trap,
                                          .unit = hear_unit};
    if (isa == FACET_ISA_TILE) {
        facet_tile_watch(
            machine, &c->watch, (struct facet_raster_watch){c, hear_touch, hear_triangle});
        c->watched = true;
    }
    return c;
}

const struct facet_observer *timing_collector_observer(const timing_collector *collector)
{
    return &collector->observer;
}

void timing_collector_tell(timing_collector *collector, timing_spent_fn *spent, void *context)
{
    collector->engine.spent = spent;
    collector->engine.spent_context = context;
}

bool timing_collector_stop(timing_collector *c)
{
    struct timing_segment *segment;

    if (c->watched) {
        facet_tile_unwatch(c->machine, &c->watch);
        c->watched = false;
    }
    if (c->stepped && (segment = add_segment(c)) != NULL) {
        take_cores(c, segment);
    }
    return !c->failed;
}

void timing_collector_free(timing_collector *c)
{
    if (c == NULL) {
        return;
    }
    if (c->watched) {
        facet_tile_unwatch(c->machine, &c->watch);
    }
    for (uint32_t i = 0; c->caches != NULL && i < c->engine.core_count; i++) {
        timing_cache_free(&c->caches[i].data);
        timing_cache_free(&c->caches[i].texture);
    }
    for (size_t i = 0; i < c->count; i++) {
        free(c->segments[i].cores);
    }
    timing_cache_free(&c->pixels);
    timing_cache_free(&c->texels);
    timing_engine_free(&c->engine);
    free(c->segments);
    free(c->caches);
    free(c->pending);
    free(c->rows);
    free(c);
}

const struct timing_segment *timing_collector_segments(const timing_collector *collector,
                                                       size_t *count)
{
    *count = collector->count;
    return collector->segments;
}

const struct timing_model *timing_collector_model(const timing_collector *collector)
{
    return &collector->model;
}

enum facet_isa timing_collector_isa(const timing_collector *collector)
{
    return collector->isa;
}

uint32_t timing_collector_cores(const timing_collector *collector)
{
    return collector->engine.core_count;
}
