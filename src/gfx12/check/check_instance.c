/* Rules that compare an instance with the BLAS below it: V13, V23 - V25. */
#include "base/array.h"
#include "base/float.h"
#include "gfx12/check/checker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- placed BLASes ---- */

/* false when world_to_object has no finite inverse (R-G12-57). */
bool facet_gfx12_checker_placement(const struct facet_gfx12_instance *in,
                                   struct facet_checked_placement *out)
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

/* World bounds of a box of the BLAS. */
static void placed_extent(const struct facet_checked_placement *place,
                          const struct facet_gfx12_extent *box,
                          double lo[3],
                          double hi[3])
{
    for (int r = 0; r < 3; r++) {
        lo[r] = hi[r] = 0.0;
        for (int c = 0; c < 3; c++) {
            double a = place->inverse[r][c] * ((double)box->lo[c] - place->translation[c]);
            double b = place->inverse[r][c] * ((double)box->hi[c] - place->translation[c]);

            lo[r] += fmin(a, b);
            hi[r] += fmax(a, b);
        }
    }
}

/* Bounds drawn in by the slack. Unknown (empty) when they overflow. */
static void set_placed(const double lo[3], const double hi[3], struct facet_checked *out)
{
    double scale = 0.0;

    for (int k = 0; k < 3; k++) {
        scale = fmax(scale, fmax(fabs(lo[k]), fabs(hi[k])));
    }
    for (int k = 0; k < 3 && isfinite(scale); k++) {
        double middle = 0.5 * (lo[k] + hi[k]);

        out->lo[k] = (float)fmin(lo[k] + FACET_PLACED_SLACK * scale, middle);
        out->hi[k] = (float)fmax(hi[k] - FACET_PLACED_SLACK * scale, middle);
    }
}

/* ---- tight bounds ----
 *
 * A driver may place the boxes of several nodes of the BLAS instead of one box around all (12.8),
 * so its TLAS is right when it holds what the primitives themselves need. */

struct tight {
    const struct facet_checked_placement *place;
    double lo[3], hi[3];
    /* The box of the instance's child that leads here, and that box a step smaller. What of a
     * triangle sticks out of it is another child's or instance's (split and rebraided), and where
     * between the two the one ends and the other begins is up to the encoder. */
    struct facet_gfx12_extent entry, inner;
};

static bool is_inside(const struct tight *t, const double lo[3], const double hi[3])
{
    for (int k = 0; k < 3; k++) {
        if (lo[k] < t->lo[k] || hi[k] > t->hi[k]) {
            return false;
        }
    }
    return true;
}

static void add_placed(struct tight *t, const double lo[3], const double hi[3])
{
    for (int k = 0; k < 3; k++) {
        t->lo[k] = fmin(t->lo[k], lo[k]);
        t->hi[k] = fmax(t->hi[k], hi[k]);
    }
}

static void
add_range(struct facet_checker *c, const struct facet_checked_step *step, struct tight *t)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(c->view, &step->link);

    do {
        struct facet_checked_primitive p[2];
        unsigned count = facet_gfx12_checker_primitives(
            facet_gfx12_node_bytes(c->view, range.node), range.pair, p);

        for (unsigned i = 0; i < count; i++) {
            double points[FACET_GFX12_CLIP_POINTS][3], lo[3], hi[3];
            const struct facet_gfx12_extent part =
                facet_gfx12_extent_holds(&t->entry, &p[i].bounds)
                    ? step->path
                    : facet_gfx12_extent_common(&step->path, &t->inner);
            unsigned corners = p[i].procedural || facet_gfx12_extent_empty(&part)
                                   ? 0
                                   : facet_gfx12_clip(p[i].corner, &part, points);

            if (p[i].finite && p[i].procedural) {
                const struct facet_gfx12_extent seen =
                    facet_gfx12_extent_common(&p[i].bounds, &step->path);

                placed_extent(t->place, &seen, lo, hi);
                add_placed(t, lo, hi);
            }
            for (unsigned v = 0; v < corners && p[i].finite; v++) {
                for (int r = 0; r < 3; r++) {
                    lo[r] = 0;
                    for (int k = 0; k < 3; k++) {
                        lo[r] +=
                            t->place->inverse[r][k] * (points[v][k] - t->place->translation[k]);
                    }
                }
                add_placed(t, lo, lo);
            }
        }
    } while (facet_gfx12_range_next(&range));
}

