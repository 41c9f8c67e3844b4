/* Decoded nodes and the traversal over them: the inside of tracer.h.
 *
 * Everything that does not depend on the ray is done once per node: planes are dequantized (5.2),
 * child IDs resolved (4.1) against the base that the node is reached with, vertices decompressed
 * and edges subtracted (9.4). Decoded nodes name each other by links, so that no ID, address or
 * bound has to be looked at again on the way.
 *
 * A box node owns the primitive ranges below it: with sort_triangles_first they are visited right
 * after the box, before anything else (11.1), so they never need to go over the stack. Between two
 * visits only t_cur changes; the order of ranges therefore shows only when two candidates have the
 * same t, when the first hit ends the ray, or when a callback counts. In these cases, and only
 * then, the order of the sorting network is computed (fast_exact.c). */
#ifndef FACET_GFX12_FAST_H
#define FACET_GFX12_FAST_H

#include "gfx12/trace_state.h"
#include "gfx12/tracer.h"

/* ---- records, in units of 64 bytes ---- */

enum { FAST_UNIT = 64, FAST_MAX_RANGE = 64, FAST_MAX_NODE_PAIRS = 255 };

enum fast_kind {
    FAST_BOX,       /* a plain box; no child can be entered before it, by rays of any octant */
    FAST_LOOSE_BOX, /* a plain box for which fast_box.inside has to be looked at */
    FAST_INSTANCE,
    FAST_NONE, /* a node that cannot be fetched: one step, no effect; unit 1: it counts as a box */
    FAST_RETURN,   /* leave the instance */
    FAST_ODD_BOX,  /* a box with FAST_SPECIAL */
    FAST_ONLY_BOX, /* a plain box that has but one child, which is not a range */
};

/* A link: kind in bits 2..0, unit number in bits 31..3. */
static inline enum fast_kind fast_kind_of(uint32_t link)
{
    return (enum fast_kind)(link & 7);
}

/* A plain box of either kind. */
static inline bool fast_is_plain(uint32_t link)
{
    return (link & 6) == 0;
}

static inline uint32_t fast_link(enum fast_kind kind, uint32_t unit)
{
    return unit << 3 | (uint32_t)kind;
}

struct fast_box {
    _Alignas(64) float plane[3][2][8]; /* per axis lo and hi of the children; empty slots: lo =
                                          +inf, hi = -inf, missed by every ray without NaN */
    uint32_t link[8];                  /* a range: the number of its first pair, see groups */
    uint32_t groups;                   /* unit of the first group; 0: the ranges are not decoded */
    uint32_t attention;                /* promises and FAST_... bits */
    uint16_t promises;                 /* bit n: some used child has cull_flags n */
    uint8_t used;                      /* children that can be hit */
    uint8_t ranges;                    /* children that are primitive ranges */
    uint8_t dull;                      /* ranges that are more than triangles, or beyond pair 64 */
    uint8_t uneven;                    /* some range has more than one pair */
    uint8_t only;                      /* 1 + the slot of the only child, 0 where there are more */
    uint8_t repeats;                   /* bit i: slot i has the ID of slot i - 1 */
    uint8_t inside; /* per octant of ray directions: no child can be entered before the box itself,
                       through any slot that names it (fast_decode.c) */
    uint8_t nan;    /* some plane is NaN */
    uint8_t obb;    /* 0..103, FACET_GFX12_OBB_NONE otherwise */
    uint8_t pairs[8]; /* of ranges */
    /* What is seldom looked at. */
    _Alignas(64) uint32_t id[8]; /* as the instruction returns them */
    uint8_t cull_mask[8];
    uint8_t cull_flags[8];
};

/* A box is tested by the short rules unless its attention and that of the ray have a bit in common.
 * Bits 15..0 of a box are its promises, of a ray those that its flags remove. */
#define FAST_SPECIAL 0x10000u /* the box: oriented, NaN, masks, repeated IDs, tiny planes */
#define FAST_ALWAYS 0x20000u  /* every box; the ray: see fast_level.regular */

