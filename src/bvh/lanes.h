/* Four float lanes for the builders: SSE2 where the host has it, plain C elsewhere, the same bits
 * on both. Only the operations that the builders need; lane 3 is along for the ride.
 *
 * `lanes_min`/`lanes_max` return an arbitrary zero when +0 and -0 meet, which is fine wherever only
 * the value matters (areas, bins). `lanes_min_exact`/`lanes_max_exact` follow section 1 rule 4
 * (min prefers -0, max +0): the origin of a box node shows the sign. No operand is ever NaN. */
#ifndef FACET_BVH_LANES_H
#define FACET_BVH_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(FACET_LANES_PORTABLE)
#include <emmintrin.h>

struct lanes {
    __m128 v;
};

static inline struct lanes lanes_load(const float *p)
{
    return (struct lanes){_mm_load_ps(p)};
}

/* Lane 3 becomes 0: an integer stored after the three floats would be a subnormal number to
 * the arithmetic and slow it down a hundredfold. */
static inline struct lanes lanes_load3(const float *p)
{
    return (struct lanes){
        _mm_and_ps(_mm_load_ps(p), _mm_castsi128_ps(_mm_setr_epi32(-1, -1, -1, 0)))};
}

static inline void lanes_store(float *p, struct lanes a)
{
    _mm_store_ps(p, a.v);
}

static inline struct lanes lanes_splat(float x)
{
    return (struct lanes){_mm_set1_ps(x)};
}

static inline struct lanes lanes_set(float x, float y, float z)
{
    return (struct lanes){_mm_setr_ps(x, y, z, 0.0f)};
}

static inline struct lanes lanes_add(struct lanes a, struct lanes b)
{
    return (struct lanes){_mm_add_ps(a.v, b.v)};
}

static inline struct lanes lanes_min(struct lanes a, struct lanes b)
{
    return (struct lanes){_mm_min_ps(a.v, b.v)};
}

static inline struct lanes lanes_max(struct lanes a, struct lanes b)
{
    return (struct lanes){_mm_max_ps(a.v, b.v)};
}

/* a or b, without a jump. */
static inline struct lanes lanes_select(bool first, struct lanes a, struct lanes b)
{
    const __m128 mask = _mm_castsi128_ps(_mm_set1_epi32(-(int)first));

    return (struct lanes){_mm_or_ps(_mm_and_ps(mask, a.v), _mm_andnot_ps(mask, b.v))};
}

static inline float lanes_get(struct lanes a, int lane)
{
    return a.v[lane];
}

/* minps returns its second operand on a tie, so both orders together see both zeros. */
static inline struct lanes lanes_min_exact(struct lanes a, struct lanes b)
{
    return (struct lanes){_mm_or_ps(_mm_min_ps(a.v, b.v), _mm_min_ps(b.v, a.v))};
}

static inline struct lanes lanes_max_exact(struct lanes a, struct lanes b)
{
    return (struct lanes){_mm_and_ps(_mm_max_ps(a.v, b.v), _mm_max_ps(b.v, a.v))};
}

/* 16 / (hi - lo) per lane, and whether hi - lo is positive and finite and the quotient finite: -1
 * or 0. Lanes that are not usable have scale 0. */
static inline struct lanes lanes_scale(struct lanes lo, struct lanes hi, int32_t usable[4])
{
    const __m128 infinity = _mm_set1_ps(__builtin_inff());
    __m128 range = _mm_sub_ps(hi.v, lo.v);
    __m128 scale = _mm_div_ps(_mm_set1_ps(16.0f), range);
    __m128 ok =
        _mm_and_ps(_mm_cmpgt_ps(range, _mm_setzero_ps()),
                   _mm_and_ps(_mm_cmplt_ps(range, infinity), _mm_cmplt_ps(scale, infinity)));

    _mm_store_si128((__m128i *)usable, _mm_castps_si128(ok));
    return (struct lanes){_mm_and_ps(scale, ok)};
}

