/* What the trace's collector (trace.c) hands to its two formats. */
#ifndef FACET_DEBUG_INTERNAL_H
#define FACET_DEBUG_INTERNAL_H

#include "base/strbuf.h"
#include "debug/trace.h"

enum facet_item_kind { FACET_ITEM_REG, FACET_ITEM_CSR, FACET_ITEM_MEMORY, FACET_ITEM_UNIT };

struct facet_item {
    enum facet_item_kind kind;
    union {
        struct facet_reg_event reg; /* CSR too */
        struct facet_memory_event memory;
        struct facet_unit_event unit;
    } u;
};

/* A step that has ended: retired, or trapped when `trap` is not NULL. */
struct facet_trace_step {
    const facet_machine *machine;
    uint64_t number;
    uint32_t core;
    uint64_t pc;
    uint64_t next_pc;
    uint32_t word;
    uint32_t length;  /* 0: no word (an interrupt, a fetch that failed) */
    const char *text; /* disassembly, "" without a word */
    uint32_t priv;    /* the register `priv` of the core, FACET_NONE without one */
    const struct facet_trap_event *trap;
    const struct facet_item *items;
    size_t count;
};

/* A decimal number; a hexadecimal one of at least `digits` digits (at most 32). A trace has
 * millions of lines, hence no printf. */
void facet_trace_number(struct facet_strbuf *out, uint64_t value);
void facet_trace_hex(struct facet_strbuf *out, struct facet_value value, unsigned digits);

void facet_trace_jsonl_head(const facet_machine *machine, struct facet_strbuf *out);
void facet_trace_jsonl(const struct facet_trace_step *step, struct facet_strbuf *out);
/* The step must have none. */
void facet_trace_spike(const struct facet_trace_step *step, struct facet_strbuf *out);
/* The step must have a trap. */
void facet_trace_spike_trap(const struct facet_trace_step *step, struct facet_strbuf *out);

#endif
