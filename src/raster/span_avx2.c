/* Eight pixels of a row at a time, with AVX2 and FMA. Every lane does the operations of
 * tile-semantics.md 16.4 to 16.7 in their order; the shortcuts (integers kept in words, division by
 * 255 as shifts, clamps that also catch NaN) are exact and compared with pixel.c by tests. Only
 * regular pipes come here: all addresses are good and nothing overlaps, so lanes need no order. The
 * host's rounding mode must be the default (nearest, subnormals kept), as everywhere in Facet.
 *
 * Edges: a narrow triangle tests its three edge functions in 32-bit lanes; a long one has its rows
 * cut by division and needs the edge values only as FP32, from 32-bit lanes while 2A < 2^31, else
 * from binary64, which holds every edge value (< 2^50) exactly and rounds once on the way down. */
#include "raster/internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* ---- words of four 8-bit channels ---- */

/* n / 255 for 0 <= n <= 65152, in 16-bit lanes. */
INLINE __m256i over255(__m256i n)
{
    return _mm256_srli_epi16(
        _mm256_add_epi16(_mm256_add_epi16(n, _mm256_set1_epi16(1)), _mm256_srli_epi16(n, 8)), 8);
}

/* mul8 in every channel. */
INLINE __m256i modulate(__m256i a, __m256i b)
{
    const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi16(127);
    const __m256i lo =
        _mm256_mullo_epi16(_mm256_unpacklo_epi8(a, zero), _mm256_unpacklo_epi8(b, zero));
    const __m256i hi =
        _mm256_mullo_epi16(_mm256_unpackhi_epi8(a, zero), _mm256_unpackhi_epi8(b, zero));

    return _mm256_packus_epi16(over255(_mm256_add_epi16(lo, half)),
                               over255(_mm256_add_epi16(hi, half)));
}

INLINE __m256i mix_half(__m256i s, __m256i d, __m256i alpha)
{
    const __m256i rest = _mm256_xor_si256(alpha, _mm256_set1_epi16(255));

    return over255(_mm256_add_epi16(
        _mm256_add_epi16(_mm256_mullo_epi16(s, alpha), _mm256_mullo_epi16(d, rest)),
        _mm256_set1_epi16(127)));
}

INLINE __m256i blend_alpha(__m256i s, __m256i d)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i spread = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15));
    const __m256i alpha = _mm256_shuffle_epi8(s, spread);

    s = _mm256_or_si256(s, _mm256_set1_epi32((int)0xFF000000)); /* alpha blends 255 */
    return _mm256_packus_epi16(mix_half(_mm256_unpacklo_epi8(s, zero),
                                        _mm256_unpacklo_epi8(d, zero),
                                        _mm256_unpacklo_epi8(alpha, zero)),
                               mix_half(_mm256_unpackhi_epi8(s, zero),
                                        _mm256_unpackhi_epi8(d, zero),
                                        _mm256_unpackhi_epi8(alpha, zero)));
}

INLINE __m256i field(__m256i word, int shift, int mask)
{
    return _mm256_and_si256(_mm256_srli_epi32(word, shift), _mm256_set1_epi32(mask));
}

INLINE __m256i expand565(__m256i t)
{
    const __m256i r = field(t, 11, 31), g = field(t, 5, 63), b = field(t, 0, 31);
    const __m256i r8 = _mm256_or_si256(_mm256_slli_epi32(r, 3), _mm256_srli_epi32(r, 2));
    const __m256i g8 = _mm256_or_si256(_mm256_slli_epi32(g, 2), _mm256_srli_epi32(g, 4));
    const __m256i b8 = _mm256_or_si256(_mm256_slli_epi32(b, 3), _mm256_srli_epi32(b, 2));

    return _mm256_or_si256(
        _mm256_or_si256(_mm256_set1_epi32((int)0xFF000000), _mm256_slli_epi32(r8, 16)),
        _mm256_or_si256(_mm256_slli_epi32(g8, 8), b8));
}

INLINE __m256i pack565(__m256i c)
{
    return _mm256_or_si256(
        _mm256_slli_epi32(field(c, 19, 31), 11),
        _mm256_or_si256(_mm256_slli_epi32(field(c, 10, 63), 5), field(c, 3, 31)));
}

