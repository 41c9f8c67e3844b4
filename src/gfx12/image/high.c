/* Qualities `fast` and `high`: pairs of triangles as items.
 *
 * A primitive node tests triangles two at a time, so two triangles that share an edge and
 * whose common box is no larger than both boxes together become one item. The tree then has half as
 * many items, and no leaf wastes half a pair. */
#include "gfx12/image/level.h"

#include "base/hash.h"
#include "base/large.h"
#include "bvh/lanes.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Edges are known by a hash of the coordinates of their ends, so vertices need no numbers. Edge
 * 3*i + e joins the corners e and e + 1 of item i. */
struct edge_slot {
    uint32_t check; /* more bits of the hash */
    uint32_t edge;  /* the first one with this hash so far, or NONE */
};

struct mesh {
    uint32_t *edge_next; /* the next edge with the same hash, of a later item */
    struct edge_slot *slots;
    unsigned slot_bits;
};

/* The table is larger than the caches and hit at random: the slots of the item AHEAD of the one at
 * work are asked for in time. */
enum { AHEAD = 16 };

static uint64_t vertex_hash(const float vertex[3])
{
    uint32_t xyz[3];

    memcpy(xyz, vertex, sizeof xyz);
    return facet_hash_mix((xyz[0] | (uint64_t)xyz[1] << 32) ^
                          xyz[2] * UINT64_C(0x9E3779B97F4A7C15));
}

/* The same for both directions of an edge. */
static void edge_hashes(const struct facet_level *level, uint32_t item, uint64_t out[3])
{
    const struct facet_bvh_triangle *t = &level->triangles[level->items[item].id];
    uint64_t v[3];

    for (int c = 0; c < 3; c++) {
        v[c] = vertex_hash(t->vertex[c]);
    }
    for (int e = 0; e < 3; e++) {
        out[e] = (v[e] + v[(e + 1) % 3]) * UINT64_C(0x9E3779B97F4A7C15);
    }
}

static struct edge_slot *first_slot(const struct mesh *mesh, uint64_t hash)
{
    return &mesh->slots[hash >> (64 - mesh->slot_bits)];
}

static void link_edge(struct mesh *mesh, uint64_t hash, uint32_t edge)
{
    struct edge_slot *slot = first_slot(mesh, hash);
    const struct edge_slot *end = mesh->slots + (UINT64_C(1) << mesh->slot_bits);

    while (slot->edge != NONE && slot->check != (uint32_t)hash) {
        slot = slot + 1 < end ? slot + 1 : mesh->slots;
    }
    mesh->edge_next[edge] = slot->edge;
    *slot = (struct edge_slot){(uint32_t)hash, edge};
}

/* Backwards, so that chains list the edges in item order. */
static void link_edges(const struct facet_level *level, struct mesh *mesh)
{
    const uint32_t count = level->item_count;
    uint64_t ring[AHEAD][3];

    memset(mesh->slots, 0xFF, sizeof *mesh->slots << mesh->slot_bits);
    for (uint32_t i = count + AHEAD; i-- > 0;) {
        uint64_t *hashes = ring[i % AHEAD];

        for (uint32_t e = 0; e < 3 && i < count; e++) {
            link_edge(mesh, hashes[e], 3 * i + e);
        }
        if (i >= AHEAD) {
            edge_hashes(level, i - AHEAD, hashes);
            for (int e = 0; e < 3; e++) {
                __builtin_prefetch(first_slot(mesh, hashes[e]), 1);
            }
        }
    }
}

