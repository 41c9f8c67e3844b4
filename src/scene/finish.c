/* What follows from the contents of a scene: bounds, mirror flags, default camera and sun. */
#include "scene/matrix.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void bounds_clear(struct facet_bounds *bounds)
{
    for (unsigned i = 0; i < 3; i++) {
        bounds->lo[i] = INFINITY;
        bounds->hi[i] = -INFINITY;
    }
}

static void bounds_add(struct facet_bounds *bounds, const float point[3])
{
    for (unsigned i = 0; i < 3; i++) {
        bounds->lo[i] = point[i] < bounds->lo[i] ? point[i] : bounds->lo[i];
        bounds->hi[i] = point[i] > bounds->hi[i] ? point[i] : bounds->hi[i];
    }
}

static void bounds_add_corners(struct facet_bounds *to,
                               const struct facet_bounds *box,
                               const float transform[12])
{
    struct facet_affine matrix = facet_affine_from_float(transform);

    for (unsigned corner = 0; corner < 8; corner++) {
        double in[3], out[3];
        float point[3];

        for (unsigned i = 0; i < 3; i++) {
            in[i] = (double)((corner >> i & 1U) != 0 ? box->hi[i] : box->lo[i]);
        }
        facet_affine_point(&matrix, in, out);
        for (unsigned i = 0; i < 3; i++) {
            point[i] = (float)out[i];
        }
        bounds_add(to, point);
    }
}

static void default_sun(struct facet_scene_light *out)
{
    double direction[3] = {-0.35, -0.80, -0.49};

    memset(out, 0, sizeof *out);
    (void)facet_scene_normalize(direction);
    (void)snprintf(out->name, sizeof out->name, "default sun");
    out->kind = FACET_LIGHT_DIRECTIONAL;
    out->derived = true;
    out->intensity = 3.0F;
    for (unsigned i = 0; i < 3; i++) {
        out->color[i] = 1.0F;
        out->direction[i] = (float)direction[i];
    }
}

static bool bounds_finite(const struct facet_bounds *bounds)
{
    for (unsigned i = 0; i < 3; i++) {
        if (!isfinite(bounds->lo[i]) || !isfinite(bounds->hi[i])) {
            return false;
        }
    }
    return true;
}

static void measure_mesh(struct facet_scene_mesh *mesh)
{
    bounds_clear(&mesh->bounds);
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        bounds_add(&mesh->bounds, mesh->positions + 3 * (size_t)i);
    }
}

static bool lacks_uv(const struct facet_scene_mesh *mesh, const struct facet_texture_use *use)
{
    return use->texture != FACET_SCENE_NONE && mesh->uv[use->uv_set] == NULL;
}

/* A texture on a mesh without its coordinates shows one texel everywhere. */
static enum facet_status note_missing_uv(struct facet_scene *scene, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; status == FACET_OK && i < scene->mesh_count; i++) {
        const struct facet_scene_mesh *mesh = &scene->meshes[i];
        const struct facet_scene_material *m = &scene->materials[mesh->material];

        if (lacks_uv(mesh, &m->base_texture) || lacks_uv(mesh, &m->emissive_texture)) {
            status = facet_scene_leave_out(scene,
                                           FACET_LOSS_LOOK,
                                           1,
                                           "textures of meshes without texture coordinates",
                                           mesh->name,
                                           "(0, 0) is used everywhere",
                                           err);
        }
    }
    return status;
}

enum facet_status facet_scene_finish(struct facet_scene *scene, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        measure_mesh(&scene->meshes[i]);
    }
    status = note_missing_uv(scene, err);
    if (status != FACET_OK) {
        return status;
    }
    if (facet_scene_instanced_triangles(scene) == 0) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "the scene shows no triangles");
    }
    bounds_clear(&scene->bounds);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        struct facet_scene_instance *instance = &scene->instances[i];
        struct facet_affine matrix = facet_affine_from_float(instance->transform);

        instance->flipped = facet_affine_determinant(&matrix) < 0.0;
        bounds_add_corners(
            &scene->bounds, &scene->meshes[instance->mesh].bounds, instance->transform);
    }
    if (!bounds_finite(&scene->bounds)) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "the scene is larger than a 32-bit float can express");
    }
    if (scene->camera_count == 0) {
        struct facet_scene_camera camera;

        facet_scene_frame(&scene->bounds, &camera);
        status = facet_scene_add_camera(scene, &camera, err);
    }
    if (status == FACET_OK && scene->light_count == 0) {
        struct facet_scene_light sun;

        default_sun(&sun);
        status = facet_scene_add_light(scene, &sun, err);
    }
    return status;
}