/* ---- memory ---- */

INLINE unsigned lane_bits(__m256i mask)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

/* Eight pixels of 2 or 4 bytes, one in each lane. */
INLINE __m256i load_pixels(const uint8_t *p, uint32_t bytes)
{
    return bytes == 2 ? _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p))
                      : _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* Lanes outside the mask are written as they were: all eight lie in the clip rectangle, and whoever
 * fills a row fills all of it. */
INLINE void store_pixels(uint8_t *p, uint32_t bytes, __m256i mask, __m256i old, __m256i value)
{
    const __m256i all = _mm256_blendv_epi8(old, value, mask);

    if (bytes == 2) {
        const __m256i halves = _mm256_permute4x64_epi64(_mm256_packus_epi32(all, all), 0x08);

        _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(halves));
    } else {
        _mm256_storeu_si256((__m256i *)(void *)p, all);
    }
}

/* Eight loads of 1, 2 or 4 bytes: the gather instruction always takes 4, and was three times slower
 * on the host measured. */
INLINE __m256i gather(const uint8_t *base, __m256i offset, const unsigned bytes)
{
    uint32_t at[8], out[8];

    _mm256_storeu_si256((__m256i *)(void *)at, offset);
    for (unsigned i = 0; i < 8; i++) {
        out[i] = bytes == 4 ? load_u32(base + at[i])
                            : (bytes == 2 ? load_u16(base + at[i]) : base[at[i]]);
    }
    return _mm256_loadu_si256((const __m256i *)(const void *)out);
}

/* ---- depth ---- */

INLINE __m256i when(unsigned yes)
{
    return _mm256_set1_epi32(-(int)(yes & 1));
}

/* The lanes of the mask that pass. Of <, = and > exactly one holds, so the function is a sum modulo
 * 2 of those that it names; < is (<=) + (=), and > is 1 + (<=). */
INLINE __m256i depth_test(const struct raster_pipe *p, uint8_t *at, __m256i mask, __m256 z)
{
    const unsigned func = p->depth_func;
    const __m256i value =
        p->depth_format == FACET_TILE_RSTATE_DEPTH_FORMAT_D16
            ? _mm256_cvttps_epi32(
                  _mm256_add_ps(_mm256_mul_ps(z, _mm256_set1_ps(65535.0f)), _mm256_set1_ps(0.5f)))
            : _mm256_castps_si256(z);
    const __m256i stored = load_pixels(at, p->depth_bytes);
    const __m256i equal = _mm256_cmpeq_epi32(value, stored);
    const __m256i most = _mm256_cmpeq_epi32(value, _mm256_min_epu32(value, stored)); /* <= */
    const __m256i pass = _mm256_and_si256(
        mask,
        _mm256_xor_si256(_mm256_xor_si256(_mm256_and_si256(most, when(func ^ func >> 2)),
                                          _mm256_and_si256(equal, when(func ^ func >> 1))),
                         when(func >> 2)));

    if (p->depth_write) {
        store_pixels(at, p->depth_bytes, pass, stored, value);
    }
    return pass;
}

/* ---- texture ---- */

/* floor_i of 16.1. */
INLINE __m256i floor_int(__m256 x)
{
    const __m256 f = _mm256_floor_ps(x);
    const __m256i big = _mm256_castps_si256(_mm256_cmp_ps(f, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ));
    const __m256i number = _mm256_castps_si256(_mm256_cmp_ps(f, f, _CMP_ORD_Q));
    /* Out of range gives INT32_MIN: right below, flipped to INT32_MAX above. */
    const __m256i i = _mm256_xor_si256(_mm256_cvttps_epi32(f), big);

    return _mm256_and_si256(i, number);
}

TARGET static __m256i remainders(__m256i x, uint32_t size)
{
    int32_t lane[8];

    _mm256_storeu_si256((__m256i *)(void *)lane, x);
    for (unsigned i = 0; i < 8; i++) {
        const int64_t r = (int64_t)lane[i] % (int64_t)size;

        lane[i] = (int32_t)(r < 0 ? r + (int64_t)size : r);
    }
    return _mm256_loadu_si256((const __m256i *)(const void *)lane);
}

