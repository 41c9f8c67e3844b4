/* The nodes of a GFX12 image, and its triangles. */
#include "wasm/page_tree.h"

#include "base/float.h"
#include "gfx12/ask/bounds.h"
#include "gfx12/ask/brute.h"
#include "gfx12/image/node.h"
#include "gfx12/image/stats.h"
#include "gfx12/image/text.h"

#include <facet/machine.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is known of each node ---- */

static uint32_t parent_of(const struct page_bvh *b, uint32_t i)
{
    const uint32_t unit = b->walk.nodes[page_bvh_unit(b, i)].parent;

    return unit != FACET_GFX12_NO_NODE ? b->number[unit] : FACET_NONE;
}

static uint64_t base_of(const struct page_bvh *b, uint32_t i)
{
    return b->walk.nodes[page_bvh_unit(b, i)].level_base;
}

static enum facet_gfx12_kind kind_of(const struct page_bvh *b, uint32_t i)
{
    return (enum facet_gfx12_kind)b->walk.nodes[page_bvh_unit(b, i)].kind;
}

static const uint8_t *bytes_of(const struct page_bvh *b, uint32_t i)
{
    return facet_gfx12_node_bytes(&b->view, page_bvh_unit(b, i));
}

/* Levels by number, in the order in which they are met. Nodes below one instance are of one level.
 */
struct levels {
    uint32_t *of;    /* per node */
    uint32_t *below; /* per node: the level that an instance was the first to lead to */
    uint32_t count, instances;
};

static bool number_levels(const struct page_bvh *b, struct levels *levels)
{
    const uint32_t count = b->walk.reached;

    *levels = (struct levels){.of = malloc((size_t)count * 4 + 4),
                              .below = malloc((size_t)count * 4 + 4)};
    if (levels->of == NULL || levels->below == NULL) {
        return false;
    }
    memset(levels->below, 0xFF, (size_t)count * 4 + 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t parent = parent_of(b, i);

        levels->instances += kind_of(b, i) == FACET_GFX12_KIND_INSTANCE;
        if (parent != FACET_NONE && kind_of(b, parent) != FACET_GFX12_KIND_INSTANCE) {
            levels->of[i] = levels->of[parent];
        } else if (parent != FACET_NONE && levels->below[parent] != FACET_NONE) {
            levels->of[i] = levels->below[parent];
        } else {
            levels->of[i] = levels->count++;
            if (parent != FACET_NONE) {
                levels->below[parent] = levels->of[i];
            }
        }
    }
    return true;
}

static void levels_free(struct levels *levels)
{
    free(levels->of);
    free(levels->below);
}

/* ---- boxes ---- */

static void child_box(const struct facet_gfx12_box *stored, unsigned slot, float box[6])
{
    double lo[3], hi[3];

    facet_gfx12_child_world(stored, slot, lo, hi);
    for (unsigned k = 0; k < 3; k++) {
        box[k] = (float)lo[k];
        box[3 + k] = (float)hi[k];
    }
}

/* Around what a node holds: children of a box, corners of triangles. */
static void own_box(const struct page_bvh *b, uint32_t i, float box[6])
{
    const uint8_t *bytes = bytes_of(b, i);
    struct facet_gfx12_link links[8];
    struct facet_gfx12_box stored;

    page_box_empty(box);
    if (kind_of(b, i) == FACET_GFX12_KIND_BOX) {
        const unsigned count = facet_gfx12_links(&b->view, &b->walk, page_bvh_unit(b, i), links);

        facet_gfx12_box_decode(bytes, &stored);
        for (unsigned c = 0; c < count; c++) {
            float child[6];

            child_box(&stored, links[c].slot, child);
            page_box_widen(box, child, child + 3);
        }
    } else if (kind_of(b, i) == FACET_GFX12_KIND_PRIMITIVE) {
        for (unsigned p = 0; p < facet_gfx12_stored_pairs(bytes); p++) {
            struct facet_gfx12_pair pair;

            facet_gfx12_pair_decode(bytes, p, &pair);
            for (unsigned v = 0; v < 6; v++) {
                float point[3];

                for (unsigned k = 0; k < 3; k++) {
                    point[k] = facet_float_of(pair.vertex[v / 3][v % 3][k]);
                }
                page_box_widen(box, point, point);
            }
        }
    }
}

