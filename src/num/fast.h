/* The short way for what programs do nearly always: normal operands, round to nearest even, a
 * normal result below the overflow threshold. No policy field can matter then, so hart.c, accum.c
 * and tile.c share it; everything else returns false, touches nothing, and takes the full way of
 * ops.h. Integers only, like the rest: it is the same arithmetic with the special cases left out,
 * small enough for the compiler to keep in registers. Private to src/num.
 *
 * Who wants the full way whatever the operands are passes a mode that is none (FACET_RM_PLAIN).
 *
 * Only for the IEEE formats FP16, FP32, FP64 (an infinity directly above the largest finite code).
 */
#ifndef FACET_NUM_FAST_H
#define FACET_NUM_FAST_H

#include "base/ways.h"
#include "num/ops.h"

FACET_NUM_INLINE bool facet_num_fast_normal(const struct facet_fp_format *f, uint64_t bits)
{
    uint64_t least = UINT64_C(1) << (f->p - 1);

    return facet_num_magnitude(f, bits) - least < f->infinity - least;
}

FACET_NUM_INLINE struct facet_num_value facet_num_fast_unpack(const struct facet_fp_format *f,
                                                              uint64_t bits)
{
    uint64_t magnitude = facet_num_magnitude(f, bits);
    struct facet_num_value v = {
        .sig = UINT64_C(1) << 63 | magnitude << (64 - f->p),
        .exp = (int32_t)(magnitude >> (f->p - 1)) + f->emin - 1,
        .cls = FACET_CLASS_NUMBER,
        .sign = (bits >> (f->width - 1) & 1) != 0,
    };

    return v;
}

/* Nearest even into *result when the value stays normal even if it rounds up a binade. */
FACET_NUM_INLINE bool facet_num_fast_round(const struct facet_fp_format *f,
                                           struct facet_num_value v,
                                           uint64_t *result,
                                           unsigned *flags)
{
    uint64_t kept = v.sig >> (64 - f->p), rest = v.sig << f->p;

    if (FACET_UNLIKELY(v.exp < f->emin || v.exp >= f->emax)) {
        return false;
    }
    FACET_FAST_WAY(NUM_SHORT);
    kept += rest > (UINT64_C(1) << 63) - (kept & 1);
    kept += (uint64_t)(v.exp - f->emin) << (f->p - 1);
    *flags |= rest != 0 ? FACET_NX : 0;
    *result = facet_num_signed(f, v.sign, kept);
    return true;
}

FACET_NUM_INLINE bool facet_num_fast_add(const struct facet_fp_format *f,
                                         uint64_t a,
                                         uint64_t b,
                                         bool subtract,
                                         unsigned rm,
                                         uint64_t *result,
                                         unsigned *flags)
{
    struct facet_num_value x, y;

    if (FACET_UNLIKELY(rm != FACET_RNE || !facet_num_fast_normal(f, a) ||
                       !facet_num_fast_normal(f, b))) {
        return false;
    }
    x = facet_num_fast_unpack(f, a);
    y = facet_num_fast_unpack(f, b);
    y.sign ^= subtract;
    x = facet_num_sum(x, y, FACET_RNE);
    return FACET_LIKELY(x.cls == FACET_CLASS_NUMBER) && facet_num_fast_round(f, x, result, flags);
}

FACET_NUM_INLINE bool facet_num_fast_mul(const struct facet_fp_format *f,
                                         uint64_t a,
                                         uint64_t b,
                                         unsigned rm,
                                         uint64_t *result,
                                         unsigned *flags)
{
    if (FACET_UNLIKELY(rm != FACET_RNE || !facet_num_fast_normal(f, a) ||
                       !facet_num_fast_normal(f, b))) {
        return false;
    }
    return facet_num_fast_round(
        f,
        facet_num_product(f, facet_num_fast_unpack(f, a), facet_num_fast_unpack(f, b)),
        result,
        flags);
}

FACET_NUM_INLINE bool facet_num_fast_div(const struct facet_fp_format *f,
                                         uint64_t a,
                                         uint64_t b,
                                         unsigned rm,
                                         uint64_t *result,
                                         unsigned *flags)
{
    if (FACET_UNLIKELY(rm != FACET_RNE || !facet_num_fast_normal(f, a) ||
                       !facet_num_fast_normal(f, b))) {
        return false;
    }
    return facet_num_fast_round(
        f,
        facet_num_quotient(f, facet_num_fast_unpack(f, a), facet_num_fast_unpack(f, b)),
        result,
        flags);
}

FACET_NUM_INLINE bool facet_num_fast_fma(const struct facet_fp_format *f,
                                         uint64_t a,
                                         uint64_t b,
                                         uint64_t c,
                                         bool negate_product,
                                         bool negate_addend,
                                         unsigned rm,
                                         uint64_t *result,
                                         unsigned *flags)
{
    struct facet_num_value x, y, z;

    if (FACET_UNLIKELY(rm != FACET_RNE || !facet_num_fast_normal(f, a) ||
                       !facet_num_fast_normal(f, b) || !facet_num_fast_normal(f, c))) {
        return false;
    }
    x = facet_num_fast_unpack(f, a);
    y = facet_num_fast_unpack(f, b);
    z = facet_num_fast_unpack(f, c);
    x.sign ^= negate_product;
    z.sign ^= negate_addend;
    x = f->p <= 24 ? facet_num_sum(facet_num_product(f, x, y), z, FACET_RNE)
                   : facet_num_fuse_wide(x, y, z, FACET_RNE);
    return FACET_LIKELY(x.cls == FACET_CLASS_NUMBER) && facet_num_fast_round(f, x, result, flags);
}

#endif
