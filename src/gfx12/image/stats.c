/* One pass children first (costs), one pass parents first (depths).
 *
 * The cost is the surface area heuristic in units of instructions: a box node, an instance and a
 * pair each take one. A random line that meets a convex box meets another one inside it with the
 * ratio of their areas, so the expected number of visits is a sum of areas over the root's. */
#include "gfx12/image/stats.h"

#include "base/bits.h"
#include "gfx12/image/node.h"
#include "gfx12/image/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double decoded_area(const uint32_t lo[3], const uint32_t hi[3])
{
    double d[3];

    for (int k = 0; k < 3; k++) {
        float l, h;

        memcpy(&l, &lo[k], sizeof l);
        memcpy(&h, &hi[k], sizeof h);
        d[k] = fmax(0.0, (double)h - (double)l);
    }
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

struct tally {
    const struct facet_gfx12_view *view;
    const struct facet_gfx12_walk *walk;
    struct facet_gfx12_bvh_stats *out;
    double *below; /* box: sum of visits times area below it; instance: cost of its BLAS */
    double *cost;  /* what boxes have given to each node, or NULL when nobody asks */
};

/* Union of the node's child boxes. */
static double
node_area(const struct facet_gfx12_box *box, const struct facet_gfx12_link *links, unsigned count)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    uint32_t lo[3], hi[3];

    for (unsigned i = 0; i < count; i++) {
        facet_gfx12_child_bounds(&box->child[links[i].slot], box->origin, box->exponent, lo, hi);
        for (int k = 0; k < 3; k++) {
            float l, h;

            memcpy(&l, &lo[k], sizeof l);
            memcpy(&h, &hi[k], sizeof h);
            low[k] = fminf(low[k], l);
            high[k] = fmaxf(high[k], h);
        }
    }
    memcpy(lo, low, sizeof lo);
    memcpy(hi, high, sizeof hi);
    return decoded_area(lo, hi);
}

static unsigned count_range(const struct tally *t, const struct facet_gfx12_link *link)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(t->view, link);

    while (facet_gfx12_range_next(&range)) {
    }
    return range.seen;
}

static void count_box(struct tally *t, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(t->view, t->walk, node, links);
    struct facet_gfx12_box box;
    double sum = 0.0;

    facet_gfx12_box_decode(facet_gfx12_node_bytes(t->view, node), &box);
    t->out->box_nodes++;
    t->out->children[count]++;
    t->out->child_boxes += count;
    t->out->oriented += (box.obb_matrix_index & 0x7F) < FACET_GFX12_OBB_COUNT;
    for (unsigned i = 0; i < count; i++) {
        uint32_t lo[3], hi[3];
        uint32_t target;
        double area, here;

        if (!facet_gfx12_link_leads(t->walk, &links[i], &target) ||
            (i > 0 && links[i].id == links[i - 1].id)) {
            continue;
        }
        facet_gfx12_child_bounds(&box.child[links[i].slot], box.origin, box.exponent, lo, hi);
        area = decoded_area(lo, hi);
        switch (facet_gfx12_id_kind(links[i].id)) {
        case FACET_GFX12_KIND_BOX:
            here = area + t->below[target];
            break;
        case FACET_GFX12_KIND_INSTANCE:
            here = area * (1.0 + t->below[target]);
            break;
        default: {
            unsigned pairs = count_range(t, &links[i]);

            t->out->ranges++;
            t->out->range_pairs[pairs < 16 ? pairs : 16]++;
            here = area * pairs;
            break;
        }
        }
        sum += here;
        if (t->cost != NULL) {
            t->cost[target] += here;
        }
    }
    t->below[node] = sum;
}

static double root_area(const struct tally *t, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(t->view, t->walk, node, links);
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(facet_gfx12_node_bytes(t->view, node), &box);
    return node_area(&box, links, count);
}

/* Cost of a level whose root is `node`, relative to meeting the root's box. */
static double level_cost(const struct tally *t, uint32_t node)
{
    const double area = root_area(t, node);

    return area > 0.0 ? 1.0 + t->below[node] / area : 1.0;
}

static void count_instance(struct tally *t, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(t->view, t->walk, node, links);
    uint32_t target;

    t->out->instance_nodes++;
    t->below[node] = 0.0;
    if (count == 0 || !facet_gfx12_link_leads(t->walk, &links[0], &target)) {
        return;
    }
    if (t->walk->nodes[target].kind == FACET_GFX12_KIND_BOX) {
        t->below[node] = level_cost(t, target);
    }
}

