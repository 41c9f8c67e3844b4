/* What a session remembers of the steps that were equal, and the text about the first difference.
 */
#include "base/error.h"
#include "cosim/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ---- remembering ------------------------------------------------------------------------------
 */

static uint64_t place_of(uint32_t space, uint64_t address)
{
    return address >> 3 | (uint64_t)space << 61;
}

struct facet_cosim_writer *
facet_cosim_writer_at(const facet_cosim *cosim, uint32_t space, uint64_t address)
{
    uint64_t hash = place_of(space, address) * UINT64_C(0x9E3779B97F4A7C15);

    return &cosim->memory[hash >> (64 - FACET_COSIM_WRITER_BITS)];
}

void facet_cosim_remember(facet_cosim *cosim, uint32_t core)
{
    const struct facet_change_list *list = &cosim->machine->changes;
    struct facet_cosim_past *past = &cosim->past[cosim->past_count++ % cosim->window];
    uint64_t pc = list->count != 0 ? list->items[0].address : 0;

    (void)core;
    past->step = cosim->steps;
    past->count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        const struct facet_change *change = &list->items[i];
        struct facet_cosim_writer writer = {cosim->steps + 1, pc, 0};

        if (i < FACET_COSIM_SHOWN) {
            past->changes[i] = *change;
        }
        if (change->kind == FACET_CHANGE_REG) {
            cosim->cores[change->core].regs[change->index] = writer;
        } else if (change->kind == FACET_CHANGE_CSR) {
            cosim->cores[change->core].csrs[change->index] = writer;
        } else if (change->kind == FACET_CHANGE_MEMORY) {
            uint64_t last = change->address + (change->size != 0 ? change->size - 1 : 0);

            writer.place = place_of(change->index, change->address);
            *facet_cosim_writer_at(cosim, change->index, change->address) = writer;
            writer.place = place_of(change->index, last);
            *facet_cosim_writer_at(cosim, change->index, last) = writer;
        }
    }
}

/* ---- text -------------------------------------------------------------------------------------
 */

static void put_place(facet_cosim *cosim, uint64_t pc)
{
    facet_strbuf_printf(&cosim->report, "0x%" PRIx64, pc);
    facet_symbols_print(&cosim->symbols, pc, &cosim->report);
}

static void put_writer(facet_cosim *cosim, const struct facet_cosim_writer *writer)
{
    if (writer == NULL || writer->step == 0) {
        facet_strbuf_puts(&cosim->report, "  not written in this session\n");
        return;
    }
    facet_strbuf_printf(&cosim->report, "  written in step %" PRIu64 " at ", writer->step - 1);
    put_place(cosim, writer->pc);
    facet_strbuf_putc(&cosim->report, '\n');
}

static void put_change(facet_cosim *cosim, const char *side, bool has, const struct facet_change *c)
{
    char text[300] = "nothing";

    if (has) {
        (void)facet_change_print(cosim->machine, c, text, sizeof text);
    }
    facet_strbuf_printf(&cosim->report, "  %-10s %s", side, text);
    if (has && (c->kind == FACET_CHANGE_RETIRE || c->kind == FACET_CHANGE_TRAP)) {
        facet_symbols_print(&cosim->symbols, c->address, &cosim->report);
    }
    facet_strbuf_putc(&cosim->report, '\n');
}

static void put_value(facet_cosim *cosim, struct facet_value value)
{
    if (value.hi != 0) {
        facet_strbuf_printf(&cosim->report, "0x%" PRIx64 "%016" PRIx64, value.hi, value.lo);
    } else {
        facet_strbuf_printf(&cosim->report, "0x%" PRIx64, value.lo);
    }
}

/* What a register held before the step. */
static struct facet_value value_before(const facet_cosim *cosim, uint32_t core, uint32_t reg)
{
    const struct facet_change_list *list = &cosim->machine->changes;
    struct facet_value value = {0, 0};

    for (size_t i = 0; i < list->count && cosim->stop.steps != 0; i++) {
        const struct facet_change *change = &list->items[i];

        if (change->kind == FACET_CHANGE_REG && change->core == core && change->index == reg) {
            return change->old_value;
        }
    }
    (void)facet_machine_reg_read(cosim->machine, core, reg, &value, NULL);
    return value;
}

/* The registers that the instruction's text names. */
static void put_registers(facet_cosim *cosim, uint32_t core, const char *text)
{
    uint32_t seen[16], count = 0;

    while (*text != '\0') {
        size_t length =
            strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
        char name[24];

        if (length == 0 || length >= sizeof name) {
            text += length + (text[length] != '\0');
            continue;
        }
        memcpy(name, text, length);
        name[length] = '\0';
        text += length;
        {
            uint32_t reg = facet_machine_find_reg(cosim->machine, core, name);
            bool known = reg == FACET_NONE || count == 16 ||
                         facet_machine_core(cosim->machine, core)->regs[reg].read_only;

            for (uint32_t i = 0; i < count; i++) {
                known |= seen[i] == reg;
            }
            if (!known) {
                seen[count++] = reg;
                facet_strbuf_printf(&cosim->report, "  %s = ", name);
                put_value(cosim, value_before(cosim, core, reg));
                put_writer(cosim, &cosim->cores[core].regs[reg]);
            }
        }
    }
}