/* The box that the parent has for it; at the top of a level what the node itself holds. */
static void find_box(const struct page_bvh *b, struct page_tree *t, uint32_t i)
{
    const int32_t parent = t->parent[i];
    struct facet_gfx12_box stored;

    if (parent >= 0 && t->kind[parent] == FACET_GFX12_KIND_BOX) {
        facet_gfx12_box_decode(bytes_of(b, (uint32_t)parent), &stored);
        child_box(&stored, t->slot[i], t->box + 6 * (size_t)i);
    } else {
        own_box(b, i, t->box + 6 * (size_t)i);
    }
}

static float overlap(const struct page_bvh *b, uint32_t i)
{
    struct facet_gfx12_link links[8];
    const unsigned count = facet_gfx12_links(&b->view, &b->walk, page_bvh_unit(b, i), links);
    struct facet_gfx12_box stored;
    uint32_t id[8];
    float boxes[8][6];

    facet_gfx12_box_decode(bytes_of(b, i), &stored);
    for (unsigned c = 0; c < count; c++) {
        child_box(&stored, links[c].slot, boxes[c]);
        id[c] = links[c].id;
    }
    return page_box_overlap((const float(*)[6])boxes, id, count);
}

/* ---- triangles ---- */

static uint32_t triangles_in(const uint8_t *bytes)
{
    uint32_t count = 0;

    for (unsigned p = 0; p < facet_gfx12_stored_pairs(bytes); p++) {
        struct facet_gfx12_pair pair;

        facet_gfx12_pair_decode(bytes, p, &pair);
        for (unsigned k = 0; k < 2; k++) {
            count += !facet_gfx12_tri_procedural(&pair.desc.tri[k]) &&
                     (k == 0 || !facet_gfx12_tri_absent(&pair.desc.tri[k]));
        }
    }
    return count;
}

/* The node that an instance leads to, FACET_NONE when the image has none there. */
static uint32_t instance_target(const struct page_bvh *b, uint32_t i)
{
    struct facet_gfx12_link links[8];
    uint32_t target;

    if (facet_gfx12_links(&b->view, &b->walk, page_bvh_unit(b, i), links) == 0 ||
        !facet_gfx12_link_leads(&b->walk, &links[0], &target)) {
        return FACET_NONE;
    }
    return b->number[target];
}

/* Children come after parents, so sums are made from the end. An instance that shares its bottom
 * level with one before it has no node of its own below it. */
static void sum_triangles(const struct page_bvh *b, struct page_tree *t)
{
    for (uint32_t i = t->count; i-- > 0;) {
        if (t->kind[i] == FACET_GFX12_KIND_PRIMITIVE) {
            t->triangles[i] += triangles_in(bytes_of(b, i));
        }
        if (t->parent[i] >= 0 && t->kind[t->parent[i]] != FACET_GFX12_KIND_INSTANCE) {
            t->triangles[t->parent[i]] += t->triangles[i];
        }
    }
    /* Now every bottom level is summed; the levels that show them add what instances bring. */
    for (uint32_t i = t->count; i-- > 0;) {
        const uint32_t target =
            t->kind[i] == FACET_GFX12_KIND_INSTANCE ? instance_target(b, i) : FACET_NONE;

        if (target != FACET_NONE && target != i) {
            t->triangles[i] = t->triangles[target];
            for (int32_t up = t->parent[i]; up >= 0 && t->kind[up] != FACET_GFX12_KIND_INSTANCE;
                 up = t->parent[up]) {
                t->triangles[up] += t->triangles[i];
            }
        }
    }
}

/* ---- columns ---- */

