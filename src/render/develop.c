/* From light to pixels. Colours below the knee stay exact, so that a texture's colours can be read
 * off a picture; above it the curve keeps its slope at the knee and approaches 1. */
#include "render/render.h"

#include "image/color.h"

#define KNEE 0.6F

static float soften(float light)
{
    float above = light - KNEE, room = 1.0F - KNEE;

    return above > 0.0F ? KNEE + room * above / (above + room) : light;
}

/* Bends the strongest channel and scales the others with it: the hue stays, and a bright saturated
 * colour still shows its shading. */
void facet_render_develop_pixel(const float in[3], float exposure, bool clamp, uint8_t out[4])
{
    float rgb[3], light = 0.0F, scale = 1.0F;

    for (unsigned c = 0; c < 3; c++) {
        rgb[c] = in[c] * exposure;
        light = rgb[c] > light ? rgb[c] : light;
    }
    if (!clamp && light > KNEE) {
        scale = soften(light) / light;
    }
    for (unsigned c = 0; c < 3; c++) {
        out[c] = facet_image_linear_to_srgb(rgb[c] * scale);
    }
    out[3] = 255;
}

enum facet_status facet_render_develop(const struct facet_image_f *from,
                                       float exposure,
                                       bool clamp,
                                       struct facet_image *out,
                                       struct facet_error *err)
{
    enum facet_status status = facet_image_create(out, from->width, from->height, err);
    size_t count = (size_t)from->width * from->height;

    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        facet_render_develop_pixel(from->rgb + 3 * i, exposure, clamp, out->rgba + 4 * i);
    }
    return status;
}
