/* Files that an OBJ or PLY names: material libraries and pictures. Such scenes are often shipped
 * without them, so one that is missing, or a damaged picture, is noted and the scene is read
 * without; one that the host cannot read is an error, as the result would depend on the host. */
#ifndef FACET_SCENE_BESIDE_H
#define FACET_SCENE_BESIDE_H

#include "scene/reader.h"
#include "scene/text.h"

/* The longest name that is looked for. */
#define FACET_BESIDE_NAME_BYTES 1024

/* The name as a path: backslashes become slashes. Longer ones are cut, and then not found. */
void facet_scene_beside_name(char to[FACET_BESIDE_NAME_BYTES], struct facet_span name);

/* FACET_OK with out->data == NULL: it is missing, and noted as "KIND NAME"; `instead` says what
 * replaces it. Free data with free(). */
enum facet_status facet_scene_beside_fetch(const struct facet_reader *reader,
                                           const char *kind,
                                           const char *name,
                                           const char *instead,
                                           struct facet_scene *scene,
                                           struct facet_bytes *out,
                                           struct facet_error *err);

/* The picture as a texture of the scene; FACET_SCENE_NONE when it is missing or damaged. */
enum facet_status facet_scene_beside_texture(const struct facet_reader *reader,
                                             const char *name,
                                             struct facet_scene *scene,
                                             uint32_t *texture,
                                             struct facet_error *err);

#endif
