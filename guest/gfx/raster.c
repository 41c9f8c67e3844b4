/* Clipping, edges, coverage and depth. See rasteriser.h.
 *
 * Corners are snapped to 1/256 pixel and edges are exact integers with the top-left rule: triangles
 * that share an edge cover each pixel once, and no bucket sees another edge than its neighbour. */
#include "guest/gfx/rasteriser.h"

#include <string.h>

/* ---- clipping ---- */

/* The near plane, and a band so wide that what is cut off is far outside of every bucket: no pixel
 * sees the corners that clipping makes at the sides. */
#define GUARD 64.0F
/* Rounding may leave a polygon that is not convex: each plane adds up to half as many corners. */
enum { CLIP_PLANES = 5, MAX_CORNERS = 19 };

/* Not negative: inside. */
static float side_of(const struct facet_guest_gfx_vertex *v, unsigned plane)
{
    const float *c = v->clip;

    switch (plane) {
    case 0:
        return c[3] - c[2];
    case 1:
        return GUARD * c[3] - c[0];
    case 2:
        return GUARD * c[3] + c[0];
    case 3:
        return GUARD * c[3] - c[1];
    default:
        return GUARD * c[3] + c[1];
    }
}

/* Where the edge from a corner inside to one outside meets the plane. */
static void cut(const struct facet_guest_gfx_vertex *in,
                const struct facet_guest_gfx_vertex *outside,
                float inner,
                float outer,
                struct facet_guest_gfx_vertex *to)
{
    enum { FLOATS = sizeof *in / sizeof(float) };
    float a[FLOATS], b[FLOATS], s = inner / (inner - outer);

    memcpy(a, in, sizeof a);
    memcpy(b, outside, sizeof b);
    for (unsigned i = 0; i < FLOATS; i++) {
        a[i] += (b[i] - a[i]) * s;
    }
    memcpy(to, a, sizeof a);
}

static unsigned clip_plane(const struct facet_guest_gfx_vertex *from,
                           unsigned count,
                           unsigned plane,
                           struct facet_guest_gfx_vertex *to)
{
    unsigned made = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct facet_guest_gfx_vertex *a = &from[i], *b = &from[(i + 1) % count];
        float da = side_of(a, plane), db = side_of(b, plane);

        if (da >= 0.0F) {
            to[made++] = *a;
            if (!(db >= 0.0F)) {
                cut(a, b, da, db, &to[made++]);
            }
        } else if (db >= 0.0F) {
            cut(b, a, db, da, &to[made++]);
        }
    }
    return made;
}

