/* The control and status registers of the hart and its units. Rows of spec/ *.csr.tsv say where
 * each one lives, what it can hold and which feature it needs (contract/xphmg_csr_rules.h); one
 * table binds them to the members of struct facet_hart and struct facet_units, and to the functions
 * of those registers that are more than storage. A row whose function is missing does not link.
 *
 * Reading is a pure function of the state. A write stores what the csr* instruction would write,
 * made legal; the same rules decide whether a snapshot is valid.
 *
 * Spec: spec/README.md (CSR rows), R-CAP-13, R-CAP-22, R-CAP-40 to 43, R-CAP-56, R-CAP-57, R-XM-35.
 */
#ifndef FACET_XPHMG_HART_CSR_FILE_H
#define FACET_XPHMG_HART_CSR_FILE_H

#include "xphmg/hart/hart.h"

/* Who reads which register. */
struct facet_csr_ask {
    const struct facet_hart *hart; /* NULL: only registers of the units can be asked for */
    const struct facet_units *units;
    const struct facet_xmem *xmem;
    const struct facet_csr_row *row;
    unsigned number; /* the full one, within a family */
};
typedef uint64_t facet_hart_csr_read_fn(const struct facet_csr_ask *ask);

struct facet_csr_set {
    const struct facet_csr_row *row;
    unsigned number;
    enum facet_csr_op op;
    uint64_t operand;
    uint64_t value; /* what the instruction writes: `op` of what it read and the operand */
};
typedef void facet_hart_csr_write_fn(struct facet_hart *h, const struct facet_csr_set *set);

/* The value that a csr* instruction writes. */
static inline uint64_t facet_hart_csr_combine(enum facet_csr_op op, uint64_t old, uint64_t operand)
{
    return op == FACET_CSRRS ? old | operand : op == FACET_CSRRC ? old & ~operand : operand;
}

/* Which of the three a csr* instruction is. */
enum facet_csr_op facet_insn_csr_op(const struct facet_insn *in);

/* What the table adds to a row: its rules as functions, and where its storage lies. */
struct facet_csr_entry {
    uint64_t (*visible)(const uint64_t *config);
    uint64_t (*legal)(const uint64_t *config, uint64_t old, uint64_t value);
    facet_hart_csr_read_fn *read;
    facet_hart_csr_write_fn *write;
    uint32_t offset;
    bool base;          /* of the hart, not of the XPHMG units */
    bool privileged;    /* selected by XISEL, and still for M-mode alone (R-CAP-56) */
    bool one_word;      /* all of its storage */
    uint16_t unit;      /* word of the configuration */
    uint64_t unit_bits; /* in that word: must be set for the register to exist; 0: always there */
};
extern const struct facet_csr_entry facet_csr_entries[];

static inline const struct facet_csr_entry *facet_hart_csr_entry_of(const struct facet_csr_row *row)
{
    return &facet_csr_entries[row - facet_csr_rows];
}

/* What a write leaves in storage, by access kind: RO bits stay, RW and WARL take what is legal,
 * ones clear W1C, any write clears WC, and W1A holds nothing. */
static inline uint64_t facet_hart_csr_keep(const struct facet_csr_row *row,
                                           const struct facet_cap_config *config,
                                           uint64_t old,
                                           uint64_t value)
{
    uint64_t kept = old & ~(row->writable | row->w1c | row->wc | row->w1a);

    return kept | facet_hart_csr_entry_of(row)->legal(config->word, old, value) |
           (old & row->w1c & ~value);
}

/* The value of a register; false when there is none: its unit is absent, or it stands for another
 * one (XIREG). */
bool facet_hart_csr_read(const struct facet_csr_ask *ask, uint64_t *value);
/* A register of `h` that can be read is written; `old` is what reading gave. */
void facet_hart_csr_write(struct facet_hart *h,
                          const struct facet_csr_ask *ask,
                          uint64_t old,
                          enum facet_csr_op op,
                          uint64_t operand);

/* Bits that exist in this configuration; what a write of `value` over `old` would leave in RW and
 * WARL fields; whether the register can hold the value at all. */
uint64_t facet_hart_csr_visible(const struct facet_cap_config *config,
                                const struct facet_csr_row *row);
uint64_t facet_hart_csr_legal(const struct facet_cap_config *config,
                              const struct facet_csr_row *row,
                              uint64_t old,
                              uint64_t value);
bool facet_hart_csr_holds(const struct facet_cap_config *config,
                          const struct facet_csr_row *row,
                          uint64_t value);

/* The words of a unit's register that is plain storage, *count of them: one, or one per register of
 * a family, or the halves of a 128-bit register. NULL for any other register. */
const uint64_t *facet_hart_csr_stored(const struct facet_units *units,
                                      const struct facet_csr_row *row,
                                      unsigned *count);
uint64_t *
facet_hart_csr_storage(struct facet_units *units, const struct facet_csr_row *row, unsigned *count);

/* A 64-bit word of the storage of MTX2, MTX3, MTX4 or MTXBIAS; false beyond its end. */
bool facet_mtx_word(
    const struct facet_mtx *mtx, unsigned bank, unsigned number, unsigned word, uint64_t *value);

#endif
