/* Reference cards: everything the contract says about one name (`facet spec`). A name is a
 * mnemonic, a pseudo-instruction, a CSR (name or number), a field CSR.FIELD, a requirement ID or a
 * resolution ID, in any case. Cards are built from the tables of table.h alone. */
#ifndef FACET_ISA_CARD_H
#define FACET_ISA_CARD_H

#include "base/strbuf.h"
#include "isa/isa.h"

#include <jansson.h>

enum facet_card_kind {
    FACET_CARD_INSN,
    FACET_CARD_ALIAS,
    FACET_CARD_CSR,
    FACET_CARD_FIELD,
    FACET_CARD_REQUIREMENT,
    FACET_CARD_RESOLUTION,
};

/* What a name stands for; `kind` says which pointers are set (a FIELD has csr and field). */
struct facet_card {
    enum facet_card_kind kind;
    enum facet_isa isa; /* INSN, ALIAS, CSR, FIELD */
    const struct facet_insn_row *insn;
    const struct facet_alias_row *alias;
    const struct facet_csr_row *csr;
    const struct facet_csr_field *field;
    const struct facet_requirement_row *requirement;
    const struct facet_resolution_row *resolution;
    uint32_t number; /* CSR, FIELD: of the very register, for a family */
};

enum { FACET_CARD_MAX = 16 };

/* All cards of the name, at most FACET_CARD_MAX (`add` is a row of both ISAs, svsetvl has two
 * rows); isa FACET_ISA_COUNT looks in both. Returns how many. */
size_t
facet_card_find(const char *name, enum facet_isa isa, struct facet_card cards[FACET_CARD_MAX]);

/* The card as text for a terminal, lines of at most about 100 columns where the prose allows. */
void facet_card_text(const struct facet_card *card, struct facet_strbuf *out);
/* The card with everything the text shows, as JSON; NULL when memory is short. */
json_t *facet_card_json(const struct facet_card *card);

/* Does `text` name the subject of the card? As a whole word: the mnemonic or its family (xmem.ldg
 * of xmem.ldg.w), the CSR or its address, the field, the ID. */
bool facet_card_named_in(const struct facet_card *card, const char *text);
/* Requirement and resolution rows that have to do with the card, in table order: *from starts at 0,
 * NULL ends. A requirement card lists resolutions that it cites, that cite it, or that name what it
 * names. */
const struct facet_requirement_row *facet_card_next_requirement(const struct facet_card *card,
                                                                size_t *from);
const struct facet_resolution_row *facet_card_next_resolution(const struct facet_card *card,
                                                              size_t *from);

/* An example of the row: small, legal operand values. */
uint32_t facet_card_example(const struct facet_insn_row *row, enum facet_isa isa);
/* Value of the whole CSR after reset. */
uint64_t facet_card_reset(const struct facet_csr_row *row);

#endif
