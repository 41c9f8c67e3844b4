/* See compare.h. */
#include "image/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum facet_status
same_size(const struct facet_image *a, const struct facet_image *b, struct facet_error *err)
{
    if (a->width != b->width || a->height != b->height) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "the sizes differ: %u x %u and %u x %u",
                          a->width,
                          a->height,
                          b->width,
                          b->height);
    }
    return FACET_OK;
}

enum facet_status facet_image_compare(const struct facet_image *a,
                                      const struct facet_image *b,
                                      struct facet_image_diff *out,
                                      struct facet_error *err)
{
    enum facet_status status = same_size(a, b, err);
    uint64_t sum = 0; /* exact: at most 2^28 * 4 * 255^2 < 2^47 */

    memset(out, 0, sizeof *out);
    if (status != FACET_OK) {
        return status;
    }
    out->pixels = (uint64_t)a->width * a->height;
    for (uint64_t i = 0; i < out->pixels; i++) {
        const uint8_t *p = a->rgba + 4 * i, *q = b->rgba + 4 * i;

        if (memcmp(p, q, 4) == 0) {
            continue;
        }
        if (out->differing++ == 0) {
            out->first_x = (uint32_t)(i % a->width);
            out->first_y = (uint32_t)(i / a->width);
            memcpy(out->first_a, p, 4);
            memcpy(out->first_b, q, 4);
        }
        for (unsigned c = 0; c < 4; c++) {
            uint32_t d = (uint32_t)abs(p[c] - q[c]);

            sum += d * d;
            out->max_difference = d > out->max_difference ? d : out->max_difference;
        }
    }
    out->mean_squared_error = (double)sum / (4.0 * (double)out->pixels);
    out->psnr_db = sum == 0 ? (double)INFINITY : 10.0 * log10(65025.0 / out->mean_squared_error);
    return FACET_OK;
}

void facet_image_heat_color(float value, uint8_t rgba[4])
{
    static const uint8_t stops[6][3] = {
        {16, 16, 96}, {32, 96, 255}, {0, 200, 96}, {255, 220, 0}, {255, 48, 0}, {255, 255, 255}};
    float at = value > 0.0F ? (value < 1.0F ? value : 1.0F) * 5.0F : 0.0F;
    unsigned stop = at < 4.0F ? (unsigned)at : 4;
    float t = at - (float)stop;

    for (unsigned c = 0; c < 3; c++) {
        float from = stops[stop][c], to = stops[stop + 1][c];

        rgba[c] = (uint8_t)(from + (to - from) * t + 0.5F);
    }
    rgba[3] = 255;
}

static void heat_pixel(const uint8_t *a, const uint8_t *b, uint8_t *out)
{
    uint32_t largest = 0;

    for (unsigned c = 0; c < 4; c++) {
        uint32_t d = (uint32_t)abs(a[c] - b[c]);

        largest = d > largest ? d : largest;
    }
    if (largest == 0) {
        uint8_t grey = (uint8_t)((a[0] * 54U + a[1] * 183U + a[2] * 19U) >> 10);

        out[0] = out[1] = out[2] = grey;
        out[3] = 255;
        return;
    }
    /* Square root: small differences are the usual ones and must stand out. */
    facet_image_heat_color(0.2F + 0.8F * sqrtf((float)(largest - 1) / 254.0F), out);
}

enum facet_status facet_image_heatmap(const struct facet_image *a,
                                      const struct facet_image *b,
                                      struct facet_image *out,
                                      struct facet_error *err)
{
    enum facet_status status = same_size(a, b, err);
    size_t count = (size_t)a->width * a->height;

    memset(out, 0, sizeof *out);
    if (status == FACET_OK) {
        status = facet_image_create(out, a->width, a->height, err);
    }
    for (size_t i = 0; status == FACET_OK && i < count; i++) {
        heat_pixel(a->rgba + 4 * i, b->rgba + 4 * i, out->rgba + 4 * i);
    }
    return status;
}