INLINE __m256i wrap(__m256i x, uint32_t size, bool repeat)
{
    const __m256i last = _mm256_set1_epi32((int)size - 1);

    if (!repeat) {
        return _mm256_min_epi32(_mm256_max_epi32(x, _mm256_setzero_si256()), last);
    }
    if ((size & (size - 1)) == 0) {
        return _mm256_and_si256(x, last);
    }
    /* Inside already: the usual case. */
    if (lane_bits(_mm256_or_si256(x, _mm256_sub_epi32(last, x))) == 0) {
        return x;
    }
    return remainders(x, size);
}

/* Column or row of a nearest sample. */
INLINE __m256i nearest(__m256 t, uint32_t size, bool repeat)
{
    if (repeat) {
        return wrap(floor_int(t), size, true);
    }
    /* Clamped first, floor is truncation; max gives its second operand for NaN. */
    return _mm256_cvttps_epi32(
        _mm256_min_ps(_mm256_max_ps(t, _mm256_setzero_ps()), _mm256_set1_ps((float)(size - 1))));
}

INLINE __m256i swizzled(__m256i c, unsigned swizzle)
{
    static const int8_t order[][4] = {[FACET_TILE_SAMPLER_SWIZZLE_BGRA] = {2, 1, 0, 3},
                                      [FACET_TILE_SAMPLER_SWIZZLE_RGB1] = {0, 1, 2, 3},
                                      [FACET_TILE_SAMPLER_SWIZZLE_RRR1] = {2, 2, 2, 3}};
    const int8_t *o;
    __m256i pick;

    if (swizzle == FACET_TILE_SAMPLER_SWIZZLE_RGBA) {
        return c;
    }
    o = order[swizzle];
    pick = _mm256_broadcastsi128_si256(
        _mm_add_epi8(_mm_set1_epi32(o[0] | o[1] << 8 | o[2] << 16 | o[3] << 24),
                     _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12)));

    c = _mm256_shuffle_epi8(c, pick);
    return swizzle == FACET_TILE_SAMPLER_SWIZZLE_BGRA
               ? c
               : _mm256_or_si256(c, _mm256_set1_epi32((int)0xFF000000));
}

/* Texels at wrapped coordinates. */
INLINE __m256i texels(const struct raster_pipe *p, __m256i x, __m256i y)
{
    const struct raster_sampler *s = &p->sampler;
    const uint8_t *base = p->unit->vram + (s->base - FACET_VRAM_BASE);
    const __m256i row = _mm256_mullo_epi32(y, _mm256_set1_epi32((int)s->stride));
    __m256i c;

    if (s->format == FACET_TILE_SAMPLER_FORMAT_ARGB8888) {
        c = gather(base, _mm256_add_epi32(row, _mm256_slli_epi32(x, 2)), 4);
    } else if (s->format == FACET_TILE_SAMPLER_FORMAT_RGB565) {
        c = expand565(gather(base, _mm256_add_epi32(row, _mm256_slli_epi32(x, 1)), 2));
    } else {
        const __m256i index = gather(base, _mm256_add_epi32(row, x), 1);

        c = gather(p->unit->vram + (s->palette - FACET_VRAM_BASE), _mm256_slli_epi32(index, 2), 4);
    }
    return swizzled(c, s->swizzle);
}

/* 11.3 for one channel. */
INLINE __m256i filter(__m256i c00, __m256i c10, __m256i c01, __m256i c11, __m256i fx, __m256i fy)
{
    const __m256i one = _mm256_set1_epi32(256);
    const __m256i gx = _mm256_sub_epi32(one, fx), gy = _mm256_sub_epi32(one, fy);
    const __m256i upper =
        _mm256_add_epi32(_mm256_mullo_epi32(c00, gx), _mm256_mullo_epi32(c10, fx));
    const __m256i lower =
        _mm256_add_epi32(_mm256_mullo_epi32(c01, gx), _mm256_mullo_epi32(c11, fx));

    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(_mm256_mullo_epi32(upper, gy),
                                                               _mm256_mullo_epi32(lower, fy)),
                                              _mm256_set1_epi32(32768)),
                             16);
}

