/* Search: every item is looked at; a few thousand short texts need no index. */
#include "cards/search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SNIPPET = 76 };

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* 0: not there; 1: part of a word; 2: a word; *at says where the best one stands. */
static unsigned stands_in(const char *text, const char *word, size_t *at)
{
    size_t length = strlen(word);
    unsigned best = 0;

    for (size_t i = 0; text[i] != '\0' && best < 2; i++) {
        if ((text[i] | 0x20) == (word[0] | 0x20) && strncasecmp(text + i, word, length) == 0) {
            bool whole = (i == 0 || !is_letter(text[i - 1])) && !is_letter(text[i + length]);
            if (best == 0 || whole) {
                *at = i;
            }
            best = whole ? 2 : 1;
        }
    }
    return best;
}

/* What the row says beyond the item's line. */
static const char *longer_text(const struct facet_item *item)
{
    if (item->kind == FACET_ITEM_INSTRUCTION) {
        return item->machine < FACET_ISA_COUNT ? facet_isa_rows[item->machine][item->row].semantics
                                               : facet_unit_insns[item->row].semantics;
    }
    if (item->kind == FACET_ITEM_REQUIREMENT) {
        return facet_requirement_rows[item->row].observable;
    }
    if (item->kind == FACET_ITEM_SECTION) {
        return facet_section_rows[item->row].text;
    }
    if (item->kind == FACET_ITEM_MEMBER) {
        return facet_layout_rows[item->row].members[item->part].cells.legal;
    }
    if (item->kind == FACET_ITEM_RULE) {
        return facet_rule_rows[item->row].text;
    }
    return item->kind == FACET_ITEM_RESOLUTION ? facet_resolution_rows[item->row].text : "";
}

/* The worth of one word in the item, 0 when it is not there. */
static unsigned score_word(struct facet_hit *hit, const char *word, const char *longer)
{
    static const unsigned name_score[] = {0, 40, 60}, text_score[] = {0, 10, 20},
                          long_score[] = {0, 3, 6};
    size_t at = 0;
    unsigned score = strcasecmp(hit->item->name, word) == 0
                         ? 100
                         : name_score[stands_in(hit->item->name, word, &at)];
    unsigned in_text = stands_in(hit->item->text, word, &at);

    if (in_text > 0) {
        if (hit->text == NULL) {
            hit->text = hit->item->text;
            hit->at = at;
        }
        return score + text_score[in_text];
    }
    if (score > 0) {
        return score;
    }
    in_text = stands_in(longer, word, &at);
    if (in_text > 0 && hit->text == NULL) {
        hit->text = longer;
        hit->at = at;
    }
    return long_score[in_text];
}

static int by_score(const void *a, const void *b)
{
    const struct facet_hit *x = a, *y = b;

    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->item < y->item ? -1 : 1; /* table order */
}

size_t facet_search(char *const *words, size_t count, unsigned machine, struct facet_hit *hits)
{
    size_t found = 0;

    for (size_t i = 0; i < facet_item_count; i++) {
        struct facet_hit hit = {.item = &facet_items[i]};
        bool all = machine == FACET_ITEM_ANY || hit.item->machine == machine;
        for (size_t w = 0; w < count && all; w++) {
            unsigned score =
                words[w][0] != '\0' ? score_word(&hit, words[w], longer_text(hit.item)) : 0;
            all = score > 0;
            hit.score += score;
        }
        if (all && count > 0) {
            if (hit.text == NULL) {
                hit.text = hit.item->text;
            }
            hits[found++] = hit;
        }
    }
    if (found > 0) {
        qsort(hits, found, sizeof hits[0], by_score);
    }
    return found;
}

/* A line of the text around the place: from the start where it fits, whole words, no newlines. */
void facet_search_text(const struct facet_hit *hit, struct facet_strbuf *out)
{
    const char *text = hit->text;
    size_t at = hit->at;
    size_t start = at < SNIPPET / 2 ? 0 : at - SNIPPET / 2, length;

    while (start > 0 && text[start - 1] != ' ' && text[start - 1] != '\n') {
        start--;
    }
    length = strlen(text + start);
    if (length > SNIPPET) {
        length = SNIPPET;
        while (length > 0 && text[start + length] != ' ') {
            length--;
        }
    }
    facet_strbuf_puts(out, start > 0 ? "... " : "");
    for (size_t i = 0; i < length; i++) {
        char c = text[start + i];
        if (c != '\n' || (i > 0 && text[start + i - 1] != '\n')) {
            facet_strbuf_putc(out, c == '\n' ? ' ' : c);
        }
    }
    facet_strbuf_puts(out, text[start + length] != '\0' ? " ..." : "");
}
