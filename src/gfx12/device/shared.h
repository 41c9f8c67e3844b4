/* What the host and a device hand each other: read by the C compiler, and by that of the device as
 * the first part of the kernel's text. Members stand so that no compiler needs padding. */
#ifndef FACET_GFX12_DEVICE_SHARED_H
#define FACET_GFX12_DEVICE_SHARED_H

#if defined __OPENCL_VERSION__ || defined __OPENCL_C_VERSION__
typedef uint device_u32;
typedef ulong device_u64;
#else
#include <stdint.h>
typedef uint32_t device_u32;
typedef uint64_t device_u64;
#endif

/* Entries of a ray's stack; a ray that needs more is declined. */
#define DEVICE_STACK 96

/* What becomes of a ray. */
#define DEVICE_FRESH 0    /* has not begun */
#define DEVICE_DONE 1     /* its result is written */
#define DEVICE_GOES_ON 2  /* the slice is over; its state is kept */
#define DEVICE_DECLINED 3 /* for the host, from its beginning: see device.h */
#define DEVICE_ENDLESS 4  /* as DECLINED; max_steps is reached */
#define DEVICE_WAITS 5    /* for a page of the image; its state is kept */

/* What to do with a visible procedural primitive. */
#define DEVICE_PROCEDURAL_NONE 0u
#define DEVICE_PROCEDURAL_BOX 1u
#define DEVICE_PROCEDURAL_DECLINE 2u

/* What to do with a candidate that is not opaque. */
#define DEVICE_ANY_HIT_NONE 0u    /* it is a hit */
#define DEVICE_ANY_HIT_DECLINE 1u /* it is the host's */
#define DEVICE_ANY_HIT_ASK 2u     /* ANY_HIT_STOPS says (walk.cl) */

#define DEVICE_NOWHERE 0xFFFFFFFFu

/* Dwords of records (pack.cl); each node has one as a box and eight as pairs. */
#define BOX_RECORD 64u
#define PAIR_RECORD 24u
#define NODE_PAIRS 8u

#define DEVICE_GROUP 64u             /* work items of a group */
#define DEVICE_ORDER_KEYS (1u << 15) /* of rays (order.cl): fifteen bits */

/* How many rays of a launch there are, by what became of them (gather.cl). */
struct device_counts {
    device_u32 going_on, waiting;
    device_u32 declined; /* or endless; over all launches of a flight */
};

/* What all rays of a launch share: the unit, the query, and where the image is. */
struct device_common {
    device_u64 image_address;
    device_u64 image_size;
    device_u64 resource_base; /* in bytes */
    device_u64 resource_size; /* last valid unit of 64 bytes */
    device_u64 tlas_base;
    device_u64 max_steps;
    device_u32 segments;   /* 0: in one piece */
    device_u32 page_shift; /* pages of 2^page_shift bytes and 64 of the next; 0: all is here */
    device_u32 root;
    device_u32 instance_mask;
    device_u32 first_hit; /* the first hit ends a ray */
    device_u32 gpurt;     /* the profile */
    device_u32 sort_triangles_first;
    device_u32 heuristic;
    device_u32 grow;
    device_u32 sort;
    device_u32 wide_sort;
    device_u32 fetches; /* compressed_format_en */
    device_u32 instance_en;
    device_u32 pointer_flags;
    device_u32 procedural; /* DEVICE_PROCEDURAL_... */
    device_u32 any_hit;    /* DEVICE_ANY_HIT_... */
    device_u32 slice;      /* nodes that a ray visits in one launch */
    device_u32 phase;      /* records (pack.cl) begin so many bytes into the image */
    device_u32 records;    /* how many there are; 0: none, and no fast loop */
    float grow_by;         /* of `grow`: what the far end of a box's interval is multiplied by */
};

struct device_segment {
    device_u64 address;
    device_u64 offset;
    device_u64 size;
};

struct device_ray { /* facet_gfx12_batch_ray */
    float origin[3];
    float t_min;
    float direction[3];
    float t_max;
};

/* Bits of device_result.flags. */
#define DEVICE_FOUND 1u
#define DEVICE_BACKFACE 2u
#define DEVICE_PROCEDURAL 4u
#define DEVICE_OPAQUE 8u
#define DEVICE_LOST 16u /* the ray met a node that is not there */

struct device_result {
    float t, u, v;
    device_u32 primitive, geometry, node, instance, user_data;
    device_u64 base;
    device_u32 flags;
    device_u32 steps, boxes, primitives, instances, pushes, max_depth;
    device_u32 unused;
};

struct device_hit {   /* facet_gfx12_hit */
    device_u32 marks; /* found, procedural, opaque, backface: a byte each */
    float t, u, v;
    device_u32 primitive_index, geometry_index, node;
    device_u32 zero;
    device_u64 base;
    device_u32 instance, instance_user_data;
};

struct device_stats { /* facet_gfx12_stats */
    device_u64 steps, boxes, primitives, instances, walk_backs, pushes;
    device_u32 max_depth, lost_walks;
};

/* A group of facet_sums adds up so many rays for each work item. */
#define DEVICE_SUMMED 32u
struct device_sum {
    device_u64 steps, boxes, primitives, instances, pushes;
    device_u32 max_depth;
    device_u32 lost; /* not 0: a ray met a node that is not there */
};

/* A ray between two launches. */
struct device_state {
    struct device_result result; /* so far */
    device_u64 base;
    float origin[3], direction[3];
    float t_cur;
    device_u32 instance, user_data;
    device_u32 current; /* the node to continue with */
    device_u32 depth;
    device_u32 unused;
    device_u32 stack[DEVICE_STACK];
};

#endif
