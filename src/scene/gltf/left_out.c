/* What a glTF file says and Facet does not use. Every object that is read passes through
 * facet_gltf_note_unused() with the list of what its reader takes: the rest is noted by name, be it
 * a property of glTF, one of a later version, or an extension. Accessors and buffers are data
 * alone: an extension of theirs is found in extensionsUsed. */
#include "scene/gltf/gltf.h"

#include <stdio.h>
#include <string.h>

#define BOTH (FACET_LOSS_SHAPE | FACET_LOSS_LOOK)

/* The extensions that are honoured wherever they may stand. */
static const char *const supported[] = {"KHR_texture_transform",
                                        "KHR_lights_punctual",
                                        "EXT_mesh_gpu_instancing",
                                        "KHR_mesh_quantization",
                                        "KHR_node_visibility",
                                        "KHR_materials_unlit",
                                        "KHR_materials_emissive_strength",
                                        "KHR_materials_pbrSpecularGlossiness"};

/* Properties worth more than "not used". A NULL name: nothing is lost without it. */
static const struct {
    const char *key, *what;
    unsigned effect;
    const char *why;
} properties[] = {
    {"normalTexture", "normal textures", FACET_LOSS_LOOK, "surfaces keep their plain normals"},
    {"occlusionTexture",
     "occlusion textures",
     FACET_LOSS_LOOK,
     "occlusion comes from the triangles alone"},
    {"metallicRoughnessTexture",
     "metallic-roughness textures",
     FACET_LOSS_LOOK,
     "surfaces are drawn matte"},
    {"specularGlossinessTexture",
     "specular-glossiness textures",
     FACET_LOSS_LOOK,
     "surfaces are drawn matte"},
    {"specularFactor", "specular colours", FACET_LOSS_LOOK, "surfaces are drawn matte"},
    {"glossinessFactor", "glossiness values", FACET_LOSS_LOOK, "surfaces are drawn matte"},
    {"TANGENT", NULL, 0, NULL}, /* serves normal textures only */
    {"name", NULL, 0, NULL},
    {"extras", NULL, 0, NULL},
};

/* These have plain data beside them, which is what was read. */
static bool is_compression(const char *name)
{
    return strcmp(name, "KHR_draco_mesh_compression") == 0 ||
           strcmp(name, "EXT_meshopt_compression") == 0 ||
           strcmp(name, "KHR_meshopt_compression") == 0;
}

static unsigned extension_effect(const char *name)
{
    if (is_compression(name) || strncmp(name, "KHR_xmp", 7) == 0) {
        return 0;
    }
    return strncmp(name, "KHR_materials_", 14) == 0 || strncmp(name, "KHR_texture_", 12) == 0 ||
                   strncmp(name, "EXT_texture_", 12) == 0
               ? FACET_LOSS_LOOK
               : BOTH;
}

static bool in_list(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

bool facet_gltf_supports(const char *extension)
{
    return in_list(supported, sizeof supported / sizeof supported[0], extension);
}

bool facet_gltf_leave_out(struct gltf *g,
                          unsigned effect,
                          uint32_t count,
                          const char *what,
                          const json_t *object,
                          const char *where,
                          const char *why)
{
    const char *name = facet_gltf_get_text(object, "name");
    char first[sizeof((struct facet_left_out *)NULL)->first];
    struct facet_error err;
    enum facet_status status;

    (void)snprintf(first, sizeof first, name[0] != '\0' ? "%s \"%.100s\"" : "%s", where, name);
    status = facet_scene_leave_out(g->scene, effect, count, what, first, why, &err);
    return status == FACET_OK || facet_gltf_fail(g, status, "%.300s", err.message);
}

static bool leave_out_extension(
    struct gltf *g, const char *name, const json_t *object, unsigned effects, const char *where)
{
    char what[sizeof((struct facet_left_out *)NULL)->what];

    if (facet_gltf_supports(name)) {
        return true;
    }
    (void)snprintf(what, sizeof what, "extension %.80s", name);
    return facet_gltf_leave_out(g,
                                extension_effect(name) & effects,
                                1,
                                what,
                                object,
                                where,
                                is_compression(name) ? "the plain data beside it is read"
                                                     : "Facet does not have it");
}

static bool leave_out_property(
    struct gltf *g, const char *key, const json_t *object, unsigned effects, const char *where)
{
    char what[sizeof((struct facet_left_out *)NULL)->what];

    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (strcmp(properties[i].key, key) == 0) {
            return properties[i].what == NULL || facet_gltf_leave_out(g,
                                                                      properties[i].effect,
                                                                      1,
                                                                      properties[i].what,
                                                                      object,
                                                                      where,
                                                                      properties[i].why);
        }
    }
    (void)snprintf(what, sizeof what, "property %.80s", key);
    return facet_gltf_leave_out(
        g, key[0] == '_' ? 0 : effects, 1, what, object, where, "Facet does not use it");
}

