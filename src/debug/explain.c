/* See explain.h. */
#include "debug/explain_parts.h"

#include "isa/isa.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- who wrote what ---- */

struct write {
    uint64_t pc;
    uint64_t step; /* counted from 1; 0: none seen */
};

/* The last instruction that retired, where it did not continue behind itself. */
struct jump {
    uint64_t from, to;
    bool is_one;
};

enum { PENDING = 64, MOST_READS = 16 }; /* registers that one instruction can write, and some */

struct facet_writes {
    struct facet_observer observer;
    uint32_t cores, regs; /* regs: of the core that has most */
    struct write *writes; /* cores x regs */
    struct jump *jumps;   /* cores */
    uint64_t steps;
    uint32_t pending[PENDING]; /* indexes into writes, of the running step */
    uint32_t pending_count;
    struct facet_explain_told jobs;
};

/* The step is over: now its pc is known. */
static void settle(struct facet_writes *w, uint64_t pc)
{
    w->steps++;
    for (uint32_t i = 0; i < w->pending_count; i++) {
        w->writes[w->pending[i]] = (struct write){pc, w->steps};
    }
    w->pending_count = 0;
    facet_explain_jobs_settle(&w->jobs, pc);
}

static void see_reg(void *context, const struct facet_reg_event *event)
{
    struct facet_writes *w = context;

    if (w->pending_count < PENDING && event->core < w->cores && event->index < w->regs) {
        w->pending[w->pending_count++] = event->core * w->regs + event->index;
    }
}

static void see_retire(void *context, const struct facet_retire_event *event)
{
    struct facet_writes *w = context;

    settle(w, event->pc);
    if (event->core < w->cores) {
        w->jumps[event->core] =
            (struct jump){event->pc, event->next_pc, event->next_pc != event->pc + event->length};
    }
}

static void see_unit(void *context, const struct facet_unit_event *event)
{
    struct facet_writes *w = context;

    facet_explain_jobs_hear(&w->jobs, event);
}

static void see_trap(void *context, const struct facet_trap_event *event)
{
    settle(context, event->pc);
}

facet_writes *facet_writes_create(const facet_machine *machine)
{
    struct facet_writes *w = calloc(1, sizeof *w);

    if (w == NULL) {
        return NULL;
    }
    w->cores = facet_machine_core_count(machine);
    for (uint32_t i = 0; i < w->cores; i++) {
        uint32_t count = facet_machine_core(machine, i)->reg_count;

        w->regs = count > w->regs ? count : w->regs;
    }
    w->writes = calloc((size_t)w->cores * w->regs + 1, sizeof *w->writes);
    w->jumps = calloc((size_t)w->cores + 1, sizeof *w->jumps);
    if (w->writes == NULL || w->jumps == NULL) {
        facet_writes_destroy(w);
        return NULL;
    }
    w->observer = (struct facet_observer){.context = w,
                                          .retire = see_retire,
                                          .reg_write = see_reg,
                                          .trap = see_trap,
                                          .unit = see_unit};
    return w;
}

void facet_writes_destroy(facet_writes *writes)
{
    if (writes != NULL) {
        free(writes->writes);
        free(writes->jumps);
        free(writes);
    }
}

const struct facet_observer *facet_writes_observer(const facet_writes *writes)
{
    return &writes->observer;
}

static const struct write *write_of(const struct facet_explain *e, uint32_t core, uint32_t reg)
{
    const struct facet_writes *w = e->writes;
    const struct write *write =
        w != NULL && core < w->cores && reg < w->regs ? &w->writes[core * w->regs + reg] : NULL;

    return write != NULL && write->step != 0 ? write : NULL;
}

/* ---- places ---- */

void facet_explain_place(const struct facet_explain *e, uint64_t address, struct facet_strbuf *out)
{
    facet_strbuf_printf(out, "0x%0*" PRIx64, e->isa == FACET_ISA_TILE ? 8 : 1, address);
    if (e->symbols != NULL) {
        const struct facet_object_symbol *symbol = facet_symbols_find(e->symbols, address);
        const struct facet_line_row *row = facet_lines_find(&e->symbols->lines, address);

        if (symbol != NULL) {
            facet_strbuf_puts(out, " <");
            facet_symbols_put_name(out, symbol->name);
            if (address != symbol->value) { /* as GDB writes it */
                facet_strbuf_printf(out, "+%" PRIu64, address - symbol->value);
            }
            facet_strbuf_puts(out, ">");
        }
        if (row != NULL) {
            facet_strbuf_puts(out, " ");
            facet_symbols_put_name(out, row->file);
            facet_strbuf_printf(out, ":%" PRIu32, row->line);
        }
    }
}

