/* Pictures as a kernel has them in memory: rows of ARGB8888 or RGB565 texels. */
#ifndef FACET_SESSION_TILE_PICTURE_H
#define FACET_SESSION_TILE_PICTURE_H

#include "command/command.h"

#include "base/file.h"
#include "image/image.h"

/* Whether a name is that of a PNG or JPEG file. */
bool session_is_picture(const char *path);
/* The picture in `file` as ARGB8888 texels in its place; decoded in a confined process. */
enum facet_status session_tile_texels(struct facet_bytes *file,
                                      uint32_t *width,
                                      uint32_t *height,
                                      struct facet_error *err);
/* Texels as a picture, opaque; rows lie `stride` bytes apart. Free the image. */
enum facet_status session_tile_image(const uint8_t *texels,
                                     size_t stride,
                                     uint32_t width,
                                     uint32_t height,
                                     bool rgb565,
                                     struct facet_image *image,
                                     struct facet_error *err);
uint64_t session_image_hash(const struct facet_image *image, uint64_t seed);
/* --expect HASH against the hash of what came out: CLI_OK, CLI_NO after a message, CLI_BAD after a
 * complaint. Without the option CLI_OK. */
int session_expect(const struct cli_args *args, uint64_t hash);

#define SESSION_EXPECT_OPTION                                                                      \
    {                                                                                              \
        "expect", 0, "HASH", "exit code 1 unless this is the hash of what was written"             \
    }

#endif
