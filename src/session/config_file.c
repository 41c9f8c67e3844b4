/* See config_file.h. */
#include "session/config_file.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "json/json.h"

#include <ctype.h>
#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 16, KEYS_LIMIT = 64, KEY_LIMIT = 32, VALUE_LIMIT = 200 };

/* What was read so far. */
struct list {
    const char *path;
    struct facet_error *err;
    char name[KEY_LIMIT]; /* of `configuration`, or empty */
    struct {
        char key[KEY_LIMIT];
        char value[VALUE_LIMIT];
    } keys[KEYS_LIMIT];
    size_t count;
};

static bool ends_in(const char *text, const char *end)
{
    return strlen(text) > strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

bool session_config_is_file(const char *argument)
{
    return ends_in(argument, ".toml") || ends_in(argument, ".json");
}

/* `line` 0: there is none to name. */
static enum facet_status refuse(const struct list *l, unsigned line, const char *what)
{
    return line != 0
               ? facet_fail(l->err, FACET_ERR_INPUT, line, "%s: line %u: %s", l->path, line, what)
               : facet_fail(l->err, FACET_ERR_INPUT, 0, "%s: %s", l->path, what);
}

static void print(const struct list *l, struct facet_strbuf *out)
{
    facet_strbuf_puts(out, l->name[0] != '\0' ? l->name : "full");
    for (size_t i = 0; i < l->count; i++) {
        facet_strbuf_printf(out, ",%s=%s", l->keys[i].key, l->keys[i].value);
    }
}

/* Whether all that was read so far is a configuration. */
static enum facet_status check(const struct list *l, unsigned line)
{
    struct facet_strbuf text;
    struct facet_error err = {0};
    enum facet_status status;

    facet_strbuf_init(&text);
    print(l, &text);
    status = text.failed ? facet_fail(l->err, FACET_ERR_MEMORY, 0, "out of memory")
                         : facet_xphmg_configuration_check(text.text, &err);
    if (!text.failed && status != FACET_OK) {
        status = refuse(l, line, err.message);
    }
    facet_strbuf_free(&text);
    return status;
}

static enum facet_status add(struct list *l, unsigned line, const char *key, const char *value)
{
    const bool name = strcmp(key, "configuration") == 0;

    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->keys[i].key, key) == 0) {
            return refuse(l, line, "a key that stands above already");
        }
    }
    if (strlen(key) >= KEY_LIMIT || strlen(value) >= (name ? KEY_LIMIT : VALUE_LIMIT)) {
        return refuse(l, line, "a key or value that is too long");
    }
    if (value[0] == '\0' || strpbrk(value, ",=") != NULL || strpbrk(key, ",=") != NULL) {
        return refuse(l, line, "expected a key and one value without , and =");
    }
    if (name) {
        if (l->name[0] != '\0' || l->count != 0) {
            return refuse(l, line, "expected configuration once, before all other keys");
        }
        memcpy(l->name, value, strlen(value) + 1);
    } else {
        if (l->count == KEYS_LIMIT) {
            return refuse(l, line, "more than 64 keys");
        }
        memcpy(l->keys[l->count].key, key, strlen(key) + 1);
        memcpy(l->keys[l->count].value, value, strlen(value) + 1);
        l->count++;
    }
    return check(l, line);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static enum facet_status