/* The box of an instance's child, which a ray must hit to go on below; of all children where one
 * number stands for them (12.8). */
static void set_entry(const struct facet_gfx12_instance *in, int slot, struct tight *t)
{
    t->entry = facet_gfx12_extent_all();
    for (int i = 0, found = 0; i <= (in->child_count_minus_one & 3); i++) {
        const struct facet_gfx12_extent box =
            facet_gfx12_checker_child_extent(&in->child[i], in->origin, in->exponent);

        if ((slot >= 0 && i != slot) || facet_gfx12_extent_empty(&box)) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            t->entry.lo[k] = found == 0 ? box.lo[k] : fminf(t->entry.lo[k], box.lo[k]);
            t->entry.hi[k] = found == 0 ? box.hi[k] : fmaxf(t->entry.hi[k], box.hi[k]);
        }
        found = 1;
    }
    for (int k = 0; k < 3; k++) {
        const double step = ldexp(1.0, (int)in->exponent[k] - 139);

        t->inner.lo[k] = (float)((double)t->entry.lo[k] + step);
        t->inner.hi[k] = (float)((double)t->entry.hi[k] - step);
    }
}

/* Goes down only where the box of a node could still widen the bounds; false when the budget ended
 * it. */
static bool
tight_below(struct facet_checker *c, const struct facet_gfx12_link *link, struct tight *t)
{
    struct facet_array stack = {0};
    struct facet_checked_step *first = facet_array_add(&stack, 1, sizeof *first);
    bool whole = true;

    c->failed = c->failed || first == NULL;
    if (first != NULL) {
        *first = (struct facet_checked_step){*link, t->entry};
    }
    while (stack.count != 0 && whole && !c->failed) {
        const struct facet_checked_step step =
            ((struct facet_checked_step *)stack.items)[--stack.count];
        struct facet_gfx12_extent seen;
        struct facet_checked b;
        double lo[3], hi[3];
        uint32_t node;

        if (!facet_gfx12_link_leads(&c->walk, &step.link, &node) ||
            !facet_gfx12_checker_below(c, &step.link, &step.path, &b)) {
            continue;
        }
        seen = facet_gfx12_checker_bounds(&b);
        seen = facet_gfx12_extent_common(&seen, &step.path);
        placed_extent(t->place, &seen, lo, hi);
        if (facet_gfx12_extent_empty(&seen) || is_inside(t, lo, hi)) {
            continue;
        }
        whole = c->budget != 0;
        c->budget -= c->budget != 0;
        if (c->walk.nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE) {
            add_range(c, &step, t);
        } else if (c->walk.nodes[node].kind == FACET_GFX12_KIND_BOX) {
            facet_gfx12_checker_push_children(c, node, &step.path, &stack);
        } else {
            add_placed(t, lo, hi);
        }
    }
    free(stack.items);
    return whole;
}

static bool tight_bounds(struct facet_checker *c, uint32_t instance, struct tight *t)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, instance, links);
    struct facet_gfx12_instance in;
    bool whole = true;

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(c->view, instance), &in);
    for (unsigned i = 0; i < count && whole; i++) {
        set_entry(&in, count == 1 ? -1 : (int)links[i].slot, t);
        whole = tight_below(c, &links[i], t);
    }
    return whole;
}

static void tighten_instance(struct facet_checker *c, uint32_t node)
{
    struct facet_checked *own = &c->below[node];
    struct facet_checked_placement place;
    struct facet_gfx12_instance in;
    struct tight t = {.place = &place,
                      .lo = {INFINITY, INFINITY, INFINITY},
                      .hi = {-INFINITY, -INFINITY, -INFINITY}};

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(c->view, node), &in);
    if (own->done == 1 && facet_gfx12_checker_placement(&in, &place) && tight_bounds(c, node, &t) &&
        t.lo[0] <= t.hi[0]) {
        set_placed(t.lo, t.hi, own);
        own->done = 2;
    }
}

void facet_gfx12_checker_tighten(struct facet_checker *c,
                                 const struct facet_gfx12_link *link,
                                 struct facet_checked *out)
{
    struct facet_array stack = {0};
    struct facet_checked_step *first = facet_array_add(&stack, 1, sizeof *first);

