/* glTF's node tree, flattened: world matrices first (skins need them all), then instances, cameras
 * and lights in the order of the tree. */
#include "scene/gltf/gltf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An animation replaces what it moves. */
static void pose(const struct gltf *g, uint32_t node, double t[3], double r[4], double s[3])
{
    double *const parts[3] = {t, r, s};

    for (unsigned i = 0; g->poses != NULL && i < 3; i++) {
        if (g->poses[node].has[i]) {
            memcpy(parts[i], g->poses[node].trs[i], (i == GLTF_ROTATION ? 4 : 3) * sizeof *t);
        }
    }
}

static bool is_moved(const struct gltf *g, uint32_t node)
{
    const bool *has = g->poses != NULL ? g->poses[node].has : NULL;

    return has != NULL && (has[GLTF_TRANSLATION] || has[GLTF_ROTATION] || has[GLTF_SCALE]);
}

static bool local_matrix(struct gltf *g, uint32_t node, struct facet_affine *out)
{
    json_t *object = facet_gltf_item(g, "nodes", node);
    double columns[16], t[3] = {0, 0, 0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    char where[GLTF_WHERE_BYTES];

    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    if (json_object_get(object, "matrix") != NULL) {
        if (is_moved(g, node)) {
            return facet_gltf_fail(
                g, FACET_ERR_INPUT, "%s has a matrix, so an animation cannot move it", where);
        }
        if (!facet_gltf_get_numbers(g, object, "matrix", 16, where, columns)) {
            return false;
        }
        for (unsigned row = 0; row < 3; row++) {
            for (unsigned column = 0; column < 4; column++) {
                out->m[4 * row + column] = columns[4 * column + row];
            }
        }
        return true;
    }
    if (!facet_gltf_get_numbers(g, object, "translation", 3, where, t) ||
        !facet_gltf_get_numbers(g, object, "rotation", 4, where, r) ||
        !facet_gltf_get_numbers(g, object, "scale", 3, where, s)) {
        return false;
    }
    pose(g, node, t, r, s);
    *out = facet_affine_trs(t, r, s);
    return true;
}

/* The nodes of the scene in tree order: `order` doubles as the stack of the walk, growing from its
 * end while the result grows from its start; a node is in it at most once. */
struct walk {
    uint32_t *order;
    uint32_t count;
    uint32_t stack; /* order[stack .. capacity) */
    uint32_t capacity;
};

/* KHR_node_visibility: hides the node and everything below it. */
static bool is_hidden(const json_t *node)
{
    return json_is_false(
        json_object_get(facet_gltf_extension(node, "KHR_node_visibility"), "visible"));
}

static bool push_node(struct gltf *g,
                      struct walk *w,
                      const json_t *value,
                      const struct facet_affine *parent,
                      bool hidden,
                      const char *where)
{
    json_int_t node = json_is_integer(value) ? json_integer_value(value) : -1;
    struct facet_affine local;

    if (node < 0 || node >= (json_int_t)w->capacity) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s refers to a node that is not among the %u", where, w->capacity);
    }
    if (g->reached[node]) {
        return facet_gltf_fail(
            g,
            FACET_ERR_INPUT,
            "%s refers to nodes[%u], which is reached twice: nodes must form a tree",
            where,
            (unsigned)node);
    }
    hidden = hidden || is_hidden(facet_gltf_item(g, "nodes", (uint32_t)node));
    g->reached[node] = hidden ? GLTF_HIDDEN : GLTF_SHOWN;
    if (!local_matrix(g, (uint32_t)node, &local)) {
        return false;
    }
    g->world[node] = facet_affine_multiply(parent, &local);
    if (!facet_affine_finite(&g->world[node])) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "nodes[%u]: the world matrix overflows", (unsigned)node);
    }
    w->order[--w->stack] = (uint32_t)node;
    return true;
}

/* Pushed last to first, so that they come off first to last. */
static bool push_list(struct gltf *g,
                      struct walk *w,
                      const json_t *list,
                      const struct facet_affine *parent,
                      bool hidden,
                      const char *where)
{
    bool ok = true;

    for (size_t i = json_array_size(list); ok && i-- > 0;) {
        ok = push_node(g, w, json_array_get(list, i), parent, hidden, where);
    }
    return ok;
}

