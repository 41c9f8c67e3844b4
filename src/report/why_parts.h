/* What the answers of `facet bvh why` have in common. */
#ifndef FACET_REPORT_WHY_PARTS_H
#define FACET_REPORT_WHY_PARTS_H

#include "gfx12/ask/why.h"

#include <jansson.h>

/* A number, or the name of one that JSON does not have. */
json_t *report_why_real(double value);
/* The word that a line begins with. */
void report_why_label(const char *text);
void report_why_put_hit(const struct facet_gfx12_hit *hit);
json_t *report_why_hit_json(const struct facet_gfx12_hit *hit);

/* All triangles one by one. */
struct report_cross_check {
    bool done, agrees;
    uint64_t tested;
    struct facet_gfx12_hit hit;
};
enum facet_status report_cross_check(const struct facet_gfx12_unit *unit,
                                     const struct facet_gfx12_view *view,
                                     const struct facet_gfx12_walk *walk,
                                     const struct facet_gfx12_query *query,
                                     const struct facet_gfx12_hit *hit,
                                     struct report_cross_check *out,
                                     struct facet_error *err);
void report_cross_check_print(const struct report_cross_check *c);
json_t *report_cross_check_json(const struct report_cross_check *c);

/* The answer to --expect. */
json_t *report_why_json(const struct facet_gfx12_why *why,
                        const struct facet_gfx12_expect *expect,
                        const struct report_cross_check *check);

#endif
