/* The card of a rule of the validator of GFX12 images. */
#ifndef FACET_CARDS_RULE_H
#define FACET_CARDS_RULE_H

#include "cards/card.h"

struct json_t;

struct json_t *facet_card_rule_record(const struct facet_card *card);

#endif