static bool walk_tree(struct gltf *g, struct walk *w)
{
    while (w->stack < w->capacity) {
        uint32_t node = w->order[w->stack++];
        bool ok = true, hidden = g->reached[node] == GLTF_HIDDEN;
        char where[GLTF_WHERE_BYTES];
        json_t *children;

        (void)snprintf(where, sizeof where, "nodes[%u]", node);
        if (!hidden) {
            w->order[w->count++] = node;
        }
        children =
            facet_gltf_get_array(g, facet_gltf_item(g, "nodes", node), "children", where, &ok);
        if (!ok || !push_list(g, w, children, &g->world[node], hidden, where)) {
            return false;
        }
    }
    return true;
}

/* A file without scenes shows every node that is not a child. NULL when memory is short. */
static json_t *parentless_nodes(const struct gltf *g)
{
    uint32_t count = facet_gltf_count(g, "nodes");
    json_t *roots = json_array();
    bool *child = calloc((size_t)count + 1, sizeof *child), whole = child != NULL;

    for (uint32_t i = 0; whole && i < count; i++) {
        json_t *children = json_object_get(facet_gltf_item(g, "nodes", i), "children");

        for (size_t k = 0; k < json_array_size(children); k++) {
            json_int_t node = json_integer_value(json_array_get(children, k));

            if (node >= 0 && node < (json_int_t)count) {
                child[node] = true;
            }
        }
    }
    for (uint32_t i = 0; whole && i < count; i++) {
        whole = child[i] || json_array_append_new(roots, json_integer(i)) == 0;
    }
    free(child);
    if (!whole) {
        json_decref(roots);
        return NULL;
    }
    return roots;
}

static bool note_other_scenes(struct gltf *g, uint32_t shown)
{
    uint32_t first = shown == 0;
    char where[GLTF_WHERE_BYTES];

    (void)snprintf(where, sizeof where, "scenes[%u]", first);
    return facet_gltf_leave_out(g,
                                FACET_LOSS_SHAPE,
                                facet_gltf_count(g, "scenes") - 1,
                                "scenes",
                                facet_gltf_item(g, "scenes", first),
                                where,
                                "another one is shown by default");
}

static bool find_roots(struct gltf *g, json_t **out)
{
    bool ok = true;
    uint32_t scene;
    char where[GLTF_WHERE_BYTES];

    if (!facet_gltf_get_index(g, g->root, "scene", "scenes", "glTF", &scene)) {
        return false;
    }
    if (facet_gltf_count(g, "scenes") == 0) {
        *out = parentless_nodes(g);
        return *out != NULL || facet_gltf_fail(g, FACET_ERR_MEMORY, "out of memory");
    }
    scene = scene != FACET_SCENE_NONE ? scene : 0;
    (void)snprintf(where, sizeof where, "scenes[%u]", scene);
    *out = json_incref(
        facet_gltf_get_array(g, facet_gltf_item(g, "scenes", scene), "nodes", where, &ok));
    return ok && facet_gltf_note_unused(g, facet_gltf_item(g, "scenes", scene), " nodes ", where) &&
           note_other_scenes(g, scene);
}

static bool
add_instance(struct gltf *g, uint32_t node, uint32_t mesh, const struct facet_affine *matrix)
{
    struct facet_scene_instance instance = {.mesh = mesh};
    struct facet_affine rounded, inverse;
    struct facet_error err;
    enum facet_status status;
    char where[GLTF_WHERE_BYTES];

    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    if (!facet_gltf_traits(g, facet_gltf_item(g, "nodes", node), true, where, &instance.traits)) {
        return false;
    }
    facet_affine_to_float(matrix, instance.transform);
    rounded = facet_affine_from_float(instance.transform);
    if (!facet_affine_finite(&rounded)) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "the matrix of a mesh is larger than a 32-bit float can express");
    }
    if (!facet_affine_invert(&rounded, &inverse)) {
        const bool noted = facet_gltf_leave_out(g,
                                                FACET_LOSS_SHAPE,
                                                1,
                                                "instances",
                                                NULL,
                                                g->scene->meshes[mesh].name,
                                                "their matrix flattens them to nothing");

        if (!noted || !g->reader->keep_flat) {
            return noted;
        }
    }
    status = facet_scene_add_instance(g->scene, &instance, &err);
    return status == FACET_OK || facet_gltf_fail(g, status, "%.300s", err.message);
}

