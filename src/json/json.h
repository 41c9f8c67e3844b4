/* Reading and writing JSON files: thin helpers over jansson.
 *
 * JSON numbers are doubles to most readers and lose bits beyond 2^53, so 64-bit values (addresses,
 * register contents) are written as "0x..." strings; reading accepts such a string, a decimal
 * string or a non-negative integer. Complaints name the file, line and column, or the key.
 *
 * Memory: values are built without a look at jansson's results. A failed allocation leaves a mark
 * with the thread, and the functions that hand a text out say FACET_ERR_MEMORY while it is set; so
 * a value is built and written by one thread. The parser never returns a value with something
 * missing. */
#ifndef FACET_JSON_JSON_H
#define FACET_JSON_JSON_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses `size` bytes; `name` (a path) starts the message, err->where is the line. Duplicate keys
 * are errors. Release *out with json_decref. */
enum facet_status facet_json_parse(
    const char *name, const void *text, size_t size, json_t **out, struct facet_error *err);
/* Reads and parses a file of at most `limit` bytes. */
enum facet_status
facet_json_read(const char *path, size_t limit, json_t **out, struct facet_error *err);

/* Two-space indented text that ends with a newline, keys in the order they were set; free *text
 * with free(). FACET_ERR_MEMORY, and the mark is cleared, when an allocation of jansson has failed
 * in this thread since the mark was last cleared; also when `value` is NULL. */
enum facet_status
facet_json_text(const json_t *value, char **text, size_t *size, struct facet_error *err);
/* The same on one line without blanks or a newline, reals with 9 digits: enough for a float. */
enum facet_status
facet_json_compact(const json_t *value, char **text, size_t *size, struct facet_error *err);
/* facet_json_text to a file, atomically (base/file.h); "-" is standard output. */
enum facet_status facet_json_write(const char *path, const json_t *value, struct facet_error *err);

/* Whether the mark is set; clears it. For those who use a value that they built themselves without
 * writing it. */
bool facet_json_ran_short(void);

/* "0x0" ... "0xffffffffffffffff"; a new reference, NULL when memory is short. */
json_t *facet_json_hex(uint64_t value);

/* A text that may come from a file or the command line, as it is when it is UTF-8; else bytes that
 * are none are spelled \x9b (base/plain.h), because jansson would leave the text out. A new
 * reference. */
json_t *facet_json_name(const char *text);

/* Any accepted spelling of a number; false leaves *out alone. */
bool facet_json_to_u64(const json_t *value, uint64_t *out);

/* The member `key` of an object inside [0, max]. The status is FACET_ERR_INPUT and the message
 * names the key when it is absent, of another type or too large. */
enum facet_status facet_json_get_u64(
    const json_t *object, const char *key, uint64_t max, uint64_t *out, struct facet_error *err);
/* Text owned by the object. */
enum facet_status facet_json_get_string(const json_t *object,
                                        const char *key,
                                        const char **out,
                                        struct facet_error *err);
/* A borrowed reference. */
enum facet_status facet_json_get_array(const json_t *object,
                                       const char *key,
                                       const json_t **out,
                                       struct facet_error *err);

#endif
