/* The two loops over the items of a large range for hosts with AVX2, for bvh2.c alone: bins and
 * partition with a box in one register, as minima and negated maxima, so that one operation joins
 * it. Negating and comparing round nothing, so the results are those of bins_fill and part_items.
 */
#ifndef FACET_BVH_SPLIT_AVX2_H
#define FACET_BVH_SPLIT_AVX2_H

#include "base/avx2.h"
#include "bvh/split.h"

#if defined(__x86_64__) && !defined(FACET_LANES_PORTABLE)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* Bins on their way; the bins of an axis follow each other. */
struct wide_bins {
    __m256 box[3 * BINS];
    uint32_t count[3 * BINS];
};

/* lo, 0, -hi, -0 of an item. */
AVX2 static inline __m256 wide_box(const struct facet_bvh_item *item)
{
    const __m256 kept = _mm256_castsi256_ps(_mm256_setr_epi32(-1, -1, -1, 0, -1, -1, -1, 0));
    const __m256 sign = _mm256_setr_ps(0, 0, 0, 0, -0.0F, -0.0F, -0.0F, -0.0F);

    return _mm256_xor_ps(_mm256_and_ps(_mm256_loadu_ps(item->lo), kept), sign);
}

AVX2 static inline __m128 wide_centre(__m256 box)
{
    return _mm_sub_ps(_mm256_castps256_ps128(box), _mm256_extractf128_ps(box, 1));
}

AVX2 static inline void
wide_bins_add(struct wide_bins *bins, const struct grid *grid, const struct facet_bvh_item *item)
{
    const __m256 box = wide_box(item);
    __m128i b =
        _mm_cvttps_epi32(_mm_mul_ps(_mm_sub_ps(wide_centre(box), grid->base.v), grid->scale.v));
    uint32_t at[3];

    b = _mm_and_si128(b, _mm_load_si128((const __m128i *)grid->mask));
    b = _mm_min_epi32(b, _mm_set1_epi32(BINS - 1));
    at[0] = (uint32_t)_mm_cvtsi128_si32(b);
    at[1] = BINS + (uint32_t)_mm_extract_epi32(b, 1);
    at[2] = 2 * BINS + (uint32_t)_mm_extract_epi32(b, 2);
    for (int k = 0; k < 3; k++) {
        bins->box[at[k]] = _mm256_min_ps(bins->box[at[k]], box);
        bins->count[at[k]]++;
    }
}

AVX2 static inline void wide_bins_clear(struct wide_bins *bins)
{
    for (int b = 0; b < 3 * BINS; b++) {
        bins->box[b] = _mm256_set1_ps(INFINITY);
    }
    memset(bins->count, 0, sizeof bins->count);
}

/* bins_fill(). */
AVX2 static void bins_fill_avx2(struct bins *bins,
                                const struct grid *grid,
                                const struct facet_bvh_item *items,
                                uint32_t begin,
                                uint32_t end)
{
    const __m128 sign = _mm_set1_ps(-0.0F);
    const bool two = end - begin >= TWO_SETS;
    struct wide_bins even, odd;
    uint32_t i = begin;

    wide_bins_clear(&even);
    if (two) {
        wide_bins_clear(&odd);
        for (; i + 1 < end; i += 2) {
            wide_bins_add(&even, grid, &items[i]);
            wide_bins_add(&odd, grid, &items[i + 1]);
        }
    }
    for (; i < end; i++) {
        wide_bins_add(&even, grid, &items[i]);
    }
    for (int b = 0; b < 3 * BINS; b++) {
        struct bounds *out = &bins->box[b / BINS][b % BINS];
        const __m256 box = two ? _mm256_min_ps(even.box[b], odd.box[b]) : even.box[b];

        out->lo.v = _mm256_castps256_ps128(box);
        out->hi.v = _mm_xor_ps(_mm256_extractf128_ps(box, 1), sign);
        bins->count[b / BINS][b % BINS] = even.count[b] + (two ? odd.count[b] : 0);
    }
}

AVX2 static inline struct bounds wide_bounds(__m256 box)
{
    return (struct bounds){{_mm256_castps256_ps128(box)},
                           {_mm_xor_ps(_mm256_extractf128_ps(box, 1), _mm_set1_ps(-0.0F))}};
}

/* part_items(). A centre of the other side becomes a NaN, which vminps passes over. */
AVX2 static void part_items_avx2(struct parting *parting,
                                 const struct grid *grid,
                                 struct split split,
                                 const struct facet_bvh_item *items,
                                 uint32_t count)
{
    const __m128i axis = _mm_set1_epi32(split.axis);
    const __m128 base = _mm_permutevar_ps(grid->base.v, axis);
    const __m128 scale = _mm_permutevar_ps(grid->scale.v, axis);
    const __m128 first = _mm_set1_ps((float)split.first_bin);
    const __m128 sign = _mm_set1_ps(-0.0F);
    __m256 left = _mm256_set1_ps(INFINITY), right = left;
    uint32_t next_left = parting->next[0], next_right = parting->next[1];

    for (uint32_t i = 0; i < count; i++) {
        const __m256 item = _mm256_loadu_ps(items[i].lo);
        const __m128 c = wide_centre(wide_box(&items[i]));
        const __m256 both = _mm256_set_m128(_mm_xor_ps(c, sign), c);
        const __m128 x = _mm_mul_ps(_mm_sub_ps(_mm_permutevar_ps(c, axis), base), scale);
        const __m128 goes = _mm_cmpge_ps(x, first), stays = _mm_cmplt_ps(x, first);
        const uint32_t goes_right = (uint32_t)_mm_movemask_ps(goes) & 1;

        _mm256_storeu_ps(parting->to[goes_right ? next_right : next_left].lo, item);
        next_right += goes_right;
        next_left += 1 - goes_right;
        left = _mm256_min_ps(_mm256_or_ps(both, _mm256_set_m128(goes, goes)), left);
        right = _mm256_min_ps(_mm256_or_ps(both, _mm256_set_m128(stays, stays)), right);
    }
    parting->next[0] = next_left;
    parting->next[1] = next_right;
    parting->centres[0] = wide_bounds(left);
    parting->centres[1] = wide_bounds(right);
}

#undef AVX2
#else
#define bins_fill_avx2 bins_fill
#define part_items_avx2 part_items
#endif

#endif
