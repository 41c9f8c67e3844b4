/* Meshes made in memory for the BVH suites and the builder's measurements. */
#ifndef FACET_TESTS_BVH_MESHES_H
#define FACET_TESTS_BVH_MESHES_H

#include "bvh/input.h"

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

/* All members; the structs have bytes between them that mean nothing. */
struct facet_gfx12_hit;
bool same_hits(const struct facet_gfx12_hit *a, const struct facet_gfx12_hit *b);

#endif
