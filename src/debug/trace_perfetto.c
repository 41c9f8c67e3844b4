/* JSON trace events, as ui.perfetto.dev and chrome://tracing read them: a track per core with a
 * slice per step, a microsecond each, instants where it trapped; a track for each of its units with
 * an instant for what it did; slices of the commands of a queue; and jobs from their submission to
 * their end. The names of the tracks come first, so that a comma stands before every step. */
#include "debug/internal.h"

#include <string.h>

/* Units that tell something, and the machine that has them. */
static const struct {
    const char *machine, *unit;
} units[] = {{"xphmg", "xmem"},
             {"xphmg", "mtx"},
             {"xphmg", "rt"},
             {"xphmg", "gfx"},
             {"tile", "gfx"},
             {"gfx12", "ray"}};
enum { UNITS = sizeof units / sizeof units[0] };

/* Tracks, from 1: of each core, of its units, of the queue. Viewers keep 0 to themselves. */
static uint64_t track(const facet_machine *machine, uint32_t core, const char *unit)
{
    const uint64_t cores = facet_machine_core_count(machine);

    if (core == FACET_NONE) {
        return 1 + cores * (1 + UNITS);
    }
    for (uint32_t i = 0; i < UNITS && unit != NULL; i++) {
        if (strcmp(units[i].unit, unit) == 0 &&
            strcmp(units[i].machine, facet_machine_kind_name(machine)) == 0) {
            return 1 + cores + (uint64_t)core * UNITS + i;
        }
    }
    return (uint64_t)core + 1;
}

static void put_name(struct facet_strbuf *out, uint64_t tid, const char *core, const char *unit)
{
    facet_strbuf_printf(out,
                        ",\n{\"ph\":\"M\",\"cat\":\"__metadata\",\"ts\":0,\"pid\":1,\"tid\":%llu,"
                        "\"name\":\"thread_name\","
                        "\"args\":{\"name\":\"%s%s%s\"}}",
                        (unsigned long long)tid,
                        core,
                        core[0] != '\0' && unit[0] != '\0' ? " " : "",
                        unit);
}

static void put_head(const facet_machine *machine, struct facet_strbuf *out)
{
    const char *kind = facet_machine_kind_name(machine);

    facet_strbuf_printf(out,
                        "{\"traceEvents\":[\n{\"ph\":\"M\",\"cat\":\"__metadata\",\"ts\":0,\"pid\":"
                        "1,\"tid\":1,\"name\":\"process_"
                        "name\",\"args\":{\"name\":\"%s\"}}",
                        kind);
    if (strcmp(kind, "tile") == 0) {
        put_name(out, track(machine, FACET_NONE, NULL), "", "queue");
    }
    for (uint32_t i = 0; i < facet_machine_core_count(machine); i++) {
        const char *core = facet_machine_core(machine, i)->name;

        put_name(out, track(machine, i, NULL), core, "");
        for (unsigned k = 0; k < UNITS; k++) {
            if (strcmp(units[k].machine, kind) == 0) {
                put_name(out, track(machine, i, units[k].unit), core, units[k].unit);
            }
        }
    }
}

static void put_start(
    struct facet_strbuf *out, const char *phase, const char *category, uint64_t tid, uint64_t time)
{
    facet_strbuf_puts(out, ",\n{\"ph\":\"");
    facet_strbuf_puts(out, phase);
    facet_strbuf_puts(out, "\",\"cat\":\"");
    facet_strbuf_puts(out, category);
    facet_strbuf_puts(out, "\",\"pid\":1,\"tid\":");
    facet_trace_number(out, tid);
    facet_strbuf_puts(out, ",\"ts\":");
    facet_trace_number(out, time);
}

enum { VALUES = 6 };

static void put_values(struct facet_strbuf *out, const struct facet_unit_event *event)
{
    static const char *const numbers[VALUES] = {"0", "1", "2", "3", "4", "5"};
    static const char *const of_command[VALUES] = {
        "status", "flags", "slot", "arg0", "arg1", "arg2"};
    const char *const *names = event->core == FACET_NONE ? of_command : numbers;

    facet_strbuf_puts(out, ",\"args\":{");
    for (uint32_t i = 0; i < event->count && i < VALUES; i++) {
        facet_strbuf_printf(out,
                            "%s\"%s\":\"0x%llx\"",
                            i > 0 ? "," : "",
                            names[i],
                            (unsigned long long)event->values[i]);
    }
    facet_strbuf_puts(out, "}}");
}

