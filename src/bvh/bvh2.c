/* The binned builder of section 12.2.
 *
 * Ranges of items are split until they are leaves. A range of n items owns 2n - 1
 * consecutive node slots: its own node comes first, then the left part's slots, then the right
 * part's. Slots therefore never depend on the order of work, and subtrees can be built in parallel
 * without talking to each other. The price is unused slots where a leaf holds several items.
 *
 * Speed comes from three things: items are moved, not indexed (each pass reads memory in order);
 * the boxes of both children fall out of the bins; and ranges of up to SMALL items, where most of
 * the nodes are, sort their bin numbers instead of sweeping 16 bins per axis. Ranges larger than a
 * grain are binned and partitioned in parallel, chunk by chunk; minima, maxima and counts do not
 * depend on how the items were cut. */
#include "bvh/bvh2.h"

#include "base/array.h"
#include "base/large.h"
#include "bvh/lanes.h"

#include <math.h>
#include <stdlib.h>

#define BINS 16
#define SMALL 16
#define CHUNK 4096

struct bounds {
    struct lanes lo, hi;
};

/* A range waiting to become a subtree, with the bounds of its doubled centres. */
struct range {
    uint32_t begin, end;
    uint32_t slot; /* of its node */
    struct bounds centres;
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
    double cost;
    int axis;      /* -1: no candidate */
    int first_bin; /* bins below go left */
};

struct builder {
    struct facet_bvh_item *items;
    struct facet_bvh_item *scratch;
    struct facet_bvh2_node *nodes;
    uint32_t max_leaf;
    struct facet_progress *progress;
};

static inline struct bounds bounds_empty(void)
{
    return (struct bounds){lanes_splat(INFINITY), lanes_splat(-INFINITY)};
}

static void bounds_join(struct bounds *a, struct lanes lo, struct lanes hi)
{
    a->lo = lanes_min(a->lo, lo);
    a->hi = lanes_max(a->hi, hi);
}

static double bounds_area(struct bounds a)
{
    return lanes_area(a.lo, a.hi);
}

static struct lanes item_centre(const struct facet_bvh_item *item)
{
    return lanes_add(lanes_load3(item->lo), lanes_load3(item->hi));
}

/* An axis is skipped when its centres do not differ, differ by so little that 16 / range overflows,
 * or (R-G12-56) differ by an infinity. */
static struct grid make_grid(struct bounds centres)
{
    struct grid grid = {.base = centres.lo};

    grid.scale = lanes_scale(centres.lo, centres.hi, grid.mask);
    return grid;
}

static void consider(struct split *best, double cost, int axis, int first_bin)
{
    if (best->axis < 0 || cost < best->cost) {
        *best = (struct split){cost, axis, first_bin};
    }
}

/* ---- ranges of more than SMALL items: 16 bins per axis ---- */

static void bins_clear(struct bins *bins)
{
    for (int k = 0; k < 3; k++) {
        for (int b = 0; b < BINS; b++) {
            bins->box[k][b] = bounds_empty();
            bins->count[k][b] = 0;
        }
    }
}

/* Starts with empty bins. That is done here and not by the callers because GCC 12.2 at -O1 drops a
 * call whose only effect is to fill a local struct that another call then reads and writes. */
static void bins_fill(struct bins *bins,
                      const struct grid *grid,
                      const struct facet_bvh_item *items,
                      uint32_t begin,
                      uint32_t end)
{
    bins_clear(bins);
    for (uint32_t i = begin; i < end; i++) {
        struct lanes lo = lanes_load3(items[i].lo);
        struct lanes hi = lanes_load3(items[i].hi);
        _Alignas(16) int32_t b[4];

        lanes_bins(lanes_add(lo, hi), grid->base, grid->scale, grid->mask, b);
        for (int k = 0; k < 3; k++) {
            bounds_join(&bins->box[k][b[k]], lo, hi);
            bins->count[k][b[k]]++;
        }
    }
}

static void bins_join(struct bins *into, const struct bins *from)
{
    for (int k = 0; k < 3; k++) {
        for (int b = 0; b < BINS; b++) {
            bounds_join(&into->box[k][b], from->box[k][b].lo, from->box[k][b].hi);
            into->count[k][b] += from->count[k][b];
        }
    }
}

/* A split after an empty bin makes the same two parts as the split before it, so only splits after
 * occupied bins are looked at; the first minimum is kept either way. */
static struct split bins_best(const struct bins *bins, const struct grid *grid, uint32_t total)
{
    struct split best = {0.0, -1, 0};

