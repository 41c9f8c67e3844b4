/* Picture files: what we write is read by others' code (libpng, zlib, small readers here), what
 * others write is read by us, and damaged files give errors. */
#include "harness.h"

#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

static void random_image(struct facet_image *image, uint32_t width, uint32_t height, bool opaque)
{
    CHECK_EQ(facet_image_create(image, width, height, NULL), FACET_OK);
    for (size_t i = 0; i < 4 * (size_t)width * height; i++) {
        image->rgba[i] = opaque && i % 4 == 3 ? 255 : (uint8_t)harness_random();
    }
}

static bool same(const struct facet_image *a, const struct facet_image *b)
{
    return a->width == b->width && a->height == b->height &&
           memcmp(a->rgba, b->rgba, 4 * (size_t)a->width * a->height) == 0;
}

typedef enum facet_status
encoder(const struct facet_image *, struct facet_bytes *, struct facet_error *);

static void round_trip(encoder *encode, uint32_t width, uint32_t height, bool opaque)
{
    struct facet_image image, back;
    struct facet_bytes bytes;
    struct facet_error err;

    random_image(&image, width, height, opaque);
    CHECK_EQ(encode(&image, &bytes, &err), FACET_OK);
    CHECK_EQ(bytes.data[25], opaque ? 2 : 6); /* colour type */
    CHECK_EQ(facet_image_png_decode(bytes.data, bytes.size, &back, &err), FACET_OK);
    CHECK(same(&image, &back));
    facet_image_free(&image);
    facet_image_free(&back);
    free(bytes.data);
}

TEST(png_round_trip, "")
{
    round_trip(facet_image_png_encode, 1, 1, true);
    round_trip(facet_image_png_encode, 37, 19, true);
    round_trip(facet_image_png_encode, 64, 3, false);
}

TEST(plain_png_round_trip, "")
{
    round_trip(facet_image_png_encode_plain, 1, 1, true);
    round_trip(facet_image_png_encode_plain, 37, 19, true);
    round_trip(facet_image_png_encode_plain, 200, 70, false);
}

/* Every match length and many distances of the deflate coder, checked by zlib's inflate inside
 * libpng: runs of growing length between random bytes. */
TEST(plain_png_compresses_runs, "")
{
    struct facet_image image, back;
    struct facet_bytes bytes;

    random_image(&image, 512, 256, true);
    for (size_t run = 1, at = 0; at + 8 * run < 4 * 512 * 256; run++) {
        for (size_t i = at + run; i < at + 7 * run; i++) {
            image.rgba[i] = i % 4 == 3 ? 255 : (uint8_t)run;
        }
        at += 8 * run;
    }
    CHECK_EQ(facet_image_png_encode_plain(&image, &bytes, NULL), FACET_OK);
    CHECK(bytes.size < 3 * 512 * 256 / 2);
    CHECK_EQ(facet_image_png_decode(bytes.data, bytes.size, &back, NULL), FACET_OK);
    CHECK(same(&image, &back));
    facet_image_free(&image);
    facet_image_free(&back);
    free(bytes.data);
}

/* A truncated file is an error at every length, with an offset in the message. */
TEST(truncated_png, "")
{
    struct facet_image image, back;
    struct facet_bytes bytes;
    struct facet_error err;

    random_image(&image, 20, 20, false);
    CHECK_EQ(facet_image_png_encode(&image, &bytes, NULL), FACET_OK);
    for (size_t size = 0; size < bytes.size; size++) {
        /* A copy of exactly this size, so that the address sanitizer sees any overrun. */
        uint8_t *cut = malloc(size + (size == 0));

        memcpy(cut, bytes.data, size);
        CHECK_EQ(facet_image_png_decode(cut, size, &back, &err), FACET_ERR_INPUT);
        CHECK(back.rgba == NULL);
        free(cut);
    }
    CHECK(strstr(err.message, "offset") != NULL);
    facet_image_free(&image);
    free(bytes.data);
}

