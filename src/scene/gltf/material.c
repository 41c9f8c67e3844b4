/* glTF materials, textures, samplers and images. Only what the scene's triangles use is converted,
 * so unused pictures are never decoded. */
#include "scene/gltf/gltf.h"

#include "image/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OpenGL's numbers, which glTF uses. */
enum {
    GL_NEAREST = 9728,
    GL_LINEAR = 9729,
    GL_NEAREST_MIPMAP_NEAREST = 9984,
    GL_LINEAR_MIPMAP_NEAREST = 9985,
    GL_NEAREST_MIPMAP_LINEAR = 9986,
    GL_LINEAR_MIPMAP_LINEAR = 9987,
    GL_CLAMP_TO_EDGE = 33071,
    GL_MIRRORED_REPEAT = 33648,
    GL_REPEAT = 10497,
};

static bool read_wrap(
    struct gltf *g, const json_t *sampler, const char *key, const char *where, enum facet_wrap *out)
{
    uint64_t code = GL_REPEAT;

    if (!facet_gltf_get_size(g, sampler, key, 65535, where, &code)) {
        return false;
    }
    switch (code) {
    case GL_REPEAT:
        *out = FACET_WRAP_REPEAT;
        return true;
    case GL_CLAMP_TO_EDGE:
        *out = FACET_WRAP_CLAMP;
        return true;
    case GL_MIRRORED_REPEAT:
        *out = FACET_WRAP_MIRROR;
        return true;
    default:
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.%s is %u: expected 10497, 33071 or 33648",
                               where,
                               key,
                               (unsigned)code);
    }
}

static bool read_filters(struct gltf *g,
                         const json_t *sampler,
                         const char *where,
                         struct facet_texture_use *use)
{
    uint64_t magnify = GL_LINEAR, minify = GL_LINEAR_MIPMAP_LINEAR;

    if (!facet_gltf_get_size(g, sampler, "magFilter", 65535, where, &magnify) ||
        !facet_gltf_get_size(g, sampler, "minFilter", 65535, where, &minify)) {
        return false;
    }
    if ((magnify != GL_NEAREST && magnify != GL_LINEAR) ||
        (minify != GL_NEAREST && minify != GL_LINEAR &&
         (minify < GL_NEAREST_MIPMAP_NEAREST || minify > GL_LINEAR_MIPMAP_LINEAR))) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s: unknown magFilter or minFilter", where);
    }
    use->magnify = magnify == GL_NEAREST ? FACET_FILTER_NEAREST : FACET_FILTER_LINEAR;
    use->minify = minify == GL_NEAREST || minify == GL_NEAREST_MIPMAP_NEAREST ||
                          minify == GL_NEAREST_MIPMAP_LINEAR
                      ? FACET_FILTER_NEAREST
                      : FACET_FILTER_LINEAR;
    use->mip = minify < GL_NEAREST_MIPMAP_NEAREST  ? FACET_MIP_NONE
               : minify < GL_NEAREST_MIPMAP_LINEAR ? FACET_MIP_NEAREST
                                                   : FACET_MIP_LINEAR;
    return true;
}

static bool read_sampler(struct gltf *g, uint32_t index, struct facet_texture_use *use)
{
    json_t *sampler = facet_gltf_item(g, "samplers", index);
    char where[GLTF_WHERE_BYTES];

    (void)snprintf(where, sizeof where, "samplers[%u]", index);
    return facet_gltf_note_unused_look(g, sampler, " magFilter minFilter wrapS wrapT ", where) &&
           read_wrap(g, sampler, "wrapS", where, &use->wrap_u) &&
           read_wrap(g, sampler, "wrapT", where, &use->wrap_v) &&
           read_filters(g, sampler, where, use);
}

