/* The one exact core behind every operation: unpack to a value, compute without error, round once.
 * Private to src/num: the public doors are arith.h, convert.h, element.h, accum.h, hart.h, tile.h.
 *
 * A finite non-zero value is sig * 2^(exp - 63) with bit 63 of sig set. Where an exact result is
 * longer than 64 bits the lost part is *jammed*: OR-ed into bit 0. A jammed significand with an odd
 * last bit stands for some number strictly between its even neighbours. All formats have p <= 53,
 * so a rounding position lies at least 10 bits above and every mode sees the same thing it would
 * see in the infinitely long significand: below half, half, above half, or exact.
 *
 * Everything is inline and takes the format as a pointer: with a constant format the compiler
 * folds the table away, which is how hart.c gets straight-line binary32 and binary64 code.
 *
 * Spec: numeric.md 9 *Round* and appendix A nm_round_fp, nm_dec; tile-semantics.md 5.3, 5.4. */
#ifndef FACET_NUM_CORE_H
#define FACET_NUM_CORE_H

#include "num/format.h"
#include "num/wide.h"

#define FACET_NUM_INLINE static inline __attribute__((always_inline))
#define FACET_LIKELY(x) __builtin_expect(!!(x), 1)
#define FACET_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Bits, so that the classes of several operands can be tested together; 0 is the common case. */
enum facet_num_class {
    FACET_CLASS_NUMBER = 0, /* finite and not zero */
    FACET_CLASS_ZERO = 1,
    FACET_CLASS_INF = 2,
    FACET_CLASS_QNAN = 4,
    FACET_CLASS_SNAN = 8,
    FACET_CLASS_NAN = FACET_CLASS_QNAN | FACET_CLASS_SNAN,
};

struct facet_num_value {
    uint64_t sig;
    int32_t exp; /* exponent of bit 63 */
    uint8_t cls; /* enum facet_num_class */
    bool sign;
};

FACET_NUM_INLINE uint64_t facet_num_sign_bit(const struct facet_fp_format *f)
{
    return UINT64_C(1) << (f->width - 1);
}

FACET_NUM_INLINE uint64_t facet_num_magnitude(const struct facet_fp_format *f, uint64_t bits)
{
    return bits & (facet_num_sign_bit(f) - 1);
}

FACET_NUM_INLINE uint64_t facet_num_signed(const struct facet_fp_format *f,
                                           bool sign,
                                           uint64_t magnitude)
{
    return magnitude | (uint64_t)sign << (f->width - 1);
}

/* The bit that makes a NaN quiet; 0 in formats whose NaNs are all quiet. */
FACET_NUM_INLINE uint64_t facet_num_quiet_bit(const struct facet_fp_format *f)
{
    if (!f->has_signaling) {
        return 0;
    }
    return UINT64_C(1) << (f->lite ? 6 : f->p - 2);
}

/* BF16_LITE container to class and value (numeric.md 3.1): low fraction bits ignored, exponents
 * outside the E7M4 range read as zero or infinity. */
FACET_NUM_INLINE struct facet_num_value facet_num_unpack_lite(uint64_t bits, unsigned *flags)
{
    struct facet_num_value v = {0, 0, FACET_CLASS_ZERO, (bits >> 15 & 1) != 0};
    unsigned exponent = bits >> 7 & 0xFF, fraction = bits >> 3 & 0xF;

    if (exponent == 255 && fraction != 0) {
        v.cls = (fraction & 8) != 0 ? FACET_CLASS_QNAN : FACET_CLASS_SNAN;
    } else if (exponent > 190) {
        v.cls = FACET_CLASS_INF;
    } else if (exponent >= 65) {
        v.cls = FACET_CLASS_NUMBER;
        v.exp = (int32_t)exponent - 127;
        v.sig = (uint64_t)(16 + fraction) << 59;
    } else if ((bits & 0x7FFF) != 0) {
        *flags |= FACET_FTZ;
    }
    return v;
}

/* Bits to value. Bits above the format's width are ignored. A subnormal reads as zero of its sign,
 * with FTZ_HIT, when `flush_operand` is set. NaNs raise nothing here: what they raise depends on
 * the operation. */
FACET_NUM_INLINE struct facet_num_value facet_num_unpack(const struct facet_fp_format *f,
                                                         uint64_t bits,
                                                         bool flush_operand,
                                                         unsigned *flags)
{
    struct facet_num_value v = {0, 0, FACET_CLASS_NUMBER, (bits >> (f->width - 1) & 1) != 0};
    const unsigned fraction_bits = f->p - 1u;
    uint64_t magnitude = facet_num_magnitude(f, bits);
    uint64_t exponent = magnitude >> fraction_bits;

    if (f->lite) {
        return facet_num_unpack_lite(bits, flags);
    }
    if (FACET_LIKELY(exponent != 0 && magnitude <= f->max_finite)) {
        v.sig = UINT64_C(1) << 63 | magnitude << (63 - fraction_bits);
        v.exp = (int32_t)exponent + f->emin - 1;
        return v;
    }
    if (magnitude > f->max_finite) {
        if (f->has_inf && magnitude == f->infinity) {
            v.cls = FACET_CLASS_INF;
        } else {
            bool quiet = !f->has_signaling || (magnitude & facet_num_quiet_bit(f)) != 0;
            v.cls = quiet ? FACET_CLASS_QNAN : FACET_CLASS_SNAN;
        }
    } else if (magnitude == 0) {
        v.cls = FACET_CLASS_ZERO;
    } else if (flush_operand) {
        v.cls = FACET_CLASS_ZERO;
        *flags |= FACET_FTZ;
    } else {
        int zeros = facet_clz64(magnitude);
        v.sig = magnitude << zeros;
        v.exp = f->emin - (int32_t)fraction_bits + 63 - zeros;
    }
    return v;
}