TEST(damaged_png_never_crashes, "")
{
    struct facet_image image, back;
    struct facet_bytes bytes;
    unsigned refused = 0;

    random_image(&image, 16, 16, false);
    CHECK_EQ(facet_image_png_encode(&image, &bytes, NULL), FACET_OK);
    for (unsigned round = 0; round < 500; round++) {
        size_t at = harness_random() % bytes.size;
        uint8_t old = bytes.data[at];

        bytes.data[at] ^= (uint8_t)(1U << (harness_random() % 8));
        refused += facet_image_png_decode(bytes.data, bytes.size, &back, NULL) != FACET_OK;
        facet_image_free(&back);
        bytes.data[at] = old;
    }
    CHECK(refused > 400); /* checksums catch all but ancillary chunks */
    facet_image_free(&image);
    free(bytes.data);
}

/* IHDR of 60000 x 60000 with a right checksum. */
TEST(huge_png_header_is_refused_before_memory, "")
{
    uint8_t file[8 + 25 + 12] = {
        0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    struct facet_image back;
    struct facet_error err;
    uint32_t sum;

    file[18] = file[22] = 0xEA;
    file[19] = file[23] = 0x60;
    file[24] = 8;
    file[25] = 6;
    sum = (uint32_t)crc32(0, file + 12, 17);
    for (unsigned i = 0; i < 4; i++) {
        file[29 + i] = (uint8_t)(sum >> (24 - 8 * i));
    }
    CHECK_EQ(facet_image_png_decode(file, sizeof file, &back, &err), FACET_ERR_INPUT);
    CHECK(back.rgba == NULL);
}

/* ---- kinds of PNG that others write ---- */

struct sink {
    uint8_t data[65536];
    size_t size;
};

static void sink_write(png_structp png, png_bytep from, size_t count)
{
    struct sink *sink = png_get_io_ptr(png);

    memcpy(sink->data + sink->size, from, count);
    sink->size += count;
}

static void sink_flush(png_structp png)
{
    (void)png;
}

static void write_png(struct sink *sink,
                      int depth,
                      int type,
                      int interlace,
                      uint32_t width,
                      uint32_t height,
                      uint8_t **rows,
                      bool gamma)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);

    sink->size = 0;
    png_set_write_fn(png, sink, sink_write, sink_flush);
    png_set_IHDR(png, info, width, height, depth, type, interlace, 0, 0);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        const png_color palette[3] = {{1, 2, 3}, {40, 50, 60}, {200, 100, 0}};
        const png_byte alpha[2] = {255, 9};

        png_set_PLTE(png, info, palette, 3);
        png_set_tRNS(png, info, alpha, 2, NULL);
    }
    if (gamma) {
        png_set_gAMA(png, info, 1.0);
    }
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

TEST(png_16_bit_grey_keeps_its_samples, "")
{
    static struct sink sink;
    uint8_t row[4] = {0x80, 0x00, 0xFF, 0xFF};
    uint8_t *rows[1] = {row};
    struct facet_image image;

    /* The gamma chunk must not change the samples. */
    write_png(&sink, 16, PNG_COLOR_TYPE_GRAY, 0, 2, 1, rows, true);
    CHECK_EQ(facet_image_png_decode(sink.data, sink.size, &image, NULL), FACET_OK);
    CHECK_EQ(facet_image_at(&image, 0, 0)[0], 128);
    CHECK_EQ(facet_image_at(&image, 0, 0)[2], 128);
    CHECK_EQ(facet_image_at(&image, 1, 0)[1], 255);
    CHECK_EQ(facet_image_at(&image, 1, 0)[3], 255);
    facet_image_free(&image);
}

TEST(png_palette_with_alpha, "")
{
    static struct sink sink;
    uint8_t row[1] = {0x18}; /* two bits each: 0, 1, 2, 0 */
    uint8_t *rows[1] = {row};
    struct facet_image image;
    const uint8_t expected[16] = {1, 2, 3, 255, 40, 50, 60, 9, 200, 100, 0, 255, 1, 2, 3, 255};

    write_png(&sink, 2, PNG_COLOR_TYPE_PALETTE, 0, 4, 1, rows, false);
    CHECK_EQ(facet_image_png_decode(sink.data, sink.size, &image, NULL), FACET_OK);
    CHECK(memcmp(image.rgba, expected, 16) == 0);
    facet_image_free(&image);
}

