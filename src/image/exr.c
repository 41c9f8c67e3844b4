/* OpenEXR 2 scanline file, 32-bit float channels B G R, ZIP compression in blocks of 16 lines: the
 * layout of the "OpenEXR file layout" document. A block that does not shrink is stored as it is, as
 * the format asks. */
#include "base/array.h"
#include "image/image.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BLOCK_LINES 16U
#define EXR_FLOAT 2U
#define EXR_ZIP 3U

/* Output with one growth rule; `failed` is looked at once, at the end. */
struct out {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};

static void put(struct out *o, const void *bytes, size_t count)
{
    o->failed = o->failed || !facet_array_fit(&o->data, &o->capacity, o->size + count + 1, 1);
    if (!o->failed && count != 0) {
        memcpy(o->data + o->size, bytes, count);
        o->size += count;
    }
}

static void store32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (uint8_t)(value >> (8 * i));
    }
}

static void put32(struct out *o, uint32_t value)
{
    uint8_t bytes[4];

    store32(bytes, value);
    put(o, bytes, 4);
}

static void put_text(struct out *o, const char *text)
{
    put(o, text, strlen(text) + 1);
}

static void attribute(struct out *o, const char *name, const char *type, uint32_t size)
{
    put_text(o, name);
    put_text(o, type);
    put32(o, size);
}

static void put_box(struct out *o, const char *name, uint32_t width, uint32_t height)
{
    attribute(o, name, "box2i", 16);
    put32(o, 0);
    put32(o, 0);
    put32(o, width - 1);
    put32(o, height - 1);
}

static void put_channel(struct out *o, const char *name)
{
    put_text(o, name);
    put32(o, EXR_FLOAT);
    put32(o, 0); /* pLinear and three reserved bytes */
    put32(o, 1); /* x and y sampling */
    put32(o, 1);
}

static void put_header(struct out *o, uint32_t width, uint32_t height)
{
    const uint32_t one = 0x3F800000;
    const uint8_t zip = EXR_ZIP, increasing_y = 0, end = 0;

    put32(o, 20000630);
    put32(o, 2);
    attribute(o, "channels", "chlist", 3 * 18 + 1);
    put_channel(o, "B");
    put_channel(o, "G");
    put_channel(o, "R");
    put(o, &end, 1);
    attribute(o, "compression", "compression", 1);
    put(o, &zip, 1);
    put_box(o, "dataWindow", width, height);
    put_box(o, "displayWindow", width, height);
    attribute(o, "lineOrder", "lineOrder", 1);
    put(o, &increasing_y, 1);
    attribute(o, "pixelAspectRatio", "float", 4);
    put32(o, one);
    attribute(o, "screenWindowCenter", "v2f", 8);
    put32(o, 0);
    put32(o, 0);
    attribute(o, "screenWindowWidth", "float", 4);
    put32(o, one);
    put(o, &end, 1);
}

/* Per line: all B, all G, all R. */
static void gather_block(const struct facet_image_f *image, uint32_t y, uint32_t lines, uint8_t *to)
{
    for (uint32_t line = y; line < y + lines; line++) {
        const float *row = image->rgb + 3 * (size_t)image->width * line;

        for (unsigned channel = 3; channel-- > 0;) {
            for (size_t x = 0; x < image->width; x++, to += 4) {
                uint32_t bits;

                memcpy(&bits, &row[3 * x + channel], 4);
                store32(to, bits);
            }
        }
    }
}

/* Even bytes first, odd bytes after them, then each byte as the difference from the one before. */
static void predict(const uint8_t *raw, uint8_t *to, size_t size)
{
    size_t half = (size + 1) / 2;

    for (size_t i = 0; i < size; i++) {
        to[(i & 1) * half + i / 2] = raw[i];
    }
    for (size_t i = size; i-- > 1;) {
        to[i] = (uint8_t)(to[i] - to[i - 1] + 128);
    }
}

static bool put_blocks(struct out *o, const struct facet_image_f *image, size_t table)
{
    size_t line_bytes = 12 * (size_t)image->width;
    size_t most = line_bytes * BLOCK_LINES;
    uLong bound = compressBound(most);
    uint8_t *raw = malloc(most), *split = malloc(most), *packed = malloc(bound);
    bool ok = raw != NULL && split != NULL && packed != NULL;

    for (uint32_t y = 0; ok && y < image->height; y += BLOCK_LINES) {
        uint32_t lines = image->height - y < BLOCK_LINES ? image->height - y : BLOCK_LINES;
        size_t size = line_bytes * lines;
        uLongf length = bound;

        if (!o->failed) {
            store32(o->data + table, (uint32_t)o->size);
            store32(o->data + table + 4, (uint32_t)((uint64_t)o->size >> 32));
            table += 8;
        }
        gather_block(image, y, lines, raw);
        predict(raw, split, size);
        ok = compress2(packed, &length, split, size, 6) == Z_OK;
        put32(o, y);
        put32(o, (uint32_t)(length < size ? length : size));
        put(o, length < size ? packed : raw, length < size ? length : size);
    }
    free(raw);
    free(split);
    free(packed);
    return ok;
}

enum facet_status facet_image_exr_encode(const struct facet_image_f *image,
                                         struct facet_bytes *out,
                                         struct facet_error *err)
{
    struct out o = {NULL, 0, 0, false};
    uint32_t blocks = (image->height + BLOCK_LINES - 1) / BLOCK_LINES;
    size_t table;

    out->data = NULL;
    out->size = 0;
    put_header(&o, image->width, image->height);
    table = o.size;
    for (uint32_t i = 0; i < blocks; i++) {
        put32(&o, 0);
        put32(&o, 0);
    }
    if (!put_blocks(&o, image, table) || o.failed) {
        free(o.data);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "EXR: out of memory");
    }
    o.data[o.size] = 0;
    out->data = o.data;
    out->size = o.size;
    return FACET_OK;
}
