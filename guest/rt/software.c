/* See software.h. The names of the variables are those of the contract. */
#include "software.h"

#include <math.h>
#include <string.h>

/* ---- RT.BBOX ---- */

/* B5: where the ray is inside the slab of one axis. */
static void slab(float lo, float hi, float o, float d, float *tn, float *tf)
{
    float inv = 1 / d;

    if (isinf(inv)) {
        bool in = lo <= o && o <= hi;

        *tn = in ? -INFINITY : INFINITY;
        *tf = in ? INFINITY : -INFINITY;
    } else {
        *tn = ((signbit(d) ? hi : lo) - o) * inv;
        *tf = ((signbit(d) ? lo : hi) - o) * inv;
    }
}

/* Comparisons with a NaN are false, so a NaN anywhere ends as no hit, as NANLANE does. */
bool rt_software_box(const struct xphmg_aabb_32 *box,
                     const struct xphmg_ray_record_32 *ray,
                     float *tnear,
                     float *tfar)
{
    float cn = ray->tmin, cf = ray->tmax;
    bool sound = true;

    for (int a = 0; a < 3; a++) {
        float tn, tf;

        slab(box->min[a], box->max[a], ray->origin[a], ray->direction[a], &tn, &tf);
        sound = sound && box->min[a] <= box->max[a] && tn == tn && tf == tf;
        cn = tn > cn ? tn : cn;
        cf = tf < cf ? tf : cf;
    }
    *tnear = cn;
    *tfar = cf;
    return sound && cn <= cf;
}

/* ---- RT.TRI ---- */

/* a*b - c*d, rounded once. The products are exact in double; their difference is rounded to odd,
 * after which the rounding to float sees what the exact number would show it. */
static float dp2(float a, float b, float c, float d)
{
    double p = (double)a * b, q = (double)c * d, s = p - q;
    double back = s - p, error = (p - (s - back)) - (q + back);
    uint64_t bits;

    memcpy(&bits, &s, sizeof bits);
    if (error != 0 && (bits & 1) == 0) {
        bits += (error > 0) == (s > 0) ? 1 : UINT64_MAX;
        memcpy(&s, &bits, sizeof s);
    }
    return (float)s;
}

/* T5: a corner as the ray sees it: x and y off the ray, q along it. */
struct seen {
    float x, y, q;
};

struct view {
    int kx, ky, kz;
    float sx, sy, sz;
};

static struct seen look_at(const struct view *view, const float *corner, const float *origin)
{
    float p[3];

    for (int a = 0; a < 3; a++) {
        p[a] = corner[a] - origin[a];
    }
    return (struct seen){fmaf(-view->sx, p[view->kz], p[view->kx]),
                         fmaf(-view->sy, p[view->kz], p[view->ky]),
                         p[view->kz]};
}

/* T4: the axis along which the ray moves most, and the two after it. */
static struct view view_along(const float d[3])
{
    int kz = fabsf(d[1]) > fabsf(d[0]) ? 1 : 0, kx, ky;

    kz = fabsf(d[2]) > fabsf(d[kz]) ? 2 : kz;
    kx = signbit(d[kz]) ? (kz + 2) % 3 : (kz + 1) % 3;
    ky = signbit(d[kz]) ? (kz + 1) % 3 : (kz + 2) % 3;
    return (struct view){kx, ky, kz, d[kx] / d[kz], d[ky] / d[kz], 1 / d[kz]};
}

bool rt_software_triangle(const float corners[9],
                          const struct xphmg_ray_record_32 *ray,
                          struct rt_software_hit *hit)
{
    const float *d = ray->direction;
    struct view view;
    struct seen c[3];
    float u, v, w, det, t;

    if (d[0] == 0 && d[1] == 0 && d[2] == 0) {
        return false;
    }
    view = view_along(d);
    for (int j = 0; j < 3; j++) {
        c[j] = look_at(&view, corners + 3 * j, ray->origin);
    }
    u = dp2(c[2].x, c[1].y, c[2].y, c[1].x);
    v = dp2(c[0].x, c[2].y, c[0].y, c[2].x);
    w = dp2(c[1].x, c[0].y, c[1].y, c[0].x);
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) {
        return false;
    }
    det = u + v + w;
    t = fmaf(u, view.sz * c[0].q, fmaf(v, view.sz * c[1].q, w * (view.sz * c[2].q))) / det;
    if (!(fabsf(det) > 0) || !(t >= ray->tmin && t <= ray->tmax)) {
        return false;
    }
    *hit = (struct rt_software_hit){
        t == 0 ? 0 : t, fabsf(v) / fabsf(det), fabsf(w) / fabsf(det), det > 0};
    return true;
}
