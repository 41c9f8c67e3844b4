/* See trace.h: gathers what a step did, filters, and hands it to the format. */
#include "debug/internal.h"
#include "debug/trace_last.h"

#include "base/array.h"
#include "base/bits.h"
#include "base/error.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

/* The text of a word does not depend on its address (targets are printed as `. + n`). */
enum { MEMO_BITS = 10, MEMO_SIZE = 1 << MEMO_BITS };
struct memo {
    uint32_t word;
    char text[FACET_TRACE_TEXT]; /* "": nothing here yet */
};

struct facet_tracer {
    const facet_machine *machine;
    struct facet_trace_options options;
    const struct facet_trace_form *form;
    struct facet_observer observer;
    struct facet_item *items;
    size_t count;
    size_t capacity;
    bool failed;
    bool started;  /* the trigger has fired, or there is none */
    bool stopped;  /* the other one */
    uint64_t hits; /* steps at the address of the trigger that comes next */
    struct facet_trace_last kept;
    uint64_t step;
    uint64_t lines;
    uint64_t last;            /* number of the step that was written last */
    uint64_t queue[2];        /* steps before which commands ended: the last two that differ */
    uint32_t priv, priv_core; /* register `priv` of the core that was looked at last */
    struct facet_strbuf line;
    struct memo memo[MEMO_SIZE];
};

void facet_trace_number(struct facet_strbuf *out, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;

    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    facet_strbuf_add(out, text + at, sizeof text - at);
}

