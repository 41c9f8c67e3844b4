/* The boxes file of `facet bvh build --aabbs`. */
#ifndef FACET_DOCUMENTS_BVH_AABBS_H
#define FACET_DOCUMENTS_BVH_AABBS_H

#include "base/error.h"
#include "bvh/input.h"

/* {"aabbs": [{"min": [x, y, z], "max": [x, y, z]}, ...]} as an array to free(); NULL on failure,
 * and the message starts with the path. */
enum facet_status facet_doc_bvh_aabbs_read(const char *path,
                                           struct facet_bvh_aabb **out,
                                           uint32_t *count,
                                           struct facet_error *err);

#endif
