/* Tile images as text: one node or TriRange at a time, for people and as JSON. */
#ifndef FACET_BVH_RT_TEXT_H
#define FACET_BVH_RT_TEXT_H

#include "base/strbuf.h"
#include "bvh/rt_check.h"

/* The place must be one that the check reached. */
void facet_rtbvh_listing(const struct facet_rtbvh_view *view,
                         const struct facet_rtbvh_place *place,
                         struct facet_strbuf *out);
/* The JSON value is head, then the places parted by ",\n", then tail. */
void facet_rtbvh_json_head(const struct facet_rtbvh_view *view, struct facet_strbuf *out);
void facet_rtbvh_json_place(const struct facet_rtbvh_view *view,
                            const struct facet_rtbvh_place *place,
                            struct facet_strbuf *out);
void facet_rtbvh_json_tail(struct facet_strbuf *out);

#endif
