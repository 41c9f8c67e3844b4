/* Mesa's llvmpipe as the peer of texture sampling: one full-screen rectangle with a bilinear RGBA8
 * texture, drawn on the caller's thread into memory. The library is loaded when it is wanted; where
 * its header was missing at build time, or the library is now, creation fails with a message. */
#ifndef FACET_BENCH_OSMESA_PEER_H
#define FACET_BENCH_OSMESA_PEER_H

#include <facet/error.h>
#include <stdint.h>

struct osmesa_peer;

/* Texture and picture are squares of these many texels and pixels; `texels` is RGBA8. Coordinates
 * at the corners (left top, right top, right bottom, left bottom) are normalized and repeat. */
enum facet_status osmesa_peer_create(const uint8_t *texels,
                                     unsigned texture_size,
                                     unsigned picture_size,
                                     const float corners[4][2],
                                     struct osmesa_peer **out,
                                     struct facet_error *err);
void osmesa_peer_destroy(struct osmesa_peer *peer); /* NULL is allowed */

/* Draws the rectangle once and waits for it. The picture is RGBA8, the first row first. */
const uint8_t *osmesa_peer_draw(struct osmesa_peer *peer);
/* What the library calls itself. */
const char *osmesa_peer_name(const struct osmesa_peer *peer);

#endif
