/* Labels on pictures: a 5 x 8 bitmap font of our own for printable ASCII, in cells of 6 x 9. */
#ifndef FACET_IMAGE_TEXT_H
#define FACET_IMAGE_TEXT_H

#include "image/image.h"

#define FACET_TEXT_CELL_WIDTH 6
#define FACET_TEXT_CELL_HEIGHT 9

/* Draws one line with its top left corner at (x, y), each font dot as scale x scale pixels, clipped
 * to the picture. Characters outside ASCII show as a box. '\n' starts a new line. */
void facet_image_text(struct facet_image *image,
                      int64_t x,
                      int64_t y,
                      uint32_t scale,
                      const uint8_t rgba[4],
                      const char *text);

/* Width in pixels of the longest line of `text`. */
int64_t facet_image_text_width(uint32_t scale, const char *text);

#endif
