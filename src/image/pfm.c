/* Portable float map: "PF", size, scale -1 (little-endian), then rows from the bottom up. */
#include "base/float.h"
#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_float(uint8_t *to, float value)
{
    uint32_t bits = facet_float_bits(value);

    to[0] = (uint8_t)bits;
    to[1] = (uint8_t)(bits >> 8);
    to[2] = (uint8_t)(bits >> 16);
    to[3] = (uint8_t)(bits >> 24);
}

enum facet_status facet_image_pfm_encode(const struct facet_image_f *image,
                                         struct facet_bytes *out,
                                         struct facet_error *err)
{
    size_t row = 3 * (size_t)image->width;
    char header[64];
    int length = snprintf(header, sizeof header, "PF\n%u %u\n-1.0\n", image->width, image->height);
    uint8_t *at;

    out->size = (size_t)length + 4 * row * image->height;
    out->data = malloc(out->size + 1);
    if (out->data == NULL) {
        out->size = 0;
        return facet_fail(err, FACET_ERR_MEMORY, 0, "PFM: out of memory");
    }
    memcpy(out->data, header, (size_t)length);
    at = out->data + length;
    for (uint32_t y = image->height; y-- > 0;) {
        const float *from = image->rgb + row * y;

        for (size_t i = 0; i < row; i++, at += 4) {
            put_float(at, from[i]);
        }
    }
    *at = 0;
    return FACET_OK;
}