/* "b" where a job is submitted, "e" where it ends; "": the event is another one. */
static const char *job_phase(const struct facet_unit_event *event)
{
    return event->count == 0                    ? ""
           : strcmp(event->what, "submit") == 0 ? "b"
           : strcmp(event->what, "start") == 0  ? "n"
           : strcmp(event->what, "done") == 0   ? "e"
                                                : "";
}

static void put_unit(struct facet_strbuf *out,
                     const struct facet_unit_event *event,
                     const struct facet_trace_step *step)
{
    const uint64_t tid = track(step->machine, event->core, event->unit);
    const char *job = job_phase(event);

    if (job[0] != '\0') {
        put_start(out, job, event->unit, tid, step->number);
        facet_strbuf_printf(out,
                            ",\"id\":\"%u %s 0x%llx\",\"name\":\"%s job 0x%llx\"",
                            (unsigned)event->core,
                            event->unit,
                            (unsigned long long)event->values[0],
                            event->unit,
                            (unsigned long long)event->values[0]);
    } else {
        put_start(out, "i\",\"s\":\"t", event->unit, tid, step->number);
        facet_strbuf_printf(out, ",\"name\":\"%s %s\"", event->unit, event->what);
    }
    put_values(out, event);
}

/* A command lasts from the end of the one before; of several between two steps all but the first
 * last no step. */
static void put_command(struct facet_strbuf *out,
                        const struct facet_unit_event *event,
                        uint64_t tid,
                        uint64_t from,
                        uint64_t to)
{
    put_start(out, "X", "queue", tid, from);
    facet_strbuf_puts(out, ",\"dur\":");
    facet_trace_number(out, to - from);
    facet_strbuf_printf(out, ",\"name\":\"%s\"", event->what);
    put_values(out, event);
}

static void put_units(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    uint64_t from = step->queue;

    for (size_t i = 0; i < step->count; i++) {
        const struct facet_unit_event *event = &step->items[i].u.unit;

        if (step->items[i].kind != FACET_ITEM_UNIT) {
            continue;
        }
        if (event->core == FACET_NONE) {
            put_command(out, event, track(step->machine, FACET_NONE, NULL), from, step->number);
            from = step->number;
        } else {
            put_unit(out, event, step);
        }
    }
}

static void put_step(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    size_t length = 0;

    while (step->text[length] != ' ' && step->text[length] != '\0') {
        length++;
    }
    put_start(out, "X", "step", track(step->machine, step->core, NULL), step->number);
    facet_strbuf_puts(out, ",\"dur\":1,\"name\":\"");
    facet_strbuf_add(out, length > 0 ? step->text : "?", length > 0 ? length : 1);
    facet_strbuf_puts(out, "\",\"args\":{\"pc\":\"0x");
    facet_trace_hex(out, (struct facet_value){step->pc, 0}, 1);
    facet_strbuf_puts(out, "\",\"insn\":\"");
    facet_strbuf_puts(out, step->text);
    facet_strbuf_puts(out, "\"}}");
    if (step->trap != NULL) {
        put_start(
            out, "i\",\"s\":\"t", "trap", track(step->machine, step->core, NULL), step->number);
        facet_strbuf_puts(out,
                          step->trap->interrupt ? ",\"name\":\"interrupt " : ",\"name\":\"trap ");
        facet_trace_number(out, step->trap->cause & ~(UINT64_C(1) << 63));
        facet_strbuf_puts(out, "\",\"args\":{\"value\":\"0x");
        facet_trace_hex(out, (struct facet_value){step->trap->value, 0}, 1);
        facet_strbuf_puts(out, "\"}}");
    }
    put_units(step, out);
}

const struct facet_trace_form facet_trace_form_perfetto = {
    .text = true, .head = put_head, .step = put_step, .rest = put_units, .tail = "\n]}\n"};
