/* Qualities `fast` and `high`: pairs of triangles as items.
 *
 * A primitive node tests triangles two at a time, so two triangles that share an edge and
 * whose common box is no larger than both boxes together become one item. The tree then has half as
 * many items, and no leaf wastes half a pair.
 *
 * Partners are looked for in chunks of the input first, in parallel: the halves of a quad, which
 * most meshes have one after the other, then with a table of edges that stays in the cache. What
 * finds none there looks once more among all that are left over. Meshes number neighbouring
 * triangles alike, so few are. */
#include "gfx12/build/level.h"

#include "base/avx2.h"
#include "base/hash.h"
#include "base/large.h"
#include "bvh/lanes.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define CHUNK 8192
#define HALVES 1.5 /* times the larger box: what the box of two halves may have */

/* Edges are known by a hash of the coordinates of their ends, so vertices need no numbers. Edge
 * 3*m + e joins the corners e and e + 1 of member m of a set of items. */
struct edge_slot {
    uint32_t check; /* more bits of the hash */
    uint32_t edge;  /* the first one with this hash so far, or NONE */
};

/* Items that look for partners among each other. */
struct set {
    const struct facet_level *level;
    uint32_t first; /* member m is item first + m, or member[m] */
    const uint32_t *member;
    uint32_t count;
    uint32_t *partner;   /* of every item of the level, or NONE */
    uint32_t *edge_next; /* the next edge with the same hash, of a later member */
    struct edge_slot *slots;
    unsigned slot_bits;
};

struct chunk {
    uint32_t leaders; /* items without a partner or before theirs */
    uint32_t *single; /* items without a partner */
    uint32_t singles;
    uint32_t start; /* of the new items */
    bool failed;
};

struct pairing {
    struct facet_level *level;
    uint32_t *partner;
    struct chunk *chunks;
    size_t chunk_count;
    struct facet_bvh_item *items; /* the new ones */
    struct facet_pair_item *pairs;
};

static uint64_t vertex_hash(const float vertex[3])
{
    uint32_t xyz[3];

    memcpy(xyz, vertex, sizeof xyz);
    return facet_hash_step(xyz[0] | (uint64_t)xyz[1] << 32, xyz[2] * UINT64_C(0x9E3779B97F4A7C15));
}

/* The same for both directions of an edge. */
static void edge_hashes(const struct facet_bvh_triangle *t, uint64_t out[3])
{
    uint64_t v[3];

    for (int c = 0; c < 3; c++) {
        v[c] = vertex_hash(t->vertex[c]);
    }
    for (int e = 0; e < 3; e++) {
        out[e] = (v[e] + v[(e + 1) % 3]) * UINT64_C(0x9E3779B97F4A7C15);
    }
}

static uint32_t item_of(const struct set *set, uint32_t member)
{
    return set->member != NULL ? set->member[member] : set->first + member;
}

static const struct facet_bvh_triangle *
triangle_of(const struct set *set, uint32_t item, struct facet_bvh_triangle *room)
{
    return facet_bvh_triangle_at(set->level->input, set->level->items[item].id, room);
}

static void link_edge(struct set *set, uint64_t hash, uint32_t edge)
{
    const uint64_t mask = (UINT64_C(1) << set->slot_bits) - 1;
    uint64_t at = hash >> (64 - set->slot_bits);

    while (set->slots[at].edge != NONE && set->slots[at].check != (uint32_t)hash) {
        at = (at + 1) & mask;
    }
    set->edge_next[edge] = set->slots[at].edge;
    set->slots[at] = (struct edge_slot){(uint32_t)hash, edge};
}