/* (plane - origin) * inverse is not rounded to 0 unless plane == origin, when all three are 0 or at
 * least FAST_TINY (2^-86) and FAST_SMALL (2^-39) for the inverse: then the difference is a multiple
 * of 2^-110 and the product at least 2^-149. Boxes with planes nearer to 0 are FAST_SPECIAL. */
#define FAST_TINY 0x1p-86f
#define FAST_SMALL 0x1p-39f

_Static_assert(sizeof(struct fast_box) == 320, "four cache lines for rays, one beside");

/* Two pairs of the ranges of a box as four triangles side by side: pair p is the triangles 2p and
 * 2p + 1. The pairs of all ranges follow each other in slot order and are numbered through all
 * groups of the box. */
enum { FAST_GROUP_PAIRS = 2, FAST_GROUP_TRIANGLES = 4, FAST_MAX_BOX_PAIRS = 64 };

struct fast_group {
    _Alignas(64) float v0[3][FAST_GROUP_TRIANGLES]; /* by axis */
    float e1[3][FAST_GROUP_TRIANGLES];
    float e2[3][FAST_GROUP_TRIANGLES];
    uint32_t primitive[FAST_GROUP_TRIANGLES];
    uint32_t geometry[FAST_GROUP_TRIANGLES];
    uint32_t id[FAST_GROUP_PAIRS];
    uint8_t opaque;       /* bit k: triangle k */
    uint8_t double_sided; /* bit k */
    uint8_t present;      /* bit k: not absent */
    uint8_t last;         /* bit p: a range ends with pair p */
    uint8_t tail;         /* bit p: ... because what follows cannot be fetched: one more step */
};
_Static_assert(sizeof(struct fast_group) == 192, "a group is three cache lines");

struct fast_instance {
    struct fast_box box;             /* the children, in the space of the BLAS */
    _Alignas(64) float column[4][4]; /* of world_to_object, translation last; lane 3 is 0 */
    uint64_t pointer;
    uint32_t id;
    uint32_t user_data;
    uint32_t
        skipped_by; /* pointer flag of the ray that removes it: SKIP_TRIANGLES or _PROCEDURAL */
    uint8_t cull_mask;
    bool identity; /* the transform changes nothing but -0 */
    bool numbered; /* all children are the same node (12.8) */
};

struct facet_gfx12_tracer {
    struct facet_gfx12_unit unit;
    uint64_t address;
    uint32_t root;
    enum facet_gfx12_tracer_path path;
    bool one_by_one;
    bool broken; /* a decoded node names one that cannot be fetched */
    uint8_t stack;
    uint8_t *arena; /* NULL: reference loop */
    uint64_t bytes;
    uint64_t room; /* reserved for the arena */
    uint32_t root_link;
    uint32_t door;              /* link of the only instance where rays may start below it, or 0 */
    struct fast_box door_boxes; /* that such rays must hit, all of them */
    uint16_t promises;          /* of all boxes */
    uint16_t culled[1024]; /* by pointer flags: bit n: children with cull_flags n are removed */
    _Alignas(64) float obb_column[FACET_GFX12_OBB_COUNT][3][4]; /* rotations of section 6 */
};

/* The unit number times 64 is the link without its low bits times 8. */
static inline const void *fast_record(const struct facet_gfx12_tracer *tracer, uint32_t link)
{
    return tracer->arena + (size_t)(link & ~7u) * (FAST_UNIT / 8);
}

/* The group that has pair number `pair` of a box. */
static inline const struct fast_group *
fast_group(const struct facet_gfx12_tracer *tracer, const struct fast_box *box, uint32_t pair)
{
    const struct fast_group *groups =
        (const struct fast_group *)(tracer->arena + (size_t)box->groups * FAST_UNIT);

    return &groups[pair / FAST_GROUP_PAIRS];
}

/* Decodes everything that can be reached. FACET_OK with arena == NULL when the image is one that
 * only the reference loop handles. */
