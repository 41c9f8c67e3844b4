/* See scene.h. */
#include "scene/scene.h"

#include "base/plain.h"

#include <stdlib.h>
#include <string.h>

void facet_scene_init(struct facet_scene *scene)
{
    memset(scene, 0, sizeof *scene);
}

void facet_scene_mesh_free(struct facet_scene_mesh *mesh)
{
    free(mesh->indices);
    free(mesh->positions);
    free(mesh->normals);
    free(mesh->colors);
    for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
        free(mesh->uv[set]);
    }
    memset(mesh, 0, sizeof *mesh);
}

void facet_scene_free(struct facet_scene *scene)
{
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        facet_scene_mesh_free(&scene->meshes[i]);
    }
    for (uint32_t i = 0; i < scene->texture_count; i++) {
        free(scene->textures[i].rgba);
    }
    free(scene->meshes);
    free(scene->instances);
    free(scene->materials);
    free(scene->textures);
    free(scene->cameras);
    free(scene->lights);
    free(scene->left_out);
    facet_scene_init(scene);
}

/* Room for one more item in *out: arrays grow when their count is a power of two, so they need no
 * capacity field. */
static enum facet_status reserve(void *array,
                                 uint32_t count,
                                 size_t item_size,
                                 uint32_t limit,
                                 const char *what,
                                 void **out,
                                 struct facet_error *err)
{
    *out = array;
    if (count >= limit) {
        return facet_fail(err, FACET_ERR_LIMIT, count, "more than %u %s", limit, what);
    }
    if ((count & (count - 1)) == 0) {
        void *grown = realloc(array, (count != 0 ? (size_t)count * 2 : 1) * item_size);

        if (grown == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, count, "out of memory at %u %s", count, what);
        }
        *out = grown;
    }
    return FACET_OK;
}

/* The body of every add function: array, count and limit differ. */
#define APPEND(array, count, limit, what, index)                                                   \
    do {                                                                                           \
        void *place;                                                                               \
        uint32_t *at = (index);                                                                    \
        enum facet_status status =                                                                 \
            reserve((array), (count), sizeof *(array), (limit), (what), &place, err);              \
        (array) = place;                                                                           \
        if (status == FACET_OK) {                                                                  \
            if (at != NULL) {                                                                      \
                *at = (count);                                                                     \
            }                                                                                      \
            (array)[(count)++] = *item;                                                            \
        }                                                                                          \
        return status;                                                                             \
    } while (0)

enum facet_status facet_scene_add_mesh(struct facet_scene *scene,
                                       const struct facet_scene_mesh *item,
                                       uint32_t *index,
                                       struct facet_error *err)
{
    APPEND(scene->meshes, scene->mesh_count, FACET_SCENE_MAX_MESHES, "meshes", index);
}

enum facet_status facet_scene_add_instance(struct facet_scene *scene,
                                           const struct facet_scene_instance *item,
                                           struct facet_error *err)
{
    APPEND(scene->instances, scene->instance_count, FACET_SCENE_MAX_INSTANCES, "instances", NULL);
}

enum facet_status facet_scene_add_placed_mesh(struct facet_scene *scene,
                                              const struct facet_scene_mesh *item,
                                              struct facet_error *err)
{
    struct facet_scene_instance instance = {.transform = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    enum facet_status status = facet_scene_add_mesh(scene, item, &instance.mesh, err);

    if (status == FACET_OK) {
        status = facet_scene_add_instance(scene, &instance, err);
        scene->mesh_count -= status != FACET_OK; /* it is still the caller's */
    }
    return status;
}

enum facet_status facet_scene_add_material(struct facet_scene *scene,
                                           const struct facet_scene_material *item,
                                           uint32_t *index,
                                           struct facet_error *err)
{
    APPEND(scene->materials, scene->material_count, FACET_SCENE_MAX_MATERIALS, "materials", index);
}

enum facet_status facet_scene_add_texture(struct facet_scene *scene,
                                          const struct facet_scene_texture *item,
                                          uint32_t *index,
                                          struct facet_error *err)
{
    APPEND(scene->textures, scene->texture_count, FACET_SCENE_MAX_TEXTURES, "textures", index);
}

enum facet_status facet_scene_add_camera(struct facet_scene *scene,
                                         const struct facet_scene_camera *item,
                                         struct facet_error *err)
{
    APPEND(scene->cameras, scene->camera_count, FACET_SCENE_MAX_CAMERAS, "cameras", NULL);
}

enum facet_status facet_scene_add_light(struct facet_scene *scene,
                                        const struct facet_scene_light *item,
                                        struct facet_error *err)
{
    APPEND(scene->lights, scene->light_count, FACET_SCENE_MAX_LIGHTS, "lights", NULL);
}

static void texture_use_default(struct facet_texture_use *use)
{
    const struct facet_texture_use plain = {
        .texture = FACET_SCENE_NONE,
        .mip = FACET_MIP_LINEAR,
        .matrix = {1, 0, 0, 0, 1, 0},
    };

    *use = plain;
}

void facet_scene_material_default(struct facet_scene_material *material)
{
    memset(material, 0, sizeof *material);
    for (unsigned i = 0; i < 4; i++) {
        material->base_color[i] = 1.0F;
    }
    material->metallic = 1.0F;
    material->roughness = 1.0F;
    material->alpha_cutoff = 0.5F;
    texture_use_default(&material->base_texture);
    texture_use_default(&material->emissive_texture);
}

void facet_scene_material_plain(struct facet_scene_material *material)
{
    static const char name[] = "default";

    facet_scene_material_default(material);
    facet_scene_set_name(material->name, name, sizeof name - 1);
    material->metallic = 0.0F;
    material->double_sided = true;
}

void facet_scene_clean(char *to, size_t size, const char *from, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length && used < size - 1;) {
        size_t step = facet_plain_length(from + i, length - i);

        if (step == 0) {
            to[used++] = '?';
            i++;
            continue;
        }
        if (used + step > size - 1) {
            break;
        }
        memcpy(to + used, from + i, step);
        used += step;
        i += step;
    }
    memset(to + used, 0, size - used);
}

void facet_scene_set_name(char to[FACET_SCENE_NAME_BYTES], const char *from, size_t length)
{
    facet_scene_clean(to, FACET_SCENE_NAME_BYTES, from, length);
}

uint64_t facet_scene_triangles(const struct facet_scene *scene)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        sum += scene->meshes[i].triangle_count;
    }
    return sum;
}

uint64_t facet_scene_instanced_triangles(const struct facet_scene *scene)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        sum += scene->meshes[scene->instances[i].mesh].triangle_count;
    }
    return sum;
}

void facet_scene_traits_add(struct facet_scene_traits *to, const struct facet_scene_traits *more)
{
    static const uint8_t opposites[] = {FACET_TRAIT_OPAQUE | FACET_TRAIT_NON_OPAQUE,
                                        FACET_TRAIT_CULL_DISABLE | FACET_TRAIT_CULL};

    for (unsigned i = 0; i < 2; i++) {
        if ((more->set & opposites[i]) != 0) {
            to->set &= (uint8_t)~opposites[i];
        }
    }
    to->set |= more->set;
    to->mask = (more->set & FACET_TRAIT_MASK) != 0 ? more->mask : to->mask;
    to->user_data = (more->set & FACET_TRAIT_USER_DATA) != 0 ? more->user_data : to->user_data;
}
