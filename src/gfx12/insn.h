/* Any of the four instructions of the machine, two intersect and two stack instructions; and the
 * four-wide stack instruction, which has words and text but is not executed (R-G12-119). */
#ifndef FACET_GFX12_INSN_H
#define FACET_GFX12_INSN_H

#include <facet/gfx12.h>

struct facet_gfx12_insn {
    bool is_ds;
    struct facet_gfx12_vimage image; /* !is_ds */
    struct facet_gfx12_ds ds;        /* is_ds */
    bool four_wide;                  /* is_ds: ds_bvh_stack_push4_pop1_rtn_b32 */
};

/* Of the first `count` dwords: how many belong to the instruction, 0 when they are none. */
unsigned
facet_gfx12_insn_decode(const uint32_t *words, unsigned count, struct facet_gfx12_insn *out);
/* The same, for text: the four-wide stack instruction is one too. */
unsigned facet_gfx12_insn_read(const uint32_t *words, unsigned count, struct facet_gfx12_insn *out);
/* Like snprintf: as the contract writes it, and as LLVM's assembler wants it. */
size_t facet_gfx12_insn_print(const struct facet_gfx12_insn *in, char *text, size_t size);
size_t facet_gfx12_insn_print_llvm(const struct facet_gfx12_insn *in, char *text, size_t size);
const char *facet_gfx12_insn_name(const struct facet_gfx12_insn *in); /* the mnemonic */
/* One line of text: the number of dwords, 0 with an error that names the column. */
unsigned facet_gfx12_insn_parse(const char *text, uint32_t words[3], struct facet_error *err);

#endif
