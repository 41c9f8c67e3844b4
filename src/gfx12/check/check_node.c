/* Rules about the fields of a single node. */
#include "gfx12/check/checker.h"

#include "base/bits.h"
#include "gfx12/image/node.h"

#include <math.h>
#include <string.h>

static bool finite_bits(uint32_t bits)
{
    return (bits & 0x7F800000) != 0x7F800000;
}

/* HIPRT fills all planes and no mask. */
static bool is_unused_of_hiprt(const struct facet_checker *c, const uint8_t *child)
{
    return c->options->dialect == FACET_GFX12_OF_HIPRT &&
           facet_load_le32(child) == UINT32_C(0x00FFFFFF) &&
           facet_load_le32(child + 4) == UINT32_C(0x00FFFFFF) &&
           facet_load_le32(child + 8) == UINT32_C(0x00FFFFFF);
}

static bool is_unused_pattern(const uint8_t *child)
{
    return facet_load_le32(child) == UINT32_C(0xFFFFFFFF) &&
           facet_load_le32(child + 4) == UINT32_C(0x00000FFF) && facet_load_le32(child + 8) == 0;
}

/* GPURT gives every instance four boxes; those that it has no use for hold nothing. */
static bool is_filler_of_gpurt(const struct facet_checker *c,
                               const struct facet_gfx12_child *child,
                               unsigned slots)
{
    return c->options->dialect == FACET_GFX12_OF_GPURT && slots == 4 && child->min[0] == 0xFFF &&
           child->min[1] == 0xFFF && child->min[2] == 0xFFF && child->max[0] == 0 &&
           child->max[1] == 0 && child->max[2] == 0;
}

/* A node whose children are all unused has no grid; RADV gives an empty structure such a root, with
 * whatever bounds nothing has. */
static bool is_empty(const uint8_t *children, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!is_unused_pattern(children + (size_t)12 * i)) {
            return false;
        }
    }
    return true;
}

/* V05, V07 - V10 for the part that box and instance nodes have in common. */
static void check_grid(struct facet_checker *c,
                       uint64_t at,
                       const uint32_t origin[3],
                       const uint8_t exponent[3],
                       const struct facet_gfx12_child *child,
                       unsigned slots,
                       unsigned count,
                       unsigned origin_byte,
                       unsigned child_byte)
{
    const uint8_t *node = c->view->bytes + at;
    const bool empty = is_empty(node + child_byte, count);

    for (unsigned k = 0; k < 3 && !empty; k++) {
        if (!finite_bits(origin[k])) {
            facet_gfx12_checker_report(c,
                                       8,
                                       at + origin_byte + 4 * k,
                                       "origin_%c is 0x%08x, not a finite number",
                                       "xyz"[k],
                                       origin[k]);
        }
        if ((exponent[k] >= 1 && exponent[k] <= 12) || exponent[k] == 255) {
            facet_gfx12_checker_report(c,
                                       7,
                                       at + origin_byte + 12 + k,
                                       "exponent_%c is %u, expected 0 or 13..254",
                                       "xyz"[k],
                                       exponent[k]);
        }
    }
    for (unsigned i = 0; i < slots; i++) {
        const uint64_t offset = at + child_byte + 12 * i;
        const bool unused = is_unused_pattern(node + child_byte + 12 * (size_t)i);

        if (i >= count) {
            if (!unused && !is_unused_of_hiprt(c, node + child_byte + 12 * (size_t)i)) {
                facet_gfx12_checker_report(c,
                                           10,
                                           offset,
                                           "slot %u is beyond the count but does not hold FFFFFFFF "
                                           "00000FFF 00000000",
                                           i);
            }
            continue;
        }
        if (unused) {
            continue;
        }
        if (child[i].unused != 0) {
            facet_gfx12_checker_report(
                c, 5, offset + 3, "child %u: unused bits are 0x%x", i, child[i].unused);
        }
        if (is_filler_of_gpurt(c, &child[i], slots)) {
            facet_gfx12_checker_count(&c->inverted, offset);
            continue;
        }
        for (unsigned k = 0; k < 3; k++) {
            if (child[i].min[k] > child[i].max[k] + 1) { /* the upper plane is max + 1 */
                facet_gfx12_checker_report(c,
                                           9,
                                           offset,
                                           "child %u: %c planes %u to %u are inverted",
                                           i,
                                           "xyz"[k],
                                           child[i].min[k],
                                           child[i].max[k] + 1u);
                break;
            }
        }
    }
}

