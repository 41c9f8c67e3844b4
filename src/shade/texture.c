/* Texture look-up: wrap, nearest or bilinear, sRGB decoding before filtering (glTF 2.0, 3.8.4). */
#include "shade/surface.h"

#include "image/color.h"

/* A coordinate brought into one period, [0, 1] or for mirrored repetition [0, 2]; 0 for NaN and
 * infinities. Exact but for the last rounding, so neighbouring texels keep their distance. */
static float wrap_coordinate(enum facet_wrap wrap, float value)
{
    float period = wrap == FACET_WRAP_MIRROR ? 2.0F : 1.0F;

    if (wrap == FACET_WRAP_CLAMP) {
        return value > 0.0F ? (value < 1.0F ? value : 1.0F) : 0.0F;
    }
    value -= period * floorf(value / period);
    return value >= 0.0F && value <= period ? value : 0.0F;
}

/* A texel number, one period off at most, to a stored one. */
static uint32_t wrap_texel(enum facet_wrap wrap, int32_t texel, uint32_t size)
{
    int32_t n = (int32_t)size;

    switch (wrap) {
    case FACET_WRAP_CLAMP:
        texel = texel < 0 ? 0 : texel >= n ? n - 1 : texel;
        break;
    case FACET_WRAP_MIRROR:
        texel = texel < 0 ? texel + 2 * n : texel >= 2 * n ? texel - 2 * n : texel;
        texel = texel < n ? texel : 2 * n - 1 - texel;
        break;
    default:
        texel = texel < 0 ? texel + n : texel >= n ? texel - n : texel;
        break;
    }
    return (uint32_t)texel;
}

static void
fetch(const IN_SCENE struct facet_scene_texture *texture, uint32_t x, uint32_t y, float out[4])
{
    const IN_SCENE uint8_t *rgba =
        SCENE_PART(uint8_t, texture, rgba) + 4 * ((size_t)y * texture->width + x);

    for (unsigned c = 0; c < 3; c++) {
        out[c] = facet_image_srgb_to_linear(rgba[c]);
    }
    out[3] = (float)rgba[3] * (1.0F / 255.0F);
}

void facet_shade_texture_sample(const IN_SCENE struct facet_scene_texture *texture,
                                const IN_SCENE struct facet_texture_use *use,
                                float u,
                                float v,
                                float rgba[4])
{
    float x = wrap_coordinate(use->wrap_u, u) * (float)texture->width;
    float y = wrap_coordinate(use->wrap_v, v) * (float)texture->height;
    bool nearest = use->magnify == FACET_FILTER_NEAREST;
    float left = floorf(nearest ? x : x - 0.5F), top = floorf(nearest ? y : y - 0.5F);
    float fx = x - 0.5F - left, fy = y - 0.5F - top;
    uint32_t column[2], row[2];
    float texel[4][4];

    for (int i = 0; i < 2; i++) {
        column[i] = wrap_texel(use->wrap_u, (int32_t)left + i, texture->width);
        row[i] = wrap_texel(use->wrap_v, (int32_t)top + i, texture->height);
    }
    fetch(texture, column[0], row[0], nearest ? rgba : texel[0]);
    if (nearest) {
        return;
    }
    fetch(texture, column[1], row[0], texel[1]);
    fetch(texture, column[0], row[1], texel[2]);
    fetch(texture, column[1], row[1], texel[3]);
    for (unsigned c = 0; c < 4; c++) {
        float upper = texel[0][c] + (texel[1][c] - texel[0][c]) * fx;
        float lower = texel[2][c] + (texel[3][c] - texel[2][c]) * fx;

        rgba[c] = upper + (lower - upper) * fy;
    }
}
