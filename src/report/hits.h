/* Files of hits, and of procedural primitives that rays came to. */
#ifndef FACET_REPORT_HITS_H
#define FACET_REPORT_HITS_H

#include "base/error.h"
#include "command/command.h"
#include "gfx12/ask/procedural.h"

/* One record per hit into `path` and, unless list_path is NULL, a line of JSON per candidate into
 * that file: both files or none. */
enum facet_status report_hits_write(const char *path,
                                    const struct facet_gfx12_hit *hits,
                                    size_t count,
                                    const char *list_path,
                                    const struct facet_gfx12_candidates *candidates,
                                    struct facet_error *err);

/* What `facet bvh trace` prints: JSON, or with --stats text. */
struct facet_gfx12_lost;
int report_trace(const struct cli_args *args,
                 size_t rays,
                 uint64_t hits,
                 const struct facet_gfx12_stats *stats,
                 const struct facet_gfx12_lost *lost);

#endif
