/* image_bvh8_intersect_ray: section 9 of gfx12-semantics.md. Every value on the way to the result
 * registers is formed in the record of steps.h; the instruction proper hands out its registers. */
#include "gfx12/steps.h"

#include "base/float.h"
#include "num/f32.h"

/* ---- box tests, shared by box and instance nodes ---- */

/* Tests, removes duplicates and sorts (9.2 steps 3-8) the children whose id and cull are set;
 * result[] are their IDs in order, INVALID for those that are culled, missed or absent. */
static void test_children(const struct facet_gfx12_unit *unit,
                          const struct facet_gfx12_child *stored,
                          const uint32_t origin[3],
                          const uint8_t exponent[3],
                          struct facet_gfx12_steps *s,
                          uint32_t result[8])
{
    struct facet_gfx12_slot slot[8];
    uint32_t ids[8];
    uint32_t previous = FACET_GFX12_INVALID;

    for (unsigned i = 0; i < 8; i++) {
        struct facet_gfx12_child_steps *c = &s->child[i];
        struct facet_gfx12_slab_box box;

        ids[i] = FACET_GFX12_INVALID;
        if (i >= s->count) {
            c->slab.slab = facet_gfx12_slab_empty();
            continue;
        }
        facet_gfx12_child_bounds(&stored[i], origin, exponent, c->lo, c->hi);
        for (unsigned k = 0; k < 3; k++) {
            box.lo[k] = facet_float_of(c->lo[k]);
            box.hi[k] = facet_float_of(c->hi[k]);
        }
        c->slab = facet_gfx12_slab_steps(&s->slab_ray, &box);
        if (c->slab.slab.hit && c->cull == 0) {
            ids[i] = c->id;
        }
    }
    for (unsigned i = 0; i < 8; i++) { /* a missed slot interrupts a run (R-G12-39) */
        struct facet_gfx12_child_steps *c = &s->child[i];
        c->duplicate = ids[i] == previous && ids[i] != FACET_GFX12_INVALID;
        if (c->duplicate) {
            ids[i] = FACET_GFX12_INVALID;
        } else {
            previous = ids[i];
        }
        slot[i] = c->slot = facet_gfx12_slot_make(unit, ids[i], &c->slab.slab);
        slot[i].id = i; /* the network looks at ext and key only, so the ID can carry the place */
    }
    facet_gfx12_sort(unit, slot, unit->resource.wide_sort_en != 0);
    for (unsigned i = 0; i < 8; i++) {
        s->child[slot[i].id].place = i;
        result[i] = ids[slot[i].id];
    }
}

static void intersect_box(const struct facet_gfx12_unit *unit, struct facet_gfx12_steps *s)
{
    const struct facet_gfx12_box *node = &s->box;
    uint32_t ids[8];
    uint32_t matrix[9];
    float origin[3];

    s->count = (node->child_count_minus_one & 7u) + 1; /* R-G12-06 */
    facet_gfx12_child_ids(
        node->child, s->count, node->internal_child_offset, node->primitive_child_offset, ids);
    for (unsigned i = 0; i < s->count; i++) {
        bool masked = (node->child[i].cull_mask & s->ray.instance_mask) == 0;
        s->child[i].id = ids[i];
        s->child[i].cull = facet_gfx12_flags_cull(node->child[i].cull_flags, s->flags) |
                           (masked ? FACET_GFX12_CULL_MASK : 0u);
    }

    memcpy(origin, s->ray.origin, sizeof origin);
    memcpy(s->slab_direction, s->ray.direction, sizeof s->slab_direction);
    s->obb = FACET_GFX12_OBB_NONE;
    if (facet_gfx12_obb_matrix(node->obb_matrix_index & 0x7F, matrix)) {
        uint32_t rows[12] = {0};
        for (unsigned i = 0; i < 9; i++) {
            rows[i / 3 * 4 + i % 3] = matrix[i];
        }
        s->obb = node->obb_matrix_index & 0x7F;
        facet_gfx12_transform(rows, origin, s->slab_direction);
    }
    facet_gfx12_slab_ray_init(
        &s->slab_ray, origin, s->slab_direction, s->ray.extent, unit->resource.box_grow_value);
    test_children(unit, node->child, node->origin, node->exponent, s, s->v);
}

