/* See engine.h. */
#include "timing/engine.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 1 << 14, WINDOW_LEAST = 256 }; /* how many are known, and cycles */
enum { QUEUED = 1 << 14, QUEUED_LEAST = 64 };   /* steps of all cores; of each, at least */

const char *timing_reason_name(enum timing_reason reason)
{
    static const char *const names[TIMING_REASONS] = {"issue",
                                                      "dependency",
                                                      "unit",
                                                      "memory latency",
                                                      "outstanding lines",
                                                      "memory bandwidth",
                                                      "taken branches",
                                                      "draws",
                                                      "between tiles"};

    return names[reason];
}

const char *timing_stage_name(enum timing_stage stage)
{
    static const char *const names[TIMING_STAGES] = {
        "geometry", "setup", "pixels", "texels", "memory bandwidth", "memory latency"};

    return names[stage];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Cycles in which memory moves a line. */
static uint64_t transfer(const struct timing_model *model, enum facet_isa isa)
{
    return timing_at_rate(timing_part(model, isa, TIMING_PART_LINE),
                          timing_part(model, isa, TIMING_PART_BANDWIDTH));
}

struct timing_draw timing_draw_of(const struct timing_model *model, const struct timing_work *work)
{
    struct timing_draw draw = {
        .stage = {work->vertices * model->value[TIMING_TILE_VERTEX][0],
                  work->triangles * model->value[TIMING_TILE_SETUP][0],
                  timing_at_rate(work->pixels, model->value[TIMING_TILE_PIXELS][0]),
                  timing_at_rate(work->texels, model->value[TIMING_TILE_TEXELS][0]),
                  work->lines * transfer(model, FACET_ISA_TILE),
                  work->lines != 0 ? timing_part(model, FACET_ISA_TILE, TIMING_PART_LATENCY) : 0}};

    for (unsigned i = 0; i < TIMING_ANSWER; i++) {
        draw.limit = draw.stage[i] > draw.stage[draw.limit] ? (enum timing_stage)i : draw.limit;
    }
    draw.cycles = draw.stage[draw.limit] + draw.stage[TIMING_ANSWER];
    if (draw.stage[TIMING_ANSWER] > draw.stage[draw.limit]) {
        draw.limit = TIMING_ANSWER;
    }
    return draw;
}

/* ---- life ---- */

bool timing_engine_make(struct timing_engine *engine,
                        const struct timing_model *model,
                        enum facet_isa isa,
                        uint32_t core_count,
                        uint32_t reg_count)
{
    bool good;

    *engine = (struct timing_engine){
        .model = model, .isa = isa, .core_count = core_count, .reg_count = reg_count};
    engine->capacity = QUEUED / core_count > QUEUED_LEAST ? QUEUED / core_count : QUEUED_LEAST;
    engine->run = 1;
    engine->windows = calloc(WINDOWS, sizeof *engine->windows);
    engine->cores = calloc(core_count, sizeof *engine->cores);
    good = engine->windows != NULL && engine->cores != NULL;
    for (uint32_t i = 0; good && i < core_count; i++) {
        struct timing_core *c = &engine->cores[i];

        c->reg = calloc(reg_count + 1, sizeof *c->reg);
        c->queue = calloc(engine->capacity, sizeof *c->queue);
        good = c->reg != NULL && c->queue != NULL;
    }
    return good;
}

void timing_engine_free(struct timing_engine *engine)
{
    for (uint32_t i = 0; engine->cores != NULL && i < engine->core_count; i++) {
        free(engine->cores[i].reg);
        free(engine->cores[i].queue);
    }
    free(engine->cores);
    free(engine->windows);
    *engine = (struct timing_engine){.cores = NULL};
}

void timing_engine_reset(struct timing_engine *engine)
{
    for (uint32_t i = 0; i < engine->core_count; i++) {
        struct timing_core *c = &engine->cores[i];
        struct timing_result *reg = c->reg;
        struct timing_step *queue = c->queue;

        memset(reg, 0, engine->reg_count * sizeof *reg);
        *c = (struct timing_core){.reg = reg, .queue = queue};
    }
    engine->run++;
    engine->memory_last = engine->memory_busy = engine->raster_next = engine->raster_busy = 0;
}

/* ---- when a step can issue ---- */

/* *latest becomes `other` if that is later. */
static void wait_for(struct timing_result *latest, struct timing_result other)
{
    if (other.at > latest->at) {
        *latest = other;
    }
}

static uint64_t earliest(const struct timing_engine *e, const struct timing_core *c)
{
    return c->next + (c->between ? e->model->value[TIMING_TILE_START][0] : 0);
}

/* The line whose place the next fetch takes. */
static const struct timing_result *place_of_next(const struct timing_engine *e,
                                                 const struct timing_core *c)
{
    static const struct timing_result free_place = {0};
    const uint32_t places = timing_part(e->model, e->isa, TIMING_PART_OUTSTANDING);

    return c->fills >= places ? &c->fill[(c->fills - places) % TIMING_FILLS] : &free_place;
}

static struct timing_result
issue_time(const struct timing_engine *e, const struct timing_core *c, const struct timing_step *s)
{
    struct timing_result t = {earliest(e, c), 0, TIMING_ISSUE};
    const uint32_t depth = e->model->value[s->cls][TIMING_DEPTH];
    const uint64_t count = c->count[s->cls];
    const uint32_t places = timing_part(e->model, e->isa, TIMING_PART_OUTSTANDING);

    for (unsigned i = 0; i < s->read_count; i++) {
        wait_for(&t, c->reg[s->reads[i]]);
    }
    for (unsigned i = 0; i < s->write_count; i++) { /* results come in order */
        wait_for(&t, c->reg[s->writes[i]]);
    }
    wait_for(&t, (struct timing_result){c->unit_next[s->cls], 0, TIMING_UNIT});
    if (depth != 0 && count >= depth) {
        wait_for(&t,
                 (struct timing_result){
                     c->done[s->cls][(count - depth) % TIMING_DEPTH_MAX], 0, TIMING_UNIT});
    }
    if (s->misses != 0) {
        struct timing_result place = *place_of_next(e, c);

        place.reason = TIMING_OUTSTANDING;
        wait_for(&t, place);
    }
    if (s->barrier) {
        wait_for(&t, c->last);
    } else if (s->written != 0 && c->backs >= places) {
        wait_for(&t,
                 (struct timing_result){
                     c->back[(c->backs - places) % TIMING_DEPTH_MAX], 0, TIMING_BANDWIDTH});
    }
    return t;
}

/* ---- what a step does ---- */

/* Cycles between `from` and what was waited for. */
static void charge(struct timing_core *c, uint32_t cls, uint64_t from, struct timing_result to)
{
    const uint64_t cycles = to.at - from;
    const uint64_t queued = to.queued < cycles ? to.queued : cycles;

    c->cycles[TIMING_BANDWIDTH] += queued;
    c->cycles[to.reason] += cycles - queued;
    c->unit_wait[cls] += to.reason == TIMING_UNIT ? cycles - queued : 0;
}

static struct timing_window *window(struct timing_engine *e, uint64_t number)
{
    struct timing_window *w = &e->windows[number % WINDOWS];
    const uint64_t tag = e->run << 44 | number;

    if (w->tag != tag) {
        *w = (struct timing_window){.tag = tag};
    }
    return w;
}

/* Memory moves a line, not before `at`; returns when it begins. */
static uint64_t move_line(struct timing_engine *e, uint64_t at)
{
    const uint64_t cycles = transfer(e->model, e->isa);
    const uint64_t length = larger(cycles, WINDOW_LEAST);
    uint64_t number = at / length, start, end;

    for (;;
         number++) { /* to a window with room, and none in the one behind that it would disturb */
        end = (number + 1) * length;
        start = larger(at, larger(window(e, number)->next, number * length));
        if (start + cycles <= end || (start < end && window(e, number + 1)->next <= end)) {
            break;
        }
    }
    window(e, number)->next = start + cycles;
    if (start + cycles > end) {
        window(e, number + 1)->next = start + cycles;
    }
    e->memory_last = larger(e->memory_last, start + cycles);
    e->memory_busy += cycles;
    return start;
}

/* A line of an instruction that issues at `at` and can ask for it from `from` on. Memory's time is
 * taken at once, so that nothing later is reserved before others have asked. */
static struct timing_result fetch(struct timing_engine *e, uint64_t at, uint64_t from)
{
    const uint64_t start = move_line(e, at), begin = larger(start, from);

    return (struct timing_result){.at = begin + transfer(e->model, e->isa) +
                                        timing_part(e->model, e->isa, TIMING_PART_LATENCY),
                                  .queued = begin - from,
                                  .reason = TIMING_MEMORY};
}

static struct timing_result access_memory(struct timing_engine *e,
                                          struct timing_core *c,
                                          const struct timing_step *s,
                                          uint64_t at)
{
    const uint32_t *numbers = e->model->value[s->cls];
    const uint64_t more = s->lines > 1 ? s->lines - 1 : 0;
    struct timing_result done = {
        at + numbers[TIMING_LATENCY] + more * numbers[TIMING_INTERVAL], 0, TIMING_DEPENDENCY};

    for (uint32_t i = 0; i < s->misses; i++) {
        const uint64_t place = place_of_next(e, c)->at;

        c->fill[c->fills++ % TIMING_FILLS] = fetch(e, at, larger(at, place));
    }
    if (s->fill != 0 && c->fills - s->fill < TIMING_FILLS) {
        wait_for(&done, c->fill[(s->fill - 1) % TIMING_FILLS]);
    }
    return done;
}

static struct timing_result
access_uncached(struct timing_engine *e, const struct timing_step *s, uint64_t at)
{
    struct timing_result done = {at, 0, TIMING_MEMORY};

    for (uint32_t i = 0; i < s->lines; i++) {
        const struct timing_result line = fetch(e, at, done.at);

        done.at = line.at;
        done.queued += line.queued;
    }
    done.at += e->model->value[s->cls][TIMING_LATENCY];
    return done;
}

static struct timing_result give_draw(struct timing_engine *e, uint64_t cycles, uint64_t at)
{
    e->raster_next = larger(at, e->raster_next) + cycles;
    e->raster_busy += cycles;
    return (struct timing_result){e->raster_next, 0, TIMING_DRAW};
}

/* Lines go back to memory. A barrier waits for them; else as many as may be outstanding do so on
 * their own. */
static void
send_back(struct timing_engine *e, struct timing_core *c, const struct timing_step *s, uint64_t at)
{
    uint64_t gone = 0;

    for (uint64_t i = 0; i < s->written; i++) {
        at = move_line(e, at);
        gone = at + transfer(e->model, e->isa);
        if (!s->barrier) {
            c->back[c->backs++ % TIMING_DEPTH_MAX] = gone;
        }
    }
    if (s->barrier && gone > c->next) {
        c->cycles[TIMING_BANDWIDTH] += gone - c->next;
        c->next = gone;
    }
}

/* The step issues at `t`. */
static void take(struct timing_engine *e,
                 struct timing_core *c,
                 const struct timing_step *s,
                 struct timing_result t)
{
    const uint32_t *numbers = e->model->value[s->cls];
    const uint64_t from = earliest(e, c);
    struct timing_result done, all;

    c->cycles[TIMING_BETWEEN] += from - c->next;
    charge(c, s->cls, from, t);
    c->next = t.at + timing_part(e->model, e->isa, TIMING_PART_ISSUE);
    c->cycles[TIMING_ISSUE] += c->next - t.at;
    done = s->uncached ? access_uncached(e, s, t.at) : access_memory(e, c, s, t.at);
    for (unsigned i = 0; i < s->write_count; i++) {
        c->reg[s->writes[i]] = done;
    }
    all = s->draw != 0 ? give_draw(e, s->draw, t.at) : done;
    wait_for(&c->last, all);
    c->unit_next[s->cls] =
        t.at + numbers[TIMING_INTERVAL] * (s->lines > 1 ? (uint64_t)s->lines : 1);
    c->busy[s->cls] += c->unit_next[s->cls] - t.at;
    c->done[s->cls][c->count[s->cls]++ % TIMING_DEPTH_MAX] = all.at;
    send_back(e, c, s, t.at);
    if (s->taken) {
        c->cycles[TIMING_BRANCH] += timing_part(e->model, e->isa, TIMING_PART_TAKEN);
        c->next += timing_part(e->model, e->isa, TIMING_PART_TAKEN);
    }
    c->between = s->ends;
}

/* ---- the order of the cores ---- */

/* The core whose next step issues first; the lower number among equals. NULL: nothing is queued. */
static struct timing_core *first_core(struct timing_engine *e)
{
    struct timing_core *first = NULL;

    for (uint32_t i = 0; i < e->core_count; i++) {
        struct timing_core *c = &e->cores[i];

        if (c->queued == 0) {
            continue;
        }
        if (!c->known) {
            c->start = issue_time(e, c, &c->queue[c->first]);
            c->known = true;
        }
        if (first == NULL || c->start.at < first->start.at) {
            first = c;
        }
    }
    return first;
}

static void tell_spent(const struct timing_engine *e, const struct timing_core *c, uint64_t cycles)
{
    if (e->spent != NULL && cycles != 0) {
        e->spent(e->spent_context, (uint32_t)(c - e->cores), c->pc, cycles);
    }
}

static void take_first(struct timing_engine *e, struct timing_core *c)
{
    const uint64_t before = c->next;

    c->pc = c->queue[c->first].pc;
    take(e, c, &c->queue[c->first], c->start);
    tell_spent(e, c, c->next - before);
    c->first = (c->first + 1) % e->capacity;
    c->queued--;
    c->known = false;
}

void timing_engine_push(struct timing_engine *engine, uint32_t core, const struct timing_step *step)
{
    struct timing_core *c = &engine->cores[core];

    while (c->queued == engine->capacity) {
        take_first(engine, first_core(engine));
    }
    c->queue[(c->first + c->queued++) % engine->capacity] = *step;
}

/* ---- results ---- */

static void
report_core(const struct timing_engine *e, struct timing_core *c, struct timing_core_report *out)
{
    *out = (struct timing_core_report){0};
    if (c->last.at > c->next) { /* the last results */
        tell_spent(e, c, c->last.at - c->next);
        charge(c, 0, c->next, c->last);
        c->next = c->last.at;
    }
    memcpy(out->reason, c->cycles, sizeof out->reason);
    memcpy(out->busy, c->busy, sizeof out->busy);
    memcpy(out->count, c->count, sizeof out->count);
    out->cycles = c->next;
    for (uint32_t i = 0; i < TIMING_REASONS; i++) {
        out->limit = out->reason[i] > out->reason[out->limit] ? (enum timing_reason)i : out->limit;
    }
    for (uint32_t i = 0; i < TIMING_CLASSES; i++) {
        out->instructions += out->count[i];
        out->unit = c->unit_wait[i] > c->unit_wait[out->unit] ? i : out->unit;
    }
}

struct timing_report timing_engine_finish(struct timing_engine *engine,
                                          struct timing_core_report *cores)
{
    struct timing_report report;
    struct timing_core *first;

    while ((first = first_core(engine)) != NULL) {
        take_first(engine, first);
    }
    report = (struct timing_report){.memory_busy = engine->memory_busy,
                                    .raster_busy = engine->raster_busy};
    for (uint32_t i = 0; i < engine->core_count; i++) {
        report_core(engine, &engine->cores[i], &cores[i]);
        if (cores[i].cycles > cores[report.critical].cycles) {
            report.critical = i;
        }
    }
    report.cycles = larger(cores[report.critical].cycles, engine->memory_last);
    return report;
}
