/* Who is to blame: see why.h and R-G12-90. Distances are formed in double precision; they explain
 * a decision, they do not make one. */
#include "base/float.h"
#include "gfx12/ask/bounds.h"
#include "gfx12/ask/why_state.h"

#include <math.h>
#include <string.h>

const char *facet_gfx12_fault_name(enum facet_gfx12_fault fault)
{
    static const char *const names[FACET_GFX12_FAULT_COUNT] = {
        "none", "nearer", "box", "rounding", "ray", "flags", "mask", "transform", "range", "lost"};

    return names[fault];
}

void facet_gfx12_why_corners(const struct facet_gfx12_steps *steps,
                             unsigned k,
                             const uint8_t node[128],
                             struct facet_gfx12_why *why)
{
    struct facet_gfx12_prim prim;

    why->corner_count = why->procedural ? 2 : 3; /* two opposite ones of a box */
    if (why->procedural) {
        facet_gfx12_prim_decode(node, &prim);
    }
    for (unsigned c = 0; c < why->corner_count; c++) {
        for (unsigned axis = 0; axis < 3; axis++) {
            const uint32_t bits =
                why->procedural ? prim.aabb[3 * c + axis] : steps->pair.vertex[k][c][axis];

            why->corners[c][axis] = (double)facet_float_of(bits);
        }
    }
    for (unsigned c = 2; why->procedural && c < 8; c++) {
        for (unsigned axis = 0; axis < 3; axis++) {
            why->corners[c][axis] = why->corners[(c - 1) >> axis & 1][axis];
        }
        why->corner_count = 8;
    }
}

/* ---- distances ---- */

static double ulp_of(float value)
{
    float size = fabsf(value);

    return isfinite(size) ? (double)nextafterf(size, INFINITY) - (double)size : NAN;
}

/* How far [low, high] reaches out of a box on its worst axis, in steps of the grid. Without
 * `whole` it only has to touch the box. */
static struct facet_gfx12_excess excess_of(const struct facet_gfx12_why_step *box,
                                           const double low[3],
                                           const double high[3],
                                           bool whole)
{
    struct facet_gfx12_excess worst = {.amount = 0.0};

    for (unsigned k = 0; k < 3; k++) {
        const double under = (double)box->lo[k] - (whole ? low[k] : high[k]);
        const double over = (whole ? high[k] : low[k]) - (double)box->hi[k];
        const bool below = under > over;
        const double amount = below ? under : over;
        const double unit =
            box->step[k] > 0.0 ? box->step[k] : ulp_of(below ? box->lo[k] : box->hi[k]);

        if (amount > 0.0 && (!worst.known || amount / unit > worst.steps)) {
            worst = (struct facet_gfx12_excess){
                .known = true,
                .axis = k,
                .below = below,
                .amount = amount,
                .steps = amount / unit,
                .ulps = amount / ulp_of(below ? box->lo[k] : box->hi[k]),
            };
        }
    }
    return worst;
}

/* The largest coordinate that was rounded on the way to a point of the ray. */
static double rounding_of(const struct facet_gfx12_why_step *step, unsigned axis, float t)
{
    return 0x1p-21 *
           (fabs((double)step->origin[axis]) + fabs((double)t * (double)step->direction[axis]));
}

static void measure_hit_point(struct facet_gfx12_why *why)
{
    const struct facet_gfx12_why_step *box = &why->path[why->rejected];
    double point[3];

    for (unsigned k = 0; k < 3; k++) {
        point[k] = (double)box->origin[k] + (double)why->t * (double)box->direction[k];
    }
    why->hit_point = excess_of(box, point, point, true);
    why->hit_point.at = why->rejected;
}

/* ---- the triangle and the boxes above it ---- */

static void rotate(unsigned obb, double points[8][3], unsigned count)
{
    uint32_t bits[9];

    if (!facet_gfx12_obb_matrix(obb, bits)) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        double from[3];

        memcpy(from, points[i], sizeof from);
        for (unsigned r = 0; r < 3; r++) {
            points[i][r] = 0.0;
            for (unsigned c = 0; c < 3; c++) {
                points[i][r] += (double)facet_float_of(bits[3 * r + c]) * from[c];
            }
        }
    }
}

/* Object space to the space of the instance; false for a matrix that has no inverse. */
static bool leave_instance(const float to_object[3][4], double points[8][3], unsigned count)
{
    double m[3][4];

    if (!facet_gfx12_object_to_world(to_object, m)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        double from[3];

        memcpy(from, points[i], sizeof from);
        for (unsigned r = 0; r < 3; r++) {
            points[i][r] = m[r][0] * from[0] + m[r][1] * from[1] + m[r][2] * from[2] + m[r][3];
        }
    }
    return true;
}

static void bounds_of(double points[8][3], unsigned count, double low[3], double high[3])
{
    for (unsigned k = 0; k < 3; k++) {
        low[k] = high[k] = points[0][k];
        for (unsigned i = 1; i < count; i++) {
            low[k] = fmin(low[k], points[i][k]);
            high[k] = fmax(high[k], points[i][k]);
        }
    }
}

/* The box of the path that the triangle leaves furthest. Where several paths lead to it, a box may
 * hold a part of it only and must at least touch it. */