/* The encoded bytes of an image; free *owned. */
static bool image_bytes(struct gltf *g,
                        uint32_t index,
                        const char *where,
                        const uint8_t **data,
                        size_t *size,
                        uint8_t **owned)
{
    json_t *object = facet_gltf_item(g, "images", index);
    const char *uri = facet_gltf_get_text(object, "uri");
    size_t stride;
    uint32_t view;

    *owned = NULL;
    if (uri[0] != '\0') {
        struct facet_bytes bytes;

        if (!facet_gltf_load_uri(g, uri, where, &bytes)) {
            return false;
        }
        *data = *owned = bytes.data;
        *size = bytes.size;
        return true;
    }
    if (!facet_gltf_get_index(g, object, "bufferView", "bufferViews", where, &view)) {
        return false;
    }
    if (view == FACET_SCENE_NONE) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s has neither uri nor bufferView", where);
    }
    return facet_gltf_view(g, view, data, size, &stride);
}

/* Formats that other extensions allow and Facet does not decode. */
static const char *foreign_format(const uint8_t *data, size_t size)
{
    if (size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0) {
        return "WebP pictures";
    }
    if (size >= 12 && memcmp(data, "\xABKTX ", 5) == 0) {
        return "KTX pictures";
    }
    return size >= 4 && memcmp(data, "DDS ", 4) == 0 ? "DDS pictures" : NULL;
}

/* A picture in a format we cannot decode leaves the material untextured, with a warning; a damaged
 * PNG or JPEG is an error. */
static bool decode_image(struct gltf *g, uint32_t index, uint32_t *out)
{
    struct facet_scene_texture texture;
    struct facet_image image = {0, 0, NULL};
    struct facet_error err;
    char where[GLTF_WHERE_BYTES];
    const uint8_t *data = NULL;
    uint8_t *owned = NULL;
    size_t size = 0;
    enum facet_status status;

    (void)snprintf(where, sizeof where, "images[%u]", index);
    if (!facet_gltf_note_unused_look(
            g, facet_gltf_item(g, "images", index), " uri bufferView mimeType ", where) ||
        !image_bytes(g, index, where, &data, &size, &owned)) {
        return false;
    }
    if (foreign_format(data, size) != NULL) {
        free(owned);
        *out = FACET_SCENE_NONE;
        return facet_gltf_leave_out(g,
                                    FACET_LOSS_LOOK,
                                    1,
                                    foreign_format(data, size),
                                    facet_gltf_item(g, "images", index),
                                    where,
                                    "only PNG and JPEG are decoded; the plain colour is drawn");
    }
    status = facet_image_decode(data, size, &image, &err);
    free(owned);
    if (status != FACET_OK) {
        return facet_gltf_fail(g, status, "%s: %.300s", where, err.message);
    }
    memset(&texture, 0, sizeof texture);
    facet_gltf_set_name(texture.name, facet_gltf_item(g, "images", index), where);
    texture.width = image.width;
    texture.height = image.height;
    texture.rgba = image.rgba;
    status = facet_scene_add_texture(g->scene, &texture, out, &err);
    if (status != FACET_OK) {
        facet_image_free(&image);
        return facet_gltf_fail(g, status, "%s: %.300s", where, err.message);
    }
    return true;
}

/* KHR_texture_transform: scale, then rotate, then move. The rotation is counter-clockwise on a
 * drawing of the UV plane with v downwards, as the extension's prose, its test model and its users
 * have it; the sign in the extension's GLSL listing is the opposite (KhronosGroup/glTF, issue
 * 1563). */
static bool read_transform(struct gltf *g,
                           const json_t *transform,
                           const char *where,
                           struct facet_texture_use *use)
{
    double offset[2] = {0, 0}, scale[2] = {1, 1}, angle = 0, c, s;
    uint64_t set = use->uv_set;

    if (!facet_gltf_get_numbers(g, transform, "offset", 2, where, offset) ||
        !facet_gltf_get_numbers(g, transform, "scale", 2, where, scale) ||
        !facet_gltf_get_number(g, transform, "rotation", where, &angle) ||
        !facet_gltf_get_size(g, transform, "texCoord", FACET_SCENE_UV_SETS - 1, where, &set)) {
        return false;
    }
    c = angle != 0 ? cos(angle) : 1;
    s = angle != 0 ? sin(angle) : 0;
    use->matrix[0] = (float)(c * scale[0]);
    use->matrix[1] = (float)(s * scale[1]);
    use->matrix[2] = (float)offset[0];
    use->matrix[3] = (float)(-s * scale[0]);
    use->matrix[4] = (float)(c * scale[1]);
    use->matrix[5] = (float)offset[1];
    use->uv_set = (uint32_t)set;
    return true;
}

