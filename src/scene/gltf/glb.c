/* See glb.h. The JSON is built with jansson, in a fixed order; numbers have nine digits, which
 * bring back every float. The binary chunk is appended to as the JSON refers to it. */
#include "scene/gltf/glb.h"

#include "base/array.h"
#include "base/bits.h"
#include "image/image.h"
#include "scene/matrix.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY_INSTANCES 32U /* from here on EXT_mesh_gpu_instancing is worth it */

enum { GL_FLOAT = 5126, GL_USHORT = 5123, GL_UINT = 5125, VERTEX_DATA = 34962, INDEX_DATA = 34963 };

struct writer {
    const struct facet_scene *scene;
    struct facet_error *err;
    enum facet_status status;
    uint8_t *bin;
    size_t bin_size, bin_capacity;
    json_t *views, *accessors, *nodes, *roots, *samplers, *textures;
    bool used_instancing, used_transform;
    bool *mesh_done; /* its instances are written in one extension */
};

static void fail(struct writer *w, enum facet_status status, const char *message)
{
    if (w->status == FACET_OK) {
        w->status = facet_fail(w->err, status, 0, "%s", message);
    }
}

/* Appends to an array and returns the index. jansson reports a failed allocation as NULL or -1. */
static json_int_t append(struct writer *w, json_t *array, json_t *value)
{
    if (value == NULL || json_array_append_new(array, value) != 0) {
        fail(w, FACET_ERR_MEMORY, "GLB: out of memory");
        return 0;
    }
    return (json_int_t)json_array_size(array) - 1;
}

static void set(struct writer *w, json_t *object, const char *key, json_t *value)
{
    if (value == NULL || json_object_set_new(object, key, value) != 0) {
        fail(w, FACET_ERR_MEMORY, "GLB: out of memory");
    }
}

static json_t *reals(const float *values, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, json_real((double)values[i]));
    }
    return array;
}

/* `size` bytes of room in the binary chunk, four-aligned. */
static uint8_t *reserve(struct writer *w, size_t size, size_t *offset)
{
    size_t padded = (size + 3) & ~(size_t)3;

    if (w->status == FACET_OK && w->bin_size + padded > UINT32_MAX / 2) {
        fail(w, FACET_ERR_LIMIT, "GLB: the scene needs more than 2 GiB");
    }
    if (w->status == FACET_OK &&
        !facet_array_fit(&w->bin, &w->bin_capacity, w->bin_size + padded, 1)) {
        fail(w, FACET_ERR_MEMORY, "GLB: out of memory");
    }
    if (w->status != FACET_OK) {
        return NULL;
    }
    *offset = w->bin_size;
    memset(w->bin + w->bin_size, 0, padded);
    w->bin_size += padded;
    return w->bin + *offset;
}

static json_int_t add_view(struct writer *w, size_t offset, size_t size, int target)
{
    json_t *view = json_pack("{s:i, s:I, s:I}",
                             "buffer",
                             0,
                             "byteOffset",
                             (json_int_t)offset,
                             "byteLength",
                             (json_int_t)size);

    if (target != 0) {
        set(w, view, "target", json_integer(target));
    }
    return append(w, w->views, view);
}

static json_int_t
add_accessor(struct writer *w, json_int_t view, int component, json_int_t count, const char *type)
{
    return append(w,
                  w->accessors,
                  json_pack("{s:I, s:i, s:I, s:s}",
                            "bufferView",
                            view,
                            "componentType",
                            component,
                            "count",
                            count,
                            "type",
                            type));
}

static json_int_t
add_floats(struct writer *w, const float *values, size_t count, unsigned components, int target)
{
    static const char *const types[5] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    size_t offset = 0, size = count * components * sizeof *values;
    uint8_t *to = reserve(w, size, &offset);

    for (size_t i = 0; to != NULL && i < count * components; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], 4);
        facet_store_le32(to + 4 * i, bits);
    }
    return add_accessor(
        w, add_view(w, offset, size, target), GL_FLOAT, (json_int_t)count, types[components]);
}