TARGET static __m256i bilinear(const struct raster_pipe *p, __m256 u, __m256 v)
{
    const struct raster_sampler *s = &p->sampler;
    const __m256 scale = _mm256_set1_ps(256.0f);
    const __m256i low = _mm256_set1_epi32(255), half = _mm256_set1_epi32(128);
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i x = floor_int(_mm256_mul_ps(u, scale)), y = floor_int(_mm256_mul_ps(v, scale));
    /* (x - 128) >> 8 without leaving 32 bits. */
    const __m256i i0 = _mm256_add_epi32(_mm256_srai_epi32(x, 8),
                                        _mm256_cmpgt_epi32(half, _mm256_and_si256(x, low)));
    const __m256i j0 = _mm256_add_epi32(_mm256_srai_epi32(y, 8),
                                        _mm256_cmpgt_epi32(half, _mm256_and_si256(y, low)));
    const __m256i fx = _mm256_and_si256(_mm256_sub_epi32(x, half), low);
    const __m256i fy = _mm256_and_si256(_mm256_sub_epi32(y, half), low);
    const __m256i xa = wrap(i0, s->width, s->repeat_u);
    const __m256i xb = wrap(_mm256_add_epi32(i0, one), s->width, s->repeat_u);
    const __m256i ya = wrap(j0, s->height, s->repeat_v);
    const __m256i yb = wrap(_mm256_add_epi32(j0, one), s->height, s->repeat_v);
    const __m256i t00 = texels(p, xa, ya), t10 = texels(p, xb, ya);
    const __m256i t01 = texels(p, xa, yb), t11 = texels(p, xb, yb);
    __m256i out = _mm256_setzero_si256();

    for (int shift = 0; shift < 32; shift += 8) {
        const __m256i c = filter(field(t00, shift, 255),
                                 field(t10, shift, 255),
                                 field(t01, shift, 255),
                                 field(t11, shift, 255),
                                 fx,
                                 fy);

        out = _mm256_or_si256(out, _mm256_slli_epi32(c, shift));
    }
    return out;
}

/* ---- pixels ---- */

INLINE __m256 interpolate(const struct raster_plane *a, __m256 b1, __m256 b2)
{
    return _mm256_fmadd_ps(b2,
                           _mm256_set1_ps(a->d2),
                           _mm256_fmadd_ps(b1, _mm256_set1_ps(a->d1), _mm256_set1_ps(a->a0)));
}

/* u8 of 16.1. */
INLINE __m256i channel(const struct raster_plane *a, __m256 b1, __m256 b2)
{
    const __m256 t = _mm256_add_ps(interpolate(a, b1, b2), _mm256_set1_ps(0.5f));

    return _mm256_cvttps_epi32(
        _mm256_min_ps(_mm256_max_ps(t, _mm256_setzero_ps()), _mm256_set1_ps(255.0f)));
}

INLINE __m256i colors(const struct raster_triangle *t, __m256 b1, __m256 b2)
{
    if (t->solid) {
        return _mm256_set1_epi32((int)t->color);
    }
    return _mm256_or_si256(_mm256_or_si256(_mm256_slli_epi32(channel(&t->rgba[3], b1, b2), 24),
                                           _mm256_slli_epi32(channel(&t->rgba[0], b1, b2), 16)),
                           _mm256_or_si256(_mm256_slli_epi32(channel(&t->rgba[1], b1, b2), 8),
                                           channel(&t->rgba[2], b1, b2)));
}

INLINE __m256i textured(const struct raster_pipe *p,
                        const struct raster_triangle *t,
                        __m256 b1,
                        __m256 b2)
{
    const struct raster_sampler *s = &p->sampler;
    __m256 u = interpolate(&t->u, b1, b2), v = interpolate(&t->v, b1, b2);
    __m256i texel;

    if (p->tex_norm) {
        u = _mm256_mul_ps(u, _mm256_set1_ps((float)s->width));
        v = _mm256_mul_ps(v, _mm256_set1_ps((float)s->height));
    }
    if (s->bilinear) {
        texel = bilinear(p, u, v);
    } else {
        texel = texels(p, nearest(u, s->width, s->repeat_u), nearest(v, s->height, s->repeat_v));
    }
    if (t->solid && t->color == 0xFFFFFFFFu) {
        return texel; /* mul8(c, 255) = c */
    }
    return modulate(texel, colors(t, b1, b2));
}

