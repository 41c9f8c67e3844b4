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
#include "base/avx2.h"
#include "base/large.h"
#include "bvh/split_avx2.h"

#include <stdatomic.h>
#include <stdlib.h>

#define CHUNK 4096

/* A range waiting to become a subtree, with the bounds of its doubled centres. */
struct range {
    uint32_t begin, end;
    uint32_t slot;  /* of its node */
    uint32_t where; /* which of the builder's arrays has its items */
    struct bounds centres;
};

struct builder {
    struct facet_bvh_item *items[2]; /* [0] in the end; a partition moves items to the other one */
    struct facet_bvh2_node *nodes;
    uint32_t max_leaf;
    struct facet_progress *progress;
    _Atomic uint32_t *finished; /* items per large page of items[1], or NULL */
    bool avx2;
};

#define PAGE_ITEMS (FACET_LARGE_PAGE / sizeof(struct facet_bvh_item))
#define MANY (UINT32_C(1) << 20) /* items that are worth being economical with */

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

static struct bounds centre_bounds(const struct facet_bvh_item *items, uint32_t begin, uint32_t end)
{
    struct bounds box = bounds_empty();

    for (uint32_t i = begin; i < end; i++) {
        struct lanes c = item_centre(&items[i]);

        bounds_join(&box, c, c);
    }
    return box;
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

/* A leaf has at most SMALL items, which are in the first array. */
static void make_leaf(struct builder *b, const struct range *range)
{
    struct facet_bvh2_node *node = &b->nodes[range->slot];
    const struct facet_bvh_item *items = b->items[0];
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
        if (i <= count) {
            memcpy(node[i].lo, items[range->begin + i - 1].lo, sizeof node[i].lo);
            memcpy(node[i].hi, items[range->begin + i - 1].hi, sizeof node[i].hi);
        }
        node[i].child0 = FACET_BVH2_UNUSED;
    }
}

/* Gives the two parts their ranges. */
static void cut_range(const struct range *range,
                      uint32_t middle,
                      uint32_t where,
                      const struct bounds centres[2],
                      struct range part[2])
{
    part[0] = (struct range){range->begin, middle, range->slot + 1, where, centres[0]};
    part[1] = (struct range){
        middle, range->end, range->slot + 2 * (middle - range->begin), where, centres[1]};
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

static uint32_t range_count(const struct range *range)
{
    return range->end - range->begin;
}

/* Small ranges and leaves live in the first array. */
static void bring_home(struct builder *b, struct range *range)
{
    if (range->where != 0) {
        memcpy(b->items[0] + range->begin,
               b->items[1] + range->begin,
               range_count(range) * sizeof *b->items[0]);
        range->where = 0;
    }
}

/* Section 12.2 step 4: the first half, rounded up, goes left. */
static void split_halves(struct builder *b, const struct range *range, struct range part[2])
{
    const uint32_t middle = range->begin + (range_count(range) + 1) / 2;
    const struct facet_bvh_item *items = b->items[range->where];
    const struct bounds centres[2] = {centre_bounds(items, range->begin, middle),
                                      centre_bounds(items, middle, range->end)};

    cut_range(range, middle, range->where, centres, part);
}

/* The lowest centre lies in bin 0 and the highest in bin 15 of every axis that can be split, all of
 * them at the same cost: the first axis parts two items, the lower one goes left. */
static void split_two(struct builder *b, const struct range *range, struct range part[2])
{
    struct facet_bvh_item *items = b->items[0] + range->begin;
    struct lanes c[2] = {item_centre(&items[0]), item_centre(&items[1])};
    _Alignas(16) int32_t usable[4];
    int axis = 0;

    (void)lanes_scale(range->centres.lo, range->centres.hi, usable);
    while (axis < 3 && usable[axis] == 0) {
        axis++;
    }
    if (axis < 3 && lanes_get(c[1], axis) < lanes_get(c[0], axis)) {
        const struct facet_bvh_item first = items[0];
        const struct lanes centre = c[0];

        items[0] = items[1];
        items[1] = first;
        c[0] = c[1];
        c[1] = centre;
    }
    cut_range(range, range->begin + 1, 0, (struct bounds[2]){{c[0], c[0]}, {c[1], c[1]}}, part);
}

static void split_small(struct builder *b, const struct range *range, struct range part[2])
{
    struct facet_bvh_item *items = b->items[0] + range->begin;
    uint32_t count = range_count(range);
    struct grid grid = make_grid(range->centres);
    struct bounds centres[2];
    struct small small;
    struct split split;
    uint32_t middle;

    small_load(&small, items, count, &grid);
    split = small_best(&small, count, &grid);
    if (split.axis < 0) {
        split_halves(b, range, part);
        return;
    }
    middle = range->begin + small_partition(&small, items, count, split, centres);
    cut_range(range, middle, 0, centres, part);
}

static uint32_t count_left(const struct bins *bins, struct split split)
{
    uint32_t lefts = 0;

    for (int bin = 0; bin < split.first_bin; bin++) {
        lefts += bins->count[split.axis][bin];
    }
    return lefts;
}

static void split_large(struct builder *b, const struct range *range, struct range part[2])
{
    const struct facet_bvh_item *items = b->items[range->where];
    struct grid grid = make_grid(range->centres);
    struct parting parting = {.to = b->items[1 - range->where]};
    struct split split;
    struct bins bins;
    uint32_t middle;

    (b->avx2 ? bins_fill_avx2 : bins_fill)(&bins, &grid, items, range->begin, range->end);
    split = bins_best(&bins, &grid, range_count(range));
    if (split.axis < 0) {
        split_halves(b, range, part);
        return;
    }
    middle = range->begin + count_left(&bins, split);
    parting.next[0] = range->begin;
    parting.next[1] = middle;
    (b->avx2 ? part_items_avx2
             : part_items)(&parting, &grid, split, items + range->begin, range_count(range));
    cut_range(range, middle, 1 - range->where, parting.centres, part);
}

static void split_range(struct builder *b, struct range *range, struct range part[2])
{
    if (range_count(range) > SMALL) {
        split_large(b, range, part);
        return;
    }
    bring_home(b, range);
    if (range_count(range) == 2) {
        split_two(b, range, part);
    } else {
        split_small(b, range, part);
    }
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
            bring_home(b, &range);
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
        b->nodes[range.slot].child0 = part[0].slot;
        b->nodes[range.slot].child1 = part[1].slot;
        large = range_count(&part[0]) < range_count(&part[1]);
        stack[depth++] = part[large];
        range = part[1 - large];
    }
    join_boxes(b->nodes, root->slot, root->slot + 2 * range_count(root) - 1);
    facet_progress_add(b->progress, finished);
}

