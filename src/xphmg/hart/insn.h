/* One decoded instruction of the hart: a small plain record that every executor reads.
 *
 * Compressed rows are replaced by the base row that they stand for; `length` and `word` still give
 * what was fetched. Field positions come from the rows of spec/, never from here. */
#ifndef FACET_XPHMG_HART_INSN_H
#define FACET_XPHMG_HART_INSN_H

#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "xphmg/config.h"

struct facet_insn {
    uint16_t row;   /* enum facet_xphmg_op; FACET_XPHMG_OP_COUNT for an illegal word */
    uint8_t length; /* bytes fetched: 2 or 4 */
    uint8_t rd;     /* x or f register, as the row says */
    uint8_t rs1;
    uint8_t rs2;
    uint8_t rs3;
    uint8_t rm;  /* rounding mode field, order bits of an atomic, or 0 */
    int64_t imm; /* immediate, shift amount, branch offset or CSR number */
    uint32_t word;
    uint16_t csr; /* of a csr* instruction: its row in facet_csr_rows, or FACET_INSN_NO_CSR */
};

enum { FACET_INSN_NO_CSR = UINT16_MAX };

/* Never fails: an illegal word gives row FACET_XPHMG_OP_COUNT. */
struct facet_insn facet_insn_decode(uint32_t word);

/* Whether the configuration has the extension that the instruction belongs to. */
bool facet_insn_exists(const struct facet_insn *in, const struct facet_cap_config *config);

/* The value of the operand or field with this facet_name_key(). */
int64_t facet_insn_field_at(const struct facet_insn *in, uint64_t key);

/* The value of the named operand or field of the word's own row (vendor rows have many): the
 * caller's name must exist there. */
static inline int64_t facet_insn_field(const struct facet_insn *in, const char *name)
{
    return facet_insn_field_at(in, facet_name_key(name));
}

#endif
