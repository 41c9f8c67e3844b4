/* See jansson.h: JSON texts as values. Depth, duplicate keys, numbers that do not fit and bytes
 * that are no UTF-8 are complaints with line and column, as in the program. */
#include "json/json.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 512 };

/* ---- values ---- */

static json_t *new_value(json_type type)
{
    json_t *value = calloc(1, sizeof *value);

    if (value != NULL) {
        value->type = type;
        value->owners = 1;
    }
    return value;
}

json_t *json_string(const char *text)
{
    json_t *value = new_value(JSON_STRING);

    if (value != NULL) {
        value->as.string.length = strlen(text);
        value->as.string.text = malloc(value->as.string.length + 1);
        if (value->as.string.text == NULL) {
            free(value);
            return NULL;
        }
        memcpy(value->as.string.text, text, value->as.string.length + 1);
    }
    return value;
}

json_t *json_array(void)
{
    return new_value(JSON_ARRAY);
}

json_t *json_integer(json_int_t number)
{
    json_t *value = new_value(JSON_INTEGER);

    if (value != NULL) {
        value->as.integer = number;
    }
    return value;
}

int json_array_append_new(json_t *array, json_t *item)
{
    if (array == NULL || item == NULL ||
        !facet_array_fit(&array->as.list.items,
                         &array->as.list.room,
                         array->as.list.count + 1,
                         sizeof(json_t *))) {
        json_decref(item);
        return -1;
    }
    array->as.list.items[array->as.list.count++] = item;
    return 0;
}

json_t *json_incref(json_t *value)
{
    if (value != NULL) {
        value->owners++;
    }
    return value;
}

void json_decref(json_t *value)
{
    if (value == NULL || --value->owners > 0) {
        return;
    }
    if (value->type == JSON_STRING) {
        free(value->as.string.text);
    } else if (value->type == JSON_OBJECT || value->type == JSON_ARRAY) {
        for (size_t i = 0; i < value->as.list.count; i++) {
            json_decref(value->as.list.items[i]);
            if (value->type == JSON_OBJECT) {
                free(value->as.list.keys[i]);
            }
        }
        free(value->as.list.items);
        free(value->as.list.keys);
    }
    free(value);
}

json_t *json_object_get(const json_t *object, const char *key)
{
    for (size_t i = 0; i < json_object_size(object); i++) {
        if (strcmp(object->as.list.keys[i], key) == 0) {
            return object->as.list.items[i];
        }
    }
    return NULL;
}

size_t json_object_size(const json_t *object)
{
    return json_is_object(object) ? object->as.list.count : 0;
}

json_t *json_array_get(const json_t *array, size_t index)
{
    return index < json_array_size(array) ? array->as.list.items[index] : NULL;
}

size_t json_array_size(const json_t *array)
{
    return json_is_array(array) ? array->as.list.count : 0;
}

const char *json_string_value(const json_t *string)
{
    return json_is_string(string) ? string->as.string.text : NULL;
}

size_t json_string_length(const json_t *string)
{
    return json_is_string(string) ? string->as.string.length : 0;
}

json_int_t json_integer_value(const json_t *integer)
{
    return json_is_integer(integer) ? integer->as.integer : 0;
}

double json_number_value(const json_t *number)
{
    return json_is_real(number) ? number->as.real : (double)json_integer_value(number);
}

/* ---- the parser ---- */

struct parser {
    const char *text, *end, *at;
    const char *wrong; /* what is wrong at `at`; NULL: nothing */
    bool no_memory;
};

static json_t *wrong(struct parser *p, const char *what)
{
    if (p->wrong == NULL) {
        p->wrong = what;
    }
    return NULL;
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end &&
           (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) {
        p->at++;
    }
}

static bool next_is(struct parser *p, char c)
{
    skip_blanks(p);
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return true;
    }
    return false;
}

/* Four digits of \uXXXX, -1 when they are none. */
static long read_unit(struct parser *p)
{
    char digits[5] = "";

    if (p->end - p->at < 4) {
        return -1;
    }
    memcpy(digits, p->at, 4);
    if (strspn(digits, "0123456789abcdefABCDEF") != 4) {
        return -1;
    }
    p->at += 4;
    return strtol(digits, NULL, 16);
}

