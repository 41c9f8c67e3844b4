/* Embree 3's builders as the peer of area `bvh`: whole builds of a mesh, and a tree to count nodes
 * in. Like embree_peer.h it loads the library at run time and says so when it is not installed. */
#ifndef FACET_BENCH_EMBREE_BUILD_PEER_H
#define FACET_BENCH_EMBREE_BUILD_PEER_H

#include "base/error.h"
#include "gfx12/tracer.h"
#include "scene/scene.h"

#include <stdbool.h>

struct embree_builder;

/* A device with one thread and a geometry with the mesh in it; the mesh must outlive it. */
enum facet_status embree_builder_create(const struct facet_scene_mesh *mesh,
                                        struct embree_builder **out,
                                        struct facet_error *err);

/* Builds a scene of the mesh, with medium or high quality, and releases it. */
void embree_builder_build(const struct embree_builder *builder, bool high);

/* Moves every second vertex up or, the next time, back, and refits a scene of the mesh to it, which
 * the first call builds. */
void embree_builder_refit(struct embree_builder *builder);

/* What the rays meet on average in a tree of eight children per node that rtcBuildBVH makes,
 * counted as the loop of GFX12 would meet it: boxes as large as box nodes hold them, a visit for
 * each box node and each pair of triangles, and no distances on the stack. The sizes of leaves are
 * those that give the fewest visits here; quality high of rtcBuildBVH, with triangles split, gives
 * no fewer. */
enum facet_status embree_builder_nodes_per_ray(const struct embree_builder *builder,
                                               const struct facet_gfx12_batch_ray *rays,
                                               size_t count,
                                               double *nodes,
                                               struct facet_error *err);

#endif
