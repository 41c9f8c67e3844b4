/* The best binned split of a range of items (section 12.2), for bvh2.c alone. */
#ifndef FACET_BVH_SPLIT_H
#define FACET_BVH_SPLIT_H

#include "bvh/bvh2.h"
#include "bvh/lanes.h"

#include <math.h>

#define BINS 16
#define SMALL 16

struct bounds {
    struct lanes lo, hi;
};

/* How the centres of a range map to bins. A lane with mask 0 is not split. */
struct grid {
    struct lanes base, scale;
    _Alignas(16) int32_t mask[4];
};

struct bins {
    struct bounds box[3][BINS];
    uint32_t count[3][BINS];
};

struct split {
    double cost;   /* always finite; INFINITY before the first candidate */
    int axis;      /* -1: no candidate */
    int first_bin; /* bins below go left */
};

static inline struct bounds bounds_empty(void)
{
    return (struct bounds){lanes_splat(INFINITY), lanes_splat(-INFINITY)};
}

static inline void bounds_join(struct bounds *a, struct lanes lo, struct lanes hi)
{
    a->lo = lanes_min(a->lo, lo);
    a->hi = lanes_max(a->hi, hi);
}

static inline double bounds_area(struct bounds a)
{
    return lanes_area(a.lo, a.hi);
}

static inline struct lanes item_centre(const struct facet_bvh_item *item)
{
    return lanes_add(lanes_load3(item->lo), lanes_load3(item->hi));
}

/* An axis is skipped when its centres do not differ, differ by so little that 16 / range overflows,
 * or (R-G12-56) differ by an infinity. */
static inline struct grid make_grid(struct bounds centres)
{
    struct grid grid = {.base = centres.lo};

    grid.scale = lanes_scale(centres.lo, centres.hi, grid.mask);
    return grid;
}

static inline void consider(struct split *best, double cost, int axis, int first_bin)
{
    if (cost < best->cost) {
        *best = (struct split){cost, axis, first_bin};
    }
}

/* ---- ranges of more than SMALL items: 16 bins per axis ---- */

static inline void bins_clear(struct bins *bins)
{
    for (int k = 0; k < 3; k++) {
        for (int b = 0; b < BINS; b++) {
            bins->box[k][b] = bounds_empty();
            bins->count[k][b] = 0;
        }
    }
}

static inline void bins_join(struct bins *into, const struct bins *from)
{
    for (int k = 0; k < 3; k++) {
        for (int b = 0; b < BINS; b++) {
            bounds_join(&into->box[k][b], from->box[k][b].lo, from->box[k][b].hi);
            into->count[k][b] += from->count[k][b];
        }
    }
}

static inline void
bins_add(struct bins *bins, const struct grid *grid, const struct facet_bvh_item *item)
{
    struct lanes lo = lanes_load3(item->lo);
    struct lanes hi = lanes_load3(item->hi);
    _Alignas(16) int32_t b[4];

    lanes_bins(lanes_add(lo, hi), grid->base, grid->scale, grid->mask, b);
    for (int k = 0; k < 3; k++) {
        bounds_join(&bins->box[k][b[k]], lo, hi);
        bins->count[k][b[k]]++;
    }
}

enum { TWO_SETS = 80 }; /* items that are worth two sets of bins */

/* Starts with empty bins. That is done here and not by the callers because GCC 12.2 at -O1 drops a
 * call whose only effect is to fill a local struct that another call then reads and writes. */
static inline void bins_fill(struct bins *bins,
                             const struct grid *grid,
                             const struct facet_bvh_item *items,
                             uint32_t begin,
                             uint32_t end)
{
    struct bins odd;
    uint32_t i = begin;

    bins_clear(bins);
    if (end - begin >= TWO_SETS) {
        /* Neighbours often fall into the same bin, where the second would wait for the first. */
        bins_clear(&odd);
        for (; i + 1 < end; i += 2) {
            bins_add(bins, grid, &items[i]);
            bins_add(&odd, grid, &items[i + 1]);
        }
        bins_join(bins, &odd);
    }
    for (; i < end; i++) {
        bins_add(bins, grid, &items[i]);
    }
}

/* A split after an empty bin makes the same two parts as the split before it, and the first minimum
 * is kept; where a part is empty, the area is infinite and the cost, its product with 0, a NaN.
 * Both sides are swept at once. */
