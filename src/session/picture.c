/* See picture.h. Numbers come from the guest: each row is read through the machine's checked
 * door, whatever BASE and STRIDE say. */
#include "session/picture.h"

#include "command/output.h"

#include "base/bits.h"
#include "image/color.h"
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

bool session_picture_check(const struct cli_args *args, const char *path)
{
    if (!cli_ends_with(path, ".png") && !cli_ends_with(path, ".pfm") &&
        !cli_ends_with(path, ".exr")) {
        (void)cli_bad(args, "--framebuffer is '%s'; expected a name with .png, .pfm or .exr", path);
        return false;
    }
    return cli_can_write(args, path);
}

static void put_row(const uint8_t *from, uint32_t format, uint32_t width, float *rgb)
{
    for (uint32_t i = 0; i < 3 * width; i++) {
        if (format == FACET_XPHMG_FRAME_RGBX8) {
            rgb[i] = facet_image_srgb_to_linear(from[i / 3 * 4 + i % 3]);
        } else {
            uint32_t bits = facet_load_le32(from + 4 * (size_t)i);

            memcpy(&rgb[i], &bits, sizeof bits);
        }
    }
}

/* All pixels as linear light: the sRGB curve and its inverse return every 8-bit code. */
static enum facet_status read_rows(const facet_machine *machine,
                                   const struct facet_xphmg_framebuffer *fb,
                                   struct facet_image_f *image,
                                   struct facet_error *err)
{
    size_t row_bytes = (size_t)fb->width * facet_xphmg_frame_bytes(fb->format);
    uint8_t *row = malloc(row_bytes);
    enum facet_status status =
        row != NULL ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a row");

    for (uint32_t y = 0; y < fb->height && status == FACET_OK; y++) {
        uint64_t address = fb->base + (uint64_t)y * fb->stride;

        status = facet_machine_read(machine, 0, address, row, row_bytes, err);
        if (status == FACET_OK) {
            put_row(row, fb->format, fb->width, image->rgb + 3 * (size_t)y * fb->width);
        }
    }
    free(row);
    return status;
}

static enum facet_status
write_file(const char *path, const struct facet_image_f *image, struct facet_error *err)
{
    const struct facet_tone_curve curve = {FACET_TONE_CLAMP, 1.0F, 0.0F};
    struct facet_image bytes;
    enum facet_status status;

    if (!cli_ends_with(path, ".png")) {
        return facet_image_f_write(path, image, err);
    }
    status = facet_image_from_float(image, &curve, &bytes, err);
    if (status == FACET_OK) {
        status = facet_image_png_write(path, &bytes, err);
        facet_image_free(&bytes);
    }
    return status;
}

bool session_picture_write(const struct cli_args *args,
                           const facet_machine *machine,
                           const char *path)
{
    struct facet_xphmg_framebuffer fb;
    struct facet_image_f image = {0};
    struct facet_error err = {0};
    enum facet_status status;

    if (facet_xphmg_get_framebuffer(machine, &fb, NULL) != FACET_OK) {
        (void)cli_bad(args, "%s is not written: the program shows no picture", path);
        return false;
    }
    status = facet_image_f_create(&image, fb.width, fb.height, &err);
    if (status == FACET_OK) {
        status = read_rows(machine, &fb, &image, &err);
        if (status != FACET_OK) {
            (void)facet_fail_in(&err, "framebuffer");
        }
    }
    if (status == FACET_OK) {
        status = write_file(path, &image, &err);
    }
    facet_image_f_free(&image);
    if (status != FACET_OK) {
        (void)cli_bad_error(args, &err);
    }
    return status == FACET_OK;
}
