/* Reading scene files. The file's bytes are untrusted: parsing and picture decoding happen in a
 * confined child process (confine/sandbox.h), files beside the scene are read by this process and
 * only from the scene's own folder and below, and the result is validated before anyone sees it. */
#ifndef FACET_SCENE_IMPORT_H
#define FACET_SCENE_IMPORT_H

#include "scene/scene.h"

#define FACET_IMPORT_MAX_FILE_BYTES                                                                \
    ((size_t)2 << 30)                 /* of the scene file and each file beside it */
#define FACET_IMPORT_MAX_FILES 16384U /* beside the scene file */
#define FACET_IMPORT_MAX_TOTAL_BYTES (UINT64_C(8) << 30) /* of them together */

enum facet_scene_format {
    FACET_FORMAT_GLTF, /* JSON or binary */
    FACET_FORMAT_OBJ,
    FACET_FORMAT_PLY,
    FACET_FORMAT_STL,
    FACET_FORMAT_COUNT,
};

/* A moment of an animation. */
struct facet_scene_pose {
    double time;           /* seconds */
    const char *animation; /* its name or its number; NULL: the first */
};

struct facet_bytes;

struct facet_import_options {
    const struct facet_scene_pose *pose; /* only glTF has them; NULL: the rest pose */
    bool shape_only; /* no textures are read, and meshes have nothing but positions */
    bool inactive;   /* vertices may be NaN, which makes their triangles inactive, and matrices
                      * may flatten their instances */
    /* Told of each file beside the scene that is read; NULL: nobody is. */
    void (*beside)(void *context, const char *name, const struct facet_bytes *bytes);
    void *context;
    uint64_t memory_bytes; /* 0: 8 GiB */
    uint32_t cpu_seconds;  /* of processor time; 0: 10, and one more per MiB of the files */
};

/* The format of a file, from its first bytes and, where these say nothing, its name. */
enum facet_status facet_scene_detect(const char *path,
                                     const uint8_t *data,
                                     size_t size,
                                     enum facet_scene_format *out,
                                     struct facet_error *err);

/* A finished scene (facet_scene_finish), or an error that starts with the path; "-" is standard
 * input. `options` may be NULL. The scene is empty on failure. */
enum facet_status facet_scene_import(const char *path,
                                     const struct facet_import_options *options,
                                     struct facet_scene *out,
                                     struct facet_error *err);

#endif
