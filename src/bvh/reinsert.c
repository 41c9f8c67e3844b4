/* A top-down builder decides early and never looks back; here the tree is repaired afterwards.
 *
 * Work goes in rounds. Searches of a round read the unchanged tree and run in parallel. Then moves
 * are applied one by one, largest gain first; a move near a node that an earlier move of the round
 * has touched is dropped, since its gain was computed for another tree. Everything is a function of
 * the tree alone. */
#include "bvh/reinsert.h"

#include "base/avx2.h"
#include "base/large.h"
#include "bvh/lanes.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 6
#define SEARCH_GRAIN 512
#define LINK_GRAIN 16384
#define SEARCH_STACK 128
#define MANY (UINT32_C(1) << 20) /* items that are worth being economical with */
#define SEARCH_NODES 256         /* most nodes that one search looks at */

struct move {
    float gain;
    uint32_t from; /* the subtree */
    uint32_t to;   /* becomes its sibling */
};

struct work {
    struct facet_bvh2_node *nodes;
    uint32_t *parent;
    uint32_t *touched; /* round number + 1 in which a node was last changed */
    uint32_t count;    /* nodes */
    uint32_t round;
    struct move *moves; /* one per candidate of the round */
    uint32_t *wanted;   /* per chunk of candidates */
};

struct box {
    struct lanes lo, hi;
};

static struct box box_of(const struct facet_bvh2_node *node)
{
    return (struct box){lanes_load3(node->lo), lanes_load3(node->hi)};
}

static struct box box_join(struct box a, struct box b)
{
    return (struct box){lanes_min_exact(a.lo, b.lo), lanes_max_exact(a.hi, b.hi)};
}

static float box_area(struct box b)
{
    return lanes_area_single(b.lo, b.hi);
}

static uint32_t sibling(const struct work *w, uint32_t node)
{
    const struct facet_bvh2_node *parent = &w->nodes[w->parent[node]];

    return parent->child0 == node ? parent->child1 : parent->child0;
}

/* ---- search ---- */

struct search {
    struct box box; /* of the subtree that looks for a place */
    float area;
    struct move best;
    unsigned looked_at;
};

/* Looks at `start` and below. `budget` is what would be saved if the subtree were put above `start`
 * at no cost; going down costs what the boxes on the way grow. */
static void search_below(const struct work *w, struct search *s, uint32_t start, float budget)
{
    struct {
        float budget;
        uint32_t node;
    } stack[SEARCH_STACK];
    unsigned depth = 0;

    stack[depth].budget = budget;
    stack[depth++].node = start;
    while (depth > 0) {
        uint32_t id = stack[--depth].node;
        const struct facet_bvh2_node *node = &w->nodes[id];
        float have = stack[depth].budget;
        float joined, below;
        struct box box;

        if (have - s->area <= s->best.gain || ++s->looked_at > SEARCH_NODES) {
            continue;
        }
        box = box_of(node);
        joined = box_area(box_join(box, s->box));
        if (have - joined > s->best.gain) {
            s->best.gain = have - joined;
            s->best.to = id;
        }
        below = have - joined + box_area(box);
        if (!facet_bvh2_is_leaf(node) && depth + 2 <= SEARCH_STACK &&
            below - s->area > s->best.gain) {
            stack[depth].budget = below;
            stack[depth++].node = node->child1;
            stack[depth].budget = below;
            stack[depth++].node = node->child0;
        }
    }
}

/* The best place for a subtree: below its sibling, below its parent's sibling, and so on upwards.
 * Every ancestor that is left behind shrinks, which adds to the budget. */
static struct move search_place(const struct work *w, uint32_t from)
{
    struct search s = {.best = {0.0f, from, from}};
    uint32_t pivot = w->parent[from];
    uint32_t other = sibling(w, from);
    struct box rest = box_of(&w->nodes[other]); /* the pivot without the subtree */
    float budget = box_area(box_of(&w->nodes[pivot]));

    s.box = box_of(&w->nodes[from]);
    s.area = box_area(s.box);
    search_below(w, &s, other, budget);
    while (pivot != 0 && s.looked_at < SEARCH_NODES) {
        other = sibling(w, pivot);
        search_below(w, &s, other, budget);
        pivot = w->parent[pivot];
        rest = box_join(rest, box_of(&w->nodes[other]));
        budget += box_area(box_of(&w->nodes[pivot])) - box_area(rest);
    }
    return s.best;
}

