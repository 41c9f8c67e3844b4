/* Arrays that grow. A size that does not fit in memory is no memory. */
#ifndef FACET_BASE_ARRAY_H
#define FACET_BASE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room for `need` items of `size` bytes. `items` is the address of the pointer to them, which may
 * move. False without memory; then nothing has changed. Inline, so that files of the libraries use
 * their allocator and the program's files the C library's (alloc.h). */
static inline bool facet_array_fit(void *items, size_t *room, size_t need, size_t size)
{
    size_t more = *room < 32 ? 64 : *room <= SIZE_MAX / 2 ? 2 * *room : SIZE_MAX;
    void *old, *grown;

    if (need <= *room) {
        return true;
    }
    more = need > more ? need : more;
    memcpy(&old, items, sizeof old); /* a pointer to any type */
    grown = more <= SIZE_MAX / size ? realloc(old, more * size) : NULL;
    if (grown == NULL) {
        return false;
    }
    memcpy(items, &grown, sizeof grown);
    *room = more;
    return true;
}

/* An array whose items the user knows. Starts as all 0; free `items`. */
struct facet_array {
    void *items;
    size_t count, room;
};

/* A place for `more` items of `size` bytes at the end, which then count; NULL without memory. */
static inline void *facet_array_add(struct facet_array *array, size_t more, size_t size)
{
    if (more > SIZE_MAX - array->count ||
        !facet_array_fit(&array->items, &array->room, array->count + more, size)) {
        return NULL;
    }
    array->count += more;
    return (uint8_t *)array->items + (array->count - more) * size;
}

#endif
