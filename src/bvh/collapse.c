/* Both forms open nodes level by level, all of a level in parallel. Neither recurses: a binary tree
 * may be thousands of levels deep. */
#include "bvh/collapse.h"

#include "base/array.h"
#include "base/avx2.h"
#include "base/large.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double node_area(const struct facet_bvh2_node *node)
{
    return facet_bvh_box_area(node->lo, node->hi);
}

/* How the cheapest presentation of a subtree as at most i + 1 children of a node above is made:
 * left[i] slots are given to its left child, or 0 = as left[i - 1] says. left[0] = 1 means a leaf,
 * 0 a node of its own, and left[7] are then the slots of the left child. */
struct plan {
    uint8_t left[8];
};

/* ---- greedy ---- */

/* Fills slot[] with up to `width` nodes below `root` (or root itself if it is a leaf). */
static unsigned
open_greedy(const struct facet_bvh2_node *nodes, uint32_t root, unsigned width, uint32_t slot[8])
{
    double area[8]; /* of inner slots, -1 for leaves */
    unsigned count = 2;

    if (facet_bvh2_is_leaf(&nodes[root])) {
        slot[0] = root;
        return 1;
    }
    slot[0] = nodes[root].child0;
    slot[1] = nodes[root].child1;
    for (int i = 0; i < 2; i++) {
        area[i] = facet_bvh2_is_leaf(&nodes[slot[i]]) ? -1.0 : node_area(&nodes[slot[i]]);
    }
    while (count < width) {
        unsigned best = 0;
        uint32_t opened;

        for (unsigned i = 1; i < count; i++) {
            if (area[i] > area[best]) {
                best = i;
            }
        }
        if (area[best] < 0.0) {
            break;
        }
        opened = slot[best];
        slot[best] = nodes[opened].child0;
        slot[count] = nodes[opened].child1;
        for (unsigned i = best;; i = count) {
            area[i] = facet_bvh2_is_leaf(&nodes[slot[i]]) ? -1.0 : node_area(&nodes[slot[i]]);
            if (i == count) {
                break;
            }
        }
        count++;
    }
    return count;
}

/* ---- optimal ---- */

/* A leaf of several items as one leaf for each. The slots behind it, which no node uses, are
 * enough: 2n - 2 for n items. */
static unsigned
open_leaf(struct facet_bvh2_node *nodes, uint32_t leaf, uint32_t *slot, bool *as_leaf)
{
    const uint32_t first = facet_bvh2_first(&nodes[leaf]);
    const uint32_t count = nodes[leaf].child1;

    for (uint32_t i = 0; i < count; i++) {
        struct facet_bvh2_node *one = &nodes[leaf + 1 + i];

        one->child0 = FACET_BVH2_LEAF | (first + i);
        one->child1 = 1;
        slot[i] = leaf + 1 + i;
        as_leaf[i] = true;
    }
    return count;
}

/* The slots that the plan gives to a node of its own. */
static unsigned open_planned(struct facet_bvh2_node *nodes,
                             const struct plan *plans,
                             uint32_t root,
                             unsigned width,
                             uint32_t slot[8],
                             bool as_leaf[8])
{
    struct {
        uint32_t node;
        unsigned slots;
    } stack[16];
    unsigned depth = 0, count = 0;

    if (plans[root].left[0] == 1) {
        slot[0] = root;
        as_leaf[0] = true;
        return 1;
    }
    if (facet_bvh2_is_leaf(&nodes[root])) {
        return open_leaf(nodes, root, slot, as_leaf);
    }
    stack[depth].node = nodes[root].child1;
    stack[depth++].slots = width - plans[root].left[7];
    stack[depth].node = nodes[root].child0;
    stack[depth++].slots = plans[root].left[7];
    while (depth > 0) {
        uint32_t node = stack[--depth].node;
        unsigned slots = stack[depth].slots;
        const struct plan *plan = &plans[node];

        while (slots > 1 && plan->left[slots - 1] == 0) {
            slots--;
        }
        if (slots == 1) {
            slot[count] = node;
            as_leaf[count++] = plan->left[0] == 1;
        } else if (facet_bvh2_is_leaf(&nodes[node])) {
            count += open_leaf(nodes, node, slot + count, as_leaf + count);
        } else {
            stack[depth].node = nodes[node].child1;
            stack[depth++].slots = slots - plan->left[slots - 1];
            stack[depth].node = nodes[node].child0;
            stack[depth++].slots = plan->left[slots - 1];
        }
    }
    return count;
}