    c->failed = c->failed || first == NULL;
    if (first != NULL) {
        *first = (struct facet_checked_step){*link, facet_gfx12_extent_all()};
    }
    facet_gfx12_checker_nothing(out);
    while (stack.count != 0 && !c->failed) {
        const struct facet_checked_step step =
            ((struct facet_checked_step *)stack.items)[--stack.count];
        struct facet_checked b;
        uint32_t node;

        if (!facet_gfx12_link_leads(&c->walk, &step.link, &node) ||
            !facet_gfx12_checker_below(c, &step.link, NULL, &b)) {
            continue;
        }
        if (c->walk.nodes[node].kind == FACET_GFX12_KIND_BOX && c->budget != 0) {
            c->budget--;
            facet_gfx12_checker_push_children(c, node, &step.path, &stack);
            continue;
        }
        if (c->walk.nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
            tighten_instance(c, node);
            b = c->below[node];
        }
        facet_gfx12_checker_join(out, &b);
    }
    out->done = 1;
    free(stack.items);
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

/* One link of an instance and the boxes that lead to it. */
struct entrance {
    struct facet_gfx12_extent box[4];
    unsigned count;
};

/* Is all that rays find below the link inside the boxes? Goes down only where no single box holds
 * everything. On false, `lacks` is what is not inside. */
static bool inside_boxes(struct facet_checker *c,
                         const struct facet_checked_step *step,
                         const struct entrance *entrance,
                         struct facet_array *stack,
                         struct facet_gfx12_extent *lacks)
{
    struct facet_checked b;
    struct facet_gfx12_extent seen;
    struct facet_gfx12_range range;
    uint32_t node;

    if (!facet_gfx12_link_leads(&c->walk, &step->link, &node) ||
        !facet_gfx12_checker_below(c, &step->link, &step->path, &b)) {
        return true;
    }
    seen = facet_gfx12_checker_bounds(&b);
    seen = facet_gfx12_extent_common(&seen, &step->path);
    if (facet_gfx12_extent_empty(&seen)) {
        return true;
    }
    for (unsigned i = 0; i < entrance->count; i++) {
        if (facet_gfx12_extent_holds(&entrance->box[i], &seen)) {
            return true;
        }
    }
    *lacks = seen;
    if (c->walk.nodes[node].kind == FACET_GFX12_KIND_BOX && c->budget != 0) {
        c->budget--;
        facet_gfx12_checker_push_children(c, node, &step->path, stack);
        return true;
    }
    if (c->walk.nodes[node].kind != FACET_GFX12_KIND_PRIMITIVE) {
        return false;
    }
    range = facet_gfx12_range_start(c->view, &step->link);
    do {
        struct facet_checked_primitive p[2];
        unsigned count = facet_gfx12_checker_primitives(
            facet_gfx12_node_bytes(c->view, range.node), range.pair, p);

        for (unsigned i = 0; i < count; i++) {
            struct facet_gfx12_extent boxes[4];
            size_t budget = 4096;

            memcpy(boxes, entrance->box, sizeof boxes);
            seen = facet_gfx12_extent_common(&p[i].bounds, &step->path);
            if (p[i].finite && facet_gfx12_covered(p[i].procedural ? NULL : p[i].corner,
                                                   &seen,
                                                   boxes,
                                                   entrance->count,
                                                   &budget,
                                                   lacks) != FACET_GFX12_COVERED) {
                return false;
            }
        }
    } while (facet_gfx12_range_next(&range));
    return true;
}

static void report_entrance(struct facet_checker *c,
                            const struct entrance *entrance,
                            const struct facet_gfx12_extent *lacks,
                            uint64_t at)
{
    struct facet_gfx12_extent all = entrance->box[0];
    int axis = 0;

    for (unsigned i = 1; i < entrance->count; i++) {
        for (int k = 0; k < 3; k++) {
            all.lo[k] = fminf(all.lo[k], entrance->box[i].lo[k]);
            all.hi[k] = fmaxf(all.hi[k], entrance->box[i].hi[k]);
        }
    }
    while (axis < 2 && all.lo[axis] <= lacks->lo[axis] && lacks->hi[axis] <= all.hi[axis]) {
        axis++;
    }
    facet_gfx12_checker_report(c,
                               25,
                               at,
                               "%c from %.9g to %.9g does not contain the BLAS, %.9g to %.9g",
                               "xyz"[axis],
                               (double)all.lo[axis],
                               (double)all.hi[axis],
                               (double)lacks->lo[axis],
                               (double)lacks->hi[axis]);
}

/* V25. GPURT's four boxes belong to one link (12.8). */
static void
check_instance_boxes(struct facet_checker *c, const struct facet_gfx12_instance *in, uint32_t node)
{
    struct facet_gfx12_link links[8];
    const unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);
    const unsigned slots = (in->child_count_minus_one & 3u) + 1;
    bool whole = true;

