/* Quality `high`: items whose boxes are mostly empty are cut into several (R-G12-101).
 *
 * A long slanted triangle has a box that most rays enter for nothing. Before the tree is built such
 * items get more than one box, each around a part of their triangles, and all parts keep the
 * triangles of the whole: the method of Karras and Aila, "Fast Parallel Construction of
 * High-Quality Bounding Volume Hierarchies" (2013). The number of parts is bounded by a share of
 * the items, and those profit first that waste most area across the coarsest planes of the grid.
 *
 * The result depends on the items alone: sums run in their order, and roots are computed here. */
#include "gfx12/build/level.h"

#include "base/float.h"
#include "base/large.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts beyond one per item, as a share of the items. */
#define MOST_PARTS 0.3
/* Items are cut that waste many times the average area, or most of their own and not little. The
 * boxes of an ordinary mesh do neither: there cuts cost bytes and help no ray. */
#define MUCH_WASTE 4.0
#define LEAST_WASTE 0.5
#define MOST_OF_IT 0.8
/* Depth of the grid that planes are taken from. */
#define GRID_LEVELS 20
#define MOST_CUTS 64 /* of one item */

struct splitter {
    const struct facet_level *level;
    double origin[3], extent[3]; /* of the whole level */
    double *wish;                /* per item: how much it wants to be cut, 0: not at all */
    uint32_t *first;             /* per item: where its parts go; [count]: how many there are */
    struct facet_bvh_item *parts;
    double scale; /* cuts per wish */
};

/* ---- how much an item wants to be cut ---- */

/* What would be left of the box if it were cut into dust: the shadows of the triangles on the three
 * planes, in the measure of facet_bvh_box_area. */
static double shadows(const struct facet_level *level, uint32_t item)
{
    struct facet_bvh_triangle room[2];
    const struct facet_bvh_triangle *triangles[2];
    uint32_t count = facet_gfx12_level_triangles(level, level->items[item].id, room, triangles);
    double sum = 0.0;

    for (uint32_t i = 0; i < count; i++) {
        double a[3], b[3];

        for (int k = 0; k < 3; k++) {
            a[k] = (double)triangles[i]->vertex[1][k] - (double)triangles[i]->vertex[0][k];
            b[k] = (double)triangles[i]->vertex[2][k] - (double)triangles[i]->vertex[0][k];
        }
        for (int k = 0; k < 3; k++) {
            int m = (k + 1) % 3, n = (k + 2) % 3;

            sum += 0.5 * fabs(a[m] * b[n] - a[n] * b[m]);
        }
    }
    return sum;
}

/* The coarsest plane of the grid strictly inside (lo, hi) on an axis: its level, or GRID_LEVELS + 1
 * where there is none. */
static int coarsest_plane(const struct splitter *s, int axis, double lo, double hi, double *plane)
{
    double step = s->extent[axis];

    for (int level = 1; level <= GRID_LEVELS; level++) {
        double number;

        step *= 0.5;
        number = floor((lo - s->origin[axis]) / step) + 1.0;
        *plane = s->origin[axis] + number * step;
        if (*plane > lo && *plane < hi) {
            return level;
        }
    }
    return GRID_LEVELS + 1;
}

/* The axis of the coarsest plane, the longer one of two alike; -1: no plane. */
static int
choose_plane(const struct splitter *s, const struct facet_bvh_item *item, float *plane, int *level)
{
    int best = -1;

    *level = GRID_LEVELS + 1;
    for (int k = 0; k < 3; k++) {
        double at;
        int found = coarsest_plane(s, k, (double)item->lo[k], (double)item->hi[k], &at);
        float rounded = (float)at;

        if (found > GRID_LEVELS || rounded <= item->lo[k] || rounded >= item->hi[k]) {
            continue;
        }
        if (found < *level ||
            (found == *level && item->hi[k] - item->lo[k] > item->hi[best] - item->lo[best])) {
            *level = found;
            best = k;
            *plane = rounded;
        }
    }
    return best;
}

