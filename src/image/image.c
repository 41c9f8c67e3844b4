/* See image.h. */
#include "image/image.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum facet_status facet_image_check_size(uint32_t width, uint32_t height, struct facet_error *err)
{
    if (width == 0 || height == 0 || width > FACET_IMAGE_MAX_SIDE ||
        height > FACET_IMAGE_MAX_SIDE || (uint64_t)width * height > FACET_IMAGE_MAX_TEXELS) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "picture of %u x %u pixels: expected 1..%u on each side and at most "
                          "%llu pixels",
                          width,
                          height,
                          FACET_IMAGE_MAX_SIDE,
                          (unsigned long long)FACET_IMAGE_MAX_TEXELS);
    }
    return FACET_OK;
}

enum facet_status facet_image_create(struct facet_image *out,
                                     uint32_t width,
                                     uint32_t height,
                                     struct facet_error *err)
{
    enum facet_status status = facet_image_check_size(width, height, err);

    memset(out, 0, sizeof *out);
    if (status != FACET_OK) {
        return status;
    }
    out->rgba = calloc((size_t)width * height, 4);
    if (out->rgba == NULL) {
        return facet_fail(
            err, FACET_ERR_MEMORY, 0, "no memory for a picture of %u x %u", width, height);
    }
    out->width = width;
    out->height = height;
    return FACET_OK;
}

enum facet_status facet_image_f_create(struct facet_image_f *out,
                                       uint32_t width,
                                       uint32_t height,
                                       struct facet_error *err)
{
    enum facet_status status = facet_image_check_size(width, height, err);

    memset(out, 0, sizeof *out);
    if (status != FACET_OK) {
        return status;
    }
    out->rgb = calloc((size_t)width * height, 3 * sizeof *out->rgb);
    if (out->rgb == NULL) {
        return facet_fail(
            err, FACET_ERR_MEMORY, 0, "no memory for a picture of %u x %u", width, height);
    }
    out->width = width;
    out->height = height;
    return FACET_OK;
}

void facet_image_free(struct facet_image *image)
{
    free(image->rgba);
    memset(image, 0, sizeof *image);
}

void facet_image_f_free(struct facet_image_f *image)
{
    free(image->rgb);
    memset(image, 0, sizeof *image);
}

/* Cuts [*at, *at + *count) down to [0, limit); false when nothing is left. */
static bool clip(int64_t *at, int64_t *count, int64_t limit)
{
    int64_t end;

    if (*count <= 0 || *at >= limit || *at < -INT32_MAX || *count > INT32_MAX) {
        return false;
    }
    end = *at + *count < limit ? *at + *count : limit;
    *at = *at > 0 ? *at : 0;
    *count = end - *at;
    return *count > 0;
}

void facet_image_fill(struct facet_image *image,
                      int64_t x,
                      int64_t y,
                      int64_t width,
                      int64_t height,
                      const uint8_t rgba[4])
{
    if (!clip(&x, &width, image->width) || !clip(&y, &height, image->height)) {
        return;
    }
    for (int64_t row = y; row < y + height; row++) {
        uint8_t *at = facet_image_at(image, (uint32_t)x, (uint32_t)row);

        for (int64_t i = 0; i < width; i++) {
            memcpy(at + 4 * i, rgba, 4);
        }
    }
}

void facet_image_blit(struct facet_image *to, int64_t x, int64_t y, const struct facet_image *from)
{
    int64_t width = from->width, height = from->height;
    int64_t left = x, top = y;

    if (!clip(&x, &width, to->width) || !clip(&y, &height, to->height)) {
        return;
    }
    for (int64_t row = 0; row < height; row++) {
        memcpy(facet_image_at(to, (uint32_t)x, (uint32_t)(y + row)),
               facet_image_at(from, (uint32_t)(x - left), (uint32_t)(y + row - top)),
               4 * (size_t)width);
    }
}

enum facet_status facet_image_decode(const uint8_t *data,
                                     size_t size,
                                     struct facet_image *out,
                                     struct facet_error *err)
{
    static const uint8_t png[4] = {0x89, 'P', 'N', 'G'};

    memset(out, 0, sizeof *out);
    if (size >= 4 && memcmp(data, png, 4) == 0) {
        return facet_image_png_decode(data, size, out, err);
    }
    if (size >= 3 && data[0] == 0xFF && data[1] == 0xD8 && data[2] == 0xFF) {
        return facet_image_jpeg_decode(data, size, out, err);
    }
    return facet_fail(err, FACET_ERR_INPUT, 0, "neither PNG nor JPEG");
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && strcasecmp(path + length - tail, suffix) == 0;
}

enum facet_status facet_image_f_encode(const char *path,
                                       const struct facet_image_f *image,
                                       struct facet_bytes *out,
                                       struct facet_error *err)
{
    *out = (struct facet_bytes){NULL, 0};
    if (has_suffix(path, ".pfm")) {
        return facet_image_pfm_encode(image, out, err);
    }
    if (has_suffix(path, ".exr")) {
        return facet_image_exr_encode(image, out, err);
    }
    return facet_fail(err, FACET_ERR_USAGE, 0, "%s: expected a name in .pfm or .exr", path);
}

enum facet_status
facet_image_f_write(const char *path, const struct facet_image_f *image, struct facet_error *err)
{
    struct facet_bytes bytes;
    enum facet_status status = facet_image_f_encode(path, image, &bytes, err);

    if (status == FACET_OK) {
        status = facet_file_write(path, bytes.data, bytes.size, err);
    }
    free(bytes.data);
    return status;
}
