/* What the ray unit does, value by value. image_bvh8_intersect_ray (section 9 of
 * gfx12-semantics.md) writes this record as it computes, and facet_gfx12_intersect8 hands out its
 * registers: the explanation of an instruction is the instruction. The reference loop (11.1) does
 * the same with its turns. */
#ifndef FACET_GFX12_STEPS_H
#define FACET_GFX12_STEPS_H

#include "gfx12/sort.h"
#include "gfx12/unit.h"

struct facet_gfx12_child_steps {
    uint32_t id;           /* 4.1, before culling */
    uint32_t lo[3], hi[3]; /* 5.2, float bits */
    unsigned cull;         /* the rules that remove it (unit.h), 0: visible */
    struct facet_gfx12_slab_steps slab;
    bool duplicate;               /* removed by 9.2 step 7 */
    struct facet_gfx12_slot slot; /* what 9.3 sorts */
    unsigned place;               /* of the slot after 9.3 */
};

struct facet_gfx12_tri_steps {
    bool absent; /* no second triangle (gpurt): nothing is tested */
    bool procedural;
    bool opaque;                            /* after FORCE_OPAQUE and FORCE_NON_OPAQUE */
    struct facet_gfx12_tri_test_steps test; /* not for absent and procedural ones */
    const char *miss;                       /* the comparison that failed, NULL for a hit */
    bool front;                             /* after FLIP_FACEDNESS */
    unsigned cull;
};

/* One instruction. */
struct facet_gfx12_steps {
    uint64_t base;
    uint32_t node;
    enum facet_gfx12_kind kind;        /* NONE: all registers INVALID */
    const char *no_node;               /* why kind is NONE, else NULL */
    uint64_t image_offset;             /* of the node in the bytes of the image; not for NONE */
    unsigned flags;                    /* effective pointer flags */
    struct facet_gfx12_ray ray, after; /* before and after the instruction */
    uint32_t v[10];
    union { /* by kind */
        struct facet_gfx12_box box;
        struct facet_gfx12_instance instance;
        struct facet_gfx12_pair pair;
    };

    /* box nodes, and instance nodes that are not culled */
    unsigned count; /* of children */
    unsigned obb;   /* index 0..103, else FACET_GFX12_OBB_NONE */
    struct facet_gfx12_slab_ray slab_ray;
    float slab_direction[3]; /* that slab_ray.inverse is of */
    struct facet_gfx12_child_steps child[8];

    /* instance nodes */
    unsigned instance_cull;
    uint64_t new_base;

    /* primitive nodes */
    struct facet_gfx12_tri_steps tri[2];
};

/* Fills in what the kind of the node has; works on any node and ray. */
void facet_gfx12_intersect8_steps(const struct facet_gfx12_unit *unit,
                                  uint64_t base,
                                  uint32_t node,
                                  const struct facet_gfx12_ray *ray,
                                  struct facet_gfx12_steps *out);

/* On the stack of the reference loop: leave the instance. Not a node ID, hence 33 bits. */
#define FACET_GFX12_RETURN (UINT64_C(1) << 32)

/* One turn of the reference loop. */
struct facet_gfx12_turn {
    uint64_t number;  /* from 0 */
    bool popped;      /* the node came from the stack */
    unsigned returns; /* instances left before it */
    struct facet_gfx12_steps steps;
    float t_before, t_after; /* t_cur */
    struct {
        unsigned tri; /* 0 or 1 */
        bool committed;
        const char *reason; /* the rule that decided */
    } candidate[2];         /* in the order of the loop */
    unsigned candidates;
    uint64_t push[8]; /* in order; may be FACET_GFX12_RETURN */
    unsigned pushes;
    uint64_t next;  /* FACET_GFX12_INVALID: pop */
    uint64_t depth; /* of the stack, after the pushes */
    bool stop;      /* the search ended with a hit of this turn */
};

typedef void facet_gfx12_watch(void *context, const struct facet_gfx12_turn *turn);

/* facet_gfx12_trace, which reports every iteration to `watch`. */
enum facet_status facet_gfx12_trace_watched(const struct facet_gfx12_unit *unit,
                                            const struct facet_gfx12_query *query,
                                            facet_gfx12_watch *watch,
                                            void *context,
                                            struct facet_gfx12_hit *hit,
                                            struct facet_gfx12_stats *stats,
                                            struct facet_error *err);

#endif
