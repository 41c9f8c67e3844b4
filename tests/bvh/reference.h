/* Section 12 of gfx12-semantics.md a second time, sentence by sentence and as slow as it likes:
 * what the builder of quality `fast` is compared with, byte by byte. Triangles only. */
#ifndef FACET_TESTS_BVH_REFERENCE_H
#define FACET_TESTS_BVH_REFERENCE_H

#include "bvh/input.h"

#include <stddef.h>

/* Returns the image (free it) and its size. */
uint8_t *reference_build(const struct facet_bvh_triangle *triangles,
                         uint32_t count,
                         uint32_t prim_range,
                         size_t *size);

#endif
