/* Between insn.c, which knows the candidates of a mnemonic, and alias.c, which expands
 * those of alias.tsv. */
#ifndef FACET_ASSEMBLER_ALIAS_H
#define FACET_ASSEMBLER_ALIAS_H

#include "assembler/internal.h"

struct asm_mnemonic;

struct pattern_item {
    const char *value, *base; /* `imm(rs1)`: both; NULL where absent */
    size_t value_length, base_length;
    bool literal; /* not a parameter: the text itself is required (`nz`, `256`) */
    bool real;    /* `real`: a number with a point or an exponent, bound as its FP32 bits */
    bool ranged;  /* `imm=LOW..HIGH`: a number of that range; the next alias takes the others */
    int64_t low, high;
};

struct asm_candidate {
    const struct asm_mnemonic *mnemonic;
    const struct facet_insn_row *row; /* or */
    const struct facet_alias_row *alias;
    bool is_li;
    unsigned item_count;
    struct pattern_item *items; /* of an alias */
    struct asm_candidate *next;
};

struct asm_mnemonic {
    const char *name;
    size_t length;
    struct asm_candidate *first, **last;
    struct asm_mnemonic *next; /* of the same bucket */
};

/* Fills the items of an alias candidate from its operand column. */
void facet_asm_read_pattern(struct asm_context *a, struct asm_candidate *c);
/* The operands at p against the pattern; on success the expansion is emitted. */
bool facet_asm_expand(struct asm_context *a, const struct asm_candidate *c, const char *p);
/* Operands at p, counted by their commas. */
unsigned facet_asm_count_operands(const char *p);

static inline bool facet_asm_same_word(const char *word, const char *other, size_t length)
{
    size_t same = 0;

    while (same < length && facet_lex_lower(word[same]) == facet_lex_lower(other[same])) {
        same++;
    }
    return same == length;
}

#endif
