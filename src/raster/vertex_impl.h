/* One vertex through fetch, transform, light, divide and viewport (tile-semantics.md 17, steps 2 to
 * 4 and 7), included twice: once for any host, once where fmaf may become an instruction. The
 * includer defines TARGET and VERTEX. */

#include "raster/geometry.h"

#include "num/tile.h"

#include <math.h>

/* FP16 widens exactly. */
TARGET static void fetch_uv(const struct geo_draw *d, const uint8_t *bytes, struct raster_vertex *v)
{
    if (!d->uv_fp16) {
        v->u = float_of(load_u32(bytes));
        v->v = float_of(load_u32(bytes + 4));
    } else {
        const struct facet_tile_env env = {0, false, false};
        unsigned flags = 0;

        v->u = float_of(
            facet_tile_convert(FACET_FMT_FP32, FACET_FMT_FP16, load_u16(bytes), env, &flags));
        v->v = float_of(
            facet_tile_convert(FACET_FMT_FP32, FACET_FMT_FP16, load_u16(bytes + 2), env, &flags));
    }
}

TARGET static inline float dot3(const float a[3], const float b[3])
{
    return fmaf(a[2], b[2], fmaf(a[1], b[1], a[0] * b[0]));
}

TARGET static inline float row4(const float m[4], const float p[4])
{
    return fmaf(m[3], p[3], fmaf(m[2], p[2], fmaf(m[1], p[1], m[0] * p[0])));
}

TARGET static inline void normalize(const float a[3], float out[3])
{
    const float d = dot3(a, a);

    out[0] = out[1] = out[2] = 0;
    if (d > 0) { /* not 0, not NaN; a sum of squares is never negative */
        const float s = sqrtf(d);

        for (unsigned i = 0; i < 3; i++) {
            out[i] = a[i] / s;
        }
    }
}

TARGET static inline float power(float b, uint32_t p)
{
    float r = 1;

    for (; p != 0; p >>= 1) {
        if (p & 1) {
            r = r * b;
        }
        b = b * b;
    }
    return r;
}

TARGET static uint32_t lit(const struct geo_light *l, const float normal[3], uint32_t base)
{
    float turned[3], n[3], nl, spec = 0;
    bool shines = false;
    uint32_t out = base & 0xFF000000u;

    for (unsigned i = 0; i < 3; i++) {
        turned[i] = l->has_normal_matrix ? dot3(&l->normal[3 * i], normal) : normal[i];
    }
    normalize(turned, n);
    nl = dot3(n, l->direction);
    nl = nl > 0 ? nl : 0;
    if (l->specular && nl > 0) {
        const float nh = dot3(n, l->half);

        spec = power(nh > 0 ? nh : 0, l->power);
        shines = true;
    }
    for (unsigned i = 0; i < 3; i++) {
        const unsigned shift = 16 - 8 * i;
        float t = (float)(base >> shift & 255) * fmaf(l->light[i], nl, l->ambient[i]);

        if (shines) {
            t = fmaf(spec * l->light[i], l->spec_color[i], t);
        }
        out |= raster_u8(t) << shift;
    }
    return out;
}

TARGET static uint32_t vertex_color(const struct geo_draw *d, const uint8_t *bytes)
{
    uint32_t base = d->at_color != 0 ? load_u32(bytes + d->at_color) : 0xFFFFFFFFu;

    if (d->cu_assist) {
        return base;
    }
    if (d->has_material) {
        uint32_t product = 0;

        for (unsigned shift = 0; shift < 32; shift += 8) {
            product |= mul8(base >> shift & 255, d->material >> shift & 255) << shift;
        }
        base = product;
    }
    if (d->lit) {
        float normal[3];

        for (unsigned i = 0; i < 3; i++) {
            normal[i] = float_of(load_u32(bytes + d->at_normal + 4 * i));
        }
        base = lit(&d->light, normal, base);
    }
    return base;
}

TARGET static inline uint8_t outside_planes(const struct geo_draw *d, const float p[4])
{
    const float x = p[0], y = p[1], z = p[2], w = p[3], g = d->guard;
    unsigned out = 0;

    /* inside iff d >= 0, false for NaN */
    out |= (unsigned)!(w - 0x1p-20f >= 0) << PLANE_W;
    out |= (unsigned)!(z >= 0) << PLANE_NEAR;
    out |= (unsigned)!(w - z >= 0) << PLANE_FAR;
    out |= (unsigned)!(fmaf(g, w, x) >= 0) << PLANE_LEFT;
    out |= (unsigned)!(fmaf(g, w, -x) >= 0) << PLANE_RIGHT;
    out |= (unsigned)!(fmaf(g, w, y) >= 0) << PLANE_BOTTOM;
    out |= (unsigned)!(fmaf(g, w, -y) >= 0) << PLANE_TOP;
    if (d->user_plane) {
        out |= (unsigned)!(fmaf(d->plane[3],
                                w,
                                fmaf(d->plane[2], z, fmaf(d->plane[1], y, d->plane[0] * x))) >= 0)
               << PLANE_USER;
    }
    return (uint8_t)out;
}

TARGET void VERTEX(const struct geo_draw *draw, const uint8_t *bytes, struct geo_vertex *out)
{
    float p[4], moved[4];
    float r;

    for (unsigned i = 0; i < 4; i++) {
        p[i] = float_of(load_u32(bytes + 4 * i));
    }
    if (!draw->cu_assist) {
        if (draw->has_model) {
            for (unsigned i = 0; i < 3; i++) {
                moved[i] = row4(&draw->model[4 * i], p);
            }
            memcpy(p, moved, 3 * sizeof p[0]);
        }
        for (unsigned i = 0; i < 4; i++) {
            moved[i] = row4(&draw->mvp[4 * i], p);
        }
        memcpy(p, moved, sizeof p);
    }
    out->x = p[0];
    out->y = p[1];
    out->z = p[2];
    out->bad = false;
    out->outside = outside_planes(draw, p);
    out->screen.w = p[3];
    out->screen.u = out->screen.v = 0;
    if (draw->at_uv != 0) {
        fetch_uv(draw, bytes + draw->at_uv, &out->screen);
    }
    out->color = vertex_color(draw, bytes);
    rgba_floats(out->screen.color, out->color);
    r = 1.0f / p[3];
    out->screen.z = p[2] * r;
    facet_raster_snap(&out->screen,
                      fmaf(p[0] * r, draw->half_w, draw->centre_x),
                      fmaf(-(p[1] * r), draw->half_h, draw->centre_y));
}
