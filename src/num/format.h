/* The number formats of all machines as one table: numeric.md 3, tile-semantics.md 5.1, RISC-V F, D
 * and Zfh. The table is in the header so that an operation on a fixed format is compiled for it. */
#ifndef FACET_NUM_FORMAT_H
#define FACET_NUM_FORMAT_H

#include <facet/num.h>

struct facet_fp_format {
    uint8_t width;      /* bits of the container */
    uint8_t p;          /* precision with the hidden bit */
    int16_t emin, emax; /* exponents of the smallest normal and the largest finite number */
    bool has_inf, has_subnormals;
    bool has_signaling; /* a NaN without the quiet bit signals (FP8 NaNs are all quiet) */
    bool lite;          /* BF16_LITE: E7M4 values in a BF16 container (numeric.md 3.1) */
    uint64_t max_finite, infinity, nan; /* nan: the canonical one */
};

/* clang-format off */
static const struct facet_fp_format facet_fp_formats[FACET_FMT_FP_COUNT] = {
    [FACET_FMT_FP16] = {16, 11,   -14,   15, true,  true,  true,  false, 0x7BFF, 0x7C00, 0x7E00},
    [FACET_FMT_FP32] = {32, 24,  -126,  127, true,  true,  true,  false, 0x7F7FFFFF, 0x7F800000, 0x7FC00000},
    [FACET_FMT_BF16] = {16,  8,  -126,  127, true,  true,  true,  false, 0x7F7F, 0x7F80, 0x7FC0},
    [FACET_FMT_E4M3] = { 8,  4,    -6,    8, false, true,  false, false, 0x7E, 0, 0x7F},
    [FACET_FMT_E5M2] = { 8,  3,   -14,   15, true,  true,  false, false, 0x7B, 0x7C, 0x7F},
    [FACET_FMT_BF16_LITE] = {16, 5, -62, 63, true,  false, true,  true,  0x5F78, 0x7F80, 0x7FC0},
    [FACET_FMT_FP64] = {64, 53, -1022, 1023, true,  true,  true,  false,
        UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0x7FF0000000000000), UINT64_C(0x7FF8000000000000)},
};
/* clang-format on */

static inline bool facet_format_is_int(enum facet_format format)
{
    return format >= FACET_FMT_INT32;
}

/* Width of one element in bits: `nat` of numeric.md 5. */
static inline unsigned facet_format_width(enum facet_format format)
{
    static const uint8_t int_width[] = {32, 16, 8, 4, 2};

    return facet_format_is_int(format) ? int_width[format - FACET_FMT_INT32]
                                       : facet_fp_formats[format].width;
}

/* Can `to` hold every finite value of `from`? When not, a conversion sets DOWNCAST_TAKEN
 * (numeric.md 9). An integer source counts as signed whatever UNS says. BF16_LITE, which has no
 * subnormals, counts as holding only itself (appendix A nm_fits_ff) and the integers. */
static inline bool facet_format_contains(enum facet_format to, enum facet_format from)
{
#define HOLDS(format) (1u << FACET_FMT_##format)
    static const uint16_t contained[FACET_FMT_COUNT] = {
        [FACET_FMT_FP16] =
            HOLDS(FP16) | HOLDS(E4M3) | HOLDS(E5M2) | HOLDS(INT8) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_FP32] = HOLDS(FP16) | HOLDS(FP32) | HOLDS(BF16) | HOLDS(E4M3) | HOLDS(E5M2) |
                           HOLDS(BF16_LITE) | HOLDS(INT16) | HOLDS(INT8) | HOLDS(INT4) |
                           HOLDS(INT2),
        [FACET_FMT_BF16] = HOLDS(BF16) | HOLDS(E4M3) | HOLDS(E5M2) | HOLDS(BF16_LITE) |
                           HOLDS(INT8) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_E4M3] = HOLDS(E4M3) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_E5M2] = HOLDS(E5M2) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_BF16_LITE] = HOLDS(BF16_LITE) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_FP64] = HOLDS(FP16) | HOLDS(FP32) | HOLDS(BF16) | HOLDS(E4M3) | HOLDS(E5M2) |
                           HOLDS(BF16_LITE) | HOLDS(FP64) | HOLDS(INT32) | HOLDS(INT16) |
                           HOLDS(INT8) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_INT32] = HOLDS(INT32) | HOLDS(INT16) | HOLDS(INT8) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_INT16] = HOLDS(INT16) | HOLDS(INT8) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_INT8] = HOLDS(INT8) | HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_INT4] = HOLDS(INT4) | HOLDS(INT2),
        [FACET_FMT_INT2] = HOLDS(INT2),
    };
#undef HOLDS

    return (contained[to] >> from & 1) != 0;
}

#endif
