/* glTF meshes: each primitive of triangles becomes a scene mesh. Meshes are shared between nodes
 * unless a node bends them (skin), has morph weights of its own, or gets some by an animation. */
#include "scene/gltf/gltf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mode { POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN };

/* One attribute as floats. Absent: *out stays NULL. */
static bool read_attribute(struct gltf *g,
                           const json_t *attributes,
                           const char *name,
                           unsigned components,
                           const char *where,
                           uint32_t vertices,
                           float **out)
{
    uint32_t accessor, count = 0;

    if (!facet_gltf_get_index(g, attributes, name, "accessors", where, &accessor)) {
        return false;
    }
    if (accessor == FACET_SCENE_NONE) {
        return true;
    }
    *out = facet_gltf_read_floats(g, accessor, components, 1.0F, where, &count);
    if (*out == NULL) {
        return false;
    }
    if (count != vertices) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.%s has %u elements, but POSITION has %u",
                               where,
                               name,
                               count,
                               vertices);
    }
    return true;
}

static bool read_vertices(struct gltf *g,
                          const json_t *attributes,
                          const char *where,
                          struct facet_scene_mesh *mesh)
{
    uint32_t position;

    if (!facet_gltf_get_index(g, attributes, "POSITION", "accessors", where, &position)) {
        return false;
    }
    if (position == FACET_SCENE_NONE) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s has no POSITION", where);
    }
    mesh->positions = facet_gltf_read_floats(g, position, 3, 0.0F, where, &mesh->vertex_count);
    if (mesh->positions == NULL ||
        !read_attribute(g, attributes, "NORMAL", 3, where, mesh->vertex_count, &mesh->normals) ||
        !read_attribute(g, attributes, "COLOR_0", 4, where, mesh->vertex_count, &mesh->colors)) {
        return false;
    }
    for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
        char name[16];

        (void)snprintf(name, sizeof name, "TEXCOORD_%u", set);
        if (!read_attribute(g, attributes, name, 2, where, mesh->vertex_count, &mesh->uv[set])) {
            return false;
        }
    }
    return true;
}

/* Corners of the primitive, from the index accessor or counted. */
static uint32_t *read_corners(
    struct gltf *g, const json_t *primitive, const char *where, uint32_t vertices, uint32_t *count)
{
    uint32_t accessor;
    uint32_t *corners;

    if (!facet_gltf_get_index(g, primitive, "indices", "accessors", where, &accessor)) {
        return NULL;
    }
    if (accessor != FACET_SCENE_NONE) {
        return facet_gltf_read_integers(g, accessor, 1, where, count);
    }
    corners = malloc((size_t)vertices * sizeof *corners + 1);
    if (corners == NULL) {
        (void)facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
        return NULL;
    }
    for (uint32_t i = 0; i < vertices; i++) {
        corners[i] = i;
    }
    *count = vertices;
    return corners;
}

/* The corners of triangle `i` (glTF 2.0, 3.7.2.1): strips alternate, fans keep corner 0. */
static void pick_corners(uint64_t mode, const uint32_t *corners, uint32_t i, uint32_t out[3])
{
    switch (mode) {
    case TRIANGLE_STRIP:
        out[0] = corners[i];
        out[1] = corners[i + 1 + i % 2];
        out[2] = corners[i + 2 - i % 2];
        break;
    case TRIANGLE_FAN:
        out[0] = corners[i + 1];
        out[1] = corners[i + 2];
        out[2] = corners[0];
        break;
    default:
        memcpy(out, corners + 3 * (size_t)i, 3 * sizeof *out);
        break;
    }
}

static bool read_triangles(struct gltf *g,
                           const json_t *primitive,
                           uint64_t mode,
                           const char *where,
                           struct facet_scene_mesh *mesh)
{
    uint32_t count = 0;
    uint32_t *corners = read_corners(g, primitive, where, mesh->vertex_count, &count);

