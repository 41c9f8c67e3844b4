/* See color.h. */
#include "image/color.h"

#include "base/float.h"
#include "image/srgb_table.h"

#include <string.h>

float facet_image_srgb_to_linear(uint8_t code)
{
    float linear;

    memcpy(&linear, &srgb_to_linear_bits[code], 4);
    return linear;
}

uint8_t facet_image_linear_to_srgb(float linear)
{
    uint32_t bits;
    unsigned code = 0;

    if (!(linear > 0.0F)) {
        return 0;
    }
    /* Positive floats order like their bits. */
    bits = facet_float_bits(linear);
    for (unsigned step = 128; step != 0; step /= 2) {
        if (bits >= srgb_threshold_bits[code + step - 1]) {
            code += step;
        }
    }
    return (uint8_t)code;
}

void facet_image_tone_map(const struct facet_tone_curve *curve, const float in[3], float out[3])
{
    float scale = 1.0F;

    for (unsigned i = 0; i < 3; i++) {
        float value = in[i] * curve->exposure;

        out[i] = value > 0.0F ? value : 0.0F;
    }
    if (curve->kind == FACET_TONE_REINHARD) {
        float light = 0.2126F * out[0] + 0.7152F * out[1] + 0.0722F * out[2];
        float inverse = curve->white > 0.0F ? 1.0F / (curve->white * curve->white) : 0.0F;

        scale = (1.0F + light * inverse) / (1.0F + light);
    }
    for (unsigned i = 0; i < 3; i++) {
        float value = out[i] * scale;

        out[i] = value < 1.0F ? value : 1.0F;
    }
}

enum facet_status facet_image_from_float(const struct facet_image_f *from,
                                         const struct facet_tone_curve *curve,
                                         struct facet_image *out,
                                         struct facet_error *err)
{
    enum facet_status status = facet_image_create(out, from->width, from->height, err);
    size_t count = (size_t)from->width * from->height;

    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        float mapped[3];

        facet_image_tone_map(curve, from->rgb + 3 * i, mapped);
        for (unsigned c = 0; c < 3; c++) {
            out->rgba[4 * i + c] = facet_image_linear_to_srgb(mapped[c]);
        }
        out->rgba[4 * i + 3] = 255;
    }
    return FACET_OK;
}