/* Half the surface of a box in binary64: (dx*dy + dy*dz) + dz*dx. */
static inline double lanes_area(struct lanes lo, struct lanes hi)
{
    __m128d xy = _mm_sub_pd(_mm_cvtps_pd(hi.v), _mm_cvtps_pd(lo.v));
    __m128d z = _mm_sub_pd(_mm_cvtps_pd(_mm_movehl_ps(hi.v, hi.v)),
                           _mm_cvtps_pd(_mm_movehl_ps(lo.v, lo.v)));
    double dx = _mm_cvtsd_f64(xy), dy = _mm_cvtsd_f64(_mm_unpackhi_pd(xy, xy));
    double dz = _mm_cvtsd_f64(z);

    return (dx * dy + dy * dz) + dz * dx;
}

/* The same in binary32. */
static inline float lanes_area_single(struct lanes lo, struct lanes hi)
{
    const __m128 d = _mm_sub_ps(hi.v, lo.v);
    const __m128 p = _mm_mul_ps(d, _mm_shuffle_ps(d, d, _MM_SHUFFLE(3, 0, 2, 1)));

    return (p[0] + p[1]) + p[2];
}

/* lanes_area of two boxes. */
static inline void
lanes_area2(struct lanes lo0, struct lanes hi0, struct lanes lo1, struct lanes hi1, double area[2])
{
    const __m128 lo = _mm_unpacklo_ps(lo0.v, lo1.v), hi = _mm_unpacklo_ps(hi0.v, hi1.v);
    const __m128d x = _mm_sub_pd(_mm_cvtps_pd(hi), _mm_cvtps_pd(lo));
    const __m128d y =
        _mm_sub_pd(_mm_cvtps_pd(_mm_movehl_ps(hi, hi)), _mm_cvtps_pd(_mm_movehl_ps(lo, lo)));
    const __m128d z = _mm_sub_pd(_mm_cvtps_pd(_mm_unpackhi_ps(hi0.v, hi1.v)),
                                 _mm_cvtps_pd(_mm_unpackhi_ps(lo0.v, lo1.v)));

    _mm_storeu_pd(area,
                  _mm_add_pd(_mm_add_pd(_mm_mul_pd(x, y), _mm_mul_pd(y, z)), _mm_mul_pd(z, x)));
}

/* min(15, trunc((c - base) * scale)) per lane; lanes whose mask is 0 give 0. */
static inline void lanes_bins(
    struct lanes c, struct lanes base, struct lanes scale, const int32_t mask[4], int32_t bin[4])
{
    __m128i b = _mm_cvttps_epi32(_mm_mul_ps(_mm_sub_ps(c.v, base.v), scale.v));

    b = _mm_and_si128(b, _mm_load_si128((const __m128i *)mask));
    /* Values are small and not negative, so the 16-bit minimum does it. */
    _mm_store_si128((__m128i *)bin, _mm_min_epi16(b, _mm_set1_epi32(15)));
}

/* (bin << 4 | item) ^ 0x80 for 16 items, by lane. Rows of four lanes become lanes of 16 by four
 * perfect shuffles. */
static inline void lanes_keys(const int32_t bin[16][4], uint8_t key[4][16])
{
    const __m128i item =
        _mm_xor_si128(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                      _mm_set1_epi8((char)0x80));
    __m128i row[4];

    for (int i = 0; i < 4; i++) {
        const __m128i *four = (const __m128i *)bin[4 * i];

        row[i] =
            _mm_packus_epi16(_mm_packs_epi32(_mm_load_si128(four), _mm_load_si128(four + 1)),
                             _mm_packs_epi32(_mm_load_si128(four + 2), _mm_load_si128(four + 3)));
    }
    for (int turn = 0; turn < 4; turn++) {
        const __m128i a = row[0], b = row[1], c = row[2], d = row[3];

        row[0] = _mm_unpacklo_epi8(a, c);
        row[1] = _mm_unpackhi_epi8(a, c);
        row[2] = _mm_unpacklo_epi8(b, d);
        row[3] = _mm_unpackhi_epi8(b, d);
    }
    for (int k = 0; k < 4; k++) {
        _mm_store_si128((__m128i *)key[k], _mm_xor_si128(_mm_slli_epi16(row[k], 4), item));
    }
}