TEST(png_interlaced, "")
{
    static struct sink sink;
    struct facet_image image, back;
    uint8_t *rows[21];

    random_image(&image, 13, 21, false);
    for (uint32_t y = 0; y < 21; y++) {
        rows[y] = facet_image_at(&image, 0, y);
    }
    write_png(&sink, 8, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_ADAM7, 13, 21, rows, false);
    CHECK_EQ(facet_image_png_decode(sink.data, sink.size, &back, NULL), FACET_OK);
    CHECK(same(&image, &back));
    facet_image_free(&image);
    facet_image_free(&back);
}

TEST(png_files, "")
{
    char path[] = "/tmp/facet_png_XXXXXX";
    struct facet_image image, back;
    struct facet_error err;

    CHECK_EQ(close(mkstemp(path)), 0);
    random_image(&image, 5, 5, true);
    CHECK_EQ(facet_image_png_write(path, &image, &err), FACET_OK);
    CHECK_EQ(facet_image_read(path, &back, &err), FACET_OK);
    CHECK(same(&image, &back));
    facet_image_free(&back);
    CHECK_EQ(truncate(path, 50), 0);
    CHECK_EQ(facet_image_read(path, &back, &err), FACET_ERR_INPUT);
    CHECK(strncmp(err.message, path, strlen(path)) == 0);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(facet_image_read(path, &back, &err), FACET_ERR_IO);
    facet_image_free(&image);
}

/* ---- JPEG ---- */

static void write_jpeg(int components, bool progressive, uint8_t **data, unsigned long *size)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    uint8_t line[32 * 3];

    *data = NULL;
    *size = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, data, size);
    jpeg.image_width = 32;
    jpeg.image_height = 24;
    jpeg.input_components = components;
    jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < 24; y++) {
        JSAMPROW row = line;

        for (int i = 0; i < 32 * components; i++) {
            line[i] = i % components == 0 ? 200 : 60; /* reddish */
        }
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
}

TEST(jpeg_colour_grey_and_progressive, "")
{
    for (int kind = 0; kind < 3; kind++) {
        struct facet_image image;
        struct facet_error err;
        unsigned long size;
        uint8_t *data;

        write_jpeg(kind == 1 ? 1 : 3, kind == 2, &data, &size);
        CHECK_EQ(facet_image_decode(data, size, &image, &err), FACET_OK);
        CHECK_EQ(image.width, 32);
        CHECK_EQ(image.height, 24);
        CHECK(abs(image.rgba[0] - 200) < 5);
        CHECK(abs(image.rgba[1] - (kind == 1 ? 200 : 60)) < 5);
        CHECK_EQ(image.rgba[3], 255);
        facet_image_free(&image);
        for (unsigned long cut = 0; cut < size; cut++) {
            uint8_t *part = malloc(cut + (cut == 0));

            memcpy(part, data, cut);
            CHECK(facet_image_jpeg_decode(part, cut, &image, &err) != FACET_OK || cut + 2 >= size);
            facet_image_free(&image);
            free(part);
        }
        free(data);
    }
}

TEST(unknown_picture_kinds_are_refused, "")
{
    struct facet_image image;
    struct facet_error err;

    CHECK_EQ(facet_image_decode((const uint8_t *)"GIF89a..", 8, &image, &err), FACET_ERR_INPUT);
    CHECK_STR(err.message, "neither PNG nor JPEG");
    CHECK_EQ(facet_image_decode((const uint8_t *)"", 0, &image, &err), FACET_ERR_INPUT);
}

/* ---- in a confined process ---- */

