/* See compare.h. A primitive becomes a hash of its corners and numbers; the sorted hashes of two
 * bottom levels are merged. Bottom levels belong together when instances that are the same name
 * them: by user data, matrix, mask and flags. */
#include "gfx12/ask/compare.h"

#include "base/float.h"
#include "base/hash.h"
#include "base/random.h"
#include "gfx12/ask/brute.h"
#include "gfx12/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shape ---- */

/* Orders are children before parents in the same search, so equal trees have equal orders; node by
 * node, the links have to agree. */
bool facet_gfx12_same_shape(const struct facet_gfx12_view *a,
                            const struct facet_gfx12_walk *walk_a,
                            const struct facet_gfx12_view *b,
                            const struct facet_gfx12_walk *walk_b)
{
    if (walk_a->reached != walk_b->reached) {
        return false;
    }
    for (uint32_t i = 0; i < walk_a->reached; i++) {
        const uint32_t x = walk_a->order[i], y = walk_b->order[i];
        struct facet_gfx12_link of_x[8], of_y[8];
        const unsigned count = facet_gfx12_links(a, walk_a, x, of_x);

        if (walk_a->nodes[x].kind != walk_b->nodes[y].kind ||
            facet_gfx12_links(b, walk_b, y, of_y) != count) {
            return false;
        }
        for (unsigned k = 0; k < count; k++) {
            if (of_x[k].slot != of_y[k].slot ||
                facet_gfx12_id_kind(of_x[k].id) != facet_gfx12_id_kind(of_y[k].id)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- overlap of siblings ---- */

static double area_of(const double extent[3])
{
    return extent[0] * extent[1] + extent[1] * extent[2] + extent[2] * extent[0];
}

/* Areas that two children share, over the area of all of them, in the space of the node's grid. */
static double node_overlap(const struct facet_gfx12_box *box,
                           const struct facet_gfx12_link *links,
                           unsigned count)
{
    double lo[8][3], hi[8][3], all_lo[3], all_hi[3], extent[3], shared = 0.0;

    for (unsigned i = 0; i < count; i++) {
        uint32_t low[3], high[3];

        facet_gfx12_child_bounds(&box->child[links[i].slot], box->origin, box->exponent, low, high);
        for (unsigned k = 0; k < 3; k++) {
            lo[i][k] = (double)facet_float_of(low[k]);
            hi[i][k] = (double)facet_float_of(high[k]);
            all_lo[k] = i == 0 ? lo[i][k] : fmin(all_lo[k], lo[i][k]);
            all_hi[k] = i == 0 ? hi[i][k] : fmax(all_hi[k], hi[i][k]);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = i + 1; j < count; j++) {
            bool meet = links[i].id != links[j].id; /* boxes of one child may overlap */

            for (unsigned k = 0; k < 3; k++) {
                extent[k] = fmin(hi[i][k], hi[j][k]) - fmax(lo[i][k], lo[j][k]);
                meet = meet && extent[k] >= 0.0;
            }
            shared += meet ? area_of(extent) : 0.0;
        }
    }
    for (unsigned k = 0; k < 3; k++) {
        extent[k] = all_hi[k] - all_lo[k];
    }
    return area_of(extent) > 0.0 ? shared / area_of(extent) : 0.0;
}

static double overlap_of(const struct facet_gfx12_view *view, const struct facet_gfx12_walk *walk)
{
    double sum = 0.0;
    uint64_t nodes = 0;

    for (uint32_t i = 0; i < walk->reached; i++) {
        struct facet_gfx12_link links[8];
        struct facet_gfx12_box box;
        unsigned count;

        if (walk->nodes[walk->order[i]].kind != FACET_GFX12_KIND_BOX) {
            continue;
        }
        count = facet_gfx12_links(view, walk, walk->order[i], links);
        facet_gfx12_box_decode(facet_gfx12_node_bytes(view, walk->order[i]), &box);
        sum += count > 1 ? node_overlap(&box, links, count) : 0.0;
        nodes++;
    }
    return nodes != 0 ? sum / (double)nodes : 0.0;
}

/* ---- primitives ---- */

struct item {
    uint64_t level; /* address */
    uint64_t hash;
    uint32_t geometry, primitive;
    uint32_t flags; /* opaque, double sided */
};

struct placed {
    struct facet_gfx12_instance node;
    uint64_t blas; /* address of its level */
};

struct contents {
    struct item *items;
    uint64_t count;
    struct placed *instances;
    uint64_t instance_count;
};

static uint32_t plain_zero(uint32_t bits)
{
    return bits == UINT32_C(0x80000000) ? 0 : bits;
}

/* Corners from the smallest one on, so that it does not matter where a builder begins; the way
 * round does. */
static uint64_t hash_triangle(const struct facet_gfx12_pair *pair, unsigned k, const uint32_t *aabb)
{
    const struct facet_gfx12_pair_tri *tri = &pair->desc.tri[k];
    const bool box = facet_gfx12_tri_procedural(tri);
    uint32_t key[12] = {0}, corner[3][3] = {{0}};
    unsigned first = 0;

    for (unsigned i = 0; i < (box ? 6 : 9); i++) {
        corner[i / 3][i % 3] = plain_zero(box ? aabb[i] : pair->vertex[k][i / 3][i % 3]);
    }
    for (unsigned c = 1; c < 3 && !box; c++) {
        first = memcmp(corner[c], corner[first], sizeof corner[c]) < 0 ? c : first;
    }
    for (unsigned i = 0; i < 9; i++) {
        key[i] = corner[(first + i / 3) % 3][i % 3];
    }
    key[9] = pair->geometry_index[k];
    key[10] = pair->primitive_index[k];
    key[11] = box;
    return facet_hash_bytes(key, sizeof key, 0);
}

static void take_node(const uint8_t *bytes, uint64_t level, struct contents *c)
{
    struct facet_gfx12_prim prim;

    facet_gfx12_prim_decode(bytes, &prim);
    for (unsigned p = 0; p < facet_gfx12_stored_pairs(bytes); p++) {
        struct facet_gfx12_pair pair;

        facet_gfx12_pair_decode(bytes, p, &pair);
        for (unsigned k = 0; k < (facet_gfx12_tri_absent(&pair.desc.tri[1]) ? 1u : 2u); k++) {
            c->items[c->count++] = (struct item){level,
                                                 hash_triangle(&pair, k, prim.aabb),
                                                 pair.geometry_index[k],
                                                 pair.primitive_index[k],
                                                 (pair.desc.tri[k].opaque != 0) |
                                                     (pair.desc.tri[k].double_sided != 0) << 1};
        }
    }
}

static int by_level_and_hash(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return x->level != y->level ? (x->level < y->level ? -1 : 1)
                                : (x->hash > y->hash) - (x->hash < y->hash);
}

/* Floats in the order of their values, one zero, NaNs at the ends. */
static int64_t place_of(uint32_t bits)
{
    const int64_t size = bits & UINT32_C(0x7FFFFFFF);

    return bits >> 31 != 0 ? -size : size;
}

/* By user data, then by matrix; several nodes of one instance (rebraided) are equal. */
static int by_instance(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->node.user_data != y->node.user_data) {
        return x->node.user_data < y->node.user_data ? -1 : 1;
    }
    for (unsigned i = 0; i < 12; i++) { /* the translation first */
        const unsigned at = i < 3 ? 4 * i + 3 : (i - 3) / 3 * 4 + (i - 3) % 3;
        const int64_t p = place_of(x->node.world_to_object[at]);
        const int64_t q = place_of(y->node.world_to_object[at]);

        if (p != q) {
            return p < q ? -1 : 1;
        }
    }
    if (x->node.pointer != y->node.pointer) {
        return x->node.pointer < y->node.pointer ? -1 : 1;
    }
    return (x->node.cull_mask > y->node.cull_mask) - (x->node.cull_mask < y->node.cull_mask);
}

static void keep_different(struct contents *c)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < c->instance_count; i++) {
        if (i == 0 || by_instance(&c->instances[i], &c->instances[kept - 1]) != 0) {
            c->instances[kept++] = c->instances[i];
        }
    }
    c->instance_count = kept;
}

static void free_contents(struct contents *c)
{
    free(c->items);
    free(c->instances);
    *c = (struct contents){0};
}

static bool take_contents(const struct facet_gfx12_view *view,
                          const struct facet_gfx12_walk *walk,
                          struct contents *c)
{
    uint64_t most = 0, instances = 0;

    for (uint32_t i = 0; i < walk->reached; i++) {
        const uint32_t node = walk->order[i];

        if (walk->nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE) {
            most += 2 * facet_gfx12_stored_pairs(facet_gfx12_node_bytes(view, node));
        }
        instances += walk->nodes[node].kind == FACET_GFX12_KIND_INSTANCE;
    }
    *c = (struct contents){.items = malloc((most + 1) * sizeof *c->items),
                           .instances = malloc((instances + 1) * sizeof *c->instances)};
    if (c->items == NULL || c->instances == NULL) {
        free_contents(c);
        return false;
    }
    for (uint32_t i = 0; i < walk->reached; i++) {
        const uint32_t node = walk->order[i];
        const uint8_t *bytes = facet_gfx12_node_bytes(view, node);

        if (walk->nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE) {
            take_node(bytes, walk->nodes[node].level_base, c);
        } else if (walk->nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
            struct placed *to = &c->instances[c->instance_count++];

            facet_gfx12_instance_decode(bytes, &to->node);
            to->blas = facet_gfx12_base_address(to->node.pointer);
        }
    }
    qsort(c->items, c->count, sizeof *c->items, by_level_and_hash);
    qsort(c->instances, c->instance_count, sizeof *c->instances, by_instance);
    keep_different(c);
    return true;
}

static uint64_t first_of(const struct contents *c, uint64_t level)
{
    uint64_t lo = 0, hi = c->count;

    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;

        if (c->items[middle].level < level) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

/* The next different item of the level at *at, NULL at its end. */
static const struct item *
next_item(const struct contents *c, uint64_t level, uint64_t *at, uint64_t *copies)
{
    while (*at<c->count && * at> 0 && c->items[*at].level == level &&
           c->items[*at - 1].level == level && c->items[*at].hash == c->items[*at - 1].hash) {
        (*at)++;
        (*copies)++;
    }
    return *at < c->count && c->items[*at].level == level ? &c->items[*at] : NULL;
}

static void
stray(struct facet_gfx12_comparison *out, unsigned side, uint32_t number, const struct item *item)
{
    out->only[side]++;
    if (out->strays < FACET_GFX12_STRAYS) {
        out->stray[out->strays++] = (struct facet_gfx12_stray){.side = side,
                                                               .level = number,
                                                               .geometry = item->geometry,
                                                               .primitive = item->primitive};
    }
}

static void compare_levels(const struct contents both[2],
                           const uint64_t level[2],
                           uint32_t number,
                           struct facet_gfx12_comparison *out)
{
    uint64_t at[2] = {first_of(&both[0], level[0]), first_of(&both[1], level[1])};

    for (;;) {
        const struct item *x = next_item(&both[0], level[0], &at[0], &out->copies[0]);
        const struct item *y = next_item(&both[1], level[1], &at[1], &out->copies[1]);
        const bool take_x = x != NULL && (y == NULL || x->hash <= y->hash);
        const bool take_y = y != NULL && (x == NULL || y->hash <= x->hash);

        if (x == NULL && y == NULL) {
            break;
        }
        if (take_x && !take_y) {
            stray(out, 0, number, x);
        } else if (take_y && !take_x) {
            stray(out, 1, number, y);
        }
        out->other_flags += take_x && take_y && x->flags != y->flags;
        out->primitives[0] += take_x;
        out->primitives[1] += take_y;
        at[0] += take_x;
        at[1] += take_y;
    }
}

/* Builders invert a matrix in different ways: 10^-5 of its largest element is the same. */
#define SLACK 1e-5

static bool same_matrix(const uint32_t x[12], const uint32_t y[12])
{
    double size[2] = {0, 0}; /* of the matrix, of the translation */

    for (unsigned i = 0; i < 12; i++) {
        size[i % 4 == 3] = fmax(size[i % 4 == 3], fabs((double)facet_float_of(x[i])));
    }
    size[1] = fmax(size[1], size[0]);
    for (unsigned i = 0; i < 12; i++) {
        const double p = (double)facet_float_of(x[i]), q = (double)facet_float_of(y[i]);

        if (x[i] != y[i] && p != q && !(fabs(p - q) <= SLACK * size[i % 4 == 3])) {
            return false;
        }
    }
    return true;
}

static bool same_instance(const struct facet_gfx12_instance *x,
                          const struct facet_gfx12_instance *y)
{
    return same_matrix(x->world_to_object, y->world_to_object) && x->user_data == y->user_data &&
           x->cull_mask == y->cull_mask &&
           facet_gfx12_base_flags(x->pointer) == facet_gfx12_base_flags(y->pointer);
}

/* Matches each instance of A with one of B that is the same. Both are in order but for roundings,
 * so that the first to try is the one behind the last match; a budget keeps the search for others
 * short in large images. */
static void match(const struct contents both[2], uint64_t *mate, uint8_t *taken)
{
    const uint64_t count = both[1].instance_count;
    uint64_t next = 0, budget = 64 * (both[0].instance_count + count) + 1000000;

    for (uint64_t i = 0; i < both[0].instance_count; i++) {
        uint64_t at = next, tried = 0;

        while (tried < count && budget > 0 &&
               (taken[at % count] ||
                !same_instance(&both[0].instances[i].node, &both[1].instances[at % count].node))) {
            at++;
            tried++;
            budget--;
        }
        mate[i] = UINT64_MAX;
        if (tried < count && budget > 0) {
            mate[i] = at % count;
            taken[mate[i]] = 1;
            next = mate[i] + 1;
        }
    }
}

/* Those that are left belong together in their order; UINT64_MAX where there is none. */
static void match_rest(const struct contents both[2],
                       uint64_t *mate,
                       const uint8_t *taken,
                       struct facet_gfx12_comparison *out)
{
    uint64_t next = 0;

    for (uint64_t i = 0; i < both[0].instance_count; i++) {
        while (next < both[1].instance_count && taken[next]) {
            next++;
        }
        if (mate[i] == UINT64_MAX && next < both[1].instance_count) {
            mate[i] = next++;
            out->moved++;
        }
    }
}

struct level_pair {
    uint64_t level[2];
};

static int by_levels(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct level_pair));
}

