/* From three vertices to edge functions and attribute planes (tile-semantics.md 16.2 to 16.4).
 * Edges are exact integers in 1/65536 square pixels; everything else is one FP32 operation after
 * the other, in the order of the contract. */
#include "base/float.h"
#include "raster/internal.h"

#include <math.h>

int32_t facet_raster_floor(float x)
{
    const float f = floorf(x);

    if (!(f >= -0x1p31f)) {
        return f < 0 ? INT32_MIN : 0; /* NaN gives 0 */
    }
    return f >= 0x1p31f ? INT32_MAX : (int32_t)f;
}

/* Nearest, ties to even, for |x| < 2^31: in this binade of binary64 the last place is 1. */
static int32_t nearest(float x)
{
    const double shifted = (double)x + 0x1.8p52;

    return (int32_t)(shifted - 0x1.8p52);
}

void facet_raster_snap(struct raster_vertex *v, float x, float y)
{
    /* Scaling by 256 is exact unless it overflows, and then the position is far out anyway. */
    const float sx = x * 256.0f, sy = y * 256.0f;

    v->x = v->y = 0;
    v->outside = !(fabsf(sx) <= 0x1p23f && fabsf(sy) <= 0x1p23f);
    if (!v->outside) {
        v->x = nearest(sx);
        v->y = nearest(sy);
        v->outside = v->x > SNAPPED_MAX || v->y > SNAPPED_MAX;
    }
}

static inline int32_t min3(int32_t a, int32_t b, int32_t c)
{
    const int32_t m = a < b ? a : b;

    return m < c ? m : c;
}

static inline int32_t max3(int32_t a, int32_t b, int32_t c)
{
    const int32_t m = a > b ? a : b;

    return m > c ? m : c;
}

/* Pixels whose centres lie between the extreme vertices, inside the clip rectangle. */
static bool bounds(const struct raster_box *clip,
                   const struct raster_vertex *a,
                   const struct raster_vertex *b,
                   const struct raster_vertex *c,
                   struct raster_triangle *out)
{
    const int32_t left = min3(a->x, b->x, c->x), right = max3(a->x, b->x, c->x);
    const int32_t top = min3(a->y, b->y, c->y), bottom = max3(a->y, b->y, c->y);
    const int32_t x0 = (left + 127) >> 8, x1 = ((right - 128) >> 8) + 1;
    const int32_t y0 = (top + 127) >> 8, y1 = ((bottom - 128) >> 8) + 1;

    out->narrow = right - left <= NARROW && bottom - top <= NARROW;
    out->box.x0 = x0 > clip->x0 ? x0 : clip->x0;
    out->box.y0 = y0 > clip->y0 ? y0 : clip->y0;
    out->box.x1 = x1 < clip->x1 ? x1 : clip->x1;
    out->box.y1 = y1 < clip->y1 ? y1 : clip->y1;
    return out->box.x0 < out->box.x1 && out->box.y0 < out->box.y1;
}

static void edge(struct raster_triangle *t,
                 unsigned i,
                 const struct raster_vertex *a,
                 const struct raster_vertex *b)
{
    const int64_t ex = (int64_t)b->x - a->x, ey = (int64_t)b->y - a->y;
    const int64_t px = 256 * (int64_t)t->box.x0 + 128, py = 256 * (int64_t)t->box.y0 + 128;

    t->e[i] = ex * (py - a->y) - ey * (px - a->x);
    t->dx[i] = -256 * ey;
    t->dy[i] = 256 * ex;
    t->bias[i] = ey < 0 || (ey == 0 && ex > 0) ? 0 : -1;
}

static inline struct raster_plane plane(float a0, float a1, float a2)
{
    return (struct raster_plane){a0, a1 - a0, a2 - a0};
}

static inline bool usable_w(float w)
{
    return w > 0 && w <= 0x1.fffffep127f;
}

/* True when interpolation gives every pixel the colour of vertex 0. The weights must be finite: p_i
 * = e_i / w_i cannot overflow while 1/w_i <= 2^70, since e_i < 2^50; their sum is not 0, since some
 * e_i >= 1 and 1/w_i >= 2^-128. Then fma(b, 0, a) = a. */
