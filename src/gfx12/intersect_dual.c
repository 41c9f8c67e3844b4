/* image_bvh_dual_intersect_ray: section 10 of gfx12-semantics.md. One four-wide node per operand;
 * four result registers each, and the geometry index of a triangle node in v8 or v9. */
#include "gfx12/unit.h"

#include "base/bits.h"
#include "base/float.h"
#include "gfx12/sort.h"
#include "num/f32.h"

enum { TYPE_TRI0 = 0, TYPE_TRI1 = 1, TYPE_BOX16 = 4, TYPE_BOX32 = 5, TYPE_INSTANCE = 6 };

/* Bits of one byte of triangle_id. */
enum { TRI_DOUBLE_SIDED = 1 << 4, TRI_PROCEDURAL = 1 << 6, TRI_OPAQUE = 1 << 7 };

static const uint8_t *
fetch(const struct facet_gfx12_unit *unit, uint64_t bvh_base, uint32_t node, uint64_t bytes)
{
    return facet_gfx12_unit_fetch(unit, bvh_base, (uint64_t)(node & ~UINT32_C(7)) * 8, bytes);
}

/* Type of an operand, or -1 where nothing is fetched. */
static int type_of(const struct facet_gfx12_unit *unit, uint32_t node)
{
    int type = (int)(node & 7);
    bool user = type == TYPE_INSTANCE && unit->resource.instance_en == 0;
    return node >= FACET_GFX12_FIRST_SENTINEL || user ? -1 : type;
}

static void test_box(const struct facet_gfx12_unit *unit,
                     const struct facet_gfx12_box4 *box,
                     unsigned flags,
                     const struct facet_gfx12_ray *ray,
                     struct facet_gfx12_slot slot[4])
{
    struct facet_gfx12_slab_ray slab_ray;
    facet_gfx12_slab_ray_init(
        &slab_ray, ray->origin, ray->direction, ray->extent, unit->resource.box_grow_value);
    for (unsigned i = 0; i < 4; i++) {
        struct facet_gfx12_slab_box bounds;
        struct facet_gfx12_slab slab;
        bool seen;

        for (unsigned k = 0; k < 3; k++) {
            bounds.lo[k] = facet_float_of(box->lo[i][k]);
            bounds.hi[k] = facet_float_of(box->hi[i][k]);
        }
        slab = facet_gfx12_slab_test(&slab_ray, &bounds);
        seen = slab.hit && facet_gfx12_flags_cull(box->flags[i], flags) == 0;
        slot[i] = facet_gfx12_slot_make(unit, seen ? box->child[i] : FACET_GFX12_INVALID, &slab);
    }
}

/* One of (det - un - vn, un, vn, 0). */
static float pick(const struct facet_gfx12_tri_terms *terms, unsigned source)
{
    switch (source & 3) {
    case 0:
        return (terms->det - terms->un) - terms->vn;
    case 1:
        return terms->un;
    case 2:
        return terms->vn;
    default:
        return 0.0f;
    }
}

static void test_triangle(const struct facet_gfx12_unit *unit,
                          const struct facet_gfx12_tri4 *node,
                          unsigned which,
                          unsigned flags,
                          const struct facet_gfx12_ray *ray,
                          uint32_t w[4])
{
    static const uint8_t corners[2][3] = {{0, 1, 2}, {1, 3, 2}};
    unsigned id = node->triangle_id >> (8 * which) & 0xFF;
    const struct facet_gfx12_tri_state state = {
        .opaque = (id & TRI_OPAQUE) != 0,
        .double_sided = (id & TRI_DOUBLE_SIDED) != 0,
        .procedural = (id & TRI_PROCEDURAL) != 0,
    };
    uint32_t opacity = facet_gfx12_opacity_bit(unit, state.opaque, flags);
    bool culled;
    float i, j;
    bool front;
    struct facet_gfx12_tri_terms terms;
    uint32_t vertex[3][3];

    if (state.procedural) {
        w[0] = facet_gfx12_primitive_cull(&state, false, flags) != 0 ? F32_INF : 0;
        w[1] = F32_ONE;
        w[2] = F32_ONE | F32_SIGN;
        w[3] = F32_ONE | opacity;
        return;
    }
    for (unsigned c = 0; c < 3; c++) {
        memcpy(vertex[c], node->vertex[corners[which][c]], sizeof vertex[c]);
    }
    terms = facet_gfx12_tri_test(vertex, ray->origin, ray->direction);
    if (facet_gfx12_tri_miss(FACET_GFX12_GPURT, &terms) != NULL) { /* in both profiles */
        terms.tn = facet_float_of(F32_INF);
        terms.det = 1.0f;
    }
    i = f32_canonical(pick(&terms, id));
    j = f32_canonical(pick(&terms, id >> 2));
    front = terms.det >= 0;
    if ((flags & FACET_GFX12_FLIP_FACEDNESS) != 0) {
        front = !front;
        terms.tn = f32_negate(terms.tn);
        terms.det = f32_negate(terms.det);
    }
    culled = facet_gfx12_primitive_cull(&state, front, flags) != 0;
    w[0] = culled ? F32_INF : facet_float_bits(terms.tn);
    w[1] = culled ? F32_ONE : facet_float_bits(terms.det);
    w[2] = culled ? 0 : facet_float_bits(i) & ~F32_SIGN;
    w[3] = (culled ? 0 : facet_float_bits(j) & ~F32_SIGN) | opacity;
}

