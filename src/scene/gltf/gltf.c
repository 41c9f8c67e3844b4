/* Reader of glTF 2.0, text (.gltf) and binary (.glb): the container, the checks on the whole file,
 * and the order of things. Understood extensions: KHR_texture_transform, KHR_lights_punctual,
 * EXT_mesh_gpu_instancing, KHR_mesh_quantization, KHR_node_visibility, KHR_materials_unlit,
 * KHR_materials_emissive_strength, KHR_materials_pbrSpecularGlossiness (its diffuse part). Skins
 * and morph targets are shown in their rest pose. What is not used is noted (left_out.c). */
#include "scene/gltf/gltf.h"

#include "base/bits.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLB_MAGIC 0x46546C67U
#define CHUNK_JSON 0x4E4F534AU
#define CHUNK_BIN 0x004E4942U
#define MAX_TABLE_ITEMS 16777216U

/* Finds the two chunks of a .glb. */
static bool
split_glb(struct gltf *g, const uint8_t *data, size_t size, const uint8_t **json, size_t *json_size)
{
    size_t at = 12;
    uint32_t total = size >= 12 ? facet_load_le32(data + 8) : 0;

    *json = NULL;
    if (size < 20) {
        return facet_gltf_fail(
            g,
            FACET_ERR_INPUT,
            "the file ends inside the GLB header, at offset %zu: expected 12 bytes and "
            "the 8 of a chunk",
            size);
    }
    if (facet_load_le32(data + 4) != 2) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "offset 4: GLB version %u, expected 2", facet_load_le32(data + 4));
    }
    if (total > size) {
        return facet_gltf_fail(
            g,
            FACET_ERR_INPUT,
            "truncated: the file ends at offset %zu, expected %u bytes (GLB header, "
            "offset 8)",
            size,
            total);
    }
    while (at <= total && total - at >= 8) {
        uint32_t length = facet_load_le32(data + at), type = facet_load_le32(data + at + 4);

        if (length > total - at - 8) {
            return facet_gltf_fail(g,
                                   FACET_ERR_INPUT,
                                   "the GLB chunk at offset %zu has %u bytes, but only %zu follow",
                                   at,
                                   length,
                                   total - at - 8);
        }
        if (type == CHUNK_JSON && *json == NULL) {
            *json = data + at + 8;
            *json_size = length;
        } else if (type == CHUNK_BIN && g->bin == NULL) {
            g->bin = data + at + 8;
            g->bin_size = length;
        }
        at += 8 + (size_t)length;
    }
    return *json != NULL ||
           facet_gltf_fail(
               g,
               FACET_ERR_INPUT,
               "the GLB has no JSON chunk: the first one, at offset 12, has type 0x%08X, "
               "expected 0x%08X",
               facet_load_le32(data + 16),
               CHUNK_JSON);
}

/* Every table that we index is an array of objects: checked once, here. */
static bool check_tables(struct gltf *g)
{
    static const char *const tables[] = {"accessors",
                                         "animations",
                                         "buffers",
                                         "bufferViews",
                                         "cameras",
                                         "images",
                                         "materials",
                                         "meshes",
                                         "nodes",
                                         "samplers",
                                         "scenes",
                                         "skins",
                                         "textures"};

    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        json_t *table = facet_gltf_table(g, tables[t]);

        if (table != NULL && !json_is_array(table)) {
            return facet_gltf_fail(g, FACET_ERR_INPUT, "%s: expected an array", tables[t]);
        }
        if (json_array_size(table) > MAX_TABLE_ITEMS) {
            return facet_gltf_fail(
                g, FACET_ERR_LIMIT, "%s has more than %u items", tables[t], MAX_TABLE_ITEMS);
        }
        for (size_t i = 0; i < json_array_size(table); i++) {
            if (!json_is_object(json_array_get(table, i))) {
                return facet_gltf_fail(
                    g, FACET_ERR_INPUT, "%s[%zu]: expected an object", tables[t], i);
            }
        }
    }
    return true;
}

static bool check_version(struct gltf *g)
{
    json_t *asset = json_object_get(g->root, "asset");
    const char *version = facet_gltf_get_text(asset, "version");
    const char *least = facet_gltf_get_text(asset, "minVersion");

    if (strncmp(version, "2.", 2) != 0) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "asset.version is \"%.20s\", expected 2.x", version);
    }
    if (least[0] != '\0' && strcmp(least, "2.0") != 0) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "asset.minVersion is \"%.20s\", expected 2.0", least);
    }
    return true;
}

/* An extension that a file requires changes what its data mean: without it there is nothing right
 * to show (glTF 2.0, 3.12). */
