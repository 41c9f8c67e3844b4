/* The sorting network of the ray unit: see sort.h. The network itself is part of the contract,
 * since it fixes the order of equal keys; any other sort would return other registers. */
#include "gfx12/sort.h"

enum heuristic { CLOSEST, LARGEST, MIDPOINT, NO_SORT };

static float key_of(unsigned heuristic, const struct facet_gfx12_slab *slab)
{
    switch (heuristic) {
    case LARGEST:
        return slab->min_t - slab->max_t;
    case MIDPOINT:
        return slab->enter + slab->leave;
    default:
        return slab->min_t;
    }
}

struct facet_gfx12_slot facet_gfx12_slot_make(const struct facet_gfx12_unit *unit,
                                              uint32_t id,
                                              const struct facet_gfx12_slab *slab)
{
    struct facet_gfx12_slot slot = {
        .id = id,
        .ext = id == FACET_GFX12_INVALID ? 4 : 0,
        .key = key_of(unit->resource.box_sorting_heuristic, slab),
    };
    if (unit->resource.sort_triangles_first != 0) {
        slot.ext += (id & 7) > 3 ? 2 : 0;
        slot.ext += unit->profile == FACET_GFX12_GPURT && (id & 7) != 1 ? 1 : 0;
    }
    return slot;
}

/* clang-format off */
static const uint8_t narrow_stages[][2] = {
    {0, 2}, {1, 3}, {4, 6}, {5, 7}, /* 1 */
    {0, 1}, {2, 3}, {4, 5}, {6, 7}, /* 2 */
    {1, 2}, {5, 6},                 /* 3 */
};
static const uint8_t wide_stages[][2] = {
    {0, 4}, {1, 5}, {2, 6}, {3, 7}, /* 4 */
    {2, 4}, {3, 5},                 /* 5 */
    {1, 2}, {3, 4}, {5, 6},         /* 6 */
};
/* clang-format on */

static void run(struct facet_gfx12_slot slot[8], const uint8_t stages[][2], size_t count)
{
    for (size_t n = 0; n < count; n++) {
        struct facet_gfx12_slot *i = &slot[stages[n][0]];
        struct facet_gfx12_slot *j = &slot[stages[n][1]];
        if (j->ext < i->ext || (j->ext == i->ext && j->key < i->key)) {
            struct facet_gfx12_slot swap = *i;
            *i = *j;
            *j = swap;
        }
    }
}

void facet_gfx12_sort(const struct facet_gfx12_unit *unit,
                      struct facet_gfx12_slot slot[8],
                      bool wide)
{
    if (unit->resource.box_sort_en == 0 || unit->resource.box_sorting_heuristic == NO_SORT) {
        return;
    }
    run(slot, narrow_stages, sizeof narrow_stages / sizeof narrow_stages[0]);
    if (wide) {
        run(slot, wide_stages, sizeof wide_stages / sizeof wide_stages[0]);
    }
}
