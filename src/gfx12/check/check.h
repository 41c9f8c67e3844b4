/* The validator of gfx12-semantics.md section 13.
 *
 * Takes any bytes, never fails on their contents, and looks at every node once (oriented boxes are
 * checked against all vertices below them, within a budget). Images of Facet and of the RADV and
 * GPURT drivers have no errors (12.8). */
#ifndef FACET_GFX12_CHECK_CHECK_H
#define FACET_GFX12_CHECK_CHECK_H

#include "base/progress.h"
#include "bvh/input.h"
#include "contract/gfx12_rules.h"
#include "gfx12/image/walk.h"

enum facet_gfx12_severity {
    FACET_GFX12_NOTE,
    FACET_GFX12_WARNING,
    FACET_GFX12_ERROR,
};

/* In which images a rule may have a severity of its own; the order is that of
 * enum facet_gfx12_driver. */
enum facet_gfx12_dialect {
    FACET_GFX12_PLAIN,
    FACET_GFX12_OF_RADV,
    FACET_GFX12_OF_GPURT,
    FACET_GFX12_OF_HIPRT,
    FACET_GFX12_DIALECTS
};

/* V01 and up, spec/gfx12.rules.tsv. V32 to V39 are about headers of drivers, which gfx12/drivers
 * looks at. */
struct facet_gfx12_rule {
    const char *id;          /* "V12" */
    const char *requirement; /* row of spec/gfx12.requirements.tsv that the rule protects */
    enum facet_gfx12_severity severity;
    enum facet_gfx12_severity in[FACET_GFX12_DIALECTS];
    const char *title;
};
extern const struct facet_gfx12_rule facet_gfx12_rules[FACET_GFX12_RULES + 1]; /* [0] is unused */

struct facet_gfx12_finding {
    uint8_t rule; /* index of facet_gfx12_rules */
    enum facet_gfx12_severity severity;
    uint64_t offset; /* byte in the image */
    char text[224];
};

/* How far a primitive may stick out of its boxes without an error: the smaller of the two. A step
 * is that of the box's grid, an ulp that of the largest coordinate on it (R-G12-81). */
struct facet_gfx12_tolerance {
    double ulps, steps;
};
/* Roundings to nearest in an encoder cost less than one ulp of the grid; half a step keeps every
 * plane that is wrong by a step an error. */
#define FACET_GFX12_TOLERANCE ((struct facet_gfx12_tolerance){1.0, 0.5})
/* "2steps", "0.5ulp"; a bare number counts in ulp. */
bool facet_gfx12_tolerance_parse(const char *text, struct facet_gfx12_tolerance *out);

struct facet_gfx12_check_options {
    bool partial; /* instances may point outside the image (a dump of the TLAS alone) */
    bool moving;  /* instances move: their boxes hold all of the way (no V44, R-G12-148) */
    struct facet_gfx12_tolerance tolerance;    /* zeros: none */
    const struct facet_bvh_scene_input *scene; /* what the image was made from, may be NULL */
    enum facet_gfx12_dialect dialect;
    struct facet_progress *progress; /* counts nodes, may be NULL */
    uint32_t max_findings;           /* kept; the others are only counted. 0 = 10000 */
};

struct facet_gfx12_check {
    struct facet_gfx12_finding *findings; /* by offset, then rule */
    uint32_t count;                       /* kept */
    uint64_t total[3];                    /* per severity */
    uint64_t by_rule[FACET_GFX12_RULES + 1];
    uint32_t nodes;   /* of the image */
    uint32_t reached; /* from the root */
};

/* FACET_OK whatever was found. */
enum facet_status facet_gfx12_check(const struct facet_gfx12_view *view,
                                    const struct facet_gfx12_check_options *options,
                                    struct facet_gfx12_check *out,
                                    struct facet_error *err);
void facet_gfx12_check_free(struct facet_gfx12_check *check);
/* Adds what was found elsewhere, each at its place in the list; false when memory is short. */
bool facet_gfx12_check_join(struct facet_gfx12_check *check,
                            const struct facet_gfx12_check_options *options,
                            const struct facet_gfx12_finding *more,
                            size_t count);

const char *facet_gfx12_severity_name(enum facet_gfx12_severity severity);

#endif
