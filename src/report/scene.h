/* What a scene holds, for `facet scene info`. */
#ifndef FACET_REPORT_SCENE_H
#define FACET_REPORT_SCENE_H

#include "scene/scene.h"

struct json_t;

/* On standard output; long lists are cut short. */
void report_scene_text(const char *path, const struct facet_scene *scene);
/* All of it. */
struct json_t *report_scene_json(const char *path, const struct facet_scene *scene);

#endif