FACET_AVX2 static void build_subtree_avx2(struct builder *b, const struct range *root)
{
    build_subtree(b, root);
}

static void build_one(struct builder *b, const struct range *root)
{
    (b->avx2 ? build_subtree_avx2 : build_subtree)(b, root);
}

/* ---- the top of the tree: one range at a time, in parallel chunks ---- */

struct chunk {
    struct bins bins;
    struct parting parting;
};

struct top {
    struct builder *builder;
    const struct range *range;
    struct grid grid;
    struct split split;
    struct chunk *chunks;
};

static const struct facet_bvh_item *chunk_items(const struct top *top, size_t begin)
{
    return top->builder->items[top->range->where] + top->range->begin + begin;
}

static void chunk_centres(void *context, size_t begin, size_t end)
{
    struct top *top = context;

    top->chunks[begin / CHUNK].parting.centres[0] =
        centre_bounds(chunk_items(top, begin), 0, (uint32_t)(end - begin));
}

static void chunk_bins(void *context, size_t begin, size_t end)
{
    struct top *top = context;

    (top->builder->avx2 ? bins_fill_avx2 : bins_fill)(&top->chunks[begin / CHUNK].bins,
                                                      &top->grid,
                                                      chunk_items(top, begin),
                                                      0,
                                                      (uint32_t)(end - begin));
}

/* What goes left is known from the chunk's own bins. */
static void place_chunks(struct top *top, uint32_t chunks, uint32_t middle)
{
    uint32_t next[2] = {top->range->begin, middle};
    uint32_t left_over = range_count(top->range);

    for (uint32_t c = 0; c < chunks; c++) {
        struct chunk *chunk = &top->chunks[c];
        const uint32_t lefts = count_left(&chunk->bins, top->split);
        const uint32_t size = left_over < CHUNK ? left_over : CHUNK;

        chunk->parting.to = top->builder->items[1 - top->range->where];
        chunk->parting.next[0] = next[0];
        chunk->parting.next[1] = next[1];
        next[0] += lefts;
        next[1] += size - lefts;
        left_over -= size;
    }
}

