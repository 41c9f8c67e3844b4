/* A top-down builder decides early and never looks back; here the tree is repaired afterwards.
 *
 * Work goes in rounds. Searches of a round read the unchanged tree and run in parallel. Then moves
 * are applied one by one, largest gain first; a move near a node that an earlier move of the round
 * has touched is dropped, since its gain was computed for another tree. Everything is a function of
 * the tree alone. */
#include "bvh/reinsert.h"

#include "bvh/lanes.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 6
#define SEARCH_GRAIN 512
#define SEARCH_STACK 128
#define SEARCH_NODES 256 /* most nodes that one search looks at */

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
    _Alignas(16) float lo[4], hi[4];
    float dx, dy, dz;

    lanes_store(lo, b.lo);
    lanes_store(hi, b.hi);
    dx = hi[0] - lo[0];
    dy = hi[1] - lo[1];
    dz = hi[2] - lo[2];
    return (dx * dy + dy * dz) + dz * dx;
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

static void search_chunk(void *context, size_t begin, size_t end)
{
    const struct work *w = context;

    for (size_t i = begin; i < end; i++) {
        uint32_t node = (uint32_t)i * ROUNDS + w->round;

        w->moves[i] = (struct move){0.0f, node, node};
        if (node < w->count && node != 0 && w->parent[node] != 0) {
            w->moves[i] = search_place(w, node);
        }
    }
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

    facet_pool_for(pool, candidates, SEARCH_GRAIN, search_chunk, w);
    for (size_t i = 0; i < candidates; i++) {
        if (w->moves[i].gain > 0.0f) {
            w->moves[wanted++] = w->moves[i];
        }
    }
    qsort(w->moves, wanted, sizeof *w->moves, compare_moves);
    for (size_t i = 0; i < wanted; i++) {
        apply(w, &w->moves[i]);
    }
}

/* ---- depth-first order ---- */

struct order {
    struct facet_bvh2_node *nodes;
    struct facet_bvh_item *items;
    uint32_t *stack; /* pairs: old node, where its number must be written */
};

/* A child's place in its parent is patched when the child gets its number. */
static void depth_first(const struct work *w, const struct facet_bvh_item *items, struct order *to)
{
    uint32_t next_node = 0, next_item = 0, depth = 0;

    to->stack[depth++] = 0;
    to->stack[depth++] = UINT32_MAX;
    while (depth > 0) {
        uint32_t parent_right = to->stack[--depth];
        uint32_t old = to->stack[--depth];
        uint32_t number = next_node++;
        struct facet_bvh2_node *node = &to->nodes[number];

        *node = w->nodes[old];
        if (parent_right != UINT32_MAX) {
            to->nodes[parent_right].child1 = number;
        }
        if (facet_bvh2_is_leaf(node)) {
            to->items[next_item] = items[facet_bvh2_first(node)];
            node->child0 = FACET_BVH2_LEAF | next_item++;
            continue;
        }
        to->stack[depth++] = node->child1;
        to->stack[depth++] = number;
        to->stack[depth++] = node->child0;
        to->stack[depth++] = UINT32_MAX; /* the left child directly follows its parent */
        node->child0 = number + 1;
    }
}

enum facet_status facet_bvh2_improve(struct facet_bvh2 *tree,
                                     struct facet_bvh_item *items,
                                     uint32_t count,
                                     facet_pool *pool,
                                     struct facet_error *err)
{
    struct work w = {.nodes = tree->nodes, .count = tree->node_slots};
    struct order to = {NULL, NULL, NULL};
    enum facet_status status = FACET_ERR_MEMORY;

    if (count < 4) {
        return FACET_OK;
    }
    w.parent = calloc(w.count, sizeof *w.parent);
    w.touched = calloc(w.count, sizeof *w.touched);
    w.moves = malloc(((size_t)w.count / ROUNDS + 1) * sizeof *w.moves);
    to.nodes = aligned_alloc(16, (size_t)w.count * sizeof *to.nodes);
    to.items = aligned_alloc(16, (size_t)count * sizeof *to.items);
    to.stack = malloc(2 * ((size_t)w.count + 2) * sizeof *to.stack);
    if (w.parent != NULL && w.touched != NULL && w.moves != NULL && to.nodes != NULL &&
        to.items != NULL && to.stack != NULL) {
        for (uint32_t i = 0; i < w.count; i++) {
            if (!facet_bvh2_is_leaf(&w.nodes[i])) {
                w.parent[w.nodes[i].child0] = i;
                w.parent[w.nodes[i].child1] = i;
            }
        }
        for (w.round = 0; w.round < ROUNDS; w.round++) {
            run_round(&w, pool);
        }
        depth_first(&w, items, &to);
        memcpy(items, to.items, (size_t)count * sizeof *items);
        free(tree->nodes);
        tree->nodes = to.nodes;
        to.nodes = NULL;
        status = FACET_OK;
    }
    free(w.parent);
    free(w.touched);
    free(w.moves);
    free(to.nodes);
    free(to.items);
    free(to.stack);
    return status == FACET_OK ? FACET_OK
                              : facet_fail(err, status, 0, "no memory to improve %u items", count);
}
