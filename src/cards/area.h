/* Areas of the requirement rows, the part of an ID before the dash (RT of RT-052): choosing rows,
 * and counting those that a passing test names. */
#ifndef FACET_CARDS_AREA_H
#define FACET_CARDS_AREA_H

#include "cards/results.h"

enum { FACET_CARD_AREAS = 32 };

struct facet_card_area {
    char name[16];
    size_t rows;
    size_t named; /* by a test that passed */
};

/* In any case; NULL has all rows. */
bool facet_card_area_has(const char *area, const struct facet_requirement_row *row);
/* Whether the row is asked for by an ID, an area (RT), or a pattern (RT-05*), in any case. */
bool facet_card_area_asked(const char *pattern, const struct facet_requirement_row *row);
/* Areas in the order of the table; `only` one of them, or NULL for all. Returns how many. */
size_t facet_card_area_count(const struct facet_results *results,
                             const char *only,
                             struct facet_card_area areas[FACET_CARD_AREAS]);

#endif
