/* See tile_input.h. */
#include "render/rt_input.h"

#include "base/error.h"
#include "bvh/affine.h"
#include "bvh/bvh2.h"

#include <stdlib.h>
#include <string.h>

static void
copy_instance(const struct facet_scene *scene, uint32_t instance, struct facet_bvh_triangle *out)
{
    const struct facet_scene_instance *from = &scene->instances[instance];
    const struct facet_scene_mesh *mesh = &scene->meshes[from->mesh];

    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        out[i] = (struct facet_bvh_triangle){.geometry = instance, .primitive = i};
        for (int c = 0; c < 3; c++) {
            facet_bvh_affine_apply(from->transform,
                                   &mesh->positions[3 * (size_t)mesh->indices[3 * (size_t)i + c]],
                                   out[i].vertex[c]);
        }
    }
}

enum facet_status facet_render_rt_input_make(const struct facet_scene *scene,
                                             struct facet_render_rt_input *out,
                                             struct facet_error *err)
{
    uint64_t count = 0, next = 0;

    *out = (struct facet_render_rt_input){NULL, 0};
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        count += scene->meshes[scene->instances[i].mesh].triangle_count;
    }
    if (count > FACET_BVH_MAX_ITEMS) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          count,
                          "%llu triangles over all instances; expected at most 2^30",
                          (unsigned long long)count);
    }
    out->triangles = malloc((size_t)(count + 1) * sizeof *out->triangles);
    if (out->triangles == NULL) {
        return facet_fail(
            err, FACET_ERR_MEMORY, 0, "no memory for %llu triangles", (unsigned long long)count);
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        copy_instance(scene, i, out->triangles + next);
        next += scene->meshes[scene->instances[i].mesh].triangle_count;
    }
    out->count = (uint32_t)count;
    return FACET_OK;
}