static bool is_inside(const struct facet_guest_gfx_vertex corner[3])
{
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned plane = 0; plane < CLIP_PLANES; plane++) {
            if (!(side_of(&corner[i], plane) >= 0.0F)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the screen ---- */

struct edge {
    int64_t dx, dy, at; /* at: the value in the middle of the bucket's first pixel */
};

struct setup {
    struct edge edge[3]; /* edge k lies opposite of corner k */
    int64_t area;
    int32_t x0, y0, x1, y1; /* pixels of the bucket, the last ones included */
    float inverse_area;
    float z[3];
    struct facet_guest_gfx_patch patch;
};

static struct edge edge_of(const int64_t a[2], const int64_t b[2])
{
    struct edge e = {b[0] - a[0], b[1] - a[1], 0};
    bool top_left = e.dy < 0 || (e.dy == 0 && e.dx > 0);

    e.at = e.dx * (128 - a[1]) - e.dy * (128 - a[0]) - (top_left ? 0 : 1);
    return e;
}

static int64_t least(int64_t a, int64_t b, int64_t c)
{
    int64_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Pixels whose middle may be inside. Signed shifts are arithmetic with gcc and clang. */
static bool bound(const struct facet_guest_gfx_bucket *t, int64_t p[3][2], struct setup *s)
{
    int64_t x1 = -least(-p[0][0], -p[1][0], -p[2][0]) >> 8;
    int64_t y1 = -least(-p[0][1], -p[1][1], -p[2][1]) >> 8;
    int64_t x0 = least(p[0][0], p[1][0], p[2][0]) >> 8;
    int64_t y0 = least(p[0][1], p[1][1], p[2][1]) >> 8;

    s->x0 = (int32_t)(x0 > 0 ? x0 : 0);
    s->y0 = (int32_t)(y0 > 0 ? y0 : 0);
    s->x1 = (int32_t)(x1 < t->width ? x1 : t->width - 1);
    s->y1 = (int32_t)(y1 < t->height ? y1 : t->height - 1);
    return s->x0 <= s->x1 && s->y0 <= s->y1;
}

static bool project(const struct facet_guest_gfx_bucket *t,
                    const struct facet_guest_gfx_vertex *v,
                    int64_t to[2],
                    float *q,
                    float *z)
{
    float w = v->clip[3], x, y;

    if (!(w > 0.0F)) {
        return false;
    }
    *q = 1.0F / w;
    *z = v->clip[2] * *q;
    x = (0.5F + 0.5F * (v->clip[0] * *q)) * (float)t->picture->width - t->shift_x;
    y = (0.5F - 0.5F * (v->clip[1] * *q)) * (float)t->picture->height - t->shift_y;
    if (!(fabsf(x) < 0x1p20F && fabsf(y) < 0x1p20F)) {
        return false;
    }
    to[0] = (int64_t)floorf(x * 256.0F + 0.5F) - (int64_t)t->x * 256;
    to[1] = (int64_t)floorf(y * 256.0F + 0.5F) - (int64_t)t->y * 256;
    return true;
}

static void swap_corners(struct setup *s, int64_t p[3][2])
{
    const struct facet_guest_gfx_vertex *corner = s->patch.corner[1];
    float q = s->patch.q[1], z = s->z[1];

    s->patch.corner[1] = s->patch.corner[2];
    s->patch.corner[2] = corner;
    s->patch.q[1] = s->patch.q[2];
    s->patch.q[2] = q;
    s->z[1] = s->z[2];
    s->z[2] = z;
    for (unsigned c = 0; c < 2; c++) {
        int64_t keep = p[1][c];

        p[1][c] = p[2][c];
        p[2][c] = keep;
    }
}

/* false: it covers nothing here, or turns its back. */
static bool set_up(const struct facet_guest_gfx_bucket *t,
                   const struct facet_guest_gfx_vertex *const corner[3],
                   struct setup *s)
{
    int64_t p[3][2];

    for (unsigned i = 0; i < 3; i++) {
        s->patch.corner[i] = corner[i];
        if (!project(t, corner[i], p[i], &s->patch.q[i], &s->z[i])) {
            return false;
        }
    }
    s->area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    /* Rows grow downwards: what turns counter-clockwise has a negative area. */
    s->patch.back = (s->area > 0) != t->instance->flipped;
    if (s->area == 0 || (s->patch.back && !t->material->double_sided) || !bound(t, p, s)) {
        return false;
    }
    if (s->area < 0) {
        swap_corners(s, p);
        s->area = -s->area;
    }
    s->inverse_area = 1.0F / (float)s->area;
    for (unsigned k = 0; k < 3; k++) {
        s->edge[k] = edge_of(p[(k + 1) % 3], p[(k + 2) % 3]);
    }
    return true;
}

/* ---- blocks ---- */

/* Depth, fractions and 1/w of a pixel. GFX.INTERP wants four taps: the triangle is a quad whose
 * last two corners are one, so the row above runs from corner 0 to 1 and the one below is corner 2.
 */
static void fill_lane(struct facet_guest_gfx_bucket *t,
                      const struct setup *s,
                      unsigned lane,
                      const int64_t value[3])
{
    float second = (float)value[1], both = (float)(value[0] + value[1]);
    float l1 = second * s->inverse_area, l2 = (float)value[2] * s->inverse_area;

    t->depths.z[lane] = s->z[0] + l1 * (s->z[1] - s->z[0]) + l2 * (s->z[2] - s->z[0]);
    t->taps.a[2][lane] = both > 0.0F ? second / both : 0.0F;
    t->taps.a[3][lane] = l2 < 1.0F ? l2 : 1.0F;
    t->taps.a[4][lane] = s->patch.q[0];
    t->taps.a[5][lane] = s->patch.q[1];
    t->taps.a[6][lane] = s->patch.q[2];
    t->taps.a[7][lane] = s->patch.q[2];
}

static bool inside(const int64_t value[3])
{
    return (value[0] | value[1] | value[2]) >= 0;
}

static uint64_t
cover(struct facet_guest_gfx_bucket *t, const struct setup *s, int32_t bx, int32_t by)
{
    int32_t x0 = bx > s->x0 ? bx : s->x0, y0 = by > s->y0 ? by : s->y0;
    int32_t x1 = bx + FACET_GUEST_GFX_BLOCK - 1 < s->x1 ? bx + FACET_GUEST_GFX_BLOCK - 1 : s->x1;
    int32_t y1 = by + FACET_GUEST_GFX_BLOCK - 1 < s->y1 ? by + FACET_GUEST_GFX_BLOCK - 1 : s->y1;
    uint64_t lanes = 0;

    for (int32_t y = y0; y <= y1; y++) {
        int64_t value[3];

        for (unsigned k = 0; k < 3; k++) {
            const struct edge *e = &s->edge[k];

            value[k] = e->at + e->dx * 256 * y - e->dy * 256 * x0;
        }
        for (int32_t x = x0; x <= x1; x++) {
            if (inside(value)) {
                unsigned lane = (unsigned)((y - by) * FACET_GUEST_GFX_BLOCK + x - bx);

                lanes |= UINT64_C(1) << lane;
                fill_lane(t, s, lane, value);
            }
            for (unsigned k = 0; k < 3; k++) {
                value[k] -= s->edge[k].dy * 256;
            }
        }
    }
    return lanes;
}

static void
draw_block(struct facet_guest_gfx_bucket *t, const struct setup *s, int32_t bx, int32_t by)
{
    uint64_t lanes = cover(t, s, bx, by);

    t->depths.pixel = (uint64_t)by << 16 | (uint64_t)bx;
    if (lanes != 0) { /* what may be cut out or lets light pass keeps the depth behind it for now */
        lanes = facet_guest_gfx_unit_depth(
            &t->unit, &t->depths, lanes, t->material->alpha_mode == FACET_ALPHA_OPAQUE);
    }
    if (lanes != 0) {
        facet_guest_gfx_shade_block(t, &s->patch, (uint32_t)bx, (uint32_t)by, lanes);
    }
}

static void draw_on_screen(struct facet_guest_gfx_bucket *t,
                           const struct facet_guest_gfx_vertex *const corner[3])
{
    struct setup s;

    if (!set_up(t, corner, &s)) {
        return;
    }
    for (int32_t by = s.y0 & -FACET_GUEST_GFX_BLOCK; by <= s.y1; by += FACET_GUEST_GFX_BLOCK) {
        for (int32_t bx = s.x0 & -FACET_GUEST_GFX_BLOCK; bx <= s.x1; bx += FACET_GUEST_GFX_BLOCK) {
            draw_block(t, &s, bx, by);
        }
    }
}

void facet_guest_gfx_draw_triangle(struct facet_guest_gfx_bucket *t,
                                   const struct facet_guest_gfx_vertex corner[3])
{
    struct facet_guest_gfx_vertex polygon[2][MAX_CORNERS];
    unsigned count = 3, now = 0;

    memcpy(polygon[0], corner, 3 * sizeof *corner);
    if (!is_inside(corner)) {
        for (unsigned plane = 0; plane < CLIP_PLANES && count != 0; plane++, now ^= 1) {
            count = clip_plane(polygon[now], count, plane, polygon[now ^ 1]);
        }
    }
    for (unsigned i = 2; i < count; i++) {
        const struct facet_guest_gfx_vertex *p = polygon[now];
        const struct facet_guest_gfx_vertex *const part[3] = {&p[0], &p[i - 1], &p[i]};

        draw_on_screen(t, part);
    }
}
