/* Which CAP.PREC state the elements of an RT image have. Between the files of this folder. */
#ifndef FACET_RT_IMAGE_FORMAT_H
#define FACET_RT_IMAGE_FORMAT_H

#include "num/format.h"

#include <stdbool.h>
#include <stdint.h>

struct facet_rtbvh_format {
    uint64_t mode, alt;
};

/* lo <= hi bound every coordinate; boxes reach `pad` further. With `quantized` (integers only) the
 * smallest scale is taken whose range holds the boxes of the rounded corners; false when there is
 * none. */
bool facet_rtbvh_format_make(enum facet_format element,
                             bool quantized,
                             double lo,
                             double hi,
                             double pad,
                             struct facet_rtbvh_format *out);

#endif
