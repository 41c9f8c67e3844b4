/* The functions of registers that are more than storage, declared from the table:
 * facet_hart_csr_read_NAME and facet_hart_csr_write_NAME for each row with place `code` or `window`
 * (csr_base.c, cap/csr.c). */
#ifndef FACET_XPHMG_HART_CSR_CODE_H
#define FACET_XPHMG_HART_CSR_CODE_H

#include "contract/xphmg_csr_rules.h"
#include "xphmg/hart/csr_file.h"

#define DECLARE_NONE(where)
#define DECLARE_CONST(where)
#define DECLARE_CONFIG(where)
#define DECLARE_STORE(where)
#define DECLARE_BANKED(where)
#define DECLARE_FAMILY(where)
#define DECLARE_VIEW(where)
#define DECLARE_XISEL(where)
#define DECLARE_CODE_RO(where) facet_hart_csr_read_fn facet_hart_csr_read_##where;
#define DECLARE_CODE(where)                                                                        \
    DECLARE_CODE_RO(where) facet_hart_csr_write_fn facet_hart_csr_write_##where;
#define DECLARE_WINDOW(where) DECLARE_CODE(where)
#define DECLARE(name, row, root, kind, where, unit, bits, machine) DECLARE_##kind(where)
FACET_XPHMG_CSRS(DECLARE)

#endif
