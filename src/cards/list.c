/* See list.h. */
#include "cards/list.h"

#include <stdio.h>
#include <string.h>

void facet_card_list_name(enum facet_item_kind kind, char name[FACET_CARD_LIST_NAME])
{
    const char *one = facet_item_kind_name[kind];

    (void)snprintf(
        name, FACET_CARD_LIST_NAME, "%s%s", one, one[strlen(one) - 1] == 's' ? "es" : "s");
}

static bool is_listed(const struct facet_item *item, enum facet_item_kind kind, unsigned machine)
{
    return item->kind == kind && (machine == FACET_ITEM_ANY || item->machine == machine);
}

static bool same_group(const struct facet_item *a, const struct facet_item *b)
{
    return a->kind == b->kind && a->machine == b->machine && strcmp(a->group, b->group) == 0;
}

static const char *title_of(const char *group)
{
    for (size_t i = 0; i < facet_extension_row_count; i++) {
        if (strcmp(facet_extension_rows[i].name, group) == 0) {
            return facet_extension_rows[i].title;
        }
    }
    return "";
}

/* The group that begins with items[first], under its heading. */
static void list_group(struct facet_strbuf *out, size_t first, const char *plural)
{
    const struct facet_item *head = &facet_items[first];
    const char *machine = facet_item_machine_name[head->machine], *title = title_of(head->group);
    int width = 0;

    facet_strbuf_printf(out,
                        "%s%s%s%s, %s%s%s\n",
                        out->length > 0 ? "\n" : "",
                        plural,
                        machine[0] != '\0' ? " of " : "",
                        machine,
                        head->group,
                        title[0] != '\0' ? ": " : "",
                        title);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = first; i < facet_item_count; i++) {
            int n = (int)strlen(facet_items[i].name);
            if (!same_group(head, &facet_items[i])) {
                continue;
            }
            if (pass == 0) {
                width = n > width ? n : width;
            } else {
                facet_strbuf_printf(
                    out, "  %-*s %s\n", width, facet_items[i].name, facet_items[i].text);
            }
        }
    }
}

void facet_card_list_text(enum facet_item_kind kind, unsigned machine, struct facet_strbuf *out)
{
    char plural[FACET_CARD_LIST_NAME];

    facet_card_list_name(kind, plural);
    for (size_t i = 0; i < facet_item_count; i++) {
        bool first = is_listed(&facet_items[i], kind, machine);

        for (size_t k = i; k-- > 0 && first;) {
            first = !same_group(&facet_items[i], &facet_items[k]);
        }
        if (first) {
            list_group(out, i, plural);
        }
    }
}

json_t *facet_card_list_json(enum facet_item_kind kind, unsigned machine)
{
    json_t *list = json_array();

    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];

        if (is_listed(item, kind, machine)) {
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:s, s:s, s:s}",
                                                  "name",
                                                  item->name,
                                                  "isa",
                                                  facet_item_machine_name[item->machine],
                                                  "group",
                                                  item->group,
                                                  "text",
                                                  item->text));
        }
    }
    return list;
}
