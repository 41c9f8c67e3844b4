/* A PNG writer of our own for the textures inside generated scenes. zlib's output differs between
 * its versions and forks, and generated scenes must have the same bytes on every host: so one
 * deflate block with the fixed codes (RFC 1951, 3.2.6) and a greedy match finder that remembers one
 * position per hash. Checker boards and gradients shrink to a few percent, which is all it is for.
 */
#include "image/image.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HASH_BITS 15U
#define WINDOW 32768U
#define MIN_MATCH 3U
#define MAX_MATCH 258U

struct bits {
    uint8_t *data;
    size_t size; /* bytes complete */
    uint32_t hold;
    unsigned held;
};

/* Low bits first. The buffer is sized for the worst case beforehand. */
static void put_bits(struct bits *b, uint32_t value, unsigned count)
{
    b->hold |= value << b->held;
    b->held += count;
    while (b->held >= 8) {
        b->data[b->size++] = (uint8_t)b->hold;
        b->hold >>= 8;
        b->held -= 8;
    }
}

/* Huffman codes go in with their top bit first. */
static void put_code(struct bits *b, uint32_t code, unsigned length)
{
    uint32_t reversed = 0;

    for (unsigned i = 0; i < length; i++) {
        reversed |= ((code >> i) & 1U) << (length - 1 - i);
    }
    put_bits(b, reversed, length);
}

static void put_symbol(struct bits *b, unsigned symbol)
{
    if (symbol < 144) {
        put_code(b, 0x30 + symbol, 8);
    } else if (symbol < 256) {
        put_code(b, 0x190 + symbol - 144, 9);
    } else if (symbol < 280) {
        put_code(b, symbol - 256, 7);
    } else {
        put_code(b, 0xC0 + symbol - 280, 8);
    }
}

/* Lengths and distances share one scheme: the first codes stand for one value each, then every
 * group of `group` codes gets one more extra bit than the group before. */
static unsigned find_code(unsigned value, unsigned group, unsigned *extra, unsigned *rest)
{
    unsigned code = 0, base = 0;

    for (;;) {
        *extra = code < 2 * group ? 0 : code / group - 1;
        if (value < base + (1U << *extra)) {
            *rest = value - base;
            return code;
        }
        base += 1U << *extra;
        code++;
    }
}

static void put_match(struct bits *b, unsigned length, unsigned distance)
{
    unsigned extra, rest, code;

    if (length == MAX_MATCH) {
        put_symbol(b, 285); /* the one length outside the scheme */
    } else {
        code = find_code(length - MIN_MATCH, 4, &extra, &rest);
        put_symbol(b, 257 + code);
        put_bits(b, rest, extra);
    }
    code = find_code(distance - 1, 2, &extra, &rest);
    put_code(b, code, 5);
    put_bits(b, rest, extra);
}

static unsigned match_length(const uint8_t *a, const uint8_t *b, size_t limit)
{
    unsigned length = 0;
    unsigned most = limit < MAX_MATCH ? (unsigned)limit : MAX_MATCH;

    while (length < most && a[length] == b[length]) {
        length++;
    }
    return length;
}

static uint32_t hash3(const uint8_t *at)
{
    uint32_t value = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;

    return (value * 0x9E3779B1U) >> (32 - HASH_BITS);
}

/* `last` holds position + 1 per hash, zero for none. */
static void deflate_fixed(struct bits *b, const uint8_t *raw, size_t size, size_t *last)
{
    size_t at = 0;

    put_bits(b, 1, 1); /* final block */
    put_bits(b, 1, 2); /* fixed codes */
    while (at < size) {
        unsigned length = 0;
        size_t from = 0;

        if (size - at >= MIN_MATCH) {
            size_t *slot = &last[hash3(raw + at)];

            from = *slot;
            *slot = at + 1;
            if (from != 0 && at - (from - 1) <= WINDOW) {
                length = match_length(raw + from - 1, raw + at, size - at);
            }
        }
        if (length >= MIN_MATCH) {
            put_match(b, length, (unsigned)(at - (from - 1)));
            at += length;
        } else {
            put_symbol(b, raw[at++]);
        }
    }
    put_symbol(b, 256);
    put_bits(b, 0, (8 - b->held) & 7);
}

static uint32_t adler32_of(const uint8_t *data, size_t size)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < size; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xFFFFFFFF;

    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1)));
        }
    }
    return ~crc;
}

static void store_be32(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 24);
    to[1] = (uint8_t)(value >> 16);
    to[2] = (uint8_t)(value >> 8);
    to[3] = (uint8_t)value;
}

/* Length, type, body (already in place, or copied when `body` is given), checksum; returns the end.
 */
static uint8_t *put_chunk(uint8_t *to, const char *type, const uint8_t *body, size_t size)
{
    store_be32(to, (uint32_t)size);
    memcpy(to + 4, type, 4);
    if (body != NULL) {
        memcpy(to + 8, body, size);
    }
    store_be32(to + 8 + size, crc32_of(to + 4, size + 4));
    return to + 12 + size;
}

/* Rows with filter byte 0, RGB or RGBA. */
static size_t gather_rows(const struct facet_image *image, unsigned channels, uint8_t *raw)
{
    uint8_t *to = raw;

    for (uint32_t y = 0; y < image->height; y++) {
        *to++ = 0;
        for (uint32_t x = 0; x < image->width; x++, to += channels) {
            memcpy(to, facet_image_at(image, x, y), channels);
        }
    }
    return (size_t)(to - raw);
}

static unsigned channels_needed(const struct facet_image *image)
{
    size_t count = (size_t)image->width * image->height;

    for (size_t i = 0; i < count; i++) {
        if (image->rgba[4 * i + 3] != 255) {
            return 4;
        }
    }
    return 3;
}

enum facet_status facet_image_png_encode_plain(const struct facet_image *image,
                                               struct facet_bytes *out,
                                               struct facet_error *err)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    unsigned channels = channels_needed(image);
    size_t raw_size = ((size_t)image->width * channels + 1) * image->height;
    /* Nine bits per byte is the worst case of the fixed codes. */
    size_t most = raw_size + raw_size / 8 + 64;
    uint8_t *raw = malloc(raw_size), *data = malloc(most + 128), *at = data;
    size_t *last = calloc((size_t)1 << HASH_BITS, sizeof *last);
    uint8_t header[13] = {0};

    out->data = NULL;
    out->size = 0;
    if (raw == NULL || data == NULL || last == NULL) {
        free(raw);
        free(data);
        free(last);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "PNG: out of memory");
    }
    (void)gather_rows(image, channels, raw);
    memcpy(at, signature, 8);
    store_be32(header, image->width);
    store_be32(header + 4, image->height);
    header[8] = 8;
    header[9] = channels == 4 ? 6 : 2;
    at = put_chunk(at + 8, "IHDR", header, sizeof header);
    {
        struct bits b = {.data = at + 8};

        put_bits(&b, 0x78, 8);
        put_bits(&b, 0x01, 8);
        deflate_fixed(&b, raw, raw_size, last);
        store_be32(b.data + b.size, adler32_of(raw, raw_size));
        at = put_chunk(at, "IDAT", NULL, b.size + 4);
    }
    at = put_chunk(at, "IEND", NULL, 0);
    *at = 0;
    free(raw);
    free(last);
    out->data = data;
    out->size = (size_t)(at - data);
    return FACET_OK;
}
