/* Files of rays: records of eight little-endian floats, ox oy oz tmin dx dy dz tmax. */
#ifndef FACET_SESSION_RAY_FILE_H
#define FACET_SESSION_RAY_FILE_H

#include "gfx12/tracer.h"

/* Free *rays with free(). */
enum facet_status session_rays_read(const char *path,
                                    struct facet_gfx12_batch_ray **rays,
                                    size_t *count,
                                    struct facet_error *err);

#endif