/* EXT_mesh_gpu_instancing: every attribute is optional, all have the same count. */
struct placements {
    uint32_t count; /* FACET_SCENE_NONE: no attribute seen */
    float *translation, *rotation, *scale;
};

static bool read_placement(struct gltf *g,
                           const json_t *attributes,
                           const char *name,
                           unsigned components,
                           const char *where,
                           struct placements *p,
                           float **out)
{
    uint32_t accessor, count = 0;

    if (!facet_gltf_get_index(g, attributes, name, "accessors", where, &accessor)) {
        return false;
    }
    if (accessor == FACET_SCENE_NONE) {
        return true;
    }
    *out = facet_gltf_read_floats(g, accessor, components, 0.0F, where, &count);
    if (*out == NULL) {
        return false;
    }
    if (p->count != FACET_SCENE_NONE && p->count != count) {
        return facet_gltf_fail(
            g,
            FACET_ERR_INPUT,
            "%s: EXT_mesh_gpu_instancing %s has %u elements, another attribute %u",
            where,
            name,
            count,
            p->count);
    }
    p->count = count;
    return true;
}

static struct facet_affine placement(const struct placements *p, uint32_t i)
{
    double t[3] = {0, 0, 0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};

    for (unsigned k = 0; k < 4; k++) {
        if (k < 3 && p->translation != NULL) {
            t[k] = (double)p->translation[3 * (size_t)i + k];
        }
        if (k < 3 && p->scale != NULL) {
            s[k] = (double)p->scale[3 * (size_t)i + k];
        }
        if (p->rotation != NULL) {
            r[k] = (double)p->rotation[4 * (size_t)i + k];
        }
    }
    return facet_affine_trs(t, r, s);
}

static bool
place_all(struct gltf *g, const struct placements *p, uint32_t node, uint32_t first, uint32_t end)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < p->count; i++) {
        struct facet_affine local = placement(p, i);
        struct facet_affine matrix = facet_affine_multiply(&g->world[node], &local);

        ok = facet_affine_finite(&matrix) ||
             facet_gltf_fail(g, FACET_ERR_INPUT, "instance %u has no finite matrix", i);
        for (uint32_t mesh = first; ok && mesh < end; mesh++) {
            ok = add_instance(g, node, mesh, &matrix);
        }
    }
    return ok;
}

static bool
place_many(struct gltf *g, const json_t *extension, uint32_t node, uint32_t first, uint32_t end)
{
    struct placements p = {FACET_SCENE_NONE, NULL, NULL, NULL};
    char where[GLTF_WHERE_BYTES];
    bool ok = true;
    json_t *attributes;

    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    attributes = facet_gltf_get_object(g, extension, "attributes", where, &ok);
    ok = ok && read_placement(g, attributes, "TRANSLATION", 3, where, &p, &p.translation) &&
         read_placement(g, attributes, "ROTATION", 4, where, &p, &p.rotation) &&
         read_placement(g, attributes, "SCALE", 3, where, &p, &p.scale);
    ok = ok && facet_gltf_note_unused(g, attributes, " TRANSLATION ROTATION SCALE ", where);
    if (ok && p.count == FACET_SCENE_NONE) {
        p.count = 1;
    }
    ok = ok && place_all(g, &p, node, first, end);
    free(p.translation);
    free(p.rotation);
    free(p.scale);
    return ok;
}

static bool note_instanced_skin(struct gltf *g, uint32_t node)
{
    char where[GLTF_WHERE_BYTES];

    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    return facet_gltf_leave_out(g,
                                FACET_LOSS_SHAPE,
                                1,
                                "EXT_mesh_gpu_instancing of meshes with a skin",
                                facet_gltf_item(g, "nodes", node),
                                where,
                                "they are shown once");
}

static bool add_meshes(struct gltf *g, uint32_t node)
{
    json_t *many =
        facet_gltf_extension(facet_gltf_item(g, "nodes", node), "EXT_mesh_gpu_instancing");
    struct facet_affine matrix = g->world[node];
    bool in_world_space = false, ok = true;
    uint32_t first, end;

    if (!facet_gltf_node_meshes(g, node, &first, &end, &in_world_space)) {
        return false;
    }
    if (many != NULL && !in_world_space) {
        return place_many(g, many, node, first, end);
    }
    if (in_world_space) {
        matrix = facet_affine_identity();
        ok = many == NULL || note_instanced_skin(g, node);
    }
    for (uint32_t mesh = first; ok && mesh < end; mesh++) {
        ok = add_instance(g, node, mesh, &matrix);
    }
    return ok;
}

