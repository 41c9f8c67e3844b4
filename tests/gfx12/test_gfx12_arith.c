/* The arithmetic of the ray unit against a second formulation: every single operation done by MPFR
 * in 24 bits with subnormals, in the order that gfx12-semantics.md writes down. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "base/float.h"
#include "gfx12/test.h"
#include "num/f32.h"

#include <mpfr.h>
#include <stdlib.h>

/* ---- binary32 by MPFR ---- */

typedef int mpfr_op(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static uint32_t finish(mpfr_t r, int inexact)
{
    if (mpfr_nan_p(r)) {
        return 0x7FC00000;
    }
    (void)mpfr_subnormalize(r, inexact, MPFR_RNDN);
    return facet_float_bits(mpfr_get_flt(r, MPFR_RNDN));
}

static void exponents(bool binary32)
{
    static mpfr_exp_t lo, hi;
    if (binary32) {
        lo = mpfr_get_emin();
        hi = mpfr_get_emax();
    }
    mpfr_set_emin(binary32 ? -148 : lo);
    mpfr_set_emax(binary32 ? 128 : hi);
}

static float op2(mpfr_op *op, float a, float b)
{
    mpfr_t x, y, r;
    mpfr_inits2(24, x, y, r, (mpfr_ptr)0);
    mpfr_set_flt(x, a, MPFR_RNDN);
    mpfr_set_flt(y, b, MPFR_RNDN);
    float f = facet_float_of(finish(r, op(r, x, y, MPFR_RNDN)));
    mpfr_clears(x, y, r, (mpfr_ptr)0);
    return f;
}

static float add(float a, float b)
{
    return op2(mpfr_add, a, b);
}

static float sub(float a, float b)
{
    return op2(mpfr_sub, a, b);
}

static float mul(float a, float b)
{
    return op2(mpfr_mul, a, b);
}

static float quotient(float a, float b)
{
    float q = op2(mpfr_div, a, b);
    bool operands = a == a && b == b;
    return q != q && operands ? facet_float_of(0xFFC00000) : q;
}

static float fused(float a, float b, float c)
{
    mpfr_t x, y, z, r;
    mpfr_inits2(24, x, y, z, r, (mpfr_ptr)0);
    mpfr_set_flt(x, a, MPFR_RNDN);
    mpfr_set_flt(y, b, MPFR_RNDN);
    mpfr_set_flt(z, c, MPFR_RNDN);
    float f = facet_float_of(finish(r, mpfr_fma(r, x, y, z, MPFR_RNDN)));
    mpfr_clears(x, y, z, r, (mpfr_ptr)0);
    return f;
}

static float max_num(float a, float b)
{
    return a != a ? b : b != b ? a : a < b ? b : a;
}

static float min_num(float a, float b)
{
    return a != a ? b : b != b ? a : b < a ? b : a;
}

/* Equal bits, up to the sign of a zero. */
static bool same_value(float a, float b)
{
    return facet_float_bits(a) == facet_float_bits(b) || (a == 0 && b == 0);
}

/* ---- fused multiply-add ---- */

static void check_fma(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t got =
        facet_float_bits(f32_fma(facet_float_of(a), facet_float_of(b), facet_float_of(c)));
    uint32_t want =
        facet_float_bits(fused(facet_float_of(a), facet_float_of(b), facet_float_of(c)));
    CHECK_MSG(got == want,
              "fma(%08" PRIX32 ", %08" PRIX32 ", %08" PRIX32 ") is %08" PRIX32
              ", expected %08" PRIX32,
              a,
              b,
              c,
              got,
              want);
}

TEST(fma_is_rounded_once, "G12-239")
{
    exponents(true);
    unsigned rounds = harness_long() ? 10000000 : 1000000;
    for (unsigned n = 0; n < rounds && !harness_failed(); n++) {
        uint32_t a, b, c;
        switch (n % 4) {
        case 0:
            a = random_any_float(), b = random_any_float(), c = random_any_float();
            break;
        case 1: /* the product lands next to a rounding boundary of the sum */
            a = random_float_bits(3), b = random_float_bits(3);
            c = facet_float_bits(-facet_float_of(a) * facet_float_of(b)) + random_bits() % 5 - 2;
            break;
        case 2: /* a tie that an addend near the last bit of binary64 decides */
            a = 0x3F800800 | (random_bits() & 0x807FE000),
            b = 0x3F800800 | (random_bits() & 0x7FE000);
            c = (random_bits() & 0x80700000) | (127u - 48 - random_bits() % 10) << 23;
            break;
        default: /* subnormal results */
            a = (random_bits() & 0x80FFFFFF) + 0x1F000000;
            b = (random_bits() & 0x80FFFFFF) + 0x1F800000;
            c = random_bits() & 0x80FFFFFF;
            break;
        }
        check_fma(a, b, c);
    }
    /* Ties that a double rounding gets wrong. */
    check_fma(0x3F800001, 0x3F800001, 0x33800000);
    check_fma(0x3F800800, 0x3F800800, 0x00000001);
    check_fma(0x3F800800, 0x3F800800, 0x80000001);
    check_fma(0xBF800800, 0x3F800800, 0x00000001);
    check_fma(0xBF800800, 0x3F800800, 0x80000001);
    check_fma(0x3F800800, 0x3F800800, 0x25400000);
    check_fma(0xBF800800, 0x3F800800, 0xA5400000);
    check_fma(0x00000001, 0x3F000000, 0x00000001);
    check_fma(0x80000000, 0x3F800000, 0x00000000);
    check_fma(0x80000000, 0x3F800000, 0x80000000);
    check_fma(0x7F7FFFFF, 0x3F800000, 0x73000000);
    check_fma(0x7F7FFFFF, 0x3F800000, 0x72FFFFFF);
    exponents(false);
}

TEST(transform_order, "G12-239")
{
    exponents(true);
    for (unsigned n = 0; n < 50000 && !harness_failed(); n++) {
        uint32_t rows[12];
        float o[3], d[3], p[3], q[3];
        for (unsigned i = 0; i < 12; i++) {
            rows[i] = n % 2 != 0 ? random_any_float() : random_float_bits(4);
        }
        for (unsigned k = 0; k < 3; k++) {
            p[k] = o[k] = facet_float_of(n % 2 != 0 ? random_any_float() : random_float_bits(4));
            q[k] = d[k] = facet_float_of(n % 2 != 0 ? random_any_float() : random_float_bits(4));
        }
        facet_gfx12_transform(rows, p, q);
        for (unsigned r = 0; r < 3; r++) {
            const uint32_t *m = rows + (size_t)4 * r;
            float x = fused(o[2], facet_float_of(m[2]), facet_float_of(m[3]));
            x = fused(o[0], facet_float_of(m[0]), fused(o[1], facet_float_of(m[1]), x));
            float y = mul(d[2], facet_float_of(m[2]));
            y = fused(d[0], facet_float_of(m[0]), fused(d[1], facet_float_of(m[1]), y));
            CHECK_EQ(facet_float_bits(p[r]), facet_float_bits(x));
            CHECK_EQ(facet_float_bits(q[r]), facet_float_bits(y));
        }
    }
    exponents(false);
}

/* ---- slabs ---- */

TEST(slabs_by_the_letter, "G12-195 G12-196 G12-197 G12-198 G12-199")
{
    exponents(true);
    unsigned hits = 0, odd = 0;
    for (unsigned n = 0; n < 60000 && !harness_failed(); n++) {
        float o[3], d[3], lo[3], hi[3];
        bool wild = n % 3 == 0;
        for (unsigned k = 0; k < 3; k++) {
            o[k] = facet_float_of(wild ? random_any_float() : random_float_bits(2));
            d[k] = facet_float_of(wild ? random_any_float() : random_float_bits(2));
            float a = facet_float_of(wild ? random_any_float() : random_float_bits(2));
            float b = facet_float_of(wild ? random_any_float() : random_float_bits(2));
            bool planar = random_bits() % 8 == 0;
            lo[k] = a < b || wild ? a : b;
            hi[k] = a < b || wild ? b : a;
            if (planar) { /* a ray in a face: 0 * inf */
                o[k] = random_bits() % 2 != 0 ? lo[k] : hi[k];
                d[k] = random_bits() % 2 != 0 ? 0.0f : -0.0f;
            }
            if (n % 3 == 1) { /* aim at the box from outside */
                float inside =
                    add(lo[k], mul(sub(hi[k], lo[k]), (float)(random_bits() % 256) / 255));
                d[k] = planar ? d[k] : sub(inside, o[k]);
            }
        }
        float extent = facet_float_of(n % 5 == 0 ? random_any_float() : 0x7F800000);
        unsigned grow = random_bits() % 4 == 0 ? random_bits() % 256 : 0;

        struct facet_gfx12_slab_ray ray;
        struct facet_gfx12_slab_box box;
        facet_gfx12_slab_ray_init(&ray, o, d, extent, grow);
        memcpy(box.lo, lo, sizeof lo);
        memcpy(box.hi, hi, sizeof hi);
        struct facet_gfx12_slab s = facet_gfx12_slab_test(&ray, &box);

        float near[3], far[3];
        for (unsigned k = 0; k < 3; k++) {
            float inverse = quotient(1.0f, d[k]);
            CHECK(same_value(inverse, ray.inverse[k]) || inverse != inverse);
            float a = mul(sub(lo[k], o[k]), inverse), b = mul(sub(hi[k], o[k]), inverse);
            near[k] = inverse >= 0 ? a : b;
            far[k] = inverse >= 0 ? b : a;
        }
        float A = max_num(max_num(near[0], near[1]), near[2]);
        float B = min_num(min_num(far[0], far[1]), far[2]);
        bool none = A != A || B != B;
        float min_t = none ? facet_float_of(0x7F800000) : max_num(A, 0);
        float max_t = none ? facet_float_of(0xFF800000) : min_num(B, extent);
        float factor = add(1.0f, mul((float)grow, 0x1p-24f));
        bool hit = min_t <= mul(max_t, factor);
        CHECK_MSG(same_value(s.min_t, min_t) && same_value(s.max_t, max_t) && s.hit == hit &&
                      same_value(s.enter, A != A ? 0 : A) &&
                      same_value(s.leave, B != B ? facet_float_of(0x7F800000) : B),
                  "case %u: min_t %a %a, max_t %a %a, hit %d %d",
                  n,
                  s.min_t,
                  min_t,
                  s.max_t,
                  max_t,
                  s.hit,
                  hit);
        hits += hit;
        odd += none;
    }
    CHECK_MSG(hits > 10000 && odd > 50, "hits %u, NaN %u", hits, odd);
    exponents(false);
}

/* ---- triangles ---- */

static float dot3(const float a[3], const float b[3])
{
    return add(add(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2]));
}

