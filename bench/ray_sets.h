/* The rays of the areas `gfx12` and `rt`: one ray per pixel of a camera, and one diffuse bounce
 * from every hit. Embree traces them as the peer. */
#ifndef FACET_BENCH_RAY_SETS_H
#define FACET_BENCH_RAY_SETS_H

#include "bench/embree_peer.h"
#include "bench/gfx12_rays.h"

enum { WIDTH = 640, HEIGHT = 360, RAYS = WIDTH * HEIGHT };

enum ray_set { PRIMARY, DIFFUSE, SETS };

struct ray_sets {
    struct facet_gfx12_batch_ray *rays[SETS]; /* room for RAYS each */
    size_t count[SETS];
    struct embree_peer *peer; /* made when it is first needed */
    struct embree_hit *hits;  /* of the peer */
};

/* Empty sets. */
enum facet_status ray_sets_make(struct ray_sets *sets, struct facet_error *err);
/* Million rays of the set per second that Embree's rtcIntersect1 traces in the scene. */
enum facet_status ray_sets_peer_rate(struct ray_sets *sets,
                                     const struct facet_scene *scene,
                                     enum ray_set set,
                                     double seconds,
                                     double *value,
                                     struct facet_error *err);

#endif
