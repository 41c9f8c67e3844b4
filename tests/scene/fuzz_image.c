/* The picture decoders: any bytes; a picture that is accepted survives writing and reading. */
#include "fuzz/fuzz.h"

#include "image/image.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_image image, back;
    struct facet_bytes bytes;

    if (facet_image_decode(data, size, &image, NULL) == FACET_OK && image.width < 2000 &&
        image.height < 2000) {
        if (facet_image_png_encode_plain(&image, &bytes, NULL) != FACET_OK ||
            facet_image_png_decode(bytes.data, bytes.size, &back, NULL) != FACET_OK ||
            memcmp(image.rgba, back.rgba, 4 * (size_t)image.width * image.height) != 0) {
            abort();
        }
        facet_image_free(&back);
        free(bytes.data);
    }
    facet_image_free(&image);
    return 0;
}