static bool read_texture_use(struct gltf *g,
                             const json_t *holder,
                             const char *key,
                             const char *where,
                             struct facet_texture_use *use)
{
    bool ok = true;
    json_t *info = facet_gltf_get_object(g, holder, key, where, &ok);
    json_t *transform = facet_gltf_extension(info, "KHR_texture_transform");
    uint32_t texture, image, sampler;
    uint64_t set = 0;
    json_t *object;

    if (!ok || info == NULL || g->reader->shape_only) {
        return ok;
    }
    if (!facet_gltf_get_index(g, info, "index", "textures", where, &texture) ||
        !facet_gltf_get_size(g, info, "texCoord", FACET_SCENE_UV_SETS - 1, where, &set)) {
        return false;
    }
    if (texture == FACET_SCENE_NONE) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.%s has no index", where, key);
    }
    object = facet_gltf_item(g, "textures", texture);
    if (!facet_gltf_get_index(g, object, "source", "images", where, &image) ||
        !facet_gltf_get_index(g, object, "sampler", "samplers", where, &sampler) ||
        !facet_gltf_note_unused_look(g, info, " index texCoord ", where) ||
        !facet_gltf_note_unused_look(g, object, " source sampler ", where)) {
        return false;
    }
    if (image == FACET_SCENE_NONE) {
        return facet_gltf_leave_out(g,
                                    FACET_LOSS_LOOK,
                                    1,
                                    "textures without a PNG or JPEG picture",
                                    json_object_get(holder, "name") != NULL ? holder : object,
                                    where,
                                    "the plain colour is drawn");
    }
    use->uv_set = (uint32_t)set;
    if (sampler != FACET_SCENE_NONE && !read_sampler(g, sampler, use)) {
        return false;
    }
    if (transform != NULL && !read_transform(g, transform, where, use)) {
        return false;
    }
    if (g->image_map[image] == FACET_SCENE_NONE && !decode_image(g, image, &g->image_map[image])) {
        return false;
    }
    use->texture = g->image_map[image];
    return true;
}

static void to_floats(const double *from, float *to, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        to[i] = (float)from[i];
    }
}

static bool read_alpha(struct gltf *g,
                       const json_t *object,
                       const char *where,
                       struct facet_scene_material *material)
{
    const char *mode = facet_gltf_get_text(object, "alphaMode");
    double cutoff = 0.5;

    if (!facet_gltf_get_number(g, object, "alphaCutoff", where, &cutoff)) {
        return false;
    }
    material->alpha_cutoff = (float)cutoff;
    if (mode[0] == '\0' || strcmp(mode, "OPAQUE") == 0) {
        material->alpha_mode = FACET_ALPHA_OPAQUE;
    } else if (strcmp(mode, "MASK") == 0) {
        material->alpha_mode = FACET_ALPHA_MASK;
    } else if (strcmp(mode, "BLEND") == 0) {
        material->alpha_mode = FACET_ALPHA_BLEND;
    } else {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.alphaMode is \"%.20s\": expected OPAQUE, MASK or BLEND",
                               where,
                               mode);
    }
    return true;
}

/* Base colour: from the metallic-roughness model, or from KHR_materials_pbrSpecularGlossiness where
 * a file has only that. */
static bool read_base(struct gltf *g,
                      const json_t *object,
                      const char *where,
                      struct facet_scene_material *material)
{
    bool ok = true;
    json_t *pbr = facet_gltf_get_object(g, object, "pbrMetallicRoughness", where, &ok);
    json_t *glossy = facet_gltf_extension(object, "KHR_materials_pbrSpecularGlossiness");
    double color[4] = {1, 1, 1, 1}, metallic = 1, roughness = 1;

