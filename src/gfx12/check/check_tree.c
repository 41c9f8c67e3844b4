/* Rules that compare a child of a box node with everything below it: V12 and V13. Nodes are visited
 * children first, so each node's geometry bounds are joined from its children's. */
#include "base/array.h"
#include "base/float.h"
#include "gfx12/check/checker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes ---- */

/* The bounds of all boxes that child reuse gives one child. */
static struct facet_gfx12_extent union_of_run(const struct facet_gfx12_box *box,
                                              const struct facet_gfx12_link *links,
                                              unsigned first,
                                              unsigned end)
{
    struct facet_gfx12_extent out = {{INFINITY, INFINITY, INFINITY},
                                     {-INFINITY, -INFINITY, -INFINITY}};

    for (unsigned i = first; i < end; i++) {
        const struct facet_gfx12_extent own = facet_gfx12_checker_child_extent(
            &box->child[links[i].slot], box->origin, box->exponent);

        for (int k = 0; k < 3; k++) {
            out.lo[k] = fminf(out.lo[k], own.lo[k]);
            out.hi[k] = fmaxf(out.hi[k], own.hi[k]);
        }
    }
    return out;
}

/* Inside one of the run's boxes; the rest is for check_cover.c. */
static bool held_by_run(const struct facet_gfx12_box *box,
                        const struct facet_gfx12_link *links,
                        unsigned first,
                        unsigned end,
                        const struct facet_checked *b)
{
    const struct facet_gfx12_extent inner = facet_gfx12_checker_bounds(b);

    for (unsigned i = first; i < end; i++) {
        const struct facet_gfx12_extent own = facet_gfx12_checker_child_extent(
            &box->child[links[i].slot], box->origin, box->exponent);

        if (facet_gfx12_extent_holds(&own, &inner)) {
            return true;
        }
    }
    return false;
}

static int outside_axis(const struct facet_gfx12_extent *box, const struct facet_checked *b)
{
    for (int k = 0; k < 3; k++) {
        if (!(box->lo[k] <= b->lo[k] && b->hi[k] <= box->hi[k])) {
            return k;
        }
    }
    return -1;
}

/* Rays find no more of a child than its box holds. */
static void cut_to(struct facet_checked *b, const struct facet_gfx12_extent *box)
{
    const struct facet_gfx12_extent own = facet_gfx12_checker_bounds(b);
    const struct facet_gfx12_extent cut = facet_gfx12_extent_common(&own, box);

    if (facet_gfx12_extent_empty(&cut)) {
        for (int k = 0; k < 3; k++) {
            b->lo[k] = INFINITY;
            b->hi[k] = -INFINITY;
        }
        return;
    }
    memcpy(b->lo, cut.lo, sizeof b->lo);
    memcpy(b->hi, cut.hi, sizeof b->hi);
}

/* ---- oriented boxes ---- */

struct oriented {
    double m[9];
    struct facet_gfx12_extent box;
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

static void rotate_box(struct oriented *o, const struct facet_gfx12_extent *box)
{
    for (unsigned i = 0; i < 8 && !facet_gfx12_extent_empty(box); i++) {
        double corner[3];

        for (unsigned k = 0; k < 3; k++) {
            corner[k] = (double)((i >> k & 1) != 0 ? box->hi[k] : box->lo[k]);
        }
        rotate_point(o, corner, 0.0);
    }
}

/* The padding of 12.7 covers the roundings of a ray's transform; a quarter of it is granted here so
 * that differently rounded padding is accepted. */
static void
rotate_range(struct facet_checker *c, const struct facet_checked_step *step, struct oriented *o)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(c->view, &step->link);

    do {
        struct facet_checked_primitive primitive[2];
        unsigned count = facet_gfx12_checker_primitives(
            facet_gfx12_node_bytes(c->view, range.node), range.pair, primitive);

        for (unsigned i = 0; i < count; i++) {
            if (primitive[i].finite && primitive[i].procedural) {
                const struct facet_gfx12_extent seen =
                    facet_gfx12_extent_common(&primitive[i].bounds, &step->path);

                rotate_box(o, &seen);
            } else if (primitive[i].finite) {
                double points[FACET_GFX12_CLIP_POINTS][3];
                unsigned corners = facet_gfx12_clip(primitive[i].corner, &step->path, points);

                for (unsigned v = 0; v < corners; v++) {
                    rotate_point(o, points[v], 0.0);
                }
            }
        }
        c->budget -= c->budget != 0;
    } while (facet_gfx12_range_next(&range));
}

