/* One GFX.SAMPLE or GFX.SAMPLE.GATH with every value on the way, and the record of it: what
 * `facet gfx why` shows. The steps are those that the instructions themselves take (sample.h). */
#ifndef FACET_GFX_EXPLAIN_H
#define FACET_GFX_EXPLAIN_H

#include "gfx/sample.h"
#include "record/record.h"

struct facet_gfx_why {
    /* asked */
    const char *file, *format_name; /* of the texture */
    struct facet_gfx_texture texture;
    struct facet_gfx_sampling sampling;
    struct facet_gfx_numbers numbers;
    bool tensor;      /* slot[2] and slot[3] are indices */
    bool gathers;     /* GFX.SAMPLE.GATH */
    bool weighted;    /* its p */
    uint32_t slot[4]; /* elements u, v, n1, n2 */
    unsigned taps;
    uint32_t table[3 * FACET_GFX_TAPS_MAX]; /* du, dv, weight of each tap */

    /* found */
    struct facet_gfx_sample sample;
    struct facet_gfx_sample_steps steps;
    struct facet_gfx_gather gather;
    struct facet_gfx_gather_steps gather_steps;
    unsigned coordinate_flags; /* of reading the coordinates and the table */
    uint32_t out[4];
    unsigned flags;
};

/* Runs the instruction; false when a load failed. */
bool facet_gfx_why_run(struct facet_gfx_why *why, facet_gfx_load *load, void *context);
/* The record, an outermost object. */
void facet_gfx_record_why(struct facet_record *r, const struct facet_gfx_why *why);

#endif