static bool same_vertex(const float a[3], const float b[3])
{
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

static bool same_edge(const struct facet_bvh_triangle *x,
                      uint32_t e,
                      const struct facet_bvh_triangle *y,
                      uint32_t f)
{
    const float *xa = x->vertex[e], *xb = x->vertex[(e + 1) % 3];
    const float *ya = y->vertex[f], *yb = y->vertex[(f + 1) % 3];

    return (same_vertex(xa, yb) && same_vertex(xb, ya)) ||
           (same_vertex(xa, ya) && same_vertex(xb, yb));
}

static void join_items(struct facet_bvh_item *a, const struct facet_bvh_item *b)
{
    uint32_t id = a->id, weight = a->weight + b->weight;

    lanes_store(a->lo, lanes_min_exact(lanes_load3(a->lo), lanes_load3(b->lo)));
    lanes_store(a->hi, lanes_max_exact(lanes_load3(a->hi), lanes_load3(b->hi)));
    a->id = id;
    a->weight = weight;
}

/* The free neighbour that wastes least area, or NONE. Chains longer than a fan's worth of edges are
 * cut: they come from meshes folded onto one edge. */
static uint32_t best_partner(const struct facet_level *level,
                             const struct mesh *mesh,
                             const uint8_t *taken,
                             uint32_t i)
{
    const struct facet_bvh_item *item = &level->items[i];
    const struct facet_bvh_triangle *triangle = &level->triangles[item->id];
    double own = facet_bvh_box_area(item->lo, item->hi);
    double best_waste = 0.0;
    uint32_t best = NONE;

    for (uint32_t e = 0; e < 3; e++) {
        unsigned steps = 0;

        for (uint32_t o = mesh->edge_next[3 * i + e]; o != NONE && steps < 32;
             o = mesh->edge_next[o], steps++) {
            const uint32_t j = o / 3;
            const struct facet_bvh_triangle *other = &level->triangles[level->items[j].id];
            struct facet_bvh_item both = *item;
            double waste;

            if (j == i || taken[j] || other->geometry != triangle->geometry ||
                !same_edge(triangle, e, other, o % 3)) {
                continue;
            }
            join_items(&both, &level->items[j]);
            waste = facet_bvh_box_area(both.lo, both.hi) - own -
                    facet_bvh_box_area(level->items[j].lo, level->items[j].hi);
            if (waste <= best_waste) {
                if (waste < best_waste || best == NONE) {
                    best = j;
                    best_waste = waste;
                }
            }
        }
    }
    return best;
}

static uint32_t make_pairs(struct facet_level *level,
                           const struct mesh *mesh,
                           uint8_t *taken,
                           struct facet_pair_item *pairs)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < level->item_count; i++) {
        struct facet_bvh_item item = level->items[i];
        uint32_t j;

        if (taken[i]) {
            continue;
        }
        j = best_partner(level, mesh, taken, i);
        pairs[count].triangle[0] = item.id;
        pairs[count].triangle[1] = FACET_NO_TRIANGLE;
        if (j != NONE) {
            taken[j] = 1;
            pairs[count].triangle[1] = level->items[j].id;
            join_items(&item, &level->items[j]);
        }
        item.id = count;
        level->items[count++] = item; /* count <= i: that place is not read again */
    }
    return count;
}

enum facet_status facet_gfx12_high_pair(struct facet_level *level,
                                        struct facet_pair_item **pairs,
                                        struct facet_error *err)
{
    const size_t count = level->item_count;
    struct mesh mesh = {NULL, NULL, 10};
    uint8_t *taken = calloc(count, 1);
    enum facet_status status = FACET_ERR_MEMORY;

    /* An indexed mesh has about count * 1.5 edges, a soup count * 3. */
    while (UINT64_C(1) << mesh.slot_bits < 7 * (uint64_t)count / 2) {
        mesh.slot_bits++;
    }
    mesh.edge_next = facet_large_alloc(3 * count * sizeof *mesh.edge_next);
    mesh.slots = facet_large_alloc(sizeof *mesh.slots << mesh.slot_bits);
    *pairs = facet_large_alloc(count * sizeof **pairs);
    if (taken != NULL && mesh.edge_next != NULL && mesh.slots != NULL && *pairs != NULL) {
        link_edges(level, &mesh);
        level->item_count = make_pairs(level, &mesh, taken, *pairs);
        status = FACET_OK;
    }
    free(taken);
    free(mesh.edge_next);
    free(mesh.slots);
    return status == FACET_OK
               ? FACET_OK
               : facet_fail(err, status, 0, "no memory to pair %zu triangles", count);
}