/* Whether a box of its level, by its ID, has the node for a child. */
static bool is_child_of(const struct facet_checker *c, uint32_t node, uint32_t parent)
{
    const uint32_t own = facet_gfx12_walk_id(c->view, &c->walk, node);
    const uint64_t address = c->walk.nodes[node].level_base + facet_gfx12_id_offset(parent);
    struct facet_gfx12_box box;
    uint32_t ids[8];
    uint64_t offset;
    unsigned count;

    if (facet_gfx12_id_kind(parent) != FACET_GFX12_KIND_BOX ||
        !facet_gfx12_view_offset(c->view, address, FACET_GFX12_NODE_BYTES, &offset)) {
        return false;
    }
    facet_gfx12_box_decode(c->view->bytes + offset, &box);
    count = box.child_count_minus_one < 8 ? box.child_count_minus_one + 1u : 0;
    facet_gfx12_child_ids(
        box.child, count, box.internal_child_offset, box.primitive_child_offset, ids);
    for (unsigned i = 0; i < count; i++) {
        if (ids[i] == own) {
            return true;
        }
    }
    return false;
}

/* V26. Absent parent IDs are INVALID or 0. The root of a level has no parent; what an instance
 * names instead of the root has one that no ray visits. */
static void check_parent(struct facet_checker *c, uint32_t node, uint32_t parent, unsigned byte)
{
    const struct facet_gfx12_walk_node *n = &c->walk.nodes[node];
    uint32_t expected = FACET_GFX12_INVALID;

    if (n->parent != FACET_GFX12_NO_NODE &&
        c->walk.nodes[n->parent].kind != FACET_GFX12_KIND_INSTANCE) {
        expected = facet_gfx12_walk_id(c->view, &c->walk, n->parent);
    }
    if (parent != expected && parent != FACET_GFX12_INVALID && parent != 0 &&
        !(expected == FACET_GFX12_INVALID && is_child_of(c, node, parent))) {
        facet_gfx12_checker_report(c,
                                   26,
                                   facet_gfx12_checker_offset(node) + byte,
                                   "the parent ID is 0x%08x, expected 0x%08x",
                                   parent,
                                   expected);
    }
}

/* Drivers leave an offset that no child needs as it was, or write -1 there. */
static bool has_children(const struct facet_gfx12_box *box, bool boxes)
{
    for (unsigned i = 0; i < 8 && i <= box->child_count_minus_one; i++) {
        if ((box->child[i].node_type == FACET_GFX12_TYPE_BOX) == boxes) {
            return true;
        }
    }
    return false;
}

/* V03, R-G12-140. */
static void check_offset(struct facet_checker *c,
                         const struct facet_gfx12_box *box,
                         bool boxes,
                         uint64_t at,
                         const char *name,
                         uint32_t offset)
{
    const bool needed = has_children(box, boxes);

    if ((offset & 15) != 0 && (needed || c->options->dialect == FACET_GFX12_PLAIN)) {
        facet_gfx12_checker_report_as(c,
                                      3,
                                      needed ? FACET_GFX12_ERROR : FACET_GFX12_WARNING,
                                      at,
                                      "%s 0x%08x: expected the low four bits to be 0",
                                      name,
                                      offset);
    }
}

/* V05, R-G12-140: GPURT keeps in bits 23..16 from which of the first four boxes it split each of
 * the others. */
static void check_matrix_bits(struct facet_checker *c, uint64_t at, uint32_t word)
{
    const uint32_t split = UINT32_C(0x00FF0000), junk = word & ~UINT32_C(0x7F);

    if (junk == 0 || (c->options->dialect == FACET_GFX12_OF_GPURT && (junk & ~split) == 0)) {
        return;
    }
    facet_gfx12_checker_report_as(c,
                                  5,
                                  c->options->dialect == FACET_GFX12_PLAIN && (junk & ~split) == 0
                                      ? FACET_GFX12_WARNING
                                      : FACET_GFX12_ERROR,
                                  at,
                                  "bits 31..7 of the matrix's dword 0x%08x are not 0",
                                  word);
}

void facet_gfx12_checker_box_fields(struct facet_checker *c, uint32_t node)
{
    const uint64_t at = facet_gfx12_checker_offset(node);
    struct facet_gfx12_box box;
    unsigned index;

    facet_gfx12_box_decode(facet_gfx12_node_bytes(c->view, node), &box);
    check_offset(c, &box, true, at, "internal_child_offset", box.internal_child_offset);
    check_offset(c, &box, false, at + 4, "primitive_child_offset", box.primitive_child_offset);
    check_parent(c, node, box.parent, 8);
    if (box.unused != 0) {
        facet_gfx12_checker_count(&c->unused_bits, at + 27);
    }
    if (box.child_count_minus_one > 7) {
        facet_gfx12_checker_report(
            c, 4, at + 27, "child_count_minus_one is %u, at most 7", box.child_count_minus_one);
    }
    check_matrix_bits(c, at + 28, box.obb_matrix_index);
    index = box.obb_matrix_index & 0x7F;
    if (index >= FACET_GFX12_OBB_COUNT && index != FACET_GFX12_OBB_NONE) {
        facet_gfx12_checker_report(
            c, 6, at + 28, "obb_matrix_index %u: expected 0..103 or 127", index);
    }
    check_grid(c,
               at,
               box.origin,
               box.exponent,
               box.child,
               8,
               (box.child_count_minus_one & 7u) + 1,
               12,
               32);
}