    for (unsigned i = 0; i < count && whole && !c->failed; i++) {
        struct entrance entrance = {.count = 0};
        struct facet_gfx12_extent lacks;
        struct facet_array stack = {0};
        struct facet_checked_step *step = facet_array_add(&stack, 1, sizeof *step);

        for (unsigned s = 0; s < slots; s++) {
            if (count != slots || links[s].id == links[i].id) {
                entrance.box[entrance.count++] =
                    facet_gfx12_checker_child_extent(&in->child[s], in->origin, in->exponent);
            }
        }
        c->failed = c->failed || step == NULL;
        if (step != NULL) {
            *step = (struct facet_checked_step){links[i], facet_gfx12_extent_all()};
        }
        while (stack.count != 0 && whole && !c->failed) {
            const struct facet_checked_step next =
                ((struct facet_checked_step *)stack.items)[--stack.count];

            whole = inside_boxes(c, &next, &entrance, &stack, &lacks);
        }
        free(stack.items);
        if (!whole) {
            report_entrance(c, &entrance, &lacks, facet_gfx12_checker_offset(node) + 80);
        }
    }
}

static void check_blas(struct facet_checker *c,
                       const struct facet_gfx12_instance *in,
                       const struct facet_checked *blas,
                       uint32_t node)
{
    const uint64_t at = facet_gfx12_checker_offset(node);
    const bool aabbs = (facet_gfx12_base_flags(in->pointer) & FACET_GFX12_SKIP_TRIANGLES) != 0;
    const bool procedural = (blas->promises & FACET_GFX12_ONLY_PROCEDURAL) != 0;

    if (!facet_gfx12_checker_has_geometry(blas)) {
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
    if (!blas->has_instance) {
        check_instance_boxes(c, in, node);
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

/* V13 for the children of an instance. RADV promises triangles for every instance, which costs rays
 * of one kind their hits (R-G12-82). They are culled with the flags of the level above, before
 * the instance's force bits count, so a promise must hold for the BLAS as placed (R-G12-57); their
 * cull_mask is ignored (9.6). */
static void
check_placed_promises(struct facet_checker *c, const struct facet_gfx12_instance *in, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);

    for (unsigned i = 0; i < count; i++) {
        struct facet_checked b;

        if (facet_gfx12_checker_below(c, &links[i], NULL, &b)) {
            const struct facet_gfx12_child *child = &in->child[links[i].slot];
            const uint64_t at =
                facet_gfx12_checker_offset(node) + 80 + 12 * (uint64_t)links[i].slot;

            b.promises = placed_promises(in->pointer, b.promises);
            b.mask = 0;
            if (child->cull_flags == FACET_GFX12_ONLY_TRIANGLES &&
                (b.promises & FACET_GFX12_ONLY_PROCEDURAL) != 0) {
                facet_gfx12_checker_count(&c->said_triangles, at + 3);
            } else {
                facet_gfx12_checker_promises(c, child, links[i].slot, &b, true, at);
            }
        }
    }
}

void facet_gfx12_checker_instance_tree(struct facet_checker *c, uint32_t node)
{
    struct facet_checked *own = &c->below[node];
    struct facet_gfx12_instance in;
    struct facet_checked_placement place;
    struct facet_checked blas;

    facet_gfx12_checker_nothing(own);
    facet_gfx12_checker_blas_below(c, node, &blas);
    facet_gfx12_instance_decode(facet_gfx12_node_bytes(c->view, node), &in);
    check_blas(c, &in, &blas, node);
    if (blas.has_instance) {
        facet_gfx12_checker_count(&c->nested, facet_gfx12_checker_offset(node) + 48);
    }
    check_placed_promises(c, &in, node);
    if (!facet_gfx12_checker_placement(&in, &place)) {
        report_singular(c, &in, node);
    } else if (facet_gfx12_checker_has_geometry(&blas)) {
        const struct facet_gfx12_extent bounds = facet_gfx12_checker_bounds(&blas);
        double lo[3], hi[3];

        placed_extent(&place, &bounds, lo, hi);
        set_placed(lo, hi, own);
    }
    own->promises = placed_promises(in.pointer, blas.promises);
    own->mask = in.cull_mask;
    own->has_instance = 1;
    own->done = 1;
}
