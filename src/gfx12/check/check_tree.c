/* Rules that compare a child with everything below it: V12, V13, V23 - V25.
 *
 * "Below" means the geometry itself, not the boxes in between: a grandchild's decoded box may stick
 * out of its parent's by a grid step without losing a hit (R-G12-58). Nodes are visited children
 * first, so each node's geometry bounds are joined from its children's. */
#include "base/array.h"
#include "base/float.h"
#include "gfx12/check/checker.h"

#include <math.h>
#include <stdlib.h>

static void clear(struct facet_checked *b)
{
    for (int k = 0; k < 3; k++) {
        b->lo[k] = INFINITY;
        b->hi[k] = -INFINITY;
    }
    b->promises = 0xF;
    b->mask = 0;
    b->done = 0;
    b->has_instance = 0;
}

static void join(struct facet_checked *into, const struct facet_checked *b)
{
    for (int k = 0; k < 3; k++) {
        into->lo[k] = b->lo[k] < into->lo[k] ? b->lo[k] : into->lo[k];
        into->hi[k] = b->hi[k] > into->hi[k] ? b->hi[k] : into->hi[k];
    }
    into->promises &= b->promises;
    into->mask |= b->mask;
    into->has_instance |= b->has_instance;
}

/* Points with a NaN or infinity are reported by V31 and ignored here. */
static void add_point(struct facet_checked *b, const float p[3])
{
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        b->lo[k] = p[k] < b->lo[k] ? p[k] : b->lo[k];
        b->hi[k] = p[k] > b->hi[k] ? p[k] : b->hi[k];
    }
}

/* ---- primitives ---- */

typedef void point_fn(void *context, const float point[3]);

/* All corners of one pair; a box has its two extreme ones, or all eight when they will be rotated.
 */
static void pair_points(const uint8_t *node,
                        unsigned pair,
                        bool all_corners,
                        uint8_t *promises,
                        point_fn *fn,
                        void *context)
{
    struct facet_gfx12_pair p;

    facet_gfx12_pair_decode(node, pair, &p);
    for (unsigned t = 0; t < 2; t++) {
        const struct facet_gfx12_pair_tri *tri = &p.desc.tri[t];

        if (t == 1 && facet_gfx12_tri_absent(tri)) {
            continue;
        }
        if (promises != NULL) {
            *promises &=
                (uint8_t)((tri->opaque ? FACET_GFX12_ONLY_OPAQUE : FACET_GFX12_ONLY_NON_OPAQUE) |
                          (facet_gfx12_tri_procedural(tri) ? FACET_GFX12_ONLY_PROCEDURAL
                                                           : FACET_GFX12_ONLY_TRIANGLES));
        }
        if (facet_gfx12_tri_procedural(tri)) {
            struct facet_gfx12_prim prim;

            facet_gfx12_prim_decode(node, &prim);
            for (unsigned c = 0; c < 8; c++) {
                float point[3];

                for (unsigned k = 0; k < 3; k++) {
                    point[k] = facet_float_of(prim.aabb[(c >> k & 1) * 3 + k]);
                }
                if (all_corners || c == 0 || c == 7) {
                    fn(context, point);
                }
            }
            continue;
        }
        for (unsigned v = 0; v < 3; v++) {
            float point[3];

            for (unsigned k = 0; k < 3; k++) {
                point[k] = facet_float_of(p.vertex[t][v][k]);
            }
            fn(context, point);
        }
    }
}

static void bounds_point(void *context, const float point[3])
{
    add_point(context, point);
}

static void range_below(const struct facet_checker *c,
                        const struct facet_gfx12_link *link,
                        struct facet_checked *out)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(c->view, link);

    clear(out);
    out->mask = 0xFF;
    do {
        pair_points(facet_gfx12_node_bytes(c->view, range.node),
                    range.pair,
                    false,
                    &out->promises,
                    bounds_point,
                    out);
    } while (facet_gfx12_range_next(&range));
    out->done = 1;
}

/* false when the link leads nowhere that was walked. */
static bool link_below(const struct facet_checker *c,
                       const struct facet_gfx12_link *link,
                       struct facet_checked *out)
{
    enum facet_gfx12_kind kind = facet_gfx12_id_kind(link->id);
    uint32_t node;