static inline struct split
bins_best(const struct bins *bins, const struct grid *grid, uint32_t total)
{
    struct split best = {INFINITY, -1, 0};

    for (int k = 0; k < 3; k++) {
        double area[BINS][2]; /* of the bins below b in [b], of those from b on in [BINS - b] */
        struct bounds left = bins->box[k][0], right = bins->box[k][BINS - 1];
        uint32_t count = 0;

        if (grid->mask[k] == 0) {
            continue;
        }
        for (int b = 1; b < BINS; b++) {
            const struct bounds *l = &bins->box[k][b], *r = &bins->box[k][BINS - 1 - b];

            lanes_area2(left.lo, left.hi, right.lo, right.hi, area[b]);
            bounds_join(&left, l->lo, l->hi);
            bounds_join(&right, r->lo, r->hi);
        }
        for (int b = 1; b < BINS; b++) {
            count += bins->count[k][b - 1];
            consider(&best,
                     area[b][0] * (double)count + area[BINS - b][1] * (double)(total - count),
                     k,
                     b);
        }
    }
    return best;
}

/* ---- partition ---- */

/* A stable partition on its way: where the next item of either side goes. */
struct parting {
    struct facet_bvh_item *to;
    uint32_t next[2];
    struct bounds centres[2];
};

/* Sides follow no pattern, so nothing here depends on a jump. */
static inline void part_items(struct parting *parting,
                              const struct grid *grid,
                              struct split split,
                              const struct facet_bvh_item *items,
                              uint32_t count)
{
    const float base = lanes_get(grid->base, split.axis);
    const float scale = lanes_get(grid->scale, split.axis);
    struct bounds left = bounds_empty(), right = bounds_empty();
    uint32_t next_left = parting->next[0], next_right = parting->next[1];

    for (uint32_t i = 0; i < count; i++) {
        const struct lanes c = item_centre(&items[i]);
        const float x = (items[i].lo[split.axis] + items[i].hi[split.axis] - base) * scale;
        const bool goes_right = (int32_t)x >= split.first_bin;

        parting->to[goes_right ? next_right : next_left] = items[i];
        next_right += goes_right;
        next_left += !goes_right;
        bounds_join(
            &left, lanes_select(goes_right, left.lo, c), lanes_select(goes_right, left.hi, c));
        bounds_join(
            &right, lanes_select(goes_right, c, right.lo), lanes_select(goes_right, c, right.hi));
    }
    parting->next[0] = next_left;
    parting->next[1] = next_right;
    parting->centres[0] = left;
    parting->centres[1] = right;
}

/* ---- ranges of up to SMALL items: sorted bin numbers ---- */

struct small {
    struct bounds box[SMALL];
    _Alignas(16) int32_t bin[SMALL][4];
};

static inline void small_load(struct small *s,
                              const struct facet_bvh_item *items,
                              uint32_t count,
                              const struct grid *grid)
{
    for (uint32_t i = 0; i < count; i++) {
        s->box[i].lo = lanes_load3(items[i].lo);
        s->box[i].hi = lanes_load3(items[i].hi);
        lanes_bins(
            lanes_add(s->box[i].lo, s->box[i].hi), grid->base, grid->scale, grid->mask, s->bin[i]);
    }
    memset(s->bin[count], 0, (SMALL - count) * sizeof s->bin[0]);
}

typedef int8_t sixteen __attribute__((vector_size(16)));

/* Items by bin on one axis, those of one bin in their order: bin << 4 | item. An item's place is
 * the number of keys below its own, which takes no jumps. `keys` are those numbers, with the top
 * bit turned round for the order of signed bytes. */
static inline void small_sort(const uint8_t key[SMALL], uint32_t count, uint8_t sorted[SMALL])
{
    sixteen keys, place = {0};

    memcpy(&keys, key, sizeof keys);
    for (uint32_t i = 0; i < count; i++) {
        place -= (sixteen)(keys > (int8_t)key[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        sorted[(uint8_t)place[i] & 15] = key[i] ^ 0x80;
    }
}

static inline struct split
small_best(const struct small *s, uint32_t count, const struct grid *grid)
{
    struct split best = {INFINITY, -1, 0};
    _Alignas(16) uint8_t keys[4][SMALL];

    lanes_keys(s->bin, keys);
    for (int k = 0; k < 3; k++) {
        uint8_t key[SMALL];
        double area[SMALL][2]; /* of the items before and from i on; the former in [i], the latter
                                  in [count - i] */
        struct bounds left, right;

        if (grid->mask[k] == 0) {
            continue;
        }
        small_sort(keys[k], count, key);
        left = s->box[key[0] & 15];
        right = s->box[key[count - 1] & 15];
        for (uint32_t i = 1; i < count; i++) {
            const struct bounds *l = &s->box[key[i] & 15];
            const struct bounds *r = &s->box[key[count - 1 - i] & 15];

            lanes_area2(left.lo, left.hi, right.lo, right.hi, area[i]);
            bounds_join(&left, l->lo, l->hi);
            bounds_join(&right, r->lo, r->hi);
        }
        for (uint32_t i = 1; i < count; i++) {
            const double cost = area[i][0] * (double)i + area[count - i][1] * (double)(count - i);

            if (key[i - 1] >> 4 != key[i] >> 4) {
                consider(&best, cost, k, (key[i - 1] >> 4) + 1);
            }
        }
    }
    return best;
}

#endif
