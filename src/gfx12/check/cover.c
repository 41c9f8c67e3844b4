/* A cell is a box that starts as the bounds of the triangle. A cell inside a box is covered; one
 * that the triangle does not come into does not matter; one without boxes is a hole; any other is
 * cut in two along a side of a box that passes through it. The only question about the triangle is
 * therefore whether it meets a cell, and that is thirteen signs of polynomials in binary32 numbers
 * (separating axes), which sums of doubles without rounding errors answer (J. R. Shewchuk's
 * expansions). */
#include "gfx12/check/cover.h"

#include <math.h>
#include <string.h>

/* ---- boxes ---- */

struct facet_gfx12_extent facet_gfx12_extent_all(void)
{
    return (struct facet_gfx12_extent){{-INFINITY, -INFINITY, -INFINITY},
                                       {INFINITY, INFINITY, INFINITY}};
}

bool facet_gfx12_extent_empty(const struct facet_gfx12_extent *a)
{
    return !(a->lo[0] <= a->hi[0] && a->lo[1] <= a->hi[1] && a->lo[2] <= a->hi[2]);
}

struct facet_gfx12_extent facet_gfx12_extent_common(const struct facet_gfx12_extent *a,
                                                    const struct facet_gfx12_extent *b)
{
    struct facet_gfx12_extent out;

    for (int k = 0; k < 3; k++) {
        out.lo[k] = a->lo[k] > b->lo[k] ? a->lo[k] : b->lo[k];
        out.hi[k] = a->hi[k] < b->hi[k] ? a->hi[k] : b->hi[k];
    }
    return out;
}

bool facet_gfx12_extent_holds(const struct facet_gfx12_extent *outer,
                              const struct facet_gfx12_extent *inner)
{
    for (int k = 0; k < 3; k++) {
        if (!(outer->lo[k] <= inner->lo[k] && inner->hi[k] <= outer->hi[k])) {
            return false;
        }
    }
    return true;
}

/* ---- exact sums ----
 *
 * A number is the sum of `count` doubles, in order of rising size and without common bits, zeros
 * left out: its sign is that of the last. */

#define MOST_TERMS 256 /* of three products of three differences: 192 */

struct sum {
    unsigned count;
    double term[MOST_TERMS];
};

static double two_sum(double a, double b, double *error)
{
    double s = a + b, part = s - a;

    *error = (a - (s - part)) + (b - part);
    return s;
}

static double two_product(double a, double b, double *error)
{
    const double splitter = 134217729.0; /* 2^27 + 1 */
    double p = a * b;
    double ca = splitter * a, cb = splitter * b;
    double ah = ca - (ca - a), bh = cb - (cb - b);
    double al = a - ah, bl = b - bh;

    *error = al * bl - (((p - ah * bh) - al * bh) - ah * bl);
    return p;
}

static void sum_add(struct sum *s, double value)
{
    unsigned used = 0;

    for (unsigned i = 0; i < s->count; i++) {
        double error;

        value = two_sum(value, s->term[i], &error);
        if (error != 0) {
            s->term[used++] = error;
        }
    }
    if (value != 0) {
        s->term[used++] = value;
    }
    s->count = used;
}

/* s += sign * a * b */
static void sum_add_product(struct sum *s, const struct sum *a, const struct sum *b, double sign)
{
    for (unsigned i = 0; i < a->count; i++) {
        for (unsigned j = 0; j < b->count; j++) {
            double error, p = two_product(sign * a->term[i], b->term[j], &error);

            sum_add(s, error);
            sum_add(s, p);
        }
    }
}

static void sum_difference(struct sum *s, float a, float b)
{
    s->count = 0;
    sum_add(s, -(double)b);
    sum_add(s, (double)a);
}

static int sign_of(double value)
{
    return (value > 0) - (value < 0);
}

static int sum_sign(const struct sum *s)
{
    return s->count == 0 ? 0 : sign_of(s->term[s->count - 1]);
}

/* ---- signs ---- */

/* Of (q - p) x (r - p) in the plane of axes i and j. The rounded value decides where it is larger
 * than its error, which is below four roundings. */
static int side_of_line(const float p[3], const float q[3], const float r[3], int i, int j)
{
    const double a = (double)q[i] - (double)p[i], b = (double)r[j] - (double)p[j];
    const double c = (double)q[j] - (double)p[j], d = (double)r[i] - (double)p[i];
    const double value = a * b - c * d;
    struct sum x, y, all = {0};

    if (fabs(value) > 1e-15 * (fabs(a * b) + fabs(c * d))) {
        return sign_of(value);
    }
    sum_difference(&x, q[i], p[i]);
    sum_difference(&y, r[j], p[j]);
    sum_add_product(&all, &x, &y, 1);
    sum_difference(&x, q[j], p[j]);
    sum_difference(&y, r[i], p[i]);
    sum_add_product(&all, &x, &y, -1);
    return sum_sign(&all);
}