static void cross3(const float a[3], const float b[3], float out[3])
{
    for (unsigned k = 0; k < 3; k++) {
        unsigned i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = sub(mul(a[i], b[j]), mul(a[j], b[i]));
    }
}

TEST(triangles_by_the_letter, "G12-211 G12-212 G12-226 G12-227")
{
    exponents(true);
    unsigned hits = 0, nans = 0;
    for (unsigned n = 0; n < 60000 && !harness_failed(); n++) {
        uint32_t vertex[3][3];
        float o[3], d[3], v[3][3], e1[3], e2[3], e3[3], s1[3], s2[3];
        bool wild = n % 4 == 0;
        float wu = (float)(random_bits() % 300) / 256, wv = (float)(random_bits() % 300) / 256;
        for (unsigned k = 0; k < 3; k++) {
            for (unsigned c = 0; c < 3; c++) {
                vertex[c][k] = wild ? random_any_float() : random_float_bits(2);
                v[c][k] = facet_float_of(vertex[c][k]);
            }
            o[k] = facet_float_of(wild ? random_any_float() : random_float_bits(2));
            float at = v[0][k] + (v[1][k] - v[0][k]) * wu + (v[2][k] - v[0][k]) * wv;
            d[k] = wild ? facet_float_of(random_any_float()) : at - o[k];
        }
        if (n % 16 == 1) {
            memcpy(vertex[1], vertex[0], sizeof vertex[0]); /* degenerate */
            memcpy(v[1], v[0], sizeof v[0]);
        }
        struct facet_gfx12_tri_terms r = facet_gfx12_tri_test(vertex, o, d);
        for (unsigned k = 0; k < 3; k++) {
            e1[k] = sub(v[1][k], v[0][k]);
            e2[k] = sub(v[2][k], v[0][k]);
            e3[k] = sub(o[k], v[0][k]);
        }
        cross3(d, e2, s1);
        cross3(e3, e1, s2);
        float tn = dot3(e2, s2), det = dot3(s1, e1), un = dot3(e3, s1), vn = dot3(d, s2);
        float t = quotient(tn, det), u = quotient(un, det), w = quotient(vn, det);
        CHECK_EQ(facet_float_bits(r.tn), facet_float_bits(tn));
        CHECK_EQ(facet_float_bits(r.det), facet_float_bits(det));
        CHECK_EQ(facet_float_bits(r.un), facet_float_bits(un));
        CHECK_EQ(facet_float_bits(r.vn), facet_float_bits(vn));
        CHECK_EQ(facet_float_bits(r.t), facet_float_bits(t));
        CHECK_EQ(facet_float_bits(r.u), facet_float_bits(u));
        CHECK_EQ(facet_float_bits(r.v), facet_float_bits(w));
        hits += u >= 0 && w >= 0 && add(u, w) <= 1 && t >= 0;
        nans += t != t;
    }
    CHECK_MSG(hits > 8000 && nans > 1000, "hits %u, NaN %u", hits, nans);
    exponents(false);
}

