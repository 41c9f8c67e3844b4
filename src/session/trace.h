/* The --trace options of commands that run a machine. The trace appears under its name when
 * the run is over and every line is in it; until then it has none. A run that was stopped (Ctrl-C,
 * a limit) is over, and its trace ends with the last step. */
#ifndef FACET_SESSION_TRACE_H
#define FACET_SESSION_TRACE_H

#include "base/new_file.h"
#include "command/command.h"
#include "debug/tee.h"
#include "debug/trace.h"
#include "object/object.h"
#include "session/packed.h"

#include <stdio.h>

struct session_trace {
    FILE *file; /* NULL: no trace */
    const char *path;
    struct facet_new_file made; /* what the file writes to, unless that is standard output */
    int error;                  /* errno of the first line that was lost */
    session_packed *packed;     /* NULL: plain text */
    facet_tracer *tracer;       /* from the first step that counts */
    struct facet_trace_options options;
    struct facet_trace_filter only;
    /* Listens all the time, trace or not; may be NULL. Set after session_trace_open. */
    const struct facet_observer *beside;
    struct facet_tee both;
};

/* clang-format off */
#define SESSION_TRACE_OPTIONS_OF(formats, what)                                                    \
    {"trace", 't', "FILE", CLI_GROUP("Trace")                                                      \
     "write a line per step; - is standard output, names in .gz and .zst are compressed"},         \
    {"trace-format", 0, formats, what},                                                            \
    {"trace-pc", 0, "A..B", "only instructions from address or symbol A up to B"},                 \
    {"trace-insn", 0, "PATTERN", "only mnemonics that match, such as 'fadd.*' or 'xmem.*'"},       \
    {"trace-core", 0, "N", "only steps of one hart, core or lane"},                                 \
    {"trace-only", 0, "CONDITIONS",                                                                 \
     "only steps such as 'class=load|store,sym=main,trap' (docs/trace.md)"},                       \
    {"trace-start", 0, "PLACE[,N]", "begin with the first (N-th) step at an address or symbol"},   \
    {"trace-stop", 0, "PLACE[,N]", "end with the first (N-th) step there"},                        \
    {"trace-last", 0, "N", "write only the last N steps, when the run is over"},                   \
    {"trace-from", 0, "N", "begin with step N (the first is 0)"},                                  \
    {"trace-count", 0, "N", "stop writing after N lines"}
#define SESSION_TRACE_OPTIONS SESSION_TRACE_OPTIONS_OF("jsonl|perfetto|vcd|konata",                        \
    "JSON lines, a timeline, waves or a pipeline view (default jsonl)")
/* clang-format on */

/* An address in 0x or decimal digits, or a symbol of the program, as SYMBOL or SYMBOL+N. */
bool session_find_address(const struct facet_object *program, const char *text, uint64_t *address);

/* "0x80000010 <main+4>": an address and the symbol before it. */
void session_describe(const struct facet_object *program, uint64_t address, char *buf, size_t size);

/* Reads the options and opens the file; false after a complaint. */
bool session_trace_open(struct session_trace *trace,
                        const struct cli_args *args,
                        const struct facet_object *program);
/* Steps until something must happen: at most `budget`. */
uint64_t session_trace_limit(const struct session_trace *trace, uint64_t done, uint64_t budget);
/* Attaches or detaches the listener, `done` steps into the run. */
bool session_trace_update(struct session_trace *trace,
                          const struct cli_args *args,
                          facet_machine *machine,
                          uint64_t done);
/* Whether lines have been lost: the reader is gone, or the disk is full. An endless program must
 * not run on then. */
bool session_trace_failed(const struct session_trace *trace);
/* false after a message: the trace is not complete, and there is no file. Nor is there one when
 * the run itself failed. */
bool session_trace_close(struct session_trace *trace,
                         const struct cli_args *args,
                         bool run_is_good);

#endif
