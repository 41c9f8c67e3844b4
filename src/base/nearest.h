/* Near misses: offer every known name, then read `best` (NULL when nothing is close enough). Case
 * does not count; a swap of neighbours is one step, and so is an abbreviation. */
#ifndef FACET_BASE_NEAREST_H
#define FACET_BASE_NEAREST_H

#include <stddef.h>

struct facet_nearest {
    const char *word;
    size_t length;
    const char *best;
    size_t best_length;
    unsigned distance; /* of best; starts at one more than what counts as close */
};

struct facet_nearest facet_nearest_to(const char *word, size_t length);
void facet_nearest_offer(struct facet_nearest *search, const char *name, size_t length);

#endif
