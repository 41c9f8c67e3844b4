/* Why a ray did not hit a triangle: the path of nodes that leads to it, the first test on that path
 * that turned the ray away, by how much, and who is to blame (R-G12-90). */
#ifndef FACET_GFX12_ASK_WHY_H
#define FACET_GFX12_ASK_WHY_H

#include "gfx12/image/walk.h"
#include "gfx12/steps.h"

struct facet_gfx12_expect {
    uint32_t primitive;
    bool has_geometry, has_instance;
    uint32_t geometry;
    uint32_t instance; /* user data of the instance */
};

enum facet_gfx12_fault {
    FACET_GFX12_FAULT_NONE,      /* it was hit */
    FACET_GFX12_FAULT_NEARER,    /* something else is hit before it */
    FACET_GFX12_FAULT_BOX,       /* the triangle is hit, a box around it is not */
    FACET_GFX12_FAULT_ROUNDING,  /* the same, and the hit lies in the box */
    FACET_GFX12_FAULT_RAY,       /* the triangle is not hit, or outside the ray's interval */
    FACET_GFX12_FAULT_FLAGS,     /* ray flags remove it */
    FACET_GFX12_FAULT_MASK,      /* the instance mask removes it */
    FACET_GFX12_FAULT_TRANSFORM, /* an instance moves it out of the boxes above */
    FACET_GFX12_FAULT_RANGE,     /* the range of pairs ends before it */
    FACET_GFX12_FAULT_LOST,      /* no path of the image leads to it */
    FACET_GFX12_FAULT_COUNT
};
const char *facet_gfx12_fault_name(enum facet_gfx12_fault fault);

enum facet_gfx12_reject {
    FACET_GFX12_PASSED,
    FACET_GFX12_REJECT_BOX,      /* the slab test of a child */
    FACET_GFX12_REJECT_CULL,     /* mask or flags, of a child, an instance or the triangle */
    FACET_GFX12_REJECT_RANGE,    /* a stop bit before the pair */
    FACET_GFX12_REJECT_TRIANGLE, /* 9.4 */
    FACET_GFX12_REJECT_INTERVAL, /* 11.1: not t_min < t < t_max */
    FACET_GFX12_REJECT_SHADER,   /* a procedural primitive that no shader reports */
};

/* A node of the path and the way on from it. */
struct facet_gfx12_why_step {
    enum facet_gfx12_kind kind;
    uint32_t id; /* relative to its level; of a primitive node the pair's */
    uint64_t offset, address;
    uint64_t base;                  /* pointer that it is fetched with */
    unsigned slot;                  /* child; of a primitive node triangle 0 or 1 of the pair */
    unsigned obb;                   /* index of the matrix, else FACET_GFX12_OBB_NONE */
    uint8_t shared;                 /* other boxes of the node stand for the same child */
    uint8_t whole;                  /* the instance itself is culled, not its child */
    uint8_t reject;                 /* enum facet_gfx12_reject */
    uint8_t near, far;              /* the axes that A and B of 9.2 step 4 come from */
    unsigned cull;                  /* rules that remove it (unit.h) */
    unsigned cull_flags, cull_mask; /* of the child or the instance */
    struct facet_gfx12_slab slab;
    float lo[3], hi[3]; /* box of the child, in the space of `origin` and `direction` */
    float origin[3], direction[3];
    double step[3];        /* of the grid; 0 on an axis without extent */
    float to_object[3][4]; /* instances */
};

/* How far a point or a triangle sticks out of a box. */
struct facet_gfx12_excess {
    bool known;
    unsigned at;   /* step of the path */
    unsigned axis; /* 0..2 */
    bool below;    /* beyond lo, not hi */
    double amount; /* in units of the box's space */
    double steps;  /* of the grid */
    double ulps;   /* of the plane */
};

struct facet_gfx12_why {
    bool found; /* some path leads to it, or a block that no node names has it */
    uint64_t paths;
    bool cut; /* more paths or a longer one than are looked at */
    struct facet_gfx12_why_step *path;
    unsigned count;    /* the last is the primitive node */
    unsigned rejected; /* step of the first rejection; `count` when every test was passed */
    enum facet_gfx12_fault fault;
    bool own_flags; /* FAULT_FLAGS, FAULT_MASK: of the image, not of the ray */

    /* The triangle by itself. */
    bool procedural, opaque, double_sided, front;
    bool met; /* it is hit in the ray's interval and not culled */
    uint32_t primitive, geometry;
    const char *miss; /* comparison of 9.4 that failed */
    unsigned cull;
    float t, u, v;
    double outside;       /* how far u, v or 1 - u - v is below 0 */
    double corners[8][3]; /* of the triangle or the procedural box, in the space of its level */
    unsigned corner_count;

    struct facet_gfx12_excess hit_point; /* fault BOX and ROUNDING: at the rejecting box */
    struct facet_gfx12_excess corner;    /* of the triangle out of a box of its path, if any */
    double gap_t;                        /* REJECT_BOX: min_t minus its limit */
    uint64_t stop_offset;                /* REJECT_RANGE: node and pair of the stop bit */
    unsigned stop_pair;
    uint64_t lost_offset; /* FAULT_LOST: the block that holds it */
    unsigned lost_pair;

    /* What the traversal did. */
    struct facet_gfx12_hit hit;
    struct facet_gfx12_stats stats;

    /* What the image has. */
    uint64_t triangles, boxes, instances;
    uint32_t primitive_range[2], geometry_range[2], instance_range[2];
    uint32_t broken; /* links that lead nowhere */
};

/* The query's address and root are those of the view. */
enum facet_status facet_gfx12_why(const struct facet_gfx12_unit *unit,
                                  const struct facet_gfx12_view *view,
                                  const struct facet_gfx12_walk *walk,
                                  const struct facet_gfx12_query *query,
                                  const struct facet_gfx12_expect *expect,
                                  struct facet_gfx12_why *out,
                                  struct facet_error *err);
void facet_gfx12_why_free(struct facet_gfx12_why *why);

/* Whether a hit is the triangle that was expected. */
bool facet_gfx12_is_expected(const struct facet_gfx12_hit *hit,
                             const struct facet_gfx12_expect *expect);

#endif
