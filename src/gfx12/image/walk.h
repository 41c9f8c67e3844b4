/* Walking an arbitrary GFX12 image: which of its 64-byte units a node starts at, of which kind,
 * reached from where. The checker, the statistics, the dump, the comparison and the refit all start
 * from this.
 *
 * Any bytes are accepted. Every node is visited once, whatever the graph looks like, so the time is
 * linear in the size of the image; what is wrong with the graph is listed, not followed. */
#ifndef FACET_GFX12_IMAGE_WALK_H
#define FACET_GFX12_IMAGE_WALK_H

#include "base/error.h"
#include "base/progress.h"
#include "gfx12/image/view.h"

/* An image that was built or read. */
struct facet_gfx12_image {
    uint8_t *bytes; /* free with free() */
    uint64_t size;  /* multiple of 64 */
};

#define FACET_GFX12_NO_NODE UINT32_MAX

enum facet_gfx12_trouble {
    FACET_GFX12_TROUBLE_OUTSIDE,    /* a child lies (partly) outside the image or its segment */
    FACET_GFX12_TROUBLE_MISALIGNED, /* a child's offset is not a multiple of 64 */
    FACET_GFX12_TROUBLE_OVERLAP,    /* a child starts in the middle of another node */
    FACET_GFX12_TROUBLE_TYPE,       /* a type that names no node */
    FACET_GFX12_TROUBLE_KIND,       /* a node reached as two kinds */
    FACET_GFX12_TROUBLE_BASE,       /* a node reached with two different BVH bases */
    FACET_GFX12_TROUBLE_CYCLE,      /* a child is its own ancestor */
    FACET_GFX12_TROUBLE_SHARED,     /* a box or instance with two parents */
    FACET_GFX12_TROUBLE_REPEATED,   /* a primitive range named twice */
    FACET_GFX12_TROUBLE_PAIR,       /* a range starts at a pair that the node does not have */
    FACET_GFX12_TROUBLE_RANGE,      /* a range leaves the image or has more than 255 pairs */
    FACET_GFX12_TROUBLE_BLAS,       /* an instance points outside the image */
};

struct facet_gfx12_problem {
    enum facet_gfx12_trouble trouble;
    uint32_t node;    /* the node that names the child, FACET_GFX12_NO_NODE for the root */
    uint32_t slot;    /* which child */
    uint64_t address; /* of what was named; may be outside */
};

struct facet_gfx12_walk_node {
    uint8_t kind;      /* enum facet_gfx12_kind; NONE: not reached */
    uint8_t starts;    /* primitive: pairs at which a range starts, one bit each */
    uint8_t last_slot; /* slot of the parent that named it first */
    uint8_t state;     /* of the search */
    uint32_t parent; /* node that named it first, a box before an instance; NO_NODE for the root */
    uint64_t level_base; /* address of the BVH base that its IDs are relative to */
};

struct facet_gfx12_walk {
    struct facet_gfx12_walk_node *nodes; /* one per 64 bytes: those where no node starts are NONE */
    uint32_t count;                      /* of 64-byte units */
    uint32_t *order;                     /* reached nodes, children before parents */
    uint32_t reached;
    struct facet_gfx12_problem *problems;
    uint32_t problem_count;
    size_t problem_capacity;
};

/* A child of a box or instance node. */
struct facet_gfx12_link {
    uint32_t slot;
    uint32_t id; /* as the instruction forms it */
    uint64_t address;
    uint64_t offset; /* in the image; 0 when outside */
    bool inside;
};

/* Works on any bytes; fails only when memory is short or the image exceeds 2^32 - 2 nodes. */
enum facet_status facet_gfx12_walk(const struct facet_gfx12_view *view,
                                   struct facet_gfx12_walk *out,
                                   struct facet_error *err);
/* The same; counts nodes (may be NULL). */
enum facet_status facet_gfx12_walk_shown(const struct facet_gfx12_view *view,
                                         struct facet_progress *progress,
                                         struct facet_gfx12_walk *out,
                                         struct facet_error *err);
void facet_gfx12_walk_free(struct facet_gfx12_walk *walk);

/* How many instances lie below instances (R-G12-146); 0 as well when memory is short. */
uint64_t facet_gfx12_count_nested(const struct facet_gfx12_view *view);

/* The children that the node names, used slots only; returns how many. */
unsigned facet_gfx12_links(const struct facet_gfx12_view *view,
                           const struct facet_gfx12_walk *walk,
                           uint32_t node,
                           struct facet_gfx12_link links[8]);

/* Whether the walk reached the link's target as the kind that the link says; then `*node` is it. */
bool facet_gfx12_link_leads(const struct facet_gfx12_walk *walk,
                            const struct facet_gfx12_link *link,
                            uint32_t *node);

/* Goes over the whole image in order: a reached node takes two units, and what is between them
 * comes in blocks of two units, or one where no second follows. Returns the units of the block at
 * `at`. */
unsigned facet_gfx12_walk_block(const struct facet_gfx12_view *view,
                                const struct facet_gfx12_walk *walk,
                                uint32_t at);
/* The size of the image in nodes: those that were reached, and 128 bytes each of the rest. */
uint32_t facet_gfx12_walk_size(const struct facet_gfx12_walk *walk);

/* The ID of a node as its own level names it. */
uint32_t facet_gfx12_walk_id(const struct facet_gfx12_view *view,
                             const struct facet_gfx12_walk *walk,
                             uint32_t node);

/* A range of primitive pairs: start at a child's node and pair, then step until false. Malformed
 * ranges end like the walk ended them. */
struct facet_gfx12_range {
    const struct facet_gfx12_view *view;
    uint32_t node;
    unsigned pair;
    unsigned seen;
    bool stopped;
};
struct facet_gfx12_range facet_gfx12_range_start(const struct facet_gfx12_view *view,
                                                 const struct facet_gfx12_link *link);
/* Moves to the next pair; false at the end of the range. */
bool facet_gfx12_range_next(struct facet_gfx12_range *range);
/* The pair's descriptor bits and number of pairs of its node, without decoding the rest. */
bool facet_gfx12_range_is_stop(const struct facet_gfx12_range *range);

const char *facet_gfx12_kind_name(enum facet_gfx12_kind kind);

#endif