/* The eight corners of the BLAS's bounds, through the instance. */
static void rotated_instance(const struct facet_checker *c, uint32_t node, struct oriented *o)
{
    struct facet_gfx12_instance in;
    struct facet_checked_placement place;
    struct facet_checked blas;
    double corner[8][3], scale = 0.0;

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(c->view, node), &in);
    facet_gfx12_checker_blas_below(c, node, &blas);
    if (!facet_gfx12_checker_has_geometry(&blas) || !facet_gfx12_checker_placement(&in, &place)) {
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
        rotate_point(o, corner[i], FACET_PLACED_SLACK * scale);
    }
}

/* Every vertex and every placed BLAS below a link, with an explicit stack; false when the budget is
 * spent. */
static bool
rotate_all(struct facet_checker *c, const struct facet_gfx12_link *start, struct oriented *o)
{
    struct facet_array stack = {0};
    struct facet_checked_step *first = facet_array_add(&stack, 1, sizeof *first);
    bool ok = true;

    if (first == NULL) {
        c->failed = true;
        return false;
    }
    *first = (struct facet_checked_step){*start, facet_gfx12_extent_all()};
    while (stack.count > 0 && ok && !c->failed) {
        const struct facet_checked_step step =
            ((struct facet_checked_step *)stack.items)[--stack.count];
        struct facet_checked unused;
        uint32_t node;

        if (c->budget-- == 0) {
            c->budget = 0;
            ok = false;
        } else if (!facet_gfx12_link_leads(&c->walk, &step.link, &node)) {
            continue;
        } else if (c->walk.nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE) {
            rotate_range(c, &step, o);
        } else if (facet_gfx12_checker_below(c, &step.link, NULL, &unused)) {
            if (c->walk.nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
                rotated_instance(c, node, o);
            } else {
                facet_gfx12_checker_push_children(c, node, &step.path, &stack);
            }
        }
    }
    free(stack.items);
    return ok;
}

