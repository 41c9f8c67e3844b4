/* The register and CSR tables that the machine's face shows. */
#ifndef FACET_XPHMG_TABLES_H
#define FACET_XPHMG_TABLES_H

#include "base/arena.h"
#include "base/error.h"
#include "isa/isa.h"
#include "xphmg/config.h"

#include <facet/machine.h>

/* One more than the highest CSR number, indirect ones (XISEL) included. */
#define FACET_XPHMG_CSR_LIMIT 0x8000

struct facet_xphmg_tables {
    struct facet_arena arena;
    struct facet_csr_desc *csrs;
    uint32_t csr_count;
    /* CSR number -> index in csrs; 0xFFFF where there is none. */
    uint16_t index[FACET_XPHMG_CSR_LIMIT];
};

/* Generated from the rows of spec/: names, widths, fields. */
enum facet_status facet_xphmg_tables_make(struct facet_xphmg_tables *tables,
                                          const struct facet_cap_config *config,
                                          struct facet_error *err);
void facet_xphmg_tables_free(struct facet_xphmg_tables *tables);

extern const struct facet_reg_desc facet_xphmg_regs[];

#endif