/* Does the dropped part, left-aligned in `rest`, push the kept part up by one? */
FACET_NUM_INLINE bool facet_num_round_up(uint64_t kept, uint64_t rest, bool sign, unsigned rm)
{
    const uint64_t half = UINT64_C(1) << 63;

    FACET_REQUIRE(rm < FACET_RM_COUNT);
    switch (rm) {
    case FACET_RTZ:
        return false;
    case FACET_RDN:
        return sign && rest != 0;
    case FACET_RUP:
        return !sign && rest != 0;
    case FACET_RMM:
        return rest >= half;
    default:
        return rest > half - (kept & 1); /* an odd number also takes the tie */
    }
}

/* sig to p bits: returns the rounded significand in [2^(p-1), 2^p] (smaller for shifted input). */
FACET_NUM_INLINE uint64_t
facet_num_round_sig(uint64_t sig, unsigned p, bool sign, unsigned rm, bool *inexact)
{
    uint64_t kept = sig >> (64 - p), rest = sig << p;

    FACET_REQUIRE(p >= 1 && p <= 63);
    *inexact = rest != 0;
    return kept + facet_num_round_up(kept, rest, sign, rm);
}

/* The result of an operation whose rounded value lies beyond the largest finite number. */
FACET_NUM_INLINE uint64_t facet_num_overflow(const struct facet_fp_format *f,
                                             bool sign,
                                             const struct facet_num_policy *policy,
                                             unsigned *flags)
{
    bool inward = policy->rm == FACET_RTZ || (policy->rm == FACET_RDN && !sign) ||
                  (policy->rm == FACET_RUP && sign);

    if (policy->saturate == FACET_SATURATE_QUIET) {
        *flags |= FACET_SAT;
        return facet_num_signed(f, sign, f->max_finite);
    }
    *flags |= FACET_OF | FACET_NX;
    if (inward || policy->saturate == FACET_SATURATE_FLAGGED) {
        return facet_num_signed(f, sign, f->max_finite);
    }
    if (f->has_inf) {
        return facet_num_signed(f, sign, f->infinity);
    }
    *flags |= FACET_QNAN;
    return facet_num_signed(f, sign && policy->nan == FACET_NAN_FIRST, f->nan);
}

/* Results below 2^emin before rounding: subnormals, zero, the smallest normal, or a flush. */
FACET_NUM_INLINE uint64_t facet_num_round_small(const struct facet_fp_format *f,
                                                struct facet_num_value x,
                                                const struct facet_num_policy *policy,
                                                unsigned *flags)
{
    bool inexact, tiny;
    uint64_t kept = facet_num_round_sig(x.sig, f->p, x.sign, policy->rm, &inexact);

    /* After rounding with unbounded exponent: only a carry from just below reaches 2^emin. */
    tiny = x.exp + (int32_t)(kept >> f->p) < f->emin;
    if (tiny && (policy->flush == FACET_FLUSH_TINY || !f->has_subnormals)) {
        *flags |= FACET_FTZ | FACET_UF | FACET_NX;
        return facet_num_signed(f, x.sign, 0);
    }
    kept = facet_num_round_sig(facet_num_shr_jam64(x.sig, (unsigned)(f->emin - x.exp)),
                               f->p,
                               x.sign,
                               policy->rm,
                               &inexact);
    if (policy->flush == FACET_FLUSH_SUBNORMAL && kept != 0 && kept >> (f->p - 1) == 0) {
        *flags |= FACET_FTZ | FACET_UF | FACET_NX;
        return facet_num_signed(f, x.sign, 0);
    }
    if (inexact) {
        *flags |= tiny ? FACET_NX | FACET_UF : FACET_NX;
    }
    if (f->lite) { /* only 2^emin is left: everything smaller was flushed */
        kept = 0x2080;
    }
    return facet_num_signed(f, x.sign, kept);
}

/* *Round*: a finite non-zero value to format f. */
FACET_NUM_INLINE uint64_t facet_num_round(const struct facet_fp_format *f,
                                          struct facet_num_value x,
                                          const struct facet_num_policy *policy,
                                          unsigned *flags)
{
    bool inexact;
    uint64_t code;

    if (FACET_UNLIKELY(x.exp < f->emin)) {
        return facet_num_round_small(f, x, policy, flags);
    }
    if (FACET_UNLIKELY(x.exp > f->emax)) {
        return facet_num_overflow(f, x.sign, policy, flags);
    }
    code = facet_num_round_sig(x.sig, f->p, x.sign, policy->rm, &inexact);
    code += (uint64_t)(x.exp - f->emin) << (f->p - 1);
    if (f->lite) { /* E7M4 code to the BF16 container: exponent + 64, fraction << 3 */
        code = ((code >> 4) + 64) << 7 | (code & 15) << 3;
    }
    if (FACET_UNLIKELY(code > f->max_finite)) {
        return facet_num_overflow(f, x.sign, policy, flags);
    }
    *flags |= inexact ? FACET_NX : 0;
    return facet_num_signed(f, x.sign, code);
}

/* A NaN operand made quiet, payload and sign kept. */
FACET_NUM_INLINE uint64_t facet_num_quiet(const struct facet_fp_format *f, uint64_t bits)
{
    return (bits | facet_num_quiet_bit(f)) & (facet_num_sign_bit(f) * 2 - 1);
}

/* The integer n as a value, n != 0. */
FACET_NUM_INLINE struct facet_num_value facet_num_of_u64(uint64_t n, bool sign)
{
    int zeros = facet_clz64(n);
    struct facet_num_value v = {n << zeros, 63 - zeros, FACET_CLASS_NUMBER, sign};

    return v;
}

#endif
