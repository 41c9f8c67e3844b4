/* See pack_node.h. */
#include "gfx12/build/pack_node.h"

#include "base/avx2.h"
#include "base/bits.h"
#include "gfx12/image/node.h"

#include <string.h>

/* ---- widths ---- */

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
    unsigned bits;
};

/* `first` is the triangle number 0 of the node. */
static struct layout make_layout(const struct facet_pack_bits *b,
                                 const struct facet_bvh_triangle *first)
{
    const uint32_t z = b->any[0] | b->any[1] | b->any[2];
    unsigned per_vertex = 0, prefixes = 0;
    struct layout l;

    l.tz = b->updatable ? 0 : facet_ctz32(z) > 31 ? 31 : facet_ctz32(z);
    for (int k = 0; k < 3; k++) {
        unsigned same = b->updatable ? 0 : 32 - bit_length(b->any[k] & ~b->all[k]);

        l.prefix[k] = same < 31 - l.tz ? same : 31 - l.tz;
        l.vb[k] = 32 - l.tz - l.prefix[k];
        per_vertex += l.vb[k];
        prefixes += l.prefix[k];
    }
    l.gab = even(bit_length(first->geometry));
    l.gpb = even(bit_length(b->geometry_any & ~b->geometry_all));
    l.pab = bit_length(first->primitive);
    l.ppb = bit_length(b->primitive_any & ~b->primitive_all);
    l.bits = FACET_GFX12_PRIM_HEADER_BITS + FACET_GFX12_PAIR_DESC_BITS * b->pairs +
             (2 * b->pairs - 1) * (l.gpb + l.ppb) + l.gab + l.pab + prefixes +
             b->vertices * per_vertex;
    return l;
}

unsigned facet_gfx12_pack_bits_size(const struct facet_pack_bits *bits,
                                    const struct facet_bvh_triangle *first)
{
    return make_layout(bits, first).bits;
}

bool facet_gfx12_pack_bits_fit(const struct facet_pack_bits *bits, unsigned size)
{
    return bits->pairs <= FACET_PACK_NODE_PAIRS && bits->vertices <= FACET_PACK_NODE_VERTICES &&
           size <= 1024;
}

/* ---- filling ---- */

void facet_gfx12_pack_node_clear(struct facet_pack_node *node, bool updatable)
{
    facet_gfx12_pack_bits_clear(&node->bits);
    node->bits.updatable = updatable;
    memset(node->number, 0, sizeof node->number);
}

/* Eight vertices at a time. */
typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t eight __attribute__((vector_size(32)));

/* A vertex, to be compared by its bits. */
struct corner {
    uint32_t xyz[3];
};

static inline uint32_t same_corner(const struct corner *a, const struct corner *b)
{
    return ((a->xyz[0] ^ b->xyz[0]) | (a->xyz[1] ^ b->xyz[1]) | (a->xyz[2] ^ b->xyz[2])) == 0;
}

/* 1 + the number of a vertex of the node, or 0. At most one is the same, so the numbers of all may
 * be joined. */
static inline __attribute__((always_inline)) uint32_t
find_corner(const struct facet_pack_node *node, const struct corner *corner)
{
    eight found = {0};
    four half[2], both;

    for (uint32_t i = 0; i < FACET_PACK_NODE_VERTICES; i += 8) {
        eight x, y, z, number;

        memcpy(&x, &node->xyz[0][i], sizeof x);
        memcpy(&y, &node->xyz[1][i], sizeof y);
        memcpy(&z, &node->xyz[2][i], sizeof z);
        memcpy(&number, &node->number[i], sizeof number);
        found |= number & (eight)(x == corner->xyz[0]) & (eight)(y == corner->xyz[1]) &
                 (eight)(z == corner->xyz[2]);
    }
    memcpy(half, &found, sizeof half);
    both = half[0] | half[1];
    return both[0] | both[1] | both[2] | both[3];
}

/* Gives numbers to the corners of a pair, new ones in their order. All are looked for before any is
 * added: a vector that is read right after a part of it was written waits for the write. */