    if (!facet_gfx12_link_leads(&c->walk, link, &node)) {
        return false;
    }
    if (kind == FACET_GFX12_KIND_PRIMITIVE) {
        range_below(c, link, out);
        return true;
    }
    *out = c->below[node];
    return out->done != 0;
}

/* ---- axis-aligned boxes ---- */

static bool has_geometry(const struct facet_checked *b)
{
    return b->lo[0] <= b->hi[0];
}

/* Child reuse splits one child over several boxes: only their union must contain it. */
struct boxes {
    float lo[3], hi[3];
};

static void union_of_run(const struct facet_gfx12_child *child,
                         const uint32_t origin[3],
                         const uint8_t exponent[3],
                         const struct facet_gfx12_link *links,
                         unsigned first,
                         unsigned end,
                         struct boxes *out)
{
    for (int k = 0; k < 3; k++) {
        out->lo[k] = INFINITY;
        out->hi[k] = -INFINITY;
    }
    for (unsigned i = first; i < end; i++) {
        uint32_t lo[3], hi[3];

        facet_gfx12_child_bounds(&child[links[i].slot], origin, exponent, lo, hi);
        for (int k = 0; k < 3; k++) {
            out->lo[k] = fminf(out->lo[k], facet_float_of(lo[k]));
            out->hi[k] = fmaxf(out->hi[k], facet_float_of(hi[k]));
        }
    }
}

static int outside_axis(const struct boxes *box, const struct facet_checked *b)
{
    for (int k = 0; k < 3; k++) {
        if (!(box->lo[k] <= b->lo[k] && b->hi[k] <= box->hi[k])) {
            return k;
        }
    }
    return -1;
}

/* ---- placed BLASes ---- */

/* Placed BLASes may be rounded in other ways than ours (R-G12-58). */
#define PLACED_SLACK 1e-5

/* object_to_world of an instance: world = inverse * (object - translation). */
struct placement {
    double inverse[3][3], translation[3];
};

/* false when world_to_object has no finite inverse (R-G12-57). */
static bool placement_of(const struct facet_gfx12_instance *in, struct placement *out)
{
    double m[3][4], det;

    for (int i = 0; i < 12; i++) {
        m[i / 4][i % 4] = (double)facet_float_of(in->world_to_object[i]);
    }
    for (int r = 0; r < 3; r++) {
        out->translation[r] = m[r][3];
        for (int c = 0; c < 3; c++) {
            int i = (c + 1) % 3, j = (c + 2) % 3, k = (r + 1) % 3, l = (r + 2) % 3;

            out->inverse[r][c] = m[i][k] * m[j][l] - m[i][l] * m[j][k];
        }
    }
    det =
        m[0][0] * out->inverse[0][0] + m[0][1] * out->inverse[1][0] + m[0][2] * out->inverse[2][0];
    for (int i = 0; i < 9; i++) {
        out->inverse[i / 3][i % 3] /= det;
        if (!isfinite(out->inverse[i / 3][i % 3])) {
            return false;
        }
    }
    return true;
}

/* What all children of an instance node hold together, in object space. */
static void blas_below(const struct facet_checker *c, uint32_t node, struct facet_checked *out)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);

    clear(out);
    for (unsigned i = 0; i < count; i++) {
        struct facet_checked b;

        if (link_below(c, &links[i], &b)) {
            join(out, &b);
        }
    }
}

/* ---- oriented boxes ---- */

struct oriented {
    double m[9];
    struct boxes box;
    double worst; /* how far a point lies outside, at most */
    double scale;
};

static void rotate_point(struct oriented *o, const double p[3], double slack)
{
    for (int r = 0; r < 3; r++) {
        double x = o->m[3 * r] * p[0] + o->m[3 * r + 1] * p[1] + o->m[3 * r + 2] * p[2];
        double outside = fmax((double)o->box.lo[r] - x, x - (double)o->box.hi[r]);

        o->scale = fmax(o->scale, fabs(x));
        o->worst = fmax(o->worst, outside - slack);
    }
}