static json_int_t add_indices(struct writer *w, const struct facet_scene_mesh *mesh)
{
    bool small = mesh->vertex_count <= 65535;
    size_t count = 3 * (size_t)mesh->triangle_count, offset = 0, size = count * (small ? 2 : 4);
    uint8_t *to = reserve(w, size, &offset);

    for (size_t i = 0; to != NULL && i < count; i++) {
        if (small) {
            facet_store_le16(to + 2 * i, (uint16_t)mesh->indices[i]);
        } else {
            facet_store_le32(to + 4 * i, mesh->indices[i]);
        }
    }
    return add_accessor(w,
                        add_view(w, offset, size, INDEX_DATA),
                        small ? GL_USHORT : GL_UINT,
                        (json_int_t)count,
                        "SCALAR");
}

/* POSITION must carry its bounds. */
static json_int_t add_positions(struct writer *w, const struct facet_scene_mesh *mesh)
{
    json_int_t index = add_floats(w, mesh->positions, mesh->vertex_count, 3, VERTEX_DATA);
    float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        float value = mesh->positions[i];

        lo[i % 3] = value < lo[i % 3] ? value : lo[i % 3];
        hi[i % 3] = value > hi[i % 3] ? value : hi[i % 3];
    }
    set(w, json_array_get(w->accessors, (size_t)index), "min", reals(lo, 3));
    set(w, json_array_get(w->accessors, (size_t)index), "max", reals(hi, 3));
    return index;
}

static json_t *mesh_json(struct writer *w, const struct facet_scene_mesh *mesh)
{
    json_t *attributes = json_object();
    uint32_t vertices = mesh->vertex_count;
    json_int_t indices;

    set(w, attributes, "POSITION", json_integer(add_positions(w, mesh)));
    if (mesh->normals != NULL) {
        set(w,
            attributes,
            "NORMAL",
            json_integer(add_floats(w, mesh->normals, vertices, 3, VERTEX_DATA)));
    }
    for (unsigned i = 0; i < FACET_SCENE_UV_SETS; i++) {
        char name[16] = "TEXCOORD_0";

        name[9] = (char)('0' + i);
        if (mesh->uv[i] != NULL) {
            set(w,
                attributes,
                name,
                json_integer(add_floats(w, mesh->uv[i], vertices, 2, VERTEX_DATA)));
        }
    }
    if (mesh->colors != NULL) {
        set(w,
            attributes,
            "COLOR_0",
            json_integer(add_floats(w, mesh->colors, vertices, 4, VERTEX_DATA)));
    }
    indices = add_indices(w, mesh);
    return json_pack("{s:s, s:[{s:o, s:I, s:I}]}",
                     "name",
                     mesh->name,
                     "primitives",
                     "attributes",
                     attributes,
                     "indices",
                     indices,
                     "material",
                     (json_int_t)mesh->material);
}

/* ---- materials ---- */

static int wrap_code(enum facet_wrap wrap)
{
    return wrap == FACET_WRAP_CLAMP ? 33071 : wrap == FACET_WRAP_MIRROR ? 33648 : 10497;
}

static int minify_code(const struct facet_texture_use *use)
{
    bool nearest = use->minify == FACET_FILTER_NEAREST;

    switch (use->mip) {
    case FACET_MIP_NEAREST:
        return nearest ? 9984 : 9985;
    case FACET_MIP_LINEAR:
        return nearest ? 9986 : 9987;
    default:
        return nearest ? 9728 : 9729;
    }
}

/* The index of an equal item, or of a new one: samplers and textures are shared. */
static json_int_t unique(struct writer *w, json_t *array, json_t *item)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (json_equal(json_array_get(array, i), item)) {
            json_decref(item);
            return (json_int_t)i;
        }
    }
    return append(w, array, item);
}

