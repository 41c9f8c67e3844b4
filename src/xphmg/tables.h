/* The register and CSR tables that the machine's face shows. */
#ifndef FACET_XPHMG_TABLES_H
#define FACET_XPHMG_TABLES_H

#include "isa/csr_table.h"
#include "xphmg/config.h"

/* The CSRs that a machine of this configuration has. */
enum facet_status facet_xphmg_tables_make(struct facet_csr_table *table,
                                          const struct facet_cap_config *config,
                                          struct facet_error *err);

extern const struct facet_reg_desc facet_xphmg_regs[];

#endif
