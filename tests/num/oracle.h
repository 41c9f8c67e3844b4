/* The independent judge of src/num: results and flags derived from MPFR, from the prose of the
 * specification and from no code under test (it shares only the enum and struct declarations).
 *
 * MPFR computes each operation directly at the precision of the destination with its own rounding
 * and ternary value; tininess is read from the result with unbounded exponent, subnormals come from
 * mpfr_subnormalize. MPFR has no ties-away mode: that one is derived from the truncated results at
 * p and at p + 1 bits. */
#ifndef FACET_TESTS_NUM_ORACLE_H
#define FACET_TESTS_NUM_ORACLE_H

#include "num/element.h"
#include "num/format.h"

#include <stdbool.h>
#include <stdint.h>

enum ref_op {
    REF_ADD,
    REF_SUB,
    REF_MUL,
    REF_DIV,
    REF_SQRT,
    REF_FMA,    /* a*b + c */
    REF_FMSUB,  /* a*b - c */
    REF_FNMSUB, /* -(a*b) + c */
    REF_FNMADD, /* -(a*b) - c */
    REF_RCP,
    REF_RSQRT,
    REF_DP2, /* a*b - c*d */
    REF_MIN,
    REF_MAX,
    REF_EQ,
    REF_LT,
    REF_LE,
    REF_OPS
};

struct ref_result {
    uint64_t bits;
    unsigned flags;
};

extern const char *const ref_op_names[REF_OPS];
/* Number of operands. */
unsigned ref_arity(enum ref_op op);

struct ref_result ref_arith(enum ref_op op,
                            enum facet_format format,
                            const uint64_t operand[4],
                            const struct facet_num_policy *policy);
/* a * 2^shift */
struct ref_result ref_convert(enum facet_format to,
                              enum facet_format from,
                              uint64_t a,
                              int shift,
                              const struct facet_num_policy *policy);
struct ref_result ref_to_int(enum facet_format from,
                             uint64_t a,
                             int shift,
                             unsigned width,
                             bool is_signed,
                             const struct facet_num_policy *policy);
/* n is int64_t when is_signed. */
struct ref_result ref_from_int(enum facet_format to,
                               uint64_t n,
                               bool is_signed,
                               const struct facet_num_policy *policy);
struct ref_result ref_from_ratio(enum facet_format to,
                                 int64_t num,
                                 uint64_t den,
                                 int exponent,
                                 const struct facet_num_policy *policy);
/* numeric.md 9; accumulators as in num/element.h. */
struct ref_result ref_widen(const struct facet_conv *conv, uint32_t element);
struct ref_result ref_narrow(const struct facet_conv *conv, uint32_t acc);
/* Integer column of numeric.md 10 for REF_ADD, SUB, MUL, DIV, SQRT and FMA, by exact rationals. */
struct ref_result ref_int_arith(enum ref_op op, const struct facet_conv *conv, const int32_t v[3]);
/* Tile VCVT (tile-semantics.md 5.5). */
struct ref_result ref_tile_convert(enum facet_format to,
                                   enum facet_format from,
                                   uint64_t a,
                                   const struct facet_num_policy *policy);

#endif