static json_t *texture_info(struct writer *w, const struct facet_texture_use *use)
{
    const float *m = use->matrix;
    json_int_t sampler = unique(w,
                                w->samplers,
                                json_pack("{s:i, s:i, s:i, s:i}",
                                          "magFilter",
                                          use->magnify == FACET_FILTER_NEAREST ? 9728 : 9729,
                                          "minFilter",
                                          minify_code(use),
                                          "wrapS",
                                          wrap_code(use->wrap_u),
                                          "wrapT",
                                          wrap_code(use->wrap_v)));
    json_int_t texture =
        unique(w,
               w->textures,
               json_pack("{s:I, s:I}", "sampler", sampler, "source", (json_int_t)use->texture));
    json_t *info = json_pack("{s:I}", "index", texture);

    if (use->uv_set != 0) {
        set(w, info, "texCoord", json_integer(use->uv_set));
    }
    if (m[1] != 0.0F || m[3] != 0.0F) {
        fail(w, FACET_ERR_USAGE, "GLB: a texture transform with rotation cannot be written");
    }
    if (m[0] != 1.0F || m[4] != 1.0F || m[2] != 0.0F || m[5] != 0.0F) {
        w->used_transform = true;
        set(w,
            info,
            "extensions",
            json_pack("{s:{s:[f, f], s:[f, f]}}",
                      "KHR_texture_transform",
                      "offset",
                      (double)m[2],
                      (double)m[5],
                      "scale",
                      (double)m[0],
                      (double)m[4]));
    }
    return info;
}

static json_t *material_json(struct writer *w, const struct facet_scene_material *m)
{
    json_t *pbr = json_pack("{s:o, s:f, s:f}",
                            "baseColorFactor",
                            reals(m->base_color, 4),
                            "metallicFactor",
                            (double)m->metallic,
                            "roughnessFactor",
                            (double)m->roughness);
    json_t *json = json_pack("{s:s}", "name", m->name);

    if (m->base_texture.texture != FACET_SCENE_NONE) {
        set(w, pbr, "baseColorTexture", texture_info(w, &m->base_texture));
    }
    set(w, json, "pbrMetallicRoughness", pbr);
    if (m->emissive[0] != 0 || m->emissive[1] != 0 || m->emissive[2] != 0) {
        set(w, json, "emissiveFactor", reals(m->emissive, 3));
    }
    if (m->emissive_texture.texture != FACET_SCENE_NONE) {
        set(w, json, "emissiveTexture", texture_info(w, &m->emissive_texture));
    }
    if (m->alpha_mode != FACET_ALPHA_OPAQUE) {
        set(w,
            json,
            "alphaMode",
            json_string(m->alpha_mode == FACET_ALPHA_MASK ? "MASK" : "BLEND"));
    }
    if (m->alpha_mode == FACET_ALPHA_MASK) {
        set(w, json, "alphaCutoff", json_real((double)m->alpha_cutoff));
    }
    if (m->double_sided) {
        set(w, json, "doubleSided", json_true());
    }
    return json;
}

static json_t *image_json(struct writer *w, const struct facet_scene_texture *texture)
{
    struct facet_image image = {texture->width, texture->height, texture->rgba};
    struct facet_bytes png = {NULL, 0};
    size_t offset = 0;
    uint8_t *to;

    if (w->status == FACET_OK) {
        w->status = facet_image_png_encode_plain(&image, &png, w->err);
    }
    to = reserve(w, png.size, &offset);
    if (to != NULL) {
        memcpy(to, png.data, png.size);
    }
    free(png.data);
    return json_pack("{s:s, s:s, s:I}",
                     "name",
                     texture->name,
                     "mimeType",
                     "image/png",
                     "bufferView",
                     add_view(w, offset, png.size, 0));
}

/* ---- nodes ---- */

static void add_node(struct writer *w, json_t *node)
{
    (void)append(w, w->roots, json_integer(append(w, w->nodes, node)));
}

/* Only moved and scaled: the rest of the matrix is zero. */
static bool is_move_and_scale(const float m[12])
{
    return m[1] == 0 && m[2] == 0 && m[4] == 0 && m[6] == 0 && m[8] == 0 && m[9] == 0;
}

