/* Two pictures, pixel by pixel: are they the same, how far apart, and where first. */
#ifndef FACET_IMAGE_COMPARE_H
#define FACET_IMAGE_COMPARE_H

#include "image/image.h"

#include <stdbool.h>

struct facet_image_diff {
    uint64_t pixels;           /* in each picture */
    uint64_t differing;        /* pixels where any of the four channels differs */
    uint32_t max_difference;   /* of one channel, 0..255 */
    uint32_t first_x, first_y; /* in reading order; meaningless when differing == 0 */
    uint8_t first_a[4], first_b[4];
    double mean_squared_error; /* over all four channels */
    double psnr_db;            /* of 255^2 / mean_squared_error; infinite when equal */
};

/* FACET_ERR_INPUT when the sizes differ. */
enum facet_status facet_image_compare(const struct facet_image *a,
                                      const struct facet_image *b,
                                      struct facet_image_diff *out,
                                      struct facet_error *err);

/* A picture of |a - b| per pixel (largest channel): equal pixels are a dark grey shadow of `a`,
 * others go from blue (1) over green and yellow to red and white (255); a difference of 1 is
 * already clearly visible. */
enum facet_status facet_image_heatmap(const struct facet_image *a,
                                      const struct facet_image *b,
                                      struct facet_image *out,
                                      struct facet_error *err);

/* The colour of a value in 0..1 on the heat scale, also for cost pictures (nodes visited per ray).
 */
void facet_image_heat_color(float value, uint8_t rgba[4]);

#endif
