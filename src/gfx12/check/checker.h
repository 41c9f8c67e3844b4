/* The checker's own state, shared by its files:
 *
 *   check.c        the rule table, findings, graph problems, the order of work
 *   check_node.c   fields of one node (V03 - V11, V15 - V19, V22, V24, V27)
 *   check_tree.c   promises, masks and boxes against what lies below (V12, V13, V23 - V25) */
#ifndef FACET_GFX12_CHECK_CHECKER_H
#define FACET_GFX12_CHECK_CHECKER_H

#include "gfx12/check/check.h"

/* What lies below a node. */
struct facet_checked {
    float lo[3], hi[3]; /* of the geometry; lo > hi: none, or unknown */
    uint8_t promises;   /* cull_flags that hold for everything below */
    uint8_t mask;       /* OR of the masks below */
    uint8_t done;
    uint8_t has_instance; /* the bounds are estimates of placed BLASes */
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
    bool failed;     /* out of memory */
};

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

void facet_gfx12_checker_box_fields(struct facet_checker *c, uint32_t node);
void facet_gfx12_checker_instance_fields(struct facet_checker *c, uint32_t node);
void facet_gfx12_checker_prim_fields(struct facet_checker *c, uint32_t node);

/* Fill below[node] and compare the node's children with it; children come first. */
void facet_gfx12_checker_box_tree(struct facet_checker *c, uint32_t node);
void facet_gfx12_checker_instance_tree(struct facet_checker *c, uint32_t node);

static inline uint64_t facet_gfx12_checker_offset(uint32_t node)
{
    return facet_gfx12_node_offset(node);
}

#endif
