/* What to say to a name that the contract does not have: the names that are near. */
#ifndef FACET_CARDS_SUGGEST_H
#define FACET_CARDS_SUGGEST_H

#include "base/strbuf.h"
#include "cards/index.h"

/* "'rt.bbx' is not a name in the contract; did you mean rt.bbox?" For CSR.FIELD with a known CSR
 * the fields that it has. FACET_ITEM_ANY looks in all machines. */
void facet_card_suggest(const char *name, unsigned machine, struct facet_strbuf *out);

#endif
