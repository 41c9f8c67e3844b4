/* Which instance of a scene each instance node of an image belongs to. Any instance of the same
 * mesh may take the place of another, since its node is written anew. */
#ifndef FACET_GFX12_BUILD_REFIT_INSTANCES_H
#define FACET_GFX12_BUILD_REFIT_INSTANCES_H

#include "gfx12/build/refit_match.h"
#include "gfx12/image/walk.h"

struct facet_refit_instance {
    uint32_t node;
    uint32_t root;  /* of its BLAS, or of the part that it stands for */
    uint32_t index; /* in the scene */
    uint64_t base;  /* of its BLAS */
    uint32_t user_data;
    uint32_t matrix[12];
};

/* By node; free the list in any case. */
struct facet_refit_instances {
    uint32_t nodes, first; /* how many the walk has, and where in its order they begin */
    struct facet_refit_instance *list;
    uint32_t count;
};

/* Fills the list; `top` is the base of the top level, `blas` has an entry for each BLAS of the
 * scene. */
enum facet_status facet_gfx12_refit_match_instances(const struct facet_gfx12_view *view,
                                                    const struct facet_gfx12_walk *walk,
                                                    uint64_t top,
                                                    const struct facet_bvh_scene_input *scene,
                                                    const struct facet_refit_blas *blas,
                                                    struct facet_refit_instances *out,
                                                    struct facet_error *err);
const struct facet_refit_instance *
facet_gfx12_refit_instance_at(const struct facet_refit_instances *instances, uint32_t node);

#endif
