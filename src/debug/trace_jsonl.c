/* A step as one JSON object on one line; the schema is in docs/trace.md. Numbers of 64 bits and
 * more are hexadecimal strings, so that no reader loses bits. */
#include "debug/internal.h"

/* "key":"0x..." with at least `digits` digits. */
static void
put_hex(struct facet_strbuf *out, const char *key, struct facet_value value, unsigned digits)
{
    facet_strbuf_putc(out, '"');
    facet_strbuf_puts(out, key);
    facet_strbuf_puts(out, "\":\"0x");
    facet_trace_hex(out, value, digits);
    facet_strbuf_putc(out, '"');
}

static void put_hex64(struct facet_strbuf *out, const char *key, uint64_t value)
{
    put_hex(out, key, (struct facet_value){value, 0}, 1);
}

static void put_change(struct facet_strbuf *out,
                       const char *kind,
                       const char *name,
                       const struct facet_reg_event *event)
{
    facet_strbuf_puts(out, kind);
    facet_strbuf_puts(out, name);
    facet_strbuf_puts(out, "\",");
    put_hex(out, "old", event->old_value, 1);
    facet_strbuf_putc(out, ',');
    put_hex(out, "new", event->new_value, 1);
    facet_strbuf_putc(out, '}');
}

static void put_memory(struct facet_strbuf *out, const struct facet_memory_event *event)
{
    put_hex64(out, event->write ? "store" : "load", event->address);
    facet_strbuf_puts(out, ",\"size\":");
    facet_trace_number(out, event->size);
    facet_strbuf_putc(out, ',');
    if (event->space != 0) {
        facet_strbuf_puts(out, "\"space\":");
        facet_trace_number(out, event->space);
        facet_strbuf_putc(out, ',');
    }
    if (event->write) {
        put_hex(out, "old", event->old_value, 1);
        facet_strbuf_putc(out, ',');
    }
    put_hex(out, event->write ? "new" : "value", event->value, 1);
    facet_strbuf_putc(out, '}');
}

static void put_unit(struct facet_strbuf *out, const struct facet_unit_event *event)
{
    facet_strbuf_printf(
        out, "\"unit\":\"%s\",\"what\":\"%s\",\"values\":[", event->unit, event->what);
    for (uint32_t i = 0; i < event->count && i < 6; i++) {
        facet_strbuf_printf(
            out, "%s\"0x%llx\"", i > 0 ? "," : "", (unsigned long long)event->values[i]);
    }
    facet_strbuf_puts(out, "]}");
}

static void put_header(const facet_machine *machine, struct facet_strbuf *out)
{
    facet_strbuf_printf(out,
                        "{\"facet_trace\":%d,\"machine\":\"%s\",\"cores\":[",
                        FACET_TRACE_VERSION,
                        facet_machine_kind_name(machine));
    for (uint32_t i = 0; i < facet_machine_core_count(machine); i++) {
        facet_strbuf_printf(
            out, "%s\"%s\"", i > 0 ? "," : "", facet_machine_core(machine, i)->name);
    }
    facet_strbuf_puts(out, "]}\n");
}

static void put_head(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    facet_strbuf_puts(out, "{\"step\":");
    facet_trace_number(out, step->number);
    facet_strbuf_puts(out, ",\"core\":");
    facet_trace_number(out, step->core);
    facet_strbuf_putc(out, ',');
    put_hex64(out, "pc", step->pc);
    if (step->length != 0) {
        facet_strbuf_putc(out, ',');
        put_hex(out,
                "word",
                (struct facet_value){step->word, 0},
                step->length < 4 ? step->length * 2 : 8);
        facet_strbuf_puts(out, ",\"insn\":\"");
        facet_strbuf_puts(out, step->text);
        facet_strbuf_putc(out, '"');
    }
    facet_strbuf_putc(out, ',');
    put_hex64(out, "next", step->next_pc);
    if (step->trap != NULL) {
        facet_strbuf_puts(out, ",\"trap\":{\"interrupt\":");
        facet_strbuf_puts(out, step->trap->interrupt ? "true" : "false");
        facet_strbuf_puts(out, ",\"cause\":");
        facet_trace_number(out, step->trap->cause & ~(UINT64_C(1) << 63));
        facet_strbuf_putc(out, ',');
        put_hex64(out, "value", step->trap->value);
        facet_strbuf_putc(out, '}');
    }
}

static uint32_t core_of(const struct facet_item *item)
{
    return item->kind == FACET_ITEM_MEMORY ? item->u.memory.core
           : item->kind == FACET_ITEM_UNIT ? item->u.unit.core
                                           : item->u.reg.core;
}

static void put_changes(const struct facet_trace_step *step,
                        const struct facet_core_desc *core,
                        struct facet_strbuf *out)
{
    facet_strbuf_puts(out, ",\"changes\":[");
    for (size_t i = 0; i < step->count; i++) {
        const struct facet_item *item = &step->items[i];

        if (i > 0) {
            facet_strbuf_putc(out, ',');
        }
        facet_strbuf_putc(out, '{');
        if (core_of(item) != step->core && core_of(item) != FACET_NONE) {
            facet_strbuf_puts(out, "\"core\":"); /* a job of another core completes */
            facet_trace_number(out, core_of(item));
            facet_strbuf_putc(out, ',');
        }
        switch (item->kind) {
        case FACET_ITEM_REG:
            put_change(out, "\"reg\":\"", core->regs[item->u.reg.index].name, &item->u.reg);
            break;
        case FACET_ITEM_CSR:
            put_change(out, "\"csr\":\"", core->csrs[item->u.reg.index].name, &item->u.reg);
            break;
        case FACET_ITEM_MEMORY:
            put_memory(out, &item->u.memory);
            break;
        default:
            put_unit(out, &item->u.unit);
            break;
        }
    }
    facet_strbuf_puts(out, "]}\n");
}

static void put_step(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    put_head(step, out);
    put_changes(step, facet_machine_core(step->machine, step->core), out);
}

static void put_rest(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    facet_strbuf_puts(out, "{\"step\":");
    facet_trace_number(out, step->number);
    put_changes(step, NULL, out);
}

const struct facet_trace_form facet_trace_form_jsonl = {
    .text = true, .head = put_header, .step = put_step, .rest = put_rest, .tail = ""};
