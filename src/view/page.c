/* See page.h. */
#define _GNU_SOURCE /* memmem */
#include "view/page.h"

#include "base/strbuf.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MOST_PAGE ((size_t)64 << 20)
#define MOST_INPUT ((size_t)1 << 30) /* zlib counts in 32 bits; no browser's tab would take it */
enum { PATH_ROOM = 4096 };

static const char mark[] = "<!--facet-input-->";
static const char before[] = "<script type=\"application/json\" id=\"facet-input\">";
static const char after[] = "</script>";

/* ---- where the page is ---- */

static bool beside_program(const char *rest, char path[PATH_ROOM])
{
    char self[PATH_ROOM];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    return slash != NULL &&
           snprintf(path, PATH_ROOM, "%.*s/%s", (int)(slash - self), self, rest) < PATH_ROOM &&
           access(path, R_OK) == 0;
}

enum facet_status view_page_read(struct facet_bytes *out, struct facet_error *err)
{
    const char *given = getenv("FACET_PAGE");
    char path[PATH_ROOM];

    if (given != NULL && *given != '\0') {
        return facet_file_read(given, MOST_PAGE, out, err);
    }
    if (beside_program("web/page.html", path) || beside_program("../share/facet/page.html", path)) {
        return facet_file_read(path, MOST_PAGE, out, err);
    }
    return facet_fail(err,
                      FACET_ERR_IO,
                      0,
                      "the page is not there: expected web/page.html beside the program (`make "
                      "web` writes it), ../share/facet/page.html, or the file that FACET_PAGE "
                      "names");
}

/* ---- the input as text ---- */

static enum facet_status
gzip(const uint8_t *bytes, size_t size, struct facet_bytes *out, struct facet_error *err)
{
    z_stream z = {.next_in = (z_const Bytef *)bytes, .avail_in = (uInt)size};
    int result;

    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    out->size = deflateBound(&z, (uLong)size);
    out->data = malloc(out->size);
    if (out->data == NULL) {
        (void)deflateEnd(&z);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    z.next_out = out->data;
    z.avail_out = (uInt)out->size;
    result = deflate(&z, Z_FINISH);
    out->size = z.total_out;
    (void)deflateEnd(&z);
    return result == Z_STREAM_END ? FACET_OK
                                  : facet_fail(err, FACET_ERR_INTERNAL, 0, "zlib: %d", result);
}

static void base64(const uint8_t *bytes, size_t size, struct facet_strbuf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    if (!facet_strbuf_reserve(out, (size + 2) / 3 * 4)) {
        return;
    }
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t word = (uint32_t)bytes[i] << 16 |
                              (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0);
        const char four[4] = {digits[word >> 18],
                              digits[word >> 12 & 63],
                              left > 1 ? digits[word >> 6 & 63] : '=',
                              left > 2 ? digits[word & 63] : '='};

        facet_strbuf_add(out, four, sizeof four);
    }
}

/* A name and the members of `made` (NULL: none), as the beginning of an object that still lacks
 * `data`. A name may hold anything, also the end of a script: JSON can spell "<" in another way. */
static enum facet_status
head(const char *name, const json_t *made, struct facet_strbuf *out, struct facet_error *err)
{
    json_t *object = json_object();
    enum facet_status status;
    char *text;
    size_t size;

    (void)json_object_set_new(object, "name", facet_json_name(name));
    if (made != NULL) {
        (void)json_object_update(object, (json_t *)made);
    }
    status = facet_json_compact(object, &text, &size, err);
    json_decref(object);
    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = 0; i + 1 < size; i++) { /* all but the brace at the end */
        if (text[i] == '<') {
            facet_strbuf_puts(out, "\\u003c");
        } else {
            facet_strbuf_putc(out, text[i]);
        }
    }
    free(text);
    return FACET_OK;
}

/* `,"data":"..."}` */
static enum facet_status
tail(const uint8_t *bytes, size_t size, struct facet_strbuf *out, struct facet_error *err)
{
    struct facet_bytes packed = {NULL, 0};
    enum facet_status status = gzip(bytes, size, &packed, err);

    facet_strbuf_puts(out, ",\"data\":\"");
    if (status == FACET_OK) {
        base64(packed.data, packed.size, out);
    }
    facet_strbuf_puts(out, "\"}");
    free(packed.data);
    return status;
}

static enum facet_status
others(const struct view_input *input, struct facet_strbuf *out, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    facet_strbuf_puts(out, input->beside_count > 0 ? ",\"beside\":[" : "");
    for (size_t i = 0; i < input->beside_count && status == FACET_OK; i++) {
        const struct view_beside *one = &input->beside[i];

        facet_strbuf_puts(out, i > 0 ? "," : "");
        status = head(one->name, NULL, out, err);
        if (status == FACET_OK) {
            status = tail(one->file.data, one->file.size, out, err);
        }
    }
    facet_strbuf_puts(out, input->beside_count > 0 ? "]" : "");
    return status;
}

static uint64_t size_of(const struct view_input *input)
{
    uint64_t size = input->size;

    for (size_t i = 0; i < input->beside_count; i++) {
        size += input->beside[i].file.size;
    }
    return size;
}

enum facet_status view_page_fill(const struct facet_bytes *page,
                                 const struct view_input *input,
                                 struct facet_bytes *out,
                                 struct facet_error *err)
{
    const char *at = memmem(page->data, page->size, mark, sizeof mark - 1);
    struct facet_strbuf text;
    enum facet_status status;

    if (at == NULL) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "the page has no %s: expected one that `make web` wrote",
                          mark);
    }
    if (size_of(input) > MOST_INPUT) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "%s: %llu bytes for the page, expected at most %zu",
                          input->name,
                          (unsigned long long)size_of(input),
                          MOST_INPUT);
    }
    facet_strbuf_init(&text);
    facet_strbuf_add(&text, (const char *)page->data, (size_t)(at - (const char *)page->data));
    facet_strbuf_puts(&text, before);
    status = head(input->name, input->made, &text, err);
    if (status == FACET_OK) {
        status = others(input, &text, err);
    }
    if (status == FACET_OK) {
        status = tail(input->bytes, input->size, &text, err);
    }
    if (status == FACET_OK) {
        const char *rest = at + sizeof mark - 1;

        facet_strbuf_puts(&text, after);
        facet_strbuf_add(&text, rest, page->size - (size_t)(rest - (const char *)page->data));
        if (text.failed) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the page");
        }
    }
    if (status != FACET_OK) {
        facet_strbuf_free(&text);
        return status;
    }
    *out = (struct facet_bytes){(uint8_t *)text.text, text.length};
    return FACET_OK;
}
