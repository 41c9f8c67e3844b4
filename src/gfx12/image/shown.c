/* See shown.h. */
#include "gfx12/image/shown.h"

#include "gfx12/image/node.h"

#include <math.h>
#include <string.h>

static struct facet_gfx12_bounds join(const struct facet_gfx12_bounds *a,
                                      const struct facet_gfx12_bounds *b)
{
    struct facet_gfx12_bounds out;

    for (int k = 0; k < 3; k++) {
        const bool first = a->lo[k] == b->lo[k] ? signbit(a->lo[k]) != 0 : a->lo[k] < b->lo[k];

        out.lo[k] = first ? a->lo[k] : b->lo[k]; /* -0 lies below +0 */
        out.hi[k] = a->hi[k] > b->hi[k] ? a->hi[k] : b->hi[k];
    }
    return out;
}

static double surface(const struct facet_gfx12_bounds *b)
{
    const double x = (double)b->hi[0] - (double)b->lo[0], y = (double)b->hi[1] - (double)b->lo[1],
                 z = (double)b->hi[2] - (double)b->lo[2];

    return x * y + y * z + z * x;
}

unsigned facet_gfx12_bounds_join(struct facet_gfx12_bounds bounds[8], unsigned count, unsigned most)
{
    while (count > most) {
        unsigned first = 0, second = 1;
        double least = 0;

        for (unsigned i = 0; i < count; i++) {
            for (unsigned j = i + 1; j < count; j++) {
                const struct facet_gfx12_bounds both = join(&bounds[i], &bounds[j]);
                const double area = surface(&both);

                if ((i == 0 && j == 1) || area < least) {
                    first = i;
                    second = j;
                    least = area;
                }
            }
        }
        bounds[first] = join(&bounds[first], &bounds[second]);
        bounds[second] = bounds[--count];
    }
    return count;
}

static bool can_be_hit(const struct facet_gfx12_child *c)
{
    return c->min[0] <= c->max[0] && c->min[1] <= c->max[1] && c->min[2] <= c->max[2];
}

bool facet_gfx12_instance_show(struct facet_gfx12_instance *node,
                               struct facet_gfx12_bounds bounds[8],
                               unsigned count)
{
    unsigned slot[4], used = 0;
    uint32_t lo[8][3], hi[8][3];
    struct facet_gfx12_box grid;

    for (unsigned i = 0; i <= (node->child_count_minus_one & 3u); i++) {
        if (can_be_hit(&node->child[i])) {
            slot[used++] = i;
        }
    }
    if (used == 0) {
        return true;
    }
    count = facet_gfx12_bounds_join(bounds, count, used);
    for (unsigned i = 0; i < count; i++) {
        memcpy(lo[i], bounds[i].lo, sizeof lo[i]);
        memcpy(hi[i], bounds[i].hi, sizeof hi[i]);
    }
    if (!facet_gfx12_box_grid(&grid, lo, hi, count)) {
        return false;
    }
    memcpy(node->origin, grid.origin, sizeof node->origin);
    memcpy(node->exponent, grid.exponent, sizeof node->exponent);
    for (unsigned i = 0; i < used; i++) {
        const unsigned from =
            i < count ? i : count - 1; /* fewer bounds than slots: the last again */

        facet_gfx12_quantize_child(
            lo[from], hi[from], grid.origin, grid.exponent, &node->child[slot[i]]);
    }
    return true;
}
