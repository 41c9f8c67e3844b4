/* Counts per pixel as colours, with a scale in the corner. */
#ifndef FACET_RENDER_HEAT_H
#define FACET_RENDER_HEAT_H

#include "image/image.h"

/* The end of the colour scale that suits a picture of counts: the 99.5th percentile, rounded up to
 * 1, 2, 3, 4, 5, 6 or 8 times a power of ten. */
float facet_render_heat_limit(const struct facet_image_f *counts);

/* Channel 0 of `counts` as colours from 0 to `limit`; `title` says what is counted ("nodes per
 * ray"). The legend is left out where it would not fit. */
enum facet_status facet_render_heat_picture(const struct facet_image_f *counts,
                                            float limit,
                                            const char *title,
                                            struct facet_image *out,
                                            struct facet_error *err);

#endif