static void chunk_part(void *context, size_t begin, size_t end)
{
    struct top *top = context;

    (top->builder->avx2 ? part_items_avx2 : part_items)(&top->chunks[begin / CHUNK].parting,
                                                        &top->grid,
                                                        top->split,
                                                        chunk_items(top, begin),
                                                        (uint32_t)(end - begin));
}

static struct bounds join_centres(const struct top *top, uint32_t chunks, int side)
{
    struct bounds all = bounds_empty();

    for (uint32_t c = 0; c < chunks; c++) {
        const struct bounds *from = &top->chunks[c].parting.centres[side];

        bounds_join(&all, from->lo, from->hi);
    }
    return all;
}

static void
split_parallel(struct top *top, facet_pool *pool, const struct range *range, struct range part[2])
{
    const uint32_t count = range_count(range);
    const uint32_t chunks = (count + CHUNK - 1) / CHUNK;
    struct bounds centres[2];
    struct bins all;
    uint32_t middle;

    top->range = range;
    top->grid = make_grid(range->centres);
    facet_pool_for(pool, count, CHUNK, chunk_bins, top);
    all = top->chunks[0].bins;
    for (uint32_t c = 1; c < chunks; c++) {
        bins_join(&all, &top->chunks[c].bins);
    }
    top->split = bins_best(&all, &top->grid, count);
    if (top->split.axis < 0) {
        split_halves(top->builder, range, part);
        return;
    }
    middle = range->begin + count_left(&all, top->split);
    place_chunks(top, chunks, middle);
    facet_pool_for(pool, count, CHUNK, chunk_part, top);
    centres[0] = join_centres(top, chunks, 0);
    centres[1] = join_centres(top, chunks, 1);
    cut_range(range, middle, 1 - range->where, centres, part);
}

/* ---- subtrees side by side ---- */

/* A node above the subtrees. It is written when they are there: these nodes lie far apart, and
 * would touch all the pages of the tree before it needs them. */
struct inner {
    uint32_t slot;
    uint32_t child[2];
};

/* The ranges to be split, and in the end the subtrees: splitting a range replaces it by its two
 * parts. `inner` has the nodes above, parents before children. */
struct ranges {
    struct range *list;
    struct inner *inner;
    size_t count, room;
    size_t splits, inner_room;
};

struct side_by_side {
    struct builder *builder;
    struct range *ranges;
    struct range (*parts)[2];
    uint32_t limit;
};

/* A finished subtree has no use for its part of the second array, while the nodes grow: a page goes
 * back when all of its items are finished. */
static void give_back(struct builder *b, const struct range *range)
{
    for (size_t at = range->begin; b->finished != NULL && at < range->end;) {
        const size_t page = at / PAGE_ITEMS, end = (page + 1) * PAGE_ITEMS;
        const size_t here = (range->end < end ? range->end : end) - at;

        if (atomic_fetch_add(&b->finished[page], (uint32_t)here) + here == PAGE_ITEMS) {
            facet_large_release(
                b->items[1], page * FACET_LARGE_PAGE, (page + 1) * FACET_LARGE_PAGE);
        }
        at += here;
    }
}

static void build_subtrees(void *context, size_t begin, size_t end)
{
    const struct side_by_side *job = context;

    for (size_t i = begin; i < end; i++) {
        build_one(job->builder, &job->ranges[i]);
        give_back(job->builder, &job->ranges[i]);
    }
}

static void split_some(void *context, size_t begin, size_t end)
{
    const struct side_by_side *job = context;

    for (size_t i = begin; i < end; i++) {
        if (range_count(&job->ranges[i]) > job->limit) {
            split_range(job->builder, &job->ranges[i], job->parts[i]);
        }
    }
}

/* Room for the parts of `more` ranges. */
static bool ranges_fit(struct ranges *r, size_t more)
{
    return facet_array_fit(&r->list, &r->room, r->count + more, sizeof *r->list) &&
           facet_array_fit(&r->inner, &r->inner_room, r->splits + more, sizeof *r->inner);
}

static void ranges_replace(struct ranges *r, size_t i, const struct range part[2])
{
    r->inner[r->splits++] = (struct inner){r->list[i].slot, {part[0].slot, part[1].slot}};
    r->list[i] = part[0];
    r->list[r->count++] = part[1];
}

