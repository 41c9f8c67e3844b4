/* Numbers of all three machines: every format, rounding mode and rule for NaNs, subnormals,
 * overflow and saturation. Everything is a pure function over bit patterns and comes from integers;
 * the host's floating-point unit and its state do not matter.
 *
 * Operands and results are bit patterns in the low bits of an integer (higher operand bits are
 * ignored, higher result bits are 0). What an operation raises is OR-ed into *flags. Formats and
 * rounding modes must be enumerators; a policy is never NULL.
 *
 * Spec: numeric.md 3, 4, 9, 10, 11; tile-semantics.md 5; RISC-V F, D and Zfh. */
#ifndef FACET_NUM_H
#define FACET_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- formats ---- */

enum facet_format {
    FACET_FMT_FP16,
    FACET_FMT_FP32,
    FACET_FMT_BF16,
    FACET_FMT_E4M3,
    FACET_FMT_E5M2,
    FACET_FMT_BF16_LITE,
    FACET_FMT_FP64,
    FACET_FMT_FP_COUNT, /* floating point ends here; INT formats are elements only */
    FACET_FMT_INT32 = FACET_FMT_FP_COUNT,
    FACET_FMT_INT16,
    FACET_FMT_INT8,
    FACET_FMT_INT4,
    FACET_FMT_INT2,
    FACET_FMT_COUNT
};

/* "FP16", "FP8_E4M3", "INT4", ...: the names that the specification uses. */
const char *facet_format_name(enum facet_format format);

/* The format with that name, in any case; FACET_FMT_COUNT when there is none. */
enum facet_format facet_format_find(const char *name);
/* Bits of one element: 2..64. */
uint32_t facet_format_bits(enum facet_format format);

/* ---- rounding, flags, policy ---- */

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

/* ---- arithmetic on floating-point formats ----
 *
 * Every operation is the exact result rounded once. The zero policy is IEEE with round to nearest
 * even, subnormals and canonical NaNs: RISC-V. */

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

/* Any NaN, and a signaling one. */
bool facet_num_is_nan(enum facet_format format, uint64_t a);
bool facet_num_is_snan(enum facet_format format, uint64_t a);

/* RISC-V FCLASS: one bit of 0..9 = -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf,
 * signaling NaN, quiet NaN. */
unsigned facet_num_fclass(enum facet_format format, uint64_t a);

/* ---- conversion ---- */

/* Value conversion. NaN: canonical, a signaling one raises NV. Infinity into E4M3, which has none:
 * the canonical NaN without exception, QNAN_SEEN (numeric.md 9 narrow 2). */
uint64_t facet_num_convert(enum facet_format to,
                           enum facet_format from,
                           uint64_t a,
                           const struct facet_num_policy *policy,
                           unsigned *flags);

/* Round to an integer of 1..64 bits. NaN and +inf: the largest value, -inf: the smallest, out of
 * range: the nearest end, all with NV and without NX; otherwise NX if inexact. The result is sign-
 * or zero-extended to 64 bits by `is_signed`. */
uint64_t facet_num_to_int(enum facet_format from,
                          uint64_t a,
                          unsigned width,
                          bool is_signed,
                          const struct facet_num_policy *policy,
                          unsigned *flags);

/* Integers are exact before the one rounding; 0 gives +0. */
uint64_t facet_num_from_i64(enum facet_format to,
                            int64_t n,
                            const struct facet_num_policy *policy,
                            unsigned *flags);
uint64_t facet_num_from_u64(enum facet_format to,
                            uint64_t n,
                            const struct facet_num_policy *policy,
                            unsigned *flags);

/* The value as a double, exactly; a NaN is some NaN. */
double facet_num_to_double(enum facet_format from, uint64_t a);
/* The double rounded once into the format. */
uint64_t facet_num_from_double(enum facet_format to,
                               double value,
                               const struct facet_num_policy *policy,
                               unsigned *flags);

/* [+-] then decimal digits with a point and an exponent (1, .5, 2.5e-3), hexadecimal ones with a
 * binary exponent (0x1.8p3), inf, infinity or nan, in any case. *length is what was read, 0 when no
 * number starts at `text`, which ends with a NUL or any character that belongs to no number. flags:
 * OF for what the format cannot hold (also an infinity where it has none), NX, UF. */
uint64_t
facet_num_from_text(enum facet_format to, const char *text, size_t *length, unsigned *flags);

/* ---- elements of CAP.PREC: quantized, saturating, in all twelve formats (numeric.md 9) ---- */

/* What becomes of a NaN when it is written back. */
enum facet_nan_pol {
    FACET_NAN_POL_PROPAGATE,
    FACET_NAN_POL_ZERO,
    FACET_NAN_POL_INF,
};

struct facet_conv {
    uint8_t elem;    /* enum facet_format */
    uint8_t acc;     /* enum facet_format: FP32, FP16, INT32, INT16 (RSV also BF16) */
    uint8_t rm;      /* enum facet_rm */
    uint8_t nan_pol; /* enum facet_nan_pol */
    bool ftz;        /* DENORM_FTZ */
    bool sat;
    bool sat_mode;
    bool uns;        /* unsigned integer elements: Q = 1 and UNS = 1 */
    bool mixed_step; /* EFF_ALT_EN = 1 and MIXED = 0: primitives end in narrow and widen */
    bool plain;      /* no short ways for usual operands: the same results, slower */
    int16_t scale;   /* s: SCALE_SH (-128..127), 0 while Q = 0 */
    int16_t zp;      /* zero point of the element's channel, 0 while inactive */
};

/* Element bits (the low bits of `element`, higher ones ignored) to accumulator. */
uint32_t facet_widen(const struct facet_conv *conv, uint32_t element, unsigned *flags);

/* Accumulator to element bits, zero-extended. */
uint32_t facet_narrow(const struct facet_conv *conv, uint32_t acc, unsigned *flags);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
