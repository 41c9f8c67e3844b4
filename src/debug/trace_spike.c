/* A retired instruction as Spike's --log-commits prints it:
 *
 *   core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000
 *   core   0: 3 0x0000000080000010 (0x00533023) mem 0x0000000080001000 0x0000000000000007
 *
 * Registers in rising number (x before f before CSR of the same number), each once with its last
 * value; then the addresses of loads, then stores with their values. The digit is the privilege in
 * which the instruction ran. Steps that trap commit nothing and are not in the log; spike -l tells
 * of them, in the form that put_trap writes:
 *
 *   core   0: exception trap_illegal_instruction, epc 0x0000000080000014
 *   core   0:           tval 0x0000000000000000 */
#include "debug/internal.h"

static void put_value(struct facet_strbuf *out, uint64_t value, unsigned digits)
{
    facet_strbuf_add(out, " 0x", 3);
    facet_trace_hex(out, (struct facet_value){value, 0}, digits);
}

static uint64_t number_of(const char *digits)
{
    uint64_t n = 0;

    for (; *digits >= '0' && *digits <= '9'; digits++) {
        n = 10 * n + (uint64_t)(*digits - '0');
    }
    return n;
}

/* Spike's key: number * 16 + kind (0 x, 1 f, 4 CSR). */
enum { KIND_X = 0, KIND_F = 1, KIND_CSR = 4, FFLAGS = 1, FRM = 2, FCSR = 3 };
#define NO_KEY UINT64_MAX

static uint64_t csr_key(unsigned number)
{
    return (uint64_t)number << 4 | KIND_CSR;
}

/* The first key from `least` on that an item is printed under; most have one, and what is not in
 * this format has none. Spike keeps fcsr as two registers. */
static uint64_t
key_of(const struct facet_core_desc *core, const struct facet_item *item, uint64_t least)
{
    uint64_t key = NO_KEY;

    if (item->kind == FACET_ITEM_CSR) {
        unsigned number = core->csrs[item->u.reg.index].number;

        key = csr_key(number);
        if (number == FCSR) {
            key = csr_key(least <= csr_key(FFLAGS) ? FFLAGS : FRM);
        }
    } else if (item->kind == FACET_ITEM_REG) {
        const struct facet_reg_desc *reg = &core->regs[item->u.reg.index];
        char kind = reg->group != NULL && reg->group[1] == '\0' ? reg->group[0] : '\0';

        if ((kind == 'x' || kind == 'f') && reg->name[0] == kind) {
            key = number_of(reg->name + 1) << 4 | (kind == 'f' ? KIND_F : KIND_X);
        }
    }
    return key >= least ? key : NO_KEY;
}

/* Readers of the log expect words: CAP.PREC.MODE is CAP_PREC_MODE here. */
static void put_name(struct facet_strbuf *out, const char *name)
{
    for (; *name != '\0'; name++) {
        facet_strbuf_putc(out, *name == '.' ? '_' : *name);
    }
}

static void put_register(const struct facet_trace_step *step,
                         const struct facet_item *item,
                         uint64_t key,
                         struct facet_strbuf *out)
{
    const struct facet_core_desc *core = facet_machine_core(step->machine, step->core);
    uint64_t value = item->u.reg.new_value.lo, number = key >> 4;

    if ((key & 15) == KIND_CSR) {
        const struct facet_csr_desc *csr = &core->csrs[item->u.reg.index];
        bool half = csr->number == FCSR;

        facet_strbuf_add(out, " c", 2);
        facet_trace_number(out, number);
        facet_strbuf_putc(out, '_');
        put_name(out, !half ? csr->name : number == FFLAGS ? "fflags" : "frm");
        value = !half ? value : number == FFLAGS ? value & 31 : value >> 5 & 7;
    } else {
        facet_strbuf_add(out, (key & 15) == KIND_F ? " f" : " x", 2);
        facet_trace_number(out, number);
        facet_strbuf_add(out, " ", number < 10); /* a column of two digits */
    }
    put_value(out, value, 16);
}

