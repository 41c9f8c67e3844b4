/* See validate.h. Counts and references between tables hold by construction (wire.c); here are the
 * numbers. */
#include "scene/validate.h"

#include "scene/matrix.h"

#include <math.h>

/* Index of the first value that is not finite, `count` when all are. The exponent test of a block
 * at a time keeps the usual case fast. */
static size_t first_bad(const float *values, size_t count)
{
    size_t at = 0;

    for (; at + 16 <= count; at += 16) {
        float sum = 0.0F;

        for (size_t i = 0; i < 16; i++) {
            sum += values[at + i] * 0.0F; /* 0, or NaN for an infinity or a NaN */
        }
        if (sum != 0.0F) {
            break;
        }
    }
    while (at < count && isfinite(values[at])) {
        at++;
    }
    return at;
}

static enum facet_status check_array(const float *values,
                                     uint32_t vertices,
                                     unsigned components,
                                     const char *what,
                                     uint32_t mesh,
                                     const struct facet_scene *scene,
                                     struct facet_error *err)
{
    size_t count = (size_t)vertices * components;
    size_t at = values != NULL ? first_bad(values, count) : count;

    if (at == count) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      at / components,
                      "mesh %u (%s): the %s of vertex %zu is not finite",
                      mesh,
                      scene->meshes[mesh].name,
                      what,
                      at / components);
}

static enum facet_status
check_indices(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    const struct facet_scene_mesh *mesh = &scene->meshes[number];
    size_t count = 3 * (size_t)mesh->triangle_count;

    for (size_t i = 0; i < count; i++) {
        if (mesh->indices[i] >= mesh->vertex_count) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              i / 3,
                              "mesh %u (%s): triangle %zu refers to vertex %u, but there are %u",
                              number,
                              mesh->name,
                              i / 3,
                              mesh->indices[i],
                              mesh->vertex_count);
        }
    }
    return FACET_OK;
}

/* All but the positions. */
static enum facet_status
check_mesh_shape(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    const struct facet_scene_mesh *mesh = &scene->meshes[number];
    uint32_t vertices = mesh->vertex_count;
    enum facet_status status = check_indices(scene, number, err);

    if (status == FACET_OK) {
        status = check_array(mesh->normals, vertices, 3, "normal", number, scene, err);
    }
    if (status == FACET_OK) {
        status = check_array(mesh->colors, vertices, 4, "colour", number, scene, err);
    }
    for (unsigned set = 0; status == FACET_OK && set < FACET_SCENE_UV_SETS; set++) {
        status = check_array(mesh->uv[set], vertices, 2, "texture coordinate", number, scene, err);
    }
    return status;
}

static enum facet_status
check_mesh(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    const struct facet_scene_mesh *mesh = &scene->meshes[number];
    enum facet_status status =
        check_array(mesh->positions, mesh->vertex_count, 3, "position", number, scene, err);

    return status == FACET_OK ? check_mesh_shape(scene, number, err) : status;
}

static bool all_finite(const float *values, size_t count)
{
    return first_bad(values, count) == count;
}

static enum facet_status
check_material(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    const struct facet_scene_material *m = &scene->materials[number];

    if (all_finite(m->base_color, 4) && all_finite(m->emissive, 3) && isfinite(m->metallic) &&
        isfinite(m->roughness) && isfinite(m->alpha_cutoff) &&
        all_finite(m->base_texture.matrix, 6) && all_finite(m->emissive_texture.matrix, 6)) {
        return FACET_OK;
    }
    return facet_fail(
        err, FACET_ERR_INPUT, number, "material %u (%s): a number is not finite", number, m->name);
}

static enum facet_status
check_place(const struct facet_scene *scene, uint32_t number, bool flat, struct facet_error *err)
{
    struct facet_affine matrix = facet_affine_from_float(scene->instances[number].transform);
    struct facet_affine inverse;

    if (facet_affine_finite(&matrix) && (flat || facet_affine_invert(&matrix, &inverse))) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      number,
                      "instance %u of mesh %s: its matrix is %snot finite",
                      number,
                      scene->meshes[scene->instances[number].mesh].name,
                      flat ? "" : "singular or ");
}

static enum facet_status
check_instance(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    return check_place(scene, number, false, err);
}

static enum facet_status
check_instance_shape(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    return check_place(scene, number, true, err);
}

static enum facet_status
check_camera(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    const struct facet_scene_camera *c = &scene->cameras[number];
    bool perspective = c->kind == FACET_CAMERA_PERSPECTIVE;

    if (all_finite(c->transform, 12) && isfinite(c->z_near) && c->z_near >= 0.0F &&
        isfinite(c->z_far) && c->z_far >= 0.0F &&
        (perspective
             ? c->y_fov > 0.0F && c->y_fov < 3.1415925F && isfinite(c->aspect) && c->aspect >= 0.0F
             : isfinite(c->x_mag) && isfinite(c->y_mag) && c->x_mag > 0.0F && c->y_mag > 0.0F)) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      number,
                      "camera %u (%s): position, angle, size or clipping range is out of range",
                      number,
                      c->name);
}

static enum facet_status
check_light(const struct facet_scene *scene, uint32_t number, struct facet_error *err)
{
    const struct facet_scene_light *l = &scene->lights[number];

    if (all_finite(l->color, 3) && all_finite(l->position, 3) && all_finite(l->direction, 3) &&
        isfinite(l->intensity) && isfinite(l->range) && l->range >= 0.0F &&
        isfinite(l->inner_cone) && isfinite(l->outer_cone)) {
        return FACET_OK;
    }
    return facet_fail(
        err, FACET_ERR_INPUT, number, "light %u (%s): a number is out of range", number, l->name);
}

/* One loop per table; `check` stops at the first finding. */
static enum facet_status
check_all(const struct facet_scene *scene,
          uint32_t count,
          enum facet_status (*check)(const struct facet_scene *, uint32_t, struct facet_error *),
          struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; status == FACET_OK && i < count; i++) {
        status = check(scene, i, err);
    }
    return status;
}

static enum facet_status check_tables(const struct facet_scene *scene, struct facet_error *err)
{
    enum facet_status status = check_all(scene, scene->material_count, check_material, err);

    if (status == FACET_OK) {
        status = check_all(scene, scene->camera_count, check_camera, err);
    }
    return status == FACET_OK ? check_all(scene, scene->light_count, check_light, err) : status;
}

enum facet_status facet_scene_validate(const struct facet_scene *scene, struct facet_error *err)
{
    enum facet_status status = check_all(scene, scene->mesh_count, check_mesh, err);

    if (status == FACET_OK) {
        status = check_all(scene, scene->instance_count, check_instance, err);
    }
    return status == FACET_OK ? check_tables(scene, err) : status;
}

enum facet_status facet_scene_validate_shape(const struct facet_scene *scene,
                                             struct facet_error *err)
{
    enum facet_status status = check_all(scene, scene->mesh_count, check_mesh_shape, err);

    if (status == FACET_OK) {
        status = check_all(scene, scene->instance_count, check_instance_shape, err);
    }
    return status == FACET_OK ? check_tables(scene, err) : status;
}
