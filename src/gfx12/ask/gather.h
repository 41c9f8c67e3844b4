/* What an image holds, as lists: boxes by depth, triangles, instances, level by level. */
#ifndef FACET_GFX12_ASK_GATHER_H
#define FACET_GFX12_ASK_GATHER_H

#include "base/progress.h"

#include "gfx12/image/walk.h"

#define FACET_GFX12_PROCEDURAL_BOX 0xFFu /* in place of a child's slot */

struct facet_gfx12_gathered_box {
    uint32_t level; /* number */
    uint32_t depth; /* of what is in the box: children of the root have 1 */
    uint64_t node;  /* address of the node that stores it */
    uint32_t id;    /* of the child */
    uint8_t slot;
    uint8_t obb;           /* FACET_GFX12_OBB_NONE: along the axes */
    uint32_t lo[3], hi[3]; /* float bits, in the space of the box */
    float corner[8][3];    /* in the space of the level; bit k of the number: hi on axis k */
};

struct facet_gfx12_gathered_triangle {
    uint32_t level, geometry, primitive;
    uint64_t node; /* address */
    bool opaque, double_sided;
    float corner[3][3];
};

struct facet_gfx12_gathered_instance {
    uint32_t level; /* that it lies in */
    uint32_t below; /* that it shows, FACET_GFX12_NO_NODE when the image has none there */
    uint64_t node;  /* address */
    uint32_t depth;
    struct facet_gfx12_instance stored;
};

struct facet_gfx12_gathered {
    uint64_t *levels; /* addresses, ascending */
    uint32_t level_count;
    uint32_t root_level;
    struct facet_gfx12_gathered_box *boxes; /* by level and depth */
    uint64_t box_count;
    struct facet_gfx12_gathered_triangle *triangles; /* by level, geometry and primitive */
    uint64_t triangle_count;
    struct facet_gfx12_gathered_instance *instances; /* by level, user data and address */
    uint64_t instance_count;
};

/* Boxes whose depth is from depth[0] to depth[1]. `progress` (may be NULL) counts nodes. */
enum facet_status facet_gfx12_gather(const struct facet_gfx12_view *view,
                                     const struct facet_gfx12_walk *walk,
                                     const uint32_t depth[2],
                                     struct facet_progress *progress,
                                     struct facet_gfx12_gathered *out,
                                     struct facet_error *err);
void facet_gfx12_gathered_free(struct facet_gfx12_gathered *gathered);

#endif