    if (!ok) {
        return false;
    }
    if (glossy != NULL) {
        metallic = 0;
        ok = facet_gltf_note_unused(g, glossy, " diffuseFactor diffuseTexture ", where) &&
             facet_gltf_get_numbers(g, glossy, "diffuseFactor", 4, where, color) &&
             read_texture_use(g, glossy, "diffuseTexture", where, &material->base_texture);
    } else {
        ok = facet_gltf_note_unused(
                 g,
                 pbr,
                 " baseColorFactor baseColorTexture metallicFactor roughnessFactor ",
                 where) &&
             facet_gltf_get_numbers(g, pbr, "baseColorFactor", 4, where, color) &&
             facet_gltf_get_number(g, pbr, "metallicFactor", where, &metallic) &&
             facet_gltf_get_number(g, pbr, "roughnessFactor", where, &roughness) &&
             read_texture_use(g, pbr, "baseColorTexture", where, &material->base_texture);
    }
    to_floats(color, material->base_color, 4);
    material->metallic = (float)metallic;
    material->roughness = (float)roughness;
    return ok;
}

static bool read_emission(struct gltf *g,
                          const json_t *object,
                          const char *where,
                          struct facet_scene_material *material)
{
    json_t *boost = facet_gltf_extension(object, "KHR_materials_emissive_strength");
    double color[3] = {0, 0, 0}, strength = 1;

    if (!facet_gltf_get_numbers(g, object, "emissiveFactor", 3, where, color) ||
        !facet_gltf_get_number(g, boost, "emissiveStrength", where, &strength) ||
        !read_texture_use(g, object, "emissiveTexture", where, &material->emissive_texture)) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        material->emissive[i] = (float)(color[i] * strength);
    }
    return true;
}

/* The renderers know matte surfaces, and with --bounces mirrors. */
static bool note_gloss(struct gltf *g,
                       const json_t *object,
                       const char *where,
                       const struct facet_scene_material *material)
{
    bool glossy = !material->unlit && (material->metallic > 0.0F || material->roughness < 1.0F);

    return facet_gltf_leave_out(g,
                                FACET_LOSS_LOOK,
                                glossy,
                                "reflections of metallic or smooth materials",
                                object,
                                where,
                                "they are drawn matte; render --bounces mirrors in smooth metal");
}

static bool read_material(struct gltf *g, uint32_t index, struct facet_scene_material *material)
{
    json_t *object = facet_gltf_item(g, "materials", index);
    char where[GLTF_WHERE_BYTES];

    (void)snprintf(where, sizeof where, "materials[%u]", index);
    facet_gltf_set_name(material->name, object, where);
    material->unlit = facet_gltf_extension(object, "KHR_materials_unlit") != NULL;
    return read_base(g, object, where, material) && read_emission(g, object, where, material) &&
           read_alpha(g, object, where, material) &&
           facet_gltf_get_bool(g, object, "doubleSided", where, &material->double_sided) &&
           note_gloss(g, object, where, material) &&
           facet_gltf_note_unused(g,
                                  object,
                                  " pbrMetallicRoughness emissiveFactor emissiveTexture alphaMode "
                                  "alphaCutoff doubleSided ",
                                  where);
}

bool facet_gltf_material(struct gltf *g, uint32_t index, uint32_t *out)
{
    uint32_t slot = index != FACET_SCENE_NONE ? index : facet_gltf_count(g, "materials");
    struct facet_scene_material material;
    struct facet_error err;
    enum facet_status status;

    if (g->material_map[slot] == FACET_SCENE_NONE) {
        facet_scene_material_default(&material);
        facet_scene_set_name(material.name, "default", 7);
        if (index != FACET_SCENE_NONE && !read_material(g, index, &material)) {
            return false;
        }
        status = facet_scene_add_material(g->scene, &material, &g->material_map[slot], &err);
        if (status != FACET_OK) {
            return facet_gltf_fail(g, status, "%.300s", err.message);
        }
    }
    *out = g->material_map[slot];
    return true;
}
