/* Decoding words, taking operands apart, printing instructions. Pure functions over table.h. */
#ifndef FACET_ISA_ISA_H
#define FACET_ISA_ISA_H

#include "isa/table.h"

/* The row that owns the word, or NULL when the word is illegal. Bits above a 16-bit instruction are
 * ignored. Constant time: a generated decision tree, then one mask/match comparison. */
const struct facet_insn_row *facet_isa_decode(enum facet_isa isa, uint32_t word);

/* The row's operand out of a word: field value, sign-extended for SIMM and PCREL, codec not undone.
 */
int64_t facet_operand_get(const struct facet_operand *operand, uint32_t word);

/* Whether the row reads the register operand: every one but rd, fd and vd, which the row's own text
 * must name a second time, as in `s[rd] = s[rd] + ...`. */
bool facet_operand_is_read(const struct facet_insn_row *row, const struct facet_operand *operand);

/* The word with the operand's pieces replaced; `value` must fit (facet_operand_fits). */
uint32_t facet_operand_set(const struct facet_operand *operand, uint32_t word, int64_t value);
bool facet_operand_fits(const struct facet_operand *operand, int64_t value);

/* The value in the text against the value in the field (enum facet_operand_codec). Decoding
 * gives the written number; encoding returns false when no field value is written so. Other codecs
 * than PLAIN apart, both are the identity. facet_operand_encode checks nothing else: call
 * facet_operand_fits and facet_operand_legal on its result. */
int64_t facet_operand_written(const struct facet_operand *operand, int64_t field);
bool facet_operand_encode(const struct facet_operand *operand, int64_t written, int64_t *field);

/* false for a field value that the row's conditions forbid (`!=0`, `!=5,6`). */
bool facet_operand_legal(const struct facet_operand *operand, int64_t value);

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

/* CSR by name (any case) or number; NULL when there is none. Registers of a family have an index in
 * their name: ZPTAB7, mhpmcounter3, sampler[2].base (sampler2.base is accepted as well); the row's
 * own name (sampler[n].base, ZPTAB0..31) finds the row. */
const struct facet_csr_row *facet_csr_find(enum facet_isa isa, const char *name);
/* The same, and the number of that very register. With in_12_bits, a register whose first address
 * does not fit a CSR instruction gives its second one (RTCFG: 0x820). */
/* Bits of the target as they appear in a view of it, and back. */
static inline uint64_t facet_csr_into_view(const struct facet_csr_view *view, uint64_t target)
{
    return (view->shift >= 0 ? target << view->shift : target >> -view->shift) & view->mask;
}

static inline uint64_t facet_csr_out_of_view(const struct facet_csr_view *view, uint64_t value)
{
    value &= view->mask;
    return view->shift >= 0 ? value >> view->shift : value << -view->shift;
}

const struct facet_csr_row *facet_csr_find_number(
    enum facet_isa isa, const char *name, size_t length, bool in_12_bits, uint32_t *number);
/* Name of the register `number` of the row, with the index of a family; like snprintf. */
size_t facet_csr_name(const struct facet_csr_row *row, uint32_t number, char *buf, size_t size);
const struct facet_csr_row *facet_csr_at(enum facet_isa isa, uint32_t number);

/* A structure by name, or `STRUCTURE.member`, any case; *member is NULL for a whole structure. NULL
 * when there is none. */
const struct facet_layout_row *facet_layout_find(const char *name,
                                                 const struct facet_layout_member **member);
/* A member of the structure, any case; NULL when there is none. */
const struct facet_layout_member *facet_layout_member_find(const struct facet_layout_row *row,
                                                           const char *name);

/* What the assembler makes of a name: `STRUCTURE.member` is the member's offset in bytes,
 * `STRUCTURE.member.VALUE` the named value, of flags their bits. Structures of that machine alone;
 * false for anything else, and for an offset that depends on the element. */
bool facet_layout_constant(const char *machine, const char *name, uint64_t *value);

/* Requirement ("CAP-137"), resolution ("R-CAP-09") by ID, any case; NULL when there is none. */
const struct facet_requirement_row *facet_requirement_find(const char *id);
const struct facet_resolution_row *facet_resolution_find(const char *id);

#endif