static void measure_corners(struct facet_gfx12_why *why)
{
    double points[8][3];
    bool exact = true; /* no arithmetic between the stored corners and the stored box */

    memcpy(points, why->corners, sizeof points);
    for (unsigned i = why->count - 1; i-- > 0;) {
        struct facet_gfx12_why_step *step = &why->path[i];
        struct facet_gfx12_excess excess;
        double turned[8][3], low[3], high[3], slack;

        memcpy(turned, points, sizeof turned);
        rotate(step->obb, turned, why->corner_count);
        bounds_of(turned, why->corner_count, low, high);
        excess = excess_of(step, low, high, why->paths == 1 && step->shared == 0);
        excess.at = i;
        slack = exact && step->obb == FACET_GFX12_OBB_NONE
                    ? 0.0
                    : 1e-5 * fmax(fabs(low[excess.axis]), fabs(high[excess.axis])) +
                          0.01 * step->step[excess.axis];
        if (excess.known && step->shared == 0 && excess.amount > slack &&
            (!why->corner.known || excess.steps > why->corner.steps)) {
            why->corner = excess;
        }
        if (step->kind == FACET_GFX12_KIND_INSTANCE) {
            exact = false;
            if (!leave_instance(step->to_object, points, why->corner_count)) {
                return;
            }
        }
    }
}

/* An instance lies between the box that the triangle leaves and the triangle. */
static bool moved_out(const struct facet_gfx12_why *why)
{
    for (unsigned i = why->corner.at; why->corner.known && i < why->count; i++) {
        if (why->path[i].kind == FACET_GFX12_KIND_INSTANCE && i > why->corner.at) {
            return true;
        }
    }
    return false;
}

/* ---- the verdict ---- */

static enum facet_gfx12_fault box_fault(struct facet_gfx12_why *why)
{
    const struct facet_gfx12_why_step *box = &why->path[why->rejected];

    measure_hit_point(why);
    return why->hit_point.known &&
                   why->hit_point.amount > rounding_of(box, why->hit_point.axis, why->t)
               ? FACET_GFX12_FAULT_BOX
               : FACET_GFX12_FAULT_ROUNDING;
}

/* A box above an instance promises its mask; one whose mask is narrower is to blame itself. */
static bool instance_is_masked(const struct facet_gfx12_why *why, uint32_t mask)
{
    for (unsigned i = 0; i < why->count; i++) {
        if (why->path[i].kind == FACET_GFX12_KIND_INSTANCE &&
            (why->path[i].cull_mask & mask) == 0) {
            return true;
        }
    }
    return false;
}

/* The image is to blame where it keeps a triangle from a ray that the bits of the triangle and of
 * its instance would let through. */
static enum facet_gfx12_fault cull_fault(struct facet_gfx12_why *why, uint32_t mask)
{
    const struct facet_gfx12_why_step *step = &why->path[why->rejected];

    if ((step->cull & FACET_GFX12_CULL_MASK) != 0) {
        why->own_flags = mask != 0 && !instance_is_masked(why, mask);
        return FACET_GFX12_FAULT_MASK;
    }
    why->own_flags = step->kind != FACET_GFX12_KIND_PRIMITIVE && why->cull == 0;
    return FACET_GFX12_FAULT_FLAGS;
}

/* A box that begins behind the triangle in it: the ray, once it has been shortened by the hit that
 * it reports, no longer reaches the box. */
static bool shut_out(const struct facet_gfx12_query *query, struct facet_gfx12_why *why)
{
    if (!why->hit.found || !(why->t < why->hit.t) ||
        (query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0) {
        return false;
    }
    for (unsigned i = 0; i + 1 < why->count; i++) {
        struct facet_gfx12_slab *slab = &why->path[i].slab;

        if (slab->min_t > why->hit.t) {
            why->path[i].reject = FACET_GFX12_REJECT_BOX;
            slab->max_t = slab->limit = why->hit.t;
            slab->hit = false;
            why->rejected = i;
            return true;
        }
    }
    return false;
}

static enum facet_gfx12_fault fault_of(const struct facet_gfx12_query *query,
                                       struct facet_gfx12_why *why)
{
    const struct facet_gfx12_why_step *step;

    if (why->rejected == why->count && !shut_out(query, why)) {
        return FACET_GFX12_FAULT_NEARER;
    }
    step = &why->path[why->rejected];
    switch ((enum facet_gfx12_reject)step->reject) {
    case FACET_GFX12_REJECT_RANGE:
        return FACET_GFX12_FAULT_RANGE;
    case FACET_GFX12_REJECT_CULL:
        return cull_fault(why, query->instance_mask);
    case FACET_GFX12_REJECT_BOX:
        why->gap_t = (double)step->slab.min_t - (double)step->slab.limit;
        if (why->met) {
            return box_fault(why);
        }
        break;
    default:
        break;
    }
    if (why->miss != NULL && moved_out(why)) {
        return FACET_GFX12_FAULT_TRANSFORM;
    }
    return why->miss == NULL && why->cull != 0 ? FACET_GFX12_FAULT_FLAGS : FACET_GFX12_FAULT_RAY;
}

void facet_gfx12_why_judge(const struct facet_gfx12_query *query,
                           const struct facet_gfx12_expect *expect,
                           struct facet_gfx12_why *why)
{
    if (!why->found) {
        return;
    }
    measure_corners(why);
    why->fault =
        facet_gfx12_is_expected(&why->hit, expect) ? FACET_GFX12_FAULT_NONE : fault_of(query, why);
}
