/* Floating point of one RSV lane, on values: no hart in here.
 *
 * Spec: rt-semantics.md 2.5; R-RSV-15, R-RSV-23, R-RSV-24. */
#ifndef FACET_XPHMG_RSV_FP_H
#define FACET_XPHMG_RSV_FP_H

#include "num/eff.h"
#include "xphmg/hart/insn.h"

/* The result of a row of fp.def as the destination register holds it. a, b, c are raw registers,
 * `rm` the rounding mode of the instruction (numeric.md 7); FTZ, NaN policy and saturation come
 * from `eff` where the row obeys them. Flags are OR-ed into *flags; those of a row that is not
 * numeric mean nothing. */
uint64_t facet_rsv_fp(const struct facet_insn *in,
                      const struct facet_eff *eff,
                      unsigned rm,
                      uint64_t a,
                      uint64_t b,
                      uint64_t c,
                      unsigned *flags);

#endif
