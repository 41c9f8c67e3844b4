/* Surfaces that glow as a list to choose from, each triangle by its share of area * brightness. */
#include "render/world.h"

#include <stdlib.h>

static float brightness(const float rgb[3])
{
    return rgb[0] + rgb[1] + rgb[2];
}

static const struct facet_scene_material *material_of(const struct facet_scene *scene,
                                                      uint32_t instance)
{
    return &scene->materials[scene->meshes[scene->instances[instance].mesh].material];
}

static struct facet_vec3 corner_of(const struct facet_scene *scene,
                                   const struct facet_scene_instance *instance,
                                   uint32_t triangle,
                                   unsigned c)
{
    const struct facet_scene_mesh *mesh = &scene->meshes[instance->mesh];
    const float *m = instance->transform;
    struct facet_vec3 p =
        vec3_load(mesh->positions + 3 * (size_t)mesh->indices[3 * (size_t)triangle + c]);

    return vec3(m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3],
                m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]);
}

static struct facet_lamp
make_lamp(const struct facet_scene *scene, uint32_t number, uint32_t triangle)
{
    const struct facet_scene_instance *instance = &scene->instances[number];
    struct facet_lamp lamp = {.instance = number, .triangle = triangle};

    lamp.corner = corner_of(scene, instance, triangle, 0);
    lamp.across = vec3_sub(corner_of(scene, instance, triangle, 1), lamp.corner);
    lamp.up = vec3_sub(corner_of(scene, instance, triangle, 2), lamp.corner);
    lamp.side = material_of(scene, number)->double_sided ? 0.0F : instance->flipped ? -1.0F : 1.0F;
    return lamp;
}

static uint64_t count_lamps(const struct facet_scene *scene)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const struct facet_scene_mesh *mesh = &scene->meshes[scene->instances[i].mesh];

        if (brightness(material_of(scene, i)->emissive) > 0.0F) {
            count += mesh->triangle_count;
        }
    }
    return count;
}

/* Fills in the lamps; `until` is a sum of weights, which is returned. */
static double add_lamps(const struct facet_scene *scene, struct facet_lamp *lamps)
{
    double sum = 0.0;
    size_t next = 0;

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        float bright = brightness(material_of(scene, i)->emissive);
        uint32_t triangles = scene->meshes[scene->instances[i].mesh].triangle_count;

        for (uint32_t k = 0; k < triangles && bright > 0.0F; k++) {
            struct facet_lamp lamp = make_lamp(scene, i, k);
            struct facet_vec3 face = vec3_cross(lamp.across, lamp.up);

            sum += 0.5 * sqrt((double)vec3_dot(face, face)) * (double)bright;
            lamp.density = bright;
            lamp.until = (float)sum;
            lamps[next++] = lamp;
        }
    }
    return sum;
}

enum facet_status facet_render_find_lamps(struct facet_render *render, struct facet_error *err)
{
    const struct facet_scene *scene = render->scene;
    bool lit = scene->light_count != 0 && !scene->lights[0].derived;
    uint64_t count = render->options.bounces != 0 && !lit ? count_lamps(scene) : 0;
    double sum;

    if (count == 0) {
        return FACET_OK;
    }
    render->lamps = count <= UINT32_MAX ? calloc(count, sizeof *render->lamps) : NULL;
    if (render->lamps == NULL) {
        return facet_fail(
            err, FACET_ERR_MEMORY, 0, "no memory for %llu lamps", (unsigned long long)count);
    }
    sum = add_lamps(scene, render->lamps);
    if (!(sum > 1e-30 && sum < 1e30)) { /* nothing to choose from: they glow, and that is all */
        return FACET_OK;
    }
    render->lamp_count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++) {
        render->lamps[i].until = (float)((double)render->lamps[i].until / sum);
        render->lamps[i].density = (float)((double)render->lamps[i].density / sum);
    }
    return FACET_OK;
}
