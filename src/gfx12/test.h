/* The two geometric tests of the GFX12 ray unit as pure functions over plain structs: box slabs
 * (9.2 step 4), triangles (9.4) and the ray transform (9.6) of gfx12-semantics.md. They know
 * nothing of nodes, flags or descriptors, so that faster versions can be compared with them value
 * by value. */
#ifndef FACET_GFX12_TEST_H
#define FACET_GFX12_TEST_H

#include <stdbool.h>
#include <stdint.h>

struct facet_gfx12_slab_ray {
    float origin[3];
    float inverse[3]; /* correctly rounded 1 / direction */
    float extent;
    float grow; /* factor on max_t, 9.2 step 5 */
};

struct facet_gfx12_slab_box {
    float lo[3];
    float hi[3];
};

struct facet_gfx12_slab {
    float enter, leave; /* A and B of 9.2, NaN replaced by 0 and +inf */
    float min_t, max_t;
    float limit; /* max_t * grow, right side of the hit test */
    bool hit;
};

/* The slab test with what it forms on each axis before A and B. */
struct facet_gfx12_slab_steps {
    float lo_o[3], hi_o[3]; /* plane minus origin */
    float near[3], far[3];
    struct facet_gfx12_slab slab;
};

void facet_gfx12_slab_ray_init(struct facet_gfx12_slab_ray *out,
                               const float origin[3],
                               const float direction[3],
                               float extent,
                               unsigned grow_value);
struct facet_gfx12_slab_steps facet_gfx12_slab_steps(const struct facet_gfx12_slab_ray *ray,
                                                     const struct facet_gfx12_slab_box *box);
/* The `slab` of the steps. */
struct facet_gfx12_slab facet_gfx12_slab_test(const struct facet_gfx12_slab_ray *ray,
                                              const struct facet_gfx12_slab_box *box);
/* What an empty slot gives: A = B = NaN. */
struct facet_gfx12_slab facet_gfx12_slab_empty(void);

/* Numerators, determinant and quotients of 9.4; every NaN has the bits of section 1 rule 3. */
struct facet_gfx12_tri_terms {
    float tn, det, un, vn;
    float t, u, v;
};
struct facet_gfx12_vec {
    float x, y, z;
};
/* The triangle test with the vectors that it forms before its dot products. */
struct facet_gfx12_tri_test_steps {
    struct facet_gfx12_vec e1, e2, e3, s1, s2;
    struct facet_gfx12_tri_terms terms;
};
struct facet_gfx12_tri_test_steps facet_gfx12_tri_test_steps(const uint32_t vertex[3][3],
                                                             const float origin[3],
                                                             const float direction[3]);
/* The `terms` of the steps. */
struct facet_gfx12_tri_terms
facet_gfx12_tri_test(const uint32_t vertex[3][3], const float origin[3], const float direction[3]);

/* Rows of four: (m0, m1, m2, translation), float bits. In place. */
void facet_gfx12_transform(const uint32_t rows[12], float origin[3], float direction[3]);

#endif
