/* Greedy packing with cheap trials.
 *
 * In the plain mode a trial ("would this range still fit, and how many bits would the node have?")
 * is made up to 36 times per box node, so it must not touch vertices. All vertices of the box node
 * get local numbers first; a range or node is then a bit set of vertices plus what decides widths
 * (pack_node.h). Joining two such summaries is a handful of word operations.
 *
 * The shared mode is free to choose, and takes the first range that fits: ranges of one box node
 * are neighbours, and the smallest node would be found at four times the cost for one node in a
 * hundred less. */
#include "gfx12/build/pack.h"

#include "base/array.h"
#include "base/bits.h"
#include "gfx12/build/pack_node.h"

#include <stdlib.h>
#include <string.h>

#define SET_WORDS 6 /* 3 * 128 vertices of a box node */
#define MAX_LOCAL (SET_WORDS * 64)
#define HASH_SIZE 1024
#define FIRST_ROOM 512 /* nodes: enough for most chunks of box nodes */

/* Everything that decides the size of a node. */
struct summary {
    uint64_t set[SET_WORDS];
    struct facet_pack_bits bits; /* vertices are those in the set */
};

struct facet_packer {
    bool shared, updatable;
    struct facet_pack_node open;
    struct facet_bvh_triangle kept[FACET_PACK_NODE_PAIRS][2]; /* of the open node, between calls */
    /* finished nodes */
    uint8_t *nodes;
    uint32_t node_count;
    size_t node_capacity;
    /* plain mode: vertices and ranges of the box node at hand, and the open node */
    uint32_t vertex[MAX_LOCAL][3];
    uint32_t vertices;
    unsigned set_words;
    uint16_t hash[HASH_SIZE]; /* local number + 1 */
    uint16_t hash_used[MAX_LOCAL];
    struct summary open_summary;
    struct summary range[FACET_PACK_MAX_RANGES];
};

facet_packer *facet_gfx12_packer_create(bool shared, bool updatable)
{
    facet_packer *p = calloc(1, sizeof *p);

    if (p != NULL) {
        p->shared = shared;
        p->updatable = updatable;
        facet_gfx12_pack_node_clear(&p->open, updatable);
    }
    return p;
}

void facet_gfx12_packer_destroy(facet_packer *packer)
{
    if (packer != NULL) {
        free(packer->nodes);
        free(packer);
    }
}

uint32_t facet_gfx12_packer_nodes(const facet_packer *packer)
{
    return packer->node_count + (packer->open.bits.pairs != 0);
}

/* ---- the open node ---- */

static bool close_node(facet_packer *p)
{
    if (p->open.bits.pairs == 0) {
        return true;
    }
    if (p->node_count == p->node_capacity) {
        const size_t need = p->node_count != 0 ? p->node_count + 1 : FIRST_ROOM;

        if (!facet_array_fit(&p->nodes, &p->node_capacity, need, 128)) {
            return false;
        }
    }
    facet_gfx12_pack_node_write(&p->open, p->nodes + (size_t)p->node_count * 128);
    p->node_count++;
    facet_gfx12_pack_node_clear(&p->open, p->updatable);
    return true;
}

/* A range too long for one node: pair by pair, a new node whenever one does not fit. */
static bool append_long(facet_packer *p, const struct facet_pack_range *range)
{
    for (uint32_t i = 0; i < range->count; i += 2) {
        const bool last = i + 2 >= range->count;
        const uint32_t n = i + 1 < range->count ? 2 : 1;

        if (!facet_gfx12_pack_node_range(&p->open, &range->triangle[i], n, last)) {
            if (!close_node(p)) {
                return false;
            }
            (void)facet_gfx12_pack_node_range(&p->open, &range->triangle[i], n, last);
        }
    }
    return true;
}

static struct facet_pack_place next_place(const facet_packer *p, unsigned range)
{
    return (struct facet_pack_place){p->node_count, (uint8_t)p->open.bits.pairs, (uint8_t)range};
}

/* ---- shared mode, and updatable nodes ---- */