static bool constant_color(const struct raster_triangle *t,
                           const struct raster_vertex *a,
                           const struct raster_vertex *b,
                           const struct raster_vertex *c)
{
    for (unsigned i = 0; i < 4; i++) {
        const float x = a->color[i];

        if (!(x == b->color[i] && x == c->color[i] && x >= 0 && x <= 255)) {
            return false;
        }
    }
    return !t->perspective || (t->q[0] <= 0x1p70f && t->q[1] <= 0x1p70f && t->q[2] <= 0x1p70f);
}

static void colors(struct raster_triangle *t,
                   const struct raster_shade *shade,
                   const struct raster_vertex *a,
                   const struct raster_vertex *b,
                   const struct raster_vertex *c)
{
    t->solid = true;
    if (shade->solid) {
        t->color = shade->color;
    } else if (constant_color(t, a, b, c)) {
        t->color = raster_u8(a->color[3]) << 24 | raster_u8(a->color[0]) << 16 |
                   raster_u8(a->color[1]) << 8 | raster_u8(a->color[2]);
    } else {
        t->solid = false;
        for (unsigned i = 0; i < 4; i++) {
            t->rgba[i] = plane(a->color[i], b->color[i], c->color[i]);
        }
    }
}

enum raster_setup facet_raster_setup(const struct raster_pipe *pipe,
                                     const struct raster_shade *shade,
                                     const struct raster_vertex *const vertex[3],
                                     struct raster_triangle *out)
{
    const struct raster_vertex *a = vertex[0], *b = vertex[1], *c = vertex[2];
    int64_t a2;

    tell_triangle(pipe->unit);
    if (a->outside || b->outside || c->outside) {
        return SETUP_RANGE;
    }
    a2 = ((int64_t)b->x - a->x) * ((int64_t)c->y - a->y) -
         ((int64_t)c->x - a->x) * ((int64_t)b->y - a->y);
    if (a2 == 0) {
        return SETUP_DEGENERATE;
    }
    if ((shade->cull == FACET_TILE_GSTATE_CULL_CW && a2 > 0) ||
        (shade->cull == FACET_TILE_GSTATE_CULL_CCW && a2 < 0)) {
        return SETUP_CULLED;
    }
    if (a2 < 0) {
        const struct raster_vertex *other = b;

        b = c;
        c = other;
        a2 = -a2;
    }
    out->perspective = !shade->affine && !(facet_float_bits(a->w) == facet_float_bits(b->w) &&
                                           facet_float_bits(a->w) == facet_float_bits(c->w));
    if (out->perspective && !(usable_w(a->w) && usable_w(b->w) && usable_w(c->w))) {
        return SETUP_RANGE;
    }
    if (!bounds(&pipe->clip, a, b, c, out)) {
        return SETUP_MISSED;
    }
    out->a2 = a2;
    out->inv_a2 = 1.0f / (float)a2;
    edge(out, 0, b, c);
    edge(out, 1, c, a);
    edge(out, 2, a, b);
    if (out->perspective) {
        out->q[0] = 1.0f / a->w;
        out->q[1] = 1.0f / b->w;
        out->q[2] = 1.0f / c->w;
    }
    out->z = plane(a->z, b->z, c->z);
    if (pipe->textured) {
        out->u = plane(a->u, b->u, c->u);
        out->v = plane(a->v, b->v, c->v);
    }
    colors(out, shade, a, b, c);
    return SETUP_DRAW;
}

static inline int64_t ceil_div(int64_t n, int64_t d)
{
    return (n + d - 1) / d; /* n > 0 */
}

void facet_raster_row(const struct raster_triangle *t, int32_t y, int32_t *x0, int32_t *x1)
{
    int64_t first = 0, end = t->box.x1 - t->box.x0; /* counted from box.x0 */

    for (unsigned i = 0; i < 3; i++) {
        const int64_t v = t->e[i] + t->dy[i] * (y - t->box.y0) + t->bias[i], dx = t->dx[i];

        if (v < 0) {
            const int64_t begin = dx > 0 ? ceil_div(-v, dx) : end;

            first = begin > first ? begin : first;
        } else if (dx < 0) {
            const int64_t stop = v / -dx + 1;

            end = stop < end ? stop : end;
        }
    }
    *x0 = t->box.x0 + (int32_t)(first < end ? first : end);
    *x1 = t->box.x0 + (int32_t)end;
}
