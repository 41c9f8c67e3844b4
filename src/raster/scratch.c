/* Memory that draws use again. A draw with threads needs some megabytes for a few milliseconds; to
 * get them from the system and give them back every time took a fifth of it.
 *
 * Blocks have sizes that are powers of two, and those that were given back wait in a list. Only the
 * thread that draws takes and gives. */
#include "raster/internal.h"

#include <stdlib.h>

enum { MOST_KEPT = 512 };

struct block {
    struct block *next;
    size_t size;
    max_align_t bytes[];
};

struct facet_raster_scratch {
    struct block *kept;
    size_t count;
};

struct facet_raster_scratch *facet_raster_scratch_create(void)
{
    return calloc(1, sizeof(struct facet_raster_scratch));
}

void facet_raster_scratch_destroy(struct facet_raster_scratch *scratch)
{
    if (scratch == NULL) {
        return;
    }
    while (scratch->kept != NULL) {
        struct block *b = scratch->kept;

        scratch->kept = b->next;
        free(b);
    }
    free(scratch);
}

static size_t rounded(size_t size)
{
    size_t power = 4096;

    while (power < size) {
        power *= 2;
    }
    return power;
}

void *facet_raster_take(const struct facet_raster_unit *unit, size_t size)
{
    struct facet_raster_scratch *s = unit->scratch;
    struct block *b;

    size = rounded(size + sizeof *b);
    for (struct block **at = s != NULL ? &s->kept : NULL; at != NULL && *at != NULL;
         at = &(*at)->next) {
        if ((*at)->size == size) {
            b = *at;
            *at = b->next;
            s->count--;
            return b->bytes;
        }
    }
    b = malloc(size);
    if (b == NULL) {
        return NULL;
    }
    b->size = size;
    return b->bytes;
}

void facet_raster_give(const struct facet_raster_unit *unit, void *bytes)
{
    struct facet_raster_scratch *s = unit->scratch;
    struct block *b;

    if (bytes == NULL) {
        return;
    }
    b = (struct block *)(void *)((unsigned char *)bytes - offsetof(struct block, bytes));
    if (s == NULL || s->count == MOST_KEPT) {
        free(b);
        return;
    }
    b->next = s->kept;
    s->kept = b;
    s->count++;
}