/* Whether a word stands between blanks in the list. */
static bool is_word_of(const char *word, const char *list)
{
    size_t length = strlen(word);

    for (const char *at = list; length != 0 && (at = strstr(at, word)) != NULL; at++) {
        if (at != list && at[-1] == ' ' && at[length] == ' ') {
            return true;
        }
    }
    return false;
}

static bool note_unused(
    struct gltf *g, const json_t *object, const char *used, unsigned effects, const char *where)
{
    json_t *extensions = json_object_get(object, "extensions"), *value;
    const char *key;

    json_object_foreach((json_t *)object, key, value)
    {
        if (!is_word_of(key, used) && strcmp(key, "extensions") != 0 &&
            !leave_out_property(g, key, object, effects, where)) {
            return false;
        }
    }
    json_object_foreach(extensions, key, value)
    {
        if (!leave_out_extension(g, key, object, effects, where)) {
            return false;
        }
    }
    return true;
}

bool facet_gltf_note_unused(struct gltf *g,
                            const json_t *object,
                            const char *used,
                            const char *where)
{
    return note_unused(g, object, used, BOTH, where);
}

bool facet_gltf_note_unused_look(struct gltf *g,
                                 const json_t *object,
                                 const char *used,
                                 const char *where)
{
    return note_unused(g, object, used, FACET_LOSS_LOOK, where);
}

/* Attributes whose names start with '_' are the application's own; sets beyond those that we read
 * are used by nothing that we draw. */
bool facet_gltf_note_attributes(struct gltf *g,
                                const json_t *primitive,
                                bool bends,
                                const char *where)
{
    json_t *attributes = json_object_get(primitive, "attributes"), *value;
    const char *key;

    json_object_foreach(attributes, key, value)
    {
        char what[sizeof((struct facet_left_out *)NULL)->what];
        unsigned set = 0;
        bool joints = sscanf(key, "JOINTS_%u", &set) == 1 || sscanf(key, "WEIGHTS_%u", &set) == 1;

        if (strcmp(key, "POSITION") == 0 || strcmp(key, "NORMAL") == 0 ||
            strcmp(key, "TANGENT") == 0 || strcmp(key, "COLOR_0") == 0 ||
            (sscanf(key, "TEXCOORD_%u", &set) == 1 && set < FACET_SCENE_UV_SETS) ||
            (joints && (!bends || set < GLTF_JOINT_SETS))) {
            continue;
        }
        (void)snprintf(what, sizeof what, "vertex attribute %.60s", key);
        if (!facet_gltf_leave_out(g,
                                  joints                           ? FACET_LOSS_SHAPE
                                  : strncmp(key, "COLOR_", 6) == 0 ? FACET_LOSS_LOOK
                                                                   : 0,
                                  1,
                                  what,
                                  NULL,
                                  where,
                                  "Facet does not use it")) {
            return false;
        }
    }
    return true;
}

/* Names in extensionsUsed that nothing read refers to, and what the root itself holds. */
bool facet_gltf_note_root(struct gltf *g)
{
    json_t *animations = json_object_get(g->root, "animations");
    json_t *used = json_object_get(g->root, "extensionsUsed");
    bool ok = facet_gltf_note_unused(
                  g,
                  g->root,
                  " asset accessors buffers bufferViews cameras images materials meshes nodes "
                  "samplers scene scenes skins textures extensionsUsed extensionsRequired "
                  "animations ",
                  "glTF") &&
              facet_gltf_leave_out(g,
                                   FACET_LOSS_SHAPE,
                                   g->poses == NULL ? (uint32_t)json_array_size(animations) : 0,
                                   "animations",
                                   json_array_get(animations, 0),
                                   "animations[0]",
                                   "everything is shown in its rest pose (--time shows another)");

    for (size_t i = 0; ok && i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        bool known = name == NULL || facet_gltf_supports(name);
        char what[sizeof((struct facet_left_out *)NULL)->what];

        (void)snprintf(what, sizeof what, "extension %.80s", known ? "" : name);
        for (uint32_t k = 0; !known && k < g->scene->left_out_count; k++) {
            known = strcmp(g->scene->left_out[k].what, what) == 0;
        }
        ok = known || leave_out_extension(g, name, NULL, BOTH, "extensionsUsed");
    }
    return ok;
}