void facet_gfx12_checker_instance_fields(struct facet_checker *c, uint32_t node)
{
    const uint64_t at = facet_gfx12_checker_offset(node);
    struct facet_gfx12_instance in;

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(c->view, node), &in);
    for (unsigned i = 0; i < 12; i++) {
        if (!finite_bits(in.world_to_object[i])) {
            facet_gfx12_checker_report(
                c,
                24,
                at + 4 * i,
                "world_to_object row %u column %u is 0x%08x, not a finite number",
                i / 4,
                i % 4,
                in.world_to_object[i]);
        }
    }
    if ((in.pointer & 7) != 0 || (in.pointer >> 45 & 0x1FF) != 0) {
        facet_gfx12_checker_report(c,
                                   22,
                                   at + 48,
                                   "pointer 0x%016llx: expected bits 2..0 and 53..45 to be 0",
                                   (unsigned long long)in.pointer);
    }
    if (in.cull_mask == 0) {
        facet_gfx12_checker_count(&c->unseen, at + 63);
    }
    check_parent(c, node, in.parent, 56);
    if (in.unused != 0) {
        facet_gfx12_checker_count(&c->unused_bits, at + 79);
    }
    if (in.child_count_minus_one > 3) {
        facet_gfx12_checker_report(
            c, 4, at + 79, "child_count_minus_one is %u, at most 3", in.child_count_minus_one);
    }
    check_grid(
        c, at, in.origin, in.exponent, in.child, 4, (in.child_count_minus_one & 3u) + 1, 64, 80);
}

/* ---- primitive nodes ---- */

/* What the triangles of a node use. */
struct used {
    uint16_t vertices; /* one bit per vertex number */
    unsigned last;     /* highest triangle number that is present */
    bool procedural, triangle;
};

static struct used find_used(const struct facet_gfx12_prim *p, unsigned pairs)
{
    struct used u = {0, 0, false, false};

    for (unsigned i = 0; i < pairs; i++) {
        for (unsigned t = 0; t < 2; t++) {
            const struct facet_gfx12_pair_tri *tri = &p->pair[i].tri[t];

            if (t == 1 && facet_gfx12_tri_absent(tri)) {
                continue;
            }
            u.last = 2 * i + t;
            if (facet_gfx12_tri_procedural(tri)) {
                u.procedural = true;
                continue;
            }
            u.triangle = true;
            for (unsigned v = 0; v < 3; v++) {
                u.vertices |= (uint16_t)(1u << tri->index[v]);
            }
        }
    }
    return u;
}

static void check_sections(struct facet_checker *c,
                           uint64_t at,
                           const struct facet_gfx12_prim *p,
                           unsigned pairs,
                           const struct used *u)
{
    const struct facet_gfx12_prim_header *h = &p->header;
    const int gab = 2 * h->geometry_index_base_bits_div_2, gpb = 2 * h->geometry_index_bits_div_2;
    const int pab = h->primitive_index_base_bits, ppb = h->primitive_index_bits;
    const int mid = h->indices_midpoint;
    const int descriptors = 1024 - FACET_GFX12_PAIR_DESC_BITS * (int)pairs;
    const int geometry = mid - gab - (int)u->last * gpb;
    const int primitive_end = mid + pab + (int)u->last * ppb;
    int start = FACET_GFX12_PRIM_HEADER_BITS, per_vertex = 0, end;

    for (unsigned k = 0; k < 3; k++) {
        start += (int)facet_gfx12_prim_prefix_bits(h, k);
        per_vertex += h->vertex_bits_minus_one[k] + 1;
    }
    end = u->vertices == 0 ? start : start + per_vertex * (32 - (int)facet_clz32(u->vertices));
    if (u->procedural && !u->triangle) {
        end = facet_gfx12_aabb_bit(c->view->bytes + at) + 192;
    }
    if (mid < FACET_GFX12_PRIM_HEADER_BITS) {
        facet_gfx12_checker_report(c, 18, at + 5, "indices_midpoint is %d, expected 52..1023", mid);
    }
    if (u->vertices != 0 && (end > descriptors || end > geometry)) {
        facet_gfx12_checker_report(
            c,
            17,
            at + 16,
            "vertex %u ends at bit %d, past the start of the indices (%d) or "
            "descriptors (%d)",
            31 - facet_clz32(u->vertices),
            end,
            geometry,
            descriptors);
    }
    if (geometry < end) {
        facet_gfx12_checker_report(c,
                                   18,
                                   at + 5,
                                   "geometry indices start at bit %d, the vertex data ends at %d",
                                   geometry,
                                   end);
    }
    if (primitive_end > descriptors) {
        facet_gfx12_checker_report(c,
                                   18,
                                   at + 5,
                                   "primitive indices end at bit %d, the descriptors start at %d",
                                   primitive_end,
                                   descriptors);
    }
}

