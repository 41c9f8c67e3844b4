/* What `facet snapshot --info` says of a file and of the machine that it was made into, as text on
 * standard output and as JSON. */
#ifndef FACET_REPORT_SNAPSHOT_H
#define FACET_REPORT_SNAPSHOT_H

#include "session/snapshot_file.h"

#include <jansson.h>

void report_snapshot(const struct session_snapshot *file, const facet_machine *machine);
json_t *report_snapshot_json(const struct session_snapshot *file, const facet_machine *machine);

#endif
