/* A ray against a triangle, watertight (rt-semantics.md 8): the vertices are sheared so that the
 * ray is an axis, and each edge function is one exactly rounded difference of products, so two
 * triangles that share an edge see exactly opposite values of it. */
#include "rt/rt.h"

#include "num/accum.h"
#include "rt/fp32.h"

/* Signs of numbers that are not NaN; neither zero has one. */
static bool below_zero(uint32_t bits)
{
    return (bits & FACET_RT_SIGN) != 0 && facet_rt_magnitude(bits) != 0;
}

static bool above_zero(uint32_t bits)
{
    return (bits & FACET_RT_SIGN) == 0 && bits != 0;
}

/* The axis of the ray that becomes z, the two others in the order that keeps the winding, and the
 * shear. */
struct shear {
    uint8_t kx, ky, kz;
    uint32_t sx, sy, sz;
};

static struct shear shear_of(const struct facet_conv *c, const uint32_t d[3], unsigned *flags)
{
    struct shear s = {.kz = 0};

    if (facet_rt_magnitude(d[1]) >
        facet_rt_magnitude(d[s.kz])) { /* bits of magnitudes order as numbers do */
        s.kz = 1;
    }
    if (facet_rt_magnitude(d[2]) > facet_rt_magnitude(d[s.kz])) {
        s.kz = 2;
    }
    s.kx = (uint8_t)((s.kz + 1) % 3);
    s.ky = (uint8_t)((s.kz + 2) % 3);
    if ((d[s.kz] & FACET_RT_SIGN) != 0) {
        uint8_t other = s.kx;

        s.kx = s.ky;
        s.ky = other;
    }
    s.sx = facet_acc_div(c, d[s.kx], d[s.kz], flags);
    s.sy = facet_acc_div(c, d[s.ky], d[s.kz], flags);
    s.sz = facet_acc_div(c, FACET_RT_ONE, d[s.kz], flags);
    return s;
}

/* A vertex seen along the ray. */
struct seen {
    uint32_t x, y, q;
};

static struct seen see(const struct facet_conv *c,
                       const struct shear *s,
                       const uint32_t v[3],
                       const uint32_t o[3],
                       unsigned *flags)
{
    uint32_t p[3];

    for (unsigned a = 0; a < 3; a++) {
        p[a] = facet_acc_sub(c, v[a], o[a], flags);
    }
    return (struct seen){
        facet_acc_fma(c, facet_acc_neg(c, s->sx, flags), p[s->kz], p[s->kx], flags),
        facet_acc_fma(c, facet_acc_neg(c, s->sy, flags), p[s->kz], p[s->ky], flags),
        p[s->kz],
    };
}

/* T7: an edge that the ray passes on the outside. */
static bool outside(const uint32_t edge[3], bool cull_back)
{
    bool below = below_zero(edge[0]) || below_zero(edge[1]) || below_zero(edge[2]);
    bool above = above_zero(edge[0]) || above_zero(edge[1]) || above_zero(edge[2]);

    return below && (cull_back || above);
}

struct facet_rt_facet facet_rt_test_triangle(const struct facet_rt_numbers *n,
                                             const struct facet_rt_ray *ray,
                                             const struct facet_rt_triangle *triangle,
                                             const struct facet_rt_options *options,
                                             unsigned *flags)
{
    const struct facet_conv *c = &n->channel[0]; /* of which only mode and FTZ act here */
    struct facet_rt_facet hit = {.outcome = FACET_RT_MISS};
    uint32_t *edge = hit.edge, det, sum, z[3];
    struct seen p[3];
    struct shear s;

    if (facet_rt_magnitude(ray->d[0] | ray->d[1] | ray->d[2]) == 0) {
        *flags |= FACET_DZ;
        return hit;
    }
    s = shear_of(c, ray->d, flags);
    for (unsigned j = 0; j < 3; j++) {
        p[j] = see(c, &s, triangle->v[j], ray->o, flags);
    }
    edge[0] = facet_acc_dp2(c, p[2].x, p[1].y, p[2].y, p[1].x, flags);
    edge[1] = facet_acc_dp2(c, p[0].x, p[2].y, p[0].y, p[2].x, flags);
    edge[2] = facet_acc_dp2(c, p[1].x, p[0].y, p[1].y, p[0].x, flags);
    hit.edges = true;
    if (facet_rt_is_nan(edge[0]) || facet_rt_is_nan(edge[1]) || facet_rt_is_nan(edge[2])) {
        hit.outcome = FACET_RT_NAN;
        return hit;
    }
    if (outside(edge, options->cull_back)) {
        return hit;
    }
    det = facet_acc_add(c, facet_acc_add(c, edge[0], edge[1], flags), edge[2], flags);
    if (facet_rt_is_nan(det)) {
        hit.outcome = FACET_RT_NAN;
        return hit;
    }
    if (facet_rt_magnitude(det) <= options->eps) {
        return hit;
    }
    hit.front = above_zero(det);
    for (unsigned j = 0; j < 3; j++) {
        z[j] = facet_acc_mul(c, s.sz, p[j].q, flags);
    }
    sum = facet_acc_mul(c, edge[2], z[2], flags);
    sum = facet_acc_fma(c, edge[1], z[1], sum, flags);
    sum = facet_acc_fma(c, edge[0], z[0], sum, flags);
    hit.t = facet_acc_div(c, sum, det, flags);
    if (facet_rt_is_nan(hit.t)) {
        hit.outcome = FACET_RT_NAN;
        return hit;
    }
    if (facet_rt_magnitude(hit.t) == 0) {
        hit.t = 0;
    }
    if (facet_acc_lt(c, hit.t, ray->tmin, flags) || facet_acc_lt(c, ray->tmax, hit.t, flags)) {
        return hit;
    }
    hit.outcome = FACET_RT_HIT;
    if (!options->no_uv) {
        hit.u = facet_acc_div(c, facet_rt_magnitude(edge[1]), facet_rt_magnitude(det), flags);
        hit.v = facet_acc_div(c, facet_rt_magnitude(edge[2]), facet_rt_magnitude(det), flags);
    }
    return hit;
}