static void
fill_node(const struct page_bvh *b, const struct levels *levels, struct page_tree *t, uint32_t i)
{
    const uint32_t unit = page_bvh_unit(b, i), parent = parent_of(b, i);
    struct facet_gfx12_link links[8];

    t->offset[i] = (double)facet_gfx12_node_offset(unit);
    t->id[i] = facet_gfx12_walk_id(&b->view, &b->walk, unit);
    t->parent[i] = parent != FACET_NONE ? (int32_t)parent : -1;
    t->level[i] = levels->of[i];
    t->depth[i] = parent != FACET_NONE ? t->depth[parent] + 1 : 0;
    t->kind[i] = (uint8_t)kind_of(b, i);
    t->slot[i] = b->walk.nodes[unit].last_slot;
    t->children[i] = t->kind[i] != FACET_GFX12_KIND_PRIMITIVE
                         ? (uint8_t)facet_gfx12_links(&b->view, &b->walk, unit, links)
                         : 0;
    find_box(b, t, i);
    t->overlap[i] = t->kind[i] == FACET_GFX12_KIND_BOX ? overlap(b, i) : 0.0F;
}

static void fill_instance(const struct page_bvh *b,
                          const struct levels *levels,
                          struct page_tree *t,
                          uint32_t n,
                          uint32_t i)
{
    const uint32_t target = instance_target(b, i);
    struct facet_gfx12_instance stored;
    float to_object[3][4];
    double to_world[3][4];

    t->instance[n] = i;
    t->instance_goes[n] = target != FACET_NONE ? (int32_t)levels->of[target] : -1;
    facet_gfx12_instance_decode(bytes_of(b, i), &stored);
    for (unsigned k = 0; k < 12; k++) {
        to_object[k / 4][k % 4] = facet_float_of(stored.world_to_object[k]);
    }
    if (!facet_gfx12_object_to_world(to_object, to_world)) {
        memset(to_world, 0, sizeof to_world);
    }
    for (unsigned k = 0; k < 12; k++) {
        t->to_world[12 * (size_t)n + k] = (float)to_world[k / 4][k % 4];
    }
}

static void fill(const struct page_bvh *b, const struct levels *levels, struct page_tree *t)
{
    uint32_t instances = 0, met = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        fill_node(b, levels, t, i);
        if (levels->of[i] == met) {
            t->level_root[met] = i;
            t->level_base[met++] = (double)base_of(b, i);
        }
        if (t->kind[i] == FACET_GFX12_KIND_INSTANCE) {
            fill_instance(b, levels, t, instances++, i);
        }
        if (i % 16384 == 0) {
            page_progress(i, t->count);
        }
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const float whole = page_box_surface(t->box + 6 * (size_t)t->level_root[t->level[i]]);

        t->area[i] = whole > 0.0F ? page_box_surface(t->box + 6 * (size_t)i) / whole : 0.0F;
    }
    sum_triangles(b, t);
}

static enum facet_status
fill_costs(const struct page_bvh *b, struct page_tree *t, struct facet_error *err)
{
    double *cost = malloc(((size_t)b->walk.count + 1) * sizeof *cost);
    enum facet_status status = cost != NULL
                                   ? facet_gfx12_bvh_costs(&b->view, &b->walk, cost, err)
                                   : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the tree");

    for (uint32_t i = 0; i < t->count && status == FACET_OK; i++) {
        t->cost[i] = (float)cost[page_bvh_unit(b, i)];
    }
    free(cost);
    return status;
}

static int make_tree(struct page_bvh *b)
{
    struct levels levels = {0};
    struct facet_error err = {0};
    struct page_tree tree = {.slots = 8};
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (page_bvh_walk(b, &err) != FACET_OK) {
        return page_fail(&err);
    }
    if (number_levels(b, &levels)) {
        tree.count = b->walk.reached;
        tree.level_count = levels.count;
        tree.instance_count = levels.instances;
        bytes = page_tree_make(&tree, &size);
    }
    if (bytes != NULL) {
        fill(b, &levels, &tree);
    }
    levels_free(&levels);
    if (bytes == NULL) {
        return page_no_memory("the tree");
    }
    if (fill_costs(b, &tree, &err) != FACET_OK) {
        free(bytes);
        return page_fail(&err);
    }
    return page_give_bytes(bytes, size);
}