/* ---- whole primitive results ---- */

struct numbers {
    float tn, det, un, vn, t, u, v;
};

/* Terms of 9.4 by MPFR. */
static struct numbers numbers_of(const float v[3][3], const struct facet_gfx12_ray *ray)
{
    struct numbers n;
    float e1[3], e2[3], e3[3], s1[3], s2[3];
    for (unsigned k = 0; k < 3; k++) {
        e1[k] = sub(v[1][k], v[0][k]);
        e2[k] = sub(v[2][k], v[0][k]);
        e3[k] = sub(ray->origin[k], v[0][k]);
    }
    cross3(ray->direction, e2, s1);
    cross3(e3, e1, s2);
    n.tn = dot3(e2, s2);
    n.det = dot3(s1, e1);
    n.un = dot3(e3, s1);
    n.vn = dot3(ray->direction, s2);
    n.t = quotient(n.tn, n.det);
    n.u = quotient(n.un, n.det);
    n.v = quotient(n.vn, n.det);
    return n;
}

/* 9.4 from its text, for one triangle record. */
static void primitive_by_the_letter(const struct facet_gfx12_unit *unit,
                                    const struct facet_gfx12_pair_tri *tri,
                                    bool second,
                                    const float v[3][3],
                                    uint32_t primitive,
                                    unsigned flags,
                                    const struct facet_gfx12_ray *ray,
                                    uint32_t w[4])
{
    bool gpurt = unit->profile == FACET_GFX12_GPURT, raw = unit->resource.pointer_flags == 0;
    bool procedural = tri->index[0] == 15 && tri->index[1] == 15;
    bool absent = second && tri->index[0] == 0 && tri->index[1] == 0 && tri->index[2] == 0;
    flags = raw ? 0 : flags;
    bool opaque = (flags & 1) || (!(flags & 2) && tri->opaque);
    bool cull = flags & (opaque ? 0x40 : 0x80);
    if (gpurt && absent) {
        w[0] = 0x7F800000, w[1] = w[2] = 0x3F800000, w[3] = 0;
        return;
    }
    w[3] = primitive << 1;
    if (procedural) {
        cull = cull || (flags & 0x200);
        w[0] = cull ? 0x7F800000 : 0;
        w[1] = 0xBF800000;
        w[2] = 0x3F800000;
    } else {
        struct numbers n = numbers_of(v, ray);
        float uv = add(n.u, n.v);
        bool miss = gpurt ? n.u < 0 || n.u > 1 || n.v < 0 || uv > 1 || n.t < 0
                          : !(n.u >= 0 && n.u <= 1 && n.v >= 0 && uv <= 1 && n.t >= 0);
        if (gpurt && miss) {
            n.det = 1;
            n.u = n.un;
            n.v = n.vn;
        }
        bool front = n.det >= 0, back_bit = facet_float_bits(n.det) >> 31;
        if (flags & 8) {
            front = !front;
            back_bit = !back_bit;
        }
        cull = cull || (flags & 0x100);
        if (!(flags & 4) && !tri->double_sided) {
            cull = cull || (flags & (front ? 0x20 : 0x10));
        }
        w[0] = cull || miss ? 0x7F800000 : facet_float_bits(n.t);
        w[1] = cull ? 0 : facet_float_bits(n.u);
        w[2] = cull ? 0 : facet_float_bits(n.v);
        w[3] |= !cull && back_bit;
        if (!raw || gpurt) {
            w[1] &= 0x7FFFFFFF;
            w[2] &= 0x7FFFFFFF;
        }
    }
    if ((!raw || gpurt) && opaque == (unit->opaque_sense == FACET_GFX12_SENSE_SEED)) {
        w[2] |= 0x80000000;
    }
}

