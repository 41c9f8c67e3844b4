/* Clipping bit by bit (tile-semantics.md 17, steps 6 and 7): on which side of each plane a vertex
 * lies, exactly on it included, and the corners that a cut makes, beside a literal transcription. A
 * picture shows the last bits of a corner only by luck. */
#include "harness.h"

#include "base/float.h"
#include "raster/geometry.h"

#include <math.h>

static const float guards[] = {1, 1.5f, 4, 65536};

static float any_float(float range)
{
    return ((float)(harness_random() >> 40) / 8388608.0f - 1) * range;
}

static struct geo_draw any_draw(unsigned n)
{
    struct geo_draw d = {.cu_assist = true,
                         .vertex_bytes = 16,
                         .clip = true,
                         .user_plane = n % 2 != 0,
                         .guard = guards[n / 2 % 4],
                         .half_w = 32,
                         .half_h = 24,
                         .centre_x = 40,
                         .centre_y = 20};

    for (unsigned i = 0; i < 4; i++) {
        d.plane[i] = any_float(2);
    }
    return d;
}

/* d of each plane, in the order of the document. */
static float distance_of(const struct geo_draw *d, unsigned plane, const float p[4])
{
    const float x = p[0], y = p[1], z = p[2], w = p[3], g = d->guard;
    float user;

    switch (plane) {
    case 0:
        return w - 0x1p-20f;
    case 1:
        return z;
    case 2:
        return w - z;
    case 3:
        return fmaf(g, w, x);
    case 4:
        return fmaf(g, w, -x);
    case 5:
        return fmaf(g, w, y);
    case 6:
        return fmaf(g, w, -y);
    default:
        user = d->plane[0] * x;
        user = fmaf(d->plane[1], y, user);
        user = fmaf(d->plane[2], z, user);
        return fmaf(d->plane[3], w, user);
    }
}

static unsigned planes_of(const struct geo_draw *d)
{
    return d->user_plane ? 8 : 7;
}

static void
process(geo_vertex_fn *fn, const struct geo_draw *d, const float p[4], struct geo_vertex *v)
{
    uint8_t bytes[16];

    for (unsigned i = 0; i < 4; i++) {
        store_u32(bytes + 4 * i, facet_float_bits(p[i]));
    }
    memset(v, 0, sizeof *v);
    fn(d, bytes, v);
}

/* The portable code and, where there is one, the other. */
static unsigned process_functions(geo_vertex_fn *fns[2])
{
    unsigned count = 0;

    fns[count++] = facet_geo_vertex_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        fns[count++] = facet_geo_vertex_fma;
    }
#endif
    return count;
}

TEST(a_vertex_on_a_plane_is_inside, "TILE-407 TILE-408")
{
    static const struct {
        float p[4];
        unsigned outside;
    } row[] = {
        {{0, 0, 0.5f, 1}, 0},
        {{0, 0, 0, 1}, 0},          /* near: z = 0 */
        {{0, 0, -0.0f, 1}, 0},      /* -0 is not below 0 */
        {{0, 0, -0x1p-149f, 1}, 2}, /* the first value below */
        {{0, 0, 1, 1}, 0},          /* far: z = w, as a sky has it */
        {{0, 0, 0x1.000002p0f, 1}, 4},
        {{-1, 0, 0.5f, 1}, 0},
        {{-0x1.000002p0f, 0, 0.5f, 1}, 8},
        {{1, 0, 0.5f, 1}, 0},
        {{0x1.000002p0f, 0, 0.5f, 1}, 16},
        {{0, -1, 0.5f, 1}, 0},
        {{0, -0x1.000002p0f, 0.5f, 1}, 32},
        {{0, 1, 0.5f, 1}, 0},
        {{0, 0x1.000002p0f, 0.5f, 1}, 64},
        {{0, 0, 0, 0x1p-20f}, 0},
        {{0, 0, 0, 0x1.fffffep-21f}, 1},
        {{0, 0, 0, 0}, 1},
        {{0, 0, 0, -1}, 1 | 4 | 8 | 16 | 32 | 64},
        {{NAN, 0, 0.5f, 1}, 8 | 16}, /* no comparison with NaN holds */
        {{0, NAN, 0.5f, 1}, 32 | 64},
        {{0, 0, NAN, 1}, 2 | 4},
        {{0, 0, 0.5f, NAN}, 1 | 4 | 8 | 16 | 32 | 64},
        {{0, 0, INFINITY, INFINITY}, 4}, /* inf - inf */
    };
    geo_vertex_fn *fns[2];
    const unsigned count = process_functions(fns);

    for (unsigned f = 0; f < count; f++) {
        struct geo_draw d = any_draw(0);
        struct geo_vertex v;

        for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
            process(fns[f], &d, row[i].p, &v);
            CHECK_MSG(v.outside == row[i].outside,
                      "function %u row %u: 0x%x, expected 0x%x",
                      f,
                      i,
                      v.outside,
                      row[i].outside);
        }
        d.guard = 2;
        process(fns[f], &d, (const float[4]){-2, 2, 0.5f, 1}, &v);
        CHECK_EQ(v.outside, 0);
        process(fns[f], &d, (const float[4]){-2, 0x1.000002p1f, 0.5f, 1}, &v);
        CHECK_EQ(v.outside, 64);
        d.user_plane = true;
        d.plane[0] = 1;
        d.plane[1] = d.plane[2] = 0;
        d.plane[3] = -0.5f;
        process(fns[f], &d, (const float[4]){0.5f, 0, 0.5f, 1}, &v);
        CHECK_EQ(v.outside, 0);
        process(fns[f], &d, (const float[4]){0x1.fffffep-2f, 0, 0.5f, 1}, &v);
        CHECK_EQ(v.outside, 128);
        for (unsigned n = 0; n < 20000; n++) {
            const float p[4] = {any_float(2), any_float(2), any_float(2), any_float(2)};
            unsigned expected = 0;

            d = any_draw(n);
            process(fns[f], &d, p, &v);
            for (unsigned k = 0; k < planes_of(&d); k++) {
                expected |= (unsigned)!(distance_of(&d, k, p) >= 0) << k;
            }
            CHECK_EQ(v.outside, expected);
        }
    }
}