/* The moves that gain anything, from the chunk's first place on. */
static void search_some(void *context, size_t begin, size_t end)
{
    const struct work *w = context;
    uint32_t wanted = 0;

    for (size_t i = begin; i < end; i++) {
        uint32_t node = (uint32_t)i * ROUNDS + w->round;

        if (node < w->count && node != 0 && w->parent[node] != 0) {
            const struct move move = search_place(w, node);

            w->moves[begin + wanted] = move;
            wanted += move.gain > 0.0f;
        }
    }
    w->wanted[begin / SEARCH_GRAIN] = wanted;
}

FACET_AVX2 static void search_some_avx2(void *context, size_t begin, size_t end)
{
    search_some(context, begin, end);
}

/* ---- moves ---- */

static int compare_moves(const void *a, const void *b)
{
    const struct move *x = a, *y = b;

    if (x->gain != y->gain) {
        return x->gain > y->gain ? -1 : 1;
    }
    return x->from < y->from ? -1 : x->from > y->from;
}

static void replace_child(struct work *w, uint32_t parent, uint32_t from, uint32_t to)
{
    struct facet_bvh2_node *node = &w->nodes[parent];

    if (node->child0 == from) {
        node->child0 = to;
    } else {
        node->child1 = to;
    }
    w->parent[to] = parent;
}

/* Joins the boxes of the children; true when the node's own box changed. */
static bool refit(struct work *w, uint32_t node)
{
    struct facet_bvh2_node *n = &w->nodes[node];
    struct facet_bvh2_node old = *n;
    struct box box = box_join(box_of(&w->nodes[n->child0]), box_of(&w->nodes[n->child1]));

    lanes_store(n->lo, box.lo);
    lanes_store(n->hi, box.hi);
    n->child0 = old.child0;
    n->child1 = old.child1;
    return memcmp(&old, n, sizeof old) != 0;
}

/* From `node` to the root, until a box does not change. */
static void refit_up(struct work *w, uint32_t node)
{
    while (refit(w, node) && node != 0) {
        node = w->parent[node];
    }
}

static bool is_below(const struct work *w, uint32_t node, uint32_t ancestor)
{
    while (node != 0) {
        if (node == ancestor) {
            return true;
        }
        node = w->parent[node];
    }
    return false;
}

/* The parent node is freed by taking the subtree out and reused above the target. */
static void apply(struct work *w, const struct move *m)
{
    const uint32_t mark = w->round + 1;
    uint32_t p = w->parent[m->from], g = w->parent[p], s = sibling(w, m->from);
    uint32_t near[6] = {m->from, p, g, s, m->to, w->parent[m->to]};

    for (int i = 0; i < 6; i++) {
        if (w->touched[near[i]] == mark) {
            return;
        }
    }
    if (m->to == 0 || m->to == p || m->to == s || p == 0 || is_below(w, m->to, m->from)) {
        return;
    }
    for (int i = 0; i < 6; i++) {
        w->touched[near[i]] = mark;
    }
    replace_child(w, g, p, s);
    replace_child(w, w->parent[m->to], m->to, p);
    w->nodes[p].child0 = m->to;
    w->nodes[p].child1 = m->from;
    w->parent[m->to] = p;
    w->parent[m->from] = p;
    (void)refit(w, p); /* its parent is new, whether or not its box is the old one */
    refit_up(w, w->parent[p]);
    refit_up(w, g);
}

static void run_round(struct work *w, facet_pool *pool)
{
    size_t candidates = w->count / ROUNDS + 1, wanted = 0;

    facet_pool_for(
        pool, candidates, SEARCH_GRAIN, FACET_HAS_AVX2() ? search_some_avx2 : search_some, w);
    for (size_t begin = 0; begin < candidates; begin += SEARCH_GRAIN) {
        const uint32_t more = w->wanted[begin / SEARCH_GRAIN];

        memmove(w->moves + wanted, w->moves + begin, more * sizeof *w->moves);
        wanted += more;
    }
    qsort(w->moves, wanted, sizeof *w->moves, compare_moves);
    for (size_t i = 0; i < wanted; i++) {
        apply(w, &w->moves[i]);
    }
}