    for (int k = 0; k < 3; k++) {
        double right_area[BINS];
        struct bounds box = bounds_empty();
        uint32_t left = 0;

        if (grid->mask[k] == 0) {
            continue;
        }
        for (int b = BINS - 1; b > 0; b--) {
            if (bins->count[k][b] != 0) {
                bounds_join(&box, bins->box[k][b].lo, bins->box[k][b].hi);
                right_area[b] = bounds_area(box);
            } else if (b < BINS - 1) {
                right_area[b] = right_area[b + 1];
            } else {
                right_area[b] = 0.0; /* never used: nothing lies right of it */
            }
        }
        box = bounds_empty();
        for (int b = 0; b < BINS - 1; b++) {
            if (bins->count[k][b] == 0) {
                continue;
            }
            bounds_join(&box, bins->box[k][b].lo, bins->box[k][b].hi);
            left += bins->count[k][b];
            if (left == total) {
                break;
            }
            consider(&best,
                     bounds_area(box) * (double)left + right_area[b + 1] * (double)(total - left),
                     k,
                     b + 1);
        }
    }
    return best;
}

/* ---- ranges of up to SMALL items: sorted bin numbers ---- */

struct small {
    struct bounds box[SMALL];
    _Alignas(16) int32_t bin[SMALL][4];
};

static void small_load(struct small *s,
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
}

static struct split small_best(const struct small *s, uint32_t count, const struct grid *grid)
{
    struct split best = {0.0, -1, 0};

    for (int k = 0; k < 3; k++) {
        uint8_t key[SMALL]; /* bin number and item, ascending */
        double right_area[SMALL];
        struct bounds box;

        if (grid->mask[k] == 0) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            uint8_t x = (uint8_t)(s->bin[i][k] << 4 | (int32_t)i);
            uint32_t j = i;

            for (; j > 0 && key[j - 1] > x; j--) {
                key[j] = key[j - 1];
            }
            key[j] = x;
        }
        box = s->box[key[count - 1] & 15];
        for (uint32_t i = count - 1; i > 0; i--) {
            if (key[i - 1] >> 4 != key[i] >> 4) {
                right_area[i] = bounds_area(box);
            }
            bounds_join(&box, s->box[key[i - 1] & 15].lo, s->box[key[i - 1] & 15].hi);
        }
        box = s->box[key[0] & 15];
        for (uint32_t i = 1; i < count; i++) {
            if (key[i - 1] >> 4 != key[i] >> 4) {
                consider(&best,
                         bounds_area(box) * (double)i + right_area[i] * (double)(count - i),
                         k,
                         (key[i - 1] >> 4) + 1);
            }
            bounds_join(&box, s->box[key[i] & 15].lo, s->box[key[i] & 15].hi);
        }
    }
    return best;
}

/* The stable partition with bins that are already known. */
static uint32_t small_partition(const struct small *s,
                                struct facet_bvh_item *items,
                                uint32_t count,
                                struct split split,
                                struct bounds centres[2])
{
    struct facet_bvh_item right[SMALL];
    uint32_t lefts = 0, rights = 0;

    centres[0] = centres[1] = bounds_empty();
    for (uint32_t i = 0; i < count; i++) {
        struct lanes c = lanes_add(s->box[i].lo, s->box[i].hi);

        if (s->bin[i][split.axis] < split.first_bin) {
            items[lefts++] = items[i];
            bounds_join(&centres[0], c, c);
        } else {
            right[rights++] = items[i];
            bounds_join(&centres[1], c, c);
        }
    }
    memcpy(items + lefts, right, rights * sizeof *right);
    return lefts;
}

/* ---- partition ---- */

/* Stable, in place with the right part passing through the scratch. Returns the first right item
 * and the centre bounds of both parts. */
static uint32_t partition(struct builder *b,
                          const struct range *range,
                          const struct grid *grid,
                          struct split split,
                          struct bounds centres[2])
{
    struct facet_bvh_item *items = b->items;
    struct facet_bvh_item *right = b->scratch + range->begin;
    uint32_t left_end = range->begin;
    uint32_t rights = 0;
    struct bounds l = bounds_empty(), r = bounds_empty();

    for (uint32_t i = range->begin; i < range->end; i++) {
        struct facet_bvh_item item = items[i];
        struct lanes c = item_centre(&item);
        _Alignas(16) int32_t bin[4];

        lanes_bins(c, grid->base, grid->scale, grid->mask, bin);
        if (bin[split.axis] < split.first_bin) {
            items[left_end++] = item;
            bounds_join(&l, c, c);
        } else {
            right[rights++] = item;
            bounds_join(&r, c, c);
        }
    }
    memcpy(items + left_end, right, rights * sizeof *right);
    centres[0] = l;
    centres[1] = r;
    return left_end;
}

