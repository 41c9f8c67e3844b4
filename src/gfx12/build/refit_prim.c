/* See refit_prim.h. Nodes of whole floats are changed in place, which keeps the layout that their
 * builder gave them; all others are packed again. */
#include "gfx12/build/refit_prim.h"

#include "gfx12/build/pack_node.h"
#include "gfx12/build/raw_node.h"
#include "gfx12/image/node.h"

#include <math.h>

enum facet_status facet_gfx12_refit_mismatch(struct facet_error *err, uint64_t at, const char *what)
{
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      at,
                      "the image does not belong to this scene: at 0x%llx %s",
                      (unsigned long long)at,
                      what);
}

static enum facet_status not_finite(struct facet_error *err, uint32_t index)
{
    return facet_fail(
        err,
        FACET_ERR_INPUT,
        index,
        "triangle %u is no longer finite; one that becomes inactive needs a new image",
        index);
}

/* The triangle of the scene, which must be there and finite. */
static inline enum facet_status find_triangle(const struct facet_refit_blas *blas,
                                              uint32_t geometry,
                                              uint32_t primitive,
                                              uint64_t at,
                                              const struct facet_bvh_triangle **out,
                                              struct facet_error *err)
{
    const struct facet_bvh_blas_input *in = blas->input;
    uint32_t index = 0, words[9], wild = 0;

    if (in->triangle_count == 0 || !facet_gfx12_refit_find(blas, geometry, primitive, &index)) {
        return facet_gfx12_refit_mismatch(err, at, "is a triangle that the scene does not have");
    }
    facet_gfx12_refit_see(blas, index);
    *out = &in->triangles[index];
    memcpy(words, (*out)->vertex, sizeof words);
    for (int i = 0; i < 9; i++) { /* bit 31: an infinity or a NaN */
        wild |= (words[i] & UINT32_C(0x7FFFFFFF)) + UINT32_C(0x00800000);
    }
    return wild >> 31 == 0 ? FACET_OK : not_finite(err, index);
}

/* ---- nodes of whole floats ---- */

struct raw_layout {
    unsigned pairs, vertices; /* how many vertices lie before the indices */
    unsigned midpoint;
    unsigned bits[2][2]; /* geometry, primitive: of the first index, of the others */
};

/* No vertices when the sections of the node overlap or leave it. */
static struct raw_layout raw_layout(const uint8_t node[128])
{
    const uint64_t head = facet_load_le64(node);
    struct raw_layout l = {.pairs = (head >> 28 & 7) + 1, .midpoint = head >> 42 & 0x3FF};
    const unsigned more = 2 * l.pairs - 1;
    unsigned below, above;

    l.bits[0][0] = 2 * (head >> 20 & 15);
    l.bits[0][1] = 2 * (head >> 24 & 15);
    l.bits[1][0] = head >> 32 & 31;
    l.bits[1][1] = head >> 37 & 31;
    below = FACET_GFX12_PRIM_HEADER_BITS + l.bits[0][0] + more * l.bits[0][1];
    above = l.bits[1][0] + more * l.bits[1][1] + FACET_GFX12_PAIR_DESC_BITS * l.pairs;
    if (below <= l.midpoint && l.midpoint + above <= 1024) {
        l.vertices = (l.midpoint - below) / 96;
    }
    return l;
}

/* Section 7.3; `kind` is 0 for the geometry, 1 for the primitive. */
static uint32_t
raw_index(const uint8_t node[128], const struct raw_layout *l, unsigned kind, unsigned t)
{
    const unsigned base_bits = l->bits[kind][0], bits = l->bits[kind][1];
    const unsigned first = kind == 0 ? l->midpoint - base_bits : l->midpoint;
    const uint32_t base = facet_gfx12_raw_bits(node, first, base_bits);
    uint32_t own;

    if (t == 0) {
        return base;
    }
    own = facet_gfx12_raw_bits(
        node, kind == 0 ? first - t * bits : first + base_bits + (t - 1) * bits, bits);
    return bits >= base_bits ? own : own | (base & ~(uint32_t)facet_bits_mask(bits));
}

/* Where the fields of a triangle begin in its pair's descriptor (7.4). */
static unsigned half_at(unsigned half)
{
    return half == 0 ? 15 : 1;
}

static uint32_t with_flags(uint32_t pair, unsigned half, uint32_t flags)
{
    const uint32_t bits =
        (uint32_t)((flags & FACET_BVH_DOUBLE_SIDED) != 0) | ((flags & FACET_BVH_OPAQUE) != 0) << 1;

    return (pair & ~(UINT32_C(3) << half_at(half))) | bits << half_at(half);
}

/* The new vertices of a node, until all are known: written one by one they would be read back from
 * stores that are still under way. */
