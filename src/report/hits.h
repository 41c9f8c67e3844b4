/* Files of hits, and of procedural primitives that rays came to. */
#ifndef FACET_REPORT_HITS_H
#define FACET_REPORT_HITS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "command/command.h"
#include "gfx12/ask/procedural.h"

/* A hit as eight little-endian dwords. */
enum { REPORT_HIT = 32 };
void report_hit(const struct facet_gfx12_hit *hit, uint8_t record[REPORT_HIT]);
bool report_hit_found(const uint8_t record[REPORT_HIT]);

/* A line of JSON per candidate; their rays are counted from `first`. */
void report_candidates(const struct facet_gfx12_candidates *candidates,
                       uint64_t first,
                       struct facet_strbuf *out);

/* What `facet bvh trace` prints: JSON, or with `text` lines. `stack`: the argument of --stack, or
 * NULL. */
struct facet_gfx12_lost;
int report_trace(const struct cli_args *args,
                 const char *stack,
                 bool text,
                 size_t rays,
                 uint64_t hits,
                 const struct facet_gfx12_stats *stats,
                 const struct facet_gfx12_lost *lost);

#endif
