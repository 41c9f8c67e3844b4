/* A pixel on a device, whose path goes on from step to step; read by both compilers. */
#ifndef FACET_RENDER_DEVICE_PIXEL_H
#define FACET_RENDER_DEVICE_PIXEL_H

#include "shade/path.h"

struct device_pixel {
    uint32_t slot; /* of the ray under way; DEVICE_NOWHERE: there is none */
    uint32_t lit;  /* the last ray hit something that light changes */
    struct facet_path path;
    struct facet_vec3 brings; /* the ray under way when nothing is in its way */
};

#endif