/* ---- corners ---- */

struct point {
    float a[10]; /* x y z w u v r g b a */
};

/* Step 6, from the first plane to the last. */
static unsigned clip(const struct geo_draw *d, struct point *polygon, unsigned count)
{
    for (unsigned plane = 0; plane < planes_of(d) && count >= 3; plane++) {
        struct point made[GEO_MAX_CORNERS];
        unsigned n = 0;

        for (unsigned i = 0; i < count; i++) {
            const struct point *cur = &polygon[i], *next = &polygon[(i + 1) % count];
            const float dc = distance_of(d, plane, cur->a), dn = distance_of(d, plane, next->a);
            const bool in = dc >= 0, next_in = dn >= 0;

            if (in) {
                made[n++] = *cur;
            }
            if (in != next_in) {
                const struct point *inner = in ? cur : next, *outer = in ? next : cur;
                const float di = in ? dc : dn, dout = in ? dn : dc, t = di / (di - dout);

                for (unsigned k = 0; k < 10; k++) {
                    made[n].a[k] = fmaf(t, outer->a[k] - inner->a[k], inner->a[k]);
                }
                n++;
            }
        }
        memcpy(polygon, made, n * sizeof made[0]);
        count = n;
    }
    return count >= 3 ? count : 0;
}

static void
check_corner(const struct geo_draw *d, const struct point *p, const struct raster_vertex *v)
{
    const float r = 1 / p->a[3], xn = p->a[0] * r, yn = p->a[1] * r, zn = p->a[2] * r;
    const double x = (double)fmaf(xn, d->half_w, d->centre_x) * 256,
                 y = (double)fmaf(-yn, d->half_h, d->centre_y) * 256;

    CHECK_EQ(facet_float_bits(v->z), facet_float_bits(zn));
    CHECK_EQ(facet_float_bits(v->w), facet_float_bits(p->a[3]));
    CHECK_EQ(facet_float_bits(v->u), facet_float_bits(p->a[4]));
    CHECK_EQ(facet_float_bits(v->v), facet_float_bits(p->a[5]));
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(facet_float_bits(v->color[i]), facet_float_bits(p->a[6 + i]));
    }
    if (!v->outside) {
        CHECK_EQ(v->x, (int32_t)rint(x));
        CHECK_EQ(v->y, (int32_t)rint(y));
    } else {
        CHECK(rint(x) < -8388608 || rint(x) > 8388607 || rint(y) < -8388608 || rint(y) > 8388607);
    }
}

TEST(corners_of_a_cut_bit_by_bit, "TILE-407 TILE-408 TILE-410 TILE-412")
{
    unsigned cut = 0, gone = 0, many = 0;

    for (unsigned n = 0; n < 20000 && !harness_failed(); n++) {
        const struct geo_draw d = any_draw(n);
        struct geo_vertex v[3];
        const struct geo_vertex *const corners[3] = {&v[0], &v[1], &v[2]};
        struct point polygon[GEO_MAX_CORNERS];
        struct raster_vertex got[GEO_MAX_CORNERS];
        unsigned all = 0, expected, count;

        for (unsigned i = 0; i < 3; i++) {
            struct point *p = &polygon[i];

            for (unsigned k = 0; k < 10; k++) {
                p->a[k] = k < 4 ? any_float(k == 3 ? 1.5f : 3) : floorf(any_float(128) + 128);
            }
            p->a[3] += 0.75f;
            process(facet_geo_vertex_plain, &d, p->a, &v[i]);
            v[i].screen.u = p->a[4];
            v[i].screen.v = p->a[5];
            memcpy(v[i].screen.color, &p->a[6], sizeof v[i].screen.color);
            all |= v[i].outside;
        }
        if (all == 0) {
            continue; /* never comes to the clipper */
        }
        expected = clip(&d, polygon, 3);
        count = facet_raster_geo_clip(&d, corners, (unsigned)__builtin_ctz(all), got);
        CHECK_EQ(count, expected);
        for (unsigned i = 0; i < count && count == expected; i++) {
            check_corner(&d, &polygon[i], &got[i]);
        }
        cut += count != 0;
        gone += count == 0;
        many += count > 5;
    }
    CHECK(cut > 1000 && gone > 1000 && many > 100); /* the numbers reach all of it */
}
