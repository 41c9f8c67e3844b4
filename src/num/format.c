/* See format.h. */
#include "base/float.h"
#include "num/arith.h"

#include <string.h>
#include <strings.h>

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

enum facet_format facet_format_find(const char *name)
{
    unsigned format = 0;

    while (format < FACET_FMT_COUNT &&
           strcasecmp(name, facet_format_name((enum facet_format)format)) != 0) {
        format++;
    }
    return (enum facet_format)format;
}

uint32_t facet_format_bits(enum facet_format format)
{
    return facet_format_width(format);
}

double facet_num_to_double(enum facet_format from, uint64_t a)
{
    const struct facet_num_policy nearest = facet_num_ieee_policy(FACET_RNE);
    unsigned ignored = 0;
    uint64_t bits = facet_num_convert(FACET_FMT_FP64, from, a, &nearest, &ignored);
    double value = facet_double_of(bits);

    return value;
}

uint64_t facet_num_from_double(enum facet_format to,
                               double value,
                               const struct facet_num_policy *policy,
                               unsigned *flags)
{
    uint64_t bits = facet_double_bits(value);

    return facet_num_convert(to, FACET_FMT_FP64, bits, policy, flags);
}
