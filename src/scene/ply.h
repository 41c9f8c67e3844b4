/* Inside of the PLY reader: ply.c reads the header, ply_body.c the items, ply_mesh.c makes a mesh
 * of them. */
#ifndef FACET_SCENE_PLY_H
#define FACET_SCENE_PLY_H

#include "base/array.h"
#include "scene/reader.h"
#include "scene/text.h"

#define PLY_ELEMENTS 32
#define PLY_PROPERTIES 256

struct ply_type {
    const char *names;
    uint8_t bytes;
    char kind;      /* i signed, u unsigned, f float */
    float greatest; /* of a colour: what stands for 1 */
};

/* What a property is used for. The first ones are places in a vertex. */
enum ply_role {
    PLY_X,
    PLY_Y,
    PLY_Z,
    PLY_NX,
    PLY_NY,
    PLY_NZ,
    PLY_RED,
    PLY_GREEN,
    PLY_BLUE,
    PLY_ALPHA,
    PLY_U,
    PLY_V,
    PLY_VALUES,
    PLY_CORNERS = PLY_VALUES, /* of a face */
    PLY_STRIP,                /* corners of many triangles */
    PLY_CORNER_UVS,
    PLY_NOTHING,
    PLY_UNUSED,
};

struct ply_property {
    const struct ply_type *count; /* of a list; NULL for a single value */
    const struct ply_type *value;
    enum ply_role role;
};

struct ply_element {
    char name[32];
    uint64_t items;
    unsigned first, end; /* properties */
};

struct ply_vertex {
    float value[PLY_VALUES];
};

struct ply {
    const struct facet_reader *reader;
    struct facet_scene *scene;
    struct facet_error *err;
    struct facet_text text;
    struct ply_element element[PLY_ELEMENTS];
    struct ply_property property[PLY_PROPERTIES];
    unsigned elements, properties;
    enum { PLY_NO_FORM, PLY_ASCII, PLY_LITTLE, PLY_BIG } form;
    bool has[PLY_VALUES]; /* the vertices have this value */
    bool has_corner_uvs;
    struct facet_span picture;
    struct facet_array vertices, corners, polygons, uvs; /* of uvs: two floats per corner */
};

enum facet_status facet_ply_out_of_memory(struct ply *p);

/* Every item of every element, from the first byte after the header to the last that is needed. */
enum facet_status facet_ply_read_body(struct ply *p);

/* The vertices, corners and polygons as a mesh with its material. */
enum facet_status facet_ply_add_mesh(struct ply *p);

#endif