static json_t *column_matrix(const float m[12])
{
    float columns[16];

    for (unsigned column = 0; column < 4; column++) {
        for (unsigned row = 0; row < 3; row++) {
            columns[4 * column + row] = m[4 * row + column];
        }
        columns[4 * column + 3] = column == 3 ? 1.0F : 0.0F;
    }
    return reals(columns, 16);
}

static void set_transform(struct writer *w, json_t *node, const float m[12])
{
    const float move[3] = {m[3], m[7], m[11]}, scale[3] = {m[0], m[5], m[10]};

    if (!is_move_and_scale(m)) {
        set(w, node, "matrix", column_matrix(m));
        return;
    }
    if (move[0] != 0 || move[1] != 0 || move[2] != 0) {
        set(w, node, "translation", reals(move, 3));
    }
    if (scale[0] != 1 || scale[1] != 1 || scale[2] != 1) {
        set(w, node, "scale", reals(scale, 3));
    }
}

static uint32_t simple_instances(const struct facet_scene *scene, uint32_t mesh)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        if (scene->instances[i].mesh == mesh) {
            if (!is_move_and_scale(scene->instances[i].transform)) {
                return 0;
            }
            count++;
        }
    }
    return count;
}

static void add_many(struct writer *w, uint32_t mesh, uint32_t count)
{
    float *moves = malloc(3 * (size_t)count * sizeof *moves);
    float *scales = malloc(3 * (size_t)count * sizeof *scales);
    json_int_t translation, scale;
    size_t at = 0;

    if (moves == NULL || scales == NULL) {
        fail(w, FACET_ERR_MEMORY, "GLB: out of memory");
        free(moves);
        free(scales);
        return;
    }
    for (uint32_t i = 0; i < w->scene->instance_count; i++) {
        const float *m = w->scene->instances[i].transform;

        if (w->scene->instances[i].mesh == mesh) {
            for (unsigned k = 0; k < 3; k++) {
                moves[at + k] = m[4 * k + 3];
                scales[at + k] = m[5 * k];
            }
            at += 3;
        }
    }
    translation = add_floats(w, moves, count, 3, 0);
    scale = add_floats(w, scales, count, 3, 0);
    free(moves);
    free(scales);
    w->used_instancing = true;
    w->mesh_done[mesh] = true;
    add_node(w,
             json_pack("{s:I, s:{s:{s:{s:I, s:I}}}}",
                       "mesh",
                       (json_int_t)mesh,
                       "extensions",
                       "EXT_mesh_gpu_instancing",
                       "attributes",
                       "TRANSLATION",
                       translation,
                       "SCALE",
                       scale));
}

static void add_instances(struct writer *w)
{
    for (uint32_t mesh = 0; mesh < w->scene->mesh_count; mesh++) {
        uint32_t count = simple_instances(w->scene, mesh);

        if (count >= MANY_INSTANCES) {
            add_many(w, mesh, count);
        }
    }
    for (uint32_t i = 0; i < w->scene->instance_count; i++) {
        const struct facet_scene_instance *instance = &w->scene->instances[i];

        if (!w->mesh_done[instance->mesh]) {
            json_t *node = json_pack("{s:I}", "mesh", (json_int_t)instance->mesh);

            set_transform(w, node, instance->transform);
            add_node(w, node);
        }
    }
}