/* "symbol", "offset", "file" and "line", as far as they are known. */
void facet_explain_names(const struct facet_explain *e, struct facet_record *r, uint64_t address)
{
    const struct facet_object_symbol *symbol = NULL;
    const struct facet_line_row *row = NULL;

    if (e->symbols != NULL) {
        symbol = facet_symbols_find(e->symbols, address);
        row = facet_lines_find(&e->symbols->lines, address);
    }
    if (r->json && symbol != NULL) {
        facet_record_word(r, "symbol", symbol->name);
        facet_record_number(r, "offset", (int64_t)(address - symbol->value));
    }
    if (r->json && row != NULL) {
        facet_record_word(r, "file", row->file);
        facet_record_number(r, "line", row->line);
    }
}

void facet_explain_instruction(const struct facet_explain *e,
                               struct facet_record *r,
                               uint32_t core,
                               uint64_t pc)
{
    char text[160] = "";
    uint32_t length = 0;

    (void)facet_machine_disassemble(e->machine, core, pc, text, sizeof text, &length);
    if (length != 0 && r->json) {
        facet_record_word(r, "instruction", text);
    } else if (length != 0) {
        facet_record_say(r, ": %s", text);
    }
}

/* ---- registers ---- */

uint32_t facet_explain_reg_of(const struct facet_explain *e,
                              uint32_t core,
                              const struct facet_operand *operand,
                              uint32_t word)
{
    int64_t number = operand->kind == FACET_OPERAND_SP ? 2 : facet_operand_get(operand, word);
    char file, name[16];

    switch (operand->kind) {
    case FACET_OPERAND_XREG:
    case FACET_OPERAND_XFREG:
    case FACET_OPERAND_SP:
        file = 'x';
        break;
    case FACET_OPERAND_XREG_C:
        file = 'x';
        number += 8;
        break;
    case FACET_OPERAND_FREG:
    case FACET_OPERAND_TFREG:
        file = 'f';
        break;
    case FACET_OPERAND_FREG_C:
        file = 'f';
        number += 8;
        break;
    case FACET_OPERAND_SREG:
        file = 's';
        break;
    case FACET_OPERAND_VREG:
        file = 'v';
        break;
    default:
        return FACET_NONE;
    }
    if (number == 0 && file != 'f') {
        return FACET_NONE; /* it is always zero */
    }
    (void)snprintf(name, sizeof name, "%c%u", file, (unsigned)number & 31u);
    return facet_machine_find_reg(e->machine, core, name);
}

static void put_value(struct facet_record *r, unsigned width, struct facet_value value)
{
    char text[40];

    if (width > 64) {
        (void)snprintf(text, sizeof text, "0x%016" PRIx64 "%016" PRIx64, value.hi, value.lo);
    } else {
        (void)snprintf(text, sizeof text, "0x%0*" PRIx64, (int)((width + 3) / 4), value.lo);
    }
    if (r->json) {
        facet_record_word(r, "value", text);
    } else {
        facet_record_say(r, " = %s", text);
    }
}

static void put_writer(const struct facet_explain *e,
                       struct facet_record *r,
                       uint32_t core,
                       const struct write *write)
{
    struct facet_strbuf place;

    facet_record_open(r, "written", NULL);
    if (r->json) {
        facet_record_hex(r, "pc", write->pc, 8);
        facet_record_number(r, "steps_ago", (int64_t)(e->writes->steps - write->step));
    } else {
        facet_strbuf_init(&place);
        facet_explain_place(e, write->pc, &place);
        facet_record_say(r, ", written at %s", facet_strbuf_text(&place));
        facet_strbuf_free(&place);
    }
    facet_explain_names(e, r, write->pc);
    facet_explain_instruction(e, r, core, write->pc);
    facet_record_close(r);
}

static void put_register(const struct facet_explain *e,
                         struct facet_record *r,
                         uint32_t core,
                         uint32_t reg,
                         const char *what)
{
    const struct facet_reg_desc *desc = &facet_machine_core(e->machine, core)->regs[reg];
    const struct write *write = write_of(e, core, reg);
    struct facet_value value = {0, 0};

    (void)facet_machine_reg_read(e->machine, core, reg, &value, NULL);
    facet_record_open(r, NULL, NULL);
    facet_record_line(r, NULL, NULL);
    if (r->json) {
        facet_record_word(r, "name", desc->name);
        if (e->reads != NULL) {
            facet_record_word(r, "what", what);
        }
    } else {
        facet_record_say(r, "  %s", desc->name);
        if (what != NULL) {
            facet_record_say(r, " (%s)", what);
        }
    }
    put_value(r, desc->width, value);
    if (write != NULL) {
        put_writer(e, r, core, write);
    } else if (e->writes != NULL && e->seen != 0 && !r->json) {
        facet_record_say(r, ", not written in the last %" PRIu64 " steps", e->seen);
    }
    facet_record_close(r);
}

