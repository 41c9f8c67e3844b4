/* The intersect instructions as a test calls them, written down for conformance/recorded_gfx12.py
 * (harness_record). Include it last.
 *
 *     vector dual|bvh8 PROFILE SENSE BASE MASK r0..r3 POINTER POINTER2 EXTENT ox oy oz dx dy dz
 * DWORDS result v0..v9 ox oy oz dx dy dz
 *
 * DWORDS: the node that the instruction reads, or for dual the first 4 KiB of the image. */
#ifndef FACET_TESTS_GFX12_RECORD_H
#define FACET_TESTS_GFX12_RECORD_H

#include "harness.h"

#include <facet/gfx12.h>

void record_intersect8(const struct facet_gfx12_unit *unit,
                       uint64_t base,
                       uint32_t node,
                       struct facet_gfx12_ray *ray,
                       uint32_t v[10]);
void record_dual(const struct facet_gfx12_unit *unit,
                 uint64_t base,
                 uint32_t node0,
                 uint32_t node1,
                 struct facet_gfx12_ray *ray,
                 uint32_t v[10]);

#define facet_gfx12_intersect8 record_intersect8
#define facet_gfx12_intersect_dual record_dual

#endif
