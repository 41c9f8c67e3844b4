/* One sample of a texture as GFX.SAMPLE takes it, with every value on the way: position, texels,
 * weights, filter, colour space, conversion. The record is the computation of the instruction
 * (spec/gfx-semantics.md 6), not a second one. */
#ifndef FACET_GFX_H
#define FACET_GFX_H

#include <facet/error.h>
#include <facet/num.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- textures ---- */

/* "UNORM8_RGBA", "FP16_R", "R5G6B5"; NULL for reserved codes. Codes are 0..255. */
const char *facet_gfx_format_name(unsigned code);
/* Case does not matter; -1 when there is no such name. */
int facet_gfx_format_find(const char *name);

/* What lies outside of a texture. */
enum facet_gfx_wrap { FACET_GFX_CLAMP, FACET_GFX_REPEAT, FACET_GFX_MIRROR, FACET_GFX_BORDER };

/* Zero gives the default everywhere. Passed with its size, as facet/version.h explains. */
struct facet_gfx_sampler {
    const struct facet_conv *numbers; /* of elements and accumulator; NULL: FP32 in FP32 */
    const uint8_t *memory;            /* the texels' memory, addresses 0 .. memory_size - 1 */
    uint64_t memory_size;
    uint64_t base;          /* address of texel (0, 0) */
    uint32_t pitch;         /* bytes from row to row; 0: packed */
    uint32_t plane_stride;  /* bytes from channel to channel; 0: the channels lie together */
    uint32_t width, height; /* at most 65536; 0: the null texture */
    int32_t format;         /* facet_gfx_format_find */
    enum facet_gfx_wrap wrap;
    bool normalized; /* coordinates 0..1, else texels */
    bool bilinear;
    bool srgb;         /* UNORM formats are decoded to linear light */
    bool raw;          /* codes as they are: CONVERT_EN = 0 */
    float border[4];   /* R, G, B, A */
    uint32_t reserved; /* 0 */
};

/* ---- steps ---- */

enum facet_gfx_tap_kind {
    FACET_GFX_TAP_SKIP, /* weight zero: not fetched */
    FACET_GFX_TAP_BORDER,
    FACET_GFX_TAP_TEXEL,
};

struct facet_gfx_tap {
    uint8_t kind;     /* enum facet_gfx_tap_kind */
    uint32_t x, y;    /* TEXEL: after wrap */
    uint32_t word[4]; /* TEXEL: filled by the fetch */
};

enum facet_gfx_footprint_kind {
    FACET_GFX_TAPS,
    FACET_GFX_NULL,     /* null texture: nothing is fetched, 0 */
    FACET_GFX_NO_PLACE, /* NaN coordinate: nothing is fetched, NaN */
};

/* The texels under one position: t00, t01, t10, t11; nearest uses tap 0 alone. */
struct facet_gfx_footprint {
    uint8_t kind;    /* enum facet_gfx_footprint_kind */
    uint16_t fu, fv; /* weights in 1/65536 */
    int64_t fx, fy;  /* the position with 16 fraction bits */
    int64_t i, j;    /* texel of tap 0 before wrap */
    struct facet_gfx_tap tap[4];
};

struct facet_gfx_lerp {
    bool computed;         /* false: p or q was taken as it is, the other fields are 0 */
    uint32_t weight, diff; /* cv(a) and sub(q, p); FP accumulators only */
    uint32_t result;
};

/* What happened to one output channel. */
enum facet_gfx_srgb_part {
    FACET_GFX_SRGB_NONE, /* no step */
    FACET_GFX_SRGB_END,  /* not between 0 and 1 */
    FACET_GFX_SRGB_LINE,
    FACET_GFX_SRGB_POWER,
};
struct facet_gfx_channel_steps {
    uint32_t tap[4]; /* accumulators; 0 for skipped taps */
    struct facet_gfx_lerp lerp[3];
    uint32_t filtered;
    enum facet_gfx_srgb_part srgb;
    uint32_t result; /* before narrow */
    uint32_t tap_flags, filter_flags, srgb_flags, narrow_flags;
};
struct facet_gfx_sample_steps {
    struct facet_gfx_channel_steps channel[4];
};

/* The whole sample. */
struct facet_gfx_sample_record {
    struct facet_gfx_footprint footprint;
    struct facet_gfx_sample_steps steps;
    uint32_t result[4]; /* elements of R, G, B, A */
};

enum facet_status facet_gfx_explain_sample_sized(const struct facet_gfx_sampler *sampler,
                                                 size_t sampler_size,
                                                 const uint32_t uv[2],
                                                 struct facet_gfx_sample_record *record,
                                                 unsigned *flags,
                                                 struct facet_error *err);
/* `uv` are elements; what is raised is OR-ed into *flags. FACET_ERR_USAGE for a format that does
 * not exist or a texture larger than that; FACET_ERR_FAULT with the address for a texel outside the
 * memory. */
static inline enum facet_status facet_gfx_explain_sample(const struct facet_gfx_sampler *sampler,
                                                         const uint32_t uv[2],
                                                         struct facet_gfx_sample_record *record,
                                                         unsigned *flags,
                                                         struct facet_error *err)
{
    return facet_gfx_explain_sample_sized(sampler, sizeof *sampler, uv, record, flags, err);
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