INLINE void write(const struct raster_pipe *p, uint8_t *at, __m256i mask, __m256i c)
{
    const bool halves = p->color_bytes == 2;
    const __m256i old = load_pixels(at, p->color_bytes);

    if (p->blend != FACET_TILE_RSTATE_BLEND_OPAQUE) {
        const __m256i under = halves ? expand565(old) : old;

        c = p->blend == FACET_TILE_RSTATE_BLEND_ALPHA ? blend_alpha(c, under)
                                                      : _mm256_adds_epu8(c, under);
    }
    store_pixels(at, p->color_bytes, mask, old, halves ? pack565(c) : c);
}

/* Up to eight pixels from the one whose colour and depth are at the pointers. */
INLINE void pixels(const struct raster_pipe *p,
                   const struct raster_triangle *t,
                   bool invisible,
                   uint8_t *color,
                   uint8_t *depth,
                   __m256i mask,
                   __m256 e0,
                   __m256 e1,
                   __m256 e2)
{
    const __m256 inv = _mm256_set1_ps(t->inv_a2);
    __m256 b1 = _mm256_mul_ps(e1, inv), b2 = _mm256_mul_ps(e2, inv);

    if (p->depth_bytes != 0) {
        /* NaN, -0 and below give the second operand of max: +0. */
        const __m256 z = _mm256_min_ps(
            _mm256_max_ps(interpolate(&t->z, b1, b2), _mm256_setzero_ps()), _mm256_set1_ps(1.0f));

        mask = depth_test(p, depth, mask, z);
        if (invisible || lane_bits(mask) == 0) {
            return;
        }
    }
    if (t->perspective) {
        const __m256 p0 = _mm256_mul_ps(e0, _mm256_set1_ps(t->q[0]));
        const __m256 p1 = _mm256_mul_ps(e1, _mm256_set1_ps(t->q[1]));
        const __m256 p2 = _mm256_mul_ps(e2, _mm256_set1_ps(t->q[2]));
        const __m256 sum = _mm256_add_ps(_mm256_add_ps(p0, p1), p2);

        b1 = _mm256_div_ps(p1, sum);
        b2 = _mm256_div_ps(p2, sum);
    }
    write(p, color, mask, p->textured ? textured(p, t, b1, b2) : colors(t, b1, b2));
}

/* ---- rows ---- */

struct row {
    uint8_t *color, *depth; /* of the pixel in column 0; depth moves by 0 when there is none */
};

INLINE struct row row_at(const struct raster_pipe *p, int32_t y)
{
    uint8_t *vram = p->unit->vram;

    return (struct row){
        .color = vram + (p->color_base - FACET_VRAM_BASE) + (size_t)y * p->color_stride,
        .depth = p->depth_bytes == 0
                     ? vram
                     : vram + (p->depth_base - FACET_VRAM_BASE) + (size_t)y * p->depth_stride,
    };
}

INLINE __m256i lanes(void)
{
    return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

/* Lanes that lie before `count`. */
INLINE __m256i first_lanes(int32_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes());
}

/* Where groups of eight begin so that the last one ends inside the clip rectangle: there the edges
 * alone tell which pixels are covered. */
INLINE int32_t first_group(const struct raster_pipe *p, const struct raster_triangle *t)
{
    const int32_t last = p->clip.x1 - (t->box.x1 - t->box.x0 + 7) / 8 * 8;

    return t->box.x0 < last ? t->box.x0 : last;
}

