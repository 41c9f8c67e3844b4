/* Texture coordinates; also part of the text that devices compile (memory.h). */
#include "scene/scene.h"

void facet_scene_uv(const IN_SCENE struct facet_scene_mesh *mesh,
                    const IN_SCENE struct facet_texture_use *use,
                    uint32_t vertex,
                    float uv[2])
{
    const IN_SCENE float *set = SCENE_PART(float, mesh, uv[use->uv_set]);
    bool there = mesh->uv[use->uv_set] != NULL;
    float u = there ? set[2 * (size_t)vertex] : 0.0F;
    float v = there ? set[2 * (size_t)vertex + 1] : 0.0F;

    uv[0] = use->matrix[0] * u + use->matrix[1] * v + use->matrix[2];
    uv[1] = use->matrix[3] * u + use->matrix[4] * v + use->matrix[5];
}
