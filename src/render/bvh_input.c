/* Triangles are written out flat: the builder reads each one a few times in an order of its own,
 * and a copy of 48 bytes in one place is cheaper than three look-ups. */
#include "render/bvh_input.h"

#include "bvh/affine.h"

#include <stdlib.h>
#include <string.h>

static void copy_mesh(const struct facet_scene *scene,
                      const struct facet_scene_mesh *mesh,
                      struct facet_bvh_triangle *out)
{
    const struct facet_scene_material *material = &scene->materials[mesh->material];
    uint32_t flags = 0;

    if (material->alpha_mode == FACET_ALPHA_OPAQUE) {
        flags |= FACET_BVH_OPAQUE;
    }
    if (material->double_sided) {
        flags |= FACET_BVH_DOUBLE_SIDED;
    }
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        for (int c = 0; c < 3; c++) {
            memcpy(out[i].vertex[c],
                   &mesh->positions[3 * (size_t)mesh->indices[3 * (size_t)i + c]],
                   sizeof out[i].vertex[c]);
        }
        out[i].geometry = 0;
        out[i].primitive = i;
        out[i].flags = flags;
    }
}

static void add_instances(const struct facet_scene *scene,
                          const uint32_t *blas_of_mesh,
                          struct facet_render_bvh_input *out)
{
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const struct facet_scene_instance *from = &scene->instances[i];
        struct facet_bvh_instance *to = &out->instances[out->scene.instance_count];

        *to = (struct facet_bvh_instance){
            .blas = blas_of_mesh[from->mesh], .user_data = i, .mask = 0xFF};
        if (facet_bvh_affine_invert(from->transform, to->world_to_object)) {
            out->scene.instance_count++;
        } else {
            out->flat_instances++;
        }
    }
}

static bool add_meshes(const struct facet_scene *scene, struct facet_render_bvh_input *out)
{
    uint32_t *blas_of_mesh = malloc(((size_t)scene->mesh_count + 1) * sizeof *blas_of_mesh);
    struct facet_bvh_triangle *next = out->triangles;

    if (blas_of_mesh == NULL) {
        return false;
    }
    memset(blas_of_mesh, 0xFF, (size_t)scene->mesh_count * sizeof *blas_of_mesh);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        blas_of_mesh[scene->instances[i].mesh] = 0;
    }
    for (uint32_t m = 0; m < scene->mesh_count; m++) {
        const struct facet_scene_mesh *mesh = &scene->meshes[m];

        if (blas_of_mesh[m] == FACET_SCENE_NONE) {
            continue;
        }
        blas_of_mesh[m] = out->scene.blas_count;
        out->blas_mesh[out->scene.blas_count] = m;
        out->blas[out->scene.blas_count++] = (struct facet_bvh_blas_input){
            .triangles = next, .triangle_count = mesh->triangle_count};
        copy_mesh(scene, mesh, next);
        next += mesh->triangle_count;
        out->triangle_count += mesh->triangle_count;
    }
    add_instances(scene, blas_of_mesh, out);
    free(blas_of_mesh);
    return true;
}

static void add_aabbs(struct facet_render_bvh_input *out, uint32_t count, uint32_t user_data)
{
    struct facet_bvh_instance *in = &out->instances[out->scene.instance_count++];

    *in = (struct facet_bvh_instance){
        .blas = out->scene.blas_count, .user_data = user_data, .mask = 0xFF};
    for (int k = 0; k < 3; k++) {
        in->world_to_object[k][k] = 1.0f;
    }
    out->blas_mesh[out->scene.blas_count] = FACET_SCENE_NONE;
    out->blas[out->scene.blas_count++] =
        (struct facet_bvh_blas_input){.aabbs = out->aabbs, .aabb_count = count};
}

enum facet_status facet_render_bvh_input_make(const struct facet_scene *scene,
                                              const struct facet_bvh_aabb *aabbs,
                                              uint32_t aabb_count,
                                              struct facet_render_bvh_input *out,
                                              struct facet_error *err)
{
    size_t meshes = scene != NULL ? scene->mesh_count : 0;
    size_t instances = scene != NULL ? scene->instance_count : 0;
    uint64_t triangles = scene != NULL ? facet_scene_triangles(scene) : 0;

    *out = (struct facet_render_bvh_input){0};
    if (instances + (aabbs != NULL) > UINT32_C(1) << 24) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          instances,
                          "%zu instances; expected at most 2^24, the range of an instance's user "
                          "data",
                          instances);
    }
    out->blas = calloc(meshes + 1, sizeof *out->blas);
    out->blas_mesh = calloc(meshes + 1, sizeof *out->blas_mesh);
    out->instances = calloc(instances + 1, sizeof *out->instances);
    out->triangles = malloc((size_t)(triangles + 1) * sizeof *out->triangles);
    out->aabbs = malloc(((size_t)aabb_count + 1) * sizeof *out->aabbs);
    if (out->blas == NULL || out->blas_mesh == NULL || out->instances == NULL ||
        out->triangles == NULL || out->aabbs == NULL ||
        (scene != NULL && !add_meshes(scene, out))) {
        facet_render_bvh_input_free(out);
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          0,
                          "no memory for %llu triangles",
                          (unsigned long long)triangles);
    }
    if (aabbs != NULL) {
        memcpy(out->aabbs, aabbs, (size_t)aabb_count * sizeof *aabbs);
        add_aabbs(out, aabb_count, (uint32_t)instances);
    }
    out->scene.blas = out->blas;
    out->scene.instances = out->instances;
    return FACET_OK;
}

void facet_render_bvh_input_free(struct facet_render_bvh_input *input)
{
    free(input->blas);
    free(input->blas_mesh);
    free(input->instances);
    free(input->triangles);
    free(input->aabbs);
    *input = (struct facet_render_bvh_input){0};
}