/* ---- depth-first order ---- */

#define CUT_DEPTH 9 /* subtrees from here on are put in order side by side */

/* A subtree, and where its nodes and items go. */
struct part {
    uint32_t root;
    uint32_t leaves;
    uint32_t node, item;
};

struct order {
    struct work *work;
    uint32_t *number; /* of every node, the new one */
    uint32_t *place;  /* of every item */
    struct part parts[1u << CUT_DEPTH];
    uint32_t part_count;
    /* where they go, or NULL: in place */
    struct facet_bvh2_node *nodes;
    struct facet_bvh_item *items;
    const struct facet_bvh_item *from;
};

/* From left to right. */
static void cut(struct order *to, uint32_t node, unsigned depth)
{
    const struct facet_bvh2_node *n = &to->work->nodes[node];

    if (depth == CUT_DEPTH || facet_bvh2_is_leaf(n)) {
        to->parts[to->part_count++].root = node;
    } else {
        cut(to, n->child0, depth + 1);
        cut(to, n->child1, depth + 1);
    }
}

/* The node that follows below `root`, or `root` after the last. */
static uint32_t next_node(const struct work *w, uint32_t node, uint32_t root)
{
    if (!facet_bvh2_is_leaf(&w->nodes[node])) {
        return w->nodes[node].child0;
    }
    while (node != root && w->nodes[w->parent[node]].child1 == node) {
        node = w->parent[node];
    }
    return node != root ? w->nodes[w->parent[node]].child1 : root;
}

static void count_parts(void *context, size_t begin, size_t end)
{
    struct order *to = context;

    for (size_t i = begin; i < end; i++) {
        struct part *part = &to->parts[i];
        uint32_t node = part->root;

        part->leaves = 0;
        do {
            part->leaves += facet_bvh2_is_leaf(&to->work->nodes[node]);
            node = next_node(to->work, node, part->root);
        } while (node != part->root);
    }
}

/* The nodes above the parts, and where the parts go. */
static void put_above(struct order *to, uint32_t node, struct part *next)
{
    const struct facet_bvh2_node *n = &to->work->nodes[node];
    struct part *part = &to->parts[to->part_count];

    if (part->root == node) {
        part->node = next->node;
        part->item = next->item;
        next->node += 2 * part->leaves - 1;
        next->item += part->leaves;
        to->part_count++;
        return;
    }
    to->number[node] = next->node++;
    put_above(to, n->child0, next);
    put_above(to, n->child1, next);
}

static void put_parts(void *context, size_t begin, size_t end)
{
    struct order *to = context;

    for (size_t i = begin; i < end; i++) {
        const struct part *part = &to->parts[i];
        uint32_t node = part->root, number = part->node, item = part->item;

        do {
            const struct facet_bvh2_node *n = &to->work->nodes[node];

            to->number[node] = number++;
            if (facet_bvh2_is_leaf(n)) {
                to->place[facet_bvh2_first(n)] = item++;
            }
            node = next_node(to->work, node, part->root);
        } while (node != part->root);
    }
}

static void rename_nodes(void *context, size_t begin, size_t end)
{
    const struct order *to = context;

    for (size_t i = begin; i < end; i++) {
        struct facet_bvh2_node *node = &to->work->nodes[i];

        if (facet_bvh2_is_leaf(node)) {
            node->child0 = FACET_BVH2_LEAF | to->place[facet_bvh2_first(node)];
        } else {
            node->child0 = to->number[node->child0];
            node->child1 = to->number[node->child1];
        }
        if (to->nodes != NULL) {
            to->nodes[to->number[i]] = *node;
        }
    }
}

static void copy_items(void *context, size_t begin, size_t end)
{
    const struct order *to = context;

    for (size_t i = begin; i < end; i++) {
        to->items[to->place[i]] = to->from[i];
    }
}

/* Nodes and items are alike in size: one function moves both, along the cycles of the order. */
enum { MOVED = 32 };
_Static_assert(sizeof(struct facet_bvh2_node) == MOVED && sizeof(struct facet_bvh_item) == MOVED,
               "see move_all");

