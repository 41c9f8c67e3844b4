/* What both forms of a report say in the same words. */
#ifndef FACET_TIMING_REPORT_PARTS_H
#define FACET_TIMING_REPORT_PARTS_H

#include "timing/report.h"

enum { TIMING_LIMIT_SIZE = 64 };

/* What limits the core, with the unit's name. */
void timing_core_limit(const struct timing_core_report *core, char text[TIMING_LIMIT_SIZE]);
void timing_segment_limit(const struct timing_segment *s, char text[TIMING_LIMIT_SIZE]);
uint64_t timing_total(const struct timing_segment *segments, size_t count);
/* Of a segment's command, in its list. */
size_t timing_index_of(struct timing_names names, const struct timing_segment *s);

#endif