static int exact_side_of_plane(const float t[3][3], const float p[3])
{
    struct sum all = {0};

    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        struct sum minor = {0}, x, y;

        sum_difference(&x, t[1][i], t[0][i]);
        sum_difference(&y, t[2][j], t[0][j]);
        sum_add_product(&minor, &x, &y, 1);
        sum_difference(&x, t[1][j], t[0][j]);
        sum_difference(&y, t[2][i], t[0][i]);
        sum_add_product(&minor, &x, &y, -1);
        sum_difference(&x, p[k], t[0][k]);
        sum_add_product(&all, &minor, &x, 1);
    }
    return sum_sign(&all);
}

/* Of the point, seen from the plane of the triangle. */
static int side_of_plane(const float t[3][3], const float p[3])
{
    double value = 0, size = 0;

    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double a = ((double)t[1][i] - (double)t[0][i]) * ((double)t[2][j] - (double)t[0][j]);
        const double b = ((double)t[1][j] - (double)t[0][j]) * ((double)t[2][i] - (double)t[0][i]);
        const double d = (double)p[k] - (double)t[0][k];

        value += (a - b) * d;
        size += (fabs(a) + fabs(b)) * fabs(d);
    }
    return fabs(value) > 4e-15 * size ? sign_of(value) : exact_side_of_plane(t, p);
}

/* ---- triangle and box ---- */

/* Projections onto a line: the box has signs least..most of its corners seen from a line or plane
 * that the triangle touches, the triangle lies at `other` or on it. */
static bool apart(int least, int most, int other)
{
    return (least != 0 || most != 0) && ((most <= 0 && other >= 0) || (least >= 0 && other <= 0));
}

static bool apart_along_axis(const float t[3][3], const struct facet_gfx12_extent *box, int k)
{
    const float least = fminf(t[0][k], fminf(t[1][k], t[2][k]));
    const float most = fmaxf(t[0][k], fmaxf(t[1][k], t[2][k]));

    return box->lo[k] < box->hi[k] ? most <= box->lo[k] || least >= box->hi[k]
                                   : most < box->lo[k] || least > box->hi[k];
}

static void corner_of(const struct facet_gfx12_extent *box, unsigned number, float out[3])
{
    for (unsigned k = 0; k < 3; k++) {
        out[k] = (number >> k & 1) != 0 ? box->hi[k] : box->lo[k];
    }
}

/* Seen along axis k, does an edge's line have the triangle on one side and the box on the other? */
static bool
apart_along_edge(const float t[3][3], const struct facet_gfx12_extent *box, int k, int edge)
{
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const float *p = t[edge], *q = t[(edge + 1) % 3];
    const int other = side_of_line(p, q, t[(edge + 2) % 3], i, j);
    int least = 1, most = -1;

    for (unsigned c = 0; c < 4; c++) {
        float corner[3] = {0, 0, 0};
        int side;

        corner[i] = (c & 1) != 0 ? box->hi[i] : box->lo[i];
        corner[j] = (c & 2) != 0 ? box->hi[j] : box->lo[j];
        side = side_of_line(p, q, corner, i, j);
        least = side < least ? side : least;
        most = side > most ? side : most;
    }
    return apart(least, most, other);
}

static bool apart_along_normal(const float t[3][3], const struct facet_gfx12_extent *box)
{
    int least = 1, most = -1;

    for (unsigned c = 0; c < 8 && !(least < 0 && most > 0); c++) {
        float corner[3];
        int side;

        corner_of(box, c, corner);
        side = side_of_plane(t, corner);
        least = side < least ? side : least;
        most = side > most ? side : most;
    }
    return apart(least, most, 0);
}

bool facet_gfx12_triangle_meets(const float triangle[3][3], const struct facet_gfx12_extent *box)
{
    for (int k = 0; k < 3; k++) {
        if (apart_along_axis(triangle, box, k)) {
            return false;
        }
    }
    for (int k = 0; k < 3; k++) {
        for (int edge = 0; edge < 3; edge++) {
            if (apart_along_edge(triangle, box, k, edge)) {
                return false;
            }
        }
    }
    return !apart_along_normal(triangle, box);
}

/* ---- cells ---- */

#define MOST_CUTS 400 /* depth of the recursion */

struct cells {
    const float (*triangle)[3];
    size_t *budget;
    struct facet_gfx12_extent *hole;
};

/* More than a touch, as above. */
static bool overlap(const struct facet_gfx12_extent *cell, const struct facet_gfx12_extent *box)
{
    for (int k = 0; k < 3; k++) {
        if (cell->lo[k] < cell->hi[k] ? !(box->lo[k] < cell->hi[k] && box->hi[k] > cell->lo[k])
                                      : !(box->lo[k] <= cell->lo[k] && box->hi[k] >= cell->hi[k])) {
            return false;
        }
    }
    return true;
}

/* Boxes that matter to the cell come first; returns how many. */
static size_t
gather(struct facet_gfx12_extent *boxes, size_t count, const struct facet_gfx12_extent *cell)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (overlap(cell, &boxes[i])) {
            const struct facet_gfx12_extent swap = boxes[used];

            boxes[used++] = boxes[i];
            boxes[i] = swap;
        }
    }
    return used;
}

struct cut {
    int axis;
    float at;
};

