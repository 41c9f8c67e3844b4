/* The texture unit (tile-semantics.md 11): wrap, decode, swizzle, nearest and bilinear sampling,
 * and the result types of TEX2D. Texel bytes come through a callback, since cores read them through
 * their texture cache and the raster unit reads VRAM. */
#include "raster/internal.h"

#include "base/float.h"
#include "num/tile.h"

bool facet_raster_texel_from_vram(void *context, uint32_t address, unsigned size, uint8_t *bytes)
{
    const struct facet_raster_unit *unit = context;
    const uint8_t *p = vram_at(unit, address, size);

    if (p != NULL) {
        tell_touch(unit, FACET_RASTER_USE_TEXEL, p, size);
        memcpy(bytes, p, size);
        return true;
    }
    for (unsigned i = 0; i < size; i++) {
        p = vram_at(unit, address + i, 1);
        bytes[i] = p != NULL ? *p : 0;
    }
    return false;
}

bool facet_raster_sampler_make(const uint32_t *descriptor, struct raster_sampler *out)
{
    struct facet_tile_sampler_fields s;

    facet_tile_sampler_unpack(descriptor, &s);
    *out = (struct raster_sampler){
        .base = s.base,
        .stride = s.stride,
        .width = s.width,
        .height = s.height,
        .palette = s.palette_base + FACET_TILE_PALETTE_SIZE * s.palette,
        .format = s.format,
        .swizzle = s.swizzle,
        .repeat_u = s.wrap_u == FACET_TILE_SAMPLER_WRAP_U_REPEAT,
        .repeat_v = s.wrap_v == FACET_TILE_SAMPLER_WRAP_V_REPEAT,
        .bilinear = s.filter == FACET_TILE_SAMPLER_FILTER_BILINEAR,
    };
    return facet_tile_sampler_legal(descriptor);
}

static uint32_t wrap(int64_t x, uint32_t size, bool repeat)
{
    if (repeat) {
        const int64_t r = x % (int64_t)size;

        return (uint32_t)(r < 0 ? r + size : r);
    }
    return x < 0 ? 0 : x >= size ? size - 1 : (uint32_t)x;
}

static uint32_t swizzled(uint32_t argb, unsigned swizzle)
{
    const uint32_t a = argb & 0xFF000000u, r = argb >> 16 & 255, g = argb & 0xFF00, b = argb & 255;

    switch (swizzle) {
    case FACET_TILE_SAMPLER_SWIZZLE_BGRA:
        return a | b << 16 | g | r;
    case FACET_TILE_SAMPLER_SWIZZLE_RGB1:
        return argb | 0xFF000000u;
    case FACET_TILE_SAMPLER_SWIZZLE_RRR1:
        return 0xFF000000u | r << 16 | r << 8 | r;
    default:
        return argb;
    }
}

static uint32_t
fetch(const struct facet_texel_source *source, uint32_t address, unsigned size, bool *bad)
{
    uint8_t bytes[4] = {0};

    if (!source->fetch(source->context, address, size, bytes)) {
        *bad = true;
    }
    return load_u32(bytes);
}

uint32_t facet_raster_texel(const struct raster_sampler *s,
                            int64_t u,
                            int64_t v,
                            const struct facet_texel_source *source,
                            bool *bad)
{
    const uint32_t x = wrap(u, s->width, s->repeat_u), y = wrap(v, s->height, s->repeat_v);
    const uint32_t row = s->base + y * s->stride;
    uint32_t argb;

    switch (s->format) {
    case FACET_TILE_SAMPLER_FORMAT_RGB565:
        argb = rgb565_expand(fetch(source, row + 2 * x, 2, bad));
        break;
    case FACET_TILE_SAMPLER_FORMAT_ARGB8888:
        argb = fetch(source, row + 4 * x, 4, bad);
        break;
    default:
        argb = fetch(source, s->palette + 4 * fetch(source, row + x, 1, bad), 4, bad);
        break;
    }
    return swizzled(argb, s->swizzle);
}

