/* Refitting an RT image to moved geometry: the tree and the number format stay, corners and boxes
 * are rewritten.
 *
 * Works on sound images of a scene with the same instances and meshes: triangles are matched by
 * their origin. With unmoved geometry an image that Facet built comes back byte for byte. Boxes are
 * never grown by less than they were, because the image does not record how far its rays reach. */
#ifndef FACET_RT_IMAGE_REFIT_H
#define FACET_RT_IMAGE_REFIT_H

#include "rt_image/build.h"
#include "rt_image/check.h"

/* The triangles lie by geometry, and those of a geometry by primitive from 0 on
 * (render/rt_input.h). `image` is what facet_rtbvh_check says of it; `reach` as in
 * facet_rtbvh_options. FACET_ERR_INPUT: the image is not sound, or image and scene do not belong
 * together. FACET_ERR_LIMIT: the image cannot hold the new positions and must be rebuilt. */
enum facet_status facet_rtbvh_refit(const struct facet_rtbvh_check *image,
                                    const struct facet_bvh_triangle *triangles,
                                    uint32_t count,
                                    double reach,
                                    struct facet_rtbvh_image *out,
                                    struct facet_error *err);

#endif