/* Splits the ranges above the limit, each on one thread, until there are none. */
static bool
split_side_by_side(struct builder *b, struct ranges *r, facet_pool *pool, uint32_t limit)
{
    struct side_by_side job = {.builder = b, .limit = limit};
    size_t split = 1;

    while (split != 0) {
        const size_t count = r->count;

        split = 0;
        if (!ranges_fit(r, count)) {
            return false;
        }
        job.ranges = r->list;
        job.parts = aligned_alloc(16, count * sizeof *job.parts);
        if (job.parts == NULL) {
            return false;
        }
        facet_pool_for(pool, count, 1, split_some, &job);
        for (size_t i = 0; i < count; i++) {
            if (range_count(&r->list[i]) > limit) {
                ranges_replace(r, i, job.parts[i]);
                split++;
            }
        }
        free(job.parts);
    }
    return true;
}

/* Splits the ranges above the limit, each on all threads. */
static bool split_one_by_one(struct top *top, struct ranges *r, facet_pool *pool, uint32_t limit)
{
    for (size_t done = 0; done < r->count;) {
        struct range part[2];

        if (range_count(&r->list[done]) <= limit) {
            done++;
            continue;
        }
        if (!ranges_fit(r, 1)) {
            return false;
        }
        split_parallel(top, pool, &r->list[done], part);
        ranges_replace(r, done, part);
    }
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* A few large ranges by all threads together, then more and smaller ones side by side until there
 * are enough subtrees to keep every thread busy to the end. The limits depend on the item count
 * alone. */
static bool build_parallel(struct builder *b, facet_pool *pool, struct range *root)
{
    const uint32_t count = range_count(root);
    struct top top = {.builder = b, .range = root};
    struct ranges r = {NULL, NULL, 0, 0, 0, 0};
    bool good;

    top.chunks = facet_large_alloc(((size_t)count / CHUNK + 1) * sizeof *top.chunks);
    good = top.chunks != NULL && ranges_fit(&r, 1);
    if (good) {
        facet_pool_for(pool, count, CHUNK, chunk_centres, &top);
        root->centres = join_centres(&top, (count + CHUNK - 1) / CHUNK, 0);
        r.list[r.count++] = *root;
        good = split_one_by_one(&top, &r, pool, count / 32 > CHUNK ? count / 32 : CHUNK) &&
               split_side_by_side(b, &r, pool, count / 256 > CHUNK ? count / 256 : CHUNK);
    }
    if (good) {
        qsort(r.list, r.count, sizeof *r.list, compare_ranges); /* pages are finished in turn */
        facet_pool_for(pool,
                       r.count,
                       1,
                       build_subtrees,
                       &(struct side_by_side){.builder = b, .ranges = r.list});
        while (r.splits-- > 0) {
            const struct inner *inner = &r.inner[r.splits];

            b->nodes[inner->slot].child0 = inner->child[0];
            b->nodes[inner->slot].child1 = inner->child[1];
            join_boxes(b->nodes, inner->slot, inner->slot + 1);
        }
    }
    free(r.list);
    free(r.inner);
    free(top.chunks);
    return good;
}

enum facet_status facet_bvh2_build(struct facet_bvh_item *items,
                                   uint32_t count,
                                   uint32_t max_leaf,
                                   struct facet_bvh_item *scratch,
                                   facet_pool *pool,
                                   struct facet_progress *progress,
                                   struct facet_bvh2 *out,
                                   struct facet_error *err)
{
    struct builder b = {{items, scratch}, NULL, max_leaf, progress, NULL, FACET_HAS_AVX2()};
    struct range root = {.end = count};
    bool good;

    *out = (struct facet_bvh2){NULL, 0};
    if (count == 0 || count > FACET_BVH_MAX_ITEMS || max_leaf == 0 || max_leaf > SMALL) {
        return facet_fail(err, FACET_ERR_LIMIT, count, "%u items: expected 1 .. 2^30", count);
    }
    b.nodes = facet_large_alloc((2 * (size_t)count - 1) * sizeof *b.nodes);
    if (scratch == NULL) {
        b.items[1] = facet_large_alloc((size_t)count * sizeof *b.items[1]);
    }
    good = b.nodes != NULL && b.items[1] != NULL;
    if (good && count > MANY) { /* it only saves memory, and may be missing */
        b.finished = calloc(count / PAGE_ITEMS + 1, sizeof *b.finished);
    }
    if (good && b.finished == NULL &&
        (pool == NULL || facet_pool_threads(pool) == 1 || count <= CHUNK)) {
        root.centres = centre_bounds(items, 0, count);
        build_one(&b, &root);
    } else if (good) {
        good = build_parallel(&b, pool, &root);
    }
    if (scratch == NULL) {
        free(b.items[1]);
    }
    free((void *)b.finished);
    if (!good) {
        free(b.nodes);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u BVH items", count);
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