static struct bounds centre_bounds(const struct facet_bvh_item *items, uint32_t begin, uint32_t end)
{
    struct bounds box = bounds_empty();

    for (uint32_t i = begin; i < end; i++) {
        struct lanes c = item_centre(&items[i]);

        bounds_join(&box, c, c);
    }
    return box;
}

/* Section 12.2 step 4: the first half, rounded up, goes left. */
static uint32_t halve(const struct range *range)
{
    return range->begin + (range->end - range->begin + 1) / 2;
}

/* ---- nodes ---- */

static void store_bounds(struct facet_bvh2_node *node, struct lanes lo, struct lanes hi)
{
    uint32_t child0 = node->child0;
    uint32_t child1 = node->child1;

    lanes_store(node->lo, lo);
    lanes_store(node->hi, hi);
    node->child0 = child0;
    node->child1 = child1;
}

static void make_leaf(struct builder *b, const struct range *range)
{
    struct facet_bvh2_node *node = &b->nodes[range->slot];
    const struct facet_bvh_item *items = b->items;
    uint32_t count = range->end - range->begin;
    struct lanes lo = lanes_load3(items[range->begin].lo);
    struct lanes hi = lanes_load3(items[range->begin].hi);

    for (uint32_t i = range->begin + 1; i < range->end; i++) {
        lo = lanes_min_exact(lo, lanes_load3(items[i].lo));
        hi = lanes_max_exact(hi, lanes_load3(items[i].hi));
    }
    node->child0 = FACET_BVH2_LEAF | range->begin;
    node->child1 = count;
    store_bounds(node, lo, hi);
    for (uint32_t i = 1; i < 2 * count - 1; i++) {
        node[i].child0 = FACET_BVH2_UNUSED;
    }
}

/* Writes the inner node and gives the two parts their ranges. */
static void make_inner(struct builder *b,
                       const struct range *range,
                       uint32_t middle,
                       const struct bounds centres[2],
                       struct range part[2])
{
    struct facet_bvh2_node *node = &b->nodes[range->slot];

    part[0] = (struct range){range->begin, middle, range->slot + 1, centres[0]};
    part[1] =
        (struct range){middle, range->end, range->slot + 2 * (middle - range->begin), centres[1]};
    node->child0 = part[0].slot;
    node->child1 = part[1].slot;
}

/* Children come after their parent, so one backward pass joins the boxes. */
static void join_boxes(struct facet_bvh2_node *nodes, uint32_t begin, uint32_t end)
{
    for (uint32_t i = end; i-- > begin;) {
        struct facet_bvh2_node *node = &nodes[i];
        const struct facet_bvh2_node *l, *r;

        if (facet_bvh2_is_leaf(node)) {
            continue;
        }
        l = &nodes[node->child0];
        r = &nodes[node->child1];
        store_bounds(node,
                     lanes_min_exact(lanes_load3(l->lo), lanes_load3(r->lo)),
                     lanes_max_exact(lanes_load3(l->hi), lanes_load3(r->hi)));
    }
}

/* ---- one subtree on one thread ---- */

/* Returns the first item of the right part. */
static uint32_t split_small(struct builder *b, const struct range *range, struct bounds centres[2])
{
    struct facet_bvh_item *items = b->items + range->begin;
    uint32_t count = range->end - range->begin;
    struct grid grid = make_grid(range->centres);
    struct small small;
    struct split split;

    small_load(&small, items, count, &grid);
    split = small_best(&small, count, &grid);
    return split.axis >= 0 ? range->begin + small_partition(&small, items, count, split, centres)
                           : range->begin;
}

static uint32_t split_large(struct builder *b, const struct range *range, struct bounds centres[2])
{
    struct grid grid = make_grid(range->centres);
    struct split split;
    struct bins bins;

    bins_fill(&bins, &grid, b->items, range->begin, range->end);
    split = bins_best(&bins, &grid, range->end - range->begin);
    return split.axis >= 0 ? partition(b, range, &grid, split, centres) : range->begin;
}

static void split_range(struct builder *b, const struct range *range, struct range part[2])
{
    struct bounds centres[2];
    uint32_t middle = range->end - range->begin <= SMALL ? split_small(b, range, centres)
                                                         : split_large(b, range, centres);

    if (middle == range->begin) { /* no candidate */
        middle = halve(range);
        centres[0] = centre_bounds(b->items, range->begin, middle);
        centres[1] = centre_bounds(b->items, middle, range->end);
    }
    make_inner(b, range, middle, centres, part);
}

static uint32_t range_count(const struct range *range)
{
    return range->end - range->begin;
}

