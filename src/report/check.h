/* What the validators of BVH images found. */
#ifndef FACET_REPORT_CHECK_H
#define FACET_REPORT_CHECK_H

#include "gfx12/check/check.h"

struct json_t;

/* What the validator of either format found. */
struct report_finding {
    uint64_t offset;
    const struct facet_gfx12_view *view; /* GFX12: the image, for address and file of the offset */
    const char *rule, *requirement, *severity, *expected, *found;
};
/* A line with the place, the rule and `words`. */
void report_finding_print(const struct report_finding *finding, const char *words);
struct json_t *report_finding_json(const struct report_finding *finding);

/* All findings of a GFX12 image and their number. */
void report_check_print(const struct facet_gfx12_view *view, const struct facet_gfx12_check *check);
struct json_t *report_check_json(const struct facet_gfx12_view *view,
                                 const struct facet_gfx12_check *check);

#endif
