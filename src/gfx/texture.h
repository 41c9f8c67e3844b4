/* Textures: formats, the state of one texture from CSRs or from a TextureDesc, texel addresses and
 * the values of texel codes. No memory access: the caller loads the codes.
 *
 * Spec: gfx-semantics.md 6.1, 6.2, 6.3; R-GFX-14, R-GFX-25, R-GFX-57. */
#ifndef FACET_GFX_TEXTURE_H
#define FACET_GFX_TEXTURE_H

#include "contract/xphmg_layouts.h"
#include "gfx/primitive.h"

enum {
    FACET_GFX_TRAILER_AT = FACET_XPHMG_TEXTURE_DESC_SIZE, /* XPHMG_MEMCTL after the descriptor */
    FACET_GFX_SIZE_MAX = 65536,
    FACET_GFX_TAPS_MAX = 16,
};

_Static_assert((int)FACET_GFX_CLAMP == FACET_XPHMG_TEXTURE_DESC_WRAP_CLAMP &&
                   (int)FACET_GFX_REPEAT == FACET_XPHMG_TEXTURE_DESC_WRAP_REPEAT &&
                   (int)FACET_GFX_MIRROR == FACET_XPHMG_TEXTURE_DESC_WRAP_MIRROR &&
                   (int)FACET_GFX_BORDER == FACET_XPHMG_TEXTURE_DESC_WRAP_BORDER,
               "the codes of facet/gfx.h are those of the contract");

enum facet_gfx_type {
    FACET_GFX_UNORM8,
    FACET_GFX_SNORM8,
    FACET_GFX_UINT8,
    FACET_GFX_SINT8,
    FACET_GFX_UNORM16,
    FACET_GFX_SNORM16,
    FACET_GFX_UINT16,
    FACET_GFX_SINT16,
    FACET_GFX_FP16,
    FACET_GFX_BF16,
    FACET_GFX_FP32,
    FACET_GFX_UINT32,
    FACET_GFX_SINT32,
    FACET_GFX_E4M3,
    FACET_GFX_E5M2,
    FACET_GFX_TYPE_COUNT,
};

enum { /* packed formats */
       FACET_GFX_R5G6B5 = 0x40,
       FACET_GFX_R5G5B5A1,
       FACET_GFX_R4G4B4A4,
       FACET_GFX_R10G10B10A2,
       FACET_GFX_PACKED_END,
};

struct facet_gfx_format {
    uint8_t channels;           /* 1..4 */
    uint8_t type;               /* enum facet_gfx_type; packed: not used */
    uint8_t bytes;              /* of one access: a channel, or the word of a packed format */
    bool packed;                /* one word holds all channels */
    bool unorm;                 /* the sRGB step applies */
    uint8_t shift[4], width[4]; /* packed: where each channel lies */
};

/* false: the code is reserved and *format is unchanged. */
bool facet_gfx_format_of(unsigned code, struct facet_gfx_format *format);
/* Everything that sampling needs to know of a texture. */
struct facet_gfx_texture {
    uint64_t base;
    uint32_t pitch, stride1, stride2;
    uint32_t width, height; /* at most FACET_GFX_SIZE_MAX; 0: null texture */
    struct facet_gfx_format format;
    uint8_t source[4]; /* of each output: enum facet_gfx_source */
    uint8_t wrap;      /* enum facet_gfx_wrap */
    uint8_t taps;      /* gather taps, 0..255 */
    bool normalized, srgb, planar;
    bool memctl;      /* descriptor: a trailer follows */
    bool border_fp32; /* the border is binary32 read by cv, not elements read by widen */
    uint32_t border[4];
};

/* Where an output channel comes from, after swizzle and missing channels. */
enum facet_gfx_source {
    FACET_GFX_FROM_R,
    FACET_GFX_FROM_G,
    FACET_GFX_FROM_B,
    FACET_GFX_FROM_A,
    FACET_GFX_FROM_ZERO,
    FACET_GFX_FROM_ONE,
    FACET_GFX_NO_ALPHA, /* A of a format without: 1, but 0 as a raw code */
};

/* The CSRs of CSR mode as they read. */
struct facet_gfx_texture_csrs {
    uint64_t cfg, wrap, base, pitch, wh, fmt, stride1;
    uint64_t border[2]; /* low half first */
};

/* false: the format code is reserved (Unsupported Feature). `elem` is the element format. */
bool facet_gfx_texture_of_csrs(const struct facet_gfx_texture_csrs *csrs,
                               enum facet_format elem,
                               struct facet_gfx_texture *texture);
bool facet_gfx_texture_of_desc(const uint8_t desc[FACET_XPHMG_TEXTURE_DESC_SIZE],
                               enum facet_format elem,
                               struct facet_gfx_texture *texture);
/* Format code and swizzle bits 19:0 alone into format and source. */
bool facet_gfx_texture_set_format(struct facet_gfx_texture *texture, uint32_t fmt);

static inline bool facet_gfx_texture_is_null(const struct facet_gfx_texture *t)
{
    return t->width == 0 || t->height == 0;
}

/* Accesses of one texel: its channels, or one word. */
static inline unsigned facet_gfx_texel_accesses(const struct facet_gfx_texture *t)
{
    return t->format.packed ? 1 : t->format.channels;
}

/* Address of access c (0..accesses-1) of texel (x, y) with tensor indices n1, n2. */
uint64_t facet_gfx_texel_address(const struct facet_gfx_texture *t,
                                 uint32_t x,
                                 uint32_t y,
                                 uint32_t n1,
                                 uint32_t n2,
                                 unsigned c);

/* The code of channel c (0..channels-1) in the words that the accesses gave. */
uint32_t
facet_gfx_texel_code(const struct facet_gfx_format *f, const uint32_t words[4], unsigned c);
/* The exact value of a channel code (6.2), with the NaN and FTZ flags of FP types. */
struct facet_gfx_real facet_gfx_texel_value(
    const struct facet_gfx_format *f, unsigned c, uint32_t code, bool ftz, unsigned *flags);
/* Output `o` of a texel in the accumulator: cv of the selected channel, of 0 or of 1. */
uint32_t facet_gfx_texel_acc(const struct facet_gfx_numbers *n,
                             const struct facet_gfx_texture *t,
                             const uint32_t words[4],
                             unsigned o,
                             unsigned *flags);
/* Output `o` of the border colour. */
uint32_t facet_gfx_border_acc(const struct facet_gfx_numbers *n,
                              const struct facet_gfx_texture *t,
                              unsigned o,
                              unsigned *flags);

#endif
