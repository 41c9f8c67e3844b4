/* Meshes made in memory for the BVH suites and the builder's measurements. */
#ifndef FACET_TESTS_BVH_MESHES_H
#define FACET_TESTS_BVH_MESHES_H

#include "gfx12/build/build.h"

struct mesh {
    struct facet_bvh_triangle *triangles;
    uint32_t count;
};

/* The cube of worked example 12. */
void mesh_cube(struct facet_bvh_triangle out[12]);
/* A bumpy sphere of 2 * rings * sectors triangles (two fans at the poles are degenerate-free),
 * centred away from the origin; coordinates use the whole mantissa. */
struct mesh mesh_planet(uint32_t rings, uint32_t sectors);
/* A height field: n * n quads over the unit square. */
struct mesh mesh_terrain(uint32_t n);
/* `count` unconnected triangles of random size in a cube. */
struct mesh mesh_soup(uint32_t count, uint64_t seed);
void mesh_free(struct mesh *mesh);

/* A random number from -1 to 1. */
float mesh_uniform(void);
/* An image of the meshes, which are freed, each in some of the instances; those are moved by up to
 * `reach` and have their number as user data. */
struct facet_gfx12_image
mesh_image(struct mesh *meshes, uint32_t count, uint32_t instances, float reach);

/* All members; the structs have bytes between them that mean nothing. */
struct facet_gfx12_hit;
bool same_hits(const struct facet_gfx12_hit *a, const struct facet_gfx12_hit *b);

#endif
