/* The part of jansson's interface that readers of documents use, for the page, which has no
 * jansson: values that were parsed, to be looked at. wasm/json/values.c is the code;
 * facet_json_parse there takes the place of the one in src/json/json.c. */
#ifndef FACET_WASM_JANSSON_H
#define FACET_WASM_JANSSON_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t json_int_t;
#define JSON_INTEGER_FORMAT PRId64
typedef enum {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_type;

/* A value owns what is in it, and belongs to all who have counted themselves. */
typedef struct json_t {
    json_type type;
    unsigned owners;
    union {
        json_int_t integer;
        double real;
        struct {
            char *text; /* a zero byte follows */
            size_t length;
        } string;
        struct { /* of objects in the order of the text; arrays have no keys */
            struct json_t **items;
            char **keys;
            size_t count, room;
        } list;
    } as;
} json_t;

#define json_is_object(v) ((v) != NULL && (v)->type == JSON_OBJECT)
#define json_is_array(v) ((v) != NULL && (v)->type == JSON_ARRAY)
#define json_is_string(v) ((v) != NULL && (v)->type == JSON_STRING)
#define json_is_integer(v) ((v) != NULL && (v)->type == JSON_INTEGER)
#define json_is_real(v) ((v) != NULL && (v)->type == JSON_REAL)
#define json_is_number(v) (json_is_integer(v) || json_is_real(v))
#define json_is_true(v) ((v) != NULL && (v)->type == JSON_TRUE)
#define json_is_false(v) ((v) != NULL && (v)->type == JSON_FALSE)
#define json_is_boolean(v) (json_is_true(v) || json_is_false(v))

/* Asked of a value of another type, or of NULL, these give 0 or NULL. */
json_t *json_object_get(const json_t *object, const char *key);
size_t json_object_size(const json_t *object);
json_t *json_array_get(const json_t *array, size_t index);
size_t json_array_size(const json_t *array);
const char *json_string_value(const json_t *string);
size_t json_string_length(const json_t *string);
json_int_t json_integer_value(const json_t *integer);
double json_number_value(const json_t *number);

#define json_object_foreach(object, key, value)                                                    \
    for (size_t at_##key = 0; at_##key < json_object_size(object) &&                               \
                              ((key) = (object)->as.list.keys[at_##key]) != NULL &&                \
                              ((value) = (object)->as.list.items[at_##key]) != NULL;               \
         at_##key++)

/* A copy of a text, an empty list, a number; NULL when memory is short. */
json_t *json_string(const char *text);
json_t *json_array(void);
json_t *json_integer(json_int_t value);
/* The item belongs to the list from now on, and is given back when there is no room: -1. */
int json_array_append_new(json_t *array, json_t *item);
json_t *json_incref(json_t *value);
/* Gives the value back, when nobody else has it with all that is in it; NULL is allowed. */
void json_decref(json_t *value);

#endif
