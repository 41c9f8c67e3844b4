/* The vocabulary of the number library: rounding modes, flags, and the policy that turns one exact
 * result into the bits that a given machine writes.
 *
 * The three machines disagree about NaN payloads, flush to zero, saturation and what overflow
 * leaves in a format without infinity; they agree about everything else. So the disagreements are
 * fields of struct facet_num_policy and the arithmetic exists once (core.h). Nothing in this folder
 * reads or changes the host's floating-point environment: all results come from integers.
 *
 * Spec: numeric.md 4 (rounding codes), 11.2 and appendix A (flag positions); tile-semantics.md 5.
 */
#ifndef FACET_NUM_FLAGS_H
#define FACET_NUM_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

/* Codes of numeric.md 4, which are those of RISC-V `frm` and of the tile's RM. A code outside 0..4
 * is the caller's bug; it behaves as RNE. */
enum facet_rm {
    FACET_RNE, /* nearest, ties to even */
    FACET_RTZ, /* toward zero */
    FACET_RDN, /* toward -infinity */
    FACET_RUP, /* toward +infinity */
    FACET_RMM, /* nearest, ties away from zero */
    FACET_RM_COUNT
};

/* Every function ORs what it raises into the caller's word. The low five bits are those of fcsr,
 * EXC.ST and the tile's fstatus; bits 5 and 6 are EXC.ST; bits 12-15 are STAT (appendix A). */
enum facet_flag {
    FACET_NX = 1 << 0,     /* inexact */
    FACET_UF = 1 << 1,     /* underflow: tiny after rounding and inexact, or flushed */
    FACET_OF = 1 << 2,     /* overflow */
    FACET_DZ = 1 << 3,     /* division by zero */
    FACET_NV = 1 << 4,     /* invalid */
    FACET_QNAN = 1 << 5,   /* QNAN_SEEN */
    FACET_SNAN = 1 << 6,   /* SNAN_SEEN */
    FACET_FTZ = 1 << 12,   /* FTZ_HIT */
    FACET_SAT = 1 << 13,   /* SAT_HIT */
    FACET_DOWN = 1 << 14,  /* DOWNCAST_TAKEN */
    FACET_UNSUP = 1 << 15, /* UNSUP_FMT */

    FACET_FLAGS_IEEE = 0x1F,      /* what fcsr and fstatus keep */
    FACET_FLAGS_EXC_ST = 0x7F,    /* what EXC.ST keeps */
    FACET_FLAGS_STAT = 0xF << 12, /* what STAT keeps */
};

/* When a non-zero result becomes a zero of its sign (with UF, NX and FTZ_HIT). */
enum facet_flush {
    FACET_FLUSH_NONE,
    FACET_FLUSH_TINY,      /* CAP: tiny after rounding with unbounded exponent (numeric.md 9) */
    FACET_FLUSH_SUBNORMAL, /* tile: the rounded result is subnormal (tile-semantics.md 5.4 d) */
};

/* What happens to a finite result above the largest finite value. */
enum facet_saturate {
    FACET_SATURATE_NONE,    /* OF, NX and the IEEE result */
    FACET_SATURATE_QUIET,   /* CAP SAT: largest finite value, SAT_HIT and nothing else */
    FACET_SATURATE_FLAGGED, /* tile FSAT: largest finite value with OF and NX */
};

/* Which NaN an operation with NaN operands returns, and the sign of the NaN that stands for
 * overflow in a format without infinity. */
enum facet_nan_rule {
    FACET_NAN_CANONICAL, /* RISC-V and CAP: always the canonical NaN of the format */
    FACET_NAN_FIRST,     /* tile: the first NaN operand, quieted; overflow keeps the sign */
};

struct facet_num_policy {
    uint8_t rm;         /* enum facet_rm */
    uint8_t flush;      /* enum facet_flush, for results */
    uint8_t saturate;   /* enum facet_saturate */
    uint8_t nan;        /* enum facet_nan_rule */
    bool flush_operand; /* subnormal operands read as zero of their sign (FTZ_HIT) */
};

#endif
