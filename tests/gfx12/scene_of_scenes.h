/* Instances below instances, as HIPRT's scenes of scenes: three levels, and one instance that leads
 * to the bottom at once. */
#ifndef FACET_TESTS_GFX12_SCENE_OF_SCENES_H
#define FACET_TESTS_GFX12_SCENE_OF_SCENES_H

#include "gfx12/pack.h"

enum { SCENES_MIDDLE = 5, SCENES_TOP = 3 };

struct scene_of_scenes {
    struct pack_image image;
    size_t blas, middle, top;
    struct pack_instance below[SCENES_MIDDLE], above[SCENES_TOP];
};

/* pack_free(&s->image) releases it. */
void scene_of_scenes_build(struct scene_of_scenes *s);
void scene_of_scenes_ray(float ray[2][3]); /* origin and direction */

#endif