/* Four words, counts of nodes, levels and instances and the slots of a box, then the columns of
 * page_tree.h. */
int PAGE_EXPORT(page_bvh_tree)(struct page_bvh *b)
{
    return b->format == FACET_BVH_FORMAT_GFX12 ? make_tree(b) : page_rt_tree(b);
}

/* A node as `facet bvh dump --json` writes it. */
int PAGE_EXPORT(page_bvh_node)(struct page_bvh *b, uint32_t i)
{
    struct facet_strbuf out;
    struct facet_error err = {0};

    if (b->format == FACET_BVH_FORMAT_XPHMG) {
        return page_rt_node(b, i);
    }
    if (page_bvh_walk(b, &err) == FACET_OK && i >= b->walk.reached) {
        (void)facet_fail(&err, FACET_ERR_USAGE, i, "there is no node %u", (unsigned)i);
    }
    if (err.status != FACET_OK) {
        return page_fail(&err);
    }
    facet_strbuf_init(&out);
    facet_gfx12_json_node(&b->view, &b->walk, page_bvh_unit(b, i), &out);
    if (out.failed) {
        facet_strbuf_free(&out);
        return page_no_memory("a node");
    }
    return page_give_bytes(out.text, out.length);
}

/* ---- triangles ---- */

static void
put_triangle(uint32_t *to, const struct facet_gfx12_pair *pair, unsigned k, uint32_t node)
{
    for (unsigned i = 0; i < 9; i++) {
        to[i] = pair->vertex[k][i / 3][i % 3];
    }
    to[9] = node;
    to[10] = pair->geometry_index[k];
    to[11] = pair->primitive_index[k];
}

/* The triangles of the nodes first .. first + count of the tree, twelve words each. */
int PAGE_EXPORT(page_bvh_triangles)(struct page_bvh *b, uint32_t first, uint32_t count)
{
    struct facet_error err = {0};
    uint32_t end, *out;
    size_t total = 0, at = 0;

    if (b->format == FACET_BVH_FORMAT_XPHMG) {
        return page_rt_triangles(b, first, count);
    }
    if (page_bvh_walk(b, &err) != FACET_OK) {
        return page_fail(&err);
    }
    first = first < b->walk.reached ? first : b->walk.reached;
    end = count < b->walk.reached - first ? first + count : b->walk.reached;
    for (uint32_t i = first; i < end; i++) {
        total += kind_of(b, i) == FACET_GFX12_KIND_PRIMITIVE ? triangles_in(bytes_of(b, i)) : 0;
    }
    out = malloc(total * PAGE_TRIANGLE_WORDS * sizeof *out + 1);
    if (out == NULL) {
        return page_no_memory("the triangles");
    }
    for (uint32_t i = first; i < end; i++) {
        const uint8_t *bytes = bytes_of(b, i);
        const bool holds = kind_of(b, i) == FACET_GFX12_KIND_PRIMITIVE;

        for (unsigned p = 0; holds && p < facet_gfx12_stored_pairs(bytes); p++) {
            struct facet_gfx12_pair pair;

            facet_gfx12_pair_decode(bytes, p, &pair);
            for (unsigned k = 0; k < 2; k++) {
                if (!facet_gfx12_tri_procedural(&pair.desc.tri[k]) &&
                    (k == 0 || !facet_gfx12_tri_absent(&pair.desc.tri[k]))) {
                    put_triangle(out + PAGE_TRIANGLE_WORDS * at++, &pair, k, i);
                }
            }
        }
    }
    return page_give_bytes(out, at * PAGE_TRIANGLE_WORDS * sizeof *out);
}
