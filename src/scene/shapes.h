/* Building blocks of the generated scenes. A `maker` collects into a scene and remembers the first
 * failure, so that recipes read as lists of things. Only +, -, *, / and sqrt on doubles: every host
 * computes the same bits (no libm functions whose last bit may differ). */
#ifndef FACET_SCENE_SHAPES_H
#define FACET_SCENE_SHAPES_H

#include "image/image.h"
#include "scene/matrix.h"
#include "scene/scene.h"

struct maker {
    struct facet_scene *scene;
    struct facet_error *err;
    enum facet_status status;
};

/* sin and cos of a full turn's fraction, exact at multiples of a quarter. */
void facet_maker_sincos(double turns, double *sine, double *cosine);

/* Materials: a plain colour, or one with a texture. Linear components. */
uint32_t facet_maker_color(struct maker *m, const char *name, float r, float g, float b);
uint32_t facet_maker_textured(struct maker *m, const char *name, uint32_t texture);
struct facet_scene_material *facet_maker_material(struct maker *m,
                                                  uint32_t material); /* to adjust */

/* A texture from a function of (x, y) in 0..size-1. */
typedef void maker_texel(uint32_t x, uint32_t y, uint32_t size, uint8_t rgba[4]);
uint32_t facet_maker_texture(struct maker *m, const char *name, uint32_t size, maker_texel *texel);

/* A surface over the unit square, divided into columns x rows cells of two triangles. The function
 * gives position and normal. */
typedef void maker_surface(void *context, double u, double v, double position[3], double normal[3]);
uint32_t facet_maker_grid(struct maker *m,
                          const char *name,
                          uint32_t material,
                          uint32_t columns,
                          uint32_t rows,
                          maker_surface *surface,
                          void *context);

/* Unit shapes around the origin: a cube of side 1, a sphere of radius 1/2, a square of side 1 that
 * faces +Z, a cylinder of height and diameter 1 along Y with caps. UVs cover 0..1; `repeat` scales
 * those of the square. */
uint32_t facet_maker_cube(struct maker *m, const char *name, uint32_t material);
uint32_t facet_maker_sphere(struct maker *m, const char *name, uint32_t material, uint32_t rings);
uint32_t facet_maker_square(struct maker *m, const char *name, uint32_t material, float repeat);
uint32_t facet_maker_cylinder(struct maker *m, const char *name, uint32_t material, uint32_t sides);
/* A (2, 3) torus knot, about 2 across. */
uint32_t facet_maker_knot(struct maker *m, const char *name, uint32_t material, uint32_t length);

void facet_maker_place(struct maker *m, uint32_t mesh, const struct facet_affine *matrix);
/* Moved and scaled. */
void facet_maker_put(
    struct maker *m, uint32_t mesh, double x, double y, double z, double sx, double sy, double sz);
/* Turned about Y by a fraction of a turn, scaled before, moved after. */
void facet_maker_turn(struct maker *m,
                      uint32_t mesh,
                      double x,
                      double y,
                      double z,
                      double sx,
                      double sy,
                      double sz,
                      double turns);

void facet_maker_camera(struct maker *m, const double eye[3], const double target[3], float y_fov);
void facet_maker_sun(struct maker *m, const double direction[3], float intensity);
void facet_maker_point_light(struct maker *m, double x, double y, double z, float intensity);

#endif
