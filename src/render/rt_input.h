/* From a scene to triangles in world space, for a BVH without instances (XPHMG_RT): `geometry` is
 * the instance's number in the scene, `primitive` the triangle's in its mesh. Corners keep their
 * order, so that a hit's u and v belong to them; an instance that mirrors shows its other side. */
#ifndef FACET_RENDER_RT_INPUT_H
#define FACET_RENDER_RT_INPUT_H

#include "bvh/input.h"
#include "scene/scene.h"

struct facet_render_rt_input {
    struct facet_bvh_triangle *triangles; /* free with free() */
    uint32_t count;
};

enum facet_status facet_render_rt_input_make(const struct facet_scene *scene,
                                             struct facet_render_rt_input *out,
                                             struct facet_error *err);

#endif
