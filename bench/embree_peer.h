/* Embree 3 as the peer of GFX12 tracing: the same scene and the same rays through rtcIntersect1,
 * rtcOccluded1, rtcIntersect8 and rtcIntersect1M.
 * The library is loaded when it is needed, so that the program itself does not need it; where the
 * header was missing at build time, or the library is now, creation fails with a message. */
#ifndef FACET_BENCH_EMBREE_PEER_H
#define FACET_BENCH_EMBREE_PEER_H

#include "gfx12/tracer.h"
#include "scene/scene.h"

struct embree_peer;

struct embree_hit {
    bool found;
    float t, u, v; /* u, v: weights of the second and third corner */
    uint32_t primitive;
    uint32_t instance; /* number of the scene's instance */
};

/* One mesh that stands where it was modelled becomes a flat Embree scene; anything else uses
 * Embree's instances. `robust` selects its watertight tests; the build quality is high. */
enum facet_status embree_peer_create(const struct facet_scene *scene,
                                     bool robust,
                                     struct embree_peer **out,
                                     struct facet_error *err);
void embree_peer_destroy(struct embree_peer *peer); /* NULL is allowed */

/* Rays one by one. */
typedef void embree_tracing(const struct embree_peer *peer,
                            const struct facet_gfx12_batch_ray *rays,
                            size_t count,
                            struct embree_hit *hits);

embree_tracing embree_peer_trace;    /* the closest hit, by rtcIntersect1 */
embree_tracing embree_peer_occluded; /* any hit, by rtcOccluded1: only `found` is set */

/* Rays in the form of Embree's packets and streams, made once: what is measured is tracing. */
struct embree_stream;

enum facet_status embree_stream_create(const struct embree_peer *peer,
                                       const struct facet_gfx12_batch_ray *rays,
                                       size_t count,
                                       struct embree_stream **out,
                                       struct facet_error *err);
void embree_stream_destroy(struct embree_stream *stream); /* NULL is allowed */
/* All of them, by rtcIntersect8 (`packets`) or rtcIntersect1M, as coherent rays. Returns how many
 * hit something. */
size_t embree_stream_trace(struct embree_stream *stream, bool packets);
/* "Embree 3.13.5", for tables. */
const char *embree_peer_name(const struct embree_peer *peer);

#endif
