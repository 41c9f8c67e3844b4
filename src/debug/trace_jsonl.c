/* A step as one JSON object on one line; the schema is in docs/trace.md. Numbers of 64 bits and
 * more are hexadecimal strings, so that no reader loses bits. */
#include "debug/internal.h"

#include <inttypes.h>

static void put_hex(struct facet_strbuf *out, const char *key, struct facet_value value)
{
    if (value.hi != 0) {
        facet_strbuf_printf(out, "\"%s\":\"0x%" PRIx64 "%016" PRIx64 "\"", key, value.hi, value.lo);
    } else {
        facet_strbuf_printf(out, "\"%s\":\"0x%" PRIx64 "\"", key, value.lo);
    }
}

static void put_change(struct facet_strbuf *out,
                       const char *kind,
                       const char *name,
                       const struct facet_reg_event *event)
{
    facet_strbuf_printf(out, "{\"%s\":\"%s\",", kind, name);
    put_hex(out, "old", event->old_value);
    facet_strbuf_putc(out, ',');
    put_hex(out, "new", event->new_value);
    facet_strbuf_putc(out, '}');
}

static void put_memory(struct facet_strbuf *out, const struct facet_memory_event *event)
{
    facet_strbuf_printf(out,
                        "{\"%s\":\"0x%" PRIx64 "\",\"size\":%u,",
                        event->write ? "store" : "load",
                        event->address,
                        event->size);
    if (event->space != 0) {
        facet_strbuf_printf(out, "\"space\":%u,", event->space);
    }
    if (event->write) {
        put_hex(out, "old", event->old_value);
        facet_strbuf_putc(out, ',');
    }
    put_hex(out, event->write ? "new" : "value", event->value);
    facet_strbuf_putc(out, '}');
}

static void put_unit(struct facet_strbuf *out, const struct facet_unit_event *event)
{
    facet_strbuf_printf(
        out, "{\"unit\":\"%s\",\"what\":\"%s\",\"values\":[", event->unit, event->what);
    for (uint32_t i = 0; i < event->count && i < 6; i++) {
        facet_strbuf_printf(out, "%s\"0x%" PRIx64 "\"", i > 0 ? "," : "", event->values[i]);
    }
    facet_strbuf_puts(out, "]}");
}

void facet_trace_jsonl_head(const facet_machine *machine, struct facet_strbuf *out)
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

void facet_trace_jsonl(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    const struct facet_core_desc *core = facet_machine_core(step->machine, step->core);

    facet_strbuf_printf(out,
                        "{\"step\":%" PRIu64 ",\"core\":%u,\"pc\":\"0x%" PRIx64 "\"",
                        step->number,
                        step->core,
                        step->pc);
    if (step->length != 0) {
        facet_strbuf_printf(out,
                            ",\"word\":\"0x%0*" PRIx32 "\",\"insn\":\"%s\"",
                            (int)step->length * 2,
                            step->length == 2 ? step->word & 0xFFFF : step->word,
                            step->text);
    }
    facet_strbuf_printf(out, ",\"next\":\"0x%" PRIx64 "\"", step->next_pc);
    if (step->trap != NULL) {
        facet_strbuf_printf(out,
                            ",\"trap\":{\"interrupt\":%s,\"cause\":%" PRIu64
                            ",\"value\":\"0x%" PRIx64 "\"}",
                            step->trap->interrupt ? "true" : "false",
                            step->trap->cause & ~(UINT64_C(1) << 63),
                            step->trap->value);
    }
    facet_strbuf_puts(out, ",\"changes\":[");
    for (size_t i = 0; i < step->count; i++) {
        const struct facet_item *item = &step->items[i];

        if (i > 0) {
            facet_strbuf_putc(out, ',');
        }
        switch (item->kind) {
        case FACET_ITEM_REG:
            put_change(out, "reg", core->regs[item->u.reg.index].name, &item->u.reg);
            break;
        case FACET_ITEM_CSR:
            put_change(out, "csr", core->csrs[item->u.reg.index].name, &item->u.reg);
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
