/* The project's own scenes, computed: the same name and size give the same bytes on every host. */
#ifndef FACET_SCENE_MAKE_H
#define FACET_SCENE_MAKE_H

#include "scene/scene.h"

struct facet_recipe {
    const char *name;
    const char *summary;
    const char *size_means; /* what --size counts */
    uint32_t size, least, most;
};

/* Ends with a NULL name. */
extern const struct facet_recipe facet_recipes[];

const struct facet_recipe *facet_recipe_find(const char *name); /* NULL: no such scene */

/* Fills an empty scene, not yet finished (facet_scene_finish). size 0 stands for the recipe's own;
 * FACET_ERR_USAGE for an unknown name or a size outside the recipe's range. */
enum facet_status
facet_scene_make(const char *name, uint32_t size, struct facet_scene *out, struct facet_error *err);

#endif