/* ---- wide nodes, level by level ---- */

#define OPEN_CHUNK 256

struct opening {
    struct facet_bvh2_node *nodes;
    const struct plan *plans; /* NULL: greedy */
    unsigned width;
    struct facet_wide *wide;
    uint32_t first;  /* wide node of the level */
    uint32_t *inner; /* of each chunk: inner children, then the first one's wide node */
};

/* The items of a leaf. */
static void set_run(const struct facet_bvh2_node *nodes, struct facet_wide_child *child)
{
    uint32_t l = child->node, r = child->node;

    while (!facet_bvh2_is_leaf(&nodes[l])) {
        l = nodes[l].child0;
    }
    while (!facet_bvh2_is_leaf(&nodes[r])) {
        r = nodes[r].child1;
    }
    child->first = facet_bvh2_first(&nodes[l]);
    child->count = facet_bvh2_first(&nodes[r]) + nodes[r].child1 - child->first;
}

/* A wide node waits with the root of its subtree as its first child. Inner slots come in slot
 * order, then leaves. */
static void open_node(const struct opening *o, struct facet_wide_node *wide)
{
    const uint32_t root = wide->child[0].node;
    uint32_t slot[8];
    bool as_leaf[8] = {false};
    unsigned count;

    if (o->plans != NULL) {
        count = open_planned(o->nodes, o->plans, root, o->width, slot, as_leaf);
    } else {
        count = open_greedy(o->nodes, root, o->width, slot);
        for (unsigned i = 0; i < count; i++) {
            as_leaf[i] = facet_bvh2_is_leaf(&o->nodes[slot[i]]);
        }
    }
    wide->count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!as_leaf[i]) {
            wide->child[wide->count++] = (struct facet_wide_child){slot[i], 0, 0};
        }
    }
    wide->inner = wide->count;
    for (unsigned i = 0; i < count; i++) {
        if (as_leaf[i]) {
            wide->child[wide->count].node = slot[i];
            set_run(o->nodes, &wide->child[wide->count++]);
        }
    }
}

static void open_chunk(void *context, size_t begin, size_t end)
{
    struct opening *o = context;
    uint32_t inner = 0;

    for (size_t i = begin; i < end; i++) {
        struct facet_wide_node *wide = &o->wide->nodes[o->first + i];

        open_node(o, wide);
        inner += wide->inner;
    }
    o->inner[begin / OPEN_CHUNK] = inner;
}

/* Makes the children wait. */
static void link_chunk(void *context, size_t begin, size_t end)
{
    struct opening *o = context;
    struct facet_wide_node *nodes = o->wide->nodes;
    uint32_t next = o->inner[begin / OPEN_CHUNK];

    for (size_t i = begin; i < end; i++) {
        struct facet_wide_node *wide = &nodes[o->first + i];

        wide->first_inner = next;
        for (uint8_t c = 0; c < wide->inner; c++, next++) {
            nodes[next].parent = o->first + (uint32_t)i;
            nodes[next].index_in_parent = c;
            nodes[next].child[0].node = wide->child[c].node;
        }
    }
}

