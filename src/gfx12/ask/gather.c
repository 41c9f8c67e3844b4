/* See gather.h. */
#include "gfx12/ask/gather.h"

#include "base/array.h"
#include "base/float.h"
#include "gfx12/ask/brute.h"

#include <stdlib.h>
#include <string.h>

struct work {
    const struct facet_gfx12_view *view;
    const struct facet_gfx12_walk *walk;
    struct facet_gfx12_gathered *out;
    const uint32_t *range; /* of depths */
    uint32_t *depth;       /* per node */
    size_t box_room, triangle_room, instance_room;
    bool failed;
};

/* ---- levels ---- */

static int by_address(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static uint32_t level_number(const struct facet_gfx12_gathered *g, uint64_t address)
{
    const uint64_t *found =
        bsearch(&address, g->levels, g->level_count, sizeof *g->levels, by_address);

    return found != NULL ? (uint32_t)(found - g->levels) : FACET_GFX12_NO_NODE;
}

static void number_levels(struct work *w)
{
    struct facet_gfx12_gathered *g = w->out;
    uint32_t kept = 0;

    g->levels = malloc(((size_t)w->walk->reached + 1) * sizeof *g->levels);
    if (g->levels == NULL) {
        w->failed = true;
        return;
    }
    for (uint32_t i = 0; i < w->walk->reached; i++) {
        g->levels[i] = w->walk->nodes[w->walk->order[i]].level_base;
    }
    qsort(g->levels, w->walk->reached, sizeof *g->levels, by_address);
    for (uint32_t i = 0; i < w->walk->reached; i++) {
        if (kept == 0 || g->levels[kept - 1] != g->levels[i]) {
            g->levels[kept++] = g->levels[i];
        }
    }
    g->level_count = kept;
    g->root_level = level_number(g, w->view->base);
}

static uint64_t address_of(const struct work *w, uint32_t node)
{
    return facet_gfx12_view_address(w->view, facet_gfx12_node_offset(node));
}

/* ---- boxes ---- */

static void set_corners(struct facet_gfx12_gathered_box *box)
{
    uint32_t m[9];
    const bool turned = facet_gfx12_obb_matrix(box->obb, m);

    for (unsigned i = 0; i < 8; i++) {
        double point[3] = {0, 0, 0};

        for (unsigned k = 0; k < 3; k++) {
            box->corner[i][k] = facet_float_of((i >> k & 1) != 0 ? box->hi[k] : box->lo[k]);
        }
        for (unsigned r = 0; turned && r < 3; r++) { /* the transpose turns back */
            for (unsigned c = 0; c < 3; c++) {
                point[c] += (double)facet_float_of(m[3 * r + c]) * (double)box->corner[i][r];
            }
        }
        for (unsigned k = 0; turned && k < 3; k++) {
            box->corner[i][k] = (float)point[k];
        }
    }
}

static void add_box(struct work *w, struct facet_gfx12_gathered_box *box)
{
    struct facet_gfx12_gathered *g = w->out;

    if (box->depth < w->range[0] || box->depth > w->range[1]) {
        return;
    }
    if (!facet_array_fit(&g->boxes, &w->box_room, g->box_count + 1, sizeof *g->boxes)) {
        w->failed = true;
        return;
    }
    set_corners(box);
    g->boxes[g->box_count++] = *box;
}

static void gather_box(struct work *w, uint32_t node)
{
    struct facet_gfx12_link links[8];
    const unsigned count = facet_gfx12_links(w->view, w->walk, node, links);
    struct facet_gfx12_box stored;

    facet_gfx12_box_decode(facet_gfx12_node_bytes(w->view, node), &stored);
    for (unsigned i = 0; i < count && !w->failed; i++) {
        struct facet_gfx12_gathered_box box = {
            .level = level_number(w->out, w->walk->nodes[node].level_base),
            .depth = w->depth[node] + 1,
            .node = address_of(w, node),
            .id = links[i].id,
            .slot = (uint8_t)links[i].slot,
            .obb = stored.obb_matrix_index & 0x7F,
        };

        if (box.obb >= FACET_GFX12_OBB_COUNT) {
            box.obb = FACET_GFX12_OBB_NONE;
        }
        facet_gfx12_child_bounds(
            &stored.child[links[i].slot], stored.origin, stored.exponent, box.lo, box.hi);
        add_box(w, &box);
    }
}

/* ---- primitives and instances ---- */

static void add_triangle(struct work *w, const struct facet_gfx12_gathered_triangle *triangle)
{
    struct facet_gfx12_gathered *g = w->out;

    if (!facet_array_fit(
            &g->triangles, &w->triangle_room, g->triangle_count + 1, sizeof *g->triangles)) {
        w->failed = true;
        return;
    }
    g->triangles[g->triangle_count++] = *triangle;
}

static void gather_primitive(struct work *w,
                             uint32_t node,
                             const struct facet_gfx12_pair *pair,
                             unsigned k,
                             const uint32_t aabb[6])
{
    const uint32_t level = level_number(w->out, w->walk->nodes[node].level_base);

    if (facet_gfx12_tri_procedural(&pair->desc.tri[k])) {
        struct facet_gfx12_gathered_box box = {.level = level,
                                               .depth = w->depth[node],
                                               .node = address_of(w, node),
                                               .id = pair->primitive_index[k],
                                               .slot = FACET_GFX12_PROCEDURAL_BOX,
                                               .obb = FACET_GFX12_OBB_NONE};

        memcpy(box.lo, aabb, sizeof box.lo);
        memcpy(box.hi, aabb + 3, sizeof box.hi);
        add_box(w, &box);
    } else {
        struct facet_gfx12_gathered_triangle triangle = {
            .level = level,
            .geometry = pair->geometry_index[k],
            .primitive = pair->primitive_index[k],
            .node = address_of(w, node),
            .opaque = pair->desc.tri[k].opaque != 0,
            .double_sided = pair->desc.tri[k].double_sided != 0,
        };

        for (unsigned i = 0; i < 9; i++) {
            triangle.corner[i / 3][i % 3] = facet_float_of(pair->vertex[k][i / 3][i % 3]);
        }
        add_triangle(w, &triangle);
    }
}

static void gather_primitives(struct work *w, uint32_t node)
{
    const uint8_t *bytes = facet_gfx12_node_bytes(w->view, node);
    struct facet_gfx12_prim prim;

    facet_gfx12_prim_decode(bytes, &prim);
    for (unsigned p = 0; p < facet_gfx12_stored_pairs(bytes) && !w->failed; p++) {
        struct facet_gfx12_pair pair;

        facet_gfx12_pair_decode(bytes, p, &pair);
        gather_primitive(w, node, &pair, 0, prim.aabb);
        if (!facet_gfx12_tri_absent(&pair.desc.tri[1])) {
            gather_primitive(w, node, &pair, 1, prim.aabb);
        }
    }
}

static void gather_instance(struct work *w, uint32_t node)
{
    struct facet_gfx12_gathered *g = w->out;
    struct facet_gfx12_gathered_instance item = {
        .level = level_number(g, w->walk->nodes[node].level_base),
        .node = address_of(w, node),
        .depth = w->depth[node]};

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(w->view, node), &item.stored);
    item.below = level_number(g, facet_gfx12_base_address(item.stored.pointer));
    if (!facet_array_fit(
            &g->instances, &w->instance_room, g->instance_count + 1, sizeof *g->instances)) {
        w->failed = true;
        return;
    }
    g->instances[g->instance_count++] = item;
}