static int by_second(const void *a, const void *b)
{
    const struct level_pair *x = a, *y = b;

    return (x->level[1] > y->level[1]) - (x->level[1] < y->level[1]);
}

static int by_first(const void *a, const void *b)
{
    const struct level_pair *x = a, *y = b;

    return (x->level[0] > y->level[0]) - (x->level[0] < y->level[0]);
}

/* An instance that has no mate says nothing about a level that another instance has paired: of each
 * level, the pairs with nothing go where there is one with something. */
static uint64_t drop_known(struct level_pair *pairs, uint64_t count)
{
    for (unsigned side = 0; side < 2; side++) {
        uint64_t kept = 0;

        qsort(pairs, count, sizeof *pairs, side == 0 ? by_first : by_second);
        for (uint64_t first = 0, end; first < count; first = end) {
            bool paired = false;

            for (end = first; end < count && pairs[end].level[side] == pairs[first].level[side];
                 end++) {
                paired = paired || pairs[end].level[1 - side] != UINT64_MAX;
            }
            for (uint64_t i = first; i < end; i++) {
                if (!paired || pairs[i].level[side] == UINT64_MAX ||
                    pairs[i].level[1 - side] != UINT64_MAX) {
                    pairs[kept++] = pairs[i];
                }
            }
        }
        count = kept;
    }
    return count;
}