static size_t put_utf8(char *out, unsigned long c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Behind a backslash. */
static size_t read_escape(struct parser *p, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = p->at < p->end && *p->at != '\0' ? strchr(from, *p->at) : NULL;
    long unit, low;

    if (found != NULL) {
        p->at++;
        *out = to[found - from];
        return 1;
    }
    if (p->at >= p->end || *p->at != 'u') {
        (void)wrong(p, "invalid escape");
        return 0;
    }
    p->at++;
    unit = read_unit(p);
    if (unit >= 0xD800 && unit < 0xDC00 && p->end - p->at > 2 && p->at[0] == '\\' &&
        p->at[1] == 'u') {
        p->at += 2;
        low = read_unit(p);
        unit =
            low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00) : -1;
    }
    if (unit <= 0 || (unit >= 0xD800 && unit < 0xE000)) {
        (void)wrong(p, unit == 0 ? "\\u0000 is not allowed" : "invalid Unicode escape");
        return 0;
    }
    return put_utf8(out, (unsigned long)unit);
}

/* Bytes of the character at `at` when it is well-formed UTF-8, else 0. */
static size_t utf8_length(const char *at, const char *end)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*at;
    size_t length = first < 0x80       ? 1
                    : first >> 5 == 6  ? 2
                    : first >> 4 == 14 ? 3
                    : first >> 3 == 30 ? 4
                                       : 0;
    uint32_t value = length < 2 ? first : first & (0x7FU >> length);

    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)at[i] & 0xC0) != 0x80) {
            return 0;
        }
        value = value << 6 | ((unsigned char)at[i] & 63);
    }
    return value >= least[length] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF)
               ? length
               : 0;
}

/* Behind the quotation mark; the text, malloc, or NULL. */
static char *read_text(struct parser *p, size_t *length)
{
    const char *close = p->at;
    char *text;

    while (close < p->end && *close != '"') { /* no text is longer than its spelling */
        close += *close == '\\' && close + 1 < p->end ? 2 : 1;
    }
    text = malloc((size_t)(close - p->at) + 1);
    if (text == NULL) {
        p->no_memory = true;
        return NULL;
    }
    *length = 0;
    while (p->wrong == NULL && p->at < p->end && *p->at != '"') {
        size_t bytes = utf8_length(p->at, p->end);

        if ((unsigned char)*p->at < 0x20) {
            (void)wrong(p, "control character in a string");
        } else if (*p->at == '\\') {
            p->at++;
            *length += read_escape(p, text + *length);
        } else if (bytes == 0) {
            (void)wrong(p, "bytes that are no UTF-8");
        } else {
            memcpy(text + *length, p->at, bytes);
            *length += bytes;
            p->at += bytes;
        }
    }
    if (p->wrong == NULL && p->at == p->end) {
        (void)wrong(p, "the string does not end");
    }
    if (p->wrong != NULL) {
        free(text);
        return NULL;
    }
    p->at++;
    text[*length] = '\0';
    return text;
}

static size_t digits_at(const char *at, const char *end)
{
    size_t count = 0;

    while (at + count < end && at[count] >= '0' && at[count] <= '9') {
        count++;
    }
    return count;
}

static json_t *read_number(struct parser *p)
{
    const char *start = p->at, *at = p->at + (*p->at == '-');
    size_t digits = digits_at(at, p->end);
    bool real = false;
    char *copy;
    json_t *value;

    if (digits == 0 || (digits > 1 && *at == '0')) {
        return wrong(p, "invalid token");
    }
    at += digits;
    if (at < p->end && *at == '.') {
        digits = digits_at(at + 1, p->end);
        at += 1 + digits;
        real = true;
    }
    if (digits != 0 && at < p->end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < p->end && (*at == '+' || *at == '-');
        digits = digits_at(at, p->end);
        at += digits;
        real = true;
    }
    if (digits == 0) {
        return wrong(p, "invalid token");
    }
    value = new_value(real ? JSON_REAL : JSON_INTEGER);
    copy = malloc((size_t)(at - start) + 1);
    if (value == NULL || copy == NULL) {
        free(value);
        free(copy);
        p->no_memory = true;
        return NULL;
    }
    memcpy(copy, start, (size_t)(at - start));
    copy[at - start] = '\0';
    errno = 0;
    if (real) {
        value->as.real = strtod(copy, NULL);
    } else {
        value->as.integer = strtoll(copy, NULL, 10);
    }
    free(copy);
    if (real ? isinf(value->as.real) : errno != 0) {
        free(value);
        return wrong(p, real ? "real number overflow" : "too big integer");
    }
    p->at = at;
    return value;
}

static json_t *read_value(struct parser *p, unsigned depth);

