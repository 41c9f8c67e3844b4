/* What the trace's collector (trace.c) hands to its formats. */
#ifndef FACET_DEBUG_INTERNAL_H
#define FACET_DEBUG_INTERNAL_H

#include "base/strbuf.h"
#include "debug/trace.h"

enum { FACET_TRACE_TEXT = 124 }; /* bytes of a disassembly, at most */

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
    uint64_t index;   /* of the line: steps that were written before */
    uint64_t since;   /* steps of the machine since the one that was written last */
    uint64_t queue;   /* step before which the command ended that came before those of this one */
    const char *text; /* disassembly, "" without a word */
    uint64_t priv;    /* privilege before the step, when the format wants it */
    const struct facet_trap_event *trap;
    const struct facet_item *items;
    size_t count;
};

/* Spike's word for the cause of an exception, such as "load_access_fault"; NULL: it has none. */
const char *facet_trace_cause(uint64_t cause);
/* A decimal number; a hexadecimal one of at least `digits` digits (at most 32). A trace has
 * millions of lines, hence no printf. */
void facet_trace_number(struct facet_strbuf *out, uint64_t value);
void facet_trace_hex(struct facet_strbuf *out, struct facet_value value, unsigned digits);

/* What makes a format. A step that writes nothing is no line. */
struct facet_trace_form {
    bool text;        /* wants the disassembly */
    bool priv;        /* wants the privilege */
    bool skips_traps; /* has no line for them */
    void (*head)(const facet_machine *machine, struct facet_strbuf *out); /* or NULL */
    void (*step)(const struct facet_trace_step *step, struct facet_strbuf *out);
    /* What units did behind the last step: `number` and the items are set; or NULL. */
    void (*rest)(const struct facet_trace_step *step, struct facet_strbuf *out);
    const char *tail; /* after the last step */
};

extern const struct facet_trace_form facet_trace_form_jsonl;
extern const struct facet_trace_form facet_trace_form_spike;
extern const struct facet_trace_form facet_trace_form_spike_traps;
extern const struct facet_trace_form facet_trace_form_perfetto;
extern const struct facet_trace_form facet_trace_form_vcd;
extern const struct facet_trace_form facet_trace_form_konata;

#endif
