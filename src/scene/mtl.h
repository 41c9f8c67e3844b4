/* The materials of an OBJ: those that its libraries (MTL files) define, and plain ones for names
 * that none defines. A material enters the scene when a mesh first uses it; only then is its
 * picture read, and only then is noted what of it is not used. */
#ifndef FACET_SCENE_MTL_H
#define FACET_SCENE_MTL_H

#include "scene/reader.h"
#include "scene/text.h"

struct facet_mtl_library;
struct facet_mtl_texture;
struct facet_mtl_material;

struct facet_mtl {
    const struct facet_reader *reader;
    struct facet_scene *scene;
    struct facet_error *err;
    void *tree;                          /* of materials, by name (tsearch) */
    struct facet_mtl_library *libraries; /* each once, however often it is named */
    struct facet_mtl_texture *textures;
    bool missing; /* a library: who defines its materials is not known */
};

/* The material of this name, with or without a definition; NULL without memory. Names stay where
 * they are: the bytes of the OBJ must outlive the materials. */
struct facet_mtl_material *facet_mtl_find(struct facet_mtl *mtl, struct facet_span name);

/* Reads the libraries of an `mtllib` line. A name ends with ".mtl" or with the line, so that it may
 * hold blanks. */
enum facet_status facet_mtl_read(struct facet_mtl *mtl, struct facet_span names);

/* The number of the material in the scene. */
enum facet_status
facet_mtl_use(struct facet_mtl *mtl, struct facet_mtl_material *material, uint32_t *index);

void facet_mtl_free(struct facet_mtl *mtl);

#endif