/* By Newton's method, which gives the same bits on every host. */
static double cube_root(double x)
{
    int exponent;
    double root;

    if (x <= 0.0) {
        return 0.0;
    }
    (void)frexp(x, &exponent);
    root = ldexp(1.0, exponent / 3);
    for (int i = 0; i < 8; i++) {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    return root;
}

struct wish_job {
    struct splitter *s;
    double average; /* area of an item */
};

static void make_wishes(void *context, size_t begin, size_t end)
{
    const struct wish_job *job = context;
    struct splitter *s = job->s;

    for (size_t i = begin; i < end; i++) {
        const struct facet_bvh_item *item = &s->level->items[i];
        double area = facet_bvh_box_area(item->lo, item->hi);
        double waste = area - shadows(s->level, (uint32_t)i);
        bool wasteful = waste > MUCH_WASTE * job->average ||
                        (waste > LEAST_WASTE * job->average && waste > MOST_OF_IT * area);
        float plane;
        int grid;

        s->wish[i] = 0.0;
        if (wasteful && choose_plane(s, item, &plane, &grid) >= 0) {
            s->wish[i] = cube_root(ldexp(waste, -grid));
        }
    }
}

static uint32_t cuts(const struct splitter *s, size_t item)
{
    double wanted = s->scale * s->wish[item];

    return wanted < MOST_CUTS ? (uint32_t)wanted : MOST_CUTS;
}

static uint64_t all_cuts(const struct splitter *s)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->level->item_count; i++) {
        sum += cuts(s, i);
    }
    return sum;
}

/* The largest scale, to a few percent, that keeps to the share. */
static void choose_scale(struct splitter *s)
{
    const uint64_t most = (uint64_t)(MOST_PARTS * s->level->item_count);
    double low = 0.0, high, largest = 0.0;

    for (size_t i = 0; i < s->level->item_count; i++) {
        largest = s->wish[i] > largest ? s->wish[i] : largest;
    }
    if (largest == 0.0) {
        s->scale = 0.0;
        return;
    }
    high = MOST_CUTS / largest;
    s->scale = high;
    for (int i = 0; i < 12 && (i > 0 || all_cuts(s) > most); i++) {
        s->scale = 0.5 * (low + high);
        if (all_cuts(s) > most) {
            high = s->scale;
        } else {
            low = s->scale;
        }
    }
    if (all_cuts(s) > most) {
        s->scale = low;
    }
}

/* ---- cutting ---- */

struct polygon {
    double corner[12][3]; /* a triangle cut by six planes has nine at most */
    int count;
};

/* Keeps the side of a plane where sign * x <= sign * at. */
static void clip(struct polygon *p, int axis, double at, double sign)
{
    struct polygon out = {.count = 0};

    for (int i = 0; i < p->count; i++) {
        const double *a = p->corner[i], *b = p->corner[(i + 1) % p->count];
        double da = sign * (a[axis] - at), db = sign * (b[axis] - at);

        if (da <= 0.0) {
            memcpy(out.corner[out.count++], a, sizeof out.corner[0]);
        }
        if ((da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0)) {
            for (int k = 0; k < 3; k++) {
                out.corner[out.count][k] = a[k] + (b[k] - a[k]) * (da / (da - db));
            }
            out.corner[out.count++][axis] = at;
        }
    }
    *p = out;
}

/* Shrinks the box of a part to what of the triangles lies in it, with a margin that is far above
 * the roundings here and in the ray's own test against the box, so that a ray through a cut meets
 * one of its sides; false when nothing does. */
