/* A GFX12 image as text: JSON that can be turned back into the same bytes, and a listing for
 * people.
 *
 * The JSON has one node per line, so that both directions work node by node:
 *
 *   {"format":"facet-gfx12","version":1,"base":"0x0","root":"0x5","size":256,"nodes":[
 *   {"offset":"0x0","kind":"box", ... },
 *   {"offset":"0x80","kind":"primitive", ... }
 *   ]}
 *
 * An image in pieces has "segments":[{"address":"0x1000","size":256}] in its head; offsets count in
 * the bytes of all of them. Where an address is not the offset a node has both.
 *
 * `fields`, `children`, `pairs` and so on are the node's bits by their names in the contract;
 * `decoded` repeats them as floats and IDs and is ignored on the way back. Blocks that nothing
 * reaches are kept as kind "raw". */
#ifndef FACET_GFX12_IMAGE_TEXT_H
#define FACET_GFX12_IMAGE_TEXT_H

#include "base/strbuf.h"
#include "gfx12/image/walk.h"

/* `part`: not all nodes follow, so that the text cannot become an image again. */
void facet_gfx12_json_head(const struct facet_gfx12_view *view,
                           bool part,
                           struct facet_strbuf *out);
/* One line without a newline or comma. */
void facet_gfx12_json_node(const struct facet_gfx12_view *view,
                           const struct facet_gfx12_walk *walk,
                           uint32_t node,
                           struct facet_strbuf *out);
/* Bytes after the last whole unit of 64, and the end of the file. */
void facet_gfx12_json_tail(const struct facet_gfx12_view *view, struct facet_strbuf *out);

/* A few lines per node. */
void facet_gfx12_listing(const struct facet_gfx12_view *view,
                         const struct facet_gfx12_walk *walk,
                         uint32_t node,
                         struct facet_strbuf *out);

#endif