/* A side of a box that passes through the cell, near the middle of all of them: the cells then get
 * few boxes soon. Some box overlaps the cell without holding it, so there is one. */
static struct cut choose_cut(const struct facet_gfx12_extent *boxes,
                             size_t count,
                             const struct facet_gfx12_extent *cell)
{
    const size_t stride = count / 16 + 1;
    struct cut best = {0, 0};
    double least = INFINITY;

    for (size_t i = 0; i < count; i += stride) {
        for (int side = 0; side < 6; side++) {
            const int k = side % 3;
            const float at = side < 3 ? boxes[i].lo[k] : boxes[i].hi[k];
            size_t below = 0, above = 0;

            if (!(at > cell->lo[k] && at < cell->hi[k])) {
                continue;
            }
            for (size_t j = 0; j < count; j += stride) {
                below += boxes[j].lo[k] < at;
                above += boxes[j].hi[k] > at;
            }
            if ((double)(below > above ? below : above) < least) {
                least = (double)(below > above ? below : above);
                best = (struct cut){k, at};
            }
        }
    }
    return best;
}

static enum facet_gfx12_cover cover_cell(const struct cells *c,
                                         const struct facet_gfx12_extent *cell,
                                         struct facet_gfx12_extent *boxes,
                                         size_t count,
                                         unsigned cuts)
{
    struct facet_gfx12_extent half;
    enum facet_gfx12_cover result;
    struct cut cut;

    if (*c->budget == 0 || cuts == 0) {
        return FACET_GFX12_UNDECIDED;
    }
    --*c->budget;
    count = gather(boxes, count, cell);
    for (size_t i = 0; i < count; i++) {
        if (facet_gfx12_extent_holds(&boxes[i], cell)) {
            return FACET_GFX12_COVERED;
        }
    }
    if (c->triangle != NULL && !facet_gfx12_triangle_meets(c->triangle, cell)) {
        return FACET_GFX12_COVERED;
    }
    if (count == 0) {
        *c->hole = *cell;
        return FACET_GFX12_HOLE;
    }
    cut = choose_cut(boxes, count, cell);
    half = *cell;
    half.hi[cut.axis] = cut.at;
    result = cover_cell(c, &half, boxes, count, cuts - 1);
    if (result == FACET_GFX12_COVERED) {
        half = *cell;
        half.lo[cut.axis] = cut.at;
        result = cover_cell(c, &half, boxes, count, cuts - 1);
    }
    return result;
}

enum facet_gfx12_cover facet_gfx12_covered(const float (*triangle)[3],
                                           const struct facet_gfx12_extent *whole,
                                           struct facet_gfx12_extent *boxes,
                                           size_t count,
                                           size_t *budget,
                                           struct facet_gfx12_extent *hole)
{
    const struct cells c = {triangle, budget, hole};

    return facet_gfx12_extent_empty(whole) ? FACET_GFX12_COVERED
                                           : cover_cell(&c, whole, boxes, count, MOST_CUTS);
}

/* ---- rounded parts of a triangle ---- */

/* Keeps the side of the polygon where sign * x[axis] <= sign * at. */
static unsigned keep_side(double (*points)[3], unsigned count, int axis, double at, double sign)
{
    double out[FACET_GFX12_CLIP_POINTS][3];
    unsigned used = 0;

    for (unsigned i = 0; i < count; i++) {
        const double *p = points[i], *q = points[(i + 1) % count];
        const double dp = sign * (p[axis] - at), dq = sign * (q[axis] - at);

        if (dp <= 0 && used < FACET_GFX12_CLIP_POINTS) {
            memcpy(out[used++], p, sizeof *out);
        }
        if ((dp < 0) != (dq < 0) && dp != 0 && dq != 0 && used < FACET_GFX12_CLIP_POINTS) {
            const double f = dp / (dp - dq);

            for (int k = 0; k < 3; k++) {
                out[used][k] = k == axis ? at : p[k] + f * (q[k] - p[k]);
            }
            used++;
        }
    }
    memcpy(points, out, used * sizeof *out);
    return used;
}

unsigned facet_gfx12_clip(const float triangle[3][3],
                          const struct facet_gfx12_extent *box,
                          double points[FACET_GFX12_CLIP_POINTS][3])
{
    unsigned count = 3;

    for (int v = 0; v < 3; v++) {
        for (int k = 0; k < 3; k++) {
            points[v][k] = (double)triangle[v][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        count = keep_side(points, count, k, (double)box->hi[k], 1);
        count = keep_side(points, count, k, (double)box->lo[k], -1);
    }
    return count;
}

bool facet_gfx12_clipped_bounds(const float triangle[3][3],
                                const struct facet_gfx12_extent *box,
                                double lo[3],
                                double hi[3])
{
    double points[FACET_GFX12_CLIP_POINTS][3];
    unsigned count = facet_gfx12_clip(triangle, box, points);

    for (int k = 0; k < 3; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
        for (unsigned i = 0; i < count; i++) {
            lo[k] = fmin(lo[k], points[i][k]);
            hi[k] = fmax(hi[k], points[i][k]);
        }
    }
    return count != 0;
}