static void count_prim(struct tally *t, uint32_t node)
{
    struct facet_gfx12_bvh_stats *out = t->out;
    struct facet_gfx12_prim p;
    unsigned pairs, per_vertex = 0, vertices = 0;
    bool procedural = false;

    facet_gfx12_prim_outline(facet_gfx12_node_bytes(t->view, node), &p);
    pairs = facet_gfx12_prim_pairs(&p.header);
    out->primitive_nodes++;
    out->pairs += pairs;
    out->pairs_per_node[pairs]++;
    for (unsigned i = 0; i < pairs; i++) {
        const struct facet_gfx12_pair_tri *tri = p.pair[i].tri;
        bool second = !facet_gfx12_tri_absent(&tri[1]);

        for (unsigned k = 0; k < 1u + second; k++) {
            if (facet_gfx12_tri_procedural(&tri[k])) {
                out->boxes++;
                procedural = true;
            } else {
                out->triangles++;
            }
        }
        out->full_pairs += second;
    }
    if (procedural) {
        out->used_bits += facet_gfx12_prim_bits(&p.header, 0) + 192;
        return;
    }
    vertices = p.vertex_count;
    for (unsigned k = 0; k < 3; k++) {
        unsigned bits = p.header.vertex_bits_minus_one[k] + 1u;

        out->axis_bits[bits]++;
        per_vertex += bits;
    }
    out->vertices += vertices;
    out->vertices_per_node[vertices <= 16 ? vertices : 16]++;
    out->vertex_bits += (uint64_t)vertices * per_vertex;
    out->used_bits += facet_gfx12_prim_bits(&p.header, vertices);
}

static void count_depths(struct tally *t, uint32_t *depth)
{
    for (uint32_t i = t->walk->reached; i-- > 0;) {
        uint32_t node = t->walk->order[i];
        uint32_t parent = t->walk->nodes[node].parent;

        depth[node] = parent == FACET_GFX12_NO_NODE ? 0 : depth[parent] + 1;
        if (depth[node] > t->out->max_depth) {
            t->out->max_depth = depth[node];
        }
        t->out->depth[depth[node] < FACET_GFX12_DEPTH_BINS ? depth[node]
                                                           : FACET_GFX12_DEPTH_BINS - 1]++;
    }
}

/* Children first: costs of parents are made of those of children. */
static void count_nodes(struct tally *t)
{
    for (uint32_t i = 0; i < t->walk->reached; i++) {
        uint32_t node = t->walk->order[i];

        switch (t->walk->nodes[node].kind) {
        case FACET_GFX12_KIND_BOX:
            count_box(t, node);
            break;
        case FACET_GFX12_KIND_INSTANCE:
            count_instance(t, node);
            break;
        default:
            count_prim(t, node);
            break;
        }
    }
}

static double root_cost(const struct tally *t, uint32_t root)
{
    return t->walk->nodes[root].kind == FACET_GFX12_KIND_BOX ? level_cost(t, root) : 1.0;
}

/* Parents first: each level by the area of its root, which `scale` hands down. */
static void scale_costs(const struct tally *t, double *scale)
{
    for (uint32_t i = t->walk->reached; i-- > 0;) {
        uint32_t node = t->walk->order[i];
        uint32_t parent = t->walk->nodes[node].parent;

        if (parent != FACET_GFX12_NO_NODE &&
            t->walk->nodes[parent].kind != FACET_GFX12_KIND_INSTANCE) {
            scale[node] = scale[parent];
            t->cost[node] = scale[node] > 0.0 ? t->cost[node] / scale[node] : 0.0;
        } else {
            t->cost[node] = root_cost(t, node);
            scale[node] =
                t->walk->nodes[node].kind == FACET_GFX12_KIND_BOX ? root_area(t, node) : 0.0;
        }
    }
}

enum facet_status facet_gfx12_bvh_costs(const struct facet_gfx12_view *view,
                                        const struct facet_gfx12_walk *walk,
                                        double *cost,
                                        struct facet_error *err)
{
    struct facet_gfx12_bvh_stats unused = {0};
    struct tally t = {view, walk, &unused, calloc((size_t)walk->count + 1, sizeof *t.below), cost};

    if (t.below == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for costs");
    }
    memset(cost, 0, (size_t)walk->count * sizeof *cost);
    count_nodes(&t);
    /* In place of what was below, which only the root of a level still needs. */
    scale_costs(&t, t.below);
    free(t.below);
    return FACET_OK;
}

enum facet_status facet_gfx12_bvh_stats(const struct facet_gfx12_view *view,
                                        const struct facet_gfx12_walk *walk,
                                        struct facet_gfx12_bvh_stats *out,
                                        struct facet_error *err)
{
    struct tally t = {view, walk, out, calloc((size_t)walk->count + 1, sizeof *t.below), NULL};
    uint32_t *depth = calloc((size_t)walk->count + 1, sizeof *depth);
    uint64_t *bases;
    bool counted;

    *out =
        (struct facet_gfx12_bvh_stats){.bytes = view->size, .nodes = facet_gfx12_walk_size(walk)};
    if (t.below == NULL || depth == NULL) {
        free(t.below);
        free(depth);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for statistics");
    }
    count_nodes(&t);
    out->raw_nodes = out->nodes - walk->reached;
    out->bottom_levels = facet_gfx12_bottom_levels(view, walk, &bases);
    counted = bases != NULL;
    free(bases);
    if (walk->reached != 0) {
        out->sah = root_cost(&t, walk->order[walk->reached - 1]);
        count_depths(&t, depth);
    }
    free(t.below);
    free(depth);
    return counted ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for statistics");
}
