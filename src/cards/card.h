/* Reference cards: everything the contract says about one name (`facet spec`). A name is one of
 * facet_items (index.h), in any case; a CSR by its number; an operand INSTRUCTION.operand; or what
 * several of them share: the bare name of a field (APPLY0), an untyped mnemonic (VFMA), the last
 * part of a register's name (MODE), an operand or a symbol of one (CULL_BACK). A name of a value
 * (TEXTURED, RSTATE.blend.alpha) has the cards of the fields and members that can have it.
 *
 * A card is a record in JSON; the text is made from the record. */
#ifndef FACET_CARDS_CARD_H
#define FACET_CARDS_CARD_H

#include "base/strbuf.h"
#include "cards/index.h"
#include "cards/results.h"
#include "isa/isa.h"

#include <jansson.h>

struct facet_card {
    const struct facet_item *item;       /* NULL: several items share `name` */
    const struct facet_operand *operand; /* of the instruction `item`, or NULL */
    const char *name;                    /* as it was asked for */
    const char *value;                   /* name of a value of the field or member, or NULL */
    uint32_t number;                     /* CSR, FIELD: of the very register, for a family */
    uint8_t machine;                     /* where `name` is shared; FACET_ITEM_ANY: everywhere */
};

enum { FACET_CARD_MAX = 48 };

/* All cards of the name, at most FACET_CARD_MAX (`add` is a row of both ISAs, svsetvl has two
 * rows); FACET_ITEM_ANY looks in all machines. `name` must outlive the cards. Returns how many. */
size_t facet_card_find(const char *name, unsigned machine, struct facet_card cards[FACET_CARD_MAX]);

/* The items that share a name, one after the other: *from starts at 0, NULL ends. */
const struct facet_item *facet_card_next_part(const struct facet_card *card, size_t *from);

/* The record, with the tests of each requirement where `results` is not NULL; NULL when memory is
 * short. */
json_t *facet_card_record(const struct facet_card *card, const struct facet_results *results);
/* The card as text for a terminal, lines of at most about 100 columns where the prose allows. */
void facet_card_text(const struct facet_card *card,
                     const struct facet_results *results,
                     struct facet_strbuf *out);
/* The tests of one requirement row, as records and text have them: [{"suite", "case", "result"}].
 */
json_t *facet_card_tests(const struct facet_results *results,
                         const struct facet_requirement_row *row);

/* The entry of a `legal` column that has the name, alpha=1 or !BAD_FORMAT: its length, or 0. */
size_t facet_card_value(const char *legal, const char *name, const char **entry);
/* "blend = alpha (1)"; of flags "flags: TEXTURED is bit 1". The card must have a value. */
json_t *facet_card_value_text(const struct facet_card *card);

/* An example of the row: small, legal operand values. */
uint32_t facet_card_example(const struct facet_insn_row *row, enum facet_isa isa);

/* Prose after `indent` spaces, broken at spaces. Newlines in the text stay. */
void facet_card_wrap(struct facet_strbuf *out, unsigned indent, const char *text);

#endif
