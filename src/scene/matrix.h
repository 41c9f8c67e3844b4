/* 3 x 4 matrices in double for composing node trees; results are rounded to float once, at the end.
 * Three rows of four, the last column is the translation. */
#ifndef FACET_SCENE_MATRIX_H
#define FACET_SCENE_MATRIX_H

#include <stdbool.h>

struct facet_affine {
    double m[12];
};

struct facet_affine facet_affine_identity(void);
struct facet_affine facet_affine_multiply(const struct facet_affine *a,
                                          const struct facet_affine *b);
/* Translation, rotation as a quaternion x y z w (brought to length 1; zero counts as none), scale.
 */
struct facet_affine
facet_affine_trs(const double translation[3], const double rotation[4], const double scale[3]);
double facet_affine_determinant(const struct facet_affine *a);
/* false: singular, *out is untouched. */
bool facet_affine_invert(const struct facet_affine *a, struct facet_affine *out);
bool facet_affine_finite(const struct facet_affine *a);
void facet_affine_point(const struct facet_affine *a, const double in[3], double out[3]);
void facet_affine_vector(const struct facet_affine *a, const double in[3], double out[3]);
void facet_affine_to_float(const struct facet_affine *a, float out[12]);
struct facet_affine facet_affine_from_float(const float in[12]);

/* Brings a vector to length 1; false (unchanged) when it has none. */
bool facet_scene_normalize(double v[3]);
void facet_scene_cross(const double a[3], const double b[3], double out[3]);

#endif