parse_json(struct list *l, const char *text, size_t size, struct facet_error *err)
{
    json_t *root = NULL, *value;
    const char *key;
    enum facet_status status = facet_json_parse(l->path, text, size, &root, err);

    if (status == FACET_OK && !json_is_object(root)) {
        status = refuse(l, 0, "expected an object of keys");
    }
    value = status == FACET_OK ? json_object_get(root, "configuration") : NULL;
    if (value != NULL) { /* wherever it stands */
        status = json_is_string(value) ? add(l, 0, "configuration", json_string_value(value))
                                       : refuse(l, 0, "configuration: expected a text");
    }
    if (status == FACET_OK) {
        json_object_foreach(root, key, value)
        {
            char number[32];
            const char *written = json_string_value(value);

            if (strcmp(key, "configuration") == 0) {
                continue;
            }
            if (json_is_integer(value)) {
                (void)snprintf(
                    number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
                written = number;
            }
            status = written != NULL ? add(l, 0, key, written)
                                     : facet_fail(err,
                                                  FACET_ERR_INPUT,
                                                  0,
                                                  "%s: %.40s: expected a text or a whole number",
                                                  l->path,
                                                  key);
            if (status != FACET_OK) {
                break;
            }
        }
    }
    json_decref(root);
    return status;
}

/* ---- TOML -------------------------------------------------------------------------------------
 */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Copies a number without the _ between digits; its length in the text, 0 when it is none. */
static size_t read_number(const char *at, char *value)
{
    const char *digits = strncmp(at, "0x", 2) == 0 ? "0123456789abcdefABCDEF_" : "0123456789_";
    size_t start = strncmp(at, "0x", 2) == 0 ? 2 : 0, length = start + strspn(at + start, digits);
    size_t used = 0;

    if (length == start || length >= VALUE_LIMIT || at[start] == '_' || at[length - 1] == '_') {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        if (at[i] != '_') {
            value[used++] = at[i];
        }
    }
    value[used] = '\0';
    return length;
}

/* The value at `at`; what stands behind it, or NULL. */
static const char *read_value(const char *at, char *value)
{
    const char *end;

    if (*at != '"' && *at != '\'') {
        size_t length = read_number(at, value);

        return length != 0 ? at + length : NULL;
    }
    end = strchr(at + 1, *at);
    if (end == NULL || (size_t)(end - at) > VALUE_LIMIT ||
        memchr(at, '\\', (size_t)(end - at)) != NULL) {
        return NULL;
    }
    memcpy(value, at + 1, (size_t)(end - at - 1));
    value[end - at - 1] = '\0';
    return end + 1;
}

static enum facet_status parse_line(struct list *l, unsigned line, const char *text)
{
    const char *at = skip_blanks(text), *end = at;
    char key[KEY_LIMIT] = "", value[VALUE_LIMIT + 1] = "";

    if (*at == '\0' || *at == '#') {
        return FACET_OK;
    }
    if (*at == '[') {
        return refuse(l, line, "expected key = value, tables are not read");
    }
    while (isalnum((unsigned char)*end) || *end == '_' || *end == '-') {
        end++;
    }
    if (end == at || end - at >= KEY_LIMIT) {
        return refuse(l, line, "expected key = value");
    }
    memcpy(key, at, (size_t)(end - at));
    at = skip_blanks(end);
    if (*at != '=') {
        return refuse(l, line, "expected = behind the key");
    }
    at = read_value(skip_blanks(at + 1), value);
    if (at == NULL) {
        return refuse(l, line, "expected a number, or a text in quotation marks");
    }
    at = skip_blanks(at);
    if (*at != '\0' && *at != '#') {
        return refuse(l, line, "expected the end of the line behind the value");
    }
    return add(l, line, key, value);
}

static enum facet_status parse_toml(struct list *l, const char *text, size_t size)
{
    enum facet_status status = FACET_OK;
    unsigned line = 1;

    for (size_t at = 0; at < size && status == FACET_OK; line++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - (text + at)) : size - at, next = at + length;
        char copy[512];

        if (length != 0 && text[at + length - 1] == '\r') {
            length--;
        }
        if (length >= sizeof copy || memchr(text + at, '\0', length) != NULL) {
            return refuse(l, line, "expected a line of text of at most 511 bytes");
        }
        memcpy(copy, text + at, length);
        copy[length] = '\0';
        status = parse_line(l, line, copy);
        at = next + 1;
    }
    return status;
}

/* ---- both -------------------------------------------------------------------------------------
 */

enum facet_status session_config_parse(
    const char *path, const char *text, size_t size, char **list, struct facet_error *err)
{
    struct list *l = calloc(1, sizeof *l);
    struct facet_strbuf out;
    enum facet_status status;

    *list = NULL;
    if (l == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a configuration");
    }
    l->path = path;
    l->err = err;
    status = ends_in(path, ".json") ? parse_json(l, text, size, err) : parse_toml(l, text, size);
    facet_strbuf_init(&out);
    if (status == FACET_OK) {
        print(l, &out);
        *list = out.text;
        if (out.failed) {
            facet_strbuf_free(&out);
            *list = NULL;
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a configuration");
        }
    }
    free(l);
    return status;
}

enum facet_status session_config_read(const char *path, char **list, struct facet_error *err)
{
    struct facet_bytes bytes;
    enum facet_status status = facet_file_read(path, FILE_LIMIT, &bytes, err);

    *list = NULL;
    if (status == FACET_OK) {
        status =
            session_config_parse(path, (const char *)bytes.data, (size_t)bytes.size, list, err);
        free(bytes.data);
    }
    return status;
}
