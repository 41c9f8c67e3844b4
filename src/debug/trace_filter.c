/* See trace_filter.h. */
#include "debug/trace_filter.h"

#include "debug/internal.h"
#include "isa/isa.h"

#include <string.h>

/* Some range has a byte of first..last; without ranges everything is wanted. */
static bool
meets(const struct facet_trace_range *ranges, unsigned count, uint64_t first, uint64_t last)
{
    for (unsigned i = 0; i < count; i++) {
        if (first <= ranges[i].last && last >= ranges[i].first) {
            return true;
        }
    }
    return count == 0;
}

bool facet_trace_filter_core(const struct facet_trace_filter *filter, uint32_t core)
{
    return meets(filter->core, filter->cores, core, core);
}

static bool accesses(const struct facet_trace_filter *filter, const struct facet_trace_step *step)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct facet_memory_event *event = &step->items[i].u.memory;

        if (step->items[i].kind == FACET_ITEM_MEMORY && meets(filter->address,
                                                              filter->addresses,
                                                              event->address,
                                                              event->address + event->size - 1)) {
            return true;
        }
    }
    return filter->addresses == 0;
}

static unsigned class_of_row(const struct facet_insn_row *row)
{
    unsigned classes = 0;

    for (uint8_t i = 0; row != NULL && i < row->operand_count; i++) {
        switch (row->operands[i].kind) {
        case FACET_OPERAND_PCREL:
        case FACET_OPERAND_PCREL_U:
            classes |= FACET_CLASS_BRANCH;
            break;
        case FACET_OPERAND_CSR:
            classes |= FACET_CLASS_CSR;
            break;
        case FACET_OPERAND_FREG:
        case FACET_OPERAND_FREG_C:
        case FACET_OPERAND_TFREG:
            classes |= FACET_CLASS_FLOAT;
            break;
        case FACET_OPERAND_VREG:
            classes |= FACET_CLASS_VECTOR;
            break;
        default:
            break;
        }
    }
    return classes;
}

static unsigned class_of_events(const struct facet_trace_step *step)
{
    unsigned classes = 0;

    if (step->trap == NULL && step->next_pc != step->pc + step->length) {
        classes |= FACET_CLASS_BRANCH;
    }
    for (size_t i = 0; i < step->count; i++) {
        if (step->items[i].kind == FACET_ITEM_MEMORY) {
            classes |= step->items[i].u.memory.write ? FACET_CLASS_STORE : FACET_CLASS_LOAD;
        } else if (step->items[i].kind == FACET_ITEM_UNIT) {
            classes |= FACET_CLASS_UNIT;
        }
    }
    return classes;
}

static bool has_class(const struct facet_trace_filter *filter,
                      enum facet_isa isa,
                      bool rows,
                      const struct facet_trace_step *step)
{
    const struct facet_insn_row *row =
        rows && step->length != 0 ? facet_isa_decode(isa, step->word) : NULL;

    for (unsigned i = 0; row != NULL && i < filter->extensions; i++) {
        if (strcmp(row->extension, filter->extension[i]) == 0) {
            return true;
        }
    }
    return (filter->classes & (class_of_row(row) | class_of_events(step))) != 0;
}

bool facet_trace_filter_keeps(const struct facet_trace_filter *filter,
                              enum facet_isa isa,
                              bool rows,
                              const struct facet_trace_step *step)
{
    return facet_trace_filter_core(filter, step->core) && (!filter->traps || step->trap != NULL) &&
           meets(filter->pc, filter->pcs, step->pc, step->pc) && accesses(filter, step) &&
           ((filter->classes == 0 && filter->extensions == 0) ||
            has_class(filter, isa, rows, step));
}
