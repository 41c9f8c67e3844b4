/* What the builders of images are given: plain geometry, no files and no scene graph
 * (gfx12-semantics.md section 12.1, rt-semantics.md 5). Everything is the caller's and is only
 * read. */
#ifndef FACET_BVH_INPUT_H
#define FACET_BVH_INPUT_H

#include <facet/bvh.h>

struct facet_bvh_triangle {
    float vertex[3][3];
    uint32_t geometry;  /* < 2^30 */
    uint32_t primitive; /* < 2^31 */
    uint32_t flags;
};

struct facet_bvh_aabb {
    float min[3], max[3];
    uint32_t geometry;
    uint32_t primitive;
    uint32_t flags; /* FACET_BVH_OPAQUE */
};

/* One bottom-level structure: triangles or boxes, never both. */
struct facet_bvh_blas_input {
    const struct facet_bvh_triangle *triangles;
    uint32_t triangle_count;
    const struct facet_bvh_aabb *aabbs;
    uint32_t aabb_count;
};

struct facet_bvh_instance {
    float world_to_object[3][4];
    uint32_t blas;      /* which of the bottom-level structures */
    uint32_t flags;     /* pointer flags of section 2.2 (FACET_GFX12_*), ten bits */
    uint32_t user_data; /* 24 bits */
    uint8_t mask;
};

struct facet_bvh_scene_input {
    const struct facet_bvh_blas_input *blas;
    uint32_t blas_count;
    const struct facet_bvh_instance *instances;
    uint32_t instance_count;
};

#endif
