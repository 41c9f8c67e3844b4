/* Placing meshes: 3 x 4 matrices by rows, computed in binary64 and rounded once. */
#ifndef FACET_BVH_AFFINE_H
#define FACET_BVH_AFFINE_H

#include <stdbool.h>

/* false when there is no inverse that a ray could be taken through. */
bool facet_bvh_affine_invert(const float m[12], float out[3][4]);
void facet_bvh_affine_apply(const float m[12], const float p[3], float out[3]);

#endif