uint32_t facet_raster_bilinear(const struct raster_sampler *s,
                               int64_t x,
                               int64_t y,
                               const struct facet_texel_source *source,
                               bool *bad)
{
    const int64_t i0 = (x - 128) >> 8, j0 = (y - 128) >> 8;
    const uint32_t fx = (uint32_t)(x - 128) & 255, fy = (uint32_t)(y - 128) & 255;
    const uint32_t t00 = facet_raster_texel(s, i0, j0, source, bad);
    const uint32_t t10 = facet_raster_texel(s, i0 + 1, j0, source, bad);
    const uint32_t t01 = facet_raster_texel(s, i0, j0 + 1, source, bad);
    const uint32_t t11 = facet_raster_texel(s, i0 + 1, j0 + 1, source, bad);
    uint32_t out = 0;

    for (unsigned shift = 0; shift < 32; shift += 8) {
        const uint32_t c00 = t00 >> shift & 255, c10 = t10 >> shift & 255;
        const uint32_t c01 = t01 >> shift & 255, c11 = t11 >> shift & 255;
        const uint32_t upper = c00 * (256 - fx) + c10 * fx;
        const uint32_t lower = c01 * (256 - fx) + c11 * fx;

        out |= ((upper * (256 - fy) + lower * fy + 32768) >> 16) << shift;
    }
    return out;
}

/* ---- TEX2D ---- */

enum { TYPE_I32, TYPE_I16, TYPE_I8, TYPE_F16, TYPE_F8, TYPE_F32 };

/* c / 255 rounded once to the format: FP32 division is correctly rounded, and 1/255 steps are too
 * far from the midpoints of the small formats for a second rounding to matter (the test compares
 * all 256 with exact rationals). */
static uint32_t fraction(enum facet_format format, uint32_t c)
{
    const uint32_t fp32 = facet_float_bits((float)c / 255.0f);
    unsigned flags = 0;

    return facet_num_tile_convert(
        format, FACET_FMT_FP32, fp32, (struct facet_num_tile_env){0}, &flags);
}

static void spread(const uint32_t c[4], unsigned width, uint32_t result[4])
{
    for (unsigned i = 0; i < 4; i++) {
        result[i * width / 32] |= c[i] << (i * width % 32);
    }
}

bool facet_raster_tex2d(const uint32_t *descriptor,
                        uint32_t u,
                        uint32_t v,
                        bool normalised,
                        bool bilinear,
                        unsigned type,
                        const struct facet_texel_source *source,
                        uint32_t result[4])
{
    static const enum facet_format formats[] = {
        [TYPE_F16] = FACET_FMT_FP16, [TYPE_F8] = FACET_FMT_E4M3, [TYPE_F32] = FACET_FMT_FP32};
    struct raster_sampler s;
    int64_t x = (int32_t)u, y = (int32_t)v;
    uint32_t argb, c[4];
    bool bad = false;

    memset(result, 0, 4 * sizeof result[0]);
    if (!facet_raster_sampler_make(descriptor, &s) || type > TYPE_F32) {
        return false;
    }
    if (normalised) {
        x = x * s.width >> (bilinear ? 8 : 16);
        y = y * s.height >> (bilinear ? 8 : 16);
    }
    argb = bilinear ? facet_raster_bilinear(&s, x, y, source, &bad)
                    : facet_raster_texel(&s, x, y, source, &bad);
    c[0] = argb >> 16 & 255;
    c[1] = argb >> 8 & 255;
    c[2] = argb & 255;
    c[3] = argb >> 24;
    switch (type) {
    case TYPE_I32:
        spread(c, 32, result);
        break;
    case TYPE_I16:
        spread(c, 16, result);
        break;
    case TYPE_I8:
        result[0] = argb;
        break;
    default:
        for (unsigned i = 0; i < 4; i++) {
            c[i] = fraction(formats[type], c[i]);
        }
        spread(c, type == TYPE_F32 ? 32 : type == TYPE_F16 ? 16 : 8, result);
        break;
    }
    return !bad;
}
