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