static json_t *cameras_json(struct writer *w)
{
    json_t *cameras = json_array();

    for (uint32_t i = 0; i < w->scene->camera_count; i++) {
        const struct facet_scene_camera *c = &w->scene->cameras[i];
        bool flat = c->kind == FACET_CAMERA_ORTHOGRAPHIC;
        json_t *lens;
        json_int_t index;

        if (c->derived) {
            continue;
        }
        lens = json_pack("{s:f, s:f}",
                         flat ? "xmag" : "yfov",
                         (double)(flat ? c->x_mag : c->y_fov),
                         "znear",
                         (double)c->z_near);
        if (flat) {
            set(w, lens, "ymag", json_real((double)c->y_mag));
        } else if (c->aspect > 0) {
            set(w, lens, "aspectRatio", json_real((double)c->aspect));
        }
        if (c->z_far > 0) {
            set(w, lens, "zfar", json_real((double)c->z_far));
        }
        index = append(w,
                       cameras,
                       json_pack("{s:s, s:s, s:o}",
                                 "name",
                                 c->name,
                                 "type",
                                 flat ? "orthographic" : "perspective",
                                 flat ? "orthographic" : "perspective",
                                 lens));
        add_node(w,
                 json_pack("{s:s, s:I, s:o}",
                           "name",
                           c->name,
                           "camera",
                           index,
                           "matrix",
                           column_matrix(c->transform)));
    }
    return cameras;
}

/* A frame whose -Z is the light's direction. */
static void light_frame(const struct facet_scene_light *light, float m[12])
{
    double back[3], side[3] = {0, 0, 0}, right[3], up[3];

    for (unsigned i = 0; i < 3; i++) {
        back[i] = -(double)light->direction[i];
    }
    side[fabs(back[1]) < 0.9 ? 1 : 0] = 1;
    facet_scene_cross(side, back, right);
    (void)facet_scene_normalize(right);
    facet_scene_cross(back, right, up);
    for (unsigned i = 0; i < 3; i++) {
        m[4 * i] = (float)right[i];
        m[4 * i + 1] = (float)up[i];
        m[4 * i + 2] = (float)back[i];
        m[4 * i + 3] = light->position[i];
    }
}

static json_t *lights_json(struct writer *w)
{
    static const char *const types[FACET_LIGHT_COUNT] = {"directional", "point", "spot"};
    json_t *lights = json_array();

    for (uint32_t i = 0; i < w->scene->light_count; i++) {
        const struct facet_scene_light *l = &w->scene->lights[i];
        float frame[12];
        json_int_t index;
        json_t *json;

        if (l->derived) {
            continue;
        }
        json = json_pack("{s:s, s:s, s:o, s:f}",
                         "name",
                         l->name,
                         "type",
                         types[l->kind],
                         "color",
                         reals(l->color, 3),
                         "intensity",
                         (double)l->intensity);
        if (l->range > 0) {
            set(w, json, "range", json_real((double)l->range));
        }
        if (l->kind == FACET_LIGHT_SPOT) {
            set(w,
                json,
                "spot",
                json_pack("{s:f, s:f}",
                          "innerConeAngle",
                          (double)l->inner_cone,
                          "outerConeAngle",
                          (double)l->outer_cone));
        }
        index = append(w, lights, json);
        light_frame(l, frame);
        add_node(w,
                 json_pack("{s:s, s:o, s:{s:{s:I}}}",
                           "name",
                           l->name,
                           "matrix",
                           column_matrix(frame),
                           "extensions",
                           "KHR_lights_punctual",
                           "light",
                           index));
    }
    return lights;
}

/* ---- the file ---- */

/* Empty tables are not allowed in glTF. */
static void set_table(struct writer *w, json_t *root, const char *name, json_t *table)
{
    if (json_array_size(table) != 0) {
        set(w, root, name, table);
    } else {
        json_decref(table);
    }
}

