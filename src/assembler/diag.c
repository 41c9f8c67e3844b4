/* See diag.h. */
#include "assembler/diag.h"

#include "base/require.h"

#include <stdlib.h>
#include <string.h>

void facet_diag_list_init(struct facet_diag_list *list)
{
    memset(list, 0, sizeof *list);
    facet_arena_init(&list->arena);
}

void facet_diag_list_free(struct facet_diag_list *list)
{
    free(list->items);
    facet_arena_free(&list->arena);
    memset(list, 0, sizeof *list);
}

static const char *copy(struct facet_diag_list *list, const char *text)
{
    return facet_arena_copy(&list->arena, text, strlen(text));
}

/* An operand that two instructions of an alias read is complained about once. */
static bool is_said(const struct facet_diag_list *list, const struct facet_diag *diag)
{
    const struct facet_diag *last = list->count != 0 ? &list->items[list->count - 1] : NULL;

    return last != NULL && last->line == diag->line && last->column == diag->column &&
           strcmp(last->file, diag->file) == 0 && strcmp(last->message, diag->message) == 0 &&
           strcmp(last->hint, diag->hint) == 0;
}

bool facet_diag_add(struct facet_diag_list *list, const struct facet_diag *diag)
{
    struct facet_diag own = *diag;

    FACET_REQUIRE(diag->line >= 1 && diag->column >= 1 && diag->length >= 1);
    if (is_said(list, diag)) {
        return true;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity != 0 ? 2 * list->capacity : 8;
        struct facet_diag *items = realloc(list->items, capacity * sizeof *items);

        if (items == NULL) {
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    own.file = copy(list, diag->file);
    own.message = copy(list, diag->message);
    own.hint = copy(list, diag->hint);
    own.source = copy(list, diag->source);
    if (own.file == NULL || own.message == NULL || own.hint == NULL || own.source == NULL) {
        return false;
    }
    list->items[list->count++] = own;
    return true;
}

/* The second and further bytes of a character in UTF-8 take no column of their own. */
static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void format_source(const struct facet_diag *d, struct facet_strbuf *out)
{
    size_t length = strlen(d->source);

    facet_strbuf_printf(out, "    %s\n    ", d->source);
    for (size_t i = 0; i + 1 < d->column; i++) {
        if (i >= length || !continues(d->source[i])) {
            facet_strbuf_putc(out, i < length && d->source[i] == '\t' ? '\t' : ' ');
        }
    }
    facet_strbuf_putc(out, '^');
    for (size_t i = 1; i < d->length && d->column - 1 + i < length; i++) {
        if (!continues(d->source[d->column - 1 + i])) {
            facet_strbuf_putc(out, '~');
        }
    }
    facet_strbuf_putc(out, '\n');
}

void facet_diag_format(const struct facet_diag_list *list, struct facet_strbuf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct facet_diag *d = &list->items[i];

        facet_strbuf_printf(out, "%s:%u:%u: error: %s\n", d->file, d->line, d->column, d->message);
        if (d->source[0] != '\0') {
            format_source(d, out);
        }
        if (d->hint[0] != '\0') {
            facet_strbuf_printf(out, "    hint: %s\n", d->hint);
        }
    }
}

/* Longer names are no typing errors of anything; the bound also keeps the rows below on the stack.
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
    unsigned d;

    if (gap > search->distance || length > LONGEST || search->length > LONGEST) {
        return;
    }
    d = distance(search->word, search->length, name, length);
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
