/* RT images as text: one node or TriRange at a time, for people and as JSON that can be turned
 * back into the same bytes:
 *
 *   {"format": "xphmg4", "version": 1, ... the header ...,
 *   "places": [
 *   {"offset": "0x80", "kind": "node", "index": 0, "children": [...]},
 *   {"offset": "0x100", "kind": "leaf", "index": 8, "first": 0, "count": 2, ...}
 *   ],
 *   "other": [{"offset": "0x1f0", "bytes": "00ff"}]}
 *
 * `elements` are stored codes; `min`, `max` and `corners` repeat them as numbers and are ignored on
 * the way back. `other` has the bytes that the members before it do not give: what nothing reaches,
 * padding that is not 0. */
#ifndef FACET_RT_IMAGE_TEXT_H
#define FACET_RT_IMAGE_TEXT_H

#include "base/strbuf.h"
#include "rt_image/build.h"
#include "rt_image/check.h"

/* The place must be one that the check reached. */
void facet_rtbvh_listing(const struct facet_rtbvh_view *view,
                         const struct facet_rtbvh_place *place,
                         struct facet_strbuf *out);
/* The JSON value is head, then the places separated by ",\n", then tail. */
void facet_rtbvh_json_head(const struct facet_rtbvh_view *view, struct facet_strbuf *out);
void facet_rtbvh_json_place(const struct facet_rtbvh_view *view,
                            const struct facet_rtbvh_place *place,
                            struct facet_strbuf *out);
/* false: out of memory. */
bool facet_rtbvh_json_tail(const struct facet_rtbvh_check *check, struct facet_strbuf *out);

#endif
