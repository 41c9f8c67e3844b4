/* Greedy packing with cheap trials.
 *
 * A trial ("would this range still fit, and how many bits would the node have?") is made up to 36
 * times per box node, so it must not touch vertices. All vertices of the box node get local numbers
 * first; a range or node is then a bit set of vertices plus, for every coordinate and index, the OR
 * and the AND of its words: bits in OR but not in AND are those that differ, which is what section
 * 12.5 derives every width from. Joining two such summaries is a handful of word operations. */
#include "gfx12/image/pack.h"

#include "base/array.h"
#include "base/bits.h"
#include "gfx12/image/node.h"

#include <stdlib.h>
#include <string.h>

#define SET_WORDS 7 /* 3 * 128 vertices of a box node and 16 of an open node */
#define MAX_LOCAL (SET_WORDS * 64)
#define HASH_SIZE 1024
#define MAX_PAIRS 8
#define MAX_VERTICES 16

/* Everything that decides the size of a node. */
struct summary {
    uint64_t set[SET_WORDS];
    uint32_t any[3], all[3]; /* OR and AND of the vertex words per axis */
    uint32_t geometry_any, geometry_all;
    uint32_t primitive_any, primitive_all;
    uint32_t pairs;
};

struct local_triangle {
    const struct facet_bvh_triangle *triangle;
    uint16_t vertex[3]; /* local numbers */
};

struct local_pair {
    struct local_triangle tri[2]; /* tri[1].triangle == NULL: absent */
    bool stop;
};

struct facet_packer {
    bool shared;
    /* local vertices of the box node at hand */
    uint32_t vertex[MAX_LOCAL][3];
    uint32_t vertices;
    unsigned set_words;
    uint16_t hash[HASH_SIZE]; /* local number + 1 */
    uint16_t hash_used[MAX_LOCAL];
    /* the open node */
    struct local_pair pair[MAX_PAIRS];
    struct summary open;
    /* finished nodes */
    uint8_t *nodes;
    uint32_t node_count;
    size_t node_capacity;
    /* the ranges of the box node at hand */
    struct local_triangle local[FACET_PACK_MAX_RANGES][FACET_PACK_MAX_RANGE_TRIANGLES];
    struct summary range[FACET_PACK_MAX_RANGES];
};