/* Each two levels that belong together, once. */
static bool compare_contents(const struct contents both[2],
                             const struct facet_gfx12_view views[2],
                             struct facet_gfx12_comparison *out)
{
    const uint64_t a = both[0].instance_count, b = both[1].instance_count;
    struct level_pair *pairs = malloc((a + b + 1) * sizeof *pairs);
    uint64_t *mate = malloc((a + 1) * sizeof *mate);
    uint8_t *taken = calloc(b + 1, 1);
    uint64_t count = 0;
    uint32_t number = 0;

    if (pairs == NULL || mate == NULL || taken == NULL) {
        free(pairs);
        free(mate);
        free(taken);
        return false;
    }
    match(both, mate, taken);
    match_rest(both, mate, taken, out);
    pairs[count++] = (struct level_pair){{views[0].base, views[1].base}};
    for (uint64_t i = 0; i < a; i++) {
        if (mate[i] != UINT64_MAX) {
            taken[mate[i]] = 1;
        }
        pairs[count++] = (struct level_pair){
            {both[0].instances[i].blas,
             mate[i] != UINT64_MAX ? both[1].instances[mate[i]].blas : UINT64_MAX}};
    }
    for (uint64_t i = 0; i < b; i++) {
        if (!taken[i]) {
            pairs[count++] = (struct level_pair){{UINT64_MAX, both[1].instances[i].blas}};
        }
    }
    free(mate);
    free(taken);
    count = drop_known(pairs, count);
    qsort(pairs, count, sizeof *pairs, by_levels);
    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || by_levels(&pairs[i], &pairs[i - 1]) != 0) {
            compare_levels(both, pairs[i].level, number++, out);
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        out->instances[side] = both[side].instance_count;
    }
    free(pairs);
    return true;
}

