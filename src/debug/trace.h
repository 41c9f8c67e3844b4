/* Traces of a machine's steps as text, written against its face alone (docs/trace.md).
 *
 * A tracer is an observer: it gathers the changes of a step and writes one line when the step ends.
 * Lines go to a callback; the library does no output of its own. */
#ifndef FACET_DEBUG_TRACE_H
#define FACET_DEBUG_TRACE_H

#include "debug/trace_filter.h"

#include <facet/error.h>
#include <facet/machine.h>
#include <facet/observer.h>

/* Version of the JSON lines; a reader must refuse a larger one. */
#define FACET_TRACE_VERSION 1

enum facet_trace_format {
    FACET_TRACE_JSONL,
    FACET_TRACE_SPIKE,       /* the log of spike --log-commits; x, f, CSRs and memory only */
    FACET_TRACE_SPIKE_TRAPS, /* the same with the exceptions of spike -l */
    FACET_TRACE_PERFETTO,    /* JSON trace events, for ui.perfetto.dev */
    FACET_TRACE_VCD,         /* value changes (IEEE 1364), for GTKWave and Surfer */
    FACET_TRACE_KONATA,      /* Kanata 0004 */
};

/* The `count`-th step at an address; 0: never. */
struct facet_trace_trigger {
    uint64_t pc;
    uint64_t count;
};

struct facet_trace_options {
    enum facet_trace_format format;
    enum facet_isa isa; /* of the instruction words */
    bool by_machine;    /* no ISA of one word: the machine gives lengths and texts */
    uint64_t first_pc;  /* only steps with first_pc <= pc <= last_pc */
    uint64_t last_pc;   /* 0: no upper end */
    const char *insn;   /* only instructions whose mnemonic matches: * any letters, ? any letter */
    const struct facet_trace_filter *only; /* and only steps that it keeps; NULL: all */
    struct facet_trace_trigger start;      /* nothing before this step, which is the first */
    struct facet_trace_trigger stop;       /* nothing after this step, which is the last */
    size_t last_lines;   /* only so many steps, the last of all; written at the end. 0: all */
    uint32_t core;       /* only steps of this core; FACET_ANY_CORE: of all */
    uint64_t max_lines;  /* 0: no limit */
    uint64_t first_step; /* number of the first step that will be seen */
    uint64_t skip;       /* so many steps are counted and not written */
    void *context;
    void (*write)(void *context, const char *text, size_t size);
};

typedef struct facet_tracer facet_tracer;

/* `insn` and `only` must outlive the tracer. Writes the header line of the format, if it has one.
 */
enum facet_status facet_tracer_create(const facet_machine *machine,
                                      const struct facet_trace_options *options,
                                      facet_tracer **out,
                                      struct facet_error *err);
void facet_tracer_destroy(facet_tracer *tracer); /* NULL is allowed */
/* For facet_machine_observe; lives as long as the tracer. */
const struct facet_observer *facet_tracer_observer(const facet_tracer *tracer);
/* After the last step: what the format has at its end. */
void facet_tracer_finish(facet_tracer *tracer);
/* max_lines were written, or the stop came: there will be no more. */
bool facet_tracer_done(const facet_tracer *tracer);
/* Memory was short: lines are missing. */
bool facet_tracer_failed(const facet_tracer *tracer);

/* Whether the whole text matches a pattern with * and ?; for --trace-insn. */
bool facet_trace_matches(const char *pattern, const char *text, size_t length);

#endif
