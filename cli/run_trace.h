/* The --trace options of `facet run`. */
#ifndef FACET_CLI_RUN_TRACE_H
#define FACET_CLI_RUN_TRACE_H

#include "cli/command.h"
#include "debug/tee.h"
#include "debug/trace.h"
#include "isa/object.h"

#include <stdio.h>

struct run_trace {
    FILE *file; /* NULL: no trace */
    const char *path;
    facet_tracer *tracer; /* from the first step that counts */
    struct facet_trace_options options;
    /* Listens all the time, trace or not; NULL: nobody. Set after run_trace_open. */
    const struct facet_observer *beside;
    struct facet_tee both;
};

#define RUN_TRACE_OPTIONS                                                                          \
    {"trace", 't', "FILE", "write a line per step; - is standard output"},                         \
        {"trace-format", 0, "jsonl|spike", "JSON lines (default), or Spike's commit log"},         \
        {"trace-pc", 0, "A..B", "only instructions from address or symbol A up to B"},             \
        {"trace-insn", 0, "PATTERN", "only mnemonics that match, such as 'fadd.*' or 'xmem.*'"},   \
        {"trace-from", 0, "N", "begin with step N (the first is 0)"},                              \
    {                                                                                              \
        "trace-count", 0, "N", "stop writing after N lines"                                        \
    }

/* An address in 0x or decimal digits, or a symbol of the program, as SYMBOL or SYMBOL+N. */
bool run_find_address(const struct facet_object *program, const char *text, uint64_t *address);

/* "0x80000010 <main+4>": an address and the symbol before it. */
void run_describe(const struct facet_object *program, uint64_t address, char *buf, size_t size);

/* Reads the options and opens the file; false after a complaint. */
bool run_trace_open(struct run_trace *trace,
                    const struct cli_args *args,
                    const struct facet_object *program);
/* Steps until something must happen: at most `budget`. */
uint64_t run_trace_limit(const struct run_trace *trace, uint64_t done, uint64_t budget);
/* Attaches or detaches the listener, `done` steps into the run. */
bool run_trace_update(struct run_trace *trace,
                      const struct cli_args *args,
                      facet_machine *machine,
                      uint64_t done);
/* false after a complaint: the trace is not complete. */
bool run_trace_close(struct run_trace *trace, const struct cli_args *args);

#endif
