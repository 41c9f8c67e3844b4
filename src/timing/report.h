/* What a collector found as text (report_json.h has it as JSON): cycles, where they went, what
 * limits them. Always called an estimate. */
#ifndef FACET_TIMING_REPORT_H
#define FACET_TIMING_REPORT_H

#include "timing/collect.h"

/* How the commands of the queue are called: element n is the index of the n-th in its list; NULL
 * where there are none. */
struct timing_names {
    const size_t *index;
    size_t count;
};

void timing_text(const timing_collector *collector,
                 struct timing_names names,
                 struct facet_strbuf *out);

#endif
