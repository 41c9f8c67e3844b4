/* Any text as the JSON form of an image: refused or turned into bytes, never anything else. */
#include "bvh/gfx12_text.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_gfx12_image image;
    struct facet_error err = {0};

    if (size > 1 << 20) {
        return 0;
    }
    if (facet_gfx12_json_read("fuzz", (const char *)data, size, &image, &err) == FACET_OK) {
        if (image.bytes == NULL) {
            abort();
        }
        free(image.bytes);
    } else if (image.bytes != NULL || err.message[0] == '\0') {
        abort();
    }
    return 0;
}