static void check_oriented(struct facet_checker *c,
                           const struct facet_gfx12_box *box,
                           const struct facet_gfx12_link *link,
                           const struct facet_gfx12_extent *covered,
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

void facet_gfx12_checker_promises(struct facet_checker *c,
                                  const struct facet_gfx12_child *child,
                                  unsigned slot,
                                  const struct facet_checked *b,
                                  bool placed,
                                  uint64_t at)
{
    unsigned broken = child->cull_flags & ~(unsigned)b->promises;
    unsigned missing = b->mask & ~(unsigned)child->cull_mask;

    if (broken != 0 && !b->has_instance && !placed) {
        c->leaks = true; /* judged for each primitive */
    } else if (broken != 0) {
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

static void report_placed(struct facet_checker *c,
                          unsigned slot,
                          const struct facet_gfx12_extent *box,
                          const struct facet_checked *b,
                          uint64_t at)
{
    const int axis = outside_axis(box, b);

    if (axis >= 0) {
        facet_gfx12_checker_report(c,
                                   12,
                                   at,
                                   "child %u: %c from %.9g to %.9g does not contain %.9g to %.9g",
                                   slot,
                                   "xyz"[axis],
                                   (double)box -> lo[axis],
                                   (double)box -> hi[axis],
                                   (double)b -> lo[axis],
                                   (double)b -> hi[axis]);
    }
}

/* V44. The box of an instance that was scaled down after its box was made. A tenth of its width and
 * two steps of the grid are more than any way to bound it wastes. */
static void check_waste(struct facet_checker *c,
                        const struct facet_gfx12_box *box,
                        unsigned slot,
                        const struct facet_gfx12_extent *covered,
                        const struct facet_checked *b,
                        uint64_t at)
{
    double largest = 0.0;

    for (int k = 0; k < 3; k++) {
        largest = fmax(largest, fmax(fabs((double)b->lo[k]), fabs((double)b->hi[k])));
    }
    for (int k = 0; k < 3; k++) {
        const double width = (double)b->hi[k] - (double)b->lo[k];
        const double box_width = (double)covered->hi[k] - (double)covered->lo[k];
        const double step = ldexp(1.0, (int)box->exponent[k] - 139);
        /* Placed boxes are grown by a part of the largest coordinate of all axes (R-G12-57). */
        const double slack = 4 * FACET_PLACED_SLACK * largest;

        if (box_width > 1.1 * width + 4 * step + slack) {
            facet_gfx12_checker_report(c,
                                       44,
                                       at,
                                       "child %u: %c has the width %.6g, the placed BLAS %.6g",
                                       slot,
                                       "xyz"[k],
                                       box_width,
                                       width);
            return;
        }
    }
}

/* V52. The exponent is that of the width from the origin to the far side of everything below. An
 * encoder may round outward a few times, and refit from boxes that were rounded before; so twice
 * the width, and 1/64 of it, is what no encoder needs. */
static void check_loose(struct facet_checker *c,
                        const struct facet_gfx12_box *box,
                        const struct facet_checked *below,
                        uint64_t at)
{
    for (int k = 0; k < 3; k++) {
        const double origin = (double)facet_float_of(box->origin[k]);
        const double width = (double)below->hi[k] - origin;
        const double reach = ldexp(1.0, (int)box->exponent[k] - 127);

        if (box->exponent[k] > 13 && box->exponent[k] < 255 && width >= 0 &&
            reach >= 2 * width * (1 + 0x1p-6)) {
            facet_gfx12_checker_report(c,
                                       52,
                                       at + 24 + (unsigned)k,
                                       "exponent_%c is %u, a grid %.6g wide; what lies below "
                                       "reaches from %.9g to %.9g",
                                       "xyz"[k],
                                       box -> exponent[k],
                                       reach,
                                       origin,
                                       (double)below -> hi[k]);
        }
    }
}

void facet_gfx12_checker_box_tree(struct facet_checker *c, uint32_t node)
{
    struct facet_checked *own = &c->below[node];
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);
    struct facet_gfx12_box box;
    unsigned first = 0;
    bool whole; /* all that is below is known, in the space of the boxes */

    facet_gfx12_checker_nothing(own);
    facet_gfx12_box_decode(facet_gfx12_node_bytes(c->view, node), &box);
    whole = count != 0 && !facet_gfx12_checker_oriented(&box);
    while (first < count) {
        const uint64_t at =
            facet_gfx12_checker_offset(node) + 32 + 12 * (uint64_t)links[first].slot;
        struct facet_gfx12_extent covered;
        struct facet_checked b;
        unsigned end = first + 1;
        bool known = false;

        while (end < count && links[end].id == links[first].id) {
            end++;
        }
        covered = union_of_run(&box, links, first, end);
        if (facet_gfx12_checker_below(
                c, &links[first], facet_gfx12_checker_oriented(&box) ? NULL : &covered, &b)) {
            for (unsigned i = first; i < end; i++) {
                facet_gfx12_checker_promises(c,
                                             &box.child[links[i].slot],
                                             links[i].slot,
                                             &b,
                                             false,
                                             at + 12 * (uint64_t)(i - first));
            }
            if (!c->options->moving &&
                facet_gfx12_id_kind(links[first].id) == FACET_GFX12_KIND_INSTANCE &&
                facet_gfx12_checker_has_geometry(&b) && !facet_gfx12_checker_oriented(&box)) {
                check_waste(c, &box, links[first].slot, &covered, &b, at);
            }
            c->leaks = c->leaks || b.apart != 0;
            if (facet_gfx12_checker_has_geometry(&b) && facet_gfx12_checker_oriented(&box)) {
                check_oriented(c, &box, &links[first], &covered, b.has_instance != 0, at);
            } else if (facet_gfx12_checker_has_geometry(&b) &&
                       !held_by_run(&box, links, first, end, &b)) {
                if (b.has_instance != 0) {
                    facet_gfx12_checker_tighten(c, &links[first], &b);
                    report_placed(c, links[first].slot, &covered, &b, at);
                } else {
                    c->leaks = true;
                    cut_to(&b, &covered);
                }
            }
            known = facet_gfx12_checker_has_geometry(&b);
            facet_gfx12_checker_join(own, &b);
        }
        whole = whole && known;
        first = end;
    }
    if (whole && own->has_instance == 0) { /* an instance of nothing has a box, too */
        check_loose(c, &box, own, facet_gfx12_checker_offset(node));
    }
    own->done = 1;
}
