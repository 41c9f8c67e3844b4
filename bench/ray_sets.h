/* The rays of the areas `gfx12` and `rt`: one ray per pixel of a camera row by row, one diffuse
 * bounce from every hit, and the rays of the camera again, in squares of 16 pixels that consist of
 * blocks of 4 by 4 (a packet of eight has half of one). Embree traces them as the peer. */
#ifndef FACET_BENCH_RAY_SETS_H
#define FACET_BENCH_RAY_SETS_H

#include "bench/embree_peer.h"
#include "bench/gfx12_rays.h"

enum { WIDTH = 640, HEIGHT = 360, RAYS = WIDTH * HEIGHT };

enum ray_set { PRIMARY, DIFFUSE, SQUARES, SETS };

struct ray_sets {
    struct facet_gfx12_batch_ray *rays[SETS]; /* room for RAYS each */
    size_t count[SETS];
    struct embree_peer *peer;     /* made when it is first needed */
    struct embree_stream *stream; /* of SQUARES, likewise */
    struct embree_hit *hits;      /* of the peer */
};

/* Empty sets. */
enum facet_status ray_sets_make(struct ray_sets *sets, struct facet_error *err);
/* Fills SQUARES from PRIMARY. */
void ray_sets_make_squares(struct ray_sets *sets);
/* Million rays of the set per second that Embree traces in the scene, one by one. */
enum facet_status ray_sets_peer_rate(struct ray_sets *sets,
                                     const struct facet_scene *scene,
                                     enum ray_set set,
                                     embree_tracing *trace,
                                     double seconds,
                                     double *value,
                                     struct facet_error *err);
/* SQUARES by the faster of rtcIntersect8 and rtcIntersect1M, told that the rays are coherent. Both
 * find the rays in the form that they read. */
enum facet_status ray_sets_stream_rate(struct ray_sets *sets,
                                       const struct facet_scene *scene,
                                       double seconds,
                                       double *value,
                                       struct facet_error *err);

#endif