/* ---- primitives (9.4) ---- */

static void test_triangle(const struct facet_gfx12_unit *unit,
                          const uint32_t vertex[3][3],
                          const struct facet_gfx12_tri_state *state,
                          uint32_t primitive,
                          const struct facet_gfx12_steps *s,
                          struct facet_gfx12_tri_steps *out,
                          uint32_t w[4])
{
    struct facet_gfx12_tri_terms terms;

    out->test = facet_gfx12_tri_test_steps(vertex, s->ray.origin, s->ray.direction);
    out->miss = facet_gfx12_tri_miss(unit->profile, &out->test.terms);
    terms = out->test.terms;
    if (out->miss != NULL && unit->profile == FACET_GFX12_GPURT) { /* numerators over 1 */
        terms.tn = facet_float_of(F32_INF);
        terms.det = 1.0f;
        terms.u = terms.un;
        terms.v = terms.vn;
    }
    out->front = terms.det >= 0;
    if ((s->flags & FACET_GFX12_FLIP_FACEDNESS) != 0) {
        out->front = !out->front;
        terms.tn = f32_negate(terms.tn);
        terms.det = f32_negate(terms.det);
    }
    out->cull = facet_gfx12_primitive_cull(state, out->front, s->flags);
    if (out->cull != 0) {
        w[0] = F32_INF;
        w[1] = w[2] = 0;
        w[3] = primitive << 1;
    } else {
        w[0] = out->miss != NULL ? F32_INF : facet_float_bits(f32_div(terms.tn, terms.det));
        w[1] = facet_float_bits(terms.u);
        w[2] = facet_float_bits(terms.v);
        w[3] = primitive << 1 | facet_float_bits(terms.det) >> 31;
    }
}

static void intersect_pair(const struct facet_gfx12_unit *unit, struct facet_gfx12_steps *s)
{
    const struct facet_gfx12_pair *pair = &s->pair;
    bool gpurt = unit->profile == FACET_GFX12_GPURT;
    bool merge = gpurt || unit->resource.pointer_flags != 0; /* 9.5 */
    for (unsigned k = 0; k < 2; k++) {
        const struct facet_gfx12_pair_tri *tri = &pair->desc.tri[k];
        struct facet_gfx12_tri_steps *out = &s->tri[k];
        uint32_t *w = s->v + (size_t)4 * k;
        const struct facet_gfx12_tri_state state = {
            .opaque = tri->opaque != 0,
            .double_sided = tri->double_sided != 0,
            .procedural = facet_gfx12_tri_procedural(tri),
        };
        uint32_t opacity =
            merge ? facet_gfx12_opacity_bit(unit, state.opaque, s->flags) : UINT32_C(0);
        out->absent = gpurt && k == 1 && facet_gfx12_tri_absent(tri);
        out->procedural = state.procedural;
        out->opaque = facet_gfx12_effective_opaque(state.opaque, s->flags);
        out->miss = NULL;
        out->front = false;
        out->cull = 0;
        if (out->absent) {
            out->miss = "no second triangle";
            w[0] = F32_INF;
            w[1] = w[2] = F32_ONE;
            w[3] = 0;
        } else if (state.procedural) {
            out->cull = facet_gfx12_primitive_cull(&state, false, s->flags);
            w[0] = out->cull != 0 ? F32_INF : 0;
            w[1] = F32_ONE | F32_SIGN;
            w[2] = F32_ONE | opacity;
            w[3] = pair->primitive_index[k] << 1;
        } else {
            test_triangle(unit, pair->vertex[k], &state, pair->primitive_index[k], s, out, w);
            if (merge) {
                w[1] &= ~F32_SIGN;
                w[2] = (w[2] & ~F32_SIGN) | opacity;
            }
        }
        s->v[8 + k] = pair->geometry_index[k] << 2 | pair->navigation;
    }
}

/* ---- instances (9.6) ---- */

