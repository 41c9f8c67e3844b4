/* See json.h. */
#include "json/json.h"

#include "base/file.h"
#include "base/plain.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ----
 *
 * Values are built by hundreds of calls whose NULL is not checked, and jansson's parser loses the
 * bytes for which it finds no room. So every allocation of jansson passes through here: one that
 * fails leaves a mark, and the function that hands a value out checks the mark. A value is built
 * and handed out by one thread, hence the mark is the thread's own. */

/* What jansson used before: the host's functions, where the host has set some. */
static json_malloc_t next_malloc;
static json_free_t next_free;

static _Thread_local bool short_of_memory;
/* Given out when nothing else is left; there is one while a text is parsed. */
static _Thread_local struct {
    uint8_t *bytes;
    size_t size, used;
} reserve;

static void *take_from_reserve(size_t size)
{
    void *memory = NULL;

    if (size <= reserve.size - reserve.used) {
        memory = reserve.bytes + reserve.used;
        reserve.used += (size + 15) / 16 * 16;
    }
    return memory;
}

static void *noting_malloc(size_t size)
{
    void *memory = next_malloc(size);

    if (memory != NULL) {
        return memory;
    }
    short_of_memory = true;
    return take_from_reserve(size);
}

static void noting_free(void *memory)
{
    if ((uintptr_t)memory - (uintptr_t)reserve.bytes >= reserve.size) {
        next_free(memory);
    }
}

/* Before main, so that no value is older and no thread sees the change. */
__attribute__((constructor)) static void watch_allocations(void)
{
    json_get_alloc_funcs(&next_malloc, &next_free);
    json_set_alloc_funcs(noting_malloc, noting_free);
}

bool facet_json_ran_short(void)
{
    bool was = short_of_memory;

    short_of_memory = false;
    return was;
}

/* ---- reading ---- */

/* jansson asks for the text piece by piece. It gets small ones, and none after the mark: what it
 * may still need then is room for the token at hand, at most twice its length, for copies of it as
 * a key and as a value, and for the values of one piece, each byte of which can begin an array. */
enum { PIECE = 64, PER_PIECE = PIECE * 256 };

struct source {
    const char *text;
    size_t left;
};

static size_t next_piece(void *buffer, size_t size, void *context)
{
    struct source *source = context;
    size_t most = size < PIECE ? size : PIECE;
    size_t count = short_of_memory ? 0 : source->left < most ? source->left : most;

    if (count != 0) {
        memcpy(buffer, source->text, count);
        source->text += count;
        source->left -= count;
    }
    return count;
}

static bool open_reserve(size_t text_size)
{
    size_t size = text_size <= SIZE_MAX / 8 ? 4 * text_size + PER_PIECE : 0;

    reserve.bytes = size != 0 ? malloc(size) : NULL;
    reserve.size = reserve.bytes != NULL ? (size & ~(size_t)15) : 0;
    reserve.used = 0;
    return reserve.bytes != NULL;
}

static void close_reserve(void)
{
    free(reserve.bytes);
    memset(&reserve, 0, sizeof reserve);
}

enum facet_status facet_json_parse(
    const char *name, const void *text, size_t size, json_t **out, struct facet_error *err)
{
    struct source source = {text, size};
    bool earlier = facet_json_ran_short(), failed = !open_reserve(size);
    json_error_t complaint;

    *out = NULL;
    if (!failed) {
        *out = json_load_callback(next_piece, &source, JSON_REJECT_DUPLICATES, &complaint);
        failed = short_of_memory;
    }
    if (failed) {
        json_decref(*out);
        *out = NULL;
    }
    close_reserve();
    short_of_memory = earlier; /* of a value that is still being built */
    if (failed) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
    }
    if (*out != NULL) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      complaint.line > 0 ? (uint64_t)complaint.line : 0,
                      "%s:%d:%d: %s",
                      name,
                      complaint.line,
                      complaint.column,
                      complaint.text);
}

enum facet_status
facet_json_read(const char *path, size_t limit, json_t **out, struct facet_error *err)
{
    struct facet_bytes file;
    enum facet_status status = facet_file_read(path, limit, &file, err);

    *out = NULL;
    if (status != FACET_OK) {
        return status;
    }
    status = facet_json_parse(path, file.data, file.size, out, err);
    free(file.data);
    return status;
}

