/* Lists of the names of the contract by kind, machine and group (`facet spec --list`). */
#ifndef FACET_CARDS_LIST_H
#define FACET_CARDS_LIST_H

#include "base/strbuf.h"
#include "cards/index.h"

#include <jansson.h>

enum { FACET_CARD_LIST_NAME = 32 };

/* What a list of the kind is called: "instructions", "aliases". */
void facet_card_list_name(enum facet_item_kind kind, char name[FACET_CARD_LIST_NAME]);
/* Under a heading for each machine and group, after what `out` already holds. */
void facet_card_list_text(enum facet_item_kind kind, unsigned machine, struct facet_strbuf *out);
/* [{"name", "isa", "group", "text"}] */
json_t *facet_card_list_json(enum facet_item_kind kind, unsigned machine);

#endif