/* The padding of 12.7 covers the roundings of a ray's transform; a quarter of it is granted here so
 * that differently rounded padding is accepted. */
static void rotated_point(void *context, const float p[3])
{
    const double point[3] = {(double)p[0], (double)p[1], (double)p[2]};

    if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) {
        rotate_point(context, point, 0.0);
    }
}

/* The eight corners of the BLAS's bounds, through the instance. */
static void rotated_instance(const struct facet_checker *c, uint32_t node, struct oriented *o)
{
    struct facet_gfx12_instance in;
    struct placement place;
    struct facet_checked blas;
    double corner[8][3], scale = 0.0;

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(c->view, node), &in);
    blas_below(c, node, &blas);
    if (!has_geometry(&blas) || !placement_of(&in, &place)) {
        return;
    }
    for (unsigned i = 0; i < 8; i++) {
        double object[3];

        for (unsigned k = 0; k < 3; k++) {
            object[k] =
                (double)((i >> k & 1) != 0 ? blas.hi[k] : blas.lo[k]) - place.translation[k];
        }
        for (unsigned r = 0; r < 3; r++) {
            corner[i][r] = place.inverse[r][0] * object[0] + place.inverse[r][1] * object[1] +
                           place.inverse[r][2] * object[2];
            scale = fmax(scale, fabs(corner[i][r]));
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        rotate_point(o, corner[i], PLACED_SLACK * scale);
    }
}

/* Every vertex and every placed BLAS below a link, with an explicit stack; false when the budget is
 * spent. */
static bool
rotate_all(struct facet_checker *c, const struct facet_gfx12_link *start, struct oriented *o)
{
    struct facet_gfx12_link *stack = malloc(64 * sizeof *stack);
    size_t depth = 0, capacity = 64;
    bool ok = true;

    if (stack == NULL) {
        c->failed = true;
        return false;
    }
    stack[depth++] = *start;
    while (depth > 0 && ok) {
        struct facet_gfx12_link link = stack[--depth];
        enum facet_gfx12_kind kind = facet_gfx12_id_kind(link.id);
        uint32_t node = facet_gfx12_node_at(link.offset);
        struct facet_checked unused;

        if (c->budget-- == 0) {
            c->budget = 0;
            ok = false;
        } else if (kind == FACET_GFX12_KIND_PRIMITIVE && link.inside) {
            struct facet_gfx12_range range = facet_gfx12_range_start(c->view, &link);

            do {
                pair_points(facet_gfx12_node_bytes(c->view, range.node),
                            range.pair,
                            true,
                            NULL,
                            rotated_point,
                            o);
                c->budget -= c->budget != 0;
            } while (facet_gfx12_range_next(&range));
        } else if (kind == FACET_GFX12_KIND_INSTANCE && link_below(c, &link, &unused)) {
            rotated_instance(c, node, o);
        } else if (kind == FACET_GFX12_KIND_BOX && link_below(c, &link, &unused)) {
            if (!facet_array_fit(&stack, &capacity, depth + 8, sizeof *stack)) {
                c->failed = true;
                ok = false;
                continue;
            }
            depth += facet_gfx12_links(c->view, &c->walk, node, stack + depth);
        }
    }
    free(stack);
    return ok;
}

static void check_oriented(struct facet_checker *c,
                           const struct facet_gfx12_box *box,
                           const struct facet_gfx12_link *link,
                           const struct boxes *covered,
                           bool placed,
                           uint64_t at)
{
    struct oriented o = {.box = *covered};
    uint32_t rows[9];

    facet_gfx12_obb_matrix(box->obb_matrix_index & 0x7F, rows);
    for (int i = 0; i < 9; i++) {
        o.m[i] = (double)facet_float_of(rows[i]);
    }
    if (!rotate_all(c, link, &o)) {
        facet_gfx12_checker_report_as(
            c,
            12,
            FACET_GFX12_NOTE,
            at,
            "child %u: the oriented box was not checked, there is too much "
            "below it",
            link->slot);
        return;
    }
    if (o.worst > o.scale * 0x1p-22) {
        facet_gfx12_checker_report(c,
                                   12,
                                   at,
                                   "child %u: a %s lies %.3g outside the oriented box",
                                   link->slot,
                                   placed ? "corner of a placed BLAS" : "vertex",
                                   o.worst);
    }
}