static bool open_levels(struct opening *o, facet_pool *pool)
{
    struct facet_wide *wide = o->wide;
    size_t room = 0, chunk_room = 0, level_room = 0;
    bool good = facet_array_fit(&wide->nodes, &room, 1, sizeof *wide->nodes) &&
                facet_array_fit(&wide->levels, &level_room, 1, sizeof *wide->levels);

    if (good) {
        wide->levels[0] = 0;
        wide->nodes[0].parent = UINT32_MAX;
        wide->nodes[0].index_in_parent = 0;
        wide->nodes[0].child[0].node = 0;
        wide->count = 1;
    }
    while (good && o->first < wide->count) {
        const uint32_t level = wide->count - o->first;
        const size_t chunks = ((size_t)level + OPEN_CHUNK - 1) / OPEN_CHUNK;
        uint32_t next = wide->count;

        good = facet_array_fit(&o->inner, &chunk_room, chunks, sizeof *o->inner);
        if (!good) {
            break;
        }
        facet_pool_for(pool, level, OPEN_CHUNK, open_chunk, o);
        for (size_t c = 0; c < chunks; c++) {
            const uint32_t inner = o->inner[c];

            o->inner[c] = next;
            next += inner;
        }
        good = facet_array_fit(&wide->nodes, &room, next, sizeof *wide->nodes) &&
               facet_array_fit(
                   &wide->levels, &level_room, wide->level_count + 2, sizeof *wide->levels);
        if (good) {
            facet_pool_for(pool, level, OPEN_CHUNK, link_chunk, o);
            o->first += level;
            wide->levels[++wide->level_count] = o->first;
            wide->count = next;
        }
    }
    free(o->inner);
    return good;
}

static enum facet_status open_all(struct facet_bvh2 *tree,
                                  const struct plan *plans,
                                  unsigned width,
                                  facet_pool *pool,
                                  struct facet_wide *out,
                                  struct facet_error *err)
{
    struct opening o = {.nodes = tree->nodes, .plans = plans, .width = width, .wide = out};

    if (open_levels(&o, pool)) {
        return FACET_OK;
    }
    facet_bvh_wide_free(out);
    return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the nodes of the BVH");
}

enum facet_status facet_bvh_collapse_greedy(struct facet_bvh2 *tree,
                                            unsigned width,
                                            facet_pool *pool,
                                            struct facet_wide *out,
                                            struct facet_error *err)
{
    *out = (struct facet_wide){0};
    return open_all(tree, NULL, width, pool, out, err);
}

/* ---- plans ---- */

/* cost[8 + i]: the cheapest way to present a subtree as at most i + 1 children of a node above.
 * What stands before is infinite, for children without a slot. */
struct costs {
    float cost[16];
    uint32_t weight;
};

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_bits __attribute__((vector_size(16)));

static four load_four(const float *from)
{
    four v;

    memcpy(&v, from, sizeof v);
    return v;
}

/* For 2 .. 8 slots, of which lane 0 is the first: the cheapest cut, and the slots of the left
 * child; the smallest number of them on ties. */
