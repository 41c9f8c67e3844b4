/* Procedural primitives that rays came to. */
#ifndef FACET_REPORT_CANDIDATES_H
#define FACET_REPORT_CANDIDATES_H

#include "base/strbuf.h"
#include "gfx12/ask/procedural.h"

/* A line of JSON for each. */
void report_candidates(const struct facet_gfx12_candidates *candidates, struct facet_strbuf *out);

#endif