INLINE void fill_narrow(const struct raster_pipe *p,
                        const struct raster_triangle *t,
                        bool invisible,
                        int32_t y0,
                        int32_t y1)
{
    const int32_t x0 = first_group(p, t);
    __m256i start[3], right[3], bias[3];

    for (unsigned i = 0; i < 3; i++) {
        const __m256i dx = _mm256_set1_epi32((int32_t)t->dx[i]);

        bias[i] = _mm256_set1_epi32((int32_t)t->bias[i]);
        start[i] =
            _mm256_add_epi32(_mm256_set1_epi32((int32_t)(t->e[i] + t->dy[i] * (y0 - t->box.y0) +
                                                         t->dx[i] * (x0 - t->box.x0))),
                             _mm256_mullo_epi32(dx, lanes()));
        right[i] = _mm256_slli_epi32(dx, 3);
    }
    for (int32_t y = y0; y < y1; y++) {
        const struct row row = row_at(p, y);
        __m256i e[3] = {start[0], start[1], start[2]};
        bool inside = false;

        for (int32_t x = x0; x < t->box.x1; x += 8) {
            /* The sign of E + bias of any edge says outside. */
            const __m256i out = _mm256_or_si256(
                _mm256_or_si256(_mm256_add_epi32(e[0], bias[0]), _mm256_add_epi32(e[1], bias[1])),
                _mm256_add_epi32(e[2], bias[2]));

            if (lane_bits(out) != 0xFF) {
                inside = true;
                pixels(p,
                       t,
                       invisible,
                       row.color + (size_t)x * p->color_bytes,
                       row.depth + (size_t)x * p->depth_bytes,
                       _mm256_cmpgt_epi32(out, _mm256_set1_epi32(-1)),
                       _mm256_cvtepi32_ps(e[0]),
                       _mm256_cvtepi32_ps(e[1]),
                       _mm256_cvtepi32_ps(e[2]));
            } else if (inside) {
                break; /* a row is covered without gaps */
            }
            e[0] = _mm256_add_epi32(e[0], right[0]);
            e[1] = _mm256_add_epi32(e[1], right[1]);
            e[2] = _mm256_add_epi32(e[2], right[2]);
        }
        for (unsigned i = 0; i < 3; i++) {
            start[i] = _mm256_add_epi32(start[i], _mm256_set1_epi32((int32_t)t->dy[i]));
        }
    }
}

/* FP32 of the edge value in eight neighbouring pixels: exact in binary64, rounded once. */
INLINE __m256 edge_wide(double e, double dx)
{
    const __m256d base = _mm256_set1_pd(e), step = _mm256_set1_pd(dx);
    const __m256d lo = _mm256_add_pd(base, _mm256_mul_pd(step, _mm256_setr_pd(0, 1, 2, 3)));
    const __m256d hi = _mm256_add_pd(base, _mm256_mul_pd(step, _mm256_setr_pd(4, 5, 6, 7)));

    return _mm256_set_m128(_mm256_cvtpd_ps(hi), _mm256_cvtpd_ps(lo));
}

/* Modulo 2^32, which is exact for covered pixels while 2A < 2^31. */
INLINE __m256 edge_short(int64_t e, int64_t dx)
{
    return _mm256_cvtepi32_ps(_mm256_add_epi32(
        _mm256_set1_epi32((int32_t)(uint32_t)(uint64_t)e),
        _mm256_mullo_epi32(_mm256_set1_epi32((int32_t)(uint32_t)(uint64_t)dx), lanes())));
}

INLINE void fill_long(const struct raster_pipe *p,
                      const struct raster_triangle *t,
                      bool invisible,
                      int32_t y0,
                      int32_t y1)
{
    const bool is_short = t->a2 < INT64_C(1) << 31;

    for (int32_t y = y0; y < y1; y++) {
        const struct row row = row_at(p, y);
        int32_t x0, x1;

        facet_raster_row(t, y, &x0, &x1);
        for (; x0 < x1; x0 += 8) {
            const int32_t x = x0 < p->clip.x1 - 8 ? x0 : p->clip.x1 - 8;
            const int64_t dx = x - t->box.x0, dy = y - t->box.y0;
            __m256 e[3];

            for (unsigned i = 0; i < 3; i++) {
                const int64_t v = t->e[i] + t->dx[i] * dx + t->dy[i] * dy;

                e[i] = is_short ? edge_short(v, t->dx[i]) : edge_wide((double)v, (double)t->dx[i]);
            }
            pixels(p,
                   t,
                   invisible,
                   row.color + (size_t)x * p->color_bytes,
                   row.depth + (size_t)x * p->depth_bytes,
                   _mm256_andnot_si256(first_lanes(x0 - x), first_lanes(x1 - x)),
                   e[0],
                   e[1],
                   e[2]);
        }
    }
}

INLINE void fill_rows(const struct raster_pipe *p,
                      const struct raster_triangle *t,
                      bool invisible,
                      int32_t y0,
                      int32_t y1)
{
    if (t->narrow && first_group(p, t) >= p->clip.x0) {
        fill_narrow(p, t, invisible, y0, y1);
    } else {
        fill_long(p, t, invisible, y0, y1);
    }
}