static bool shrink(const struct facet_level *level, uint32_t whole, struct facet_bvh_item *part)
{
    struct facet_bvh_triangle room[2];
    const struct facet_bvh_triangle *triangles[2];
    uint32_t count = facet_gfx12_level_triangles(level, level->items[whole].id, room, triangles);
    const struct facet_bvh_item *item = &level->items[whole];
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    double size = 0.0, margin;

    for (uint32_t t = 0; t < count; t++) {
        struct polygon p = {.count = 3};

        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                p.corner[c][k] = (double)triangles[t]->vertex[c][k];
            }
        }
        for (int k = 0; k < 3; k++) {
            clip(&p, k, (double)part->lo[k], -1.0);
            clip(&p, k, (double)part->hi[k], 1.0);
        }
        for (int c = 0; c < p.count; c++) {
            for (int k = 0; k < 3; k++) {
                lo[k] = fmin(lo[k], p.corner[c][k]);
                hi[k] = fmax(hi[k], p.corner[c][k]);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        size = fmax(size, fmax(fabs((double)item->lo[k]), fabs((double)item->hi[k])));
    }
    margin = size * 0x1p-20;
    for (int k = 0; k < 3; k++) {
        if (lo[k] > hi[k]) {
            return false;
        }
        part->lo[k] = fmaxf(item->lo[k], facet_float_below(lo[k] - margin));
        part->hi[k] = fminf(item->hi[k], facet_float_above(hi[k] + margin));
    }
    return true;
}

/* Writes the parts of one item, at most 1 + cuts of them; returns how many. */
static uint32_t cut_item(const struct splitter *s, uint32_t whole, struct facet_bvh_item *out)
{
    struct {
        struct facet_bvh_item item;
        uint32_t cuts;
    } open[MOST_CUTS + 1];
    uint32_t depth = 1, done = 0;

    open[0].item = s->level->items[whole];
    open[0].cuts = cuts(s, whole);
    while (depth > 0) {
        struct facet_bvh_item item = open[--depth].item, side[2] = {item, item};
        uint32_t left = open[depth].cuts;
        double length[2];
        float plane = 0.0f;
        int level, axis = left > 0 ? choose_plane(s, &item, &plane, &level) : -1;
        bool both;

        if (axis < 0) {
            out[done++] = item;
            continue;
        }
        side[0].hi[axis] = plane;
        side[1].lo[axis] = plane;
        both = shrink(s->level, whole, &side[0]) && shrink(s->level, whole, &side[1]);
        if (!both) { /* nothing on one side: the cut was for nothing */
            out[done++] = item;
            continue;
        }
        for (int i = 0; i < 2; i++) {
            length[i] = 0.0;
            for (int k = 0; k < 3; k++) {
                length[i] = fmax(length[i], (double)side[i].hi[k] - (double)side[i].lo[k]);
            }
        }
        left--;
        open[depth].item = side[1];
        open[depth].cuts = (uint32_t)(left * (length[1] / (length[0] + length[1])) + 0.5);
        open[depth + 1].item = side[0];
        open[depth + 1].cuts = left - open[depth].cuts;
        depth += 2;
    }
    return done;
}

static void cut_items(void *context, size_t begin, size_t end)
{
    struct splitter *s = context;

    for (size_t i = begin; i < end; i++) {
        const uint32_t room = s->first[i + 1] - s->first[i];
        struct facet_bvh_item *out = s->parts + s->first[i];
        uint32_t count = cut_item(s, (uint32_t)i, out);

        while (count < room) { /* cuts that were for nothing leave gaps, closed afterwards */
            out[count++].weight = 0;
        }
    }
}

/* ---- all of it ---- */

/* The level in PARTS stretches, whatever the threads are, so that the sum of areas has the same
 * bits. */
#define PARTS 64

struct extent {
    double lo[3], hi[3], area;
};

struct measuring {
    const struct facet_level *level;
    struct extent part[PARTS];
};

