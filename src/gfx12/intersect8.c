/* image_bvh8_intersect_ray: section 9 of gfx12-semantics.md. Each node kind is one function over
 * the decoded node, so that a cache of decoded nodes can call it without the bytes. */
#include "gfx12/unit.h"

#include "gfx12/sort.h"
#include "num/f32.h"

static void fill_invalid(uint32_t v[10])
{
    for (unsigned i = 0; i < 10; i++) {
        v[i] = FACET_GFX12_INVALID;
    }
}

/* ---- box tests, shared by box and instance nodes ---- */

/* Slots of up to eight children: IDs with culled ones already INVALID. Tests, removes duplicates
 * and sorts (9.2 steps 3-8); slot[i].id are the results. */
static void test_children(const struct facet_gfx12_unit *unit,
                          const struct facet_gfx12_child *child,
                          unsigned count,
                          const uint32_t *ids,
                          const uint32_t origin[3],
                          const uint8_t exponent[3],
                          const struct facet_gfx12_slab_ray *ray,
                          struct facet_gfx12_slot slot[8])
{
    struct facet_gfx12_slab slab[8];
    uint32_t hit_id[8];
    for (unsigned i = 0; i < 8; i++) {
        if (i >= count) {
            slab[i] = facet_gfx12_slab_empty();
            hit_id[i] = FACET_GFX12_INVALID;
            continue;
        }
        uint32_t lo[3], hi[3];
        struct facet_gfx12_slab_box box;
        facet_gfx12_child_bounds(&child[i], origin, exponent, lo, hi);
        for (unsigned k = 0; k < 3; k++) {
            box.lo[k] = f32_from(lo[k]);
            box.hi[k] = f32_from(hi[k]);
        }
        slab[i] = facet_gfx12_slab_test(ray, &box);
        hit_id[i] = slab[i].hit ? ids[i] : FACET_GFX12_INVALID;
    }
    uint32_t previous = hit_id[0];
    for (unsigned i = 1; i < 8; i++) { /* a missed slot interrupts a run (R-G12-39) */
        if (hit_id[i] == previous) {
            hit_id[i] = FACET_GFX12_INVALID;
        } else {
            previous = hit_id[i];
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        slot[i] = facet_gfx12_slot_make(unit, hit_id[i], &slab[i]);
    }
    facet_gfx12_sort(unit, slot, unit->resource.wide_sort_en != 0);
}

void facet_gfx12_intersect_box(const struct facet_gfx12_unit *unit,
                               const struct facet_gfx12_box *node,
                               unsigned flags,
                               const struct facet_gfx12_ray *ray,
                               uint32_t v[10])
{
    unsigned count = (node->child_count_minus_one & 7u) + 1; /* R-G12-06 */
    uint32_t ids[8];
    facet_gfx12_child_ids(
        node->child, count, node->internal_child_offset, node->primitive_child_offset, ids);
    for (unsigned i = 0; i < count; i++) {
        if ((node->child[i].cull_mask & ray->instance_mask) == 0 ||
            facet_gfx12_flags_cull(node->child[i].cull_flags, flags)) {
            ids[i] = FACET_GFX12_INVALID;
        }
    }

    float origin[3], direction[3];
    memcpy(origin, ray->origin, sizeof origin);
    memcpy(direction, ray->direction, sizeof direction);
    uint32_t matrix[9];
    if (facet_gfx12_obb_matrix(node->obb_matrix_index & 0x7F, matrix)) {
        const uint32_t rows[12] = {matrix[0],
                                   matrix[1],
                                   matrix[2],
                                   0,
                                   matrix[3],
                                   matrix[4],
                                   matrix[5],
                                   0,
                                   matrix[6],
                                   matrix[7],
                                   matrix[8],
                                   0};
        facet_gfx12_transform(rows, origin, direction);
    }
    struct facet_gfx12_slab_ray slab_ray;
    struct facet_gfx12_slot slot[8];
    facet_gfx12_slab_ray_init(
        &slab_ray, origin, direction, ray->extent, unit->resource.box_grow_value);
    test_children(unit, node->child, count, ids, node->origin, node->exponent, &slab_ray, slot);
    for (unsigned i = 0; i < 8; i++) {
        v[i] = slot[i].id;
    }
    v[8] = v[9] = FACET_GFX12_INVALID;
}

/* ---- primitives (9.4) ---- */

static void test_procedural(const struct facet_gfx12_unit *unit,
                            const struct facet_gfx12_tri_state *state,
                            uint32_t primitive,
                            unsigned flags,
                            bool merge,
                            uint32_t w[4])
{
    w[0] = facet_gfx12_primitive_culled(state, false, flags) ? F32_INF : 0;
    w[1] = F32_ONE | F32_SIGN;
    w[2] = F32_ONE | (merge ? facet_gfx12_opacity_bit(unit, state->opaque, flags) : 0);
    w[3] = primitive << 1;
}

static void test_triangle(const struct facet_gfx12_unit *unit,
                          const uint32_t vertex[3][3],
                          const struct facet_gfx12_tri_state *state,
                          uint32_t primitive,
                          unsigned flags,
                          bool merge,
                          const struct facet_gfx12_ray *ray,
                          uint32_t w[4])
{
    struct facet_gfx12_tri_terms terms = facet_gfx12_tri_test(vertex, ray->origin, ray->direction);
    bool miss = facet_gfx12_tri_missed(unit->profile, &terms);
    if (miss && unit->profile == FACET_GFX12_GPURT) { /* numerators over 1 */
        terms.tn = f32_from(F32_INF);
        terms.det = 1.0f;
        terms.u = terms.un;
        terms.v = terms.vn;
    }
    bool front = terms.det >= 0;
    if ((flags & FACET_GFX12_FLIP_FACEDNESS) != 0) {
        front = !front;
        terms.tn = f32_negate(terms.tn);
        terms.det = f32_negate(terms.det);
    }
    if (facet_gfx12_primitive_culled(state, front, flags)) {
        w[0] = F32_INF;
        w[1] = w[2] = 0;
        w[3] = primitive << 1;
    } else {
        w[0] = miss ? F32_INF : f32_bits(f32_div(terms.tn, terms.det));
        w[1] = f32_bits(terms.u);
        w[2] = f32_bits(terms.v);
        w[3] = primitive << 1 | f32_bits(terms.det) >> 31;
    }
    if (merge) {
        w[1] &= ~F32_SIGN;
        w[2] = (w[2] & ~F32_SIGN) | facet_gfx12_opacity_bit(unit, state->opaque, flags);
    }
}

void facet_gfx12_intersect_pair(const struct facet_gfx12_unit *unit,
                                const struct facet_gfx12_pair *pair,
                                unsigned flags,
                                const struct facet_gfx12_ray *ray,
                                uint32_t v[10])
{
    bool gpurt = unit->profile == FACET_GFX12_GPURT;
    bool merge = gpurt || unit->resource.pointer_flags != 0; /* 9.5 */
    for (unsigned k = 0; k < 2; k++) {
        const struct facet_gfx12_pair_tri *tri = &pair->desc.tri[k];
        uint32_t *w = v + (size_t)4 * k;
        const struct facet_gfx12_tri_state state = {
            .opaque = tri->opaque != 0,
            .double_sided = tri->double_sided != 0,
            .procedural = facet_gfx12_tri_procedural(tri),
        };
        if (gpurt && k == 1 && facet_gfx12_tri_absent(tri)) {
            w[0] = F32_INF;
            w[1] = w[2] = F32_ONE;
            w[3] = 0;
        } else if (state.procedural) {
            test_procedural(unit, &state, pair->primitive_index[k], flags, merge, w);
        } else {
            test_triangle(
                unit, pair->vertex[k], &state, pair->primitive_index[k], flags, merge, ray, w);
        }
        v[8 + k] = pair->geometry_index[k] << 2 | pair->navigation;
    }
}

/* ---- instances (9.6) ---- */

void facet_gfx12_intersect_instance(const struct facet_gfx12_unit *unit,
                                    const struct facet_gfx12_instance *node,
                                    uint64_t bvh_base,
                                    struct facet_gfx12_ray *ray,
                                    uint32_t v[10])
{
    unsigned flags = facet_gfx12_effective_flags(unit, bvh_base);
    uint64_t base = facet_gfx12_base_enter(node->pointer, bvh_base);
    fill_invalid(v);
    v[2] = (uint32_t)base;
    v[3] = (uint32_t)(base >> 32);
    v[6] = node->user_data;
    if (facet_gfx12_instance_culled(node->cull_mask, node->pointer, flags, ray->instance_mask)) {
        return;
    }
    facet_gfx12_transform(node->world_to_object, ray->origin, ray->direction);

    unsigned count = (node->child_count_minus_one & 3u) + 1; /* R-G12-06 */
    uint32_t ids[4];
    facet_gfx12_child_ids(node->child, count, 0, 0, ids);
    for (unsigned i = 0; i < count && unit->profile != FACET_GFX12_GPURT; i++) { /* R-G12-33 */
        if (facet_gfx12_flags_cull(node->child[i].cull_flags, flags)) {
            ids[i] = FACET_GFX12_INVALID;
        }
    }
    struct facet_gfx12_slab_ray slab_ray;
    struct facet_gfx12_slot slot[8];
    facet_gfx12_slab_ray_init(
        &slab_ray, ray->origin, ray->direction, ray->extent, unit->resource.box_grow_value);
    test_children(unit, node->child, count, ids, node->origin, node->exponent, &slab_ray, slot);
    v[7] = (slot[0].id & 0xFF) | (slot[1].id & 0xFF) << 8 | (slot[2].id & 0xFF) << 16 |
           (slot[3].id & 0xFF) << 24;
}

/* ---- the instruction ---- */

void facet_gfx12_intersect8(const struct facet_gfx12_unit *unit,
                            uint64_t bvh_base,
                            uint32_t node,
                            struct facet_gfx12_ray *ray,
                            uint32_t v[10])
{
    enum facet_gfx12_kind kind = facet_gfx12_id_kind(node);
    const uint8_t *bytes = NULL;
    if (kind == FACET_GFX12_KIND_INSTANCE && unit->resource.instance_en == 0) {
        kind = FACET_GFX12_KIND_NONE; /* a user node */
    }
    if (kind != FACET_GFX12_KIND_NONE && unit->resource.compressed_format_en != 0) {
        bytes = facet_gfx12_unit_fetch(
            unit, bvh_base, facet_gfx12_id_offset(node), FACET_GFX12_NODE_BYTES);
    }
    if (bytes == NULL) {
        fill_invalid(v);
        return;
    }
    if (kind == FACET_GFX12_KIND_BOX) {
        struct facet_gfx12_box box;
        facet_gfx12_box_decode(bytes, &box);
        facet_gfx12_intersect_box(unit, &box, facet_gfx12_effective_flags(unit, bvh_base), ray, v);
    } else if (kind == FACET_GFX12_KIND_INSTANCE) {
        struct facet_gfx12_instance instance;
        facet_gfx12_instance_decode(bytes, &instance);
        facet_gfx12_intersect_instance(unit, &instance, bvh_base, ray, v);
    } else {
        struct facet_gfx12_pair pair;
        facet_gfx12_pair_decode(bytes, facet_gfx12_id_pair(node), &pair);
        facet_gfx12_intersect_pair(
            unit, &pair, facet_gfx12_effective_flags(unit, bvh_base), ray, v);
    }
}
