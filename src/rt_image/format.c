/* Spec: numeric.md 4 (codes), 7 (composition), 8 (quantization). */
#include "rt_image/format.h"

#include "contract/xphmg_csrs.h"

#include <math.h>

#define MODE(name, value) ((uint64_t)(value) << FACET_CAP_PREC_MODE_##name##_LSB)
#define ALT(name, value) ((uint64_t)(value) << FACET_CAP_PREC_ALT_##name##_LSB)

enum { ZP_PER_TENSOR = 1, ZP_LEAST = -128, ZP_MOST = 127, SCALE_LEAST = -128, SCALE_MOST = 127 };

/* PET and EW of MODE; ALT_FMT is 0 for formats that need no ALT. */
static const struct {
    uint8_t pet, ew, alt;
} codes[FACET_FMT_COUNT] = {
    [FACET_FMT_FP16] = {0, 1, 0},
    [FACET_FMT_FP32] = {1, 2, 0},
    [FACET_FMT_BF16] = {2, 1, 0},
    [FACET_FMT_E4M3] = {0, 1, 2},
    [FACET_FMT_E5M2] = {0, 1, 3},
    [FACET_FMT_BF16_LITE] = {2, 1, 1},
    [FACET_FMT_INT32] = {5, 2, 0},
    [FACET_FMT_INT16] = {4, 1, 0},
    [FACET_FMT_INT8] = {3, 0, 0},
    [FACET_FMT_INT4] = {3, 0, 4},
    [FACET_FMT_INT2] = {3, 0, 5},
};

/* The zero point that brings the steps first .. last into a signed width, most evenly. */
static bool zero_point(double first, double last, unsigned width, int *zp)
{
    double low = -ldexp(1.0, (int)width - 1), high = -low - 1.0;
    double middle = floor(((low - first) + (high - last)) / 2.0);

    *zp = (int)fmin(fmax(middle, ZP_LEAST), ZP_MOST);
    return first + *zp >= low && last + *zp <= high;
}

bool facet_rtbvh_format_make(enum facet_format element,
                             bool quantized,
                             double lo,
                             double hi,
                             double pad,
                             struct facet_rtbvh_format *out)
{
    bool alt = codes[element].alt != 0;
    int scale = SCALE_LEAST, zp = 0;

    out->mode = MODE(PET, codes[element].pet) | MODE(EW, codes[element].ew);
    out->alt = alt ? ALT(ALT_EN, 1) | ALT(ALT_FMT, codes[element].alt) | ALT(MIXED, 1) : 0;
    if (!quantized) {
        return true;
    }
    while (!zero_point(floor(ceil(ldexp(lo, -scale) - 0.5) - ldexp(pad, -scale)),
                       ceil(floor(ldexp(hi, -scale) + 0.5) + ldexp(pad, -scale)),
                       facet_format_width(element),
                       &zp)) {
        if (scale++ == SCALE_MOST) {
            return false;
        }
    }
    out->mode |= MODE(Q, 1) | MODE(ZP_EN, ZP_PER_TENSOR);
    if (alt) {
        out->alt |= ALT(ZP, (uint8_t)zp) | ALT(SCALE_SH, (uint8_t)scale);
    } else {
        out->mode |= MODE(ZP, (uint8_t)zp) | MODE(SCALE_SH, (uint8_t)scale);
    }
    return true;
}