#else

struct lanes {
    float v[4];
};

#define LANES_EACH(expr)                                                                           \
    struct lanes r;                                                                                \
    for (int i = 0; i < 4; i++) {                                                                  \
        r.v[i] = (expr);                                                                           \
    }                                                                                              \
    return r

static inline struct lanes lanes_load(const float *p)
{
    LANES_EACH(p[i]);
}

static inline struct lanes lanes_load3(const float *p)
{
    return (struct lanes){{p[0], p[1], p[2], 0.0f}};
}

static inline void lanes_store(float *p, struct lanes a)
{
    memcpy(p, a.v, sizeof a.v);
}

static inline struct lanes lanes_splat(float x)
{
    LANES_EACH(x);
}

static inline struct lanes lanes_set(float x, float y, float z)
{
    return (struct lanes){{x, y, z, 0.0f}};
}

static inline struct lanes lanes_add(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] + b.v[i]);
}

static inline struct lanes lanes_min(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] < b.v[i] ? a.v[i] : b.v[i]);
}

static inline struct lanes lanes_max(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] > b.v[i] ? a.v[i] : b.v[i]);
}

static inline struct lanes lanes_select(bool first, struct lanes a, struct lanes b)
{
    LANES_EACH(first ? a.v[i] : b.v[i]);
}

static inline float lanes_get(struct lanes a, int lane)
{
    return a.v[lane];
}

static inline struct lanes lanes_min_exact(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] < b.v[i] || (a.v[i] == b.v[i] && __builtin_signbit(a.v[i])) ? a.v[i]
                                                                                  : b.v[i]);
}

static inline struct lanes lanes_max_exact(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] > b.v[i] || (a.v[i] == b.v[i] && !__builtin_signbit(a.v[i])) ? a.v[i]
                                                                                   : b.v[i]);
}

static inline struct lanes lanes_scale(struct lanes lo, struct lanes hi, int32_t usable[4])
{
    struct lanes scale;

    for (int i = 0; i < 4; i++) {
        float range = hi.v[i] - lo.v[i];

        scale.v[i] = 16.0f / range;
        usable[i] =
            range > 0.0f && range < __builtin_inff() && scale.v[i] < __builtin_inff() ? -1 : 0;
        scale.v[i] = usable[i] ? scale.v[i] : 0.0f;
    }
    return scale;
}

static inline double lanes_area(struct lanes lo, struct lanes hi)
{
    double dx = (double)hi.v[0] - (double)lo.v[0];
    double dy = (double)hi.v[1] - (double)lo.v[1];
    double dz = (double)hi.v[2] - (double)lo.v[2];

    return (dx * dy + dy * dz) + dz * dx;
}

static inline float lanes_area_single(struct lanes lo, struct lanes hi)
{
    float dx = hi.v[0] - lo.v[0], dy = hi.v[1] - lo.v[1], dz = hi.v[2] - lo.v[2];

    return (dx * dy + dy * dz) + dz * dx;
}

static inline void
lanes_area2(struct lanes lo0, struct lanes hi0, struct lanes lo1, struct lanes hi1, double area[2])
{
    area[0] = lanes_area(lo0, hi0);
    area[1] = lanes_area(lo1, hi1);
}

static inline void lanes_bins(
    struct lanes c, struct lanes base, struct lanes scale, const int32_t mask[4], int32_t bin[4])
{
    for (int i = 0; i < 4; i++) {
        float x = mask[i] ? (c.v[i] - base.v[i]) * scale.v[i] : 0.0f;

        bin[i] = x < 15.0f ? (int32_t)x : 15;
    }
}

static inline void lanes_keys(const int32_t bin[16][4], uint8_t key[4][16])
{
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < 4; k++) {
            key[k][i] = (uint8_t)((bin[i][k] << 4 | i) ^ 0x80);
        }
    }
}

#undef LANES_EACH
#endif

#endif