enum facet_status facet_gfx12_fast_decode(struct facet_gfx12_tracer *tracer,
                                          uint64_t max_bytes,
                                          uint64_t wish_bytes,
                                          struct facet_error *err);

/* ---- one ray ---- */

/* The ray in the space of an acceleration structure, and what follows from it. */
struct fast_level {
    _Alignas(16) float origin[4], direction[4], inverse[4]; /* lane 3 is 0 */
    float minus[4];                                         /* -origin */
    uint8_t near[4];   /* where in a box the planes are that face the ray, by axis */
    uint8_t far[4];    /* and those that do not */
    uint8_t octant;    /* bit k: inverse[k] is not >= 0 */
    uint8_t irregular; /* 8 or 0: no box may be skipped */
    bool regular;      /* no product of a slab test can be NaN: all finite, no direction 0 */
    bool tame;         /* regular, and no product becomes 0 by rounding: FAST_TINY */
    /* Everything above is a function of origin and direction. */
    uint16_t culled; /* facet_gfx12_tracer.culled of the flags */
    bool lean;       /* tame, and no plain box of the image has an attention bit of the ray */
    uint32_t attention;
    unsigned flags; /* effective pointer flags */
    uint64_t base;
    uint32_t instance;
    uint32_t user_data;
};

/* Children of a box or instance node that were hit, with their keys; only the keys of hit children
 * are defined. */
struct fast_children {
    const struct fast_box *box;
    unsigned hit; /* after culling and removal of duplicates */
    float key[8];
};

/* The order of two equal keys in a node where only two children were hit, by hit mask: 1 when the
 * network puts the higher slot first. */
extern const uint8_t facet_gfx12_fast_higher_first[256];

enum fast_outcome { FAST_GO_ON, FAST_STOP, FAST_OUT_OF_STEPS };

/* Slots of the hit children in the order of the sorting network (9.3); returns how many. */
unsigned facet_gfx12_fast_order(const struct facet_gfx12_unit *unit,
                                const struct fast_children *children,
                                uint8_t slot[8]);
/* The primitive ranges among the children, pair by pair in the order of the network, with the dull
 * code of the reference loop. */
enum fast_outcome facet_gfx12_fast_ranges(const struct facet_gfx12_tracer *tracer,
                                          const struct fast_level *level,
                                          const struct fast_children *children,
                                          struct facet_gfx12_trace_state *state);
/* Removes culled children (9.2 step 2) from the hit mask. */
unsigned facet_gfx12_fast_cull(const struct fast_box *box,
                               const struct fast_level *level,
                               uint32_t instance_mask,
                               unsigned hit);

/* Rays [0, count) that differ from `common` in origin, direction and interval. */
struct fast_batch {
    const struct facet_gfx12_tracer *tracer;
    const struct facet_gfx12_query *common;
    const struct facet_gfx12_batch_ray *rays;
    size_t count;
    struct facet_gfx12_hit *hits;
    struct facet_gfx12_stats *stats; /* is added to; may be NULL */
    enum facet_status *status;       /* of the ray that failed */
    struct facet_error *err;
};

typedef enum facet_status facet_gfx12_fast_one(const struct facet_gfx12_tracer *tracer,
                                               const struct facet_gfx12_query *query,
                                               struct facet_gfx12_hit *hit,
                                               struct facet_gfx12_stats *stats,
                                               struct facet_error *err);
/* Many; not for queries with callbacks. Stops at the first ray that fails and returns its number,
 * or count. */
typedef size_t facet_gfx12_fast_many(const struct fast_batch *batch);

facet_gfx12_fast_one facet_gfx12_fast_one_portable;
facet_gfx12_fast_many facet_gfx12_fast_many_portable;
#if defined(__x86_64__)
facet_gfx12_fast_one facet_gfx12_fast_one_avx2;
facet_gfx12_fast_many facet_gfx12_fast_many_avx2;
facet_gfx12_fast_one facet_gfx12_fast_one_avx512;
facet_gfx12_fast_many facet_gfx12_fast_many_avx512;
#endif

#endif