static inline __attribute__((always_inline)) void number_corners(struct facet_pack_node *node,
                                                                 const struct corner *corner,
                                                                 unsigned count,
                                                                 uint8_t *out)
{
    uint32_t number[6] = {0};

    for (unsigned i = 0; i < count && !node->bits.updatable; i++) {
        number[i] = find_corner(node, &corner[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < i && !node->bits.updatable; j++) {
            number[i] |= number[j] & -same_corner(&corner[i], &corner[j]);
        }
        if (number[i] == 0) {
            const uint32_t next = node->bits.vertices++;

            number[i] = node->number[next] = next + 1;
            for (int k = 0; k < 3; k++) {
                node->xyz[k][next] = corner[i].xyz[k];
            }
        }
        out[i] = (uint8_t)(number[i] - 1);
    }
}

static inline __attribute__((always_inline)) bool add_pair(struct facet_pack_node *node,
                                                           const struct facet_bvh_triangle *first,
                                                           const struct facet_bvh_triangle *second,
                                                           bool stop)
{
    struct facet_pack_pair *pair = &node->pair[node->bits.pairs];
    struct corner corner[6];

    if (node->bits.pairs == FACET_PACK_NODE_PAIRS ||
        node->bits.vertices > FACET_PACK_NODE_VERTICES) {
        return false;
    }
    pair->triangle[0] = first;
    pair->triangle[1] = second;
    pair->stop = stop;
    memcpy(corner, first->vertex, sizeof first->vertex);
    facet_gfx12_pack_bits_triangle(&node->bits, first);
    if (second != NULL) {
        memcpy(corner + 3, second->vertex, sizeof second->vertex);
        facet_gfx12_pack_bits_triangle(&node->bits, second);
        number_corners(node, corner, 6, (uint8_t *)pair->vertex);
    } else {
        number_corners(node, corner, 3, (uint8_t *)pair->vertex);
    }
    node->bits.pairs++;
    return true;
}

bool facet_gfx12_pack_node_pair(struct facet_pack_node *node,
                                const struct facet_bvh_triangle *first,
                                const struct facet_bvh_triangle *second,
                                bool stop)
{
    return add_pair(node, first, second, stop);
}

static bool fits(const struct facet_pack_node *node)
{
    return facet_gfx12_pack_bits_fit(
        &node->bits, facet_gfx12_pack_bits_size(&node->bits, node->pair[0].triangle[0]));
}

bool facet_gfx12_pack_node_fits(const struct facet_pack_node *node)
{
    for (uint32_t i = 0; i < node->bits.pairs; i++) {
        for (int t = 0; t < 2 && node->pair[i].triangle[t] != NULL; t++) {
            if (node->pair[i].vertex[t][0] == 15 && node->pair[i].vertex[t][1] == 15) {
                return false;
            }
        }
    }
    return fits(node);
}

static bool add_range(struct facet_pack_node *node,
                      const struct facet_bvh_triangle *const *triangle,
                      uint32_t count,
                      bool ends)
{
    const struct facet_pack_bits before = node->bits;
    bool room = true;

    for (uint32_t i = 0; i < count && room; i += 2) {
        room = add_pair(
            node, triangle[i], i + 1 < count ? triangle[i + 1] : NULL, ends && i + 2 >= count);
    }
    if (room && fits(node)) {
        return true;
    }
    for (uint32_t v = before.vertices; v < node->bits.vertices; v++) {
        node->number[v] = 0;
    }
    node->bits = before;
    return false;
}

FACET_AVX2 static bool add_range_avx2(struct facet_pack_node *node,
                                      const struct facet_bvh_triangle *const *triangle,
                                      uint32_t count,
                                      bool ends)
{
    return add_range(node, triangle, count, ends);
}

bool facet_gfx12_pack_node_range(struct facet_pack_node *node,
                                 const struct facet_bvh_triangle *const *triangle,
                                 uint32_t count,
                                 bool ends)
{
    return (FACET_HAS_AVX2() ? add_range_avx2 : add_range)(node, triangle, count, ends);
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

static uint32_t describe(const struct facet_pack_pair *pair)
{
    uint32_t desc = pair->stop;

    for (int t = 0; t < 2; t++) {
        const struct facet_bvh_triangle *tri = pair->triangle[t];
        unsigned at = t == 0 ? 15 : 1;

        if (tri == NULL) {
            continue;
        }
        desc |= (uint32_t)((tri->flags & FACET_BVH_DOUBLE_SIDED) != 0) << at;
        desc |= (uint32_t)((tri->flags & FACET_BVH_OPAQUE) != 0) << (at + 1);
        for (int c = 0; c < 3; c++) {
            desc |= (uint32_t)pair->vertex[t][c] << (at + 2 + 4 * c);
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

static void
put_vertices(struct bit_writer *w, const struct facet_pack_node *node, const struct layout *l)
{
    for (int k = 0; k < 3; k++) {
        if (l->prefix[k] != 0) {
            put(w, node->xyz[k][0] >> (32 - l->prefix[k]), l->prefix[k]);
        }
    }
    for (unsigned i = 0; i < node->bits.vertices; i++) {
        for (int k = 0; k < 3; k++) {
            put(w, low_bits(node->xyz[k][i] >> l->tz, l->vb[k]), l->vb[k]);
        }
    }
}

/* The geometry index of triangle t lies below that of t - 1; the slots of an absent triangle are
 * zero. */
static void
put_indices(struct bit_writer *w, const struct facet_pack_node *node, const struct layout *l)
{
    const struct facet_pack_pair *pair = node->pair;
    uint32_t triangles = 2 * node->bits.pairs;

    for (uint32_t t = triangles; t-- > 1;) {
        const struct facet_bvh_triangle *tri = pair[t / 2].triangle[t % 2];

        put(w, tri != NULL ? low_bits(tri->geometry, l->gpb) : 0, l->gpb);
    }
    put(w, pair[0].triangle[0]->geometry, l->gab);
    put(w, pair[0].triangle[0]->primitive, l->pab);
    for (uint32_t t = 1; t < triangles; t++) {
        const struct facet_bvh_triangle *tri = pair[t / 2].triangle[t % 2];

        put(w, tri != NULL ? low_bits(tri->primitive, l->ppb) : 0, l->ppb);
    }
}

static void write_node(const struct facet_pack_node *node, uint8_t bytes[128])
{
    const uint32_t pairs = node->bits.pairs;
    const struct layout l = make_layout(&node->bits, node->pair[0].triangle[0]);
    const unsigned mid =
        1024 - FACET_GFX12_PAIR_DESC_BITS * pairs - (2 * pairs - 1) * l.ppb - l.pab;
    struct bit_writer w = {bytes, 0, 0, 0};

    put_header(&w, &l, pairs, mid);
    put_vertices(&w, node, &l);
    skip_to(&w, mid - l.gab - (2 * pairs - 1) * l.gpb);
    put_indices(&w, node, &l);
    for (uint32_t i = pairs; i-- > 0;) {
        put(&w, describe(&node->pair[i]), FACET_GFX12_PAIR_DESC_BITS);
    }
}

FACET_AVX2 static void write_node_avx2(const struct facet_pack_node *node, uint8_t bytes[128])
{
    write_node(node, bytes);
}

void facet_gfx12_pack_node_write(const struct facet_pack_node *node, uint8_t bytes[128])
{
    (FACET_HAS_AVX2() ? write_node_avx2 : write_node)(node, bytes);
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
