/* The state of a texture and where its texels lie; see texture.h. */
#include "gfx/texture.h"

#include "base/bits.h"

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
        .wrap = csrs->wrap & 3,
        .normalized = (csrs->cfg >> 6 & 1) != 0,
        .srgb = (csrs->cfg >> 3 & 1) != 0,
        .taps = csrs->cfg >> 24 & 31,
        .planar = (csrs->fmt >> 24 & 1) != 0,
    };
    for (unsigned c = 0; c < 4; c++) {
        texture->border[c] =
            (uint32_t)(csrs->border[c * nat / 64] >> (c * nat % 64)) & (UINT32_MAX >> (32 - nat));
    }
    return facet_gfx_texture_set_format(texture, (uint32_t)csrs->fmt);
}

bool facet_gfx_texture_of_desc(const uint8_t desc[FACET_GFX_DESC_BYTES],
                               enum facet_format elem,
                               struct facet_gfx_texture *texture)
{
    const uint32_t flags = facet_load_le32(desc + 44);

    *texture = (struct facet_gfx_texture){
        .base = facet_load_le64(desc),
        .pitch = facet_load_le32(desc + 8),
        .stride1 = facet_load_le32(desc + 48),
        .stride2 = facet_load_le32(desc + 52),
        .width = size_of(facet_load_le32(desc + 12)),
        .height = size_of(facet_load_le32(desc + 16)),
        .wrap = facet_load_le32(desc + 24) & 3,
        .normalized = (flags & 1) != 0,
        .srgb = (flags >> 1 & 1) != 0,
        .planar = (flags >> 2 & 1) != 0,
        .memctl = (flags >> 3 & 1) != 0,
        .taps = (uint8_t)(flags >> 8),
        .border_fp32 = !facet_format_is_int(elem),
    };
    for (unsigned c = 0; c < 4; c++) {
        texture->border[c] = facet_load_le32(desc + 28 + 4 * c);
    }
    return facet_gfx_texture_set_format(texture, facet_load_le32(desc + 20));
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
