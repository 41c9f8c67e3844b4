/* A picture and its scene in one piece of memory, as shared.h has them. */
#ifndef FACET_RENDER_DEVICE_FLAT_H
#define FACET_RENDER_DEVICE_FLAT_H

#include "shade/picture.h"

struct facet_render_flat {
    uint8_t *bytes; /* free with free(); begins with struct device_picture */
    uint64_t size;
};

enum facet_status facet_render_flat_make(const struct facet_picture *picture,
                                         struct facet_render_flat *out,
                                         struct facet_error *err);

#endif
