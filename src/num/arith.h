/* Arithmetic on any floating-point format under any policy. Operands and results are bit patterns
 * in the low bits of a uint64_t (higher operand bits are ignored, higher result bits are 0); flags
 * are OR-ed into *flags. Every operation is the exact result rounded once.
 *
 * With the RISC-V policy these are the rules of F, D and Zfh (hart.h has them under short names and
 * compiled per format); with facet_tile_policy() those of tile-semantics.md 5 (tile.h); with the
 * policy of an EFF snapshot those of numeric.md 10 (accum.h). */
#ifndef FACET_NUM_ARITH_H
#define FACET_NUM_ARITH_H

#include "num/flags.h"
#include "num/format.h"

/* Round to nearest even, subnormals kept, IEEE overflow, canonical NaNs, and so on for other rm. */
static inline struct facet_num_policy facet_ieee_policy(unsigned rm)
{
    return (struct facet_num_policy){.rm = (uint8_t)rm};
}

uint64_t facet_num_add(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
uint64_t facet_num_sub(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
uint64_t facet_num_mul(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
/* finite / 0: DZ and a signed infinity, in E4M3 the NaN that stands for overflow. */
uint64_t facet_num_div(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
uint64_t facet_num_sqrt(enum facet_format format,
                        uint64_t a,
                        const struct facet_num_policy *policy,
                        unsigned *flags);
/* (-1)^negate_product * a * b + (-1)^negate_addend * c. 0 * inf raises NV whatever c is. The
 * negations do not touch a NaN. */
uint64_t facet_num_fma(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       uint64_t c,
                       bool negate_product,
                       bool negate_addend,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
/* The exact a * b - c * d rounded once (rt-semantics.md 4). Formats with p <= 24. NV for
 * 0 * inf in either product, for inf - inf of the products and for signaling operands. */
uint64_t facet_num_dp2(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       uint64_t c,
                       uint64_t d,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
/* 1/x and 1/sqrt(x), correctly rounded, formats with p <= 24 (tile-semantics.md 5.3 step 4, 5.5):
 * a zero gives DZ and infinity of its sign; where the format has none NaN of that sign; the largest
 * finite value when the policy saturates with flags (R-TILE-96). */
uint64_t facet_num_rcp(enum facet_format format,
                       uint64_t a,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
uint64_t facet_num_rsqrt(enum facet_format format,
                         uint64_t a,
                         const struct facet_num_policy *policy,
                         unsigned *flags);

/* RISC-V FMIN/FMAX: a NaN loses against a number, -0 < +0, a signaling NaN raises NV; two NaNs give
 * the NaN of the policy. */
uint64_t facet_num_min(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags);
uint64_t facet_num_max(enum facet_format format,
                       uint64_t a,
                       uint64_t b,
                       const struct facet_num_policy *policy,
                       unsigned *flags);

/* eq raises NV for a signaling NaN only, lt and le for any NaN; a NaN compares false. */
bool facet_num_eq(enum facet_format format,
                  uint64_t a,
                  uint64_t b,
                  const struct facet_num_policy *policy,
                  unsigned *flags);
bool facet_num_lt(enum facet_format format,
                  uint64_t a,
                  uint64_t b,
                  const struct facet_num_policy *policy,
                  unsigned *flags);
bool facet_num_le(enum facet_format format,
                  uint64_t a,
                  uint64_t b,
                  const struct facet_num_policy *policy,
                  unsigned *flags);

bool facet_num_is_nan(enum facet_format format, uint64_t a);
bool facet_num_is_snan(enum facet_format format, uint64_t a);

/* RISC-V FCLASS: one bit of 0..9 = -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf,
 * signaling NaN, quiet NaN. */
unsigned facet_num_fclass(enum facet_format format, uint64_t a);

#endif
