/* CSR access, one file per register block. Reading is a pure function of the units; a write stores
 * what the csr* instruction would write, made legal: `stored = legal(config, number, value)`. The
 * same legal() tells whether a snapshot can be believed.
 *
 * Spec: spec/cap.csr.tsv, spec/rt.csr.tsv, spec/gfx.csr.tsv, R-CAP-13, R-CAP-22, R-CAP-40 to 43,
 * R-CAP-56, R-CAP-57, R-XM-35. */
#ifndef FACET_XPHMG_CAP_H
#define FACET_XPHMG_CAP_H

#include "xphmg/units.h"

/* 0x7C0-0x7CF, 0x7D5-0x7DF, 0x7E0, 0x7E1: discovery, all read-only; false for other numbers. */
bool facet_cap_core_read(const struct facet_units *units, unsigned number, uint64_t *value);

/* 0x7D0-0x7D4. */
bool facet_cap_prec_read(const struct facet_cap *cap, unsigned number, uint64_t *value);
void facet_cap_prec_write(struct facet_cap *cap,
                          unsigned number,
                          enum facet_csr_op op,
                          uint64_t operand);

/* 0x7E2-0x7F7: memory policy and gather/scatter. Bits of absent features do not exist. */
uint64_t
facet_cap_xmem_legal(const struct facet_cap_config *config, unsigned number, uint64_t value);
/* Events that this configuration can show (R-XM-23, R-XM-35). */
uint64_t facet_cap_events(const struct facet_cap_config *config);

/* 0x7F8-0x7FF. NULL for a number that is not stored: reads 0, or traps (facet_rsv_traps). */
uint64_t *facet_rsv_register(struct facet_rsv *rsv, unsigned number);
bool facet_rsv_traps(unsigned number);
uint64_t facet_rsv_legal(const struct facet_cap_config *config, unsigned number, uint64_t value);

/* 0x830-0x837. */
bool facet_mtx_csr_read(const struct facet_units *units, unsigned number, uint64_t *value);
void facet_mtx_csr_write(struct facet_mtx *mtx, unsigned number, uint64_t value);
/* A 64-bit word of the storage behind MTX2, MTX3, MTX4 or MTXBIAS; false beyond its end. */
bool facet_mtx_word(
    const struct facet_mtx *mtx, unsigned bank, unsigned number, unsigned word, uint64_t *value);

/* 0x7FA0-0x7FAB behind XISEL, and the same registers at 0x820-0x82B (R-RT-01). Both functions take
 * either number; *number becomes the full one. */
bool facet_rt_csr_number(unsigned *number);
bool facet_rt_csr_read(const struct facet_units *units, unsigned number, uint64_t *value);
void facet_rt_csr_write(struct facet_units *units, unsigned number, uint64_t value);
/* What a register of its own can hold: NULL for RTCAP and RTCLSDEF, which show other state. */
uint64_t *facet_rt_register(struct facet_rt *rt, unsigned number);
uint64_t facet_rt_legal(const struct facet_cap_config *config, unsigned number, uint64_t value);

/* 0x800-0x817. A wide register has 128 bits. */
bool facet_gfx_csr_read(const struct facet_gfx *gfx, unsigned number, uint64_t *value);
void facet_gfx_csr_write(struct facet_gfx *gfx, unsigned number, uint64_t value);
bool facet_gfx_csr_wide(unsigned number);
uint64_t facet_gfx_legal(unsigned number, uint64_t value);

/* Registers behind XISEL, by their full numbers. */
bool facet_cap_indirect_read(const struct facet_units *units,
                             const struct facet_xmem *xmem,
                             unsigned number,
                             uint64_t *value);
void facet_cap_indirect_write(struct facet_cap *cap, unsigned number, uint64_t value);
/* Open to M-mode only, although XIREG is not (R-CAP-56). */
bool facet_cap_indirect_privileged(unsigned number);

#endif