/* ---- writing ---- */

/* `length` bytes of text and a NUL, and room for one byte in between; NULL when memory is short. */
static char *dump(const json_t *value, size_t flags, size_t *length)
{
    char *buffer;
    bool whole;

    /* Sized first and filled second, because jansson has no room for what follows the text. */
    *length = value != NULL ? json_dumpb(value, NULL, 0, flags) : 0;
    buffer = *length != 0 ? malloc(*length + 2) : NULL;
    whole = buffer != NULL && json_dumpb(value, buffer, *length, flags) == *length;
    if (facet_json_ran_short() || !whole) {
        free(buffer);
        return NULL;
    }
    buffer[*length] = '\0';
    return buffer;
}

static enum facet_status no_room(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory while writing JSON");
}

enum facet_status
facet_json_text(const json_t *value, char **text, size_t *size, struct facet_error *err)
{
    *text = dump(value, JSON_INDENT(2) | JSON_ENCODE_ANY, size);
    if (*text == NULL) {
        *size = 0;
        return no_room(err);
    }
    (*text)[(*size)++] = '\n';
    (*text)[*size] = '\0';
    return FACET_OK;
}

enum facet_status
facet_json_compact(const json_t *value, char **text, size_t *size, struct facet_error *err)
{
    *text = dump(value, JSON_COMPACT | JSON_REAL_PRECISION(9), size);
    return *text != NULL ? FACET_OK : no_room(err);
}

enum facet_status facet_json_write(const char *path, const json_t *value, struct facet_error *err)
{
    char *text;
    size_t size;
    enum facet_status status = facet_json_text(value, &text, &size, err);

    if (status != FACET_OK) {
        (void)facet_fail_in(err, path);
        return status;
    }
    status = facet_file_write(path, text, size, err);
    free(text);
    return status;
}

json_t *facet_json_hex(uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof text, "0x%" PRIx64, value);
    return json_string(text);
}

json_t *facet_json_name(const char *text)
{
    json_t *value = json_string(text);
    size_t left = strlen(text), used;
    struct facet_strbuf spelled;

    if (value != NULL) {
        return value;
    }
    facet_strbuf_init(&spelled);
    for (; left > 0; text += used, left -= used) {
        char shown[FACET_PLAIN_MOST];
        size_t length = facet_plain_char(text, left, shown, &used);

        facet_strbuf_add(&spelled, shown, length);
    }
    short_of_memory |= spelled.failed;
    value = json_string(facet_strbuf_text(&spelled));
    facet_strbuf_free(&spelled);
    return value;
}

/* The member, or NULL with the complaint written. */
static const json_t *member(const json_t *object, const char *key, struct facet_error *err)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_object(object)) {
        (void)facet_fail(err, FACET_ERR_INPUT, 0, "expected an object with the key \"%s\"", key);
    } else if (value == NULL) {
        (void)facet_fail(err, FACET_ERR_INPUT, 0, "the key \"%s\" is missing", key);
    }
    return value;
}

enum facet_status facet_json_get_u64(
    const json_t *object, const char *key, uint64_t max, uint64_t *out, struct facet_error *err)
{
    const json_t *value = member(object, key, err);
    uint64_t number;

    if (value == NULL) {
        return FACET_ERR_INPUT;
    }
    if (!facet_json_to_u64(value, &number) || number > max) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "\"%s\": expected a number in 0..%" PRIu64
                          " (an integer or a \"0x...\" string)",
                          key,
                          max);
    }
    *out = number;
    return FACET_OK;
}

enum facet_status facet_json_get_string(const json_t *object,
                                        const char *key,
                                        const char **out,
                                        struct facet_error *err)
{
    const json_t *value = member(object, key, err);

    if (value == NULL) {
        return FACET_ERR_INPUT;
    }
    if (!json_is_string(value)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "\"%s\": expected a string", key);
    }
    *out = json_string_value(value);
    return FACET_OK;
}

enum facet_status facet_json_get_array(const json_t *object,
                                       const char *key,
                                       const json_t **out,
                                       struct facet_error *err)
{
    const json_t *value = member(object, key, err);

    if (value == NULL) {
        return FACET_ERR_INPUT;
    }
    if (!json_is_array(value)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "\"%s\": expected an array", key);
    }
    *out = value;
    return FACET_OK;
}
