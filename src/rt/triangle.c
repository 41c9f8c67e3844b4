/* A ray against a triangle, watertight (rt-semantics.md 8): the vertices are sheared so that the
 * ray is an axis, and each edge function is one exactly rounded difference of products, so two
 * triangles that share an edge see exactly opposite values of it. */
#include "rt/steps.h"

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
static void shear(const struct facet_conv *c,
                  const uint32_t d[3],
                  struct facet_rt_triangle_steps *s,
                  unsigned *flags)
{
    bool backward;

    s->kz = 0; /* bits of magnitudes order as numbers do */
    for (uint8_t a = 1; a < 3; a++) {
        if (facet_rt_magnitude(d[a]) > facet_rt_magnitude(d[s->kz])) {
            s->kz = a;
        }
    }
    backward = (d[s->kz] & FACET_RT_SIGN) != 0;
    s->kx = (uint8_t)((s->kz + (backward ? 2 : 1)) % 3);
    s->ky = (uint8_t)((s->kz + (backward ? 1 : 2)) % 3);
    s->sx = facet_acc_div(c, d[s->kx], d[s->kz], flags);
    s->sy = facet_acc_div(c, d[s->ky], d[s->kz], flags);
    s->sz = facet_acc_div(c, FACET_RT_ONE, d[s->kz], flags);
}

/* A vertex seen along the ray. */
static struct facet_rt_vertex_steps see(const struct facet_conv *c,
                                        const struct facet_rt_triangle_steps *s,
                                        const uint32_t v[3],
                                        const uint32_t o[3],
                                        unsigned *flags)
{
    struct facet_rt_vertex_steps seen = {.z = 0};
    uint32_t *p = seen.p;

    for (unsigned a = 0; a < 3; a++) {
        p[a] = facet_acc_sub(c, v[a], o[a], flags);
    }
    seen.x = facet_acc_fma(c, facet_acc_neg(c, s->sx, flags), p[s->kz], p[s->kx], flags);
    seen.y = facet_acc_fma(c, facet_acc_neg(c, s->sy, flags), p[s->kz], p[s->ky], flags);
    return seen;
}

/* T7: an edge that the ray passes on the outside. */
static bool outside(const uint32_t edge[3], bool cull_back)
{
    bool below = below_zero(edge[0]) || below_zero(edge[1]) || below_zero(edge[2]);
    bool above = above_zero(edge[0]) || above_zero(edge[1]) || above_zero(edge[2]);

    return below && (cull_back || above);
}

/* T9: where the ray meets the plane. */
static void distance(const struct facet_conv *c, struct facet_rt_triangle_steps *s, unsigned *flags)
{
    struct facet_rt_vertex_steps *p = s->vertex;
    const uint32_t *edge = s->facet.edge;

    for (unsigned j = 0; j < 3; j++) {
        p[j].z = facet_acc_mul(c, s->sz, p[j].p[s->kz], flags);
    }
    s->wz = facet_acc_mul(c, edge[2], p[2].z, flags);
    s->vz = facet_acc_fma(c, edge[1], p[1].z, s->wz, flags);
    s->T = facet_acc_fma(c, edge[0], p[0].z, s->vz, flags);
    s->facet.t = facet_acc_div(c, s->T, s->det, flags);
    if (facet_rt_magnitude(s->facet.t) == 0) {
        s->facet.t = 0;
    }
}

void facet_rt_triangle_steps(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_triangle *triangle,
                             const struct facet_rt_options *options,
                             struct facet_rt_triangle_steps *steps,
                             unsigned *flags)
{
    const struct facet_conv *c = &n->channel[0]; /* of which only mode and FTZ act here */
    struct facet_rt_facet *hit = &steps->facet;
    const struct facet_rt_vertex_steps *p = steps->vertex;
    uint32_t *edge = hit->edge;

    *steps = (struct facet_rt_triangle_steps){.rule = 3, .facet.outcome = FACET_RT_MISS};
    if (facet_rt_magnitude(ray->d[0] | ray->d[1] | ray->d[2]) == 0) {
        *flags |= FACET_DZ;
        return;
    }
    shear(c, ray->d, steps, flags);
    for (unsigned j = 0; j < 3; j++) {
        steps->vertex[j] = see(c, steps, triangle->v[j], ray->o, flags);
    }
    steps->rule = 6;
    edge[0] = facet_acc_dp2(c, p[2].x, p[1].y, p[2].y, p[1].x, flags);
    edge[1] = facet_acc_dp2(c, p[0].x, p[2].y, p[0].y, p[2].x, flags);
    edge[2] = facet_acc_dp2(c, p[1].x, p[0].y, p[1].y, p[0].x, flags);
    hit->edges = true;
    if (facet_rt_is_nan(edge[0]) || facet_rt_is_nan(edge[1]) || facet_rt_is_nan(edge[2])) {
        hit->outcome = FACET_RT_NAN;
        return;
    }
    steps->rule = 7;
    if (outside(edge, options->cull_back)) {
        return;
    }
    steps->rule = 8;
    steps->uv = facet_acc_add(c, edge[0], edge[1], flags);
    steps->det = facet_acc_add(c, steps->uv, edge[2], flags);
    if (facet_rt_is_nan(steps->det)) {
        hit->outcome = FACET_RT_NAN;
        return;
    }
    if (facet_rt_magnitude(steps->det) <= options->eps) {
        return;
    }
    hit->front = above_zero(steps->det);
    steps->rule = 9;
    distance(c, steps, flags);
    if (facet_rt_is_nan(hit->t)) {
        hit->outcome = FACET_RT_NAN;
        return;
    }
    steps->rule = 10;
    if (facet_acc_lt(c, hit->t, ray->tmin, flags) || facet_acc_lt(c, ray->tmax, hit->t, flags)) {
        return;
    }
    steps->rule = 11;
    hit->outcome = FACET_RT_HIT;
    if (!options->no_uv) {
        uint32_t size = facet_rt_magnitude(steps->det);

        hit->u = facet_acc_div(c, facet_rt_magnitude(edge[1]), size, flags);
        hit->v = facet_acc_div(c, facet_rt_magnitude(edge[2]), size, flags);
    }
}

struct facet_rt_facet facet_rt_test_triangle(const struct facet_rt_numbers *n,
                                             const struct facet_rt_ray *ray,
                                             const struct facet_rt_triangle *triangle,
                                             const struct facet_rt_options *options,
                                             unsigned *flags)
{
    struct facet_rt_triangle_steps steps;

    facet_rt_triangle_steps(n, ray, triangle, options, &steps, flags);
    return steps.facet;
}
