/* The state of a texture and where its texels lie; see texture.h. */
#include "gfx/texture.h"

#include "contract/xphmg_csrs.h"

#include <string.h>

bool facet_gfx_texture_set_format(struct facet_gfx_texture *texture, uint32_t fmt)
{
    if (!facet_gfx_format_of(fmt & 0xFF, &texture->format)) {
        return false;
    }
    for (unsigned o = 0; o < 4; o++) {
        const unsigned code = fmt >> (8 + 3 * o) & 7;
        /* 1 zero, 2 one, 3..6 R, G, B, A; 0 and 7 the own channel */
        unsigned from = code == 1                ? FACET_GFX_FROM_ZERO
                        : code == 2              ? FACET_GFX_FROM_ONE
                        : code == 0 || code == 7 ? o
                                                 : code - 3;

        if (from < 4 && from >= texture->format.channels) {
            from = from == FACET_GFX_FROM_A ? FACET_GFX_NO_ALPHA : FACET_GFX_FROM_ZERO;
        }
        texture->source[o] = (uint8_t)from;
    }
    return true;
}

static uint32_t size_of(uint64_t size)
{
    return size > FACET_GFX_SIZE_MAX ? FACET_GFX_SIZE_MAX : (uint32_t)size;
}

bool facet_gfx_texture_of_csrs(const struct facet_gfx_texture_csrs *csrs,
                               enum facet_format elem,
                               struct facet_gfx_texture *texture)
{
    const unsigned nat = facet_format_width(elem);

    *texture = (struct facet_gfx_texture){
        .base = csrs->base,
        .pitch = (uint32_t)csrs->pitch,
        .stride1 = (uint32_t)csrs->stride1,
        .width = size_of(csrs->wh & UINT32_MAX),
        .height = size_of(csrs->wh >> 32),
        .wrap = csrs->wrap & FACET_GFXWRAP_MODE,
        .normalized = (csrs->cfg & FACET_GFXCFG_NORM) != 0,
        .srgb = (csrs->cfg & FACET_GFXCFG_SRGB_EN) != 0,
        .taps = (csrs->cfg & FACET_GFXCFG_GATH_TAPS) >> FACET_GFXCFG_GATH_TAPS_LSB,
        .planar = (csrs->fmt & FACET_GFXTEXFMT_PLANAR) != 0,
    };
    for (unsigned c = 0; c < 4; c++) {
        texture->border[c] =
            (uint32_t)(csrs->border[c * nat / 64] >> (c * nat % 64)) & (UINT32_MAX >> (32 - nat));
    }
    return facet_gfx_texture_set_format(texture, (uint32_t)csrs->fmt);
}

bool facet_gfx_texture_of_desc(const uint8_t desc[FACET_XPHMG_TEXTURE_DESC_SIZE],
                               enum facet_format elem,
                               struct facet_gfx_texture *texture)
{
    struct facet_xphmg_texture_desc_fields d;

    facet_xphmg_texture_desc_unpack(desc, &d);
    *texture = (struct facet_gfx_texture){
        .base = d.base,
        .pitch = d.pitch,
        .stride1 = d.stride1,
        .stride2 = d.stride2,
        .width = size_of(d.w),
        .height = size_of(d.h),
        .wrap = d.wrap,
        .normalized = (d.flags & FACET_XPHMG_TEXTURE_DESC_FLAGS_NORM) != 0,
        .srgb = (d.flags & FACET_XPHMG_TEXTURE_DESC_FLAGS_SRGB) != 0,
        .planar = (d.flags & FACET_XPHMG_TEXTURE_DESC_FLAGS_PLANAR) != 0,
        .memctl = (d.flags & FACET_XPHMG_TEXTURE_DESC_FLAGS_MEMCTL) != 0,
        .taps = d.gath_taps,
        .border_fp32 = !facet_format_is_int(elem),
    };
    memcpy(texture->border, d.border, sizeof texture->border);
    return facet_gfx_texture_set_format(texture, d.fmt);
}

uint64_t facet_gfx_texel_address(
    const struct facet_gfx_texture *t, uint32_t x, uint32_t y, uint32_t n1, uint32_t n2, unsigned c)
{
    const uint64_t row = t->base + (uint64_t)y * t->pitch;
    const uint64_t bytes = t->format.bytes;

    if (t->planar && !t->format.packed) {
        return row + (uint64_t)c * t->stride1 + x * bytes + (uint64_t)n1 * t->stride2;
    }
    return row + x * bytes * facet_gfx_texel_accesses(t) + c * bytes + (uint64_t)n1 * t->stride1 +
           (uint64_t)n2 * t->stride2;
}

uint32_t facet_gfx_texel_acc(const struct facet_gfx_numbers *n,
                             const struct facet_gfx_texture *t,
                             const uint32_t words[4],
                             unsigned o,
                             unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[o];
    const unsigned from = t->source[o];
    struct facet_gfx_real x;

    if (from >= FACET_GFX_FROM_ZERO) {
        x = facet_gfx_real_of(from != FACET_GFX_FROM_ZERO, 1, 0);
    } else {
        x = facet_gfx_texel_value(
            &t->format, from, facet_gfx_texel_code(&t->format, words, from), conv->ftz, flags);
    }
    return facet_gfx_cv(conv, &x, flags);
}

uint32_t facet_gfx_border_acc(const struct facet_gfx_numbers *n,
                              const struct facet_gfx_texture *t,
                              unsigned o,
                              unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[o];
    struct facet_gfx_real x;

    if (!t->border_fp32) {
        return facet_widen(conv, t->border[o], flags);
    }
    x = facet_gfx_real_of_fp(FACET_FMT_FP32, t->border[o], conv->ftz, flags);
    return facet_gfx_cv(conv, &x, flags);
}