TEST(confined_decoding_gives_the_same, "")
{
    struct facet_image image, plain, confined;
    struct facet_bytes bytes;
    struct facet_error err, there;
    unsigned long size;
    uint8_t *data;

    random_image(&image, 300, 700, false); /* larger than what a socket holds */
    CHECK_EQ(facet_image_png_encode(&image, &bytes, NULL), FACET_OK);
    CHECK_MSG(facet_image_decode_confined(bytes.data, bytes.size, &confined, &err) == FACET_OK,
              "%s",
              err.message);
    CHECK(same(&image, &confined));
    facet_image_free(&confined);
    CHECK_EQ(facet_image_decode(bytes.data, bytes.size - 20, &plain, &err), FACET_ERR_INPUT);
    CHECK_EQ(facet_image_decode_confined(bytes.data, bytes.size - 20, &confined, &there),
             FACET_ERR_INPUT);
    CHECK_STR(there.message, err.message);
    CHECK_EQ(there.where, err.where);
    CHECK(confined.rgba == NULL);
    free(bytes.data);
    facet_image_free(&image);

    write_jpeg(3, true, &data, &size);
    CHECK_EQ(facet_image_decode(data, size, &plain, &err), FACET_OK);
    CHECK_EQ(facet_image_decode_confined(data, size, &confined, &err), FACET_OK);
    CHECK(same(&plain, &confined));
    facet_image_free(&plain);
    facet_image_free(&confined);
    free(data);
}

static size_t put_chunk(uint8_t *to, const char *kind, const uint8_t *body, uint32_t size)
{
    uint32_t sum;

    for (unsigned i = 0; i < 4; i++) {
        to[i] = (uint8_t)(size >> (24 - 8 * i));
    }
    memcpy(to + 4, kind, 4);
    memcpy(to + 8, body, size);
    sum = (uint32_t)crc32(0, to + 4, size + 4);
    for (unsigned i = 0; i < 4; i++) {
        to[8 + size + i] = (uint8_t)(sum >> (24 - 8 * i));
    }
    return 12 + (size_t)size;
}

/* A thousand compressed texts of 15 MiB each: who unpacks them needs minutes of processor time, and
 * the decoder has one. */
TEST(texts_in_a_png_are_not_unpacked, "")
{
    enum { TEXTS = 1000, TEXT_BYTES = 15 << 20 };
    struct facet_image image, back;
    struct facet_bytes bytes;
    struct facet_error err;
    uint8_t *zeros = calloc(1, TEXT_BYTES), *body = malloc(1 << 20), *file, *at;
    uLongf length = (1 << 20) - 3;

    memcpy(body, "t\0\0", 3); /* keyword, end of it, method */
    CHECK_EQ(compress2(body + 3, &length, zeros, TEXT_BYTES, 9), Z_OK);
    random_image(&image, 8, 8, false);
    CHECK_EQ(facet_image_png_encode(&image, &bytes, NULL), FACET_OK);
    file = at = malloc(bytes.size + TEXTS * (length + 15));
    memcpy(at, bytes.data, 33); /* signature and IHDR */
    at += 33;
    for (unsigned i = 0; i < TEXTS; i++) {
        at += put_chunk(at, "zTXt", body, (uint32_t)length + 3);
    }
    memcpy(at, bytes.data + 33, bytes.size - 33);
    at += bytes.size - 33;
    CHECK_MSG(facet_image_decode_confined(file, (size_t)(at - file), &back, &err) == FACET_OK,
              "%s",
              err.message);
    CHECK(same(&image, &back));
    facet_image_free(&image);
    facet_image_free(&back);
    free(bytes.data);
    free(zeros);
    free(body);
    free(file);
}

/* Zeros, compressed so that any number of copies can follow each other. */
static uint32_t squeeze_zeros(uint8_t *to, uint32_t capacity, size_t zeros)
{
    uint8_t *from = calloc(1, zeros);
    z_stream stream = {
        .next_in = from, .avail_in = (uInt)zeros, .next_out = to, .avail_out = capacity};

    CHECK_EQ(deflateInit(&stream, 9), Z_OK);
    CHECK_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    CHECK(stream.avail_out > 0);
    (void)deflateEnd(&stream);
    free(from);
    return capacity - stream.avail_out;
}

/* 8 x 8 black pixels, then the given number of blocks of 64 MiB of zeros in the same compressed
 * data, which has no end of its own. Returns where its last IDAT starts. */
