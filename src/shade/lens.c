/* The window of a camera. */
#include "shade/picture.h"
#include "shade/vec.h"

/* A picture of another shape than the camera's shows more, never less: whatever the author framed
 * stays in view. A camera without a shape of its own was framed for a square. */
void facet_shade_lens_make(const struct facet_scene_camera *camera,
                           uint32_t width,
                           uint32_t height,
                           struct facet_shade_lens *out)
{
    double picture = (double)width / (double)height, aspect, sine, cosine;

    *out = (struct facet_shade_lens){.camera = camera, .width = width, .height = height};
    if (camera->kind == FACET_CAMERA_ORTHOGRAPHIC) {
        out->half_height = (double)camera->y_mag;
        aspect = (double)camera->x_mag / (double)camera->y_mag;
    } else {
        facet_shade_sincos_double(0.5 * (double)camera->y_fov, &sine, &cosine);
        out->half_height = sine / cosine;
        aspect = camera->aspect > 0.0F ? (double)camera->aspect : 1.0;
    }
    if (picture < aspect) {
        out->half_height *= aspect / picture;
    }
    out->half_width = out->half_height * picture;
}