static void intersect_instance(const struct facet_gfx12_unit *unit, struct facet_gfx12_steps *s)
{
    const struct facet_gfx12_instance *node = &s->instance;
    uint32_t ids[4], result[8];

    s->new_base = facet_gfx12_base_enter(node->pointer, s->base);
    s->v[2] = (uint32_t)s->new_base;
    s->v[3] = (uint32_t)(s->new_base >> 32);
    s->v[6] = node->user_data;
    s->instance_cull =
        facet_gfx12_instance_cull(node->cull_mask, node->pointer, s->flags, s->ray.instance_mask);
    if (s->instance_cull != 0) {
        return;
    }
    facet_gfx12_transform(node->world_to_object, s->after.origin, s->after.direction);

    s->count = (node->child_count_minus_one & 3u) + 1; /* R-G12-06 */
    facet_gfx12_child_ids(node->child, s->count, 0, 0, ids);
    for (unsigned i = 0; i < s->count; i++) {
        bool by_flags = unit->profile != FACET_GFX12_GPURT; /* R-G12-33 */
        s->child[i].id = ids[i];
        s->child[i].cull =
            by_flags ? facet_gfx12_flags_cull(node->child[i].cull_flags, s->flags) : 0;
    }
    s->obb = FACET_GFX12_OBB_NONE;
    memcpy(s->slab_direction, s->after.direction, sizeof s->slab_direction);
    facet_gfx12_slab_ray_init(&s->slab_ray,
                              s->after.origin,
                              s->slab_direction,
                              s->ray.extent,
                              unit->resource.box_grow_value);
    test_children(unit, node->child, node->origin, node->exponent, s, result);
    s->v[7] = (result[0] & 0xFF) | (result[1] & 0xFF) << 8 | (result[2] & 0xFF) << 16 |
              (result[3] & 0xFF) << 24;
}

/* ---- the instruction ---- */

/* The bytes of the node, or NULL and out->no_node. */
static const uint8_t *fetch(const struct facet_gfx12_unit *unit, struct facet_gfx12_steps *out)
{
    out->no_node = NULL;
    if (out->kind == FACET_GFX12_KIND_NONE) {
        out->no_node = "the type of the ID names no node";
    } else if (out->kind == FACET_GFX12_KIND_INSTANCE && unit->resource.instance_en == 0) {
        out->no_node = "instance_en is 0"; /* a user node */
    } else if (unit->resource.compressed_format_en == 0) {
        out->no_node = "compressed_format_en is 0";
    } else {
        const uint8_t *bytes = facet_gfx12_unit_fetch(
            unit, out->base, facet_gfx12_id_offset(out->node), FACET_GFX12_NODE_BYTES);
        out->no_node = bytes != NULL ? NULL : "the node lies outside the image";
        return bytes;
    }
    return NULL;
}

void facet_gfx12_intersect8_steps(const struct facet_gfx12_unit *unit,
                                  uint64_t base,
                                  uint32_t node,
                                  const struct facet_gfx12_ray *ray,
                                  struct facet_gfx12_steps *out)
{
    const uint8_t *bytes;

    out->base = base;
    out->node = node;
    out->kind = facet_gfx12_id_kind(node);
    out->flags = facet_gfx12_effective_flags(unit, base);
    out->ray = out->after = *ray;
    for (unsigned i = 0; i < 10; i++) {
        out->v[i] = FACET_GFX12_INVALID;
    }
    bytes = fetch(unit, out);
    out->image_offset = bytes != NULL ? (uint64_t)(bytes - unit->image) : 0;
    if (bytes == NULL) {
        out->kind = FACET_GFX12_KIND_NONE;
    } else if (out->kind == FACET_GFX12_KIND_BOX) {
        facet_gfx12_box_decode(bytes, &out->box);
        intersect_box(unit, out);
    } else if (out->kind == FACET_GFX12_KIND_INSTANCE) {
        facet_gfx12_instance_decode(bytes, &out->instance);
        intersect_instance(unit, out);
    } else {
        facet_gfx12_pair_decode(bytes, facet_gfx12_id_pair(node), &out->pair);
        intersect_pair(unit, out);
    }
}

void facet_gfx12_intersect8(const struct facet_gfx12_unit *unit,
                            uint64_t bvh_base,
                            uint32_t node,
                            struct facet_gfx12_ray *ray,
                            uint32_t v[10])
{
    struct facet_gfx12_steps steps;
    facet_gfx12_intersect8_steps(unit, bvh_base, node, ray, &steps);
    *ray = steps.after;
    memcpy(v, steps.v, sizeof steps.v);
}
