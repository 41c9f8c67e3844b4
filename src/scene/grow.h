/* Arrays that readers fill without knowing how long they become. */
#ifndef FACET_SCENE_GROW_H
#define FACET_SCENE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct facet_grow {
    void *items;
    size_t count, room;
};

/* A place for `more` items of `size` bytes at the end, which then count; NULL without memory. The
 * readers' items stand for bytes of a file of at most 2 GiB, so no product overflows. */
static inline void *facet_grow_add(struct facet_grow *array, size_t more, size_t size)
{
    if (array->room - array->count < more) {
        const size_t room = 2 * array->room + more + 64;
        void *grown = realloc(array->items, room * size);

        if (grown == NULL) {
            return NULL;
        }
        array->items = grown;
        array->room = room;
    }
    array->count += more;
    return (uint8_t *)array->items + (array->count - more) * size;
}

#endif
