/* Refitting an image to moved geometry: the tree stays, boxes and vertices are rewritten.
 *
 * Works on images that Facet built (both qualities) from a scene with the same meshes and
 * instances: BLASes are matched by their order, primitives by (geometry, primitive), instances by
 * user data. With unmoved geometry an axis-aligned image comes back byte for byte. Oriented
 * boxes become axis aligned: a rotation chosen for the old positions would be wrong as often as
 * right. */
#ifndef FACET_GFX12_BUILD_REFIT_H
#define FACET_GFX12_BUILD_REFIT_H

#include "gfx12/build/build.h"
#include "gfx12/image/walk.h"

/* FACET_ERR_INPUT: image and scene do not belong together. FACET_ERR_LIMIT: a primitive node has no
 * room for the new vertices, so the tree must be rebuilt. */
enum facet_status facet_gfx12_refit(const struct facet_gfx12_view *view,
                                    const struct facet_bvh_scene_input *scene,
                                    struct facet_gfx12_image *out,
                                    struct facet_error *err);

#endif