static bool check_extensions(struct gltf *g)
{
    bool ok = true;
    json_t *required = facet_gltf_get_array(g, g->root, "extensionsRequired", "glTF", &ok);

    for (size_t i = 0; ok && i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));

        if (name == NULL) {
            return facet_gltf_fail(g, FACET_ERR_INPUT, "extensionsRequired: expected names");
        }
        if (!facet_gltf_supports(name)) {
            return facet_gltf_fail(
                g,
                FACET_ERR_INPUT,
                "the file requires the extension %.100s, which Facet does not have; "
                "one that is only in extensionsUsed is left out",
                name);
        }
    }
    return ok;
}

static uint32_t *none_array(struct gltf *g, size_t count)
{
    uint32_t *array = malloc((count + 1) * sizeof *array);

    if (array == NULL) {
        (void)facet_gltf_fail(g, FACET_ERR_MEMORY, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i <= count; i++) {
        array[i] = FACET_SCENE_NONE;
    }
    return array;
}

static bool allocate_maps(struct gltf *g)
{
    size_t nodes = facet_gltf_count(g, "nodes");

    g->buffers = calloc((size_t)facet_gltf_count(g, "buffers") + 1, sizeof *g->buffers);
    g->world = calloc(nodes + 1, sizeof *g->world);
    g->reached = calloc(nodes + 1, sizeof *g->reached);
    g->morphed = calloc(nodes + 1, sizeof *g->morphed);
    if (g->buffers == NULL || g->world == NULL || g->reached == NULL || g->morphed == NULL) {
        return facet_gltf_fail(g, FACET_ERR_MEMORY, "out of memory");
    }
    g->material_map = none_array(g, facet_gltf_count(g, "materials"));
    g->image_map = none_array(g, facet_gltf_count(g, "images"));
    g->mesh_first = none_array(g, facet_gltf_count(g, "meshes"));
    g->mesh_end = none_array(g, facet_gltf_count(g, "meshes"));
    return g->status == FACET_OK;
}

static void release(struct gltf *g)
{
    for (uint32_t i = 0; g->buffers != NULL && i < facet_gltf_count(g, "buffers"); i++) {
        free(g->buffers[i].owned);
    }
    free(g->buffers);
    for (uint32_t i = 0; g->poses != NULL && i < facet_gltf_count(g, "nodes"); i++) {
        free(g->poses[i].weights);
    }
    free(g->poses);
    facet_gltf_free_skins(g);
    free(g->world);
    free(g->reached);
    free(g->morphed);
    free(g->material_map);
    free(g->image_map);
    free(g->mesh_first);
    free(g->mesh_end);
    json_decref(g->root);
}

/* JSON starts with a bracket, perhaps after blanks and a byte order mark. */
static bool looks_like_json(const uint8_t *data, size_t size)
{
    size_t at = size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    while (at < size && strchr(" \t\r\n", data[at]) != NULL && data[at] != '\0') {
        at++;
    }
    return at < size && (data[at] == '{' || data[at] == '[');
}

static bool wrong_magic(struct gltf *g, const uint8_t *data, size_t size)
{
    char found[16] = "";

    for (size_t i = 0; i < size && i < 4; i++) {
        (void)snprintf(found + 3 * i, sizeof found - 3 * i, " %02X", data[i]);
    }
    return facet_gltf_fail(g,
                           FACET_ERR_INPUT,
                           "offset 0: expected 67 6C 54 46 (\"glTF\", a .glb) or JSON (a .gltf), "
                           "found%s",
                           found);
}

static bool parse(struct gltf *g, const struct facet_reader *reader)
{
    const uint8_t *text = reader->data;
    size_t size = reader->size;
    struct facet_error err;
    enum facet_status status;

    if (size >= 4 && facet_load_le32(text) == GLB_MAGIC) {
        if (!split_glb(g, reader->data, reader->size, &text, &size)) {
            return false;
        }
    } else if (!looks_like_json(text, size)) {
        return wrong_magic(g, text, size);
    }
    status = facet_json_parse("JSON", text, size, &g->root, &err);
    if (status != FACET_OK) {
        return facet_gltf_fail(g, status, "%.380s", err.message);
    }
    return json_is_object(g->root) ||
           facet_gltf_fail(g, FACET_ERR_INPUT, "the JSON is not an object");
}

enum facet_status facet_gltf_read(const struct facet_reader *reader,
                                  struct facet_scene *scene,
                                  struct facet_error *err)
{
    struct gltf g = {.reader = reader, .scene = scene, .err = err};

    (void)(parse(&g, reader) && check_version(&g) && check_tables(&g) && check_extensions(&g) &&
           allocate_maps(&g) && facet_gltf_animate(&g) && facet_gltf_nodes(&g) &&
           facet_gltf_note_root(&g));
    release(&g);
    return g.status;
}
