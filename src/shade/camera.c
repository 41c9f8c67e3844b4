/* Rays of a camera: perspective and orthographic, as glTF 2.0 defines them. Also part of the text
 * that devices compile (scene/memory.h). */
#include "shade/camera.h"

#include "shade/picture.h"

void facet_shade_lens_ray(const IN_SCENE struct facet_shade_lens *lens,
                          double x,
                          double y,
                          struct facet_shade_ray *out)
{
    const IN_SCENE struct facet_scene_camera *camera =
        SCENE_PART(struct facet_scene_camera, lens, camera);
    bool flat = camera->kind == FACET_CAMERA_ORTHOGRAPHIC;
    double right = (2.0 * x / (double)lens->width - 1.0) * lens->half_width;
    double up = (1.0 - 2.0 * y / (double)lens->height) * lens->half_height;

    for (unsigned i = 0; i < 3; i++) {
        const IN_SCENE float *row = camera->transform + (size_t)4 * i;
        double aside = (double)row[0] * right + (double)row[1] * up;

        out->origin[i] = (float)((double)row[3] + (flat ? aside : 0.0));
        out->direction[i] = (float)((flat ? 0.0 : aside) - (double)row[2]);
    }
    out->t_min = camera->z_near;
    out->t_max = camera->z_far > 0.0F ? camera->z_far : INFINITY;
}
