/* Any text as the JSON form of an image, GFX12 or tiles: refused or turned into bytes, never
 * anything else. */
#include "documents/bvh_images.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

static void as_tiles(const char *text, size_t size)
{
    struct facet_rtbvh_image image;
    struct facet_error err = {0};
    bool good = facet_doc_rtbvh_json_read("fuzz", text, size, &image, &err) == FACET_OK;

    if (good ? image.bytes == NULL : image.bytes != NULL || err.message[0] == '\0') {
        abort();
    }
    free(image.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_gfx12_image image;
    struct facet_error err = {0};

    if (size > 1 << 20) {
        return 0;
    }
    as_tiles((const char *)data, size);
    if (facet_doc_gfx12_json_read("fuzz", (const char *)data, size, &image, &err) == FACET_OK) {
        if (image.bytes == NULL) {
            abort();
        }
        free(image.bytes);
    } else if (image.bytes != NULL || err.message[0] == '\0') {
        abort();
    }
    return 0;
}