TEST(primitive_results_by_the_letter, "G12-211")
{
    exponents(true);
    uint8_t node[128] = {0};
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, node, sizeof node);
    unsigned hits = 0, nans = 0;
    for (unsigned n = 0; n < 100000 && !harness_failed(); n++) {
        /* RADV's layout: raw floats from bit 52, one pair. */
        struct facet_gfx12_prim p;
        memset(&p, 0, sizeof p);
        for (unsigned k = 0; k < 3; k++) {
            p.header.vertex_bits_minus_one[k] = 31;
        }
        p.header.primitive_index_base_bits = 31;
        p.header.primitive_index_bits = 31;
        p.header.indices_midpoint = 700;
        p.primitive_base = random_bits() >> 1;
        p.primitive_payload[1] = random_bits() >> 1;
        p.vertex_count = 6;
        unsigned wild = n % 4;
        for (unsigned i = 0; i < 18; i++) {
            p.payload[i / 3][i % 3] = wild == 0 ? random_any_float() : random_float_bits(2);
        }
        for (unsigned t = 0; t < 2; t++) {
            struct facet_gfx12_pair_tri *tri = &p.pair[0].tri[t];
            for (unsigned c = 0; c < 3; c++) {
                tri->index[c] = (uint8_t)(random_bits() % 6);
            }
            if (random_bits() % 8 == 0) {
                memset(tri->index, random_bits() % 2 != 0 ? 0 : 15, sizeof tri->index);
            }
            tri->opaque = random_bits() & 1;
            tri->double_sided = random_bits() & 1;
        }
        facet_gfx12_prim_encode(&p, node);
        struct facet_gfx12_pair pair;
        facet_gfx12_pair_decode(node, 0, &pair);
        struct facet_gfx12_ray ray = ray_make(0, 0, 0, 0, 0, 0);
        for (unsigned k = 0; k < 3; k++) {
            const uint32_t(*v)[3] = pair.vertex[n % 2];
            ray.origin[k] = facet_float_of(wild == 0 ? random_any_float() : random_float_bits(2));
            ray.direction[k] =
                (facet_float_of(v[0][k]) + facet_float_of(v[1][k]) + facet_float_of(v[2][k])) / 3 -
                ray.origin[k];
            if (wild == 1) {
                ray.direction[k] = facet_float_of(random_any_float());
            }
        }
        unit.profile = random_bits() % 2 != 0 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
        unit.opaque_sense = random_bits() % 2 != 0 ? FACET_GFX12_SENSE_SEED : FACET_GFX12_SENSE_HW;
        unit.resource.pointer_flags = random_bits() % 4 != 0;
        unsigned flags =
            random_bits() % 2 != 0 ? random_bits() & 0x3FF : 1u << (random_bits() % 10);
        uint32_t v[10], want[8];
        facet_gfx12_intersect8(&unit, (uint64_t)flags << 54, 0, &ray, v);
        for (unsigned t = 0; t < 2; t++) {
            float corner[3][3];
            memcpy(corner, pair.vertex[t], sizeof corner);
            primitive_by_the_letter(&unit,
                                    &p.pair[0].tri[t],
                                    t == 1,
                                    corner,
                                    t == 0 ? p.primitive_base : p.primitive_payload[1],
                                    flags,
                                    &ray,
                                    want + (size_t)4 * t);
        }
        check_words("result", v, want, 8);
        hits += v[0] < 0x7F800000;
        nans += (v[0] & 0x7FFFFFFF) > 0x7F800000;
    }
    CHECK_MSG(hits > 5000 && nans > 500, "%u hits, %u NaN", hits, nans);
    exponents(false);
}

