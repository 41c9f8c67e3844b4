/* What a scene format's reader is given: the bytes of the file, a way to get the files beside it,
 * and an empty scene to fill. Readers run inside the sandbox (import.c), or directly in fuzz
 * targets and tests; they know nothing of either. What they produce is validated afterwards, so a
 * reader must never crash but may pass on bad numbers. */
#ifndef FACET_SCENE_READER_H
#define FACET_SCENE_READER_H

#include "base/file.h"
#include "scene/import.h"

struct facet_reader {
    const uint8_t *data;
    size_t size;
    const struct facet_scene_pose *pose; /* glTF; NULL: the rest pose */
    bool shape_only;                     /* no pictures are wanted */
    bool keep_flat; /* glTF: the same meshes and instances at every moment of every animation, also
                     * instances that a matrix flattens */
    /* A file beside the scene, by its relative name. NULL: there are none. Free data with free().
     */
    enum facet_status (*fetch)(void *context,
                               const char *name,
                               struct facet_bytes *out,
                               struct facet_error *err);
    void *context;
};

/* glTF 2.0, .gltf or .glb (gltf/). */
enum facet_status facet_gltf_read(const struct facet_reader *reader,
                                  struct facet_scene *scene,
                                  struct facet_error *err);

/* Wavefront OBJ with its material libraries (obj.c, mtl.c), STL (stl.c) and PLY (ply.c), text and
 * binary. None of them says which side of a triangle is its front, so their materials have two. */
enum facet_status facet_obj_read(const struct facet_reader *reader,
                                 struct facet_scene *scene,
                                 struct facet_error *err);
enum facet_status facet_stl_read(const struct facet_reader *reader,
                                 struct facet_scene *scene,
                                 struct facet_error *err);
enum facet_status facet_ply_read(const struct facet_reader *reader,
                                 struct facet_scene *scene,
                                 struct facet_error *err);

/* A binary STL is 84 bytes and 50 per triangle, exactly; its first 80 may be anything, also the
 * word with which the text form begins. */
bool facet_stl_is_binary(const uint8_t *data, size_t size);

#endif
