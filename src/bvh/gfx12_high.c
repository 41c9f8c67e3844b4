/* Qualities `fast` and `high`: pairs of triangles as items.
 *
 * A primitive node tests triangles two at a time, so two triangles that share an edge and
 * whose common box is no larger than both boxes together become one item. The tree then has half as
 * many items, and no leaf wastes half a pair. */
#include "bvh/gfx12_level.h"

#include "base/hash.h"
#include "bvh/lanes.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct mesh {
    uint32_t (*corner)[3]; /* vertex numbers per item */
    uint32_t *edge_next;   /* chain of edges with the same hash; edge 3*i + e of item i */
    uint32_t *edge_head;
    uint32_t edge_mask;
};

/* The tables below are larger than caches and hit at random: what item i + AHEAD will touch is
 * asked for while item i is at work. */
enum { AHEAD = 12 };

static uint64_t corner_slot(const struct facet_level *level, uint32_t i, uint32_t c, uint64_t size)
{
    uint32_t xyz[3];

    memcpy(xyz, level->triangles[level->items[i].id].vertex[c], sizeof xyz);
    return facet_hash_mix((xyz[0] | (uint64_t)xyz[1] << 32) ^
                          xyz[2] * UINT64_C(0x9E3779B97F4A7C15)) &
           (size - 1);
}

/* Numbers the vertices so that equal bits mean equal numbers. */
static bool number_corners(const struct facet_level *level, struct mesh *mesh)
{
    const uint32_t count = level->item_count;
    uint64_t size = 16;
    uint32_t *table;
    uint32_t next = 0;

    while (size < 4 * (uint64_t)count) {
        size *= 2; /* an indexed mesh has about count / 2 vertices, a soup 3 * count */
    }
    table = malloc((size_t)size * sizeof *table); /* corner 3*i + c that owns the number */
    if (table == NULL) {
        return false;
    }
    memset(table, 0xFF, (size_t)size * sizeof *table);
    for (uint32_t i = 0; i < count; i++) {
        const struct facet_bvh_triangle *t = &level->triangles[level->items[i].id];

        for (uint32_t c = 0; c < 3; c++) {
            uint64_t slot = corner_slot(level, i, c, size);
            uint32_t xyz[3];

            if (i + AHEAD < count) {
                __builtin_prefetch(&table[corner_slot(level, i + AHEAD, c, size)], 1);
            }
            memcpy(xyz, t->vertex[c], sizeof xyz);
            for (;; slot = (slot + 1) & (size - 1)) {
                uint32_t owner = table[slot];

                if (owner == NONE) {
                    table[slot] = 3 * i + c;
                    mesh->corner[i][c] = next++;
                    break;
                }
                if (memcmp(level->triangles[level->items[owner / 3].id].vertex[owner % 3],
                           xyz,
                           sizeof xyz) == 0) {
                    mesh->corner[i][c] = mesh->corner[owner / 3][owner % 3];
                    break;
                }
            }
        }
    }
    free(table);
    return true;
}

static uint32_t edge_slot(const struct mesh *mesh, uint32_t item, uint32_t e)
{
    uint32_t a = mesh->corner[item][e];
    uint32_t b = mesh->corner[item][(e + 1) % 3];
    uint64_t key = a < b ? a | (uint64_t)b << 32 : b | (uint64_t)a << 32;

    return (uint32_t)(facet_hash_mix(key) >> 32) & mesh->edge_mask;
}

static uint32_t edge_end(const struct mesh *mesh, uint32_t edge, uint32_t end)
{
    return mesh->corner[edge / 3][(edge % 3 + end) % 3];
}

static bool same_edge(const struct mesh *mesh, uint32_t x, uint32_t y)
{
    uint32_t xa = edge_end(mesh, x, 0), xb = edge_end(mesh, x, 1);
    uint32_t ya = edge_end(mesh, y, 0), yb = edge_end(mesh, y, 1);

    return (xa == ya && xb == yb) || (xa == yb && xb == ya);
}

static void link_edges(const struct facet_level *level, struct mesh *mesh)
{
    memset(mesh->edge_head, 0xFF, ((size_t)mesh->edge_mask + 1) * sizeof *mesh->edge_head);
    /* Backwards, so that chains list the edges in item order. */
    for (uint32_t i = level->item_count; i-- > 0;) {
        for (uint32_t e = 0; e < 3; e++) {
            uint32_t slot = edge_slot(mesh, i, e);

            if (i >= AHEAD) {
                __builtin_prefetch(&mesh->edge_head[edge_slot(mesh, i - AHEAD, e)], 1);
            }
            mesh->edge_next[3 * i + e] = mesh->edge_head[slot];
            mesh->edge_head[slot] = 3 * i + e;
        }
    }
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
    double own = facet_box_area(item->lo, item->hi);
    double best_waste = 0.0;
    uint32_t best = NONE;

    for (uint32_t e = 0; e < 3; e++) {
        unsigned steps = 0;

        for (uint32_t o = mesh->edge_head[edge_slot(mesh, i, e)]; o != NONE && steps < 32;
             o = mesh->edge_next[o], steps++) {
            uint32_t j = o / 3;
            struct facet_bvh_item both = *item;
            double waste;

            if (j <= i || taken[j] || !same_edge(mesh, 3 * i + e, o) ||
                level->triangles[level->items[j].id].geometry !=
                    level->triangles[item->id].geometry) {
                continue;
            }
            join_items(&both, &level->items[j]);
            waste = facet_box_area(both.lo, both.hi) - own -
                    facet_box_area(level->items[j].lo, level->items[j].hi);
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

        for (uint32_t e = 0; e < 3 && i + AHEAD < level->item_count; e++) {
            __builtin_prefetch(&mesh->edge_head[edge_slot(mesh, i + AHEAD, e)]);
        }
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
        level->items[count++] = item; /* count <= i: nobody reads that place again */
    }
    return count;
}

enum facet_status
facet_high_pair(struct facet_level *level, struct facet_pair_item **pairs, struct facet_error *err)
{
    const size_t count = level->item_count;
    struct mesh mesh = {NULL, NULL, NULL, 1023};
    uint8_t *taken = calloc(count, 1);
    enum facet_status status = FACET_ERR_MEMORY;

    while (mesh.edge_mask < 2 * count) {
        mesh.edge_mask = 2 * mesh.edge_mask + 1;
    }
    mesh.corner = malloc(count * sizeof *mesh.corner);
    mesh.edge_next = malloc(3 * count * sizeof *mesh.edge_next);
    mesh.edge_head = malloc(((size_t)mesh.edge_mask + 1) * sizeof *mesh.edge_head);
    *pairs = malloc(count * sizeof **pairs);
    if (taken != NULL && mesh.corner != NULL && mesh.edge_next != NULL && mesh.edge_head != NULL &&
        *pairs != NULL && number_corners(level, &mesh)) {
        link_edges(level, &mesh);
        level->item_count = make_pairs(level, &mesh, taken, *pairs);
        status = FACET_OK;
    }
    free(taken);
    free(mesh.corner);
    free(mesh.edge_next);
    free(mesh.edge_head);
    return status == FACET_OK
               ? FACET_OK
               : facet_fail(err, status, 0, "no memory to pair %zu triangles", count);
}
