/* Random structures (oriented boxes, ranges, procedural and non-opaque primitives, instances),
 * random descriptors and rays that are out to find differences between two ways to trace; also
 * damaged images. */
#ifndef FACET_TESTS_GFX12_WORLDS_H
#define FACET_TESTS_GFX12_WORLDS_H

#include "gfx12/build/build.h"
#include "gfx12/tracer.h"

enum { MAX_BLAS = 3, MAX_INSTANCES = 6, MAX_PRIMITIVES = 160 };

struct world {
    struct facet_gfx12_image image;
    struct facet_gfx12_unit unit;
    struct facet_bvh_triangle triangles[MAX_BLAS][MAX_PRIMITIVES];
    struct facet_bvh_aabb aabbs[MAX_BLAS][MAX_PRIMITIVES];
    struct facet_bvh_blas_input blas[MAX_BLAS];
    struct facet_bvh_instance instances[MAX_INSTANCES];
    struct facet_bvh_scene_input scene;
    uint64_t base;
    bool grid; /* coordinates on a coarse grid: equal keys, equal t, rays in planes */
};

/* From 0 to n - 1. */
unsigned below(unsigned n);
float in_range(float lo, float hi);
float odd_float(void);

/* `damaged`: bits are flipped in nodes. NULL after a failed check. */
struct world *world_new(bool damaged);
void world_free(struct world *w);
void random_triangles(struct world *w, unsigned b);
void random_unit(struct world *w);
void random_ray(const struct world *w, struct facet_gfx12_batch_ray *ray);
uint32_t random_api_flags(void);

#endif