static void measure_parts(void *context, size_t begin, size_t end)
{
    struct measuring *m = context;
    const struct facet_level *level = m->level;

    for (size_t p = begin; p < end; p++) {
        const uint64_t count = level->item_count;
        struct extent e = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0.0};

        for (uint64_t i = count * p / PARTS; i < count * (p + 1) / PARTS; i++) {
            e.area += facet_bvh_box_area(level->items[i].lo, level->items[i].hi);
            for (int k = 0; k < 3; k++) {
                e.lo[k] = fmin(e.lo[k], (double)level->items[i].lo[k]);
                e.hi[k] = fmax(e.hi[k], (double)level->items[i].hi[k]);
            }
        }
        m->part[p] = e;
    }
}

static void measure(struct splitter *s, struct wish_job *job, facet_pool *pool)
{
    struct measuring m = {.level = s->level};
    struct extent whole;

    facet_pool_for(pool, PARTS, 1, measure_parts, &m);
    whole = m.part[0];
    for (int p = 1; p < PARTS; p++) {
        whole.area += m.part[p].area;
        for (int k = 0; k < 3; k++) {
            whole.lo[k] = fmin(whole.lo[k], m.part[p].lo[k]);
            whole.hi[k] = fmax(whole.hi[k], m.part[p].hi[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        s->origin[k] = whole.lo[k];
        s->extent[k] = whole.hi[k] - whole.lo[k];
    }
    job->average = whole.area / s->level->item_count;
}

static void replace_items(struct facet_level *level, struct splitter *s)
{
    const uint32_t total = s->first[level->item_count];
    uint32_t count = 0;

    for (uint32_t i = 0; i < total; i++) {
        if (s->parts[i].weight != 0) {
            s->parts[count++] = s->parts[i];
        }
    }
    free(level->items);
    free(level->spare); /* made for fewer */
    level->spare = NULL;
    level->items = s->parts;
    level->item_count = count;
    s->parts = NULL;
}

enum facet_status
facet_gfx12_level_split(struct facet_level *level, facet_pool *pool, struct facet_error *err)
{
    const uint32_t count = level->item_count;
    struct splitter s = {.level = level};
    struct wish_job job = {.s = &s};
    bool good;

    s.wish = facet_large_alloc(count * sizeof *s.wish);
    s.first = facet_large_alloc(((size_t)count + 1) * sizeof *s.first);
    good = s.wish != NULL && s.first != NULL;
    if (good) {
        measure(&s, &job, pool);
        facet_pool_for(pool, count, 4096, make_wishes, &job);
        choose_scale(&s);
        s.first[0] = 0;
        for (uint32_t i = 0; i < count; i++) {
            s.first[i + 1] = s.first[i] + 1 + cuts(&s, i);
        }
    }
    if (good && s.first[count] > count) {
        s.parts = facet_large_alloc(s.first[count] * sizeof *s.parts);
        good = s.parts != NULL;
        if (good) {
            facet_pool_for(pool, count, 1024, cut_items, &s);
            replace_items(level, &s);
        }
    }
    free(s.wish);
    free(s.first);
    free(s.parts);
    return good ? FACET_OK
                : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to cut %u boxes", count);
}

/* A leaf that has several parts of an item needs it once. */
static void join_leaves(void *context, size_t begin, size_t end)
{
    struct facet_level *level = context;

    for (size_t n = begin; n < end; n++) {
        struct facet_wide_node *node = &level->wide.nodes[n];

        for (unsigned c = node->inner; c < node->count; c++) {
            uint32_t *ids = level->ids + node->child[c].first;
            uint32_t count = 0;

            for (uint32_t i = 0; i < node->child[c].count; i++) {
                uint32_t same = 0;

                while (same < count && ids[same] != ids[i]) {
                    same++;
                }
                ids[same] = ids[i];
                count += same == count;
            }
            node->child[c].count = count;
        }
    }
}

void facet_gfx12_level_join(struct facet_level *level, facet_pool *pool)
{
    facet_pool_for(pool, level->wide.count, 1024, join_leaves, level);
}