/* Backwards, so that chains list the edges in order. */
static void link_edges(struct set *set)
{
    memset(set->slots, 0xFF, sizeof *set->slots << set->slot_bits);
    for (uint32_t m = set->count; m-- > 0;) {
        struct facet_bvh_triangle room;
        uint64_t hashes[3];

        edge_hashes(triangle_of(set, item_of(set, m), &room), hashes);
        for (uint32_t e = 0; e < 3; e++) {
            link_edge(set, hashes[e], 3 * m + e);
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

/* The free later neighbour that wastes least area, or NONE. Chains longer than a fan's worth of
 * edges are cut: they come from meshes folded onto one edge. */
static uint32_t best_partner(const struct set *set, uint32_t member)
{
    const uint32_t i = item_of(set, member);
    const struct facet_bvh_item *item = &set->level->items[i];
    struct facet_bvh_triangle room[2];
    const struct facet_bvh_triangle *triangle = triangle_of(set, i, &room[0]);
    double own = facet_bvh_box_area(item->lo, item->hi);
    double best_waste = 0.0;
    uint32_t best = NONE;

    for (uint32_t e = 0; e < 3; e++) {
        unsigned steps = 0;

        for (uint32_t o = set->edge_next[3 * member + e]; o != NONE && steps < 32;
             o = set->edge_next[o], steps++) {
            const uint32_t j = item_of(set, o / 3);
            const struct facet_bvh_item *other = &set->level->items[j];
            const struct facet_bvh_triangle *beside;
            struct facet_bvh_item both = *item;
            double waste;

            if (j == i || set->partner[j] != NONE) {
                continue;
            }
            beside = triangle_of(set, j, &room[1]);
            if (beside->geometry != triangle->geometry || !same_edge(triangle, e, beside, o % 3)) {
                continue;
            }
            join_items(&both, other);
            waste = facet_bvh_box_area(both.lo, both.hi) - own -
                    facet_bvh_box_area(other->lo, other->hi);
            if (waste < best_waste || (waste == best_waste && best == NONE)) {
                best = j;
                best_waste = waste;
            }
        }
    }
    return best;
}

/* Corners of x that are corners of y, too. */
static uint32_t common_corners(const struct facet_bvh_triangle *x,
                               const struct facet_bvh_triangle *y)
{
    uint32_t a[3][3], b[3][3], count = 0;

    memcpy(a, x->vertex, sizeof a);
    memcpy(b, y->vertex, sizeof b);
    for (int i = 0; i < 3; i++) {
        uint32_t same = 0;

        for (int j = 0; j < 3; j++) {
            same |= ((a[i][0] ^ b[j][0]) | (a[i][1] ^ b[j][1]) | (a[i][2] ^ b[j][2])) == 0;
        }
        count += same;
    }
    return count;
}

/* Two triangles that nobody needs to look for better partners of: the halves of a quad, with a box
 * not much larger than the larger one's. */
static bool halves(const struct facet_bvh_item *a,
                   const struct facet_bvh_item *b,
                   const struct facet_bvh_triangle *x,
                   const struct facet_bvh_triangle *y)
{
    const double own = facet_bvh_box_area(a->lo, a->hi), other = facet_bvh_box_area(b->lo, b->hi);
    struct facet_bvh_item both = *a;
    double area;

    join_items(&both, b);
    area = facet_bvh_box_area(both.lo, both.hi);
    return area <= HALVES * (own > other ? own : other) && area <= own + other &&
           x->geometry == y->geometry && common_corners(x, y) == 2;
}

static void match_neighbours(const struct set *set)
{
    const struct facet_bvh_item *items = set->level->items + set->first;
    struct facet_bvh_triangle room[2];
    const struct facet_bvh_triangle *before = NULL;

    for (uint32_t m = 0; m < set->count; m++) {
        const struct facet_bvh_triangle *triangle = triangle_of(set, set->first + m, &room[m % 2]);

        if (before != NULL && halves(&items[m - 1], &items[m], before, triangle)) {
            set->partner[set->first + m] = set->first + m - 1;
            set->partner[set->first + m - 1] = set->first + m;
            triangle = NULL;
        }
        before = triangle;
    }
}

/* Gives partners to the members, none of which has one; false without memory. */
static bool match(struct set *set)
{
    bool good;

    /* An indexed mesh has about count * 1.5 edges, a soup count * 3. */
    set->slot_bits = 6;
    while (UINT64_C(1) << set->slot_bits < 7 * (uint64_t)set->count / 2) {
        set->slot_bits++;
    }
    set->edge_next = facet_large_alloc(3 * (size_t)set->count * sizeof *set->edge_next);
    set->slots = facet_large_alloc(sizeof *set->slots << set->slot_bits);
    good = set->edge_next != NULL && set->slots != NULL;
    if (good) {
        link_edges(set);
    }
    for (uint32_t m = 0; good && m < set->count; m++) {
        const uint32_t i = item_of(set, m);

        if (set->partner[i] == NONE) {
            const uint32_t j = best_partner(set, m);

            if (j != NONE) {
                set->partner[i] = j;
                set->partner[j] = i;
            }
        }
    }
    free(set->edge_next);
    free(set->slots);
    return good;
}

/* Lists those of the `count` items from `first` on that have no partner. */
static uint32_t
list_singles(const uint32_t *partner, uint32_t first, uint32_t count, uint32_t *single)
{
    uint32_t kept = 0;

    for (uint32_t i = first; i < first + count; i++) {
        single[kept] = i;
        kept += partner[i] == NONE;
    }
    return kept;
}

static bool match_items(struct set *set, uint32_t *single)
{
    const uint32_t first = set->first, count = set->count;
    bool good;

    match_neighbours(set);
    set->member = single;
    set->count = list_singles(set->partner, first, count, single);
    good = match(set);
    set->count = list_singles(set->partner, first, count, single);
    return good;
}

FACET_AVX2 static bool match_items_avx2(struct set *set, uint32_t *single)
{
    return match_items(set, single);
}

static void match_chunk(void *context, size_t begin, size_t end)
{
    struct pairing *p = context;
    struct set set = {.level = p->level,
                      .first = (uint32_t)begin,
                      .count = (uint32_t)(end - begin),
                      .partner = p->partner};
    struct chunk *chunk = &p->chunks[begin / CHUNK];

    memset(p->partner + begin, 0xFF, (end - begin) * sizeof *p->partner);
    chunk->single = malloc((end - begin) * sizeof *chunk->single);
    chunk->failed = chunk->single == NULL ||
                    !(FACET_HAS_AVX2() ? match_items_avx2 : match_items)(&set, chunk->single);
    chunk->singles = set.count;
    chunk->leaders = (uint32_t)(end - begin + set.count) / 2;
}

/* The second look: across chunks. */
static bool match_singles(struct pairing *p, size_t chunks)
{
    struct set set = {.level = p->level, .partner = p->partner};
    uint32_t *member;
    bool good = true;

    for (size_t c = 0; c < chunks; c++) {
        set.count += p->chunks[c].singles;
        good = good && !p->chunks[c].failed;
    }
    if (!good || chunks < 2 || set.count < 2) {
        return good;
    }
    member = malloc(set.count * sizeof *member);
    if (member == NULL) {
        return false;
    }
    set.count = 0;
    for (size_t c = 0; c < chunks; c++) {
        memcpy(member + set.count, p->chunks[c].single, p->chunks[c].singles * sizeof *member);
        set.count += p->chunks[c].singles;
    }
    set.member = member;
    good = match(&set);
    for (uint32_t m = 0; good && m < set.count; m++) {
        p->chunks[member[m] / CHUNK].leaders -= p->partner[member[m]] < member[m];
    }
    free(member);
    return good;
}

static void emit_chunk(void *context, size_t begin, size_t end)
{
    struct pairing *p = context;
    uint32_t next = p->chunks[begin / CHUNK].start;

    for (uint32_t i = (uint32_t)begin; i < end; i++) {
        const uint32_t j = p->partner[i];
        struct facet_bvh_item item = p->level->items[i];

        if (j < i) {
            continue;
        }
        p->pairs[next].triangle[0] = item.id;
        p->pairs[next].triangle[1] = FACET_NO_TRIANGLE;
        if (j != NONE) {
            p->pairs[next].triangle[1] = p->level->items[j].id;
            join_items(&item, &p->level->items[j]);
        }
        item.id = next;
        p->items[next++] = item;
    }
}

static bool make_pairs(struct pairing *p, facet_pool *pool)
{
    const uint32_t count = p->level->item_count;
    const size_t chunks = ((size_t)count + CHUNK - 1) / CHUNK;
    uint32_t total = 0;

    p->partner = facet_large_alloc((size_t)count * sizeof *p->partner);
    p->chunks = calloc(chunks, sizeof *p->chunks);
    if (p->partner == NULL || p->chunks == NULL) {
        return false;
    }
    p->chunk_count = chunks;
    facet_pool_for(pool, count, CHUNK, match_chunk, p);
    if (!match_singles(p, chunks)) {
        return false;
    }
    for (size_t c = 0; c < chunks; c++) {
        p->chunks[c].start = total;
        total += p->chunks[c].leaders;
    }
    p->pairs = facet_large_alloc((size_t)total * sizeof *p->pairs);
    p->items = facet_large_alloc((size_t)total * sizeof *p->items);
    if (p->pairs == NULL || p->items == NULL) {
        return false;
    }
    facet_pool_for(pool, count, CHUNK, emit_chunk, p);
    facet_large_release(p->level->items,
                        (size_t)total * sizeof *p->level->items,
                        (size_t)count * sizeof *p->level->items);
    p->level->spare = p->level->items;
    p->level->items = p->items;
    p->level->item_count = total;
    return true;
}

enum facet_status
facet_gfx12_high_pair(struct facet_level *level, facet_pool *pool, struct facet_error *err)
{
    const uint32_t count = level->item_count;
    struct pairing p = {.level = level};
    const bool good = make_pairs(&p, pool);

    free(p.partner);
    for (size_t c = 0; c < p.chunk_count; c++) {
        free(p.chunks[c].single);
    }
    free(p.chunks);
    level->pairs = p.pairs;
    if (!good) {
        free(p.items);
    }
    return good ? FACET_OK
                : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to pair %u triangles", count);
}