/* NaN bits of every result are those of section 1, whatever NaN the host makes. */
TEST(nan_bits, "G12-227")
{
    uint8_t *image = examples_new();
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, image, EXAMPLES_SIZE);
    unsigned seen = 0;
    for (unsigned n = 0; n < 200000 && !harness_failed(); n++) {
        struct facet_gfx12_ray ray = ray_make(0, 0, 0, 0, 0, 0);
        uint32_t v[10];
        for (unsigned k = 0; k < 3; k++) {
            ray.origin[k] = facet_float_of(random_any_float());
            ray.direction[k] = facet_float_of(random_any_float());
        }
        unit.profile = n & 1 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
        unit.resource.pointer_flags = n >> 1 & 1;
        facet_gfx12_intersect8(&unit, (uint64_t)(random_bits() & 0x3FF) << 54, 0x90, &ray, v);
        for (unsigned i = 0; i < 8; i++) {
            if (i % 4 != 3 && (v[i] & 0x7FFFFFFF) > 0x7F800000) {
                CHECK_EQ(v[i] & 0x7FFFFFFF, 0x7FC00000);
                seen++;
            }
        }
        /* Transformed rays too. */
        facet_gfx12_intersect8(&unit, 0, 0xC6, &ray, v);
        for (unsigned k = 0; k < 3; k++) {
            CHECK(ray.origin[k] == ray.origin[k] || v[7] == INV ||
                  facet_float_bits(ray.origin[k]) == 0x7FC00000);
        }
    }
    CHECK(seen > 1000);
    free(image);
}

