/* JSON trace events, as ui.perfetto.dev and chrome://tracing read them: a track per core with a
 * slice per step, a microsecond each, instants where it trapped, and instants for what units did.
 * The names of the tracks come first, so that a comma stands before every step. */
#include "debug/internal.h"

static void put_head(const facet_machine *machine, struct facet_strbuf *out)
{
    facet_strbuf_printf(out,
                        "{\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_"
                        "name\",\"args\":{\"name\":\"%s\"}}",
                        facet_machine_kind_name(machine));
    for (uint32_t i = 0; i < facet_machine_core_count(machine); i++) {
        facet_strbuf_printf(out,
                            ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\","
                            "\"args\":{\"name\":\"%s\"}}",
                            (unsigned)i + 1,
                            facet_machine_core(machine, i)->name);
    }
}

static void put_start(struct facet_strbuf *out, const char *phase, uint32_t core, uint64_t time)
{
    facet_strbuf_puts(out, ",\n{\"ph\":\"");
    facet_strbuf_puts(out, phase);
    facet_strbuf_puts(out, "\",\"pid\":1,\"tid\":");
    facet_trace_number(out, core == FACET_NONE ? 0 : (uint64_t)core + 1);
    facet_strbuf_puts(out, ",\"ts\":");
    facet_trace_number(out, time);
}

static void put_unit(struct facet_strbuf *out, const struct facet_unit_event *event, uint64_t time)
{
    put_start(out, "i\",\"s\":\"t", event->core, time);
    facet_strbuf_printf(out,
                        ",\"cat\":\"%s\",\"name\":\"%s %s\",\"args\":{",
                        event->unit,
                        event->unit,
                        event->what);
    for (uint32_t i = 0; i < event->count && i < 6; i++) {
        facet_strbuf_printf(out,
                            "%s\"%u\":\"0x%llx\"",
                            i > 0 ? "," : "",
                            (unsigned)i,
                            (unsigned long long)event->values[i]);
    }
    facet_strbuf_puts(out, "}}");
}

static void put_units(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    for (size_t i = 0; i < step->count; i++) {
        if (step->items[i].kind == FACET_ITEM_UNIT) {
            put_unit(out, &step->items[i].u.unit, step->number);
        }
    }
}

static void put_step(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    size_t length = 0;

    while (step->text[length] != ' ' && step->text[length] != '\0') {
        length++;
    }
    put_start(out, "X", step->core, step->number);
    facet_strbuf_puts(out, ",\"dur\":1,\"name\":\"");
    facet_strbuf_add(out, length > 0 ? step->text : "?", length > 0 ? length : 1);
    facet_strbuf_puts(out, "\",\"args\":{\"pc\":\"0x");
    facet_trace_hex(out, (struct facet_value){step->pc, 0}, 1);
    facet_strbuf_puts(out, "\",\"insn\":\"");
    facet_strbuf_puts(out, step->text);
    facet_strbuf_puts(out, "\"}}");
    if (step->trap != NULL) {
        put_start(out, "i\",\"s\":\"t", step->core, step->number);
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
