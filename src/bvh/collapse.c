/* Both forms produce wide nodes in FIFO order from a list of slots per node. Neither recurses: a
 * binary tree may be thousands of levels deep. */
#include "bvh/collapse.h"

#include "base/array.h"
#include "base/large.h"

#include <float.h>
#include <stdlib.h>

/* The items below a node: leaves know theirs, for inner nodes the optimal form fills the table. */
struct run {
    uint32_t first, count;
    uint32_t weight;
};

static double node_area(const struct facet_bvh2_node *node)
{
    return facet_bvh_box_area(node->lo, node->hi);
}

static bool wide_fits(struct facet_wide *wide, size_t *capacity, uint32_t more)
{
    return facet_array_fit(&wide->nodes, capacity, (size_t)wide->count + more, sizeof *wide->nodes);
}

static enum facet_status no_memory(struct facet_wide *out, struct facet_error *err)
{
    facet_bvh_wide_free(out);
    return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the nodes of the BVH");
}

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

/* Inner slots in slot order, then leaves. `run` is NULL when only the leaves of the binary tree are
 * leaves. */
static void fill_wide(struct facet_wide_node *wide,
                      const struct facet_bvh2_node *nodes,
                      const uint32_t *slot,
                      const bool *as_leaf,
                      unsigned count,
                      const struct run *run)
{
    wide->count = 0;
    for (int leaves = 0; leaves < 2; leaves++) {
        for (unsigned i = 0; i < count; i++) {
            const struct facet_bvh2_node *node = &nodes[slot[i]];
            struct facet_wide_child *child = &wide->child[wide->count];

            if (as_leaf[i] != leaves) {
                continue;
            }
            child->node = slot[i];
            if (run != NULL) {
                child->first = run[slot[i]].first;
                child->count = run[slot[i]].count;
            } else if (leaves) {
                child->first = facet_bvh2_first(node);
                child->count = node->child1;
            } else {
                child->first = child->count = 0;
            }
            wide->count++;
        }
        if (!leaves) {
            wide->inner = wide->count;
        }
    }
}

static enum facet_status push_children(struct facet_wide *out, size_t *capacity, uint32_t parent)
{
    uint32_t first = out->count;
    uint8_t inner = out->nodes[parent].inner;

    if (!wide_fits(out, capacity, inner)) {
        return FACET_ERR_MEMORY;
    }
    out->nodes[parent].first_inner = first;
    for (uint8_t i = 0; i < inner; i++) {
        out->nodes[first + i].parent = parent;
        out->nodes[first + i].index_in_parent = i;
    }
    out->count += inner;
    return FACET_OK;
}

enum facet_status facet_bvh_collapse_greedy(const struct facet_bvh2 *tree,
                                            unsigned width,
                                            struct facet_wide *out,
                                            struct facet_error *err)
{
    size_t capacity = 0;

    *out = (struct facet_wide){NULL, 0};
    if (!wide_fits(out, &capacity, 1)) {
        return no_memory(out, err);
    }
    out->nodes[0].parent = UINT32_MAX;
    out->nodes[0].index_in_parent = 0;
    out->count = 1;
    for (uint32_t i = 0; i < out->count; i++) {
        struct facet_wide_node *wide = &out->nodes[i];
        uint32_t root = 0;
        uint32_t slot[8];
        bool as_leaf[8] = {false};
        unsigned count;

        if (wide->parent != UINT32_MAX) {
            root = out->nodes[wide->parent].child[wide->index_in_parent].node;
        }
        count = open_greedy(tree->nodes, root, width, slot);
        for (unsigned s = 0; s < count; s++) {
            as_leaf[s] = facet_bvh2_is_leaf(&tree->nodes[slot[s]]);
        }
        fill_wide(wide, tree->nodes, slot, as_leaf, count, NULL);
        if (push_children(out, &capacity, i) != FACET_OK) {
            return no_memory(out, err);
        }
    }
    return FACET_OK;
}

/* ---- optimal ---- */

/* cost[i]: the cheapest way to present the subtree as at most i + 1 children of a node above.
 * left[i] says how: slots given to the left child, or 0 = as cost[i - 1] does; left[0] = 1 means a
 * leaf, 0 a node of its own. */
struct plan {
    float cost[7];
    uint8_t left[7];
    uint8_t own_left; /* slots of the left child when the subtree is a node of its own */
};

/* 2 <= slots <= 8. */
static float best_cut(const struct plan *l, const struct plan *r, unsigned slots, uint8_t *cut)
{
    float best = FLT_MAX;

    *cut = 1;
    for (unsigned i = 1; i < slots; i++) {
        float cost = l->cost[i - 1] + r->cost[slots - i - 1];

        if (cost < best) {
            best = cost;
            *cut = (uint8_t)i;
        }
    }
    return best;
}

static void plan_leaf(struct plan *plan, float cost)
{
    for (int i = 0; i < 7; i++) {
        plan->cost[i] = cost;
        plan->left[i] = 0;
    }
    plan->left[0] = 1;
}

