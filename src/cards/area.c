/* See area.h. */
#include "cards/area.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t area_length(const char *id)
{
    return strcspn(id, "-");
}

bool facet_card_area_has(const char *area, const struct facet_requirement_row *row)
{
    size_t length = area_length(row->id);

    return area == NULL || (strlen(area) == length && strncasecmp(area, row->id, length) == 0);
}

bool facet_card_area_asked(const char *pattern, const struct facet_requirement_row *row)
{
    char upper[32];
    size_t n = 0;

    for (; pattern[n] != '\0' && n < sizeof upper - 1; n++) {
        upper[n] = (char)toupper((unsigned char)pattern[n]);
    }
    upper[n] = '\0';
    return facet_card_area_has(pattern, row) || fnmatch(upper, row->id, 0) == 0;
}

size_t facet_card_area_count(const struct facet_results *results,
                             const char *only,
                             struct facet_card_area areas[FACET_CARD_AREAS])
{
    size_t count = 0;

    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        size_t a = 0;

        if (!facet_card_area_has(only, row)) {
            continue;
        }
        while (a < count && !facet_card_area_has(areas[a].name, row)) {
            a++;
        }
        if (a == FACET_CARD_AREAS) {
            continue;
        }
        if (a == count) {
            areas[count] = (struct facet_card_area){.rows = 0};
            (void)snprintf(areas[count].name,
                           sizeof areas[count].name,
                           "%.*s",
                           (int)area_length(row->id),
                           row->id);
            count++;
        }
        areas[a].rows++;
        areas[a].named += facet_results_prove(results, row);
    }
    return count;
}
