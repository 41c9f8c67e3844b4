/* Value changes (IEEE 1364, 18): a nanosecond per step, a scope per core with pc, word and trap,
 * its registers, and its CSRs in a scope of their own. A value is x until the trace has seen it
 * written. Dots in names would be levels of scopes, hence underscores. */
#include "debug/internal.h"

enum { PC, WORD, TRAP, OWN, DIGITS = 94, FIRST_DIGIT = 33 };

/* Variables of the cores before this one. */
static uint64_t first_of(const facet_machine *machine, uint32_t core)
{
    uint64_t first = 0;

    for (uint32_t i = 0; i < core; i++) {
        const struct facet_core_desc *desc = facet_machine_core(machine, i);

        first += OWN + desc->reg_count + desc->csr_count;
    }
    return first;
}

static void put_id(struct facet_strbuf *out, uint64_t variable)
{
    do {
        facet_strbuf_putc(out, (char)(FIRST_DIGIT + variable % DIGITS));
        variable /= DIGITS;
    } while (variable != 0);
}

static void put_var(struct facet_strbuf *out, unsigned width, uint64_t variable, const char *name)
{
    facet_strbuf_printf(out, "$var reg %u ", width);
    put_id(out, variable);
    facet_strbuf_putc(out, ' ');
    for (; *name != '\0'; name++) {
        facet_strbuf_putc(out, *name == '.' ? '_' : *name);
    }
    facet_strbuf_puts(out, " $end\n");
}

static void put_core(struct facet_strbuf *out, const struct facet_core_desc *core, uint64_t first)
{
    facet_strbuf_printf(out, "$scope module %s $end\n", core->name);
    put_var(out, 64, first + PC, "step_pc");
    put_var(out, 32, first + WORD, "step_word");
    put_var(out, 1, first + TRAP, "step_traps");
    for (uint32_t i = 0; i < core->reg_count; i++) {
        put_var(out, core->regs[i].width, first + OWN + i, core->regs[i].name);
    }
    facet_strbuf_puts(out, "$scope module csr $end\n");
    for (uint32_t i = 0; i < core->csr_count; i++) {
        put_var(out, 64, first + OWN + core->reg_count + i, core->csrs[i].name);
    }
    facet_strbuf_puts(out, "$upscope $end\n$upscope $end\n");
}

static void put_head(const facet_machine *machine, struct facet_strbuf *out)
{
    uint32_t cores = facet_machine_core_count(machine);

    facet_strbuf_printf(out,
                        "$version facet $end\n$timescale 1 ns $end\n$scope module %s $end\n",
                        facet_machine_kind_name(machine));
    for (uint32_t i = 0; i < cores; i++) {
        put_core(out, facet_machine_core(machine, i), first_of(machine, i));
    }
    facet_strbuf_puts(out, "$upscope $end\n$enddefinitions $end\n");
}

/* Leading zeros are left out. */
static void put_bits(struct facet_strbuf *out, struct facet_value value, uint64_t variable)
{
    char text[128];
    size_t at = sizeof text;

    do {
        text[--at] = (char)('0' + (value.lo & 1));
        value.lo = value.lo >> 1 | value.hi << 63;
        value.hi >>= 1;
    } while (value.lo != 0 || value.hi != 0);
    facet_strbuf_putc(out, 'b');
    facet_strbuf_add(out, text + at, sizeof text - at);
    facet_strbuf_putc(out, ' ');
    put_id(out, variable);
    facet_strbuf_putc(out, '\n');
}

static void put_step(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    uint64_t first = first_of(step->machine, step->core);

    facet_strbuf_putc(out, '#');
    facet_trace_number(out, step->number);
    facet_strbuf_putc(out, '\n');
    put_bits(out, (struct facet_value){step->pc, 0}, first + PC);
    put_bits(out, (struct facet_value){step->length != 0 ? step->word : 0, 0}, first + WORD);
    facet_strbuf_putc(out, step->trap != NULL ? '1' : '0');
    put_id(out, first + TRAP);
    facet_strbuf_putc(out, '\n');
    for (size_t i = 0; i < step->count; i++) {
        const struct facet_item *item = &step->items[i];
        const struct facet_reg_event *event = &item->u.reg;

        if (item->kind == FACET_ITEM_REG || item->kind == FACET_ITEM_CSR) {
            uint32_t csr = item->kind == FACET_ITEM_CSR
                               ? facet_machine_core(step->machine, event->core)->reg_count
                               : 0;

            put_bits(out,
                     event->new_value,
                     first_of(step->machine, event->core) + OWN + csr + event->index);
        }
    }
}

const struct facet_trace_form facet_trace_form_vcd = {
    .head = put_head, .step = put_step, .tail = ""};
