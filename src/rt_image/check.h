/* The validator of RT images (image.h): any bytes, never a failure because of their contents.
 * Every tile and TriRange is looked at once, whatever refers to what. Counts what it sees on the
 * way, which is what `facet bvh info` shows. */
#ifndef FACET_RT_IMAGE_CHECK_H
#define FACET_RT_IMAGE_CHECK_H

#include "rt_image/image.h"

enum facet_rtbvh_rule {
    FACET_RTBVH_BAD_HEADER,
    FACET_RTBVH_BAD_NUMBERS,
    FACET_RTBVH_BAD_SECTION,
    FACET_RTBVH_BAD_ROOT,
    FACET_RTBVH_CHILD_TYPE,
    FACET_RTBVH_NODE_OUTSIDE,
    FACET_RTBVH_LEAF_OUTSIDE,
    FACET_RTBVH_CYCLE,
    FACET_RTBVH_NODE_TWICE,
    FACET_RTBVH_LEAF_TWICE,
    FACET_RTBVH_BOX_NAN,
    FACET_RTBVH_BOX_INVERTED,
    FACET_RTBVH_BOX_CHILD,
    FACET_RTBVH_BOX_TRIANGLE,
    FACET_RTBVH_RANGE,
    FACET_RTBVH_RANGE_BASE,
    FACET_RTBVH_TRIANGLE_NUMBER,
    FACET_RTBVH_TRIANGLE_TWICE,
    FACET_RTBVH_STACK_NEED,
    FACET_RTBVH_COUNTS,
    FACET_RTBVH_PADDING,
    FACET_RTBVH_UNUSED,
    FACET_RTBVH_RULES
};

struct facet_rtbvh_rule_text {
    const char *id;          /* "T05" */
    const char *requirement; /* row of spec/rt.requirements.tsv; "header" where docs/rt-images.md
                                alone says so */
    bool warning;            /* else an error */
    const char *title;       /* what is expected */
};
extern const struct facet_rtbvh_rule_text facet_rtbvh_rules[FACET_RTBVH_RULES];

struct facet_rtbvh_finding {
    uint64_t offset; /* byte in the file */
    enum facet_rtbvh_rule rule;
    char text[160];
};

struct facet_rtbvh_place {
    uint64_t at; /* byte of the heap */
    bool leaf;   /* a TriRange, else a node */
};

struct facet_rtbvh_check {
    struct facet_rtbvh_finding *findings; /* by offset, then rule */
    uint32_t count;                       /* kept */
    uint64_t errors, warnings;
    bool open; /* the header is sound and `view` is filled in */
    struct facet_rtbvh_view view;
    struct facet_rtbvh_place *places; /* what was reached, by address */
    uint64_t place_count;
    uint32_t nodes, leaves; /* reached */
    uint64_t triangles;     /* in the TriRanges that were reached */
    uint64_t children[9];   /* nodes by their number of children */
    uint32_t depth, stack;  /* levels of nodes; most stack entries of a ray */
    double sah;             /* expected node visits and triangle tests of a line through the root */
};

/* max_findings: kept, the others are only counted. FACET_OK whatever was found. */
enum facet_status facet_rtbvh_check(const uint8_t *bytes,
                                    uint64_t size,
                                    uint32_t max_findings,
                                    struct facet_rtbvh_check *out,
                                    struct facet_error *err);
void facet_rtbvh_check_free(struct facet_rtbvh_check *check);

#endif
