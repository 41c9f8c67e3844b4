/* Every name of the contract that `facet spec` answers, with the requirement and resolution rows
 * that speak of it. The build makes the arrays (tools/gen_index.py, rules in tools/spec_links.py);
 * the rows themselves are those of table.h. */
#ifndef FACET_CARDS_INDEX_H
#define FACET_CARDS_INDEX_H

#include "isa/table.h"

enum facet_item_kind {
    FACET_ITEM_INSTRUCTION,
    FACET_ITEM_ALIAS,
    FACET_ITEM_CSR,
    FACET_ITEM_FIELD,
    FACET_ITEM_STRUCTURE, /* in memory */
    FACET_ITEM_MEMBER,
    FACET_ITEM_REQUIREMENT,
    FACET_ITEM_RESOLUTION,
    FACET_ITEM_SECTION, /* of a page of behaviour: "rt-semantics.md 8" */
    FACET_ITEM_WORD,    /* of the glossary */
    FACET_ITEM_DOCUMENT,
    FACET_ITEM_EXTENSION,
    FACET_ITEM_RULE, /* of a validator */
    FACET_ITEM_KINDS
};
extern const char *const facet_item_kind_name[FACET_ITEM_KINDS]; /* "instruction" */

/* Machines beyond enum facet_isa, whose values stand for themselves. */
enum { FACET_ITEM_GFX12 = FACET_ISA_COUNT, FACET_ITEM_ANY, FACET_ITEM_MACHINES };
extern const char *const facet_item_machine_name[FACET_ITEM_MACHINES]; /* ANY: "" */

struct facet_item {
    uint8_t kind;    /* enum facet_item_kind */
    uint8_t machine; /* enum facet_isa, FACET_ITEM_GFX12, or FACET_ITEM_ANY */
    uint16_t row;    /* index in the table of its kind */
    uint16_t part;   /* FIELD, MEMBER: index in the row */
    const char *name;
    const char *group; /* what it is listed under: extension, register, structure, area */
    const char *text;  /* one line: syntax, address, meaning, statement, title */
    uint16_t requirement_count;
    uint16_t resolution_count;
    uint16_t section_count;
    const uint16_t *requirements; /* indices in facet_requirement_rows, ascending */
    const uint16_t *resolutions;  /* indices in facet_resolution_rows, ascending */
    const uint16_t *sections;     /* indices in facet_section_rows, ascending */
};
extern const struct facet_item facet_items[];
extern const size_t facet_item_count;

/* An instruction of a machine without programs (gfx12): words of two or three dwords. */
struct facet_unit_insn {
    const char *mnemonic;
    const char *syntax; /* name:count for a field that names the first of `count` registers */
    const char *fields;
    const char *semantics;
    uint32_t mask[3], match[3];
    uint8_t dwords;
    const char *file;
    uint16_t line;
};
extern const struct facet_unit_insn facet_unit_insns[];

/* A part of numeric.md or of a semantics page, from its heading to the next. */
struct facet_section_row {
    const char *name; /* "rt-semantics.md 8" */
    const char *title;
    const char *text; /* Markdown */
    const char *file;
    uint16_t line;
};
extern const struct facet_section_row facet_section_rows[];

/* A rule of the validator of GFX12 images. */
struct facet_rule_row {
    const char *id; /* "V12" */
    const char *severity;
    const char *in_driver[3]; /* in images of RADV, GPURT, HIPRT */
    const char *title;
    const char *text;
    const char *file;
};
extern const struct facet_rule_row facet_rule_rows[];

struct facet_document_row {
    const char *name; /* as requirement rows cite it */
    const char *title;
    const char *author;
    const char *kind; /* source, sibling, public or contract */
};
extern const struct facet_document_row facet_document_rows[];
extern const size_t facet_document_row_count;

#endif
