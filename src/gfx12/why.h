/* Why a ray went where it went: the values between the operands and the result registers of
 * image_bvh8_intersect_ray (section 9 of gfx12-semantics.md), and the bookkeeping of the reference
 * loop (11.1) around it. The registers are those of the instruction itself; what lies between comes
 * from the same functions that the instruction calls, and both are compared (`agrees`). */
#ifndef FACET_GFX12_WHY_H
#define FACET_GFX12_WHY_H

#include "gfx12/sort.h"
#include "gfx12/unit.h"

/* The first rule that removes a child, an instance or a primitive. */
enum facet_gfx12_why_cull {
    FACET_GFX12_WHY_VISIBLE,
    FACET_GFX12_WHY_MASK,            /* cull_mask & instance_mask is 0 */
    FACET_GFX12_WHY_OPAQUE,          /* CULL_OPAQUE */
    FACET_GFX12_WHY_NON_OPAQUE,      /* CULL_NON_OPAQUE */
    FACET_GFX12_WHY_SKIP_TRIANGLES,  /* SKIP_TRIANGLES */
    FACET_GFX12_WHY_SKIP_PROCEDURAL, /* SKIP_PROCEDURAL */
    FACET_GFX12_WHY_FRONT,           /* CULL_FRONT_FACING */
    FACET_GFX12_WHY_BACK,            /* CULL_BACK_FACING */
};
/* "visible", "mask", "CULL_OPAQUE", ... */
const char *facet_gfx12_why_cull_name(enum facet_gfx12_why_cull cull);

struct facet_gfx12_why_child {
    struct facet_gfx12_child stored;
    uint32_t id;           /* 4.1, before culling */
    uint32_t lo[3], hi[3]; /* 5.2, float bits */
    enum facet_gfx12_why_cull cull;
    struct facet_gfx12_slab_terms terms;
    struct facet_gfx12_slab slab;
    float limit;                  /* max_t * g, right side of the hit test */
    bool duplicate;               /* removed by 9.2 step 7 */
    struct facet_gfx12_slot slot; /* what 9.3 sorts */
    unsigned place;               /* of the slot after 9.3 */
};

struct facet_gfx12_why_tri {
    bool absent, procedural;
    struct facet_gfx12_tri_edges edges; /* not for a procedural primitive */
    struct facet_gfx12_tri_terms terms;
    const char *miss; /* the comparison that failed, NULL for a hit */
    bool front;       /* after FLIP_FACEDNESS */
    bool opaque;      /* after FORCE_OPAQUE and FORCE_NON_OPAQUE */
    enum facet_gfx12_why_cull cull;
};

/* One instruction. */
struct facet_gfx12_why {
    uint64_t base;
    uint32_t node;
    enum facet_gfx12_kind kind;        /* NONE: all registers INVALID */
    const char *no_node;               /* why kind is NONE, else NULL */
    unsigned flags;                    /* effective pointer flags */
    struct facet_gfx12_ray ray, after; /* before and after the instruction */
    uint32_t v[10];
    bool agrees; /* the values below give the registers */

    /* box and instance nodes */
    unsigned count;
    uint32_t origin[3];
    uint8_t exponent[3];
    unsigned obb; /* index 0..103, else FACET_GFX12_OBB_NONE */
    struct facet_gfx12_slab_ray slab_ray;
    float slab_direction[3]; /* that slab_ray.inverse is of */
    struct facet_gfx12_why_child child[8];

    /* instance nodes */
    struct facet_gfx12_instance instance;
    enum facet_gfx12_why_cull instance_cull;
    uint64_t new_base;

    /* primitive nodes */
    struct facet_gfx12_pair pair;
    struct facet_gfx12_why_tri tri[2];
};

/* Works on any node and ray. */
void facet_gfx12_why_node(const struct facet_gfx12_unit *unit,
                          uint64_t base,
                          uint32_t node,
                          const struct facet_gfx12_ray *ray,
                          struct facet_gfx12_why *out);

/* On the stack of the reference loop: leave the instance. */
#define FACET_GFX12_WHY_RETURN (UINT64_C(1) << 32)

struct facet_gfx12_why_candidate {
    unsigned tri; /* 0 or 1 */
    bool committed;
    const char *reason; /* the rule that decided */
};

/* One turn of the reference loop. */
struct facet_gfx12_why_step {
    uint64_t number;  /* from 0 */
    bool popped;      /* the node came from the stack */
    unsigned returns; /* instances left before it */
    const struct facet_gfx12_why *why;
    float t_before, t_after;                       /* t_cur */
    struct facet_gfx12_why_candidate candidate[2]; /* in the order of the loop */
    unsigned candidates;
    uint64_t push[8]; /* in order; may be FACET_GFX12_WHY_RETURN */
    unsigned pushes;
    uint64_t next;  /* FACET_GFX12_INVALID: pop */
    uint64_t depth; /* of the stack, after the pushes */
    bool stop;      /* TERMINATE_ON_FIRST_HIT ended the loop here */
};

struct facet_gfx12_why_result {
    struct facet_gfx12_hit hit;
    struct facet_gfx12_stats stats;
    bool agrees; /* the explanation followed facet_gfx12_trace node by node and bit by bit */
};

/* Runs facet_gfx12_trace on the query and calls `step` for every node it visits. The callbacks of
 * the query must be empty. Statuses are those of facet_gfx12_trace. */
enum facet_status facet_gfx12_why_trace(const struct facet_gfx12_unit *unit,
                                        const struct facet_gfx12_query *query,
                                        void (*step)(void *context,
                                                     const struct facet_gfx12_why_step *step),
                                        void *context,
                                        struct facet_gfx12_why_result *out,
                                        struct facet_error *err);

#endif