void facet_trace_hex(struct facet_strbuf *out, struct facet_value value, unsigned digits)
{
    char text[32];
    size_t at = sizeof text;

    do {
        text[--at] = "0123456789abcdef"[value.lo & 15];
        value.lo = value.lo >> 4 | value.hi << 60;
        value.hi >>= 4;
    } while (value.lo != 0 || value.hi != 0 || sizeof text - at < digits);
    facet_strbuf_add(out, text + at, sizeof text - at);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Case never matters in mnemonics: rows of the tile machine, GFX and MTX are printed in capitals.
 */
bool facet_trace_matches(const char *pattern, const char *text, size_t length)
{
    const char *star = NULL;
    size_t at = 0, back = 0;

    while (at < length) {
        if (*pattern == '*') {
            star = pattern++;
            back = at;
        } else if (*pattern != '\0' && (*pattern == '?' || lower(*pattern) == lower(text[at]))) {
            pattern++;
            at++;
        } else if (star != NULL) { /* the star takes one more */
            pattern = star + 1;
            at = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

static void add(facet_tracer *t, const struct facet_item *item)
{
    if (!facet_array_fit(&t->items, &t->capacity, t->count + 1, sizeof *t->items)) {
        t->failed = true;
        return;
    }
    t->items[t->count++] = *item;
}

static void hear_reg(void *context, const struct facet_reg_event *event)
{
    add(context, &(struct facet_item){FACET_ITEM_REG, {.reg = *event}});
}

static void hear_csr(void *context, const struct facet_reg_event *event)
{
    add(context, &(struct facet_item){FACET_ITEM_CSR, {.reg = *event}});
}

static void hear_memory(void *context, const struct facet_memory_event *event)
{
    add(context, &(struct facet_item){FACET_ITEM_MEMORY, {.memory = *event}});
}

static void hear_unit(void *context, const struct facet_unit_event *event)
{
    facet_tracer *t = context;

    if (event->core == FACET_NONE && t->queue[1] != t->step) {
        t->queue[0] = t->queue[1];
        t->queue[1] = t->step;
    }
    add(t, &(struct facet_item){FACET_ITEM_UNIT, {.unit = *event}});
}

static bool right_core(const struct facet_trace_options *o, uint32_t core)
{
    return (o->core == FACET_ANY_CORE || core == o->core) &&
           (o->only == NULL || facet_trace_filter_core(o->only, core));
}

/* Whether the step is the one that a trigger waits for. */
static bool fires(facet_tracer *t,
                  const struct facet_trace_trigger *trigger,
                  const struct facet_trace_step *step)
{
    if (trigger->count == 0 || step->pc != trigger->pc || !right_core(&t->options, step->core) ||
        ++t->hits < trigger->count) {
        return false;
    }
    t->hits = 0;
    return true;
}

/* Looks at each step once. Whether it is between the triggers, whose steps belong to it. */
static bool between(facet_tracer *t, const struct facet_trace_step *step)
{
    bool inside;

    t->started = t->started || fires(t, &t->options.start, step);
    inside = t->started && !facet_tracer_done(t);
    t->stopped = t->stopped || (inside && fires(t, &t->options.stop, step));
    return inside;
}

static bool wanted(const facet_tracer *t, const struct facet_trace_step *step)
{
    const struct facet_trace_options *o = &t->options;

    return step->number - o->first_step >= o->skip && right_core(o, step->core) &&
           !(step->trap != NULL && t->form->skips_traps) && step->pc >= o->first_pc &&
           (o->last_pc == 0 || step->pc <= o->last_pc) &&
           (o->only == NULL || facet_trace_filter_keeps(o->only, o->isa, !o->by_machine, step)) &&
           (o->insn == NULL || facet_trace_matches(o->insn, step->text, strcspn(step->text, " ")));
}

static const char *disassemble(facet_tracer *t, const struct facet_trace_step *step)
{
    struct memo *memo = &t->memo[(step->word * UINT32_C(0x9E3779B1)) >> (32 - MEMO_BITS)];

    if (step->length == 0 || (!t->form->text && t->options.insn == NULL)) {
        return ""; /* nobody asks for it */
    }
    if (t->options.by_machine) {
        (void)facet_machine_disassemble(
            t->machine, step->core, step->pc, memo->text, sizeof memo->text, NULL);
    } else if (memo->word != step->word || memo->text[0] == '\0') {
        memo->word = step->word;
        (void)facet_isa_print(
            t->options.isa, step->word, step->pc, NULL, memo->text, sizeof memo->text);
    }
    return memo->text;
}

/* Looked up by name once, not for each line. */
static uint32_t priv_of(facet_tracer *t, uint32_t core)
{
    if (t->priv_core != core) {
        t->priv_core = core;
        t->priv = facet_machine_find_reg(t->machine, core, "priv");
    }
    return t->priv;
}

/* Before the step: the old value where it changed, else what it is now. */
static uint64_t privilege(facet_tracer *t, const struct facet_trace_step *step)
{
    struct facet_value value = {3, 0};
    uint32_t priv = priv_of(t, step->core);

    for (size_t i = 0; i < step->count; i++) {
        if (step->items[i].kind == FACET_ITEM_REG && step->items[i].u.reg.index == priv) {
            return step->items[i].u.reg.old_value.lo;
        }
    }
    (void)facet_machine_reg_read(step->machine, step->core, priv, &value, NULL);
    return value.lo;
}

static void write_step(facet_tracer *t, struct facet_trace_step *step)
{
    facet_strbuf_clear(&t->line);
    step->index = t->lines;
    step->since = step->number - t->last;
    t->form->step(step, &t->line);
    t->failed = t->failed || t->line.failed;
    t->options.write(t->options.context, facet_strbuf_text(&t->line), t->line.length);
    t->lines++;
    t->last = step->number;
}

static void finish(facet_tracer *t, struct facet_trace_step *step)
{
    step->number = t->step++;
    if (between(t, step)) {
        step->machine = t->machine;
        step->queue = t->queue[0];
        step->text = disassemble(t, step);
        step->items = t->items;
        step->count = t->count;
        if (wanted(t, step)) {
            if (t->form->priv) {
                step->priv = privilege(t, step);
            }
            if (t->kept.size == 0) {
                write_step(t, step);
            } else if (!facet_trace_last_put(&t->kept, step)) {
                t->failed = true;
            }
        }
    }
    t->count = 0;
}

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    struct facet_trace_step step = {.core = event->core,
                                    .pc = event->pc,
                                    .next_pc = event->next_pc,
                                    .word = event->word,
                                    .length = event->length};

    finish(context, &step);
}

static void hear_trap(void *context, const struct facet_trap_event *event)
{
    facet_tracer *t = context;
    struct facet_trace_step step = {
        .core = event->core, .pc = event->pc, .next_pc = event->handler, .trap = event};
    uint8_t bytes[4] = {0};

    /* The instruction that trapped, as far as it can be read; an interrupt has none. */
    if (t->options.by_machine) {
        (void)facet_machine_disassemble(t->machine, event->core, event->pc, NULL, 0, &step.length);
        (void)facet_machine_read(t->machine, 0, event->pc, bytes, 4, NULL);
        step.word = facet_load_le32(bytes);
    } else if (!event->interrupt &&
               facet_machine_read(t->machine, 0, event->pc, bytes, 2, NULL) == FACET_OK) {
        step.length = facet_isa_length(t->options.isa, (uint16_t)facet_load_le(bytes, 2));
        if (step.length == 4 &&
            facet_machine_read(t->machine, 0, event->pc, bytes, 4, NULL) != FACET_OK) {
            step.length = 0;
        }
        step.word = (uint32_t)facet_load_le(bytes, step.length == 4 ? 4 : 2);
    }
    finish(t, &step);
}

static const struct facet_trace_form *const forms[] = {
    [FACET_TRACE_JSONL] = &facet_trace_form_jsonl,
    [FACET_TRACE_SPIKE] = &facet_trace_form_spike,
    [FACET_TRACE_SPIKE_TRAPS] = &facet_trace_form_spike_traps,
    [FACET_TRACE_PERFETTO] = &facet_trace_form_perfetto,
    [FACET_TRACE_VCD] = &facet_trace_form_vcd,
    [FACET_TRACE_KONATA] = &facet_trace_form_konata,
};

enum facet_status facet_tracer_create(const facet_machine *machine,
                                      const struct facet_trace_options *options,
                                      facet_tracer **out,
                                      struct facet_error *err)
{
    facet_tracer *t = calloc(1, sizeof *t);

    *out = NULL;
    if (t == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a trace");
    }
    t->machine = machine;
    t->options = *options;
    t->form = forms[options->format];
    t->step = t->queue[0] = t->queue[1] = options->first_step;
    t->priv_core = FACET_NONE;
    t->started = options->start.count == 0;
    t->observer = (struct facet_observer){
        t, hear_retire, hear_reg, hear_csr, hear_memory, hear_trap, hear_unit};
    facet_strbuf_init(&t->line);
    if (options->last_lines != 0 && !facet_trace_last_init(&t->kept, options->last_lines)) {
        free(t);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a trace of the last steps");
    }
    if (t->form->head != NULL) {
        t->form->head(machine, &t->line);
        t->failed = t->line.failed;
        options->write(options->context, facet_strbuf_text(&t->line), t->line.length);
    }
    *out = t;
    return FACET_OK;
}

/* Commands of a queue that no step has followed. Any filter is one of steps, and leaves them out.
 */
static void write_rest(facet_tracer *t)
{
    const struct facet_trace_options *o = &t->options;
    size_t count = 0;

    if (t->form->rest == NULL || !t->started || facet_tracer_done(t) || o->only != NULL ||
        o->insn != NULL || o->core != FACET_ANY_CORE || o->first_pc != 0 || o->last_pc != 0) {
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (t->items[i].kind == FACET_ITEM_UNIT && t->items[i].u.unit.core == FACET_NONE) {
            t->items[count++] = t->items[i];
        }
    }
    if (count != 0) {
        struct facet_trace_step step = {.machine = t->machine,
                                        .number = t->step,
                                        .core = FACET_NONE,
                                        .queue = t->queue[0],
                                        .items = t->items,
                                        .count = count};

        facet_strbuf_clear(&t->line);
        t->form->rest(&step, &t->line);
        t->failed = t->failed || t->line.failed;
        t->options.write(t->options.context, facet_strbuf_text(&t->line), t->line.length);
    }
    t->count = 0;
}

void facet_tracer_finish(facet_tracer *t)
{
    struct facet_trace_step *step;

    for (size_t i = 0; (step = facet_trace_last_at(&t->kept, i)) != NULL; i++) {
        write_step(t, step);
    }
    write_rest(t);
    if (t->form->tail[0] != '\0') {
        t->options.write(t->options.context, t->form->tail, strlen(t->form->tail));
    }
}

void facet_tracer_destroy(facet_tracer *t)
{
    if (t != NULL) {
        facet_trace_last_free(&t->kept);
        facet_strbuf_free(&t->line);
        free(t->items);
        free(t);
    }
}

const struct facet_observer *facet_tracer_observer(const facet_tracer *t)
{
    return &t->observer;
}

bool facet_tracer_done(const facet_tracer *t)
{
    return t->stopped || (t->options.max_lines != 0 && t->lines >= t->options.max_lines);
}

bool facet_tracer_failed(const facet_tracer *t)
{
    return t->failed;
}