static bool is_updatable(const struct facet_gfx12_prim_header *h)
{
    return h->trailing_zero_bits == 0 && h->vertex_bits_minus_one[0] == 31 &&
           h->vertex_bits_minus_one[1] == 31 && h->vertex_bits_minus_one[2] == 31;
}

/* V27 and V31: over the vertices in use. */
static void check_vertices(struct facet_checker *c,
                           uint64_t at,
                           const struct facet_gfx12_prim *p,
                           const struct used *u)
{
    uint32_t any[3] = {0, 0, 0}, all[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t vertex[16][3];
    const unsigned tz = p->header.trailing_zero_bits;
    bool finite = true, twice = false, loose = false;
    unsigned possible;

    for (unsigned v = 0; v < 16; v++) {
        if ((u->vertices >> v & 1) == 0) {
            continue;
        }
        facet_gfx12_prim_vertex(p, v, vertex[v]);
        for (unsigned k = 0; k < 3; k++) {
            any[k] |= vertex[v][k];
            all[k] &= vertex[v][k];
            finite = finite && finite_bits(vertex[v][k]);
        }
        for (unsigned o = 0; o < v; o++) {
            twice = twice || ((u->vertices >> o & 1) != 0 &&
                              memcmp(vertex[o], vertex[v], sizeof vertex[v]) == 0);
        }
    }
    if (!finite) {
        facet_gfx12_checker_report(c, 31, at, "a vertex is not finite");
    }
    possible = facet_ctz32(any[0] | any[1] | any[2]);
    loose = tz < (possible < 31 ? possible : 31);
    for (unsigned k = 0; k < 3; k++) {
        unsigned same = facet_clz32(any[k] & ~all[k]);
        unsigned most = 31 - tz < same ? 31 - tz : same;

        loose = loose || facet_gfx12_prim_prefix_bits(&p->header, k) < most;
    }
    /* Whole floats that could be packed are room for motion (R-G12-94). */
    if ((twice || loose) && !is_updatable(&p->header)) {
        facet_gfx12_checker_count(twice ? &c->twice : &c->loose, at);
    }
}

static void check_procedural(struct facet_checker *c,
                             uint64_t at,
                             const struct facet_gfx12_prim *p,
                             unsigned pairs)
{
    unsigned primitives = 0;
    bool any = false;

    for (unsigned i = 0; i < pairs; i++) {
        const struct facet_gfx12_pair_tri *tri = p->pair[i].tri;
        bool p0 = facet_gfx12_tri_procedural(&tri[0]), p1 = facet_gfx12_tri_procedural(&tri[1]);
        bool absent = facet_gfx12_tri_absent(&tri[1]);

        any = any || p0 || p1;
        primitives += absent ? 1 : 2;
        if (!absent && p0 != p1) {
            facet_gfx12_checker_report(
                c, 19, at, "pair %u holds a procedural primitive and a triangle", i);
        }
    }
    if (any && primitives > 1) {
        facet_gfx12_checker_report(
            c, 19, at, "a procedural node with %u primitives, expected one", primitives);
    }
}

void facet_gfx12_checker_prim_fields(struct facet_checker *c, uint32_t node)
{
    const uint64_t at = facet_gfx12_checker_offset(node);
    struct facet_gfx12_prim p;
    struct used u;
    unsigned pairs;

    facet_gfx12_prim_decode(facet_gfx12_node_bytes(c->view, node), &p);
    pairs = facet_gfx12_prim_pairs(&p.header);
    u = find_used(&p, pairs);
    for (unsigned k = 0; k < 3 && u.triangle; k++) {
        unsigned bits = p.header.vertex_bits_minus_one[k] + 1u + p.header.trailing_zero_bits;

        if (bits > 32) {
            facet_gfx12_checker_report(c,
                                       15,
                                       at,
                                       "%c: %u payload bits and %u trailing zeros exceed 32",
                                       "xyz"[k],
                                       p.header.vertex_bits_minus_one[k] + 1u,
                                       p.header.trailing_zero_bits);
        }
    }
    if (p.header.vertex_type != 0) {
        facet_gfx12_checker_report(c, 16, at + 3, "vertex_type is 1, which is reserved");
    }
    check_sections(c, at, &p, pairs, &u);
    if (u.triangle) {
        check_vertices(c, at, &p, &u);
    }
    check_procedural(c, at, &p, pairs);
}
