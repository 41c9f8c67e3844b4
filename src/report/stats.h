/* Statistics of a GFX12 image. */
#ifndef FACET_REPORT_STATS_H
#define FACET_REPORT_STATS_H

#include "gfx12/image/stats.h"

struct json_t;

/* NULL when memory is short. */
struct json_t *report_stats_json(const struct facet_gfx12_bvh_stats *stats);
void report_stats_print(const struct facet_gfx12_bvh_stats *stats);
double report_bytes_per_triangle(const struct facet_gfx12_bvh_stats *stats);

#endif