    if (corners == NULL) {
        return false;
    }
    if (mode == TRIANGLES) {
        mesh->triangle_count = count / 3;
        mesh->indices = corners;
        return facet_gltf_leave_out(g,
                                    FACET_LOSS_SHAPE,
                                    count % 3,
                                    "corners at the end of a primitive",
                                    NULL,
                                    where,
                                    "they do not make a whole triangle");
    }
    mesh->triangle_count = count >= 3 ? count - 2 : 0;
    mesh->indices = malloc(3 * (size_t)mesh->triangle_count * sizeof *mesh->indices + 1);
    for (uint32_t i = 0; mesh->indices != NULL && i < mesh->triangle_count; i++) {
        pick_corners(mode, corners, i, mesh->indices + 3 * (size_t)i);
    }
    free(corners);
    return mesh->indices != NULL ||
           facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
}

/* Adds one morph target, weighted, to an attribute. */
static bool add_target(struct gltf *g,
                       const json_t *target,
                       const char *name,
                       double weight,
                       const char *where,
                       uint32_t vertices,
                       float *values)
{
    float *delta = NULL;
    bool ok = values == NULL || read_attribute(g, target, name, 3, where, vertices, &delta);

    for (size_t i = 0; ok && delta != NULL && i < 3 * (size_t)vertices; i++) {
        values[i] = (float)((double)values[i] + weight * (double)delta[i]);
    }
    free(delta);
    return ok;
}

/* Targets may also move tangents, texture coordinates and colours. */
static bool note_target(struct gltf *g, const json_t *target, const char *where)
{
    json_t *value;
    const char *key;

    json_object_foreach((json_t *)target, key, value)
    {
        if ((strncmp(key, "TEXCOORD_", 9) == 0 || strncmp(key, "COLOR_", 6) == 0) &&
            !facet_gltf_leave_out(g,
                                  FACET_LOSS_LOOK,
                                  1,
                                  "morphs of colours and texture coordinates",
                                  NULL,
                                  where,
                                  "only positions and normals are morphed")) {
            return false;
        }
    }
    return true;
}

struct bend {
    const json_t *weights;        /* of the node or the mesh */
    const struct gltf_pose *pose; /* whose weights replace those; NULL: none */
    uint32_t skin;                /* FACET_SCENE_NONE: none */
};

static double weight_of(const struct bend *bend, size_t target)
{
    if (bend->pose != NULL) {
        return target < bend->pose->weight_count ? bend->pose->weights[target] : 0;
    }
    return json_number_value(json_array_get(bend->weights, target));
}

static bool apply_morphs(struct gltf *g,
                         const json_t *primitive,
                         const struct bend *bend,
                         const char *where,
                         struct facet_scene_mesh *mesh)
{
    bool ok = true;
    json_t *targets = facet_gltf_get_array(g, primitive, "targets", where, &ok);

    for (size_t i = 0; ok && i < json_array_size(targets); i++) {
        double weight = weight_of(bend, i);
        json_t *target = json_array_get(targets, i);

        if (weight != 0) {
            ok = note_target(g, target, where) &&
                 add_target(
                     g, target, "POSITION", weight, where, mesh->vertex_count, mesh->positions) &&
                 add_target(g, target, "NORMAL", weight, where, mesh->vertex_count, mesh->normals);
        }
    }
    return ok;
}

static bool build_primitive(struct gltf *g,
                            const json_t *primitive,
                            uint64_t mode,
                            const struct bend *bend,
                            const char *where,
                            struct facet_scene_mesh *mesh)
{
    bool ok = true;
    json_t *attributes = facet_gltf_get_object(g, primitive, "attributes", where, &ok);
    uint32_t material;

    return ok &&
           facet_gltf_note_unused(
               g, primitive, " attributes indices material mode targets ", where) &&
           facet_gltf_note_attributes(g, primitive, bend->skin != FACET_SCENE_NONE, where) &&
           read_vertices(g, attributes, where, mesh) &&
           read_triangles(g, primitive, mode, where, mesh) &&
           apply_morphs(g, primitive, bend, where, mesh) &&
           (bend->skin == FACET_SCENE_NONE ||
            facet_gltf_apply_skin(g, bend->skin, attributes, where, mesh)) &&
           facet_gltf_get_index(g, primitive, "material", "materials", where, &material) &&
           facet_gltf_material(g, material, &mesh->material);
}

