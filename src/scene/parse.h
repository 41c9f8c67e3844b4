/* What importing a scene is besides the confined process (import.c): the reader of its format, the
 * files beside it within the limits of import.h, and what is checked before anyone sees the scene.
 * The page of the inspector has no process to start and goes these steps itself. */
#ifndef FACET_SCENE_PARSE_H
#define FACET_SCENE_PARSE_H

#include "scene/reader.h"

enum facet_status facet_scene_parse(enum facet_scene_format format,
                                    const struct facet_reader *reader,
                                    struct facet_scene *scene,
                                    struct facet_error *err);

/* Where the files beside a scene are, and what was read of them. */
struct facet_scene_folder {
    const char *path; /* NULL: the scene is standard input */
    uint32_t files;
    uint64_t bytes;
};

enum facet_status facet_scene_folder_read(struct facet_scene_folder *folder,
                                          const char *name,
                                          struct facet_bytes *bytes,
                                          struct facet_error *err);

/* Checks and finishes what a reader has made. */
enum facet_status facet_scene_accept(struct facet_scene *scene,
                                     const struct facet_import_options *options,
                                     struct facet_error *err);

#endif
