/* Finding items by words of their names and texts. */
#ifndef FACET_CARDS_SEARCH_H
#define FACET_CARDS_SEARCH_H

#include "base/strbuf.h"
#include "cards/index.h"

struct facet_hit {
    const struct facet_item *item;
    unsigned score;
    const char *text; /* where the words stand: the item's line, or the longer text of its row */
    size_t at;        /* of the first word found in it */
};

/* Items that have every word in their name or texts, in any case, best first: a name counts more
 * than a text, a whole word more than a part. `hits` has room for facet_item_count. Returns how
 * many. */
size_t facet_search(char *const *words, size_t count, unsigned machine, struct facet_hit *hits);

/* A line of the text around the place: from the start where it fits, whole words, no newlines. */
void facet_search_text(const struct facet_hit *hit, struct facet_strbuf *out);

#endif