/* ---- a whole box node ---- */

/* Random nodes: the returned IDs are those of the children that the rules of 9.2 leave, and they
 * ascend in (ext, key). */
TEST(random_box_nodes, "G12-047 G12-195 G12-200")
{
    uint8_t node[128] = {0};
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, node, sizeof node);
    unsigned returned = 0;
    for (unsigned n = 0; n < 200000 && !harness_failed(); n++) {
        struct facet_gfx12_box box;
        memset(&box, 0, sizeof box);
        box.obb_matrix_index = 0x7F;
        box.child_count_minus_one = (uint8_t)(random_bits() % 8);
        box.primitive_child_offset = 0x1000;
        for (unsigned k = 0; k < 3; k++) {
            box.origin[k] = facet_float_bits(-8.0f);
            box.exponent[k] = 131; /* 16 units */
        }
        for (unsigned i = 0; i < 8; i++) {
            struct facet_gfx12_child *c = &box.child[i];
            for (unsigned k = 0; k < 3; k++) {
                uint16_t a = random_bits() & 0xFFF, b = random_bits() & 0xFFF;
                c->min[k] = a < b ? a : b;
                c->max[k] = a < b ? b : a;
            }
            c->cull_mask = (uint8_t)random_bits();
            c->cull_flags = random_bits() & 15;
            c->node_type = random_bits() % 2 != 0 ? 5 : random_bits() % 4;
            c->node_size = random_bits() % 3;
        }
        facet_gfx12_box_encode(&box, node);
        unit.resource.box_sorting_heuristic = (uint8_t)(n % 3);
        unit.resource.sort_triangles_first = n >> 2 & 1;
        struct facet_gfx12_ray ray = ray_make(facet_float_of(random_float_bits(3)),
                                              facet_float_of(random_float_bits(3)),
                                              facet_float_of(random_float_bits(3)),
                                              facet_float_of(random_float_bits(3)),
                                              facet_float_of(random_float_bits(3)),
                                              facet_float_of(random_float_bits(3)));
        ray.extent = n % 4 == 0 ? 1.0f : facet_float_of(0x7F800000);
        ray.instance_mask = random_bits();
        uint32_t v[10];
        struct facet_gfx12_ray before = ray;
        facet_gfx12_intersect8(&unit, 0, 5, &ray, v);
        CHECK(memcmp(&before, &ray, sizeof ray) == 0);

        /* The same by hand. */
        uint32_t internal = 0, primitive = 0x1000, previous = INV, left[8];
        float key_of[8];
        unsigned ext_of[8], count = 0;
        for (unsigned i = 0; i <= box.child_count_minus_one; i++) {
            const struct facet_gfx12_child *c = &box.child[i];
            float A = -1e30f, B = 1e30f;
            uint32_t id = c->node_type == 5 ? internal | 5u : primitive | c->node_type;
            *(c->node_type == 5 ? &internal : &primitive) += c->node_size * 16u;
            for (unsigned k = 0; k < 3; k++) {
                float inverse = 1.0f / ray.direction[k];
                float lo = ((float)c->min[k] / 256 - 8.0f - ray.origin[k]) * inverse;
                float hi = ((float)(c->max[k] + 1) / 256 - 8.0f - ray.origin[k]) * inverse;
                float near = lo < hi ? lo : hi, far = lo < hi ? hi : lo;
                A = near > A ? near : A;
                B = far < B ? far : B;
            }
            float min_t = A > 0 ? A : 0, max_t = B < ray.extent ? B : ray.extent;
            bool seen = min_t <= max_t && (c->cull_mask & ray.instance_mask) != 0;
            uint32_t slot = seen ? id : INV;
            bool repeated = i > 0 && slot == previous;
            previous = slot;
            if (seen && !repeated) {
                left[count] = id;
                ext_of[count] = unit.resource.sort_triangles_first && (id & 7) > 3 ? 1 : 0;
                key_of[count] = n % 3 == 0 ? min_t : n % 3 == 1 ? min_t - max_t : A + B;
                count++;
            }
        }
        unsigned last_ext = 0;
        float last_key = -facet_float_of(0x7F800000);
        for (unsigned i = 0; i < 8; i++) {
            if (i >= count) {
                CHECK_EQ(v[i], INV);
                continue;
            }
            /* The same ID may stand there twice: the nearest that is left. */
            unsigned best = 8;
            for (unsigned j = 0; j < count; j++) {
                if (left[j] == v[i] && (best == 8 || key_of[j] < key_of[best])) {
                    best = j;
                }
            }
            bool found = best < 8 && (ext_of[best] > last_ext ||
                                      (ext_of[best] == last_ext && key_of[best] >= last_key));
            CHECK_MSG(found, "case %u slot %u: %08" PRIX32, n, i, v[i]);
            if (found) {
                last_ext = ext_of[best];
                last_key = key_of[best];
                left[best] = INV - 1;
            }
        }
        returned += count;
    }
    CHECK_MSG(returned > 60000, "only %u", returned);
}
