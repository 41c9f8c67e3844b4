/* The machine as GDB sees it: numbered registers in named features, described in XML made from the
 * machine's own tables.
 *
 * A CSR is a plain number under its name, because GDB refuses to assign a number to a register
 * whose type has fields ("Invalid cast."); one with fields has a second name, NAME_fields, that
 * shows them.
 *
 * Names become identifiers that GDB's expressions can spell: lower case, every other character than
 * a letter or digit an underscore (CAP.PREC.MODE is $cap_prec_mode). */
#ifndef FACET_GDB_TARGET_H
#define FACET_GDB_TARGET_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "gdb/arch.h"

struct facet_gdb_reg {
    const char *name;
    const char *feature;
    const struct facet_reg_desc *reg; /* one of the two, or none: it reads 0 */
    const struct facet_csr_desc *csr;
    uint32_t index;   /* in the machine's table */
    const char *call; /* struct facet_gdb_borrowed */
    bool fields;      /* the view of a CSR by its fields, of a register by its bits */
    uint8_t bytes;    /* as sent: 1, 2, 4, 8 or 16 */
};

struct facet_gdb_target {
    struct facet_arena arena;
    const struct facet_gdb_arch *arch;
    uint32_t core;              /* the one whose tables are described */
    struct facet_gdb_reg *regs; /* the index is GDB's number */
    uint32_t count;
    uint32_t general; /* number of registers in the `g` packet */
    struct facet_strbuf features;
    struct facet_strbuf memory_map;
};

/* FACET_ERR_USAGE for a machine without a core that executes instructions. */
enum facet_status facet_gdb_target_make(struct facet_gdb_target *target,
                                        const facet_machine *machine,
                                        struct facet_error *err);
void facet_gdb_target_free(struct facet_gdb_target *target);

/* The value as `bytes` little-endian bytes; false when the core has no such register. */
bool facet_gdb_reg_get(const struct facet_gdb_target *target,
                       const facet_machine *machine,
                       uint32_t core,
                       uint32_t number,
                       uint8_t out[16]);
/* false also when the machine refuses the value. */
bool facet_gdb_reg_set(const struct facet_gdb_target *target,
                       facet_machine *machine,
                       uint32_t core,
                       uint32_t number,
                       const uint8_t in[16]);

#endif
