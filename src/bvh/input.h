/* What the builders of images are given: plain geometry, no files and no scene graph
 * (gfx12-semantics.md section 12.1, rt-semantics.md 5). Everything is the caller's and is only
 * read. */
#ifndef FACET_BVH_INPUT_H
#define FACET_BVH_INPUT_H

#include <facet/bvh.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/* Triangles as numbers of corners: a third of the memory, and three look-ups to read one. The
 * primitive index is the number in the mesh. */
struct facet_bvh_indexed {
    const float *positions;
    const uint32_t *indices; /* three for each triangle */
    uint32_t first;          /* its first triangle's number in the structure */
    uint32_t geometry, flags;
};

/* One bottom-level structure: triangles or boxes, never both. */
struct facet_bvh_blas_input {
    const struct facet_bvh_triangle *triangles; /* NULL: they are those of the meshes */
    const struct facet_bvh_indexed *meshes;
    uint32_t mesh_count;
    uint32_t triangle_count;
    const struct facet_bvh_aabb *aabbs;
    uint32_t aabb_count;
};

/* The mesh that has triangle i. */
static inline const struct facet_bvh_indexed *
facet_bvh_indexed_of(const struct facet_bvh_blas_input *in, uint32_t i)
{
    uint32_t low = 0, high = in->mesh_count;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (in->meshes[middle].first <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &in->meshes[low];
}

/* Triangle i, which may have to be put together in `room`. */
static inline const struct facet_bvh_triangle *facet_bvh_triangle_at(
    const struct facet_bvh_blas_input *in, uint32_t i, struct facet_bvh_triangle *room)
{
    const struct facet_bvh_indexed *mesh;
    const uint32_t *corner;

    if (in->triangles != NULL) {
        return &in->triangles[i];
    }
    mesh = facet_bvh_indexed_of(in, i);
    corner = mesh->indices + 3 * (size_t)(i - mesh->first);
    for (int c = 0; c < 3; c++) {
        memcpy(room->vertex[c], mesh->positions + 3 * (size_t)corner[c], sizeof room->vertex[c]);
    }
    room->geometry = mesh->geometry;
    room->primitive = i - mesh->first;
    room->flags = mesh->flags;
    return room;
}

struct facet_bvh_instance {
    float world_to_object[3][4];
    uint32_t blas;      /* which of the bottom-level structures */
    uint32_t flags;     /* pointer flags of section 2.2 (FACET_GFX12_*), ten bits */
    uint32_t user_data; /* 24 bits */
    uint8_t mask;
    bool off; /* its own matrix flattens it: an image may have it, for updates, but none needs it */
};

struct facet_bvh_scene_input {
    const struct facet_bvh_blas_input *blas;
    uint32_t blas_count;
    const struct facet_bvh_instance *instances;
    uint32_t instance_count;
};

#endif