/* False where no instruction is. */
static bool
put_registers(const struct facet_explain *e, struct facet_record *r, uint32_t core, uint64_t pc)
{
    uint8_t bytes[4] = {0};
    uint32_t word = 0, shown[8], count = 0;
    const struct facet_insn_row *row = NULL;

    facet_record_list(r, "registers");
    if (e->reads != NULL) {
        struct facet_explain_read reads[MOST_READS];

        count = e->reads(e->machine, core, pc, reads, MOST_READS);
        for (uint32_t i = 0; i < count; i++) {
            put_register(e, r, core, reads[i].reg, reads[i].what);
        }
    } else if (facet_machine_read(e->machine, 0, pc, bytes, 2, NULL) == FACET_OK) {
        (void)facet_machine_read(e->machine, 0, pc, bytes, 4, NULL);
        word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
               (uint32_t)bytes[3] << 24;
        row = facet_isa_decode(e->isa, word);
        for (uint32_t i = 0; row != NULL && i < row->operand_count; i++) {
            uint32_t reg = facet_explain_reg_of(e, core, &row->operands[i], word);
            bool again = reg == FACET_NONE || !facet_operand_is_read(row, &row->operands[i]);

            for (uint32_t k = 0; k < count; k++) {
                again = again || shown[k] == reg;
            }
            if (!again && count < sizeof shown / sizeof shown[0]) {
                shown[count++] = reg;
                put_register(
                    e, r, core, reg, facet_machine_core(e->machine, core)->regs[reg].alias);
            }
        }
    }
    facet_record_close(r);
    if (row != NULL) {
        facet_explain_operand(e, r, core, row, word);
    }
    return row != NULL || e->reads != NULL;
}

/* Where no instruction is, the jump that led there says more. */
static void
put_jump(const struct facet_explain *e, struct facet_record *r, uint32_t core, uint64_t pc)
{
    const struct jump *jump =
        e->writes != NULL && core < e->writes->cores ? &e->writes->jumps[core] : NULL;
    struct facet_strbuf place;

    if (jump == NULL || !jump->is_one || jump->to != pc) {
        return;
    }
    facet_record_open(r, "reached_from", NULL);
    facet_record_line(r, NULL, NULL);
    if (r->json) {
        facet_record_hex(r, "pc", jump->from, 8);
    } else {
        facet_strbuf_init(&place);
        facet_explain_place(e, jump->from, &place);
        facet_record_say(r, "  reached from %s", facet_strbuf_text(&place));
        facet_strbuf_free(&place);
    }
    facet_explain_names(e, r, jump->from);
    facet_explain_instruction(e, r, core, jump->from);
    (void)put_registers(e, r, core, jump->from);
    facet_record_close(r);
}

/* ---- words of status ---- */

/* Of every machine; those that a machine does not have are not found. */
static const char *const status_words[] = {
    "status", "fstatus", "vstatus", "gerror", "int_status", "CAP.PREC.EXC.ST", "RTSTAT", "MTXSTAT"};

static void
put_status(const struct facet_explain *e, struct facet_record *r, uint32_t core, uint32_t csr)
{
    const struct facet_csr_desc *desc = &facet_machine_core(e->machine, core)->csrs[csr];
    struct facet_value value = {0, 0};

    (void)facet_machine_csr_read(e->machine, core, csr, &value, NULL);
    if (value.lo == 0) {
        return;
    }
    facet_record_open(r, NULL, NULL);
    facet_record_line(r, NULL, NULL);
    if (r->json) {
        facet_record_word(r, "name", desc->name);
    } else {
        facet_record_say(r, "  %s", desc->name);
    }
    put_value(r, desc->width, value);
    facet_record_open(r, "fields", NULL);
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct facet_field_desc *field = &desc->fields[i];

        (void)facet_machine_field_read(e->machine, core, csr, i, &value, NULL);
        if (value.lo == 0) {
            continue;
        }
        if (r->json) {
            facet_record_number(r, field->name, (int64_t)value.lo);
        } else if (field->hi == field->lo) {
            facet_record_say(r, " %s", field->name);
        } else {
            facet_record_say(r, " %s=%" PRIu64, field->name, value.lo);
        }
    }
    facet_record_close(r);
    facet_record_close(r);
}

void facet_explain_core(const struct facet_explain *e,
                        struct facet_record *r,
                        uint32_t core,
                        uint64_t pc)
{
    if (r->json) {
        facet_record_hex(r, "pc", pc, 8);
        facet_explain_names(e, r, pc);
        facet_explain_instruction(e, r, core, pc);
    }
    if (!put_registers(e, r, core, pc)) {
        put_jump(e, r, core, pc);
    }
    facet_record_list(r, "status_words");
    for (size_t i = 0; i < sizeof status_words / sizeof status_words[0]; i++) {
        uint32_t csr = facet_machine_find_csr(e->machine, core, status_words[i]);

        if (csr != FACET_NONE) {
            put_status(e, r, core, csr);
        }
    }
    facet_record_close(r);
    facet_record_list(r, "jobs");
    if (e->writes != NULL) {
        facet_explain_jobs(e, r, &e->writes->jobs);
    }
    facet_record_close(r);
}
