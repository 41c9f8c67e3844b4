/* The two forms in which `facet bvh why` prints an explanation. */
#ifndef FACET_CLI_BVH_WHY_H
#define FACET_CLI_BVH_WHY_H

#include "gfx12/why.h"

struct json_t;

void bvh_why_text_node(const struct facet_gfx12_why *w);
void bvh_why_text_step(const struct facet_gfx12_why_step *step);
void bvh_why_text_result(const struct facet_gfx12_why_result *result);

struct json_t *bvh_why_json_node(const struct facet_gfx12_why *w);
struct json_t *bvh_why_json_step(const struct facet_gfx12_why_step *step);
struct json_t *bvh_why_json_result(const struct facet_gfx12_why_result *result);
/* {"bits": "0x3f800000", "value": 1.0}; infinities and NaN have a string as value. */
struct json_t *bvh_why_json_float(float value);

#endif