/* ---- box nodes ---- */

static void check_promises(struct facet_checker *c,
                           const struct facet_gfx12_child *child,
                           unsigned slot,
                           const struct facet_checked *b,
                           uint64_t at)
{
    unsigned broken = child->cull_flags & ~(unsigned)b->promises;
    unsigned missing = b->mask & ~(unsigned)child->cull_mask;

    if (broken != 0) {
        facet_gfx12_checker_report(
            c,
            13,
            at + 3,
            "child %u: cull_flags 0x%x, but only 0x%x holds for what lies below",
            slot,
            child->cull_flags,
            b->promises);
    }
    if (missing != 0) {
        facet_gfx12_checker_report(c,
                                   13,
                                   at + 7,
                                   "child %u: cull_mask 0x%02x lacks the bits 0x%02x found below",
                                   slot,
                                   child->cull_mask,
                                   missing);
    }
}

void facet_gfx12_checker_box_tree(struct facet_checker *c, uint32_t node)
{
    struct facet_checked *own = &c->below[node];
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);
    struct facet_gfx12_box box;
    unsigned first = 0;

    clear(own);
    facet_gfx12_box_decode(facet_gfx12_node_bytes(c->view, node), &box);
    while (first < count) {
        const uint64_t at =
            facet_gfx12_checker_offset(node) + 32 + 12 * (uint64_t)links[first].slot;
        struct facet_checked b;
        struct boxes covered;
        unsigned end = first + 1;
        int axis;

        while (end < count && links[end].id == links[first].id) {
            end++;
        }
        if (link_below(c, &links[first], &b)) {
            for (unsigned i = first; i < end; i++) {
                check_promises(c,
                               &box.child[links[i].slot],
                               links[i].slot,
                               &b,
                               at + 12 * (uint64_t)(i - first));
            }
            union_of_run(box.child, box.origin, box.exponent, links, first, end, &covered);
            axis = outside_axis(&covered, &b);
            if ((box.obb_matrix_index & 0x7F) < FACET_GFX12_OBB_COUNT) {
                if (has_geometry(&b)) {
                    check_oriented(c, &box, &links[first], &covered, b.has_instance != 0, at);
                }
            } else if (has_geometry(&b) && axis >= 0) {
                facet_gfx12_checker_report(
                    c,
                    12,
                    at,
                    "child %u: %c from %.9g to %.9g does not contain %.9g to %.9g",
                    links[first].slot,
                    "xyz"[axis],
                    (double)covered.lo[axis],
                    (double)covered.hi[axis],
                    (double)b.lo[axis],
                    (double)b.hi[axis]);
            }
            join(own, &b);
        }
        first = end;
    }
    own->done = 1;
}

/* ---- instances ---- */

/* World bounds of the BLAS, drawn in by the slack. Unknown (empty) when they overflow. */
static void placed_bounds(const struct placement *place,
                          const struct facet_checked *blas,
                          struct facet_checked *out)
{
    double lo[3], hi[3], scale = 0.0;

    for (int r = 0; r < 3; r++) {
        lo[r] = hi[r] = 0.0;
        for (int c = 0; c < 3; c++) {
            double a = place->inverse[r][c] * ((double)blas->lo[c] - place->translation[c]);
            double b = place->inverse[r][c] * ((double)blas->hi[c] - place->translation[c]);

            lo[r] += fmin(a, b);
            hi[r] += fmax(a, b);
        }
        scale = fmax(scale, fmax(fabs(lo[r]), fabs(hi[r])));
    }
    if (!isfinite(scale)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        double middle = 0.5 * (lo[k] + hi[k]);

        out->lo[k] = (float)fmin(lo[k] + PLACED_SLACK * scale, middle);
        out->hi[k] = (float)fmax(hi[k] - PLACED_SLACK * scale, middle);
    }
}