static size_t write_overlong_png(struct facet_bytes *file, unsigned blocks, uint8_t interlace)
{
    static uint8_t block[1 << 17];
    const uint8_t header[13] = {0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, interlace};
    const uint32_t size = squeeze_zeros(block, sizeof block, 64 << 20);
    uint8_t *at = malloc(100 + (size_t)blocks * (size + 12));
    size_t last = 0;

    file->data = at;
    memcpy(at, "\x89PNG\r\n\x1A\n", 8);
    at += 8;
    at += put_chunk(at, "IHDR", header, sizeof header);
    for (unsigned i = 0; i < blocks; i++) {
        const unsigned skip = i == 0 ? 0 : 2; /* the head of the compressed data stands once */

        last = (size_t)(at - file->data);
        at += put_chunk(at, "IDAT", block + skip, size - skip);
    }
    at += put_chunk(at, "tEXt", (const uint8_t *)"k\0v", 3);
    at += put_chunk(at, "IEND", header, 0);
    file->size = (size_t)(at - file->data);
    return last;
}

/* 125 GiB behind the rows: who inflates them uses more than the decoder's minute. */
TEST(data_behind_the_rows_of_a_png_is_not_unpacked, "")
{
    for (uint8_t interlace = 0; interlace < 2; interlace++) {
        struct facet_image back;
        struct facet_error err = {0};
        struct facet_bytes file;

        (void)write_overlong_png(&file, 2000, interlace);
        CHECK_MSG(facet_image_decode_confined(file.data, file.size, &back, &err) == FACET_OK,
                  "%s",
                  err.message);
        CHECK(back.width == 8 && back.rgba[4 * 63] == 0 && back.rgba[4 * 63 + 3] == 255);
        facet_image_free(&back);
        free(file.data);
    }
}

/* What is not unpacked is checked all the same. */
TEST(the_end_of_a_png_is_checked, "")
{
    struct facet_image back;
    struct facet_error err = {0};
    struct facet_bytes file;
    size_t last = write_overlong_png(&file, 3, 0);

    CHECK_EQ(facet_image_png_decode(file.data, file.size, &back, &err), FACET_OK);
    facet_image_free(&back);
    for (size_t cut = 1; cut <= 12 + 15 + 12; cut++) {
        CHECK_EQ(facet_image_png_decode(file.data, file.size - cut, &back, &err), FACET_ERR_INPUT);
    }
    CHECK(strstr(err.message, "the file ends too early") != NULL);
    file.data[last + 100] ^= 1;
    CHECK_EQ(facet_image_png_decode(file.data, file.size, &back, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "checksum") != NULL);
    CHECK_EQ(err.where, last);
    file.data[last + 100] ^= 1;
    memcpy(file.data + last + 4, "XDAT", 4);
    CHECK_EQ(facet_image_png_decode(file.data, file.size, &back, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "unexpected chunk") != NULL);
    free(file.data);
}

/* ---- float formats, read by small readers of our own ---- */

static void gradient(struct facet_image_f *image, uint32_t width, uint32_t height)
{
    CHECK_EQ(facet_image_f_create(image, width, height, NULL), FACET_OK);
    for (size_t i = 0; i < 3 * (size_t)width * height; i++) {
        image->rgb[i] = (float)i * 0.37F - 3.0F;
    }
    image->rgb[0] = 1e30F;
}

TEST(pfm_is_bottom_up_and_little_endian, "")
{
    struct facet_image_f image;
    struct facet_bytes bytes;
    unsigned width, height;
    float scale;
    int head = 0;

    gradient(&image, 5, 3);
    CHECK_EQ(facet_image_pfm_encode(&image, &bytes, NULL), FACET_OK);
    CHECK_EQ(sscanf((char *)bytes.data, "PF %u %u %f%n", &width, &height, &scale, &head), 3);
    CHECK(width == 5 && height == 3 && scale == -1.0F);
    head++;
    CHECK_EQ(bytes.size, (size_t)head + 5 * 3 * 12);
    CHECK(memcmp(bytes.data + head, image.rgb + 2 * 15, 60) == 0);
    CHECK(memcmp(bytes.data + head + 120, image.rgb, 60) == 0);
    free(bytes.data);
    facet_image_f_free(&image);
}