static void best_cuts(const float *l, const float *r, float best[8], int32_t cut[8])
{
    for (int half = 0; half < 2; half++) {
        four low = {FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
        four_bits at = {1, 1, 1, 1};

        for (int i = 1; i < 8; i++) {
            const four cost = load_four(&r[8 + 4 * half + 1 - i]) + l[8 + i - 1];
            const four_bits better = (four_bits)(cost < low);

            low = (four)(((four_bits)cost & better) | ((four_bits)low & ~better));
            at = (better & i) | (at & ~better);
        }
        memcpy(best + 4 * half, &low, sizeof low);
        memcpy(cut + 4 * half, &at, sizeof at);
    }
}

/* `to` may be one of the children. */
static void plan_inner(struct plan *plan,
                       const struct costs *l,
                       const struct costs *r,
                       unsigned width,
                       float area,
                       float leaf_cost,
                       struct costs *to)
{
    float best[8], own;
    int32_t cut[8];

    best_cuts(l->cost, r->cost, best, cut);
    own = best[width - 2] + area;
    plan->left[7] = (uint8_t)cut[width - 2];
    plan->left[0] = leaf_cost <= own;
    to->cost[8] = leaf_cost <= own ? leaf_cost : own;
    for (unsigned slots = 2; slots < 8; slots++) {
        const float before = to->cost[8 + slots - 2];
        const bool better = best[slots - 2] < before;

        plan->left[slots - 1] = better ? (uint8_t)cut[slots - 2] : 0;
        to->cost[8 + slots - 1] = better ? best[slots - 2] : before;
    }
}

struct planning {
    const struct facet_bvh2 *tree;
    const struct facet_leaf_cost *cost;
    unsigned width;
    double scale; /* 1 / area of the root */
    struct plan *plans;
    struct subtree *subtrees;
    _Atomic bool failed;
};

/* Nodes [first, end) and, once it is planned, what its root costs. */
struct subtree {
    uint32_t first, end;
    struct costs costs;
};

/* Costs of the subtrees whose parents are still to come, the next one on top. */
struct cost_stack {
    struct costs *costs;
    size_t depth, room;
};

static struct costs *push_costs(struct cost_stack *stack)
{
    const size_t before = stack->room;

    if (!facet_array_fit(&stack->costs, &stack->room, stack->depth + 1, sizeof *stack->costs)) {
        return NULL;
    }
    for (size_t i = before; i < stack->room; i++) {
        for (int k = 0; k < 16; k++) {
            stack->costs[i].cost[k] = INFINITY;
        }
    }
    return &stack->costs[stack->depth++];
}

static float leaf_cost(const struct facet_leaf_cost *cost, float area, uint32_t weight)
{
    const uint32_t tests = (weight + cost->units - 1) / cost->units;

    return area * (cost->leaf + cost->test * (float)tests);
}

/* A leaf of n items can also be n leaves, or a node of its own with these. */
static void plan_leaf(const struct planning *p, uint32_t leaf, float area, struct costs *to)
{
    const struct facet_bvh2_node *node = &p->tree->nodes[leaf];
    const struct facet_bvh2_node *box = node->child1 > 1 ? node + 1 : node;
    const uint32_t first = facet_bvh2_first(node), count = node->child1;
    struct plan *plan = &p->plans[leaf];
    float apart = 0.0f, together;

    to->weight = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double own = facet_bvh_box_area(box[i].lo, box[i].hi) * p->scale;
        const uint32_t weight = p->cost->weights != NULL ? p->cost->weights[first + i] : 1;

        apart += leaf_cost(p->cost, (float)own, weight);
        to->weight += weight;
    }
    together = to->weight <= p->cost->max_weight || count == 1
                   ? leaf_cost(p->cost, area, to->weight)
                   : FLT_MAX;
    *plan = (struct plan){{count == 1 || together <= apart + area}};
    to->cost[8] = plan->left[0] ? together : apart + area;
    for (uint32_t slots = 2; slots < 8; slots++) {
        const bool better = slots >= count && apart < to->cost[8 + slots - 2];

        plan->left[slots - 1] = better && slots == count;
        to->cost[8 + slots - 1] = better ? apart : to->cost[8 + slots - 2];
    }
}

/* Backwards through nodes in depth-first order: the costs of a node's children are on top of the
 * stack, the left one's above the right one's. */
static bool plan_node(const struct planning *p, uint32_t i, struct cost_stack *stack)
{
    const struct facet_bvh2_node *node = &p->tree->nodes[i];
    const float area = (float)(node_area(node) * p->scale);
    struct costs *l, *r;

    if (facet_bvh2_is_leaf(node)) {
        l = push_costs(stack);
        if (l != NULL) {
            plan_leaf(p, i, area, l);
        }
        return l != NULL;
    }
    l = &stack->costs[--stack->depth];
    r = l - 1;
    r->weight += l->weight;
    plan_inner(&p->plans[i],
               l,
               r,
               p->width,
               area,
               r->weight <= p->cost->max_weight ? leaf_cost(p->cost, area, r->weight) : FLT_MAX,
               r);
    return true;
}

static void plan_some(void *context, size_t begin, size_t end)
{
    struct planning *p = context;

    for (size_t s = begin; s < end; s++) {
        struct subtree *subtree = &p->subtrees[s];
        struct cost_stack stack = {NULL, 0, 0};
        bool good = true;

        for (uint32_t i = subtree->end; good && i-- > subtree->first;) {
            good = p->tree->nodes[i].child0 == FACET_BVH2_UNUSED || plan_node(p, i, &stack);
        }
        if (good) {
            subtree->costs = stack.costs[0];
        } else {
            p->failed = true;
        }
        free(stack.costs);
    }
}

FACET_AVX2 static void plan_some_avx2(void *context, size_t begin, size_t end)
{
    plan_some(context, begin, end);
}

#define SUBTREES 256 /* about as many, of equal size if the tree is balanced */

