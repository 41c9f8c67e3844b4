/* The CSRs of a machine as its face describes them (facet/machine.h), made from the rows of spec/:
 * names, widths, fields. */
#ifndef FACET_ISA_CSR_TABLE_H
#define FACET_ISA_CSR_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "isa/table.h"

#include <facet/machine.h>

/* One more than the highest CSR number, indirect ones (XISEL) included. */
enum { FACET_CSR_LIMIT = 0x8000 };

struct facet_csr_table {
    struct facet_arena arena;
    struct facet_csr_desc *csrs;
    uint32_t count;
    /* CSR number (first or second address, below FACET_CSR_LIMIT) -> index in csrs; UINT16_MAX
     * where there is none. Not part of the structure: machines are copied when they are restored.
     */
    uint16_t *index;
};

/* Whether the machine has the registers of the row; asked twice. */
typedef bool facet_csr_present(const void *machine, const struct facet_csr_row *row);

/* On failure the table is empty. An empty table is all zeros, or what _free leaves. */
enum facet_status facet_csr_table_make(struct facet_csr_table *table,
                                       facet_csr_present *present,
                                       const void *machine,
                                       struct facet_error *err);
void facet_csr_table_free(struct facet_csr_table *table);

#endif
