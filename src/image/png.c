/* PNG through libpng. libpng reports errors by longjmp: only run_read() and run_write() below call
 * setjmp, they hold no state of their own that changes in between, and everything to be freed lives
 * in a struct of the caller.
 *
 * libpng inflates what the compressed data holds beyond the last row, only to throw it away: a
 * small file can make that days of work. So it is left as soon as it asks for more than the rows
 * needed, and the rest of the file is checked here. */
#include "base/array.h"
#include "image/image.h"

#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { JUMP_ERROR = 1, JUMP_ROWS_COMPLETE };
enum { SIGNATURE_SIZE = 8, CHUNK_FRAME = 12, ADAM7_PASSES = 7 };

struct reading {
    png_structp png;
    png_infop info;
    const uint8_t *data;
    size_t size, at;
    struct facet_image image;
    png_bytep *rows;
    enum facet_status status; /* set when a step of ours failed rather than libpng */
    bool short_of_memory;     /* libpng would call the file damaged */
    struct facet_error *err;
    char message[160];
};

static void on_read_error(png_structp png, png_const_charp text)
{
    struct reading *r = png_get_error_ptr(png);

    (void)snprintf(r->message, sizeof r->message, "%s", text);
    png_longjmp(png, JUMP_ERROR);
}

static png_voidp noting_malloc(png_structp png, png_alloc_size_t size)
{
    void *memory = malloc(size);

    ((struct reading *)png_get_mem_ptr(png))->short_of_memory |= memory == NULL;
    return memory;
}

static void plain_free(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static bool rows_complete(const struct reading *r)
{
    return png_get_interlace_type(r->png, r->info) != PNG_INTERLACE_NONE
               ? png_get_current_pass_number(r->png) >= ADAM7_PASSES
               : png_get_current_row_number(r->png) >= r->image.height;
}

static void read_bytes(png_structp png, png_bytep to, size_t count)
{
    struct reading *r = png_get_io_ptr(png);

    if (r->rows != NULL && rows_complete(r)) {
        png_longjmp(png, JUMP_ROWS_COMPLETE);
    }
    if (count > r->size - r->at) {
        png_error(png, "the file ends too early");
    }
    memcpy(to, r->data + r->at, count);
    r->at += count;
}

static bool allocate_rows(struct reading *r, uint32_t width, uint32_t height)
{
    r->status = facet_image_create(&r->image, width, height, r->err);
    if (r->status != FACET_OK) {
        return false;
    }
    r->rows = malloc(height * sizeof *r->rows);
    if (r->rows == NULL) {
        r->status = facet_fail(r->err, FACET_ERR_MEMORY, 0, "PNG: out of memory");
        return false;
    }
    for (uint32_t y = 0; y < height; y++) {
        r->rows[y] = facet_image_at(&r->image, 0, y);
    }
    return true;
}

/* Everything that may longjmp. */
static void read_steps(struct reading *r)
{
    png_structp png = r->png;

    png_set_read_fn(png, r, read_bytes);
    png_set_user_limits(png, FACET_IMAGE_MAX_SIDE, FACET_IMAGE_MAX_SIDE);
    png_set_chunk_malloc_max(png, 1U << 24);
    /* Texts and profiles may be compressed a thousandfold and are of no use here: every ancillary
     * chunk but transparency is skipped, known (-1) or not (0). */
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, r->info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, r->info);
    if (png_get_rowbytes(png, r->info) != 4 * (size_t)png_get_image_width(png, r->info)) {
        png_error(png, "unexpected pixel format");
    }
    if (!allocate_rows(r, png_get_image_width(png, r->info), png_get_image_height(png, r->info))) {
        return;
    }
    png_read_image(png, r->rows);
    r->status = FACET_OK;
}

static void damaged(struct reading *r, const char *text)
{
    r->status = facet_fail(r->err,
                           FACET_ERR_INPUT,
                           r->at,
                           "damaged PNG, at offset %zu of %zu: %s",
                           r->at,
                           r->size,
                           text);
}

static void run_read(struct reading *r)
{
    switch (setjmp(png_jmpbuf(r->png))) {
    case 0:
        read_steps(r);
        return;
    case JUMP_ROWS_COMPLETE:
        r->status = FACET_OK;
        return;
    default:
        damaged(r, r->message);
        return;
    }
}

/* Of a whole chunk; 0: there are not that many bytes. */
static size_t chunk_size(const uint8_t *chunk, size_t left)
{
    size_t size = left >= CHUNK_FRAME ? CHUNK_FRAME + (size_t)png_get_uint_32(chunk) : 0;

    return size <= left ? size : 0;
}

/* Chunks that may be skipped are not looked into; libpng does not either. */
static const char *fault_of_chunk_after_rows(const uint8_t *chunk, size_t size)
{
    bool ancillary = (chunk[4] & 0x20) != 0; /* a small letter */

    if (ancillary) {
        return NULL;
    }
    if (memcmp(chunk + 4, "IDAT", 4) != 0 && memcmp(chunk + 4, "IEND", 4) != 0) {
        return "unexpected chunk after the picture's data";
    }
    return crc32_z(0, chunk + 4, size - 8) == png_get_uint_32(chunk + size - 4)
               ? NULL
               : "the checksum of a chunk is wrong";
}