struct corners {
    uint32_t xyz[10][3];
    unsigned stored; /* which, a bit each */
};

/* By value: drivers share a vertex between corners that differ in the sign of a zero. */
static bool same_corner(const uint32_t a[3], const uint32_t b[3])
{
    return facet_float_of(a[0]) == facet_float_of(b[0]) &&
           facet_float_of(a[1]) == facet_float_of(b[1]) &&
           facet_float_of(a[2]) == facet_float_of(b[2]);
}

/* The corners of one triangle; false where one lies behind the room for them, or where another
 * triangle has it already and no longer agrees. */
static bool set_corners(uint32_t pair,
                        unsigned half,
                        const struct facet_bvh_triangle *triangle,
                        unsigned vertices,
                        struct corners *corners)
{
    for (unsigned c = 0; c < 3; c++) {
        const unsigned v = pair >> (half_at(half) + 2 + 4 * c) & 15;
        uint32_t xyz[3];

        memcpy(xyz, triangle->vertex[c], sizeof xyz);
        if (v >= vertices ||
            ((corners->stored >> v & 1) != 0 && !same_corner(corners->xyz[v], xyz))) {
            return false;
        }
        for (unsigned k = 0; k < 3; k++) {
            corners->xyz[v][k] = xyz[k];
        }
        corners->stored |= 1u << v;
    }
    return true;
}

/* *fits is false when the triangles cannot stay where they are. */
static enum facet_status refit_raw(const struct facet_refit_blas *blas,
                                   const uint8_t before[128],
                                   uint64_t at,
                                   uint8_t after[128],
                                   bool *fits,
                                   struct facet_error *err)
{
    const struct raw_layout l = raw_layout(before);
    struct corners corners;

    corners.stored = 0;
    *fits = l.vertices != 0;
    for (unsigned t = 0; *fits && t < 2 * l.pairs; t++) {
        const uint32_t pair = facet_gfx12_raw_pair(after, t / 2);
        const struct facet_bvh_triangle *triangle = NULL;
        enum facet_status status;

        if (t % 2 == 1 && (pair >> (half_at(1) + 2) & 0xFFF) == 0) {
            continue; /* absent */
        }
        status = find_triangle(
            blas, raw_index(before, &l, 0, t), raw_index(before, &l, 1, t), at, &triangle, err);
        if (status != FACET_OK) {
            return status;
        }
        *fits = set_corners(pair, t % 2, triangle, l.vertices, &corners);
        facet_gfx12_raw_set_pair(after, t / 2, with_flags(pair, t % 2, triangle->flags));
    }
    for (unsigned v = 0; corners.stored >> v != 0; v++) {
        if ((corners.stored >> v & 1) != 0) {
            facet_gfx12_raw_store(after, v, corners.xyz[v]);
        }
    }
    return FACET_OK;
}

void facet_gfx12_refit_prim_ask(const struct facet_refit_blas *blas, const uint8_t node[128])
{
    const struct facet_bvh_blas_input *in = blas->input;
    struct raw_layout l;

    if (!facet_gfx12_raw_node(node) || blas->first == NULL || in->triangle_count == 0) {
        return;
    }
    l = raw_layout(node);
    for (unsigned t = 0; l.vertices != 0 && t < 2 * l.pairs; t += 2) { /* the other one is near */
        uint32_t index;

        if (facet_gfx12_refit_find(
                blas, raw_index(node, &l, 0, t), raw_index(node, &l, 1, t), &index)) {
            __builtin_prefetch(&in->triangles[index]);
            __builtin_prefetch(&in->triangles[index] + 1);
        }
    }
}

/* ---- other nodes ---- */

/* At bit 52 its place is that of the first two corners of a node of whole floats; elsewhere it is
 * in whole dwords. Everything else stays where the builder put it. */
static void store_box(const struct facet_bvh_aabb *box, int at, uint8_t node[128])
{
    uint32_t corner[2][3];

    memcpy(corner[0], box->min, sizeof corner[0]);
    memcpy(corner[1], box->max, sizeof corner[1]);
    for (unsigned i = 0; i < 2 && at == FACET_GFX12_AABB_BIT; i++) {
        facet_gfx12_raw_store(node, i, corner[i]);
    }
    for (unsigned i = 0; i < 6 && at != FACET_GFX12_AABB_BIT; i++) {
        facet_store_le32(node + at / 8 + (size_t)4 * i, corner[i / 3][i % 3]);
    }
}

static enum facet_status refit_procedural(const struct facet_refit_blas *blas,
                                          const struct facet_gfx12_prim *p,
                                          uint64_t at,
                                          uint8_t after[128],
                                          struct facet_error *err)
{
    const struct facet_bvh_blas_input *in = blas->input;
    const struct facet_bvh_aabb *box;
    uint32_t index;