/* ---- order ---- */

#define COMPARE(a, b) ((a) > (b)) - ((a) < (b))

static int by_depth(const void *a, const void *b)
{
    const struct facet_gfx12_gathered_box *x = a, *y = b;

    return x->level != y->level   ? COMPARE(x->level, y->level)
           : x->depth != y->depth ? COMPARE(x->depth, y->depth)
           : x->node != y->node   ? COMPARE(x->node, y->node)
                                  : COMPARE(x->slot, y->slot);
}

static int by_number(const void *a, const void *b)
{
    const struct facet_gfx12_gathered_triangle *x = a, *y = b;

    return x->level != y->level           ? COMPARE(x->level, y->level)
           : x->geometry != y->geometry   ? COMPARE(x->geometry, y->geometry)
           : x->primitive != y->primitive ? COMPARE(x->primitive, y->primitive)
                                          : COMPARE(x->node, y->node);
}

static int by_place(const void *a, const void *b)
{
    const struct facet_gfx12_gathered_instance *x = a, *y = b;

    return x->level != y->level ? COMPARE(x->level, y->level)
           : x->stored.user_data != y->stored.user_data
               ? COMPARE(x->stored.user_data, y->stored.user_data)
               : COMPARE(x->node, y->node);
}

static void sort(void *items, uint64_t count, size_t size, int (*order)(const void *, const void *))
{
    if (count != 0) {
        qsort(items, count, size, order);
    }
}

void facet_gfx12_gathered_free(struct facet_gfx12_gathered *gathered)
{
    free(gathered->levels);
    free(gathered->boxes);
    free(gathered->triangles);
    free(gathered->instances);
    *gathered = (struct facet_gfx12_gathered){0};
}

enum facet_status facet_gfx12_gather(const struct facet_gfx12_view *view,
                                     const struct facet_gfx12_walk *walk,
                                     const uint32_t depth[2],
                                     struct facet_progress *progress,
                                     struct facet_gfx12_gathered *out,
                                     struct facet_error *err)
{
    struct work w = {.view = view, .walk = walk, .out = out, .range = depth};

    *out = (struct facet_gfx12_gathered){0};
    w.depth = calloc((size_t)walk->count + 1, sizeof *w.depth);
    w.failed = w.depth == NULL;
    if (!w.failed) {
        number_levels(&w);
    }
    for (uint32_t i = walk->reached; i-- > 0 && !w.failed;) { /* parents before children */
        const uint32_t node = walk->order[i], parent = walk->nodes[node].parent;

        w.depth[node] = parent == FACET_GFX12_NO_NODE ? 0 : w.depth[parent] + 1;
        facet_progress_add(progress, 1);
        if (walk->nodes[node].kind == FACET_GFX12_KIND_BOX) {
            gather_box(&w, node);
        } else if (walk->nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
            gather_instance(&w, node);
        } else {
            gather_primitives(&w, node);
        }
    }
    free(w.depth);
    if (w.failed) {
        facet_gfx12_gathered_free(out);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for what the image holds");
    }
    sort(out->boxes, out->box_count, sizeof *out->boxes, by_depth);
    sort(out->triangles, out->triangle_count, sizeof *out->triangles, by_number);
    sort(out->instances, out->instance_count, sizeof *out->instances, by_place);
    return FACET_OK;
}