/* What libpng has not read: from the chunk in which the rows end, to the last. */
static void check_end(struct reading *r)
{
    const size_t had = r->at;
    const char *fault = NULL;
    bool end = false;

    for (r->at = SIGNATURE_SIZE; !end && fault == NULL;) {
        const uint8_t *chunk = r->data + r->at;
        size_t size = chunk_size(chunk, r->size - r->at);

        if (size == 0) {
            fault = "the file ends too early";
        } else if (r->at + size > had) {
            fault = fault_of_chunk_after_rows(chunk, size);
        }
        if (fault == NULL) {
            end = memcmp(chunk + 4, "IEND", 4) == 0;
            r->at += size;
        }
    }
    if (fault != NULL) {
        damaged(r, fault);
    }
}

enum facet_status facet_image_png_decode(const uint8_t *data,
                                         size_t size,
                                         struct facet_image *out,
                                         struct facet_error *err)
{
    struct reading r = {.data = data, .size = size, .status = FACET_ERR_INPUT, .err = err};

    memset(out, 0, sizeof *out);
    if (size < SIGNATURE_SIZE || png_sig_cmp(data, 0, SIGNATURE_SIZE) != 0) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "not a PNG: the signature is missing");
    }
    r.png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, &r, on_read_error, on_warning, &r, noting_malloc, plain_free);
    r.info = r.png != NULL ? png_create_info_struct(r.png) : NULL;
    if (r.info == NULL) {
        png_destroy_read_struct(&r.png, NULL, NULL);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "PNG: out of memory");
    }
    run_read(&r);
    if (r.status == FACET_OK) {
        check_end(&r);
    }
    png_destroy_read_struct(&r.png, &r.info, NULL);
    free(r.rows);
    if (r.short_of_memory) {
        r.status = facet_fail(err, FACET_ERR_MEMORY, 0, "PNG: out of memory");
    }
    if (r.status != FACET_OK) {
        facet_image_free(&r.image);
        return r.status;
    }
    *out = r.image;
    return FACET_OK;
}

struct writing {
    png_structp png;
    png_infop info;
    const struct facet_image *image;
    bool opaque;
    uint8_t *row;
    uint8_t *data;
    size_t size, capacity;
    char message[160];
};

static void on_write_error(png_structp png, png_const_charp text)
{
    struct writing *w = png_get_error_ptr(png);

    (void)snprintf(w->message, sizeof w->message, "%s", text);
    png_longjmp(png, 1);
}

static void write_bytes(png_structp png, png_bytep from, size_t count)
{
    struct writing *w = png_get_io_ptr(png);

    if (!facet_array_fit(&w->data, &w->capacity, w->size + count + 1, 1)) {
        png_error(png, "out of memory");
    }
    memcpy(w->data + w->size, from, count);
    w->size += count;
}

static void flush_bytes(png_structp png)
{
    (void)png;
}

static void write_steps(struct writing *w)
{
    const struct facet_image *image = w->image;

    png_set_write_fn(w->png, w, write_bytes, flush_bytes);
    /* The limits of this file, not libpng's default of one million, bound what is written. */
    png_set_user_limits(w->png, FACET_IMAGE_MAX_SIDE, FACET_IMAGE_MAX_SIDE);
    png_set_IHDR(w->png,
                 w->info,
                 image->width,
                 image->height,
                 8,
                 w->opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA,
                 PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(w->png, w->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(w->png, w->info);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *from = facet_image_at(image, 0, y);

        if (!w->opaque) {
            png_write_row(w->png, from);
            continue;
        }
        for (uint32_t x = 0; x < image->width; x++) {
            memcpy(w->row + 3 * (size_t)x, from + 4 * (size_t)x, 3);
        }
        png_write_row(w->png, w->row);
    }
    png_write_end(w->png, w->info);
}

static bool run_write(struct writing *w)
{
    if (setjmp(png_jmpbuf(w->png)) != 0) {
        return false;
    }
    write_steps(w);
    return true;
}

static bool is_opaque(const struct facet_image *image)
{
    size_t count = (size_t)image->width * image->height;

    for (size_t i = 0; i < count; i++) {
        if (image->rgba[4 * i + 3] != 255) {
            return false;
        }
    }
    return true;
}

enum facet_status facet_image_png_encode(const struct facet_image *image,
                                         struct facet_bytes *out,
                                         struct facet_error *err)
{
    struct writing w = {.image = image, .opaque = is_opaque(image)};
    bool ok;

    out->data = NULL;
    out->size = 0;
    w.row = malloc(3 * (size_t)image->width + 1);
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_write_error, on_warning);
    w.info = w.png != NULL ? png_create_info_struct(w.png) : NULL;
    if (w.row == NULL || w.info == NULL) {
        png_destroy_write_struct(&w.png, &w.info);
        free(w.row);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "PNG: out of memory");
    }
    ok = run_write(&w);
    png_destroy_write_struct(&w.png, &w.info);
    free(w.row);
    if (!ok) {
        free(w.data);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "cannot make the PNG: %s", w.message);
    }
    w.data[w.size] = 0;
    out->data = w.data;
    out->size = w.size;
    return FACET_OK;
}

enum facet_status
facet_image_png_write(const char *path, const struct facet_image *image, struct facet_error *err)
{
    struct facet_bytes bytes;
    enum facet_status status = facet_image_png_encode(image, &bytes, err);

    if (status != FACET_OK) {
        return (facet_fail_in(err, path), status);
    }
    status = facet_file_write(path, bytes.data, bytes.size, err);
    free(bytes.data);
    return status;
}