/* Node 0 is an instance: dword 14 of its node is the root ID of the BLAS. */
static void intersect_instance(const struct facet_gfx12_unit *unit,
                               uint64_t bvh_base,
                               const uint8_t *bytes,
                               struct facet_gfx12_ray *ray,
                               uint32_t v[10])
{
    uint8_t padded[FACET_GFX12_NODE_BYTES] = {0}; /* the first half is that of section 8 */
    struct facet_gfx12_instance node;
    uint64_t base;

    memcpy(padded, bytes, 64);
    facet_gfx12_instance_decode(padded, &node);
    base = facet_gfx12_base_enter(node.pointer, bvh_base);
    v[2] = (uint32_t)base;
    v[3] = (uint32_t)(base >> 32);
    v[6] = node.user_data;
    if (facet_gfx12_instance_cull(node.cull_mask,
                                  node.pointer,
                                  facet_gfx12_effective_flags(unit, bvh_base),
                                  ray->instance_mask) == 0) {
        v[7] = node.parent;
        facet_gfx12_transform(node.world_to_object, ray->origin, ray->direction);
    }
}

/* The two-node form; v is already all INVALID. */
static void intersect_nodes(const struct facet_gfx12_unit *unit,
                            uint64_t bvh_base,
                            const uint32_t node[2],
                            const struct facet_gfx12_ray *ray,
                            uint32_t v[10])
{
    unsigned flags = facet_gfx12_effective_flags(unit, bvh_base);
    struct facet_gfx12_slot slot[8];
    bool is_box[2] = {false, false};
    struct facet_gfx12_slab empty = facet_gfx12_slab_empty();
    for (unsigned i = 0; i < 8; i++) {
        slot[i] = facet_gfx12_slot_make(unit, FACET_GFX12_INVALID, &empty);
    }
    for (unsigned n = 0; n < 2; n++) {
        int type = type_of(unit, node[n]);
        const uint8_t *bytes = NULL;
        if (type == TYPE_TRI0 || type == TYPE_TRI1 || type == TYPE_BOX16) {
            bytes = fetch(unit, bvh_base, node[n], 64);
        } else if (type == TYPE_BOX32) {
            bytes = fetch(unit, bvh_base, node[n], 128);
        }
        if (bytes == NULL) {
            continue;
        }
        if (type == TYPE_TRI0 || type == TYPE_TRI1) {
            struct facet_gfx12_tri4 tri;
            facet_gfx12_tri4_decode(bytes, &tri);
            test_triangle(unit, &tri, (unsigned)type, flags, ray, v + (size_t)4 * n);
            v[8 + n] = tri.geometry_index;
        } else {
            struct facet_gfx12_box4 box;
            if (type == TYPE_BOX32) {
                facet_gfx12_box4_decode(bytes, &box);
            } else {
                facet_gfx12_box4_decode_half(bytes, &box);
            }
            test_box(unit, &box, flags, ray, slot + (size_t)4 * n);
            is_box[n] = true;
        }
    }
    facet_gfx12_sort(unit, slot, is_box[0] && is_box[1] && unit->resource.wide_sort_en != 0);
    for (unsigned i = 0; i < 8; i++) {
        if (is_box[i / 4]) {
            v[i] = slot[i].id;
        }
    }
}

void facet_gfx12_intersect_dual(const struct facet_gfx12_unit *unit,
                                uint64_t bvh_base,
                                uint32_t node0,
                                uint32_t node1,
                                struct facet_gfx12_ray *ray,
                                uint32_t v[10])
{
    const uint32_t node[2] = {node0, node1};
    for (unsigned i = 0; i < 10; i++) {
        v[i] = FACET_GFX12_INVALID;
    }
    if (unit->resource.compressed_format_en != 0) { /* R-G12-43 */
        if (node1 == FACET_GFX12_INVALID) {
            facet_gfx12_intersect8(unit, bvh_base, node0, ray, v);
        }
        return;
    }
    if (type_of(unit, node0) != TYPE_INSTANCE) {
        intersect_nodes(unit, bvh_base, node, ray, v);
    } else if (type_of(unit, node1) != TYPE_INSTANCE) {
        const uint8_t *bytes = fetch(unit, bvh_base, node0, 64);
        if (bytes != NULL) {
            intersect_instance(unit, bvh_base, bytes, ray, v);
        }
    }
}