static uint32_t le32(const uint8_t *at)
{
    return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Finds an attribute's value, and the end of the header in *end. */
static const uint8_t *exr_attribute(const uint8_t *file, const char *wanted, const uint8_t **end)
{
    const uint8_t *at = file + 8, *found = NULL;

    while (*at != 0) {
        const char *name = (const char *)at;
        const char *type = name + strlen(name) + 1;
        const uint8_t *value = (const uint8_t *)type + strlen(type) + 5;

        if (strcmp(name, wanted) == 0) {
            found = value;
        }
        at = value + le32(value - 4);
    }
    *end = at + 1;
    return found;
}

/* Undoes ZIP: inflate, add up, interleave. */
static void exr_block(const uint8_t *from, size_t packed, uint8_t *to, size_t size)
{
    uint8_t *buffer = malloc(size);
    uLongf length = size;

    if (packed == size) {
        memcpy(to, from, size);
    } else {
        CHECK_EQ(uncompress(buffer, &length, from, packed), Z_OK);
        CHECK_EQ(length, size);
        for (size_t i = 1; i < size; i++) {
            buffer[i] = (uint8_t)(buffer[i - 1] + buffer[i] - 128);
        }
        for (size_t i = 0; i < size; i++) {
            to[i] = buffer[i % 2 == 0 ? i / 2 : (size + 1) / 2 + i / 2];
        }
    }
    free(buffer);
}

static void check_exr(uint32_t width, uint32_t height, bool noise)
{
    struct facet_image_f image;
    struct facet_bytes bytes;
    const uint8_t *at, *window, *channels;
    uint8_t *lines = malloc(12 * (size_t)width * 16);
    uint32_t blocks = (height + 15) / 16;

    gradient(&image, width, height);
    for (size_t i = 0; noise && i < 3 * (size_t)width * height; i++) {
        uint32_t bits = (uint32_t)harness_random();

        memcpy(&image.rgb[i], &bits, 4);
    }
    CHECK_EQ(facet_image_exr_encode(&image, &bytes, NULL), FACET_OK);
    CHECK_EQ(le32(bytes.data), 20000630);
    CHECK_EQ(le32(bytes.data + 4), 2);
    window = exr_attribute(bytes.data, "dataWindow", &at);
    CHECK(window != NULL && le32(window + 8) == width - 1 && le32(window + 12) == height - 1);
    channels = exr_attribute(bytes.data, "channels", &at);
    CHECK(channels != NULL && channels[0] == 'B' && channels[18] == 'G' && channels[36] == 'R' &&
          channels[54] == 0);
    CHECK(exr_attribute(bytes.data, "compression", &at)[0] == 3);
    for (uint32_t block = 0; block < blocks; block++) {
        const uint8_t *chunk = bytes.data + le32(at + 8 * (size_t)block);
        uint32_t rows = height - 16 * block < 16 ? height - 16 * block : 16;

        CHECK_EQ(le32(chunk), 16 * block);
        exr_block(chunk + 8, le32(chunk + 4), lines, 12 * (size_t)width * rows);
        for (uint32_t y = 0; y < rows; y++) {
            for (uint32_t x = 0; x < width; x++) {
                for (uint32_t c = 0; c < 3; c++) {
                    size_t from = 12 * (size_t)width * y + 4 * ((size_t)(2 - c) * width + x);
                    size_t to = 3 * ((size_t)(16 * block + y) * width + x) + c;

                    CHECK(memcmp(lines + from, &image.rgb[to], 4) == 0);
                }
            }
        }
    }
    free(lines);
    free(bytes.data);
    facet_image_f_free(&image);
}

TEST(exr_is_read_back, "")
{
    check_exr(7, 5, false);
    check_exr(33, 40, false);
    check_exr(16, 16, true); /* does not shrink: stored */
}

TEST(float_files_by_name, "")
{
    struct facet_image_f image;
    struct facet_error err;

    gradient(&image, 2, 2);
    CHECK_EQ(facet_image_f_write("/tmp/facet_test.tiff", &image, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_image_f_write("/tmp/facet_test_image.EXR", &image, &err), FACET_OK);
    CHECK_EQ(unlink("/tmp/facet_test_image.EXR"), 0);
    facet_image_f_free(&image);
}