static uint8_t placed_promises(uint64_t pointer, uint8_t promises)
{
    unsigned flags = facet_gfx12_base_flags(pointer);

    if ((flags & (FACET_GFX12_FORCE_OPAQUE | FACET_GFX12_FORCE_NON_OPAQUE)) != 0) {
        promises &= (uint8_t) ~(FACET_GFX12_ONLY_OPAQUE | FACET_GFX12_ONLY_NON_OPAQUE);
        promises |= (flags & FACET_GFX12_FORCE_OPAQUE) != 0 ? FACET_GFX12_ONLY_OPAQUE
                                                            : FACET_GFX12_ONLY_NON_OPAQUE;
    }
    return promises;
}

static void check_blas(struct facet_checker *c,
                       const struct facet_gfx12_instance *in,
                       unsigned boxes,
                       const struct facet_checked *blas,
                       uint32_t node)
{
    const uint64_t at = facet_gfx12_checker_offset(node);
    const bool aabbs = (facet_gfx12_base_flags(in->pointer) & FACET_GFX12_SKIP_TRIANGLES) != 0;
    const bool procedural = (blas->promises & FACET_GFX12_ONLY_PROCEDURAL) != 0;
    struct facet_gfx12_link all[4];
    struct boxes covered;
    int axis;

    if (!has_geometry(blas)) {
        return;
    }
    if (aabbs != procedural) {
        facet_gfx12_checker_report(c,
                                   23,
                                   at + 55,
                                   "aabbs is %d, but the BLAS holds %s",
                                   aabbs,
                                   procedural ? "only procedural boxes" : "triangles");
    }
    for (unsigned i = 0; i < boxes; i++) {
        all[i].slot = i;
    }
    union_of_run(in->child, in->origin, in->exponent, all, 0, boxes, &covered);
    axis = outside_axis(&covered, blas);
    if (axis >= 0 && !blas->has_instance) {
        facet_gfx12_checker_report(c,
                                   25,
                                   at + 80,
                                   "%c from %.9g to %.9g does not contain the BLAS, %.9g to %.9g",
                                   "xyz"[axis],
                                   (double)covered.lo[axis],
                                   (double)covered.hi[axis],
                                   (double)blas->lo[axis],
                                   (double)blas->hi[axis]);
    }
}

/* Elements that are not finite have been named one by one. */
static void
report_singular(struct facet_checker *c, const struct facet_gfx12_instance *in, uint32_t node)
{
    for (int i = 0; i < 12; i++) {
        if (!isfinite(facet_float_of(in->world_to_object[i]))) {
            return;
        }
    }
    facet_gfx12_checker_report(
        c, 24, facet_gfx12_checker_offset(node), "world_to_object has no finite inverse");
}

/* V13 for the children of an instance. They are culled with the flags of the level above, before
 * the instance's force bits count, so a promise must hold for the BLAS as placed (R-G12-57); their
 * cull_mask is ignored (9.6). */
static void
check_placed_promises(struct facet_checker *c, const struct facet_gfx12_instance *in, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);

    for (unsigned i = 0; i < count; i++) {
        struct facet_checked b;

        if (link_below(c, &links[i], &b)) {
            b.promises = placed_promises(in->pointer, b.promises);
            b.mask = 0;
            check_promises(c,
                           &in->child[links[i].slot],
                           links[i].slot,
                           &b,
                           facet_gfx12_checker_offset(node) + 80 + 12 * (uint64_t)links[i].slot);
        }
    }
}

void facet_gfx12_checker_instance_tree(struct facet_checker *c, uint32_t node)
{
    struct facet_checked *own = &c->below[node];
    struct facet_gfx12_instance in;
    struct placement place;
    struct facet_checked blas;

    clear(own);
    blas_below(c, node, &blas);
    facet_gfx12_instance_decode(facet_gfx12_node_bytes(c->view, node), &in);
    check_blas(c, &in, (in.child_count_minus_one & 3u) + 1, &blas, node);
    check_placed_promises(c, &in, node);
    if (!placement_of(&in, &place)) {
        report_singular(c, &in, node);
    } else if (has_geometry(&blas)) {
        placed_bounds(&place, &blas, own);
    }
    own->promises = placed_promises(in.pointer, blas.promises);
    own->mask = in.cull_mask;
    own->has_instance = 1;
    own->done = 1;
}
