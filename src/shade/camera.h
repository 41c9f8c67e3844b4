/* Rays of a camera. */
#ifndef FACET_SHADE_CAMERA_H
#define FACET_SHADE_CAMERA_H

#include "scene/scene.h"

struct facet_shade_ray {
    float origin[3], direction[3]; /* direction has any length; t counts in it */
    float t_min, t_max;            /* hits strictly between the two */
};

struct facet_shade_lens;

void facet_shade_lens_make(const struct facet_scene_camera *camera,
                           uint32_t width,
                           uint32_t height,
                           struct facet_shade_lens *out);
/* Through (x, y) of the picture, in pixels from its top left corner. The ray's t is the depth along
 * the camera's axis, so that near and far plane are its ends. */
void facet_shade_lens_ray(const IN_SCENE struct facet_shade_lens *lens,
                          double x,
                          double y,
                          struct facet_shade_ray *out);

#endif
