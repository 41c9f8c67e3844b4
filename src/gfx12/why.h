/* One ray through one image, explained: every node that the reference loop visits with every value
 * that the contract names on the way (planes, dequantized boxes, differences, products, near and
 * far, interval, key; edges, cross products, numerators, quotients), the result registers, the
 * stack. */
#ifndef FACET_GFX12_WHY_H
#define FACET_GFX12_WHY_H

#include "base/error.h"

#include <facet/gfx12.h>

struct json_t;

struct facet_gfx12_why_options {
    bool one_node;      /* only visits of `node` */
    uint32_t node;      /* a node that is not visited is tested by itself, with the ray as given */
    uint64_t max_steps; /* 0: 10 000 */
};

/* An object with the members ray, visits and hit (docs/commands.md); release it with json_decref.
 * The callbacks of the query are not used. A traversal that reaches max_steps has "ended" =
 * "max_steps" instead of "stack empty" or "first hit". */
enum facet_status facet_gfx12_why(const struct facet_gfx12_unit *unit,
                                  const struct facet_gfx12_query *query,
                                  const struct facet_gfx12_why_options *options,
                                  struct json_t **out,
                                  struct facet_error *err);

#endif
