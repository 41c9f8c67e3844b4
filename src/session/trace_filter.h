/* The options --trace-only, --trace-start and --trace-stop. */
#ifndef FACET_SESSION_TRACE_FILTER_H
#define FACET_SESSION_TRACE_FILTER_H

#include "session/trace.h"

/* Fills in what the options say; options->only becomes `only` where there is a condition. false
 * after a complaint. */
bool session_trace_filter_read(struct facet_trace_options *options,
                               struct facet_trace_filter *only,
                               const struct cli_args *args,
                               const struct facet_object *program);

#endif
