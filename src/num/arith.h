/* Arithmetic on any floating-point format under any policy. Operands and results are bit patterns
 * in the low bits of a uint64_t (higher operand bits are ignored, higher result bits are 0); flags
 * are OR-ed into *flags. Every operation is the exact result rounded once.
 *
 * With the RISC-V policy these are the rules of F, D and Zfh (hart.h has them under short names and
 * compiled per format); with facet_num_tile_policy() those of tile-semantics.md 5 (tile.h); with
 * the policy of an EFF snapshot those of numeric.md 10 (accum.h). */
#ifndef FACET_NUM_ARITH_H
#define FACET_NUM_ARITH_H

#include "num/format.h"

/* Round to nearest even, subnormals kept, IEEE overflow, canonical NaNs, and so on for other rm. */
static inline struct facet_num_policy facet_num_ieee_policy(unsigned rm)
{
    return (struct facet_num_policy){.rm = (uint8_t)rm};
}

#endif
