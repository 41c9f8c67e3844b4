/* See nearest.h. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

/* Longer names are not typing errors; the bound also keeps the rows below on the stack.
 */
enum { LONGEST = 40 };

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance with swaps of neighbours (optimal string alignment). */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_length; j++) {
        above[j] = (unsigned)j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *reuse = before;

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned differs = lower(a[i - 1]) != lower(b[j - 1]);

            row[j] = least(above[j - 1] + differs, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                row[j] = least(row[j], before[j - 2] + 1);
            }
        }
        before = above;
        above = row;
        row = reuse;
    }
    return above[b_length];
}

struct facet_nearest facet_nearest_to(const char *word, size_t length)
{
    unsigned close = length <= 2 ? 1 : length <= 5 ? 2 : 3;

    return (struct facet_nearest){word, length, NULL, 0, close + 1};
}

static size_t common_start(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t n = 0;

    while (n < a_length && n < b_length && lower(a[n]) == lower(b[n])) {
        n++;
    }
    return n;
}

/* Between names equally near: the one that starts like the word, then the shorter one, then the
 * first of the alphabet, so that the order of the offers does not matter. */
static bool is_better(const struct facet_nearest *search, const char *name, size_t length)
{
    size_t old = common_start(search->word, search->length, search->best, search->best_length);
    size_t new = common_start(search->word, search->length, name, length);

    if (old != new) {
        return new > old;
    }
    if (length != search->best_length) {
        return length < search->best_length;
    }
    return memcmp(name, search->best, length) < 0;
}

void facet_nearest_offer(struct facet_nearest *search, const char *name, size_t length)
{
    size_t gap = length > search->length ? length - search->length : search->length - length;
    bool shortened = search->length >= 2 && search->length < length &&
                     common_start(search->word, search->length, name, length) == search->length;
    unsigned d;

    if ((gap > search->distance && !shortened) || length > LONGEST || search->length > LONGEST) {
        return;
    }
    d = shortened ? 1 : distance(search->word, search->length, name, length);
    if (d >= length) { /* nothing in common */
        return;
    }
    if (d < search->distance ||
        (d == search->distance && search->best != NULL && is_better(search, name, length))) {
        search->distance = d;
        search->best = name;
        search->best_length = length;
    }
}