/* ---- rays ---- */

void facet_gfx12_sample_rays(const float lo[3],
                             const float hi[3],
                             struct facet_gfx12_batch_ray *rays,
                             size_t count)
{
    uint64_t used = 0;
    double center[3], radius = 0.0;

    for (unsigned k = 0; k < 3; k++) {
        const double half = ((double)hi[k] - (double)lo[k]) / 2;

        center[k] = (double)lo[k] + half;
        radius += half * half;
    }
    radius = 1.5 * sqrt(radius);
    for (size_t i = 0; i < count; i++) {
        double from[3], length;

        do { /* evenly over the sphere */
            length = 0.0;
            for (unsigned k = 0; k < 3; k++) {
                from[k] = 2.0 * (double)facet_random_float(12, used++) - 1.0;
                length += from[k] * from[k];
            }
        } while (length > 1.0 || length < 1e-6);
        rays[i] = (struct facet_gfx12_batch_ray){.t_max = INFINITY};
        for (unsigned k = 0; k < 3; k++) {
            const double to = (double)lo[k] + (double)facet_random_float(12, used++) *
                                                  ((double)hi[k] - (double)lo[k]);

            rays[i].origin[k] = (float)(center[k] + radius * from[k] / sqrt(length));
            rays[i].direction[k] = (float)(to - (double)rays[i].origin[k]);
        }
    }
}

