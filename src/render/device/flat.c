/* See flat.h. The same walk runs twice: first it only counts bytes, then it fills them in. */
#include "render/device/flat.h"

#include "image/color.h"
#include "render/device/shared.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, CODES = 256 };

_Static_assert(FACET_SCENE_UV_SETS == 8, "as device_mesh has them");

struct writer {
    uint8_t *bytes; /* NULL: counting */
    uint64_t size;
};

/* Room for an array, and where it is. */
static uint64_t reserve(struct writer *w, uint64_t bytes)
{
    uint64_t at = w->size;

    w->size += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static void fill(struct writer *w, uint64_t at, const void *data, uint64_t bytes)
{
    if (w->bytes != NULL && bytes != 0) {
        memcpy(w->bytes + at, data, bytes);
    }
}

/* Copies an array; the distance to it from what lies at `owner`. */
static uint64_t put(struct writer *w, uint64_t owner, const void *data, uint64_t bytes)
{
    uint64_t at;

    if (data == NULL) {
        return 0;
    }
    at = reserve(w, bytes);
    fill(w, at, data, bytes);
    return at - owner;
}

static uint64_t put_meshes(struct writer *w, const struct facet_scene *scene)
{
    const uint64_t first = reserve(w, scene->mesh_count * sizeof(struct device_mesh));

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        const struct facet_scene_mesh *m = &scene->meshes[i];
        const uint64_t at = first + i * sizeof(struct device_mesh), each = sizeof(float);
        struct device_mesh mesh = {.material = m->material};

        mesh.indices = put(w, at, m->indices, 3 * sizeof *m->indices * (uint64_t)m->triangle_count);
        mesh.positions = put(w, at, m->positions, 3 * each * m->vertex_count);
        mesh.normals = put(w, at, m->normals, 3 * each * m->vertex_count);
        mesh.colors = put(w, at, m->colors, 4 * each * m->vertex_count);
        for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
            mesh.uv[set] = put(w, at, m->uv[set], 2 * each * m->vertex_count);
        }
        fill(w, at, &mesh, sizeof mesh);
    }
    return first;
}

static uint64_t put_instances(struct writer *w, const struct facet_scene *scene)
{
    const uint64_t first = reserve(w, scene->instance_count * sizeof(struct device_instance));

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const struct facet_scene_instance *from = &scene->instances[i];
        struct device_instance instance = {.mesh = from->mesh, .flipped = from->flipped};

        memcpy(instance.transform, from->transform, sizeof instance.transform);
        fill(w, first + i * sizeof instance, &instance, sizeof instance);
    }
    return first;
}

static struct device_texture_use use_of(const struct facet_texture_use *from)
{
    struct device_texture_use use = {.texture = from->texture,
                                     .uv_set = from->uv_set,
                                     .wrap_u = from->wrap_u,
                                     .wrap_v = from->wrap_v,
                                     .magnify = from->magnify};

    memcpy(use.matrix, from->matrix, sizeof use.matrix);
    return use;
}

static uint64_t put_materials(struct writer *w, const struct facet_scene *scene)
{
    const uint64_t first = reserve(w, scene->material_count * sizeof(struct device_material));

    for (uint32_t i = 0; i < scene->material_count; i++) {
        const struct facet_scene_material *from = &scene->materials[i];
        struct device_material material = {.metallic = from->metallic,
                                           .roughness = from->roughness,
                                           .base_texture = use_of(&from->base_texture),
                                           .emissive_texture = use_of(&from->emissive_texture),
                                           .alpha_mode = from->alpha_mode,
                                           .alpha_cutoff = from->alpha_cutoff,
                                           .unlit = from->unlit};

        memcpy(material.base_color, from->base_color, sizeof material.base_color);
        memcpy(material.emissive, from->emissive, sizeof material.emissive);
        fill(w, first + i * sizeof material, &material, sizeof material);
    }
    return first;
}