static bool add_first_fit(facet_packer *p,
                          const struct facet_pack_range *ranges,
                          unsigned count,
                          struct facet_pack_place *place)
{
    for (unsigned r = 0; r < count; r++) {
        place[r] = next_place(p, r);
        if (facet_gfx12_pack_node_range(&p->open, ranges[r].triangle, ranges[r].count, true)) {
            continue;
        }
        if (!close_node(p)) {
            return false;
        }
        place[r] = next_place(p, r);
        if (!append_long(p, &ranges[r])) {
            return false;
        }
    }
    return true;
}

/* ---- plain mode: local vertex numbers ---- */

static uint32_t local_vertex(facet_packer *p, const uint32_t xyz[3])
{
    uint64_t h = (xyz[0] * UINT64_C(0x9E3779B97F4A7C15)) ^ (xyz[1] * UINT64_C(0xC2B2AE3D27D4EB4F)) ^
                 (xyz[2] * UINT64_C(0x165667B19E3779F9));
    uint32_t slot = (uint32_t)((h ^ (h >> 29)) >> 7) % HASH_SIZE;

    while (p->hash[slot] != 0) {
        const uint32_t *v = p->vertex[p->hash[slot] - 1];

        if (v[0] == xyz[0] && v[1] == xyz[1] && v[2] == xyz[2]) {
            return p->hash[slot] - 1u;
        }
        slot = (slot + 1) % HASH_SIZE;
    }
    p->hash_used[p->vertices] = (uint16_t)slot;
    memcpy(p->vertex[p->vertices], xyz, sizeof p->vertex[0]);
    p->hash[slot] = (uint16_t)(p->vertices + 1);
    return p->vertices++;
}

static void local_clear(facet_packer *p)
{
    for (uint32_t i = 0; i < p->vertices; i++) {
        p->hash[p->hash_used[i]] = 0;
    }
    p->vertices = 0;
}

/* ---- plain mode: summaries ---- */

static void summary_clear(struct summary *s)
{
    memset(s->set, 0, sizeof s->set);
    facet_gfx12_pack_bits_clear(&s->bits);
}

static void
summary_triangle(facet_packer *p, struct summary *s, const struct facet_bvh_triangle *triangle)
{
    for (int c = 0; c < 3; c++) {
        uint32_t xyz[3], number;

        memcpy(xyz, triangle->vertex[c], sizeof xyz);
        number = local_vertex(p, xyz);
        s->set[number / 64] |= UINT64_C(1) << (number % 64);
    }
    facet_gfx12_pack_bits_triangle(&s->bits, triangle);
}

static void
summary_join(struct summary *out, const struct summary *a, const struct summary *b, unsigned words)
{
    out->bits.vertices = 0;
    for (unsigned i = 0; i < words; i++) {
        out->set[i] = a->set[i] | b->set[i];
        out->bits.vertices += facet_popcount64(out->set[i]);
    }
    for (int k = 0; k < 3; k++) {
        out->bits.any[k] = a->bits.any[k] | b->bits.any[k];
        out->bits.all[k] = a->bits.all[k] & b->bits.all[k];
    }
    out->bits.geometry_any = a->bits.geometry_any | b->bits.geometry_any;
    out->bits.geometry_all = a->bits.geometry_all & b->bits.geometry_all;
    out->bits.primitive_any = a->bits.primitive_any | b->bits.primitive_any;
    out->bits.primitive_all = a->bits.primitive_all & b->bits.primitive_all;
    out->bits.pairs = a->bits.pairs + b->bits.pairs;
    out->bits.updatable = false;
}

static void summary_of_open(facet_packer *p)
{
    summary_clear(&p->open_summary);
    for (uint32_t i = 0; i < p->open.bits.pairs; i++) {
        for (int t = 0; t < 2 && p->open.pair[i].triangle[t] != NULL; t++) {
            summary_triangle(p, &p->open_summary, p->open.pair[i].triangle[t]);
        }
    }
    p->open_summary.bits.pairs = p->open.bits.pairs;
}

/* ---- plain mode: one box node ---- */

