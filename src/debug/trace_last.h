/* The last steps of a run, kept as they happened and written down only when it is over. */
#ifndef FACET_DEBUG_TRACE_LAST_H
#define FACET_DEBUG_TRACE_LAST_H

#include "debug/internal.h"

struct facet_trace_kept;

/* All zero: none are kept. */
struct facet_trace_last {
    struct facet_trace_kept *slots;
    size_t size;   /* slots */
    uint64_t seen; /* steps that were put in */
};

bool facet_trace_last_init(struct facet_trace_last *last, size_t size);
void facet_trace_last_free(struct facet_trace_last *last);
/* false: memory is short, and the step is lost. */
bool facet_trace_last_put(struct facet_trace_last *last, const struct facet_trace_step *step);
/* The n-th of those that are still there, the oldest first; NULL past the end. */
struct facet_trace_step *facet_trace_last_at(struct facet_trace_last *last, size_t n);

#endif