static bool add_primitive(struct gltf *g,
                          uint32_t mesh_index,
                          uint32_t number,
                          bool continues,
                          const struct bend *bend,
                          const char *where)
{
    const json_t *object = facet_gltf_item(g, "meshes", mesh_index);
    const json_t *primitive = json_array_get(json_object_get(object, "primitives"), number);
    struct facet_scene_mesh mesh;
    struct facet_error err;
    enum facet_status status;
    uint64_t mode = TRIANGLES;
    char name[GLTF_WHERE_BYTES], mesh_where[GLTF_WHERE_BYTES];

    if (!facet_gltf_get_size(g, primitive, "mode", TRIANGLE_FAN, where, &mode)) {
        return false;
    }
    if (mode < TRIANGLES) {
        return facet_gltf_leave_out(g,
                                    FACET_LOSS_SHAPE,
                                    1,
                                    mode == POINTS ? "primitives of points" : "primitives of lines",
                                    object,
                                    where,
                                    "only triangles are read");
    }
    memset(&mesh, 0, sizeof mesh);
    (void)snprintf(name, sizeof name, "mesh %u", mesh_index);
    (void)snprintf(mesh_where, sizeof mesh_where, "meshes[%u]", mesh_index);
    facet_gltf_set_name(mesh.name, object, name);
    mesh.geometry = number;
    mesh.continues = continues;
    if (!facet_gltf_traits(g, object, false, mesh_where, &mesh.traits) ||
        !facet_gltf_traits(g, primitive, false, where, &mesh.traits) ||
        !build_primitive(g, primitive, mode, bend, where, &mesh)) {
        facet_scene_mesh_free(&mesh);
        return false;
    }
    status = facet_scene_add_mesh(g->scene, &mesh, NULL, &err);
    if (status != FACET_OK) {
        facet_scene_mesh_free(&mesh);
        return facet_gltf_fail(g, status, "%.300s", err.message);
    }
    return true;
}

static bool
build_mesh(struct gltf *g, uint32_t index, const struct bend *bend, uint32_t *first, uint32_t *end)
{
    json_t *object = facet_gltf_item(g, "meshes", index);
    json_t *primitives;
    char where[GLTF_WHERE_BYTES];
    bool ok = true;

    (void)snprintf(where, sizeof where, "meshes[%u]", index);
    primitives = facet_gltf_get_array(g, object, "primitives", where, &ok);
    ok = ok && facet_gltf_note_unused(g, object, " primitives weights ", where);
    *first = g->scene->mesh_count;
    for (size_t i = 0; ok && i < json_array_size(primitives); i++) {
        (void)snprintf(where, sizeof where, "meshes[%u].primitives[%zu]", index, i);
        ok = json_is_object(json_array_get(primitives, i))
                 ? add_primitive(g, index, (uint32_t)i, g->scene->mesh_count != *first, bend, where)
                 : facet_gltf_fail(g, FACET_ERR_INPUT, "%s: expected an object", where);
    }
    *end = g->scene->mesh_count;
    return ok;
}

bool facet_gltf_node_meshes(
    struct gltf *g, uint32_t node, uint32_t *first, uint32_t *end, bool *in_world_space)
{
    json_t *object = facet_gltf_item(g, "nodes", node);
    json_t *own_weights = json_object_get(object, "weights");
    char where[GLTF_WHERE_BYTES];
    uint32_t mesh;
    struct bend bend;

    *first = *end = 0;
    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    if (!facet_gltf_get_index(g, object, "mesh", "meshes", where, &mesh) ||
        !facet_gltf_get_index(g, object, "skin", "skins", where, &bend.skin)) {
        return false;
    }
    if (mesh == FACET_SCENE_NONE) {
        return true;
    }
    *in_world_space = bend.skin != FACET_SCENE_NONE;
    bend.pose = g->poses != NULL && g->poses[node].has[GLTF_WEIGHTS] ? &g->poses[node] : NULL;
    bend.weights = own_weights != NULL
                       ? own_weights
                       : json_object_get(facet_gltf_item(g, "meshes", mesh), "weights");
    if (*in_world_space || own_weights != NULL || bend.pose != NULL ||
        (g->reader->keep_flat && g->morphed[node])) {
        return build_mesh(g, mesh, &bend, first, end);
    }
    if (g->mesh_first[mesh] == FACET_SCENE_NONE &&
        !build_mesh(g, mesh, &bend, &g->mesh_first[mesh], &g->mesh_end[mesh])) {
        return false;
    }
    *first = g->mesh_first[mesh];
    *end = g->mesh_end[mesh];
    return true;
}