static uint64_t put_textures(struct writer *w, const struct facet_scene *scene)
{
    const uint64_t first = reserve(w, scene->texture_count * sizeof(struct device_texture));
    float linear[CODES];
    uint64_t codes;

    for (unsigned code = 0; code < CODES; code++) {
        linear[code] = facet_image_srgb_to_linear((uint8_t)code);
    }
    codes = first + put(w, first, linear, sizeof linear);
    for (uint32_t i = 0; i < scene->texture_count; i++) {
        const struct facet_scene_texture *from = &scene->textures[i];
        const uint64_t at = first + i * sizeof(struct device_texture);
        struct device_texture texture = {
            .linear = codes - at, .width = from->width, .height = from->height};

        texture.rgba = put(w, at, from->rgba, UINT64_C(4) * from->width * from->height);
        fill(w, at, &texture, sizeof texture);
    }
    return first;
}

static uint64_t put_lights(struct writer *w, const struct facet_scene *scene)
{
    const uint64_t first = reserve(w, scene->light_count * sizeof(struct device_light));

    for (uint32_t i = 0; i < scene->light_count; i++) {
        const struct facet_scene_light *from = &scene->lights[i];
        struct device_light light = {.kind = from->kind,
                                     .intensity = from->intensity,
                                     .range = from->range,
                                     .inner_cone = from->inner_cone,
                                     .outer_cone = from->outer_cone};

        memcpy(light.color, from->color, sizeof light.color);
        memcpy(light.position, from->position, sizeof light.position);
        memcpy(light.direction, from->direction, sizeof light.direction);
        fill(w, first + i * sizeof light, &light, sizeof light);
    }
    return first;
}

static uint64_t put_scene(struct writer *w, const struct facet_scene *scene)
{
    const uint64_t at = reserve(w, sizeof(struct device_scene));
    struct device_scene out = {.light_count = scene->light_count};

    out.meshes = put_meshes(w, scene) - at;
    out.instances = put_instances(w, scene) - at;
    out.materials = put_materials(w, scene) - at;
    out.textures = put_textures(w, scene) - at;
    out.lights = put_lights(w, scene) - at;
    fill(w, at, &out, sizeof out);
    return at;
}

static struct device_camera camera_of(const struct facet_scene_camera *from)
{
    struct device_camera camera = {
        .kind = from->kind, .z_near = from->z_near, .z_far = from->z_far};

    memcpy(camera.transform, from->transform, sizeof camera.transform);
    return camera;
}

static void put_picture(struct writer *w, const struct facet_picture *p)
{
    const uint64_t at = reserve(w, sizeof(struct device_picture));
    const struct device_camera camera = camera_of(&p->camera);
    struct facet_shade_lens lens;
    struct device_picture out = {.width = p->width,
                                 .height = p->height,
                                 .spp = p->spp,
                                 .seed = p->seed,
                                 .view = p->view,
                                 .shadows = p->shadows,
                                 .ao_rays = p->ao_rays,
                                 .bounces = p->bounces,
                                 .lamp_count = p->lamp_count,
                                 .ao_distance = p->ao_distance,
                                 .sky_level = p->sky_level};

    facet_shade_lens_make(&p->camera, p->width, p->height, &lens);
    out.lens = (struct device_lens){.half_width = lens.half_width,
                                    .half_height = lens.half_height,
                                    .width = lens.width,
                                    .height = lens.height};
    out.lens.camera = put(w, at + offsetof(struct device_picture, lens), &camera, sizeof camera);
    out.scene = put_scene(w, p->scene) - at;
    out.lamps = put(w, at, p->lamps, sizeof *p->lamps * (uint64_t)p->lamp_count);
    fill(w, at, &out, sizeof out);
}

enum facet_status facet_render_flat_make(const struct facet_picture *picture,
                                         struct facet_render_flat *out,
                                         struct facet_error *err)
{
    struct writer w = {NULL, 0};

    put_picture(&w, picture);
    w.bytes = calloc(1, w.size);
    if (w.bytes == NULL) {
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          0,
                          "no memory for %llu bytes of a scene",
                          (unsigned long long)w.size);
    }
    out->size = w.size;
    w.size = 0;
    put_picture(&w, picture);
    out->bytes = w.bytes;
    return FACET_OK;
}