static json_t *build_json(struct writer *w)
{
    const struct facet_scene *scene = w->scene;
    json_t *root =
        json_pack("{s:{s:s, s:s}}", "asset", "version", "2.0", "generator", "facet scene make");
    json_t *meshes = json_array(), *materials = json_array(), *images = json_array();
    json_t *used = json_array(), *cameras, *lights;

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        (void)append(w, meshes, mesh_json(w, &scene->meshes[i]));
    }
    for (uint32_t i = 0; i < scene->material_count; i++) {
        (void)append(w, materials, material_json(w, &scene->materials[i]));
    }
    for (uint32_t i = 0; i < scene->texture_count; i++) {
        (void)append(w, images, image_json(w, &scene->textures[i]));
    }
    add_instances(w);
    cameras = cameras_json(w);
    lights = lights_json(w);
    if (w->used_instancing) {
        (void)append(w, used, json_string("EXT_mesh_gpu_instancing"));
    }
    if (w->used_transform) {
        (void)append(w, used, json_string("KHR_texture_transform"));
    }
    if (json_array_size(lights) != 0) {
        (void)append(w, used, json_string("KHR_lights_punctual"));
        set(w, root, "extensions", json_pack("{s:{s:O}}", "KHR_lights_punctual", "lights", lights));
    }
    json_decref(lights);
    set_table(w, root, "extensionsUsed", used);
    set(w, root, "scene", json_integer(0));
    set(w, root, "scenes", json_pack("[{s:O}]", "nodes", w->roots));
    set_table(w, root, "nodes", json_incref(w->nodes));
    set_table(w, root, "meshes", meshes);
    set_table(w, root, "materials", materials);
    set_table(w, root, "textures", json_incref(w->textures));
    set_table(w, root, "samplers", json_incref(w->samplers));
    set_table(w, root, "images", images);
    set_table(w, root, "cameras", cameras);
    set_table(w, root, "accessors", json_incref(w->accessors));
    set_table(w, root, "bufferViews", json_incref(w->views));
    set(w, root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)w->bin_size));
    return root;
}

static void put_chunk_header(uint8_t *to, size_t size, const char type[4])
{
    facet_store_le32(to, (uint32_t)size);
    memcpy(to + 4, type, 4);
}

static void assemble(struct writer *w, const char *text, size_t length, struct facet_bytes *out)
{
    size_t padded = (length + 3) & ~(size_t)3;
    size_t total = 12 + 8 + padded + 8 + w->bin_size;

    out->data = malloc(total + 1);
    if (out->data == NULL) {
        fail(w, FACET_ERR_MEMORY, "GLB: out of memory");
        return;
    }
    out->size = total;
    memcpy(out->data, "glTF", 4);
    facet_store_le32(out->data + 4, 2);
    facet_store_le32(out->data + 8, (uint32_t)total);
    put_chunk_header(out->data + 12, padded, "JSON");
    memset(out->data + 20, ' ', padded);
    memcpy(out->data + 20, text, length);
    put_chunk_header(out->data + 20 + padded, w->bin_size, "BIN\0");
    if (w->bin_size != 0) {
        memcpy(out->data + 28 + padded, w->bin, w->bin_size);
    }
    out->data[total] = 0;
}

enum facet_status facet_scene_write_glb(const struct facet_scene *scene,
                                        struct facet_bytes *out,
                                        struct facet_error *err)
{
    struct writer w = {.scene = scene, .err = err};
    json_t *root;
    char *text = NULL;
    size_t length;

    out->data = NULL;
    out->size = 0;
    w.views = json_array();
    w.accessors = json_array();
    w.nodes = json_array();
    w.roots = json_array();
    w.samplers = json_array();
    w.textures = json_array();
    w.mesh_done = calloc((size_t)scene->mesh_count + 1, sizeof *w.mesh_done);
    if (w.mesh_done == NULL) {
        fail(&w, FACET_ERR_MEMORY, "GLB: out of memory");
    }
    root = w.status == FACET_OK ? build_json(&w) : NULL;
    if (facet_json_compact(root, &text, &length, NULL) == FACET_OK && w.status == FACET_OK) {
        assemble(&w, text, length, out);
    } else {
        fail(&w, FACET_ERR_MEMORY, "GLB: out of memory");
    }
    free(text);
    json_decref(root);
    json_decref(w.views);
    json_decref(w.accessors);
    json_decref(w.nodes);
    json_decref(w.roots);
    json_decref(w.samplers);
    json_decref(w.textures);
    free(w.mesh_done);
    free(w.bin);
    return w.status;
}
