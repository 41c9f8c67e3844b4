/* Which steps a trace keeps, by what they are and did (--trace-only). Conditions of different kinds
 * must all hold; of those of one kind, any. */
#ifndef FACET_DEBUG_TRACE_FILTER_H
#define FACET_DEBUG_TRACE_FILTER_H

#include "isa/table.h"

struct facet_trace_step;

enum { FACET_TRACE_CONDITIONS = 16 }; /* of one kind */

struct facet_trace_range {
    uint64_t first, last; /* both included */
};

/* What a step did, or what operands of its instruction say. */
enum facet_trace_class {
    FACET_CLASS_LOAD = 1,    /* read memory */
    FACET_CLASS_STORE = 2,   /* wrote memory */
    FACET_CLASS_BRANCH = 4,  /* has a target, or continued elsewhere than behind itself */
    FACET_CLASS_CSR = 8,     /* names a CSR */
    FACET_CLASS_FLOAT = 16,  /* names an f register */
    FACET_CLASS_VECTOR = 32, /* names a v register */
    FACET_CLASS_UNIT = 64,   /* a unit reported something */
};

/* All zero: every step. */
struct facet_trace_filter {
    struct facet_trace_range pc[FACET_TRACE_CONDITIONS];
    struct facet_trace_range address[FACET_TRACE_CONDITIONS]; /* of accesses that overlap */
    struct facet_trace_range core[FACET_TRACE_CONDITIONS];
    const char *extension[FACET_TRACE_CONDITIONS]; /* who brings the row; as the tables spell it */
    unsigned pcs, addresses, cores, extensions;
    unsigned classes; /* enum facet_trace_class, joined; any of these or of the extensions */
    bool traps;       /* only steps that trapped */
};

bool facet_trace_filter_core(const struct facet_trace_filter *filter, uint32_t core);
/* `rows` is false where the words are of no table. */
bool facet_trace_filter_keeps(const struct facet_trace_filter *filter,
                              enum facet_isa isa,
                              bool rows,
                              const struct facet_trace_step *step);

#endif
