/* Colour: the sRGB curve, exact and the same on every host, and the step from light to pixels. */
#ifndef FACET_IMAGE_COLOR_H
#define FACET_IMAGE_COLOR_H

#include "image/image.h"

/* Linear value of an sRGB code, the nearest float. */
float facet_image_srgb_to_linear(uint8_t code);

/* The code nearest to a linear value: 0 for negative values and NaN, 255 for 1 and above. Inverse
 * of facet_image_srgb_to_linear() for all 256 codes. */
uint8_t facet_image_linear_to_srgb(float linear);

enum facet_tone {
    FACET_TONE_CLAMP,    /* values above 1 become 1 */
    FACET_TONE_REINHARD, /* luminance L becomes L (1 + L / white^2) / (1 + L) */
    FACET_TONE_COUNT,
};

struct facet_tone_curve {
    enum facet_tone kind;
    float exposure; /* every value is multiplied by this first */
    float white;    /* REINHARD: the luminance that becomes 1; 0 means none does */
};

/* Only +, *, / on floats: the same bits on every host. Negative and NaN components become 0. */
void facet_image_tone_map(const struct facet_tone_curve *curve, const float in[3], float out[3]);

/* Tone-maps and encodes a whole picture; alpha becomes 255. */
enum facet_status facet_image_from_float(const struct facet_image_f *from,
                                         const struct facet_tone_curve *curve,
                                         struct facet_image *out,
                                         struct facet_error *err);

#endif
