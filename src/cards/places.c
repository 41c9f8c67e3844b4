/* See places.h. */
#include "cards/places.h"

#include <stdlib.h>
#include <string.h>

/* Places of one kind, each definition once, with the number of times that it was added. */
struct list {
    struct entry {
        const struct facet_place *place;
        unsigned times;
    } * at;
    size_t count, room;
    bool failed;
};

/* The head of a file: says nothing where something in the file is known. */
static bool is_whole(const struct facet_place *place)
{
    return facet_place_text[place->symbol] == '\0';
}

static void add(struct list *list, const struct facet_place *place)
{
    struct entry *grown;

    for (size_t i = 0; i < list->count; i++) {
        const struct facet_place *known = list->at[i].place;

        if (known->file == place->file && (known->symbol == place->symbol || is_whole(place))) {
            list->at[i].times++;
            return;
        }
    }
    if (list->count == list->room) {
        list->room = list->room != 0 ? 2 * list->room : 16;
        grown = realloc(list->at, list->room * sizeof list->at[0]);
        if (grown == NULL) {
            list->failed = true;
            return;
        }
        list->at = grown;
    }
    list->at[list->count++] = (struct entry){place, 1};
}

static const struct facet_place *place_at(const struct facet_item_places *places, unsigned i)
{
    return &facet_places[facet_place_numbers[places->first + i]];
}

static void add_kind(struct list *list, const struct facet_item *item, enum facet_place_kind kind)
{
    const struct facet_item_places *places = &facet_item_places[item - facet_items];

    for (unsigned i = 0; i < places->count && !list->failed; i++) {
        const struct facet_place *place = place_at(places, i);

        if (place->kind == kind) {
            add(list, place);
        }
    }
}

/* The items of a kind follow each other in the order of their rows. */
static const struct facet_item *first_of(enum facet_item_kind kind)
{
    const struct facet_item *item = facet_items;

    while (item->kind != kind) {
        item++;
    }
    return item;
}

static bool is_among(uint16_t row, const uint16_t *rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (rows[i] == row) {
            return true;
        }
    }
    return false;
}

/* The first code of whatever a requirement or resolution speaks of. */
static void add_touched(struct list *list, const struct facet_item *rule)
{
    bool resolution = rule->kind == FACET_ITEM_RESOLUTION;

    for (size_t i = 0; i < facet_item_count && facet_items[i].kind < FACET_ITEM_REQUIREMENT; i++) {
        const struct facet_item *item = &facet_items[i];

        if (item->kind != FACET_ITEM_ALIAS &&
            is_among(rule->row,
                     resolution ? item->resolutions : item->requirements,
                     resolution ? item->resolution_count : item->requirement_count)) {
            const struct facet_item_places *places = &facet_item_places[i];
            unsigned k = 0;

            while (k < places->count && place_at(places, k)->kind < FACET_AT_CODE) {
                k++;
            }
            if (k < places->count && place_at(places, k)->kind == FACET_AT_CODE) {
                add(list, place_at(places, k));
            }
        }
    }
}

/* Code that follows the sections about an item, and tests that name its requirements, are places of
 * the item as well. */
static void add_item(struct list *list, const struct facet_item *item, enum facet_place_kind kind)
{
    add_kind(list, item, kind);
    for (unsigned i = 0; kind == FACET_AT_CODE && i < item->section_count; i++) {
        add_kind(list, first_of(FACET_ITEM_SECTION) + item->sections[i], kind);
    }
    if (kind == FACET_AT_CODE &&
        (item->kind == FACET_ITEM_REQUIREMENT || item->kind == FACET_ITEM_RESOLUTION)) {
        add_touched(list, item);
    }
    for (unsigned i = 0; kind == FACET_AT_TEST && i < item->requirement_count; i++) {
        add_kind(list, first_of(FACET_ITEM_REQUIREMENT) + item->requirements[i], kind);
    }
}

/* Sections of the semantics that are about an item; without any, the rows that speak of it; without
 * these, its own row, which says what it means. */
static void add_rules(struct list *list, const struct facet_item *item)
{
    for (unsigned i = 0; i < item->section_count; i++) {
        add_kind(list, first_of(FACET_ITEM_SECTION) + item->sections[i], FACET_AT_ROW);
    }
    for (unsigned i = 0; item->section_count == 0 && i < item->resolution_count; i++) {
        add_kind(list, first_of(FACET_ITEM_RESOLUTION) + item->resolutions[i], FACET_AT_ROW);
    }
    for (unsigned i = 0; item->section_count == 0 && i < item->requirement_count; i++) {
        add_kind(list, first_of(FACET_ITEM_REQUIREMENT) + item->requirements[i], FACET_AT_ROW);
    }
    if (list->count == 0) {
        add_kind(list, item, FACET_AT_ROW);
    }
}

