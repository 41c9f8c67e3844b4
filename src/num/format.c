/* See format.h. */
#include "num/format.h"

const char *facet_format_name(enum facet_format format)
{
    static const char *const names[FACET_FMT_COUNT] = {
        [FACET_FMT_FP16] = "FP16",
        [FACET_FMT_FP32] = "FP32",
        [FACET_FMT_BF16] = "BF16",
        [FACET_FMT_E4M3] = "FP8_E4M3",
        [FACET_FMT_E5M2] = "FP8_E5M2",
        [FACET_FMT_BF16_LITE] = "BF16_LITE",
        [FACET_FMT_FP64] = "FP64",
        [FACET_FMT_INT32] = "INT32",
        [FACET_FMT_INT16] = "INT16",
        [FACET_FMT_INT8] = "INT8",
        [FACET_FMT_INT4] = "INT4",
        [FACET_FMT_INT2] = "INT2",
    };

    return format < FACET_FMT_COUNT ? names[format] : "?";
}

static bool fp_holds_fp(const struct facet_fp_format *to, const struct facet_fp_format *from)
{
    /* Exponent of the smallest non-zero number: what a format without subnormals lacks. */
    int to_least = to->emin - to->p + 1;
    int from_least = from->emin - (from->has_subnormals ? from->p - 1 : 0);

    return to->p >= from->p && to->emax >= from->emax && to->has_subnormals &&
           to_least <= from_least;
}

static bool fp_holds_int(const struct facet_fp_format *to, unsigned width)
{
    /* -2^(w-1) is the largest magnitude and needs one significant bit, 2^(w-1)-1 needs w-1. */
    return (int)width - 1 <= to->p && (int)width - 1 <= to->emax;
}

bool facet_format_contains(enum facet_format to, enum facet_format from)
{
    if (to == from) {
        return true;
    }
    if (facet_format_is_int(to)) {
        return facet_format_is_int(from) && facet_format_width(to) >= facet_format_width(from);
    }
    if (facet_format_is_int(from)) {
        return fp_holds_int(&facet_fp_formats[to], facet_format_width(from));
    }
    return fp_holds_fp(&facet_fp_formats[to], &facet_fp_formats[from]);
}