facet_packer *facet_gfx12_packer_create(bool shared)
{
    facet_packer *p = calloc(1, sizeof *p);

    if (p != NULL) {
        p->shared = shared;
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
    return packer->node_count + (packer->open.pairs != 0);
}

/* ---- local vertex numbers ---- */

static uint16_t local_vertex(facet_packer *p, const uint32_t xyz[3])
{
    uint64_t h = (xyz[0] * UINT64_C(0x9E3779B97F4A7C15)) ^ (xyz[1] * UINT64_C(0xC2B2AE3D27D4EB4F)) ^
                 (xyz[2] * UINT64_C(0x165667B19E3779F9));
    uint32_t slot = (uint32_t)((h ^ (h >> 29)) >> 7) % HASH_SIZE;

    while (p->hash[slot] != 0) {
        const uint32_t *v = p->vertex[p->hash[slot] - 1];

        if (v[0] == xyz[0] && v[1] == xyz[1] && v[2] == xyz[2]) {
            return (uint16_t)(p->hash[slot] - 1);
        }
        slot = (slot + 1) % HASH_SIZE;
    }
    p->hash_used[p->vertices] = (uint16_t)slot;
    memcpy(p->vertex[p->vertices], xyz, sizeof p->vertex[0]);
    p->hash[slot] = (uint16_t)(p->vertices + 1);
    return (uint16_t)p->vertices++;
}

static void local_clear(facet_packer *p)
{
    for (uint32_t i = 0; i < p->vertices; i++) {
        p->hash[p->hash_used[i]] = 0;
    }
    p->vertices = 0;
}

static void local_triangle(facet_packer *p,
                           const struct facet_bvh_triangle *triangle,
                           struct local_triangle *out)
{
    out->triangle = triangle;
    for (int c = 0; c < 3; c++) {
        uint32_t xyz[3];

        memcpy(xyz, triangle->vertex[c], sizeof xyz);
        out->vertex[c] = local_vertex(p, xyz);
    }
}

/* ---- summaries ---- */

static void summary_clear(struct summary *s)
{
    memset(s, 0, sizeof *s);
    memset(s->all, 0xFF, sizeof s->all);
    s->geometry_all = s->primitive_all = UINT32_MAX;
}

static void summary_triangle(struct summary *s, const struct local_triangle *t)
{
    for (int c = 0; c < 3; c++) {
        uint32_t xyz[3];

        memcpy(xyz, t->triangle->vertex[c], sizeof xyz);
        s->set[t->vertex[c] / 64] |= UINT64_C(1) << (t->vertex[c] % 64);
        for (int k = 0; k < 3; k++) {
            s->any[k] |= xyz[k];
            s->all[k] &= xyz[k];
        }
    }
    s->geometry_any |= t->triangle->geometry;
    s->geometry_all &= t->triangle->geometry;
    s->primitive_any |= t->triangle->primitive;
    s->primitive_all &= t->triangle->primitive;
}

static void
summary_join(struct summary *out, const struct summary *a, const struct summary *b, unsigned words)
{
    for (unsigned i = 0; i < words; i++) {
        out->set[i] = a->set[i] | b->set[i];
    }
    for (int k = 0; k < 3; k++) {
        out->any[k] = a->any[k] | b->any[k];
        out->all[k] = a->all[k] & b->all[k];
    }
    out->geometry_any = a->geometry_any | b->geometry_any;
    out->geometry_all = a->geometry_all & b->geometry_all;
    out->primitive_any = a->primitive_any | b->primitive_any;
    out->primitive_all = a->primitive_all & b->primitive_all;
    out->pairs = a->pairs + b->pairs;
}

static unsigned bit_length(uint32_t x)
{
    return 32 - facet_clz32(x);
}

static unsigned even(unsigned x)
{
    return (x + 1) & ~1u;
}

/* The widths of section 12.5. */
struct layout {
    unsigned tz;
    unsigned prefix[3], vb[3];
    unsigned gab, gpb, pab, ppb;
    unsigned vertices;
    unsigned bits;
};

/* `first` is the triangle number 0 of the node. */
static void make_layout(struct layout *l,
                        const struct summary *s,
                        unsigned words,
                        const struct facet_bvh_triangle *first)
{
    uint32_t z = s->any[0] | s->any[1] | s->any[2];
    unsigned per_vertex = 0, prefixes = 0;

    l->tz = facet_ctz32(z) > 31 ? 31 : facet_ctz32(z);
    for (int k = 0; k < 3; k++) {
        unsigned same = 32 - bit_length(s->any[k] & ~s->all[k]);

        l->prefix[k] = same < 31 - l->tz ? same : 31 - l->tz;
        l->vb[k] = 32 - l->tz - l->prefix[k];
        per_vertex += l->vb[k];
        prefixes += l->prefix[k];
    }
    l->gab = even(bit_length(first->geometry));
    l->gpb = even(bit_length(s->geometry_any & ~s->geometry_all));
    l->pab = bit_length(first->primitive);
    l->ppb = bit_length(s->primitive_any & ~s->primitive_all);
    l->vertices = 0;
    for (unsigned i = 0; i < words; i++) {
        l->vertices += facet_popcount64(s->set[i]);
    }
    l->bits = FACET_GFX12_PRIM_HEADER_BITS + FACET_GFX12_PAIR_DESC_BITS * s->pairs +
              (2 * s->pairs - 1) * (l->gpb + l->ppb) + l->gab + l->pab + prefixes +
              l->vertices * per_vertex;
}

/* Section 7.5. Two corners of a triangle are never the same vertex, so the pattern of a procedural
 * primitive (v0 = v1 = 15) cannot arise here. */
static bool layout_fits(const struct layout *l, unsigned pairs)
{
    return pairs <= MAX_PAIRS && l->vertices <= MAX_VERTICES && l->bits <= 1024;
}

/* ---- writing a node ---- */

/* Fields are written in ascending bit order through a 64-bit window. */
struct bit_writer {
    uint8_t *bytes;
    uint64_t window;
    unsigned filled, at;
};

static void put(struct bit_writer *w, uint32_t value, unsigned width)
{
    w->window |= (uint64_t)value << w->filled;
    w->filled += width;
    if (w->filled >= 32) {
        facet_store_le32(w->bytes + w->at, (uint32_t)w->window);
        w->at += 4;
        w->window >>= 32;
        w->filled -= 32;
    }
}

static void skip_to(struct bit_writer *w, unsigned bit)
{
    while (8 * w->at + w->filled < bit) {
        unsigned left = bit - (8 * w->at + w->filled);

        put(w, 0, left < 32 ? left : 32);
    }
}

static uint32_t low_bits(uint32_t value, unsigned width)
{
    return value & (uint32_t)facet_bits_mask(width);
}

struct node_vertices {
    uint16_t local[MAX_VERTICES];
    uint8_t number[MAX_PAIRS][2][3];
    unsigned count;
};

/* Vertices in order of first use. */
static void number_vertices(const facet_packer *p, struct node_vertices *nv)
{
    uint8_t known[MAX_LOCAL];

    memset(known, 0xFF, p->vertices);
    nv->count = 0;
    for (uint32_t i = 0; i < p->open.pairs; i++) {
        for (int t = 0; t < 2 && p->pair[i].tri[t].triangle != NULL; t++) {
            for (int c = 0; c < 3; c++) {
                uint16_t v = p->pair[i].tri[t].vertex[c];

                if (known[v] == 0xFF) {
                    known[v] = (uint8_t)nv->count;
                    nv->local[nv->count++] = v;
                }
                nv->number[i][t][c] = known[v];
            }
        }
    }
}

static uint32_t describe(const facet_packer *p, const struct node_vertices *nv, uint32_t pair)
{
    uint32_t desc = p->pair[pair].stop;

    for (int t = 0; t < 2; t++) {
        const struct facet_bvh_triangle *tri = p->pair[pair].tri[t].triangle;
        unsigned at = t == 0 ? 15 : 1;

        if (tri == NULL) {
            continue;
        }
        desc |= (uint32_t)((tri->flags & FACET_BVH_DOUBLE_SIDED) != 0) << at;
        desc |= (uint32_t)((tri->flags & FACET_BVH_OPAQUE) != 0) << (at + 1);
        for (int c = 0; c < 3; c++) {
            desc |= (uint32_t)nv->number[pair][t][c] << (at + 2 + 4 * c);
        }
    }
    return desc;
}

static void put_header(struct bit_writer *w, const struct layout *l, uint32_t pairs, unsigned mid)
{
    for (int k = 0; k < 3; k++) {
        put(w, l->vb[k] - 1, 5);
    }
    put(w, l->tz, 5);
    put(w, l->gab / 2, 4);
    put(w, l->gpb / 2, 4);
    put(w, pairs - 1, 3);
    put(w, 0, 1);
    put(w, l->pab, 5);
    put(w, l->ppb, 5);
    put(w, mid, 10);
}

static void put_vertices(struct bit_writer *w,
                         const facet_packer *p,
                         const struct layout *l,
                         const struct node_vertices *nv)
{
    for (int k = 0; k < 3; k++) {
        if (l->prefix[k] != 0) {
            put(w, p->vertex[nv->local[0]][k] >> (32 - l->prefix[k]), l->prefix[k]);
        }
    }
    for (unsigned i = 0; i < nv->count; i++) {
        for (int k = 0; k < 3; k++) {
            put(w, low_bits(p->vertex[nv->local[i]][k] >> l->tz, l->vb[k]), l->vb[k]);
        }
    }
}

/* The geometry index of triangle t lies below that of t - 1; the slots of an absent triangle are
 * zero. */
static void put_indices(struct bit_writer *w, const facet_packer *p, const struct layout *l)
{
    const struct local_pair *pair = p->pair;
    uint32_t triangles = 2 * p->open.pairs;

    for (uint32_t t = triangles; t-- > 1;) {
        const struct facet_bvh_triangle *tri = pair[t / 2].tri[t % 2].triangle;

        put(w, tri != NULL ? low_bits(tri->geometry, l->gpb) : 0, l->gpb);
    }
    put(w, pair[0].tri[0].triangle->geometry, l->gab);
    put(w, pair[0].tri[0].triangle->primitive, l->pab);
    for (uint32_t t = 1; t < triangles; t++) {
        const struct facet_bvh_triangle *tri = pair[t / 2].tri[t % 2].triangle;

        put(w, tri != NULL ? low_bits(tri->primitive, l->ppb) : 0, l->ppb);
    }
}

static void write_node(const facet_packer *p, uint8_t node[128])
{
    const uint32_t pairs = p->open.pairs;
    struct bit_writer w = {node, 0, 0, 0};
    struct node_vertices nv;
    struct layout l;
    unsigned mid;

    make_layout(&l, &p->open, p->set_words, p->pair[0].tri[0].triangle);
    number_vertices(p, &nv);
    mid = 1024 - FACET_GFX12_PAIR_DESC_BITS * pairs - (2 * pairs - 1) * l.ppb - l.pab;
    put_header(&w, &l, pairs, mid);
    put_vertices(&w, p, &l, &nv);
    skip_to(&w, mid - l.gab - (2 * pairs - 1) * l.gpb);
    put_indices(&w, p, &l);
    for (uint32_t i = pairs; i-- > 0;) {
        put(&w, describe(p, &nv, i), FACET_GFX12_PAIR_DESC_BITS);
    }
}

/* ---- the open node ---- */

static bool close_node(facet_packer *p)
{
    if (p->open.pairs == 0) {
        return true;
    }
    if (!facet_array_fit(&p->nodes, &p->node_capacity, (size_t)p->node_count + 1, 128)) {
        return false;
    }
    write_node(p, p->nodes + (size_t)p->node_count * 128);
    p->node_count++;
    summary_clear(&p->open);
    return true;
}

/* Pairs [from, to) of a range, which `added` sums up, go to the open node, which has room for
 * them. */
static void append_pairs(facet_packer *p,
                         const struct local_triangle *triangles,
                         uint32_t count,
                         uint32_t from,
                         uint32_t to,
                         const struct summary *added)
{
    const uint32_t last = (count + 1) / 2 - 1;
    struct local_pair *pair = &p->pair[p->open.pairs];

    summary_join(&p->open, &p->open, added, p->set_words);
    for (uint32_t i = from; i < to; i++, pair++) {

        pair->tri[0] = triangles[2 * i];
        pair->tri[1].triangle = NULL;
        if (2 * i + 1 < count) {
            pair->tri[1] = triangles[2 * i + 1];
        }
        pair->stop = i == last;
    }
}

static const struct facet_bvh_triangle *first_of(const facet_packer *p,
                                                 const struct local_triangle *candidate)
{
    return p->open.pairs != 0 ? p->pair[0].tri[0].triangle : candidate->triangle;
}

/* A range too long for one node: pair by pair, a new node whenever one does not fit. */
static bool append_long(facet_packer *p, const struct local_triangle *triangles, uint32_t count)
{
    for (uint32_t i = 0; i < (count + 1) / 2; i++) {
        struct summary one, joined;
        struct layout layout;

        summary_clear(&one);
        summary_triangle(&one, &triangles[2 * i]);
        if (2 * i + 1 < count) {
            summary_triangle(&one, &triangles[2 * i + 1]);
        }
        one.pairs = 1;
        summary_join(&joined, &p->open, &one, p->set_words);
        make_layout(&layout, &joined, p->set_words, first_of(p, &triangles[2 * i]));
        if (!layout_fits(&layout, joined.pairs) && !close_node(p)) {
            return false;
        }
        append_pairs(p, triangles, count, i, i + 1, &one);
    }
    return true;
}

/* ---- one box node ---- */

/* The vertices of the open node become the first ones of the next box node. */
static void keep_open_vertices(facet_packer *p)
{
    uint32_t kept[MAX_VERTICES][3];
    struct node_vertices nv;

    number_vertices(p, &nv);
    for (unsigned v = 0; v < nv.count; v++) {
        memcpy(kept[v], p->vertex[nv.local[v]], sizeof kept[v]);
    }
    local_clear(p);
    for (unsigned v = 0; v < nv.count; v++) {
        (void)local_vertex(p, kept[v]);
    }
    for (uint32_t i = 0; i < p->open.pairs; i++) {
        for (int t = 0; t < 2 && p->pair[i].tri[t].triangle != NULL; t++) {
            for (int c = 0; c < 3; c++) {
                p->pair[i].tri[t].vertex[c] = nv.number[i][t][c];
            }
        }
    }
    memset(p->open.set, 0, sizeof p->open.set);
    p->open.set[0] = facet_bits_mask(nv.count);
}

/* Local numbers of the open node's vertices change with the box node at hand. */
static void begin_box(facet_packer *p, const struct facet_pack_range *ranges, unsigned count)
{
    if (p->open.pairs != 0) {
        keep_open_vertices(p);
    } else {
        local_clear(p);
        summary_clear(&p->open);
    }
    for (unsigned r = 0; r < count; r++) {
        for (uint32_t t = 0; t < ranges[r].count; t++) {
            local_triangle(p, ranges[r].triangle[t], &p->local[r][t]);
        }
    }
    p->set_words = (p->vertices + 63) / 64;
    for (unsigned r = 0; r < count; r++) {
        summary_clear(&p->range[r]);
        for (uint32_t t = 0; t < ranges[r].count; t++) {
            summary_triangle(&p->range[r], &p->local[r][t]);
        }
        p->range[r].pairs = (ranges[r].count + 1) / 2;
    }
}

/* The remaining range that leaves the smallest node, the first one on ties; -1 if none fits. */
static int best_fit(const facet_packer *p, const uint8_t *remaining, unsigned count)
{
    unsigned best_bits = 0;
    int best = -1;

    for (unsigned i = 0; i < count; i++) {
        const unsigned r = remaining[i];
        struct summary joined;
        struct layout layout;

        if (p->open.pairs + p->range[r].pairs > MAX_PAIRS) {
            continue;
        }
        summary_join(&joined, &p->open, &p->range[r], p->set_words);
        make_layout(&layout, &joined, p->set_words, first_of(p, &p->local[r][0]));
        if (layout_fits(&layout, joined.pairs) && (best < 0 || layout.bits < best_bits)) {
            best = (int)i;
            best_bits = layout.bits;
        }
    }
    return best;
}

bool facet_gfx12_packer_add(facet_packer *p,
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
        int pick = best_fit(p, remaining, left);
        unsigned r;

        if (pick < 0 && p->open.pairs != 0) {
            if (!close_node(p)) {
                return false;
            }
            continue;
        }
        r = remaining[pick < 0 ? 0 : pick];
        *place++ = (struct facet_pack_place){p->node_count, (uint8_t)p->open.pairs, (uint8_t)r};
        if (pick >= 0) {
            append_pairs(
                p, p->local[r], ranges[r].count, 0, (ranges[r].count + 1) / 2, &p->range[r]);
        } else if (!append_long(p, p->local[r], ranges[r].count)) {
            return false;
        }
        left--;
        for (unsigned i = pick < 0 ? 0 : (unsigned)pick; i < left; i++) {
            remaining[i] = remaining[i + 1];
        }
    }
    return p->shared || close_node(p);
}