/* ---- what most triangles are ---- */

/* Whether the colour buffer keeps its bytes whatever the texels are: nothing added, or nothing of
 * the source mixed in. That is how the tile GPU draws depth alone. */
static bool is_invisible(const struct raster_pipe *p, const struct raster_triangle *t)
{
    return t->solid && ((p->blend == FACET_TILE_RSTATE_BLEND_ADDITIVE && t->color == 0) ||
                        (p->blend == FACET_TILE_RSTATE_BLEND_ALPHA && t->color >> 24 == 0));
}

/* As in a textured model: nearest texels of ARGB8888 in their own colours. */
static bool is_usual(const struct raster_pipe *p, const struct raster_triangle *t)
{
    return p->color_bytes == 4 && p->depth_bytes == 4 && p->textured && !p->sampler.bilinear &&
           p->sampler.format == FACET_TILE_SAMPLER_FORMAT_ARGB8888 &&
           p->sampler.swizzle == FACET_TILE_SAMPLER_SWIZZLE_RGBA && t->solid &&
           t->color == 0xFFFFFFFFu;
}

/* Copies that no store to VRAM can change, for all the compiler knows: their fields stay in
 * registers. It is also given what is_usual has found. */
INLINE void fill_usual(const struct raster_pipe *p,
                       const struct raster_triangle *t,
                       uint8_t blend,
                       int32_t y0,
                       int32_t y1)
{
    struct raster_pipe pipe = *p;
    struct raster_triangle triangle = *t;

    pipe.color_bytes = pipe.depth_bytes = 4;
    pipe.blend = blend;
    pipe.depth_format = FACET_TILE_RSTATE_DEPTH_FORMAT_D32F;
    pipe.textured = true;
    pipe.sampler.bilinear = false;
    pipe.sampler.format = FACET_TILE_SAMPLER_FORMAT_ARGB8888;
    pipe.sampler.swizzle = 0;
    triangle.solid = true;
    triangle.color = 0xFFFFFFFFu;
    fill_rows(&pipe, &triangle, false, y0, y1);
}

TARGET static void
fill_opaque(const struct raster_pipe *p, const struct raster_triangle *t, int32_t y0, int32_t y1)
{
    fill_usual(p, t, FACET_TILE_RSTATE_BLEND_OPAQUE, y0, y1);
}

TARGET static void
fill_alpha(const struct raster_pipe *p, const struct raster_triangle *t, int32_t y0, int32_t y1)
{
    fill_usual(p, t, FACET_TILE_RSTATE_BLEND_ALPHA, y0, y1);
}

TARGET static void
fill_depth(const struct raster_pipe *p, const struct raster_triangle *t, int32_t y0, int32_t y1)
{
    struct raster_pipe pipe = *p;
    struct raster_triangle triangle = *t;

    pipe.depth_bytes = 4;
    pipe.depth_format = FACET_TILE_RSTATE_DEPTH_FORMAT_D32F;
    pipe.depth_write = true;
    fill_rows(&pipe, &triangle, true, y0, y1);
}

TARGET static void
fill_any(const struct raster_pipe *p, const struct raster_triangle *t, int32_t y0, int32_t y1)
{
    fill_rows(p, t, false, y0, y1);
}

void facet_raster_fill_avx2(struct raster_pipe *pipe,
                            const struct raster_triangle *t,
                            int32_t y0,
                            int32_t y1)
{
    FACET_FAST_WAY(RASTER_SPAN);
    if (is_invisible(pipe, t)) {
        if (pipe->depth_bytes == 4 && pipe->depth_write) {
            fill_depth(pipe, t, y0, y1);
            return;
        }
        if (pipe->depth_bytes == 0 || !pipe->depth_write) {
            return;
        }
    }
    if (is_usual(pipe, t) && pipe->blend == FACET_TILE_RSTATE_BLEND_OPAQUE) {
        fill_opaque(pipe, t, y0, y1);
    } else if (is_usual(pipe, t) && pipe->blend == FACET_TILE_RSTATE_BLEND_ALPHA) {
        fill_alpha(pipe, t, y0, y1);
    } else {
        fill_any(pipe, t, y0, y1);
    }
}

#endif
