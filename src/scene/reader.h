/* What a scene format's reader is given: the bytes of the file, a way to get the files beside it,
 * and an empty scene to fill. Readers run inside the sandbox (import.c), or directly in fuzz
 * targets and tests; they know nothing of either. What they produce is validated afterwards, so a
 * reader must never crash but may pass on bad numbers. */
#ifndef FACET_SCENE_READER_H
#define FACET_SCENE_READER_H

#include "base/file.h"
#include "scene/scene.h"

struct facet_reader {
    const uint8_t *data;
    size_t size;
    /* A file beside the scene, by its relative name. NULL: there are none. Free data with free().
     */
    enum facet_status (*fetch)(void *context,
                               const char *name,
                               struct facet_bytes *out,
                               struct facet_error *err);
    void *context;
    /* Who reads glTF whose meshes are compressed with Draco: facet_assimp_read(). NULL: refused. */
    enum facet_status (*draco)(const struct facet_reader *reader,
                               const char *extension,
                               struct facet_scene *scene,
                               struct facet_error *err);
};

/* glTF 2.0, .gltf or .glb (gltf/). */
enum facet_status facet_gltf_read(const struct facet_reader *reader,
                                  struct facet_scene *scene,
                                  struct facet_error *err);

/* Loads the Assimp library, once; any thread. Called in the child before it is confined: afterwards
 * it could not be loaded any more. */
enum facet_status facet_assimp_load(struct facet_error *err);

/* Anything Assimp reads (assimp.c); `extension` chooses the importer ("obj", "ply", "stl", "glb").
 */
enum facet_status facet_assimp_read(const struct facet_reader *reader,
                                    const char *extension,
                                    struct facet_scene *scene,
                                    struct facet_error *err);

#endif
