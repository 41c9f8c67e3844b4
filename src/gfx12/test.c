/* Box, triangle and transform arithmetic: see test.h. The order of the operations is part of the
 * contract; the build forbids the compiler to fuse them. */
#include "gfx12/test.h"

#include "base/float.h"
#include "num/f32.h"

void facet_gfx12_slab_ray_init(struct facet_gfx12_slab_ray *out,
                               const float origin[3],
                               const float direction[3],
                               float extent,
                               unsigned grow_value)
{
    for (unsigned k = 0; k < 3; k++) {
        out->origin[k] = origin[k];
        out->inverse[k] = 1.0f / direction[k];
    }
    out->extent = extent;
    out->grow = 1.0f + (float)grow_value * 0x1p-24f;
}

static struct facet_gfx12_slab slab_of(float enter, float leave, float extent, float grow)
{
    struct facet_gfx12_slab s;
    bool none = f32_is_nan(enter) || f32_is_nan(leave);
    s.min_t = none ? facet_float_of(F32_INF) : f32_max(enter, 0.0f);
    s.max_t = none ? -facet_float_of(F32_INF) : f32_min(leave, extent);
    s.enter = f32_is_nan(enter) ? 0.0f : enter;
    s.leave = f32_is_nan(leave) ? facet_float_of(F32_INF) : leave;
    s.limit = s.max_t * grow;
    s.hit = s.min_t <= s.limit;
    return s;
}

struct facet_gfx12_slab_steps facet_gfx12_slab_steps(const struct facet_gfx12_slab_ray *ray,
                                                     const struct facet_gfx12_slab_box *box)
{
    struct facet_gfx12_slab_steps r;
    for (unsigned k = 0; k < 3; k++) {
        float a, b;
        bool forward;

        r.lo_o[k] = box->lo[k] - ray->origin[k];
        r.hi_o[k] = box->hi[k] - ray->origin[k];
        a = r.lo_o[k] * ray->inverse[k];
        b = r.hi_o[k] * ray->inverse[k];
        forward = ray->inverse[k] >= 0;
        r.near[k] = forward ? a : b;
        r.far[k] = forward ? b : a;
    }
    r.slab = slab_of(f32_max(f32_max(r.near[0], r.near[1]), r.near[2]),
                     f32_min(f32_min(r.far[0], r.far[1]), r.far[2]),
                     ray->extent,
                     ray->grow);
    return r;
}

struct facet_gfx12_slab facet_gfx12_slab_test(const struct facet_gfx12_slab_ray *ray,
                                              const struct facet_gfx12_slab_box *box)
{
    return facet_gfx12_slab_steps(ray, box).slab;
}

struct facet_gfx12_slab facet_gfx12_slab_empty(void)
{
    return slab_of(facet_float_of(F32_NAN), facet_float_of(F32_NAN), 0.0f, 1.0f);
}

static struct facet_gfx12_vec sub(struct facet_gfx12_vec a, struct facet_gfx12_vec b)
{
    return (struct facet_gfx12_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static struct facet_gfx12_vec cross(struct facet_gfx12_vec a, struct facet_gfx12_vec b)
{
    return (struct facet_gfx12_vec){
        a.y * b.z - a.z * b.y,
        a.z * b.x - a.x * b.z,
        a.x * b.y - a.y * b.x,
    };
}

static float dot(struct facet_gfx12_vec a, struct facet_gfx12_vec b)
{
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static struct facet_gfx12_vec vec_from(const uint32_t bits[3])
{
    return (struct facet_gfx12_vec){
        facet_float_of(bits[0]), facet_float_of(bits[1]), facet_float_of(bits[2])};
}

struct facet_gfx12_tri_test_steps facet_gfx12_tri_test_steps(const uint32_t vertex[3][3],
                                                             const float origin[3],
                                                             const float direction[3])
{
    const struct facet_gfx12_vec v0 = vec_from(vertex[0]);
    const struct facet_gfx12_vec o = {origin[0], origin[1], origin[2]};
    const struct facet_gfx12_vec d = {direction[0], direction[1], direction[2]};
    struct facet_gfx12_tri_test_steps r = {
        .e1 = sub(vec_from(vertex[1]), v0),
        .e2 = sub(vec_from(vertex[2]), v0),
        .e3 = sub(o, v0),
    };
    r.s1 = cross(d, r.e2);
    r.s2 = cross(r.e3, r.e1);
    r.terms.tn = f32_canonical(dot(r.e2, r.s2));
    r.terms.det = f32_canonical(dot(r.s1, r.e1));
    r.terms.un = f32_canonical(dot(r.e3, r.s1));
    r.terms.vn = f32_canonical(dot(d, r.s2));
    r.terms.t = f32_div(r.terms.tn, r.terms.det);
    r.terms.u = f32_div(r.terms.un, r.terms.det);
    r.terms.v = f32_div(r.terms.vn, r.terms.det);
    return r;
}

struct facet_gfx12_tri_terms
facet_gfx12_tri_test(const uint32_t vertex[3][3], const float origin[3], const float direction[3])
{
    return facet_gfx12_tri_test_steps(vertex, origin, direction).terms;
}

void facet_gfx12_transform(const uint32_t rows[12], float origin[3], float direction[3])
{
    const struct facet_gfx12_vec o = {origin[0], origin[1], origin[2]};
    const struct facet_gfx12_vec d = {direction[0], direction[1], direction[2]};
    for (unsigned r = 0; r < 3; r++) {
        const uint32_t *row = rows + (unsigned)4 * r;
        float m0 = facet_float_of(row[0]);
        float m1 = facet_float_of(row[1]);
        float m2 = facet_float_of(row[2]);
        origin[r] = f32_fma(o.x, m0, f32_fma(o.y, m1, f32_fma(o.z, m2, facet_float_of(row[3]))));
        direction[r] = f32_fma(d.x, m0, f32_fma(d.y, m1, d.z * m2));
    }
}
