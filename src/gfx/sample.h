/* GFX.SAMPLE and GFX.SAMPLE.GATH of one lane in three parts, because an instruction fetches for all
 * lanes before it computes (gfx-semantics.md 2.3):
 *
 *   plan    element bits of coordinates to texel positions and weights
 *   fetch   texel words through the caller's load function, in the contract's order
 *   finish  filter, colour space, narrow
 *
 * Flags of all three parts belong to the lane; a lane whose fetch fails raises nothing, so the
 * caller drops what the plan raised.
 *
 * Spec: gfx-semantics.md 6.4 to 6.7, 7, 8; R-GFX-29 to R-GFX-36, R-GFX-57 to R-GFX-62. */
#ifndef FACET_GFX_SAMPLE_H
#define FACET_GFX_SAMPLE_H

#include "gfx/texture.h"

/* What the instruction adds to the texture: m, f and the enable, CONVERT_EN, w and wrap. */
struct facet_gfx_sampling {
    bool bilinear; /* SAMPLE: m; GATH: GFXCFG.FILTER_DFLT */
    bool srgb;     /* SAMPLE: f and texture.srgb; GATH: texture.srgb (UNORM is checked here) */
    bool raw;      /* SAMPLE with CONVERT_EN = 0 */
    uint8_t wrap;  /* texture.wrap, or the override of SAMPLE */
};

/* Loads `bytes` (1, 2 or 4) little-endian bytes; false stops the fetch. */
typedef bool facet_gfx_load(void *context, uint64_t address, unsigned bytes, uint32_t *word);

/* ---- positions ---------------------------------------------------------------------------------
 */

/* FX of 6.4 for a coordinate that is not NaN. */
int64_t facet_gfx_position(const struct facet_gfx_real *c, bool normalized, uint32_t size);
/* false: border. */
bool facet_gfx_wrap_index(int64_t i, uint32_t size, unsigned wrap, uint32_t *out);
/* Texels and weights at a position of a texture that is not null. */
struct facet_gfx_footprint facet_gfx_footprint_at(const struct facet_gfx_texture *texture,
                                                  const struct facet_gfx_sampling *sampling,
                                                  int64_t fx,
                                                  int64_t fy);

/* ---- GFX.SAMPLE --------------------------------------------------------------------------------
 */

struct facet_gfx_sample {
    struct facet_gfx_footprint foot;
    uint32_t n1, n2; /* tensor indices */
};

/* uv: two elements, with t = 1 (`tensor`) four: u, v, n1, n2. */
void facet_gfx_sample_plan(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint32_t *uv,
                           bool tensor,
                           struct facet_gfx_sample *sample,
                           unsigned *flags);
bool facet_gfx_sample_fetch(const struct facet_gfx_texture *texture,
                            struct facet_gfx_sample *sample,
                            facet_gfx_load *load,
                            void *context);

/* out: elements of R, G, B, A. steps may be NULL. */
void facet_gfx_sample_finish(const struct facet_gfx_numbers *n,
                             const struct facet_gfx_texture *texture,
                             const struct facet_gfx_sampling *sampling,
                             const struct facet_gfx_sample *sample,
                             uint32_t out[4],
                             struct facet_gfx_sample_steps *steps,
                             unsigned *flags);

/* ---- GFX.SAMPLE.GATH ---------------------------------------------------------------------------
 */

struct facet_gfx_gather {
    uint8_t kind;   /* enum facet_gfx_footprint_kind of the whole gather */
    uint8_t count;  /* N, at most FACET_GFX_TAPS_MAX */
    bool weighted;  /* p */
    int64_t fx, fy; /* the position without offset */
    struct facet_gfx_real weight[FACET_GFX_TAPS_MAX];
    struct facet_gfx_footprint tap[FACET_GFX_TAPS_MAX];
};

/* N from the n field of the instruction; above 16: 16 and UNSUP_FMT. */
unsigned
facet_gfx_gather_count(unsigned n_field, const struct facet_gfx_texture *texture, unsigned *flags);
/* Reads u and v. Returns how many elements of the gather table are to be fetched, from element 0:
 * 3 * count, or 0 when nothing is fetched (R-GFX-61). */
unsigned facet_gfx_gather_begin(const struct facet_gfx_numbers *n,
                                const struct facet_gfx_texture *texture,
                                const uint32_t uv[2],
                                unsigned count,
                                struct facet_gfx_gather *gather,
                                unsigned *flags);
/* Places the taps: p and s of the instruction, the elements of the table. With nothing to fetch
 * `table` is not read. */
void facet_gfx_gather_plan(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint32_t *table,
                           bool p,
                           bool s,
                           struct facet_gfx_gather *gather,
                           unsigned *flags);
bool facet_gfx_gather_fetch(const struct facet_gfx_texture *texture,
                            struct facet_gfx_gather *gather,
                            facet_gfx_load *load,
                            void *context);

/* What happened to one output channel of a gather. */
struct facet_gfx_gather_channel_steps {
    struct facet_gfx_channel_steps tap[FACET_GFX_TAPS_MAX]; /* up to `filtered` */
    uint32_t sum[FACET_GFX_TAPS_MAX];     /* after each tap; integer accumulators: the last only */
    struct facet_gfx_channel_steps whole; /* from `filtered`, the gathered value, on */
};
struct facet_gfx_gather_steps {
    struct facet_gfx_gather_channel_steps channel[4];
};

void facet_gfx_gather_finish(const struct facet_gfx_numbers *n,
                             const struct facet_gfx_texture *texture,
                             const struct facet_gfx_sampling *sampling,
                             const struct facet_gfx_gather *gather,
                             uint32_t out[4],
                             struct facet_gfx_gather_steps *steps,
                             unsigned *flags);

/* ---- colour space ------------------------------------------------------------------------------
 */

/* The step of 6.6 on one accumulator. part may be NULL. */
uint32_t facet_gfx_srgb(const struct facet_conv *conv,
                        uint32_t acc,
                        enum facet_gfx_srgb_part *part,
                        unsigned *flags);

#endif