/* Goes on with the smaller part and remembers the larger one: 32 entries are enough for 2^31 items,
 * however lopsided the tree. */
static void build_subtree(struct builder *b, const struct range *root)
{
    struct range stack[32];
    unsigned depth = 0;
    uint32_t finished = 0;
    struct range range = *root;

    for (;;) {
        struct range part[2];
        unsigned large;

        if (range_count(&range) <= b->max_leaf) {
            make_leaf(b, &range);
            finished += range_count(&range);
            if (finished >= CHUNK) {
                facet_progress_add(b->progress, finished);
                finished = 0;
            }
            if (depth == 0) {
                break;
            }
            range = stack[--depth];
            continue;
        }
        split_range(b, &range, part);
        large = range_count(&part[0]) < range_count(&part[1]);
        stack[depth++] = part[large];
        range = part[1 - large];
    }
    join_boxes(b->nodes, root->slot, root->slot + 2 * range_count(root) - 1);
    facet_progress_add(b->progress, finished);
}

/* ---- the top of the tree: one range at a time, in parallel chunks ---- */

struct chunk {
    struct bins bins;
    struct bounds centres[2];
    uint32_t left;       /* items of this chunk that go left */
    uint32_t left_start; /* where they go, relative to the range */
    uint32_t right_start;
};

struct top {
    struct builder *builder;
    const struct range *range;
    struct grid grid;
    struct split split;
    struct chunk *chunks;
};

static void chunk_bins(void *context, size_t begin, size_t end)
{
    struct top *top = context;
    struct chunk *chunk = &top->chunks[begin / CHUNK];
    uint32_t base = top->range->begin;

    bins_fill(&chunk->bins,
              &top->grid,
              top->builder->items,
              base + (uint32_t)begin,
              base + (uint32_t)end);
}

/* What goes left is known from the chunk's own bins. */
static void place_chunks(struct top *top, uint32_t chunks, uint32_t lefts)
{
    uint32_t left = 0, right = lefts;
    uint32_t count = range_count(top->range);

    for (uint32_t c = 0; c < chunks; c++) {
        struct chunk *chunk = &top->chunks[c];
        uint32_t size = c + 1 < chunks ? CHUNK : count - c * CHUNK;

        chunk->left = 0;
        for (int b = 0; b < top->split.first_bin; b++) {
            chunk->left += chunk->bins.count[top->split.axis][b];
        }
        chunk->left_start = left;
        chunk->right_start = right;
        left += chunk->left;
        right += size - chunk->left;
    }
}

static void chunk_scatter(void *context, size_t begin, size_t end)
{
    struct top *top = context;
    struct chunk *chunk = &top->chunks[begin / CHUNK];
    const struct facet_bvh_item *items = top->builder->items + top->range->begin;
    struct facet_bvh_item *out = top->builder->scratch + top->range->begin;
    struct facet_bvh_item *left = out + chunk->left_start;
    struct facet_bvh_item *right = out + chunk->right_start;

    chunk->centres[0] = bounds_empty();
    chunk->centres[1] = bounds_empty();
    for (size_t i = begin; i < end; i++) {
        struct lanes c = item_centre(&items[i]);
        _Alignas(16) int32_t bin[4];

        lanes_bins(c, top->grid.base, top->grid.scale, top->grid.mask, bin);
        if (bin[top->split.axis] < top->split.first_bin) {
            *left++ = items[i];
            bounds_join(&chunk->centres[0], c, c);
        } else {
            *right++ = items[i];
            bounds_join(&chunk->centres[1], c, c);
        }
    }
}

static void chunk_copy_back(void *context, size_t begin, size_t end)
{
    struct top *top = context;
    uint32_t base = top->range->begin;

    memcpy(top->builder->items + base + begin,
           top->builder->scratch + base + begin,
           (end - begin) * sizeof *top->builder->items);
}

static void
split_parallel(struct top *top, facet_pool *pool, const struct range *range, struct range part[2])
{
    uint32_t count = range_count(range);
    uint32_t chunks = (count + CHUNK - 1) / CHUNK;
    struct bounds centres[2] = {bounds_empty(), bounds_empty()};
    struct bins all;
    uint32_t lefts = 0;

    top->range = range;
    top->grid = make_grid(range->centres);
    facet_pool_for(pool, count, CHUNK, chunk_bins, top);
    all = top->chunks[0].bins;
    for (uint32_t c = 1; c < chunks; c++) {
        bins_join(&all, &top->chunks[c].bins);
    }
    top->split = bins_best(&all, &top->grid, count);
    if (top->split.axis < 0) {
        split_range(top->builder, range, part);
        return;
    }
    for (int b = 0; b < top->split.first_bin; b++) {
        lefts += all.count[top->split.axis][b];
    }
    place_chunks(top, chunks, lefts);
    facet_pool_for(pool, count, CHUNK, chunk_scatter, top);
    facet_pool_for(pool, count, CHUNK, chunk_copy_back, top);
    for (uint32_t c = 0; c < chunks; c++) {
        for (int side = 0; side < 2; side++) {
            const struct bounds *from = &top->chunks[c].centres[side];

            bounds_join(&centres[side], from->lo, from->hi);
        }
    }
    make_inner(top->builder, range, range->begin + lefts, centres, part);
}

