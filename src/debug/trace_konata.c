/* Kanata log, version 0004: a row per instruction, a cycle per step of the machine. The model knows
 * one stage of an instruction: X executes, M executes with accesses to memory, T traps, which the
 * viewer shows as flushed. Fields are separated by tabs, which no text here contains. */
#include "debug/internal.h"

static void put_head(const facet_machine *machine, struct facet_strbuf *out)
{
    (void)machine;
    facet_strbuf_puts(out, "Kanata\t0004\nC=\t0\n");
}

/* One letter, then the number of the row. */
static void put_row(struct facet_strbuf *out, const char *command, uint64_t row)
{
    facet_strbuf_puts(out, command);
    facet_trace_number(out, row);
}

static const char *stage_of(const struct facet_trace_step *step)
{
    for (size_t i = 0; i < step->count; i++) {
        if (step->items[i].kind == FACET_ITEM_MEMORY && step->trap == NULL) {
            return "M";
        }
    }
    return step->trap != NULL ? "T" : "X";
}

/* The stage ends when the next cycle begins. */
static void put_step(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    uint64_t row = step->index;
    const char *stage = stage_of(step);

    if (row == 0 ? step->since > 0 : step->since > 1) {
        put_row(out, "C\t", row == 0 ? step->since : step->since - 1);
        facet_strbuf_putc(out, '\n');
    }
    put_row(out, "I\t", row);
    put_row(out, "\t", step->number);
    put_row(out, "\t", step->core);
    put_row(out, "\nL\t", row);
    facet_strbuf_puts(out, "\t0\t");
    facet_trace_hex(out, (struct facet_value){step->pc, 0}, 8);
    facet_strbuf_puts(out, ": ");
    facet_strbuf_puts(out, step->length != 0 ? step->text : "no instruction");
    put_row(out, "\nS\t", row);
    facet_strbuf_puts(out, "\t0\t");
    facet_strbuf_puts(out, stage);
    put_row(out, "\nC\t", 1);
    put_row(out, "\nE\t", row);
    facet_strbuf_puts(out, "\t0\t");
    facet_strbuf_puts(out, stage);
    put_row(out, "\nR\t", row);
    put_row(out, "\t", row);
    facet_strbuf_puts(out, step->trap != NULL ? "\t1\n" : "\t0\n");
}

const struct facet_trace_form facet_trace_form_konata = {
    .text = true, .head = put_head, .step = put_step, .tail = ""};
