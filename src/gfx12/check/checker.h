/* The checker's own state, shared by its files:
 *
 *   check.c        the rule table, findings, graph problems, the order of work
 *   check_node.c   fields of one node (V03 - V11, V15 - V19, V22, V24, V27)
 *   check_below.c  what lies below a link
 *   check_tree.c   promises, masks and boxes of box nodes against that (V12, V13)
 *   check_instance.c  the same for instances (V13, V23 - V25)
 *   check_cover.c  triangles against the boxes on all paths to them (V12) */
#ifndef FACET_GFX12_CHECK_CHECKER_H
#define FACET_GFX12_CHECK_CHECKER_H

#include "base/array.h"
#include "gfx12/check/check.h"
#include "gfx12/check/cover.h"

/* What lies below a node, as far as the boxes of its children let rays find it. */
struct facet_checked {
    float lo[3], hi[3];       /* of the geometry; lo > hi: none, or unknown */
    uint8_t promises;         /* cull_flags that hold for everything below */
    uint8_t mask;             /* OR of the masks below */
    uint8_t done;             /* 2: the bounds of a placed BLAS are as tight as its primitives */
    uint8_t has_instance : 1; /* the bounds are estimates of placed BLASes */
    uint8_t apart : 1;        /* a primitive of the range is not near the box that leads to it */
};

/* Something that may be true of every node of a driver's image. */
struct facet_checked_cases {
    uint64_t count, first; /* how many, and the byte of the first */
};

struct facet_checker {
    const struct facet_gfx12_view *view;
    const struct facet_gfx12_check_options *options;
    struct facet_gfx12_walk walk;
    struct facet_checked *below; /* per node */
    struct facet_gfx12_check *out;
    size_t capacity;
    uint32_t limit;
    uint64_t budget; /* pairs that oriented boxes may still look at */
    struct facet_checked_cases unreached, repeated, twice, loose, said_triangles, unseen,
        unused_bits, inverted, nested, joined;
    uint32_t unreached_runs;
    bool leaks;  /* a child does not keep its word about what lies below it */
    bool failed; /* out of memory */
};

/* A triangle, or a procedural box with its two extreme corners in corner[0] and corner[1]. */
struct facet_checked_primitive {
    float corner[3][3];
    struct facet_gfx12_extent bounds;
    uint32_t geometry, primitive;
    uint8_t number; /* in its pair */
    bool procedural, opaque, double_sided;
    bool finite;
};
/* Those of a pair; returns how many, 1 or 2. */
unsigned facet_gfx12_checker_primitives(const uint8_t *node,
                                        unsigned pair,
                                        struct facet_checked_primitive out[2]);

/* The cull_flags that hold for it. */
uint8_t facet_gfx12_checker_holds(const struct facet_checked_primitive *primitive);

struct facet_gfx12_extent facet_gfx12_checker_child_extent(const struct facet_gfx12_child *child,
                                                           const uint32_t origin[3],
                                                           const uint8_t exponent[3]);
bool facet_gfx12_checker_oriented(const struct facet_gfx12_box *box);
/* What lies below a link; false when it leads nowhere that was walked. Of a range, as far as `box`
 * (NULL: everything) comes near it: a pair may hold a triangle that another box is for. */
bool facet_gfx12_checker_below(const struct facet_checker *c,
                               const struct facet_gfx12_link *link,
                               const struct facet_gfx12_extent *box,
                               struct facet_checked *out);
void facet_gfx12_checker_nothing(struct facet_checked *b);
void facet_gfx12_checker_join(struct facet_checked *into, const struct facet_checked *b);
bool facet_gfx12_checker_has_geometry(const struct facet_checked *b);
struct facet_gfx12_extent facet_gfx12_checker_bounds(const struct facet_checked *b);
/* What all children of an instance node hold together, in object space. */
void facet_gfx12_checker_blas_below(const struct facet_checker *c,
                                    uint32_t node,
                                    struct facet_checked *out);

/* A link, and what the boxes on the way to it hold: rays find that much of what lies below. */
struct facet_checked_step {
    struct facet_gfx12_link link;
    struct facet_gfx12_extent path;
};
/* The children of a box node go onto the stack. */
void facet_gfx12_checker_push_children(struct facet_checker *c,
                                       uint32_t node,
                                       const struct facet_gfx12_extent *path,
                                       struct facet_array *stack);

/* Placed BLASes may be rounded in other ways than ours (R-G12-58). */
#define FACET_PLACED_SLACK 1e-5

/* object_to_world of an instance: world = inverse * (object - translation). */
struct facet_checked_placement {
    double inverse[3][3], translation[3];
};

/* false when world_to_object has no finite inverse (R-G12-57). */
bool facet_gfx12_checker_placement(const struct facet_gfx12_instance *in,
                                   struct facet_checked_placement *out);

/* Makes the bounds of the placed BLASes below a link of a TLAS tight, as far as the budget allows,
 * and joins them. */
void facet_gfx12_checker_tighten(struct facet_checker *c,
                                 const struct facet_gfx12_link *link,
                                 struct facet_checked *out);

/* V13: what a child of a box, or of an instance (placed), promises about what lies below. */
void facet_gfx12_checker_promises(struct facet_checker *c,
                                  const struct facet_gfx12_child *child,
                                  unsigned slot,
                                  const struct facet_checked *b,
                                  bool placed,
                                  uint64_t at);
/* Named by an instance, or by nothing. */
bool facet_gfx12_checker_is_level_root(const struct facet_checker *c, uint32_t node);

void facet_gfx12_checker_report(struct facet_checker *c,
                                unsigned rule,
                                uint64_t offset,
                                const char *format,
                                ...) __attribute__((format(printf, 4, 5)));
/* With another severity than the table's. */
void facet_gfx12_checker_report_as(struct facet_checker *c,
                                   unsigned rule,
                                   enum facet_gfx12_severity severity,
                                   uint64_t offset,
                                   const char *format,
                                   ...) __attribute__((format(printf, 5, 6)));

void facet_gfx12_checker_count(struct facet_checked_cases *cases, uint64_t offset);

void facet_gfx12_checker_box_fields(struct facet_checker *c, uint32_t node);
void facet_gfx12_checker_instance_fields(struct facet_checker *c, uint32_t node);
void facet_gfx12_checker_prim_fields(struct facet_checker *c, uint32_t node);

/* Fill below[node] and compare the node's children with it; children come first. */
void facet_gfx12_checker_box_tree(struct facet_checker *c, uint32_t node);
void facet_gfx12_checker_instance_tree(struct facet_checker *c, uint32_t node);
/* V12 for every primitive, after all nodes. */
void facet_gfx12_checker_cover(struct facet_checker *c);

static inline uint64_t facet_gfx12_checker_offset(uint32_t node)
{
    return facet_gfx12_node_offset(node);
}

#endif
