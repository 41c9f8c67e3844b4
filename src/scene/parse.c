/* See parse.h. */
#include "scene/parse.h"

#include "base/side_file.h"
#include "scene/validate.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && strcasecmp(path + length - tail, suffix) == 0;
}

enum facet_status facet_scene_detect(const char *path,
                                     const uint8_t *data,
                                     size_t size,
                                     enum facet_scene_format *out,
                                     struct facet_error *err)
{
    size_t at = 0;

    if (size == 0) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "the file is empty");
    }
    while (at < size &&
           (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t')) {
        at++;
    }
    if (size >= 4 && memcmp(data, "glTF", 4) == 0) {
        *out = FACET_FORMAT_GLTF;
    } else if (size >= 4 && memcmp(data, "ply", 3) == 0 && (data[3] == '\n' || data[3] == '\r')) {
        *out = FACET_FORMAT_PLY;
    } else if (has_suffix(path, ".gltf") || has_suffix(path, ".glb")) {
        *out = FACET_FORMAT_GLTF;
    } else if (has_suffix(path, ".obj")) {
        *out = FACET_FORMAT_OBJ;
    } else if (has_suffix(path, ".ply")) {
        *out = FACET_FORMAT_PLY;
    } else if (has_suffix(path, ".stl") || facet_stl_is_binary(data, size) ||
               (size - at > 6 && memcmp(data + at, "solid ", 6) == 0)) {
        *out = FACET_FORMAT_STL;
    } else if (at < size && data[at] == '{') {
        *out = FACET_FORMAT_GLTF;
    } else {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "unknown kind of scene: expected .gltf, .glb, .obj, .ply or .stl");
    }
    return FACET_OK;
}

enum facet_status facet_scene_parse(enum facet_scene_format format,
                                    const struct facet_reader *reader,
                                    struct facet_scene *scene,
                                    struct facet_error *err)
{
    static enum facet_status (*const readers[FACET_FORMAT_COUNT])(
        const struct facet_reader *, struct facet_scene *, struct facet_error *) = {
        facet_gltf_read, facet_obj_read, facet_ply_read, facet_stl_read};

    if (reader->pose != NULL && format != FACET_FORMAT_GLTF) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "only glTF files have animations");
    }
    return readers[format](reader, scene, err);
}

enum facet_status facet_scene_folder_read(struct facet_scene_folder *folder,
                                          const char *name,
                                          struct facet_bytes *bytes,
                                          struct facet_error *err)
{
    uint64_t left = FACET_IMPORT_MAX_TOTAL_BYTES - folder->bytes;
    enum facet_status status;

    if (folder->path == NULL) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "a scene from standard input cannot refer to the file %.200s",
                          name);
    }
    if (++folder->files > FACET_IMPORT_MAX_FILES) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "the scene refers to more than %u other files",
                          FACET_IMPORT_MAX_FILES);
    }
    left = left < FACET_IMPORT_MAX_FILE_BYTES ? left : FACET_IMPORT_MAX_FILE_BYTES;
    status = facet_side_file_read(folder->path, name, (size_t)left, bytes, err);
    folder->bytes += bytes->size;
    return status;
}

static void drop_looks(struct facet_scene *scene)
{
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        struct facet_scene_mesh *mesh = &scene->meshes[i];

        free(mesh->normals);
        free(mesh->colors);
        mesh->normals = mesh->colors = NULL;
        for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
            free(mesh->uv[set]);
            mesh->uv[set] = NULL;
        }
    }
}

enum facet_status facet_scene_accept(struct facet_scene *scene,
                                     const struct facet_import_options *options,
                                     struct facet_error *err)
{
    enum facet_status status = options->inactive ? facet_scene_validate_shape(scene, err)
                                                 : facet_scene_validate(scene, err);

    if (status == FACET_OK) {
        status = facet_scene_finish(scene, err);
    }
    if (status == FACET_OK && options->shape_only) {
        drop_looks(scene);
    }
    return status;
}
