/* Boxes and matrices of an image in the space around them. */
#ifndef FACET_GFX12_ASK_BOUNDS_H
#define FACET_GFX12_ASK_BOUNDS_H

#include "gfx12/image/walk.h"

/* Around the decoded boxes of the root's children, or the vertices of a root that is a primitive
 * node. False when there is none, or none that is finite. */
bool facet_gfx12_view_bounds(const struct facet_gfx12_view *view, float lo[3], float hi[3]);

/* The box of a child in the space of its level: that of an oriented one around its corners. */
void facet_gfx12_child_world(const struct facet_gfx12_box *box,
                             unsigned slot,
                             double lo[3],
                             double hi[3]);

/* The inverse of the matrix of an instance; false when it has none that is finite. */
bool facet_gfx12_object_to_world(const float to_object[3][4], double out[3][4]);

#endif
