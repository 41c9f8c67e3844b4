/* See picture.h. */
#include "session/tile/picture.h"
#include "command/output.h"

#include "base/bits.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool session_is_picture(const char *path)
{
    return cli_ends_with(path, ".png") || cli_ends_with(path, ".jpg") ||
           cli_ends_with(path, ".jpeg");
}

enum facet_status session_tile_texels(struct facet_bytes *file,
                                      uint32_t *width,
                                      uint32_t *height,
                                      struct facet_error *err)
{
    struct facet_image image = {0};
    enum facet_status status = facet_image_decode_confined(file->data, file->size, &image, err);
    size_t pixels = (size_t)image.width * image.height;
    uint8_t *texels;

    if (status != FACET_OK) {
        return status;
    }
    texels = malloc(4 * pixels + 1);
    for (size_t i = 0; texels != NULL && i < pixels; i++) {
        const uint8_t *c = image.rgba + 4 * i;

        facet_store_le32(texels + 4 * i,
                         (uint32_t)c[3] << 24 | (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2]);
    }
    *width = image.width;
    *height = image.height;
    facet_image_free(&image);
    if (texels == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a picture");
    }
    free(file->data);
    *file = (struct facet_bytes){texels, 4 * pixels};
    return FACET_OK;
}

enum facet_status session_tile_image(const uint8_t *texels,
                                     size_t stride,
                                     uint32_t width,
                                     uint32_t height,
                                     bool rgb565,
                                     struct facet_image *image,
                                     struct facet_error *err)
{
    enum facet_status status = facet_image_create(image, width, height, err);

    for (uint32_t y = 0; status == FACET_OK && y < height; y++) {
        const uint8_t *row = texels + (size_t)y * stride;

        for (uint32_t x = 0; x < width; x++) {
            uint8_t *to = facet_image_at(image, x, y);

            if (rgb565) {
                uint32_t c = facet_load_le16(row + 2 * (size_t)x);

                to[0] = (uint8_t)((c >> 11) << 3 | c >> 13);
                to[1] = (uint8_t)((c >> 5 & 63) << 2 | (c >> 9 & 3));
                to[2] = (uint8_t)((c & 31) << 3 | (c >> 2 & 7));
            } else {
                to[0] = row[4 * (size_t)x + 2];
                to[1] = row[4 * (size_t)x + 1];
                to[2] = row[4 * (size_t)x];
            }
            to[3] = 255;
        }
    }
    return status;
}

uint64_t session_image_hash(const struct facet_image *image, uint64_t seed)
{
    return facet_hash_bytes(image->rgba, 4 * (size_t)image->width * image->height, seed);
}

int session_expect(const struct cli_args *args, uint64_t hash)
{
    const char *text = cli_value(args, "expect");
    uint64_t expected = 0;

    if (text == NULL) {
        return CLI_OK;
    }
    if (!cli_number(args, "expect", 0, UINT64_MAX, &expected)) {
        return CLI_BAD;
    }
    if (hash != expected) {
        fprintf(stderr,
                "facet %s: the hash is 0x%016" PRIx64 ", expected 0x%016" PRIx64 "\n",
                args->command->name,
                hash,
                expected);
    }
    return hash == expected ? CLI_OK : CLI_NO;
}
