/* Pictures in memory: 8-bit RGBA for files, textures and comparisons, float RGB for what a renderer
 * computes. Row 0 is the top row, there is no padding between rows. 8-bit colour is sRGB-encoded,
 * float colour is linear; color.h goes between the two. Alpha is straight, never premultiplied. */
#ifndef FACET_IMAGE_IMAGE_H
#define FACET_IMAGE_IMAGE_H

#include "base/error.h"
#include "base/file.h"

#include <stddef.h>
#include <stdint.h>

/* Limits of every picture Facet reads or makes: a header with absurd numbers fails before memory is
 * asked for. 2^28 texels are 1 GiB as RGBA8. */
#define FACET_IMAGE_MAX_SIDE 32768U
#define FACET_IMAGE_MAX_TEXELS (UINT64_C(1) << 28)

struct facet_image {
    uint32_t width, height;
    uint8_t *rgba; /* 4 * width * height */
};

struct facet_image_f {
    uint32_t width, height;
    float *rgb; /* 3 * width * height */
};

/* FACET_ERR_LIMIT for a size outside the limits. */
enum facet_status facet_image_check_size(uint32_t width, uint32_t height, struct facet_error *err);

/* All bytes zero. FACET_ERR_LIMIT for a size outside the limits; *out is empty on failure. */
enum facet_status facet_image_create(struct facet_image *out,
                                     uint32_t width,
                                     uint32_t height,
                                     struct facet_error *err);
enum facet_status facet_image_f_create(struct facet_image_f *out,
                                       uint32_t width,
                                       uint32_t height,
                                       struct facet_error *err);
void facet_image_free(struct facet_image *image);
void facet_image_f_free(struct facet_image_f *image);

static inline uint8_t *facet_image_at(const struct facet_image *image, uint32_t x, uint32_t y)
{
    return image->rgba + 4 * ((size_t)y * image->width + x);
}

/* Fills a rectangle, clipped to the image. */
void facet_image_fill(struct facet_image *image,
                      int64_t x,
                      int64_t y,
                      int64_t width,
                      int64_t height,
                      const uint8_t rgba[4]);

/* Copies `from` to (x, y) of `to`, clipped. */
void facet_image_blit(struct facet_image *to, int64_t x, int64_t y, const struct facet_image *from);

/* PNG (png.c, libpng). Any bit depth, palette and interlacing come out as RGBA8; colour-space and
 * text chunks are skipped unread, so the samples are those of the file (16-bit ones rounded to 8).
 * Writing chooses RGB when every alpha is 255. FACET_ERR_INPUT for a damaged file, with the offset
 * reached.
 */
enum facet_status facet_image_png_decode(const uint8_t *data,
                                         size_t size,
                                         struct facet_image *out,
                                         struct facet_error *err);
enum facet_status facet_image_png_encode(const struct facet_image *image,
                                         struct facet_bytes *out,
                                         struct facet_error *err);
enum facet_status
facet_image_png_write(const char *path, const struct facet_image *image, struct facet_error *err);

/* PNG whose bytes depend on nothing but the pixels (png_plain.c): no zlib, so the files that Facet
 * generates are the same on every host. Compresses less well than facet_image_png_encode(). */
enum facet_status facet_image_png_encode_plain(const struct facet_image *image,
                                               struct facet_bytes *out,
                                               struct facet_error *err);

/* JPEG (jpeg.c, libjpeg-turbo): baseline and progressive, grey or colour. */
enum facet_status facet_image_jpeg_decode(const uint8_t *data,
                                          size_t size,
                                          struct facet_image *out,
                                          struct facet_error *err);

/* PNG or JPEG, by the first bytes. Untrusted bytes only inside a confined
 * process; elsewhere take one of the two below. */
enum facet_status facet_image_decode(const uint8_t *data,
                                     size_t size,
                                     struct facet_image *out,
                                     struct facet_error *err);

/* The same pixels, decoded in a confined process of its own (confined.c): bounded memory and time,
 * and a decoder that crashes is an error here. */
enum facet_status facet_image_decode_confined(const uint8_t *data,
                                              size_t size,
                                              struct facet_image *out,
                                              struct facet_error *err);

/* The picture file at `path`, "-" for standard input, decoded that way. Errors start with the path.
 */
enum facet_status
facet_image_read(const char *path, struct facet_image *out, struct facet_error *err);

/* Float pictures: PFM (pfm.c) and OpenEXR with ZIP scanlines (exr.c), 32-bit float RGB. */
enum facet_status facet_image_pfm_encode(const struct facet_image_f *image,
                                         struct facet_bytes *out,
                                         struct facet_error *err);
enum facet_status facet_image_exr_encode(const struct facet_image_f *image,
                                         struct facet_bytes *out,
                                         struct facet_error *err);

/* .pfm or .exr, chosen by the end of the name; FACET_ERR_USAGE for any other name. */
enum facet_status facet_image_f_encode(const char *path,
                                       const struct facet_image_f *image,
                                       struct facet_bytes *out,
                                       struct facet_error *err);
enum facet_status
facet_image_f_write(const char *path, const struct facet_image_f *image, struct facet_error *err);

#endif
