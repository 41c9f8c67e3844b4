/* Mesa's llvmpipe, without a window system (OSMesa), as the peer of rasterizing and sampling: one
 * context with a colour buffer of its own, on the calling thread or with threads besides it. The
 * library is loaded when it is needed, so that the program itself does not need it; where the
 * header was missing at build time, or the library is now, creation fails with a message. */
#ifndef FACET_BENCH_OSMESA_PEER_H
#define FACET_BENCH_OSMESA_PEER_H

#include <facet/error.h>
#include <stdint.h>

struct osmesa_peer;

/* A context of OpenGL's compatibility profile with `depth_bits` of depth (0: none), made current on
 * this thread. `threads` others fill the pixels (0: none, everything happens here); all contexts
 * with threads have as many as the first one. */
enum facet_status osmesa_peer_create_threads(unsigned width,
                                             unsigned height,
                                             unsigned depth_bits,
                                             unsigned threads,
                                             struct osmesa_peer **out,
                                             struct facet_error *err);
/* The same without threads. */
enum facet_status osmesa_peer_create(unsigned width,
                                     unsigned height,
                                     unsigned depth_bits,
                                     struct osmesa_peer **out,
                                     struct facet_error *err);
void osmesa_peer_destroy(struct osmesa_peer *peer); /* NULL is allowed */

/* Another peer may have been made current meanwhile. */
void osmesa_peer_use(struct osmesa_peer *peer);
/* A function of OpenGL by its name, to be cast to its type; NULL when there is none. */
void (*osmesa_peer_function(const struct osmesa_peer *peer, const char *name))(void);
/* width * height words A << 24 | R << 16 | G << 8 | B, the bottom row first. Finish drawing first.
 */
const uint32_t *osmesa_peer_pixels(const struct osmesa_peer *peer);
/* "llvmpipe (LLVM 15.0.6, 256 bits)", for tables. */
const char *osmesa_peer_name(const struct osmesa_peer *peer);

#endif
