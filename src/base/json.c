/* See json.h. */
#include "base/json.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum facet_status facet_json_parse(
    const char *name, const void *text, size_t size, json_t **out, struct facet_error *err)
{
    json_error_t complaint;

    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &complaint);
    if (*out != NULL) {
        return FACET_OK;
    }
    if (json_error_code(&complaint) == json_error_out_of_memory) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
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

enum facet_status
facet_json_text(const json_t *value, char **text, size_t *size, struct facet_error *err)
{
    size_t flags = JSON_INDENT(2) | JSON_ENCODE_ANY;
    size_t length;
    char *buffer;

    *text = NULL;
    *size = 0;
    /* Sized first and filled second, because jansson has no room for the newline at the end. */
    length = value != NULL ? json_dumpb(value, NULL, 0, flags) : 0;
    buffer = length != 0 ? malloc(length + 2) : NULL;
    if (buffer == NULL || json_dumpb(value, buffer, length, flags) != length) {
        free(buffer);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory while writing JSON");
    }
    buffer[length] = '\n';
    buffer[length + 1] = '\0';
    *text = buffer;
    *size = length + 1;
    return FACET_OK;
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

static bool parse_u64(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    size_t length = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    unsigned long long value;

    /* strtoull alone would take signs and spaces. */
    if (length == 0 || digits[length] != '\0') {
        return false;
    }
    errno = 0;
    value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno != 0) {
        return false;
    }
    *out = value;
    return true;
}

bool facet_json_to_u64(const json_t *value, uint64_t *out)
{
    if (json_is_string(value)) {
        return json_string_length(value) == strlen(json_string_value(value)) &&
               parse_u64(json_string_value(value), out);
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return false;
    }
    *out = (uint64_t)json_integer_value(value);
    return true;
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