/* Entries that were added most often first; those of equal number stay in their order. */
static void sort_by_times(struct list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        struct entry entry = list->at[i];
        size_t k = i;

        for (; k > 0 && list->at[k - 1].times < entry.times; k--) {
            list->at[k] = list->at[k - 1];
        }
        list->at[k] = entry;
    }
}

static json_t *records(const struct list *list, bool times)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->count; i++) {
        const struct entry *e = &list->at[i];
        json_t *place = json_pack("{s:s, s:i, s:s}",
                                  "file",
                                  facet_place_text + e->place->file,
                                  "line",
                                  e->place->line,
                                  "symbol",
                                  facet_place_text + e->place->symbol);

        if ((times && json_object_set_new(place, "rows", json_integer(e->times)) != 0) ||
            json_array_append_new(array, place) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* The members of "places", in the order of the card. */
static const struct {
    const char *key, *label;
    enum facet_place_kind kind;
    bool rules; /* not the places of the item, but those of its rules */
} members[] = {
    {"rows", "row", FACET_AT_ROW, false},
    {"rules", "rule", FACET_AT_ROW, true},
    {"code", "code", FACET_AT_CODE, false},
    {"tests", "test", FACET_AT_TEST, false},
    {"pages", "explained", FACET_AT_PAGE, false},
    {"commands", "shown by", FACET_AT_COMMAND, false},
};

/* Forms of one instruction (AAND, AAND.L) are tested together; one that no test names alone has the
 * tests of all. */
static void add_family(struct list *list, const struct facet_item *item)
{
    size_t length = strcspn(item->name, ".");

    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *other = &facet_items[i];

        if (other->kind == item->kind && other->machine == item->machine &&
            strncmp(other->name, item->name, length) == 0 &&
            (other->name[length] == '.' || other->name[length] == '\0')) {
            add_item(list, other, FACET_AT_TEST);
        }
    }
}

static json_t *member_of(const struct facet_card *card, enum facet_place_kind kind, bool rules)
{
    struct list list = {.count = 0};
    size_t from = 0;
    const struct facet_item *item =
        card->item != NULL ? card->item : facet_card_next_part(card, &from);
    json_t *array;

    while (item != NULL && !list.failed) {
        if (rules) {
            add_rules(&list, item);
        } else {
            add_item(&list, item, kind);
        }
        item = card->item != NULL ? NULL : facet_card_next_part(card, &from);
    }
    if (kind == FACET_AT_TEST && list.count == 0 && card->item != NULL &&
        card->item->kind == FACET_ITEM_INSTRUCTION) {
        add_family(&list, card->item);
    }
    if (kind == FACET_AT_TEST) {
        sort_by_times(&list);
    }
    array = list.failed ? NULL : records(&list, kind == FACET_AT_TEST);
    free(list.at);
    return array;
}

json_t *facet_card_places(const struct facet_card *card)
{
    json_t *places = json_object();

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *array = member_of(card, members[i].kind, members[i].rules);

        if (json_object_set_new(places, members[i].key, array) != 0) {
            json_decref(places);
            return NULL;
        }
    }
    return places;
}

/* ---- text ---- */

enum { MANY_PLACES = 8 };

static void put_place(struct facet_strbuf *out, const json_t *place, bool command)
{
    const char *symbol = json_string_value(json_object_get(place, "symbol"));

    if (command) {
        facet_strbuf_printf(out, "`%s`\n", symbol);
        return;
    }
    facet_strbuf_printf(out,
                        "%s:%d%s%s\n",
                        json_string_value(json_object_get(place, "file")),
                        (int)json_integer_value(json_object_get(place, "line")),
                        symbol[0] != '\0' ? " " : "",
                        symbol);
}

void facet_card_put_places(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    const char *kind = json_string_value(json_object_get(record, "kind"));

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const json_t *list = json_object_get(value, members[i].key);
        size_t count = json_array_size(list);
        size_t shown = count > MANY_PLACES ? MANY_PLACES - 1 : count;
        bool encoding = i == 0 && strcmp(kind, "instruction") == 0;

        for (size_t k = 0; k < shown; k++) {
            facet_strbuf_printf(out,
                                "  %-9s ",
                                k > 0      ? ""
                                : encoding ? "encoding"
                                           : members[i].label);
            put_place(out, json_array_get(list, k), members[i].kind == FACET_AT_COMMAND);
        }
        if (shown < count) {
            facet_strbuf_printf(out, "  %-9s %zu more with --json\n", "", count - shown);
        }
    }
}
