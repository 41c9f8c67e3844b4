/* Members of JSON objects for the readers of BVH images: numbers of a width, lists, hexadecimal
 * bytes. The first complaint sticks and names the member ("nodes[3].children[0].index"), so that a
 * reader asks for everything it needs and looks at the status once. */
#ifndef FACET_JSON_READER_H
#define FACET_JSON_READER_H

#include "json/json.h"

#define FACET_READER_NO_INDEX SIZE_MAX

/* A JSON object, its place in the file, and where errors go; the first one is kept. */
struct facet_json_reader {
    const json_t *object;
    struct facet_error *err;
    enum facet_status status;
    const struct facet_json_reader *outer; /* NULL for the outermost object */
    const char *name;                      /* of the member of `outer` that it is, or is in */
    size_t index;                          /* in a list of that name, or FACET_READER_NO_INDEX */
};

/* Reports an error in a member of the object, possibly with an index after its name. */
void facet_reader_refuse(struct facet_json_reader *r,
                         const char *key,
                         size_t index,
                         const char *what);
/* A number of up to `width` bits. */
uint64_t facet_reader_get(struct facet_json_reader *r, const char *key, unsigned width);
/* Never NULL. */
const char *facet_reader_string(struct facet_json_reader *r, const char *key);
/* A list of `most` elements, or where `step` is smaller, of any multiple of that up to `most`; NULL
 * after a complaint. */
const json_t *
facet_reader_list(struct facet_json_reader *r, const char *key, size_t most, size_t step);
/* The numbers of a list; element i may have width[i % widths] bits. Returns how many. */
size_t facet_reader_words(struct facet_json_reader *r,
                          const char *key,
                          uint32_t *out,
                          const json_t *array,
                          const unsigned *width,
                          size_t widths);
/* Exactly `count` numbers of one width. */
void facet_reader_exactly(
    struct facet_json_reader *r, const char *key, uint32_t *out, size_t count, unsigned width);
/* Exactly `size` bytes as hexadecimal digits. */
void facet_reader_hex(struct facet_json_reader *r, const char *key, uint8_t *bytes, size_t size);
/* The object inside: a member, or an element of the list of that name. */
struct facet_json_reader facet_reader_enter(const struct facet_json_reader *r,
                                            const json_t *object,
                                            const char *name,
                                            size_t index);
/* A misspelt member would otherwise be dropped without a word. */
void facet_reader_only(struct facet_json_reader *r, const char *const *names, size_t count);
#define FACET_READER_ONLY(r, names) facet_reader_only(r, names, sizeof(names) / sizeof(names)[0])

#endif