struct subtrees {
    struct builder *builder;
    const struct range *ranges;
};

static void build_subtrees(void *context, size_t begin, size_t end)
{
    const struct subtrees *job = context;

    for (size_t i = begin; i < end; i++) {
        build_subtree(job->builder, &job->ranges[i]);
    }
}

/* `list` first holds ranges to split and ends as the list of subtrees: splitting a range replaces
 * it by its two parts. The limit depends on the item count alone. */
static enum facet_status build_parallel(struct builder *b,
                                        facet_pool *pool,
                                        const struct range *root,
                                        struct facet_error *err)
{
    uint32_t count = range_count(root);
    uint32_t limit = count / 128 > CHUNK ? count / 128 : CHUNK;
    struct top top = {.builder = b};
    struct range *list = malloc(64 * sizeof *list);
    size_t capacity = 64, length = 1, done = 0, splits = 0;
    uint32_t *inner = NULL; /* slots of the nodes made here, in order */
    size_t inner_capacity = 0;
    enum facet_status status = FACET_ERR_MEMORY;

    top.chunks = aligned_alloc(16, ((size_t)count / CHUNK + 1) * sizeof *top.chunks);
    if (list == NULL || top.chunks == NULL) {
        goto out;
    }
    list[0] = *root;
    while (done < length) {
        struct range part[2];

        if (range_count(&list[done]) <= limit) {
            done++;
            continue;
        }
        if (!facet_array_fit(&list, &capacity, length + 1, sizeof *list) ||
            !facet_array_fit(&inner, &inner_capacity, splits + 1, sizeof *inner)) {
            goto out;
        }
        inner[splits++] = list[done].slot;
        split_parallel(&top, pool, &list[done], part);
        list[done] = part[0];
        list[length++] = part[1];
    }
    facet_pool_for(pool, length, 1, build_subtrees, &(struct subtrees){b, list});
    /* A parent was made before its children. */
    while (splits-- > 0) {
        join_boxes(b->nodes, inner[splits], inner[splits] + 1);
    }
    status = FACET_OK;
out:
    free(list);
    free(inner);
    free(top.chunks);
    return status == FACET_OK ? FACET_OK
                              : facet_fail(err, status, 0, "no memory for %u BVH items", count);
}

enum facet_status facet_bvh2_build(struct facet_bvh_item *items,
                                   uint32_t count,
                                   uint32_t max_leaf,
                                   facet_pool *pool,
                                   struct facet_progress *progress,
                                   struct facet_bvh2 *out,
                                   struct facet_error *err)
{
    struct builder b = {items, NULL, NULL, max_leaf, progress};
    struct range root = {.end = count};
    enum facet_status status = FACET_OK;

    *out = (struct facet_bvh2){NULL, 0};
    if (count == 0 || count > FACET_BVH_MAX_ITEMS || max_leaf == 0) {
        return facet_fail(err, FACET_ERR_LIMIT, count, "%u items: expected 1 .. 2^30", count);
    }
    b.nodes = facet_large_alloc((2 * (size_t)count - 1) * sizeof *b.nodes);
    b.scratch = facet_large_alloc((size_t)count * sizeof *b.scratch);
    if (b.nodes == NULL || b.scratch == NULL) {
        free(b.nodes);
        free(b.scratch);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u BVH items", count);
    }
    root.centres = centre_bounds(items, 0, count);
    if (pool == NULL || facet_pool_threads(pool) == 1 || count <= CHUNK) {
        build_subtree(&b, &root);
    } else {
        status = build_parallel(&b, pool, &root, err);
    }
    free(b.scratch);
    if (status != FACET_OK) {
        free(b.nodes);
        return status;
    }
    out->nodes = b.nodes;
    out->node_slots = 2 * count - 1;
    return FACET_OK;
}

void facet_bvh2_free(struct facet_bvh2 *tree)
{
    free(tree->nodes);
    *tree = (struct facet_bvh2){NULL, 0};
}
