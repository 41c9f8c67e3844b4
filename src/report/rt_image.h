/* What `facet bvh check` and `info` say about a BVH image of XPHMG_RT, as text on standard output
 * and as JSON. */
#ifndef FACET_REPORT_RT_IMAGE_H
#define FACET_REPORT_RT_IMAGE_H

#include "rt_image/check.h"

#include <jansson.h>

void report_rt_findings(const struct facet_rtbvh_check *check);
json_t *report_rt_findings_json(const struct facet_rtbvh_check *check);
/* The header is sound. */
void report_rt_info(const struct facet_rtbvh_check *check);
json_t *report_rt_info_json(const struct facet_rtbvh_check *check);

#endif
