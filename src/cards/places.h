/* Where the tree speaks of each name of the contract: its row, its code, its tests, its pages. The
 * build finds them (tools/gen_places.py); paths are those of the source tree. */
#ifndef FACET_CARDS_PLACES_H
#define FACET_CARDS_PLACES_H

#include "base/strbuf.h"
#include "cards/card.h"

enum facet_place_kind {
    FACET_AT_ROW,
    FACET_AT_CODE,
    FACET_AT_TEST,
    FACET_AT_PAGE,
    FACET_AT_COMMAND, /* that shows what happens: `symbol` is how it is called */
};

struct facet_place {
    uint8_t kind; /* enum facet_place_kind */
    uint16_t line;
    uint32_t file, symbol; /* in facet_place_text; a symbol can be "": all of the file */
};
extern const char facet_place_text[];
extern const struct facet_place facet_places[];

/* Of each of facet_items: a range of facet_place_numbers. Kinds in their order, and in a kind the
 * most telling first. */
struct facet_item_places {
    uint32_t first;
    uint16_t count;
};
extern const uint32_t facet_place_numbers[];
extern const struct facet_item_places facet_item_places[];

/* The member "places" of a card: "rows", "rules" (sections of the semantics, or else the rows that
 * speak of the name), "code", "tests" (those that name most of the card's requirements first),
 * "pages" and "commands". NULL when memory is short. */
json_t *facet_card_places(const struct facet_card *card);
/* The same as text. */
void facet_card_put_places(struct facet_strbuf *out, const json_t *value, const json_t *record);

#endif
