/* Small scenes made by hand for the render tests, and a picture in one call. */
#ifndef FACET_TESTS_RENDER_SCENES_H
#define FACET_TESTS_RENDER_SCENES_H

#include "render/render.h"

/* Every function stops the program when memory is short: a test cannot go on then. */

/* A white, opaque, one-sided material without textures; change it through scene->materials. */
uint32_t add_material(struct facet_scene *scene, float r, float g, float b);

/* A rectangle with corners at middle -across -up, +across -up, +across +up, -across +up in this
 * order: its front looks along across x up. UV (0, 0) is at the last corner, (1, 1) at the second.
 */
uint32_t add_quad(struct facet_scene *scene,
                  uint32_t material,
                  const float middle[3],
                  const float across[3],
                  const float up[3]);

/* Placed by a 3 x 4 matrix; NULL: where it is. */
void add_instance(struct facet_scene *scene, uint32_t mesh, const float transform[12]);

/* An orthographic camera at `eye` that looks along -Z (or along -Y, with -Z up) and sees `half` to
 * each side. */
void add_flat_camera(struct facet_scene *scene, const float eye[3], bool down, float half);
void add_sun(struct facet_scene *scene, float x, float y, float z, float lux);
void add_point_light(struct facet_scene *scene, float x, float y, float z, float candela);

/* A texture of width x height RGBA texels, copied. */
uint32_t
add_texture(struct facet_scene *scene, uint32_t width, uint32_t height, const uint8_t *rgba);

/* facet_scene_finish, checked. */
void finish(struct facet_scene *scene);

/* facet_render_open and _draw with `threads` threads, checked. */
struct facet_image_f draw(const struct facet_scene *scene,
                          const struct facet_render_options *options,
                          unsigned threads,
                          struct facet_render_report *report);

static inline const float *pixel(const struct facet_image_f *image, uint32_t x, uint32_t y)
{
    return image->rgb + 3 * ((size_t)y * image->width + x);
}

/* Default options at a size with one sample, without ambient occlusion. */
struct facet_render_options plain_options(const struct facet_scene *scene, uint32_t w, uint32_t h);

#endif
