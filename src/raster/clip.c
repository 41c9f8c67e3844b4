/* Sutherland-Hodgman clipping in clip space (tile-semantics.md 17 step 6), then divide and viewport
 * of what is left. Triangles that no plane cuts never come here. */
#include "raster/geometry.h"

#include <math.h>

/* x y z w u v r g b a */
enum { AT_X, AT_Y, AT_Z, AT_W, AT_U, AT_V, AT_COLOR, AT_COUNT = AT_COLOR + 4 };

struct corner {
    float a[AT_COUNT];
};

static float distance(const struct geo_draw *d, unsigned plane, const struct corner *c)
{
    const float x = c->a[AT_X], y = c->a[AT_Y], z = c->a[AT_Z], w = c->a[AT_W], g = d->guard;

    switch (plane) {
    case PLANE_W:
        return w - 0x1p-20f;
    case PLANE_NEAR:
        return z;
    case PLANE_FAR:
        return w - z;
    case PLANE_LEFT:
        return fmaf(g, w, x);
    case PLANE_RIGHT:
        return fmaf(g, w, -x);
    case PLANE_BOTTOM:
        return fmaf(g, w, y);
    case PLANE_TOP:
        return fmaf(g, w, -y);
    default:
        return fmaf(d->plane[3], w, fmaf(d->plane[2], z, fmaf(d->plane[1], y, d->plane[0] * x)));
    }
}

/* From the inside vertex to the outside one, whichever comes first: neighbours cut alike. */
static void
intersect(const struct corner *in, float di, const struct corner *out, float dout, struct corner *r)
{
    const float t = di / (di - dout);

    for (unsigned i = 0; i < AT_COUNT; i++) {
        r->a[i] = fmaf(t, out->a[i] - in->a[i], in->a[i]);
    }
}

static unsigned cut(const struct geo_draw *d,
                    unsigned plane,
                    const struct corner *from,
                    unsigned count,
                    struct corner *to)
{
    float dist[GEO_MAX_CORNERS];
    unsigned made = 0;

    for (unsigned i = 0; i < count; i++) {
        dist[i] = distance(d, plane, &from[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned j = i + 1 < count ? i + 1 : 0;
        const bool in = dist[i] >= 0, next_in = dist[j] >= 0;

        if (in) {
            to[made++] = from[i];
        }
        if (in && !next_in) {
            intersect(&from[i], dist[i], &from[j], dist[j], &to[made++]);
        } else if (!in && next_in) {
            intersect(&from[j], dist[j], &from[i], dist[i], &to[made++]);
        }
    }
    return made;
}

static void project(const struct geo_draw *d, const struct corner *c, struct raster_vertex *v)
{
    const float r = 1.0f / c->a[AT_W];

    v->z = c->a[AT_Z] * r;
    v->w = c->a[AT_W];
    v->u = c->a[AT_U];
    v->v = c->a[AT_V];
    memcpy(v->color, &c->a[AT_COLOR], sizeof v->color);
    facet_raster_snap(v,
                      fmaf(c->a[AT_X] * r, d->half_w, d->centre_x),
                      fmaf(-(c->a[AT_Y] * r), d->half_h, d->centre_y));
}

unsigned facet_raster_geo_clip(const struct geo_draw *draw,
                               const struct geo_vertex *const triangle[3],
                               unsigned first,
                               struct raster_vertex out[GEO_MAX_CORNERS])
{
    struct corner polygon[2][GEO_MAX_CORNERS];
    unsigned count = 3, now = 0;

    for (unsigned i = 0; i < 3; i++) {
        const struct geo_vertex *v = triangle[i];
        struct corner *c = &polygon[0][i];

        c->a[AT_X] = v->x;
        c->a[AT_Y] = v->y;
        c->a[AT_Z] = v->z;
        c->a[AT_W] = v->screen.w;
        c->a[AT_U] = v->screen.u;
        c->a[AT_V] = v->screen.v;
        memcpy(&c->a[AT_COLOR], v->screen.color, sizeof v->screen.color);
    }
    for (unsigned plane = first; plane < PLANE_COUNT; plane++) {
        if (plane == PLANE_USER && !draw->user_plane) {
            break;
        }
        count = cut(draw, plane, polygon[now], count, polygon[now ^ 1]);
        now ^= 1;
        if (count < 3) {
            return 0;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        project(draw, &polygon[now][i], &out[i]);
    }
    return count;
}