/* Who traces the rays. */
struct tracing {
    const struct facet_gfx12_batch_ray *rays;
    size_t count;
    facet_pool *pool;
    facet_gfx12_trace_fn *elsewhere; /* or NULL: the pool */
    void *context;
};

static enum facet_status trace_side(const struct facet_gfx12_view *view,
                                    const struct tracing *by,
                                    struct facet_gfx12_hit *hits,
                                    struct facet_gfx12_side *side,
                                    struct facet_error *err)
{
    const struct facet_gfx12_tracer_options options = {
        .address = view->base,
        .root = view->root,
        .path = by->elsewhere != NULL ? FACET_GFX12_PATH_REFERENCE : FACET_GFX12_PATH_AUTO};
    const float zero[3] = {0, 0, 0};
    facet_gfx12_tracer *tracer = NULL;
    struct facet_gfx12_query common;
    struct facet_gfx12_unit unit;
    enum facet_status status;

    facet_gfx12_unit_view(&unit, view);
    facet_gfx12_query_init(&common, zero, zero);
    common.address = view->base;
    common.root = view->root;
    status = facet_gfx12_tracer_create(&unit, &options, &tracer, err);
    if (status == FACET_OK && by->elsewhere != NULL) {
        status = by->elsewhere(
            by->context, &unit, tracer, &common, by->rays, by->count, hits, &side->cost, err);
    } else if (status == FACET_OK) {
        status = facet_gfx12_tracer_batch(
            tracer, &common, by->rays, by->count, hits, by->pool, &side->cost, err);
    }
    for (size_t i = 0; status == FACET_OK && i < by->count; i++) {
        side->hits += hits[i].found;
    }
    facet_gfx12_tracer_destroy(tracer);
    return status;
}

