/* A retired instruction as Spike's --log-commits prints it:
 *
 *   core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000
 *   core   0: 3 0x0000000080000010 (0x00533023) mem 0x0000000080001000 0x0000000000000007
 *
 * Registers in rising number (x before f before CSR of the same number), each once with its last
 * value; then the addresses of loads, then stores with their values. The digit is the privilege in
 * which the instruction ran. Steps that trap commit nothing and are not in the log. */
#include "debug/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
            return strtoull(reg->name + 1, NULL, 10) << 4 | (kind == 'f');
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
        facet_strbuf_printf(out, " c%" PRIu64 "_%s ", key >> 4, core->csrs[item->u.reg.index].name);
    } else {
        facet_strbuf_printf(out, " %c%-2" PRIu64 " ", (key & 1) != 0 ? 'f' : 'x', key >> 4);
    }
    facet_strbuf_printf(out, "0x%016" PRIx64, item->u.reg.new_value.lo);
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
        facet_strbuf_printf(out, " mem 0x%016" PRIx64, event->address);
        if (writes) {
            facet_strbuf_printf(out, " 0x%0*" PRIx64, (int)event->size * 2, event->value.lo);
        }
    }
}

/* Before the step: the old value where it changed, else what it is now. */
static uint64_t privilege(const struct facet_trace_step *step)
{
    uint32_t index = facet_machine_find_reg(step->machine, step->core, "priv");
    struct facet_value value = {3, 0};

    for (size_t i = 0; i < step->count; i++) {
        if (step->items[i].kind == FACET_ITEM_REG && step->items[i].u.reg.index == index) {
            return step->items[i].u.reg.old_value.lo;
        }
    }
    (void)facet_machine_reg_read(step->machine, step->core, index, &value, NULL);
    return value.lo;
}

void facet_trace_spike(const struct facet_trace_step *step, struct facet_strbuf *out)
{
    if (step->trap != NULL) {
        return;
    }
    facet_strbuf_printf(out,
                        "core%4u: %" PRIu64 " 0x%016" PRIx64 " (0x%0*" PRIx32 ")",
                        step->core,
                        privilege(step),
                        step->pc,
                        (int)step->length * 2,
                        step->length == 2 ? step->word & 0xFFFF : step->word);
    put_registers(step, out);
    put_memory(step, false, out);
    put_memory(step, true, out);
    facet_strbuf_putc(out, '\n');
}