static void move_all(void *all, uint32_t *number, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while (number[i] != i) {
            const uint32_t to = number[i];
            uint8_t *a = (uint8_t *)all + (size_t)i * MOVED,
                    *b = (uint8_t *)all + (size_t)to * MOVED;
            uint8_t moved[MOVED];

            memcpy(moved, b, MOVED);
            memcpy(b, a, MOVED);
            memcpy(a, moved, MOVED);
            number[i] = number[to];
            number[to] = to;
        }
    }
}

static void depth_first(struct order *to, facet_pool *pool)
{
    struct part next = {0};
    uint32_t parts;

    cut(to, 0, 0);
    parts = to->part_count;
    facet_pool_for(pool, parts, 1, count_parts, to);
    to->part_count = 0;
    put_above(to, 0, &next);
    facet_pool_for(pool, parts, 1, put_parts, to);
    facet_pool_for(pool, to->work->count, LINK_GRAIN, rename_nodes, to);
}

static void link_parents(void *context, size_t begin, size_t end)
{
    const struct work *w = context;

    for (size_t i = begin; i < end; i++) {
        if (!facet_bvh2_is_leaf(&w->nodes[i])) {
            w->parent[w->nodes[i].child0] = (uint32_t)i;
            w->parent[w->nodes[i].child1] = (uint32_t)i;
        }
    }
}

/* The tree and its items in depth-first order. The many of a large tree move in place: on one
 * thread and along random ways, but memory is what they are short of. */
static bool
put_in_order(struct work *w, struct facet_bvh_item *items, uint32_t count, facet_pool *pool)
{
    struct order *to = calloc(1, sizeof *to);
    bool good = to != NULL;

    if (!good) {
        return false;
    }
    *to = (struct order){.work = w, .from = items, .number = w->touched};
    to->place = facet_large_alloc((size_t)count * sizeof *to->place);
    good = to->place != NULL;
    if (good && count <= MANY) {
        to->nodes = facet_large_alloc((size_t)w->count * sizeof *to->nodes);
        to->items = facet_large_alloc((size_t)count * sizeof *to->items);
        good = to->nodes != NULL && to->items != NULL;
    }
    if (good) {
        depth_first(to, pool);
    }
    if (good && to->nodes != NULL) {
        facet_pool_for(pool, count, LINK_GRAIN, copy_items, to);
        memcpy(items, to->items, (size_t)count * sizeof *items);
        free(w->nodes);
        w->nodes = to->nodes;
    } else if (good) {
        move_all(w->nodes, to->number, w->count);
        move_all(items, to->place, count);
    } else {
        free(to->nodes);
    }
    free(to->items);
    free(to->place);
    free(to);
    return good;
}

enum facet_status facet_bvh2_improve(struct facet_bvh2 *tree,
                                     struct facet_bvh_item *items,
                                     uint32_t count,
                                     facet_pool *pool,
                                     struct facet_error *err)
{
    struct work w = {.nodes = tree->nodes, .count = tree->node_slots};
    bool good;

    if (count < 4) {
        return FACET_OK;
    }
    w.parent = facet_large_alloc(w.count * sizeof *w.parent);
    w.touched = calloc(w.count, sizeof *w.touched);
    w.moves = facet_large_alloc(((size_t)w.count / ROUNDS + 1) * sizeof *w.moves);
    w.wanted = malloc(((size_t)w.count / ROUNDS / SEARCH_GRAIN + 1) * sizeof *w.wanted);
    good = w.parent != NULL && w.touched != NULL && w.moves != NULL && w.wanted != NULL;
    if (good) {
        w.parent[0] = 0;
        facet_pool_for(pool, w.count, LINK_GRAIN, link_parents, &w);
        for (w.round = 0; w.round < ROUNDS; w.round++) {
            run_round(&w, pool);
        }
    }
    free(w.moves);
    free(w.wanted);
    good = good && put_in_order(&w, items, count, pool);
    tree->nodes = w.nodes;
    free(w.parent);
    free(w.touched);
    return good ? FACET_OK
                : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to improve %u items", count);
}