static enum facet_status compare_rays(const struct facet_gfx12_view views[2],
                                      const struct tracing *by,
                                      struct facet_gfx12_comparison *out,
                                      struct facet_error *err)
{
    struct facet_gfx12_hit *hits = malloc((2 * by->count + 1) * sizeof *hits);
    enum facet_status status;

    if (hits == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu hits", 2 * by->count);
    }
    status = trace_side(&views[0], by, hits, &out->side[0], err);
    if (status == FACET_OK) {
        status = trace_side(&views[1], by, hits + by->count, &out->side[1], err);
    }
    out->rays = by->count;
    for (size_t i = 0; status == FACET_OK && i < by->count; i++) {
        const struct facet_gfx12_hit *x = &hits[i], *y = &hits[by->count + i];

        out->other_hits +=
            x->found != y->found ||
            (x->found && x->t != y->t &&
             !(fabs((double)x->t - (double)y->t) <= SLACK * fmax(1.0, fabs((double)x->t))));
    }
    free(hits);
    return status;
}

enum facet_status facet_gfx12_compare(const struct facet_gfx12_view views[2],
                                      const struct facet_gfx12_walk walks[2],
                                      const struct facet_gfx12_batch_ray *rays,
                                      size_t count,
                                      facet_pool *pool,
                                      facet_gfx12_trace_fn *elsewhere,
                                      void *context,
                                      struct facet_gfx12_comparison *out,
                                      struct facet_error *err)
{
    const struct tracing by = {rays, count, pool, elsewhere, context};
    struct contents both[2] = {{0}};
    enum facet_status status = FACET_OK;
    bool room = true;

    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 2 && status == FACET_OK; i++) {
        status = facet_gfx12_bvh_stats(&views[i], &walks[i], &out->side[i].stats, err);
        out->side[i].overlap = overlap_of(&views[i], &walks[i]);
        out->side[i].reached_bytes = (uint64_t)walks[i].reached * FACET_GFX12_NODE_BYTES;
        room = room && take_contents(&views[i], &walks[i], &both[i]);
    }
    if (status == FACET_OK && (!room || !compare_contents(both, views, out))) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to compare the primitives");
    }
    free_contents(&both[0]);
    free_contents(&both[1]);
    return status == FACET_OK ? compare_rays(views, &by, out, err) : status;
}