/* Unit axes of a node that a camera or a light hangs on: scale does not concern it. */
static bool unit_frame(const struct facet_affine *world, float transform[12])
{
    double back[3], up[3], right[3];

    for (unsigned i = 0; i < 3; i++) {
        up[i] = world->m[4 * i + 1];
        back[i] = world->m[4 * i + 2];
    }
    if (!facet_scene_normalize(back)) {
        return false;
    }
    facet_scene_cross(up, back, right);
    if (!facet_scene_normalize(right)) {
        return false;
    }
    facet_scene_cross(back, right, up);
    for (unsigned i = 0; i < 3; i++) {
        transform[4 * i] = (float)right[i];
        transform[4 * i + 1] = (float)up[i];
        transform[4 * i + 2] = (float)back[i];
        transform[4 * i + 3] = (float)world->m[4 * i + 3];
    }
    return true;
}

static bool read_camera(struct gltf *g, uint32_t index, struct facet_scene_camera *camera)
{
    json_t *object = facet_gltf_item(g, "cameras", index);
    bool ok = true, flat = strcmp(facet_gltf_get_text(object, "type"), "orthographic") == 0;
    double fov = 0, aspect = 0, near = 0, far = 0, x_mag = 0, y_mag = 0;
    char where[GLTF_WHERE_BYTES];
    json_t *lens;

    (void)snprintf(where, sizeof where, "cameras[%u]", index);
    facet_gltf_set_name(camera->name, object, where);
    lens = facet_gltf_get_object(g, object, flat ? "orthographic" : "perspective", where, &ok);
    if (ok && lens == NULL) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s has no perspective or orthographic part", where);
    }
    if (!ok || !facet_gltf_get_number(g, lens, "yfov", where, &fov) ||
        !facet_gltf_get_number(g, lens, "aspectRatio", where, &aspect) ||
        !facet_gltf_get_number(g, lens, "znear", where, &near) ||
        !facet_gltf_get_number(g, lens, "zfar", where, &far) ||
        !facet_gltf_get_number(g, lens, "xmag", where, &x_mag) ||
        !facet_gltf_get_number(g, lens, "ymag", where, &y_mag)) {
        return false;
    }
    if (flat ? x_mag == 0 || y_mag == 0 : !(fov > 0 && fov < 3.14159)) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s: expected yfov in 0..pi, or xmag and ymag not zero", where);
    }
    if (!facet_gltf_note_unused(g, object, " type perspective orthographic ", where)) {
        return false;
    }
    camera->kind = flat ? FACET_CAMERA_ORTHOGRAPHIC : FACET_CAMERA_PERSPECTIVE;
    camera->y_fov = (float)fov;
    camera->aspect = (float)aspect;
    camera->x_mag = (float)fabs(x_mag);
    camera->y_mag = (float)fabs(y_mag);
    camera->z_near = (float)near;
    camera->z_far = (float)far;
    return true;
}

static bool add_camera(struct gltf *g, uint32_t node)
{
    json_t *object = facet_gltf_item(g, "nodes", node);
    struct facet_scene_camera camera;
    struct facet_error err;
    enum facet_status status;
    char where[GLTF_WHERE_BYTES];
    uint32_t index;

    memset(&camera, 0, sizeof camera);
    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    if (!facet_gltf_get_index(g, object, "camera", "cameras", where, &index)) {
        return false;
    }
    if (index == FACET_SCENE_NONE) {
        return true;
    }
    if (!read_camera(g, index, &camera)) {
        return false;
    }
    if (!unit_frame(&g->world[node], camera.transform)) {
        return facet_gltf_leave_out(
            g, FACET_LOSS_LOOK, 1, "cameras", object, where, "they look in no direction");
    }
    status = facet_scene_add_camera(g->scene, &camera, &err);
    return status == FACET_OK || facet_gltf_fail(g, status, "%.300s", err.message);
}