bool facet_gfx12_packer_finish(facet_packer *p, const uint8_t **nodes, uint32_t *node_count)
{
    if (!close_node(p)) {
        return false;
    }
    *nodes = p->nodes;
    *node_count = p->node_count;
    return true;
}

/* A refit may make two corners equal, so that a triangle could look procedural (v0 = v1 = 15). */
static bool looks_procedural(const facet_packer *p)
{
    struct node_vertices nv;

    number_vertices(p, &nv);
    for (uint32_t i = 0; i < p->open.pairs; i++) {
        for (int t = 0; t < 2 && p->pair[i].tri[t].triangle != NULL; t++) {
            if (nv.number[i][t][0] == 15 && nv.number[i][t][1] == 15) {
                return true;
            }
        }
    }
    return false;
}

bool facet_gfx12_packer_single(facet_packer *p,
                               const struct facet_bvh_triangle *const (*pair)[2],
                               const bool *stop,
                               unsigned count,
                               uint8_t node[128])
{
    struct layout layout;
    bool fits;

    local_clear(p);
    summary_clear(&p->open);
    for (unsigned i = 0; i < count; i++) {
        struct local_pair *out = &p->pair[i];

        *out = (struct local_pair){.stop = stop[i]};
        for (int t = 0; t < 2 && pair[i][t] != NULL; t++) {
            local_triangle(p, pair[i][t], &out->tri[t]);
            summary_triangle(&p->open, &out->tri[t]);
        }
    }
    p->open.pairs = count;
    p->set_words = (p->vertices + 63) / 64;
    make_layout(&layout, &p->open, p->set_words, pair[0][0]);
    fits = layout_fits(&layout, count) && !looks_procedural(p);
    if (fits) {
        write_node(p, node);
    }
    p->open.pairs = 0;
    return fits;
}

/* ---- procedural nodes ---- */

void facet_gfx12_pack_aabb(const struct facet_bvh_aabb *aabb, uint8_t node[128])
{
    struct bit_writer w = {node, 0, 0, 0};
    struct layout l = {.vb = {1, 1, 1}};
    unsigned mid;

    l.gab = even(bit_length(aabb->geometry));
    l.pab = bit_length(aabb->primitive);
    mid = 1024 - FACET_GFX12_PAIR_DESC_BITS - l.pab;
    put_header(&w, &l, 1, mid);
    for (int k = 0; k < 6; k++) {
        uint32_t bits;

        memcpy(&bits, k < 3 ? &aabb->min[k] : &aabb->max[k - 3], sizeof bits);
        put(&w, bits, 32);
    }
    skip_to(&w, mid - l.gab);
    put(&w, aabb->geometry, l.gab);
    put(&w, aabb->primitive, l.pab);
    put(&w,
        1u | (uint32_t)((aabb->flags & FACET_BVH_OPAQUE) != 0) << 16 | 0xFu << 17 | 0xFu << 21,
        FACET_GFX12_PAIR_DESC_BITS);
}
