/* JPEG through libjpeg-turbo, for textures inside glTF files. The same setjmp discipline as png.c:
 * one function calls setjmp, all state is in the caller's struct. */
#include "image/image.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

struct decoding {
    struct jpeg_error_mgr errors; /* first: libjpeg hands this address back */
    jmp_buf jump;
    struct jpeg_decompress_struct jpeg;
    struct facet_image image;
    enum facet_status status;
    struct facet_error *err;
    char message[JMSG_LENGTH_MAX];
};

static void on_error(j_common_ptr common)
{
    struct decoding *d = (struct decoding *)common->err;

    common->err->format_message(common, d->message);
    longjmp(d->jump, 1);
}

/* Warnings are how libjpeg reports data that ends too early or is damaged: such a picture would be
 * partly grey, so they count as errors. */
static void on_message(j_common_ptr common, int level)
{
    if (level < 0) {
        on_error(common);
    }
}

static void decode_steps(struct decoding *d, const uint8_t *data, size_t size)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;

    jpeg_create_decompress(jpeg);
    jpeg->mem->max_memory_to_use = 1L << 30;
    jpeg_mem_src(jpeg, data, (unsigned long)size);
    (void)jpeg_read_header(jpeg, TRUE);
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK) {
        d->status = facet_fail(
            d->err, FACET_ERR_INPUT, 0, "CMYK JPEG: expected a grey or colour (YCbCr, RGB) one");
        return;
    }
    jpeg->out_color_space = JCS_EXT_RGBA;
    /* The slow integer transform is the one whose result does not depend on the host's SIMD. */
    jpeg->dct_method = JDCT_ISLOW;
    d->status = facet_image_create(&d->image, jpeg->image_width, jpeg->image_height, d->err);
    if (d->status != FACET_OK) {
        return;
    }
    (void)jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = facet_image_at(&d->image, 0, jpeg->output_scanline);

        (void)jpeg_read_scanlines(jpeg, &row, 1);
    }
    (void)jpeg_finish_decompress(jpeg);
}

static void run_decode(struct decoding *d, const uint8_t *data, size_t size)
{
    if (setjmp(d->jump) != 0) {
        bool no_memory = d->errors.msg_code == JERR_OUT_OF_MEMORY;

        d->status = no_memory
                        ? facet_fail(d->err, FACET_ERR_MEMORY, 0, "JPEG: out of memory")
                        : facet_fail(d->err, FACET_ERR_INPUT, 0, "damaged JPEG: %s", d->message);
        return;
    }
    decode_steps(d, data, size);
}

enum facet_status facet_image_jpeg_decode(const uint8_t *data,
                                          size_t size,
                                          struct facet_image *out,
                                          struct facet_error *err)
{
    struct decoding *d = calloc(1, sizeof *d);
    enum facet_status status;

    memset(out, 0, sizeof *out);
    if (d == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "JPEG: out of memory");
    }
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->errors.error_exit = on_error;
    d->errors.emit_message = on_message;
    d->err = err;
    run_decode(d, data, size);
    jpeg_destroy_decompress(&d->jpeg);
    status = d->status;
    if (status == FACET_OK) {
        *out = d->image;
    } else {
        facet_image_free(&d->image);
    }
    free(d);
    return status;
}