static void begin_box(facet_packer *p, const struct facet_pack_range *ranges, unsigned count)
{
    local_clear(p);
    summary_clear(&p->open_summary);
    for (unsigned r = 0; r < count; r++) {
        summary_clear(&p->range[r]);
        for (uint32_t t = 0; t < ranges[r].count; t++) {
            summary_triangle(p, &p->range[r], ranges[r].triangle[t]);
        }
        p->range[r].bits.pairs = (ranges[r].count + 1) / 2;
    }
    p->set_words = (p->vertices + 63) / 64;
}

/* The remaining range that leaves the smallest node, the first one on ties; -1 if none fits. */
static int best_fit(const facet_packer *p,
                    const struct facet_pack_range *ranges,
                    const uint8_t *remaining,
                    unsigned count)
{
    unsigned best_bits = 0;
    int best = -1;

    for (unsigned i = 0; i < count; i++) {
        const unsigned r = remaining[i];
        struct summary joined;
        unsigned bits;

        if (p->open.bits.pairs + p->range[r].bits.pairs > FACET_PACK_NODE_PAIRS) {
            continue;
        }
        summary_join(&joined, &p->open_summary, &p->range[r], p->set_words);
        bits = facet_gfx12_pack_bits_size(&joined.bits,
                                          p->open.bits.pairs != 0 ? p->open.pair[0].triangle[0]
                                                                  : ranges[r].triangle[0]);
        if (facet_gfx12_pack_bits_fit(&joined.bits, bits) && (best < 0 || bits < best_bits)) {
            best = (int)i;
            best_bits = bits;
        }
    }
    return best;
}

static bool add_plain(facet_packer *p,
                      const struct facet_pack_range *ranges,
                      unsigned count,
                      struct facet_pack_place *place)
{
    uint8_t remaining[FACET_PACK_MAX_RANGES];
    unsigned left = count;

    begin_box(p, ranges, count);
    for (unsigned i = 0; i < count; i++) {
        remaining[i] = (uint8_t)i;
    }
    while (left != 0) {
        int pick = best_fit(p, ranges, remaining, left);
        unsigned r;

        if (pick < 0 && p->open.bits.pairs != 0) {
            if (!close_node(p)) {
                return false;
            }
            summary_clear(&p->open_summary);
            continue;
        }
        r = remaining[pick < 0 ? 0 : pick];
        *place++ = next_place(p, r);
        if (pick >= 0) {
            (void)facet_gfx12_pack_node_range(&p->open, ranges[r].triangle, ranges[r].count, true);
            summary_join(&p->open_summary, &p->open_summary, &p->range[r], p->set_words);
        } else if (append_long(p, &ranges[r])) {
            summary_of_open(p);
        } else {
            return false;
        }
        left--;
        for (unsigned i = pick < 0 ? 0 : (unsigned)pick; i < left; i++) {
            remaining[i] = remaining[i + 1];
        }
    }
    return close_node(p);
}

/* The caller's triangles may be gone when the open node is written. */
static void keep_open(facet_packer *p)
{
    for (uint32_t i = 0; i < p->open.bits.pairs; i++) {
        for (int t = 0; t < 2; t++) {
            const struct facet_bvh_triangle **triangle = &p->open.pair[i].triangle[t];

            if (*triangle != NULL && *triangle != &p->kept[i][t]) {
                p->kept[i][t] = **triangle;
                *triangle = &p->kept[i][t];
            }
        }
    }
}

bool facet_gfx12_packer_add(facet_packer *p,
                            const struct facet_pack_range *ranges,
                            unsigned count,
                            struct facet_pack_place *place)
{
    if (p->shared) {
        const bool good = add_first_fit(p, ranges, count, place);

        keep_open(p);
        return good;
    }
    /* Which range is smallest does not matter where no two can share anything. */
    return p->updatable ? add_first_fit(p, ranges, count, place) && close_node(p)
                        : add_plain(p, ranges, count, place);
}

bool facet_gfx12_packer_finish(facet_packer *p, uint8_t **nodes, uint32_t *node_count)
{
    uint8_t *fitting;

    if (!close_node(p)) {
        return false;
    }
    fitting = realloc(p->nodes, (size_t)p->node_count * 128 + 1);
    *nodes = fitting != NULL ? fitting : p->nodes;
    *node_count = p->node_count;
    p->nodes = NULL;
    return true;
}