static bool
read_light(struct gltf *g, const json_t *object, const char *where, struct facet_scene_light *light)
{
    const char *type = facet_gltf_get_text(object, "type");
    double color[3] = {1, 1, 1}, intensity = 1, range = 0, inner = 0, outer = 0.78539816339744831;
    json_t *spot = json_object_get(object, "spot");

    if (strcmp(type, "directional") == 0) {
        light->kind = FACET_LIGHT_DIRECTIONAL;
    } else if (strcmp(type, "point") == 0) {
        light->kind = FACET_LIGHT_POINT;
    } else if (strcmp(type, "spot") == 0) {
        light->kind = FACET_LIGHT_SPOT;
    } else {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s: light type \"%.20s\", expected directional, point or spot",
                               where,
                               type);
    }
    if (!facet_gltf_get_numbers(g, object, "color", 3, where, color) ||
        !facet_gltf_get_number(g, object, "intensity", where, &intensity) ||
        !facet_gltf_get_number(g, object, "range", where, &range) ||
        !facet_gltf_get_number(g, spot, "innerConeAngle", where, &inner) ||
        !facet_gltf_get_number(g, spot, "outerConeAngle", where, &outer)) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        light->color[i] = (float)color[i];
    }
    light->intensity = (float)intensity;
    light->range = (float)range;
    light->inner_cone = (float)inner;
    light->outer_cone = (float)outer;
    return true;
}

/* KHR_lights_punctual. */
static bool add_light(struct gltf *g, uint32_t node)
{
    json_t *use = facet_gltf_extension(facet_gltf_item(g, "nodes", node), "KHR_lights_punctual");
    json_t *value = json_object_get(use, "light");
    json_t *lights =
        json_object_get(facet_gltf_extension(g->root, "KHR_lights_punctual"), "lights");
    json_int_t index = json_is_integer(value) ? json_integer_value(value) : -1;
    struct facet_scene_light light;
    struct facet_error err;
    enum facet_status status;
    float frame[12];
    char where[GLTF_WHERE_BYTES];

    if (use == NULL) {
        return true;
    }
    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    if (index < 0 || index >= (json_int_t)json_array_size(lights)) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s refers to a light that is not among the %zu",
                               where,
                               json_array_size(lights));
    }
    memset(&light, 0, sizeof light);
    (void)snprintf(where, sizeof where, "lights[%u]", (unsigned)index);
    facet_gltf_set_name(light.name, json_array_get(lights, (size_t)index), where);
    if (!read_light(g, json_array_get(lights, (size_t)index), where, &light) ||
        !facet_gltf_note_unused(
            g, json_array_get(lights, (size_t)index), " type color intensity range spot ", where)) {
        return false;
    }
    if (!unit_frame(&g->world[node], frame)) {
        return facet_gltf_leave_out(g,
                                    FACET_LOSS_LOOK,
                                    1,
                                    "lights",
                                    json_array_get(lights, (size_t)index),
                                    where,
                                    "they shine in no direction");
    }
    for (unsigned i = 0; i < 3; i++) {
        light.position[i] = frame[4 * i + 3];
        light.direction[i] = -frame[4 * i + 2];
    }
    status = facet_scene_add_light(g->scene, &light, &err);
    return status == FACET_OK || facet_gltf_fail(g, status, "%.300s", err.message);
}

static bool note_node(struct gltf *g, uint32_t node)
{
    char where[GLTF_WHERE_BYTES];

    (void)snprintf(where, sizeof where, "nodes[%u]", node);
    return facet_gltf_note_unused(
        g,
        facet_gltf_item(g, "nodes", node),
        " children mesh skin camera translation rotation scale matrix weights ",
        where);
}

bool facet_gltf_nodes(struct gltf *g)
{
    uint32_t count = facet_gltf_count(g, "nodes");
    struct walk w = {.stack = count, .capacity = count};
    struct facet_affine identity = facet_affine_identity();
    json_t *roots = NULL;
    bool ok;

    w.order = malloc((size_t)count * sizeof *w.order + 1);
    if (w.order == NULL) {
        return facet_gltf_fail(g, FACET_ERR_MEMORY, "out of memory for %u nodes", count);
    }
    ok = find_roots(g, &roots) && push_list(g, &w, roots, &identity, false, "the scene") &&
         walk_tree(g, &w);
    for (uint32_t i = 0; ok && i < w.count; i++) {
        ok = note_node(g, w.order[i]) && add_meshes(g, w.order[i]) && add_camera(g, w.order[i]) &&
             add_light(g, w.order[i]);
    }
    json_decref(roots);
    free(w.order);
    return ok;
}
