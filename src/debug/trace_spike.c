/* A retired instruction as Spike's --log-commits prints it:
 *
 *   core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000
 *   core   0: 3 0x0000000080000010 (0x00533023) mem 0x0000000080001000 0x0000000000000007
 *
 * Registers in rising number (x before f before CSR of the same number), each once with its last
 * value; then the addresses of loads, then stores with their values. The digit is the privilege in
 * which the instruction ran. Steps that trap commit nothing and are not in the log. */
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

/* Spike's key: number * 16 + kind (0 x, 1 f, 4 CSR); anything else is not in this format. */
static uint64_t key_of(const struct facet_core_desc *core, const struct facet_item *item)
{
    if (item->kind == FACET_ITEM_CSR) {
        return (uint64_t)core->csrs[item->u.reg.index].number << 4 | 4;
    }
    if (item->kind == FACET_ITEM_REG) {
        const struct facet_reg_desc *reg = &core->regs[item->u.reg.index];
        char kind = reg->group != NULL && reg->group[1] == '\0' ? reg->group[0] : '\0';

        if ((kind == 'x' || kind == 'f') && reg->name[0] == kind) {
            return number_of(reg->name + 1) << 4 | (kind == 'f');
        }
    }
    return UINT64_MAX;
}

static void put_register(const struct facet_trace_step *step, size_t at, struct facet_strbuf *out)
{
    const struct facet_core_desc *core = facet_machine_core(step->machine, step->core);
    const struct facet_item *item = &step->items[at];
    uint64_t key = key_of(core, item);

    if ((key & 15) == 4) {
        facet_strbuf_add(out, " c", 2);
        facet_trace_number(out, key >> 4);
        facet_strbuf_putc(out, '_');
        facet_strbuf_puts(out, core->csrs[item->u.reg.index].name);
    } else {
        facet_strbuf_add(out, (key & 1) != 0 ? " f" : " x", 2);
        facet_trace_number(out, key >> 4);
        facet_strbuf_add(out, " ", key >> 4 < 10); /* a column of two digits */
    }
    put_value(out, item->u.reg.new_value.lo, 16);
}

/* In rising order of the keys; of equal keys the last one. */
static void put_registers(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    const struct facet_core_desc *core = facet_machine_core(step->machine, step->core);
    uint64_t done = 0; /* all keys below are written */

    for (;;) {
        uint64_t best = UINT64_MAX;
        size_t at = 0;

        for (size_t i = 0; i < step->count; i++) {
            uint64_t key = key_of(core, &step->items[i]);

            if (key >= done && key <= best && key != UINT64_MAX &&
                step->items[i].u.reg.core == step->core) { /* no job of another core */
                best = key;
                at = i;
            }
        }
        if (best == UINT64_MAX) {
            return;
        }
        put_register(step, at, out);
        done = best + 1;
    }
}

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

/* Before the step: the old value where it changed, else what it is now. */
static uint64_t privilege(const struct facet_trace_step *step)
{
    struct facet_value value = {3, 0};

    for (size_t i = 0; i < step->count; i++) {
        if (step->items[i].kind == FACET_ITEM_REG && step->items[i].u.reg.index == step->priv) {
            return step->items[i].u.reg.old_value.lo;
        }
    }
    (void)facet_machine_reg_read(step->machine, step->core, step->priv, &value, NULL);
    return value.lo;
}

void facet_trace_spike(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    if (step->trap != NULL) {
        return;
    }
    facet_strbuf_add(out, "core", 4);
    for (uint32_t least = 1000; least > step->core && least > 1; least /= 10) {
        facet_strbuf_putc(out, ' '); /* a column of four digits */
    }
    facet_trace_number(out, step->core);
    facet_strbuf_add(out, ": ", 2);
    facet_trace_number(out, privilege(step));
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
