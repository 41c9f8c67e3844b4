/* When the host's floating point replaces src/num in the fast executor (block_host.def).
 *
 * The host rounds to nearest even, as IEEE 754 says and as C promises to code that does not touch
 * its environment. When the guest's rounding mode is the same, its inexact flag is up already and
 * the result is an ordinary number well inside the normal range, then
 *   - no operand was a NaN or an infinity (the result would be one too, or a zero), no division was
 *     by zero: neither NV nor DZ;
 *   - nothing overflowed or was tiny: neither OF nor UF;
 *   - NX changes nothing, whether raised or not.
 * So the flags stay as they are and the bits are those of the one correctly rounded result. Exact
 * results raise nothing either: sums that are tiny, zeros that come from a zero. All other cases go
 * to src/num. Comparisons of numbers raise nothing in any mode. */
#ifndef FACET_XPHMG_HART_BLOCK_FP_H
#define FACET_XPHMG_HART_BLOCK_FP_H

#include "base/float.h"
#include "num/hart.h"

#include <float.h>
#include <math.h>

enum {
    /* The host computes in the formats themselves, not in wider ones. */
    HOST_IS_EXACT = FLT_EVAL_METHOD == 0 && FLT_RADIX == 2 && FLT_MANT_DIG == 24 &&
                    FLT_MAX_EXP == 128 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024,
};

static inline double host_double(uint64_t reg)
{
    return facet_double_of(reg);
}

static inline float host_float(uint64_t reg)
{
    return facet_float_of(facet_num_unbox32(reg));
}

static inline uint64_t reg_double(double value)
{
    return facet_double_bits(value);
}

static inline uint64_t reg_float(float value)
{
    return facet_num_box32(facet_float_bits(value));
}

/* A finite number of at least twice the smallest normal one: not even its neighbours are tiny. */
static inline bool ordinary_double(uint64_t reg)
{
    return ((reg >> 52) & 0x7FF) - 2 <= UINT64_C(0x7FE) - 2;
}

static inline bool ordinary_float(uint64_t reg)
{
    return ((reg >> 23) & 0xFF) - 2 <= UINT64_C(0xFE) - 2;
}

/* Whether a result that is not ordinary is exact; `row` is the operation. The operands of a finite
 * sum are finite, and when it is tiny it needs no digit that the format lacks. A zero that a zero
 * operand makes had no infinity and no second zero beside it: those give a NaN. */
#define FACET_EXACT(row, x, y, result)                                                             \
    ((row) == FACET_XPHMG_FADD_S || (row) == FACET_XPHMG_FSUB_S || (row) == FACET_XPHMG_FADD_D ||  \
             (row) == FACET_XPHMG_FSUB_D                                                           \
         ? isfinite(result)                                                                        \
     : (row) == FACET_XPHMG_FMUL_S || (row) == FACET_XPHMG_FMUL_D                                  \
         ? (result) == 0 && ((x) == 0 || (y) == 0)                                                 \
         : ((row) == FACET_XPHMG_FDIV_S || (row) == FACET_XPHMG_FDIV_D) && (result) == 0 &&        \
               (x) == 0)

#endif