static void plan_inner(struct plan *plan,
                       const struct plan *l,
                       const struct plan *r,
                       unsigned width,
                       float area,
                       float leaf_cost)
{
    float own = best_cut(l, r, width, &plan->own_left) + area;

    plan->left[0] = leaf_cost <= own;
    plan->cost[0] = leaf_cost <= own ? leaf_cost : own;
    for (unsigned slots = 2; slots < width; slots++) {
        uint8_t cut;
        float cost = best_cut(l, r, slots, &cut);

        plan->cost[slots - 1] = plan->cost[slots - 2];
        plan->left[slots - 1] = 0;
        if (cost < plan->cost[slots - 2]) {
            plan->cost[slots - 1] = cost;
            plan->left[slots - 1] = cut;
        }
    }
}

static float leaf_cost(const struct facet_leaf_cost *cost, float area, uint32_t weight)
{
    const uint32_t tests = (weight + cost->units - 1) / cost->units;

    return area * (cost->leaf + cost->test * (float)tests);
}

static void make_plans(const struct facet_bvh2 *tree,
                       const struct facet_bvh_item *items,
                       const struct facet_leaf_cost *cost,
                       unsigned width,
                       struct plan *plans,
                       struct run *runs)
{
    double root_area = node_area(&tree->nodes[0]);
    double scale = root_area > 0.0 ? 1.0 / root_area : 0.0;

    for (uint32_t i = tree->node_slots; i-- > 0;) {
        const struct facet_bvh2_node *node = &tree->nodes[i];
        float area;

        if (node->child0 == FACET_BVH2_UNUSED) {
            continue;
        }
        area = (float)(node_area(node) * scale);
        if (facet_bvh2_is_leaf(node)) {
            uint32_t first = facet_bvh2_first(node);

            runs[i] = (struct run){first, node->child1, 0};
            for (uint32_t k = 0; k < node->child1; k++) {
                runs[i].weight += items[first + k].weight;
            }
            plan_leaf(&plans[i], leaf_cost(cost, area, runs[i].weight));
            continue;
        }
        runs[i].first = runs[node->child0].first;
        runs[i].count = runs[node->child0].count + runs[node->child1].count;
        runs[i].weight = runs[node->child0].weight + runs[node->child1].weight;
        plan_inner(&plans[i],
                   &plans[node->child0],
                   &plans[node->child1],
                   width,
                   area,
                   runs[i].weight <= cost->max_weight ? leaf_cost(cost, area, runs[i].weight)
                                                      : FLT_MAX);
    }
}

/* The slots that the plan gives to a node of its own. */
static unsigned open_planned(const struct facet_bvh2_node *nodes,
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

    if (facet_bvh2_is_leaf(&nodes[root]) || plans[root].left[0] == 1) {
        slot[0] = root;
        as_leaf[0] = true;
        return 1;
    }
    stack[depth].node = nodes[root].child1;
    stack[depth++].slots = width - plans[root].own_left;
    stack[depth].node = nodes[root].child0;
    stack[depth++].slots = plans[root].own_left;
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
            continue;
        }
        stack[depth].node = nodes[node].child1;
        stack[depth++].slots = slots - plan->left[slots - 1];
        stack[depth].node = nodes[node].child0;
        stack[depth++].slots = plan->left[slots - 1];
    }
    return count;
}

enum facet_status facet_bvh_collapse_optimal(const struct facet_bvh2 *tree,
                                             const struct facet_bvh_item *items,
                                             const struct facet_leaf_cost *cost,
                                             unsigned width,
                                             struct facet_wide *out,
                                             struct facet_error *err)
{
    struct plan *plans = facet_large_alloc((size_t)tree->node_slots * sizeof *plans);
    struct run *runs = facet_large_alloc((size_t)tree->node_slots * sizeof *runs);
    size_t capacity = 0;
    enum facet_status status = FACET_ERR_MEMORY;

    *out = (struct facet_wide){NULL, 0};
    if (plans == NULL || runs == NULL || !wide_fits(out, &capacity, 1)) {
        goto out;
    }
    make_plans(tree, items, cost, width, plans, runs);
    out->nodes[0].parent = UINT32_MAX;
    out->nodes[0].index_in_parent = 0;
    out->count = 1;
    for (uint32_t i = 0; i < out->count; i++) {
        struct facet_wide_node *wide = &out->nodes[i];
        uint32_t root = 0;
        uint32_t slot[8];
        bool as_leaf[8] = {false};
        unsigned count;

        if (wide->parent != UINT32_MAX) {
            root = out->nodes[wide->parent].child[wide->index_in_parent].node;
        }
        count = open_planned(tree->nodes, plans, root, width, slot, as_leaf);
        fill_wide(wide, tree->nodes, slot, as_leaf, count, runs);
        if (push_children(out, &capacity, i) != FACET_OK) {
            goto out;
        }
    }
    status = FACET_OK;
out:
    free(plans);
    free(runs);
    return status == FACET_OK ? FACET_OK : no_memory(out, err);
}

void facet_bvh_wide_free(struct facet_wide *wide)
{
    free(wide->nodes);
    *wide = (struct facet_wide){NULL, 0};
}