static void put_reads(facet_cosim *cosim)
{
    const struct facet_change_list *list = &cosim->machine->changes;

    for (uint32_t i = 0; i < list->read_count && cosim->stop.steps != 0; i++) {
        const struct facet_memory_event *read = &list->reads[i];
        const struct facet_cosim_writer *writer =
            facet_cosim_writer_at(cosim, read->space, read->address);

        facet_strbuf_printf(
            &cosim->report, "  memory 0x%" PRIx64 " (%u bytes) = ", read->address, read->size);
        put_value(cosim, read->value);
        put_writer(cosim, writer->place == place_of(read->space, read->address) ? writer : NULL);
    }
}

/* A retired instruction; `text` ends with its assembly text, if it is known. */
static void put_retired(facet_cosim *cosim, const struct facet_change *change, const char *text)
{
    const char *code = strstr(text, "  ");

    facet_strbuf_printf(
        &cosim->report, "%s ", facet_machine_core(cosim->machine, change->core)->name);
    put_place(cosim, change->address);
    if (code != NULL) {
        facet_strbuf_printf(&cosim->report, ": %s", code + 2);
    } else {
        facet_strbuf_printf(&cosim->report, ": 0x%" PRIx64, change->new_value.lo);
    }
}

/* "12  hart0 0x80000014 <loop>: add x5, x5, x6; x5 0x6 -> 0xa"; of a trap its own line. */
static void put_past(facet_cosim *cosim, const struct facet_cosim_past *past)
{
    const char *separator = "; ";

    facet_strbuf_printf(&cosim->report, "  %6" PRIu64 "  ", past->step);
    for (size_t i = 0; i < past->count && i < FACET_COSIM_SHOWN; i++) {
        char text[300];
        const char *shown = text;

        (void)facet_change_print(cosim->machine, &past->changes[i], text, sizeof text);
        if (i == 0 && past->changes[0].kind == FACET_CHANGE_RETIRE) {
            put_retired(cosim, &past->changes[0], text);
            continue;
        }
        if (i == 0) {
            facet_strbuf_puts(&cosim->report, text);
            facet_symbols_print(&cosim->symbols, past->changes[0].address, &cosim->report);
            continue;
        }
        if (strstr(text, ": ") != NULL) { /* the core was named */
            shown = strstr(text, ": ") + 2;
        }
        facet_strbuf_printf(&cosim->report, "%s%s", separator, shown);
    }
    if (past->count > FACET_COSIM_SHOWN) {
        facet_strbuf_printf(&cosim->report, "; %zu more", past->count - FACET_COSIM_SHOWN);
    }
    facet_strbuf_putc(&cosim->report, '\n');
}

static void put_changed_writers(facet_cosim *cosim, const struct facet_cosim_difference *d)
{
    const struct facet_change *c = d->has_reference ? &d->reference : &d->design;

    if (c->kind == FACET_CHANGE_CSR) {
        const struct facet_core_desc *desc = facet_machine_core(cosim->machine, c->core);

        facet_strbuf_printf(&cosim->report, "  %s", desc->csrs[c->index].name);
        put_writer(cosim, &cosim->cores[c->core].csrs[c->index]);
    } else if (c->kind == FACET_CHANGE_MEMORY) {
        const struct facet_cosim_writer *writer =
            facet_cosim_writer_at(cosim, c->index, c->address);

        facet_strbuf_printf(&cosim->report, "  memory 0x%" PRIx64, c->address);
        put_writer(cosim, writer->place == place_of(c->index, c->address) ? writer : NULL);
    }
}

void facet_cosim_explain(facet_cosim *cosim)
{
    const struct facet_cosim_difference *d = &cosim->difference;
    const struct facet_core_desc *desc = facet_machine_core(cosim->machine, d->core);
    struct facet_strbuf *out = &cosim->report;
    uint64_t shown = cosim->past_count < cosim->window ? cosim->past_count : cosim->window;
    char code[200] = "";

    facet_strbuf_clear(out);
    (void)facet_machine_disassemble(cosim->machine, d->core, d->pc, code, sizeof code, NULL);
    facet_strbuf_printf(out, "step %" PRIu64 " differs: %s\n", d->step, d->why);
    facet_strbuf_printf(out, "%s at ", desc->name);
    put_place(cosim, d->pc);
    facet_strbuf_printf(out, "%s%s\n", code[0] != '\0' ? ": " : "", code);
    put_change(cosim, "reference", d->has_reference, &d->reference);
    put_change(cosim, "design", d->has_design, &d->design);
    facet_strbuf_puts(out, "before this step\n");
    put_registers(cosim, d->core, code);
    put_reads(cosim);
    put_changed_writers(cosim, d);
    facet_strbuf_printf(out, "the last %" PRIu64 " steps of the reference\n", shown);
    for (uint64_t i = cosim->past_count - shown; i < cosim->past_count; i++) {
        put_past(cosim, &cosim->past[i % cosim->window]);
    }
    if (cosim->new_snapshot.data != NULL) {
        facet_strbuf_printf(out,
                            "replay from step %" PRIu64 "\n",
                            cosim->old_snapshot.data != NULL ? cosim->old_step : cosim->new_step);
    }
}
