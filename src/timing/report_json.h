/* A report as JSON: "timing" of `--json` (docs/timing.md). */
#ifndef FACET_TIMING_REPORT_JSON_H
#define FACET_TIMING_REPORT_JSON_H

#include "timing/report.h"

#include <jansson.h>

/* A new object, NULL without memory. */
json_t *timing_json(const timing_collector *collector, struct timing_names names);

#endif
