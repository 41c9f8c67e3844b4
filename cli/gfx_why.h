/* What `facet gfx why` explains, and the two forms in which it prints it. Everything shown comes
 * from the functions that GFX.SAMPLE and GFX.SAMPLE.GATH themselves run. */
#ifndef FACET_CLI_GFX_WHY_H
#define FACET_CLI_GFX_WHY_H

#include "gfx/sample.h"

#include <jansson.h>

struct gfx_why {
    const char *file, *format_name;
    struct facet_gfx_texture texture;
    struct facet_gfx_sampling sampling;
    struct facet_gfx_numbers numbers;
    bool tensor, gathers, weighted, is_signed;
    uint32_t slot[4];              /* elements u, v, n1, n2 */
    struct facet_gfx_real real[4]; /* their values */
    unsigned taps;
    uint32_t table[3 * FACET_GFX_TAPS_MAX];

    struct facet_gfx_sample sample;
    struct facet_gfx_sample_steps steps;
    struct facet_gfx_gather gather;
    struct facet_gfx_gather_steps gather_steps;
    unsigned coordinate_flags; /* of reading the coordinates and the table */
    uint32_t out[4];
    unsigned flags;
};

/* The value, rounded to a double. */
double gfx_why_value(const struct facet_gfx_real *x);
/* The value of an accumulator, and of an element as `channel` reads it. */
double gfx_why_acc(const struct gfx_why *why, unsigned channel, uint32_t acc);
double gfx_why_element(const struct gfx_why *why, unsigned channel, uint32_t element);
extern const char *const gfx_why_wraps[4];
/* By enum facet_gfx_srgb_part. */
extern const char *const gfx_why_srgb[4];

void gfx_why_text(const struct gfx_why *why);
json_t *gfx_why_json(const struct gfx_why *why);

#endif
