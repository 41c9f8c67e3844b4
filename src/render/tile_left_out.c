/* What the machine tile does not draw though the machines that trace rays do. */
#include "render/tile_gpu.h"

static bool is_mirrored(const struct facet_texture_use *use)
{
    return use->texture != FACET_SCENE_NONE &&
           (use->wrap_u == FACET_WRAP_MIRROR || use->wrap_v == FACET_WRAP_MIRROR);
}

/* An emissive texture without a factor is dark everywhere. */
static bool has_glow_texture(const struct facet_scene_material *m)
{
    return m->emissive_texture.texture != FACET_SCENE_NONE &&
           (m->emissive[0] > 0.0F || m->emissive[1] > 0.0F || m->emissive[2] > 0.0F);
}

enum facet_status facet_gpu_note_left_out(struct facet_scene *scene, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; status == FACET_OK && i < scene->material_count; i++) {
        const struct facet_scene_material *m = &scene->materials[i];

        status = facet_scene_leave_out(scene,
                                       FACET_LOSS_LOOK,
                                       has_glow_texture(m),
                                       "emissive textures on machine tile",
                                       m->name,
                                       "the whole surface glows in the emissive colour",
                                       err);
        if (status == FACET_OK) {
            status = facet_scene_leave_out(scene,
                                           FACET_LOSS_LOOK,
                                           is_mirrored(&m->base_texture),
                                           "mirrored textures on machine tile",
                                           m->name,
                                           "they repeat without mirroring",
                                           err);
        }
    }
    if (status == FACET_OK && scene->light_count > GPU_MAX_LIGHTS) {
        status = facet_scene_leave_out(scene,
                                       FACET_LOSS_LOOK,
                                       scene->light_count - GPU_MAX_LIGHTS,
                                       "lights on machine tile",
                                       scene->lights[GPU_MAX_LIGHTS].name,
                                       "only the first 64 are used",
                                       err);
    }
    return status;
}