    if (in->aabb_count == 0 ||
        !facet_gfx12_refit_find(
            blas, facet_gfx12_prim_geometry(p, 0), facet_gfx12_prim_primitive(p, 0), &index)) {
        return facet_gfx12_refit_mismatch(err, at, "is a box that the scene does not have");
    }
    facet_gfx12_refit_see(blas, index);
    box = &in->aabbs[index];
    for (int k = 0; k < 3; k++) {
        if (!(box->min[k] <= box->max[k]) || !isfinite(box->min[k]) || !isfinite(box->max[k])) {
            return facet_fail(
                err, FACET_ERR_INPUT, index, "box %u is inverted or not finite", index);
        }
    }
    store_box(box, facet_gfx12_aabb_bit(after), after);
    facet_gfx12_raw_set_pair(
        after, 0, with_flags(facet_gfx12_raw_pair(after, 0), 0, box->flags & FACET_BVH_OPAQUE));
    return FACET_OK;
}

/* Whether all corners are where they were. Drivers pack some nodes tighter than 12.5, which such a
 * node must not lose its room for. */
static bool stays(const struct facet_gfx12_prim *p, const struct facet_bvh_triangle *pair[8][2])
{
    for (unsigned i = 0; i < 6 * facet_gfx12_prim_pairs(&p->header); i++) {
        const unsigned half = i / 3 % 2, c = i % 3;
        const struct facet_bvh_triangle *triangle = pair[i / 6][half];
        uint32_t own[3];

        if (triangle == NULL) {
            continue;
        }
        facet_gfx12_prim_vertex(p, p->pair[i / 6].tri[half].index[c], own);
        for (unsigned k = 0; k < 3; k++) {
            if (facet_float_of(own[k]) != triangle->vertex[c][k]) {
                return false;
            }
        }
    }
    return true;
}

static void store_flags(const struct facet_bvh_triangle *pair[8][2], uint8_t node[128])
{
    for (unsigned i = 0; i < 16; i++) {
        if (pair[i / 2][i % 2] != NULL) {
            facet_gfx12_raw_set_pair(
                node,
                i / 2,
                with_flags(facet_gfx12_raw_pair(node, i / 2), i % 2, pair[i / 2][i % 2]->flags));
        }
    }
}

static enum facet_status repack(const struct facet_refit_blas *blas,
                                const uint8_t before[128],
                                uint64_t at,
                                uint8_t after[128],
                                struct facet_error *err)
{
    const struct facet_bvh_triangle *pair[8][2] = {{NULL, NULL}};
    struct facet_pack_node packed;
    struct facet_gfx12_prim p;
    unsigned pairs;
    bool room = true;

    facet_gfx12_prim_decode(before, &p);
    if (facet_gfx12_tri_procedural(&p.pair[0].tri[0])) {
        return refit_procedural(blas, &p, at, after, err);
    }
    pairs = facet_gfx12_prim_pairs(&p.header);
    for (unsigned t = 0; t < 2 * pairs; t++) {
        enum facet_status status;

        if (t % 2 == 1 && facet_gfx12_tri_absent(&p.pair[t / 2].tri[1])) {
            continue;
        }
        status = find_triangle(blas,
                               facet_gfx12_prim_geometry(&p, t),
                               facet_gfx12_prim_primitive(&p, t),
                               at,
                               &pair[t / 2][t % 2],
                               err);
        if (status != FACET_OK) {
            return status;
        }
    }
    if (stays(&p, pair)) {
        store_flags(pair, after);
        return FACET_OK;
    }
    facet_gfx12_pack_node_clear(&packed, false);
    for (unsigned i = 0; i < pairs && room; i++) {
        room = facet_gfx12_pack_node_pair(
            &packed, pair[i][0], pair[i][1], p.pair[i].prim_range_stop != 0);
    }
    if (!room || !facet_gfx12_pack_node_fits(&packed)) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          at,
                          "the primitive node at 0x%llx has no room for the moved vertices; build "
                          "a new image, with --allow-update for one that takes any motion",
                          (unsigned long long)at);
    }
    facet_gfx12_pack_node_write(&packed, after);
    return FACET_OK;
}

enum facet_status facet_gfx12_refit_prim(const struct facet_refit_blas *blas,
                                         const uint8_t before[128],
                                         uint64_t at,
                                         uint8_t after[128],
                                         struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    bool fits = false;

    if (facet_gfx12_raw_node(before)) {
        status = refit_raw(blas, before, at, after, &fits, err);
    }
    return status == FACET_OK && !fits ? repack(blas, before, at, after, err) : status;
}
