/* Decoding words, taking operands apart, printing instructions. Pure functions over table.h. */
#ifndef FACET_ISA_ISA_H
#define FACET_ISA_ISA_H

#include "isa/table.h"

/* Bytes of the instruction that starts with these 16 bits: 2 for a compressed one, else 4. */
unsigned facet_isa_length(enum facet_isa isa, uint16_t low_half);

/* The row that owns the word, or NULL when the word is illegal. Bits above a 16-bit instruction are
 * ignored. Constant time: a generated decision tree, then one mask/match comparison. */
const struct facet_insn_row *facet_isa_decode(enum facet_isa isa, uint32_t word);

/* The row's operand out of a word: field value, sign-extended for SIMM and PCREL, codec not undone.
 */
int64_t facet_operand_get(const struct facet_operand *operand, uint32_t word);

/* The word with the operand's pieces replaced; `value` must fit (facet_operand_fits). */
uint32_t facet_operand_set(const struct facet_operand *operand, uint32_t word, int64_t value);
bool facet_operand_fits(const struct facet_operand *operand, int64_t value);

/* Looks up by mnemonic, any case. Several rows may share one mnemonic (svsetvl): start with
 * *from = 0 and call until NULL. */
const struct facet_insn_row *
facet_isa_find(enum facet_isa isa, const char *mnemonic, size_t length, size_t *from);

/* true when fields that the syntax does not show are non-zero: the printed text would assemble to
 * another word. */
bool facet_isa_has_hidden_bits(const struct facet_insn_row *row, uint32_t word);

/* What the printer may ask about addresses; both members may be zero. */
struct facet_symbolizer {
    /* Name of a label at exactly this address, or NULL. */
    const char *(*label_at)(void *context, uint64_t address);
    void *context;
};

/* One line of assembly for the word at `pc`, `.word 0x...` (`.half 0x...` for two bytes) when it is
 * illegal. Like snprintf: returns the length needed, never writes past buf[size - 1]. */
size_t facet_isa_print(enum facet_isa isa,
                       uint32_t word,
                       uint64_t pc,
                       const struct facet_symbolizer *symbolizer,
                       char *buf,
                       size_t size);

/* CSR, requirement, resolution by name or number; NULL when there is none. */
const struct facet_csr_row *facet_csr_find(enum facet_isa isa, const char *name);
const struct facet_csr_row *facet_csr_at(enum facet_isa isa, uint32_t number);

#endif
