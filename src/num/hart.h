/* Scalar floating point of the RISC-V hart: F, D and Zfh, compiled per format.
 *
 * Operands are bit patterns; rm is a resolved rounding mode 0..4 (the caller has looked up DYN and
 * refused 5..7); flags are OR-ed in fcsr order and never leave the low five bits. NaN results are
 * canonical, tininess is detected after rounding. */
#ifndef FACET_NUM_HART_H
#define FACET_NUM_HART_H

#include "num/arith.h"
#include "num/convert.h"

/* Added to a rounding mode: no short way for usual operands (fast.h); the same results, slower. */
enum { FACET_RM_PLAIN = 8 };

/* NaN boxing: a narrower value in an f register has all upper bits 1; a value that is not boxed
 * reads as the canonical NaN. */
static inline uint64_t facet_num_box32(uint32_t bits)
{
    return UINT64_C(0xFFFFFFFF00000000) | bits;
}

static inline uint64_t facet_num_box16(uint16_t bits)
{
    return UINT64_C(0xFFFFFFFFFFFF0000) | bits;
}

static inline uint32_t facet_num_unbox32(uint64_t reg)
{
    return reg >> 32 == 0xFFFFFFFF ? (uint32_t)reg : 0x7FC00000;
}

static inline uint16_t facet_num_unbox16(uint64_t reg)
{
    return reg >> 16 == UINT64_C(0xFFFFFFFFFFFF) ? (uint16_t)reg : 0x7E00;
}

#define FACET_NUM_HART_FORMAT(prefix, type)                                                        \
    type prefix##_add(type a, type b, unsigned rm, unsigned *flags);                               \
    type prefix##_sub(type a, type b, unsigned rm, unsigned *flags);                               \
    type prefix##_mul(type a, type b, unsigned rm, unsigned *flags);                               \
    type prefix##_div(type a, type b, unsigned rm, unsigned *flags);                               \
    type prefix##_sqrt(type a, unsigned rm, unsigned *flags);                                      \
    type prefix##_fmadd(type a, type b, type c, unsigned rm, unsigned *flags);                     \
    type prefix##_fmsub(type a, type b, type c, unsigned rm, unsigned *flags);                     \
    type prefix##_fnmsub(type a, type b, type c, unsigned rm, unsigned *flags);                    \
    type prefix##_fnmadd(type a, type b, type c, unsigned rm, unsigned *flags);                    \
    type prefix##_min(type a, type b, unsigned *flags);                                            \
    type prefix##_max(type a, type b, unsigned *flags);                                            \
    bool prefix##_eq(type a, type b, unsigned *flags);                                             \
    bool prefix##_lt(type a, type b, unsigned *flags);                                             \
    bool prefix##_le(type a, type b, unsigned *flags);                                             \
    unsigned prefix##_class(type a);                                                               \
    /* FCVT to integers; the 32-bit forms return the value as the register wants it: both          \
     * sign-extended from 32 bits, so that a cast to uint64_t is the register image on RV64. */    \
    int32_t prefix##_to_i32(type a, unsigned rm, unsigned *flags);                                 \
    int32_t prefix##_to_u32(type a, unsigned rm, unsigned *flags);                                 \
    int64_t prefix##_to_i64(type a, unsigned rm, unsigned *flags);                                 \
    uint64_t prefix##_to_u64(type a, unsigned rm, unsigned *flags);                                \
    type prefix##_from_i64(int64_t n, unsigned rm, unsigned *flags);                               \
    type prefix##_from_u64(uint64_t n, unsigned rm, unsigned *flags)

/* FNMSUB is -(a*b)+c and FNMADD is -(a*b)-c, as in the ISA manual. */
FACET_NUM_HART_FORMAT(facet_f16, uint16_t);
FACET_NUM_HART_FORMAT(facet_f32, uint32_t);
FACET_NUM_HART_FORMAT(facet_f64, uint64_t);
#undef FACET_NUM_HART_FORMAT

uint32_t facet_f16_to_f32(uint16_t a, unsigned *flags);
uint64_t facet_f16_to_f64(uint16_t a, unsigned *flags);
uint64_t facet_f32_to_f64(uint32_t a, unsigned *flags);
uint16_t facet_f32_to_f16(uint32_t a, unsigned rm, unsigned *flags);
uint16_t facet_f64_to_f16(uint64_t a, unsigned rm, unsigned *flags);
uint32_t facet_f64_to_f32(uint64_t a, unsigned rm, unsigned *flags);

#endif
