/* Words of eight lanes for span_avx2.c: colours, memory, texels. The shortcuts (division by 255 as
 * shifts, clamps that also catch NaN) are exact and compared with pixel.c by tests. */
#ifndef FACET_RASTER_LANES_AVX2_H
#define FACET_RASTER_LANES_AVX2_H

#include "raster/internal.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* ---- words of four 8-bit channels ---- */

/* n / 255 in 16-bit lanes: n * 0x8081 >> 23 is exact for all of them. */
INLINE __m256i over255(__m256i n)
{
    return _mm256_srli_epi16(_mm256_mulhi_epu16(n, _mm256_set1_epi16((int16_t)0x8081)), 7);
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

/* (s * alpha + d * (255 - alpha) + 127) / 255; the sum is below 2^16, so its parts may wrap. */
INLINE __m256i mix_half(__m256i s, __m256i d, __m256i alpha)
{
    const __m256i part = _mm256_mullo_epi16(_mm256_sub_epi16(s, d), alpha);
    const __m256i under = _mm256_sub_epi16(_mm256_slli_epi16(d, 8), d);

    return over255(_mm256_add_epi16(_mm256_add_epi16(part, under), _mm256_set1_epi16(127)));
}

INLINE __m256i blend_alpha(__m256i s, __m256i d)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(3, -1, 3, -1, 3, -1, 3, -1, 7, -1, 7, -1, 7, -1, 7, -1));
    const __m256i high = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(11, -1, 11, -1, 11, -1, 11, -1, 15, -1, 15, -1, 15, -1, 15, -1));
    const __m256i alpha_low = _mm256_shuffle_epi8(s, low),
                  alpha_high = _mm256_shuffle_epi8(s, high);

    s = _mm256_or_si256(s, _mm256_set1_epi32((int)0xFF000000)); /* alpha blends 255 */
    return _mm256_packus_epi16(
        mix_half(_mm256_unpacklo_epi8(s, zero), _mm256_unpacklo_epi8(d, zero), alpha_low),
        mix_half(_mm256_unpackhi_epi8(s, zero), _mm256_unpackhi_epi8(d, zero), alpha_high));
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

/* Two runs of four pixels of 2 or 4 bytes, one pixel in each lane. */
INLINE __m256i load_pixels(uint8_t *const at[2], uint32_t bytes)
{
    const __m128i *first = (const __m128i *)(const void *)at[0];
    const __m128i *second = (const __m128i *)(const void *)at[1];

    if (bytes == 2) {
        return _mm256_cvtepu16_epi32(
            _mm_unpacklo_epi64(_mm_loadl_epi64(first), _mm_loadl_epi64(second)));
    }
    return _mm256_set_m128i(_mm_loadu_si128(second), _mm_loadu_si128(first));
}

/* Lanes outside the mask are written as they were: all eight lie in the clip rectangle, and whoever
 * fills a row fills all of it. The first run is written last: where there is no second one, the
 * caller names the first twice. */
INLINE void
store_pixels(uint8_t *const at[2], uint32_t bytes, __m256i mask, __m256i old, __m256i value)
{
    const __m256i all = _mm256_blendv_epi8(old, value, mask);
    __m128i *first = (__m128i *)(void *)at[0], *second = (__m128i *)(void *)at[1];

    if (bytes == 2) {
        const __m256i halves = _mm256_packus_epi32(all, all);

        _mm_storel_epi64(second, _mm256_extracti128_si256(halves, 1));
        _mm_storel_epi64(first, _mm256_castsi256_si128(halves));
    } else {
        _mm_storeu_si128(second, _mm256_extracti128_si256(all, 1));
        _mm_storeu_si128(first, _mm256_castsi256_si128(all));
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

/* How a coordinate outside the texture comes back. */
enum wrap { WRAP_CLAMP, WRAP_MASK, WRAP_DIVIDE };

INLINE enum wrap wrap_of(uint32_t size, bool repeat)
{
    return !repeat ? WRAP_CLAMP : (size & (size - 1)) == 0 ? WRAP_MASK : WRAP_DIVIDE;
}

/* `last` is size - 1. */
INLINE __m256i wrap(__m256i x, __m256i last, uint32_t size, enum wrap how)
{
    if (how == WRAP_CLAMP) {
        return _mm256_min_epi32(_mm256_max_epi32(x, _mm256_setzero_si256()), last);
    }
    if (how == WRAP_MASK) {
        return _mm256_and_si256(x, last);
    }
    /* Inside already: the usual case. */
    if (lane_bits(_mm256_or_si256(x, _mm256_sub_epi32(last, x))) == 0) {
        return x;
    }
    return remainders(x, size);
}

/* Column or row of a nearest sample. */
INLINE __m256i nearest(__m256 t, __m256i last, uint32_t size, enum wrap how)
{
    if (how == WRAP_MASK) {
        /* Below the range and NaN give INT32_MIN, whose low bits are 0 as those of floor_i; above
         * it they are ones. */
        const __m256 f = _mm256_floor_ps(t);
        const __m256 big = _mm256_cmp_ps(f, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ);

        return _mm256_and_si256(_mm256_xor_si256(_mm256_cvttps_epi32(f), _mm256_castps_si256(big)),
                                last);
    }
    if (how == WRAP_CLAMP) {
        /* Clamped first, floor is truncation; max gives its second operand for NaN. */
        return _mm256_cvttps_epi32(
            _mm256_min_ps(_mm256_max_ps(t, _mm256_setzero_ps()), _mm256_cvtepi32_ps(last)));
    }
    return wrap(floor_int(t), last, size, how);
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
    const enum wrap how_u = wrap_of(s->width, s->repeat_u), how_v = wrap_of(s->height, s->repeat_v);
    const __m256i width = _mm256_set1_epi32((int)s->width - 1);
    const __m256i height = _mm256_set1_epi32((int)s->height - 1);
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
    const __m256i xa = wrap(i0, width, s->width, how_u);
    const __m256i xb = wrap(_mm256_add_epi32(i0, one), width, s->width, how_u);
    const __m256i ya = wrap(j0, height, s->height, how_v);
    const __m256i yb = wrap(_mm256_add_epi32(j0, one), height, s->height, how_v);
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

#endif