/* Cuts the tree into subtrees of up to `limit` nodes, from left to right, and the nodes above them,
 * parents first. Returns their number, or -1 without memory. */
static int64_t cut_tree(const struct facet_bvh2 *tree,
                        uint32_t limit,
                        struct subtree **subtrees,
                        uint32_t **above,
                        size_t *above_count)
{
    size_t room = 0, above_room = 0, waiting_room = 0, waiting = 0;
    struct subtree at = {.first = 0, .end = tree->node_slots};
    uint32_t *ends = NULL; /* of the right parts that wait, and where they begin */
    int64_t count = 0;
    bool good = true;

    for (;;) {
        if (at.end - at.first > limit && !facet_bvh2_is_leaf(&tree->nodes[at.first])) {
            const uint32_t right = tree->nodes[at.first].child1;

            good = facet_array_fit(above, &above_room, *above_count + 1, sizeof **above) &&
                   facet_array_fit(&ends, &waiting_room, waiting + 2, sizeof *ends);
            if (!good) {
                break;
            }
            (*above)[(*above_count)++] = at.first;
            ends[waiting++] = right;
            ends[waiting++] = at.end;
            at = (struct subtree){.first = at.first + 1, .end = right};
            continue;
        }
        good = facet_array_fit(subtrees, &room, (size_t)count + 1, sizeof **subtrees);
        if (!good) {
            break;
        }
        (*subtrees)[count++] = at;
        if (waiting == 0) {
            break;
        }
        at.end = ends[--waiting];
        at.first = ends[--waiting];
    }
    free(ends);
    return good ? count : -1;
}

/* The nodes above the subtrees, backwards: as plan_some, but a subtree's costs are known. */
static bool plan_above(const struct planning *p,
                       const uint32_t *above,
                       size_t above_count,
                       size_t subtree_count)
{
    struct cost_stack stack = {NULL, 0, 0};
    bool good = true;

    while (good && (above_count != 0 || subtree_count != 0)) {
        if (above_count != 0 &&
            (subtree_count == 0 || above[above_count - 1] > p->subtrees[subtree_count - 1].first)) {
            good = plan_node(p, above[--above_count], &stack);
        } else {
            struct costs *costs = push_costs(&stack);

            good = costs != NULL;
            if (good) {
                *costs = p->subtrees[--subtree_count].costs;
            }
        }
    }
    free(stack.costs);
    return good;
}

static bool make_plans(struct planning *p, facet_pool *pool)
{
    const uint32_t limit = p->tree->node_slots / SUBTREES;
    uint32_t *above = NULL;
    size_t above_count = 0;
    int64_t count =
        cut_tree(p->tree, limit > 4096 ? limit : 4096, &p->subtrees, &above, &above_count);
    bool good = count >= 0;

    if (good) {
        facet_pool_for(pool, (size_t)count, 1, FACET_HAS_AVX2() ? plan_some_avx2 : plan_some, p);
        good = !p->failed && plan_above(p, above, above_count, (size_t)count);
    }
    free(above);
    free(p->subtrees);
    return good;
}

enum facet_status facet_bvh_collapse_optimal(struct facet_bvh2 *tree,
                                             const struct facet_leaf_cost *cost,
                                             unsigned width,
                                             facet_pool *pool,
                                             struct facet_wide *out,
                                             struct facet_error *err)
{
    const double root_area = node_area(&tree->nodes[0]);
    struct planning p = {.tree = tree,
                         .cost = cost,
                         .width = width,
                         .scale = root_area > 0.0 ? 1.0 / root_area : 0.0};
    enum facet_status status;

    *out = (struct facet_wide){0};
    p.plans = facet_large_alloc((size_t)tree->node_slots * sizeof *p.plans);
    if (p.plans != NULL && make_plans(&p, pool)) {
        status = open_all(tree, p.plans, width, pool, out, err);
    } else {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the nodes of the BVH");
    }
    free(p.plans);
    return status;
}

void facet_bvh_wide_free(struct facet_wide *wide)
{
    free(wide->nodes);
    free(wide->levels);
    *wide = (struct facet_wide){0};
}
