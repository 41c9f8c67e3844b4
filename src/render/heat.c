/* See heat.h. */
#include "render/heat.h"

#include "image/compare.h"
#include "image/text.h"

#include <stdio.h>

enum { BINS = 4096, TICKS = 4 };

float facet_render_heat_limit(const struct facet_image_f *counts)
{
    static const float steps[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F, 8.0F};
    size_t pixels = (size_t)counts->width * counts->height, above = 0;
    uint32_t bin[BINS] = {0}, at = BINS - 1;

    /* Counts are small; what lies beyond the bins shares the last. */
    for (size_t i = 0; i < pixels; i++) {
        float count = counts->rgb[3 * i];

        bin[count < (float)(BINS - 1) ? (uint32_t)count : BINS - 1]++;
    }
    for (above = bin[at]; at > 0 && above * 200 < pixels; above += bin[at]) {
        at--;
    }
    for (float power = 1.0F;; power *= 10.0F) {
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            if (steps[i] * power > (float)at) {
                return steps[i] * power;
            }
        }
    }
}

static void draw_legend(struct facet_image *image, float limit, const char *title)
{
    static const uint8_t panel[4] = {12, 12, 16, 255}, ink[4] = {235, 235, 235, 255};
    uint32_t scale = 1 + image->height / 700;
    int64_t unit = scale, line = FACET_TEXT_CELL_HEIGHT * unit, pad = 5 * unit;
    int64_t bar = 200 * unit, thick = 10 * unit;
    int64_t wide = bar + 2 * pad + 12 * unit, high = 2 * line + thick + 3 * pad;
    int64_t left = 8 * unit, top = (int64_t)image->height - high - 8 * unit;

    if (wide + 2 * left > image->width || top < left) {
        return;
    }
    facet_image_fill(image, left, top, wide, high, panel);
    facet_image_text(image, left + pad, top + pad, scale, ink, title);
    top += pad + line + pad / 2;
    for (int64_t x = 0; x < bar; x++) {
        uint8_t color[4];

        facet_image_heat_color((float)x / (float)(bar - 1), color);
        facet_image_fill(image, left + pad + x, top, 1, thick, color);
    }
    for (int i = 0; i <= TICKS; i++) {
        int64_t x = left + pad + bar * i / TICKS;
        char text[32];

        (void)snprintf(
            text, sizeof text, "%s%g", i == TICKS ? ">" : "", (double)(limit * (float)i / TICKS));
        facet_image_fill(image, x - unit / 2, top + thick, unit, 2 * unit, ink);
        x -= i == 0 ? 0 : facet_image_text_width(scale, text) / 2;
        facet_image_text(image, x, top + thick + pad / 2 + unit, scale, ink, text);
    }
}

enum facet_status facet_render_heat_picture(const struct facet_image_f *counts,
                                            float limit,
                                            const char *title,
                                            struct facet_image *out,
                                            struct facet_error *err)
{
    enum facet_status status = facet_image_create(out, counts->width, counts->height, err);
    size_t pixels = (size_t)counts->width * counts->height;

    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = 0; i < pixels; i++) {
        facet_image_heat_color(counts->rgb[3 * i] / limit, out->rgba + 4 * i);
    }
    draw_legend(out, limit, title);
    return FACET_OK;
}
