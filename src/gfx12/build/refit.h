/* Refitting an image to moved geometry: the tree stays, boxes and vertices are rewritten.
 *
 * Works on images that Facet built (all qualities) from a scene with the same meshes and
 * instances: BLASes are matched by their order, primitives by (geometry, primitive), instances by
 * mesh and user data. Where nothing below a node has moved it stays byte for byte. Other boxes that
 * were oriented become axis aligned, and those that were cut (split.c) whole: what was chosen for
 * the old positions would be wrong as often as right.
 *
 * Nodes whose vertices are whole floats (raw_node.h), as updatable images have them, take any
 * motion in place; compressed ones are packed anew, and may have no room. */
#ifndef FACET_GFX12_BUILD_REFIT_H
#define FACET_GFX12_BUILD_REFIT_H

#include "base/progress.h"
#include "gfx12/build/build.h"
#include "gfx12/image/walk.h"

/* Writes view->size bytes, which may be those of the view. FACET_ERR_INPUT: image and scene do not
 * belong together. FACET_ERR_LIMIT: a primitive node has no room for the new vertices, so the tree
 * must be rebuilt. After a failure the bytes are worthless. The pool (may be NULL) only decides how
 * long it takes; the progress (may be NULL) counts nodes. */
enum facet_status facet_gfx12_refit(const struct facet_gfx12_view *view,
                                    const struct facet_bvh_scene_input *scene,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    uint8_t *out,
                                    struct facet_error *err);

#endif
