/* The doors of the XPHMG units: who executes a vendor row, who answers for a vendor CSR. */
#ifndef FACET_XPHMG_UNITS_VENDOR_H
#define FACET_XPHMG_UNITS_VENDOR_H

#include "xphmg/hart/hart.h"

/* Each executes one row of its extension, or returns the trap with nothing written. An absent unit
 * is an illegal instruction. */
struct facet_trap facet_pmask_execute(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_execute(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_rsv_execute(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_mtx_execute(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xphmg_gfx_execute(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xphmg_rt_execute(struct facet_hart *h, const struct facet_insn *in);
/* A word of RT that no row has: LAST_EC says so, if there is RT. */
void facet_xphmg_rt_illegal(struct facet_hart *h, uint32_t word);

/* A base instruction that SVSTATE.EN = 1 repeats: the lane loop of rt-semantics.md 2.4. */
bool facet_rsv_affects(const struct facet_insn *in);
struct facet_trap facet_rsv_repeat(struct facet_hart *h, const struct facet_insn *in);

/* Whether an instruction is one of the units', or reaches their registers, and once begun goes to
 * its end: it neither waits nor is left half-way (part.h), nor asks for the time. */
bool facet_vendor_prompt(const struct facet_insn *in);

/* RT.BBOX or RT.TRI in its usual form, from beginning to end: true when nothing is left to do, else
 * nothing was done. */
bool facet_xphmg_rt_at_once(struct facet_hart *h, const struct facet_insn *in);

/* Any vendor row. */
struct facet_trap facet_vendor_execute(struct facet_hart *h, const struct facet_insn *in);

/* Vendor CSRs by their full number (direct 12-bit ones, and those selected by XISEL). */
enum facet_csr_answer {
    FACET_CSR_ANSWERED,
    FACET_CSR_ABSENT, /* illegal instruction */
};

/* What a read gives; no side effect. */
enum facet_csr_answer
facet_vendor_csr_read(const struct facet_hart *h, unsigned number, uint64_t *value);
/* The effect of a csr* instruction that writes: `op` and its operand, because MODE and ALT stage
 * what csrrs and csrrc change (R-CAP-14). */
enum facet_csr_answer facet_vendor_csr_write(struct facet_hart *h,
                                             unsigned number,
                                             enum facet_csr_op op,
                                             uint64_t operand);

/* Both, for one whose row is known. */
enum facet_csr_answer facet_vendor_csr_access(struct facet_hart *h,
                                              const struct facet_csr_row *row,
                                              unsigned number,
                                              enum facet_csr_op op,
                                              uint64_t operand,
                                              uint64_t *old);

/* Whether what the hart waits for at a fence has come (R-XM-26, R-XM-27). */
bool facet_xmem_wait_over(const struct facet_hart *h);

/* ORs bits into CAP.XMEM.EVENTS, those of absent features excepted (R-XM-23, R-XM-35). */
void facet_cap_event(struct facet_hart *h, uint64_t events);

#endif