static bool put_item(struct parser *p, json_t *list, char *key, json_t *item)
{
    size_t room = list->as.list.room, keys_room = room;

    if (!facet_array_fit(&list->as.list.items, &room, list->as.list.count + 1, sizeof(json_t *)) ||
        (key != NULL &&
         !facet_array_fit(
             &list->as.list.keys, &keys_room, list->as.list.count + 1, sizeof(char *)))) {
        p->no_memory = true;
        return false;
    }
    list->as.list.room = room;
    list->as.list.items[list->as.list.count] = item;
    if (key != NULL) {
        list->as.list.keys[list->as.list.count] = key;
    }
    list->as.list.count++;
    return true;
}

static bool read_member(struct parser *p, json_t *object, unsigned depth)
{
    const char *start;
    size_t length;
    char *key;
    json_t *item;

    skip_blanks(p);
    start = p->at;
    if (!next_is(p, '"')) {
        (void)wrong(p, "string or '}' expected");
        return false;
    }
    key = read_text(p, &length);
    if (key == NULL) {
        return false;
    }
    if (json_object_get(object, key) != NULL) {
        p->at = start;
        (void)wrong(p, "duplicate object key");
    } else if (!next_is(p, ':')) {
        (void)wrong(p, "':' expected");
    }
    item = p->wrong == NULL ? read_value(p, depth) : NULL;
    if (item == NULL || !put_item(p, object, key, item)) {
        json_decref(item);
        free(key);
        return false;
    }
    return true;
}

static json_t *read_list(struct parser *p, json_type type, unsigned depth)
{
    const char close = type == JSON_OBJECT ? '}' : ']';
    json_t *list = new_value(type);
    bool good = list != NULL, more;

    p->no_memory |= list == NULL;
    if (depth == DEEPEST) {
        json_decref(list);
        return wrong(p, "maximum parsing depth reached");
    }
    more = good && !next_is(p, close);
    while (more) {
        if (type == JSON_OBJECT) {
            good = read_member(p, list, depth + 1);
        } else {
            json_t *item = read_value(p, depth + 1);

            good = item != NULL && put_item(p, list, NULL, item);
            if (!good) {
                json_decref(item);
            }
        }
        more = good && next_is(p, ',');
        if (good && !more && !next_is(p, close)) {
            good = wrong(p, type == JSON_OBJECT ? "'}' expected" : "']' expected") != NULL;
        }
    }
    if (!good) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *read_word(struct parser *p)
{
    static const struct {
        const char *word;
        json_type type;
    } words[] = {{"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);

        if ((size_t)(p->end - p->at) >= length && memcmp(p->at, words[i].word, length) == 0) {
            json_t *value = new_value(words[i].type);

            p->no_memory |= value == NULL;
            p->at += length;
            return value;
        }
    }
    return wrong(p, p->at == p->end ? "unexpected end of the text" : "invalid token");
}

static json_t *read_value(struct parser *p, unsigned depth)
{
    json_t *value;

    skip_blanks(p);
    if (next_is(p, '{')) {
        return read_list(p, JSON_OBJECT, depth);
    }
    if (next_is(p, '[')) {
        return read_list(p, JSON_ARRAY, depth);
    }
    if (p->at < p->end && (*p->at == '-' || (*p->at >= '0' && *p->at <= '9'))) {
        return read_number(p);
    }
    if (!next_is(p, '"')) {
        return read_word(p);
    }
    value = new_value(JSON_STRING);
    p->no_memory |= value == NULL;
    if (value != NULL && (value->as.string.text = read_text(p, &value->as.string.length)) == NULL) {
        free(value);
        value = NULL;
    }
    return value;
}

enum facet_status facet_json_parse(
    const char *name, const void *text, size_t size, json_t **out, struct facet_error *err)
{
    struct parser p = {.text = text, .at = text, .end = (const char *)text + size};
    unsigned line = 1, column = 1;

    *out = read_value(&p, 0);
    skip_blanks(&p);
    if (*out != NULL && p.at != p.end) {
        (void)wrong(&p, "end of file expected");
    } else if (*out != NULL && !json_is_object(*out) && !json_is_array(*out)) {
        (void)wrong(&p, "'[' or '{' expected");
    }
    if (*out != NULL && p.wrong == NULL) {
        return FACET_OK;
    }
    json_decref(*out);
    *out = NULL;
    if (p.no_memory) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
    }
    for (const char *at = p.text; at < p.at; at++) {
        column = *at == '\n' ? 1 : column + 1;
        line += *at == '\n';
    }
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      line,
                      "%s:%u:%u: %s",
                      name,
                      line,
                      column,
                      p.wrong != NULL ? p.wrong : "malformed JSON");
}
