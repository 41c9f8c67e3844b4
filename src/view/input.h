/* What a file is to the inspector's page: an image, a scene with the files that it names, or a
 * program or list as it is. */
#ifndef FACET_VIEW_INPUT_H
#define FACET_VIEW_INPUT_H

#include "base/array.h"
#include "scene/import.h"
#include "session/bvh/file.h"

#include <jansson.h>

/* A file that a scene or a list names. */
struct view_beside {
    char *name;
    struct facet_bytes file;
};

/* The page's input; `bvh` owns the bytes of an image or a scene, `file` those of anything else and
 * of a capture. */
struct view_shown {
    struct session_bvh bvh;
    struct facet_bytes file;
    const uint8_t *bytes;
    size_t size;
    struct facet_array beside; /* of struct view_beside */
    bool failed;               /* memory ran short for them */
    bool tiles;                /* an image of XPHMG_RT */
    json_t *made; /* what the page is told: kind, whose headers, and where rays start */
};

/* Imports a scene once, to say here what is wrong with it and to learn which files it names. The
 * complaint is printed when it returns false. */
typedef bool
view_import(const struct cli_args *args, const char *path, struct facet_import_options options);

/* Reads FILE and the options of images. The complaint is printed when it returns false. Free in
 * every case. */
bool view_shown_read(const struct cli_args *args,
                     const char *path,
                     view_import *import,
                     struct view_shown *out);
void view_shown_free(struct view_shown *shown);

#endif
