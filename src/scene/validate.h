/* The promises of scene.h, checked: after this, users index and divide without looking. */
#ifndef FACET_SCENE_VALIDATE_H
#define FACET_SCENE_VALIDATE_H

#include "scene/scene.h"

/* FACET_ERR_INPUT with the mesh, vertex or triangle of the first broken promise. */
enum facet_status facet_scene_validate(const struct facet_scene *scene, struct facet_error *err);
/* The same, but positions may be NaN and matrices singular. */
enum facet_status facet_scene_validate_shape(const struct facet_scene *scene,
                                             struct facet_error *err);

#endif