/* In rising order of the keys; of equal keys the last one. */
static void put_registers(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    const struct facet_core_desc *core = facet_machine_core(step->machine, step->core);
    uint64_t done = 0; /* all keys below are written */

    for (;;) {
        uint64_t best = NO_KEY;
        size_t at = 0;

        for (size_t i = 0; i < step->count; i++) {
            uint64_t key = key_of(core, &step->items[i], done);

            if (key <= best && key != NO_KEY &&
                step->items[i].u.reg.core == step->core) { /* no job of another core */
                best = key;
                at = i;
            }
        }
        if (best == NO_KEY) {
            return;
        }
        put_register(step, &step->items[at], best, out);
        done = best + 1;
    }
}

/* The hart's accesses have 8 bytes at most. */
static void put_memory(const struct facet_trace_step *step, bool writes, struct facet_strbuf *out)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct facet_memory_event *event = &step->items[i].u.memory;

        if (step->items[i].kind != FACET_ITEM_MEMORY || event->write != writes ||
            event->core != step->core) {
            continue;
        }
        facet_strbuf_add(out, " mem", 4);
        put_value(out, event->address, 16);
        if (writes) {
            put_value(out, event->value.lo, event->size * 2);
        }
    }
}

static void put_core(uint32_t core, struct facet_strbuf *out)
{
    facet_strbuf_add(out, "core", 4);
    for (uint32_t least = 1000; least > core && least > 1; least /= 10) {
        facet_strbuf_putc(out, ' '); /* a column of four digits */
    }
    facet_trace_number(out, core);
    facet_strbuf_putc(out, ':');
}

static void put_retired(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    put_core(step->core, out);
    facet_strbuf_putc(out, ' ');
    facet_trace_number(out, step->priv);
    put_value(out, step->pc, 16);
    facet_strbuf_add(out, " (0x", 4);
    facet_trace_hex(out,
                    (struct facet_value){step->length == 2 ? step->word & 0xFFFF : step->word, 0},
                    step->length * 2);
    facet_strbuf_putc(out, ')');
    put_registers(step, out);
    put_memory(step, false, out);
    put_memory(step, true, out);
    facet_strbuf_putc(out, '\n');
}

/* Spike's names of the causes; it numbers those that it has no name for. */
static const char *const cause_names[] = {
    "instruction_address_misaligned",
    "instruction_access_fault",
    "illegal_instruction",
    "breakpoint",
    "load_address_misaligned",
    "load_access_fault",
    "store_address_misaligned",
    "store_access_fault",
    "user_ecall",
    "supervisor_ecall",
    "virtual_supervisor_ecall",
    "machine_ecall",
};
enum { FIRST_ECALL = 8, LAST_ECALL = 11 };

const char *facet_trace_cause(uint64_t cause)
{
    return cause < sizeof cause_names / sizeof cause_names[0] ? cause_names[cause] : NULL;
}

static void put_trap(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    uint64_t cause = step->trap->cause & ~(UINT64_C(1) << 63);
    bool interrupt = step->trap->interrupt;

    put_core(step->core, out);
    facet_strbuf_puts(out, " exception ");
    if (!interrupt && facet_trace_cause(cause) != NULL) {
        facet_strbuf_puts(out, "trap_");
        facet_strbuf_puts(out, facet_trace_cause(cause));
    } else {
        facet_strbuf_puts(out, interrupt ? "interrupt #" : "trap #");
        facet_trace_number(out, cause);
    }
    facet_strbuf_puts(out, ", epc");
    put_value(out, step->pc, 16);
    if (!interrupt && (cause < FIRST_ECALL || cause > LAST_ECALL)) { /* those have no tval */
        facet_strbuf_putc(out, '\n');
        put_core(step->core, out);
        facet_strbuf_puts(out, "           tval");
        put_value(out, step->trap->value, 16);
    }
    facet_strbuf_putc(out, '\n');
}

static void put_any(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    (step->trap == NULL ? put_retired : put_trap)(step, out);
}

const struct facet_trace_form facet_trace_form_spike = {
    .priv = true, .skips_traps = true, .step = put_retired, .tail = ""};
const struct facet_trace_form facet_trace_form_spike_traps = {
    .priv = true, .step = put_any, .tail = ""};
